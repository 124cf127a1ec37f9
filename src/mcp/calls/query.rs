//! The tool `query`: lists code blocks, tables, tasks and front matter.

use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::Value;

use super::arguments::{OneOrManyTexts, parse, usage};
use super::ask;
use crate::error::Result;
use crate::limits;
use crate::mcp::reply::{Reply, ReplyOptions};
use crate::query::page::fitting;
use crate::query::{Cursor, FilterRequest, data};
use crate::store::{Purpose, Store};

/// What a query lists.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Code,
    Tables,
    Tasks,
    Meta,
    Keys,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Query {
    kind: Kind,
    #[serde(default)]
    names: OneOrManyTexts,
    #[serde(rename = "where")]
    condition: Option<String>,
    where_meta: Option<String>,
    containing: Option<String>,
    #[serde(default)]
    under: OneOrManyTexts,
    #[serde(default)]
    globs: OneOrManyTexts,
    limit: Option<usize>,
    after: Option<String>,
}

pub(super) fn call(
    store: &Store,
    options: ReplyOptions<'_>,
    mut arguments: JsonObject,
) -> Result<Reply> {
    let kind = arguments.get("kind").and_then(Value::as_str).map(str::to_owned);
    if let Some(kind) = kind.filter(|kind| ["table", "task", "key"].contains(&kind.as_str())) {
        arguments.insert("kind".to_owned(), format!("{kind}s").into());
    }
    let lists_links = arguments.get("kind").is_some_and(|kind| kind == "links");
    let arguments: Query = parse(arguments).map_err(|error| {
        if lists_links {
            error.with_hint(r#"use neighbors {"address":...,"links":"both"}"#)
        } else {
            error
        }
    })?;
    let is_of_items = matches!(arguments.kind, Kind::Tables | Kind::Tasks);
    if arguments.containing.is_some() && !matches!(arguments.kind, Kind::Code) {
        return Err(usage(&"containing applies to code"));
    }
    if !arguments.names.0.is_empty() && matches!(arguments.kind, Kind::Tasks | Kind::Keys) {
        return Err(usage(&"names applies to code, tables and meta"));
    }
    if arguments.where_meta.is_some() && !is_of_items {
        return Err(usage(&"where_meta applies to tables and tasks")
            .with_hint("use where, which is about front matter here"));
    }
    let (of_items, of_documents) = if is_of_items {
        (arguments.condition, arguments.where_meta)
    } else {
        (None, arguments.condition)
    };
    let items = data::ItemRequest {
        filter: FilterRequest {
            globs: arguments.globs.0,
            under: arguments.under.0,
            condition: of_documents,
            ..FilterRequest::default()
        },
        limit: fitting(arguments.limit.unwrap_or(limits::LIST_LIMIT), Some(options.max_chars)),
        after: Cursor::given(arguments.after.as_ref())?,
    };
    let names = arguments.names.0;
    match arguments.kind {
        Kind::Code => {
            let containing = arguments.containing;
            let request = data::code::CodeRequest { languages: names, containing, items };
            let answer = ask(store, options, Purpose::Search, |session| {
                data::code::code(session, &request)
            })?;
            options.reply(answer)
        }
        Kind::Tables => {
            let (headers, columns) = (names, Vec::new());
            let request =
                data::tables::TableRequest { headers, condition: of_items, columns, items };
            let answer = ask(store, options, Purpose::Read, |session| {
                data::tables::tables(session, &request)
            })?;
            options.reply(answer)
        }
        Kind::Tasks => {
            let request = data::tasks::TaskRequest { is_done: None, condition: of_items, items };
            let answer = ask(store, options, Purpose::Read, |session| {
                data::tasks::tasks(session, &request)
            })?;
            options.reply(answer)
        }
        Kind::Meta => {
            let request = data::meta::MetaRequest { keys: names, items };
            let answer =
                ask(store, options, Purpose::Read, |session| data::meta::meta(session, &request))?;
            options.reply(answer)
        }
        Kind::Keys => {
            let answer =
                ask(store, options, Purpose::Read, |session| data::meta::types(session, &items))?;
            options.reply(answer)
        }
    }
}
