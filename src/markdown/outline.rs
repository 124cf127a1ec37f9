//! The outline of a document: front matter, root, section tree and blocks, with their spans.
//!
//! Answers every question about structure without parsing Markdown again. Contains no text except
//! titles. Invariants (see `mdsel help addresses`): nodes are in document order, and a node
//! precedes its descendants; the root is node 0; a section contains its own blocks, then its child
//! sections, and ends where the next heading of the same or a higher level begins; the span of a
//! node is within the span of its container.

use std::borrow::Cow;

pub use super::block::BlockType;
use super::block::{Block, BlockKind};
use super::prose::without_destinations;
use super::slug::{Slugger, numbered, slug};
use super::words::{Measure, measure};
use crate::position::{ByteSpan, LineIndex, LineSpan};

/// The kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// The text before the first heading, without front matter; it may be empty.
    Root,
    /// A heading and everything up to the next heading of the same or a higher level. The number is
    /// its index in [`Outline::sections`].
    Section(usize),
    /// A block.
    Block(BlockType),
    /// An item of a list.
    Item,
}

/// A part of a document that has an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// The kind of the node.
    pub kind: NodeKind,
    /// Index of the node that contains it; `None` for the root and for top-level sections.
    pub parent: Option<usize>,
    /// Its span in the file, in bytes.
    pub bytes: ByteSpan,
    /// Its span in the file, in lines.
    pub lines: LineSpan,
}

/// The data of a section in addition to its node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Index of its node in [`Outline::nodes`].
    pub node: usize,
    /// Level of its heading, 1 to 6.
    pub level: u8,
    /// The heading as rendered plain text.
    pub title: String,
    /// The source text of the heading on one line, if it differs from the title.
    pub written: Option<String>,
    /// The slug of the title if the title is not ASCII. That of an ASCII title is computed when it is asked for.
    pub slug_beyond_ascii: Option<String>,
    /// The number that makes the slug unique in the document, for the anchor; 0 for none.
    pub anchor_number: usize,
    /// The number that makes the slug unique among its siblings, for the section path; 0 for none.
    pub path_number: usize,
    /// Offset of the first byte after its heading.
    pub heading_end: usize,
    /// Number of lines of its heading; a setext heading has several.
    pub heading_lines: usize,
    /// Offset of the end of its own text: the start of its first child section, or its own end.
    pub own_end: usize,
    /// Words and characters of its heading and own text, without child sections.
    pub own: Measure,
}

impl Section {
    /// Returns the texts that are its title: the rendered one, and if they differ, the source text and the title without
    /// attributes at its end.
    pub fn titles(&self) -> impl Iterator<Item = &str> {
        let shown = split_attributes(&self.title).map(|(text, _)| text);
        std::iter::once(self.title.as_str()).chain(self.written.as_deref()).chain(shown)
    }

    /// Returns the texts in which a part of its title is looked for: those of [`Self::titles`], without the destinations
    /// of links.
    pub fn searched_titles(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.titles().map(without_destinations)
    }

    /// Replaces the title by one with the same slug.
    pub(super) fn set_title(&mut self, title: String) {
        if self.slug_beyond_ascii.is_none() && !title.is_ascii() {
            self.slug_beyond_ascii = Some(self.slug().into_owned());
        }
        self.title = title;
    }

    /// Returns the slug of the title, without a number; empty if the title contains no letters or digits.
    pub fn slug(&self) -> Cow<'_, str> {
        match &self.slug_beyond_ascii {
            Some(slug) => Cow::Borrowed(slug),
            None => Cow::Owned(slug(&self.title)),
        }
    }

    /// Returns the slug with a number, or `None` if the slug is empty.
    fn numbered(&self, number: usize) -> Option<String> {
        Some(self.slug()).filter(|slug| !slug.is_empty()).map(|slug| numbered(slug, number))
    }

    /// Returns the anchor that GitHub gives the heading, or `None` if the slug is empty.
    pub fn anchor(&self) -> Option<String> {
        self.numbered(self.anchor_number)
    }

    /// Returns the id in the attributes at the end of the title, as in Pandoc, kramdown, mdBook, Docusaurus and Python
    /// Markdown: `x` of `Title {#x}`, of `Title {#x .class}`, of `Title {: #x }` and of `Title {/* #x */}`.
    pub fn id_in_title(&self) -> Option<&str> {
        let (_, mut attributes) = split_attributes(&self.title)?;
        attributes.find_map(|word| word.strip_prefix('#').filter(|id| !id.is_empty()))
    }

    /// Returns the title without attributes at its end, as a renderer that understands them shows it.
    pub fn title_shown(&self) -> &str {
        split_attributes(&self.title).map_or(&self.title, |(text, _)| text)
    }

    /// Returns the anchor for a new link: the id in its title, or else [`Self::anchor`].
    pub fn link_anchor(&self) -> Option<String> {
        self.id_in_title().map(str::to_owned).or_else(|| self.anchor())
    }

    /// Returns its part of a section path, unique among its siblings, or `None` if the slug is
    /// empty.
    pub fn path_part(&self) -> Option<String> {
        self.numbered(self.path_number)
    }
}

