//! Documents under question: their outline, their bytes, and whether their file is still the same.
//!
//! Invariant: bytes come from the store, never from the file, so that offsets and bytes are always of
//! one version; the file is only asked whether it is that version.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::address::{Tree, namespace};
use crate::error::Result;
use crate::ingest::{Disk, Folder, is_really_below};
use crate::ldmd::Markup;
use crate::markdown::outline::Outline;
use crate::position::ByteSpan;
use crate::store::{Snapshot, StoredDocument};

/// A document with its structure.
#[derive(Debug)]
pub struct OpenDocument {
    /// As the store lists it.
    pub stored: StoredDocument,
    /// Its structure.
    pub tree: Tree,
    /// Its LDMD sections.
    pub markup: Markup,
    /// Its name in addresses.
    pub namespace: String,
}

impl OpenDocument {
    /// A document with its outline and its LDMD sections.
    pub fn new(stored: StoredDocument, outline: Outline, markup: Markup) -> Self {
        let namespace = namespace::encode(&stored.path);
        Self { stored, tree: Tree::new(outline), markup, namespace }
    }

    /// The address of `locator` in this document.
    pub fn address(&self, locator: &str) -> String {
        format!("{}::{locator}", self.namespace)
    }

    /// The primary address of a node.
    pub fn address_of(&self, node: usize) -> String {
        self.address(&self.tree.selector(node))
    }

    /// The primary address of an LDMD section.
    pub fn address_of_ldmd(&self, section: usize) -> String {
        // What would begin parameters is escaped, too.
        let name = namespace::encode(&self.markup.name(section)).replace('?', "%3F");
        self.address(&format!("ldmd:{name}"))
    }

    /// Its whole length.
    pub fn span(&self) -> ByteSpan {
        ByteSpan::new(0, self.tree.outline().bytes)
    }
}

/// How a document's file compares with what is stored of it.
///
/// Part of every answer that tells of a document, and silent where there is nothing to tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Freshness {
    /// The file holds other bytes.
    #[serde(rename = "stale", skip_serializing_if = "is_false")]
    pub is_stale: bool,
    /// The root is there, and the file is not.
    #[serde(rename = "missing", skip_serializing_if = "is_false")]
    pub is_missing: bool,
}

impl Freshness {
    /// Adds its fields to those of an answer.
    pub(super) fn fields<M: serde::ser::SerializeMap>(
        self,
        map: &mut M,
    ) -> std::result::Result<(), M::Error> {
        for (name, is_so) in [("stale", self.is_stale), ("missing", self.is_missing)] {
            if is_so {
                map.serialize_entry(name, &true)?;
            }
        }
        Ok(())
    }
}

/// Whether a flag of an answer says nothing.
pub(super) fn is_false(value: &bool) -> bool {
    !value
}

/// How many open documents are kept.
const KEPT: usize = 64;

/// Opens documents of one snapshot, and keeps the last ones open.
#[derive(Debug)]
pub struct Library<'a> {
    /// The snapshot.
    pub snapshot: &'a Snapshot,
    open: RefCell<HashMap<i64, Rc<OpenDocument>>>,
    freshness: RefCell<HashMap<i64, Freshness>>,
    folders: RefCell<HashMap<String, bool>>,
    /// The root, where it is there.
    root: Option<Folder>,
    disk: OnceCell<Disk>,
}

impl<'a> Library<'a> {
    /// A library of `snapshot`.
    pub fn new(snapshot: &'a Snapshot) -> Self {
        Self {
            snapshot,
            open: RefCell::default(),
            freshness: RefCell::default(),
            folders: RefCell::default(),
            root: Some(Folder::new(snapshot.root())).filter(Folder::exists),
            disk: OnceCell::new(),
        }
    }

    /// What is on disk below the root.
    pub(super) fn disk(&self) -> &Disk {
        self.disk.get_or_init(|| Disk::new(self.snapshot.root()))
    }

    /// Opens a document.
    pub fn open(&self, stored: &StoredDocument) -> Result<Rc<OpenDocument>> {
        if let Some(open) = self.open.borrow().get(&stored.id) {
            return Ok(Rc::clone(open));
        }
        let outline = self.snapshot.outline(stored)?;
        let markup = self.snapshot.markup(stored)?;
        let document = Rc::new(OpenDocument::new(stored.clone(), outline, markup));
        let mut open = self.open.borrow_mut();
        if open.len() >= KEPT {
            open.clear();
        }
        open.insert(stored.id, Rc::clone(&document));
        Ok(document)
    }

    /// Opens many documents, none of which is kept open.
    pub fn open_all(&self, stored: &[StoredDocument]) -> Result<Vec<OpenDocument>> {
        let outlines = self.snapshot.outlines(stored)?;
        let open = |(stored, outline): (&StoredDocument, Outline)| {
            Ok(OpenDocument::new(stored.clone(), outline, self.snapshot.markup(stored)?))
        };
        stored.iter().zip(outlines).map(open).collect()
    }

    /// The bytes of a document within `span`.
    pub fn content(&self, document: &OpenDocument, span: ByteSpan) -> Result<Vec<u8>> {
        self.snapshot.content(&document.stored, span)
    }

    /// Whether the folder of a document is one below the root, asked once for each folder.
    fn is_in_its_folder(&self, path: &str) -> bool {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        if let Some(is_real) = self.folders.borrow().get(folder) {
            return *is_real;
        }
        let is_real = is_really_below(self.snapshot.root(), path);
        self.folders.borrow_mut().insert(folder.to_owned(), is_real);
        is_real
    }

    /// Compares the file of a document with what is stored: by size and time, and by its bytes where
    /// only the time differs.
    pub fn freshness(&self, stored: &StoredDocument) -> Freshness {
        let Some(root) = &self.root else { return Freshness::default() };
        if let Some(freshness) = self.freshness.borrow().get(&stored.id) {
            return *freshness;
        }
        // What lies behind a link is not the file that was taken.
        let file = if self.is_in_its_folder(&stored.path) {
            root.state(&stored.path)
        } else {
            Err(std::io::ErrorKind::NotFound.into())
        };
        let freshness = match file {
            Err(error) => Freshness {
                is_stale: false,
                is_missing: matches!(
                    error.kind(),
                    std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
                ),
            },
            Ok((state, is_file)) => {
                let is_same_state =
                    state.size == stored.state.size && state.mtime_ns == stored.state.mtime_ns;
                let is_same = is_same_state
                    || (is_file
                        && state.size == stored.state.size
                        && std::fs::read(self.snapshot.root().join(&stored.path))
                            .is_ok_and(|bytes| *blake3::hash(&bytes).as_bytes() == stored.hash));
                Freshness { is_stale: !is_same, is_missing: false }
            }
        };
        self.freshness.borrow_mut().insert(stored.id, freshness);
        freshness
    }
}
