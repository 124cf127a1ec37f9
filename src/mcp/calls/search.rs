//! The tool `search`: finds sections by words, and text by patterns.

use rmcp::model::JsonObject;
use serde::Deserialize;

use super::arguments::{OneOrManyTexts, TextsWithCommas, parse, usage};
use super::ask;
use crate::error::Result;
use crate::mcp::reply::{Reply, ReplyOptions};
use crate::query::search::{
    ContextLines, OutputMode, PassageChars, PatternOptions, Query, SearchAnswer, SearchRequest,
    search,
};
use crate::query::{Cursor, FilterRequest};
use crate::store::{Purpose, Store};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Search {
    #[serde(default)]
    queries: OneOrManyTexts,
    #[serde(default)]
    patterns: OneOrManyTexts,
    #[serde(default)]
    literal: bool,
    #[serde(default)]
    ignore_case: bool,
    #[serde(default)]
    context: usize,
    #[serde(default)]
    files: bool,
    #[serde(default)]
    types: TextsWithCommas,
    #[serde(default)]
    tags: TextsWithCommas,
    #[serde(default)]
    under: OneOrManyTexts,
    #[serde(default)]
    globs: OneOrManyTexts,
    #[serde(rename = "where")]
    condition: Option<String>,
    limit: Option<usize>,
    after: Option<String>,
}

pub(super) fn call(
    store: &Store,
    options: ReplyOptions<'_>,
    arguments: JsonObject,
) -> Result<Reply> {
    let arguments: Search = parse(arguments)?;
    let options = if arguments.files { options } else { options.of_search() };
    let questions = arguments.queries.0;
    let patterns = arguments.patterns.0;
    let query = match (questions.is_empty(), patterns.is_empty()) {
        (false, false) => return Err(usage(&"give queries or patterns, not both")),
        (true, true) => return Err(usage(&"give queries or patterns")),
        (false, true) if !arguments.literal => Query::Words(questions),
        (is_pattern, _) => {
            let options = PatternOptions {
                is_literal: arguments.literal,
                ignores_case: arguments.ignore_case,
                ..PatternOptions::default()
            };
            Query::Patterns(if is_pattern { patterns } else { questions }, options)
        }
    };
    let mut request = SearchRequest {
        query,
        filter: FilterRequest {
            globs: arguments.globs.0,
            tags: arguments.tags.0,
            under: arguments.under.0,
            types: arguments.types.0,
            condition: arguments.condition,
            ..FilterRequest::default()
        },
        form: if arguments.files { OutputMode::Files } else { OutputMode::Hits },
        surroundings: ContextLines {
            before: arguments.context,
            after: arguments.context,
            is_match_only: false,
        },
        passage: PassageChars::new(None, None),
        keeps_duplicates: false,
        detail: SearchAnswer::detail(options.format),
        explain: false,
        limit: arguments.limit,
        max_chars: None,
        after: Cursor::given(arguments.after.as_ref())?,
    };
    request.keep_to(None, Some(options.max_chars));
    SearchAnswer::check_surroundings(&request, options.format)?;
    let answer = ask(store, options, Purpose::Search, |session| search(session, &request))?;
    options.reply(answer)
}