/// Splits the text of a heading before the attributes at its end, and returns the words of these: `{#id .class}`,
/// `{: #id }`, or `{/* #id */}`. Returns `None` if it has none.
pub(crate) fn split_attributes(text: &str) -> Option<(&str, impl Iterator<Item = &str>)> {
    let (before, inside) = text.trim_end().strip_suffix('}')?.rsplit_once('{')?;
    let comment = inside.strip_prefix("/*").and_then(|inside| inside.strip_suffix("*/"));
    let inside = comment.or_else(|| inside.strip_prefix(':')).unwrap_or(inside);
    let words = || inside.split_whitespace();
    let is_attribute = |word: &str| word.starts_with(['#', '.']) || word.contains('=');
    let are_all = words().next().is_some_and(|word| word.starts_with(['#', '.']))
        && words().all(is_attribute)
        && !inside.contains('}');
    are_all.then(|| (before.trim_end(), words()))
}

/// The anchor of a heading in a list or block quote, which does not begin a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainedAnchor {
    /// Index of the heading's node.
    pub node: usize,
    /// The anchor that GitHub gives it.
    pub anchor: String,
}

/// The structure of one document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// The span of the front matter, delimiters included.
    pub front_matter: Option<ByteSpan>,
    /// All nodes in document order, starting with the root.
    pub nodes: Vec<Node>,
    /// The sections in document order.
    pub sections: Vec<Section>,
    /// Anchors of headings in containers, in document order.
    pub contained_anchors: Vec<ContainedAnchor>,
    /// Words and characters of the root.
    pub root: Measure,
    /// Words and characters of the whole file.
    pub document: Measure,
    /// Size of the whole file in bytes.
    pub bytes: usize,
    /// Number of lines of the whole file.
    pub lines: usize,
}

impl Outline {
    /// Builds the outline of `file`, whose body begins at `body` and consists of `blocks`.
    pub(super) fn build(
        file: &[u8],
        front_matter: Option<ByteSpan>,
        body: usize,
        blocks: Vec<Block>,
        lines: &LineIndex,
    ) -> Self {
        let first_heading = blocks
            .iter()
            .find(|block| block.parent.is_none() && matches!(block.kind, BlockKind::Heading { .. }))
            .map_or(file.len(), |block| block.span.start);
        let root_span = ByteSpan::new(body, first_heading);
        let mut builder = Builder {
            file,
            lines,
            anchors: Slugger::default(),
            slugs: Vec::new(),
            open: Vec::new(),
            outline: Self {
                front_matter,
                nodes: Vec::with_capacity(blocks.len() + 1),
                sections: Vec::new(),
                contained_anchors: Vec::new(),
                root: measure(root_span.of(file)),
                document: measure(file.get(..body).unwrap_or_default()),
                bytes: file.len(),
                lines: lines.count(),
            },
        };
        builder.push(NodeKind::Root, None, root_span);
        // Maps indexes of `blocks` to indexes of `nodes`.
        let mut node_of = Vec::with_capacity(blocks.len());
        for block in blocks {
            node_of.push(builder.outline.nodes.len());
            builder.add(block, &node_of);
        }
        builder.close_sections(0, file.len());
        // Counts are additive over whole lines.
        let root = builder.outline.root;
        builder.outline.document += root;
        for section in &builder.outline.sections {
            builder.outline.document += section.own;
        }
        builder.outline.number_paths(&builder.slugs);
        builder.outline
    }

    /// Numbers equal slugs of siblings. `slugs` are those of all sections.
    fn number_paths(&mut self, slugs: &[String]) {
        let mut siblings: std::collections::HashMap<Option<usize>, Slugger> =
            std::collections::HashMap::new();
        for (section, slug) in self.sections.iter_mut().zip(slugs) {
            if slug.is_empty() {
                continue;
            }
            let parent = self.nodes.get(section.node).and_then(|node| node.parent);
            section.path_number = siblings.entry(parent).or_default().number(slug);
        }
    }

    /// Returns the span of a section's heading and own text, up to its first child section.
    pub fn own_text(&self, section: &Section) -> ByteSpan {
        let start = self.nodes.get(section.node).map_or(section.own_end, |node| node.bytes.start);
        ByteSpan::new(start, section.own_end)
    }

