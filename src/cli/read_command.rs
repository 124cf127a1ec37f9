//! What all commands have in common that answer from the store.
//!
//! Invariant: the formats and the schema of a command come from the type of its answer. [`read_commands`]
//! derives the dispatch, the formats, the schemas and the addresses of a list of commands from the list.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};

use super::args::Global;
use super::input::standard_input;
use super::store::open_fresh;
use super::{Status, kept};
use crate::address::is_for_every_document;
use crate::decoding;
use crate::error::Result;
use crate::output::{Answer, Format};
use crate::query::resolve::{NodeRange, resolve};
use crate::query::{List, Session, documents};
use crate::store::Purpose;

/// A question to the store, as the arguments of a command.
pub(super) trait QueryArguments {
    /// The answer. It determines the formats and the schema of the command.
    type Answer: Answer + List + JsonSchema + 'static;

    /// Returns the addresses and names of documents among the arguments. A user may write them as paths
    /// relative to the current folder.
    fn addresses(&mut self) -> Result<Vec<&mut String>> {
        Ok(Vec::new())
    }

    /// Returns the paths of the documents that the answer comes from, which `--refresh` ingests first;
    /// `None` for all documents.
    fn documents(&self, session: &Session<'_>) -> Result<Option<Vec<String>>> {
        let _ = session;
        Ok(None)
    }

    /// Returns what the store is opened for.
    fn purpose(&self) -> Purpose {
        Purpose::Read
    }

    /// Returns the answer.
    fn answer(&self, global: &Global, session: &Session<'_>) -> Result<Self::Answer>;

    /// Returns the exit status of the command.
    fn status(answer: &Self::Answer) -> Status {
        answer.outcome().into()
    }
}

/// Returns what the store is opened for if an answer depends on `text`, which documents must contain.
pub(super) fn purpose(text: Option<&String>) -> Purpose {
    if text.is_some() { Purpose::Search } else { Purpose::Read }
}

/// Returns the documents that contain the places of `addresses`. Returns `None` if an address
/// applies to the whole store, or names something that is not in the store yet.
pub(super) fn documents_of(
    session: &Session<'_>,
    addresses: &[String],
) -> Result<Option<Vec<String>>> {
    let mut paths = Vec::new();
    for address in addresses {
        let is_global = is_for_every_document(address);
        let all = NodeRange { skip: 0, take: usize::MAX };
        let resolution = if is_global { None } else { Some(resolve(session, address, all)?) };
        match resolution {
            Some(resolution) if resolution.fault.is_none() => {
                paths.extend(
                    resolution.places.iter().map(|place| place.document.stored.path.clone()),
                );
            }
            _ => return Ok(None),
        }
    }
    paths.sort();
    paths.dedup();
    Ok(Some(paths))
}

/// Returns the paths of the named documents, or `None` for all documents.
pub(super) fn named_documents(
    session: &Session<'_>,
    names: &[String],
) -> Result<Option<Vec<String>>> {
    if names.is_empty() {
        return Ok(None);
    }
    let found = documents::named(session, names)?;
    if !found.faults.is_empty() {
        return Ok(None);
    }
    Ok(Some(found.documents.into_iter().map(|document| document.path).collect()))
}

/// Returns the addresses given. Replaces `-` by the lines of standard input.
pub(super) fn addresses(given: &[String]) -> Result<Vec<String>> {
    let mut addresses = Vec::new();
    for address in given {
        if address != "-" {
            addresses.push(address.clone());
            continue;
        }
        let bytes = standard_input()?;
        // An address that is not UTF-8 names nothing; the others are answered.
        let text = decoding::text(&bytes);
        addresses.extend(text.lines().filter(|line| !line.is_empty()).map(str::to_owned));
    }
    Ok(addresses)
}

/// The name of a command, its formats besides [`Format::COMMON`], and the schema of its answer.
pub(super) struct Described {
    pub(super) name: String,
    pub(super) formats: &'static [Format],
    pub(super) schema: fn() -> Schema,
}

/// A command that answers from the store, or a list of such commands.
pub(super) trait ReadCommand {
    /// Returns whether the answer can be printed in `format`.
    fn has(&self, format: Format) -> bool;

