//! The part of an answer that is not an item: unresolved selectors, warnings, changed documents, and the
//! cursor.
//!
//! Invariant: whatever the JSON of an answer reports about these, every other format reports too. In
//! text, one line after the items says how to continue.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::Caller;
use super::text_writer::{Style, TextWriter};
use crate::address::{AddressError, FaultCode};
use crate::error::Warning;
use crate::message::{InStore, Message};
use crate::query::Page;
use crate::query::freshness::Freshness;
use crate::query::labels::DocumentLabels;

/// The part of an answer that is not an item.
#[derive(Clone, Debug)]
pub struct Footer<'a> {
    /// Addresses that were not resolved.
    pub(super) faults: &'a [AddressError],
    /// The warnings of the answer.
    pub(super) warnings: &'a [Warning],
    /// Whether items or parts of items were left out.
    pub(super) is_truncated: bool,
    /// The cursor of the first item that was left out, if any.
    pub(super) next: Option<&'a String>,
    /// Documents whose files differ from the stored versions, each once.
    pub(super) changed: Vec<(&'a str, Freshness)>,
    /// The items that are cut, each with the address of its remainder.
    pub(super) cut: Vec<(&'a str, &'a str)>,
    /// What is said about all items: what the request excludes, totals, repeated findings, and what a dry run would do.
    pub(super) notes: Vec<String>,
    /// The types and tags of the documents, if records print them.
    pub(super) labels: Option<&'a DocumentLabels>,
    /// The interface that the request came from.
    pub(super) caller: Caller<'a>,
}

impl<'a> Footer<'a> {
    /// Returns a footer without cursor.
    pub(super) fn new(
        faults: &'a [AddressError],
        warnings: &'a [Warning],
        is_truncated: bool,
    ) -> Self {
        Self {
            faults,
            warnings,
            is_truncated,
            next: None,
            changed: Vec::new(),
            cut: Vec::new(),
            notes: Vec::new(),
            labels: None,
            caller: Caller::CommandLine,
        }
    }

    /// Returns the footer of a page.
    pub(super) fn of(page: &'a Page) -> Self {
        let footer = Self::new(&page.unresolved_selectors, &page.warnings, page.truncated);
        Self { next: page.next.as_ref(), labels: Some(&page.labels), ..footer }
    }

    /// Adds items that are cut, each with the address of its remainder.
    pub(super) fn with_cut(mut self, cut: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        self.cut.extend(cut);
        self
    }

