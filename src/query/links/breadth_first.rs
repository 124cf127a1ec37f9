//! Follows links from nodes in breadth-first order.
//!
//! Invariant: nodes of one hop are sorted by the type of the first edge to them, then by address. An edge
//! is kept once, at the first node that has it, and only if both of its ends were reached.
//!
//! A walk goes on from the target of a link, and backward from the document that contains the link. A walk to a node is
//! stricter, so that there is a path exactly if there is one the other way: over links backward it is the path from the
//! other end, reversed; in both directions it goes on from whole documents.

use std::collections::{HashMap, HashSet};

use super::graph::{EdgeKey, Graph};
use super::{Direction, Edge, EdgeFilter, EndFilter, contains, is_within, lines_of};
use crate::error::Result;
use crate::limits;
use crate::position::LineSpan;
use crate::query::Session;
use crate::query::resolved_node::ResolvedNode;

/// An edge between two nodes of a walk.
#[derive(Clone, Debug)]
pub struct WalkedEdge {
    /// The edge itself.
    pub edge: Edge,
    /// The address of the node that it was followed from.
    pub(super) here: String,
    /// The address of the node that it was followed to.
    pub(super) there: String,
    /// The position of that node in the order of the walk.
    pub(super) index: usize,
    /// Whether it was followed in the direction of the link.
    pub(super) is_forward: bool,
}

impl WalkedEdge {
    /// Returns the address of the node that contains the link.
    pub fn from(&self) -> &str {
        if self.is_forward { &self.here } else { &self.there }
    }

    /// Returns the address of the node that is or contains the target.
    pub fn to(&self) -> &str {
        if self.is_forward { &self.there } else { &self.here }
    }
}

/// Returns the first `most` of the nodes that are at most `max_hops` links away from `roots`, nearest first, each with its
/// distance, in either direction and without what `ends` excludes. The roots are not included. Follows no links of
/// nodes after which there is no room.
pub(in crate::query) fn reachable<'a>(
    session: &'a Session<'a>,
    roots: Vec<ResolvedNode>,
    ends: Option<&'a EndFilter<'a>>,
    max_hops: usize,
    most: usize,
) -> Result<Vec<(ResolvedNode, usize)>> {
    let count = roots.len();
    let most = count.saturating_add(most);
    let walk = BreadthFirstWalk::new(session, EdgeFilter::default(), Direction::Both, roots);
    let mut walk = walk.within(ends);
    let mut layer = 0..count;
    for hop in 0..max_hops {
        if layer.is_empty() || walk.places.len() >= most {
            break;
        }
        (layer, _) = walk.advance(layer, hop, most)?;
    }
    Ok(walk.places.into_iter().skip(count).map(|visited| (visited.place, visited.hop)).collect())
}

/// A node that was reached.
pub(super) struct Visited {
    pub(super) place: ResolvedNode,
    pub(super) hop: usize,
    /// The edges followed from it.
    pub(super) edges: Vec<WalkedEdge>,
    /// The node before it on the shortest path, and the edge between them.
    came_by: Option<(usize, WalkedEdge)>,
}

/// A walk that is being executed.
pub(super) struct BreadthFirstWalk<'a> {
    pub(super) graph: Graph<'a>,
    /// The filter for all nodes but the roots.
    pub(super) ends: Option<&'a EndFilter<'a>>,
    direction: Direction,
    /// The indices of the nodes, by address.
    seen: HashMap<String, usize>,
    pub(super) places: Vec<Visited>,
    /// The keys of the edges that were followed.
    edges: HashSet<EdgeKey>,
    /// The node to reach, which may be a part of one that was reached.
    to: Option<ResolvedNode>,
    /// The lines of the node to reach; see [`lines_of`].
    lines: Option<LineSpan>,
    /// Whether the path is wanted from `to` to the root.
    is_reversed: bool,
}

impl<'a> BreadthFirstWalk<'a> {
    pub(super) fn new(
        session: &'a Session<'a>,
        filter: EdgeFilter,
        direction: Direction,
        roots: Vec<ResolvedNode>,
    ) -> Self {
        let seen = roots.iter().enumerate().map(|(index, root)| (root.address(), index)).collect();
        let visited = |place| Visited { place, hop: 0, edges: Vec::new(), came_by: None };
        let places = roots.into_iter().map(visited).collect();
        let graph = Graph::new(session, filter);
        Self {
            graph,
            ends: None,
            direction,
            seen,
            places,
            edges: HashSet::new(),
            to: None,
            lines: None,
            is_reversed: false,
        }
    }

