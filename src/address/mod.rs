//! Addresses: one grammar for every place in every document. Pure.
//!
//! [`readings()`] takes the text of an address apart, once; [`crate::query`] asks a store for what the
//! readings name, one after another, and looks at no text again. Invariant: whatever this program
//! emits parses to what it was made from.

mod corrections;
pub mod fault;
pub mod namespace;
mod params;
mod place;
mod reading;
pub mod selector;
pub mod suggest;
pub mod tree;

pub use corrections::corrections;
pub use fault::{Candidate, Fault, FaultCode};
pub use params::{Params, Part, parse_params, split_known_params};
pub use place::{Locator, ParsedPlace, parse_places, wrong_params};
pub use reading::{EXAMPLES, Reading, is_for_every_document, readings, table};
pub use selector::{Ordinal, Selector, Step, StepKind};
pub use tree::{DeadEnd, Scope, Tree};

/// The number that a text of digits is; one that is too large for the type is the largest of the type,
/// so that it is out of range and not invalid.
pub fn whole_number(digits: &str) -> Option<usize> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(usize::MAX))
}
