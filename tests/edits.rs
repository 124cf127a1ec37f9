//! `replace`, `insert`, `delete` and `edit`: files, answers, attacks, kills, and the store
//! afterwards.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::process::Command;

use serde_json::json;

use crate::corpus;
use crate::harness::{Place, age, copy, fixtures, repeats, tampered};
use crate::stores::as_nobody;

const DOC: &str = "---\ntitle: x\n---\nintro\n\n# One\n\nfirst\n\n## Alpha\n\nalpha\n\n## Beta\n\nbeta\n\n# Two\n\ntwo\n";

fn doc() -> Place {
    Place::ingested(&[("doc.md", DOC)])
}

fn text(place: &Place) -> String {
    String::from_utf8(std::fs::read(place.join("doc.md")).unwrap()).unwrap()
}

#[test]
fn a_list_item_is_read_and_replaced_without_its_nested_lists() {
    let list = "- one\n  more\n\n  - two\n    - three\n- four\n  - five\n\n  text\n- - six\n";
    let place = Place::ingested(&[("a.md", list)]);
    let item = |index: usize| format!("a.md::root/block:list[0]/item[{index}]");
    let read = place.run(&["read", &item(0), "--no-children", "-f", "raw"]).success();
    assert_eq!(read.text(), "- one\n  more\n");
    let part = format!("{}?part=own", item(0));
    assert_eq!(place.run(&["select", &part, "-f", "raw"]).success().text(), "- one\n  more\n");
    for index in [1, 2] {
        place.run(&["read", &item(index), "--no-children"]).ends(1);
        let replace = ["replace", &item(index), "--no-children", "--content", "- x"];
        assert_eq!(place.run(&replace).ends(2).json()["error"]["reason"], "NO_SUCH_PART");
    }
    let delete = place.run(&["delete", &item(0), "--no-children"]).ends(2);
    assert!(delete.text().contains("deletes the nested lists, too"), "{}", delete.text());
    place.run(&["replace", &item(0), "--no-children", "--content", "- new"]).success();
    let new = list.replace("one\n  more", "new");
    assert_eq!(std::fs::read_to_string(place.join("a.md")).unwrap(), new);
}

#[test]
fn answers_have_the_documented_fields() {
    let place = doc();
    let read = place.run(&["read", "doc.md", "One/Alpha"]).success().json();
    let hash = read["hash"].as_str().unwrap();
    let answer = place
        .run(&["replace", "doc.md", "One/Alpha", "--content", "new\n\ntext", "--expect", hash])
        .success()
        .json();
    assert_eq!((&answer["success"], &answer["old_content"]), (&json!(true), &json!("\nalpha\n\n")));
    assert_eq!((&answer["new_line_start"], &answer["new_line_end"]), (&json!(10), &json!(15)));
    let section = place.run(&["read", "doc.md", "One/Alpha"]).success().json();
    assert_eq!((&section["line_start"], &section["line_end"]), (&json!(10), &json!(15)));
    assert_eq!(text(&place), DOC.replace("\nalpha\n", "\nnew\n\ntext\n"));
    let answer = place
        .run(&["insert", "doc.md", "One/Alpha", "--content", "## Gamma\n\ngamma\n"])
        .success()
        .json();
    assert_eq!(
        (&answer["inserted_at"], &answer["new_section_path"]),
        (&json!(16), &json!("one/gamma"))
    );
    let answer = place.run(&["delete", "doc.md", "One/Gamma"]).success().json();
    assert_eq!(
        (&answer["deleted_content"], &answer["deleted_lines"]),
        (&json!("## Gamma\n\ngamma\n\n"), &json!([16, 19]))
    );
    assert_ne!(answer["hash_before"], answer["hash_after"]);
    assert_eq!(text(&place), DOC.replace("\nalpha\n", "\nnew\n\ntext\n"));
    place.assert_in_step();
    let answer = place.run(&["delete", "doc.md", "One", "--no-children"]).success().json();
    assert_eq!(answer["reparented"].as_array().unwrap().len(), 2);
    place.assert_in_step();
}

#[test]
fn what_was_deleted_is_what_the_file_lost() {
    let text = "---\na: 1\n---\n\n# A\n\na [x] [y]\n\n## B\n\nb\n\n[x]: x.md\n\nb2\n\n[y]: y.md\n\n# C\n\nc\n\n# D\n\nd";
    for (section, lines, content) in [
        ("@frontmatter", [1, 4], "---\na: 1\n---\n\n"),
        ("A/B", [9, 17], "## B\n\nb\n\n\nb2\n\n"),
        ("C", [19, 22], "# C\n\nc\n\n"),
        ("D", [22, 25], "\n# D\n\nd"),
    ] {
        let place = Place::ingested(&[("doc.md", text)]);
        let answer = place.run(&["delete", "doc.md", section]).success().json();
        assert_eq!(answer["deleted_content"], content, "{section}");
        assert_eq!(answer["deleted_lines"], json!(lines), "{section}");
    }
    // The last blank line before a place goes if no text follows it.
    let place = Place::ingested(&[("doc.md", "# A\n\na\n\n# B\n\nb\n")]);
    let answer = place.run(&["delete", "doc.md", "B", "--dry-run", "-f", "json"]).success().json();
    assert_eq!(answer["deleted_lines"], json!([4, 7]));
    let removed = place.run(&["delete", "doc.md", "B", "--dry-run", "-f", "text"]).success().text();
    let removed = removed.lines().filter(|line| line.starts_with('-') && !line.starts_with("---"));
    assert_eq!(removed.count(), 4);
}

#[test]
fn the_whole_document_keeps_its_final_line_end() {
    for (old, new) in [("# A\n", "# B\n"), ("# A\r\n", "# B\r\n"), ("# A", "# B"), ("", "# B")] {
        let place = Place::ingested(&[("doc.md", old)]);
        let replace = ["replace", "doc.md::*", "--content", "# B", "--allow-drop"];
        place.run(&replace).success();
        assert_eq!(text(&place), new);
    }
}

#[test]
fn a_line_of_a_table_suggests_its_row() {
    let file = "# A\n\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n";
    let place = Place::ingested(&[("doc.md", file)]);
    for (line, first) in [(3, "/row[header]"), (4, ""), (5, "/row[0]"), (6, "/row[1]")] {
        let address = format!("doc.md:{line}");
        let fault = place.run(&["replace", &address, "--content", "| 5 | 6 |"]).ends(1).json();
        let suggestions = &fault["unresolved_selectors"][0]["suggestions"];
        let table = "doc.md::heading:h1[0]/block:table[0]";
        assert_eq!(suggestions[0], format!("{table}{first}"), "{fault}");
        let of_table = usize::from(!first.is_empty());
        assert_eq!(suggestions[of_table], table, "{fault}");
    }
    let row = "doc.md::heading:h1[0]/block:table[0]/row[1]";
    place.run(&["replace", row, "--content", "| 5 | 6 |"]).success();
    assert_eq!(text(&place), file.replace("| 3 | 4 |", "| 5 | 6 |"));
}

#[test]
fn rows_without_a_delimiter_row_do_not_replace_a_table() {
    let file = "# A\n\n| a | b |\n|---|---|\n| 1 | 2 |\n";
    let place = Place::ingested(&[("doc.md", file)]);
    let table = "doc.md::block:table[0]";
    for arguments in [
        &["replace", table, "--content", "| 5 | 6 |"][..],
        &["insert", table, "--content", "| 5 | 6 |"],
        &["insert", table, "--content", "| 5 | 6 |", "--position", "before"],
    ] {
        let fault = place.run(arguments).ends(2).json();
        assert_eq!(fault["error"]["reason"], "NOT_A_TABLE", "{fault}");
        assert!(fault["error"]["hint"].as_str().unwrap().contains("/row[0]"), "{fault}");
        assert_eq!(text(&place), file);
    }
    place.run(&["replace", table, "--content", "text", "--dry-run"]).success();
    let row = ["replace", table, "--content", "| 5 | 6 |", "--allow-change"];
    place.run(&row).success();
    assert_eq!(text(&place), "# A\n\n| 5 | 6 |\n");
}

#[test]
fn a_child_of_a_table_is_a_row() {
    let file = "# A\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\ntext\n";
    let place = Place::ingested(&[("doc.md", file)]);
    let insert = |position: &str, content: &str| {
        let table = "doc.md::block:table[0]";
        place.run(&["insert", table, "--content", content, "--position", position]).success();
    };
    insert("last_child", "| 3 | 4 |");
    insert("first_child", "| 5 | 6 |");
    let rows = "| 5 | 6 |\n| 1 | 2 |\n| 3 | 4 |";
    assert_eq!(text(&place), file.replace("| 1 | 2 |", rows));
    let empty = "| a |\n|---|\n";
    let place = Place::ingested(&[("doc.md", empty)]);
    let insert = ["insert", "doc.md::block:table[0]", "--content", "| 1 |", "--position"];
    place.run(&[&insert[..], &["last_child"]].concat()).success();
    assert_eq!(text(&place), format!("{empty}| 1 |\n"));
}

#[test]
fn text_in_place_of_a_code_block_or_of_several_cells_is_refused() {
    let file = "# A\n\n```sh\nrun\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n| c |\n|---|\n| 3 |\n";
    let place = Place::ingested(&[("doc.md", file)]);
    let replace = |address: &str, content: &str, flags: &[&str]| {
        place.run(&[&["replace", address, "--content", content], flags].concat())
    };
    let code = "doc.md::block:code[0]";
    let fault = replace(code, "walk", &[]).ends(2).json();
    assert_eq!(fault["error"]["reason"], "NOT_CODE", "{fault}");
    let hint = fault["error"]["hint"].as_str().unwrap();
    assert!(hint.contains("the line ```sh,") && hint.contains("--allow-change"), "{hint}");
    replace(code, "```sh\nwalk\n```", &[]).success();
    assert_eq!(text(&place), file.replace("run", "walk"));
    replace(code, "walk", &["--allow-change"]).success();
    let file = file.replace("```sh\nrun\n```", "walk");
    assert_eq!(text(&place), file);
    let row = "doc.md::block:table[0]/row[0]";
    for fault in [
        replace(row, "junk", &[]),
        replace(row, "a \\| b", &[]),
        place.run(&["insert", row, "--content", "3, z"]),
    ] {
        let fault = fault.ends(2).json();
        assert_eq!(fault["error"]["reason"], "NOT_A_ROW", "{fault}");
        assert!(fault["error"]["hint"].as_str().unwrap().contains("`| text | text |`"), "{fault}");
    }
    place.run(&["insert", row, "--content", "3 | z"]).success();
    replace("doc.md::block:table[1]/row[0]", "4", &[]).success();
    let file = file.replace("| 1 | 2 |\n", "| 1 | 2 |\n3 | z\n").replace("| 3 |", "4");
    assert_eq!(text(&place), file);
}

