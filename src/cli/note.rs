//! What a command says beside its answer.

use std::io::{self, Write as _};

use crate::output::sanitize;

/// Prints a line on standard error.
pub(super) fn note(text: &str) {
    drop(writeln!(io::stderr().lock(), "{}", sanitize::line(text)));
}
