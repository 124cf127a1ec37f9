//! `ldmd emit`: prints any document as LDMD, with a section for each heading.
//!
//! A valid LDMD document is printed as it is, if all of it is printed.
//!
//! Invariant: markers are inserted between the bytes of the document, and no other byte changes, with
//! one exception: a marker of the document itself, except for REF, gets a star, which makes it a plain comment. Front
//! matter stays at the start. The result therefore has the same headings and blocks as the document.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

use super::{Items, LdmdAnswer, in_document};
use crate::address::StepScope;
use crate::data::CodeItem;
use crate::error::Result;
use crate::ldmd::{Opening, closing, is_reference_line, opening};
use crate::markdown::outline::{BlockType, Node, NodeKind};
use crate::markdown::shows_text;
use crate::markdown::words::{measure, page};
use crate::position::{ByteSpan, dominant_line_end};
use crate::query::cursor::ListPart;
use crate::query::freshness::Freshness;
use crate::query::open_document::OpenDocument;
use crate::query::{Cursor, Session, summary};

/// A section of the output.
#[derive(Clone, Debug)]
struct Unit {
    id: String,
    title: String,
    level: u8,
    parent: Option<usize>,
    /// Its node in the outline.
    node: usize,
    /// The span including subsections.
    span: ByteSpan,
    /// The offset at which its own text ends.
    own_end: usize,
}

/// A document, and the positions of the markers to insert.
#[derive(Debug)]
struct EmissionPlan {
    bytes: Vec<u8>,
    /// Whether the document is already valid LDMD.
    is_ldmd: bool,
    /// In document order; a section precedes its subsections.
    units: Vec<Unit>,
    /// Start of each summary paragraph, to its end and the indices of its sections, outermost first.
    summaries: BTreeMap<usize, (usize, Vec<usize>)>,
    /// The offsets at which a star is inserted, to disable a marker of the document.
    stars: Vec<usize>,
    /// Headings, fences and HTML, which are not divided.
    whole: Vec<ByteSpan>,
    /// The offsets at which a part may begin: lines outside of headings, fences and HTML, and whether a
    /// block begins there. In document order.
    cuts: Vec<(usize, bool)>,
    line_end: &'static [u8],
    /// The line that closes a fence that is still open at the end of the document.
    fence: Option<String>,
}

impl EmissionPlan {
    /// Returns where a part that begins at `start` ends if the words from `most` on do not fit: before a
    /// block, or else before a line, or else before a word of the only line. If that is in a heading, a fence or
    /// HTML, the part ends after it.
    fn cut(&self, start: usize, most: usize) -> Option<usize> {
        let first = self.cuts.partition_point(|&(cut, _)| cut <= start);
        let after = self.cuts.partition_point(|&(cut, _)| cut <= most);
        let before = self.cuts.get(first..after).unwrap_or_default();
        let block = before.iter().rfind(|(_, is_block)| *is_block);
        if let Some(&(cut, _)) = block.or(before.last()) {
            return Some(cut);
        }
        let is_whole = self.whole.iter().any(|span| span.start < most && most < span.end);
        let given = self.bytes.get(start..).unwrap_or_default();
        let is_word = |at: usize| {
            let (before, word) = given.split_at(at - start);
            (at == most || before.ends_with(b" ")) && !is_mark(word)
        };
        let words = (start + 1..=most.min(self.bytes.len())).rev();
        if let Some(cut) = words.into_iter().find(|&at| !is_whole && is_word(at)) {
            return Some(cut);
        }
        self.cuts.get(after).map(|&(cut, _)| cut)
    }
}

/// Returns whether the first word of `text` may be a mark of Markdown at the start of a line, or is no word.
fn is_mark(text: &[u8]) -> bool {
    let word = text.split(u8::is_ascii_whitespace).next().unwrap_or_default();
    let is_number = |text: &[u8]| text.iter().all(u8::is_ascii_digit);
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || !byte.is_ascii();
    matches!(word, [b'>' | b'<' | b'[', ..] | [b'`', b'`', b'`', ..] | [b'~', b'~', b'~', ..])
        || matches!(word, [number @ .., b'.' | b')'] if is_number(number))
        || !word.iter().any(is_plain)
}

/// A document with LDMD markers.
#[derive(Clone, Debug)]
pub struct Emission {
    /// The path of the document.
    pub file: String,
    /// Whether the file differs from the stored document.
    pub freshness: Freshness,
    /// The cursor of the part that was left out; the output names it.
    next: Option<String>,
    plan: Rc<EmissionPlan>,
    /// The byte span of the document to print. Its sections are the units that it overlaps.
    given: ByteSpan,
    part: ListPart,
}

/// The items are sections. The cursor counts bytes, so a list can continue inside a section.
impl Items for Emission {
    fn count(&self) -> usize {
        self.units().len()
    }