#[test]
fn the_error_of_an_edit_of_a_whole_document_names_the_command_that_may_be_meant() {
    let file = "# Top\n\ntext\n\n## Sub\n\nsub\n";
    let place = Place::ingested(&[("doc.md", file), ("bare.md", "text\n")]);
    let hint = |command: &[&str]| {
        let fault = place.run(command).ends(2).json();
        fault["error"]["hint"].as_str().unwrap().to_owned()
    };
    let commands = |hint: &str| -> Vec<String> {
        hint.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    };
    let appended = hint(&["insert", "doc.md", "--content", "x"]);
    assert_eq!(commands(&appended), ["mdsel insert 'doc.md::*' --position last_child"]);
    let title = hint(&["rename", "doc", "--title", "New top"]);
    let rename = "mdsel rename 'doc.md::heading:h1[0]' --title 'New top'";
    assert_eq!(commands(&title), [rename, "mdsel move doc.md PATH"]);
    for address in ["doc.md::*", "doc.md::root"] {
        assert_eq!(hint(&["rename", address, "--title", "New top"]), title);
    }
    assert_eq!(
        commands(&hint(&["rename", "bare.md", "--title", "x"])),
        ["mdsel move bare.md PATH"]
    );
    let emptied = hint(&["delete", "doc.md"]);
    assert_eq!(emptied, hint(&["delete", "doc.md::*"]));
    assert!(commands(&emptied)[0].starts_with("mdsel replace 'doc.md::*' --content ''"));
    let insert = ["insert", "doc.md::*", "--position", "last_child", "--content", "end"];
    place.run(&insert).success();
    assert_eq!(text(&place), format!("{file}\nend\n"));
    place.run(&["rename", "doc.md::heading:h1[0]", "--title", "New top"]).success();
    assert!(text(&place).starts_with("# New top\n"));
}

#[test]
fn an_edit_of_a_key_without_a_document_asks_for_it() {
    let place = Place::ingested(&[("a.md", "# A\n"), ("b.md", "# B\n")]);
    let edit = r#"{"operation":"set","section":"status","content":"done"}"#;
    place.write("batch.jsonl", edit);
    let fault = place.run(&["edit", "--batch", "batch.jsonl"]).ends(1).json();
    let fault = &fault["unresolved_selectors"][0];
    assert_eq!(
        (&fault["selector"], &fault["code"]),
        (&"status".into(), &"NAMESPACE_REQUIRED".into())
    );
    assert!(fault["message"].as_str().unwrap().contains("give that as \"document\""), "{fault}");
}

