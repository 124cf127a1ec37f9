//! The packed form of an outline: one blob per document.
//!
//! Positions are stored as differences from the previous node. With variable-length integers most
//! of them take one or two bytes. Invariants: decoding an encoded value returns the same value.
//! Decoding any other bytes returns `None`, or an outline whose spans are nested and within the
//! file.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::markdown::outline::{BlockType, ContainedAnchor, Node, NodeKind, Outline, Section};
use crate::markdown::words::Measure;
use crate::position::{ByteSpan, LineSpan};

#[derive(Serialize)]
struct Packed<'a> {
    document: PackedDocument,
    nodes: Vec<PackedNode>,
    sections: Vec<PackedSection<'a>>,
    contained_anchors: Vec<(usize, &'a str)>,
}

#[derive(Serialize, Deserialize)]
struct PackedDocument {
    bytes: usize,
    lines: usize,
    front_matter: Option<ByteSpan>,
    document: (usize, usize),
    root: (usize, usize),
}

#[derive(Serialize, Deserialize)]
struct PackedNode {
    /// 0 = root, 1 = section, 2 = item, 3 and above = the block types in the order of
    /// [`BlockType::ALL`].
    kind: u8,
    /// Index of the node minus index of its parent; 0 if it has no parent.
    parent_back: usize,
    /// Bytes from the start of the previous node.
    start: usize,
    length: usize,
    /// Lines from the first line of the previous node.
    line: usize,
    line_count: usize,
}

#[derive(Serialize, Deserialize)]
struct PackedSection<'a> {
    level: u8,
    /// The title, and after a U+0000 the title as it is written if that differs.
    title: Cow<'a, str>,
    /// `None` if the title is ASCII.
    slug: Option<&'a str>,
    anchor_number: usize,
    path_number: usize,
    heading_length: usize,
    heading_lines: usize,
    own_length: usize,
    own: (usize, usize),
}

const FIRST_BLOCK_KIND: u8 = 3;

/// The size of the smallest packed node: one byte for each field.
const NODE_BYTES: usize = 6;

fn kind_code(kind: NodeKind) -> u8 {
    match kind {
        NodeKind::Root => 0,
        NodeKind::Section(_) => 1,
        NodeKind::Item => 2,
        NodeKind::Block(block_type) => {
            let index = BlockType::ALL.iter().position(|&other| other == block_type).unwrap_or(0);
            FIRST_BLOCK_KIND + u8::try_from(index).unwrap_or(0)
        }
    }
}

fn pair(measure: Measure) -> (usize, usize) {
    (measure.words, measure.chars)
}

fn measure((words, chars): (usize, usize)) -> Measure {
    Measure { words, chars }
}

/// Packs `outline`.
pub(crate) fn encode(outline: &Outline) -> postcard::Result<Vec<u8>> {
    let mut before = (0, 1);
    let nodes = outline
        .nodes
        .iter()
        .enumerate()
        .map(|(index, node)| {
            let packed = PackedNode {
                kind: kind_code(node.kind),
                parent_back: node.parent.map_or(0, |parent| index - parent),
                start: node.bytes.start - before.0,
                length: node.bytes.len(),
                line: node.lines.start - before.1,
                line_count: node.lines.end + 1 - node.lines.start,
            };
            before = (node.bytes.start, node.lines.start);
            packed
        })
        .collect();
    let sections = outline
        .sections
        .iter()
        .map(|section| {
            let start = outline.nodes.get(section.node).map_or(0, |node| node.bytes.start);
            PackedSection {
                level: section.level,
                title: match &section.written {
                    Some(written) => Cow::Owned(format!("{}\0{written}", section.title)),
                    None => Cow::Borrowed(section.title.as_str()),
                },
                slug: section.slug_beyond_ascii.as_deref(),
                anchor_number: section.anchor_number,
                path_number: section.path_number,
                heading_length: section.heading_end - start,
                heading_lines: section.heading_lines,
                own_length: section.own_end - start,
                own: pair(section.own),
            }
        })
        .collect();
    let packed = Packed {
        document: PackedDocument {
            bytes: outline.bytes,
            lines: outline.lines,
            front_matter: outline.front_matter,
            document: pair(outline.document),
            root: pair(outline.root),
        },
        nodes,
        sections,
        contained_anchors: outline
            .contained_anchors
            .iter()
            .map(|contained| (contained.node, contained.anchor.as_str()))
            .collect(),
    };
    postcard::to_stdvec(&packed)
}

/// The packed parts of an outline that are not read yet. Each is unpacked where it is needed, because a list of
/// packed nodes would take as long to build as the outline itself.
struct Unread<'a>(&'a [u8]);

impl<'a> Unread<'a> {
    /// Reads the next part; `None` if it is damaged.
    fn take<T: Deserialize<'a>>(&mut self) -> Option<T> {
        let (part, rest) = postcard::take_from_bytes(self.0).ok()?;
        self.0 = rest;
        Some(part)
    }

    /// Reads the number of parts in the next list, each of at least `least` bytes; `None` if there are fewer bytes.
    fn count(&mut self, least: usize) -> Option<usize> {
        self.take().filter(|count| *count <= self.0.len() / least)
    }
}

