//! Nodes that an address can name, and their byte spans.
//!
//! Invariant: the primary address of a place resolves to the same place.

use std::rc::Rc;

use schemars::JsonSchema;
use serde::Serialize;

use super::open_document::OpenDocument;
use crate::address::{
    Candidate, CellStep, CellSteps, FRONT_MATTER_PLACE, Params, RowStep, SectionPart,
};
use crate::ldmd;
use crate::markdown::outline::{BlockType, NodeKind};
use crate::position::ByteSpan;

/// The part of a document that a place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// The whole document.
    Document,
    /// The front matter.
    FrontMatter,
    /// A node of the outline, by index.
    Node(usize),
    /// An LDMD section, by index.
    Ldmd(usize),
    /// A row of a table, or a cell of it.
    Cells(Cells),
}

/// A row of a table, or a cell of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cells {
    /// The node of the table.
    pub node: usize,
    /// The index of the row: 0 for the header, 1 for the first row of the body.
    pub row: usize,
    /// The index of the cell, 0-based; `None` for the whole row.
    pub cell: Option<usize>,
    /// The bytes of the row without its line end, or of the text of the cell.
    pub span: ByteSpan,
}

impl Cells {
    /// Returns the steps from the table.
    fn steps(self) -> CellSteps {
        let row = match self.row.checked_sub(1) {
            None => RowStep::Header,
            Some(index) => RowStep::Range(index, index),
        };
        CellSteps { row, cell: self.cell.map(|cell| CellStep::Range(cell, cell)) }
    }
}

/// A part of a document that an address names.
#[derive(Clone, Debug)]
pub struct ResolvedNode {
    /// The document.
    pub document: Rc<OpenDocument>,
    /// The part of the document.
    pub target: Target,
    /// The parameters, which select a part of the target.
    pub params: Params,
    /// How the place differs from the one that the address names.
    pub resolved: Option<ResolvedAs>,
}

/// The identity of a place: document, target and parameters.
pub(crate) type PlaceKey = (i64, Target, Params);

/// How a place differs from the one that an address names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ResolvedAs {
    /// It contains the named line or anchor.
    Containing,
    /// It is the named lines of the target.
    Lines,
}

impl ResolvedNode {
    /// Returns what no other place has.
    pub(crate) fn key(&self) -> PlaceKey {
        (self.document.stored.id, self.target, self.params)
    }

    pub(crate) fn new(document: Rc<OpenDocument>, target: Target, params: Params) -> Self {
        Self { document, target, params, resolved: None }
    }

    /// Returns the place for a whole document.
    pub(super) fn whole(document: Rc<OpenDocument>) -> Self {
        Self::new(document, Target::Document, Params::default())
    }

    /// Returns the primary address.
    pub fn address(&self) -> String {
        match self.target {
            Target::Document => self.document.address("*"),
            Target::FrontMatter => self.document.address(FRONT_MATTER_PLACE),
            Target::Node(node) => self.document.address_of(node),
            Target::Ldmd(section) => self.document.address_of_ldmd(section),
            Target::Cells(cells) => {
                format!("{}/{}", self.document.address_of(cells.node), cells.steps())
            }
        }
    }

    /// Returns the place as a candidate of an ambiguous address.
    pub fn candidate(&self) -> Candidate {
        let document = &self.document;
        let tree = &document.tree;
        let node = match self.target {
            Target::Node(node) => Some(node),
            Target::Ldmd(_) => tree.section_at(self.span().start),
            Target::Cells(cells) => Some(cells.node),
            Target::Document | Target::FrontMatter => None,
        };
        let section = node.and_then(|node| tree.sections_above(node).last().map(|last| last.node));
        let title = self.title().or_else(|| {
            let section = match self.target {
                Target::Document => {
                    let sections = &tree.outline().sections;
                    let first = sections.iter().find(|section| section.level == 1);
                    first.or_else(|| sections.first())?
                }
                _ => tree.section(section?)?,
            };
            Some(section.title.clone()).filter(|title| !title.is_empty())
        });
        Candidate {
            selector: self.address(),
            file: document.stored.path.clone(),
            path: section.and_then(|section| tree.section_path(section)),
            title,
            line: self.first_line(),
        }
    }

