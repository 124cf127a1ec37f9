//! A word, a phrase or a prefix of a query, as it is sought in the index.
//!
//! Invariant: a term is made of the tokens that the same text makes in a document.

use super::stems::{StemClass, is_stop_word};
use super::tokens::{TokenKind, Tokens, fold_into};
use crate::limits;

/// A text that a word or phrase may be asked of alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextField {
    /// The title of the section.
    Title,
    /// Its own text without code blocks.
    Body,
    /// Its code blocks.
    Code,
    /// The path of the file and the titles above.
    Path,
    /// The tags of the document.
    Tags,
    /// The document's front matter.
    Meta,
}

impl TextField {
    pub(super) fn named(name: &str) -> Option<Self> {
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

/// A word, a phrase or a prefix.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryTerm {
    /// Where alone it is sought.
    pub field: Option<TextField>,
    /// Its words with their places in the phrase, folded.
    pub words: Vec<(usize, String)>,
    /// The words as one, where they are joined: `get_slice`, `c++`.
    pub compound: Option<String>,
    /// The other words that a single English word stands for: `shared` and `sharing` for `share`.
    pub stems: Option<StemClass>,
    /// Whether it says nothing of a subject where other words do: `how`.
    pub(super) is_stop_word: bool,
    /// Whether the last word is only the beginning of one.
    pub is_prefix: bool,
    /// How far apart the words of a phrase may stand beyond their places.
    pub slop: u32,
    /// What was written, folded: by this a tag is sought.
    pub text: String,
}

/// The term that `text` is; `None` where it holds no word.
pub(super) fn term(
    field: Option<TextField>,
    text: &str,
    is_quoted: bool,
    is_prefix: bool,
) -> Option<QueryTerm> {
    let mut words: Vec<(usize, String)> = Vec::new();
    let mut compounds = Vec::new();
    // A scalar that is a run of its own begins whatever pairs it is in.
    let mut is_lone_scalar = false;
    let (mut words_end, mut pair_end) = (0, 0);
    let mut tokens = Tokens::new(text);
    while tokens.advance() {
        words_end = words_end.max(tokens.span.end);
        match tokens.kind {
            TokenKind::Word => words.push((tokens.position, tokens.token.clone())),
            TokenKind::Pair => {
                words.push((tokens.position, tokens.token.clone()));
                pair_end = tokens.span.end;
            }
            TokenKind::Compound => compounds.push((tokens.span, tokens.token.clone())),
            // In a longer run, the pair before holds it.
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
    // One compound that is all of the text.
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
    // What has capitals within is a name, not an English word.
    let mut letters = text.chars().skip_while(|scalar| !scalar.is_alphabetic()).skip(1);
    let is_name = letters.any(char::is_uppercase);
    let stems = plain_word.filter(|_| !is_name).and_then(|word| StemClass::of(word));
    let is_stop_word = field.is_none() && plain_word.is_some_and(|word| is_stop_word(word));
    Some(QueryTerm {
        field,
        words,
        compound,
        stems,
        is_stop_word,
        is_prefix,
        slop: 0,
        text: folded,
    })
}
