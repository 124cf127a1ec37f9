//! The slot of an edit: the lines that go, the blank lines around them, and the neighbours.
//!
//! Owns which blank lines stay, go and are added (see the parent module). Invariant: all bytes of the
//! old file outside the slot's own lines and the blank lines beside them stay.

use super::Splice;
use super::text::{first_line, is_line_start, last_line, slice, trimmed};
use crate::ldmd::is_marker_line;
use crate::position::{ByteSpan, next_line_start, trim_line_end};

/// Where content goes in a file.
#[derive(Debug)]
pub(super) struct Slot<'a> {
    file: &'a [u8],
    line_end: &'static [u8],
    /// Where the text of the file begins: behind a byte order mark.
    floor: usize,
    /// What goes, without blank lines at its ends and without its final line end.
    core: ByteSpan,
    /// Offset behind the last line before it that is not blank; `floor` where there is none.
    left: usize,
    /// Offset of the first line behind it that is not blank; the end of the file where there is none.
    right: usize,
    /// Whether blank lines are added.
    separates: bool,
}

impl<'a> Slot<'a> {
    /// The slot of the lines `core` between its neighbours.
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
        let behind = trimmed(file, ByteSpan::new(core.end, file.len()));
        let right = if behind.is_empty() { file.len() } else { behind.start };
        Self { file, line_end, floor, core, left, right, separates: true }
    }

    /// The slot inside a container, where a blank line may be too much: content goes to the very
    /// place, and brings its own blank lines.
    pub(super) fn close(mut self) -> Self {
        self.separates = false;
        if self.core.is_empty() {
            (self.left, self.right) = (self.core.start, self.core.start);
        }
        self
    }

    /// The slot at the very beginning of the text, before blank lines that are there.
    pub(super) fn first(mut self) -> Self {
        let rest = self.file.get(self.floor..).unwrap_or_default();
        self.separates = !first_line(rest).iter().all(u8::is_ascii_whitespace);
        if self.right < self.file.len() {
            self.right = self.floor;
        }
        self
    }

    /// Where the text before the slot ends, the line end left out, and where that behind it begins.
    pub(super) fn neighbours(&self) -> (usize, usize) {
        (trimmed(self.file, ByteSpan::new(self.floor, self.left)).end, self.right)
    }

    /// Puts `content`, which has no blank lines at its ends and no final line end, into the slot.
    /// With `all` each seam has a blank line at least, without it only those that need one as a rule.
    pub(super) fn fill(&self, content: &[u8], all: bool) -> Splice {
        if content.is_empty() {
            return self.empty(all);
        }
        let core = slice(self.file, self.core);
        let line_below = first_line(self.file.get(self.right..).unwrap_or_default());
        let is_new = |old: &[u8], new: &[u8]| core.is_empty() || old != new;
        let has_left = self.separates && self.left > self.floor;
        let has_right = self.separates && self.right < self.file.len();
        let is_seam_above =
            is_new(first_line(core), first_line(content)) && !is_marker_line(self.line_above());
        let is_seam_below =
            is_new(last_line(core), last_line(content)) && !is_marker_line(line_below);
        // How many line ends are missing for a blank line, given that there is none.
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

    /// Takes the core out, with one of the runs of blank lines beside it.
    fn empty(&self, all: bool) -> Splice {
        let mut at = ByteSpan::new(self.core.start, self.end_of_core());
        let mut blank_lines = 0;
        let has_left = self.left > self.floor;
        if self.core.is_empty() {
            at.end = at.start;
        } else if self.right == self.file.len() {
            at.start = if has_left { self.left } else { at.start };
            // What has no final line end keeps none.
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

    /// The last line before the slot that is not blank.
    fn line_above(&self) -> &[u8] {
        last_line(slice(self.file, ByteSpan::new(self.floor, self.neighbours().0)))
    }

    fn end_of_core(&self) -> usize {
        next_line_start(self.file, self.core.end)
    }

    /// Where the line that ends at `offset` ends without its line end.
    fn end_of_text_before(&self, offset: usize) -> usize {
        let before = slice(self.file, ByteSpan::new(self.floor, offset));
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
