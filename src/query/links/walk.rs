//! `links tree` and `links path`: what links lead to from a place, hop by hop.
//!
//! Invariant: places come in breadth-first order, the root first, those of a hop by the type of the
//! first edge to them and then by address; a hop is a hop, whatever its type.

use std::collections::{HashMap, HashSet};

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use super::graph::{EdgeKey, Graph};
use super::{Direction, Edge, EdgeFilter, Node, holds};
use crate::address::{Fault, Params};
use crate::error::{Result, Warning};
use crate::query::place::Place;
use crate::query::resolve::resolve_one;
use crate::query::{Library, List, Outcome};

/// How to walk.
#[derive(Clone, Debug)]
pub struct Request {
    /// The address of the place to begin at.
    pub from: String,
    /// The address of the place to come to; `None` for all that can be reached.
    pub to: Option<String>,
    /// Which links are followed.
    pub direction: Direction,
    /// Which links are left out.
    pub filter: EdgeFilter,
    /// Hops at most.
    pub max_hops: usize,
    /// Places to give at most, 0 for all.
    pub max_nodes: usize,
}

/// An edge, and the address of the place that it was walked to: where it leads, or, against its
/// direction, the document that it stands in.
#[derive(Clone, Debug)]
pub struct Walked {
    /// The edge.
    pub edge: Edge,
    to: String,
}

/// A place that was come to, and the edges that were found there.
#[derive(Clone, Debug)]
pub struct Step {
    /// The place.
    pub node: Node,
    /// The edges walked from it that no place before it had, to places that are given.
    pub edges: Vec<Walked>,
}

/// Where links lead.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The places, the root first.
    pub steps: Vec<Step>,
    /// Why there is nothing.
    pub unresolved_selectors: Vec<Fault>,
    /// Remarks.
    pub warnings: Vec<Warning>,
    /// Whether places that could be reached were left out for their number.
    pub truncated: bool,
    /// Whether a way to a place was asked for.
    pub is_path: bool,
    /// Hops at most.
    pub max_hops: usize,
    /// Which links were followed.
    pub direction: Direction,
}

impl Answer {
    /// How the command ended.
    pub fn outcome(&self) -> Outcome {
        if self.steps.is_empty() { Outcome::None } else { Outcome::All }
    }

    /// The edges, in the order of the places that they were walked from.
    pub fn edges(&self) -> impl Iterator<Item = &Edge> {
        self.steps.iter().flat_map(|step| &step.edges).map(|walked| &walked.edge)
    }
}

impl Serialize for Answer {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let nodes: Vec<&Node> = self.steps.iter().map(|step| &step.node).collect();
        map.serialize_entry("nodes", &nodes)?;
        map.serialize_entry("edges", &self.edges().collect::<Vec<_>>())?;
        if !self.unresolved_selectors.is_empty() {
            map.serialize_entry("unresolved_selectors", &self.unresolved_selectors)?;
        }
        if !self.warnings.is_empty() {
            map.serialize_entry("warnings", &self.warnings)?;
        }
        map.serialize_entry("truncated", &self.truncated)?;
        map.end()
    }
}

impl List for Answer {
    fn count(&self) -> usize {
        self.steps.len()
    }

    fn first(&self, count: usize) -> Self {
        let mut result = self.clone();
        if count < self.steps.len() {
            result.steps.truncate(count);
            result.truncated = true;
            let given: HashSet<String> =
                result.steps.iter().map(|step| step.node.selector.clone()).collect();
            for step in &mut result.steps {
                step.edges.retain(|walked| given.contains(&walked.to));
            }
        }
        result
    }
}

/// Walks.
pub fn walk(library: &Library<'_>, request: &Request) -> Result<Answer> {
    let mut answer = Answer {
        steps: Vec::new(),
        unresolved_selectors: Vec::new(),
        warnings: Vec::new(),
        truncated: false,
        is_path: request.to.is_some(),
        max_hops: request.max_hops,
        direction: request.direction,
    };
    let mut ends = Vec::new();
    for address in std::iter::once(&request.from).chain(&request.to) {
        match resolve_one(library, address)? {
            Ok((place, remarks)) => {
                answer.warnings.extend(remarks);
                ends.push(Place::new(place.document, place.target, Params::default()));
            }
            Err(fault) => answer.unresolved_selectors.push(fault),
        }
    }
    if !answer.unresolved_selectors.is_empty() {
        return Ok(answer);
    }
    let to = if request.to.is_some() { ends.pop() } else { None };
    let Some(root) = ends.pop() else { return Ok(answer) };
    let mut walk = Walk {
        graph: Graph::new(library, request.filter.clone()),
        direction: request.direction,
        seen: HashMap::from([(root.address(), 0)]),
        places: vec![Visited { place: root, hop: 0, edges: Vec::new(), came_by: None }],
        edges: HashSet::new(),
    };
    let most = if request.max_nodes == 0 { usize::MAX } else { request.max_nodes };
    let (found, is_cut) = walk.run(request.max_hops, most, to.as_ref())?;
    answer.truncated = is_cut;
    let visited = match (&to, found) {
        (None, _) => walk.places,
        (Some(_), None) => Vec::new(),
        (Some(_), Some(last)) => walk.way_to(last),
    };
    for Visited { place, hop, edges, .. } in visited {
        let node = Node { hop: Some(hop), ..Node::of(library, &place)? };
        answer.steps.push(Step { node, edges });
    }
    Ok(answer)
}

