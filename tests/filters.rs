//! One set of filters, with the same names and the same meaning on every command that goes over
//! many documents.

use serde_json::Value;

use crate::harness::Place;

fn place() -> Place {
    Place::ingested(&[
        (
            "docs/a.md",
            "---\ntags: [red]\nrank: 10\n---\n# Alpha\n\nneedle\n\n## Code\n\n```sh\nneedle\n```\n",
        ),
        (
            "docs/old/b.md",
            "---\ntags: [red, blue]\nrank: 9\n---\n# Beta\n\nWhoever looks for a needle finds hay and straw in the barn.\n",
        ),
        (
            "notes/c.md",
            "# Gamma\n\n## Part\n\nA sewing kit has thread, scissors, buttons and one needle.\n",
        ),
    ])
}

/// The documents of an answer, in their order, each once.
fn files(json: &Value) -> Vec<String> {
    let lists =
        ["documents", "files", "matches", "hits", "items", "code", "rows", "tables", "tasks"];
    let list = lists.iter().find_map(|name| json[*name].as_array()).unwrap();
    let name = |item: &Value| {
        item.get("file").or(item.get("namespace")).unwrap().as_str().unwrap().to_owned()
    };
    let mut files: Vec<String> = list.iter().map(name).collect();
    files.dedup();
    files
}

const COMMANDS: [&[&str]; 6] = [
    &["index"],
    &["toc"],
    &["find", "*"],
    &["search", "-e", "needle"],
    &["search", "needle"],
    &["context", "--query", "needle"],
];

#[test]
fn filters_have_the_same_meaning_on_every_command() {
    let place = place();
    for command in COMMANDS {
        for (filter, expected) in [
            (&["--under", "docs"][..], &["docs/a.md", "docs/old/b.md"][..]),
            (&["--under", "docs", "-g", "!old"], &["docs/a.md"]),
            (&["-g", "!docs/"], &["notes/c.md"]),
            (&["-g", "!*a.md", "-g", "!c.md"], &["docs/old/b.md"]),
            (&["-g", "docs/**", "-g", "!b.md"], &["docs/a.md"]),
            (&["-g", "b.md"], &["docs/old/b.md"]),
            (&["-g", "**/old/b.md", "-g", "!notes/**"], &["docs/old/b.md"]),
            (&["--tag", "red"], &["docs/a.md", "docs/old/b.md"]),
            (&["--tag", "red", "--tag", "blue"], &["docs/old/b.md"]),
            (&["--type", "code"], &["docs/a.md"]),
            (&["--level", "2", "--under", "notes"], &["notes/c.md"]),
            (&["--under", "c.md::Gamma"], &["notes/c.md"]),
        ] {
            let json = place.run(&[command, filter].concat()).success().json();
            let mut found = files(&json);
            found.sort();
            found.dedup();
            assert_eq!(found, expected, "{command:?} {filter:?}");
        }
        let unknown = place.run(&[command, &["--under", "nowhere"]].concat());
        assert_eq!(unknown.json()["unresolved_selectors"][0]["selector"], "nowhere", "{command:?}");
        let text = place.run(&[command, &["--under", "nowhere", "-f", "text"]].concat()).text();
        assert!(!text.contains("fewer filters"), "{command:?}: {text}");
        assert_eq!(place.run(&[command, &["--type", "nosuch"]].concat()).ends(2).code(), "USAGE");
    }
    let all = place.run(&["context", "-g", "!old", "--tag", "red"]).success().json();
    assert_eq!(files(&all), ["docs/a.md"]);
}

#[test]
fn a_tag_has_the_tags_below_it_in_filters_and_queries() {
    let place = Place::ingested(&[
        ("a.md", "---\ntags: [Café/Bar/Ünï]\n---\n# A\n\nneedle\n"),
        ("b.md", "---\ntags: café\n---\n# B\n\nneedle\n"),
        ("c.md", "---\ntags: cafés\n---\n# C\n\nneedle\n"),
    ]);
    for (tag, expected) in [
        ("café", &["a.md", "b.md"][..]),
        ("café/bar", &["a.md"]),
        ("#café/bar/ünï", &["a.md"]),
        // Accents and case are folded in both.
        ("cafe", &["a.md", "b.md"]),
        ("Cafe/bar/uni", &["a.md"]),
        ("bar", &[]),
    ] {
        let filtered = place.run(&["find", "*", "--tag", tag]).json();
        let queried = place.run(&["search", &format!("tags:{tag}")]).json();
        for answer in [filtered, queried] {
            let mut found = files(&answer);
            found.sort();
            assert_eq!(found, expected, "{tag}: {answer}");
        }
    }
    // An answer shows them with their accents.
    let records = place.run(&["context", "--tag", "cafes", "-f", "records"]).success().text();
    assert!(records.contains("tags=cafés"), "{records}");
}

#[test]
fn documents_are_listed_in_the_requested_order() {
    let place = place();
    for command in &COMMANDS[..4] {
        for (key, expected) in [
            ("path", ["docs/a.md", "docs/old/b.md", "notes/c.md"]),
            ("-path", ["notes/c.md", "docs/old/b.md", "docs/a.md"]),
            ("-title", ["notes/c.md", "docs/old/b.md", "docs/a.md"]),
            ("rank", ["docs/old/b.md", "docs/a.md", "notes/c.md"]),
            ("-rank", ["docs/a.md", "docs/old/b.md", "notes/c.md"]),
        ] {
            let json = place.run(&[*command, &["--sort", key]].concat()).success().json();
            assert_eq!(files(&json), expected, "{command:?} {key}");
        }
    }
    assert_eq!(place.run(&["search", "needle", "--sort", "path"]).ends(2).code(), "USAGE");
}

#[test]
fn a_folder_is_found_by_the_name_that_it_has_on_disk() {
    let place = Place::ingested(&[("My%20Notes/a.md", "# A\n\ntext\n"), ("b.md", "# B\n\ntext\n")]);
    for name in ["My%20Notes", "My%20Notes/", "My%2520Notes", "./My%20Notes"] {
        let found = place.run(&["search", "-F", "text", "--under", name]).success().json();
        assert_eq!(files(&found), ["My%20Notes/a.md"], "{name}");
        place.run(&["toc", name]).success();
    }
}

