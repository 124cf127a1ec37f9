//! The budget of `--max-chars`: one mechanism for every answer and every format.
//!
//! Invariant (contract, section 4): never more than the budget; the items given are whole and the
//! first ones of the answer without a budget; where not even the first fits, a page of it does, so
//! that going on always comes further; where that cannot hold a word, nothing is printed.

use std::io;

use super::Rendered;
use crate::error::{Error, ErrorKind, Result};
use crate::query::List;

/// Unicode scalars of `bytes`, invalid sequences as they are shown.
fn chars(bytes: &[u8]) -> usize {
    crate::markdown::words::measure(bytes).chars
}

pub(super) fn too_small(most: usize) -> Error {
    Error::new(ErrorKind::BudgetTooSmall, format!("{most} characters hold no answer"))
        .with_hint("give --max-chars more")
}

/// Bytes that hold no more than a number of Unicode scalars; more are refused as they come, so that what
/// does not fit costs no more than what does.
#[derive(Debug)]
pub(super) struct Bounded {
    bytes: Vec<u8>,
    most_bytes: usize,
    is_full: bool,
}

impl Bounded {
    fn new(most: usize) -> Self {
        // No scalar has more than four bytes.
        Self { bytes: Vec::new(), most_bytes: most.saturating_mul(4), is_full: false }
    }
}

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.is_full |= self.bytes.len() + bytes.len() > self.most_bytes;
        if self.is_full {
            return Err(io::Error::other("more than the budget"));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What `write` writes and tells, where that is no more than `most` characters.
pub(super) fn within(
    most: usize,
    write: impl FnOnce(&mut dyn io::Write) -> Result<Vec<String>>,
) -> Result<Option<Rendered>> {
    let mut bounded = Bounded::new(most);
    match write(&mut bounded) {
        Err(_) if bounded.is_full => Ok(None),
        Err(error) => Err(error),
        Ok(remarks) => {
            let bytes = bounded.bytes;
            Ok((chars(&bytes) <= most).then_some(Rendered { bytes, remarks }))
        }
    }
}

/// Renders as many items of `answer` as fit; `render` gives nothing for what does not.
pub(super) fn fit<Answer: List>(
    answer: &Answer,
    most: usize,
    render: impl Fn(&Answer) -> Result<Option<Rendered>>,
) -> Result<Rendered> {
    if let Some(whole) = render(answer)? {
        return Ok(whole);
    }
    // Less than the least is of no use, and says nothing of what more would need.
    let below = answer.least().max(1) - 1;
    let sizes = answer.count().saturating_sub(1 + below);
    let whole = largest(sizes, |size| render(&answer.first(size + below)))?;
    let count = whole.as_ref().map_or(0, |(size, _)| size + below);
    let lines = answer.lines_of(count).saturating_sub(1);
    let cut = largest(lines, |lines| match answer.first_and_cut(count, lines) {
        Some(answer) => render(&answer),
        None => Ok(None),
    })?;
    if let Some((_, rendered)) = cut.or(whole) {
        return Ok(rendered);
    }
    if answer.least() == 0
        && let Some(rendered) = render(&answer.first(0))?
    {
        return Ok(rendered);
    }
    if let Some(bare) = answer.first_bare()
        && let Some(rendered) = render(&bare)?
    {
        return Ok(rendered);
    }
    let page = largest(answer.words_of_first(), |words| match answer.first_page(words) {
        Some(page) => render(&page),
        None => Ok(None),
    })?;
    page.map(|(_, rendered)| rendered).ok_or_else(|| too_small(most))
}

/// The size and what `try_size` gives for the largest size from 1 to `most` for which it gives anything, found by
/// doubling and halving: larger sizes need more room. Among the smallest that need not hold, because the hint to go
/// on differs by a few characters; they are all tried where halving found none.
fn largest(
    most: usize,
    try_size: impl Fn(usize) -> Result<Option<Rendered>>,
) -> Result<Option<(usize, Rendered)>> {
    let (mut fitting, mut too_large) = (0, most + 1);
    let mut best = None;
    while too_large - fitting > 1 {
        // Until something is too large the size is doubled: what fits is mostly far less than all.
        let is_open = too_large > most && fitting < most / 2;
        let middle = if is_open { fitting * 2 + 1 } else { fitting.midpoint(too_large) };
        match try_size(middle)? {
            Some(rendered) => {
                fitting = middle;
                best = Some((middle, rendered));
            }
            None => too_large = middle,
        }
    }
    if best.is_none() {
        // The smallest sizes need not be ordered: a page of one word may carry the longest hint.
        for size in 1..=most.min(16) {
            best = try_size(size)?.map(|rendered| (size, rendered));
            if best.is_some() {
                break;
            }
        }
    }
    Ok(best)
}
