//! Formats the answers of edits.

use std::io;

use super::super::ldmd::LdmdRenderer;
use super::super::text_writer::{Style, TextWriter};
use super::super::{Answer, Footer, Format, Rows, edit_has};
use super::row_without;
use crate::count::counted;
use crate::edit::plan::Renumbered;
use crate::edit::{self, Done, EditCommand};
use crate::position::LineSpan;

/// Returns the line that describes an edit.
fn line(done: &Done) -> String {
    let what = match done.command {
        _ if done.effects.is_noop => "unchanged".to_owned(),
        EditCommand::Insert => match &done.new_selector {
            Some(selector) => format!("inserted at line {} as {selector}", done.new_lines.start),
            None => "inserted, and removed by a later edit".to_owned(),
        },
        EditCommand::Delete => {
            let kept = if done.effects.kept_definitions.is_empty() {
                ""
            } else {
                ", but not all definitions"
            };
            let LineSpan { start, end } = done.old_lines;
            if done.is_emptied {
                format!("emptied in line {start}")
            } else {
                format!("deleted lines {start}-{end}{kept}")
            }
        }
        _ if done.new_lines.end < done.new_lines.start => {
            format!("removed lines {}-{}", done.old_lines.start, done.old_lines.end)
        }
        EditCommand::Replace | EditCommand::Task | EditCommand::Meta => {
            format!("replaced by lines {}-{}", done.new_lines.start, done.new_lines.end)
        }
    };
    let key = done.key.as_ref().map(|key| format!(" {key}")).unwrap_or_default();
    format!("{}{key}: {what}", done.selector)
}

/// Returns a line for each side effect of an edit.
fn side_effects(answer: &edit::EditAnswer, done: &Done) -> impl Iterator<Item = String> {
    let effects = &done.effects;
    let removed = answer.listed(&effects.removed_sections);
    let more = effects.removed_sections.len() - removed.len();
    let more = (more > 0).then(|| format!("  removed: {more} more"));
    let removed = removed.iter().map(|path| format!("  removed: {path}")).chain(more);
    let moved = effects.reparented.iter();
    let moved = moved.map(|one| format!("  reparented: {} is now {}", one.from, one.to));
    let kept = kept_definitions(&effects.kept_definitions);
    removed
        .chain(moved)
        .chain(kept)
        .chain(renumbered(answer.renumbered(done), done.effects.renumbered.len()))
}

/// Returns a line for each definition that was kept.
pub(super) fn kept_definitions(labels: &[String]) -> impl Iterator<Item = String> {
    labels.iter().map(|label| format!("  kept definition: [{label}]"))
}

/// Returns a line for each of these sections that have another number, and one for those that are not listed, of `total`.
pub(super) fn renumbered(sections: &[Renumbered], total: usize) -> impl Iterator<Item = String> {
    let more = total.saturating_sub(sections.len());
    let more = (more > 0).then(|| format!("  renumbered: {more} more"));
    let lines = sections.iter();
    lines.map(|one| format!("  renumbered: {} is now {}", one.from, one.to)).chain(more)
}

/// Returns a line for each edit, followed by those of its side effects, and then those of links that lead elsewhere.
fn lines(answer: &edit::EditAnswer) -> impl Iterator<Item = String> {
    answer.report.iter().flat_map(|report| {
        let edits = answer.edits(report).iter();
        let edits =
            edits.flat_map(|done| std::iter::once(line(done)).chain(side_effects(answer, done)));
        edits.chain(omitted(answer, report)).chain(changed_links(answer, report))
    })
}

/// Returns the line for the edits that are made and not listed, if any.
fn omitted(answer: &edit::EditAnswer, report: &edit::EditReport) -> Option<String> {
    let rest = report.done.len() - answer.edits(report).len();
    (rest > 0).then(|| format!("  and {}", counted(rest, "more edit")))
}

/// Returns the lines that a diff does not tell: edits that change nothing, side effects, and links that lead elsewhere.
fn beside_the_diff(answer: &edit::EditAnswer) -> impl Iterator<Item = String> {
    answer.report.iter().flat_map(|report| {
        let edits = answer.edits(report).iter();
        let unchanged = edits.clone().filter(|done| done.effects.is_noop).map(line);
        let edits = edits.flat_map(|done| side_effects(answer, done));
        unchanged.chain(edits).chain(changed_links(answer, report))
    })
}

/// Returns the number of edits and files, and the length of the whole diff; `None` if a place was not found.
fn total(answer: &edit::EditAnswer) -> Option<String> {
    let report = answer.report.as_ref()?;
    let files = report.files.iter().filter(|file| file.before != file.after).count();
    let (edits, files) = (counted(report.done.len(), "edit"), counted(files, "file"));
    Some(format!("  {edits} in {files}; the whole diff has {} characters", answer.diff_chars()))
}

/// Returns a line for each link of another document that no longer leads to its place, and the number of those that are
/// not listed.
fn changed_links(answer: &edit::EditAnswer, report: &edit::EditReport) -> Vec<String> {
    let mut lines = Vec::new();
    for (what, all) in [
        ("broken link", &report.broken_links),
        ("leads to another section", &report.redirected_links),
    ] {
        let listed = answer.listed(all);
        lines.extend(
            listed
                .iter()
                .map(|link| format!("  {what}: {}:{} to {}", link.file, link.line, link.target)),
        );
        let rest = all.len() - listed.len();
        lines.extend((rest > 0).then(|| format!("  {what}: {rest} more")));
    }
    lines
}

impl Answer for edit::EditAnswer {
    const NAME: &'static str = "edit";
    const FORMATS: &'static [Format] = &[Format::Raw];

    fn rows(&self) -> Rows<'_> {
        Box::new(self.report.iter().map(|_| row_without(self, &["warnings"])))
    }

    fn footer(&self) -> Footer<'_> {
        let mut footer = Footer::new(&self.faults, self.warnings(), self.is_cut());
        if self.is_dry_run {
            footer.notes = beside_the_diff(self).collect();
            // A diff that is cut does not show how much changes.
            footer.notes.extend(self.is_cut().then(|| total(self)).flatten());
        }
        footer
    }

    fn has(&self, format: Format) -> bool {
        edit_has(format, self.is_dry_run)
    }

    fn raw(&self) -> Vec<u8> {
        self.diff().to_vec()
    }

    fn text(&self, writer: &mut TextWriter) {
        if self.is_dry_run {
            writer.content(self.diff());
        } else {
            lines(self).for_each(|line| writer.line(Style::Plain, &line));
        }
    }

    fn ldmd(&self, renderer: &mut LdmdRenderer<'_>) -> io::Result<()> {
        let count = self.report.as_ref().map_or(0, |report| report.done.len());
        renderer.summary(&[("edits", count.to_string())])?;
        let lines: Vec<String> = match &self.report {
            // The footer has the other lines of a dry run.
            Some(report) if self.is_dry_run => {
                let edits = self.edits(report).iter().map(line);
                edits.chain(omitted(self, report)).collect()
            }
            _ => lines(self).collect(),
        };
        renderer.key_findings(lines.len(), lines.into_iter())?;
        let Some(report) = self.report.as_ref().filter(|_| self.is_dry_run) else { return Ok(()) };
        renderer.sources(self.edits(report).iter().map(|done| &*done.file));
        renderer.content("Diff", "", std::iter::empty(), self.diff(), "diff")
    }
}
