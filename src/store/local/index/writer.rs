//! Writing the index. The caller holds the lock of the store.
//!
//! Invariants: a writer first removes the files that an interrupted writer left, because tantivy
//! cannot commit if they exist. Every commit contains its [`IndexMetadata`].

use std::collections::{HashMap, HashSet};
use std::fs::DirEntry;
use std::path::{Path, PathBuf};

use tantivy::index::SegmentId;
use tantivy::indexer::{
    AddOperation, IndexWriterOptions, LogMergePolicy, NoMergePolicy, SegmentWriter, UserOperation,
};
use tantivy::{Index, TantivyError, Term};

use super::byte_budget::ByteBudget;
use super::directory::{Access, IndexFolder};
use super::entry::{SectionEntry, entries};
use super::open::{builder, open};
use super::schema::{Fields, schema};
use super::{IndexMetadata, Unusable, Usable, guarded, metadata_of, places};
use crate::failpoint::failpoint;
use crate::limits;
use crate::parallel::{self, cores};
use crate::terms::DocumentText;

/// Bytes of text and trigrams that are passed to the threads of tantivy at once. Waking a thread
/// for every small document would take longer than indexing it.
const FLUSH_BYTES: usize = 256 << 10;

/// Bytes of memory for a segment of at most [`FLUSH_BYTES`]. tantivy makes a hash table in proportion to it, and
/// makes one of 4 MiB for its own threads.
const SMALL_SEGMENT_MEMORY: usize = 1 << 20;

/// The largest number of threads of tantivy. With more, each would have too little memory to make large
/// segments.
const MAX_THREADS: usize = 4;

/// The right to change an index. The caller holds the lock of the store.
pub(crate) struct IndexWriter {
    writer: tantivy::IndexWriter<SectionEntry>,
    fields: Fields,
    folder: PathBuf,
    /// Operations that have not been passed to the threads of tantivy yet, and the bytes of their
    /// documents.
    waiting: Vec<UserOperation<SectionEntry>>,
    waiting_bytes: usize,
    /// Whether the threads of tantivy have documents that are in no commit.
    has_passed_on: bool,
    budget: ByteBudget,
    /// The metadata of the last commit.
    metadata: IndexMetadata,
}

impl std::fmt::Debug for IndexWriter {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("IndexWriter")
            .field("metadata", &self.metadata)
            .finish_non_exhaustive()
    }
}

impl IndexWriter {
    /// Opens the index in `folder`. Fails if it does not belong to `store`.
    pub(crate) fn open(folder: &Path, store: &str) -> Usable<Self> {
        guarded(|| {
            sweep(folder);
            failpoint!(INDEX_SWEPT);
            let index = open(folder, Access::Write)?;
            let metadata = metadata_of(&index.load_metas()?)?;
            if metadata.store != store {
                return Err(Unusable::Foreign);
            }
            let writer = Self::start(folder, &index, metadata)?;
            writer.writer.garbage_collect_files().wait()?;
            failpoint!(INDEX_COLLECTED);
            Ok(writer)
        })
    }

