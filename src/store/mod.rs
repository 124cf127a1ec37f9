//! The store: the ingested documents in one SQLite file, and a full-text index derived from it.
//!
//! All commands access documents through this module only. [`Snapshot`] reads one unchanging state,
//! [`FullText`] searches it, and [`Writer`] holds the lock and changes both parts. Only this module
//! uses both: `db` uses SQLite, `fulltext` uses tantivy, and neither uses the other. See `mdsel
//! help store`.
//!
//! Invariants: the row, the bytes, the outline and the diagnostics of a document change together or
//! not at all. All answers of a snapshot come from one generation. The state of the index affects
//! only the time that a search takes.

mod check;
mod db;
mod fault;
mod full_text;
mod fulltext;
mod recovery;
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
pub use recovery::{LostDocument, Recovery, RecoveryReport, clear_way, rebuild_index, sweep};
pub use writer::{PackedDocument, Packer, Writer};
pub(crate) use writer::{packed, packed_version};

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::ldmd::Markup;
use crate::links::{Outgoing, SiteRoot};
use crate::markdown::Document;

/// Returns the path of the file next to a store whose name is the name of the store plus `suffix`.
fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Removes a file. A missing file is not an error.
fn remove(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io(path, error)),
        _ => Ok(()),
    }
}

/// Returns `path` without its extension and the dot before it.
fn without_extension(path: &str) -> &str {
    crate::links::split_extension(path).0
}

/// The metadata of a file when its bytes were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// A row of the table `document`.
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

/// A parsed document to write to the store.
#[derive(Debug)]
pub struct NewDocument {
    /// The path relative to the root, with `/` as separator.
    pub path: String,
    /// The bytes of the file.
    pub bytes: Vec<u8>,
    /// blake3 of the bytes.
    pub hash: [u8; 32],
    /// The metadata of the file when it was read.
    pub state: FileState,
    /// The structure of the document.
    pub document: Document,
    /// The LDMD sections of the document.
    pub markup: Markup,
    /// The links of the document and the names by which other documents can link to it.
    pub links: Outgoing,
}

/// The options that select the files of an ingest. They are stored and apply until they are
/// changed.
#[derive(
    Clone, Debug, PartialEq, Eq, schemars::JsonSchema, serde::Serialize, serde::Deserialize,
)]
pub struct IngestOptions {
    /// The extensions without the dot, compared case-insensitively.
    pub extensions: Vec<String>,
    /// Whether hidden files are ingested.
    pub hidden: bool,
    /// Whether `.gitignore`, `.ignore` and `.mdselignore` files are not read.
    pub no_ignore: bool,
    /// The size in bytes of the largest file that is ingested.
    pub max_file_bytes: u64,
    /// Where links that begin with `/` lead.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub site_roots: Vec<SiteRoot>,
}

impl IngestOptions {
    /// Returns whether the file at `path` has one of the extensions.
    pub fn takes(&self, path: &Path) -> bool {
        path.extension().and_then(std::ffi::OsStr::to_str).is_some_and(|extension| {
            self.extensions.iter().any(|taken| taken.eq_ignore_ascii_case(extension))
        })
    }

    /// Limits `max_file_bytes` to what this version allows, because stored options are not trusted.
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