    /// See [`QueryArguments::addresses`].
    fn addresses(&mut self) -> Result<Vec<&mut String>>;

    /// Runs the command.
    fn run(&self, global: &Global) -> Result<Status>;

    /// Adds the commands to `all`. `name` is the name of the command, or of the group.
    fn describe(name: &str, all: &mut Vec<Described>);
}

impl<Q: QueryArguments> ReadCommand for Q {
    fn has(&self, format: Format) -> bool {
        has::<Q::Answer>(format)
    }

    fn addresses(&mut self) -> Result<Vec<&mut String>> {
        QueryArguments::addresses(self)
    }

    fn run(&self, global: &Global) -> Result<Status> {
        let reader = open_fresh(global, self.purpose(), |session| self.documents(session))?;
        let session = Session::new(&*reader);
        let answer = kept(self.answer(global, &session)?);
        global.print_documents(&session, answer)?;
        Ok(Q::status(answer))
    }

    fn describe(name: &str, all: &mut Vec<Described>) {
        all.push(described::<Q::Answer>(name));
    }
}

/// Returns whether answers of the type `A` can be printed in `format`.
pub(super) fn has<A: Answer>(format: Format) -> bool {
    Format::COMMON.contains(&format) || A::FORMATS.contains(&format)
}

/// Returns the description of the command `name` with answers of the type `A`.
pub(super) fn described<A: Answer + JsonSchema>(name: &str) -> Described {
    Described { name: name.to_owned(), formats: A::FORMATS, schema: schema_of::<A> }
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
macro_rules! read_commands {
    ($(#[$list_attribute:meta])* $list:ident {
        $($(#[$attribute:meta])* $command:ident($arguments:ty),)*
    }) => {
        $(#[$list_attribute])*
        #[derive(Debug, clap::Subcommand)]
        pub(super) enum $list {
            $($(#[$attribute])* $command($arguments),)*
        }

        impl $crate::cli::read_command::ReadCommand for $list {
            fn has(&self, format: $crate::output::Format) -> bool {
                match self {
                    $(Self::$command(arguments) => $crate::cli::read_command::ReadCommand::has(arguments, format),)*
                }
            }

            fn addresses(&mut self) -> $crate::error::Result<Vec<&mut String>> {
                match self {
                    $(Self::$command(arguments) => $crate::cli::read_command::ReadCommand::addresses(arguments),)*
                }
            }

            fn run(&self, global: &$crate::cli::args::Global) -> $crate::error::Result<$crate::cli::Status> {
                match self {
                    $(Self::$command(arguments) => $crate::cli::read_command::ReadCommand::run(arguments, global),)*
                }
            }

            fn describe(group: &str, all: &mut Vec<$crate::cli::read_command::Described>) {
                $(<$arguments as $crate::cli::read_command::ReadCommand>::describe(
                    &$crate::cli::read_command::name_in(group, stringify!($command)), all,
                );)*
            }
        }
    };
}
pub(super) use read_commands;

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::super::args::Cli;
    use super::super::commands::ReadCommands;
    use super::*;

    fn all() -> Vec<Described> {
        let mut all = Vec::new();
        ReadCommands::describe("", &mut all);
        all
    }

    #[test]
    fn described_names_are_those_of_commands() {
        let program = Cli::command();
        for described in all() {
            let mut command = &program;
            for word in described.name.split(' ') {
                command = command.find_subcommand(word).unwrap_or_else(|| panic!("{word}"));
            }
            assert!(!command.has_subcommands(), "{}", described.name);
        }
        assert!(all().len() > 15);
    }
}
