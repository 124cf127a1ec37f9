//! The arguments of calls: their names, and what all tools share.
//!
//! Invariant: an unknown argument is an error that names the one that is probably meant. A number or a truth value may
//! be written as text, as many models do.

use rmcp::model::JsonObject;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::address::suggest::is_near;
use crate::deserialize::from_object;
use crate::error::{Error, ErrorKind, Result};
use crate::mcp::ServerOptions;
use crate::mcp::reply::ReplyOptions;
use crate::mcp::tools::{self, ToolName};
use crate::message::argument_of;
use crate::output::Format;
use crate::visible::quoted;

/// Accepts `"20"` for a number and `"true"` for a truth value, also in the edits of a list. Accepts one edit, and text
/// in JSON, for the list of edits.
pub(super) fn read_texts(tool: ToolName, arguments: &mut JsonObject) {
    if let Some(edits) = arguments.get_mut("edits") {
        let read = edits.as_str().and_then(|text| serde_json::from_str(text).ok());
        *edits = match read.unwrap_or_else(|| edits.take()) {
            Value::Object(edit) => Value::Array(vec![edit.into()]),
            edits => edits,
        };
    }
    let edits = arguments.get_mut("edits").and_then(Value::as_array_mut).into_iter().flatten();
    for (name, value) in edits.filter_map(Value::as_object_mut).flatten() {
        if tools::EDIT_FLAGS.split(' ').any(|flag| flag == name)
            && let Some(is_set) = value.as_str().and_then(|text| text.parse::<bool>().ok())
        {
            *value = Value::Bool(is_set);
        }
    }
    for (name, value) in arguments {
        // Some encoders write every number with a fraction.
        if let Some(whole) = value.as_f64().filter(|it| value.is_f64() && it.fract() == 0.0)
            && let Ok(read) = serde_json::from_str::<u64>(&whole.to_string())
        {
            *value = read.into();
        }
        let Value::String(text) = &*value else { continue };
        let Ok(read) = serde_json::from_str::<Value>(text) else { continue };
        let wanted =
            if name == "max_chars" { Some("integer".to_owned()) } else { tool.type_of(name) };
        match wanted.as_deref() {
            Some("integer") if read.is_u64() => *value = read,
            Some("boolean") if read.is_boolean() => *value = read,
            _ => {}
        }
    }
}

/// Arguments that are lists of names, which may contain commas.
const LISTS_OF_NAMES: [&str; 4] = ["documents", "addresses", "names", "under"];

/// Returns the arguments with each list of names that is given as one text with commas divided there. They are meant if
/// the text as a whole finds nothing. Also returns the number of names in these lists, if one of them is no title: a file
/// or an address. `None` if there is no such text.
pub(super) fn divided(arguments: &JsonObject) -> Option<(JsonObject, Option<usize>)> {
    let lists = arguments.iter().filter(|(name, _)| LISTS_OF_NAMES.contains(&name.as_str()));
    let lists = lists.filter_map(|(name, value)| Some((name, value.as_str()?)));
    let lists = lists.filter(|(_, text)| text.contains(','));
    let lists = lists.map(|(name, text)| {
        (name.clone(), TextsWithCommas::from(OneOrMany::One(text.to_owned())).0.into())
    });
    let lists: JsonObject = lists.collect();
    let names = || lists.values().filter_map(Value::as_array).flatten().filter_map(Value::as_str);
    let is_address = |name: &str| {
        name.contains(['/', '#']) || [".md", ".markdown"].iter().any(|part| name.contains(part))
    };
    let count = names().any(is_address).then(|| names().count());
    (!lists.is_empty()).then(|| (arguments.clone().into_iter().chain(lists).collect(), count))
}

/// Accepts the singular of a list's name for the list. Returns an error for a name that the tool
/// does not have.
pub(super) fn name_arguments(tool: ToolName, arguments: &mut JsonObject) -> Result<()> {
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
        let error = usage(&format!("{} has no argument {name}", tool.name(), name = quoted(&name)));
        let hint = own_name(tool, &name, &known);
        let list = || format!("its arguments are {}", tool.argument_list());
        return Err(error.with_hint(hint.unwrap_or_else(list)));
    }
    Ok(())
}

