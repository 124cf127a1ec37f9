//! One edit: a place by its address and what is to be done there, made of the bytes of a document.
//!
//! Invariant: a place of an edit is named exactly. A part of a title, or a line that is no heading's,
//! names nothing here unless that is asked for.

use std::rc::Rc;

use super::plan::{self, Allow, Position, Refusal, Reparented, Scope, apply, plan};
use crate::address::Fault;
use crate::error::{Error, ErrorKind, Result};
use crate::ldmd;
use crate::markdown;
use crate::position::{ByteSpan, LineIndex, LineSpan};
use crate::query::library::OpenDocument;
use crate::query::locate_exactly;
use crate::query::node::short_hash;
use crate::query::place::{Place, Target};
use crate::store::StoredDocument;

/// What is to be done with a place.
#[derive(Clone, Debug)]
pub enum Operation {
    /// Other content takes its place.
    Replace {
        /// The new content.
        content: Vec<u8>,
        /// How much of a section.
        scope: Scope,
        /// Whether its heading stays.
        keep_heading: bool,
    },
    /// Content is added beside or below it.
    Insert {
        /// The new content.
        content: Vec<u8>,
        /// Where.
        position: Position,
        /// Whether its headings get the level that the place asks for.
        relevel: bool,
    },
    /// It goes.
    Delete {
        /// How much of a section.
        scope: Scope,
    },
}

/// An edit.
#[derive(Clone, Debug)]
pub struct Edit {
    /// The place in the document: any locator.
    pub section: String,
    /// What is to be done with it.
    pub operation: Operation,
    /// What is done although it may be a mistake.
    pub allow: Allow,
    /// The hash that the place, or the whole file, must have, as `read` tells it.
    pub expect: Option<String>,
    /// Whether a unique part of a title may name the place.
    pub is_fuzzy: bool,
}

/// An edit that was made.
#[derive(Clone, Debug)]
pub struct Done {
    /// The address of the place.
    pub selector: String,
    /// `replace`, `insert` or `delete`.
    pub operation: &'static str,
    /// What stood there.
    pub old_content: Vec<u8>,
    /// The lines on which that stood, before this edit.
    pub old_lines: LineSpan,
    /// The lines on which the new content stands, behind this edit.
    pub new_lines: LineSpan,
    /// The slug path of the first section of the new content, or of the section that it is in.
    pub new_section_path: Option<String>,
    /// Whether nothing was changed, because it was so already.
    pub is_noop: bool,
    /// Whether the content began with the heading of the section, which was not doubled.
    pub stripped_heading: bool,
    /// Slug paths of the sections that are gone.
    pub removed_sections: Vec<String>,
    /// Sections that stand below another one than before.
    pub reparented: Vec<Reparented>,
}

/// A document between two edits.
pub(super) struct Version {
    document: Rc<OpenDocument>,
    bytes: Vec<u8>,
}

impl Version {
    pub(super) fn new(stored: StoredDocument, bytes: Vec<u8>) -> Self {
        let parsed = markdown::parse(&bytes);
        let markup = ldmd::parse(&bytes, &parsed.opaque);
        Self { document: Rc::new(OpenDocument::new(stored, parsed.outline, markup)), bytes }
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Makes an edit; the inner fault says that its place is not there.
    pub(super) fn make(&mut self, edit: &Edit) -> Result<std::result::Result<Done, Fault>> {
        let place = match locate_exactly(&self.document, &edit.section, edit.is_fuzzy) {
            Ok(place) => place,
            Err(fault) => return Ok(Err(fault)),
        };
        if let Some(expected) = &edit.expect {
            self.expect(&place, expected)?;
        }
        let target = match place.target {
            Target::Document => plan::Target::Document,
            Target::FrontMatter => plan::Target::FrontMatter,
            Target::Node(node) => plan::Target::Node(node),
            Target::Ldmd(section) => plan::Target::Ldmd(section),
        };
        let (operation, request) = match &edit.operation {
            Operation::Replace { content, scope, keep_heading } => (
                "replace",
                plan::Request::Replace { content, scope: *scope, keep_heading: *keep_heading },
            ),
            Operation::Insert { content, position, relevel } => (
                "insert",
                plan::Request::Insert { content, position: *position, relevel: *relevel },
            ),
            Operation::Delete { scope } => ("delete", plan::Request::Delete { scope: *scope }),
        };
        let (outline, markup) = (self.document.tree.outline(), &self.document.markup);
        let splice = plan(&self.bytes, outline, markup, target, request, edit.allow)
            .map_err(|refusal| refused(&place, &refusal))?;
        let old = self.bytes.get(splice.removed.start..splice.removed.end).unwrap_or_default();
        let done = Done {
            selector: place.address(),
            operation,
            old_content: old.to_vec(),
            old_lines: LineIndex::new(&self.bytes).lines(splice.removed),
            new_lines: LineSpan::default(),
            new_section_path: None,
            is_noop: splice.is_noop,
            stripped_heading: splice.stripped_heading,
            removed_sections: splice.removed_sections.clone(),
            reparented: splice.reparented.clone(),
        };
        let bytes = apply(&self.bytes, &splice);
        *self = Self::new(self.document.stored.clone(), bytes);
        Ok(Ok(Done {
            new_lines: LineIndex::new(&self.bytes).lines(splice.inserted),
            new_section_path: self.section_path(splice.inserted),
            ..done
        }))
    }

    /// Refuses where neither the place nor the file has that hash.
    fn expect(&self, place: &Place, expected: &str) -> Result<()> {
        let span = place.span();
        let section = self.bytes.get(span.start..span.end).unwrap_or_default();
        let is_of = |bytes: &[u8]| {
            short_hash(bytes) == expected || blake3::hash(bytes).to_hex().as_str() == expected
        };
        if is_of(section) || is_of(&self.bytes) {
            return Ok(());
        }
        let message =
            format!("{}: it has the hash {}, not {expected}", place.address(), short_hash(section));
        Err(Error::new(ErrorKind::Conflict, message).with_hint("read it again, and then edit it"))
    }

    /// The slug path of the first section that begins in `span`, else of the innermost that holds it.
    fn section_path(&self, span: ByteSpan) -> Option<String> {
        let tree = &self.document.tree;
        let node = |section: &markdown::outline::Section| tree.node(section.node);
        let sections = tree.outline().sections.iter();
        let mut within = sections.filter(|section| {
            node(section)
                .is_some_and(|node| span.start <= node.bytes.start && node.bytes.start < span.end)
        });
        let found =
            within.next().map(|section| section.node).or_else(|| tree.section_at(span.start));
        found.and_then(|node| tree.section_path(node))
    }
}

fn refused(place: &Place, refusal: &Refusal) -> Error {
    let message = format!("{}: {}: {refusal}", place.address(), refusal.code());
    Error::new(ErrorKind::EditRefused, message).with_hint(refusal.hint())
}
