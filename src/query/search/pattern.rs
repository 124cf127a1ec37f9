//! Compiled patterns, which match within lines or across the lines of a section.
//!
//! The syntax is that of the `regex` crate. Within lines, a pattern sees each line as a separate text
//! without its line end. Parts that could match a line end never match, and anchors to the ends of the
//! text match at the ends of the line. A whole document can therefore be searched at once. Invariant:
//! the matches are those of the `regex` crate on each line, or on each section's own bytes, except empty
//! matches after the last line end of a section.

use regex_automata::meta::Regex;
use regex_automata::nfa::thompson::WhichCaptures;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{
    Capture, Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, HirKind,
    Look, Repetition,
};

use super::plan::plan;
use crate::error::{Error, ErrorKind, Result};
use crate::limits;
use crate::position::ByteSpan;
use crate::terms::TrigramQuery;
use crate::visible::quoted;

/// How patterns are parsed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command")]
pub struct PatternOptions {
    /// Whether patterns are plain text.
    pub is_literal: bool,
    /// Whether case is ignored.
    pub ignores_case: bool,
    /// Whether a match must not be part of a longer word.
    pub is_word: bool,
    /// Whether a match may span lines of a section's own text.
    pub is_multi_line: bool,
}

/// Returns the trigrams that a document must contain for any of `patterns` to match in it.
pub fn required_trigrams(patterns: &[String], options: PatternOptions) -> Result<TrigramQuery> {
    Pattern::new(patterns, options).map(|pattern| pattern.plan)
}

/// A compiled pattern.
#[derive(Clone, Debug)]
pub(in crate::query) struct Pattern {
    regex: Regex,
    /// The trigrams that a document with a match must contain.
    pub(super) plan: TrigramQuery,
    /// Whether a match may span lines.
    pub(super) is_multi_line: bool,
    /// Whether the pattern contains a line end, which never matches within a line.
    pub(super) names_line_end: bool,
}

impl Pattern {
    /// Compiles a pattern that matches whatever any of `patterns` matches.
    pub(in crate::query) fn new(patterns: &[String], options: PatternOptions) -> Result<Self> {
        let mut alternatives = Vec::with_capacity(patterns.len());
        for pattern in patterns {
            alternatives.push(parse(pattern, options)?);
        }
        let mut hir = Hir::alternation(alternatives);
        let mut names_line_end = false;
        if !options.is_multi_line {
            hir = within_lines(&hir, &mut names_line_end);
        }
        let config = Regex::config()
            .utf8_empty(false)
            .which_captures(WhichCaptures::Implicit)
            .nfa_size_limit(Some(limits::MAX_PATTERN_MEMORY_BYTES))
            .hybrid_cache_capacity(limits::MAX_PATTERN_MEMORY_BYTES / 4);
        let regex =
            Regex::builder().configure(config).build_from_hir(&hir).map_err(|error| match error
                .size_limit()
            {
                Some(_) => limits::exceeded(limits::row::MAX_PATTERN_MEMORY_BYTES),
                None => Error::new(ErrorKind::InvalidPattern, error.to_string()),
            })?;
        let is_multi_line = options.is_multi_line;
        Ok(Self { regex, plan: plan(&hir), is_multi_line, names_line_end })
    }

    /// Returns a copy for another thread, so that threads do not contend for its cache.
    pub(super) fn for_thread(&self) -> Self {
        self.clone()
    }

    /// Returns whether the pattern matches anywhere in `bytes`.
    pub(in crate::query) fn is_match(&self, bytes: &[u8]) -> bool {
        self.regex.is_match(bytes)
    }

    /// Calls `visit` with the matches in `bytes`, in order, until it returns false. `bytes` is a whole
    /// document or the own text of a section. An empty match after its last line end is left out,
    /// because no line begins there, or one that is not part of it. So is one within a character.
    pub(super) fn matches(&self, bytes: &[u8], mut visit: impl FnMut(ByteSpan) -> bool) {
        for found in self.regex.find_iter(bytes) {
            let span = ByteSpan::new(found.start(), found.end());
            let may_be_between_cr_and_lf = self.is_multi_line && span.start < bytes.len();
            let is_in_a_line = || may_be_between_cr_and_lf || is_in_a_line(bytes, span.start);
            if span.is_empty() && (is_in_a_character(bytes, span.start) || !is_in_a_line()) {
                continue;
            }
            if !visit(span) {
                return;
            }
        }
    }
}

/// Returns whether `offset` is in a line or at its end: not between CR and LF, and not after the last
/// line end.
fn is_in_a_line(bytes: &[u8], offset: usize) -> bool {
    let before = offset.checked_sub(1).and_then(|before| bytes.get(before));
    !matches!(
        (before, bytes.get(offset)),
        (Some(b'\r'), Some(b'\n')) | (None | Some(b'\n' | b'\r'), None)
    )
}

