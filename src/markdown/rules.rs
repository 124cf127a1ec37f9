//! The block rules of markdown-it, with bounds and with little inline content.
//!
//! Stock rules are wrapped if they are quadratic or recurse deeply on hostile input. They are
//! replaced if they build nodes that are never used: table cells and paragraph text without links.
//! Invariants: every rule is linear in the lines that it takes times [`limits::MAX_NESTING`]; no
//! tree has more than about [`limits::MAX_NODES`] nodes or [`limits::MAX_NESTING`] nested
//! containers.

use markdown_it::parser::block::{BlockRule, BlockState};
use markdown_it::parser::inline::InlineRoot;
use markdown_it::parser::inline::builtin::InlineParserRule;
use markdown_it::plugins::cmark::block::heading::HeadingScanner;
use markdown_it::plugins::cmark::block::hr::HrScanner;
use markdown_it::plugins::cmark::block::list::{BulletList, ListScanner, OrderedList};
use markdown_it::plugins::cmark::block::reference::ReferenceScanner;
use markdown_it::plugins::cmark::block::{code, fence, hr};
use markdown_it::plugins::extra::tables::TableBody;
use markdown_it::{MarkdownIt, Node, NodeValue};

use super::Dialect;
use super::cells::{cells, cells_with_links};
use super::containers::{Bounds, begins_list, check_bounded, is_indented_as_code, run_bounded};
use super::footnote::FootnoteRule;
use super::html_block::{HtmlRule, HtmlWithoutTags};
use super::link_rules::AsWritten;
use super::mdx::MdxBlock;
use super::quote::QuoteRule;
use crate::limits;
use crate::position::ByteSpan;

/// A paragraph. Its only child is its text, if the text may contain a link.
#[derive(Debug)]
pub(super) struct ParagraphBlock;
impl NodeValue for ParagraphBlock {}

/// A setext heading. Its only child is its text.
#[derive(Debug)]
pub(super) struct SetextBlock {
    pub(super) level: u8,
}
impl NodeValue for SetextBlock {}

/// A table. Its children are the texts of the cells that may contain a link.
#[derive(Debug)]
pub(super) struct TableBlock {
    /// The offsets in the body of the text of each row, the header first, without the delimiter
    /// row.
    pub(super) rows: Vec<(usize, usize)>,
}
impl NodeValue for TableBlock {}

/// Returns a parser of blocks only. Headings contain their text; so do other blocks that may
/// contain a link.
pub(super) fn block_parser(dialect: Dialect) -> MarkdownIt {
    let mut parser = MarkdownIt::new();
    parser.link_formatter = Box::new(AsWritten);
    parser.remove_rule::<InlineParserRule>();
    if dialect == Dialect::Markdown {
        // Components are nested by indentation, so MDX has no indented code.
        code::add(&mut parser);
    }
    fence::add(&mut parser);
    parser.block.add_rule::<BoundedBlockquote>();
    hr::add(&mut parser);
    parser.block.add_rule::<BoundedList>().after::<HrScanner>();
    parser.block.add_rule::<MathRule>();
    parser.block.add_rule::<BoundedFootnote>();
    parser.block.add_rule::<BoundedDefinition>();
    parser.block.add_rule::<HeadingRule>();
    if dialect == Dialect::Mdx {
        parser.block.add_rule::<MdxBlock>();
        parser.block.add_rule::<HtmlWithoutTags>();
    } else {
        parser.block.add_rule::<HtmlRule>();
    }
    // A line that begins another block is not the header row of a table (GFM, section 4.10).
    parser.block.add_rule::<TableRule>().after::<BoundedList>().after::<HeadingRule>();
    parser.block.add_rule::<ParagraphOrSetext>().after_all();
    parser.block.add_rule::<AfterDefinition>().before_all();
    parser.block.add_rule::<NodeBound>().before_all();
    // At this level the tokenizer drops the rest of a container. The wrapped rules stop one level
    // earlier.
    parser.max_nesting = u32::try_from(limits::MAX_NESTING).unwrap_or(u32::MAX) + 1;
    parser
}

