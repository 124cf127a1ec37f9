//! `man`: manual pages, generated from the definition of the command line.

use clap::Command;

use super::args::ManArgs;
use super::{Status, generated, groups};
use crate::error::{Error, ErrorKind, Result};

pub(super) fn run(arguments: &ManArgs) -> Result<Status> {
    let mut program = groups::command();
    program.build();
    let mut command: &Command = &program;
    for name in &arguments.command {
        command = command.find_subcommand(name).ok_or_else(|| {
            let known = command.get_subcommands().map(Command::get_name);
            let known = known.collect::<Vec<_>>().join(", ");
            let hint = if known.is_empty() {
                "run `mdsel man`".to_owned()
            } else {
                format!("the commands are {known}")
            };
            Error::new(ErrorKind::Usage, format!("there is no command {name:?}")).with_hint(hint)
        })?;
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone())
        .source(concat!("mdsel ", env!("CARGO_PKG_VERSION")))
        .render(&mut page)
        .map_err(|error| Error::io(std::path::Path::new("manual page"), error))?;
    generated(&page)
}
