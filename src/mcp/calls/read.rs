//! The tool `read`: shows places by their addresses.

use rmcp::model::JsonObject;
use serde::Deserialize;

use super::arguments::{OneOrManyTexts, parse, usage};
use super::ask;
use crate::error::Result;
use crate::mcp::reply::{Reply, ReplyOptions};
use crate::query::{Cursor, select};
use crate::store::{Purpose, Store};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Read {
    pub(super) addresses: OneOrManyTexts,
    #[serde(default)]
    max_words: usize,
    after: Option<String>,
}

pub(super) fn call(
    store: &Store,
    options: ReplyOptions<'_>,
    arguments: JsonObject,
) -> Result<Reply> {
    let arguments: Read = parse(arguments)?;
    if arguments.addresses.0.is_empty() {
        return Err(usage(&"give at least one address"));
    }
    let request = select::SelectRequest {
        addresses: arguments.addresses.0,
        max_words: arguments.max_words,
        limit: None,
        unique: false,
        after: Cursor::given(arguments.after.as_ref())?,
        room: Some(options.max_chars),
    };
    let answer = ask(store, options, Purpose::Read, |session| select::select(session, &request))?;
    options.reply(answer)
}
