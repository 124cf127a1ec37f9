//! What is inside documents, as data: code, tables, tasks and front matter, and changes of them.

use serde_json::{Value, json};

use crate::harness::{Place, words};

const GUIDE: &str = "---\ntitle: Guide\nstatus: Final   # why\nrequires: 2718, 7594\ntags: [install, x]\ndue: 2026-01-31\n\
    author:\n  name: Ann\n---\n# Install\n\n```bash title=\"x\"\necho hi\n```\n\n1. step\n   ```sh\n   run  me\n   ```\n\n\
    | Parameter | Default | |\n|---|:-:|---|\n| `MaxDepth` | 5 | a\\|b |\n| Other | **10** |\n\n## Tasks\n\n\
    - [ ] pay rent due:2026-01-31 #home\n  - [x] sub ✅ 2026-01-02\n- [ ] call [due:: 2026-09-01]\n- [x] done\n";

const NOTE: &str = "---\nrequires: 17594\nstatus: Draft\n---\n# Note\n\n> ```rs\n> let a;\n> ```\n\n- [ ] open\n\n\
    > | Parameter | Default |\n> |---|---|\n> | Rate | 7 |\n";

fn place() -> Place {
    Place::ingested(&[
        ("guide.md", GUIDE),
        ("notes/note.md", NOTE),
        ("plain.md", "# Plain\n\n```\nx\n```\n"),
    ])
}

/// The values at `field` of the items in `list`.
fn all(place: &Place, arguments: &[&str], list: &str, field: &str) -> Vec<Value> {
    let answer = place.run(arguments).json();
    answer[list].as_array().unwrap().iter().map(|item| item[field].clone()).collect()
}

#[test]
fn a_line_that_begins_another_block_is_no_header_of_a_table() {
    let place = Place::ingested(&[(
        "a.md",
        "# Options\n|---|\n| a |\n\n## A | B\n|---|---|\n\n- x | y\n|---|---|\n\n1. x | y\n---|---\n\n\
         > x | y\n---|---\n\ntext\nk | l\n--|--\n1 | 2\n",
    )]);
    let tables = place.run(&["tables"]).success().json();
    let rows: Vec<&Value> =
        tables["rows"].as_array().unwrap().iter().map(|row| &row["row"]).collect();
    assert_eq!(rows, [&json!({"k": "1", "l": "2"})]);
    place.run(&["read", "a.md::Options", "--no-children"]).success();
    place.run(&["read", "a.md::A | B"]).success();
}

#[test]
fn the_index_of_texts_in_code_and_sections_is_rebuilt_if_it_is_missing() {
    let place = Place::ingested(&[("a.md", "# One\n\n-foo bar\n\n```sh\nrun me\n```\n")]);
    for (arguments, list) in [
        (["code", "--containing", "RUN me", "--limit=1"], "code"),
        (["find", "*", "--content", "-FOO bar"], "matches"),
    ] {
        std::fs::remove_dir_all(place.join(".mdsel.db-fts")).unwrap();
        assert_eq!(place.run(&arguments).success().json()[list].as_array().unwrap().len(), 1);
        let status = place.run(&["status"]).success().json();
        assert_eq!(status["index_generation"], status["generation"], "{arguments:?}");
    }
    place.write("b.md", "# Two\n\n```sh\nStraße\n```\n");
    place.run(&["ingest"]).success();
    for text in ["STRAẞE", "traß", "sse"] {
        place.run(&["code", "--containing", text]).ends(i32::from(text == "sse"));
    }
    place.run(&["code", "--containing", "-foo"]).ends(1);
    place.run(&["find", "One", "--content", "absent"]).ends(1);
}

#[test]
fn documents_and_folders_are_named_without_an_option() {
    let place = place();
    for command in ["code", "tables", "tasks"] {
        let [named, under, both] = [
            &[command, "guide.md"][..],
            &[command, "--under", "guide.md"],
            &[command, "notes", "--under", "guide.md"],
        ]
        .map(|arguments| place.run(arguments).success().text());
        assert!(
            named == under && named.contains("guide.md") && !named.contains("notes/"),
            "{named}"
        );
        assert!(both.contains("guide.md") && both.contains("notes/note.md"), "{both}");
    }
    assert_eq!(place.run(&["tasks", "none.md"]).ends(1).code(), "SELECTOR_NOT_FOUND");
}

#[test]
fn a_field_of_a_task_ends_with_its_line() {
    let place = Place::ingested(&[("a.md", "- [ ] a\n  due:: 2026-02-02\n  see notes\n")]);
    let tasks = place.run(&["tasks", "--where", "due = 2026-02-02"]).success().json();
    assert_eq!(tasks["tasks"][0]["text"], "a due:: 2026-02-02 see notes");
    assert_eq!(tasks["tasks"][0]["fields"], json!({"due": "2026-02-02"}));
}

#[test]
fn code_is_listed_by_language_and_printed_without_what_is_around_it() {
    let place = place();
    let codes = |arguments: &[&str]| all(&place, arguments, "code", "code");
    assert_eq!(codes(&["code", "--lang", "shell"]), [json!("echo hi\n"), json!("run  me\n")]);
    assert_eq!(codes(&["code", "--lang", "rust"]), [json!("let a;\n")]);
    assert_eq!(codes(&["code", "--containing", "RUN  m"]), [json!("run  me\n")]);
    assert_eq!(
        codes(&["code", "--lang", "rust", "--lang", "sh", "--under", "notes"]),
        [json!("let a;\n")]
    );
    assert_eq!(codes(&["code"]).len(), 4);
    assert_eq!(
        place.run(&["code", "--lang", "bash", "-f", "raw"]).success().text(),
        "echo hi\nrun  me\n"
    );
    let first = place.run(&["code"]).success().json()["code"][0].clone();
    assert_eq!((&first["language"], &first["info"]), (&json!("bash"), &json!("title=\"x\"")));
    assert_eq!((&first["line"], &first["heading_path"]), (&json!(12), &json!(["Install"])));
    let block = place.run(&["select", first["selector"].as_str().unwrap(), "-f", "raw"]).success();
    assert!(block.text().starts_with("```bash"));
    assert_eq!(place.run(&["code", "--lang", "cobol"]).ends(1).json()["code"], json!([]));
}

#[test]
fn code_is_written_to_new_files_and_never_over_one() {
    let place = place();
    place.run(&["code", "--out", "out"]).success();
    let names = ["guide.md-12.sh", "guide.md-17.sh", "notes-note.md-7.rs", "plain.md-3.txt"];
    for name in names {
        assert!(place.join("out").join(name).is_file(), "{name}");
    }
    assert_eq!(std::fs::read_to_string(place.join("out/guide.md-17.sh")).unwrap(), "run  me\n");
    std::fs::write(place.join("out/guide.md-17.sh"), "mine").unwrap();
    std::fs::remove_file(place.join("out/guide.md-12.sh")).unwrap();
    let refused = place.run(&["code", "--out", "out"]).ends(2);
    assert!(refused.stderr.contains("the file exists"), "{}", refused.stderr);
    assert!(!place.join("out/guide.md-12.sh").exists(), "no file is written if one exists");
    assert_eq!(std::fs::read_to_string(place.join("out/guide.md-17.sh")).unwrap(), "mine");
}

#[test]
fn rows_are_keyed_by_the_header() {
    let place = place();
    let rows = |arguments: &[&str]| all(&place, arguments, "rows", "row");
    assert_eq!(
        rows(&["tables", "--header", "default", "--header", "column_3"]),
        [
            json!({"Parameter": "MaxDepth", "Default": "5", "column_3": "a|b"}),
            json!({"Parameter": "Other", "Default": "10", "column_3": ""}),
        ]
    );
    assert_eq!(
        rows(&["tables", "--where", "parameter = MaxDepth", "--columns", "Default"]),
        [json!({"Default": "5"})]
    );
    assert_eq!(
        rows(&["tables", "--where", "Default > 5 and not Parameter = Other"]),
        [json!({"Parameter": "Rate", "Default": "7"})]
    );
    assert_eq!(
        rows(&["tables", "--where", "Default > 5", "--where-meta", "status = Final"]).len(),
        1
    );
    let sources = all(&place, &["tables", "--header", "column_3"], "rows", "source");
    assert_eq!(sources[0], json!({"Parameter": "`MaxDepth`", "column_3": "a\\|b"}));
    let csv = place.run(&["tables", "--header", "column_3", "-f", "csv"]).success().text();
    assert_eq!(csv, "Parameter,Default,column_3\nMaxDepth,5,a|b\nOther,10,\n");
    // The columns that are asked for are the same on each page, also those that no row has there.
    let csv = ["tables", "--columns", "default,column_3", "-f", "csv", "--limit", "1"];
    let csv = place.run(&[&csv[..], &["--where", "Default = 7"]].concat()).success().text();
    assert_eq!(csv, "default,column_3\n7,\n");
    let lines = all(&place, &["tables"], "rows", "line");
    assert_eq!(lines, [json!(23), json!(24), json!(15)]);
    // The address of a row is that of its line.
    let row = all(&place, &["tables", "--where", "Default = 7"], "rows", "selector");
    let row = place.run(&["select", row[0].as_str().unwrap(), "-f", "raw"]).success().text();
    assert_eq!(row, "| Rate | 7 |");
}

#[test]
fn tasks_are_filtered_by_state_and_fields() {
    let place = place();
    let texts = |arguments: &[&str]| all(&place, arguments, "tasks", "text");
    assert_eq!(texts(&["tasks"]).len(), 5);
    assert_eq!(texts(&["tasks", "--done"]), [json!("sub ✅ 2026-01-02"), json!("done")]);
    assert_eq!(
        texts(&["tasks", "--open", "--where", "due < 2026-06-01"]),
        [json!("pay rent due:2026-01-31 #home")]
    );
    assert_eq!(texts(&["tasks", "--where", "exists due or completion = 2026-01"]).len(), 3);
    assert_eq!(texts(&["tasks", "--where", "not exists due", "--open"]), [json!("open")]);
    assert_eq!(texts(&["tasks", "--where", "depth = 1"]), [json!("sub ✅ 2026-01-02")]);
    assert_eq!(texts(&["tasks", "--where", "tags contains home and state = open"]).len(), 1);
    assert_eq!(texts(&["tasks", "--where-meta", "status = Draft"]), [json!("open")]);
    let first = place.run(&["tasks"]).success().json()["tasks"][0].clone();
    assert_eq!(first["fields"], json!({"due": "2026-01-31", "tags": ["home"]}));
    assert_eq!(first["heading_path"], json!(["Install", "Tasks"]));
}

