//! Titles: the visible text of a heading, and that of a table cell.
//!
//! Owns the inline parser for both. Emphasis, code, links and inline HTML lose their markup,
//! entities and escapes are decoded, an image becomes its alternative text, and line ends become
//! spaces. Invariant: the work for one title is bounded by [`limits::MAX_TITLE_BYTES`] and
//! [`limits::MAX_TITLE_BRACKETS`], and that for one cell by [`limits::MAX_CELL_BYTES`],
//! [`limits::MAX_CELL_MARKS`] and the brackets.

use std::sync::OnceLock;

use markdown_it::generics::inline::emph_pair::EmphMarker;
use markdown_it::parser::extset::{InlineRootExtSet, RootExtSet};
use markdown_it::parser::inline::{Text, TextSpecial};
use markdown_it::plugins::cmark::inline::{
    autolink, emphasis, entity, escape, image, link, newline,
};
use markdown_it::plugins::extra::strikethrough;
use markdown_it::plugins::html::html_inline::HtmlInline;
use markdown_it::{MarkdownIt, Node};

use super::link_rules::{CodeSpan, Html};
use crate::limits;

fn inline_parser() -> &'static MarkdownIt {
    static PARSER: OnceLock<MarkdownIt> = OnceLock::new();
    PARSER.get_or_init(make_inline_parser)
}

fn make_inline_parser() -> MarkdownIt {
    let mut parser = MarkdownIt::new();
    newline::add(&mut parser);
    escape::add(&mut parser);
    parser.inline.add_rule::<CodeSpan>();
    emphasis::add(&mut parser);
    link::add(&mut parser);
    image::add(&mut parser);
    autolink::add(&mut parser);
    entity::add(&mut parser);
    strikethrough::add(&mut parser);
    parser.inline.add_rule::<Html>();
    parser
}

/// Renders the titles of one document. Contains its link reference definitions.
pub(super) struct TitleParser {
    extensions: RootExtSet,
    was_cut: bool,
    cell_was_cut: bool,
}

impl TitleParser {
    /// Creates a parser that resolves reference links with the definitions in `extensions`.
    pub(super) fn new(extensions: RootExtSet) -> Self {
        Self { extensions, was_cut: false, cell_was_cut: false }
    }

    /// Returns the definitions.
    pub(super) fn into_extensions(self) -> RootExtSet {
        self.extensions
    }

    /// Returns whether any title exceeded the cap.
    pub(super) fn was_cut(&self) -> bool {
        self.was_cut
    }

    /// Returns whether any table cell exceeded the cap.
    pub(super) fn cell_was_cut(&self) -> bool {
        self.cell_was_cut
    }

    /// Returns the rendered text of a heading with the source text `raw`.
    pub(super) fn render(&mut self, raw: &str) -> String {
        let raw = self.cut(raw.trim());
        self.render_with(raw, plain_text)
    }

    /// Returns the rendered text of a table cell. A tag of HTML that begins a line becomes a space.
    pub(super) fn render_text(&mut self, raw: &str) -> String {
        let end = raw.floor_char_boundary(limits::MAX_CELL_BYTES);
        self.cell_was_cut |= end < raw.len();
        let raw = raw.get(..end).unwrap_or(raw);
        if has_more_marks(raw, limits::MAX_CELL_MARKS) {
            return raw.to_owned();
        }
        self.render_with(raw, plain_text_of_cell)
    }

    fn render_with(&mut self, raw: &str, text_of: fn(&Node) -> String) -> String {
        let is_plain = !raw.bytes().any(|byte| {
            matches!(byte, b'\\' | b'`' | b'*' | b'_' | b'[' | b'<' | b'&' | b'~' | b'\n')
        });
        if is_plain {
            return raw.to_owned();
        }
        if raw.bytes().filter(|&byte| byte == b'[').count() > limits::MAX_TITLE_BRACKETS {
            return raw.split_whitespace().collect::<Vec<_>>().join(" ");
        }
        let parser = inline_parser();
        let node = parser.inline.parse(
            raw.to_owned(),
            vec![(0, 0)],
            Node::default(),
            parser,
            &mut self.extensions,
            &mut InlineRootExtSet::new(),
        );
        text_of(&node)
    }

    fn cut<'a>(&mut self, raw: &'a str) -> &'a str {
        if raw.len() <= limits::MAX_TITLE_BYTES {
            return raw;
        }
        self.was_cut = true;
        let end = raw.floor_char_boundary(limits::MAX_TITLE_BYTES);
        raw.get(..end).unwrap_or(raw)
    }
}

/// Returns whether `text` has more than `most` runs of marks of emphasis. The parser compares each run with all before
/// it. Underscores within words are no marks.
fn has_more_marks(text: &str, most: usize) -> bool {
    let bytes = text.as_bytes();
    let is_mark = |byte: u8| matches!(byte, b'*' | b'_' | b'~');
    let is_of_word =
        |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_alphanumeric);
    let begins_run = |&at: &usize| {
        let before = at.checked_sub(1);
        let byte = bytes.get(at).copied().filter(|byte| is_mark(*byte));
        let is_first = before.and_then(|before| bytes.get(before).copied()) != byte;
        let is_in_word = byte == Some(b'_') && is_of_word(before) && is_of_word(at.checked_add(1));
        byte.is_some() && is_first && !is_in_word
    };
    // Most cells are shorter than the least text with so many.
    bytes.len() > most && (0..bytes.len()).filter(begins_run).nth(most).is_some()
}