/// The places that are at most `max_hops` links away from `roots`, the roots left out, nearest first,
/// and how many links away each is.
pub fn reachable(
    library: &Library<'_>,
    roots: Vec<Place>,
    direction: Direction,
    filter: EdgeFilter,
    max_hops: usize,
) -> Result<Vec<(Place, usize)>> {
    let seen = roots.iter().enumerate().map(|(index, root)| (root.address(), index)).collect();
    let count = roots.len();
    let visited = |place| Visited { place, hop: 0, edges: Vec::new(), came_by: None };
    let mut walk = Walk {
        graph: Graph::new(library, filter),
        direction,
        seen,
        places: roots.into_iter().map(visited).collect(),
        edges: HashSet::new(),
    };
    walk.run(max_hops, usize::MAX, None)?;
    Ok(walk.places.into_iter().skip(count).map(|visited| (visited.place, visited.hop)).collect())
}

/// A place that was come to.
struct Visited {
    place: Place,
    hop: usize,
    /// The edges walked from it.
    edges: Vec<Walked>,
    /// The place before it on the shortest way, and the edge between.
    came_by: Option<(usize, Walked)>,
}

struct Walk<'a> {
    graph: Graph<'a>,
    direction: Direction,
    /// Addresses of places, and their indices.
    seen: HashMap<String, usize>,
    places: Vec<Visited>,
    /// What tells the edges apart that were walked.
    edges: HashSet<EdgeKey>,
}

impl Walk<'_> {
    /// Walks up to `max_hops` hops and `most` places, or to `to`. Tells the index of the place that is
    /// `to`, and whether places were left out.
    fn run(
        &mut self,
        max_hops: usize,
        most: usize,
        to: Option<&Place>,
    ) -> Result<(Option<usize>, bool)> {
        let is_there = |place: &Place| to.is_some_and(|to| holds(to, place));
        let mut is_cut = false;
        let mut layer = 0..self.places.len();
        for hop in 0..=max_hops {
            if let Some(found) = layer
                .clone()
                .find(|&index| self.places.get(index).is_some_and(|v| is_there(&v.place)))
            {
                return Ok((Some(found), is_cut));
            }
            if hop == max_hops || layer.is_empty() {
                break;
            }
            let mut reached = self.reach(layer.clone())?;
            let begin = self.places.len();
            is_cut |= reached.len() > most.saturating_sub(begin);
            reached.truncate(most.saturating_sub(begin));
            for (place, came_by) in reached {
                self.seen.insert(place.address(), self.places.len());
                let came_by = Some(came_by);
                self.places.push(Visited { place, hop: hop + 1, edges: Vec::new(), came_by });
            }
            layer = begin..self.places.len();
        }
        // Edges are told between places that are given.
        let seen = std::mem::take(&mut self.seen);
        for visited in &mut self.places {
            visited.edges.retain(|walked| seen.contains_key(&walked.to));
        }
        Ok((None, is_cut))
    }

    /// What the edges of the places in `layer` lead to that was not come to before, in order.
    fn reach(&mut self, layer: std::ops::Range<usize>) -> Result<Vec<(Place, (usize, Walked))>> {
        let mut found: HashMap<String, (String, Place, (usize, Walked))> = HashMap::new();
        for index in layer {
            let Some(place) = self.places.get(index).map(|visited| visited.place.clone()) else {
                continue;
            };
            let here = place.address();
            let mut walked = Vec::new();
            for (edge, is_forward) in self.edges_of(&place)? {
                let Some(target) = edge.target() else { continue };
                let next = if is_forward {
                    target.clone()
                } else {
                    Place::whole(std::rc::Rc::clone(&edge.from.document))
                };
                let to = next.address();
                let (is_new, key) = (to != here && !self.seen.contains_key(&to), edge.key());
                let relation = edge.link.kind.relation().to_owned();
                let step = Walked { edge, to };
                if is_new && found.get(&step.to).is_none_or(|(known, ..)| relation < *known) {
                    found.insert(step.to.clone(), (relation, next, (index, step.clone())));
                }
                if self.edges.insert(key) {
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

    /// The edges of a place in order, and whether they lead from it.
    fn edges_of(&self, place: &Place) -> Result<Vec<(Edge, bool)>> {
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

    /// The places on the way to the one at `last`, each with the edge to the next.
    fn way_to(mut self, last: usize) -> Vec<Visited> {
        let mut way: Vec<Visited> = Vec::new();
        let mut next = Some(last);
        let mut edge_out: Option<Walked> = None;
        while let Some(index) = next {
            self.places.truncate(index + 1);
            let Some(mut visited) = self.places.pop() else { break };
            visited.edges = edge_out.take().into_iter().collect();
            next = visited.came_by.take().map(|(before, edge)| {
                edge_out = Some(edge);
                before
            });
            way.push(visited);
        }
        way.reverse();
        way
    }
}
