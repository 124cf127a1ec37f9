//! `search`: ranks sections by words, and finds exact patterns, in the whole store.
//!
//! Words are answered by the index: a hit is a section and its best line. Patterns are answered by the
//! bytes: the index selects the documents that may contain a match, and those are scanned. Invariant:
//! unless the answer is marked as cut, the hits of a pattern are those of a scan of all stored bytes.
//! Hits that the filters exclude do not count toward a limit.

mod answer;
mod by_pattern;
mod by_words;
mod candidates;
mod choice;
mod edition;
mod highlight;
mod hit;
mod hit_maker;
mod html;
mod language;
mod link_list;
mod passage;
mod pattern;
mod piece;
mod plan;
mod question;
mod scan;
mod scored;
mod window;

pub use answer::{Count, Explanation, Items, Method, SearchAnswer};
pub(crate) use hit::CUT_MARK;
pub use hit::{ContextLines, Hit, HitDetail, PassagePart, ScoreParts};
pub(super) use pattern::Pattern;
pub use pattern::{PatternOptions, required_trigrams};
pub use window::PassageWindow;

use self::highlight::Highlighter;
use self::language::Language;
use super::cursor::{ListPart, most};
use super::filter::Filter;
use super::page::fitting;
use super::warning::CHANGED_FILES;
use super::{Cursor, FilterRequest, List as _, Outcome, Page, Session};
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::limits;
use crate::message::{Message, message};
use crate::store::StoredDocument;

/// What to search for.
#[derive(Clone, Debug)]
pub enum Query {
    /// Words, best section first: a question, and other wordings of it.
    Words(Vec<String>),
    /// Any of several patterns, in path order.
    Patterns(Vec<String>, PatternOptions),
}

/// What an answer contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputMode {
    /// Each hit.
    Hits,
    /// The number of hits in each document.
    Counts,
    /// The documents with a hit.
    Files,
    /// Whether there is a hit.
    Existence,
}

/// A request to search.
#[derive(Clone, Debug)]
pub struct SearchRequest {
    /// The words or patterns.
    pub query: Query,
    /// The documents, sections and blocks to search.
    pub filter: FilterRequest,
    /// What the answer contains.
    pub form: OutputMode,
    /// The context to print with each hit of a pattern.
    pub surroundings: ContextLines,
    /// The length of the passage of a hit.
    pub passage: PassageChars,
    /// Whether to return sections with nearly the same text as separate hits.
    pub keeps_duplicates: bool,
    /// The parts of each hit.
    pub detail: HitDetail,
    /// Whether to report how the search was executed.
    pub explain: bool,
    /// The maximum number of hits; 0 for all, and `None` for [`limits::SEARCH_LIMIT`]. Lists of documents and counts
    /// ignore it.
    pub limit: Option<usize>,
    /// The maximum length of the answer in Unicode scalars, if limited. Hits that cannot fit are not looked
    /// for.
    pub max_chars: Option<usize>,
    /// The cursor of the previous answer, if any.
    pub after: Option<Cursor>,
}

impl SearchRequest {
    /// Adapts the request to a limit of `max_chars` Unicode scalars, if any. Passages get a share of it
    /// unless `passage` sets their length.
    pub fn keep_to(&mut self, passage: Option<usize>, max_chars: Option<usize>) {
        self.passage = PassageChars::new(passage, max_chars);
        self.max_chars = max_chars;
        if self.form == OutputMode::Hits {
            self.limit = Some(fitting(self.limit.unwrap_or(limits::SEARCH_LIMIT), max_chars));
        }
    }

    /// Returns the maximum number of hits; of documents, there is none.
    fn most(&self) -> usize {
        match self.form {
            OutputMode::Hits => {
                most(self.limit.unwrap_or(limits::SEARCH_LIMIT)).min(limits::MAX_SEARCH_HITS)
            }
            OutputMode::Counts | OutputMode::Files | OutputMode::Existence => usize::MAX,
        }
    }
}

