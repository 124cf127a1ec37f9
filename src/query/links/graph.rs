//! The edges of a place.
//!
//! Invariant: [`Graph::leading_to`] of a place gives exactly those edges of [`Graph::out_of`] all documents
//! that lead into it.

use crate::schema::schema_as;
use schemars::JsonSchema;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::broken::Changed;
use super::holds;
use super::targets::Targets;
use crate::address::Params;
use crate::error::{Result, Warning};
use crate::links::{self, Kind, Link, Reason, Resolution, Source, link_keys};
use crate::query::library::{Library, OpenDocument};
use crate::query::place::{Place, Target};

/// Which edges of a place are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Those that lead from it.
    Out,
    /// Those that lead to it.
    In,
    /// Both.
    Both,
}

impl Direction {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Out => "out",
            Self::In => "in",
            Self::Both => "both",
        }
    }
}

/// Which edges are left out.
#[derive(Clone, Debug, Default)]
pub struct EdgeFilter {
    /// Types of which an edge has one; none for all.
    pub types: Vec<String>,
    /// Only those of front matter.
    pub typed_only: bool,
    /// Only those of the text.
    pub inline_only: bool,
}

impl EdgeFilter {
    fn takes(&self, kind: &Kind) -> bool {
        let is_left_out = if kind.is_typed() { self.inline_only } else { self.typed_only };
        !is_left_out
            && (self.types.is_empty() || self.types.iter().any(|name| name == kind.relation()))
    }
}

/// Types of links that are listed if none has the type that was asked for.
const TYPES_SHOWN: usize = 10;

/// Where a link leads.
#[derive(Clone, Debug)]
pub enum Destination {
    /// A place.
    Place(Place),
    /// A file or a folder that is no document.
    Attachment {
        /// Its path from the root.
        path: String,
        /// Whether it is known to be on disk.
        is_checked: bool,
    },
    /// A Markdown file that is on disk and not in the store, by its path from the root.
    NotInStore(String),
    /// Nowhere.
    Broken(Reason),
}

/// A link, from the section that holds it to where it leads.
#[derive(Clone, Debug)]
pub struct Edge {
    /// The innermost section that holds the link; of one in front matter the document.
    pub from: Place,
    /// Where it leads.
    pub to: Destination,
    /// The link.
    pub link: Link,
}

/// See [`Edge::key`].
pub(super) type EdgeKey = (String, Option<String>, String, usize, String);

impl Edge {
    /// The place that it leads to, where there is one.
    pub fn target(&self) -> Option<&Place> {
        match &self.to {
            Destination::Place(place) => Some(place),
            Destination::Attachment { .. }
            | Destination::NotInStore(_)
            | Destination::Broken(_) => None,
        }
    }

    /// What tells edges apart and puts them in order: type, then where they lead, then where from.
    pub(super) fn key(&self) -> EdgeKey {
        let to = self.target().map(Place::address);
        let (relation, target) = (self.link.kind.relation().to_owned(), self.link.target.clone());
        (relation, to, self.from.address(), self.link.line, target)
    }
}

/// The JSON of an edge.
#[expect(dead_code, reason = "only its schema is used")]
#[derive(JsonSchema)]
pub(super) struct EdgeShape {
    /// The address of the section that holds the link.
    from: String,
    /// Its type: `related`, `embeds`, `references`, or one of front matter.
    #[schemars(rename = "type")]
    relation: String,
    /// The address that it leads to; `null` if it leads to no place of the store.
    to: Option<String>,
    /// `typed` for a link of front matter, `inline` for one of the text.
    source: String,
    /// How it is written: `markdown`, `image`, `wikilink`, `embed`, `ldmd` or `front_matter`.
    kind: String,
    /// Where it leads, as written.
    target: String,
    /// The document that holds it.
    file: String,
    /// Its line, 1-based.
    line: usize,
    /// Why it leads to no place of the store.
    #[schemars(skip_serializing_if = "Option::is_none")]
    broken: Option<String>,
}

schema_as!(Edge => EdgeShape);

impl Serialize for Edge {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let to = self.target().map(Place::address);
        self.fields(&mut map, &self.from.address(), to.as_deref())?;
        map.end()
    }
}

