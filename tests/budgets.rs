//! `--max-chars`: never over, always valid, a prefix, exact about what was left out, and complete when
//! gone on with.

use mdsel::records::{Reader, Record};
use mdsel::{ldmd, markdown};
use serde_json::Value;

use crate::harness::{Answer, Place};

/// The items of a JSON answer, in order, each as the text that tells it from the others.
fn items(command: &str, json: &Value) -> Vec<String> {
    let texts = |list: &Value, key: &str| -> Vec<String> {
        let items = list.as_array().unwrap().iter();
        items.map(|item| item[key].as_str().unwrap().to_owned()).collect()
    };
    match command {
        "select" => texts(&json["results"], "selector"),
        "links" if json["nodes"].as_array().is_some_and(|nodes| nodes[0].get("hop").is_some()) => {
            texts(&json["nodes"], "selector")
        }
        "links" => json["edges"].as_array().unwrap().iter().map(ToString::to_string).collect(),
        "context" => {
            json["items"].as_array().unwrap().iter().map(|i| i["type"].to_string()).collect()
        }
        "ldmd" if json.get("sections").is_some() => texts(&json["sections"], "id"),
        "ldmd" if json.get("matches").is_some() => texts(&json["matches"], "text"),
        "ldmd" => {
            let children = json["children"].as_array().unwrap().iter();
            children.map(|child| child.as_str().unwrap().to_owned()).collect()
        }
        "find" => texts(&json["matches"], "selector"),
        "index" => {
            let documents = json["documents"].as_array().unwrap();
            documents.iter().flat_map(|document| texts(&document["headings"], "selector")).collect()
        }
        "toc" => {
            let mut all = Vec::new();
            match json["files"].as_array() {
                Some(files) => files.iter().for_each(|file| sections(&file["sections"], &mut all)),
                None => sections(&json["sections"], &mut all),
            }
            all
        }
        _ => Vec::new(),
    }
}

fn sections(list: &Value, all: &mut Vec<String>) {
    for section in list.as_array().unwrap() {
        all.push(section["selector"].as_str().unwrap().to_owned());
        sections(&section["children"], all);
    }
}

fn with_budget(place: &Place, arguments: &[&str], format: &str, budget: usize) -> Answer {
    let budget = budget.to_string();
    place.run(&[arguments, &["-f", format, "--max-chars", &budget]].concat())
}

/// Some numbers from 0 to `length + 10`: all at both ends, fewer between.
fn budgets(length: usize) -> Vec<usize> {
    let step = (length / 25).max(1);
    let mut budgets: Vec<usize> = (0..=length + 10).step_by(step).collect();
    budgets.extend([length.saturating_sub(1), length, length + 1]);
    budgets
}

const COMMANDS: [&[&str]; 15] = [
    &["links", "list", "links.md"],
    &["links", "tree", "links.md", "--max-hops", "2"],
    &["context", "guide.md::Install", "links.md", "headings.md", "none.md"],
    &["context", "links.md::*", "guide.md::Install", "--with-body", "--item", "text=`` ` ``"],
    &["prime"],
    &["ldmd", "index", "answer.ldmd.md"],
    &["ldmd", "search", "answer.ldmd.md", "--query", "e"],
    &["ldmd", "neighbors", "answer.ldmd.md", "--id", "key_findings"],
    &["select", "guide.md::section", "guide.md::heading:h2", "cjk/中文 文档.md", "nowhere::x"],
    &["select", "long-words.md", "--max-words", "0"],
    &["select", "block:paragraph", "--limit", "9"],
    &["index", "guide.md", "headings.md", "C#.md"],
    &["toc", "--limit", "0"],
    &["toc", "guide.md"],
    &["find", "a"],
];

/// Asserts that the sections of an LDMD document are balanced and end it.
fn assert_whole(text: &str) {
    let markup = ldmd::parse(text.as_bytes(), &markdown::parse(text.as_bytes()).opaque);
    assert_eq!(markup.faults, []);
    let last = markup.sections.last().unwrap();
    assert_eq!((last.id.as_str(), last.span.end), ("provenance", text.len()));
}

