//! A store in memory, for tests of everything above the storage.
//!
//! It keeps the same prepared documents as a store file and answers every question by looking at each of
//! them. Invariants: a reader keeps its generation while a writer commits. A writer that is dropped
//! changes nothing after its last commit.

mod search;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use self::search::AllSections;
use super::{
    DocumentFilter, EditIntent, Engine, Facts, FrontMatterData, KeyTypes, Lookup, Purpose,
    RankedSection, Ranking, Reader, SectionFilter, StoredDocument, Totals, Writer,
};
use crate::codec::content::{chunk, chunk_count};
use crate::codec::data::{self, Packable};
use crate::codec::{markup, outline};
use crate::corpus::{FileState, IngestOptions};
use crate::data::{CodeItem, TaskEntry};
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::ldmd::Markup;
use crate::limits;
use crate::links::{Outgoing, split_extension};
use crate::markdown::contents::Table;
use crate::markdown::outline::Outline;
use crate::position::ByteSpan;
use crate::prepare::rows::DerivedRows;
use crate::prepare::{PreparedDocument, name_key, title_keys};
use crate::terms::{TrigramQuery, WordQuery};

/// A stored document.
#[derive(Debug)]
struct MemoryDocument {
    stored: StoredDocument,
    prepared: PreparedDocument,
}

/// One generation.
#[derive(Clone, Debug, Default)]
struct MemoryState {
    facts: Facts,
    /// Whether the store was set up.
    is_set_up: bool,
    /// The documents by path.
    documents: BTreeMap<String, Arc<MemoryDocument>>,
    last_id: i64,
    intents: BTreeMap<i64, EditIntent>,
}

/// What all readers and writers of a store share.
#[derive(Debug, Default)]
struct Shared {
    newest: Mutex<Arc<MemoryState>>,
    is_writing: Mutex<bool>,
}

/// A store in memory.
#[derive(Clone, Debug, Default)]
pub struct Memory(Arc<Shared>);

