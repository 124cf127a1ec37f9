//! Work on many items at the same time, on all cores.
//!
//! Invariants: results arrive in the order of the items. The items that are in progress, or whose results
//! wait for the consumer, are bounded by a budget. The threads end soon after the consumer fails or a thread
//! panics.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::num::NonZero;
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError, mpsc};
use std::thread::ScopedJoinHandle;

use crate::error::{Error, ErrorKind};

/// Returns the error for a thread that panicked.
pub(crate) fn thread_failed() -> Error {
    Error::new(ErrorKind::Io, "a thread failed; nothing was changed")
        .with_hint("repeat the command; if it fails again, report it")
}

/// The number of items per core that [`ordered`] has in progress.
const IN_PROGRESS: u64 = 32;

/// Returns the number of cores.
pub(crate) fn cores() -> usize {
    // On Linux, the standard library reads the limits of the control group at each call.
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, NonZero::get))
}

/// Calls `work` on each of `items`, with a state that `state` creates for each thread. Calls `take` with each
/// item and its result, in the order of the items, on the calling thread. Stops at the first error of `take`
/// and returns it.
pub(crate) fn ordered<I: Sync, S, R: Send, E>(
    items: &[I],
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &I) -> R + Sync,
    take: impl FnMut(&I, R) -> Result<(), E>,
) -> Result<(), E> {
    let budget = Budget { most: cores() as u64 * IN_PROGRESS, cost: |_: &I| 1 };
    ordered_within(budget, items, state, work, take)
}

/// A limit for the sum of the costs of the items in progress. An item in progress is one that a thread has
/// taken and whose result is not consumed. An item that costs more than the limit is in progress alone.
pub(crate) struct Budget<Cost> {
    /// The greatest sum.
    pub(crate) most: u64,
    /// Returns the cost of an item.
    pub(crate) cost: Cost,
}

/// Works like [`ordered`], within `budget`. One thread works on all items that cost more than half of the
/// budget, because an allocator that keeps the memory of each thread would keep that of a heavy item. If no
/// thread can be made, the calling thread works on all items.
pub(crate) fn ordered_within<I: Sync, S, R: Send, E>(
    budget: Budget<impl Fn(&I) -> u64 + Sync>,
    items: &[I],
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &I) -> R + Sync,
    mut take: impl FnMut(&I, R) -> Result<(), E>,
) -> Result<(), E> {
    let threads = cores().min(items.len());
    if threads < 2 {
        return one_by_one(items, state, work, take);
    }
    let queue = &Queue { items, budget, state: Mutex::default(), changed: Condvar::new() };
    let (sender, receiver) = mpsc::channel();
    let (state, work) = (&state, &work);
    std::thread::scope(|scope| {
        let mut started = 0;
        for _ in 0..threads {
            let (sender, is_first) = (sender.clone(), started == 0);
            let thread = std::thread::Builder::new().spawn_scoped(scope, move || {
                let end = EndOnPanic(queue);
                let mut state = state();
                while let Some((number, item)) = queue.next(is_first) {
                    if sender.send((number, work(&mut state, item))).is_err() {
                        break;
                    }
                }
                std::mem::forget(end);
            });
            started += usize::from(thread.is_ok());
        }
        drop(sender);
        if started == 0 {
            return one_by_one(items, state, work, take);
        }
        let result = in_order(items, &receiver, |item, result| {
            take(item, result)?;
            queue.release(item);
            Ok(())
        });
        queue.end();
        result
    })
}

/// Works like [`ordered`] on the calling thread alone.
fn one_by_one<I, S, R, E>(
    items: &[I],
    state: impl Fn() -> S,
    work: impl Fn(&mut S, &I) -> R,
    mut take: impl FnMut(&I, R) -> Result<(), E>,
) -> Result<(), E> {
    let mut state = state();
    items.iter().try_for_each(|item| take(item, work(&mut state, item)))
}

/// Calls `take` with the results in the order of their numbers, until it fails.
fn in_order<I, R, E>(
    items: &[I],
    results: &mpsc::Receiver<(usize, R)>,
    mut take: impl FnMut(&I, R) -> Result<(), E>,
) -> Result<(), E> {
    let mut waiting = BTreeMap::new();
    let mut items = items.iter().enumerate().peekable();
    for (number, result) in results {
        waiting.insert(number, result);
        while let Some(result) = items.peek().and_then(|(number, _)| waiting.remove(number)) {
            if let Some((_, item)) = items.next() {
                take(item, result)?;
            }
        }
    }
    Ok(())
}

