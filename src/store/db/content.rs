//! The bytes of documents: compressed in chunks, read by span.
//!
//! Chunk `n` holds the bytes from `n` times [`CONTENT_CHUNK_BYTES`] on. Invariant: what is read
//! equals what was written, byte for byte, and a read costs the chunks that its span touches.

use std::cell::RefCell;

use rusqlite::{CachedStatement, Connection, OptionalExtension as _, params};

use super::{clip, sql};
use crate::limits::{CONTENT_CHUNK_BYTES, LARGEST_MAX_FILE_BYTES};
use crate::position::ByteSpan;

/// zstd's level: its default, of which measurement found the lower ones hardly faster here.
const LEVEL: i32 = 3;

/// Compresses documents one after the other; making one costs more than compressing a small document.
pub(super) struct ContentCompressor(zstd::bulk::Compressor<'static>);

impl ContentCompressor {
    pub(super) fn new() -> std::io::Result<Self> {
        zstd::bulk::Compressor::new(LEVEL).map(Self)
    }

    /// The compressed chunks of `bytes`, in order. An empty document has none.
    pub(super) fn compress(&mut self, bytes: &[u8]) -> std::io::Result<Vec<Vec<u8>>> {
        bytes.chunks(CONTENT_CHUNK_BYTES).map(|chunk| self.0.compress(chunk)).collect()
    }
}

/// Chunks of a document, of which one of the largest size has as many.
const CHUNKS: usize = 4096;
const _: () = assert!(LARGEST_MAX_FILE_BYTES / CONTENT_CHUNK_BYTES <= CHUNKS);

/// Bytes of a compressed chunk at most: what zstd makes of bytes that it cannot make fewer, and some.
const MAX_CHUNK_BYTES: usize = CONTENT_CHUNK_BYTES + (CONTENT_CHUNK_BYTES >> 7);

/// How many chunks a document of `length` bytes has.
pub(super) fn chunk_count(length: usize) -> usize {
    length.div_ceil(CONTENT_CHUNK_BYTES)
}

/// How many chunks are stored of a document.
pub(super) fn stored_chunk_count(connection: &Connection, document: i64) -> rusqlite::Result<i64> {
    connection
        .prepare_cached("SELECT count(*) FROM content WHERE place >= ?1 AND place < ?2")?
        .query_row([place(document, 0), place(document.saturating_add(1), 0)], |row| row.get(0))
}

/// A place whose document there is not.
pub(super) fn orphan(connection: &Connection) -> rusqlite::Result<Option<i64>> {
    connection
        .prepare(
            "SELECT place FROM content WHERE NOT EXISTS \
             (SELECT 1 FROM document WHERE id = place / ?1) LIMIT 1",
        )?
        .query_row([sql(CHUNKS)], |row| row.get(0))
        .optional()
}

/// Where a chunk of a document is kept.
fn place(document: i64, chunk: usize) -> i64 {
    document.saturating_mul(sql(CHUNKS)).saturating_add(sql(chunk))
}

/// The document of a place.
pub(super) fn document_of(place: i64) -> i64 {
    place.div_euclid(sql(CHUNKS))
}

/// The places of all chunks that a document may have.
pub(super) fn places(document: i64) -> std::ops::Range<i64> {
    place(document, 0)..place(document.saturating_add(1), 0)
}

/// The bytes of a compressed chunk.
pub(super) fn chunk(compressed: &[u8]) -> Option<Vec<u8>> {
    decompress(compressed, CONTENT_CHUNK_BYTES)
}

/// Writes the chunks of a document.
pub(super) fn write(
    connection: &Connection,
    document: i64,
    chunks: &[Vec<u8>],
) -> rusqlite::Result<()> {
    let mut statement =
        connection.prepare_cached("INSERT INTO content (place, bytes) VALUES (?1, ?2)")?;
    for (chunk, bytes) in chunks.iter().enumerate() {
        statement.execute(params![place(document, chunk), bytes])?;
    }
    Ok(())
}

/// Forgets the chunks of a document.
pub(super) fn remove(connection: &Connection, document: i64) -> rusqlite::Result<()> {
    connection
        .prepare_cached("DELETE FROM content WHERE place >= ?1 AND place < ?2")?
        .execute([place(document, 0), place(document + 1, 0)])?;
    Ok(())
}

/// The chunks that hold a span, as they are stored.
pub(super) struct PackedSpan {
    span: ByteSpan,
    length: usize,
    chunks: Vec<Vec<u8>>,
}

/// Reads what holds `span` of a document of `length` bytes.
pub(super) fn read(
    connection: &Connection,
    document: i64,
    length: usize,
    span: ByteSpan,
) -> rusqlite::Result<PackedSpan> {
    let span = clip(span, length);
    let mut chunks = Vec::new();
    if !span.is_empty() {
        let first = span.start / CONTENT_CHUNK_BYTES;
        let last = (span.end - 1) / CONTENT_CHUNK_BYTES;
        let mut statement: CachedStatement<'_> = connection.prepare_cached(
            "SELECT bytes FROM content WHERE place BETWEEN ?1 AND ?2 AND length(bytes) <= ?3 \
             ORDER BY place",
        )?;
        let bounds = [place(document, first), place(document, last), sql(MAX_CHUNK_BYTES)];
        let rows = statement.query_map(bounds, |row| row.get(0))?;
        for row in rows {
            chunks.push(row?);
        }
    }
    Ok(PackedSpan { span, length, chunks })
}

impl PackedSpan {
    /// The bytes of the span; `None` where the stored chunks are not those of such a document.
    pub(super) fn unpack(&self) -> Option<Vec<u8>> {
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
            let wanted = clip(
                ByteSpan { start: span.start.saturating_sub(start), end: span.end - start },
                expected,
            );
            result.extend_from_slice(bytes.get(wanted.start..wanted.end)?);
        }
        Some(result)
    }
}

thread_local! {
    /// Making one costs as much as decompressing a hundred small documents.
    static DECOMPRESSOR: RefCell<Option<zstd::bulk::Decompressor<'static>>> =
        const { RefCell::new(None) };
}

/// Decompresses a chunk of at most `length` bytes.
fn decompress(chunk: &[u8], length: usize) -> Option<Vec<u8>> {
    DECOMPRESSOR.with_borrow_mut(|decompressor| {
        if decompressor.is_none() {
            *decompressor = zstd::bulk::Decompressor::new().ok();
        }
        decompressor.as_mut()?.decompress(chunk, length).ok()
    })
}
