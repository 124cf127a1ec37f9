//! `search`: words, filters, context lines, and an index that follows the store or is rebuilt.

use serde_json::{Value, json};

use crate::harness::{Answer, Place, selectors};

fn files(answer: &Answer) -> Vec<String> {
    let json = answer.json();
    let hits = json["hits"].as_array().unwrap();
    hits.iter().map(|hit| hit["file"].as_str().unwrap().to_owned()).collect()
}

/// `file:line` of each hit.
fn places(answer: &Answer) -> Vec<String> {
    let json = answer.json();
    let hits = json["hits"].as_array().unwrap();
    hits.iter().map(|hit| format!("{}:{}", hit["file"].as_str().unwrap(), hit["line"])).collect()
}

fn warnings(answer: &Answer) -> Vec<String> {
    let json = answer.json();
    let warnings = json["warnings"].as_array().cloned().unwrap_or_default();
    warnings.iter().map(|warning| warning["code"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_section_a_person_wants_is_first() {
    let place = Place::with_fixtures();
    for (query, heading) in [
        ("installing windows", "Installing on Windows"),
        ("zweihander", "Finding things"),
        ("ZWEIHÄNDER", "Finding things"),
        ("get_slice", "get_slice and friends"),
        ("getSubSlice", "get_slice and friends"),
        ("sub slice", "get_slice and friends"),
        ("needle_in_code", "get_slice and friends"),
        ("c++", "C++ and C#"),
        ("c#", "C++ and C#"),
        ("std::vector<bool>", "C++ and C#"),
        ("搜索", "全文搜索"),
        ("搜", "全文搜索"),
        ("擎", "全文搜索"),
        ("搜索引擎", "全文搜索"),
        ("한국어", "全文搜索"),
        ("🎉", "Emoji 🎉"),
        ("naive", "Emoji 🎉"),
        ("nai\u{308}ve", "Emoji 🎉"),
        ("\"run it\"", "Installing on Windows"),
        ("uninst*", "Uninstalling"),
        ("title:uninstalling", "Uninstalling"),
        ("code:needle_in_code", "get_slice and friends"),
        ("+windows NOT reverse", "Installing on Windows"),
        ("reverse AND windows", "Uninstalling"),
        ("tags:searching", "Finding things"),
    ] {
        let answer = place.run(&["search", query, "-g", "search.md"]).success().json();
        let path = answer["hits"][0]["heading_path"].as_array().unwrap();
        assert_eq!(path.last().unwrap(), heading, "{query}");
    }
    for query in ["+windows NOT installing NOT installer", "nowheretobefound", "title:reverse"] {
        place.run(&["search", query, "-g", "search.md"]).ends(1);
    }
}

#[test]
fn a_hit_has_its_line_and_its_addresses() {
    let place = Place::ingested(&[("a.md", "# One\n\nfirst\n\n## Two\n\nx\n\n- a\n- é needle\n")]);
    let answer = place.run(&["search", "-F", "needle"]).success().json();
    let hit = &answer["hits"][0];
    assert_eq!(hit["selector"], "a.md::heading:h2[0]/block:list[0]/item[1]/block:paragraph[0]");
    assert_eq!(hit["section"], "a.md::heading:h2[0]");
    assert_eq!(hit["heading_path"], serde_json::json!(["One", "Two"]));
    assert_eq!((hit["line"].as_u64(), hit["column"].as_u64()), (Some(10), Some(5)));
    assert_eq!((hit["byte_start"].as_u64(), hit["byte_end"].as_u64()), (Some(34), Some(40)));
    assert_eq!(hit["text"], "- é needle");
    assert_eq!(answer["truncated"], false);
    let text = place.run(&["search", "needle", "-f", "text"]).success().text();
    assert_eq!(text, "a.md:7-10  One > Two\nx\n\n- a\n- é needle\n");
    let line = place.run(&["search", "needle", "-f", "text", "--passage", "0"]).success().text();
    assert_eq!(line, "a.md:10:5:- é needle\n");
    assert!(place.run(&["search", "needle"]).json()["hits"][0]["score"].as_f64().unwrap() > 0.0);
}

#[test]
fn a_title_without_text_is_printed_like_other_hits_of_words() {
    let place = Place::ingested(&[("a.md", "# main alpha\n")]);
    let text = |arguments: &[&str]| {
        place.run(&[&["search", "-f", "text"], arguments].concat()).success().text()
    };
    assert_eq!(text(&["alpha"]), "a.md:1-1  main alpha\n");
    assert_eq!(text(&["-F", "alpha"]), "main alpha\na.md:1:8:# main alpha\n");
    assert_eq!(text(&["alpha", "--passage", "0"]), "a.md:1:8:# main alpha\n");
}

/// Queries that are not valid, or that make other programs fail.
const AWKWARD: &[&str] = &[
    "\"",
    "'",
    "\"open",
    "((",
    "))",
    "AND",
    "OR",
    "NOT",
    "AND AND",
    "a AND",
    "-",
    "--",
    "+",
    "+ +",
    "c++",
    "c#",
    "f#",
    ".net",
    "foo.bar",
    "@a",
    "#t",
    "#",
    ":",
    "::",
    "a:b",
    "title:",
    "title: x",
    "nofield:word",
    "*",
    "**",
    "a*b",
    "?",
    "[",
    "]",
    "[a TO b]",
    "{",
    "{a TO b}",
    "IN [a b]",
    "^",
    "x^",
    "x^2",
    "x^-1",
    "~",
    "\"a b\"~",
    "\"a b\"~2",
    "/re/",
    "\\",
    "\\\"",
    "C:\\x",
    "\u{1}",
    "a\u{7}b",
    "\u{1b}[31m",
    "🎉",
    "👩‍👩‍👧",
    "中",
    "中文",
    "中文的搜索引擎",
    "ｆｕｌｌ",
    "get_slice",
    "__init__",
    "std::vector<bool>",
    "operator<<",
    "a->b",
    "a && b",
    "a || b",
    "!a",
    "a != b",
    "1.2.3",
    "1e10",
    "http://a.b/c?d=e&f",
    "user@example.com",
    "$HOME",
    "%PATH%",
    "`code`",
    "~~~",
    "---",
    "===",
    "|",
    "<div>",
    "&amp;",
    "key: value",
    "don't",
    "‘x’",
    "«x»",
    "e.g.",
    "x,y;z",
    "tags:",
    "tags:#x",
    "code:\"fn\"",
    "\u{feff}x",
    "\u{200b}",
    "\u{202e}abc",
    "ﬁ",
    "ǆ",
    "İ",
    "ß",
    "ſ",
    "K",
    " ",
    "",
    "\t\n",
];

#[test]
fn awkward_queries_are_answered() {
    let place = Place::with_fixtures();
    let long = "word ".repeat(2000);
    let deep = "(".repeat(5000);
    let queries = AWKWARD.iter().copied().chain([long.as_str(), &deep]);
    assert!(AWKWARD.len() >= 100);
    for query in queries {
        let answer = place.run(&["search", "--", query]);
        assert!(answer.status < 2, "{query:?}: {}", answer.text());
        assert!(answer.stderr.is_empty(), "{query:?}: {}", answer.stderr);
        let json = answer.json();
        let count = json["hits"].as_array().unwrap().len();
        assert_eq!(answer.status, i32::from(count == 0), "{query:?}");
    }
    // The answer says how an unusual query was read.
    for (query, code) in [
        ("", "EMPTY_QUERY"),
        ("->", "NO_WORDS"),
        ("-reverse", "NOT_EXCLUDED"),
        ("windows NOT reverse", "EXCLUDES"),
        ("\"open", "QUERY_AS_WORDS"),
        ("\"first folder\"", "LOOSENED"),
    ] {
        let answer = place.run(&["search", "--", query]);
        assert_eq!(warnings(&answer), [code], "{query}");
    }
    let documents = place.run(&["status"]).json()["documents"].clone();
    let empty = place.run(&["search", " ", "--explain"]).ends(1).json();
    assert_eq!(
        empty["explanation"],
        serde_json::json!({ "method": "words", "trigrams": 0, "candidates": 0, "documents": documents })
    );
    let text = place.run(&["search", "", "-f", "text"]).ends(1).text();
    assert!(!text.contains("sections have"), "{text}");
    let long = format!("\"{}", "word ".repeat(400));
    let answer = place.run(&["search", &long]).json();
    let message = answer["warnings"][0]["message"].as_str().unwrap();
    assert!(message.starts_with("\"\\\"word word") && message.len() < 200, "{message}");
    assert_eq!(places(&place.run(&["search", "::<"]).ends(1)).len(), 0);
    assert_eq!(places(&place.run(&["search", "(sta"]).ends(1)).len(), 0);
    let literal = place.run(&["search", "|--|"]);
    assert!(literal.status < 2);
}

#[test]
fn options_are_words_and_only_not_excludes() {
    let place = Place::ingested(&[
        ("hash.md", "# Hash\n\nGives the hash of a file with `-Algorithm SHA256`.\n"),
        ("git.md", "# Git\n\nShows changes without colors: `git diff --no-color`.\n"),
        ("list.md", "# List\n\nThe list of tables.\n"),
    ]);
    let found = |query: &str| files(&place.run(&["search", "--", query]));
    assert_eq!(found("-Algorithm"), ["hash.md"]);
    assert_eq!(found("hash -Algorithm"), ["hash.md"]);
    assert_eq!(found("git diff --no-color"), ["git.md"]);
    assert_eq!(found("--no-color"), ["git.md"]);
    assert_eq!(found("list - tables"), ["list.md"]);
    assert_eq!(found("list --tables"), ["list.md"]);
    assert!(found("hash NOT algorithm").is_empty());
    assert_eq!(found("hash NOT nothing"), ["hash.md"]);
    let answer = place.run(&["search", "--", "hash -Algorithm"]).json();
    assert_eq!(answer["warnings"][0]["code"], "NOT_EXCLUDED");
    assert!(answer["warnings"][0]["message"].as_str().unwrap().contains("NOT Algorithm"));
    assert!(warnings(&place.run(&["search", "--", "git --no-color"])).is_empty());
}

#[test]
fn inflected_words_are_found_below_exact_matches() {
    let place = Place::ingested(&[
        ("a.md", "# One\n\nFolders can be shared by all users here.\n"),
        ("b.md", "# Two\n\nA folder that users share by name here.\n"),
        ("c.md", "# Three\n\nSharp tools, io and cor.\n"),
        ("d.md", "# Four\n\nCall `get_users` on iOS, with CORS.\n"),
    ]);
    let found = |query: &str| files(&place.run(&["search", query]));
    assert_eq!(found("share"), ["b.md", "a.md"]);
    assert_eq!(found("shared"), ["a.md", "b.md"]);
    assert_eq!(found("sharing folders"), ["a.md", "b.md"]);
    assert_eq!(found("CORS"), ["d.md"], "a name in capitals is not inflected");
    assert_eq!(found("iOS"), ["d.md"]);
    let found_in_code = |query: &str| warnings(&place.run(&["search", query]));
    assert_eq!(found_in_code("get_user"), ["LOOSENED"], "an identifier is not inflected");
    assert_eq!(found("\"shares\""), [""; 0], "nor is a quoted word");
    assert_eq!(found("share NOT shared"), ["b.md"], "nor is an excluded word");
    let hit = &place.run(&["search", "sharing"]).json()["hits"][0];
    assert_eq!(hit["line"], 3, "the line with another form of the word");
}

#[test]
fn other_forms_of_words_of_other_languages_are_found() {
    let place = Place::ingested(&[
        (
            "de.md",
            "# Rechte\n\nVor dem Start wird ein Einwilligungsbanner angezeigt, auch in Notizen.\n",
        ),
        ("ru.md", "# Работа\n\nПереименование заметками не предусмотрено.\n"),
        ("es.md", "# Ajustes\n\nGuarda las configuraciones antes de salir.\n"),
        ("en.md", "# Other\n\nThe config is notional.\n"),
    ]);
    let found = |query: &str| files(&place.run(&["search", query]));
    assert_eq!(found("Wie kann ich hier eine Einwilligung bekommen?"), ["de.md"]);
    assert_eq!(found("Wo kann ich eine Notiz von mir finden?"), ["de.md"]);
    assert_eq!(found("Rechtë"), ["de.md"], "English has no such letter");
    assert_eq!(found("заметка"), ["ru.md"]);
    assert_eq!(found("¿Cómo puedo cambiar la configuración de mi cuenta?"), ["es.md"]);
    assert_eq!(found("\"заметка\""), [""; 0], "a quoted word is looked up as it is written");
    let hit = &place.run(&["search", "заметка"]).json()["hits"][0];
    assert_eq!(hit["line"], 3, "the line with the other form");
}

#[test]
fn stop_words_count_only_without_other_words() {
    let place = Place::ingested(&[
        ("a.md", "# How do I\n\nWhat can I do, and how do I do it? When, where and why?\n"),
        ("b.md", "# Vaults\n\nA vault moves to another disk.\n"),
        ("c.md", "# Plans\n\nStep-by-step plans.\n"),
    ]);
    let found = |query: &str| files(&place.run(&["search", query]));
    assert_eq!(found("how do I move my vault?"), ["b.md"]);
    assert_eq!(found("how do I"), ["a.md"]);
    assert_eq!(found("\"how do I\" vault").len(), 2, "in quotes they count");
    assert_eq!(found("+how vault"), ["a.md"], "after + they count, too");
    assert_eq!(found("step-by-step"), ["c.md"]);
}

#[test]
fn the_name_of_the_only_folder_counts_only_without_other_words() {
    let place = Place::ingested(&[
        (
            "lantern/about.md",
            "# About\n\nLantern lights lantern rooms, and a lantern keeps time.\n",
        ),
        ("lantern/fuel.md", "# Fuel\n\nThe tank keeps oil for nine hours.\n"),
    ]);
    let first = |query: &str| {
        files(&place.run(&["search", query, "--under", "lantern"]).success()).first().cloned()
    };
    assert_eq!(first("How long keeps a lantern burning?").as_deref(), Some("lantern/fuel.md"));
    for query in ["lantern", "\"lantern\" keeps", "+lantern keeps", "lantern frobnicate"] {
        assert_eq!(first(query).as_deref(), Some("lantern/about.md"), "{query}");
    }
}

#[test]
fn joined_words_are_found_separately_and_rank_higher_together() {
    let place = Place::ingested(&[
        ("a.md", "# A\n\nOnly these files; read all of them here.\n"),
        ("b.md", "# B\n\nAll of these files here are read-only.\n"),
    ]);
    let found = |query: &str| files(&place.run(&["search", query]));
    assert_eq!(found("read-only"), ["b.md", "a.md"]);
    assert_eq!(found("read-only files"), ["b.md", "a.md"]);
    assert_eq!(found("+read-only"), ["b.md"]);
    assert_eq!(found("\"read-only\""), ["b.md"]);
}

#[test]
fn a_word_that_stands_only_in_code_counts_as_much_as_words_of_text() {
    let place = Place::new();
    let code =
        "let gate = open();\nraise_portcullis(gate);\n".to_owned() + &"step(gate);\n".repeat(20);
    place.write("gate.md", format!("# Gate\n\nHow it is done.\n\n```\n{code}```\n"));
    for number in 0..40 {
        let text = format!("# Part {number}\n\nA compile error of part {number} has a reason.\n");
        place.write(&format!("{number}.md"), text);
    }
    place.write("step.md", "# Step\n\nWhat a step is.\n");
    place.run(&["ingest"]).success();
    let first = |query: &str| files(&place.run(&["search", query]).success()).first().cloned();
    assert_eq!(first("raise_portcullis compile error").as_deref(), Some("gate.md"));
    assert_eq!(first("step").as_deref(), Some("step.md"), "code only uses this word");
}

#[test]
fn the_parts_of_a_name_that_no_section_has_are_searched() {
    let place = Place::ingested(&[
        ("vector.md", "# Vector\n\n## push_back\n\nAppends a copy at the end.\n"),
        ("speed.md", "# Speed\n\nWhat speed is, and how speed is measured.\n"),
        ("queue.md", "# Queue\n\nThe speed of `queue.push`.\n"),
    ]);
    let search = |query: &str| place.run(&["search", query]).success();
    let answer = search("std::vector::push_back speed");
    assert_eq!(files(&answer)[0], "vector.md");
    let message = answer.json()["warnings"][0]["message"].clone();
    assert_eq!(message, "no section has std::vector::push_back; the parts are searched");
    let answer = search("queue.push speed");
    assert_eq!(files(&answer)[0], "queue.md");
    assert_eq!(warnings(&answer), [""; 0], "a section has the name");
    assert_eq!(files(&search("speed push_back_now"))[0], "vector.md", "its words");
    assert_eq!(files(&search("speed pushBack"))[0], "vector.md", "another spelling");
    assert_eq!(files(&search("speed std::vector::pushBack"))[0], "vector.md", "both");
    for query in ["\"vector.push\" speed", "speed NOT vector.push", "speed title:vector.push"] {
        assert!(!files(&search(query)).contains(&"vector.md".to_owned()), "{query}");
    }
    place.run(&["search", "speed +vector.push"]).ends(0);
    let also = place.run(&["search", "speed", "--also", "vector::push_back how"]).success();
    assert_eq!(warnings(&also), ["LOOSENED"]);
}

#[test]
fn front_matter_is_found_by_its_words() {
    let place = Place::new();
    for number in 0..30 {
        let text = format!("---\nauthor: Someone\n---\n## Abstract\n\nFees of chain {number}.\n");
        place.write(&format!("eip-{number}.md"), text);
    }
    place.write(
        "eip-1559.md",
        "---\ntitle: Fee market change for ETH 1.0 chain\ndescription: A transaction pricing mechanism\n\
         ---\n## Abstract\n\nA base fee for each block.\n\n## Motivation\n\nNone.\n",
    );
    place.write("only.md", "---\ntitle: Nothing below\n---\n");
    place.run(&["ingest"]).success();
    let first = |query: &[&str]| {
        let answer = place.run(&[&["search"], query].concat()).success().json();
        let hit = &answer["hits"][0];
        (hit["file"].as_str().unwrap().to_owned(), hit["selector"].as_str().unwrap().to_owned())
    };
    let (file, selector) = first(&["Fee market change for ETH 1.0 chain"]);
    assert_eq!(file, "eip-1559.md");
    assert!(
        !selector.contains("@frontmatter"),
        "the section that the page begins with: {selector}"
    );
    let in_front_matter = ("eip-1559.md".to_owned(), "eip-1559.md::@frontmatter".to_owned());
    assert_eq!(first(&["transaction pricing mechanism"]), in_front_matter);
    assert_eq!(first(&["meta:pricing"]), in_front_matter);
    assert_eq!(first(&["fee market", "--type", "frontmatter"]), in_front_matter);
    assert_eq!(first(&["nothing below"]).0, "only.md");
    place.run(&["search", "meta:abstract"]).ends(1);
    let answer = place.run(&["search", "someone", "--type", "paragraph"]).ends(1).json();
    assert_eq!(answer["hits"].as_array().unwrap().len(), 0);
    let selected = place.run(&["select", "eip-1559.md::@frontmatter"]).success().json();
    assert!(selected["results"][0]["content"].as_str().unwrap().contains("pricing"));
}

#[test]
fn an_empty_root_is_not_a_hit() {
    let place = Place::ingested(&[
        ("unique-name.md", "## One\n\nText.\n\n## Two\n\nMore.\n"),
        ("empty.md", ""),
        ("intro.md", "Text before.\n\n# Heading\n"),
    ]);
    let hits = |query: &str| {
        let answer = place.run(&["search", query]).json();
        let hits = answer["hits"].as_array().unwrap().clone();
        hits.iter().map(|hit| hit["section"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(hits("unique name"), ["unique-name.md::heading:h2[0]"]);
    assert!(hits("empty").is_empty());
    assert_eq!(hits("intro").len(), 1, "the text before the first heading");
}

#[test]
fn a_word_that_one_wording_excludes_is_in_no_hit() {
    let place = Place::ingested(&[
        ("a.md", "# Mirror\n\nfolders on linux\n"),
        ("b.md", "# Mirror\n\nfolders on windows\n"),
        ("c.md", "# Sync\n\ndrives on windows\n"),
    ]);
    for wordings in
        [["sync NOT windows", "--also", "mirror"], ["mirror", "--also", "sync NOT windows"]]
    {
        let found = place.run(&[&["search"], &wordings[..]].concat()).success();
        assert_eq!(files(&found), ["a.md"], "{wordings:?}");
        let warnings = &found.json()["warnings"];
        assert_eq!(warnings[0]["message"], "sections with windows are left out");
        let counted = place.run(&[&["search", "-l"], &wordings[..]].concat()).success().json();
        assert_eq!(counted["files"], serde_json::json!(["a.md"]), "{wordings:?}");
    }
}

#[test]
fn the_first_wording_counts_no_more_than_the_others() {
    let place = Place::ingested(&[
        ("a.md", "# Mirror\n\nfolders on linux\n"),
        ("b.md", "# Sync\n\ndrives on windows\n"),
    ]);
    for wordings in [["sync", "--also", "mirror"], ["mirror", "--also", "sync"]] {
        let found = place.run(&[&["search"], &wordings[..]].concat()).success();
        assert_eq!(files(&found), ["a.md", "b.md"], "{wordings:?}");
    }
}

#[test]
fn words_are_as_rare_as_they_are_in_the_folder_that_is_searched() {
    let place = Place::new();
    for number in 0..30 {
        place.write(
            &format!("a/f{number}.md"),
            format!("# F{number}\n\nThe pipeline is number {number}.\n"),
        );
        place.write(
            &format!("b/g{number}.md"),
            format!("# G{number}\n\nA container, number {number}.\n"),
        );
    }
    place.write(
        "a/one.md",
        "# One\n\nEach step gets a container of its own, and more words follow here.\n",
    );
    place.write("a/two.md", "# Two\n\nA pipeline has a pipeline.\n");
    place.run(&["ingest"]).success();
    let first = |arguments: &[&str]| {
        files(&place.run(&[&["search", "container pipeline"], arguments].concat()).success())
            .first()
            .cloned()
    };
    assert_eq!(first(&["--under", "a"]).as_deref(), Some("a/one.md"));
    assert_eq!(first(&["-g", "a/**"]).as_deref(), Some("a/one.md"));
    assert_ne!(
        first(&[]).as_deref(),
        Some("a/one.md"),
        "both words are as rare in the whole store"
    );
    for (path, tag) in [("c/one.md", "zeta"), ("c/two.md", "zeta"), ("c/z.md", "eta")] {
        place.write(path, format!("---\ntags: [{tag}]\n---\n# {tag} {path}\n"));
    }
    place.run(&["ingest"]).success();
    let json = place.run(&["search", "tags:eta OR tags:zeta", "--under", "c"]).success();
    assert_eq!(files(&json), ["c/z.md", "c/one.md", "c/two.md"], "few sections have tags");
}

#[test]
fn a_folder_filter_searches_all_documents_below_it() {
    let place = Place::new();
    for folder in ["a", "a/b", "ab", "c"] {
        place.write(&format!("{folder}/one.md"), "# T\n\nneedle\n");
    }
    place.run(&["ingest"]).success();
    let found = |arguments: &[&str]| {
        files(&place.run(&[&["search", "needle", "--keep-duplicates"], arguments].concat()))
    };
    assert_eq!(found(&["--under", "a"]), ["a/b/one.md", "a/one.md"]);
    assert_eq!(found(&["--under", "a/"]), ["a/b/one.md", "a/one.md"]);
    assert_eq!(found(&["--under", "a/b", "--under", "c"]), ["a/b/one.md", "c/one.md"]);
    assert_eq!(found(&["--under", "a/b", "--under", "c/one.md::heading:h1[0]"]).len(), 2);
    assert_eq!(found(&["--under", "a", "-g", "b/*"]), [""; 0]);
    assert_eq!(found(&["--under", "a", "-g", "a/b/*"]), ["a/b/one.md"]);
}

#[test]
fn patterns_have_the_syntax_of_the_regex_crate() {
    let place = Place::ingested(&[
        ("a.md", "# T\r\n\r\nend of line\r\nfoo bar\r\n"),
        ("b.md", "# U\n\nfoobar FOO\n\n```\nx\ny\n```\n"),
    ]);
    let found = |arguments: &[&str]| places(&place.run(&[&["search"], arguments].concat()));
    assert_eq!(found(&["-e", "line$"]), ["a.md:3"]);
    assert_eq!(found(&["-e", "^foo"]), ["a.md:4", "b.md:3"]);
    assert_eq!(found(&["-w", "-e", "foo"]), ["a.md:4"]);
    assert_eq!(found(&["-i", "-w", "-F", "foo"]), ["a.md:4", "b.md:3"]);
    assert_eq!(found(&["-e", "bar$", "-e", "end"]), ["a.md:3", "a.md:4"]);
    assert_eq!(found(&["-U", "-e", r"x\ny"]), ["b.md:6"]);
    assert_eq!(found(&["-U", "-e", r"U\n\nfoo"]), ["b.md:1"]);
    assert!(found(&["-U", "-e", r"T[\s\S]*U"]).is_empty(), "not across sections");
    for pattern in [r"x\ny", r"x[\r\n]y", r"[\r\n]+", r"x(\r|\n)y"] {
        let answer = place.run(&["search", "-e", pattern]).ends(1);
        assert_eq!(warnings(&answer), ["LINE_END"], "{pattern}");
    }
    for pattern in [r"line[a&&b]", r"line[^a]x", r"line\s\s"] {
        assert!(warnings(&place.run(&["search", "-e", pattern]).ends(1)).is_empty(), "{pattern}");
    }
    assert_eq!(found(&["-e", "-x|foo b"]), ["a.md:4"]);
    let only = place.run(&["search", "-o", "-i", "-e", "foo", "-f", "text"]).success().text();
    assert_eq!(only, "T\na.md:4:1:foo\nU\nb.md:3:1:foo\nb.md:3:8:FOO\n");
    for pattern in ["(", "[z-a]", r"(?=x)", r"(x)\1"] {
        let answer = place.run(&["search", "-e", pattern]).ends(2);
        assert_eq!(answer.code(), "INVALID_PATTERN", "{pattern}");
        assert!(answer.text().contains("at character"), "{}", answer.text());
    }
    for pattern in ["(?:a{1,100}){100}{100}", &"y".repeat(5000)] {
        assert_eq!(place.run(&["search", "-e", pattern]).ends(2).code(), "LIMIT");
    }
    assert_eq!(place.run(&["search", "-w", "foo"]).ends(2).code(), "USAGE");
    assert_eq!(place.run(&["search"]).ends(2).code(), "USAGE");
}

#[test]
fn context_lines_counts_and_files_are_printed() {
    let place = Place::ingested(&[("a.md", "one\ntwo\nhit\nfour hit\nfive\n"), ("b.md", "hit\n")]);
    let run = |arguments: &[&str]| place.run(&[&["search", "-F", "hit"], arguments].concat());
    let answer = run(&["-C", "1", "--limit", "1"]).success().json();
    assert_eq!(answer["hits"][0]["before"], serde_json::json!(["two"]));
    assert_eq!(answer["hits"][0]["after"], serde_json::json!(["four hit"]));
    assert_eq!(answer["truncated"], true);
    let text = run(&["-B", "1", "-A", "9", "-g", "a.md", "--limit", "1", "-f", "text"]).text();
    assert!(text.starts_with("a.md-2-two\na.md:3:1:hit\na.md-4-four hit\na.md-5-five\nmore: "));
    let counts = run(&["-c"]).success().json();
    assert_eq!(
        counts,
        serde_json::json!({ "counts": [{ "file": "a.md", "count": 2 }, { "file": "b.md", "count": 1 }],
            "total": 3, "truncated": false })
    );
    let files = run(&["-l"]).success().json();
    assert_eq!(files, serde_json::json!({ "files": ["a.md", "b.md"], "truncated": false }));
    // They ignore a limit of hits, and a budget has a continuation.
    for query in [&["-F", "hit"][..], &["hit"]] {
        for form in ["-c", "-l"] {
            let all = place.run(&[&["search", form], query].concat()).success().json();
            let limited = ["search", form, "--limit", "1"];
            assert_eq!(place.run(&[&limited[..], query].concat()).success().json(), all);
        }
        let first = ["search", "-c", "--max-chars", "84"];
        let first = place.run(&[&first[..], query].concat()).success().json();
        assert_eq!(first["counts"].as_array().unwrap().len(), 1, "{first}");
        assert_eq!(first["total"], if query.len() == 2 { 3 } else { 2 });
        let next = first["next"].as_str().unwrap();
        let rest = ["search", "-l", "--after", next];
        let rest = place.run(&[&rest[..], query].concat()).success().json();
        let (one, other) = if query.len() == 2 { ("a.md", "b.md") } else { ("b.md", "a.md") };
        assert_eq!(first["counts"][0]["file"], one, "words: the best document comes first");
        assert_eq!(rest, serde_json::json!({ "files": [other], "truncated": false }));
    }
    let quiet = run(&["-q"]).success();
    assert!(quiet.stdout.is_empty());
    assert!(place.run(&["search", "-q", "-F", "none"]).ends(1).stdout.is_empty());
    for (arguments, status, problem) in [
        (&["--under", "nope"][..], 1, "nope: SELECTOR_NOT_FOUND"),
        (&["--under", "nope", "--under", "a.md"], 0, "nope: SELECTOR_NOT_FOUND"),
        (&["--under", "nope", "--db", ".mdsel.db"], 1, "`mdsel toc --db .mdsel.db --depth 0`"),
        (&["--where", "nope = 1"], 1, "UNKNOWN_KEY"),
    ] {
        let quiet = run(&[&["-q"], arguments].concat()).ends(status);
        let stderr = &quiet.stderr;
        assert!(quiet.stdout.is_empty());
        assert!(stderr.contains(problem), "{arguments:?}: {stderr}");
    }
    assert!(run(&["-q"]).stderr.is_empty());
    let words = place.run(&["search", "-c", "hit"]).success().json();
    assert_eq!(words["total"], 2, "a word search counts sections");
    assert_eq!(run(&["-C", "5000"]).ends(2).code(), "LIMIT");
    for command in [&["search", "hit"][..], &["context", "--query", "hit"]] {
        let passage = |chars: &str| place.run(&[command, &["--passage", chars]].concat());
        passage("20000").success();
        let refused = passage("20001").ends(2);
        assert_eq!(refused.code(), "LIMIT");
        assert!(refused.stderr.contains("largest-passage-chars"), "{}", refused.stderr);
    }
    for format in ["records", "ldmd"] {
        let refused = run(&["-A", "1", "-f", format]).ends(2);
        assert!(refused.stderr.contains("use -f text or json"), "{}", refused.stderr);
        run(&["-A", "0", "-f", format]).success();
        run(&["-A", "1", "-c", "-f", format]).ends(2);
    }
    let explained = run(&["--explain"]).success().json();
    assert_eq!(
        explained["explanation"],
        serde_json::json!({ "method": "trigrams", "trigrams": 1, "candidates": 2, "documents": 2 })
    );
    let scanned = place.run(&["search", "-e", "h.t", "--explain"]).success().json();
    assert_eq!(scanned["explanation"]["method"], "scan");
}

#[test]
fn a_count_of_words_has_each_section_that_duplicates_are_kept_of() {
    let place = Place::ingested(&[
        ("a.md", "---\nk: zebra\n---\n# A\n\nzebra here\n\n## B\n\nzebra there\n"),
        ("b.md", "---\ntitle: zebra\n---\n# A\n\nzebra here\n"),
    ]);
    let counted = place.run(&["search", "-c", "zebra"]).success().json();
    let all = ["search", "zebra", "--limit", "0", "--keep-duplicates"];
    let all = place.run(&all).success().json();
    let all = crate::harness::selectors(&all["hits"]);
    assert_eq!(counted["total"], all.len(), "{all:?}");
    assert!(all.contains(&"a.md::@frontmatter"), "{all:?}");
    let few = place.run(&["search", "zebra", "--limit", "0"]).success().json();
    assert!(!crate::harness::selectors(&few["hits"]).contains(&"a.md::@frontmatter"), "{few}");
}

#[test]
fn an_empty_match_is_between_characters() {
    let place = Place::ingested(&[("a.md", "aé日b\n")]);
    let counted = place.run(&["search", "-e", "", "-c"]).success().json();
    assert_eq!(counted["total"], 5);
    for options in [&["-e", "x*"][..], &["-e", "x*", "-U"]] {
        let found = place.run(&[&["search"], options].concat()).success().json();
        let hits = found["hits"].as_array().unwrap();
        let starts: Vec<_> = hits.iter().map(|hit| hit["byte_start"].as_u64().unwrap()).collect();
        assert_eq!(starts, [0, 1, 3, 6, 7], "{options:?}");
    }
}

#[test]
fn stressed_letters_belong_to_their_word() {
    let place = Place::ingested(&[
        ("a.md", "# A\n\nE[x]tract a [f]ile [v]erbosely.\n"),
        ("b.md", "# B\n\n**S**ave it. The index a[i] of `names[i]`.\n"),
    ]);
    for (query, file) in
        [("extract", "a.md"), ("verbosely", "a.md"), ("save", "b.md"), ("names", "b.md")]
    {
        let answer = place.run(&["search", query, "-f", "json"]).success().json();
        assert_eq!(answer["hits"][0]["file"], file, "{query}: {answer}");
    }
    let hit = &place.run(&["search", "extract"]).success().json()["hits"][0];
    assert_eq!((&hit["byte_start"], &hit["byte_end"]), (&5.into(), &14.into()), "{hit}");
}

#[test]
fn a_title_in_front_matter_counts_in_every_notation() {
    let body = "\n# Notes\n\nThe gizmo turns.\n";
    let place = Place::ingested(&[
        ("a.md", &*format!("---\ntitle: Flywheel\n---\n{body}")),
        ("b.md", &*format!("---\n'title': Flywheel\n---\n{body}")),
        ("c.md", &*format!("+++\ntitle=\"Flywheel\"\n+++\n{body}")),
        ("d.md", &*format!("---\n{{\n  \"title\": \"Flywheel\"\n}}\n---\n{body}")),
        ("e.md", &*format!("---\nsubject: other\n---\n{body}")),
    ]);
    let search = ["search", "flywheel gizmo", "--explain", "--keep-duplicates"];
    let answer = place.run(&search).success().json();
    let coverage = |file: &str| {
        let hits = answer["hits"].as_array().unwrap().iter();
        let mut hits = hits.filter(|hit| {
            hit["file"] == file && hit["line"] != 1 && hit["heading_path"][0] == "Notes"
        });
        hits.next().unwrap_or_else(|| panic!("{file}: {answer}"))["score_parts"]["coverage"].clone()
    };
    let expected = coverage("a.md");
    for file in ["b.md", "c.md", "d.md"] {
        assert_eq!(coverage(file), expected, "{file}");
    }
    assert!(expected.as_f64() > coverage("e.md").as_f64(), "{answer}");
}

#[test]
fn a_hit_names_the_wordings_that_found_it_as_they_were_numbered() {
    let place = Place::ingested(&[("a.md", "# A\n\nalpha\n"), ("b.md", "# B\n\nbeta\n")]);
    let search = |arguments: &[&str]| {
        let answer = place.run(&[&["search"], arguments].concat()).success().json();
        let hits = answer["hits"].as_array().unwrap().clone();
        let numbers = hits.into_iter().map(|mut hit| (hit["file"].take(), hit["queries"].take()));
        numbers.collect::<Vec<_>>()
    };
    let found = search(&["?!", "--also", "alpha", "--also", "beta"]);
    let expected = [("a.md", 1), ("b.md", 2)];
    let expected = expected.map(|(file, number)| (file.into(), serde_json::json!([number])));
    assert_eq!(found, expected);
    assert_eq!(search(&["?!", "--also", "beta"]), [("b.md".into(), serde_json::json!([1]))]);
    assert_eq!(search(&["beta"]), [("b.md".into(), serde_json::Value::Null)]);
}

#[test]
fn an_explanation_names_what_it_counts() {
    let place = Place::ingested(&[("a.md", "# A\n\none\n\n## B\n\none\n"), ("b.md", "# C\n")]);
    let last = |arguments: &[&str]| {
        let text = place.run(&[&["search", "--explain", "-f", "text"], arguments].concat());
        text.success().text().lines().last().unwrap().to_owned()
    };
    assert_eq!(last(&["one"]), "words: 2 sections of 2 documents, 0 trigrams");
    assert_eq!(last(&["-F", "one"]), "trigrams: 1 document of 2 documents, 1 trigram");
}

#[test]
fn the_beginning_of_a_word_of_a_path_is_found() {
    let place = Place::ingested(&[
        ("surveys/a.md", "# One\n"),
        ("b/sun.md", "# Two\n"),
        ("c.md", "# su\n"),
    ]);
    for (query, expected) in
        [("path:su*", &["b/sun.md", "surveys/a.md"][..]), ("path:sur*", &["surveys/a.md"])]
    {
        let found = place.run(&["search", query, "-l"]).success().json();
        assert_eq!(found["files"], serde_json::json!(expected), "{query}");
    }
    place.run(&["search", "path:sux*"]).ends(1);
}

#[test]
fn hits_across_lines_print_each_of_their_lines_once() {
    let place = Place::ingested(&[("m.md", "ab and a\nb end\n"), ("n.md", "x1 y\nx y x\ny\n")]);
    let text = |pattern| place.run(&["search", "-U", "-e", pattern, "-f", "text"]).success().text();
    assert_eq!(text(r"a\s?b"), "m.md:1:1:ab and a\nm.md:2:b end\n");
    assert_eq!(text(r"y\nx|x\ny"), "n.md:1:4:x1 y\nn.md:2:x y x\nn.md:3:y\n");
}

#[test]
fn contexts_that_touch_are_printed_together() {
    let text = "# T\n\none port\nmid\ntwo port\nend port\n\n## U\n\nport\n";
    let place = Place::ingested(&[("a.md", text)]);
    let text = |lines| {
        let command = ["search", "-e", "port", "-C", lines, "-f", "text"];
        place.run(&command).success().text()
    };
    let hits = "T\na.md-2-\na.md:3:5:one port\na.md-4-mid\na.md:5:5:two port\na.md:6:5:end port\n";
    assert_eq!(text("1"), format!("{hits}a.md-7-\n--\nT > U\na.md-9-\na.md:10:1:port\n"));
    let hits = hits.replacen("T\n", "T\na.md-1-# T\n", 1);
    let last = "a.md-7-\na.md-8-## U\nT > U\na.md-9-\na.md:10:1:port\n";
    assert_eq!(text("2"), hits + last);
}

#[test]
fn a_continuation_without_hits_ends_with_status_1() {
    let place = Place::ingested(&[("a.md", "# A\n\nneedle\n")]);
    for query in [&["needle"][..], &["-F", "needle"], &["needle", "-l"], &["-F", "needle", "-c"]] {
        let rest = [&["search"], query, &["--after", "1-9", "-f", "text"]].concat();
        let text = place.run(&rest).ends(1).text();
        assert!(text.starts_with("warning: LIST_PAST_END: "), "{query:?}: {text}");
        assert_eq!(text.lines().count(), 1, "{query:?}: {text}");
    }
}

#[test]
fn a_line_that_is_cut_says_so() {
    let line = format!("{}needle{}\n", "a ".repeat(300), " b".repeat(300));
    let place = Place::ingested(&[("a.md", &line)]);
    let text = place.run(&["search", "-F", "needle", "-f", "text"]).success().text();
    assert!(text.len() < 500 && text.ends_with(" b [...]\n"), "{text}");
    assert!(text.starts_with("a.md:1:601:[...] a a"), "{text}");
    let place = Place::ingested(&[("a.md", &format!("{line}needle\nlast\n"))]);
    let context = ["search", "-e", "^needle", "-C", "1"];
    let text = place.run(&[&context[..], &["-f", "text"]].concat()).success().text();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("a.md-1-a a") && lines[0].ends_with(" [...]"), "{text}");
    assert_eq!(lines[1..], ["a.md:2:1:needle", "a.md-3-last"]);
    let hit = &place.run(&context).success().json()["hits"][0];
    assert_eq!((&hit["context_cut"], &hit["text_cut"]), (&json!([1]), &json!(null)));
    // Only the end that is left out has a mark.
    let words = "word ".repeat(250);
    let place = Place::ingested(&[("a.md", &format!("START {words}\n{words}END\n"))]);
    for (pattern, before, after) in [
        ("START", json!(null), json!(true)),
        ("END", json!(true), json!(null)),
        (r"START[\w\s]*END", json!(null), json!(true)),
    ] {
        let query = ["search", "-U", "-e", pattern];
        let hit = &place.run(&query).success().json()["hits"][0];
        assert_eq!(hit["text_cut"], true, "{hit}");
        assert_eq!((&hit["text_cut_before"], &hit["text_cut_after"]), (&before, &after), "{hit}");
        let text = place.run(&[&query[..], &["-f", "text"]].concat()).success().text();
        assert_eq!(text.contains(":[...] "), before == true, "{text}");
        assert_eq!(text.ends_with(" [...]\n"), after == true, "{text}");
    }
}

#[test]
fn filters_apply_before_the_limit() {
    let place = Place::new();
    for number in 0..60 {
        place.write(
            &format!("{}/{number:02}.md", if number % 2 == 0 { "even" } else { "odd" }),
            format!(
                "---\ntags: [n{}, all]\n---\n# Top\n\nneedle\n\n## Low\n\n```\nneedle\n```\n",
                number % 3
            ),
        );
    }
    place.run(&["ingest"]).success();
    for query in [&["needle"][..], &["-F", "needle"]] {
        let all: &[&str] = if query.len() == 1 { &["--keep-duplicates"] } else { &[] };
        let count = |arguments: &[&str]| {
            let answer = place.run(&[&["search", "--limit", "0"], query, arguments, all].concat());
            let total = answer.json()["hits"].as_array().unwrap().len();
            let counted = place.run(&[&["search", "-c"], query, arguments].concat());
            assert_eq!(counted.json()["total"], total, "{query:?} {arguments:?}");
            total
        };
        assert_eq!(count(&[]), 120);
        assert_eq!(count(&["-g", "even/*"]), 60);
        assert_eq!(count(&["--level", "2"]), 60);
        assert_eq!(count(&["--type", "code"]), 60);
        assert_eq!(count(&["--type", "code", "--level", "1"]), 0);
        assert_eq!(count(&["--tag", "n1"]), 40);
        assert_eq!(count(&["--tag", "n1", "--tag", "ALL", "-g", "odd/*"]), 20);
        assert_eq!(count(&["--under", "odd"]), 60);
        assert_eq!(count(&["--under", "07.md"]), 2);
        assert_eq!(count(&["--under", "07.md#low"]), 1);
        assert_eq!(count(&["--under", "07.md::heading:h2[0]/block:code[0]"]), 1);
        assert_eq!(count(&["--under", "07.md::heading:h1[0]/block:code[0]"]), 1);
        // The globs match all, many and few of the best documents.
        for (globs, total) in [
            (&["-g", "*.md"][..], 120),
            (&["-g", "even/*", "-g", "!*0.md"], 48),
            (&["-g", "*3.md"], 12),
            (&["-g", "odd/5*"], 10),
            (&["--under", "odd", "-g", "*3.md"], 12),
            (&["-g", "none/*"], 0),
        ] {
            assert_eq!(count(globs), total, "{globs:?}");
            let selectors = |limit: &str| {
                let rest = ["search", "--limit", limit];
                let answer = place.run(&[&rest, query, globs, all].concat()).json();
                let hits = answer["hits"].as_array().unwrap().iter();
                hits.map(|hit| hit["selector"].to_string()).collect::<Vec<_>>()
            };
            let all = selectors("0");
            assert_eq!(selectors("5"), all[..all.len().min(5)], "{globs:?}");
        }
        let five = ["search", "--level", "2", "--limit", "5"];
        let limited = place.run(&[&five, query, all].concat());
        assert_eq!(limited.json()["hits"].as_array().unwrap().len(), 5);
        let nowhere = place.run(&[&["search"], query, &["--under", "none::root"]].concat()).ends(1);
        assert_eq!(nowhere.code(), "NAMESPACE_NOT_FOUND");
    }
}

#[test]
fn continuing_returns_every_hit_once() {
    let place = Place::new();
    for number in 0..23 {
        // More than an introduction to the section below.
        let text = format!("needle one {}", "and more ".repeat(9));
        let text = format!("# T\n\n{text}\n\n## U\n\nneedle two\n");
        place.write(&format!("{number:02}.md"), text);
    }
    place.run(&["ingest"]).success();
    let queries = [&["needle"][..], &["needle", "--keep-duplicates"], &["-F", "needle"]];
    for (query, count) in queries.into_iter().zip([2, 46, 46]) {
        let all = place.run(&[&["search"], query, &["--limit", "0"]].concat()).json();
        let all: Vec<Value> = all["hits"].as_array().unwrap().clone();
        assert_eq!(all.len(), count);
        let mut paged = Vec::new();
        let mut after = None::<String>;
        loop {
            let mut arguments = [&["search"], query, &["--limit", "7"]].concat();
            if let Some(after) = &after {
                arguments.extend(["--after", after]);
            }
            let answer = place.run(&arguments).json();
            paged.extend(answer["hits"].as_array().unwrap().clone());
            match answer["next"].as_str() {
                Some(next) => after = Some(next.to_owned()),
                None => break,
            }
        }
        assert_eq!(paged, all);
    }
}

#[test]
fn many_hits_on_a_line_take_linear_time() {
    let line = "ab ".repeat(250_000);
    let neighbors = format!("{0}\n{1}\n{0}\n", "x".repeat(4 << 20), "ab ".repeat(20_000));
    let place = Place::ingested(&[("line.md", &line), ("neighbors.md", &neighbors)]);
    for (file, context, hits) in [("line.md", "0", 250_000), ("neighbors.md", "1", 20_000)] {
        let arguments =
            ["search", "-F", "ab", "-g", file, "-o", "-C", context, "--limit", "0", "-f", "text"];
        let found = place.run_limited("-t 20", &arguments).success();
        assert_eq!(found.text().lines().filter(|line| line.ends_with(":ab")).count(), hits);
    }
}

#[test]
fn long_lines_are_cut_around_the_hit() {
    let line = format!("{}needle{}", "é ".repeat(5000), " x".repeat(5000));
    let place = Place::ingested(&[("a.md", &line)]);
    let answer = place.run(&["search", "-F", "needle"]).success().json();
    let hit = &answer["hits"][0];
    assert_eq!(hit["text_cut"], true);
    let text = hit["text"].as_str().unwrap();
    assert!(text.contains("needle") && text.chars().count() <= 400, "{text}");
    // The paragraph has many pages; the address names the one with the hit.
    let address = hit["selector"].as_str().unwrap();
    assert!(address.contains("page="), "{address}");
    let selected = place.run(&["select", address]).success().json();
    assert!(selected["results"][0]["content"].as_str().unwrap().contains("needle"));
}

#[test]
fn the_index_follows_every_ingest() {
    let place = Place::ingested(&[("a.md", "# A\n\nalpha\n"), ("b.md", "# B\n\nbeta\n")]);
    place.write("a.md", "# A\n\ngamma\n");
    place.remove("b.md");
    place.write("c.md", "# C\n\nbeta again\n");
    let generation = place.run(&["ingest"]).success().json()["generation"].clone();
    assert_eq!(place.run(&["status"]).json()["index_generation"], generation);
    for mode in [&[][..], &["-F"]] {
        let found = |text: &str| files(&place.run(&[&["search", text], mode].concat()));
        assert!(found("alpha").is_empty());
        assert_eq!(found("gamma"), ["a.md"]);
        assert_eq!(found("beta"), ["c.md"]);
    }
    std::fs::rename(place.join("c.md"), place.join("d.md")).unwrap();
    let fresh = place.run(&["search", "beta", "--refresh"]).success();
    assert_eq!(files(&fresh), ["d.md"]);
    place.write("d.md", "# C\n\nbeta on disk\n");
    let stale = place.run(&["search", "beta"]).success().json();
    assert_eq!(stale["hits"][0]["stale"], true);
    place.remove("d.md");
    assert_eq!(place.run(&["search", "beta"]).json()["hits"][0]["missing"], true);
}

#[test]
fn hits_leave_with_the_text_of_a_document_and_return_with_it() {
    let text = "# A\n\nalpha\n";
    let place = Place::ingested(&[("a.md", text), ("b.md", "# B\n")]);
    let found = || {
        let modes = [&["search", "alpha"][..], &["search", "-F", "alpha"], &["find", "A"]];
        modes.map(|mode| place.run(mode).status == 0)
    };
    for gone in ["", "\u{feff}", " \n", "alph\n", "alpha\0"] {
        place.write("a.md", gone);
        place.run(&["ingest"]).success();
        assert_eq!(found(), [false; 3], "{gone:?}");
        place.write("a.md", text);
        place.run(&["ingest"]).success();
        assert_eq!(found(), [true; 3], "after {gone:?}");
    }
    place.remove("a.md");
    place.run(&["ingest"]).success();
    assert_eq!(found(), [false; 3]);
    place.write("a.md", text);
    place.run(&["ingest"]).success();
    assert_eq!(found(), [true; 3]);
    place.assert_in_step();
}

/// The index folder of a store.
fn index(place: &Place) -> std::path::PathBuf {
    place.join(".mdsel.db-fts")
}

fn segment_files(place: &Place) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(index(place)).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .filter(|path| path.extension().is_some_and(|kind| kind != "json" && kind != "lock"))
        .collect()
}

/// A function that damages an index.
type Damage<'a> = Box<dyn Fn() + 'a>;

#[test]
fn a_damaged_index_is_rebuilt_with_a_warning() {
    let place = Place::ingested(&[("a.md", "# A\n\nalpha\n"), ("b.md", "# B\n\nbeta\n")]);
    let damages: [(&str, Damage<'_>); 7] = [
        ("removed", Box::new(|| std::fs::remove_dir_all(index(&place)).unwrap())),
        ("without meta.json", Box::new(|| place.remove(".mdsel.db-fts/meta.json"))),
        (
            "zeroed",
            Box::new(|| {
                for path in segment_files(&place) {
                    let length = std::fs::metadata(&path).unwrap().len();
                    std::fs::write(&path, vec![0; usize::try_from(length).unwrap()]).unwrap();
                }
            }),
        ),
        (
            "emptied",
            Box::new(|| {
                for path in segment_files(&place) {
                    std::fs::write(&path, "").unwrap();
                }
            }),
        ),
        (
            "without segments",
            Box::new(|| {
                for path in segment_files(&place) {
                    std::fs::remove_file(path).unwrap();
                }
            }),
        ),
        ("not json", Box::new(|| place.write(".mdsel.db-fts/meta.json", "{"))),
        (
            "another's",
            Box::new(|| {
                let other = Place::ingested(&[("a.md", "# A\n\nother\n")]);
                std::fs::remove_dir_all(index(&place)).unwrap();
                crate::harness::copy(&index(&other), &index(&place));
            }),
        ),
    ];
    for (damage, act) in &damages {
        for mode in [&[][..], &["-F"]] {
            act();
            let answer = place.run(&[&["search", "alpha"], mode].concat()).success();
            assert_eq!(files(&answer), ["a.md"], "{damage}");
            assert_eq!(warnings(&answer), ["INDEX_REBUILT"], "{damage}");
            assert!(answer.stderr.is_empty(), "{damage}: {}", answer.stderr);
            let again = place.run(&[&["search", "beta"], mode].concat()).success();
            assert_eq!(files(&again), ["b.md"], "{damage}");
            assert!(warnings(&again).is_empty(), "{damage}");
        }
    }
    // An ingest that has nothing else to do rebuilds it, too.
    std::fs::remove_dir_all(index(&place)).unwrap();
    assert_eq!(warnings(&place.run(&["ingest"]).success()), ["INDEX_REBUILT"]);
    assert!(warnings(&place.run(&["search", "alpha"]).success()).is_empty());
}

#[test]
fn a_link_in_the_place_of_the_index_is_replaced_and_its_target_stays() {
    let elsewhere = Place::with(&[("kept.md", "text\n")]);
    let place = Place::ingested(&[("a.md", "# A\n\nalpha\n")]);
    for target in [elsewhere.path().to_owned(), elsewhere.join("none")] {
        std::fs::remove_dir_all(index(&place)).unwrap();
        std::os::unix::fs::symlink(target, index(&place)).unwrap();
        let answer = place.run(&["search", "alpha"]).success();
        assert_eq!(
            (files(&answer), warnings(&answer)),
            (vec!["a.md".to_owned()], vec!["INDEX_REBUILT".to_owned()])
        );
        assert!(index(&place).symlink_metadata().unwrap().is_dir());
        let entries = std::fs::read_dir(elsewhere.path()).unwrap();
        let names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["kept.md"]);
    }
}

#[test]
fn an_old_index_is_updated() {
    let place = Place::ingested(&[("a.md", "# A\n\nalpha\n"), ("b.md", "# B\n\nbeta\n")]);
    let old = Place::new();
    crate::harness::copy(&index(&place), &old.join("index"));
    place.write("a.md", "# A\n\ngamma\n");
    place.remove("b.md");
    place.write("c.md", "# C\n\ndelta\n");
    place.run(&["ingest"]).success();
    let restore = || {
        std::fs::remove_dir_all(index(&place)).unwrap();
        crate::harness::copy(&old.join("index"), &index(&place));
    };
    let found = |arguments: &[&str]| files(&place.run(&[&["search"], arguments].concat()));
    for mode in [&[][..], &["-F"]] {
        restore();
        assert!(found(&[&["alpha"], mode].concat()).is_empty());
        assert_eq!(found(&[&["gamma"], mode].concat()), ["a.md"]);
        // While another process writes, the index stays as it is, and the stored documents are
        // searched.
        restore();
        let lock = std::fs::File::create(place.join(".mdsel.db-lock")).unwrap();
        lock.lock().unwrap();
        assert_eq!(found(&[&["gamma"], mode].concat()), ["a.md"]);
        assert_eq!(found(&[&["delta"], mode].concat()), ["c.md"]);
        assert!(found(&[&["beta"], mode].concat()).is_empty());
        std::fs::remove_dir_all(index(&place)).unwrap();
        let answer = place.run(&[&["search", "delta"], mode].concat()).success();
        assert_eq!(files(&answer), ["c.md"]);
        assert_eq!(warnings(&answer), ["INDEX_UNUSABLE"]);
        drop(lock);
        place.run(&["ingest"]).success();
    }
}

#[test]
fn the_index_is_rebuilt_for_an_older_store() {
    let place = Place::ingested(&[("a.md", "# A\n\nalpha\n")]);
    std::fs::copy(place.join(".mdsel.db"), place.join("kept.db")).unwrap();
    place.write("a.md", "# A\n\ngamma\n");
    place.run(&["ingest"]).success();
    std::fs::copy(place.join("kept.db"), place.join(".mdsel.db")).unwrap();
    let answer = place.run(&["search", "alpha"]).success();
    assert_eq!(warnings(&answer), ["INDEX_REBUILT"]);
    assert!(files(&place.run(&["search", "gamma"])).is_empty());
}

#[test]
fn a_hit_in_a_heading_or_a_blank_line_names_its_section() {
    let place = Place::ingested(&[(
        "a.md",
        "\u{feff}---\ntitle: fm needle\n---\nroot needle\n\n# Head needle\n\nown\n\n\nmore\n",
    )]);
    let answer = place.run(&["search", "-F", "needle"]).success().json();
    assert_eq!(
        selectors(&answer["hits"]),
        ["a.md::@frontmatter", "a.md::root/block:paragraph[0]", "a.md::heading:h1[0]?part=heading"]
    );
    let blank = place.run(&["search", "-e", "^$"]).success().json();
    assert_eq!(
        selectors(&blank["hits"]),
        [
            "a.md::root",
            "a.md::heading:h1[0]?part=own",
            "a.md::heading:h1[0]?part=own",
            "a.md::heading:h1[0]?part=own"
        ]
    );
}

#[test]
fn a_file_of_a_killed_writer_is_removed_and_other_files_of_the_folder_stay() {
    let place = Place::ingested(&[("a.md", "# A\n\nneedle\n")]);
    let folder = place.join(".mdsel.db-fts");
    let left = folder.join("0123456789abcdef0123456789abcdef.idx");
    let other = folder.join("notes.txt");
    std::fs::write(&left, "half").unwrap();
    std::fs::write(&other, "mine").unwrap();
    place.write("b.md", "# B\n\nneedle\n");
    place.run(&["ingest"]).success();
    assert_eq!((left.exists(), other.exists()), (false, true));
    assert_eq!(files(&place.run(&["search", "needle", "--keep-duplicates"])), ["a.md", "b.md"]);
}

#[test]
fn many_small_ingests_leave_few_segments_and_every_hit() {
    let place = Place::ingested(&[("start.md", "# Start\n\nneedle start\n")]);
    for number in 0..30 {
        place.write(&format!("{number:02}.md"), format!("# N{number}\n\nneedle n{number}x\n"));
        if number >= 10 {
            place.remove(&format!("{:02}.md", number - 10));
        }
        place.run(&["ingest"]).success();
    }
    let segments = segment_files(&place);
    let is_store =
        |path: &&std::path::PathBuf| path.extension().is_some_and(|kind| kind == "store");
    assert!(segments.iter().filter(is_store).count() <= 9, "{segments:?}");
    for mode in [&[][..], &["-F"]] {
        let all = place.run(&[&["search", "needle", "--limit", "0"], mode].concat());
        let mut found = files(&all);
        found.sort();
        let mut expected: Vec<String> = (20..30).map(|number| format!("{number:02}.md")).collect();
        expected.push("start.md".to_owned());
        assert_eq!(found, expected);
        assert_eq!(files(&place.run(&[&["search", "n25x"], mode].concat())), ["25.md"]);
        assert!(files(&place.run(&[&["search", "n5x"], mode].concat())).is_empty());
    }
}

#[test]
fn flipped_bits_of_the_index_cause_no_crash() {
    let place = Place::new();
    for number in 0..40 {
        place.write(&format!("{number:02}.md"), format!("# N{number}\n\nneedle n{number}x\n"));
    }
    place.run(&["ingest"]).success();
    let kept = Place::new();
    crate::harness::copy(&index(&place), &kept.join("index"));
    let mut flips = 0;
    for path in segment_files(&place) {
        let sound = std::fs::read(&path).unwrap();
        for step in 0..12 {
            let mut bytes = sound.clone();
            bytes[step * (sound.len() - 1) / 11] ^= 1 << (step % 8);
            std::fs::write(&path, bytes).unwrap();
            for arguments in [&["needle"][..], &["n2*"], &["-F", "needle"]] {
                let answer = place.run(&[&["search"], arguments].concat());
                assert!(answer.status < 2, "{}: {}", path.display(), answer.text());
                assert!(answer.stderr.is_empty(), "{}: {}", path.display(), answer.stderr);
                flips += 1;
            }
            std::fs::remove_dir_all(index(&place)).unwrap();
            crate::harness::copy(&kept.join("index"), &index(&place));
        }
    }
    assert!(flips > 200, "{flips}");
}

#[test]
fn a_hit_is_where_the_filter_requires() {
    let place = Place::with(&[
        ("edge/a.md", "# Edge of things\n\nplain\n\n# Other\n\nneedle one\n"),
        ("b.md", "# Knowledge\n\nneedle two\n"),
    ]);
    place.write("bad.md", b"# Bad\n\nx \xff y\n\nthe sought word\n");
    place.run(&["ingest"]).success();
    // A folder wins over a part of a title. A section that has the word elsewhere is not a hit.
    assert_eq!(files(&place.run(&["search", "needle", "--under", "edge"])), ["edge/a.md"]);
    place.run(&["search", "needle", "--type", "heading"]).ends(1);
    // Bytes that are not text do not move the position of a hit.
    assert_eq!(places(&place.run(&["search", "sought"])), ["bad.md:5"]);
    assert_eq!(files(&place.run(&["search", "needle AND NOT two"])), ["edge/a.md"]);
    let text = place.run(&["search", "-U", "-e", "Other\n\nneedle", "-f", "text"]).success().text();
    assert_eq!(text, "Other\nedge/a.md:5:3:# Other\nedge/a.md:6:\nedge/a.md:7:needle one\n");
}

#[test]
fn what_has_invalid_bytes_says_so() {
    let place = Place::new();
    place.write("a.md", b"# A \xff\n\ntext \xff\n\n## B\n");
    place.run(&["ingest"]).success();
    let lossy = |arguments: &[&str], pointer: &str| {
        let json = place.run(arguments).success().json();
        assert_eq!(json.pointer(pointer), Some(&json!(true)), "{json}");
    };
    lossy(&["toc", "a.md"], "/lossy");
    lossy(&["find", "B"], "/matches/0/lossy");
    lossy(&["search", "-e", "text"], "/hits/0/lossy");
    lossy(&["neighbors", "a.md::B"], "/lossy");
    place.write("b.md", b"# C\n\nneedle [a](a.md) [[w\xff]]\n\ncaf\xe9 needle\n");
    place.write("plain.md", "# D\n\ntext \u{fffd} [b](b.md)\n");
    place.run(&["ingest"]).success();
    lossy(&["search", "needle"], "/hits/0/lossy");
    lossy(&["search", "-e", "^needle", "-A", "2"], "/hits/0/lossy");
    lossy(&["context", "--query", "needle"], "/items/0/lossy");
    lossy(&["context", "a.md"], "/items/0/lossy");
    lossy(&["links", "list", "b.md"], "/nodes/1/lossy");
    lossy(&["links", "list", "b.md"], "/edges/0/lossy");
    lossy(&["ldmd", "emit", "b.md", "-f", "json"], "/lossy");
    lossy(&["prime"], "/most_linked/1/lossy");
    // The character itself may be in a document.
    for command in [
        &["context", "plain.md"][..],
        &["ldmd", "emit", "plain.md", "-f", "json"],
        &["search", "text", "-g", "plain.md"],
    ] {
        let text = place.run(command).success().text();
        assert!(!text.contains("lossy"), "{text}");
    }
    // An address that is not UTF-8 leaves the others.
    let mut child =
        place.command("", &["select", "-"]).stdin(std::process::Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"q\xff\na.md::B\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn a_path_among_the_words_of_a_query_is_noted() {
    let place = Place::ingested(&[("docs/a.md", "# A\n\nabort docs\n"), ("b.md", "abort\n")]);
    for (arguments, is_noted) in [
        (&["abort", "docs"][..], true),
        (&["abort", "docs/a.md"], true),
        (&["docs"], false),
        (&["abort", "a"], false),
        (&["abort", "docs", "--under", "docs"], true),
    ] {
        let json = place.run(&[&["search"], arguments].concat()).json();
        let mut warnings = json["warnings"].as_array().into_iter().flatten();
        let noted = warnings.find(|warning| warning["code"] == "PATH_AS_WORDS");
        assert_eq!(noted.is_some(), is_noted, "{arguments:?}: {json}");
        let names_option =
            |one: &Value| one["message"].as_str().is_some_and(|it| it.contains("--under docs"));
        assert!(noted.is_none_or(names_option), "{json}");
    }
    let with_number = place.run(&["search", "-n", "-e", "abort", "-f", "text"]).success().text();
    let without = place.run(&["search", "-e", "abort", "-f", "text"]).success().text();
    assert_eq!(with_number, without);
}

#[test]
fn an_empty_answer_says_how_to_read_changed_files_first() {
    let place = Place::ingested(&[("a.md", "# A\n\nold\n")]);
    for query in [&["new"][..], &["n*w"], &["-e", "new"]] {
        let text = place.run(&[&["search"], query, &["-f", "text"]].concat()).ends(1).text();
        assert!(text.ends_with(". If files have changed, add --refresh.\n"), "{text}");
        let refreshed = [&["search", "--refresh"], query, &["-f", "text"]].concat();
        let text = place.run(&refreshed).ends(1).text();
        assert!(!text.contains("refresh"), "{text}");
    }
    let context = ["context", "--query", "new", "--refresh", "-f", "text"];
    let text = place.run(&context).ends(1).text();
    assert!(!text.contains("refresh"), "{text}");
    place.write("a.md", "# A\n\nnew\n");
    place.run(&["search", "new"]).ends(1);
    place.run(&["search", "new", "--refresh"]).success();
}

#[test]
fn an_option_among_the_words_of_a_query_is_noted() {
    let place = Place::ingested(&[("a.md", "# A\n\nabort --limit 3 curl -o\n")]);
    for (arguments, noted) in [
        (&["-F", "abort", "--", "-l", "--limit", "3"][..], Some("\"-l\" after --")),
        (&["--", "--experimental-fetch", "--limit=2"], Some("\"--limit\" after --")),
        (&["--", "abort", "--max-chars", "700"], Some("\"--max-chars\" after --")),
        (&["--", "--limit"], None),
        (&["--", "abort", "--experimental-fetch"], None),
        (&["abort", "3"], None),
        (&["-n", "abort"], None),
    ] {
        let json = place.run(&[&["search"], arguments].concat()).json();
        let mut warnings = json["warnings"].as_array().into_iter().flatten();
        let warning = warnings.find(|warning| warning["code"] == "OPTION_AS_WORD");
        let message = warning.map(|warning| warning["message"].as_str().unwrap());
        assert_eq!(message.is_some(), noted.is_some(), "{arguments:?}: {json}");
        assert!(message.unwrap_or_default().contains(noted.unwrap_or_default()), "{json}");
    }
    for words in [["abort", "-n", "3"], ["-n", "3", "abort"]] {
        let refused = place.run(&[&["search"], &words[..]].concat()).ends(2);
        assert!(refused.stderr.contains("-n has no value"), "{}", refused.stderr);
        assert!(refused.stderr.contains("use --limit 3;"), "{}", refused.stderr);
    }
    place.run(&["search", "-n", "3"]).success();
    let lines = ["search", "-e", "abort", "-f", "text"];
    let by_default = place.run(&lines).success().text();
    let with_titles = place.run(&[&lines[..], &["--no-heading", "--heading"]].concat());
    assert_eq!(with_titles.success().text(), by_default);
}

#[test]
fn an_empty_answer_of_a_filter_names_a_document_with_a_hit() {
    let place = Place::ingested(&[("a/x.md", "# X\n\nneedle\n"), ("b/y.md", "# Y\n\ntext\n")]);
    for query in [&["needle"][..], &["-F", "needle"], &["-e", "n.edle"]] {
        let filtered = [&["search", "--under", "b", "-f", "text"], query].concat();
        let text = place.run(&filtered).ends(1).text();
        assert!(text.contains("Without the filters, there is a hit in a/x.md."), "{text}");
    }
    // The filter that leaves out the hit is named.
    let place = Place::ingested(&[
        ("a/x.md", "# X\n\nneedle\n\n```\ncode\n```\n"),
        ("b/y.md", "# Y\n\n```\ncode\n```\n"),
        ("c/z.md", "# Z\n\nneedle\n"),
    ]);
    for (filter, hint) in [
        (&["--type", "code", "--under", "c"][..], "Without --type, there is a hit in c/z.md."),
        (&["--level", "1", "--type", "code", "-g", "a/**"], "Without --type, there is a hit in a/"),
        (&["--level", "1", "--under", "b"], "Without --under, there is a hit in "),
        (&["--level", "2", "--under", "b"], "Without the filters, there is a hit in "),
    ] {
        let filtered = [&["search", "-e", "needle", "-f", "text"], filter].concat();
        let text = place.run(&filtered).ends(1).text();
        assert!(text.contains(hint), "{filter:?} {text}");
    }
    let nowhere = place.run(&["search", "--under", "b", "nothing", "-f", "text"]).ends(1).text();
    assert!(!nowhere.contains("Without"), "{nowhere}");
}

#[test]
fn a_title_with_a_date_is_indented_only_among_lines_that_it_looks_like() {
    let place = Place::ingested(&[("a.md", "# Log\n\n## 1.0 - 2026-07-20\n\none\nword\n")]);
    let search = ["search", "-e", "word", "-f", "text"];
    let text = place.run(&search).success().text();
    assert_eq!(text, "Log > 1.0 - 2026-07-20\na.md:6:1:word\n");
    let with_context = place.run(&[&search[..], &["-C", "1"]].concat()).success().text();
    assert!(with_context.starts_with(" Log > 1.0"), "{with_context}");
    // An option of other programs.
    let refused = place.run(&["find", "Log", "--doc", "a.md"]).ends(2);
    assert!(refused.stderr.contains("use --under ADDRESS"), "{}", refused.stderr);
    // Inline code belongs to the text, and code blocks are code.
    let place = Place::ingested(&[("b.md", "# B\n\nUse `ThreadPool`.\n\n```\nfn main\n```\n")]);
    place.run(&["search", "body:ThreadPool"]).success();
    place.run(&["search", "code:ThreadPool"]).ends(1);
    place.run(&["search", "code:main"]).success();
    place.run(&["search", "body:main"]).ends(1);
}

#[test]
fn every_document_with_a_frequent_title_is_found() {
    let files: Vec<String> = (0..1_005).map(|number| format!("p{number:04}.md")).collect();
    let titled = "---\ntitle: Index\n---\ntext\n";
    let files: Vec<(&str, &str)> = files.iter().map(|file| (file.as_str(), titled)).collect();
    let place = Place::ingested(&files);
    let all = place.run(&["find", "Index", "--limit", "0"]).success().json();
    assert_eq!(all["matches"].as_array().unwrap().len(), 1_005);
    let last = place.run(&["find", "Index", "--under", "p1004.md"]).success().json();
    assert_eq!(last["matches"][0]["file"], "p1004.md", "{last}");
}

#[test]
fn find_names_a_document_with_a_title_that_no_section_has() {
    let place = Place::ingested(&[
        ("a.md", "---\ntitle: Foo page\n---\nText\n\n## Details of foo\n"),
        ("b.md", "---\ntitle: Bar\n---\n# Bar\n"),
        ("c.md", "---\ntitle: 1984\n---\nA book.\n"),
    ]);
    let find = |pattern: &str| place.run(&["find", pattern, "-f", "text"]);
    assert_eq!(find("1984").success().text(), "c.md:1-4: 1984  ::*\n");
    assert_eq!(find("foo page").success().text(), "a.md:1-6: Foo page  ::*\n");
    let year = find("984").ends(1).text();
    assert!(year.contains("but the document c.md does"), "{year}");
    let named = find("oo page").ends(1).text();
    assert!(named.contains("but the document a.md does: `mdsel read a.md`"), "{named}");
    assert_eq!(find("foo").success().text(), "a.md:6-6: ## Details of foo  ::heading:h2[0]\n");
    assert_eq!(find("bar").success().text(), "b.md:4-4: # Bar  ::heading:h1[0]\n");
    assert!(!find("fox").ends(1).text().contains("document"));
}

#[test]
fn a_query_without_words_prints_each_line_once() {
    let place = Place::ingested(&[("a.md", "# A\n\nf() and g() are here.\n")]);
    let text = place.run(&["search", "()", "-f", "text"]).success().text();
    let (hits, warnings) = text.split_once("warning: NO_WORDS").unwrap();
    assert_eq!(hits, "A\na.md:3:2:f() and g() are here.\n", "{warnings}");
    let context = place.run(&["context", "--query", "()", "-f", "text"]).success().text();
    assert!(context.starts_with("a.md:3-3  A\nf() and g() are here.\n"), "{context}");
    let markdown = place.run(&["context", "--query", "()", "-f", "markdown"]).success().text();
    assert_eq!(markdown.matches("f() and g() are here.").count(), 1, "{markdown}");
}

#[test]
fn an_option_without_an_effect_is_refused() {
    let place = Place::ingested(&[("a.md", "# A\n\none\nprice two\nthree\n")]);
    for (arguments, part) in [
        (&["price", "-C", "2", "-f", "text"][..], "context lines"),
        (&["price", "-A", "1", "-f", "text"], "context lines"),
        (&["price", "-o", "-f", "text"], "matches alone"),
        (&["price", "-o", "-f", "records"], "matches alone"),
        (&["price", "--no-heading"], "--no-heading"),
        (&["-e", "price", "--passage", "100"], "--passage"),
        (&["-F", "price", "--keep-duplicates"], "--keep-duplicates"),
        (&["-e", "price", "-c", "-C", "2"], "context lines"),
        (&["-e", "price", "-l", "-o"], "matches alone"),
        (&["price", "-l", "--passage", "100"], "--passage"),
    ] {
        let refused = place.run(&[&["search"], arguments].concat()).ends(2);
        assert!(refused.stderr.contains("USAGE"), "{arguments:?}: {}", refused.stderr);
        assert!(refused.stderr.contains(part), "{arguments:?}: {}", refused.stderr);
    }
    for arguments in [
        &["price", "-C", "2", "-f", "json"][..],
        &["price", "-C", "2", "--passage", "0", "-f", "text"],
        &["price", "-o", "-f", "json"],
        &["-e", "price", "-o", "-C", "2", "-f", "text"],
        &["-e", "price", "-q", "-C", "2"],
        &["price", "--passage", "100"],
    ] {
        place.run(&[&["search"], arguments].concat()).success();
    }
    let text = ["search", "price", "-C", "1", "--passage", "0", "-f", "text"];
    assert!(place.run(&text).success().text().contains("three"));
}
