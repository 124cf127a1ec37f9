//! A text that sections or code blocks must contain, in any case.
//!
//! Invariant: a document that is not a candidate does not contain the text.

use std::collections::HashSet;

use super::DocumentCache;
use super::search::{PatternOptions, required_trigrams};
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

/// A text, and the documents that may contain it.
pub(super) struct ContainedText {
    folded: String,
    /// The documents that may have the text, if that is known.
    candidates: Option<HashSet<i64>>,
}

impl ContainedText {
    /// Looks up which documents may contain `text`.
    pub(super) fn new(library: &DocumentCache<'_>, text: &str) -> Result<Self> {
        let options = PatternOptions { ignores_case: true, ..PatternOptions::default() };
        // A text with line ends is searched for by its longest line, which a cut line contains.
        let line = text.lines().max_by_key(|line| line.len()).unwrap_or_default().trim();
        let plan = required_trigrams(&[pattern(line), ELSEWHERE.to_owned()], options)?;
        let is_narrow = plan != TrigramQuery::All && line.is_ascii();
        let candidates = if is_narrow {
            library.reader.candidates(&plan)?.map(HashSet::from_iter)
        } else {
            None
        };
        Ok(Self { folded: comparable(text), candidates })
    }

    /// Returns whether the document with the id `document` may contain the text.
    pub(super) fn may_be_in(&self, document: i64) -> bool {
        self.candidates.as_ref().is_none_or(|candidates| candidates.contains(&document))
    }

    /// Returns whether `bytes` contain the text.
    pub(super) fn is_in(&self, bytes: &[u8]) -> bool {
        comparable(&String::from_utf8_lossy(bytes)).contains(&self.folded)
    }
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
