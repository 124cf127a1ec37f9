//! What a search found, and the collecting of it.
//!
//! Invariant: an answer that is not all there is says so, and how to go on.

use serde::Serialize;

use super::hit::Hit;
use super::{Form, Request};
use crate::address::Fault;
use crate::error::Warning;
use crate::limits;
use crate::query::cursor::{ListPart, most};
use crate::query::{List, Outcome};

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
    /// What was searched and what to try, if nothing was found.
    #[serde(skip)]
    pub advice: Option<String>,
    #[serde(skip)]
    part: ListPart,
    #[serde(skip)]
    has_hit: bool,
}

impl Answer {
    pub(super) fn new(
        found: Found,
        unresolved_selectors: Vec<Fault>,
        explanation: Option<Explanation>,
        warnings: Vec<Warning>,
        part: ListPart,
    ) -> Self {
        let next = match &found.items {
            Items::Hits(hits) if found.has_more => Some(part.next(hits.len())),
            _ => None,
        };
        Self {
            has_hit: found.has_hit,
            items: found.items,
            total: found.total,
            unresolved_selectors,
            explanation,
            warnings,
            truncated: found.has_more,
            next,
            advice: None,
            part,
        }
    }

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

    fn lines_of(&self, index: usize) -> usize {
        match &self.items {
            Items::Hits(hits) => hits.get(index).map_or(0, Hit::passage_lines),
            Items::Counts(_) | Items::Files(_) => 0,
        }
    }

    fn first_and_cut(&self, count: usize, lines: usize) -> Option<Self> {
        let mut result = self.first(count + 1);
        let Items::Hits(hits) = &mut result.items else { return None };
        let last = hits.last_mut()?;
        *last = last.cut(lines)?;
        result.truncated = true;
        Some(result)
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
    /// Hits that a former answer gave.
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
        let items = match self.form {
            Form::Hits => Items::Hits(self.hits),
            Form::Counts => Items::Counts(self.counts),
            Form::Files | Form::Existence => {
                Items::Files(self.counts.into_iter().map(|count| count.file).collect())
            }
        };
        Found { items, total: counted, has_more: self.has_more, has_hit }
    }
}
