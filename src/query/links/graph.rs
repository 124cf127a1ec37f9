//! The edges of a node.
//!
//! Invariant: [`Graph::leading_to`] a node returns exactly those edges of [`Graph::out_of`] all
//! documents whose target is in that node.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use serde::Deserialize;

use super::all_documents::AllDocuments;
use super::targets::{Changed, Targets};
use super::{contains, is_within, lines_of};
use crate::address::Params;
use crate::error::{Result, Warning};
use crate::limits;
use crate::links::{
    self, DocumentId, Kind, LinkSource, LinkTarget, LinkTargets as _, Reason, StoredLink,
    block_ids, link_keys,
};
use crate::markdown::slug::comparable;
use crate::percent::percent_decode;
use crate::query::open_document::OpenDocument;
use crate::query::resolved_node::{ResolvedNode, Target};
use crate::query::session::{MAX_OPEN, Session};
use crate::store::{Lookup, StoredDocument};
use crate::visible::quoted;

/// The direction of edges, as seen from a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// The edges from the node.
    Out,
    /// The edges to the node.
    In,
    /// The edges from and to the node.
    Both,
}

impl Direction {
    /// Returns the word of the command line for the direction.
    pub fn word(self) -> &'static str {
        match self {
            Self::Out => "out",
            Self::In => "in",
            Self::Both => "both",
        }
    }
}

/// A filter for edges.
#[derive(Clone, Debug, Default)]
pub struct EdgeFilter {
    /// The accepted types; empty for all.
    pub types: Vec<String>,
    /// Whether to accept only links in front matter.
    pub typed_only: bool,
    /// Whether to accept only links in text.
    pub inline_only: bool,
}

impl EdgeFilter {
    fn takes(&self, kind: &Kind) -> bool {
        let is_left_out = if kind.is_typed() { self.inline_only } else { self.typed_only };
        !is_left_out
            && (self.types.is_empty() || self.types.iter().any(|name| name == kind.relation()))
    }
}

/// The target of a link.
#[derive(Clone, Debug)]
pub enum Destination {
    /// A node of a document.
    Place(ResolvedNode),
    /// A file or folder that is not a document.
    Attachment {
        /// Its path relative to the root.
        path: String,
        /// Whether it is known to exist on disk.
        is_checked: bool,
    },
    /// A Markdown file that is on disk but not in the store, by its path relative to the root.
    NotInStore(String),
    /// No target.
    Broken(Reason),
}

/// A link, from the section that contains it to its target.
#[derive(Clone, Debug)]
pub struct Edge {
    /// The innermost section that contains the link, or the document for a link in front matter.
    pub from: ResolvedNode,
    /// The target of the link.
    pub to: Destination,
    /// The link as written.
    pub link: StoredLink,
}

/// See [`Edge::key`].
pub(super) type EdgeKey = (String, Option<String>, String, usize, String);

impl Edge {
    /// Returns the node that the link leads to, if any.
    pub fn target(&self) -> Option<&ResolvedNode> {
        match &self.to {
            Destination::Place(place) => Some(place),
            Destination::Attachment { .. }
            | Destination::NotInStore(_)
            | Destination::Broken(_) => None,
        }
    }

    /// Returns the identity of the edge, which also sorts edges: by type, then target, then source.
    pub(super) fn key(&self) -> EdgeKey {
        let to = self.target().map(ResolvedNode::address);
        let (relation, target) = (self.link.kind.relation().to_owned(), self.link.target.clone());
        (relation, to, self.from.address(), self.link.line, target)
    }
}

/// Returns `typed` for a link in front matter and `inline` for a link in text.
pub fn source_word(kind: &Kind) -> &'static str {
    if kind.is_typed() { "typed" } else { "inline" }
}

impl Destination {
    /// Returns why the link has no target, as one word. Returns `None` if it leads to a node or to an
    /// attachment.
    pub(crate) fn broken_word(&self) -> Option<&'static str> {
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

    /// Returns why a link leads to no place, in the words of `links check`.
    pub(crate) fn problem(&self) -> &'static str {
        match self {
            Self::Broken(Reason::Outside | Reason::Site)
            | Self::Attachment { is_checked: false, .. } => "unchecked",
            Self::NotInStore(_) => "not in the store",
            _ => "broken",
        }
    }
}

