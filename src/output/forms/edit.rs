//! Formats the answers of edits.

use std::io;

use serde_json::Value;

use super::super::ldmd::LdmdRenderer;
use super::super::text_writer::{Style, TextWriter};
use super::super::{Answer, Footer, Format};
use super::value;
use crate::edit::{self, Done};

/// Returns the line that describes an edit.
fn line(file: &str, done: &Done) -> String {
    let what = match done.operation {
        _ if done.is_noop => "unchanged".to_owned(),
        "insert" => format!("inserted at line {}", done.new_lines.start),
        "delete" => format!("deleted lines {}-{}", done.old_lines.start, done.old_lines.end),
        _ => format!("replaced by lines {}-{}", done.new_lines.start, done.new_lines.end),
    };
    format!("{file}: {}: {what}", done.selector)
}

/// Returns a line for each side effect of an edit.
fn side_effects(done: &Done) -> impl Iterator<Item = String> {
    let kept = done.kept_definitions.iter().map(|label| format!("  kept definition: [{label}]"));
    let renumbered =
        done.renumbered.iter().map(|one| format!("  renumbered: {} is now {}", one.from, one.to));
    kept.chain(renumbered)
}

fn lines(answer: &edit::Answer) -> impl Iterator<Item = String> {
    answer.report.iter().flat_map(|report| {
        let edits = report.done.iter();
        let edits = edits
            .flat_map(|done| std::iter::once(line(&report.file, done)).chain(side_effects(done)));
        let broken = report
            .broken_links
            .iter()
            .map(|link| format!("  broken link: {}:{} to {}", link.file, link.line, link.target));
        edits.chain(broken)
    })
}

impl Answer for edit::Answer {
    const FORMATS: &'static [Format] = &[Format::Raw];

    fn rows(&self) -> Vec<Value> {
        self.report.iter().map(|_| value(self)).collect()
    }

    fn rest(&self) -> Footer<'_> {
        Footer::new(&self.faults, self.warnings(), false)
    }

    /// Only a dry run has a diff for `raw`.
    fn has(&self, format: Format) -> bool {
        Format::COMMON.contains(&format) || format == Format::Raw && self.is_dry_run
    }

    fn raw(&self) -> Vec<u8> {
        self.diff()
    }

    fn text(&self, writer: &mut TextWriter) {
        if self.is_dry_run {
            writer.content(&self.diff());
        } else {
            lines(self).for_each(|line| writer.line(Style::Plain, &line));
        }
    }

    fn name(&self) -> &'static str {
        "edit"
    }

    fn ldmd(&self, renderer: &mut LdmdRenderer<'_>) -> io::Result<()> {
        let count = self.report.as_ref().map_or(0, |report| report.done.len());
        renderer.summary(&[("edits", count.to_string())])?;
        renderer.key_findings(lines(self).count(), lines(self))
    }
}
