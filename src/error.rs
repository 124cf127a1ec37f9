//! What can go wrong with a command as a whole, and what to do about it.
//!
//! Owns the codes that a user sees, their exit statuses and the shape "message plus hints". Faults
//! of one address among several are not errors: they are answers (see [`crate::address::Fault`]).
//! Invariant: a message is lower case without a period and names the object; a hint says what to do.

use std::fmt;
use std::path::Path;

/// The code of an error: stable, told to people and programs alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The command line is not one that the program understands.
    Usage,
    /// `--max-chars` is too small for any answer.
    BudgetTooSmall,
    /// A cap of [`crate::limits`] was exceeded.
    Limit,
    /// A pattern is not one of the syntax.
    InvalidPattern,
    /// What is to be changed is not what the change was made for.
    Conflict,
    /// An edit would do more than it says.
    EditRefused,
    /// A path lies outside the root of the store.
    OutsideRoot,
    /// The store asks for more than its own folder, and the user has not accepted that.
    UntrustedStore,
    /// Another process is writing.
    Locked,
    /// The store or its folder cannot be written.
    ReadOnly,
    /// There is no store.
    StoreNotFound,
    /// The file is not a store of this program.
    StoreForeign,
    /// The store was written by a newer program.
    StoreTooNew,
    /// The store is damaged.
    StoreCorrupt,
    /// The store has a write-ahead log that cannot be read from here.
    StoreNeedsCheckpoint,
    /// The operating system refused something.
    Io,
}

impl ErrorKind {
    /// The code as it is printed.
    pub fn code(self) -> &'static str {
        match self {
            Self::Usage => "USAGE",
            Self::BudgetTooSmall => "BUDGET_TOO_SMALL",
            Self::Limit => "LIMIT",
            Self::InvalidPattern => "INVALID_PATTERN",
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
            Self::Io => "IO",
        }
    }
}

/// A fault of the command: its kind, what happened to what, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.message)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    /// Why, where the kind alone does not say.
    reason: Option<&'static str>,
    message: String,
    hints: Vec<String>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// An error of `kind` with its `message`.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let message = message.into();
        Self(Box::new(Inner { kind, reason: None, message, hints: Vec::new(), source: None }))
    }

    /// An I/O error at `path`.
    pub fn io(path: &Path, error: std::io::Error) -> Self {
        let kind = match error.kind() {
            std::io::ErrorKind::ReadOnlyFilesystem => ErrorKind::ReadOnly,
            _ => ErrorKind::Io,
        };
        let mut result = Self::new(kind, format!("{}: {error}", path.display()));
        match error.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => {
                result = result.with_hint("check the path; it is seen from the current folder");
            }
            std::io::ErrorKind::PermissionDenied => {
                result = result.with_hint("let this user read and write it, and try again");
            }
            _ => {}
        }
        result.0.source = Some(Box::new(error));
        result
    }

    /// Adds the reason as a code in capitals.
    #[must_use]
    pub fn with_reason(mut self, reason: &'static str) -> Self {
        self.0.reason = Some(reason);
        self
    }

    /// Says first which part of a request it is about.
    #[must_use]
    pub fn in_part(mut self, part: &str) -> Self {
        self.0.message = format!("{part}: {}", self.0.message);
        self
    }

    /// Adds an imperative sentence that tells what to do.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hints.push(hint.into());
        self
    }

    /// Adds the error below this one.
    #[must_use]
    pub fn with_source(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.0.source = Some(Box::new(source));
        self
    }

    /// Whether nobody reads any more what was written.
    pub fn is_broken_pipe(&self) -> bool {
        let source = self.0.source.as_ref();
        source
            .and_then(|source| source.downcast_ref::<std::io::Error>())
            .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
    }

    /// Its kind.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The reason as a code, where the kind alone does not say it.
    pub fn reason(&self) -> Option<&'static str> {
        self.0.reason
    }

    /// The error as programs read it.
    pub fn to_json(&self) -> serde_json::Value {
        let mut object = serde_json::json!({ "code": self.kind().code() });
        if let Some(reason) = self.reason() {
            object["reason"] = reason.into();
        }
        object["message"] = self.to_string().into();
        object["hint"] = self.hints().join("; ").into();
        object
    }

    /// What to do, in the order of likelihood.
    pub fn hints(&self) -> &[String] {
        &self.0.hints
    }
}

/// The result of everything that can fail as a whole.
pub type Result<T> = std::result::Result<T, Error>;

/// A remark beside an answer: nothing failed, but the reader should know.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Warning {
    /// Stable code in capitals.
    pub code: &'static str,
    /// What it is about, naming the object.
    pub message: String,
}

impl Warning {
    /// A warning with its code.
    pub fn new(code: &'static str, message: impl fmt::Display) -> Self {
        Self { code, message: message.to_string() }
    }
}

/// `text` as one word of a command line, for hints: a store may hold anything.
pub(crate) fn shell_word(text: &str) -> String {
    let is_plain = |scalar: char| scalar.is_ascii_alphanumeric() || "/._-,+=:@%".contains(scalar);
    if !text.is_empty() && !text.starts_with('-') && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::shell_word;

    #[test]
    fn a_word_of_a_hint_is_one_word_of_a_command_line() {
        assert_eq!(shell_word("md,env"), "md,env");
        assert_eq!(shell_word("a; rm -rf '~'"), r"'a; rm -rf '\''~'\'''");
        assert_eq!(shell_word("-x"), "'-x'");
    }
}