/// Counts nodes. If the cap is exceeded, takes the rest of the container as one paragraph.
struct NodeBound;

impl NodeBound {
    fn is_reached(state: &mut BlockState) -> bool {
        let bounds = state.root_ext.get_or_insert_default::<Bounds>();
        bounds.nodes += 1;
        let reached = bounds.nodes > limits::MAX_NODES;
        bounds.too_many_nodes |= reached;
        reached
    }
}

impl BlockRule for NodeBound {
    fn check(state: &mut BlockState) -> Option<()> {
        // Only a list calls this with itself as the current node, once for each item.
        if !(state.node.is::<BulletList>() || state.node.is::<OrderedList>()) {
            return None;
        }
        if let Some(item) = state.node.children.last_mut() {
            item.children.shrink_to_fit();
        }
        Self::is_reached(state).then_some(())
    }

    fn run(state: &mut BlockState) -> Option<(Node, usize)> {
        if !Self::is_reached(state) {
            return None;
        }
        Some((Node::new(ParagraphBlock), state.line_max - state.line))
    }
}

struct BoundedBlockquote;

impl BlockRule for BoundedBlockquote {
    fn check(state: &mut BlockState) -> Option<()> {
        check_bounded::<QuoteRule>(state)
    }

    /// The rule keeps the offsets of every line that it takes, lazy continuations included, until
    /// it ends. So the copies are lines times depth.
    fn run(state: &mut BlockState) -> Option<(Node, usize)> {
        QuoteRule::check(state)?;
        // A quote takes at most the lines of the quote around it. How many lines the outermost quote
        // takes is not known yet. It is not counted, because only one outermost quote is open at once.
        let lines = state.line_max - state.line;
        let bounds = state.root_ext.get_or_insert_default::<Bounds>();
        let was_in_quote = std::mem::replace(&mut bounds.is_in_quote, true);
        let kept = bounds.kept_lines;
        if was_in_quote {
            if kept + lines > limits::MAX_QUOTED_LINES {
                bounds.too_many_lines = true;
                return None;
            }
            bounds.kept_lines += lines;
        }
        let result = run_bounded::<QuoteRule>(state);
        let bounds = state.root_ext.get_or_insert_default::<Bounds>();
        bounds.is_in_quote = was_in_quote;
        bounds.kept_lines = kept;
        result
    }
}

/// The stock rule, which counts a second node for the section of the heading and frees the room for
/// children, of which a heading has at most one. A vector starts with room for four nodes.
struct HeadingRule;

impl BlockRule for HeadingRule {
    fn check(state: &mut BlockState) -> Option<()> {
        HeadingScanner::check(state)
    }

    fn run(state: &mut BlockState) -> Option<(Node, usize)> {
        let (mut node, lines) = HeadingScanner::run(state)?;
        state.root_ext.get_or_insert_default::<Bounds>().nodes += 1;
        node.children.shrink_to_fit();
        Some((node, lines))
    }
}

struct BoundedList;

impl BlockRule for BoundedList {
    fn check(state: &mut BlockState) -> Option<()> {
        check_bounded::<ListScanner>(state)
    }

    fn run(state: &mut BlockState) -> Option<(Node, usize)> {
        run_bounded::<ListScanner>(state)
    }
}

struct BoundedFootnote;

impl BlockRule for BoundedFootnote {
    fn check(state: &mut BlockState) -> Option<()> {
        check_bounded::<FootnoteRule>(state)
    }

    fn run(state: &mut BlockState) -> Option<(Node, usize)> {
        run_bounded::<FootnoteRule>(state)
    }
}

/// Math between lines that begin and end with `$$`, without blank lines. It is a paragraph in which no line is markup: a
/// line with `=` would underline a heading.
struct MathRule;

