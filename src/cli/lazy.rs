//! Commands whose options are built only if they are needed.
//!
//! A run of the program needs the options of one command, and to build those of all commands takes longer
//! than to look up a section. Invariant: a command is parsed with all of its options.

use std::cell::Cell;

use clap::builder::Resettable;
use clap::{ArgMatches, Args, Command, Error, FromArgMatches};

use super::command::AnyCommand;
use super::described::Described;
use super::exit::Status;
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

/// The arguments of a command, whose options are built if the command is run.
#[derive(Debug)]
pub(super) struct Lazy<T>(T);

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