#[test]
fn front_matter_is_asked_by_key() {
    let place = place();
    let files = |arguments: &[&str]| all(&place, arguments, "documents", "file");
    assert_eq!(files(&["meta"]), [json!("guide.md"), json!("notes/note.md")]);
    assert_eq!(files(&["meta", "--where", "requires contains 7594"]), [json!("guide.md")]);
    assert_eq!(files(&["meta", "--where", "author.name = Ann"]), [json!("guide.md")]);
    assert_eq!(files(&["meta", "--where", "STATUS = Draft"]), [json!("notes/note.md")]);
    assert_eq!(files(&["meta", "--where", "not exists status"]), [json!("plain.md")]);
    assert_eq!(
        files(&["meta", "--where", "not status = Final", "--sort", "-path"]),
        [json!("plain.md"), json!("notes/note.md")]
    );
    let meta =
        all(&place, &["meta", "--get", "title", "--get", "author.name"], "documents", "meta");
    assert_eq!(meta, [json!({"title": "Guide", "author.name": "Ann"})]);
    let types = place.run(&["meta", "--types", "--limit", "2"]).success().json();
    let requires = json!({"key": "requires", "documents": 2, "types": {"number": 1, "string": 1}});
    assert_eq!(
        types["keys"],
        json!([requires, {"key": "status", "documents": 2, "types": {"string": 2}}])
    );
    let rest = place.run(&["meta", "--types", "--after", types["next"].as_str().unwrap()]).json();
    assert_eq!(rest["keys"].as_array().unwrap().len(), 4);
}

#[test]
fn the_condition_on_front_matter_is_the_same_on_every_command() {
    let place = place();
    for command in [
        &["index"][..],
        &["toc"],
        &["find", "*"],
        &["search", "-e", "Note|Install|Plain"],
        &["search", "note install plain"],
        &["context", "--query", "note install plain"],
        &["code"],
    ] {
        for (condition, expected, others) in [
            ("status = Draft", "note.md", "guide.md"),
            ("not exists status", "plain.md", "note.md"),
            ("due >= 2026-01 and requires contains 2718", "guide.md", "note.md"),
        ] {
            let answer = place.run(&[command, &["--where", condition]].concat()).success().text();
            assert!(answer.contains(expected), "{command:?} {condition}: {answer}");
            assert!(!answer.contains(others), "{command:?} {condition}: {answer}");
        }
        place.run(&[command, &["--where", "status = Unknown"]].concat()).ends(1);
        let wrong = place.run(&[command, &["--where", "status ="]].concat()).ends(2);
        assert!(wrong.text().contains("column 9: expected a value"), "{}", wrong.text());
    }
}

#[test]
fn a_list_goes_on_where_it_ended() {
    let place = place();
    for (command, list) in
        [("code", "code"), ("tables", "rows"), ("tasks", "tasks"), ("meta", "documents")]
    {
        let whole = place.run(&[command]).success().json()[list].as_array().unwrap().clone();
        let mut found = Vec::new();
        let mut after = None::<String>;
        loop {
            let mut arguments = vec![command, "--limit", "1"];
            arguments.extend(after.iter().flat_map(|after| ["--after", after.as_str()]));
            let page = place.run(&arguments).success().json();
            found.extend(page[list].as_array().unwrap().clone());
            match page["next"].as_str() {
                Some(next) => after = Some(next.to_owned()),
                None => break,
            }
        }
        assert_eq!(found, whole, "{command}");
        for format in ["text", "records", "jsonl", "ldmd"] {
            assert!(!place.run(&[command, "-f", format]).success().text().is_empty());
        }
        for most in [200, 400, 800] {
            let most = most.to_string();
            let answer = place.run(&[command, "--max-chars", &most, "-f", "text"]);
            assert!(answer.text().chars().count() <= most.parse().unwrap(), "{command} {most}");
        }
    }
}

#[test]
fn a_new_version_of_a_document_replaces_its_data() {
    let place = place();
    place.write("guide.md", "---\nstatus: Gone\n---\n# G\n\n- [ ] new due:2030-01-01\n");
    place.run(&["ingest"]).success();
    assert_eq!(
        all(&place, &["tasks", "--open"], "tasks", "text"),
        [json!("new due:2030-01-01"), json!("open")]
    );
    assert_eq!(
        all(&place, &["meta", "--where", "exists author"], "documents", "file"),
        [] as [Value; 0]
    );
    assert_eq!(all(&place, &["tables"], "rows", "file"), [json!("notes/note.md")]);
    place.remove("guide.md");
    place.run(&["ingest"]).success();
    assert_eq!(all(&place, &["code"], "code", "file").len(), 2);
    assert_eq!(place.run(&["verify"]).success().json()["findings"], json!([]));
}

#[test]
fn rows_and_cells_have_addresses() {
    let place = place();
    let raw = |address: &str| place.run(&["select", address, "-f", "raw"]).success().text();
    let table = "guide::heading:h1[0]/block:table[0]";
    assert_eq!(raw(&format!("{table}/row[header]/cell[1]")), "Default");
    assert_eq!(raw(&format!("{table}/row[0]")), "| `MaxDepth` | 5 | a\\|b |");
    assert_eq!(raw(&format!("{table}/row[0]/cell[column_3]")), "a\\|b");
    assert_eq!(raw(&format!("{table}/row[1]/cell[2]")), "");
    assert_eq!(raw(&format!("{table}/row/cell[default]")), "5**10**");
    assert_eq!(raw(&format!("{table}/row[0]/cell[1-2]")), "5a\\|b");
    let warning = |address: &str| {
        let answer = place.run(&["select", address]).success().json();
        (answer["results"].as_array().unwrap().len(), answer["warnings"][0]["code"].clone())
    };
    assert_eq!(warning(&format!("{table}/row")), (2, Value::Null));
    assert_eq!(warning(&format!("{table}/row[1-9]")), (1, json!("RANGE_PAST_END")));
    assert_eq!(warning(&format!("{table}/row/cell[0]")), (2, json!("UNINDEXED_STEP")));
}

#[test]
fn a_column_may_be_called_like_a_number() {
    let place = Place::ingested(&[("a.md", "| 2024 | 2025-2026 |\n|---|---|\n| x | y |\n")]);
    let raw = |cell: &str| {
        let address = format!("a::block:table[0]/row[0]/cell[{cell}]");
        place.run(&["select", &address, "-f", "raw"]).success().text()
    };
    assert_eq!([raw("2024"), raw("2025-2026"), raw("0"), raw("0-1")], ["x", "y", "x", "xy"]);
}

#[test]
fn an_empty_answer_names_the_keys_that_nothing_has() {
    let place = place();
    for (arguments, expected) in [
        (&["tables", "--columns", "Size"][..], "no table has the column \"Size\""),
        (&["tables", "--where", "default > 100 and Size = 1"], "no table has the column \"Size\""),
        (&["tasks", "--where", "prio = 1"], "no task has the field \"prio\"; there are "),
        (
            &["meta", "--where", "state = Final"],
            "no front matter has the key \"state\"; similar keys are status, tags",
        ),
        (&["code", "--where", "author.mail = x"], "no front matter has the key \"author.mail\""),
        (&["meta", "--get", "zzz"], "no front matter has the key \"zzz\"; `mdsel meta --types`"),
    ] {
        let answer = place.run(arguments).ends(1).json();
        let warnings = answer["warnings"].as_array().unwrap();
        assert_eq!(warnings.len(), 1, "{answer}");
        assert_eq!(warnings[0]["code"], "UNKNOWN_KEY");
        let message = warnings[0]["message"].as_str().unwrap();
        assert!(message.starts_with(expected), "{message}");
    }
    for command in [&["search", "lantern"][..], &["find", "Guide"]] {
        let filtered = [command, &["--where", "state = Final", "-f", "text"]].concat();
        let text = place.run(&filtered).ends(1).text();
        assert!(text.starts_with("warning: UNKNOWN_KEY: no front matter has the key"), "{text}");
    }
    let known = place.run(&["meta", "--where", "STATUS = Gone"]).ends(1).json();
    assert_eq!(known["warnings"][0]["code"], "NO_DOCUMENT");
}

#[test]
fn a_key_of_meta_set_does_not_end_with_a_sign() {
    let text = "---\naliases: [a]\n---\n# A\n";
    let place = Place::ingested(&[("a.md", text)]);
    for (value, hint) in [
        ("aliases+=b c", "`mdsel meta add a.md aliases 'b c'`"),
        ("aliases-=a", "`mdsel meta remove a.md aliases a`"),
    ] {
        let fault = place.run(&["meta", "set", "a.md", value]).ends(2).json();
        assert_eq!(fault["error"]["code"], "USAGE", "{fault}");
        assert!(fault["error"]["hint"].as_str().unwrap().contains(hint), "{fault}");
    }
    assert_eq!(std::fs::read_to_string(place.join("a.md")).unwrap(), text);
}

#[test]
fn a_task_without_a_state_names_both_flags_and_a_line_alone_is_suggested() {
    let place = Place::ingested(&[("a.md", "# A\n\n- [ ] x\n")]);
    let fault = place.run(&["task", "a.md:3"]).ends(2);
    assert!(fault.stderr.contains("--done|--open"), "{}", fault.stderr);
    let fault = place.run(&["task", "a.md", "3", "--done"]).ends(1).json();
    assert_eq!(fault["unresolved_selectors"][0]["suggestions"][0], "a.md:3", "{fault}");
}

