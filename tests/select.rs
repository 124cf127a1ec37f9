//! `select` and `index`: documented examples, pages, errors, formats, statuses.

use serde_json::{Value, json};

use crate::harness::{Place, selectors};

const DOC: &str = "\
Intro text.

# One

First.

## Alpha

alpha

## Beta

beta

### Gamma

```rust
fn gamma() {}
```

### Delta

delta

# Two

two

## Epsilon

```sh
echo
```

# Three

three
";

fn doc() -> Place {
    Place::ingested(&[("doc.md", DOC)])
}

fn content(place: &Place, address: &str) -> String {
    let json = place.run(&["select", address]).success().json();
    json["results"][0]["content"].as_str().unwrap().to_owned()
}

#[test]
fn footnotes_and_mdx_have_block_types() {
    let footnote = "[^1]: One.\n\n    Two.\n\n        code\n\n    - list\n";
    let mdx = "export const a = `\n\n# no\n`\n\n{/*\n\n# no\n*/}\n\n# Yes\n\n<T>\n\ntext\n\n</T>\n";
    let place = Place::ingested(&[
        ("note.md", &format!("Text[^1].\n\n{footnote}\nAfter.\n")),
        ("page.mdx", mdx),
    ]);
    let block = place.run(&["select", "note::block:footnote[0]"]).success().json();
    assert_eq!(block["results"][0]["content"], footnote);
    assert_eq!(block["results"][0]["type"], "block:footnote");
    let paragraphs = place.run(&["select", "note::block:paragraph"]).success().json();
    assert_eq!(paragraphs["results"].as_array().unwrap().len(), 2);
    let toc = place.run(&["toc", "page"]).success().json();
    assert_eq!(toc["sections"].as_array().unwrap().len(), 1, "{toc}");
    let export = place.run(&["select", "page::root/block:html[0]"]).success().json();
    assert_eq!(export["results"][0]["content"], "export const a = `\n\n# no\n`\n");
    // An edit parses the file as an ingest does.
    let after = place.run(&["insert", "page.mdx", "yes", "--content", "{/*\n# no\n*/}"]).success();
    assert_eq!(after.json()["success"], true);
    let toc = place.run(&["toc", "page"]).success().json();
    assert_eq!(toc["sections"].as_array().unwrap().len(), 1, "{toc}");
}

#[test]
fn the_documented_examples_work() {
    let place = doc();
    // `mdsel index file1.md`: namespaces, root, headings with selector, text, type, child count,
    // truncation.
    let index = place.run(&["index", "doc.md"]).success().json();
    let document = &index["documents"][0];
    assert_eq!(document["namespace"], "doc.md");
    assert_eq!(document["root"]["selector"], "doc.md::root");
    assert_eq!(document["root"]["content"], "Intro text.\n\n");
    assert_eq!(
        document["headings"][2],
        json!({"selector": "doc.md::heading:h2[1]", "text": "Beta", "type": "heading:h2", "level": 2,
            "line_start": 11, "words": 13, "children": 2, "truncated": false})
    );
    assert_eq!(document["blocks"], json!({"paragraph": 7, "code": 2}));
    // `mdsel select doc1::root`, `doc2::heading:h2[1]`: the second h2 with all below it.
    assert_eq!(content(&place, "doc::root"), "Intro text.\n\n");
    let beta = content(&place, "doc::heading:h2[1]");
    assert!(beta.starts_with("## Beta\n") && beta.ends_with("delta\n\n"));
    // `doc::heading:h2[1]/section[0]/block:code[0]`: second h2, its first section, its first code.
    assert_eq!(
        content(&place, "doc::heading:h2[1]/section[0]/block:code[0]"),
        "```rust\nfn gamma() {}\n```\n"
    );
    // `mdsel select block:code[0]`, without namespace.
    let unqualified = place.run(&["select", "block:code[0]"]).success().json();
    assert_eq!(selectors(&unqualified["results"]), ["doc.md::heading:h3[0]/block:code[0]"]);
    // `doc::section[2]/page[1]`, `doc::section[2]?full=true`.
    let paged =
        place.run(&["select", "doc::section[2]/page[1]", "--max-words", "2"]).success().json();
    assert_eq!(paged["results"][0]["content"], "three\n");
    assert_eq!(content(&place, "doc::section[2]?full=true"), "# Three\n\nthree\n");
    // The suggestion block.
    let text = place.run(&["select", "doc::heading:h3[5]", "-f", "text"]).ends(1).text();
    assert!(text.contains("Did you mean:\n- doc.md::heading:h3[1]  Delta\n"), "{text}");
    let json = place.run(&["select", "doc::section[7]"]).ends(1).json();
    assert_eq!(json["unresolved_selectors"][0]["suggestions"][0], "doc.md::section[2]");
}

#[test]
fn a_result_has_all_documented_fields() {
    let place = Place::with_fixtures();
    let json = place.run(&["select", "documents::x", "guide.md::heading:h2[0]"]).ends(3).json();
    let result = &json["results"][0];
    assert_eq!(result["type"], "heading:h2");
    assert_eq!(result["title"], "Install");
    assert_eq!(result["level"], 2);
    assert_eq!((result["line_start"].as_u64(), result["line_end"].as_u64()), (Some(11), Some(29)));
    assert_eq!(result["blocks"], json!({"paragraph": 2, "code": 1}));
    assert_eq!(result["pagination"], json!(null));
    assert_eq!(
        result["children_available"],
        json!([{"selector": "guide.md::heading:h3[0]", "type": "heading:h3", "title": "From source", "words": 15}])
    );
    assert_eq!(json["unresolved_selectors"][0]["code"], "NAMESPACE_NOT_FOUND");
    assert_eq!((json["truncated"].clone(), json["warnings"].clone()), (json!(false), json!([])));
}