impl Edge {
    /// Adds its fields to a map, as an edge between the places of these addresses.
    pub(super) fn fields<M: SerializeMap>(
        &self,
        map: &mut M,
        from: &str,
        to: Option<&str>,
    ) -> std::result::Result<(), M::Error> {
        map.serialize_entry("from", from)?;
        map.serialize_entry("type", self.link.kind.relation())?;
        map.serialize_entry("to", &to)?;
        map.serialize_entry("source", source_word(&self.link.kind))?;
        map.serialize_entry("kind", kind_word(&self.link.kind))?;
        map.serialize_entry("target", &self.link.target)?;
        map.serialize_entry("file", &self.from.document.stored.path)?;
        map.serialize_entry("line", &self.link.line)?;
        if let Some(word) = self.to.broken_word() {
            map.serialize_entry("broken", word)?;
        }
        Ok(())
    }
}

/// `typed` for what front matter gives, `inline` for what the text does.
pub fn source_word(kind: &Kind) -> &'static str {
    if kind.is_typed() { "typed" } else { "inline" }
}

fn kind_word(kind: &Kind) -> &'static str {
    match kind {
        Kind::Markdown => "markdown",
        Kind::Image => "image",
        Kind::Wikilink => "wikilink",
        Kind::Embed => "embed",
        Kind::Ldmd(_) => "ldmd",
        Kind::Typed(_) => "front_matter",
    }
}

impl Destination {
    /// Why a link leads to no place, as a word; `None` if it does, or to a file that is no document.
    pub(super) fn broken_word(&self) -> Option<&'static str> {
        match self {
            Self::Place(_) | Self::Attachment { .. } => None,
            Self::NotInStore(_) => Some("not_in_store"),
            Self::Broken(Reason::File) => Some("file"),
            Self::Broken(Reason::Anchor) => Some("anchor"),
            Self::Broken(Reason::Outside) => Some("outside"),
            Self::Broken(Reason::Site) => Some("site"),
            Self::Broken(Reason::Ambiguous) => Some("ambiguous"),
        }
    }
}

/// The links between the documents of a library.
pub struct Graph<'a> {
    library: &'a Library<'a>,
    targets: Targets<'a>,
    filter: EdgeFilter,
    /// The types of the links that were looked at, if only some are wanted.
    types_seen: RefCell<BTreeSet<String>>,
}

impl<'a> Graph<'a> {
    /// The graph, without the edges that `filter` leaves out.
    pub fn new(library: &'a Library<'a>, filter: EdgeFilter) -> Self {
        Self { library, targets: Targets::new(library), filter, types_seen: RefCell::default() }
    }

    /// The graph in which one document is as an edit makes it.
    pub(super) fn with(mut self, changed: Changed<'a>) -> Self {
        self.targets.changed = Some(changed);
        self
    }

    fn takes(&self, kind: &Kind) -> bool {
        if !self.filter.types.is_empty() && !self.types_seen.borrow().contains(kind.relation()) {
            self.types_seen.borrow_mut().insert(kind.relation().to_owned());
        }
        self.filter.takes(kind)
    }

    /// A warning for each type that was asked for and that no link has of those that were looked at.
    pub(super) fn unknown_types(&self) -> Vec<Warning> {
        let seen = self.types_seen.borrow();
        let unknown = self.filter.types.iter().filter(|name| !seen.contains(*name));
        let known: Vec<&str> = seen.iter().take(TYPES_SHOWN).map(String::as_str).collect();
        let known = if known.is_empty() { "no link".to_owned() } else { known.join(", ") };
        let warning = |name: &String| {
            let message = format!("no link here has the type {name:?}; here are: {known}");
            Warning::new("NO_SUCH_LINK_TYPE", message)
        };
        unknown.map(warning).collect()
    }

    /// The edges of `place` in that direction, in order, each once.
    pub fn edges(&self, place: &Place, direction: Direction) -> Result<Vec<Edge>> {
        let mut edges = Vec::new();
        if direction != Direction::In {
            edges.extend(self.out_of(place)?);
        }
        if direction != Direction::Out {
            edges.extend(self.leading_to(place)?);
        }
        edges.sort_by_cached_key(Edge::key);
        edges.dedup_by_key(|edge| edge.key());
        Ok(edges)
    }

    /// The edges of the links that stand in `place`, in document order, also those that lead nowhere;
    /// not those to files that are no documents.
    pub fn out_of(&self, place: &Place) -> Result<Vec<Edge>> {
        let mut edges = self.all_out_of(place)?;
        edges.retain(|edge| !matches!(edge.to, Destination::Attachment { .. }));
        Ok(edges)
    }

    /// Likewise, also those to files.
    pub(in crate::query) fn all_out_of(&self, place: &Place) -> Result<Vec<Edge>> {
        let document = &place.document;
        let mut edges = Vec::new();
        for link in self.library.snapshot.links(&document.stored)?.links {
            let from = from(document, &link);
            if holds(place, &from)
                && self.takes(&link.kind)
                && let Some(to) = self.follow(document, &link)?
            {
                edges.push(Edge { from, to, link });
            }
        }
        Ok(edges)
    }

