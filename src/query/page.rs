//! A page of a list: the parts of an answer that are not items, and how a list is shortened.
//!
//! Invariant: the items of a page are the first ones after the previous cursor. A page that leaves
//! anything out is marked as truncated, and its cursor or an address in it leads to the remainder.

use std::collections::HashSet;
use std::ops::Range;

use super::Outcome;
use super::cursor::{Cursor, ListPart};
use super::labels::DocumentLabels;
use super::warning::EXPANSION_CUT;
use crate::address::AddressError;
use crate::count::counted;
use crate::error::Warning;
use crate::limits::{BRIEF_MESSAGE_CHARS, CUT_TITLE_CHARS};
use crate::message::Message;

/// The parts of a page that are not items.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// Addresses that were not resolved.
    pub unresolved_selectors: Vec<AddressError>,
    /// The warnings of the answer.
    pub warnings: Vec<Warning>,
    /// Whether anything was left out or cut.
    pub truncated: bool,
    /// The cursor of the first item that was left out, if any.
    pub next: Option<String>,
    /// The number of items that were written to files. A list of them that is shortened is not continued.
    pub(crate) files_written: Option<usize>,
    /// What to try next, at the end of the text for an empty list.
    pub(crate) advice: Option<Message>,
    /// The types and tags of the documents, if records print them.
    pub(crate) labels: DocumentLabels,
    /// The position of the page in the list.
    pub(super) part: ListPart,
}

impl Page {
    /// Returns the page that begins at `after` or at the start of the list. Warns if the generation of `after` is not
    /// `generation`.
    pub(super) fn beginning(after: Option<Cursor>, generation: u64) -> Self {
        let has_changed = after.is_some_and(|after| after.generation != generation);
        let warning = has_changed.then(|| {
            let message =
                "the store has changed since the list began; the list continues by position";
            Warning::new("STORE_CHANGED", message)
        });
        let part = ListPart::beginning(after, generation);
        Self { warnings: warning.into_iter().collect(), part, ..Self::default() }
    }

    /// Returns the outcome of a command whose answer has a result, or not.
    pub(super) fn outcome(&self, has_result: bool) -> Outcome {
        Outcome::of(has_result, !self.unresolved_selectors.is_empty())
    }

    /// Returns the outcome of a list, which is `None` without items.
    pub(super) fn outcome_of_list(&self, has_item: bool) -> Outcome {
        if has_item { self.outcome(true) } else { Outcome::None }
    }

    /// Ends the page after `position` items of its part.
    pub(super) fn end(&mut self, position: usize) {
        self.truncated = true;
        self.next = Some(self.part.next(position));
    }

    /// Ends the page after `chars` Unicode scalars of its first item.
    pub(super) fn end_within(&mut self, chars: usize) {
        self.truncated = true;
        self.next = Some(self.part.next_within(chars));
    }

    /// Returns the page ended after `position` items of its part.
    #[must_use]
    pub(super) fn ended(&self, position: usize) -> Self {
        let mut page = self.clone();
        let Some(total) = self.files_written else {
            page.end(position);
            return page;
        };
        page.truncated = true;
        let is = if position == 1 { "is" } else { "are" };
        let message = format!("{total} files are written, and {position} of them {is} listed");
        page.warnings.push(Warning::new("FILES_LEFT_OUT", message));
        page
    }

    /// Returns whether the page continues a list.
    pub(crate) fn is_continued(&self) -> bool {
        self.part.start() > 0
    }

    /// Leaves out messages that are there before: a name that is given twice has one problem.
    pub(crate) fn say_once(&mut self) {
        let mut seen = HashSet::new();
        let mut is_new =
            |name: &str, message: &Message| seen.insert((name.to_owned(), message.clone()));
        self.unresolved_selectors.retain(|fault| is_new(&fault.selector, &fault.message));
        self.warnings.retain(|warning| is_new(warning.code, &warning.message));
    }

    /// Marks the page as truncated if an address names more nodes than are followed.
    pub(crate) fn mark_expansion_cut(&mut self) {
        self.truncated |= self.warnings.iter().any(|warning| warning.code == EXPANSION_CUT);
    }

    /// Adds the warning that a page without items begins after the end of the list, if it continues one.
    pub(crate) fn warn_of_end(&mut self) {
        if self.is_continued() && self.unresolved_selectors.is_empty() {
            let message =
                "the list ends before this cursor; leave out {--after|after} to begin again";
            self.warnings.push(Warning::new("LIST_PAST_END", message));
        }
    }

    /// Returns the messages of faults and warnings.
    pub(crate) fn messages_mut(&mut self) -> impl Iterator<Item = &mut Message> {
        let faults = self.unresolved_selectors.iter_mut().map(|fault| &mut fault.message);
        let warnings = self.warnings.iter_mut().map(|warning| &mut warning.message);
        faults.chain(warnings).chain(&mut self.advice)
    }

    /// Marks the only item as cut. `message` names the command that prints all of it.
    pub(super) fn cut_item(&mut self, message: Message) {
        const ITEM_CUT: &str = "ITEM_CUT";
        self.truncated = true;
        self.warnings.retain(|warning| warning.code != ITEM_CUT);
        self.warnings.push(Warning::new(ITEM_CUT, message));
    }

    /// Keeps at most `most` suggestions and candidates of each unresolved address. Returns whether it left out any.
    pub(crate) fn keep_suggestions(&mut self, most: usize) -> bool {
        let mut is_cut = false;
        for fault in &mut self.unresolved_selectors {
            is_cut |= fault.suggestions.len().max(fault.candidates.len()) > most;
            fault.suggestions.truncate(most);
            let mut candidates = std::mem::take(&mut fault.candidates).into_vec();
            candidates.truncate(most);
            fault.candidates = candidates.into();
        }
        self.truncated |= is_cut;
        is_cut
    }

