//! Searching SQLite and the full-text index together.
//!
//! An index that is newer than the snapshot is not used. A document that is missing from the index has an id above
//! [`FullText::last_indexed_id`] and is searched in SQLite. A document in the index that no longer exists is unknown to
//! the snapshot and is dropped. Invariant: an outdated index costs time but never changes the result.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::index::{self, IndexFilter, IndexReader, Unusable, Usable, folder};
use super::writer::{text_of, update_index};
use super::{Snapshot, is_index_of};
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::limits;
use crate::parallel;
use crate::store::{RankedSection, Ranking, StoredDocument};
use crate::terms::{TextExtractor, TrigramQuery, WordQuery};

/// The index of a store, if it is usable.
#[derive(Debug)]
pub(super) struct FullText {
    reader: Option<IndexReader>,
    path: PathBuf,
    /// Warnings about the index.
    pub(super) warnings: Vec<Warning>,
    unindexed: Option<Unindexed>,
}

/// The documents that the index does not cover completely: those with greater ids.
#[derive(Debug)]
struct Unindexed {
    /// The generation of the store, and the highest id that the index covers.
    state: (u64, i64),
    documents: Vec<StoredDocument>,
    /// The indexes in memory of the first batches of the documents, up to [`limits::INDEX_MEMORY_BYTES`] of text. Those
    /// of later batches are made for each query.
    indexes: Vec<IndexReader>,
}

/// The state of an index compared with the store.
enum IndexState {
    Current,
    OutOfDate,
    Unusable(Unusable),
}

fn compare(reader: &Usable<IndexReader>, snapshot: &Snapshot) -> IndexState {
    match reader {
        Err(reason) => IndexState::Unusable(reason.clone()),
        Ok(reader) => {
            let metadata = reader.metadata();
            if !is_index_of(metadata, snapshot) {
                IndexState::Unusable(Unusable::Foreign)
            } else if metadata.generation == snapshot.generation() {
                match snapshot.highest_id() {
                    Ok(highest) if highest == metadata.last_indexed_id => IndexState::Current,
                    _ => IndexState::Unusable(Unusable::Damaged("its metadata".to_owned())),
                }
            } else {
                IndexState::OutOfDate
            }
        }
    }
}

impl Unindexed {
    /// Calls `act` with an index of each batch of the documents.
    fn each(
        &mut self,
        snapshot: &Snapshot,
        mut act: impl FnMut(&IndexReader) -> Usable<()>,
    ) -> Result<()> {
        let failed = |reason| Error::new(ErrorKind::Io, format!("cannot search: {reason}"));
        let size = |document: &StoredDocument| document.state.size;
        let most = limits::INDEX_QUEUE_BYTES as u64;
        let mut bytes = 0;
        let batches = parallel::batches(&self.documents, usize::MAX, most, size);
        for (number, batch) in batches.enumerate() {
            bytes += batch.iter().map(size).sum::<u64>();
            if let Some(reader) = self.indexes.get(number) {
                act(reader).map_err(failed)?;
                continue;
            }
            let mut extractor = TextExtractor::new();
            let texts = batch.iter().map(|document| {
                text_of(snapshot, document, &mut extractor).map(|text| (document.id, text))
            });
            let reader = IndexReader::of_documents(texts)?.map_err(failed)?;
            act(&reader).map_err(failed)?;
            if bytes <= limits::INDEX_MEMORY_BYTES as u64 {
                self.indexes.push(reader);
            }
        }
        Ok(())
    }

    fn document(&self, id: i64) -> Option<&StoredDocument> {
        let at = self.documents.binary_search_by_key(&id, |document| document.id).ok()?;
        self.documents.get(at)
    }
}

impl FullText {
    /// Opens the store at `path` with its index. The index is first brought up to date if no other
    /// writer has the lock.
    pub(super) fn open(path: &Path) -> Result<(Snapshot, Self)> {
        let folder = folder(&path.canonicalize().unwrap_or_else(|_| path.to_owned()));
        let (snapshot, reader) =
            parallel::join(|| Snapshot::open(path), || IndexReader::open(&folder));
        let (snapshot, reader) = (snapshot?, reader?);
        let path = snapshot.path().to_owned();
        if matches!(compare(&reader, &snapshot), IndexState::Current) {
            return Ok((snapshot, Self::new(reader.ok(), path, Vec::new())));
        }
        drop((reader, snapshot));
        let updated = update_index(&path, || reason_to_rebuild(&path, None))?;
        let mut warnings = updated.unwrap_or_default();
        let reader = IndexReader::open(&folder);
        let snapshot = Snapshot::open(&path)?;
        let reader = match compare(&reader, &snapshot) {
            IndexState::Current | IndexState::OutOfDate => reader.ok(),
            IndexState::Unusable(reason) => {
                let message = format!("{reason}; the stored documents were searched instead");
                warnings.push(Warning::new("INDEX_UNUSABLE", message));
                None
            }
        };
        Ok((snapshot, Self::new(reader, path, warnings)))
    }

