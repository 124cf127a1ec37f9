//! Builds hits from the spans that a search found: their addresses, their positions, and their lines.
//!
//! Invariant: the address of a hit, passed to `select`, returns text that contains the hit: the
//! innermost block, or a page of it if the block has several pages.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::hit::{ContextLines, Hit, HitDetail};
use crate::address::FRONT_MATTER_PLACE;
use crate::decoding;
use crate::limits;
use crate::markdown::text_start;
use crate::markdown::words::{measure, pages};
use crate::position::{ByteSpan, Line, LineFinder, LineIndex, trim_line_end};
use crate::query::containers::{Container, container, is_in_front_matter};
use crate::query::freshness::Freshness;
use crate::query::open_document::OpenDocument;

/// The section of a hit.
#[derive(Clone, Default)]
struct HitSection {
    /// The node of the section; `None` before the first heading.
    node: Option<usize>,
    address: Arc<str>,
    titles: Arc<[String]>,
}

/// Where the lines of a document are.
pub(super) enum Lines<'a> {
    Indexed(&'a LineIndex),
    /// For ascending hits without context.
    Found(LineFinder<'a>),
}

impl Lines<'_> {
    fn at(&mut self, offset: usize) -> Line {
        match self {
            Self::Indexed(index) => index.line_at(offset),
            Self::Found(finder) => finder.line_at(offset),
        }
    }
}

/// Builds the hits of one document.
pub(super) struct HitMaker<'a> {
    /// The document, for titles and addresses; `None` if only lines are needed.
    document: Option<&'a OpenDocument>,
    detail: HitDetail,
    bytes: &'a [u8],
    lines: Lines<'a>,
    surroundings: ContextLines,
    file: Arc<str>,
    /// The section of the last hit.
    section: Option<HitSection>,
    /// The last hit: the start of its line, its offset, and its column.
    last_column: (usize, usize, usize),
    /// Where the last line with a hit begins, and its text, if the hit has all of it.
    shared_text: Option<(usize, Arc<str>)>,
    /// The pages of nodes, by address without page; empty for a node with one page.
    pages: HashMap<String, Vec<ByteSpan>>,
}

impl<'a> HitMaker<'a> {
    /// Returns a builder for hits in the document at `file` with the content `bytes`. `lines` must have the lines of
    /// every hit and of its context.
    pub(super) fn new(
        file: &str,
        document: Option<&'a OpenDocument>,
        bytes: &'a [u8],
        lines: Lines<'a>,
        surroundings: ContextLines,
        detail: HitDetail,
    ) -> Self {
        Self {
            document,
            detail,
            bytes,
            lines,
            surroundings,
            file: Arc::from(file),
            section: None,
            last_column: (usize::MAX, 0, 0),
            shared_text: None,
            pages: HashMap::new(),
        }
    }

    /// Returns the hit at `span`.
    pub(super) fn hit(&mut self, span: ByteSpan) -> Hit {
        let last = self.bytes.len().saturating_sub(1);
        let first = self.lines.at(span.start.min(last));
        let last = if span.is_empty() { first } else { self.lines.at(span.end - 1) };
        let whole_lines = ByteSpan::new(self.start_of(first), last.end);
        let column = self.column(whole_lines.start, span.start);
        let HitSection { address: section, titles: heading_path, .. } =
            self.document.map(|document| self.section(document, span)).unwrap_or_default();
        let addressed = self.document.filter(|_| self.detail == HitDetail::Addresses);
        let (text, cut) = self.text(span, whole_lines, first == last);
        let (selector, word) =
            addressed.map_or((String::new(), "Section"), |document| self.selector(document, span));
        let (before, after, context_cut) = self.context(first.number, last.number);
        let mut hit = Hit {
            selector,
            word,
            section,
            ldmd: addressed.and_then(|document| {
                let section = document.markup.innermost_at(span.start)?;
                Some(document.address_of_ldmd(section))
            }),
            heading_path,
            file: Arc::clone(&self.file),
            line: first.number,
            column,
            line_end: (last != first).then_some(last.number),
            byte_start: span.start,
            byte_end: span.end,
            text,
            text_cut: cut.before || cut.after,
            text_cut_before: cut.before,
            text_cut_after: cut.after,
            is_match_only: self.surroundings.is_match_only,
            before,
            after,
            context_cut,
            score: None,
            score_parts: None,
            passage: Vec::new(),
            rest: None,
            rest_end: None,
            next_line: None,
            truncated: false,
            duplicates: Vec::new(),
            queries: Vec::new(),
            lossy: false,
            freshness: Freshness::default(),
        };
        hit.lossy = self.document.is_some_and(|document| document.stored.is_lossy_in(hit.texts()));
        hit
    }

