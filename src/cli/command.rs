//! What all commands have in common.
//!
//! Invariant: [`commands`] derives the dispatch, the formats, the schemas and the addresses of a list of commands from
//! the list.

use super::described::Described;
use super::exit::Status;
use super::global::Global;
use crate::error::Result;
use crate::output::Format;

/// A command, or a list of commands.
pub(super) trait AnyCommand {
    /// Returns whether the command can print in `format`.
    fn has(&self, format: Format) -> bool {
        let mut all = Vec::new();
        Self::describe("", &mut all);
        all.iter().any(|described| (described.has)(format))
    }

    /// Returns the addresses and names of documents among the arguments. A user may write them as paths
    /// relative to the current folder.
    fn addresses(&mut self) -> Result<Vec<&mut String>> {
        Ok(Vec::new())
    }

    /// Runs the command.
    fn run(&self, global: &Global) -> Result<Status>;

    /// Adds the commands to `all`. `name` is the name of the command, or of the group.
    fn describe(name: &str, all: &mut Vec<Described>);
}

/// Declares a list of commands. Each is a variant with the type of its arguments, and its doc comment is
/// its help.
macro_rules! commands {
    ($(#[$list_attribute:meta])* $list:ident {
        $($(#[$attribute:meta])* $command:ident($arguments:ty),)*
    }) => {
        $(#[$list_attribute])*
        #[derive(Debug, clap::Subcommand)]
        pub(super) enum $list {
            $($(#[$attribute])* $command($arguments),)*
        }

        impl $crate::cli::command::AnyCommand for $list {
            fn has(&self, format: $crate::output::Format) -> bool {
                match self {
                    $(Self::$command(arguments) => $crate::cli::command::AnyCommand::has(arguments, format),)*
                }
            }

            fn addresses(&mut self) -> $crate::error::Result<Vec<&mut String>> {
                match self {
                    $(Self::$command(arguments) => $crate::cli::command::AnyCommand::addresses(arguments),)*
                }
            }

            fn run(&self, global: &$crate::cli::global::Global) -> $crate::error::Result<$crate::cli::exit::Status> {
                match self {
                    $(Self::$command(arguments) => $crate::cli::command::AnyCommand::run(arguments, global),)*
                }
            }

            fn describe(group: &str, all: &mut Vec<$crate::cli::described::Described>) {
                $(<$arguments as $crate::cli::command::AnyCommand>::describe(
                    &$crate::cli::described::name_in(group, stringify!($command)), all,
                );)*
            }
        }
    };
}
pub(super) use commands;

#[cfg(test)]
mod tests {
    use super::super::{commands, option_groups};

    #[test]
    fn described_names_are_those_of_commands() {
        let program = option_groups::command();
        let all = commands::all();
        for described in &all {
            let mut command = &program;
            for word in described.name.split(' ') {
                command = command.find_subcommand(word).unwrap_or_else(|| panic!("{word}"));
            }
            assert!(!command.has_subcommands() || described.name == "meta", "{}", described.name);
        }
        assert!(all.len() > 35);
    }
}
