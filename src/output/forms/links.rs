//! Formats the answers of the `links` commands.

use std::collections::HashMap;
use std::io;

use schemars::JsonSchema;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::super::ldmd::LdmdRenderer;
use super::super::text_writer::{Style, TextWriter};
use super::super::{Answer, Footer, Format, Graph, Records};
use super::value;
use crate::links::Kind;
use crate::query::Page;
use crate::query::library::Freshness;
use crate::query::links::list;
use crate::query::links::walk::{self, NoPath, WalkedEdge, WalkedNode};
use crate::query::links::{Edge, LinkNode, source_word};
use crate::query::place::ResolvedNode;
use crate::schema::schema_as;

/// Returns an edge on one line.
fn line(edge: &Edge) -> String {
    let to = edge
        .target()
        .map_or_else(|| format!("{} (broken)", edge.link.target), ResolvedNode::address);
    line_between(edge, &edge.from.address(), &to)
}

/// Returns an edge on one line, with `from` and `to` as its ends.
fn line_between(edge: &Edge, from: &str, to: &str) -> String {
    let kind = &edge.link.kind;
    format!("{from} {} {to} {}", kind.relation(), source_word(kind))
}

fn walked_line(walked: &WalkedEdge) -> String {
    line_between(&walked.edge, walked.from(), walked.to())
}

/// Returns an edge of the node `root` on one line: the place of the link, which is an address, the title above it,
/// and the target. It leaves out the end that is `root`, the relation that most links have, and the titles of
/// documents, which have names.
fn line_around(edge: &Edge, root: &str, titles: &HashMap<&str, &str>) -> String {
    let title_of = |address: &str| match titles.get(address) {
        Some(title) if !title.is_empty() && !address.ends_with("::*") => format!("  {title}"),
        _ => String::new(),
    };
    let from = edge.from.address();
    let is_from_root = from == root;
    let mut line = format!("{}:{}", file(edge), edge.link.line);
    if !is_from_root {
        line += &title_of(&from);
    }
    match edge.target().map(ResolvedNode::address) {
        Some(to) if to == root && !is_from_root => {}
        Some(to) => line += &format!(" -> {to}{}", title_of(&to)),
        None => line += &format!(" -> {} (broken)", edge.link.target),
    }
    let kind = &edge.link.kind;
    match kind.relation() {
        relation if kind.is_typed() => line += &format!(" ({relation}, typed)"),
        "related" => {}
        relation => line += &format!(" ({relation})"),
    }
    line
}

/// Returns the number of edges in the `records` format: links with a target, without duplicates.
fn distinct_edges(edges: &[Edge]) -> usize {
    let distinct = edges.iter().filter_map(|edge| {
        let kind = &edge.link.kind;
        Some((edge.from.address(), kind.relation(), edge.target()?.address(), kind.is_typed()))
    });
    distinct.collect::<std::collections::HashSet<_>>().len()
}

fn changed(node: &LinkNode) -> (&str, Freshness) {
    (&node.file, node.freshness)
}

fn described(node: &LinkNode) -> String {
    let summary = node.summary.as_ref().map(|summary| format!(": {summary}")).unwrap_or_default();
    format!("{}{summary} @ {}", node.title, node.selector)
}

fn rows<'a, E: serde::Serialize + 'a>(
    nodes: impl Iterator<Item = &'a LinkNode>,
    edges: impl Iterator<Item = &'a E>,
) -> Vec<Value> {
    let nodes = nodes.map(|node| json!({ "node": node }));
    nodes.chain(edges.map(|edge| json!({ "edge": edge }))).map(|row| value(&row)).collect()
}

/// Writes the nodes, then a section for the edges of each document.
fn write_graph<'a>(
    renderer: &mut LdmdRenderer<'_>,
    nodes: impl Iterator<Item = &'a LinkNode> + Clone,
    edges: impl Iterator<Item = (&'a Edge, String)>,
) -> io::Result<()> {
    renderer.key_findings(nodes.clone().count(), nodes.map(described))?;
    let mut edges: Vec<(&str, String)> = edges.map(|(edge, line)| (file(edge), line)).collect();
    edges.sort_by_key(|(file, _)| *file);
    for edges in edges.chunk_by(|(one, _), (other, _)| one == other) {
        let file = edges.first().map_or("", |(file, _)| file);
        renderer.items(file, file, edges.iter().map(|(_, line)| line.clone()))?;
    }
    Ok(())
}

impl Answer for list::LinkListAnswer {
    const FORMATS: &'static [Format] = &[Format::Records, Format::Mermaid, Format::Dot];

    fn rows(&self) -> Vec<Value> {
        rows(self.nodes.iter(), self.edges.iter())
    }

