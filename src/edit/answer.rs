//! The answer of an edit.

use super::Report;
use crate::address::Fault;
use crate::error::Warning;
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
