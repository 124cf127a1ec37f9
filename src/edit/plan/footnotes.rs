//! Footnotes, and the references to them in text.
//!
//! Invariant: code and escaped brackets have no references.

use std::collections::HashMap;

use super::labels::{all_labels, key};
use super::text::trimmed;
use super::version::Version;
use crate::markdown::outline::{BlockType, NodeKind};
use crate::position::ByteSpan;

/// The text of each footnote by its label, in the form in which labels are compared. Of several with the same label,
/// the first one counts.
pub(super) fn footnotes(version: &Version) -> HashMap<String, ByteSpan> {
    let mut found = HashMap::new();
    for (span, label) in all_labels(version) {
        if label.starts_with('^') {
            found.entry(label).or_insert_with(|| trimmed(version.bytes(), span));
        }
    }
    found
}

/// Whether a footnote has the label, which begins with `^`.
pub(in crate::edit) fn has_footnote(version: &Version, label: &str) -> bool {
    let label = key(label);
    all_labels(version).iter().any(|(_, other)| *other == label)
}

/// The labels, with their `^`, of the footnote references at `span`, and of the footnotes that begin there.
pub(super) fn footnote_references(version: &Version, span: ByteSpan) -> Vec<ByteSpan> {
    let nodes = &version.outline().nodes;
    let first = nodes.partition_point(|node| node.bytes.start < span.start);
    let mut found = Vec::new();
    for (index, node) in nodes.iter().enumerate().skip(first) {
        if node.bytes.start >= span.end {
            break;
        }
        let is_parent = nodes.get(index + 1).is_some_and(|next| next.parent == Some(index));
        // Text is in headings and in blocks without blocks. A code span does not leave its block.
        let text = match node.kind {
            NodeKind::Section(section) => {
                let end = version.outline().sections.get(section).map(|one| one.heading_end);
                ByteSpan::new(node.bytes.start, end.unwrap_or(node.bytes.start))
            }
            NodeKind::Block(BlockType::Code | BlockType::Html | BlockType::Definition)
            | NodeKind::Root => continue,
            NodeKind::Block(BlockType::Footnote) => node.bytes,
            NodeKind::Block(_) | NodeKind::Item if is_parent => continue,
            NodeKind::Block(_) | NodeKind::Item => node.bytes,
        };
        found.extend(references_in_text(version.bytes(), text));
    }
    found.sort_by_key(|label: &ByteSpan| label.start);
    found.dedup();
    found
}

/// The labels, with their `^`, of the footnote references at `span`, which is within the text of one block.
pub(in crate::edit) fn references_in_text(text: &[u8], span: ByteSpan) -> Vec<ByteSpan> {
    let mut found = Vec::new();
    let mut at = span.start;
    while let Some(byte) = text.get(at).filter(|_| at < span.end) {
        if *byte == b'\\' {
            at += 2;
        } else if *byte == b'`' {
            at = after_code_span(text, at, span.end);
        } else if text.get(at..).is_some_and(|rest| rest.starts_with(b"[^")) {
            let rest = text.get(at + 2..span.end).unwrap_or_default();
            let end = rest.iter().position(|byte| b"[] \t\r\n".contains(byte)).unwrap_or(0);
            if end > 0 && rest.get(end) == Some(&b']') {
                found.push(ByteSpan::new(at + 1, at + 2 + end));
            }
            at += 2 + end;
        } else {
            at += 1;
        }
    }
    found
}

/// The offset after the code span that the backticks at `at` open, or after the backticks (`CommonMark` 0.31.2,
/// section 6.1).
fn after_code_span(text: &[u8], at: usize, end: usize) -> usize {
    let run = |at: usize| {
        let rest = text.get(at..end).unwrap_or_default();
        rest.iter().take_while(|byte| **byte == b'`').count()
    };
    let opening = run(at);
    let mut close = at + opening;
    let mut is_blank = false;
    while let Some(byte) = text.get(close).filter(|_| close < end) {
        match byte {
            b'`' => {
                let closing = run(close);
                close += closing;
                is_blank = false;
                if closing == opening {
                    return close;
                }
                continue;
            }
            b'\n' if is_blank => break,
            b'\n' => is_blank = true,
            b' ' | b'\t' | b'\r' => {}
            _ => is_blank = false,
        }
        close += 1;
    }
    at + opening
}
