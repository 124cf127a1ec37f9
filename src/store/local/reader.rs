//! [`Reader`] over a pinned state of SQLite and the full-text index.
//!
//! An index that is newer than the snapshot is not used. Invariant: the state of the index affects only the time that
//! an answer takes, and never the answer.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use super::engine::Idle;
use super::ids::Ids;
use super::index::IndexFilter;
use super::matching::{matching, values};
use super::{FullText, Snapshot, StatementStats, index_generation};
use crate::corpus::bounds_below;
use crate::data::{CodeItem, TaskEntry};
use crate::error::{Result, Warning};
use crate::glob::Globs;
use crate::ldmd::Markup;
use crate::links::{Outgoing, split_extension};
use crate::markdown::contents::Table;
use crate::markdown::outline::{BlockType, Outline};
use crate::markdown::slug::fold;
use crate::position::ByteSpan;
use crate::prepare::rows::DerivedRows;
use crate::store::reader::{is_key_of_a_document, retain_by_rows, values_in_rows};
use crate::store::{
    DocumentFilter, Facts, FrontMatterData, KeyTypes, Lookup, Purpose, Ranking, Reader,
    SectionFilter, StoredDocument, Totals,
};
use crate::terms::{FRONT_MATTER, TrigramQuery, WordQuery, type_mark};

/// Number of documents whose paths are looked up one by one. For more, the paths of all documents are read
/// in order until enough of them are found.
const MOST_LOOKED_UP: usize = 4_000;

/// Number of documents whose front matter is read one by one. For more, the values of the keys in question
/// are read for all documents.
const MOST_READ: usize = 500;

/// The titles of no more documents than this are read in less time than an index is opened.
const FEW_DOCUMENTS: usize = 8_000;

/// The titles of at most one in this number of documents are looked up. For more, those of all are read.
const MOST_TITLES_LOOKED_UP: usize = 4;

/// Maximum number of best sections whose documents are matched with globs. For more, all documents are
/// matched before the sections are ranked.
const MOST_COMPARED: usize = 2_000;

/// If fewer than one in this number of the best sections are included, all documents are matched.
const LEAST_INCLUDED: usize = 8;

/// Returns the values of the index that mark sections with a block of one of `types`; `None` if there are no types,
/// or one of them has no mark.
fn marks(types: &[String]) -> Option<Vec<String>> {
    let mark = |name: &String| match name.as_str() {
        "frontmatter" => Some(FRONT_MATTER),
        "item" => type_mark(BlockType::List),
        name => BlockType::named(name).and_then(type_mark),
    };
    let marks = types.iter().map(|name| mark(name).map(str::to_owned));
    marks.collect::<Option<Vec<_>>>().filter(|marks| !marks.is_empty())
}

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
    selected: Mutex<Option<(Question, Arc<Ids>)>>,
    known_filter: Mutex<Option<KnownFilter>>,
}

/// The last filter of sections that was asked for. A search asks for the same one for each wording and each round.
#[derive(Debug)]
struct KnownFilter {
    documents: DocumentFilter,
    level: Option<u8>,
    front_matter: Option<bool>,
    types: Vec<String>,
    /// The same filter for the index.
    index: Arc<IndexFilter>,
    /// Whether [`Self::index`] has only documents that the globs include.
    has_globs: bool,
}

impl KnownFilter {
    fn is_of(&self, filter: &SectionFilter<'_>) -> bool {
        self.documents == *filter.documents
            && self.level == filter.level
            && self.front_matter == filter.front_matter
            && self.types == filter.types
    }
}

impl LocalReader {
    pub(super) fn new(state: Arc<StoreState>, idle: Arc<Idle>) -> Self {
        Self { state, idle, selected: Mutex::default(), known_filter: Mutex::default() }
    }

    /// Returns the filter for the index, and whether it has only documents that the globs include. If it must have
    /// only those, all paths may be matched.
    fn index_filter(
        &self,
        filter: &SectionFilter<'_>,
        must_have_globs: bool,
    ) -> Result<(Arc<IndexFilter>, bool)> {
        let mut last = self.known_filter.lock().unwrap_or_else(PoisonError::into_inner);
        let known = match last.take().filter(|known| known.is_of(filter)) {
            Some(known) => last.insert(known),
            None => last.insert(KnownFilter {
                documents: filter.documents.clone(),
                level: filter.level,
                front_matter: filter.front_matter,
                types: filter.types.to_vec(),
                index: Arc::new(self.new_index_filter(filter)?),
                has_globs: filter.documents.globs.is_empty(),
            }),
        };
        if must_have_globs && !known.has_globs {
            let mut index = IndexFilter::clone(&known.index);
            index.documents.push(self.included(&filter.documents.globs)?);
            (known.index, known.has_globs) = (Arc::new(index), true);
        }
        Ok((Arc::clone(&known.index), known.has_globs))
    }

