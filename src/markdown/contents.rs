//! The contents of code blocks, tables and task items, as the parser reads them.
//!
//! Invariants: lists are in document order; every span is within the span of its node; a row has at
//! most as many cells as the header of its table.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::position::ByteSpan;

/// A code block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeBlock {
    /// Index of its node in the outline.
    pub node: usize,
    /// The info string; `None` for an indented code block.
    pub info: Option<String>,
    /// The lines of the code, without fences.
    pub code: ByteSpan,
    /// The bytes that are not part of the code at the start of its lines: for runs of lines, the
    /// number of lines and the number of bytes of each line.
    pub cuts: Vec<(usize, usize)>,
}

impl CodeBlock {
    /// Returns the code in `lines`, the bytes of [`Self::code`], without the markers of containers
    /// and the indentation of the fence.
    pub fn text(&self, lines: &[u8]) -> Vec<u8> {
        let mut text = Vec::with_capacity(lines.len());
        for span in self.text_spans(lines) {
            text.extend_from_slice(span.of(lines));
        }
        text
    }

    /// Returns the spans of the text of [`Self::text`] in `lines`, one per line.
    pub fn text_spans(&self, lines: &[u8]) -> impl Iterator<Item = ByteSpan> {
        let mut cuts = self.cuts.iter().flat_map(|&(count, cut)| std::iter::repeat_n(cut, count));
        let mut position = 0;
        std::iter::from_fn(move || {
            let end = crate::position::next_line_start(lines, position);
            let start = (position + cuts.next().unwrap_or(0)).min(end);
            let is_line = position < lines.len();
            position = end;
            is_line.then(|| ByteSpan::new(start, end))
        })
    }
}

/// A table.
///
/// A table may have millions of cells, so their texts are one string, and a row owns nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    /// Index of its node in the outline.
    pub node: usize,
    /// The sources of all cells.
    sources: String,
    cells: Vec<PackedCell>,
    rows: Vec<PackedRow>,
}

/// A cell, whose source follows that of the cell before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct PackedCell {
    offset: usize,
    /// Bytes of its source.
    length: usize,
    visible: Option<Box<str>>,
}

/// A row, whose cells and sources begin at the ends of those of the row before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct PackedRow {
    span: ByteSpan,
    cells_end: usize,
    sources_end: usize,
}

impl Table {
    /// Returns a table without rows, which is the node `node` of the outline.
    pub(super) fn new(node: usize) -> Self {
        Self { node, sources: String::new(), cells: Vec::new(), rows: Vec::new() }
    }

    /// Adds a row. The first one is the header.
    pub(super) fn push<'a>(
        &mut self,
        span: ByteSpan,
        cells: impl Iterator<Item = (usize, Cow<'a, str>, Option<String>)>,
    ) {
        for (offset, source, visible) in cells {
            self.sources.push_str(&source);
            let visible = visible.map(String::into_boxed_str);
            self.cells.push(PackedCell { offset, length: source.len(), visible });
        }
        let (cells_end, sources_end) = (self.cells.len(), self.sources.len());
        self.rows.push(PackedRow { span, cells_end, sources_end });
    }

    /// Returns the number of columns: the number of cells of the header.
    pub fn width(&self) -> usize {
        self.rows.first().map_or(0, |header| header.cells_end)
    }

    /// Returns the header, and then the body rows. There is always a header.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = Row<'_>> {
        (0..self.rows.len()).map(|index| self.row(index).unwrap_or_default())
    }

    /// Returns the row at `index`; 0 is the header.
    pub fn row(&self, index: usize) -> Option<Row<'_>> {
        let row = self.rows.get(index)?;
        let before = index.checked_sub(1).and_then(|index| self.rows.get(index));
        let (cells, sources) = before.map_or((0, 0), |row| (row.cells_end, row.sources_end));
        Some(Row {
            span: row.span,
            cells: self.cells.get(cells..row.cells_end)?,
            sources: self.sources.get(sources..row.sources_end)?,
        })
    }

    /// Returns whether the table has a header, and every row is within a file of `bytes` bytes and has
    /// at most as many cells as the header.
    pub(crate) fn is_within(&self, bytes: usize) -> bool {
        let is_row = |index| {
            self.row(index).is_some_and(|row| {
                row.span.start <= row.span.end
                    && row.span.end <= bytes
                    && row.cells.len() <= self.width()
                    && row.cells().map(|cell| cell.source.len()).sum::<usize>() == row.sources.len()
                    && row.cells().all(|cell| cell.offset <= row.span.len())
            })
        };
        !self.rows.is_empty() && (0..self.rows.len()).all(is_row)
    }
}

/// A row of a table.
#[derive(Clone, Copy, Debug, Default)]
pub struct Row<'a> {
    /// Its text, without the markers of containers before it and without its line end.
    pub span: ByteSpan,
    cells: &'a [PackedCell],
    sources: &'a str,
}

