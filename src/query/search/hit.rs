//! Hits: their addresses, their positions, and their lines.
//!
//! Invariant: the address of a hit, passed to `select`, returns text that contains the hit: the
//! innermost block, or a page of it if the block has several pages.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::passage::{self, PassageWindow};
use crate::limits;
use crate::markdown::outline::{BlockType, NodeKind};
use crate::markdown::words::pages;
use crate::position::{ByteSpan, LineIndex, LineSpan, next_line_start, trim_line_end};
use crate::query::library::{Freshness, OpenDocument, is_false};
use crate::query::page::{longest, shorten};

/// A hit of a search.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Hit {
    /// The address of text that contains the hit. Empty if only titles or lines are requested.
    pub selector: String,
    /// The address of the innermost section.
    pub section: Arc<str>,
    /// The address of the innermost LDMD section, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ldmd: Option<String>,
    /// The titles from the top-level section to the innermost section.
    pub heading_path: Arc<[String]>,
    /// The path of the document.
    pub file: Arc<str>,
    /// The line on which the hit begins, 1-based.
    pub line: usize,
    /// The column at which the hit begins, 1-based, in Unicode scalars.
    pub column: usize,
    /// The line on which the hit ends, if it spans several lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_end: Option<usize>,
    /// The byte offset of the hit in the file.
    pub byte_start: usize,
    /// The byte offset of the end of the hit, exclusive.
    pub byte_end: usize,
    /// The lines of the hit, or the match alone if requested.
    pub text: Arc<str>,
    /// Whether the text is only a part of a long line.
    #[serde(skip_serializing_if = "is_false")]
    pub text_cut: bool,
    /// Whether the text is the match alone.
    #[serde(skip)]
    pub is_match_only: bool,
    /// The context lines before the hit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<String>,
    /// The context lines after the hit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    /// The score of the section from the index, or from the fusion of several queries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// The parts of the score that determined the rank, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score_parts: Option<ScoreParts>,
    /// For words: the parts of the section that cover most of the question.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub passage: Vec<PassageWindow>,
    /// The address of the rest of the passage, if the passage is cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rest: Option<String>,
    /// Whether the passage is cut to fit the limit of characters.
    #[serde(skip_serializing_if = "is_false")]
    pub truncated: bool,
    /// The addresses of sections with nearly the same text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub duplicates: Vec<String>,
    /// The indices of the queries that found it, 0-based, if there are several queries.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub queries: Vec<usize>,
    /// Whether the file differs from the stored document.
    #[serde(flatten)]
    pub freshness: Freshness,
}

/// The parts of the score that ranks a section; the score is their sum.
#[derive(Clone, Copy, Debug, Default, JsonSchema, Serialize)]
pub struct ScoreParts {
    /// The score of the section divided by the best score, at most 1.
    pub ranking: f64,
    /// The square of the weighted share of the question that the titles and the best piece of the
    /// section contain, times 2: 0 to 2. The mean if there are several wordings.
    pub coverage: f64,
}

impl ScoreParts {
    /// Returns the score.
    pub(super) fn sum(self) -> f64 {
        self.ranking + self.coverage
    }
}

/// The parts of a hit besides its position and its lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HitDetail {
    /// None. A hit of words has titles.
    Lines,
    /// The titles above the hit.
    Titles,
    /// The titles above the hit, and the addresses of the hit and of its sections.
    Addresses,
}

/// The context to print with a hit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextLines {
    /// Number of context lines before the hit.
    pub before: usize,
    /// Number of context lines after the hit.
    pub after: usize,
    /// Whether to print the match alone instead of its lines.
    pub is_match_only: bool,
}

impl Hit {
    /// Returns the numbers of lines to which the passage can be cut so that enough of it remains.
    pub(in crate::query) fn passage_cuts(&self) -> Range<usize> {
        passage::cuts(&self.passage, limits::LEAST_CUT_CHARS)
    }

    /// Keeps the first `lines` lines of the passage and adds the address of the rest. Returns whether
    /// the passage had more lines.
    pub(in crate::query) fn cut(&mut self, lines: usize) -> bool {
        let Some((passage, (next, last))) = passage::cut(&self.passage, lines) else {
            return false;
        };
        self.rest = Some(format!("{}:{next}-{last}", self.file));
        self.passage = passage;
        self.truncated = true;
        true
    }

    /// Returns the length of the passage in Unicode scalars. The hit is longer in every format that prints hits.
    pub(super) fn passage_chars(&self) -> usize {
        self.passage.iter().map(|window| window.text.chars().count()).sum()
    }

    /// Returns the number of sizes to which the hit can be cut, in Unicode scalars of its texts.
    pub(in crate::query) fn sizes(&self) -> usize {
        let windows = self.passage.iter().map(|window| window.text.chars().count() + 1).sum();
        longest(self.heading_path.iter().map(String::as_str).chain([&*self.text])).max(windows)
    }

