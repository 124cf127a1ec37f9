//! One node as an answer: its content or a page of it, its position, and its subsections.
//!
//! Invariant: content is bytes of the document, verbatim. The pages of a node, concatenated in order,
//! are the node.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;

use super::freshness::Freshness;
use super::page::{is_longer, shorten};
use super::pager::Pager;
use super::resolved_node::{ResolvedAs, ResolvedNode, Target};
use super::session::Session;
use crate::address::{AddressError, AddressResult, FaultCode, StepScope, Tree};
use crate::count::counted;
use crate::error::Result;
use crate::limits;
use crate::markdown::words::{measure, page, page_count};
use crate::position::{ByteSpan, LineIndex, LineSpan, next_line_start};

/// The number of Unicode scalars of a slug path for each word of the page that it is printed with.
pub(super) const WORD_CHARS: usize = 8;

/// Bytes of a document, to print as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// The bytes, verbatim.
    pub bytes: Vec<u8>,
    /// The number of the first line, if lines are printed with their numbers.
    pub numbered_from: Option<usize>,
}

impl Content {
    /// Returns content without line numbers.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self { bytes, numbered_from: None }
    }

    /// Returns the printed form: the bytes, or each line after its number and a tab, as `cat -n` prints
    /// them.
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

/// A direct subsection.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Child {
    /// The address of the subsection.
    pub selector: String,
    /// The type name, such as `heading:h3`.
    #[serde(rename = "type")]
    pub node_type: String,
    /// The title as plain text.
    pub title: String,
    /// The number of words including subsections.
    pub words: usize,
}

/// The page of a node that the content is.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Pagination {
    /// The number of the page, 0-based; 0 if a limit of the answer cut the content, because no number selects it then.
    pub page: usize,
    /// The number of pages of this size that the rest of the node has.
    pub pages: usize,
    /// The address of the next page, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// The number of words after the content, if a limit of the answer cut it.
    #[serde(skip)]
    pub words_left: Option<usize>,
}

