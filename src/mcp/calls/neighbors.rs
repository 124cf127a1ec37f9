//! The tool `neighbors`: shows what is around a section, or its links.

use rmcp::model::JsonObject;
use serde::Deserialize;

use super::arguments::parse;
use super::ask;
use crate::error::Result;
use crate::limits;
use crate::mcp::reply::{Reply, ReplyOptions};
use crate::query::links::{Direction, EdgeFilter, list};
use crate::query::page::fitting;
use crate::query::{Cursor, FilterRequest, neighbors};
use crate::store::{Purpose, Store};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Neighbors {
    address: String,
    links: Option<Direction>,
    after: Option<String>,
}

pub(super) fn call(
    store: &Store,
    options: ReplyOptions<'_>,
    arguments: JsonObject,
) -> Result<Reply> {
    let Neighbors { address, links, after } = parse(arguments)?;
    let after = Cursor::given(after.as_ref())?;
    let Some(direction) = links else {
        let answer = ask(store, options, Purpose::Read, |session| {
            neighbors::neighbors(session, &address, after)
        })?;
        return options.reply(answer);
    };
    let limit = fitting(limits::LIST_LIMIT, Some(options.max_chars));
    let filter = EdgeFilter::default();
    let documents = FilterRequest::default();
    let request =
        list::LinkListRequest { address, direction, filter, documents, max_nodes: 0, limit, after };
    let answer = ask(store, options, Purpose::Read, |session| list::list(session, &request))?;
    options.reply(answer)
}
