//! How much text waits to be indexed.
//!
//! The index takes documents on threads of its own, behind a queue that counts documents and not
//! bytes. Invariant: the texts that wait hold at most [`limits::INDEX_QUEUE_BYTES`] bytes, or are those
//! of one document.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::limits;

/// After so long without any progress the threads of the index are taken for dead; the index itself
/// tells when it is given the next document.
const STUCK: Duration = Duration::from_mins(1);

/// Bytes that wait, and who waits for less.
#[derive(Debug, Default)]
struct Queue {
    bytes: Mutex<usize>,
    taken: Condvar,
}

/// Lets documents into the queue.
#[derive(Clone, Debug, Default)]
pub(super) struct Flight(Arc<Queue>);

/// The right of a document to wait; given back when it is dropped.
#[derive(Debug)]
pub(super) struct Permit {
    queue: Arc<Queue>,
    bytes: usize,
}

impl Flight {
    /// Waits until there is room for `bytes` more.
    pub(super) fn permit(&self, bytes: usize) -> Permit {
        let mut waiting = self.0.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        while *waiting > 0 && *waiting + bytes > limits::INDEX_QUEUE_BYTES {
            let (guard, timeout) =
                self.0.taken.wait_timeout(waiting, STUCK).unwrap_or_else(PoisonError::into_inner);
            waiting = guard;
            if timeout.timed_out() {
                break;
            }
        }
        *waiting += bytes;
        Permit { queue: Arc::clone(&self.0), bytes }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut waiting = self.queue.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        *waiting = waiting.saturating_sub(self.bytes);
        self.queue.taken.notify_all();
    }
}