/// The items that no thread has taken, and the part of the budget in use.
struct Queue<'a, I, Cost> {
    items: &'a [I],
    budget: Budget<Cost>,
    state: Mutex<QueueState>,
    changed: Condvar,
}

#[derive(Default)]
struct QueueState {
    /// The number of the next item.
    next: usize,
    /// A heavy item before `next` that waits for the first thread.
    heavy: Option<usize>,
    in_use: u64,
    is_over: bool,
}

impl<'a, I, Cost: Fn(&I) -> u64> Queue<'a, I, Cost> {
    /// Waits until the budget has room for the next item, and returns it with its number; `None` if there is
    /// no more work for the thread. Room is given in the order of the items, because the consumer waits for
    /// the first one.
    fn next(&self, is_first_thread: bool) -> Option<(usize, &'a I)> {
        let mut state = self.lock();
        while !state.is_over {
            if is_first_thread && let Some(number) = state.heavy.take() {
                return Some((number, self.items.get(number)?));
            }
            let number = state.next;
            let item = self.items.get(number)?;
            let cost = (self.budget.cost)(item);
            if state.in_use > 0 && state.in_use + cost > self.budget.most {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            state.next += 1;
            state.in_use += cost;
            if is_first_thread || cost <= self.budget.most / 2 {
                return Some((number, item));
            }
            // There is no other: two heavy items exceed the budget.
            state.heavy = Some(number);
            self.changed.notify_all();
        }
        None
    }

    fn release(&self, item: &I) {
        let mut state = self.lock();
        state.in_use = state.in_use.saturating_sub((self.budget.cost)(item));
        self.changed.notify_all();
    }
}

impl<I, Cost> Queue<'_, I, Cost> {
    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends all threads after the items that they work on.
    fn end(&self) {
        self.lock().is_over = true;
        self.changed.notify_all();
    }
}

/// Ends all threads when it is dropped, which only a panic does: the result of the thread would never arrive.
struct EndOnPanic<'a, 'b, I, Cost>(&'a Queue<'b, I, Cost>);

impl<I, Cost> Drop for EndOnPanic<'_, '_, I, Cost> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Divides `items`, in order, into batches of at most `count` items and `bytes` bytes. An item of more than
/// `bytes` bytes is a batch of its own.
pub(crate) fn batches<I>(
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

/// Divides `items`, in order, into two parts whose costs are as equal as possible. A single item is in the first part.
pub(crate) fn halves<I>(items: &[I], cost: impl Fn(&I) -> usize) -> (&[I], &[I]) {
    let total: usize = items.iter().map(&cost).sum();
    let mut before = 0;
    let (mut difference, mut count) = (total, 0);
    for (index, item) in items.iter().enumerate() {
        before += cost(item);
        if total.abs_diff(2 * before) <= difference {
            (difference, count) = (total.abs_diff(2 * before), index + 1);
        }
    }
    items.split_at(count)
}

/// Returns the results of both, which run at the same time, or one after the other if no thread can be made. The
/// second one is an error if its thread panicked.
pub(crate) fn join<A, B: Send>(
    one: impl FnOnce() -> A,
    mut other: impl FnMut() -> B + Send,
) -> (A, Result<B, Error>) {
    let (one, started) = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().spawn_scoped(scope, &mut other);
        (one(), thread.map(ScopedJoinHandle::join))
    });
    let other = started.unwrap_or_else(|_| Ok(other()));
    (one, other.map_err(|_| thread_failed()))
}

/// Fewer items are sorted by one thread.
const MANY_TO_SORT: usize = 10_000;

/// Sorts `items`. Equal ones stay in their order.
pub(crate) fn sort_by<T: Send>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering + Sync) {
    if items.len() >= MANY_TO_SORT {
        let part = items.len().div_ceil(cores());
        std::thread::scope(|scope| {
            for part in items.chunks_mut(part) {
                let sort = || part.sort_by(&compare);
                // A part that no thread sorts is sorted below.
                drop(std::thread::Builder::new().spawn_scoped(scope, sort));
            }
        });
    }
    // The standard library finds the parts that are sorted and merges them.
    items.sort_by(compare);
}

