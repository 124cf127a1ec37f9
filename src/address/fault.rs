//! Errors of one address among several. They are part of the answer, and do not fail the command.
//!
//! Invariant: an error contains the address as it was given, the position in it if known, and
//! addresses that may have been meant.

use std::fmt;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::error::Problem;
use crate::limits;
use crate::message::{Message, message};

/// The reason why an address has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum FaultCode {
    /// A selector is empty.
    EmptySelector,
    /// A step does not exist, or is not allowed at this position.
    InvalidSyntax,
    /// A heading level is not 1 to 6.
    InvalidHeadingLevel,
    /// A block type does not exist.
    InvalidBlockType,
    /// An index is not a whole number, or a range ends before it begins.
    InvalidIndex,
    /// A bracket is not closed.
    UnclosedBracket,
    /// Nothing follows a slash.
    TrailingSlash,
    /// A parameter does not exist, is given twice, or cannot be combined with another.
    MalformedQuery,
    /// No document has this name.
    NamespaceNotFound,
    /// The address must name a document, because every document has such a place.
    NamespaceRequired,
    /// The file exists, but it was not ingested.
    NotInStore,
    /// No such place exists.
    SelectorNotFound,
    /// Places of this kind exist, but not with this index.
    IndexOutOfRange,
    /// Several places match.
    Ambiguous,
    /// The address exceeds a limit of the program.
    Limit,
}

impl FaultCode {
    /// Returns the code as it is printed.
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
            Self::Limit => "LIMIT",
        }
    }
}

impl Serialize for FaultCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

/// A place that an ambiguous address may mean, with the data needed to choose.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Candidate {
    /// The address of the place.
    pub selector: String,
    /// The path of the document.
    pub file: String,
    /// The slug path of the section; `null` for a document and before the first heading.
    pub path: Option<String>,
    /// The title of the section or document, if any.
    pub title: Option<String>,
    /// The first line of the place, 1-based.
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

/// An address that may have been meant. JSON has the address only; lines for people show the title, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// The address.
    pub address: String,
    /// The title of the section, if the address does not tell it.
    pub title: Option<String>,
}

impl From<String> for Suggestion {
    fn from(address: String) -> Self {
        Self { address, title: None }
    }
}

impl fmt::Display for Suggestion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.address)?;
        match &self.title {
            Some(title) => write!(formatter, "  {title}"),
            None => Ok(()),
        }
    }
}

impl Serialize for Suggestion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.address)
    }
}

/// What an address names, or why it names nothing, or more than one thing.
///
/// In `Result<AddressResult<T>>` the outer error is one of the whole command, as that of a damaged store is.
pub type AddressResult<T> = Result<T, AddressError>;

/// An address that has no answer, and why.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct AddressError {
    /// The address as it was given.
    pub selector: String,
    /// Why it has no answer.
    pub code: FaultCode,
    /// A message that names the part of the address that is wrong.
    pub message: Message,
    /// Position in the address, in Unicode scalars, 0-based.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<usize>,
    /// Addresses that may have been meant, most likely first.
    #[schemars(with = "Vec<String>")]
    pub suggestions: Vec<Suggestion>,
    /// The first places that an ambiguous address may mean.
    #[serde(skip_serializing_if = "<[Candidate]>::is_empty")]
    pub candidates: Box<[Candidate]>,
    /// The number of all candidates; 0 if the address is not ambiguous.
    #[serde(skip_serializing_if = "crate::schema::is_zero")]
    pub total: usize,
}

impl fmt::Display for AddressError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (code, at) = (self.code.code(), self.position_text());
        let selector = if self.selector.is_empty() { "\"\"" } else { &self.selector };
        write!(formatter, "{selector}: {code}{at}: {}", self.message)
    }
}

impl From<AddressError> for Problem {
    fn from(fault: AddressError) -> Self {
        let candidates = fault.candidates.iter().map(|candidate| candidate.selector.as_str());
        let hints = fault.suggested().chain(candidates).map(|it| Message::Text(it.to_owned()));
        let (code, hints) = (fault.code.code(), hints.collect());
        Self { code, reason: None, hints, message: fault.message }
    }
}

impl AddressError {
    /// Creates an error of an address that is set later with [`Self::of`].
    pub fn new(code: FaultCode, message: impl Into<Message>) -> Self {
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

    /// Returns ` at POSITION`, or nothing if the position is not known.
    pub(crate) fn position_text(&self) -> String {
        self.position.map_or_else(String::new, |at| format!(" at {at}"))
    }

    /// Creates the error of an empty address or place.
    pub(super) fn empty() -> Self {
        Self::new(
            FaultCode::EmptySelector,
            "the selector is empty: write an address, such as guide.md::heading:h2[0]",
        )
    }

    /// Sets the position, in Unicode scalars.
    #[must_use]
    pub fn at(mut self, position: usize) -> Self {
        self.position = Some(position);
        self
    }

    /// Sets the addresses that may have been meant.
    #[must_use]
    pub fn suggest(mut self, suggestions: Vec<impl Into<Suggestion>>) -> Self {
        self.suggestions = suggestions.into_iter().map(Into::into).collect();
        self
    }

    /// Puts suggestions before those that there are.
    #[must_use]
    pub fn suggest_first(mut self, suggestions: Vec<impl Into<Suggestion>>) -> Self {
        self.suggestions.splice(0..0, suggestions.into_iter().map(Into::into));
        self.suggestions.truncate(limits::MAX_SUGGESTIONS);
        self
    }

    /// Returns the suggested addresses.
    pub fn suggested(&self) -> impl Iterator<Item = &str> {
        self.suggestions.iter().map(|suggestion| suggestion.address.as_str())
    }

    /// Adds the next command to the message if there are no suggestions and no candidates.
    #[must_use]
    pub fn or_else<T: Into<Message>>(mut self, next: impl FnOnce() -> T) -> Self {
        if self.suggestions.is_empty() && self.candidates.is_empty() {
            self.message = message!("{}; {}", self.message, next().into());
        }
        self
    }

    /// Sets the first candidates, of `total` in all.
    #[must_use]
    pub fn among(mut self, candidates: impl IntoIterator<Item = Candidate>, total: usize) -> Self {
        self.candidates = candidates.into_iter().take(limits::MAX_CANDIDATES_SHOWN).collect();
        self.total = total;
        self
    }

    /// Returns the heading above a list of the candidates.
    pub fn candidates_heading(&self) -> String {
        match self.total {
            total if total > self.candidates.len() => {
                format!("It may be (the first {} of {total}):", self.candidates.len())
            }
            _ => "It may be:".to_owned(),
        }
    }

    /// Sets the whole address.
    #[must_use]
    pub fn of(mut self, address: &str) -> Self {
        address.clone_into(&mut self.selector);
        self
    }
}
