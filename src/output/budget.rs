//! Applies `--max-chars`, `--max-bytes` and `--max-tokens`: one mechanism for every answer and every format.
//!
//! Invariant: the output never exceeds the limit. The items printed are complete, and they are the first
//! items of the answer without a limit. If the first item does not fit, a part of it is printed with the
//! address of the remainder, so that the next request makes progress. If no part fits, nothing is
//! printed, and the error names a limit that is large enough.

use std::io;

use super::Rendered;
use crate::count::counted;
use crate::error::{Error, ErrorKind, Result};
use crate::limits;
use crate::markdown::words::measure;
use crate::query::List;

/// Number of sizes that are tried one by one. The length of a part is not monotonic in its size for
/// small sizes: a page of one word may have the longest address of the remainder.
const SMALLEST_SIZES: usize = 16;

/// An answer and its item both say whether they are truncated. `true` is one character shorter than `false`,
/// so both together are shorter by this many characters, which are as many bytes.
const TRUNCATED_CHARS: usize = 2;

/// The length of an output, or a limit of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutputLength {
    /// The number of Unicode scalars; the greatest number for no limit.
    pub(crate) chars: usize,
    /// The number of bytes; the greatest number for no limit.
    pub(crate) bytes: usize,
    /// The number of tokens of a model, estimated from the bytes; the greatest number for no limit.
    pub(crate) tokens: usize,
}

/// The number of bytes that are counted as one token of a model.
///
/// Three tokenizers, with 65,000, 100,000 and 200,000 tokens, made one of 3.1 to 4.2 bytes of English documentation and
/// of 2.6 to 3.6 bytes of Chinese and Japanese. The smallest one needed a token for 2.0 bytes of Arabic.
const BYTES_PER_TOKEN: usize = 3;

impl OutputLength {
    /// No limit.
    pub(super) const UNLIMITED: Self =
        Self { chars: usize::MAX, bytes: usize::MAX, tokens: usize::MAX };

    /// Returns the length of `bytes`.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self { chars: measure(bytes).chars, ..Self::of_ascii(bytes.len()) }
    }

    /// Returns the length of an output of this many bytes, all of them ASCII.
    pub(crate) fn of_ascii(bytes: usize) -> Self {
        Self { chars: bytes, bytes, tokens: bytes.div_ceil(BYTES_PER_TOKEN) }
    }

    /// Returns a limit of `most` Unicode scalars.
    #[cfg(feature = "mcp")]
    pub(crate) fn of_chars(most: usize) -> Self {
        Self { chars: most, ..Self::UNLIMITED }
    }

    /// Returns the greatest number of Unicode scalars that this limit allows. Each takes a byte or more.
    pub(crate) fn most_chars(self) -> usize {
        self.chars.min(self.most_bytes())
    }

    /// Returns the greatest number of bytes that this limit allows. A scalar has at most four in UTF-8.
    fn most_bytes(self) -> usize {
        let of_tokens = self.tokens.saturating_mul(BYTES_PER_TOKEN);
        self.chars.saturating_mul(4).min(self.bytes).min(of_tokens)
    }

    /// Returns whether an output of this length respects the limit `most`.
    pub(crate) fn fits(self, most: Self) -> bool {
        self.chars <= most.chars && self.bytes <= most.bytes && self.tokens <= most.tokens
    }

    /// Returns a limit that is larger by this many characters of ASCII.
    fn and(self, ascii: usize) -> Self {
        self.with(self, |length, _| length.saturating_add(ascii))
    }

    /// Returns what `combine` returns for the numbers of both, unit by unit.
    fn with(self, other: Self, combine: impl Fn(usize, usize) -> usize) -> Self {
        Self {
            chars: combine(self.chars, other.chars),
            bytes: combine(self.bytes, other.bytes),
            tokens: combine(self.tokens, other.tokens),
        }
    }

    /// Returns the number by which outputs are compared under the limit `most`.
    fn decisive(self, most: Self) -> usize {
        if most.bytes.min(most.tokens) == usize::MAX { self.chars } else { self.bytes }
    }
}