    /// Cuts the passage to at most `chars` Unicode scalars, at a line end if one line fits, and cuts the
    /// other texts too. Context lines and duplicates are removed.
    pub(in crate::query) fn cut_to(&mut self, chars: usize) {
        self.before.clear();
        self.after.clear();
        self.duplicates.clear();
        self.truncated = true;
        if self.text.chars().nth(chars).is_some() {
            let mut text = self.text.to_string();
            shorten(&mut text, chars);
            self.text = text.into();
            self.text_cut = true;
        }
        let titles = self.heading_path.iter().cloned().map(|mut title| {
            shorten(&mut title, chars.min(limits::HIT_TITLE_CHARS));
            title
        });
        self.heading_path = titles.collect();
        let mut left = chars;
        let lines = self.passage.iter().flat_map(|window| window.text.split_inclusive('\n'));
        let fitting = lines.take_while(|line| {
            let length = line.chars().count();
            let fits = length <= left;
            left = left.saturating_sub(length);
            fits
        });
        let fitting = fitting.count();
        if fitting > 0 {
            self.cut(fitting);
            return;
        }
        let last = self.passage.last().map_or(self.line, |last| last.line_end);
        self.passage.truncate(1);
        let Some(window) = self.passage.first_mut() else {
            let selector = (!self.selector.is_empty()).then(|| self.selector.clone());
            let is_cut = self.text_cut;
            self.rest = is_cut.then(|| selector.unwrap_or(format!("{}:{}", self.file, self.line)));
            return;
        };
        // Not even the first line fits, so a part of it is kept, and the rest begins with that line.
        window.text =
            window.text.chars().take(chars).take_while(|&scalar| scalar != '\n').collect();
        window.byte_end = window.byte_start + window.text.len();
        window.line_end = window.line_start;
        self.rest = Some(format!("{}:{}-{last}", self.file, window.line_start));
    }

    /// Returns the passage as text: the windows in order. A line `... N` marks a gap, where `N` is the
    /// number of the next line; it is also at the end if the passage is cut.
    pub fn passage_text(&self) -> String {
        let mut text = String::new();
        for (index, window) in self.passage.iter().enumerate() {
            if index > 0 && !window.is_adjacent {
                text.push_str(&format!("... {}\n", window.line_start));
            }
            text.push_str(&window.text);
            if !window.text.is_empty() {
                text.push('\n');
            }
        }
        if let Some(next) = self.rest_line() {
            text.push_str(&format!("... {next}\n"));
        }
        text
    }

    /// Returns the first line of the rest of the passage, 1-based, if the passage is cut.
    fn rest_line(&self) -> Option<usize> {
        let (_, lines) = self.rest.as_ref()?.rsplit_once(':')?;
        lines.split_once('-')?.0.parse().ok()
    }

    /// Returns the address of the lines from the first to the last line of the passage.
    pub fn passage_address(&self) -> String {
        let start = self.passage.first().map_or(self.line, |first| first.line_start);
        let last = self.passage.last().map_or(self.line, |last| last.line_end);
        let rest = self.rest.as_ref().and_then(|rest| rest.rsplit_once('-'));
        let end = rest.and_then(|(_, end)| end.parse().ok()).unwrap_or(last);
        format!("{}:{start}-{end}", self.file)
    }
}

/// The section of a hit.
#[derive(Clone, Default)]
struct HitSection {
    /// The node of the section; `None` before the first heading.
    node: Option<usize>,
    address: Arc<str>,
    titles: Arc<[String]>,
}

/// Builds the hits of one document.
pub(super) struct HitMaker<'a> {
    /// The document, for titles and addresses; `None` if only lines are needed.
    document: Option<&'a OpenDocument>,
    detail: HitDetail,
    bytes: &'a [u8],
    lines: LineIndex,
    surroundings: ContextLines,
    file: Arc<str>,
    /// The section of the last hit.
    section: Option<HitSection>,
    /// The last hit: the start of its line, its offset, and its column.
    last_column: (usize, usize, usize),
    /// The last line with a hit, 1-based, and its text, if the hit has all of it.
    last_line: Option<(usize, Arc<str>)>,
    /// The pages of nodes with several pages, by address without page.
    pages: HashMap<String, Vec<ByteSpan>>,
}

