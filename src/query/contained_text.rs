//! A text that sections or code blocks must contain, in any case.
//!
//! Invariant: a document that is not a candidate does not contain the text.

use std::collections::HashSet;

use super::Session;
use super::search::{Pattern, PatternOptions, required_trigrams};
use crate::decoding;
use crate::error::Result;
use crate::markdown::slug::comparable;
use crate::terms::TrigramQuery;

/// A pattern for the characters of three bytes of which ASCII may be a part when they are folded, and for U+FE0F, which
/// is left out then. Documents with them are few.
const ELSEWHERE: &str = "[\u{FE0F}\u{1FEF}ẖẗẘẙẚﬀ-ﬆ]";

/// Returns a pattern that matches each line whose folded form contains `text`, which is ASCII, unless [`ELSEWHERE`]
/// matches it.
fn pattern(text: &str) -> String {
    let text = text.to_ascii_lowercase();
    let mut pattern = String::new();
    let mut position = 0;
    while let Some(first) = text.get(position..).and_then(|rest| rest.chars().next()) {
        let length = match first {
            's' => text
                .get(position..)
                .map_or(1, |rest| rest.len() - rest.trim_start_matches('s').len()),
            other => other.len_utf8(),
        };
        let (is_start, is_end) = (position == 0, position + length == text.len());
        match first {
            's' if length > 1 || is_start || is_end => pattern.push_str("[sß]+"),
            'n' if is_start => pattern.push_str("[nŉ]"),
            'j' if is_end => pattern.push_str("[jǰ]"),
            'i' if is_end => pattern.push_str("[iİ]"),
            ';' => pattern.push_str("[;\u{37E}]"),
            other => pattern.push_str(&regex_syntax::escape(other.encode_utf8(&mut [0; 4]))),
        }
        position += length;
    }
    pattern
}

/// How the text is compared.
enum Form {
    /// As titles are: `ß` is `ss`, and an accent may be a character of its own.
    Folded(String),
    /// As in a search for a pattern: character by character.
    Pattern(Pattern),
}

/// A text, and the documents that may contain it.
pub(super) struct ContainedText {
    form: Form,
    /// The documents that may have the text, if that is known.
    candidates: Option<HashSet<i64>>,
}

impl ContainedText {
    /// Looks up which documents may contain `text`, which is compared as titles are.
    pub(super) fn new(session: &Session<'_>, text: &str) -> Result<Self> {
        let options = PatternOptions { ignores_case: true, ..PatternOptions::default() };
        let line = longest_line(text);
        let plan = required_trigrams(&[pattern(line), ELSEWHERE.to_owned()], options)?;
        let plan = if line.is_ascii() { plan } else { TrigramQuery::All };
        Self::among(session, &plan, Form::Folded(comparable(text)))
    }

    /// Looks up which documents may contain `text` in a code block. Only its case is ignored.
    pub(super) fn in_code(session: &Session<'_>, text: &str) -> Result<Self> {
        let options =
            PatternOptions { is_literal: true, ignores_case: true, ..PatternOptions::default() };
        let plan = required_trigrams(&[longest_line(text).to_owned()], options)?;
        let options = PatternOptions { is_multi_line: true, ..options };
        Self::among(session, &plan, Form::Pattern(Pattern::new(&[text.to_owned()], options)?))
    }

    fn among(session: &Session<'_>, plan: &TrigramQuery, form: Form) -> Result<Self> {
        let candidates = match plan {
            TrigramQuery::All => None,
            plan => session.reader.candidates(plan)?.map(HashSet::from_iter),
        };
        Ok(Self { form, candidates })
    }

    /// Returns whether the document with the id `document` may contain the text.
    pub(super) fn may_be_in(&self, document: i64) -> bool {
        self.candidates.as_ref().is_none_or(|candidates| candidates.contains(&document))
    }

    /// Returns whether `bytes` contain the text.
    pub(super) fn is_in(&self, bytes: &[u8]) -> bool {
        match &self.form {
            Form::Folded(text) => comparable(&decoding::text(bytes)).contains(text),
            Form::Pattern(pattern) => pattern.is_match(bytes),
        }
    }
}

/// Returns the line by which a text with line ends is searched for. A line that is cut, and lines with other text
/// between them, contain it.
fn longest_line(text: &str) -> &str {
    text.lines().max_by_key(|line| line.len()).unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex::RegexBuilder;

    use super::*;

    fn is_candidate(document: &str, text: &str) -> bool {
        let either = [&pattern(text), "|", ELSEWHERE].concat();
        RegexBuilder::new(&either).case_insensitive(true).build().unwrap().is_match(document)
    }

    #[test]
    fn a_character_that_is_folded_to_ascii_is_found_by_each_part_of_it() {
        for scalar in '\u{80}'..=char::MAX {
            let scalar = scalar.to_string();
            let folded = comparable(&scalar);
            let parts = folded.split(|part: char| !part.is_ascii()).filter(|part| !part.is_empty());
            for part in parts {
                for (start, end) in
                    (0..part.len()).flat_map(|s| (s + 1..=part.len()).map(move |e| (s, e)))
                {
                    assert!(is_candidate(&scalar, &part[start..end]), "{scalar:?} {part}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn each_document_that_contains_a_text_is_a_candidate(
            document in "[asSßẞfiltnj;\u{37e}ŉǰİﬁﬆkK\u{fe0f}\u{301}]{0,9}", skip in 0..5_usize, take in 1..6_usize,
        ) {
            let folded: String = comparable(&document).chars().skip(skip).take(take).collect();
            if folded.is_ascii() {
                prop_assert!(is_candidate(&document, &folded), "{document:?} {folded}");
            }
        }
    }
}