    /// Returns the column of the byte at `at`, on the line that begins at `start`. It counts from the
    /// last hit if that is earlier on the same line.
    fn column(&mut self, start: usize, at: usize) -> usize {
        let (line, last, last_column) = self.last_column;
        let between = (line == start && last <= at).then(|| self.bytes.get(last..at)).flatten();
        let counted = between.and_then(|bytes| std::str::from_utf8(bytes).ok());
        let column = match counted {
            Some(text) => last_column + text.chars().count(),
            None => {
                let before = self.bytes.get(start..at).unwrap_or_default();
                decoding::text(before).chars().count() + 1
            }
        };
        self.last_column = (start, at, column);
        column
    }

    /// Returns the texts of the lines before line `first` and of those after line `last`, as many as were asked for, and
    /// the numbers of those lines that are cut.
    fn context(&self, first: usize, last: usize) -> (Vec<String>, Vec<String>, Vec<usize>) {
        let Lines::Indexed(index) = self.lines else { return Default::default() };
        let ContextLines { before: above, after: below, .. } = self.surroundings;
        let mut cut_lines = Vec::new();
        let mut texts = |lines: Range<usize>| {
            let text = |number| {
                let line = index.line(number);
                let bytes = self.bytes.get(self.start_of(line)..line.end).unwrap_or_default();
                let (text, cut) = excerpt(trim_line_end(bytes), 0, 0);
                cut_lines.extend(cut.after.then_some(number));
                text.into_owned()
            };
            lines.map(text).collect()
        };
        let before = texts(first.saturating_sub(above).max(1)..first);
        let after = texts(last + 1..(last + below).min(index.count()) + 1);
        (before, after, cut_lines)
    }

    /// Returns the offset of the first byte of `line`. A byte order mark belongs to no line.
    fn start_of(&self, line: Line) -> usize {
        line.start.max(text_start(self.bytes))
    }

    /// Returns the text of a hit, and what it leaves out of its `whole_lines`. The hits on a line share it.
    fn text(
        &mut self,
        span: ByteSpan,
        whole_lines: ByteSpan,
        is_one_line: bool,
    ) -> (Arc<str>, Cut) {
        if self.surroundings.is_match_only {
            let bytes = span.of(self.bytes);
            let (text, cut) = excerpt(bytes, 0, bytes.len());
            return (text.into(), cut);
        }
        if let Some((_, text)) = self
            .shared_text
            .as_ref()
            .filter(|(start, _)| is_one_line && *start == whole_lines.start)
        {
            return (Arc::clone(text), Cut::default());
        }
        let bytes = trim_line_end(whole_lines.of(self.bytes));
        let (text, cut) =
            excerpt(bytes, span.start - whole_lines.start, span.end - whole_lines.start);
        let text = Arc::from(text);
        let is_whole = cut == Cut::default();
        self.shared_text =
            (is_one_line && is_whole).then(|| (whole_lines.start, Arc::clone(&text)));
        (text, cut)
    }

