//! The documents of one reader: their outlines, their bytes, and whether their files have changed.
//!
//! Invariant: bytes come from the store and never from the file, so offsets and bytes belong to the same
//! version. The file is only compared with that version.

use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::address::{Tree, namespace};
use crate::cancellation::Cancellation;
use crate::corpus::{Disk, FolderHandle, Root, Roots};
use crate::error::{Result, Warning};
use crate::ldmd::Markup;
use crate::links::{SiteRoot, unordered, without_order};
use crate::markdown::outline::Outline;
use crate::position::ByteSpan;
use crate::store::{Lookup, Purpose, Reader, Store, StoredDocument};

/// A document and its structure.
#[derive(Debug)]
pub struct OpenDocument {
    /// The entry of the document in the store.
    pub stored: StoredDocument,
    /// The tree of nodes.
    pub tree: Tree,
    /// The LDMD sections.
    pub markup: Markup,
    /// The name of the document in addresses.
    pub namespace: String,
}

impl OpenDocument {
    /// Returns a document with the given outline and LDMD sections.
    pub fn new(stored: StoredDocument, outline: Outline, markup: Markup) -> Self {
        let namespace = namespace::encode(&stored.path);
        Self { stored, tree: Tree::new(outline), markup, namespace }
    }

    /// Reads the outlines of `stored` documents, and their LDMD sections if `has_markup`.
    pub fn read(
        reader: &dyn Reader,
        stored: &[StoredDocument],
        has_markup: bool,
    ) -> Result<Vec<Self>> {
        let outlines = reader.outlines(stored)?;
        let markups = if has_markup { reader.markups(stored)? } else { Vec::new() };
        let markups = markups.into_iter().chain(std::iter::repeat_with(Markup::default));
        let parts = stored.iter().zip(outlines).zip(markups);
        Ok(parts
            .map(|((stored, outline), markup)| Self::new(stored.clone(), outline, markup))
            .collect())
    }

    /// Returns the address of `locator` in this document.
    pub fn address(&self, locator: &str) -> String {
        format!("{}::{locator}", self.namespace)
    }

    /// Returns the primary address of a node.
    pub fn address_of(&self, node: usize) -> String {
        self.address(&self.tree.selector(node))
    }

    /// Returns the primary address of an LDMD section.
    pub fn address_of_ldmd(&self, section: usize) -> String {
        // A question mark would begin the parameters.
        let name = namespace::encode(&self.markup.name(section)).replace('?', "%3F");
        self.address(&format!("ldmd:{name}"))
    }

    /// Returns the span of the whole document.
    pub fn span(&self) -> ByteSpan {
        ByteSpan::new(0, self.tree.outline().bytes)
    }
}

/// The result of comparing a document's file with the stored document.
///
/// It is part of each answer about a document. Fields that are false are not serialized.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Freshness {
    /// The file has other bytes.
    #[serde(rename = "stale", skip_serializing_if = "std::ops::Not::not")]
    pub is_stale: bool,
    /// The root exists, and the file does not.
    #[serde(rename = "missing", skip_serializing_if = "std::ops::Not::not")]
    pub is_missing: bool,
    /// The document came from a pack, and no file of it was ever seen.
    #[serde(skip)]
    pub(crate) never_had_file: bool,
}

/// The maximum number of documents that are kept open.
pub(super) const MAX_OPEN: usize = 64;

/// Answers a question from the newest generation of `store`.
pub fn ask<T>(
    store: &Store,
    purpose: Purpose,
    question: impl FnOnce(&DocumentCache<'_>) -> Result<T>,
) -> Result<T> {
    let reader = store.reader(purpose)?;
    question(&DocumentCache::new(&*reader))
}

/// Opens the documents of one reader, and caches the documents that are open.
#[derive(Debug)]
pub struct DocumentCache<'a> {
    /// The state of the store that all documents belong to.
    pub reader: &'a dyn Reader,
    open: RefCell<HashMap<i64, Rc<OpenDocument>>>,
    freshness: RefCell<HashMap<i64, Freshness>>,
    folders: RefCell<HashMap<String, bool>>,
    /// The folders of the documents.
    pub roots: Roots,
    /// The folders in which links that begin with `/` are resolved; see `Roots::site_roots`.
    pub sites: Vec<SiteRoot>,
    /// The folders to which such links may be relative; see `Roots::link_roots`.
    pub link_roots: Vec<SiteRoot>,
    /// The names of the collections.
    pub collections: Vec<String>,
    /// The folders of the documents that exist, by name.
    handles: HashMap<String, FolderHandle>,
    disk: OnceCell<Disk>,
    /// The documents with ordered names; see [`Self::unordered`].
    ordered: OnceCell<HashMap<String, Vec<i64>>>,
    cancellation: Cancellation,
}

