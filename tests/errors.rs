//! The errors of wrong commands, in a table. Each of them has a hint that can be followed.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use crate::harness::{Answer, Place, words};
use crate::reference::{repository, sources};

/// Wrong commands, each with its answer: status, code, message, hint.
///
/// `MDSEL_WRITE_ERRORS=1` writes the current answers to the table. Review them before you commit.
const TABLE: &str = "fixtures/errors.txt";

const GUIDE: &str = "---\ntitle: Guide\n---\n# Guide\n\nIntro.\n\n## Install\n\ntext\n\n```sh\nrun\n```\n\n\
    ### From source\n\nsrc\n\n## Use\n\n- one\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n## Use\n\nagain\n";

fn place() -> Place {
    let place = Place::with(&[
        ("docs/guide.md", GUIDE),
        ("docs/faq.md", "# FAQ\n\n[g](guide.md) [x](gone.md)\n"),
        ("docs/marked.md", "<!--LDMD:BEGIN id=\"a\"-->\nx\n<!--LDMD:END id=\"a\"-->\n"),
        ("docs/ignored.md", "# Ignored\n"),
        ("docs/plain.txt", "x"),
        ("other/guide.md", "# Guide\n\nother\n"),
        (".ignore", "ignored.md\n"),
    ]);
    place.run(&["ingest"]).success();
    place
}

/// The code, the message, and the hint or the suggestions of an answer.
fn error_of(answer: &Answer, root: &str) -> (String, String, String) {
    let text = |value: &Value| value.as_str().unwrap_or_default().replace(root, "ROOT");
    let Ok(json) = serde_json::from_slice::<Value>(&answer.stdout) else {
        // The error is on standard error: `mdsel: CODE: message (hint)`.
        let line = answer.stderr.lines().last().unwrap_or_default().replace(root, "ROOT");
        let line = line.strip_prefix("mdsel: ").unwrap_or(&line).to_owned();
        let (code, rest) = line.split_once(": ").unwrap_or((&line, ""));
        let (message, hint) = rest.rsplit_once(" (").unwrap_or((rest, ""));
        return (code.to_owned(), message.to_owned(), hint.trim_end_matches(')').to_owned());
    };
    if let Some(error) = json.get("error") {
        return (text(&error["code"]), text(&error["message"]), text(&error["hint"]));
    }
    let fault = &json["unresolved_selectors"][0];
    let list = |name: &str| -> Vec<String> {
        let list = fault[name].as_array().cloned().unwrap_or_default();
        let address = |item: &Value| item.get("selector").map_or_else(|| text(item), text);
        list.iter().map(address).collect()
    };
    let hint = [list("suggestions"), list("candidates")].concat().join(", ");
    (text(&fault["code"]), text(&fault["message"]), hint)
}

/// The commands in backquotes of a hint.
fn commands(hint: &str) -> impl Iterator<Item = &str> {
    hint.split('`').skip(1).step_by(2).filter_map(|text| text.strip_prefix("mdsel "))
}

/// Runs the command that an error names. If the reader must fill in a part of it, it must at least exist.
fn check_next(next: &str, command: &str) {
    let place = place();
    let words = words(next);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let is_placeholder = |word: &&str| {
        word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_uppercase()) || *word == "..."
    };
    let is_endless = words.contains(&"--watch") || words[0] == "mcp";
    if !is_endless && !words.iter().any(is_placeholder) {
        let answer = place.run(&words);
        // A search may find nothing.
        let is_answered = answer.status == 0
            || answer.status == 1 && !answer.text().contains("unresolved_selectors");
        assert!(is_answered, "{command}: {next}: {} {}", answer.text(), answer.stderr);
        return;
    }
    let of_command = words.iter().copied().take_while(|word| {
        !word.starts_with('-') && word.bytes().all(|byte| byte.is_ascii_lowercase())
    });
    let help: Vec<&str> = of_command.chain(["--help"]).collect();
    let exists = |help: &[&str]| place.run(help).status == 0;
    assert!(exists(&help) || exists(&[help[0], "--help"]), "{command}: {next}");
}

#[test]
fn every_error_has_a_code_a_message_and_a_hint() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(TABLE);
    let table = std::fs::read_to_string(&path).unwrap();
    let mut written = String::new();
    let place = place();
    let root = place.path().canonicalize().unwrap();
    let root = root.to_str().unwrap();
    let mut count = 0;
    // Each command that an error names, with the command that failed.
    let mut next = BTreeMap::new();
    for command in table.lines().filter_map(|line| line.strip_prefix("$ mdsel ")) {
        let words = words(command);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let answer = place.run(&words);
        assert!(answer.status == 1 || answer.status == 2, "{command}: {}", answer.text());
        let (code, message, hint) = error_of(&answer, root);
        count += 1;
        assert!(!code.is_empty() && !message.is_empty(), "{command}: {}", answer.text());
        assert!(!message.ends_with(':'), "{command}: {message}");
        if !answer.text().contains("unresolved_selectors") {
            assert!(!hint.is_empty(), "{command}: {message}");
        }
        next.extend(commands(&message).chain(commands(&hint)).map(|next| {
            let next = next.replace("ROOT", root);
            (next, command.to_owned())
        }));
        let _ =
            write!(written, "$ mdsel {command}\n{} {code}: {message}\n  {hint}\n\n", answer.status);
    }
    if std::env::var_os("MDSEL_WRITE_ERRORS").is_some() {
        std::fs::write(&path, &written).unwrap();
        return;
    }
    assert!(count >= 60, "{count}");
    for (next, command) in next {
        check_next(&next, &command);
    }
    for (now, kept) in written.split("\n\n").zip(table.split("\n\n")) {
        assert_eq!(now, kept, "see MDSEL_WRITE_ERRORS in tests/errors.rs");
    }
    assert_eq!(written, table);
}