    /// The edges of the links that lead to `place` or into it, by path and in document order.
    pub fn leading_to(&self, place: &Place) -> Result<Vec<Edge>> {
        let stored = &place.document.stored;
        let snapshot = self.library.snapshot;
        let sites = &snapshot.options().site_roots;
        let keys = snapshot.links(stored)?.target_keys(&stored.path, sites);
        let mut sources = snapshot.documents_linking(&keys)?;
        if !sources.iter().any(|source| source.id == stored.id) {
            // Links within a document need not name it.
            sources.push(stored.clone());
            sources.sort_by(|one, other| one.path.cmp(&other.path));
        }
        let mut edges = Vec::new();
        for source in sources {
            let may_lead_here = |link: &Link| {
                source.id == stored.id
                    || link_keys(&source.path, link).iter().any(|key| keys.contains(key))
            };
            let links = snapshot.links(&source)?.links.into_iter();
            let links: Vec<Link> =
                links.filter(|link| self.takes(&link.kind) && may_lead_here(link)).collect();
            let Some(document) = (!links.is_empty()).then(|| self.library.open(&source)) else {
                continue;
            };
            let document = document?;
            for link in links {
                if let Some(Destination::Place(to)) = self.follow(&document, &link)?
                    && holds(place, &to)
                {
                    let from = from(&document, &link);
                    edges.push(Edge { from, to: Destination::Place(to), link });
                }
            }
        }
        Ok(edges)
    }

    /// Whether a line of a document ends with the mark of that block.
    fn has_block(&self, document: &OpenDocument, id: &str) -> Result<bool> {
        let changed = self.targets.changed(document.stored.id);
        let bytes = match changed {
            Some(changed) => changed.bytes.to_vec(),
            None => self.library.content(document, document.span())?,
        };
        let mark = format!("^{id}");
        let mut marks = memchr::memmem::find_iter(&bytes, mark.as_bytes());
        Ok(marks.any(|at| {
            let behind = bytes.get(at + mark.len()..).unwrap_or_default();
            let line = behind.split(|byte| matches!(byte, b'\n' | b'\r')).next();
            line.is_none_or(|line| line.trim_ascii().is_empty())
        }))
    }

    /// Where a link of `document` leads; `None` where that is outside of the library.
    pub(in crate::query) fn follow(
        &self,
        document: &Rc<OpenDocument>,
        link: &Link,
    ) -> Result<Option<Destination>> {
        let source = Source { id: document.stored.id, path: &document.stored.path };
        let resolution = links::resolve(&self.targets, source, &link.kind, &link.target);
        self.targets.check()?;
        let (id, node) = match resolution {
            Resolution::Document { id, node } => (id, node),
            Resolution::Broken { reason, .. } => return Ok(Some(Destination::Broken(reason))),
            Resolution::Attachment { path, is_checked } => {
                return Ok(Some(Destination::Attachment { path, is_checked }));
            }
            Resolution::NotInStore(path) => return Ok(Some(Destination::NotInStore(path))),
            Resolution::External => return Ok(None),
        };
        let Some(target) = self.targets.open(id)? else { return Ok(None) };
        if let Some(block) = block_id(&link.target)
            && !self.has_block(&target, block)?
        {
            return Ok(Some(Destination::Broken(Reason::Anchor)));
        }
        let place = match (&link.kind, node) {
            (Kind::Ldmd(Some(section)), _) => match target.markup.named(section) {
                Ok(section) => Target::Ldmd(section),
                Err(_) => return Ok(Some(Destination::Broken(Reason::Anchor))),
            },
            (_, None) => Target::Document,
            (_, Some(node)) => Target::Node(node),
        };
        Ok(Some(Destination::Place(Place::new(target, place, Params::default()))))
    }
}

/// The id of the block that a target of Obsidian's names: what stands behind `#^`.
fn block_id(target: &str) -> Option<&str> {
    target.rsplit_once("#^").map(|(_, id)| id.trim()).filter(|id| !id.is_empty())
}

/// The innermost section that holds a link; of one in front matter the document.
fn from(document: &Rc<OpenDocument>, link: &Link) -> Place {
    let target = if link.kind.is_typed() {
        Target::Document
    } else {
        let section = document.tree.section_at_line(link.line);
        Target::Node(section.map_or(0, |section| section.node))
    };
    Place::new(Rc::clone(document), target, Params::default())
}
