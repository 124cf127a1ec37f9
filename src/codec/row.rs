//! The stored form of packed rows: as they are if they are short, compressed if they are long.
//!
//! A compressed row is [`MARK`] and a frame of zstd ([RFC 8878]). Invariants: reading what was written returns the
//! same bytes. Reading any other bytes returns a row of at most [`MAX_ROW_BYTES`] and never panics.
//!
//! [RFC 8878]: https://www.rfc-editor.org/rfc/rfc8878

use std::borrow::Cow;
use std::cell::RefCell;

use zstd::bulk::Compressor;

use super::content::{LEVEL, decompress};
use crate::limits::MAX_ROW_BYTES;

/// The beginning of a compressed row. Every packed form begins with a variable-length integer, and postcard
/// never writes a zero of two bytes.
const MARK: [u8; 2] = [0x80, 0];

/// The size in bytes from which a row is compressed. In 138 MB of documents one row of sixteen is as long, and these
/// rows have three quarters of what compression would save in all of them.
const LEAST_BYTES: usize = 1024;

thread_local! {
    /// Reused, because creating a compressor costs more than compressing a row.
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
}

/// Returns the stored form of a packed row.
pub(crate) fn stored(packed: &[u8]) -> Cow<'_, [u8]> {
    if packed.len() < LEAST_BYTES {
        return Cow::Borrowed(packed);
    }
    let frame = COMPRESSOR.with_borrow_mut(|compressor| {
        if compressor.is_none() {
            *compressor = Compressor::new(LEVEL).ok();
        }
        compressor.as_mut()?.compress(packed).ok()
    });
    match frame {
        Some(frame) if MARK.len() + frame.len() < packed.len() => {
            Cow::Owned([&MARK, frame.as_slice()].concat())
        }
        _ => Cow::Borrowed(packed),
    }
}

/// Returns the packed row of a stored form. A damaged one stays as it is; the checksum of the row shows that.
pub(crate) fn packed(stored: Vec<u8>) -> Vec<u8> {
    let frame = stored.strip_prefix(&MARK);
    frame.and_then(|frame| decompress(frame, MAX_ROW_BYTES)).unwrap_or(stored)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_long_row_is_shorter_when_it_is_stored() {
        let row: Vec<u8> = (0..=u8::MAX).cycle().take(LEAST_BYTES).collect();
        assert!(stored(&row).len() < LEAST_BYTES / 2);
        let short = &row[1..];
        assert_eq!(stored(short), short);
    }

    /// Every later version must read what this one wrote.
    #[test]
    fn a_row_of_this_version_is_read() {
        let written =
            "8000 28b52ffd607002ed0000b07c2063656c6c207c206f662061207461626c65207c0a0100ae66359b";
        let digits: Vec<char> = written.chars().filter(char::is_ascii_hexdigit).collect();
        let byte = |pair: &[char]| u8::from_str_radix(&String::from_iter(pair), 16).unwrap();
        let row = digits.chunks(2).map(byte).collect();
        assert_eq!(packed(row), b"| cell | of a table |\n".repeat(40));
    }

    #[test]
    fn a_frame_that_states_a_size_over_the_limit_is_not_decompressed() {
        let long = vec![0; MAX_ROW_BYTES + 1];
        let frame = zstd::bulk::compress(&long, LEVEL).unwrap();
        let row = [&MARK, frame.as_slice()].concat();
        assert_eq!(packed(row.clone()), row);
    }

    proptest! {
        #[test]
        fn reading_returns_the_row_that_was_written(
            row in proptest::collection::vec(0..8_u8, 0..3 * LEAST_BYTES)
        ) {
            prop_assert_eq!(packed(stored(&row).into_owned()), row);
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(
            rest in proptest::collection::vec(any::<u8>(), 0..64), is_frame: bool
        ) {
            let magic: &[u8] = if is_frame { &[0x28, 0xb5, 0x2f, 0xfd] } else { &[] };
            packed([&MARK, magic, rest.as_slice()].concat());
        }
    }
}
