//! Reads, parses and packs files on all cores, and passes the results to one writer in order.
//!
//! Small files are passed in batches, because passing a file to another thread takes as long as parsing a
//! small one. Invariant: results arrive in the order of the candidates, so that the same files always
//! produce the same store. The files between reading and writing have at most
//! [`limits::LARGE_DOCUMENT_BYTES`] bytes per core, so that memory is bounded for every corpus. A larger file
//! is processed alone, and at most one file over [`limits::HEAVY_DOCUMENT_BYTES`] is processed at a time.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::SystemTime;

use crossbeam_channel::{Receiver, Select};

use super::Candidate;
use crate::corpus::{FileState, Files, file_state, is_not_a_folder, is_racy, open_root};
use crate::error::{Error, Result};
use crate::failpoint::failpoint;
use crate::limits;
use crate::parallel;
use crate::prepare::{Preparation, PreparedDocument};

/// The result for a candidate.
pub(super) enum Outcome {
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
const _: () = assert!(BATCH_BYTES < limits::LARGE_DOCUMENT_BYTES as u64);

/// The size of the allocation in [`keep_memory`], in bytes. glibc adapts its thresholds to sizes up to 32 MiB.
const KEPT_BYTES: usize = 16 << 20;

/// A counting semaphore for the bytes that are processed at the same time.
struct ByteBudget {
    bytes: Mutex<u64>,
    released: Condvar,
    most: u64,
}

impl ByteBudget {
    fn acquire(&self, bytes: u64) {
        let mut in_use = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        while *in_use > 0 && *in_use + bytes > self.most {
            in_use = self.released.wait(in_use).unwrap_or_else(PoisonError::into_inner);
        }
        *in_use += bytes;
    }

