//! The tokens of a text in the form of another text, so that a text is divided into tokens only once.
//!
//! Each token is followed by one byte: the distance from its position to that of the next token, which
//! is 0, 1 or [`GAP`]. Invariant: no token contains one of these bytes, because tokens have no control
//! characters.

use super::tokens::{TokenBuffers, TokenKind, Tokens, camel_parts};
use crate::position::ByteSpan;

/// The distance between the last token of a text and the first one of the next text, so that a phrase
/// does not continue from one text to the next.
const GAP: u8 = 2;

/// Writes the tokens of several texts one after the other.
#[derive(Debug, Default)]
pub(crate) struct TokenWriter {
    written: String,
    /// The parts of identifiers that have not been written yet.
    parts: String,
    buffers: TokenBuffers,
}

impl TokenWriter {
    /// Appends the tokens of `texts` and returns their span.
    pub(crate) fn words<'a>(&mut self, texts: impl Iterator<Item = &'a str>) -> ByteSpan {
        let start = self.written.len();
        for text in texts {
            let mut tokens = Tokens::with(text, std::mem::take(&mut self.buffers));
            let mut before = None;
            while tokens.advance() {
                if let Some(before) = before {
                    self.end_token(u8::from(tokens.position > before));
                }
                self.written.push_str(&tokens.token);
                before = Some(tokens.position);
                if tokens.kind == TokenKind::Word {
                    let word = text.get(tokens.span.start..tokens.span.end).unwrap_or_default();
                    self.keep_parts(word);
                }
            }
            if before.is_some() {
                self.end_token(GAP);
            }
            self.buffers = tokens.take_buffers();
        }
        ByteSpan::new(start, self.written.len())
    }

    /// Appends the parts of the identifiers in camel case in all words since the last call, and returns
    /// their span.
    pub(crate) fn parts(&mut self) -> ByteSpan {
        let start = self.written.len();
        self.written.push_str(&self.parts);
        self.parts.clear();
        ByteSpan::new(start, self.written.len())
    }

    fn keep_parts(&mut self, word: &str) {
        // Most words have no capitals after the first letter.
        if word.bytes().skip(1).any(|byte| byte.is_ascii_uppercase()) {
            camel_parts(word, |part| {
                self.parts.push_str(part);
                self.parts.push('\u{1}');
            });
        }
    }

    fn end_token(&mut self, distance: u8) {
        self.written.push(char::from(distance));
    }

    /// Returns the written text. The next text starts at 0 again.
    pub(crate) fn finish(&mut self) -> String {
        self.parts.clear();
        let written = self.written.as_str().to_owned();
        self.written.clear();
        written
    }
}

/// An iterator over the tokens that a [`TokenWriter`] wrote, with their positions.
#[derive(Clone, Debug)]
pub(crate) struct WrittenTokens<'a> {
    rest: &'a str,
    position: usize,
}

impl<'a> WrittenTokens<'a> {
    pub(crate) fn new(written: &'a str) -> Self {
        Self { rest: written, position: 0 }
    }
}

impl<'a> Iterator for WrittenTokens<'a> {
    type Item = (usize, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        // Tokens are short: a loop takes less time than a search in blocks of bytes.
        let end = self.rest.bytes().position(|byte| byte <= GAP)?;
        let (token, rest) = self.rest.split_at(end);
        let distance = rest.as_bytes().first().copied().unwrap_or_default();
        self.rest = rest.get(1..).unwrap_or_default();
        let position = self.position;
        self.position += usize::from(distance);
        Some((position, token))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_read_as_they_were_written() {
        let texts =
            ["get_slice(C++) of 全文搜索", "", " -- ", "Über naïve\u{0}text", "\u{1}\u{2}x"];
        let mut writer = TokenWriter::default();
        let span = writer.words(texts.into_iter());
        let written = writer.finish();
        let mut expected = Vec::new();
        let mut first = 0;
        for text in texts {
            let mut tokens = Tokens::new(text);
            let mut next = first;
            while tokens.advance() {
                expected.push((first + tokens.position, tokens.token.clone()));
                next = first + tokens.position + 2;
            }
            first = next;
        }
        let read = WrittenTokens::new(&written[span.start..span.end]);
        let read: Vec<_> = read.map(|(position, token)| (position, token.to_owned())).collect();
        assert_eq!(read, expected);
    }

    #[test]
    fn each_text_has_its_span() {
        let mut writer = TokenWriter::default();
        let one = writer.words(["a b"].into_iter());
        let none = writer.words(std::iter::empty());
        let code = writer.words(["getSlice plain", "std::HTTPServer"].into_iter());
        let parts = writer.parts();
        let no_parts = writer.parts();
        let written = writer.finish();
        let read = |span: ByteSpan| {
            let tokens = WrittenTokens::new(&written[span.start..span.end]);
            tokens.map(|(_, token)| token).collect::<Vec<_>>()
        };
        assert_eq!(read(one), ["a", "b"]);
        assert_eq!(read(none), [""; 0]);
        let words = ["getslice", "plain", "std::httpserver", "std", "httpserver"];
        assert_eq!(read(code), words);
        assert_eq!(read(parts), ["get", "slice", "http", "server"]);
        assert_eq!(read(no_parts), [""; 0]);
        assert_eq!(writer.words(["c"].into_iter()), ByteSpan::new(0, 2));
    }
}
