//! A page of a list: what every list says beside its items, and how a list gives less than it has.
//!
//! Invariant: the items of a page are the first ones that follow the cursor before; a page that leaves
//! anything out is marked as truncated, and its cursor or an address in it leads to the rest.

use schemars::JsonSchema;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::cursor::ListPart;
use crate::address::Fault;
use crate::error::Warning;
use crate::schema::schema_as;

/// What a page says beside its items.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// Addresses without an answer.
    pub unresolved_selectors: Vec<Fault>,
    /// Remarks.
    pub warnings: Vec<Warning>,
    /// Whether something was left out or cut.
    pub truncated: bool,
    /// The cursor of the items that were left out.
    pub next: Option<String>,
    /// Whether JSON has the lists also if they are empty.
    pub(super) has_empty_lists: bool,
    /// Whether the items are children of a place that has a `next` of its own.
    pub(super) is_of_children: bool,
    /// Where in the list the page begins.
    pub(super) part: ListPart,
}

/// Unicode scalars that are left of a message where there is hardly any room.
const BRIEF_CHARS: usize = 60;

impl Page {
    /// The page of `part`, with remarks.
    pub(super) fn new((part, warnings): (ListPart, Vec<Warning>)) -> Self {
        Self { warnings, part, ..Self::default() }
    }

    /// The same page, whose JSON has all lists.
    pub(super) fn with_empty_lists(self) -> Self {
        Self { has_empty_lists: true, ..self }
    }

    /// Ends the page after `position` items of its part.
    pub(super) fn end(&mut self, position: usize) {
        self.truncated = true;
        self.next = Some(self.part.next(position));
    }

    /// The same page, ended after `position` items of its part.
    #[must_use]
    pub(super) fn ended(&self, position: usize) -> Self {
        let mut page = self.clone();
        page.end(position);
        page
    }

    /// Keeps one problem or remark, in short, and says how many others there are.
    pub(crate) fn shorten(&mut self) {
        let total = self.unresolved_selectors.len() + self.warnings.len();
        if total == 0 {
            return;
        }
        self.truncated = true;
        self.unresolved_selectors.truncate(1);
        self.warnings.truncate(1 - self.unresolved_selectors.len());
        for fault in &mut self.unresolved_selectors {
            shorten(&mut fault.selector, BRIEF_CHARS);
            shorten(&mut fault.message, BRIEF_CHARS);
            fault.suggestions.clear();
            fault.candidates = Box::default();
        }
        for warning in &mut self.warnings {
            shorten(&mut warning.message, BRIEF_CHARS);
        }
        if total > 1 {
            let message = format!("{} more remarks need more room", total - 1);
            self.warnings.push(Warning::new("REMARKS_CUT", message));
        }
    }
}

impl Page {
    /// Adds its fields to those of an answer.
    pub(super) fn fields<M: SerializeMap>(&self, map: &mut M) -> std::result::Result<(), M::Error> {
        self.remarks(map)?;
        map.serialize_entry("truncated", &self.truncated)?;
        let name = if self.is_of_children { "next_children" } else { "next" };
        match &self.next {
            Some(next) => map.serialize_entry(name, next),
            None => Ok(()),
        }
    }

    /// Adds its problems and warnings to those of an answer.
    pub(super) fn remarks<M: SerializeMap>(
        &self,
        map: &mut M,
    ) -> std::result::Result<(), M::Error> {
        if self.has_empty_lists || !self.unresolved_selectors.is_empty() {
            map.serialize_entry("unresolved_selectors", &self.unresolved_selectors)?;
        }
        if self.has_empty_lists || !self.warnings.is_empty() {
            map.serialize_entry("warnings", &self.warnings)?;
        }
        Ok(())
    }
}

impl Serialize for Page {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.fields(&mut map)?;
        map.end()
    }
}

