//! The insertion point of an edit: the lines to remove, the blank lines around them, and their neighbors.
//!
//! Owns the rules for which blank lines stay, are removed and are added (see the parent module). Invariant:
//! only the lines to remove and the blank lines next to them change.

use super::Splice;
use super::text::{first_line, is_line_start, last_line, trimmed};
use crate::ldmd::is_marker_line;
use crate::position::{ByteSpan, next_line_start, trim_line_end};

/// Where content is inserted into a file.
#[derive(Debug)]
pub(super) struct InsertionPoint<'a> {
    file: &'a [u8],
    line_end: &'static [u8],
    /// Offset at which the text of the file begins, after a byte order mark.
    floor: usize,
    /// The bytes to remove, without blank lines at both ends and without the final line end.
    core: ByteSpan,
    /// Offset after the last line before `core` that is not blank; `floor` if there is none.
    left: usize,
    /// Offset of the first line after `core` that is not blank; the end of the file if there is none.
    right: usize,
    /// Whether blank lines may be added.
    separates: bool,
}

impl<'a> InsertionPoint<'a> {
    /// The insertion point that replaces the lines `core`.
    pub(super) fn new(
        file: &'a [u8],
        floor: usize,
        core: ByteSpan,
        line_end: &'static [u8],
    ) -> Self {
        let before = trimmed(file, ByteSpan::new(floor, core.start));
        let left = if before.is_empty() {
            floor
        } else {
            next_line_start(file, before.end).min(core.start)
        };
        let after = trimmed(file, ByteSpan::new(core.end, file.len()));
        let right = if after.is_empty() { file.len() } else { after.start };
        Self { file, line_end, floor, core, left, right, separates: true }
    }

    /// For a place inside a container, where an added blank line could change the meaning: content goes exactly
    /// to the place and keeps its own blank lines.
    pub(super) fn close(mut self) -> Self {
        self.separates = false;
        if self.core.is_empty() {
            (self.left, self.right) = (self.core.start, self.core.start);
        }
        self
    }

    /// For content that extends the list above or below: without a blank line between them.
    pub(super) fn joined(mut self, is_above: bool) -> Self {
        self.separates = false;
        let at = if is_above { self.left } else { self.right };
        (self.left, self.right) = (at, at);
        self
    }

    /// For the very beginning of the text, before any blank lines there.
    pub(super) fn first(mut self) -> Self {
        let rest = self.file.get(self.floor..).unwrap_or_default();
        self.separates = !first_line(rest).iter().all(u8::is_ascii_whitespace);
        if self.right < self.file.len() {
            self.right = self.floor;
        }
        self
    }

    /// The offset at which the text before the insertion point ends, without its line end, and the offset at
    /// which the text after it begins.
    pub(super) fn neighbors(&self) -> (usize, usize) {
        (trimmed(self.file, ByteSpan::new(self.floor, self.left)).end, self.right)
    }

    /// The splice that inserts `content`, which must have no blank lines at its ends and no final line end.
    /// If `all`, there is a blank line both before and after the content; otherwise only where the rules of the
    /// parent module add one.
    pub(super) fn fill(&self, content: &[u8], all: bool) -> Splice {
        if content.is_empty() {
            return self.empty(all);
        }
        let core = self.core.of(self.file);
        let line_below = first_line(self.file.get(self.right..).unwrap_or_default());
        // A marker that gets another attribute stays next to what it was next to.
        let is_new = |old: &[u8], new: &[u8]| {
            core.is_empty() || old != new && !(is_marker_line(old) && is_marker_line(new))
        };
        let has_left = self.separates && self.left > self.floor;
        let has_right = self.separates && self.right < self.file.len();
        let is_seam_above =
            is_new(first_line(core), first_line(content)) && !is_marker_line(self.line_above());
        let is_seam_below =
            is_new(last_line(core), last_line(content)) && !is_marker_line(line_below);
        // The number of line ends to add for a blank line, if there is no blank line yet.
        let above = usize::from(has_left && (all || is_seam_above));
        let below = usize::from(has_right && (all || is_seam_below));
        if !core.is_empty() {
            let above = if self.left == self.core.start { above } else { 0 };
            let below = if self.right == self.end_of_core() { below } else { 0 };
            self.splice(self.core, above, content, below)
        } else if self.right < self.file.len() {
            let above = if self.left == self.right { above } else { 0 };
            self.splice(ByteSpan::new(self.right, self.right), above, content, 1 + below)
        } else {
            let at = ByteSpan::new(self.left, self.left);
            let is_closed = is_line_start(self.file, self.floor, self.left);
            self.splice(at, above + usize::from(!is_closed), content, usize::from(is_closed))
        }
    }

    /// The splice that removes the core and one adjacent run of blank lines.
    fn empty(&self, all: bool) -> Splice {
        let mut at = ByteSpan::new(self.core.start, self.end_of_core());
        let mut blank_lines = 0;
        let has_left = self.left > self.floor;
        if self.core.is_empty() {
            at.end = at.start;
        } else if self.right == self.file.len() {
            at.start = if has_left { self.left } else { at.start };
            // A file without a final line end stays without one.
            if at.end == self.core.end && has_left && at.end > at.start {
                at.start = self.end_of_text_before(self.left);
            }
        } else if !has_left || self.left < self.core.start || is_marker_line(self.line_above()) {
            at.end = self.right;
        } else {
            blank_lines = usize::from(all && self.right == at.end);
        }
        self.splice(at, blank_lines, b"", 0)
    }

    /// The last line before the insertion point that is not blank.
    fn line_above(&self) -> &[u8] {
        last_line(ByteSpan::new(self.floor, self.neighbors().0).of(self.file))
    }

    fn end_of_core(&self) -> usize {
        next_line_start(self.file, self.core.end)
    }

    /// The offset at which the line that ends at `offset` ends without its line end.
    fn end_of_text_before(&self, offset: usize) -> usize {
        let before = ByteSpan::new(self.floor, offset).of(self.file);
        self.floor + trim_line_end(before).len()
    }

    fn splice(&self, at: ByteSpan, above: usize, content: &[u8], below: usize) -> Splice {
        let head = self.line_end.repeat(above);
        let start = at.start + head.len();
        let inserted = ByteSpan::new(start, start + content.len());
        let bytes = [&head[..], content, &self.line_end.repeat(below)].concat();
        Splice { at, bytes, inserted, ..Splice::default() }
    }
}