/// Approximate lengths of passages, in Unicode scalars; 0 for the best line alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PassageChars {
    /// Of the first hit, if it is far ahead of the second.
    pub leading: usize,
    /// Of every other hit.
    pub other: usize,
    /// Whether the passages of an answer are as long as without a limit if all of them fit into it.
    pub grows: bool,
}

impl PassageChars {
    /// Returns the same length for every passage.
    pub const fn all(chars: usize) -> Self {
        Self { leading: chars, other: chars, grows: false }
    }

    /// Returns the requested length, or a share of the limit `max_chars` and more for a leading hit.
    pub fn new(asked: Option<usize>, max_chars: Option<usize>) -> Self {
        if let Some(asked) = asked {
            return Self::all(asked);
        }
        let (least, greatest) = (limits::LEAST_PASSAGE_CHARS, limits::PASSAGE_CHARS);
        let share = |most: usize| (210 + most.saturating_mul(3) / 25).clamp(least, greatest);
        let other = max_chars.map_or(greatest, share);
        let leading = (other * 12 / 5).min(limits::LEADING_PASSAGE_CHARS);
        Self { leading, other, grows: other < greatest }
    }
}

/// Searches the store.
pub fn search(session: &Session<'_>, request: &SearchRequest) -> Result<SearchAnswer> {
    let ContextLines { before, after, .. } = request.surroundings;
    if before.max(after) > limits::MAX_CONTEXT_LINES {
        return Err(limits::exceeded(limits::row::MAX_CONTEXT_LINES));
    }
    // The time to choose the pieces of a passage grows with its length.
    if request.passage.leading.max(request.passage.other) > limits::MAX_PASSAGE_CHARS {
        return Err(limits::exceeded(limits::row::MAX_PASSAGE_CHARS));
    }
    if request.filter.sort.is_some() && matches!(request.query, Query::Words(_)) {
        return Err(Error::new(
            ErrorKind::Usage,
            "hits of a search for words are ranked, so --sort does not apply",
        )
        .with_hint("remove --sort, or search for a pattern with -e or -F"));
    }
    let Page { part, warnings, .. } = Page::beginning(request.after, session.reader.generation());
    let filter = Filter::new(session, &request.filter)?;
    let mut search = Search {
        session,
        request,
        filter: &filter,
        part,
        warnings,
        language: None,
        searched: Vec::new(),
        excluded: None,
    };
    let (found, explanation) = match &request.query {
        Query::Words(texts) => search.words(texts)?,
        Query::Patterns(patterns, options) => search.patterns(patterns, *options)?,
    };
    let mut warnings = search.warnings;
    warnings.splice(0..0, session.reader.take_warnings());
    let mut page = Page { warnings, part, ..Page::default() };
    page.unresolved_selectors.clone_from(&filter.faults);
    page.warnings.extend(filter.warnings.iter().cloned());
    let method = explanation.method;
    let explanation = request.explain.then_some(explanation);
    let mut answer = SearchAnswer::new(found, explanation, page);
    // A query without words is searched literally, and its hits are lines.
    answer.has_passages = method == Method::Words && request.passage != PassageChars::all(0);
    // A filter that is not understood is the reason why nothing was found.
    let is_first = request.after.is_none();
    let is_empty_query = matches!(&request.query, Query::Words(texts)
        if texts.iter().all(|text| text.trim().is_empty()));
    if is_first && answer.outcome() == Outcome::None && !filter.has_unknown() {
        let empty = filter.empty(session)?;
        if empty.is_none() && request.form == OutputMode::Hits && !is_empty_query {
            let sections = session.reader.totals()?.sections;
            let advice = advice(request, sections);
            // To scan all documents again would take longer than the question did.
            let elsewhere = match method {
                Method::Scan => None,
                Method::Words | Method::Trigrams => best_with_fewer_filters(session, request)?,
            };
            let elsewhere = elsewhere.unwrap_or_else(|| CHANGED_FILES.into());
            answer.advice = Some(message!("{}{}", advice, elsewhere));
        }
        answer.page.warnings.extend(empty);
        answer.page.warnings.extend(filter.change(session)?);
    }
    Ok(answer)
}