#[test]
fn partial_results_are_the_deepest_prefix_that_resolves() {
    let place = doc();
    let json = place.run(&["select", "doc::heading:h2[1]/section[9]/block:code[0]"]).ends(1).json();
    assert_eq!(selectors(&json["partial_results"]), ["doc.md::heading:h2[1]"]);
    assert_eq!(json["partial_results"][0].get("content"), None);
    assert_eq!(json["unresolved_selectors"][0]["code"], "INDEX_OUT_OF_RANGE");
    assert_eq!(json["unresolved_selectors"][0]["position"], 19);
    let place = Place::ingested(&[("t.md", "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n")]);
    let partial = |address| {
        let json = place.run(&["select", address]).ends(1).json();
        selectors(&json["partial_results"]).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let row = "t.md::root/block:table[0]/row[1]";
    assert_eq!(partial("t::block:table[0]/row[1]/cell[9]"), [row]);
    assert_eq!(partial("t::block:table[0]/row[1]/cell[Zork]"), [row]);
    assert_eq!(partial("t::block:table[0]/row[9]/cell[0]"), ["t.md::root/block:table[0]"]);
    let place = doc();
    let none = place.run(&["select", "doc::heading:h2[0]/section[0]"]).ends(1).json();
    assert_eq!(none["unresolved_selectors"][0]["code"], "SELECTOR_NOT_FOUND");
    assert_eq!(
        none["unresolved_selectors"][0]["suggestions"],
        json!(["doc.md::heading:h2[0]/block:paragraph[0]", "doc.md::heading:h2[0]"])
    );
}

#[test]
fn every_suggestion_resolves() {
    let place = Place::with_fixtures();
    for address in [
        "guide.md::heading:h9[0]",
        "guide.md::heading:h2[9]",
        "guide.md::section[9]",
        "guide.md::block:cod[0]",
        "guide.md::heading:h2[2]/block:list[0]",
        "gide::*",
        "guid.md::root",
        "guide.md::Instahl",
        "guide.md::@9999",
        "guide.md::#9",
        "guide.md::#0/#9",
        "guide.md#instahl",
        "long-words.md::*?page=99",
        "guide.md::Instahl/Sourc",
        "containers.md::block:list[0]/item[99]",
        "headers::*",
    ] {
        let json = place.run(&["select", address]).ends(1).json();
        let fault = &json["unresolved_selectors"][0];
        for suggestion in fault["suggestions"].as_array().unwrap() {
            let suggestion = suggestion.as_str().unwrap();
            if suggestion.contains("::") {
                place.run(&["select", suggestion]).success();
            }
        }
        if !address.contains("h9") && !address.contains("headers") {
            assert!(!fault["suggestions"].as_array().unwrap().is_empty(), "{address}: {fault}");
        }
    }
}

#[test]
fn pages_are_numbered_and_their_joined_content_is_the_node() {
    let place = Place::with_fixtures();
    let mut address = "long-words.md::heading:h1[0]".to_owned();
    let mut whole = String::new();
    let mut pages = 0;
    loop {
        let json = place.run(&["select", &address]).success().json();
        let result = &json["results"][0];
        assert_eq!(result["selector"], "long-words.md::heading:h1[0]");
        assert_eq!(result["truncated"], pages == 0, "truncated unless a page was requested");
        assert_eq!(result["pagination"]["pages"], 3);
        assert_eq!(result["pagination"]["page"], pages);
        whole += result["content"].as_str().unwrap();
        pages += 1;
        match result["pagination"].get("next") {
            Some(next) => next.as_str().unwrap().clone_into(&mut address),
            None => break,
        }
    }
    let full =
        place.run(&["select", "long-words.md::heading:h1[0]?full=true", "-f", "raw"]).success();
    assert_eq!(whole, full.text());
    let other = place.run(&["select", "long-words.md", "--max-words", "7"]).success().json();
    assert_eq!(other["results"][0]["pagination"]["next"], "long-words.md::*?page=1&words=7");
    assert_eq!(
        place.run(&["select", "long-words.md", "--max-words", "0"]).success().json()["truncated"],
        false
    );
    let rest =
        place.run(&["select", "long-words.md?from=3&words=2", "-f", "json"]).success().json();
    assert_eq!(rest["results"][0]["content"], "word1 word2 ");
    let next = rest["results"][0]["pagination"]["next"].as_str().unwrap();
    assert_eq!(next, "long-words.md::*?page=1&words=2&from=3");
    assert_eq!(place.run(&["select", next, "-f", "raw"]).success().text(), "word3 word4 ");
    let beyond = place.run(&["select", "long-words.md?from=99999"]).ends(1).json();
    assert_eq!(beyond["unresolved_selectors"][0]["code"], "INDEX_OUT_OF_RANGE");
    let beyond = place.run(&["select", "long-words.md?page=9"]).ends(1).json();
    assert_eq!(beyond["unresolved_selectors"][0]["code"], "INDEX_OUT_OF_RANGE");
}

#[test]
fn syntax_errors_have_their_codes() {
    let place = doc();
    for (address, code, position) in [
        ("", "EMPTY_SELECTOR", 0),
        ("doc::", "EMPTY_SELECTOR", 5),
        ("doc::heading:h2[1]x", "INVALID_SYNTAX", 18),
        ("doc::heading:h7[0]", "INVALID_HEADING_LEVEL", 5),
        ("doc::block:picture[0]", "INVALID_BLOCK_TYPE", 5),
        ("doc::section[x]", "INVALID_INDEX", 13),
        ("doc::section[1", "UNCLOSED_BRACKET", 12),
        ("doc::section[1]/", "TRAILING_SLASH", 15),
        ("doc::section[1]?what=1", "MALFORMED_QUERY", 16),
        ("section[1]?full=perhaps", "MALFORMED_QUERY", 11),
        ("nodoc::section[1]", "NAMESPACE_NOT_FOUND", 0),
        ("doc::heading:h3[9]", "INDEX_OUT_OF_RANGE", 5),
        ("doc::heading:h6[0]", "SELECTOR_NOT_FOUND", 5),
    ] {
        let json = place.run(&["select", address]).ends(1).json();
        let fault = &json["unresolved_selectors"][0];
        assert_eq!(fault["code"], code, "{address}");
        assert_eq!(fault["position"], position, "{address}");
        assert_eq!(fault["selector"], address);
    }
    place.write("late.md", "# Late\n");
    assert_eq!(place.run(&["select", "late::*"]).ends(1).code(), "NOT_IN_STORE");
    assert_eq!(place.run(&["select", "doc::root", "doc::section[9]"]).ends(3).status, 3);
}

#[test]
fn namespaces_are_paths_suffixes_and_stems() {
    let place = Place::ingested(&[
        ("README.md", "# Top\n"),
        ("docs/README.md", "# Docs\n"),
        ("docs/api/Guide.md", "# Guide\n"),
        ("docs/My notes v1.2.md", "# Notes\n"),
        ("other/guide.mdx", "# Other\n"),
        ("100%_done.md", "# Done\n"),
        ("100x.md", "# X\n"),
    ]);
    let file = |address: &str| {
        let json = place.run(&["select", address]).success().json();
        json["results"][0]["file"].as_str().unwrap().to_owned()
    };
    assert_eq!(file("README.md::*"), "README.md", "an exact path wins over suffixes");
    assert_eq!(file("README::*"), "README.md");
    assert_eq!(file("docs/README::*"), "docs/README.md");
    assert_eq!(file("Guide::*"), "docs/api/Guide.md", "an exact match of case wins");
    assert_eq!(file("api/guide::*"), "docs/api/Guide.md");
    assert_eq!(file("guide.mdx::*"), "other/guide.mdx");
    assert_eq!(file("My notes v1.2::*"), "docs/My notes v1.2.md");
    assert_eq!(file("docs/My%20notes%20v1.2.md::root"), "docs/My notes v1.2.md");
    assert_eq!(file("100%_done::*"), "100%_done.md");
    let ambiguous = place.run(&["select", "GUIDE::section[0]"]).ends(1).json();
    let fault = &ambiguous["unresolved_selectors"][0];
    assert_eq!(fault["code"], "AMBIGUOUS");
    assert_eq!(
        selectors(&fault["candidates"]),
        ["docs/api/Guide.md::heading:h1[0]", "other/guide.mdx::heading:h1[0]"]
    );
    let results = place.run(&["select", "heading:h1[0]"]).success().json();
    assert_eq!(results["results"].as_array().unwrap().len(), 7);
    assert_eq!(results["results"][0]["selector"], "100%25_done.md::heading:h1[0]");
}

#[test]
fn lists_continue_where_they_ended() {
    let place = Place::with_fixtures();
    let all = place.run(&["select", "block:paragraph", "--limit", "0"]).success().json();
    let all = selectors(&all["results"]).into_iter().map(str::to_owned).collect::<Vec<_>>();
    assert!(all.len() > 30);
    let mut given = Vec::new();
    let mut after: Option<String> = None;
    loop {
        let mut arguments = vec!["select", "block:paragraph", "--limit", "7"];
        if let Some(after) = &after {
            arguments.extend(["--after", after]);
        }
        let json = place.run(&arguments).success().json();
        given.extend(selectors(&json["results"]).into_iter().map(str::to_owned));
        match json.get("next") {
            Some(next) => after = Some(next.as_str().unwrap().to_owned()),
            None => break,
        }
        assert_eq!(json["truncated"], true);
    }
    assert_eq!(given, all);
    place.write("zzz.md", "# Z\n");
    place.run(&["ingest"]).success();
    let json = place
        .run(&["select", "block:paragraph", "--limit", "7", "--after", "1-7"])
        .success()
        .json();
    assert_eq!(json["warnings"][0]["code"], "STORE_CHANGED");
    assert_eq!(place.run(&["select", "root", "--after", "x"]).ends(2).code(), "USAGE");
}

#[test]
fn a_list_without_a_limit_has_50_items_and_a_cursor_to_the_51st() {
    let documents = |count: usize| {
        let place = Place::new();
        for number in 0..count {
            let text = format!(
                "---\nk{number:02}: x\n---\n# D{number:02}\n\nword{number} [d](d00.md) [x](none{number}.md)\n\n\
                 - [ ] task\n\n```rust\nx\n```\n\n| h |\n|---|\n| {number} |\n"
            );
            place.write(&format!("d{number:02}.md"), text);
        }
        place.run(&["ingest"]).success();
        place
    };
    let [full, more, few, one_more] = [50, 51, 20, 21].map(documents);
    for (command, list) in [
        (&["select", "heading:h1"][..], "results"),
        (&["index"], "documents"),
        (&["toc"], "files"),
        (&["find", "D*"], "matches"),
        (&["code"], "code"),
        (&["tables"], "rows"),
        (&["tasks"], "tasks"),
        (&["meta"], "documents"),
        (&["meta", "--types"], "keys"),
        (&["links", "list", "d00.md", "--direction", "in"], "edges"),
        (&["links", "check"], "findings"),
        (&["search", "word*"], "hits"),
        (&["search", "-e", "word"], "hits"),
    ] {
        // A search has 20 hits.
        let (full, more, default) =
            if command[0] == "search" { (&few, &one_more, 20) } else { (&full, &more, 50) };
        let items = |place: &Place, after: &[&str]| {
            let json = place.run(&[command, after].concat()).json();
            let is_truncated = json["truncated"].as_bool().unwrap();
            assert_eq!(is_truncated, json.get("next").is_some(), "{command:?}");
            (json[list].as_array().unwrap().len(), json.get("next").cloned())
        };
        assert_eq!(items(full, &[]), (default, None), "{command:?}");
        let (count, next) = items(more, &[]);
        assert_eq!(count, default, "{command:?}");
        let next = next.unwrap();
        assert_eq!(items(more, &["--after", next.as_str().unwrap()]), (1, None), "{command:?}");
        assert_eq!(items(more, &["--limit", "0"]), (default + 1, None), "{command:?}");
    }
}

#[test]
fn index_continues_inside_a_document() {
    let place = Place::with_fixtures();
    let headings = |json: &serde_json::Value| {
        let documents = json["documents"].as_array().unwrap().clone();
        documents
            .iter()
            .flat_map(|document| document["headings"].as_array().unwrap().clone())
            .map(|heading| heading["selector"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let all = headings(&place.run(&["index", "--limit", "0"]).success().json());
    for limit in ["1", "2", "3", "10"] {
        let mut given = Vec::new();
        let mut after: Option<String> = None;
        loop {
            let mut arguments = vec!["index", "--limit", limit];
            if let Some(after) = &after {
                arguments.extend(["--after", after]);
            }
            let json = place.run(&arguments).success().json();
            given.extend(headings(&json));
            match json.get("next") {
                Some(next) => after = Some(next.as_str().unwrap().to_owned()),
                None => break,
            }
        }
        assert_eq!(given, all, "--limit {limit}");
    }
}

#[test]
fn directives_are_text_that_hides_no_heading_and_no_code() {
    let source = ":::tip Title\n\n## Inside\n\n:::\n\n::::cards\n:::card{a=\"b\"}\n```sh\n# no heading\n```\n:::\n::::\n\n\
                  ## After\n\n::leaf[x]{y}\n";
    let place = Place::ingested(&[("d.md", source)]);
    let toc = place.run(&["toc", "d.md", "-f", "text"]).success().text();
    assert_eq!(toc, "## Inside (3-14, 74B)\n## After (15-17, 23B)\n");
    let raw = |address: &str| place.run(&["select", address, "-f", "raw"]).success().text();
    assert_eq!(raw("d.md::*"), source);
    assert_eq!(raw("d.md::root/block:paragraph[0]"), ":::tip Title\n");
    let code = "d.md::heading:h2[0]/block:code[0]";
    assert_eq!(raw(code), "```sh\n# no heading\n```\n");
    place.run(&["replace", code, "--content", "```sh\nnew\n```"]).success();
    let text = std::fs::read_to_string(place.join("d.md")).unwrap();
    assert_eq!(text, source.replace("# no heading", "new"));
}

#[test]
fn a_limit_counts_sections_and_documents_without_sections() {
    let place =
        Place::ingested(&[("a.md", "# A\n\n## B\n"), ("b.md", "text\n"), ("c.md", "# C\n")]);
    let lines = |arguments: &[&str]| {
        let text = place.run(&[arguments, &["-f", "text"]].concat()).success().text();
        let line = |line: &str| line.split(" (").next().unwrap_or(line).trim().to_owned();
        text.lines().map(line).collect::<Vec<_>>()
    };
    assert_eq!(lines(&["toc", "a.md", "--limit", "1"]), ["# A", "more: --after 1-1"]);
    assert_eq!(lines(&["toc", "a.md", "--after", "1-1"]), ["## B"]);
    assert_eq!(lines(&["toc", "a.md", "--limit", "2"]), ["# A", "## B"]);
    let three = lines(&["toc", "--limit", "3"]);
    assert_eq!(three, ["a.md", "# A", "## B", "b.md", "more: --after 1-3"]);
    assert_eq!(lines(&["toc", "--after", "1-3"]), ["c.md", "# C"]);
    let index = lines(&["index", "--limit", "1"]);
    assert!(
        index.last().unwrap().ends_with("--after 1-1") && index[1].contains("  A  "),
        "{index:?}"
    );
    assert_eq!(lines(&["toc", "--depth", "0", "--limit", "2"])[..2], ["a.md", "b.md"]);
}

#[test]
fn a_selector_over_the_store_that_matches_nothing_blames_no_single_document() {
    let place = Place::ingested(&[("a.md", "# A\n"), ("b.md", "text\n\n- one\n\n## B\n")]);
    let fault = |selector: &str| {
        place.run(&["select", selector]).ends(1).json()["unresolved_selectors"][0].clone()
    };
    let code = fault("block:code");
    assert_eq!(code["code"], "SELECTOR_NOT_FOUND");
    let message = "no document has such a place; for example, a.md has no block:code";
    assert_eq!(code["message"], message);
    // The document that comes nearest is the example.
    let list = fault("block:list[3]");
    assert_eq!(list["code"], "INDEX_OUT_OF_RANGE");
    assert_eq!(list["suggestions"][0], "b.md::block:list[0]", "{list}");
    place.remove("b.md");
    place.run(&["ingest"]).success();
    assert_eq!(fault("block:code")["message"], "a.md has no block:code");
}

#[test]
fn documents_are_named_by_path_suffix_folder_or_glob() {
    let place = Place::ingested(&[
        ("a/one.md", "# 1\n"),
        ("a/two.md", "# 2\n"),
        ("b/one.md", "# 3\n"),
        ("b/[x].md", "# 4\n"),
    ]);
    let named = |arguments: &[&str]| {
        let json = place.run(&[&["index"], arguments].concat()).json();
        let documents = json["documents"].as_array().unwrap().clone();
        documents.iter().map(|d| d["namespace"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(named(&["two"]), ["a/two.md"]);
    assert_eq!(named(&["b/one.md", "a/one.md"]), ["b/one.md", "a/one.md"]);
    assert_eq!(named(&["a"]), ["a/one.md", "a/two.md"]);
    assert_eq!(named(&["one*"]), ["a/one.md", "b/one.md"]);
    assert_eq!(named(&["a/*"]), ["a/one.md", "a/two.md"]);
    assert_eq!(named(&["b/[x].md"]), ["b/[x].md"], "a literal path before a glob");
    assert_eq!(place.run(&["index", "one"]).ends(1).code(), "AMBIGUOUS");
    assert_eq!(place.run(&["index", "two", "three"]).ends(3).code(), "NAMESPACE_NOT_FOUND");
}

#[test]
fn each_format_has_its_form() {
    let place = doc();
    let lines = place.run(&["select", "section", "doc::section[9]", "-f", "jsonl"]).ends(3).text();
    let rows: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 4);
    assert_eq!(rows[1]["title"], "Two");
    assert_eq!(rows[3]["unresolved"]["code"], "INDEX_OUT_OF_RANGE");
    let raw = place.run(&["select", "doc::root", "doc::section[2]", "-f", "raw"]).success();
    assert_eq!(raw.text(), "Intro text.\n\n# Three\n\nthree\n");
    let text = place.run(&["-f", "text", "select", "doc::section[2]"]).success().text();
    assert_eq!(text, "doc.md::heading:h1[2] Three (lines 35-37, 3 words)\n# Three\n\nthree\n");
    let pretty = place.run(&["select", "doc::root", "--pretty"]).success();
    assert!(pretty.text().starts_with("{\n  \"results\""));
    let piped =
        place.run_in("", &["select", "-"], "doc::root\n\ndoc::section[2]\n").success().json();
    assert_eq!(selectors(&piped["results"]), ["doc.md::root", "doc.md::heading:h1[2]"]);
    let colored = place.run(&["select", "doc::root", "-f", "text", "--color", "always"]).success();
    assert!(colored.text().starts_with("\u{1b}[1mdoc.md::root"));
}

#[test]
fn lossy_content_is_marked_and_raw_returns_the_bytes() {
    let place = Place::with_fixtures();
    let json = place.run(&["select", "invalid-utf8.md::heading:h1[0]"]).success().json();
    assert_eq!(json["results"][0]["lossy"], true);
    assert_eq!(json["results"][0]["title"], "Caf\u{fffd}");
    let raw = place.run(&["select", "invalid-utf8.md", "-f", "raw"]).success();
    assert_eq!(raw.stdout, std::fs::read(place.join("invalid-utf8.md")).unwrap());
}

#[test]
fn usage_errors_are_one_json_object_and_one_line() {
    let place = doc();
    for arguments in
        [&["select"][..], &["selct", "x"], &["select", "x", "--nope"], &["index", "--limit", "x"]]
    {
        let answer = place.run(arguments).ends(2);
        assert_eq!(answer.code(), "USAGE", "{arguments:?}");
        assert_eq!(answer.stderr.lines().count(), 1, "{}", answer.stderr);
        let text = place.run(&[arguments, &["-f", "text"]].concat()).ends(2);
        assert_eq!(text.text(), "");
    }
    assert!(place.run(&["--help"]).success().text().contains("ingest"));
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let place = Place::with_fixtures();
    let mut child = std::process::Command::new(crate::harness::PROGRAM)
        .args(["select", "block:paragraph", "--limit", "0", "--max-words", "0"])
        .current_dir(place.path())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty());
}

#[test]
fn continuing_repeats_neither_results_nor_errors() {
    let place = Place::ingested(&[("a.md", "# a\n\nx\n\n# b\n\ny\n")]);
    let addresses = ["a.md::*?page=99", "a.md::/a", "nowhere::x", "a.md::/b", "a.md::#9"];
    for limit in ["1", "2", "3"] {
        let mut given = Vec::new();
        let mut after: Option<String> = None;
        loop {
            let mut arguments = vec!["select", "--limit", limit];
            arguments.extend(addresses);
            if let Some(after) = &after {
                arguments.extend(["--after", after]);
            }
            let json = place.run(&arguments).json();
            for list in ["results", "unresolved_selectors"] {
                given.extend(selectors(&json[list]).into_iter().map(str::to_owned));
            }
            match json.get("next") {
                Some(next) => after = Some(next.as_str().unwrap().to_owned()),
                None => break,
            }
        }
        given.sort();
        let mut expected = vec![
            "a.md::#9",
            "a.md::*?page=99",
            "a.md::heading:h1[0]",
            "a.md::heading:h1[1]",
            "nowhere::x",
        ];
        expected.sort_unstable();
        assert_eq!(given, expected, "--limit {limit}");
    }
}

#[test]
fn a_page_parameter_selects_the_places_that_have_the_page() {
    let place = Place::ingested(&[("a.md", "# a\n"), ("b.md", "# b\n\none two three four\n")]);
    let arguments = ["select", "section[0]?page=1", "--max-words", "3", "--limit", "1"];
    let json = place.run(&arguments).success().json();
    assert_eq!(selectors(&json["results"]), ["b.md::heading:h1[0]"]);
}

#[test]
fn what_raw_cannot_show_is_printed_on_standard_error() {
    let place = Place::with_fixtures();
    let answer = place.run(&["select", "long-words.md", "nowhere::x", "-f", "raw"]).ends(3);
    assert!(answer.stderr.contains("more: long-words.md::*?page=1"), "{}", answer.stderr);
    assert!(answer.stderr.contains("nowhere::x: NAMESPACE_NOT_FOUND"), "{}", answer.stderr);
}

#[test]
fn the_lines_and_bytes_of_a_page_are_its_own() {
    let place = Place::with_fixtures();
    let file = std::fs::read(place.join("guide.md")).unwrap();
    let mut position = None;
    let mut address = "guide.md::Guide?words=9".to_owned();
    loop {
        let answer = place.run(&["select", &address]).success().json();
        let page = &answer["results"][0];
        let number = |name: &str| usize::try_from(page[name].as_u64().unwrap()).unwrap();
        let (start, end) = (number("byte_start"), number("byte_end"));
        assert_eq!(page["content"].as_str().unwrap().as_bytes(), &file[start..end]);
        assert_eq!(start, position.unwrap_or(start), "pages join");
        let line_of = |at: usize| file[..at].split(|byte| *byte == b'\n').count();
        assert_eq!((number("line_start"), number("line_end")), (line_of(start), line_of(end - 1)));
        position = Some(end);
        let Some(next) = page["pagination"].get("next") else { break };
        next.as_str().unwrap().clone_into(&mut address);
    }
    assert_eq!(position, Some(file.len()));
}

#[test]
fn no_address_on_standard_input_is_no_answer() {
    let place = Place::ingested(&[("a.md", "# A\n")]);
    place.run_in("", &["select", "-"], "\n").ends(1);
}

#[test]
fn a_place_that_several_addresses_name_is_printed_once_only_if_asked() {
    let place = doc();
    place.write("other.md", "# Other\n\n```sh\nls\n```\n");
    place.run(&["ingest"]).success();
    let beta = "doc.md::heading:h2[1]";
    // The section by its anchor, by its selector, by one of its lines, and among others.
    let addresses = [
        "doc.md#beta",
        "doc.md::block:code[1]",
        beta,
        "doc.md:13",
        "doc.md::heading:h2",
        "block:code",
    ];
    let select = |options: &[&str]| {
        let answer = place.run(&[&["select"][..], &addresses, options].concat()).success().json();
        let selectors = selectors(&answer["results"]);
        let selectors: Vec<String> = selectors.into_iter().map(str::to_owned).collect();
        (selectors, answer["next"].as_str().map(str::to_owned))
    };
    let (all, _) = select(&[]);
    assert_eq!(all.iter().filter(|selector| **selector == beta).count(), 4, "{all:?}");
    let (once, next) = select(&["--unique"]);
    let mut known = std::collections::HashSet::new();
    let first: Vec<String> = all.into_iter().filter(|it| known.insert(it.clone())).collect();
    assert_eq!((&once, next), (&first, None));
    assert!(once.len() == 6 && once[5].starts_with("other.md::"), "{once:?}");
    for limit in 1..=once.len() {
        let limit = limit.to_string();
        let (mut given, mut after) = (Vec::new(), None);
        loop {
            let mut options = vec!["--unique", "--limit", &limit];
            options.extend(after.iter().flat_map(|after: &String| ["--after", after]));
            let (part, next) = select(&options);
            assert!(!part.is_empty(), "limit {limit}: a cursor leads to a result");
            given.extend(part);
            let Some(next) = next else { break };
            after = Some(next);
        }
        assert_eq!(given, once, "limit {limit}");
    }
    let twice = ["select", "doc.md#beta", "doc.md#beta", "--unique", "--limit", "1"];
    assert_eq!(place.run(&twice).success().json()["truncated"], false);
    let parts = ["select", "doc.md#beta", "doc.md#beta?part=own", "--unique"];
    let parts = place.run(&parts).success().json();
    assert_eq!(parts["results"].as_array().unwrap().len(), 2, "two parts of a place differ");
    let unknown = ["select", "doc.md#beta", "doc.md#none", "doc.md#beta", "--unique"];
    let unknown = place.run(&unknown).ends(3).json();
    assert_eq!(unknown["results"].as_array().unwrap().len(), 1);
}

#[test]
fn a_section_after_its_document_says_how_to_read_it() {
    let place = Place::ingested(&[
        ("a.md", "# A\n\n## Use\n\nof a\n\n## Café au lait\n\n## x\n"),
        ("b.md", "# B\n\n## Use\n\n## Café au lait\n"),
    ]);
    for (section, command, address) in [
        ("Use", "`mdsel read a.md Use`", "a.md::heading:h2[0]"),
        ("Café au lait", "`mdsel read a.md 'Café au lait'`", "a.md::heading:h2[1]"),
        ("@5", "`mdsel read a.md @5`", "a.md::heading:h2[0]"),
    ] {
        let answer = place.run(&["select", "a.md", section]).ends(3).json();
        assert_eq!(selectors(&answer["results"]), ["a.md::*"], "{section}");
        let fault = &answer["unresolved_selectors"][0];
        let message = fault["message"].as_str().unwrap();
        assert!(message.contains(command), "{message}");
        assert_eq!(fault["suggestions"][0], address, "{fault}");
        place.run(&["read", "a.md", section]).success();
    }
    for addresses in [&["Use"][..], &["b.md", "a.md::@99"], &["a.md#x", "Use"], &["a.md", "zz"]] {
        let text = place.run(&[&["select"], addresses].concat()).text();
        assert!(!text.contains("mdsel read"), "{addresses:?}: {text}");
    }
}

#[test]
fn the_next_page_is_named_once() {
    let long = format!("# A\n\n{}", "word ".repeat(600));
    let place = Place::ingested(&[("a.md", &long), ("b.md", "# B\n"), ("c.md", &long)]);
    for (addresses, next) in [
        (&["a.md"][..], 1),
        (&["a.md", "b.md"], 1),
        (&["b.md", "a.md", "none.md"], 1),
        (&["a.md", "c.md"], 2),
    ] {
        let text = place.run(&[&["select", "-f", "text"], addresses].concat()).text();
        assert_eq!(text.matches("?page=1").count(), next, "{addresses:?}: {text}");
        assert!(text.lines().last().unwrap().starts_with("more: "), "{addresses:?}: {text}");
    }
}

#[test]
fn nodes_without_the_page_are_skipped_in_every_document() {
    let place = Place::new();
    for number in 0..130 {
        let words = if number % 40 == 7 { 30 } else { 1 };
        let text = format!("# N{number}\n\n## A\n\n{}\n\n## B\n\nb\n", "word ".repeat(words));
        place.write(&format!("{number:03}.md"), text);
    }
    place.run(&["ingest"]).success();
    let call = ["select", "heading:h2?page=1", "--max-words", "20"];
    for unique in [&[][..], &["--unique"]] {
        let mut found = Vec::new();
        let mut after = Vec::new();
        loop {
            let more = after.iter().map(String::as_str).collect::<Vec<_>>();
            let page = [&call[..], unique, &["--limit", "3"], &more].concat();
            let page = place.run(&page).success().json();
            found.extend(selectors(&page["results"]).into_iter().map(str::to_owned));
            let Some(next) = page["next"].as_str() else { break };
            after = vec!["--after".to_owned(), next.to_owned()];
        }
        let expected = ["007", "047", "087", "127"];
        let expected = expected.map(|name| format!("{name}.md::heading:h2[0]"));
        assert_eq!(found, expected, "{unique:?}");
    }
}

#[test]
fn a_tree_without_sections_says_so() {
    let place = Place::ingested(&[
        ("a.md", "---\nk: v\n---\n# A\n\n- one\n- two\n"),
        ("b.md", "# B\n\ntext\n"),
    ]);
    let cases: [(&[&str], &str); 7] = [
        (&["toc", "a::block:list[0]"], "`mdsel select 'a::block:list[0]'`"),
        (&["toc", "a::@frontmatter"], "no section is in a::@frontmatter"),
        (&["index", "a.md:6-7"], "no section is in a.md:6-7"),
        (&["toc", "a.md:6-7", "b.md:3-3"], "no section is in a.md:6-7, b.md:3-3"),
        (&["toc", "--level", "6"], "no section passes the filters"),
        (&["toc", "a.md", "--level", "6"], "no section passes the filters"),
        (&["toc", "--under", "a::block:list[0]"], "no section is in a::block:list[0]"),
    ];
    for (arguments, message) in cases {
        let json = place.run(arguments).ends(1).json();
        let warning = &json["warnings"][0];
        assert_eq!(warning["code"], "NO_ITEMS", "{arguments:?} {json}");
        assert!(warning["message"].as_str().unwrap().contains(message), "{warning}");
    }
}

#[test]
fn the_front_matter_is_listed_once_and_only_where_it_was_asked_for() {
    let place = Place::ingested(&[("a.md", "---\nk: v\n---\n# A\n\n## B\n")]);
    let toc = |arguments: &[&str]| {
        place.run(&[&["toc", "-f", "text"], arguments].concat()).success().text()
    };
    assert!(toc(&["a.md", "--limit", "1"]).contains("[frontmatter]"));
    assert!(!toc(&["a.md", "--after", "1-1"]).contains("[frontmatter]"));
    assert!(!toc(&["a::heading:h2[0]"]).contains("[frontmatter]"));
}

#[test]
fn places_without_the_page_that_was_asked_for_are_named() {
    let text = |words: usize| "word ".repeat(words);
    let file =
        format!("# A\n\n## X\n\n{}\n\n## Y\n\n{}\n\n## Z\n\n{}\n", text(40), text(3), text(19));
    let place = Place::ingested(&[("a.md", &file)]);
    for params in ["page=1&words=15", "from=15"] {
        let json = place.run(&["select", &format!("a::heading:h2?{params}")]).success().json();
        assert_eq!(selectors(&json["results"]).len(), 2);
        let warning = &json["warnings"][0];
        assert_eq!(warning["code"], "PAGE_PAST_END", "{json}");
        assert!(warning["message"].as_str().unwrap().contains("a.md::heading:h2[1]"), "{warning}");
        let rest = [&format!("a::heading:h2?{params}"), "--limit", "1"];
        let first = place.run(&[&["select"], &rest[..]].concat()).success().json();
        assert_eq!(first["warnings"], json!([]), "the second place was not looked at");
        let next = first["next"].as_str().unwrap();
        let second = place.run(&[&["select"], &rest[..], &["--after", next]].concat()).success();
        assert_eq!(second.json()["warnings"][0]["code"], "PAGE_PAST_END");
    }
    let fault = place.run(&["select", "a::heading:h2?page=9"]).ends(1).json();
    assert_eq!(fault["warnings"], json!([]));
    assert_eq!(fault["unresolved_selectors"][0]["code"], "INDEX_OUT_OF_RANGE");
}

#[test]
fn two_parts_of_one_place_are_refused() {
    let place = Place::ingested(&[("a.md", "# A\n\nown\n\n## B\n")]);
    for part in ["heading", "all"] {
        let address = format!("a::h1[0]?part={part}");
        let fault = place.run(&["read", &address, "--no-children"]).ends(1).json();
        assert_eq!(fault["unresolved_selectors"][0]["code"], "MALFORMED_QUERY", "{fault}");
    }
    place.run(&["read", "a::h1[0]?part=own", "--no-children"]).success();
}

#[test]
fn no_address_and_a_document_that_is_gone_are_reported() {
    let place = Place::ingested(&[("a.md", "# A\n"), ("b.md", "# B\n")]);
    let none = place.run_in("", &["select", "-"], "").ends(1).json();
    assert_eq!(none["warnings"][0]["code"], "NO_ADDRESS");
    place.remove("b.md");
    let gone = place.run(&["select", "b", "--refresh"]).ends(1);
    assert!(
        gone.stderr.contains("removed 1 document: gone, or not ingested any more"),
        "{}",
        gone.stderr
    );
}

#[test]
fn a_selector_of_more_nodes_than_the_limit_is_marked_as_cut() {
    let text = format!("# A\n\n{}", "p\n\n".repeat(10_001));
    let place = Place::ingested(&[("a.md", &text)]);
    for (selector, is_cut) in [("[0-10000]", true), ("", true), ("[0-9999]", false)] {
        let address = format!("a.md::block:paragraph{selector}?head=1");
        let after = ["select", &address, "--after", "1-9990", "--limit", "0"];
        let json = place.run(&after).success().json();
        let codes: Vec<&Value> =
            json["warnings"].as_array().unwrap().iter().map(|warning| &warning["code"]).collect();
        assert_eq!(codes, if is_cut { vec!["EXPANSION_CUT"] } else { vec![] }, "{json}");
        assert_eq!(json["truncated"], is_cut, "{address}");
        assert_eq!(json["results"].as_array().unwrap().len(), 10);
        if is_cut {
            let message = json["warnings"][0]["message"].as_str().unwrap();
            let next = message.split_once("select '").unwrap().1.split_once('\'').unwrap().0;
            let rest = place.run(&["select", next]).success().json();
            let last = rest["results"][0]["selector"].as_str().unwrap();
            assert!(last.starts_with("a.md::heading:h1[0]/block:paragraph[10000]"), "{last}");
            assert!(next.ends_with("?head=1"), "{message}");
        }
    }
    let context = ["context", "a.md::block:paragraph", "--limit", "0"];
    assert_eq!(place.run(&context).success().json()["truncated"], true);
}

#[test]
fn the_own_text_of_a_document_ends_before_its_first_section() {
    let own = "---\nk: v\n---\nIntro.\n\n";
    let place = Place::ingested(&[
        ("a.md", &format!("\u{feff}{own}# A\n\nOwn.\n\n## B\n\nText.\n")),
        ("plain.md", "Text.\n"),
        ("mark.md", "\u{feff}# A\n"),
    ]);
    let empty = place.run(&["read", "mark.md::*?part=own"]).success().json();
    assert_eq!((&empty["content"], &empty["byte_start"]), (&json!(""), &json!(3)), "{empty}");
    for arguments in [&["read", "a.md::*?part=own"][..], &["read", "a.md", "*", "--no-children"]] {
        let arguments = [arguments, &["-f", "raw"]].concat();
        assert_eq!(place.run(&arguments).success().text(), own, "{arguments:?}");
    }
    let first = place.run(&["select", "a.md::*?part=own", "--max-words", "2"]).success().json();
    assert_eq!(first["results"][0]["pagination"]["pages"], 3, "{first}");
    for edit in ["a.md::*?part=own", "a.md::*"] {
        let refused =
            place.run(&["replace", edit, "--no-children", "--content", "x", "--allow-drop"]);
        let fault = &refused.ends(1).json()["unresolved_selectors"][0];
        assert_eq!(fault["code"], "MALFORMED_QUERY", "{edit} {fault}");
    }
    place.run(&["replace", "plain.md::*", "--no-children", "--content", "x"]).success();
}
