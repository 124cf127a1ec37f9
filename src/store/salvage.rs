//! A store file made anew from what can be read of a damaged one.
//!
//! Invariant: the damaged file is never written, overwritten or deleted, but kept under a name that is
//! told; and whoever opens the store meets the old file or the whole new one.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::db::{self, Found, RowWriter, Wreck};
use super::writer::packed;
use super::{FileState, PackedDocument, Packer, Writer, beside, fulltext};
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::limits;
use crate::parallel::on_all_cores;

/// How long to wait for a store that nobody else has a name for: for the moment that a process which begins
/// may share its lock.
const PATIENCE: Duration = Duration::from_secs(limits::LOCK_WAIT_SECONDS as u64);

/// What became of a damaged store.
#[derive(Clone, Debug, Default)]
pub struct Salvaged {
    /// The name of the damaged file, beside the store.
    pub kept: PathBuf,
    /// Documents that are in the new file.
    pub recovered: usize,
    /// Those that are not.
    pub lost: Vec<LostDocument>,
    /// Remarks.
    pub warnings: Vec<Warning>,
}

/// A document that could not be recovered, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LostDocument {
    /// Its path.
    pub path: Option<String>,
    /// blake3 of its bytes.
    pub hash: Option<[u8; 32]>,
}

/// Makes the store at `path` anew from what can be read of it; waits up to `wait` for another writer. The
/// index is left behind.
pub fn salvage(path: &Path, wait: Duration) -> Result<Salvaged> {
    let lock = db::lock(path, wait)?;
    let (new, copy) = (beside(path, "-repaired"), beside(path, "-repaired-from"));
    remove(&new).and_then(|()| remove(&copy))?;
    let result = Wreck::open(path, &copy).and_then(|wreck| write(&new, wreck));
    let result = result.and_then(|salvaged| {
        let kept = swap(path, &new)?;
        Ok(Salvaged { kept, ..salvaged })
    });
    // Where it went well nothing is left of the new file but its lock.
    let removed = remove(&new).and_then(|()| remove(&copy));
    drop(lock);
    let salvaged = result?;
    removed?;
    Ok(salvaged)
}

/// Removes a file of a store, and what lies beside it.
fn remove(path: &Path) -> Result<()> {
    for suffix in ["", "-wal", "-shm", "-lock"] {
        let path = beside(path, suffix);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::io(&path, error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Writes all documents of `wreck` that are whole to a new store at `path`.
fn write(path: &Path, wreck: Wreck) -> Result<Salvaged> {
    let mut salvaged = Salvaged::default();
    let mut writer = RowWriter::open(path, PATIENCE)?;
    let (root, options) = (wreck.root(), wreck.options());
    if root.is_none() || options.is_none() {
        let message = "the root or the options of the store could not be read: those of a new store \
                       took their place";
        salvaged.warnings.push(Warning::new("OPTIONS_LOST", message));
    }
    writer.set_up(root.as_deref().unwrap_or("."), &options.unwrap_or_default())?;
    let ids = wreck.ids();
    if !wreck.is_listed() {
        salvaged.lost.push(LostDocument { path: None, hash: None });
    }
    let wreck = Mutex::new(wreck);
    let take = |packer: &mut Option<Packer>, id: &i64| -> Result<Taken> {
        let found = wreck.lock().unwrap_or_else(PoisonError::into_inner).document(*id);
        let (path, hash, bytes) = match found {
            Found::Whole { path, hash, bytes } => (path, hash, bytes),
            Found::Damaged(path, hash) => return Ok(Err(LostDocument { path, hash })),
        };
        let lost = LostDocument { path: Some(path.clone()), hash: Some(hash) };
        let Some(packer) = packer else { return Err(out_of_memory()) };
        // When its file was like this is as doubtful as anything: it is read at the next ingest.
        let state = FileState { size: bytes.len() as u64, mtime_ns: 0, ctime_ns: 0 };
        Ok(packed(path, bytes, hash, state, packer)?.map(Box::new).map_err(|_| lost))
    };
    let mut bytes = 0;
    writer.begin()?;
    on_all_cores(
        &ids,
        || Packer::new().ok(),
        take,
        |taken| -> Result<()> {
            match taken? {
                Ok(document) => {
                    writer.put(document.rows())?;
                    salvaged.recovered += 1;
                    bytes += document.size();
                }
                Err(lost) => salvaged.lost.push(lost),
            }
            if bytes >= limits::BATCH_BYTES {
                bytes = 0;
                writer.commit()?;
                writer.begin()?;
            }
            Ok(())
        },
    )?;
    writer.commit()?;
    let generation = wreck.lock().unwrap_or_else(PoisonError::into_inner).generation();
    writer.go_on_from(generation)?;
    writer.close()?;
    salvaged.lost.sort();
    salvaged.lost.dedup();
    Ok(salvaged)
}

/// A document to be written, or one that cannot be.
type Taken = std::result::Result<Box<PackedDocument>, LostDocument>;

fn out_of_memory() -> Error {
    Error::new(ErrorKind::Io, "a document could not be packed; nothing was changed")
}

/// Puts the store file `new` in the place of the one at `path`, which is kept; tells as what.
fn swap(path: &Path, new: &Path) -> Result<PathBuf> {
    let kept = db::free_name(path, ".damaged");
    let permissions = path.metadata().map_err(|error| Error::io(path, error))?.permissions();
    std::fs::set_permissions(new, permissions).map_err(|error| Error::io(new, error))?;
    let log = beside(path, "-wal");
    // The log belongs to the file that is kept, and would be taken for that of the new one.
    if log.metadata().is_ok_and(|metadata| metadata.len() > 0) {
        let kept_log = beside(&kept, "-wal");
        std::fs::rename(&log, &kept_log).map_err(|error| Error::io(&kept_log, error))?;
    }
    // By a second name, so that at no moment there is no store; where there can be none, by another.
    if std::fs::hard_link(path, &kept).is_err() {
        std::fs::rename(path, &kept).map_err(|error| Error::io(&kept, error))?;
    }
    for suffix in ["-wal", "-shm"] {
        drop(std::fs::remove_file(beside(path, suffix)));
    }
    std::fs::rename(new, path).map_err(|error| Error::io(path, error))?;
    if let Some(folder) = path.parent().and_then(|folder| std::fs::File::open(folder).ok()) {
        // Where folders cannot be synced, names are safe without.
        drop(folder.sync_all());
    }
    Ok(kept)
}

/// Makes the full-text index of the store at `path` anew, and tells what there is to say of it.
pub fn rebuild_index(path: &Path, wait: Duration) -> Result<Vec<Warning>> {
    let mut writer = Writer::open(path, wait)?;
    writer.distrust_index();
    writer.close()
}

/// Removes what interrupted writers left in the folder of the full-text index.
pub fn sweep_index(path: &Path, wait: Duration) -> Result<()> {
    let lock = db::lock(path, wait)?;
    fulltext::check::sweep(&fulltext::folder(path));
    drop(lock);
    Ok(())
}