impl MathRule {
    /// Returns the number of lines of the block that begins at the current line.
    fn lines(state: &BlockState) -> Option<usize> {
        let first = state.get_line(state.line).strip_prefix("$$")?;
        if first.contains("$$") || state.line_indent(state.line) >= state.md.max_indent {
            return None;
        }
        let end = state.line_max.min(state.line + limits::MAX_MATH_LINES);
        let mut lines = (state.line + 1..end)
            .take_while(|line| !state.is_empty(*line) && state.line_indent(*line) >= 0);
        let last = lines.find(|line| state.get_line(*line).trim_end().ends_with("$$"))?;
        Some(last + 1 - state.line)
    }
}

impl BlockRule for MathRule {
    fn check(state: &mut BlockState) -> Option<()> {
        Self::lines(state).map(drop)
    }

    fn run(state: &mut BlockState) -> Option<(Node, usize)> {
        Self::lines(state).map(|lines| (Node::new(ParagraphBlock), lines))
    }
}

/// Link reference definitions. Before each definition, the stock rule collects the whole paragraph,
/// which is quadratic for a run of definitions. This rule passes only as many lines as one
/// definition may have, and none from an underline on: it makes a heading of the lines before it.
struct BoundedDefinition;

impl BlockRule for BoundedDefinition {
    fn check(_: &mut BlockState) -> Option<()> {
        None
    }

    fn run(state: &mut BlockState) -> Option<(Node, usize)> {
        if !state.get_line(state.line).starts_with('[') {
            return None;
        }
        let line_max = state.line_max;
        let window = state.line_offsets.iter().take(line_max).skip(state.line);
        let start = state.line_offsets.get(state.line)?.line_start;
        let lines = window
            .take(limits::MAX_DEFINITION_LINES)
            .take_while(|line| line.line_end - start <= limits::MAX_DEFINITION_BYTES)
            .count();
        if lines == 0 {
            return None;
        }
        let is_underline = |line: &usize| {
            (0..state.md.max_indent).contains(&state.line_indent(*line))
                && ParagraphOrSetext::underline_level(state.get_line(*line)).is_some()
        };
        let paragraph = state.line + 1..state.line + lines;
        let mut paragraph = paragraph.take_while(|line| !state.is_empty(*line));
        state.line_max = paragraph.find(is_underline).unwrap_or(state.line + lines);
        let result = ReferenceScanner::run(state);
        state.line_max = line_max;
        let (node, lines) = result?;
        let after = (state.line + lines, state.level);
        state.root_ext.get_or_insert_default::<Bounds>().after_definition = Some(after);
        Self::keep_lazy_line(state, state.line + lines);
        Some((node, lines))
    }
}

impl BoundedDefinition {
    /// Makes `line`, which follows a definition, a line of the container if it is outside of it and continues the
    /// paragraph that began with the definition. Else the container would end before it.
    fn keep_lazy_line(state: &mut BlockState, line: usize) {
        if line >= state.line_max || state.is_empty(line) || state.line_indent(line) >= 0 {
            return;
        }
        let start = std::mem::replace(&mut state.line, line);
        let is_lazy = is_indented_as_code(state, line) || !state.test_rules_at_line();
        state.line = start;
        let indent = i32::try_from(state.blk_indent).unwrap_or(i32::MAX);
        if let Some(offsets) = state.line_offsets.get_mut(line).filter(|_| is_lazy) {
            offsets.indent_nonspace = indent;
        }
    }
}

/// The rest of a paragraph that begins with definitions. What cannot interrupt a paragraph begins no block there, such
/// as code and a list that does not begin with 1.
struct AfterDefinition;

impl BlockRule for AfterDefinition {
    fn check(_: &mut BlockState) -> Option<()> {
        None
    }

