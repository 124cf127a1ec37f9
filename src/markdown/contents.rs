//! The contents of code blocks, tables and task items, as the parser reads them.
//!
//! Invariants: lists are in document order; every span is within the span of its node; a row has at
//! most as many cells as the header of its table.

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
        let mut cuts = self.cuts.iter().flat_map(|&(count, cut)| std::iter::repeat_n(cut, count));
        let mut position = 0;
        while position < lines.len() {
            let end = crate::position::next_line_start(lines, position);
            let start = (position + cuts.next().unwrap_or(0)).min(end);
            text.extend_from_slice(lines.get(start..end).unwrap_or_default());
            position = end;
        }
        text
    }
}

/// A table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    /// Index of its node in the outline.
    pub node: usize,
    /// The header, and then the body rows. There is always a header.
    pub rows: Vec<Row>,
}

/// A row of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Its text, without the markers of containers before it and without its line end.
    pub span: ByteSpan,
    /// Its cells. A row may have fewer cells than the header. The missing ones are empty.
    pub cells: Vec<Cell>,
}

/// A cell of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// Offset of its text from the start of its row, without the blanks around it.
    pub offset: usize,
    /// The text as it is written, with escaped pipes.
    pub source: String,
    /// The visible text, if it differs from the source.
    pub visible: Option<String>,
}

impl Cell {
    /// Returns the visible text.
    pub fn text(&self) -> &str {
        self.visible.as_deref().unwrap_or(&self.source)
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
    /// The source text of its first paragraph on one line, without the brackets.
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
    /// Calls `change` with each text.
    pub(super) fn each_text(&mut self, change: impl Fn(&mut String)) {
        for code in &mut self.code {
            code.info.as_mut().map(&change);
        }
        for cell in
            self.tables.iter_mut().flat_map(|table| &mut table.rows).flat_map(|row| &mut row.cells)
        {
            change(&mut cell.source);
            cell.visible.as_mut().map(&change);
        }
        self.tasks.iter_mut().for_each(|task| change(&mut task.text));
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
