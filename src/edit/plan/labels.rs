//! Labels: the names of link reference definitions and of footnotes, and what in the text has them.
//!
//! Invariant: labels are compared by their [`key`], as `CommonMark` compares them.

use super::version::Version;
use crate::limits;
use crate::markdown::outline::{BlockType, Node, NodeKind};
use crate::markdown::slug::fold;
use crate::position::ByteSpan;

/// The definitions and footnotes of a file, inside lists and block quotes, too: the span of each, and its label in the
/// form in which labels are compared.
pub(super) fn all_labels(version: &Version) -> Vec<(ByteSpan, String)> {
    let nodes = version.outline().nodes.iter().filter(|node| {
        matches!(node.kind, NodeKind::Block(BlockType::Definition | BlockType::Footnote))
    });
    let label = |node: &Node| {
        let text = node.bytes.of(version.bytes());
        let (label, _) = bracketed(text.get(memchr::memchr(b'[', text)?..)?)?;
        Some((node.bytes, key(&String::from_utf8_lossy(label))))
    };
    nodes.filter_map(label).collect()
}

/// The label of the definition `text`; empty if `text` is not a definition.
pub(super) fn label_of(text: &[u8]) -> String {
    let label = bracketed(text.trim_ascii_start()).map(|(label, _)| label);
    String::from_utf8_lossy(label.unwrap_or_default()).into_owned()
}

/// The span of the label to which the link at `offset` refers, and whether the label is also the text of the link;
/// `None` if the text there is not a reference.
pub(super) fn reference_at(file: &[u8], offset: usize) -> Option<(ByteSpan, bool)> {
    let end = file.len().min(offset + limits::MAX_REFERENCE_BYTES);
    let text = file.get(offset..end)?;
    let (first, rest) = bracketed(text.strip_prefix(b"!").unwrap_or(text))?;
    let start = offset + usize::from(text.starts_with(b"!")) + 1;
    let after = start + first.len() + 1;
    match bracketed(rest) {
        Some((label, _)) if !label.is_empty() => {
            Some((ByteSpan::new(after + 1, after + 1 + label.len()), false))
        }
        _ if rest.starts_with(b"(") => None,
        _ => Some((ByteSpan::new(start, start + first.len()), true)),
    }
}

/// The label at `span`, in the form in which labels are compared.
pub(super) fn label_at(file: &[u8], span: ByteSpan) -> String {
    key(&String::from_utf8_lossy(span.of(file)))
}

/// Returns the text between the bracket that `text` begins with and its closing bracket, and the rest.
/// `None` if `text` does not begin with a bracket or the bracket is not closed.
pub(in crate::edit) fn bracketed(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut depth = 0_usize;
    let mut is_escaped = false;
    for (at, byte) in text.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'[' => depth += 1,
            b']' if depth == 1 => return Some((text.get(1..at)?, text.get(at + 1..)?)),
            b']' => depth = depth.checked_sub(1)?,
            _ if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// The normalized form in which labels are compared (`CommonMark` 0.31.2, section 4.7).
pub(super) fn key(label: &str) -> String {
    fold(&label.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_label_of_a_link_is_read_from_its_text() {
        for (text, label) in [
            ("[a]", Some("a")),
            ("[a][b] c", Some("b")),
            ("![a b][] c", Some("a b")),
            ("[a [b] \\] c] d", Some("a [b] \\] c")),
            ("a", None),
            ("[a", None),
            ("[a](b)", None),
        ] {
            let found =
                reference_at(text.as_bytes(), 0).map(|(span, _)| &text[span.start..span.end]);
            assert_eq!(found, label, "{text}");
        }
        assert_eq!(label_of(b"  [1.0.0]: https://x"), "1.0.0");
        assert_eq!(key("A\n  b"), key("a B"));
    }
}
