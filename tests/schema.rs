//! Validates the JSON answers of the suite against the schemas that `mdsel schema` prints.

use std::collections::HashMap;
use std::process::Command;
use std::sync::{Mutex, OnceLock};

use serde_json::{Value, json};

use crate::harness::PROGRAM;

/// The schema of a command, printed once in a process; `None` if the command has none.
fn schema_of(command: &str, is_compact: bool) -> Option<Value> {
    type Schemas = HashMap<(String, bool), Option<Value>>;
    static SCHEMAS: OnceLock<Mutex<Schemas>> = OnceLock::new();
    let mut schemas = SCHEMAS.get_or_init(Mutex::default).lock().unwrap();
    let schema = schemas.entry((command.to_owned(), is_compact)).or_insert_with(|| {
        let options = is_compact.then_some("--compact");
        let arguments = ["schema", command].into_iter().chain(options);
        let output = Command::new(PROGRAM).args(arguments).output().unwrap();
        output.status.success().then(|| serde_json::from_slice(&output.stdout).unwrap())
    });
    schema.clone()
}

/// The command that `arguments` call, with that of a group.
fn command_of(arguments: &[String]) -> Option<String> {
    static NAMES: OnceLock<Vec<String>> = OnceLock::new();
    let names = NAMES.get_or_init(|| {
        let output = Command::new(PROGRAM).arg("schema").output().unwrap();
        String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
    });
    let is_command = |word: &String| names.iter().any(|name| name.split(' ').next() == Some(word));
    let start = arguments.iter().position(is_command)?;
    let in_group = arguments.get(start..start + 2).map(|words| words.join(" "));
    in_group.filter(|name| names.contains(name)).or_else(|| Some(arguments[start].clone()))
}

/// Whether the JSON answer to `arguments` has the form that its schema says.
pub(crate) fn validate(arguments: &[String], answer: &Value) -> Result<(), String> {
    let is_rows = arguments.iter().any(|argument| argument.contains("jsonl"));
    let is_compact = arguments.iter().any(|argument| argument == "--compact");
    let command = match answer.get("error") {
        Some(_) => Some("error".to_owned()),
        None => command_of(arguments),
    };
    match command.and_then(|command| schema_of(&command, is_compact)) {
        Some(schema) if !is_rows => Schema { root: &schema }.check(&schema, answer, "answer"),
        _ => Ok(()),
    }
}

/// A schema in the part of the language that `mdsel schema` uses. Any other keyword is an error.
struct Schema<'a> {
    root: &'a Value,
}

impl Schema<'_> {
    fn check(&self, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
        let Some(keywords) = schema.as_object() else {
            return if schema == &json!(false) { Err(format!("{at} is too much")) } else { Ok(()) };
        };
        for (keyword, expected) in keywords {
            self.check_keyword(keywords, keyword, expected, value, at)?;
        }
        Ok(())
    }

    fn check_keyword(
        &self,
        schema: &serde_json::Map<String, Value>,
        keyword: &str,
        expected: &Value,
        value: &Value,
        at: &str,
    ) -> Result<(), String> {
        let wrong = |what: &str| Err(format!("{at}: {what} {expected}: {value}"));
        let count = || value.as_array().map_or(0, Vec::len) as u64;
        match keyword {
            "$ref" => {
                let pointer = expected.as_str().unwrap().trim_start_matches('#');
                return self.check(self.root.pointer(pointer).unwrap(), value, at);
            }
            "anyOf" | "oneOf" => {
                let each = expected.as_array().unwrap().iter();
                let errors: Vec<String> =
                    each.clone().filter_map(|schema| self.check(schema, value, at).err()).collect();
                let fitting = each.len() - errors.len();
                if fitting == 0 {
                    return Err(errors.join("; "));
                }
                if keyword == "oneOf" && fitting > 1 {
                    return wrong("more than one of");
                }
            }
            "type" => {
                let has = |name: &Value| match name.as_str().unwrap() {
                    "null" => value.is_null(),
                    "boolean" => value.is_boolean(),
                    "integer" => value.is_i64() || value.is_u64(),
                    "number" => value.is_number(),
                    "string" => value.is_string(),
                    "array" => value.is_array(),
                    "object" => value.is_object(),
                    other => panic!("no type {other}"),
                };
                if !expected.as_array().map_or_else(|| has(expected), |types| types.iter().any(has))
                {
                    return wrong("is not of type");
                }
            }
            "enum" if !expected.as_array().unwrap().contains(value) => return wrong("is none of"),
            "const" if expected != value => return wrong("is not"),
            "minimum" if value.is_number() && value.as_f64() < expected.as_f64() => {
                return wrong("is below");
            }
            "maximum" if value.is_number() && value.as_f64() > expected.as_f64() => {
                return wrong("is above");
            }
            "minItems" if value.is_array() && count() < expected.as_u64().unwrap() => {
                return wrong("has less than");
            }
            "maxItems" if count() > expected.as_u64().unwrap() => return wrong("has more than"),
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    self.check(expected, item, &format!("{at}[{index}]"))?;
                }
            }
            "required" => {
                let names = expected.as_array().unwrap().iter().map(|name| name.as_str().unwrap());
                if let Some(name) = { names }.find(|name| value.get(name).is_none()) {
                    return Err(format!("{at} has no {name}"));
                }
            }
            "properties" => {
                for (name, schema) in expected.as_object().unwrap() {
                    if let Some(value) = value.get(name) {
                        self.check(schema, value, &format!("{at}.{name}"))?;
                    }
                }
            }
            "additionalProperties" => {
                let known =
                    |name: &str| schema.get("properties").is_some_and(|of| of.get(name).is_some());
                for (name, value) in value.as_object().into_iter().flatten() {
                    if !known(name) {
                        self.check(expected, value, &format!("{at}.{name}"))?;
                    }
                }
            }
            "enum" | "const" | "minimum" | "maximum" | "minItems" | "maxItems" | "$schema"
            | "$defs" | "title" | "description" | "format" | "default" => {}
            other => panic!("{at}: no keyword {other}"),
        }
        Ok(())
    }
}
