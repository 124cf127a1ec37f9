//! `index`: lists documents, their headings and their blocks.

use schemars::JsonSchema;
use serde::Serialize;

use super::cursor::most;
use super::document_items::DocumentItems;
use super::filter::{Filter, type_name};
use super::freshness::Freshness;
use super::listed::ListedDocuments;
use super::node::{Content, Counts, words_below};
use super::open_document::OpenDocument;
use super::page::{self, shorten};
use super::{Cursor, FilterRequest, List, Outcome, Page, Session, document_items, listed};
use crate::address::{StepKind, StepScope};
use crate::error::Result;
use crate::limits;
use crate::markdown::outline::{BlockType, Node, Section};
use crate::markdown::words::{measure, page as page_of};
use crate::position::ByteSpan;

/// A request for a list of documents.
#[derive(Clone, Debug)]
pub struct IndexRequest {
    /// The names of the documents; empty for all.
    pub documents: Vec<String>,
    /// The documents, headings and blocks to list.
    pub filter: FilterRequest,
    /// Whether to list the blocks too.
    pub blocks: bool,
    /// The maximum number of headings and blocks; 0 for all. A document without them counts as one.
    pub limit: usize,
    /// The cursor of the previous answer, if any.
    pub after: Option<Cursor>,
}

/// The text before the first heading.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Root {
    /// The address of the root.
    pub selector: String,
    /// The type name, `root`.
    #[serde(rename = "type")]
    pub node_type: &'static str,
    /// The number of words.
    pub words: usize,
    /// The first page of the content.
    pub content: Content,
    /// Whether the content has further pages.
    pub truncated: bool,
}

impl Root {
    /// Cuts the content to its first `words` words.
    fn shorten(&mut self, words: usize) {
        if let Some((shown, true)) = page_of(&self.content.bytes, words, 0) {
            self.content.bytes.truncate(shown.end);
            self.truncated = true;
        }
    }
}

/// A heading and the properties of its section.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct IndexedHeading {
    /// The address of the section.
    pub selector: String,
    /// The title as plain text.
    pub text: String,
    /// The type name, such as `heading:h2`.
    #[serde(rename = "type")]
    pub node_type: String,
    /// The level of the heading, 1 to 6.
    pub level: u8,
    /// The line of the heading, 1-based.
    pub line_start: usize,
    /// Words of the section including subsections.
    pub words: usize,
    /// The number of direct subsections.
    pub children: usize,
    /// Whether `select` returns the section in pages.
    pub truncated: bool,
}

/// A block or list item.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct IndexedBlock {
    /// The address of the block.
    pub selector: String,
    /// The type name, such as `block:code`.
    #[serde(rename = "type")]
    pub node_type: String,
    /// The first characters, with each run of whitespace as one space.
    pub preview: String,
}

/// A document with its headings and blocks.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct IndexedDocument {
    /// The name of the document in addresses.
    pub namespace: String,
    /// The number of words.
    pub words: usize,
    /// The number of lines.
    pub lines: usize,
    /// The size in bytes.
    pub bytes: usize,
    /// The text before the first heading.
    pub root: Root,
    /// The headings that match the filters.
    pub headings: Vec<IndexedHeading>,
    /// The number of blocks outside containers, by type.
    pub blocks: Counts,
    /// The blocks that match the filters, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_list: Option<Vec<IndexedBlock>>,
    /// Whether the file differs from the stored document.
    #[serde(flatten)]
    pub freshness: Freshness,
    /// Whether the document contains bytes that are not valid UTF-8.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lossy: bool,
}

/// The items are the headings, then the blocks.
impl DocumentItems for IndexedDocument {
    fn items(&self) -> usize {
        self.headings.len() + self.block_list.as_ref().map_or(0, Vec::len)
    }

    fn keep(&mut self, from: usize, to: usize) {
        let headings = self.headings.len();
        if let Some(blocks) = &mut self.block_list {
            blocks.truncate(to.saturating_sub(headings));
            blocks.drain(..from.saturating_sub(headings).min(blocks.len()));
        }
        self.headings.truncate(to);
        self.headings.drain(..from.min(self.headings.len()));
    }
}

/// The documents of this part of the list.
#[derive(Clone, Debug)]
pub struct IndexAnswer {
    /// The documents, in the order in which they were named.
    pub documents: Vec<IndexedDocument>,
    /// Warnings, names without a document, and the cursor.
    pub page: Page,
}

impl List for IndexAnswer {
    fn page_mut(&mut self) -> Option<&mut Page> {
        Some(&mut self.page)
    }

    fn outcome(&self) -> Outcome {
        self.page.outcome_of_list(!self.documents.is_empty())
    }

    fn count(&self) -> usize {
        document_items::count(&self.documents)
    }

    fn first(&self, count: usize) -> Self {
        if count >= self.count() {
            return self.clone();
        }
        Self {
            documents: document_items::first(&self.documents, count),
            page: self.page.ended(count),
        }
    }

    fn sizes_of_first(&self) -> usize {
        let Some(document) = self.documents.first() else { return 0 };
        let titles = document.headings.iter().map(|heading| heading.text.as_str());
        let words = measure(&document.root.content.bytes).words;
        words.max(page::longest(titles)).max(1)
    }

