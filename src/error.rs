//! Errors of a whole command, with hints, and warnings.
//!
//! Owns the codes and the parts of an error: a kind, a message and hints. [`crate::cli`] and [`crate::mcp`]
//! print them. A problem with one address among several is not an error but part of the answer (see
//! [`crate::address::AddressError`]).
//! Invariant: a message is in lower case, has no period at its end, and names the object; a hint says what
//! to do.

use std::fmt;
use std::path::Path;

use crate::message::{Message, message};
use crate::visible::quoted;

/// The code of an error. Codes are stable; `mdsel help errors` lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The command line or the call is not valid.
    Usage,
    /// `--max-chars` is too small for the smallest possible answer.
    BudgetTooSmall,
    /// A limit of [`crate::limits`] was exceeded.
    Limit,
    /// A pattern is not a valid regular expression.
    InvalidPattern,
    /// A condition (`--where`) cannot be parsed.
    InvalidExpression,
    /// The file or the section is not the one that the edit was made for.
    Conflict,
    /// An edit was refused: it would do more than it says, or its content does not fit the place.
    EditRefused,
    /// A path is outside the root of the store.
    OutsideRoot,
    /// The store asks for more than its own folder or for other options, which the user has not accepted.
    UntrustedStore,
    /// Another process is writing to the store.
    Locked,
    /// The store, its folder, or a file to edit cannot be written.
    ReadOnly,
    /// No store was found.
    StoreNotFound,
    /// The file is not a store of mdsel.
    StoreForeign,
    /// A newer version of mdsel wrote the store.
    StoreTooNew,
    /// The store is damaged.
    StoreCorrupt,
    /// The store has a write-ahead log that this process cannot read.
    StoreNeedsCheckpoint,
    /// The server of the store does not answer, or refuses the user.
    StoreUnreachable,
    /// The operating system refused an operation.
    Io,
}

impl ErrorKind {
    /// The code in capitals, as it is printed.
    pub fn code(self) -> &'static str {
        match self {
            Self::Usage => "USAGE",
            Self::BudgetTooSmall => "BUDGET_TOO_SMALL",
            Self::Limit => "LIMIT",
            Self::InvalidPattern => "INVALID_PATTERN",
            Self::InvalidExpression => "INVALID_EXPRESSION",
            Self::Conflict => "CONFLICT",
            Self::EditRefused => "EDIT_REFUSED",
            Self::OutsideRoot => "OUTSIDE_ROOT",
            Self::UntrustedStore => "UNTRUSTED_STORE",
            Self::Locked => "LOCKED",
            Self::ReadOnly => "READ_ONLY",
            Self::StoreNotFound => "STORE_NOT_FOUND",
            Self::StoreForeign => "STORE_FOREIGN",
            Self::StoreTooNew => "STORE_TOO_NEW",
            Self::StoreCorrupt => "STORE_CORRUPT",
            Self::StoreNeedsCheckpoint => "STORE_NEEDS_CHECKPOINT",
            Self::StoreUnreachable => "STORE_UNREACHABLE",
            Self::Io => "IO",
        }
    }
}

/// An error of the whole command: its kind, a message that names the object, and hints.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.message)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    /// A more precise code, if the kind has several reasons.
    reason: Option<&'static str>,
    message: Message,
    hints: Vec<Message>,
    others: Vec<Problem>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// Another problem of the same request, such as one of another line of a batch.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The code in capitals.
    pub code: &'static str,
    /// A more precise code, if the code has several reasons.
    pub reason: Option<&'static str>,
    /// The message, which names the part of the request.
    pub message: Message,
    /// What to do, the likeliest first, if it is not the same as for the error.
    pub hints: Vec<Message>,
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let (code, reason) = (error.kind().code(), error.reason());
        Self { code, reason, message: error.0.message, hints: error.0.hints }
    }
}

/// Why a command failed.
#[derive(schemars::JsonSchema, serde::Serialize)]
#[schemars(rename = "Failure")]
pub(crate) struct ErrorJson {
    /// The code in capitals; `mdsel help errors` lists all.
    code: &'static str,
    /// Why an edit was refused, a code in capitals.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    /// What was wrong, with what.
    message: String,
    /// What to do; empty if nothing helps.
    hint: String,
    /// The other problems of a batch of edits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    others: Vec<ProblemJson>,
}

/// Another problem of a batch of edits.
#[derive(schemars::JsonSchema, serde::Serialize)]
#[schemars(rename = "OtherProblem")]
struct ProblemJson {
    /// The code in capitals.
    code: &'static str,
    /// Why an edit was refused, a code in capitals.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    /// What was wrong, with which edit.
    message: String,
    /// What to do, if it is not the same as for the first problem.
    hint: String,
}

/// Joins hints to one text.
pub(crate) fn joined(hints: impl Iterator<Item = String>) -> String {
    hints.collect::<Vec<_>>().join("; ")
}

/// Whether `error` says that the process has no more descriptors or memory. It says nothing about a file then.
pub(crate) fn is_exhaustion(error: &std::io::Error) -> bool {
    use rustix::io::Errno;
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE | Errno::NOMEM))
}

impl Error {
    /// Creates an error without hints.
    pub fn new(kind: ErrorKind, message: impl Into<Message>) -> Self {
        let message = message.into();
        let (hints, others) = (Vec::new(), Vec::new());
        Self(Box::new(Inner { kind, reason: None, message, hints, others, source: None }))
    }