#[test]
fn the_error_of_a_line_of_a_batch_shows_the_form_of_its_operation() {
    let place = doc();
    for (line, code, message, hint) in [
        ("not json", "USAGE", "it is not JSON", "\"operation\":\"replace\""),
        (r#"{"operation":"x","section":"One"}"#, "USAGE", "no operation is called \"x\"", ""),
        (r#"{"operation":"set","content":"b"}"#, "USAGE", "section", "\"section\":KEY"),
        (r#"{"operation":"set","key":"a"}"#, "USAGE", "key", "\"section\":KEY"),
        (r#"{"operation":"done"}"#, "USAGE", "section", "DOC:LINE"),
        (r#"{"operation":"set","section":"k"}"#, "EDIT_REFUSED", "no content", "\"section\":KEY"),
        (
            r#"{"operation":"replace","section":"One"}"#,
            "EDIT_REFUSED",
            "no content",
            "\"content\":\"\"",
        ),
    ] {
        place.write("batch.jsonl", line);
        let fault = place.run(&["edit", "doc.md", "--batch", "batch.jsonl"]).ends(2).json();
        let error = &fault["error"];
        let of = |key: &str| error[key].as_str().unwrap();
        assert_eq!(of("code"), code, "{fault}");
        assert!(of("message").starts_with("line 1 of the batch: "), "{fault}");
        assert!(of("message").contains(message) && of("hint").contains(hint), "{fault}");
        assert!(
            !of("message").contains("`rename`") && !of("hint").contains("--content"),
            "{fault}"
        );
    }
}

#[test]
fn the_answer_of_a_deletion_says_that_definitions_in_its_lines_stay() {
    let file = "# A\n\n[x]\n\n## B\n\ntext\n\n[x]: https://x.y\n";
    let place = Place::ingested(&[("doc.md", file)]);
    let deleted = place.run(&["delete", "doc.md", "B", "-f", "text"]).success().text();
    assert!(deleted.contains("deleted lines 5-9, but not all definitions\n"), "{deleted}");
    assert_eq!(text(&place), "# A\n\n[x]\n\n[x]: https://x.y\n");
}

#[test]
fn a_phrase_that_occurs_once_is_replaced_in_its_place() {
    let file = "# A\n\nOne two.\n\n> - three [f](x.md)\n> - four\n\n## B\n\nOne two.\n";
    let place = Place::ingested(&[("a.md", file), ("x.md", "# X\n"), ("y.md", "# Y\n")]);
    let now = || std::fs::read_to_string(place.join("a.md")).unwrap();
    let twice = place.run(&["replace", "a.md::*", "--old", "two", "--content", "2"]).ends(2);
    let message = twice.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.ends_with("occurs more than once, on lines 3, 10"), "{message}");
    let phrase = ["replace", "a.md", "A", "--no-children", "--old", "two", "--content", "2"];
    let diff = place.run(&[&phrase[..], &["--dry-run"]].concat()).success().text();
    assert!(diff.contains("-One two.\n+One 2.\n") && now() == file, "{diff}");
    let read = ["read", "a.md", "A", "--no-children"];
    let hash = place.run(&read).success().json()["hash"].as_str().unwrap().to_owned();
    place.run(&[&phrase[..], &["--expect", "0123456789abcdef"]].concat()).ends(2);
    let answer = place.run(&[&phrase[..], &["--expect", &hash]].concat()).success().json();
    assert_eq!((&answer["old_content"], &answer["new_line_start"]), (&json!("two"), &json!(3)));
    // A place in a block quote need not be whole lines, and a link in it may lead elsewhere.
    let item = "a.md::heading:h1[0]/block:blockquote[0]/block:list[0]/item[0]";
    let lines = [
        json!({"operation": "replace", "section": item, "old": "x.md", "content": "y.md"}),
        json!({"operation": "replace", "section": "a.md:10-10", "old": "two", "content": "two\nthree"}),
    ];
    let batch = lines.map(|line| line.to_string()).join("\n");
    place.run_in("", &["edit", "--batch", "-"], &batch).success();
    let new = file.replacen("two", "2", 1).replace("x.md", "y.md").replace("two", "two\nthree");
    assert_eq!(now(), new);
    place.assert_in_step();
    // In a cell, a pipe is text.
    place.write("t.md", "| a | b |\n|---|---|\n| c d | e |\n");
    place.run(&["ingest"]).success();
    let cell = "t.md::block:table[0]/row[0]/cell[0]";
    place.run(&["replace", cell, "--old", "d", "--content", "x|y"]).success();
    let table = std::fs::read_to_string(place.join("t.md")).unwrap();
    assert_eq!(table, "| a | b |\n|---|---|\n| c x\\|y | e |\n");
    for options in [&["--no-keep-heading"][..], &["--content", "x", "--bogus"]] {
        let arguments = [&["replace", "a.md", "A", "--old", "One", "--content", "1"], options];
        place.run(&arguments.concat()).ends(2);
    }
    let line = json!({"operation": "delete", "section": "B", "old": "x"}).to_string();
    let refused = place.run_in("", &["edit", "a.md", "--batch", "-"], &line).ends(2);
    assert!(refused.text().contains("old has no meaning for delete"), "{}", refused.text());
}

#[test]
fn a_deleted_cell_is_emptied_and_its_text_is_the_deleted_content() {
    let table = "# P\n\n| a | b |\n|---|---|\n| 7 | 8 |\n";
    let place = Place::ingested(&[("p.md", table)]);
    let delete = ["delete", "p.md", "block:table[0]/row[0]/cell[0]"];
    let text = place.run(&[&delete[..], &["--dry-run", "-f", "text"]].concat()).success().text();
    assert!(text.contains("+|   | 8 |"), "{text}");
    let answer = place.run(&delete).success().json();
    assert_eq!(answer["deleted_content"], "7", "{answer}");
    assert_eq!(answer["deleted_lines"], json!([5, 5]), "{answer}");
    place.write("p.md", table);
    let line = "{\"operation\":\"delete\",\"section\":\"block:table[0]/row[0]/cell[0]\"}";
    let batch = ["edit", "p.md", "--batch", "-", "--refresh", "-f"];
    let answer = place.run_in("", &[&batch[..], &["json"]].concat(), line).success().json();
    assert_eq!(answer["edits"][0]["deleted_content"], "7", "{answer}");
    place.write("p.md", table);
    let text = place.run_in("", &[&batch[..], &["text"]].concat(), line).success().text();
    assert!(text.contains("emptied in line 5"), "{text}");
}

#[test]
fn an_edit_of_a_link_to_a_file_says_that_it_is_a_link() {
    let place = Place::ingested(&[("own/h.md", "# H\n\n## A\n\na\n")]);
    std::os::unix::fs::symlink("h.md", place.join("own/sym.md")).unwrap();
    let refused = place.run(&["replace", "own/sym.md", "A", "--content", "x"]).ends(1);
    assert_eq!(refused.code(), "NOT_IN_STORE");
    assert!(refused.text().contains("it is a symbolic link, which is not followed"));
}

#[test]
fn an_insertion_at_a_whole_document_appends() {
    let place = doc();
    place.run(&["insert", "doc.md::*", "--content", "# Last"]).success();
    assert_eq!(text(&place), format!("{}\n# Last\n", DOC.trim_end_matches('\n').to_owned() + "\n"));
    let line = "{\"operation\":\"insert\",\"section\":\"*\",\"content\":\"end\"}";
    place.run_in("", &["edit", "doc.md", "--batch", "-"], line).success();
    assert!(text(&place).ends_with("# Last\n\nend\n"));
}

#[test]
fn a_document_that_is_not_there_or_not_ingested_says_what_to_do() {
    let place = doc();
    for document in [&["new.md"][..], &["new.md::*"], &["own/new.md"], &["new.md", "A"]] {
        let insert = [&["insert"], document, &["--content", "x"]].concat();
        let fault = place.run(&insert).ends(1).text();
        assert!(fault.contains("make the file, then repeat with --refresh"), "{fault}");
    }
    let titles = place.run(&["insert", "Nothing", "--content", "x"]).ends(1).text();
    assert!(!titles.contains("make the file"), "{titles}");
    place.write("new.md", "# New\n");
    let insert = ["insert", "new.md", "New", "--content", "x"];
    let fault = place.run(&insert).ends(1).text();
    assert!(fault.contains("`mdsel ingest` adds it, and so does --refresh"), "{fault}");
    place.run(&[&insert[..], &["--refresh"]].concat()).success();
}

#[test]
fn a_file_that_cannot_be_written_is_named_in_the_command() {
    use std::os::unix::fs::PermissionsExt as _;

    let place = Place::ingested(&[("my docs/a.md", "# A\n")]);
    let path = place.join("my docs/a.md");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).unwrap();
    let refused = place.run(&["replace", "my docs/a.md", "A", "--content", "x"]).ends(2).json();
    assert_eq!(refused["error"]["code"], "READ_ONLY", "{refused}");
    let hint = refused["error"]["hint"].as_str().unwrap();
    assert!(hint.contains("`chmod u+w 'my docs/a.md'`"), "{hint}");
}

#[test]
fn a_range_of_whole_lines_is_edited_exactly() {
    let file = "# A\n\none\ntwo\nthree\n\n> - x\n> - y\n\n## B\n\nend";
    let place = Place::ingested(&[("a.md", file)]);
    let hash = place.run(&["read", "a.md:4-4"]).success().json()["hash"].clone();
    let expect = ["--expect", hash.as_str().unwrap()];
    let replace = ["replace", "a.md:4-4", "--content", "2\n2b\n"];
    let answer = place.run(&[&replace[..], &expect].concat()).success().json();
    assert_eq!(
        (&answer["selector"], &answer["old_content"], &answer["new_line_end"]),
        (&json!("a.md:4-4"), &json!("two"), &json!(5))
    );
    place.run(&["insert", "a.md:9-9", "--content", "> - z"]).success();
    place.run(&["insert", "a.md:8-9", "--position", "before", "--content", "> - w"]).success();
    let answer = place.run(&["replace", "a.md:12-12", "--content", "```"]).ends(2);
    assert_eq!(answer.json()["error"]["reason"], "OPEN_FENCE", "{}", answer.text());
    place.run(&["delete", "a.md:12-15"]).success();
    let now = std::fs::read_to_string(place.join("a.md")).unwrap();
    assert_eq!(now, "# A\n\none\n2\n2b\nthree\n\n> - w\n> - x\n> - y\n> - z\n");
    place.assert_in_step();
    for command in [
        &["replace", "a.md:3-4", "--no-children", "--content", "x"][..],
        &["task", "a.md:3-4", "--done"],
        &["rename", "a.md:1-3", "--title", "x"],
        &["delete", "a.md:5-3"],
        &["delete", "a.md:3-9999"],
        &["insert", "a.md:3-4", "--relevel", "--content", "x"],
    ] {
        assert!(place.run(command).status != 0, "{command:?}");
    }
    let expect = ["--expect", "0123456789abcdef"];
    let conflict = place.run(&[&["delete", "a.md:4-5"][..], &expect].concat()).ends(2);
    let hash = place.run(&["read", "a.md:4-5"]).success().json()["hash"].clone();
    let error = &conflict.json()["error"];
    let (message, hint) = (error["message"].as_str().unwrap(), error["hint"].as_str().unwrap());
    assert!(message.starts_with("a.md:4-5: ") && hint.contains("a.md:4-5 "), "{message} {hint}");
    assert!(message.contains(hash.as_str().unwrap()), "{message}");
}

#[test]
fn the_new_text_of_a_phrase_is_kept_as_it_is_given() {
    let place = Place::ingested(&[("a.md", "# A\n\none  two\n")]);
    let now = || std::fs::read_to_string(place.join("a.md")).unwrap();
    place.write("new.txt", "three\n");
    let old = |old: &'static str| ["replace", "a.md", "A", "--old", old];
    place.run(&[&old("one  ")[..], &["--content", "one\n"]].concat()).success();
    assert_eq!(now(), "# A\n\none\ntwo\n");
    // An editor ends the last line of a file.
    place.run(&[&old("two")[..], &["--content-file", "new.txt"]].concat()).success();
    assert_eq!(now(), "# A\n\none\nthree\n");
    place.run_in("", &old("three\n"), "two\n").success();
    assert_eq!(now(), "# A\n\none\ntwo\n");
    place.run(&[&old("\n")[..], &["--content", " "]].concat()).ends(2);
    place.run(&[&old("e\nt")[..], &["--content", "e t"]].concat()).success();
    place.run(&[&old("one two")[..], &["--content", " "]].concat()).success();
    assert_eq!(now(), "# A\n\n \n");
    let line = json!({"operation": "replace", "section": "A", "old": " \n", "content": "\n"});
    place.run_in("", &["edit", "a.md", "--batch", "-"], &line.to_string()).success();
    assert_eq!(now(), "# A\n\n\n");
    let line = json!({"operation": "replace", "section": "A", "old": "", "content": "x"});
    let batch = place.run_in("", &["edit", "a.md", "--batch", "-"], &line.to_string()).ends(2);
    let empty = place.run(&[&old("")[..], &["--content", "x"]].concat()).ends(2);
    for refused in [batch, empty] {
        assert!(refused.text().contains("the old text is empty"), "{}", refused.text());
    }
    place.assert_in_step();
}

#[test]
fn a_section_that_is_replaced_by_nothing_has_no_lines() {
    let place = doc();
    let arguments = ["replace", "doc.md", "One/Alpha", "--content", "", "--no-keep-heading"];
    let answer = place.run(&[&arguments[..], &["--allow-drop"]].concat()).success().json();
    assert_eq!((&answer["new_line_start"], &answer["new_line_end"]), (&json!(10), &json!(9)));
}

#[test]
fn every_kind_of_place_can_be_edited() {
    let place = doc();
    place.write("l.md", "<!--LDMD:BEGIN id=\"a\"-->\nold\n<!--LDMD:END id=\"a\"-->\n");
    place.run(&["ingest"]).success();
    let replace = |document: &str, section: &str, content: &str| {
        place.run(&["replace", document, section, "--content", content]).success()
    };
    drop(replace("doc.md", "@frontmatter", "title: y\n"));
    drop(replace("doc.md", "root", "other intro"));
    drop(replace("doc.md", "heading:h1[1]/block:paragraph[0]", "2"));
    drop(replace("doc.md", "@11", "by line"));
    drop(replace("doc.md", "#0/#1", "by index"));
    drop(replace("l.md", "ldmd:a", "new"));
    assert_eq!(
        text(&place),
        "---\ntitle: y\n---\n\nother intro\n\n# One\n\nfirst\n\n## Alpha\n\nby line\n\n## Beta\n\nby index\n\n# Two\n\n2\n"
    );
    assert_eq!(
        std::fs::read_to_string(place.join("l.md")).unwrap(),
        "<!--LDMD:BEGIN id=\"a\"-->\nnew\n<!--LDMD:END id=\"a\"-->\n"
    );
    place.assert_in_step();
    let by_input =
        place.run_in("", &["insert", "doc.md", "Two", "--position", "before"], "# Mid\n");
    assert_eq!(by_input.success().json()["new_section_path"], "mid");
    place.write("new.md.txt", "from a file\n");
    let file = ["replace", "doc.md", "Mid", "--content-file", "new.md.txt"];
    place.run(&file).success();
    assert!(text(&place).contains("# Mid\n\nfrom a file\n\n# Two\n"));
}

#[test]
fn an_edit_with_side_effects_is_refused_and_writes_nothing() {
    let place = doc();
    let cases: [(&[&str], &str, &str); 12] = [
        (&["replace", "doc.md", "One", "--content", "x"], "EDIT_REFUSED", "--allow-drop"),
        (&["replace", "doc.md", "Alpha", "--content", "# Out\n"], "EDIT_REFUSED", "--allow-escape"),
        (
            &["replace", "doc.md", "Alpha", "--content", "```\nopen"],
            "EDIT_REFUSED",
            "that closes it",
        ),
        (&["insert", "doc.md", "Two", "--content", "#### Deep\n"], "EDIT_REFUSED", "--relevel"),
        (
            &["insert", "doc.md", "Alpha", "--content", " \n"],
            "EDIT_REFUSED",
            "give it with --content",
        ),
        (
            &["insert", "doc.md", "Alpha", "--content", "## Beta\n\nbeta\n"],
            "EDIT_REFUSED",
            "--allow-duplicate",
        ),
        (
            &["delete", "doc.md", "Alpha", "--expect", "0123456789abcdef"],
            "CONFLICT",
            "read it again",
        ),
        (&["delete", "doc.md", "Alp"], "SELECTOR_NOT_FOUND", ""),
        (&["delete", "doc.md", "@12"], "SELECTOR_NOT_FOUND", ""),
        (&["delete", "doc.md", "Alpha?page=0"], "MALFORMED_QUERY", ""),
        (&["delete", "doc.md", "Alpha?from=1"], "MALFORMED_QUERY", ""),
        (&["delete", "none.md", "Alpha"], "NAMESPACE_NOT_FOUND", ""),
    ];
    for (arguments, code, hint) in cases {
        let answer = place.run(arguments);
        assert_ne!(answer.status, 0, "{arguments:?}");
        assert_eq!(answer.code(), code, "{arguments:?}");
        assert!(answer.text().contains(hint), "{}", answer.text());
        assert_eq!(text(&place), DOC);
    }
    // An edit whose answer does not fit is not made. One whose answer fits without the content is
    // made.
    let small = place.run(&["delete", "doc.md", "Alpha", "--max-chars", "50"]).ends(2);
    assert!(small.stderr.contains("BUDGET_TOO_SMALL") && text(&place) == DOC);
    let long = Place::ingested(&[("l.md", &format!("# L\n\n{}\n", "word ".repeat(99)))]);
    for most in ["250", "300"] {
        let cut = ["replace", "l.md", "L", "--content", "b", "--max-chars", most];
        let trial = [&cut[..], &["--dry-run", "-f", "text"]].concat();
        let diff = long.run(&trial).success().text();
        assert!(diff.starts_with("--- a/l.md\n") && diff.ends_with("\ntruncated\n"), "{diff}");
        let cut = long.run(&cut).success().json();
        assert_eq!(cut["truncated"], true);
        let old = cut["old_content"].as_str().unwrap();
        assert!(old.starts_with("\nword word") && old.len() < 200, "{cut}");
        long.run(&["replace", "l.md", "L", "--content", &"word ".repeat(99)]).success();
    }
    place.run(&["delete", "doc.md", "Alp", "--fuzzy"]).success();
    // The file differs from the stored document.
    place.write("doc.md", "# Changed\n");
    age(&place.join("doc.md"), 10);
    assert_eq!(place.run(&["delete", "doc.md", "Beta"]).ends(2).code(), "CONFLICT");
    assert_eq!(text(&place), "# Changed\n");
    place.remove("doc.md");
    assert_eq!(place.run(&["delete", "doc.md", "Beta"]).ends(2).status, 2);
}

#[test]
fn a_dry_run_prints_the_diff_and_changes_nothing() {
    let place = doc();
    let trial = ["replace", "doc.md", "Two", "--content", "2\n", "--dry-run"];
    let diff = place.run(&trial).success().text();
    assert_eq!(diff, "--- a/doc.md\n+++ b/doc.md\n@@ -17,4 +17,4 @@\n \n # Two\n \n-two\n+2\n");
    let json = place.run(&[&trial[..], &["-f", "json"]].concat()).success().json();
    assert_eq!((&json["diff"], &json["dry_run"]), (&json!(diff), &json!(true)));
    assert_eq!(text(&place), DOC);
    let limited = place.run(&[&trial[..], &["--max-chars", "90"]].concat()).success().text();
    assert_eq!(limited, diff, "the limit is that of the diff");
    place.write("bytes.md", b"# A\n\n\xff\n\nold\n");
    place.run(&["ingest"]).success();
    let bytes = ["insert", "bytes.md", "A", "--content", "new", "--dry-run"];
    let diff = place.run(&bytes).success().stdout;
    assert!(
        diff.windows(3).any(|bytes| bytes == b" \xff\n"),
        "the diff contains the bytes of the file"
    );
    let same = place.run(&["replace", "doc.md", "Two", "--content", "two"]).success().json();
    assert_eq!((&same["unchanged"], &same["hash_before"]), (&json!(true), &same["hash_after"]));
}

#[test]
fn a_batch_of_edits_is_made_completely_or_not_at_all() {
    let place = doc();
    let lines = [
        json!({"operation": "replace", "section": "Alpha", "content": "a"}),
        json!({"operation": "insert", "section": "Beta", "position": "before", "content": "## New\n"}),
        json!({"operation": "replace", "section": "New", "content": "of the new one"}),
        json!({"operation": "delete", "section": "Two"}),
    ];
    let batch: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let failing = format!("{batch}{}\n", json!({"operation": "delete", "section": "Two"}));
    let answer = place.run_in("", &["edit", "doc.md", "--batch", "-"], &failing).ends(1);
    assert_eq!(answer.code(), "SELECTOR_NOT_FOUND");
    assert_eq!(text(&place), DOC, "none");
    let answer = place.run_in("", &["edit", "doc.md", "--batch", "-"], &batch).success().json();
    assert_eq!(answer["edits"].as_array().unwrap().len(), 4);
    assert_eq!(
        text(&place),
        "---\ntitle: x\n---\nintro\n\n# One\n\nfirst\n\n## Alpha\n\na\n\n## New\n\nof the new one\n\n## Beta\n\nbeta\n"
    );
    place.assert_in_step();
    let wrong = place.run_in("", &["edit", "doc.md", "--batch", "-"], "{\"operation\":\"x\"}\n");
    assert_eq!(wrong.ends(2).code(), "USAGE");
}

#[test]
fn a_batch_of_a_document_edits_no_other_document() {
    let place = Place::ingested(&[("a.md", "# A\n\n- [ ] one\n"), ("b.md", "# B\n\n- [ ] two\n")]);
    let line = |document: &str| {
        json!({"operation": "done", "document": document, "section": "@3"}).to_string()
    };
    let refused = place.run_in("", &["edit", "a.md", "--batch", "-"], &line("b.md")).ends(1);
    let hint = "all edits of this call are of a.md; leave that out";
    assert!(refused.text().contains(hint), "{}", refused.text());
    assert_eq!(std::fs::read_to_string(place.join("b.md")).unwrap(), "# B\n\n- [ ] two\n");
    place.run_in("", &["edit", "a.md", "--batch", "-"], &line("./a.md")).success();
    place.run_in("", &["edit", "--batch", "-"], &line("b.md")).success();
    assert_eq!(std::fs::read_to_string(place.join("b.md")).unwrap(), "# B\n\n- [x] two\n");
}

#[test]
fn an_item_with_another_marker_does_not_split_its_list() {
    let place = Place::ingested(&[("a.md", "# A\n\n- a\n- b\n- c\n\n1. one\n2. two\n")]);
    let item = |list: usize, item: usize| format!("heading:h1[0]/block:list[{list}]/item[{item}]");
    for (list, index, content) in [(0, 1, "* B"), (0, 0, "+ A"), (0, 1, "1. B"), (1, 0, "1) one")] {
        let place_of = item(list, index);
        let answer = place.run(&["replace", "a.md", &place_of, "--content", content]).ends(2);
        assert_eq!(answer.code(), "EDIT_REFUSED", "{content}");
    }
    for (list, index, content) in [(0, 1, "- B"), (0, 0, "- A"), (0, 2, "* C"), (1, 0, "7. one")] {
        let place_of = item(list, index);
        place.run(&["replace", "a.md", &place_of, "--content", content, "--dry-run"]).success();
    }
    let after = ["--position", "after", "--content", "+ new"];
    place.run(&[&["insert", "a.md", &*item(0, 1)], &after[..]].concat()).ends(2);
}

#[test]
fn every_edit_of_a_batch_accepts_the_hash_of_the_file_before_it() {
    let place = doc();
    let hash = place.run(&["read", "doc.md"]).success().json()["hash"].clone();
    let lines = ["Alpha", "Beta"]
        .map(|title| json!({"operation": "delete", "section": title, "expect": hash}).to_string());
    place.run_in("", &["edit", "doc.md", "--batch", "-"], &lines.join("\n")).success();
}

#[test]
fn a_batch_answers_with_the_lines_after_all_edits() {
    let place = doc();
    let toc = || place.run(&["toc", "doc.md"]).success().json()["sections"].clone();
    let lines = [
        json!({"operation": "replace", "section": "Two", "content": "a\n\nb"}),
        json!({"operation": "insert", "section": "Two", "content": "# New"}),
        json!({"operation": "insert", "section": "Two", "position": "last_child", "content": "c"}),
        json!({"operation": "delete", "section": "Alpha"}),
    ];
    let batch: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let answer = place.run_in("", &["edit", "doc.md", "--batch", "-"], &batch).success().json();
    let (toc, edits) = (toc(), &answer["edits"]);
    assert_eq!(edits[0]["new_line_start"], toc[1]["line_start"], "{edits} {toc}");
    assert_eq!(edits[0]["new_line_end"], toc[1]["line_end"]);
    assert_eq!(edits[1]["inserted_at"], toc[2]["line_start"]);
}

#[test]
fn content_that_is_not_utf8_is_taken_only_by_a_file_that_has_such_bytes() {
    let place = doc();
    place.write("bytes.md", b"# A\n\n\xff\n");
    place.write("new", b"abc \xff def\n");
    place.run(&["ingest"]).success();
    let edit = |document: &str, command: &[&str]| {
        place.run(&[&[command[0], document], &command[1..], &["--content-file", "new"]].concat())
    };
    let before = std::fs::read(place.join("doc.md")).unwrap();
    for command in
        [&["replace", "Alpha"][..], &["insert", "Alpha"], &["replace", "Alpha", "--old", "alpha"]]
    {
        let refused = edit("doc.md", command).ends(2).json();
        assert_eq!(refused["error"]["reason"], "NOT_MARKDOWN", "{refused}");
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.ends_with(": the content is not UTF-8, and the file is"), "{message}");
    }
    assert_eq!(std::fs::read(place.join("doc.md")).unwrap(), before);
    edit("bytes.md", &["replace", "A"]).success();
    assert_eq!(std::fs::read(place.join("bytes.md")).unwrap(), b"# A\n\nabc \xff def\n");
}

#[test]
fn old_content_that_is_not_utf8_is_said_to_be_lossy() {
    let place = Place::new();
    place.write("doc.md", b"# A\n\na\xff\n\n# B\n\nb\n");
    place.run(&["ingest"]).success();
    let replace = |title| ["replace", "doc.md", title, "--content", "x"];
    assert_eq!(place.run(&replace("A")).success().json()["lossy"], true);
    assert_eq!(place.run(&replace("B")).success().json().get("lossy"), None);
}

#[test]
fn another_group_does_not_get_the_rights_of_the_group_of_a_file() {
    use std::os::unix::fs::chown;
    const NOBODY: Option<u32> = Some(65534);
    let place = Place::with(&[("a.md", "# A\n\nOld.\n")]);
    if chown(place.path(), NOBODY, NOBODY).is_err() {
        eprintln!("skipped: this user cannot give files to others");
        return;
    }
    let Some(ingested) = as_nobody(&place, &["ingest"]) else { return };
    assert!(ingested.status.success(), "{}", String::from_utf8_lossy(&ingested.stderr));
    // The file belongs to a group that the user is not in.
    let path = place.join("a.md");
    chown(&path, Some(0), Some(2000)).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o664)).unwrap();
    let edit = as_nobody(&place, &["replace", "a.md", "A", "--content", "New.", "--refresh"]);
    let edit = edit.unwrap();
    assert!(edit.status.success(), "{}", String::from_utf8_lossy(&edit.stderr));
    let metadata = std::fs::metadata(&path).unwrap();
    assert_eq!((metadata.gid(), metadata.mode() & 0o777), (65534, 0o604));
}

