//! What an ingest did, or would do.
//!
//! Invariant: every file that was looked at is counted once, as added, changed, removed or unchanged
//! where it is or was in the store, and named where it was not taken.

use std::path::PathBuf;

use serde::Serialize;

use crate::error::Warning;
use crate::limits;
use crate::markdown::Diagnostic;

/// A file that was not taken.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Skipped {
    /// Its path relative to the root.
    pub file: String,
    /// Why.
    pub reason: String,
}

/// What happened, or would happen, to a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// It was not in the store.
    Added,
    /// Its bytes are others.
    Changed,
    /// It is no longer there, or no longer taken.
    Removed,
}

/// A document that an ingest touches.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Change {
    /// Its path relative to the root.
    pub file: String,
    /// What happens to it.
    pub change: ChangeKind,
}

/// What an ingest did, or would do.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// Documents that were not in the store.
    pub added: usize,
    /// Documents whose bytes were others.
    pub changed: usize,
    /// Documents that are no longer there.
    pub removed: usize,
    /// Documents that are as they were.
    pub unchanged: usize,
    /// Files that were not taken, by path.
    pub skipped: Vec<Skipped>,
    /// Attachments of a pack that were written as files.
    #[serde(skip_serializing_if = "is_zero")]
    pub attachments: usize,
    /// The generation of the store afterwards.
    pub generation: u64,
    /// What could not be taken as it stands.
    pub warnings: Vec<Warning>,
    /// Every change by path; filled by [`super::preview`] alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<Vec<Change>>,
    /// The root, absolute; empty where nothing was ingested.
    #[serde(skip)]
    pub root: PathBuf,
    /// Whether a document was kept as it is because its file could not be read.
    #[serde(skip)]
    pub(super) has_kept: bool,
    /// Whether changes, skipped files or warnings were left out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl Report {
    /// Whether a document came, changed or went.
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

    /// What there is to say of the store, before what there is to say of the files.
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
            self.warnings.push(Warning::new("MORE_WARNINGS", format!("{more} more warnings")));
        }
    }
}
