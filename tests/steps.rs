//! Steps after any place, misspelled steps, ranges past the end, and titles as they are written in
//! the source.

use serde_json::{Value, json};

use crate::harness::{Place, selectors};

const DOC: &str = "\
---
title: Steps
---

intro

# Alpha

text

## Beta

```
first
```

```
second
```

- one
- two

  ```
  in two
  ```
- three

| a |
|---|
| 1 |

## Beta two

## Gamma

<!--LDMD:BEGIN id=\"part\"-->
### Inside

```
marked
```
<!--LDMD:END id=\"part\"-->
";

fn place() -> Place {
    Place::ingested(&[("doc.md", DOC), ("other.md", "# Other\n\n## Beta/block:code[0]\n\nx\n")])
}

fn select(place: &Place, address: &str) -> Value {
    place.run(&["select", address]).success().json()
}

fn selector(place: &Place, address: &str) -> String {
    select(place, address)["results"][0]["selector"].as_str().unwrap().to_owned()
}

#[test]
fn any_place_may_be_followed_by_steps() {
    let place = place();
    let code = "doc.md::heading:h2[0]/block:code[0]";
    for (address, expected) in [
        ("doc::Beta/block:code[0]", code),
        ("doc::alpha/beta/code.0", code),
        ("doc::#0/#0/block:code[0]", code),
        ("doc::#0/block:code[1]", "doc.md::heading:h2[0]/block:code[1]"),
        ("doc::@11/code[0]", code),
        ("doc::@23/block:list[0]/item[2]", "doc.md::heading:h2[0]/block:list[0]/item[2]"),
        ("doc#beta/block:table[0]", "doc.md::heading:h2[0]/block:table[0]"),
        (
            "doc.md#beta/block:list[0]/item[1]/code[0]",
            "doc.md::heading:h2[0]/block:list[0]/item[1]/block:code[0]",
        ),
        ("doc.md:11/block:code[0]", code),
        ("doc::*/block:code[0]", code),
        ("doc.md/block:code[0]", code),
        ("doc/section[0]/section[2]", "doc.md::heading:h2[2]"),
        ("doc::*/page[0]", "doc.md::*"),
        ("doc::@frontmatter/page[0]", "doc.md::@frontmatter"),
        ("doc::ldmd:part/block:code[0]", "doc.md::heading:h3[0]/block:code[0]"),
        ("ldmd:part/heading:h3[0]", "doc.md::heading:h3[0]"),
        ("Gamma/heading:h3[0]", "doc.md::heading:h3[0]"),
        ("doc::amma/heading:h3[0]", "doc.md::heading:h3[0]"),
    ] {
        assert_eq!(selector(&place, address), expected, "{address}");
    }
    let page = select(&place, "doc::*/page[0]?words=3");
    assert_eq!(page["results"][0]["pagination"]["page"], 0);
    let ambiguous = place.run(&["select", "doc::et/block:code[0]"]).ends(1);
    assert_eq!(ambiguous.code(), "AMBIGUOUS", "the place must be unique, even before a step");
    let past = place.run(&["select", "doc::Beta/block:code[9]"]).ends(1).json();
    assert_eq!(past["unresolved_selectors"][0]["code"], "INDEX_OUT_OF_RANGE");
    assert_eq!(
        past["unresolved_selectors"][0]["suggestions"][0],
        "doc.md::heading:h2[0]/block:code[1]"
    );
    assert_eq!(past["partial_results"][0]["selector"], "doc.md::heading:h2[0]");
    assert_eq!(place.run(&["select", "doc.md:11-20/code[0]"]).ends(1).code(), "INVALID_SYNTAX");
}

