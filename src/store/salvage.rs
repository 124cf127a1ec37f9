//! A store file made anew from what can be read of a damaged one.
//!
//! Invariant: nobody meets the new store before it is whole, nobody else writes meanwhile, and nothing that
//! is made on the way outlives the repair, unless the process dies, and then no longer than to the next one.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::db::{self, DamagedStore, Found, RowWriter};
use super::swap::swap;
use super::writer::packed;
use super::{FileState, PackedDocument, Packer, Writer, beside, fulltext, remove};
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::failpoint::failpoint;
use crate::limits;
use crate::parallel::on_all_cores;

/// The name of the new store, behind that of the damaged one.
const NEW: &str = "-repaired";

/// That of a copy of the damaged one, which is read or written instead of it.
const COPY: &str = "-repaired-from";

/// That of a copy which has its own name only when it is whole.
const PARTIAL: &str = "-repaired-part";

/// A store made anew beside a damaged one, whose lock is held.
#[derive(Debug)]
pub struct Salvage {
    path: PathBuf,
    /// The documents in it, and those that are not.
    pub salvaged: Salvaged,
    /// Whether the log beside the damaged store is its own and can be read.
    has_log: bool,
    _lock: File,
}

/// What became of the documents of a damaged store.
#[derive(Clone, Debug, Default)]
pub struct Salvaged {
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

impl Salvage {
    /// How long to wait for the new store, for which nobody else has a name: for the moment that a process
    /// which begins may share its lock.
    pub const PATIENCE: Duration = Duration::from_secs(limits::LOCK_WAIT_SECONDS as u64);

    /// Makes the store at `path` anew from what can be read of it, beside it; waits up to `wait` for another
    /// writer.
    pub fn begin(path: &Path, wait: Duration) -> Result<Self> {
        let lock = db::lock(path, wait)?;
        remove_leftovers(path)?;
        let salvaged = Salvaged::default();
        // From here on whatever is made goes with it.
        let mut salvage = Self { path: path.to_owned(), salvaged, has_log: false, _lock: lock };
        let (old, has_log) = open_damaged(path, &beside(path, COPY))?;
        salvage.has_log = has_log;
        salvage.salvaged = write(&salvage.store(), old)?;
        failpoint!(SALVAGED);
        Ok(salvage)
    }

    /// The new store, to which more may be added.
    pub fn store(&self) -> PathBuf {
        beside(&self.path, NEW)
    }

    /// Gives the new store its index, and puts both in the place of the damaged ones; tells under what name
    /// the damaged file is kept.
    pub fn put_in_place(self) -> Result<PathBuf> {
        let (path, new) = (&self.path, self.store());
        // What it lacks, it gets from whoever searches next.
        Writer::open(&new, Self::PATIENCE)?.close()?;
        failpoint!(SALVAGE_INDEXED);
        let copy = self.has_log.then(|| beside(path, COPY));
        let kept = swap(path, &new, copy.as_deref(), &beside(path, PARTIAL))?;
        failpoint!(STORE_SWAPPED);
        let index = fulltext::folder(path);
        drop(std::fs::remove_dir_all(&index));
        failpoint!(SWAP_INDEX_REMOVED);
        drop(std::fs::rename(fulltext::folder(&new), index));
        failpoint!(INDEX_SWAPPED);
        Ok(kept)
    }
}

impl Drop for Salvage {
    fn drop(&mut self) {
        // What stays is found by the next check.
        drop(remove_leftovers(&self.path));
    }
}

/// What a repair of the store at `path` may leave behind when it is killed.
fn leftovers(path: &Path) -> impl Iterator<Item = PathBuf> {
    let new = beside(path, NEW);
    let stores = [beside(path, COPY), beside(path, PARTIAL), beside(&new, "-new"), new];
    stores.into_iter().flat_map(|store| {
        ["", "-wal", "-shm", "-journal", "-lock"].map(|suffix| beside(&store, suffix))
    })
}

/// Removes it.
fn remove_leftovers(path: &Path) -> Result<()> {
    leftovers(path).try_for_each(|file| remove(&file))?;
    let index = fulltext::folder(&beside(path, NEW));
    match std::fs::remove_dir_all(&index) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io(&index, error)),
        _ => Ok(()),
    }
}

/// Whether a repair of the store at `path` that was killed left anything behind.
pub(super) fn has_leftovers(path: &Path) -> bool {
    let index = fulltext::folder(&beside(path, NEW));
    leftovers(path).chain([index]).any(|path| path.symlink_metadata().is_ok())
}

/// Opens the damaged store at `path`: with what its log tells, as a `copy`, where that is its own log; and
/// whether it is.
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

/// Writes all documents of `old` that are whole to a new store at `path`.
fn write(path: &Path, old: DamagedStore) -> Result<Salvaged> {
    let mut salvaged = Salvaged::default();
    let mut writer = RowWriter::open(path, Salvage::PATIENCE)?;
    let (root, options) = (old.root(), old.options());
    if root.is_none() || options.is_none() {
        let message = "the root or the options of the store could not be read: those of a new store \
                       took their place";
        salvaged.warnings.push(Warning::new("OPTIONS_LOST", message));
    }
    writer.set_up(root.as_deref().unwrap_or("."), &options.unwrap_or_default())?;
    let numbers: Vec<usize> = (0..old.count()).collect();
    let old = Mutex::new(old);
    let take = |packer: &mut Option<Packer>, number: &usize| -> Result<Taken> {
        let found = old.lock().unwrap_or_else(PoisonError::into_inner).document(*number);
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
        &numbers,
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
    let old = old.into_inner().unwrap_or_else(PoisonError::into_inner);
    if old.has_strays() {
        salvaged.lost.push(LostDocument { path: None, hash: None });
    }
    writer.go_on_from(old.generation())?;
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

/// Moves aside what is in the place of the files and the folder that belong to the store at `path`, and tells
/// under what names it is kept.
pub fn clear_way(path: &Path) -> Result<Vec<PathBuf>> {
    let index = fulltext::folder(path);
    let files = ["-lock", "-wal", "-shm"].map(|suffix| beside(path, suffix));
    let mut kept = Vec::new();
    for (way, is_folder) in files.into_iter().map(|file| (file, false)).chain([(index, true)]) {
        let Ok(metadata) = way.symlink_metadata() else { continue };
        if is_folder && metadata.is_dir() || !is_folder && metadata.is_file() {
            continue;
        }
        let name = db::free_name(&way, ".aside");
        match std::fs::rename(&way, &name) {
            // Another repair was sooner.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            moved => {
                moved.map_err(|error| Error::io(&way, error))?;
                kept.push(name);
            }
        }
    }
    Ok(kept)
}

/// Makes the full-text index of the store at `path` anew, and tells what there is to say of it.
pub fn rebuild_index(path: &Path, wait: Duration) -> Result<Vec<Warning>> {
    let mut writer = Writer::open(path, wait)?;
    writer.distrust_index();
    writer.close()
}

/// Removes what interrupted writers left in the folder of the full-text index, and interrupted repairs beside
/// the store.
pub fn sweep(path: &Path, wait: Duration) -> Result<()> {
    let lock = db::lock(path, wait)?;
    fulltext::check::sweep(&fulltext::folder(path));
    remove_leftovers(path)?;
    failpoint!(LEFTOVERS_REMOVED);
    drop(lock);
    Ok(())
}
