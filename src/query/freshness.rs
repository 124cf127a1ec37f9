//! Whether the files of documents have changed since they were ingested.
//!
//! Invariant: no file outside of the folders of the store is read.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io::{Error, ErrorKind};

use schemars::JsonSchema;
use serde::Serialize;

use crate::corpus::{FolderHandle, Root, Roots};
use crate::parallel;
use crate::store::StoredDocument;

/// The result of comparing a document's file with the stored document.
///
/// It is part of each answer about a document. Fields that are false are not serialized.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a result of the comparison")]
pub struct Freshness {
    /// The file has other bytes.
    #[serde(rename = "stale", skip_serializing_if = "std::ops::Not::not")]
    pub is_stale: bool,
    /// The root exists, and the file does not.
    #[serde(rename = "missing", skip_serializing_if = "std::ops::Not::not")]
    pub is_missing: bool,
    /// Whether the file differs is not known, because it cannot be read.
    #[serde(rename = "unchecked", skip_serializing_if = "std::ops::Not::not")]
    pub is_unchecked: bool,
    /// The document came from a pack, and no file of it was ever seen.
    #[serde(skip)]
    pub(crate) never_had_file: bool,
}

/// The number of files that a thread compares at a time.
const AT_ONCE: usize = 512;

/// The files that were compared with the stored documents, each once.
#[derive(Debug)]
pub(super) struct ComparedFiles {
    /// The folders of the documents that exist, by name.
    handles: HashMap<String, FolderHandle>,
    freshness: RefCell<HashMap<i64, Freshness>>,
    /// Whether the folder of a document is really below its root, by path.
    folders: RefCell<HashMap<String, bool>>,
}

impl ComparedFiles {
    /// Compares files below `roots`, which need not exist.
    pub(super) fn new(roots: &Roots) -> Self {
        let handle = |root: &Root| (root.name.clone(), FolderHandle::new(&root.folder));
        let handles = roots.iter().map(handle).filter(|(_, handle)| handle.exists()).collect();
        Self { handles, freshness: RefCell::default(), folders: RefCell::default() }
    }

    /// Returns whether a folder of documents exists, so that files can differ.
    pub(super) fn has_folder(&self) -> bool {
        !self.handles.is_empty()
    }

    /// Compares the files of `documents` on all cores if there are many, so that [`Self::freshness`] need not.
    pub(super) fn compare(&self, roots: &Roots, documents: &[&StoredDocument]) {
        if documents.len() <= AT_ONCE {
            return;
        }
        let parts: Vec<_> = documents.chunks(AT_ONCE).collect();
        let compared = parallel::map(&parts, |part| {
            let files = Self::new(roots);
            for document in *part {
                files.freshness(roots, document);
            }
            files.freshness.into_inner()
        });
        let mut known = self.freshness.borrow_mut();
        for (id, freshness) in compared.into_iter().flatten() {
            known.entry(id).or_insert(freshness);
        }
    }

    /// Compares the file of a document below `roots` with the stored document.
    pub(super) fn freshness(&self, roots: &Roots, stored: &StoredDocument) -> Freshness {
        let (root, below) = roots.of(&stored.path);
        let Some(folder) = self.handles.get(&root.name) else { return Freshness::default() };
        if let Some(freshness) = self.freshness.borrow().get(&stored.id) {
            return *freshness;
        }
        let fresh = Freshness::default();
        let missing = Freshness {
            is_missing: true,
            never_had_file: !stored.state.is_of_file(),
            ..Freshness::default()
        };
        let unchecked = Freshness { is_unchecked: true, ..Freshness::default() };
        let compared = |is_stale| Freshness { is_stale, ..Freshness::default() };
        let freshness = match folder.state(below) {
            Err(error) if is_absent(&error) => missing,
            Err(_) => unchecked,
            // A folder or a link is at its path, or a folder on the way is a link: it is not the file that was ingested.
            Ok((_, is_file)) if !is_file || !self.is_in_its_folder(roots, &stored.path) => missing,
            Ok((state, _)) if state.size != stored.state.size => compared(true),
            Ok((state, _)) if state.mtime_ns == stored.state.mtime_ns => fresh,
            Ok(_) => match roots.read(&stored.path, stored.state.size) {
                Ok(bytes) => compared(*blake3::hash(&bytes).as_bytes() != stored.hash),
                // It has grown since.
                Err(error) if error.kind() == ErrorKind::FileTooLarge => compared(true),
                Err(_) => unchecked,
            },
        };
        self.freshness.borrow_mut().insert(stored.id, freshness);
        freshness
    }

    /// Returns whether the folder of a document is really below the root. Each folder is checked once.
    fn is_in_its_folder(&self, roots: &Roots, path: &str) -> bool {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        if let Some(is_real) = self.folders.borrow().get(folder) {
            return *is_real;
        }
        let is_real = roots.is_really_below(path);
        self.folders.borrow_mut().insert(folder.to_owned(), is_real);
        is_real
    }
}

/// Returns whether `error` says that there is no file.
fn is_absent(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}