/// The links between the documents of a snapshot.
pub struct Graph<'a> {
    session: &'a Session<'a>,
    targets: Targets<'a>,
    filter: EdgeFilter,
    /// The types of all links seen so far, recorded only if the filter names types.
    types_seen: RefCell<BTreeSet<String>>,
    /// The offset of the first block with each id, for the documents to whose blocks links lead.
    blocks: RefCell<HashMap<i64, HashMap<Vec<u8>, usize>>>,
    /// The links of the document that was asked about last, with the nodes that contain them.
    links: LastDocument<StoredLink>,
    /// The links to the document that was asked about last, and the nodes that contain them, with their targets.
    leading: LastDocument<(ResolvedNode, StoredLink)>,
}

/// Values that belong to nodes of one document: the one that was asked about last, because a walk visits the nodes of a
/// document one after the other.
struct LastDocument<T>(RefCell<Option<(i64, NodeValues<T>)>>);

/// Nodes with their values, sorted by the start of the node. The number is the position before sorting.
type NodeValues<T> = Rc<Vec<(ResolvedNode, usize, T)>>;

impl<T: Clone> LastDocument<T> {
    /// Returns the values of the nodes in `place`, in the order in which `all` returns those of the whole document.
    fn within(
        &self,
        place: &ResolvedNode,
        all: impl FnOnce() -> Result<Vec<(ResolvedNode, T)>>,
    ) -> Result<Vec<(ResolvedNode, T)>> {
        let id = place.document.stored.id;
        let known = self.0.borrow().as_ref().filter(|(known, _)| *known == id).cloned();
        let (_, values) = match known {
            Some(known) => known,
            None => {
                let values = all()?.into_iter().enumerate();
                let values = values.map(|(order, (node, value))| (node, order, value));
                let mut values: Vec<_> = values.collect();
                values.sort_by_key(|(node, order, _)| (node.span().start, *order));
                self.0.borrow_mut().insert((id, Rc::new(values))).clone()
            }
        };
        let span = place.span();
        let first = values.partition_point(|(node, ..)| node.span().start < span.start);
        let near = values.get(first..).unwrap_or_default().iter();
        let near = near.take_while(|(node, ..)| node.span().start <= span.end);
        let mut within: Vec<_> = near.filter(|(node, ..)| contains(place, node)).collect();
        within.sort_by_key(|(_, order, _)| *order);
        Ok(within.into_iter().map(|(node, _, value)| (node.clone(), value.clone())).collect())
    }
}

impl<'a> Graph<'a> {
    /// Returns the graph of the edges that `filter` accepts.
    pub fn new(session: &'a Session<'a>, filter: EdgeFilter) -> Self {
        Self {
            session,
            targets: Targets::new(session),
            filter,
            types_seen: RefCell::default(),
            blocks: RefCell::default(),
            links: LastDocument(RefCell::default()),
            leading: LastDocument(RefCell::default()),
        }
    }

    /// Returns the graph with some documents replaced by their versions after an edit.
    pub(crate) fn with(mut self, changed: Vec<Changed<'a>>) -> Self {
        self.targets.changed = changed;
        self
    }

    /// Returns the graph that looks for the targets of links in `all`.
    pub(in crate::query) fn among(mut self, all: &'a AllDocuments) -> Self {
        self.targets.all = Some(all);
        self
    }

    fn takes(&self, kind: &Kind) -> bool {
        if !self.filter.types.is_empty() && !self.types_seen.borrow().contains(kind.relation()) {
            self.types_seen.borrow_mut().insert(kind.relation().to_owned());
        }
        self.filter.takes(kind)
    }

    /// Returns a warning for each type of the filter that none of the links seen so far has.
    pub(super) fn unknown_types(&self) -> Vec<Warning> {
        let seen = self.types_seen.borrow();
        let unknown = self.filter.types.iter().filter(|name| !seen.contains(*name));
        let known: Vec<&str> =
            seen.iter().take(limits::MAX_LINK_TYPES_SHOWN).map(String::as_str).collect();
        let known = if known.is_empty() { "no link".to_owned() } else { known.join(", ") };
        let warning = |name: &String| {
            let message = format!(
                "no link here has the type {name}; existing types: {known}",
                name = quoted(&name)
            );
            Warning::new("NO_SUCH_LINK_TYPE", message)
        };
        unknown.map(warning).collect()
    }

