//! The bytes of documents: compressed in chunks, decompressed by span.
//!
//! Chunk `n` contains the bytes from `n` times [`CONTENT_CHUNK_BYTES`]. It is a byte with the version of the
//! form, and then, for each part of [`PART_BYTES`], a checksum and a frame of zstd ([RFC 8878]). Chunks of
//! earlier versions of mdsel are one frame without a checksum.
//!
//! Invariants: unpacking returns exactly the bytes that were compressed. Only the parts that overlap a span
//! are decompressed. A part with a checksum is returned only for the document that it was compressed for.
//!
//! [RFC 8878]: https://www.rfc-editor.org/rfc/rfc8878

use std::cell::RefCell;
use std::ops::Range;

use crate::limits::CONTENT_CHUNK_BYTES;
use crate::position::ByteSpan;

/// The default level of zstd. In measurements on long documents, lower levels were hardly faster.
pub(super) const LEVEL: i32 = 3;

/// The level of zstd for short documents. It leaves literals as they are, so no table of codes has to be made, which is
/// most of the work of decompressing a short document. Of 138 MB of documents, those of at most [`MOST_SHORT_BYTES`] are
/// decompressed in a fifth of the time and all of them in two thirds of it, and their store is 2% larger.
const SHORT_LEVEL: i32 = -1;

/// The size in bytes up to which a document is short.
const MOST_SHORT_BYTES: usize = 2048;

/// The first byte of a chunk with checksums. No frame of zstd begins with it.
const VERSION: u8 = 1;

/// The first bytes of a frame of zstd.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The number of bytes of a document in a part.
const PART_BYTES: usize = 64 << 10;
const _: () = assert!(CONTENT_CHUNK_BYTES.is_multiple_of(PART_BYTES));

const CHECKSUM_BYTES: usize = size_of::<u32>();

/// Size limit of a compressed chunk in bytes: an upper bound for incompressible data.
pub(crate) const MAX_CHUNK_BYTES: usize = CONTENT_CHUNK_BYTES + (CONTENT_CHUNK_BYTES >> 7);

/// Compresses documents one after the other. Creating a compressor costs more than compressing a
/// small document.
pub(crate) struct ContentCompressor {
    usual: zstd::bulk::Compressor<'static>,
    /// For documents of at most [`MOST_SHORT_BYTES`].
    short: zstd::bulk::Compressor<'static>,
}

impl ContentCompressor {
    pub(crate) fn new() -> std::io::Result<Self> {
        let compressor = zstd::bulk::Compressor::new;
        Ok(Self { usual: compressor(LEVEL)?, short: compressor(SHORT_LEVEL)? })
    }

    /// Returns the compressed chunks of the document with these bytes and this hash, in order. An empty
    /// document has no chunks.
    pub(crate) fn compress(
        &mut self,
        bytes: &[u8],
        hash: &[u8; 32],
    ) -> std::io::Result<Vec<Vec<u8>>> {
        let is_short = bytes.len() <= MOST_SHORT_BYTES;
        let compressor = if is_short { &mut self.short } else { &mut self.usual };
        let mut start = 0;
        let mut chunk = |bytes: &[u8]| {
            let mut chunk = vec![VERSION];
            for part in bytes.chunks(PART_BYTES) {
                let frame = compressor.compress(part)?;
                chunk.extend(checksum(hash, start, &frame).to_le_bytes());
                chunk.extend(frame);
                start += part.len();
            }
            Ok(chunk)
        };
        bytes.chunks(CONTENT_CHUNK_BYTES).map(&mut chunk).collect()
    }
}

/// Returns the CRC-32 of the hash of a document, of the offset of a part in it, and of the part's frame.
fn checksum(hash: &[u8; 32], start: usize, frame: &[u8]) -> u32 {
    let mut checksum = crc32fast::Hasher::new();
    checksum.update(hash);
    checksum.update(&(start as u64).to_le_bytes());
    checksum.update(frame);
    checksum.finalize()
}

/// Returns the number of chunks of a document of `length` bytes.
pub(crate) fn chunk_count(length: usize) -> usize {
    length.div_ceil(CONTENT_CHUNK_BYTES)
}

/// Returns the numbers of the chunks that overlap a span.
pub(crate) fn chunks_of(span: ByteSpan) -> Range<usize> {
    if span.is_empty() { 0..0 } else { span.start / CONTENT_CHUNK_BYTES..chunk_count(span.end) }
}

/// Returns whether `beginning` is that of a chunk of any version.
pub(crate) fn is_chunk(beginning: &[u8]) -> bool {
    let is_versioned = beginning.first() == Some(&VERSION)
        && beginning.get(1 + CHECKSUM_BYTES..).is_some_and(|frame| frame.starts_with(&MAGIC));
    is_versioned || beginning.starts_with(&MAGIC)
}

