//! Answers the queries of the link rules in [`crate::links`] from the store.
//!
//! Invariant: an error of the store is kept until the caller asks for it, and is never reported as a
//! missing target.

use std::cell::RefCell;
use std::rc::Rc;

use super::broken::Changed;
use crate::error::{Error, Result};
use crate::links::{self, DocumentId, NameKind, OnDisk, SiteRoot, sections};
use crate::query::library::{Library, OpenDocument};
use crate::store::{Lookup, StoredDocument};

/// The link targets of a snapshot.
pub(super) struct Targets<'a> {
    library: &'a Library<'a>,
    /// A document that an edit changes.
    pub(super) changed: Option<Changed<'a>>,
    error: RefCell<Option<Error>>,
}

impl<'a> Targets<'a> {
    pub(super) fn new(library: &'a Library<'a>) -> Self {
        Self { library, changed: None, error: RefCell::default() }
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

    /// Returns the version after the edit, if the document `id` is the edited one.
    pub(super) fn changed(&self, id: DocumentId) -> Option<&Changed<'a>> {
        self.changed.as_ref().filter(|changed| changed.document.stored.id == id)
    }

    /// Opens the document with that id.
    pub(super) fn open(&self, id: DocumentId) -> Result<Option<Rc<OpenDocument>>> {
        if let Some(changed) = self.changed(id) {
            return Ok(Some(Rc::clone(&changed.document)));
        }
        match self.library.reader.document(id)? {
            Some(stored) => self.library.open(&stored).map(Some),
            None => Ok(None),
        }
    }

    fn documents_called(&self, kind: NameKind, name: &str) -> Vec<DocumentId> {
        let key = links::name_key(kind, name);
        let mut documents = ids(self.or_keep_error(self.library.reader.all(&Lookup::NameKey(key))));
        if let Some(changed) = &self.changed {
            let id = changed.document.stored.id;
            documents.retain(|document| *document != id);
            if changed.links.names().any(|(kind, name)| links::name_key(kind, name) == key) {
                documents.push(id);
            }
        }
        documents
    }
}

/// Returns the ids of `documents`.
fn ids(documents: Vec<StoredDocument>) -> Vec<DocumentId> {
    documents.into_iter().map(|document| document.id).collect()
}

impl links::Library for Targets<'_> {
    fn document(&self, path: &str) -> Option<DocumentId> {
        self.or_keep_error(self.library.reader.document_at(path)).map(|document| document.id)
    }

    fn documents_named(&self, name: &str) -> Vec<(DocumentId, String)> {
        let documents = self.or_keep_error(self.library.reader.all(&Lookup::Names(&[name])));
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

    fn node_by_anchor(&self, document: DocumentId, anchor: &str) -> Option<usize> {
        let document = self.or_keep_error(self.open(document))?;
        let outline = document.tree.outline();
        sections::by_anchor(outline, &[], anchor).or_else(|| {
            let html = match self.changed(document.stored.id) {
                Some(changed) => changed.links.html_anchors.clone(),
                None => {
                    self.or_keep_error(self.library.reader.links(&document.stored)).html_anchors
                }
            };
            sections::by_anchor(outline, &html, anchor)
        })
    }

    fn node_by_headings(&self, document: DocumentId, headings: &[String]) -> Option<usize> {
        let document = self.or_keep_error(self.open(document))?;
        sections::by_headings(document.tree.outline(), headings)
    }

    fn on_disk(&self, path: &str) -> OnDisk {
        self.library.disk().at(path)
    }

    fn files_ending_in(&self, path: &str) -> Option<Vec<String>> {
        self.library.disk().ending_in(path)
    }

    fn site_roots(&self) -> &[SiteRoot] {
        &self.library.reader.options().site_roots
    }
}
