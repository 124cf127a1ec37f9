//! The write-ahead log next to a store file.
//!
//! Invariant: this module writes the log back only to a copy of the store.

use std::io::{Read as _, Seek as _, Write as _};
use std::path::Path;

use rusqlite::OpenFlags;

use super::{connect, corrupt, header, store_error, with_suffix};
use crate::error::{Error, Result};

/// Returns whether the store at `path` has a log that is not empty.
pub(in crate::store) fn has_log(path: &Path) -> bool {
    let log = with_suffix(path, "-wal").metadata();
    log.is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0)
}

/// Copies the store at `path` with its log to `copy`, and makes SQLite write the log back to the
/// copy. The result is one file with the content of both.
pub(in crate::store) fn write_log_back(path: &Path, copy: &Path) -> Result<()> {
    copy_with_log(path, copy)?;
    let wrap = |error| store_error(path, error);
    let connection = connect(path, copy, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    // SQLite opens the log when it first reads the file, and writes it back when the last
    // connection closes. Neither needs the schema, which may be damaged.
    connection
        .pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0))
        .and_then(|_| connection.close().map_err(|(_, error)| error))
        .map_err(wrap)?;
    if has_log(copy) {
        return Err(corrupt(path, "its log cannot be written back"));
    }
    let synced = std::fs::File::open(copy).and_then(|file| file.sync_all());
    synced.map_err(|error| Error::io(copy, error))
}

fn copy_with_log(path: &Path, copy: &Path) -> Result<()> {
    for suffix in ["", "-wal"] {
        match std::fs::copy(with_suffix(path, suffix), with_suffix(copy, suffix)) {
            Err(error) if suffix.is_empty() || error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::io(copy, error));
            }
            _ => {}
        }
    }
    // SQLite refuses to open a file with a damaged header.
    let repair = |mut file: std::fs::File| {
        let mut start = [0; header::LENGTH];
        file.read_exact(&mut start)?;
        header::repair(&mut start);
        file.rewind()?;
        file.write_all(&start)
    };
    std::fs::File::options()
        .read(true)
        .write(true)
        .open(copy)
        .and_then(repair)
        .map_err(|error| Error::io(copy, error))
}
