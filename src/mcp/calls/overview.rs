//! The tool `overview`: what is in the store, the headings of documents, or their LDMD sections.

use rmcp::model::JsonObject;
use serde::Deserialize;

use super::arguments::{OneOrManyTexts, parse, usage};
use super::ask;
use crate::error::Result;
use crate::limits;
use crate::mcp::reply::{Reply, ReplyOptions};
use crate::query::page::fitting;
use crate::query::{Cursor, FilterRequest, ldmd, prime, toc};
use crate::store::{Purpose, Store};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Overview {
    #[serde(default)]
    documents: OneOrManyTexts,
    depth: Option<usize>,
    #[serde(default)]
    ldmd: bool,
    limit: Option<usize>,
    after: Option<String>,
}

pub(super) fn call(
    store: &Store,
    options: ReplyOptions<'_>,
    arguments: JsonObject,
) -> Result<Reply> {
    let Overview { documents: OneOrManyTexts(documents), depth, ldmd: is_ldmd, limit, after } =
        parse(arguments)?;
    let after = Cursor::given(after.as_ref())?;
    if is_ldmd {
        if depth.is_some() {
            return Err(usage(&"depth applies to section trees, not to LDMD sections"));
        }
        let [document] = <[String; 1]>::try_from(documents)
            .map_err(|_| usage(&"ldmd needs exactly one document"))?;
        let request = ldmd::index::LdmdIndexRequest { document, limit: limit.unwrap_or(0), after };
        let answer =
            ask(store, options, Purpose::Read, |session| ldmd::index::index(session, &request))?;
        return options.reply(answer);
    }
    if documents.is_empty() && depth.is_none() && limit.is_none() {
        let mut answer =
            ask(store, options, Purpose::Read, |session| prime::prime(session, after))?;
        // The list of tools says the same.
        answer.commands.clear();
        return options.reply(answer);
    }
    let limit = fitting(limit.unwrap_or(limits::LIST_LIMIT), Some(options.max_chars));
    let request = toc::TocRequest {
        documents,
        filter: FilterRequest::default(),
        depth,
        max_level: None,
        with_addresses: toc::TocAnswer::has_addresses(options.format),
        limit,
        after,
    };
    let answer = ask(store, options, Purpose::Read, |session| toc::toc(session, &request))?;
    options.reply(answer)
}