    /// Returns the walk that finds the path between two nodes.
    pub(super) fn between(
        session: &'a Session<'a>,
        filter: EdgeFilter,
        direction: Direction,
        from: ResolvedNode,
        to: ResolvedNode,
    ) -> Result<Self> {
        let is_reversed = direction == Direction::In;
        let (root, to, direction) =
            if is_reversed { (to, from, Direction::Out) } else { (from, to, direction) };
        let lines = lines_of(session, &to)?;
        let walk = Self::new(session, filter, direction, vec![root]);
        Ok(Self { to: Some(to), lines, is_reversed, ..walk })
    }

    /// Returns the walk that neither shows nor goes through nodes that `ends` excludes.
    pub(super) fn within(self, ends: Option<&'a EndFilter<'a>>) -> Self {
        Self { ends, ..self }
    }

    /// Returns the addresses of some of the nodes that are the most hops away, without those in `end`, to which no path
    /// leads. Returns none if only the roots were reached.
    pub(super) fn farthest(&self, end: &ResolvedNode) -> Vec<String> {
        let reached = self.places.iter().filter(|v| v.hop > 0 && !contains(end, &v.place));
        let hops = reached.clone().next_back().map(|last| last.hop);
        let far = reached.filter(|visited| Some(visited.hop) == hops);
        far.take(limits::MAX_ENDS_SHOWN).map(|visited| visited.place.address()).collect()
    }

    /// Returns whether a node is, or is in, the node to reach.
    fn is_there(&self, place: &ResolvedNode) -> bool {
        let is_it = |to: &ResolvedNode| to.key() == place.key() || is_within(to, self.lines, place);
        self.to.as_ref().is_some_and(is_it)
    }

    /// Returns the end of `edge` that is in the node to reach. For lines, it is the node to reach itself if the link is
    /// in them.
    fn end_there(&self, edge: &Edge, is_forward: bool) -> Option<ResolvedNode> {
        let end = if is_forward { edge.target()? } else { &edge.from };
        match (&self.to, self.lines) {
            (Some(to), Some(lines)) if !is_forward => {
                let is_in = to.document.stored.id == end.document.stored.id
                    && lines.contains(edge.link.line);
                is_in.then(|| to.clone())
            }
            _ => self.is_there(end).then(|| end.clone()),
        }
    }

    /// Walks at most `max_hops` hops and `most` nodes, or until the node to reach is reached. Returns its index, if it was
    /// reached, and whether nodes were left out.
    pub(super) fn run(&mut self, max_hops: usize, most: usize) -> Result<(Option<usize>, bool)> {
        let mut is_cut = false;
        let mut layer = 0..self.places.len();
        for hop in 0..=max_hops {
            if let Some(found) = layer
                .clone()
                .find(|&index| self.places.get(index).is_some_and(|v| self.is_there(&v.place)))
            {
                return Ok((Some(found), is_cut));
            }
            if hop == max_hops || layer.is_empty() {
                break;
            }
            let (next, is_next_cut) = self.advance(layer, hop, most)?;
            is_cut |= is_next_cut;
            layer = next;
        }
        // Both ways, a place leads to the parts of it, as these are in it.
        if self.direction == Direction::Both
            && let (Some(to), Some(root)) = (&self.to, self.places.first())
            && contains(&root.place, to)
        {
            return Ok((Some(0), is_cut));
        }
        // Drop the edges to nodes that were not reached.
        for visited in &mut self.places {
            visited.edges.retain_mut(|walked| {
                let index = self.seen.get(&walked.there);
                walked.index = index.copied().unwrap_or_default();
                index.is_some()
            });
        }
        Ok((None, is_cut))
    }

    /// Adds the new nodes to which the edges of the nodes in `layer` lead, which are `hop` hops away, up to `most` nodes in
    /// all. Returns the layer of these, and whether nodes were left out.
    fn advance(
        &mut self,
        layer: std::ops::Range<usize>,
        hop: usize,
        most: usize,
    ) -> Result<(std::ops::Range<usize>, bool)> {
        let mut reached = self.reach(layer)?;
        let begin = self.places.len();
        let room = most.saturating_sub(begin);
        let is_cut = reached.len() > room;
        reached.truncate(room);
        for (place, came_by) in reached {
            self.seen.insert(place.address(), self.places.len());
            let came_by = Some(came_by);
            self.places.push(Visited { place, hop: hop + 1, edges: Vec::new(), came_by });
        }
        Ok((begin..self.places.len(), is_cut))
    }

