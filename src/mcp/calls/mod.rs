//! Calls of tools: turns arguments into requests of the library, and answers into replies.
//!
//! Each tool has a module, which is named after it. Invariants: a call makes the same request as the
//! command of the same kind, with the same defaults except for the budget; an unknown argument is an error.

mod arguments;
mod context;
mod edit;
mod find;
mod neighbors;
mod overview;
mod query;
mod read;
mod search;

use rmcp::model::JsonObject;

use super::ServerOptions;
use super::reply::{Reply, ReplyOptions};
use super::tools::ToolName;
use crate::address::FaultCode;
use crate::error::{ErrorKind, Result};
use crate::output::Format;
use crate::query::labels::read_labels;
use crate::query::{List, Session};
use crate::store::{Purpose, Store};

/// Answers a question about the store as `options` say. If an interrupted edit was finished first, the answer begins with a
/// warning.
fn ask<T: List>(
    store: &Store,
    options: ReplyOptions<'_>,
    purpose: Purpose,
    question: impl FnOnce(&Session<'_>) -> Result<T>,
) -> Result<T> {
    let mut answer = crate::query::ask(store, purpose, |session| {
        let mut answer = question(session)?;
        if options.format == Format::Records {
            read_labels(session, &mut answer)?;
        }
        Ok(answer)
    })?;
    if let Some(page) = answer.page_mut() {
        page.warnings.splice(0..0, store.take_warnings());
    }
    Ok(answer)
}

/// Answers the call of a tool.
pub(super) fn call(server: &ServerOptions, tool: ToolName, arguments: JsonObject) -> Result<Reply> {
    answered(server, tool, arguments).map_err(|error| match error.kind() {
        ErrorKind::Usage if error.hints().is_empty() => error.with_hint(format!(
            "the arguments of {} are {}",
            tool.name(),
            tool.argument_list()
        )),
        _ => error,
    })
}

fn answered(server: &ServerOptions, tool: ToolName, mut arguments: JsonObject) -> Result<Reply> {
    let store = &*server.store;
    arguments::read_texts(tool, &mut arguments);
    let options = arguments::reply_options(server, &mut arguments)?;
    arguments::name_arguments(tool, &mut arguments)?;
    let divided = arguments::divided(&arguments);
    let reply = run(store, options, tool, arguments);
    let Some((divided, names)) = divided.filter(|_| !is_found(&reply)) else { return reply };
    let other = run(store, options, tool, divided);
    let is_missing = |reply: &Result<Reply>| {
        let faults = reply.as_ref().map_or(&[][..], |reply| &reply.faults);
        !faults.is_empty() && !faults.contains(&FaultCode::Ambiguous)
    };
    // If some of the names are found, each of the others gets its own fault, unless the text may be a title with commas.
    let is_part = |reply: &Reply| names.is_some_and(|names| reply.faults.len() < names);
    let is_meant = is_found(&other) || is_missing(&reply) && other.as_ref().is_ok_and(is_part);
    if is_meant { other } else { reply }
}

fn is_found(reply: &Result<Reply>) -> bool {
    reply.as_ref().is_ok_and(|reply| reply.is_found)
}

fn run(
    store: &Store,
    options: ReplyOptions<'_>,
    tool: ToolName,
    arguments: JsonObject,
) -> Result<Reply> {
    match tool {
        ToolName::Overview => overview::call(store, options, arguments),
        ToolName::Find => find::call(store, options, arguments),
        ToolName::Search => search::call(store, options, arguments),
        ToolName::Read => read::call(store, options, arguments),
        ToolName::Neighbors => neighbors::call(store, options, arguments),
        ToolName::Query => query::call(store, options, arguments),
        ToolName::Context => context::call(store, options, arguments),
        ToolName::Edit => edit::call(store, options, arguments),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde::de::DeserializeOwned;
    use serde_json::json;

    use super::arguments::parse;
    use super::*;
    use crate::edit::BatchLine;
    use crate::mcp::tools;

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
            ToolName::Overview => read_by::<overview::Overview>(),
            ToolName::Find => read_by::<find::Find>(),
            ToolName::Search => read_by::<search::Search>(),
            ToolName::Read => read_by::<read::Read>(),
            ToolName::Neighbors => read_by::<neighbors::Neighbors>(),
            ToolName::Context => read_by::<context::Context>(),
            ToolName::Query => read_by::<query::Query>(),
            ToolName::Edit => read_by::<edit::Edit>(),
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
        assert_eq!(parse::<read::Read>(arguments).unwrap().addresses.0, ["a.md"]);
    }
}
