//! `links list`: the links of a place.

use serde::Serialize;

use super::graph::Graph;
use super::{Direction, Edge, EdgeFilter, Node};
use crate::address::Fault;
use crate::error::{Result, Warning};
use crate::query::cursor::{ListPart, most};
use crate::query::place::Place;
use crate::query::resolve::resolve_one;
use crate::query::{Cursor, Library, List, Outcome};

/// What to list.
#[derive(Clone, Debug)]
pub struct Request {
    /// The address of the place.
    pub address: String,
    /// Which of its links.
    pub direction: Direction,
    /// Which links are left out.
    pub filter: EdgeFilter,
    /// Places to give at most, the place itself among them; 0 for all.
    pub max_nodes: usize,
    /// Links to give at most; 0 for all.
    pub limit: usize,
    /// Where a former answer ended.
    pub after: Option<Cursor>,
}

/// The links of a place.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// The place, then what its links lead from and to, in the order of the links.
    pub nodes: Vec<Node>,
    /// The links.
    pub edges: Vec<Edge>,
    /// Why there is nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unresolved_selectors: Vec<Fault>,
    /// Remarks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// Whether links were left out.
    pub truncated: bool,
    /// The cursor of what was left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// How many nodes the first links need.
    #[serde(skip)]
    needs: Vec<usize>,
    #[serde(skip)]
    part: ListPart,
}

impl Answer {
    /// How the command ended.
    pub fn outcome(&self) -> Outcome {
        Outcome::of(!self.nodes.is_empty(), !self.unresolved_selectors.is_empty())
    }
}

impl List for Answer {
    fn count(&self) -> usize {
        self.edges.len()
    }

    fn least(&self) -> usize {
        usize::from(!self.edges.is_empty())
    }

    fn first(&self, count: usize) -> Self {
        let mut result = self.clone();
        if count < self.edges.len() {
            result.edges.truncate(count);
            let needed = count.checked_sub(1).and_then(|last| self.needs.get(last));
            result.nodes.truncate(needed.copied().unwrap_or(1));
            result.truncated = true;
            result.next = Some(self.part.next(count));
        }
        result
    }
}

/// Lists the links of a place.
pub fn list(library: &Library<'_>, request: &Request) -> Result<Answer> {
    let (part, mut warnings) = ListPart::beginning(request.after, library.snapshot.generation());
    let mut answer = Answer {
        nodes: Vec::new(),
        edges: Vec::new(),
        unresolved_selectors: Vec::new(),
        warnings: Vec::new(),
        truncated: false,
        next: None,
        needs: Vec::new(),
        part,
    };
    let place = match resolve_one(library, &request.address)? {
        Ok((place, remarks)) => {
            warnings.extend(remarks);
            place
        }
        Err(fault) => {
            answer.unresolved_selectors.push(fault);
            answer.warnings = warnings;
            return Ok(answer);
        }
    };
    answer.warnings = warnings;
    let mut edges = Graph::new(library, request.filter.clone()).edges(&place, request.direction)?;
    edges.drain(..part.start().min(edges.len()));
    let has_more = edges.len() > most(request.limit);
    edges.truncate(most(request.limit));
    answer.nodes.push(Node::of(library, &place)?);
    let mut known = std::collections::HashSet::from([place.address()]);
    for edge in &edges {
        for end in std::iter::once(&edge.from).chain(edge.target()) {
            if known.insert(Place::address(end)) {
                answer.nodes.push(Node::of(library, end)?);
            }
        }
        answer.needs.push(answer.nodes.len());
    }
    if has_more {
        answer.truncated = true;
        answer.next = Some(part.next(edges.len()));
    }
    answer.edges = edges;
    let fitting = answer.needs.partition_point(|&needed| needed <= most(request.max_nodes));
    Ok(answer.first(fitting))
}
