//! The output format of an answer if the command line does not name one.
//!
//! Invariant: what a program reads depends on the pipe that it reads from, not on the terminal that
//! it runs in.

use std::ffi::OsStr;
use std::io::IsTerminal as _;

use clap::ValueEnum as _;

use super::args::FormatName;
use crate::error::{Error, ErrorKind, Result};

/// The environment variable that sets the default format.
const VARIABLE: &str = "MDSEL_FORMAT";

/// Returns the format that is used if neither the command line nor the environment names one.
pub(super) fn default() -> FormatName {
    default_for(std::io::stdout().is_terminal())
}

/// Returns the format that the environment names, or the default.
pub(super) fn usual() -> FormatName {
    of_environment().ok().flatten().unwrap_or_else(default)
}

/// Returns the format that the environment names, if any.
pub(super) fn of_environment() -> Result<Option<FormatName>> {
    std::env::var_os(VARIABLE).map_or(Ok(None), |value| named(&value))
}

fn default_for(is_terminal: bool) -> FormatName {
    if is_terminal { FormatName::Text } else { FormatName::Json }
}

/// Returns the name of a format.
pub(super) fn name(format: FormatName) -> String {
    format.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

/// Returns the format named `value`, or `None` if it is empty.
fn named(value: &OsStr) -> Result<Option<FormatName>> {
    if value.is_empty() {
        return Ok(None);
    }
    let format = value.to_str().and_then(|name| FormatName::from_str(name, false).ok());
    format.map(Some).ok_or_else(|| {
        let known: Vec<String> = FormatName::value_variants().iter().copied().map(name).collect();
        Error::new(
            ErrorKind::Usage,
            format!("{VARIABLE} is {}, which is not a format", value.display()),
        )
        .with_hint(format!("unset it, or set it to one of {}", known.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_text_on_a_terminal_and_json_in_a_pipe() {
        assert_eq!(default_for(true), FormatName::Text);
        assert_eq!(default_for(false), FormatName::Json);
    }

    #[test]
    fn the_environment_sets_the_format() {
        assert_eq!(named(OsStr::new("records")).ok(), Some(Some(FormatName::Records)));
        assert_eq!(named(OsStr::new("")).ok(), Some(None));
        let error = named(OsStr::new("xml")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(error.hints()[0].contains("json, jsonl, raw, text"), "{:?}", error.hints());
    }
}
