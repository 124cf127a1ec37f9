//! Graphs as other programs draw them.
//!
//! Invariant: labels are quoted and hold nothing that ends a quote, whatever a title holds.

use std::collections::HashMap;
use std::io::{self, Write};

use super::sanitize;
use crate::query::links::{Edge, Node};

/// Nodes and the edges between them.
#[derive(Debug)]
pub struct Graph<'a> {
    /// The nodes.
    pub(super) nodes: Vec<&'a Node>,
    /// The edges.
    pub(super) edges: Vec<&'a Edge>,
}

impl Graph<'_> {
    /// The number of the node that each end of each edge is drawn at: of a place that is no node that
    /// of its document, or one of its own behind the nodes.
    fn numbered(&self) -> (Vec<String>, Vec<(usize, usize, &str)>) {
        let mut labels: Vec<String> = self.nodes.iter().map(|node| node.title.clone()).collect();
        let mut numbers: HashMap<String, usize> = HashMap::new();
        for (number, node) in self.nodes.iter().enumerate() {
            numbers.insert(node.selector.clone(), number);
        }
        let mut edges = Vec::new();
        for edge in &self.edges {
            let Some(to) = edge.target() else { continue };
            let mut number = |place: &crate::query::place::Place| {
                let (address, whole) = (place.address(), place.document.address("*"));
                if let Some(&known) = numbers.get(&address).or_else(|| numbers.get(&whole)) {
                    return known;
                }
                labels.push(address.clone());
                numbers.insert(address, labels.len() - 1);
                labels.len() - 1
            };
            let drawn = (number(&edge.from), number(to), edge.link.kind.relation());
            if !edges.contains(&drawn) {
                edges.push(drawn);
            }
        }
        (labels, edges)
    }

    /// As Mermaid draws it (flowchart syntax).
    pub(super) fn mermaid(&self, out: &mut dyn Write) -> io::Result<()> {
        let label = |text: &str| {
            let text = sanitize::line(text).replace('&', "&amp;").replace('"', "&quot;");
            text.replace('<', "&lt;").replace('>', "&gt;").replace('`', "&#96;")
        };
        let (labels, edges) = self.numbered();
        writeln!(out, "flowchart LR")?;
        for (number, text) in labels.iter().enumerate() {
            writeln!(out, "  n{number}[\"{}\"]", label(text))?;
        }
        for (from, to, relation) in edges {
            writeln!(out, "  n{from} -->|\"{}\"| n{to}", label(relation))?;
        }
        Ok(())
    }

    /// As Graphviz draws it (DOT language).
    pub(super) fn dot(&self, out: &mut dyn Write) -> io::Result<()> {
        let label = |text: &str| sanitize::line(text).replace('\\', "\\\\").replace('"', "\\\"");
        let (labels, edges) = self.numbered();
        writeln!(out, "digraph links {{")?;
        for (number, text) in labels.iter().enumerate() {
            writeln!(out, "  n{number} [label=\"{}\"];", label(text))?;
        }
        for (from, to, relation) in edges {
            writeln!(out, "  n{from} -> n{to} [label=\"{}\"];", label(relation))?;
        }
        writeln!(out, "}}")
    }
}
