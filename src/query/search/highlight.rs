//! Where in a text the words of a query are.
//!
//! Invariant: a section that the index names for its own text has an occurrence of a term; the best line
//! is the one with the most different words, the first of several.

use crate::position::{ByteSpan, LineIndex};
use crate::store::{QueryTerm, StemClass, TokenKind, Tokens, same_length_text};

/// Of a term whose words are joined, as in `15.9`, the share of the joined words. The rest is that of the
/// words by themselves.
const COMPOUND: f32 = 0.5;

/// A place where a word of the text matches a term of the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Occurrence {
    /// The word.
    pub(crate) span: ByteSpan,
    /// Index of the word among all words of the query: see [`Highlighter::word_weights`].
    pub(crate) word: usize,
}

/// The words of a query, as they are recognized in a text.
pub(crate) struct Highlighter {
    words: Vec<Word>,
}

/// A word: which term it belongs to, and how.
struct Word {
    /// Index of the term in [`WordQuery::terms`](crate::store::WordQuery::terms).
    term: usize,
    /// The share of its term that a text with this word alone has.
    share: f32,
    text: String,
    stems: Option<StemClass>,
    is_prefix: bool,
    is_compound: bool,
}

impl Word {
    /// Whether the token is the word, or another of its stem, or an identifier of which it is a part.
    fn is_at(&self, text: &str, tokens: &Tokens<'_>) -> bool {
        (self.is_compound == (tokens.kind == TokenKind::Compound))
            && (tokens.token == self.text
                || self.is_prefix && tokens.token.starts_with(&self.text)
                || self.stems.as_ref().is_some_and(|class| class.has(&tokens.token))
                || tokens.kind == TokenKind::Word && has_camel_part(text, tokens, self))
    }
}

impl Highlighter {
    /// Recognizes the words of `terms`.
    pub(crate) fn new(terms: &[&QueryTerm]) -> Self {
        let mut words = Vec::new();
        for (index, term) in terms.iter().enumerate() {
            let is_joined = term.compound.is_some() && term.words.len() > 1;
            let parts = term.words.len() + usize::from(is_joined);
            #[expect(clippy::cast_precision_loss, reason = "a query has few words")]
            let word = |text: &str| Word {
                term: index,
                share: if is_joined {
                    (1.0 - COMPOUND) / (parts - 1) as f32
                } else {
                    1.0 / parts as f32
                },
                text: text.to_owned(),
                stems: term.stems.clone(),
                is_prefix: false,
                is_compound: false,
            };
            if let Some(compound) = &term.compound {
                let share = if is_joined { COMPOUND } else { 1.0 };
                words.push(Word { is_compound: true, share, ..word(compound) });
                if term.words.len() < 2 {
                    continue;
                }
            }
            let last = term.words.len() - 1;
            words.extend(term.words.iter().enumerate().map(|(position, (_, text))| Word {
                is_prefix: term.is_prefix && position == last,
                ..word(text)
            }));
        }
        Self { words }
    }

    /// What each word counts, where `terms` are the weights of the terms.
    pub(super) fn word_weights(&self, terms: &[f32]) -> Vec<f32> {
        let weight = |word: &Word| terms.get(word.term).copied().unwrap_or_default() * word.share;
        self.words.iter().map(weight).collect()
    }

    /// Every place where a word of `bytes` matches a term, in order; a word may match several.
    pub(crate) fn occurrences(&self, bytes: &[u8]) -> Vec<Occurrence> {
        let text = same_length_text(bytes);
        let mut tokens = Tokens::new(&text);
        let mut occurrences = Vec::new();
        while tokens.advance() {
            for (index, word) in self.words.iter().enumerate() {
                if word.is_at(&text, &tokens) {
                    occurrences.push(Occurrence { span: tokens.span, word: index });
                }
            }
        }
        occurrences
    }

    /// The first word of the query on the line of `bytes` that has the most different ones; `None` where
    /// there is none that is wanted.
    pub(super) fn best(
        &self,
        bytes: &[u8],
        is_wanted: impl Fn(ByteSpan) -> bool,
    ) -> Option<ByteSpan> {
        let lines = LineIndex::new(bytes);
        let mut occurrences = self.occurrences(bytes);
        occurrences.retain(|occurrence| is_wanted(occurrence.span));
        let line_of = |occurrence: &Occurrence| lines.line_of(occurrence.span.start);
        let mut best: Option<(usize, ByteSpan)> = None;
        let mut seen = vec![false; self.words.len()];
        for line in occurrences.chunk_by(|one, other| line_of(one) == line_of(other)) {
            seen.fill(false);
            for occurrence in line {
                if let Some(seen) = seen.get_mut(occurrence.word) {
                    *seen = true;
                }
            }
            let count = seen.iter().filter(|seen| **seen).count();
            let Some(first) = line.first() else { continue };
            if best.is_none_or(|(most, _)| count > most) {
                best = Some((count, first.span));
            }
        }
        best.map(|(_, span)| span)
    }
}

/// Whether the token is an identifier in camel case with `word` as one of its parts.
fn has_camel_part(text: &str, tokens: &Tokens<'_>, word: &Word) -> bool {
    let source = text.get(tokens.span.start..tokens.span.end).unwrap_or_default();
    let mut has = false;
    if source.len() > word.text.len() && source.bytes().any(|byte| byte.is_ascii_uppercase()) {
        crate::store::camel_parts(source, |part| has |= part == word.text);
    }
    has
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::WordQuery;

    fn best(query: &str, text: &str) -> Option<String> {
        let query = WordQuery::parse(query);
        let span = Highlighter::new(&query.terms()).best(text.as_bytes(), |_| true)?;
        let line = LineIndex::new(text.as_bytes()).line_of(span.start);
        Some(format!("{line}:{}", &text[span.start..span.end]))
    }

    #[test]
    fn the_line_with_the_most_words_is_told() {
        let text = "One two.\nthree One\ntwo three one\n";
        assert_eq!(best("one three", text).unwrap(), "2:three");
        assert_eq!(best("two one three", text).unwrap(), "3:two");
        assert_eq!(best("TWO", text).unwrap(), "1:two");
        assert_eq!(best("four", text), None);
        assert_eq!(best("thr*", text).unwrap(), "2:three");
    }

    #[test]
    fn identifiers_are_recognized_whole_and_in_parts() {
        let text = "slice get\nuse get_slice here\ncall getSlice\nC and C++\n搜索文本";
        assert_eq!(best("get_slice", text).unwrap(), "2:get_slice");
        assert_eq!(best("c++", text).unwrap(), "4:C++");
        assert_eq!(best("文本", text).unwrap(), "5:文本");
        assert_eq!(best("索", text).unwrap(), "5:索文");
    }
}
