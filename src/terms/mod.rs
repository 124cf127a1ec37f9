//! Terms: how text becomes the words and trigrams by which it is found.
//!
//! `tokens` divides text into folded words. [`WordQuery`] is a parsed query of such words, and
//! [`TrigramQuery`] a condition on the three-byte sequences of a document. `DocumentText` is the
//! text of a document by section and field. Every engine of the store uses the same terms.
//! Invariant: a text in a query becomes the same terms as that text in a document. Pure.

mod clause;
mod fingerprint;
mod kinds;
mod leaves;
mod names;
mod numbers;
mod query;
pub(crate) mod score;
mod stems;
mod stop_words;
mod term;
mod text;
mod token_text;
mod tokens;
mod trigram_set;
mod trigrams;

pub(crate) use clause::Clause;
pub(crate) use fingerprint::{Fingerprint, halves, has_same_numbers, is_near, is_similar};
pub(crate) use leaves::{QueryLeaf, TEXT_WEIGHTS, TEXTS, TermMatch};
pub(crate) use numbers::has_number;
pub use query::WordQuery;
pub use stems::StemClass;
pub(crate) use stop_words::{LANGUAGES, LanguageSet};
pub use term::{QueryTerm, TextField};
pub(crate) use text::{
    DocumentNames, DocumentText, FRONT_MATTER, IndexedField, TextExtractor, type_mark,
};
pub(crate) use token_text::WrittenTokens;
pub(crate) use tokens::{TokenBuffers, TokenKind, Tokens, camel_parts, folded};
pub(crate) use trigram_set::{Members, TrigramSet};
pub(crate) use trigrams::{ByPrefix, title_trigrams};
pub use trigrams::{Trigram, TrigramQuery, trigram};