/// Counts by name; a map that keeps its order.
#[derive(Clone, Debug, Default)]
pub struct Counts(pub Vec<(&'static str, usize)>);

impl Counts {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A node that an address named.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct NodeAnswer {
    /// The primary address of the node.
    pub selector: String,
    /// The type name, such as `heading:h2` or `document`.
    #[serde(rename = "type")]
    pub node_type: String,
    /// The bytes of the node or of a page of it, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Content>,
    /// Whether a requested part was left out.
    pub truncated: bool,
    /// The direct subsections.
    pub children_available: Vec<Child>,
    /// Whether the subsections were left out to make room for the content; `neighbors` lists them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub children_omitted: bool,
    /// The page that the content is; `null` if it is the whole node.
    pub pagination: Option<Pagination>,
    /// The path of the document.
    pub file: String,
    /// The slug path of a section, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The title of a section.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The level of a section, 1 to 6.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<u8>,
    /// The first line of the content, 1-based.
    pub line_start: usize,
    /// The last line of the content, 1-based and inclusive; the line before the first one if there is no content.
    pub line_end: usize,
    /// The byte offset of the content in the file.
    pub byte_start: usize,
    /// The byte offset of the end of the content, exclusive.
    pub byte_end: usize,
    /// The number of words of the whole node.
    pub words: usize,
    /// The number of blocks directly in it, by type.
    #[serde(skip_serializing_if = "Counts::is_empty")]
    pub blocks: Counts,
    /// How the node differs from the one that the address names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved: Option<ResolvedAs>,
    /// The first 16 hexadecimal digits of the BLAKE3 hash of the whole node.
    pub hash: String,
    /// Whether the file differs from the stored document.
    #[serde(flatten)]
    pub freshness: Freshness,
    /// Whether the content, the title, the summary or the passage contains bytes that are not valid UTF-8.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lossy: bool,
    /// How to form the address of another page.
    #[serde(skip)]
    pager: Pager,
}

/// Returns the hash that identifies content: the first 16 hexadecimal digits of its BLAKE3 hash.
pub fn short_hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().chars().take(16).collect()
}

/// Returns whether `hash` is the BLAKE3 hash of `bytes`, or the beginning of it that [`short_hash`] returns.
pub(crate) fn has_hash(bytes: &[u8], hash: &str) -> bool {
    let whole = blake3::hash(bytes).to_hex();
    [16, whole.len()].contains(&hash.len()) && whole.starts_with(hash)
}

/// How much content an answer includes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// No content.
    Structure,
    /// A page of this many words unless the address names another size; 0 for all.
    Words(usize),
}

/// Answers a request for a node. The inner error says that the node has no such page.
pub fn answer(
    session: &Session<'_>,
    place: &ResolvedNode,
    extent: Extent,
) -> Result<AddressResult<NodeAnswer>> {
    let part = place.part_span();
    let bytes = session.content(&place.document, part)?;
    let (span, lines) = narrowed(place, part, &bytes);
    let bytes = bytes.get(span.start - part.start..span.end - part.start).unwrap_or_default();
    let result = describe(session, place, span, lines, bytes);
    Ok(match extent {
        Extent::Structure => Ok(result),
        Extent::Words(max_words) => with_content(result, place, bytes, max_words),
    })
}

/// Returns all properties of a node except its content. `bytes` are the requested bytes.
fn describe(
    session: &Session<'_>,
    place: &ResolvedNode,
    span: ByteSpan,
    lines: LineSpan,
    bytes: &[u8],
) -> NodeAnswer {
    let document = &place.document;
    let tree = &document.tree;
    let (node, scope, node_type) = match place.target {
        Target::Node(node) => (Some(node), Some(StepScope::Node(node)), tree.type_name(node)),
        Target::Document => (None, Some(StepScope::Document), "document".to_owned()),
        Target::FrontMatter => (None, None, "frontmatter".to_owned()),
        Target::Ldmd(_) => (None, None, "ldmd".to_owned()),
        Target::Cells(cells) => {
            (None, None, if cells.cell.is_some() { "cell" } else { "row" }.to_owned())
        }
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
        freshness: session.freshness(&document.stored),
        lossy: false,
        pager: Pager::of(place),
    }
}

/// Adds the requested page of `bytes` to the answer.
fn with_content(
    mut result: NodeAnswer,
    place: &ResolvedNode,
    bytes: &[u8],
    max_words: usize,
) -> AddressResult<NodeAnswer> {
    let params = place.params;
    // The address of a page leaves out the usual number of words.
    let usual = if params.page.is_some() && max_words == 0 { limits::MAX_WORDS } else { max_words };
    let words = if params.full { 0 } else { params.words.unwrap_or(usual) };
    let number = params.page.unwrap_or(0);
    let from = result.pager.from;
    let fault = |message, suggestion| {
        Err(AddressError::new(FaultCode::IndexOutOfRange, message).suggest(vec![suggestion]))
    };
    let rest = if from == 0 { Some(0) } else { page(bytes, from, 1).map(|(rest, _)| rest.start) };
    let Some(start) = rest else {
        let message = format!("{} has {}", result.selector, counted(result.words, "word"));
        return fault(message, result.pager.rest(result.words.saturating_sub(1)));
    };
    let pages = page_count(result.words - from, words);
    let of_rest = page(bytes.get(start..).unwrap_or_default(), words, number);
    let Some((shown, has_more)) = of_rest else {
        let message =
            format!("{} has {}; pages begin at 0", result.selector, counted(pages, "page"));
        return fault(message, result.pager.address(pages - 1, words));
    };
    let shown = ByteSpan::new(start + shown.start, start + shown.end);
    if pages > 1 {
        result.truncated = params.page.is_none();
        let next = has_more.then(|| result.pager.address(number + 1, words));
        result.pagination = Some(Pagination { page: number, pages, next, words_left: None });
    }
    result.pager.first_word = from.saturating_add(number.saturating_mul(words));
    if shown.len() < bytes.len() {
        result.set_span(bytes, shown);
    }
    let shown = shown.of(bytes).to_vec();
    result.lossy = std::str::from_utf8(&shown).is_err();
    result.content = Some(Content::new(shown));
    Ok(result)
}

impl NodeAnswer {
    /// Returns the number of words of the content.
    pub fn words_shown(&self) -> usize {
        self.content.as_ref().map_or(0, |content| measure(&content.bytes).words)
    }

    /// Sets the lines and bytes to those of the page at `shown` in `bytes`, which are the current
    /// content.
    fn set_span(&mut self, bytes: &[u8], shown: ByteSpan) {
        let lines = LineIndex::new(bytes);
        let last = shown.end.saturating_sub(1).max(shown.start);
        self.line_end = self.line_start + lines.line_of(last) - 1;
        self.line_start += lines.line_of(shown.start) - 1;
        self.byte_end = self.byte_start + shown.end;
        self.byte_start += shown.start;
    }

    /// Prints each line of the content with its number.
    pub fn number_lines(&mut self) {
        if let Some(content) = &mut self.content {
            content.numbered_from = Some(self.line_start);
        }
    }

    /// Leaves out the subsections. If the content has more than `words` words, also cuts it to a page of
    /// at most that many, beginning at the same word. Returns whether the answer became smaller.
    pub fn cut(&mut self, words: usize) -> bool {
        // A slug path may be as long as such a page. A part of it would lead nowhere.
        let most = limits::CUT_TITLE_CHARS.max(words.saturating_mul(WORD_CHARS));
        let is_path_long = self.path.as_ref().is_some_and(|path| is_longer(path, most));
        if words < self.words_shown()
            && let Some(page) = self.paged(words)
        {
            *self = page;
        } else if self.children_available.is_empty()
            && !self.title.iter().any(|title| is_longer(title, limits::CUT_TITLE_CHARS))
            && !is_path_long
        {
            return false;
        }
        self.truncated = true;
        self.children_omitted |= !self.children_available.is_empty();
        self.children_available.clear();
        if let Some(title) = &mut self.title {
            shorten(title, limits::CUT_TITLE_CHARS);
        }
        self.path.take_if(|_| is_path_long);
        true
    }

    /// Returns the first `words` words of the content, with the address of the rest of the place.
    fn paged(&self, words: usize) -> Option<Self> {
        let content = self.content.as_ref()?;
        let (shown, _) = page(&content.bytes, words, 0).filter(|_| words > 0)?;
        let first = self.pager.first_word;
        let pages = page_count(self.words.saturating_sub(first), words);
        let next = (pages > 1).then(|| self.pager.rest(first + words));
        let mut result = self.clone();
        let shown = shown.of(&content.bytes).to_vec();
        result.lossy = std::str::from_utf8(&shown).is_err();
        result.set_span(&content.bytes, ByteSpan::new(0, shown.len()));
        result.content = Some(Content { bytes: shown, ..content.clone() });
        let words_left = Some(self.words.saturating_sub(first + words));
        result.pagination = Some(Pagination { page: 0, pages, next, words_left });
        Some(result)
    }
}

/// Narrows `part`, whose content is `bytes`, to the requested lines. Returns the bytes and the lines.
pub(crate) fn narrowed(place: &ResolvedNode, part: ByteSpan, bytes: &[u8]) -> (ByteSpan, LineSpan) {
    let first_line = place.first_line();
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
        // An empty cell is on the line of its row.
        let is_cell = matches!(place.target, Target::Cells(_));
        let end = if is_cell { line } else { line.saturating_sub(1) };
        return (ByteSpan::new(at, at), LineSpan { start: line, end });
    }
    let start = index.start_of(from);
    let end = next_line_start(bytes, index.start_of(to));
    let span = ByteSpan::new(part.start + start, part.start + end);
    (span, LineSpan { start: first_line + from - 1, end: first_line + to - 1 })
}

fn children(place: &ResolvedNode, scope: StepScope) -> Vec<Child> {
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

/// Returns the LDMD sections directly inside `section` that are within `span`, whose content is `bytes`.
fn ldmd_children(place: &ResolvedNode, section: usize, span: ByteSpan, bytes: &[u8]) -> Vec<Child> {
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

/// Returns the number of words of a section including subsections.
pub(super) fn words_below(tree: &Tree, node: usize) -> usize {
    tree.sections_within(node).map(|section| section.own.words).sum()
}
