//! The words of a document that are indexed, by section and field.
//!
//! A document is divided into words when it is prepared, on all cores, and not by the threads of an
//! index. Invariants: every document has a root, even if it is empty. The root has words only if there
//! is text before the first heading. Every section has its own words, and so has the front matter.

use std::collections::BTreeSet;

use super::fingerprint::Fingerprint;
use super::token_text::TokenWriter;
use super::tokens::folded;
use super::trigram_set::{TrigramCollector, TrigramSet};
use crate::decoding::same_length_text;
use crate::limits;
use crate::links::file_stem;
use crate::markdown::outline::{BlockType, NodeKind, Outline};
use crate::position::ByteSpan;

/// The words of a document, by section.
#[derive(Debug)]
pub(crate) struct DocumentText {
    path: String,
    /// The tokens of all texts, as [`super::WrittenTokens`] reads them.
    tokens: String,
    trigrams: TrigramSet,
    /// The tags and those that they are nested in, folded as words are.
    tags: BTreeSet<String>,
    /// The words of the path, of the file name, and of the title in the front matter.
    path_words: ByteSpan,
    name_words: ByteSpan,
    title_words: Option<ByteSpan>,
    front_matter: Option<SectionWords>,
    /// The words of the root and of all sections, in document order.
    sections: Vec<SectionWords>,
    /// The first section with text. The names of the document are added to its title.
    first: Option<usize>,
}

/// The words of a section, as spans of [`DocumentText::tokens`].
#[derive(Debug, Default)]
struct SectionWords {
    level: u8,
    /// Index of the parent section; 0 if it has none.
    above: usize,
    types: BlockTypes,
    title: ByteSpan,
    body: ByteSpan,
    code: ByteSpan,
    /// The parts of the identifiers in all three.
    parts: ByteSpan,
    fingerprint: u64,
}

/// The texts of a section, as spans of the document.
#[derive(Debug, Default)]
struct SectionText<'a> {
    title: &'a str,
    level: u8,
    /// Index of the parent section; 0 if it has none.
    above: usize,
    types: BlockTypes,
    body: Vec<ByteSpan>,
    code: Vec<ByteSpan>,
}

/// The types of the blocks of a section, as bits.
type BlockTypes = u16;

const fn bit(block: BlockType) -> BlockTypes {
    1 << block as u8
}

/// What a document is found by besides its own text.
#[derive(Debug, Default)]
pub(crate) struct DocumentNames<'a> {
    pub(crate) path: &'a str,
    /// The case-folded tags.
    pub(crate) tags: Vec<String>,
    /// The title in the front matter.
    pub(crate) title: Option<&'a str>,
    /// The keys of the titles of its sections, as [`crate::prepare::title_keys`] writes them.
    pub(crate) title_keys: &'a str,
}

/// Extracts the words of documents for the index. Each thread uses its own extractor.
pub(crate) struct TextExtractor {
    trigrams: TrigramCollector,
    writer: TokenWriter,
}

impl TextExtractor {
    /// Creates an extractor.
    pub(crate) fn new() -> Self {
        Self { trigrams: TrigramCollector::new(), writer: TokenWriter::default() }
    }

    /// Extracts the words and the trigrams of a document.
    pub(crate) fn extract(
        &mut self,
        names: DocumentNames<'_>,
        bytes: &[u8],
        outline: &Outline,
    ) -> DocumentText {
        let DocumentNames { path, tags, title, title_keys } = names;
        let text = same_length_text(bytes, ' ');
        let texts = sections(outline);
        let first = first_section(&texts, &text);
        let sections = texts.iter().map(|section| self.section(section, &text)).collect();
        let front_matter = outline.front_matter.map(|span| {
            self.section(&SectionText { body: vec![span], ..SectionText::default() }, &text)
        });
        let mut words = |text| self.writer.words(std::iter::once(text));
        let (path_words, name_words) = (words(path), words(file_stem(path)));
        let title_words = title.map(words);
        DocumentText {
            path: path.to_owned(),
            path_words,
            name_words,
            title_words,
            tokens: self.writer.finish(),
            trigrams: self.trigrams.distinct(bytes, title_keys),
            tags: tag_terms(&tags),
            front_matter,
            sections,
            first,
        }
    }

    /// Writes the words of a section of `text`.
    fn section(&mut self, section: &SectionText<'_>, text: &str) -> SectionWords {
        let SectionText { title, level, above, types, body, code } = section;
        let text = |span: &ByteSpan| text.get(span.start..span.end).unwrap_or_default();
        let mut fingerprint = Fingerprint::new();
        for text in body.iter().chain(code).map(text) {
            fingerprint.add(text);
        }
        SectionWords {
            level: *level,
            above: *above,
            types: *types,
            title: self.writer.words(std::iter::once(*title)),
            body: self.writer.words(body.iter().map(text)),
            code: self.writer.words(code.iter().map(text)),
            parts: self.writer.parts(),
            fingerprint: fingerprint.finish(),
        }
    }
}

