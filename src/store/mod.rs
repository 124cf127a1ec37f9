//! The store: what was ingested, kept in one SQLite file, and a full-text index that follows it.
//!
//! Every verb of the program talks to documents through this module and no other way. [`Snapshot`]
//! reads one unchanging state; [`FullText`] searches it; [`Writer`] holds the lock and changes both
//! halves. Only here do the two meet: `db` knows SQLite, `fulltext` knows tantivy, and neither knows
//! the other. Invariant: a document's row, bytes, outline and diagnostics change together or not at
//! all, whatever a snapshot answers is of one generation, and nothing depends on the index but time.

mod check;
mod db;
mod fault;
mod full_text;
mod fulltext;
mod salvage;
mod swap;
mod writer;

pub use check::{Check, Checked};
use db::Checksums;
pub use db::{NameMatch, Runs, Snapshot, Totals, Work};
pub use fault::{Fault, FaultKind, Part};
pub use full_text::{Candidates, FullText, Ranking, index_generation};
pub use fulltext::{
    Place, QueryTerm, Ranked, SectionFilter, StemClass, Trigram, TrigramQuery, WordQuery, trigram,
};
pub(crate) use fulltext::{TokenKind, Tokens, camel_parts, is_guarded, same_length_text};
pub use salvage::{LostDocument, Salvage, Salvaged, clear_way, rebuild_index, sweep};
pub use writer::{PackedDocument, Packer, Writer};
pub(crate) use writer::{packed, packed_version};

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::ldmd::Markup;
use crate::links::{Outgoing, SiteRoot};
use crate::markdown::Document;

/// The file beside a store whose name is the store's with `suffix`.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Removes a file, where it is there.
fn remove(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io(path, error)),
        _ => Ok(()),
    }
}

/// The path up to its extension, the dot left out, too.
fn without_extension(path: &str) -> &str {
    crate::links::split_extension(path).0
}

/// What the file system told of a file when its bytes were taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileState {
    /// Size in bytes.
    pub size: u64,
    /// Time of the last modification, nanoseconds since the epoch; 0 where the file was taken so
    /// soon behind it that a later change might carry the same time (git calls this racily clean).
    pub mtime_ns: i64,
    /// Time of the last change of the inode, likewise; 0 where the system has none.
    pub ctime_ns: i64,
}

/// A document as the store lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredDocument {
    /// Its id, never used for another version of it.
    pub id: i64,
    /// Its path relative to the root, with `/`.
    pub path: String,
    /// blake3 of its bytes.
    pub hash: [u8; 32],
    /// Its file when it was taken.
    pub state: FileState,
    /// Whether it holds bytes that are not UTF-8.
    pub is_lossy: bool,
    /// Whether it has markers of LDMD.
    pub has_ldmd: bool,
    /// What its parts are checked with when they are read.
    pub(in crate::store) checksums: Checksums,
}

/// A file that is being replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditIntent {
    /// Its path relative to the root, with `/`.
    pub path: String,
    /// The name of the temporary file beside it.
    pub temporary: String,
    /// blake3 of the bytes that it will have.
    pub new_hash: [u8; 32],
}

/// A document to be put into the store.
#[derive(Debug)]
pub struct NewDocument {
    /// Its path relative to the root, with `/`.
    pub path: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// blake3 of its bytes.
    pub hash: [u8; 32],
    /// Its file.
    pub state: FileState,
    /// Its structure.
    pub document: Document,
    /// Its LDMD sections.
    pub markup: Markup,
    /// Its links, and what it is called.
    pub links: Outgoing,
}

/// What decides which files an ingest takes; stored, and reused until given again.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct IngestOptions {
    /// Extensions without the dot, compared without case.
    pub extensions: Vec<String>,
    /// Whether hidden files are taken.
    pub hidden: bool,
    /// Whether ignore files are left unread.
    pub no_ignore: bool,
    /// Bytes of the largest file taken.
    pub max_file_bytes: u64,
    /// Where links that begin with `/` lead.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub site_roots: Vec<SiteRoot>,
}

impl IngestOptions {
    /// Whether the name of the file at `path` is one that is taken.
    pub fn takes(&self, path: &Path) -> bool {
        path.extension().and_then(std::ffi::OsStr::to_str).is_some_and(|extension| {
            self.extensions.iter().any(|taken| taken.eq_ignore_ascii_case(extension))
        })
    }

    /// The same, no larger than this program allows, whatever was stored.
    fn within_limits(mut self) -> Self {
        self.max_file_bytes = self.max_file_bytes.min(crate::limits::LARGEST_MAX_FILE_BYTES as u64);
        self
    }
}

impl Default for IngestOptions {
    fn default() -> Self {
        Self {
            extensions: ["md", "markdown", "mdx"].map(str::to_owned).to_vec(),
            hidden: false,
            no_ignore: false,
            max_file_bytes: crate::limits::MAX_FILE_BYTES as u64,
            site_roots: Vec::new(),
        }
    }
}