    /// Returns the ids of the first `most` documents in path order after `after` that `filter` admits
    /// and that have a key of each of `keys`, among those with the ids `among`, if given.
    fn admitted(
        &self,
        filter: &DocumentFilter,
        keys: &[Vec<i64>],
        among: Option<&[i64]>,
        after: Option<&str>,
        most: usize,
    ) -> Result<Vec<i64>> {
        let mut selected = self.selected_once(filter, keys)?;
        let named = match filter.globs.file_name() {
            Some(_) => Some(self.included(&filter.globs)?.into_iter().collect()),
            None => None,
        };
        for ids in [among.map(<[i64]>::to_vec), named].into_iter().flatten() {
            selected = Arc::new(selected.and(&Ids::of(ids)));
        }
        match selected.listed() {
            Some(ids) if ids.len() <= MOST_LOOKED_UP => {
                let mut named = self.snapshot.paths_of(ids)?;
                if among.is_some() {
                    self.check_named(ids.len(), named.len())?;
                }
                named.retain(|(id, path)| {
                    after.is_none_or(|after| path.as_str() > after) && filter.takes_name(*id, path)
                });
                named.truncate(most);
                Ok(named.into_iter().map(|(id, _)| id).collect())
            }
            _ => self.snapshot.first_paths(after, filter.path_bounds(), most, |id, path| {
                selected.contains(id) && filter.takes_name(id, path)
            }),
        }
    }

    /// Fails if `found` is less than the number of documents that the index named, and none of them was removed since
    /// then.
    fn check_named(&self, named: usize, found: usize) -> Result<()> {
        if found == named {
            return Ok(());
        }
        self.with_full_text(|full_text| full_text.check_named(&self.snapshot, named, found))
    }

    /// Returns the same as [`StoreState::selected`]. The answer to the last question is kept, because a list
    /// that is read in batches asks it for each batch.
    fn selected_once(&self, filter: &DocumentFilter, keys: &[Vec<i64>]) -> Result<Arc<Ids>> {
        let condition = filter.condition.as_ref().map(ToString::to_string);
        let question = (filter.tags.clone(), condition, keys.to_vec());
        let mut last = self.selected.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, selected)) = &*last
            && *known == question
        {
            return Ok(Arc::clone(selected));
        }
        let selected = Arc::new(self.selected(filter, keys)?);
        *last = Some((question, Arc::clone(&selected)));
        Ok(selected)
    }
}