    /// Creates the error of a part of the program that was left out when it was built.
    pub fn lacks_feature(name: &str) -> Self {
        Self::new(
            ErrorKind::Usage,
            format!("this program was built without the feature {name}", name = quoted(&name)),
        )
        .with_hint(format!("install one that has it: `cargo install mdsel --features {name}`"))
    }

    /// Creates an I/O error at `path`: `ReadOnly` on a read-only file system, else `Io`.
    pub fn io(path: &Path, error: std::io::Error) -> Self {
        let kind = match error.kind() {
            std::io::ErrorKind::ReadOnlyFilesystem => ErrorKind::ReadOnly,
            _ => ErrorKind::Io,
        };
        let mut result = Self::new(kind, format!("{}: {error}", path.display()));
        match error.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => {
                result = result.with_hint("check the spelling of the path");
            }
            std::io::ErrorKind::PermissionDenied => {
                result = result.with_hint("let this user read and write it, and try again");
            }
            std::io::ErrorKind::ReadOnlyFilesystem => {
                result = result.with_hint("choose a place that can be written");
            }
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
                result = result.with_hint("free space on the disk");
            }
            _ if is_exhaustion(&error) => {
                result =
                    result.with_hint("raise the limits of the process (`ulimit -a` shows them)");
            }
            _ => {}
        }
        result.0.source = Some(Box::new(error));
        result
    }

    /// Sets the reason, a code in capitals.
    #[must_use]
    pub fn with_reason(mut self, reason: &'static str) -> Self {
        self.0.reason = Some(reason);
        self
    }

    /// Puts `part`, the part of the request that failed, before the message.
    #[must_use]
    pub fn in_part(mut self, part: &str) -> Self {
        self.0.message = message!("{}: {}", part, self.0.message);
        self
    }

    /// Adds a hint: an imperative sentence that says what to do.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<Message>) -> Self {
        self.0.hints.push(hint.into());
        self
    }

    /// Changes each hint, also those of the other problems.
    #[must_use]
    pub(crate) fn map_hints(mut self, change: impl Fn(&Message) -> Message) -> Self {
        let others = self.0.others.iter_mut().map(|other| &mut other.hints);
        for hints in std::iter::once(&mut self.0.hints).chain(others) {
            *hints = hints.iter().map(&change).collect();
        }
        self
    }

    /// Sets the other problems of the request. This one decides the code and the exit status.
    #[must_use]
    pub fn with_others(mut self, others: Vec<Problem>) -> Self {
        self.0.others = others;
        self
    }

    /// Sets the underlying error.
    #[must_use]
    pub fn with_source(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.0.source = Some(Box::new(source));
        self
    }

    /// Whether the cause is a closed pipe: the reader of the output has gone.
    pub fn is_broken_pipe(&self) -> bool {
        let source = self.0.source.as_ref();
        source
            .and_then(|source| source.downcast_ref::<std::io::Error>())
            .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
    }

    /// The kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The reason, a code in capitals, if the kind has several.
    pub fn reason(&self) -> Option<&'static str> {
        self.0.reason
    }

    /// The error as a JSON object with `code`, `message` and `hint`, and, if there are any, `reason` and `others`.
    pub fn to_json(&self) -> serde_json::Value {
        self.to_json_as(Message::to_string)
    }

    /// The error as a JSON object in the words of an interface.
    pub(crate) fn to_json_as(&self, words: impl Fn(&Message) -> String) -> serde_json::Value {
        let other = |other: &Problem| ProblemJson {
            code: other.code,
            reason: other.reason,
            message: words(&other.message),
            hint: joined(other.hints.iter().map(&words)),
        };
        let json = ErrorJson {
            code: self.kind().code(),
            reason: self.reason(),
            message: words(self.message()),
            hint: joined(self.hints().iter().map(&words)),
            others: self.others().iter().map(other).collect(),
        };
        serde_json::to_value(json).unwrap_or_default()
    }

    /// The other problems of the same request.
    pub fn others(&self) -> &[Problem] {
        &self.0.others
    }

    /// The message, which names the object.
    pub fn message(&self) -> &Message {
        &self.0.message
    }

    /// All hints as one text.
    pub fn hint(&self) -> String {
        joined(self.hints().iter().map(Message::to_string))
    }

    /// What to do, the likeliest first.
    pub fn hints(&self) -> &[Message] {
        &self.0.hints
    }
}

impl From<Error> for Message {
    fn from(error: Error) -> Self {
        error.0.message
    }
}

/// The result of an operation that can fail as a whole.
pub type Result<T> = std::result::Result<T, Error>;

/// A warning in an answer: nothing failed, but the reader should know it.
#[derive(Clone, Debug, PartialEq, Eq, schemars::JsonSchema, serde::Serialize)]
pub struct Warning {
    /// The code in capitals. Codes are stable; `mdsel help errors` lists them.
    pub code: &'static str,
    /// The message, which names the object.
    pub message: Message,
}

impl Warning {
    /// Creates a warning.
    pub fn new(code: &'static str, message: impl Into<Message>) -> Self {
        Self { code, message: message.into() }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "warning: {}: {}", self.code, self.message)
    }
}
