//! Work on many things at once, on all cores.
//!
//! Invariant: what is done and not yet taken is bounded, and the work ends soon after nobody takes any
//! more.

use std::convert::Infallible;
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

/// Cuts `items` into shares, in order, of at most `count` items and `bytes` bytes; what is larger has a share
/// of its own.
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
        let (share, behind) = rest.split_at(fitting.count().max(1).min(rest.len()));
        rest = behind;
        (!share.is_empty()).then_some(share)
    })
}

/// What `work` makes of each of `items`, in their order.
pub(crate) fn map<I: Sync, R: Send>(items: &[I], work: impl Fn(&I) -> R + Sync) -> Vec<R> {
    let numbered: Vec<(usize, &I)> = items.iter().enumerate().collect();
    let mut results = Vec::with_capacity(items.len());
    results.resize_with(items.len(), || None);
    let worked = on_all_cores(
        &numbered,
        || (),
        |(), (number, item)| (*number, work(item)),
        |(number, result)| {
            if let Some(place) = results.get_mut(number) {
                *place = Some(result);
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
    fn shares_hold_no_more_than_they_may() {
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
    fn what_is_made_of_items_is_in_their_order() {
        let items: Vec<usize> = (0..1000).collect();
        assert_eq!(super::map(&items, |item| item * 2), (0..2000).step_by(2).collect::<Vec<_>>());
        assert_eq!(super::map(&[], |item: &usize| *item), [0; 0]);
    }
}