/// Names the document of the best hit without the filters of `request`, or without the first of them without which there
/// is a hit; `None` if there is no hit.
fn best_with_fewer_filters(
    session: &Session<'_>,
    request: &SearchRequest,
) -> Result<Option<Message>> {
    let best = |filter| -> Result<Option<String>> {
        let form = OutputMode::Existence;
        let other = SearchRequest { filter, form, explain: false, ..request.clone() };
        let Items::Files(files) = search(session, &other)?.items else { return Ok(None) };
        Ok(files.into_iter().next())
    };
    let filter = &request.filter;
    if filter.is_empty() {
        return Ok(None);
    }
    let Some(file) = best(FilterRequest::default())? else { return Ok(None) };
    for (option, drop) in FilterRequest::EACH {
        let mut fewer = filter.clone();
        drop(&mut fewer);
        let is_one_of_several = fewer.count() < filter.count() && !fewer.is_empty();
        if is_one_of_several && let Some(file) = best(fewer)? {
            return Ok(Some(message!(
                " Without {}, there is a hit in {}.",
                Message::from(option),
                file
            )));
        }
    }
    Ok(Some(message!(" Without the filters, there is a hit in {}.", file)))
}

/// Returns the text for an empty answer: how many sections the store has, and what to try next.
fn advice(request: &SearchRequest, sections: usize) -> Message {
    let allowed = if request.filter.is_empty() { "" } else { " and pass the filters" };
    match &request.query {
        Query::Words(texts) if texts.iter().any(|text| has_wildcard(text)) => message!(
            "0 of {} sections have these words{}. Only a * at the end of a word stands for other letters; \
             {-e searches|patterns search} for a regular expression.",
            sections,
            allowed
        ),
        Query::Words(_) => message!(
            "0 of {} sections have these words{}. Try fewer or other words, \
             {--also 'OTHER WORDING'|another wording in queries}, or `mdsel find 'PART OF A TITLE'`.",
            sections,
            allowed
        ),
        Query::Patterns(_, options) => {
            let first = if options.ignores_case { "Try" } else { "Try -i," };
            message!(
                "0 of {} sections match{}. {} a shorter pattern, or \
                 {a search without -e and -F, which ranks words|queries, which rank words}.",
                sections,
                allowed,
                Message::from(first)
            )
        }
    }
}

/// Returns whether a word of `text` has a `*` or a `?` before its last letter.
fn has_wildcard(text: &str) -> bool {
    text.split_whitespace().any(|word| {
        let end = word.rfind(char::is_alphanumeric).unwrap_or(0);
        word.get(..end).is_some_and(|before| before.contains(['*', '?']))
    })
}

/// A search that is being executed.
struct Search<'a> {
    session: &'a Session<'a>,
    request: &'a SearchRequest,
    filter: &'a Filter,
    part: ListPart,
    warnings: Vec<Warning>,
    /// The language of the question, if recognized.
    language: Option<Language>,
    /// For several wordings: the indices of those that are searched, because they have words.
    searched: Vec<usize>,
    /// The terms that the query excludes, if any.
    excluded: Option<Highlighter>,
}

impl Search<'_> {
    /// Returns the number of documents in the store, or 0 unless an explanation is requested.
    fn documents_in_store(&self) -> Result<usize> {
        Ok(if self.request.explain { self.session.reader.totals()?.documents } else { 0 })
    }

    fn warn(&mut self, code: &'static str, message: impl Into<Message>) {
        self.warnings.push(Warning::new(code, message));
    }

    /// Adds a warning if the files of some of the listed documents have changed or are gone. A hit has marks of
    /// its own.
    fn warn_of_changes<'d>(&mut self, listed: impl IntoIterator<Item = &'d StoredDocument>) {
        if matches!(self.request.form, OutputMode::Counts | OutputMode::Files) {
            self.warnings.extend(self.session.warning_of_changes(listed, Session::INGEST_UPDATES));
        }
    }
}