#[test]
fn a_folder_is_found_by_the_end_of_its_path() {
    let place = Place::ingested(&[
        ("site/guides/install/a.md", "# A\n\ntext\n\n## Guides\n\ntext\n"),
        ("site/guides/b.md", "# B\n\ntext\n"),
        ("site/old/install/c.md", "# C\n\ntext\n"),
        ("site/old/setup.md", "# D\n\ntext\n"),
        ("site/setup/e.md", "# E\n\ntext\n"),
    ]);
    for (name, expected) in [
        ("guides", &["site/guides/b.md", "site/guides/install/a.md"][..]),
        ("guides/", &["site/guides/b.md", "site/guides/install/a.md"]),
        ("guides/install", &["site/guides/install/a.md"]),
        // A document has that name, too.
        ("setup", &["site/setup/e.md"]),
        ("setup.md", &["site/old/setup.md"]),
    ] {
        let found = place.run(&["search", "-F", "text", "--under", name]).success().json();
        let mut files = files(&found);
        files.dedup();
        assert_eq!(files, expected, "{name}");
    }
    // The last line is a warning.
    assert_eq!(place.run(&["index", "guides", "-f", "jsonl"]).success().text().lines().count(), 3);
    for command in [&["search", "-F", "text", "--under", "install"][..], &["toc", "install"]] {
        let fault = place.run(command).ends(1).json()["unresolved_selectors"][0].clone();
        assert_eq!(fault["code"], "AMBIGUOUS");
        let folders = fault["suggestions"].as_array().unwrap();
        assert_eq!(folders[..], ["site/guides/install", "site/old/install"], "{fault}");
    }
    let shadowed = place.run(&["search", "-F", "text", "--under", "guides"]).success().json();
    assert_eq!(shadowed["warnings"][0]["code"], "SHADOWED_TITLE", "{shadowed}");
    let section = place.run(&["search", "-F", "text", "--under", "/guides"]).success().json();
    assert_eq!(section["hits"].as_array().unwrap().len(), 1, "{section}");
    // A part of a name is not its end, and a path from the root is whole.
    for name in ["stall", "./guides"] {
        place.run(&["search", "-F", "text", "--under", name]).ends(1);
    }
}

#[test]
fn an_empty_answer_says_that_no_document_passes_the_filters() {
    let place = Place::ingested(&[("a.md", "---\ntags: [x]\n---\n# A\n\ntext\n")]);
    for command in [&["search", "text"][..], &["search", "-e", "text"], &["find", "A"]] {
        let filtered = [command, &["--tag", "other", "-f", "text"]].concat();
        let text = place.run(&filtered).ends(1).text();
        let warning = "warning: NO_DOCUMENT: 0 of 1 documents pass the filters;";
        assert!(text.starts_with(warning), "{text}");
        place.run(&[command, &["--tag", "x"]].concat()).success();
        // The filter of blocks leaves the document.
        let filtered = [command, &["--level", "3", "-f", "text"]].concat();
        assert!(!place.run(&filtered).ends(1).text().contains("documents pass"));
    }
}

#[test]
fn an_empty_store_is_not_the_fault_of_a_filter() {
    let place = Place::ingested(&[]);
    let advice = place.run(&["search", "text", "-f", "text"]).ends(1).text();
    assert!(advice.starts_with("0 of 0 sections have these words"), "{advice}");
}

#[test]
fn an_empty_answer_explains_wildcards() {
    let place = Place::ingested(&[("a.md", "# A\n\norganization\n")]);
    place.run(&["search", "organi*"]).success();
    for words in ["*zation", "org*zation", "organi?ation"] {
        let advice = place.run(&["search", words, "-f", "text"]).ends(1).text();
        assert!(advice.contains("Only a * at the end of a word"), "{words}: {advice}");
    }
    let advice = place.run(&["search", "kangaroo?", "-f", "text"]).ends(1).text();
    assert!(advice.contains("--also"), "{advice}");
}

#[test]
fn numbers_are_sorted_as_they_compare() {
    let prices = ["19.90", "3", "2.50", "10", "-1.0", "cheap"];
    let files: Vec<(String, String)> = prices
        .iter()
        .map(|price| (format!("{price}.md"), format!("---\nprice: {price}\n---\n")))
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (&**name, &**text)).collect();
    let place = Place::ingested(&files);
    let text = place.run(&["meta", "--sort", "price", "--get", "price", "-f", "text"]).text();
    let sorted: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("  price: ")).collect();
    assert_eq!(sorted, ["-1.0", "2.50", "3", "10", "19.90", "cheap"]);
}

#[test]
fn dates_and_long_numbers_are_sorted_as_they_compare() {
    let sorted = [
        ("d", "2026-01-30T01:00"),
        ("c", "2026-01-31T01:00:00+09:00"),
        ("b", "2026-01-30T20:00:00Z"),
        ("a", "2026-01-30 23:00"),
        ("e", "soon"),
    ];
    let numbers =
        [("d", "1234567890123456787"), ("c", "1234567890123456788"), ("b", "1234567890123456789")];
    let document = |key: &str, value: &str| format!("---\n{key}: {value}\n---\n");
    let dates = sorted.map(|(name, date)| (format!("dates/{name}.md"), document("date", date)));
    let numbers = numbers.map(|(name, id)| (format!("ids/{name}.md"), document("id", id)));
    let files: Vec<(&str, &str)> =
        dates.iter().chain(&numbers).map(|(name, text)| (&**name, &**text)).collect();
    let place = Place::ingested(&files);
    for (key, expected) in [
        ("date", &["dates/d.md", "dates/c.md", "dates/b.md", "dates/a.md", "dates/e.md"][..]),
        ("-date", &["dates/e.md", "dates/a.md", "dates/b.md", "dates/c.md", "dates/d.md"]),
        ("id", &["ids/d.md", "ids/c.md", "ids/b.md"]),
    ] {
        let get = key.trim_start_matches('-');
        let json = place.run(&["meta", "--sort", key, "--get", get]).success().json();
        let documents = json["documents"].as_array().unwrap();
        let files: Vec<&str> = documents.iter().map(|one| one["file"].as_str().unwrap()).collect();
        assert_eq!(files, expected, "{key}");
    }
}

