//! The budget of `--max-chars`: one mechanism for every answer and every format.
//!
//! Invariant: never more than the budget; the items given are whole and the first ones of the answer
//! without a budget; if not even the first fits, a part of it does with an address of the rest, so that
//! going on makes progress; if no part of it does, nothing is printed and the error says what would do.

use std::io;

use super::Rendered;
use crate::error::{Error, ErrorKind, Result};
use crate::markdown::words::measure;
use crate::query::List;

/// Sizes of parts that need not be ordered by the room they need: a page of one word may carry the longest
/// address of the rest.
const SMALLEST_SIZES: usize = 16;

/// Refuses a budget of `most` characters; `enough` would do.
pub(super) fn too_small(most: usize, enough: usize, caller: super::Caller) -> Error {
    let (option, enough) = match caller {
        super::Caller::CommandLine => ("--max-chars", enough),
        super::Caller::Mcp { frame } => ("max_chars", enough + frame),
    };
    Error::new(ErrorKind::BudgetTooSmall, format!("{most} characters hold no answer"))
        .with_hint(format!("give {option} {enough} or more"))
}

/// Bytes that hold no more than a number of Unicode scalars; more are refused as they come, so that what
/// does not fit costs no more than what does.
#[derive(Debug)]
struct Bounded {
    bytes: Vec<u8>,
    most_bytes: usize,
    is_full: bool,
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

/// What `write` writes and returns, if that is no more than `most` characters.
pub(super) fn within(
    most: usize,
    write: impl FnOnce(&mut dyn io::Write) -> Result<Vec<String>>,
) -> Result<Option<Rendered>> {
    // No scalar has more than four bytes.
    let most_bytes = most.saturating_mul(4);
    let mut bounded = Bounded { bytes: Vec::new(), most_bytes, is_full: false };
    match write(&mut bounded) {
        Err(_) if bounded.is_full => Ok(None),
        Err(error) => Err(error),
        Ok(remarks) => {
            let bytes = bounded.bytes;
            let chars = measure(&bytes).chars;
            Ok((chars <= most).then_some(Rendered { bytes, chars, remarks }))
        }
    }
}

/// An answer on its way into a budget.
pub(super) struct Fitting<'a, Answer> {
    pub(super) answer: &'a Answer,
    /// Characters at most.
    pub(super) most: usize,
    /// Renders an answer, if it is no longer than that many characters.
    pub(super) render: &'a dyn Fn(&Answer, usize) -> Result<Option<Rendered>>,
    pub(super) caller: super::Caller,
}

impl<Answer: List> Fitting<'_, Answer> {
    fn try_render(&self, answer: &Answer) -> Result<Option<Rendered>> {
        (self.render)(answer, self.most)
    }

    /// Renders as much of the answer as fits.
    pub(super) fn run(&self) -> Result<Rendered> {
        if let Some(whole) = self.try_render(self.answer)? {
            return Ok(whole);
        }
        if let Some((count, items)) = self.most_items()? {
            return Ok(self.with_cut(count)?.unwrap_or(items));
        }
        let first = self.answer.first(self.answer.least());
        if let Some(part) = self.part_of(&first)? {
            return Ok(part);
        }
        let mut brief = first;
        if let Some(page) = brief.page_mut() {
            page.shorten();
        }
        if let Some(rendered) = self.try_render(&brief)? {
            return Ok(rendered);
        }
        match self.part_of(&brief)? {
            Some(part) => Ok(part),
            None => Err(too_small(self.most, self.smallest(&brief)?, self.caller)),
        }
    }

    /// The most items that fit, at least the least number that is of use. The next number to try is computed
    /// from the length of the last one, so that a few tries are enough.
    fn most_items(&self) -> Result<Option<(usize, Rendered)>> {
        let mut low = self.answer.least();
        let mut high = self.answer.count();
        if low >= high {
            return Ok(None);
        }
        let Some(mut best) = self.try_render(&self.answer.first(low))? else { return Ok(None) };
        let mut chars_each = (best.chars / low.max(1)).max(1);
        let mut is_too_high = false;
        while high - low > 1 {
            let guess = if is_too_high {
                low.midpoint(high)
            } else {
                low.saturating_add((self.most - best.chars) / chars_each).clamp(low + 1, high - 1)
            };
            match self.try_render(&self.answer.first(guess))? {
                Some(rendered) => {
                    let added = rendered.chars.saturating_sub(best.chars);
                    chars_each = (added / (guess - low)).max(1);
                    is_too_high = false;
                    (low, best) = (guess, rendered);
                }
                None => {
                    high = guess;
                    is_too_high = true;
                }
            }
        }
        Ok(Some((low, best)))
    }

    /// The first `count` items and as many lines of the next as fit, if it may be cut.
    fn with_cut(&self, count: usize) -> Result<Option<Rendered>> {
        let lines = self.answer.lines_of(count).saturating_sub(1);
        if lines == 0 {
            return Ok(None);
        }
        let more = self.answer.first(count + 1);
        self.largest(lines, |lines| {
            let mut cut = more.clone();
            cut.cut_last(lines).then_some(cut)
        })
    }

    /// The largest part of the only item of `first` that fits.
    fn part_of(&self, first: &Answer) -> Result<Option<Rendered>> {
        self.largest(first.sizes_of_first(), |size| part(first, size))
    }

    /// What `make` makes of the largest size from 1 to `most` that fits.
    fn largest(
        &self,
        most: usize,
        make: impl Fn(usize) -> Option<Answer>,
    ) -> Result<Option<Rendered>> {
        let try_size = |size: usize| match make(size) {
            Some(answer) => self.try_render(&answer),
            None => Ok(None),
        };
        let (mut fitting, mut too_large) = (0, most + 1);
        let mut best = None;
        while too_large - fitting > 1 {
            // Until something is too large the size is doubled: what fits is mostly far less than all.
            let is_open = too_large > most && fitting < most / 2;
            let middle = if is_open { fitting * 2 + 1 } else { fitting.midpoint(too_large) };
            match try_size(middle)? {
                Some(rendered) => {
                    fitting = middle;
                    best = Some(rendered);
                }
                None => too_large = middle,
            }
        }
        for size in 1..=most.min(SMALLEST_SIZES) {
            if best.is_some() {
                break;
            }
            best = try_size(size)?;
        }
        Ok(best)
    }

    /// The characters of the smallest form of the answer, whose first item alone `brief` has.
    fn smallest(&self, brief: &Answer) -> Result<usize> {
        let sizes = brief.sizes_of_first().min(SMALLEST_SIZES);
        let mut smallest = usize::MAX;
        let forms = (1..=sizes).filter_map(|size| part(brief, size));
        for form in forms.chain((sizes == 0).then(|| brief.clone())) {
            let rendered = (self.render)(&form, usize::MAX)?;
            smallest = smallest.min(rendered.map_or(usize::MAX, |rendered| rendered.chars));
        }
        Ok(smallest)
    }
}

/// The only item of `first` cut to `size`.
fn part<Answer: List>(first: &Answer, size: usize) -> Option<Answer> {
    let mut cut = first.clone();
    if !cut.cut_first(size) {
        return None;
    }
    if let Some(page) = cut.page_mut() {
        page.truncated = true;
    }
    Some(cut)
}
