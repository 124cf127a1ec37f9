//! Answers the queries of the link rules in [`crate::links`] from the store.
//!
//! Invariant: an error of the store is kept until the caller asks for it, and is never reported as a
//! missing target.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use super::all_documents::AllDocuments;
use crate::error::{Error, Result};
use crate::links::sections::{AnchorIndex, HeadingIndex};
use crate::links::{self, DocumentId, NameKind, OnDisk, Outgoing, SiteRoot};
use crate::query::open_document::OpenDocument;
use crate::query::session::Session;
use crate::store::{Lookup, StoredDocument};

/// A document as it is after an edit.
#[derive(Clone, Debug)]
pub(crate) struct Changed<'a> {
    /// The structure; its `stored.id` is that of the document before the edit.
    pub(crate) document: Rc<OpenDocument>,
    /// The links and names after the edit.
    pub(crate) links: &'a Outgoing,
    /// The bytes after the edit.
    pub(crate) bytes: &'a [u8],
    /// The path before the edit, if the edit moves the document.
    pub(crate) left: Option<String>,
}

/// The link targets of a snapshot.
pub(super) struct Targets<'a> {
    session: &'a Session<'a>,
    /// The documents that an edit changes, as they are after it.
    pub(super) changed: Vec<Changed<'a>>,
    /// All documents, if they were read.
    pub(super) all: Option<&'a AllDocuments>,
    /// Whether every anchor is taken to exist, because only the document is looked for. Then no document is opened.
    skips_anchors: Cell<bool>,
    /// The anchors of the last documents.
    anchors: RefCell<HashMap<DocumentId, Rc<Anchors>>>,
    error: RefCell<Option<Error>>,
}

/// Maximum number of documents whose anchors are kept.
const MOST_INDEXED: usize = 64;

/// The anchors of a document.
struct Anchors {
    document: Rc<OpenDocument>,
    headings: AnchorIndex,
    /// Those in HTML, which few links name.
    html: OnceCell<AnchorIndex>,
    /// The sections by their titles, for links without an anchor.
    sections: OnceCell<HeadingIndex>,
}

impl<'a> Targets<'a> {
    pub(super) fn new(session: &'a Session<'a>) -> Self {
        Self {
            session,
            changed: Vec::new(),
            all: None,
            skips_anchors: Cell::new(false),
            anchors: RefCell::default(),
            error: RefCell::default(),
        }
    }

    /// Returns the first error of the store since the last call.
    pub(super) fn check(&self) -> Result<()> {
        self.error.borrow_mut().take().map_or(Ok(()), Err)
    }

    fn or_keep_error<T: Default>(&self, result: Result<T>) -> T {
        result.unwrap_or_else(|error| {
            self.error.borrow_mut().get_or_insert(error);
            T::default()
        })
    }

    /// Returns the version after the edit, if the edit changes the document `id`.
    pub(super) fn changed(&self, id: DocumentId) -> Option<&Changed<'a>> {
        self.changed.iter().find(|changed| changed.document.stored.id == id)
    }

    /// Returns the result of `look`, which looks only for documents.
    pub(super) fn without_anchors<T>(&self, look: impl FnOnce(&Self) -> T) -> T {
        self.skips_anchors.set(true);
        let found = look(self);
        self.skips_anchors.set(false);
        found
    }

    /// Opens the document with that id.
    pub(super) fn open(&self, id: DocumentId) -> Result<Option<Rc<OpenDocument>>> {
        if let Some(changed) = self.changed(id) {
            return Ok(Some(Rc::clone(&changed.document)));
        }
        match self.all.and_then(|all| all.with_id(id)) {
            Some(stored) => self.session.open(stored).map(Some),
            None => self.session.open_by_id(id),
        }
    }

    /// Returns whether the edit moves the document away from `path`.
    fn is_left(&self, path: &str) -> bool {
        self.changed.iter().any(|changed| changed.left.as_deref() == Some(path))
    }

    /// Returns the anchors of `document`. The links to a document often come one after the other, and its
    /// anchors are indexed once for them.
    fn anchors_of(&self, document: Rc<OpenDocument>) -> Rc<Anchors> {
        let mut known = self.anchors.borrow_mut();
        if let Some(anchors) = known.get(&document.stored.id)
            && Rc::ptr_eq(&anchors.document, &document)
        {
            return Rc::clone(anchors);
        }
        if known.len() == MOST_INDEXED {
            known.clear();
        }
        let headings = AnchorIndex::of_headings(document.tree.outline());
        let id = document.stored.id;
        let anchors = Rc::new(Anchors {
            document,
            headings,
            html: OnceCell::new(),
            sections: OnceCell::new(),
        });
        known.insert(id, Rc::clone(&anchors));
        anchors
    }

    fn html_anchors_of(&self, document: &OpenDocument) -> AnchorIndex {
        match self.changed(document.stored.id) {
            Some(changed) => AnchorIndex::of_html(&changed.links.html_anchors),
            None => {
                let links = self.or_keep_error(self.session.reader.links(&document.stored));
                AnchorIndex::of_html(&links.html_anchors)
            }
        }
    }

    fn documents_called(&self, kind: NameKind, name: &str) -> Vec<DocumentId> {
        let key = links::name_key(kind, name);
        let mut documents = ids(match self.all {
            Some(all) => all.with_name_key(key),
            None => self.or_keep_error(self.session.reader.all(&Lookup::NameKey(key))),
        });
        documents.retain(|document| self.changed(*document).is_none());
        for changed in &self.changed {
            if changed.links.names().any(|(kind, name)| links::name_key(kind, name) == key) {
                documents.push(changed.document.stored.id);
            }
        }
        documents
    }
}