    /// Creates an empty index of the state `token` of `store` in `folder`. Replaces an existing folder.
    pub(crate) fn create(folder: &Path, store: &str, token: &str) -> Usable<Self> {
        match std::fs::remove_dir_all(folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        failpoint!(INDEX_REMOVED);
        std::fs::create_dir(folder)?;
        failpoint!(INDEX_FOLDER_MADE);
        guarded(|| {
            let directory = IndexFolder::open(folder, Access::Write).map_err(TantivyError::from)?;
            let index = builder().open_or_create(directory)?;
            failpoint!(INDEX_MADE);
            let metadata = IndexMetadata::new(store, 0, 0, token);
            let mut writer = Self::start(folder, &index, metadata.clone())?;
            writer.commit(metadata)?;
            Ok(writer)
        })
    }

    fn start(folder: &Path, index: &Index, metadata: IndexMetadata) -> Usable<Self> {
        // Documents arrive as words, so half of the cores index what the others prepare. Fewer threads
        // share the memory, which makes fewer and larger segments.
        let threads = cores().div_ceil(2).min(MAX_THREADS);
        let options = IndexWriterOptions::builder()
            .num_worker_threads(threads)
            .memory_budget_per_thread(limits::INDEX_MEMORY_BYTES / threads)
            // Merges run one after the other.
            .num_merge_threads(1)
            .build();
        let writer = index.writer_with_options(options)?;
        writer.set_merge_policy(Box::new(NoMergePolicy));
        Ok(Self {
            writer,
            fields: schema().1,
            folder: folder.to_owned(),
            waiting: Vec::new(),
            waiting_bytes: 0,
            has_passed_on: false,
            budget: ByteBudget::default(),
            metadata,
        })
    }

    /// Returns the metadata of the last commit.
    pub(crate) fn metadata(&self) -> &IndexMetadata {
        &self.metadata
    }

    /// Returns the ids of the documents in the last commit of the index.
    pub(crate) fn documents(&self) -> Usable<HashSet<i64>> {
        // All segments are open at once. Mapped files need no file descriptors, and those of a writer do.
        guarded(|| places::documents(&open(&self.folder, Access::Read)?))
    }

    /// Adds a document that is not in the index. Waits until there is room in the queue.
    pub(crate) fn put(&mut self, id: i64, document: DocumentText) -> Usable<()> {
        guarded(|| {
            let size = document.size();
            if self.waiting_bytes + size > FLUSH_BYTES {
                // Waiting operations hold bytes of the budget, so they must be passed on before
                // more bytes are acquired.
                self.flush_waiting()?;
            }
            let permit = self.budget.acquire(size);
            let entries = entries(document, id, self.fields, permit);
            self.waiting.extend(entries.into_iter().map(UserOperation::Add));
            self.waiting_bytes += size;
            failpoint!(INDEX_PUT);
            Ok(())
        })
    }

    /// Passes the waiting operations to the threads of tantivy.
    fn flush_waiting(&mut self) -> Usable<()> {
        self.waiting_bytes = 0;
        self.has_passed_on = true;
        self.writer.run(std::mem::take(&mut self.waiting))?;
        Ok(())
    }

    /// Writes the waiting operations. If there are few and the threads of tantivy have no documents, this thread
    /// writes a segment of them, which needs no queue and a smaller hash table.
    fn write_waiting(&mut self) -> Usable<()> {
        if self.has_passed_on {
            return self.flush_waiting();
        }
        self.waiting_bytes = 0;
        let (mut added, mut deleted) = (Vec::new(), HashSet::new());
        // A document that was added is deleted only by a later operation.
        for operation in self.waiting.drain(..).rev() {
            match operation {
                UserOperation::Add(entry) if deleted.contains(&entry.id().unsigned_abs()) => {}
                UserOperation::Add(entry) => added.push(entry),
                UserOperation::Delete(term) => {
                    deleted.extend(term.value().as_u64());
                    self.writer.delete_term(term);
                }
            }
        }
        added.reverse();
        if added.is_empty() {
            return Ok(());
        }
        let segment = self.writer.new_segment();
        let mut small = SegmentWriter::for_segment(SMALL_SEGMENT_MEMORY, segment.clone())?;
        for document in added {
            small.add_document(AddOperation { opstamp: 0, document })?;
        }
        let count = small.max_doc();
        small.finalize()?;
        self.writer.add_segment(self.writer.index().new_segment_meta(segment.id(), count))?;
        Ok(())
    }

    /// Deletes a document.
    pub(crate) fn remove(&mut self, id: i64) {
        let term = Term::from_field_u64(self.fields.document, id.unsigned_abs());
        // The order matters: a waiting operation may have added the document.
        self.waiting.push(UserOperation::Delete(term));
    }

    /// Writes the segments of all operations so far, which no reader sees before [`Self::commit`].
    pub(crate) fn write_segments(&mut self) -> Usable<()> {
        guarded(|| {
            self.write_waiting()?;
            if self.has_passed_on {
                drop(self.writer.prepare_commit()?);
            }
            failpoint!(INDEX_SEGMENTS_WRITTEN);
            Ok(())
        })
    }

    /// Commits all operations with this metadata.
    pub(crate) fn commit(&mut self, metadata: IndexMetadata) -> Usable<()> {
        guarded(|| {
            self.write_waiting()?;
            let mut commit = self.writer.prepare_commit()?;
            commit.set_payload(&serde_json::to_string(&metadata).unwrap_or_default());
            failpoint!(INDEX_PREPARED);
            commit.commit()?;
            failpoint!(INDEX_COMMITTED);
            Ok(())
        })?;
        self.has_passed_on = false;
        self.metadata = metadata;
        Ok(())
    }

    /// Merges segments if there are many, and waits until all threads have ended.
    pub(crate) fn close(mut self) -> Usable<()> {
        guarded(|| {
            let segments = self.writer.index().searchable_segment_metas()?;
            if segments.len() > limits::INDEX_SEGMENTS {
                use tantivy::indexer::MergePolicy as _;
                let candidates = LogMergePolicy::default().compute_merge_candidates(&segments);
                // tantivy keeps the files of a segment while its metadata is referenced.
                drop(segments);
                let sizes = sizes(&self.folder);
                let size = |id: &SegmentId| sizes.get(&id.uuid_string()).copied().unwrap_or(0);
                for candidate in candidates {
                    // A merge holds the terms and the trigrams of all its segments in memory.
                    let most = limits::INDEX_MERGE_BYTES as u64;
                    let batches = parallel::batches(&candidate.0, usize::MAX, most, size);
                    for batch in batches.filter(|batch| batch.len() > 1) {
                        drop(self.writer.merge(batch).wait()?);
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

/// Returns the size in bytes of the files of each segment, by the name of the segment, with which
/// the names of its files begin.
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

/// Returns the temporary files of interrupted commits, which tantivy does not remove.
pub(super) fn leftovers(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_one = |entry: &DirEntry| entry.file_name().as_encoded_bytes().starts_with(b".tmp");
    entries.filter(is_one).map(|entry| entry.path())
}

/// Removes the temporary files of interrupted commits.
pub(in crate::store::local) fn sweep(folder: &Path) {
    for path in leftovers(folder) {
        // A file that cannot be removed only takes space.
        drop(std::fs::remove_file(path));
    }
}
