//! Work on many items at the same time, on all cores.
//!
//! Invariant: the number of results that wait for the consumer is bounded, and the threads stop soon after
//! the consumer fails.

use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::{Error, ErrorKind};

/// Returns the error for a thread that panicked.
pub(crate) fn thread_failed() -> Error {
    Error::new(ErrorKind::Io, "a thread failed; nothing was changed")
}

/// The number of results per core that may wait for the consumer.
const WAITING: usize = 4;

/// Calls `work` on each of `items`, with a state that `state` creates for each thread. Calls `take` with each
/// result, in no particular order, on the calling thread. Stops at the first error of `take` and returns it.
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
        // A thread that waits to send a result must not wait for ever.
        drop(receiver);
        result
    })
}

/// Divides `items`, in order, into batches of at most `count` items and `bytes` bytes. An item of more than
/// `bytes` bytes is a batch of its own.
pub(crate) fn shares<I>(
    items: &[I],
    count: usize,
    bytes: u64,
    size: impl Fn(&I) -> u64,
) -> impl Iterator<Item = &[I]> {
    let mut rest = items;
    std::iter::from_fn(move || {
        let mut sum = 0;
        let fitting = rest.iter().take(count).take_while(|item| {
            sum += size(item);
            sum <= bytes
        });
        let (batch, following) = rest.split_at(fitting.count().max(1).min(rest.len()));
        rest = following;
        (!batch.is_empty()).then_some(batch)
    })
}

/// Returns the result of `work` for each of `items`, in their order.
pub(crate) fn map<I: Sync, R: Send>(items: &[I], work: impl Fn(&I) -> R + Sync) -> Vec<R> {
    let numbered: Vec<(usize, &I)> = items.iter().enumerate().collect();
    let mut results = Vec::with_capacity(items.len());
    results.resize_with(items.len(), || None);
    let worked = on_all_cores(
        &numbered,
        || (),
        |(), (number, item)| (*number, work(item)),
        |(number, result)| {
            if let Some(entry) = results.get_mut(number) {
                *entry = Some(result);
            }
            Ok::<_, Infallible>(())
        },
    );
    let Ok(()) = worked;
    results.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn batches_stay_within_both_bounds() {
        let cut = |sizes: &[u64], count| {
            super::shares(sizes, count, 100, |size| *size).map(<[u64]>::len).collect::<Vec<_>>()
        };
        assert_eq!(cut(&[], 9), [0; 0]);
        assert_eq!(cut(&[1; 100], 100), [100]);
        assert_eq!(cut(&[1; 100], 60), [60, 40]);
        assert_eq!(cut(&[25; 10], 9), [4, 4, 2]);
        assert_eq!(cut(&[100, 1, 1, 101, 100], 9), [1, 2, 1, 1], "a large one alone");
    }

    #[test]
    fn map_keeps_the_order_of_the_items() {
        let items: Vec<usize> = (0..1000).collect();
        assert_eq!(super::map(&items, |item| item * 2), (0..2000).step_by(2).collect::<Vec<_>>());
        assert_eq!(super::map(&[], |item: &usize| *item), [0; 0]);
    }
}
