//! The entries of a document in the index.
//!
//! Invariant: every document has an entry for its root, which contains the trigrams of the document,
//! and one for each of its sections and its front matter.

use std::sync::Arc;

use tantivy::schema::Field;
use tantivy::schema::document::{Document, ReferenceValue, ReferenceValueLeaf, Value};

use super::byte_budget::Permit;
use super::schema::Fields;
use crate::store::SectionId;
use crate::terms::{DocumentText, IndexedField, TrigramSet};

/// Returns the entries of the document with this id. `permit` is released when the last of them is
/// dropped.
pub(super) fn entries(
    text: DocumentText,
    id: i64,
    fields: Fields,
    permit: Permit,
) -> Vec<SectionEntry> {
    let parts: Vec<Option<usize>> = text.sections().collect();
    let document = Arc::new(Shared { text, id, fields, _permit: permit });
    let entry = |section| SectionEntry { document: Arc::clone(&document), section };
    parts.into_iter().map(entry).collect()
}

/// What the entries of a document share.
#[derive(Debug)]
struct Shared {
    text: DocumentText,
    id: i64,
    fields: Fields,
    _permit: Permit,
}

/// The entry of one section in the index. It is small, because the queue of tantivy has room for 40,000 of
/// them from the start.
#[derive(Debug)]
pub(super) struct SectionEntry {
    document: Arc<Shared>,
    /// Index of the section, 0 for the root; `None` for the front matter.
    section: Option<usize>,
}

impl SectionEntry {
    /// Returns the id of the document.
    pub(super) fn id(&self) -> i64 {
        self.document.id
    }

    /// Returns the trigrams of the document if this is the entry of its root.
    pub(super) fn trigrams(&self) -> Option<&TrigramSet> {
        (self.section == Some(0)).then(|| self.document.text.trigrams())
    }
}

/// Most entries have no more values than this.
const USUAL_VALUES: usize = 24;

/// A value of an entry.
#[derive(Clone, Copy, Debug)]
pub(super) enum EntryValue<'a> {
    Text(&'a str),
    Number(u64),
}

impl<'a> Value<'a> for EntryValue<'a> {
    type ArrayIter = std::iter::Empty<Self>;
    type ObjectIter = std::iter::Empty<(&'a str, Self)>;

    fn as_value(&self) -> ReferenceValue<'a, Self> {
        ReferenceValue::Leaf(match *self {
            EntryValue::Text(text) => ReferenceValueLeaf::Str(text),
            EntryValue::Number(number) => ReferenceValueLeaf::U64(number),
        })
    }
}

impl Document for SectionEntry {
    type Value<'a> = EntryValue<'a>;
    type FieldsValuesIter<'a> = std::vec::IntoIter<(Field, EntryValue<'a>)>;

    fn iter_fields_and_values(&self) -> Self::FieldsValuesIter<'_> {
        let Shared { text: document, id, fields, .. } = &*self.document;
        let place = match self.section {
            None => SectionId::front_matter(*id),
            Some(section) => SectionId { document: *id, section, level: document.level(section) },
        };
        // tantivy asks for the values several times, so the vector should not grow.
        let mut values = Vec::with_capacity(USUAL_VALUES);
        values.extend([
            (fields.document, EntryValue::Number(id.unsigned_abs())),
            (fields.place, EntryValue::Number(place.to_number())),
            (fields.fingerprint, EntryValue::Number(document.fingerprint(self.section))),
        ]);
        document.each_field(self.section, |field, text| {
            let field = match field {
                IndexedField::Title => fields.title,
                IndexedField::Body => fields.body,
                IndexedField::Code => fields.code,
                IndexedField::Parts => fields.parts,
                IndexedField::Path => fields.path,
                IndexedField::Tag => fields.tags,
                IndexedField::Scope => fields.scope,
            };
            values.push((field, EntryValue::Text(text)));
        });
        values.into_iter()
    }
}