#[test]
fn a_list_is_no_sort_key_in_any_command() {
    let text = "# Title\n\n- [ ] needle\n\n```\ncode\n```\n\n| a |\n| - |\n| b |\n";
    let place = Place::ingested(&[
        ("a.md", text),
        ("m.md", &format!("---\nk: 1\n---\n{text}")),
        ("n.md", &format!("---\nk: null\n---\n{text}")),
        ("z.md", &format!("---\nk: [b]\n---\n{text}")),
        ("zz.md", text),
    ]);
    let commands: [&[&str]; 7] = [
        &["toc"],
        &["index"],
        &["find", "Title"],
        &["search", "-F", "needle"],
        &["code"],
        &["tables"],
        &["tasks"],
    ];
    for command in commands {
        let json = place.run(&[command, &["--sort", "k"]].concat()).success().json();
        assert_eq!(files(&json), ["m.md", "a.md", "n.md", "z.md", "zz.md"], "{command:?}");
        let mut paged = Vec::new();
        let mut after = None;
        loop {
            let mut asked = [command, &["--sort", "k", "--limit", "2"]].concat();
            asked.extend(after.iter().flat_map(|after: &String| ["--after", after]));
            let json = place.run(&asked).success().json();
            paged.extend(files(&json));
            match json["next"].as_str() {
                Some(next) => after = Some(next.to_owned()),
                None => break,
            }
        }
        paged.dedup();
        assert_eq!(paged, files(&json), "{command:?}");
    }
}

#[test]
fn a_cursor_continues_within_the_filters() {
    let place = place();
    let whole = place.run(&["toc", "--level", "2", "-f", "text"]).success().text();
    let first = place.run(&["toc", "--level", "2", "--limit", "1"]).success().json();
    let next = first["next"].as_str().unwrap();
    let rest = place.run(&["toc", "--level", "2", "--after", next, "-f", "text"]).success().text();
    assert_eq!(
        (files(&first), rest.as_str()),
        (vec!["docs/a.md".to_owned()], "notes/c.md\n  ## Part (3-5, 68B)\n")
    );
    assert!(whole.ends_with(&rest), "{whole}");
}

#[test]
fn links_are_checked_where_the_filters_say() {
    let place = Place::ingested(&[
        ("docs/a.md", "---\ntags: [red]\n---\n# Alpha\n\n[x](x.md)\n\n## Code\n\n- [y](y.md)\n"),
        ("docs/old/b.md", "# Beta\n\n[z](z.md)\n"),
        ("notes/c.md", "# Gamma\n\n[a](../docs/a.md) [w](w.md)\n"),
    ]);
    let targets = |filter: &[&str]| -> Vec<String> {
        let json = place.run(&[&["links", "check"], filter].concat()).ends(1).json();
        let message = |finding: &Value| finding["message"].as_str().unwrap().to_owned();
        let all: Vec<String> = json["findings"].as_array().unwrap().iter().map(message).collect();
        all.iter().map(|message| message[1..2].to_owned()).collect()
    };
    for (filter, expected) in [
        (&[][..], &["x", "y", "z", "w"][..]),
        (&["--under", "docs"], &["x", "y", "z"]),
        (&["--under", "docs", "-g", "!old"], &["x", "y"]),
        (&["--under", "docs/a.md::Code"], &["y"]),
        (&["--tag", "red"], &["x", "y"]),
        (&["--level", "2"], &["y"]),
        (&["--type", "item"], &["y"]),
        (&["--sort", "-path"], &["w", "z", "x", "y"]),
    ] {
        assert_eq!(targets(filter), expected, "{filter:?}");
    }
    // A row is in its line without the line end, and a cell is a part of it.
    place.write("notes/t.md", "# T\n\n| a | b |\n| - | - |\n| [v](v.md) | x |\n");
    place.run(&["ingest"]).success();
    for at in ["row[0]", "row[0]/cell[0]", "row[0]/cell[1]"] {
        let address = format!("notes/t.md::h1[0]/block:table[0]/{at}");
        assert_eq!(targets(&[&address]), ["v"], "{at}");
    }
    let other = ["links", "check", "notes/t.md::h1[0]/block:table[0]/row[header]"];
    assert_eq!(place.run(&other).success().json()["findings"], serde_json::json!([]));

    let unknown = place.run(&["links", "check", "--under", "nowhere"]).ends(2).json();
    assert_eq!(unknown["unresolved_selectors"][0]["selector"], "nowhere");

    let edges = |filter: &[&str]| {
        let json = place.run(&[&["links", "list", "docs/a.md"], filter].concat()).success().json();
        json["edges"].as_array().unwrap().len()
    };
    assert_eq!(edges(&[]), 3);
    assert_eq!(edges(&["--under", "notes"]), 1);
    assert_eq!(edges(&["-g", "!notes/"]), 0);
    assert_eq!(edges(&["--under", "c.md::Gamma"]), 1);
    assert_eq!(edges(&["--tag", "red"]), 0);
    assert_eq!(edges(&["--sort", "path"]), 3);
    assert_eq!(edges(&["--level", "6"]), 0);
}

#[test]
fn a_filter_passes_on_what_is_said_of_its_address() {
    let place =
        Place::ingested(&[("alpha.md", "# A\n\nneedle\n"), ("b.md", "# Alpha\n\nneedle\n")]);
    let more = [&["links", "check"][..]];
    for command in COMMANDS[..5].iter().chain(&more) {
        let json = place.run(&[command, &["--under", "alpha"][..]].concat()).success().json();
        assert_eq!(json["warnings"][0]["code"], "SHADOWED_TITLE", "{command:?}");
    }
    let text = place.run(&["find", "*", "--under", "alpha", "-f", "text"]).success().text();
    assert!(text.contains("warning: SHADOWED_TITLE: alpha is read as the document"), "{text}");
    // Nothing is said of words if the filter itself names nothing.
    for command in [&["search", "needle"][..], &["find", "Alpha"]] {
        let text =
            place.run(&[command, &["--under", "none", "-f", "text"]].concat()).ends(1).text();
        assert!(text.starts_with("none: SELECTOR_NOT_FOUND"), "{text}");
    }
}

#[test]
fn blocks_are_listed_in_the_section_that_was_asked_for() {
    let place = Place::ingested(&[("a.md", "# A\n\nfirst\n\n## B\n\nsecond\n")]);
    let json = place.run(&["index", "a.md", "--blocks", "--under", "a.md#b"]).success().json();
    let blocks = json["documents"][0]["block_list"].as_array().unwrap();
    assert_eq!(blocks.len(), 1, "{json}");
    assert_eq!(blocks[0]["preview"], "second");
}

