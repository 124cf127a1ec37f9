//! `mcp`: runs the server for agents on standard input and output.

use super::exit::Status;
use clap::Args;

use super::command::AnyCommand;
use super::described::{Described, RefusedOptions};
use super::global::Global;
#[cfg(not(feature = "mcp"))]
use crate::error::Error;
use crate::error::Result;
use crate::limits;
use crate::output::Format;

/// Arguments of `mcp`.
#[derive(Debug, Args)]
#[command(after_help = format!(
    "Example: claude mcp add docs -- mdsel --db docs/.mdsel.db mcp\n\n\
     -f and --max-chars (here {}) apply to replies unless a call sets its own.",
    limits::REPLY_CHARS
))]
pub(super) struct McpArgs {
    /// Offer the edit tool, too
    #[arg(long)]
    allow_write: bool,
}

impl AnyCommand for McpArgs {
    fn run(&self, global: &Global) -> Result<Status> {
        serve(global, self.allow_write)
    }

    fn describe(name: &str, all: &mut Vec<Described>) {
        let refused_options = &[
            RefusedOptions {
                options: &["refresh"],
                reason: "it serves the store as it is",
                hint: "run `mdsel ingest --watch` at the same time",
            },
            RefusedOptions {
                options: &["max_bytes", "max_tokens"],
                reason: "the limits of its replies count characters",
                hint: "limit them with --max-chars",
            },
            RefusedOptions {
                options: &["pretty", "compact", "color"],
                reason: "its replies are messages of the protocol",
                hint: "",
            },
        ];
        let has = |format| Format::COMMON.contains(&format);
        all.push(Described { refused_options, ..Described::new(name, has) });
    }
}

#[cfg(not(feature = "mcp"))]
fn serve(_: &Global, _: bool) -> Result<Status> {
    Err(Error::lacks_feature("mcp"))
}

#[cfg(feature = "mcp")]
fn serve(global: &Global, allow_write: bool) -> Result<Status> {
    use std::io;
    use std::sync::Arc;

    use super::store;
    use crate::limits;
    use crate::mcp::{ServerOptions, serve};

    let options = ServerOptions {
        store: Arc::new(store::store_to_write(global)?),
        shown: store::shown(global),
        store_option: global.store_option().unwrap_or_default(),
        format: global.format.unwrap_or(Format::Text),
        max_chars: global.max_chars.unwrap_or(limits::REPLY_CHARS),
        allow_write,
    };
    serve(options, io::BufReader::new(io::stdin()), io::stdout())?;
    Ok(Status::Success)
}
