//! The text of a document that goes into the index.
//!
//! Invariants: every document has an entry for its root, which contains the trigrams of the
//! document. That entry has words only if there is text before the first heading. Every section has
//! an entry, and so has the front matter.

use std::borrow::Cow;
use std::sync::Arc;

use tantivy::schema::Field;
use tantivy::schema::document::{Document, ReferenceValue, ReferenceValueLeaf, Value};

use super::byte_budget::Permit;
use super::fingerprint::Fingerprint;
use super::schema::{FRONT_MATTER, Fields, Place};
use super::trigrams::TrigramCollector;
use crate::markdown::outline::{BlockType, NodeKind, Outline};
use crate::position::ByteSpan;
use crate::store::without_extension;

/// The texts of a document, by section.
#[derive(Debug)]
pub(crate) struct DocumentText {
    path: String,
    /// The bytes as text. Each byte that is not UTF-8 is replaced by a space, so offsets are
    /// unchanged.
    text: String,
    trigrams: Vec<u32>,
    tags: Vec<String>,
    /// The title in the front matter.
    title: Option<String>,
    front_matter: Option<SectionText>,
    /// The texts of the root and of all sections, in document order.
    sections: Vec<SectionText>,
    /// The first section with text. The names of the document are added to its title.
    first: Option<usize>,
}

/// The texts of a section.
#[derive(Debug, Default)]
struct SectionText {
    title: String,
    level: u8,
    /// Index of the parent section; 0 if it has none.
    above: usize,
    body: Vec<ByteSpan>,
    code: Vec<ByteSpan>,
    fingerprint: u64,
}

/// Extracts the text of documents for the index. Each thread uses its own extractor.
pub(crate) struct TextExtractor(TrigramCollector);

impl TextExtractor {
    /// Creates an extractor.
    pub(crate) fn new() -> Self {
        Self(TrigramCollector::new())
    }

    /// Extracts the text of the document at `path`. `tags` must be case-folded. `title` is the
    /// title in the front matter.
    pub(crate) fn extract(
        &mut self,
        path: &str,
        bytes: Vec<u8>,
        outline: &Outline,
        tags: Vec<String>,
        title: Option<String>,
    ) -> DocumentText {
        let trigrams = self.0.distinct(&bytes);
        let text = String::from_utf8(bytes)
            .unwrap_or_else(|error| same_length_text(error.as_bytes()).into_owned());
        let mut sections = sections(outline);
        let mut front_matter = outline
            .front_matter
            .map(|span| SectionText { body: vec![span], ..SectionText::default() });
        for section in sections.iter_mut().chain(&mut front_matter) {
            let mut fingerprint = Fingerprint::new();
            for span in section.body.iter().chain(&section.code) {
                fingerprint.add(text.get(span.start..span.end).unwrap_or_default());
            }
            section.fingerprint = fingerprint.finish();
        }
        let first = first_section(&sections, &text);
        let path = path.to_owned();
        DocumentText { path, text, trigrams, tags, title, front_matter, sections, first }
    }
}

/// Returns the texts of the root and of all sections, in document order.
fn sections(outline: &Outline) -> Vec<SectionText> {
    let mut sections = vec![SectionText::default()];
    sections.extend(outline.sections.iter().map(|section| {
        let parent = outline.nodes.get(section.node).and_then(|node| node.parent);
        let above = parent.and_then(|parent| match outline.nodes.get(parent)?.kind {
            NodeKind::Section(index) => Some(index + 1),
            _ => None,
        });
        let title = section.title.clone();
        SectionText { title, level: section.level, above: above.unwrap_or(0), ..Default::default() }
    }));
    // The own text of each section. The nodes of an outline are in document order.
    let mut bounds = Vec::with_capacity(sections.len());
    bounds.push(outline.nodes.first().map(|root| root.bytes).unwrap_or_default());
    bounds.extend(outline.sections.iter().map(|section| ByteSpan {
        start: section.heading_end,
        end: section.own_end.max(section.heading_end),
    }));
    let mut current = 0;
    let mut position = bounds.first().map_or(0, |bounds| bounds.start);
    let finish = |sections: &mut Vec<SectionText>, current: usize, position: usize| {
        let end = bounds.get(current).map_or(0, |bounds| bounds.end);
        if let Some(section) = sections.get_mut(current)
            && position < end
        {
            section.body.push(ByteSpan::new(position, end));
        }
    };
    for node in &outline.nodes {
        match node.kind {
            NodeKind::Section(index) => {
                finish(&mut sections, current, position);
                current = index + 1;
                position = bounds.get(current).map_or(0, |bounds| bounds.start);
            }
            NodeKind::Block(BlockType::Code) => {
                let Some(section) = sections.get_mut(current) else { continue };
                if position < node.bytes.start {
                    section.body.push(ByteSpan::new(position, node.bytes.start));
                }
                section.code.push(node.bytes);
                position = node.bytes.end;
            }
            _ => {}
        }
    }
    finish(&mut sections, current, position);
    sections
}

/// Returns the name of a file without its extension.
fn stem(path: &str) -> &str {
    let path = without_extension(path);
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns `bytes` as text. Each byte that is not UTF-8 is replaced by a space.
pub(crate) fn same_length_text(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| ' '));
    }
    Cow::Owned(text)
}

