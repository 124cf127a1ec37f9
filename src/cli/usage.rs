//! Converts clap's errors about the command line to errors of the program.
//!
//! Invariant: the message is one line that says what is wrong, and the hint ends with the command
//! to run next.

use std::ffi::OsString;
use std::path::Path;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind as ClapErrorKind};

use super::{habits, option_groups};
use crate::address::suggest::is_near;
use crate::error::{Error, ErrorKind};
use crate::message::{shell_value, shell_word};

/// Converts `error`, which clap returned for `arguments`.
pub(super) fn error_of(error: &clap::Error, arguments: &[OsString]) -> Error {
    let program = option_groups::command();
    let commands = &*commands_of(&program, arguments);
    if is_without_command(error) {
        return without_command(commands);
    }
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
    let tips = rest.lines().map(str::trim).take_while(is_tip);
    // Where two hyphens help, `as_text` names the whole command.
    hints.extend(
        tips.filter(|tip| !tip.is_empty() && !tip.contains("as a value, use '-- ")).map(plain),
    );
    let similar = similar(error);
    if let Some(similar) = &similar {
        hints.clone_from(similar);
    }
    if let Some(document) = document_of(error, &message, commands) {
        if message.starts_with("the subcommand ") {
            message = format!("unrecognized subcommand '{document}'");
        }
        if hints.is_empty() {
            // Other programs take the document before the pattern.
            let texts: Vec<&str> = arguments.iter().filter_map(|it| it.to_str()).collect();
            let at = texts.iter().position(|text| *text == document).unwrap_or_default();
            let before = at.checked_sub(1).and_then(|before| texts.get(before)).copied();
            let is_path = |text: &&str| text.contains('/') || Path::new(text).extension().is_some();
            let under = before.filter(is_path).unwrap_or(&document);
            hints.push(format!("to select documents, use --under {}", shell_word(under)));
        }
    }
    if let Some(option) = given_negative_number(error, arguments, commands) {
        let message = format!("{option} takes a number that is not negative");
        return Error::new(ErrorKind::Usage, message)
            .with_hint(format!("run `mdsel{} --help`", words(commands)));
    }
    let habit = habit(error, arguments, commands);
    let is_certain = habit.is_some() || similar.is_some_and(|similar| !similar.is_empty());
    hints = habit.map_or(hints, |habit| vec![habit]);
    if error.kind() == ClapErrorKind::ArgumentConflict && message.contains("'[QUERY]...'") {
        let place = last_word_of_query(arguments).unwrap_or_default();
        hints.push(format!(
            "a pattern takes no other words; to search in a folder or document, use --under {}",
            shell_value(&place)
        ));
    }
    match as_text(error, arguments, commands).filter(|_| !is_certain) {
        // The hint of clap names only the letter that it does not know.
        Some(command) => hints = vec![format!("to pass it as text, run `{command}`")],
        None => hints.push(format!("run `mdsel{} --help`", words(commands))),
    }
    Error::new(
        ErrorKind::Usage,
        message.replace("invalid digit found in string", "not a whole number of at least 0"),
    )
    .with_hint(hints.join("; "))
}

/// Returns the last word of the query in `arguments`, which clap refuses.
fn last_word_of_query(arguments: &[OsString]) -> Option<String> {
    let lenient = option_groups::command().ignore_errors(true);
    let matches = lenient.try_get_matches_from(arguments).ok()?;
    let (_, matches) = matches.subcommand()?;
    matches.try_get_many::<String>("query").ok()??.next_back().cloned()
}

/// Returns whether the name of a command is missing.
fn is_without_command(error: &clap::Error) -> bool {
    matches!(
        error.kind(),
        ClapErrorKind::MissingSubcommand | ClapErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    )
}

/// Returns the error for arguments that end after `commands`, before the name of a command.
fn without_command(commands: &[&Command]) -> Error {
    let name = words(commands);
    let hint = match commands {
        [.., group] if commands.len() > 1 => {
            let names: Vec<&str> = group.get_subcommands().map(Command::get_name).collect();
            format!("use one of {}", names.join(", "))
        }
        _ => "`mdsel ingest FOLDER` makes a store, `mdsel search WORDS` searches it".to_owned(),
    };
    let message = format!("mdsel{name} needs the name of a command");
    Error::new(ErrorKind::Usage, message).with_hint(format!("{hint}; run `mdsel{name} --help`"))
}

/// Returns the text of `error` of this kind.
fn text_of(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text),
        _ => None,
    }
}

