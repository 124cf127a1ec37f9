//! Creating the tables of a store.
//!
//! Invariant: a schema has all tables of one version of mdsel, or none.

use super::address::Address;
use super::connection::{Connection, FOREIGN_HINT, POOLER_HINT};
use crate::error::{Error, ErrorKind, Result};
use crate::prepare::PARSER_VERSION;
use crate::store::{IfAbsent, new_identity};
use crate::visible::quoted;

/// The version of the tables and of what is in them. In version 1, chunks have no checksums. Before version 3, edits in
/// progress have no owner. Before version 4, ingests by several workers have no options.
pub(super) const FORMAT: i64 = 4;

/// The number of partitions of a new store.
const PARTITIONS: i64 = 4;

const TABLES: &str = include_str!("../../../migrations/postgres/0001_tables.sql");

/// The tables of one partition. `{part}` stands for its number.
const PARTITION: &str = include_str!("../../../migrations/postgres/0001_partition.sql");

/// What a schema has.
struct Contents {
    has_store: bool,
    /// Whether there is a table `store` that is not one of mdsel.
    has_other: bool,
    encoding: String,
}

/// Looks at the schema. Fails if the connection uses another one, or if the user may not use it.
fn contents(connection: &mut Connection) -> Result<Contents> {
    let name = format!("'\"{}\".store'", connection.address().schema);
    let rows = connection.texts(&format!(
        "SELECT current_setting('search_path'), to_regclass({name}) IS NOT NULL, 8 = (SELECT count(*) FROM pg_attribute \
         WHERE attrelid = to_regclass({name}) AND NOT attisdropped AND attname = ANY \
         ('{{one,identity,format,parts,root,options,parser,generation}}')), \
         current_setting('server_encoding')"
    ))?;
    let row = rows.into_iter().next().unwrap_or_default();
    let value = |index: usize| row.get(index).cloned().flatten().unwrap_or_default();
    check_search_path(connection.address(), &value(0))?;
    let (has_table, has_store) = (value(1) == "t", value(2) == "t");
    Ok(Contents { has_store, has_other: has_table && !has_store, encoding: value(3) })
}

/// Fails if statements use another schema than that of the address, because a pooler left out the parameters of the
/// connection.
pub(super) fn check_search_path(address: &Address, used: &str) -> Result<()> {
    if used == address.schema {
        return Ok(());
    }
    let message =
        format!("{address}: the connection has the search_path {used}", used = quoted(&used));
    Err(Error::new(ErrorKind::StoreUnreachable, message).with_hint(POOLER_HINT))
}

/// Returns why the table `store` could not be read; `None` if it is damaged.
pub(super) fn obstacle(connection: &mut Connection) -> Option<Error> {
    let contents = match connection.batch("ROLLBACK").and_then(|()| contents(connection)) {
        Ok(contents) => contents,
        Err(error) => return Some(error),
    };
    if contents.has_other {
        return Some(foreign(connection.address(), "the table `store` is not one of mdsel"));
    }
    (!contents.has_store).then(|| absent(connection.address()))
}

pub(super) fn absent(address: &Address) -> Error {
    Error::new(ErrorKind::StoreNotFound, format!("{address}: there is no store"))
        .with_hint("create it with `mdsel ingest FOLDER`")
}

/// Returns the error for a schema that is not a store.
pub(super) fn foreign(address: &Address, reason: &str) -> Error {
    Error::new(ErrorKind::StoreForeign, format!("{address}: {reason}")).with_hint(FOREIGN_HINT)
}

/// Creates the tables if the schema has none, or fails. The caller holds the lock of the store.
pub(super) fn ensure(connection: &mut Connection, if_absent: IfAbsent) -> Result<()> {
    let Contents { has_store, has_other, encoding } = contents(connection)?;
    if has_store {
        return Ok(());
    }
    let address = connection.address();
    if has_other {
        return Err(foreign(address, "the table `store` is not one of mdsel"));
    }
    if if_absent == IfAbsent::Fail {
        return Err(absent(address));
    }
    if encoding != "UTF8" {
        let message = format!("{address}: the encoding of the database is {encoding}");
        return Err(Error::new(ErrorKind::Usage, message)
            .with_hint("name a database with the encoding UTF8, as `createdb -E UTF8` makes"));
    }
    let schema = address.schema.clone();
    let mut statements = format!("BEGIN; CREATE SCHEMA IF NOT EXISTS \"{schema}\";\n{TABLES}");
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

/// Fails if a newer version of mdsel wrote the store.
pub(super) fn check(format: i64) -> Result<()> {
    if format <= FORMAT {
        return Ok(());
    }
    let message = format!("the store has version {format}; this program supports up to {FORMAT}");
    Err(Error::new(ErrorKind::StoreTooNew, message)
        .with_hint("use the version of mdsel that wrote it, or a newer one"))
}
