//! `search`: ranked words, and exact patterns, over the whole store.
//!
//! Words are answered by the index: a hit is a section, told by the line that holds the most of the
//! query. Patterns are answered by the bytes: the index says which documents may hold a match, and the
//! bytes of those decide. Invariant: unless the answer says that it was cut, the hits of a pattern are
//! those of a scan of all stored bytes; whatever the filters leave out does not count towards a limit.

mod filter;
mod hit;
mod pattern;
mod plan;
mod scan;
mod words;

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use serde::Serialize;

pub use filter::FilterRequest;
pub use hit::{Hit, Surroundings};
pub use pattern::PatternOptions;

use super::cursor::{ListPart, most};
use super::{Cursor, Library, List, Outcome};
use crate::address::Fault;
use crate::error::{Result, Warning};
use crate::limits;
use crate::position::ByteSpan;
use crate::store::{FullText, Ranked, StoredDocument, TrigramQuery, WordQuery};
use filter::Filter;
use hit::HitMaker;
use pattern::Pattern;
use scan::{Scan, Wanted};
use words::Highlighter;

/// What is looked for.
#[derive(Clone, Debug)]
pub enum Query {
    /// Words, best first.
    Words(String),
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
    /// Whether to tell how it was found.
    pub explain: bool,
    /// Hits to give at most; 0 for all.
    pub limit: usize,
    /// Where a former answer ended.
    pub after: Option<Cursor>,
}

/// How many hits a document has.
#[derive(Clone, Debug, Serialize)]
pub struct Count {
    /// Its path.
    pub file: String,
    /// Its hits.
    pub count: usize,
}

/// The items of an answer.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Items {
    /// Each hit.
    Hits(Vec<Hit>),
    /// How many there are in each document, in path order.
    Counts(Vec<Count>),
    /// The documents that have one, in path order.
    Files(Vec<String>),
}

impl Items {
    fn len(&self) -> usize {
        match self {
            Self::Hits(hits) => hits.len(),
            Self::Counts(counts) => counts.len(),
            Self::Files(files) => files.len(),
        }
    }

    fn truncate(&mut self, count: usize) {
        match self {
            Self::Hits(hits) => hits.truncate(count),
            Self::Counts(counts) => counts.truncate(count),
            Self::Files(files) => files.truncate(count),
        }
    }
}

/// How a search went about it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Explanation {
    /// `words`, `trigrams` or `scan`.
    pub method: &'static str,
    /// Trigrams that were asked for.
    pub trigrams: usize,
    /// Documents, or for words sections, that could hold a hit.
    pub candidates: usize,
    /// Documents in the store.
    pub documents: usize,
}

/// What was found.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// The items.
    #[serde(flatten)]
    pub items: Items,
    /// Hits in all, where they are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<usize>,
    /// Addresses to search under that name nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unresolved_selectors: Vec<Fault>,
    /// How it was found, where that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
    /// Remarks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// Whether something was left out.
    pub truncated: bool,
    /// The cursor of what was left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    #[serde(skip)]
    part: ListPart,
    #[serde(skip)]
    has_hit: bool,
}

impl Answer {
    /// How the command ended: nothing found is nothing answered.
    pub fn outcome(&self) -> Outcome {
        match (self.has_hit, self.unresolved_selectors.is_empty()) {
            (true, true) => Outcome::All,
            (true, false) => Outcome::Some,
            (false, _) => Outcome::None,
        }
    }
}

impl List for Answer {
    fn count(&self) -> usize {
        self.items.len()
    }

    fn first(&self, count: usize) -> Self {
        let mut result = self.clone();
        if count < self.items.len() {
            result.items.truncate(count);
            result.truncated = true;
            // Counts and files are told in full or, within a budget, from the first on.
            let is_hits = matches!(self.items, Items::Hits(_));
            result.next = is_hits.then(|| self.part.next(count));
        }
        result
    }
}

/// Searches.
pub fn search(
    library: &Library<'_>,
    full_text: &mut FullText,
    request: &Request,
) -> Result<Answer> {
    let (part, warnings) = ListPart::beginning(request.after, library.snapshot.generation());
    let filter = Filter::new(library, &request.filter)?;
    let mut search = Search { library, full_text, request, filter: &filter, part, warnings };
    let (found, explanation) = match &request.query {
        Query::Words(text) => search.words(text)?,
        Query::Patterns(patterns, options) => search.patterns(patterns, *options)?,
    };
    let mut warnings = search.warnings;
    warnings.splice(0..0, std::mem::take(&mut full_text.warnings));
    let is_cut = found.has_more;
    let next = match &found.items {
        Items::Hits(hits) if is_cut => Some(part.next(hits.len())),
        _ => None,
    };
    Ok(Answer {
        has_hit: found.has_hit,
        items: found.items,
        total: found.total,
        unresolved_selectors: filter.faults.clone(),
        explanation: request.explain.then_some(explanation),
        warnings,
        truncated: is_cut,
        next,
        part,
    })
}

