//! What a search of the store returns: sections by score.
//!
//! Invariant: a place names one section of one version of a document, because ids of documents are
//! never reused.

use std::collections::HashSet;

use crate::terms::{is_near, is_similar};

/// The bits of [`Place::to_number`] for the level and for the number of the section.
const LEVEL_BITS: u32 = 3;
const SECTION_BITS: u32 = 24;

/// A section of a stored document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The id of the document.
    pub document: i64,
    /// 0 for the root and for front matter, else the index of the section plus 1.
    pub section: usize,
    /// The level of the section, 1 to 6; 0 for the root and 7 for front matter.
    pub level: u8,
}

/// The level of front matter. Sections have levels 1 to 6.
const FRONT_MATTER_LEVEL: u8 = 7;

impl Place {
    /// Returns the place of the front matter of `document`.
    pub(crate) fn front_matter(document: i64) -> Self {
        Self { document, section: 0, level: FRONT_MATTER_LEVEL }
    }

    /// Returns whether this is front matter.
    pub fn is_front_matter(self) -> bool {
        self.level == FRONT_MATTER_LEVEL
    }

    /// Returns a number that increases with the document and the section.
    pub(crate) fn to_number(self) -> u64 {
        let section = (self.section as u64).min((1 << SECTION_BITS) - 1);
        self.document.unsigned_abs() << (SECTION_BITS + LEVEL_BITS)
            | section << LEVEL_BITS
            | u64::from(self.level)
    }

    /// Converts the result of [`Self::to_number`] back.
    pub(crate) fn from_number(number: u64) -> Self {
        let section = (number >> LEVEL_BITS) & ((1 << SECTION_BITS) - 1);
        Self {
            document: i64::try_from(number >> (SECTION_BITS + LEVEL_BITS)).unwrap_or(0),
            section: usize::try_from(section).unwrap_or(0),
            level: u8::try_from(number & ((1 << LEVEL_BITS) - 1)).unwrap_or(0),
        }
    }
}

/// A section and its score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranked {
    /// The section.
    pub place: Place,
    /// The score: the higher, the better.
    pub score: f32,
    /// The fingerprint of its words; see [`crate::terms`].
    pub(crate) fingerprint: u64,
}

impl Ranked {
    /// Returns whether the texts of both sections are nearly the same, as in two editions of a
    /// document.
    pub fn is_near_duplicate(&self, other: &Self) -> bool {
        is_near(self.fingerprint, other.fingerprint)
    }

    /// Returns whether the texts of both sections have about half of their word pairs in common, or
    /// more. Two sections without words are similar.
    pub fn is_similar(&self, other: &Self) -> bool {
        is_similar(self.fingerprint, other.fingerprint)
    }
}

/// Conditions on the sections of a result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SectionFilter {
    /// The document must be in one of these folders; any folder if empty.
    pub folders: Vec<String>,
    /// The id of the document must be in each of these sets.
    pub documents: Vec<HashSet<i64>>,
    /// The level of the section must be this one.
    pub level: Option<u8>,
    /// `Some(true)` admits only front matter, `Some(false)` no front matter.
    pub front_matter: Option<bool>,
}

impl SectionFilter {
    /// Returns whether there are conditions other than folders.
    pub(crate) fn looks_at_places(&self) -> bool {
        !self.documents.is_empty() || self.level.is_some() || self.front_matter.is_some()
    }

    /// Returns whether the section at `place` meets all conditions except the folders.
    pub(crate) fn admits(&self, place: Place) -> bool {
        self.level.is_none_or(|level| level == place.level)
            && self.front_matter.is_none_or(|wanted| wanted == place.is_front_matter())
            && self.documents.iter().all(|documents| documents.contains(&place.document))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_round_trip_through_numbers_in_order() {
        let place = Place { document: 58_000, section: 1234, level: 6 };
        assert_eq!(Place::from_number(place.to_number()), place);
        let later = Place { document: 58_000, section: 1235, level: 1 };
        assert!(place.to_number() < later.to_number());
        assert!(later.to_number() < Place { document: 58_001, section: 0, level: 0 }.to_number());
    }
}
