//! Opening a store for reading, after its schema is upgraded.
//!
//! Invariant: a reader waits for a writer only if the store has an older schema.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use super::snapshot::Snapshot;
use super::writer::RowWriter;
use super::{Header, corrupt, file_name, not_found, peek};
use crate::error::{Error, ErrorKind, Result};
use crate::limits;
use crate::store::IfAbsent;

/// Returns the error for a store with an older schema that cannot be written.
fn not_upgraded(path: &Path) -> Error {
    let name = file_name(path);
    let message = format!("{name}: an earlier version wrote the store, and it cannot be upgraded");
    Error::new(ErrorKind::ReadOnly, message).with_hint(
        "let this user write the store and its folder, or copy the file to another folder and name the copy with --db",
    )
}

impl Snapshot {
    /// Opens the store at `path` and pins its newest generation. A store with an older schema is
    /// migrated first.
    pub(in crate::store) fn open(path: &Path) -> Result<Self> {
        let reader_wait = Duration::from_secs(limits::READER_WAIT_SECONDS as u64);
        Self::open_waiting(path, None, limits::LOCK_WAIT, reader_wait)
    }

    /// Opens the store like [`Self::open`], but waits up to `wait` for another program. `lock` is the writer's lock if
    /// the caller holds it.
    pub(in crate::store) fn open_within(
        path: &Path,
        lock: Option<&File>,
        wait: Duration,
    ) -> Result<Self> {
        Self::open_waiting(path, lock, wait, wait)
    }

    /// Opens the store like [`Self::open_within`]. Waits up to `wait` for a writer, and up to `reader_wait` for a program
    /// that locks the whole store.
    fn open_waiting(
        path: &Path,
        lock: Option<&File>,
        wait: Duration,
        reader_wait: Duration,
    ) -> Result<Self> {
        if peek(path)? == Header::Absent {
            return Err(not_found(path));
        }
        let path = path.canonicalize().map_err(|error| Error::io(path, error))?;
        match Self::open_current(&path, lock, reader_wait)? {
            Some(snapshot) => Ok(snapshot),
            None => {
                let migrated = RowWriter::open(&path, IfAbsent::Fail, wait)
                    .and_then(|writer| writer.checkpoint());
                migrated.map_err(|error| match error.kind() {
                    ErrorKind::ReadOnly => not_upgraded(&path),
                    _ => error,
                })?;
                Self::open_current(&path, lock, reader_wait)?
                    .ok_or_else(|| corrupt(&path, "it could not be upgraded"))
            }
        }
    }
}