    fn new(reader: Option<IndexReader>, path: PathBuf, warnings: Vec<Warning>) -> Self {
        Self { reader, path, warnings, unindexed: None }
    }

    /// Opens the index of the store that `snapshot` reads, without bringing it up to date.
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        let reader = IndexReader::open(&folder(snapshot.path()));
        let reader = match compare(&reader, snapshot) {
            IndexState::Current | IndexState::OutOfDate => reader.ok(),
            IndexState::Unusable(_) => None,
        };
        Self::new(reader, snapshot.path().to_owned(), Vec::new())
    }

    /// Returns whether an index is open.
    pub(super) fn is_usable(&self) -> bool {
        self.reader.is_some()
    }

    /// Returns whether the index has exactly the documents of `snapshot`.
    fn is_current(&self, snapshot: &Snapshot) -> bool {
        let reader = self.reader.as_ref();
        reader.is_some_and(|reader| reader.metadata().generation == snapshot.generation())
    }

    /// Returns the documents that the index does not cover completely yet. They are read once for each state of the
    /// store and of the index.
    fn unindexed(&mut self, snapshot: &Snapshot) -> Result<&mut Unindexed> {
        let state = (snapshot.generation(), self.last_indexed_id());
        let known = match self.unindexed.take().filter(|known| known.state == state) {
            Some(known) => known,
            None => {
                let documents = if self.is_current(snapshot) {
                    Vec::new()
                } else {
                    snapshot.documents_above(self.last_indexed_id())?
                };
                Unindexed { state, documents, indexes: Vec::new() }
            }
        };
        Ok(self.unindexed.insert(known))
    }

    /// Returns the highest document id that the index covers.
    fn last_indexed_id(&self) -> i64 {
        self.reader.as_ref().map_or(0, |reader| reader.metadata().last_indexed_id)
    }

    /// Returns the documents with these ids, which the index names. A document that was removed
    /// since then is left out.
    ///
    /// # Errors
    ///
    /// `STORE_CORRUPT` if the index has exactly the documents of `snapshot`, and `snapshot` lacks one:
    /// that document was lost to damage.
    fn named(&self, snapshot: &Snapshot, ids: &[i64]) -> Result<Vec<StoredDocument>> {
        let documents = snapshot.documents_with_ids(ids)?;
        self.check_named(snapshot, ids.len(), documents.len())?;
        Ok(documents)
    }

    /// Fails if fewer documents were found than the index named, as in [`Self::named`].
    pub(super) fn check_named(
        &self,
        snapshot: &Snapshot,
        named: usize,
        found: usize,
    ) -> Result<()> {
        if found < named && self.is_current(snapshot) {
            return Err(snapshot.lacking());
        }
        Ok(())
    }

    /// Returns the ids of the documents that may match `query`, which ascend. A document that was removed since the
    /// index was written may be among them.
    pub(super) fn candidates(
        &mut self,
        snapshot: &Snapshot,
        query: &TrigramQuery,
    ) -> Result<Vec<i64>> {
        let ids = self.of_index(snapshot, |reader| reader.candidates(query));
        self.completed(snapshot, ids.unwrap_or_default())
    }

    /// Returns the same as [`Self::candidates`]; `None` if the index cannot be read. It is then left as it is,
    /// because the caller does not need it.
    pub(super) fn known_candidates(
        &mut self,
        snapshot: &Snapshot,
        query: &TrigramQuery,
    ) -> Result<Option<Vec<i64>>> {
        match self.reader.as_ref().map(|reader| reader.candidates(query)) {
            Some(Ok(ids)) => self.completed(snapshot, ids).map(Some),
            _ => Ok(None),
        }
    }

    /// Returns the ids of candidates that the index named, ascending, with those of the documents that it lacks.
    fn completed(&mut self, snapshot: &Snapshot, mut ids: Vec<i64>) -> Result<Vec<i64>> {
        let last = self.last_indexed_id();
        ids.retain(|id| *id <= last);
        // Each of the others may match.
        ids.extend(self.unindexed(snapshot)?.documents.iter().map(|document| document.id));
        // A damaged index may list a document twice.
        ids.sort_unstable();
        ids.dedup();
        Ok(ids)
    }

    /// Returns the best `count` sections for `query` that `filter` admits, best first.
    pub(super) fn ranked(
        &mut self,
        snapshot: &Snapshot,
        query: &WordQuery,
        filter: &IndexFilter,
        count: usize,
    ) -> Result<Ranking> {
        let found = self.of_index(snapshot, |reader| reader.ranked(query, filter, count));
        let (mut sections, mut weights) = found.unwrap_or_default();
        let mut ids: Vec<i64> = sections.iter().map(|section| section.place.document).collect();
        ids.sort_unstable();
        ids.dedup();
        let documents = self.named(snapshot, &ids)?;
        let unindexed = self.unindexed(snapshot)?;
        unindexed.each(snapshot, |reader| {
            let (found, found_weights) = reader.ranked(query, filter, count)?;
            sections.extend(found);
            if weights.is_empty() {
                weights = found_weights;
            }
            Ok(())
        })?;
        sections.sort_by(|one, other| {
            other.score.total_cmp(&one.score).then(one.place.cmp(&other.place))
        });
        let is_complete = sections.len() < count;
        sections.truncate(count);
        let mut known: HashMap<i64, Rc<StoredDocument>> =
            documents.into_iter().map(|document| (document.id, Rc::new(document))).collect();
        for ranked in &sections {
            if let Some(document) = unindexed.document(ranked.place.document) {
                known.entry(document.id).or_insert_with(|| Rc::new(document.clone()));
            }
        }
        let sections = sections.into_iter().filter_map(|ranked| {
            let document = Rc::clone(known.get(&ranked.place.document)?);
            Some(RankedSection { ranked, document })
        });
        Ok(Ranking { sections: sections.collect(), weights, is_complete })
    }

    /// Returns what `read` returns for the index; `None` if no index of this store can be read.
    ///
    /// Some files of the index are opened when they are needed. A writer may have replaced them since the index was
    /// opened, so that the index is opened again if it changed, and is damaged if it did not.
    fn of_index<T>(
        &mut self,
        snapshot: &Snapshot,
        read: impl Fn(&IndexReader) -> Usable<T>,
    ) -> Option<T> {
        while let Some(reader) = self.reader.take() {
            let reason = match read(&reader) {
                Ok(result) => {
                    self.reader = Some(reader);
                    return Some(result);
                }
                Err(reason) => reason,
            };
            let newest = IndexReader::open(&folder(&self.path));
            if newest.as_ref().is_ok_and(|newest| !newest.has_commit_of(&reader)) {
                self.reader = match compare(&newest, snapshot) {
                    IndexState::Current | IndexState::OutOfDate => newest.ok(),
                    IndexState::Unusable(_) => None,
                };
                continue;
            }
            let message = format!("{reason}; the stored documents were searched instead");
            self.warnings.push(Warning::new("INDEX_UNUSABLE", message));
            let failed = Some((&reader, reason));
            if let Ok(Some(warnings)) =
                update_index(&self.path, || reason_to_rebuild(&self.path, failed))
            {
                self.warnings.extend(warnings);
            }
        }
        None
    }
}

/// Returns the reason to rebuild the index of the store at `path`, if there is one. No other process writes. `failed` is
/// an index that could not be read, with the reason: a writer may have replaced it since.
fn reason_to_rebuild(
    path: &Path,
    failed: Option<(&IndexReader, Unusable)>,
) -> Result<Option<Unusable>> {
    let reader = IndexReader::open(&folder(path));
    let snapshot = Snapshot::open(path)?;
    if let IndexState::Unusable(reason) = compare(&reader, &snapshot) {
        return Ok(Some(reason));
    }
    let failed = failed.filter(|(failed, _)| reader.is_ok_and(|it| it.has_commit_of(failed)));
    Ok(failed.map(|(_, reason)| reason))
}

/// Returns the generation that the index of a store was built from; `None` if the index is not usable.
pub(in crate::store) fn index_generation(snapshot: &Snapshot) -> Option<u64> {
    let metadata = index::index_metadata(&folder(snapshot.path())).ok()?;
    is_index_of(&metadata, snapshot).then_some(metadata.generation)
}
