//! The size and times of a file, and when they prove that it did not change.
//!
//! Invariant: if the state of a file equals the stored state, and that state was not racy, the file has the
//! stored bytes, provided that nobody reset its times.

use std::fs::Metadata;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};

/// The metadata of a file when its bytes were read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileState {
    /// Size in bytes.
    pub size: u64,
    /// Time of the last modification, in nanoseconds since the Unix epoch. 0 if the file was read
    /// so soon after that time that a later change could have the same time (git calls this racily
    /// clean).
    pub mtime_ns: i64,
    /// Time of the last inode change, in nanoseconds since the Unix epoch. 0 if the system does not
    /// report it, or under the same condition as `mtime_ns`.
    pub ctime_ns: i64,
}

/// The time of the last inode change in [`FileState::without_file`]. No file has it.
const NO_FILE: i64 = i64::MIN;

impl FileState {
    /// Returns the state of a file of `size` bytes whose times are unknown. The next ingest reads the
    /// file.
    pub(crate) fn unknown(size: usize) -> Self {
        Self { size: size as u64, mtime_ns: 0, ctime_ns: 0 }
    }

    /// Returns the state for a document of `size` bytes that was stored without reading a file, so that an ingest
    /// that finds no file keeps it. The first ingest that finds the file replaces this state.
    pub(crate) fn without_file(size: usize) -> Self {
        Self { ctime_ns: NO_FILE, ..Self::unknown(size) }
    }

    /// Whether a file is known to have been at the path of the document.
    pub(crate) fn is_of_file(&self) -> bool {
        self.ctime_ns != NO_FILE
    }
}

/// Converts `metadata` to a file state, with times in nanoseconds since the Unix epoch.
pub(crate) fn file_state(metadata: &Metadata) -> FileState {
    FileState {
        size: metadata.len(),
        mtime_ns: metadata.modified().map_or(0, nanoseconds),
        ctime_ns: metadata
            .ctime()
            .saturating_mul(1_000_000_000)
            .saturating_add(metadata.ctime_nsec()),
    }
}

/// An open folder, in which the states of many files are read without resolving the path of the folder for
/// each.
#[derive(Debug)]
pub(crate) struct FolderHandle {
    path: PathBuf,
    /// `None` if the folder cannot be opened; then each file is read by its whole path.
    opened: Option<OwnedFd>,
}

impl FolderHandle {
    /// Opens the folder at `path`. The folder need not exist.
    pub(crate) fn new(path: &Path) -> Self {
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
        // Permission to search the folder is enough.
        #[cfg(target_os = "linux")]
        let flags = flags | OFlags::PATH;
        let opened = rustix::fs::open(path, flags, Mode::empty()).ok();
        Self { path: path.to_owned(), opened }
    }

    /// Whether the folder exists.
    pub(crate) fn exists(&self) -> bool {
        self.opened.is_some() || self.path.is_dir()
    }

    /// Returns the state of the entry at `path` below the folder, and whether it is a regular file. Does not
    /// follow a symbolic link at `path`.
    pub(crate) fn state(&self, path: &str) -> io::Result<(FileState, bool)> {
        if let Some(folder) = &self.opened {
            return state_in(folder, path);
        }
        let metadata = std::fs::symlink_metadata(self.path.join(path))?;
        Ok((file_state(&metadata), metadata.is_file()))
    }
}

/// Returns the state of the entry at `path` below `folder`, and whether it is a regular file. Does not follow
/// a symbolic link at `path`.
pub(crate) fn state_in(
    folder: impl AsFd,
    path: impl rustix::path::Arg,
) -> io::Result<(FileState, bool)> {
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

/// Whether a file that was modified at `mtime_ns` and read since `read_began` can change again without
/// getting another time. File systems count time in milliseconds, and some in units of two seconds.
pub(crate) fn is_racy(mtime_ns: i64, read_began: SystemTime) -> bool {
    let tick = if mtime_ns % 1_000_000_000 == 0 { 2_000_000_000 } else { 20_000_000 };
    mtime_ns.saturating_add(tick) >= nanoseconds(read_began)
}
