//! Queries: each is answered from one snapshot of the store, without parsing any file.
//!
//! [`resolve`] turns addresses into nodes, and nothing else does. Most other modules answer one command.
//! Invariant: an answer is a function of the snapshot, the request and, where documented, the state of
//! the files. Nothing here prints. The clock is read only for the time limit of a search.

mod batches;
mod contained_text;
mod containers;
pub mod context;
pub mod cursor;
pub mod data;
mod document_items;
mod document_name;
mod document_order;
pub mod documents;
pub mod dump;
mod filter;
pub mod find;
pub mod finding;
mod folder_version;
pub mod folders;
pub mod freshness;
pub mod index;
pub mod labels;
pub mod ldmd;
pub mod links;
mod listed;
pub(crate) mod missing_document;
pub mod neighbors;
pub mod node;
pub mod open_document;
pub mod page;
mod pager;
pub mod prime;
pub mod read;
pub mod resolve;
pub mod resolved_node;
pub mod search;
pub mod select;
pub mod session;
pub mod summary;
#[cfg(test)]
mod tests;
pub mod toc;
mod warning;

pub use cursor::Cursor;
pub(crate) use document_name::by_name;
pub use document_name::{NameMatch, document_named};
pub use filter::{FilterRequest, block_types};
pub use page::{List, Page};
pub(crate) use resolve::{
    NamedNode, locate_for_edit, locate_section_for_edit, locate_text_for_edit, named,
    names_document, narrow,
};
pub use session::{Session, ask};
pub(crate) use warning::CHANGED_FILES;

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