#[test]
fn a_name_of_a_document_and_a_folder_is_read_as_the_document_with_a_warning() {
    let place = Place::ingested(&[
        ("npm/a.md", "# A\n"),
        ("npm/commands/npm.md", "# npm\n"),
        ("guide.md", "# Guide\n"),
        ("guide/b.md", "# B\n"),
    ]);
    let json = place.run(&["toc", "npm"]).success().json();
    assert_eq!(json["file"], "npm/commands/npm.md");
    assert_eq!(json["warnings"][0]["code"], "SHADOWED_FOLDER", "{json}");
    assert!(json["warnings"][0]["message"].as_str().unwrap().contains("npm/ for that"), "{json}");
    let folder = place.run(&["toc", "npm/"]).success().json();
    assert_eq!(files(&folder).len(), 2, "{folder}");
    // Its whole path names a document.
    assert!(place.run(&["toc", "guide"]).success().json()["warnings"].is_null());
}

#[test]
fn a_name_that_begins_the_name_of_a_folder_gets_that_suggested() {
    let place = Place::ingested(&[
        ("crates/indexmap-2/README.md", "# Ordered\n\nneedle\n"),
        ("crates/Indexmap_x/RELEASES.md", "# Releases\n"),
        ("index.md", "# Index\n"),
    ]);
    let folders = ["crates/Indexmap_x", "crates/indexmap-2"];
    for command in [
        &["toc", "indexmap"][..],
        &["search", "needle", "--under", "indexmap"],
        &["code", "--under", "Crates/index"],
    ] {
        let json = place.run(command).ends(1).json();
        let suggestions = json["unresolved_selectors"][0]["suggestions"].as_array().unwrap();
        assert_eq!(suggestions[..2], folders, "{json}");
    }
    let none = place.run(&["toc", "index%-2"]).ends(1).json();
    assert!(!none.to_string().contains("crates/"), "{none}");
    place.run(&["search", "needle", "--under", folders[1]]).success();
}

#[test]
fn a_folder_with_a_version_is_found_by_its_name() {
    let text = "# Title\n\nneedle\n\n## With tokio\n\nneedle\n";
    let place = Place::ingested(&[
        ("axum-0.7.5/README.md", text),
        ("axum-0.7.5/docs/hyper.md", text),
        ("hyper-1.4.0/README.md", text),
        ("serde-1.0.1/README.md", text),
        ("serde-1.0.2/README.md", text),
        ("serde_json-1.0.151/README.md", text),
        ("tokio-1.54.1/README.md", text),
        ("tokio-util-0.7.1/README.md", text),
        ("vendor/syn-v2/README.md", text),
        ("vendor/http@1.0.0/README.md", text),
        ("guide-2.0/a.md", text),
        ("guide.md", text),
    ]);
    for (name, file) in [
        ("tokio", "tokio-1.54.1/README.md"),
        ("tokio/", "tokio-1.54.1/README.md"),
        ("./tokio", "tokio-1.54.1/README.md"),
        ("serde_json", "serde_json-1.0.151/README.md"),
        ("vendor/syn", "vendor/syn-v2/README.md"),
        ("syn", "vendor/syn-v2/README.md"),
        ("http", "vendor/http@1.0.0/README.md"),
        // A document whose path only ends with the name comes after it, and one with the whole path before it.
        ("hyper", "hyper-1.4.0/README.md"),
        ("guide", "guide.md"),
    ] {
        let found = place.run(&["search", "-F", "needle", "--under", name]).success().json();
        assert!(files(&found).iter().all(|found| found == file), "{name} {found}");
    }
    assert_eq!(place.run(&["toc", "tokio"]).success().json()["file"], "tokio-1.54.1/README.md");
    let toc = place.run(&["toc", "hyper"]).success().json();
    assert_eq!(toc["warnings"][0]["code"], "SHADOWED_FOLDER", "{toc}");
    for command in [&["search", "needle", "--under", "serde"][..], &["toc", "serde"]] {
        let fault = place.run(command).ends(1).json()["unresolved_selectors"][0].clone();
        assert_eq!(fault["code"], "AMBIGUOUS", "{fault}");
        let folders = ["serde-1.0.1", "serde-1.0.2"];
        assert_eq!(fault["suggestions"].as_array().unwrap()[..], folders, "{fault}");
    }
    // An edit takes a document by its own name.
    place.run(&["insert", "tokio", "--position", "last_child", "--content", "x"]).ends(1);
}

#[test]
fn a_title_is_not_taken_for_a_folder_without_a_word() {
    let place = Place::ingested(&[
        ("rustls-pki/README.md", "# Library\n\nneedle\n"),
        ("ureq-3/README.md", "# ureq\n\n## TLS with rustls\n\nneedle\n"),
        ("ureq-3/more.md", "# More\n\n## On native-tls\n\n- [ ] needle\n"),
    ]);
    let fault = place.run(&["search", "needle", "--under", "rustls", "-f", "text"]).ends(1).text();
    assert!(fault.contains("AMBIGUOUS: no folder has this name"), "{fault}");
    assert!(fault.contains("- rustls-pki\n- ureq-3/README.md::heading:h2[0]\n"), "{fault}");
    let title = place.run(&["search", "needle", "--under", "/rustls"]).success().json();
    assert!(title["warnings"].is_null(), "{title}");
    for command in [&["search", "needle", "--under", "native-tls"][..], &["tasks", "native-tls"]] {
        let found = place.run(command).success().json();
        assert_eq!(found["warnings"][0]["code"], "READ_AS_TITLE", "{found}");
        let text = place.run(&[command, &["-f", "text"]].concat()).success().text();
        assert_eq!(text.matches("READ_AS_TITLE").count(), 1, "{text}");
    }
    // The whole title of a section may be meant as a folder only if the name of one begins with it.
    place.write("ureq-3/more.md", "# More\n\n## rustls\n\nneedle\n\n## timeouts\n\nneedle\n");
    place.run(&["ingest"]).success();
    for command in [&["search", "needle", "--under"][..], &["toc"]] {
        let found = |name: &str| place.run(&[command, &[name]].concat()).success().json();
        assert!(!found("timeouts").to_string().contains("READ_AS_TITLE"), "{command:?}");
        let warning = &found("rustls")["warnings"][0];
        let message = "\"rustls\" was read as the section ureq-3/more.md::heading:h2[0], and the names of folders \
                       begin with it: rustls-pki";
        assert_eq!(warning["message"], message, "{command:?}");
    }
    place.write("ureq-3/more.md", "# More\n\n## On native-tls\n\nneedle\n");
    place.run(&["ingest"]).success();
    for form in ["text", "records", "markdown", "ldmd"] {
        let bundle = ["context", "--query", "needle", "--under", "native-tls", "-f", form];
        let answer = place.run(&bundle).success();
        let said = answer.text() + &answer.stderr;
        assert_eq!(said.matches("was read as the section").count(), 1, "{form} {said}");
    }
}

