//! The content that is given to an edit.
//!
//! Invariant: missing content never empties a place. A script may run the program with standard input
//! closed, or after a command in a pipe that failed.

use crate::error::{Error, ErrorKind, Result};

/// Returns the content `given`. Empty content is accepted only if `empties`: the user gave it, as in
/// `--content ''`, and it empties a place. Missing or blank content is refused as `EMPTY_CONTENT`, and the caller adds
/// the hint.
pub fn checked_content(given: Option<Vec<u8>>, empties: bool) -> Result<Vec<u8>> {
    match given {
        Some(content) if content.is_empty() && empties => Ok(content),
        Some(content) if !content.iter().all(u8::is_ascii_whitespace) => Ok(content),
        _ => {
            Err(Error::new(ErrorKind::EditRefused, "there is no content")
                .with_reason("EMPTY_CONTENT"))
        }
    }
}
