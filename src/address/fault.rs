//! What can be wrong with one address among several: an answer, not an error of the command.
//!
//! Invariant: a fault names the address as it was given, the place in it where that is known, and
//! what could have been meant instead.

use serde::{Serialize, Serializer};

/// Why an address has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultCode {
    /// Nothing stands where a selector should.
    EmptySelector,
    /// A step that the grammar does not know, or not there.
    InvalidSyntax,
    /// A heading level other than 1 to 6.
    InvalidHeadingLevel,
    /// A block type that there is not.
    InvalidBlockType,
    /// An index that is not a whole number, or a range the wrong way round.
    InvalidIndex,
    /// A bracket that is not closed.
    UnclosedBracket,
    /// A slash with nothing behind it.
    TrailingSlash,
    /// A parameter that there is not, twice, or that does not go with another.
    MalformedQuery,
    /// No document of that name.
    NamespaceNotFound,
    /// The place could be in any document.
    NamespaceRequired,
    /// The file exists, but it was not ingested.
    NotInStore,
    /// No such place.
    SelectorNotFound,
    /// There are such places, but not so many.
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

/// An address that has no answer, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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
    /// The places that an ambiguous address may mean; their number stands in the message.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<String>,
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
            candidates: Vec::new(),
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

    /// Names the whole address, of which the part at fault begins at byte `offset`.
    #[must_use]
    pub fn of(mut self, address: &str, offset: usize) -> Self {
        let before = address.get(..offset).map_or(0, |before| before.chars().count());
        self.position = self.position.map(|position| position + before);
        address.clone_into(&mut self.selector);
        self
    }
}
