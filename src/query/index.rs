//! `index`: which documents there are, and what can be selected in them.

use serde::Serialize;

use super::library::{Freshness, OpenDocument, is_false};
use super::node::{Content, Counts, words_below};
use super::{Cursor, Library, List, Outcome, documents};
use crate::address::{Fault, Scope, StepKind};
use crate::error::{Result, Warning};
use crate::limits;
use crate::markdown::outline::{BlockType, NodeKind};
use crate::markdown::words::page;
use crate::position::ByteSpan;

/// What to list.
#[derive(Clone, Debug)]
pub struct Request {
    /// Documents by name; none for all.
    pub documents: Vec<String>,
    /// Whether to list blocks, too.
    pub blocks: bool,
    /// Documents, headings and blocks to give at most; 0 for all.
    pub limit: usize,
    /// Where a former answer ended.
    pub after: Option<Cursor>,
}

/// The text before the first heading.
#[derive(Clone, Debug, Serialize)]
pub struct Root {
    /// Its address.
    pub selector: String,
    /// Its type.
    #[serde(rename = "type")]
    pub node_type: &'static str,
    /// Its words.
    pub words: usize,
    /// Its first page.
    pub content: Content,
    /// Whether it has further pages.
    pub truncated: bool,
}

/// A heading with its section.
#[derive(Clone, Debug, Serialize)]
pub struct Heading {
    /// Its address.
    pub selector: String,
    /// Its title.
    pub text: String,
    /// Its type.
    #[serde(rename = "type")]
    pub node_type: String,
    /// Its level.
    pub level: u8,
    /// The line it stands on, 1-based.
    pub line_start: usize,
    /// Words of the section, subsections included.
    pub words: usize,
    /// How many sections stand directly below it.
    pub children: usize,
    /// Whether `select` gives it in pages.
    pub truncated: bool,
}

/// A block.
#[derive(Clone, Debug, Serialize)]
pub struct Block {
    /// Its address.
    pub selector: String,
    /// Its type.
    #[serde(rename = "type")]
    pub node_type: String,
    /// Its first characters, line ends as spaces.
    pub preview: String,
}

/// A document with what can be selected in it.
#[derive(Clone, Debug, Serialize)]
pub struct Document {
    /// Its name in addresses.
    pub namespace: String,
    /// Its words.
    pub words: usize,
    /// Its lines.
    pub lines: usize,
    /// Its bytes.
    pub bytes: usize,
    /// The text before the first heading.
    pub root: Root,
    /// Its headings.
    pub headings: Vec<Heading>,
    /// How many blocks of each type it has outside containers.
    pub blocks: Counts,
    /// Its blocks, where they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_list: Option<Vec<Block>>,
    /// Whether the file is still the same.
    #[serde(flatten)]
    pub freshness: Freshness,
    /// It holds bytes that are not UTF-8.
    #[serde(skip_serializing_if = "is_false")]
    pub lossy: bool,
}

impl Document {
    /// The document itself, its headings and its blocks, each an item of the list.
    fn count(&self) -> usize {
        1 + self.headings.len() + self.block_list.as_ref().map_or(0, Vec::len)
    }

    /// Keeps the first `count` items, at least the document itself.
    fn truncate(&mut self, count: usize) {
        let rest = count.saturating_sub(1);
        if let Some(blocks) = &mut self.block_list {
            blocks.truncate(rest.saturating_sub(self.headings.len()));
        }
        self.headings.truncate(rest);
    }

    /// Drops the first `count` headings and blocks.
    fn skip(&mut self, count: usize) {
        let headings = count.min(self.headings.len());
        self.headings.drain(..headings);
        if let Some(blocks) = &mut self.block_list {
            blocks.drain(..(count - headings).min(blocks.len()));
        }
    }
}

/// What there is.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// Documents, in the order in which they were named.
    pub documents: Vec<Document>,
    /// Names that no document has.
    pub unresolved_selectors: Vec<Fault>,
    /// Remarks.
    pub warnings: Vec<Warning>,
    /// Whether something was left out.
    pub truncated: bool,
    /// The cursor of what was left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    #[serde(skip)]
    cursor: Cursor,
    /// 1 where the first document was given before and is named again for what follows in it.
    #[serde(skip)]
    repeated: usize,
}

impl Answer {
    /// How the command ended.
    pub fn outcome(&self) -> Outcome {
        Outcome::of(!self.documents.is_empty(), !self.unresolved_selectors.is_empty())
    }
}

impl List for Answer {
    fn count(&self) -> usize {
        self.documents.iter().map(Document::count).sum()
    }

    fn least(&self) -> usize {
        1 + self.repeated
    }

    fn first(&self, count: usize) -> Self {
        let mut result = self.clone();
        if count >= self.count() {
            return result;
        }
        let mut left = count;
        result.documents.retain_mut(|document| {
            let keeps = left > 0;
            document.truncate(left);
            left -= document.count().min(left);
            keeps
        });
        result.truncated = true;
        let position = self.cursor.position + count.saturating_sub(self.repeated);
        result.next = Some(Cursor { position, ..self.cursor }.to_string());
        result
    }
}

