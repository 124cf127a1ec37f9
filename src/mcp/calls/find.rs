//! The tool `find`: finds sections by their titles.

use rmcp::model::JsonObject;
use serde::Deserialize;

use super::arguments::{OneOrManyTexts, parse, usage};
use super::ask;
use crate::error::Result;
use crate::limits;
use crate::mcp::reply::{Reply, ReplyOptions};
use crate::query::page::fitting;
use crate::query::{Cursor, FilterRequest, find};
use crate::store::{Purpose, Store};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Find {
    pattern: String,
    content: Option<String>,
    level: Option<u8>,
    #[serde(rename = "where")]
    condition: Option<String>,
    #[serde(default)]
    globs: OneOrManyTexts,
    #[serde(default)]
    under: OneOrManyTexts,
    limit: Option<usize>,
    after: Option<String>,
}

pub(super) fn call(
    store: &Store,
    options: ReplyOptions<'_>,
    arguments: JsonObject,
) -> Result<Reply> {
    let arguments: Find = parse(arguments)?;
    if arguments.level.is_some_and(|level| !(1..=6).contains(&level)) {
        return Err(usage(&"level must be 1 to 6"));
    }
    let request = find::FindRequest {
        pattern: arguments.pattern,
        content: arguments.content,
        subtree: false,
        filter: FilterRequest {
            level: arguments.level,
            condition: arguments.condition,
            globs: arguments.globs.0,
            under: arguments.under.0,
            ..FilterRequest::default()
        },
        limit: fitting(arguments.limit.unwrap_or(limits::LIST_LIMIT), Some(options.max_chars)),
        after: Cursor::given(arguments.after.as_ref())?,
    };
    let purpose = if request.content.is_some() { Purpose::Search } else { Purpose::Read };
    let answer = ask(store, options, purpose, |session| find::find(session, &request))?;
    options.reply(answer)
}
