//! The addresses of the pages of a place.
//!
//! Invariant: the address of a page, passed to `select`, returns that page. The address of the rest of a place returns
//! what follows a word, byte for byte.

use super::resolved_node::ResolvedNode;
use crate::address::SectionPart;
use crate::limits;

/// The parts of the address of another page.
#[derive(Clone, Debug, Default)]
pub(super) struct Pager {
    /// The address with all parameters except those of the page.
    base: String,
    separator: char,
    /// The number of words that the address leaves out at the beginning.
    pub(super) from: usize,
    /// The index of the first word of the content in the place, 0-based.
    pub(super) first_word: usize,
}

impl Pager {
    /// Returns the address of a page of `words` words, 0-based.
    pub(super) fn address(&self, page: usize, words: usize) -> String {
        let Self { base, separator, .. } = self;
        let mut address = format!("{base}{separator}page={page}");
        for (key, value, usual) in [("words", words, limits::MAX_WORDS), ("from", self.from, 0)] {
            if value != usual {
                address += &format!("&{key}={value}");
            }
        }
        address
    }

    /// Returns the address of the rest of the place from a word on, 0-based.
    pub(super) fn rest(&self, word: usize) -> String {
        let Self { base, separator, .. } = self;
        format!("{base}{separator}from={word}")
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
        Self { base, separator, from: place.params.from.unwrap_or(0), first_word: 0 }
    }
}