    fn section(&mut self, document: &OpenDocument, span: ByteSpan) -> HitSection {
        let tree = &document.tree;
        let node = tree.section_at(span.start);
        let is_front_matter = node.is_none() && is_in_front_matter(document, span);
        if let Some(last) = self.section.as_ref().filter(|last| last.node == node)
            && !is_front_matter
        {
            return last.clone();
        }
        let address = match node {
            _ if self.detail != HitDetail::Addresses => String::new(),
            Some(node) => document.address_of(node),
            None if is_front_matter => document.address(FRONT_MATTER_PLACE),
            None => document.address("root"),
        };
        let above = node.map(|node| tree.sections_above(node)).unwrap_or_default();
        let titles: Vec<String> = above.into_iter().map(|section| section.title.clone()).collect();
        let section = HitSection { node, address: Arc::from(address), titles: Arc::from(titles) };
        // Front matter is not a section, so it is not reused for the next hit.
        self.section = (!is_front_matter).then(|| section.clone());
        section
    }

    /// Returns the address of text that contains `span`, and the type of its node as a word for people.
    fn selector(&mut self, document: &OpenDocument, span: ByteSpan) -> (String, &'static str) {
        let Container { address, bytes: within, word } = container(document, span);
        (self.page_address(address, within, span), word)
    }

    /// Returns `address`, or the address of its page that contains `span`, if it has several. `within` is the node.
    fn page_address(&mut self, address: String, within: ByteSpan, span: ByteSpan) -> String {
        let bytes = within.of(self.bytes);
        // Each word has at least one byte, so this node has one page.
        if bytes.len() <= limits::MAX_WORDS {
            return address;
        }
        let pages = self.pages.entry(address.clone()).or_insert_with(|| {
            // Most nodes have one page, and to count words takes less time than to divide them.
            let is_one = measure(bytes).words <= limits::MAX_WORDS;
            if is_one { Vec::new() } else { pages(bytes, limits::MAX_WORDS) }
        });
        if pages.len() < 2 {
            return address;
        }
        let span = ByteSpan::new(span.start - within.start, span.end - within.start);
        let number = pages.partition_point(|page| page.start <= span.start).saturating_sub(1);
        let separator = if address.contains('?') { '&' } else { '?' };
        if pages.get(number).is_some_and(|page| span.end <= page.end) {
            format!("{address}{separator}page={number}")
        } else {
            format!("{address}{separator}full=true")
        }
    }
}

/// The ends of a text that are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Cut {
    before: bool,
    after: bool,
}

/// Returns `bytes` as text, or only the part around `from..to` if it is long. The other bytes are not
/// read, so many hits on one long line stay cheap.
fn excerpt(bytes: &[u8], from: usize, to: usize) -> (Cow<'_, str>, Cut) {
    // A scalar has at most four bytes in UTF-8.
    let is_short = bytes.len() <= limits::HIT_CHARS * 4;
    if is_short {
        let text = decoding::text(bytes);
        if text.len() <= limits::HIT_CHARS || text.chars().count() <= limits::HIT_CHARS {
            return (text, Cut::default());
        }
    }
    // A quarter of the text precedes the hit.
    let most_before = limits::HIT_CHARS / 4;
    let mut start = from.saturating_sub(most_before * 4);
    while start > 0 && start < from && bytes.get(start).is_some_and(|byte| byte & 0xC0 == 0x80) {
        start += 1;
    }
    let before = decoding::text(bytes.get(start..from).unwrap_or_default());
    let before_chars = before.chars().count();
    let skip = before_chars.saturating_sub(most_before);
    let hit = bytes.get(from..to).unwrap_or_default();
    let hit_chars = decoding::text(hit).chars().count();
    let take = (most_before + hit_chars).clamp(limits::HIT_CHARS, limits::HIT_CHARS * 4);
    let end = bytes.len().min(from + take * 4);
    let after = decoding::text(bytes.get(from..end).unwrap_or_default());
    let (_, before) = split_after(&before, skip);
    let (after, rest) = split_after(&after, take - (before_chars - skip));
    let cut = Cut { before: start > 0 || skip > 0, after: end < bytes.len() || !rest.is_empty() };
    ([before, after].concat().into(), cut)
}

/// Divides `text` after `count` Unicode scalars, or at its end if it has fewer.
fn split_after(text: &str, count: usize) -> (&str, &str) {
    let mut rest = text.chars();
    if let Some(last) = count.checked_sub(1) {
        rest.nth(last);
    }
    text.split_at(text.len() - rest.as_str().len())
}
