//! `links tree` and `links path`: what links lead to from a place, hop by hop.
//!
//! Invariant: places come in breadth-first order, the root first, those of a hop by the type of the
//! first edge to them and then by address; a hop is a hop, whatever its type. Both ends of every edge that
//! is given are places that are given; an edge is given on the page of the later of its ends.

use std::collections::HashSet;

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use super::breadth_first::{Visited, Walk};
use super::{Direction, Edge, EdgeFilter, Node};
use crate::address::Params;
use crate::error::Result;
use crate::query::cursor::{ListPart, most};
use crate::query::page::longest;
use crate::query::place::Place;
use crate::query::resolve::resolve_one;
use crate::query::{Cursor, Library, List, Outcome, Page};

/// Places that are looked at to find what leads to the end of a path.
const MOST_BACKWARD: usize = 2000;

/// How to walk.
#[derive(Clone, Debug)]
pub struct Request {
    /// The address of the place to begin at.
    pub from: String,
    /// The address of the place to reach; `None` for all that can be reached.
    pub to: Option<String>,
    /// Which links are followed.
    pub direction: Direction,
    /// Which links are left out.
    pub filter: EdgeFilter,
    /// Hops at most.
    pub max_hops: usize,
    /// Places to give at most, 0 for all.
    pub max_nodes: usize,
    /// Where a former answer ended.
    pub after: Option<Cursor>,
}

/// An edge between two places that are given.
#[derive(Clone, Debug)]
pub struct Walked {
    /// The edge.
    pub edge: Edge,
    /// The address of the place that it was walked from.
    pub(super) here: String,
    /// The address of the place that it was walked to.
    pub(super) there: String,
    /// The number of that place.
    pub(super) index: usize,
    /// Whether it was walked in its direction.
    pub(super) is_forward: bool,
}

impl Walked {
    /// The address of the place that it leads from: the one that holds the link.
    pub fn from(&self) -> &str {
        if self.is_forward { &self.here } else { &self.there }
    }

    /// The address of the place that it leads to, or that holds where it leads.
    pub fn to(&self) -> &str {
        if self.is_forward { &self.there } else { &self.here }
    }
}

impl Serialize for Walked {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.edge.fields(&mut map, self.from(), Some(self.to()))?;
        let from = self.edge.from.address();
        if from != self.from() {
            map.serialize_entry("from_section", &from)?;
        }
        if let Some(to) = self.edge.target().map(Place::address).filter(|to| to != self.to()) {
            map.serialize_entry("to_section", &to)?;
        }
        map.end()
    }
}

/// A place that was reached, and the edges that were found there.
#[derive(Clone, Debug)]
pub struct Step {
    /// The place.
    pub node: Node,
    /// The edges walked from it that no place before it had, to places that are given.
    pub edges: Vec<Walked>,
    /// Its number in the order of the walk.
    index: usize,
}

/// Why there is no path.
#[derive(Clone, Debug, Serialize)]
pub struct NoPath {
    /// The place to begin at.
    pub from: String,
    /// The place that was not reached.
    pub to: String,
    /// Hops that were tried.
    pub hops: usize,
    /// Places that were reached, the first not counted.
    pub places: usize,
    /// Places that are the most hops away from the first, some of them.
    pub farthest: Vec<String>,
    /// Places that lead to the last one and are the most hops away from it, some of them.
    pub reached_from: Vec<String>,
}

/// Where links lead.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The places, the root first; before those of the page, those of former pages that its edges need.
    pub steps: Vec<Step>,
    /// What is beside them.
    pub page: Page,
    /// Why there is no path, if one was asked for.
    pub no_path: Option<NoPath>,
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
    pub fn edges(&self) -> impl Iterator<Item = &Walked> {
        self.steps.iter().flat_map(|step| &step.edges)
    }
}

impl Serialize for Answer {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let nodes: Vec<&Node> = self.steps.iter().map(|step| &step.node).collect();
        map.serialize_entry("nodes", &nodes)?;
        map.serialize_entry("edges", &self.edges().collect::<Vec<_>>())?;
        if let Some(no_path) = &self.no_path {
            map.serialize_entry("no_path", no_path)?;
        }
        self.page.fields(&mut map)?;
        map.end()
    }
}