/// Decompresses a chunk without comparing checksums; `None` if it cannot be decompressed.
pub(crate) fn chunk(compressed: &[u8]) -> Option<Vec<u8>> {
    let Some(mut rest) = parts(compressed) else {
        return decompress(compressed, CONTENT_CHUNK_BYTES);
    };
    let mut bytes = Vec::new();
    while !rest.is_empty() && bytes.len() < CONTENT_CHUNK_BYTES {
        let (_, frame) = next_part(&mut rest)?;
        bytes.extend(decompress(frame, PART_BYTES)?);
    }
    Some(bytes)
}

/// Returns the parts of a chunk; `None` if it has none because an earlier version wrote it.
fn parts(chunk: &[u8]) -> Option<&[u8]> {
    chunk.split_first().filter(|(version, _)| **version == VERSION).map(|(_, parts)| parts)
}

/// Removes the first part from `parts` and returns its checksum and its frame.
fn next_part<'a>(parts: &mut &'a [u8]) -> Option<(u32, &'a [u8])> {
    let (checksum, frames) = parts.split_first_chunk()?;
    let length = zstd::zstd_safe::find_frame_compressed_size(frames).ok()?;
    let (frame, rest) = frames.split_at_checked(length)?;
    *parts = rest;
    Some((u32::from_le_bytes(*checksum), frame))
}

/// The compressed chunks that contain a span.
pub(crate) struct PackedSpan {
    /// The span, within the document.
    pub(crate) span: ByteSpan,
    /// The length of the document in bytes.
    pub(crate) length: usize,
    /// The chunks that overlap the span, in order.
    pub(crate) chunks: Vec<Vec<u8>>,
}

/// The bytes of a span.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UnpackedSpan {
    pub(crate) bytes: Vec<u8>,
    /// Whether all of them were compared with checksums.
    pub(crate) is_checked: bool,
}

impl PackedSpan {
    /// Returns the bytes of the span in the document with this hash; `None` if the chunks are damaged,
    /// missing, or those of another document.
    pub(crate) fn unpack(&self, hash: &[u8; 32]) -> Option<UnpackedSpan> {
        let Self { span, length, .. } = *self;
        let mut unpacked = UnpackedSpan { bytes: Vec::new(), is_checked: true };
        for (index, number) in chunks_of(span).enumerate() {
            let start = number * CONTENT_CHUNK_BYTES;
            let end = length.min(start + CONTENT_CHUNK_BYTES);
            let chunk = self.chunks.get(index)?.as_slice();
            if let Some(mut rest) = parts(chunk) {
                for start in (start..end).step_by(PART_BYTES) {
                    let part = ByteSpan::new(start, end.min(start + PART_BYTES));
                    let (stored, frame) = next_part(&mut rest)?;
                    if span.start >= part.end || part.start >= span.end {
                        continue;
                    }
                    if checksum(hash, start, frame) != stored {
                        return None;
                    }
                    append(&mut unpacked.bytes, frame, part, span)?;
                }
            } else {
                unpacked.is_checked = false;
                append(&mut unpacked.bytes, chunk, ByteSpan::new(start, end), span)?;
            }
        }
        Some(unpacked)
    }
}

/// Decompresses `frame`, which has the bytes of the document in `within`, and appends those that are in `span`.
fn append(bytes: &mut Vec<u8>, frame: &[u8], within: ByteSpan, span: ByteSpan) -> Option<()> {
    let decompressed = decompress(frame, within.len())?;
    if decompressed.len() != within.len() {
        return None;
    }
    if bytes.is_empty() && span.start <= within.start && within.end == span.end {
        // Most documents have one part and are read whole, so nothing is copied.
        *bytes = decompressed;
        return Some(());
    }
    let from = span.start.clamp(within.start, within.end) - within.start;
    let to = span.end.clamp(within.start, within.end) - within.start;
    bytes.extend_from_slice(decompressed.get(from..to)?);
    Some(())
}

thread_local! {
    /// Reused, because creating a decompressor costs as much as decompressing a hundred small
    /// documents.
    static DECOMPRESSOR: RefCell<Option<zstd::bulk::Decompressor<'static>>> =
        const { RefCell::new(None) };
}