/// Items, and whether there are others.
struct Found {
    items: Items,
    total: Option<usize>,
    has_more: bool,
    has_hit: bool,
}

/// Collects what is found, as it is asked for.
struct Collector {
    form: Form,
    skip: usize,
    most: usize,
    hits: Vec<Hit>,
    counts: Vec<Count>,
    total: usize,
    has_more: bool,
}

impl Collector {
    fn new(request: &Request, part: ListPart) -> Self {
        Self {
            form: request.form,
            skip: part.start(),
            most: most(request.limit).min(limits::MAX_SEARCH_HITS),
            hits: Vec::new(),
            counts: Vec::new(),
            total: 0,
            has_more: false,
        }
    }

    /// Hits of one document that are of use.
    fn most_of_one(&self) -> usize {
        match self.form {
            Form::Hits => self.skip.saturating_add(self.most).saturating_add(1),
            Form::Counts => usize::MAX,
            Form::Files | Form::Existence => 1,
        }
    }

    /// Takes a hit; false where no more are wanted.
    fn take_hit(&mut self, hit: Hit) -> bool {
        if self.skip > 0 {
            self.skip -= 1;
            self.total += 1;
            return true;
        }
        if self.hits.len() == self.most {
            self.has_more = true;
            return false;
        }
        self.total += 1;
        self.hits.push(hit);
        true
    }

    /// Takes how many hits a document has; false where no more are wanted.
    fn take_count(&mut self, file: &str, count: usize) -> bool {
        self.total += count;
        self.counts.push(Count { file: file.to_owned(), count });
        self.form != Form::Existence
    }

    fn finish(mut self) -> Found {
        let has_hit = self.total > 0;
        let counted = (self.form == Form::Counts).then_some(self.total);
        let items = match self.form {
            Form::Hits => Items::Hits(self.hits),
            Form::Counts => {
                self.counts.sort_by(|one, other| one.file.cmp(&other.file));
                Items::Counts(self.counts)
            }
            Form::Files | Form::Existence => {
                let mut files: Vec<String> =
                    self.counts.into_iter().map(|count| count.file).collect();
                files.sort();
                Items::Files(files)
            }
        };
        Found { items, total: counted, has_more: self.has_more, has_hit }
    }
}

/// A search under way.
struct Search<'a> {
    library: &'a Library<'a>,
    full_text: &'a mut FullText,
    request: &'a Request,
    filter: &'a Filter,
    part: ListPart,
    warnings: Vec<Warning>,
}

