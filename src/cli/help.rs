//! `help`: the pages of the reference.

use clap::Args;

use super::command::AnyCommand;
use super::described::{Described, RefusedOptions, STORE};
use super::exit::Status;
use super::global::Global;
use crate::error::{Error, ErrorKind, Result};
use crate::reference::{PAGES, page};
use crate::visible::quoted;

/// Arguments of `help`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel help addresses")]
pub(super) struct HelpArgs {
    /// A page of the reference, or a command [default: the list of pages]
    #[arg(value_name = "TOPIC")]
    topic: Vec<String>,
}

impl AnyCommand for HelpArgs {
    /// Prints the page about a topic, or the help of a command if no page has this name. Lists the
    /// topics if no name is given.
    fn run(&self, global: &Global) -> Result<Status> {
        let Some((topic, rest)) = self.topic.split_first() else {
            return global.print_whole(topics().as_bytes());
        };
        if let Some(page) = page(topic).filter(|_| rest.is_empty()) {
            return global.print_whole(page.text.as_bytes());
        }
        let mut program = (global.program)();
        program.build();
        let mut command = &mut program;
        for name in &self.topic {
            command = command.find_subcommand_mut(name).ok_or_else(|| {
                let topics = PAGES.iter().map(|page| page.topic).collect::<Vec<_>>().join(", ");
                Error::new(
                    ErrorKind::Usage,
                    format!("no topic or command is named {name}", name = quoted(&name)),
                )
                .with_hint(format!("the topics are {topics}"))
            })?;
        }
        global.print_whole(command.render_long_help().to_string().as_bytes())
    }

    fn describe(name: &str, all: &mut Vec<Described>) {
        let refused_options = &[
            RefusedOptions {
                options: &["format", "pretty", "compact", "color"],
                reason: "it prints a page of the reference",
                hint: "",
            },
            RefusedOptions { options: &STORE, reason: "it reads no store", hint: "" },
        ];
        all.push(Described { refused_options, ..Described::new(name, |_| false) });
    }
}

fn topics() -> String {
    let mut text = "Pages of the reference:\n\n".to_owned();
    for page in PAGES {
        text.push_str(&format!("  mdsel help {:10} {}\n", page.topic, page.summary));
    }
    text.push_str("\nmdsel --help lists the commands, and mdsel COMMAND --help explains one.\n");
    text.push_str("mdsel prime --skill explains to an agent how to find answers.\n");
    text
}