#[test]
fn a_task_is_named_by_its_line() {
    let place = place();
    for line in all(&place, &["tasks", "--under", "guide.md"], "tasks", "line") {
        let address = format!("guide.md:{line}");
        place.run(&["task", &address, "--done"]).success();
    }
    assert_eq!(all(&place, &["tasks", "--open"], "tasks", "file"), [json!("notes/note.md")]);
    let fault = place.run(&["task", "guide", "@1", "--done"]).ends(1).json();
    let fault = &fault["unresolved_selectors"][0];
    assert_eq!(fault["code"], "SELECTOR_NOT_FOUND");
    assert!(fault["message"].as_str().unwrap().starts_with("line 1 of guide.md has no task"));
}

#[test]
fn a_missing_cell_of_a_short_row_is_added() {
    let place = Place::ingested(&[("a.md", "| a | b | c |\n|---|---|---|\n| 1 |\n")]);
    let cell = "a.md::root/block:table[0]/row[0]/cell[c]";
    let read = place.run(&["read", cell]).success().json();
    assert_eq!(
        (&read["content"], &read["line_start"], &read["line_end"]),
        (&json!(""), &json!(3), &json!(3))
    );
    let answer =
        place.run(&["replace", cell, "--content", "3", "--dry-run", "-f", "json"]).success().json();
    assert_eq!(answer["old_content"], "");
    assert_eq!(
        edited(&place, "a.md", &["replace", cell, "--content", "3"]),
        ("| 1 |".to_owned(), "| 1 | | 3 |".to_owned())
    );
    assert_eq!(all(&place, &["tables"], "rows", "row"), [json!({"a": "1", "b": "", "c": "3"})]);
}

#[test]
fn a_row_that_is_wider_than_its_table_is_refused() {
    let place = Place::ingested(&[("a.md", "| a | b |\n|---|---|\n| 1 | 2 |\n")]);
    for (command, row) in [("insert", "row[0]"), ("replace", "row[0]"), ("insert", "row[header]")] {
        let address = format!("a.md::root/block:table[0]/{row}");
        let fault = place.run(&[command, &address, "--content", "| 3 | 4 | 5 |"]).ends(2).json();
        assert_eq!(fault["error"]["reason"], "TOO_MANY_CELLS", "{fault}");
        place.run(&[command, &address, "--content", "| 3 | 4 \\| 5 |", "--dry-run"]).success();
    }
    place
        .run(&["replace", "a.md::root/block:table[0]/row[0]/cell[0]", "--content", "a | b"])
        .success();
}

#[test]
fn a_row_of_a_table_in_a_block_quote_may_begin_with_its_marks() {
    let table = "> > | a | b |\n> > |---|---|\n> > | 1 | 2 |\n";
    for row in ["| 3 | 4 |", "> | 3 | 4 |", "> > | 3 | 4 |", ">>| 3 | 4 |"] {
        let place = Place::ingested(&[("a.md", table)]);
        let address = "a.md::root/block:blockquote[0]/block:blockquote[0]/block:table[0]/row[0]";
        place.run(&["insert", address, "--content", row]).success();
        let after = std::fs::read_to_string(place.join("a.md")).unwrap();
        assert_eq!(after, format!("{table}> > | 3 | 4 |\n"), "{row}");
        place.run(&["replace", address, "--content", row]).success();
        let after = std::fs::read_to_string(place.join("a.md")).unwrap();
        assert!(after.ends_with("|\n> > | 3 | 4 |\n> > | 3 | 4 |\n"), "{after}");
    }
}

#[test]
fn a_row_that_is_wider_than_its_table_can_be_given_back() {
    let table = "| a |\n|---|\n| 1 | 2 |\n";
    let place = Place::ingested(&[("a.md", table)]);
    let row = "a.md::root/block:table[0]/row[0]";
    let answer = place.run(&["replace", row, "--content", "| 1 | 2 |\n"]).success().json();
    assert_eq!(answer["old_content"], "| 1 | 2 |");
    assert_eq!(std::fs::read_to_string(place.join("a.md")).unwrap(), table);
}

#[test]
fn the_last_row_of_a_file_without_a_last_line_end_is_deleted() {
    for line_end in ["\n", "\r\n"] {
        let table = ["# T", "", "| a |", "|---|", "| 1 |", "| 2 |"].join(line_end);
        let place = Place::ingested(&[("a.md", &table)]);
        for rest in [5, 4] {
            let row = format!("a.md::block:table[0]/row[{}]", rest - 4);
            let answer = place.run(&["delete", &row]).success().json();
            assert_eq!(answer["deleted_lines"], json!([rest + 1, rest + 1]), "{answer}");
            assert_eq!(answer["deleted_content"], format!("| {} |", rest - 3));
            let lines: Vec<&str> = table.split(line_end).take(rest).collect();
            let left = std::fs::read_to_string(place.join("a.md")).unwrap();
            assert_eq!(left, lines.join(line_end));
        }
    }
}

#[test]
fn json_front_matter_is_given_back_and_made() {
    let place = Place::ingested(&[("a.md", ";;;\n{\"a\": 1}\n;;;\n# A\n"), ("b.md", "# B\n")]);
    let text = |name: &str| std::fs::read_to_string(place.join(name)).unwrap();
    let replace = |name: &str, content: &str| {
        let address = format!("{name}::@frontmatter");
        place.run(&["replace", &address, "--content", content]).success();
    };
    replace("a.md", ";;;\n{\"a\": 1}\n;;;\n");
    assert_eq!(text("a.md"), ";;;\n{\"a\": 1}\n;;;\n# A\n");
    replace("a.md", ";;;\n{\"a\": 2}\n;;;\n");
    assert_eq!(text("a.md"), ";;;\n{\"a\": 2}\n;;;\n# A\n");
    replace("b.md", ";;;\n{\"b\": 1}\n;;;\n");
    assert_eq!(text("b.md"), ";;;\n{\"b\": 1}\n;;;\n\n# B\n");
    let answer = place.run(&["meta", "-f", "json"]).success().json();
    assert_eq!(answer["documents"][1]["meta"], json!({"b": 1}), "{answer}");
}

/// Each kind of front matter, and its keys and values; `None` if it cannot be read.
#[test]
fn front_matter_of_every_kind_is_read_and_changed_in_place() {
    let anchored = "---\nbase: &b {x: 1}\nref: *b\nt: !!str 5\n---\n";
    for (text, values, set) in [
        ("---\nk: v\n...\n# T\n", Some(json!({"k": "v"})), Some("---\nk: 2\n...\n# T\n")),
        (
            "---\nk: ~\n---\n# Frontmatter\n",
            Some(json!({"k": null})),
            Some("---\nk: 2\n---\n# Frontmatter\n"),
        ),
        ("---\r\nk: v\r\n---\r\n", Some(json!({"k": "v"})), Some("---\r\nk: 2\r\n---\r\n")),
        ("\u{feff}---\nk: v\n---\n", Some(json!({"k": "v"})), Some("\u{feff}---\nk: 2\n---\n")),
        ("---  \nk: v # c\n---\t\n", Some(json!({"k": "v"})), Some("---  \nk: 2 # c\n---\t\n")),
        ("+++\nk = \"v\" # c\n+++\n", Some(json!({"k": "v"})), Some("+++\nk = 2 # c\n+++\n")),
        (
            ";;;\n{\"a\": [1],\n \"k\": \"v\"}\n;;;\n",
            Some(json!({"a": [1], "k": "v"})),
            Some(";;;\n{\"a\": [1],\n \"k\": 2}\n;;;\n"),
        ),
        ("---\n---\n# T\n", Some(json!({})), Some("---\nk: 2\n---\n# T\n")),
        ("---\n# c\n---\n", Some(json!({})), Some("---\n# c\nk: 2\n---\n")),
        (
            "---\nk: |\n  ---\n  x\nyes: no\nd: 2026-01-31\n---\n",
            Some(json!({"k": "---\nx\n", "yes": "no", "d": "2026-01-31"})),
            Some("---\nk: 2\nyes: no\nd: 2026-01-31\n---\n"),
        ),
        (
            anchored,
            Some(json!({"base": {"x": 1}, "ref": {"x": 1}, "t": "5"})),
            Some("---\nbase: &b {x: 1}\nref: *b\nt: !!str 5\nk: 2\n---\n"),
        ),
        ("---\nk: 1\nk: 2\n---\n", None, None),
        ("---\nk: [1\n---\n", None, None),
        ("# no front matter\n", None, Some("---\nk: 2\n---\n\n# no front matter\n")),
        ("----\nk: v\n----\n", None, Some("---\nk: 2\n---\n\n----\nk: v\n----\n")),
    ] {
        let place = Place::ingested(&[("a.md", text)]);
        let found = all(&place, &["meta"], "documents", "meta");
        assert_eq!(found.first(), values.as_ref(), "{text:?}");
        let answer = place.run(&["meta", "set", "a.md", "k=2"]);
        let after = std::fs::read_to_string(place.join("a.md")).unwrap();
        match set {
            Some(expected) => assert_eq!(after, expected, "{text:?}: {}", answer.text()),
            None => {
                assert!(answer.ends(2).stderr.contains("NOT_IN_PLACE"), "{text:?}");
                assert_eq!(after, text);
            }
        }
    }
    let place = Place::ingested(&[("a.md", anchored)]);
    for key in ["base", "ref", "t"] {
        let refused = place.run(&["meta", "set", "a.md", &format!("{key}=2")]).ends(2);
        assert!(refused.stderr.contains("NOT_IN_PLACE"), "{}", refused.stderr);
    }
}

