//! A parsed version of a file, and the parts of it that an edit elsewhere must not change.
//!
//! Invariant: landmarks are in document order, so that two versions can be compared in one pass.

use super::text::{lines, trimmed};
use crate::ldmd::{self, Markup};
use crate::markdown::links::LinkKind;
use crate::markdown::outline::{BlockType, Node, NodeKind, Outline, Section};
use crate::markdown::{self, Dialect, Document};
use crate::position::{ByteSpan, trim_line_end};

/// The bytes of a file with their parsed document and LDMD markup.
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

    /// Parses the bytes of a file in `dialect`.
    pub fn read_as(bytes: Vec<u8>, dialect: Dialect) -> Self {
        let document = markdown::parse_as(&bytes, dialect);
        let markup = ldmd::parse(&bytes, &document.opaque);
        Self { bytes, document, markup }
    }

    /// The bytes of the file, including a byte order mark.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The parsed document.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// The outline of the document.
    pub fn outline(&self) -> &Outline {
        &self.document.outline
    }

    /// The LDMD sections and their problems.
    pub fn markup(&self) -> &Markup {
        &self.markup
    }

    /// The links of the text, each with its offset; those to other sites come last.
    pub(in crate::edit) fn all_links(&self) -> impl Iterator<Item = (usize, LinkKind, &str)> {
        self.links_in(ByteSpan::new(0, usize::MAX))
    }

    /// The links that begin in `span`, each with its offset; those to other sites come last.
    pub(super) fn links_in(&self, span: ByteSpan) -> impl Iterator<Item = (usize, LinkKind, &str)> {
        let links = &self.document.links;
        let first = links.list.partition_point(|link| link.offset < span.start);
        let local = links.list.iter().skip(first).take_while(move |link| link.offset < span.end);
        let first = links.external.partition_point(|link| link.offset < span.start);
        let external = links.external.iter().skip(first);
        let external = external.take_while(move |link| link.offset < span.end);
        let local = local.map(|link| (link.offset, link.kind, link.target.as_str()));
        local.chain(external.map(|link| (link.offset, link.kind, link.target.as_str())))
    }

    /// The offsets of the links that begin before the byte at `offset` and end after it.
    pub(super) fn links_across(&self, offset: usize) -> Vec<usize> {
        let links = &self.document.links;
        let local = links.list.iter().map(|link| (link.offset, link.end));
        let external = links.external.iter().map(|link| (link.offset, link.end));
        let across = local.chain(external).filter(|&(start, end)| start < offset && offset < end);
        across.map(|(start, _)| start).collect()
    }

    /// Returns bytes, document and markup.
    pub fn into_parts(self) -> (Vec<u8>, Document, Markup) {
        (self.bytes, self.document, self.markup)
    }
}

/// What must stay of a node: the type of a block, and the level of a heading (0 for other nodes).
pub(super) type What = (Option<BlockType>, u8);

/// The list of an item, and what the list determines of all its items.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    pub(super) span: ByteSpan,
    /// The number of its first item; `None` for bullets.
    pub(super) number: Option<u32>,
    /// Whether blank lines separate its items or their blocks, so that each text is a paragraph of its own.
    pub(super) is_loose: bool,
}

/// A heading, block or item that must stay.
#[derive(Debug)]
pub(super) struct Landmark {
    /// Index of its node.
    pub(super) node: usize,
    pub(super) what: What,
    /// The number of lists, items and block quotes that contain it.
    pub(super) depth: usize,
    pub(super) start: usize,
    /// Offset at which its text ends, for a section the text of its heading; `None` for containers.
    pub(super) end: Option<usize>,
    /// Offset at which the section that contains it begins; `None` if no section contains it.
    pub(super) owner: Option<usize>,
    /// The list of an item.
    pub(super) list: Option<List>,
    /// Offset at which the innermost item or block quote that contains it begins.
    pub(super) container: Option<usize>,
}

impl Landmark {
    /// Whether it is a section heading.
    pub(super) fn is_section(&self) -> bool {
        self.what.1 > 0
    }
}

/// Whether `offset` is the offset of a byte of `span`.
pub(super) fn is_in(span: ByteSpan, offset: usize) -> bool {
    span.start <= offset && offset < span.end
}

impl Version {
    /// Offset at which the text begins, after a byte order mark.
    pub(in crate::edit) fn floor(&self) -> usize {
        markdown::text_start(&self.bytes)
    }

    /// Offset at which the text of `span` ends, without blank lines at its end.
    pub(super) fn text_end(&self, span: ByteSpan) -> usize {
        trimmed(&self.bytes, span).end
    }

    /// Offset at which the text of the front matter ends, if any.
    pub(super) fn front_matter_end(&self) -> Option<usize> {
        self.outline().front_matter.map(|span| self.text_end(span))
    }