impl DocumentText {
    /// Returns the approximate memory use in bytes.
    pub(crate) fn size(&self) -> usize {
        self.text.len() + self.trigrams.len() * 4
    }

    /// Returns the entries of the document with this id. `permit` is released when the last of them
    /// is dropped.
    pub(super) fn entries(self, id: i64, fields: Fields, permit: Permit) -> Vec<SectionEntry> {
        let sections = (0..self.sections.len()).map(Some);
        let front_matter = self.front_matter.is_some().then_some(None);
        let parts: Vec<Option<usize>> = sections.chain(front_matter).collect();
        let document = Arc::new((self, permit));
        let entry = |section| SectionEntry { document: Arc::clone(&document), id, section, fields };
        parts.into_iter().map(entry).collect()
    }
}

/// Returns the section that a document begins with: the root if there is text before the first
/// heading, else the first section; `None` if there is neither.
fn first_section(sections: &[SectionText], text: &str) -> Option<usize> {
    let root = sections.first()?;
    let is_blank = root
        .body
        .iter()
        .chain(&root.code)
        .filter_map(|span| text.get(span.start..span.end))
        .all(|text| text.trim().is_empty());
    if is_blank { (sections.len() > 1).then_some(1) } else { Some(0) }
}

/// The entry of one section in the index. The texts of a document are shared by its entries.
#[derive(Debug)]
pub(super) struct SectionEntry {
    document: Arc<(DocumentText, Permit)>,
    id: i64,
    /// Index of the section, 0 for the root; `None` for the front matter.
    section: Option<usize>,
    fields: Fields,
}

impl SectionEntry {
    /// Returns the trigrams of the document if this is the entry of its root.
    pub(super) fn trigrams(&self) -> Option<&[u32]> {
        (self.section == Some(0)).then_some(self.document.0.trigrams.as_slice())
    }
}

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
        let document = &self.document.0;
        let fields = self.fields;
        let (section, place) = match self.section {
            None => (document.front_matter.as_ref(), Place::front_matter(self.id)),
            Some(index) => {
                let section = document.sections.get(index);
                let level = section.map_or(0, |section| section.level);
                (section, Place { document: self.id, section: index, level })
            }
        };
        let Some(section) = section else { return Vec::new().into_iter() };
        let texts = 2 * (section.body.len() + section.code.len()) + document.tags.len();
        let mut values = Vec::with_capacity(texts + 16);
        values.push((fields.document, EntryValue::Number(self.id.unsigned_abs())));
        values.push((fields.place, EntryValue::Number(place.to_number())));
        values.push((fields.fingerprint, EntryValue::Number(section.fingerprint)));
        // A root without text has no words.
        if self.section == Some(0) && document.first != Some(0) {
            return values.into_iter();
        }
        let mut add = |field, text| values.push((field, EntryValue::Text(text)));
        if self.section.is_none() {
            add(fields.scope, FRONT_MATTER);
        }
        for (end, _) in document.path.match_indices('/') {
            add(fields.scope, document.path.get(..end).unwrap_or_default());
        }
        if !section.title.is_empty() {
            add(fields.title, section.title.as_str());
            add(fields.parts, &section.title);
        }
        let is_first = self.section == document.first;
        if is_first {
            add(fields.title, stem(&document.path));
        }
        if let Some(title) = &document.title
            && (is_first || self.section.is_some())
        {
            add(if is_first { fields.title } else { fields.path }, title);
        }
        for (field, spans) in [(fields.body, &section.body), (fields.code, &section.code)] {
            for span in spans {
                let text = document.text.get(span.start..span.end).unwrap_or_default();
                add(field, text);
                add(fields.parts, text);
            }
        }
        add(fields.path, &document.path);
        let mut above = section.above;
        while let Some(section) = document.sections.get(above).filter(|_| above > 0) {
            add(fields.path, &section.title);
            above = section.above;
        }
        // The front matter contains its tags as words.
        for tag in document.tags.iter().filter(|_| self.section.is_some()) {
            add(fields.tags, tag);
        }
        values.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_text_is_body_and_code_without_the_heading() {
        let file = b"intro\n\n# A\n\none\n\n- x\n\n  ```\n  code\n  ```\n\ntwo\n\n## B\n\nthree\n";
        let outline = crate::markdown::parse(file).outline;
        let document =
            TextExtractor::new().extract("a/b.md", file.to_vec(), &outline, Vec::new(), None);
        let texts = |spans: &[ByteSpan]| {
            let texts = spans.iter().map(|span| document.text[span.start..span.end].trim());
            texts.collect::<Vec<_>>().join("|")
        };
        let actual: Vec<_> = document
            .sections
            .iter()
            .map(|section| {
                (section.title.as_str(), section.above, texts(&section.body), texts(&section.code))
            })
            .collect();
        let expected = [
            ("", 0, "intro", ""),
            ("A", 0, "one\n\n- x|two", "```\n  code\n  ```"),
            ("B", 1, "three", ""),
        ];
        assert_eq!(actual, expected.map(|(a, b, c, d)| (a, b, c.to_owned(), d.to_owned())));
    }

    #[test]
    fn each_invalid_byte_becomes_one_space() {
        assert_eq!(same_length_text(b"a\xff\xfeb\xe2\x82c"), "a  b  c");
    }
}
