//! Searching both stores as one.
//!
//! The index is opened first and the snapshot pinned behind it, so that the index is never ahead of
//! what SQLite tells: a document that it lacks has an id above [`FullText::through`] and is searched
//! straight from SQLite, one that is gone is unknown to the snapshot and dropped. Invariant: an old
//! index costs time, never an answer.

use std::path::{Path, PathBuf};

use super::Snapshot;
use super::fulltext::{
    self, Ranked, Reader, SectionFilter, TextExtractor, TrigramQuery, Unusable, Usable, WordQuery,
    folder,
};
use super::writer::{mend_index, text_of};
use crate::error::{Error, Result, Warning};
use crate::limits;
use crate::parallel::shares;

/// The index of a store, as far as it can be used.
#[derive(Debug)]
pub struct FullText {
    reader: Option<Reader>,
    path: PathBuf,
    /// What there is to say of it.
    pub warnings: Vec<Warning>,
}

/// Documents that may hold a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidates {
    /// Their ids, as far as the index knows.
    pub indexed: Vec<i64>,
    /// All documents with higher ids may hold one, too.
    pub through: i64,
}

/// What a query in words found.
#[derive(Clone, Debug, Default)]
pub struct Ranking {
    /// The best sections, best first.
    pub sections: Vec<Ranked>,
    /// How rare each of the terms of the query is ([`WordQuery::terms`]): its inverse document frequency.
    pub weights: Vec<f32>,
}

/// How an index compares with the store.
enum Comparison {
    Current,
    Behind,
    Unusable(Unusable),
}

fn compare(reader: &Usable<Reader>, snapshot: &Snapshot) -> Comparison {
    match reader {
        Err(reason) => Comparison::Unusable(reason.clone()),
        Ok(reader) => {
            let stamp = reader.stamp();
            if stamp.store != snapshot.identity() || stamp.generation > snapshot.generation() {
                Comparison::Unusable(Unusable::Foreign)
            } else if stamp.generation == snapshot.generation() {
                match snapshot.highest_id() {
                    Ok(highest) if highest == stamp.through => Comparison::Current,
                    _ => Comparison::Unusable(Unusable::Damaged("its stamp".to_owned())),
                }
            } else {
                Comparison::Behind
            }
        }
    }
}

impl FullText {
    /// Opens the store at `path` with its index, which is brought up to date first where that needs
    /// no waiting.
    pub fn open(path: &Path) -> Result<(Snapshot, Self)> {
        let folder = folder(&path.canonicalize().unwrap_or_else(|_| path.to_owned()));
        let reader = Reader::open(&folder);
        let snapshot = Snapshot::open(path)?;
        let path = snapshot.path().to_owned();
        let distrust = match compare(&reader, &snapshot) {
            Comparison::Current => {
                let warnings = Vec::new();
                return Ok((snapshot, Self { reader: reader.ok(), path, warnings }));
            }
            Comparison::Behind => None,
            Comparison::Unusable(reason) => Some(reason),
        };
        drop((reader, snapshot));
        let mut warnings = mend_index(&path, distrust)?.unwrap_or_default();
        let reader = Reader::open(&folder);
        let snapshot = Snapshot::open(&path)?;
        let reader = match compare(&reader, &snapshot) {
            Comparison::Current | Comparison::Behind => reader.ok(),
            Comparison::Unusable(reason) => {
                let message = format!("{reason}; the stored documents were searched instead");
                warnings.push(Warning::new("INDEX_UNUSABLE", message));
                None
            }
        };
        Ok((snapshot, Self { reader, path, warnings }))
    }

    /// Whether there is an index to ask.
    pub fn is_usable(&self) -> bool {
        self.reader.is_some()
    }

    /// Documents with ids above this one are not in the index.
    fn through(&self) -> i64 {
        self.reader.as_ref().map_or(0, |reader| reader.stamp().through)
    }

    /// Returns an error if the index has exactly the documents of `snapshot`: then a document that the index names
    /// and `snapshot` lacks was lost to damage.
    ///
    /// # Errors
    ///
    /// `STORE_CORRUPT`.
    pub fn check_lacking(&self, snapshot: &Snapshot) -> Result<()> {
        let is_current = |reader: &Reader| reader.stamp().generation == snapshot.generation();
        if self.reader.as_ref().is_some_and(is_current) {
            return Err(snapshot.lacking());
        }
        Ok(())
    }

    /// The documents that may hold what `query` asks for.
    pub fn candidates(&mut self, query: &TrigramQuery) -> Candidates {
        let found = self.reader.as_ref().map(|reader| reader.candidates(query));
        match found {
            Some(Ok(mut indexed)) => {
                // A document is searched once, whatever the index says.
                indexed.sort_unstable();
                indexed.dedup();
                Candidates { indexed, through: self.through() }
            }
            Some(Err(reason)) => {
                self.give_up(reason);
                Candidates { indexed: Vec::new(), through: 0 }
            }
            None => Candidates { indexed: Vec::new(), through: 0 },
        }
    }

    /// The best `count` sections for `query` of those that `filter` wants, best first; sections of
    /// documents that are gone may be among them.
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
                self.give_up(reason);
                Ranking::default()
            }
            None => Ranking::default(),
        };
        let sections = &mut ranking.sections;
        let beyond = snapshot.documents_above(self.through())?;
        let most = limits::INDEX_QUEUE_BYTES as u64;
        for batch in shares(&beyond, usize::MAX, most, |document| document.state.size) {
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

    /// Does without the index from here on, and has it made anew for the next search where that needs
    /// no waiting.
    fn give_up(&mut self, reason: Unusable) {
        let message = format!("{reason}; the stored documents were searched instead");
        self.warnings.push(Warning::new("INDEX_UNUSABLE", message));
        self.reader = None;
        if let Ok(Some(warnings)) = mend_index(&self.path, Some(reason)) {
            self.warnings.extend(warnings);
        }
    }
}

/// The generation that the index of the store at `path` follows; `None` where it cannot be used.
pub fn index_generation(snapshot: &Snapshot) -> Option<u64> {
    let stamp = fulltext::stamp(&folder(snapshot.path())).ok()?;
    (stamp.store == snapshot.identity()).then_some(stamp.generation)
}
