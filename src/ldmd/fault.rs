//! Problems of the markers of a document.
//!
//! Invariant: the number of problems is bounded by [`MAX_LDMD_FAULTS`], and the length of a message
//! by [`MAX_LDMD_QUOTED_CHARS`], however long the ids in the document are.

use serde::{Deserialize, Serialize};

use crate::count::counted;
use crate::limits::{MAX_LDMD_FAULTS, MAX_LDMD_QUOTED_CHARS};

/// A problem of one marker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarkerProblem {
    /// The kind of problem.
    pub kind: FaultKind,
    /// The line of the marker, 1-based.
    pub line: usize,
    /// A message that names the ids and values.
    pub message: String,
}

/// The kinds of problems.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum FaultKind {
    /// A section has the id of an earlier section.
    DuplicateId,
    /// An attribute occurs twice in a marker, or its value is not valid.
    InvalidAttribute,
    /// The level of a section is not deeper than the level of the section around it.
    LevelMismatch,
    /// A marker has an unknown kind, no id, or attributes that cannot be parsed.
    MalformedMarker,
    /// `meta` is not a JSON object.
    MetaUnreadable,
    /// An END closes a section while sections inside of it are open.
    MismatchedEnd,
    /// A section names a parent that is not the section around it.
    ParentMismatch,
    /// There are more problems than are listed.
    TooManyFaults,
    /// There are more sections than are kept.
    TooManySections,
    /// A BEGIN has no END.
    UnclosedSection,
    /// An END closes no open section.
    UnexpectedEnd,
    /// A VERSION is not 1.
    UnknownVersion,
}

impl FaultKind {
    /// Returns whether a marker is without the one that belongs to it.
    pub fn is_unmatched(self) -> bool {
        matches!(self, Self::MismatchedEnd | Self::UnclosedSection | Self::UnexpectedEnd)
    }

    /// Returns the code as it is printed, which never changes.
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

/// A list of problems, while the markers are read.
#[derive(Debug, Default)]
pub(super) struct Faults {
    listed: Vec<MarkerProblem>,
    unlisted: usize,
}

impl Faults {
    /// Adds a problem in `line`, 1-based.
    pub(super) fn add(&mut self, kind: FaultKind, line: usize, message: String) {
        if self.listed.len() < MAX_LDMD_FAULTS {
            self.listed.push(MarkerProblem { kind, line, message });
        } else {
            self.unlisted += 1;
        }
    }

    /// Returns the problems sorted by line. If some are not listed, the last one gives their
    /// number.
    pub(super) fn finish(mut self) -> Vec<MarkerProblem> {
        self.listed.sort_by_key(|fault| fault.line);
        if let Some(last) = self.listed.last().filter(|_| self.unlisted > 0) {
            let message = format!("the list leaves out {}", counted(self.unlisted, "more problem"));
            let line = last.line;
            self.listed.push(MarkerProblem { kind: FaultKind::TooManyFaults, line, message });
        }
        self.listed
    }
}

/// Returns `text` in quotes, shortened and without control characters, for a message.
pub(super) fn quoted(text: &str) -> String {
    let more = if text.chars().nth(MAX_LDMD_QUOTED_CHARS).is_some() { "..." } else { "" };
    let printable = |scalar: char| if scalar.is_control() { '\u{fffd}' } else { scalar };
    let shown: String = text.chars().take(MAX_LDMD_QUOTED_CHARS).map(printable).collect();
    format!("\"{shown}{more}\"")
}
