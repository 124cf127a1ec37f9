//! Documents before and after an edit that moves or renames something.
//!
//! Invariant: a version remembers its links as they were before any target was rewritten.

use std::collections::HashSet;
use std::rc::Rc;

use super::occurrence::occurrences;
use crate::edit::plan::Version;
use crate::error::Result;
use crate::links::{Outgoing, StoredLink};
use crate::position::LineSpan;
use crate::query::Session;
use crate::query::links::Changed;
use crate::query::links::broken::names;
use crate::query::open_document::OpenDocument;
use crate::store::StoredDocument;

/// A link whose target is rewritten.
#[derive(Clone, Debug, PartialEq, Eq, schemars::JsonSchema, serde::Serialize)]
pub struct RewrittenLink {
    /// The line of the link, 1-based.
    pub line: usize,
    /// The target as it was written.
    pub from: String,
    /// The target as it is written now.
    pub to: String,
}

/// Lines that come from another document.
#[derive(Clone)]
pub(super) struct MovedLines {
    /// The lines, 1-based.
    pub(super) lines: LineSpan,
    /// The document from which they come.
    pub(super) document: Rc<OpenDocument>,
}

/// A document before and after the edit.
pub(super) struct NewVersion {
    /// The document before the edit.
    pub(super) old: Rc<OpenDocument>,
    /// The document after the edit, with the id of the old one.
    new: Rc<OpenDocument>,
    pub(super) version: Version,
    links: Outgoing,
    /// The names of the old document and of the places in it.
    old_names: Rc<HashSet<String>>,
    /// Whether the path or a name of the document or of a place in it is another.
    pub(super) is_renamed: bool,
    pub(super) rewritten: Vec<RewrittenLink>,
    /// The links and their occurrences before any target was rewritten.
    pub(super) written: Rc<Written>,
    /// The lines that the edit moves here from another document.
    moved: Option<MovedLines>,
}

/// The links of a version and their occurrences, with the targets that they had before the edit.
pub(super) struct Written {
    pub(super) links: Vec<StoredLink>,
    pub(super) occurrences: Vec<StoredLink>,
}

impl NewVersion {
    /// Returns the document `old` as it is at `path` in `version`.
    pub(super) fn new(
        session: &Session<'_>,
        old: &Rc<OpenDocument>,
        path: &str,
        version: Version,
    ) -> Result<Self> {
        let bytes = session.content(old, old.span())?;
        let old_names = names(old, &session.reader.links(&old.stored)?, &bytes);
        Ok(Self::with_names(old, path, version, Rc::new(old_names)))
    }

    /// Returns the document `old`, whose links are `links`, as it is: in `version`.
    pub(super) fn unchanged(old: &Rc<OpenDocument>, links: &Outgoing, version: Version) -> Self {
        let old_names = Rc::new(names(old, links, version.bytes()));
        Self::with_names(old, &old.stored.path, version, old_names)
    }

    fn with_names(
        old: &Rc<OpenDocument>,
        path: &str,
        version: Version,
        old_names: Rc<HashSet<String>>,
    ) -> Self {
        let stored = StoredDocument { path: path.to_owned(), ..old.stored.clone() };
        let (outline, markup) = (version.outline().clone(), version.markup().clone());
        let new = Rc::new(OpenDocument::new(stored, outline, markup));
        let links = Outgoing::of(version.document(), version.markup());
        let is_renamed =
            path != old.stored.path || *old_names != names(&new, &links, version.bytes());
        let (old, rewritten) = (Rc::clone(old), Vec::new());
        let occurrences = occurrences(&version).into_iter().map(|occurrence| occurrence.link);
        let occurrences = occurrences.collect();
        let written = Rc::new(Written { links: links.links.clone(), occurrences });
        Self { old, new, version, links, old_names, is_renamed, rewritten, written, moved: None }
    }

    /// Returns the version with lines that come from another document or leave for it.
    pub(super) fn with_moved(self, moved: Option<MovedLines>) -> Self {
        Self { is_renamed: true, moved, ..self }
    }

    /// Returns the version with the rewritten targets; `rewritten` lists all of them.
    pub(super) fn with_targets(&self, version: Version, rewritten: Vec<RewrittenLink>) -> Self {
        let old_names = Rc::clone(&self.old_names);
        let next = Self::with_names(&self.old, &self.new.stored.path, version, old_names);
        let (written, moved) = (Rc::clone(&self.written), self.moved.clone());
        let is_renamed = next.is_renamed || moved.is_some() || self.is_renamed;
        Self { is_renamed, rewritten, written, moved, ..next }
    }

    /// Returns the document in which a link at `line` was before the edit.
    pub(super) fn origin(&self, line: usize) -> &Rc<OpenDocument> {
        let moved = self.moved.as_ref();
        let moved = moved.filter(|moved| (moved.lines.start..=moved.lines.end).contains(&line));
        moved.map_or(&self.old, |moved| &moved.document)
    }

    /// The path after the edit.
    pub(super) fn path(&self) -> &str {
        &self.new.stored.path
    }

    /// The document after the edit.
    pub(super) fn document(&self) -> &Rc<OpenDocument> {
        &self.new
    }

    /// The links of the document after the edit.
    pub(super) fn links(&self) -> &Outgoing {
        &self.links
    }

    fn is_moved(&self) -> bool {
        self.path() != self.old.stored.path
    }

    /// Returns the version for a graph of the links after the edit.
    pub(super) fn changed(&self) -> Changed<'_> {
        Changed {
            document: Rc::clone(&self.new),
            links: &self.links,
            bytes: self.version.bytes(),
            left: self.is_moved().then(|| self.old.stored.path.clone()),
        }
    }
}
