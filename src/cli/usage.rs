//! Converts clap's errors about the command line to errors of the program.
//!
//! Invariant: the message is one line that says what is wrong, and the hint ends with the command
//! to run next.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind as ClapErrorKind};
use clap::{Arg, Command};

use super::groups;
use crate::error::{Error, ErrorKind, shell_value, shell_word};

/// Names for commands that other programs have, and what does the same here.
const SYNONYMS: [(&str, &str); 16] = [
    ("add", "insert DOC SECTION"),
    ("append", "insert DOC SECTION --position last_child"),
    ("backlinks", "links list ADDRESS --direction in"),
    ("cat", "read DOC"),
    ("check", "links check"),
    ("diff", "status --stale"),
    ("get", "read DOC SECTION"),
    ("grep", "search -e PATTERN"),
    ("list", "index"),
    ("ls", "index"),
    ("mv", "move DOC PATH"),
    ("outline", "toc DOC"),
    ("refs", "links list ADDRESS --direction in"),
    ("rg", "search -e PATTERN"),
    ("rm", "delete DOC SECTION"),
    ("show", "read DOC SECTION"),
];

/// Converts `error`, which clap returned for `arguments`.
pub(super) fn error_of(error: &clap::Error, arguments: &[OsString]) -> Error {
    let text = error.to_string();
    let (head, rest) = text.split_once("\n\n").unwrap_or((&text, ""));
    let mut lines = head.lines().map(str::trim);
    let first = lines.next().unwrap_or_default();
    let mut message = first.strip_prefix("error: ").unwrap_or(first).to_owned();
    let mut hints = Vec::new();
    if message.ends_with(':') {
        // Clap lists missing arguments on lines of their own.
        message = format!("{message} {}", lines.collect::<Vec<_>>().join(", "));
    } else {
        hints.extend(lines.map(plain));
    }
    // The tips are followed by the usage, which may have several lines, and by `For more`.
    let is_tip = |line: &&str| !line.starts_with("Usage:") && !line.starts_with("For more");
    let tips = rest.lines().map(str::trim).take_while(is_tip).filter(|line| !line.is_empty());
    hints.extend(tips.map(plain));
    if let Some(document) = document_of(error, &message, arguments) {
        if message.starts_with("the subcommand ") {
            message = format!("unrecognized subcommand '{document}'");
        }
        if hints.is_empty() {
            hints.push(format!("to select documents, use --under {}", shell_word(&document)));
        }
    }
    if let Some(command) = synonym(error).filter(|_| command_of(arguments).is_empty()) {
        hints = vec![format!("use `mdsel {command}`")];
    }
    if error.kind() == ClapErrorKind::ArgumentConflict && message.ends_with("'[QUERY]...'") {
        let place = arguments.last().and_then(|last| last.to_str()).unwrap_or_default();
        hints.push(format!(
            "a pattern takes no other words; to search in a folder or document, use --under {}",
            shell_value(place)
        ));
    }
    match as_text(error, arguments) {
        // The hint of clap names only the letter that it does not know.
        Some(command) => hints = vec![format!("to pass it as text, run `{command}`")],
        None => hints.push(format!("run `mdsel{} --help`", command_of(arguments))),
    }
    Error::new(ErrorKind::Usage, message.replace("invalid digit found in string", "not a number"))
        .with_hint(hints.join("; "))
}

/// Returns the command for an unknown one that other programs have, or that has another name here.
fn synonym(error: &clap::Error) -> Option<&'static str> {
    let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    SYNONYMS.iter().find(|(other, _)| other == name).map(|(_, command)| *command)
}

