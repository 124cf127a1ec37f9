//! Lines of bounded length, and bytes between them.
//!
//! Invariant: no more is kept in memory than one line, and that is never longer than
//! [`MAX_RECORD_BYTES`].

use std::io::{BufRead, Read as _};

use crate::limits::{MAX_DOCUMENT_BYTES, MAX_RECORD_BYTES};

/// What is wrong with a stream of records or with a pack.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct Fault {
    /// The line that is wrong, 1-based.
    pub line: usize,
    /// What is wrong with it; holds nothing of the stream's own text.
    pub message: String,
}

/// The lines of a stream, one at a time.
#[derive(Debug)]
pub(crate) struct Lines<R: BufRead> {
    input: R,
    line: String,
    number: usize,
}

impl<R: BufRead> Lines<R> {
    /// The lines of `input`, before the first one.
    pub(crate) fn new(input: R) -> Self {
        Self { input, line: String::new(), number: 0 }
    }

    /// Goes to the next line; false at the end. A line that nothing ends is refused.
    pub(crate) fn advance(&mut self) -> Result<bool, Fault> {
        self.line.clear();
        self.number += 1;
        let read = (&mut self.input).take(MAX_RECORD_BYTES as u64).read_line(&mut self.line);
        match read {
            Err(error) => Err(self.fault(&error.to_string())),
            Ok(_) if self.line.is_empty() => Ok(false),
            Ok(_) if self.line.ends_with('\n') => Ok(true),
            Ok(MAX_RECORD_BYTES) => Err(self.fault("the line is too long")),
            Ok(_) => Err(self.fault("the line is cut off")),
        }
    }

    /// The line with its end.
    pub(crate) fn line(&self) -> &str {
        &self.line
    }

    /// The line without its end.
    pub(crate) fn text(&self) -> &str {
        self.line.strip_suffix('\n').unwrap_or(&self.line)
    }

    /// The line's number, 1-based.
    pub(crate) fn number(&self) -> usize {
        self.number
    }

    /// Takes the `count` bytes that follow the line. Memory grows with what is there, not with what
    /// is said to be there.
    pub(crate) fn bytes(&mut self, count: usize) -> Result<Vec<u8>, Fault> {
        if count > MAX_DOCUMENT_BYTES {
            return Err(self.fault("too many bytes"));
        }
        let mut bytes = Vec::new();
        let read = (&mut self.input).take(count as u64).read_to_end(&mut bytes);
        match read {
            Err(error) => Err(self.fault(&error.to_string())),
            Ok(length) if length < count => Err(self.fault("its bytes are cut off")),
            Ok(_) => {
                self.number += memchr::memchr_iter(b'\n', &bytes).count();
                Ok(bytes)
            }
        }
    }

    /// A fault of the line.
    pub(crate) fn fault(&self, message: &str) -> Fault {
        Fault { line: self.number, message: message.to_owned() }
    }
}
