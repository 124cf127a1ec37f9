//! What can be wrong with one address among several: an answer, not an error of the command.
//!
//! Invariant: a fault names the address as it was given, the place in it where that is known, and
//! what could have been meant instead.

use std::fmt;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::limits;

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// Why an address has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum FaultCode {
    /// A selector is empty.
    EmptySelector,
    /// A step that does not exist, or not at that position.
    InvalidSyntax,
    /// A heading level other than 1 to 6.
    InvalidHeadingLevel,
    /// A block type that does not exist.
    InvalidBlockType,
    /// An index that is not a whole number, or a range the wrong way round.
    InvalidIndex,
    /// A bracket that is not closed.
    UnclosedBracket,
    /// A slash with nothing after it.
    TrailingSlash,
    /// A parameter that does not exist, is given twice, or cannot be combined with another.
    MalformedQuery,
    /// No document of that name.
    NamespaceNotFound,
    /// The place could be in any document.
    NamespaceRequired,
    /// The file exists, but it was not ingested.
    NotInStore,
    /// No such place.
    SelectorNotFound,
    /// There are such places, but fewer.
    IndexOutOfRange,
    /// Several places.
    Ambiguous,
}

impl FaultCode {
    /// The code as it is printed.
    pub fn code(self) -> &'static str {
        match self {
            Self::EmptySelector => "EMPTY_SELECTOR",
            Self::InvalidSyntax => "INVALID_SYNTAX",
            Self::InvalidHeadingLevel => "INVALID_HEADING_LEVEL",
            Self::InvalidBlockType => "INVALID_BLOCK_TYPE",
            Self::InvalidIndex => "INVALID_INDEX",
            Self::UnclosedBracket => "UNCLOSED_BRACKET",
            Self::TrailingSlash => "TRAILING_SLASH",
            Self::MalformedQuery => "MALFORMED_QUERY",
            Self::NamespaceNotFound => "NAMESPACE_NOT_FOUND",
            Self::NamespaceRequired => "NAMESPACE_REQUIRED",
            Self::NotInStore => "NOT_IN_STORE",
            Self::SelectorNotFound => "SELECTOR_NOT_FOUND",
            Self::IndexOutOfRange => "INDEX_OUT_OF_RANGE",
            Self::Ambiguous => "AMBIGUOUS",
        }
    }
}

impl Serialize for FaultCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

/// A place that an ambiguous address may mean, with what is needed to choose it.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Candidate {
    /// Its address.
    pub selector: String,
    /// The path of its document.
    pub file: String,
    /// The slug path of its section; `null` for a document and before the first heading.
    pub path: Option<String>,
    /// The title of its section or document, if any.
    pub title: Option<String>,
    /// Its first line, 1-based.
    pub line: usize,
}

impl fmt::Display for Candidate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.as_deref().unwrap_or(&self.file);
        write!(formatter, "{path} (@{})  ", self.line)?;
        if let Some(title) = &self.title {
            write!(formatter, "{title}  ")?;
        }
        formatter.write_str(&self.selector)
    }
}

/// An address that has no answer, and why.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Fault {
    /// The address as it was given.
    pub selector: String,
    /// Why it has no answer.
    pub code: FaultCode,
    /// What is wrong, naming the part.
    pub message: String,
    /// Where in the address, in Unicode scalars, 0-based.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<usize>,
    /// Addresses that may have been meant, the likeliest first.
    pub suggestions: Vec<String>,
    /// The first of the places that an ambiguous address may mean.
    #[serde(skip_serializing_if = "<[Candidate]>::is_empty")]
    pub candidates: Box<[Candidate]>,
    /// How many candidates there are in all; 0 for an address that is not ambiguous.
    #[serde(skip_serializing_if = "is_zero")]
    pub total: usize,
}

impl Fault {
    /// A fault of a place in an address that is not known yet; see [`Self::of`].
    pub fn new(code: FaultCode, message: impl Into<String>) -> Self {
        Self {
            selector: String::new(),
            code,
            message: message.into(),
            position: None,
            suggestions: Vec::new(),
            candidates: Box::default(),
            total: 0,
        }
    }

    /// Adds the place, in Unicode scalars.
    #[must_use]
    pub fn at(mut self, position: usize) -> Self {
        self.position = Some(position);
        self
    }

    /// Adds what may have been meant.
    #[must_use]
    pub fn suggest(mut self, suggestions: Vec<String>) -> Self {
        self.suggestions = suggestions;
        self
    }

    /// Adds to the message what to run next, if nothing is suggested.
    #[must_use]
    pub fn or_else(mut self, next: impl FnOnce() -> String) -> Self {
        if self.suggestions.is_empty() && self.candidates.is_empty() {
            self.message.push_str("; ");
            self.message.push_str(&next());
        }
        self
    }

    /// Adds the first places that may be meant, of `total` in all.
    #[must_use]
    pub fn among(mut self, candidates: impl IntoIterator<Item = Candidate>, total: usize) -> Self {
        self.candidates = candidates.into_iter().take(limits::MAX_CANDIDATES_SHOWN).collect();
        self.total = total;
        self
    }

    /// The heading above the candidates where they are listed.
    pub fn candidates_heading(&self) -> String {
        match self.total {
            total if total > self.candidates.len() => {
                format!("It may be (the first {} of {total}):", self.candidates.len())
            }
            _ => "It may be:".to_owned(),
        }
    }

    /// Names the whole address.
    #[must_use]
    pub fn of(mut self, address: &str) -> Self {
        address.clone_into(&mut self.selector);
        self
    }
}
