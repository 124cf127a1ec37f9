//! The engine for one machine: documents, bytes and outlines in one SQLite file, and a full-text
//! index derived from it.
//!
//! [`Snapshot`] reads one unchanging state, [`FullText`] searches it, and [`Writer`] holds the lock and
//! changes both parts. Only this module uses both: `db` uses SQLite, `fulltext` uses tantivy, and
//! neither uses the other. See `mdsel help store`.
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
pub use db::{NameMatch, Runs, Snapshot, Totals, Work};
pub use fault::{Fault, FaultKind, Part};
pub use full_text::{Candidates, FullText, Ranking, index_generation};
pub(crate) use fulltext::is_guarded;
pub use recovery::{LostDocument, Recovery, RecoveryReport, clear_way, rebuild_index, sweep};
pub use writer::Writer;

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

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
