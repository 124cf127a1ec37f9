//! Formats the answers of edits.

use std::borrow::Cow;
use std::io;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::super::edit_schema::EditedHashes;
use super::super::ldmd::LdmdRenderer;
use super::super::text_writer::{Style, TextWriter};
use super::super::{Answer, Footer, Format};
use super::value;
use crate::edit::{self, Done};
use crate::query::node::short_hash;

/// Returns the line that describes an edit.
fn line(done: &Done) -> String {
    let what = match done.operation {
        _ if done.is_noop => "unchanged".to_owned(),
        "insert" => format!("inserted at line {}", done.new_lines.start),
        "delete" => format!("deleted lines {}-{}", done.old_lines.start, done.old_lines.end),
        _ if done.new_lines.end < done.new_lines.start => {
            format!("removed lines {}-{}", done.old_lines.start, done.old_lines.end)
        }
        _ => format!("replaced by lines {}-{}", done.new_lines.start, done.new_lines.end),
    };
    format!("{}: {}: {what}", done.file, done.selector)
}

/// Returns a line for each side effect of an edit.
fn side_effects(done: &Done) -> impl Iterator<Item = String> {
    let kept = done.kept_definitions.iter().map(|label| format!("  kept definition: [{label}]"));
    let renumbered =
        done.renumbered.iter().map(|one| format!("  renumbered: {} is now {}", one.from, one.to));
    kept.chain(renumbered)
}

/// Returns a line for each edit, followed by those of its side effects, and then those of links that lead elsewhere.
fn lines(answer: &edit::EditAnswer) -> impl Iterator<Item = String> {
    answer.report.iter().flat_map(|report| {
        let edits = report.done.iter();
        let edits = edits.flat_map(|done| std::iter::once(line(done)).chain(side_effects(done)));
        edits.chain(changed_links(report))
    })
}

/// Returns the lines that a diff does not tell: side effects, and links that lead elsewhere.
fn beside_the_diff(answer: &edit::EditAnswer) -> impl Iterator<Item = String> {
    answer
        .report
        .iter()
        .flat_map(|report| report.done.iter().flat_map(side_effects).chain(changed_links(report)))
}

/// Returns a line for each link of another document that no longer leads to its place.
fn changed_links(report: &edit::EditReport) -> impl Iterator<Item = String> {
    let broken = report.broken_links.iter();
    let broken =
        broken.map(|link| format!("  broken link: {}:{} to {}", link.file, link.line, link.target));
    let redirected = report.redirected_links.iter().map(|link| {
        format!("  leads to another section: {}:{} to {}", link.file, link.line, link.target)
    });
    broken.chain(redirected)
}

impl Answer for edit::EditAnswer {
    const FORMATS: &'static [Format] = &[Format::Raw];

    fn rows(&self) -> Vec<Value> {
        self.report.iter().map(|_| value(self)).collect()
    }

    fn rest(&self) -> Footer<'_> {
        let mut footer = Footer::new(&self.faults, self.warnings(), false);
        if self.is_dry_run {
            footer.notes = beside_the_diff(self).collect();
        }
        footer
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
        let lines: Vec<String> = match &self.report {
            // The footer has the other lines of a dry run.
            Some(report) if self.is_dry_run => report.done.iter().map(line).collect(),
            _ => lines(self).collect(),
        };
        renderer.key_findings(lines.len(), lines.into_iter())?;
        let Some(report) = self.report.as_ref().filter(|_| self.is_dry_run) else { return Ok(()) };
        report.done.iter().for_each(|done| renderer.source(&done.file));
        renderer.content("Diff", "", std::iter::empty(), &self.diff(), "diff")
    }
}

/// The JSON fields of one edit.
struct EditFields<'a> {
    done: &'a Done,
    /// Whether the old content is included.
    with_content: bool,
    /// Whether the answer itself names the file.
    is_one_file: bool,
}