    fn rest(&self) -> Footer<'_> {
        Footer::of(&self.page).with(self.nodes.iter().map(changed))
    }

    fn text(&self, writer: &mut TextWriter) {
        if let [node] = self.nodes.as_slice()
            && self.edges.is_empty()
            && !self.page.truncated
        {
            let whole = node.selector.split("::").next().map(|name| format!("{name}::*"));
            let other = whole.filter(|whole| *whole != node.selector);
            let other = other.map(|whole| format!(" Try {whole}.")).unwrap_or_default();
            writer.plain(format_args!("No links of {}.{other}", node.selector));
        }
        let titles: HashMap<&str, &str> =
            self.nodes.iter().map(|node| (node.selector.as_str(), node.title.as_str())).collect();
        let root = self.nodes.first().map_or("", |node| node.selector.as_str());
        for edge in &self.edges {
            writer.line(Style::Plain, line_around(edge, root, &titles));
        }
    }

    fn name(&self) -> &'static str {
        "links list"
    }

    fn ldmd(&self, renderer: &mut LdmdRenderer<'_>) -> io::Result<()> {
        let facts = [("edges", self.edges.len().to_string())];
        renderer.summary(&facts)?;
        write_graph(renderer, self.nodes.iter(), self.edges.iter().map(|edge| (edge, line(edge))))
    }

    fn records(&self, records: &mut Records<'_>) -> io::Result<()> {
        let fields = [
            ("root", self.nodes.first().map(|node| node.selector.clone()).unwrap_or_default()),
            ("nodes", self.nodes.len().to_string()),
            ("edges", distinct_edges(&self.edges).to_string()),
        ];
        records.header("link.list", &fields)?;
        for node in &self.nodes {
            records.node(node)?;
        }
        for edge in &self.edges {
            records.edge(edge)?;
        }
        Ok(())
    }

    fn graph(&self) -> Graph<'_> {
        let edges = self.edges.iter().filter_map(|edge| {
            Some((edge.from.address(), edge.target()?.address(), edge.link.kind.relation()))
        });
        Graph { nodes: self.nodes.iter().collect(), edges: edges.collect() }
    }
}

/// Explains why there is no path, in one or more lines.
fn no_path(none: &NoPath) -> Vec<String> {
    let NoPath { from, to, hops, places, .. } = none;
    let mut lines =
        vec![format!("No path from {from} to {to}: {hops} hops tried, {places} places reached.")];
    for (what, ends) in [
        ("Farthest from the first", &none.farthest),
        ("The last is reached from", &none.reached_from),
    ] {
        if !ends.is_empty() {
            lines.push(format!("{what}: {}", ends.join(" ")));
        }
    }
    lines
}

fn file(edge: &Edge) -> &str {
    &edge.from.document.stored.path
}

impl Answer for walk::LinkWalkAnswer {
    const FORMATS: &'static [Format] = &[Format::Records, Format::Mermaid, Format::Dot];

    fn rows(&self) -> Vec<Value> {
        rows(self.steps.iter().map(|step| &step.node), self.edges())
    }

    fn rest(&self) -> Footer<'_> {
        Footer::of(&self.page).with(self.steps.iter().map(|step| changed(&step.node)))
    }

    fn text(&self, writer: &mut TextWriter) {
        for line in self.no_path.iter().flat_map(no_path) {
            writer.line(Style::Plain, &line);
        }
        for WalkedNode { node, edges, .. } in &self.steps {
            let indent = "  ".repeat(node.hop.unwrap_or(0));
            writer
                .piece(Style::Heading, format_args!("{indent}{}", node.title))
                .line(Style::Faint, format_args!("  {}", node.selector));
            for walked in edges {
                writer.line(Style::Plain, format_args!("{indent}  - {}", walked_line(walked)));
            }
        }
    }

    fn name(&self) -> &'static str {
        if self.is_path { "links path" } else { "links tree" }
    }

    fn ldmd(&self, renderer: &mut LdmdRenderer<'_>) -> io::Result<()> {
        let facts =
            [("nodes", self.steps.len().to_string()), ("cut", self.page.truncated.to_string())];
        renderer.summary(&facts)?;
        let nodes = self.steps.iter().map(|step| &step.node);
        write_graph(
            renderer,
            nodes,
            self.edges().map(|walked| (&walked.edge, walked_line(walked))),
        )?;
        let lines: Vec<String> = self.no_path.iter().flat_map(no_path).collect();
        renderer.key_findings(lines.len(), lines.into_iter())
    }

    fn records(&self, records: &mut Records<'_>) -> io::Result<()> {
        let mode = if self.is_path { "link.path" } else { "link.tree" };
        let fields = [
            ("root", self.steps.first().map(|s| s.node.selector.clone()).unwrap_or_default()),
            ("direction", self.direction.word().to_owned()),
            ("max_hops", self.max_hops.to_string()),
            ("nodes", self.steps.len().to_string()),
        ];
        records.header(mode, &fields)?;
        for line in self.no_path.iter().flat_map(no_path) {
            records.detail(&line)?;
        }
        for WalkedNode { node, edges, .. } in &self.steps {
            records.node(node)?;
            for walked in edges {
                let kind = &walked.edge.link.kind;
                records.link(walked.from(), kind.relation(), walked.to(), kind.is_typed())?;
            }
        }
        Ok(())
    }

    fn graph(&self) -> Graph<'_> {
        let nodes = self.steps.iter().map(|step| &step.node).collect();
        let edges = self.edges().map(|walked| {
            let relation = walked.edge.link.kind.relation();
            (walked.from().to_owned(), walked.to().to_owned(), relation)
        });
        Graph { nodes, edges: edges.collect() }
    }
}