/// Returns the ids of `documents`.
fn ids(documents: Vec<StoredDocument>) -> Vec<DocumentId> {
    documents.into_iter().map(|document| document.id).collect()
}

impl links::LinkTargets for Targets<'_> {
    fn document(&self, path: &str) -> Option<DocumentId> {
        let mut changed = self.changed.iter().map(|changed| &changed.document.stored);
        if let Some(stored) = changed.find(|stored| stored.path == path) {
            return Some(stored.id);
        }
        let document = match self.all {
            Some(all) => all.at(path).cloned(),
            None => self.or_keep_error(self.session.reader.document_at(path)),
        };
        document.map(|document| document.id).filter(|id| self.changed(*id).is_none())
    }

    fn documents_named(&self, name: &str) -> Vec<(DocumentId, String)> {
        let mut documents = match self.all {
            Some(all) => all.named(name),
            None => self.or_keep_error(self.session.reader.all(&Lookup::Names(&[name]))),
        };
        documents.retain(|document| self.changed(document.id).is_none());
        let changed = self.changed.iter().map(|changed| &changed.document.stored);
        let is_named = |stored: &&StoredDocument| links::is_named(&stored.path, name);
        documents.extend(changed.filter(is_named).cloned());
        documents.into_iter().map(|document| (document.id, document.path)).collect()
    }

    fn documents_titled(&self, title: &str) -> Vec<DocumentId> {
        self.documents_called(NameKind::Title, title)
    }

    fn documents_with_id(&self, id: &str) -> Vec<DocumentId> {
        self.documents_called(NameKind::Id, id)
    }

    fn documents_with_alias(&self, alias: &str) -> Vec<DocumentId> {
        self.documents_called(NameKind::Alias, alias)
    }

    fn documents_unordered(&self, path: &str) -> Vec<DocumentId> {
        let mut documents = self.or_keep_error(self.session.unordered(path));
        documents.retain(|document| self.changed(*document).is_none());
        let changed = self.changed.iter().map(|changed| &changed.document.stored);
        let is_meant = |stored: &&StoredDocument| links::unordered(&stored.path) == path;
        documents.extend(changed.filter(is_meant).map(|stored| stored.id));
        documents
    }

    fn node_by_anchor(&self, document: DocumentId, anchor: &str) -> Option<usize> {
        if self.skips_anchors.get() {
            return Some(0);
        }
        let document = self.or_keep_error(self.open(document))?;
        let anchors = self.anchors_of(document);
        anchors.headings.node(anchor).or_else(|| {
            let html = anchors.html.get_or_init(|| self.html_anchors_of(&anchors.document));
            html.node(anchor)
        })
    }

    fn node_by_headings(
        &self,
        document: DocumentId,
        headings: &[String],
        is_wikilink: bool,
    ) -> Option<usize> {
        if self.skips_anchors.get() {
            return Some(0);
        }
        let document = self.or_keep_error(self.open(document))?;
        let anchors = self.anchors_of(document);
        let outline = anchors.document.tree.outline();
        let sections = anchors.sections.get_or_init(|| HeadingIndex::of(outline));
        sections.node(outline, headings, is_wikilink)
    }

    fn on_disk(&self, path: &str) -> OnDisk {
        if self.is_left(path) {
            return OnDisk::Missing;
        }
        let there = self.session.disk().at(path);
        if there != OnDisk::Missing
            || links::is_markdown(links::split_extension(path).1)
            || self.or_keep_error(self.session.has_files(path))
        {
            return there;
        }
        let is_folder = self.or_keep_error(self.session.reader.is_folder(path));
        if is_folder { OnDisk::Folder } else { OnDisk::Unknown }
    }

    fn files_ending_in(&self, path: &str) -> Option<Vec<String>> {
        let mut files = self.session.disk().ending_in(path)?;
        files.retain(|file| !self.is_left(file));
        let is_known = !files.is_empty() || self.or_keep_error(self.session.has_any_files());
        is_known.then_some(files)
    }

    fn site_roots(&self) -> &[SiteRoot] {
        &self.session.sites
    }

    fn collections(&self) -> &[String] {
        &self.session.collections
    }

    fn across(&self, source: &str, link: &str) -> Option<String> {
        self.session.roots.across(source, link)
    }

    fn path_of(&self, document: DocumentId) -> Option<String> {
        let known = self.all.and_then(|all| all.with_id(document));
        match known.filter(|_| self.changed(document).is_none()) {
            Some(stored) => Some(stored.path.clone()),
            None => Some(self.or_keep_error(self.open(document))?.stored.path.clone()),
        }
    }
}
