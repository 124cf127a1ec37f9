//! The text of a document that is indexed, by section and field.
//!
//! Invariants: every document has the text of its root, even if it is empty. The root has words only
//! if there is text before the first heading. Every section has its own text, and so has the front
//! matter.

use std::borrow::Cow;

use super::fingerprint::Fingerprint;
use super::trigrams::TrigramCollector;
use crate::links::split_extension;
use crate::markdown::outline::{BlockType, NodeKind, Outline};
use crate::position::ByteSpan;

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
    let path = split_extension(path).0;
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

/// The field of an index that a text belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IndexedField {
    /// The rendered title. The first section with text also has the title and the file name of the
    /// document.
    Title,
    /// The own text without the title and code blocks; the whole text of front matter.
    Body,
    /// The code blocks.
    Code,
    /// Text whose identifiers in camel case are divided into their parts.
    Parts,
    /// The path of the file and the titles of the parent sections.
    Path,
    /// A tag of the document, as a whole.
    Tag,
    /// A folder that contains the file, as a whole. For front matter also [`FRONT_MATTER`].
    Scope,
}

/// The value of [`IndexedField::Scope`] that marks front matter. No folder has this name.
pub(crate) const FRONT_MATTER: &str = "//";

impl DocumentText {
    /// Returns the approximate memory use in bytes.
    pub(crate) fn size(&self) -> usize {
        self.text.len() + self.trigrams.len() * 4
    }

    /// Returns the distinct trigrams of the document, each as a number, ascending.
    pub(crate) fn trigrams(&self) -> &[u32] {
        &self.trigrams
    }

    /// Returns the sections that have texts: the root as 0, the others by their index plus 1, and
    /// the front matter as `None`.
    pub(crate) fn sections(&self) -> impl Iterator<Item = Option<usize>> + use<> {
        let front_matter = self.front_matter.is_some().then_some(None);
        (0..self.sections.len()).map(Some).chain(front_matter)
    }

    fn section(&self, section: Option<usize>) -> Option<&SectionText> {
        section.map_or(self.front_matter.as_ref(), |index| self.sections.get(index))
    }

    /// Returns the level of a section, 1 to 6; 0 for the root.
    pub(crate) fn level(&self, section: usize) -> u8 {
        self.sections.get(section).map_or(0, |section| section.level)
    }

    /// Returns the fingerprint of a section.
    pub(crate) fn fingerprint(&self, section: Option<usize>) -> u64 {
        self.section(section).map_or(0, |section| section.fingerprint)
    }

    /// Calls `add` with each text of a section and its field.
    pub(crate) fn each_field<'a>(
        &'a self,
        part: Option<usize>,
        mut add: impl FnMut(IndexedField, &'a str),
    ) {
        let Some(section) = self.section(part) else { return };
        // A root without text has no words.
        if part == Some(0) && self.first != Some(0) {
            return;
        }
        if part.is_none() {
            add(IndexedField::Scope, FRONT_MATTER);
        }
        for (end, _) in self.path.match_indices('/') {
            add(IndexedField::Scope, self.path.get(..end).unwrap_or_default());
        }
        if !section.title.is_empty() {
            add(IndexedField::Title, section.title.as_str());
            add(IndexedField::Parts, &section.title);
        }
        let is_first = part == self.first;
        if is_first {
            add(IndexedField::Title, stem(&self.path));
        }
        if let Some(title) = &self.title
            && (is_first || part.is_some())
        {
            add(if is_first { IndexedField::Title } else { IndexedField::Path }, title);
        }
        for (field, spans) in
            [(IndexedField::Body, &section.body), (IndexedField::Code, &section.code)]
        {
            for span in spans {
                let text = self.text.get(span.start..span.end).unwrap_or_default();
                add(field, text);
                add(IndexedField::Parts, text);
            }
        }
        add(IndexedField::Path, &self.path);
        let mut above = section.above;
        while let Some(section) = self.sections.get(above).filter(|_| above > 0) {
            add(IndexedField::Path, &section.title);
            above = section.above;
        }
        // The front matter contains its tags as words.
        for tag in self.tags.iter().filter(|_| part.is_some()) {
            add(IndexedField::Tag, tag);
        }
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
