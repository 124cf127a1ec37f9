//! `links tree` and `links path`: follows links from a node, hop by hop.
//!
//! Invariant: nodes are in breadth-first order, the root first. Nodes of one hop are sorted by the type
//! of the first edge to them, then by address. Every link counts as one hop, whatever its type. Both
//! ends of each edge in an answer are nodes of the answer; an edge is on the page of the later of its
//! ends. An answer that ends among the edges of a node is continued with that node and its other edges.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::Serialize;

use super::breadth_first::{BreadthFirstWalk, Visited, WalkedEdge};
use super::{Direction, EdgeFilter, EndFilter, LinkNode};
use crate::error::Result;
use crate::limits;
use crate::message::message;
use crate::query::cursor::most;
use crate::query::page::longest;
use crate::query::resolve::resolve_one;
use crate::query::resolved_node::ResolvedNode;
use crate::query::warning::no_document;
use crate::query::{Cursor, FilterRequest, List, Outcome, Page, Session};

/// A request for a walk.
#[derive(Clone, Debug)]
pub struct LinkWalkRequest {
    /// The address of the start node.
    pub from: String,
    /// The address of the node to reach; `None` for all reachable nodes.
    pub to: Option<String>,
    /// The direction in which links are followed.
    pub direction: Direction,
    /// The links to follow.
    pub filter: EdgeFilter,
    /// The filter for the places to which they lead; the start may be another.
    pub documents: FilterRequest,
    /// The maximum number of hops.
    pub max_hops: usize,
    /// The maximum number of nodes; 0 for all.
    pub max_nodes: usize,
    /// The cursor of the previous answer, if any.
    pub after: Option<Cursor>,
}

/// A node that was reached, and the edges followed from it.
#[derive(Clone, Debug)]
pub struct WalkedNode {
    /// The node itself.
    pub node: LinkNode,
    /// The edges that no earlier node has, and that lead to nodes of the answer.
    pub edges: Vec<WalkedEdge>,
    /// Its position in the order of the walk.
    index: usize,
}

/// Why there is no path.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct NoPath {
    /// The address of the start node.
    pub from: String,
    /// The address of the node that was not reached.
    pub to: String,
    /// The number of hops that were tried. The last one reached nothing new if it is below the maximum.
    pub hops: usize,
    /// The number of nodes that were reached, without the start node.
    pub places: usize,
    /// Some of the nodes that are the most hops away from the start node.
    pub farthest: Vec<String>,
    /// Some of the nodes that lead to the end node and are the most hops away from it.
    pub reached_from: Vec<String>,
}

/// The nodes that links lead to.
#[derive(Clone, Debug)]
pub struct LinkWalkAnswer {
    /// The nodes, the root first. Nodes of former pages that the edges of this page need come first.
    pub steps: Vec<WalkedNode>,
    /// Warnings, unresolved addresses and the cursor.
    pub page: Page,
    /// Why there is no path, if a path was requested and not found.
    pub no_path: Option<NoPath>,
    /// Whether a path to a node was requested.
    pub is_path: bool,
    /// The maximum number of hops.
    pub max_hops: usize,
    /// The direction in which links were followed.
    pub direction: Direction,
}

impl LinkWalkAnswer {
    /// Returns the edges, in the order of the nodes that they were followed from.
    pub fn edges(&self) -> impl Iterator<Item = &WalkedEdge> {
        self.steps.iter().flat_map(|step| &step.edges)
    }

    /// Returns the length of the longest text, or of the longest list of the ends of a path that was not found.
    fn longest(&self) -> usize {
        let ends = self
            .no_path
            .as_ref()
            .map_or(0, |none| none.farthest.len().max(none.reached_from.len()));
        longest(self.steps.iter().flat_map(|step| step.node.texts())).max(ends)
    }
}

/// Keeps only the edges that belong to the page of the nodes from `start` to `end`, exclusive. Returns
/// the indices of the nodes that the edges need.
fn on_page<T>(
    places: &mut [T],
    edges: impl Fn(&mut T) -> (usize, &mut Vec<WalkedEdge>),
    start: usize,
    end: usize,
) -> HashSet<usize> {
    let mut needed = HashSet::new();
    for place in places {
        let (index, edges) = edges(place);
        edges.retain(|walked| index.max(walked.index) >= start && index.max(walked.index) < end);
        needed.extend(edges.iter().map(|walked| walked.index));
        if !edges.is_empty() {
            needed.insert(index);
        }
    }
    needed
}

impl List for LinkWalkAnswer {
    fn page_mut(&mut self) -> Option<&mut Page> {
        Some(&mut self.page)
    }

    fn outcome(&self) -> Outcome {
        self.page.outcome_of_list(!self.steps.is_empty())
    }

    fn begins_after_end(&self) -> bool {
        self.count() == 0 && self.no_path.is_none()
    }

    fn count(&self) -> usize {
        let start = self.page.part.start();
        self.steps.iter().filter(|step| step.index >= start).count()
    }

    fn first(&self, count: usize) -> Self {
        if count >= self.count() {
            return self.clone();
        }
        let start = self.page.part.start();
        let end = start + count;
        let mut steps: Vec<WalkedNode> =
            self.steps.iter().take_while(|step| step.index < end).cloned().collect();
        let needed = on_page(&mut steps, |step| (step.index, &mut step.edges), start, end);
        steps.retain(|step| step.index >= start || needed.contains(&step.index));
        Self { steps, page: self.page.ended(count), no_path: self.no_path.clone(), ..*self }
    }

    /// The smallest size keeps one edge of the node with short texts. Texts grow first, because most nodes have few edges.
    fn sizes_of_first(&self) -> usize {
        self.longest() + self.edges().count().saturating_sub(1)
    }

