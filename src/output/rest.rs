//! What is beside the items of an answer, said once for every format.
//!
//! Invariant: whatever an answer's JSON says of faults, warnings, documents that have changed and what was
//! left out, every other form of it says, too; how to go on is the last line of a text.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::Caller;
use super::painter::{Painter, Style};
use crate::address::Fault;
use crate::error::Warning;
use crate::query::Page;
use crate::query::library::Freshness;

/// What is beside the items of an answer.
#[derive(Clone, Debug)]
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
    /// Items that are cut, each with the address of its rest.
    pub(super) cut: Vec<(&'a str, &'a str)>,
    /// What the items do not show although nothing cut them.
    pub(super) notes: Vec<String>,
    /// Who reads it.
    pub(super) caller: Caller,
}

impl<'a> Rest<'a> {
    /// Of faults and warnings.
    pub(super) fn new(faults: &'a [Fault], warnings: &'a [Warning], is_truncated: bool) -> Self {
        Self {
            faults,
            warnings,
            is_truncated,
            next: None,
            changed: Vec::new(),
            cut: Vec::new(),
            notes: Vec::new(),
            caller: Caller::CommandLine,
        }
    }

    /// Of a page.
    pub(super) fn of(page: &'a Page) -> Self {
        let rest = Self::new(&page.unresolved_selectors, &page.warnings, page.truncated);
        Self { next: page.next.as_ref(), ..rest }
    }

    /// Adds items that are cut, and the address of the rest of each.
    pub(super) fn with_cut(mut self, cut: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        self.cut.extend(cut);
        self
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

    /// As rows of `jsonl` after the items, which mark changed documents themselves.
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
        let cut = self.cut.iter().map(|(place, rest)| format!("{place} is cut: more: {rest}"));
        let next = self.next_line().or_else(|| self.is_cut_silently().then(truncated));
        cut.chain(self.remark_lines()).chain(next).collect()
    }

    /// The problems, warnings and changed documents among them.
    pub(super) fn remark_lines(&self) -> Vec<String> {
        let faults = self.faults.iter().flat_map(|fault| {
            let (code, message) = (fault.code.code(), &fault.message);
            with_others(format!("{}: {code}: {message}", fault.selector), fault)
        });
        let warnings = self.warnings.iter();
        let warnings =
            warnings.map(|warning| format!("warning: {}: {}", warning.code, warning.message));
        let changes = self.changes().map(|change| format!("warning: {change}"));
        let notes = self.notes.iter().cloned();
        notes.chain(faults).chain(warnings).chain(changes).collect()
    }

    fn next_line(&self) -> Option<String> {
        self.next.map(|next| match self.caller {
            Caller::CommandLine => format!("more: --after {next}"),
            Caller::Mcp { .. } => format!("more: after: \"{next}\""),
        })
    }

    /// Whether something was left out that no address leads to.
    fn is_cut_silently(&self) -> bool {
        self.is_truncated && self.next.is_none() && self.cut.is_empty()
    }

    /// The last line of a text: how to go on, or that something was left out.
    pub(super) fn end(&self) -> Option<String> {
        let cut = || match self.cut.as_slice() {
            [] => self.is_truncated.then(truncated),
            [(_, rest)] => Some(format!("more: {rest}")),
            cut => Some(format!("more: {} items are cut, see \"more\" after each", cut.len())),
        };
        self.next_line().or_else(cut)
    }

    /// As the end of a text for people.
    pub(super) fn paint(&self, painter: &mut Painter) {
        for note in &self.notes {
            painter.line(Style::Faint, note);
        }
        for change in self.changes() {
            painter.line(Style::Warning, &format!("warning: {change}"));
        }
        painter.remarks(self.warnings, self.faults);
        if let Some(end) = self.end().filter(|end| !painter.ends_with(end)) {
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
        let changes = self.notes.iter().cloned().chain(changes);
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

fn truncated() -> String {
    "truncated".to_owned()
}
