//! Places in a document: byte spans, line spans, and the line index that turns one into the other.
//!
//! Owns the one definition of a line (`CommonMark` section 2.1: LF, CRLF and a lone CR end a line,
//! nothing else does). Invariant: every offset is an offset into the file's own bytes, a byte order
//! mark included, whatever a parser was given instead of them.

use serde::{Deserialize, Serialize};

/// A half-open range of byte offsets into a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ByteSpan {
    /// Offset of the first byte, 0-based.
    pub start: usize,
    /// Offset behind the last byte.
    pub end: usize,
}

impl ByteSpan {
    /// The span from `start` up to, not including, `end`.
    pub fn new(start: usize, end: usize) -> Self {
        debug_assert!(start <= end);
        Self { start, end }
    }

    /// Length in bytes.
    pub fn len(self) -> usize {
        self.end - self.start
    }

    /// Whether the span holds no byte.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Whether `other` lies wholly inside this span.
    pub fn contains(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}

/// An inclusive range of line numbers, 1-based.
///
/// An empty node (a document that begins with its first heading has an empty root) is told by
/// `end == start - 1`, the line before which it stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LineSpan {
    /// First line, 1-based.
    pub start: usize,
    /// Last line, inclusive.
    pub end: usize,
}

/// Where the lines of a text begin.
#[derive(Clone, Debug)]
pub struct LineIndex {
    starts: Vec<usize>,
    length: usize,
}

impl LineIndex {
    /// Indexes `bytes`. A final line end begins no further line; an empty text has no line.
    pub fn new(bytes: &[u8]) -> Self {
        let mut starts = Vec::with_capacity(bytes.len() / 32 + 1);
        if !bytes.is_empty() {
            starts.push(0);
        }
        if memchr::memchr(b'\r', bytes).is_none() {
            // As most texts are: one kind of line end is found faster than two.
            starts.extend(memchr::memchr_iter(b'\n', bytes).map(|at| at + 1));
            starts.pop_if(|start| *start == bytes.len());
            return Self { starts, length: bytes.len() };
        }
        for at in memchr::memchr2_iter(b'\n', b'\r', bytes) {
            // The CR of a CRLF ends no line by itself.
            let is_crlf = bytes.get(at) == Some(&b'\r') && bytes.get(at + 1) == Some(&b'\n');
            if !is_crlf && at + 1 < bytes.len() {
                starts.push(at + 1);
            }
        }
        Self { starts, length: bytes.len() }
    }

    /// Number of lines.
    pub fn count(&self) -> usize {
        self.starts.len()
    }

    /// The line, 1-based, that holds the byte at `offset`; past the end, the line behind the last.
    pub fn line_of(&self, offset: usize) -> usize {
        if offset >= self.length {
            return self.starts.len() + 1;
        }
        self.starts.partition_point(|&start| start <= offset)
    }

    /// Offset of the first byte of `line` (1-based); past the end, the length of the text.
    pub fn start_of(&self, line: usize) -> usize {
        line.checked_sub(1).and_then(|index| self.starts.get(index)).copied().unwrap_or(self.length)
    }

    /// Offset behind the line end of `line` (1-based).
    pub fn end_of(&self, line: usize) -> usize {
        self.start_of(line + 1)
    }

    /// The lines that `span` touches.
    pub fn lines(&self, span: ByteSpan) -> LineSpan {
        let start = self.line_of(span.start);
        if span.is_empty() {
            return LineSpan { start, end: start - 1 };
        }
        LineSpan { start, end: self.line_of(span.end - 1) }
    }
}

/// Offset behind the end of the line that holds `position`: behind its LF, CRLF or CR, or the
/// length of `bytes` where the last line has none.
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

/// The line without its line end.
pub fn trim_line_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lf_crlf_and_lone_cr_end_lines_and_nothing_else_does() {
        let text = "a\nb\r\nc\rd\u{2028}e\u{b}f\u{c}g\u{85}h".as_bytes();
        let index = LineIndex::new(text);
        assert_eq!(index.count(), 4);
        assert_eq!((index.start_of(2), index.start_of(3), index.start_of(4)), (2, 5, 7));
        assert_eq!(index.end_of(4), text.len());
        assert_eq!(index.line_of(4), 2, "the LF of a CRLF belongs to its line");
    }

    #[test]
    fn a_final_line_end_begins_no_line() {
        assert_eq!(LineIndex::new(b"").count(), 0);
        assert_eq!(LineIndex::new(b"\n").count(), 1);
        assert_eq!(LineIndex::new(b"a\n").count(), 1);
        assert_eq!(LineIndex::new(b"a\n\n").count(), 2);
    }

    #[test]
    fn empty_spans_end_before_they_start() {
        let index = LineIndex::new(b"a\nb\n");
        assert_eq!(index.lines(ByteSpan::new(2, 2)), LineSpan { start: 2, end: 1 });
        assert_eq!(index.lines(ByteSpan::new(0, 4)), LineSpan { start: 1, end: 2 });
    }
}