/// Names that models give to arguments, and the names of the arguments, of which the first that the tool has is meant.
const OTHER_NAMES: [(&[&str], &[&str]); 10] = [
    (
        &["path", "file", "folder", "dir", "directory", "document", "in"],
        &["under", "documents", "addresses", "address"],
    ),
    (&["count", "max_results", "num_results", "top_k", "k", "n", "size"], &["limit"]),
    (&["offset", "page", "cursor", "next"], &["after"]),
    (&["text", "question", "q", "query", "keywords"], &["queries", "pattern"]),
    (&["title"], &["pattern"]),
    (&["regex", "regexp"], &["patterns"]),
    (&["lang", "language", "columns", "headers", "keys"], &["names"]),
    (&["filter"], &["where"]),
    (&["include"], &["globs"]),
    (&["direction"], &["links"]),
];

/// How to write a call of `edit`.
pub(super) const EDIT_FORM: &str =
    r#"write {"edits":[{"operation":"replace","section":...,"content":...}]}"#;

/// Returns the hint for an argument called `name`, which is not one of `known`, those of the tool.
fn own_name(tool: ToolName, name: &str, known: &[String]) -> Option<String> {
    if tool == ToolName::Edit && tools::argument_names().contains(name) {
        return Some(format!("{name} belongs to an edit: {EDIT_FORM}"));
    }
    if name == "also" && known.iter().any(|known| known == "queries") {
        return Some("add it to \"queries\"".to_owned());
    }
    let known: Vec<&str> = known.iter().map(String::as_str).chain(tools::OF_EVERY_TOOL).collect();
    // It may be written as an option.
    let name = argument_of(name.trim_start_matches('-'));
    let others = OTHER_NAMES.iter().filter(|(others, _)| others.contains(&&*name));
    let mut others = others.flat_map(|(_, own)| own.iter().copied());
    let other = others.find(|own| known.contains(own));
    let near = || known.iter().copied().find(|known| *known == name || is_near(&name, known));
    other.or_else(near).map(|own| format!("did you mean {own}?", own = quoted(&own)))
}

/// One text, or a list of texts.
#[derive(Debug, Default, Deserialize)]
#[serde(from = "OneOrMany")]
pub(super) struct OneOrManyTexts(pub(super) Vec<String>);

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

/// A list of texts, or one text with commas between them, as front matter has tags.
#[derive(Debug, Default, Deserialize)]
#[serde(from = "OneOrMany")]
pub(super) struct TextsWithCommas(pub(super) Vec<String>);

impl From<OneOrMany> for TextsWithCommas {
    fn from(texts: OneOrMany) -> Self {
        Self(match texts {
            OneOrMany::None(()) => Vec::new(),
            OneOrMany::One(text) => {
                let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
                parts.map(str::to_owned).collect()
            }
            OneOrMany::Many(texts) => texts,
        })
    }
}

/// Deserializes arguments. An unknown argument is an error.
pub(super) fn parse<Arguments: DeserializeOwned>(arguments: JsonObject) -> Result<Arguments> {
    from_object(&Value::Object(arguments)).map_err(|error| usage(&error))
}

pub(super) fn usage(message: &dyn std::fmt::Display) -> Error {
    Error::new(ErrorKind::Usage, message.to_string())
}

/// The arguments that every call has, which describe its reply.
#[derive(Deserialize)]
struct FormArguments {
    format: Option<String>,
    max_chars: Option<usize>,
}

/// Removes the arguments that describe the reply, and parses them.
pub(super) fn reply_options<'a>(
    server: &'a ServerOptions,
    arguments: &mut JsonObject,
) -> Result<ReplyOptions<'a>> {
    let given = ["format", "max_chars"]
        .into_iter()
        .filter_map(|name| arguments.shift_remove(name).map(|value| (name.to_owned(), value)));
    let given: FormArguments = parse(given.collect())?;
    let format = given.format.map_or(Ok(server.format), |name| {
        let named = tools::FORMATS.into_iter().find(|format| format.name() == name);
        named.ok_or_else(|| {
            let formats = tools::FORMATS.map(Format::name).join(", ");
            usage(&format!("no format is named {name}", name = quoted(&name)))
                .with_hint(format!("the formats are {formats}"))
        })
    })?;
    Ok(server.reply_options(format, given.max_chars))
}
