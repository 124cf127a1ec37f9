//! Positions in a document: byte spans, line spans, and the line index that converts between them.
//!
//! Owns the definition of a line: LF, CRLF and a lone CR end a line, and nothing else does (`CommonMark`
//! 0.31.2, section 2.1). Invariant: every offset is an offset into the bytes of the file, including its
//! byte order mark, even if a parser was given modified bytes.

use serde::{Deserialize, Serialize};

/// A half-open range of byte offsets into a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ByteSpan {
    /// Offset of the first byte, 0-based.
    pub start: usize,
    /// Offset after the last byte, 0-based.
    pub end: usize,
}

impl ByteSpan {
    /// Creates the span from `start` to `end`, exclusive. `start` must be at most `end`.
    pub fn new(start: usize, end: usize) -> Self {
        debug_assert!(start <= end);
        Self { start, end }
    }

    /// The number of bytes in the span.
    pub fn len(self) -> usize {
        self.end - self.start
    }

    /// Whether the span contains no byte.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Returns the part of the span within the first `length` bytes.
    #[must_use]
    pub fn clipped(self, length: usize) -> Self {
        let start = self.start.min(length);
        Self { start, end: self.end.clamp(start, length) }
    }

    /// Returns the bytes of the span; no bytes if the span exceeds `bytes`.
    pub fn of(self, bytes: &[u8]) -> &[u8] {
        bytes.get(self.start..self.end).unwrap_or_default()
    }

    /// Whether all of `other` is inside this span.
    pub fn contains(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}

/// An inclusive range of line numbers, 1-based.
///
/// An empty node has `end == start - 1`, and `start` is the line before which it is. The root of a document
/// that begins with a heading is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LineSpan {
    /// Number of the first line, 1-based.
    pub start: usize,
    /// Number of the last line, 1-based, inclusive.
    pub end: usize,
}

impl LineSpan {
    /// Returns whether the line with this number is in the range.
    pub fn contains(self, line: usize) -> bool {
        (self.start..=self.end).contains(&line)
    }
}

/// A line of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// The number of the line, 1-based.
    pub(crate) number: usize,
    /// Offset of its first byte, 0-based.
    pub(crate) start: usize,
    /// Offset after its line end, or after the text if it has none.
    pub(crate) end: usize,
}

/// The offsets at which the lines of a text begin.
#[derive(Clone, Debug)]
pub struct LineIndex {
    starts: Vec<usize>,
    length: usize,
}

impl LineIndex {
    /// Indexes `bytes`. A final line end does not begin another line; an empty text has no lines.
    pub fn new(bytes: &[u8]) -> Self {
        let mut starts = Vec::with_capacity(bytes.len() / 32 + 1);
        if !bytes.is_empty() {
            starts.push(0);
        }
        if memchr::memchr(b'\r', bytes).is_none() {
            // Most texts have no CR, and a search for one byte is faster than a search for two.
            starts.extend(memchr::memchr_iter(b'\n', bytes).map(|at| at + 1));
            starts.pop_if(|start| *start == bytes.len());
            return Self { starts, length: bytes.len() };
        }
        for at in memchr::memchr2_iter(b'\n', b'\r', bytes) {
            // The CR of a CRLF does not end a line by itself.
            let is_crlf = bytes.get(at) == Some(&b'\r') && bytes.get(at + 1) == Some(&b'\n');
            if !is_crlf && at + 1 < bytes.len() {
                starts.push(at + 1);
            }
        }
        Self { starts, length: bytes.len() }
    }

    /// The number of lines; 0 for an empty text.
    pub fn count(&self) -> usize {
        self.starts.len()
    }

    /// The line, 1-based, that contains the byte at `offset`; past the end, the number after the last line.
    pub fn line_of(&self, offset: usize) -> usize {
        if offset >= self.length {
            return self.starts.len() + 1;
        }
        self.starts.partition_point(|&start| start <= offset)
    }

    /// The line that contains the byte at `offset`; past the end, an empty line after the last one, at the end.
    pub(crate) fn line_at(&self, offset: usize) -> Line {
        self.line(self.line_of(offset))
    }

    /// The line with this number, 1-based; past the end, an empty line at the end of the text.
    pub(crate) fn line(&self, number: usize) -> Line {
        Line { number, start: self.start_of(number), end: self.end_of(number) }
    }

    /// Offset of the first byte of `line` (1-based); past the end, the length of the text.
    pub fn start_of(&self, line: usize) -> usize {
        line.checked_sub(1).and_then(|index| self.starts.get(index)).copied().unwrap_or(self.length)
    }

    /// Offset after the line end of `line` (1-based); past the end, the length of the text.
    pub fn end_of(&self, line: usize) -> usize {
        self.start_of(line + 1)
    }

    /// The lines that contain the bytes of `span`; an empty [`LineSpan`] if `span` is empty.
    pub fn lines(&self, span: ByteSpan) -> LineSpan {
        let start = self.line_of(span.start);
        if span.is_empty() {
            return LineSpan { start, end: start - 1 };
        }
        LineSpan { start, end: self.line_of(span.end - 1) }
    }
}