    /// Returns the edges of `place` in that direction, sorted, without duplicates.
    pub fn edges(&self, place: &ResolvedNode, direction: Direction) -> Result<Vec<Edge>> {
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

    /// Returns the edges of the links in `place`, in document order. Broken links are included; links to
    /// attachments are not.
    pub fn out_of(&self, place: &ResolvedNode) -> Result<Vec<Edge>> {
        let mut edges = self.all_out_of(place)?;
        edges.retain(|edge| !matches!(edge.to, Destination::Attachment { .. }));
        Ok(edges)
    }

    /// Returns the edges of the links in `place`, including those to attachments.
    pub(in crate::query) fn all_out_of(&self, place: &ResolvedNode) -> Result<Vec<Edge>> {
        let document = &place.document;
        let mut edges = Vec::new();
        for (from, link) in self.links_in(place)? {
            if self.takes(&link.kind)
                && let Some(to) = self.follow(document, &link)?
            {
                edges.push(Edge { from, to, link });
            }
        }
        Ok(edges)
    }

    /// Returns the links in `place` with the nodes that contain them.
    fn links_in(&self, place: &ResolvedNode) -> Result<Vec<(ResolvedNode, StoredLink)>> {
        let document = &place.document;
        let all = || {
            let links = self.session.reader.links(&document.stored)?.links.into_iter();
            Ok(links.map(|link| (from(document, &link), link)).collect())
        };
        let Some(lines) = lines_of(self.session, place)? else {
            return self.links.within(place, all);
        };
        let mut within = self.links.within(&ResolvedNode::whole(Rc::clone(document)), all)?;
        within.retain(|(_, link)| lines.contains(link.line));
        Ok(within)
    }

    /// Opens the documents to which links of the document `place` lead together, so that the store is not asked for each
    /// of them. Does nothing if the graph does not know all documents.
    pub(in crate::query) fn open_targets(&self, place: &ResolvedNode) -> Result<()> {
        let links = self.links_in(place)?;
        self.open_targets_of(&place.document.stored, links.iter().map(|(_, link)| link))
    }

    /// Works like [`Self::open_targets`] for these links of the document `stored`.
    pub(super) fn open_targets_of<'l>(
        &self,
        stored: &StoredDocument,
        links: impl Iterator<Item = &'l StoredLink>,
    ) -> Result<()> {
        let Some(all) = self.targets.all else { return Ok(()) };
        let source = LinkSource { id: stored.id, path: &stored.path };
        let targets = self.targets.without_anchors(|targets| {
            let target = |link: &StoredLink| match links::resolve_to_document(
                targets,
                source,
                &link.kind,
                &link.target,
            ) {
                LinkTarget::Document { id, .. } => all.with_id(id),
                _ => None,
            };
            links.filter_map(target).collect::<Vec<_>>()
        });
        self.targets.check()?;
        self.session.open_together(std::iter::once(stored).chain(targets))?;
        Ok(())
    }

    /// Returns the edges of the links to `place` or to a node in it, by path and in document order.
    pub fn leading_to(&self, place: &ResolvedNode) -> Result<Vec<Edge>> {
        let all = || self.links_to(&place.document.stored);
        let edge = |(to, (from, link))| Edge { from, to: Destination::Place(to), link };
        let lines = lines_of(self.session, place)?;
        let leading = self.leading.within(place, all)?.into_iter();
        Ok(leading.filter(|(to, _)| is_within(place, lines, to)).map(edge).collect())
    }

