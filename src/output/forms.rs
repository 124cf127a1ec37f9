//! Each answer in the formats that are not one JSON value: rows, bytes, text for people.
//!
//! Invariant: every form of an answer says whatever its JSON says of faults, warnings and what was
//! left out; bytes alone say it in remarks.

use serde_json::{Value, json};

use super::painter::{Painter, Style, short_count};
use super::{Answer, json as strict};
use crate::address::Fault;
use crate::error::Warning;
use crate::ingest::{ChangeKind, Report};
use crate::query::node::NodeAnswer;
use crate::query::search::{self, Hit, Items};
use crate::query::{List, find, index, neighbors, read, select, toc};

/// The rows behind the items: faults, warnings, and how to go on.
pub(super) fn closing_rows(
    faults: &[Fault],
    warnings: &[Warning],
    next: Option<&String>,
) -> Vec<Value> {
    let faults = faults.iter().map(|fault| json!({ "unresolved": fault }));
    let warnings = warnings.iter().map(|warning| json!({ "warning": warning }));
    let next = next.map(|next| json!({ "truncated": true, "next": next }));
    faults.chain(warnings).chain(next).collect()
}

/// The same as lines, for who gets bytes alone.
fn closing_lines(faults: &[Fault], warnings: &[Warning], next: Option<&String>) -> Vec<String> {
    let faults = faults
        .iter()
        .map(|fault| format!("{}: {}: {}", fault.selector, fault.code.code(), fault.message));
    let warnings = warnings.iter().map(|warning| format!("warning: {}", warning.message));
    let next = next.map(|next| format!("more: --after {next}"));
    faults.chain(warnings).chain(next).collect()
}

/// How to go on with a place of which only a page is given.
fn more_of(node: &NodeAnswer) -> Option<String> {
    let next = node.pagination.as_ref()?.next.as_ref()?;
    Some(format!("{} is cut: more: {next}", node.selector))
}

pub(super) fn value(item: &impl serde::Serialize) -> Value {
    serde_json::to_value(item).unwrap_or_default()
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
}

impl Answer for index::Answer {
    fn rows(&self) -> Vec<Value> {
        let mut rows: Vec<Value> = self.documents.iter().map(value).collect();
        rows.extend(closing_rows(&self.unresolved_selectors, &self.warnings, self.next.as_ref()));
        rows
    }

    fn text(&self, painter: &mut Painter) {
        for document in &self.documents {
            let size =
                format!(" ({} lines, {} words)", document.lines, short_count(document.words));
            painter.piece(Style::Heading, &document.namespace).line(Style::Plain, &size);
            if document.root.words > 0 {
                let words = format!("  root  {} words", short_count(document.root.words));
                painter.line(Style::Plain, &words);
            }
            let width = document.headings.iter().map(|h| locator(&h.selector).len()).max();
            for heading in &document.headings {
                let indent = "  ".repeat(usize::from(heading.level));
                let locator = format!("{:<1$}", locator(&heading.selector), width.unwrap_or(0));
                painter
                    .piece(Style::Faint, &format!("  {locator}"))
                    .piece(Style::Plain, &format!("{indent}{}", heading.text))
                    .line(Style::Faint, &format!("  {} words", short_count(heading.words)));
            }
            for block in document.block_list.iter().flatten() {
                painter
                    .piece(Style::Faint, &format!("  {}  ", locator(&block.selector)))
                    .line(Style::Plain, &block.preview);
            }
        }
        painter.remarks(&self.warnings, &self.unresolved_selectors, self.next.as_ref());
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
}

impl Answer for toc::Answer {
    fn rows(&self) -> Vec<Value> {
        let sections = self.files.iter().flat_map(|file| {
            let whole = json!({ "file": file.file, "frontmatter": file.front_matter });
            let entries = file.entries.iter().map(|entry| {
                let mut row = json!({ "file": file.file });
                if let (Some(row), Value::Object(section)) =
                    (row.as_object_mut(), value(&entry.section))
                {
                    row.extend(section);
                }
                row
            });
            std::iter::once(whole).chain(entries)
        });
        let closing = closing_rows(&self.unresolved_selectors, &self.warnings, self.next.as_ref());
        sections.chain(closing).collect()
    }