/// Returns the texts of the root and of all sections, in document order.
fn sections(outline: &Outline) -> Vec<SectionText<'_>> {
    let mut sections = vec![SectionText::default()];
    sections.extend(outline.sections.iter().map(|section| {
        let parent = outline.nodes.get(section.node).and_then(|node| node.parent);
        let above = parent.and_then(|parent| match outline.nodes.get(parent)?.kind {
            NodeKind::Section(index) => Some(index + 1),
            _ => None,
        });
        let (title, level) = (section.title.as_str(), section.level);
        SectionText { title, level, above: above.unwrap_or(0), ..SectionText::default() }
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
    let finish = |sections: &mut Vec<SectionText<'_>>, current: usize, position: usize| {
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
            NodeKind::Block(block) => {
                let Some(section) = sections.get_mut(current) else { continue };
                section.types |= bit(block);
                if block != BlockType::Code {
                    continue;
                }
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

/// The field of an index that a text belongs to. All but the last two are words, as
/// [`super::WrittenTokens`] reads them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IndexedField {
    /// The rendered title. The first section with text also has the title and the file name of the
    /// document.
    Title,
    /// The own text without the title and code blocks; the whole text of front matter.
    Body,
    /// The code blocks.
    Code,
    /// The parts of identifiers in camel case.
    Parts,
    /// The path of the file and the titles of the parent sections.
    Path,
    /// A tag of the document, as a whole.
    Tag,
    /// A folder that contains the file, as a whole. For front matter also [`FRONT_MATTER`], and for a section
    /// the [`type_mark`] of each type of its blocks.
    Scope,
}

/// The value of [`IndexedField::Scope`] that marks front matter. No folder has this name.
pub(crate) const FRONT_MATTER: &str = "//";

/// Returns the value of [`IndexedField::Scope`] that marks sections with blocks of this type. Paragraphs have none,
/// because nearly every section has one, and neither have headings. No folder has these names.
pub(crate) const fn type_mark(block: BlockType) -> Option<&'static str> {
    match block {
        BlockType::Paragraph | BlockType::Heading => None,
        BlockType::List => Some("//list"),
        BlockType::Code => Some("//code"),
        BlockType::Table => Some("//table"),
        BlockType::Blockquote => Some("//blockquote"),
        BlockType::Html => Some("//html"),
        BlockType::Rule => Some("//rule"),
        BlockType::Definition => Some("//definition"),
        BlockType::Footnote => Some("//footnote"),
    }
}

impl DocumentText {
    /// Returns the approximate memory use in bytes.
    pub(crate) fn size(&self) -> usize {
        self.tokens.len() + self.trigrams.gaps().len()
    }

    /// Returns the distinct trigrams of the document and of the keys of its titles.
    pub(crate) fn trigrams(&self) -> &TrigramSet {
        &self.trigrams
    }

    /// Returns the sections that have texts: the root as 0, the others by their index plus 1, and
    /// the front matter as `None`.
    pub(crate) fn sections(&self) -> impl Iterator<Item = Option<usize>> + use<> {
        let front_matter = self.front_matter.is_some().then_some(None);
        (0..self.sections.len()).map(Some).chain(front_matter)
    }

    fn section(&self, section: Option<usize>) -> Option<&SectionWords> {
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

    fn words(&self, span: ByteSpan) -> &str {
        self.tokens.get(span.start..span.end).unwrap_or_default()
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
        let types = BlockType::ALL.into_iter().filter(|block| section.types & bit(*block) != 0);
        types.filter_map(type_mark).for_each(|mark| add(IndexedField::Scope, mark));
        for (end, _) in self.path.match_indices('/') {
            add(IndexedField::Scope, self.path.get(..end).unwrap_or_default());
        }
        let mut add_words = |field, span: ByteSpan| {
            if !span.is_empty() {
                add(field, self.words(span));
            }
        };
        add_words(IndexedField::Title, section.title);
        let is_first = part == self.first;
        if is_first {
            add_words(IndexedField::Title, self.name_words);
        }
        if let Some(title) = self.title_words
            && (is_first || part.is_some())
        {
            add_words(if is_first { IndexedField::Title } else { IndexedField::Path }, title);
        }
        add_words(IndexedField::Body, section.body);
        add_words(IndexedField::Code, section.code);
        add_words(IndexedField::Parts, section.parts);
        add_words(IndexedField::Path, self.path_words);
        let mut above = section.above;
        while let Some(section) = self.sections.get(above).filter(|_| above > 0) {
            add_words(IndexedField::Path, section.title);
            above = section.above;
        }
        // The front matter contains its tags as words.
        for tag in self.tags.iter().filter(|_| part.is_some()) {
            add(IndexedField::Tag, tag);
        }
    }
}

/// Returns the terms of the tags of a document. A document with `area/topic` also has the tag `area`. The number of
/// terms is bounded, because each section has all of them.
fn tag_terms(tags: &[String]) -> BTreeSet<String> {
    let above = tags.iter().flat_map(|tag| {
        let ends = tag.match_indices('/').map(|(end, _)| end);
        ends.take_while(|end| *end <= limits::MAX_WORD_BYTES).filter_map(|end| tag.get(..end))
    });
    let mut terms = BTreeSet::new();
    for tag in tags.iter().map(String::as_str).chain(above) {
        if terms.len() == limits::MAX_TAGS {
            break;
        }
        terms.insert(folded(tag));
    }
    terms
}

/// Returns the section that a document begins with: the root if there is text before the first
/// heading, else the first section; `None` if there is neither.
fn first_section(sections: &[SectionText<'_>], text: &str) -> Option<usize> {
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
        let texts = |spans: &[ByteSpan]| {
            let texts = spans
                .iter()
                .map(|span| std::str::from_utf8(&file[span.start..span.end]).unwrap().trim());
            texts.collect::<Vec<_>>().join("|")
        };
        let actual: Vec<_> = sections(&outline)
            .iter()
            .map(|section| {
                (section.title, section.above, texts(&section.body), texts(&section.code))
            })
            .collect();
        let expected = [
            ("", 0, "intro", ""),
            ("A", 0, "one\n\n- x|two", "```\n  code\n  ```"),
            ("B", 1, "three", ""),
        ];
        assert_eq!(actual, expected.map(|(a, b, c, d)| (a, b, c.to_owned(), d.to_owned())));
    }
}
