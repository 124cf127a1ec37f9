//! `man`: manual pages, generated from the definition of the command line.

use clap::{Args, Command};

use super::command::AnyCommand;
use super::described::{Described, OUTPUT, RefusedOptions, STORE};
use super::exit::Status;
use super::global::Global;
use super::print::generated;
use crate::error::{Error, ErrorKind, Result};
use crate::visible::quoted;

/// Arguments of `man`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel man search | man -l -")]
pub(super) struct ManArgs {
    /// The command to describe, such as `links tree` [default: the whole program]
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
}

impl AnyCommand for ManArgs {
    fn run(&self, global: &Global) -> Result<Status> {
        let mut program = (global.program)();
        program.build();
        let mut command: &Command = &program;
        for name in &self.command {
            command = command.find_subcommand(name).ok_or_else(|| {
                let known = command.get_subcommands().map(Command::get_name);
                let known = known.collect::<Vec<_>>().join(", ");
                let hint = if known.is_empty() {
                    "run `mdsel man`".to_owned()
                } else {
                    format!("the commands are {known}")
                };
                Error::new(
                    ErrorKind::Usage,
                    format!("there is no command {name}", name = quoted(&name)),
                )
                .with_hint(hint)
            })?;
        }
        let mut page = Vec::new();
        clap_mangen::Man::new(command.clone())
            .source(concat!("mdsel ", env!("CARGO_PKG_VERSION")))
            .render(&mut page)
            .map_err(|error| Error::io(std::path::Path::new("manual page"), error))?;
        generated(&page)
    }

    fn describe(name: &str, all: &mut Vec<Described>) {
        let refused_options = &[
            RefusedOptions { options: &OUTPUT, reason: "it prints a manual page", hint: "" },
            RefusedOptions { options: &STORE, reason: "it prints a manual page", hint: "" },
        ];
        all.push(Described { refused_options, ..Described::new(name, |_| false) });
    }
}
