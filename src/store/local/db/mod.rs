//! The SQLite part of the store: opening and hardening connections, and converting SQLite errors.
//!
//! A store file is untrusted until its application id, its version and its schema have been
//! checked. The schema must be exactly the one of that version. All connections enable SQLite's
//! defenses against hostile files. Invariant: nothing is read from or written to a file that has
//! not passed these checks.

mod bytes_column;
mod check;
mod content;
mod data;
mod document_row;
mod documents;
mod folders;
mod graph;
mod header;
mod intents;
mod lineage;
mod lock;
mod log;
mod lookup;
mod meta;
mod migrate;
mod pages;
mod parts;
mod peek;
mod recovered_rows;
mod recovery;
mod remembered_titles;
mod schema;
mod snapshot;
mod statement_timer;
mod stored_rows;
mod titles;
mod totals;
mod upgrade;
mod work;
mod writer;

use document_row::RowDamaged;
pub(super) use lock::lock;
use lock::lock_path;
pub(super) use log::{has_log, write_log_back};
pub(super) use migrate::{Migrated, free_name};
use peek::{Header, peek};
pub(super) use recovery::{DamagedStore, RecoveredDocument};
pub(super) use snapshot::Snapshot;
pub(super) use stored_rows::StoredRows;
pub use work::{StatementCost, StatementStats};
pub(super) use writer::RowWriter;

use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::ffi::ErrorCode;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};

use super::{in_the_way, with_suffix};
use crate::error::{Error, ErrorKind, Result};
use crate::limits;
use crate::store::{FILE_NAME, LOCKED_HINT};

/// Returns the name of a store for messages. Messages do not contain its folder.
pub(super) fn file_name(path: &Path) -> std::path::Display<'_> {
    path.file_name().map_or(path, Path::new).display()
}

/// Returns whether the disk is full. SQLite needs at least 32 KiB for the shared memory of its log.
fn has_no_room(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DiskFull)
        || error
            .sqlite_error()
            .is_some_and(|error| error.extended_code == rusqlite::ffi::SQLITE_IOERR_SHMSIZE)
}

/// Converts an error of SQLite for the store at `path`.
fn store_error(path: &Path, error: rusqlite::Error) -> Error {
    let name = file_name(path);
    let code = error.sqlite_error_code();
    match &error {
        rusqlite::Error::FromSqlConversionFailure(_, _, source) if source.is::<RowDamaged>() => {
            return corrupt(path, &source.to_string()).with_source(error);
        }
        rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::Utf8Error(..)
        | rusqlite::Error::IntegralValueOutOfRange(..) => {
            return corrupt(path, "a row contains a value that mdsel does not write")
                .with_source(error);
        }
        _ => {}
    }
    let result = match code {
        // The header of the file has been checked before, so this file is a store.
        Some(ErrorCode::NotADatabase) => {
            return corrupt(path, "SQLite does not recognize it as a database");
        }
        Some(ErrorCode::TooBig) => return limits::exceeded(limits::row::MAX_SQLITE_ROW_BYTES),
        Some(ErrorCode::DatabaseCorrupt) => {
            Error::new(ErrorKind::StoreCorrupt, format!("{name}: the store is damaged: {error}"))
                .with_hint("run `mdsel verify --repair`, which keeps the damaged file")
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            Error::new(ErrorKind::Locked, format!("{name}: another process has locked the store"))
                .with_hint(LOCKED_HINT)
        }
        Some(ErrorCode::CannotOpen | ErrorCode::SystemIoFailure)
            if !in_the_way(path).is_empty() =>
        {
            is_in_the_way(path)
        }
        Some(ErrorCode::ReadOnly) => unwritable(path),
        Some(ErrorCode::OperationInterrupted) => limits::exceeded(limits::row::QUERY_SECONDS),
        _ if has_no_room(&error) => Error::new(ErrorKind::Io, format!("{name}: {error}"))
            .with_hint("free space on the disk"),
        _ => Error::new(ErrorKind::Io, format!("{name}: {error}"))
            .with_hint("run `mdsel verify`, which checks the store"),
    };
    result.with_source(error)
}

/// The error for a store that cannot be opened because of a file beside it.
fn is_in_the_way(path: &Path) -> Error {
    let ways = in_the_way(path);
    let way = ways.first().map_or(path, PathBuf::as_path);
    let message = format!("{}: it is in the way of a file of the store", file_name(way));
    Error::new(ErrorKind::Io, message)
        .with_hint("run `mdsel verify --repair`, which keeps the file under another name")
}

fn unwritable(path: &Path) -> Error {
    let message = format!("{}: the store cannot be written", file_name(path));
    Error::new(ErrorKind::ReadOnly, message)
        .with_hint("let this user write the store and its folder")
}

fn foreign(path: &Path) -> Error {
    Error::new(ErrorKind::StoreForeign, format!("{}: not an mdsel store", file_name(path)))
        .with_hint(if path.file_name().is_some_and(|name| name == FILE_NAME) {
            "choose another file with --db, or move this one away"
        } else {
            "--db and MDSEL_DB name a store file, such as .mdsel.db, which `mdsel ingest --db FILE` makes"
        })
}

fn not_found(path: &Path) -> Error {
    Error::new(ErrorKind::StoreNotFound, format!("{}: the store does not exist", file_name(path)))
        .with_hint("create it with `mdsel ingest FOLDER`")
}

fn corrupt(path: &Path, what: &str) -> Error {
    Error::new(
        ErrorKind::StoreCorrupt,
        format!("{}: the store is damaged: {what}", file_name(path)),
    )
    .with_hint("run `mdsel verify --repair`, which keeps the damaged file")
}

/// The number of pages that SQLite keeps of the store. The kernel keeps them as well, and to copy a page
/// again takes less time than to get memory for another one.
const CACHE_PAGES: i32 = 40;

/// Opens a connection with `flags` and enables all defenses.
fn connect(path: &Path, target: &Path, flags: OpenFlags) -> Result<Connection> {
    let wrap = |error| store_error(path, error);
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(target, flags).map_err(wrap)?;
    for (config, on) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
        (DbConfig::SQLITE_DBCONFIG_DQS_DDL, false),
        (DbConfig::SQLITE_DBCONFIG_DQS_DML, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, true),
        // Without it SQLite prepares a statement again for each value that is the bound of a range.
        (DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true),
    ] {
        connection.set_db_config(config, on).map_err(wrap)?;
    }
    let row_bytes = i32::try_from(limits::MAX_SQLITE_ROW_BYTES).unwrap_or(i32::MAX);
    for (limit, value) in [
        (Limit::SQLITE_LIMIT_LENGTH, row_bytes),
        (Limit::SQLITE_LIMIT_SQL_LENGTH, 100_000),
        (Limit::SQLITE_LIMIT_COLUMN, 100),
        (Limit::SQLITE_LIMIT_EXPR_DEPTH, 50),
        (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 10),
        (Limit::SQLITE_LIMIT_VDBE_OP, 100_000),
        (Limit::SQLITE_LIMIT_FUNCTION_ARG, 16),
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
        (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000),
        (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 1),
    ] {
        connection.set_limit(limit, value).map_err(wrap)?;
    }
    Ok(connection)
}

/// Converts a count to SQLite's integer type. Saturates.
fn sql(value: usize) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Converts an integer from SQLite to a count; 0 if it is negative.
fn count(value: i64) -> usize {
    usize::try_from(value).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_bundled_sqlite_has_the_fix_for_the_wal_reset_bug() {
        assert!(rusqlite::version_number() >= 3_051_003);
    }
}