/// An interface cannot rewrite a command in text that is formatted already. The command line alone prints that of `cli`.
#[test]
fn messages_that_name_commands_are_templates() {
    let mut text = String::new();
    for entry in std::fs::read_dir(repository().join("src")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("cli") {
            sources(path, &mut text);
        }
    }
    for formatted in text.split("format!(").skip(1) {
        let formatted = formatted.trim_start().trim_start_matches('"').split('"').next().unwrap();
        assert!(!formatted.contains("`mdsel "), "{formatted}");
    }
}

#[test]
fn an_exceeded_limit_is_named_with_its_value() {
    let place = Place::ingested(&[("a.md", "# A\n")]);
    let address = "x".repeat(5000);
    let answer = place.run(&["select", &address]).ends(1).json();
    let fault = &answer["unresolved_selectors"][0];
    assert_eq!(fault["code"], "LIMIT");
    assert_eq!(fault["message"], "the address is longer than the limit address-bytes (4096)");
    // The name of a document or a folder is an address, too.
    for words in [&["toc"][..], &["index"], &["ldmd", "index"], &["find", "a", "--under"]] {
        let answer = place.run(&[words, &[&address]].concat()).ends(1).json();
        let faults = answer["unresolved_selectors"].as_array();
        let fault = faults.map_or(&answer["error"], |faults| &faults[0]);
        assert_eq!(fault["code"], "LIMIT", "{words:?}: {answer}");
    }
    let steps = format!("a.md::{}", vec!["section[0]"; 300].join("/"));
    let answer = place.run(&["select", &steps]).ends(1).json();
    let fault = &answer["unresolved_selectors"][0];
    assert_eq!(fault["code"], "LIMIT", "{fault}");
    let refused = place.run(&["ingest", "--max-file-size", "2G"]).ends(2);
    let named = "exceeds the limit largest-max-file-size (1073741824)";
    assert!(refused.stderr.contains(named), "{}", refused.stderr);
}

#[test]
fn numbers_outside_their_range_are_reported_and_never_wrap() {
    let place = Place::ingested(&[("a.md", "# A\n\nalpha\n\n## B\n\nx\n")]);
    let most = u64::MAX.to_string();
    let more = format!("{most}0");
    for arguments in [
        &["index", "--limit", "-1"][..],
        &["index", "--limit", &more],
        &["select", "a.md", "--max-words", &more],
        &["select", "a.md", "--max-chars", "-1"],
        &["toc", "--depth", "-1"],
        &["toc", "--max-level", "0"],
        &["toc", "--max-level", "7"],
        &["find", "A", "--level", "7"],
        &["search", "-F", "alpha", "-C", &more],
        &["links", "tree", "a.md", "--max-hops", &more],
        &["context", "a.md", "--links", "-1"],
        &["ldmd", "get", "a.md", "--id", "x", "--depth", &more],
    ] {
        assert_eq!(place.run(arguments).ends(2).code(), "USAGE", "{arguments:?}");
    }
    for (address, code) in [
        ("a.md::@0".to_owned(), "INDEX_OUT_OF_RANGE"),
        (format!("a.md::@{more}"), "INDEX_OUT_OF_RANGE"),
        ("a.md:0".to_owned(), "INDEX_OUT_OF_RANGE"),
        ("a.md:3-1".to_owned(), "INDEX_OUT_OF_RANGE"),
        (format!("a.md::h2[{most}]"), "INDEX_OUT_OF_RANGE"),
        (format!("a.md::h2[{more}]"), "INDEX_OUT_OF_RANGE"),
        ("a.md::h2[-1]".to_owned(), "INVALID_INDEX"),
        ("a.md::h2[1-0]".to_owned(), "INVALID_INDEX"),
        (format!("a.md::A?page={more}"), "MALFORMED_QUERY"),
        ("a.md::A?page=1".to_owned(), "INDEX_OUT_OF_RANGE"),
        (format!("a.md::#{more}"), "INDEX_OUT_OF_RANGE"),
    ] {
        assert_eq!(place.run(&["select", &address]).ends(1).code(), code, "{address}");
    }
    // 0 words are no limit, and a limit above the length is none either.
    for whole in ["a.md::A?words=0", "a.md::A?head=99", &format!("a.md::A?words={most}")] {
        let answer = place.run(&["select", whole]).success().json();
        assert_eq!(answer["results"][0]["content"], "# A\n\nalpha\n\n## B\n\nx\n", "{whole}");
    }
    for (option, value) in [("--max-words", &*most), ("--limit", &most), ("--max-chars", &most)] {
        place.run(&["select", "a.md", option, value]).success();
    }
}

#[test]
fn status_prints_one_list_at_a_time() {
    let place = Place::ingested(&[("a.md", "# A\n")]);
    for options in
        [["--limits", "--stale"], ["--limits", "--collections"], ["--collections", "--stale"]]
    {
        let refused = place.run(&[&["status"][..], &options].concat()).ends(2);
        assert_eq!(refused.code(), "USAGE");
    }
}