/// Decompresses a frame of at most `length` bytes; `None` if it is damaged or longer.
pub(super) fn decompress(frame: &[u8], length: usize) -> Option<Vec<u8>> {
    DECOMPRESSOR.with_borrow_mut(|decompressor| {
        if decompressor.is_none() {
            *decompressor = zstd::bulk::Decompressor::new().ok();
        }
        decompressor.as_mut()?.decompress(frame, length).ok()
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::*;

    const HASH: [u8; 32] = [7; 32];

    fn compressed(bytes: &[u8]) -> Vec<Vec<u8>> {
        ContentCompressor::new().unwrap().compress(bytes, &HASH).unwrap()
    }

    fn whole(bytes: &[u8], chunks: Vec<Vec<u8>>) -> PackedSpan {
        PackedSpan { span: ByteSpan::new(0, bytes.len()), length: bytes.len(), chunks }
    }

    /// Text of `length` bytes that can be compressed.
    fn text(length: usize) -> Vec<u8> {
        (0..).flat_map(|number: u32| number.to_string().into_bytes()).take(length).collect()
    }

    /// Returns the chunks in the form without checksums.
    fn earlier_form(bytes: &[u8]) -> Vec<Vec<u8>> {
        let chunks = bytes.chunks(CONTENT_CHUNK_BYTES);
        chunks.map(|chunk| zstd::bulk::compress(chunk, LEVEL).unwrap()).collect()
    }

    #[test]
    fn every_changed_bit_is_noticed() {
        let bytes = b"# Title\n\nSome text, some text, and more of the text.\n";
        let [chunk] = &compressed(bytes)[..] else { panic!("a small document has one chunk") };
        for bit in 0..chunk.len() * 8 {
            let mut changed = chunk.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(whole(bytes, vec![changed]).unpack(&HASH), None, "bit {bit}");
        }
    }

    #[test]
    fn a_chunk_belongs_to_one_document_and_one_offset() {
        let bytes = vec![b'a'; 2 * CONTENT_CHUNK_BYTES];
        let chunks = compressed(&bytes);
        assert_ne!(whole(&bytes, chunks.clone()).unpack(&HASH), None);
        assert_eq!(whole(&bytes, chunks.clone()).unpack(&[8; 32]), None);
        let swapped = chunks.into_iter().rev().collect();
        assert_eq!(whole(&bytes, swapped).unpack(&HASH), None);
    }

    #[test]
    fn only_the_parts_of_the_span_are_read() {
        let bytes = text(3 * PART_BYTES);
        let mut chunks = compressed(&bytes);
        let last = chunks[0].last_mut().unwrap();
        *last ^= 1;
        let packed = |start, end| PackedSpan {
            span: ByteSpan::new(start, end),
            length: bytes.len(),
            chunks: chunks.clone(),
        };
        let read = packed(10, 2 * PART_BYTES).unpack(&HASH).unwrap();
        assert_eq!(read.bytes, bytes[10..2 * PART_BYTES]);
        assert_eq!(packed(10, 2 * PART_BYTES + 1).unpack(&HASH), None);
    }

    #[test]
    fn chunks_of_any_version_are_recognized() {
        let bytes = text(100);
        for chunks in [compressed(&bytes), earlier_form(&bytes)] {
            assert!(is_chunk(&chunks[0]));
            assert_eq!(chunk(&chunks[0]), Some(bytes.clone()));
        }
        assert!(!is_chunk(&bytes) && !is_chunk(b"\x01abcd") && !is_chunk(b""));
    }

    #[test]
    fn short_documents_of_any_level_are_read() {
        let bytes = text(MOST_SHORT_BYTES);
        let frame = |level| zstd::bulk::compress(&bytes, level).unwrap();
        for frame in [frame(LEVEL), frame(SHORT_LEVEL)] {
            assert_eq!(chunk(&frame), Some(bytes.clone()));
        }
        let [short] = &compressed(&bytes)[..] else { panic!("a short document has one chunk") };
        assert!(short.ends_with(&frame(SHORT_LEVEL)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_span_of_any_document_is_read_as_it_was_written(
            length in 0_usize..3 * CONTENT_CHUNK_BYTES, from in any::<Index>(), to in any::<Index>(),
        ) {
            let bytes = text(length);
            let (from, to) = (from.index(length + 1), to.index(length + 1));
            let span = ByteSpan::new(from.min(to), from.max(to));
            let overlapping = chunks_of(span);
            for (chunks, is_checked) in [(compressed(&bytes), true), (earlier_form(&bytes), false)] {
                let whole = chunks.iter().map(|compressed| chunk(compressed).unwrap()).collect::<Vec<_>>();
                prop_assert_eq!(&whole.concat(), &bytes);
                let chunks = chunks[overlapping.clone()].to_vec();
                let read = PackedSpan { span, length, chunks }.unpack(&HASH).unwrap();
                prop_assert_eq!(&read.bytes, &bytes[span.start..span.end]);
                prop_assert!(read.is_checked == is_checked || span.is_empty());
            }
        }
    }
}
