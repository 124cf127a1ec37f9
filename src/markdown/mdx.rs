//! The syntax of MDX: imports and exports, JSX, and expressions in braces.
//!
//! Invariant: none of it is parsed as Markdown, and all that is between tags is. An import or export ends at the first
//! blank line at which every brace, template and comment is closed. Any other block of MDX ends with the line at which
//! everything is closed, and goes on with the next line if that is MDX alone. If something is never closed, a block
//! ends at the first blank line.

use markdown_it::Node;
use markdown_it::parser::block::{BlockRule, BlockState};
use markdown_it::parser::extset::RootExt;
use markdown_it::plugins::html::html_block::HtmlBlock;

use super::code_spans::{CodeSpans, run_length};
use crate::limits;

/// The line, 0-based, of the first block that is never closed. From then on, blocks end at the first blank
/// line.
#[derive(Debug, Default)]
pub(super) struct Unclosed(pub(super) Option<usize>);
impl RootExt for Unclosed {}

/// The block rule for MDX. Each match becomes an HTML block.
pub(super) struct MdxBlock;

impl BlockRule for MdxBlock {
    /// A comment interrupts a paragraph, and so do tags and expressions. The lines below are read to find the end of a tag
    /// only until one has none, so each line is read a bounded number of times.
    fn check(state: &mut BlockState) -> Option<()> {
        let indent = state.line_indent(state.line);
        let line = state.get_line(state.line);
        if indent >= state.md.max_indent {
            return None;
        }
        if line.starts_with("{/*") {
            return Some(());
        }
        let scan = MdxScanner::of(line)?;
        if scan.open.is_empty() {
            return Some(());
        }
        let is_bounded = state.root_ext.get_or_insert_default::<Unclosed>().0.is_some();
        // The lines below one outside of the container are outside of it, too.
        if is_bounded || indent < 0 {
            return None;
        }
        let end = closing_line(state, state.line, scan, is_bounded);
        if end.is_none() {
            state.root_ext.get_or_insert_default::<Unclosed>().0.get_or_insert(state.line);
        }
        end.map(|_| ())
    }

    fn run(state: &mut BlockState) -> Option<(Node, usize)> {
        let indent = state.line_indent(state.line);
        let line = state.get_line(state.line);
        if !(0..state.md.max_indent).contains(&indent) {
            return None;
        }
        let is_module = indent == 0
            && state.level == 0
            && (line.starts_with("import ") || line.starts_with("export "));
        let scan = if is_module { MdxScanner::of_module(line) } else { MdxScanner::of(line)? };
        let is_bounded = state.root_ext.get_or_insert_default::<Unclosed>().0.is_some();
        let end = closing_line(state, state.line, scan, is_bounded);
        if end.is_none() {
            state.root_ext.get_or_insert_default::<Unclosed>().0.get_or_insert(state.line);
        }
        let is_inside = |line: usize| {
            line < state.line_max && !state.is_empty(line) && state.line_indent(line) >= 0
        };
        let mut end = end.unwrap_or_else(|| {
            (state.line..state.line_max).find(|line| !is_inside(*line)).unwrap_or(state.line_max)
        });
        while !is_module && is_inside(end) && state.line_indent(end) < state.md.max_indent {
            let scan = MdxScanner::of(state.get_line(end));
            let Some(next) = scan.and_then(|scan| closing_line(state, end, scan, is_bounded))
            else {
                break;
            };
            end = next;
        }
        Some((Node::new(HtmlBlock { content: String::new() }), end - state.line))
    }
}

/// Returns the line after the block that begins with `first`, which `scan` has read, or `None` if it is never closed;
/// with `is_bounded`, if it is not closed before a blank line.
fn closing_line(
    state: &BlockState,
    first: usize,
    mut scan: MdxScanner,
    is_bounded: bool,
) -> Option<usize> {
    let mut line = first + 1;
    loop {
        let is_blank = line >= state.line_max || state.is_empty(line);
        let is_outside = !is_blank && state.line_indent(line) < 0;
        if scan.open.is_empty() && (!scan.is_code || is_blank || is_outside) {
            return Some(line);
        }
        if line >= state.line_max || is_outside || (is_blank && is_bounded) {
            return None;
        }
        scan.line(state.get_line(line));
        line += 1;
    }
}

