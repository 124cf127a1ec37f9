//! `links`: the graph of documents and their sections, computed link by link on request.
//!
//! [`graph`] returns the edges of a node; each other module answers one command. Invariant: each edge
//! out of a node is also an edge into a node, and each edge is a link that a reader of the document can
//! follow.

mod all_documents;
mod breadth_first;
pub mod broken;
pub mod check;
pub mod graph;
pub mod list;
mod targets;
pub mod walk;

pub(in crate::query) use all_documents::AllDocuments;
pub use breadth_first::WalkedEdge;
pub(super) use breadth_first::reachable;
pub use graph::{Direction, Edge, EdgeFilter, source_word};
pub(crate) use targets::Changed;

use std::cell::RefCell;
use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::filter::{Filter, FilterRequest};
use super::freshness::Freshness;
use super::labels::Labels;
use super::node::{Extent, answer};
use super::page::{Page, shorten};
use super::resolved_node::{ResolvedNode, Target};
use super::session::Session;
use crate::error::Result;
use crate::links::file_stem;
use crate::markdown::outline::NodeKind;
use crate::position::LineSpan;

/// A node that links lead from or to.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct LinkNode {
    /// The address of the node.
    pub selector: String,
    /// The `type` in the document's front matter, or else the type of the node.
    #[serde(rename = "type")]
    pub node_type: String,
    /// The title. For a document without one, the file name without its extension.
    pub title: String,
    /// The tags of the document.
    pub tags: Vec<String>,
    /// The path of the document.
    pub file: String,
    /// The number of links between the root of a walk and the node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hop: Option<usize>,
    /// The summary on one line, if any.
    pub summary: Option<String>,
    /// Whether the title or the summary has bytes that are not UTF-8, which are shown as U+FFFD.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lossy: bool,
    /// Whether the file differs from the stored document.
    #[serde(flatten)]
    pub freshness: Freshness,
}

impl LinkNode {
    /// Returns the description of a node.
    pub(super) fn of(session: &Session<'_>, place: &ResolvedNode) -> Result<Self> {
        let stored = &place.document.stored;
        let front_matter = session.reader.front_matter(stored)?;
        let summary = session.summary(place, front_matter.as_ref())?;
        let labels = Labels::new(&front_matter);
        let title = match place.title() {
            Some(title) => Some(title),
            None => session.reader.links(stored)?.title,
        };
        let mut node = Self {
            selector: place.address(),
            node_type: labels.document_type.unwrap_or_else(|| place.word().to_owned()),
            title: title.unwrap_or_else(|| file_stem(&stored.path).to_owned()),
            tags: labels.tags,
            file: stored.path.clone(),
            hop: None,
            summary,
            lossy: false,
            freshness: session.freshness(stored),
        };
        node.lossy = stored.is_lossy_in(node.texts());
        Ok(node)
    }

    /// Returns the texts that can be long: the title and the summary.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        [self.title.as_str()].into_iter().chain(self.summary.as_deref())
    }

    /// Cuts each text to at most `chars` Unicode scalars. The address leads to the whole text.
    pub(super) fn shorten(&mut self, chars: usize) {
        shorten(&mut self.title, chars);
        if let Some(summary) = &mut self.summary {
            shorten(summary, chars);
        }
    }
}

/// A filter for the ends of links.
pub(super) struct EndFilter<'a> {
    session: &'a Session<'a>,
    filter: Filter,
    /// Whether each document is admitted, by id.
    documents: RefCell<HashMap<i64, bool>>,
}

impl<'a> EndFilter<'a> {
    /// Returns the filter for `request`; `None` if it admits everything.
    fn new(session: &'a Session<'a>, request: &FilterRequest) -> Result<Option<Self>> {
        if request.is_empty() {
            return Ok(None);
        }
        let filter = Filter::new(session, request)?;
        Ok(Some(Self { session, filter, documents: RefCell::default() }))
    }

    /// Returns the filter for what `globs` exclude, if they exclude anything. Globs that take documents say nothing about
    /// those that links lead to.
    pub(super) fn excluding(session: &'a Session<'a>, globs: &[String]) -> Result<Option<Self>> {
        if !globs.iter().any(|glob| glob.starts_with('!')) {
            return Ok(None);
        }
        let globs = std::iter::once("**".to_owned()).chain(globs.iter().cloned()).collect();
        Self::new(session, &FilterRequest { globs, ..FilterRequest::default() })
    }

    fn takes(&self, end: &ResolvedNode) -> Result<bool> {
        let stored = &end.document.stored;
        let known = self.documents.borrow().get(&stored.id).copied();
        let is_taken = match known {
            Some(known) => known,
            None => {
                let mut document = vec![stored.clone()];
                self.filter.retain(self.session, &mut document)?;
                self.documents.borrow_mut().insert(stored.id, !document.is_empty());
                !document.is_empty()
            }
        };
        let filter = &self.filter;
        Ok(is_taken && (!filter.looks_inside() || filter.takes(&end.document, end.part_span())))
    }

    /// Adds what the filter has to say to a page, of which it says whether anything is on it.
    fn report(self, page: &mut Page, is_found: bool) -> Result<()> {
        if !is_found {
            page.warnings.extend(self.filter.empty(self.session)?);
        }
        page.unresolved_selectors.extend(self.filter.faults);
        page.warnings.extend(self.filter.warnings);
        Ok(())
    }
}

/// Returns the lines of a place whose links are found by their lines; `None` for a whole document and for a whole section,
/// which has its links. The links of a cell are those of its row.
fn lines_of(session: &Session<'_>, place: &ResolvedNode) -> Result<Option<LineSpan>> {
    let is_section = match place.target {
        Target::Document => true,
        Target::Node(node) => {
            let kind = place.document.tree.node(node).map(|node| node.kind);
            matches!(kind, Some(NodeKind::Root | NodeKind::Section(_)))
        }
        Target::FrontMatter | Target::Ldmd(_) | Target::Cells(_) => false,
    };
    if is_section && !place.params.is_part() {
        return Ok(None);
    }
    let node = answer(session, place, Extent::Words(0))?;
    // A page that does not exist has no lines.
    Ok(Some(node.map_or(LineSpan { start: 1, end: 0 }, |node| LineSpan {
        start: node.line_start,
        end: node.line_end,
    })))
}

/// Returns whether `inner` is in `outer`, which has these `lines` if it is not whole; see [`lines_of`]. A section is in
/// lines that have its heading.
fn is_within(outer: &ResolvedNode, lines: Option<LineSpan>, inner: &ResolvedNode) -> bool {
    let is_part = outer.params.is_part();
    let is_in_lines =
        |lines: LineSpan| inner.target != Target::Document && lines.contains(inner.first_line());
    contains(outer, inner) && (!is_part || lines.is_none_or(is_in_lines))
}

/// Returns whether `outer` contains `inner`. A document contains all of its nodes.
fn contains(outer: &ResolvedNode, inner: &ResolvedNode) -> bool {
    outer.document.stored.id == inner.document.stored.id
        && match (outer.target, inner.target) {
            (Target::Document, _) => true,
            (_, Target::Document) => false,
            _ => outer.span().contains(inner.span()),
        }
}
