//! The bytes of documents: compressed in chunks, decompressed by span.
//!
//! Chunk `n` contains the bytes from `n` times [`CONTENT_CHUNK_BYTES`]. Invariants: unpacking
//! returns exactly the bytes that were compressed. Only the chunks that overlap a span are
//! decompressed.

use std::cell::RefCell;

use crate::limits::CONTENT_CHUNK_BYTES;
use crate::position::ByteSpan;

/// The default level of zstd. In measurements on documents, lower levels were hardly faster.
const LEVEL: i32 = 3;

/// Compresses documents one after the other. Creating a compressor costs more than compressing a
/// small document.
pub(crate) struct ContentCompressor(zstd::bulk::Compressor<'static>);

impl ContentCompressor {
    pub(crate) fn new() -> std::io::Result<Self> {
        zstd::bulk::Compressor::new(LEVEL).map(Self)
    }

    /// Returns the compressed chunks of `bytes`, in order. An empty document has no chunks.
    pub(crate) fn compress(&mut self, bytes: &[u8]) -> std::io::Result<Vec<Vec<u8>>> {
        bytes.chunks(CONTENT_CHUNK_BYTES).map(|chunk| self.0.compress(chunk)).collect()
    }
}

/// Size limit of a compressed chunk in bytes: an upper bound for incompressible data.
pub(crate) const MAX_CHUNK_BYTES: usize = CONTENT_CHUNK_BYTES + (CONTENT_CHUNK_BYTES >> 7);

/// Returns the number of chunks of a document of `length` bytes.
pub(crate) fn chunk_count(length: usize) -> usize {
    length.div_ceil(CONTENT_CHUNK_BYTES)
}

/// Decompresses a chunk; `None` if it is damaged.
pub(crate) fn chunk(compressed: &[u8]) -> Option<Vec<u8>> {
    decompress(compressed, CONTENT_CHUNK_BYTES)
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

impl PackedSpan {
    /// Returns the bytes of the span; `None` if the chunks are damaged or missing.
    pub(crate) fn unpack(&self) -> Option<Vec<u8>> {
        let Self { span, length, .. } = *self;
        let mut result = Vec::with_capacity(span.len());
        if span.is_empty() {
            return Some(result);
        }
        let first = span.start / CONTENT_CHUNK_BYTES;
        let last = (span.end - 1) / CONTENT_CHUNK_BYTES;
        for (index, chunk) in (first..=last).enumerate() {
            let start = chunk * CONTENT_CHUNK_BYTES;
            let expected = CONTENT_CHUNK_BYTES.min(length - start);
            let bytes = decompress(self.chunks.get(index)?, expected)?;
            if bytes.len() != expected {
                return None;
            }
            if span.start <= start && start + expected <= span.end && first == last {
                return Some(bytes);
            }
            let wanted =
                ByteSpan { start: span.start.saturating_sub(start), end: span.end - start }
                    .clipped(expected);
            result.extend_from_slice(bytes.get(wanted.start..wanted.end)?);
        }
        Some(result)
    }
}

thread_local! {
    /// Reused, because creating a decompressor costs as much as decompressing a hundred small
    /// documents.
    static DECOMPRESSOR: RefCell<Option<zstd::bulk::Decompressor<'static>>> =
        const { RefCell::new(None) };
}

/// Decompresses a chunk of at most `length` bytes; `None` if it is damaged or longer.
fn decompress(chunk: &[u8], length: usize) -> Option<Vec<u8>> {
    DECOMPRESSOR.with_borrow_mut(|decompressor| {
        if decompressor.is_none() {
            *decompressor = zstd::bulk::Decompressor::new().ok();
        }
        decompressor.as_mut()?.decompress(chunk, length).ok()
    })
}