    /// Adds those of `documents` that differ from their files, each once.
    pub(super) fn with(mut self, documents: impl Iterator<Item = (&'a str, Freshness)>) -> Self {
        let mut known = HashSet::new();
        let changed = documents.filter(|(_, freshness)| *freshness != Freshness::default());
        self.changed.extend(changed.filter(|(file, _)| known.insert(*file)));
        self
    }

    /// Returns whether an address was not resolved.
    pub fn has_faults(&self) -> bool {
        !self.faults.is_empty()
    }

    /// Returns why each address was not resolved.
    pub fn fault_codes(&self) -> impl Iterator<Item = FaultCode> {
        self.faults.iter().map(|fault| fault.code)
    }

    /// Returns the rows of `jsonl` after the items. The items themselves mark changed documents.
    pub(super) fn rows(&self) -> Vec<Value> {
        let faults = self.faults.iter().map(|fault| json!({ "unresolved": fault }));
        let warnings = self.warnings.iter().map(|warning| json!({ "warning": warning }));
        let end = match self.next {
            Some(next) => Some(json!({ "truncated": true, "next": next })),
            None => self.is_truncated.then(|| json!({ "truncated": true })),
        };
        faults.chain(warnings).chain(end).collect()
    }

    /// Returns a line for each changed document.
    fn changes(&self) -> impl Iterator<Item = String> {
        self.changed.iter().map(|(file, freshness)| {
            let what = match freshness {
                Freshness { never_had_file: true, .. } => "has no file here",
                Freshness { is_missing: true, .. } => "has been deleted since it was ingested",
                Freshness { is_unchecked: true, .. } => {
                    "cannot be read, so it may have changed since it was ingested"
                }
                _ => "has changed since it was ingested",
            };
            let is_gone = freshness.is_missing && !freshness.never_had_file;
            let next = match self.caller {
                _ if freshness.is_unchecked || !is_gone && !freshness.is_stale => String::new(),
                Caller::CommandLine if is_gone => {
                    "; add --refresh to remove it from the store first".to_owned()
                }
                Caller::CommandLine => "; add --refresh to ingest it first".to_owned(),
                // A server has no such option.
                Caller::Mcp { store_option, .. } => {
                    let next = "; `mdsel ingest` in the user's terminal updates the store";
                    Message::from(next).render(&InStore { options: store_option })
                }
            };
            format!("{file} {what}{next}")
        })
    }

    /// Returns lines to print beside an answer that consists of bytes.
    pub(super) fn lines(&self) -> Vec<String> {
        let cut = self.cut.iter().map(|(place, rest)| format!("{place} is cut: more: {rest}"));
        let next = self.next_line().or_else(|| self.is_cut_silently().then(truncated));
        cut.chain(self.message_lines()).chain(next).collect()
    }

    /// Returns the lines for notes, unresolved selectors, warnings and changed documents.
    pub(super) fn message_lines(&self) -> Vec<String> {
        let faults = self.faults.iter().flat_map(|fault| with_others(fault.to_string(), fault));
        let warnings = self.warnings.iter().map(Warning::to_string);
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

    /// Returns whether something was left out that has no address and no cursor.
    fn is_cut_silently(&self) -> bool {
        self.is_truncated && self.next.is_none() && self.cut.is_empty()
    }

    /// Returns whether the last line says how to continue the only item that is cut, so that the item need not say it.
    pub(super) fn says_rest_last(&self) -> bool {
        self.next.is_none() && self.cut.len() == 1
    }

    /// Returns the last line of a text: how to continue, or that something was left out.
    pub(super) fn end(&self) -> Option<String> {
        let cut = || match self.cut.as_slice() {
            [] => self.is_truncated.then(truncated),
            [(_, rest)] => Some(format!("more: {rest}")),
            cut => Some(format!("more: {} items are cut, see \"more\" after each", cut.len())),
        };
        self.next_line().or_else(cut)
    }

    /// Appends the footer to a text for people.
    pub(super) fn write_text(&self, writer: &mut TextWriter) {
        for note in &self.notes {
            writer.line(Style::Faint, note);
        }
        for change in self.changes() {
            writer.line(Style::Warning, format_args!("warning: {change}"));
        }
        for warning in self.warnings {
            writer.line(Style::Warning, warning);
        }
        for fault in self.faults {
            writer.line(Style::Warning, fault);
            if !fault.suggestions.is_empty() {
                writer.plain("Did you mean:");
            }
            for suggestion in &fault.suggestions {
                writer.plain(format_args!("- {suggestion}"));
            }
            if !fault.candidates.is_empty() {
                writer.plain(fault.candidates_heading());
            }
            for candidate in &fault.candidates {
                writer.plain(format_args!("- {candidate}"));
            }
        }
        if let Some(end) = self.end() {
            writer.line(Style::Faint, &end);
        }
    }

    /// Returns the footer as items of a list, for `ldmd`.
    pub(super) fn items(&self) -> Vec<String> {
        let warnings = self.warnings.iter().map(Warning::to_string);
        let faults = self.faults.iter();
        let faults = faults.flat_map(|fault| with_others(format!("unresolved: {fault}"), fault));
        let changes = self.changes().map(|change| format!("warning: {change}"));
        let changes = self.notes.iter().cloned().chain(changes);
        let truncated = std::iter::once(format!("truncated: {}", self.is_truncated));
        let next = self.next.map(|next| format!("next: {next}"));
        warnings.chain(faults).chain(changes).chain(truncated).chain(next).collect()
    }

    /// Returns the texts of the `WARN` records.
    pub(super) fn messages(&self) -> Vec<String> {
        let faults = self.faults.iter().flat_map(|fault| {
            let id = crate::records::id(&fault.selector);
            let (code, at) = (fault.code.code(), fault.position_text());
            let line = format!("{code} {id}{at}: {}", fault.message);
            with_others(line, fault)
        });
        let warnings = self.warnings.iter();
        let warnings = warnings.map(|warning| format!("{} {}", warning.code, warning.message));
        faults.chain(warnings).chain(self.changes()).collect()
    }
}

/// Returns the line for an unresolved selector, then one line for each suggestion and candidate.
fn with_others(line: String, fault: &AddressError) -> impl Iterator<Item = String> {
    let suggestions = fault.suggestions.iter().map(|other| format!("suggestion: {other}"));
    let candidates = fault.candidates.iter().map(|candidate| format!("candidate: {candidate}"));
    std::iter::once(line).chain(suggestions).chain(candidates)
}

fn truncated() -> String {
    "truncated".to_owned()
}
