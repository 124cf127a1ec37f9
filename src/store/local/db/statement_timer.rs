//! The time that a statement of a snapshot may take.
//!
//! Invariant: the error of an interrupted statement names the limit under which it ran.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::limits::{self, Limit};

/// The start of the current statement, and the limit of its seconds. Copies share them.
#[derive(Clone, Debug)]
pub(super) struct StatementTimer(Arc<Mutex<(Instant, Limit)>>);

impl StatementTimer {
    /// Returns the timer of a statement that starts now and may run for [`limits::QUERY_SECONDS`].
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new((Instant::now(), limits::row::QUERY_SECONDS))))
    }

    fn current(&self) -> MutexGuard<'_, (Instant, Limit)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a statement that may run for the seconds of `limit`.
    pub(super) fn start(&self, limit: Limit) {
        *self.current() = (Instant::now(), limit);
    }

    /// Returns whether the current statement ran for too long.
    pub(super) fn is_over(&self) -> bool {
        let (began, limit) = *self.current();
        began.elapsed() > Duration::from_secs(limit.value as u64)
    }

    /// Returns the error of the current statement, which ran for too long.
    pub(super) fn exceeded(&self) -> Error {
        limits::exceeded(self.current().1)
    }
}
