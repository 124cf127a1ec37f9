//! The windows of a passage, and how a passage is cut.
//!
//! Invariants: the text of a window is verbatim. A passage is cut between units, each a line, the sentences of a
//! line that were chosen together, or an entry of HTML or JSX. The units that were chosen last are left out first. The header row of a table is
//! never kept without one of its rows.

use std::ops::Range;

use schemars::JsonSchema;
use serde::Serialize;

use super::piece::trimmed;
use crate::decoding;
use crate::position::{ByteSpan, LineIndex, next_line_start};

/// A part of a section, verbatim.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct PassageWindow {
    /// The first line, 1-based.
    pub line_start: usize,
    /// The last line, 1-based and inclusive.
    pub line_end: usize,
    /// The byte offset of the start in the file.
    pub byte_start: usize,
    /// The byte offset of the end, exclusive.
    pub byte_end: usize,
    /// The text, without the line end and trailing blanks.
    pub text: String,
    /// The number of bytes directly before it that are blanks or line ends.
    #[serde(skip)]
    pub(super) blanks_before: usize,
    /// Whether its last line has more text after it.
    #[serde(skip)]
    pub(super) ends_within_line: bool,
    /// Whether it is the header row of a table.
    #[serde(skip)]
    pub(super) is_header: bool,
    /// The parts of the text between which it can be cut, in order.
    #[serde(skip)]
    pub(super) units: Vec<Unit>,
    /// For each U+FFFD that stands for bytes that are not UTF-8: the byte offset of its end in the text, and the number
    /// of bytes by which the text up to there is longer than in the file.
    #[serde(skip)]
    pub(super) surplus: Vec<(usize, usize)>,
}

/// Where a chosen piece begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct PieceStart {
    /// The byte offset in the file.
    pub(super) at: usize,
    /// The place of the piece in the order of choice.
    pub(super) rank: usize,
    /// Whether the piece is not cut between its lines.
    pub(super) is_entry: bool,
}

/// The length of U+FFFD in UTF-8. It replaces at most as many bytes.
const REPLACEMENT: usize = char::REPLACEMENT_CHARACTER.len_utf8();

/// A part of the text of a window that is shown as a whole or not at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    /// The byte offset of its end in the text.
    end: usize,
    /// Its place in the order of choice. The units with the highest ranks are left out first.
    rank: usize,
}

/// A passage from which units were left out.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CutPassage {
    /// The remaining windows.
    pub(super) windows: Vec<PassageWindow>,
    /// The first and the last line of the rest: what follows the remaining windows, or the whole passage if something
    /// before their end was left out.
    pub(super) rest: (usize, usize),
    /// The line at which the passage goes on after the remaining windows, if it does.
    pub(super) next_line: Option<usize>,
}

impl PassageWindow {
    /// Returns a window whose lines and text are not set yet.
    pub(super) fn of(span: ByteSpan) -> Self {
        Self {
            line_start: 0,
            line_end: 0,
            byte_start: span.start,
            byte_end: span.end,
            text: String::new(),
            blanks_before: 0,
            ends_within_line: false,
            is_header: false,
            units: Vec::new(),
            surplus: Vec::new(),
        }
    }

    /// Sets the lines, the text without trailing blanks and line end, and the units. `starts` are those of the
    /// pieces, in order.
    pub(super) fn close(&mut self, bytes: &[u8], lines: &LineIndex, starts: &[PieceStart]) {
        self.blanks_before = blanks_at_end(bytes.get(..self.byte_start).unwrap_or_default());
        let text = trimmed(bytes.get(self.byte_start..self.byte_end).unwrap_or_default());
        self.byte_end = self.byte_start + text.len();
        let after = bytes.get(self.byte_end..next_line_start(bytes, self.byte_end));
        self.ends_within_line = after.is_some_and(|after| !after.trim_ascii().is_empty());
        let span = lines.lines(ByteSpan::new(self.byte_start, self.byte_end));
        (self.line_start, self.line_end) = (span.start, span.end.max(span.start));
        self.text = decoding::text(text).into_owned();
        let mut starts = starts.iter().peekable();
        let mut rank = starts.peek().map_or(0, |start| start.rank);
        let mut is_entry = false;
        if self.text.len() != text.len() {
            let (mut end, mut surplus) = (0, 0);
            for chunk in text.utf8_chunks().filter(|chunk| !chunk.invalid().is_empty()) {
                end += chunk.valid().len() + REPLACEMENT;
                surplus += REPLACEMENT - chunk.invalid().len();
                self.surplus.push((end, surplus));
            }
        }
        let mut at = self.byte_start;
        while at < self.byte_end {
            while let Some(start) = starts.next_if(|start| start.at <= at) {
                (rank, is_entry) = (start.rank, start.is_entry);
            }
            let line_end = next_line_start(bytes, at).min(self.byte_end);
            let part_end = if is_entry { self.byte_end } else { line_end };
            let end = starts.peek().map_or(part_end, |start| start.at.min(part_end));
            let is_blank = bytes.get(at..end).is_some_and(|unit| unit.trim_ascii().is_empty());
            // Blank lines are shown only between what is around them.
            let after = starts.peek().map_or(rank, |start| start.rank);
            let rank = if is_blank { rank.max(after) } else { rank };
            self.units.push(Unit { end: self.offset_in_text(end), rank });
            at = end;
        }
    }

