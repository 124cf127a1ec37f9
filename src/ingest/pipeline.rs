//! Reads, parses and packs files on all cores, and passes the results to one writer in order.
//!
//! Small files are passed in batches, because passing a file to another thread takes as long as parsing a
//! small one. Invariant: results arrive in the order of the candidates, so that the same files always
//! produce the same store. The files between reading and writing have at most
//! [`limits::LARGE_DOCUMENT_BYTES`] bytes per core, so that memory is bounded for every corpus. A larger file
//! is processed alone, and at most one file over [`limits::HEAVY_DOCUMENT_BYTES`] is processed at a time.

use std::io::Read as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::SystemTime;

use super::candidates::ChangedFile;
use crate::corpus::{FileState, Files, Root, file_state, is_not_a_folder, is_racy, open_root};
use crate::error::{Error, Result, is_exhaustion};
use crate::failpoint::failpoint;
use crate::limits;
use crate::parallel::{self, Budget};
use crate::prepare::{Preparation, PreparedDocument};

/// The result for a candidate.
pub(super) enum PreparedFile {
    /// Its bytes equal the stored ones. The state is its current one.
    Same(FileState),
    /// Its document is new, changed, or parsed again.
    Put(Box<PreparedDocument>),
    /// It cannot be stored, for this reason.
    Refused(&'static str),
    /// It could not be read, for this reason.
    Unreadable(String),
    /// It no longer exists.
    Gone,
}

/// The largest number of files in one batch.
const BATCH_FILES: usize = 32;
/// The largest number of bytes in one batch, unless it has only one file.
const BATCH_BYTES: u64 = 128 << 10;
/// The factor for both if every file has a stored document. Most are then only read and hashed, so passing a
/// batch on takes a larger part of the time.
const KNOWN_FACTOR: u8 = 4;
const _: () = assert!(BATCH_BYTES * (KNOWN_FACTOR as u64) < limits::LARGE_DOCUMENT_BYTES as u64);

/// Returns the cost of a batch in bytes, of a budget of `most`. A file costs its size and a constant. A large
/// file costs the whole budget. A heavy file costs more than half of it, because a parsed document takes many
/// times its size in memory; so only one is processed at a time.
fn cost(batch: &[ChangedFile<'_>], most: u64) -> u64 {
    let of_one = |candidate: &ChangedFile| {
        let size = candidate.state.size;
        if is_large(candidate) {
            most
        } else if is_heavy(candidate) {
            most / 2 + size
        } else {
            size + 4096
        }
    };
    batch.iter().map(of_one).sum()
}

fn is_heavy(candidate: &ChangedFile<'_>) -> bool {
    candidate.state.size > limits::HEAVY_DOCUMENT_BYTES as u64
}

fn is_large(candidate: &ChangedFile<'_>) -> bool {
    candidate.state.size > limits::LARGE_DOCUMENT_BYTES as u64
}

/// Divides `candidates` into batches, enough to give every thread work. A large file is a batch of its own.
fn batches<'a>(candidates: &'a [ChangedFile<'a>], threads: usize) -> Vec<&'a [ChangedFile<'a>]> {
    let are_known = candidates.iter().all(|candidate| candidate.stored.is_some());
    let factor = if are_known { KNOWN_FACTOR } else { 1 };
    let files = candidates.len().div_ceil(threads * 4).min(BATCH_FILES * usize::from(factor));
    let bytes = BATCH_BYTES * u64::from(factor);
    parallel::batches(candidates, files, bytes, |candidate| candidate.state.size).collect()
}

/// Lowers the priority of this thread, so that the threads of the index run first.
///
/// Otherwise the queue of the index fills up while documents are prepared, and most cores are idle while it is
/// emptied at the end. Only Linux has a priority for each thread; on other systems it belongs to the process.
fn yield_to_index() {
    #[cfg(target_os = "linux")]
    if let Ok(priority) = rustix::process::getpriority_process(None) {
        // A failure costs only time.
        let _ = rustix::process::setpriority_process(None, (priority + 10).min(19));
    }
}

/// Processes `candidates` below `root`, and calls `write` with the outcome of each, in their order.
///
/// If `is_forced`, unchanged files are parsed, too. Returns the first error of a worker or of `write`, after
/// which `write` is not called again.
pub(super) fn run(
    root: &Root,
    candidates: &[ChangedFile<'_>],
    is_forced: bool,
    mut write: impl FnMut(&ChangedFile<'_>, PreparedFile) -> Result<()>,
) -> Result<()> {
    let opened = open_root(&root.folder).map_err(|error| Error::io(&root.folder, error))?;
    let most = (limits::LARGE_DOCUMENT_BYTES * parallel::cores()) as u64;
    let caller = std::thread::current().id();
    parallel::ordered_within(
        Budget { most, cost: |batch: &&[ChangedFile<'_>]| cost(batch, most) },
        &batches(candidates, parallel::cores()),
        || {
            // With one batch or core, documents are prepared on the thread of the caller, which keeps its priority.
            if std::thread::current().id() != caller {
                yield_to_index();
            }
            (Files::new(&opened), Preparation::new())
        },
        |(files, preparation), batch| {
            let outcome = |candidate| match preparation {
                // A panic of the parser skips the document and does not stop the ingest.
                Ok(preparation) => catch_unwind(AssertUnwindSafe(|| {
                    take(files, root, candidate, is_forced, preparation)
                }))
                .unwrap_or(Ok(PreparedFile::Refused("the parser failed on it"))),
                Err(error) => Err(Error::new(error.kind(), error.to_string())),
            };
            batch.iter().map(outcome).collect::<Vec<_>>()
        },
        |batch, outcomes| {
            let mut outcomes = batch.iter().zip(outcomes);
            outcomes.try_for_each(|(candidate, outcome)| write(candidate, outcome?))
        },
    )
}

/// Reads one file, and parses and packs it if it changed.
fn take(
    files: &mut Files<'_>,
    root: &Root,
    candidate: &ChangedFile<'_>,
    is_forced: bool,
    preparation: &mut Preparation,
) -> Result<PreparedFile> {
    let path = root.below(&candidate.path);
    let (bytes, state) = match read(files, path, candidate.state, root.options.max_file_bytes) {
        Ok(Some(read)) => read,
        Ok(None) => {
            return Ok(PreparedFile::Refused(
                "it is not a regular file, or grew over --max-file-size while it was read",
            ));
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound || is_not_a_folder(&error) => {
            return Ok(PreparedFile::Gone);
        }
        Err(error) if is_exhaustion(&error) => return Err(Error::io(Path::new(path), error)),
        Err(error) => return Ok(PreparedFile::Unreadable(error.to_string())),
    };
    let hash = *blake3::hash(&bytes).as_bytes();
    if !is_forced && candidate.stored.is_some_and(|stored| stored.hash == hash) {
        return Ok(PreparedFile::Same(state));
    }
    Ok(match preparation.of_bytes(candidate.path.clone(), bytes, hash, state)? {
        Ok(document) => PreparedFile::Put(Box::new(document)),
        Err(reason) => PreparedFile::Refused(reason),
    })
}

/// The bytes and the state of a file; `None` if it is not a regular file, or is now larger than `max_bytes`.
/// `found` is its state when it was found. The modification time in the returned state is 0 if the file may have
/// changed since then.
fn read(
    files: &mut Files<'_>,
    path: &str,
    found: FileState,
    max_bytes: u64,
) -> std::io::Result<Option<(Vec<u8>, FileState)>> {
    let read_began = SystemTime::now();
    let file = files.open(path)?;
    failpoint!(FILE_READ);
    let limit = max_bytes.saturating_add(1);
    let expected = found.size.min(limit);
    let mut bytes = Vec::with_capacity(usize::try_from(expected).unwrap_or(0));
    (&file).take(expected).read_to_end(&mut bytes)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Ok(None);
    }
    let mut state = file_state(&metadata);
    let has_changed = state != found;
    // A file that did not change ends where its metadata says, so its end is not looked for. Some file systems
    // say 0 for every file.
    if has_changed || expected == 0 {
        (&file).take(limit - bytes.len() as u64).read_to_end(&mut bytes)?;
    }
    if bytes.len() as u64 > max_bytes {
        return Ok(None);
    }
    if has_changed || is_racy(state.mtime_ns, read_began) {
        state.mtime_ns = 0;
    }
    state.size = bytes.len() as u64;
    Ok(Some((bytes, state)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::StoredDocument;

    fn candidates(sizes: &[u64]) -> Vec<ChangedFile<'static>> {
        let candidate = |(number, size): (usize, &u64)| ChangedFile {
            path: number.to_string(),
            state: FileState { size: *size, mtime_ns: 0, ctime_ns: 0 },
            stored: None,
        };
        sizes.iter().enumerate().map(candidate).collect()
    }

    /// The number of files in each batch. Asserts that the batches contain all files, in order.
    fn counts(sizes: &[u64], threads: usize) -> Vec<usize> {
        let candidates = candidates(sizes);
        let batches = super::batches(&candidates, threads);
        let paths: Vec<_> = batches.iter().flat_map(|batch| *batch).map(|one| &one.path).collect();
        assert_eq!(paths, candidates.iter().map(|one| &one.path).collect::<Vec<_>>());
        batches.iter().map(|batch| batch.len()).collect()
    }

    #[test]
    fn small_files_are_batched_and_large_files_are_alone() {
        let large = limits::LARGE_DOCUMENT_BYTES as u64 + 1;
        assert_eq!(counts(&[], 2), [0; 0]);
        assert_eq!(counts(&[10; 1000], 2), [vec![BATCH_FILES; 31], vec![8]].concat());
        assert_eq!(counts(&[10; 3], 2), [1, 1, 1], "few files are divided among all threads");
        let files = [vec![10; 300], vec![large, large], vec![10; 300]].concat();
        let counted = counts(&files, 1);
        assert_eq!(counted.iter().filter(|count| **count == 1).count(), 2);
        let middling = [BATCH_BYTES / 2; 100];
        assert!(counts(&middling, 1).iter().all(|count| *count == 2));
    }

    #[test]
    fn files_with_stored_documents_are_in_larger_batches() {
        let stored = StoredDocument::at("a.md");
        let mut candidates = candidates(&[10; 1000]);
        for candidate in &mut candidates {
            candidate.stored = Some(&stored);
        }
        let counts = |candidates: &[ChangedFile<'_>]| {
            super::batches(candidates, 1).iter().map(|batch| batch.len()).collect::<Vec<_>>()
        };
        assert_eq!(counts(&candidates)[0], BATCH_FILES * usize::from(KNOWN_FACTOR));
        candidates[999].stored = None;
        assert_eq!(counts(&candidates)[0], BATCH_FILES, "one file is new");
    }
}
