//! One place as an answer: its content or a page of it, where it is, and what stands below it.
//!
//! Invariant: content is bytes of the document, verbatim; the pages of a place, in order, are the
//! place.

use crate::schema::schema_as;
use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::library::{Freshness, Library, is_false};
use super::page::shorten;
use super::place::{Place, Target};
use crate::address::{Fault, FaultCode, Part, Scope, Tree};
use crate::error::Result;
use crate::limits;
use crate::markdown::words::{measure, page, page_count};
use crate::position::{ByteSpan, LineIndex, LineSpan, next_line_start};

/// Bytes of a document, shown as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// The bytes, verbatim.
    pub bytes: Vec<u8>,
    /// The number of the first line, where lines are shown with their numbers.
    pub numbered_from: Option<usize>,
}

impl Content {
    /// Bytes without line numbers.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self { bytes, numbered_from: None }
    }

    /// What is shown: the bytes, or each line behind its number and a tab, as `cat -n` does.
    pub fn shown(&self) -> Cow<'_, [u8]> {
        let Some(mut number) = self.numbered_from else { return Cow::Borrowed(&self.bytes) };
        let mut result = Vec::with_capacity(self.bytes.len() * 2);
        let mut position = 0;
        while position < self.bytes.len() {
            let end = next_line_start(&self.bytes, position);
            result.extend_from_slice(format!("{number:>6}\t").as_bytes());
            result.extend_from_slice(self.bytes.get(position..end).unwrap_or_default());
            position = end;
            number += 1;
        }
        Cow::Owned(result)
    }
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(&String::from_utf8_lossy(&self.shown()))
    }
}

/// A section directly below a node.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Child {
    /// Its address.
    pub selector: String,
    /// Its type.
    #[serde(rename = "type")]
    pub node_type: String,
    /// Its title.
    pub title: String,
    /// Its words, subsections included.
    pub words: usize,
}

/// Which page the content is.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Pagination {
    /// Its number, 0-based.
    pub page: usize,
    /// How many there are.
    pub pages: usize,
    /// The address of the page behind it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// How many of something; a map that keeps its order.
