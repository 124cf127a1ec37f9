//! The answer of an edit, and its JSON.

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use super::{Done, Report};
use crate::address::Fault;
use crate::error::Warning;
use crate::query::node::short_hash;
use crate::query::{List, Outcome};

/// The report of the edits, or why none was made.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The report; `None` if a place was not found.
    pub report: Option<Report>,
    /// The places that were not found.
    pub faults: Vec<Fault>,
    /// Whether the request was a batch of edits.
    pub is_batch: bool,
    /// Whether this was a dry run, which writes nothing.
    pub is_dry_run: bool,
    /// Whether the answer includes the old content.
    pub with_content: bool,
}

impl Answer {
    /// The outcome, which decides the exit status.
    pub fn outcome(&self) -> Outcome {
        Outcome::of(self.report.is_some(), !self.faults.is_empty())
    }

    /// The warnings of the report, if any.
    pub fn warnings(&self) -> &[Warning] {
        self.report.as_ref().map_or(&[], |report| &report.warnings)
    }

    /// The change as a unified diff in the bytes of the file; empty if nothing changes.
    pub fn diff(&self) -> Vec<u8> {
        let Some(report) = &self.report else { return Vec::new() };
        let diff = similar::TextDiff::configure()
            .timeout(std::time::Duration::from_secs(1))
            .diff_lines(report.before.as_slice(), report.after.as_slice());
        let mut bytes = Vec::new();
        for hunk in diff.unified_diff().iter_hunks() {
            if bytes.is_empty() {
                bytes = format!("--- a/{0}\n+++ b/{0}\n", report.file).into_bytes();
            }
            // Writing to memory cannot fail. Writing the whole diff at once would replace invalid UTF-8; writing a
            // hunk does not.
            drop(hunk.to_writer(&mut bytes));
        }
        bytes
    }
}

/// The only item of the list is the old content, which is left out if it does not fit the budget.
impl List for Answer {
    fn count(&self) -> usize {
        usize::from(self.with_content)
    }

    fn least(&self) -> usize {
        0
    }

    fn first(&self, count: usize) -> Self {
        Self { with_content: count > 0, ..self.clone() }
    }
}

/// The JSON fields of one edit; the flag says whether the old content is included.
struct One<'a>(&'a Done, bool);

impl One<'_> {
    fn fields<M: serde::ser::SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let Self(done, with_content) = self;
        map.serialize_entry("selector", &done.selector)?;
        let old = with_content.then(|| String::from_utf8_lossy(&done.old_content));
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
        for (name, is_so) in
            [("stripped_heading", done.stripped_heading), ("unchanged", done.is_noop)]
        {
            if is_so {
                map.serialize_entry(name, &true)?;
            }
        }
        Ok(())
    }
}

impl Serialize for One<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("operation", self.0.operation)?;
        self.fields(&mut map)?;
        map.end()
    }
}

impl Serialize for Answer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("success", &self.report.is_some())?;
        if let Some(report) = &self.report {
            let one = |done| One(done, self.with_content);
            match report.done.as_slice() {
                [done] if !self.is_batch => one(done).fields(&mut map)?,
                all => map.serialize_entry("edits", &all.iter().map(one).collect::<Vec<_>>())?,
            }
            map.serialize_entry("file", &report.file)?;
            if !report.broken_links.is_empty() {
                map.serialize_entry("broken_links", &report.broken_links)?;
            }
            map.serialize_entry("hash_before", &short_hash(&report.before))?;
            map.serialize_entry("hash_after", &short_hash(&report.after))?;
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
