//! Reading, parsing and packing files on all cores, handed to one writer in order.
//!
//! Small files travel together, for to hand over one takes as long as to parse it. Invariant: results
//! arrive in the order of the candidates, so that the same tree makes the same store; and the files in
//! flight hold at most [`limits::LARGE_DOCUMENT_BYTES`] bytes a core, so that memory depends on neither
//! the corpus nor the order; a larger file is alone in flight, and of those over
//! [`limits::HEAVY_DOCUMENT_BYTES`] there is one.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::SystemTime;

use crossbeam_channel::{Receiver, Select};

use super::Candidate;
use super::beneath::{self, Files, is_no_folder};
use super::state::{file_state, is_racy};
use crate::error::{Error, Result};
use crate::failpoint::failpoint;
use crate::limits;
use crate::parallel;
use crate::store::{FileState, PackedDocument, Packer, packed};

/// What became of a candidate.
pub(super) enum Outcome {
    /// Its bytes are the stored ones; the state is new.
    Same(FileState),
    /// It is new or changed.
    Put(Box<PackedDocument>),
    /// It is not Markdown.
    Refused(&'static str),
    /// It could not be read.
    Unreadable(String),
    /// It is gone since it was found.
    Gone,
}

/// Files of one share at most.
const SHARE_FILES: usize = 32;
/// Bytes of one share at most, or one file.
const SHARE_BYTES: u64 = 128 << 10;
const _: () = assert!(SHARE_BYTES < limits::LARGE_DOCUMENT_BYTES as u64);

/// Bytes that the allocator is to keep; glibc learns from up to 32 MiB.
const KEPT_BYTES: usize = 16 << 20;

/// Bytes in flight, and who waits for less.
struct Flight {
    bytes: Mutex<u64>,
    landed: Condvar,
    most: u64,
}

impl Flight {
    fn take_off(&self, bytes: u64) {
        let mut flying = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        while *flying > 0 && *flying + bytes > self.most {
            flying = self.landed.wait(flying).unwrap_or_else(PoisonError::into_inner);
        }
        *flying += bytes;
    }

