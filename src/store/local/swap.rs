//! Replacing a damaged store file by a new one.
//!
//! The old file without its write-ahead log is an older state, and the new file with that log is
//! invalid. The log is therefore removed only after its content is in the file.
//!
//! Invariants: a process that opens the store at any moment gets either the old store with the
//! content of its log, or the new store. The old file and its log exist unchanged at any moment,
//! under their own names or under the names of their backups.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::{db, remove, with_suffix};
use crate::error::{Error, ErrorKind, Result};
use crate::failpoint::failpoint;

/// Replaces the store file at `path` by `new` and returns the name under which the old file is
/// kept. `copy` and `partial` are names for temporary files. `copy` is `None` if the log cannot be
/// read or belongs to another database.
pub(super) fn swap(
    path: &Path,
    new: &Path,
    copy: Option<&Path>,
    partial: &Path,
) -> Result<PathBuf> {
    if db::has_log(new) {
        return Err(Error::new(
            ErrorKind::Io,
            "the log of the new store could not be written back",
        )
        .with_hint("free space on the disk, and repeat the command"));
    }
    let permissions = path.metadata().map_err(|error| Error::io(path, error))?.permissions();
    let permit = |file| {
        std::fs::set_permissions(file, permissions.clone()).map_err(|error| Error::io(file, error))
    };
    permit(new)?;
    let kept = db::free_name(path, ".damaged");
    let log = with_suffix(path, "-wal");
    if let Some(copy) = copy {
        db::write_log_back(path, copy)?;
        permit(copy)?;
        failpoint!(LOG_WRITTEN_BACK);
    }
    if db::has_log(path) {
        // A hard link would not do: SQLite may still write to the log.
        keep_copy(&log, &with_suffix(&kept, "-wal"), partial)?;
        failpoint!(LOG_KEPT);
    }
    if std::fs::hard_link(path, &kept).is_err() {
        // The file system has no hard links.
        keep_copy(path, &kept, partial)?;
    }
    failpoint!(STORE_KEPT);
    if let Some(copy) = copy {
        replace(path, copy)?;
        failpoint!(LOG_SETTLED);
    }
    // The shared-memory file describes the log, so it is removed together with it.
    remove(&with_suffix(path, "-shm"))?;
    remove(&with_suffix(path, "-wal"))?;
    failpoint!(LOG_REMOVED);
    replace(path, new)?;
    Ok(kept)
}

/// Copies the file at `path` to `kept`. A partial copy never has the name `kept`.
fn keep_copy(path: &Path, kept: &Path, partial: &Path) -> Result<()> {
    std::fs::copy(path, partial)
        .and_then(|_| File::open(partial)?.sync_all())
        .and_then(|()| std::fs::rename(partial, kept))
        .map_err(|error| Error::io(kept, error))
}

/// Renames the file `new` to `path`.
fn replace(path: &Path, new: &Path) -> Result<()> {
    std::fs::rename(new, path).map_err(|error| Error::io(path, error))?;
    if let Some(folder) = path.parent().and_then(|folder| File::open(folder).ok()) {
        // An error is ignored: a system that cannot sync a folder does not need it for a durable
        // rename.
        drop(folder.sync_all());
    }
    Ok(())
}
