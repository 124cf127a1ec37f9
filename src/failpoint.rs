//! Points where a test lets the program fail, panic or die, built in by the feature `failpoints` alone.
//!
//! Each stands where the disk, or what the program has in hand, is as it is nowhere else: what a fault
//! leaves behind there must be served, and mended, by the next command. Invariant: without the feature
//! nothing of a point is compiled; every point stands in one table, and is reached by name only there.

#[cfg(feature = "failpoints")]
pub use injected::*;

/// Fails, panics or dies here where a test asks for it, with an error that `?` turns into the caller's.
macro_rules! failpoint {
    ($point:ident) => {
        #[cfg(feature = "failpoints")]
        $crate::failpoint::$point.reach()?;
    };
}
pub(crate) use failpoint;

#[cfg(feature = "failpoints")]
mod injected {
    use crate::error::{Error, ErrorKind};

    /// A point.
    #[derive(Clone, Copy, Debug)]
    pub struct Point {
        /// Its name, as `FAILPOINTS` gives it.
        pub name: &'static str,
        /// What is done when it is reached.
        pub meaning: &'static str,
    }

    /// The fault that a test asked for, at the point of this name.
    #[derive(Debug, thiserror::Error)]
    #[error("the fault {0} was asked for")]
    pub struct Injected(&'static str);

    impl Point {
        /// `return` is a fault, `return(abort)` the death of the process.
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
        fn from(fault: Injected) -> Self {
            Self::new(ErrorKind::Io, fault.to_string())
        }
    }

    impl From<Injected> for std::io::Error {
        fn from(fault: Injected) -> Self {
            Self::other(fault)
        }
    }

    /// Does what the variable `FAILPOINTS` of the environment asks for, as long as what it returns lives.
    pub(crate) fn from_environment() -> impl Drop {
        fail::FailScenario::setup()
    }

    macro_rules! points {
        ($($constant:ident = $name:literal, $meaning:literal;)*) => {
            $(#[doc = $meaning] pub const $constant: Point =
                Point { name: $name, meaning: $meaning };)*
            /// All of them, in the order of a life of a store.
            pub const TABLE: &[Point] = &[$($constant,)*];
        };
    }

    points! {
        LOCKED = "locked", "the lock of the store is held";
        MIGRATION_COPIED = "migration-copied", "a store of an older schema is copied, and the copy has no name yet";
        MIGRATION_BEGUN = "migration-begun", "a migration has its transaction";
        MIGRATION_RUN = "migration-run", "a migration is run, and not committed";
        MIGRATION_KEPT = "migration-kept", "it is not committed, and the copy has its name";
        MIGRATION_COMMITTED = "migration-committed", "a migration is committed";
        STORE_MADE_BESIDE = "store-made-beside", "an empty store is made, under another name";
        STORE_MADE = "store-made", "an empty store is made, of which nothing is known yet";
        BEGUN = "begun", "a transaction is begun";
        FILE_READ = "file-read", "a file is open";
        ROWS_PUT = "rows-put", "the rows of a document are written, and not committed";
        ROWS_REMOVED = "rows-removed", "the rows of a document are removed, and not committed";
        BEFORE_COMMIT = "before-commit", "a transaction is about to be committed";
        AFTER_COMMIT = "after-commit", "a transaction is committed";
        INDEX_SWEPT = "index-swept", "temporary files of the index are removed";
        INDEX_COLLECTED = "index-collected", "files of the index that nothing names are removed";
        INDEX_REMOVED = "index-removed", "an index that cannot be used is removed";
        INDEX_FOLDER_MADE = "index-folder-made", "the folder of an index is made";
        INDEX_MADE = "index-made", "an empty index is made, without a stamp";
        CATCH_UP_BEGUN = "catch-up-begun", "the index forgot what is gone, and has not committed that";
        CATCH_UP_COMMITTED = "catch-up-committed", "a part of what the index lacked is in it";
        INDEX_PUT = "index-put", "the index was given a document, and has not committed it";
        INDEX_PREPARED = "index-prepared", "a commit of the index is prepared";
        INDEX_COMMITTED = "index-committed", "the index has committed";
        INDEX_MERGED = "index-merged", "segments of the index are merged";
        INDEX_STAMP_READ = "index-stamp-read", "a reader knows how far the index follows, and has not opened it";
        INDEX_CLOSED = "index-closed", "the index is closed, and the store is not";
        BEFORE_CHECKPOINT = "before-checkpoint", "the log is about to be written back";
        AFTER_CHECKPOINT = "after-checkpoint", "the log is empty";
        EDIT_NOTED = "edit-noted", "an edit is noted";
        EDIT_TEMPORARY_MADE = "edit-temporary-made", "the temporary file of an edit is empty";
        EDIT_TEMPORARY_WRITTEN = "edit-temporary-written", "it is written, and not synced";
        EDIT_BEFORE_RENAME = "edit-before-rename", "the store is ahead of the file";
        EDIT_RENAMED = "edit-renamed", "the file is replaced, which its folder may still forget";
        RECOVERY_SWEPT = "recovery-swept", "the temporary file of an interrupted edit is removed";
        RECOVERY_STORED = "recovery-stored", "an interrupted edit is ended, and still noted";
        DAMAGED_LOG_READ = "damaged-log-read", "a copy of a damaged store holds what its log tells";
        SALVAGED = "salvaged", "a new store beside a damaged one holds what is whole of it";
        SALVAGE_INDEXED = "salvage-indexed", "it holds what files tell, too, and has its index";
        LOG_WRITTEN_BACK = "log-written-back", "a copy of the damaged store holds what its log tells";
        LOG_KEPT = "log-kept", "a copy of its log is kept";
        STORE_KEPT = "store-kept", "so is its file";
        LOG_SETTLED = "log-settled", "that copy is the store, and the log tells nothing more";
        LOG_REMOVED = "log-removed", "the store has no log";
        STORE_SWAPPED = "store-swapped", "the new store has the place of the damaged one";
        SWAP_INDEX_REMOVED = "swap-index-removed", "it has no index yet";
        INDEX_SWAPPED = "index-swapped", "it has its index, and leftovers lie beside it";
        LEFTOVERS_REMOVED = "leftovers-removed", "what interrupted repairs and indices left is removed";
    }
}
