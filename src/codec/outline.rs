//! The packed form of an outline: one blob per document.
//!
//! Positions are stored as differences from the previous node. With variable-length integers most
//! of them take one or two bytes. Invariants: decoding an encoded value returns the same value.
//! Decoding any other bytes returns `None`, or an outline whose spans are nested and within the
//! file.

use serde::{Deserialize, Serialize};

use crate::markdown::outline::{BlockType, ContainedAnchor, Node, NodeKind, Outline, Section};
use crate::markdown::slug::slug;
use crate::markdown::words::Measure;
use crate::position::{ByteSpan, LineSpan};

#[derive(Serialize, Deserialize)]
struct Packed {
    bytes: usize,
    lines: usize,
    front_matter: Option<ByteSpan>,
    document: (usize, usize),
    root: (usize, usize),
    nodes: Vec<PackedNode>,
    sections: Vec<PackedSection>,
    contained_anchors: Vec<(usize, String)>,
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
struct PackedSection {
    level: u8,
    /// The title, and after a U+0000 the title as it is written if that differs.
    title: String,
    /// `None` if the title is ASCII. Computing the slug is then as fast as reading it.
    slug: Option<String>,
    anchor_number: usize,
    path_number: usize,
    heading_length: usize,
    heading_lines: usize,
    own_length: usize,
    own: (usize, usize),
}

const FIRST_BLOCK_KIND: u8 = 3;

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
pub(crate) fn encode(outline: &Outline) -> Vec<u8> {
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
                    Some(written) => format!("{}\0{written}", section.title),
                    None => section.title.clone(),
                },
                slug: (!section.title.is_ascii()).then(|| section.slug.clone()),
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
        bytes: outline.bytes,
        lines: outline.lines,
        front_matter: outline.front_matter,
        document: pair(outline.document),
        root: pair(outline.root),
        nodes,
        sections,
        contained_anchors: outline
            .contained_anchors
            .iter()
            .map(|contained| (contained.node, contained.anchor.clone()))
            .collect(),
    };
    postcard::to_stdvec(&packed).unwrap_or_default()
}

/// Unpacks an outline; `None` if `bytes` are invalid.
pub(crate) fn decode(bytes: &[u8]) -> Option<Outline> {
    let packed: Packed = postcard::from_bytes(bytes).ok()?;
    let mut outline = Outline {
        front_matter: packed.front_matter,
        nodes: Vec::with_capacity(packed.nodes.len()),
        sections: Vec::with_capacity(packed.sections.len()),
        contained_anchors: Vec::with_capacity(packed.contained_anchors.len()),
        root: measure(packed.root),
        document: measure(packed.document),
        bytes: packed.bytes,
        lines: packed.lines,
    };
    let mut packed_sections = packed.sections.into_iter();
    let mut before = (0usize, 1usize);
    for (index, node) in packed.nodes.iter().enumerate() {
        let start = before.0.checked_add(node.start)?;
        let end = start.checked_add(node.length).filter(|&end| end <= outline.bytes)?;
        let line = before.1.checked_add(node.line)?;
        let line_end = line.checked_add(node.line_count)?.checked_sub(1)?;
        if line_end > outline.lines {
            return None;
        }
        let parent = match node.parent_back {
            0 => None,
            back => Some(index.checked_sub(back)?),
        };
        let bytes = ByteSpan { start, end };
        let kind = match node.kind {
            0 if index == 0 => NodeKind::Root,
            1 => {
                let section = unpack_section(packed_sections.next()?, index, bytes)?;
                outline.sections.push(section);
                NodeKind::Section(outline.sections.len() - 1)
            }
            2 => NodeKind::Item,
            code => NodeKind::Block(*BlockType::ALL.get(usize::from(code.checked_sub(3)?))?),
        };
        if let Some(parent) = parent {
            outline.nodes.get(parent).filter(|parent| parent.bytes.contains(bytes))?;
        }
        outline.nodes.push(Node {
            kind,
            parent,
            bytes,
            lines: LineSpan { start: line, end: line_end },
        });
        before = (start, line);
    }
    if packed_sections.next().is_some() || outline.nodes.is_empty() {
        return None;
    }
    if outline.front_matter.is_some_and(|span| span.start > span.end || span.end > outline.bytes) {
        return None;
    }
    for (node, anchor) in packed.contained_anchors {
        outline.nodes.get(node)?;
        outline.contained_anchors.push(ContainedAnchor { node, anchor });
    }
    Some(outline)
}

fn unpack_section(packed: PackedSection, node: usize, bytes: ByteSpan) -> Option<Section> {
    let within = |length: usize| bytes.start.checked_add(length).filter(|&end| end <= bytes.end);
    let (title, written) = match packed.title.split_once('\0') {
        Some((title, written)) => (title.to_owned(), Some(written.to_owned())),
        None => (packed.title, None),
    };
    Some(Section {
        node,
        level: Some(packed.level).filter(|level| (1..=6).contains(level))?,
        slug: packed.slug.unwrap_or_else(|| slug(&title)),
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
            assert_eq!(decode(&encode(&outline)), Some(outline));
        }
    }

    proptest! {
        #[test]
        fn damaged_blobs_never_panic_and_spans_stay_in_the_file(
            changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)
        ) {
            let mut bytes = encode(&crate::markdown::parse(TEXT.as_bytes()).outline);
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
