//! The outline of a document: front matter, root, section tree and blocks, with their spans.
//!
//! Everything that a question about structure needs, and no text but titles, so that an answer never
//! parses Markdown. Invariant (contract, section 3): nodes stand in document order, a node before what
//! it holds; the root is node 0; a section holds its own blocks, then its child sections, and ends
//! where the next heading of the same or a higher level begins; spans never leave the container's.

pub use super::block::BlockType;
use super::block::{Block, BlockKind};
use super::slug::{Slugger, numbered, slug};
use super::words::{Measure, measure};
use crate::position::{ByteSpan, LineIndex, LineSpan};

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// All before the first heading, front matter left out; maybe empty.
    Root,
    /// A heading with all that follows up to the next heading of the same or a higher level; the
    /// number is its index in [`Outline::sections`].
    Section(usize),
    /// A block.
    Block(BlockType),
    /// An item of a list.
    Item,
}

/// A place in a document that has an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// What it is.
    pub kind: NodeKind,
    /// Index of the node that holds it; `None` for the root and for top-level sections.
    pub parent: Option<usize>,
    /// Its bytes in the file.
    pub bytes: ByteSpan,
    /// Its lines in the file.
    pub lines: LineSpan,
}

/// What a section has besides its node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Index of its node.
    pub node: usize,
    /// Level of its heading, 1 to 6.
    pub level: u8,
    /// The heading as rendered plain text.
    pub title: String,
    /// The heading as it is written, on one line, if that differs from the title.
    pub written: Option<String>,
    /// The slug of the title, not numbered; empty where the title has nothing to make one of.
    pub slug: String,
    /// The number that makes the slug unique in the document (0 = none): its anchor.
    pub anchor_number: usize,
    /// The number that makes the slug unique among its siblings (0 = none): its part of a path.
    pub path_number: usize,
    /// Offset behind its heading.
    pub heading_end: usize,
    /// Lines of its heading, of which a setext heading has several.
    pub heading_lines: usize,
    /// Offset behind its own text: where its first child section begins, or its end.
    pub own_end: usize,
    /// Words and characters of its own text, heading included, child sections not.
    pub own: Measure,
}

impl Section {
    /// The title as it is rendered, and as it is written if that differs.
    pub fn titles(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.title.as_str()).chain(self.written.as_deref())
    }

    /// Its GitHub anchor, unique in the document; `None` for an empty slug.
    pub fn anchor(&self) -> Option<String> {
        (!self.slug.is_empty()).then(|| numbered(&self.slug, self.anchor_number))
    }

    /// Its part of a section path, unique among its siblings; `None` for an empty slug.
    pub fn path_part(&self) -> Option<String> {
        (!self.slug.is_empty()).then(|| numbered(&self.slug, self.path_number))
    }
}

/// The anchor of a heading that stands in a list or block quote and so makes no section.
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
    /// Front matter, delimiters included.
    pub front_matter: Option<ByteSpan>,
    /// All nodes in document order; the root is the first.
    pub nodes: Vec<Node>,
    /// The sections in document order.
    pub sections: Vec<Section>,
    /// Anchors of headings in containers, in document order.
    pub contained_anchors: Vec<ContainedAnchor>,
    /// Words and characters of the root.
    pub root: Measure,
    /// Words and characters of the whole file.
    pub document: Measure,
    /// Bytes of the whole file.
    pub bytes: usize,
    /// Lines of the whole file.
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
            open: Vec::new(),
            outline: Self {
                front_matter,
                nodes: Vec::with_capacity(blocks.len() + 1),
                sections: Vec::new(),
                contained_anchors: Vec::new(),
                root: measure(file.get(root_span.start..root_span.end).unwrap_or_default()),
                document: measure_before(file, body),
                bytes: file.len(),
                lines: lines.count(),
            },
        };
        builder.push(NodeKind::Root, None, root_span);
        // Index in `blocks` -> index in `nodes`.
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
        builder.outline.number_paths();
        builder.outline
    }

    /// Numbers the slugs that are equal among siblings.
    fn number_paths(&mut self) {
        let mut siblings: std::collections::HashMap<Option<usize>, Slugger> =
            std::collections::HashMap::new();
        for section in &mut self.sections {
            if section.slug.is_empty() {
                continue;
            }
            let parent = self.nodes.get(section.node).and_then(|node| node.parent);
            section.path_number = siblings.entry(parent).or_default().number(&section.slug);
        }
    }

    /// A section's own text: its heading and what follows up to its first child section.
    pub fn own_text(&self, section: &Section) -> ByteSpan {
        let start = self.nodes.get(section.node).map_or(section.own_end, |node| node.bytes.start);
        ByteSpan::new(start, section.own_end)
    }

    /// Bytes of the file before front matter and body: a byte order mark, or none.
    pub fn start(&self) -> usize {
        self.front_matter.map_or_else(
            || self.nodes.first().map_or(0, |root| root.bytes.start),
            |front_matter| front_matter.start,
        )
    }
}

/// What the bytes before `body` add to the counts of the file. A byte order mark is part of the
/// run that follows it.
fn measure_before(file: &[u8], body: usize) -> Measure {
    let mut result = measure(file.get(..body).unwrap_or_default());
    let mut joined = file.chunks(body + 4).next().map(measure).unwrap_or_default();
    let following =
        measure(file.get(body..).unwrap_or_default().chunks(4).next().unwrap_or_default());
    joined.words -= following.words;
    result.words = joined.words;
    result
}

struct Builder<'a> {
    file: &'a [u8],
    lines: &'a LineIndex,
    anchors: Slugger,
    /// Indices of the sections that are open, outermost first.
    open: Vec<usize>,
    outline: Outline,
}

impl Builder<'_> {
    fn push(&mut self, kind: NodeKind, parent: Option<usize>, bytes: ByteSpan) {
        let lines = self.lines.lines(bytes);
        self.outline.nodes.push(Node { kind, parent, bytes, lines });
    }

    /// The node of the innermost open section.
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
                    let anchor = numbered(&slug, self.anchors.number(&slug));
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
        self.open.push(self.outline.sections.len());
        let kind = NodeKind::Section(self.outline.sections.len());
        self.outline.sections.push(Section {
            node: self.outline.nodes.len(),
            level,
            title,
            written,
            slug,
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

    /// Closes the open sections of `level` or deeper (0 = all) at `end`.
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

    /// Ends the own text of a section at `end`, unless a child section has ended it already.
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