    /// Follows the edges of the nodes in `layer`. Returns the new nodes, sorted, each with the edge to
    /// it.
    fn reach(
        &mut self,
        layer: std::ops::Range<usize>,
    ) -> Result<Vec<(ResolvedNode, (usize, WalkedEdge))>> {
        let mut found: HashMap<String, (String, ResolvedNode, (usize, WalkedEdge))> =
            HashMap::new();
        let keeps_targets = self.to.is_none() || self.direction != Direction::Both;
        for index in layer {
            let Some(place) = self.places.get(index).map(|visited| visited.place.clone()) else {
                continue;
            };
            let here = place.address();
            let mut walked = Vec::new();
            for (edge, is_forward) in self.edges_of(&place)? {
                let Some(target) = edge.target() else { continue };
                let end = if is_forward { target } else { &edge.from };
                let next = match self.end_there(&edge, is_forward) {
                    Some(there) => there,
                    None if is_forward && keeps_targets => end.clone(),
                    None => ResolvedNode::whole(std::rc::Rc::clone(&end.document)),
                };
                let to = next.address();
                let end = if self.is_reversed { &edge.from } else { end };
                if !self.seen.contains_key(&to)
                    && !self.ends.map_or(Ok(true), |ends| ends.takes(end))?
                {
                    continue;
                }
                // The other end of an edge that was followed before is in a node already. Only a path may end in that part.
                let is_first = self.edges.insert(edge.key());
                let is_new =
                    to != here && !self.seen.contains_key(&to) && (is_first || self.to.is_some());
                let relation = edge.link.kind.relation().to_owned();
                let step = WalkedEdge { edge, here: here.clone(), there: to, index: 0, is_forward };
                if is_new && found.get(&step.there).is_none_or(|(known, ..)| relation < *known) {
                    found.insert(step.there.clone(), (relation, next, (index, step.clone())));
                }
                if is_first {
                    walked.push(step);
                }
            }
            if let Some(visited) = self.places.get_mut(index) {
                visited.edges = walked;
            }
        }
        let mut found: Vec<_> = found.into_iter().collect();
        found.sort_by(|(one, (a, ..)), (other, (b, ..))| (a, one).cmp(&(b, other)));
        Ok(found.into_iter().map(|(_, (_, place, came_by))| (place, came_by)).collect())
    }

    /// Returns the edges of a node, sorted, and whether each leads from the node.
    fn edges_of(&self, place: &ResolvedNode) -> Result<Vec<(Edge, bool)>> {
        let mut edges: Vec<(Edge, bool)> = Vec::new();
        for (direction, is_forward) in [(Direction::Out, true), (Direction::In, false)] {
            if self.direction == direction || self.direction == Direction::Both {
                let found = self.graph.edges(place, direction)?;
                edges.extend(found.into_iter().map(|edge| (edge, is_forward)));
            }
        }
        edges.sort_by_cached_key(|(edge, _)| edge.key());
        Ok(edges)
    }

    /// Returns the nodes on the path to the node at `last`, each with the edge to the next.
    pub(super) fn path_to(mut self, last: usize) -> Vec<Visited> {
        let mut path: Vec<Visited> = Vec::new();
        let mut next = Some(last);
        let mut edge_out: Option<WalkedEdge> = None;
        while let Some(index) = next {
            self.places.truncate(index + 1);
            let Some(mut visited) = self.places.pop() else { break };
            visited.edges = edge_out.take().into_iter().collect();
            next = visited.came_by.take().map(|(before, edge)| {
                edge_out = Some(edge);
                before
            });
            path.push(visited);
        }
        if self.is_reversed {
            let edges = path.iter_mut().skip(1).map(|visited| std::mem::take(&mut visited.edges));
            let edges: Vec<_> = edges.collect();
            path.iter_mut().zip(edges).for_each(|(visited, edges)| visited.edges = edges);
            path.iter_mut().zip(self.to.take()).for_each(|(visited, from)| visited.place = from);
        } else {
            path.reverse();
        }
        let mut entered: Option<ResolvedNode> = None;
        for (hop, visited) in path.iter_mut().enumerate() {
            visited.hop = hop;
            let Some(step) = visited.edges.first_mut() else { continue };
            step.is_forward ^= self.is_reversed;
            let (source, target) = (Some(step.edge.from.clone()), step.edge.target().cloned());
            let (left, end) = if step.is_forward { (source, target) } else { (target, source) };
            // Of a document between two links, the smallest node that is at both is enough.
            if let (Some(entered), Some(left)) = (entered, left) {
                if contains(&entered, &left) {
                    visited.place = entered;
                } else if contains(&left, &entered) {
                    visited.place = left;
                }
            }
            entered = end;
        }
        let addresses: Vec<String> = path.iter().map(|visited| visited.place.address()).collect();
        for ((index, visited), ends) in path.iter_mut().enumerate().zip(addresses.windows(2)) {
            if let (Some(step), [here, there]) = (visited.edges.first_mut(), ends) {
                step.index = index + 1;
                (step.here, step.there) = (here.clone(), there.clone());
            }
        }
        path
    }
}
