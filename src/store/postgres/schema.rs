//! Creating the tables of a store.
//!
//! Invariant: a schema has all tables of one version of mdsel, or none.

use super::connection::Connection;
use crate::error::{Error, ErrorKind, Result};
use crate::prepare::PARSER_VERSION;
use crate::store::new_identity;

/// The version of the tables and of what is in them. In version 1, chunks have no checksums. Before version 3, edits in
/// progress have no owner. Before version 4, ingests by several workers have no options.
pub(super) const FORMAT: i64 = 4;

/// The number of partitions of a new store.
const PARTITIONS: i64 = 4;

const TABLES: &str = include_str!("../../../migrations/postgres/0001_tables.sql");

/// The tables of one partition. `{part}` stands for its number.
const PARTITION: &str = include_str!("../../../migrations/postgres/0001_partition.sql");

/// Creates the tables if the schema has none. The caller holds the lock of the store.
pub(super) fn create(connection: &mut Connection) -> Result<()> {
    if exists(connection)? {
        return Ok(());
    }
    let schema = connection.address().schema.clone();
    let mut statements = format!("BEGIN; CREATE SCHEMA IF NOT EXISTS {schema};\n{TABLES}");
    for partition in 0..PARTITIONS {
        statements.push_str(&PARTITION.replace("{part}", &partition.to_string()));
    }
    let identity = new_identity();
    statements.push_str(&format!(
        "INSERT INTO store (one, identity, format, parts, parser, generation) \
         VALUES (true, '{identity}', {FORMAT}, {PARTITIONS}, {PARSER_VERSION}, 0); COMMIT;"
    ));
    connection.batch(&statements)
}

/// Brings the tables of a store of the version `format` to this version, before this version of mdsel writes to it.
pub(super) fn upgrade(connection: &mut Connection, format: i64) -> Result<()> {
    if format == FORMAT {
        return Ok(());
    }
    connection.batch(&format!(
        "ALTER TABLE edit_intent ADD COLUMN IF NOT EXISTS owner text; \
         ALTER TABLE ingest ADD COLUMN IF NOT EXISTS options text, \
         ADD COLUMN IF NOT EXISTS options_before text; UPDATE store SET format = {FORMAT}"
    ))
}

/// Returns whether the schema has a store.
fn exists(connection: &mut Connection) -> Result<bool> {
    let name = format!("{}.store", connection.address().schema);
    let statement = format!("SELECT to_regclass('{name}')");
    let rows = connection.texts(&statement)?;
    Ok(rows.into_iter().flatten().any(|name| name.is_some()))
}

/// Fails if a newer version of mdsel wrote the store.
pub(super) fn check(format: i64) -> Result<()> {
    if format <= FORMAT {
        return Ok(());
    }
    let message = format!("the store has version {format}; this program supports up to {FORMAT}");
    Err(Error::new(ErrorKind::StoreTooNew, message)
        .with_hint("use the version of mdsel that wrote it, or a newer one"))
}