    fn cut_first(&mut self, size: usize) -> bool {
        let kept = 1 + size.saturating_sub(self.longest());
        if kept < self.edges().count() {
            let start = self.page.part.start();
            let mut room = kept;
            for step in &mut self.steps {
                step.edges.truncate(room);
                room -= step.edges.len();
            }
            let needed =
                on_page(&mut self.steps, |step| (step.index, &mut step.edges), start, start + 1);
            self.steps.retain(|step| step.index >= start || needed.contains(&step.index));
            self.page.end_within(kept);
        } else if let Some(shown) = self.steps.last() {
            // The next page has the other nodes, and not the rest of this one.
            let place = shown.node.selector.clone();
            let message =
                message!("this item is cut; `mdsel select {path}` prints its text", place);
            self.page.cut_item(message);
        }
        self.steps.iter_mut().for_each(|step| step.node.shorten(size));
        if let Some(none) = &mut self.no_path {
            none.farthest.truncate(size - 1);
            none.reached_from.truncate(size - 1);
        }
        true
    }
}

/// Follows links from a node.
pub fn walk(session: &Session<'_>, request: &LinkWalkRequest) -> Result<LinkWalkAnswer> {
    let mut answer = LinkWalkAnswer {
        steps: Vec::new(),
        page: Page::beginning(request.after, session.reader.generation()),
        no_path: None,
        is_path: request.to.is_some(),
        max_hops: request.max_hops,
        direction: request.direction,
    };
    let mut ends = Vec::new();
    for address in std::iter::once(&request.from).chain(&request.to) {
        match resolve_one(session, address)? {
            Ok((place, warnings)) => {
                answer.page.warnings.extend(warnings);
                ends.push(place);
            }
            Err(fault) => answer.page.unresolved_selectors.push(fault),
        }
    }
    if !answer.page.unresolved_selectors.is_empty() {
        return Ok(answer);
    }
    let to = if request.to.is_some() { ends.pop() } else { None };
    let Some(root) = ends.pop() else { return Ok(answer) };
    let start = answer.page.part.start();
    let ends = EndFilter::new(session, &request.documents)?;
    let (filter, direction) = (request.filter.clone(), request.direction);
    let walk = match &to {
        Some(to) => {
            BreadthFirstWalk::between(session, filter, direction, root.clone(), to.clone())?
        }
        None => BreadthFirstWalk::new(session, filter, direction, vec![root.clone()]),
    };
    let mut walk = walk.within(ends.as_ref());
    // A path may lead through any node, so the limit does not apply to the search for it.
    let count = if to.is_some() { usize::MAX } else { most(request.max_nodes) };
    let (found, is_cut) = walk.run(request.max_hops, start.saturating_add(count))?;
    answer.page.warnings.extend(walk.graph.unknown_types());
    let is_found = found.is_some() || to.is_none() && walk.places.len() > 1;
    let mut visited = match (&to, found) {
        (None, _) => walk.places,
        (Some(to), None) => {
            answer.no_path = Some(no_path(session, request, &walk, &root, to)?);
            Vec::new()
        }
        (Some(_), Some(last)) => walk.path_to(last),
    };
    if let Some(ends) = ends {
        if let Some(to) = to.as_ref().filter(|_| !is_found)
            && !ends.takes(to)?
        {
            let message = format!("{} does not pass the filters", to.address());
            answer.page.warnings.push(no_document(&message));
        }
        ends.report(&mut answer.page, is_found)?;
    }
    if answer.no_path.is_some() {
        return Ok(answer);
    }
    let end = start.saturating_add(most(request.max_nodes)).min(visited.len());
    if is_cut || end < visited.len() {
        answer.page.end(end.saturating_sub(start));
    }
    visited.truncate(end);
    let mut numbered: Vec<(usize, Visited)> = visited.into_iter().enumerate().collect();
    let mut passed = answer.page.part.offset();
    for (index, visited) in &mut numbered {
        visited.edges.retain(|walked| {
            let is_passed = passed > 0 && walked.index.max(*index) == start;
            passed -= usize::from(is_passed);
            !is_passed
        });
    }
    let needed =
        on_page(&mut numbered, |(index, visited)| (*index, &mut visited.edges), start, end);
    for (index, Visited { place, hop, edges, .. }) in numbered {
        if index >= start || needed.contains(&index) {
            let node = LinkNode { hop: Some(hop), ..LinkNode::of(session, &place)? };
            answer.steps.push(WalkedNode { node, edges, index });
        }
    }
    Ok(answer)
}

/// Explains why there is no path: how far a walk from each end gets. `walk` is the one that looked for the path, which is
/// from `to` if links are followed backward.
fn no_path(
    session: &Session<'_>,
    request: &LinkWalkRequest,
    walk: &BreadthFirstWalk<'_>,
    from: &ResolvedNode,
    to: &ResolvedNode,
) -> Result<NoPath> {
    let (other_end, direction, most) = match request.direction {
        Direction::Out => (to, Direction::In, limits::MAX_NODES_BACKWARD),
        Direction::In => (from, Direction::In, usize::MAX),
        Direction::Both => (to, Direction::Both, limits::MAX_NODES_BACKWARD),
    };
    let mut other =
        BreadthFirstWalk::new(session, request.filter.clone(), direction, vec![other_end.clone()])
            .within(walk.ends);
    other.run(request.max_hops, most)?;
    let (forth, back) =
        if request.direction == Direction::In { (&other, walk) } else { (walk, &other) };
    Ok(NoPath {
        from: from.address(),
        to: to.address(),
        hops: forth.places.last().map_or(1, |last| last.hop + 1).min(request.max_hops),
        places: forth.places.len() - 1,
        farthest: forth.farthest(to),
        reached_from: back.farthest(from),
    })
}
