//! The groups in which help lists the options of a command.
//!
//! Invariant: an option is in the same group in every command, and the options that all commands
//! share are never listed among a command's own options.

use clap::{Arg, Command, CommandFactory as _};

use super::described::{Described, name_in};
use super::lazy::with_all_options;
use super::program::Cli;
use super::{commands, format};

/// Options that say what to look for.
const QUERY: &str = "Query";
/// Options that say which documents and which links to take.
const FILTERS: &str = "Filters";
/// Options that say what to print, and how.
const OUTPUT: &str = "Output";
/// Options that say which store to read, and when to update it.
const STORE: &str = "Store";

/// Returns the command line with its options in groups. Each command lists only the shared options and the formats that
/// have a meaning for it. Only help needs them.
pub(crate) fn command() -> Command {
    let all = commands::all();
    let program = with_all_options(Cli::command)
        .mut_arg("format", |format| format.value_parser(format::values_in(&all)));
    let shared: Vec<Arg> =
        program.get_arguments().filter(|it| it.is_global_set()).cloned().collect();
    grouped(program, "", &shared, &all)
}

/// Does the same for the command `name`, with the names of its groups.
fn grouped(command: Command, name: &str, shared: &[Arg], all: &[Described]) -> Command {
    let own = all.iter().find(|described| described.name == name);
    let is_inner =
        |it: &&Described| it.name.strip_prefix(name).is_some_and(|it| it.starts_with(' '));
    let has = |format| match own {
        Some(own) => (own.has)(format),
        None => all.iter().filter(is_inner).any(|inner| (inner.has)(format)),
    };
    let is_refused = |id: &str| {
        own.into_iter().flat_map(|own| own.refused_options).any(|it| it.options.contains(&id))
    };
    // An argument of the command replaces the shared one. The program lists them all.
    let here = |option: &Arg| match option.get_id().as_str() {
        id if is_refused(id) => Some(option.clone().hide(true)),
        "format" => Some(option.clone().value_parser(format::values(has))),
        _ => None,
    };
    let shared_here = if name.is_empty() { &[] } else { shared };
    let command = command.args(shared_here.iter().filter_map(here));
    let last = command.get_name().to_owned();
    let command = command.mut_args(|argument| match group(&last, &argument) {
        Some(group) => argument.help_heading(group),
        None => argument,
    });
    let names: Vec<String> = command.get_subcommands().map(|c| c.get_name().to_owned()).collect();
    names.into_iter().fold(command, |command, inner| {
        let full = name_in(name, &inner);
        command.mut_subcommand(inner, |inner| grouped(inner, &full, shared, all))
    })
}

/// Returns the group of an option of the command `name`; `None` for an option that says what the command does.
fn group(name: &str, argument: &Arg) -> Option<&'static str> {
    if argument.is_positional() {
        return None;
    }
    let group = match argument.get_id().as_str() {
        "db" | "root" | "refresh" | "wait" => STORE,
        "format" | "max_chars" | "max_bytes" | "max_tokens" | "pretty" | "compact" | "color"
        | "limit" | "after" | "limit_bytes" | "max_nodes" | "max_words" | "passage"
        | "keep_duplicates" | "no_heading" | "_heading" | "line_number" | "count" | "files"
        | "only_matching" | "quiet" | "explain" | "after_context" | "before_context"
        | "context" | "blocks" | "depth" | "max_level" | "line_numbers" | "strip_markers"
        | "stubs" | "unique" | "prefix_body" | "no_banner" | "strict" | "with_body" | "lang"
        | "skill" | "stale" | "limits" => OUTPUT,
        "no_children" if name == "read" => OUTPUT,
        "collections" if name == "status" => OUTPUT,
        "globs" | "where" | "where_meta" | "types" | "level" | "tags" | "under" | "direction"
        | "collections" | "link_types" | "sort" | "typed_only" | "inline_only" => FILTERS,
        "content" | "subtree" if name == "find" => FILTERS,
        "also" | "strict_markers" | "patterns" | "fixed_strings" | "ignore_case"
        | "word_regexp" | "multiline" | "query" | "id" | "mode" | "max_hops" | "hops" | "items" => {
            QUERY
        }
        _ => return None,
    };
    Some(group)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    fn note<'a>(command: &'a Command, groups: &mut BTreeMap<&'a str, BTreeSet<Option<&'a str>>>) {
        for argument in command.get_arguments().filter(|argument| !argument.is_positional()) {
            let group = argument.get_help_heading();
            groups.entry(argument.get_id().as_str()).or_default().insert(group);
        }
        command.get_subcommands().for_each(|inner| note(inner, groups));
    }

    #[test]
    fn an_option_is_in_the_same_group_in_every_command() {
        let command = command();
        let mut groups = BTreeMap::new();
        note(&command, &mut groups);
        groups.retain(|_, of_option| of_option.len() > 1);
        // These mean something else in `status`, in edits, and in `read`.
        let names: Vec<_> = groups.into_keys().collect();
        assert_eq!(names, ["collections", "content", "no_children"]);
    }
}
