//! `schema`: the JSON Schemas of answers, made from their types.
//!
//! Invariant: every command that answers in JSON has one, and an object of an answer has no fields but those of
//! its schema.

use clap::Args;
use schemars::transform::{RecursiveTransform, Transform as _};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value};

use super::command::AnyCommand;
use super::described::{Described, RefusedOptions, STORE, schema_of};
use super::exit::Status;
use super::global::Global;
use crate::address::suggest::most_similar;
use crate::error::{Error, ErrorJson, ErrorKind, Result};
use crate::output::{Format, json};
use crate::visible::quoted;

/// Arguments of `schema`.
#[derive(Debug, Args)]
#[command(after_help = "Examples: mdsel schema search --pretty\n          mdsel schema links tree")]
pub(super) struct SchemaArgs {
    /// The command whose answer it describes, as `links tree`, or `error` [default: the list of commands]
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
}

impl AnyCommand for SchemaArgs {
    /// Prints the schema of a command, else the commands that have one.
    fn run(&self, global: &Global) -> Result<Status> {
        let name = self.command.join(" ");
        let all = all(global.commands);
        if name.is_empty() {
            let names: String = all.iter().map(|(name, _)| format!("{name}\n")).collect();
            return global.print_whole(names.as_bytes());
        }
        let Some((name, schema)) = all.iter().find(|(known, _)| *known == name) else {
            let names = || all.iter().map(|(name, _)| name.as_str());
            let similar = most_similar(&name, names());
            let hint = match similar.first() {
                Some(similar) => format!("try `mdsel schema {similar}`; `mdsel schema` lists all"),
                None => {
                    format!("those that have one are {}", names().collect::<Vec<_>>().join(", "))
                }
            };
            let message = format!("no command {name} answers in JSON", name = quoted(&name));
            return Err(Error::new(ErrorKind::Usage, message).with_hint(hint));
        };
        let mut schema = schema();
        RecursiveTransform(close).transform(&mut schema);
        if global.compact {
            RecursiveTransform(require_nothing).transform(&mut schema);
        }
        schema.insert("title".to_owned(), format!("mdsel {name}").into());
        let mut bytes = Vec::new();
        json::write(&mut bytes, schema.as_value(), global.pretty)
            .map_err(|error| Error::io(std::path::Path::new("standard output"), error))?;
        global.print_whole(&bytes)
    }

    fn describe(name: &str, all: &mut Vec<Described>) {
        let refused_options = &[
            RefusedOptions { options: &["color"], reason: "it prints a schema", hint: "" },
            RefusedOptions { options: &STORE, reason: "it reads no store", hint: "" },
        ];
        let has = |format| format == Format::Json;
        all.push(Described { refused_options, ..Described::new(name, has) });
    }
}

/// The name of a command, and the schema of its answer.
type Named = (String, fn() -> Schema);

/// Returns every command that answers in JSON; `error` is a command that failed.
fn all(commands: fn() -> Vec<Described>) -> Vec<Named> {
    let all = commands().into_iter();
    let named = all.filter_map(|described| Some((described.name, described.schema?)));
    named.chain([("error".to_owned(), schema_of::<Failed> as fn() -> _)]).collect()
}

/// What a command prints that failed.
#[expect(dead_code, reason = "only its schema is used")]
#[derive(JsonSchema)]
struct Failed {
    error: ErrorJson,
}

/// Closes an object to other fields. A field that may be left out is never null.
fn close(schema: &mut Schema) {
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else {
        return;
    };
    for (name, property) in properties.iter_mut() {
        if let Some(property) = property.as_object_mut()
            && !required.iter().any(|required| required == name)
        {
            remove_null(property);
        }
    }
    schema.insert("additionalProperties".to_owned(), false.into());
}

/// Lets every field of an object be left out. A value may then fit several alternatives.
fn require_nothing(schema: &mut Schema) {
    schema.remove("required");
    if let Some(alternatives) = schema.remove("oneOf") {
        schema.insert("anyOf".to_owned(), alternatives);
    }
}

fn remove_null(property: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = property.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            property.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(variants)) = property.get_mut("anyOf") {
        variants.retain(|variant| variant.get("type").is_none_or(|name| name != "null"));
    }
}