/// Returns the option before the negative number that `error` refers to, if it takes a value.
fn given_negative_number<'a>(
    error: &clap::Error,
    arguments: &'a [OsString],
    commands: &[&Command],
) -> Option<&'a str> {
    text_of(error, ContextKind::InvalidArg)
        .filter(|_| error.kind() == ClapErrorKind::UnknownArgument)?;
    let pairs = arguments.windows(2).filter_map(|pair| match pair {
        [option, value] => Some((option.to_str()?, value.to_str()?)),
        _ => None,
    });
    let takes_number = |option: &str| {
        let option = habits::find(commands, option);
        let names = option.and_then(|option| option.get_value_names()).unwrap_or_default();
        names.iter().any(|name| name == "N" || name == "SECONDS")
    };
    let mut options = pairs.filter(|(_, value)| is_negative(value)).map(|(option, _)| option);
    options.find(|option| option.starts_with('-') && takes_number(option))
}

fn is_negative(text: &str) -> bool {
    text.starts_with('-') && text.parse::<f64>().is_ok()
}

/// Returns the hint for a command or an option that other programs have.
fn habit(error: &clap::Error, arguments: &[OsString], commands: &[&Command]) -> Option<String> {
    let command = words(commands);
    let command = command.trim_start();
    if let Some(name) = text_of(error, ContextKind::InvalidSubcommand) {
        return habits::command(format!("{command} {name}").trim_start())
            .or_else(|| habits::document_of_group(command, name));
    }
    if error.kind() == ClapErrorKind::MissingRequiredArgument
        && matches!(command, "meta add" | "meta remove")
    {
        let mut pairs = arguments.iter().filter_map(|argument| argument.to_str()?.split_once('='));
        let Some((key, value)) = pairs.find(|(key, _)| !key.starts_with('-')) else {
            return (command == "meta remove")
                .then(|| "to remove a key with its value, use `mdsel meta unset DOC KEY`".into());
        };
        let (key, value) = (shell_word(key), shell_word(value));
        return Some(format!(
            "write the key and the value apart: `mdsel {command} DOC {key} {value}`"
        ));
    }
    if error.kind() != ClapErrorKind::UnknownArgument {
        return None;
    }
    let option = text_of(error, ContextKind::InvalidArg)?;
    if !option.starts_with('-') {
        return habits::text_of(command);
    }
    let is_alone = |argument: &OsString| {
        let after = argument.to_str().and_then(|argument| argument.strip_prefix(option));
        after.is_some_and(|after| after.is_empty() || after.starts_with('='))
    };
    arguments.iter().any(is_alone).then(|| habits::option(commands, option)).flatten()
}

/// Returns the hint that names what is spelled nearly like an unknown command or option; no hint if what clap names is
/// spelled otherwise. Returns `None` if clap names nothing.
fn similar(error: &clap::Error) -> Option<Vec<String>> {
    let (given, suggested) = match error.kind() {
        ClapErrorKind::UnknownArgument => (ContextKind::InvalidArg, ContextKind::SuggestedArg),
        ClapErrorKind::InvalidSubcommand => {
            (ContextKind::InvalidSubcommand, ContextKind::SuggestedSubcommand)
        }
        _ => return None,
    };
    let name = text_of(error, given)?.trim_start_matches('-');
    let near =
        |other: &String| is_near(name, other.trim_start_matches('-')).then(|| format!("'{other}'"));
    let near: Vec<String> = match error.get(suggested)? {
        ContextValue::String(other) => near(other).into_iter().collect(),
        ContextValue::Strings(others) => others.iter().filter_map(near).collect(),
        _ => return None,
    };
    let hint = match near.as_slice() {
        [] => None,
        [only] => Some(format!("a similar name is {only}")),
        several => Some(format!("similar names are {}", several.join(", "))),
    };
    Some(hint.into_iter().collect())
}

