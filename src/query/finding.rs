//! The problems that a check found, each with its location and a way to repair it.

use std::cmp::Reverse;
use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::cursor::{Cursor, most};
use super::page::{self, shorten_message};
use super::warning::NO_DOCUMENT;
use super::{List, Page};
use crate::address::{AddressError, lines_address};
use crate::limits;
use crate::message::{Message, message};

/// The code of a link that may work, but was not checked.
pub(super) const UNCHECKED: &str = "UNCHECKED";

/// A problem in a document or in the store.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Finding {
    /// A stable code in capitals.
    pub code: &'static str,
    /// A description of the problem.
    pub message: Message,
    /// The document, if the problem is in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line in the document, 1-based, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// How to solve the problem, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<Message>,
}

/// A problem that several places have.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct RepeatedFinding {
    /// The number of places.
    pub count: usize,
    /// The problem at the first of them.
    #[serde(flatten)]
    pub first: Finding,
}

/// The problems that a check found.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Findings {
    /// The problems, in the order of documents and then of lines; links that were not checked come last.
    pub findings: Vec<Finding>,
    /// The total number of problems, including those of former answers; only if some are left out.
    #[serde(rename = "total", skip_serializing_if = "Option::is_none")]
    pub shown_total: Option<usize>,
    /// The problems that the most places have, only if some are left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub repeated: Vec<RepeatedFinding>,
    /// Warnings, the cursor, and the documents that could not be checked.
    #[serde(flatten)]
    pub page: Page,
    /// The total number of problems, including those of former answers.
    #[serde(skip)]
    pub total: usize,
    /// What [`Self::repeated`] is if some problems are left out.
    #[serde(skip)]
    pub summary: Vec<RepeatedFinding>,
}

/// The part of a limit that the problems of the most places may take.
const SUMMARY_PART: usize = 4;

impl RepeatedFinding {
    /// Returns about how many characters it takes.
    fn chars(&self) -> usize {
        let Finding { message, file, hint, .. } = &self.first;
        let texts =
            [Some(message.to_string()), file.clone(), hint.as_ref().map(Message::to_string)];
        texts.into_iter().flatten().map(|text| text.chars().count()).sum()
    }
}

impl Findings {
    /// Returns the problems from `after` on, and the documents that could not be checked.
    pub fn new(
        mut findings: Vec<Finding>,
        unresolved_selectors: Vec<AddressError>,
        after: Option<Cursor>,
        generation: u64,
    ) -> Self {
        let mut page = Page::beginning(after, generation);
        page.unresolved_selectors = unresolved_selectors;
        let total = findings.len();
        findings.drain(..page.part.start().min(total));
        let (repeated, summary) = (Vec::new(), Vec::new());
        Self { findings, shown_total: None, repeated, page, total, summary }
    }

    /// Returns whether a part of what was asked for was not checked.
    pub fn is_partial(&self) -> bool {
        !self.page.unresolved_selectors.is_empty()
            || self.page.warnings.iter().any(|warning| warning.code == NO_DOCUMENT)
    }

    /// Keeps at most `limit` problems; 0 keeps all.
    #[must_use]
    pub fn at_most(self, limit: usize) -> Self {
        let count = self.findings.len().min(most(limit));
        if count == self.findings.len() {
            return self;
        }
        Self { repeated: self.summary.clone(), ..self.first(count) }
    }

    /// Keeps at most `limit` problems, like [`Self::at_most`]. Adds those that the most places have if some are left out,
    /// also later: of an answer of at most `most_chars` characters they take a part.
    #[must_use]
    pub fn summarized(mut self, limit: usize, most_chars: Option<usize>) -> Self {
        let mut places: HashMap<(&str, &Message), (usize, usize)> = HashMap::new();
        for (index, finding) in self.findings.iter().enumerate() {
            let (_, count) = places.entry((finding.code, &finding.message)).or_insert((index, 0));
            *count += 1;
        }
        let mut places: Vec<(usize, usize)> =
            places.into_values().filter(|(_, count)| *count > 1).collect();
        let is_unchecked = |index: usize| {
            self.findings.get(index).is_some_and(|finding| finding.code == UNCHECKED)
        };
        places.sort_by_key(|(index, count)| (is_unchecked(*index), Reverse(*count), *index));
        let repeated = |(index, count): &(usize, usize)| {
            let first = self.findings.get(*index)?.clone();
            Some(RepeatedFinding { count: *count, first })
        };
        let mut room = most_chars.map_or(usize::MAX, |most| most / SUMMARY_PART);
        let fits = |repeated: &RepeatedFinding| {
            room.checked_sub(repeated.chars()).map(|rest| room = rest).is_some()
        };
        let repeated = places.iter().take(limits::MAX_REPEATED_SHOWN).filter_map(repeated);
        self.summary = repeated.take_while(fits).collect();
        self.at_most(limit)
    }
}

impl List for Findings {
    fn page_mut(&mut self) -> Option<&mut Page> {
        Some(&mut self.page)
    }

    fn messages_mut(&mut self) -> Vec<&mut Message> {
        let repeated = self.repeated.iter_mut().chain(&mut self.summary);
        let repeated = repeated.map(|repeated| &mut repeated.first);
        let findings = self.findings.iter_mut().chain(repeated);
        let messages = findings.flat_map(|it| [&mut it.message].into_iter().chain(&mut it.hint));
        messages.chain(self.page.messages_mut()).collect()
    }

    fn count(&self) -> usize {
        self.findings.len()
    }

    fn first(&self, count: usize) -> Self {
        match self.findings.get(..count) {
            Some(first) if count < self.findings.len() => Self {
                findings: first.to_vec(),
                shown_total: Some(self.total),
                // A single problem may be all that there is room for.
                repeated: if count > 1 { self.summary.clone() } else { Vec::new() },
                page: self.page.ended(count),
                total: self.total,
                summary: self.summary.clone(),
            },
            _ => self.clone(),
        }
    }

    fn sizes_of_first(&self) -> usize {
        self.findings.first().map_or(0, |first| {
            let texts = [&first.message].into_iter().chain(&first.hint).map(Message::to_string);
            texts.map(|text| page::longest([text.as_str()])).max().unwrap_or_default()
        })
    }

    fn cut_first(&mut self, size: usize) -> bool {
        let Some(first) = self.findings.first_mut() else { return false };
        self.repeated.clear();
        shorten_message(&mut first.message, size);
        if let Some(hint) = &mut first.hint {
            shorten_message(hint, size);
        }
        let message = match (&first.file, first.line) {
            (Some(file), Some(line)) => {
                let place = lines_address(file, line, line);
                message!("this item is cut; `mdsel select {path}` prints its text", place)
            }
            _ => "this item is cut".into(),
        };
        self.page.cut_item(message);
        true
    }
}
