//! The rows of the chunks that hold the bytes of documents.
//!
//! Invariant: a read fetches only the chunks that overlap its span.

use rusqlite::{CachedStatement, Connection, OptionalExtension as _, params};

use super::sql;
use crate::codec::content::{MAX_CHUNK_BYTES, PackedSpan};
use crate::limits::{CONTENT_CHUNK_BYTES, LARGEST_MAX_FILE_BYTES};
use crate::position::ByteSpan;

/// Number of row ids reserved for the chunks of a document; enough for the largest one.
const CHUNKS: usize = 4096;
const _: () = assert!(LARGEST_MAX_FILE_BYTES / CONTENT_CHUNK_BYTES <= CHUNKS);

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

/// Reads the chunks that contain `span` of a document of `length` bytes. The span is clipped to the
/// document.
pub(super) fn read(
    connection: &Connection,
    document: i64,
    length: usize,
    span: ByteSpan,
) -> rusqlite::Result<PackedSpan> {
    let span = span.clipped(length);
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
