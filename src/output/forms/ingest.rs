//! Formats the answers of `ingest`, `status`, and the checks.

use std::collections::HashSet;
use std::io;

use serde::Serialize;
use serde_json::{Value, json};

use super::super::text_writer::{Style, TextWriter};
use super::super::{Answer, Footer, Rows, json as strict, ldmd};
use super::{row_without, value};
use crate::address::path_before_line;
use crate::ingest::{ChangeKind, IngestReport};
use crate::message::Message;
use crate::query::List;
use crate::query::finding::{Finding, Findings, RepeatedFinding};

/// The items are changes, then skipped files, then warnings. Cutting the list does not change the
/// counts.
impl List for IngestReport {
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

impl Answer for IngestReport {
    const NAME: &'static str = "ingest";

    fn rows(&self) -> Rows<'_> {
        let changes = self.changes.iter().flatten().map(value);
        let skipped = self.skipped.iter().map(|skipped| json!({ "skipped": skipped }));
        let summary = row_without(self, &["changes", "skipped", "warnings", "truncated"]);
        Box::new(changes.chain(skipped).chain([summary]))
    }

    fn footer(&self) -> Footer<'_> {
        Footer::new(&[], &self.warnings, self.truncated)
    }

    fn text(&self, writer: &mut TextWriter) {
        for change in self.changes.iter().flatten() {
            writer.line(Style::Plain, format_args!("{} {}", sign(change.change), change.file));
        }
        for skipped in &self.skipped {
            writer
                .line(Style::Warning, format_args!("skipped {}: {}", skipped.file, skipped.reason));
        }
        let summary = format!(
            "{} added, {} changed, {} removed, {} unchanged, {} skipped; generation {}",
            self.added,
            self.changed,
            self.removed,
            self.unchanged,
            self.skipped.len(),
            self.generation
        );
        writer.line(Style::Plain, &summary);
        if self.attachments > 0 {
            writer.line(Style::Plain, format_args!("{} attachments written", self.attachments));
        }
    }

    fn ldmd(&self, renderer: &mut ldmd::LdmdRenderer<'_>) -> io::Result<()> {
        let facts = [
            ("added", self.added),
            ("changed", self.changed),
            ("removed", self.removed),
            ("unchanged", self.unchanged),
            ("skipped", self.skipped.len()),
        ];
        let mut facts: Vec<(&str, String)> =
            facts.into_iter().map(|(name, count)| (name, count.to_string())).collect();
        facts.push(("generation", self.generation.to_string()));
        if self.attachments > 0 {
            facts.push(("attachments", self.attachments.to_string()));
        }
        renderer.summary(&facts)?;
        let changes = self.changes.iter().flatten();
        let changes = changes.map(|change| format!("{} {}", sign(change.change), change.file));
        let skipped = self.skipped.iter();
        let skipped =
            skipped.map(|skipped| format!("skipped {}: {}", skipped.file, skipped.reason));
        let count = self.changes.as_ref().map_or(0, Vec::len) + self.skipped.len();
        renderer.key_findings(count, changes.chain(skipped))
    }
}

fn sign(change: ChangeKind) -> char {
    match change {
        ChangeKind::Added => '+',
        ChangeKind::Changed => '~',
        ChangeKind::Removed => '-',
    }
}

/// An answer that consists of named values: a JSON object.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct NamedValues(Value);

impl NamedValues {
    /// Returns the fields of `object`.
    pub fn of(object: &impl Serialize) -> Self {
        Self(value(object))
    }
}

impl Answer for NamedValues {
    const NAME: &'static str = "status";

    fn rows(&self) -> Rows<'_> {
        Box::new(std::iter::once(self.0.clone()))
    }

    fn footer(&self) -> Footer<'_> {
        Footer::new(&[], &[], false)
    }

    fn text(&self, writer: &mut TextWriter) {
        let facts = facts(&self.0);
        let width = facts.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        for (name, shown) in facts {
            writer.line(Style::Plain, format_args!("{name:<width$}  {shown}"));
        }
    }

    fn ldmd(&self, renderer: &mut ldmd::LdmdRenderer<'_>) -> io::Result<()> {
        renderer.summary(&facts(&self.0))?;
        renderer.key_findings(0, std::iter::empty())
    }
}

