//! What is inside documents, as data: code, tables, tasks and front matter. Pure.
//!
//! [`Contents`] is what an ingest stores for a document, and [`keys`](Contents::keys) are the keys
//! by which its documents are found. [`expression`] are conditions on front matter, rows and tasks,
//! [`mod@front_matter`] are changes of one key of front matter. Invariant: nothing here depends on
//! anything but its arguments.

pub mod columns;
mod contents;
pub mod expression;
pub mod fields;
pub mod front_matter;
pub mod language;
pub mod scalar;

pub use contents::{CodeItem, Contents, Key, TaskEntry};
pub use expression::{Datum, Expression};
