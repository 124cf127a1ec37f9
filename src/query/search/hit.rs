//! Hits as they are shown, and how they are cut to a number of lines or characters.
//!
//! Invariant: a hit whose passage or text was cut has the address of the rest.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::window::{self, PassageWindow};
use crate::address::lines_address;
use crate::limits;
use crate::position::{ByteSpan, LineSpan};
use crate::query::freshness::Freshness;
use crate::query::page::{longest, shorten};

/// A hit of a search.
#[derive(Clone, Debug, JsonSchema, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a field of the answer")]
pub struct Hit {
    /// The address of text that contains the hit. Empty if only titles or lines are requested.
    pub selector: String,
    /// The type of the node at that address as a word for people.
    #[serde(skip)]
    pub word: &'static str,
    /// The address of the innermost section.
    pub section: Arc<str>,
    /// The address of the innermost LDMD section, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ldmd: Option<String>,
    /// The titles from the top-level section to the innermost section.
    pub heading_path: Arc<[String]>,
    /// The path of the document.
    pub file: Arc<str>,
    /// The line on which the hit begins, 1-based.
    pub line: usize,
    /// The column at which the hit begins, 1-based, in Unicode scalars.
    pub column: usize,
    /// The line on which the hit ends, if it spans several lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_end: Option<usize>,
    /// The byte offset of the hit in the file.
    pub byte_start: usize,
    /// The byte offset of the end of the hit, exclusive.
    pub byte_end: usize,
    /// The lines of the hit, or the match alone if requested.
    pub text: Arc<str>,
    /// Whether the text is only a part of a long line.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub text_cut: bool,
    /// Whether the beginning of the line is left out of the text.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub text_cut_before: bool,
    /// Whether the end of the line is left out of the text.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub text_cut_after: bool,
    /// Whether the text is the match alone.
    #[serde(skip)]
    pub is_match_only: bool,
    /// The context lines before the hit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<String>,
    /// The context lines after the hit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    /// The numbers of the context lines that are only the beginning of a long line, 1-based.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub context_cut: Vec<usize>,
    /// The score of the section from the index, or from the fusion of several queries. The first hits are not in its
    /// order, because they are ranked by how much of the question they contain, too; see `score_parts`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// The parts of the score that determined the rank, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score_parts: Option<ScoreParts>,
    /// For words: the parts of the section that cover most of the question.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub passage: Vec<PassageWindow>,
    /// The address of the rest of the passage, if the passage is cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rest: Option<String>,
    /// The last line of the rest of the passage, 1-based, if `rest` names lines.
    #[serde(skip)]
    pub(super) rest_end: Option<usize>,
    /// The line at which the passage goes on after its last window, 1-based, if that was cut.
    #[serde(skip)]
    pub(super) next_line: Option<usize>,
    /// Whether the passage is cut to fit the limit of characters.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// The addresses of sections with nearly the same text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub duplicates: Vec<String>,
    /// The indices of the queries that found it, 0-based, if there are several queries.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub queries: Vec<usize>,
    /// Whether one of the texts has bytes that are not UTF-8, which are shown as U+FFFD.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lossy: bool,
    /// Whether the file differs from the stored document.
    #[serde(flatten)]
    pub freshness: Freshness,
}

/// The parts of what ranks a section; the first hits are in the order of their sums.
#[derive(Clone, Copy, Debug, Default, JsonSchema, Serialize)]
pub struct ScoreParts {
    /// The score of the section divided by the best score, at most 1.
    pub ranking: f64,
    /// The square of the weighted share of the question that the titles and the best piece of the
    /// section contain, times 3, and a bonus if the titles have all words. The mean if there are several wordings.
    pub coverage: f64,
}

impl ScoreParts {
    /// Returns the sum of the parts.
    pub(super) fn sum(self) -> f64 {
        self.ranking + self.coverage
    }
}

/// The parts of a hit besides its position and its lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HitDetail {
    /// None. A hit of words has titles.
    Lines,
    /// The titles above the hit.
    Titles,
    /// The titles above the hit, and the addresses of the hit and of its sections.
    Addresses,
}

/// The context to print with a hit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextLines {
    /// Number of context lines before the hit.
    pub before: usize,
    /// Number of context lines after the hit.
    pub after: usize,
    /// Whether to print the match alone instead of its lines.
    pub is_match_only: bool,
}

/// A part of a passage.
#[derive(Clone, Copy, Debug)]
pub enum PassagePart<'a> {
    /// Lines of the document, without the last line end.
    Lines(&'a str),
    /// The same if the last line goes on, and its rest is not shown.
    CutLines(&'a str),
    /// Lines that are left out before the line of this number, 1-based; at the end, the passage is cut.
    Gap(usize),
}

/// What is printed where a line is cut.
pub(crate) const CUT_MARK: &str = "[...]";

impl fmt::Display for PassagePart<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lines(text) => formatter.write_str(text),
            Self::CutLines(text) => write!(formatter, "{text} {CUT_MARK}"),
            Self::Gap(next) => write!(formatter, "... {next}"),
        }
    }
}