/// Returns the argument that may be meant as a document, for a command that takes documents only as a filter.
fn document_of(error: &clap::Error, message: &str, arguments: &[OsString]) -> Option<String> {
    const FILTERING: [&str; 6] = [" code", " tables", " tasks", " meta", " find", " search"];
    if !FILTERING.contains(&&*command_of(arguments)) {
        return None;
    }
    let (before, quoted) = message.split_once('\'')?;
    let (argument, _) = quoted.split_once('\'')?;
    let is_argument = match error.kind() {
        ClapErrorKind::UnknownArgument | ClapErrorKind::InvalidSubcommand => true,
        // An option of the program before a word that looks like a subcommand.
        ClapErrorKind::ArgumentConflict => before == "the subcommand ",
        _ => false,
    };
    (is_argument && !argument.starts_with('-')).then(|| argument.to_owned())
}

/// Returns the command that passes the argument to which `error` refers as text. Returns `None` unless
/// the argument begins with one hyphen and is not an option alone.
fn as_text(error: &clap::Error, arguments: &[OsString]) -> Option<String> {
    let value = |kind| match error.get(kind) {
        Some(ContextValue::String(value)) => Some(value.as_str()),
        _ => None,
    };
    let is_meant = |argument: &&str| match error.kind() {
        ClapErrorKind::UnknownArgument => {
            value(ContextKind::InvalidArg).is_some_and(|option| argument.starts_with(option))
        }
        // The value of a short option follows its letter.
        ClapErrorKind::InvalidValue | ClapErrorKind::ValueValidation => {
            value(ContextKind::InvalidValue).is_some_and(|value| argument.get(2..) == Some(value))
        }
        _ => false,
    };
    let texts: Option<Vec<&str>> = arguments.iter().map(|argument| argument.to_str()).collect();
    let texts = texts?;
    let is_text = |argument: &&str| {
        argument.len() > 2 && argument.starts_with('-') && !argument.starts_with("--")
    };
    let at = texts.iter().position(|argument| is_text(argument) && is_meant(argument))?;
    let (before, rest) = texts.split_at_checked(at)?;
    let (meant, after) = rest.split_first()?;
    let value_of = before.last().filter(|option| takes_value(arguments, option));
    if let Some(option) = value_of {
        let value = format!("{option}={}", shell_value(meant));
        let early = before.iter().skip(1).take(before.len().saturating_sub(2));
        let early = early.map(|word| shell_value(word));
        let words = early.chain([value]).chain(after.iter().map(|word| shell_value(word)));
        let command = std::iter::once("mdsel".to_owned()).chain(words);
        return Some(command.collect::<Vec<_>>().join(" "));
    }
    // Options have no meaning after `--`.
    let has_options = after.iter().any(|argument| argument.starts_with('-'));
    let (early, late) = if has_options { (after, &[][..]) } else { (&[][..], after) };
    let words = before.iter().skip(1).chain(early).map(|word| shell_value(word));
    let texts = [meant].into_iter().chain(late).map(|word| shell_word(word));
    let command = std::iter::once("mdsel".to_owned()).chain(words).chain(["--".to_owned()]);
    Some(command.chain(texts).collect::<Vec<_>>().join(" "))
}

/// Converts a hint of clap to a sentence.
fn plain(line: &str) -> String {
    let values = line.strip_prefix("[possible values: ").and_then(|rest| rest.strip_suffix(']'));
    match values {
        Some(values) => format!("use one of {values}"),
        None => line.strip_prefix("tip: ").unwrap_or(line).to_owned(),
    }
}

/// Returns the names of the command at the start of `arguments`, each after a blank.
fn command_of(arguments: &[OsString]) -> String {
    let program = groups::command();
    let names = commands_of(&program, arguments).into_iter().skip(1);
    names.map(|command| format!(" {}", command.get_name())).collect()
}

/// Returns the program and the commands that `arguments` name, outermost first.
fn commands_of<'a>(program: &'a Command, arguments: &[OsString]) -> Vec<&'a Command> {
    let mut commands = vec![program];
    for argument in arguments.iter().skip(1).filter_map(|argument| argument.to_str()) {
        commands.extend(commands.last().and_then(|command| command.find_subcommand(argument)));
    }
    commands
}

