//! The forms of answers that hold content: `select` and `read`.

use std::io;

use serde_json::Value;

use super::super::Answer;
use super::super::ldmd::Report;
use super::super::painter::{Painter, Style, short_count};
use super::{closing_lines, closing_rows, value};
use crate::address::Fault;
use crate::error::Warning;
use crate::query::node::NodeAnswer;
use crate::query::{read, select};

/// How to go on with a place of which only a page is given.
fn more_of(node: &NodeAnswer) -> Option<String> {
    let next = node.pagination.as_ref()?.next.as_ref()?;
    Some(format!("{} is cut: more: {next}", node.selector))
}

impl NodeAnswer {
    fn heading_line(&self) -> String {
        let title = self.title.as_deref().map_or_else(String::new, |title| format!(" {title}"));
        let pages = self.pagination.as_ref().map_or_else(String::new, |pagination| {
            format!(", page {} of 0-{}", pagination.page, pagination.pages - 1)
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
fn nodes(
    report: &mut Report<'_>,
    nodes: &[NodeAnswer],
    warnings: &[Warning],
    faults: &[Fault],
    next: Option<&String>,
) -> io::Result<()> {
    report.summary(&[("results", nodes.len().to_string())], warnings, faults, next)?;
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
        let mut rows: Vec<Value> = self.results.iter().map(value).collect();
        rows.extend(closing_rows(&self.unresolved_selectors, &self.warnings, self.next.as_ref()));
        rows
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
        painter.remarks(&self.warnings, &self.unresolved_selectors, self.next.as_ref());
    }

    fn remarks(&self) -> Vec<String> {
        let cut = self.results.iter().filter(|node| node.truncated).filter_map(more_of);
        let closing = closing_lines(&self.unresolved_selectors, &self.warnings, self.next.as_ref());
        cut.chain(closing).collect()
    }

    fn name(&self) -> &'static str {
        "select"
    }

    fn report(&self, report: &mut Report<'_>) -> io::Result<()> {
        nodes(report, &self.results, &self.warnings, &self.unresolved_selectors, self.next.as_ref())
    }
}

impl Answer for read::Answer {
    fn rows(&self) -> Vec<Value> {
        let mut rows: Vec<Value> = self.node.iter().map(value).collect();
        rows.extend(closing_rows(&self.unresolved_selectors, &self.warnings, None));
        rows
    }

    fn raw(&self) -> Option<Vec<u8>> {
        let content = self.node.as_ref().and_then(|node| node.content.as_ref());
        Some(content.map_or_else(Vec::new, |content| content.shown().into_owned()))
    }

    fn text(&self, painter: &mut Painter) {
        if let Some(node) = &self.node {
            node.paint(painter);
        }
        painter.remarks(&self.warnings, &self.unresolved_selectors, None);
    }

    fn remarks(&self) -> Vec<String> {
        let cut = self.node.iter().filter(|node| node.truncated).filter_map(more_of);
        let closing = closing_lines(&self.unresolved_selectors, &self.warnings, None);
        cut.chain(closing).collect()
    }

    fn name(&self) -> &'static str {
        "read"
    }

    fn report(&self, report: &mut Report<'_>) -> io::Result<()> {
        nodes(report, self.node.as_slice(), &self.warnings, &self.unresolved_selectors, None)
    }
}