#[test]
fn file_mode_byte_order_mark_and_line_ends_are_kept() {
    let place = Place::new();
    place.write("doc.md", "\u{feff}# A\r\n\r\nold\r\n\r\n# B\r\n\r\nlast");
    let path = place.join("doc.md");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    place.run(&["ingest"]).success();
    place.run(&["replace", "doc.md", "A", "--content", "one\ntwo\n"]).success();
    place.run(&["replace", "doc.md", "B", "--content", "end\n"]).success();
    assert_eq!(text(&place), "\u{feff}# A\r\n\r\none\r\ntwo\r\n\r\n# B\r\n\r\nend");
    assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o7777, 0o640);
    let left: Vec<_> = std::fs::read_dir(place.path())
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_str().unwrap().contains("edit"))
        .collect();
    assert!(left.is_empty());
}

/// The extended attribute of an access control list (acl(5)): a version, then entries of a tag, rights and an
/// identifier.
#[cfg(target_os = "linux")]
fn access_list(entries: [(u16, u16, u32); 5]) -> Vec<u8> {
    let entries = entries.map(|(tag, rights, id)| {
        [&tag.to_le_bytes()[..], &rights.to_le_bytes(), &id.to_le_bytes()].concat()
    });
    [&2_u32.to_le_bytes()[..], &entries.concat()].concat()
}

