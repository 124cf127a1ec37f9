//! What all commands have in common.
//!
//! Invariant: [`commands`] derives the dispatch, the formats, the schemas and the addresses of a list of commands from
//! the list.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};

use super::Status;
use super::global::Global;
use super::refused_options::RefusedOptions;
use crate::error::Result;
use crate::output::{Answer, Format};

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

/// A command without its arguments.
pub(super) struct Described {
    /// The name, after that of its group.
    pub(super) name: String,
    /// Returns whether the command can print in a format, with some arguments.
    pub(super) has: fn(Format) -> bool,
    /// The schema of the answer; `None` if the command prints something else.
    pub(super) schema: Option<fn() -> Schema>,
    /// The options of all commands that have no meaning for it.
    pub(super) refused_options: &'static [RefusedOptions],
}

impl Described {
    /// Returns the description of a command that prints in the formats of `has`.
    pub(super) fn new(name: &str, has: fn(Format) -> bool) -> Self {
        Self { name: name.to_owned(), has, schema: None, refused_options: &[] }
    }
}

/// Returns whether answers of the type `A` can be printed in `format`.
pub(super) fn has<A: Answer>(format: Format) -> bool {
    Format::COMMON.contains(&format) || A::FORMATS.contains(&format)
}

/// Returns the description of the command `name` with answers of the type `A`.
pub(super) fn described<A: Answer + JsonSchema>(name: &str) -> Described {
    Described { schema: Some(schema_of::<A>), ..Described::new(name, has::<A>) }
}

/// Returns the JSON Schema of a type.
pub(super) fn schema_of<T: JsonSchema>() -> Schema {
    let generator: SchemaGenerator =
        SchemaSettings::draft2020_12().for_serialize().into_generator();
    generator.into_root_schema_for::<T>()
}

/// Returns the name of the command `name` of the group `group`, or of no group.
pub(super) fn name_in(group: &str, name: &str) -> String {
    let name = name.to_lowercase();
    if group.is_empty() { name } else { format!("{group} {name}") }
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

            fn run(&self, global: &$crate::cli::global::Global) -> $crate::error::Result<$crate::cli::Status> {
                match self {
                    $(Self::$command(arguments) => $crate::cli::command::AnyCommand::run(arguments, global),)*
                }
            }

            fn describe(group: &str, all: &mut Vec<$crate::cli::command::Described>) {
                $(<$arguments as $crate::cli::command::AnyCommand>::describe(
                    &$crate::cli::command::name_in(group, stringify!($command)), all,
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
