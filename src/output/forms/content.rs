//! Formats `select` and `read`, whose answers have content.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::super::ldmd::LdmdRenderer;
use super::super::text_writer::{ShortCount, Style, TextWriter};
use super::super::{Answer, Footer, Format, Rows};
use super::page::{NoticesJson, PlaceJson, WholePageJson};
use super::value;
use crate::count::counted;
use crate::decoding;
use crate::query::freshness::Freshness;
use crate::query::node::{Content, Counts, NodeAnswer, Pagination};
use crate::query::{read, select};
use crate::schema::{json_as, schema_as};

/// Returns the address of a node and of its next page, if only a page of it is printed.
pub(super) fn cut(node: &NodeAnswer) -> Option<(&str, &str)> {
    Some((&node.selector, node.pagination.as_ref()?.next.as_ref()?))
}

/// Returns the file of a node, and whether the file differs from the stored one.
pub(super) fn changed(node: &NodeAnswer) -> (&str, Freshness) {
    (&node.file, node.freshness)
}

impl NodeAnswer {
    fn heading_line(&self, title: Option<&str>) -> String {
        let title = title.map_or_else(String::new, |title| format!(" {title}"));
        let pages = match &self.pagination {
            None => String::new(),
            Some(Pagination { words_left: Some(left), .. }) => {
                format!(", {} left", counted(ShortCount(*left), "word"))
            }
            Some(Pagination { page, pages, .. }) => {
                format!(", page {page} of pages 0-{}", pages - 1)
            }
        };
        // An empty place has no lines.
        let lines = if self.line_start <= self.line_end {
            format!("lines {}-{}, ", self.line_start, self.line_end)
        } else {
            String::new()
        };
        let words = counted(ShortCount(self.words), "word");
        format!("{}{title} ({lines}{words}{pages})", self.selector)
    }

    /// Writes the node below its title, and the address of its next page unless the last line of the text says it.
    pub(super) fn write_text(
        &self,
        title: Option<&str>,
        writer: &mut TextWriter,
        is_said_last: bool,
    ) {
        writer.line(Style::Heading, self.heading_line(title));
        if let Some(content) = &self.content {
            writer.content(&content.shown());
        }
        if let Some((_, next)) = cut(self).filter(|_| !is_said_last) {
            writer.line(Style::Faint, format_args!("more: {next}"));
        }
    }
}

/// Writes one section per node, with its properties and its content.
fn nodes(renderer: &mut LdmdRenderer<'_>, nodes: &[NodeAnswer]) -> io::Result<()> {
    let own_line = |node: &NodeAnswer| node.heading_line(node.title.as_deref());
    renderer.summary(&[("results", nodes.len().to_string())])?;
    renderer.key_findings(nodes.len(), nodes.iter().map(own_line))?;
    for node in nodes {
        let more = node.pagination.as_ref().and_then(|pages| pages.next.as_ref());
        let facts = std::iter::once(own_line(node))
            .chain(node.children_available.iter().map(|child| {
                let words = counted(ShortCount(child.words), "word");
                format!("{} {} ({words})", child.selector, child.title)
            }))
            .chain(more.map(|more| format!("more: {more}")));
        let title = node.title.as_deref().unwrap_or(&node.selector);
        let content = node.content.as_ref().map(|content| content.shown()).unwrap_or_default();
        renderer.content(title, &node.file, facts, &content, "markdown")?;
    }
    Ok(())
}

impl Answer for select::SelectAnswer {
    const NAME: &'static str = "select";
    const FORMATS: &'static [Format] = &[Format::Raw];

    fn rows(&self) -> Rows<'_> {
        Box::new(self.results.iter().map(value))
    }

    fn raw(&self) -> Vec<u8> {
        let contents = self.results.iter().filter_map(|result| result.content.as_ref());
        contents.flat_map(|content| content.shown().into_owned()).collect()
    }

    fn text(&self, writer: &mut TextWriter) {
        let is_said_last = self.footer().says_rest_last();
        for (index, result) in self.results.iter().enumerate() {
            if index > 0 {
                writer.end();
            }
            result.write_text(result.title.as_deref(), writer, is_said_last);
        }
    }

    fn footer(&self) -> Footer<'_> {
        Footer::of(&self.page)
            .with_cut(self.results.iter().filter_map(cut))
            .with(self.results.iter().map(changed))
    }

    fn ldmd(&self, renderer: &mut LdmdRenderer<'_>) -> io::Result<()> {
        nodes(renderer, &self.results)
    }
}

impl Answer for read::ReadAnswer {
    const NAME: &'static str = "read";
    const FORMATS: &'static [Format] = &[Format::Raw];

    fn rows(&self) -> Rows<'_> {
        Box::new(self.node.iter().map(value))
    }

    fn raw(&self) -> Vec<u8> {
        let content = self.node.as_ref().and_then(|node| node.content.as_ref());
        content.map_or_else(Vec::new, |content| content.shown().into_owned())
    }

    fn text(&self, writer: &mut TextWriter) {
        if let Some(node) = &self.node {
            node.write_text(node.title.as_deref(), writer, self.footer().says_rest_last());
        }
    }

    fn footer(&self) -> Footer<'_> {
        let is_cut = self.node.as_ref().is_some_and(|node| node.truncated);
        Footer { is_truncated: is_cut || self.page.truncated, ..Footer::of(&self.page) }
            .with_cut(self.node.iter().filter_map(cut))
            .with(self.node.iter().map(changed))
    }

    fn ldmd(&self, renderer: &mut LdmdRenderer<'_>) -> io::Result<()> {
        nodes(renderer, self.node.as_slice())
    }
}

json_as!(Content => Cow<'_, str>);

impl<'a> From<&'a Content> for Cow<'a, str> {
    fn from(content: &'a Content) -> Self {
        match content.shown() {
            Cow::Borrowed(bytes) => decoding::text(bytes),
            Cow::Owned(bytes) => decoding::text(&bytes).into_owned().into(),
        }
    }
}

impl Serialize for Counts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}

schema_as!(Counts => BTreeMap<String, usize>);

json_as!(read::ReadAnswer => PlaceJson<'_, NodeAnswer, NoticesJson<'_>>);

impl<'a> From<&'a read::ReadAnswer> for PlaceJson<'a, NodeAnswer, NoticesJson<'a>> {
    fn from(answer: &'a read::ReadAnswer) -> Self {
        Self::new(answer.node.as_ref(), &answer.page)
    }
}

json_as!(select::SelectAnswer => SelectJson<'_>);

/// The selected nodes.
#[derive(JsonSchema, Serialize)]
struct SelectJson<'a> {
    /// The nodes in the order of the addresses; for one address, in document order.
    results: &'a [NodeAnswer],
    /// The nodes that the longest resolving prefix of each unresolved address names, without content.
    partial_results: &'a [NodeAnswer],
    #[serde(flatten)]
    page: WholePageJson<'a>,
}

impl<'a> From<&'a select::SelectAnswer> for SelectJson<'a> {
    fn from(answer: &'a select::SelectAnswer) -> Self {
        let (results, partial_results) = (&*answer.results, &*answer.partial_results);
        Self { results, partial_results, page: (&answer.page).into() }
    }
}
