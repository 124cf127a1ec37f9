//! The tools: their names, their descriptions, and the schemas of their arguments.
//!
//! Every conversation pays for these words, so each of them says once what the reader cannot guess.
//! Invariant: a schema lists exactly the arguments that [`super::calls`] accepts; where it names a
//! text, a list is accepted, too.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

/// Returns the tools. Those that write are included if `allow_write` is set.
pub(super) fn all(allow_write: bool) -> Vec<Tool> {
    let reading = [
        tool(
            "overview",
            "Summarize the store, or list section trees of documents (ldmd: LDMD sections)",
            &[],
            json!({
                "documents": texts("path, unique suffix, folder or glob"),
                "depth": number(), "ldmd": flag(), "max_chars": number(), "limit": number(), "after": text(""),
            }),
        ),
        tool(
            "find",
            "Find sections by title (glob or part) and content",
            &["pattern"],
            json!({
                "pattern": text(""), "content": text(""), "level": number(), "where": text(""),
                "globs": text("of paths"), "under": text(""), "limit": number(), "after": text(""),
            }),
        ),
        tool(
            "search",
            "Find passages that answer queries (4000 chars): a question and 2 rewordings, with terms its answer may use \
             (\"phrase\", +must, NOT word, prefix*, title:x); or lines by patterns (Rust regex)",
            &[],
            json!({
                "queries": texts(""), "patterns": texts(""), "literal": flag(), "ignore_case": flag(),
                "context": number(), "types": text("code, table, ..."), "tags": text(""),
                "under": texts("addresses or folders"), "globs": text("of paths"),
                "where": text("of front matter: status = Final and due < 2026-06-01"),
                "max_chars": number(), "limit": number(), "after": text(""),
            }),
        ),
        tool(
            "read",
            "Read content by address",
            &["addresses"],
            json!({
                "addresses": texts(""), "max_words": number(), "max_chars": number(), "after": text(""),
            }),
        ),
        tool(
            "neighbors",
            "List sections around one, or with links (out, in, both) its links and backlinks",
            &["address"],
            json!({
                "address": text(""), "links": one_of(&["out", "in", "both"]),
                "limit": number(), "after": text(""),
            }),
        ),
        tool(
            "query",
            "List code blocks, table rows, tasks, front matter or its keys",
            &["kind"],
            json!({
                "kind": one_of(&["code", "tables", "tasks", "meta", "keys"]),
                "names": texts("languages of code, columns of tables, or keys of meta"),
                "where": text("of rows, tasks or meta: = != < <= > >= ~ contains, exists KEY, not, and, or"),
                "where_meta": text(""), "containing": text("in code"),
                "state": one_of(&["open", "done"]), "tags": text(""), "under": text(""),
                "globs": text(""), "max_chars": number(), "limit": number(), "after": text(""),
            }),
        ),
        tool(
            "context",
            "Bundle query passages, summaries or bodies of addresses, and what they link to",
            &[],
            json!({
                "queries": texts(""), "addresses": texts(""), "tags": text(""), "under": texts(""),
                "links": number(), "with_body": flag(), "max_chars": number(), "limit": number(), "after": text(""),
            }),
        ),
    ];
    let writing = tool(
        "edit",
        "Edit a file, all or none; expect: hash from read; set, unset, add: section is a key of front matter",
        &["edits"],
        json!({
            "document": text(""), "dry_run": flag(), "refresh": flag(),
            "edits": { "type": "array", "items": {
                "type": "object",
                "properties": {
                    "operation": one_of(&["replace", "insert", "delete", "done", "open", "set", "unset", "add"]),
                    "section": text(""), "content": text(""), "expect": text(""),
                    "position": one_of(&["before", "after", "first_child", "last_child"]),
                },
                "required": ["operation", "section"],
                "additionalProperties": described("boolean", EDIT_FLAGS),
            }},
        }),
    );
    let reading = reading.map(|tool| tool.annotate(ToolAnnotations::new().read_only(true)));
    reading.into_iter().chain(allow_write.then_some(writing)).collect()
}

/// Returns the names of a tool's arguments, except those that every tool has.
pub(super) fn arguments(name: &str) -> Vec<&'static str> {
    static NAMES: std::sync::LazyLock<Vec<(String, Vec<String>)>> =
        std::sync::LazyLock::new(|| {
            let names = |tool: Tool| {
                let properties = tool.input_schema.get("properties").and_then(Value::as_object);
                let names = properties.into_iter().flat_map(|properties| properties.keys());
                let names = names.filter(|name| !["format", "max_chars"].contains(&name.as_str()));
                (tool.name.into_owned(), names.cloned().collect())
            };
            all(true).into_iter().map(names).collect()
        });
    let named = NAMES.iter().filter(|(tool, _)| tool == name);
    named.flat_map(|(_, names)| names.iter().map(String::as_str)).collect()
}

fn tool(
    name: &'static str,
    description: &'static str,
    required: &[&str],
    mut properties: Value,
) -> Tool {
    if let Some(properties) = properties.as_object_mut() {
        let is_first = name == "overview";
        properties.insert("format".to_owned(), text(if is_first { FORMAT_NAMES } else { "" }));
    }
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), properties);
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    Tool::new(name, description, Arc::new(schema))
}

/// The formats that a model can use. Only one tool describes them: an enumeration in every tool
/// would cost as many tokens as another tool.
pub(super) const FORMATS: [&str; 5] = ["json", "text", "records", "raw", "markdown"];
const FORMAT_NAMES: &str = "of answers: json, text (shortest), records, raw, markdown";

/// The flags of an edit, which its schema does not list one by one.
pub(super) const EDIT_FLAGS: &str = "no_children no_keep_heading relevel allow_drop allow_escape allow_duplicate allow_change fuzzy";

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

#[cfg(test)]
mod tests {
    use super::*;

    /// The limit counts 4 bytes as one token.
    #[test]
    fn the_schema_costs_less_than_1100_tokens() {
        let bytes = serde_json::to_string(&json!({ "tools": all(true) })).unwrap().len();
        assert!(bytes / 4 < 1100, "{} tokens", bytes / 4);
        assert_eq!(all(true).len(), 8);
        assert_eq!(all(false).len(), 7);
    }
}
