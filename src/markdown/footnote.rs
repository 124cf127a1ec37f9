//! Footnote definitions as GitHub parses them: `[^label]:` and the indented lines below it.
//!
//! Invariant: a definition is one block, whatever it contains.

use markdown_it::parser::block::{BlockRule, BlockState};
use markdown_it::{Node, NodeValue};

/// The indentation of the paragraphs below the first line, in columns.
const INDENT: usize = 4;

/// A footnote definition. Its children are the blocks that it contains.
#[derive(Debug)]
pub(super) struct Footnote;
impl NodeValue for Footnote {}

/// The block rule for footnote definitions.
pub(super) struct FootnoteRule;

impl FootnoteRule {
    /// Returns the length in bytes of the label and the blanks after it, if the current line begins
    /// with a label.
    fn label(state: &BlockState) -> Option<usize> {
        // A line that is indented less than the paragraph before it ends that paragraph, too.
        if state.line_indent(state.line) >= state.md.max_indent {
            return None;
        }
        let line = state.get_line(state.line);
        let (label, text) = line.strip_prefix("[^")?.split_once("]:")?;
        let is_label = !label.is_empty() && !label.contains([' ', '\t', ']', '[']);
        is_label.then(|| line.len() - text.trim_start_matches([' ', '\t']).len())
    }
}

impl BlockRule for FootnoteRule {
    fn check(state: &mut BlockState) -> Option<()> {
        Self::label(state).map(drop)
    }

    fn run(state: &mut BlockState) -> Option<(Node, usize)> {
        let label = Self::label(state)?;
        let start = state.line;
        let kept = state.line_offsets.get(start)?.clone();
        state.blk_indent += INDENT;
        let indent = i32::try_from(state.blk_indent).unwrap_or(i32::MAX);
        if let Some(offsets) = state.line_offsets.get_mut(start) {
            // The text after the label is parsed as a block inside the definition.
            offsets.first_nonspace += label;
            offsets.indent_nonspace = indent;
        }
        let outer = std::mem::replace(&mut state.node, Node::new(Footnote));
        state.md.block.tokenize(state);
        let node = std::mem::replace(&mut state.node, outer);
        let mut end = state.line.max(start + 1);
        state.blk_indent -= INDENT;
        if let Some(offsets) = state.line_offsets.get_mut(start) {
            *offsets = kept;
        }
        while end > start + 1 && state.is_empty(end - 1) {
            end -= 1;
        }
        state.line = start;
        Some((node, end - start))
    }
}

#[cfg(test)]
mod tests {
    use crate::markdown::outline::{BlockType, NodeKind};

    /// Returns the type and the text of each top-level block.
    fn blocks(text: &str) -> Vec<(&'static str, &str)> {
        let outline = crate::markdown::parse(text.as_bytes()).outline;
        let is_top = |node: &crate::markdown::outline::Node| {
            node.parent.is_none_or(|parent| {
                !matches!(outline.nodes[parent].kind, NodeKind::Block(_) | NodeKind::Item)
            })
        };
        let nodes = outline.nodes.iter().filter(|node| is_top(node));
        nodes
            .filter_map(|node| match node.kind {
                NodeKind::Block(block_type) => {
                    Some((block_type.name(), text[node.bytes.start..node.bytes.end].trim_end()))
                }
                _ => None,
            })
            .collect()
    }

    #[test]
    fn a_definition_contains_the_indented_lines_below_it() {
        let first = "[^1]: One\nlazy\n\n    Two [x](y.md)\n\n        code\n\n    - a\n    - b\n\n    ```\n    # no\n    ```";
        let second = "[^b]:\n    ## no\n    text";
        let text =
            format!("Text[^1][^b].\n\n{first}\n\n\n{second}\n[^c]: word\n\nAfter.\n\n# Yes\n");
        assert_eq!(
            blocks(&text),
            [
                ("paragraph", "Text[^1][^b]."),
                ("footnote", first),
                ("footnote", second),
                ("footnote", "[^c]: word"),
                ("paragraph", "After."),
            ]
        );
        let document = crate::markdown::parse(text.as_bytes());
        assert_eq!(document.outline.sections.len(), 1);
        assert_eq!(document.links.list.len(), 1, "{:?}", document.links.list);
        assert_eq!(document.links.list[0].line, 6);
        assert_eq!(document.opaque.len(), 1);
    }

    #[test]
    fn text_without_a_valid_label_is_a_paragraph() {
        for text in ["[^a b]: x", "[^]: x", "[^1] : x", "text [^1]: x", "    [^1]: x"] {
            assert!(blocks(text).iter().all(|(name, _)| *name != "footnote"), "{text}");
        }
        assert_eq!(blocks("text\n[^1]: x")[1].0, "footnote", "as on GitHub");
        let nested = "> [^1]: a\n>\n>     b\n\n- [^2]: c\n\n      d\n";
        let outline = crate::markdown::parse(nested.as_bytes()).outline;
        let is_footnote = |kind: NodeKind| kind == NodeKind::Block(BlockType::Footnote);
        assert_eq!(outline.nodes.iter().filter(|node| is_footnote(node.kind)).count(), 2);
        let deep = "[^1]: ".repeat(10_000);
        assert_eq!(blocks(&deep).len(), 1);
    }
}