    fn release(&self, bytes: u64) {
        let mut in_use = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        *in_use = in_use.saturating_sub(bytes);
        self.released.notify_all();
    }
}

impl ByteBudget {
    /// The cost of a batch in bytes. A file costs its size and a constant. A large file costs the whole budget.
    /// A heavy file costs more than half of it, because a parsed document takes many times its size in memory;
    /// so only one is processed at a time.
    fn cost(&self, batch: &[Candidate]) -> u64 {
        let of_one = |candidate: &Candidate| {
            let size = candidate.state.size;
            if is_large(candidate) {
                self.most
            } else if is_heavy(candidate) {
                self.most / 2 + size
            } else {
                size + 4096
            }
        };
        batch.iter().map(of_one).sum()
    }
}

fn is_heavy(candidate: &Candidate) -> bool {
    candidate.state.size > limits::HEAVY_DOCUMENT_BYTES as u64
}

fn is_large(candidate: &Candidate) -> bool {
    candidate.state.size > limits::LARGE_DOCUMENT_BYTES as u64
}

/// Divides `candidates` into batches, enough to give every thread work. A large file is a batch of its own.
fn batches(candidates: &[Candidate], threads: usize) -> Vec<&[Candidate]> {
    let most = candidates.len().div_ceil(threads * 4).min(BATCH_FILES);
    parallel::shares(candidates, most, BATCH_BYTES, |candidate| candidate.state.size).collect()
}

/// Makes the allocator of glibc keep freed memory, up to twice [`KEPT_BYTES`], for later allocations.
///
/// glibc raises this threshold when a large block is freed. Until a large document was parsed, it would
/// return memory to the system and request it again for every document. The block here uses no memory,
/// because nothing is written to it.
fn keep_memory() {
    drop(std::hint::black_box(Vec::<u8>::with_capacity(KEPT_BYTES)));
}

/// Processes `candidates` below `root`, and calls `write` with the outcome of each, in their order.
///
/// If `is_forced`, unchanged files are parsed, too. Returns the first error of a worker or of `write`, after
/// which `write` is not called again.
pub(super) fn run(
    root: &Path,
    candidates: &[Candidate],
    is_forced: bool,
    max_file_bytes: u64,
    mut write: impl FnMut(&Candidate, Outcome) -> Result<()>,
) -> Result<()> {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let budget = ByteBudget {
        bytes: Mutex::new(0),
        released: Condvar::new(),
        most: (limits::LARGE_DOCUMENT_BYTES * threads) as u64,
    };
    let root = open_root(root).map_err(|error| Error::io(root, error))?;
    let root = &root;
    keep_memory();
    let batches = &batches(candidates, threads);
    let (job_sender, job_receiver) =
        crossbeam_channel::bounded::<(usize, &[Candidate])>(threads * 4);
    let (heavy_sender, heavy_receiver) = crossbeam_channel::bounded::<(usize, &[Candidate])>(1);
    let (sender, receiver) = crossbeam_channel::unbounded::<(usize, Vec<Result<Outcome>>)>();
    std::thread::scope(|scope| {
        let budget = &budget;
        scope.spawn(move || {
            for (number, batch) in batches.iter().enumerate() {
                budget.acquire(budget.cost(batch));
                let is_heavy = batch.iter().any(is_heavy);
                let sender = if is_heavy { &heavy_sender } else { &job_sender };
                if sender.send((number, batch)).is_err() {
                    break;
                }
            }
        });
        for worker in 0..threads {
            // The allocator keeps memory for each thread, so only one thread parses heavy documents.
            let mut lanes = vec![job_receiver.clone()];
            lanes.extend((worker == 0).then(|| heavy_receiver.clone()));
            let results = sender.clone();
            scope.spawn(move || {
                let mut preparation = Preparation::new();
                let mut files = Files::new(root);
                let mut taken = |candidate: &Candidate| match &mut preparation {
                    // A panic of the parser skips the document and does not stop the ingest.
                    Ok(preparation) => catch_unwind(AssertUnwindSafe(|| {
                        take(&mut files, candidate, is_forced, max_file_bytes, preparation)
                    }))
                    .unwrap_or(Ok(Outcome::Refused("the parser failed on it"))),
                    Err(error) => Err(Error::new(error.kind(), error.to_string())),
                };
                while let Some((number, batch)) = next(&mut lanes) {
                    let outcomes = batch.iter().map(&mut taken).collect();
                    if results.send((number, outcomes)).is_err() {
                        break;
                    }
                }
            });
        }
        drop((job_receiver, heavy_receiver, sender));
        let mut waiting = BTreeMap::new();
        let mut results = batches.iter().enumerate().peekable();
        let mut result = Ok(());
        for (number, outcomes) in receiver {
            waiting.insert(number, outcomes);
            while let Some((number, batch)) = results.peek().copied() {
                let Some(outcomes) = waiting.remove(&number) else { break };
                results.next();
                for (candidate, outcome) in batch.iter().zip(outcomes) {
                    if result.is_ok() {
                        result = outcome.and_then(|outcome| write(candidate, outcome));
                    }
                }
                // Also after an error, so that the thread that waits for the budget ends.
                budget.release(budget.cost(batch));
            }
        }
        result
    })
}

/// Receives the next job from any of `lanes`; `None` after all of them are closed.
fn next<T>(lanes: &mut Vec<Receiver<T>>) -> Option<T> {
    while !lanes.is_empty() {
        let mut select = Select::new();
        for lane in lanes.iter() {
            select.recv(lane);
        }
        let ready = select.select();
        let index = ready.index();
        match ready.recv(lanes.get(index)?) {
            Ok(job) => return Some(job),
            Err(_) => drop(lanes.remove(index)),
        }
    }
    None
}

/// Reads one file, and parses and packs it if it changed.
fn take(
    files: &mut Files<'_>,
    candidate: &Candidate,
    is_forced: bool,
    max_file_bytes: u64,
    preparation: &mut Preparation,
) -> Result<Outcome> {
    let (bytes, state) = match read(files, &candidate.path, max_file_bytes) {
        Ok(Some(read)) => read,
        Ok(None) => {
            return Ok(Outcome::Refused(
                "it is not a regular file, or grew over --max-file-size while it was read",
            ));
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound || is_not_a_folder(&error) => {
            return Ok(Outcome::Gone);
        }
        Err(error) => return Ok(Outcome::Unreadable(error.to_string())),
    };
    let hash = *blake3::hash(&bytes).as_bytes();
    if !is_forced && candidate.stored.as_ref().is_some_and(|stored| stored.hash == hash) {
        return Ok(Outcome::Same(state));
    }
    Ok(match preparation.of_bytes(candidate.path.clone(), bytes, hash, state)? {
        Ok(document) => Outcome::Put(Box::new(document)),
        Err(reason) => Outcome::Refused(reason),
    })
}

/// The bytes and the state of a file; `None` if it is not a regular file, or is now larger than `max_bytes`.
/// The modification time in the state is 0 if the file may have changed during the read.
fn read(
    files: &mut Files<'_>,
    path: &str,
    max_bytes: u64,
) -> std::io::Result<Option<(Vec<u8>, FileState)>> {
    let read_began = SystemTime::now();
    let file = files.open(path)?;
    failpoint!(FILE_READ);
    let before = file.metadata()?;
    if !before.is_file() {
        return Ok(None);
    }
    let mut bytes =
        Vec::with_capacity(usize::try_from(before.len().min(max_bytes)).unwrap_or(0) + 1);
    (&file).take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes {
        return Ok(None);
    }
    let mut state = file_state(&before);
    if is_racy(state.mtime_ns, read_began) || file_state(&file.metadata()?) != state {
        state.mtime_ns = 0;
    }
    state.size = bytes.len() as u64;
    Ok(Some((bytes, state)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates(sizes: &[u64]) -> Vec<Candidate> {
        let candidate = |(number, size): (usize, &u64)| Candidate {
            path: number.to_string(),
            state: FileState { size: *size, mtime_ns: 0, ctime_ns: 0 },
            stored: None,
        };
        sizes.iter().enumerate().map(candidate).collect()
    }

    /// The number of files in each batch. Asserts that the batches contain all files, in order.
    fn counts(sizes: &[u64], threads: usize) -> Vec<usize> {
        let candidates = candidates(sizes);
        let batches = batches(&candidates, threads);
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
}
