//! The windows of a passage, and how a passage is cut.
//!
//! Invariants: the text of a window is verbatim. A passage is cut at the end of a line, and never between the
//! header row of a table and its first row.

use std::ops::Range;

use schemars::JsonSchema;
use serde::Serialize;

use super::piece::trimmed;
use crate::position::{ByteSpan, LineIndex, next_line_start};

/// A part of a section, verbatim.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct PassageWindow {
    /// The first line, 1-based.
    pub line_start: usize,
    /// The last line, 1-based and inclusive.
    pub line_end: usize,
    /// The byte offset of the start in the file.
    pub byte_start: usize,
    /// The byte offset of the end, exclusive.
    pub byte_end: usize,
    /// The text, without the line end and trailing blanks.
    pub text: String,
    /// Whether only the delimiter row of a table is between the previous window and this one.
    #[serde(skip)]
    pub is_adjacent: bool,
    /// The line of the header row of its table, if the previous window is that row.
    #[serde(skip)]
    pub(super) header_line: Option<usize>,
}

impl PassageWindow {
    /// Returns a window whose lines and text are not set yet.
    pub(super) fn of(span: ByteSpan) -> Self {
        Self {
            line_start: 0,
            line_end: 0,
            byte_start: span.start,
            byte_end: span.end,
            text: String::new(),
            is_adjacent: false,
            header_line: None,
        }
    }

    /// Sets the lines and the text, without trailing blanks and line end.
    pub(super) fn close(&mut self, bytes: &[u8], lines: &LineIndex) {
        let text = trimmed(bytes.get(self.byte_start..self.byte_end).unwrap_or_default());
        self.byte_end = self.byte_start + text.len();
        let span = lines.lines(ByteSpan::new(self.byte_start, self.byte_end));
        (self.line_start, self.line_end) = (span.start, span.end.max(span.start));
        self.text = String::from_utf8_lossy(text).into_owned();
    }
}

/// Returns the numbers of lines to which a passage can be cut so that at least `least` Unicode scalars
/// remain.
pub(super) fn cuts(passage: &[PassageWindow], least: usize) -> Range<usize> {
    let lines = || passage.iter().flat_map(|window| text_lines(&window.text));
    let mut kept = 0;
    let too_short = lines().take_while(|line| {
        kept += line.trim_end().chars().count();
        kept < least
    });
    let fewest = 1 + usize::from(is_header(passage, 0));
    fewest.max(too_short.count() + 1)..lines().count()
}

/// Returns the first `lines` lines of a passage, with the line at which it continues and its last line.
/// Returns `None` if the passage has no more lines than that.
pub(super) fn cut(
    passage: &[PassageWindow],
    lines: usize,
) -> Option<(Vec<PassageWindow>, (usize, usize))> {
    let last = passage.last()?.line_end;
    let mut result = Vec::new();
    let mut left = lines;
    for (index, window) in passage.iter().enumerate() {
        // A header row without a data row is not useful.
        let is_lone_header = left == 1 && is_header(passage, index);
        if is_lone_header && result.is_empty() {
            return None;
        }
        if left == 0 || is_lone_header {
            return Some((result, (window.line_start, last)));
        }
        let count = text_lines(&window.text).count();
        if count <= left {
            left -= count;
            result.push(window.clone());
            continue;
        }
        let text: String = text_lines(&window.text).take(left).collect();
        let text = text.trim_end_matches(['\r', '\n']);
        let line_end = window.line_start + left - 1;
        let byte_end = window.byte_start + text.len();
        result.push(PassageWindow { text: text.to_owned(), line_end, byte_end, ..window.clone() });
        return Some((result, (line_end + 1, last)));
    }
    None
}

/// Returns whether the window at `index` is the header row of the next one.
fn is_header(passage: &[PassageWindow], index: usize) -> bool {
    let line = passage.get(index).map(|window| window.line_start);
    passage
        .get(index + 1)
        .is_some_and(|next| next.header_line.is_some() && next.header_line == line)
}

/// Returns the lines of a text with their line endings, as `CommonMark` defines them.
fn text_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (line, after) = rest.split_at_checked(next_line_start(rest.as_bytes(), 0))?;
        rest = after;
        (!line.is_empty()).then_some(line)
    })
}