#[derive(Clone, Debug, Default)]
pub struct Counts(pub Vec<(&'static str, usize)>);

impl Serialize for Counts {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}

schema_as!(Content => String);
schema_as!(Counts => BTreeMap<String, usize>);

impl Counts {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A place that an address named.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct NodeAnswer {
    /// Its primary address.
    pub selector: String,
    /// Its type.
    #[serde(rename = "type")]
    pub node_type: String,
    /// Its bytes, or a page of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Content>,
    /// Whether something of it was left out that was asked for.
    pub truncated: bool,
    /// The sections directly below it.
    pub children_available: Vec<Child>,
    /// They were left out to make room for the content; `neighbors` tells them.
    #[serde(skip_serializing_if = "is_false")]
    pub children_omitted: bool,
    /// Which page the content is; `null` where it is all.
    pub pagination: Option<Pagination>,
    /// The path of its document.
    pub file: String,
    /// The slug path of a section.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The title of a section.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The level of a section.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<u8>,
    /// First line of the content, 1-based.
    pub line_start: usize,
    /// Last line of the content, inclusive.
    pub line_end: usize,
    /// Offset of the first byte of the content in the file.
    pub byte_start: usize,
    /// Offset after its last byte.
    pub byte_end: usize,
    /// Words of the whole place.
    pub words: usize,
    /// Blocks directly in it, by type.
    #[serde(skip_serializing_if = "Counts::is_empty")]
    pub blocks: Counts,
    /// Why it is not quite what was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved: Option<&'static str>,
    /// The first 16 hexadecimal digits of the blake3 of all of it.
    pub hash: String,
    /// Whether the file is still the same.
    #[serde(flatten)]
    pub freshness: Freshness,
    /// The content holds bytes that are not UTF-8.
    #[serde(skip_serializing_if = "is_false")]
    pub lossy: bool,
    /// How to ask for another page.
    #[serde(skip)]
    pager: Pager,
}

/// What asking for another page of a place takes.
#[derive(Clone, Debug, Default)]
struct Pager {
    /// The address and the parameters before the page's.
    base: String,
    separator: char,
    /// The number of the first word of the content, 0-based.
    first_word: usize,
}

impl Pager {
    fn address(&self, page: usize, words: usize) -> String {
        let Self { base, separator, .. } = self;
        if words == limits::MAX_WORDS {
            format!("{base}{separator}page={page}")
        } else {
            format!("{base}{separator}page={page}&words={words}")
        }
    }
}

/// Unicode scalars of the title of a place that is cut.
const CUT_TITLE_CHARS: usize = 80;

/// The digits of a hash by which content is recognized.
pub fn short_hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().chars().take(16).collect()
}

/// Whether content goes into an answer, and how much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// None of it.
    Structure,
    /// A page of so many words where no other is asked for; 0 for all.
    Words(usize),
}

/// Answers a place; the inner fault says that it has no such page.
pub fn answer(
    library: &Library<'_>,
    place: &Place,
    extent: Extent,
) -> Result<std::result::Result<NodeAnswer, Fault>> {
    let part = place.part_span();
    let bytes = library.content(&place.document, part)?;
    let (span, lines) = narrowed(place, part, &bytes);
    let bytes = bytes.get(span.start - part.start..span.end - part.start).unwrap_or_default();
    let result = describe(library, place, span, lines, bytes);
    Ok(match extent {
        Extent::Structure => Ok(result),
        Extent::Words(max_words) => show(result, place, bytes, max_words),
    })
}

/// All but the content of a place of which `bytes` are asked for.
fn describe(
    library: &Library<'_>,
    place: &Place,
    span: ByteSpan,
    lines: LineSpan,
    bytes: &[u8],
) -> NodeAnswer {
    let document = &place.document;
    let tree = &document.tree;
    let (node, scope, node_type) = match place.target {
        Target::Node(node) => (Some(node), Some(Scope::Node(node)), tree.type_name(node)),
        Target::Document => (None, Some(Scope::Document), "document".to_owned()),
        Target::FrontMatter => (None, None, "frontmatter".to_owned()),
        Target::Ldmd(_) => (None, None, "ldmd".to_owned()),
    };
    let section = node.and_then(|node| tree.section(node));
    let ldmd = place.ldmd();
    let ldmd_title = ldmd.map(|section| &section.title).filter(|title| !title.is_empty());
    NodeAnswer {
        selector: place.address(),
        node_type,
        content: None,
        truncated: false,
        children_available: match (place.target, scope) {
            (Target::Ldmd(section), _) => ldmd_children(place, section, span, bytes),
            (_, Some(scope)) => children(place, scope),
            (_, None) => Vec::new(),
        },
        children_omitted: false,
        pagination: None,
        file: document.stored.path.clone(),
        path: section.and_then(|section| tree.section_path(section.node)),
        title: section.map(|section| &section.title).or(ldmd_title).cloned(),
        level: section.map(|section| section.level),
        line_start: lines.start,
        line_end: lines.end,
        byte_start: span.start,
        byte_end: span.end,
        words: measure(bytes).words,
        blocks: Counts(node.map_or_else(Vec::new, |node| tree.block_counts(node))),
        resolved: place.resolved,
        hash: short_hash(bytes),
        freshness: library.freshness(&document.stored),
        lossy: false,
        pager: pager(place),
    }
}

/// Adds the page of `bytes` that is asked for.
fn show(
    mut result: NodeAnswer,
    place: &Place,
    bytes: &[u8],
    max_words: usize,
) -> std::result::Result<NodeAnswer, Fault> {
    let params = place.params;
    let words = if params.full { 0 } else { params.words.unwrap_or(max_words) };
    let number = params.page.unwrap_or(0);
    let pages = page_count(result.words, words);
    let Some((shown, has_more)) = page(bytes, words, number) else {
        let message = format!("{} has {pages} pages, counted from 0", result.selector);
        let last = result.pager.address(pages - 1, words);
        return Err(Fault::new(FaultCode::IndexOutOfRange, message).suggest(vec![last]));
    };
    if pages > 1 {
        result.truncated = params.page.is_none();
        let next = has_more.then(|| result.pager.address(number + 1, words));
        result.pagination = Some(Pagination { page: number, pages, next });
    }
    result.pager.first_word = number.saturating_mul(words);
    if pages > 1 {
        result.set_span(bytes, shown);
    }
    let shown = bytes.get(shown.start..shown.end).unwrap_or_default().to_vec();
    result.lossy = std::str::from_utf8(&shown).is_err();
    result.content = Some(Content::new(shown));
    Ok(result)
}

impl NodeAnswer {
    /// How many words of content it shows.
    pub fn words_shown(&self) -> usize {
        self.content.as_ref().map_or(0, |content| measure(&content.bytes).words)
    }

    /// Makes its lines and bytes those of the page that `shown` is in `bytes`, which are its own until now.
    fn set_span(&mut self, bytes: &[u8], shown: ByteSpan) {
        let lines = LineIndex::new(bytes);
        let last = shown.end.saturating_sub(1).max(shown.start);
        self.line_end = self.line_start + lines.line_of(last) - 1;
        self.line_start += lines.line_of(shown.start) - 1;
        self.byte_end = self.byte_start + shown.end;
        self.byte_start += shown.start;
    }

    /// Shows each line of the content with its number.
    pub fn number_lines(&mut self) {
        if let Some(content) = &mut self.content {
            content.numbered_from = Some(self.line_start);
        }
    }

    /// Leaves out the children and, if `words` are less than it shows, gives a page of at most that many words
    /// from the same first word on; whether that is less than before.
    pub fn cut(&mut self, words: usize) -> bool {
        if words < self.words_shown()
            && let Some(page) = self.paged(words)
        {
            *self = page;
        } else if self.children_available.is_empty() {
            return false;
        }
        self.truncated = true;
        self.children_omitted |= !self.children_available.is_empty();
        self.children_available.clear();
        if let Some(title) = &mut self.title {
            shorten(title, CUT_TITLE_CHARS);
        }
        true
    }

    fn paged(&self, words: usize) -> Option<Self> {
        let content = self.content.as_ref()?;
        let first = self.pager.first_word;
        let words = page_size(first, words)?;
        let (shown, _) = page(&content.bytes, words, 0)?;
        let number = first / words;
        let pages = page_count(self.words, words);
        let behind = first + words;
        let next = (number + 1 < pages).then(|| {
            // Twice as much may fit again.
            let words = (words..=words.saturating_mul(2)).rev().find(|&n| behind.is_multiple_of(n));
            words.map(|words| self.pager.address(behind / words, words))
        });
        let mut result = self.clone();
        let shown = content.bytes.get(shown.start..shown.end).unwrap_or_default().to_vec();
        result.lossy = std::str::from_utf8(&shown).is_err();
        result.set_span(&content.bytes, ByteSpan::new(0, shown.len()));
        result.content = Some(Content { bytes: shown, ..content.clone() });
        result.pagination = Some(Pagination { page: number, pages, next: next.flatten() });
        Some(result)
    }
}

/// The largest size of pages, at most `most` words, of which one begins at the word `first`.
///
/// The first page chooses for those behind it: only a size of many parts leaves them a choice, so that
/// of its binary digits only the first three are kept.
fn page_size(first: usize, most: usize) -> Option<usize> {
    if first == 0 {
        let low = most.checked_ilog2()?.saturating_sub(2);
        return Some(most >> low << low);
    }
    (1..=most).rev().find(|&words| first.is_multiple_of(words))
}

fn pager(place: &Place) -> Pager {
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
        Some(Part::Heading) => add("part", "heading".to_owned()),
        Some(Part::Own) => add("part", "own".to_owned()),
        Some(Part::All) | None => {}
    }
    if let Some(head) = place.params.head {
        add("head", head.to_string());
    }
    if let Some(tail) = place.params.tail {
        add("tail", tail.to_string());
    }
    Pager { base, separator, first_word: 0 }
}