/// Returns the error for the limit `most`; the limit `enough` suffices.
pub(crate) fn too_small(
    most: OutputLength,
    enough: OutputLength,
    caller: super::Caller<'_>,
) -> Error {
    let option = match caller {
        super::Caller::CommandLine => "--max-chars",
        super::Caller::Mcp { .. } => "max_chars",
    };
    let (mut limits, mut options) = (Vec::new(), Vec::new());
    if enough.chars > most.chars || most.bytes.min(most.tokens) == usize::MAX {
        limits.push(counted(most.chars, "character"));
        options.push(format!("{option} {}", enough.chars));
    }
    if enough.bytes > most.bytes {
        limits.push(counted(most.bytes, "byte"));
        options.push(format!("--max-bytes {}", enough.bytes));
    }
    if enough.tokens > most.tokens {
        limits.push(format!("{} of {BYTES_PER_TOKEN} bytes", counted(most.tokens, "token")));
        options.push(format!("--max-tokens {}", enough.tokens));
    }
    let message = format!("the answer does not fit in {}", limits.join(" and "));
    Error::new(ErrorKind::BudgetTooSmall, message)
        .with_hint(format!("use {} or more", options.join(" and ")))
}

/// A buffer with a maximum length. A write that exceeds the maximum fails at once. So JSON that is too long, which is
/// written in small parts, costs no more than one that fits.
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
            return Err(io::Error::other("the limit is exceeded"));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns what `write` writes and returns, or `None` if that is longer than `most`.
pub(super) fn within(
    most: OutputLength,
    write: impl FnOnce(&mut dyn io::Write) -> Result<Vec<String>>,
) -> Result<Option<Rendered>> {
    let mut bounded = Bounded { bytes: Vec::new(), most_bytes: most.most_bytes(), is_full: false };
    match write(&mut bounded) {
        Err(_) if bounded.is_full => Ok(None),
        Err(error) => Err(error),
        Ok(messages) => {
            let bytes = bounded.bytes;
            let length = OutputLength::of(&bytes);
            Ok(length.fits(most).then_some(Rendered { bytes, length, messages }))
        }
    }
}

/// An answer that is to be cut to a limit.
pub(super) struct Fitting<'a, Answer> {
    pub(super) answer: &'a Answer,
    /// The maximum length of the output.
    pub(super) most: OutputLength,
    /// Renders an answer; returns `None` if it is longer than the given limit.
    pub(super) render: &'a dyn Fn(&Answer, OutputLength) -> Result<Option<Rendered>>,
    /// Puts the messages of an answer into the words of the caller.
    pub(super) reword: &'a dyn Fn(&mut Answer),
    pub(super) caller: super::Caller<'a>,
}