/// What JSON says beside the items of a list.
#[expect(dead_code, reason = "only its schema is used")]
#[derive(JsonSchema)]
struct PageShape {
    #[schemars(flatten)]
    remarks: RemarksShape,
    /// Whether something was left out or cut.
    truncated: bool,
    /// The cursor of the items that were left out.
    #[schemars(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

schema_as!(Page => PageShape);

/// The problems and warnings of an answer.
#[expect(dead_code, reason = "only its schema is used")]
#[derive(JsonSchema)]
pub(super) struct RemarksShape {
    /// Addresses without an answer.
    #[schemars(skip_serializing_if = "Option::is_none")]
    unresolved_selectors: Option<Vec<Fault>>,
    /// Remarks.
    #[schemars(skip_serializing_if = "Option::is_none")]
    warnings: Option<Vec<Warning>>,
}

/// The problem and the warnings of an answer about one place, if there is no such place.
#[expect(dead_code, reason = "only its schema is used")]
#[derive(JsonSchema)]
pub(super) struct NoPlaceShape {
    /// Why the address has no answer.
    unresolved_selectors: Vec<Fault>,
    /// Remarks.
    #[schemars(skip_serializing_if = "Option::is_none")]
    warnings: Option<Vec<Warning>>,
}

/// A page that has all lists.
#[expect(dead_code, reason = "only its schema is used")]
#[derive(JsonSchema)]
pub(super) struct WholePageShape {
    /// Addresses without an answer.
    unresolved_selectors: Vec<Fault>,
    /// Remarks.
    warnings: Vec<Warning>,
    /// Whether something was left out or cut.
    truncated: bool,
    /// The cursor of the items that were left out.
    #[schemars(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// Unicode scalars that an item of a list has at least, in any format.
const LEAST_ITEM_CHARS: usize = 8;

/// The number of items to look for: `limit`, of which 0 means all, but no more than can fit into `max_chars`
/// Unicode scalars.
pub fn fitting(limit: usize, max_chars: Option<usize>) -> usize {
    let most = max_chars.map_or(usize::MAX, |most| most / LEAST_ITEM_CHARS + 1);
    match (limit, most) {
        (0, usize::MAX) => 0,
        (0, most) => most,
        (limit, most) => limit.min(most),
    }
}

/// Cuts `text` to at most `chars` Unicode scalars, the last of them an ellipsis.
pub(crate) fn shorten(text: &mut String, chars: usize) {
    if text.chars().nth(chars).is_some() {
        *text = text.chars().take(chars.saturating_sub(1)).chain(['…']).collect();
    }
}

/// The largest number of Unicode scalars in one of `texts`.
pub(super) fn longest<'a>(texts: impl IntoIterator<Item = &'a str>) -> usize {
    texts.into_iter().map(|text| text.chars().count()).max().unwrap_or(0)
}

/// An answer whose items can be left out from the end, so that it keeps to a limit or a budget.
pub trait List: Clone {
    /// What it says beside its items; `None` if it has neither problems nor a cursor.
    fn page_mut(&mut self) -> Option<&mut Page> {
        None
    }

    /// How many items it has.
    fn count(&self) -> usize;

    /// How many of them must be given for the answer to be of use: for going on to make progress;
    /// 0 if what is beside the items is an answer by itself.
    fn least(&self) -> usize {
        self.count().min(1)
    }

    /// The first `count` items, with the cursor of the others. Costs no more than these items do.
    #[must_use]
    fn first(&self, count: usize) -> Self;

    /// Lines of the item at `index`, if it may be cut at a line also where it is not the only one; else 0.
    fn lines_of(&self, index: usize) -> usize {
        let _ = index;
        0
    }

    /// Cuts the last item to its first `lines` lines, and gives it the address of the rest; whether it could.
    fn cut_last(&mut self, lines: usize) -> bool {
        let _ = lines;
        false
    }

    /// Sizes to which the first item can be cut: words of its content, characters of its texts. The largest
    /// leaves out only what is beside its content. 0 if it cannot be cut.
    fn sizes_of_first(&self) -> usize {
        0
    }

    /// Cuts the first item, which is the only one, to one of these sizes, and gives it an address of the rest;
    /// whether it could.
    fn cut_first(&mut self, size: usize) -> bool {
        let _ = size;
        false
    }
}