impl Memory {
    fn newest(&self) -> Arc<MemoryState> {
        Arc::clone(&self.0.newest.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Engine for Memory {
    fn path(&self) -> Option<&Path> {
        None
    }

    fn own_files(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    fn reader(&self, _: Purpose) -> Result<Box<dyn Reader>> {
        let state = self.newest();
        if !state.is_set_up {
            return Err(Error::new(ErrorKind::StoreNotFound, "the store does not exist")
                .with_hint("create it with `mdsel ingest FOLDER`"));
        }
        Ok(Box::new(MemoryReader(state)))
    }

    fn writer(&self, wait: Duration) -> Result<Box<dyn Writer>> {
        let deadline = Instant::now() + wait;
        loop {
            let mut is_writing = self.0.is_writing.lock().unwrap_or_else(PoisonError::into_inner);
            if !*is_writing {
                *is_writing = true;
                let state = MemoryState::clone(&self.newest());
                let store = self.clone();
                return Ok(Box::new(MemoryWriter { store, state, is_changed: false }));
            }
            drop(is_writing);
            if Instant::now() >= deadline {
                return Err(Error::new(ErrorKind::Locked, "another writer is active")
                    .with_hint("wait until it ends, or wait longer with --wait SECONDS"));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

#[derive(Debug)]
struct MemoryReader(Arc<MemoryState>);

fn damaged() -> Error {
    Error::new(ErrorKind::StoreCorrupt, "a document in memory cannot be decoded")
}

/// Returns whether `filter` admits a document.
fn is_admitted(filter: &DocumentFilter, entry: &MemoryDocument) -> bool {
    let values = front_matter(entry).unwrap_or_default();
    filter.takes_name(entry.stored.id, &entry.stored.path)
        && filter.takes_tags(&entry.prepared.rows.tags)
        && filter.takes_values(&values)
}

fn front_matter(entry: &MemoryDocument) -> FrontMatterData {
    let values = entry.prepared.rows.front_matter.as_ref();
    values.and_then(|values| serde_json::from_str(values).ok())
}

/// Returns the data of one kind of a document.
fn data_of<T: Packable>(entry: &MemoryDocument, kind: usize) -> Option<Vec<T>> {
    let packed = entry.prepared.rows.data.get(kind)?.as_deref();
    data::decode(packed, usize::try_from(entry.stored.state.size).ok()?)
}

/// Returns whether a document with `rows` is one that `which` means.
fn is_meant(which: &Lookup<'_>, entry: &MemoryDocument) -> bool {
    let MemoryDocument { stored, prepared } = entry;
    let DerivedRows { path, name_key: key, title_keys, markup_ids, .. } = &prepared.rows;
    match which {
        Lookup::All => true,
        Lookup::Matching(filter) => is_admitted(filter, entry),
        Lookup::Data(filter, keys) => {
            let has = |key: &i64| prepared.data_keys.contains(key);
            is_admitted(filter, entry) && keys.iter().all(|set| set.iter().any(has))
        }
        Lookup::Ids(ids) => ids.contains(&stored.id),
        Lookup::Paths(paths) => paths.contains(&path.as_str()),
        Lookup::Folder(folder) => {
            path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
        }
        Lookup::Names(names) => names.iter().any(|name| key.starts_with(&name_key(name))),
        Lookup::LikeName(name) => {
            key.chars().next() == name_key(split_extension(name).0).chars().next()
        }
        Lookup::Titles(texts) => title_keys.as_ref().is_some_and(|keys| {
            texts.iter().any(|text| title_keys::holds(keys, &title_keys::needle(text)))
        }),
        Lookup::TitleParts(texts) => title_keys
            .as_ref()
            .is_some_and(|keys| texts.iter().any(|text| keys.contains(&title_keys::needle(text)))),
        Lookup::LdmdSections(ids) => ids.iter().any(|id| markup_ids.iter().any(|own| own == id)),
        Lookup::LinkKeys(keys) => keys.iter().any(|key| prepared.link_keys.contains(key)),
        Lookup::NameKey(key) => prepared.name_keys.contains(key),
    }
}

impl MemoryReader {
    fn entry(&self, document: &StoredDocument) -> Result<&MemoryDocument> {
        let entry = self.0.documents.get(&document.path);
        entry.map(Arc::as_ref).filter(|entry| entry.stored.id == document.id).ok_or_else(damaged)
    }

    /// Calls `part` with the entry of each document.
    fn each<T>(
        &self,
        documents: &[StoredDocument],
        part: impl Fn(&MemoryDocument) -> Option<T>,
    ) -> Result<Vec<T>> {
        let of = |document| part(self.entry(document)?).ok_or_else(damaged);
        documents.iter().map(of).collect()
    }
}

/// Returns the bytes of a document.
fn bytes(entry: &MemoryDocument) -> Option<Vec<u8>> {
    let length = usize::try_from(entry.stored.state.size).ok()?;
    let chunks = &entry.prepared.chunks;
    let whole: Option<Vec<Vec<u8>>> =
        (0..chunk_count(length)).map(|index| chunk(chunks.get(index)?)).collect();
    Some(whole?.concat())
}

impl Reader for MemoryReader {
    fn facts(&self) -> &Facts {
        &self.0.facts
    }

    fn take_warnings(&self) -> Vec<Warning> {
        Vec::new()
    }

    fn index_generation(&self) -> Option<u64> {
        Some(self.0.facts.generation)
    }

    fn totals(&self) -> Result<Totals> {
        let mut totals = Totals::default();
        let count = |number: i64| usize::try_from(number).unwrap_or(0);
        for entry in self.0.documents.values() {
            let counts = entry.prepared.rows.counts;
            let [lines, words, sections, blocks, link_count] = counts.map(count);
            totals.documents += 1;
            totals.sections += sections;
            totals.blocks += blocks;
            totals.links += link_count;
            totals.bytes += usize::try_from(entry.stored.state.size).unwrap_or(0);
            totals.words += words;
            totals.lines += lines;
            totals.diagnostics += entry.prepared.rows.diagnostics.len();
        }
        Ok(totals)
    }

    fn folders(&self, most: usize) -> Result<Vec<(String, usize)>> {
        let mut folders: BTreeMap<&str, usize> = BTreeMap::new();
        for path in self.0.documents.keys() {
            let folder = path.split_once('/').map_or("", |(folder, _)| folder);
            *folders.entry(folder).or_default() += 1;
        }
        let mut folders: Vec<_> =
            folders.into_iter().map(|(folder, count)| (folder.to_owned(), count)).collect();
        folders.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        folders.truncate(most);
        Ok(folders)
    }

    fn documents(
        &self,
        which: &Lookup<'_>,
        after: Option<&str>,
        most: usize,
    ) -> Result<Vec<StoredDocument>> {
        let most = match which {
            Lookup::LikeName(_) => most.min(limits::MAX_NAMESPACES_COMPARED),
            _ => most,
        };
        let entries = self.0.documents.values().filter(|entry| {
            after.is_none_or(|after| entry.stored.path.as_str() > after) && is_meant(which, entry)
        });
        Ok(entries.take(most).map(|entry| entry.stored.clone()).collect())
    }

    fn outlines(&self, documents: &[StoredDocument]) -> Result<Vec<Outline>> {
        self.each(documents, |entry| outline::decode(entry.prepared.rows.outline.as_deref()?))
    }

    fn markups(&self, documents: &[StoredDocument]) -> Result<Vec<Markup>> {
        self.each(documents, |entry| match &entry.prepared.rows.markup {
            Some(packed) => markup::decode(packed, usize::try_from(entry.stored.state.size).ok()?),
            None => Some(Markup::default()),
        })
    }

    fn all_links(&self, documents: &[StoredDocument]) -> Result<Vec<Outgoing>> {
        self.each(documents, |entry| match &entry.prepared.rows.links {
            Some(packed) => postcard::from_bytes(packed).ok(),
            None => Some(Outgoing::default()),
        })
    }

    fn all_tags(&self, documents: &[StoredDocument]) -> Result<Vec<Vec<String>>> {
        self.each(documents, |entry| Some(entry.prepared.rows.tags.clone()))
    }

    fn front_matters(&self, documents: &[StoredDocument]) -> Result<Vec<FrontMatterData>> {
        self.each(documents, |entry| Some(front_matter(entry)))
    }

    fn all_code(&self, documents: &[StoredDocument]) -> Result<Vec<Vec<CodeItem>>> {
        self.each(documents, |entry| data_of(entry, 0))
    }

    fn all_tables(&self, documents: &[StoredDocument]) -> Result<Vec<Vec<Table>>> {
        self.each(documents, |entry| data_of(entry, 1))
    }

    fn all_tasks(&self, documents: &[StoredDocument]) -> Result<Vec<Vec<TaskEntry>>> {
        self.each(documents, |entry| data_of(entry, 2))
    }

    fn front_matter_keys(&self, filter: &DocumentFilter) -> Result<KeyTypes> {
        let mut keys = KeyTypes::new();
        for entry in self.0.documents.values().filter(|entry| is_admitted(filter, entry)) {
            for value in &entry.prepared.values {
                let key = (value.name.clone(), value.type_name.to_owned());
                *keys.entry(key).or_default() += 1;
            }
        }
        Ok(keys)
    }

    fn derived(&self, documents: &[StoredDocument]) -> Result<Vec<DerivedRows>> {
        self.each(documents, |entry| Some(entry.prepared.rows.clone()))
    }

    fn contents(&self, parts: &[(&StoredDocument, ByteSpan)]) -> Result<Vec<Vec<u8>>> {
        let content = |(document, span): &(&StoredDocument, ByteSpan)| {
            let mut bytes = bytes(self.entry(document)?).ok_or_else(damaged)?;
            let span = span.clipped(bytes.len());
            bytes.truncate(span.end);
            Ok(bytes.split_off(span.start))
        };
        parts.iter().map(content).collect()
    }

    fn frequent_link_keys(&self, count: usize) -> Result<Vec<(i64, usize)>> {
        let mut keys: BTreeMap<i64, usize> = BTreeMap::new();
        for entry in self.0.documents.values() {
            let mut own = entry.prepared.link_keys.clone();
            own.sort_unstable();
            own.dedup();
            for key in own {
                *keys.entry(key).or_default() += 1;
            }
        }
        let mut keys: Vec<(i64, usize)> = keys.into_iter().collect();
        keys.sort_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(&other.0)));
        keys.truncate(count);
        Ok(keys)
    }

    fn ranked(
        &self,
        query: &WordQuery,
        filter: &SectionFilter<'_>,
        count: usize,
    ) -> Result<Ranking> {
        let sections = AllSections::of(self.0.documents.values());
        let documents = Lookup::Matching(filter.documents);
        let (mut ranked, weights) =
            sections.ranked(query, filter, |entry| is_meant(&documents, entry));
        let is_complete = ranked.len() < count;
        ranked.truncate(count);
        let section = |(ranked, entry): (_, Arc<MemoryDocument>)| RankedSection {
            ranked,
            document: Rc::new(entry.stored.clone()),
        };
        Ok(Ranking { sections: ranked.into_iter().map(section).collect(), weights, is_complete })
    }

    fn candidates(
        &self,
        query: &TrigramQuery,
        filter: &DocumentFilter,
    ) -> Result<Vec<StoredDocument>> {
        let documents = Lookup::Matching(filter);
        let may_match = |entry: &&Arc<MemoryDocument>| {
            let trigrams = entry.prepared.text.trigrams();
            is_meant(&documents, entry) && query.is_met_by(&|trigram| trigrams.contains(trigram))
        };
        let entries = self.0.documents.values().filter(may_match);
        Ok(entries.map(|entry| entry.stored.clone()).collect())
    }
}

#[derive(Debug)]
struct MemoryWriter {
    store: Memory,
    /// The newest generation with the changes since the last commit.
    state: MemoryState,
    /// Whether a document changed since the last commit.
    is_changed: bool,
}

impl Drop for MemoryWriter {
    fn drop(&mut self) {
        *self.store.0.is_writing.lock().unwrap_or_else(PoisonError::into_inner) = false;
    }
}

impl Writer for MemoryWriter {
    fn root(&self) -> Result<Option<PathBuf>> {
        Ok(self.state.is_set_up.then(|| self.state.facts.root.clone()))
    }

    fn options(&self) -> Result<Option<IngestOptions>> {
        Ok(self.state.is_set_up.then(|| self.state.facts.options.clone()))
    }

    fn has_current_parser(&self) -> Result<bool> {
        Ok(true)
    }

    fn generation(&self) -> Result<u64> {
        Ok(self.state.facts.generation)
    }

    fn documents(&self) -> Result<Vec<StoredDocument>> {
        Ok(self.state.documents.values().map(|entry| entry.stored.clone()).collect())
    }

    fn set_up(&mut self, root: &str, options: &IngestOptions) -> Result<()> {
        self.state.is_set_up = true;
        self.state.facts.root = PathBuf::from(root);
        self.state.facts.options = options.clone();
        self.state.facts.has_current_parser = true;
        self.commit()
    }

    fn set_current_parser(&mut self) -> Result<()> {
        Ok(())
    }

    fn put(&mut self, documents: Vec<PreparedDocument>) -> Result<()> {
        for prepared in documents {
            self.state.last_id += 1;
            let DerivedRows { path, hash, is_lossy, has_markup, .. } = &prepared.rows;
            let stored = StoredDocument {
                id: self.state.last_id,
                path: path.clone(),
                hash: *hash,
                state: prepared.state,
                is_lossy: *is_lossy,
                has_ldmd: *has_markup,
                checksums: prepared.checksums,
            };
            let entry = Arc::new(MemoryDocument { stored, prepared });
            self.state.documents.insert(entry.stored.path.clone(), entry);
            self.is_changed = true;
        }
        Ok(())
    }

    fn remove(&mut self, ids: &[i64]) -> Result<()> {
        self.state.documents.retain(|_, entry| !ids.contains(&entry.stored.id));
        self.is_changed = true;
        Ok(())
    }

    fn set_states(&mut self, _: &[(i64, FileState)]) -> Result<()> {
        // The next ingest reads the file again, which costs only time.
        Ok(())
    }

    fn note_intents(&mut self, intents: &[EditIntent]) -> Result<Vec<i64>> {
        let mut ids = Vec::with_capacity(intents.len());
        for intent in intents {
            self.state.last_id += 1;
            self.state.intents.insert(self.state.last_id, intent.clone());
            ids.push(self.state.last_id);
        }
        self.commit()?;
        Ok(ids)
    }

    fn forget_intent(&mut self, id: i64) -> Result<()> {
        self.state.intents.remove(&id);
        Ok(())
    }

    fn intents(&self) -> Result<Vec<(i64, EditIntent)>> {
        Ok(self.state.intents.iter().map(|(id, intent)| (*id, intent.clone())).collect())
    }

    fn commit(&mut self) -> Result<()> {
        self.state.facts.generation += u64::from(std::mem::take(&mut self.is_changed));
        self.state.facts.is_interrupted = !self.state.intents.is_empty();
        let newest = Arc::new(self.state.clone());
        *self.store.0.newest.lock().unwrap_or_else(PoisonError::into_inner) = newest;
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<Vec<Warning>> {
        Ok(Vec::new())
    }
}