/// Unpacks an outline; `None` if `bytes` are invalid.
pub(crate) fn decode(bytes: &[u8]) -> Option<Outline> {
    let mut unread = Unread(bytes);
    let PackedDocument { bytes, lines, front_matter, document, root } = unread.take()?;
    let (document, root) = (measure(document), measure(root));
    if front_matter.is_some_and(|span| span.start > span.end || span.end > bytes) {
        return None;
    }
    let count = unread.count(NODE_BYTES).filter(|count| *count > 0)?;
    let mut nodes = Vec::with_capacity(count);
    let mut headings = Vec::new();
    let mut before = (0, 1);
    for index in 0..count {
        let node = unpack_node(&unread.take()?, index, before, headings.len())?;
        if node.bytes.end > bytes || node.lines.end > lines {
            return None;
        }
        if let Some(parent) = node.parent {
            nodes.get(parent).filter(|parent: &&Node| parent.bytes.contains(node.bytes))?;
        }
        if let NodeKind::Section(_) = node.kind {
            headings.push((index, node.bytes));
        }
        before = (node.bytes.start, node.lines.start);
        nodes.push(node);
    }
    unread.count(1).filter(|count| *count == headings.len())?;
    let mut sections = Vec::with_capacity(headings.len());
    for (index, bytes) in headings {
        sections.push(unpack_section(unread.take()?, index, bytes)?);
    }
    let mut contained_anchors = Vec::new();
    for _ in 0..unread.count(1)? {
        let (node, anchor) = unread.take()?;
        nodes.get(node)?;
        contained_anchors.push(ContainedAnchor { node, anchor });
    }
    Some(Outline { front_matter, nodes, sections, contained_anchors, root, document, bytes, lines })
}

/// Unpacks the node with this index. `before` are the first byte and line of the node before it, and `sections` is the
/// number of sections before it.
fn unpack_node(
    packed: &PackedNode,
    index: usize,
    before: (usize, usize),
    sections: usize,
) -> Option<Node> {
    let start = before.0.checked_add(packed.start)?;
    let line = before.1.checked_add(packed.line)?;
    Some(Node {
        kind: match packed.kind {
            0 if index == 0 => NodeKind::Root,
            1 => NodeKind::Section(sections),
            2 => NodeKind::Item,
            code => {
                let index = code.checked_sub(FIRST_BLOCK_KIND)?;
                NodeKind::Block(*BlockType::ALL.get(usize::from(index))?)
            }
        },
        parent: match packed.parent_back {
            0 => None,
            back => Some(index.checked_sub(back)?),
        },
        bytes: ByteSpan { start, end: start.checked_add(packed.length)? },
        lines: LineSpan { start: line, end: line.checked_add(packed.line_count)?.checked_sub(1)? },
    })
}

fn unpack_section(packed: PackedSection<'_>, node: usize, bytes: ByteSpan) -> Option<Section> {
    let within = |length: usize| bytes.start.checked_add(length).filter(|&end| end <= bytes.end);
    let (title, written) = match packed.title.split_once('\0') {
        Some((title, written)) => (title.to_owned(), Some(written.to_owned())),
        None => (packed.title.into_owned(), None),
    };
    Some(Section {
        node,
        level: Some(packed.level).filter(|level| (1..=6).contains(level))?,
        slug_beyond_ascii: packed.slug.map(str::to_owned),
        title,
        written,
        anchor_number: packed.anchor_number,
        path_number: packed.path_number,
        heading_end: within(packed.heading_length)?,
        heading_lines: packed.heading_lines,
        own_end: within(packed.own_length)?,
        own: measure(packed.own),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXT: &str =
        "---\na: 1\n---\nintro\n\n# A\n\n- x\n  - y\n\n> # Q\n\n## **Ünï**\n\ntext\n\n## Ünï\n";

    #[test]
    fn decoding_returns_the_encoded_outline() {
        for text in [TEXT, "", "\u{feff}", "# x"] {
            let outline = crate::markdown::parse(text.as_bytes()).outline;
            assert_eq!(decode(&encode(&outline).unwrap()), Some(outline));
        }
    }

    proptest! {
        #[test]
        fn damaged_blobs_never_panic_and_spans_stay_in_the_file(
            changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)
        ) {
            let mut bytes = encode(&crate::markdown::parse(TEXT.as_bytes()).outline).unwrap();
            for (index, value) in changes {
                let index = index.index(bytes.len());
                bytes[index] = value;
            }
            if let Some(outline) = decode(&bytes) {
                for node in &outline.nodes {
                    prop_assert!(node.bytes.start <= node.bytes.end && node.bytes.end <= outline.bytes);
                }
            }
        }
    }
}