/// Returns whether `option`, with its hyphens, is an option with a value.
fn takes_value(arguments: &[OsString], option: &str) -> bool {
    let program = groups::command();
    let is_it = |argument: &&Arg| {
        argument.get_long().is_some_and(|long| option.strip_prefix("--") == Some(long))
            || argument.get_short().is_some_and(|short| option == format!("-{short}"))
    };
    let commands = commands_of(&program, arguments);
    let mut options = commands.iter().flat_map(|command| command.get_arguments());
    options.find(is_it).is_some_and(|argument| argument.get_action().takes_values())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message_and_hint(arguments: &[&str]) -> (String, String) {
        let arguments: Vec<OsString> =
            std::iter::once(&"mdsel").chain(arguments).map(Into::into).collect();
        let error = groups::command().try_get_matches_from(&arguments).unwrap_err();
        let error = error_of(&error, &arguments);
        (error.to_string(), error.hints().join("; "))
    }

    #[test]
    fn the_hint_of_a_usage_error_ends_with_the_next_command() {
        let both = |message: &str, hint: &str| (message.to_owned(), hint.to_owned());
        assert_eq!(
            message_and_hint(&["ldmd", "get", "a.md"]),
            both(
                "the following required arguments were not provided: --id <ID>",
                "run `mdsel ldmd get --help`"
            )
        );
        assert_eq!(
            message_and_hint(&["links", "list", "a", "--direction", "up"]),
            both(
                "invalid value 'up' for '--direction <DIRECTION>'",
                "use one of out, in, both; run `mdsel links list --help`"
            )
        );
        assert_eq!(
            message_and_hint(&["find", "x", "--limit", "y"]),
            both("invalid value 'y' for '--limit <N>': not a number", "run `mdsel find --help`")
        );
        for (arguments, command) in [
            (&["search", "-x y"][..], "mdsel search -- '-x y'"),
            (&["search", "--limit", "5", "-Algorithm"], "mdsel search --limit 5 -- '-Algorithm'"),
            (&["search", "-x y", "z"], "mdsel search -- '-x y' z"),
            (&["search", "-x y", "--limit", "5"], "mdsel search --limit 5 -- '-x y'"),
            (&["search", "-e", ".", "--under", "-x.md"], "mdsel search -e . --under=-x.md"),
            (&["find", "-x's y"], r"mdsel find -- '-x'\''s y'"),
        ] {
            let hint = format!("to pass it as text, run `{command}`");
            assert_eq!(message_and_hint(arguments).1, hint, "{arguments:?}");
        }
        assert_eq!(message_and_hint(&["dance"]).1, "run `mdsel --help`");
        let hint = message_and_hint(&["grep", "x"]).1;
        assert_eq!(hint, "use `mdsel search -e PATTERN`; run `mdsel --help`");
        // Other programs have no commands below these.
        assert_eq!(message_and_hint(&["links", "show"]).1, "run `mdsel links --help`");
        assert_eq!(message_and_hint(&["ldmd", "add"]).1, "run `mdsel ldmd --help`");
        let hint = message_and_hint(&["search", "-e", "x", "a b"]).1;
        assert!(hint.contains("use --under 'a b'; "), "{hint}");
        for command in [&["tables", "a b"][..], &["find", "x", "a b"], &["meta", "a b"]] {
            let hint = message_and_hint(command).1;
            assert!(hint.starts_with("to select documents, use --under 'a b'; "), "{hint}");
        }
        let (message, hint) = message_and_hint(&["meta", "--db", "x", "jj"]);
        assert_eq!(message, "unrecognized subcommand 'jj'");
        assert!(hint.starts_with("to select documents, use --under jj; "), "{hint}");
        assert!(message_and_hint(&["find", "x", "--limt", "3"]).1.contains("'--limit'"));
    }
}
