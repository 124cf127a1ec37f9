//! `help`: the pages of the reference.

use super::args::{Global, HelpArgs};
use super::{Status, groups};
use crate::error::{Error, ErrorKind, Result};
use crate::reference::{PAGES, page};

/// Prints the page about a topic, or the help of a command if no page has this name. Lists the
/// topics if no name is given.
pub(super) fn run(arguments: &HelpArgs, global: &Global) -> Result<Status> {
    let Some((topic, rest)) = arguments.topic.split_first() else {
        return global.print_whole(topics().as_bytes());
    };
    if let Some(page) = page(topic).filter(|_| rest.is_empty()) {
        return global.print_whole(page.text.as_bytes());
    }
    let mut program = groups::command();
    program.build();
    let mut command = &mut program;
    for name in &arguments.topic {
        command = command.find_subcommand_mut(name).ok_or_else(|| {
            let topics = PAGES.iter().map(|page| page.topic).collect::<Vec<_>>().join(", ");
            Error::new(ErrorKind::Usage, format!("no topic or command is named {name:?}"))
                .with_hint(format!("the topics are {topics}"))
        })?;
    }
    global.print_whole(command.render_long_help().to_string().as_bytes())
}

fn topics() -> String {
    let mut text = "Pages of the reference:\n\n".to_owned();
    for page in PAGES {
        text.push_str(&format!("  mdsel help {:10} {}\n", page.topic, page.summary));
    }
    text.push_str("\nmdsel --help lists the commands, and mdsel COMMAND --help explains one.\n");
    text
}
