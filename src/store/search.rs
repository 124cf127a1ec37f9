//! What a search of the store returns: sections by score.
//!
//! Invariant: a place names one section of one version of a document, because ids of documents are
//! never reused.

use std::collections::HashSet;
use std::rc::Rc;

use serde_json::{Map, Value};

use super::StoredDocument;
use crate::corpus::bounds_below;
use crate::data::expression::value_at;
use crate::data::{Datum, Expression};
use crate::glob::Globs;
use crate::terms::{has_same_numbers, is_near};

/// The bits of [`SectionId::to_number`] for the level and for the number of the section.
const LEVEL_BITS: u32 = 3;
const SECTION_BITS: u32 = 24;

/// A section of a stored document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SectionId {
    /// The id of the document.
    pub document: i64,
    /// 0 for the root and for front matter, else the index of the section plus 1.
    pub section: usize,
    /// The level of the section, 1 to 6; 0 for the root and 7 for front matter.
    pub level: u8,
}

/// The level of front matter. Sections have levels 1 to 6.
const FRONT_MATTER_LEVEL: u8 = 7;

impl SectionId {
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
    pub place: SectionId,
    /// The score: the higher, the better.
    pub score: f32,
    /// The fingerprint of its words; see [`crate::terms`].
    pub(crate) fingerprint: u64,
}

impl Ranked {
    /// Returns whether the texts of both sections are nearly the same, as in two editions of a document: numbers may differ.
    pub(crate) fn is_nearly(&self, other: &Self) -> bool {
        is_near(self.fingerprint, other.fingerprint)
    }

    /// Returns whether the texts of both sections have the same numbers.
    pub(crate) fn has_same_numbers(&self, other: &Self) -> bool {
        has_same_numbers(self.fingerprint, other.fingerprint)
    }
}

/// Conditions on documents.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DocumentFilter {
    /// Globs over paths.
    pub globs: Globs,
    /// Tags, case-folded. A document must have each of them, or a tag nested in it.
    pub tags: Vec<String>,
    /// The places that a document must be in or contain; `None` for everywhere.
    pub under: Option<Under>,
    /// A condition on its front matter.
    pub condition: Option<Expression>,
}

/// Folders and documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Under {
    /// Folders, whose documents are meant as a whole.
    pub folders: Vec<String>,
    /// The ids of single documents.
    pub documents: HashSet<i64>,
}

impl Under {
    /// Returns whether the document at `path` is in one of the folders.
    pub(crate) fn has_in_folder(&self, path: &str) -> bool {
        self.folders.iter().any(|folder| {
            path.strip_prefix(folder.as_str()).is_some_and(|rest| rest.starts_with('/'))
        })
    }
}

impl DocumentFilter {
    /// Returns whether every document is admitted.
    pub fn is_empty(&self) -> bool {
        self.globs.is_empty()
            && self.tags.is_empty()
            && self.under.is_none()
            && self.condition.is_none()
    }

    /// Returns folders of which each admitted document is in one; none if the filter names no folders alone. A word query
    /// takes the document frequencies of its words from the documents in them.
    pub(crate) fn folders(&self) -> Vec<&str> {
        match &self.under {
            Some(under) if !under.documents.is_empty() => Vec::new(),
            Some(under) => under.folders.iter().map(String::as_str).collect(),
            None => self.globs.folder().into_iter().collect(),
        }
    }

    /// Returns the bounds of the paths that are admitted: at least the first, and less than the second. `None` if
    /// there are none, or if the filter does not have them.
    pub(crate) fn path_bounds(&self) -> Option<(String, String)> {
        let (starts, ends): (Vec<_>, Vec<_>) = self.folders().into_iter().map(bounds_below).unzip();
        starts.into_iter().min().zip(ends.into_iter().max())
    }

    /// Returns whether the document is admitted apart from its tags and its front matter.
    pub(crate) fn takes_name(&self, id: i64, path: &str) -> bool {
        self.globs.takes(path)
            && self
                .under
                .as_ref()
                .is_none_or(|under| under.has_in_folder(path) || under.documents.contains(&id))
    }

    /// Returns whether a document with this front matter is admitted apart from its name and tags.
    pub(crate) fn takes_values(&self, values: &Map<String, Value>) -> bool {
        self.condition.as_ref().is_none_or(|condition| {
            condition.matches(&|key| value_at(values, key).map(Datum::Json))
        })
    }

    /// Returns whether a document with these tags is admitted apart from its name and front matter.
    pub(crate) fn takes_tags(&self, tags: &[String]) -> bool {
        self.tags.iter().all(|wanted| {
            tags.iter().any(|tag| {
                let rest = tag.strip_prefix(wanted.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
        })
    }
}

/// Conditions on the sections of a result.
#[derive(Clone, Copy, Debug)]
pub struct SectionFilter<'a> {
    /// Conditions on their documents.
    pub documents: &'a DocumentFilter,
    /// The level of the section must be this one.
    pub level: Option<u8>,
    /// `Some(true)` admits only front matter, `Some(false)` no front matter.
    pub front_matter: Option<bool>,
    /// The section must have a block of one of these types, as they are called in an address; any if empty. A
    /// store may also return sections without such a block.
    pub types: &'a [String],
}

/// The result of a word query.
#[derive(Clone, Debug, Default)]
pub struct Ranking {
    /// The best sections, best first.
    pub sections: Vec<RankedSection>,
    /// The inverse document frequency of each of [`crate::terms::WordQuery::terms`]: the higher, the
    /// rarer.
    pub weights: Vec<f32>,
    /// Whether there are no further sections.
    pub is_complete: bool,
}

/// A section, its score and its document.
#[derive(Clone, Debug)]
pub struct RankedSection {
    /// The section and its score.
    pub ranked: Ranked,
    /// Its document.
    pub document: Rc<StoredDocument>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_round_trip_through_numbers_in_order() {
        let place = SectionId { document: 58_000, section: 1234, level: 6 };
        assert_eq!(SectionId::from_number(place.to_number()), place);
        let later = SectionId { document: 58_000, section: 1235, level: 1 };
        assert!(place.to_number() < later.to_number());
        assert!(
            later.to_number() < SectionId { document: 58_001, section: 0, level: 0 }.to_number()
        );
    }
}
