//! The adapter of markdown-it: converts text to a flat list of blocks with spans of whole lines.
//!
//! Only this module reads the parser's tree of blocks. markdown-it reports a block from its first
//! non-blank byte to the end of its last line's text. Here spans are extended to whole lines and
//! clipped to their containers, and lines that the parser dropped become paragraphs. Invariants:
//! top-level blocks and blank lines cover every byte exactly once, in order, in whole lines; the
//! blocks of a container are inside it, in order, without overlap.

use std::borrow::Cow;
use std::sync::OnceLock;

use markdown_it::common::utils::unescape_all;
use markdown_it::parser::core::Root;
use markdown_it::parser::extset::RootExtSet;
use markdown_it::parser::inline::InlineRoot;
use markdown_it::plugins::cmark::block::blockquote::Blockquote;
use markdown_it::plugins::cmark::block::code::CodeBlock as IndentedCode;
use markdown_it::plugins::cmark::block::fence::CodeFence;
use markdown_it::plugins::cmark::block::heading::ATXHeading;
use markdown_it::plugins::cmark::block::hr::ThematicBreak;
use markdown_it::plugins::cmark::block::list::{BulletList, ListItem, OrderedList};
use markdown_it::plugins::cmark::block::reference::Definition;
use markdown_it::plugins::html::html_block::HtmlBlock;
use markdown_it::{MarkdownIt, Node};

use super::Dialect;
use super::block::{Block, BlockKind, BlockType};
use super::cells::cells;
use super::containers::Bounds;
use super::contents::{CodeBlock, Contents, Table, TaskItem, cuts_of};
use super::footnote::Footnote;
use super::links::{self, LinkText, Links};
use super::mdx::Unclosed;
use super::rules::{ParagraphBlock, SetextBlock, TableBlock, block_parser};
use super::title::{TitleParser, written};
use crate::decoding::same_length_text;
use crate::limits;
use crate::position::{ByteSpan, LineIndex, next_line_start};

/// The result of parsing a body.
#[expect(clippy::struct_excessive_bools, reason = "each is a bound that was met")]
pub(super) struct Blocks {
    pub(super) list: Vec<Block>,
    pub(super) links: Links,
    /// The spans of fenced code blocks, including those in containers, in document order.
    pub(super) fences: Vec<ByteSpan>,
    pub(super) contents: Contents,
    /// The line, 0-based in the text, of the first block of MDX that is never closed.
    pub(super) unclosed: Option<usize>,
    pub(super) too_many_nodes: bool,
    pub(super) too_deep: bool,
    /// Whether lines were not parsed, or block quotes not opened, to limit memory.
    pub(super) too_many_lines: bool,
    pub(super) title_was_cut: bool,
    /// Whether the visible text of a table cell was cut.
    pub(super) cell_was_cut: bool,
}

/// Parses `text`, which has the same length as the bytes of `file` from offset `base` on. Spans are
/// offsets into the file.
pub(super) fn parse(
    text: &str,
    base: usize,
    file: &[u8],
    lines: &LineIndex,
    dialect: Dialect,
) -> Blocks {
    static MARKDOWN: OnceLock<MarkdownIt> = OnceLock::new();
    static MDX: OnceLock<MarkdownIt> = OnceLock::new();
    let parser = match dialect {
        Dialect::Markdown => &MARKDOWN,
        Dialect::Mdx => &MDX,
    };
    let parser = parser.get_or_init(|| block_parser(dialect));
    // The parser keeps offsets of every line, including blank ones.
    let is_cut = lines.count() > limits::MAX_PARSED_LINES;
    let end = lines.end_of(limits::MAX_PARSED_LINES).saturating_sub(base);
    let mut root = parser.parse(text.get(..end).unwrap_or(text));
    let mut extensions = RootExtSet::new();
    if let Some(data) = root.cast_mut::<Root>() {
        extensions = std::mem::take(&mut data.ext);
        data.content = String::new();
    }
    let (mut too_many_nodes, too_deep, too_many_lines) =
        extensions.get::<Bounds>().map_or((false, false, false), |bounds| {
            (bounds.too_many_nodes, bounds.too_deep, bounds.too_many_lines)
        });
    let unclosed = extensions.get::<Unclosed>().and_then(|unclosed| unclosed.0);
    let mut adapter = Adapter {
        base,
        file,
        lines,
        titles: TitleParser::new(extensions),
        blocks: Vec::with_capacity(text.len() / 80),
        too_many_nodes: false,
        fences: Vec::new(),
        contents: Contents::default(),
        texts: Vec::new(),
    };
    adapter.add_children(&mut root, None, ByteSpan::new(base, file.len()), 0);
    let title_was_cut = adapter.titles.was_cut();
    let cell_was_cut = adapter.titles.cell_was_cut();
    too_many_nodes |= adapter.too_many_nodes;
    let Adapter { titles, blocks: list, fences, contents, texts, .. } = adapter;
    Blocks {
        list,
        links: links::read(texts, titles.into_extensions(), base, lines),
        fences,
        contents,
        unclosed,
        too_many_nodes,
        too_deep,
        too_many_lines: too_many_lines || is_cut,
        title_was_cut,
        cell_was_cut,
    }
}

