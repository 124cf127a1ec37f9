//! The tools: their names, their descriptions, and the schemas of their arguments.
//!
//! Every conversation pays for these words, so each of them says once what the reader cannot guess.
//! Invariant: a schema lists exactly the arguments that [`super::calls`] accepts; where it names a
//! text, a list is accepted, too.

use std::collections::HashSet;
use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use crate::address::suggest::is_near;
use crate::edit::operations;
use crate::error::{Error, ErrorKind, Result};
use crate::output::Format;
use crate::visible::quoted;

/// The operations that are named in the names of tools which write.
const CHANGES: [&str; 5] = ["replace", "insert", "delete", "rename", "move"];

/// Names that models give to tools, and what does the same here, in which `this` stands for the name.
const OTHER_NAMES: [(&[&str], &str); 7] = [
    (&["toc", "outline", "list", "ls", "index", "status", "prime", "tree", "glob"], "overview"),
    (&["grep", "rg", "ask"], "search"),
    (&["select", "get", "cat", "open", "view"], "read"),
    (&["links", "backlinks"], "neighbors"),
    (&["tables", "tasks", "code", "meta"], "query with this as its kind"),
    (&CHANGES, "edit with this as its operation"),
    (&["task"], "edit with done or open as its operation"),
];

/// Returns what does the same as the tool called `name` of another program, such as `read_file` or `mcp__mdsel__read`.
fn own_name(name: &str) -> Option<String> {
    let name = name.to_ascii_lowercase();
    let words = || name.split(|it: char| !it.is_ascii_alphanumeric());
    let tools = ToolName::ALL.map(ToolName::name);
    let own = words().find_map(|word| tools.into_iter().find(|own| *own == word));
    let other = |word| {
        let (_, own) = OTHER_NAMES.iter().find(|(others, _)| others.contains(&word))?;
        Some(own.replace("this", word))
    };
    // What writes is meant, as in `find_and_replace`.
    let change = words().find(|word| CHANGES.contains(word)).and_then(other);
    let near = || tools.into_iter().find(|own| is_near(&name, own)).map(str::to_owned);
    // The last word says more, as in `get_links`.
    change.or(own.map(str::to_owned)).or_else(|| words().rev().find_map(other)).or_else(near)
}

/// A tool that a call can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ToolName {
    Overview,
    Find,
    Search,
    Read,
    Neighbors,
    Query,
    Context,
    Edit,
}

impl ToolName {
    pub(super) const ALL: [Self; 8] = [
        Self::Overview,
        Self::Find,
        Self::Search,
        Self::Read,
        Self::Neighbors,
        Self::Query,
        Self::Context,
        Self::Edit,
    ];

