//! Which item may follow which, and which paths a pack may name.
//!
//! Invariant: no path comes twice among the documents or among the attachments, and none leads out
//! of the folder that it is taken relative to.

use crate::limits::MAX_PATH_BYTES;

/// The parts of a pack, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    Documents,
    Links,
    Attachments,
}

/// Where in a pack its writer or its reader is.
#[derive(Debug)]
pub(super) struct Order {
    part: Part,
    /// The path before, empty if there was none in this part.
    path: String,
    /// Documents that are still to come.
    documents: usize,
}

impl Order {
    /// Before the first of so many documents.
    pub(super) fn new(documents: usize) -> Self {
        Self { part: Part::Documents, path: String::new(), documents }
    }

    /// An item of `part` comes; at a path, if it is no link.
    pub(super) fn enter(&mut self, part: Part, path: Option<&str>) -> Result<(), &'static str> {
        if part < self.part {
            return Err("the order is documents, links, attachments");
        }
        if part > self.part {
            self.part = part;
            self.path.clear();
        }
        if part == Part::Documents {
            self.documents =
                self.documents.checked_sub(1).ok_or("more documents than announced")?;
        }
        match path {
            Some(path) if !is_safe_path(path) => Err("the path is not relative and plain"),
            Some(path) if path <= self.path.as_str() => Err("the paths do not ascend"),
            Some(path) => {
                path.clone_into(&mut self.path);
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// The end comes.
    pub(super) fn finish(&self) -> Result<(), &'static str> {
        if self.documents == 0 { Ok(()) } else { Err("fewer documents than announced") }
    }
}

/// Whether a pack may name `path`: relative, at most [`MAX_PATH_BYTES`] long, of components between
/// `/` of which none is empty, `.` or `..`, and without controls.
pub fn is_safe_path(path: &str) -> bool {
    path.len() <= MAX_PATH_BYTES
        && !path.contains('\0')
        && path.split('/').all(|component| !matches!(component, "" | "." | ".."))
}
