//! Anchors in the HTML of a document: `<a name="x">`, and `id="x"` on any element.
//!
//! Links name them like the anchors of headings. Invariant: code blocks have no anchors; each
//! anchor belongs to the section in which a reader sees it.

use std::sync::OnceLock;

use regex::bytes::Regex;
use serde::{Deserialize, Serialize};

use super::outline::{BlockType, NodeKind, Outline};
use crate::limits;

/// Matches a tag up to the end of its `id` value, or of its `name` value if it is an `a` tag.
const NAMED_TAG: &str = concat!(
    r"(?i-u)<(?:a(?:\s[^<>]*?)?\s(?:id|name)|[a-z][a-z0-9-]*(?:\s[^<>]*?)?\sid)",
    r#"\s*=\s*["']?([^"'\s<>]+)"#
);

/// The maximum distance in bytes from an anchor to the heading that it may belong to.
const NEAR_BYTES: usize = 256;

/// An anchor in HTML.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HtmlAnchor {
    /// The name, as it is written.
    pub name: String,
    /// Index of the node of the section: the one that contains the anchor, or the one whose heading
    /// follows with only tags and blanks between. It is the root before the first heading.
    pub node: usize,
}

/// Returns the anchors of `file`, in document order.
pub(super) fn find(file: &[u8], outline: &Outline) -> Vec<HtmlAnchor> {
    static REGEX: OnceLock<Option<Regex>> = OnceLock::new();
    let Some(regex) = REGEX.get_or_init(|| Regex::new(NAMED_TAG).ok()) else { return Vec::new() };
    let code = outline.nodes.iter().filter(|node| node.kind == NodeKind::Block(BlockType::Code));
    let mut code = code.map(|node| node.bytes).peekable();
    let body = outline.nodes.first().map_or(0, |root| root.bytes.start);
    let tags = regex.captures_iter(file.get(body..).unwrap_or_default()).filter_map(|tag| {
        let (whole, name) = (tag.get(0)?, tag.get(1)?);
        let (start, end) = (body + whole.start(), body + whole.end());
        while code.next_if(|block| block.end <= start).is_some() {}
        let is_code = code.peek().is_some_and(|block| block.start <= start)
            || start.checked_sub(1).and_then(|before| file.get(before)) == Some(&b'`');
        let name = String::from_utf8_lossy(name.as_bytes());
        (!is_code)
            .then(|| HtmlAnchor { name: name.into_owned(), node: node_at(file, outline, end) })
    });
    tags.take(limits::MAX_HTML_ANCHORS).collect()
}

/// Returns the node of the section that a reader sees at `offset`, which is inside a tag.
fn node_at(file: &[u8], outline: &Outline, offset: usize) -> usize {
    let start_of = |node: usize| outline.nodes.get(node).map_or(0, |node| node.bytes.start);
    let next = outline.sections.partition_point(|section| start_of(section.node) <= offset);
    let following = outline.sections.get(next).map(|section| section.node).filter(|&node| {
        let start = start_of(node);
        start - offset <= NEAR_BYTES && file.get(offset..start).is_some_and(only_tags)
    });
    let containing = next.checked_sub(1).and_then(|index| outline.sections.get(index));
    following.or(containing.map(|section| section.node)).unwrap_or(0)
}

/// Returns whether `text`, which begins inside a tag, contains only tags and whitespace.
fn only_tags(text: &[u8]) -> bool {
    let mut is_tag = true;
    text.iter().all(|byte| {
        match byte {
            b'<' => is_tag = true,
            b'>' => is_tag = false,
            _ => return is_tag || byte.is_ascii_whitespace(),
        }
        true
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_and_ids_belong_to_the_sections_at_them() {
        let text = "---\na: <a id=z>\n---\n<p id=top>x</p>\n\n<a name=\"one\"></a>\n<a id='uno'></a>\n\n\
            # <A  NAME = \"in\"> One\n\ntext <span class=\"a\" id=\"b\">x</span> <a name=\"far\"></a>\n\n\
            and\n\n```\n<a name=\"code\">\n```\n\n`<a name=\"span\">` <div name=\"no\"> <b data-id=\"no\">\n\n\
            ## Two\n";
        let document = crate::markdown::parse(text.as_bytes());
        let nodes: Vec<_> = document.outline.sections.iter().map(|section| section.node).collect();
        let found: Vec<_> =
            document.html_anchors.iter().map(|a| (a.name.as_str(), a.node)).collect();
        let (root, one) = (0, nodes[0]);
        let (first, second) =
            ([("top", root), ("one", one), ("uno", one)], [("in", one), ("b", one), ("far", one)]);
        assert_eq!(found, [first, second].concat());
    }

    #[test]
    fn many_anchors_take_linear_time() {
        for part in ["<a ", "<a id=x ", "<a id=", "<a id=x>", "<a\n", "<b a=\"", "# <a name=x>\n"] {
            let start = std::time::Instant::now();
            crate::markdown::parse(part.repeat(1_000_000 / part.len()).as_bytes());
            assert!(start.elapsed().as_secs() < 5, "{part}");
        }
    }
}