/// The JSON of an edge.
#[expect(dead_code, reason = "only its schema is used")]
#[derive(JsonSchema)]
struct EdgeShape {
    /// The address of the section that holds the link.
    from: String,
    /// Its type: `related`, `embeds`, `references`, or one of front matter.
    #[schemars(rename = "type")]
    relation: String,
    /// The address that it leads to; `null` if it leads to no place of the store.
    to: Option<String>,
    /// `typed` for a link of front matter, `inline` for one of the text.
    source: String,
    /// How it is written: `markdown`, `image`, `wikilink`, `embed`, `ldmd` or `front_matter`.
    kind: String,
    /// Where it leads, as written.
    target: String,
    /// The document that holds it.
    file: String,
    /// Its line, 1-based.
    line: usize,
    /// Why it leads to no place of the store.
    #[schemars(skip_serializing_if = "Option::is_none")]
    broken: Option<String>,
}

schema_as!(Edge => EdgeShape);

impl Serialize for Edge {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let to = self.target().map(ResolvedNode::address);
        self.fields(&mut map, &self.from.address(), to.as_deref())?;
        map.end()
    }
}

impl Edge {
    /// Serializes the edge into `map`, with `from` and `to` as its ends.
    fn fields<M: SerializeMap>(
        &self,
        map: &mut M,
        from: &str,
        to: Option<&str>,
    ) -> Result<(), M::Error> {
        map.serialize_entry("from", from)?;
        map.serialize_entry("type", self.link.kind.relation())?;
        map.serialize_entry("to", &to)?;
        map.serialize_entry("source", source_word(&self.link.kind))?;
        map.serialize_entry("kind", kind_word(&self.link.kind))?;
        map.serialize_entry("target", &self.link.target)?;
        map.serialize_entry("file", &self.from.document.stored.path)?;
        map.serialize_entry("line", &self.link.line)?;
        if let Some(word) = self.to.broken_word() {
            map.serialize_entry("broken", word)?;
        }
        Ok(())
    }
}

fn kind_word(kind: &Kind) -> &'static str {
    match kind {
        Kind::Markdown => "markdown",
        Kind::Image => "image",
        Kind::Wikilink => "wikilink",
        Kind::Embed => "embed",
        Kind::Ldmd(_) => "ldmd",
        Kind::Typed(_) => "front_matter",
    }
}

/// The JSON of an edge that was walked.
#[expect(dead_code, reason = "only its schema is used")]
#[derive(JsonSchema)]
struct WalkedShape {
    #[schemars(flatten)]
    edge: EdgeShape,
    /// The section that holds the link, if `from` is another place.
    #[schemars(skip_serializing_if = "Option::is_none")]
    from_section: Option<String>,
    /// The section that the link leads to, if `to` is another place.
    #[schemars(skip_serializing_if = "Option::is_none")]
    to_section: Option<String>,
}

/// The JSON of a walk.
#[expect(dead_code, reason = "only its schema is used")]
#[derive(JsonSchema)]
struct WalkShape {
    /// The places, the root first.
    nodes: Vec<LinkNode>,
    /// The links between them.
    edges: Vec<WalkedShape>,
    /// Why there is no path, if one was asked for.
    #[schemars(skip_serializing_if = "Option::is_none")]
    no_path: Option<NoPath>,
    #[schemars(flatten)]
    page: Page,
}

schema_as!(walk::LinkWalkAnswer => WalkShape);

impl Serialize for WalkedEdge {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.edge.fields(&mut map, self.from(), Some(self.to()))?;
        let from = self.edge.from.address();
        if from != self.from() {
            map.serialize_entry("from_section", &from)?;
        }
        if let Some(to) = self.edge.target().map(ResolvedNode::address).filter(|to| to != self.to())
        {
            map.serialize_entry("to_section", &to)?;
        }
        map.end()
    }
}

impl Serialize for walk::LinkWalkAnswer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let nodes: Vec<&LinkNode> = self.steps.iter().map(|step| &step.node).collect();
        map.serialize_entry("nodes", &nodes)?;
        map.serialize_entry("edges", &self.edges().collect::<Vec<_>>())?;
        if let Some(no_path) = &self.no_path {
            map.serialize_entry("no_path", no_path)?;
        }
        self.page.fields(&mut map)?;
        map.end()
    }
}
