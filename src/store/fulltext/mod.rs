//! The full-text half of the store: a tantivy index in a folder beside the SQLite file.
//!
//! It is derived: whatever happens to it, it can be made anew from SQLite alone, and nothing that it
//! says is believed before SQLite knows the document. Its last commit carries a [`Stamp`] that tells
//! which store it belongs to and how far it follows. Ids of documents only grow and are never used
//! twice, so an old index may hold documents that are gone, which a reader drops, and lack those with
//! ids above [`Stamp::through`], which a reader looks through in SQLite. Invariant: a document with an
//! id up to `through` that SQLite holds is in the index; no index is ever opened by making one.
//!
//! tantivy may panic on damaged files; every use of it here is caught and told as [`Unusable`].

mod best;
pub(in crate::store) mod check;
mod directory;
mod document;
mod fingerprint;
mod flight;
mod leaf;
mod marks;
mod postings;
mod query;
mod ranking;
mod reader;
mod schema;
mod stems;
mod term;
mod tokens;
mod trigram_component;
mod trigrams;
mod writer;

pub(crate) use document::{DocumentText, TextExtractor, same_length_text};
pub use query::WordQuery;
pub use ranking::{Ranked, SectionFilter};
pub(crate) use reader::{Reader, stamp};
pub use schema::Place;
pub use stems::StemClass;
pub use term::QueryTerm;
pub(crate) use tokens::{TokenKind, Tokens, camel_parts};
pub use trigrams::{Trigram, TrigramQuery, trigram};
pub(crate) use writer::IndexWriter;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Which store an index belongs to, and how far it follows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp {
    /// The identity of the store.
    pub(crate) store: String,
    /// What the index was made with: [`schema::fingerprint`].
    pub(crate) schema: String,
    /// Documents with ids up to this one are in the index, if the store holds them.
    pub(crate) through: i64,
    /// The generation of the store that the index equals where `through` is its highest id.
    pub(crate) generation: u64,
}

impl Stamp {
    /// The stamp of an index of `store`.
    pub(crate) fn new(store: &str, through: i64, generation: u64) -> Self {
        Self { store: store.to_owned(), schema: schema::fingerprint(), through, generation }
    }
}

/// What came of using an index.
pub(crate) type Usable<T> = Result<T, Unusable>;

/// Why an index cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unusable {
    /// There is none.
    Missing,
    /// It belongs to another store, to another state of this one, or was made by another program.
    Foreign,
    /// It cannot be read.
    Damaged(String),
}

impl std::fmt::Display for Unusable {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Missing => formatter.write_str("there is no full-text index"),
            Self::Foreign => formatter.write_str("the full-text index is not that of this store"),
            Self::Damaged(what) => write!(formatter, "the full-text index is damaged: {what}"),
        }
    }
}

#[cfg(feature = "failpoints")]
impl From<crate::failpoint::Injected> for Unusable {
    fn from(fault: crate::failpoint::Injected) -> Self {
        Self::Damaged(fault.to_string())
    }
}

impl From<tantivy::TantivyError> for Unusable {
    fn from(error: tantivy::TantivyError) -> Self {
        use tantivy::TantivyError;
        use tantivy::directory::error::OpenReadError;
        match error {
            TantivyError::OpenReadError(OpenReadError::FileDoesNotExist(path))
                if path == Path::new("meta.json") =>
            {
                Self::Missing
            }
            TantivyError::OpenDirectoryError(_) => Self::Missing,
            error => Self::Damaged(error.to_string()),
        }
    }
}

impl From<std::io::Error> for Unusable {
    fn from(error: std::io::Error) -> Self {
        Self::Damaged(error.to_string())
    }
}

thread_local! {
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic of this thread is one that is caught here, and told in the answer.
pub(crate) fn is_guarded() -> bool {
    IS_GUARDED.get()
}

/// Does something with the index; a panic is a fault of its files.
fn guarded<T>(act: impl FnOnce() -> Usable<T>) -> Usable<T> {
    let was_guarded = IS_GUARDED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(act));
    IS_GUARDED.set(was_guarded);
    result.unwrap_or_else(|_| Err(Unusable::Damaged("its files make no sense".to_owned())))
}

/// The folder of the index of the store at `path`.
pub(crate) fn folder(path: &Path) -> PathBuf {
    super::beside(path, "-fts")
}

/// The stamp of an open index, which must have been made as this program makes them.
fn stamp_of(index: &tantivy::Index) -> Usable<Stamp> {
    let payload = index.load_metas()?.payload;
    payload
        .and_then(|payload| serde_json::from_str::<Stamp>(&payload).ok())
        .filter(|stamp| stamp.schema == schema::fingerprint())
        .ok_or(Unusable::Foreign)
}
