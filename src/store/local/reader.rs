//! [`Reader`] over a pinned state of SQLite and the full-text index.
//!
//! The index is opened before the snapshot, so the index is never newer than the snapshot. Invariant:
//! the state of the index affects only the time that an answer takes, and never the answer.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::engine::Idle;
use super::index::IndexFilter;
use super::matching::Matching;
use super::{FullText, Snapshot, StatementStats, index_generation};
use crate::data::{CodeItem, TaskEntry};
use crate::error::{Result, Warning};
use crate::ldmd::Markup;
use crate::links::Outgoing;
use crate::markdown::contents::Table;
use crate::markdown::outline::Outline;
use crate::position::ByteSpan;
use crate::prepare::rows::DerivedRows;
use crate::store::{
    DocumentFilter, Facts, FrontMatterData, KeyTypes, Lookup, Purpose, Ranking, Reader,
    SectionFilter, StoredDocument, Totals,
};
use crate::terms::{TrigramQuery, WordQuery};

/// Number of documents whose paths are looked up one by one. The paths of more are read all together.
const MOST_LOOKED_UP: usize = 20_000;

/// One open state of a store file.
#[derive(Debug)]
pub(in crate::store) struct StoreState {
    snapshot: Snapshot,
    facts: Facts,
    /// Opened with the snapshot for a search; otherwise by the first search.
    full_text: Mutex<Option<FullText>>,
}

/// A state in use.
#[derive(Debug)]
pub(in crate::store) struct LocalReader {
    state: Arc<StoreState>,
    idle: Arc<Idle>,
}

impl LocalReader {
    pub(super) fn new(state: Arc<StoreState>, idle: Arc<Idle>) -> Self {
        Self { state, idle }
    }
}

/// Opens the store at `path` for searches, and counts the statements that its reader runs.
pub fn count_work(path: &Path) -> Result<(Box<dyn Reader>, StatementStats)> {
    let state = Arc::new(StoreState::open(path, Purpose::Search)?);
    let work = state.snapshot.count_work()?;
    Ok((Box::new(LocalReader::new(state, Arc::default())), work))
}

impl Drop for LocalReader {
    fn drop(&mut self) {
        self.idle.put_back(&self.state);
    }
}

impl std::ops::Deref for LocalReader {
    type Target = StoreState;

    fn deref(&self) -> &StoreState {
        &self.state
    }
}

impl StoreState {
    /// Opens the store at `path` and pins its newest generation.
    pub(super) fn open(path: &Path, purpose: Purpose) -> Result<Self> {
        let (snapshot, full_text) = match purpose {
            Purpose::Read => (Snapshot::open(path)?, None),
            Purpose::Search => {
                let (snapshot, full_text) = FullText::open(path)?;
                (snapshot, Some(full_text))
            }
        };
        Ok(Self { facts: snapshot.facts()?, snapshot, full_text: Mutex::new(full_text) })
    }

    /// Returns whether the state can be used again for `purpose`.
    pub(super) fn serves(&self, purpose: Purpose) -> bool {
        purpose == Purpose::Read || self.full_text().as_ref().is_some_and(FullText::is_usable)
    }

    /// Pins the newest generation again. Returns false if the store must be opened again.
    pub(super) fn renew(&self) -> bool {
        self.snapshot.renew().unwrap_or(false) && !self.snapshot.has_edit_intents().unwrap_or(true)
    }

    /// Releases the generation. Returns false if the state must not be kept.
    pub(super) fn release(&self) -> bool {
        !self.snapshot.holds_writers_off() && self.snapshot.release().is_ok()
    }

    fn full_text(&self) -> MutexGuard<'_, Option<FullText>> {
        self.full_text.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with_full_text<T>(&self, act: impl FnOnce(&mut FullText) -> T) -> T {
        let mut full_text = self.full_text();
        act(full_text.get_or_insert_with(|| FullText::of(&self.snapshot)))
    }

    /// Returns the ids of the documents that have each of `tags`; `None` if there are no tags.
    fn tagged(&self, tags: &[String]) -> Result<Option<HashSet<i64>>> {
        let mut tagged: Option<HashSet<i64>> = None;
        for tag in tags {
            let having: HashSet<i64> = self.snapshot.documents_with_tag(tag)?.into_iter().collect();
            tagged = Some(match tagged {
                Some(tagged) => tagged.intersection(&having).copied().collect(),
                None => having,
            });
        }
        Ok(tagged)
    }

