//! A store in memory, for tests of everything above the storage.
//!
//! It keeps the same prepared documents as a store file and answers every question by looking at each of
//! them. Invariants: a reader keeps its generation while a writer commits. A writer that is dropped
//! changes nothing after its last commit.

mod reader;
mod search;
mod writer;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use self::reader::MemoryReader;
use self::writer::MemoryWriter;
use super::{
    EditIntent, Engine, Facts, IfAbsent, LOCKED_HINT, Purpose, Reader, StoredDocument, Writer,
};
use crate::error::{Error, ErrorKind, Result};
use crate::prepare::PreparedDocument;

/// A stored document.
#[derive(Debug)]
struct MemoryDocument {
    stored: StoredDocument,
    prepared: PreparedDocument,
}

/// One generation.
#[derive(Clone, Debug, Default)]
struct MemoryState {
    facts: Facts,
    /// Whether the store was set up.
    is_set_up: bool,
    /// The documents by path.
    documents: BTreeMap<String, Arc<MemoryDocument>>,
    last_id: i64,
    intents: BTreeMap<i64, EditIntent>,
}

fn not_found() -> Error {
    Error::new(ErrorKind::StoreNotFound, "the store does not exist")
        .with_hint("create it with `mdsel ingest FOLDER`")
}

/// What all readers and writers of a store share.
#[derive(Debug, Default)]
struct Shared {
    newest: Mutex<Arc<MemoryState>>,
    is_writing: Mutex<bool>,
}

/// A store in memory.
#[derive(Clone, Debug, Default)]
pub struct Memory(Arc<Shared>);

impl Memory {
    fn newest(&self) -> Arc<MemoryState> {
        Arc::clone(&self.0.newest.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Engine for Memory {
    fn path(&self) -> Option<&Path> {
        None
    }

    fn own_files(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    fn reader(&self, _: Purpose) -> Result<Box<dyn Reader>> {
        let state = self.newest();
        if !state.is_set_up {
            return Err(not_found());
        }
        Ok(Box::new(MemoryReader(state)))
    }

    fn writer(&self, if_absent: IfAbsent, wait: Duration) -> Result<Box<dyn Writer>> {
        let deadline = Instant::now() + wait;
        loop {
            let mut is_writing = self.0.is_writing.lock().unwrap_or_else(PoisonError::into_inner);
            if !*is_writing {
                let state = MemoryState::clone(&self.newest());
                if !state.is_set_up && if_absent == IfAbsent::Fail {
                    return Err(not_found());
                }
                *is_writing = true;
                let store = self.clone();
                return Ok(Box::new(MemoryWriter { store, state, is_changed: false }));
            }
            drop(is_writing);
            if Instant::now() >= deadline {
                return Err(Error::new(ErrorKind::Locked, "another writer is active")
                    .with_hint(LOCKED_HINT));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
