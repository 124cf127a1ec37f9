//! Block quotes.
//!
//! The stock rule takes a `>` that is indented as code for a marker, and a line that continues a paragraph in an inner
//! quote for the start of a block. Invariant: a line without a marker either begins a block outside the quote or
//! continues a paragraph inside it (`CommonMark`, section 5.1).

use markdown_it::Node;
use markdown_it::common::utils::find_indent_of;
use markdown_it::parser::block::{BlockRule, BlockState};
use markdown_it::plugins::cmark::block::blockquote::{Blockquote, BlockquoteScanner};
use markdown_it::plugins::extra::tables::TableBody;

use super::containers::{begins_list, is_indented_as_code};

/// The block rule for block quotes, without bounds.
pub(super) struct QuoteRule;

impl QuoteRule {
    /// Returns whether `line` of the innermost open container begins with a marker.
    fn is_marked(state: &BlockState, line: usize) -> bool {
        let is_here = (0..state.md.max_indent).contains(&state.line_indent(line));
        is_here && state.get_line(line).starts_with('>')
    }

    /// Returns whether the current line, which has no marker, begins a block. It is outside the paragraph before it, so
    /// any list may begin here.
    fn begins_block(state: &mut BlockState) -> bool {
        !is_indented_as_code(state, state.line)
            && (begins_list(state) || state.test_rules_at_line())
    }
}

impl BlockRule for QuoteRule {
    fn check(state: &mut BlockState) -> Option<()> {
        BlockquoteScanner::check(state)
    }

    fn run(state: &mut BlockState) -> Option<(Node, usize)> {
        Self::check(state)?;
        let start = state.line;
        let mut kept = Vec::new();
        let mut is_after_blank = false;
        // A table cannot begin at a line that continues a paragraph, and none begins in a table.
        let outer = std::mem::replace(&mut state.node, Node::new(TableBody));
        while state.line < state.line_max && !state.is_empty(state.line) {
            let is_marked = Self::is_marked(state, state.line);
            if !is_marked && (is_after_blank || Self::begins_block(state)) {
                break;
            }
            let Some(outside) = state.line_offsets.get(state.line).cloned() else { break };
            let mut inside = outside.clone();
            if is_marked {
                let line = state.src.get(inside.line_start..inside.line_end).unwrap_or_default();
                let after = inside.first_nonspace + 1 - inside.line_start;
                let (indent, text) = find_indent_of(line, after);
                is_after_blank = text == line.len();
                // One blank after the marker belongs to it.
                let indent = indent - usize::from(text > after);
                inside.indent_nonspace = i32::try_from(indent).unwrap_or(i32::MAX);
                inside.first_nonspace = inside.line_start + text;
            } else {
                inside.indent_nonspace = -1;
            }
            kept.push(outside);
            if let Some(offsets) = state.line_offsets.get_mut(state.line) {
                *offsets = inside;
            }
            state.line += 1;
        }
        let indent = std::mem::take(&mut state.blk_indent);
        let line_max = std::mem::replace(&mut state.line_max, state.line);
        state.node = Node::new(Blockquote);
        state.line = start;
        state.md.block.tokenize(state);
        let lines = state.line - start;
        state.line = start;
        state.line_max = line_max;
        state.blk_indent = indent;
        for (offsets, kept) in state.line_offsets.iter_mut().skip(start).zip(kept) {
            *offsets = kept;
        }
        Some((std::mem::replace(&mut state.node, outer), lines))
    }
}

#[cfg(test)]
mod tests {
    use crate::markdown::outline::NodeKind;
    use crate::markdown::parse;

    /// Returns the type of each block, items included, and the number of its first line.
    fn blocks(text: &str) -> String {
        let line = |start: usize| text[..start].matches('\n').count() + 1;
        let outline = parse(text.as_bytes()).outline;
        let blocks = outline.nodes.iter().filter_map(|node| match node.kind {
            NodeKind::Block(block_type) => {
                Some(format!("{}:{}", block_type.name(), line(node.bytes.start)))
            }
            NodeKind::Section(level) => Some(format!("h{level}:{}", line(node.bytes.start))),
            _ => None,
        });
        blocks.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_line_indented_as_code_continues_a_paragraph() {
        for (text, expected) in [
            ("   - i\n    ## h\n", "list:1 paragraph:1"),
            ("   1. i\n    - i\n    > q\n", "list:1 paragraph:1"),
            ("1000. - a\n    # h\n", "list:1 list:1 paragraph:1"),
            ("- a\n  - b\n   ## h\n", "list:1 paragraph:1 list:2 paragraph:2 heading:3"),
            (
                "- a\n - b\n  - c\n   - d\n    - e\n",
                "list:1 paragraph:1 paragraph:2 paragraph:3 paragraph:4",
            ),
            ("[^1]: - a\n    # h\n", "footnote:1"),
            ("> a\n    > # h\n", "blockquote:1 paragraph:1"),
            ("> > q\n      ## h\n", "blockquote:1 blockquote:1 paragraph:1"),
            ("> - a\n     # h\n", "blockquote:1 list:1 paragraph:1"),
            ("- > a\n      > b\n", "list:1 blockquote:1 paragraph:1"),
            (">\n      > # h\n", "blockquote:1 code:2"),
            ("> # a\n     > b\n", "blockquote:1 heading:1 code:2"),
            ("   - # a\n    ## h\n", "list:1 heading:1 code:2"),
        ] {
            assert_eq!(blocks(text), expected, "{text}");
        }
    }

    #[test]
    fn a_block_after_a_quote_is_outside_its_paragraph() {
        for (text, expected) in [
            ("> a\n2. b\n", "blockquote:1 paragraph:1 list:2 paragraph:2"),
            ("> a\n-\n", "blockquote:1 paragraph:1 list:2"),
            ("> > a\n> 2) b\n", "blockquote:1 blockquote:1 paragraph:1 list:2 paragraph:2"),
            ("> a\n1234567890. b\n", "blockquote:1 paragraph:1"),
            ("> a\n|b|\n|-|\n", "blockquote:1 paragraph:1"),
            ("> # a\n|b|\n|-|\n", "blockquote:1 heading:1 table:2"),
            ("> a\n\n|b|\n|-|\n", "blockquote:1 paragraph:1 table:3"),
            ("- | -\n- | -\n|-|-|\n- q\n", "list:1 paragraph:1 paragraph:2 paragraph:4"),
            (">a\n===\n", "blockquote:1 paragraph:1"),
            (">\tcode\n>\n> a\nb\n>\nc\n", "blockquote:1 paragraph:1 paragraph:3 paragraph:6"),
        ] {
            assert_eq!(blocks(text), expected, "{text}");
        }
    }
}