#[cfg(target_os = "linux")]
#[test]
fn extended_attributes_are_kept_access_control_lists_included() {
    use rustix::fs::{XattrFlags, getxattr, setxattr};
    let place = doc();
    let path = place.join("doc.md");
    let list = access_list([(1, 6, !0), (2, 4, 12_345), (4, 0, !0), (16, 4, !0), (32, 0, !0)]);
    let attributes =
        [("user.origin", &b"https://example.org"[..]), ("system.posix_acl_access", &list)];
    for (name, value) in attributes {
        if setxattr(&path, name, value, XattrFlags::empty()).is_err() {
            // The file system of the temporary folder has no extended attributes.
            return;
        }
    }
    let mode = std::fs::metadata(&path).unwrap().mode();
    let check = |name: &str| {
        let path = place.join(name);
        for (name, value) in attributes {
            let mut found = [0; 1000];
            let length = getxattr(&path, name, &mut found[..]).unwrap();
            assert_eq!(&found[..length], value, "{name}");
        }
        assert_eq!(std::fs::metadata(&path).unwrap().mode(), mode);
    };
    place.run(&["ingest"]).success();
    place.run(&["replace", "doc.md", "Two", "--content", "2"]).success();
    check("doc.md");
    place.run(&["move", "doc.md", "new.md"]).success();
    check("new.md");
}

#[cfg(target_os = "linux")]
#[test]
fn an_edit_gives_nobody_the_rights_that_a_folder_gives_to_new_files() {
    use rustix::fs::{XattrFlags, getxattr, setxattr};
    let place = doc();
    let list = access_list([(1, 7, !0), (2, 7, 12_345), (4, 7, !0), (16, 7, !0), (32, 5, !0)]);
    let folder = "system.posix_acl_default";
    if setxattr(place.path(), folder, &list, XattrFlags::empty()).is_err() {
        return;
    }
    place.run(&["replace", "doc.md", "Two", "--content", "2"]).success();
    let mut found = [0; 1000];
    let path = place.join("doc.md");
    assert!(getxattr(&path, "system.posix_acl_access", &mut found[..]).is_err());
    assert_eq!(text(&place).matches("\n2\n").count(), 1);
}

#[test]
fn attacks_neither_leave_the_root_nor_tear_a_file() {
    let place = doc();
    let outside = Place::with(&[("doc.md", DOC)]);
    let path = place.join("doc.md");
    let edit = ["replace", "doc.md", "Two", "--content", "2"];
    place.run(&["replace", "doc.md/../../doc.md", "Two", "--content", "2"]).ends(1);
    for address in ["../doc.md", "/etc/passwd"] {
        let answer = place.run(&["replace", address, "Two", "--content", "2"]).ends(2);
        assert_eq!(answer.code(), "OUTSIDE_ROOT", "{address}");
    }
    let refused = || {
        let answer = place.run(&edit).ends(2);
        assert_eq!(answer.code(), "EDIT_REFUSED");
        assert_eq!(answer.json()["error"]["reason"], "UNSAFE_FILE", "{}", answer.text());
    };
    // A link in place of the file, and of its folder.
    std::fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(outside.join("doc.md"), &path).unwrap();
    refused();
    std::fs::remove_file(&path).unwrap();
    std::fs::hard_link(outside.join("doc.md"), &path).unwrap();
    refused();
    assert_eq!(text(&outside), DOC);
    std::fs::remove_file(&path).unwrap();
    place.write("doc.md", DOC);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).unwrap();
    assert_eq!(place.run(&edit).ends(2).code(), "READ_ONLY");
    std::fs::remove_file(&path).unwrap();
    rustix_fifo(&path);
    refused();
    let nested = Place::ingested(&[("in/doc.md", DOC)]);
    std::fs::remove_dir_all(nested.join("in")).unwrap();
    std::os::unix::fs::symlink(outside.path(), nested.join("in")).unwrap();
    let edit = ["replace", "in/doc.md", "Two", "--content", "2"];
    assert_eq!(nested.run(&edit).ends(2).code(), "OUTSIDE_ROOT");
    assert_eq!(text(&outside), DOC);
}

