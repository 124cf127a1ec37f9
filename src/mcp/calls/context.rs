//! The tool `context`: gathers passages or places in one bundle.

use rmcp::model::JsonObject;
use serde::Deserialize;

use super::arguments::{OneOrManyTexts, TextsWithCommas, parse, usage};
use super::ask;
use crate::error::Result;
use crate::limits;
use crate::mcp::reply::{Reply, ReplyOptions};
use crate::output::Format;
use crate::query::page::fitting;
use crate::query::search::PassageChars;
use crate::query::{Cursor, FilterRequest, context};
use crate::store::{Purpose, Store};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Context {
    #[serde(default)]
    queries: OneOrManyTexts,
    #[serde(default)]
    addresses: OneOrManyTexts,
    #[serde(default)]
    tags: TextsWithCommas,
    #[serde(default)]
    under: OneOrManyTexts,
    #[serde(default)]
    links: usize,
    #[serde(default)]
    with_body: bool,
    after: Option<String>,
}

pub(super) fn call(
    store: &Store,
    options: ReplyOptions<'_>,
    arguments: JsonObject,
) -> Result<Reply> {
    let arguments: Context = parse(arguments)?;
    let options = if arguments.queries.0.is_empty() { options } else { options.of_search() };
    let request = context::ContextRequest {
        limit: fitting(
            limits::LIST_LIMIT.max(arguments.addresses.0.len()),
            Some(options.max_chars),
        ),
        sources: arguments.addresses.0.into_iter().map(context::ContextSource::Address).collect(),
        queries: arguments.queries.0,
        passage: PassageChars::new(None, Some(options.max_chars)),
        filter: FilterRequest {
            tags: arguments.tags.0,
            under: arguments.under.0,
            ..FilterRequest::default()
        },
        hops: arguments.links,
        with_body: arguments.with_body,
        shows_content: options.format == Format::Markdown,
        max_chars: Some(options.max_chars),
        after: Cursor::given(arguments.after.as_ref())?,
    };
    let is_empty = request.sources.is_empty() && request.filter.is_empty();
    let is_question = !request.queries.is_empty();
    if is_empty && !is_question {
        return Err(usage(&"give queries, addresses, tags or under"));
    }
    let purpose = if is_question { Purpose::Search } else { Purpose::Read };
    let answer = ask(store, options, purpose, |session| context::context(session, &request))?;
    options.reply(answer)
}
