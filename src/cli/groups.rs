//! The groups under which help lists the options of a command.
//!
//! Invariant: an option has the same group in every command, and those that every command has are not
//! among a command's own.

use clap::{Arg, Command, CommandFactory as _};

use super::args::Cli;

/// What is asked for.
const QUERY: &str = "Query";
/// Which documents and which part of the answer are taken.
const FILTERS: &str = "Filters";
/// What is printed, and how.
const OUTPUT: &str = "Output";
/// The store that is asked, and its files.
const STORE: &str = "Store";

/// The command line, its options in groups.
pub(super) fn command() -> Command {
    grouped(Cli::command())
}

fn grouped(command: Command) -> Command {
    let name = command.get_name().to_owned();
    let command = command.mut_args(|argument| match group(&name, &argument) {
        Some(group) => argument.help_heading(group),
        None => argument,
    });
    let names: Vec<String> = command.get_subcommands().map(|c| c.get_name().to_owned()).collect();
    names.into_iter().fold(command, |command, name| command.mut_subcommand(name, grouped))
}

/// The group of an option of the command `name`; `None` for what is peculiar to it.
fn group(name: &str, argument: &Arg) -> Option<&'static str> {
    if argument.is_positional() {
        return None;
    }
    let group = match argument.get_id().as_str() {
        "db" | "refresh" | "wait" => STORE,
        "format" | "max_chars" | "pretty" | "color" | "limit" | "after" | "limit_bytes"
        | "max_nodes" | "max_words" | "passage" | "keep_duplicates" | "no_heading" | "count"
        | "files" | "only_matching" | "quiet" | "explain" | "after_context" | "before_context"
        | "context" | "blocks" | "depth" | "max_level" | "line_numbers" | "strip_markers"
        | "with_body" | "lang" | "skill" | "stale" | "limits" => OUTPUT,
        "no_children" if name == "read" => OUTPUT,
        "globs" | "types" | "level" | "tags" | "under" | "direction" | "typed_only"
        | "inline_only" => FILTERS,
        "content" if name == "find" => FILTERS,
        "also" | "patterns" | "fixed_strings" | "ignore_case" | "word_regexp" | "multiline"
        | "query" | "id" | "mode" | "max_hops" | "hops" | "items" => QUERY,
        _ => return None,
    };
    Some(group)
}
