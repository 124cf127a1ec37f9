//! The command line: parses arguments, sends requests to the library, prints answers and sets exit
//! statuses.
//!
//! The only module that reads the environment, the current folder and standard input, and the only
//! one that writes to standard output and standard error. Invariants: standard output contains the
//! answer and nothing else; a closed pipe is not an error; exit statuses are those of `mdsel help
//! errors`.

mod args;
mod batch;
mod command;
mod commands;
mod completions;
mod content;
mod context;
mod data;
mod delete;
mod edit;
mod find;
mod format;
mod global;
mod groups;
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
mod pack;
mod paths;
mod progress;
mod read;
mod read_command;
mod refusal;
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
use std::io::{self, BufWriter, IsTerminal as _, Write as _};
use std::process::ExitCode;

use clap::CommandFactory as _;
use clap::error::ErrorKind as ClapErrorKind;

use crate::address::AddressError;
use crate::error::{Error, ErrorKind, Result};
use crate::ingest::IngestReport;
use crate::limits;
use crate::markdown::words::measure;
use crate::message::{self, Message, Wording, shell_word};
use crate::output::{
    Answer, Caller, Format, OutputOptions, fits, json, names, sanitize, too_small, write,
    write_list,
};
use crate::query::finding::Findings;
use crate::query::labels::read_labels;
use crate::query::{List, Outcome, Session};
use args::{Cli, Color};
use command::AnyCommand as _;
use commands::Command;
use global::Global;

/// The exit statuses of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    /// Everything was answered, or a check found no problem.
    Success = 0,
    /// Nothing was answered, or a check found problems.
    Nothing = 1,
    /// A usage error, or an error of the store or of a file.
    Error = 2,
    /// A part was answered.
    Some = 3,
}

impl From<Outcome> for Status {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::All => Self::Success,
            Outcome::Some => Self::Some,
            Outcome::None => Self::Nothing,
        }
    }
}

impl Status {
    /// Returns the status of a check.
    fn of_check(findings: &Findings) -> Self {
        if findings.is_partial() {
            Self::Error
        } else if findings.total == 0 {
            Self::Success
        } else {
            Self::Nothing
        }
    }
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(status as u8)
    }
}

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
    if let Some(status) = completions::complete(&arguments) {
        return status.into();
    }
    let parsed = lazy::parse(&arguments).map_err(|error| {
        // Help and errors list the formats of the command, and help groups its options.
        let full = groups::command().try_get_matches_from(&arguments).err();
        full.filter(|full| full.kind() == error.kind()).unwrap_or(error)
    });
    let (mut global, mut command, matches) = match parsed {
        Ok((cli, matches)) => (Global::new(cli.global), cli.command, matches),
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
    let ended = refusal::check(&matches)
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
            report_error(&error, is_json, global.max_chars).into()
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
            forms => format!("ask with -f for one of {forms}"),
        }));
    }
    if !matches!(command, Command::Ingest(_)) {
        store::check_root(global)?;
    }
    command.run(global)
}

/// Returns the error of a part of the program that was left out when it was built.
fn lacks_feature(name: &str) -> Error {
    Error::new(ErrorKind::Usage, format!("this program was built without the feature {name:?}"))
        .with_hint(format!("install one that has it: `cargo install mdsel --features {name}`"))
}

