//! `search`: ranked words, and exact patterns, over the whole store.
//!
//! Words are answered by the index: a hit is a section, told by the line that holds the most of the
//! query. Patterns are answered by the bytes: the index says which documents may hold a match, and the
//! bytes of those decide. Invariant: unless the answer says that it was cut, the hits of a pattern are
//! those of a scan of all stored bytes; whatever the filters leave out does not count towards a limit.

mod answer;
mod by_pattern;
mod by_words;
mod candidates;
mod highlight;
mod hit;
mod language;
mod passage;
mod pattern;
mod piece;
mod plan;
mod scan;
mod shown;

pub use answer::{Answer, Count, Explanation, Items};
pub(super) use hit::types_of;
pub use hit::{Hit, ScoreParts, Surroundings};
pub use passage::Window;
pub use pattern::{PatternOptions, required_trigrams};

use self::language::Language;
use super::cursor::ListPart;
use super::filter::{Filter, Order};
use super::page::fitting;
use super::{Cursor, FilterRequest, Library, Outcome, Page};
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::limits;
use crate::store::FullText;

/// What is looked for.
#[derive(Clone, Debug)]
pub enum Query {
    /// Words, best first: a question, and other phrasings of it.
    Words(Vec<String>),
    /// Any of several patterns, in path order.
    Patterns(Vec<String>, PatternOptions),
}

/// What is told of the hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Each of them.
    Hits,
    /// How many there are in each document.
    Counts,
    /// The documents that have one.
    Files,
    /// Whether there is one.
    Existence,
}

/// A search.
#[derive(Clone, Debug)]
pub struct Request {
    /// What is looked for.
    pub query: Query,
    /// Where.
    pub filter: FilterRequest,
    /// What is told.
    pub form: Form,
    /// How much of the surroundings.
    pub surroundings: Surroundings,
    /// Unicode scalars of the passage of a hit of words, about; 0 for its best line alone.
    pub passage: usize,
    /// Whether sections with nearly the same text are hits of their own.
    pub keeps_duplicates: bool,
    /// Whether the lines of hits are enough, and addresses need not be found out.
    pub lines_only: bool,
    /// Whether to tell how it was found.
    pub explain: bool,
    /// Hits to give at most; 0 for all.
    pub limit: usize,
    /// Where a former answer ended.
    pub after: Option<Cursor>,
}

impl Request {
    /// Fits the request to a budget of `max_chars` Unicode scalars, if there is one: the passages get a share
    /// of it unless `passage` says how long they are, and hits that cannot fit are not looked for.
    pub fn keep_to(&mut self, passage: Option<usize>, max_chars: Option<usize>) {
        self.passage = passage_chars(passage, max_chars);
        if self.form == Form::Hits {
            self.limit = fitting(self.limit, max_chars);
        }
    }
}

/// The Unicode scalars of a passage: what was asked for, or a share of the budget `max_chars`.
pub fn passage_chars(asked: Option<usize>, max_chars: Option<usize>) -> usize {
    let share =
        |most: usize| (210 + most * 3 / 25).clamp(LEAST_PASSAGE_CHARS, limits::PASSAGE_CHARS);
    asked.unwrap_or_else(|| max_chars.map_or(limits::PASSAGE_CHARS, share))
}

/// Unicode scalars of a passage that a small budget is for.
const LEAST_PASSAGE_CHARS: usize = 300;

/// Searches.
pub fn search(
    library: &Library<'_>,
    full_text: &mut FullText,
    request: &Request,
) -> Result<Answer> {
    let Surroundings { before, after, .. } = request.surroundings;
    if before.max(after) > limits::MAX_CONTEXT_LINES {
        return Err(limits::exceeded("context-lines"));
    }
    if request.filter.sort.is_some() && matches!(request.query, Query::Words(_)) {
        return Err(Error::new(ErrorKind::Usage, "hits of words come best first, not by --sort")
            .with_hint("leave --sort out, or search a pattern with -e or -F"));
    }
    let (part, warnings) = ListPart::beginning(request.after, library.snapshot.generation());
    let filter = Filter::new(library, &request.filter)?;
    let mut search =
        Search { library, full_text, request, filter: &filter, part, warnings, language: None };
    let (found, explanation) = match &request.query {
        Query::Words(texts) => search.words(texts)?,
        Query::Patterns(patterns, options) => search.patterns(patterns, *options)?,
    };
    let mut warnings = search.warnings;
    warnings.splice(0..0, std::mem::take(&mut full_text.warnings));
    let mut page = Page::new((part, warnings));
    page.unresolved_selectors.clone_from(&filter.faults);
    page.warnings.extend(filter.warnings.iter().cloned());
    let explanation = request.explain.then_some(explanation);
    let mut answer = Answer::new(found, explanation, page);
    if answer.outcome() == Outcome::None && request.form == Form::Hits {
        answer.advice = Some(advice(library, request)?);
    }
    Ok(answer)
}

/// What was searched in vain, and what to try.
fn advice(library: &Library<'_>, request: &Request) -> Result<String> {
    let totals = library.snapshot.totals()?;
    let searched = if request.filter.is_empty() {
        format!("{} sections in {} documents", totals.sections, totals.documents)
    } else {
        "the sections that the filters allow".to_owned()
    };
    Ok(match request.query {
        Query::Words(_) => format!(
            "None of {searched} has these words. Try fewer or other words, --also 'OTHER WORDING', or \
             mdsel find 'PART OF A TITLE'."
        ),
        Query::Patterns(..) => format!(
            "No match in {searched}. Try -i, a shorter pattern, or a search without -e and -F, which ranks words."
        ),
    })
}

/// A search under way.
struct Search<'a> {
    library: &'a Library<'a>,
    full_text: &'a mut FullText,
    request: &'a Request,
    filter: &'a Filter,
    part: ListPart,
    warnings: Vec<Warning>,
    /// The language of the question, if it has one.
    language: Option<Language>,
}

impl Search<'_> {
    /// How many documents there are, which only an explanation tells.
    fn documents_in_store(&self) -> Result<usize> {
        Ok(if self.request.explain { self.library.snapshot.totals()?.documents } else { 0 })
    }

    fn warn(&mut self, code: &'static str, message: impl std::fmt::Display) {
        self.warnings.push(Warning::new(code, message));
    }
}