#[test]
fn names_of_documents_give_the_warnings_of_a_place_to_search() {
    let place = Place::ingested(&[
        ("tokio-1.54.1/a.md", "# A\n"),
        ("guide.md", "# Guide\n\n## tokio\n\n## tokio's rt\n"),
        ("tokio's rt-2.0/b.md", "# B\n\n## guide\n"),
        ("exact/c.md", "# exact\n"),
    ]);
    for (name, means) in [
        ("tokio", Some("write /tokio for that")),
        ("tokio's rt", Some(r"write '/tokio'\''s rt' for that")),
        ("guide", Some("guide is read as the document guide.md; a section also has that name")),
        ("guide.md", None),
        ("exact", None),
        ("/tokio", None),
    ] {
        let under = ["find", "*", "--under", name];
        for command in [&under[..], &["toc", name], &["index", name], &["toc", name, "exact"]] {
            let warnings = &place.run(command).success().json()["warnings"];
            let Some(means) = means else {
                assert!(warnings.as_array().is_none_or(Vec::is_empty), "{command:?} {warnings}");
                continue;
            };
            assert_eq!(warnings.as_array().unwrap().len(), 1, "{command:?} {warnings}");
            assert_eq!(warnings[0]["code"], "SHADOWED_TITLE", "{command:?}");
            assert!(warnings[0]["message"].as_str().unwrap().contains(means), "{warnings}");
        }
    }
}

#[test]
fn a_filter_that_no_document_passes_is_reported_in_every_form() {
    let place = Place::ingested(&[("docs/a.md", "# A\n\n[x](gone.md)\n\n- [ ] t\n")]);
    for (command, status) in [
        (&["links", "check"][..], 2),
        (&["links", "check", "docs"], 2),
        (&["links", "list", "docs/a.md"], 0),
        (&["toc"], 1),
        (&["toc", "docs/a.md"], 1),
        (&["index"], 1),
        (&["find", "A"], 1),
        (&["search", "x"], 1),
        (&["code"], 1),
        (&["tables"], 1),
        (&["tasks"], 1),
        (&["meta"], 1),
        (&["meta", "--types"], 1),
        (&["context"], 1),
    ] {
        let filtered = [command, &["-g", "dcos/**"]].concat();
        let json = place.run(&filtered).ends(status).json();
        let warnings = json["warnings"].as_array().unwrap();
        assert_eq!(warnings.len(), 1, "{command:?} {json}");
        assert_eq!(warnings[0]["code"], "NO_DOCUMENT", "{command:?}");
        let text = place.run(&[&filtered[..], &["-f", "text"]].concat()).text();
        assert!(text.contains("NO_DOCUMENT: "), "{command:?} {text}");
    }
    place.run(&["links", "check", "-g", "docs/**"]).ends(1);
}

#[test]
fn a_key_that_no_front_matter_has_is_reported_by_every_command() {
    let place = Place::ingested(&[("a.md", "---\nstatus: x\n---\n# A\n\ntext\n\n- [ ] t\n")]);
    for command in [
        &["toc"][..],
        &["index"],
        &["find", "A"],
        &["search", "-e", "text"],
        &["code"],
        &["meta"],
        &["links", "check"],
        &["context", "-g", "*"],
    ] {
        for filter in [["--where", "not nope = 1"], ["--sort", "nope"]] {
            let json = place.run(&[command, &filter].concat()).json();
            let warnings = json["warnings"].as_array().unwrap_or_else(|| panic!("{command:?}"));
            assert_eq!(warnings.len(), 1, "{command:?} {json}");
            assert_eq!(warnings[0]["code"], "UNKNOWN_KEY", "{command:?}");
        }
    }
    let tasks = place.run(&["tasks", "--sort", "nope"]).success().json();
    assert_eq!(tasks["warnings"][0]["code"], "UNKNOWN_KEY");
}

#[test]
fn rows_tasks_and_code_are_under_the_lines_and_rows_in_which_they_begin() {
    let text = "# A\n\n| n |\n|---|\n| 1 |\n| 2 |\n\n- [ ] one\n  - [ ] two\n\n```sh\nx\n```\n";
    let place = Place::ingested(&[("a.md", text)]);
    for (command, list, under, lines) in [
        ("tables", "rows", "a.md::block:table[0]/row[1]", &[6][..]),
        ("tables", "rows", "a.md:4-6", &[5, 6]),
        ("tables", "rows", "a.md?head=5", &[5]),
        ("tasks", "tasks", "a.md:8-8", &[8]),
        ("tasks", "tasks", "a.md::A?tail=5", &[9]),
        ("code", "code", "a.md:11-11", &[11]),
        ("code", "code", "a.md?page=0&words=5", &[]),
    ] {
        let json = place.run(&[command, "--under", under]).json();
        let found: Vec<u64> = json[list]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item["line"].as_u64().unwrap())
            .collect();
        assert_eq!(found, lines, "{command} --under {under} {json}");
    }
    let hits = place.run(&["search", "-e", ".", "--under", "a.md?head=1"]).success().json();
    assert!(hits["hits"].as_array().unwrap().iter().all(|hit| hit["line"] == 1), "{hits}");
}

#[test]
fn toc_lists_the_sections_below_a_section() {
    let place = Place::ingested(&[("a.md", "# A\n\n## B\n\n### C\n\n## D\n"), ("b.md", "# B\n")]);
    let toc = place.run(&["toc", "a.md::B"]).success().json();
    assert_eq!(toc["file"], "a.md");
    assert_eq!(toc["sections"][0]["title"], "B");
    assert_eq!(toc["sections"][0]["children"][0]["title"], "C");
    assert_eq!(toc["sections"].as_array().unwrap().len(), 1, "{toc}");
    let missing = place.run(&["toc", "a.md::Nope"]).ends(1).json();
    assert_eq!(missing["unresolved_selectors"][0]["code"], "SELECTOR_NOT_FOUND");
}