    /// Returns the documents whose front matter `filter` admits; `None` if it has no condition.
    fn matching(&self, filter: &DocumentFilter) -> Result<Option<Matching>> {
        let condition = filter.condition.as_ref();
        condition.map(|condition| Matching::new(&self.snapshot, condition)).transpose()
    }

    /// Returns the ids and paths, in path order, of the documents that `filter` admits and that have a
    /// key of each of `keys`.
    fn with_data(&self, filter: &DocumentFilter, keys: &[Vec<i64>]) -> Result<Vec<(i64, String)>> {
        let (tagged, matching) = (self.tagged(&filter.tags)?, self.matching(filter)?);
        let mut sets: Vec<HashSet<i64>> = Vec::new();
        sets.extend(tagged);
        sets.extend(matching.as_ref().and_then(Matching::ids).cloned());
        for set in keys {
            let mut union = HashSet::new();
            for key in set {
                union.extend(self.snapshot.documents_with_data(*key)?);
            }
            sets.push(union);
        }
        sets.sort_by_key(HashSet::len);
        let mut named = match sets.split_first() {
            Some((smallest, others)) => {
                let is_in_all = |id: &&i64| others.iter().all(|set| set.contains(*id));
                let ids: HashSet<i64> = smallest.iter().filter(is_in_all).copied().collect();
                if ids.len() <= MOST_LOOKED_UP {
                    let mut ids: Vec<i64> = ids.into_iter().collect();
                    ids.sort_unstable();
                    self.snapshot.paths_of(&ids)?
                } else {
                    let mut all = self.snapshot.paths()?;
                    all.retain(|(id, _)| ids.contains(id));
                    all
                }
            }
            None => self.snapshot.paths()?,
        };
        named.retain(|(id, path)| {
            filter.takes_name(*id, path)
                && matching.as_ref().is_none_or(|matching| matching.takes(*id))
        });
        Ok(named)
    }

    /// Keeps the documents that `filter` admits.
    fn retain(&self, filter: &DocumentFilter, documents: &mut Vec<StoredDocument>) -> Result<()> {
        if filter.is_empty() {
            return Ok(());
        }
        let tagged = self.tagged(&filter.tags)?;
        let matching = self.matching(filter)?;
        documents.retain(|document| {
            filter.takes_name(document.id, &document.path)
                && matching.as_ref().is_none_or(|matching| matching.takes(document.id))
                && tagged.as_ref().is_none_or(|tagged| tagged.contains(&document.id))
        });
        Ok(())
    }

    fn index_filter(&self, filter: &SectionFilter<'_>) -> Result<IndexFilter> {
        let mut index = IndexFilter {
            level: filter.level,
            front_matter: filter.front_matter,
            ..IndexFilter::default()
        };
        index.documents.extend(self.tagged(&filter.documents.tags)?);
        if let Some(matching) = self.matching(filter.documents)? {
            index.documents.push(matching.documents(&self.snapshot)?);
        }
        if let Some(under) = &filter.documents.under {
            if under.documents.is_empty() && !under.folders.is_empty() {
                index.folders.clone_from(&under.folders);
            } else {
                let mut documents = under.documents.clone();
                for folder in &under.folders {
                    let below =
                        self.snapshot.documents(&Lookup::Folder(folder), None, usize::MAX)?;
                    documents.extend(below.iter().map(|one| one.id));
                }
                index.documents.push(documents);
            }
        }
        let globs = &filter.documents.globs;
        if !globs.is_empty() {
            let mut paths = self.snapshot.paths()?;
            paths.retain(|(_, path)| globs.takes(path));
            index.documents.push(paths.into_iter().map(|(id, _)| id).collect());
        }
        Ok(index)
    }
}

impl Reader for LocalReader {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn take_warnings(&self) -> Vec<Warning> {
        let mut full_text = self.full_text();
        full_text.as_mut().map(|index| std::mem::take(&mut index.warnings)).unwrap_or_default()
    }

    fn index_generation(&self) -> Option<u64> {
        index_generation(&self.snapshot)
    }

    fn totals(&self) -> Result<Totals> {
        self.snapshot.totals()
    }

    fn folders(&self, most: usize) -> Result<Vec<(String, usize)>> {
        self.snapshot.folders(most)
    }

    fn documents(
        &self,
        which: &Lookup<'_>,
        after: Option<&str>,
        most: usize,
    ) -> Result<Vec<StoredDocument>> {
        if let Lookup::Matching(filter) = which {
            let mut documents = self.snapshot.documents(&Lookup::All, after, usize::MAX)?;
            self.retain(filter, &mut documents)?;
            documents.truncate(most);
            return Ok(documents);
        }
        if let Lookup::Data(filter, keys) = which {
            let mut named = self.with_data(filter, keys)?;
            named.retain(|(_, path)| after.is_none_or(|after| path.as_str() > after));
            named.truncate(most);
            let ids: Vec<i64> = named.into_iter().map(|(id, _)| id).collect();
            return self.snapshot.documents(&Lookup::Ids(&ids), None, usize::MAX);
        }
        self.snapshot.documents(which, after, most)
    }

