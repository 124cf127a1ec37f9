//! One edit: a place by its address and what is to be done there, made of the bytes of a document.
//!
//! Invariant: a place of an edit is named exactly. A part of a title, or a line that is no heading's,
//! names nothing here unless that is asked for.

use std::rc::Rc;

use super::hint::Asked;
use super::plan::{self, Allow, Plan, Position, Refusal, Renumbered, Reparented, Scope, plan};
use crate::address::{Fault, Part};
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::markdown::Dialect;
use crate::markdown::outline::Section;
use crate::position::{ByteSpan, LineIndex, LineSpan};
use crate::query::library::OpenDocument;
use crate::query::node::short_hash;
use crate::query::place::{Place, Target};
use crate::query::{Named, locate_for_edit};
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
    /// The place: any locator of the document, or an address.
    pub section: String,
    /// What is to be done with it.
    pub operation: Operation,
    /// What is done although it may be a mistake.
    pub allow: Allow,
    /// The hash that the place, or the whole file, must have, as `read` gives it.
    pub expect: Option<String>,
    /// Whether a unique part of a title may name the place.
    pub is_fuzzy: bool,
    /// Which one of several it is, for messages about it: `line 3 of the batch`.
    pub origin: Option<String>,
}

/// An edit that was made.
#[derive(Clone, Debug)]
pub struct Done {
    /// The address of the place.
    pub selector: String,
    /// `replace`, `insert` or `delete`.
    pub operation: &'static str,
    /// What was there.
    pub old_content: Vec<u8>,
    /// The lines of that, before this edit.
    pub old_lines: LineSpan,
    /// The lines of the new content, after this edit.
    pub new_lines: LineSpan,
    /// The slug path of the first section of the new content, or of the section that it is in.
    pub new_section_path: Option<String>,
    /// Whether nothing was changed, because it was so already.
    pub is_noop: bool,
    /// Whether the content began with the heading of the section, which was not doubled.
    pub stripped_heading: bool,
    /// Slug paths of the sections that are gone.
    pub removed_sections: Vec<String>,
    /// Sections that are below another one than before.
    pub reparented: Vec<Reparented>,
    /// Labels of the link definitions that stay because text elsewhere uses them.
    pub kept_definitions: Vec<String>,
    /// Sections whose number changes because an equal title came or went.
    pub renumbered: Vec<Renumbered>,
    /// What changes outside the place, because that was allowed.
    pub warnings: Vec<Warning>,
}

/// A document between two edits.
pub(super) struct Current {
    document: Rc<OpenDocument>,
    version: plan::Version,
}

impl Current {
    /// The document `stored`, whose file holds `bytes`.
    pub(super) fn new(stored: StoredDocument, bytes: Vec<u8>) -> Self {
        let dialect = Dialect::of(&stored.path);
        Self::of(stored, plan::Version::read_as(bytes, dialect))
    }

    fn of(stored: StoredDocument, version: plan::Version) -> Self {
        let (outline, markup) = (version.outline().clone(), version.markup().clone());
        Self { document: Rc::new(OpenDocument::new(stored, outline, markup)), version }
    }

    /// The document as it is now.
    pub(super) fn document(&self) -> &Rc<OpenDocument> {
        &self.document
    }

    /// The version of the file.
    pub(super) fn version(&self) -> &plan::Version {
        &self.version
    }

    /// The version of the file, alone.
    pub(super) fn into_version(self) -> plan::Version {
        self.version
    }

