//! Documents in the order of an answer, read in batches.
//!
//! Invariant: the documents are those of one lookup of all of them, each once. A page of an answer reads few
//! documents after its last one.

use std::collections::HashSet;

use super::Session;
use super::document_order::DocumentOrder;
use crate::data::Expression;
use crate::error::Result;
use crate::store::{DocumentFilter, Lookup, StoredDocument};

/// Number of documents that are read at first. Each further batch is larger by [`GROWTH`].
const FIRST_BATCH: usize = 64;
const GROWTH: usize = 16;

/// The documents that may be read.
pub(super) enum Candidates<'a> {
    All,
    /// Those with these ids, which ascend.
    Ids(Vec<i64>),
    /// Those with a key of each set. A set is the hashes of [`crate::data::Key`]s.
    Keys(&'a [Vec<i64>]),
}

impl Candidates<'_> {
    fn lookup<'b>(&'b self, filter: &'b DocumentFilter) -> Lookup<'b> {
        match self {
            Self::All => Lookup::Data(filter, &[]),
            Self::Ids(ids) => Lookup::Among(filter, ids),
            Self::Keys(keys) => Lookup::Data(filter, keys),
        }
    }
}

/// Documents that are read as they are asked for.
pub(super) struct DocumentBatches<'a> {
    session: &'a Session<'a>,
    filter: DocumentFilter,
    candidates: Candidates<'a>,
    batch: std::vec::IntoIter<StoredDocument>,
    /// The ids of the documents that were in the first batch because they have the sort key.
    sorted: HashSet<i64>,
    /// The size of the next batch; 0 if there is none.
    next: usize,
    after: Option<String>,
}

impl<'a> DocumentBatches<'a> {
    /// Returns those of `candidates` that `filter` admits, in the requested order.
    pub(super) fn new(
        session: &'a Session<'a>,
        filter: DocumentFilter,
        order: Option<DocumentOrder<'_>>,
        candidates: Candidates<'a>,
    ) -> Result<Self> {
        let batch = Vec::new().into_iter();
        let sorted = HashSet::new();
        let mut documents =
            Self { session, filter, candidates, batch, sorted, next: FIRST_BATCH, after: None };
        if let Some(order) = order {
            documents.sort(&order)?;
        }
        Ok(documents)
    }

    /// Reads those that are not read yet in one batch.
    pub(super) fn at_once(mut self) -> Self {
        if self.next > 0 {
            self.next = usize::MAX;
        }
        self
    }

    /// Returns documents that were read before.
    pub(super) fn of(session: &'a Session<'a>, documents: Vec<StoredDocument>) -> Self {
        Self {
            session,
            filter: DocumentFilter::default(),
            candidates: Candidates::All,
            batch: documents.into_iter(),
            sorted: HashSet::new(),
            next: 0,
            after: None,
        }
    }

    /// Reads the documents that have the sort key, in its order. The others follow in path order.
    fn sort(&mut self, order: &DocumentOrder<'_>) -> Result<()> {
        let key = order.front_matter_key();
        let with_key = key.map(|key| {
            let has_key = Expression::Exists(key.to_owned());
            let conditions = self.filter.condition.clone().into_iter().chain([has_key]);
            let condition = Some(Expression::All(conditions.collect()));
            DocumentFilter { condition, ..self.filter.clone() }
        });
        let filter = with_key.as_ref().unwrap_or(&self.filter);
        let mut sorted = self.session.reader.all(&self.candidates.lookup(filter))?;
        let count = order.sort(self.session, &mut sorted)?;
        if key.is_some() {
            sorted.truncate(count);
            self.sorted = sorted.iter().map(|document| document.id).collect();
        } else {
            self.next = 0;
        }
        self.batch = sorted.into_iter();
        Ok(())
    }

    /// Reads the next batch. There is none after an error.
    fn read(&mut self) -> Result<()> {
        let size = std::mem::take(&mut self.next);
        let which = self.candidates.lookup(&self.filter);
        let found = self.session.reader.documents(&which, self.after.as_deref(), size)?;
        if found.len() == size {
            self.next = size.saturating_mul(GROWTH);
        }
        self.after = found.last().map(|last| last.path.clone());
        let others = found.into_iter().filter(|document| !self.sorted.contains(&document.id));
        self.batch = others.collect::<Vec<_>>().into_iter();
        Ok(())
    }

    /// Reads until a document is in the batch, or none is left.
    fn fill(&mut self) -> Result<()> {
        while self.batch.len() == 0 && self.next > 0 {
            self.read()?;
        }
        Ok(())
    }

    /// Returns all documents that are left, which are read together.
    pub(super) fn all(mut self) -> Result<Vec<StoredDocument>> {
        let mut documents: Vec<StoredDocument> = std::mem::take(&mut self.batch).collect();
        documents.extend(self.at_once().next_batch()?);
        Ok(documents)
    }

    /// Returns the documents of the next batch; none at the end.
    pub(super) fn next_batch(&mut self) -> Result<Vec<StoredDocument>> {
        self.fill()?;
        Ok(std::mem::take(&mut self.batch).collect())
    }

    /// Returns whether no document is left.
    pub(super) fn is_empty(&mut self) -> Result<bool> {
        self.fill()?;
        Ok(self.batch.len() == 0)
    }

    /// Returns whether exactly one document is left.
    pub(super) fn is_one(&mut self) -> Result<bool> {
        self.fill()?;
        // After the documents with the sort key, only a look shows whether there are others.
        while self.batch.len() == 1 && self.next > 0 {
            let first: Vec<StoredDocument> = std::mem::take(&mut self.batch).collect();
            self.read()?;
            self.batch = first.into_iter().chain(&mut self.batch).collect::<Vec<_>>().into_iter();
        }
        Ok(self.batch.len() == 1)
    }
}

impl Iterator for DocumentBatches<'_> {
    type Item = Result<StoredDocument>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.fill() {
            Ok(()) => self.batch.next().map(Ok),
            Err(error) => Some(Err(error)),
        }
    }
}
