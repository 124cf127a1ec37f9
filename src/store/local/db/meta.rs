//! The metadata of the store: the rows of the table `meta`.
//!
//! Invariant: a store that has documents but no readable metadata is damaged; it is never treated
//! as a new store. Only the options of the last ingest have a fallback, the defaults.

use std::path::Path;

use rusqlite::types::{FromSql, Value, ValueRef};
use rusqlite::{Connection, OptionalExtension as _};

use super::lineage::Lineage;
use super::{corrupt, store_error};
use crate::corpus::IngestOptions;
use crate::error::Result;
use crate::prepare::PARSER_VERSION;
use crate::prepare::checksums::ChecksumInput;

/// The keys of all rows. `seal` is the checksum of the others.
pub(super) const KEYS: [&str; 7] =
    ["generation", "identity", "lineage", "options", "parser_version", "root", "seal"];

/// The keys that the checksum does not cover. The generation and the lineage change with every
/// commit, the full-text index also stores the identity, and `seal` is the checksum itself.
const UNCHECKED_KEYS: [&str; 4] = ["generation", "identity", "lineage", "seal"];

/// Returns blake3 of the rows that have a checksum. The rows must be sorted by key.
pub(super) fn checksum<'a>(rows: impl Iterator<Item = (&'a str, Vec<u8>)>) -> [u8; 32] {
    let mut fields = ChecksumInput::default();
    for (key, value) in rows.filter(|(key, _)| !UNCHECKED_KEYS.contains(key)) {
        fields.text(key);
        fields.field(&value);
    }
    fields.hash()
}

/// Computes the checksum of the stored metadata.
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

/// The metadata of a store.
#[derive(Debug)]
pub(super) struct StoreMetadata {
    /// The number of commits that changed a document.
    pub(super) generation: u64,
    /// A random name that distinguishes this store from all others.
    pub(super) identity: String,
    /// The tokens of the last generations.
    pub(super) lineage: Lineage,
    /// The root, relative to the folder of the store.
    pub(super) root: String,
    /// The options of the last ingest; `None` if they are damaged.
    pub(super) options: Option<IngestOptions>,
    /// The parser version of the documents; `None` if it cannot be read.
    pub(super) parser_version: Option<i64>,
}

/// Selects the value of a key. One statement for all keys is prepared once.
const VALUE: &str = "SELECT value FROM meta WHERE key = ?1";

/// Reads one value; `None` if the key does not exist.
pub(super) fn value<T: FromSql>(connection: &Connection, key: &str) -> rusqlite::Result<Option<T>> {
    connection.prepare_cached(VALUE)?.query_row([key], |row| row.get(0)).optional()
}

/// Reads the bytes of a text; `None` if the key does not exist or its value is not text.
fn text(connection: &Connection, key: &str) -> rusqlite::Result<Option<Vec<u8>>> {
    let text = connection.prepare_cached(VALUE)?.query_row([key], |row| match row.get_ref(0)? {
        ValueRef::Text(bytes) => Ok(Some(bytes.to_vec())),
        _ => Ok(None),
    });
    Ok(text.optional()?.flatten())
}

/// Reads the tokens of the last generations; none if they are missing or cannot be read.
pub(super) fn lineage(connection: &Connection) -> rusqlite::Result<Lineage> {
    let tokens = text(connection, "lineage")?;
    Ok(Lineage::of(tokens.and_then(|tokens| String::from_utf8(tokens).ok())))
}

/// Reads the options of the last ingest; `None` if they are missing or cannot be read.
pub(super) fn options(connection: &Connection) -> rusqlite::Result<Option<IngestOptions>> {
    let options = text(connection, "options")?;
    let options = options.and_then(|options| serde_json::from_slice(&options).ok());
    Ok(options.map(IngestOptions::within_limits))
}

/// Reads the metadata of the store at `path`; `None` if nothing has been ingested yet.
pub(super) fn read(path: &Path, connection: &Connection) -> Result<Option<StoreMetadata>> {
    let wrap = |error| store_error(path, error);
    let value = |key| value::<Value>(connection, key).map_err(wrap);
    let has_documents = || {
        connection
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM document)")
            .and_then(|mut exists| exists.query_row([], |row| row.get::<_, bool>(0)))
            .map_err(wrap)
    };
    let (generation, identity, root) =
        match (value("generation")?, value("identity")?, value("root")?) {
            // The first ingest was killed before it wrote any metadata.
            (None, None, None) if !has_documents()? => return Ok(None),
            (
                Some(Value::Integer(generation)),
                Some(Value::Text(identity)),
                Some(Value::Text(root)),
            ) => (generation.unsigned_abs(), identity, root),
            _ => return Err(corrupt(path, "its metadata cannot be read")),
        };
    let parser_version = match value("parser_version")? {
        Some(Value::Integer(version)) => Some(version),
        _ => None,
    };
    // The checksum also covers the root, so nobody knows which of them is damaged.
    let is_intact = match value("seal")? {
        Some(Value::Blob(seal)) => stored_checksum(connection).map_err(wrap)? == *seal,
        Some(_) => false,
        // Versions of mdsel without checksums do not write this row.
        None => parser_version != Some(PARSER_VERSION),
    };
    let options = options(connection).map_err(wrap)?.filter(|_| is_intact);
    let lineage = lineage(connection).map_err(wrap)?;
    Ok(Some(StoreMetadata { generation, identity, lineage, root, options, parser_version }))
}