impl<'a> HitMaker<'a> {
    /// Returns a builder for hits in the document at `file` with the content `bytes`. No hit may end
    /// after `reach`.
    pub(super) fn new(
        file: &str,
        document: Option<&'a OpenDocument>,
        bytes: &'a [u8],
        reach: usize,
        surroundings: ContextLines,
        detail: HitDetail,
    ) -> Self {
        let mut end = next_line_start(bytes, reach.saturating_sub(1));
        for _ in 0..=surroundings.after {
            end = next_line_start(bytes, end);
        }
        Self {
            document,
            detail,
            bytes,
            lines: LineIndex::new(bytes.get(..end).unwrap_or(bytes)),
            surroundings,
            file: Arc::from(file),
            section: None,
            last_column: (usize::MAX, 0, 0),
            last_line: None,
            pages: HashMap::new(),
        }
    }

    /// Returns the line index, which covers the bytes up to `reach` and the context lines.
    pub(super) fn lines(&self) -> &LineIndex {
        &self.lines
    }

    /// Returns the hit at `span`.
    pub(super) fn hit(&mut self, span: ByteSpan) -> Hit {
        let lines = self.lines_of(span);
        let column = self.column(self.lines.start_of(lines.start), span.start);
        let HitSection { address: section, titles: heading_path, .. } =
            self.document.map(|document| self.section(document, span)).unwrap_or_default();
        let addressed = self.document.filter(|_| self.detail == HitDetail::Addresses);
        let (text, text_cut) = self.text(span, lines);
        let ContextLines { before: above, after: below, .. } = self.surroundings;
        let first = lines.start.saturating_sub(above).max(1);
        let last = (lines.end + below).min(self.lines.count());
        Hit {
            selector: addressed.map(|document| self.selector(document, span)).unwrap_or_default(),
            section,
            ldmd: addressed.and_then(|document| {
                let section = document.markup.innermost_at(span.start)?;
                Some(document.address_of_ldmd(section))
            }),
            heading_path,
            file: Arc::clone(&self.file),
            line: lines.start,
            column,
            line_end: (lines.end > lines.start).then_some(lines.end),
            byte_start: span.start,
            byte_end: span.end,
            text,
            text_cut,
            is_match_only: self.surroundings.is_match_only,
            before: (first..lines.start).map(|line| self.line(line)).collect(),
            after: (lines.end + 1..=last).map(|line| self.line(line)).collect(),
            score: None,
            score_parts: None,
            passage: Vec::new(),
            rest: None,
            truncated: false,
            duplicates: Vec::new(),
            queries: Vec::new(),
            freshness: Freshness::default(),
        }
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
                String::from_utf8_lossy(before).chars().count() + 1
            }
        };
        self.last_column = (start, at, column);
        column
    }

    /// Returns the lines that `span` overlaps, or the line of its position if it is empty.
    fn lines_of(&self, span: ByteSpan) -> LineSpan {
        let last = self.bytes.len().saturating_sub(1);
        let start = self.lines.line_of(span.start.min(last));
        let end = if span.is_empty() { start } else { self.lines.line_of(span.end - 1) };
        LineSpan { start, end }
    }

    fn line(&self, line: usize) -> String {
        let bytes = self.bytes.get(self.lines.start_of(line)..self.lines.end_of(line));
        excerpt(trim_line_end(bytes.unwrap_or_default()), 0, 0).0
    }

    /// Returns the text of a hit, and whether it is only a part of its lines. The hits on a line share it.
    fn text(&mut self, span: ByteSpan, lines: LineSpan) -> (Arc<str>, bool) {
        if self.surroundings.is_match_only {
            let bytes = self.bytes.get(span.start..span.end).unwrap_or_default();
            let (text, is_cut) = excerpt(bytes, 0, bytes.len());
            return (text.into(), is_cut);
        }
        let is_one_line = lines.start == lines.end;
        if let Some((_, text)) =
            self.last_line.as_ref().filter(|(line, _)| is_one_line && *line == lines.start)
        {
            return (Arc::clone(text), false);
        }
        let start = self.lines.start_of(lines.start);
        let end = self.lines.end_of(lines.end);
        let bytes = trim_line_end(self.bytes.get(start..end).unwrap_or_default());
        let (text, is_cut) = excerpt(bytes, span.start - start, span.end - start);
        let text = Arc::from(text);
        self.last_line = (is_one_line && !is_cut).then(|| (lines.start, Arc::clone(&text)));
        (text, is_cut)
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
            None if is_front_matter => document.address("@frontmatter"),
            None => document.address("root"),
        };
        let above = node.map(|node| tree.sections_above(node)).unwrap_or_default();
        let titles: Vec<String> = above.into_iter().map(|section| section.title.clone()).collect();
        let section = HitSection { node, address: Arc::from(address), titles: Arc::from(titles) };
        // Front matter is not a section, so it is not reused for the next hit.
        self.section = (!is_front_matter).then(|| section.clone());
        section
    }

    /// Returns the address of text that contains `span`.
    fn selector(&mut self, document: &OpenDocument, span: ByteSpan) -> String {
        let (address, within) = container(document, span);
        let bytes = self.bytes.get(within.start..within.end).unwrap_or_default();
        // Each word has at least one byte, so this node has one page.
        if bytes.len() <= limits::MAX_WORDS {
            return address;
        }
        let pages =
            self.pages.entry(address.clone()).or_insert_with(|| pages(bytes, limits::MAX_WORDS));
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

/// Returns the address and the bytes of the innermost place that contains `span`.
fn container(document: &OpenDocument, span: ByteSpan) -> (String, ByteSpan) {
    let tree = &document.tree;
    if is_in_front_matter(document, span) {
        let front_matter = tree.outline().front_matter.unwrap_or_default();
        return (document.address("@frontmatter"), front_matter);
    }
    let Some((index, node)) = innermost(document, span) else {
        return (document.address("*"), document.span());
    };
    let address = document.address_of(index);
    let Some(section) = tree.section(index) else { return (address, node) };
    if span.end <= section.heading_end && span.start < section.heading_end {
        let heading = ByteSpan::new(node.start, section.heading_end);
        return (format!("{address}?part=heading"), heading);
    }
    if span.end <= section.own_end {
        return (format!("{address}?part=own"), ByteSpan::new(node.start, section.own_end));
    }
    (address, node)
}

fn is_in_front_matter(document: &OpenDocument, span: ByteSpan) -> bool {
    let front_matter = document.tree.outline().front_matter;
    front_matter.is_some_and(|front_matter| {
        front_matter.start <= span.start
            && span.start < front_matter.end
            && span.end <= front_matter.end
    })
}

/// Returns the innermost node that contains `span`, and its bytes.
fn innermost(document: &OpenDocument, span: ByteSpan) -> Option<(usize, ByteSpan)> {
    let nodes = &document.tree.outline().nodes;
    // A position after the last byte belongs to the last node.
    let at = span.start.min(document.span().end.saturating_sub(1));
    let after = nodes.partition_point(|node| node.bytes.start <= at);
    let mut index = after.checked_sub(1)?;
    loop {
        let node = nodes.get(index)?;
        if node.bytes.start <= at && at < node.bytes.end && span.end <= node.bytes.end {
            return Some((index, node.bytes));
        }
        index = node.parent?;
    }
}

/// Returns the types of the blocks that contain `span`, innermost first, or `heading` or `frontmatter`.
pub(in crate::query) fn types_of(document: &OpenDocument, span: ByteSpan) -> Vec<&'static str> {
    let tree = &document.tree;
    if is_in_front_matter(document, span) {
        return vec!["frontmatter"];
    }
    let mut types = Vec::new();
    let mut current = innermost(document, span).map(|(index, _)| index);
    while let Some(index) = current {
        let Some(node) = tree.node(index) else { break };
        match node.kind {
            NodeKind::Block(block) => types.push(block.name()),
            NodeKind::Item => types.push("item"),
            NodeKind::Section(_) => {
                let is_heading = tree
                    .section(index)
                    .is_some_and(|section| types.is_empty() && span.start < section.heading_end);
                if is_heading {
                    types.push(BlockType::Heading.name());
                }
                break;
            }
            NodeKind::Root => break,
        }
        current = node.parent;
    }
    types
}

