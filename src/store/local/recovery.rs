//! Building a new store file from the readable parts of a damaged one.
//!
//! Invariants: no other process sees the new store before it is complete, and no other process
//! writes to the store meanwhile. All temporary files are removed when the repair ends; those of a
//! killed process are removed by the next repair.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::db::{self, DamagedStore, RecoveredDocument, RowWriter};
use super::swap::swap;
use super::{LocalWriter, in_the_way, index, remove, with_suffix};
use crate::corpus::FileState;
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::failpoint::{batch_bytes, failpoint};
use crate::limits;
use crate::parallel::ordered;
use crate::prepare::{Preparation, PreparedDocument};
use crate::store::{IfAbsent, OPTIONS_LOST, Writer as _};

/// The suffix of the new store.
const NEW: &str = "-repaired";

/// The suffix of a copy of the damaged store, which is read or written instead of the original.
const COPY: &str = "-repaired-from";

/// The suffix of an incomplete copy, which is renamed when it is complete.
const PARTIAL: &str = "-repaired-part";

/// A new store next to a damaged one. The lock of the damaged store is held until this is dropped.
#[derive(Debug)]
pub struct Recovery {
    path: PathBuf,
    /// The result of the recovery so far.
    pub report: RecoveryReport,
    /// Whether the damaged store has a write-ahead log that belongs to it and can be read.
    has_log: bool,
    _lock: File,
}

/// The result of a recovery.
#[derive(Clone, Debug, Default)]
pub struct RecoveryReport {
    /// The number of documents in the new file.
    pub recovered: usize,
    /// The documents that could not be recovered, sorted.
    pub lost: Vec<LostDocument>,
    /// Whether the end of the damaged file is missing, so that more documents may be lost.
    pub is_cut_off: bool,
    /// Warnings about the recovery.
    pub warnings: Vec<Warning>,
}

/// What is known about a document that could not be recovered.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LostDocument {
    /// The path, if known.
    pub path: Option<String>,
    /// blake3 of the bytes, if known.
    pub hash: Option<[u8; 32]>,
}

impl Recovery {
    /// How long to wait for the lock of the new store. No other process uses that store, but a
    /// process that is just starting may have inherited the lock for a moment.
    pub const LOCK_WAIT: Duration = limits::LOCK_WAIT;

    /// Builds a new store next to the one at `path` from its readable parts. Waits up to `wait` for
    /// another writer.
    pub fn begin(path: &Path, wait: Duration) -> Result<Self> {
        let lock = db::lock(path, wait)?;
        remove_leftovers(path)?;
        let report = RecoveryReport::default();
        // From here on, dropping this value removes all temporary files.
        let mut recovery = Self { path: path.to_owned(), report, has_log: false, _lock: lock };
        let (old, has_log) = open_damaged(path, &with_suffix(path, COPY))?;
        recovery.has_log = has_log;
        recovery.report = write(&recovery.store(), old)?;
        failpoint!(RECOVERY_WRITTEN);
        Ok(recovery)
    }

    /// Returns the path of the new store. More documents may be added to it.
    pub fn store(&self) -> PathBuf {
        with_suffix(&self.path, NEW)
    }

    /// Builds the index of the new store and replaces the damaged store and its index. Returns the
    /// name under which the damaged file is kept.
    pub fn put_in_place(self) -> Result<PathBuf> {
        let (path, new) = (&self.path, self.store());
        // If the index is incomplete, the next search completes it.
        Box::new(LocalWriter::open(&new, IfAbsent::Fail, Self::LOCK_WAIT)?).close()?;
        failpoint!(RECOVERY_INDEXED);
        let copy = self.has_log.then(|| with_suffix(path, COPY));
        let kept = swap(path, &new, copy.as_deref(), &with_suffix(path, PARTIAL))?;
        failpoint!(STORE_SWAPPED);
        let index = index::folder(path);
        drop(std::fs::remove_dir_all(&index));
        failpoint!(SWAP_INDEX_REMOVED);
        drop(std::fs::rename(index::folder(&new), index));
        failpoint!(INDEX_SWAPPED);
        Ok(kept)
    }
}

impl Drop for Recovery {
    fn drop(&mut self) {
        // The next check reports files that could not be removed.
        drop(remove_leftovers(&self.path));
    }
}

/// Returns the names of all files that a killed repair of the store at `path` can leave.
fn leftovers(path: &Path) -> impl Iterator<Item = PathBuf> {
    let new = with_suffix(path, NEW);
    let stores =
        [with_suffix(path, COPY), with_suffix(path, PARTIAL), with_suffix(&new, "-new"), new];
    stores.into_iter().flat_map(|store| {
        ["", "-wal", "-shm", "-journal", "-lock"].map(|suffix| with_suffix(&store, suffix))
    })
}

/// Removes all files that a killed repair can leave.
fn remove_leftovers(path: &Path) -> Result<()> {
    leftovers(path).try_for_each(|file| remove(&file))?;
    let index = index::folder(&with_suffix(path, NEW));
    match std::fs::remove_dir_all(&index) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io(&index, error)),
        _ => Ok(()),
    }
}

