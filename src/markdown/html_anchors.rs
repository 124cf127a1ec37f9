//! Anchors that are not those of Markdown headings: `<a name="x">`, `id="x"` on any element, headings in HTML, and the
//! explicit ids of site generators.
//!
//! Links name them like the anchors of headings. Invariant: code blocks have no anchors; each
//! anchor belongs to the section in which a reader sees it.

use std::sync::OnceLock;

use markdown_it::common::utils::unescape_all;
use regex::bytes::{Captures, Match, Regex};
use serde::{Deserialize, Serialize};

use super::outline::{BlockType, NodeKind, Outline};
use super::slug::slug;
use super::text_start;
use crate::limits;
use crate::position::ByteSpan;

/// Matches a tag up to the end of its `id` value, or of its `name` value if it is an `a` tag.
const NAMED_TAG: &str = concat!(
    r"(?i-u)<(?:a(?:\s[^<>]*?)?\s(?:id|name)|[a-z][a-z0-9-]*(?:\s[^<>]*?)?\sid)",
    r#"\s*=\s*["']?([^"'\s<>]+)"#
);

/// Matches a heading in HTML. GitHub gives it the anchor of its text.
const HTML_HEADING: &str = r"(?is-u)<h[1-6](?:\s[^<>]*)?>(.{1,300}?)</h[1-6]\s*>";

/// Matches an id in attributes, as in Pandoc, kramdown and Python Markdown (`{#x}`, `{: .class #x }`), and a label of
/// `MyST` (`(x)=`) after the end of a line. Both begin with few texts, so that most of a file is skipped.
const EXPLICIT_ID: &str = concat!(
    r"(?-u)\{ ?(?:[.:][^{}\r\n]*\s)?#(?<id>[A-Za-z][\w:.-]*)(?:\s[^{}\r\n]*)?\}",
    r"|[\r\n]\((?<label>[A-Za-z][\w:. -]*)\)=",
);

/// Matches a label on the first line. In the same expression, each parenthesis would have to be looked at.
const FIRST_LABEL: &str = r"(?-u)^\((?<label>[A-Za-z][\w:. -]*)\)=";

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

/// An anchor before its section is known.
struct FoundAnchor {
    start: usize,
    end: usize,
    name: String,
    /// Whether the end is inside a tag.
    is_in_tag: bool,
}

/// Returns the anchors of `file`, in document order: at most one more than [`limits::MAX_HTML_ANCHORS`]. `fences` are the
/// fenced code blocks, because those in footnotes are no nodes of the outline.
pub(super) fn find(file: &[u8], outline: &Outline, fences: &[ByteSpan]) -> Vec<HtmlAnchor> {
    static REGEXES: OnceLock<Option<[Regex; 4]>> = OnceLock::new();
    let compiled = REGEXES.get_or_init(|| {
        let all = [NAMED_TAG, HTML_HEADING, EXPLICIT_ID, FIRST_LABEL].map(Regex::new);
        let [tag, heading, id, first_label] = all;
        Some([tag.ok()?, heading.ok()?, id.ok()?, first_label.ok()?])
    });
    let Some([tag, heading, id, first_label]) = compiled else { return Vec::new() };
    let body = outline.nodes.first().map_or(0, |root| root.bytes.start).max(text_start(file));
    let text = file.get(body..).unwrap_or_default();
    let anchor = |found: &Captures<'_>, name: String, is_in_tag: bool| {
        let whole = found.get(0)?;
        // The line end before a label may be that of a code block.
        let start = found.name("label").map_or(whole.start(), |label| label.start() - 1);
        let (start, end) = (body + start, body + whole.end());
        Some(FoundAnchor { start, end, name, is_in_tag })
    };
    let text_of = |found: Match<'_>| String::from_utf8_lossy(found.as_bytes()).into_owned();
    let tags = tag.captures_iter(text).filter_map(|it| anchor(&it, text_of(it.get(1)?), true));
    let headings = heading.captures_iter(text).filter_map(|it| {
        let name = slug(&text_of_html(&text_of(it.get(1)?)));
        anchor(&it, name, false).filter(|found| !found.name.is_empty())
    });
    let ids = first_label.captures(text).into_iter().chain(id.captures_iter(text));
    let ids = ids.filter(|it| is_explicit(text, it)).filter_map(|it| {
        let name = text_of(it.name("id").or_else(|| it.name("label"))?);
        anchor(&it, name, false)
    });
    let code = outline.nodes.iter().filter(|node| node.kind == NodeKind::Block(BlockType::Code));
    let mut code: Vec<ByteSpan> =
        code.map(|node| node.bytes).chain(fences.iter().copied()).collect();
    code.sort_unstable_by_key(|block| block.start);
    code.dedup();
    let is_text = |found: &FoundAnchor| {
        let next = code.partition_point(|block| block.end <= found.start);
        code.get(next).is_none_or(|block| found.start < block.start)
            && found.start.checked_sub(1).and_then(|before| file.get(before)) != Some(&b'`')
    };
    let most = limits::MAX_HTML_ANCHORS + 1;
    let mut found = Vec::new();
    found.extend(tags.filter(is_text).take(most));
    found.extend(headings.filter(is_text).take(most));
    found.extend(ids.filter(is_text).take(most));
    found.sort_by_key(|found| found.start);
    found.truncate(most);
    let node = |found: &FoundAnchor| node_at(file, outline, found.end, found.is_in_tag);
    found.into_iter().map(|it| HtmlAnchor { node: node(&it), name: it.name }).collect()
}

