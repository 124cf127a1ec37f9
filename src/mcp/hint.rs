//! Messages for the caller of a tool: commands become calls, and options become arguments.
//!
//! Invariant: a command that no tool replaces, such as `mdsel ingest`, stays as it is, because a person can run it; so
//! does an option that is not an argument of a tool.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::tools::{self, EDIT_FLAGS, ToolName};
use crate::address::namespace;
use crate::message::{Command, Message, Word, Wording, argument_of};
use crate::output::json::compact;

/// Options of commands in messages that take no value, besides the flags of an edit.
const FLAGS: [&str; 3] = ["blocks", "refresh", "types"];

/// Returns `message` with calls in place of commands, and arguments in place of options. `store` is the option of a
/// command that names the store of the server, with a blank before it, or empty.
pub(super) fn for_calls(message: &Message, store: &str) -> String {
    message.render(&ToolCalls { store })
}

/// The words of the server.
struct ToolCalls<'a> {
    store: &'a str,
}

impl Wording for ToolCalls<'_> {
    fn command(&self, command: &Command) -> String {
        call_of(command).unwrap_or_else(|| command.in_store(self.store))
    }

    fn option<'a>(&self, option: &'a str) -> Cow<'a, str> {
        let argument = match option {
            "-e" => "patterns".to_owned(),
            "-F" => "literal".to_owned(),
            "-i" => "ignore_case".to_owned(),
            _ => argument_of(option.trim_start_matches('-')),
        };
        let is_known = tools::argument_names().contains(&argument);
        if is_known { argument.into() } else { option.into() }
    }

    fn value(&self, text: &str) -> String {
        text.to_owned()
    }

    fn choose<'a>(&self, _command_line: &'a str, tool: &'a str) -> &'a str {
        tool
    }
}

/// Whether the option of a command that gives this argument takes no value.
fn is_flag(argument: &str) -> bool {
    FLAGS.contains(&argument) || EDIT_FLAGS.split(' ').any(|it| it == argument)
}

/// Returns the call that does what a command does; `None` if no tool does.
fn call_of(command: &Command) -> Option<String> {
    let mut words = command.words.iter().skip(1);
    let name = command.name();
    let (mut operands, mut options) = (Vec::new(), Map::new());
    while let Some(word) = words.next() {
        let option = match word {
            Word::Given(text) => text.strip_prefix("--").map(argument_of),
            _ => None,
        };
        match option {
            None if matches!(word, Word::Given(text) if text == "-f") => {
                // Text is the format of every tool.
                let format = words.next().map(Word::text).filter(|format| *format != "text");
                options.extend(format.map(|format| ("format".to_owned(), format.into())));
            }
            None => operands.push(word.text()),
            Some(flag) if is_flag(&flag) => {
                options.insert(flag, true.into());
            }
            Some(option) => {
                options.insert(option, words.next()?.text().into());
            }
        }
    }
    let depth =
        options.get("depth").and_then(Value::as_str).and_then(|it| it.parse::<usize>().ok());
    let (tool, arguments) = match (name, operands.as_slice()) {
        ("index" | "toc", []) => (ToolName::Overview, json!({ "depth": depth.unwrap_or(0) })),
        ("toc", [folder]) if depth.is_some() => {
            (ToolName::Overview, json!({ "documents": [folder], "depth": depth }))
        }
        ("toc" | "index", [document]) => (ToolName::Overview, json!({ "documents": [document] })),
        ("ldmd", ["index", document]) => {
            (ToolName::Overview, json!({ "documents": [document], "ldmd": true }))
        }
        ("find", [pattern]) => (ToolName::Find, json!({ "pattern": pattern })),
        ("context", []) => (ToolName::Context, json!({ "queries": [options.get("query")?] })),
        ("search", [query]) => (ToolName::Search, json!({ "queries": [query] })),
        ("read" | "select", [address]) => {
            let mut arguments = Map::from_iter([("addresses".to_owned(), json!([address]))]);
            arguments.extend(options.remove_entry("format"));
            (ToolName::Read, arguments.into())
        }
        ("read", [document, place]) => {
            let address = format!("{}::{place}", namespace::encode(document));
            (ToolName::Read, json!({ "addresses": [address] }))
        }
        ("tasks", []) => {
            (ToolName::Query, json!({ "kind": "tasks", "under": options.get("under")? }))
        }
        ("meta", []) if options.contains_key("types") => {
            (ToolName::Query, json!({ "kind": "keys" }))
        }
        ("meta", []) => {
            (ToolName::Query, json!({ "kind": "meta", "under": options.get("under")? }))
        }
        ("meta", ["set", document, assignment]) => (ToolName::Edit, setting(document, assignment)?),
        ("replace" | "insert" | "delete", []) => {
            (ToolName::Edit, json!({ "edits": [{ "operation": name }] }))
        }
        ("replace" | "insert" | "delete", [section]) => {
            let mut edit = Map::from_iter([
                ("operation".to_owned(), name.into()),
                ("section".to_owned(), (*section).into()),
            ]);
            // The caller writes the content.
            if options.remove("content_file").is_some()
                || name != "delete" && !options.contains_key("content")
            {
                options.insert("content".to_owned(), "...".into());
            }
            edit.extend(options);
            (ToolName::Edit, json!({ "edits": [edit] }))
        }
        ("rename", [section]) => {
            let title = options.get("title")?;
            let edit = json!({ "operation": "rename", "section": section, "content": title });
            (ToolName::Edit, json!({ "edits": [edit] }))
        }
        ("move", [section]) => {
            let edit = json!({ "operation": "move", "section": section, "to": options.get("to")? });
            (ToolName::Edit, json!({ "edits": [edit] }))
        }
        ("move", [document, path]) => {
            let edit = json!({ "operation": "move", "section": document, "content": path });
            (ToolName::Edit, json!({ "edits": [edit] }))
        }
        _ => return None,
    };
    Some(format!("{} {}", tool.name(), compact(&arguments)))
}

