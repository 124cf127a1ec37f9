//! Hints for the caller of a tool: the commands and options that a message names become calls and arguments.
//!
//! Messages are written for the command line. Invariant: a command that no tool replaces, such as `mdsel ingest`, stays
//! as it is, because a person can run it; so does an option that is not an argument of a tool.

use serde_json::{Map, json};

use super::tools::{self, EDIT_FLAGS, ToolName};
use crate::error::{command_in, quoted_length};
use crate::output::json::compact;

/// What messages say for the command line, and what they say for a call.
const PHRASES: [(&str, &str); 12] = [
    ("--content, --content-file or standard input", "content"),
    ("--also 'OTHER WORDING'", "another wording in queries"),
    ("Try -i,", "Try ignore_case,"),
    ("a search without -e and -F, which ranks words", "queries, which rank words"),
    ("use -F to search", "use literal to search"),
    ("; use -U to search across lines", ""),
    (", or wait longer with --wait SECONDS", ", then repeat the call"),
    ("; see mdsel help data", ""),
    ("; see mdsel help search", ""),
    (", or pass --no-links to leave all links as they are", ""),
    ("use `mdsel rename` or `mdsel move`; over MCP, a call with", "make a call with"),
    (
        "run `mdsel ingest`, or pass --refresh; read",
        "repeat the call with refresh and dry_run to update the store; read",
    ),
];

/// Options of commands in messages that take no value, besides the flags of an edit.
const FLAGS: [&str; 3] = ["blocks", "refresh", "types"];

/// Returns `message` with calls in place of commands, and arguments in place of options. What is between double
/// quotes, and a command that stays, is not changed: it may be a name that the message repeats.
pub(super) fn for_calls(message: &str) -> String {
    let mut result = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(scalar) = rest.chars().next() {
        let (copied, written) = if scalar == '"' {
            (quoted_length(rest), None)
        } else if let Some(code) = command_in(rest) {
            (code.len() + 2, call_of(code).map(|call| format!("`{call}`")))
        } else if let Some((phrase, call)) = PHRASES.iter().find(|(it, _)| rest.starts_with(it)) {
            (phrase.len(), Some((*call).to_owned()))
        } else if let Some(option) = option_in(&result, rest) {
            let argument = argument_of(&option[2..]);
            let is_known = tools::argument_names().contains(&argument);
            (option.len(), is_known.then_some(argument))
        } else {
            (scalar.len_utf8(), None)
        };
        let (own, after) = rest.split_at(copied);
        result.push_str(written.as_deref().unwrap_or(own));
        rest = after;
    }
    result
}

