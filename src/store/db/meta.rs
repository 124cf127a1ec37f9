//! What a store says of itself: the rows of the table `meta`.
//!
//! Invariant: a store whose documents have lost what it says of itself is damaged, and never taken for a new
//! one. Only the options of an ingest have a substitute, the defaults.

use std::path::Path;

use rusqlite::types::{FromSql, Value, ValueRef};
use rusqlite::{Connection, OptionalExtension as _};

use super::checksums::Fields;
use super::{corrupt, store_error};
use crate::error::Result;
use crate::store::IngestOptions;

/// The keys of all rows.
pub(super) const KEYS: [&str; 6] =
    ["generation", "identity", "options", "parser_version", "root", "seal"];

/// Those that have no checksum: the generation changes with every commit, the full-text index has the
/// identity too, and the last is the checksum.
const UNCHECKED_KEYS: [&str; 3] = ["generation", "identity", "seal"];

/// blake3 of rows in the order of their keys, without those that have no checksum.
pub(super) fn checksum<'a>(rows: impl Iterator<Item = (&'a str, Vec<u8>)>) -> [u8; 32] {
    let mut fields = Fields::default();
    for (key, value) in rows.filter(|(key, _)| !UNCHECKED_KEYS.contains(key)) {
        fields.text(key);
        fields.field(&value);
    }
    fields.hash()
}

/// The checksum of what the store says of itself.
pub(super) fn stored_checksum(connection: &Connection) -> rusqlite::Result<[u8; 32]> {
    let mut statement = connection.prepare("SELECT key, value FROM meta ORDER BY key")?;
    let rows = statement.query_map([], |row| {
        let value = match row.get_ref(1)? {
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.to_vec(),
            ValueRef::Integer(integer) => integer.to_le_bytes().to_vec(),
            ValueRef::Real(_) | ValueRef::Null => Vec::new(),
        };
        Ok((row.get::<_, String>(0)?, value))
    })?;
    let rows = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    Ok(checksum(rows.iter().map(|(key, value)| (key.as_str(), value.clone()))))
}

/// What a store says of itself.
#[derive(Debug)]
pub(super) struct Meta {
    /// How many times the store has been changed.
    pub(super) generation: u64,
    /// What tells this store from every other.
    pub(super) identity: String,
    /// The root, relative to the folder of the store.
    pub(super) root: String,
    /// What the last ingest took; `None` where that cannot be read.
    pub(super) options: Option<IngestOptions>,
    /// As which version of the program the documents were parsed.
    pub(super) parser_version: Option<i64>,
}

/// One value.
pub(super) fn value<T: FromSql>(connection: &Connection, key: &str) -> rusqlite::Result<Option<T>> {
    connection
        .prepare_cached("SELECT value FROM meta WHERE key = ?1")?
        .query_row([key], |row| row.get(0))
        .optional()
}

/// The options, unless there are none that can be read.
pub(super) fn options(connection: &Connection) -> rusqlite::Result<Option<IngestOptions>> {
    let mut statement =
        connection.prepare_cached("SELECT value FROM meta WHERE key = 'options'")?;
    let options = statement.query_row([], |row| match row.get_ref(0)? {
        ValueRef::Text(bytes) => Ok(serde_json::from_slice(bytes).ok()),
        _ => Ok(None),
    });
    Ok(options.optional()?.flatten().map(IngestOptions::within_limits))
}

/// What the store at `path` says of itself; `None` where nothing was ingested yet.
pub(super) fn read(path: &Path, connection: &Connection) -> Result<Option<Meta>> {
    let read = || -> rusqlite::Result<_> {
        let value = |key| value::<Value>(connection, key);
        let has_documents: bool = connection
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM document)")?
            .query_row([], |row| row.get(0))?;
        Ok((value("generation")?, value("identity")?, value("root")?, has_documents))
    };
    let wrap = |error| store_error(path, error);
    let (generation, identity, root) = match read().map_err(wrap)? {
        // A first ingest that was killed leaves nothing else.
        (None, None, None, false) => return Ok(None),
        (
            Some(Value::Integer(generation)),
            Some(Value::Text(identity)),
            Some(Value::Text(root)),
            _,
        ) => (generation.unsigned_abs(), identity, root),
        _ => return Err(corrupt(path, "what it says of itself cannot be read")),
    };
    let parser_version = match value(connection, "parser_version").map_err(wrap)? {
        Some(Value::Integer(version)) => Some(version),
        _ => None,
    };
    let options = options(connection).map_err(wrap)?;
    Ok(Some(Meta { generation, identity, root, options, parser_version }))
}