    /// Returns the span of the text of a list item before its nested lists. Returns `None` if it has text after one of
    /// them, or if one begins within a line. The span of another node is the whole node.
    pub fn text_before_lists(&self, index: usize) -> Option<ByteSpan> {
        let node = self.nodes.get(index)?;
        if node.kind != NodeKind::Item {
            return Some(node.bytes);
        }
        let is_list = |child: &&Node| child.kind == NodeKind::Block(BlockType::List);
        let below = self.nodes.iter().skip(index + 1);
        let below = below.take_while(|below| below.bytes.start < node.bytes.end);
        let children: Vec<&Node> = below.filter(|below| below.parent == Some(index)).collect();
        let Some(first) = children.iter().position(&is_list) else {
            return Some(node.bytes);
        };
        let (text, lists) = children.split_at(first);
        let list = lists.first()?;
        let ancestors = std::iter::successors(Some(node), |node| self.nodes.get(node.parent?));
        let is_quoted = |node: &Node| node.kind == NodeKind::Block(BlockType::Blockquote);
        let is_apart = lists.iter().all(is_list)
            && list.lines.start > node.lines.start
            && !ancestors.into_iter().any(is_quoted);
        let end = text.last().map_or(list.bytes.start, |last| last.bytes.end);
        is_apart.then(|| ByteSpan::new(node.bytes.start, end))
    }

    /// Returns the offset of the front matter or body: the length of a byte order mark, or 0.
    pub fn start(&self) -> usize {
        self.front_matter.map_or_else(
            || self.nodes.first().map_or(0, |root| root.bytes.start),
            |front_matter| front_matter.start,
        )
    }
}

struct Builder<'a> {
    file: &'a [u8],
    lines: &'a LineIndex,
    anchors: Slugger,
    /// The slugs of all sections, without numbers.
    slugs: Vec<String>,
    /// Indexes of the open sections, outermost first.
    open: Vec<usize>,
    outline: Outline,
}

impl Builder<'_> {
    fn push(&mut self, kind: NodeKind, parent: Option<usize>, bytes: ByteSpan) {
        let lines = self.lines.lines(bytes);
        self.outline.nodes.push(Node { kind, parent, bytes, lines });
    }

    /// Returns the node of the innermost open section.
    fn innermost(&self) -> Option<usize> {
        self.open.last().and_then(|&section| self.outline.sections.get(section)).map(|s| s.node)
    }

    fn add(&mut self, block: Block, node_of: &[usize]) {
        let container = block.parent.and_then(|parent| node_of.get(parent).copied());
        match block.kind {
            BlockKind::Heading { level, title, written } if container.is_none() => {
                self.add_section(level, title, written, block.span);
            }
            BlockKind::Heading { title, .. } => {
                let slug = slug(&title);
                if !slug.is_empty() {
                    let number = self.anchors.number(&slug);
                    let anchor = numbered(slug, number);
                    let node = self.outline.nodes.len();
                    self.outline.contained_anchors.push(ContainedAnchor { node, anchor });
                }
                self.push(NodeKind::Block(BlockType::Heading), container, block.span);
            }
            BlockKind::Block(block_type) => {
                let parent = container.or_else(|| self.innermost()).or(Some(0));
                self.push(NodeKind::Block(block_type), parent, block.span);
            }
            BlockKind::Item => self.push(NodeKind::Item, container, block.span),
        }
    }

    fn add_section(
        &mut self,
        level: u8,
        title: String,
        written: Option<String>,
        heading: ByteSpan,
    ) {
        self.close_sections(level, heading.start);
        let parent = self.innermost();
        if let Some(parent) = self.open.last().copied() {
            self.end_own_text(parent, heading.start);
        }
        let slug = slug(&title);
        let anchor_number = if slug.is_empty() { 0 } else { self.anchors.number(&slug) };
        let slug_beyond_ascii = (!title.is_ascii()).then(|| slug.clone());
        self.slugs.push(slug);
        self.open.push(self.outline.sections.len());
        let kind = NodeKind::Section(self.outline.sections.len());
        self.outline.sections.push(Section {
            node: self.outline.nodes.len(),
            level,
            title,
            written,
            slug_beyond_ascii,
            anchor_number,
            path_number: 0,
            heading_end: heading.end,
            heading_lines: {
                let lines = self.lines.lines(heading);
                lines.end + 1 - lines.start
            },
            own_end: 0,
            own: Measure::default(),
        });
        self.push(kind, parent, heading);
    }

    /// Closes the open sections of `level` or deeper at `end`. Level 0 closes all.
    fn close_sections(&mut self, level: u8, end: usize) {
        while let Some(&index) = self.open.last() {
            let Some(section) = self.outline.sections.get(index) else { break };
            if section.level < level {
                break;
            }
            let node = section.node;
            self.end_own_text(index, end);
            if let Some(node) = self.outline.nodes.get_mut(node) {
                node.bytes.end = end;
                node.lines = self.lines.lines(node.bytes);
            }
            self.open.pop();
        }
    }

    /// Ends the own text of a section at `end`, unless a child section has already ended it.
    fn end_own_text(&mut self, section: usize, end: usize) {
        let Some(section) = self.outline.sections.get_mut(section) else { return };
        if section.own_end > 0 {
            return;
        }
        let start = self.outline.nodes.get(section.node).map_or(end, |node| node.bytes.start);
        section.own_end = end;
        section.own = measure(self.file.get(start..end).unwrap_or_default());
    }
}
