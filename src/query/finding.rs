//! What a check has found: one finding a place, and how to mend it.

use serde::Serialize;

use super::List;
use super::library::is_false;
use crate::address::Fault;

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
    /// Whether findings were left out.
    #[serde(skip_serializing_if = "is_false")]
    pub truncated: bool,
}

impl Findings {
    /// What was found, and what could not be checked.
    pub fn new(findings: Vec<Finding>, unresolved_selectors: Vec<Fault>) -> Self {
        Self { findings, unresolved_selectors, truncated: false }
    }
}

impl List for Findings {
    fn count(&self) -> usize {
        self.findings.len()
    }

    fn first(&self, count: usize) -> Self {
        let mut result = self.clone();
        result.truncated |= count < self.findings.len();
        result.findings.truncate(count);
        result
    }
}
