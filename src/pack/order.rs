//! The order of the items of a pack, and the paths that a pack may name.
//!
//! Invariant: paths are unique among the documents and among the attachments, and no path leads out of the
//! folder to which it is relative.

use crate::limits::MAX_PATH_BYTES;

/// The parts of a pack, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PackPart {
    Documents,
    Links,
    Attachments,
}

/// The position of a writer or a reader in a pack.
#[derive(Debug)]
pub(super) struct PackOrder {
    part: PackPart,
    /// The previous path in this part; empty if there is none.
    path: String,
    /// The number of documents that are still expected.
    documents: usize,
}

impl PackOrder {
    /// The position before the first of `documents` documents.
    pub(super) fn new(documents: usize) -> Self {
        Self { part: PackPart::Documents, path: String::new(), documents }
    }

    /// Advances over an item of `part`. Every item except a link has a `path`. Returns why the item must not be
    /// here.
    pub(super) fn enter(&mut self, part: PackPart, path: Option<&str>) -> Result<(), &'static str> {
        if part < self.part {
            return Err("the order is documents, links, attachments");
        }
        if part > self.part {
            self.part = part;
            self.path.clear();
        }
        if part == PackPart::Documents {
            self.documents =
                self.documents.checked_sub(1).ok_or("more documents than announced")?;
        }
        match path {
            Some(path) if !is_safe_path(path) => {
                Err("the path is not a relative path without . and ..")
            }
            Some(path) if path <= self.path.as_str() => Err("the paths are not in ascending order"),
            Some(path) => {
                path.clone_into(&mut self.path);
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Checks that the pack may end here.
    pub(super) fn finish(&self) -> Result<(), &'static str> {
        if self.documents == 0 { Ok(()) } else { Err("fewer documents than announced") }
    }
}

/// Whether a pack may name `path`: it must be relative, have at most [`MAX_PATH_BYTES`] bytes and no NUL,
/// and none of its components between `/` may be empty, `.` or `..`.
pub fn is_safe_path(path: &str) -> bool {
    path.len() <= MAX_PATH_BYTES
        && !path.contains('\0')
        && path.split('/').all(|component| !matches!(component, "" | "." | ".."))
}
