//! The output format of an answer if the command line does not name one.
//!
//! Invariant: what a program reads depends on the pipe that it reads from, not on the terminal that
//! it runs in.

use std::ffi::OsStr;
use std::io::IsTerminal as _;

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser};

use super::described::Described;
use crate::error::{Error, ErrorKind, Result};
use crate::output::{Format, names};

/// The environment variable that sets the default format.
const VARIABLE: &str = "MDSEL_FORMAT";

impl ValueEnum for Format {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()))
    }
}

fn help(format: Format) -> &'static str {
    match format {
        Format::Json => "One JSON value",
        Format::Jsonl => "One JSON value per line: each result, hit or row",
        Format::Raw => "The bytes of the content, or the diff of --dry-run, and nothing else",
        Format::Text => "Text for people",
        Format::Ldmd => "A Markdown document of sections that can be read one by one",
        Format::Records => "One record per line, for the context of a model",
        Format::Markdown => "Markdown blocks, for the context of a model",
        Format::Mermaid => "A diagram of links, for Mermaid",
        Format::Dot => "A diagram of links, for Graphviz",
        Format::Csv => "Comma-separated values, with a header",
    }
}

/// Returns the formats of a command as the values of its option.
pub(super) fn values(has: impl Fn(Format) -> bool) -> PossibleValuesParser {
    let value = |format: Format| PossibleValue::new(format.name()).help(help(format));
    Format::ALL.into_iter().filter(|format| has(*format)).map(value).into()
}

/// Returns the formats as the values of the option of the program. Those that not all of `commands` have name the
/// commands, or groups of commands, that have them.
pub(super) fn values_in(commands: &[Described]) -> PossibleValuesParser {
    let value = |format: Format| {
        let is_common = Format::COMMON.contains(&format) || format == Format::Raw;
        let with = commands.iter().filter(|command| !is_common && (command.has)(format));
        let mut names: Vec<&str> =
            with.map(|command| command.name.split(' ').next().unwrap_or_default()).collect();
        names.dedup();
        let separator = if names.is_empty() { "" } else { ": " };
        let help = format!("{}{separator}{}", help(format), names.join(", "));
        PossibleValue::new(format.name()).help(help)
    };
    Format::ALL.into_iter().map(value).into()
}

/// Returns the format that is used if neither the command line nor the environment names one.
pub(super) fn default() -> Format {
    default_for(std::io::stdout().is_terminal())
}

/// Returns the format that the environment names, or the default.
pub(super) fn usual() -> Format {
    of_environment().ok().flatten().unwrap_or_else(default)
}

/// Returns the format that the environment names, if any.
pub(super) fn of_environment() -> Result<Option<Format>> {
    std::env::var_os(VARIABLE).map_or(Ok(None), |value| named(&value))
}

fn default_for(is_terminal: bool) -> Format {
    if is_terminal { Format::Text } else { Format::Json }
}

/// Returns the format named `value`, or `None` if it is empty.
fn named(value: &OsStr) -> Result<Option<Format>> {
    if value.is_empty() {
        return Ok(None);
    }
    let format = value.to_str().and_then(|name| Format::from_str(name, false).ok());
    format.map(Some).ok_or_else(|| {
        Error::new(
            ErrorKind::Usage,
            format!("{VARIABLE} is {}, which is not a format", value.display()),
        )
        .with_hint(format!("unset it, or set it to one of {}", names(|_| true)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_text_on_a_terminal_and_json_in_a_pipe() {
        assert_eq!(default_for(true), Format::Text);
        assert_eq!(default_for(false), Format::Json);
    }

    #[test]
    fn the_environment_sets_the_format() {
        assert_eq!(named(OsStr::new("records")).ok(), Some(Some(Format::Records)));
        assert_eq!(named(OsStr::new("")).ok(), Some(None));
        let error = named(OsStr::new("xml")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(error.hint().contains("json, jsonl, raw, text"), "{}", error.hint());
    }
}