/// Returns whether `offset` is between the bytes of a character. A byte that is not UTF-8 is a character of its own.
fn is_in_a_character(bytes: &[u8], offset: usize) -> bool {
    // All bytes of a character but the first are continuation bytes.
    if bytes.get(offset).is_none_or(|byte| byte & 0xc0 != 0x80) {
        return false;
    }
    let is_character = |start: usize, end: usize| {
        let text = bytes.get(start..end).and_then(|bytes| std::str::from_utf8(bytes).ok());
        text.is_some_and(|text| text.chars().count() == 1)
    };
    let mut starts = (1..4).filter_map(|before| offset.checked_sub(before));
    starts.any(|start| (offset + 1..=start + 4).any(|end| is_character(start, end)))
}

fn parse(pattern: &str, options: PatternOptions) -> Result<Hir> {
    if pattern.len() > limits::MAX_PATTERN_BYTES {
        return Err(limits::exceeded(limits::row::MAX_PATTERN_BYTES));
    }
    let escaped;
    let text = if options.is_literal {
        escaped = regex_syntax::escape(pattern);
        &escaped
    } else {
        pattern
    };
    let hir = ParserBuilder::new()
        .utf8(false)
        .nest_limit(limits::PATTERN_NESTING)
        .case_insensitive(options.ignores_case)
        .multi_line(options.is_multi_line)
        .crlf(true)
        .build()
        .parse(text)
        .map_err(|error| invalid(pattern, &error))?;
    if !options.is_word {
        return Ok(hir);
    }
    let start = Hir::look(Look::WordStartHalfUnicode);
    let end = Hir::look(Look::WordEndHalfUnicode);
    Ok(Hir::concat(vec![start, hir, end]))
}

fn invalid(pattern: &str, error: &regex_syntax::Error) -> Error {
    let (what, offset) = match error {
        regex_syntax::Error::Parse(error) => (error.kind().to_string(), error.span().start.offset),
        regex_syntax::Error::Translate(error) => {
            (error.kind().to_string(), error.span().start.offset)
        }
        _ => (error.to_string(), 0),
    };
    let column = pattern.get(..offset).map_or(0, |before| before.chars().count()) + 1;
    let message = format!("{pattern} at character {column}: {what}", pattern = quoted(&pattern));
    Error::new(ErrorKind::InvalidPattern, message)
        .with_hint("use -F to search for the literal text")
}