/// Returns the arguments of the call that sets a key of front matter, which `assignment` gives as `KEY=VALUE`.
fn setting(document: &str, assignment: &str) -> Option<Value> {
    // A key in backquotes may contain the sign.
    let quoted = assignment.strip_prefix('`').and_then(|rest| rest.find("`="));
    let (key, value) = match quoted {
        Some(end) => assignment.split_at_checked(end + "``".len())?,
        None => assignment.split_at_checked(assignment.find('=')?)?,
    };
    let value = value.strip_prefix('=')?;
    let edit =
        json!({ "operation": "set", "document": document, "section": key, "content": value });
    Some(json!({ "edits": [edit] }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::message;

    #[test]
    fn commands_become_calls() {
        for (command, call) in [
            ("mdsel toc 'a b.md'", r#"overview {"documents":["a b.md"]}"#),
            ("mdsel toc docs --depth 1", r#"overview {"documents":["docs"],"depth":1}"#),
            ("mdsel index -f text", r#"overview {"depth":0}"#),
            ("mdsel index a.md --blocks", r#"overview {"documents":["a.md"]}"#),
            ("mdsel ldmd index a.md", r#"overview {"documents":["a.md"],"ldmd":true}"#),
            ("mdsel find '*x*'", r#"find {"pattern":"*x*"}"#),
            ("mdsel context --query 'a b'", r#"context {"queries":["a b"]}"#),
            ("mdsel search WORDS", r#"search {"queries":["WORDS"]}"#),
            ("mdsel toc --depth 0", r#"overview {"depth":0}"#),
            ("mdsel read a.md::Use --refresh", r#"read {"addresses":["a.md::Use"]}"#),
            ("mdsel read a.md -f json", r#"read {"addresses":["a.md"],"format":"json"}"#),
            ("mdsel tasks --under a.md", r#"query {"kind":"tasks","under":"a.md"}"#),
            ("mdsel meta --types", r#"query {"kind":"keys"}"#),
            (
                "mdsel replace a.md::* --content '' --allow-drop",
                r#"edit {"edits":[{"operation":"replace","section":"a.md::*","content":"","allow_drop":true}]}"#,
            ),
            ("mdsel delete", r#"edit {"edits":[{"operation":"delete"}]}"#),
            (
                "mdsel meta set a.md 'b=[A, B]'",
                r#"edit {"edits":[{"operation":"set","document":"a.md","section":"b","content":"[A, B]"}]}"#,
            ),
            (
                "mdsel meta set a.md '`b=c`=d=e'",
                r#"edit {"edits":[{"operation":"set","document":"a.md","section":"`b=c`","content":"d=e"}]}"#,
            ),
            (
                "mdsel rename a.md::Use --title TITLE",
                r#"edit {"edits":[{"operation":"rename","section":"a.md::Use","content":"TITLE"}]}"#,
            ),
            (
                "mdsel move a.md::Use --to b.md",
                r#"edit {"edits":[{"operation":"move","section":"a.md::Use","to":"b.md"}]}"#,
            ),
            (
                "mdsel insert 'a b.md::Use' --position first_child",
                r#"edit {"edits":[{"operation":"insert","section":"a b.md::Use","position":"first_child","content":"..."}]}"#,
            ),
        ] {
            assert_eq!(for_calls(&command.into(), ""), call, "{command}");
        }
    }

    /// An option that is taken for one with a value takes the next word as its value.
    #[test]
    fn the_flags_of_all_commands_in_messages_are_known() {
        /// The commands that a tool replaces.
        const REPLACED: [&str; 15] = [
            "context", "delete", "find", "index", "insert", "ldmd", "meta", "move", "read",
            "rename", "replace", "search", "select", "tasks", "toc",
        ];
        let mut program = crate::cli::command();
        program.build();
        let mut checked = 0;
        let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        for file in walkdir::WalkDir::new(source).into_iter().map(Result::unwrap) {
            if file.path().extension().is_none_or(|it| it != "rs") {
                continue;
            }
            let text = std::fs::read_to_string(file.path()).unwrap();
            for template in text.split("`mdsel ").skip(1) {
                let template = template.split('`').next().unwrap();
                let name = template.split(' ').next().unwrap();
                if !REPLACED.contains(&name) {
                    continue;
                }
                let command = program.find_subcommand(name).unwrap();
                let inner = command.get_subcommands().flat_map(clap::Command::get_arguments);
                let known: Vec<_> = command.get_arguments().chain(inner).collect();
                // A command that prints help stays as it is.
                let is_checked = |it: &&str| it.starts_with(char::is_alphabetic) && *it != "help";
                let options = template.split_whitespace().filter_map(|it| it.strip_prefix("--"));
                for option in options.filter(is_checked) {
                    let Some(known) = known.iter().find(|it| it.get_long() == Some(option)) else {
                        panic!("{}: {name} has no option --{option}", file.path().display());
                    };
                    let is_flag = is_flag(&argument_of(option));
                    assert_eq!(is_flag, !known.get_action().takes_values(), "{name} --{option}");
                    checked += 1;
                }
            }
        }
        assert!(checked > 20, "only {checked} options were found");
    }

    #[test]
    fn what_no_tool_does_stays() {
        for text in [
            "run `mdsel ingest`, or `mdsel verify`",
            "`mdsel`",
            "`mdsel find",
            "begin with `## `, or a `--depth`",
            "start mdsel mcp with --allow-write",
        ] {
            assert_eq!(for_calls(&text.into(), ""), text);
        }
    }

    #[test]
    fn commands_that_stay_name_the_store_of_the_server() {
        let hint = Message::from(
            "run `mdsel ingest FOLDER`, see `mdsel help store` and `mdsel COMMAND --help`",
        );
        let expected = "run `mdsel ingest --db a.db FOLDER`, see `mdsel help store` and `mdsel COMMAND --help`";
        assert_eq!(for_calls(&hint, " --db a.db"), expected);
    }

    #[test]
    fn options_become_arguments() {
        let hint = "pass --no-children, or name a place with --to; --position before or after";
        let expected = "pass no_children, or name a place with to; position before or after";
        assert_eq!(for_calls(&hint.into(), ""), expected);
    }

    #[test]
    fn names_stay() {
        for text in ["a --to b", "`mdsel toc a.md`", "{a|b}"] {
            assert_eq!(
                for_calls(&message!("{} was not found", text), ""),
                format!("{text} was not found")
            );
        }
        for name in
            ["how--to.md", "it's --to.md", "back\\slash.md", "q\"x\".md", "tick`y`.md", "-`.md"]
        {
            let hint = message!("empty it with `mdsel replace {path} --content ''`; or not", name);
            let written = for_calls(&hint, "");
            let call = written.strip_prefix("empty it with `edit ").unwrap();
            let call = call.strip_suffix("`; or not").unwrap();
            let call: serde_json::Value = serde_json::from_str(call).unwrap();
            let section = call["edits"][0]["section"].as_str().unwrap();
            assert_eq!(section, name, "{written}");
        }
    }
}