    /// Returns the line on which the target begins, 1-based.
    pub(super) fn first_line(&self) -> usize {
        let line_of = |node| self.document.tree.node(node).map_or(1, |node| node.lines.start);
        match self.target {
            Target::Document | Target::FrontMatter => 1,
            Target::Node(node) => line_of(node),
            Target::Ldmd(_) => self.ldmd().map_or(1, |section| section.lines.start),
            // The delimiter row follows the header.
            Target::Cells(cells) => line_of(cells.node) + cells.row + usize::from(cells.row > 0),
        }
    }

    /// Returns the bytes of the whole target.
    pub fn span(&self) -> ByteSpan {
        let outline = self.document.tree.outline();
        match self.target {
            Target::Document => self.document.span(),
            Target::FrontMatter => outline.front_matter.unwrap_or_default(),
            Target::Node(node) => {
                outline.nodes.get(node).map(|node| node.bytes).unwrap_or_default()
            }
            Target::Ldmd(_) => self.ldmd().map(|section| section.span).unwrap_or_default(),
            Target::Cells(cells) => cells.span,
        }
    }

    /// Returns the title of a section, or `None` if the target has no title.
    pub fn title(&self) -> Option<String> {
        let title = match self.target {
            Target::Node(node) => self.document.tree.section(node).map(|section| &section.title),
            Target::Ldmd(_) => self.ldmd().map(|section| &section.title),
            Target::Document | Target::FrontMatter | Target::Cells(_) => None,
        };
        title.filter(|title| !title.is_empty()).cloned()
    }

    /// Returns the type of the target as a word for people, as in the headings of `mdsel context`.
    pub fn word(&self) -> &'static str {
        match self.target {
            Target::Document => "Document",
            Target::FrontMatter => "Front-Matter",
            Target::Ldmd(_) => "Section",
            Target::Cells(Cells { cell: None, .. }) => "Row",
            Target::Cells(_) => "Cell",
            Target::Node(node) => {
                self.document.tree.node(node).map_or("Section", |node| word_of(node.kind))
            }
        }
    }

    /// Returns the LDMD section, if the target is one.
    pub fn ldmd(&self) -> Option<&ldmd::LdmdSection> {
        match self.target {
            Target::Ldmd(section) => self.document.markup.sections.get(section),
            _ => None,
        }
    }

    /// Returns the bytes of the part that the parameters select.
    pub fn part_span(&self) -> ByteSpan {
        let span = self.span();
        let tree = &self.document.tree;
        let node = match self.target {
            Target::Node(node) => node,
            Target::Document if self.params.part == Some(SectionPart::Own) => {
                let first = tree.outline().sections.first().and_then(|first| tree.node(first.node));
                let end = first.map_or(span.end, |first| first.bytes.start);
                // A byte order mark is no text.
                return ByteSpan::new(tree.outline().start(), end);
            }
            _ => return span,
        };
        let end = match (tree.section(node), self.params.part) {
            (Some(section), Some(SectionPart::Heading)) => section.heading_end,
            (Some(section), Some(SectionPart::Own)) => section.own_end,
            (None, Some(SectionPart::Own)) => {
                return tree.outline().text_before_lists(node).unwrap_or(span);
            }
            _ => span.end,
        };
        ByteSpan { end, ..span }
    }
}

/// Returns the type of a node as a word for people.
pub(super) fn word_of(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Section(_) => "Section",
        NodeKind::Root => "Root",
        NodeKind::Item => "Item",
        NodeKind::Block(block_type) => match block_type {
            BlockType::Paragraph => "Paragraph",
            BlockType::List => "List",
            BlockType::Code => "Code",
            BlockType::Table => "Table",
            BlockType::Blockquote => "Blockquote",
            BlockType::Html => "Html",
            BlockType::Rule => "Rule",
            BlockType::Definition => "Definition",
            BlockType::Heading => "Heading",
            BlockType::Footnote => "Footnote",
        },
    }
}