/// Restricts a pattern to matches within a line: it cannot match a line end, and anchors match at the
/// ends of the line.
fn within_lines(hir: &Hir, names_line_end: &mut bool) -> Hir {
    match hir.kind() {
        HirKind::Empty => Hir::empty(),
        HirKind::Literal(literal) => {
            if literal.0.iter().any(|byte| matches!(byte, b'\n' | b'\r')) {
                *names_line_end = true;
                return Hir::fail();
            }
            hir.clone()
        }
        HirKind::Class(class) => {
            let mut within = class.clone();
            match &mut within {
                Class::Unicode(class) => {
                    let ends = ['\n', '\r'].map(|end| ClassUnicodeRange::new(end, end));
                    class.difference(&ClassUnicode::new(ends));
                }
                Class::Bytes(class) => {
                    let ends = [b'\n', b'\r'].map(|end| ClassBytesRange::new(end, end));
                    class.difference(&ClassBytes::new(ends));
                }
            }
            *names_line_end |= within.is_empty() && !class.is_empty();
            Hir::class(within)
        }
        HirKind::Look(Look::Start | Look::StartLF | Look::StartCRLF) => Hir::look(Look::StartCRLF),
        HirKind::Look(Look::End | Look::EndLF | Look::EndCRLF) => Hir::look(Look::EndCRLF),
        HirKind::Look(look) => Hir::look(*look),
        HirKind::Repetition(repetition) => Hir::repetition(Repetition {
            sub: Box::new(within_lines(&repetition.sub, names_line_end)),
            ..repetition.clone()
        }),
        HirKind::Capture(capture) => Hir::capture(Capture {
            sub: Box::new(within_lines(&capture.sub, names_line_end)),
            ..capture.clone()
        }),
        HirKind::Concat(parts) => {
            Hir::concat(parts.iter().map(|part| within_lines(part, names_line_end)).collect())
        }
        HirKind::Alternation(parts) => {
            Hir::alternation(parts.iter().map(|part| within_lines(part, names_line_end)).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::position::{LineIndex, trim_line_end};

    fn found(pattern: &str, text: &str) -> Vec<(usize, usize)> {
        let pattern = Pattern::new(&[pattern.to_owned()], PatternOptions::default()).unwrap();
        let mut spans = Vec::new();
        pattern.matches(text.as_bytes(), |span| {
            spans.push((span.start, span.end));
            true
        });
        spans
    }

    /// Returns the matches of the `regex` crate, line by line, without empty ones within a character.
    fn scanned(pattern: &str, text: &str) -> Vec<(usize, usize)> {
        let regex = regex::bytes::Regex::new(pattern).unwrap();
        let lines = LineIndex::new(text.as_bytes());
        let mut spans = Vec::new();
        for line in 1..=lines.count() {
            let start = lines.start_of(line);
            let bytes = &text.as_bytes()[start..lines.end_of(line)];
            for found in regex.find_iter(trim_line_end(bytes)) {
                let (start, end) = (start + found.start(), start + found.end());
                if start < end || text.is_char_boundary(start) {
                    spans.push((start, end));
                }
            }
        }
        spans
    }

    #[test]
    fn matches_in_a_document_are_those_in_its_lines() {
        let texts = [
            "",
            "\n",
            "\r\n",
            "a",
            "a\n",
            "ab\r\ncd\r\n",
            "x\ry\n\nz",
            "aé日\n\n\r\r\nb",
            "foo bar\n foo",
            "a\u{2028}b\u{85}c\n",
        ];
        let patterns = [
            "",
            "a*",
            "^",
            "$",
            "^$",
            r"\s+",
            r"\s*$",
            "[^x]+",
            r"(?s).*",
            r"\Aa",
            r"b\z",
            r"(?m)^.",
            r"\bfoo\b",
            "x|y",
            r"[\n]",
            r"a\nb",
            r"\r",
            r"(?-u)\xc3",
            r"\W",
            "(?i)É",
            r"^\s*\w+$",
            r"\B",
        ];
        for text in texts {
            for pattern in patterns {
                assert_eq!(found(pattern, text), scanned(pattern, text), "{pattern:?} in {text:?}");
            }
        }
    }

    #[test]
    fn words_literals_and_case() {
        let spans = |pattern: &str, options: PatternOptions, text: &str| {
            let pattern = Pattern::new(&[pattern.to_owned()], options).unwrap();
            let mut spans = Vec::new();
            pattern.matches(text.as_bytes(), |span| {
                spans.push((span.start, span.end));
                true
            });
            spans
        };
        let plain = PatternOptions::default();
        let literal = PatternOptions { is_literal: true, ..plain };
        assert_eq!(spans("a.b", literal, "axb a.b"), [(4, 7)]);
        let word = PatternOptions { is_word: true, ..plain };
        assert_eq!(spans("foo", word, "foobar foo"), [(7, 10)]);
        assert_eq!(spans("-x", word, "a -x b"), [(2, 4)]);
        let insensitive = PatternOptions { ignores_case: true, ..plain };
        assert_eq!(spans("k", insensitive, "kK\u{212A}"), [(0, 1), (1, 2), (2, 5)]);
        let multi = PatternOptions { is_multi_line: true, ..plain };
        assert_eq!(spans(r"a$\s+^b", multi, "a\r\nb"), [(0, 4)]);
    }

    #[test]
    fn an_empty_match_is_not_within_a_character() {
        assert_eq!(found("", "aé日\u{1F600}b\n").len(), 6);
        assert_eq!(found("x*", "éx\n"), [(0, 0), (2, 3)]);
        assert_eq!(found(r"\B", "é\n"), []);
        let pattern = Pattern::new(&[String::new()], PatternOptions::default()).unwrap();
        let mut starts = Vec::new();
        // Neither a byte that only continues a character nor the start of one is a character.
        pattern.matches(b"\x80\xe6\x97a\xe6\x97\xa5", |span| {
            starts.push(span.start);
            true
        });
        assert_eq!(starts, [0, 1, 2, 3, 4, 7]);
    }

    #[test]
    fn errors_have_a_position() {
        let error = Pattern::new(&["é(".to_owned()], PatternOptions::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidPattern);
        assert!(error.to_string().contains("at character 2"), "{error}");
        for pattern in [r"(?=x)", r"(x)\1", "[z-a]", "x{2,1}"] {
            let error = Pattern::new(&[pattern.to_owned()], PatternOptions::default()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidPattern, "{pattern}");
        }
        for pattern in ["(?:a{1,100}){100}{100}", &"x".repeat(5000), ".{0,50000}{100}"] {
            let error = Pattern::new(&[pattern.to_owned()], PatternOptions::default()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Limit, "{pattern}");
        }
        assert!(Pattern::new(&["(".repeat(500)], PatternOptions::default()).is_err());
    }
}
