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
        self.line.clear();
        self.number += 1;
        let read = (&mut self.input).take(MAX_RECORD_BYTES as u64).read_line(&mut self.line);
        match read {
            Err(error) => Err(self.fault(&error.to_string())),
            Ok(_) if self.line.is_empty() => Ok(false),
            Ok(_) if self.line.ends_with('\n') => Ok(true),
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