impl Search<'_> {
    /// How many documents there are, which only an explanation tells.
    fn documents_in_store(&self) -> Result<usize> {
        Ok(if self.request.explain { self.library.snapshot.totals()?.documents } else { 0 })
    }

    fn warn(&mut self, code: &'static str, message: impl std::fmt::Display) {
        self.warnings.push(Warning::new(code, message));
    }

    fn patterns(
        &mut self,
        patterns: &[String],
        options: PatternOptions,
    ) -> Result<(Found, Explanation)> {
        let pattern = Pattern::new(patterns, options)?;
        if pattern.names_line_end {
            self.warn(
                "LINE_END",
                "a line end matches nothing within a line; -U looks across lines",
            );
        }
        let all = self.documents_in_store()?;
        let (documents, method) = if pattern.plan == TrigramQuery::All {
            (self.library.snapshot.documents_above(0)?, "scan")
        } else {
            (self.candidates(&pattern.plan)?, "trigrams")
        };
        let mut documents = documents;
        documents.retain(|document| self.filter.takes_document(document));
        documents.sort_by(|one, other| one.path.cmp(&other.path));
        let explanation = Explanation {
            method,
            trigrams: pattern.plan.len(),
            candidates: documents.len(),
            documents: all,
        };
        let mut collector = Collector::new(self.request, self.part);
        let scan = Scan {
            snapshot: self.library.snapshot,
            pattern: &pattern,
            filter: self.filter,
            wanted: match self.request.form {
                Form::Hits => Wanted::Hits(self.request.surroundings),
                Form::Counts => Wanted::Counts,
                Form::Files | Form::Existence => Wanted::Any,
            },
            most: collector.most_of_one(),
            deadline: Instant::now() + Duration::from_secs(limits::SEARCH_SECONDS as u64),
        };
        scan.run(&documents, |found| {
            let Some(document) = documents.get(found.document) else { return true };
            if self.request.form == Form::Hits {
                let freshness = self.library.freshness(document);
                found.hits.into_iter().all(|hit| collector.take_hit(Hit { freshness, ..hit }))
            } else {
                collector.take_count(&document.path, found.count)
            }
        })?;
        self.tell_cap(&collector);
        Ok((collector.finish(), explanation))
    }

    /// Says that a list was cut although all of it was asked for.
    fn tell_cap(&mut self, collector: &Collector) {
        if collector.has_more && collector.hits.len() == limits::MAX_SEARCH_HITS {
            let error = limits::exceeded("search-hits");
            self.warn("LIMIT", error);
        }
    }

    /// The documents that may hold a match.
    fn candidates(&mut self, plan: &TrigramQuery) -> Result<Vec<StoredDocument>> {
        let snapshot = self.library.snapshot;
        let candidates = self.full_text.candidates(plan);
        let mut documents = if candidates.indexed.len() > MANY {
            let wanted: HashSet<i64> = candidates.indexed.iter().copied().collect();
            let mut documents = snapshot.documents_above(0)?;
            documents.retain(|document| {
                wanted.contains(&document.id) || document.id > candidates.through
            });
            return Ok(documents);
        } else {
            let mut documents = Vec::with_capacity(candidates.indexed.len());
            for id in candidates.indexed {
                documents.extend(snapshot.document(id)?);
            }
            documents
        };
        // What the index has of documents above is not the newest that it may have.
        documents.retain(|document| document.id <= candidates.through);
        documents.extend(snapshot.documents_above(candidates.through)?);
        Ok(documents)
    }

    fn words(&mut self, text: &str) -> Result<(Found, Explanation)> {
        let query = WordQuery::parse(text);
        if !query.has_words() {
            let literal = text.trim();
            if literal.is_empty() {
                self.warn("EMPTY_QUERY", "the query is empty");
                let collector = Collector::new(self.request, self.part);
                return Ok((collector.finish(), Explanation::default()));
            }
            if literal.len() > limits::MAX_PATTERN_BYTES {
                self.warn("NO_WORDS", "the query holds no word, and is too long to be looked for");
                let collector = Collector::new(self.request, self.part);
                return Ok((collector.finish(), Explanation::default()));
            }
            self.warn("NO_WORDS", "the query holds no word; it is looked for as it stands");
            let options = PatternOptions { is_literal: true, ..PatternOptions::default() };
            return self.patterns(&[literal.to_owned()], options);
        }
        if let Some(remark) = &query.remark {
            self.warn("QUERY_AS_WORDS", format!("{text:?}: {remark}"));
        }
        if !query.excluded.is_empty() {
            let excluded = query.excluded.join(", ");
            let message = "sections that hold it are left out; in quotes it is looked for";
            self.warn("EXCLUDES", format!("{excluded}: {message}"));
        }
        let found = self.ranked(&query)?;
        if found.0.has_hit {
            return Ok(found);
        }
        let Some(loose) = query.loosened() else { return Ok(found) };
        let found = self.ranked(&loose)?;
        if found.0.has_hit {
            self.warn(
                "LOOSENED",
                "nothing holds the words as they were joined; each was sought alone",
            );
        }
        Ok(found)
    }

    /// The hits of a query in words: sections, best first, those that match equally well by file and
    /// offset.
    fn ranked(&mut self, query: &WordQuery) -> Result<(Found, Explanation)> {
        let snapshot = self.library.snapshot;
        let all = self.documents_in_store()?;
        let documents =
            if self.filter.names_documents() { snapshot.documents_above(0)? } else { Vec::new() };
        let places = self.filter.places(&documents);
        let highlighter = Highlighter::new(&query.terms());
        let wants_all = self.request.form != Form::Hits || self.request.limit == 0;
        let mut collector = Collector::new(self.request, self.part);
        let mut count = match self.request.form {
            Form::Existence => 16,
            _ if wants_all => limits::MAX_SEARCH_HITS,
            // A few more than asked for, so that equal scores at the end can be put in order.
            _ => collector
                .skip
                .saturating_add(collector.most)
                .saturating_mul(2)
                .clamp(32, MOST_RANKED),
        };
        loop {
            let ranked = self.full_text.ranked(snapshot, query, places.as_ref(), count)?;
            let is_complete = ranked.len() < count;
            let explanation = Explanation {
                method: "words",
                trigrams: 0,
                candidates: ranked.len(),
                documents: all,
            };
            let is_enough = self.take_ranked(&ranked, is_complete, &highlighter, &mut collector)?;
            if is_enough || is_complete || count >= MOST_RANKED {
                if !is_complete && !is_enough {
                    collector.has_more = true;
                    self.warn("LIMIT", limits::exceeded("search-hits"));
                }
                self.tell_cap(&collector);
                return Ok((collector.finish(), explanation));
            }
            collector = Collector::new(self.request, self.part);
            count = count.saturating_mul(8).min(MOST_RANKED);
        }
    }

    /// Takes the sections that the index ranked; false where more of them are needed.
    fn take_ranked(
        &mut self,
        ranked: &[Ranked],
        is_complete: bool,
        highlighter: &Highlighter,
        collector: &mut Collector,
    ) -> Result<bool> {
        let mut documents: HashMap<i64, Option<StoredDocument>> = HashMap::new();
        let mut places = Vec::with_capacity(ranked.len());
        for found in ranked {
            let id = found.place.document;
            let document = match documents.entry(id) {
                std::collections::hash_map::Entry::Occupied(entry) => entry.into_mut(),
                std::collections::hash_map::Entry::Vacant(entry) => {
                    let document = self.library.snapshot.document(id)?;
                    entry.insert(document.filter(|document| self.filter.takes_document(document)))
                }
            };
            if let Some(document) = document {
                places.push((found, document.path.clone()));
            }
        }
        places.sort_by(|(one, path), (other, other_path)| {
            other
                .score
                .total_cmp(&one.score)
                .then_with(|| path.cmp(other_path))
                .then_with(|| one.place.section.cmp(&other.place.section))
        });
        // Those that match as well as the last may go on behind it.
        let last_score = ranked.last().map(|last| last.score).filter(|_| !is_complete);
        let mut counts: Vec<(String, usize)> = Vec::new();
        let mut indices: HashMap<i64, usize> = HashMap::new();
        for (found, path) in places {
            if last_score == Some(found.score) && self.request.form == Form::Hits {
                return Ok(false);
            }
            let Some(Some(stored)) = documents.get(&found.place.document) else { continue };
            if self.request.form == Form::Hits {
                let hit = self.section_hit(stored, found, highlighter)?;
                if hit.is_some_and(|hit| !collector.take_hit(hit)) {
                    return Ok(true);
                }
                continue;
            }
            let is_hit = !self.filter.looks_inside()
                || self.section_hit(stored, found, highlighter)?.is_some();
            if is_hit {
                let index = *indices.entry(found.place.document).or_insert_with(|| {
                    counts.push((path, 0));
                    counts.len() - 1
                });
                if let Some((_, count)) = counts.get_mut(index) {
                    *count += 1;
                }
                if self.request.form == Form::Existence {
                    break;
                }
            }
        }
        let mut goes_on = true;
        for (path, count) in counts {
            goes_on &= collector.take_count(&path, count);
        }
        Ok(!goes_on)
    }

    /// The hit of a section; `None` where the filter wants nothing of it.
    fn section_hit(
        &self,
        stored: &StoredDocument,
        found: &Ranked,
        highlighter: &Highlighter,
    ) -> Result<Option<Hit>> {
        let document = self.library.open(stored)?;
        let outline = document.tree.outline();
        let own = match found.place.section.checked_sub(1) {
            None => outline.nodes.first().map(|root| root.bytes),
            Some(index) => outline.sections.get(index).and_then(|section| {
                let start = outline.nodes.get(section.node)?.bytes.start;
                Some(ByteSpan::new(start, section.own_end))
            }),
        };
        let Some(own) = own else { return Ok(None) };
        let bytes = self.library.content(&document, document.span())?;
        let text = bytes.get(own.start..own.end).unwrap_or_default();
        let in_file = |span: ByteSpan| ByteSpan::new(own.start + span.start, own.start + span.end);
        let is_wanted = |span: ByteSpan| self.filter.takes(&document, in_file(span));
        let span = match highlighter.best(text, is_wanted) {
            Some(span) => in_file(span),
            // The title as it is shown may hold what its Markdown does not; a tag is in no text.
            None => {
                let start = ByteSpan::new(own.start, own.start);
                if !self.filter.takes(&document, start) {
                    return Ok(None);
                }
                start
            }
        };
        let mut maker = HitMaker::new(&document, &bytes, self.request.surroundings);
        Ok(Some(Hit {
            score: Some((f64::from(found.score) * 1000.0).round() / 1000.0),
            freshness: self.library.freshness(stored),
            ..maker.hit(span)
        }))
    }
}

/// So many candidates are found faster by reading all documents' rows.
const MANY: usize = 2000;

/// Sections that the index is asked for at most.
const MOST_RANKED: usize = limits::MAX_SEARCH_HITS;
