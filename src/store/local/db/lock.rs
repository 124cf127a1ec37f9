//! The lock of a store: a `flock` on a file next to it.
//!
//! Invariant: at most one process holds the lock. The system releases it however the process ends.

use std::fs::{File, TryLockError};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::OFlags;

use super::{file_name, is_in_the_way, unwritable, with_suffix};
use crate::error::{Error, ErrorKind, Result};
use crate::store::LOCKED_HINT;

/// Returns the path of the file that a writer of the store at `path` locks.
pub(super) fn lock_path(path: &Path) -> PathBuf {
    with_suffix(path, "-lock")
}

/// Acquires the lock of the store at `path`. Waits up to `wait` for another writer. Does not follow a symbolic link in
/// the place of the lock file, which could create a file in any folder.
pub(in crate::store) fn lock(path: &Path, wait: Duration) -> Result<File> {
    let lock_path = lock_path(path);
    let deadline = Instant::now() + wait;
    let lock = File::options()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
        .open(&lock_path)
        .map_err(|error| match error.kind() {
            std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
                unwritable(path).with_source(error)
            }
            _ if lock_path.symlink_metadata().is_ok_and(|it| !it.is_file()) => is_in_the_way(path),
            _ => Error::io(&lock_path, error),
        })?;
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(lock),
            Err(TryLockError::Error(error)) => return Err(Error::io(&lock_path, error)),
            Err(TryLockError::WouldBlock) if Instant::now() >= deadline => {
                return Err(Error::new(
                    ErrorKind::Locked,
                    format!("{}: another process is writing", file_name(path)),
                )
                .with_hint(LOCKED_HINT));
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}
