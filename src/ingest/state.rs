//! What the file system tells of a file, and when that can be relied on.
//!
//! Invariant: a file whose state is the stored one, and was not racy when it was taken, holds the
//! stored bytes, as far as any tool that trusts the times of files can know.

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::store::FileState;

/// The state of a file as `metadata` tells it.
pub(super) fn file_state(metadata: &Metadata) -> FileState {
    #[cfg(unix)]
    let ctime_ns = {
        use std::os::unix::fs::MetadataExt as _;
        metadata.ctime().saturating_mul(1_000_000_000).saturating_add(metadata.ctime_nsec())
    };
    #[cfg(not(unix))]
    let ctime_ns = 0;
    FileState {
        size: metadata.len(),
        mtime_ns: metadata.modified().map_or(0, nanoseconds),
        ctime_ns,
    }
}

/// A folder whose files are asked for their states, so that the way to the folder itself is gone once and
/// not for every file.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    /// `None` where it cannot be held open, and every file is asked for by its whole path.
    #[cfg(unix)]
    opened: Option<rustix::fd::OwnedFd>,
}

impl Folder {
    /// The folder at `path`, whether it is there or not.
    pub(crate) fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            #[cfg(unix)]
            opened: {
                use rustix::fs::{Mode, OFlags};
                // What may only be gone through is enough.
                #[cfg(target_os = "linux")]
                let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::PATH;
                #[cfg(not(target_os = "linux"))]
                let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
                rustix::fs::open(path, flags, Mode::empty()).ok()
            },
        }
    }

    /// Whether there is such a folder.
    pub(crate) fn exists(&self) -> bool {
        #[cfg(unix)]
        if self.opened.is_some() {
            return true;
        }
        self.path.is_dir()
    }

    /// The state of what is at `path` below it, a symbolic link not followed, and whether that is a
    /// regular file.
    pub(crate) fn state(&self, path: &str) -> io::Result<(FileState, bool)> {
        #[cfg(unix)]
        if let Some(folder) = &self.opened {
            return state_in(folder, path);
        }
        let metadata = std::fs::symlink_metadata(self.path.join(path))?;
        Ok((file_state(&metadata), metadata.is_file()))
    }
}

/// The state of what is at `path` below `folder`, a symbolic link not followed, and whether that is a
/// regular file.
#[cfg(unix)]
pub(super) fn state_in(
    folder: impl std::os::fd::AsFd,
    path: impl rustix::path::Arg,
) -> io::Result<(FileState, bool)> {
    use rustix::fs::{AtFlags, FileType};
    let found = rustix::fs::statat(folder, path, AtFlags::SYMLINK_NOFOLLOW)?;
    #[allow(clippy::useless_conversion, reason = "the types differ between systems")]
    let time = |seconds, nanoseconds| {
        let seconds: i64 = i64::from(seconds);
        let nanoseconds = i64::try_from(nanoseconds).unwrap_or(0);
        seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds)
    };
    let state = FileState {
        size: u64::try_from(found.st_size).unwrap_or(0),
        mtime_ns: time(found.st_mtime, found.st_mtime_nsec),
        ctime_ns: time(found.st_ctime, found.st_ctime_nsec),
    };
    Ok((state, FileType::from_raw_mode(found.st_mode).is_file()))
}

fn nanoseconds(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |ns| -ns),
    }
}

/// Whether a file that was last modified at `mtime_ns` and is read from `read_began` on could change
/// once more without its time changing: file systems tick in milliseconds, some in two seconds.
pub(super) fn is_racy(mtime_ns: i64, read_began: SystemTime) -> bool {
    let tick = if mtime_ns % 1_000_000_000 == 0 { 2_000_000_000 } else { 20_000_000 };
    mtime_ns.saturating_add(tick) >= nanoseconds(read_began)
}