    fn run(state: &mut BlockState) -> Option<(Node, usize)> {
        let here = Some((state.line, state.level));
        // Another container of the same level begins with this line if it has no child yet.
        let is_begun = !state.node.children.is_empty();
        if !is_begun || state.root_ext.get::<Bounds>()?.after_definition != here {
            return None;
        }
        let is_code = state.line_indent(state.line) >= state.md.max_indent;
        let definition = if is_code { None } else { BoundedDefinition::run(state) };
        definition.or_else(|| {
            (is_code || !state.test_rules_at_line())
                .then(|| ParagraphOrSetext::run(state))
                .flatten()
        })
    }
}

/// Tables. The stock rule adds cells to short rows, which is quadratic, and takes a pipe after an escaped one as
/// escaped. This rule keeps the offsets of the lines, and builds only cells that may contain a link.
struct TableRule;

impl TableRule {
    /// Returns whether the current line is the header of a table, and the next one the delimiter row.
    fn is_header(state: &BlockState) -> bool {
        let next = state.line + 1;
        let is_indented_less = |line| (0..state.md.max_indent).contains(&state.line_indent(line));
        if next >= state.line_max
            || state.line_indent(state.line) >= state.md.max_indent
            || !is_indented_less(next)
        {
            return false;
        }
        let delimiters = state.get_line(next);
        // `- ` begins a list, and a line of hyphens alone is no row.
        if delimiters.starts_with("- ") || !delimiters.contains(['|', ':']) {
            return false;
        }
        let is_delimiter = |cell: &ByteSpan| {
            let cell = delimiters.get(cell.start..cell.end).unwrap_or_default();
            let cell = cell.strip_prefix(':').unwrap_or(cell);
            let cell = cell.strip_suffix(':').unwrap_or(cell);
            !cell.is_empty() && cell.bytes().all(|byte| byte == b'-')
        };
        if delimiters.contains(|scalar| !"|:- \t".contains(scalar)) {
            return false;
        }
        let columns = cells(delimiters);
        !columns.is_empty()
            && columns.iter().all(is_delimiter)
            && cells(state.get_line(state.line)).len() == columns.len()
    }
}

impl BlockRule for TableRule {
    fn check(state: &mut BlockState) -> Option<()> {
        // The next item of a list is not the header row of a table.
        let is_in_list = state.node.is::<BulletList>() || state.node.is::<OrderedList>();
        let is_here = !state.node.is::<TableBody>() && Self::is_header(state);
        (is_here && !(is_in_list && begins_list(state))).then_some(())
    }

    fn run(state: &mut BlockState) -> Option<(Node, usize)> {
        Self::check(state)?;
        let outer = std::mem::replace(&mut state.node, Node::new(TableBody));
        let start_line = state.line;
        let mut table = Node::new(TableBlock { rows: Vec::new() });
        add_row(&mut table, state);
        state.line += 2;
        while state.line < state.line_max {
            let indent = state.line_indent(state.line);
            if indent < 0 || indent >= state.md.max_indent || state.is_empty(state.line) {
                break;
            }
            // A pipe alone is a line without cells.
            let is_row = !cells(state.get_line(state.line)).is_empty();
            if !is_row || state.test_rules_at_line() || begins_list(state) {
                break;
            }
            // A tag alone on its line cannot interrupt a paragraph, but it ends a table.
            if HtmlRule::run(state).is_some() {
                break;
            }
            add_row(&mut table, state);
            state.line += 1;
        }
        state.node = outer;
        let lines = state.line - start_line;
        state.line = start_line;
        Some((table, lines))
    }
}

/// Adds the current line, and its cells that may contain a link.
fn add_row(table: &mut Node, state: &BlockState) {
    let line = state.get_line(state.line);
    let Some(offsets) = state.line_offsets.get(state.line) else { return };
    if let Some(block) = table.cast_mut::<TableBlock>() {
        block.rows.push((offsets.first_nonspace, offsets.line_end));
    }
    if memchr::memchr(b']', line.as_bytes()).is_some() {
        table
            .children
            .extend(cells_with_links(line, offsets.first_nonspace).into_iter().map(Node::new));
    }
}

