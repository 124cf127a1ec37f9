//! Calls of tools: turns arguments into requests of the library, and answers into replies.
//!
//! Invariants: a call makes the same request as the command of the same kind, with the same
//! defaults except for the budget; an unknown argument is an error.

use std::time::Duration;

use rmcp::model::JsonObject;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::ServerOptions;
use super::reply::{Reply, ReplyOptions};
use super::tools::ToolName;
use crate::edit::{self, BatchLine};
use crate::error::{Error, ErrorKind, Result};
use crate::limits;
use crate::output::{Format, has_addresses};
use crate::query::ask;
use crate::query::links::{Direction, EdgeFilter, list};
use crate::query::page::fitting;
use crate::query::search::{
    ContextLines, OutputMode as Hits, PatternOptions, Query, SearchAnswer, passage_chars, search,
};
use crate::query::{
    Cursor, FilterRequest, context, data, find, ldmd, neighbors, prime, select, toc,
};
use crate::store::{Purpose, Store};

/// Answers the call of a tool.
pub(super) fn call(
    options: &ServerOptions,
    tool: ToolName,
    mut arguments: JsonObject,
) -> Result<Reply> {
    let store = &*options.store;
    let form = form(options, &mut arguments)?;
    name_arguments(tool, &mut arguments)?;
    match tool {
        ToolName::Overview => overview(store, form, arguments),
        ToolName::Find => find(store, form, arguments),
        ToolName::Search => words_or_patterns(store, form, arguments),
        ToolName::Read => read(store, form, arguments),
        ToolName::Neighbors => neighbors(store, form, arguments),
        ToolName::Query => query(store, form, arguments),
        ToolName::Context => bundle(store, form, arguments),
        ToolName::Edit => edit(store, form, arguments),
    }
}

/// Accepts the singular of a list's name for the list. Returns an error for a name that the tool
/// does not have.
fn name_arguments(tool: ToolName, arguments: &mut JsonObject) -> Result<()> {
    let known = tool.arguments();
    let unknown = |name: &&String| !known.contains(name);
    for name in arguments.keys().filter(unknown).cloned().collect::<Vec<_>>() {
        let plurals = [format!("{name}s"), format!("{name}es"), name.replace("query", "queries")];
        let list = known.iter().find(|known| plurals.iter().any(|plural| plural == *known));
        if let Some(list) = list.filter(|list| !arguments.contains_key(*list)) {
            if let Some(value) = arguments.shift_remove(&name) {
                arguments.insert(list.clone(), value);
            }
            continue;
        }
        let similarity = |known: &&String| (strsim::jaro_winkler(known, &name) * 1000.0).round();
        let nearest =
            known.iter().max_by(|one, other| similarity(one).total_cmp(&similarity(other)));
        let error = usage(&format!("{} has no argument {name:?}", tool.name()));
        let nearest =
            nearest.map(|nearest| format!("did you mean {nearest:?}? ")).unwrap_or_default();
        return Err(error.with_hint(format!("{nearest}its arguments are {}", known.join(", "))));
    }
    Ok(())
}

/// One text, or a list of texts.
#[derive(Debug, Default, Deserialize)]
#[serde(from = "OneOrMany")]
struct OneOrManyTexts(Vec<String>);

#[derive(Deserialize)]
#[serde(untagged, expecting = "a text or a list of texts")]
enum OneOrMany {
    None(()),
    One(String),
    Many(Vec<String>),
}

impl From<OneOrMany> for OneOrManyTexts {
    fn from(texts: OneOrMany) -> Self {
        match texts {
            OneOrMany::None(()) => Self::default(),
            OneOrMany::One(text) => Self(vec![text]),
            OneOrMany::Many(texts) => Self(texts),
        }
    }
}

/// Deserializes arguments. An unknown argument is an error.
fn parse<Arguments: DeserializeOwned>(arguments: JsonObject) -> Result<Arguments> {
    let parsed =
        |arguments: &Value| Arguments::deserialize(arguments).map_err(|error| error.to_string());
    let arguments = Value::Object(arguments);
    parsed(&arguments).map_err(|error| {
        // serde does not say at which argument it failed: it is the one without which it fails otherwise.
        let is_at = |name: &&String| {
            let mut others = arguments.clone();
            others.as_object_mut().and_then(|others| others.shift_remove(*name));
            parsed(&others).err().as_ref() != Some(&error)
        };
        match arguments.as_object().and_then(|given| given.keys().find(is_at)) {
            Some(name) => usage(&format!("{name}: {error}")),
            None => usage(&error),
        }
    })
}