#[test]
fn a_step_that_cannot_follow_a_place_is_reported_with_its_position() {
    let place = Place::ingested(&[("doc.md", DOC)]);
    for (address, position) in [
        ("doc::Beta/item[0]", 10),
        ("Beta/item[0]", 5),
        ("doc::@9/item[0]", 8),
        ("doc#beta/item[0]", 9),
        ("#beta/item[0]", 6),
        ("doc::Beta/section[0]/item[0]/block:code[0]", 21),
        ("doc::Beta/root", 10),
        ("*/page[0]/page[1]", 10),
        ("doc::*/page[0]/page[1]?words=9", 15),
    ] {
        let answer = place.run(&["select", address]).ends(1).json();
        let fault = &answer["unresolved_selectors"][0];
        assert_eq!(fault["code"], "INVALID_SYNTAX", "{address}");
        assert_eq!(fault["position"], position, "{address}");
    }
    for (command, format) in [
        ("select", "text"),
        ("select", "raw"),
        ("select", "ldmd"),
        ("select", "jsonl"),
        ("context", "records"),
        ("context", "markdown"),
    ] {
        let answer = place.run(&[command, "doc::Beta/item[0]", "-f", format]).ends(1);
        let text = answer.text() + &answer.stderr;
        assert!(text.contains("at 10: ") || text.contains("\"position\":10"), "{format}: {text}");
    }
    assert_eq!(place.run(&["select", "docs/page"]).ends(1).code(), "SELECTOR_NOT_FOUND", "a path");
    let titled = Place::ingested(&[("doc.md", "# A\n\n## Beta/item[0]\n\ntext\n")]);
    assert_eq!(selector(&titled, "doc::Beta/item[0]"), "doc.md::heading:h2[0]");
}

#[test]
fn a_misspelled_word_without_an_index_has_a_suggestion() {
    let place = Place::ingested(&[("doc.md", DOC)]);
    for (address, suggestion) in [
        ("doc::sectoin", "doc.md::section"),
        ("doc::rooot", "doc.md::root"),
        ("doc::@frontmater", "doc.md::@frontmatter"),
        ("@frontmater", "@frontmatter"),
        ("sectoin", "section"),
    ] {
        let answer = place.run(&["select", address]).ends(1).json();
        let suggestions = answer["unresolved_selectors"][0]["suggestions"].as_array().unwrap();
        let found = suggestions.iter().any(|other| {
            other == suggestion || other.get("selector").is_some_and(|other| other == suggestion)
        });
        assert!(found, "{address}: {suggestions:?}");
    }
}

#[test]
fn a_section_path_wins_over_steps_with_a_warning() {
    let place = Place::ingested(&[(
        "doc.md",
        "# Top\n\n## Beta\n\n```\nx\n```\n\n## Beta/block:code[0]\n\n## usage\n\n### section\n",
    )]);
    let both = select(&place, "doc::Beta/block:code[0]");
    assert_eq!(both["results"][0]["selector"], "doc.md::heading:h2[1]");
    assert_eq!(both["warnings"][0]["code"], "SHADOWED_STEPS");
    let message = both["warnings"][0]["message"].as_str().unwrap();
    assert!(message.contains("doc.md::heading:h2[0]/block:code[0]"), "{message}");
    let over_store = select(&place, "Beta/block:code[0]");
    assert_eq!(over_store["results"][0]["selector"], "doc.md::heading:h2[1]");
    assert_eq!(over_store["warnings"][0]["code"], "SHADOWED_STEPS");
    assert_eq!(selector(&place, "doc::usage/section"), "doc.md::heading:h3[0]");
    // An edit does not choose between the two.
    let edit = place.run(&["delete", "doc.md", "Beta/block:code[0]"]).ends(1).json();
    let fault = &edit["unresolved_selectors"][0];
    assert_eq!(fault["code"], "AMBIGUOUS");
    let candidates = selectors(&fault["candidates"]);
    assert_eq!(candidates, ["doc.md::heading:h2[1]", "doc.md::heading:h2[0]/block:code[0]"]);
    for candidate in candidates {
        place.run(&["delete", candidate, "--dry-run"]).success();
    }
}

#[test]
fn edits_accept_a_place_with_steps() {
    let place = place();
    for address in ["doc::Beta/block:code[1]", "doc.md#beta/code[1]", "doc::@11/block:code[1]"] {
        let arguments = ["replace", address, "--content", "```\nnew\n```\n", "--dry-run"];
        let answer = place.run(&[&arguments[..], &["-f", "json"]].concat()).success().json();
        assert_eq!(answer["selector"], "doc.md::heading:h2[0]/block:code[1]", "{address}");
    }
    place.run(&["replace", "doc.md", "Beta/code[0]", "--content", "```\nnew\n```\n"]).success();
    assert!(std::fs::read_to_string(place.join("doc.md")).unwrap().contains("```\nnew\n```"));
}