/// Returns a node with the text of the lines from `start` to before `end`, without indentation.
fn text_of(state: &BlockState, start: usize, end: usize) -> Node {
    // With a larger indentation than any line has, the parser removes all of it and splits no tab.
    const ALL: usize = 1 << 30;
    let (text, mapping) = state.get_lines(start, end, ALL, false);
    Node::new(InlineRoot::new(text, mapping))
}

/// Returns whether the lines from `start` to before `end` contain a closing bracket.
fn may_contain_link(state: &BlockState, start: usize, end: usize) -> bool {
    let lines = state.line_offsets.get(start).zip(state.line_offsets.get(end - 1));
    let text = lines.and_then(|(first, last)| state.src.get(first.first_nonspace..last.line_end));
    text.is_some_and(|text| memchr::memchr(b']', text.as_bytes()).is_some())
}

/// Paragraphs and setext headings, in one pass over the lines (`CommonMark` sections 4.8 and 4.3).
struct ParagraphOrSetext;

impl ParagraphOrSetext {
    /// Returns the level of a setext underline, or `None` if the line is not an underline.
    fn underline_level(line: &str) -> Option<u8> {
        let marker = line.chars().next().filter(|marker| matches!(marker, '=' | '-'))?;
        let rest = line.trim_start_matches(marker).trim_matches([' ', '\t']);
        rest.is_empty().then_some(if marker == '=' { 1 } else { 2 })
    }
}

impl BlockRule for ParagraphOrSetext {
    fn check(_: &mut BlockState) -> Option<()> {
        None
    }

    fn run(state: &mut BlockState) -> Option<(Node, usize)> {
        let start_line = state.line;
        let mut line = start_line + 1;
        while line < state.line_max && !state.is_empty(line) {
            if !is_indented_as_code(state, line) {
                let is_inside = state.line_indent(line) >= 0;
                let level = is_inside.then(|| Self::underline_level(state.get_line(line)));
                if let Some(level) = level.flatten() {
                    state.root_ext.get_or_insert_default::<Bounds>().nodes += 1;
                    let mut node = Node::new(SetextBlock { level });
                    node.children = vec![text_of(state, start_line, line)];
                    return Some((node, line + 1 - start_line));
                }
                state.line = line;
                let is_terminated = state.test_rules_at_line();
                state.line = start_line;
                if is_terminated {
                    break;
                }
            }
            line += 1;
        }
        let mut node = Node::new(ParagraphBlock);
        if may_contain_link(state, start_line, line) {
            node.children = vec![text_of(state, start_line, line)];
        }
        Some((node, line - start_line))
    }
}

#[cfg(test)]
mod tests {
    use crate::markdown::outline::{BlockType, NodeKind};
    use crate::markdown::{Dialect, parse, parse_as};
    use crate::processor_time::within;

    fn titles(text: &str) -> Vec<String> {
        let outline = parse(text.as_bytes()).outline;
        outline.sections.iter().map(|section| section.title.clone()).collect()
    }

    #[test]
    fn math_has_no_headings() {
        for math in [
            "$$\nx\n=\ny\n$$",
            "$$ a\n# no\n- b $$",
            "text\n$$\nx\n=\ny\n$$",
            "> $$\n> x\n> =\n> $$",
        ] {
            assert_eq!(titles(&format!("# One\n\n{math}\n\n# Two\n")), ["One", "Two"], "{math}");
        }
        for text in ["$$ x $$\n===", "$$\nx\n===\n\n$$", "a $$\n===\n$$"] {
            assert_eq!(titles(text).len(), 1, "{text}");
        }
        let outline = parse(b"$$\n- a\n$$\ntext\n").outline;
        assert_eq!(outline.nodes.len(), 3, "the math, and the text after it");
    }

