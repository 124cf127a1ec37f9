//! The store: the ingested documents, and the ways to find them.
//!
//! All commands access documents through this module only. `local` is the engine for one machine: a
//! SQLite file and a full-text index derived from it.
//!
//! Invariants: all parts of a document change together or not at all. All answers of a reader come
//! from one generation.

mod found;
mod local;

pub use found::{Place, Ranked, SectionFilter};
pub(crate) use local::is_guarded;
pub use local::{
    Candidates, Check, Checked, Fault, FaultKind, FullText, LostDocument, NameMatch, Part, Ranking,
    Recovery, RecoveryReport, Runs, Snapshot, Totals, Work, Writer, clear_way, index_generation,
    rebuild_index, sweep,
};

use crate::corpus::FileState;
use crate::prepare::checksums::Checksums;

/// A stored document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredDocument {
    /// The id, which is never reused for another version of the document.
    pub id: i64,
    /// The path relative to the root, with `/` as separator.
    pub path: String,
    /// blake3 of the bytes.
    pub hash: [u8; 32],
    /// The metadata of the file when it was ingested.
    pub state: FileState,
    /// Whether the document contains bytes that are not UTF-8.
    pub is_lossy: bool,
    /// Whether the document contains LDMD markers.
    pub has_ldmd: bool,
    /// The checksums of the parts of the document; a part is compared when it is read.
    pub(in crate::store) checksums: Checksums,
}

/// The value of one key of front matter in one document.
#[derive(Clone, Debug, PartialEq)]
pub struct FrontMatterValue {
    /// The id of the document.
    pub document: i64,
    /// The key as it is written.
    pub name: String,
    /// The value.
    pub value: serde_json::Value,
}

/// A file that an edit is replacing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditIntent {
    /// The path relative to the root, with `/` as separator.
    pub path: String,
    /// The name of the temporary file in the same folder.
    pub temporary: String,
    /// blake3 of the new bytes.
    pub new_hash: [u8; 32],
}