impl<'a> DocumentCache<'a> {
    /// Returns a cache without open documents.
    pub fn new(reader: &'a dyn Reader) -> Self {
        let roots = reader.roots();
        let handle = |root: &Root| (root.name.clone(), FolderHandle::new(&root.folder));
        let handles = roots.iter().map(handle).filter(|(_, handle)| handle.exists()).collect();
        Self {
            reader,
            sites: roots.site_roots(),
            link_roots: roots.link_roots(),
            collections: roots.collections().iter().map(|root| root.name.clone()).collect(),
            roots,
            handles,
            open: RefCell::default(),
            freshness: RefCell::default(),
            folders: RefCell::default(),
            disk: OnceCell::new(),
            ordered: OnceCell::new(),
            cancellation: Cancellation::current(),
        }
    }

    /// Returns the files below the root, as they are on disk now.
    pub(super) fn disk(&self) -> &Disk {
        self.disk.get_or_init(|| Disk::new(&self.roots))
    }

    /// Returns the ids of the documents whose paths have a number that orders files or folders, and are the folded
    /// `path` without extension and without such numbers. The paths of all documents are read once.
    pub(super) fn unordered(&self, path: &str) -> Result<Vec<i64>> {
        if self.ordered.get().is_none() {
            let mut ordered: HashMap<String, Vec<i64>> = HashMap::new();
            for StoredDocument { id, path, .. } in self.reader.all(&Lookup::All)? {
                if path.split('/').any(|part| without_order(part) != part) {
                    ordered.entry(unordered(&path)).or_default().push(id);
                }
            }
            drop(self.ordered.set(ordered));
        }
        Ok(self.ordered.get().and_then(|ordered| ordered.get(path)).cloned().unwrap_or_default())
    }

    /// Opens a document, or returns it from the cache.
    pub fn open(&self, stored: &StoredDocument) -> Result<Rc<OpenDocument>> {
        if let Some(open) = self.open.borrow().get(&stored.id) {
            return Ok(Rc::clone(open));
        }
        self.cancellation.check()?;
        let outline = self.reader.outline(stored)?;
        let markup = self.reader.markup(stored)?;
        let document = Rc::new(OpenDocument::new(stored.clone(), outline, markup));
        let mut open = self.open.borrow_mut();
        if open.len() >= MAX_OPEN {
            open.clear();
        }
        open.insert(stored.id, Rc::clone(&document));
        Ok(document)
    }

    /// Opens the document with this id, if any, or returns it from the cache.
    pub(super) fn open_by_id(&self, id: i64) -> Result<Option<Rc<OpenDocument>>> {
        if let Some(open) = self.open.borrow().get(&id) {
            return Ok(Some(Rc::clone(open)));
        }
        self.reader.document(id)?.map(|stored| self.open(&stored)).transpose()
    }