    fn text(&self, painter: &mut Painter) {
        for file in &self.files {
            if !self.is_single {
                painter.line(Style::Heading, &file.file);
            }
            if let Some(front_matter) = &file.front_matter {
                let size = size(front_matter.char_count);
                let lines =
                    format!("({}-{}, {size})", front_matter.line_start, front_matter.line_end);
                painter.line(Style::Plain, &format!("[frontmatter] {lines}"));
            }
            for entry in &file.entries {
                let section = &entry.section;
                let marks = "#".repeat(usize::from(section.level));
                let indent = "  ".repeat(entry.depth);
                let lines = format!("{}-{}", section.line_start, section.line_end);
                painter
                    .piece(Style::Plain, &format!("{indent}{marks} {}", section.title))
                    .line(Style::Faint, &format!(" ({lines}, {})", size(section.char_count)));
            }
        }
        painter.remarks(&self.warnings, &self.unresolved_selectors, self.next.as_ref());
    }
}

/// Characters as the paper writes them: `400B`, `1.2K`.
fn size(chars: usize) -> String {
    let mut text = short_count(chars);
    if text.ends_with(|c: char| c.is_ascii_digit()) {
        text.push('B');
    }
    text
}

impl Answer for find::Answer {
    fn rows(&self) -> Vec<Value> {
        let rows = self.matches.iter().map(value);
        rows.chain(closing_rows(&[], &self.warnings, self.next.as_ref())).collect()
    }

    fn text(&self, painter: &mut Painter) {
        for found in &self.matches {
            let marks = "#".repeat(usize::from(found.level));
            painter
                .piece(
                    Style::Plain,
                    &format!("{}:{}-{}: ", found.file, found.line_start, found.line_end),
                )
                .piece(Style::Heading, &format!("{marks} {}", found.title))
                .line(Style::Faint, &format!("  {}", locator(&found.selector)));
        }
        painter.remarks(&self.warnings, &[], self.next.as_ref());
    }
}

impl Answer for search::Answer {
    fn rows(&self) -> Vec<Value> {
        let mut rows: Vec<Value> = match &self.items {
            Items::Hits(hits) => hits.iter().map(value).collect(),
            Items::Counts(counts) => counts.iter().map(value).collect(),
            Items::Files(files) => files.iter().map(|file| json!({ "file": file })).collect(),
        };
        rows.extend(
            self.explanation.iter().map(|explanation| json!({ "explanation": explanation })),
        );
        rows.extend(self.total.iter().map(|total| json!({ "total": total })));
        if self.truncated && self.next.is_none() {
            rows.push(json!({ "truncated": true }));
        }
        rows.extend(closing_rows(&self.unresolved_selectors, &self.warnings, self.next.as_ref()));
        rows
    }

    fn text(&self, painter: &mut Painter) {
        match &self.items {
            Items::Hits(hits) => {
                let has_context =
                    hits.iter().any(|hit| !hit.before.is_empty() || !hit.after.is_empty());
                for (index, hit) in hits.iter().enumerate() {
                    if has_context && index > 0 {
                        painter.line(Style::Faint, "--");
                    }
                    hit.paint(painter);
                }
            }
            Items::Counts(counts) => {
                for count in counts {
                    painter.line(Style::Plain, &format!("{}:{}", count.file, count.count));
                }
            }
            Items::Files(files) => files.iter().for_each(|file| painter.line(Style::Plain, file)),
        }
        if let Some(explanation) = &self.explanation {
            let text = format!(
                "{}: {} of {} documents, {} trigrams",
                explanation.method,
                explanation.candidates,
                explanation.documents,
                explanation.trigrams
            );
            painter.line(Style::Faint, &text);
        }
        if self.truncated && self.next.is_none() {
            painter.line(Style::Faint, "truncated");
        }
        painter.remarks(&self.warnings, &self.unresolved_selectors, self.next.as_ref());
    }
}

impl Hit {
    /// The hit as `file:line:column:text`, its surroundings as `file-line-text`.
    fn paint(&self, painter: &mut Painter) {
        let context = |first: usize, lines: &[String], painter: &mut Painter| {
            for (number, line) in (first..).zip(lines) {
                painter
                    .piece(Style::Faint, &format!("{}-{number}-", self.file))
                    .line(Style::Plain, line);
            }
        };
        context(self.line - self.before.len(), &self.before, painter);
        let text = self.text.replace("\r\n", "\n");
        let mut lines = text.split(['\n', '\r']);
        let place = format!("{}:{}:{}:", self.file, self.line, self.column);
        let first = lines.next().unwrap_or_default();
        painter
            .piece(Style::Faint, &place)
            .line(Style::Plain, first.trim_end_matches(['\r', '\n']));
        for (number, line) in (self.line + 1..).zip(lines) {
            painter
                .piece(Style::Faint, &format!("{}:{number}:", self.file))
                .line(Style::Plain, line.trim_end_matches(['\r', '\n']));
        }
        context(self.line_end.unwrap_or(self.line) + 1, &self.after, painter);
    }
}

impl Answer for neighbors::Answer {
    fn rows(&self) -> Vec<Value> {
        let mut rows: Vec<Value> = self.around.iter().map(value).collect();
        rows.extend(closing_rows(&self.unresolved_selectors, &self.warnings, None));
        rows
    }

