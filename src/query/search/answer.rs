//! What a search found, and the collecting of it.
//!
//! Invariant: an answer that is not all there is says so, and how to go on.

use crate::schema::schema_as;
use schemars::JsonSchema;
use serde::Serialize;

use super::hit::Hit;
use super::{Form, Request};
use crate::limits;
use crate::query::cursor::{ListPart, most};
use crate::query::{List, Outcome, Page};

/// How many hits a document has.
#[derive(Clone, Debug, JsonSchema, Serialize)]
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

    fn first(&self, count: usize) -> Self {
        match self {
            Self::Hits(hits) => Self::Hits(hits.iter().take(count).cloned().collect()),
            Self::Counts(counts) => Self::Counts(counts.iter().take(count).cloned().collect()),
            Self::Files(files) => Self::Files(files.iter().take(count).cloned().collect()),
        }
    }
}

/// How a search went about it.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
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
    /// How it was found, where that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
    /// What is beside the items; its problems are addresses to search under that name nothing.
    #[serde(flatten)]
    pub page: Page,
    /// What was searched and what to try, if nothing was found.
    #[serde(skip)]
    pub advice: Option<String>,
    #[serde(skip)]
    has_hit: bool,
}

/// What is beside the items.
#[expect(dead_code, reason = "only its schema is used")]
#[derive(JsonSchema)]
struct BesideShape {
    /// Hits in all, where they are counted.
    #[schemars(skip_serializing_if = "Option::is_none")]
    total: Option<usize>,
    /// How it was found, where that was asked.
    #[schemars(skip_serializing_if = "Option::is_none")]
    explanation: Option<Explanation>,
    #[schemars(flatten)]
    page: Page,
}

/// Hits, counts with `-c`, or paths with `-l`.
#[expect(dead_code, reason = "only its schema is used")]
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Shape {
    Hits {
        /// Each hit.
        hits: Vec<Hit>,
        #[schemars(flatten)]
        beside: BesideShape,
    },
    Counts {
        /// How many there are in each document, in path order.
        counts: Vec<Count>,
        #[schemars(flatten)]
        beside: BesideShape,
    },
    Files {
        /// The documents that have one, in path order.
        files: Vec<String>,
        #[schemars(flatten)]
        beside: BesideShape,
    },
}

schema_as!(Answer => Shape);

impl Answer {
    pub(super) fn new(found: Found, explanation: Option<Explanation>, mut page: Page) -> Self {
        if found.has_more {
            page.end(found.items.len());
        }
        Self {
            has_hit: found.has_hit,
            items: found.items,
            total: found.total,
            explanation,
            page,
            advice: None,
        }
    }

    /// How the command ended: nothing found is nothing answered.
    pub fn outcome(&self) -> Outcome {
        match (self.has_hit, self.page.unresolved_selectors.is_empty()) {
            (true, true) => Outcome::All,
            (true, false) => Outcome::Some,
            (false, _) => Outcome::None,
        }
    }
}

impl List for Answer {
    fn page_mut(&mut self) -> Option<&mut Page> {
        Some(&mut self.page)
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
            has_hit: self.has_hit,
        }
    }

    fn lines_of(&self, index: usize) -> usize {
        match &self.items {
            Items::Hits(hits) => hits.get(index).map_or(0, Hit::passage_lines),
            Items::Counts(_) | Items::Files(_) => 0,
        }
    }

    fn cut_last(&mut self, lines: usize) -> bool {
        let Items::Hits(hits) = &mut self.items else { return false };
        let cut = hits.last_mut().is_some_and(|hit| hit.cut(lines));
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

/// Items, and whether there are others.
pub(super) struct Found {
    items: Items,
    total: Option<usize>,
    has_more: bool,
    pub(super) has_hit: bool,
}

/// Collects what is found, as it is asked for.
pub(super) struct Collector {
    form: Form,
    /// Hits that a former answer gave, or documents if those are counted.
    pub(super) skip: usize,
    /// Hits at most.
    pub(super) most: usize,
    pub(super) hits: Vec<Hit>,
    counts: Vec<Count>,
    total: usize,
    pub(super) has_more: bool,
}

impl Collector {
    pub(super) fn new(request: &Request, part: ListPart) -> Self {
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
    pub(super) fn most_of_one(&self) -> usize {
        match self.form {
            Form::Hits => self.skip.saturating_add(self.most).saturating_add(1),
            Form::Counts => usize::MAX,
            Form::Files | Form::Existence => 1,
        }
    }

    /// Takes a hit; false where no more are wanted.
    pub(super) fn take_hit(&mut self, hit: Hit) -> bool {
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

    /// Takes how many hits a document has, documents in path order; false where no more are wanted.
    pub(super) fn take_count(&mut self, file: &str, count: usize) -> bool {
        self.total += count;
        self.counts.push(Count { file: file.to_owned(), count });
        self.form != Form::Existence
    }

    pub(super) fn finish(self) -> Found {
        let has_hit = self.total > 0;
        let counted = (self.form == Form::Counts).then_some(self.total);
        let given = self.counts.into_iter().skip(self.skip);
        let items = match self.form {
            Form::Hits => Items::Hits(self.hits),
            Form::Counts => Items::Counts(given.collect()),
            Form::Files | Form::Existence => Items::Files(given.map(|count| count.file).collect()),
        };
        Found { items, total: counted, has_more: self.has_more, has_hit }
    }
}
