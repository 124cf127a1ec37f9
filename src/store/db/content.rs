//! The bytes of documents: compressed in chunks, read by span.
//!
//! Chunk `n` contains the bytes from `n` times [`CONTENT_CHUNK_BYTES`]. Invariants: reading returns
//! exactly the bytes that were written. A read decompresses only the chunks that overlap its span.

use std::cell::RefCell;

use rusqlite::{CachedStatement, Connection, OptionalExtension as _, params};

use super::{clip, sql};
use crate::limits::{CONTENT_CHUNK_BYTES, LARGEST_MAX_FILE_BYTES};
use crate::position::ByteSpan;

/// The default level of zstd. In measurements on documents, lower levels were hardly faster.
const LEVEL: i32 = 3;

/// Compresses documents one after the other. Creating a compressor costs more than compressing a
/// small document.
pub(super) struct ContentCompressor(zstd::bulk::Compressor<'static>);

impl ContentCompressor {
    pub(super) fn new() -> std::io::Result<Self> {
        zstd::bulk::Compressor::new(LEVEL).map(Self)
    }

    /// Returns the compressed chunks of `bytes`, in order. An empty document has no chunks.
    pub(super) fn compress(&mut self, bytes: &[u8]) -> std::io::Result<Vec<Vec<u8>>> {
        bytes.chunks(CONTENT_CHUNK_BYTES).map(|chunk| self.0.compress(chunk)).collect()
    }
}

/// Number of row ids reserved for the chunks of a document; enough for the largest one.
const CHUNKS: usize = 4096;
const _: () = assert!(LARGEST_MAX_FILE_BYTES / CONTENT_CHUNK_BYTES <= CHUNKS);

/// Size limit of a compressed chunk in bytes: an upper bound for incompressible data.
const MAX_CHUNK_BYTES: usize = CONTENT_CHUNK_BYTES + (CONTENT_CHUNK_BYTES >> 7);

/// Returns the number of chunks of a document of `length` bytes.
pub(super) fn chunk_count(length: usize) -> usize {
    length.div_ceil(CONTENT_CHUNK_BYTES)
}

/// Returns the number of stored chunks of a document.
pub(super) fn stored_chunk_count(connection: &Connection, document: i64) -> rusqlite::Result<i64> {
    connection
        .prepare_cached("SELECT count(*) FROM content WHERE place >= ?1 AND place < ?2")?
        .query_row([place(document, 0), place(document.saturating_add(1), 0)], |row| row.get(0))
}

/// Returns the row id of a chunk whose document does not exist, if any.
pub(super) fn orphan(connection: &Connection) -> rusqlite::Result<Option<i64>> {
    connection
        .prepare(
            "SELECT place FROM content WHERE NOT EXISTS \
             (SELECT 1 FROM document WHERE id = place / ?1) LIMIT 1",
        )?
        .query_row([sql(CHUNKS)], |row| row.get(0))
        .optional()
}

/// Returns the row id of a chunk.
fn place(document: i64, chunk: usize) -> i64 {
    document.saturating_mul(sql(CHUNKS)).saturating_add(sql(chunk))
}

/// Returns the id of the document that the chunk with this row id belongs to.
pub(super) fn document_of(place: i64) -> i64 {
    place.div_euclid(sql(CHUNKS))
}

/// Returns the row ids of all chunks that a document can have.
pub(super) fn places(document: i64) -> std::ops::Range<i64> {
    place(document, 0)..place(document.saturating_add(1), 0)
}

/// Decompresses a chunk; `None` if it is damaged.
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

/// Deletes the chunks of a document.
pub(super) fn remove(connection: &Connection, document: i64) -> rusqlite::Result<()> {
    connection
        .prepare_cached("DELETE FROM content WHERE place >= ?1 AND place < ?2")?
        .execute([place(document, 0), place(document + 1, 0)])?;
    Ok(())
}

/// The compressed chunks that contain a span.
pub(super) struct PackedSpan {
    span: ByteSpan,
    length: usize,
    chunks: Vec<Vec<u8>>,
}

/// Reads the chunks that contain `span` of a document of `length` bytes. The span is clipped to the
/// document.
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
    /// Returns the bytes of the span; `None` if the chunks are damaged or missing.
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