/// Finds the lines of a few ascending offsets. The lines in between are counted, which takes less time than an index of
/// them. Each byte is read a few times at most, and none after the line of the last offset.
#[derive(Clone, Debug)]
pub(crate) struct LineFinder<'a> {
    bytes: &'a [u8],
    /// The line that was found last.
    last: Line,
}

impl<'a> LineFinder<'a> {
    /// Creates a finder for the lines of `bytes`.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, last: Line { number: 1, start: 0, end: next_line_start(bytes, 0) } }
    }

    /// The line that contains the byte at `offset`, which must be in the text or 0. An offset before the line that was
    /// found last is looked for from the beginning of the text.
    pub(crate) fn line_at(&mut self, offset: usize) -> Line {
        if offset < self.last.start {
            *self = Self::new(self.bytes);
        }
        if offset >= self.last.end && self.last.end < self.bytes.len() {
            let (mut number, mut start) = (self.last.number + 1, self.last.end);
            let piece = self.bytes.get(start..=offset).unwrap_or_default();
            if memchr::memchr(b'\r', piece).is_some() {
                let line = LineIndex::new(piece).line_at(offset - start);
                (number, start) = (number + line.number - 1, start + line.start);
            } else {
                let before = self.bytes.get(start..offset).unwrap_or_default();
                number += memchr::memchr_iter(b'\n', before).count();
                start += memchr::memrchr(b'\n', before).map_or(0, |end| end + 1);
            }
            self.last = Line { number, start, end: next_line_start(self.bytes, offset) };
        }
        self.last
    }
}

/// Offset after the LF, CRLF or CR that ends the line that contains `position`; the length of `bytes` if
/// that line has no line end.
pub fn next_line_start(bytes: &[u8], position: usize) -> usize {
    let rest = bytes.get(position..).unwrap_or_default();
    match memchr::memchr2(b'\n', b'\r', rest) {
        None => bytes.len(),
        Some(at) => {
            let crlf = rest.get(at) == Some(&b'\r') && rest.get(at + 1) == Some(&b'\n');
            position + at + if crlf { 2 } else { 1 }
        }
    }
}

/// Returns `line` without the LF, CRLF or CR at its end.
pub fn trim_line_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The lines of `text` with their line ends.
pub(crate) fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut position = 0;
    std::iter::from_fn(move || {
        let end = next_line_start(text, position);
        let line = text.get(position..end).filter(|line| !line.is_empty());
        position = end;
        line
    })
}

/// The line end that most lines of `text` have; the first of LF, CRLF and CR if several are equally
/// frequent; `None` if no line has one.
pub(crate) fn dominant_line_end(text: &[u8]) -> Option<&'static [u8]> {
    let mut counts = [(0, &b"\n"[..]), (0, b"\r\n"), (0, b"\r")];
    for line in lines(text) {
        let ending = line.get(trim_line_end(line).len()..).unwrap_or_default();
        for (count, _) in counts.iter_mut().filter(|(_, line_end)| *line_end == ending) {
            *count += 1;
        }
    }
    // `max_by_key` returns the last of several equal maxima, so the order is reversed.
    let most = counts.into_iter().rev().max_by_key(|(count, _)| *count);
    most.filter(|(count, _)| *count > 0).map(|(_, line_end)| line_end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn lines_are_found_as_they_are_indexed(
            text in "[a\n\r]{0,40}", offsets in proptest::collection::vec(0..40_usize, 1..9)
        ) {
            let bytes = text.as_bytes();
            let (index, mut finder) = (LineIndex::new(bytes), LineFinder::new(bytes));
            for offset in offsets.into_iter().map(|offset| offset % bytes.len().max(1)) {
                prop_assert_eq!(finder.line_at(offset), index.line_at(offset));
            }
        }
    }

    #[test]
    fn only_lf_crlf_and_lone_cr_end_a_line() {
        let text = "a\nb\r\nc\rd\u{2028}e\u{b}f\u{c}g\u{85}h".as_bytes();
        let index = LineIndex::new(text);
        assert_eq!(index.count(), 4);
        assert_eq!((index.start_of(2), index.start_of(3), index.start_of(4)), (2, 5, 7));
        assert_eq!(index.end_of(4), text.len());
        assert_eq!(index.line_of(4), 2, "the LF of a CRLF belongs to its line");
    }

    #[test]
    fn a_final_line_end_does_not_begin_a_line() {
        assert_eq!(LineIndex::new(b"").count(), 0);
        assert_eq!(LineIndex::new(b"\n").count(), 1);
        assert_eq!(LineIndex::new(b"a\n").count(), 1);
        assert_eq!(LineIndex::new(b"a\n\n").count(), 2);
    }

    #[test]
    fn the_line_span_of_an_empty_span_ends_before_it_starts() {
        let index = LineIndex::new(b"a\nb\n");
        assert_eq!(index.lines(ByteSpan::new(2, 2)), LineSpan { start: 2, end: 1 });
        assert_eq!(index.lines(ByteSpan::new(0, 4)), LineSpan { start: 1, end: 2 });
    }
}
