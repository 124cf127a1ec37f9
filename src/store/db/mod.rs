//! The SQLite half of the store: opening, hardening, and what its errors mean to a user.
//!
//! A store file is untrusted until it has shown the application id, a known version and exactly the
//! schema of that version; every connection runs with SQLite's defences for hostile files on.
//! Invariant: nothing is read from, and nothing written to, a file that has not passed these checks.

mod check;
mod checksums;
mod content;
mod derived;
mod graph;
mod header;
mod log;
mod markup_codec;
mod meta;
mod migrate;
mod outline_codec;
mod pages;
mod salvage;
mod schema;
mod snapshot;
mod stored_rows;
mod title_keys;
mod work;
mod writer;

pub(super) use checksums::Checksums;
pub(super) use derived::DerivedRows;
use header::{Header, peek};
pub(super) use log::{has_log, write_log_back};
pub(super) use migrate::{Migrated, free_name};
pub(super) use salvage::{DamagedStore, Found};
use snapshot::RowDamaged;
pub use snapshot::{NameMatch, Snapshot, Totals};
pub(super) use stored_rows::StoredRows;
pub use work::{Runs, Work};
pub(super) use writer::{PackedRows, RowPacker, RowWriter, lock};

use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::ffi::ErrorCode;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};

use crate::error::{Error, ErrorKind, Result};
use crate::markdown::slug::fold;
use crate::position::ByteSpan;
use crate::store::{beside, without_extension};

/// Raised whenever the same bytes would be parsed or packed differently, so that the next ingest
/// takes every document anew.
const PARSER_VERSION: i64 = 5;

/// Bytes of a row at most: well above [`crate::limits::MAX_OUTLINE_BYTES`].
const MAX_ROW_BYTES: i32 = 256 << 20;

/// The name by which messages tell a store: where it lies is no part of any answer.
fn file_name(path: &Path) -> std::path::Display<'_> {
    path.file_name().map_or(path, Path::new).display()
}

/// The file whose lock a writer of the store at `path` holds.
fn lock_path(path: &Path) -> PathBuf {
    beside(path, "-lock")
}

/// Whether SQLite wanted for room on the disk: 32 KiB, at least, for the index of its log.
fn has_no_room(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DiskFull)
        || error
            .sqlite_error()
            .is_some_and(|error| error.extended_code == rusqlite::ffi::SQLITE_IOERR_SHMSIZE)
}

/// What an error of SQLite at the store `path` means to a user.
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
            return corrupt(path, "a row holds what mdsel does not write").with_source(error);
        }
        _ => {}
    }
    let result = match code {
        // The header was that of a store.
        Some(ErrorCode::NotADatabase) => {
            return corrupt(path, "SQLite does not take it for a database");
        }
        Some(ErrorCode::TooBig) => return crate::limits::exceeded("outline-bytes"),
        Some(ErrorCode::DatabaseCorrupt) => {
            Error::new(ErrorKind::StoreCorrupt, format!("{name}: the store is damaged: {error}"))
                .with_hint("run `mdsel verify --repair`, which keeps the file aside")
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            Error::new(ErrorKind::Locked, format!("{name}: another process holds the store"))
                .with_hint("wait for it to end, or give it more time with --wait")
        }
        Some(ErrorCode::ReadOnly) => {
            Error::new(ErrorKind::ReadOnly, format!("{name}: the store cannot be written"))
        }
        Some(ErrorCode::OperationInterrupted) => crate::limits::exceeded("query-seconds"),
        _ if has_no_room(&error) => {
            Error::new(ErrorKind::Io, format!("{name}: {error}")).with_hint("make room on the disk")
        }
        _ => Error::new(ErrorKind::Io, format!("{name}: {error}")),
    };
    result.with_source(error)
}

fn foreign(path: &Path) -> Error {
    Error::new(ErrorKind::StoreForeign, format!("{}: not a store of mdsel", file_name(path)))
        .with_hint("name another file with --db, or move this one away")
}

fn not_found(path: &Path) -> Error {
    Error::new(ErrorKind::StoreNotFound, format!("{}: there is no store", file_name(path)))
        .with_hint("make one with `mdsel ingest FOLDER`")
}

fn corrupt(path: &Path, what: &str) -> Error {
    Error::new(
        ErrorKind::StoreCorrupt,
        format!("{}: the store is damaged: {what}", file_name(path)),
    )
    .with_hint("run `mdsel verify --repair`, which keeps the file aside")
}

/// Opens a connection with `flags`, every defence on.
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
        // Without it every value that bounds a range prepares the statement anew.
        (DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true),
    ] {
        connection.set_db_config(config, on).map_err(wrap)?;
    }
    for (limit, value) in [
        (Limit::SQLITE_LIMIT_LENGTH, MAX_ROW_BYTES),
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

/// The key under which `document.name_key` holds a path whose extension is already cut off.
fn name_key(stem: &str) -> String {
    let mut key = String::with_capacity(stem.len() + 1);
    for component in fold(stem).rsplit('/') {
        key.push_str(component);
        key.push('/');
    }
    key
}

/// A count in SQLite's integers.
fn sql(value: usize) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// An integer of SQLite's as a count.
fn count(value: i64) -> usize {
    usize::try_from(value).unwrap_or(0)
}

/// Clips `span` to `0..length`.
fn clip(span: ByteSpan, length: usize) -> ByteSpan {
    let start = span.start.min(length);
    ByteSpan { start, end: span.end.clamp(start, length) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_keys_turn_suffixes_into_prefixes() {
        assert_eq!(name_key(without_extension("docs/API/Guide.md")), "guide/api/docs/");
        assert_eq!(without_extension("a/v1.2.md"), "a/v1.2");
        assert_eq!(without_extension("a.b/c"), "a.b/c");
        assert_eq!(without_extension(".hidden"), ".hidden");
        assert_eq!(name_key("e\u{301}"), name_key("\u{c9}"));
    }

    #[test]
    fn the_bundled_sqlite_has_the_fix_for_resetting_the_log() {
        assert!(rusqlite::version_number() >= 3_051_003);
    }
}
