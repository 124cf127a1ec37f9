//! What a command says beside its answer.
//!
//! Invariant: a note is one line on standard error, with unsafe characters escaped. That it cannot be written is no error.

use std::io::{self, Write as _};

use crate::output::sanitize;

/// Prints a line on standard error.
pub(super) fn note(text: &str) {
    drop(writeln!(io::stderr().lock(), "{}", sanitize::line(text)));
}
