//! Addresses: one grammar for every place in every document. Pure.
//!
//! [`interpretations()`] parses the text of an address once. [`crate::query`] looks up what the interpretations
//! name, one after another, and never parses the text again. Invariant: an address that this
//! program prints parses to the place that it was printed for.

pub mod cells;
mod corrections;
pub mod fault;
mod interpretation;
pub mod namespace;
mod notation;
mod params;
mod place;
pub mod selector;
pub mod suggest;
pub mod tree;

pub use cells::{CellStep, CellSteps, RowStep};
pub use corrections::corrections;
pub use fault::{AddressError, AddressResult, Candidate, FaultCode, Suggestion};
pub use interpretation::{
    EXAMPLES, Interpretation, interpretations, is_for_every_document, lines_address,
    path_before_line, table,
};
pub use notation::{
    PrintedLine, in_link, in_printed_line, lines_in_other_notation, other_notations,
};
pub use params::{Params, SectionPart, parse_params, split_known_params};
pub use place::{
    FRONT_MATTER_PLACE, Locator, ParsedPlace, parse_places, split_marks, wrong_params,
};
pub use selector::{Ordinal, Selector, Step, StepKind, is_selector, joined, misplaced_step};
pub use tree::{DeadEnd, StepScope, Tree};

/// Parses a text of digits. A number that is too large for the type becomes the largest value, so
/// that it is out of range and not invalid.
pub fn whole_number(digits: &str) -> Option<usize> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(usize::MAX))
}
