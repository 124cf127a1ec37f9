//! The places that contain a span: the innermost one with an address, and the types of all of them.
//!
//! Invariant: a span within the document is within each place that is returned for it.

use super::open_document::OpenDocument;
use super::resolved_node::word_of;
use crate::address::FRONT_MATTER_PLACE;
use crate::markdown::outline::{BlockType, NodeKind};
use crate::position::ByteSpan;

/// The innermost place that contains a hit.
pub(super) struct Container {
    pub(super) address: String,
    pub(super) bytes: ByteSpan,
    /// The type of the place as a word for people.
    pub(super) word: &'static str,
}

/// Returns the innermost place that contains `span`.
pub(super) fn container(document: &OpenDocument, span: ByteSpan) -> Container {
    let tree = &document.tree;
    if is_in_front_matter(document, span) {
        let front_matter = tree.outline().front_matter.unwrap_or_default();
        let address = document.address(FRONT_MATTER_PLACE);
        return Container { address, bytes: front_matter, word: "Front-Matter" };
    }
    let Some((index, node)) = innermost(document, span) else {
        return Container {
            address: document.address("*"),
            bytes: document.span(),
            word: "Document",
        };
    };
    let address = document.address_of(index);
    let word = tree.node(index).map_or("Section", |node| word_of(node.kind));
    let (address, bytes) = match tree.section(index) {
        Some(section) if span.end <= section.heading_end && span.start < section.heading_end => {
            let heading = ByteSpan::new(node.start, section.heading_end);
            (format!("{address}?part=heading"), heading)
        }
        Some(section) if span.end <= section.own_end => {
            (format!("{address}?part=own"), ByteSpan::new(node.start, section.own_end))
        }
        _ => (address, node),
    };
    Container { address, bytes, word }
}

pub(super) fn is_in_front_matter(document: &OpenDocument, span: ByteSpan) -> bool {
    let front_matter = document.tree.outline().front_matter;
    front_matter.is_some_and(|front_matter| {
        front_matter.start <= span.start
            && span.start < front_matter.end
            && span.end <= front_matter.end
    })
}

/// Returns the innermost node that contains `span`, and its bytes.
fn innermost(document: &OpenDocument, span: ByteSpan) -> Option<(usize, ByteSpan)> {
    let nodes = &document.tree.outline().nodes;
    // A position after the last byte belongs to the last node.
    let at = span.start.min(document.span().end.saturating_sub(1));
    let after = nodes.partition_point(|node| node.bytes.start <= at);
    let mut index = after.checked_sub(1)?;
    loop {
        let node = nodes.get(index)?;
        if node.bytes.start <= at && at < node.bytes.end && span.end <= node.bytes.end {
            return Some((index, node.bytes));
        }
        index = node.parent?;
    }
}

/// Returns the types of the blocks that contain `span`, innermost first, or `heading` or `frontmatter`.
pub(super) fn types_of(document: &OpenDocument, span: ByteSpan) -> Vec<&'static str> {
    let tree = &document.tree;
    if is_in_front_matter(document, span) {
        return vec!["frontmatter"];
    }
    let mut types = Vec::new();
    let mut current = innermost(document, span).map(|(index, _)| index);
    while let Some(index) = current {
        let Some(node) = tree.node(index) else { break };
        match node.kind {
            NodeKind::Block(block) => types.push(block.name()),
            NodeKind::Item => types.push("item"),
            NodeKind::Section(_) => {
                let is_heading = tree
                    .section(index)
                    .is_some_and(|section| types.is_empty() && span.start < section.heading_end);
                if is_heading {
                    types.push(BlockType::Heading.name());
                }
                break;
            }
            NodeKind::Root => break,
        }
        current = node.parent;
    }
    types
}