#[test]
fn answers_keep_to_any_budget_in_every_format() {
    let place = Place::with_fixtures();
    for arguments in COMMANDS {
        for format in ["json", "jsonl", "text", "raw", "ldmd", "records", "markdown", "dot"] {
            let has_form = match format {
                "raw" => arguments[0] == "select",
                "records" => ["toc", "links", "context", "prime"].contains(&arguments[0]),
                "markdown" => arguments[0] == "context",
                "dot" => arguments[0] == "links",
                _ => true,
            };
            if !has_form {
                continue;
            }
            let whole = place.run(&[arguments, &["-f", format]].concat());
            let length = whole.text().chars().count();
            let all =
                if format == "json" { items(arguments[0], &whole.json()) } else { Vec::new() };
            for budget in budgets(length) {
                let answer = with_budget(&place, arguments, format, budget);
                let text = answer.text();
                let count = text.chars().count();
                assert!(count <= budget, "{arguments:?} {format}: {count} > {budget}");
                if answer.status == 2 {
                    assert_eq!(text, "");
                    assert!(answer.stderr.contains("BUDGET_TOO_SMALL"), "{}", answer.stderr);
                    assert!(budget < length);
                    continue;
                }
                if budget >= length {
                    assert_eq!(text, whole.text());
                }
                if format == "jsonl" {
                    for line in text.lines() {
                        serde_json::from_str::<Value>(line).unwrap();
                    }
                }
                if format == "ldmd" {
                    assert_whole(&text);
                }
                if format == "records" {
                    let records =
                        Reader::new(text.as_bytes()).collect::<Result<Vec<_>, _>>().unwrap();
                    let Some(Record::Header(fields)) = records.first() else { panic!("{text}") };
                    let truncated = ("truncated".to_owned(), (budget < length).to_string());
                    let was_cut = whole.text().lines().next().unwrap().ends_with("truncated=true");
                    assert!(
                        was_cut || fields.contains(&truncated),
                        "{arguments:?} {budget} {text}"
                    );
                }
                if format == "json" {
                    let json = answer.json();
                    let given = items(arguments[0], &json);
                    assert!(all.starts_with(&given), "{arguments:?} {budget}");
                    let is_cut = given.len() < all.len();
                    let was_cut = whole.json()["truncated"] == true;
                    assert_eq!(json["truncated"] == true, is_cut || was_cut || budget < length);
                }
            }
        }
    }
}

#[test]
fn going_on_gives_everything_once() {
    let place = Place::with_fixtures();
    for arguments in COMMANDS {
        let is_list = !["context", "prime"].contains(&arguments[0])
            && !["--max-words", "neighbors", "tree"].iter().any(|word| arguments.contains(word));
        if !is_list {
            continue;
        }
        let limit = arguments.iter().position(|argument| *argument == "--limit");
        let arguments = &arguments[..limit.unwrap_or(arguments.len())];
        let all = place.run(&[arguments, &["--limit", "0"]].concat()).json();
        let whole = items(arguments[0], &all);
        for budget in [1200, 2500, 6000] {
            let mut given: Vec<String> = Vec::new();
            let mut after: Option<String> = None;
            loop {
                let budget = budget.to_string();
                let mut call = [arguments, &["--limit", "0", "--max-chars", &budget]].concat();
                if let Some(after) = &after {
                    call.extend(["--after", after]);
                }
                let answer = place.run(&call);
                if answer.status == 2 {
                    break;
                }
                let json = answer.json();
                given.extend(items(arguments[0], &json));
                match json.get("next") {
                    Some(next) => {
                        let next = next.as_str().unwrap().to_owned();
                        assert_ne!(Some(&next), after.as_ref(), "going on comes further");
                        after = Some(next);
                    }
                    None => {
                        assert_eq!(given, whole, "{arguments:?} {budget}");
                        break;
                    }
                }
            }
        }
    }
}

#[test]
fn an_item_that_does_not_fit_comes_in_pages() {
    let place = Place::with_fixtures();
    let whole = place.run(&["read", "long-words.md", "Long"]).success().json();
    let whole = whole["content"].as_str().unwrap().to_owned();
    let mut address = "long-words.md::Long".to_owned();
    let mut text = String::new();
    let mut pages = 0;
    loop {
        let json = place.run(&["read", &address, "--max-chars", "1500"]).success().json();
        text += json["content"].as_str().unwrap();
        pages += 1;
        let Some(next) = json["pagination"].get("next") else { break };
        next.as_str().unwrap().clone_into(&mut address);
    }
    assert!(pages > 5);
    assert_eq!(text, whole);
    let raw =
        place.run(&["read", "long-words.md", "Long", "-f", "raw", "--max-chars", "20"]).success();
    assert_eq!(raw.text(), "# Long\n\nword0 word1 ");
    assert!(raw.stderr.contains("long-words.md::heading:h1[0]?page=1&words=4"), "{}", raw.stderr);
}

#[test]
fn a_line_number_does_not_count_as_a_word() {
    let place = Place::with_fixtures();
    let numbered = place.run(&["read", "guide.md", "Use", "-n", "-f", "raw"]).success().text();
    assert!(numbered.starts_with("    30\t## Use\n    31\t\n    32\t| command"), "{numbered}");
    let json = place.run(&["read", "guide.md", "Use", "-n", "--max-chars", "700"]).success().json();
    assert!(numbered.starts_with(json["content"].as_str().unwrap()));
    assert_eq!(json["truncated"], true);
}
