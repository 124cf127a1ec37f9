//! Options of all commands that have no meaning for some of them.
//!
//! Invariant: such an option is refused by the command, and its help does not list it.

use clap::ArgMatches;
use clap::parser::ValueSource;

use super::commands;
use super::described::{OUTPUT, RefusedOptions, STORE};
use crate::error::{Error, ErrorKind, Result};

/// Returns an error if an option is given that has no meaning for the command.
pub(super) fn check(matches: &ArgMatches) -> Result<()> {
    let (mut words, mut command) = (Vec::new(), matches);
    while let Some((word, inner)) = command.subcommand() {
        words.push(word);
        command = inner;
    }
    let is_given = |option: &&str| command.value_source(option) == Some(ValueSource::CommandLine);
    // Most runs have none of them, and need no list of all commands.
    if !OUTPUT.iter().chain(&STORE).any(is_given) {
        return Ok(());
    }
    let name = words.join(" ");
    let described = commands::all().into_iter().find(|described| described.name == name);
    for RefusedOptions { options, reason, hint } in
        described.iter().flat_map(|it| it.refused_options)
    {
        if let Some(option) = options.iter().find(|option| is_given(option)) {
            let option = match *option {
                "format" => "-f".to_owned(),
                option => format!("--{}", option.replace('_', "-")),
            };
            let message = format!("{name} does not accept {option}: {reason}");
            return Err(Error::new(ErrorKind::Usage, message).with_hint(match *hint {
                "" => format!("leave out {option}"),
                hint => hint.to_owned(),
            }));
        }
    }
    Ok(())
}