    /// Returns the name that a call gives.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Overview => "overview",
            Self::Find => "find",
            Self::Search => "search",
            Self::Read => "read",
            Self::Neighbors => "neighbors",
            Self::Query => "query",
            Self::Context => "context",
            Self::Edit => "edit",
        }
    }

    /// Whether the tool changes files and the store.
    pub(super) fn writes(self) -> bool {
        self == Self::Edit
    }

    /// Returns the tool called `name`. Fails if there is none, or if it writes and `allow_write` is not set.
    pub(super) fn named(name: &str, allow_write: bool) -> Result<Self> {
        let tool = Self::ALL.into_iter().find(|tool| tool.name() == name);
        let hint = match tool {
            Some(tool) if allow_write || !tool.writes() => return Ok(tool),
            Some(_) => "start mdsel mcp with --allow-write".to_owned(),
            None => {
                let offered = Self::ALL.iter().filter(|tool| allow_write || !tool.writes());
                let names: Vec<&str> = offered.map(|tool| tool.name()).collect();
                let own = own_name(name).filter(|own| allow_write || !own.starts_with("edit"));
                let own = own.map(|own| format!("use {own}; ")).unwrap_or_default();
                format!("{own}the tools are {}", names.join(", "))
            }
        };
        Err(Error::new(ErrorKind::Usage, format!("there is no tool {name}", name = quoted(&name)))
            .with_hint(hint))
    }

    /// Returns the description of the tool, and the schema of its arguments.
    fn describe(self) -> Tool {
        let tool = match self {
            Self::Overview => tool(
                self,
                "Summarize the store or list sections (ldmd: LDMD)",
                &[],
                json!({
                    "documents": texts("suffix, folder, glob"),
                    "depth": number(), "ldmd": flag(), "limit": number(), "after": text(""),
                }),
            ),
            Self::Find => tool(
                self,
                "Find sections by title (glob, part), content",
                &["pattern"],
                json!({
                    "pattern": text(""), "content": text(""), "level": number(), "where": text(""),
                    "globs": text(""), "under": text(""), "limit": number(), "after": text(""),
                }),
            ),
            Self::Search => tool(
                self,
                "Find passages for queries (4000 chars): a question, 2 rewordings with terms of its answer \
             (\"phrase\", +must, NOT word, prefix*, title:x); or lines by patterns (regex); files: only paths",
                &[],
                json!({
                    "queries": texts(""), "patterns": texts(""), "literal": flag(), "ignore_case": flag(),
                    "context": number(), "files": flag(), "types": text("code, table..."), "tags": text(""),
                    "under": text("address, folder"), "globs": text(""), "where": text(""),
                    "max_chars": number(), "limit": number(), "after": text(""),
                }),
            ),
            Self::Read => tool(
                self,
                "Read by address",
                &["addresses"],
                json!({
                    "addresses": texts(""), "max_words": number(), "max_chars": number(), "after": text(""),
                }),
            ),
            Self::Neighbors => tool(
                self,
                "List sections around one or its links",
                &["address"],
                json!({
                    "address": text(""), "links": one_of(&["out", "in", "both"]),
                    "after": text(""),
                }),
            ),
            Self::Query => tool(
                self,
                "List code, table rows, tasks, front matter (meta), keys",
                &["kind"],
                json!({
                    "kind": one_of(&["code", "tables", "tasks", "meta", "keys"]),
                    "names": texts("languages, columns, keys"),
                    "where": text("of rows, tasks, else meta: a = b and not (c >= 1 or d ~ x or e contains f or exists g)"),
                    "where_meta": text(""), "containing": text(""), "under": text(""), "globs": text(""),
                    "limit": number(), "after": text(""),
                }),
            ),
            Self::Context => tool(
                self,
                "Bundle passages, bodies, linked places",
                &[],
                json!({
                    "queries": texts(""), "addresses": texts(""), "tags": text(""), "under": text(""),
                    "links": number(), "with_body": flag(), "after": text(""),
                }),
            ),
            Self::Edit => tool(
                self,
                "Edit, all or none; expect: hash of json read; old: text to replace; set, unset, add: section = key; rename: content = title; \
             move: to = address or content = path",
                &["edits"],
                json!({
                    "document": text(""), "dry_run": flag(), "refresh": flag(),
                    "edits": { "type": "array", "items": {
                        "type": "object",
                        "properties": {
                            "operation": one_of(&described_operations()),
                            "document": text(""), "section": text(""), "content": text(""), "old": text(""), "to": text(""), "expect": text(""),
                            "position": one_of(&["before", "after", "first_child", "last_child"]),
                        },
                        "required": ["operation", "section"],
                        "additionalProperties": described("boolean", EDIT_FLAGS),
                    }},
                }),
            ),
        };
        if self.writes() { tool } else { tool.annotate(ToolAnnotations::new().read_only(true)) }
    }

    /// Returns the JSON Schema type of the argument `name`, if the tool has it and describes it.
    pub(super) fn type_of(self, name: &str) -> Option<String> {
        let tool = self.describe();
        let property = tool.input_schema.get("properties")?.get(name)?;
        property.get("type")?.as_str().map(str::to_owned)
    }

    /// Returns the names of the tool's arguments, except those that every tool has.
    pub(super) fn arguments(self) -> Vec<String> {
        let tool = self.describe();
        let properties = tool.input_schema.get("properties").and_then(Value::as_object);
        let names = properties.into_iter().flat_map(|properties| properties.keys());
        names.filter(|name| !OF_EVERY_TOOL.contains(&name.as_str())).cloned().collect()
    }

    /// Returns the names of all its arguments, for a message.
    pub(super) fn argument_list(self) -> String {
        let own = self.arguments();
        own.iter().map(String::as_str).chain(OF_EVERY_TOOL).collect::<Vec<_>>().join(", ")
    }
}

/// The arguments of every tool.
pub(super) const OF_EVERY_TOOL: [&str; 2] = ["format", "max_chars"];

/// Returns the tools. Those that write are included if `allow_write` is set.
pub(super) fn all(allow_write: bool) -> Vec<Tool> {
    let tools = ToolName::ALL.into_iter().filter(|tool| allow_write || !tool.writes());
    tools.map(ToolName::describe).collect()
}

fn tool(
    name: ToolName,
    description: &'static str,
    required: &[&str],
    mut properties: Value,
) -> Tool {
    if let Some(properties) = properties.as_object_mut() {
        let is_first = name == ToolName::Overview;
        properties.insert("format".to_owned(), text(if is_first { FORMAT_NAMES } else { "" }));
    }
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), properties);
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    Tool::new(name.name(), description, Arc::new(schema))
}

