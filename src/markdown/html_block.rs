//! HTML blocks that end at a text of their own, and not at a blank line.
//!
//! The stock rule takes a blank line in a list item or a footnote for the end of the item, because it is indented less.
//! Invariant: such a block ends at its closing text or with its container (`CommonMark`, section 4.6).

use markdown_it::Node;
use markdown_it::parser::block::{BlockRule, BlockState};
use markdown_it::plugins::html::html_block::HtmlBlockScanner;

/// The names of the elements whose content is text up to the closing tag of one of them.
const RAW: [&str; 4] = ["script", "pre", "style", "textarea"];

/// The text that ends an HTML block.
#[derive(Clone, Copy, Debug)]
enum Closing {
    Text(&'static str),
    /// The closing tag of one of [`RAW`].
    RawTag,
}

impl Closing {
    /// Returns what closes the block that begins with `line`, or `None` if a blank line does.
    fn of(line: &str) -> Option<Self> {
        let rest = line.strip_prefix('<')?;
        if rest.starts_with("!--") {
            Some(Self::Text("-->"))
        } else if rest.starts_with('?') {
            Some(Self::Text("?>"))
        } else if rest.starts_with("![CDATA[") {
            Some(Self::Text("]]>"))
        } else if rest.starts_with('!') {
            Some(Self::Text(">"))
        } else {
            let is_end = |scalar: char| scalar.is_whitespace() || scalar == '>';
            let name = rest.split(is_end).next()?;
            RAW.iter().any(|raw| name.eq_ignore_ascii_case(raw)).then_some(Self::RawTag)
        }
    }

    fn is_in(self, line: &str) -> bool {
        match self {
            Self::Text(text) => line.contains(text),
            Self::RawTag => {
                let line = line.to_ascii_lowercase();
                let mut tags = line.split("</").skip(1);
                tags.any(|tag| {
                    RAW.iter()
                        .any(|raw| tag.strip_prefix(raw).is_some_and(|rest| rest.starts_with('>')))
                })
            }
        }
    }
}

/// The block rule for HTML.
pub(super) struct HtmlRule;

impl BlockRule for HtmlRule {
    fn check(state: &mut BlockState) -> Option<()> {
        HtmlBlockScanner::check(state)
    }

    fn run(state: &mut BlockState) -> Option<(Node, usize)> {
        let (node, lines) = HtmlBlockScanner::run(state)?;
        let mut end = state.line + lines;
        let closing = Closing::of(state.get_line(state.line));
        let closing = closing.filter(|closing| !closing.is_in(state.get_line(end - 1)));
        if let Some(closing) = closing {
            let is_inside = |line| state.is_empty(line) || state.line_indent(line) >= 0;
            while end < state.line_max && is_inside(end) {
                end += 1;
                if closing.is_in(state.get_line(end - 1)) {
                    break;
                }
            }
            // Blank lines at the end of an item belong to no block.
            while state.blk_indent > 0 && state.is_empty(end - 1) {
                end -= 1;
            }
        }
        Some((node, end - state.line))
    }
}

/// The block rule for HTML in MDX, in which tags are JSX: comments, instructions, declarations and CDATA sections.
pub(super) struct HtmlWithoutTags;

impl BlockRule for HtmlWithoutTags {
    fn check(state: &mut BlockState) -> Option<()> {
        let closing = Closing::of(state.get_line(state.line));
        if matches!(closing, Some(Closing::Text(_))) { HtmlRule::check(state) } else { None }
    }

    fn run(state: &mut BlockState) -> Option<(Node, usize)> {
        let closing = Closing::of(state.get_line(state.line));
        if matches!(closing, Some(Closing::Text(_))) { HtmlRule::run(state) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use crate::markdown::outline::{BlockType, NodeKind};
    use crate::markdown::parse;
    use crate::processor_time::within;

    /// Returns the text of each HTML block.
    fn html(text: &str) -> Vec<&str> {
        let nodes = parse(text.as_bytes()).outline.nodes;
        let blocks = nodes.iter().filter(|node| node.kind == NodeKind::Block(BlockType::Html));
        blocks.map(|node| &text[node.bytes.start..node.bytes.end]).collect()
    }

    #[test]
    fn a_blank_line_does_not_end_html_that_is_closed_by_a_text() {
        for (opening, closing) in [
            ("<!-- a", "b -->"),
            ("<PRE class='a'>", "</pre>"),
            ("<script>", "x</SCRIPT>"),
            ("<style", "</style>"),
            ("<textarea>", "</style> text"),
            ("<?php", "?>"),
            ("<![CDATA[", "]]>"),
            ("<!DOCTYPE", "html>"),
        ] {
            let block = format!("{opening}\n\n# no\n\n- [ ] [no](no.md)\n\n{closing}\n");
            let indented = block.replace('\n', "\n  ").replace("  \n", "\n");
            let text = format!("- item\n\n  {}\n  [yes](yes.md)\n\n# Yes\n", indented.trim_end());
            let document = parse(text.as_bytes());
            assert_eq!(html(&text).len(), 1, "{text}");
            assert!(html(&text)[0].trim_end().ends_with(closing), "{text}");
            assert_eq!(document.links.list.len(), 1, "{text}");
            assert!(document.contents.tasks.is_empty(), "{text}");
            let quoted = format!("> {}\n", text.trim_end().replace('\n', "\n> "));
            assert_eq!(html(&quoted).len(), 1, "{quoted}");
        }
    }

    #[test]
    fn html_in_an_item_ends_with_its_text_or_the_item() {
        assert_eq!(html("- <!-- a -->\n\n  b -->\n"), ["<!-- a -->\n"]);
        assert_eq!(html("- a\n\n  <!--\n\n  b\n\n\n- c -->\n"), ["  <!--\n\n  b\n"]);
        assert_eq!(html("- <!--\n\n  b\nc -->\n"), ["<!--\n\n  b\n"]);
        assert_eq!(html("- <!--\n\n\n- <!--\n"), ["<!--\n", "<!--\n"]);
        assert_eq!(html("[^1]: <!--\n\n    a\n\nb -->\n").len(), 0, "a footnote is one block");
        assert_eq!(html("- <div>\n\n  text\n\n  </div>\n").len(), 2);
        assert_eq!(html("- <prefix>\n\n  text\n"), ["<prefix>\n"]);
        assert_eq!(html("- <pre-x>\n\n  text\n"), ["<pre-x>\n"]);
    }

    #[test]
    fn html_that_is_never_closed_takes_linear_time() {
        for part in ["- <!--\n\n", "- <pre>\n\n  </pre\n", "> - <?\n>\n"] {
            let text = part.repeat(300_000 / part.len());
            within(10, part, || parse(text.as_bytes()));
        }
    }
}
