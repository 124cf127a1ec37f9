//! The arguments of calls: their names, and what all tools share.
//!
//! Invariant: an unknown argument is an error that names the nearest one. A number or a truth value may be written
//! as text, as many models do.

use rmcp::model::JsonObject;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};
use crate::mcp::ServerOptions;
use crate::mcp::reply::ReplyOptions;
use crate::mcp::tools::{self, ToolName};
use crate::output::Format;

/// Accepts `"20"` for a number and `"true"` for a truth value, also in the edits of a list.
pub(super) fn read_texts(tool: ToolName, arguments: &mut JsonObject) {
    let edits = arguments.get_mut("edits").and_then(Value::as_array_mut).into_iter().flatten();
    for (name, value) in edits.filter_map(Value::as_object_mut).flatten() {
        if tools::EDIT_FLAGS.split(' ').any(|flag| flag == name)
            && let Some(is_set) = value.as_str().and_then(|text| text.parse::<bool>().ok())
        {
            *value = Value::Bool(is_set);
        }
    }
    for (name, value) in arguments {
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
        let similarity = |known: &&String| (strsim::jaro_winkler(known, &name) * 1000.0).round();
        let nearest =
            known.iter().max_by(|one, other| similarity(one).total_cmp(&similarity(other)));
        let error = usage(&format!("{} has no argument {name:?}", tool.name()));
        let nearest = match nearest {
            _ if name == "also" && known.iter().any(|known| known == "queries") => {
                "add it to \"queries\"; ".to_owned()
            }
            Some(nearest) => format!("did you mean {nearest:?}? "),
            None => String::new(),
        };
        return Err(error.with_hint(format!("{nearest}its arguments are {}", known.join(", "))));
    }
    Ok(())
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

/// Deserializes arguments. An unknown argument is an error.
pub(super) fn parse<Arguments: DeserializeOwned>(arguments: JsonObject) -> Result<Arguments> {
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
pub(super) fn form<'a>(
    options: &'a ServerOptions,
    arguments: &mut JsonObject,
) -> Result<ReplyOptions<'a>> {
    let given = ["format", "max_chars"]
        .into_iter()
        .filter_map(|name| arguments.shift_remove(name).map(|value| (name.to_owned(), value)));
    let given: FormArguments = parse(given.collect())?;
    let format = given.format.map_or(Ok(options.format), |name| {
        let named = tools::FORMATS.into_iter().find(|format| format.name() == name);
        named.ok_or_else(|| {
            let formats = tools::FORMATS.map(Format::name).join(", ");
            usage(&format!("no format is named {name:?}"))
                .with_hint(format!("the formats are {formats}"))
        })
    })?;
    let max_chars = given.max_chars.unwrap_or(options.max_chars);
    let has_max_chars = given.max_chars.is_some();
    Ok(ReplyOptions { format, max_chars, has_max_chars, store: &options.shown })
}
