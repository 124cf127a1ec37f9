//! The exit statuses of a command.
//!
//! Invariant: they are those of `mdsel help errors`.

use std::process::ExitCode;

use crate::query::Outcome;
use crate::query::finding::Findings;

/// The exit statuses of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    /// Everything was answered, or a check found no problem.
    Success = 0,
    /// Nothing was answered, or a check found problems.
    Nothing = 1,
    /// A usage error, or an error of the store or of a file.
    Error = 2,
    /// A part was answered.
    Some = 3,
}

impl From<Outcome> for Status {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::All => Self::Success,
            Outcome::Some => Self::Some,
            Outcome::None => Self::Nothing,
        }
    }
}

impl Status {
    /// Returns the status of a check.
    pub(super) fn of_check(findings: &Findings) -> Self {
        if findings.is_partial() {
            Self::Error
        } else if findings.total == 0 {
            Self::Success
        } else {
            Self::Nothing
        }
    }
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(status as u8)
    }
}
