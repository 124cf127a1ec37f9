//! Commands whose options are built only if they are needed.
//!
//! A run of the program needs the options of one command, and to build those of all commands takes longer
//! than to look up a section. Invariant: the parsed arguments are those that clap parses with the options of
//! all commands.

use std::cell::Cell;
use std::ffi::OsString;
use std::ops::{Deref, DerefMut};

use clap::builder::Resettable;
use clap::{ArgMatches, Args, Command, CommandFactory as _, Error, FromArgMatches};

use super::Status;
use super::args::{Cli, GlobalArgs};
use super::command::{AnyCommand, Described};
use super::global::Global;
use crate::error::Result;
use crate::output::Format;

thread_local! {
    static IS_EAGER: Cell<bool> = const { Cell::new(false) };
}

/// Calls `build` and builds the options of all commands in it.
pub(super) fn with_all_options(build: impl FnOnce() -> Command) -> Command {
    let before = IS_EAGER.replace(true);
    let command = build();
    IS_EAGER.set(before);
    command
}

/// Returns whether the options of all commands are built, to be listed.
pub(super) fn builds_all_options() -> bool {
    IS_EAGER.get()
}

/// Parses `arguments`. The first is the name of the program. Also returns what clap found.
///
/// # Errors
///
/// Those of clap, and requests for help.
pub(super) fn parse(arguments: &[OsString]) -> std::result::Result<(Cli, ArgMatches), Error> {
    // clap copies the shared options to every command, so commands that are not named are left out.
    let is_named = |command: &&Command| arguments.iter().any(|it| it == command.get_name());
    let all = Cli::command();
    let named = all.get_subcommands().filter(is_named).cloned();
    let program = Command::new("mdsel").disable_help_subcommand(true).subcommands(named);
    let program = GlobalArgs::augment_args(program);
    let parse = |program: Command| {
        let matches = program.try_get_matches_from(arguments)?;
        Ok((Cli::from_arg_matches(&matches)?, matches))
    };
    // Errors and help describe all commands.
    parse(program).or_else(|_| parse(all))
}

/// The arguments of a command, whose options are built if the command is run.
#[derive(Debug)]
pub(super) struct Lazy<T>(T);

impl<T> Deref for Lazy<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Lazy<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

/// Adds the options of `T`. The description remains that of the command in the list.
fn options<T: Args>(command: Command) -> Command {
    let about = Resettable::from(command.get_about().cloned());
    let long_about = Resettable::from(command.get_long_about().cloned());
    T::augment_args(command).about(about).long_about(long_about)
}

impl<T: Args> Args for Lazy<T> {
    fn augment_args(command: Command) -> Command {
        if IS_EAGER.get() { options::<T>(command) } else { command.defer(options::<T>) }
    }

    fn augment_args_for_update(command: Command) -> Command {
        T::augment_args_for_update(command)
    }
}

impl<T: FromArgMatches> FromArgMatches for Lazy<T> {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, Error> {
        T::from_arg_matches(matches).map(Self)
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> std::result::Result<Self, Error> {
        T::from_arg_matches_mut(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> std::result::Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl<T: AnyCommand> AnyCommand for Lazy<T> {
    fn has(&self, format: Format) -> bool {
        self.0.has(format)
    }

    fn addresses(&mut self) -> Result<Vec<&mut String>> {
        self.0.addresses()
    }

    fn run(&self, global: &Global) -> Result<Status> {
        self.0.run(global)
    }

    fn describe(name: &str, all: &mut Vec<Described>) {
        T::describe(name, all);
    }
}
