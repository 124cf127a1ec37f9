//! A new store file in the place of a damaged one.
//!
//! The old file without its log is an older state, and the new one with that log is nonsense; so the log goes
//! only when the file tells all that it does. Invariant: whoever opens the store at any moment meets the old
//! one with all that its log tells, or the new one; and the old file and its log are always there as they
//! were, under their own names or under those by which they are kept.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::{beside, db, remove};
use crate::error::{Error, ErrorKind, Result};
use crate::failpoint::failpoint;

/// Puts the store file `new` in the place of the one at `path`, which is kept; tells as what. What is made
/// meanwhile is made as `copy` and `partial`, which are nobody's; there is no `copy` where nobody can read what
/// the log tells, or it is the log of another database.
pub(super) fn swap(
    path: &Path,
    new: &Path,
    copy: Option<&Path>,
    partial: &Path,
) -> Result<PathBuf> {
    if db::has_log(new) {
        return Err(Error::new(ErrorKind::Io, "the new store could not be written to its end"));
    }
    let permissions = path.metadata().map_err(|error| Error::io(path, error))?.permissions();
    let permit = |file| {
        std::fs::set_permissions(file, permissions.clone()).map_err(|error| Error::io(file, error))
    };
    permit(new)?;
    let kept = db::free_name(path, ".damaged");
    let log = beside(path, "-wal");
    if let Some(copy) = copy {
        db::write_log_back(path, copy)?;
        permit(copy)?;
        failpoint!(LOG_WRITTEN_BACK);
    }
    if db::has_log(path) {
        // A second name would be one of a file that SQLite may yet write to.
        keep_copy(&log, &beside(&kept, "-wal"), partial)?;
        failpoint!(LOG_KEPT);
    }
    if std::fs::hard_link(path, &kept).is_err() {
        // Where a file can have no second name.
        keep_copy(path, &kept, partial)?;
    }
    failpoint!(STORE_KEPT);
    if let Some(copy) = copy {
        replace(path, copy)?;
        failpoint!(LOG_SETTLED);
    }
    // Without its log, what SQLite shares of it would tell of one.
    remove(&beside(path, "-shm"))?;
    remove(&beside(path, "-wal"))?;
    failpoint!(LOG_REMOVED);
    replace(path, new)?;
    Ok(kept)
}

/// Copies the file at `path` to `kept`, where there is no half of it at any moment.
fn keep_copy(path: &Path, kept: &Path, partial: &Path) -> Result<()> {
    std::fs::copy(path, partial)
        .and_then(|_| File::open(partial)?.sync_all())
        .and_then(|()| std::fs::rename(partial, kept))
        .map_err(|error| Error::io(kept, error))
}

/// Puts the file `new` in the place of that at `path`.
fn replace(path: &Path, new: &Path) -> Result<()> {
    std::fs::rename(new, path).map_err(|error| Error::io(path, error))?;
    if let Some(folder) = path.parent().and_then(|folder| File::open(folder).ok()) {
        // Where folders cannot be synced, names are safe without.
        drop(folder.sync_all());
    }
    Ok(())
}
