//! Opening a store file, and reusing what was opened.
//!
//! Invariants: a reader has the newest generation when it is opened. Between uses no generation is kept
//! open, so that no writer waits. An open file that is no longer the store at its path is never read
//! again.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::{LocalReader, LocalWriter, StoreState};
use crate::error::Result;
use crate::limits;
use crate::store::{Engine, IfAbsent, Purpose, Reader, Writer};

/// The store file at a path.
#[derive(Debug)]
pub(in crate::store) struct LocalEngine {
    path: PathBuf,
    idle: Arc<Idle>,
}

/// Open states that no reader uses.
#[derive(Debug, Default)]
pub(super) struct Idle(Mutex<Vec<Arc<StoreState>>>);

impl Idle {
    /// Returns an idle state that has the newest generation and serves `purpose`, if any.
    fn take(&self, purpose: Purpose) -> Option<Arc<StoreState>> {
        loop {
            let state = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()?;
            if state.serves(purpose) && state.renew() {
                return Some(state);
            }
        }
    }

    /// Keeps `state` for a later reader.
    pub(super) fn put_back(&self, state: &Arc<StoreState>) {
        if !state.release() {
            return;
        }
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < limits::CALLS_AT_ONCE {
            idle.push(Arc::clone(state));
        }
    }
}

impl LocalEngine {
    /// Creates an entry for the store at `path`, which need not exist.
    pub(in crate::store) fn new(path: PathBuf) -> Self {
        Self { path, idle: Arc::default() }
    }
}

impl Engine for LocalEngine {
    fn path(&self) -> Option<&Path> {
        Some(&self.path)
    }

    fn own_files(&self) -> Vec<PathBuf> {
        super::own_files(&self.path)
    }

    fn reader(&self, purpose: Purpose) -> Result<Box<dyn Reader>> {
        let state = match self.idle.take(purpose) {
            Some(state) => state,
            None => Arc::new(StoreState::open(&self.path, purpose)?),
        };
        Ok(Box::new(LocalReader::new(state, Arc::clone(&self.idle))))
    }

    fn writer(&self, if_absent: IfAbsent, wait: Duration) -> Result<Box<dyn Writer>> {
        Ok(Box::new(LocalWriter::open(&self.path, if_absent, wait)?))
    }
}
