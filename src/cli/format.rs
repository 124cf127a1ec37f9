//! The format of an answer where none is asked for with the command.
//!
//! Invariant: what a program reads does not depend on the terminal that it runs in, but on the pipe that
//! it reads from.

use std::ffi::OsStr;
use std::io::IsTerminal as _;

use clap::ValueEnum as _;

use super::args::FormatName;
use crate::error::{Error, ErrorKind, Result};

/// The variable that names another default.
const VARIABLE: &str = "MDSEL_FORMAT";

/// The format of an answer unless the user asks for another.
pub(super) fn default() -> FormatName {
    default_for(std::io::stdout().is_terminal())
}

/// The format that the environment asks for, or the default.
pub(super) fn usual() -> FormatName {
    of_environment().ok().flatten().unwrap_or_else(default)
}

/// The format that the environment asks for.
pub(super) fn of_environment() -> Result<Option<FormatName>> {
    std::env::var_os(VARIABLE).map_or(Ok(None), |value| named(&value))
}

fn default_for(is_terminal: bool) -> FormatName {
    if is_terminal { FormatName::Text } else { FormatName::Json }
}

/// What a format is called.
pub(super) fn name(format: FormatName) -> String {
    format.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

/// The format called `value`; none for an empty value.
fn named(value: &OsStr) -> Result<Option<FormatName>> {
    if value.is_empty() {
        return Ok(None);
    }
    let format = value.to_str().and_then(|name| FormatName::from_str(name, false).ok());
    format.map(Some).ok_or_else(|| {
        let known: Vec<String> = FormatName::value_variants().iter().copied().map(name).collect();
        Error::new(
            ErrorKind::Usage,
            format!("{VARIABLE} is {}, which is no format", value.display()),
        )
        .with_hint(format!("unset it, or set it to one of {}", known.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_get_text_and_programs_json() {
        assert_eq!(default_for(true), FormatName::Text);
        assert_eq!(default_for(false), FormatName::Json);
    }

    #[test]
    fn the_environment_names_a_format() {
        assert_eq!(named(OsStr::new("records")).ok(), Some(Some(FormatName::Records)));
        assert_eq!(named(OsStr::new("")).ok(), Some(None));
        let error = named(OsStr::new("xml")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(error.hints()[0].contains("json, jsonl, raw, text"), "{:?}", error.hints());
    }
}