    /// Makes an edit at the place that was named; the inner fault says that it is not there.
    pub(super) fn make(
        &mut self,
        edit: &Edit,
        named: &Named,
    ) -> Result<std::result::Result<Done, Fault>> {
        let place = match locate_for_edit(&self.document, named, edit.is_fuzzy) {
            Ok(place) => place,
            Err(fault) => return Ok(Err(fault)),
        };
        let (scope, request) = asked(&edit.operation, place.params.part);
        if let Some(expected) = &edit.expect {
            self.expect(&place, scope, request, expected)?;
        }
        let target = match place.target {
            Target::Document => plan::Target::Document,
            Target::FrontMatter => plan::Target::FrontMatter,
            Target::Node(node) => plan::Target::Node(node),
            Target::Ldmd(section) => plan::Target::Ldmd(section),
        };
        let is_part = place.params.part.is_some_and(|part| part != Part::All);
        let planned = match request {
            plan::Request::Insert { .. } if is_part => Err(Refusal::NoSuchPart),
            _ => plan(&self.version, target, request, edit.allow),
        };
        let Plan { splice, version } = planned.map_err(|refusal| {
            let content = self.bytes(place.span());
            let asked = Asked { place: &place, operation: &edit.operation, scope, content };
            let message = format!("{}: {refusal}", place.address());
            Error::new(ErrorKind::EditRefused, message)
                .with_reason(refusal.code())
                .with_hint(asked.hint(&refusal))
        })?;
        let change = |change: &Refusal| Warning::new("CHANGED_OUTSIDE", change);
        let done = Done {
            selector: place.address(),
            operation: match edit.operation {
                Operation::Replace { .. } => "replace",
                Operation::Insert { .. } => "insert",
                Operation::Delete { .. } => "delete",
            },
            old_content: self.bytes(splice.removed).to_vec(),
            old_lines: LineIndex::new(self.version.bytes()).lines(splice.removed),
            new_lines: LineSpan::default(),
            new_section_path: None,
            is_noop: splice.is_noop,
            stripped_heading: splice.stripped_heading,
            removed_sections: splice.removed_sections,
            reparented: splice.reparented,
            kept_definitions: splice.kept_definitions,
            renumbered: splice.renumbered,
            warnings: splice.changes.iter().map(change).collect(),
        };
        *self = Self::of(self.document.stored.clone(), version);
        Ok(Ok(Done {
            new_lines: LineIndex::new(self.version.bytes()).lines(splice.inserted),
            new_section_path: self.section_path(splice.inserted),
            ..done
        }))
    }

    fn bytes(&self, span: ByteSpan) -> &[u8] {
        self.version.bytes().get(span.start..span.end).unwrap_or_default()
    }

    /// Refuses where neither what the edit is of nor the file has that hash.
    fn expect(
        &self,
        place: &Place,
        scope: Scope,
        request: plan::Request<'_>,
        expected: &str,
    ) -> Result<()> {
        let of_part = |part| {
            let place =
                Place { params: crate::address::Params { part, ..place.params }, ..place.clone() };
            self.bytes(place.part_span()).to_vec()
        };
        let is_of = |bytes: &[u8]| {
            short_hash(bytes) == expected || blake3::hash(bytes).to_hex().as_str() == expected
        };
        let own = of_part(Some(Part::Own));
        let whole = of_part(None);
        // What is inserted beside or below a section changes neither of them.
        let may_be_own = scope == Scope::Own || matches!(request, plan::Request::Insert { .. });
        let is_expected = is_of(&whole)
            || (may_be_own && is_of(&own))
            || (scope == Scope::Heading && is_of(&of_part(Some(Part::Heading))))
            || is_of(self.version.bytes());
        if is_expected {
            return Ok(());
        }
        let address = place.address();
        let message = format!("{address}: it has the hash {}, not {expected}", short_hash(&whole));
        let hint = if is_of(&own) {
            "that is the hash of its own text: pass --no-children to edit that alone".to_owned()
        } else {
            format!("read it again with `mdsel read {address} --refresh`, and then edit it")
        };
        Err(Error::new(ErrorKind::Conflict, message).with_hint(hint))
    }

    /// The slug path of the first section that begins in `span`, else of the innermost that holds it.
    fn section_path(&self, span: ByteSpan) -> Option<String> {
        let tree = &self.document.tree;
        let node = |section: &Section| tree.node(section.node);
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

/// How much of a section is meant, and the request of it: the part that its address names, else what
/// the flags say.
fn asked(operation: &Operation, part: Option<Part>) -> (Scope, plan::Request<'_>) {
    let narrowed = |scope| match part {
        Some(Part::Heading) => Scope::Heading,
        Some(Part::Own) => Scope::Own,
        Some(Part::All) | None => scope,
    };
    match operation {
        Operation::Replace { content, scope, keep_heading } => {
            let scope = narrowed(*scope);
            (scope, plan::Request::Replace { content, scope, keep_heading: *keep_heading })
        }
        Operation::Insert { content, position, relevel } => {
            let (position, relevel) = (*position, *relevel);
            (Scope::Subtree, plan::Request::Insert { content, position, relevel })
        }
        Operation::Delete { scope } => {
            let scope = narrowed(*scope);
            (scope, plan::Request::Delete { scope })
        }
    }
}
