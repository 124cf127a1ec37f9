//! Ending the work on a call whose answer nobody wants any more.
//!
//! The thread that works on a call knows its [`Cancellation`]. Reading documents and searching them fails once
//! it is cancelled. Invariant: a call that writes has none, so a change is never ended in between.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, ErrorKind, Result};

/// Whether a call was cancelled. Clones share one flag.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cancellation(Arc<AtomicBool>);

thread_local! {
    static CURRENT: RefCell<Option<Cancellation>> = const { RefCell::new(None) };
}

impl Cancellation {
    /// Returns the cancellation of this thread's call. Without a call, it is never cancelled.
    pub(crate) fn current() -> Self {
        CURRENT.with_borrow(Clone::clone).unwrap_or_default()
    }

    /// Works on the call on this thread.
    #[cfg(any(feature = "mcp", test))]
    pub(crate) fn during<T>(&self, act: impl FnOnce() -> T) -> T {
        let before = CURRENT.replace(Some(self.clone()));
        let result = act();
        CURRENT.set(before);
        result
    }

    /// Cancels the call.
    #[cfg(any(feature = "mcp", test))]
    pub(crate) fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Fails if the call was cancelled.
    pub(crate) fn check(&self) -> Result<()> {
        if self.0.load(Ordering::Relaxed) {
            return Err(Error::new(ErrorKind::Io, "the call was cancelled"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_work_on_a_cancelled_call_fails() {
        let (one, other) = (Cancellation::default(), Cancellation::default());
        one.cancel();
        assert!(one.during(|| Cancellation::current().check()).is_err());
        assert!(other.during(|| Cancellation::current().check()).is_ok());
        let inner = one.during(|| other.during(|| Cancellation::current().check()));
        assert!(inner.is_ok());
        assert!(Cancellation::current().check().is_ok());
    }
}
