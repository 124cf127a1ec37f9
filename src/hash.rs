//! Hashes as numbers.

/// Returns the first eight bytes of a blake3 hash as a number.
pub(crate) fn first_bytes(hash: &[u8; 32]) -> i64 {
    hash.first_chunk().map_or(0, |bytes| i64::from_le_bytes(*bytes))
}
