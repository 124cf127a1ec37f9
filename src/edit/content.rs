//! Content that is given to an edit.
//!
//! Invariant: nothing is emptied because nothing was given. A program may be run with its standard
//! input closed, and after a pipe whose other end failed.

use crate::error::{Error, ErrorKind, Result};

/// The content `given`; empty only where it `is_said`: written out as the empty text.
pub fn checked_content(given: Option<Vec<u8>>, is_said: bool) -> Result<Vec<u8>> {
    match given {
        Some(content) if content.is_empty() && is_said => Ok(content),
        Some(content) if !content.iter().all(u8::is_ascii_whitespace) => Ok(content),
        _ => Err(Error::new(ErrorKind::EditRefused, "there is no content")
            .with_reason("EMPTY_CONTENT")
            .with_hint(
                "give it with --content, --content-file or standard input; --content '' empties a place",
            )),
    }
}
