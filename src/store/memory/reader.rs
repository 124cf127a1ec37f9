//! Reading one generation of a store in memory.
//!
//! Invariant: an answer looks at every document, so it depends on no index.

use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use super::search::AllSections;
use super::{MemoryDocument, MemoryState};
use crate::codec::content::{chunk, chunk_count};
use crate::codec::data::{self, Packable};
use crate::codec::{markup, outline};
use crate::data::{CodeItem, TaskEntry};
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::ldmd::Markup;
use crate::limits;
use crate::links::Outgoing;
use crate::markdown::contents::Table;
use crate::markdown::outline::Outline;
use crate::position::ByteSpan;
use crate::prepare::rows::DerivedRows;
use crate::prepare::{like_name_bounds, name_key, title_keys};
use crate::store::{
    DocumentFilter, Facts, FrontMatterData, KeyTypes, Lookup, RankedSection, Ranking, Reader,
    SectionFilter, StoredDocument, Totals,
};
use crate::terms::{TrigramQuery, WordQuery};

#[derive(Debug)]
pub(super) struct MemoryReader(pub(super) Arc<MemoryState>);

fn damaged() -> Error {
    Error::new(ErrorKind::StoreCorrupt, "a document in memory cannot be decoded")
}

/// Returns whether `filter` admits a document.
fn is_admitted(filter: &DocumentFilter, entry: &MemoryDocument) -> bool {
    let values = front_matter(entry).flatten().unwrap_or_default();
    filter.takes_name(entry.stored.id, &entry.stored.path)
        && filter.takes_tags(&entry.prepared.rows.tags)
        && filter.takes_values(&values)
}

/// Returns the front matter of a document; `None` if it is damaged.
fn front_matter(entry: &MemoryDocument) -> Option<FrontMatterData> {
    let values = entry.prepared.rows.front_matter.as_ref();
    values.map(|values| serde_json::from_str(values)).transpose().ok()
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
        Lookup::Among(filter, ids) => {
            ids.binary_search(&stored.id).is_ok() && is_admitted(filter, entry)
        }
        Lookup::Data(filter, keys) => {
            let has = |key: &i64| prepared.keys.data.contains(key);
            is_admitted(filter, entry) && keys.iter().all(|set| set.iter().any(has))
        }
        Lookup::Ids(ids) => ids.contains(&stored.id),
        Lookup::Paths(paths) => paths.contains(&path.as_str()),
        Lookup::Folder(folder) => {
            path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
        }
        Lookup::Names(names) => names.iter().any(|name| key.starts_with(&name_key(name))),
        Lookup::LikeName(name) => {
            let (start, end) = like_name_bounds(name);
            (&start..&end).contains(&key)
        }
        Lookup::Numbered => key.starts_with(|first: char| first.is_ascii_digit()),
        Lookup::Titles(texts) => title_keys.as_ref().is_some_and(|keys| {
            texts.iter().any(|text| title_keys::holds(keys, &title_keys::needle(text)))
        }),
        Lookup::TitleParts(texts) => title_keys
            .as_ref()
            .is_some_and(|keys| texts.iter().any(|text| keys.contains(&title_keys::needle(text)))),
        Lookup::LdmdSections(ids) => ids.iter().any(|id| markup_ids.iter().any(|own| own == id)),
        Lookup::LinkKeys(keys) => keys.iter().any(|key| prepared.keys.links.contains(key)),
        Lookup::NameKey(key) => prepared.keys.names.contains(key),
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

    fn folders(&self) -> Result<Vec<(String, usize)>> {
        let mut folders: BTreeMap<&str, usize> = BTreeMap::new();
        for path in self.0.documents.keys() {
            let folder = path.rfind('/').and_then(|slash| path.get(..=slash));
            *folders.entry(folder.unwrap_or_default()).or_default() += 1;
        }
        Ok(folders.into_iter().map(|(folder, count)| (folder.to_owned(), count)).collect())
    }

    fn size_of_folder(&self, folder: &str) -> Result<(usize, u64)> {
        let below = self.all(&Lookup::Folder(folder))?;
        Ok((below.len(), below.iter().map(|document| document.state.size).sum()))
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
        self.each(documents, front_matter)
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

    fn with_diagnostic(&self, code: &str) -> Result<HashSet<i64>> {
        let has = |entry: &MemoryDocument| {
            entry.prepared.rows.diagnostics.iter().any(|diagnostic| diagnostic.code == code)
        };
        let entries = self.0.documents.values().filter(|entry| has(entry));
        Ok(entries.map(|entry| entry.stored.id).collect())
    }

    fn index_difference(&self) -> Result<(usize, usize)> {
        // Nothing is stored apart from the documents.
        Ok((0, 0))
    }

    fn with_other_keys(&self, _: &[(&StoredDocument, &DerivedRows)]) -> Result<HashSet<i64>> {
        // Nothing is stored apart from the documents.
        Ok(HashSet::new())
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
            let mut own = entry.prepared.keys.links.clone();
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
        let sections = AllSections::of(self.0.documents.values(), filter.documents);
        let (mut ranked, weights) =
            sections.ranked(query, filter, |entry| is_admitted(filter.documents, entry));
        let is_complete = ranked.len() < count;
        ranked.truncate(count);
        let section = |(ranked, entry): (_, Arc<MemoryDocument>)| RankedSection {
            ranked,
            document: Rc::new(entry.stored.clone()),
        };
        Ok(Ranking { sections: ranked.into_iter().map(section).collect(), weights, is_complete })
    }

    fn candidates(&self, query: &TrigramQuery) -> Result<Option<Vec<i64>>> {
        if *query == TrigramQuery::All {
            return Ok(None);
        }
        let may_match = |entry: &&Arc<MemoryDocument>| {
            let trigrams = entry.prepared.text.trigrams();
            query.is_met_by(&|trigram| trigrams.contains(trigram))
        };
        let entries = self.0.documents.values().filter(may_match);
        let mut ids: Vec<i64> = entries.map(|entry| entry.stored.id).collect();
        ids.sort_unstable();
        Ok(Some(ids))
    }
}
