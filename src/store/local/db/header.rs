//! The header of a store file: its first 100 bytes (sqlite.org/fileformat.html, section 1.3).
//!
//! Most fields are the same in every store. Invariant: a header is sound if mdsel may have written it.

use super::schema;

/// Size of the header in bytes.
pub(super) const LENGTH: usize = 100;

/// Page size in bytes that SQLite uses for a new file.
pub(super) const PAGE_BYTES: usize = 4096;

/// The offset and the value of each constant field.
const FIELDS: [(usize, &[u8]); 10] = [
    (0, b"SQLite format 3\0"),
    // Reserved bytes per page (0), and the payload fractions.
    (20, &[0, 64, 32, 32]),
    // The schema format number.
    (44, &[0, 0, 0, 4]),
    // The suggested cache size, and the largest root page (0 without auto-vacuum).
    (48, &[0; 8]),
    // The text encoding is UTF-8.
    (56, &[0, 0, 0, 1]),
    // Incremental vacuum is off.
    (64, &[0; 4]),
    (68, &schema::APPLICATION_ID.to_be_bytes()),
    (72, &[0; 10]),
    (82, &[0; 10]),
    // The first byte of the SQLite version number, which is always 0.
    (96, &[0]),
];

/// The offsets of the file format versions for writing and reading: 2 with a write-ahead log, 1
/// without.
const VERSIONS: [usize; 2] = [18, 19];

/// The offset of the number of pages.
pub(super) const PAGE_COUNT: usize = 28;

/// Returns the page size in bytes that a header states; `None` if the value is not allowed.
pub(super) fn page_bytes(header: &[u8]) -> Option<usize> {
    let size = match u16::from_be_bytes([*header.get(16)?, *header.get(17)?]) {
        1 => 1 << 16,
        size => usize::from(size),
    };
    (size.is_power_of_two() && size >= 512).then_some(size)
}

/// Returns whether a header is one that mdsel writes.
pub(super) fn is_sound(header: &[u8]) -> bool {
    let is_kept = |(at, value): &(usize, &[u8])| {
        header.get(*at..).is_some_and(|rest| rest.starts_with(value))
    };
    let is_version = |at: &usize| matches!(header.get(*at), Some(1 | 2));
    header.len() == LENGTH
        && FIELDS.iter().all(is_kept)
        && VERSIONS.iter().all(is_version)
        && page_bytes(header).is_some()
}

/// Sets the constant fields of a header to the values that mdsel writes, and the number of pages to
/// zero. SQLite then computes the number of pages from the size of the file.
pub(super) fn repair(header: &mut [u8; LENGTH]) {
    for (at, value) in FIELDS {
        header[at..at + value.len()].copy_from_slice(value);
    }
    for at in VERSIONS {
        if !matches!(header[at], 1 | 2) {
            header[at] = 2;
        }
    }
    if page_bytes(header).is_none() {
        // 4096 in big-endian order.
        header[16..18].copy_from_slice(&[0x10, 0]);
    }
    header[PAGE_COUNT..PAGE_COUNT + 4].fill(0);
}
