//! Places: what an address names, and which bytes that is.
//!
//! Invariant: a place's primary address, resolved, is the same place.

use std::rc::Rc;

use super::library::OpenDocument;
use crate::address::{Candidate, Params, Part};
use crate::ldmd;
use crate::markdown::outline::{BlockType, NodeKind};
use crate::position::ByteSpan;

/// What a place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// The whole document.
    Document,
    /// Its front matter.
    FrontMatter,
    /// A node.
    Node(usize),
    /// An LDMD section.
    Ldmd(usize),
}

/// A place that an address names.
#[derive(Clone, Debug)]
pub struct Place {
    /// The document.
    pub document: Rc<OpenDocument>,
    /// What in it.
    pub target: Target,
    /// How much of it.
    pub params: Params,
    /// Why it is not quite what was named: `containing` or `lines`.
    pub resolved: Option<&'static str>,
}

impl Place {
    pub(super) fn new(document: Rc<OpenDocument>, target: Target, params: Params) -> Self {
        Self { document, target, params, resolved: None }
    }

    /// All of a document.
    pub(super) fn whole(document: Rc<OpenDocument>) -> Self {
        Self::new(document, Target::Document, Params::default())
    }

    /// The primary address.
    pub fn address(&self) -> String {
        match self.target {
            Target::Document => self.document.address("*"),
            Target::FrontMatter => self.document.address("@frontmatter"),
            Target::Node(node) => self.document.address_of(node),
            Target::Ldmd(section) => self.document.address_of_ldmd(section),
        }
    }

    /// The place as one of several that an ambiguous address may mean.
    pub fn candidate(&self) -> Candidate {
        let document = &self.document;
        let tree = &document.tree;
        let node = match self.target {
            Target::Node(node) => Some(node),
            Target::Ldmd(_) => tree.section_at(self.span().start),
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
        let line = match self.target {
            Target::Node(node) => tree.node(node).map(|node| node.lines.start),
            Target::Ldmd(_) => self.ldmd().map(|section| section.lines.start),
            Target::Document | Target::FrontMatter => None,
        };
        Candidate {
            selector: self.address(),
            file: document.stored.path.clone(),
            path: section.and_then(|section| tree.section_path(section)),
            title,
            line: line.unwrap_or(1),
        }
    }

    /// The bytes of the whole target.
    pub fn span(&self) -> ByteSpan {
        let outline = self.document.tree.outline();
        match self.target {
            Target::Document => self.document.span(),
            Target::FrontMatter => outline.front_matter.unwrap_or_default(),
            Target::Node(node) => {
                outline.nodes.get(node).map(|node| node.bytes).unwrap_or_default()
            }
            Target::Ldmd(_) => self.ldmd().map(|section| section.span).unwrap_or_default(),
        }
    }

    /// The title of a section; `None` for anything that has none.
    pub fn title(&self) -> Option<String> {
        let title = match self.target {
            Target::Node(node) => self.document.tree.section(node).map(|section| &section.title),
            Target::Ldmd(_) => self.ldmd().map(|section| &section.title),
            Target::Document | Target::FrontMatter => None,
        };
        title.filter(|title| !title.is_empty()).cloned()
    }

    /// What it is, in a word for people (contract, section 3).
    pub fn word(&self) -> &'static str {
        match self.target {
            Target::Document => "Document",
            Target::FrontMatter => "Front-Matter",
            Target::Ldmd(_) => "Section",
            Target::Node(node) => match self.document.tree.node(node).map(|node| node.kind) {
                Some(NodeKind::Section(_)) | None => "Section",
                Some(NodeKind::Root) => "Root",
                Some(NodeKind::Item) => "Item",
                Some(NodeKind::Block(block_type)) => match block_type {
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
            },
        }
    }

    /// The LDMD section, where the target is one.
    pub fn ldmd(&self) -> Option<&ldmd::Section> {
        match self.target {
            Target::Ldmd(section) => self.document.markup.sections.get(section),
            _ => None,
        }
    }

    /// The bytes of the part that is named.
    pub fn part_span(&self) -> ByteSpan {
        let mut span = self.span();
        if let Target::Node(node) = self.target
            && let Some(section) = self.document.tree.section(node)
        {
            span.end = match self.params.part {
                Some(Part::Heading) => section.heading_end,
                Some(Part::Own) => section.own_end,
                Some(Part::All) | None => span.end,
            };
        }
        span
    }
}