    /// Opens documents together and returns them, each once. [`open`](Self::open) finds them in the cache. Opens no more
    /// than it holds.
    pub(super) fn open_together<'d>(
        &self,
        stored: impl Iterator<Item = &'d StoredDocument>,
    ) -> Result<Vec<Rc<OpenDocument>>> {
        let mut ids = HashSet::new();
        let is_new = |stored: &&StoredDocument| ids.len() < MAX_OPEN && ids.insert(stored.id);
        let stored: Vec<&StoredDocument> = stored.filter(is_new).collect();
        let mut open = self.open.borrow_mut();
        let missing = stored.iter().filter(|stored| !open.contains_key(&stored.id));
        let missing: Vec<StoredDocument> = missing.map(|stored| (*stored).clone()).collect();
        if open.len() + missing.len() > MAX_OPEN {
            open.retain(|id, _| ids.contains(id));
        }
        let opened = self.open_all(&missing)?;
        open.extend(opened.into_iter().map(|document| (document.stored.id, Rc::new(document))));
        Ok(stored.iter().filter_map(|stored| open.get(&stored.id).cloned()).collect())
    }

    /// Opens many documents, without caching them.
    pub fn open_all(&self, stored: &[StoredDocument]) -> Result<Vec<OpenDocument>> {
        self.cancellation.check()?;
        OpenDocument::read(self.reader, stored, true)
    }

    /// Returns the bytes of a document within `span`.
    pub fn content(&self, document: &OpenDocument, span: ByteSpan) -> Result<Vec<u8>> {
        self.cancellation.check()?;
        self.reader.content(&document.stored, span)
    }

    /// Returns whether the folder of a document is really below the root. Each folder is checked once.
    fn is_in_its_folder(&self, path: &str) -> bool {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        if let Some(is_real) = self.folders.borrow().get(folder) {
            return *is_real;
        }
        let is_real = self.roots.is_really_below(path);
        self.folders.borrow_mut().insert(folder.to_owned(), is_real);
        is_real
    }

    /// Compares the file of a document with the stored document: by size and modification time, and by
    /// its bytes if only the time differs.
    pub fn freshness(&self, stored: &StoredDocument) -> Freshness {
        let (root, below) = self.roots.of(&stored.path);
        let Some(folder) = self.handles.get(&root.name) else { return Freshness::default() };
        if let Some(freshness) = self.freshness.borrow().get(&stored.id) {
            return *freshness;
        }
        // A file that is reached through a symbolic link is not the file that was ingested.
        let file = if self.is_in_its_folder(&stored.path) {
            folder.state(below)
        } else {
            Err(std::io::ErrorKind::NotFound.into())
        };
        // Without the options of the store the folders of collections are unknown.
        let is_known = !self.reader.facts().has_lost_options;
        let missing = |is_missing| Freshness {
            is_stale: false,
            is_missing: is_missing && is_known,
            never_had_file: is_missing && !stored.state.is_of_file(),
        };
        let freshness = match file {
            Err(error) => missing(matches!(
                error.kind(),
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
            )),
            // A folder or a link is at its path.
            Ok((_, false)) => missing(true),
            Ok((state, true)) => {
                let is_same_state =
                    state.size == stored.state.size && state.mtime_ns == stored.state.mtime_ns;
                let is_same = is_same_state
                    || (state.size == stored.state.size
                        && self
                            .roots
                            .read(&stored.path, stored.state.size)
                            .is_ok_and(|bytes| *blake3::hash(&bytes).as_bytes() == stored.hash));
                Freshness { is_stale: !is_same, ..Freshness::default() }
            }
        };
        self.freshness.borrow_mut().insert(stored.id, freshness);
        freshness
    }

    /// The consequence to pass to [`Self::warning_of_changes`] if an ingest would correct the answer.
    pub(super) const INGEST_UPDATES: &'static str = "`mdsel ingest` updates the store";

    /// Returns a warning if the files of some of `documents` have changed or are gone, for an answer that is
    /// computed from the stored documents and does not mark each of them. The warning ends with `consequence`.
    pub(crate) fn warning_of_changes<'d>(
        &self,
        documents: impl IntoIterator<Item = &'d StoredDocument>,
        consequence: &str,
    ) -> Option<Warning> {
        let mut changed = documents.into_iter().filter(|document| {
            let freshness = self.freshness(document);
            freshness.is_stale || freshness.is_missing && !freshness.never_had_file
        });
        let first = changed.next()?;
        let what = match changed.count() {
            0 => format!("{} has changed or is", first.path),
            1 => format!("{} and another file have changed or are", first.path),
            others => format!("{} and {others} other files have changed or are", first.path),
        };
        let message = format!("{what} gone since the ingest; {consequence}");
        Some(Warning::new("STALE_DOCUMENTS", message))
    }
}