    /// The line, 1-based, on which a node begins; 1 if there is no such node.
    pub(super) fn line(&self, node: usize) -> usize {
        self.outline().nodes.get(node).map_or(1, |node| node.lines.start)
    }

    /// The sections whose headings begin in `span`.
    pub(in crate::edit) fn sections_in(&self, span: ByteSpan) -> impl Iterator<Item = &Section> {
        let start = |section: &Section| Some(self.outline().nodes.get(section.node)?.bytes.start);
        let is_inside = move |section: &&Section| start(section).is_some_and(|at| is_in(span, at));
        self.outline().sections.iter().filter(is_inside)
    }

    /// The slug path of the section `node`; `@LINE` if a part of the path has no slug.
    pub(in crate::edit) fn path(&self, node: usize) -> String {
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

    /// The offsets of the BEGIN markers of all LDMD sections, then of their END markers.
    pub(super) fn markers(&self) -> impl Iterator<Item = usize> {
        let sections = || self.markup.sections.iter();
        let begins = sections().map(move |section| section.span.start.max(self.floor()));
        begins.chain(sections().map(|section| section.content.end))
    }

    /// The headings, blocks and items. Lists are not included, because an edit may extend them; each item has its list.
    pub(super) fn landmarks(&self) -> Vec<Landmark> {
        let mut landmarks = Vec::with_capacity(self.outline().nodes.len());
        let lists = self.lists();
        // For each node: the depth of its children, and the starts of the section and of the container around them.
        let mut inside: Vec<(usize, Option<usize>, Option<usize>)> =
            Vec::with_capacity(self.outline().nodes.len());
        for (index, node) in self.outline().nodes.iter().enumerate() {
            let above = node.parent.and_then(|parent| inside.get(parent)).copied();
            let (depth, owner, container) = above.unwrap_or_default();
            inside.push(match node.kind {
                NodeKind::Root => (0, None, None),
                NodeKind::Section(_) => (0, Some(node.bytes.start), None),
                NodeKind::Block(BlockType::List) => (depth + 1, owner, container),
                NodeKind::Block(_) | NodeKind::Item => (depth + 1, owner, Some(node.bytes.start)),
            });
            let Some((what, text)) = self.what(node) else { continue };
            let end = text.map(|span| self.text_end(span));
            let start = node.bytes.start;
            let list = node.parent.filter(|_| node.kind == NodeKind::Item);
            let list = list.and_then(|list| lists[list]);
            landmarks.push(Landmark {
                node: index,
                what,
                depth,
                start,
                end,
                owner,
                list,
                container,
            });
        }
        landmarks
    }

    /// Whether blank lines separate the items, or their blocks, of the innermost list around `node`.
    pub(super) fn is_in_loose_list(&self, node: &Node) -> bool {
        let nodes = &self.outline().nodes;
        let parent = |node: &Node| node.parent.filter(|parent| *parent < nodes.len());
        let mut above = std::iter::successors(parent(node), |at| parent(nodes.get(*at)?));
        let lists = self.lists();
        above.find_map(|at| lists[at]).is_some_and(|list| list.is_loose)
    }

    /// The list at each node, if it is one.
    fn lists(&self) -> Vec<Option<List>> {
        let nodes = &self.outline().nodes;
        let mut lists: Vec<Option<List>> = vec![None; nodes.len()];
        // Where the last child of each list and item ends.
        let mut ends = vec![None; nodes.len()];
        for (index, node) in nodes.iter().enumerate() {
            if node.kind == NodeKind::Block(BlockType::List) {
                let text = node.bytes.of(&self.bytes);
                // Blanks and the markers of block quotes may stand before the number.
                let before = text.iter().take_while(|byte| b" \t>".contains(byte)).count();
                let text = text.get(before..).unwrap_or_default();
                let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
                let number = text.get(..digits).and_then(|text| std::str::from_utf8(text).ok());
                let number = number.and_then(|number| number.parse().ok());
                lists[index] = Some(List { span: node.bytes, number, is_loose: false });
            }
            let Some((above, parent)) = node.parent.and_then(|at| Some((at, nodes.get(at)?)))
            else {
                continue;
            };
            let list = if parent.kind == NodeKind::Item { parent.parent } else { Some(above) };
            let Some(list) = list.and_then(|list| lists[list].as_mut()) else { continue };
            if let Some(end) = ends[above].replace(self.text_end(node.bytes)) {
                let between = ByteSpan::new(end, node.bytes.start).of(&self.bytes);
                let line_ends =
                    lines(between).filter(|line| trim_line_end(line).len() < line.len());
                list.is_loose |= line_ends.count() > 1;
            }
        }
        lists
    }

    /// What must stay of a node, and the span of its text, for a section the span of its heading. `None` for the
    /// root and for lists; other containers have no text span.
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