/// Returns whether an id is not part of an expression, and whether a label is alone on its line.
fn is_explicit(text: &[u8], found: &Captures<'_>) -> bool {
    let Some(whole) = found.get(0) else { return false };
    let before = text.get(..whole.start()).unwrap_or_default();
    let after = text.get(whole.end()..).unwrap_or_default();
    if found.name("id").is_some() {
        return !before.ends_with(b"{") && !after.starts_with(b"}");
    }
    let rest = after.split(|byte| matches!(byte, b'\n' | b'\r')).next().unwrap_or_default();
    rest.trim_ascii().is_empty()
}

/// Returns the visible text of the inside of an HTML element.
fn text_of_html(html: &str) -> String {
    let mut text = String::with_capacity(html.len());
    for part in html.split('<') {
        text.push_str(part.split_once('>').map_or(part, |(_, after)| after));
    }
    let text = unescape_all(&text);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the node of the section that a reader sees at `offset`.
fn node_at(file: &[u8], outline: &Outline, offset: usize, is_in_tag: bool) -> usize {
    let start_of = |node: usize| outline.nodes.get(node).map_or(0, |node| node.bytes.start);
    let next = outline.sections.partition_point(|section| start_of(section.node) <= offset);
    let following = outline.sections.get(next).map(|section| section.node).filter(|&node| {
        let start = start_of(node);
        start - offset <= NEAR_BYTES
            && file.get(offset..start).is_some_and(|between| only_tags(between, is_in_tag))
    });
    let containing = next.checked_sub(1).and_then(|index| outline.sections.get(index));
    following.or(containing.map(|section| section.node)).unwrap_or(0)
}

/// Returns whether `text` contains only tags and whitespace. It may begin inside a tag.
fn only_tags(text: &[u8], mut is_tag: bool) -> bool {
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
    use crate::processor_time::within;

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
    fn a_label_is_an_anchor_on_any_line() {
        for text in [
            "(one)=\n# First\n",
            "\u{feff}(one)=\n# First\n",
            "---\na: 1\n---\n(one)=\n# First\n",
            "x\r\r(one)=\r# First\r",
            "x\r\n\r\n(one)= \r\n# First\r\n",
            "```\ncode\n```\n(one)=\n# First\n",
        ] {
            let document = crate::markdown::parse(text.as_bytes());
            let node = document.outline.sections[0].node;
            let expected = [super::HtmlAnchor { name: "one".to_owned(), node }];
            assert_eq!(document.html_anchors, expected, "{text:?}");
        }
        for text in ["x (one)=\n", "(one)= x\n", "x\r(one)= x\ry\r"] {
            assert_eq!(crate::markdown::parse(text.as_bytes()).html_anchors, [], "{text:?}");
        }
    }

    #[test]
    fn only_anchors_beyond_the_limit_are_reported() {
        let of = |count: usize| {
            // Anchors in code are none.
            let text = format!("```\n<a id=x>\n```\n\n{}\n", "<a id=x>".repeat(count));
            let document = crate::markdown::parse(text.as_bytes());
            let codes: Vec<_> = document.diagnostics.iter().map(|it| it.code).collect();
            (document.html_anchors.len(), codes.contains(&"TOO_MANY_ANCHORS"))
        };
        let most = crate::limits::MAX_HTML_ANCHORS;
        assert_eq!([of(most), of(most + 1)], [(most, false), (most, true)]);
    }

    #[test]
    fn headings_in_html_and_explicit_ids_are_anchors() {
        let text = "# One\n\n<h2 align=\"center\">Our <b>Sponsors</b> &amp; more</h2>\n\n(the-label)=\n## Two\n{: #two-id .x}\n\n\
            ::: {.note #div-id}\ntext [span]{#span-id} ![](x.png){ #figure }\n:::\n\n{{#each}} {a: '#no'} x (no)= y\n\n\
            ```{#code-id}\n(no)=\n```\n\n[^1]: note\n\n    ~~~\n    <a id=no> {#no}\n    ~~~\n\n{#last}\n\n## Three\n";
        let document = crate::markdown::parse(text.as_bytes());
        let nodes: Vec<_> = document.outline.sections.iter().map(|section| section.node).collect();
        let found: Vec<_> =
            document.html_anchors.iter().map(|a| (a.name.as_str(), a.node)).collect();
        let [one, two, three] = nodes[..] else { panic!("{nodes:?}") };
        assert_eq!(
            found,
            [
                ("our-sponsors--more", one),
                ("the-label", two),
                ("two-id", two),
                ("div-id", two),
                ("span-id", two),
                ("figure", two),
                ("last", three),
            ]
        );
    }

    #[test]
    fn many_anchors_take_linear_time() {
        for part in [
            "<h1>",
            "<h1>x</h1>",
            "{#",
            "{ #a ",
            "{#a}\n",
            "(a",
            "(a)=\n",
            "<a ",
            "<a id=x ",
            "<a id=",
            "<a id=x>",
            "<a\n",
            "<b a=\"",
            "# <a name=x>\n",
        ] {
            let text = part.repeat(1_000_000 / part.len());
            within(5, part, || crate::markdown::parse(text.as_bytes()));
        }
    }
}
