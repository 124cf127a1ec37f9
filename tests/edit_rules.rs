//! Which edits are refused, which are accepted, and what they report: missing content, ambiguous
//! names, hashes, hints, and changes in other places.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::harness::{Answer, PROGRAM, Place, age};

const DOC: &str = "# One\n\nfirst\n\n## Alpha\n\nalpha\n\n## Beta\n\nbeta\n\n# Two\n\ntwo\n";

fn file(place: &Place, path: &str) -> String {
    std::fs::read_to_string(place.join(path)).unwrap()
}

fn reason(answer: &Answer) -> String {
    answer.json()["error"]["reason"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn missing_content_is_not_empty_content() {
    let place = Place::ingested(&[("doc.md", DOC), ("empty.txt", ""), ("blank.txt", " \n\n")]);
    let replace = ["replace", "doc.md", "Alpha"];
    let assert_refused = |answer: &Answer| {
        assert_eq!((answer.status, reason(answer)), (2, "EMPTY_CONTENT".to_owned()));
        assert_eq!(file(&place, "doc.md"), DOC);
    };
    assert_refused(&place.run(&replace));
    assert_refused(&place.run_in("", &replace, "\n"));
    assert_refused(&place.run(&[&replace[..], &["--content-file", "empty.txt"]].concat()));
    assert_refused(&place.run(&[&replace[..], &["--content-file", "blank.txt"]].concat()));
    assert_refused(&place.run(&[&replace[..], &["--content", " "]].concat()));
    assert_refused(&place.run(&["insert", "doc.md", "Alpha", "--content", ""]));
    for line in [
        json!({"operation": "replace", "section": "Alpha"}),
        json!({"operation": "replace", "section": "Alpha", "content": "\n"}),
    ] {
        let line = format!("{line}\n");
        assert_refused(&place.run_in("", &["edit", "doc.md", "--batch", "-"], &line));
    }
    let null = place.command("", &replace).stdin(Stdio::null()).output().unwrap();
    assert_eq!(null.status.code(), Some(2));
    let closed = format!(
        "'{PROGRAM}' replace doc.md Alpha <&-; [ $? = 2 ] && false | '{PROGRAM}' replace doc.md Alpha"
    );
    let shell = Command::new("sh").args(["-c", &closed]).current_dir(place.path()).output();
    assert_eq!(shell.unwrap().status.code(), Some(2));
    assert_eq!(file(&place, "doc.md"), DOC);
    place.run(&[&replace[..], &["--content", ""]].concat()).success();
    assert_eq!(file(&place, "doc.md"), DOC.replace("\nalpha\n\n", "\n"));
}

#[test]
fn an_edit_is_checked_by_its_effect() {
    let log = "# Log\n\n## [1.1.0]\n\nnew\n\n## [1.0.0]\n\nold\n\n### One\n\n### Two\n\n\
        [1.1.0]: https://x/1.1\n[1.0.0]: https://x/1.0\n";
    let place = Place::ingested(&[("log.md", log), ("doc.md", DOC)]);
    let answer = place.run(&["replace", "log.md", "1.0.0", "--content", "x\n\n### P\n\n### Q"]);
    assert_eq!(reason(&answer), "WOULD_DROP");
    let message = answer.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(
        message.contains("2 sections") && message.contains("/one, ") && message.ends_with("/two"),
        "{message}"
    );
    let made = place.run(&["replace", "log.md", "1.0.0", "--content", "x", "--allow-drop"]);
    let made = made.success().json();
    assert_eq!(made["kept_definitions"], json!(["1.1.0", "1.0.0"]));
    assert_eq!(made["removed_sections"].as_array().unwrap().len(), 2);
    let (rest, definitions) = (log.split("old").next().unwrap(), log.split("### Two\n").nth(1));
    assert_eq!(file(&place, "log.md"), format!("{rest}x\n{}", definitions.unwrap()));
    // A definition that the edit names may change, and text that becomes a link is a change.
    let gone = ["delete", "log.md", "block:definition[0]"];
    assert_eq!(reason(&place.run(&gone)), "CHANGES_OUTSIDE");
    let answer = place.run(&[&gone[..], &["--allow-change"]].concat()).success().json();
    assert_eq!(answer["warnings"][0]["code"], "CHANGED_OUTSIDE");
    place.assert_in_step();
}

#[test]
fn a_definition_that_is_named_may_get_another_target() {
    let text = "# A\n\n[one][r] [two][s] and [r].\n\n[r]: old.md 'T'\n\n[s]: s.md\n";
    let replace =
        |place: &Place, arguments: &[&str]| place.run(&[&["replace", "p.md"], arguments].concat());
    let place = Place::ingested(&[("p.md", text)]);
    let phrase = ["--old", "old.md", "--content", "new.md"];
    replace(&place, &[&["block:definition[0]"], &phrase[..]].concat()).success();
    assert_eq!(file(&place, "p.md"), text.replace("old.md", "new.md"));
    place.assert_in_step();
    // The definition must be the place, and no other link may change.
    let place = Place::ingested(&[("p.md", text)]);
    for arguments in [
        &[&["A"][..], &phrase].concat()[..],
        &["block:definition[0]", "--old", "[r]", "--content", "[q]"],
        &["block:definition[1]", "--old", "[s]: s.md", "--content", "[t]: x"],
        &["block:definition[0]", "--content", "[r]: new.md 'T'"],
    ] {
        assert_eq!(reason(&replace(&place, arguments)), "CHANGES_OUTSIDE", "{arguments:?}");
    }
}

#[test]
fn a_position_that_does_not_exist_is_named_with_the_place() {
    let place = Place::ingested(&[("a.md", "# A\n\n- one\n\n| a |\n| - |\n| 1 |\n")]);
    for (arguments, message) in [
        (&["block:list[0]/item[0]"][..], "a list item has no position last_child"),
        (&["block:table[0]/row[0]"], "a row has no position last_child"),
        (&["a.md:3-3"], "a range of lines has no position last_child"),
    ] {
        let document = if arguments == ["a.md:3-3"] { &[][..] } else { &["a.md"] };
        let options = ["--position", "last_child", "--content", "x"];
        let refused = place.run(&[&["insert"], document, arguments, &options].concat()).ends(2);
        assert_eq!(reason(&refused), "NO_SUCH_POSITION");
        let text = refused.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(text.contains(message), "{text}");
    }
}

#[test]
fn many_removed_sections_are_counted_and_the_first_are_listed() {
    let text = format!("# A\n\n{}", "## S\n\nx\n\n".repeat(50));
    let place = Place::ingested(&[("a.md", &text)]);
    let answer = place.run(&["delete", "a.md", "A"]).success().json();
    assert_eq!(answer["removed_sections"].as_array().unwrap().len(), 20);
    assert_eq!(answer["removed_sections_total"], 51, "{answer}");
}

#[test]
fn changes_in_other_places_are_listed() {
    let place = Place::ingested(&[
        ("doc.md", "# A\n\nsee [t](#t-1)\n\n## T\n\none\n\n# B\n\n## T\n\ntwo\n"),
        ("links.md", "# L\n\n[first](doc.md#t) [second](doc.md#t-1) [b](doc.md#b)\n"),
    ]);
    // A dry run lists them beside the diff.
    let trial = ["delete", "doc.md", "a/t", "--dry-run"];
    let answer = place.run(&trial).success();
    assert!(answer.stdout.starts_with(b"--- a/doc.md"));
    let text = place.run(&[&trial[..], &["-f", "text"]].concat()).success().text();
    for line in ["  renumbered: #t-1 is now #t", "  broken link: links.md:3 to doc.md#t-1"] {
        assert!(answer.stderr.contains(line), "{}", answer.stderr);
        assert_eq!(text.matches(line).count(), 1, "{text}");
    }
    let answer = place.run(&["delete", "doc.md", "a/t"]).success().json();
    assert_eq!(answer["renumbered"], json!([{"title": "T", "from": "#t-1", "to": "#t"}]));
    assert_eq!(
        answer["broken_links"],
        json!([
            {"file": "links.md", "line": 3, "target": "doc.md#t-1"},
            {"file": "doc.md", "line": 3, "target": "#t-1"},
        ])
    );
    let check = place.run(&["links", "check"]).ends(1).json();
    assert_eq!(check["findings"].as_array().unwrap().len(), 2);
}

#[test]
fn many_broken_links_are_counted_and_the_first_are_listed() {
    let links = "[t](t.md#target)\n".repeat(700);
    let place = Place::ingested(&[("t.md", "# T\n\n## Target\n\nx\n"), ("d.md", &links)]);
    let delete = ["delete", "t.md", "Target"];
    let trial = [&delete[..], &["--dry-run", "-f", "text", "--max-chars", "2500"]].concat();
    let text = place.run(&trial).success().text();
    assert_eq!(text.matches("broken link: d.md:").count(), 20, "{text}");
    assert!(text.contains("  broken link: 680 more"), "{text}");
    let small = [&delete[..], &["--dry-run", "-f", "json", "--max-chars", "900"]].concat();
    let answer = place.run(&small).success().json();
    assert_eq!((&answer["broken_links_total"], &answer["truncated"]), (&json!(700), &json!(true)));
    let answer = place.run(&[&delete[..], &["--max-chars", "2500"]].concat()).success().json();
    assert_eq!(answer["broken_links_total"], 700);
    assert_eq!(answer["broken_links"].as_array().unwrap().len(), 20);
}

#[test]
fn a_phrase_is_not_replaced_by_a_heading_that_leaves_its_section() {
    let place = Place::ingested(&[("x.md", "# T\n\n## A\n\na\n\n## B\n\nb\n")]);
    for (section, old, content) in [
        ("A", "a", "## New\n\ny"),
        ("B", "b", "# New\n\ny"),
        ("B", "b", "New\n---"),
        ("A", "a", "y\n\n## New"),
    ] {
        let edit = ["replace", "x.md", section, "--old", old, "--content", content];
        assert!(place.run(&edit).ends(2).text().contains("WOULD_ESCAPE"), "{content}");
        place.run(&[&edit[..], &["--allow-escape", "--dry-run"]].concat()).success();
    }
    let deeper = ["replace", "x.md", "B", "--old", "b", "--content", "### New\n\ny"];
    place.run(&deeper).success();
    // A document has no section to leave.
    place.run(&["replace", "x.md::*", "--old", "y", "--content", "# Out"]).success();
}

#[test]
fn links_that_lead_to_another_section_are_listed() {
    let doc =
        "# H\n\n[two](#dup-1) [two](#dup-1)\n\n## Dup\n\none\n\n## Dup\n\ntwo\n\n## Dup\n\nthree\n";
    let links = "# L\n\n[one](doc.md#dup) [two](doc.md#dup-1)\n";
    let place = || Place::ingested(&[("doc.md", doc), ("links.md", links)]);
    let link = |file: &str, line: usize, target: &str| json!({"file": file, "line": line, "target": target});
    let first = place();
    let answer = first.run(&["delete", "doc.md", "heading:h2[0]"]).success().json();
    assert_eq!(
        answer["redirected_links"],
        json!([
            // The section of this link is gone.
            link("links.md", 3, "doc.md#dup"),
            link("links.md", 3, "doc.md#dup-1"),
            link("doc.md", 3, "#dup-1"),
            link("doc.md", 3, "#dup-1"),
        ])
    );
    // What is inserted may link to itself.
    let second = place();
    let content = ["--position", "before", "--content", "## Dup\n\n[x](#dup-1)\n", "-f", "text"];
    let answer = second
        .run(&[&["insert", "doc.md", "heading:h2[0]"][..], &content].concat())
        .success()
        .text();
    for named in ["links.md:3 to doc.md#dup", "links.md:3 to doc.md#dup-1", "doc.md:3 to #dup-1"] {
        let expected = format!("  leads to another section: {named}\n");
        assert!(answer.contains(&expected), "{expected} {answer}");
    }
    // Two edits that cancel each other redirect nothing.
    let batch = "{\"operation\":\"insert\",\"section\":\"heading:h2[0]\",\"position\":\"before\",\"content\":\"## Dup\\n\\nnew\"}\n{\"operation\":\"delete\",\"section\":\"heading:h2[0]\"}\n";
    let answer = place().run_in("", &["edit", "doc.md", "--batch", "-"], batch).success().json();
    assert_eq!(answer["redirected_links"], json!(null), "{answer}");
}

/// The addresses of an ambiguity.
fn candidates(answer: &Answer) -> Vec<String> {
    let json = answer.json();
    assert_eq!(json["unresolved_selectors"][0]["code"], "AMBIGUOUS", "{json}");
    let candidates = json["unresolved_selectors"][0]["candidates"].as_array().unwrap().clone();
    // A candidate is an address, or an object with an address.
    let address = |candidate: &Value| {
        let selector = candidate.get("selector").unwrap_or(candidate);
        selector.as_str().unwrap().to_owned()
    };
    candidates.iter().map(address).collect()
}

#[test]
fn selector_words_that_are_also_titles_are_ambiguous() {
    let titles =
        "intro\n\n# Section\n\na\n\n# Root\n\nb\n\n# Item\n\nc\n\n# Page\n\nd\n\n# h1.1\n\ne\n";
    let place = Place::ingested(&[("r.md", titles), ("other.md", "# Else\n")]);
    for word in ["section", "root", "item", "page", "h1.1"] {
        for arguments in [["delete", "r.md", word], ["delete", "r.md", &format!("r.md::{word}")]] {
            if word == "root" && arguments[2].contains("::") {
                continue;
            }
            let answer = place.run(&[&arguments[..], &["--dry-run"]].concat()).ends(1);
            for address in candidates(&answer) {
                for given in [&["r.md", address.as_str()][..], &[address.as_str()][..]] {
                    place.run(&[&["delete"][..], given, &["--dry-run"]].concat()).success();
                }
            }
        }
        // Without a document, a selector applies to all of them.
        let answer = place.run(&["delete", word, "--dry-run"]).ends(1);
        let sections = candidates(&answer).into_iter().filter(|address| {
            let read = place.run(&["read", address, "--no-children"]).success().json();
            read["content"].as_str().unwrap().to_lowercase().starts_with(&format!("# {word}\n"))
        });
        assert_eq!(sections.count(), 1, "{word}");
        let is_one = answer.text().contains("is both a selector and the title of a section");
        assert!(is_one || word == "h1.1", "{}", answer.text());
        assert_eq!(file(&place, "r.md"), titles);
    }
    // The address of the root has no other meaning, and a slash forces a title.
    place.run(&["replace", "r.md::root", "--content", "new"]).success();
    assert!(file(&place, "r.md").starts_with("new\n\n# Section"));
    place.run(&["delete", "r.md", "/root"]).success();
    assert!(!file(&place, "r.md").contains("# Root"));
}

#[test]
fn a_title_that_is_a_selector_is_ambiguous_although_no_document_has_such_a_place() {
    let titled = "# A\n\n## block:table\n";
    let place = Place::ingested(&[("r.md", titled), ("other.md", "# Else\n")]);
    let answer = place.run(&["delete", "block:table"]).ends(1);
    assert_eq!(candidates(&answer), ["r.md::heading:h2[0]"]);
    let answer = place.run(&["delete", "A?head=x"]).ends(1).json();
    let fault = &answer["unresolved_selectors"][0];
    assert_eq!(fault["code"], "MALFORMED_QUERY", "{answer}");
    assert_eq!(fault["suggestions"], serde_json::json!(["r.md::heading:h1[0]"]));
}

#[test]
fn a_whole_document_needs_an_explicit_address() {
    let place = Place::ingested(&[
        ("guide.md", "# Top\n\n## Setup\n\ntext\n"),
        ("setup.md", "# Start\n\nmore\n"),
    ]);
    let whole = place.run(&["replace", "guide", "--content", "x"]).ends(2);
    assert_eq!(reason(&whole), "WHOLE_DOCUMENT");
    assert!(whole.text().contains("guide.md::*"), "{}", whole.text());
    let both = place.run(&["delete", "setup"]).ends(1);
    assert_eq!(candidates(&both), ["setup.md::*", "guide.md::heading:h2[0]"]);
    place.run(&["replace", "Start", "--content", "by title"]).success();
    assert_eq!(file(&place, "setup.md"), "# Start\n\nby title\n");
    place.run(&["replace", "setup.md::*", "--content", "all\n", "--allow-drop"]).success();
    assert_eq!(file(&place, "setup.md"), "all\n");
    place.assert_in_step();
}

#[test]
fn printed_addresses_and_hashes_are_accepted() {
    let place = Place::ingested(&[("doc.md", DOC), ("other.md", "# Other\n\n## Alpha\n")]);
    let hash = |arguments: &[&str]| {
        let read = place.run(&[&["read"], arguments].concat()).success().json();
        read["hash"].as_str().unwrap().to_owned()
    };
    let own = hash(&["doc.md", "One", "--no-children"]);
    assert_eq!(own, hash(&["doc.md::One?part=own"]));
    let replace = ["replace", "doc.md", "One", "--content", "new", "--expect", &own, "--dry-run"];
    let answer = place.run(&replace).ends(2);
    assert_eq!(answer.code(), "CONFLICT");
    assert!(answer.text().contains("--no-children"), "{}", answer.text());
    place.run(&[&replace[..], &["--no-children"]].concat()).success();
    let part = ["replace", "doc.md::One?part=own", "--content", "new", "--expect", &own];
    place.run(&part).success();
    assert_eq!(file(&place, "doc.md"), DOC.replace("first", "new"));
    let whole = hash(&["doc.md::*"]);
    place.run(&["delete", "doc.md", "Beta", "--expect", &whole, "--dry-run"]).success();
    let heading = hash(&["doc.md::Two?part=heading"]);
    let rename =
        ["replace", "doc.md::Two?part=heading", "--content", "# Zwei", "--expect", &heading];
    place.run(&rename).success();
    assert_eq!(file(&place, "doc.md"), DOC.replace("first", "new").replace("# Two", "# Zwei"));
    // With and without its document, by selector, line, anchor and title.
    for address in
        ["doc.md::heading:h2[0]", "doc.md:5", "doc.md#alpha", "doc.md::One/Alpha", "doc.md::@5"]
    {
        for given in [&[address][..], &["doc.md", address][..]] {
            let command = [&["replace"][..], given, &["--content", "x", "--dry-run", "-f", "json"]];
            let answer = place.run(&command.concat()).success().json();
            assert_eq!(answer["selector"], "doc.md::heading:h2[0]", "{address}");
        }
    }
    for (address, next) in [
        ("doc.md::Alpha?page=0", json!(["doc.md::heading:h2[0]"])),
        ("doc.md::Alpha?head=2", json!(["doc.md::heading:h2[0]"])),
        (
            "doc.md:7",
            json!([
                "doc.md::heading:h2[0]/block:paragraph[0]",
                "doc.md::heading:h2[0]",
                "doc.md:7-7"
            ]),
        ),
    ] {
        let answer = place.run(&["delete", address]).ends(1).json();
        assert_eq!(answer["unresolved_selectors"][0]["suggestions"], next, "{address}");
    }
    for selector in candidates(&place.run(&["delete", "Alpha"]).ends(1)) {
        place.run(&["delete", &selector, "--dry-run"]).success();
    }
}

#[test]
fn a_changed_file_is_refreshed_if_asked() {
    let place = Place::ingested(&[("doc.md", DOC)]);
    place.write("doc.md", DOC.replace("alpha\n", "changed\n"));
    age(&place.join("doc.md"), 10);
    let edit = ["replace", "doc.md", "Beta", "--content", "new"];
    assert_eq!(place.run(&edit).ends(2).code(), "CONFLICT");
    place.run(&[&edit[..], &["--refresh"]].concat()).success();
    assert_eq!(
        file(&place, "doc.md"),
        DOC.replace("alpha\n", "changed\n").replace("beta\n", "new\n")
    );
    place.assert_in_step();
    place.remove("doc.md");
    let answer = place.run(&edit).ends(2);
    assert_eq!(answer.code(), "CONFLICT");
    assert!(answer.text().contains("there is no file") && answer.text().contains("mdsel ingest"));
}

#[test]
fn a_hash_is_that_of_the_bytes_of_the_file() {
    for text in [
        &b"\xef\xbb\xbf# A\r\n\r\none\r\n"[..],
        b"# A\r\rone\r",
        b"# A\n\n\xff one",
        b"\n\n# A\n\none\n\n\n",
    ] {
        let place = Place::new();
        place.write("a.md", text);
        place.run(&["ingest"]).success();
        for address in ["a.md::*", "a.md::A"] {
            let hash = place.run(&["read", address]).success().json()["hash"].clone();
            let edit = ["replace", "a.md::A", "--content", "two", "--dry-run", "--expect"];
            place.run(&[&edit[..], &[hash.as_str().unwrap()]].concat()).success();
            // The same text with other line ends is another text.
            let other: Vec<u8> =
                text.iter().map(|&byte| if byte == b'\r' { b'\n' } else { byte }).collect();
            let changed = Place::new();
            changed.write("a.md", &other);
            changed.run(&["ingest"]).success();
            let answer = changed.run(&[&edit[..], &[hash.as_str().unwrap()]].concat());
            assert_eq!(answer.status, if other == text { 0 } else { 2 }, "{text:?}");
        }
    }
}

#[test]
fn a_change_of_the_same_size_and_time_is_a_conflict() {
    let place = Place::ingested(&[("doc.md", DOC)]);
    let modified = std::fs::metadata(place.join("doc.md")).unwrap().modified().unwrap();
    let changed = DOC.replace("alpha", "ALPHA");
    std::fs::write(place.join("doc.md"), &changed).unwrap();
    let written = std::fs::File::options().write(true).open(place.join("doc.md")).unwrap();
    written.set_modified(modified).unwrap();
    for edit in [
        &["replace", "doc.md", "Beta", "--content", "new"][..],
        &["delete", "doc.md", "Beta"],
        &["rename", "doc.md", "Beta", "--title", "New"],
        &["meta", "set", "doc.md", "k=v"],
    ] {
        assert_eq!(place.run(edit).ends(2).code(), "CONFLICT", "{edit:?}");
        assert_eq!(file(&place, "doc.md"), changed);
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "it is a table")]
fn every_refusal_has_a_hint() {
    let place = Place::ingested(&[
        ("doc.md", DOC),
        ("front.md", "---\na: 1\n---\n\n# F\n"),
        ("list.md", "# L\n\n- one\n- two\n\n> - quoted\n"),
        ("ldmd.md", "<!--LDMD:BEGIN id=\"a\"-->\n# A\n\n## B\n<!--LDMD:END id=\"a\"-->\n"),
        ("fence.md", "# F\n\n- item\n\n  ```\n  run a\n  ```\n"),
    ]);
    let cases: [(&[&str], &str, &str); 30] = [
        (
            &["replace", "doc.md", "Alpha", "--content", "## New"],
            "WOULD_ESCAPE",
            "--no-keep-heading",
        ),
        (&["replace", "doc.md", "Alpha", "--content", "x\n\n# Out"], "WOULD_ESCAPE", "use `###`"),
        (
            &["replace", "doc.md", "One", "--content", "## X", "--no-children"],
            "WOULD_ESCAPE",
            "leave out --no-children",
        ),
        (&["insert", "doc.md", "Alpha", "--content", "# Out"], "WOULD_ESCAPE", "--relevel"),
        (
            &["insert", "doc.md", "root", "--position", "last_child", "--content", "# Out"],
            "WOULD_ESCAPE",
            "--position before",
        ),
        (&["insert", "doc.md", "Two", "--content", "### Deep"], "WRONG_LEVEL", "begin with `#`"),
        (&["replace", "doc.md", "One", "--content", "x"], "WOULD_DROP", "--no-children"),
        (
            &["replace", "doc.md", "Two", "--content", "x", "--no-keep-heading"],
            "WOULD_DROP",
            "leave out --no-keep-heading",
        ),
        (
            &["replace", "doc.md", "Two", "--content", "```\nx"],
            "OPEN_FENCE",
            "add the line that closes it",
        ),
        (
            &["insert", "doc.md", "Alpha", "--content", "## Beta\n\nbeta"],
            "DUPLICATE",
            "--allow-duplicate",
        ),
        (&["delete", "doc.md::*"], "NO_SUCH_POSITION", "--content ''"),
        (
            &["insert", "doc.md::*", "--content", "x", "--position", "before"],
            "NO_SUCH_POSITION",
            "first_child or last_child",
        ),
        (
            &["insert", "doc.md::block:paragraph[0]", "--content", "x", "--position", "last_child"],
            "NO_SUCH_POSITION",
            "before or after",
        ),
        (
            &["delete", "doc.md", "@frontmatter"],
            "NO_SUCH_PLACE",
            "mdsel replace doc.md::@frontmatter",
        ),
        (
            &["replace", "front.md", "@frontmatter", "--content", "---\na: 2"],
            "FRONT_MATTER",
            "close it with the delimiter",
        ),
        (
            &["replace", "front.md", "@frontmatter", "--content", "prose"],
            "FRONT_MATTER",
            "key: value",
        ),
        (
            &["replace", "doc.md", "doc.md::root", "--content", "---\na: 1\n---"],
            "FRONT_MATTER",
            "doc.md::@frontmatter",
        ),
        (
            &["replace", "list.md", "block:list[0]/item[0]", "--content", "text"],
            "CHANGES_OUTSIDE",
            "`- text`",
        ),
        (
            &["replace", "list.md", "block:list[0]/item[0]/block:paragraph[0]", "--content", "x"],
            "NOT_WHOLE_LINES",
            "list.md::heading:h1[0]/block:list[0]/item[0]",
        ),
        (
            &["delete", "list.md", "block:blockquote[0]/block:list[0]/item[0]"],
            "NOT_WHOLE_LINES",
            "around it: list.md::heading:h1[0]/block:blockquote[0]; or its lines, with their markers: list.md:",
        ),
        (
            &["replace", "ldmd.md", "ldmd:a", "--content", "# A"],
            "WOULD_DROP",
            "keep their headings in the content",
        ),
        (
            &[
                "replace",
                "fence.md",
                "block:list[0]",
                "--old",
                "run a",
                "--content",
                "run b\nrun c",
            ],
            "CHANGES_OUTSIDE",
            "begin each further line of the content with `  `",
        ),
        (
            &["replace", "doc.md", "Alpha", "--old", "none", "--content", "x"],
            "TEXT_NOT_FOUND",
            "mdsel read 'doc.md::heading:h2[0]' -f raw",
        ),
        (
            &["replace", "doc.md", "doc.md::*", "--old", "t", "--content", "x"],
            "TEXT_NOT_UNIQUE",
            "more of the text around it",
        ),
        (
            &["replace", "doc.md", "Alpha", "--old", "Alpha", "--content", "x"],
            "CHANGES_OUTSIDE",
            "mdsel rename 'doc.md::heading:h2[0]'",
        ),
        (
            &["replace", "doc.md::*", "--old", "Alpha", "--content", "x"],
            "CHANGES_OUTSIDE",
            "mdsel rename 'doc.md::heading:h2[0]'",
        ),
        (
            &["replace", "doc.md::*", "--old", "## Alpha", "--content", "## x"],
            "WOULD_DROP",
            "mdsel rename doc.md::one/alpha ",
        ),
        (
            &["insert", "doc.md:5-6", "--position", "first_child", "--content", "x"],
            "NO_SUCH_POSITION",
            "before or after",
        ),
        (
            &["replace", "ldmd.md", "A", "--content", "x", "--allow-drop"],
            "BREAKS_MARKUP",
            "mdsel ldmd index ldmd.md",
        ),
        (
            &["delete", "doc.md::Two?part=heading"],
            "NO_SUCH_PART",
            "mdsel delete 'doc.md::heading:h1[1]' --no-children",
        ),
    ];
    for (arguments, code, hint) in &cases {
        let answer = place.run(arguments);
        assert_eq!(answer.status, 2, "{arguments:?} {}", answer.text());
        assert_eq!(answer.code(), "EDIT_REFUSED", "{arguments:?}");
        assert_eq!(reason(&answer), *code, "{arguments:?} {}", answer.text());
        let message = answer.json()["error"]["hint"].as_str().unwrap().to_owned();
        assert!(message.contains(hint), "{arguments:?}: {message}");
        for flag in arguments.iter().filter(|word| word.starts_with("--")) {
            let names_it = message.contains(&format!("pass {flag}"));
            assert!(!names_it || *flag == "--position", "{arguments:?}: {message}");
        }
    }
    let part = place.run(&["replace", "doc.md", "Alp", "--content", "x"]).ends(1);
    assert!(part.text().contains("--fuzzy") && part.text().contains("doc.md::heading:h2[0]"));
    assert_eq!(file(&place, "doc.md"), DOC);
}

#[test]
fn a_batch_names_the_line_that_fails() {
    let place = Place::ingested(&[("doc.md", DOC)]);
    let first = json!({"operation": "replace", "section": "Alpha", "content": "a"});
    for failing in [
        json!({"operation": "replace", "section": "One", "content": "x"}),
        json!({"operation": "delete", "section": "None"}),
        json!({"operation": "replace", "section": "Beta"}),
    ] {
        let batch = format!("{first}\n\n{failing}\n");
        let answer = place.run_in("", &["edit", "doc.md", "--batch", "-"], &batch);
        assert_ne!(answer.status, 0);
        assert!(answer.text().contains("line 3 of the batch: "), "{}", answer.text());
        assert_eq!(file(&place, "doc.md"), DOC);
    }
    let fuzzy = json!({"operation": "replace", "section": "Alp", "content": "a", "fuzzy": true});
    place.run_in("", &["edit", "doc.md", "--batch", "-"], &fuzzy.to_string()).success();
}

#[test]
fn a_batch_names_all_lines_that_fail() {
    let place = Place::ingested(&[("doc.md", DOC), ("b.md", "# B\n\ntext\n")]);
    let good = json!({"operation": "replace", "section": "doc.md::Alpha", "content": "a"});
    let missing = |title: &str| json!({"operation": "delete", "section": title});
    let run = |lines: &[String]| {
        let answer = place.run_in("", &["edit", "--batch", "-"], &lines.join("\n"));
        assert_eq!(file(&place, "doc.md"), DOC);
        answer
    };
    let (good, of_b) = (good.to_string(), missing("b.md::None").to_string());
    // The problems of reading come first, and the first one decides the status.
    let lines = [
        good.clone(),
        of_b.clone(),
        "not JSON".to_owned(),
        // Which document this one is of depends on the line before it.
        missing("None").to_string(),
        json!({"operation": "delete", "section": "doc.md::Beta", "bogus": 1}).to_string(),
        json!({"operation": "replace", "section": "doc.md::Beta"}).to_string(),
        missing("doc.md::Nowhere").to_string(),
    ];
    let answer = run(&lines).ends(2);
    let error = &answer.json()["error"];
    let others = error["others"].as_array().unwrap();
    let listed = std::iter::once(error).chain(others);
    let listed: Vec<(&str, &str)> = listed
        .map(|one| {
            let message = one["message"].as_str().unwrap();
            (one["code"].as_str().unwrap(), message.split_once(" of").unwrap().0)
        })
        .collect();
    let expected = [
        ("USAGE", "line 3"),
        ("USAGE", "line 5"),
        ("EDIT_REFUSED", "line 6"),
        ("SELECTOR_NOT_FOUND", "line 2"),
        ("SELECTOR_NOT_FOUND", "line 7"),
    ];
    assert_eq!(listed, expected, "{}", answer.text());
    assert_eq!(answer.stderr.lines().count(), expected.len(), "{}", answer.stderr);
    // Two edits of the same lines: the second one finds nothing.
    let twice = json!({"operation": "delete", "section": "doc.md::Alpha"}).to_string();
    let answer = run(&[twice.clone(), of_b, twice.clone(), twice]).ends(1).json();
    let faults = answer["unresolved_selectors"].as_array().unwrap();
    let faults: Vec<_> = faults.iter().map(|one| one["message"].as_str().unwrap()).collect();
    for (fault, line) in faults.iter().zip([2, 3, 4]) {
        assert!(fault.starts_with(&format!("line {line} of the batch: ")), "{faults:?}");
    }
    assert_eq!(faults.len(), 3);
    // A refusal names the missing places before and after it, and the other refusals.
    let refused = json!({"operation": "replace", "section": "doc.md::One", "content": "# X"});
    let (refused, absent) = (refused.to_string(), missing("doc.md::None").to_string());
    let answer = run(&[absent.clone(), refused.clone(), absent.clone(), refused]).ends(2);
    let printed = answer.stderr.matches("EDIT_REFUSED (WOULD_ESCAPE)").count();
    let error = &answer.json()["error"];
    assert_eq!(
        (&error["code"], &error["reason"]),
        (&json!("EDIT_REFUSED"), &json!("WOULD_ESCAPE"))
    );
    let others = error["others"].as_array().unwrap();
    let codes: Vec<_> = others.iter().map(|one| one["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["SELECTOR_NOT_FOUND", "SELECTOR_NOT_FOUND", "EDIT_REFUSED"], "{error}");
    assert_eq!((others[2]["reason"].as_str(), printed), (Some("WOULD_ESCAPE"), 2), "{error}");
    // A file that has changed decides, and the problem before it is named.
    place.write("b.md", "# B\n\nother\n");
    let of_changed = json!({"operation": "replace", "section": "b.md::B", "content": "x"});
    let first = absent;
    let answer = run(&[first.clone(), of_changed.to_string()]).ends(2).json();
    assert_eq!(answer["error"]["code"], "CONFLICT", "{answer}");
    assert_eq!(answer["error"]["others"][0]["code"], "SELECTOR_NOT_FOUND", "{answer}");
    let answer = run(&[of_changed.to_string(), of_changed.to_string(), first]).ends(2).json();
    assert_eq!(answer["error"]["code"], "CONFLICT", "{answer}");
    assert_eq!(answer["error"]["others"].as_array().unwrap().len(), 1, "{answer}");
    // The lines of an array that cannot be read are no edits.
    let answer = run(&["[".to_owned(), format!("{good},"), "]".to_owned()]).ends(2).json();
    assert_eq!(answer["error"].get("others"), None, "{answer}");
    // Only an answer that leaves out an edit says so.
    for (line, status, list) in [
        (missing("doc.md::None").to_string(), 1, "/unresolved_selectors"),
        ("not JSON".to_owned(), 2, "/error/others"),
    ] {
        for extra in [0, 1] {
            let count = mdsel::limits::MAX_BATCH_PROBLEMS;
            let answer = run(&vec![line.clone(); count + extra]).ends(status).json();
            let faults = answer.pointer(list).unwrap().as_array().unwrap();
            assert_eq!(faults.len(), count - usize::from(status == 2));
            let last = faults.last().unwrap()["message"].as_str().unwrap();
            assert_eq!(last.ends_with("further edits were not checked"), extra == 1, "{last}");
        }
    }
}

#[test]
fn a_batch_takes_the_address_of_a_missing_document_for_a_title_only_if_there_is_one() {
    let place = Place::ingested(&[("doc.md", "# One\n\n## e.md::Two\n\ntext\n")]);
    let first = json!({"operation": "insert", "section": "doc.md::One", "content": "# New"});
    let run = |section: &str, more: &[&str]| {
        let second = json!({"operation": "replace", "section": section, "content": "x"});
        let arguments = [&["edit", "--dry-run", "-f", "json", "--batch", "-"], more].concat();
        place.run_in("", &arguments, &format!("{first}\n{second}\n"))
    };
    for section in ["e.md::*", "e.md::Three"] {
        let fault = run(section, &[]).ends(1).json()["unresolved_selectors"][0].clone();
        assert_eq!(fault["code"], "NAMESPACE_NOT_FOUND", "{fault}");
    }
    run("e.md::Two", &[]).success();
    // A file that is not ingested yet is not a section, either.
    place.write("e.md", "# E\n\n## Three\n\ntext\n");
    let answer = run("e.md::Three", &["--refresh"]).success().json();
    assert_eq!(answer["edits"][1]["file"], "e.md", "{answer}");
}

#[test]
fn a_key_that_an_operation_would_ignore_is_refused() {
    let place = Place::ingested(&[("doc.md", DOC)]);
    for (operation, key, value) in [
        ("delete", "position", json!("after")),
        ("replace", "to", json!("doc.md::Beta")),
        ("replace", "relevel", json!(true)),
        ("insert", "no_children", json!(true)),
        ("done", "no_keep_heading", json!(true)),
        ("delete", "allow_drop", json!(true)),
        ("done", "allow_escape", json!(true)),
        ("replace", "allow_duplicate", json!(true)),
        ("rename", "allow_change", json!(true)),
        ("set", "fuzzy", json!(true)),
    ] {
        let mut edit = json!({ "operation": operation, "section": "Alpha" });
        edit[key] = value;
        let edit = edit.to_string();
        let answer = place.run_in("", &["edit", "doc.md", "--batch", "-"], &edit).ends(2);
        assert_eq!(answer.code(), "USAGE", "{edit}");
        assert!(answer.text().contains(&format!("{key} has no meaning for {operation}")));
        assert_eq!(file(&place, "doc.md"), DOC);
    }
}

#[test]
fn a_budget_leaves_out_the_later_problems_of_a_batch() {
    let place = Place::ingested(&[("doc.md", DOC)]);
    let missing =
        |number| format!("{{\"operation\":\"delete\",\"section\":\"nowhere {number}\"}}\n");
    for (lines, list) in [
        ((0..20).map(missing).collect::<String>(), "/unresolved_selectors"),
        ("{\"operation\":\"dele\n".repeat(20), "/error/others"),
    ] {
        let problems = |budget: &str| {
            let budget = ["edit", "doc.md", "--batch", "-", "-f", "json", "--max-chars", budget];
            let answer = place.run_in("", &budget, &lines);
            assert!(answer.text().contains("line 1 of the batch: "), "{}", answer.text());
            answer.json().pointer(list).unwrap().as_array().unwrap().len()
        };
        let (few, all) = (problems("1000"), problems("100000"));
        assert!((1..10).contains(&few) && all >= 19, "{few} {all}");
    }
}

#[test]
fn an_option_has_a_meaning_on_the_command_line_if_it_has_one_in_a_batch() {
    let place = Place::ingested(&[("doc.md", DOC)]);
    let options = [
        "position",
        "relevel",
        "no_children",
        "no_keep_heading",
        "allow_drop",
        "allow_escape",
        "allow_duplicate",
        "allow_change",
        "fuzzy",
    ];
    for (command, edit) in [
        (
            &["replace", "doc.md", "Beta", "--content", "x"][..],
            json!({"operation": "replace", "content": "x"}),
        ),
        (
            &["replace", "doc.md", "Beta", "--old", "beta", "--content", "x"],
            json!({"operation": "replace", "old": "beta", "content": "x"}),
        ),
        (
            &["insert", "doc.md", "Beta", "--content", "x"],
            json!({"operation": "insert", "content": "x"}),
        ),
        (&["delete", "doc.md", "Beta"], json!({"operation": "delete"})),
        (&["task", "doc.md", "Beta", "--done"], json!({"operation": "done"})),
        (&["task", "doc.md", "Beta", "--open"], json!({"operation": "open"})),
        (&["meta", "set", "doc.md", "k=1"], json!({"operation": "set", "content": "1"})),
        (&["meta", "unset", "doc.md", "k"], json!({"operation": "unset"})),
        (&["meta", "add", "doc.md", "k", "1"], json!({"operation": "add", "content": "1"})),
        (&["meta", "remove", "doc.md", "k", "1"], json!({"operation": "remove", "content": "1"})),
        (
            &["rename", "doc.md", "Beta", "--title", "x"],
            json!({"operation": "rename", "content": "x"}),
        ),
        (&["move", "doc.md", "new.md"], json!({"operation": "move", "content": "new.md"})),
        (
            &["move", "doc.md::Beta", "--to", "doc.md::Two"],
            json!({"operation": "move", "to": "doc.md::Two"}),
        ),
    ] {
        for option in options {
            let (mut words, mut edit) = (command.to_vec(), edit.clone());
            let flag = format!("--{}", option.replace('_', "-"));
            words.extend(["--dry-run", &flag]);
            edit["section"] = json!("Beta");
            edit[option] = json!(true);
            if option == "position" {
                words.push("before");
                edit[option] = json!("before");
            }
            let answer = place.run(&words).stderr;
            let refusals =
                ["unexpected argument", "cannot be used with", "were not provided: --to"];
            let is_refused = refusals.iter().any(|refusal| answer.contains(refusal));
            let batch = place.run_in(
                "",
                &["edit", "doc.md", "--batch", "-", "--dry-run"],
                &edit.to_string(),
            );
            let has_no_meaning = batch.text().contains("has no meaning for");
            assert_eq!(is_refused, has_no_meaning, "{words:?} {answer} {edit} {}", batch.text());
        }
    }
    let hint = |answer: &Answer| answer.json()["error"]["hint"].as_str().unwrap().to_owned();
    for arguments in
        [&["insert", "doc.md", "Beta"][..], &["insert", "doc.md", "Beta", "--content", ""]]
    {
        assert!(
            !hint(&place.run(arguments).ends(2)).contains("''"),
            "an insertion cannot be empty"
        );
    }
    for content in [json!(null), json!("")] {
        let edit =
            json!({"operation": "insert", "section": "Beta", "content": content}).to_string();
        let refused = place.run_in("", &["edit", "doc.md", "--batch", "-"], &edit).ends(2);
        assert_eq!(hint(&refused), r#"give it as "content""#);
    }
    place.assert_in_step();
}

#[test]
fn front_matter_is_added_to_a_file_that_has_none() {
    let place = Place::ingested(&[("doc.md", DOC), ("mark.md", "\u{feff}text\r\n")]);
    let add = |document, content| ["replace", document, "@frontmatter", "--content", content];
    place.run(&add("doc.md", "title: T\ntags: [a]\n")).success();
    assert_eq!(file(&place, "doc.md"), format!("---\ntitle: T\ntags: [a]\n---\n\n{DOC}"));
    place.run(&add("mark.md", "---\ntitle: T\n---\n")).success();
    assert_eq!(file(&place, "mark.md"), "\u{feff}---\r\ntitle: T\r\n---\r\n\r\ntext\r\n");
    place.assert_in_step();
}

#[test]
fn an_edit_that_makes_a_file_too_large_names_the_size_that_the_store_allows() {
    let place = Place::with(&[("doc.md", "# A\n\na\n")]);
    place.run(&["ingest", "--max-file-size", "20"]).success();
    let long = "a title of more bytes";
    for arguments in [
        &["replace", "doc.md", "A", "--content", long][..],
        &["rename", "doc.md", "A", "--title", long],
    ] {
        for dry in [&[][..], &["--dry-run"]] {
            let error = &place.run(&[arguments, dry].concat()).ends(2).json()["error"];
            let message = error["message"].as_str().unwrap();
            assert!(message.starts_with("doc.md: "), "{message}");
            assert!(message.ends_with(" bytes; --max-file-size is 20"), "{message}");
            let hint = error["hint"].as_str().unwrap();
            assert!(hint.contains("`mdsel ingest --max-file-size "), "{hint}");
        }
    }
    place.write("doc.md", "# A\n\nwritten by others\n");
    let shorter = ["replace", "doc.md", "A", "--content", "b"];
    let error = &place.run(&shorter).ends(2).json()["error"];
    assert_eq!(error["message"], "doc.md: 23 bytes; --max-file-size is 20");
    place.run(&["ingest", "--max-file-size", "30"]).success();
    place.run(&shorter).success();
}

#[test]
fn no_ldmd_section_of_a_place_is_dropped_silently() {
    let (first, second) = (&marked("k1", "a\n"), &marked("k2", "b\n"));
    let text = &"text\n".to_owned();
    let orders = [[first, second, text], [first, text, second], [text, first, second]];
    for (order, line_end) in
        orders.into_iter().flat_map(|order| ["\n", "\r\n"].map(|line_end| (order, line_end)))
    {
        let inside = order.map(String::as_str).join("\n");
        let place = Place::ingested(&[
            ("h.md", &format!("# H\n\n{inside}\n# J\n").replace('\n', line_end)),
            ("p.md", &marked("p", &inside).replace('\n', line_end)),
        ]);
        for (address, content) in [
            ("h.md::H", "new"),
            ("h.md:3-11", "new"),
            ("h.md::*", "# H\n\nnew\n\n# J\n"),
            ("p.md::ldmd:p", "new"),
        ] {
            let replace = ["replace", address, "--content", content, "--dry-run", "-f", "json"];
            let refused = place.run(&replace).ends(2).json();
            assert_eq!(refused["error"]["reason"], "WOULD_DROP", "{refused}");
            let allowed = place.run(&[&replace[..], &["--allow-drop"]].concat()).success().json();
            let dropped = json!(["ldmd:k1", "ldmd:k2"]);
            assert_eq!(allowed["removed_sections"], dropped, "{address} {inside:?}");
        }
    }
}

#[test]
fn the_own_text_of_an_ldmd_section_is_not_replaced_apart_from_the_sections_inside() {
    let text = marked("p", &format!("own\n{}", marked("k", "a\n")));
    let place = Place::ingested(&[("p.md", &text)]);
    let replace = |id: &str, content: &str| {
        place.run(&["replace", id, "--no-children", "--allow-drop", "--content", content])
    };
    let refused = replace("p.md::ldmd:p", "new").ends(2).json();
    assert_eq!(refused["error"]["reason"], "NO_SUCH_PART", "{refused}");
    let hint = "`mdsel replace p.md::ldmd:p` replaces the nested sections, too";
    assert_eq!(refused["error"]["hint"], hint);
    replace("p.md::ldmd:k", "b").success();
    assert_eq!(file(&place, "p.md"), text.replace("a\n", "b\n"));
}

#[test]
fn a_marker_with_another_attribute_gets_no_blank_line_beside_it() {
    let inner = marked("k", "old\n");
    let text = marked("p", &format!("own\n{inner}more\n"));
    let place = Place::ingested(&[("p.md", &text)]);
    let titled = inner.replace("id=\"k\"-->\nold", "id=\"k\" title=\"K\"-->\nold");
    place.run(&["replace", "p.md::ldmd:k", "--content", &titled]).success();
    assert_eq!(file(&place, "p.md"), text.replace(&inner, &titled));
}

/// An LDMD section with the text `inside`.
fn marked(id: &str, inside: &str) -> String {
    format!("<!--LDMD:BEGIN id=\"{id}\"-->\n{inside}<!--LDMD:END id=\"{id}\"-->\n")
}

#[test]
fn a_patch_has_lone_carriage_returns_as_text() {
    let place = Place::ingested(&[("a.md", "# T\n\none\rtwo\n\nx\n"), ("b.md", "# T\r\rx\r")]);
    let diff = |file: &str| {
        let rename = ["rename", file, "T", "--title", "Q", "--dry-run", "-f", "raw"];
        place.run(&rename).success().text()
    };
    assert!(diff("a.md").contains("@@ -1,4 +1,4 @@\n-# T\n+# Q\n \n one\rtwo\n \n"));
    let end = "\n\\ No newline at end of file\n";
    assert!(diff("b.md").ends_with(&format!("-# T\r\rx\r{end}+# Q\r\rx\r{end}")));
}

#[test]
fn hints_about_dropped_and_escaping_sections_name_what_helps() {
    let marked = "<!--LDMD:BEGIN id=\"s\"-->\n## Sites\nold\n<!--LDMD:END id=\"s\"-->\n";
    let place = Place::ingested(&[
        ("s.md", marked),
        ("h.md", &format!("# H\n\n{}", marked.replace("## Sites\n", ""))),
        ("t.md", "# T\n\n## S\n\nold\n"),
        ("n.md", &format!("<!--LDMD:BEGIN id=\"p\"-->\nown\n{marked}<!--LDMD:END id=\"p\"-->\n")),
    ]);
    for (arguments, expected) in [
        (&["s.md", "ldmd:s", "--content", "new"][..], "begin the content with the heading"),
        (&["h.md", "H", "--content", "new"], "keep their markers in the content, or pass"),
        (&["h.md:3-5", "--content", "new"], "keep their markers in the content, or pass"),
        (&["n.md", "ldmd:p", "--content", "new"], "keep their headings and markers in"),
        (&["t.md", "S", "--content", "# S\n\nnew\n"], "begin the content with `## S` as it is"),
    ] {
        let refused =
            place.run(&[&["replace"], arguments, &["-f", "json"]].concat()).ends(2).json();
        let hint = refused["error"]["hint"].as_str().unwrap();
        assert!(hint.starts_with(expected), "{arguments:?}: {hint}");
    }
}

#[test]
fn a_document_that_is_given_back_with_one_more_line_end_stays() {
    let place = Place::ingested(&[("a.md", "# T\n\nalpha")]);
    let replace = ["replace", "a.md::*", "--content", "# T\n\nalpha\n", "-f", "text"];
    assert!(place.run(&replace).success().text().contains("unchanged"));
    assert_eq!(std::fs::read_to_string(place.join("a.md")).unwrap(), "# T\n\nalpha");
}

#[test]
fn an_edit_takes_a_document_by_its_name_and_not_by_a_glob() {
    let place = Place::ingested(&[("x/a.md", "# T\n\nalpha\n")]);
    for document in ["a*", "x", "x/"] {
        let refused = place.run(&["replace", document, "T", "--content", "new"]).ends(1).json();
        let fault = &refused["unresolved_selectors"][0];
        assert_eq!(fault["code"], "NAMESPACE_NOT_FOUND", "{refused}");
        assert_eq!(fault["suggestions"], json!(["x/a.md::*"]), "{refused}");
    }
    place.run(&["replace", "a", "T", "--content", "new"]).success();
}

#[test]
fn a_hint_about_a_line_of_a_batch_names_its_keys() {
    let place = Place::ingested(&[("doc.md", DOC)]);
    let hint = |edit: &Value| {
        let answer = place.run_in("", &["edit", "doc.md", "--batch", "-"], &edit.to_string());
        answer.ends(2).json()["error"]["hint"].as_str().unwrap().to_owned()
    };
    let insert = |content: &str| json!({ "operation": "insert", "section": "Alpha", "position": "after", "content": content });
    let text = hint(&insert("### New\n"));
    assert!(text.starts_with(r#"in that line, pass "relevel":true, "#), "{text}");
    assert!(text.ends_with(r#"or pass "allow_escape":true"#), "{text}");
    let mut edit = insert("### New\n");
    edit["relevel"] = json!(true);
    place.run_in("", &["edit", "doc.md", "--batch", "-", "--dry-run"], &edit.to_string()).success();
    let text = hint(&json!({ "operation": "replace", "section": "One", "content": "x" }));
    assert!(text.contains(r#"pass "no_children":true to replace"#), "{text}");
    // A hint that names a command names that of the store.
    let named = ["edit", "doc.md", "--batch", "-", "--db", ".mdsel.db"];
    let lines =
        json!({ "operation": "replace", "section": "doc.md:1", "old": "none", "content": "x" });
    let refused = place.run_in("", &named, &lines.to_string()).ends(2);
    assert!(refused.text().contains("`mdsel read --db .mdsel.db 'doc.md::"), "{}", refused.text());
}

#[test]
fn a_rename_in_a_batch_names_the_command_at_once() {
    let place = Place::ingested(&[("doc.md", DOC)]);
    for (edit, command) in [
        (
            json!({ "operation": "rename", "section": "Alpha", "title": "B" }),
            "rename ADDRESS --title",
        ),
        (
            json!({ "operation": "rename", "section": "Alpha", "content": "B" }),
            "rename ADDRESS --title",
        ),
        (
            json!({ "operation": "rename", "section": "Alpha", "old": "B" }),
            "rename ADDRESS --title",
        ),
        (json!({ "operation": "move", "section": "Alpha", "path": "b.md" }), "move DOC PATH"),
    ] {
        let refused = place.run_in("", &["edit", "--batch", "-"], &edit.to_string()).ends(2);
        let hint = refused.json()["error"]["hint"].as_str().unwrap().to_owned();
        assert!(hint.starts_with(&format!("use `mdsel {command}")), "{edit}: {hint}");
    }
}

#[test]
fn footnotes_of_every_footnote_with_a_kept_label_are_kept() {
    for (first, second) in [("see [^c]", "no more"), ("no more", "see [^c]")] {
        let notes = format!("[^a]: {first}\n\n[^a]: {second}\n\n[^c]: the third\n");
        let place =
            Place::ingested(&[("a.md", &format!("# One\n\nText[^a].\n\n# Two\n\n{notes}"))]);
        let edit = place.run(&["delete", "a.md", "Two", "-f", "json"]).success().json();
        assert_eq!(edit["kept_definitions"], json!(["^a", "^a", "^c"]), "{first}: {edit}");
    }
}

#[test]
fn html_that_would_take_the_rest_of_an_item_is_refused() {
    let place = Place::ingested(&[
        ("b.md", "# H\n\n1) x\n\n2) y\n\n   > q\n"),
        ("c.md", "- item\n\n  <!-- hidden\n\n  [l](nope.md)\n\n  - [ ] hidden task\n\n  -->\n"),
    ]);
    let quote = "b.md::block:list[0]/item[1]/block:blockquote[0]";
    let insert = ["insert", quote, "--position", "before", "--content", "<!-- open"];
    let refused = place.run(&insert).ends(2);
    assert!(refused.stderr.contains("EDIT_REFUSED (CHANGES_OUTSIDE)"), "{}", refused.stderr);
    place.run(&["links", "check"]).success();
    place.run(&["tasks"]).ends(1);
}

#[test]
fn a_fault_names_the_command_or_the_address_that_was_meant() {
    let place = Place::ingested(&[
        ("m.md", "---\nrelated:\n  links: [a]\n---\n# M\n\ntext\n\n- [ ] book the load test\n"),
        ("n.md", "# N\n"),
    ]);
    let said = |arguments: &[&str]| place.run(arguments).stderr + &place.run(arguments).text();
    assert!(said(&["replace", "m.md:7", "--content", "x", "-f", "json"]).contains("\"m.md:7-7\""));
    assert!(said(&["task", "book the load test", "--done"]).contains("`mdsel tasks`"));
    assert!(!said(&["task", "m.md:7", "--done"]).contains("m.md:7-7"));
    let unset = said(&["meta", "unset", "m.md", "related.links"]);
    assert!(unset.contains("`mdsel meta unset m.md related`"), "{unset}");
    for arguments in [["set", "m.md", "n.md", "a=b"], ["set", "-g", "*.md", "a=b"]] {
        assert!(said(&[&["meta"], &arguments[..]].concat()).contains("`mdsel edit --batch FILE`"));
    }
}
