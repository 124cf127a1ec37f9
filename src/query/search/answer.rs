//! The answer of a search, and how it is collected.
//!
//! Invariant: an answer that is not complete is marked as truncated and has a cursor.

use std::fmt;
use std::ops::Range;

use schemars::JsonSchema;
use serde::Serialize;

use super::hit::Hit;
use super::{OutputMode, SearchRequest};
use crate::message::Message;
use crate::query::cursor::ListPart;
use crate::query::{List, Outcome, Page};

/// The number of hits in a document.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Count {
    /// The path of the document.
    pub file: String,
    /// The number of hits.
    pub count: usize,
}

/// The items of an answer.
#[derive(Clone, Debug)]
pub enum Items {
    /// The hits themselves.
    Hits(Vec<Hit>),
    /// The number of hits in each document: in path order, or for words best first.
    Counts(Vec<Count>),
    /// The documents with a hit: in path order, or for words best first.
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

    fn first(&self, count: usize) -> Self {
        match self {
            Self::Hits(hits) => Self::Hits(hits.iter().take(count).cloned().collect()),
            Self::Counts(counts) => Self::Counts(counts.iter().take(count).cloned().collect()),
            Self::Files(files) => Self::Files(files.iter().take(count).cloned().collect()),
        }
    }
}

/// What selects the candidates of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// The index of words.
    Words,
    /// The index of trigrams.
    Trigrams,
    /// Nothing: every document is searched.
    Scan,
}

impl fmt::Display for Method {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Words => "words",
            Self::Trigrams => "trigrams",
            Self::Scan => "scan",
        })
    }
}

/// How a search was executed.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Explanation {
    /// What selected the candidates.
    pub method: Method,
    /// The number of trigrams that were looked up.
    pub trigrams: usize,
    /// The number of documents that could contain a hit; for words, the number of sections.
    pub candidates: usize,
    /// The number of documents in the store.
    pub documents: usize,
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct SearchAnswer {
    /// The hits, counts or files.
    pub items: Items,
    /// The total number of hits, for counts.
    pub total: Option<usize>,
    /// How the search was executed, if requested.
    pub explanation: Option<Explanation>,
    /// Warnings, the cursor, and the addresses of `under` that were not resolved.
    pub page: Page,
    /// What to try next, if nothing was found.
    pub advice: Option<Message>,
    /// Whether each hit has a passage, which is empty if there is no text below a title. Otherwise a hit is a line.
    pub has_passages: bool,
    /// The hits with longer passages, if they may fit into the limit of characters.
    pub(in crate::query) longer: Option<Vec<Hit>>,
    has_hit: bool,
}

impl SearchAnswer {
    pub(super) fn new(found: FoundItems, explanation: Option<Explanation>, mut page: Page) -> Self {
        if found.has_more {
            page.end(found.items.len());
        }
        Self {
            has_hit: found.has_hit,
            items: found.items,
            longer: found.longer,
            total: found.total,
            explanation,
            page,
            advice: None,
            has_passages: false,
        }
    }
}

impl List for SearchAnswer {
    fn page_mut(&mut self) -> Option<&mut Page> {
        Some(&mut self.page)
    }

    fn messages_mut(&mut self) -> Vec<&mut Message> {
        self.advice.iter_mut().chain(self.page.messages_mut()).collect()
    }

    fn labeled_files(&self) -> Vec<&str> {
        match &self.items {
            Items::Hits(hits) => hits.iter().map(|hit| &*hit.file).collect(),
            Items::Files(files) => files.iter().map(String::as_str).collect(),
            Items::Counts(_) => Vec::new(),
        }
    }

    fn outcome(&self) -> Outcome {
        self.page.outcome_of_list(self.has_hit)
    }

    fn count(&self) -> usize {
        self.items.len()
    }

    fn first(&self, count: usize) -> Self {
        if count >= self.items.len() {
            return self.clone();
        }
        Self {
            items: self.items.first(count),
            total: self.total,
            explanation: self.explanation.clone(),
            page: self.page.ended(count),
            advice: self.advice.clone(),
            has_passages: self.has_passages,
            longer: None,
            has_hit: self.has_hit,
        }
    }

