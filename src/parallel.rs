//! Work on many things at once, on all cores.
//!
//! Invariant: what is done and not yet taken is bounded, and the work ends soon after nobody takes any
//! more.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Results of each core that wait to be taken.
const WAITING: usize = 4;

/// Does `work` on each of `items`, with a state that `state` makes for each thread, and calls `take` with
/// what comes of it, in no order, until it fails.
pub(crate) fn on_all_cores<I: Sync, S, R: Send, E>(
    items: &[I],
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &I) -> R + Sync,
    mut take: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let next = AtomicUsize::new(0);
    let (sender, receiver) = crossbeam_channel::bounded(threads * WAITING);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (sender, next, state, work) = (sender.clone(), &next, &state, &work);
            scope.spawn(move || {
                let mut state = state();
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if sender.send(work(&mut state, item)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let result = receiver.iter().try_for_each(&mut take);
        // Whoever waits to tell something must not wait for ever.
        drop(receiver);
        result
    })
}