/// Returns whether a line begins with a JSX tag, and not with an autolink.
fn is_tag(line: &str) -> bool {
    let Some(rest) = line.strip_prefix('<') else { return false };
    let rest = rest.strip_prefix('/').unwrap_or(rest);
    let is_name_part = |scalar: char| scalar.is_alphanumeric() || "_$-.:".contains(scalar);
    let name = rest.len() - rest.trim_start_matches(is_name_part).len();
    let (name, rest) = rest.split_at(name);
    let is_name = name.is_empty()
        || name.starts_with(|first: char| first.is_alphabetic() || "_$".contains(first));
    let is_apart = rest.is_empty() || rest.starts_with(['>', '/', '{', ' ', '\t']);
    is_name && is_apart && !name.ends_with(':') && (!name.is_empty() || rest.starts_with('>'))
}

/// A construct that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OpenConstruct {
    /// A tag, up to its `>`.
    Tag,
    /// An attribute value, up to this quote.
    Quote(char),
    /// Braces, brackets or parentheses of code.
    Braces,
    /// A template literal.
    Template,
    /// A comment in code.
    Comment,
}

/// The state of scanning MDX line by line.
#[derive(Debug, Default)]
struct MdxScanner {
    /// Whether text at the top level is code, and not text between tags.
    is_code: bool,
    /// The open constructs, innermost last.
    open: Vec<OpenConstruct>,
    /// Whether there is text at the top level.
    has_text: bool,
    /// The quotes that begin no string on the current line, because none of them that follow ends it.
    unclosed: Vec<char>,
}

impl MdxScanner {
    /// Scans the first line of a block of tags and expressions. Returns `None` if it is none: in a paragraph, a tag may
    /// be followed by text.
    fn of(line: &str) -> Option<Self> {
        if !line.starts_with('{') && !is_tag(line) {
            return None;
        }
        let mut scan = Self::default();
        scan.line(line);
        (!scan.has_text).then_some(scan)
    }

    /// Scans the first line of an import or export.
    fn of_module(line: &str) -> Self {
        let mut scan = Self { is_code: true, ..Self::default() };
        scan.line(line);
        scan
    }

    fn push(&mut self, open: OpenConstruct) {
        if self.open.len() < limits::MAX_MDX_NESTING {
            self.open.push(open);
        }
    }

    fn line(&mut self, line: &str) {
        self.unclosed.clear();
        let mut code_spans = None;
        let mut rest = line;
        while let Some(first) = rest.chars().next() {
            let mut length = first.len_utf8();
            let following = rest.get(length..).unwrap_or_default();
            match self.open.last() {
                Some(OpenConstruct::Quote(quote)) if first == *quote => drop(self.open.pop()),
                Some(OpenConstruct::Quote(_)) => {}
                Some(OpenConstruct::Comment) => {
                    if rest.starts_with("*/") {
                        self.open.pop();
                        length = 2;
                    }
                }
                Some(OpenConstruct::Template) => match first {
                    '`' => drop(self.open.pop()),
                    '\\' => length += following.chars().next().map_or(0, char::len_utf8),
                    '$' if following.starts_with('{') => {
                        self.push(OpenConstruct::Braces);
                        length = 2;
                    }
                    _ => {}
                },
                Some(OpenConstruct::Tag) => match first {
                    '>' => drop(self.open.pop()),
                    '{' => self.push(OpenConstruct::Braces),
                    '"' | '\'' => self.push(OpenConstruct::Quote(first)),
                    _ => {}
                },
                Some(OpenConstruct::Braces) => match self.code(first, rest) {
                    Some(taken) => length = taken,
                    None => return,
                },
                None if self.is_code => match self.code(first, rest) {
                    Some(taken) => length = taken,
                    None => return,
                },
                None => match first {
                    '{' => self.push(OpenConstruct::Braces),
                    '<' if is_tag(rest) => self.push(OpenConstruct::Tag),
                    '`' => {
                        self.has_text = true;
                        let spans = code_spans.get_or_insert_with(|| CodeSpans::of(line));
                        let span = spans.length_at(line.len() - rest.len(), rest);
                        length = span.unwrap_or_else(|| run_length(rest));
                    }
                    // A backslash escapes a mark, such as a brace.
                    '\\' => {
                        self.has_text = true;
                        length += following.chars().next().map_or(0, char::len_utf8);
                    }
                    _ => self.has_text |= !first.is_whitespace(),
                },
            }
            rest = rest.get(length..).unwrap_or_default();
        }
    }