/// Returns the fields of an object, with each value on one line.
fn facts(object: &Value) -> Vec<(&str, String)> {
    let fields = object.as_object().into_iter().flatten();
    fields.map(|(name, value)| (name.as_str(), on_one_line(value))).collect()
}

/// Returns a value for people. A limit is its number and what the number means.
fn on_one_line(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) if items.is_empty() => "none".to_owned(),
        Value::Array(items) => items.iter().map(on_one_line).collect::<Vec<_>>().join(", "),
        Value::Object(fields) => match (fields.get("value"), fields.get("meaning")) {
            (Some(value), Some(meaning)) => {
                format!("{} {}", on_one_line(value), on_one_line(meaning))
            }
            _ => {
                let field = |(name, value): (&String, &Value)| {
                    let value = match value {
                        Value::Object(_) => format!("({})", on_one_line(value)),
                        value => on_one_line(value),
                    };
                    format!("{name}: {value}")
                };
                fields.iter().map(field).collect::<Vec<_>>().join("; ")
            }
        },
        other => strict::compact(other),
    }
}

impl Answer for Findings {
    const NAME: &'static str = "check";

    fn rows(&self) -> Rows<'_> {
        let repeated = self.repeated.iter().map(|repeated| json!({ "repeated": repeated }));
        let total = self.shown_total.iter().map(|total| json!({ "total": total }));
        Box::new(self.findings.iter().map(value).chain(repeated).chain(total))
    }

    fn footer(&self) -> Footer<'_> {
        let mut footer = Footer::of(&self.page);
        footer.notes = self.repeated.iter().map(repeated_line).collect();
        footer.notes.extend(
            self.shown_total
                .map(|total| format!("{} of {total} problems are listed", self.findings.len())),
        );
        footer
    }

    fn text(&self, writer: &mut TextWriter) {
        let mut commands = HashSet::new();
        for finding in &self.findings {
            // A command for many problems is named with the first of them.
            let hint = finding.hint.as_ref().map(Message::to_string);
            let mut hint = hint.as_deref();
            if let Some(command) = hint.filter(|hint| hint.contains("`mdsel "))
                && !commands.insert(command.to_owned())
            {
                hint = None;
            }
            writer.line(Style::Plain, line(finding, hint));
        }
    }

    fn ldmd(&self, renderer: &mut ldmd::LdmdRenderer<'_>) -> io::Result<()> {
        let facts = [
            ("findings", self.findings.len().to_string()),
            ("cut", self.page.truncated.to_string()),
        ];
        renderer.summary(&facts)?;
        renderer.sources(self.findings.iter().filter_map(|finding| finding.file.as_deref()));
        renderer.key_findings(
            self.findings.len(),
            self.findings.iter().map(|finding| {
                let hint = finding.hint.as_ref().map(Message::to_string);
                line(finding, hint.as_deref())
            }),
        )
    }
}

/// Returns a problem that several places have, with their number and the first of them.
fn repeated_line(repeated: &RepeatedFinding) -> String {
    let RepeatedFinding { count, first } = repeated;
    format!("{count} times: {}", line(first, None))
}

/// Returns a problem as compilers print it: location, code, message and hint.
fn line(finding: &Finding, hint: Option<&str>) -> String {
    let file = finding.file.as_deref().map(path_before_line);
    let file = file.map(|file| format!("{file}:")).unwrap_or_default();
    let number = finding.line.map(|line| format!("{line}:")).unwrap_or_default();
    let hint = hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
    format!("{file}{number} {}: {}{hint}", finding.code, finding.message).trim_start().to_owned()
}