impl<'a> Row<'a> {
    /// Returns its cells. A row may have fewer cells than the header. The missing ones are empty.
    pub fn cells(self) -> impl ExactSizeIterator<Item = Cell<'a>> {
        let mut sources = self.sources;
        self.cells.iter().map(move |cell| {
            let (source, rest) = sources.split_at_checked(cell.length).unwrap_or_default();
            sources = rest;
            Cell { offset: cell.offset, source, visible: cell.visible.as_deref() }
        })
    }

    /// Returns the cell at `index`, 0-based.
    pub fn cell(self, index: usize) -> Option<Cell<'a>> {
        self.cells().nth(index)
    }
}

/// A cell of a table.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cell<'a> {
    /// Offset of its text from the start of its row, without the blanks around it.
    pub offset: usize,
    /// The text as it is written, with escaped pipes.
    pub source: &'a str,
    /// The visible text, if it differs from the source.
    pub visible: Option<&'a str>,
}

impl<'a> Cell<'a> {
    /// Returns the span of the source in `row`, the bytes of its row. A byte that is not UTF-8 is in the source
    /// as U+FFFD, which is longer.
    pub fn span_in(self, row: &[u8]) -> ByteSpan {
        let rest = row.get(self.offset..).unwrap_or_default();
        let mut length = 0;
        for scalar in self.source.chars() {
            let mut encoded = [0; 4];
            let encoded = scalar.encode_utf8(&mut encoded).as_bytes();
            let is_whole = rest.get(length..).is_some_and(|rest| rest.starts_with(encoded));
            length += if is_whole { encoded.len() } else { 1 };
        }
        ByteSpan::new(self.offset, self.offset + length.min(rest.len()))
    }

    /// Returns the visible text.
    pub fn text(self) -> &'a str {
        self.visible.unwrap_or(self.source)
    }
}

/// A task item of a list (GitHub Flavored Markdown, section 5.3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskItem {
    /// Index of its item in the outline.
    pub node: usize,
    /// Offset of the character between the brackets.
    pub mark: usize,
    /// Whether the character is an x.
    pub is_done: bool,
    /// The source text of its first paragraph, without the brackets and the indentation.
    pub text: String,
    /// The number of task items that contain it.
    pub depth: usize,
}

/// The code blocks, tables and task items of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contents {
    /// The code blocks, including those in lists and block quotes.
    pub code: Vec<CodeBlock>,
    /// The tables, including those in lists and block quotes.
    pub tables: Vec<Table>,
    /// The task items.
    pub tasks: Vec<TaskItem>,
}

impl Contents {
    /// Replaces each text by the result of `change`.
    pub(super) fn change_texts(&mut self, change: impl Fn(&str) -> String) {
        for code in &mut self.code {
            code.info = code.info.as_deref().map(&change);
        }
        for table in &mut self.tables {
            let mut changed = Table::new(table.node);
            for row in table.rows() {
                let cells = row.cells().map(|cell| {
                    (cell.offset, Cow::Owned(change(cell.source)), cell.visible.map(&change))
                });
                changed.push(row.span, cells);
            }
            *table = changed;
        }
        for task in &mut self.tasks {
            task.text = change(&task.text);
        }
    }
}

/// Returns the number of bytes at the start of each line of `lines` that are not in `content`, for
/// runs of lines. `content` has the same lines with shorter beginnings.
pub(super) fn cuts_of(lines: &[u8], content: &str) -> Vec<(usize, usize)> {
    let mut cuts: Vec<(usize, usize)> = Vec::new();
    let mut position = 0;
    let mut content = content.as_bytes();
    while position < lines.len() {
        let end = crate::position::next_line_start(lines, position);
        let line = crate::position::trim_line_end(lines.get(position..end).unwrap_or_default());
        let kept = crate::position::next_line_start(content, 0);
        let (first, rest) = content.split_at(kept);
        content = rest;
        let first = crate::position::trim_line_end(first);
        // A byte that is not UTF-8 is a placeholder in the content.
        let is_same = |(a, b): &(&u8, &u8)| a == b || (!a.is_ascii() && **b == 0x1A);
        let common = line.iter().rev().zip(first.iter().rev()).take_while(is_same).count();
        // A tab that is partly cut becomes spaces in the content. The whole tab is kept.
        let is_split = common < first.len();
        let cut = (line.len() - common).saturating_sub(usize::from(is_split));
        match cuts.last_mut() {
            Some((count, last)) if *last == cut => *count += 1,
            _ => cuts.push((1, cut)),
        }
        position = end;
    }
    if cuts.iter().all(|&(_, cut)| cut == 0) {
        cuts.clear();
    }
    cuts
}
