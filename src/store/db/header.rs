//! The header of a store file: its first 100 bytes (sqlite.org/fileformat.html, section 1.3).
//!
//! Most of it is the same in every store. Invariant: a file whose header is not one that mdsel writes is
//! damaged where the rest shows that it is a store, else foreign, and SQLite never opens it.

use std::io::Read as _;
use std::path::Path;

use super::salvage::is_store;
use super::{corrupt, foreign, schema};
use crate::error::{Error, Result};

/// Bytes of the header.
pub(super) const LENGTH: usize = 100;

/// Bytes of a page that SQLite gives a new file.
pub(super) const PAGE_BYTES: usize = 4096;

/// What the first bytes of a file say of it.
#[derive(PartialEq, Eq)]
pub(super) enum Header {
    /// No file, or none with content.
    Absent,
    /// A database that may be a store.
    Plausible,
}

/// Where each constant field begins, and its value.
const FIELDS: [(usize, &[u8]); 10] = [
    (0, b"SQLite format 3\0"),
    // Bytes that are reserved on each page; fractions of a page.
    (20, &[0, 64, 32, 32]),
    // The format of the schema.
    (44, &[0, 0, 0, 4]),
    // Pages of cache that the file suggests, and its largest root page where it is vacuumed by itself.
    (48, &[0; 8]),
    // Text is UTF-8.
    (56, &[0, 0, 0, 1]),
    // Whether it is vacuumed step by step.
    (64, &[0; 4]),
    (68, &schema::APPLICATION_ID.to_be_bytes()),
    (72, &[0; 10]),
    (82, &[0; 10]),
    // SQLite's own version is never below 3.
    (96, &[0]),
];

/// Where the versions of the format for writing and for reading are: 2 with a log, 1 without.
const VERSIONS: [usize; 2] = [18, 19];

/// Where the number of pages is.
const PAGE_COUNT: usize = 28;

/// The size of a page in bytes, as a header says; `None` where it says none that is possible.
pub(super) fn page_bytes(header: &[u8]) -> Option<usize> {
    let size = match u16::from_be_bytes([*header.get(16)?, *header.get(17)?]) {
        1 => 1 << 16,
        size => usize::from(size),
    };
    (size.is_power_of_two() && size >= 512).then_some(size)
}

/// Whether a header is one that mdsel writes.
fn is_sound(header: &[u8]) -> bool {
    let is_kept = |(at, value): &(usize, &[u8])| {
        header.get(*at..).is_some_and(|rest| rest.starts_with(value))
    };
    let is_version = |at: &usize| matches!(header.get(*at), Some(1 | 2));
    header.len() == LENGTH
        && FIELDS.iter().all(is_kept)
        && VERSIONS.iter().all(is_version)
        && page_bytes(header).is_some()
}

/// Gives a header the values that mdsel writes, and no number of pages: SQLite then takes as many as the file
/// has.
pub(super) fn mend(header: &mut [u8; LENGTH]) {
    for (at, value) in FIELDS {
        header[at..at + value.len()].copy_from_slice(value);
    }
    for at in VERSIONS {
        if !matches!(header[at], 1 | 2) {
            header[at] = 2;
        }
    }
    if page_bytes(header).is_none() {
        // 4096, big-endian.
        header[16..18].copy_from_slice(&[0x10, 0]);
    }
    header[PAGE_COUNT..PAGE_COUNT + 4].fill(0);
}

/// Reads the header of a file.
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
        return Err(corrupt(path, "its header is not the one that mdsel writes"));
    }
    Err(foreign(path))
}
