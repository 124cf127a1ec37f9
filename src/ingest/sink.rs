//! Where the changes of an ingest go.
//!
//! Invariant: a commit contains only whole documents.

use crate::corpus::FileState;
use crate::error::Result;
use crate::failpoint::batch_bytes;
use crate::limits;
use crate::prepare::PreparedDocument;
use crate::store::{StoredDocument, Writer};

/// Receives the changes of an ingest.
pub(super) trait Sink {
    /// Writes a document of `bytes` bytes.
    fn put(&mut self, document: PreparedDocument, bytes: u64) -> Result<()>;
    /// Removes a document.
    fn remove(&mut self, document: &StoredDocument) -> Result<()>;
    /// Updates the metadata of a file whose bytes are unchanged.
    fn note_state(&mut self, document: &StoredDocument, state: FileState) -> Result<()>;
}

/// Writes changes to the store, and commits whenever a batch is full.
pub(super) struct Batches<'a> {
    pub(super) writer: &'a mut dyn Writer,
    /// The bytes of the documents since the last commit.
    pub(super) bytes: u64,
}

impl Sink for Batches<'_> {
    fn put(&mut self, document: PreparedDocument, bytes: u64) -> Result<()> {
        self.writer.put(vec![document])?;
        self.bytes += bytes;
        if self.bytes >= batch_bytes(limits::BATCH_BYTES) as u64 {
            self.bytes = 0;
            self.writer.commit()?;
        }
        Ok(())
    }

    fn remove(&mut self, document: &StoredDocument) -> Result<()> {
        self.writer.remove(&[document.id])
    }

    fn note_state(&mut self, document: &StoredDocument, state: FileState) -> Result<()> {
        self.writer.set_states(&[(document.id, state)])
    }
}

/// Discards changes.
pub(super) struct Nowhere;

impl Sink for Nowhere {
    fn put(&mut self, _: PreparedDocument, _: u64) -> Result<()> {
        Ok(())
    }

    fn remove(&mut self, _: &StoredDocument) -> Result<()> {
        Ok(())
    }

    fn note_state(&mut self, _: &StoredDocument, _: FileState) -> Result<()> {
        Ok(())
    }
}
