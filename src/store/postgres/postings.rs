//! The list of the sections of a segment that contain a word.
//!
//! For each section a list has the difference of its document id to the one before, the number and the
//! level of the section, the fields that contain the word, and for each text its frequency, the number of
//! words in the text and the positions of the word. Invariants: decoding an encoded list returns the same
//! list. Decoding any other bytes returns `None` or a list, and uses no more memory than the bytes allow.

use crate::store::SectionId;
use crate::terms::TEXTS;
use crate::varint::{put, take};

/// The bits of the fields without positions.
const PARTS: u64 = 1 << 3;
const PATH: u64 = 1 << 4;
const TAG: u64 = 1 << 5;

/// The occurrences of a word in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Occurrences {
    /// The number of words in the text.
    pub(super) tokens: u32,
    /// The number of positions.
    pub(super) count: u32,
}

/// A section and the fields of it that contain a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) place: SectionId,
    /// The occurrences in title, body and code.
    pub(super) texts: [Occurrences; TEXTS],
    /// The positions of the word in these texts, if they are read. A word can have a position twice.
    positions: Option<Box<[Vec<u32>; TEXTS]>>,
    /// Whether the word is a part of an identifier.
    pub(super) is_part: bool,
    /// Whether the word is in the path of the file or in the title of a parent section.
    pub(super) is_path: bool,
    /// Whether the word is a tag of the document.
    pub(super) is_tag: bool,
}

impl Entry {
    /// Returns an entry without the word.
    pub(super) fn at(place: SectionId) -> Self {
        Self {
            place,
            texts: Default::default(),
            positions: None,
            is_part: false,
            is_path: false,
            is_tag: false,
        }
    }

    /// Adds a position in the text with this index.
    pub(super) fn push(&mut self, text: usize, position: u32) {
        if let Some(text) = self.texts.get_mut(text) {
            text.count += 1;
        }
        let positions = self.positions.get_or_insert_default();
        if let Some(positions) = positions.get_mut(text) {
            positions.push(position);
        }
    }

    /// Returns the positions in the text with this index; none if they are not read.
    pub(super) fn positions(&self, text: usize) -> &[u32] {
        let positions = self.positions.as_ref().and_then(|positions| positions.get(text));
        positions.map(Vec::as_slice).unwrap_or_default()
    }
}

/// A list that is being encoded. Documents are added in the order of their ids.
#[derive(Clone, Debug, Default)]
pub(super) struct List {
    pub(super) bytes: Vec<u8>,
    last: i64,
}

impl List {
    /// Adds a section.
    pub(super) fn push(&mut self, entry: &Entry) {
        let SectionId { document, section, level } = entry.place;
        put(&mut self.bytes, document.wrapping_sub(self.last).cast_unsigned());
        self.last = document;
        put(&mut self.bytes, (section as u64) << 3 | u64::from(level & 7));
        let mut fields = 0;
        for (bit, text) in entry.texts.iter().enumerate() {
            fields |= u64::from(text.count > 0) << bit;
        }
        for (is_in, bit) in [(entry.is_part, PARTS), (entry.is_path, PATH), (entry.is_tag, TAG)] {
            fields |= if is_in { bit } else { 0 };
        }
        put(&mut self.bytes, fields);
        for (index, text) in entry.texts.iter().enumerate().filter(|(_, text)| text.count > 0) {
            put(&mut self.bytes, u64::from(text.count));
            put(&mut self.bytes, u64::from(text.tokens));
            let mut last = 0;
            for position in entry.positions(index) {
                put(&mut self.bytes, u64::from(position.wrapping_sub(last)));
                last = *position;
            }
        }
    }
}

/// Appends a list to `entries`; `None` if it is damaged. Reads positions only in the sections that
/// `has_positions` accepts.
pub(super) fn decode(
    mut bytes: &[u8],
    has_positions: impl Fn(SectionId) -> bool,
    entries: &mut Vec<Entry>,
) -> Option<()> {
    let mut document = 0_i64;
    while !bytes.is_empty() {
        document = document.wrapping_add(take(&mut bytes)?.cast_signed());
        let section = take(&mut bytes)?;
        let level = u8::try_from(section & 7).ok()?;
        let section = usize::try_from(section >> 3).ok()?;
        let mut entry = Entry::at(SectionId { document, section, level });
        let is_read = has_positions(entry.place);
        let fields = take(&mut bytes)?;
        for text in (0..TEXTS).filter(|text| fields >> text & 1 == 1) {
            let count = u32::try_from(take(&mut bytes)?).ok()?;
            let tokens = u32::try_from(take(&mut bytes)?).ok()?;
            let mut last = 0_u32;
            for _ in 0..count {
                last = last.wrapping_add(u32::try_from(take(&mut bytes)?).ok()?);
                if is_read {
                    entry.push(text, last);
                }
            }
            *entry.texts.get_mut(text)? = Occurrences { tokens, count };
        }
        entry.is_part = fields & PARTS != 0;
        entry.is_path = fields & PATH != 0;
        entry.is_tag = fields & TAG != 0;
        entries.push(entry);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(document: i64, section: usize, level: u8) -> Entry {
        Entry::at(SectionId { document, section, level })
    }

    fn example() -> Vec<Entry> {
        let mut first = entry(7, 3, 2);
        for position in [0, 5, 5, 300] {
            first.push(1, position);
        }
        first.texts[1].tokens = 400;
        first.is_path = true;
        let mut second = entry(7, 0, 7);
        second.push(0, 1);
        second.texts[0].tokens = 2;
        let mut third = entry(1 << 36, 90_000, 6);
        third.is_part = true;
        third.is_tag = true;
        vec![first, second, third]
    }

    #[test]
    fn lists_round_trip() {
        let mut list = List::default();
        for entry in &example() {
            list.push(entry);
        }
        let (mut read, mut skipped) = (Vec::new(), Vec::new());
        decode(&list.bytes, |_| true, &mut read).unwrap();
        decode(&list.bytes, |_| false, &mut skipped).unwrap();
        assert_eq!(read, example());
        assert_eq!((skipped[0].texts[1].count, skipped[0].positions(1).len()), (4, 0));
    }

    #[test]
    fn damaged_lists_never_panic() {
        let mut list = List::default();
        for entry in &example() {
            list.push(entry);
        }
        for index in 0..list.bytes.len() {
            for bit in 0..8 {
                let mut bytes = list.bytes.clone();
                bytes[index] ^= 1 << bit;
                decode(&bytes, |_| true, &mut Vec::new());
                decode(&bytes[..index], |_| false, &mut Vec::new());
            }
        }
    }
}