/// The formats that a model can use. Only one tool describes them: an enumeration in every tool
/// would cost as many tokens as another tool.
pub(super) const FORMATS: [Format; 5] =
    [Format::Json, Format::Text, Format::Records, Format::Raw, Format::Markdown];
const FORMAT_NAMES: &str = "json, text, records, raw, markdown";

/// The flags of an edit, which its schema does not list one by one.
pub(super) const EDIT_FLAGS: &str = "no_children no_keep_heading relevel allow_drop allow_escape allow_duplicate allow_change no_links fuzzy";

/// Returns the names of the arguments of all tools, and of the fields and flags of an edit.
pub(super) fn argument_names() -> HashSet<String> {
    let mut names: HashSet<String> = EDIT_FLAGS.split(' ').map(str::to_owned).collect();
    for tool in all(true) {
        let properties = tool.input_schema.get("properties");
        let of_edits = properties.and_then(|it| it.pointer("/edits/items/properties"));
        let objects = [properties, of_edits].into_iter().flatten().filter_map(Value::as_object);
        names.extend(objects.flat_map(|object| object.keys().cloned()));
    }
    names
}

fn described(kind: &str, description: &str) -> Value {
    if description.is_empty() {
        json!({ "type": kind })
    } else {
        json!({ "type": kind, "description": description })
    }
}

fn text(description: &str) -> Value {
    described("string", description)
}

fn number() -> Value {
    described("integer", "")
}

fn flag() -> Value {
    described("boolean", "")
}

fn texts(description: &str) -> Value {
    let mut schema = described("array", description);
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("items".to_owned(), text(""));
    }
    schema
}

fn one_of(names: &[&str]) -> Value {
    json!({ "enum": names })
}

/// Returns the operations of an edit that the schema describes. It has no room for `remove`: `set` takes the whole list.
fn described_operations() -> Vec<&'static str> {
    operations().into_iter().filter(|name| *name != "remove").collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::plan::Position;

    #[test]
    fn the_name_of_a_tool_of_other_programs_has_a_hint() {
        for (name, hint) in [
            ("toc", "use overview; "),
            ("tasks", "use query with tasks as its kind; "),
            ("list_tables", "use query with tables as its kind; "),
            ("read_file", "use read; "),
            ("mdsel_read", "use read; "),
            ("mcp__mdsel__search", "use search; "),
            ("Grep", "use search; "),
            ("list_directory", "use overview; "),
            ("get_links", "use neighbors; "),
            ("serch", "use search; "),
            ("edit_file", "the tools are "),
            ("find_and_replace", "the tools are "),
            ("weather", "the tools are "),
        ] {
            let error = ToolName::named(name, false).unwrap_err();
            assert!(error.hint().starts_with(hint), "{name}");
        }
        for (name, hint) in [
            ("edit_file", "use edit; "),
            ("find_and_replace", "use edit with replace as its operation; "),
            ("complete_task", "use edit with done or open as its operation; "),
        ] {
            assert!(ToolName::named(name, true).unwrap_err().hint().starts_with(hint), "{name}");
        }
        for (names, _) in OTHER_NAMES {
            assert!(names.iter().all(|name| ToolName::ALL.iter().all(|tool| tool.name() != *name)));
        }
    }

    /// The limit counts 4 bytes as one token.
    #[test]
    fn the_schema_costs_less_than_1100_tokens() {
        let bytes = serde_json::to_string(&json!({ "tools": all(true) })).unwrap().len();
        assert!(bytes / 4 < 1100, "{} tokens", bytes / 4);
        assert_eq!(all(true).len(), 8);
        assert_eq!(all(false).len(), 7);
    }

    #[test]
    fn the_schema_lists_the_positions_that_an_edit_accepts() {
        let schema = Value::Object(ToolName::Edit.describe().input_schema.as_ref().clone());
        let listed = &schema["properties"]["edits"]["items"]["properties"]["position"]["enum"];
        // The error about an unknown position names all of them.
        let error = serde_json::from_value::<Position>(json!("")).unwrap_err().to_string();
        let accepted: Vec<&str> = error.split('`').skip(3).step_by(2).collect();
        assert_eq!(*listed, json!(accepted), "{error}");
    }

    #[test]
    fn only_a_server_that_may_write_has_the_tool_that_writes() {
        assert_eq!(ToolName::named("edit", true).unwrap(), ToolName::Edit);
        let closed = ToolName::named("edit", false).unwrap_err();
        assert!(closed.hint().contains("--allow-write"));
        assert!(ToolName::named("replace", true).is_err());
        for tool in all(true) {
            let name = ToolName::named(&tool.name, true).unwrap();
            let is_read_only = tool.annotations.unwrap_or_default().read_only_hint;
            assert_eq!(is_read_only == Some(true), !name.writes(), "{}", tool.name);
        }
    }
}
