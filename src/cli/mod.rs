//! The command line: parses arguments, sends requests to the library, prints answers and sets exit
//! statuses.
//!
//! The only module that reads the environment, the current folder and standard input, and the only
//! one that writes to standard output and standard error. Invariant: exit statuses are those of
//! `mdsel help errors`.

mod args;
mod batch;
mod command;
mod commands;
mod completers;
mod completions;
mod content;
mod context;
mod data;
mod delete;
mod described;
mod edit;
mod exit;
mod find;
mod format;
mod global;
mod habits;
mod help;
mod index;
mod ingest;
mod input;
mod insert;
mod lazy;
mod ldmd;
mod links;
mod man;
mod mcp;
mod meta;
mod neighbors;
mod note;
mod option_groups;
mod pack;
mod paths;
mod print;
mod program;
mod progress;
mod read;
mod read_command;
mod refused_options;
mod relocate;
mod replace;
mod schema;
mod search;
mod select;
mod status;
mod store;
mod task;
mod toc;
mod usage;
mod verify;

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

use clap::error::ErrorKind as ClapErrorKind;

use crate::error::{Error, ErrorKind, Result};
use crate::message::Message;
use crate::output::{Format, OutputLength, json, names, sanitize};
use command::AnyCommand as _;
use commands::Command;
use exit::Status;
use global::Global;
use note::note;
#[cfg(all(test, feature = "mcp"))]
pub(crate) use option_groups::command;

/// Runs the command that `arguments` name. The first argument is the name of the program.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    #[cfg(feature = "failpoints")]
    let _points = crate::failpoint::from_environment();
    // A panic while reading a damaged index is caught, and only the answer reports it.
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !crate::store::is_guarded() {
            report(panic);
        }
    }));
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    if let Some(status) = completions::complete(option_groups::command, &arguments) {
        return status.into();
    }
    let parsed = program::parse(&arguments).map_err(|error| {
        // Help and errors list the formats of the command, and help groups its options.
        let full = option_groups::command().try_get_matches_from(&arguments).err();
        full.filter(|full| full.kind() == error.kind()).unwrap_or(error)
    });
    let (mut global, mut command, matches) = match parsed {
        Ok((cli, matches)) => {
            let global = Global::new(cli.global, option_groups::command, commands::all);
            (global, cli.command, matches)
        }
        Err(error) => return not_understood(&error, &arguments).into(),
    };
    // A server prints protocol messages only.
    let is_server = matches!(command, Command::Mcp(_));
    if global.format.is_none() && !is_server {
        match format::of_environment() {
            Ok(wanted) => global.options.format = wanted.filter(|format| command.has(*format)),
            Err(error) => {
                return report_error(&error, format::default() == Format::Json, None).into();
            }
        }
    }
    let is_json = global.format() == Format::Json && command.has(Format::Json) && !is_server;
    let ended = refused_options::check(&matches)
        .and_then(|()| paths::rewrite(&global, &mut command))
        .and_then(|()| checked_run(&global, &command));
    for warning in global.recovered.take() {
        note(&warning.to_string());
    }
    match ended {
        Ok(status) => status.into(),
        Err(error) => {
            let error = match global.in_store() {
                Some(in_store) => error.map_hints(in_store),
                None => error,
            };
            report_error(&error, is_json, global.options("").limit()).into()
        }
    }
}

/// Runs a command, unless it does not have the format or does not accept `--root`.
fn checked_run(global: &Global, command: &Command) -> Result<Status> {
    if let Some(format) = global.format.filter(|format| !command.has(*format)) {
        // Check this before the command changes anything.
        let forms = names(|format| command.has(format));
        let message = format!("this command does not support the format {}", format.name());
        return Err(Error::new(ErrorKind::Usage, message).with_hint(match forms.as_str() {
            "" => "leave out -f".to_owned(),
            forms if format == Format::Markdown => {
                format!("ask with -f for one of {forms}, or ask `mdsel context`")
            }
            forms => format!("ask with -f for one of {forms}"),
        }));
    }
    if !matches!(command, Command::Ingest(_)) {
        store::check_root(global)?;
    }
    command.run(global)
}

/// Prints the help that clap generates to standard output, and its errors like any other error.
fn not_understood(error: &clap::Error, arguments: &[OsString]) -> Status {
    if matches!(error.kind(), ClapErrorKind::DisplayHelp | ClapErrorKind::DisplayVersion) {
        return match error.print() {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                report_error(&Error::io(Path::new("standard output"), error), false, None)
            }
            _ => Status::Success,
        };
    }
    let error = usage::error_of(error, arguments);
    // The format must be guessed if the arguments cannot be parsed.
    let is_other_format = arguments.windows(2).any(|pair| {
        let [option, value] = pair else { return false };
        (option == "-f" || option == "--format") && value != "json"
    }) || arguments.iter().any(|argument| {
        argument.to_str().is_some_and(|argument| {
            argument.strip_prefix("--format=").or_else(|| argument.strip_prefix("-f")).is_some_and(
                |format| !format.is_empty() && !format.starts_with('-') && format != "json",
            )
        })
    });
    let is_named = arguments.iter().any(|argument| {
        let argument = argument.as_encoded_bytes();
        argument.starts_with(b"-f") || argument.starts_with(b"--format")
    });
    let is_json = !is_other_format && (is_named || format::usual() == Format::Json);
    report_error(&error, is_json, None)
}

/// Prints an error, and other problems of the request, as one line each on standard error. If the format is JSON, prints
/// it as an object on standard output, too, with as many of the others as fit into the limit `most`.
fn report_error(error: &Error, is_json: bool, most: Option<OutputLength>) -> Status {
    if is_json && error.kind() != ErrorKind::BudgetTooSmall {
        let mut object = serde_json::json!({ "error": error.to_json() });
        loop {
            let line = json::compact(&object) + "\n";
            if most.is_none_or(|most| OutputLength::of(line.as_bytes()).fits(most)) {
                drop(io::stdout().lock().write_all(line.as_bytes()));
                break;
            }
            let others = object["error"]["others"].as_array_mut();
            if others.and_then(Vec::pop).is_none() {
                break;
            }
        }
    }
    let print = |code: &str, reason: Option<&str>, message: &Message, hints: &[Message]| {
        let reason = reason.map_or_else(String::new, |reason| format!(" ({reason})"));
        let hints = hints.iter().map(Message::to_string).filter(|hint| !hint.is_empty());
        let hint = hints.map(|hint| format!(" ({hint})")).collect::<String>();
        let line = format!("mdsel: {code}{reason}: {message}{hint}");
        drop(writeln!(io::stderr().lock(), "{}", sanitize::line(&line)));
    };
    print(error.kind().code(), error.reason(), error.message(), error.hints());
    for other in error.others() {
        print(other.code, other.reason, &other.message, &other.hints);
    }
    Status::Error
}