#[test]
fn bytes_that_are_not_utf_8_stay_when_a_cell_or_a_key_changes() {
    let place = Place::with(&[]);
    let text = b"---\nk: v\n---\n\xFF\n\n| a |\n|---|\n| 1 |\n\n- [ ] t \xFE\n";
    std::fs::write(place.join("a.md"), text).unwrap();
    place.run(&["ingest"]).success();
    place.run(&["replace", "a.md::block:table[0]/row[0]/cell[0]", "--content", "2"]).success();
    place.run(&["task", "a.md:10", "--done"]).success();
    place.run(&["meta", "set", "a.md", "k=w"]).success();
    let after = std::fs::read(place.join("a.md")).unwrap();
    assert_eq!(after, b"---\nk: w\n---\n\xFF\n\n| a |\n|---|\n| 2 |\n\n- [x] t \xFE\n");
}

#[test]
fn tables_and_tasks_are_found_wherever_markdown_has_them() {
    let text = "one | two\n--- | ---\n1 | `a\\|b`\n\n| x |\n|-|\n\n1. item\n\n   | a | a | |\n   |---|:-:|--:|\n   | 1 |\n   | 1 | 2 | 3 | 4 |\n\n> > | q |\n> > |---|\n> > | [l](u) ![i](j) **b** `c` &amp; |\n> > lazy\n\n\
        not | a table\n\n```md\n| code |\n|---|\n```\n\n- [ ]\n- [ ]x\n- [X] done\n  more\n  1) [ ] inner\n+ [x]\ttab\n\n> * [ ] quoted\n\n    - [ ] code\n\n[ ] no list\n";
    let place = Place::ingested(&[("a.md", text), ("b.md", &text.replace('\n', "\r\n"))]);
    for file in ["a.md", "b.md"] {
        assert_eq!(
            all(&place, &["tables", "--under", file], "rows", "row"),
            [
                json!({"one": "1", "two": "a|b"}),
                json!({"a": "1", "a_2": "", "column_3": ""}),
                json!({"a": "1", "a_2": "2", "column_3": "3"}),
                json!({"q": "l i b c &"}),
                json!({"q": "lazy"}),
            ],
            "{file}"
        );
        let tasks: Vec<(Value, Value)> = all(&place, &["tasks", "--under", file], "tasks", "text")
            .into_iter()
            .zip(all(&place, &["tasks", "--under", file], "tasks", "depth"))
            .collect();
        assert_eq!(
            tasks,
            [("done more", 0), ("inner", 1), ("tab", 0), ("quoted", 0)]
                .map(|(text, depth)| (json!(text), json!(depth))),
            "{file}"
        );
        assert_eq!(all(&place, &["code", "--under", file], "code", "language").len(), 2);
    }
}

#[test]
fn a_row_outside_a_table_is_a_fault_that_says_so() {
    let place = place();
    for (address, code) in [
        ("guide::Tasks/row[0]", "INVALID_SYNTAX"),
        ("guide::block:table[0]/row[2]", "INDEX_OUT_OF_RANGE"),
        ("guide::block:table[0]/row[0]/cell[3]", "INDEX_OUT_OF_RANGE"),
        ("guide::block:table[0]/row[0]/cell[Size]", "SELECTOR_NOT_FOUND"),
        ("guide::block:table[7]/row[0]", "INDEX_OUT_OF_RANGE"),
    ] {
        let answer = place.run(&["select", address]).ends(1).json();
        let fault = &answer["unresolved_selectors"][0];
        assert_eq!(
            (&fault["code"], &fault["selector"]),
            (&json!(code), &json!(address)),
            "{answer}"
        );
    }
    let past = place.run(&["select", "guide::block:table[0]/row[0]/cell[9]"]).ends(1).json();
    let suggestion = past["unresolved_selectors"][0]["suggestions"][0].as_str().unwrap();
    assert!(suggestion.ends_with("/block:table[0]/row[0]/cell[2]"), "{past}");
    place.run(&["select", suggestion]).success();
}

/// Makes an edit, and returns the file with the change that a diff shows: the lines that are gone and the
/// lines that are new.
fn edited(place: &Place, file: &str, arguments: &[&str]) -> (String, String) {
    let before = std::fs::read_to_string(place.join(file)).unwrap();
    place.run(arguments).success();
    let after = std::fs::read_to_string(place.join(file)).unwrap();
    let same = before.lines().zip(after.lines()).take_while(|(a, b)| a == b).count();
    let tail = before.lines().rev().zip(after.lines().rev()).take_while(|(a, b)| a == b).count();
    let changed = |text: &str| {
        let lines: Vec<&str> = text.lines().collect();
        let end = (lines.len() - tail.min(lines.len())).max(same);
        lines[same..end].join("\n")
    };
    (changed(&before), changed(&after))
}

#[test]
fn an_edit_of_a_cell_a_row_or_a_task_changes_one_line() {
    let place = place();
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    let table = "guide.md::heading:h1[0]/block:table[0]";
    let cell = format!("{table}/row[0]/cell[Default]");
    assert_eq!(
        edited(&place, "guide.md", &["replace", &cell, "--content", "6 | 7"]),
        pair("| `MaxDepth` | 5 | a\\|b |", "| `MaxDepth` | 6 \\| 7 | a\\|b |")
    );
    let last = format!("{table}/row[1]");
    assert_eq!(
        edited(&place, "guide.md", &["insert", &last, "--content", "| New | 1 |"]),
        pair("", "| New | 1 |")
    );
    assert_eq!(
        edited(&place, "guide.md", &["delete", &format!("{table}/row[2]")]),
        pair("| New | 1 |", "")
    );
    let task = all(&place, &["tasks", "--open"], "tasks", "selector")[0].clone();
    assert_eq!(
        edited(&place, "guide.md", &["task", task.as_str().unwrap(), "--done"]),
        pair("- [ ] pay rent due:2026-01-31 #home", "- [x] pay rent due:2026-01-31 #home")
    );
    assert_eq!(all(&place, &["tasks", "--open"], "tasks", "line").len(), 2, "the store knows it");
    let again = place.run(&["task", task.as_str().unwrap(), "--done"]).success().json();
    assert_eq!(again["unchanged"], json!(true));
    let refused = place.run(&["replace", &cell, "--content", "a\nb"]).ends(2);
    assert!(refused.stderr.contains("LINE_END"), "{}", refused.stderr);
    let stale = place.run(&["replace", &cell, "--content", "x", "--expect", "0123456789abcdef"]);
    assert!(stale.ends(2).stderr.contains("CONFLICT"));
}

#[test]
fn a_change_of_a_key_changes_its_line() {
    let place = place();
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    let run = |arguments: &[&str]| edited(&place, "guide.md", &[&["meta"], arguments].concat());
    assert_eq!(
        run(&["set", "guide", "status=Draft"]),
        pair("status: Final   # why", "status: Draft   # why")
    );
    assert_eq!(
        run(&["add", "guide", "tags", "new"]),
        pair("tags: [install, x]", "tags: [install, x, new]")
    );
    assert_eq!(
        run(&["remove", "guide", "tags", "x"]),
        pair("tags: [install, x, new]", "tags: [install, new]")
    );
    assert_eq!(run(&["remove", "guide", "tags", "x"]), pair("", ""), "the list does not have it");
    assert_eq!(run(&["set", "guide", "author.name=\"7\""]), pair("  name: Ann", "  name: \"7\""));
    assert_eq!(run(&["unset", "guide", "due"]), pair("due: 2026-01-31", ""));
    assert_eq!(run(&["add", "guide", "tags", "new"]), pair("", ""), "the list has it");
    assert_eq!(
        all(&place, &["meta", "--where", "tags contains new"], "documents", "file").len(),
        1
    );
    place.run(&["meta", "set", "plain.md", "a=1", "b=[x, z]"]).success();
    let plain = std::fs::read_to_string(place.join("plain.md")).unwrap();
    assert!(plain.starts_with("---\na: 1\nb: [x, z]\n---\n\n# Plain\n"), "{plain}");
    let refused = place.run(&["meta", "unset", "guide", "nosuch"]).ends(2);
    assert!(refused.stderr.contains("NOT_IN_PLACE"), "{}", refused.stderr);
    let diff = place.run(&["meta", "set", "guide", "status=X", "--dry-run"]).success().text();
    assert!(diff.contains("\n-status: Draft   # why\n+status: X   # why\n"), "{diff}");
    assert_eq!(place.run(&["verify"]).success().json()["findings"], json!([]));
}

#[test]
fn a_batch_marks_tasks_and_sets_keys() {
    let place = place();
    place.write(
        "batch.jsonl",
        "{\"operation\":\"done\",\"section\":\"heading:h2[0]/block:list[0]/item[1]\"}\n\
         {\"operation\":\"set\",\"section\":\"status\",\"content\":\"Done\"}\n\
         {\"operation\":\"replace\",\"section\":\"block:table[0]/row[0]/cell[0]\",\"content\":\"Depth\"}\n",
    );
    place.run(&["edit", "guide", "--batch", "batch.jsonl"]).success();
    let text = std::fs::read_to_string(place.join("guide.md")).unwrap();
    let expected = GUIDE
        .replace("- [ ] call", "- [x] call")
        .replace("status: Final", "status: Done")
        .replace("| `MaxDepth` |", "| Depth |");
    assert_eq!(text, expected);
}

#[test]
fn every_command_beside_a_query_of_dataview_has_an_answer() {
    let place = Place::ingested(&[
        (
            "games/a.md",
            "---\ntime-played: 2020\nlength: 15h\nrating: 9.5\ntags: [games/crpg]\n---\n# A\n",
        ),
        ("games/b.md", "---\nrating: 10\nlength: 2h\n---\n# B\n"),
        ("dataview/Project A.md", "# A\n\n- [ ] I am a task.\n"),
        ("days/2021-08-07.md", "# Day\n"),
        ("days/2020-08-10.md", "# Day\n"),
        ("projects/p.md", "- [ ] call due:2026-05-01\n"),
        (
            "books/c.md",
            "---\ntags: [poems, food]\ndue: 2026-01-31\ngenres: [rock, pop]\nauthor:\n  name: Ann\n---\n",
        ),
    ]);
    let page = include_str!("../src/reference/data.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | `mdsel "));
    let mut count = 0;
    for (query, command) in rows {
        let words = words(command.trim_end_matches("` |"));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        place.run(&words).success();
        count += 1;
        if query.contains("SORT rating DESC") {
            let ratings = all(&place, &words, "documents", "meta");
            let ratings: Vec<&Value> = ratings.iter().map(|meta| &meta["rating"]).collect();
            assert_eq!(ratings, [&json!(10), &json!(9.5)]);
        }
        if query.contains("file.day") {
            let days = all(&place, &words, "documents", "namespace");
            assert_eq!(days, [json!("days/2021-08-07.md"), json!("days/2020-08-10.md")]);
        }
    }
    assert!(count >= 14, "{count}");
}

