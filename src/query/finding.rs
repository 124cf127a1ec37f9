//! What a check has found: one finding a place, and how to mend it.

use schemars::JsonSchema;
use serde::Serialize;

use super::cursor::{Cursor, ListPart, most};
use super::page::{self, shorten};
use super::{List, Page};
use crate::address::Fault;

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
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
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Findings {
    /// In the order of the documents, those of one document in document order.
    pub findings: Vec<Finding>,
    /// What is beside them; its problems are what could not be checked.
    #[serde(flatten)]
    pub page: Page,
    /// Findings in all, those that were given before among them.
    #[serde(skip)]
    pub total: usize,
}

impl Findings {
    /// What was found, from `after` on, and what could not be checked.
    pub fn new(
        mut findings: Vec<Finding>,
        unresolved_selectors: Vec<Fault>,
        after: Option<Cursor>,
        generation: u64,
    ) -> Self {
        let mut page = Page::new(ListPart::beginning(after, generation));
        page.unresolved_selectors = unresolved_selectors;
        let total = findings.len();
        findings.drain(..page.part.start().min(total));
        Self { findings, page, total }
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
    fn page_mut(&mut self) -> Option<&mut Page> {
        Some(&mut self.page)
    }

    fn count(&self) -> usize {
        self.findings.len()
    }

    fn first(&self, count: usize) -> Self {
        match self.findings.get(..count) {
            Some(first) if count < self.findings.len() => {
                Self { findings: first.to_vec(), page: self.page.ended(count), total: self.total }
            }
            _ => self.clone(),
        }
    }

    fn sizes_of_first(&self) -> usize {
        self.findings.first().map_or(0, |first| {
            page::longest([first.message.as_str()].into_iter().chain(first.hint.as_deref()))
        })
    }

    fn cut_first(&mut self, size: usize) -> bool {
        let Some(first) = self.findings.first_mut() else { return false };
        shorten(&mut first.message, size);
        if let Some(hint) = &mut first.hint {
            shorten(hint, size);
        }
        true
    }
}
