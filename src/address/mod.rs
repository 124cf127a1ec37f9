//! Addresses: one grammar for every place in every document. Pure.
//!
//! [`readings()`] parses the text of an address once. [`crate::query`] looks up what the readings
//! name, one after another, and never parses the text again. Invariant: an address that this
//! program prints parses to the place that it was printed for.

pub mod cells;
mod corrections;
pub mod fault;
pub mod namespace;
mod params;
mod place;
mod reading;
pub mod selector;
pub mod suggest;
pub mod tree;

pub use cells::{CellStep, CellSteps, RowStep};
pub use corrections::corrections;
pub use fault::{Candidate, Fault, FaultCode};
pub use params::{Params, Part, parse_params, split_known_params};
pub use place::{Locator, ParsedPlace, parse_places, wrong_params};
pub use reading::{EXAMPLES, Reading, is_for_every_document, readings, table};
pub use selector::{Ordinal, Selector, Step, StepKind};
pub use tree::{DeadEnd, Scope, Tree};

/// Parses a text of digits. A number that is too large for the type becomes the largest value, so
/// that it is out of range and not invalid.
pub fn whole_number(digits: &str) -> Option<usize> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(usize::MAX))
}
