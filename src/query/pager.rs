//! The addresses of the pages of a place.
//!
//! Invariant: the address of a page, passed to `select`, returns that page.

use super::resolved_node::ResolvedNode;
use crate::address::SectionPart;
use crate::limits;

/// The parts of the address of another page.
#[derive(Clone, Debug, Default)]
pub(super) struct Pager {
    /// The address with all parameters except those of the page.
    base: String,
    separator: char,
    /// The index of the first word of the content, 0-based.
    pub(super) first_word: usize,
}

impl Pager {
    /// Returns the address of a page of `words` words, 0-based.
    pub(super) fn address(&self, page: usize, words: usize) -> String {
        let Self { base, separator, .. } = self;
        if words == limits::MAX_WORDS {
            format!("{base}{separator}page={page}")
        } else {
            format!("{base}{separator}page={page}&words={words}")
        }
    }

    /// Returns the address of the page that begins at the word `after`, which may be up to twice as large as a page of
    /// `words` words, in case it fits. Returns `None` if `words` does not divide `after`.
    pub(super) fn next(&self, after: usize, words: usize) -> Option<String> {
        let words = (words..=words.saturating_mul(2)).rev().find(|&n| after.is_multiple_of(n))?;
        Some(self.address(after / words, words))
    }

    /// Returns how to form the addresses of the pages of a place.
    pub(super) fn of(place: &ResolvedNode) -> Self {
        let mut base = place.address();
        let mut separator = '?';
        let mut add = |key: &str, value: String| {
            base.push(separator);
            base.push_str(key);
            base.push('=');
            base.push_str(&value);
            separator = '&';
        };
        match place.params.part {
            Some(SectionPart::Heading) => add("part", "heading".to_owned()),
            Some(SectionPart::Own) => add("part", "own".to_owned()),
            Some(SectionPart::All) | None => {}
        }
        if let Some(head) = place.params.head {
            add("head", head.to_string());
        }
        if let Some(tail) = place.params.tail {
            add("tail", tail.to_string());
        }
        Self { base, separator, first_word: 0 }
    }
}

/// Returns the largest page size, at most `most` words, for which a page begins at the word `first`.
///
/// The size of the first page limits the sizes of the pages after it, which must divide its end. A
/// number with few factors would leave them no choice, so only its first three binary digits are kept.
pub(super) fn page_size(first: usize, most: usize) -> Option<usize> {
    if first == 0 {
        let low = most.checked_ilog2()?.saturating_sub(2);
        return Some(most >> low << low);
    }
    (1..=most).rev().find(|&words| first.is_multiple_of(words))
}
