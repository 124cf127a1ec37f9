//! Reads lines of bounded length, and blocks of bytes between them.
//!
//! Invariant: only one line is kept in memory, and it has at most [`MAX_RECORD_BYTES`] bytes.

use std::io::{BufRead, Read as _};

use crate::limits::{MAX_DOCUMENT_BYTES, MAX_RECORD_BYTES};

/// A problem in a stream of records or in a pack.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct LineError {
    /// The line with the problem, 1-based.
    pub line: usize,
    /// The problem. The message contains no text of the stream.
    pub message: String,
}

/// The lines of a stream, one at a time.
#[derive(Debug)]
pub(crate) struct RecordLines<R: BufRead> {
    input: R,
    line: String,
    number: usize,
}

impl<R: BufRead> RecordLines<R> {
    /// Reads the lines of `input`, starting before the first line.
    pub(crate) fn new(input: R) -> Self {
        Self { input, line: String::new(), number: 0 }
    }

    /// Reads the next line; returns false at the end of the input. A line without a line end is an error.
    pub(crate) fn advance(&mut self) -> Result<bool, LineError> {
        let mut line = std::mem::take(&mut self.line).into_bytes();
        line.clear();
        self.number += 1;
        // The limit may be within a character, so the bytes become text afterward.
        let read = (&mut self.input).take(MAX_RECORD_BYTES as u64).read_until(b'\n', &mut line);
        match read {
            Err(error) => Err(self.fault(&error.to_string())),
            Ok(0) => Ok(false),
            Ok(_) if line.ends_with(b"\n") => {
                self.line = String::from_utf8(line).map_err(|_| self.fault("it is not UTF-8"))?;
                Ok(true)
            }
            Ok(MAX_RECORD_BYTES) => Err(self.fault("the line is too long")),
            Ok(_) => Err(self.fault("the line is truncated")),
        }
    }

    /// The current line, with its line end; empty before the first line.
    pub(crate) fn line(&self) -> &str {
        &self.line
    }

    /// The current line, without its line end.
    pub(crate) fn text(&self) -> &str {
        self.line.strip_suffix('\n').unwrap_or(&self.line)
    }

    /// The number of the current line, 1-based.
    pub(crate) fn number(&self) -> usize {
        self.number
    }

    /// Reads the `count` bytes after the line. Memory grows with the bytes that are read, not with `count`.
    pub(crate) fn bytes(&mut self, count: usize) -> Result<Vec<u8>, LineError> {
        if count > MAX_DOCUMENT_BYTES {
            return Err(self.fault("too many bytes"));
        }
        let mut bytes = Vec::new();
        let read = (&mut self.input).take(count as u64).read_to_end(&mut bytes);
        match read {
            Err(error) => Err(self.fault(&error.to_string())),
            Ok(length) if length < count => {
                Err(self.fault("the bytes after the line are truncated"))
            }
            Ok(_) => {
                self.number += memchr::memchr_iter(b'\n', &bytes).count();
                Ok(bytes)
            }
        }
    }

    /// Returns a problem at the current line.
    pub(crate) fn fault(&self, message: &str) -> LineError {
        LineError { line: self.number, message: message.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_that_cannot_be_read_has_its_reason() {
        let long = "\u{20ac}".repeat(MAX_RECORD_BYTES / 3 + 1);
        for (text, reason) in [
            (long.as_bytes(), "the line is too long"),
            (b"a", "the line is truncated"),
            ("\u{20ac}".as_bytes().get(..2).unwrap(), "the line is truncated"),
            (b"\xff\n", "it is not UTF-8"),
        ] {
            let fault = RecordLines::new(text).advance().unwrap_err();
            assert_eq!((fault.line, fault.message.as_str()), (1, reason));
        }
        let mut lines = RecordLines::new(&b"a\n\nb\r\n"[..]);
        let read: Vec<String> =
            std::iter::from_fn(|| lines.advance().unwrap().then(|| lines.text().to_owned()))
                .collect();
        assert_eq!((read, lines.number()), (["a", "", "b\r"].map(str::to_owned).to_vec(), 4));
    }
}