#[test]
fn a_cell_beside_bytes_that_are_not_utf8_is_read_and_changed_alone() {
    let place = Place::ingested(&[("a.md", "# A\n")]);
    let row = |cell: &[u8]| [b"# T\n\n| a | b |\n|---|---|\n| ", cell, b" | second |\n"].concat();
    std::fs::write(place.join("a.md"), row(b"x\xff\xef\xbf\xbd\xfey")).unwrap();
    place.run(&["ingest"]).success();
    let cell = |number: usize| format!("a.md::block:table[0]/row[0]/cell[{number}]");
    let raw = |number: usize| place.run(&["select", &cell(number), "-f", "raw"]).success().stdout;
    assert_eq!(raw(0), b"x\xff\xef\xbf\xbd\xfey");
    assert_eq!(raw(1), b"second");
    place.run(&["replace", &cell(0), "--content", "new"]).success();
    assert_eq!(std::fs::read(place.join("a.md")).unwrap(), row(b"new"));
    place.assert_in_step();
}

#[test]
fn no_code_is_written_if_not_one_file_can_be_listed() {
    let place = place();
    let small = place.run(&["code", "--out", "out", "--max-chars", "100"]).ends(2);
    assert!(small.stderr.contains("BUDGET_TOO_SMALL"), "{}", small.stderr);
    assert!(!place.join("out").exists());
    let some = place.run(&["code", "--out", "out", "--max-chars", "310"]).success().json();
    assert_eq!(some["code"].as_array().unwrap().len(), 1, "{some}");
    assert_eq!(std::fs::read_dir(place.join("out")).unwrap().count(), 4);
    std::fs::remove_dir_all(place.join("out")).unwrap();
    let enough = place.run(&["code", "--out", "out", "--max-chars", "3000"]).success().json();
    assert_eq!(enough["code"].as_array().unwrap().len(), 4);
}

#[test]
fn all_code_is_written_unless_a_limit_is_given() {
    let place = Place::ingested(&[("a.md", &"```py\nx\n```\n\n".repeat(60))]);
    for (folder, limit, count) in [("a", None, 60), ("b", Some("50"), 50), ("c", Some("7"), 7)] {
        let mut arguments = vec!["code", "--out", folder];
        arguments.extend(limit.iter().flat_map(|limit| ["--limit", *limit]));
        let answer = place.run(&arguments).success().json();
        assert_eq!(answer["code"].as_array().unwrap().len(), count);
        assert_eq!(answer["truncated"], count < 60, "{answer}");
        assert_eq!(std::fs::read_dir(place.join(folder)).unwrap().count(), count);
    }
}

#[test]
fn code_of_documents_with_similar_paths_is_written_to_different_files() {
    let code = "```py\nx\n```\n";
    let place = Place::ingested(&[("a-x.md", code), ("a/x.md", code)]);
    place.run(&["code", "--out", "out"]).success();
    for name in ["a-x.md-1.py", "a-x.md-1-2.py"] {
        assert!(place.join("out").join(name).is_file(), "{name}");
    }
}

#[test]
fn the_file_and_the_line_of_a_row_are_columns_also_beside_tables_that_have_such_ones() {
    let place = Place::ingested(&[("a.md", "| A | B |\n|---|---|\n| 1 | x |\n")]);
    let csv = |columns: &str, limit: &str| {
        let answer = ["tables", "--columns", columns, "-f", "csv", "--limit", limit];
        place.run(&answer).success().text().replace('\r', "")
    };
    assert_eq!(csv("file,line,A", "0"), "file,line,A\na.md,3,1\n");
    assert_eq!(csv("line", "0"), "line\n3\n");
    place.write(
        "b.md",
        "| A | File | line |\n|---|---|---|\n| 2 | f | l |\n\n| File |\n|---|\n| g |\n",
    );
    place.run(&["ingest"]).success();
    assert_eq!(csv("file,line,A", "0"), "file,line,A\na.md,3,1\nb.md,3,2\n");
    assert_eq!(csv("file,line,A", "1"), "file,line,A\na.md,3,1\n");
    assert_eq!(csv("file, `line`,`file`", "0"), "file,line,file\nb.md,l,f\nb.md,,g\n");
    assert_eq!(csv("File,line", "0"), "File,line\nf,3\ng,7\n");
}

#[test]
fn tasks_and_front_matter_are_printed_as_comma_separated_values() {
    let place = Place::ingested(&[
        ("a.md", "---\ntitle: A, b\nn: 1\n---\n# T\n\n- [ ] one due:2026-01-31\n  - [x] two\n"),
        ("b.md", "---\nfile: own\ntags: [x, y]\n---\n- [ ] three line:: 4\n"),
    ]);
    let csv = |command: &[&str]| {
        place.run(&[command, &["-f", "csv"]].concat()).success().text().replace('\r', "")
    };
    assert_eq!(
        csv(&["meta"]),
        "file,title,n,file_2,tags\na.md,\"A, b\",1,,\nb.md,,,own,\"[\"\"x\"\",\"\"y\"\"]\"\n"
    );
    assert_eq!(csv(&["meta", "--get", "n"]), "file,n\na.md,1\n");
    let types = csv(&["meta", "--types"]);
    assert!(types.starts_with("key,documents,types\n") && types.contains("\nn,1,"), "{types}");
    assert_eq!(
        csv(&["tasks"]),
        "file,line,state,text,section,depth,due,line_2\n\
         a.md,7,open,one due:2026-01-31,T,0,2026-01-31,\n\
         a.md,8,done,two,T,1,,\n\
         b.md,5,open,three line:: 4,,0,,4\n"
    );
}

#[test]
fn tasks_that_are_sorted_by_one_of_their_fields_say_that_documents_are() {
    let place =
        Place::ingested(&[("a.md", "---\ndue: 1\nrank: 2\n---\n- [ ] one due:2026-01-31\n")]);
    let json = place.run(&["tasks", "--sort", "-due"]).success().json();
    assert_eq!(json["warnings"][0]["code"], "SORTS_DOCUMENTS", "{json}");
    let json = place.run(&["tasks", "--sort", "rank"]).success().json();
    assert!(json.get("warnings").is_none(), "{json}");
}

#[test]
fn rows_that_are_sorted_by_one_of_their_columns_say_that_documents_are() {
    let place = Place::ingested(&[("a.md", "---\nrank: 2\n---\n| price |\n|---|\n| 1 |\n")]);
    let json = place.run(&["tables", "--sort", "Price"]).success().json();
    let codes: Vec<&Value> =
        json["warnings"].as_array().unwrap().iter().map(|warning| &warning["code"]).collect();
    assert!(codes.contains(&&json!("SORTS_DOCUMENTS")), "{json}");
    let json = place.run(&["tables", "--sort", "rank"]).success().json();
    assert!(json.get("warnings").is_none(), "{json}");
}

#[test]
fn the_keys_of_every_task_are_asked_for_in_any_case() {
    let place =
        Place::ingested(&[("a.md", "# Work\n\n- [ ] one\n  - [x] two line:: far depth:: x\n")]);
    let texts = |condition: &str| all(&place, &["tasks", "--where", condition], "tasks", "text");
    assert_eq!(
        texts("State = open and SECTION = Work and Line = 3 and Text = one"),
        [json!("one")]
    );
    assert_eq!(texts("DEPTH = 1"), [json!("two line:: far depth:: x")]);
    for (condition, message) in [
        ("depth = x", "\"depth\" has values of the type number such as \"0\""),
        ("Line = far", "\"Line\" has values of the type number such as \"3\""),
        ("section = work", "\"section\" has the value \"Work\", whose case is not that of work"),
    ] {
        let answer = place.run(&["tasks", "--where", condition]).ends(1).json();
        let found = answer["warnings"][0]["message"].as_str().unwrap();
        assert!(found.starts_with(message), "{found}");
    }
}

#[test]
fn a_value_that_only_looks_like_a_number_has_no_order() {
    let place = Place::ingested(&[("a.md", "| share |\n|---|\n| 5% |\n| 45% |\n")]);
    let fault = place.run(&["tables", "--where", "share > 40%"]).ends(2).json();
    let message = fault["error"]["message"].as_str().unwrap();
    assert!(message.contains("column 9: \"40%\" is not a number or a date"), "{message}");
    let equal = all(&place, &["tables", "--where", "share = 45%"], "rows", "row");
    assert_eq!(equal, [json!({"share": "45%"})]);
}

#[test]
fn a_wikilink_is_added_to_a_list_as_a_text() {
    let place = Place::ingested(&[("a.md", "---\nup: []\n---\n# A\n")]);
    place.run(&["meta", "add", "a.md", "up", "[[Note|n]]"]).success();
    let meta = all(&place, &["meta", "--get", "up"], "documents", "meta");
    assert_eq!(meta, [json!({"up": ["[[Note|n]]"]})]);
}

#[test]
fn a_header_keeps_its_name_beside_equal_and_empty_ones() {
    let place = Place::ingested(&[(
        "a.md",
        "| a | | a | column_2 | a_2 |\n|-|-|-|-|-|\n| 1 | 2 | 3 | 4 | 5 |\n",
    )]);
    let rows = all(&place, &["tables", "--where", "a_2 = 5 and column_2 = 4"], "rows", "row");
    assert_eq!(
        rows,
        [json!({"a": "1", "column_2_2": "2", "a_3": "3", "column_2": "4", "a_2": "5"})]
    );
}

