//! What can be wrong with the markers of a document.
//!
//! Invariant: a list of faults is bounded by [`MAX_LDMD_FAULTS`], and so is each message, however long
//! the ids that it names are.

use serde::{Deserialize, Serialize};

use crate::limits::MAX_LDMD_FAULTS;

/// Most scalars of an id or of a value that a message quotes.
const MAX_QUOTED: usize = 60;

/// One thing that is wrong with a marker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// What is wrong.
    pub kind: FaultKind,
    /// The marker's line, 1-based.
    pub line: usize,
    /// What is wrong, naming ids and values.
    pub message: String,
}

/// The kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum FaultKind {
    /// A section has the id of one before it.
    DuplicateId,
    /// An attribute stands twice in a marker, or its value is none that it may have.
    InvalidAttribute,
    /// A section's level is not deeper than the level of the section around it.
    LevelMismatch,
    /// A marker of no known kind, without an id, or with broken attributes.
    MalformedMarker,
    /// `meta` is not a JSON object.
    MetaUnreadable,
    /// An END closes a section while others are open inside of it.
    MismatchedEnd,
    /// A section names another parent than the section around it.
    ParentMismatch,
    /// More faults than are listed.
    TooManyFaults,
    /// More sections than are kept.
    TooManySections,
    /// A BEGIN has no END.
    UnclosedSection,
    /// An END closes no open section.
    UnexpectedEnd,
    /// A VERSION other than 1.
    UnknownVersion,
}

impl FaultKind {
    /// The stable name.
    pub fn code(self) -> &'static str {
        match self {
            Self::DuplicateId => "DUPLICATE_ID",
            Self::InvalidAttribute => "INVALID_ATTRIBUTE",
            Self::LevelMismatch => "LEVEL_MISMATCH",
            Self::MalformedMarker => "MALFORMED_MARKER",
            Self::MetaUnreadable => "META_UNREADABLE",
            Self::MismatchedEnd => "MISMATCHED_END",
            Self::ParentMismatch => "PARENT_MISMATCH",
            Self::TooManyFaults => "TOO_MANY_FAULTS",
            Self::TooManySections => "TOO_MANY_SECTIONS",
            Self::UnclosedSection => "UNCLOSED_SECTION",
            Self::UnexpectedEnd => "UNEXPECTED_END",
            Self::UnknownVersion => "UNKNOWN_VERSION",
        }
    }
}

/// Faults as they are found.
#[derive(Debug, Default)]
pub(super) struct Faults {
    listed: Vec<Fault>,
    unlisted: usize,
}

impl Faults {
    /// Notes one fault in `line`, 1-based.
    pub(super) fn add(&mut self, kind: FaultKind, line: usize, message: String) {
        if self.listed.len() < MAX_LDMD_FAULTS {
            self.listed.push(Fault { kind, line, message });
        } else {
            self.unlisted += 1;
        }
    }

    /// The list, by line; a last one says how many are not in it.
    pub(super) fn finish(mut self) -> Vec<Fault> {
        self.listed.sort_by_key(|fault| fault.line);
        if let Some(last) = self.listed.last().filter(|_| self.unlisted > 0) {
            let message = format!("{} more faults are not listed", self.unlisted);
            let line = last.line;
            self.listed.push(Fault { kind: FaultKind::TooManyFaults, line, message });
        }
        self.listed
    }
}

/// `text` as a message quotes it: short, and without control characters.
pub(super) fn quoted(text: &str) -> String {
    let more = if text.chars().nth(MAX_QUOTED).is_some() { "..." } else { "" };
    let printable = |scalar: char| if scalar.is_control() { '\u{fffd}' } else { scalar };
    let shown: String = text.chars().take(MAX_QUOTED).map(printable).collect();
    format!("\"{shown}{more}\"")
}
