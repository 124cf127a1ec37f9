//! Finds the place in a document that the fragment of a link names.
//!
//! Invariant: a fragment that names nothing is broken unless it can only mean the whole document.

use super::sections::heading_key;
use super::{DocumentId, LinkTarget, LinkTargets, Reason};
use crate::markdown::slug::comparable;
use crate::percent::percent_decode;

/// Returns the place in a document that `fragment`, percent-encoded, names: an anchor, or headings separated by `#`.
/// Blocks (`^id`), lines (`L10`) and highlighted text (`:~:text=`) resolve to the whole document.
pub(super) fn place(targets: &impl LinkTargets, id: DocumentId, fragment: &str) -> LinkTarget {
    place_by(targets, id, fragment, &percent_decode(fragment), false)
}

/// Works like [`place`] for the fragment of a wikilink, which names a heading as it is written, without the attributes
/// at its end.
pub(super) fn place_in_note(
    targets: &impl LinkTargets,
    id: DocumentId,
    fragment: &str,
) -> LinkTarget {
    place_by(targets, id, fragment, fragment, true)
}

/// Returns the part of a fragment that names a place.
fn without_directive(fragment: &str) -> &str {
    fragment.split(":~:").next().unwrap_or_default().trim()
}

/// Returns the place that `fragment`, the text of a fragment that is `written`, names.
fn place_by(
    targets: &impl LinkTargets,
    id: DocumentId,
    written: &str,
    fragment: &str,
    is_wikilink: bool,
) -> LinkTarget {
    let (written, fragment) = (without_directive(written), without_directive(fragment));
    let is_block = |part: &&str| part.trim_start().starts_with('^');
    let parts = fragment.split('#').filter(|part| !is_block(part));
    let headings: Vec<String> = parts.map(heading_key).filter(|key| !key.is_empty()).collect();
    let node_by_anchor = |anchor: &str| targets.node_by_anchor(id, &comparable(anchor));
    let names_anchor = !fragment.is_empty() && !is_block(&fragment);
    let node = Some(percent_decode(written))
        .filter(|_| names_anchor)
        .and_then(|decoded| {
            // An anchor may be called `%20`, so browsers look for the fragment as it is written first.
            let is_encoded = decoded != written;
            let as_written = is_encoded.then(|| node_by_anchor(written)).flatten();
            as_written.or_else(|| node_by_anchor(&decoded))
        })
        .or_else(|| {
            let names_heading = !headings.is_empty();
            names_heading.then(|| targets.node_by_headings(id, &headings, is_wikilink)).flatten()
        });
    let is_whole = fragment.is_empty()
        || fragment.eq_ignore_ascii_case("top")
        || fragment.split('#').any(|part| is_block(&part))
        // A tab of a page, as docfx writes it.
        || fragment.starts_with("tab/")
        || is_lines(fragment);
    if node.is_none() && !is_whole {
        return LinkTarget::Broken { reason: Reason::Anchor, document: Some(id) };
    }
    LinkTarget::Document { id, node }
}

/// Returns whether `fragment` names lines in the syntax of GitHub and GitLab: `L10`, `L10-L20`,
/// `L10C5-L20C8`.
fn is_lines(fragment: &str) -> bool {
    fragment.split('-').all(|line| {
        line.strip_prefix('L').is_some_and(|rest| {
            rest.starts_with(|first: char| first.is_ascii_digit())
                && rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'C')
        })
    })
}

/// Returns the id of each block in the bytes of a file (`^id` at the end of a line) with the offset of the mark before it.
pub(crate) fn block_ids(bytes: &[u8]) -> impl Iterator<Item = (&[u8], usize)> {
    let mut start = 0;
    bytes.split(|byte| matches!(byte, b'\n' | b'\r')).filter_map(move |line| {
        let line_start = start;
        start += line.len() + 1;
        // The id ends the line, so only the last mark can begin one.
        let mark = memchr::memrchr(b'^', line)?;
        let id = line.get(mark + 1..)?.trim_ascii_end();
        (!id.is_empty()).then_some((id, line_start + mark))
    })
}