/// Of the edges of each place, those that belong on the page of the places from `start` up to, not including,
/// `end`; and which places before the page they need.
fn on_page<T>(
    places: &mut [T],
    edges: impl Fn(&mut T) -> (usize, &mut Vec<Walked>),
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

impl List for Answer {
    fn page_mut(&mut self) -> Option<&mut Page> {
        Some(&mut self.page)
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
        let mut steps: Vec<Step> =
            self.steps.iter().take_while(|step| step.index < end).cloned().collect();
        let needed = on_page(&mut steps, |step| (step.index, &mut step.edges), start, end);
        steps.retain(|step| step.index >= start || needed.contains(&step.index));
        Self { steps, page: self.page.ended(count), no_path: self.no_path.clone(), ..*self }
    }

    fn sizes_of_first(&self) -> usize {
        let ends = self
            .no_path
            .as_ref()
            .map_or(0, |none| none.farthest.len().max(none.reached_from.len()));
        longest(self.steps.iter().flat_map(|step| step.node.texts())).max(ends)
    }

    fn cut_first(&mut self, size: usize) -> bool {
        self.steps.iter_mut().for_each(|step| step.node.shorten(size));
        if let Some(none) = &mut self.no_path {
            none.farthest.truncate(size - 1);
            none.reached_from.truncate(size - 1);
        }
        true
    }
}

/// Walks along links.
pub fn walk(library: &Library<'_>, request: &Request) -> Result<Answer> {
    let mut answer = Answer {
        steps: Vec::new(),
        page: Page::new(ListPart::beginning(request.after, library.snapshot.generation())),
        no_path: None,
        is_path: request.to.is_some(),
        max_hops: request.max_hops,
        direction: request.direction,
    };
    let mut ends = Vec::new();
    for address in std::iter::once(&request.from).chain(&request.to) {
        match resolve_one(library, address)? {
            Ok((place, remarks)) => {
                answer.page.warnings.extend(remarks);
                ends.push(Place::new(place.document, place.target, Params::default()));
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
    let from = root.address();
    let mut walk = Walk::new(library, request.filter.clone(), request.direction, vec![root]);
    // The way to a place is found among all places.
    let count = if to.is_some() { usize::MAX } else { most(request.max_nodes) };
    let (found, is_cut) = walk.run(request.max_hops, start.saturating_add(count), to.as_ref())?;
    answer.page.warnings.extend(walk.graph.unknown_types());
    let mut visited = match (&to, found) {
        (None, _) => walk.places,
        (Some(to), None) => {
            answer.no_path = Some(no_path(library, request, &walk, from, to)?);
            return Ok(answer);
        }
        (Some(_), Some(last)) => walk.way_to(last),
    };
    let end = start.saturating_add(most(request.max_nodes)).min(visited.len());
    if is_cut || end < visited.len() {
        answer.page.end(end.saturating_sub(start));
    }
    visited.truncate(end);
    let mut numbered: Vec<(usize, Visited)> = visited.into_iter().enumerate().collect();
    let needed =
        on_page(&mut numbered, |(index, visited)| (*index, &mut visited.edges), start, end);
    for (index, Visited { place, hop, edges, .. }) in numbered {
        if index >= start || needed.contains(&index) {
            let node = Node { hop: Some(hop), ..Node::of(library, &place)? };
            answer.steps.push(Step { node, edges, index });
        }
    }
    Ok(answer)
}

/// How far a walk came that did not reach `to`, and what leads there.
fn no_path(
    library: &Library<'_>,
    request: &Request,
    walk: &Walk<'_>,
    from: String,
    to: &Place,
) -> Result<NoPath> {
    let direction = match request.direction {
        Direction::Out => Direction::In,
        Direction::In => Direction::Out,
        Direction::Both => Direction::Both,
    };
    let mut back = Walk::new(library, request.filter.clone(), direction, vec![to.clone()]);
    back.run(request.max_hops, MOST_BACKWARD, None)?;
    Ok(NoPath {
        from,
        to: to.address(),
        hops: request.max_hops,
        places: walk.places.len() - 1,
        farthest: walk.farthest(),
        reached_from: back.farthest(),
    })
}