    /// Divides units of several lines into lines.
    pub(super) fn divide_into_lines(&mut self) {
        let mut start = 0;
        let mut units = Vec::with_capacity(self.units.len());
        for unit in &self.units {
            let text = self.text.get(start..unit.end).unwrap_or_default();
            let mut at = start;
            units.extend(text_lines(text).map(|line| {
                at += line.len();
                Unit { end: at, ..*unit }
            }));
            start = unit.end;
        }
        self.units = units;
    }

    /// Returns the number of bytes by which the first `length` bytes of the text are longer than in the file.
    fn surplus(&self, length: usize) -> usize {
        let count = self.surplus.partition_point(|(end, _)| *end <= length);
        count.checked_sub(1).and_then(|last| self.surplus.get(last)).map_or(0, |(_, bytes)| *bytes)
    }

    /// Returns the offset in the text of a byte of the file; 0 before the window.
    fn offset_in_text(&self, in_file: usize) -> usize {
        let at = in_file.saturating_sub(self.byte_start);
        let count = self.surplus.partition_point(|(end, bytes)| end - bytes <= at);
        let last = count.checked_sub(1).and_then(|last| self.surplus.get(last));
        at + last.map_or(0, |(_, bytes)| *bytes)
    }

    /// Cuts the text to at most `chars` Unicode scalars of one line. It begins later if `hit`, a span in the
    /// file, would not be in it otherwise.
    pub(super) fn shorten(&mut self, chars: usize, hit: ByteSpan) {
        let (hit_start, hit_end) = (self.offset_in_text(hit.start), self.offset_in_text(hit.end));
        let before = self.text.get(..hit_end).unwrap_or_default();
        let start = if before.chars().count() > chars {
            let left_out = before.chars().count() - chars;
            let start = before.char_indices().nth(left_out).map_or(0, |(start, _)| start);
            let blank = before.get(start..).and_then(|rest| rest.find(' '));
            let start = blank.map_or(start, |blank| start + blank + 1);
            start.min(hit_start)
        } else {
            0
        };
        self.line_start += line_ends(self.text.get(..start).unwrap_or_default());
        let all = self.text.get(start..).unwrap_or_default();
        let text: String = all.chars().take(chars).take_while(|&scalar| scalar != '\n').collect();
        let rest = all.get(text.len()..).unwrap_or_default();
        self.ends_within_line = goes_on(rest, self.ends_within_line);
        let end = start + text.len();
        self.byte_end = self.byte_start + end - self.surplus(end);
        self.byte_start += start - self.surplus(start);
        self.text = text;
        self.line_end = self.line_start;
    }

    /// Returns the window with only the units in `range`; `None` if they are blank. Blank lines at the ends are left
    /// out.
    fn part(&self, range: Range<usize>) -> Option<Self> {
        let end_of = |count: usize| {
            count.checked_sub(1).map_or(0, |last| {
                self.units.get(last).map_or(self.text.len(), |unit| unit.end).min(self.text.len())
            })
        };
        let mut start = end_of(range.start);
        let mut text = self.text.get(start..end_of(range.end))?;
        while let Some(line) = text_lines(text).next().filter(|line| line.trim_ascii().is_empty()) {
            start += line.len();
            text = text.get(line.len()..)?;
        }
        let text = text.trim_ascii_end();
        if text.is_empty() {
            return None;
        }
        let end = start + text.len();
        let rest = self.text.get(end..)?;
        let surplus = self.surplus(start);
        let surplus_after = self.surplus.iter().filter(|(end, _)| *end > start);
        let line_start = self.line_start + line_ends(self.text.get(..start)?);
        let units = self.units.get(range.clone()).unwrap_or_default().iter();
        let units = units
            .filter(|unit| unit.end > start)
            .map(|unit| Unit { end: (unit.end - start).min(text.len()), ..*unit });
        Some(Self {
            line_start,
            line_end: line_start + line_ends(text),
            byte_start: self.byte_start + start - surplus,
            byte_end: self.byte_start + end - self.surplus(end),
            text: text.to_owned(),
            blanks_before: match blanks_at_end(self.text.get(..start)?.as_bytes()) {
                all if all == start => self.blanks_before + all,
                blanks => blanks,
            },
            ends_within_line: goes_on(rest, self.ends_within_line),
            is_header: self.is_header,
            units: units.collect(),
            surplus: surplus_after.map(|(end, bytes)| (end - start, bytes - surplus)).collect(),
        })
    }

    /// Returns the number of blank lines between `before` and this window; `None` if there is text between them.
    pub(super) fn blank_lines_after(&self, before: &Self) -> Option<usize> {
        let gap = self.byte_start.checked_sub(before.byte_end)?;
        let lines = self.line_start.checked_sub(before.line_end + 1)?;
        (gap <= self.blanks_before).then_some(lines)
    }
}

