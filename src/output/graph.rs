//! Writes graphs in the languages of Mermaid and Graphviz.
//!
//! Invariant: labels are quoted, and characters that would end a quote are escaped.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

use super::sanitize;
use crate::query::links::Node;

/// Nodes and the edges between them.
#[derive(Debug, Default)]
pub struct Graph<'a> {
    /// The nodes, in the order of the answer.
    pub(super) nodes: Vec<&'a Node>,
    /// The edges: the address of each end, and the relation.
    pub(super) edges: Vec<(String, String, &'a str)>,
}

impl Graph<'_> {
    /// Returns the labels of the nodes, and each distinct edge with the indices of its nodes.
    fn numbered(&self) -> (Vec<&str>, Vec<(usize, usize, &str)>) {
        let labels = self.nodes.iter().map(|node| node.title.as_str()).collect();
        let numbers: HashMap<&str, usize> =
            self.nodes.iter().enumerate().map(|(at, node)| (node.selector.as_str(), at)).collect();
        let mut edges = Vec::new();
        let mut known = HashSet::new();
        for (from, to, relation) in &self.edges {
            let (Some(&from), Some(&to)) = (numbers.get(from.as_str()), numbers.get(to.as_str()))
            else {
                continue;
            };
            if known.insert((from, to, *relation)) {
                edges.push((from, to, *relation));
            }
        }
        (labels, edges)
    }

    /// Writes the graph as a Mermaid flowchart.
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

    /// Writes the graph in the DOT language of Graphviz.
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
