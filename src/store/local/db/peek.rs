//! Whether a file is a store, before SQLite opens it.
//!
//! Invariant: SQLite never opens a file whose header differs from what mdsel writes. Such a file is damaged if the rest
//! of it shows that it is a store, and foreign if not.

use std::io::Read as _;
use std::path::Path;

use super::header::{LENGTH, is_sound};
use super::pages::Pages;
use super::{corrupt, foreign};
use crate::error::{Error, Result};

/// The result of reading the header.
#[derive(PartialEq, Eq)]
pub(super) enum Header {
    /// The file does not exist or is empty.
    Absent,
    /// The header is one that mdsel writes.
    Plausible,
}

/// The SQL statements by which a file with a damaged header is recognized as a store. At least half
/// of them must be on the first pages.
const STATEMENTS: [&[u8]; 6] = [
    b"CREATE TABLE meta (",
    b"CREATE TABLE content (",
    b"CREATE TABLE link_key (",
    b"CREATE TABLE ldmd_section (",
    b"CREATE TABLE edit_intent (",
    b"CREATE INDEX document_name_key ON document",
];

/// The number of pages at the beginning of the file on which the schema is searched.
const SCHEMA_PAGES: usize = 64;

/// Reads and checks the header of a file.
pub(super) fn peek(path: &Path) -> Result<Header> {
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Header::Absent),
        Err(error) => return Err(Error::io(path, error)),
    };
    if !metadata.is_file() {
        return Err(foreign(path));
    }
    if metadata.len() == 0 {
        return Ok(Header::Absent);
    }
    let mut header = Vec::with_capacity(LENGTH);
    let read = std::fs::File::open(path)
        .and_then(|file| file.take(LENGTH as u64).read_to_end(&mut header));
    read.map_err(|error| Error::io(path, error))?;
    if is_sound(&header) {
        return Ok(Header::Plausible);
    }
    if is_store(path) {
        return Err(corrupt(path, "its header differs from what mdsel writes"));
    }
    Err(foreign(path))
}

/// Returns whether the file at `path` is a store, however damaged.
fn is_store(path: &Path) -> bool {
    let Ok(pages) = Pages::open(path) else { return false };
    let mut known = [false; STATEMENTS.len()];
    for page in pages.numbers().take(SCHEMA_PAGES).filter_map(|number| pages.page(number)) {
        for (statement, is_known) in STATEMENTS.iter().zip(&mut known) {
            *is_known |= memchr::memmem::find(&page, statement).is_some();
        }
    }
    known.into_iter().filter(|is_known| *is_known).count() * 2 >= STATEMENTS.len()
}