    #[test]
    fn math_that_is_never_closed_takes_linear_time() {
        for part in ["$$a\n", "$$\n\n", "> $$\n", "$$"] {
            let text = part.repeat(300_000 / part.len());
            within(10, part, || parse(text.as_bytes()));
        }
    }

    #[test]
    fn the_header_and_the_end_of_a_table_are_those_of_github() {
        let rows = |text: &str| {
            let tables = parse(text.as_bytes()).contents.tables;
            tables.iter().map(|table| table.rows().len() - 1).collect::<Vec<_>>()
        };
        for (text, expected) in [
            ("| \\|| x |\n|---|---|\n| 1 | 2 |\n", vec![1]),
            ("| \\|| x |\n|---|\n| 1 | 2 |\n", vec![]),
            ("a\n:-\n1\n", vec![1]),
            ("|a|\n|-|\n|1|\n2. b\n|c|\n", vec![1]),
            ("|a|\n|-|\n|1|\n2) b\n", vec![1]),
            ("|a|\n|-|\n|1|\n-\n", vec![1]),
            ("|a|\n|-|\n2.5\n2026. b\n1234567890. c\n-x\n", vec![1]),
            ("|a|\n|-|\n2.5\n1234567890. c\n-x\n", vec![3]),
            ("a | b\n- | -\n", vec![]),
            ("a | b\n-- + --\n", vec![]),
            ("a | b\n::-|-\n", vec![]),
            ("a | b\n-|-|-\n", vec![]),
            ("a | b\n-|\n", vec![]),
            ("|\n|\n", vec![]),
            ("|a|\n|-|\n||\n| |\n|\n|b|\n", vec![2]),
            ("|a|\n|-|\n|1|\n<br>\n|2|\n", vec![1]),
            ("|a|\n|-|\n|1|\n</x-y>\n", vec![1]),
            ("|a|\n|-|\n<a id=\"x\"></a>\n<br> 2\n", vec![2]),
        ] {
            assert_eq!(rows(text), expected, "{text}");
        }
        let outline = parse(b"1. a\n\n|h|\n|-|\n|1|\n2. b\n").outline;
        let lists =
            outline.nodes.iter().filter(|node| node.kind == NodeKind::Block(BlockType::List));
        assert_eq!(lists.count(), 2);
    }