#[test]
fn the_headings_and_the_broken_links_of_a_section_are_listed() {
    let text = "# A\n\n[x](no.md)\n\n## B\n\n[y](none.md)\n";
    let place = Place::ingested(&[("a.md", text), ("b.md", "# B\n\n[z](nil.md)\n")]);
    for section in ["a.md#b", "a.md::A/B", "a.md:7"] {
        let index = place.run(&["index", section]).success().json();
        let documents = index["documents"].as_array().unwrap();
        assert_eq!(documents.len(), 1, "{section} {index}");
        assert_eq!(documents[0]["headings"].as_array().unwrap().len(), 1, "{section} {index}");
        let findings = place.run(&["links", "check", section]).ends(1).json();
        assert_eq!(findings["findings"].as_array().unwrap().len(), 1, "{section} {findings}");
        assert_eq!(findings["findings"][0]["line"], 7, "{section}");
    }
    let missing = place.run(&["index", "a.md#nope"]).ends(1).json();
    assert_eq!(missing["unresolved_selectors"][0]["code"], "SELECTOR_NOT_FOUND");
}

#[test]
fn names_with_marks_of_globs_are_filtered_by_name_and_by_glob() {
    let paths = ["[x].md", "a, b.md", "f, g/{y}.md", "f, g/100%_.md", "x.md", "y.md"];
    let files: Vec<_> = paths.iter().map(|path| (*path, "# T\n")).collect();
    let place = Place::ingested(&files);
    let found = |filter: &[&str]| {
        let json = place.run(&[&["find", "T"], filter].concat()).success().json();
        let matches = json["matches"].as_array().unwrap().iter();
        matches.map(|found| found["file"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(found(&["-g", r"\[x\].md"]), ["[x].md"]);
    assert_eq!(found(&["-g", "[x].md"]), ["x.md"], "a glob is a glob");
    assert_eq!(found(&["--under", "[x].md"]), ["[x].md"], "a name comes first");
    assert_eq!(found(&["-g", "a, b.md"]), ["a, b.md"], "a comma separates nothing");
    assert_eq!(found(&["--under", "f, g"]), ["f, g/100%_.md", "f, g/{y}.md"]);
    assert_eq!(found(&["-g", r"*\{y\}.md"]), ["f, g/{y}.md"]);
    assert_eq!(found(&["-g", "*%_.md"]), ["f, g/100%_.md"]);
    for path in paths {
        let toc = place.run(&["toc", path]).success().json();
        assert_eq!(toc["file"], path, "a document is named before a glob");
    }
}

#[test]
fn a_glob_that_takes_nothing_has_the_one_that_takes_something() {
    let place = Place::ingested(&[("docs/node/a b.md", "# A\n"), ("c.md", "# C\n")]);
    for (glob, other) in [
        ("node/**", Some("**/node/**")),
        ("node", Some("**/node/**")),
        ("docs/node/a%20b.md", Some("docs/node/a b.md")),
        ("docs/**,!c.md", Some("docs/**")),
        ("{zzz,yyy}/**", None),
        ("zzz/**", None),
    ] {
        for command in [&["toc"][..], &["search", "a"], &["code"]] {
            let answer = place.run(&[command, &["-g", glob]].concat()).json();
            let warnings = answer["warnings"].as_array().unwrap();
            let message = warnings[0]["message"].as_str().unwrap();
            let expected = other.map(|other| format!("but the glob {other:?} takes some"));
            assert!(message.contains("pass the filters"), "{answer}");
            assert_eq!(message.contains("but the glob"), other.is_some(), "{answer}");
            assert!(message.contains(&expected.unwrap_or_default()), "{answer}");
        }
    }
}

#[test]
fn a_glob_that_names_no_document_is_followed_by_the_documents_of_its_folder() {
    let place = Place::ingested(&[("docs/node/basic.md", "# A\n"), ("c.md", "# C\n")]);
    let answer = place.run(&["toc", "docs/*/b?.md"]).ends(1).json();
    let message = answer["unresolved_selectors"][0]["message"].as_str().unwrap();
    assert!(message.contains("no document matches \"docs/*/b?.md\""), "{answer}");
    assert!(
        message.contains("`mdsel toc docs/ --depth 0` lists the documents of docs"),
        "{answer}"
    );
    assert_eq!(answer["unresolved_selectors"][0]["suggestions"], serde_json::json!([]), "{answer}");
}

#[test]
fn find_looks_for_content_in_own_text_or_in_the_subtree() {
    let place = Place::ingested(&[
        ("a.md", "before\n\n# A\n\nintro\n\n## B\n\n### C\n\nthe needle\n\n## D\n\nother\n"),
        ("b.md", "# E\n\nnothing\n"),
    ]);
    let titles = |arguments: &[&str], status: i32| -> Vec<String> {
        let answer = place.run(&[&["find"], arguments].concat()).ends(status).json();
        let found = answer["matches"].as_array().unwrap();
        found.iter().map(|found| found["title"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(titles(&["*", "--content", "NEEDLE"], 0), ["C"]);
    assert_eq!(titles(&["*", "--content", "NEEDLE", "--subtree"], 0), ["A", "B", "C"]);
    assert_eq!(titles(&["*", "--content", "needle", "--subtree", "--level", "2"], 0), ["B"]);
    assert!(titles(&["D", "--content", "needle", "--subtree"], 1).is_empty());
    let around = ["*", "--content", "intro\n\n## B", "--subtree"];
    assert_eq!(titles(&around, 0), ["A"], "a text may continue in a subsection");
    assert!(titles(&["*", "--content", "before", "--subtree"], 1).is_empty());
    let alone = place.run(&["find", "*", "--subtree"]).ends(2);
    assert!(
        alone.stderr.contains("USAGE") && alone.stderr.contains("--content"),
        "{}",
        alone.stderr
    );
}

#[test]
fn a_folder_that_does_not_exist_has_a_hint() {
    let place = Place::ingested(&[
        ("docs/building/linux/a.md", "# A\n\nword\n"),
        ("docs/usage/b.md", "# B\n\nword\n"),
    ]);
    for (folder, meant) in [
        ("dosc", "docs"),
        ("docs/bilding", "docs/building"),
        ("docs/bilding/linux", "docs/building/linux"),
        ("docs/bilding/other", "docs/building"),
        ("dosc/usage/", "docs/usage"),
    ] {
        for command in [&["search", "word", "--under", folder][..], &["toc", folder]] {
            let fault = place.run(command).ends(1).json();
            let suggestions = &fault["unresolved_selectors"][0]["suggestions"];
            assert_eq!(suggestions[0], meant, "{command:?} {fault}");
        }
    }
    for (glob, hint) in [
        ("docs/*/lin*", "to filter paths, use -g 'docs/*/lin*/**'"),
        ("none/*/x", "to filter paths, use -g 'none/*/x'"),
    ] {
        let fault = place.run(&["search", "word", "--under", glob, "-f", "text"]).ends(1).text();
        assert!(fault.contains(hint), "{fault}");
    }
    place.run(&["search", "word", "-g", "docs/*/lin*/**"]).success();
}

#[test]
fn an_absolute_path_outside_the_root_is_refused() {
    let place = Place::ingested(&[("a.md", "# A\n\nword\n")]);
    let other = Place::with(&[("docs/b.md", "# B\n")]);
    for path in ["docs", "docs/b.md", "gone", ""] {
        let path = other.join(path);
        let path = path.to_str().unwrap();
        for command in [&["search", "word", "--under", path][..], &["read", path]] {
            assert_eq!(place.run(command).ends(2).code(), "OUTSIDE_ROOT", "{command:?}");
        }
    }
}

#[test]
fn the_hint_of_an_empty_answer_names_a_document_that_the_filters_take() {
    let titled = "---\ntitle: Elsewhere\n---\n# A\n";
    let place = Place::ingested(&[("a.md", titled), ("dir2/a.md", "# A\n"), ("dir3/b.md", titled)]);
    let find =
        |under: &str| place.run(&["find", "Elsew", "--under", under, "-f", "text"]).ends(1).text();
    assert!(!find("dir2/a.md").contains("but the document"));
    assert!(find("dir3").contains("but the document dir3/b.md does"));
}

#[test]
fn a_bundle_has_the_places_that_the_filter_names() {
    let place = Place::ingested(&[
        ("a.md", "# A\n\nintro\n\n## Setup\n\nsteps\n\n```sh\nmake\n```\n\n## Use\n\nrun it\n"),
        ("d/b.md", "# B\n\n## Setup now\n\nother\n"),
        ("d/plain.md", "text\n"),
    ]);
    let contents = |arguments: &[&str]| -> Vec<String> {
        let call = ["context", "--with-body"];
        let answer = place.run(&[&call[..], arguments].concat()).success().json();
        assert_eq!(answer["unresolved_selectors"], serde_json::json!([]), "{answer}");
        let items = answer["items"].as_array().unwrap();
        items.iter().map(|item| item["content"].as_str().unwrap().to_owned()).collect()
    };
    let setup = "## Setup\n\nsteps\n\n```sh\nmake\n```\n\n";
    for under in ["a.md::Setup", "Setup", "a.md#setup", "a.md::heading:h2[0]", "a.md:5"] {
        assert_eq!(contents(&["--under", under]), [setup], "{under}");
    }
    assert_eq!(contents(&["--under", "a.md:7-9"]), ["steps\n\n```sh\n"]);
    assert_eq!(contents(&["--under", "a.md::Setup?part=heading"]), ["## Setup\n"]);
    assert_eq!(contents(&["--under", "block:code[0]"]), ["```sh\nmake\n```\n"]);
    assert_eq!(contents(&["--under", "d/plain.md?head=1"]), ["text\n"]);
    assert_eq!(contents(&["--under", "a.md?head=3"]), ["# A\n\nintro\n"]);
    // A folder, a glob and a document are whole documents.
    let folder = ["# B\n\n## Setup now\n\nother\n", "text\n"];
    assert_eq!(contents(&["--under", "d"]), folder);
    assert_eq!(contents(&["--under", "d/*", "--under", "d/b.md::Setup now"]), folder);
    assert_eq!(contents(&["--under", "plain"]), ["text\n"]);
    // The other filters apply to each place.
    let some = ["--under", "a.md::Setup", "--under", "a.md::Use"];
    assert_eq!(contents(&some), [setup, "## Use\n\nrun it\n"]);
    assert_eq!(contents(&[&some[..], &["--type", "code"]].concat()), [setup]);
    assert_eq!(contents(&[&some[..], &["-g", "a.md", "--level", "2"]].concat()).len(), 2);
    place.run(&[&["context"], &some[..], &["-g", "!a.md"]].concat()).ends(1);
    place.run(&[&["context"], &some[..], &["--level", "3"]].concat()).ends(1);
    let records = place.run(&["context", "--under", "a.md::Use", "-f", "records"]).success().text();
    assert!(records.contains("N a.md::heading:h2[1] Section "), "{records}");
    // A folder comes before a document, and each filter is enough.
    place.write("d/d.md", "# D\n");
    place.write("d/f.md", "---\nk: 1\n---\n# F\n");
    place.run(&["ingest"]).success();
    assert_eq!(contents(&["--under", "d"]).len(), 4);
    assert_eq!(contents(&["--where", "k = 1"]), ["---\nk: 1\n---\n# F\n"]);
    assert_eq!(place.run(&["context", "--collection", "none"]).ends(2).code(), "USAGE");
    // A question is answered in the same place.
    let found = place.run(&["context", "--query", "steps", "--under", "a.md::Setup"]).success();
    assert_eq!(found.json()["items"][0]["selector"], "a.md::heading:h2[0]");
}

#[test]
fn a_glob_is_a_glob_before_a_part_of_a_title() {
    let title = "Files *.md in d";
    let text = format!("# {title}\n\nneedle\n\n- [ ] first\n");
    let place = Place::ingested(&[
        ("a.md", &*text),
        ("b.md", "# B\n\nneedle\n\n- [ ] second\n"),
        ("c[d].md", "# C\n\nneedle\n"),
        ("cd.md", "# D\n\nneedle\n"),
    ]);
    let found = |command: &[&str]| files(&place.run(command).success().json());
    let all = ["a.md", "b.md", "c[d].md", "cd.md"];
    assert_eq!(found(&["tasks", "*.md"]), all[..2]);
    assert_eq!(found(&["tasks", "--under", "[ab].md"]), all[..2]);
    assert_eq!(found(&["search", "-e", "needle", "--under", "*.md"]), all);
    assert_eq!(found(&["search", "-e", "needle", "--under", "./*.md"]), all);
    assert_eq!(found(&["find", "*", "--under", "*.md"]), all);
    assert_eq!(found(&["context", "--under", "?.md"]), all[..2]);
    // A document of that name, a title that is no glob, and a title in a document are what they were.
    assert_eq!(found(&["find", "*", "--under", "c[d].md"]), ["c[d].md"]);
    assert_eq!(found(&["tasks", "--under", "s *.md in"]), ["a.md"]);
    assert_eq!(found(&["tasks", "--under", "a.md::*.md in"]), ["a.md"]);
    place.write("e.md", "# *.md\n\nneedle\n");
    place.run(&["ingest"]).success();
    let both = place.run(&["search", "-e", "needle", "--under", "*.md"]).success().json();
    assert_eq!(files(&both).len(), 5);
    assert_eq!(both["warnings"][0]["code"], "SHADOWED_TITLE", "{both}");
    let title = place.run(&["search", "-e", "needle", "--under", "/*.md"]).success().json();
    assert_eq!(files(&title), ["e.md"]);
}

#[test]
fn a_place_and_a_folder_to_search_are_not_combined() {
    let place = Place::ingested(&[("docs/a.md", "# A\n\n## One\n"), ("other/o.md", "# O\n")]);
    for names in [&["One"][..], &["docs/a.md::One"], &["docs/a.md", "docs/a.md::One"]] {
        let answer = place.run(&[&["toc"], names, &["--under", "other"]].concat());
        assert_eq!(answer.ends(2).code(), "USAGE", "{names:?}");
    }
    place.run(&["toc", "docs/a.md", "--under", "docs"]).success();
}

#[test]
fn toc_and_index_read_an_address_as_other_commands_do() {
    let text = "---\ntitle: The Book\n---\n# A\n\n## Setup of it\n\n### C\n\n## D\n";
    let place = Place::ingested(&[("a.md", text), ("b.md", "# B\n\n## D\n"), ("x/c.md", "# X\n")]);
    let printed = place.run(&["find", "Setup of it", "-f", "text"]).success().text();
    let titles = |name: &str| {
        let toc = place.run(&["toc", name, "-f", "text"]).success().text();
        let title = |line: &str| line.trim_start().starts_with('#').then(|| line.trim().to_owned());
        toc.lines().filter_map(title).collect::<Vec<_>>()
    };
    let setup = titles("a.md::heading:h2[0]");
    assert_eq!(setup.len(), 2, "{setup:?}");
    for name in ["Setup of it", "a.md#setup-of-it", "a.md:6", printed.trim_end()] {
        assert_eq!(titles(name).first(), setup.first(), "{name}");
        let index = place.run(&["index", name]).success().json();
        assert_eq!(index["documents"].as_array().unwrap().len(), 1, "{name} {index}");
        assert_eq!(index["documents"][0]["headings"][0]["text"], "Setup of it", "{name}");
        let toc = place.run(&["toc", name]).success().json();
        assert_eq!(toc["file"], "a.md", "{name} {toc}");
    }
    // An answer names the document if the address does not.
    assert!(
        place.run(&["toc", "Setup of it", "-f", "text"]).success().text().starts_with("a.md\n")
    );
    assert!(place.run(&["toc", "a.md:6", "-f", "text"]).success().text().starts_with("  ## "));
    assert_eq!(titles("The Book").len(), 4);
    assert_eq!(titles("heading:h2[0]").len(), 3);
    let both = place.run(&["index", "x", "Setup of it"]).success().json();
    let names: Vec<&Value> = both["documents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|document| &document["namespace"])
        .collect();
    assert_eq!(names, ["x/c.md", "a.md"], "{both}");
    let several = place.run(&["toc", "D"]).ends(1).json();
    assert_eq!(several["unresolved_selectors"][0]["code"], "AMBIGUOUS", "{several}");
    let some = place.run(&["index", "Setup of it", "nothing of this name"]).ends(3).json();
    assert_eq!(some["unresolved_selectors"].as_array().unwrap().len(), 1, "{some}");
}

#[test]
fn a_name_that_is_given_twice_is_explained_once() {
    let place = Place::ingested(&[("x/lib/a.md", "# A\n"), ("b.md", "# lib\n")]);
    for list in ["toc", "index", "code", "links check"] {
        let mut command: Vec<&str> = list.split(' ').collect();
        command.extend(["lib", "lib", "no", "no"]);
        let json = place.run(&command).json();
        assert_eq!(json["warnings"][0]["code"], "SHADOWED_TITLE", "{json}");
        assert!(json["warnings"][1].is_null(), "{json}");
        assert_eq!(json["unresolved_selectors"].as_array().unwrap().len(), 1, "{json}");
    }
}

#[test]
fn parameters_that_leave_a_document_whole_make_no_part_of_it() {
    let place = Place::ingested(&[("a.md", "# A\n\n[b](b.md)\n"), ("b.md", "# B\n")]);
    let item = |address: &str| {
        let context = ["context", "--under", address, "--with-body", "-f", "records"];
        place.run(&context).success().text()
    };
    for whole in ["a.md::*?full=true", "a.md::*?part=all"] {
        assert_eq!(item(whole), item("a.md"), "{whole}");
        let links = place.run(&["links", "list", whole, "--direction", "out"]).success().json();
        assert_eq!(links["edges"].as_array().unwrap().len(), 1, "{whole}");
        let leading = ["links", "list", &whole.replace("a.md", "b.md"), "--direction", "in"];
        assert_eq!(place.run(&leading).success().json()["edges"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn a_folder_is_meant_before_a_document_whose_path_only_ends_with_the_name() {
    let place = Place::ingested(&[
        ("docs/openclaw/a.md", "# A\n\nneedle\n"),
        ("docs/cli/openclaw.md", "# B\n\nneedle\n"),
        ("one/b.md", "# C\n\nneedle\n"),
        ("two/one.md", "# D\n\nneedle\n"),
        ("one.md", "# E\n\nneedle\n"),
    ]);
    let files = |under: &str| -> Vec<String> {
        let hits = place.run(&["search", "-e", "needle", "--under", under]).success().json();
        let hits = hits["hits"].as_array().unwrap().clone();
        hits.iter().map(|hit| hit["file"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(files("openclaw"), ["docs/openclaw/a.md"]);
    assert_eq!(files("openclaw.md"), ["docs/cli/openclaw.md"]);
    assert_eq!(files("one"), ["one/b.md"]);
}