/// Returns whether the line that a text ends in has more text. `rest` is what follows in its window, whose own end is
/// within a line or not.
fn goes_on(rest: &str, ends_within_line: bool) -> bool {
    match text_lines(rest).next() {
        None => ends_within_line,
        Some(line) => !line.trim_ascii().is_empty(),
    }
}

/// The place of a unit in a passage: the index of its window, and its index there.
type UnitPlace = (usize, usize);

/// Returns the units of a passage in the order of choice, with their lengths in Unicode scalars without blanks at the
/// end.
fn in_order(passage: &[PassageWindow]) -> Vec<(UnitPlace, usize)> {
    let mut all = Vec::new();
    for (index, window) in passage.iter().enumerate() {
        let mut start = 0;
        for (number, unit) in window.units.iter().enumerate() {
            let text = window.text.get(start..unit.end).unwrap_or_default();
            all.push((unit.rank, (index, number), text.trim_ascii_end().chars().count()));
            start = unit.end;
        }
    }
    all.sort_unstable();
    all.into_iter().map(|(_, place, chars)| (place, chars)).collect()
}

/// Returns the numbers of units to which a passage can be cut so that at least `least` Unicode scalars remain.
pub(super) fn cuts(passage: &[PassageWindow], least: usize) -> Range<usize> {
    let units = in_order(passage);
    let mut kept = 0;
    let too_short = units.iter().take_while(|(_, chars)| {
        kept += chars;
        kept < least
    });
    let is_header = |(place, _): &(UnitPlace, usize)| is_in_header(passage, *place);
    let fewest = 1 + usize::from(units.first().is_some_and(is_header));
    fewest.max(too_short.count() + 1)..units.len()
}

/// Returns the greatest number of units that have at most `most` Unicode scalars together, and the first unit that is
/// not a header row.
pub(super) fn fitting(passage: &[PassageWindow], most: usize) -> (usize, Option<PassageWindow>) {
    let units = in_order(passage);
    let mut left = most;
    let fits = |(_, chars): &&(UnitPlace, usize)| {
        let fits = *chars < left;
        left = left.saturating_sub(chars + 1);
        fits
    };
    let mut count = units.iter().take_while(fits).count();
    let is_header =
        |index: usize| units.get(index).is_some_and(|(place, _)| is_in_header(passage, *place));
    if count.checked_sub(1).is_some_and(is_header) {
        count -= 1;
    }
    let best = units.iter().find(|(place, _)| !is_in_header(passage, *place));
    let best =
        best.and_then(|((index, number), _)| passage.get(*index)?.part(*number..*number + 1));
    (count, best)
}

fn is_in_header(passage: &[PassageWindow], (index, _): UnitPlace) -> bool {
    passage.get(index).is_some_and(|window| window.is_header)
}

/// Returns the best `count` units of a passage. Returns `None` if the passage has no more units than that, or if only a
/// header row would remain.
pub(super) fn cut(passage: &[PassageWindow], count: usize) -> Option<CutPassage> {
    let order = in_order(passage);
    let mut kept: Vec<UnitPlace> = order
        .get(..count)
        .filter(|kept| kept.len() < order.len())?
        .iter()
        .map(|(place, _)| *place)
        .collect();
    if kept.last().is_some_and(|last| is_in_header(passage, *last)) {
        kept.pop();
    }
    kept.sort_unstable();
    let mut windows = Vec::new();
    let mut next_line = None;
    let mut is_prefix = true;
    let mut kept = kept.into_iter().peekable();
    for (index, window) in passage.iter().enumerate() {
        let mut number = 0;
        while number < window.units.len() {
            let start = number;
            while kept.next_if_eq(&(index, number)).is_some() {
                number += 1;
            }
            if number > start {
                is_prefix &= next_line.is_none();
                if let Some(part) = window.part(start..number) {
                    windows.push(part);
                    next_line = None;
                }
                continue;
            }
            let left_out = window.part(number..number + 1);
            next_line = next_line.or(left_out.map(|part| part.line_start));
            number += 1;
        }
    }
    let (first, last) = (passage.first()?.line_start, passage.last()?.line_end);
    let rest = (next_line.filter(|_| is_prefix).unwrap_or(first), last);
    (!windows.is_empty()).then_some(CutPassage { windows, rest, next_line })
}

/// Returns the number of bytes at the end of a text that are blanks or line ends.
fn blanks_at_end(text: &[u8]) -> usize {
    text.len() - text.trim_ascii_end().len()
}

/// Returns the number of line ends of a text.
fn line_ends(text: &str) -> usize {
    text_lines(text).filter(|line| line.ends_with(['\n', '\r'])).count()
}

/// Returns the lines of a text with their line endings, as `CommonMark` defines them.
fn text_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (line, after) = rest.split_at_checked(next_line_start(rest.as_bytes(), 0))?;
        rest = after;
        (!line.is_empty()).then_some(line)
    })
}
