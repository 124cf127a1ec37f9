//! The fields of the index, and how texts become terms.
//!
//! An entry of the index is the own text of one section or of the root. The entry of the root also
//! contains the trigrams of the whole document and of its titles, which are stored in a separate file of the segment.
//! Invariant: an index is used only if its [`fingerprint`] equals that of this version.

use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{Token, TokenStream, Tokenizer, TokenizerManager};

use super::postings::FILE_VERSION;
use crate::terms::WrittenTokens;

/// The version of the terms. It is incremented whenever the same text gives different terms, or tantivy is
/// built to store them in another way, so that every index is rebuilt.
const TERMS_VERSION: u32 = 11;

/// The fields.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields {
    /// The id of the document; used to delete its entries.
    pub(super) document: Field,
    /// Document, section and level as one number: [`crate::store::SectionId::to_number`].
    pub(super) place: Field,
    /// The fingerprint of the words, for finding near-duplicates: [`crate::terms`].
    pub(super) fingerprint: Field,
    /// The rendered title. The first section with text also has the title and the file name of the
    /// document.
    pub(super) title: Field,
    /// The own text without the title and code blocks; the whole text of front matter.
    pub(super) body: Field,
    /// The code blocks.
    pub(super) code: Field,
    /// The parts of identifiers in camel case.
    pub(super) parts: Field,
    /// The path of the file and the titles of the parent sections.
    pub(super) path: Field,
    /// The tags of the document.
    pub(super) tags: Field,
    /// The folders that contain the file, and the marks of [`crate::terms::IndexedField::Scope`].
    pub(super) scope: Field,
}

/// The name of the field [`Fields::place`].
pub(super) const PLACE: &str = "place";
/// The name of the field [`Fields::fingerprint`].
pub(super) const FINGERPRINT: &str = "fingerprint";

/// Returns the schema and its fields.
pub(super) fn schema() -> (Schema, Fields) {
    let text = |tokenizer: &str, record: IndexRecordOption, has_norms: bool| {
        TextOptions::default().set_indexing_options(
            TextFieldIndexing::default()
                .set_tokenizer(tokenizer)
                .set_index_option(record)
                .set_fieldnorms(has_norms),
        )
    };
    let words = text("words", IndexRecordOption::WithFreqsAndPositions, true);
    let mut builder = Schema::builder();
    let fields = Fields {
        document: builder.add_u64_field("document", INDEXED),
        place: builder.add_u64_field(PLACE, FAST),
        fingerprint: builder.add_u64_field(FINGERPRINT, FAST),
        title: builder.add_text_field("title", words.clone()),
        body: builder.add_text_field("body", words.clone()),
        code: builder.add_text_field("code", words),
        parts: builder.add_text_field("parts", text("parts", IndexRecordOption::Basic, false)),
        path: builder.add_text_field("path", text("words", IndexRecordOption::Basic, false)),
        tags: builder.add_text_field("tags", text("raw", IndexRecordOption::Basic, false)),
        scope: builder.add_text_field("scope", text("raw", IndexRecordOption::Basic, false)),
    };
    (builder.build(), fields)
}

/// Returns a hash of the schema, the version of the terms and the version of the trigram files.
pub(super) fn fingerprint() -> String {
    let (schema, _) = schema();
    let text = serde_json::to_string(&schema).unwrap_or_default();
    let hash = blake3::hash(format!("{TERMS_VERSION} {FILE_VERSION} {text}").as_bytes());
    hash.to_hex().chars().take(16).collect()
}

/// Returns the tokenizers that the schema names.
pub(super) fn tokenizers() -> TokenizerManager {
    // tantivy also needs its default tokenizers, for fields that are not text.
    let tokenizers = TokenizerManager::default();
    tokenizers.register("words", WrittenTokenizer::default());
    tokenizers.register("parts", WrittenTokenizer::default());
    tokenizers
}

/// Produces the tokens of a text that [`crate::terms::DocumentText`] wrote.
#[derive(Clone, Default)]
struct WrittenTokenizer {
    token: Token,
}

struct WrittenStream<'a> {
    tokens: WrittenTokens<'a>,
    token: &'a mut Token,
}

impl Tokenizer for WrittenTokenizer {
    type TokenStream<'a> = WrittenStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WrittenStream<'a> {
        WrittenStream { tokens: WrittenTokens::new(text), token: &mut self.token }
    }
}

impl TokenStream for WrittenStream<'_> {
    fn advance(&mut self) -> bool {
        let Some((position, text)) = self.tokens.next() else { return false };
        self.token.position = position;
        self.token.text.clear();
        self.token.text.push_str(text);
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}
