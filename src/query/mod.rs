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
mod filter;
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
pub mod page;
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
pub use filter::{BLOCK_TYPES, FilterRequest};
pub use library::Library;
pub use page::{List, Page};

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