    fn first(&self, count: usize) -> Self {
        self.up_to(self.given.start + self.position(count))
    }

    fn position(&self, count: usize) -> usize {
        let unit = self.plan.units.get(self.units().start + count);
        unit.map_or(self.given.end, |unit| unit.span.start) - self.given.start
    }

    fn sizes_of_first(&self) -> usize {
        measure(self.first_own()).words
    }

    fn cut_first(&mut self, size: usize) -> Option<usize> {
        let (shown, _) = page(self.first_own(), size, 0)?;
        let end = self.plan.cut(self.given.start, self.given.start + shown.end)?;
        (end < self.given.end).then(|| {
            *self = self.up_to(end);
            end - self.given.start
        })
    }
}

impl Emission {
    /// Returns the indices of the units whose own text overlaps the span to print.
    fn units(&self) -> Range<usize> {
        let units = &self.plan.units;
        let from = units.partition_point(|unit| unit.own_end <= self.given.start);
        let to = units.partition_point(|unit| unit.span.start < self.given.end);
        from..to.max(from)
    }

    /// Returns the part of the first unit's own text that is in the span to print.
    fn first_own(&self) -> &[u8] {
        let end = self.plan.units.get(self.units().start).map_or(0, |unit| unit.own_end);
        let span = self.given.start..end.min(self.given.end);
        self.plan.bytes.get(span).unwrap_or_default()
    }

    /// Returns the part up to the byte offset `end`, with a cursor to continue.
    fn up_to(&self, end: usize) -> Self {
        let mut result = self.clone();
        result.given.end = end;
        result.next = Some(self.part.next(end - self.given.start));
        result
    }

    /// Returns the document with its markers. If a part was left out, the last section says so.
    pub fn content(&self) -> Vec<u8> {
        let plan = &*self.plan;
        if plan.is_ldmd && self.given == ByteSpan::new(0, plan.bytes.len()) {
            return plan.bytes.clone();
        }
        let units = self.units();
        let (result, open, from) = (Vec::new(), Vec::new(), units.start);
        let mut writer = Markers { plan, result, open, from, given: self.given };
        let first = plan.units.get(units.start).map_or(plan.bytes.len(), |unit| unit.span.start);
        if self.given.start == 0 {
            writer.copy(ByteSpan::new(0, first));
        }
        for (index, unit) in plan.units.iter().enumerate().take(units.end).skip(units.start) {
            writer.unit(index, unit);
        }
        writer.close(usize::MAX);
        if let Some(next) = &self.next {
            let truncated = Opening { id: "truncated", title: "Truncated", ..Opening::default() };
            let left = plan.bytes.len() - self.given.end;
            let text = format!("{left} bytes are left out; continue with --after {next}");
            for line in [opening(&truncated), text, closing("truncated")] {
                writer.line(&line);
            }
        }
        writer.result
    }
}

/// Writes the document with its markers.
struct Markers<'a> {
    plan: &'a EmissionPlan,
    result: Vec<u8>,
    open: Vec<usize>,
    /// The first unit that is printed.
    from: usize,
    given: ByteSpan,
}

impl Markers<'_> {
    /// Writes a line that is not part of the document.
    fn line(&mut self, line: &str) {
        let is_at_line_start = self.result.last().is_none_or(|byte| matches!(byte, b'\n' | b'\r'))
            || self.result == crate::markdown::BYTE_ORDER_MARK;
        if !is_at_line_start {
            self.result.extend_from_slice(self.plan.line_end);
        }
        self.result.extend_from_slice(line.as_bytes());
        self.result.extend_from_slice(self.plan.line_end);
    }

    fn unit(&mut self, index: usize, unit: &Unit) {
        self.close(unit.span.start);
        let parent = unit.parent.filter(|&parent| parent >= self.from);
        let parent = parent.and_then(|parent| self.plan.units.get(parent));
        self.line(&opening(&Opening {
            id: &unit.id,
            title: &unit.title,
            level: u32::from(unit.level),
            parent: parent.map_or("", |parent| &parent.id),
            ..Opening::default()
        }));
        self.open.push(index);
        let mut position = unit.span.start.max(self.given.start);
        let own_end = unit.own_end.min(self.given.end);
        let is_whole = |end: &usize| *end <= own_end;
        let summaries = self.plan.summaries.range(position..own_end.max(position));
        for (&start, (end, sections)) in summaries.filter(|(_, (end, _))| is_whole(end)) {
            self.copy(ByteSpan::new(position, start));
            let given = sections.iter().filter(|&&section| section >= self.from);
            let ids: Vec<(String, &str)> = given
                .filter_map(|&section| self.plan.units.get(section))
                .map(|section| (format!("{}_tldr", section.id), section.id.as_str()))
                .collect();
            for (id, parent) in &ids {
                self.line(&opening(&Opening { id, parent, ..Opening::default() }));
            }
            self.copy(ByteSpan::new(start, *end));
            for (id, _) in ids.iter().rev() {
                self.line(&closing(id));
            }
            position = *end;
        }
        self.copy(ByteSpan::new(position, own_end.max(position)));
        if own_end == self.plan.bytes.len()
            && let Some(fence) = &self.plan.fence
        {
            self.line(fence);
        }
    }

    /// Closes the units that end at or before `position`.
    fn close(&mut self, position: usize) {
        while let Some(unit) = self.open.last().and_then(|&unit| self.plan.units.get(unit)) {
            if unit.span.end > position {
                break;
            }
            self.open.pop();
            self.line(&closing(&unit.id));
        }
    }

    fn copy(&mut self, span: ByteSpan) {
        let mut position = span.start;
        let from = self.plan.stars.partition_point(|&star| star < span.start);
        let stars = self.plan.stars.get(from..).unwrap_or_default();
        for &star in stars.iter().take_while(|&&star| star < span.end) {
            self.result.extend_from_slice(self.plan.bytes.get(position..star).unwrap_or_default());
            self.result.push(b'*');
            position = star;
        }
        self.result.extend_from_slice(self.plan.bytes.get(position..span.end).unwrap_or_default());
    }
}