/// What [`StoreState::selected`] is asked: tags, a condition and keys.
type Question = (Vec<String>, Option<String>, Vec<Vec<i64>>);

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
            Purpose::ReadWithin(wait) => (Snapshot::open_within(path, None, wait)?, None),
            Purpose::Search => {
                let (snapshot, full_text) = FullText::open(path)?;
                (snapshot, Some(full_text))
            }
        };
        Ok(Self { facts: snapshot.facts()?, snapshot, full_text: Mutex::new(full_text) })
    }

    /// Returns whether the state can be used again for `purpose`.
    pub(super) fn serves(&self, purpose: Purpose) -> bool {
        purpose != Purpose::Search || self.full_text().as_ref().is_some_and(FullText::is_usable)
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

    /// Returns the documents that have each of the tags and the front matter that `filter` asks for, and
    /// a key of each of `keys`. Their names are not compared.
    fn selected(&self, filter: &DocumentFilter, keys: &[Vec<i64>]) -> Result<Ids> {
        let mut selected = Ids::all();
        for tag in &filter.tags {
            selected = selected.and(&Ids::of(self.snapshot.documents_with_tag(tag)?));
        }
        for set in keys {
            let mut union = Vec::new();
            for key in set {
                union.extend(self.snapshot.documents_with_data(*key)?);
            }
            selected = selected.and(&Ids::of(union));
        }
        if let Some(condition) = &filter.condition {
            selected = selected.and(&matching(&self.snapshot, condition)?);
        }
        Ok(selected)
    }

    /// Returns the documents of [`Snapshot::documents`].
    fn found(
        &self,
        which: &Lookup<'_>,
        after: Option<&str>,
        most: usize,
    ) -> Result<Vec<StoredDocument>> {
        self.snapshot.documents(which, after, most, |needles| self.title_candidates(needles))
    }

    /// Returns the ids of the documents whose title keys may contain one of `needles`; `None` if all may, or if to
    /// read the titles of all takes less time.
    fn title_candidates(&self, needles: &[String]) -> Result<Option<Vec<i64>>> {
        let query = TrigramQuery::of_title_parts(needles);
        let documents = self.snapshot.totals()?.documents;
        let is_small = self.full_text().is_none() && documents <= FEW_DOCUMENTS;
        if query == TrigramQuery::All || is_small {
            return Ok(None);
        }
        let candidates =
            |full_text: &mut FullText| full_text.known_candidates(&self.snapshot, &query);
        let candidates = self.with_full_text(candidates)?;
        Ok(candidates.filter(|ids| ids.len() <= documents / MOST_TITLES_LOOKED_UP))
    }

    fn new_index_filter(&self, filter: &SectionFilter<'_>) -> Result<IndexFilter> {
        let mut index = IndexFilter {
            level: filter.level,
            front_matter: filter.front_matter,
            ..IndexFilter::default()
        };
        let selected = self.selected(filter.documents, &[])?;
        if selected != Ids::all() {
            index.documents.push(match selected.listed() {
                Some(ids) => ids.iter().copied().collect(),
                None => {
                    let takes = |id: i64, _: &str| selected.contains(id);
                    self.snapshot.first_paths(None, None, usize::MAX, takes)?.into_iter().collect()
                }
            });
        }
        index.scopes.extend(marks(filter.types));
        index.folders = filter.documents.folders().into_iter().map(str::to_owned).collect();
        if let Some(under) = filter.documents.under.as_ref().filter(|_| index.folders.is_empty()) {
            let mut documents = under.documents.clone();
            for folder in &under.folders {
                let below = self.found(&Lookup::Folder(folder), None, usize::MAX)?;
                documents.extend(below.iter().map(|one| one.id));
            }
            index.documents.push(documents);
        }
        Ok(index)
    }

    /// Returns the ids of the documents that `globs` include.
    fn included(&self, globs: &Globs) -> Result<HashSet<i64>> {
        if let Some(name) = globs.file_name() {
            let lookup = Lookup::Names(&[split_extension(name).0]);
            let named = self.found(&lookup, None, usize::MAX)?;
            return Ok(named
                .iter()
                .filter(|one| globs.takes(&one.path))
                .map(|one| one.id)
                .collect());
        }
        let bounds = globs.folder().map(bounds_below);
        let takes = |_, path: &str| globs.takes(path);
        Ok(self.snapshot.first_paths(None, bounds, usize::MAX, takes)?.into_iter().collect())
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

    fn folders(&self) -> Result<Vec<(String, usize)>> {
        self.snapshot.folders()
    }

    fn size_of_folder(&self, folder: &str) -> Result<(usize, u64)> {
        self.snapshot.size_of_folder(folder)
    }

    fn documents(
        &self,
        which: &Lookup<'_>,
        after: Option<&str>,
        most: usize,
    ) -> Result<Vec<StoredDocument>> {
        let ids = match which {
            Lookup::Among(filter, ids)
                if filter.is_empty() && after.is_none() && most == usize::MAX =>
            {
                let documents = self.found(&Lookup::Ids(ids), None, most)?;
                self.check_named(ids.len(), documents.len())?;
                return Ok(documents);
            }
            Lookup::Among(filter, ids) => self.admitted(filter, &[], Some(ids), after, most)?,
            Lookup::Data(filter, []) if filter.is_empty() => {
                return self.found(&Lookup::All, after, most);
            }
            Lookup::Data(filter, keys) => self.admitted(filter, keys, None, after, most)?,
            which => return self.found(which, after, most),
        };
        self.found(&Lookup::Ids(&ids), None, usize::MAX)
    }

    fn with_title_parts(&self, texts: &[&str]) -> Result<Vec<i64>> {
        let candidates = |needles: &[String]| self.title_candidates(needles);
        self.snapshot.ids_with_titles(texts, |titles| &titles.containing, candidates)
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

    fn retain(&self, filter: &DocumentFilter, documents: &mut Vec<StoredDocument>) -> Result<()> {
        if documents.len() <= MOST_READ {
            return retain_by_rows(self, filter, documents);
        }
        let selected = self.selected_once(filter, &[])?;
        documents.retain(|document| {
            selected.contains(document.id) && filter.takes_name(document.id, &document.path)
        });
        Ok(())
    }

    fn values_of(&self, key: &str, documents: &[StoredDocument]) -> Result<Vec<Option<Value>>> {
        let values = if documents.len() > MOST_READ { values(&self.snapshot, key)? } else { None };
        let Some(mut values) = values else { return values_in_rows(self, key, documents) };
        Ok(documents.iter().map(|document| values.remove(&document.id)).collect())
    }

    fn has_front_matter_key(&self, key: &str) -> Result<bool> {
        // A dotted key may be in maps.
        let is_at_top = self.snapshot.has_front_matter_key(&fold(key))?;
        Ok(is_at_top || key.contains('.') && is_key_of_a_document(self, key)?)
    }

    fn front_matter_keys(&self, filter: &DocumentFilter) -> Result<KeyTypes> {
        let admitted: Option<HashSet<i64>> = if filter.is_empty() {
            None
        } else {
            Some(self.admitted(filter, &[], None, None, usize::MAX)?.into_iter().collect())
        };
        let mut keys = KeyTypes::new();
        // The values of a key follow each other, and most of them are of one type.
        let mut run: ((String, String), usize) = Default::default();
        let mut end = |((name, type_name), count): ((String, String), usize)| {
            if count > 0 {
                *keys.entry((name, type_name)).or_default() += count;
            }
        };
        self.snapshot.visit_front_matter_types(|name, type_name, document| {
            if admitted.as_ref().is_some_and(|admitted| !admitted.contains(&document)) {
                return;
            }
            if run.0.0 != name || run.0.1 != type_name {
                let next = ((name.to_owned(), type_name.to_owned()), 0);
                end(std::mem::replace(&mut run, next));
            }
            run.1 += 1;
        })?;
        end(run);
        Ok(keys)
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
        self.snapshot.all_links(documents)
    }

    fn all_tags(&self, documents: &[StoredDocument]) -> Result<Vec<Vec<String>>> {
        documents.iter().map(|document| self.snapshot.tags(document)).collect()
    }

    fn front_matters(&self, documents: &[StoredDocument]) -> Result<Vec<FrontMatterData>> {
        documents.iter().map(|document| self.snapshot.front_matter(document)).collect()
    }

    fn with_diagnostic(&self, code: &str) -> Result<HashSet<i64>> {
        self.snapshot.with_diagnostic(code)
    }

    fn index_difference(&self) -> Result<(usize, usize)> {
        // A check reads both files as a whole.
        Ok((0, 0))
    }

    fn with_other_keys(&self, _: &[(&StoredDocument, &DerivedRows)]) -> Result<HashSet<i64>> {
        // A check reads the file as a whole.
        Ok(HashSet::new())
    }

    fn derived(&self, documents: &[StoredDocument]) -> Result<Vec<DerivedRows>> {
        let rows = |document: &StoredDocument| {
            let rows = self.snapshot.rows(document.id)?;
            rows.map(|rows| rows.derived).ok_or_else(|| self.snapshot.lacking())
        };
        documents.iter().map(rows).collect()
    }

    fn contents(&self, parts: &[(&StoredDocument, ByteSpan)]) -> Result<Vec<Vec<u8>>> {
        self.snapshot.contents(parts)
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
        let globs = &filter.documents.globs;
        let ranked = |filter: &IndexFilter| {
            self.with_full_text(|full_text| full_text.ranked(&self.snapshot, query, filter, count))
        };
        // The index cannot match globs. Matching only the documents of the best sections is faster than
        // matching every document, unless few of them are included.
        let may_compare = count <= MOST_COMPARED && globs.file_name().is_none();
        let (index_filter, has_globs) = self.index_filter(filter, !may_compare)?;
        let mut ranking = ranked(&index_filter)?;
        if !has_globs {
            ranking.sections.retain(|section| globs.takes(&section.document.path));
        }
        if has_globs || ranking.is_complete || ranking.sections.len() * LEAST_INCLUDED >= count {
            return Ok(ranking);
        }
        ranked(&self.index_filter(filter, true)?.0)
    }

    fn candidates(&self, query: &TrigramQuery) -> Result<Option<Vec<i64>>> {
        if *query == TrigramQuery::All {
            return Ok(None);
        }
        self.with_full_text(|full_text| full_text.candidates(&self.snapshot, query)).map(Some)
    }
}
