//! Questions: what is there, and where, answered from one snapshot without parsing anything.
//!
//! [`resolve`] turns addresses into places and is the only way to do so; each other module answers
//! one command. Invariant: an answer is a function of the snapshot, the request and, where it says
//! so, the state of the files; nothing here prints, and the clock is
//! read only to give up.

pub mod context;
pub mod cursor;
pub mod documents;
pub mod dump;
mod edit_place;
pub mod find;
pub mod finding;
mod glob;
mod groups;
pub mod index;
pub mod ldmd;
pub mod library;
pub mod links;
mod locate;
mod missing;
pub mod neighbors;
pub mod node;
mod over_store;
pub mod place;
pub mod prime;
pub mod read;
pub mod resolve;
pub mod search;
pub mod section_path;
pub mod select;
mod steps;
mod suggestion;
pub mod summary;
pub mod toc;

pub use cursor::Cursor;
pub(crate) use edit_place::{Named, locate_for_edit, named};
pub use library::Library;

/// How a command ended, as scripts see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Everything asked was answered.
    All,
    /// Some of it was.
    Some,
    /// Nothing was.
    None,
}

impl Outcome {
    /// The outcome of an answer that may have found something and may have failed at something.
    pub fn of(has_answer: bool, has_fault: bool) -> Self {
        match (has_answer, has_fault) {
            (true, true) => Self::Some,
            (_, false) => Self::All,
            (false, true) => Self::None,
        }
    }
}

/// An answer whose items can be left out from the end, so that it keeps to a limit or a budget.
pub trait List {
    /// How many items it has.
    fn count(&self) -> usize;

    /// How many of them must be given for the answer to be of use: for going on to come any further;
    /// 0 where what stands beside the items is an answer by itself.
    fn least(&self) -> usize {
        1
    }

    /// The first `count` items, saying that others follow and how to go on with them.
    #[must_use]
    fn first(&self, count: usize) -> Self;

    /// Lines of the item at `index`, if an item can be cut at a line; else 0.
    fn lines_of(&self, index: usize) -> usize {
        let _ = index;
        0
    }

    /// The first `count` items, and the first `lines` lines of the next one with the address of the rest;
    /// `None` if it cannot be cut there.
    fn first_and_cut(&self, count: usize, lines: usize) -> Option<Self>
    where
        Self: Sized,
    {
        let _ = (count, lines);
        None
    }

    /// The first item alone, without what stands beside its content; `None` where nothing does.
    fn first_bare(&self) -> Option<Self>
    where
        Self: Sized,
    {
        None
    }

    /// The most words that a page of the first item may have to be less than the item; 0 where it
    /// cannot be given in pages.
    fn words_of_first(&self) -> usize {
        0
    }

    /// The first item alone, cut to a page of at most `words` words, saying how to go on; `None`
    /// where it cannot be given in pages.
    fn first_page(&self, words: usize) -> Option<Self>
    where
        Self: Sized,
    {
        let _ = words;
        None
    }
}
