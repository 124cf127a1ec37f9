//! The rows of the chunks that hold the bytes of documents.
//!
//! Invariants: a read returns only bytes that were compared with checksums. It fetches only the chunks that
//! overlap its span. A document that an earlier version wrote has no checksums, so all of it is compared with
//! its hash.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::{MutexGuard, PoisonError};

use rusqlite::{CachedStatement, Connection, OptionalExtension as _, params};

use super::bytes_column::BytesColumn;
use super::snapshot::Snapshot;
use super::sql;
use crate::codec::content::{MAX_CHUNK_BYTES, PackedSpan, UnpackedSpan, chunk_count, chunks_of};
use crate::error::Result;
use crate::limits::{self, CONTENT_CHUNK_BYTES, LARGEST_MAX_FILE_BYTES};
use crate::position::ByteSpan;
use crate::store::StoredDocument;

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
pub(super) fn places(document: i64) -> Range<i64> {
    place(document, 0)..place(document.saturating_add(1), 0)
}

/// Writes the chunks of a document.
pub(super) fn write(
    connection: &Connection,
    document: i64,
    chunks: &[Vec<u8>],
) -> rusqlite::Result<()> {
    let mut statement =
        connection.prepare_cached("INSERT INTO content (place, packed) VALUES (?1, ?2)")?;
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
    let numbers = chunks_of(span);
    if !numbers.is_empty() {
        let mut statement: CachedStatement<'_> = connection.prepare_cached(
            "SELECT packed FROM content WHERE place >= ?1 AND place < ?2 AND length(packed) <= ?3 \
             ORDER BY place",
        )?;
        let bounds =
            [place(document, numbers.start), place(document, numbers.end), sql(MAX_CHUNK_BYTES)];
        let rows = statement.query_map(bounds, |row| row.get(0))?;
        for row in rows {
            chunks.push(row?);
        }
    }
    Ok(PackedSpan { span, length, chunks })
}

const CHUNKS_BY_PLACE: BytesColumn = BytesColumn {
    table: "content",
    key: "place",
    bytes: "packed",
    step: CHUNKS,
    most: MAX_CHUNK_BYTES,
};

impl Snapshot {
    /// Returns the bytes of a document within `span`, clipped to the document. Little more than the bytes
    /// themselves is in memory at once.
    pub(in crate::store) fn content(
        &self,
        document: &StoredDocument,
        span: ByteSpan,
    ) -> Result<Vec<u8>> {
        let length = self.length(document)?;
        let span = span.clipped(length);
        let mut content = Vec::new();
        for start in (span.start..span.end).step_by(limits::CHECK_BYTES) {
            let piece = ByteSpan::new(start, span.end.min(start + limits::CHECK_BYTES));
            let packed = self.wrap(read(&self.statement(), document.id, length, piece))?;
            let bytes = self.unpack(document, &packed)?;
            if piece == span {
                return Ok(bytes);
            }
            content.reserve_exact(span.len() - content.len());
            content.extend_from_slice(&bytes);
        }
        Ok(content)
    }

    /// Returns the bytes of each document within its span, like [`Self::content`].
    pub(in crate::store) fn contents(
        &self,
        parts: &[(&StoredDocument, ByteSpan)],
    ) -> Result<Vec<Vec<u8>>> {
        let mut chunks = self.lone_chunks(parts)?;
        let content = |&(document, span): &(&StoredDocument, ByteSpan)| {
            let Some(chunk) = chunks.remove(&place(document.id, 0)) else {
                return self.content(document, span);
            };
            let length = self.length(document)?;
            let chunks = vec![chunk];
            self.unpack(document, &PackedSpan { span: span.clipped(length), length, chunks })
        };
        parts.iter().map(content).collect()
    }

    /// Reads the chunks of those documents of `parts` that have only one, by their row ids.
    fn lone_chunks(&self, parts: &[(&StoredDocument, ByteSpan)]) -> Result<HashMap<i64, Vec<u8>>> {
        if parts.len() < 2 {
            return Ok(HashMap::new());
        }
        let has_one = |document| self.length(document).is_ok_and(|length| chunk_count(length) == 1);
        let documents = parts.iter().map(|(document, _)| *document);
        let documents = documents.filter(|document| has_one(document));
        let places = documents.map(|document| place(document.id, 0)).collect();
        self.wrap(CHUNKS_BY_PLACE.read(&self.statement(), &places))
    }

    fn unpack(&self, document: &StoredDocument, packed: &PackedSpan) -> Result<Vec<u8>> {
        let damaged = || self.damaged(document, "bytes");
        let UnpackedSpan { bytes, is_checked } =
            packed.unpack(&document.hash).ok_or_else(damaged)?;
        if !is_checked && !self.checked_documents().contains(&document.id) {
            let is_whole = packed.span.len() == packed.length;
            let hash = if is_whole { blake3::hash(&bytes) } else { self.hash(document)? };
            if *hash.as_bytes() != document.hash {
                return Err(damaged());
            }
            self.checked_documents().insert(document.id);
        }
        Ok(bytes)
    }

    fn checked_documents(&self) -> MutexGuard<'_, HashSet<i64>> {
        self.checked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the hash of the stored bytes of a document.
    fn hash(&self, document: &StoredDocument) -> Result<blake3::Hash> {
        let length = self.length(document)?;
        let mut hasher = blake3::Hasher::new();
        for start in (0..length).step_by(limits::CHECK_BYTES) {
            let piece = ByteSpan::new(start, length.min(start + limits::CHECK_BYTES));
            let packed = self.wrap(read(&self.statement(), document.id, length, piece))?;
            let unpacked = packed.unpack(&document.hash);
            hasher.update(&unpacked.ok_or_else(|| self.damaged(document, "bytes"))?.bytes);
        }
        Ok(hasher.finalize())
    }
}