fn rustix_fifo(path: &std::path::Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn concurrent_edits_lose_nothing() {
    let place = doc();
    let rounds = repeats(20);
    std::thread::scope(|scope| {
        for (section, word) in [("Alpha", "a"), ("Beta", "b")] {
            let place = &place;
            scope.spawn(move || {
                for round in 0..rounds {
                    let content = format!("{word} {round}");
                    place
                        .run(&[
                            "insert",
                            "doc.md",
                            section,
                            "--position",
                            "first_child",
                            "--content",
                            &content,
                        ])
                        .success();
                }
            });
        }
    });
    let text = text(&place);
    for round in 0..rounds {
        assert!(
            text.contains(&format!("\na {round}\n")) && text.contains(&format!("\nb {round}\n"))
        );
    }
    place.assert_in_step();
    // Two edits of the same place, from the same state: one of them gets CONFLICT.
    let read = place.run(&["read", "doc.md", "Alpha"]).success().json();
    let hash = read["hash"].as_str().unwrap().to_owned();
    let status: Vec<i32> = std::thread::scope(|scope| {
        let runs: Vec<_> = ["x", "y"]
            .into_iter()
            .map(|content| {
                let (place, hash) = (&place, &hash);
                scope.spawn(move || {
                    place
                        .run(&[
                            "replace",
                            "doc.md",
                            "Alpha",
                            "--content",
                            content,
                            "--expect",
                            hash,
                        ])
                        .status
                })
            })
            .collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    assert_eq!(status.iter().sum::<i32>(), 2, "one made, one CONFLICT: {status:?}");
}

#[test]
fn replacing_a_section_with_itself_changes_nothing() {
    let place = Place::new();
    copy(&fixtures(), place.path());
    for (number, path) in corpus::sample(60).iter().enumerate() {
        if !path.starts_with(fixtures()) {
            std::fs::copy(path, place.join(&format!("corpus-{number}.md"))).unwrap();
        }
    }
    place.run(&["ingest"]).success();
    let toc = place.run(&["toc", "--limit", "0", "-f", "jsonl"]).success().text();
    let mut count = 0;
    for (number, row) in toc.lines().enumerate() {
        let row: serde_json::Value = serde_json::from_str(row).unwrap();
        let Some(selector) = row.get("selector").and_then(|s| s.as_str()) else { continue };
        if number % 7 != 0 {
            continue;
        }
        let file = row["file"].as_str().unwrap();
        let locator = selector.split_once("::").unwrap().1;
        let before = std::fs::read(place.join(file)).unwrap();
        let read = place.run(&["read", file, locator, "-f", "raw"]).success().stdout;
        std::fs::write(place.join("content"), read).unwrap();
        let same = ["replace", file, locator, "--content-file", "content"];
        let answer = place.run(&same).success().json();
        assert_eq!(answer["unchanged"], true, "{selector}");
        assert_eq!(std::fs::read(place.join(file)).unwrap(), before, "{selector}");
        count += 1;
    }
    assert!(count > 5);
    place.assert_in_step();
}

#[test]
fn a_batch_over_several_files_changes_all_of_them_or_none() {
    let notes = [
        ("a.md", "# A\n\n## One\n\nold [x](b.md#two)\n"),
        ("b.md", "# B\n\n## Two\n\nold\n"),
        ("c.md", "---\nstate: open\n---\n# C\n"),
    ];
    let place = Place::ingested(&notes);
    let lines = [
        json!({"operation": "replace", "section": "a.md::one", "content": "new"}),
        json!({"operation": "insert", "section": "One", "content": "## More"}),
        json!({"operation": "delete", "section": "b.md::heading:h2[0]"}),
        json!({"operation": "set", "document": "c", "section": "state", "content": "done"}),
        json!({"operation": "replace", "document": "a", "section": "More", "content": "text"}),
    ];
    let batch: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let text = |path: &str| std::fs::read_to_string(place.join(path)).unwrap();
    for last in [
        json!({"operation": "delete", "section": "b.md::no-such-section"}),
        json!({"operation": "delete", "section": "d.md::one"}),
        json!({"operation": "replace", "document": "b", "section": "B", "content": "# Z"}),
    ] {
        let failing = format!("{batch}{last}\n");
        let answer = place.run_in("", &["edit", "--batch", "-"], &failing);
        assert_ne!(answer.status, 0, "{}", answer.text());
        assert!(answer.text().contains("line 6 of the batch"), "{}", answer.text());
        assert!(notes.iter().all(|(path, old)| text(path) == *old), "none");
    }
    place.write("c.md", "changed");
    assert_eq!(place.run_in("", &["edit", "--batch", "-"], &batch).ends(2).code(), "CONFLICT");
    assert_eq!(text("a.md"), notes[0].1);
    place.write("c.md", notes[2].1);
    let answer = place.run_in("", &["edit", "--batch", "-"], &batch).success().json();
    assert_eq!(answer["edits"][3]["file"], "c.md");
    let files: Vec<_> =
        answer["files"].as_array().unwrap().iter().map(|one| &one["file"]).collect();
    assert_eq!(files, ["a.md", "b.md", "c.md"]);
    // The link to the deleted section was replaced by the same batch.
    assert!(answer["broken_links"].is_null(), "{answer}");
    assert_eq!(text("a.md"), "# A\n\n## One\n\nnew\n\n## More\n\ntext\n");
    assert_eq!(text("b.md"), "# B\n");
    assert_eq!(text("c.md"), "---\nstate: done\n---\n# C\n");
    place.assert_in_step();
}

#[test]
fn a_batch_takes_a_hash_and_paths_from_the_current_folder() {
    let place = Place::ingested(&[("sub/a.md", "# A\n\n## S\n\ns\n"), ("b.md", "# B\n")]);
    let text = || std::fs::read_to_string(place.join("sub/a.md")).unwrap();
    let line = json!({"operation": "replace", "section": "S", "content": "x"}).to_string();
    let batch = ["edit", "sub/a.md", "--batch", "-", "--expect"];
    let answer = place.run_in("", &[&batch[..], &["0000"]].concat(), &line);
    assert_eq!(answer.ends(2).code(), "CONFLICT");
    assert_eq!(text(), "# A\n\n## S\n\ns\n");
    let hash = &blake3::hash(text().as_bytes()).to_hex()[..];
    place.run_in("", &[&batch[..], &[hash]].concat(), &line).success();
    for line in [
        json!({"operation": "replace", "document": "./a.md", "section": "S", "content": "y"}),
        json!({"operation": "replace", "section": "./a.md::S", "content": "z"}),
    ] {
        place.run_in("sub", &["edit", "--batch", "-"], &line.to_string()).success();
    }
    assert_eq!(text(), "# A\n\n## S\n\nz\n");
}

#[test]
fn an_edit_of_a_batch_names_its_document_in_any_address() {
    let b = "# B\n\n## One\n\n- x\n- y\n\n## Usage: 5\n\nu\n";
    let place = Place::ingested(&[("a.md", "# A\n\n## S\n\ns\n"), ("docs/b.md", b)]);
    let delete = |section: &str| json!({"operation": "delete", "section": section}).to_string();
    let lines = [delete("a.md#s"), delete("docs/b.md#one"), delete("b.md:3")].join("\n");
    place.run_in("", &["edit", "--batch", "-"], &lines).success();
    assert_eq!(std::fs::read_to_string(place.join("docs/b.md")).unwrap(), "# B\n");
    // What is also a title in the document of the edit before it is ambiguous.
    place.write("c.md", "# C\n\n## b:1\n\n## One\n");
    place.run(&["ingest"]).success();
    let lines = [delete("c.md#one"), delete("b:1")].join("\n");
    let refused = place.run_in("", &["edit", "--batch", "-"], &lines).ends(1).json();
    assert_eq!(refused["unresolved_selectors"][0]["code"], "AMBIGUOUS", "{refused}");
    assert_eq!(refused["unresolved_selectors"][0]["suggestions"][0], "c.md::heading:h2[0]");
    // A title that only looks like one is a section of the document of the edit before it.
    place.write("docs/b.md", b);
    place.run(&["ingest"]).success();
    let lines = [delete("b.md#one"), delete("Usage: 5")].join("\n");
    place.run_in("", &["edit", "--batch", "-"], &lines).success();
    assert_eq!(std::fs::read_to_string(place.join("docs/b.md")).unwrap(), "# B\n");
}

#[test]
fn a_line_in_a_block_is_refused_with_the_address_of_the_block() {
    let text = "# A\n\n## S\n\n- one\n- two\n\nAn end.\n";
    let place = Place::ingested(&[("a.md", text)]);
    for (line, block) in
        [("a.md:6", "a.md::heading:h2[0]/block:list[0]/item[1]"), ("a.md:8", "block:paragraph[0]")]
    {
        let answer = place.run(&["delete", line]).ends(1).json();
        let fault = &answer["unresolved_selectors"][0];
        let first = fault["suggestions"][0].as_str().unwrap();
        assert!(first.contains(block), "{fault}");
        assert!(fault["message"].as_str().unwrap().ends_with(first), "{fault}");
        assert_eq!(std::fs::read_to_string(place.join("a.md")).unwrap(), text);
    }
    place.run(&["delete", "a.md::heading:h2[0]/block:list[0]/item[1]"]).success();
}

#[test]
fn a_footnote_that_other_text_uses_stays() {
    let place = Place::ingested(&[(
        "a.md",
        "# A\n\n## One\n\nx[^n] `[^m]`\n\n## Two\n\ny[^m]\n\n[^n]: First\n    line.\n\n[^m]: Unused.\n",
    )]);
    let answer = place.run(&["delete", "a.md", "Two"]).success().json();
    assert_eq!(answer["kept_definitions"], json!(["^n"]));
    let text = std::fs::read_to_string(place.join("a.md")).unwrap();
    assert_eq!(text, "# A\n\n## One\n\nx[^n] `[^m]`\n\n[^n]: First\n    line.\n");
}

#[test]
fn sections_of_markup_inside_of_another_are_not_dropped_without_a_word() {
    let text = "# R\n\n<!--LDMD:BEGIN id=\"a\" title=\"A\"-->\na text\n\n\
        <!--LDMD:BEGIN id=\"a1\" title=\"A1\" parent=\"a\"-->\ninner\n<!--LDMD:END id=\"a1\"-->\n\n\
        tail\n<!--LDMD:END id=\"a\"-->\n\nend\n";
    let place = Place::ingested(&[("r.md", text), ("a b.md", "# T\n\nx\n")]);
    for command in [
        &["replace", "r.md", "ldmd:a", "--content", "new"][..],
        &["delete", "r.md", "ldmd:a", "--no-children"],
    ] {
        let refused = place.run(command).ends(2);
        assert!(refused.text().contains("WOULD_DROP"), "{command:?}: {}", refused.text());
        assert!(refused.text().contains("ldmd:a1"), "{command:?}: {}", refused.text());
        assert_eq!(std::fs::read_to_string(place.join("r.md")).unwrap(), text);
    }
    let deleted = place.run(&["delete", "r.md", "ldmd:a"]).success().json();
    assert_eq!(deleted["removed_sections"], serde_json::json!(["ldmd:a", "ldmd:a1"]));
    let diff = place.run(&["replace", "a b.md", "T", "--content", "y", "--dry-run", "-f", "text"]);
    assert!(diff.success().text().starts_with("--- a/a b.md\t\n+++ b/a b.md\t\n"));
}

#[test]
fn a_batch_may_be_a_json_array() {
    let place = Place::ingested(&[("a.md", "# A\n\n- [ ] one\n- [ ] two\n")]);
    let edits = json!([
        {"operation": "done", "section": "@3"},
        {"operation": "done", "section": "@4"},
    ]);
    let edits = serde_json::to_string_pretty(&edits).unwrap();
    place.run_in("", &["edit", "a.md", "--batch", "-"], &edits).success();
    let text = std::fs::read_to_string(place.join("a.md")).unwrap();
    assert_eq!(text, "# A\n\n- [x] one\n- [x] two\n");
    let wrong = r#"[{"operation": "done", "section": "@3"}, {"operation": "done", "line": 4}]"#;
    let fault = place.run_in("", &["edit", "a.md", "--batch", "-"], wrong).ends(2).json();
    let message = fault["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("edit 2 of the batch: line: unknown field"), "{message}");
}

#[test]
fn a_trial_that_changes_nothing_says_so() {
    let place = Place::ingested(&[("a.md", "---\nk: 1\n---\n# A\n\n- [x] one\n")]);
    for arguments in [&["task", "a.md:6", "--done"][..], &["meta", "set", "a.md", "k=1"]] {
        for format in [&["-f", "text"][..], &[]] {
            let answer = place.run(&[arguments, &["--dry-run"], format].concat()).success();
            let printed = format!("{}{}", answer.text(), answer.stderr);
            assert!(printed.contains(": unchanged"), "{arguments:?}: {printed}");
        }
    }
    let trial = place.run(&["task", "a.md:6", "--open", "--dry-run", "-f", "text"]).success();
    assert!(!trial.text().contains("unchanged"), "{}", trial.text());
}

#[test]
fn inserted_text_without_a_heading_says_which_section_it_joins() {
    let text = "# A\n\na\n\n## B\n\nb\n\n# C\n\nc\n";
    for (section, position, joined) in [
        ("A", "after", Some("a/b")),
        ("A", "last_child", Some("a/b")),
        ("A", "first_child", None),
        ("C", "before", Some("a/b")),
        ("C", "after", None),
        ("A/B", "before", None),
    ] {
        let place = Place::ingested(&[("doc.md", text)]);
        let insert = ["insert", "doc.md", section, "--position", position, "--content"];
        let answer = place.run(&[&insert[..], &["text"]].concat()).success().json();
        let Some(joined) = joined else {
            assert!(answer.get("warnings").is_none_or(|all| *all == json!([])), "{answer}");
            continue;
        };
        assert_eq!(answer["warnings"][0]["code"], "JOINS_SECTION", "{section} {position} {answer}");
        assert!(answer["warnings"][0]["message"].as_str().unwrap().contains(joined), "{answer}");
    }
}

#[test]
fn text_that_leaves_the_ldmd_section_of_its_heading_says_so() {
    let marked = |id: &str, text: &str| {
        format!("<!--LDMD:BEGIN id=\"{id}\"-->\n{text}\n<!--LDMD:END id=\"{id}\"-->\n")
    };
    let text = format!(
        "# R\n\n{}\n{}\n{}",
        marked("x", "## X\n\nx"),
        marked("y", "y"),
        marked("z", "## Z\n\nz")
    );
    for (section, position, expected) in [
        ("X", "after", Some("insert r.md::ldmd:x --position last_child")),
        ("R", "first_child", Some("insert r.md::ldmd:x --position before")),
        ("X", "first_child", Some("insert r.md::ldmd:x --position last_child")),
        ("ldmd:x", "after", None),
    ] {
        let place = Place::ingested(&[("r.md", &text)]);
        let insert = ["insert", "r.md", section, "--position", position, "--content", "New."];
        let answer = place.run(&insert).success().json();
        let warning = &answer["warnings"][0];
        let Some(expected) = expected else {
            assert!(warning.is_null(), "{section} {position} {answer}");
            continue;
        };
        assert_eq!(warning["code"], "OTHER_LDMD_SECTION", "{section} {position} {answer}");
        assert!(warning["message"].as_str().unwrap().contains(expected), "{answer}");
    }
}

#[test]
fn an_ldmd_section_in_the_text_is_not_another_section_than_that_of_the_heading() {
    let marked = |id: &str, text: &str| {
        format!("<!--LDMD:BEGIN id=\"{id}\"-->\n{text}\n<!--LDMD:END id=\"{id}\"-->\n")
    };
    let text = format!("# L\n\n{}\n## B\n\nb\n", marked("a", "## A\n\na\n\n### C\n\nc"));
    let new = marked("n", "## N\n\nn");
    for (section, position, code) in [
        ("B", "after", None),
        ("B", "first_child", None),
        ("A", "first_child", None),
        ("A", "after", Some("OTHER_LDMD_SECTION")),
    ] {
        let place = Place::ingested(&[("l.md", &text)]);
        let insert = ["insert", "l.md", section, "--position", position, "--content", &new];
        let insert = [&insert[..], &["--relevel"]].concat();
        let answer = place.run(&insert).success().json();
        assert_eq!(answer["warnings"][0]["code"].as_str(), code, "{section} {position} {answer}");
    }
}

#[test]
fn the_hint_for_lines_before_a_list_has_its_number() {
    let place = Place::ingested(&[("a.md", "# A\n\n5. x\n6. y\n")]);
    let insert =
        |content| place.run(&["insert", "a.md:3-3", "--position", "before", "--content", content]);
    let refused = insert("4. z").ends(2).json();
    let hint = refused["error"]["hint"].as_str().unwrap();
    assert!(
        hint.contains("begin the content with the number of the list, as in `5. text`"),
        "{hint}"
    );
    insert("5. z").success();
}

#[test]
fn what_mdx_content_opens_must_be_closed() {
    let place = Place::ingested(&[("q.mdx", "# Q\n\ntext\n\n## R\n\nr\n")]);
    for command in [
        &["insert", "q.mdx", "root", "--content", "{/* open"][..],
        &["replace", "q.mdx", "Q", "--old", "text", "--content", "{/* open"],
        &["replace", "q.mdx::*", "--content", "# Q\n\n{/* open\n\n## R\n"],
    ] {
        let refused = place.run(command).ends(2).json();
        assert_eq!(refused["error"]["reason"], "OPEN_FENCE", "{refused}");
    }
    place.run(&["insert", "q.mdx", "root", "--content", "{/* closed */}"]).success();
    // What was open before does not hinder other edits.
    place.write("q.mdx", "# Q\n\n{/* open\n\n## R\n\nr\n");
    let replace = ["replace", "q.mdx", "R", "--old", "r", "--content"];
    place.run(&[&replace[..], &["s", "--refresh"]].concat()).success();
    place.write("q.mdx", "# Q\n\nexport const q = /[{]/\n\n## R\n\nr\n");
    let fence = [&replace[..], &["r\n\n```\ncode", "--refresh"]].concat();
    assert_eq!(place.run(&fence).ends(2).json()["error"]["reason"], "OPEN_FENCE");
}

#[test]
fn a_regular_expression_in_mdx_may_be_allowed() {
    let place = Place::ingested(&[("q.mdx", "# Q\n\ntext\n")]);
    let insert = ["insert", "q.mdx", "Q", "--content", "export const q = /[{]/"];
    let refused = place.run(&insert).ends(2).json();
    assert!(refused["error"]["hint"].as_str().unwrap().contains("--allow-change"), "{refused}");
    place.run(&[&insert[..], &["--allow-change"]].concat()).success();
}

#[test]
fn content_for_a_list_is_indented_after_its_byte_order_mark_and_blank_lines() {
    for content in ["\u{feff}more", "\nmore"] {
        let place = Place::ingested(&[("a.md", "- a\n\n  p\n- b\n")]);
        let at = "a.md::root/block:list[0]/item[0]/block:paragraph[1]";
        place.run(&["insert", at, "--content", content]).success();
        let text = std::fs::read_to_string(place.join("a.md")).unwrap();
        assert_eq!(text, "- a\n\n  p\n\n  more\n\n- b\n", "{content:?}");
    }
}

#[test]
fn a_document_that_would_be_too_long_to_be_parsed_is_refused() {
    let place = Place::ingested(&[("a.md", &"x\n\n".repeat(399_990))]);
    let content = "y\n\n".repeat(50);
    let refused = place.run(&["insert", "a.md::*", "--content", &content]).ends(2).json();
    assert_eq!(refused["error"]["reason"], "TOO_LONG", "{refused}");
}

#[test]
fn a_block_that_begins_within_a_line_can_be_given_back() {
    let file = ">     code\n\n> ```\n> a\n> ```\n\n- item\n\n> | a |\n> | - |\n> | b |\n";
    let place = Place::ingested(&[("q.md", file)]);
    for block in [
        "blockquote[0]/block:code[0]",
        "blockquote[1]/block:code[0]",
        "list[0]/item[0]/block:paragraph[0]",
        "blockquote[2]/block:table[0]",
    ] {
        let address = format!("q.md::root/block:{block}");
        let read = place.run(&["read", &address, "-f", "raw"]).success().text();
        for content in [read.as_str(), read.trim_end_matches('\n')] {
            let answer = place.run(&["replace", &address, "--content", content]).success().json();
            assert_eq!(answer["hash_before"], answer["hash_after"], "{answer}");
        }
        let refused = place.run(&["replace", &address, "--content", "x"]).ends(2).json();
        assert_eq!(refused["error"]["reason"], "NOT_WHOLE_LINES", "{refused}");
    }
    assert_eq!(std::fs::read_to_string(place.join("q.md")).unwrap(), file);
}

#[test]
fn the_new_lines_of_a_phrase_that_is_gone_are_those_of_its_section() {
    let place = doc();
    for (address, old, lines) in
        [("doc.md::Alpha", "alpha\n\n", [10, 11]), ("doc.md::*", "two", [16, 18])]
    {
        let replace = ["replace", address, "--old", old, "--content", ""];
        let answer = place.run(&replace).success().json();
        let given = [&answer["new_line_start"], &answer["new_line_end"]];
        assert_eq!(given, [&json!(lines[0]), &json!(lines[1])], "{answer}");
    }
}

#[test]
fn a_row_of_an_edit_does_not_repeat_its_warnings() {
    let commands: [&[&str]; 2] = [
        &["replace", "doc.md", "Alpha", "--content", "new", "-f", "jsonl"],
        &["rename", "doc.md", "Alpha", "--title", "Gamma", "-f", "jsonl"],
    ];
    for command in commands {
        let place = doc();
        tampered(
            &place,
            "INSERT INTO edit_intent VALUES (1, 'doc.md', '.mdsel-edit-0', zeroblob(32), x'')",
        );
        let rows = place.run(command).success().text();
        assert_eq!(rows.matches("EDIT_RECOVERED").count(), 1, "{rows}");
        assert!(rows.lines().nth(1).unwrap().starts_with("{\"warning\":"), "{rows}");
    }
}

#[test]
fn standard_input_that_cannot_be_read_is_named() {
    let place = doc();
    let folder = std::fs::File::open(place.path()).unwrap();
    let mut command = place.command("", &["replace", "doc.md", "Alpha", "-f", "json"]);
    let output = command.stdin(folder).output().unwrap();
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["error"]["code"], "IO", "{answer}");
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("standard input: "), "{message}");
    // Without any standard input there is no content.
    let closed = ["-c", "exec \"$0\" replace doc.md Alpha -f json <&-", crate::harness::PROGRAM];
    let output = Command::new("sh").args(closed).current_dir(place.path()).output().unwrap();
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["error"]["reason"], "EMPTY_CONTENT", "{answer}");
}

#[test]
fn an_insertion_prints_the_address_of_what_was_inserted() {
    const LDMD: &str = "<!--LDMD:BEGIN id=\"n\"-->\nx\n\n- y\n<!--LDMD:END id=\"n\"-->";
    let files = [
        ("l.md", "- t\n\n# L\n\n- a\n  - n\n- b\n\n| A |\n| - |\n| 1 |\n\n> - q\n\n## M\n\ntext\n"),
        ("p.md", "# Page\n\nx\n\n## Old\n\ny\n"),
        ("s.md", "para\n\n* x\n"),
    ];
    for (target, position, content, expected) in [
        (
            "l.md::l/block:list[0]/item[1]",
            "after",
            "- c",
            "l.md::heading:h1[0]/block:list[0]/item[2]",
        ),
        // The list begins where its first item does.
        (
            "l.md::l/block:list[0]/item[0]",
            "before",
            "- c",
            "l.md::heading:h1[0]/block:list[0]/item[0]",
        ),
        ("l.md::l/block:list[0]", "before", "- c", "l.md::heading:h1[0]/block:list[0]/item[0]"),
        (
            "l.md::l/block:list[0]/item[0]/block:list[0]/item[0]",
            "before",
            "- c",
            "l.md::heading:h1[0]/block:list[0]/item[0]/block:list[0]/item[0]",
        ),
        ("l.md::*", "first_child", "- c", "l.md::root/block:list[0]/item[0]"),
        (
            "l.md:13-13",
            "before",
            "> - c",
            "l.md::heading:h1[0]/block:blockquote[0]/block:list[0]/item[0]",
        ),
        ("l.md::l/block:table[0]/row[0]", "after", "| 2 |", "l.md:12-12"),
        ("l.md::l/block:table[0]", "after", "para", "l.md::heading:h1[0]/block:paragraph[0]"),
        ("l.md::m", "after", "## N\n\nx", "l.md::l/n"),
        ("l.md::m", "last_child", "> quote", "l.md::heading:h2[0]/block:blockquote[0]"),
        // One node does not have all of it.
        ("l.md::m", "last_child", "p1\n\np2", "l.md:19-21"),
        ("l.md::l/block:list[0]/item[1]", "after", "- c\n- d", "l.md:8-9"),
        ("l.md::m", "after", "## N\n\n## O", "l.md:19-21"),
        ("s.md:2-2", "before", "p1\n\np2", "s.md:2-4"),
        ("l.md::m", "last_child", LDMD, "l.md::ldmd:n"),
        // The first title is a word of selectors.
        ("p.md::Old", "after", "## New", "p.md::/page/new"),
        ("p.md::Page", "after", "# Root", "p.md::/root"),
    ] {
        let place = Place::ingested(&files);
        let insert = ["insert", target, "--position", position, "--content", content];
        let text = place.run(&[&insert[..], &["--dry-run", "-f", "json"]].concat());
        assert_eq!(text.success().json()["new_selector"], expected, "{target} {content}");
        let answer = place.run(&[&insert[..], &["-f", "text"]].concat()).success().text();
        let address = answer.lines().next().unwrap().rsplit(" as ").next().unwrap();
        assert_eq!(address, expected, "{answer}");
        let read = place.run(&["select", address, "-f", "raw"]).success().text();
        assert!(content.ends_with(read.trim()), "{answer}{read}");
        assert_eq!(read.lines().count(), content.lines().count(), "{answer}{read}");
    }
}

#[test]
fn an_insertion_beside_own_text_names_a_place_to_insert() {
    let place = Place::ingested(&[(
        "d.md",
        "intro\n\n# D\n\n- one\n- two\n  - deep\n\npara\n\n1. three\n   - deep\n\n   after\n",
    )]);
    for (target, expected) in [
        ("d.md::D/block:list[0]/item[0]", "- one\n- new"),
        ("d.md::D/block:list[0]/item[1]", "- two\n  - new\n  - deep"),
        ("d.md::D/block:paragraph[0]", "para\n\n- new\n\n1. three"),
        ("d.md::D", "- new\n"),
        ("d.md::*", "intro\n\n- new\n\n# D"),
        ("d.md::root", "intro\n\n- new\n\n# D"),
    ] {
        let own = format!("{target}?part=own");
        let json = place.run(&["insert", &own, "--content", "- new"]).ends(2).json();
        let hint = json["error"]["hint"].as_str().unwrap();
        let call = hint.split("`mdsel ").nth(1).unwrap().split('`').next().unwrap();
        let call = call.replace('\'', "");
        let words: Vec<&str> =
            call.split(' ').chain(["--content", "- new", "--dry-run", "-f", "json"]).collect();
        let diff = place.run(&words).success().json();
        let diff = diff["diff"].as_str().unwrap().to_owned();
        let lines = diff.lines().filter(|line| line.starts_with([' ', '+']));
        let after: String = lines.map(|line| format!("{}\n", &line[1..])).collect();
        assert!(after.contains(expected), "{hint} {diff}");
    }
    let mixed = "d.md::D/block:list[1]/item[0]?part=own";
    let text = place.run(&["select", mixed, "-f", "text"]).ends(1).text();
    assert!(
        text.contains("; `mdsel read 'd.md::heading:h1[0]/block:list[1]/item[0]'` prints all"),
        "{text}"
    );
}

#[test]
fn an_insertion_that_a_later_edit_removes_has_no_address() {
    let place = Place::ingested(&[("d.md", "# D\n\n## Child\n\ntext\n\n## Last\n\ntext\n")]);
    let insert = r###"{"operation":"insert","section":"d.md::Child","content":"## Tmp\n\nt"}"###;
    for (later, is_removed) in [
        (r#"{"operation":"delete","section":"d.md::Tmp"}"#, true),
        (
            r#"{"operation":"replace","section":"d.md::*","content":"other","allow_drop":true}"#,
            true,
        ),
        (r#"{"operation":"replace","section":"d.md::Tmp","content":"other"}"#, false),
        (r#"{"operation":"delete","section":"d.md::Child"}"#, false),
    ] {
        place.write("batch.jsonl", format!("{insert}\n{later}"));
        let batch = ["edit", "--batch", "batch.jsonl", "--dry-run"];
        let json = place.run(&[&batch[..], &["-f", "json"]].concat()).success().json();
        let edit = &json["edits"][0];
        for field in ["inserted_at", "new_selector", "new_section_path"] {
            assert_eq!(edit[field].is_null(), is_removed, "{later} {edit}");
        }
    }
    place.write(
        "batch.jsonl",
        format!("{insert}\n{}", r#"{"operation":"delete","section":"d.md::Tmp"}"#),
    );
    let text = place.run(&["edit", "--batch", "batch.jsonl", "-f", "text"]).success().text();
    assert!(text.contains(": inserted, and removed by a later edit\n"), "{text}");
}

#[test]
fn a_dry_run_that_is_cut_prints_how_much_changes() {
    let files: Vec<String> = (0..9).map(|number| format!("f{number}.md")).collect();
    let files: Vec<(&str, &str)> =
        files.iter().map(|file| (file.as_str(), "# A\n\nold text\n")).collect();
    let place = Place::ingested(&files);
    let edit = |(file, _): &(&str, &str)| {
        format!(r#"{{"operation":"replace","document":"{file}","section":"A","content":"new"}}"#)
    };
    place.write("batch.jsonl", files.iter().map(edit).collect::<Vec<_>>().join("\n"));
    let batch = ["edit", "--batch", "batch.jsonl", "--dry-run", "-f", "text"];
    let whole = place.run(&batch).success().text();
    assert!(!whole.contains("9 edits"), "{whole}");
    let cut = place.run(&[&batch[..], &["--max-chars", "300"]].concat()).success().text();
    let total =
        format!("9 edits in 9 files; the whole diff has {} characters", whole.chars().count());
    assert!(cut.contains(&total), "{cut}");
}

#[test]
fn text_names_the_sections_that_are_removed_or_get_another_parent() {
    let place = doc();
    let answer = place.run(&["delete", "doc.md", "One", "--no-children", "-f", "text"]).success();
    let moved = "  reparented: one/alpha is now alpha\n  reparented: one/beta is now beta\n";
    assert!(answer.text().contains(moved), "{}", answer.text());
    let place = doc();
    let replace = ["replace", "doc.md", "One", "--content", "new", "--allow-drop", "-f", "text"];
    let answer = place.run(&replace).success().text();
    assert!(answer.contains("  removed: one/alpha\n  removed: one/beta\n"), "{answer}");
}

#[test]
fn an_edit_beyond_the_limit_on_the_size_of_files_says_so() {
    let place = doc();
    let content = "x".repeat(70_000);
    let replace = ["replace", "doc.md", "Two", "--content", &content];
    let refused = place.run_limited("-f 64", &replace).ends(2);
    assert_eq!(refused.code(), "IO", "{}", refused.text());
    assert_eq!(std::fs::read_to_string(place.join("doc.md")).unwrap(), DOC);
}

#[test]
fn a_phrase_may_be_a_definition_with_what_is_before_it() {
    let place = Place::ingested(&[("a.md", " \n[l]: /u\r\n")]);
    place.run(&["replace", "a.md::*", "--old", " \n[l]: /u\r\n", "--content", ""]).success();
    assert_eq!(std::fs::read_to_string(place.join("a.md")).unwrap(), "");
}

#[test]
fn an_edit_of_nodes_past_the_end_is_refused() {
    let text = "# One\n\n## Kid\n\n- a\n- b\n";
    let place = Place::ingested(&[("a.md", text)]);
    for address in ["a.md::block:list[0]/item[1-5]", "a.md::heading:h2[0-3]"] {
        let refused = place.run(&["delete", address]).ends(1);
        assert!(refused.text().contains("INDEX_OUT_OF_RANGE"), "{}", refused.text());
    }
    assert_eq!(std::fs::read_to_string(place.join("a.md")).unwrap(), text);
}
