//! The limit for text that waits to be indexed.
//!
//! tantivy indexes documents on its own threads, after a queue that counts documents and not bytes.
//! Invariant: while tantivy takes texts, the waiting ones have at most [`limits::INDEX_QUEUE_BYTES`] bytes in total, or
//! there is only one.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::limits;

/// If nothing is indexed for this time, the threads of tantivy have probably ended. The wait then
/// ends, and tantivy returns the error when the next document is added.
const STUCK: Duration = Duration::from_mins(1);

/// The number of waiting bytes, and a signal that it has decreased.
#[derive(Debug, Default)]
struct WaitingBytes {
    bytes: Mutex<usize>,
    taken: Condvar,
}

/// A counting semaphore for bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct ByteBudget(Arc<WaitingBytes>);

/// Bytes acquired from the budget; released when this is dropped.
#[derive(Debug)]
pub(super) struct Permit {
    queue: Arc<WaitingBytes>,
    bytes: usize,
}

impl ByteBudget {
    /// Acquires `bytes`. Waits until the budget has room for them or is not in use.
    pub(super) fn acquire(&self, bytes: usize) -> Permit {
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
