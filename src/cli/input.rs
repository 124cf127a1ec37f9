//! What comes from files that are named, and from standard input.

use std::io::{self, Read as _};
use std::path::Path;

use crate::error::{Error, Result};

/// All of standard input.
pub(super) fn standard_input() -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .read_to_end(&mut bytes)
        .map_err(|error| Error::io(Path::new("standard input"), error))?;
    Ok(bytes)
}

/// The bytes of a file; of standard input for `-`.
pub(super) fn read(path: &Path) -> Result<Vec<u8>> {
    if path == Path::new("-") {
        return standard_input();
    }
    std::fs::read(path).map_err(|error| Error::io(path, error))
}
