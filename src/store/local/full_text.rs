//! Searching SQLite and the full-text index together.
//!
//! The index is opened before the snapshot, so the index is never newer than the snapshot. A
//! document that is missing from the index has an id above [`FullText::last_indexed_id`] and is
//! searched in SQLite. A document in the index that no longer exists is unknown to the snapshot and
//! is dropped. Invariant: an outdated index costs time but never changes the result.

use std::path::{Path, PathBuf};

use super::Snapshot;
use super::fulltext::{self, Reader, Unusable, Usable, folder};
use super::writer::{text_of, update_index};
use crate::error::{Error, Result, Warning};
use crate::limits;
use crate::parallel::shares;
use crate::store::{Ranked, SectionFilter};
use crate::terms::{TextExtractor, TrigramQuery, WordQuery};

/// The index of a store, if it is usable.
#[derive(Debug)]
pub struct FullText {
    reader: Option<Reader>,
    path: PathBuf,
    /// Warnings about the index.
    pub warnings: Vec<Warning>,
}

/// The documents that may contain a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidates {
    /// Ids of documents in the index, ascending.
    pub indexed: Vec<i64>,
    /// Every document with a higher id is a candidate too.
    pub through: i64,
}

/// The result of a word query.
#[derive(Clone, Debug, Default)]
pub struct Ranking {
    /// The best sections, best first.
    pub sections: Vec<Ranked>,
    /// The inverse document frequency of each of [`WordQuery::terms`]: the higher, the rarer.
    pub weights: Vec<f32>,
}

/// The state of an index compared with the store.
enum Comparison {
    Current,
    OutOfDate,
    Unusable(Unusable),
}

fn compare(reader: &Usable<Reader>, snapshot: &Snapshot) -> Comparison {
    match reader {
        Err(reason) => Comparison::Unusable(reason.clone()),
        Ok(reader) => {
            let metadata = reader.metadata();
            if metadata.store != snapshot.identity() || metadata.generation > snapshot.generation()
            {
                Comparison::Unusable(Unusable::Foreign)
            } else if metadata.generation == snapshot.generation() {
                match snapshot.highest_id() {
                    Ok(highest) if highest == metadata.last_indexed_id => Comparison::Current,
                    _ => Comparison::Unusable(Unusable::Damaged("its metadata".to_owned())),
                }
            } else {
                Comparison::OutOfDate
            }
        }
    }
}

impl FullText {
    /// Opens the store at `path` with its index. The index is first brought up to date if no other
    /// writer has the lock.
    pub fn open(path: &Path) -> Result<(Snapshot, Self)> {
        let folder = folder(&path.canonicalize().unwrap_or_else(|_| path.to_owned()));
        let reader = Reader::open(&folder);
        let snapshot = Snapshot::open(path)?;
        let path = snapshot.path().to_owned();
        let rebuild_reason = match compare(&reader, &snapshot) {
            Comparison::Current => {
                let warnings = Vec::new();
                return Ok((snapshot, Self { reader: reader.ok(), path, warnings }));
            }
            Comparison::OutOfDate => None,
            Comparison::Unusable(reason) => Some(reason),
        };
        drop((reader, snapshot));
        let mut warnings = update_index(&path, rebuild_reason)?.unwrap_or_default();
        let reader = Reader::open(&folder);
        let snapshot = Snapshot::open(&path)?;
        let reader = match compare(&reader, &snapshot) {
            Comparison::Current | Comparison::OutOfDate => reader.ok(),
            Comparison::Unusable(reason) => {
                let message = format!("{reason}; the stored documents were searched instead");
                warnings.push(Warning::new("INDEX_UNUSABLE", message));
                None
            }
        };
        Ok((snapshot, Self { reader, path, warnings }))
    }

    /// Returns whether an index is open.
    pub fn is_usable(&self) -> bool {
        self.reader.is_some()
    }

    /// Returns the highest document id that the index covers.
    fn last_indexed_id(&self) -> i64 {
        self.reader.as_ref().map_or(0, |reader| reader.metadata().last_indexed_id)
    }

    /// Returns an error if the index has exactly the documents of `snapshot`: then a document that the index names
    /// and `snapshot` lacks was lost to damage.
    ///
    /// # Errors
    ///
    /// `STORE_CORRUPT`.
    pub fn check_lacking(&self, snapshot: &Snapshot) -> Result<()> {
        let is_current = |reader: &Reader| reader.metadata().generation == snapshot.generation();
        if self.reader.as_ref().is_some_and(is_current) {
            return Err(snapshot.lacking());
        }
        Ok(())
    }

    /// Returns the documents that may match `query`.
    pub fn candidates(&mut self, query: &TrigramQuery) -> Candidates {
        let found = self.reader.as_ref().map(|reader| reader.candidates(query));
        match found {
            Some(Ok(mut indexed)) => {
                // A damaged index may list a document twice.
                indexed.sort_unstable();
                indexed.dedup();
                Candidates { indexed, through: self.last_indexed_id() }
            }
            Some(Err(reason)) => {
                self.disable_index(reason);
                Candidates { indexed: Vec::new(), through: 0 }
            }
            None => Candidates { indexed: Vec::new(), through: 0 },
        }
    }

    /// Returns the best `count` sections for `query` that `filter` admits, best first. Sections of
    /// removed documents may be among them.
    pub fn ranked(
        &mut self,
        snapshot: &Snapshot,
        query: &WordQuery,
        filter: &SectionFilter,
        count: usize,
    ) -> Result<Ranking> {
        let mut ranking = match self.reader.as_ref().map(|r| r.ranked(query, filter, count)) {
            Some(Ok((sections, weights))) => Ranking { sections, weights },
            Some(Err(reason)) => {
                self.disable_index(reason);
                Ranking::default()
            }
            None => Ranking::default(),
        };
        let sections = &mut ranking.sections;
        let unindexed = snapshot.documents_above(self.last_indexed_id())?;
        let most = limits::INDEX_QUEUE_BYTES as u64;
        for batch in shares(&unindexed, usize::MAX, most, |document| document.state.size) {
            let mut extractor = TextExtractor::new();
            let texts = batch.iter().map(|document| {
                text_of(snapshot, document, &mut extractor).map(|text| (document.id, text))
            });
            let reader = Reader::of_documents(texts)?;
            let found = reader.and_then(|reader| reader.ranked(query, filter, count));
            let (found, weights) = found.map_err(|reason| {
                Error::new(crate::error::ErrorKind::Io, format!("cannot search: {reason}"))
            })?;
            sections.extend(found);
            if ranking.weights.is_empty() {
                ranking.weights = weights;
            }
        }
        sections.sort_by(|one, other| {
            other.score.total_cmp(&one.score).then(one.place.cmp(&other.place))
        });
        sections.truncate(count);
        Ok(ranking)
    }

    /// Stops using the index and rebuilds it for the next search if no other writer has the lock.
    fn disable_index(&mut self, reason: Unusable) {
        let message = format!("{reason}; the stored documents were searched instead");
        self.warnings.push(Warning::new("INDEX_UNUSABLE", message));
        self.reader = None;
        if let Ok(Some(warnings)) = update_index(&self.path, Some(reason)) {
            self.warnings.extend(warnings);
        }
    }
}

/// Returns the generation that the index of the store at `path` was built from; `None` if the index
/// is not usable.
pub fn index_generation(snapshot: &Snapshot) -> Option<u64> {
    let metadata = fulltext::index_metadata(&folder(snapshot.path())).ok()?;
    (metadata.store == snapshot.identity()).then_some(metadata.generation)
}