/// Returns `bytes` as text, or only the part around `from..to` if it is long. The other bytes are not
/// read, so many hits on one long line stay cheap.
fn excerpt(bytes: &[u8], from: usize, to: usize) -> (String, bool) {
    // A scalar has at most four bytes in UTF-8.
    let is_short = bytes.len() <= limits::HIT_CHARS * 4;
    if is_short {
        let text = String::from_utf8_lossy(bytes);
        if text.len() <= limits::HIT_CHARS || text.chars().count() <= limits::HIT_CHARS {
            return (text.into_owned(), false);
        }
    }
    // A quarter of the text precedes the hit.
    let most_before = limits::HIT_CHARS / 4;
    let mut start = from.saturating_sub(most_before * 4);
    while start > 0 && start < from && bytes.get(start).is_some_and(|byte| byte & 0xC0 == 0x80) {
        start += 1;
    }
    let before = String::from_utf8_lossy(bytes.get(start..from).unwrap_or_default()).into_owned();
    let skip = before.chars().count().saturating_sub(most_before);
    let hit = bytes.get(from..to).unwrap_or_default();
    let hit_chars = String::from_utf8_lossy(hit).chars().count();
    let take = (most_before + hit_chars).clamp(limits::HIT_CHARS, limits::HIT_CHARS * 4);
    let end = bytes.len().min(from + take * 4);
    let after = String::from_utf8_lossy(bytes.get(from..end).unwrap_or_default()).into_owned();
    let text = before.chars().skip(skip).chain(after.chars()).take(take).collect();
    (text, true)
}
