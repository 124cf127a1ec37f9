//! The answer of `rename` and `move`.

use schemars::JsonSchema;
use serde::Serialize;

use super::super::answer::first_lines;
use super::{RelocateEffects, RelocateReport, RewrittenLink};
use crate::address::AddressError;
use crate::error::Warning;
use crate::limits;
use crate::message::Message;
use crate::query::node::short_hash;
use crate::query::{List, Outcome};

/// A file that changed.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub(crate) struct RelocatedFile {
    /// Its path.
    pub(crate) file: String,
    /// Its path before the edit, if it was moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    moved_from: Option<String>,
    /// The hash of the file before the edit.
    hash_before: String,
    /// The hash of the file after the edit.
    hash_after: String,
    /// The links that were rewritten, by line.
    pub(crate) links: Vec<RewrittenLink>,
}

/// What was renamed or moved, or why nothing was.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
pub struct RelocateAnswer {
    /// Whether the edit was made.
    success: bool,
    /// The address before the edit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) selector: Option<String>,
    /// The address after the edit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) new_selector: Option<String>,
    /// The title of the section after the edit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) new_title: Option<String>,
    /// The number of links that were rewritten.
    pub(crate) rewritten_links: usize,
    /// The files that changed: first the one that was renamed or moved, then the others by path.
    pub(crate) files: Vec<RelocatedFile>,
    /// The number of files that were left out to keep to a budget.
    #[serde(skip_serializing_if = "crate::schema::is_zero")]
    pub(crate) files_omitted: usize,
    #[serde(flatten)]
    pub(crate) effects: RelocateEffects,
    /// Nothing was written.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    dry_run: bool,
    /// What a dry run would change, as a unified diff of all files.
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
    /// Files or lines of the diff were left out to keep to a budget.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    /// The bytes of the diff.
    #[serde(skip)]
    pub(crate) raw: Vec<u8>,
    /// The changed lines of a dry run, without those around them.
    #[serde(skip)]
    pub(crate) changed_lines: Vec<u8>,
    /// The name of the command.
    #[serde(skip)]
    operation: &'static str,
    /// The place that was not found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) unresolved_selectors: Vec<AddressError>,
    /// Warnings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<Warning>,
}

impl RelocateAnswer {
    /// Returns the answer for an edit that was made, or for a dry run.
    pub fn of(report: &RelocateReport, is_dry_run: bool) -> Self {
        let raw = if is_dry_run { report.diff() } else { Vec::new() };
        let file = |file: &super::ChangedFile| RelocatedFile {
            file: file.file.clone(),
            moved_from: Some(file.from.clone()).filter(|from| *from != file.file),
            hash_before: short_hash(&file.before),
            hash_after: short_hash(&file.after),
            links: file.links.clone(),
        };
        Self {
            success: true,
            selector: Some(report.from.clone()),
            new_selector: Some(report.to.clone()),
            new_title: report.title.clone(),
            rewritten_links: report.links(),
            files: report.files.iter().map(file).collect(),
            files_omitted: 0,
            effects: report.effects.listing(limits::MAX_EFFECTS_SHOWN),
            dry_run: is_dry_run,
            diff: is_dry_run.then(|| String::from_utf8_lossy(&raw).into_owned()),
            truncated: false,
            raw,
            changed_lines: if is_dry_run { report.changed_lines() } else { Vec::new() },
            operation: report.operation,
            unresolved_selectors: Vec::new(),
            warnings: report.warnings.clone(),
        }
    }

    /// Returns the answer of the command `operation` for a place that was not found.
    pub fn fault(operation: &'static str, fault: AddressError, dry_run: bool) -> Self {
        Self { operation, unresolved_selectors: vec![fault], dry_run, ..Self::default() }
    }

    /// Returns whether the answer is that of a dry run.
    pub fn is_dry_run(&self) -> bool {
        self.dry_run
    }

    /// Returns whether files or lines of the diff are left out.
    pub(crate) fn is_truncated(&self) -> bool {
        self.truncated
    }

    /// Returns the name of the command.
    pub fn operation(&self) -> &'static str {
        self.operation
    }
}

impl List for RelocateAnswer {
    fn messages_mut(&mut self) -> Vec<&mut Message> {
        let faults = self.unresolved_selectors.iter_mut().map(|fault| &mut fault.message);
        faults.chain(self.warnings.iter_mut().map(|warning| &mut warning.message)).collect()
    }

    fn outcome(&self) -> Outcome {
        Outcome::of(self.success, !self.unresolved_selectors.is_empty())
    }

    fn count(&self) -> usize {
        self.files.len()
    }

    fn least(&self) -> usize {
        0
    }

    fn first(&self, count: usize) -> Self {
        let mut first = self.clone();
        first.files.truncate(count);
        first.files_omitted = self.files_omitted + self.files.len() - first.files.len();
        first.truncated |= first.files_omitted > 0;
        first
    }

    /// Only the diff and the list of renumbered sections can be cut, the diff first.
    fn sizes_of_first(&self) -> usize {
        let diff = self.diff.as_ref().map_or(0, |diff| diff.chars().count());
        diff + self.effects.renumbered.len()
    }

    fn cut_first(&mut self, size: usize) -> bool {
        let listed = self.effects.renumbered.len();
        if size <= listed {
            self.effects = self.effects.listing(size.saturating_sub(1));
        }
        self.raw = first_lines(&self.raw, size.saturating_sub(listed)).to_vec();
        self.changed_lines = first_lines(&self.changed_lines, size.saturating_sub(listed)).to_vec();
        self.diff = self.diff.is_some().then(|| String::from_utf8_lossy(&self.raw).into_owned());
        self.truncated = true;
        true
    }
}