fn usage(message: &dyn std::fmt::Display) -> Error {
    Error::new(ErrorKind::Usage, message.to_string())
}

/// The arguments that every call has, which describe its reply.
#[derive(Deserialize)]
struct FormArguments {
    format: Option<String>,
    max_chars: Option<usize>,
}

/// Removes the arguments that describe the reply, and parses them.
fn form<'a>(options: &'a ServerOptions, arguments: &mut JsonObject) -> Result<ReplyOptions<'a>> {
    let given = ["format", "max_chars"]
        .into_iter()
        .filter_map(|name| arguments.shift_remove(name).map(|value| (name.to_owned(), value)));
    let given: FormArguments = parse(given.collect())?;
    let format = match given.format.as_deref() {
        None => options.format,
        Some("json") => Format::Json,
        Some("text") => Format::Text,
        Some("records") => Format::Records,
        Some("raw") => Format::Raw,
        Some("markdown") => Format::Markdown,
        Some(other) => {
            let formats = super::tools::FORMATS.join(", ");
            return Err(usage(&format!("no format is named {other:?}"))
                .with_hint(format!("the formats are {formats}")));
        }
    };
    let max_chars = given.max_chars.unwrap_or(options.max_chars);
    let has_max_chars = given.max_chars.is_some();
    Ok(ReplyOptions { format, max_chars, has_max_chars, store: &options.shown })
}

