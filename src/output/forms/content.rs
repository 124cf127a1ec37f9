//! The forms of answers that hold content: `select` and `read`.

use std::io;

use serde_json::Value;

use super::super::ldmd::Report;
use super::super::painter::{Painter, Style, short_count};
use super::super::{Answer, Rest};
use super::value;
use crate::query::library::Freshness;
use crate::query::node::NodeAnswer;
use crate::query::{read, select};

/// A place of which only a page is given, and the address of the next one.
pub(super) fn cut(node: &NodeAnswer) -> Option<(&str, &str)> {
    Some((&node.selector, node.pagination.as_ref()?.next.as_ref()?))
}

/// A place's document, and whether its file is still the same.
pub(super) fn changed(node: &NodeAnswer) -> (&str, Freshness) {
    (&node.file, node.freshness)
}

impl NodeAnswer {
    fn heading_line(&self) -> String {
        let title = self.title.as_deref().map_or_else(String::new, |title| format!(" {title}"));
        let pages = self.pagination.as_ref().map_or_else(String::new, |pagination| {
            format!(", page {} (pages 0-{})", pagination.page, pagination.pages - 1)
        });
        let marks =
            [(self.freshness.is_stale, ", stale"), (self.freshness.is_missing, ", missing")]
                .into_iter()
                .filter_map(|(is_so, mark)| is_so.then_some(mark))
                .collect::<String>();
        format!(
            "{}{title} (lines {}-{}, {} words{pages}{marks})",
            self.selector,
            self.line_start,
            self.line_end,
            short_count(self.words)
        )
    }

    pub(super) fn paint(&self, painter: &mut Painter) {
        painter.line(Style::Heading, &self.heading_line());
        if let Some(content) = &self.content {
            painter.content(&content.shown());
        }
        if let Some(next) = self.pagination.as_ref().and_then(|pages| pages.next.as_ref()) {
            painter.line(Style::Faint, &format!("more: {next}"));
        }
    }
}

/// Places as a section each: what they are, and their content.
fn nodes(report: &mut Report<'_>, nodes: &[NodeAnswer]) -> io::Result<()> {
    report.summary(&[("results", nodes.len().to_string())])?;
    report.findings(nodes.len(), nodes.iter().map(NodeAnswer::heading_line))?;
    for node in nodes {
        let more = node.pagination.as_ref().and_then(|pages| pages.next.as_ref());
        let facts = std::iter::once(node.heading_line())
            .chain(node.children_available.iter().map(|child| {
                format!("{} {} ({} words)", child.selector, child.title, short_count(child.words))
            }))
            .chain(more.map(|more| format!("more: {more}")));
        let title = node.title.as_deref().unwrap_or(&node.selector);
        let content = node.content.as_ref().map(|content| content.shown()).unwrap_or_default();
        report.content(title, &node.file, facts, &content)?;
    }
    Ok(())
}

impl Answer for select::Answer {
    fn rows(&self) -> Vec<Value> {
        self.results.iter().map(value).collect()
    }

    fn raw(&self) -> Option<Vec<u8>> {
        let contents = self.results.iter().filter_map(|result| result.content.as_ref());
        Some(contents.flat_map(|content| content.shown().into_owned()).collect())
    }

    fn text(&self, painter: &mut Painter) {
        for (index, result) in self.results.iter().enumerate() {
            if index > 0 {
                painter.end();
            }
            result.paint(painter);
        }
    }

    fn rest(&self) -> Rest<'_> {
        Rest::of(&self.page)
            .with_cut(self.results.iter().filter_map(cut))
            .with(self.results.iter().map(changed))
    }

    fn name(&self) -> &'static str {
        "select"
    }

    fn report(&self, report: &mut Report<'_>) -> io::Result<()> {
        nodes(report, &self.results)
    }
}

impl Answer for read::Answer {
    fn rows(&self) -> Vec<Value> {
        self.node.iter().map(value).collect()
    }

    fn raw(&self) -> Option<Vec<u8>> {
        let content = self.node.as_ref().and_then(|node| node.content.as_ref());
        Some(content.map_or_else(Vec::new, |content| content.shown().into_owned()))
    }

    fn text(&self, painter: &mut Painter) {
        if let Some(node) = &self.node {
            node.paint(painter);
        }
    }

    fn rest(&self) -> Rest<'_> {
        let is_cut = self.node.as_ref().is_some_and(|node| node.truncated);
        Rest { is_truncated: is_cut || self.page.truncated, ..Rest::of(&self.page) }
            .with_cut(self.node.iter().filter_map(cut))
            .with(self.node.iter().map(changed))
    }

    fn name(&self) -> &'static str {
        "read"
    }

    fn report(&self, report: &mut Report<'_>) -> io::Result<()> {
        nodes(report, self.node.as_slice())
    }
}
