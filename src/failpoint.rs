//! Points at which a test can make the program fail, panic or abort. Only the feature `failpoints` compiles
//! them.
//!
//! Each point marks a distinct state of the disk or of memory. After a failure there, the next command must
//! answer correctly and repair the state. Invariant: without the feature no code of a point is compiled, and
//! every point is in one table. While no failure is injected, a program with the feature behaves like one
//! without it.

#[cfg(feature = "failpoints")]
pub use injected::*;

/// Returns an error, panics or aborts here if a test asks for it. `?` converts the error.
macro_rules! failpoint {
    ($point:ident) => {
        #[cfg(feature = "failpoints")]
        $crate::failpoint::$point.reach()?;
    };
}
pub(crate) use failpoint;

/// Returns the number of bytes in one batch. While a test injects failures, batches are small, so that a few
/// documents make several.
pub(crate) fn batch_bytes(limit: usize) -> usize {
    #[cfg(feature = "failpoints")]
    if std::env::var_os("FAILPOINTS").is_some() {
        return limit / 100_000;
    }
    limit
}

#[cfg(feature = "failpoints")]
mod injected {
    use crate::error::{Error, ErrorKind};

    /// A point at which a test can inject a failure.
    #[derive(Clone, Copy, Debug)]
    pub struct Point {
        /// Its name in the environment variable `FAILPOINTS`.
        pub name: &'static str,
        /// The state when the point is reached.
        pub meaning: &'static str,
    }

    /// The failure that a test injected at the point of this name.
    #[derive(Debug, thiserror::Error)]
    #[error("injected failure at {0}")]
    pub struct Injected(&'static str);

    impl Point {
        /// Fails if the action of the point is `return`, and aborts the process if it is `return(abort)`.
        pub(crate) fn reach(self) -> Result<(), Injected> {
            fail::fail_point!(self.name, |argument: Option<String>| {
                if argument.as_deref() == Some("abort") {
                    std::process::abort();
                }
                Err(Injected(self.name))
            });
            Ok(())
        }
    }

    impl From<Injected> for Error {
        fn from(failure: Injected) -> Self {
            Self::new(ErrorKind::Io, failure.to_string())
        }
    }

    impl From<Injected> for std::io::Error {
        fn from(failure: Injected) -> Self {
            Self::other(failure)
        }
    }

    /// Activates the points that the environment variable `FAILPOINTS` names, until the returned guard is
    /// dropped.
    pub(crate) fn from_environment() -> impl Drop {
        fail::FailScenario::setup()
    }

    macro_rules! points {
        ($($constant:ident = $name:literal, $meaning:literal;)*) => {
            $(#[doc = $meaning] pub const $constant: Point =
                Point { name: $name, meaning: $meaning };)*
            /// Every point, in the order in which the life of a store reaches them.
            pub const TABLE: &[Point] = &[$($constant,)*];
        };
    }

    points! {
        LOCKED = "locked", "the lock of the store is taken";
        MIGRATION_COPIED = "migration-copied",
            "a store with an older schema is copied, and the copy has its temporary name";
        MIGRATION_BEGUN = "migration-begun", "the transaction of a migration has begun";
        MIGRATION_RUN = "migration-run", "a migration has run, and is not committed";
        MIGRATION_KEPT = "migration-kept",
            "a migration is not committed, and the copy has its final name";
        MIGRATION_COMMITTED = "migration-committed", "a migration is committed";
        STORE_MADE_BESIDE = "store-made-beside", "an empty store is created under a temporary name";
        STORE_MADE = "store-made",
            "an empty store has its final name, and neither root nor options";
        BEGUN = "begun", "a transaction has begun";
        FILE_READ = "file-read", "a file is open";
        ROWS_PUT = "rows-put", "the rows of a document are written, and not committed";
        ROWS_REMOVED = "rows-removed", "the rows of a document are removed, and not committed";
        BEFORE_COMMIT = "before-commit", "a transaction is about to be committed";
        AFTER_COMMIT = "after-commit", "a transaction is committed";
        INDEX_SWEPT = "index-swept", "temporary files of the index are removed";
        INDEX_COLLECTED = "index-collected", "unreferenced files of the index are removed";
        INDEX_REMOVED = "index-removed", "an unusable index is removed";
        INDEX_FOLDER_MADE = "index-folder-made", "the folder of an index is created";
        INDEX_MADE = "index-made", "an empty index is created, without its metadata";
        CATCH_UP_BEGUN = "catch-up-begun",
            "removed documents are deleted from the index, and that is not committed";
        CATCH_UP_COMMITTED = "catch-up-committed",
            "some of the missing documents are committed to the index";
        INDEX_PUT = "index-put", "a document is added to the index, and not committed";
        INDEX_SEGMENTS_WRITTEN = "index-segments-written",
            "the index has written its last segments, and has not committed them";
        INDEX_PREPARED = "index-prepared", "a commit of the index is prepared";
        INDEX_COMMITTED = "index-committed", "the index has committed";
        INDEX_MERGED = "index-merged", "segments of the index are merged";
        INDEX_STAMP_READ = "index-stamp-read",
            "a reader has read the metadata of the index, and has not opened the index";
        INDEX_CLOSED = "index-closed", "the index is closed";
        BEFORE_CHECKPOINT = "before-checkpoint", "the write-ahead log is about to be checkpointed";
        AFTER_CHECKPOINT = "after-checkpoint", "the write-ahead log is empty";
        EDIT_NOTED = "edit-noted", "the intent of an edit is stored";
        EDIT_TEMPORARY_MADE = "edit-temporary-made",
            "the temporary file of an edit is created and empty";
        EDIT_TEMPORARY_WRITTEN = "edit-temporary-written",
            "the temporary file of an edit is written, and not synced";
        EDIT_BEFORE_RENAME = "edit-before-rename",
            "the store has the new version, and the file the old one";
        EDIT_BEFORE_REMOVAL = "edit-before-removal",
            "a moved file is in its new place, and the old one is not removed";
        EDIT_RENAMED = "edit-renamed", "the file is replaced, and its folder is not synced";
        RECOVERY_SWEPT = "recovery-swept", "the temporary file of an interrupted edit is removed";
        RECOVERY_STORED = "recovery-stored",
            "the store matches the file after an interrupted edit, and the intent is still stored";
        DAMAGED_LOG_READ = "damaged-log-read",
            "a copy of a damaged store includes the committed pages of its log";
        RECOVERY_WRITTEN = "recovery-written", "a new store contains the undamaged documents of a damaged one";
        RECOVERY_INDEXED = "recovery-indexed",
            "the new store also contains the documents that were read from files, and has its index";
        LOG_WRITTEN_BACK = "log-written-back",
            "the log of the damaged store is written back into a copy of it";
        LOG_KEPT = "log-kept", "a copy of the log of the damaged store is kept";
        STORE_KEPT = "store-kept", "a copy of the damaged store is kept";
        LOG_SETTLED = "log-settled",
            "the copy with its log written back is the store, and the log is obsolete";
        LOG_REMOVED = "log-removed", "the log of the damaged store is removed";
        STORE_SWAPPED = "store-swapped", "the new store has replaced the damaged one";
        SWAP_INDEX_REMOVED = "swap-index-removed", "the index of the damaged store is removed";
        INDEX_SWAPPED = "index-swapped",
            "the new store has its index, and leftover files are not removed";
        LEFTOVERS_REMOVED = "leftovers-removed", "files that interrupted repairs left are removed";
    }
}
