//! A word, a phrase or a prefix in a query, in the form in which it is looked up.
//!
//! Invariant: a term consists of the same tokens that the same text has in a document.

use super::names;
use super::stems::StemClass;
use super::stop_words::LanguageSet;
use super::tokens::{TokenKind, Tokens, fold_into};
use crate::limits;
use crate::position::ByteSpan;

/// A field that a query can name; see `mdsel help search`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextField {
    /// The title of the section.
    Title,
    /// The own text of the section without code blocks.
    Body,
    /// The code blocks of the section.
    Code,
    /// The path of the file and the titles of the parent sections.
    Path,
    /// The tags of the document.
    Tags,
    /// The front matter of the document.
    Meta,
}

impl TextField {
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "title" => Self::Title,
            "body" => Self::Body,
            "code" => Self::Code,
            "path" => Self::Path,
            "tags" | "tag" => Self::Tags,
            "meta" => Self::Meta,
            _ => return None,
        })
    }
}

/// How much a word looks like a name in a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// Not at all, or it is an abbreviation, such as `HTTP`.
    Word,
    /// It is a name, but may be that of a product: `HttpClient`, `JavaScript`.
    Capitalized,
    /// It is a name: `maxRetries`, `max_retries`.
    Identifier,
}

impl Look {
    fn of(word: &str) -> Self {
        let pairs = || word.chars().zip(word.chars().skip(1));
        let first = word.chars().find(|scalar| scalar.is_alphabetic());
        if pairs().any(|(one, next)| one == '_' && next.is_alphanumeric()) {
            Self::Identifier
        } else if !pairs().any(|(one, next)| one.is_lowercase() && next.is_uppercase()) {
            Self::Word
        } else if first.is_some_and(char::is_lowercase) {
            Self::Identifier
        } else {
            Self::Capitalized
        }
    }
}

/// A word, a phrase or a prefix.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryTerm {
    /// The field that must contain the term; `None` for any field.
    pub field: Option<TextField>,
    /// The folded words, with their positions in the phrase.
    pub words: Vec<(usize, String)>,
    /// The compound, if the words are joined: `get_slice`, `c++`.
    pub compound: Option<String>,
    /// A name of several words as it is written. It is divided if no text has it; see [`super::names`].
    pub(crate) written: Option<String>,
    /// The other forms of the term if it is a single word: `shared` and `sharing` for `share`. The versions that it
    /// begins, if it is a version: `2.14.0` for `2.14`.
    pub stems: Option<StemClass>,
    /// Whether it is a word with inner capitals, which is not stemmed as long as it is found as it is written.
    pub(crate) is_name: bool,
    /// How much it looks like a name in a program.
    pub(crate) look: Look,
    /// The languages in which the term is a stop word, such as `how`. It is dropped from a query in one of them that has
    /// other words.
    pub(crate) stop_word_of: LanguageSet,
    /// Whether the last word is a prefix.
    pub is_prefix: bool,
    /// The maximum number of extra positions between the words of a phrase.
    pub slop: u32,
    /// The folded text of the term. Tags are looked up by it.
    pub text: String,
}

impl QueryTerm {
    /// Returns the word of a term that is one unquoted word, in no field of its own, and that has other forms; else `None`.
    pub(super) fn plain_word(&self) -> Option<&str> {
        let has_forms = self.stems.is_some() || self.is_name;
        match self.words.as_slice() {
            [(_, word)] if has_forms && self.field.is_none() && self.compound.is_none() => {
                Some(word)
            }
            _ => None,
        }
    }
}

/// Returns the term for `text`; `None` if it contains no word.
pub(crate) fn term(
    field: Option<TextField>,
    text: &str,
    is_quoted: bool,
    is_prefix: bool,
) -> Option<QueryTerm> {
    let mut words: Vec<(usize, String)> = Vec::new();
    let mut compounds = Vec::new();
    // A run of one scalar matches every pair that begins with it.
    let mut is_lone_scalar = false;
    let (mut words_end, mut pair_end) = (0, 0);
    let mut first = ByteSpan::default();
    let mut tokens = Tokens::new(text);
    while tokens.advance() {
        words_end = words_end.max(tokens.span.end);
        match tokens.kind {
            TokenKind::Word => {
                if words.is_empty() {
                    first = tokens.span;
                }
                words.push((tokens.position, tokens.token.clone()));
            }
            TokenKind::Pair => {
                words.push((tokens.position, tokens.token.clone()));
                pair_end = tokens.span.end;
            }
            TokenKind::Compound => compounds.push((tokens.span, tokens.token.clone())),
            // The last scalar of a longer run is part of the pair before it.
            TokenKind::Last if tokens.span.start < pair_end => {}
            TokenKind::Last => {
                words.push((tokens.position, tokens.token.clone()));
                is_lone_scalar = words.len() == 1;
            }
        }
        if words.len() == limits::MAX_QUERY_WORDS {
            break;
        }
    }
    if words.is_empty() {
        return None;
    }
    // The text is a compound only if one compound covers all of it.
    let compound = match compounds.as_slice() {
        [(span, compound)] if words_end <= span.end => Some(compound.clone()),
        _ => None,
    };
    let mut folded = String::new();
    fold_into(text, &mut folded);
    let words_count = words.len();
    let has_star = !is_quoted && text.ends_with('*');
    let is_prefix = is_prefix || has_star || (is_lone_scalar && words_count == 1);
    let plain_word = match words.as_slice() {
        [(_, word)] if !is_quoted && !is_prefix && compound.is_none() => Some(word),
        _ => None,
    };
    // A word with inner capitals is a name and is not stemmed.
    let mut letters = text.chars().skip_while(|scalar| !scalar.is_alphabetic()).skip(1);
    let is_name = plain_word.is_some() && letters.any(char::is_uppercase);
    let version = compound.as_deref().filter(|_| !is_quoted && !is_prefix);
    let written = text.get(first.start..first.end).unwrap_or_default();
    let stems = match (version, plain_word) {
        (Some(version), _) => StemClass::of_version(version),
        (None, Some(word)) if !is_name && written.is_ascii() => StemClass::of(word),
        (None, Some(word)) if !is_name => StemClass::in_any_language(word),
        _ => None,
    };
    let stop_word_of = plain_word.filter(|_| field.is_none()).map(|word| {
        // Only English is looked up without accents.
        let written = written.to_lowercase();
        let folded = LanguageSet::of_stop_word(word).intersection(LanguageSet::ENGLISH);
        LanguageSet::of_stop_word(&written).union(folded)
    });
    let stop_word_of = stop_word_of.unwrap_or_default();
    let look = if is_quoted { Look::Word } else { Look::of(text) };
    let is_divisible = field.is_none()
        && match version {
            Some(_) => stems.is_none() && names::is_divisible(&words),
            None => is_name && names::is_divisible_word(text, look),
        };
    Some(QueryTerm {
        field,
        words,
        compound,
        written: is_divisible.then(|| text.to_owned()),
        stems,
        is_name,
        look,
        stop_word_of,
        is_prefix,
        slop: 0,
        text: folded,
    })
}
