//! The documents of one reader while it answers: their outlines, their bytes, and the state of their files.
//!
//! Invariant: bytes come from the store and never from the file, so offsets and bytes belong to the same
//! version. The file is only compared with that version.

use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::folders;
use super::freshness::{ComparedFiles, Freshness};
use super::open_document::OpenDocument;
use crate::cancellation::Cancellation;
use crate::corpus::{Disk, Roots};
use crate::error::{Result, Warning};
use crate::links::{SiteRoot, file_name, unordered, without_order};
use crate::message::{Message, message};
use crate::position::ByteSpan;
use crate::store::{Lookup, Purpose, Reader, Store, StoredDocument};

/// The maximum number of documents that are kept open.
pub(super) const MAX_OPEN: usize = 64;

/// The largest number of documents that are read together to look for one of a kind.
const READ_TOGETHER: usize = 4096;

/// The most folders whose documents are read with a statement for each. For more of them, all documents are read once.
const FOLDERS_READ_ALONE: usize = 16;

/// Answers a question from the newest generation of `store`.
pub fn ask<T>(
    store: &Store,
    purpose: Purpose,
    question: impl FnOnce(&Session<'_>) -> Result<T>,
) -> Result<T> {
    let reader = store.reader(purpose)?;
    question(&Session::new(&*reader))
}

/// One reader, with the documents that are open and the folders of their files.
#[derive(Debug)]
pub struct Session<'a> {
    /// The state of the store that all documents belong to.
    pub reader: &'a dyn Reader,
    open: RefCell<HashMap<i64, Rc<OpenDocument>>>,
    files: ComparedFiles,
    /// The folders of the documents.
    pub roots: Roots,
    /// The folders in which links that begin with `/` are resolved; see `Roots::site_roots`.
    pub sites: Vec<SiteRoot>,
    /// The folders to which such links may be relative; see `Roots::link_roots`.
    pub link_roots: Vec<SiteRoot>,
    /// The names of the collections.
    pub collections: Vec<String>,
    disk: OnceCell<Disk>,
    folders: OnceCell<Vec<String>>,
    /// The documents with ordered names; see [`Self::unordered`].
    ordered: OnceCell<HashMap<String, Vec<i64>>>,
    /// Whether the folders of these names have the file of a document; see [`Self::has_files`].
    with_files: RefCell<HashMap<String, bool>>,
    cancellation: Cancellation,
}

impl<'a> Session<'a> {
    /// Returns a session without open documents for the call of this thread.
    pub fn new(reader: &'a dyn Reader) -> Self {
        Self::of_call(reader, Cancellation::current())
    }

    /// Returns a session without open documents that ends its work when `cancellation` says so.
    pub(super) fn of_call(reader: &'a dyn Reader, cancellation: Cancellation) -> Self {
        let roots = reader.roots();
        Self {
            reader,
            sites: roots.site_roots(),
            link_roots: roots.link_roots(),
            collections: roots.collections().iter().map(|root| root.name.clone()).collect(),
            files: ComparedFiles::new(&roots),
            roots,
            open: RefCell::default(),
            disk: OnceCell::new(),
            folders: OnceCell::new(),
            ordered: OnceCell::new(),
            with_files: RefCell::default(),
            cancellation,
        }
    }

    /// Returns the cancellation of the call, for other threads that work on it.
    pub(super) fn cancellation(&self) -> Cancellation {
        self.cancellation.clone()
    }

    /// Returns the files below the root, as they are on disk now.
    pub(super) fn disk(&self) -> &Disk {
        self.disk.get_or_init(|| Disk::new(&self.roots))
    }

    /// Returns the ids of the documents whose paths have a number that orders files or folders, and are the folded
    /// `path` without extension and without such numbers.
    pub(super) fn unordered(&self, path: &str) -> Result<Vec<i64>> {
        if self.ordered.get().is_none() {
            drop(self.ordered.set(self.read_ordered()?));
        }
        let ordered = self.ordered.get();
        Ok(ordered.and_then(|ordered| ordered.get(path)).cloned().unwrap_or_default())
    }

    /// Returns the ids of the documents whose paths have a number that orders files or folders, in the order of their
    /// paths, by [`unordered`] path.
    fn read_ordered(&self) -> Result<HashMap<String, Vec<i64>>> {
        let is_ordered = |name: &str| without_order(name) != name;
        let mut outermost: Vec<&str> = Vec::new();
        for folder in self.folders()? {
            // The folders inside of one follow it.
            if is_ordered(file_name(folder.trim_end_matches('/')))
                && outermost.last().is_none_or(|last| !folder.starts_with(last))
            {
                outermost.push(folder);
            }
        }
        let mut documents = if outermost.len() > FOLDERS_READ_ALONE {
            self.reader.all(&Lookup::All)?
        } else {
            let mut documents = self.reader.all(&Lookup::Numbered)?;
            for folder in outermost {
                documents.extend(self.reader.all(&Lookup::Folder(folder.trim_end_matches('/')))?);
            }
            documents
        };
        documents.retain(|document| document.path.split('/').any(is_ordered));
        documents.sort_by(|one, other| one.path.cmp(&other.path));
        documents.dedup_by_key(|document| document.id);
        let mut ordered: HashMap<String, Vec<i64>> = HashMap::new();
        for document in documents {
            ordered.entry(unordered(&document.path)).or_default().push(document.id);
        }
        Ok(ordered)
    }