    /// Reads one token of code at the start of `rest`, whose first scalar is `first`. Returns its
    /// length in bytes, or `None` for a comment to the end of the line.
    fn code(&mut self, first: char, rest: &str) -> Option<usize> {
        match first {
            '{' | '(' | '[' => self.push(OpenConstruct::Braces),
            '}' | ')' | ']' => drop(self.open.pop()),
            '`' => self.push(OpenConstruct::Template),
            '"' | '\'' if !self.unclosed.contains(&first) => match string(rest, first) {
                Some(length) => return Some(length),
                // Each quote after it has a backslash before it, and so has each after one of those.
                None => self.unclosed.push(first),
            },
            '/' if rest.starts_with("//") => return None,
            '/' if rest.starts_with("/*") => {
                self.push(OpenConstruct::Comment);
                return Some(2);
            }
            _ => {}
        }
        Some(first.len_utf8())
    }
}

/// Returns the length in bytes of the string at the start of `text`; `None` if its quote is not closed on its line.
fn string(text: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    for (at, scalar) in text.char_indices().skip(1) {
        match scalar {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if scalar == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::markdown::outline::NodeKind;
    use crate::markdown::{Dialect, parse_as};
    use crate::processor_time::within;

    /// Returns the titles, and the types of the blocks.
    fn read(text: &str) -> (Vec<String>, Vec<&'static str>) {
        let outline = parse_as(text.as_bytes(), Dialect::Mdx).outline;
        let titles = outline.sections.iter().map(|section| section.title.clone()).collect();
        let types = outline.nodes.iter().filter_map(|node| match node.kind {
            NodeKind::Block(block_type) => Some(block_type.name()),
            _ => None,
        });
        (titles, types.collect())
    }

    #[test]
    fn mdx_blocks_contain_no_headings() {
        for text in [
            "import A from 'a'\nimport B from \"b\"",
            "export const meta = {\n\n# no\n\n}",
            "export const text = `\n\n# no\n\n- no ${call({\n\n# no\n\n})}\n`",
            "export function A() {\n  // it's }\n\n  /* } \n\n# no\n */\n  return <p>{'}'}</p>\n}",
            "{/* # no */}",
            "{/*\n\n# no\n\n## no\n*/}",
            "<Code text={`\n\n# no\n\n`} />",
            "<Note\n  title=\"a\n\n# no\n\"\n>",
            "<Tabs>\n<Tab a={[\n# no\n]}>\n</Tab></Tabs>\n{/* # no */}",
            "<>\n{`\n\n# no\n`}\n</>",
            "<A.B x='>'>{/*\n\n# no\n*/}</A.B>",
        ] {
            let (titles, types) = read(&format!("# One\n\n{text}\n\n## Two\n\nend\n"));
            assert_eq!(titles, ["One", "Two"], "{text}");
            assert_eq!(types, ["html", "paragraph"], "{text}");
        }
    }

    #[test]
    fn markdown_between_tags_is_parsed() {
        let text = "<Tabs>\n\n## In tabs\n\n`{` and {x} text\n\n</Tabs>\n\n<b>bold</b> text\n\n\
            <https://a.b>\n\n> {/*\n> # no\n> */}\n";
        let (titles, types) = read(text);
        assert_eq!(titles, ["In tabs"]);
        assert_eq!(
            types,
            ["html", "paragraph", "html", "paragraph", "paragraph", "blockquote", "html"]
        );
    }

    #[test]
    fn tags_end_with_their_line() {
        for (text, types) in [
            ("<Tabs>\n<Tab>\n```bash\nnpm i\n\nnpm run\n```\n</Tab>\n</Tabs>", "html code html"),
            ("<Tab\n  a='b'\n>\ntext\n</Tab>\ntext", "html paragraph html paragraph"),
            ("<A>\n| a |\n|---|\n| 1 |\n</A>\n", "html table html"),
            ("<A>\n- [ ] task\n</A>", "html list paragraph html"),
            ("<A>\n> quote\n</A>", "html blockquote paragraph html"),
            ("{x}<A/>{y}\n{z} text\n{x}", "html paragraph html"),
            ("<p>text</p>\n<p>\ntext</p>\n<!-- a\n\nb -->", "paragraph html paragraph html"),
            ("<summary>a</summary>\n```\nb\n```", "paragraph code"),
            ("<pre>a\n\nb</pre>", "paragraph paragraph"),
            ("<T>\ntext\n<C code={`\n# no\n\nx\n`} />\n</T>\n", "html paragraph html"),
            ("text\n{[\n1\n]}\nmore", "paragraph html paragraph"),
            ("text\n{ open\nmore\n\nmore\n{ 1\n}", "paragraph paragraph"),
            ("- a\n<B c={\n1}/>\n", "list paragraph"),
            ("<a\n  href='x'>text</a>\n- b", "html list paragraph"),
        ] {
            assert_eq!(read(text).1.join(" "), types, "{text}");
        }
        for tags in ["<Steps>", "<A/>", "<B></B>", "</C>", "{/* a */}", "<A\nb='c'/>", "<p>a</p>"] {
            assert_eq!(read(&format!("{tags}\n## Yes\n{tags}\n")).0, ["Yes"], "{tags}");
        }
    }

    #[test]
    fn an_unclosed_block_ends_at_a_blank_line() {
        let (titles, _) = read("{ open\n\n# One\n\n{/* # no\n\n# Two\n");
        assert_eq!(titles, ["One", "Two"]);
        let many = "<A b={\n\n".repeat(20_000);
        assert_eq!(read(&many).1.len(), 20_000);
    }

    #[test]
    fn escaped_marks_and_marks_in_code_spans_are_text() {
        for text in ["<b>a</b> \\{ b", "<b>a</b> `a``{`", "<b>a</b> ``a`{``", "<b>a</b> \\<c d"] {
            // An unclosed block would end the next one at its first blank line.
            let text = format!("{text}\n\n{{/*\n\n# no\n\n*/}}\n");
            assert_eq!(read(&text), (Vec::new(), vec!["paragraph", "html"]), "{text}");
        }
    }

    #[test]
    fn hostile_lines_take_linear_time() {
        let growing: String = (1..1000).map(|length| "`".repeat(length) + " ").collect();
        let shrinking: String = (1..1000).rev().map(|length| "`".repeat(length) + " ").collect();
        for lines in ["{\n", "<a\n", "<a>\n{\n\n", "a\n{b\n", "<a b={\n}\n", "- {\n", "{\n\n> <a\n"]
        {
            within(5, lines, || read(&lines.repeat(500_000 / lines.len())));
        }
        for part in ["\"\\", "'\\", "\"\\'\\", "`", "` `` ", "\\", "{", "<a ", &growing, &shrinking]
        {
            for start in ["{", "import ", "<b>a</b> "] {
                let text = [start, &part.repeat(1 + 500_000 / part.len())].concat();
                within(5, &format!("{start}{part:.9}"), || read(&text));
            }
        }
    }

    #[test]
    fn plain_markdown_has_no_mdx_blocks() {
        let outline = crate::markdown::parse(b"{/*\n\n# Yes\n\n*/}\n").outline;
        assert_eq!(outline.sections.len(), 1);
    }
}