    fn text(&self, painter: &mut Painter) {
        if let Some(around) = &self.around {
            painter.line(Style::Heading, &around.selector);
            let single = [
                ("prev", &around.prev),
                ("next", &around.next),
                ("parent", &around.parent),
                ("prev_in_order", &around.prev_in_order),
                ("next_in_order", &around.next_in_order),
            ];
            let children = around.children.iter().map(|child| ("child", child));
            let all = single.into_iter().filter_map(|(name, at)| at.as_ref().map(|at| (name, at)));
            for (name, neighbor) in all.chain(children) {
                painter
                    .piece(Style::Faint, &format!("{name:<13}  "))
                    .piece(Style::Plain, &neighbor.selector)
                    .line(
                        Style::Plain,
                        &neighbor.title.iter().map(|t| format!("  {t}")).collect::<String>(),
                    );
            }
        }
        let next = self.around.as_ref().and_then(|around| around.next_children.as_ref());
        painter.remarks(&self.warnings, &self.unresolved_selectors, next);
    }
}

/// What stands behind the namespace of an address.
fn locator(address: &str) -> &str {
    address.split_once("::").map_or(address, |(_, locator)| locator)
}

/// Changes, then skipped files, then warnings; the counts stand whatever is left out.
impl List for Report {
    fn count(&self) -> usize {
        self.changes.as_ref().map_or(0, Vec::len) + self.skipped.len() + self.warnings.len()
    }

    fn least(&self) -> usize {
        0
    }

    fn first(&self, count: usize) -> Self {
        let mut result = self.clone();
        let mut left = count;
        if let Some(changes) = &mut result.changes {
            changes.truncate(left);
            left -= changes.len();
        }
        result.skipped.truncate(left);
        left -= result.skipped.len();
        result.warnings.truncate(left);
        result.truncated |= count < self.count();
        result
    }
}

impl Answer for Report {
    fn rows(&self) -> Vec<Value> {
        let changes = self.changes.iter().flatten().map(value);
        let skipped = self.skipped.iter().map(|skipped| json!({ "skipped": skipped }));
        let warnings = self.warnings.iter().map(|warning| json!({ "warning": warning }));
        let summary = json!({
            "added": self.added, "changed": self.changed, "removed": self.removed,
            "unchanged": self.unchanged, "generation": self.generation
        });
        changes.chain(skipped).chain(warnings).chain([summary]).collect()
    }

    fn text(&self, painter: &mut Painter) {
        for change in self.changes.iter().flatten() {
            let sign = match change.change {
                ChangeKind::Added => '+',
                ChangeKind::Changed => '~',
                ChangeKind::Removed => '-',
            };
            painter.line(Style::Plain, &format!("{sign} {}", change.file));
        }
        for skipped in &self.skipped {
            painter.line(Style::Warning, &format!("skipped {}: {}", skipped.file, skipped.reason));
        }
        painter.remarks(&self.warnings, &[], None);
        let summary = format!(
            "{} added, {} changed, {} removed, {} unchanged, {} skipped; generation {}",
            self.added,
            self.changed,
            self.removed,
            self.unchanged,
            self.skipped.len(),
            self.generation
        );
        painter.line(Style::Plain, &summary);
    }
}

impl Answer for Value {
    fn rows(&self) -> Vec<Value> {
        vec![self.clone()]
    }

    fn text(&self, painter: &mut Painter) {
        let fields: Vec<(&String, &Value)> = self.as_object().into_iter().flatten().collect();
        let width = fields.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        for (name, value) in fields {
            let shown = match value {
                Value::String(text) => text.clone(),
                other => strict::compact(other),
            };
            painter.line(Style::Plain, &format!("{name:<width$}  {shown}"));
        }
    }
}