/// Adds markers to a document, from the byte offset of `after` on.
pub fn emit(
    session: &Session<'_>,
    document: &str,
    after: Option<Cursor>,
) -> Result<LdmdAnswer<Emission>> {
    in_document(session, document, after, |document, part| {
        let plan = plan(session, document, session.content(document, document.span())?)?;
        let end = plan.bytes.len();
        Ok(Ok(Emission {
            file: document.stored.path.clone(),
            freshness: session.freshness(&document.stored),
            next: None,
            given: ByteSpan::new(part.start().min(end), end),
            plan: Rc::new(plan),
            part,
        }))
    })
}

fn plan(session: &Session<'_>, document: &OpenDocument, bytes: Vec<u8>) -> Result<EmissionPlan> {
    let units = units(document, &bytes);
    let tree = &document.tree;
    let mut summaries = BTreeMap::new();
    for (index, unit) in units.iter().enumerate() {
        let shows = |span: ByteSpan| {
            let text = span.of(&bytes);
            Ok(shows_text(&String::from_utf8_lossy(text)))
        };
        if let Some(paragraph) = summary::paragraph(tree, StepScope::Node(unit.node), shows)? {
            let (_, sections) = summaries.entry(paragraph.start).or_insert((paragraph.end, vec![]));
            sections.push(index);
        }
    }
    let blocks = session.reader.code(&document.stored)?;
    let whole = whole(document, &blocks);
    Ok(EmissionPlan {
        cuts: cuts(document, &bytes, &whole),
        whole,
        line_end: dominant_line_end(&bytes).unwrap_or(b"\n"),
        stars: stars(document, &bytes),
        is_ldmd: !document.markup.sections.is_empty() && document.markup.faults.is_empty(),
        fence: open_fence(document, &blocks, &bytes),
        units,
        summaries,
        bytes,
    })
}

/// Returns the text before the first heading, if it is not blank, and the sections.
fn units(document: &OpenDocument, bytes: &[u8]) -> Vec<Unit> {
    let tree = &document.tree;
    let outline = tree.outline();
    let mut units = Vec::with_capacity(outline.sections.len() + 1);
    let root = outline.nodes.first().map(|root| root.bytes).unwrap_or_default();
    let has_text = |span: ByteSpan| !span.of(bytes).trim_ascii().is_empty();
    if has_text(root) {
        let (id, title) = ("root".to_owned(), document.stored.path.clone());
        let own_end = root.end;
        units.push(Unit { id, title, level: 0, parent: None, node: 0, span: root, own_end });
    }
    let first = units.len();
    let mut ids: HashSet<String> = ["root", "truncated"].map(str::to_owned).into();
    for section in &outline.sections {
        let Some(node) = tree.node(section.node) else { continue };
        let anchor = section.anchor().filter(|anchor| {
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:/-".contains(&byte);
            // Two hyphens would end the comment; a marker must write them as entities.
            let is_valid = anchor.bytes().all(is_plain) && !anchor.contains("--");
            is_valid && !anchor.ends_with("_tldr") && !ids.contains(anchor)
        });
        // An anchor never contains a dot, so these ids are distinct from anchors.
        let id = anchor.unwrap_or_else(|| {
            let selector = tree.selector(section.node);
            selector.replace("heading:", "").replace('[', ".").replace(']', "")
        });
        ids.insert(id.clone());
        units.push(Unit {
            id,
            title: section.title.clone(),
            level: section.level,
            parent: tree.parent_section(section.node).map(|parent| first + parent),
            node: section.node,
            span: node.bytes,
            own_end: section.own_end,
        });
    }
    units
}

