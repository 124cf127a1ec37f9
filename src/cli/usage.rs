//! What clap says of a command line that it cannot read, as an error of the program.
//!
//! Invariant: the message says what is wrong on one line, and the hint ends with the command to run next.

use std::ffi::OsString;

use super::groups;
use crate::error::{Error, ErrorKind};

/// The error that `error` is, of a program that was called with `arguments`.
pub(super) fn fault(error: &clap::Error, arguments: &[OsString]) -> Error {
    let text = error.to_string();
    let (said, rest) = text.split_once("\n\n").unwrap_or((&text, ""));
    let mut lines = said.lines().map(str::trim);
    let first = lines.next().unwrap_or_default();
    let mut message = first.strip_prefix("error: ").unwrap_or(first).to_owned();
    let mut hints = Vec::new();
    if message.ends_with(':') {
        // What is missing is named on lines of its own.
        message = format!("{message} {}", lines.collect::<Vec<_>>().join(", "));
    } else {
        hints.extend(lines.map(plain));
    }
    let is_said = |line: &&str| line.starts_with("Usage:") || line.starts_with("For more");
    let rest = rest.lines().map(str::trim).filter(|line| !line.is_empty() && !is_said(line));
    hints.extend(rest.map(plain));
    hints.push(format!("run `mdsel{} --help`", command_of(arguments)));
    Error::new(ErrorKind::Usage, message.replace("invalid digit found in string", "not a number"))
        .with_hint(hints.join("; "))
}

/// A remark of clap as a sentence.
fn plain(line: &str) -> String {
    let values = line.strip_prefix("[possible values: ").and_then(|rest| rest.strip_suffix(']'));
    match values {
        Some(values) => format!("it is one of {values}"),
        None => line.strip_prefix("tip: ").unwrap_or(line).to_owned(),
    }
}

/// The names of the command that `arguments` begin with, each after a blank.
fn command_of(arguments: &[OsString]) -> String {
    let program = groups::command();
    let mut command = &program;
    let mut names = String::new();
    for argument in arguments.iter().skip(1).filter_map(|argument| argument.to_str()) {
        if let Some(inner) = command.find_subcommand(argument) {
            names += &format!(" {argument}");
            command = inner;
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(arguments: &[&str]) -> (String, String) {
        let arguments: Vec<OsString> =
            std::iter::once(&"mdsel").chain(arguments).map(Into::into).collect();
        let error = groups::command().try_get_matches_from(&arguments).unwrap_err();
        let fault = fault(&error, &arguments);
        (fault.to_string(), fault.hints().join("; "))
    }

    #[test]
    fn a_command_line_that_is_wrong_is_answered_with_the_next_command() {
        let both = |message: &str, hint: &str| (message.to_owned(), hint.to_owned());
        assert_eq!(
            said(&["ldmd", "get", "a.md"]),
            both(
                "the following required arguments were not provided: --id <ID>",
                "run `mdsel ldmd get --help`"
            )
        );
        assert_eq!(
            said(&["links", "list", "a", "--direction", "up"]),
            both(
                "invalid value 'up' for '--direction <DIRECTION>'",
                "it is one of out, in, both; run `mdsel links list --help`"
            )
        );
        assert_eq!(
            said(&["find", "x", "--limit", "y"]),
            both("invalid value 'y' for '--limit <N>': not a number", "run `mdsel find --help`")
        );
        assert_eq!(said(&["dance"]).1, "run `mdsel --help`");
        assert!(said(&["find", "x", "--limt", "3"]).1.contains("'--limit'"));
    }
}
