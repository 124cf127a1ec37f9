//! The forms of what the `links` commands answer.

use std::io;

use serde_json::{Value, json};

use super::super::ldmd::Report;
use super::super::painter::{Painter, Style};
use super::super::{Answer, Form, Graph, Records, Rest};
use super::value;
use crate::query::library::Freshness;
use crate::query::links::list;
use crate::query::links::walk::{self, Step};
use crate::query::links::{Edge, Node, source_word};
use crate::query::place::Place;

/// An edge on one line.
fn line(edge: &Edge) -> String {
    let kind = &edge.link.kind;
    let to = edge.target().map_or_else(|| format!("{} (broken)", edge.link.target), Place::address);
    format!("{} {} {to} {}", edge.from.address(), kind.relation(), source_word(kind))
}

/// How many edges records tell: those that lead somewhere, each once wherever it stands.
fn told_apart(edges: &[Edge]) -> usize {
    let told = edges.iter().filter_map(|edge| {
        let kind = &edge.link.kind;
        Some((edge.from.address(), kind.relation(), edge.target()?.address(), kind.is_typed()))
    });
    told.collect::<std::collections::HashSet<_>>().len()
}

fn changed(node: &Node) -> (&str, Freshness) {
    (&node.file, node.freshness)
}

fn described(node: &Node) -> String {
    let summary = node.summary.as_ref().map(|summary| format!(": {summary}")).unwrap_or_default();
    format!("{}{summary} @ {}", node.title, node.selector)
}

fn rows<'a>(
    nodes: impl Iterator<Item = &'a Node>,
    edges: impl Iterator<Item = &'a Edge>,
) -> Vec<Value> {
    let nodes = nodes.map(|node| json!({ "node": node }));
    nodes.chain(edges.map(|edge| json!({ "edge": edge }))).map(|row| value(&row)).collect()
}

/// The nodes, then a section for the edges of each document.
fn report_graph<'a>(
    report: &mut Report<'_>,
    nodes: impl Iterator<Item = &'a Node> + Clone,
    edges: &[&Edge],
) -> io::Result<()> {
    report.findings(nodes.clone().count(), nodes.map(described))?;
    let mut edges = edges.to_vec();
    edges.sort_by(|one, other| one.from.document.stored.path.cmp(&other.from.document.stored.path));
    for edges in edges.chunk_by(|a, b| a.from.document.stored.id == b.from.document.stored.id) {
        let file = edges.first().map_or("", |edge| &edge.from.document.stored.path);
        report.items(file, file, edges.iter().map(|edge| line(edge)))?;
    }
    Ok(())
}

impl Answer for list::Answer {
    fn rows(&self) -> Vec<Value> {
        rows(self.nodes.iter(), self.edges.iter())
    }

    fn rest(&self) -> Rest<'_> {
        let (faults, warnings) = (&self.unresolved_selectors, &self.warnings);
        Rest::new(faults, warnings, self.truncated, self.next.as_ref())
            .with(self.nodes.iter().map(changed))
    }

    fn text(&self, painter: &mut Painter) {
        for edge in &self.edges {
            painter
                .line(Style::Plain, &format!("{}:{}: {}", file(edge), edge.link.line, line(edge)));
        }
    }

    fn name(&self) -> &'static str {
        "links list"
    }

    fn report(&self, report: &mut Report<'_>) -> io::Result<()> {
        let facts = [("edges", self.edges.len().to_string())];
        report.summary(&facts)?;
        report_graph(report, self.nodes.iter(), &self.edges.iter().collect::<Vec<_>>())
    }

    fn records(&self, records: &mut Records<'_>) -> io::Result<Form> {
        let fields = [
            ("root", self.nodes.first().map(|node| node.selector.clone()).unwrap_or_default()),
            ("nodes", self.nodes.len().to_string()),
            ("edges", told_apart(&self.edges).to_string()),
        ];
        records.header("link.list", &fields)?;
        for node in &self.nodes {
            records.node(node)?;
        }
        for edge in &self.edges {
            records.edge(edge)?;
        }
        Ok(Form::Written)
    }

    fn graph(&self) -> Option<Graph<'_>> {
        Some(Graph { nodes: self.nodes.iter().collect(), edges: self.edges.iter().collect() })
    }
}

fn file(edge: &Edge) -> &str {
    &edge.from.document.stored.path
}

impl Answer for walk::Answer {
    fn rows(&self) -> Vec<Value> {
        rows(self.steps.iter().map(|step| &step.node), self.edges())
    }

    fn rest(&self) -> Rest<'_> {
        Rest::new(&self.unresolved_selectors, &self.warnings, self.truncated, None)
            .with(self.steps.iter().map(|step| changed(&step.node)))
    }

    fn text(&self, painter: &mut Painter) {
        for Step { node, edges } in &self.steps {
            let indent = "  ".repeat(node.hop.unwrap_or(0));
            painter
                .piece(Style::Heading, &format!("{indent}{}", node.title))
                .line(Style::Faint, &format!("  {}", node.selector));
            for walked in edges {
                painter.line(Style::Plain, &format!("{indent}  - {}", line(&walked.edge)));
            }
        }
    }

    fn name(&self) -> &'static str {
        if self.is_path { "links path" } else { "links tree" }
    }

    fn report(&self, report: &mut Report<'_>) -> io::Result<()> {
        let facts = [("nodes", self.steps.len().to_string()), ("cut", self.truncated.to_string())];
        report.summary(&facts)?;
        let nodes = self.steps.iter().map(|step| &step.node);
        report_graph(report, nodes, &self.edges().collect::<Vec<_>>())
    }

    fn records(&self, records: &mut Records<'_>) -> io::Result<Form> {
        let mode = if self.is_path { "link.path" } else { "link.tree" };
        let fields = [
            ("root", self.steps.first().map(|s| s.node.selector.clone()).unwrap_or_default()),
            ("direction", self.direction.word().to_owned()),
            ("max_hops", self.max_hops.to_string()),
            ("nodes", self.steps.len().to_string()),
        ];
        records.header(mode, &fields)?;
        for Step { node, edges } in &self.steps {
            records.node(node)?;
            for walked in edges {
                records.edge(&walked.edge)?;
            }
        }
        Ok(Form::Written)
    }

    fn graph(&self) -> Option<Graph<'_>> {
        let nodes = self.steps.iter().map(|step| &step.node).collect();
        Some(Graph { nodes, edges: self.edges().collect() })
    }
}