    /// Keeps one message, shortened, and adds a warning with the number of the others.
    pub(crate) fn shorten(&mut self) {
        let total = self.unresolved_selectors.len() + self.warnings.len();
        if total == 0 {
            return;
        }
        self.truncated = true;
        self.unresolved_selectors.truncate(1);
        self.warnings.truncate(1 - self.unresolved_selectors.len());
        for fault in &mut self.unresolved_selectors {
            shorten(&mut fault.selector, BRIEF_MESSAGE_CHARS);
            shorten_message(&mut fault.message, BRIEF_MESSAGE_CHARS);
            fault.suggestions.clear();
            fault.candidates = Box::default();
        }
        for warning in &mut self.warnings {
            shorten_message(&mut warning.message, BRIEF_MESSAGE_CHARS);
        }
        if total > 1 {
            let message = format!("the answer leaves out {}", counted(total - 1, "more message"));
            self.warnings.push(Warning::new("WARNINGS_CUT", message));
        }
    }
}

/// Minimum length of an item of a list in any format but `raw` and `csv`, in Unicode scalars: the path of a document
/// and a line end.
const LEAST_ITEM_CHARS: usize = 5;

/// Returns the number of items to look for: `limit` (0 for all), but no more than fit in `max_chars` Unicode scalars.
pub fn fitting(limit: usize, max_chars: Option<usize>) -> usize {
    let most = max_chars.map_or(usize::MAX, |most| most / LEAST_ITEM_CHARS + 1);
    match (limit, most) {
        (0, usize::MAX) => 0,
        (0, most) => most,
        (limit, most) => limit.min(most),
    }
}

/// Cuts `text` to at most `chars` Unicode scalars, the last of which is an ellipsis.
pub(crate) fn shorten(text: &mut String, chars: usize) {
    if is_longer(text, chars) {
        *text = text.chars().take(chars.saturating_sub(1)).chain(['…']).collect();
    }
}

/// Cuts each of `titles` in the same way, at most to [`CUT_TITLE_CHARS`].
pub(super) fn shorten_titles(titles: &mut [String], chars: usize) {
    for title in titles {
        shorten(title, chars.min(CUT_TITLE_CHARS));
    }
}

/// Removes a slug path or an anchor that is longer than `chars` Unicode scalars. A part of it would lead nowhere.
pub(super) fn drop_longer(name: &mut Option<String>, chars: usize) {
    name.take_if(|name| is_longer(name, chars));
}

/// Returns whether `text` has more than `chars` Unicode scalars.
pub(super) fn is_longer(text: &str, chars: usize) -> bool {
    text.chars().nth(chars).is_some()
}

/// Cuts a message like [`shorten`].
pub(super) fn shorten_message(message: &mut Message, chars: usize) {
    let mut text = message.to_string();
    shorten(&mut text, chars);
    *message = text.into();
}

/// Cuts a text of a document to its first `chars` Unicode scalars. Content gets no mark.
pub(super) fn cut(text: &mut String, chars: usize) {
    if let Some((end, _)) = text.char_indices().nth(chars) {
        text.truncate(end);
    }
}

/// Returns the length of the longest of `texts`, in Unicode scalars.
pub(super) fn longest<'a>(texts: impl IntoIterator<Item = &'a str>) -> usize {
    texts.into_iter().map(|text| text.chars().count()).max().unwrap_or(0)
}

/// An answer whose last items can be left out, to respect a limit.
pub trait List: Clone {
    /// Returns the page; `None` if the answer has neither faults nor a cursor.
    fn page_mut(&mut self) -> Option<&mut Page> {
        None
    }

    /// Returns the messages, which may name commands and options of the command line.
    fn messages_mut(&mut self) -> Vec<&mut Message> {
        self.page_mut().into_iter().flat_map(Page::messages_mut).collect()
    }

    /// Returns the paths of the documents whose types and tags records print.
    fn labeled_files(&self) -> Vec<&str> {
        Vec::new()
    }

    /// Returns the outcome of the command.
    fn outcome(&self) -> Outcome {
        Outcome::All
    }

    /// Returns the number of items.
    fn count(&self) -> usize;

    /// Returns whether the answer is the part of a list after its last item, if it has a cursor.
    fn begins_after_end(&self) -> bool {
        self.count() == 0
    }

    /// Returns the smallest number of items with which the list makes progress. Returns 0 if the answer
    /// is useful without items.
    fn least(&self) -> usize {
        self.count().min(1)
    }

    /// Returns the first `count` items, with a cursor for the others. The cost of a list that may be
    /// long is proportional to `count`.
    #[must_use]
    fn first(&self, count: usize) -> Self;

    /// Returns the answer with longer texts, which is printed instead if it fits.
    fn longer(&self) -> Option<Self> {
        None
    }

    /// Returns the numbers of parts to which the item at `index` can be cut, so that what remains is of
    /// use. Empty if it cannot be cut after other items.
    fn cuts_of(&self, index: usize) -> Range<usize> {
        let _ = index;
        0..0
    }

    /// Cuts the last item to its best `parts` parts and adds the address of the remainder. Returns
    /// whether it did.
    fn cut_last(&mut self, parts: usize) -> bool {
        let _ = parts;
        false
    }

    /// Returns the number of sizes to which the first item can be cut: words of its content or
    /// characters of its texts. The largest size keeps all of the content and drops only what surrounds
    /// it. Returns 0 if the item cannot be cut.
    fn sizes_of_first(&self) -> usize {
        0
    }

    /// Cuts the first item, which must be the only one, to one of these sizes, and adds an address of
    /// the remainder. Returns whether it did.
    fn cut_first(&mut self, size: usize) -> bool {
        let _ = size;
        false
    }
}
