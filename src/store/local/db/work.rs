//! Counters of the SQLite statements that a snapshot runs, so tests can limit the cost of a query.
//!
//! Invariant: counting does not change any result. It has no cost if it is not enabled.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::StatementStatus;
use rusqlite::trace::{TraceEvent, TraceEventCodes};

use super::Snapshot;
use crate::error::Result;

/// The cost of a statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Runs {
    /// The number of times that it ran.
    pub runs: u64,
    /// The number of rows visited by full table scans.
    pub scanned: u64,
    /// The number of instructions of SQLite's virtual machine.
    pub steps: u64,
}

/// The cost of all statements, by their SQL text.
#[derive(Clone, Debug, Default)]
pub struct Work(Arc<Mutex<BTreeMap<String, Runs>>>);

impl Work {
    /// Returns the counters and resets them.
    pub fn take(&self) -> BTreeMap<String, Runs> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn add(&self, statement: &str, scanned: u64, steps: u64) {
        let mut work = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let runs = work.entry(statement.to_owned()).or_default();
        runs.runs += 1;
        runs.scanned += scanned;
        runs.steps += steps;
    }
}

impl Snapshot {
    /// Starts counting the statements of this snapshot.
    pub(in crate::store) fn count_work(&self) -> Result<Work> {
        let work = Work::default();
        let counted = work.clone();
        // SQLite counts over the lifetime of a cached statement, so the difference is added.
        let mut before: HashMap<String, (u64, u64)> = HashMap::new();
        let count = move |event: TraceEvent<'_>| {
            let TraceEvent::Profile(statement, _) = event else { return };
            let status = |which| u64::from(statement.get_status(which).unsigned_abs());
            let now = (status(StatementStatus::FullscanStep), status(StatementStatus::VmStep));
            let text = statement.sql().into_owned();
            let then = before.insert(text.clone(), now).unwrap_or_default();
            let is_same = now.1 >= then.1;
            let then = if is_same { then } else { (0, 0) };
            counted.add(&text, now.0.saturating_sub(then.0), now.1 - then.1);
        };
        self.wrap(self.statement().trace_v2(TraceEventCodes::SQLITE_TRACE_PROFILE, Some(count)))?;
        Ok(work)
    }
}
