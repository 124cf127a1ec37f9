//! The full-text part of the store: a tantivy index in a folder next to the SQLite file.
//!
//! The index is derived. It can always be rebuilt from SQLite, and its results are used only for
//! documents that SQLite contains. Its last commit contains [`IndexMetadata`] with the identity of
//! the store and the state that the index matches, with the token of that state. Ids of documents
//! only increase and are never reused. An outdated index can therefore contain documents that no
//! longer exist, which a reader drops, and lack documents with ids above
//! [`IndexMetadata::last_indexed_id`], which a reader searches in SQLite.
//!
//! Invariants: every document in SQLite with an id up to `last_indexed_id` is in the index. Opening
//! an index never creates one.
//!
//! tantivy can panic on damaged files. Every call of it here catches panics and returns
//! [`Unusable`].

mod best;
mod byte_budget;
pub(super) mod check;
mod directory;
mod entry;
mod leaf;
mod marks;
mod open;
mod places;
mod population;
mod postings;
mod ranking;
mod reader;
mod schema;
mod trigram_component;
mod writer;

pub(crate) use ranking::IndexFilter;
pub(crate) use reader::{IndexReader, index_metadata};
pub(crate) use writer::IndexWriter;
pub(super) use writer::sweep;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::limits;

/// The metadata of an index: the store that it belongs to and the state that it matches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct IndexMetadata {
    /// The identity of the store.
    pub(crate) store: String,
    /// The schema that the index was created with: [`schema::fingerprint`].
    pub(crate) schema: String,
    /// All documents of the store with ids up to this one are in the index.
    #[serde(rename = "through")]
    pub(crate) last_indexed_id: i64,
    /// The generation of the store that the index matches, if `last_indexed_id` is the highest id
    /// of the store.
    pub(crate) generation: u64,
    /// The token of the newest state of the store of which the index contains documents; empty if an
    /// older version wrote the index.
    #[serde(default)]
    pub(crate) token: String,
}

impl IndexMetadata {
    /// Creates the metadata of an index of `store`.
    pub(crate) fn new(store: &str, last_indexed_id: i64, generation: u64, token: &str) -> Self {
        Self {
            store: store.to_owned(),
            schema: schema::fingerprint(),
            last_indexed_id,
            generation,
            token: token.to_owned(),
        }
    }
}

/// The result of using an index.
pub(crate) type Usable<T> = Result<T, Unusable>;

/// The reason why an index cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unusable {
    /// The index does not exist.
    Missing,
    /// It belongs to another store or another state of this store, or another version wrote it.
    Foreign,
    /// The system does not let it be read. The text says which file, and why.
    Unreadable(String),
    /// The system does not let it be written. The text says why.
    Unwritable(String),
    /// Its content cannot be read. The text says what is damaged.
    Damaged(String),
}

impl std::fmt::Display for Unusable {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Missing => formatter.write_str("the full-text index does not exist"),
            Self::Foreign => formatter
                .write_str("the full-text index belongs to another store, branch or version"),
            Self::Unreadable(why) => {
                write!(formatter, "the full-text index cannot be read: {why}")
            }
            Self::Unwritable(why) => {
                write!(formatter, "the full-text index cannot be written: {why}")
            }
            Self::Damaged(what) => write!(formatter, "the full-text index is damaged: {what}"),
        }
    }
}

#[cfg(feature = "failpoints")]
impl From<crate::failpoint::Injected> for Unusable {
    fn from(error: crate::failpoint::Injected) -> Self {
        Self::Damaged(error.to_string())
    }
}

impl From<tantivy::TantivyError> for Unusable {
    fn from(error: tantivy::TantivyError) -> Self {
        use tantivy::TantivyError;
        use tantivy::directory::error::{LockError, OpenReadError, OpenWriteError};
        match error {
            TantivyError::OpenReadError(OpenReadError::FileDoesNotExist(path))
                if path == Path::new("meta.json") =>
            {
                Self::Missing
            }
            TantivyError::OpenDirectoryError(_) => Self::Missing,
            TantivyError::OpenReadError(OpenReadError::IoError { io_error, filepath }) => {
                Self::Unreadable(format!("{}: {io_error}", filepath.display()))
            }
            TantivyError::IoError(io_error)
            | TantivyError::LockFailure(LockError::IoError(io_error), _)
            | TantivyError::OpenWriteError(OpenWriteError::IoError { io_error, .. })
                if is_refusal(&io_error) =>
            {
                Self::Unwritable(io_error.to_string())
            }
            // The error of a damaged file repeats all of it.
            error => {
                Self::Damaged(error.to_string().chars().take(limits::INDEX_ERROR_CHARS).collect())
            }
        }
    }
}

impl From<std::io::Error> for Unusable {
    fn from(error: std::io::Error) -> Self {
        let what = error.to_string();
        if is_refusal(&error) { Self::Unwritable(what) } else { Self::Damaged(what) }
    }
}

/// Returns whether the system refused to write, whatever is in the file.
fn is_refusal(error: &std::io::Error) -> bool {
    use std::io::ErrorKind;
    matches!(
        error.kind(),
        ErrorKind::PermissionDenied
            | ErrorKind::ReadOnlyFilesystem
            | ErrorKind::StorageFull
            | ErrorKind::QuotaExceeded
    )
}

thread_local! {
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether a panic of this thread will be caught and reported as [`Unusable`].
pub(crate) fn is_guarded() -> bool {
    IS_GUARDED.get()
}

/// Calls `act`. A panic becomes [`Unusable::Damaged`], because tantivy panics on damaged files.
fn guarded<T>(act: impl FnOnce() -> Usable<T>) -> Usable<T> {
    let was_guarded = IS_GUARDED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(act));
    IS_GUARDED.set(was_guarded);
    result.unwrap_or_else(|_| Err(Unusable::Damaged("its files cannot be read".to_owned())))
}

/// Returns the folder of the index of the store at `path`.
pub(crate) fn folder(path: &Path) -> PathBuf {
    super::with_suffix(path, "-fts")
}

/// Returns the metadata of a commit. Fails if its schema is not that of this version.
fn metadata_of(metas: &tantivy::IndexMeta) -> Usable<IndexMetadata> {
    let payload = metas.payload.as_deref();
    payload
        .and_then(|payload| serde_json::from_str::<IndexMetadata>(payload).ok())
        .filter(|metadata| metadata.schema == schema::fingerprint())
        .ok_or(Unusable::Foreign)
}