#[test]
fn misspelled_steps_get_suggestions() {
    let place = place();
    let suggestions = |address: &str| {
        let json = place.run(&["select", address]).ends(1).json();
        let suggestions = json["unresolved_selectors"][0]["suggestions"].as_array().unwrap();
        suggestions.iter().map(|one| one.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    for (address, expected) in [
        ("doc::secton[0]", "doc.md::section[0]"),
        ("doc::heading[0]", "doc.md::heading:h1[0]"),
        ("doc::blok:code[0]", "doc.md::block:code[0]"),
        ("doc::H2[1]", "doc.md::heading:h2[1]"),
        ("doc::Beta/blok:code[0]", "doc.md::Beta/block:code[0]"),
        ("doc::section[0]/secton[1]", "doc.md::section[0]/section[1]"),
        ("doc::block:cde[0]", "doc.md::block:code[0]"),
        // An index that is too large gets the last existing one.
        ("doc::secton[5]", "doc.md::section[0]"),
        ("doc::Betta/block:code[0]", "doc.md::heading:h2[0]/block:code[0]"),
        ("secton[0]", "section[0]"),
        ("H2[1]", "heading:h2[1]"),
        ("blok:code[0]", "block:code[0]"),
    ] {
        let all = suggestions(address);
        assert!(all.contains(&expected.to_owned()), "{address}: {all:?}");
        for suggestion in all {
            place.run(&["select", &suggestion]).success();
        }
    }
}

#[test]
fn a_range_past_the_end_is_reported() {
    let place = place();
    let json = select(&place, "doc::heading:h2[1-99]");
    assert_eq!(selectors(&json["results"]), ["doc.md::heading:h2[1]", "doc.md::heading:h2[2]"]);
    assert_eq!(json["warnings"][0]["code"], "RANGE_PAST_END");
    let message = json["warnings"][0]["message"].as_str().unwrap();
    assert!(message.contains("heading:h2[1-99]") && message.contains("[2]"), "{message}");
    assert_eq!(select(&place, "doc::heading:h2[1-2]")["warnings"], json!([]));
    let everywhere = select(&place, "heading:h2[0-99]");
    assert_eq!(everywhere["warnings"].as_array().unwrap().len(), 1);
}

#[test]
fn sections_are_found_by_the_source_text_of_their_titles() {
    let place = Place::ingested(&[
        (
            "doc.md",
            "# **bold** _em_\n\n## A &amp; B\n\n## See [the guide][g]\n\nTwo\nlines `x`\n---\n\n\
             ## `code`\n\n## code\n\n## \\*star\\*\n\n[g]: http://x.y\n",
        ),
        ("other.md", "# Plain\n"),
    ]);
    for (title, expected) in [
        ("**bold** _em_", "doc.md::heading:h1[0]"),
        ("bold em", "doc.md::heading:h1[0]"),
        ("A &amp; B", "doc.md::heading:h2[0]"),
        ("A & B", "doc.md::heading:h2[0]"),
        ("See [the guide][g]", "doc.md::heading:h2[1]"),
        ("Two lines `x`", "doc.md::heading:h2[2]"),
        ("`code`", "doc.md::heading:h2[3]"),
        ("\\*star\\*", "doc.md::heading:h2[5]"),
    ] {
        for address in [title.to_owned(), format!("doc.md::{title}")] {
            assert_eq!(selector(&place, &address), expected, "{address}");
        }
        if title != "bold em" && title != "A & B" {
            let edit = ["replace", "doc.md", title, "--content", "x", "--no-children", "--dry-run"];
            place.run(&edit).success();
        }
    }
    let found = place.run(&["find", "A &amp;*"]).success().json();
    assert_eq!(selectors(&found["matches"]), ["doc.md::heading:h2[0]"]);
    assert_eq!(place.run(&["select", "doc.md::**Plain**"]).ends(1).code(), "SELECTOR_NOT_FOUND");
}

#[test]
fn rows_and_cells_have_neighbors() {
    let place = Place::ingested(&[("a.md", "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n")]);
    let table = "a.md::root/block:table[0]";
    let around = |steps: &str| {
        let json = place.run(&["neighbors", &format!("{table}{steps}")]).success().json();
        ["prev", "next", "parent"]
            .map(|name| json[name]["selector"].as_str().unwrap_or("-").replace(table, "T"))
    };
    assert_eq!(around("/row[0]"), ["T/row[header]", "T/row[1]", "T"]);
    assert_eq!(around("/row[1]"), ["T/row[0]", "-", "T"]);
    assert_eq!(around("/row[1]/cell[0]"), ["-", "T/row[1]/cell[1]", "T/row[1]"]);
}