/// Prints the help that clap generates to standard output, and its errors like any other error.
fn not_understood(error: &clap::Error, arguments: &[OsString]) -> Status {
    if matches!(error.kind(), ClapErrorKind::DisplayHelp | ClapErrorKind::DisplayVersion) {
        return match error.print() {
            Ok(()) => Status::Success,
            Err(_) => Status::Error,
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

/// Prints an error as one line on standard error. If the format is JSON, prints it as an object on
/// standard output, too, unless it exceeds `max_chars` Unicode scalars.
fn report_error(error: &Error, is_json: bool, max_chars: Option<usize>) -> Status {
    if is_json && error.kind() != ErrorKind::BudgetTooSmall {
        let object = serde_json::json!({ "error": error.to_json() });
        let line = json::compact(&object);
        if max_chars.is_none_or(|most| line.chars().count() < most) {
            drop(writeln!(io::stdout().lock(), "{line}"));
        }
    }
    let hints = error.hints().iter().map(Message::to_string).filter(|hint| !hint.is_empty());
    let hint = hints.map(|hint| format!(" ({hint})")).collect::<String>();
    let reason = error.reason().map_or_else(String::new, |reason| format!(" ({reason})"));
    let line = format!("mdsel: {}{reason}: {error}{hint}", error.kind().code());
    drop(writeln!(io::stderr().lock(), "{}", sanitize::line(&line)));
    Status::Error
}

/// Prints a line on standard error.
fn note(text: &str) {
    drop(writeln!(io::stderr().lock(), "{}", sanitize::line(text)));
}

impl Global {
    fn format(&self) -> Format {
        self.format.unwrap_or_else(format::default)
    }

    fn options<'a>(&self, store: &'a str) -> OutputOptions<'a> {
        OutputOptions {
            store,
            format: self.format(),
            is_pretty: self.pretty,
            is_compact: self.compact,
            has_color: match self.color {
                Color::Always => true,
                Color::Never => false,
                Color::Auto => io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
            },
            max_chars: self.max_chars,
            caller: Caller::CommandLine,
        }
    }

    /// Returns a function that adds the given `--db` and `--root` to the commands that a message names, unless it
    /// names these options itself. Without them the commands find another store or none, or other files. Returns
    /// `None` if no `--db` is given.
    fn in_store(&self) -> Option<impl Fn(&Message) -> Message> {
        self.db.as_ref()?;
        let store = format!(" --db {}", shell_word(&store::shown(self)));
        let root = self.root.as_ref().map_or_else(String::new, |root| {
            format!(" --root {}", shell_word(&root.display().to_string()))
        });
        // Made once, because a check may have a hint for each document.
        let program = Cli::command();
        Some(move |message: &Message| {
            if message.names("--db") {
                return message.clone();
            }
            let root = if message.names("--root") { "" } else { &root };
            message.render(&InStore { options: format!("{store}{root}"), program: &program }).into()
        })
    }

    /// Prints the problems that a check found, and returns its status.
    fn print_findings(&self, mut findings: Findings) -> Result<Status> {
        self.print_list(&mut findings)?;
        Ok(Status::of_check(&findings))
    }

    /// Returns a list of at most `limit` items, of which 0 means all, without most of the items that do not
    /// fit into the budget. Calls `make` with a number of items that usually fills the budget, then with
    /// greater numbers while they all fit.
    fn filled<L: Answer + List>(
        &self,
        limit: usize,
        make: impl Fn(usize) -> Result<L>,
    ) -> Result<L> {
        let Some(most) = self.max_chars else { return make(limit) };
        let greatest = if limit == 0 { usize::MAX } else { limit };
        let usual_chars = match self.format() {
            Format::Json | Format::Jsonl => 240,
            _ => 40,
        };
        let store = store::shown(self);
        let mut count = most / usual_chars + 1;
        loop {
            count = count.min(greatest);
            let answer = make(count)?;
            if count == greatest || answer.count() < count || !fits(&answer, self.options(&store))?
            {
                return Ok(answer);
            }
            count = count.saturating_mul(4);
        }
    }

    /// Prints an answer. Returns whether standard output was still open.
    fn print(&self, answer: &impl Answer) -> Result<bool> {
        let store = store::shown(self);
        finish(|out| write(answer, self.options(&store), out))
    }

    /// Returns an error if the budget may be too small for the report of a change. Called before
    /// the change is made.
    fn has_room_for_report(&self) -> Result<()> {
        let Some(most) = self.max_chars else { return Ok(()) };
        let store = store::shown(self);
        let mut longest = Vec::new();
        write(
            &IngestReport::longest(),
            OutputOptions { max_chars: None, ..self.options(&store) },
            &mut longest,
        )?;
        let enough = measure(&longest).chars.max(limits::REPORT_CHARS);
        if most >= enough {
            return Ok(());
        }
        let message = format!("the report does not fit in {most} characters");
        Err(Error::new(ErrorKind::BudgetTooSmall, message)
            .with_hint(format!("use --max-chars {enough} or more")))
    }

    /// Prints an answer that is not cut: help and schemas. Fails if it does not fit into the budget.
    fn print_whole(&self, bytes: &[u8]) -> Result<Status> {
        let chars = String::from_utf8_lossy(bytes).chars().count();
        match self.max_chars {
            Some(most) if most < chars => Err(too_small(most, chars, Caller::CommandLine)),
            _ => generated(bytes),
        }
    }

    /// Returns an error if an answer does not fit into the budget. Prints nothing.
    fn check_fits(&self, answer: &(impl Answer + List)) -> Result<()> {
        match self.max_chars {
            None => Ok(()),
            Some(_) => {
                let store = store::shown(self);
                write_list(answer, self.options(&store), &mut io::sink()).map(|_| ())
            }
        }
    }

    /// Prints an answer about documents of `session`; see [`Self::print_list`].
    fn print_documents(
        &self,
        session: &Session<'_>,
        answer: &mut (impl Answer + List),
    ) -> Result<bool> {
        if self.format() == Format::Records {
            read_labels(session, answer)?;
        }
        self.print_list(answer)
    }

    /// Writes the path in an address as it was given.
    fn restore_path(&self, fault: &mut AddressError) {
        let given = self.given.borrow();
        let given = given.iter().find(|(looked_up, _)| *looked_up == fault.selector);
        if let Some((looked_up, given)) = given {
            fault.message.replace(looked_up, given);
            fault.selector.clone_from(given);
        }
    }

    /// Prints an answer, with fewer items if the budget requires it. Returns whether standard
    /// output was still open. Adds the given `--db` to the commands that its messages name.
    fn print_list(&self, answer: &mut (impl Answer + List)) -> Result<bool> {
        if let Some(page) = answer.page_mut() {
            page.warnings.splice(0..0, self.recovered.take());
            for fault in &mut page.unresolved_selectors {
                self.restore_path(fault);
            }
        }
        if let Some(in_store) = self.in_store() {
            for message in answer.messages_mut() {
                *message = in_store(message);
            }
        }
        let store = store::shown(self);
        finish(|out| write_list(answer, self.options(&store), out))
    }
}

/// The command line with the options that name the store.
struct InStore<'a> {
    options: String,
    program: &'a clap::Command,
}

