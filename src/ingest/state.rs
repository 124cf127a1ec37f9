//! What the file system tells of a file, and when that can be relied on.
//!
//! Invariant: a file whose state is the stored one, and was not racy when it was taken, holds the
//! stored bytes, as far as any tool that trusts the times of files can know.

use std::fs::Metadata;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::store::FileState;

/// The state of a file as `metadata` tells it.
pub fn file_state(metadata: &Metadata) -> FileState {
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
