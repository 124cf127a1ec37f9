//! Writing the index. Whoever does so holds the lock of the store.
//!
//! Invariant: the first act of every writer is to remove what an interrupted one left behind (tantivy
//! cannot commit over the leftovers of a killed commit), and every commit carries its [`Stamp`].

use std::collections::{HashMap, HashSet};
use std::fs::DirEntry;
use std::path::{Path, PathBuf};

use tantivy::index::SegmentId;
use tantivy::indexer::{LogMergePolicy, NoMergePolicy, UserOperation};
use tantivy::{Index, Term};

use super::document::{DocumentText, SectionEntry};
use super::flight::Flight;
use super::schema::{Fields, builder, open, schema};
use super::{Stamp, Unusable, Usable, guarded, reader, stamp_of};
use crate::failpoint::failpoint;
use crate::limits;
use crate::parallel::shares;

/// Bytes of texts and trigrams that the threads of tantivy are given at once: to wake one for every small
/// document would take longer than to index it.
const SHARE_BYTES: usize = 256 << 10;

/// The right to change an index.
pub(crate) struct IndexWriter {
    writer: tantivy::IndexWriter<SectionEntry>,
    fields: Fields,
    folder: PathBuf,
    /// What was put or removed and not handed to the threads of tantivy, and how many bytes it holds.
    waiting: Vec<UserOperation<SectionEntry>>,
    waiting_bytes: usize,
    flight: Flight,
    /// Of the last commit.
    stamp: Stamp,
}

impl std::fmt::Debug for IndexWriter {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("IndexWriter").field("stamp", &self.stamp).finish_non_exhaustive()
    }
}

impl IndexWriter {
    /// Opens the index in `folder`, which must be that of `store`.
    pub(crate) fn open(folder: &Path, store: &str) -> Usable<Self> {
        guarded(|| {
            sweep(folder);
            failpoint!(INDEX_SWEPT);
            let index = open(folder)?;
            let stamp = stamp_of(&index)?;
            if stamp.store != store {
                return Err(Unusable::Foreign);
            }
            let writer = Self::start(folder, &index, stamp)?;
            writer.writer.garbage_collect_files().wait()?;
            failpoint!(INDEX_COLLECTED);
            Ok(writer)
        })
    }

    /// Makes an empty index of `store` in `folder`, in place of whatever is there.
    pub(crate) fn create(folder: &Path, store: &str) -> Usable<Self> {
        let io = |error: std::io::Error| Unusable::Damaged(error.to_string());
        match std::fs::remove_dir_all(folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(io(error)),
            _ => {}
        }
        failpoint!(INDEX_REMOVED);
        std::fs::create_dir(folder).map_err(io)?;
        failpoint!(INDEX_FOLDER_MADE);
        guarded(|| {
            let index = builder().create_in_dir(folder)?;
            failpoint!(INDEX_MADE);
            let mut writer = Self::start(folder, &index, Stamp::new(store, 0, 0))?;
            writer.commit(Stamp::new(store, 0, 0))?;
            Ok(writer)
        })
    }

    fn start(folder: &Path, index: &Index, stamp: Stamp) -> Usable<Self> {
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(8);
        let writer =
            index.writer_with_num_threads(threads, limits::INDEX_MEMORY_BYTES * threads)?;
        writer.set_merge_policy(Box::new(NoMergePolicy));
        Ok(Self {
            writer,
            fields: schema().1,
            folder: folder.to_owned(),
            waiting: Vec::new(),
            waiting_bytes: 0,
            flight: Flight::default(),
            stamp,
        })
    }

    /// The stamp of the last commit.
    pub(crate) fn stamp(&self) -> &Stamp {
        &self.stamp
    }

    /// The ids of the documents in it.
    pub(crate) fn documents(&self) -> Usable<HashSet<i64>> {
        guarded(|| reader::documents(self.writer.index()))
    }

    /// Puts a document that is not in it.
    pub(crate) fn put(&mut self, id: i64, document: DocumentText) -> Usable<()> {
        guarded(|| {
            let size = document.size();
            if self.waiting_bytes + size > SHARE_BYTES {
                // Also because what waits here lets nobody land who is waited for.
                self.hand_over()?;
            }
            let permit = self.flight.permit(size);
            let entries = document.entries(id, self.fields, permit);
            self.waiting.extend(entries.into_iter().map(UserOperation::Add));
            self.waiting_bytes += size;
            failpoint!(INDEX_PUT);
            Ok(())
        })
    }

    /// Gives what waits to the threads of tantivy.
    fn hand_over(&mut self) -> Usable<()> {
        self.waiting_bytes = 0;
        if !self.waiting.is_empty() {
            self.writer.run(std::mem::take(&mut self.waiting))?;
        }
        Ok(())
    }

    /// Removes a document.
    pub(crate) fn remove(&mut self, id: i64) {
        let term = Term::from_field_u64(self.fields.document, id.unsigned_abs());
        // Behind what waits, of which it may be.
        self.waiting.push(UserOperation::Delete(term));
    }

    /// Commits what was put and removed, with its stamp.
    pub(crate) fn commit(&mut self, stamp: Stamp) -> Usable<()> {
        guarded(|| {
            self.hand_over()?;
            let mut commit = self.writer.prepare_commit()?;
            commit.set_payload(&serde_json::to_string(&stamp).unwrap_or_default());
            failpoint!(INDEX_PREPARED);
            commit.commit()?;
            failpoint!(INDEX_COMMITTED);
            Ok(())
        })?;
        self.stamp = stamp;
        Ok(())
    }

    /// Merges segments where there are many, and ends.
    pub(crate) fn close(mut self) -> Usable<()> {
        guarded(|| {
            let segments = self.writer.index().searchable_segment_metas()?;
            if segments.len() > limits::INDEX_SEGMENTS {
                use tantivy::indexer::MergePolicy as _;
                let candidates = LogMergePolicy::default().compute_merge_candidates(&segments);
                // tantivy keeps the files of segments that anybody knows.
                drop(segments);
                let sizes = sizes(&self.folder);
                let size = |id: &SegmentId| sizes.get(&id.uuid_string()).copied().unwrap_or(0);
                for candidate in candidates {
                    // A merge maps all files that it reads.
                    let most = limits::INDEX_MERGE_BYTES as u64;
                    let shares = shares(&candidate.0, usize::MAX, most, size);
                    for share in shares.filter(|share| share.len() > 1) {
                        drop(self.writer.merge(share).wait()?);
                        failpoint!(INDEX_MERGED);
                    }
                }
                self.writer.garbage_collect_files().wait()?;
            }
            self.writer.wait_merging_threads()?;
            Ok(())
        })
    }
}

/// Bytes of the files of each segment, by its name, which those of its files begin with.
fn sizes(folder: &Path) -> HashMap<String, u64> {
    let mut sizes = HashMap::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let (Ok(name), Ok(metadata)) = (entry.file_name().into_string(), entry.metadata()) else {
            continue;
        };
        if let Some((segment, _)) = name.split_once('.') {
            *sizes.entry(segment.to_owned()).or_default() += metadata.len();
        }
    }
    sizes
}

/// The temporary files of interrupted commits, which tantivy does not know of.
pub(super) fn leftovers(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_one = |entry: &DirEntry| entry.file_name().as_encoded_bytes().starts_with(b".tmp");
    entries.filter(is_one).map(|entry| entry.path())
}

/// Removes them.
pub(super) fn sweep(folder: &Path) {
    for path in leftovers(folder) {
        // What cannot be removed does no harm but take space.
        drop(std::fs::remove_file(path));
    }
}