impl<Answer: List> Fitting<'_, Answer> {
    fn try_render(&self, answer: &Answer) -> Result<Option<Rendered>> {
        (self.render)(answer, self.most)
    }

    /// Renders as much of the answer as fits.
    pub(super) fn run(&self) -> Result<Rendered> {
        if let Some(longer) = self.answer.longer()
            && let Some(whole) = self.try_render(&longer)?
        {
            return Ok(whole);
        }
        // A part of the last item that is all of it is shorter by these characters, so it may fit although nothing
        // is left out.
        let most_of_parts = match (self.render)(self.answer, self.most.and(TRUNCATED_CHARS))? {
            Some(whole) if whole.length.fits(self.most) => return Ok(whole),
            Some(whole) => self.most.with(whole.length, |most, whole| {
                if whole > most { whole.saturating_sub(TRUNCATED_CHARS + 1) } else { most }
            }),
            None => self.most,
        };
        let first = self.answer.first(self.answer.least());
        let mut brief = first.clone();
        if let Some(page) = brief.page_mut() {
            page.shorten();
        }
        match self.shortened(&first, &brief, most_of_parts)? {
            Some(rendered) => Ok(rendered),
            None => Err(too_small(self.most, self.smallest(&brief)?, self.caller)),
        }
    }

    /// Renders as much of the answer as fits; the whole does not. `first` has only the first item, and
    /// `brief` also has shorter messages. An answer whose last item is cut is at most as long as `most_of_parts`.
    fn shortened(
        &self,
        first: &Answer,
        brief: &Answer,
        most_of_parts: OutputLength,
    ) -> Result<Option<Rendered>> {
        let parts = Self { most: most_of_parts, ..*self };
        if let Some((count, items)) = self.most_items()? {
            return Ok(Some(parts.with_cut(count)?.unwrap_or(items)));
        }
        if let Some(part) = parts.part_of(first)? {
            return Ok(Some(part));
        }
        // A few suggestions for an address that names nothing are better than none.
        let with_fewer = self.largest(limits::MAX_CANDIDATES_SHOWN, |most| {
            let mut fewer = first.clone();
            fewer.page_mut()?.keep_suggestions(most).then_some(fewer)
        })?;
        if with_fewer.is_some() {
            return Ok(with_fewer);
        }
        // The room of many messages is that of many items.
        let mut answer = self.answer.clone();
        if let Some(page) = answer.page_mut() {
            page.shorten();
        }
        let Self { most, render, reword, caller, .. } = *self;
        let shorter = Fitting { answer: &answer, most, render, reword, caller };
        if let Some((count, items)) = shorter.most_items()? {
            let parts = Fitting { most: most_of_parts, ..shorter };
            return Ok(Some(parts.with_cut(count)?.unwrap_or(items)));
        }
        match parts.try_render(brief)? {
            Some(rendered) => Ok(Some(rendered)),
            None => parts.part_of(brief),
        }
    }

    /// Returns the largest number of items that fits, at least [`List::least`], and its rendering. The
    /// length of each rendering predicts the next number to try, so few renderings are needed.
    fn most_items(&self) -> Result<Option<(usize, Rendered)>> {
        let mut low = self.answer.least();
        let mut high = self.answer.count();
        if low >= high {
            return Ok(None);
        }
        let Some(mut best) = self.try_render(&self.answer.first(low))? else { return Ok(None) };
        let mut each = best.length.with(best.length, |length, _| (length / low.max(1)).max(1));
        let mut is_too_high = false;
        while high - low > 1 {
            let guess = if is_too_high {
                low.midpoint(high)
            } else {
                let room = self.most.with(best.length, usize::saturating_sub);
                let more = room.with(each, |room, each| room / each);
                low.saturating_add(more.chars.min(more.bytes).min(more.tokens))
                    .clamp(low + 1, high - 1)
            };
            match self.try_render(&self.answer.first(guess))? {
                Some(rendered) => {
                    let added = rendered.length.with(best.length, usize::saturating_sub);
                    each = added.with(added, |added, _| (added / (guess - low)).max(1));
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

    /// Renders the first `count` items and as many lines of the next item as fit, if that item can be
    /// cut.
    fn with_cut(&self, count: usize) -> Result<Option<Rendered>> {
        let cuts = self.answer.cuts_of(count);
        if cuts.is_empty() {
            return Ok(None);
        }
        let more = self.answer.first(count + 1);
        self.largest(cuts.len(), |size| {
            let mut cut = more.clone();
            cut.cut_last(cuts.start + size - 1).then_some(cut)
        })
    }

    /// Renders the largest part of the only item of `first` that fits.
    fn part_of(&self, first: &Answer) -> Result<Option<Rendered>> {
        self.largest(first.sizes_of_first(), |size| self.part(first, size))
    }

    /// Renders the answer that `make` returns for the largest size from 1 to `most` that fits.
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
            // Double the size until one is too large: the part that fits is usually far smaller than the
            // whole.
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

    /// Returns the length of the smallest rendering; `brief` has only the first item. The part of
    /// an item may be longer than the item, because it has the address of the remainder.
    fn smallest(&self, brief: &Answer) -> Result<OutputLength> {
        let sizes = brief.sizes_of_first().min(SMALLEST_SIZES);
        let mut smallest = OutputLength::UNLIMITED;
        let parts = (1..=sizes).filter_map(|size| self.part(brief, size));
        for form in parts.chain([brief.clone()]) {
            let rendered = (self.render)(&form, OutputLength::UNLIMITED)?;
            let lengths = rendered.map(|rendered| rendered.length).into_iter().chain([smallest]);
            smallest = lengths.min_by_key(|it| it.decisive(self.most)).unwrap_or(smallest);
        }
        // The length in a unit without a limit does not matter.
        let limit = self.most.with(smallest, usize::max);
        let whole = (self.render)(self.answer, limit.and(TRUNCATED_CHARS))?;
        Ok(whole.map_or(smallest, |whole| whole.length))
    }

    /// Returns `first` with its only item cut to `size`, or `None` if it cannot be cut.
    fn part(&self, first: &Answer, size: usize) -> Option<Answer> {
        let mut cut = first.clone();
        if !cut.cut_first(size) {
            return None;
        }
        // A message about the cut was added.
        (self.reword)(&mut cut);
        if let Some(page) = cut.page_mut() {
            page.truncated = true;
        }
        Some(cut)
    }
}
