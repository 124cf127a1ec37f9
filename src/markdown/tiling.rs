//! Checks that an outline may be the outline of a file: its spans must cover the file, and nest.
//!
//! Invariant: an outline that passes is one that [`super::parse()`] could have returned for some
//! file with the same lines and blank lines. Only parsing shows whether it is the outline of this
//! file.

use super::outline::{Node, NodeKind, Outline};
use super::text_start;
use super::words::measure;
use crate::position::{ByteSpan, LineIndex};

/// Returns the first problem of `outline` as the outline of `file`, if any; see the invariants of
/// [`super::outline`].
pub fn fault(outline: &Outline, file: &[u8]) -> Option<&'static str> {
    let lines = LineIndex::new(file);
    if outline.bytes != file.len() || outline.lines != lines.count() {
        return Some("its size is not that of the file");
    }
    if !has_tree(outline, &lines) {
        return Some("a node is not inside its container");
    }
    if !has_sections(outline, &lines) {
        return Some("a section does not end at the start of the next one");
    }
    if !has_tiles(outline, file, &lines) {
        return Some("front matter, headings and blocks do not cover the file");
    }
    (outline.document != measure(file)).then_some("its word count is not that of the file")
}

fn is_in_order(span: ByteSpan, length: usize) -> bool {
    span.start <= span.end && span.end <= length
}

/// Returns whether every node is in its container, after its previous sibling, and has the lines of
/// its bytes.
fn has_tree(outline: &Outline, lines: &LineIndex) -> bool {
    let mut ends: Vec<usize> = Vec::with_capacity(outline.nodes.len());
    outline.nodes.iter().all(|node| {
        let Node { kind, parent, bytes, .. } = *node;
        let is_placed = is_in_order(bytes, outline.bytes) && node.lines == lines.lines(bytes);
        let is_within = parent.is_none_or(|parent| {
            let is_after = match (kind, ends.get_mut(parent)) {
                (_, None) => false,
                (NodeKind::Section(_), Some(_)) => true,
                (_, Some(end)) => std::mem::replace(end, bytes.end) <= bytes.start,
            };
            let outer = outline.nodes.get(parent);
            is_after && outer.is_some_and(|outer| outer.bytes.contains(bytes))
        });
        ends.push(bytes.start);
        is_placed && is_within
    })
}

/// Returns whether every section has the lines of its heading, and ends where the next section of
/// the same or a higher level begins.
fn has_sections(outline: &Outline, lines: &LineIndex) -> bool {
    // The start of the next section of each level or a higher one, computed from the last section
    // to the first.
    let mut begins = [outline.bytes; 7];
    outline.sections.iter().rev().all(|section| {
        let Some(node) = outline.nodes.get(section.node) else { return false };
        let level = usize::from(section.level);
        let is_ended = begins.get(level) == Some(&node.bytes.end)
            && node.bytes.start <= section.heading_end
            && section.heading_end <= section.own_end
            && section.own_end <= node.bytes.end;
        let has_heading = || {
            let heading = ByteSpan::new(node.bytes.start, section.heading_end);
            let heading = lines.lines(heading);
            heading.end + 1 - heading.start == section.heading_lines
        };
        begins.iter_mut().skip(level).for_each(|begin| *begin = node.bytes.start);
        is_ended && has_heading()
    })
}

/// Returns whether front matter, headings and top-level blocks are whole lines that cover all but
/// blank lines.
fn has_tiles(outline: &Outline, file: &[u8], lines: &LineIndex) -> bool {
    let start = text_start(file);
    let is_line_start =
        |offset: usize| offset == start || lines.start_of(lines.line_of(offset)) == offset;
    let tiles = outline.nodes.iter().filter_map(|node| match node.kind {
        NodeKind::Section(section) => {
            let end = outline.sections.get(section)?.heading_end;
            Some(ByteSpan { start: node.bytes.start, end })
        }
        NodeKind::Block(_) => {
            let parent = node.parent.and_then(|parent| outline.nodes.get(parent));
            let is_top = parent
                .is_none_or(|parent| matches!(parent.kind, NodeKind::Root | NodeKind::Section(_)));
            is_top.then_some(node.bytes)
        }
        NodeKind::Root | NodeKind::Item => None,
    });
    let end = ByteSpan { start: file.len(), end: file.len() };
    let mut position = start;
    outline.front_matter.into_iter().chain(tiles).chain([end]).all(|tile| {
        let gap = file.get(position..tile.start);
        position = tile.end;
        is_in_order(tile, file.len())
            && gap.is_some_and(|gap| gap.iter().all(u8::is_ascii_whitespace))
            && is_line_start(tile.start)
            && is_line_start(tile.end)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &[u8] = b"---\na: 1\n---\nintro\n\n# A\n\n- x\n  - y\n\n## B\n\ntext\n\n# C\n";

    #[test]
    fn every_changed_span_is_detected() {
        let outline = super::super::parse(FILE).outline;
        assert_eq!(fault(&outline, FILE), None);
        for (index, node) in outline.nodes.iter().enumerate() {
            let forge = |change: fn(&mut Node)| {
                let mut forged = outline.clone();
                change(&mut forged.nodes[index]);
                fault(&forged, FILE).is_some()
            };
            assert!(forge(|node| node.lines.end += 1), "node {index}");
            assert!(forge(|node| node.bytes = ByteSpan { start: 9, end: 2 }), "node {index}");
            assert!(forge(|node| node.bytes.end += 1000), "node {index}");
            // Inside a container, only parsing shows where on its line a node begins.
            let outer = node.parent.map(|parent| outline.nodes[parent].kind);
            if !matches!(outer, Some(NodeKind::Block(_) | NodeKind::Item)) {
                assert!(forge(|node| node.bytes.end += 1), "node {index}");
                assert!(forge(|node| node.bytes.start += 1), "node {index}");
            }
        }
        for index in 0..outline.sections.len() {
            let mut forged = outline.clone();
            forged.sections[index].heading_end += 1;
            assert!(fault(&forged, FILE).is_some(), "section {index}");
        }
        assert!(fault(&outline, &FILE[1..]).is_some());
        let other = String::from_utf8_lossy(FILE).replace("text", "t\nxt");
        assert!(fault(&outline, other.as_bytes()).is_some());
    }
}