impl Hit {
    /// Returns the texts of the document.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        let lines = self.heading_path.iter().chain(&self.before).chain(&self.after);
        let windows = self.passage.iter().map(|window| &window.text);
        lines.chain(windows).map(String::as_str).chain([&*self.text])
    }

    /// Returns the numbers of units to which the passage can be cut so that enough of it remains.
    pub(in crate::query) fn passage_cuts(&self) -> Range<usize> {
        window::cuts(&self.passage, limits::LEAST_CUT_CHARS)
    }

    /// Keeps the best `units` units of the passage and adds the address of the rest. Returns whether
    /// the passage had more.
    pub(in crate::query) fn cut(&mut self, units: usize) -> bool {
        let Some(window::CutPassage { windows, rest, next_line }) =
            window::cut(&self.passage, units)
        else {
            return false;
        };
        self.set_rest(rest.0, rest.1);
        (self.passage, self.next_line) = (windows, next_line);
        self.truncated = true;
        true
    }

    /// Returns the number of Unicode scalars that every format that prints hits prints of this one after `before`:
    /// those of the passage, or else those of the lines that are not blanks, unless `before` has one of the lines.
    pub(super) fn least_chars(&self, before: Option<&Self>) -> usize {
        let has_line = |before: &Self| {
            before.file == self.file && self.line <= before.line_end.unwrap_or(before.line)
        };
        if self.passage.is_empty() {
            let text = if before.is_some_and(has_line) { "" } else { &*self.text };
            return text.chars().filter(|scalar| !scalar.is_whitespace()).count();
        }
        self.passage.iter().map(|window| window.text.chars().count()).sum()
    }

    /// Returns the number of sizes to which the hit can be cut, in Unicode scalars of its texts.
    pub(in crate::query) fn sizes(&self) -> usize {
        let windows = self.passage.iter().map(|window| window.text.chars().count() + 1).sum();
        longest(self.heading_path.iter().map(String::as_str).chain([&*self.text])).max(windows)
    }

    /// Cuts the passage to about `chars` Unicode scalars, between units if one fits, and cuts the
    /// other texts too. Context lines and duplicates are removed.
    pub(in crate::query) fn cut_to(&mut self, chars: usize) {
        self.before.clear();
        self.after.clear();
        self.context_cut.clear();
        self.duplicates.clear();
        self.truncated = true;
        if self.text.chars().nth(chars).is_some() {
            let mut text = self.text.to_string();
            shorten(&mut text, chars);
            self.text = text.into();
            (self.text_cut, self.text_cut_after) = (true, true);
        }
        let titles = self.heading_path.iter().cloned().map(|mut title| {
            shorten(&mut title, chars.min(limits::HIT_TITLE_CHARS));
            title
        });
        self.heading_path = titles.collect();
        let (mut fitting, mut best) = window::fitting(&self.passage, chars);
        if fitting == 0 {
            // Lines of an entry say more than nothing.
            self.passage.iter_mut().for_each(PassageWindow::divide_into_lines);
            (fitting, best) = window::fitting(&self.passage, chars);
        }
        if fitting > 0 {
            self.cut(fitting);
            return;
        }
        let first = self.passage.first().map_or(self.line, |first| first.line_start);
        let last = self.passage.last().map_or(self.line, |last| last.line_end);
        self.passage = best.into_iter().collect();
        let Some(window) = self.passage.first_mut() else {
            let selector = (!self.selector.is_empty()).then(|| self.selector.clone());
            let is_cut = self.text_cut;
            let lines = || lines_address(&self.file, self.line, self.line_end.unwrap_or(self.line));
            self.rest = is_cut.then(|| selector.unwrap_or_else(lines));
            return;
        };
        // Not even the best unit fits, so a part of it is kept, with the hit if that is in it.
        window.shorten(chars, ByteSpan::new(self.byte_start, self.byte_end));
        self.next_line = Some(window.line_start);
        self.set_rest(first, last);
    }

    fn set_rest(&mut self, first: usize, last: usize) {
        self.rest = Some(lines_address(&self.file, first, last));
        self.rest_end = Some(last);
    }

    /// Returns the parts of the passage in order.
    pub fn passage_parts(&self) -> impl Iterator<Item = PassagePart<'_>> {
        let windows = self.passage.iter().enumerate().flat_map(|(index, window)| {
            let before = index.checked_sub(1).and_then(|before| self.passage.get(before));
            let (part, count) = match before {
                None => (PassagePart::Lines(""), 0),
                Some(before) => match window.blank_lines_after(before) {
                    Some(count) => (PassagePart::Lines(""), count),
                    None => (PassagePart::Gap(window.line_start), 1),
                },
            };
            let next = self.passage.get(index + 1).map(|next| next.line_start).or(self.next_line);
            // A gap to the same line says that the line goes on.
            let is_cut = window.ends_within_line && next != Some(window.line_end);
            let text = match window.text.as_str() {
                "" => None,
                text if is_cut => Some(PassagePart::CutLines(text)),
                text => Some(PassagePart::Lines(text)),
            };
            std::iter::repeat_n(part, count).chain(text)
        });
        // A hit of a query without words is a line.
        let is_line = self.passage.is_empty() && self.score.is_none();
        let line = is_line.then_some(PassagePart::Lines(&self.text));
        line.into_iter().chain(windows).chain(self.next_line.map(PassagePart::Gap))
    }

    /// Returns the passage as text, in which a line `... N` is a gap.
    pub fn passage_text(&self) -> String {
        self.passage_parts().map(|part| format!("{part}\n")).collect()
    }

    /// Returns the address of the lines from the first to the last line of the passage.
    pub fn passage_address(&self) -> String {
        let LineSpan { start, end } = self.passage_lines();
        lines_address(&self.file, start, end)
    }

    /// Returns the lines from the first to the last line of the passage, with those that were cut.
    pub fn passage_lines(&self) -> LineSpan {
        let start = self.passage.first().map_or(self.line, |first| first.line_start);
        let last = self.passage.last().map_or(self.line, |last| last.line_end);
        LineSpan { start, end: self.rest_end.unwrap_or(last) }
    }
}