    fn land(&self, bytes: u64) {
        let mut flying = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        *flying = flying.saturating_sub(bytes);
        self.landed.notify_all();
    }
}

impl Flight {
    /// A file costs its own size, and something for being there; a large one all that there is. A
    /// parsed document takes many times its bytes: of those beyond a size, one is in flight.
    fn cost(&self, share: &[Candidate]) -> u64 {
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
        share.iter().map(of_one).sum()
    }
}

fn is_heavy(candidate: &Candidate) -> bool {
    candidate.state.size > limits::HEAVY_DOCUMENT_BYTES as u64
}

fn is_large(candidate: &Candidate) -> bool {
    candidate.state.size > limits::LARGE_DOCUMENT_BYTES as u64
}

/// Cuts `candidates` into what is handed over at once: enough for `threads` to have work, a large file
/// alone.
fn shares(candidates: &[Candidate], threads: usize) -> Vec<&[Candidate]> {
    let most = candidates.len().div_ceil(threads * 4).min(SHARE_FILES);
    parallel::shares(candidates, most, SHARE_BYTES, |candidate| candidate.state.size).collect()
}

/// Has the allocator of glibc keep what is freed, up to twice as much, for what is allocated next. It learns
/// from the size of what is freed how much a program goes on to want, and would give back and ask for the
/// same memory all the time before it has met a large document. Costs no memory, for nothing is written
/// there.
fn keep_memory() {
    drop(std::hint::black_box(Vec::<u8>::with_capacity(KEPT_BYTES)));
}

/// Takes `candidates` under `root` and calls `write` with what became of each, in their order.
///
/// `is_forced` parses what has not changed. The first error of `write` ends it.
pub(super) fn run(
    root: &Path,
    candidates: &[Candidate],
    is_forced: bool,
    max_file_bytes: u64,
    mut write: impl FnMut(&Candidate, Outcome) -> Result<()>,
) -> Result<()> {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let flight = Flight {
        bytes: Mutex::new(0),
        landed: Condvar::new(),
        most: (limits::LARGE_DOCUMENT_BYTES * threads) as u64,
    };
    let root = beneath::open_root(root).map_err(|error| Error::io(root, error))?;
    let root = &root;
    keep_memory();
    let shares = &shares(candidates, threads);
    let (job_sender, job_receiver) =
        crossbeam_channel::bounded::<(usize, &[Candidate])>(threads * 4);
    let (heavy_sender, heavy_receiver) = crossbeam_channel::bounded::<(usize, &[Candidate])>(1);
    let (sender, receiver) = crossbeam_channel::unbounded::<(usize, Vec<Result<Outcome>>)>();
    std::thread::scope(|scope| {
        let flight = &flight;
        scope.spawn(move || {
            for (number, share) in shares.iter().enumerate() {
                flight.take_off(flight.cost(share));
                let is_heavy = share.iter().any(is_heavy);
                let sender = if is_heavy { &heavy_sender } else { &job_sender };
                if sender.send((number, share)).is_err() {
                    break;
                }
            }
        });
        for worker in 0..threads {
            // The allocator keeps for each thread what it needed once, so one thread parses all heavy documents.
            let mut lanes = vec![job_receiver.clone()];
            lanes.extend((worker == 0).then(|| heavy_receiver.clone()));
            let results = sender.clone();
            scope.spawn(move || {
                let mut packer = Packer::new();
                let mut files = Files::new(root);
                let mut taken = |candidate: &Candidate| match &mut packer {
                    // A fault of the parser costs the document, not the ingest.
                    Ok(packer) => catch_unwind(AssertUnwindSafe(|| {
                        take(&mut files, candidate, is_forced, max_file_bytes, packer)
                    }))
                    .unwrap_or(Ok(Outcome::Refused("it cannot be parsed"))),
                    Err(error) => Err(Error::new(error.kind(), error.to_string())),
                };
                while let Some((number, share)) = next(&mut lanes) {
                    let outcomes = share.iter().map(&mut taken).collect();
                    if results.send((number, outcomes)).is_err() {
                        break;
                    }
                }
            });
        }
        drop((job_receiver, heavy_receiver, sender));
        let mut waiting = BTreeMap::new();
        let mut results = shares.iter().enumerate().peekable();
        let mut result = Ok(());
        for (number, outcomes) in receiver {
            waiting.insert(number, outcomes);
            while let Some((number, share)) = results.peek().copied() {
                let Some(outcomes) = waiting.remove(&number) else { break };
                results.next();
                for (candidate, outcome) in share.iter().zip(outcomes) {
                    if result.is_ok() {
                        result = outcome.and_then(|outcome| write(candidate, outcome));
                    }
                }
                // Also behind an error, so that whoever waits to take off ends.
                flight.land(flight.cost(share));
            }
        }
        result
    })
}

/// The next job of any of `lanes`; `None` when all of them have ended.
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

/// Reads one file and makes of it what the store wants.
fn take(
    files: &mut Files<'_>,
    candidate: &Candidate,
    is_forced: bool,
    max_file_bytes: u64,
    packer: &mut Packer,
) -> Result<Outcome> {
    let (bytes, state) = match read(files, &candidate.path, max_file_bytes) {
        Ok(Some(read)) => read,
        Ok(None) => return Ok(Outcome::Refused("not a regular file, or grown while it was read")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound || is_no_folder(&error) => {
            return Ok(Outcome::Gone);
        }
        Err(error) => return Ok(Outcome::Unreadable(error.to_string())),
    };
    let hash = *blake3::hash(&bytes).as_bytes();
    if !is_forced && candidate.stored.as_ref().is_some_and(|stored| stored.hash == hash) {
        return Ok(Outcome::Same(state));
    }
    Ok(match packed(candidate.path.clone(), bytes, hash, state, packer)? {
        Ok(document) => Outcome::Put(Box::new(document)),
        Err(reason) => Outcome::Refused(reason),
    })
}

/// The bytes and the state of a file; `None` where it is not a regular file or too large by now.
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

    /// How many files each share has; all of them are in one, in order.
    fn counts(sizes: &[u64], threads: usize) -> Vec<usize> {
        let candidates = candidates(sizes);
        let shares = shares(&candidates, threads);
        let told: Vec<_> = shares.iter().flat_map(|share| *share).map(|one| &one.path).collect();
        assert_eq!(told, candidates.iter().map(|one| &one.path).collect::<Vec<_>>());
        shares.iter().map(|share| share.len()).collect()
    }

    #[test]
    fn small_files_travel_together_and_large_ones_alone() {
        let large = limits::LARGE_DOCUMENT_BYTES as u64 + 1;
        assert_eq!(counts(&[], 2), [0; 0]);
        assert_eq!(counts(&[10; 1000], 2), [vec![SHARE_FILES; 31], vec![8]].concat());
        assert_eq!(counts(&[10; 3], 2), [1, 1, 1], "few files are work for every thread");
        let files = [vec![10; 300], vec![large, large], vec![10; 300]].concat();
        let told = counts(&files, 1);
        assert_eq!(told.iter().filter(|count| **count == 1).count(), 2);
        let middling = [SHARE_BYTES / 2; 100];
        assert!(counts(&middling, 1).iter().all(|count| *count == 2));
    }
}
