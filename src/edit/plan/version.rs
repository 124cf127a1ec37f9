//! A file with what was read of it, and what of that has to stay when the file is edited.
//!
//! Invariant: landmarks and markers are in document order, so that two versions can be compared
//! side by side.

use super::text::trimmed;
use crate::ldmd::{self, Markup};
use crate::markdown::outline::{BlockType, Node, NodeKind, Outline, Section};
use crate::markdown::{self, BYTE_ORDER_MARK, Dialect, Document};
use crate::position::ByteSpan;

/// The bytes of a file with what was read of them.
#[derive(Clone, Debug)]
pub struct Version {
    bytes: Vec<u8>,
    document: Document,
    markup: Markup,
}

impl Version {
    /// Parses the bytes of a Markdown file.
    pub fn read(bytes: Vec<u8>) -> Self {
        Self::read_as(bytes, Dialect::Markdown)
    }

    /// Parses the bytes of a file that is written in `dialect`.
    pub fn read_as(bytes: Vec<u8>, dialect: Dialect) -> Self {
        let document = markdown::parse_as(&bytes, dialect);
        let markup = ldmd::parse(&bytes, &document.opaque);
        Self { bytes, document, markup }
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What was read of them.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// The structure.
    pub fn outline(&self) -> &Outline {
        &self.document.outline
    }

    /// The LDMD sections.
    pub fn markup(&self) -> &Markup {
        &self.markup
    }

    /// All of it.
    pub fn into_parts(self) -> (Vec<u8>, Document, Markup) {
        (self.bytes, self.document, self.markup)
    }
}

/// What a node is, as far as it must stay: the type of a block, the level of a heading (else 0).
pub(super) type What = (Option<BlockType>, u8);

/// A heading, block or item that has to stay.
#[derive(Debug)]
pub(super) struct Landmark {
    /// Index of its node.
    pub(super) node: usize,
    pub(super) what: What,
    /// How many lists, items and block quotes hold it.
    pub(super) depth: usize,
    pub(super) start: usize,
    /// Where the text of its lines ends, of a section its heading's; `None` for containers.
    pub(super) end: Option<usize>,
    /// Where the section begins that it belongs to or stands below; `None` in the root and on top.
    pub(super) owner: Option<usize>,
}

impl Landmark {
    /// Whether it is the heading of a section.
    pub(super) fn is_section(&self) -> bool {
        self.what.1 > 0
    }
}

/// Whether `offset` is that of a byte of `span`.
pub(super) fn is_in(span: ByteSpan, offset: usize) -> bool {
    span.start <= offset && offset < span.end
}

impl Version {
    /// Where the text begins: behind a byte order mark.
    pub(super) fn floor(&self) -> usize {
        if self.bytes.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 }
    }

    /// Where the text of `span` ends, blank lines at its end left out.
    pub(super) fn text_end(&self, span: ByteSpan) -> usize {
        trimmed(&self.bytes, span).end
    }

    /// Where the text of the front matter ends, if there is any.
    pub(super) fn front_matter_end(&self) -> Option<usize> {
        self.outline().front_matter.map(|span| self.text_end(span))
    }

    /// The line, 1-based, on which a node begins.
    pub(super) fn line(&self, node: usize) -> usize {
        self.outline().nodes.get(node).map_or(1, |node| node.lines.start)
    }

    /// The sections whose headings begin in `span`.
    pub(super) fn sections_in(&self, span: ByteSpan) -> impl Iterator<Item = &Section> {
        let start = |section: &Section| Some(self.outline().nodes.get(section.node)?.bytes.start);
        let is_inside = move |section: &&Section| start(section).is_some_and(|at| is_in(span, at));
        self.outline().sections.iter().filter(is_inside)
    }

    /// The slug path of the section that `node` is; `@LINE` where a part of it has no slug.
    pub(super) fn path(&self, node: usize) -> String {
        let nodes = &self.outline().nodes;
        let above = std::iter::successors(nodes.get(node), |node| nodes.get(node.parent?));
        let part = |node: &Node| match node.kind {
            NodeKind::Section(section) => self.outline().sections.get(section)?.path_part(),
            _ => None,
        };
        match above.map(part).collect::<Option<Vec<String>>>() {
            Some(parts) => parts.into_iter().rev().collect::<Vec<_>>().join("/"),
            None => format!("@{}", self.line(node)),
        }
    }

    /// Where the markers stand that begin LDMD sections, and those that end them.
    pub(super) fn markers(&self) -> impl Iterator<Item = usize> {
        let sections = || self.markup.sections.iter();
        let begins = sections().map(move |section| section.span.start.max(self.floor()));
        begins.chain(sections().map(|section| section.content.end))
    }

    /// Everything else that has to stay: headings, blocks and items, but not lists, which may grow
    /// and join.
    pub(super) fn landmarks(&self) -> Vec<Landmark> {
        let mut landmarks = Vec::with_capacity(self.outline().nodes.len());
        // For each node, how deep what it holds is, and where the section begins that holds that.
        let mut inside: Vec<(usize, Option<usize>)> =
            Vec::with_capacity(self.outline().nodes.len());
        for (index, node) in self.outline().nodes.iter().enumerate() {
            let above = node.parent.and_then(|parent| inside.get(parent)).copied();
            let (depth, owner) = above.unwrap_or_default();
            inside.push(match node.kind {
                NodeKind::Root => (0, None),
                NodeKind::Section(_) => (0, Some(node.bytes.start)),
                NodeKind::Block(_) | NodeKind::Item => (depth + 1, owner),
            });
            let Some((what, text)) = self.what(node) else { continue };
            let end = text.map(|span| self.text_end(span));
            let start = node.bytes.start;
            landmarks.push(Landmark { node: index, what, depth, start, end, owner });
        }
        landmarks
    }

    /// What a node is, and its lines, of a section its heading's; nothing for root and lists, and no
    /// lines for other containers.
    fn what(&self, node: &Node) -> Option<(What, Option<ByteSpan>)> {
        match node.kind {
            NodeKind::Root | NodeKind::Block(BlockType::List) => None,
            NodeKind::Section(section) => {
                let section = self.outline().sections.get(section)?;
                let heading = ByteSpan::new(node.bytes.start, section.heading_end);
                Some(((None, section.level), Some(heading)))
            }
            NodeKind::Block(BlockType::Blockquote) => {
                Some(((Some(BlockType::Blockquote), 0), None))
            }
            NodeKind::Block(block_type) => Some(((Some(block_type), 0), Some(node.bytes))),
            NodeKind::Item => Some(((None, 0), None)),
        }
    }
}
