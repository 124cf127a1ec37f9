//! Reads files that arguments name, and standard input.
//!
//! Invariant: input without an end fails with `LIMIT` and does not fill the memory.

use std::io::{self, Read};
use std::path::Path;

use crate::error::{Error, Result};
use crate::limits::{self, Limit};

/// No file of a store may have more bytes than this, so that no input has a use for more.
const MOST: Limit = limits::row::LARGEST_MAX_FILE_BYTES;

/// Reads standard input to its end. Fails with `LIMIT` if it has more than [`MOST`] bytes.
pub(super) fn standard_input() -> Result<Vec<u8>> {
    within(MOST, io::stdin().lock(), Path::new("standard input"))
}

/// Reads a file, or standard input for `-`. Fails with `LIMIT` if it has more than [`MOST`] bytes.
pub(super) fn read(path: &Path) -> Result<Vec<u8>> {
    if path == Path::new("-") {
        return standard_input();
    }
    let file = std::fs::File::open(path).map_err(|error| Error::io(path, error))?;
    within(MOST, file, path)
}

/// Reads `source` to its end, but no more than one byte above `limit`.
fn within(limit: Limit, source: impl Read, name: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let most = limit.value as u64;
    source
        .take(most.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|error| Error::io(name, error))?;
    if bytes.len() > limit.value { Err(limits::exceeded(limit)) } else { Ok(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn endless_input_is_refused() {
        let limit = Limit { value: 8, ..MOST };
        let name = Path::new("standard input");
        assert_eq!(within(limit, io::repeat(b'a').take(8), name).unwrap(), b"aaaaaaaa");
        let refused = within(limit, io::repeat(b'a'), name).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Limit);
    }
}