#[test]
fn the_language_of_code_may_follow_an_identifier() {
    let place =
        Place::ingested(&[("a.md", "```{#first .rs}\n1\n```\n\n```title=\"x.py\"\n2\n```\n")]);
    assert_eq!(all(&place, &["code", "--lang", "rust"], "code", "info"), [json!("#first .rs")]);
    assert_eq!(all(&place, &["code"], "code", "language"), [json!("rust"), json!("")]);
}

#[test]
fn numbers_of_front_matter_keep_all_digits() {
    let place = Place::ingested(&[
        ("a.md", "+++\nlimit = inf\n+++\n# A\n"),
        ("b.md", ";;;\n{\"limit\": 123456789012345678901234567890}\n;;;\n# B\n"),
        ("c.md", "---\nlimit: 123456789012345678901234567891\n---\n# C\n"),
    ]);
    let files = |condition: &str| {
        all(&place, &["meta", "--where", condition, "--get", "limit"], "documents", "file")
    };
    assert_eq!(files("limit = inf"), [json!("a.md")]);
    assert_eq!(files("limit = 123456789012345678901234567890"), [json!("b.md")]);
    assert_eq!(files("limit > 123456789012345678901234567890"), [json!("c.md")]);
}

#[test]
fn code_is_printed_with_its_address() {
    let place = Place::ingested(&[("a.md", "# A\n\n```sh\nls\n```\n")]);
    let text = place.run(&["code", "-f", "text"]).success().text();
    assert_eq!(text.lines().next(), Some("a.md:3  A  [bash]  ::heading:h1[0]/block:code[0]"));
}

#[test]
fn a_column_that_is_named_twice_is_printed_twice() {
    let place = Place::ingested(&[("a.md", "| A | B |\n|---|---|\n| 1 | x |\n")]);
    let csv = place.run(&["tables", "--columns", "B,b,A,B", "-f", "csv"]).success().text();
    assert_eq!(csv.replace('\r', ""), "B,b,A,B\nx,x,1,x\n");
}

#[test]
fn columns_that_differ_by_case_are_columns_of_their_own_unless_they_are_asked_for() {
    let place = Place::ingested(&[("t.md", "| A |\n|---|\n| 1 |\n\n| a |\n|---|\n| 2 |\n")]);
    let csv = |arguments: &[&str]| {
        let csv = place.run(&[&["tables", "-f", "csv"], arguments].concat()).success().text();
        csv.replace('\r', "")
    };
    assert_eq!(csv(&[]), "A,a\n1,\n,2\n");
    assert_eq!(csv(&["--columns", "a"]), "a\n1\n2\n");
}

#[test]
fn an_answer_names_the_keys_that_nothing_has() {
    let place = place();
    for (arguments, expected) in [
        (
            &["meta", "--where", "not satus = done"][..],
            "no front matter has the key \"satus\"; similar",
        ),
        (&["meta", "--get", "zz", "--get", "status"], "no front matter has the key \"zz\""),
        (
            &["meta", "--get", "zz", "--get", "status", "--limit", "1"],
            "no front matter has the key",
        ),
        (&["tables", "--where", "Default = 5 or Z = 1 or z = 2"], "no table has the column \"Z\""),
        (&["tables", "--columns", "Z,Default"], "no table has the column \"Z\""),
        (&["tasks", "--where", "not prio = 1"], "no task has the field \"prio\""),
    ] {
        let answer = place.run(arguments).success().json();
        let warnings = answer["warnings"].as_array().unwrap();
        assert_eq!(warnings.len(), 1, "{answer}");
        assert_eq!(warnings[0]["code"], "UNKNOWN_KEY");
        assert!(warnings[0]["message"].as_str().unwrap().starts_with(expected), "{answer}");
    }
}

#[test]
fn rows_and_tasks_with_invalid_bytes_say_so() {
    let place = Place::new();
    place.write("a.md", b"| A |\n|---|\n| \xff |\n| b |\n\n- [ ] t \xff\n- [ ] u\n");
    place.run(&["ingest"]).success();
    for (command, list) in [("tables", "rows"), ("tasks", "tasks")] {
        let lossy = all(&place, &[command], list, "lossy");
        assert_eq!(lossy, [json!(true), json!(null)], "{command}");
    }
}

#[test]
fn front_matter_that_could_not_be_parsed_is_reported() {
    let place = Place::ingested(&[("u.md", "---\nk: [\n---\n"), ("v.md", "---\nk: 2\n---\n")]);
    for (arguments, count) in
        [(&["meta"][..], 1), (&["meta", "--where", "not k = 1"], 1), (&["meta", "-g", "u.md"], 0)]
    {
        let answer = place.run(arguments).ends(i32::from(count == 0)).json();
        assert_eq!(answer["documents"].as_array().unwrap().len(), count, "{answer}");
        let warning = &answer["warnings"][0];
        assert_eq!(warning["code"], "FRONT_MATTER_UNREADABLE");
        assert!(warning["message"].as_str().unwrap().ends_with(": u.md"), "{answer}");
        assert_eq!(answer["warnings"].as_array().unwrap().len(), 1, "{answer}");
    }
    for arguments in [
        &["meta", "--types"][..],
        &["meta", "--tag", "x"],
        &["find", "u", "--where", "k = 2"],
        &["index", "--where", "k = 2"],
        &["search", "u", "--tag", "x"],
        &["code", "--where", "k = 2"],
        &["toc", "--tag", "x"],
        &["tasks", "--where-meta", "k = 2"],
    ] {
        let answer = place.run(arguments).json();
        let of = answer["warnings"].as_array().unwrap().iter();
        let count = of.filter(|warning| warning["code"] == "FRONT_MATTER_UNREADABLE").count();
        assert_eq!(count, 1, "{arguments:?} {answer}");
    }
    let other = place.run(&["meta", "-g", "v.md", "--where", "k = 2"]).success().json();
    assert_eq!(other.get("warnings"), None, "{other}");
}

#[test]
fn code_that_cannot_be_written_whole_leaves_no_file() {
    let block = "x\n".repeat(100_000);
    let text = format!("# A\n\n```sh\nsmall\n```\n\n```sh\n{block}```\n");
    let place = Place::ingested(&[("a.md", &text)]);
    let code = ["code", "--out", "out"];
    assert_eq!(place.run_limited("-f 200", &code).ends(2).code(), "IO");
    assert_eq!(std::fs::read_dir(place.join("out")).unwrap().count(), 0);
    place.run(&code).success();
}

#[test]
fn a_dotted_key_reaches_into_a_list_of_mappings() {
    let place = Place::ingested(&[
        ("a.md", "---\nobjs: [{name: x, in: [{n: 1}]}, {name: y}]\n---\n"),
        ("b.md", "---\nobjs: {name: z}\n---\n"),
        ("c.md", "---\nobjs: [x]\n---\n"),
    ]);
    for (condition, files) in [
        ("objs.name = y", &["a.md"][..]),
        ("objs.name ~ [yz]", &["a.md", "b.md"]),
        ("objs.in.n = 1", &["a.md"]),
        ("exists objs.name", &["a.md", "b.md"]),
        ("objs.name != x", &["b.md"]),
    ] {
        let found = all(&place, &["meta", "--where", condition], "documents", "file");
        assert_eq!(found, files.iter().map(|file| json!(file)).collect::<Vec<_>>(), "{condition}");
    }
    let shown = all(&place, &["meta", "--get", "objs.name"], "documents", "meta");
    assert_eq!(shown, [json!({"objs.name": ["x", "y"]}), json!({"objs.name": "z"})]);
    // A key in quotes would be written with its quotes.
    for key in ["\"objs.new\"", "'new'"] {
        let refused = place.run(&["meta", "set", "a.md", &format!("{key}=3")]).ends(2);
        assert!(refused.stderr.contains("is in quotes"), "{}", refused.stderr);
    }
}

#[test]
fn a_key_that_contains_the_sign_of_a_value_is_in_backquotes() {
    let place = Place::ingested(&[("a.md", "---\na=b: 1 # kept\nl: [1]\n---\n")]);
    let text = || std::fs::read_to_string(place.join("a.md")).unwrap();
    place.run(&["meta", "set", "a.md", "`a=b`=x=y", "`l`=[2]"]).success();
    assert_eq!(text(), "---\na=b: x=y # kept\nl: [2]\n---\n");
    assert!(place.run(&["meta", "--get", "a=b", "-f", "text"]).text().contains("a=b: x=y"));
    let refused = place.run(&["meta", "add", "a.md", "a=b", "2"]).ends(2);
    assert!(refused.stderr.contains("'`a=b`=[A, B]'"), "{}", refused.stderr);
    place.run(&["meta", "add", "a.md", "l", "-5", "-1.5"]).success();
    place.run(&["meta", "unset", "a.md", "a=b"]).success();
    assert_eq!(text(), "---\nl: [2, -5, -1.5]\n---\n");
}

#[test]
fn keys_and_the_primer_say_that_files_have_changed_since_the_ingest() {
    let files = [("a.md", "---\nk: 1\n---\n# A\n"), ("b.md", "# B\n\n[a](a.md)\n")];
    let place = Place::ingested(&files);
    let keys = |place: &Place| place.run(&["meta", "--types"]).success().json();
    assert_eq!(keys(&place)["warnings"], json!(null));
    place.write("a.md", "---\nother: 1\n---\n# A\n");
    assert_eq!(keys(&place)["warnings"][0]["code"], "STALE_DOCUMENTS");
    let elsewhere = place.run(&["meta", "--types", "--under", "b.md"]).json();
    assert!(!elsewhere.to_string().contains("STALE_DOCUMENTS"), "{elsewhere}");
    for format in ["text", "records"] {
        let primer = place.run(&["prime", "-f", format]).success().text();
        assert!(primer.contains("a.md has changed since it was ingested"), "{primer}");
    }
}