/// Returns the spans of the headings of sections, the fences and the HTML blocks.
fn whole(document: &OpenDocument, code: &[CodeItem]) -> Vec<ByteSpan> {
    let outline = document.tree.outline();
    let fences: HashSet<usize> =
        code.iter().filter(|item| item.block.info.is_some()).map(|item| item.block.node).collect();
    let span = |(index, node): (usize, &Node)| match node.kind {
        NodeKind::Section(section) => {
            Some(ByteSpan::new(node.bytes.start, outline.sections.get(section)?.heading_end))
        }
        NodeKind::Block(BlockType::Html) => Some(node.bytes),
        _ => fences.contains(&index).then_some(node.bytes),
    };
    outline.nodes.iter().enumerate().filter_map(span).collect()
}

/// Returns the offsets of the lines after the front matter that do not begin in one of the spans `whole`,
/// and whether a block begins there that is not in a list or quote.
fn cuts(document: &OpenDocument, bytes: &[u8], whole: &[ByteSpan]) -> Vec<(usize, bool)> {
    let nodes = &document.tree.outline().nodes;
    let body = nodes.first().map_or(0, |root| root.bytes.start);
    // The CR of a CRLF does not end a line by itself.
    let is_crlf = |at: &usize| bytes.get(*at..).is_some_and(|rest| rest.starts_with(b"\r\n"));
    let ends = memchr::memchr2_iter(b'\n', b'\r', bytes).filter(|at| !is_crlf(at));
    let lines = ends.map(|end| end + 1);
    let blocks = nodes.iter().filter(|node| {
        let parent = node.parent.and_then(|parent| nodes.get(parent)).map(|parent| parent.kind);
        !matches!(parent, Some(NodeKind::Item | NodeKind::Block(_)))
    });
    let mut whole = whole.iter().peekable();
    let mut cuts = Vec::new();
    for line in lines {
        while whole.next_if(|span| span.end <= line).is_some() {}
        if line >= body && whole.peek().is_none_or(|span| line <= span.start) {
            cuts.push((line, false));
        }
    }
    // A block may be indented.
    for block in blocks {
        let index = cuts.partition_point(|&(cut, _)| cut <= block.bytes.start);
        if let Some((_, is_block)) = index.checked_sub(1).and_then(|index| cuts.get_mut(index)) {
            *is_block = true;
        }
    }
    cuts
}

/// Returns the offset after the `<!--` of each marker in the document itself, except for references.
fn stars(document: &OpenDocument, bytes: &[u8]) -> Vec<usize> {
    let markup = &document.markup;
    let bounds = markup.sections.iter().flat_map(|section| {
        let (span, content) = (section.span, section.content);
        [ByteSpan::new(span.start, content.start), ByteSpan::new(content.end, span.end)]
    });
    let mut stars: Vec<usize> = bounds
        .chain(markup.strays.iter().copied())
        .filter_map(|line| {
            let line_bytes = bytes.get(line.start..line.end)?;
            if is_reference_line(line_bytes) {
                return None;
            }
            Some(line.start + memchr::memmem::find(line_bytes, b"<!--")? + "<!--".len())
        })
        .collect();
    stars.sort_unstable();
    stars
}

/// Returns the line that closes the fenced code block that the document leaves open at its end, if any.
fn open_fence(document: &OpenDocument, code: &[CodeItem], bytes: &[u8]) -> Option<String> {
    let nodes = &document.tree.outline().nodes;
    let is_top =
        |kind: Option<NodeKind>| !matches!(kind, Some(NodeKind::Item | NodeKind::Block(_)));
    let last = nodes.iter().enumerate().rfind(|(_, node)| {
        let parent = node.parent.and_then(|parent| nodes.get(parent));
        matches!(node.kind, NodeKind::Block(_)) && is_top(parent.map(|parent| parent.kind))
    });
    let (index, node) = last.filter(|(_, node)| node.kind == NodeKind::Block(BlockType::Code))?;
    let fence = code.iter().map(|item| &item.block).find(|block| block.node == index);
    fence.filter(|block| block.info.is_some()).and_then(|block| {
        let is_blank = bytes.get(block.code.end..node.bytes.end)?.trim_ascii().is_empty();
        let first = bytes.get(node.bytes.start..block.code.start)?;
        let mark = *first.iter().find(|byte| matches!(byte, b'`' | b'~'))?;
        let run = first.iter().skip_while(|&&byte| byte != mark);
        let length = run.take_while(|&&byte| byte == mark).count();
        is_blank.then(|| char::from(mark).to_string().repeat(length))
    })
}
