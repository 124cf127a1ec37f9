//! Where in a section the words of a query stand.
//!
//! Invariant: a section that the index names for its own text holds a word of the query, on the line
//! that is told; the line is the one with the most of them, the first of several.

use crate::position::{ByteSpan, LineIndex};
use crate::store::{QueryTerm, TokenKind, Tokens, same_length_text};

/// The words of a query, as they are recognized in a text.
pub(super) struct Highlighter {
    words: Vec<Word>,
}

/// A word: which term it belongs to, and how.
struct Word {
    text: String,
    is_prefix: bool,
    is_compound: bool,
}

impl Highlighter {
    pub(super) fn new(terms: &[&QueryTerm]) -> Self {
        let mut words = Vec::new();
        for term in terms {
            if let Some(compound) = &term.compound {
                words.push(Word { text: compound.clone(), is_prefix: false, is_compound: true });
                if term.words.len() < 2 {
                    continue;
                }
            }
            let last = term.words.len() - 1;
            words.extend(term.variant.iter().map(|variant| Word {
                text: variant.clone(),
                is_prefix: false,
                is_compound: false,
            }));
            for (index, (_, word)) in term.words.iter().enumerate() {
                let is_prefix = term.is_prefix && index == last;
                words.push(Word { text: word.clone(), is_prefix, is_compound: false });
            }
        }
        Self { words }
    }

    /// The first word of the query on the line of `bytes` that holds the most; `None` where there is
    /// none within `wanted`, or in the whole where everything is.
    pub(super) fn best(
        &self,
        bytes: &[u8],
        is_wanted: impl Fn(ByteSpan) -> bool,
    ) -> Option<ByteSpan> {
        let text = same_length_text(bytes);
        let lines = LineIndex::new(text.as_bytes());
        let mut best: Option<(usize, ByteSpan)> = None;
        let mut line_end = 0;
        let mut first = None;
        let mut seen = vec![false; self.words.len()];
        let mut tokens = Tokens::new(&text);
        let finish = |first: Option<ByteSpan>,
                      seen: &mut Vec<bool>,
                      best: &mut Option<(usize, ByteSpan)>| {
            let count = seen.iter().filter(|seen| **seen).count();
            seen.fill(false);
            if let Some(first) = first
                && best.is_none_or(|(most, _)| count > most)
            {
                *best = Some((count, first));
            }
        };
        while tokens.advance() {
            if tokens.span.start >= line_end {
                finish(first.take(), &mut seen, &mut best);
                line_end = lines.end_of(lines.line_of(tokens.span.start));
            }
            let mut is_word = false;
            for (word, seen) in self.words.iter().zip(&mut seen) {
                let is_same = (word.is_compound == (tokens.kind == TokenKind::Compound))
                    && (tokens.token == word.text
                        || word.is_prefix && tokens.token.starts_with(&word.text)
                        || tokens.kind == TokenKind::Word && has_camel_part(&text, &tokens, word));
                if is_same && is_wanted(tokens.span) {
                    *seen = true;
                    is_word = true;
                }
            }
            if is_word && first.is_none() {
                first = Some(tokens.span);
            }
        }
        finish(first, &mut seen, &mut best);
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
