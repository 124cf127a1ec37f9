//! Definitions of links and footnotes that must stay when the text around them is removed.
//!
//! A definition belongs to the whole document, not to the section that contains it. Invariant: a kept definition
//! is kept verbatim, and text outside the place uses it.

use std::collections::{HashMap, HashSet};

use super::effect::LostLink;
use super::footnotes::footnote_references;
use super::labels::{key, label_at, label_of, reference_at};
use super::text::trimmed;
use super::version::{Version, is_in};
use crate::markdown;
use crate::markdown::outline::{BlockType, NodeKind};
use crate::position::ByteSpan;

/// A link reference definition, or a footnote.
pub(super) struct Definition {
    /// Its lines, without the last line end.
    pub(super) span: ByteSpan,
    /// The label as written. That of a footnote begins with `^`.
    pub(super) label: String,
    /// The link target; `None` for a footnote, or if the parser resolves no link with this label.
    pub(super) target: Option<String>,
}

impl Definition {
    /// Whether it is a footnote.
    pub(super) fn is_footnote(&self) -> bool {
        self.label.starts_with('^')
    }
}

/// The definitions that stay.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// Their lines, without the last line end.
    pub(super) bytes: Vec<u8>,
    /// The labels as written.
    pub(super) labels: Vec<String>,
}

/// Returns the definitions inside `place` that the `lost` links need, the footnotes to which text outside refers, and
/// those with the labels `also`. Leaves out those whose label the new content, which is at `content` in the version
/// `new`, defines itself.
pub(super) fn to_keep(
    old: &Version,
    place: ByteSpan,
    lost: &[LostLink],
    also: &[String],
    new: &Version,
    content: ByteSpan,
    line_end: &[u8],
) -> Kept {
    let given: HashSet<String> =
        spans(new, content).map(|span| key(&label_of(span.of(new.bytes())))).collect();
    let mut kept = Kept::default();
    let mut previous: Option<ByteSpan> = None;
    let inside = definitions(old, place);
    let needed = needed(old, place, &inside, lost, also);
    for definition in inside {
        let label = key(&definition.label);
        if given.contains(&label) || !needed.contains(&label) {
            continue;
        }
        let between = previous.map(|previous| ByteSpan::new(previous.end, definition.span.start));
        if let Some(between) = between {
            let gap = between.of(old.bytes());
            let is_blank = gap.iter().all(u8::is_ascii_whitespace);
            kept.bytes.extend_from_slice(if is_blank { gap } else { line_end });
        }
        kept.bytes.extend_from_slice(definition.span.of(old.bytes()));
        kept.labels.push(definition.label);
        previous = Some(definition.span);
    }
    kept
}

/// Returns the labels of the definitions `inside` a place that text outside needs: those of the `lost` links, those of
/// footnotes to which it refers, those of `also`, and those that such a footnote needs itself.
fn needed(
    old: &Version,
    place: ByteSpan,
    inside: &[Definition],
    lost: &[LostLink],
    also: &[String],
) -> HashSet<String> {
    // The labels of the lost links by their targets; no label for a link that is not a reference.
    let lost: HashSet<(&str, Option<String>)> = lost
        .iter()
        .map(|link| {
            let label = reference_at(old.bytes(), link.offset);
            (&*link.target, label.map(|(label, _)| label_at(old.bytes(), label)))
        })
        .collect();
    let mut needed: HashSet<String> = also.iter().map(|label| key(label)).collect();
    for definition in inside {
        let label = key(&definition.label);
        let Some(target) = definition.target.as_deref() else { continue };
        if lost.contains(&(target, Some(label.clone()))) || lost.contains(&(target, None)) {
            needed.insert(label);
        }
    }
    let footnotes = || inside.iter().filter(|definition| definition.is_footnote());
    if footnotes().next().is_some() {
        let after = ByteSpan::new(place.end, old.bytes().len());
        let around = [ByteSpan::new(0, place.start), after];
        let text = |definition: &Definition| definition.span.of(old.bytes()).to_vec();
        let others = around.map(|span| definitions(old, span)).into_iter().flatten();
        let others: HashSet<Vec<u8>> = others.map(|other| text(&other)).collect();
        let used = around.map(|span| footnote_references(old, span)).concat();
        let used: HashSet<String> = used.iter().map(|at| label_at(old.bytes(), *at)).collect();
        // An equal footnote elsewhere serves as well.
        let kept = footnotes().filter(|one| !others.contains(&text(one)));
        needed.extend(kept.map(|one| key(&one.label)).filter(|label| used.contains(label)));
    }
    // Several footnotes with one label are kept together.
    let mut spans: HashMap<String, Vec<ByteSpan>> = HashMap::new();
    for one in footnotes() {
        spans.entry(key(&one.label)).or_default().push(one.span);
    }
    let mut next: Vec<String> = needed.iter().cloned().collect();
    while let Some(label) = next.pop() {
        let uses = spans.get(&label).into_iter().flatten().flat_map(|span| labels_in(old, *span));
        next.extend(uses.filter(|used| needed.insert(used.clone())));
    }
    needed
}

/// The labels to which the text at `span` refers.
pub(super) fn labels_in(version: &Version, span: ByteSpan) -> Vec<String> {
    let file = version.bytes();
    let links = version.links_in(span);
    let links = links.filter_map(|(offset, ..)| Some(reference_at(file, offset)?.0));
    let footnotes = footnote_references(version, span).into_iter();
    links.chain(footnotes).map(|label| label_at(file, label)).collect()
}

/// The spans of the definitions and footnotes of `version` that begin in `place` and are not inside a container.
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
            matches!(node.kind, NodeKind::Block(BlockType::Definition | BlockType::Footnote))
                && is_in(place, node.bytes.start)
                && !node.parent.is_some_and(is_contained)
        })
        .map(|node| trimmed(version.bytes(), node.bytes))
}

/// The definitions and footnotes of `version` in `place`, with the targets that the parser finds.
pub(super) fn definitions(version: &Version, place: ByteSpan) -> Vec<Definition> {
    let spans: Vec<ByteSpan> = spans(version, place).collect();
    let mut text = Vec::new();
    for span in &spans {
        // A blank line ends a footnote.
        text.extend_from_slice(span.of(version.bytes()));
        text.extend_from_slice(b"\n\n");
    }
    // Append each label as a link of its own, so that the parser resolves its target.
    let mut offsets = Vec::with_capacity(spans.len());
    for span in &spans {
        text.push(b'\n');
        offsets.push(text.len());
        text.extend_from_slice(format!("[{}]\n", label_of(span.of(version.bytes()))).as_bytes());
    }
    let links = markdown::parse(&text).links;
    let inside = links.list.into_iter().map(|link| (link.offset, link.target));
    let mut targets: HashMap<usize, String> =
        inside.chain(links.external.into_iter().map(|link| (link.offset, link.target))).collect();
    spans
        .into_iter()
        .zip(offsets)
        .map(|(span, offset)| Definition {
            span,
            label: label_of(span.of(version.bytes())),
            target: targets.remove(&offset),
        })
        .collect()
}
