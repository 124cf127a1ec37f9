//! Changing a store in memory.
//!
//! Invariant: a change is part of no generation before the commit.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError};

use super::{Memory, MemoryDocument, MemoryState};
use crate::corpus::{FileState, IngestOptions};
use crate::error::{Result, Warning};
use crate::prepare::PreparedDocument;
use crate::prepare::rows::DerivedRows;
use crate::store::{EditIntent, StoredDocument, Writer, WriterMetadata};

#[derive(Debug)]
pub(super) struct MemoryWriter {
    pub(super) store: Memory,
    /// The newest generation with the changes since the last commit.
    pub(super) state: MemoryState,
    /// Whether a document changed since the last commit.
    pub(super) is_changed: bool,
}

impl Drop for MemoryWriter {
    fn drop(&mut self) {
        *self.store.0.is_writing.lock().unwrap_or_else(PoisonError::into_inner) = false;
    }
}

impl Writer for MemoryWriter {
    fn metadata(&self) -> Result<WriterMetadata> {
        let MemoryState { facts, is_set_up, .. } = &self.state;
        Ok(WriterMetadata {
            root: is_set_up.then(|| facts.root.clone()),
            lacks_root: false,
            options: is_set_up.then(|| facts.options.clone()),
            has_lost_options: false,
            has_current_parser: facts.has_current_parser,
            generation: facts.generation,
        })
    }

    fn documents(&self) -> Result<Vec<StoredDocument>> {
        Ok(self.state.documents.values().map(|entry| entry.stored.clone()).collect())
    }

    fn set_up(&mut self, root: &str, options: &IngestOptions) -> Result<()> {
        self.state.is_set_up = true;
        self.state.facts.root = PathBuf::from(root);
        self.state.facts.options = options.clone();
        self.state.facts.has_current_parser = true;
        self.commit()
    }

    fn set_current_parser(&mut self, is_current: bool) -> Result<()> {
        self.state.facts.has_current_parser = is_current;
        self.commit()
    }

    fn put(&mut self, documents: Vec<PreparedDocument>) -> Result<()> {
        for prepared in documents {
            self.state.last_id += 1;
            let DerivedRows { path, hash, is_lossy, has_markup, .. } = &prepared.rows;
            let stored = StoredDocument {
                id: self.state.last_id,
                path: path.clone(),
                hash: *hash,
                state: prepared.state,
                is_lossy: *is_lossy,
                has_ldmd: *has_markup,
                checksums: prepared.checksums,
            };
            let entry = Arc::new(MemoryDocument { stored, prepared });
            self.state.documents.insert(entry.stored.path.clone(), entry);
            self.is_changed = true;
        }
        Ok(())
    }

    fn remove(&mut self, ids: &[i64]) -> Result<()> {
        self.state.documents.retain(|_, entry| !ids.contains(&entry.stored.id));
        self.is_changed = true;
        Ok(())
    }

    fn set_states(&mut self, _: &[(i64, FileState)]) -> Result<()> {
        // The next ingest reads the file again, which costs only time.
        Ok(())
    }

    fn note_intents(&mut self, intents: &[EditIntent]) -> Result<Vec<i64>> {
        let mut ids = Vec::with_capacity(intents.len());
        for intent in intents {
            self.state.last_id += 1;
            self.state.intents.insert(self.state.last_id, intent.clone());
            ids.push(self.state.last_id);
        }
        self.commit()?;
        Ok(ids)
    }

    fn forget_intent(&mut self, id: i64) -> Result<()> {
        self.state.intents.remove(&id);
        Ok(())
    }

    fn intents(&self) -> Result<Vec<(i64, EditIntent)>> {
        Ok(self.state.intents.iter().map(|(id, intent)| (*id, intent.clone())).collect())
    }

    fn commit(&mut self) -> Result<()> {
        self.state.facts.generation += u64::from(std::mem::take(&mut self.is_changed));
        self.state.facts.is_interrupted = !self.state.intents.is_empty();
        let newest = Arc::new(self.state.clone());
        *self.store.0.newest.lock().unwrap_or_else(PoisonError::into_inner) = newest;
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<Vec<Warning>> {
        Ok(Vec::new())
    }
}
