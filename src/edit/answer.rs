//! What an edit answers.

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use super::{Done, Report};
use crate::address::Fault;
use crate::error::Warning;
use crate::query::node::short_hash;
use crate::query::{List, Outcome};

/// What was done, or why nothing was.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What was done.
    pub report: Option<Report>,
    /// Why nothing was.
    pub faults: Vec<Fault>,
    /// Whether several edits were asked for.
    pub is_batch: bool,
    /// Whether it was only tried.
    pub is_dry_run: bool,
    /// Whether the old content is told.
    pub with_content: bool,
}

impl Answer {
    /// How the command ended.
    pub fn outcome(&self) -> Outcome {
        Outcome::of(self.report.is_some(), !self.faults.is_empty())
    }

    /// Remarks.
    pub fn warnings(&self) -> &[Warning] {
        self.report.as_ref().map_or(&[], |report| &report.warnings)
    }

    /// What changes, as a unified diff, in the bytes of the file; empty where nothing does.
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
            // Writing into memory cannot fail. The whole diff would be written lossily, a hunk is not.
            drop(hunk.to_writer(&mut bytes));
        }
        bytes
    }
}

/// The old content is left out where there is no room for it.
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

/// The fields of one edit.
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
