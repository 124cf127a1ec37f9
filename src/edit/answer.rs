//! The answer of an edit.

use super::EditReport;
use crate::address::AddressError;
use crate::error::Warning;
use crate::query::{List, Outcome};

/// The report of the edits, or why none was made.
#[derive(Clone, Debug)]
pub struct EditAnswer {
    /// The report; `None` if a place was not found.
    pub report: Option<EditReport>,
    /// The places that were not found.
    pub faults: Vec<AddressError>,
    /// Whether the request was a batch of edits.
    pub is_batch: bool,
    /// Whether this was a dry run, which writes nothing.
    pub is_dry_run: bool,
    /// Whether the answer includes the old content.
    pub with_content: bool,
}

impl EditAnswer {
    /// The outcome, which decides the exit status.
    pub fn outcome(&self) -> Outcome {
        Outcome::of(self.report.is_some(), !self.faults.is_empty())
    }

    /// The warnings of the report, if any.
    pub fn warnings(&self) -> &[Warning] {
        self.report.as_ref().map_or(&[], |report| &report.warnings)
    }

    /// The change as a unified diff in the bytes of the files; empty if nothing changes.
    pub fn diff(&self) -> Vec<u8> {
        let files = self.report.iter().flat_map(|report| &report.files);
        files.flat_map(|one| diff(&one.file, &one.file, &one.before, &one.after)).collect()
    }
}

/// Returns a unified diff from `before`, the bytes of the file `from`, to `after`, those of the file `to`.
pub(super) fn diff(from: &str, to: &str, before: &[u8], after: &[u8]) -> Vec<u8> {
    let diff = similar::TextDiff::configure()
        .timeout(std::time::Duration::from_secs(1))
        .diff_lines(before, after);
    let mut bytes = Vec::new();
    for hunk in diff.unified_diff().iter_hunks() {
        if bytes.is_empty() {
            bytes = format!("--- a/{from}\n+++ b/{to}\n").into_bytes();
        }
        // Writing to memory cannot fail. Writing the whole diff at once would replace invalid UTF-8; writing a
        // hunk does not.
        drop(hunk.to_writer(&mut bytes));
    }
    bytes
}

/// The only item of the list is the old content, which is left out if it does not fit the budget.
impl List for EditAnswer {
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