#[test]
fn tasks_are_found_by_their_line_and_sections() {
    let text = "- [ ] zero\n\n# One\n\n- [ ] one\n\n## Two\n\n- [x] two\n";
    let place = Place::ingested(&[("a.md", text)]);
    for (condition, texts) in [
        ("section = One", &["one", "two"][..]),
        ("section = Two and state = done", &["two"]),
        ("line > 4 and line < 9", &["one"]),
        ("not section ~ .", &["zero"]),
    ] {
        let found = all(&place, &["tasks", "--where", condition], "tasks", "text");
        assert_eq!(found, texts.iter().map(|text| json!(text)).collect::<Vec<_>>(), "{condition}");
    }
}

#[test]
fn names_of_columns_are_trimmed_and_may_have_commas() {
    let place = Place::ingested(&[("a.md", "| a, b | c | d |\n|---|---|---|\n| 1 | 2 | 3 |\n")]);
    let csv = |columns| place.run(&["tables", "-f", "csv", "--columns", columns]).success().text();
    assert_eq!(csv("d, c"), "d,c\n3,2\n");
    assert_eq!(csv("c, `a, b`"), "c,\"a, b\"\n2,1\n");
}

#[test]
fn an_empty_list_names_the_languages_that_are_there() {
    let place = place();
    for (arguments, message) in [
        (
            &["code", "--lang", "klingon"][..],
            "no code block has the language \"klingon\"; there are bash, rust",
        ),
        (
            &["code", "--lang", "rust", "--under", "guide.md"],
            "no code block has the language \"rust\" in the documents that pass the filters; there are bash",
        ),
        (
            &["tables", "--header", "Parameter", "--under", "plain.md"],
            "no table has the column \"Parameter\" in the documents that pass the filters",
        ),
    ] {
        let answer = place.run(arguments).ends(1).json();
        assert_eq!(answer["warnings"][0]["code"], "UNKNOWN_KEY", "{answer}");
        assert_eq!(answer["warnings"][0]["message"], message);
    }
    let some = place.run(&["code", "--lang", "klingon,rust"]).success().json();
    assert_eq!(some["warnings"][0]["code"], "UNKNOWN_KEY", "{some}");
    let none = place.run(&["code", "--lang", "rust", "--containing", "zzz"]).ends(1).json();
    assert_eq!(none.get("warnings"), None, "{none}");
}

#[test]
fn a_value_of_another_type_or_case_is_noted_if_nothing_matches() {
    let place = Place::ingested(&[
        ("a.md", "---\nday: 10/22/2025\nsection: 1\nkind: Note\n---\n# A\n"),
        ("b.md", "| Name | Age |\n|---|---|\n| Yarn | old |\n\n- [ ] x [due:: soon]\n"),
    ]);
    for (arguments, part) in [
        (&["meta", "--where", "day > 2025-01-01"][..], "such as \"10/22/2025\", and 2025-01-01"),
        (&["search", "a", "--where", "section = \"1\""], "leave out the quotes"),
        (&["find", "A", "--where", "kind = note and day ~ 1"], "the value \"Note\""),
        (&["tables", "--where", "Name = yarn"], "the value \"Yarn\""),
        (
            &["tables", "--where", "Age > 3"],
            "type text such as \"old\", and 3 is of the type number",
        ),
        (&["tasks", "--where", "due < 2026-01-01"], "such as \"soon\", and 2026-01-01"),
    ] {
        let answer = place.run(arguments).ends(1).json();
        let warning = &answer["warnings"][0];
        assert_eq!(warning["code"], "OTHER_VALUES", "{arguments:?}: {answer}");
        assert!(warning["message"].as_str().unwrap().contains(part), "{answer}");
    }
    for arguments in [
        &["meta", "--where", "kind = Other"][..],
        &["meta", "--where", "kind ~ note"],
        &["tables", "--where", "Name = npm"],
        &["tasks", "--where", "text = y"],
    ] {
        let answer = place.run(arguments).ends(1).json();
        let warnings = answer["warnings"].as_array().into_iter().flatten();
        let mut noted = warnings.filter(|warning| warning["code"] == "OTHER_VALUES");
        assert_eq!(noted.next(), None, "{arguments:?}");
    }
}

#[test]
fn a_key_without_a_value_matches_only_null() {
    let place = Place::ingested(&[
        ("a.md", "---\nk:\nb: true\n---\n"),
        ("b.md", "---\nk: n\n---\n"),
        ("c.md", "---\nk: x\nb: false\n---\n"),
    ]);
    for (condition, files) in [
        ("k ~ .", &["b.md", "c.md"][..]),
        ("k > m", &["b.md", "c.md"]),
        ("k = null", &["a.md"]),
        ("k != n", &["a.md", "c.md"]),
        ("exists k", &["a.md", "b.md", "c.md"]),
        ("b ~ ^t", &["a.md"]),
        ("b > a", &[]),
    ] {
        let found = all(&place, &["meta", "--where", condition], "documents", "file");
        assert_eq!(found, files.iter().map(|file| json!(file)).collect::<Vec<_>>(), "{condition}");
    }
}

#[test]
fn a_text_is_contained_in_code_in_any_case_as_in_a_search() {
    let place = Place::ingested(&[
        ("a.md", "```\nclass\n```\n"),
        ("b.md", "> ```\n> größe (1)\n> 2\n> ```\n"),
    ]);
    let codes = |text| all(&place, &["code", "--containing", text], "code", "code");
    assert_eq!(codes("ẞ"), [json!("größe (1)\n2\n")]);
    assert_eq!(codes("ss"), [json!("class\n")]);
    assert_eq!(codes("E (1)\n2"), [json!("größe (1)\n2\n")]);
}

#[test]
fn fields_of_a_task_that_differ_in_case_are_one() {
    let place = Place::ingested(&[("a.md", "- [ ] a Due:2026-06-06 DUE:: 2026-07-07\n")]);
    for condition in ["due = 2026-06-06", "due = 2026-07-07"] {
        let fields = all(&place, &["tasks", "--where", condition], "tasks", "fields");
        assert_eq!(fields, [json!({"Due": ["2026-06-06", "2026-07-07"]})], "{condition}");
    }
}

#[test]
fn cells_and_tasks_that_are_too_long_are_reported() {
    let (cell, task) = ("x".repeat(17_000), "word ".repeat(500));
    let place = Place::with(&[
        ("a.md", &format!("| A |\n|---|\n| {cell} |\n")),
        ("b.md", &format!("- [ ] {task} due:2026-01-01\n")),
        ("c.md", "| A |\n|---|\n| 1 |\n\n- [ ] d due:2026-01-01\n"),
    ]);
    let ingested = place.run(&["ingest"]).success().json();
    let codes = ingested["warnings"].as_array().unwrap().iter().map(|warning| &warning["code"]);
    assert_eq!(codes.collect::<Vec<_>>(), ["CELL_CUT", "FIELDS_CUT"]);
    for (command, code, file) in [("tables", "CELL_CUT", "a.md"), ("tasks", "FIELDS_CUT", "b.md")] {
        let answer = place.run(&[command]).success().json();
        assert_eq!(answer["warnings"][0]["code"], code, "{answer}");
        let message = answer["warnings"][0]["message"].as_str().unwrap();
        assert!(message.ends_with(&format!(": {file}")), "{message}");
        let other = place.run(&[command, "-g", "c.md"]).success().json();
        assert_eq!(other.get("warnings"), None, "{other}");
    }
    let by_field = place.run(&["tasks", "--where", "due = 2026-01-01"]).success().json();
    assert_eq!(by_field["warnings"][0]["code"], "FIELDS_CUT", "{by_field}");
}

#[test]
fn an_empty_list_says_that_no_document_has_such_items() {
    let place = Place::ingested(&[("a.md", "# A\n"), ("b/b.md", "---\nk: 1\n---\n# B\n")]);
    for (arguments, item) in [
        (&["code"][..], "a code block"),
        (&["tables"], "a table"),
        (&["tasks", "--done"], "a task"),
        (&["meta", "-g", "a.md"], "front matter"),
        (&["meta", "--types", "-g", "a.md"], "front matter"),
        (&["code", "--containing", "x", "--under", "b"], "a code block"),
    ] {
        let answer = place.run(arguments).ends(1).json();
        assert_eq!(answer["warnings"][0]["code"], "NO_ITEMS", "{answer}");
        let message = answer["warnings"][0]["message"].as_str().unwrap();
        assert!(message.contains(&format!(" asked about has {item}; ")), "{message}");
    }
    let tables = place.run(&["tables", "-f", "csv"]).ends(1);
    assert_eq!(tables.text(), "", "without a column there is no record");
    let tables = place.run(&["tables", "-f", "csv", "--columns", "A,B"]);
    assert_eq!(tables.text().trim_end(), "A,B", "the columns that were asked for");
}

#[test]
fn a_list_of_front_matter_may_go_on_at_the_start_of_a_line() {
    let text = "---\ntitle: T\ntags: [\"a\",\n\"b\"]\n---\n# X\n";
    let place = Place::ingested(&[("a.md", text)]);
    let answer = place.run(&["meta", "--where", "tags = b"]).success().json();
    assert_eq!(answer["documents"][0]["meta"], json!({"title": "T", "tags": ["a", "b"]}));
    assert_eq!(answer.get("warnings"), None, "{answer}");
    place.run(&["meta", "add", "a.md", "tags", "c"]).success();
    let changed = std::fs::read_to_string(place.join("a.md")).unwrap();
    assert_eq!(changed, text.replace("\"b\"]", "\"b\",\nc]"));
}

#[test]
fn code_in_records_follows_the_warning_about_its_content() {
    let place = Place::ingested(&[("a.md", "# A\n\n```sh\nls\n```\n")]);
    let records = |call: &[&str]| place.run(&[call, &["-f", "records"]].concat()).text();
    assert!(records(&["code"]).contains("\nW The following is reference material."));
    assert!(!records(&["code", "--lang", "rust"]).contains("\nW The following"));
}