/// Returns the result of `work` for each of `items`, in their order.
pub(crate) fn map<I: Sync, R: Send>(items: &[I], work: impl Fn(&I) -> R + Sync) -> Vec<R> {
    let mut results = Vec::with_capacity(items.len());
    let budget = Budget { most: 0, cost: |_: &I| 0 };
    let Ok(()) = ordered_within(
        budget,
        items,
        || (),
        |(), item| work(item),
        |_, result| {
            results.push(result);
            Ok::<_, Infallible>(())
        },
    );
    results
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn many_items_are_sorted_and_equal_ones_stay_in_order() {
        for count in [0, 1, 100, 3 * MANY_TO_SORT + 1] {
            let mut items: Vec<_> =
                (0..count).map(|number| (number * 7919 % 101, number)).collect();
            let mut expected = items.clone();
            expected.sort_unstable();
            sort_by(&mut items, |one, other| one.0.cmp(&other.0));
            assert!(items == expected, "{count} items");
        }
    }

    #[test]
    fn batches_stay_within_both_bounds() {
        let cut = |sizes: &[u64], count| {
            super::batches(sizes, count, 100, |size| *size).map(<[u64]>::len).collect::<Vec<_>>()
        };
        assert_eq!(cut(&[], 9), [0; 0]);
        assert_eq!(cut(&[1; 100], 100), [100]);
        assert_eq!(cut(&[1; 100], 60), [60, 40]);
        assert_eq!(cut(&[25; 10], 9), [4, 4, 2]);
        assert_eq!(cut(&[100, 1, 1, 101, 100], 9), [1, 2, 1, 1], "a large one alone");
    }

    #[test]
    fn halves_cost_as_much_as_each_other_if_possible() {
        for (costs, first) in [
            (&[][..], 0),
            (&[0, 0], 2),
            (&[5], 1),
            (&[4, 6], 1),
            (&[9, 1, 1], 1),
            (&[1, 1, 9], 2),
            (&[1, 1, 1, 1], 2),
        ] {
            let (one, other) = super::halves(costs, |cost| *cost);
            assert_eq!((one.len(), other.len()), (first, costs.len() - first), "{costs:?}");
        }
    }

    #[test]
    fn map_keeps_the_order_of_the_items() {
        let items: Vec<usize> = (0..1000).collect();
        assert_eq!(super::map(&items, |item| item * 2), (0..2000).step_by(2).collect::<Vec<_>>());
        assert_eq!(super::map(&[], |item: &usize| *item), [0; 0]);
    }

    /// Works on items that cost their value, and checks the order and the budget.
    fn assert_within(items: &[u64], most: u64) {
        let in_use = AtomicU64::new(0);
        let heavy = Mutex::new(Vec::new());
        let mut taken = Vec::new();
        let ended: Result<(), Infallible> = ordered_within(
            Budget { most, cost: |cost: &u64| *cost },
            items,
            || (),
            |(), cost| {
                let before = in_use.fetch_add(*cost, Ordering::SeqCst);
                assert!(before == 0 || before + cost <= most, "{before} + {cost}");
                if *cost > most / 2 {
                    heavy.lock().unwrap().push(std::thread::current().id());
                }
                if cost % 3 == 0 {
                    std::thread::yield_now();
                }
                *cost
            },
            |item, result| {
                assert_eq!(*item, result);
                in_use.fetch_sub(*item, Ordering::SeqCst);
                taken.push(result);
                Ok(())
            },
        );
        assert_eq!(ended, Ok(()));
        assert_eq!(taken, items);
        let mut heavy = heavy.into_inner().unwrap();
        heavy.dedup();
        assert!(heavy.len() <= 1, "one thread works on all heavy items");
    }

    #[test]
    fn items_in_progress_stay_within_the_budget() {
        let pattern = [1, 7, 3, 100, 2, 60, 51, 9, 250, 1, 1, 50];
        let items: Vec<u64> = pattern.into_iter().cycle().take(5000).collect();
        assert_within(&items, 100);
        assert_within(&[300, 300, 1, 300], 100);
        assert_within(&[], 100);
        assert_within(&vec![1; 3000], 1);
    }

    #[test]
    fn an_error_ends_the_work_early() {
        let items: Vec<usize> = (0..100_000).collect();
        let worked = AtomicUsize::new(0);
        let ended = ordered(
            &items,
            || (),
            |(), item| {
                worked.fetch_add(1, Ordering::SeqCst);
                *item
            },
            |_, result| if result == 10 { Err(result) } else { Ok(()) },
        );
        assert_eq!(ended, Err(10));
        assert!(worked.into_inner() < 10_000);
    }

    #[test]
    fn a_panic_of_a_thread_is_passed_on() {
        let items: Vec<usize> = (0..10_000).collect();
        let work = |item: &usize| assert!(*item != 5, "a panic that the test expects");
        let ended = std::panic::catch_unwind(|| {
            ordered(&items, || (), |(), item| work(item), |_, ()| Ok::<_, Infallible>(()))
        });
        assert!(ended.is_err());
    }
}
