//! The index of the documents that one change adds to one partition.
//!
//! Invariant: documents are added in the order of their ids, so that every list is in that order.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::postings::{Entry, List};
use super::{posting_rows, trigrams};
use crate::store::SectionId;
use crate::terms::{DocumentText, IndexedField, TEXTS, WrittenTokens};

/// The largest number of bytes of a term. A longer one is stored as its hash.
const MAX_TERM_BYTES: usize = 1000;

/// The first byte of a term that is a tag. No word begins with it.
const TAG: u8 = 0;

/// Returns the stored form of a word.
pub(super) fn word_term(word: &str) -> Vec<u8> {
    if word.len() <= MAX_TERM_BYTES {
        return word.as_bytes().to_vec();
    }
    [&[TAG + 1], blake3::hash(word.as_bytes()).as_bytes().as_slice()].concat()
}

/// Returns the stored form of a tag.
pub(super) fn tag_term(tag: &str) -> Vec<u8> {
    if tag.len() < MAX_TERM_BYTES {
        return [&[TAG], tag.as_bytes()].concat();
    }
    [&[TAG, TAG], blake3::hash(tag.as_bytes()).as_bytes().as_slice()].concat()
}

/// The index of some documents.
#[derive(Debug, Default)]
pub(super) struct SegmentBuilder {
    /// The ids of the documents.
    pub(super) documents: Vec<i64>,
    /// The number of sections.
    pub(super) sections: u64,
    /// The numbers of words in all titles, bodies and code blocks.
    pub(super) tokens: [u64; TEXTS],
    /// The number of tags of all sections.
    pub(super) tags: u64,
    words: FxHashMap<Vec<u8>, List>,
    trigrams: trigrams::Lists,
}

/// The rows of a segment.
pub(super) struct SegmentRows {
    pub(super) postings: BTreeMap<Vec<u8>, Vec<u8>>,
    pub(super) trigrams: BTreeMap<i32, Vec<u8>>,
}

impl SegmentBuilder {
    /// Adds a document.
    pub(super) fn add(&mut self, document: i64, text: &DocumentText) {
        let ordinal = u32::try_from(self.documents.len()).unwrap_or(u32::MAX);
        self.documents.push(document);
        // Titles are found by their rows.
        for trigram in text.trigrams().iter().skip_while(|trigram| trigram >> 16 < u32::from(b' '))
        {
            self.trigrams.entry(trigram).or_default().push(ordinal);
        }
        for part in text.sections() {
            let place = match part {
                None => SectionId::front_matter(document),
                Some(section) => SectionId { document, section, level: text.level(section) },
            };
            self.add_section(place, part, text);
        }
    }

    fn add_section(&mut self, place: SectionId, part: Option<usize>, text: &DocumentText) {
        self.sections += 1;
        let mut section = SectionWords::default();
        let mut tags = Vec::new();
        // The number of words and the next position of title, body and code.
        let mut lengths = [(0_u64, 0_usize); TEXTS];
        text.each_field(part, |field, text| match field {
            IndexedField::Title | IndexedField::Body | IndexedField::Code => {
                let index = match field {
                    IndexedField::Title => 0,
                    IndexedField::Body => 1,
                    _ => 2,
                };
                let Some((count, next)) = lengths.get_mut(index) else { return };
                let first = *next;
                for (position, word) in WrittenTokens::new(text) {
                    let position = first + position;
                    *count += 1;
                    // A phrase never continues in the next text.
                    *next = position + 2;
                    section.with(word, place, |entry| {
                        entry.push(index, u32::try_from(position).unwrap_or(u32::MAX));
                    });
                }
            }
            IndexedField::Parts => WrittenTokens::new(text).for_each(|(_, part)| {
                section.with(part, place, |entry| entry.is_part = true);
            }),
            IndexedField::Path => WrittenTokens::new(text).for_each(|(_, word)| {
                section.with(word, place, |entry| entry.is_path = true);
            }),
            IndexedField::Tag => tags.push(tag_term(text)),
            IndexedField::Scope => {}
        });
        for (total, (count, _)) in self.tokens.iter_mut().zip(lengths) {
            *total += count;
        }
        let SectionWords { index, mut entries } = section;
        for (word, index) in index {
            let Some(entry) = entries.get_mut(index) else { continue };
            for (text, (count, _)) in entry.texts.iter_mut().zip(lengths) {
                text.tokens = u32::try_from(count).unwrap_or(u32::MAX);
            }
            match self.words.get_mut(word.as_bytes()) {
                Some(list) => list.push(entry),
                None => self.words.entry(word_term(&word)).or_default().push(entry),
            }
        }
        self.tags += tags.len() as u64;
        for tag in tags {
            let mut tagged = Entry::at(place);
            tagged.is_tag = true;
            self.words.entry(tag).or_default().push(&tagged);
        }
    }

    /// Returns the rows of the segment.
    pub(super) fn finish(self) -> SegmentRows {
        let postings = self.words.into_iter().map(|(term, list)| (term, list.bytes));
        SegmentRows {
            postings: posting_rows::rows(postings.collect()),
            trigrams: trigrams::rows(self.trigrams, self.documents.len()),
        }
    }
}

/// The words of one section.
#[derive(Debug, Default)]
struct SectionWords {
    /// The indices of the entries.
    index: FxHashMap<String, usize>,
    entries: Vec<Entry>,
}

impl SectionWords {
    /// Calls `act` with the entry of `word`.
    fn with(&mut self, word: &str, place: SectionId, act: impl FnOnce(&mut Entry)) {
        let index = match self.index.get(word) {
            Some(index) => *index,
            None => {
                self.index.insert(word.to_owned(), self.entries.len());
                self.entries.push(Entry::at(place));
                self.entries.len() - 1
            }
        };
        if let Some(entry) = self.entries.get_mut(index) {
            act(entry);
        }
    }
}
