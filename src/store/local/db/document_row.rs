//! The rows of the table of documents.
//!
//! Invariant: a row whose checksum is wrong is an error, unless the caller compares it.

use rusqlite::Row;
use rusqlite::types::Type;

use crate::corpus::FileState;
use crate::prepare::checksums::{self, Checksums, DocumentPart};
use crate::store::StoredDocument;

/// Selects the columns of all [`StoredDocument`]s, in the order in which [`stored_document`] reads them. A condition
/// can follow.
pub(super) const SELECT_DOCUMENTS: &str = "SELECT id, path, hash, size, \
    coalesce(file_times.mtime_ns, document.mtime_ns), coalesce(file_times.ctime_ns, document.ctime_ns), \
    lossy, ldmd, seal FROM document LEFT JOIN file_times ON file_times.document_id = id";

/// Reads a row of [`SELECT_DOCUMENTS`]. Fails if its checksum is wrong.
pub(super) fn stored_document(row: &Row<'_>) -> rusqlite::Result<StoredDocument> {
    let stored = unchecked_document(row)?;
    let StoredDocument { path, hash, state, is_lossy, has_ldmd, .. } = &stored;
    let checksum = || checksums::row(path, hash, state.size, *is_lossy, *has_ldmd);
    if stored.checksums.is(DocumentPart::Row, checksum) {
        return Ok(stored);
    }
    let damage = Box::new(RowDamaged(stored.path));
    Err(rusqlite::Error::FromSqlConversionFailure(1, Type::Text, damage))
}

/// Reads a row of [`SELECT_DOCUMENTS`] without comparing its checksum.
pub(super) fn unchecked_document(row: &Row<'_>) -> rusqlite::Result<StoredDocument> {
    Ok(StoredDocument {
        id: row.get(0)?,
        path: row.get(1)?,
        hash: row.get(2)?,
        state: FileState {
            size: row.get::<_, i64>(3)?.unsigned_abs(),
            mtime_ns: row.get(4)?,
            ctime_ns: row.get(5)?,
        },
        is_lossy: row.get(6)?,
        has_ldmd: row.get(7)?,
        checksums: Checksums::stored(row.get_ref(8)?.as_blob_or_null()?),
    })
}

/// The row of the document at this path differs from what was written.
#[derive(Debug, thiserror::Error)]
#[error("the row of {0} differs from what was written")]
pub(super) struct RowDamaged(String);
