//! The budget of `--max-chars`: one mechanism for every answer and every format.
//!
//! Invariant (contract, section 4): never more than the budget; the items given are whole and the
//! first ones of the answer without a budget; where not even the first fits, a page of it does, so
//! that going on always comes further; where that cannot hold a word, nothing is printed.

use super::Rendered;
use crate::error::{Error, ErrorKind, Result};
use crate::query::List;

/// Unicode scalars of `bytes`, invalid sequences as they are shown.
pub(super) fn chars(bytes: &[u8]) -> usize {
    crate::markdown::words::measure(bytes).chars
}

pub(super) fn too_small(most: usize) -> Error {
    Error::new(ErrorKind::BudgetTooSmall, format!("{most} characters hold no answer"))
        .with_hint("give --max-chars more")
}

/// Renders as many items of `answer` as fit into `most` characters.
pub(super) fn fit<Answer: List>(
    answer: &Answer,
    most: usize,
    render: impl Fn(&Answer) -> Result<Rendered>,
) -> Result<Rendered> {
    let whole = render(answer)?;
    if chars(&whole.bytes) <= most {
        return Ok(whole);
    }
    let fits = |candidate: &Answer| -> Result<Option<Rendered>> {
        let rendered = render(candidate)?;
        Ok((chars(&rendered.bytes) <= most).then_some(rendered))
    };
    if let Some(rendered) = largest(answer.count().saturating_sub(1), |count| {
        if count < answer.least() { Ok(None) } else { fits(&answer.first(count)) }
    })? {
        return Ok(rendered);
    }
    if answer.least() == 0
        && let Some(rendered) = fits(&answer.first(0))?
    {
        return Ok(rendered);
    }
    let page = largest(answer.words_of_first(), |words| match answer.first_page(words) {
        Some(page) => fits(&page),
        None => Ok(None),
    })?;
    page.ok_or_else(|| too_small(most))
}

/// What `try_size` gives for the largest size from 1 to `most` for which it gives anything, found by
/// halving: larger sizes need more room. Among the smallest that need not hold, because the hint to go
/// on differs by a few characters; they are all tried where halving found none.
fn largest(
    most: usize,
    try_size: impl Fn(usize) -> Result<Option<Rendered>>,
) -> Result<Option<Rendered>> {
    let (mut fitting, mut too_large) = (0, most + 1);
    let mut best = None;
    while too_large - fitting > 1 {
        let middle = fitting.midpoint(too_large);
        match try_size(middle)? {
            Some(rendered) => {
                fitting = middle;
                best = Some(rendered);
            }
            None => too_large = middle,
        }
    }
    if best.is_none() {
        // The smallest sizes need not be ordered: a page of one word may carry the longest hint.
        for size in 1..=most.min(16) {
            best = try_size(size)?;
            if best.is_some() {
                break;
            }
        }
    }
    Ok(best)
}