impl Wording for InStore<'_> {
    fn command(&self, command: &message::Command) -> String {
        let name = command.name();
        let uses_store = !["completions", "copy", "dump", "help", "man", "schema"].contains(&name)
            && self.program.find_subcommand(name).is_some();
        command.with(if uses_store { &self.options } else { "" })
    }
}

/// Keeps a value until the process exits. Dropping a large answer piece by piece takes as long as
/// printing it, and unmapping files takes as long as a lookup.
fn kept<T>(value: T) -> &'static mut T {
    Box::leak(Box::new(value))
}

/// Prints text that the program generates: help, manual pages, completions.
fn generated(bytes: &[u8]) -> Result<Status> {
    finish(|out| {
        out.write_all(bytes)
            .map_err(|error| Error::io(std::path::Path::new("standard output"), error))?;
        Ok(Vec::new())
    })?;
    Ok(Status::Success)
}

/// Writes to standard output. Returns false if the reader has closed it, which is not an error.
fn finish(write: impl FnOnce(&mut dyn io::Write) -> Result<Vec<String>>) -> Result<bool> {
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let written = write(&mut out).and_then(|notes| {
        out.flush().map_err(|error| Error::io(std::path::Path::new("standard output"), error))?;
        Ok(notes)
    });
    match written {
        Ok(notes) => {
            for line in &notes {
                note(line);
            }
            Ok(true)
        }
        Err(error) if error.is_broken_pipe() => {
            // The rest of the buffer cannot be written either.
            drop(out.into_parts());
            Ok(false)
        }
        Err(error) => Err(error),
    }
}