/// Lists documents.
pub fn index(library: &Library<'_>, request: &Request) -> Result<Answer> {
    let generation = library.snapshot.generation();
    let after = request.after.unwrap_or(Cursor { generation, position: 0 });
    let named = documents::named(library, &request.documents)?;
    let mut result = Answer {
        documents: Vec::new(),
        unresolved_selectors: named.faults,
        warnings: after.warning(generation).into_iter().collect(),
        truncated: false,
        next: None,
        cursor: Cursor { generation, position: after.position },
        repeated: 0,
    };
    let limit = if request.limit == 0 { usize::MAX } else { request.limit };
    let (mut skip, mut left) = (after.position, limit);
    for stored in &named.documents {
        if left == 0 {
            break;
        }
        let document = library.open(stored)?;
        let headings = document.tree.outline().sections.len();
        // Whoever goes on behind a document need not have it opened in full.
        if !request.blocks && skip > headings {
            skip -= headings + 1;
            continue;
        }
        let mut listed = list(library, &document, request.blocks)?;
        let count = listed.count();
        if skip >= count {
            skip -= count;
            continue;
        }
        // What was given before of this document; it is named again for what follows.
        let given = std::mem::take(&mut skip);
        listed.skip(given.saturating_sub(1));
        if given > 0 {
            result.repeated = 1;
        }
        let rest = count - given;
        if rest > left {
            let is_first = given == 0;
            listed.truncate(left + usize::from(!is_first));
            result.documents.push(listed);
            result.next = Some(next_of(&result.cursor, limit));
            break;
        }
        left -= rest;
        result.documents.push(listed);
        if left == 0 && named.documents.last().is_some_and(|last| last.id != stored.id) {
            result.next = Some(next_of(&result.cursor, limit));
        }
    }
    result.truncated = result.next.is_some();
    Ok(result)
}

fn next_of(cursor: &Cursor, given: usize) -> String {
    Cursor { position: cursor.position + given, ..*cursor }.to_string()
}

fn list(library: &Library<'_>, document: &OpenDocument, with_blocks: bool) -> Result<Document> {
    let tree = &document.tree;
    let outline = tree.outline();
    let root_span = outline.nodes.first().map(|root| root.bytes).unwrap_or_default();
    let root = library.content(document, root_span)?;
    let (shown, truncated) =
        page(&root, limits::MAX_WORDS, 0).unwrap_or((ByteSpan::new(0, root.len()), false));
    let headings = outline
        .sections
        .iter()
        .map(|section| {
            let words = words_below(tree, section.node);
            Heading {
                selector: document.address_of(section.node),
                text: section.title.clone(),
                node_type: tree.type_name(section.node),
                level: section.level,
                line_start: tree.node(section.node).map_or(0, |node| node.lines.start),
                words,
                children: tree.child_sections(Scope::Node(section.node)).count(),
                truncated: words > limits::MAX_WORDS,
            }
        })
        .collect();
    let counts = BlockType::ALL
        .into_iter()
        .map(|kind| (kind.name(), tree.matches(Scope::Document, StepKind::Block(kind)).len()))
        .filter(|(_, count)| *count > 0)
        .collect();
    Ok(Document {
        namespace: document.namespace.clone(),
        words: outline.document.words,
        lines: outline.lines,
        bytes: outline.bytes,
        root: Root {
            selector: document.address("root"),
            node_type: "root",
            words: outline.root.words,
            content: Content::new(root.get(shown.start..shown.end).unwrap_or_default().to_vec()),
            truncated,
        },
        headings,
        blocks: Counts(counts),
        block_list: if with_blocks { Some(blocks(library, document)?) } else { None },
        freshness: library.freshness(&document.stored),
        lossy: document.stored.is_lossy,
    })
}

/// Characters of a preview.
const PREVIEW_CHARS: usize = 80;

fn blocks(library: &Library<'_>, document: &OpenDocument) -> Result<Vec<Block>> {
    let tree = &document.tree;
    let bytes = library.content(document, document.span())?;
    let nodes = tree.outline().nodes.iter().enumerate();
    Ok(nodes
        .filter(|(_, node)| matches!(node.kind, NodeKind::Block(_) | NodeKind::Item))
        .map(|(index, node)| Block {
            selector: document.address_of(index),
            node_type: tree.type_name(index),
            preview: preview(bytes.get(node.bytes.start..node.bytes.end).unwrap_or_default()),
        })
        .collect())
}

/// The first [`PREVIEW_CHARS`] characters, runs of whitespace as one space.
fn preview(bytes: &[u8]) -> String {
    // No character has more than four bytes, and no run of blanks is worth reading further.
    let head = bytes.get(..PREVIEW_CHARS * 16).unwrap_or(bytes);
    let text = String::from_utf8_lossy(head);
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().take(PREVIEW_CHARS).collect()
}