impl EditFields<'_> {
    fn fields<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let Self { done, with_content, is_one_file } = self;
        if !is_one_file {
            map.serialize_entry("file", &done.file)?;
        }
        map.serialize_entry("selector", &done.selector)?;
        let old = with_content.then(|| String::from_utf8_lossy(&done.old_content));
        let is_lossy = done.operation != "insert"
            && old.as_ref().is_some_and(|old| matches!(old, Cow::Owned(_)));
        match done.operation {
            "insert" => {
                map.serialize_entry("inserted_at", &done.new_lines.start)?;
                map.serialize_entry("new_section_path", &done.new_section_path)?;
            }
            "delete" => {
                map.serialize_entry("deleted_content", &old)?;
                let lines = [done.old_lines.start, done.old_lines.end];
                map.serialize_entry("deleted_lines", &lines)?;
            }
            _ => {
                map.serialize_entry("old_content", &old)?;
                map.serialize_entry("new_line_start", &done.new_lines.start)?;
                map.serialize_entry("new_line_end", &done.new_lines.end)?;
            }
        }
        if !done.removed_sections.is_empty() {
            map.serialize_entry("removed_sections", &done.removed_sections)?;
        }
        if !done.reparented.is_empty() {
            let moved: Vec<_> = done
                .reparented
                .iter()
                .map(|moved| serde_json::json!({ "from": moved.from, "to": moved.to }))
                .collect();
            map.serialize_entry("reparented", &moved)?;
        }
        if !done.kept_definitions.is_empty() {
            map.serialize_entry("kept_definitions", &done.kept_definitions)?;
        }
        if !done.renumbered.is_empty() {
            let renumbered: Vec<_> = done
                .renumbered
                .iter()
                .map(
                    |one| serde_json::json!({ "title": one.title, "from": one.from, "to": one.to }),
                )
                .collect();
            map.serialize_entry("renumbered", &renumbered)?;
        }
        for (name, is_so) in [
            ("lossy", is_lossy),
            ("stripped_heading", done.stripped_heading),
            ("unchanged", done.is_noop),
        ] {
            if is_so {
                map.serialize_entry(name, &true)?;
            }
        }
        Ok(())
    }
}

impl Serialize for EditFields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("operation", self.done.operation)?;
        self.fields(&mut map)?;
        map.end()
    }
}

impl Serialize for edit::EditAnswer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("success", &self.report.is_some())?;
        if let Some(report) = &self.report {
            let is_one_file = report.files.len() == 1;
            let with_content = self.with_content;
            let one = |done| EditFields { done, with_content, is_one_file };
            match report.done.as_slice() {
                [done] if !self.is_batch => one(done).fields(&mut map)?,
                all => map.serialize_entry("edits", &all.iter().map(one).collect::<Vec<_>>())?,
            }
            let hashes = |file: &edit::EditedFile| EditedHashes {
                file: file.file.clone(),
                hash_before: short_hash(&file.before),
                hash_after: short_hash(&file.after),
            };
            let files: Vec<EditedHashes> = report.files.iter().map(hashes).collect();
            match files.as_slice() {
                [one] => map.serialize_entry("file", &one.file)?,
                all => map.serialize_entry("files", all)?,
            }
            if !report.broken_links.is_empty() {
                map.serialize_entry("broken_links", &report.broken_links)?;
            }
            if !report.redirected_links.is_empty() {
                map.serialize_entry("redirected_links", &report.redirected_links)?;
            }
            if let [one] = files.as_slice() {
                map.serialize_entry("hash_before", &one.hash_before)?;
                map.serialize_entry("hash_after", &one.hash_after)?;
            }
            if !self.with_content {
                map.serialize_entry("content_omitted", &true)?;
            }
            if self.is_dry_run {
                map.serialize_entry("dry_run", &true)?;
                map.serialize_entry("diff", &String::from_utf8_lossy(&self.diff()))?;
            }
        }
        if !self.faults.is_empty() {
            map.serialize_entry("unresolved_selectors", &self.faults)?;
        }
        if !self.warnings().is_empty() {
            map.serialize_entry("warnings", self.warnings())?;
        }
        map.end()
    }
}