/// Returns whether a killed repair of the store at `path` left any files.
pub(super) fn has_leftovers(path: &Path) -> bool {
    let index = index::folder(&with_suffix(path, NEW));
    leftovers(path).chain([index]).any(|path| path.symlink_metadata().is_ok())
}

/// Opens the damaged store at `path`. If its write-ahead log belongs to it, the log is applied to
/// `copy` and that file is read instead. Also returns whether it was.
fn open_damaged(path: &Path, copy: &Path) -> Result<(DamagedStore, bool)> {
    let alone = DamagedStore::open(path, path)?;
    if !db::has_log(path) {
        return Ok((alone, false));
    }
    match db::write_log_back(path, copy) {
        Err(error) if error.kind() == ErrorKind::StoreCorrupt => return Ok((alone, false)),
        written => written?,
    }
    failpoint!(DAMAGED_LOG_READ);
    let with_log = DamagedStore::open(path, copy)?;
    if alone.is_another_store(&with_log) {
        return Ok((alone, false));
    }
    Ok((with_log, true))
}

/// Writes all intact documents of `old` to a new store at `path`.
fn write(path: &Path, old: DamagedStore) -> Result<RecoveryReport> {
    let mut report = RecoveryReport { is_cut_off: old.is_cut_off(), ..RecoveryReport::default() };
    let mut writer = RowWriter::open(path, IfAbsent::Create, Recovery::LOCK_WAIT)?;
    let (root, options) = (old.root(), old.options());
    if root.is_none() || options.is_none() {
        let message =
            "the root or the options of the store could not be read; the defaults are used";
        report.warnings.push(Warning::new(OPTIONS_LOST, message));
    }
    writer.set_up(root.as_deref().unwrap_or("."), &options.unwrap_or_default())?;
    let numbers: Vec<usize> = (0..old.count()).collect();
    let old = Mutex::new(old);
    let take = |preparation: &mut Option<Preparation>, number: &usize| -> Result<Taken> {
        let found = old.lock().unwrap_or_else(PoisonError::into_inner).document(*number);
        let (path, hash, bytes) = match found {
            RecoveredDocument::Whole { path, hash, bytes } => (path, hash, bytes),
            RecoveredDocument::Damaged(path, hash) => return Ok(Err(LostDocument { path, hash })),
        };
        let lost = LostDocument { path: Some(path.clone()), hash: Some(hash) };
        let Some(preparation) = preparation else { return Err(out_of_memory()) };
        // The stored file times are not reliable, so the next ingest reads the file, and keeps the document if
        // there is none: it may come from a pack.
        let state = FileState::without_file(bytes.len());
        Ok(preparation.of_bytes(path, bytes, hash, state)?.map(Box::new).map_err(|_| lost))
    };
    let mut bytes = 0;
    writer.begin()?;
    ordered(
        &numbers,
        || Preparation::new().ok(),
        take,
        |_, taken| -> Result<()> {
            match taken? {
                Ok(document) => {
                    writer.put(&document)?;
                    report.recovered += 1;
                    bytes += document.text.size();
                }
                Err(lost) => report.lost.push(lost),
            }
            if bytes >= batch_bytes(limits::BATCH_BYTES) {
                bytes = 0;
                writer.commit()?;
                writer.begin()?;
            }
            Ok(())
        },
    )?;
    writer.commit()?;
    let old = old.into_inner().unwrap_or_else(PoisonError::into_inner);
    let unclaimed = old.unclaimed().map(|hash| LostDocument { path: None, hash: Some(hash) });
    report.lost.extend(unclaimed);
    writer.set_generation_after(old.generation())?;
    writer.checkpoint()?;
    report.lost.sort();
    report.lost.dedup();
    Ok(report)
}

/// A prepared document, or a document that could not be recovered.
type Taken = std::result::Result<Box<PreparedDocument>, LostDocument>;

fn out_of_memory() -> Error {
    Error::new(ErrorKind::Io, "a document could not be prepared; nothing was changed")
}

/// Renames the files that are in the way. Returns their new names.
pub fn clear_way(path: &Path) -> Result<Vec<PathBuf>> {
    let mut kept = Vec::new();
    for way in in_the_way(path) {
        let name = db::free_name(&way, ".aside");
        match std::fs::rename(&way, &name) {
            // Another repair has already moved it.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            moved => {
                moved.map_err(|error| Error::io(&way, error))?;
                kept.push(name);
            }
        }
    }
    Ok(kept)
}

/// Rebuilds the full-text index of the store at `path` and returns the warnings. Waits up to `wait`
/// for another writer.
pub fn rebuild_index(path: &Path, wait: Duration) -> Result<Vec<Warning>> {
    let mut writer = LocalWriter::open(path, IfAbsent::Fail, wait)?;
    writer.require_rebuild();
    Box::new(writer).close()
}

/// Removes the files that interrupted writers left in the folder of the full-text index, and those
/// that interrupted repairs left next to the store. Waits up to `wait` for another writer.
pub fn sweep(path: &Path, wait: Duration) -> Result<()> {
    let lock = db::lock(path, wait)?;
    index::sweep(&index::folder(path));
    remove_leftovers(path)?;
    failpoint!(LEFTOVERS_REMOVED);
    drop(lock);
    Ok(())
}