#[test]
fn what_is_not_a_task_is_named() {
    let place =
        Place::ingested(&[("a.md", "x\n\n# S\n\n- [ ] one\n- two\n\n| c |\n| - |\n| d |\n")]);
    for (address, kind) in [
        ("a.md::*", "document"),
        ("a.md::root", "text before the first heading"),
        ("a.md::S", "section"),
        ("a.md::block:list[0]", "list"),
        ("a.md::block:list[0]/item[1]", "list item"),
        ("a.md::block:table[0]/row[0]", "row"),
    ] {
        let refused = place.run(&["task", address, "--done"]).ends(2).json();
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.ends_with(&format!(": the {kind} is not a task")), "{message}");
    }
}

#[test]
fn a_task_may_be_named_by_its_text() {
    let text = "# T\n\n- [ ] rotate keys\n- [ ] twice\n- [ ] twice\n- text\n";
    let place = Place::ingested(&[("t.md", text)]);
    place.run(&["task", "t.md", "rotate keys", "--done"]).success();
    let now = std::fs::read_to_string(place.join("t.md")).unwrap();
    assert_eq!(now, text.replace("[ ] rotate", "[x] rotate"));
    let several = place.run(&["task", "t.md", "twice", "--done"]).ends(1).json();
    let fault = &several["unresolved_selectors"][0];
    assert_eq!(
        (&fault["code"], fault["candidates"].as_array().unwrap().len()),
        (&json!("AMBIGUOUS"), 2)
    );
    place.run(&["task", "t.md", "rotate", "--open", "--fuzzy"]).success();
    assert_eq!(std::fs::read_to_string(place.join("t.md")).unwrap(), text);
    let none = place.run(&["task", "t.md", "rotate", "--done"]).ends(1).text();
    assert!(none.contains("`mdsel tasks --under t.md` lists its tasks"), "{none}");
}

#[test]
fn the_text_of_a_task_may_follow_its_document() {
    let text = "# T\n\n- [ ] Write\n- [ ] Write tests\n- [ ] #12 fix\n- [ ] Set up\n\n## Setup guide\n\n\
                - [ ] other\n";
    let place = Place::ingested(&[("p.md", text)]);
    let done = |arguments: &[&str]| {
        let arguments = [&["task"], arguments, &["--done"]].concat();
        place.run(&arguments).success();
        let now = std::fs::read_to_string(place.join("p.md")).unwrap();
        std::fs::write(place.join("p.md"), text).unwrap();
        place.run(&["ingest"]).success();
        now.lines().find(|line| line.contains("[x]")).unwrap().to_owned()
    };
    assert_eq!(done(&["p.md::Write"]), "- [x] Write");
    assert_eq!(done(&["p.md::Write tests"]), "- [x] Write tests");
    assert_eq!(done(&["p.md", "::Write"]), "- [x] Write");
    assert_eq!(done(&["p.md", "#12 fix"]), "- [x] #12 fix");
    // A whole text comes before parts of texts, and those before parts of titles.
    assert_eq!(done(&["p.md", "Write", "--fuzzy"]), "- [x] Write");
    assert_eq!(done(&["p.md", "Set", "--fuzzy"]), "- [x] Set up");
    assert_eq!(done(&["p.md", "guide/block:list[0]/item[0]", "--fuzzy"]), "- [x] other");
    // The whole title of a section comes before parts of texts.
    let section = place.run(&["task", "p.md", "T", "--fuzzy", "--done"]).ends(2).json();
    assert_eq!(section["error"]["reason"], "NOT_A_TASK", "{section}");
    let batch = r#"{"operation":"done","section":"p.md::Write"}"#;
    place.run_in("", &["edit", "--batch", "-"], batch).success();
    let now = std::fs::read_to_string(place.join("p.md")).unwrap();
    assert_eq!(now, text.replace("[ ] Write\n", "[x] Write\n"));
    let message = |address: &str| {
        let missing = place.run(&["task", address, "--done"]).ends(1).json();
        missing["unresolved_selectors"][0]["message"].as_str().unwrap().to_owned()
    };
    assert!(
        message("p.md::Read").contains("p.md has no task \"Read\""),
        "{}",
        message("p.md::Read")
    );
    assert!(message("p.md#Read").contains("has no anchor #Read"), "{}", message("p.md#Read"));
}

#[test]
fn each_edit_of_several_keys_names_its_key() {
    let place = Place::ingested(&[("a.md", "---\na: 0\n---\n# A\n")]);
    let answer = place.run(&["meta", "set", "a.md", "a=1", "b=2"]).success().json();
    let keys: Vec<&Value> =
        answer["edits"].as_array().unwrap().iter().map(|edit| &edit["key"]).collect();
    assert_eq!(keys, ["a", "b"], "{answer}");
    let text = place.run(&["meta", "set", "a.md", "a=3", "b=4", "-f", "text"]).success().text();
    assert!(text.contains(" a: replaced") && text.contains(" b: replaced"), "{text}");
}

#[test]
fn an_edit_of_several_rows_names_their_lines() {
    let table = "# T\n\n| a |\n| - |\n| 1 |\n| 2 |\n| 3 |\n";
    let place = Place::ingested(&[("t.md", table)]);
    let rows = place.run(&["delete", "t.md", "block:table[0]/row[1-2]"]).ends(1).json();
    let message = rows["unresolved_selectors"][0]["message"].as_str().unwrap();
    assert!(message.ends_with("their lines are t.md:6-7"), "{message}");
    place.run(&["delete", "t.md:6-7"]).success();
    let now = std::fs::read_to_string(place.join("t.md")).unwrap();
    assert_eq!(now, table.replace("| 2 |\n| 3 |\n", ""));
    let cells = place.run(&["delete", "t.md", "block:table[0]/row/cell[0]"]).success().json();
    assert_eq!(cells["deleted_content"], "1");
}

#[test]
fn a_value_that_goes_from_a_line_leaves_the_line() {
    let place = Place::ingested(&[("a.md", "---\nt: [a, b]\nu: [c]\n---\n# A\n")]);
    for (change, what) in [
        (&["remove", "a.md", "t", "a"][..], "t: replaced by lines 2-2"),
        (&["unset", "a.md", "u", "u"], "u: removed lines 3-3"),
    ] {
        let text = place.run(&[&["meta"], change, &["-f", "text"]].concat()).success().text();
        assert_eq!(text, format!("a.md::@frontmatter {what}\n"));
    }
}

#[test]
fn a_problem_of_several_values_is_reported_once() {
    let place = Place::ingested(&[("a.md", "# A\n")]);
    let error = &place.run(&["meta", "remove", "a.md", "t", "x", "y"]).ends(2).json()["error"];
    assert!(error["message"].as_str().unwrap().ends_with("there is no key t"), "{error}");
    assert!(error["others"].is_null(), "{error}");
    let others = &place.run(&["meta", "unset", "a.md", "t", "u"]).ends(2).json()["error"]["others"];
    assert!(others[0]["message"].as_str().unwrap().ends_with("no key u"), "{others}");
    let unknown = place.run(&["meta", "unset", "no.md", "t", "u"]).ends(1).json();
    assert_eq!(unknown["unresolved_selectors"].as_array().unwrap().len(), 1, "{unknown}");
}

#[test]
fn the_name_of_a_document_is_no_new_key() {
    let place = Place::ingested(&[("a.md", "---\nlines:\n  rs: 1\n---\n# A\n"), ("b.md", "")]);
    let refused = place.run(&["meta", "add", "a.md", "b.md", "tags", "x"]).ends(2).json();
    let error = &refused["error"];
    assert_eq!(error["reason"], "NOT_IN_PLACE", "{refused}");
    assert!(error["message"].as_str().unwrap().contains("b.md is the name of a document"));
    let hint = error["hint"].as_str().unwrap();
    assert!(hint.ends_with("`mdsel meta set a.md 'b={md: VALUE}'`"), "{hint}");
    place.run(&["meta", "set", "a.md", "b={md: [tags]}", "lines.md=2"]).success();
    place.run(&["meta", "add", "a.md", "b.md", "x"]).success();
    let text = std::fs::read_to_string(place.join("a.md")).unwrap();
    assert!(text.contains("\n  md: 2\n") && text.contains("b: {md: [tags, x]}\n"), "{text}");
}

#[test]
fn a_key_that_is_given_twice_is_refused() {
    let place = Place::ingested(&[("a.md", "# A\n")]);
    let refused = place.run(&["meta", "set", "a.md", "a=2", "b=3", "a=4"]).ends(2);
    assert!(refused.stderr.contains("USAGE: \"a\" is given twice"), "{}", refused.stderr);
}

#[test]
fn a_cell_of_a_row_without_outer_pipes_can_be_emptied() {
    let table = "A | B\n--|--\nx | y\n";
    for (cell, expected) in [("1", "x |  \n"), ("0", "| | y\n")] {
        let place = Place::ingested(&[("a.md", table)]);
        let address = format!("a.md::block:table[0]/row[0]/cell[{cell}]");
        place.run(&["delete", &address]).success();
        let text = std::fs::read_to_string(place.join("a.md")).unwrap();
        assert_eq!(text, format!("A | B\n--|--\n{expected}"));
        let rows = place.run(&["tables", "-f", "json"]).success().json();
        assert_eq!(rows["rows"].as_array().unwrap().len(), 1, "{rows}");
    }
}

/// TOML 1.0 has no time without seconds.
#[test]
fn a_time_without_seconds_is_a_string_in_toml() {
    for (value, line) in [
        ("2026-02-01T10:00", "d = \"2026-02-01T10:00\""),
        ("2026-02-01T10:00Z", "d = \"2026-02-01T10:00Z\""),
        ("2026-02-01T10:00:00", "d = 2026-02-01T10:00:00"),
        ("2026-02-01T10:00:00+02:00", "d = 2026-02-01T10:00:00+02:00"),
        ("2026-02-01", "d = 2026-02-01"),
    ] {
        let place = Place::ingested(&[("a.md", "+++\nd = 2026-01-31T10:00:00\n+++\n# A\n")]);
        place.run(&["meta", "set", "a.md", &format!("d={value}")]).success();
        let text = std::fs::read_to_string(place.join("a.md")).unwrap();
        assert_eq!(text, format!("+++\n{line}\n+++\n# A\n"));
    }
}
