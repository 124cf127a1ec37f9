//! Reads files that arguments name, and standard input.

use std::io::{self, Read as _};
use std::path::Path;

use crate::error::{Error, Result};

/// Reads standard input to its end.
pub(super) fn standard_input() -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .read_to_end(&mut bytes)
        .map_err(|error| Error::io(Path::new("standard input"), error))?;
    Ok(bytes)
}

/// Reads a file, or standard input for `-`.
pub(super) fn read(path: &Path) -> Result<Vec<u8>> {
    if path == Path::new("-") {
        return standard_input();
    }
    std::fs::read(path).map_err(|error| Error::io(path, error))
}