    fn longer(&self) -> Option<Self> {
        let hits = self.longer.clone()?;
        Some(Self { items: Items::Hits(hits), longer: None, ..self.clone() })
    }

    fn cuts_of(&self, index: usize) -> Range<usize> {
        match &self.items {
            Items::Hits(hits) => hits.get(index).map_or(0..0, Hit::passage_cuts),
            Items::Counts(_) | Items::Files(_) => 0..0,
        }
    }

    fn cut_last(&mut self, parts: usize) -> bool {
        let Items::Hits(hits) = &mut self.items else { return false };
        let cut = hits.last_mut().is_some_and(|hit| hit.cut(parts));
        self.page.truncated |= cut;
        cut
    }

    fn sizes_of_first(&self) -> usize {
        match &self.items {
            Items::Hits(hits) => hits.first().map_or(0, Hit::sizes),
            Items::Counts(_) | Items::Files(_) => 0,
        }
    }

    fn cut_first(&mut self, size: usize) -> bool {
        let Items::Hits(hits) = &mut self.items else { return false };
        hits.first_mut().map(|hit| hit.cut_to(size)).is_some()
    }
}

/// Collected items, and whether there are more.
pub(super) struct FoundItems {
    items: Items,
    total: Option<usize>,
    has_more: bool,
    longer: Option<Vec<Hit>>,
    pub(super) has_hit: bool,
}

/// Collects hits in the requested output mode.
pub(super) struct Collector {
    form: OutputMode,
    /// Number of items to skip: hits, or documents if hits are counted.
    pub(super) skip: usize,
    /// Maximum number of hits.
    pub(super) most: usize,
    /// Number of Unicode scalars that are left for further hits; `None` without a budget.
    room: Option<usize>,
    pub(super) hits: Vec<Hit>,
    /// The same hits with longer passages, if they may fit.
    pub(super) longer: Option<Vec<Hit>>,
    counts: Vec<Count>,
    total: usize,
    pub(super) has_more: bool,
}

impl Collector {
    pub(super) fn new(request: &SearchRequest, part: ListPart) -> Self {
        Self {
            form: request.form,
            skip: part.start(),
            most: request.most(),
            room: request.max_chars,
            hits: Vec::new(),
            longer: None,
            counts: Vec::new(),
            total: 0,
            has_more: false,
        }
    }

    /// Returns the number of hits of one document that are needed.
    pub(super) fn most_of_one(&self) -> usize {
        match self.form {
            OutputMode::Hits => self.skip.saturating_add(self.most).saturating_add(1),
            OutputMode::Counts => usize::MAX,
            OutputMode::Files | OutputMode::Existence => 1,
        }
    }

    /// Adds a hit. Returns false if no further hit is needed.
    pub(super) fn take_hit(&mut self, hit: Hit) -> bool {
        if self.skip > 0 {
            self.skip -= 1;
            self.total += 1;
            return true;
        }
        // A hit that does not fit must be the last one, so that a part of it can be printed.
        if self.hits.len() == self.most || self.room == Some(0) && !self.hits.is_empty() {
            self.has_more = true;
            return false;
        }
        self.total += 1;
        if let Some(room) = &mut self.room {
            *room = room.saturating_sub(hit.least_chars(self.hits.last()));
        }
        self.hits.push(hit);
        true
    }

    /// Adds the number of hits of a document, in the order of the answer. Returns false if no further document is
    /// needed.
    pub(super) fn take_count(&mut self, file: &str, count: usize) -> bool {
        self.total += count;
        self.counts.push(Count { file: file.to_owned(), count });
        self.form != OutputMode::Existence
    }

    pub(super) fn finish(self) -> FoundItems {
        let counted = (self.form == OutputMode::Counts).then_some(self.total);
        let given = self.counts.into_iter().skip(self.skip);
        let items = match self.form {
            OutputMode::Hits => Items::Hits(self.hits),
            OutputMode::Counts => Items::Counts(given.collect()),
            OutputMode::Files | OutputMode::Existence => {
                Items::Files(given.map(|count| count.file).collect())
            }
        };
        let has_hit = items.len() > 0;
        let Self { has_more, longer, .. } = self;
        FoundItems { items, total: counted, has_more, longer, has_hit }
    }
}