struct Adapter<'a> {
    base: usize,
    file: &'a [u8],
    lines: &'a LineIndex,
    titles: TitleParser,
    blocks: Vec<Block>,
    too_many_nodes: bool,
    fences: Vec<ByteSpan>,
    contents: Contents,
    /// The texts that may contain links.
    texts: Vec<LinkText>,
}

impl Adapter<'_> {
    /// Adds the children of `node`, whose span is `within` and which is in `tasks` task items, and
    /// returns the end of the last one. The block rules bound the depth of this recursion.
    fn add_children(
        &mut self,
        node: &mut Node,
        parent: Option<usize>,
        within: ByteSpan,
        tasks: usize,
    ) -> usize {
        let mut position = within.start;
        // Each node is dropped once its block is added.
        for mut child in std::mem::take(&mut node.children) {
            let child = &mut child;
            let Some(kind) = self.kind_of(child) else { continue };
            let Some(mut span) = self.whole_lines(child, position, within) else { continue };
            if parent.is_none() {
                self.add_dropped(ByteSpan::new(position, span.start));
            }
            let index = self.blocks.len();
            let is_container = matches!(
                kind,
                BlockKind::Item | BlockKind::Block(BlockType::List | BlockType::Blockquote)
            );
            self.blocks.push(Block { kind, parent, span });
            if child.is::<CodeFence>() {
                self.fences.push(span);
            }
            if is_container {
                let trimmed = self.without_trailing_blank_lines(span);
                let is_task = child.is::<ListItem>() && self.add_task(child, index, tasks);
                let tasks = tasks + usize::from(is_task);
                let end_of_children = self.add_children(child, Some(index), span, tasks);
                span.end = trimmed.max(end_of_children);
                if let Some(block) = self.blocks.get_mut(index) {
                    block.span = span;
                }
            } else {
                self.add_contents(child, index, span);
                self.take_texts(child, span);
            }
            position = span.end;
        }
        if parent.is_none() {
            self.add_dropped(ByteSpan::new(position, within.end));
        }
        position
    }

    /// Adds the contents of the code block or table `node`, which is `block`.
    fn add_contents(&mut self, node: &Node, block: usize, span: ByteSpan) {
        // The root is the first node of an outline, and each block is one node.
        let index = block + 1;
        if let Some(fence) = node.cast::<CodeFence>() {
            let block = span.of(self.file);
            let first = next_line_start(block, 0);
            let lines = fence.content.lines().count();
            let code = self.lines_from(span.start + first, lines, span.end);
            let cuts = cuts_of(code.of(self.file), &fence.content);
            let info = Some(unescape_all(fence.info.trim()).into_owned());
            self.contents.code.push(CodeBlock { node: index, info, code, cuts });
        } else if let Some(block) = node.cast::<IndentedCode>() {
            let code = self.lines_from(span.start, block.content.lines().count(), span.end);
            let cuts = cuts_of(code.of(self.file), &block.content);
            self.contents.code.push(CodeBlock { node: index, info: None, code, cuts });
        } else if let Some(block) = node.cast::<TableBlock>() {
            let mut table = Table::new(index);
            for &(start, end) in &block.rows {
                self.add_row(&mut table, ByteSpan::new(self.base + start, self.base + end));
            }
            self.contents.tables.push(table);
        }
    }

    /// Returns the span of `count` lines from `start` on, which end at `end` at the latest.
    fn lines_from(&self, start: usize, count: usize, end: usize) -> ByteSpan {
        let mut position = start;
        for _ in 0..count {
            position = next_line_start(self.file, position).min(end);
        }
        ByteSpan::new(start.min(position), position)
    }

    /// Adds the row at `span`, with at most as many cells as the header.
    fn add_row(&mut self, table: &mut Table, span: ByteSpan) {
        let line = same_length_text(span.of(self.file), super::PLACEHOLDER);
        let most = if table.rows().len() == 0 { usize::MAX } else { table.width() };
        let cells = cells(&line).into_iter().take(most).map(|cell| {
            let source = line.get(cell.start..cell.end).unwrap_or_default();
            let visible = self.titles.render_text(&source.replace("\\|", "|"));
            (cell.start, Cow::Borrowed(source), (visible != source).then_some(visible))
        });
        table.push(span, cells);
    }

    /// Adds the list item `item`, which is `block` and in `depth` task items, if it is a task.
    fn add_task(&mut self, item: &Node, block: usize, depth: usize) -> bool {
        let paragraph = item.children.first().filter(|first| first.is::<ParagraphBlock>());
        let text = paragraph.and_then(|paragraph| paragraph.children.first());
        let Some(text) = text.and_then(|text| text.cast::<InlineRoot>()) else { return false };
        let Some(offset) = text.mapping.first().map(|&(_, offset)| self.base + offset) else {
            return false;
        };
        let is_done = match text.content.get(..3) {
            Some("[ ]") => false,
            Some("[x]" | "[X]") => true,
            _ => return false,
        };
        let rest = text.content.get(3..).unwrap_or_default();
        let is_task = rest.starts_with([' ', '\t', '\u{A0}']) && !rest.trim().is_empty();
        let is_there = self.file.get(offset) == Some(&b'[');
        if is_task && is_there {
            let text = rest.lines().map(str::trim).collect::<Vec<_>>().join("\n");
            let text = text.trim().to_owned();
            let (node, mark) = (block + 1, offset + 1);
            self.contents.tasks.push(TaskItem { node, mark, is_done, text, depth });
        }
        is_task && is_there
    }

    /// Takes the texts that may contain links out of `node`, and adds its fenced code blocks. The
    /// node is within `span`. The block rules bound the depth of this recursion.
    fn take_texts(&mut self, node: &mut Node, span: ByteSpan) {
        for child in &mut node.children {
            if child.is::<CodeFence>() {
                self.fences.extend(self.whole_lines(child, span.start, span));
            }
            match LinkText::take(child) {
                Some(mut text) => {
                    text.mark_invalid_bytes(self.file.get(self.base..).unwrap_or_default());
                    self.texts.push(text);
                }
                None => self.take_texts(child, span),
            }
        }
    }

    fn kind_of(&mut self, node: &Node) -> Option<BlockKind> {
        let block_type = if node.is::<ParagraphBlock>() {
            BlockType::Paragraph
        } else if node.is::<ListItem>() {
            return Some(BlockKind::Item);
        } else if node.is::<BulletList>() || node.is::<OrderedList>() {
            BlockType::List
        } else if node.is::<CodeFence>() || node.is::<IndentedCode>() {
            BlockType::Code
        } else if let Some(heading) = node.cast::<ATXHeading>() {
            return Some(self.heading(heading.level, node));
        } else if let Some(heading) = node.cast::<SetextBlock>() {
            return Some(self.heading(heading.level, node));
        } else if node.is::<TableBlock>() {
            BlockType::Table
        } else if node.is::<Blockquote>() {
            BlockType::Blockquote
        } else if node.is::<HtmlBlock>() {
            BlockType::Html
        } else if node.is::<ThematicBreak>() {
            BlockType::Rule
        } else if node.is::<Definition>() {
            BlockType::Definition
        } else if node.is::<Footnote>() {
            BlockType::Footnote
        } else {
            return None;
        };
        Some(BlockKind::Block(block_type))
    }

    fn heading(&mut self, level: u8, node: &Node) -> BlockKind {
        let text = node.children.first().and_then(|child| child.cast::<InlineRoot>());
        let title = text.map_or_else(String::new, |text| self.titles.render(&text.content));
        let written = text.map(|text| written(&text.content)).filter(|written| *written != title);
        BlockKind::Heading { level, title, written }
    }

    /// Returns the span of `node` in whole lines, or `None` if another block has taken all of them.
    /// After the marker of a container on the same line, the span starts where the parser reports
    /// it, and that of indented code after the first blank. It never starts before `position`, and
    /// never leaves `within`.
    fn whole_lines(&self, node: &Node, position: usize, within: ByteSpan) -> Option<ByteSpan> {
        let (start, end) = node.srcmap?.get_byte_offsets();
        let (mut start, end) = (start + self.base, end + self.base);
        if end < position {
            return None;
        }
        let line_start = self.lines.start_of(self.lines.line_of(start)).max(position);
        let before = self.file.get(line_start..start).unwrap_or_default();
        let is_blank = |byte: &&u8| matches!(byte, b' ' | b'\t');
        let blanks = before.iter().rev().take_while(is_blank).count();
        if blanks == before.len() {
            start = line_start;
        } else if node.is::<IndentedCode>() {
            // The first blank belongs to the marker before it, and the others to the code.
            start -= blanks.saturating_sub(1);
        }
        start = start.max(position);
        let end = next_line_start(self.file, end).min(within.end);
        (start < end).then(|| ByteSpan::new(start, end))
    }

    /// Returns the end of `span` without trailing blank lines.
    fn without_trailing_blank_lines(&self, span: ByteSpan) -> usize {
        let text = span.of(self.file);
        let blank = text
            .iter()
            .rev()
            .take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
            .count();
        next_line_start(self.file, span.end - blank).min(span.end)
    }

    /// Adds a paragraph for every run of non-blank lines in `gap`.
    fn add_dropped(&mut self, gap: ByteSpan) {
        let mut position = gap.start;
        let mut run: Option<ByteSpan> = None;
        while position < gap.end {
            if self.blocks.len() >= limits::MAX_NODES {
                self.too_many_nodes = true;
                run = Some(ByteSpan::new(run.map_or(position, |run| run.start), gap.end));
                break;
            }
            let end = next_line_start(self.file, position).min(gap.end);
            let line = self.file.get(position..end).unwrap_or_default();
            if line.iter().all(u8::is_ascii_whitespace) {
                self.add_paragraph(run.take());
            } else {
                run = Some(ByteSpan::new(run.map_or(position, |run| run.start), end));
            }
            position = end;
        }
        self.add_paragraph(run);
    }

    fn add_paragraph(&mut self, span: Option<ByteSpan>) {
        if let Some(span) = span {
            let kind = BlockKind::Block(BlockType::Paragraph);
            self.blocks.push(Block { kind, parent: None, span });
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::markdown::parse;

    #[test]
    fn fences_and_containers_hide_headings_and_underlines_make_them() {
        for (text, titles) in [
            ("``` {.py #x}\n# no\n```\n# yes\n", &["yes"][..]),
            ("```\n# no\n``` more\n# no\n`````\n# yes\n", &["yes"]),
            ("~~~ `a` ~\n# no\n```\n# no\n~~~\n# yes\n", &["yes"]),
            ("``` a`b\n# yes\n", &["yes"]),
            ("````\n```\n# no\n````\n# yes\n", &["yes"]),
            ("```\n# no\n  ```\n# yes\n```\n# no\n", &["yes"]),
            ("```\n# no\n    ```\n# no\n", &[]),
            ("- ```\n  # no\n\n# yes\n", &["yes"]),
            ("1. a\n   ~~~\n   # no\n   ~~~\n\n   # no\n\n# yes\n", &["yes"]),
            ("> ```\n> # no\n# yes\n", &["yes"]),
            ("    ```\n# yes\n    ```\n", &["yes"]),
            ("`a\n# yes\nb`\n", &["yes"]),
            ("one\ntwo  \n===\n", &["one two"]),
            ("one\n = \n", &["one"]),
            ("one\n= =\n", &[]),
            ("one\\\n---\n", &["one\\"]),
            ("> one\ntwo\n===\n", &[]),
            ("one\n> two\n---\n", &[]),
            ("- one\ntwo\n---\n", &[]),
            ("- one\n---\n", &[]),
            ("- one\n  ---\n", &[]),
            ("***\none\n---\n***\n", &["one"]),
            ("[a]: b\n===\n", &[]),
            ("| a |\n|---|\n| # no |\n# yes\n", &["yes"]),
            ("# yes\r# two\r\n# three\n", &["yes", "two", "three"]),
            ("#\tyes #\t\n\t# no\n", &["yes"]),
            ("text\n    # no\n   # yes\n", &["yes"]),
            ("#no\n####### no\n#\n", &[""]),
        ] {
            let sections = parse(text.as_bytes()).outline.sections;
            let found: Vec<&str> = sections.iter().map(|section| &*section.title).collect();
            assert_eq!(found, titles, "{text}");
        }
    }

    #[test]
    fn indented_code_after_a_marker_keeps_its_indentation() {
        for (text, code) in [
            ("-       deep\n        more\n", "  deep\n  more\n"),
            ("1.      a\n       b\n", " a\nb\n"),
            (">     a\n>      b\n", "a\n b\n"),
            ("- >      a\n  >     b\n", " a\nb\n"),
            (">\t\ta\n", "\ta\n"),
            ("-     a", "a"),
            ("    a\n\n     b\n", "a\n\n b\n"),
        ] {
            let document = parse(text.as_bytes());
            let [block] = document.contents.code.as_slice() else { panic!("{text}") };
            let found = block.text(block.code.of(text.as_bytes()));
            assert_eq!(String::from_utf8(found).unwrap(), code, "{text}");
            assert!(document.outline.nodes[block.node].bytes.contains(block.code), "{text}");
        }
    }
}
