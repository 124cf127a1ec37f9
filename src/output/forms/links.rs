//! Formats the answers of the `links` commands.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::super::ldmd::LdmdRenderer;
use super::super::text_writer::{Style, TextWriter};
use super::super::{Answer, Footer, Format, Graph, Records, Rows};
use super::page::PageJson;
use super::value;
use crate::address::path_before_line;
use crate::count::counted;
use crate::links::Kind;
use crate::query::freshness::Freshness;
use crate::query::links::WalkedEdge;
use crate::query::links::list;
use crate::query::links::walk::{self, NoPath, WalkedNode};
use crate::query::links::{Edge, LinkNode, source_word};
use crate::query::resolved_node::ResolvedNode;
use crate::schema::json_as;

/// Returns the target of an edge as it is written, and why it leads to no place.
fn without_target(edge: &Edge) -> String {
    format!("{} ({})", edge.link.shown_target(), edge.to.problem())
}

/// Returns an edge on one line.
fn line(edge: &Edge) -> String {
    let to = edge.target().map_or_else(|| without_target(edge), ResolvedNode::address);
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
    let mut line = format!("{}:{}", path_before_line(file(edge)), edge.link.line);
    if !is_from_root {
        line += &title_of(&from);
    }
    let target = edge.target();
    let is_internal =
        target.is_some_and(|to| to.document.stored.id == edge.from.document.stored.id);
    match target.map(ResolvedNode::address) {
        Some(to) if to == root && !is_internal => {}
        Some(to) => line += &format!(" -> {to}{}", title_of(&to)),
        None => line += &format!(" -> {}", without_target(edge)),
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

pub(super) fn changed(node: &LinkNode) -> (&str, Freshness) {
    (&node.file, node.freshness)
}

fn described(node: &LinkNode) -> String {
    let summary = node.summary.as_ref().map(|summary| format!(": {summary}")).unwrap_or_default();
    format!("{}{summary} @ {}", node.title, node.selector)
}

fn rows<'a, E: serde::Serialize + 'a>(
    nodes: impl Iterator<Item = &'a LinkNode>,
    edges: impl Iterator<Item = &'a E>,
) -> impl Iterator<Item = Value> {
    let nodes = nodes.map(|node| json!({ "node": node }));
    nodes.chain(edges.map(|edge| json!({ "edge": edge }))).map(|row| value(&row))
}

/// Writes the nodes, then a section for the edges of each document.
fn write_graph<'a>(
    renderer: &mut LdmdRenderer<'_>,
    nodes: impl Iterator<Item = &'a LinkNode> + Clone,
    edges: impl Iterator<Item = (&'a Edge, String)>,
) -> io::Result<()> {
    renderer.sources(nodes.clone().map(|node| &*node.file));
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
    const NAME: &'static str = "links list";
    const FORMATS: &'static [Format] = &[Format::Records, Format::Mermaid, Format::Dot];

    fn rows(&self) -> Rows<'_> {
        Box::new(rows(self.nodes.iter(), self.edges.iter()))
    }

    fn footer(&self) -> Footer<'_> {
        Footer::of(&self.page).with(self.nodes.iter().map(changed))
    }

    fn text(&self, writer: &mut TextWriter) {
        if let [node] = self.nodes.as_slice()
            && self.edges.is_empty()
            && !self.page.truncated
            && !self.page.is_continued()
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
        let (root, links) = self.by_link();
        root.iter().try_for_each(|node| records.node(node))?;
        for (nodes, edge) in links {
            nodes.iter().try_for_each(|node| records.node(node))?;
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
    let NoPath { from, to, .. } = none;
    let (hops, places) = (counted(none.hops, "hop"), counted(none.places, "place"));
    let mut lines = vec![format!("No path from {from} to {to}: {hops} tried, {places} reached.")];
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
    const NAME: &'static str = "links tree";
    const FORMATS: &'static [Format] = &[Format::Records, Format::Mermaid, Format::Dot];

    fn rows(&self) -> Rows<'_> {
        Box::new(rows(self.steps.iter().map(|step| &step.node), self.edges()))
    }

    fn footer(&self) -> Footer<'_> {
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
            // Several links of one document lead to the same place.
            let mut lines: Vec<(String, usize)> = Vec::new();
            let mut numbers: HashMap<String, usize> = HashMap::new();
            for line in edges.iter().map(walked_line) {
                let number = *numbers.entry(line.clone()).or_insert(lines.len());
                match lines.get_mut(number) {
                    Some((_, count)) => *count += 1,
                    None => lines.push((line, 1)),
                }
            }
            for (line, count) in lines {
                let times = if count > 1 { format!(" x{count}") } else { String::new() };
                writer.line(Style::Plain, format_args!("{indent}  - {line}{times}"));
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
        if let Some(none) = &self.no_path {
            let lines = no_path(none);
            return renderer.key_findings(lines.len(), lines.into_iter());
        }
        let nodes = self.steps.iter().map(|step| &step.node);
        write_graph(renderer, nodes, self.edges().map(|walked| (&walked.edge, walked_line(walked))))
    }

    fn records(&self, records: &mut Records<'_>) -> io::Result<()> {
        let mode = if self.is_path { "link.path" } else { "link.tree" };
        let first = self.steps.first().map(|step| &step.node.selector);
        let root = first.or(self.no_path.as_ref().map(|none| &none.from));
        let fields = [
            ("root", root.cloned().unwrap_or_default()),
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

json_as!(Edge => EdgeJson<'_>);

/// The JSON of an edge.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Edge")]
struct EdgeJson<'a> {
    /// The address of the section that holds the link.
    from: String,
    /// Its type: `related`, `embeds`, `references`, or one of front matter.
    #[serde(rename = "type")]
    relation: &'a str,
    /// The address that it leads to; `null` if it leads to no place of the store.
    to: Option<String>,
    /// `typed` for a link of front matter, `inline` for one of the text.
    source: &'a str,
    /// How it is written: `markdown`, `image`, `wikilink`, `embed`, `ldmd` or `front_matter`.
    kind: &'a str,
    /// Where it leads, as written.
    target: Cow<'a, str>,
    /// The document that holds it.
    file: &'a str,
    /// Its line, 1-based.
    line: usize,
    /// Why it leads to no place of the store.
    #[serde(skip_serializing_if = "Option::is_none")]
    broken: Option<&'a str>,
    /// Whether the target has bytes that are not UTF-8, which are shown as U+FFFD.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    lossy: bool,
}

impl<'a> EdgeJson<'a> {
    /// Returns the JSON of `edge` with other ends.
    fn between(edge: &'a Edge, from: String, to: Option<String>) -> Self {
        let kind = &edge.link.kind;
        Self {
            from,
            relation: kind.relation(),
            to,
            source: source_word(kind),
            kind: kind_word(kind),
            target: edge.link.shown_target(),
            file: &edge.from.document.stored.path,
            line: edge.link.line,
            broken: edge.to.broken_word(),
            lossy: edge.from.document.stored.is_lossy_in(edge.link.target_texts()),
        }
    }
}

impl<'a> From<&'a Edge> for EdgeJson<'a> {
    fn from(edge: &'a Edge) -> Self {
        Self::between(edge, edge.from.address(), edge.target().map(ResolvedNode::address))
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

json_as!(WalkedEdge => WalkedJson<'_>);

/// The JSON of an edge that was walked.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "WalkedEdge")]
struct WalkedJson<'a> {
    #[serde(flatten)]
    edge: EdgeJson<'a>,
    /// The section that holds the link, if `from` is another place.
    #[serde(skip_serializing_if = "Option::is_none")]
    from_section: Option<String>,
    /// The section that the link leads to, if `to` is another place.
    #[serde(skip_serializing_if = "Option::is_none")]
    to_section: Option<String>,
}

impl<'a> From<&'a WalkedEdge> for WalkedJson<'a> {
    fn from(walked: &'a WalkedEdge) -> Self {
        let (edge, from, to) = (&walked.edge, walked.from(), walked.to());
        Self {
            from_section: Some(edge.from.address()).filter(|section| section != from),
            to_section: edge.target().map(ResolvedNode::address).filter(|section| section != to),
            edge: EdgeJson::between(edge, from.to_owned(), Some(to.to_owned())),
        }
    }
}

json_as!(walk::LinkWalkAnswer => WalkJson<'_>);

/// The JSON of a walk.
#[derive(JsonSchema, Serialize)]
struct WalkJson<'a> {
    /// The places, the root first.
    nodes: Vec<&'a LinkNode>,
    /// The links between them.
    edges: Vec<WalkedJson<'a>>,
    /// Why there is no path, if one was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    no_path: Option<&'a NoPath>,
    #[serde(flatten)]
    page: PageJson<'a>,
}

impl<'a> From<&'a walk::LinkWalkAnswer> for WalkJson<'a> {
    fn from(answer: &'a walk::LinkWalkAnswer) -> Self {
        Self {
            nodes: answer.steps.iter().map(|step| &step.node).collect(),
            edges: answer.edges().map(WalkedJson::from).collect(),
            no_path: answer.no_path.as_ref(),
            page: (&answer.page).into(),
        }
    }
}
