//! The commands and options of other programs, and what does the same here.
//!
//! A name in these lists takes precedence over a similar name, which may mean something else.

use clap::{Arg, Command};

use crate::message::shell_word;

/// Names for commands that other programs and the tools of the server have, and what does the same here.
const COMMANDS: [(&str, &str); 44] = [
    ("add", "insert DOC SECTION"),
    ("append", "insert DOC SECTION --position last_child"),
    ("backlinks", "links list ADDRESS --direction in"),
    ("cat", "read DOC"),
    ("check", "links check"),
    ("collection", "ingest --collection NAME FOLDER"),
    ("diff", "status --stale"),
    ("docs", "toc --depth 0"),
    ("export", "dump"),
    ("get", "read DOC SECTION"),
    ("grep", "search -e PATTERN"),
    ("head", "read 'DOC::*?head=LINES'"),
    ("headings", "toc DOC"),
    ("init", "ingest FOLDER"),
    ("ldmd list", "ldmd index DOC"),
    ("ldmd read", "ldmd get DOC --id ID"),
    ("links backlinks", "links list ADDRESS --direction in"),
    ("links broken", "links check"),
    ("links in", "links list ADDRESS --direction in"),
    ("list", "toc --depth 0"),
    ("log", "status"),
    ("ls", "toc --depth 0"),
    ("meta delete", "meta unset DOC KEY"),
    ("meta get", "meta --under DOC --get KEY"),
    ("meta list", "meta"),
    ("meta rm", "meta unset DOC KEY"),
    ("meta show", "meta --under DOC"),
    ("mv", "move DOC PATH"),
    ("next", "neighbors ADDRESS"),
    ("open", "read DOC SECTION"),
    ("outline", "toc DOC"),
    ("overview", "toc --depth 0"),
    ("prev", "neighbors ADDRESS"),
    ("query", "search QUERY"),
    ("refs", "links list ADDRESS --direction in"),
    ("remove", "delete DOC SECTION"),
    ("rg", "search -e PATTERN"),
    ("rm", "delete DOC SECTION"),
    ("sections", "toc DOC"),
    ("show", "read DOC SECTION"),
    ("tail", "read 'DOC::*?tail=LINES'"),
    ("tree", "toc"),
    ("update", "ingest"),
    ("view", "read DOC SECTION"),
];

/// Names for options that other programs have, and the option that does the same here, in the commands that have it.
const OPTIONS: [(&[&str], &str); 22] = [
    (&["--json"], "-f json"),
    (&["--max-results", "--max-count", "--top", "--top-k", "-m", "-k"], "--limit N"),
    (&["--offset", "--page", "--skip"], "--after CURSOR, which an answer gives as `next`"),
    (
        &["--in", "--path", "--dir", "--directory", "--folder", "--file", "--doc", "--document"],
        "--under ADDRESS",
    ),
    (&["--include"], "--glob 'GLOB'"),
    (&["--exclude"], "--glob '!GLOB'"),
    (&["-E", "--regex"], "-e PATTERN"),
    (&["-l", "--language"], "--lang LANGUAGE"),
    (&["-c", "--contains", "--search"], "--containing TEXT"),
    (&["-t"], "--type TYPE"),
    (&["--with", "--new", "--text", "--body"], "--content TEXT"),
    (&["--find", "--from"], "--old TEXT"),
    (&["--complete", "--completed", "--check"], "--done"),
    (&["--state", "--status"], "--open or --done"),
    (&["--closed"], "--done"),
    (&["--tokens"], "--max-tokens N"),
    (&["--after"], "--position after"),
    (&["--before"], "--position before"),
    (&["--name"], "--title TITLE"),
    (&["--max-depth"], "--depth N"),
    (&["--max-depth", "--depth"], "--max-hops N"),
    (&["--section"], "--id ID"),
];

/// The options that select several documents in other commands.
const SEVERAL: &[&str] = &["-g", "--glob", "--under"];

/// What changes several documents.
const BATCH: &str =
    "it changes one document; `mdsel edit --batch FILE` changes several, with an edit in each line";

/// How to count what a list has.
const COUNT: &str = "add `--limit 0 -f jsonl` instead, and count the lines that are not a warning";

/// Options of other programs that one command does not need, and the reason.
const UNNEEDED: [(&str, &[&str], &str); 24] = [
    ("add", SEVERAL, BATCH),
    ("remove", SEVERAL, BATCH),
    ("set", SEVERAL, BATCH),
    ("unset", SEVERAL, BATCH),
    ("search", &["--query", "--pattern"], "write the words without an option"),
    ("search", &["-r", "-R", "--recursive"], "leave it out: all documents are searched"),
    (
        "search",
        &["--hidden", "--no-ignore"],
        "leave it out: the whole store is searched, and `mdsel ingest --hidden` adds hidden files",
    ),
    (
        "find",
        &["-e", "-E", "--regex", "--regexp"],
        "a title is found by a part of it or a glob; for a regular expression, use `mdsel search -e PATTERN`",
    ),
    ("find", &["-c", "--count"], COUNT),
    ("code", &["--count"], COUNT),
    ("tables", &["-c", "--count"], COUNT),
    ("tasks", &["-c", "--count"], COUNT),
    ("meta", &["-c", "--count"], COUNT),
    ("find", &["--exact"], "leave it out: a section with the whole title comes first"),
    ("context", &["--question", "-q"], "use --query QUERY"),
    ("context", &["--note", "--id"], "write the address without an option"),
    ("list", &["--in"], "use --direction in"),
    ("read", &["--section", "--heading"], "write the section after the document: DOC SECTION"),
    (
        "read",
        &["--lines", "--line", "--range"],
        "write the lines after the document: DOC:START-END",
    ),
    (
        "read",
        &["--include-children"],
        "leave it out: --no-children leaves child sections out, else they are printed",
    ),
    ("replace", &["--section", "--heading"], "write the section after the document: DOC SECTION"),
    ("replace", &["--keep-heading"], "leave it out: --no-keep-heading replaces the heading, too"),
    ("insert", &["--anchor"], "write the section after the document"),
    (
        "replace",
        &["--all"],
        "leave it out: --old replaces a text that occurs once, so name each place",
    ),
];

