//! Open stores, reused from call to call.
//!
//! Invariants: a call reads one generation, the newest one when it starts; between calls no
//! generation is kept open, so that no writer waits for the server; an open file that is no longer
//! the store at its path is never read again.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use crate::edit;
use crate::error::Result;
use crate::limits;
use crate::query::Library;
use crate::store::{FullText, Snapshot};
use crate::trust::Trust;

/// The store at a path, open once for each call that runs at the same time.
#[derive(Debug)]
pub(super) struct Stores {
    path: PathBuf,
    trust: Trust,
    idle: Mutex<Vec<Open>>,
}

#[derive(Debug)]
struct Open {
    snapshot: Snapshot,
    /// Opened by the first search.
    full_text: Option<FullText>,
}

impl Stores {
    /// Creates an entry for the store at `path`, which may not exist yet.
    pub(super) fn new(path: PathBuf, trust: Trust) -> Self {
        Self { path, trust, idle: Mutex::default() }
    }

    /// Returns the path of the store.
    pub(super) fn path(&self) -> &PathBuf {
        &self.path
    }

    /// Returns what decides which settings of the store to follow.
    pub(super) fn trust(&self) -> &Trust {
        &self.trust
    }

    /// Answers a question from the documents.
    pub(super) fn ask<T>(&self, question: impl FnOnce(&Library<'_>) -> Result<T>) -> Result<T> {
        let open = self.take()?;
        let answer = question(&Library::new(&open.snapshot))?;
        self.put_back(open)?;
        Ok(answer)
    }

    /// Answers a question from the documents and the full-text index.
    pub(super) fn search<T>(
        &self,
        question: impl FnOnce(&Library<'_>, &mut FullText) -> Result<T>,
    ) -> Result<T> {
        let open = self.take()?;
        let (snapshot, mut full_text) = match open.full_text {
            Some(full_text) => (open.snapshot, full_text),
            None => {
                drop(open);
                FullText::open(&self.path)?
            }
        };
        let answer = question(&Library::new(&snapshot), &mut full_text)?;
        let full_text = full_text.is_usable().then_some(full_text);
        self.put_back(Open { snapshot, full_text })?;
        Ok(answer)
    }

    fn take(&self) -> Result<Open> {
        loop {
            let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let Some(open) = idle else { break };
            if open.snapshot.renew().unwrap_or(false) && !open.snapshot.has_edit_intents()? {
                return Ok(open);
            }
        }
        let mut snapshot = Snapshot::open(&self.path)?;
        if snapshot.has_edit_intents()? {
            drop(snapshot);
            // If the edits cannot be finished now, the store can still be read.
            drop(edit::settle(&self.path, &self.trust));
            snapshot = Snapshot::open(&self.path)?;
        }
        Ok(Open { snapshot, full_text: None })
    }

    fn put_back(&self, open: Open) -> Result<()> {
        if open.snapshot.holds_writers_off() {
            return Ok(());
        }
        open.snapshot.release()?;
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < limits::CALLS_AT_ONCE {
            idle.push(open);
        }
        Ok(())
    }
}
