//! Hints for the caller of a tool: the commands and options that a message names become calls and arguments.
//!
//! Messages are written for the command line. Invariant: a command that no tool replaces, such as `mdsel ingest`, stays
//! as it is, because a person can run it; so does an option that is not an argument of a tool.

use serde_json::{Map, json};

use super::tools::{self, EDIT_FLAGS, ToolName};
use crate::output::json::compact;

/// What messages say for the command line, and what they say for a call.
const PHRASES: [(&str, &str); 5] = [
    ("--content, --content-file or standard input", "content"),
    ("--also 'OTHER WORDING'", "another wording in queries"),
    ("Try -i,", "Try ignore_case,"),
    ("a search without -e and -F, which ranks words", "queries, which rank words"),
    ("with --title", "with content"),
];

/// Options of commands in messages that take no value, besides the flags of an edit.
const FLAGS: [&str; 3] = ["blocks", "refresh", "types"];

/// Returns `message` with calls in place of the commands between backticks. Its options stay, because it may quote a
/// document or the caller.
pub(super) fn with_calls(message: &str) -> String {
    let known = |text: String, (option, call): &(&str, &str)| text.replace(option, call);
    let phrased = PHRASES.iter().fold(message.to_owned(), known);
    let parts = phrased.split('`').enumerate().map(|(index, part)| {
        let call = if index % 2 == 1 { call_of(part) } else { None };
        call.unwrap_or_else(|| part.to_owned())
    });
    parts.collect::<Vec<_>>().join("`")
}

/// Returns `hint` with calls in place of commands, and arguments in place of options.
pub(super) fn with_arguments(hint: &str) -> String {
    let with_calls = with_calls(hint);
    let arguments = tools::argument_names();
    let mut parts = with_calls.split("--");
    let mut named = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|it: char| !it.is_ascii_lowercase() && it != '-');
        let (option, rest) = part.split_at(end.unwrap_or(part.len()));
        let argument = argument_of(option);
        if arguments.contains(&argument) {
            named.push_str(&argument);
        } else {
            named.extend(["--", option]);
        }
        named.push_str(rest);
    }
    named
}

/// Returns the name of the argument for an option.
fn argument_of(option: &str) -> String {
    option.chars().map(|it| if it == '-' { '_' } else { it }).collect()
}

/// Returns the call that does what a command does; `None` if no tool does.
fn call_of(command: &str) -> Option<String> {
    let mut words = shlex::split(command.strip_prefix("mdsel ")?)?.into_iter();
    let name = words.next()?;
    let (mut operands, mut options) = (Vec::new(), Map::new());
    while let Some(word) = words.next() {
        match word.strip_prefix("--").map(argument_of) {
            // The formats of the command line, as in `-f text`.
            None if word == "-f" => drop(words.next()?),
            None => operands.push(word),
            Some(flag) if FLAGS.contains(&&*flag) || EDIT_FLAGS.split(' ').any(|it| it == flag) => {
                options.insert(flag, true.into());
            }
            Some(option) => {
                options.insert(option, words.next()?.into());
            }
        }
    }
    let operands: Vec<&str> = operands.iter().map(String::as_str).collect();
    let (tool, arguments) = match (name.as_str(), operands.as_slice()) {
        ("index", []) => (ToolName::Overview, json!({ "depth": 0 })),
        ("toc", [folder]) if options.contains_key("depth") => {
            (ToolName::Overview, json!({ "documents": folder, "depth": 0 }))
        }
        ("toc" | "index", [document]) => (ToolName::Overview, json!({ "documents": document })),
        ("ldmd", ["index", document]) => {
            (ToolName::Overview, json!({ "documents": document, "ldmd": true }))
        }
        ("find", [pattern]) => (ToolName::Find, json!({ "pattern": pattern })),
        ("search", [query]) => (ToolName::Search, json!({ "queries": query })),
        ("read" | "select", [address]) => (ToolName::Read, json!({ "addresses": address })),
        ("tasks", []) => {
            (ToolName::Query, json!({ "kind": "tasks", "under": options.get("under")? }))
        }
        ("meta", []) if options.contains_key("types") => {
            (ToolName::Query, json!({ "kind": "keys" }))
        }
        ("meta", []) => {
            (ToolName::Query, json!({ "kind": "meta", "under": options.get("under")? }))
        }
        ("replace" | "insert" | "delete", [section]) => {
            let mut edit = Map::from_iter([
                ("operation".to_owned(), name.as_str().into()),
                ("section".to_owned(), (*section).into()),
            ]);
            if let Some(content) = options.remove("content_file") {
                options.insert("content".to_owned(), content);
            }
            edit.extend(options);
            (ToolName::Edit, json!({ "edits": [edit] }))
        }
        ("rename" | "move", []) => return Some(name),
        _ => return None,
    };
    Some(format!("{} {}", tool.name(), compact(&arguments)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_become_calls() {
        for (command, call) in [
            ("mdsel toc 'a b.md'", r#"overview {"documents":"a b.md"}"#),
            ("mdsel toc docs --depth 1", r#"overview {"documents":"docs","depth":0}"#),
            ("mdsel index -f text", r#"overview {"depth":0}"#),
            ("mdsel index a.md --blocks", r#"overview {"documents":"a.md"}"#),
            ("mdsel ldmd index a.md", r#"overview {"documents":"a.md","ldmd":true}"#),
            ("mdsel find '*x*'", r#"find {"pattern":"*x*"}"#),
            ("mdsel search WORDS", r#"search {"queries":"WORDS"}"#),
            ("mdsel read a.md::Use --refresh", r#"read {"addresses":"a.md::Use"}"#),
            ("mdsel tasks --under a.md", r#"query {"kind":"tasks","under":"a.md"}"#),
            ("mdsel meta --types", r#"query {"kind":"keys"}"#),
            (
                "mdsel replace a.md::* --content '' --allow-drop",
                r#"edit {"edits":[{"operation":"replace","section":"a.md::*","content":"","allow_drop":true}]}"#,
            ),
            ("mdsel rename", "rename"),
        ] {
            assert_eq!(call_of(command).as_deref(), Some(call), "{command}");
        }
    }

    #[test]
    fn what_no_tool_does_stays() {
        for text in
            ["run `mdsel ingest`, or `mdsel verify`", "`mdsel`", "`mdsel find", "a `--depth` b"]
        {
            assert_eq!(with_calls(text), text);
        }
        let server = "start mdsel mcp with --allow-write, or wait longer with --wait SECONDS";
        assert_eq!(with_arguments(server), server);
    }

    #[test]
    fn options_of_hints_become_arguments() {
        let hint = "pass --no-children, or name a place with --to; --position before or after";
        let expected = "pass no_children, or name a place with to; position before or after";
        assert_eq!(with_arguments(hint), expected);
    }
}