    /// Returns the types of all blocks, without paragraphs.
    fn types(text: &str) -> Vec<&'static str> {
        let nodes = parse(text.as_bytes()).outline.nodes;
        let types = nodes.iter().filter_map(|node| match node.kind {
            NodeKind::Block(block) => Some(block.name()),
            _ => None,
        });
        types.filter(|name| *name != "paragraph").collect()
    }

    #[test]
    fn a_line_that_is_indented_like_code_continues_a_paragraph_of_any_container() {
        // The contents of the item are indented by five columns.
        for line in ["```", "# no", "> no", "- no", "***", "<div>", "~~~ x", "$$\n    $$"] {
            let text = format!("   - a\n    {line}\n");
            assert_eq!(types(&text), ["list"], "{text}");
            let text = format!("> 10.  a\n>     {}\n", line.replace('\n', "\n> "));
            assert_eq!(types(&text), ["blockquote", "list"], "{text}");
        }
        for (text, expected) in [
            ("   - a\n   # yes\n", vec!["list"]),
            ("   - a\n   > yes\n", vec!["list", "blockquote"]),
            ("- a\n\n     - b\n      # no\n", vec!["list", "list"]),
            ("- a\n  -   b\n     # in a\n", vec!["list", "list", "heading"]),
            ("[^1]: a\n    -   b\n       # in the note\n", vec!["footnote"]),
        ] {
            assert_eq!(types(text), expected, "{text}");
        }
    }

    #[test]
    fn what_cannot_interrupt_a_paragraph_begins_no_block_after_a_definition() {
        for (rest, expected) in [
            ("    code", vec!["definition"]),
            ("    # no\ntext", vec!["definition"]),
            ("2. no", vec!["definition"]),
            ("<br>", vec!["definition"]),
            ("-", vec!["definition"]),
            ("[s]: /u\n    code", vec!["definition", "definition"]),
            ("1. yes", vec!["definition", "list"]),
            ("# yes", vec!["definition"]),
            ("a | b\n- | -", vec!["definition", "list"]),
            ("a | b\n|-|-|", vec!["definition", "table"]),
            ("> 2. yes", vec!["definition", "blockquote", "list"]),
            ("\n    code", vec!["definition", "code"]),
        ] {
            let text = format!("[r]: /u\n{rest}\n");
            assert_eq!(types(&text), expected, "{text}");
        }
        assert_eq!(titles("[r]: /u\n    a\nb\n===\n"), ["a b"]);
        assert_eq!(types("> [r]: /u\n2. yes\n"), ["blockquote", "definition", "list"]);
        // The next item, or the item after a quote, is another container of the same level.
        for (text, expected) in [
            ("- [r]: /u\n-     yes\n", ["list", "definition", "code"]),
            ("- [r]: /u\n- 2. yes\n", ["list", "definition", "list"]),
            ("1. [r]: /u\n2. <br>\n", ["list", "definition", "html"]),
        ] {
            assert_eq!(types(text), expected, "{text}");
        }
        assert_eq!(types("> [r]: /u\n- <br>\n"), ["blockquote", "definition", "list", "html"]);
        // A line outside of the container continues its paragraph.
        for (text, in_quote) in [
            ("> [r]: /u\nlazy\nlazy\n", 3),
            ("> [r]: /u 't'\n    -->\n", 2),
            ("> [r]: /u\n===\n", 2),
            ("> [r]: /u\n[s]: /v\nlazy\n", 3),
            ("> - [r]: /u\n> lazy\nlazy\n", 3),
            ("> [r]: /u\n# no\n", 1),
            ("> [r]: /u\n\n    no\n", 1),
        ] {
            let outline = parse(text.as_bytes()).outline;
            let block = |block_type| move |kind: NodeKind| kind == NodeKind::Block(block_type);
            let of = |is: &dyn Fn(NodeKind) -> bool| outline.nodes.iter().find(|n| is(n.kind));
            let quote = of(&block(BlockType::Blockquote)).unwrap();
            let lines = text[quote.bytes.start..quote.bytes.end].lines().count();
            assert_eq!(lines, in_quote, "{text}");
        }
        assert_eq!(types("- [r]: /u\nlazy\n- b\n"), ["list", "definition"]);
    }

    #[test]
    fn an_underline_makes_a_heading_of_what_is_no_definition_yet() {
        for (text, expected) in [
            ("[r]:\n===\n", vec!["[r]:"]),
            ("[r]:\n-\n", vec!["[r]:"]),
            ("[r]: /u\n===\n", vec![]),
            ("[r]: /u\n'a\n===\nb'\n", vec!["'a"]),
            ("[r]: /u\n'a\n    ===\nb'\n", vec![]),
            ("[r]:\n\n===\n", vec![]),
        ] {
            assert_eq!(titles(text), expected, "{text}");
        }
        let text = "[r]:\n/u\n'a\nb'\n\n[r]\n";
        assert_eq!(parse(text.as_bytes()).links.list.len(), 1, "a definition of several lines");
    }

    #[test]
    fn indented_text_in_mdx_is_not_code() {
        let text =
            "<Tabs>\n  <Tab>\n\n    See [gone](gone.mdx).\n\n    ## Inner\n\n  </Tab>\n</Tabs>\n";
        let document = parse_as(text.as_bytes(), Dialect::Mdx);
        assert_eq!(document.outline.sections.len(), 1);
        assert_eq!(document.links.list.len(), 1);
        assert!(document.contents.code.is_empty());
        assert_eq!(parse(text.as_bytes()).contents.code.len(), 1);
    }
}