    fn all_code(&self, documents: &[StoredDocument]) -> Result<Vec<Vec<CodeItem>>> {
        documents.iter().map(|document| self.snapshot.code(document)).collect()
    }

    fn all_tables(&self, documents: &[StoredDocument]) -> Result<Vec<Vec<Table>>> {
        documents.iter().map(|document| self.snapshot.tables(document)).collect()
    }

    fn all_tasks(&self, documents: &[StoredDocument]) -> Result<Vec<Vec<TaskEntry>>> {
        documents.iter().map(|document| self.snapshot.tasks(document)).collect()
    }

    fn front_matter_keys(&self, filter: &DocumentFilter) -> Result<KeyTypes> {
        let admitted: Option<HashSet<i64>> = if filter.is_empty() {
            None
        } else {
            let named = self.with_data(filter, &[])?;
            Some(named.into_iter().map(|(id, _)| id).collect())
        };
        // Most keys are in many documents, so a key that is known is not copied.
        let mut keys: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
        self.snapshot.visit_front_matter_types(|name, type_name, document| {
            if admitted.as_ref().is_some_and(|admitted| !admitted.contains(&document)) {
                return;
            }
            if !keys.contains_key(name) {
                keys.insert(name.to_owned(), BTreeMap::new());
            }
            let Some(types) = keys.get_mut(name) else { return };
            match types.get_mut(type_name) {
                Some(count) => *count += 1,
                None => drop(types.insert(type_name.to_owned(), 1)),
            }
        })?;
        let pairs = keys.into_iter().flat_map(|(key, types)| {
            types.into_iter().map(move |(type_name, count)| ((key.clone(), type_name), count))
        });
        Ok(pairs.collect())
    }

    fn outlines(&self, documents: &[StoredDocument]) -> Result<Vec<Outline>> {
        match documents {
            [document] => Ok(vec![self.snapshot.outline(document)?]),
            documents => self.snapshot.outlines(documents),
        }
    }

    fn markups(&self, documents: &[StoredDocument]) -> Result<Vec<Markup>> {
        documents.iter().map(|document| self.snapshot.markup(document)).collect()
    }

    fn all_links(&self, documents: &[StoredDocument]) -> Result<Vec<Outgoing>> {
        documents.iter().map(|document| self.snapshot.links(document)).collect()
    }

    fn all_tags(&self, documents: &[StoredDocument]) -> Result<Vec<Vec<String>>> {
        documents.iter().map(|document| self.snapshot.tags(document)).collect()
    }

    fn front_matters(&self, documents: &[StoredDocument]) -> Result<Vec<FrontMatterData>> {
        documents.iter().map(|document| self.snapshot.front_matter(document)).collect()
    }

    fn derived(&self, documents: &[StoredDocument]) -> Result<Vec<DerivedRows>> {
        let rows = |document: &StoredDocument| {
            let rows = self.snapshot.rows(document.id)?;
            rows.map(|rows| rows.derived).ok_or_else(|| self.snapshot.lacking())
        };
        documents.iter().map(rows).collect()
    }

    fn contents(&self, parts: &[(&StoredDocument, ByteSpan)]) -> Result<Vec<Vec<u8>>> {
        parts.iter().map(|(document, span)| self.snapshot.content(document, *span)).collect()
    }

    fn frequent_link_keys(&self, count: usize) -> Result<Vec<(i64, usize)>> {
        self.snapshot.frequent_link_keys(count)
    }

    fn ranked(
        &self,
        query: &WordQuery,
        filter: &SectionFilter<'_>,
        count: usize,
    ) -> Result<Ranking> {
        let filter = self.index_filter(filter)?;
        self.with_full_text(|full_text| full_text.ranked(&self.snapshot, query, &filter, count))
    }

    fn candidates(
        &self,
        query: &TrigramQuery,
        filter: &DocumentFilter,
    ) -> Result<Vec<StoredDocument>> {
        if *query == TrigramQuery::All {
            return self.all(&Lookup::Matching(filter));
        }
        let mut documents =
            self.with_full_text(|full_text| full_text.candidates(&self.snapshot, query))?;
        self.retain(filter, &mut documents)?;
        documents.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(documents)
    }
}
