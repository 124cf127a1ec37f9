//! The schemas of answers: what they refuse, and which commands have one.

use serde_json::{Value, json};

use crate::harness::Place;
use crate::schema::validate;

fn place() -> Place {
    Place::ingested(&[("a.md", "# A\n\ntext [b](b.md)\n"), ("b.md", "# B\n")])
}

#[test]
fn an_answer_with_another_field_or_without_one_is_refused() {
    let place = place();
    for (arguments, list) in [
        (&["select", "a.md"][..], "results"),
        (&["toc", "a.md"], "sections"),
        (&["toc"], "files"),
        (&["index"], "documents"),
        (&["find", "A"], "matches"),
        (&["search", "text"], "hits"),
        (&["search", "-e", "text", "-c"], "counts"),
        (&["context", "a.md"], "items"),
        (&["links", "list", "a.md"], "edges"),
        (&["links", "tree", "a.md"], "nodes"),
        (&["prime"], "most_linked"),
    ] {
        let answer = place.run(arguments).success().json();
        let words: Vec<String> = arguments.iter().map(|&word| word.to_owned()).collect();
        let refused = |answer: &Value| validate(&words, answer).unwrap_err();
        for pointer in [String::new(), format!("/{list}/0")] {
            let mut changed = answer.clone();
            match changed.pointer_mut(&pointer).unwrap() {
                Value::Object(fields) => drop(fields.insert("more".to_owned(), json!(1))),
                other => *other = json!({ "more": 1 }),
            }
            assert!(refused(&changed).contains("more"), "{arguments:?}");
        }
        let mut changed = answer.clone();
        changed.as_object_mut().unwrap().remove(list);
        refused(&changed);
        let mut changed = answer.clone();
        changed[list] = json!("text");
        refused(&changed);
    }
    let words = ["select".to_owned()];
    let error = place.run(&["select"]).ends(2).json();
    assert!(validate(&words, &error).is_ok());
    assert!(validate(&words, &json!({ "error": { "code": "USAGE", "message": "" } })).is_err());
}

#[test]
fn every_command_that_answers_in_json_has_a_schema() {
    let place = place();
    let listed = place.run(&["schema"]).success().text();
    for name in listed.lines() {
        let words: Vec<&str> = name.split(' ').collect();
        let schema = place.run(&[&["schema"], &words[..]].concat()).success().text();
        let schema: Value = serde_json::from_str(&schema).unwrap();
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema", "{name}");
        assert_eq!(schema["title"], format!("mdsel {name}"));
    }
    for command in crate::help::commands(&place) {
        let name = command.join(" ");
        let has_none = ["dump", "mcp", "completions", "help", "man", "schema"].contains(&&*name);
        assert_eq!(listed.lines().any(|listed| listed == name), !has_none, "{name}");
    }
    let refused = place.run(&["schema", "slect"]).ends(2).json();
    assert!(refused["error"]["hint"].as_str().unwrap().contains("`mdsel schema select`"));
}
