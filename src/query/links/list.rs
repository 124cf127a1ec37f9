//! `links list`: lists the links of a node.
//!
//! Invariant: the nodes of a part of the list are the node that was asked for and the ends of the links of that part, each
//! once.

use std::collections::{HashMap, HashSet};

use schemars::JsonSchema;
use serde::Serialize;

use super::graph::Graph;
use super::{Direction, Edge, EdgeFilter, EndFilter, LinkNode};
use crate::address::lines_address;
use crate::error::Result;
use crate::links::StoredLink;
use crate::message::message;
use crate::query::cursor::most;
use crate::query::document_order::DocumentOrder;
use crate::query::page::{longest, shorten};
use crate::query::resolve::resolve_one;
use crate::query::resolved_node::ResolvedNode;
use crate::query::{Cursor, FilterRequest, List, Outcome, Page, Session};
use crate::store::StoredDocument;

/// A request for links.
#[derive(Clone, Debug)]
pub struct LinkListRequest {
    /// The address of the node.
    pub address: String,
    /// The direction of the links.
    pub direction: Direction,
    /// The links to accept.
    pub filter: EdgeFilter,
    /// The filter for the documents of the other ends of the links.
    pub documents: FilterRequest,
    /// The maximum number of nodes including the node itself; 0 for all. The first link is listed in any case.
    pub max_nodes: usize,
    /// The maximum number of links; 0 for all.
    pub limit: usize,
    /// The cursor of the previous answer, if any.
    pub after: Option<Cursor>,
}

/// The links of a node.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct LinkListAnswer {
    /// The node, then the other ends of its links, in the order of the links.
    pub nodes: Vec<LinkNode>,
    /// The links of this part of the list.
    pub edges: Vec<Edge>,
    /// Warnings, an unresolved address, and the cursor.
    #[serde(flatten)]
    pub page: Page,
    /// At each index, the number of nodes that the links up to it need.
    #[serde(skip)]
    needs: Vec<usize>,
}

impl LinkListAnswer {
    /// Returns the node, then each link with the nodes that no link before it needs.
    pub(crate) fn by_link(&self) -> (&[LinkNode], impl Iterator<Item = (&[LinkNode], &Edge)>) {
        let (root, others) = self.nodes.split_at(self.nodes.len().min(1));
        let mut shown = 0;
        let links = self.edges.iter().zip(&self.needs).map(move |(edge, needed)| {
            let nodes = others.get(shown..needed - 1).unwrap_or_default();
            shown = needed - 1;
            (nodes, edge)
        });
        (root, links)
    }
}

impl List for LinkListAnswer {
    fn page_mut(&mut self) -> Option<&mut Page> {
        Some(&mut self.page)
    }

    fn outcome(&self) -> Outcome {
        self.page.outcome(!self.nodes.is_empty())
    }

    fn count(&self) -> usize {
        self.edges.len()
    }

    fn first(&self, count: usize) -> Self {
        if count >= self.edges.len() {
            return self.clone();
        }
        let needed = count.checked_sub(1).and_then(|last| self.needs.get(last));
        let needed = needed.copied().unwrap_or(1);
        Self {
            nodes: self.nodes.iter().take(needed).cloned().collect(),
            edges: self.edges.iter().take(count).cloned().collect(),
            page: self.page.ended(count),
            needs: self.needs.iter().take(count).copied().collect(),
        }
    }

    fn sizes_of_first(&self) -> usize {
        let targets = self.edges.iter().flat_map(|edge| edge.link.target_texts());
        longest(self.nodes.iter().flat_map(LinkNode::texts).chain(targets))
    }