/// The lines and bytes of `part`, which are `bytes`, that are meant.
fn narrowed(place: &Place, part: ByteSpan, bytes: &[u8]) -> (ByteSpan, LineSpan) {
    let tree = &place.document.tree;
    let first_line = match place.target {
        Target::Document | Target::FrontMatter => 1,
        Target::Node(node) => tree.node(node).map_or(1, |node| node.lines.start),
        Target::Ldmd(_) => place.ldmd().map_or(1, |section| section.lines.start),
    };
    let index = LineIndex::new(bytes);
    let (mut from, mut to) = (1, index.count());
    if let Some(head) = place.params.head {
        to = to.min(head);
    }
    if let Some(tail) = place.params.tail {
        from = from.max((to + 1).saturating_sub(tail));
    }
    if from > to {
        let at = part.start + index.start_of(from).min(bytes.len());
        let line = first_line + from - 1;
        return (ByteSpan::new(at, at), LineSpan { start: line, end: line.saturating_sub(1) });
    }
    let start = index.start_of(from);
    let end = next_line_start(bytes, index.start_of(to));
    let span = ByteSpan::new(part.start + start, part.start + end);
    (span, LineSpan { start: first_line + from - 1, end: first_line + to - 1 })
}

fn children(place: &Place, scope: Scope) -> Vec<Child> {
    let tree = &place.document.tree;
    tree.child_sections(scope)
        .filter_map(|node| {
            Some(Child {
                selector: place.document.address_of(node),
                node_type: tree.type_name(node),
                title: tree.section(node)?.title.clone(),
                words: words_below(tree, node),
            })
        })
        .collect()
}

/// The LDMD sections directly in `section`, as far as they lie in `span`, whose bytes are `bytes`.
fn ldmd_children(place: &Place, section: usize, span: ByteSpan, bytes: &[u8]) -> Vec<Child> {
    let markup = &place.document.markup;
    markup
        .children(section)
        .filter_map(|index| {
            let child = markup.sections.get(index).filter(|child| span.contains(child.span))?;
            let own = child.span.start - span.start..child.span.end - span.start;
            Some(Child {
                selector: place.document.address_of_ldmd(index),
                node_type: "ldmd".to_owned(),
                title: child.title.clone(),
                words: measure(bytes.get(own)?).words,
            })
        })
        .collect()
}

/// Words of a section, subsections included.
pub(super) fn words_below(tree: &Tree, node: usize) -> usize {
    tree.sections_within(node).map(|section| section.own.words).sum()
}