/// Returns the option at the start of `text`, which follows `before`.
fn option_in<'a>(before: &str, text: &'a str) -> Option<&'a str> {
    let name = text.strip_prefix("--")?;
    let is_word = before.chars().next_back().is_none_or(|it| it.is_whitespace() || it == '(');
    let end = name.find(|it: char| !it.is_ascii_lowercase() && it != '-').unwrap_or(name.len());
    let after = name.get(end..)?.trim_start_matches(['.', ',', ';', ')']);
    let is_end = after.chars().next().is_none_or(char::is_whitespace);
    (is_word && is_end && end > 0).then(|| text.get(..end + 2)).flatten()
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
            None if word == "-f" => {
                // Text is the format of every tool.
                let format = words.next().filter(|format| format != "text");
                options.extend(format.map(|format| ("format".to_owned(), format.into())));
            }
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
        ("index" | "toc", []) => (ToolName::Overview, json!({ "depth": 0 })),
        ("toc", [folder]) if options.contains_key("depth") => {
            (ToolName::Overview, json!({ "documents": [folder], "depth": 0 }))
        }
        ("toc" | "index", [document]) => (ToolName::Overview, json!({ "documents": [document] })),
        ("ldmd", ["index", document]) => {
            (ToolName::Overview, json!({ "documents": [document], "ldmd": true }))
        }
        ("find", [pattern]) => (ToolName::Find, json!({ "pattern": pattern })),
        ("search", [query]) => (ToolName::Search, json!({ "queries": [query] })),
        ("read" | "select", [address]) => {
            let mut arguments = Map::from_iter([("addresses".to_owned(), json!([address]))]);
            arguments.extend(options.remove_entry("format"));
            (ToolName::Read, arguments.into())
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
        ("replace" | "insert" | "delete", [section]) => {
            let mut edit = Map::from_iter([
                ("operation".to_owned(), name.as_str().into()),
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
        ("move", [document, path]) => {
            let edit = json!({ "operation": "move", "section": document, "content": path });
            (ToolName::Edit, json!({ "edits": [edit] }))
        }
        _ => return None,
    };
    Some(format!("{} {}", tool.name(), compact(&arguments)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::shell_path;

    #[test]
    fn a_message_has_each_phrase() {
        fn read(folder: &std::path::Path, text: &mut String) {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    read(&path, text);
                } else if path.extension().is_some_and(|it| it == "rs") && !path.ends_with(file!())
                {
                    text.push_str(&std::fs::read_to_string(&path).unwrap());
                }
            }
        }
        let mut text = String::new();
        read(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut text);
        // A message may be divided into lines.
        let lines = text.split("\\\n");
        let text: String =
            lines.enumerate().map(|(n, it)| if n == 0 { it } else { it.trim_start() }).collect();
        for (phrase, _) in PHRASES {
            assert!(text.contains(phrase), "no message has {phrase:?}");
        }
    }

    #[test]
    fn commands_become_calls() {
        for (command, call) in [
            ("mdsel toc 'a b.md'", r#"overview {"documents":["a b.md"]}"#),
            ("mdsel toc docs --depth 1", r#"overview {"documents":["docs"],"depth":0}"#),
            ("mdsel index -f text", r#"overview {"depth":0}"#),
            ("mdsel index a.md --blocks", r#"overview {"documents":["a.md"]}"#),
            ("mdsel ldmd index a.md", r#"overview {"documents":["a.md"],"ldmd":true}"#),
            ("mdsel find '*x*'", r#"find {"pattern":"*x*"}"#),
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
            (
                "mdsel rename a.md::Use --title TITLE",
                r#"edit {"edits":[{"operation":"rename","section":"a.md::Use","content":"TITLE"}]}"#,
            ),
            (
                "mdsel insert 'a b.md::Use' --position first_child",
                r#"edit {"edits":[{"operation":"insert","section":"a b.md::Use","position":"first_child","content":"..."}]}"#,
            ),
        ] {
            assert_eq!(call_of(command).as_deref(), Some(call), "{command}");
        }
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
            assert_eq!(for_calls(text), text);
        }
    }

    #[test]
    fn options_become_arguments() {
        let hint = "pass --no-children, or name a place with --to; --position before or after";
        let expected = "pass no_children, or name a place with to; position before or after";
        assert_eq!(for_calls(hint), expected);
    }

    #[test]
    fn names_stay() {
        for text in [
            r#"no section is named "--limit", "a \" --to b" or "`mdsel toc a.md`""#,
            "how--to.md and /a/t--to--under/b were not found",
            "--to.md is a file",
        ] {
            assert_eq!(for_calls(text), text);
        }
        for name in
            ["how--to.md", "it's --to.md", "back\\slash.md", "q\"x\".md", "tick`y`.md", "-`.md"]
        {
            let hint =
                format!("empty it with `mdsel replace {} --content ''`; or not", shell_path(name));
            let written = for_calls(&hint);
            let call = written.strip_prefix("empty it with `edit ").unwrap();
            let call = call.strip_suffix("`; or not").unwrap();
            let call: serde_json::Value = serde_json::from_str(call).unwrap();
            let section = call["edits"][0]["section"].as_str().unwrap();
            assert_eq!(section.trim_start_matches("./"), name, "{written}");
        }
    }
}