    fn cut_first(&mut self, size: usize) -> bool {
        self.nodes.iter_mut().for_each(|node| node.shorten(size));
        let targets = self.edges.iter_mut().flat_map(|edge| edge.link.target_texts_mut());
        // The other texts only describe the nodes.
        targets.for_each(|text| shorten(text, size.saturating_mul(4)));
        let of_link = self.edges.first().map(|edge| {
            let StoredLink { line, .. } = edge.link;
            lines_address(&edge.from.document.stored.path, line, line)
        });
        let of_node = || self.nodes.first().map(|node| node.selector.clone());
        let place = of_link.or_else(of_node).unwrap_or_default();
        let message = message!("this item is cut; `mdsel select {path}` prints its text", place);
        self.page.cut_item(message);
        true
    }
}

/// Lists the links of a node.
pub fn list(session: &Session<'_>, request: &LinkListRequest) -> Result<LinkListAnswer> {
    let page = Page::beginning(request.after, session.reader.generation());
    let mut answer =
        LinkListAnswer { nodes: Vec::new(), edges: Vec::new(), page, needs: Vec::new() };
    let part = answer.page.part;
    let place = match resolve_one(session, &request.address)? {
        Ok((place, warnings)) => {
            answer.page.warnings.extend(warnings);
            place
        }
        Err(fault) => {
            answer.page.unresolved_selectors.push(fault);
            return Ok(answer);
        }
    };
    let graph = Graph::new(session, request.filter.clone());
    let mut edges = graph.edges(&place, request.direction)?;
    answer.page.warnings.extend(graph.unknown_types());
    if let Some(filter) = EndFilter::new(session, &request.documents)? {
        let mut taken = Vec::with_capacity(edges.len());
        for edge in edges {
            let end = other_end(&edge, &place);
            if end.map_or(Ok(false), |end| filter.takes(end))? {
                taken.push(edge);
            }
        }
        edges = taken;
        filter.report(&mut answer.page, !edges.is_empty())?;
    }
    if let Some(order) = request.documents.order() {
        sort(session, &order, &place, &mut edges)?;
    }
    edges.drain(..part.start().min(edges.len()));
    let has_more = edges.len() > most(request.limit);
    edges.truncate(most(request.limit));
    answer.nodes.push(LinkNode::of(session, &place)?);
    let mut known = HashSet::from([place.address()]);
    for edge in &edges {
        for end in std::iter::once(&edge.from).chain(edge.target()) {
            if known.insert(ResolvedNode::address(end)) {
                answer.nodes.push(LinkNode::of(session, end)?);
            }
        }
        answer.needs.push(answer.nodes.len());
    }
    if has_more {
        answer.page.end(edges.len());
    }
    answer.edges = edges;
    let fitting = answer.needs.partition_point(|&needed| needed <= most(request.max_nodes));
    // A page without a link would be followed by the same page.
    Ok(answer.first(fitting.max(1)))
}

/// Sorts edges by the documents at their other ends, those that lead nowhere last.
fn sort(
    session: &Session<'_>,
    order: &DocumentOrder<'_>,
    place: &ResolvedNode,
    edges: &mut [Edge],
) -> Result<()> {
    let mut documents = HashMap::new();
    for end in edges.iter().filter_map(|edge| other_end(edge, place)) {
        documents.entry(end.document.stored.id).or_insert_with(|| end.document.stored.clone());
    }
    let mut sorted: Vec<StoredDocument> = documents.into_values().collect();
    order.sort(session, &mut sorted)?;
    let ranks: HashMap<i64, usize> =
        sorted.iter().enumerate().map(|(rank, document)| (document.id, rank)).collect();
    edges.sort_by_key(|edge| {
        let rank = other_end(edge, place).and_then(|end| ranks.get(&end.document.stored.id));
        rank.copied().unwrap_or(usize::MAX)
    });
    Ok(())
}

/// The end of an edge that is not in the document of `place`, or where the edge leads within that document; `None`
/// if it leads nowhere.
fn other_end<'a>(edge: &'a Edge, place: &ResolvedNode) -> Option<&'a ResolvedNode> {
    let is_out = edge.from.document.stored.id == place.document.stored.id;
    if is_out { edge.target() } else { Some(&edge.from) }
}
