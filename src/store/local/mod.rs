//! The engine for one machine: documents, bytes and outlines in one SQLite file, and a full-text
//! index derived from it.
//!
//! [`Snapshot`] reads one unchanging state, [`FullText`] searches it, and [`LocalWriter`] holds the lock and
//! changes both parts. Only this module uses both: `db` uses SQLite, `index` uses tantivy, and
//! neither uses the other. See `mdsel help store`.
//!
//! Invariants: the row, the bytes, the outline and the diagnostics of a document change together or
//! not at all. All answers of a snapshot come from one generation. The state of the index affects
//! only the time that a search takes.

mod check;
mod db;
mod engine;
mod fault;
mod ids;
mod index;
mod matching;
mod reader;
mod recovery;
mod search;
mod swap;
mod writer;

pub use check::{Check, Checked, files_in_the_way};
use db::Snapshot;
pub use db::{StatementCost, StatementStats};
pub(in crate::store) use engine::LocalEngine;
pub use fault::{FaultKind, StorePart, StoreProblem};
use index::IndexMetadata;
pub(crate) use index::is_guarded;
pub use reader::count_work;
use reader::{LocalReader, StoreState};
pub use recovery::{LostDocument, Recovery, RecoveryReport, clear_way, rebuild_index, sweep};
use search::{FullText, index_generation};
pub use writer::INDEX_REBUILT;
use writer::LocalWriter;

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// Returns whether an index with this metadata was built from the state that `snapshot` reads or from one
/// that led to it. A version control system or a backup can bring the index of another state.
///
/// Older versions wrote no tokens. An index without one belongs to a store without a lineage, and is used
/// until the store is first written: then the store gets a token, and the index is rebuilt.
fn is_index_of(metadata: &IndexMetadata, snapshot: &Snapshot) -> bool {
    metadata.store == snapshot.identity()
        && metadata.generation <= snapshot.generation()
        && match metadata.token.as_str() {
            "" => snapshot.lineage().is_empty(),
            token => snapshot.lineage().contains(token),
        }
}

/// Returns the files of another type that are in the place of the lock, the log, the shared-memory file or the index
/// folder of the store at `path`.
fn in_the_way(path: &Path) -> Vec<PathBuf> {
    let files = ["-lock", "-wal", "-shm"].map(|suffix| (with_suffix(path, suffix), false));
    let ways = files.into_iter().chain([(index::folder(path), true)]);
    let is_other = |(way, is_folder): &(PathBuf, bool)| {
        way.symlink_metadata().is_ok_and(|it| if *is_folder { !it.is_dir() } else { !it.is_file() })
    };
    ways.filter(is_other).map(|(way, _)| way).collect()
}

/// Returns the path of the file next to a store whose name is the name of the store plus `suffix`.
fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Returns the files and folders that can belong to the store at `path`.
pub(in crate::store) fn own_files(path: &Path) -> Vec<PathBuf> {
    const SUFFIXES: [&str; 7] = ["", "-wal", "-shm", "-journal", "-lock", "-new", "-fts"];
    SUFFIXES.iter().map(|suffix| with_suffix(path, suffix)).collect()
}

/// Removes a file. A missing file is not an error.
fn remove(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io(path, error)),
        _ => Ok(()),
    }
}
