//! The form of answers that leaves out what follows from the rest.

use serde_json::Value;

use crate::harness::Place;

fn place() -> Place {
    Place::ingested(&[
        (
            "guide.md",
            "---\ntitle: Guide\ndraft: false\nnote: ''\n---\n\n# Guide\n\n## Set up\n\nShort text.\n\n### Next\n\nMore text.\n",
        ),
        ("notes/a b.md", "# Notes\n\n- [ ] a task\n\n| a | b |\n| - | - |\n| 1 |   |\n"),
    ])
}

/// Adds the title and the whole address of each section in a tree.
fn addresses(sections: &Value, file: &str, found: &mut Vec<(String, String)>) {
    for section in sections.as_array().into_iter().flatten() {
        let (title, address) = (section["title"].as_str(), section["selector"].as_str());
        // A file name with escapes in addresses stays in them.
        assert_eq!(address.unwrap().starts_with("::"), !file.contains(' '), "{section}");
        let file = if file.contains(' ') { "" } else { file };
        found.push((title.unwrap().to_owned(), format!("{file}{}", address.unwrap())));
        addresses(&section["children"], file, found);
    }
}

#[test]
fn the_file_before_a_short_address_makes_it_whole() {
    let place = place();
    let trees = place.run(&["toc", "--compact"]).success().json();
    let mut found = Vec::new();
    for tree in trees["files"].as_array().unwrap() {
        addresses(&tree["sections"], tree["file"].as_str().unwrap(), &mut found);
    }
    assert_eq!(found.len(), 4);
    for (title, address) in found {
        let text = place.run(&["select", &address, "-f", "raw"]).success().text();
        assert!(text.trim_start_matches(['#', ' ']).starts_with(&title), "{address}: {text}");
    }
}

#[test]
fn an_answer_without_empty_fields_is_as_its_schema_says() {
    let place = place();
    for arguments in [
        &["select", "guide.md", "guide.md#next"][..],
        &["read", "guide.md", "Next"],
        &["toc", "guide.md"],
        &["index"],
        &["find", "Next"],
        &["search", "text"],
        &["search", "-F", "text"],
        &["search", "-F", "text", "-c"],
        &["neighbors", "guide.md#next"],
        &["context", "guide.md#next"],
        &["context", "--query", "text"],
        &["links", "list", "guide.md"],
        &["links", "tree", "guide.md"],
        &["tables"],
        &["tasks"],
        &["meta"],
        &["meta", "--types"],
        &["prime"],
        &["status"],
        &["verify"],
        &["select", "guide.md#nothing"],
    ] {
        let whole = place.run(arguments).json().to_string();
        let compact = place.run(&[arguments, &["--compact"]].concat()).json().to_string();
        assert!(compact.len() < whole.len(), "{arguments:?}: {compact}");
        for empty in ["null", ":[]", ":{}"] {
            assert!(!compact.contains(empty), "{arguments:?}: {compact}");
        }
    }
    let jsonl = place.run(&["find", "Next", "--compact", "-f", "jsonl"]).success().text();
    let first: Value = serde_json::from_str(jsonl.lines().next().unwrap()).unwrap();
    assert_eq!(first["selector"], "guide.md::heading:h3[0]");
    assert_eq!(first.get("file"), None);
}

#[test]
fn values_of_documents_are_kept_in_compact_answers() {
    let place = place();
    let meta = place.run(&["meta", "--compact"]).success().json();
    let expected = serde_json::json!({ "title": "Guide", "draft": false, "note": "" });
    assert_eq!(meta["documents"][0]["meta"], expected);
    let tables = place.run(&["tables", "--compact"]).success().json();
    assert_eq!(tables["rows"][0]["row"], serde_json::json!({ "a": "1", "b": "" }));
    // A column may be called like a field of an answer.
    place.write("paths.md", "| path |\n| - |\n| `x` |\n");
    place.run(&["ingest"]).success();
    let tables = place.run(&["tables", "--under", "paths.md", "--compact"]).success().json();
    assert_eq!(tables["rows"][0]["source"], serde_json::json!({ "path": "`x`" }));
}
