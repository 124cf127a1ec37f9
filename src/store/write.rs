//! Changing a store.
//!
//! Invariants: a change is seen by readers only after [`Writer::commit`], and then as a whole. At most one
//! writer of a store exists at a time. A writer that is dropped changes nothing after its last commit.

use std::fmt::Debug;
use std::path::PathBuf;

use super::{EditIntent, StoredDocument};
use crate::corpus::{FileState, IngestOptions};
use crate::error::{Result, Warning};
use crate::prepare::PreparedDocument;

/// What is known about a store that is being changed.
#[derive(Clone, Debug, Default)]
pub struct WriterMetadata {
    /// The root; `None` before the first ingest.
    pub root: Option<PathBuf>,
    /// Whether no ingest gave a root yet, because the documents were loaded. Only a store that is not a file can lack it.
    pub lacks_root: bool,
    /// The options of the last ingest; `None` before the first one, and if they are damaged.
    pub options: Option<IngestOptions>,
    /// Whether the stored options are damaged; see [`super::Facts::has_lost_options`].
    pub has_lost_options: bool,
    /// Whether the documents were parsed with the parser version of this program.
    pub has_current_parser: bool,
    /// The number of commits that changed a document.
    pub generation: u64,
}

/// The right to change a store.
pub trait Writer: Debug {
    /// Returns what is known about the store.
    fn metadata(&self) -> Result<WriterMetadata>;

    /// Returns the root, or `None` before the first ingest.
    fn root(&self) -> Result<Option<PathBuf>> {
        Ok(self.metadata()?.root)
    }

    /// Returns the options of the last ingest; `None` before the first one, and if they are damaged.
    fn options(&self) -> Result<Option<IngestOptions>> {
        Ok(self.metadata()?.options)
    }

    /// Returns whether the documents were parsed with the parser version of this program.
    fn has_current_parser(&self) -> Result<bool> {
        Ok(self.metadata()?.has_current_parser)
    }

    /// Returns the number of commits that changed a document.
    fn generation(&self) -> Result<u64> {
        Ok(self.metadata()?.generation)
    }

    /// Returns all documents, in no particular order.
    fn documents(&self) -> Result<Vec<StoredDocument>>;

    /// Stores the root and the options, and commits. The root is relative to the folder of the store
    /// if the store is a file.
    fn set_up(&mut self, root: &str, options: &IngestOptions) -> Result<()>;

    /// Records whether all documents were parsed with the parser version of this program, and commits.
    fn set_current_parser(&mut self, is_current: bool) -> Result<()>;

    /// Writes documents. Each replaces the one with the same path, if any. If the others were parsed with another
    /// parser version, the documents are no longer of one version, which is recorded.
    fn put(&mut self, documents: Vec<PreparedDocument>) -> Result<()>;

    /// Removes the documents with these ids.
    fn remove(&mut self, ids: &[i64]) -> Result<()>;

    /// Updates the stored metadata of files whose bytes are unchanged, by the ids of their documents.
    fn set_states(&mut self, states: &[(i64, FileState)]) -> Result<()>;

    /// Records the files that an edit is about to change, and commits. Returns the ids of the records.
    fn note_intents(&mut self, intents: &[EditIntent]) -> Result<Vec<i64>>;

    /// Deletes a record of an edit that is finished.
    fn forget_intent(&mut self, id: i64) -> Result<()>;

    /// Returns the files of an edit that was started and not finished, with the ids of their records.
    fn intents(&self) -> Result<Vec<(i64, EditIntent)>>;

    /// Deletes the records of edits that were started and not finished and whose folders are not on this machine, and
    /// commits. Returns the paths of their documents.
    fn drop_intents(&mut self) -> Result<Vec<String>> {
        let intents = self.intents()?;
        for (id, _) in &intents {
            self.forget_intent(*id)?;
        }
        self.commit()?;
        Ok(intents.into_iter().map(|(_, intent)| intent.path).collect())
    }

    /// Replaces the index for searches with the last commit, if all documents are stored again until then. A store file
    /// has another way to replace its index.
    fn replace_index(&mut self) {}

    /// Makes the changes since the last commit visible and durable. The generation increases if a
    /// document changed.
    fn commit(&mut self) -> Result<()>;

    /// Commits when no more documents follow, so that an engine can finish its index at the same time.
    fn commit_last(&mut self) -> Result<()> {
        self.commit()
    }

    /// Records that this part of an ingest by several workers is complete. Other writers have no parts.
    fn complete(&mut self) -> Result<()> {
        Ok(())
    }

    /// Ends the writer, drops changes that were not committed, and returns its warnings.
    fn close(self: Box<Self>) -> Result<Vec<Warning>>;
}

/// Returns a name that no other store has. It is a hash of random numbers, the time and the process
/// id.
pub(in crate::store) fn new_identity() -> String {
    use std::hash::{BuildHasher as _, Hasher as _, RandomState};
    let mut hasher = blake3::Hasher::new();
    for _ in 0..4 {
        hasher.update(&RandomState::new().build_hasher().finish().to_le_bytes());
    }
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    hasher.update(&now.map_or(0, |now| now.as_nanos()).to_le_bytes());
    hasher.update(&std::process::id().to_le_bytes());
    hasher.finalize().to_hex().chars().take(32).collect()
}
