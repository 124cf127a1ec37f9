//! Queries: each is answered from one snapshot of the store, without parsing any file.
//!
//! [`resolve`] turns addresses into nodes, and nothing else does; each other module answers one command.
//! Invariant: an answer is a function of the snapshot, the request and, where documented, the state of
//! the files. Nothing here prints. The clock is read only for the time limit of a search.

mod batches;
mod cells;
pub mod context;
pub mod cursor;
pub mod data;
pub mod documents;
pub mod dump;
mod edit_node;
mod edit_place;
mod filter;
pub mod find;
pub mod finding;
mod groups;
pub mod index;
pub mod ldmd;
pub mod library;
pub mod links;
mod locate;
mod locate_lines;
mod missing;
mod name;
pub mod neighbors;
pub mod node;
mod over_store;
pub mod page;
mod pager;
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
#[cfg(test)]
mod tests;
pub mod toc;

pub(crate) use cells::narrow;
pub use cursor::Cursor;
pub(crate) use edit_node::locate_for_edit;
pub(crate) use edit_place::{NamedNode, named};
pub use filter::{BLOCK_TYPES, FilterRequest};
pub use library::{DocumentCache, ask};
pub use name::{NameMatch, document_named};
pub use page::{List, Page};

/// The outcome of a command. It determines the exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The whole request was answered.
    All,
    /// A part of the request was answered.
    Some,
    /// Nothing was answered.
    None,
}

impl Outcome {
    /// Returns the outcome of an answer that may have results and may have faults.
    pub fn of(has_answer: bool, has_fault: bool) -> Self {
        match (has_answer, has_fault) {
            (true, true) => Self::Some,
            (_, false) => Self::All,
            (false, true) => Self::None,
        }
    }
}