    /// Returns the targets of the links to a document and to nodes in it, with the links and the nodes that contain
    /// them, by path and in document order.
    fn links_to(
        &self,
        stored: &StoredDocument,
    ) -> Result<Vec<(ResolvedNode, (ResolvedNode, StoredLink))>> {
        let sites = &self.session.link_roots;
        let keys = self.session.reader.links(stored)?.target_keys(&stored.path, sites);
        let mut found = Vec::new();
        self.visit_links(&keys, Some(stored), |source, link| {
            let to = self.follow_by(links::resolve_to_document, source, &link)?;
            if let Some(Destination::Place(to)) = to
                && to.document.stored.id == stored.id
            {
                found.push((to, (from(source, &link), link)));
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// Calls `visit` with each link that has one of `keys`, and with each link of the document `own`, together with the
    /// document that contains it, by path and in document order. Opens no document without such a link.
    pub(crate) fn visit_links(
        &self,
        keys: &[i64],
        own: Option<&StoredDocument>,
        mut visit: impl FnMut(&Rc<OpenDocument>, StoredLink) -> Result<()>,
    ) -> Result<()> {
        let is_own = |source: &StoredDocument| own.is_some_and(|own| own.id == source.id);
        let mut sources = self.session.reader.all(&Lookup::LinkKeys(keys))?;
        if let Some(own) = own
            && !sources.iter().any(is_own)
        {
            // A link within a document need not name the document.
            sources.push(own.clone());
            sources.sort_by(|one, other| one.path.cmp(&other.path));
        }
        let takes = |source: &StoredDocument, link: &StoredLink| {
            let has_key = || link_keys(&source.path, link).iter().any(|key| keys.contains(key));
            self.takes(&link.kind) && (is_own(source) || has_key())
        };
        visit_sources(self.session, &sources, takes, |document, links| {
            links.into_iter().try_for_each(|link| visit(document, link))
        })
    }

    /// Returns the innermost section of the document that contains a block.
    pub(crate) fn section_of_block(
        &self,
        document: &OpenDocument,
        id: &str,
    ) -> Result<Option<usize>> {
        Ok(self.block(document, id)?.and_then(|offset| document.tree.section_at(offset)))
    }

    /// Returns the offset of the marker of a block (`^id`), which is at the end of a line.
    fn block(&self, document: &OpenDocument, id: &str) -> Result<Option<usize>> {
        let key = document.stored.id;
        if let Some(known) = self.blocks.borrow().get(&key) {
            return Ok(known.get(id.as_bytes()).copied());
        }
        let bytes = match self.targets.changed(key) {
            Some(changed) => changed.bytes.to_vec(),
            None => self.session.content(document, document.span())?,
        };
        let mut known = HashMap::new();
        for (id, offset) in block_ids(&bytes) {
            known.entry(id.to_vec()).or_insert(offset);
        }
        let offset = known.get(id.as_bytes()).copied();
        self.blocks.borrow_mut().insert(key, known);
        Ok(offset)
    }

    /// Returns whether a link of `document` cannot mean another note; see [`links::is_unique_name`].
    pub(crate) fn is_unique_name(
        &self,
        document: &OpenDocument,
        link: &StoredLink,
    ) -> Result<bool> {
        let source = LinkSource { id: document.stored.id, path: &document.stored.path };
        let is_unique = links::is_unique_name(&self.targets, source, &link.kind, &link.target);
        self.targets.check().map(|()| is_unique)
    }

    /// Returns the target of a link of `document`, or `None` for a link to another site or protocol.
    pub(crate) fn follow(
        &self,
        document: &Rc<OpenDocument>,
        link: &StoredLink,
    ) -> Result<Option<Destination>> {
        self.follow_by(links::resolve, document, link)
    }

    /// Works like [`Self::follow`], but returns `None` also for a link to a whole document, which need not be opened.
    pub(super) fn follow_into(
        &self,
        document: &Rc<OpenDocument>,
        link: &StoredLink,
    ) -> Result<Option<Destination>> {
        match self.resolved_by(links::resolve, &document.stored, link)? {
            LinkTarget::Document { .. } if !link.names_part() => Ok(None),
            resolution => self.destination(link, resolution),
        }
    }

    /// Returns the document in which a link of `document` names a place that need not exist, if any.
    pub(super) fn document_of_anchor(
        &self,
        document: &OpenDocument,
        link: &StoredLink,
    ) -> Result<Option<Rc<OpenDocument>>> {
        match self.resolved_by(links::resolve, &document.stored, link)? {
            LinkTarget::Document { id, .. } | LinkTarget::Broken { document: Some(id), .. } => {
                self.targets.open(id)
            }
            _ => Ok(None),
        }
    }

    /// Returns the id of the document that a link of the document `source` leads to, if any. Looks for no files.
    pub(crate) fn linked_document(
        &self,
        source: &StoredDocument,
        link: &StoredLink,
    ) -> Result<Option<i64>> {
        Ok(match self.resolved_by(links::resolve_to_document, source, link)? {
            LinkTarget::Document { id, .. } => Some(id),
            _ => None,
        })
    }

    fn follow_by(
        &self,
        resolve: impl FnOnce(&Targets<'a>, LinkSource<'_>, &Kind, &str) -> LinkTarget,
        document: &Rc<OpenDocument>,
        link: &StoredLink,
    ) -> Result<Option<Destination>> {
        self.destination(link, self.resolved_by(resolve, &document.stored, link)?)
    }

    fn resolved_by(
        &self,
        resolve: impl FnOnce(&Targets<'a>, LinkSource<'_>, &Kind, &str) -> LinkTarget,
        document: &StoredDocument,
        link: &StoredLink,
    ) -> Result<LinkTarget> {
        let source = LinkSource { id: document.id, path: &document.path };
        let resolution = resolve(&self.targets, source, &link.kind, &link.target);
        self.targets.check().map(|()| resolution)
    }

    fn destination(
        &self,
        link: &StoredLink,
        resolution: LinkTarget,
    ) -> Result<Option<Destination>> {
        let (id, node) = match resolution {
            LinkTarget::Document { id, node } => (id, node),
            LinkTarget::Broken { reason, .. } => return Ok(Some(Destination::Broken(reason))),
            LinkTarget::Attachment { path, is_checked } => {
                return Ok(Some(Destination::Attachment { path, is_checked }));
            }
            LinkTarget::NotInStore(path) => return Ok(Some(Destination::NotInStore(path))),
            LinkTarget::External => return Ok(None),
        };
        let Some(target) = self.targets.open(id)? else { return Ok(None) };
        if let Some(block) = block_id(&link.target)
            && self.block(&target, block)?.is_none()
        {
            return Ok(Some(Destination::Broken(Reason::Anchor)));
        }
        let place = match (&link.kind, node) {
            (Kind::Ldmd(Some(section)), _) => match target.markup.named(section) {
                Ok(section) => Target::Ldmd(section),
                // A document without markers has anchors.
                Err(_) => match self.node_by_anchor(id, section)? {
                    Some(node) => Target::Node(node),
                    None => return Ok(Some(Destination::Broken(Reason::Anchor))),
                },
            },
            (_, None) => Target::Document,
            (_, Some(node)) => Target::Node(node),
        };
        Ok(Some(Destination::Place(ResolvedNode::new(target, place, Params::default()))))
    }

    fn node_by_anchor(&self, document: DocumentId, anchor: &str) -> Result<Option<usize>> {
        let node = self.targets.node_by_anchor(document, &comparable(&percent_decode(anchor)));
        self.targets.check().map(|()| node)
    }
}

/// Calls `visit` with each of `documents` that has a link which `takes` accepts, and with these links. Opens no other
/// document.
pub(super) fn visit_sources(
    session: &Session<'_>,
    documents: &[StoredDocument],
    takes: impl Fn(&StoredDocument, &StoredLink) -> bool,
    mut visit: impl FnMut(&Rc<OpenDocument>, Vec<StoredLink>) -> Result<()>,
) -> Result<()> {
    for chunk in documents.chunks(MAX_OPEN) {
        let mut sources = Vec::new();
        for (stored, outgoing) in chunk.iter().zip(session.reader.all_links(chunk)?) {
            let mut links = outgoing.links;
            links.retain(|link| takes(stored, link));
            if !links.is_empty() {
                sources.push((stored, links));
            }
        }
        let opened = session.open_together(sources.iter().map(|(stored, _)| *stored))?;
        opened.iter().zip(sources).try_for_each(|(document, (_, links))| visit(document, links))?;
    }
    Ok(())
}

/// Returns the block id in an Obsidian target: the text after `#^`.
pub(crate) fn block_id(target: &str) -> Option<&str> {
    target.rsplit_once("#^").map(|(_, id)| id.trim()).filter(|id| !id.is_empty())
}

/// Returns the innermost section that contains a link, or the document for a link in front matter.
fn from(document: &Rc<OpenDocument>, link: &StoredLink) -> ResolvedNode {
    let target = if link.kind.is_typed() {
        Target::Document
    } else {
        let section = document.tree.section_at_line(link.line);
        Target::Node(section.map_or(0, |section| section.node))
    };
    ResolvedNode::new(Rc::clone(document), target, Params::default())
}