/// Names for commands that other programs have, where nothing does the same here, and what to do instead.
const WITHOUT_COMMAND: [(&str, &str); 2] = [
    ("undo", "restore the file with git, or the program that keeps its versions"),
    ("revert", "restore the file with git, or the program that keeps its versions"),
];

/// The option that takes the text after the place of an edit, which other programs take without one.
const TEXT_OPTIONS: [(&str, &str, &str); 3] = [
    ("insert", "--content", "TEXT"),
    ("rename", "--title", "TITLE"),
    ("replace", "--content", "TEXT"),
];

/// What lists the contents of a document that is named after a group of commands.
const LISTS: [(&str, &str); 2] = [("ldmd", "index"), ("links", "list")];

/// Returns the hint for a command called `name`, with the names of its groups, which does not exist.
pub(super) fn command(name: &str) -> Option<String> {
    if let Some((_, command)) = COMMANDS.iter().find(|(other, _)| *other == name) {
        return Some(format!("use `mdsel {command}`"));
    }
    let (_, instead) = WITHOUT_COMMAND.iter().find(|(other, _)| *other == name)?;
    Some(format!("no command does this: {instead}"))
}

/// Returns the hint for the path `document` after the name of a group of commands.
pub(super) fn document_of_group(group: &str, document: &str) -> Option<String> {
    let is_path = document.contains(['.', '/', '#', ':']);
    let (_, list) = LISTS.iter().find(|(other, _)| *other == group && is_path)?;
    Some(format!("use `mdsel {group} {list} {}`", shell_word(document)))
}

/// Returns the hint for text after the place of the edit that `command` makes.
pub(super) fn text_of(command: &str) -> Option<String> {
    let (_, option, value) = TEXT_OPTIONS.iter().find(|(other, ..)| *other == command)?;
    Some(format!("use {option} {value}"))
}

/// Returns the hint for `option`, with its hyphens, which the last of `commands` does not have. The first is the
/// program.
pub(super) fn option(commands: &[&Command], option: &str) -> Option<String> {
    let name = commands.last()?.get_name();
    let unneeded = UNNEEDED.iter().find(|(of, names, _)| *of == name && names.contains(&option));
    if let Some((_, _, reason)) = unneeded {
        return Some((*reason).to_owned());
    }
    let mut known = OPTIONS.iter().filter(|(names, _)| names.contains(&option));
    let (_, own) = known.find(|(_, own)| has(commands, own.split([' ', ',']).next()))?;
    Some(format!("use {own}"))
}

/// Returns whether one of `commands` has `option`, with its hyphens.
fn has(commands: &[&Command], option: Option<&str>) -> bool {
    let argument = option.and_then(|option| find(commands, option));
    argument.is_some_and(|argument| !argument.is_hide_set())
}

/// Returns the option of `commands` called `name`, with its hyphens.
pub(super) fn find<'a>(commands: &[&'a Command], name: &str) -> Option<&'a Arg> {
    let is_it = |argument: &&Arg| {
        argument.get_long().is_some_and(|long| name.strip_prefix("--") == Some(long))
            || argument.get_short().is_some_and(|short| name == format!("-{short}"))
    };
    commands.iter().flat_map(|command| command.get_arguments()).find(is_it)
}

#[cfg(test)]
mod tests {
    use super::super::option_groups;
    use super::*;

    /// Returns each command below `command`, and itself, after the commands above it.
    fn all<'a>(command: &'a Command, above: &[&'a Command]) -> Vec<Vec<&'a Command>> {
        let own = [above, &[command]].concat();
        let inner = command.get_subcommands().flat_map(|inner| all(inner, &own));
        inner.chain([own.clone()]).collect()
    }

    #[test]
    fn hints_name_commands_and_options_that_exist_for_names_that_do_not() {
        let program = option_groups::command();
        for (name, command) in COMMANDS {
            let [command, name] = [command, name].map(|it| it.split(' ').collect::<Vec<_>>());
            let (last, group) = name.split_last().unwrap();
            let group = group.iter().fold(&program, |of, word| of.find_subcommand(word).unwrap());
            assert!(group.find_subcommand(last).is_none(), "{name:?}");
            let mut commands = vec![&program];
            for word in command {
                match commands.last().unwrap().find_subcommand(word) {
                    Some(inner) => commands.push(inner),
                    None if word.starts_with("--") => {
                        assert!(find(&commands, word).is_some(), "{word}");
                    }
                    None => {}
                }
            }
            assert!(commands.len() > 1, "{name:?}");
        }
        let commands = all(&program, &[]);
        for (names, own) in OPTIONS {
            let is_hint = |of: &Vec<&Command>| {
                names.iter().all(|name| {
                    find(of, name).is_none() && option(of, name) == Some(format!("use {own}"))
                })
            };
            assert!(commands.iter().any(is_hint), "{own}");
        }
    }
}
