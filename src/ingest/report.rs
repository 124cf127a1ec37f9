//! The report of an ingest, or of its dry run.
//!
//! Invariant: every document that is or was in the store is counted once, as added, changed, removed or
//! unchanged, and every file that was skipped is listed with a reason.

use crate::corpus::Root;

use schemars::JsonSchema;
use serde::Serialize;

use crate::corpus::Skipped;
use crate::count::counted;
use crate::error::Warning;
use crate::limits;
use crate::markdown::Diagnostic;

/// What an ingest does to a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// It is added to the store.
    Added,
    /// Its bytes differ from the stored ones.
    Changed,
    /// It is removed from the store: its file no longer exists or is now skipped.
    Removed,
}

/// A document that an ingest adds, changes or removes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize)]
pub struct Change {
    /// Its path relative to the root.
    pub file: String,
    /// What the ingest does to it.
    pub change: ChangeKind,
}

/// The report of an ingest, or of its dry run.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
pub struct IngestReport {
    /// The number of documents that were added to the store.
    pub added: usize,
    /// The number of documents whose bytes changed.
    pub changed: usize,
    /// The number of documents that were removed from the store.
    pub removed: usize,
    /// The number of documents that did not change.
    pub unchanged: usize,
    /// Files that were skipped, in the order of their paths.
    pub skipped: Vec<Skipped>,
    /// The number of attachments of a pack that were written, or existed with the same bytes.
    #[serde(skip_serializing_if = "crate::schema::is_zero")]
    pub attachments: usize,
    /// The generation of the store after the ingest.
    pub generation: u64,
    /// Warnings about the store, then about the documents.
    pub warnings: Vec<Warning>,
    /// Every change, in the order of paths; only [`super::preview`] fills it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<Vec<Change>>,
    /// The collections whose folders do not exist.
    #[serde(skip)]
    pub missing: Vec<String>,
    /// The skipped files and folders that could not be read, so that nothing is known about their content.
    #[serde(skip)]
    pub unreadable: Vec<Skipped>,
    /// The folders that were ingested.
    #[serde(skip)]
    pub roots: Vec<Root>,
    /// Whether a stored document was kept because its file, or its bytes in the store, could not be read.
    #[serde(skip)]
    pub(super) has_kept: bool,
    /// Whether changes, skipped files or warnings were left out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

impl IngestReport {
    /// Returns a report of counts alone that is as long as any.
    pub(crate) fn longest() -> Self {
        let count = u32::MAX as usize;
        Self {
            added: count,
            changed: count,
            removed: count,
            unchanged: count,
            attachments: count,
            generation: u64::from(u32::MAX),
            truncated: true,
            ..Self::default()
        }
    }

    /// Whether a document was added, changed or removed.
    pub fn has_changes(&self) -> bool {
        self.added + self.changed + self.removed > 0
    }

    pub(super) fn count(&mut self, file: &str, change: ChangeKind) {
        match change {
            ChangeKind::Added => self.added += 1,
            ChangeKind::Changed => self.changed += 1,
            ChangeKind::Removed => self.removed += 1,
        }
        if let Some(changes) = &mut self.changes {
            changes.push(Change { file: file.to_owned(), change });
        }
    }

    pub(super) fn warn(&mut self, file: &str, diagnostics: &[Diagnostic]) {
        for diagnostic in diagnostics {
            let place = diagnostic.line.map_or_else(String::new, |line| format!(":{line}"));
            let message = format!("{file}{place}: {}", diagnostic.message);
            self.warnings.push(Warning::new(diagnostic.code, message));
        }
    }

    /// Returns the warnings, after one for each file that was skipped.
    pub(crate) fn into_warnings(self) -> Vec<Warning> {
        let skipped = self.skipped.into_iter();
        let skipped = skipped
            .map(|Skipped { file, reason }| Warning::new("SKIPPED", format!("{file}: {reason}")));
        skipped.chain(self.warnings).collect()
    }

    /// Adds warnings about the store, before those about the files.
    pub(super) fn note(&mut self, warnings: Vec<Warning>) {
        self.warnings.splice(0..0, warnings);
    }

    pub(super) fn finish(&mut self) {
        self.skipped.sort();
        if let Some(changes) = &mut self.changes {
            changes.sort();
        }
        let total = self.warnings.len();
        if total > limits::MAX_WARNINGS_SHOWN {
            self.warnings.truncate(limits::MAX_WARNINGS_SHOWN);
            let more = total - limits::MAX_WARNINGS_SHOWN;
            self.warnings.push(Warning::new("MORE_WARNINGS", counted(more, "more warning")));
        }
    }
}