    /// Returns whether the folder of the file at `path` is known to have the files of documents. That of documents that
    /// were loaded from a pack is not: what it lacks may be in the folder that they came from.
    pub(super) fn has_files(&self, path: &str) -> Result<bool> {
        let root = &self.roots.of(path).0.name;
        if let Some(known) = self.with_files.borrow().get(root) {
            return Ok(*known);
        }
        let which = if root.is_empty() { Lookup::All } else { Lookup::Folder(root) };
        let is_below = |path: &str| self.roots.of(path).0.name == *root;
        let has_files =
            self.is_any(&which, |stored| stored.state.is_of_file() && is_below(&stored.path))?;
        self.with_files.borrow_mut().insert(root.clone(), has_files);
        Ok(has_files)
    }

    /// Returns whether any folder is known to have the files of documents.
    pub(super) fn has_any_files(&self) -> Result<bool> {
        for collection in &self.collections {
            if self.has_files(&format!("{collection}/"))? {
                return Ok(true);
            }
        }
        self.has_files("")
    }

    /// Returns whether one of the documents `which` is one that `is_meant` accepts. Most often the first one is.
    fn is_any(
        &self,
        which: &Lookup<'_>,
        is_meant: impl Fn(&StoredDocument) -> bool,
    ) -> Result<bool> {
        let (mut after, mut size) = (None, 1);
        loop {
            let found = self.reader.documents(which, after.as_deref(), size)?;
            if found.iter().any(&is_meant) {
                return Ok(true);
            }
            after = found.last().map(|last| last.path.clone());
            if found.len() < size {
                return Ok(false);
            }
            size = (size * 8).min(READ_TOGETHER);
        }
    }

    /// Returns the paths of the folders; see [`folders::all`].
    pub(super) fn folders(&self) -> Result<&[String]> {
        if self.folders.get().is_none() {
            drop(self.folders.set(folders::all(self.reader)?));
        }
        Ok(self.folders.get_or_init(Vec::new))
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

    /// Reads the anchors besides those of headings, so that `document` finds them.
    pub(super) fn read_anchors(&self, document: &OpenDocument) -> Result<()> {
        if document.other_anchors.get().is_none() {
            let links = self.reader.links(&document.stored)?;
            document.set_anchors(&links.html_anchors, &self.content(document, document.span())?);
        }
        Ok(())
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

    /// Compares the file of a document with the stored document: by size and modification time, and by
    /// its bytes if only the time differs.
    pub fn freshness(&self, stored: &StoredDocument) -> Freshness {
        let freshness = self.files.freshness(&self.roots, stored);
        // Without the options of the store the folders of collections are unknown.
        let is_known = !self.reader.facts().has_lost_options;
        Freshness { is_missing: freshness.is_missing && is_known, ..freshness }
    }

    /// Returns whether the files of documents can be compared: a store may be without its folders.
    pub(super) fn can_compare_files(&self) -> bool {
        self.files.has_folder()
    }

    /// The consequence to pass to [`Self::warning_of_changes`] if an ingest would correct the answer.
    pub(super) const INGEST_UPDATES: &'static str = "`mdsel ingest` updates the store";

    /// Returns a warning if the files of some of `documents` have changed or are gone, for an answer that is
    /// computed from the stored documents and does not mark each of them. The warning ends with `consequence`.
    pub(crate) fn warning_of_changes<'d>(
        &self,
        documents: impl IntoIterator<Item = &'d StoredDocument>,
        consequence: &'static str,
    ) -> Option<Warning> {
        let documents: Vec<&StoredDocument> = documents.into_iter().collect();
        self.files.compare(&self.roots, &documents);
        let mut is_unreadable = false;
        let mut changed = documents.into_iter().filter(|document| {
            let freshness = self.freshness(document);
            is_unreadable |= freshness.is_unchecked;
            freshness.is_stale
                || freshness.is_unchecked
                || freshness.is_missing && !freshness.never_had_file
        });
        let first = changed.next()?;
        let what = match changed.count() {
            0 => format!("{} has changed or is", first.path),
            1 => format!("{} and another file have changed or are", first.path),
            others => format!("{} and {others} other files have changed or are", first.path),
        };
        let gone = if is_unreadable { "gone or unreadable" } else { "gone" };
        let consequence = Message::from(consequence);
        let message = message!("{} {} since the ingest; {}", what, gone, consequence);
        Some(Warning::new("STALE_DOCUMENTS", message))
    }
}
