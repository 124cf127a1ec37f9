//! `mcp`: runs the server for agents on standard input and output.

use super::Status;
use super::args::{Global, McpArgs};
use crate::error::{Error, ErrorKind, Result};

pub(super) fn run(global: &Global, arguments: &McpArgs) -> Result<Status> {
    if global.refresh {
        return Err(Error::new(ErrorKind::Usage, "mcp does not accept --refresh")
            .with_hint("run `mdsel ingest --watch` at the same time"));
    }
    serve(global, arguments.allow_write)
}

#[cfg(not(feature = "mcp"))]
fn serve(_: &Global, _: bool) -> Result<Status> {
    Err(super::lacks_feature("mcp"))
}

#[cfg(feature = "mcp")]
fn serve(global: &Global, allow_write: bool) -> Result<Status> {
    use std::io;
    use std::sync::Arc;

    use super::store;
    use crate::limits;
    use crate::mcp::{Options, serve};
    use crate::output::Format;

    let options = Options {
        store: Arc::new(store::store_to_write(global)?),
        shown: store::shown(global),
        format: global.format.unwrap_or(Format::Text),
        max_chars: global.max_chars.unwrap_or(limits::REPLY_CHARS),
        allow_write,
    };
    serve(options, io::BufReader::new(io::stdin()), io::stdout())?;
    Ok(Status::Success)
}
