//! The records of edits in progress.
//!
//! Invariant: an edit has a record from before its first file changes until its last file is in the store.

use rusqlite::{Connection, Row, params};

use crate::store::EditIntent;

/// Records the files that an edit is about to change. Returns the ids of the records.
pub(super) fn note(connection: &Connection, intents: &[EditIntent]) -> rusqlite::Result<Vec<i64>> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO edit_intent (path, temporary, old_hash, new_hash) VALUES (?1, ?2, ?3, ?4)",
    )?;
    let bytes = |hash: &Option<[u8; 32]>| hash.map_or_else(Vec::new, Vec::from);
    let note = |EditIntent { path, temporary, old_hash, new_hash }: &EditIntent| {
        statement.insert(params![path, temporary, bytes(old_hash), bytes(new_hash)])
    };
    intents.iter().map(note).collect()
}

/// Deletes the record of an edit that is finished.
pub(super) fn forget(connection: &Connection, id: i64) -> rusqlite::Result<()> {
    connection.prepare_cached("DELETE FROM edit_intent WHERE id = ?1")?.execute([id]).map(|_| ())
}

/// Returns the edits that were started and not finished, with the ids of their records.
pub(super) fn all(connection: &Connection) -> rusqlite::Result<Vec<(i64, EditIntent)>> {
    // A damaged name refers to no file, so the record is handled like that of a file that no
    // longer exists.
    let name = |row: &Row<'_>, column: usize| -> rusqlite::Result<String> {
        let bytes = row.get_ref(column)?.as_bytes().unwrap_or_default();
        Ok(String::from_utf8_lossy(bytes).into_owned())
    };
    let row = |row: &Row<'_>| {
        let hash = |column: usize| -> rusqlite::Result<Option<[u8; 32]>> {
            Ok(row.get_ref(column)?.as_bytes().unwrap_or_default().try_into().ok())
        };
        let (path, temporary) = (name(row, 1)?, name(row, 2)?);
        let intent = EditIntent { path, temporary, old_hash: hash(3)?, new_hash: hash(4)? };
        Ok((row.get(0)?, intent))
    };
    connection
        .prepare_cached(
            "SELECT id, path, temporary, old_hash, new_hash FROM edit_intent ORDER BY id",
        )?
        .query_map([], row)?
        .collect()
}
