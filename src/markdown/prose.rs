//! Detects paragraphs without visible text, which contain only anchors, comments, badges or markup of site generators.
//!
//! Invariant: time is linear in the length of the paragraph.

use std::borrow::Cow;

/// Returns whether the paragraph `text` shows a letter or a digit outside of images, tags and
/// comments.
pub fn shows_text(text: &str) -> bool {
    if text.split(['\n', '\r']).all(|line| is_of_generator(line.trim())) {
        return false;
    }
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let hidden = match first {
            '!' if rest.starts_with("![") => image(rest),
            '<' if rest.starts_with("<!--") => end_of(rest, "-->"),
            // A comment of MDX, which generators of sites also take in files that are called .md.
            '{' if rest.starts_with("{/*") => end_of(rest, "*/}"),
            '<' if is_tag(rest) => end_of(rest, ">"),
            // A link shows the text in its brackets, but not its destination.
            ']' => destination(rest),
            '\\' => Some(1 + rest.chars().nth(1).map_or(0, char::len_utf8)),
            _ if first.is_alphanumeric() => return true,
            _ => Some(first.len_utf8()),
        };
        // Markup that is never closed is visible text.
        let Some(hidden) = hidden else { return true };
        rest = rest.get(hidden..).unwrap_or_default();
    }
    false
}

/// Returns whether `line` is markup of a site generator and shows no text itself: the beginning or the end of a container
/// (`:::tip`, `!!! note`, `=== "Tab"`), a place for a table of contents, a tag of a template, attributes of the block before
/// it, or a label of the block after it.
fn is_of_generator(line: &str) -> bool {
    let starts = [":::", "!!! ", "??? ", "???+ ", "=== \"", "--8<--"];
    let pairs = [("{%", "%}"), ("{{", "}}"), ("{:", "}"), ("[[_", "_]]"), ("(", ")=")];
    let is_within = |(start, end): &(&str, &str)| {
        line.starts_with(start)
            && line.find(end).is_some_and(|at| at + end.len() == line.len() && at >= start.len())
    };
    line.is_empty()
        || starts.iter().any(|start| line.starts_with(start))
        || ["[toc]", "[[toc]]"].iter().any(|toc| line.eq_ignore_ascii_case(toc))
        || pairs.iter().any(is_within)
}

/// Returns the length of `text` up to the end of the first `end`, in bytes.
fn end_of(text: &str, end: &str) -> Option<usize> {
    text.find(end).map(|at| at + end.len())
}

/// Returns the source text of a heading without the destinations and the labels of its links.
pub(super) fn without_destinations(text: &str) -> Cow<'_, str> {
    if !text.contains("](") && !text.contains("][") {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.find(']').and_then(|at| rest.split_at_checked(at)) {
        shown.push_str(before);
        shown.push(']');
        rest = destination(after).and_then(|hidden| after.get(hidden..)).unwrap_or(&after[1..]);
    }
    shown.push_str(rest);
    Cow::Owned(shown)
}

/// Returns the length in bytes of the image at the start of `text`.
fn image(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let end = text.char_indices().skip(1).find(|(_, scalar)| {
        depth = match scalar {
            '[' => depth + 1,
            ']' => depth.saturating_sub(1),
            _ => depth,
        };
        depth == 0
    });
    let (end, _) = end?;
    Some(end + destination(text.get(end..)?)?)
}

/// Returns the length in bytes of the closing bracket at the start of `text` and of the destination
/// or label after it.
fn destination(text: &str) -> Option<usize> {
    let close = match text.as_bytes().get(1) {
        Some(b'(') => ")",
        Some(b'[') => "]",
        _ => return Some(1),
    };
    Some(end_of(text.get(2..)?, close)? + 2)
}

/// Returns whether `text` begins with a tag. An autolink is not a tag.
fn is_tag(text: &str) -> bool {
    let name = text.strip_prefix("</").or_else(|| text.strip_prefix('<')).unwrap_or_default();
    let rest =
        name.trim_start_matches(|scalar: char| scalar.is_ascii_alphanumeric() || scalar == '-');
    rest.len() < name.len() && rest.starts_with(['>', '/', ' ', '\t', '\n', '\r'])
}

#[cfg(test)]
mod tests {
    use super::shows_text;

    #[test]
    fn anchors_comments_and_badges_show_no_text() {
        for text in [
            "",
            "<a id=\"x\"></a>",
            "<a name=\"x\">\n</a>",
            "<!-- a comment -->",
            "{/* a comment */}",
            "![logo](a.png \"title\")",
            "[![CI](https://ci/x.svg)](https://ci)\n[![docs][badge]][docs] ![x][y]",
            "[](x.md) []",
            "<img src=\"a.png\" alt=\"text\">",
            "<br/> --- * _",
            ":::tip Title",
            "!!! note \"Title\"",
            "=== \"Tab\"",
            "[TOC]",
            "[[_TOC_]]",
            "{% include note.html %}",
            "{{< toc >}}",
            "{: .no_toc }",
            "(label)=",
            "--8<-- \"x.md\"",
            ":::::: {.column-page}\n::::: {.grid}",
            ":::tip\r:::",
        ] {
            assert!(!shows_text(text), "{text}");
        }
        for text in [
            "text",
            "[text](x.md)",
            "[text][ref]",
            "<b>bold</b>",
            "<https://example.org>",
            "![logo](a.png) and text",
            "中文",
            "a < b",
            "!important",
            "![](",
            "<!-- ",
            "\\[x\\]",
            ":::tip\ntext",
            ":::tip\rtext",
            "{{ name }} is shown",
            "(a) = (b)",
        ] {
            assert!(shows_text(text), "{text}");
        }
        let hostile = "![".repeat(100_000);
        assert!(shows_text(&hostile));
    }
}
