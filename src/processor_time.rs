//! The processor time of a thread, for tests that show how long work takes.
//!
//! Invariant: unlike the time of a clock, it does not grow with what other threads and processes do.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Runs `work` and returns its result with the time that this thread took for it.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let now = || Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap();
    let began = now();
    let result = work();
    (result, now().saturating_sub(began))
}

/// Asserts that `work` takes less than `seconds` of this thread, and returns its result. `name` names the work.
pub(crate) fn within<T>(seconds: u64, name: &str, work: impl FnOnce() -> T) -> T {
    let (result, took) = timed(work);
    assert!(took < Duration::from_secs(seconds), "{name}: {took:?}");
    result
}