/// Returns the source text `raw` of a title on one line.
pub(super) fn written(raw: &str) -> String {
    let end = raw.floor_char_boundary(limits::MAX_TITLE_BYTES);
    let lines = raw.get(..end).unwrap_or(raw).trim().lines().map(str::trim);
    lines.collect::<Vec<_>>().join(" ").replace('\0', "\u{FFFD}")
}

/// Returns the visible text below an inline node, trimmed.
pub(super) fn plain_text(node: &Node) -> String {
    visible_text(node, is_break)
}

/// Returns the visible text of a table cell, trimmed.
fn plain_text_of_cell(node: &Node) -> String {
    visible_text(node, |node| {
        let html = node.cast::<HtmlInline>();
        is_break(node) || html.is_some_and(|html| begins_line(&html.content))
    })
}

/// The elements of HTML that are shown on lines of their own, in so far as they occur in cells.
const BLOCKS: [&str; 24] = [
    "blockquote",
    "br",
    "dd",
    "details",
    "div",
    "dl",
    "dt",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "li",
    "ol",
    "p",
    "pre",
    "summary",
    "table",
    "td",
    "th",
    "tr",
    "ul",
];

/// Returns whether a tag begins or ends one of [`BLOCKS`].
fn begins_line(tag: &str) -> bool {
    let name = tag.trim_start_matches(['<', '/']);
    let end = name.find(|scalar: char| !scalar.is_ascii_alphanumeric());
    let name = name.get(..end.unwrap_or(name.len())).unwrap_or_default();
    BLOCKS.iter().any(|block| name.eq_ignore_ascii_case(block))
}

fn visible_text(node: &Node, is_space: impl Fn(&Node) -> bool) -> String {
    let mut result = String::new();
    node.walk(|node, _| {
        if let Some(text) = node.cast::<Text>() {
            result.push_str(&text.content);
        } else if let Some(text) = node.cast::<TextSpecial>() {
            result.push_str(&text.content);
        } else if let Some(marker) = node.cast::<EmphMarker>() {
            // A delimiter run that matched no other run.
            result.extend(std::iter::repeat_n(marker.marker, marker.remaining));
        } else if is_space(node) && !result.ends_with(' ') {
            result.push(' ');
        }
    });
    result.trim().to_owned()
}

fn is_break(node: &Node) -> bool {
    node.is::<newline::Softbreak>() || node.is::<newline::Hardbreak>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::processor_time::within;

    fn title(raw: &str) -> String {
        TitleParser::new(RootExtSet::new()).render(raw)
    }

    #[test]
    fn markup_is_removed_and_entities_are_decoded() {
        assert_eq!(title("`code` and *emphasis* and **strong**"), "code and emphasis and strong");
        assert_eq!(title("[link](http://x/y_z \"t\") ![alt](i.png)"), "link alt");
        assert_eq!(title("A &amp; B &#x2014; \\*not\\*"), "A & B — *not*");
        assert_eq!(title("<a id=\"x\"></a>Foo <b>bar</b>"), "Foo bar");
        assert_eq!(title("~~old~~ <https://x.y>"), "old https://x.y");
        assert_eq!(title("two\nlines"), "two lines");
        assert_eq!(title("`a\\b` snake_case_name"), "a\\b snake_case_name");
        assert_eq!(title("`` ` `` `  ` ` a b ` `\\`"), "`    a b \\");
        assert_eq!(title("\\``a` ``b` c"), "`a ``b` c");
        assert_eq!(title("[`a`, `_b_`) `"), "[a, _b_) `");
    }

    #[test]
    fn html_that_begins_a_line_is_a_space_in_a_cell() {
        let cell = |raw: &str| TitleParser::new(RootExtSet::new()).render_text(raw);
        for (raw, text) in [
            ("a<br>b<BR/>c", "a b c"),
            ("<ul><li>a</li><li class='x'>b</li></ul>", "a b"),
            ("a<p>b</p>c<hr/>d", "a b c d"),
            ("<b>a</b>b<!--br-->c<brx>d<path>e", "abcde"),
        ] {
            assert_eq!(cell(raw), text, "{raw}");
        }
    }

    #[test]
    fn the_marks_of_a_cell_are_bounded() {
        let cell = |raw: &str| TitleParser::new(RootExtSet::new()).render_text(raw);
        let most = limits::MAX_CELL_MARKS;
        for (raw, is_parsed) in [
            ("**a** ".repeat(most / 2), true),
            ("**a** ".repeat(most / 2 + 1), false),
            (format!("**a** {}", "b_c ".repeat(most + 1)), true),
            (format!("**a** {}", "_c ".repeat(most)), false),
        ] {
            assert_eq!(cell(&raw).starts_with("a "), is_parsed, "{raw:.9}");
        }
        for part in ["**a* ", "*a** ", "__a_ ", "****a* ", "**_a* ", "~~a "] {
            let raw = part.repeat(limits::MAX_CELL_BYTES / part.len());
            within(5, part, || (0..20).for_each(|_| drop(cell(&raw))));
        }
    }

    #[test]
    fn hostile_titles_are_bounded() {
        for raw in ["[", "![", "[a](", "*a ", "`a``b", "<a ", "&", "_*", "**a* "] {
            let repeated = raw.repeat(100_000);
            let title = within(5, raw, || title(&repeated));
            assert!(title.len() <= limits::MAX_TITLE_BYTES);
        }
    }
}