    fn cut_first(&mut self, size: usize) -> bool {
        let Some(document) = self.documents.first_mut() else { return false };
        document.root.shorten(size);
        document.headings.iter_mut().for_each(|heading| shorten(&mut heading.text, size));
        document
            .block_list
            .iter_mut()
            .flatten()
            .for_each(|block| shorten(&mut block.preview, size));
        true
    }
}

/// Lists documents with their headings and blocks.
pub fn index(session: &Session<'_>, request: &IndexRequest) -> Result<IndexAnswer> {
    let mut page = Page::beginning(request.after, session.reader.generation());
    let ListedDocuments { documents, faults, filter, .. } =
        listed::listed(session, &request.documents, &request.filter)?;
    let documents = document_items::within(
        documents,
        &mut page,
        most(request.limit),
        filter.looks_inside(),
        |stored| {
            let document = session.open(stored)?;
            let nodes = &document.tree.outline().nodes;
            let blocks =
                nodes.iter().filter(|node| request.blocks && is_block(&document, node, &filter));
            Ok(wanted_sections(&document, &filter).count() + blocks.count())
        },
        |stored| list(session, &*session.open(stored)?, request.blocks, &filter),
    )?;
    page.unresolved_selectors = faults;
    page.warnings.extend(filter.warnings.iter().cloned());
    if documents.is_empty() && page.part.start() == 0 && page.unresolved_selectors.is_empty() {
        page.warnings.extend(filter.no_section(&request.documents, &request.filter));
    }
    Ok(IndexAnswer { documents, page })
}

/// Returns the sections whose headings are listed.
fn wanted_sections<'a>(
    document: &'a OpenDocument,
    filter: &'a Filter,
) -> impl Iterator<Item = &'a Section> {
    let sections = document.tree.outline().sections.iter();
    sections.filter(|section| filter.takes_section(document, section))
}

/// Returns whether a node of `document` is a block or an item that is listed.
fn is_block(document: &OpenDocument, node: &Node, filter: &Filter) -> bool {
    type_name(node.kind).is_some_and(|name| filter.takes_type(name))
        && filter.is_under(&document.stored, node.bytes)
}

fn list(
    session: &Session<'_>,
    document: &OpenDocument,
    with_blocks: bool,
    filter: &Filter,
) -> Result<IndexedDocument> {
    let tree = &document.tree;
    let outline = tree.outline();
    let root_span = outline.nodes.first().map(|root| root.bytes).unwrap_or_default();
    let root = session.content(document, root_span)?;
    let (shown, truncated) =
        page_of(&root, limits::MAX_WORDS, 0).unwrap_or((ByteSpan::new(0, root.len()), false));
    let headings = wanted_sections(document, filter)
        .map(|section| {
            let words = words_below(tree, section.node);
            IndexedHeading {
                selector: document.address_of(section.node),
                text: section.title.clone(),
                node_type: tree.type_name(section.node),
                level: section.level,
                line_start: tree.node(section.node).map_or(0, |node| node.lines.start),
                words,
                children: tree.child_sections(StepScope::Node(section.node)).count(),
                truncated: words > limits::MAX_WORDS,
            }
        })
        .collect();
    let counts = BlockType::ALL
        .into_iter()
        .map(|kind| (kind.name(), tree.matches(StepScope::Document, StepKind::Block(kind)).len()))
        .filter(|(_, count)| *count > 0)
        .collect();
    Ok(IndexedDocument {
        namespace: document.namespace.clone(),
        words: outline.document.words,
        lines: outline.lines,
        bytes: outline.bytes,
        root: Root {
            selector: document.address("root"),
            node_type: "root",
            words: outline.root.words,
            content: Content::new(shown.of(&root).to_vec()),
            truncated,
        },
        headings,
        blocks: Counts(counts),
        block_list: if with_blocks { Some(blocks(session, document, filter)?) } else { None },
        freshness: session.freshness(&document.stored),
        lossy: document.stored.is_lossy,
    })
}

fn blocks(
    session: &Session<'_>,
    document: &OpenDocument,
    filter: &Filter,
) -> Result<Vec<IndexedBlock>> {
    let tree = &document.tree;
    let bytes = session.content(document, document.span())?;
    let nodes = tree.outline().nodes.iter().enumerate();
    Ok(nodes
        .filter(|(_, node)| is_block(document, node, filter))
        .map(|(index, node)| IndexedBlock {
            selector: document.address_of(index),
            node_type: tree.type_name(index),
            preview: preview(node.bytes.of(&bytes)),
        })
        .collect())
}

/// Returns the first [`limits::PREVIEW_CHARS`] characters, with each run of whitespace as one space.
fn preview(bytes: &[u8]) -> String {
    // A character has at most four bytes. The factor 16 leaves room for runs of whitespace.
    let head = bytes.get(..limits::PREVIEW_CHARS * 16).unwrap_or(bytes);
    let text = String::from_utf8_lossy(head);
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().take(limits::PREVIEW_CHARS).collect()
}
