//! What stands beside the items of an answer, said once for every format.
//!
//! Invariant (contract, rule 5): whatever an answer's JSON says of faults, warnings, documents that have
//! changed and what was left out, every other form of it says, too.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::painter::{Painter, Style};
use crate::address::Fault;
use crate::error::Warning;
use crate::query::library::Freshness;

/// What stands beside the items of an answer.
#[derive(Clone, Debug, Default)]
pub struct Rest<'a> {
    /// Addresses without answer.
    pub(super) faults: &'a [Fault],
    /// Remarks.
    pub(super) warnings: &'a [Warning],
    /// Whether something was left out.
    pub(super) is_truncated: bool,
    /// The cursor of what was left out.
    pub(super) next: Option<&'a String>,
    /// Documents whose files are not the stored ones any more, each once.
    pub(super) changed: Vec<(&'a str, Freshness)>,
    /// What else there is to say where only bytes are printed.
    pub(super) notes: Vec<String>,
}

impl<'a> Rest<'a> {
    /// Of faults and warnings, and a list that may go on.
    pub(super) fn new(
        faults: &'a [Fault],
        warnings: &'a [Warning],
        is_truncated: bool,
        next: Option<&'a String>,
    ) -> Self {
        Self { faults, warnings, is_truncated, next, ..Self::default() }
    }

    /// Adds the documents that have changed.
    pub(super) fn with(mut self, documents: impl Iterator<Item = (&'a str, Freshness)>) -> Self {
        let mut known = HashSet::new();
        let changed = documents.filter(|(_, freshness)| *freshness != Freshness::default());
        self.changed.extend(changed.filter(|(file, _)| known.insert(*file)));
        self
    }

    /// Whether an address has no answer.
    pub fn has_faults(&self) -> bool {
        !self.faults.is_empty()
    }

    /// As rows of `jsonl`, behind the items, which tell of changed documents themselves.
    pub(super) fn rows(&self) -> Vec<Value> {
        let faults = self.faults.iter().map(|fault| json!({ "unresolved": fault }));
        let warnings = self.warnings.iter().map(|warning| json!({ "warning": warning }));
        let end = match self.next {
            Some(next) => Some(json!({ "truncated": true, "next": next })),
            None => self.is_truncated.then(|| json!({ "truncated": true })),
        };
        faults.chain(warnings).chain(end).collect()
    }

    /// What is said of each document that has changed.
    fn changes(&self) -> impl Iterator<Item = String> {
        self.changed.iter().map(|(file, freshness)| {
            let what = if freshness.is_missing { "is gone" } else { "has changed" };
            format!("{file} {what} since it was ingested")
        })
    }

    /// As lines beside an answer that is made of bytes.
    pub(super) fn lines(&self) -> Vec<String> {
        let faults = self.faults.iter().flat_map(|fault| {
            let (code, message) = (fault.code.code(), &fault.message);
            with_others(format!("{}: {code}: {message}", fault.selector), fault)
        });
        let warnings = self.warnings.iter().map(|warning| format!("warning: {}", warning.message));
        let changes = self.changes().map(|change| format!("warning: {change}"));
        let notes = self.notes.iter().cloned();
        notes.chain(faults).chain(warnings).chain(changes).chain(self.end()).collect()
    }

    fn end(&self) -> Option<String> {
        match self.next {
            Some(next) => Some(format!("more: --after {next}")),
            None => self.is_truncated.then(|| "truncated".to_owned()),
        }
    }

    /// As the end of a text for people.
    pub(super) fn paint(&self, painter: &mut Painter) {
        for change in self.changes() {
            painter.line(Style::Warning, &format!("warning: {change}"));
        }
        painter.remarks(self.warnings, self.faults);
        if let Some(end) = self.end() {
            painter.line(Style::Faint, &end);
        }
    }

    /// As items of a list about the answer as a whole.
    pub(super) fn items(&self) -> Vec<String> {
        let warnings = self.warnings.iter();
        let warnings =
            warnings.map(|warning| format!("warning: {}: {}", warning.code, warning.message));
        let faults = self.faults.iter().flat_map(|fault| {
            let (code, message) = (fault.code.code(), &fault.message);
            with_others(format!("unresolved: {}: {code}: {message}", fault.selector), fault)
        });
        let changes = self.changes().map(|change| format!("warning: {change}"));
        let truncated = std::iter::once(format!("truncated: {}", self.is_truncated));
        let next = self.next.map(|next| format!("next: {next}"));
        warnings.chain(faults).chain(changes).chain(truncated).chain(next).collect()
    }

    /// As what a model is warned of.
    pub(super) fn remarks(&self) -> Vec<String> {
        let faults = self.faults.iter().flat_map(|fault| {
            let id = crate::records::id(&fault.selector);
            with_others(format!("{} {id}: {}", fault.code.code(), fault.message), fault)
        });
        let warnings = self.warnings.iter();
        let warnings = warnings.map(|warning| format!("{} {}", warning.code, warning.message));
        faults.chain(warnings).chain(self.changes()).collect()
    }
}

/// The line about a fault, and a line for each address that may be meant instead.
fn with_others(line: String, fault: &Fault) -> impl Iterator<Item = String> {
    let suggestions = fault.suggestions.iter().map(|address| format!("suggestion: {address}"));
    let candidates = fault.candidates.iter().map(|candidate| format!("candidate: {candidate}"));
    std::iter::once(line).chain(suggestions).chain(candidates)
}
