//! Link definitions that must stay when the text around them is removed.
//!
//! A link reference definition belongs to the whole document, not to the section that contains it.
//! Invariant: a kept definition is kept verbatim, and text outside the place uses it.

use super::effect::LostLink;
use super::text::{slice, trimmed};
use super::version::{Version, is_in};
use crate::limits;
use crate::markdown;
use crate::markdown::outline::{BlockType, NodeKind};
use crate::markdown::slug::fold;
use crate::position::ByteSpan;

/// A link reference definition inside the place.
struct Definition {
    /// Its lines, without the last line end.
    span: ByteSpan,
    /// The label as written.
    label: String,
    /// The link target; `None` if the parser resolves no link with this label.
    target: Option<String>,
}

/// The definitions that stay.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// Their lines, without the last line end.
    pub(super) bytes: Vec<u8>,
    /// The labels as written.
    pub(super) labels: Vec<String>,
}

/// Returns the definitions inside `place` that the `lost` links need. Leaves out those whose label the new
/// content, which is at `content` in the version `new`, defines itself.
pub(super) fn to_keep(
    old: &Version,
    place: ByteSpan,
    lost: &[LostLink],
    new: &Version,
    content: ByteSpan,
    line_end: &[u8],
) -> Kept {
    let given: Vec<String> =
        spans(new, content).map(|span| key(&label_of(slice(new.bytes(), span)))).collect();
    let mut kept = Kept::default();
    let mut previous: Option<ByteSpan> = None;
    for definition in definitions(old, place) {
        let label = key(&definition.label);
        let is_used = |link: &LostLink| {
            definition.target.as_ref() == Some(&link.target)
                && references(old.bytes(), link.offset).is_none_or(|used| key(&used) == label)
        };
        if given.contains(&label) || !lost.iter().any(is_used) {
            continue;
        }
        let between = previous.map(|previous| ByteSpan::new(previous.end, definition.span.start));
        if let Some(between) = between {
            let gap = slice(old.bytes(), between);
            let is_blank = gap.iter().all(u8::is_ascii_whitespace);
            kept.bytes.extend_from_slice(if is_blank { gap } else { line_end });
        }
        kept.bytes.extend_from_slice(slice(old.bytes(), definition.span));
        kept.labels.push(definition.label);
        previous = Some(definition.span);
    }
    kept
}

/// The spans of the definitions of `version` that begin in `place` and are not inside a container.
fn spans(version: &Version, place: ByteSpan) -> impl Iterator<Item = ByteSpan> {
    let nodes = &version.outline().nodes;
    let is_contained = |parent: usize| {
        nodes
            .get(parent)
            .is_some_and(|node| matches!(node.kind, NodeKind::Block(_) | NodeKind::Item))
    };
    nodes
        .iter()
        .filter(move |node| {
            node.kind == NodeKind::Block(BlockType::Definition)
                && is_in(place, node.bytes.start)
                && !node.parent.is_some_and(is_contained)
        })
        .map(|node| trimmed(version.bytes(), node.bytes))
}

/// The definitions of `version` in `place`, with the targets that the parser finds.
fn definitions(version: &Version, place: ByteSpan) -> Vec<Definition> {
    let spans: Vec<ByteSpan> = spans(version, place).collect();
    let mut text = Vec::new();
    for span in &spans {
        text.extend_from_slice(slice(version.bytes(), *span));
        text.push(b'\n');
    }
    // Append each label as a link of its own, so that the parser resolves its target.
    let mut offsets = Vec::with_capacity(spans.len());
    for span in &spans {
        text.push(b'\n');
        offsets.push(text.len());
        text.extend_from_slice(
            format!("[{}]\n", label_of(slice(version.bytes(), *span))).as_bytes(),
        );
    }
    let links = markdown::parse(&text).links;
    let inside = links.list.into_iter().map(|link| (link.offset, link.target));
    let mut targets: std::collections::HashMap<usize, String> =
        inside.chain(links.external.into_iter().map(|link| (link.offset, link.target))).collect();
    spans
        .into_iter()
        .zip(offsets)
        .map(|(span, offset)| Definition {
            span,
            label: label_of(slice(version.bytes(), span)),
            target: targets.remove(&offset),
        })
        .collect()
}

/// The label of the definition `text`; empty if `text` is not a definition.
fn label_of(text: &[u8]) -> String {
    bracketed(text.trim_ascii_start()).map(|(label, _)| label).unwrap_or_default()
}

/// The label that the link at `offset` refers to; `None` if the text there is not a reference.
fn references(file: &[u8], offset: usize) -> Option<String> {
    let text = file.get(offset..file.len().min(offset + limits::MAX_REFERENCE_BYTES))?;
    let (first, rest) = bracketed(text.strip_prefix(b"!").unwrap_or(text))?;
    match bracketed(rest) {
        Some((label, _)) if !label.is_empty() => Some(label),
        _ => Some(first),
    }
}

/// Returns the text between the bracket that `text` begins with and its closing bracket, and the rest.
/// `None` if `text` does not begin with a bracket or the bracket is not closed.
fn bracketed(text: &[u8]) -> Option<(String, &[u8])> {
    let mut depth = 0_usize;
    let mut is_escaped = false;
    for (at, byte) in text.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'[' => depth += 1,
            b']' if depth == 1 => {
                let label = String::from_utf8_lossy(text.get(1..at)?).into_owned();
                return Some((label, text.get(at + 1..)?));
            }
            b']' => depth = depth.checked_sub(1)?,
            _ if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// The normalized form in which labels are compared (`CommonMark` 0.31.2, section 4.7).
fn key(label: &str) -> String {
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
        ] {
            assert_eq!(references(text.as_bytes(), 0).as_deref(), label, "{text}");
        }
        assert_eq!(label_of(b"  [1.0.0]: https://x"), "1.0.0");
        assert_eq!(key("A\n  b"), key("a B"));
    }
}
