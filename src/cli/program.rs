//! The arguments of the whole program.
//!
//! Invariant: the parsed arguments are those that clap parses with the options of all commands.

use std::ffi::OsString;

use clap::{
    ArgMatches, Args as _, Command, CommandFactory as _, Error, FromArgMatches as _, Parser,
};

use super::commands;
use super::global::GlobalArgs;

/// A persistent, indexed Markdown store for LLM agents.
#[derive(Debug, Parser)]
#[command(name = "mdsel", version, about, disable_help_subcommand = true)]
pub(super) struct Cli {
    #[command(flatten)]
    pub(super) global: GlobalArgs,
    #[command(subcommand)]
    pub(super) command: commands::Command,
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

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn clap_accepts_the_definition() {
        Cli::command().debug_assert();
    }
}
