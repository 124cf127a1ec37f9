//! A text that sections or code blocks must contain, in any case.
//!
//! Invariants: case is ignored as in a search for a pattern; a document that is not a candidate does not contain
//! the text.

use std::collections::HashSet;

use super::Session;
use super::search::{Pattern, PatternOptions, required_trigrams};
use crate::error::Result;
use crate::terms::TrigramQuery;

/// A text, and the documents that may contain it.
pub(super) struct ContainedText {
    pattern: Pattern,
    /// The documents that may have the text, if that is known.
    candidates: Option<HashSet<i64>>,
}

impl ContainedText {
    /// Looks up which documents may contain `text`.
    pub(super) fn new(session: &Session<'_>, text: &str) -> Result<Self> {
        let options =
            PatternOptions { is_literal: true, ignores_case: true, ..PatternOptions::default() };
        // The lines of a code block may have other text between them. A text with line ends is searched for by its
        // longest line, which a cut line contains.
        let line = text.lines().max_by_key(|line| line.len()).unwrap_or_default().trim();
        let plan = required_trigrams(&[line.to_owned()], options)?;
        let candidates = if plan == TrigramQuery::All {
            None
        } else {
            session.reader.candidates(&plan)?.map(HashSet::from_iter)
        };
        let options = PatternOptions { is_multi_line: true, ..options };
        Ok(Self { pattern: Pattern::new(&[text.to_owned()], options)?, candidates })
    }

    /// Returns whether the document with the id `document` may contain the text.
    pub(super) fn may_be_in(&self, document: i64) -> bool {
        self.candidates.as_ref().is_none_or(|candidates| candidates.contains(&document))
    }

    /// Returns whether `bytes` contain the text.
    pub(super) fn is_in(&self, bytes: &[u8]) -> bool {
        self.pattern.is_match(bytes)
    }
}
