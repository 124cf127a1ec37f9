//! What a check has found: one finding a place, and how to mend it.

use serde::Serialize;

use super::List;
use super::cursor::{Cursor, ListPart, most};
use super::library::is_false;
use crate::address::Fault;
use crate::error::Warning;

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Stable code in capitals.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// The document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Its line, 1-based.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// All that a check has found.
#[derive(Clone, Debug, Serialize)]
pub struct Findings {
    /// In the order of the documents, those of one document in document order.
    pub findings: Vec<Finding>,
    /// What could not be checked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unresolved_selectors: Vec<Fault>,
    /// Remarks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// Whether findings were left out.
    #[serde(skip_serializing_if = "is_false")]
    pub truncated: bool,
    /// The cursor of what was left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// Findings in all, those that were given before among them.
    #[serde(skip)]
    pub total: usize,
    #[serde(skip)]
    part: ListPart,
}

impl Findings {
    /// What was found, from `after` on, and what could not be checked.
    pub fn new(
        mut findings: Vec<Finding>,
        unresolved_selectors: Vec<Fault>,
        after: Option<Cursor>,
        generation: u64,
    ) -> Self {
        let (part, warnings) = ListPart::beginning(after, generation);
        let total = findings.len();
        findings.drain(..part.start().min(total));
        Self { findings, unresolved_selectors, warnings, truncated: false, next: None, total, part }
    }
}

impl Findings {
    /// At most `limit` of them, 0 for all.
    #[must_use]
    pub fn at_most(self, limit: usize) -> Self {
        let count = self.findings.len().min(most(limit));
        if count < self.findings.len() { self.first(count) } else { self }
    }
}

impl List for Findings {
    fn count(&self) -> usize {
        self.findings.len()
    }

    fn first(&self, count: usize) -> Self {
        let mut result = self.clone();
        if count < self.findings.len() {
            result.findings.truncate(count);
            result.truncated = true;
            result.next = Some(self.part.next(count));
        }
        result
    }
}
