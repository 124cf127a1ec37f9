//! The distinct trigrams of a document.
//!
//! Invariant: a set is ascending, and it is stored as the gaps between its members. Most gaps take one byte,
//! so the sets of all documents of an index segment fit into memory until the segment is written.

use super::{Trigram, title_trigrams};
use crate::varint;

/// The distinct trigrams of a document, each as a big-endian number of three bytes. Every gap is a varint
/// (LEB128); the first is that from zero.
#[derive(Debug)]
pub(crate) struct TrigramSet(Box<[u8]>);

impl TrigramSet {
    /// Returns the gaps, from which [`Members`] reads the trigrams.
    pub(crate) fn gaps(&self) -> &[u8] {
        &self.0
    }

    /// Returns the trigrams, ascending.
    pub(crate) fn iter(&self) -> Members<'_> {
        Members::of(&self.0)
    }

    /// Returns whether the set contains `trigram`.
    pub(crate) fn contains(&self, [one, two, three]: Trigram) -> bool {
        let number = u32::from_be_bytes([0, one, two, three]);
        self.iter().any(|member| member == number)
    }
}

/// An iterator over the trigrams of a set, ascending.
#[derive(Debug)]
pub(crate) struct Members<'a> {
    gaps: &'a [u8],
    last: u32,
}

impl<'a> Members<'a> {
    /// Reads the [`TrigramSet::gaps`] of a set.
    pub(crate) fn of(gaps: &'a [u8]) -> Self {
        Self { gaps, last: 0 }
    }
}

impl Iterator for Members<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        self.last += u32::try_from(varint::take(&mut self.gaps)?).ok()?;
        Some(self.last)
    }
}

/// Collects the trigrams of one document after the other.
pub(crate) struct TrigramCollector {
    /// A bit for each possible trigram, for each word of those bits that is not 0, and for each word of these.
    found: Vec<u64>,
    words: Vec<u64>,
    groups: Vec<u64>,
    gaps: Vec<u8>,
}

impl TrigramCollector {
    pub(crate) fn new() -> Self {
        let [found, words, groups] = [1 << 18, 1 << 12, 1 << 6].map(|length| vec![0; length]);
        Self { found, words, groups, gaps: Vec::new() }
    }

    /// Returns the trigrams of `bytes` without control characters, in lower case, and those of the title keys
    /// `titles`.
    pub(crate) fn distinct(&mut self, bytes: &[u8], titles: &str) -> TrigramSet {
        let mut trigram = 0;
        // The number of consecutive bytes without control characters so far.
        let mut plain = 0;
        for &byte in bytes {
            if byte < b' ' {
                plain = 0;
                continue;
            }
            plain += 1;
            trigram = (trigram << 8 | usize::from(byte.to_ascii_lowercase())) & 0xFF_FFFF;
            if plain >= 3 {
                self.add(trigram);
            }
        }
        for [one, two, three] in title_trigrams(titles.as_bytes()) {
            self.add(usize::from(one) << 16 | usize::from(two) << 8 | usize::from(three));
        }
        let mut last = 0;
        for index in 0..self.groups.len() {
            for group in take(&mut self.groups, index) {
                for word in take(&mut self.words, group) {
                    for trigram in take(&mut self.found, word) {
                        varint::put(&mut self.gaps, (trigram - last) as u64);
                        last = trigram;
                    }
                }
            }
        }
        let gaps = self.gaps.as_slice().into();
        self.gaps.clear();
        TrigramSet(gaps)
    }

    fn add(&mut self, trigram: usize) {
        if set(&mut self.found, trigram) && set(&mut self.words, trigram >> 6) {
            set(&mut self.groups, trigram >> 12);
        }
    }
}

/// Sets a bit. Returns whether it was not set.
fn set(bits: &mut [u64], index: usize) -> bool {
    let Some(word) = bits.get_mut(index >> 6) else { return false };
    let bit = 1 << (index & 63);
    let is_new = *word & bit == 0;
    *word |= bit;
    is_new
}

/// Clears the bits of a word, and returns the index of each that was set.
fn take(bits: &mut [u64], word: usize) -> impl Iterator<Item = usize> + use<> {
    let mut rest = bits.get_mut(word).map(std::mem::take).unwrap_or_default();
    std::iter::from_fn(move || {
        let bit = rest.trailing_zeros() as usize;
        rest &= rest.wrapping_sub(1);
        (bit < 64).then_some(word << 6 | bit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distinct(bytes: &[u8]) -> Vec<Trigram> {
        let distinct = TrigramCollector::new().distinct(bytes, "");
        distinct.iter().map(|value| value.to_be_bytes()[1..].try_into().unwrap()).collect()
    }

    #[test]
    fn trigrams_are_distinct_ascending_lower_case_and_without_control_characters() {
        assert_eq!(distinct(b"bcAbca"), [*b"abc", *b"bca", *b"cab"]);
        assert_eq!(distinct(b"ab\ncd\tefg"), [*b"efg"]);
        assert_eq!(distinct("é!".as_bytes()), [*b"\xc3\xa9!"]);
        assert_eq!(distinct(b"\xff\xff\xff   "), [*b"   ", *b"\xff  ", *b"\xff\xff ", [255; 3]]);
        assert!(distinct(b"ab").is_empty());
    }

    #[test]
    fn a_collector_is_reset_after_each_document() {
        let mut collector = TrigramCollector::new();
        for text in ["abcd", "xyz", "abcd"] {
            let members: Vec<u32> = collector.distinct(text.as_bytes(), text).iter().collect();
            let alone = TrigramCollector::new().distinct(text.as_bytes(), text);
            assert_eq!(members, alone.iter().collect::<Vec<u32>>());
        }
    }

    #[test]
    fn a_set_contains_its_members_alone() {
        let set = TrigramCollector::new().distinct(b"one of three", "");
        assert!(set.contains(*b"one") && set.contains(*b"ree") && !set.contains(*b"two"));
    }
}