fn cursor(after: Option<&String>) -> Result<Option<Cursor>> {
    after.map(|after| after.parse()).transpose()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Overview {
    #[serde(default)]
    documents: OneOrManyTexts,
    depth: Option<usize>,
    #[serde(default)]
    ldmd: bool,
    limit: Option<usize>,
    after: Option<String>,
}

fn overview(store: &Store, form: ReplyOptions<'_>, arguments: JsonObject) -> Result<Reply> {
    let Overview { documents: OneOrManyTexts(documents), depth, ldmd: is_ldmd, limit, after } =
        parse(arguments)?;
    let after = cursor(after.as_ref())?;
    if is_ldmd {
        if depth.is_some() {
            return Err(usage(&"depth applies to section trees, not to LDMD sections"));
        }
        let [document] = <[String; 1]>::try_from(documents)
            .map_err(|_| usage(&"ldmd needs exactly one document"))?;
        let request = ldmd::index::LdmdIndexRequest { document, limit: limit.unwrap_or(0), after };
        let answer = ask(store, Purpose::Read, |library| ldmd::index::index(library, &request))?;
        return form.reply(&answer, answer.outcome());
    }
    if documents.is_empty() && depth.is_none() && limit.is_none() {
        let answer = ask(store, Purpose::Read, |library| prime::prime(library, after))?;
        return form.reply(&answer, crate::query::Outcome::All);
    }
    let limit = fitting(limit.unwrap_or(limits::LIST_LIMIT), Some(form.max_chars));
    let request = toc::TocRequest {
        documents,
        filter: FilterRequest::default(),
        depth,
        max_level: None,
        with_addresses: has_addresses::<toc::TocAnswer>(form.format),
        limit,
        after,
    };
    let answer = ask(store, Purpose::Read, |library| toc::toc(library, &request))?;
    form.reply(&answer, answer.outcome())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Find {
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

fn find(store: &Store, form: ReplyOptions<'_>, arguments: JsonObject) -> Result<Reply> {
    let arguments: Find = parse(arguments)?;
    if arguments.level.is_some_and(|level| !(1..=6).contains(&level)) {
        return Err(usage(&"level must be 1 to 6"));
    }
    let request = find::FindRequest {
        pattern: arguments.pattern,
        content: arguments.content,
        filter: FilterRequest {
            level: arguments.level,
            condition: arguments.condition,
            globs: arguments.globs.0,
            under: arguments.under.0,
            ..FilterRequest::default()
        },
        limit: fitting(arguments.limit.unwrap_or(limits::LIST_LIMIT), Some(form.max_chars)),
        after: cursor(arguments.after.as_ref())?,
    };
    let answer = ask(store, Purpose::Read, |library| find::find(library, &request))?;
    form.reply(&answer, answer.outcome())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SearchArguments {
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
    types: OneOrManyTexts,
    #[serde(default)]
    tags: OneOrManyTexts,
    #[serde(default)]
    under: OneOrManyTexts,
    #[serde(default)]
    globs: OneOrManyTexts,
    #[serde(rename = "where")]
    condition: Option<String>,
    limit: Option<usize>,
    after: Option<String>,
}

fn words_or_patterns(
    store: &Store,
    form: ReplyOptions<'_>,
    arguments: JsonObject,
) -> Result<Reply> {
    let form = form.of_search();
    let arguments: SearchArguments = parse(arguments)?;
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
    let mut request = crate::query::search::SearchRequest {
        query,
        filter: FilterRequest {
            globs: arguments.globs.0,
            tags: arguments.tags.0,
            under: arguments.under.0,
            types: arguments.types.0,
            condition: arguments.condition,
            ..FilterRequest::default()
        },
        form: Hits::Hits,
        surroundings: ContextLines {
            before: arguments.context,
            after: arguments.context,
            is_match_only: false,
        },
        passage: limits::PASSAGE_CHARS,
        keeps_duplicates: false,
        detail: SearchAnswer::detail(form.format),
        explain: false,
        limit: arguments.limit.unwrap_or(limits::SEARCH_LIMIT),
        max_chars: None,
        after: cursor(arguments.after.as_ref())?,
    };
    request.keep_to(None, Some(form.max_chars));
    let answer = ask(store, Purpose::Search, |library| search(library, &request))?;
    form.reply(&answer, answer.outcome())
}

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
struct DataQuery {
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

fn query(store: &Store, form: ReplyOptions<'_>, arguments: JsonObject) -> Result<Reply> {
    let arguments: DataQuery = parse(arguments)?;
    let is_of_items = matches!(arguments.kind, Kind::Tables | Kind::Tasks);
    if arguments.containing.is_some() && !matches!(arguments.kind, Kind::Code) {
        return Err(usage(&"containing applies to code"));
    }
    let (of_items, of_documents) = match (is_of_items, arguments.condition, arguments.where_meta) {
        (true, condition, where_meta) => (condition, where_meta),
        (false, Some(_), Some(_)) => {
            return Err(usage(&"where is about front matter here; join both with and"));
        }
        (false, condition, where_meta) => (None, condition.or(where_meta)),
    };
    let common = data::Common {
        filter: FilterRequest {
            globs: arguments.globs.0,
            under: arguments.under.0,
            condition: of_documents,
            ..FilterRequest::default()
        },
        limit: fitting(arguments.limit.unwrap_or(limits::LIST_LIMIT), Some(form.max_chars)),
        after: cursor(arguments.after.as_ref())?,
    };
    let names = arguments.names.0;
    match arguments.kind {
        Kind::Code => {
            let containing = arguments.containing;
            let request = data::code::CodeRequest { languages: names, containing, common };
            let answer =
                ask(store, Purpose::Search, |library| data::code::code(library, &request))?;
            form.reply(&answer, answer.outcome())
        }
        Kind::Tables => {
            let (headers, columns) = (names, Vec::new());
            let request =
                data::tables::TableRequest { headers, condition: of_items, columns, common };
            let answer =
                ask(store, Purpose::Read, |library| data::tables::tables(library, &request))?;
            form.reply(&answer, answer.outcome())
        }
        Kind::Tasks => {
            let request = data::tasks::TaskRequest { is_done: None, condition: of_items, common };
            let answer =
                ask(store, Purpose::Read, |library| data::tasks::tasks(library, &request))?;
            form.reply(&answer, answer.outcome())
        }
        Kind::Meta => {
            let request = data::meta::MetaRequest { keys: names, common };
            let answer = ask(store, Purpose::Read, |library| data::meta::meta(library, &request))?;
            form.reply(&answer, answer.outcome())
        }
        Kind::Keys => {
            let data::Common { filter, limit, after } = common;
            let answer = ask(store, Purpose::Read, |library| {
                data::meta::types(library, &filter, limit, after)
            })?;
            form.reply(&answer, answer.outcome())
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    addresses: OneOrManyTexts,
    #[serde(default)]
    max_words: usize,
    after: Option<String>,
}

fn read(store: &Store, form: ReplyOptions<'_>, arguments: JsonObject) -> Result<Reply> {
    let arguments: Read = parse(arguments)?;
    let request = select::SelectRequest {
        addresses: arguments.addresses.0,
        max_words: arguments.max_words,
        limit: None,
        after: cursor(arguments.after.as_ref())?,
        room: Some(form.max_chars),
    };
    let answer = ask(store, Purpose::Read, |library| select::select(library, &request))?;
    form.reply(&answer, answer.outcome())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NeighborsArguments {
    address: String,
    links: Option<DirectionName>,
    after: Option<String>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum DirectionName {
    Out,
    In,
    Both,
}

impl From<DirectionName> for Direction {
    fn from(name: DirectionName) -> Self {
        match name {
            DirectionName::Out => Self::Out,
            DirectionName::In => Self::In,
            DirectionName::Both => Self::Both,
        }
    }
}

fn neighbors(store: &Store, form: ReplyOptions<'_>, arguments: JsonObject) -> Result<Reply> {
    let NeighborsArguments { address, links, after } = parse(arguments)?;
    let after = cursor(after.as_ref())?;
    let Some(direction) = links.map(Direction::from) else {
        let answer =
            ask(store, Purpose::Read, |library| neighbors::neighbors(library, &address, after))?;
        return form.reply(&answer, answer.outcome());
    };
    let limit = fitting(limits::LIST_LIMIT, Some(form.max_chars));
    let filter = EdgeFilter::default();
    let documents = FilterRequest::default();
    let request =
        list::LinkListRequest { address, direction, filter, documents, max_nodes: 0, limit, after };
    let answer = ask(store, Purpose::Read, |library| list::list(library, &request))?;
    form.reply(&answer, answer.outcome())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Bundle {
    #[serde(default)]
    queries: OneOrManyTexts,
    #[serde(default)]
    addresses: OneOrManyTexts,
    #[serde(default)]
    tags: OneOrManyTexts,
    #[serde(default)]
    under: OneOrManyTexts,
    #[serde(default)]
    links: usize,
    #[serde(default)]
    with_body: bool,
    after: Option<String>,
}

fn bundle(store: &Store, form: ReplyOptions<'_>, arguments: JsonObject) -> Result<Reply> {
    let arguments: Bundle = parse(arguments)?;
    let form = if arguments.queries.0.is_empty() { form } else { form.of_search() };
    let mut request = context::ContextRequest {
        addresses: arguments.addresses.0,
        queries: arguments.queries.0,
        passage: passage_chars(None, Some(form.max_chars)),
        filter: FilterRequest {
            tags: arguments.tags.0,
            under: arguments.under.0,
            ..FilterRequest::default()
        },
        hops: arguments.links,
        with_body: arguments.with_body,
        outside: Vec::new(),
        limit: fitting(limits::LIST_LIMIT, Some(form.max_chars)),
        max_chars: Some(form.max_chars),
        after: cursor(arguments.after.as_ref())?,
    };
    let is_empty = request.addresses.is_empty() && request.filter.is_empty();
    let is_question = !request.queries.is_empty();
    if is_empty && !is_question {
        return Err(usage(&"give queries, addresses, tags or under"));
    }
    // A Markdown block shows the content of its place.
    request.with_body |= form.format == Format::Markdown && !is_question;
    let answer = if is_question {
        ask(store, Purpose::Search, |library| context::context(library, &request))?
    } else {
        ask(store, Purpose::Read, |library| context::context(library, &request))?
    };
    form.reply(&answer, answer.outcome())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Edit {
    document: Option<String>,
    edits: Vec<BatchLine>,
    #[serde(default)]
    dry_run: bool,
    #[serde(default)]
    refresh: bool,
}

fn edit(store: &Store, form: ReplyOptions<'_>, arguments: JsonObject) -> Result<Reply> {
    let Edit { document, edits, dry_run, refresh } = parse(arguments)?;
    if let [line] = edits.as_slice()
        && let Some(relocation) = line.relocation(document.as_ref())?
    {
        let operation = relocation.name();
        let request = edit::RelocateRequest {
            store,
            relocation,
            keeps_links: false,
            expect: line.expected().cloned(),
            is_dry_run: dry_run,
            is_refresh: refresh,
            wait: Duration::from_secs(limits::LOCK_WAIT_SECONDS as u64),
            confirm: &|report| {
                let answer = edit::RelocateAnswer::of(report, dry_run);
                form.reply(&answer, answer.outcome()).map(drop)
            },
        };
        let answer = match edit::relocate(&request)? {
            Ok(report) => edit::RelocateAnswer::of(&report, dry_run),
            Err(fault) => edit::RelocateAnswer::fault(operation, fault),
        };
        return form.reply(&answer, answer.outcome());
    }
    let is_batch = edits.len() != 1;
    let edits = (1..).zip(edits).map(|(number, edit)| {
        let origin = format!("edit {number}");
        edit.into_edit(origin.clone(), false).map_err(|error| error.in_part(&origin))
    });
    let edits = edits.collect::<Result<_>>()?;
    let answer = |report: Option<edit::EditReport>, faults| edit::EditAnswer {
        report,
        faults,
        is_batch,
        is_dry_run: dry_run,
        with_content: true,
    };
    let reply = |answer: edit::EditAnswer| {
        let outcome = answer.outcome();
        form.reply(&answer, outcome)
    };
    let request = edit::EditRequest {
        store,
        document,
        expect: None,
        edits,
        is_dry_run: dry_run,
        is_refresh: refresh,
        wait: Duration::from_secs(limits::LOCK_WAIT_SECONDS as u64),
        confirm: &|report| reply(answer(Some(report.clone()), Vec::new())).map(drop),
    };
    match edit::edit(&request)? {
        Ok(report) => reply(answer(Some(report), Vec::new())),
        Err(fault) => reply(answer(None, vec![fault])),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::super::tools;
    use super::*;

    /// Returns the names of the arguments that `Arguments` accepts, from its error for an unknown
    /// one.
    fn read_by<Arguments: DeserializeOwned>() -> BTreeSet<String> {
        let mut bogus = JsonObject::new();
        bogus.insert("bogus argument".to_owned(), json!(0));
        let Err(error) = parse::<Arguments>(bogus) else { panic!("a bogus argument was accepted") };
        error.to_string().split('`').skip(3).step_by(2).map(str::to_owned).collect()
    }

    #[test]
    fn schemas_list_the_arguments_that_calls_accept() {
        let read = |tool| match tool {
            ToolName::Overview => read_by::<Overview>(),
            ToolName::Find => read_by::<Find>(),
            ToolName::Search => read_by::<SearchArguments>(),
            ToolName::Read => read_by::<Read>(),
            ToolName::Neighbors => read_by::<NeighborsArguments>(),
            ToolName::Context => read_by::<Bundle>(),
            ToolName::Query => read_by::<DataQuery>(),
            ToolName::Edit => read_by::<Edit>(),
        };
        for tool in tools::all(true) {
            let properties = tool.input_schema["properties"].as_object().unwrap();
            let mut named: BTreeSet<String> = properties.keys().cloned().collect();
            assert!(named.remove("format"));
            named.remove("max_chars");
            let name = ToolName::named(&tool.name, true).unwrap();
            assert_eq!(named, read(name), "{}", tool.name);
        }
        let edits = &tools::all(true)[7].input_schema["properties"]["edits"]["items"]["properties"];
        let flags = tools::EDIT_FLAGS.split(' ').map(str::to_owned);
        let named: BTreeSet<_> = edits.as_object().unwrap().keys().cloned().chain(flags).collect();
        assert_eq!(named, read_by::<BatchLine>());
    }

    #[test]
    fn a_single_text_is_accepted_as_a_list() {
        let mut arguments = JsonObject::new();
        arguments.insert("addresses".to_owned(), json!("a.md"));
        assert_eq!(parse::<Read>(arguments).unwrap().addresses.0, ["a.md"]);
    }
}