/// Returns the argument that may be meant as a document, for a command that takes documents only as a filter.
fn document_of(error: &clap::Error, message: &str, commands: &[&Command]) -> Option<String> {
    const FILTERING: [&str; 6] = [" code", " tables", " tasks", " meta", " find", " search"];
    if !FILTERING.contains(&&*words(commands)) {
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
/// the argument begins with a hyphen and is not a letter alone, and the command takes text if there are two hyphens.
fn as_text(error: &clap::Error, arguments: &[OsString], commands: &[&Command]) -> Option<String> {
    let takes_text = commands.last().is_some_and(|command| {
        command.get_positionals().any(|it| ["query", "pattern"].contains(&it.get_id().as_str()))
    });
    let is_meant = |argument: &&str| match error.kind() {
        ClapErrorKind::UnknownArgument => text_of(error, ContextKind::InvalidArg)
            .is_some_and(|option| argument.starts_with(option)),
        // The value of a short option follows its letter.
        ClapErrorKind::InvalidValue | ClapErrorKind::ValueValidation => {
            text_of(error, ContextKind::InvalidValue)
                .is_some_and(|value| argument.get(2..) == Some(value))
        }
        _ => false,
    };
    let texts: Option<Vec<&str>> = arguments.iter().map(|argument| argument.to_str()).collect();
    let texts = texts?;
    let is_text = |argument: &&str| {
        let is_long = argument.starts_with("--");
        let is_letter = argument.len() <= 2 && !is_negative(argument);
        !is_letter && argument.starts_with('-') && (takes_text || !is_long)
    };
    let at = texts.iter().position(|argument| is_text(argument) && is_meant(argument))?;
    let (before, rest) = texts.split_at_checked(at)?;
    let (meant, after) = rest.split_first()?;
    let value_of = before.last().filter(|option| takes_value(commands, option));
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

/// Returns the names of `commands` after the program, each after a blank.
fn words(commands: &[&Command]) -> String {
    commands.iter().skip(1).map(|command| format!(" {}", command.get_name())).collect()
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
fn takes_value(commands: &[&Command], option: &str) -> bool {
    let option = habits::find(commands, option);
    option.is_some_and(|option| option.get_action().takes_values())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message_and_hint(arguments: &[&str]) -> (String, String) {
        let arguments: Vec<OsString> =
            std::iter::once(&"mdsel").chain(arguments).map(Into::into).collect();
        let error = option_groups::command().try_get_matches_from(&arguments).unwrap_err();
        let error = error_of(&error, &arguments);
        (error.to_string(), error.hint())
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
            both(
                "invalid value 'y' for '--limit <N>': not a whole number of at least 0",
                "run `mdsel find --help`"
            )
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
        for arguments in [&[][..], &["-f", "text"]] {
            let (message, hint) = message_and_hint(arguments);
            assert_eq!(message, "mdsel needs the name of a command");
            let commands = "`mdsel ingest FOLDER` makes a store, `mdsel search WORDS` searches it";
            assert_eq!(hint, format!("{commands}; run `mdsel --help`"));
        }
        let (message, hint) = message_and_hint(&["links"]);
        assert_eq!(message, "mdsel links needs the name of a command");
        assert_eq!(hint, "use one of list, tree, path, check; run `mdsel links --help`");
        assert_eq!(message_and_hint(&["dance"]).1, "run `mdsel --help`");
        assert_eq!(message_and_hint(&["dismiss"]).1, "run `mdsel --help`");
        let hint = message_and_hint(&["serch"]).1;
        assert_eq!(hint, "a similar name is 'search'; run `mdsel --help`");
        let hint = message_and_hint(&["grep", "x"]).1;
        assert_eq!(hint, "use `mdsel search -e PATTERN`; run `mdsel --help`");
        // Other programs have no commands below these.
        assert_eq!(message_and_hint(&["links", "show"]).1, "run `mdsel links --help`");
        assert_eq!(message_and_hint(&["ldmd", "add"]).1, "run `mdsel ldmd --help`");
        let hint = message_and_hint(&["search", "-e", "x", "a b"]).1;
        assert!(hint.contains("use --under 'a b'; "), "{hint}");
        for arguments in [
            &["search", "-e", "x", "sub", "-f", "text"][..],
            &["-f", "text", "search", "sub", "-ie", "x", "--limit", "3", "-w"],
            &["search", "-e", "x", "--regexp=y", "-C2", "sub", "--pretty"],
        ] {
            let hint = message_and_hint(arguments).1;
            assert!(hint.contains("use --under sub; "), "{arguments:?} {hint}");
        }
        for command in [&["find", "x", "a b"][..], &["meta", "a b"]] {
            let hint = message_and_hint(command).1;
            assert!(hint.starts_with("to select documents, use --under 'a b'; "), "{hint}");
        }
        let (message, hint) = message_and_hint(&["meta", "--db", "x", "jj"]);
        assert_eq!(message, "unrecognized subcommand 'jj'");
        assert!(hint.starts_with("to select documents, use --under jj; "), "{hint}");
    }

    #[test]
    fn an_unknown_option_of_a_search_may_be_text() {
        for (arguments, hint) in [
            (
                &["find", "x", "--limt", "3"][..],
                "a similar name is '--limit'; run `mdsel find --help`",
            ),
            (
                &["search", "x", "--context-lines", "3"],
                "a similar name is '--context'; run `mdsel search --help`",
            ),
            (
                &["search", "--no-warnings"],
                "to pass it as text, run `mdsel search -- '--no-warnings'`",
            ),
            (
                &["search", "--experimental-fetch", "--limit", "2"],
                "to pass it as text, run `mdsel search --limit 2 -- '--experimental-fetch'`",
            ),
            (&["tables", "--experimental"], "run `mdsel tables --help`"),
        ] {
            assert_eq!(message_and_hint(arguments).1, hint, "{arguments:?}");
        }
    }

    #[test]
    fn options_of_other_programs_have_the_hint_of_the_command() {
        for (arguments, hint) in [
            (&["search", "--query", "x"][..], "write the words without an option"),
            (&["search", "x", "--in", "docs"], "use --under ADDRESS"),
            (&["search", "x", "--max-results=3"], "use --limit N"),
            (&["search", "x", "-k", "3"], "use --limit N"),
            (&["search", "x", "--json"], "use -f json"),
            (&["search", "x", "-r"], "leave it out: all documents are searched"),
            (&["replace", "a", "b", "--with", "c"], "use --content TEXT"),
            (&["task", "a", "--complete"], "use --done"),
            (&["insert", "a", "b", "--after", "c"], "use --position after"),
            (&["code", "-l", "rust"], "use --lang LANGUAGE"),
            (&["code", "-c", "x"], "use --containing TEXT"),
            (&["meta", "get", "a"], "use `mdsel meta --under DOC --get KEY`"),
            (
                &["meta", "remove", "a", "k"],
                "to remove a key with its value, use `mdsel meta unset DOC KEY`",
            ),
            (&["overview"], "use `mdsel toc --depth 0`"),
            (&["ls"], "use `mdsel toc --depth 0`"),
            (&["list"], "use `mdsel toc --depth 0`"),
            (&["init"], "use `mdsel ingest FOLDER`"),
            (&["collection", "add", "x", "y"], "use `mdsel ingest --collection NAME FOLDER`"),
            (
                &["undo"],
                "no command does this: restore the file with git, or the program that keeps its versions",
            ),
            (&["links", "a b.md"], "use `mdsel links list 'a b.md'`"),
            (&["ldmd", "a.md"], "use `mdsel ldmd index a.md`"),
            (&["code", "--search", "x"], "use --containing TEXT"),
            (&["search", "x", "-t", "code"], "use --type TYPE"),
            (
                &["find", "-e", "x"],
                "a title is found by a part of it or a glob; for a regular expression, use `mdsel search -e PATTERN`",
            ),
            (
                &["search", "x", "--hidden"],
                "leave it out: the whole store is searched, and `mdsel ingest --hidden` adds hidden files",
            ),
            (&["replace", "a", "b", "new text"], "use --content TEXT"),
            (&["insert", "a", "b", "new text"], "use --content TEXT"),
            (&["rename", "a", "b", "new title"], "use --title TITLE"),
            (
                &["meta", "add", "a", "tags=x"],
                "write the key and the value apart: `mdsel meta add DOC tags x`",
            ),
            (&["tree"], "use `mdsel toc`"),
            (&["tasks", "--state", "open"], "use --open or --done"),
            (&["tasks", "--closed"], "use --done"),
            (&["links", "broken"], "use `mdsel links check`"),
            (&["links", "list", "a", "--in"], "use --direction in"),
            (&["read", "a", "--lines", "1-3"], "write the lines after the document: DOC:START-END"),
            (
                &["replace", "a", "--section", "b"],
                "write the section after the document: DOC SECTION",
            ),
            (&["context", "--question", "x"], "use --query QUERY"),
            (&["search", "a", "--tokens", "9"], "use --max-tokens N"),
            (&["find", "a", "--exact"], "leave it out: a section with the whole title comes first"),
        ] {
            let printed = message_and_hint(arguments).1;
            assert!(
                printed.starts_with(&format!("{hint}; run `mdsel")),
                "{arguments:?}: {printed}"
            );
        }
        let hint = message_and_hint(&["search", "-rx"]).1;
        assert_eq!(hint, "to pass it as text, run `mdsel search -- '-rx'`");
    }
}
