//! Blocks: the output of the parser's adapter, from which the outline is built.
//!
//! Invariant: a container precedes the blocks that it contains.

use crate::position::ByteSpan;

/// The type of a block (`CommonMark` chapters 4 and 5, and tables).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BlockType {
    /// A paragraph.
    Paragraph,
    /// A bullet or ordered list.
    List,
    /// A fenced or indented code block.
    Code,
    /// A table (GitHub Flavored Markdown).
    Table,
    /// A block quote.
    Blockquote,
    /// An HTML block.
    Html,
    /// A thematic break.
    Rule,
    /// A link reference definition.
    Definition,
    /// A heading in a container, which does not begin a section.
    Heading,
    /// A footnote definition with all its paragraphs.
    Footnote,
}

impl BlockType {
    /// All types, in the order in which they are listed. Stores keep the index, so new types are
    /// added at the end.
    pub const ALL: [Self; 10] = [
        Self::Paragraph,
        Self::List,
        Self::Code,
        Self::Table,
        Self::Blockquote,
        Self::Html,
        Self::Rule,
        Self::Definition,
        Self::Heading,
        Self::Footnote,
    ];

    /// Returns the name of the type in an address.
    pub fn name(self) -> &'static str {
        match self {
            Self::Paragraph => "paragraph",
            Self::List => "list",
            Self::Code => "code",
            Self::Table => "table",
            Self::Blockquote => "blockquote",
            Self::Html => "html",
            Self::Rule => "rule",
            Self::Definition => "definition",
            Self::Heading => "heading",
            Self::Footnote => "footnote",
        }
    }

    /// Returns the type with this name in an address.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|block_type| block_type.name() == name)
    }
}

/// The kind of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BlockKind {
    /// A heading, at the top level or in a container, with its rendered title, and its source text
    /// if that differs.
    Heading { level: u8, title: String, written: Option<String> },
    /// Any other block.
    Block(BlockType),
    /// An item of a list.
    Item,
}

/// A block in document order. Containers precede the blocks that they contain.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) kind: BlockKind,
    /// Index of the container in the same list.
    pub(super) parent: Option<usize>,
    pub(super) span: ByteSpan,
}
