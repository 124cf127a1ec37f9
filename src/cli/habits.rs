//! The commands and options of other programs, and what does the same here.
//!
//! A name in these lists takes precedence over a similar name, which may mean something else.

use clap::{Arg, Command};

/// Names for commands that other programs and the tools of the server have, and what does the same here.
const COMMANDS: [(&str, &str); 40] = [
    ("add", "insert DOC SECTION"),
    ("append", "insert DOC SECTION --position last_child"),
    ("backlinks", "links list ADDRESS --direction in"),
    ("cat", "read DOC"),
    ("check", "links check"),
    ("diff", "status --stale"),
    ("export", "dump"),
    ("get", "read DOC SECTION"),
    ("grep", "search -e PATTERN"),
    ("head", "read 'DOC::*?head=LINES'"),
    ("headings", "toc DOC"),
    ("ldmd list", "ldmd index DOC"),
    ("ldmd read", "ldmd get DOC --id ID"),
    ("links backlinks", "links list ADDRESS --direction in"),
    ("list", "index"),
    ("log", "status"),
    ("ls", "index"),
    ("meta delete", "meta unset DOC KEY"),
    ("meta get", "meta --under DOC --get KEY"),
    ("meta list", "meta"),
    ("meta remove", "meta unset DOC KEY"),
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
const OPTIONS: [(&[&str], &str); 18] = [
    (&["--json"], "-f json"),
    (&["--max-results", "--max-count", "--top", "--top-k", "-m", "-k"], "--limit N"),
    (&["--offset", "--page", "--skip"], "--after CURSOR, which an answer gives as `next`"),
    (&["--in", "--path", "--dir", "--directory", "--folder", "--file"], "--under ADDRESS"),
    (&["--include"], "--glob 'GLOB'"),
    (&["--exclude"], "--glob '!GLOB'"),
    (&["-E", "--regex"], "-e PATTERN"),
    (&["-l", "--language"], "--lang LANGUAGE"),
    (&["-c", "--contains"], "--containing TEXT"),
    (&["--with", "--new", "--text", "--body"], "--content TEXT"),
    (&["--find", "--from"], "--old TEXT"),
    (&["--complete", "--completed", "--check"], "--done"),
    (&["--after"], "--position after"),
    (&["--before"], "--position before"),
    (&["--name"], "--title TITLE"),
    (&["--max-depth"], "--depth N"),
    (&["--max-depth", "--depth"], "--max-hops N"),
    (&["--section"], "--id ID"),
];

/// Options of other programs that one command does not need, and the reason.
const UNNEEDED: [(&str, &[&str], &str); 7] = [
    ("search", &["--query", "--pattern"], "write the words without an option"),
    ("search", &["-r", "-R", "--recursive"], "leave it out: all documents are searched"),
    ("context", &["--note", "--id"], "write the address without an option"),
    (
        "read",
        &["--include-children"],
        "leave it out: --no-children leaves child sections out, else they are printed",
    ),
    ("replace", &["--keep-heading"], "leave it out: --no-keep-heading replaces the heading, too"),
    ("insert", &["--anchor"], "write the section after the document"),
    (
        "replace",
        &["--all"],
        "leave it out: --old replaces a text that occurs once, so name each place",
    ),
];

/// Returns the hint for a command called `name`, with the names of its groups, which does not exist.
pub(super) fn command(name: &str) -> Option<String> {
    let (_, command) = COMMANDS.iter().find(|(other, _)| *other == name)?;
    Some(format!("use `mdsel {command}`"))
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
    option.is_some_and(|option| find(commands, option).is_some())
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
