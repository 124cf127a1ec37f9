//! `dump` and `load`: the store as a text stream.

use serde_json::Value;

use crate::corpus;
use crate::harness::{Place, copy, fixtures, tampered};

fn with_documents() -> Place {
    let place = Place::new();
    copy(&fixtures(), place.path());
    place.write("odd\nname.md", "# odd\n");
    for (number, path) in corpus::sample(300).iter().enumerate() {
        if !path.starts_with(fixtures()) {
            std::fs::copy(path, place.join(&format!("corpus-{number}.md"))).unwrap();
        }
    }
    place.run(&["ingest"]).success();
    place
}

#[test]
fn a_loaded_dump_is_the_same_store() {
    let place = with_documents();
    let pack = place.run(&["dump"]).success().stdout;
    std::fs::write(place.join("a.pack"), &pack).unwrap();
    let copy = Place::new();
    let pack_path = place.join("a.pack").display().to_string();
    let report = copy.run(&["load", &pack_path]).success().json();
    assert!(report["added"].as_u64() > Some(20));
    assert_eq!(copy.run(&["dump"]).success().stdout, pack, "the same bytes");
    for command in [
        &["index", "--limit", "0"][..],
        &["search", "-e", "[a-z]{4}", "--limit", "0", "-f", "text"],
        &["ldmd", "index", "answer.ldmd.md"],
        &["select", "guide.md::*", "-f", "raw"],
    ] {
        // The copy has no files, and a check says so at its end.
        let clean = |place: &Place| {
            let text = place.run(command).text().replace(",\"missing\":true", "");
            let text = text
                .split(",\"warnings\":[{\"code\":\"STALE_DOCUMENTS\"")
                .next()
                .unwrap_or_default();
            let text = text.trim_end_matches(",\"truncated\":false}\n");
            let lines = text.lines().filter(|line| !line.ends_with("has no file here"));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        assert!(clean(&copy) == clean(&place), "{command:?}");
    }
    // The copy does not know the files that are no documents.
    let broken_anchors = |place: &Place| {
        let findings = place.run(&["links", "check"]).ends(1).json()["findings"].clone();
        let all = findings.as_array().unwrap().clone();
        all.into_iter()
            .filter(|one| one["code"] != "BROKEN_FILE" && one["code"] != "UNCHECKED")
            .collect::<Vec<_>>()
    };
    assert_eq!(broken_anchors(&copy), broken_anchors(&place));
    // Reads the pack from standard input, into a store that already has the documents.
    let text = String::from_utf8(pack).unwrap();
    let again = copy.run_in("", &["load", "-"], &text).success().json();
    assert_eq!((again["added"].as_u64(), again["changed"].as_u64()), (Some(0), Some(0)));
    place.write("guide.md", "# Other\n");
    place.run(&["ingest"]).success();
    let kept = place.run(&["load", "a.pack"]).success().json();
    assert_eq!(kept["changed"], 0);
    let taken = place.run(&["load", "a.pack", "--strategy", "overwrite"]).success().json();
    assert_eq!(taken["changed"], 1);
    assert_eq!(place.run(&["dump"]).success().text(), text);
}

#[test]
fn an_incomplete_pack_is_refused_and_nothing_is_loaded() {
    let place = Place::ingested(&[("a.md", "# A\n\n[b](b.md)\n"), ("b.md", "# B\n")]);
    let pack = place.run(&["dump"]).success().stdout;
    let copy = Place::new();
    let flip = |at: usize| {
        let mut pack = pack.clone();
        pack[at] ^= 1;
        pack
    };
    let attacks = [
        pack[..pack.len() - 1].to_vec(),
        pack[..pack.len() / 2].to_vec(),
        Vec::new(),
        flip(0),
        flip(pack.len() / 3),
        flip(pack.len() - 2),
        [pack.as_slice(), b"x"].concat(),
    ];
    for attack in attacks {
        std::fs::write(copy.join("x.pack"), attack).unwrap();
        let answer = copy.run(&["load", "x.pack"]).ends(2);
        assert_eq!(answer.code(), "USAGE");
        assert!(!copy.join(".mdsel.db").exists());
    }
    copy.write("c.md", "# C\n");
    copy.run(&["ingest"]).success();
    std::fs::write(copy.join("x.pack"), flip(pack.len() - 2)).unwrap();
    copy.run(&["load", "x.pack"]).ends(2);
    assert_eq!(copy.run(&["status"]).success().json()["documents"], 1);
}

#[test]
fn linked_files_are_added_to_a_pack_if_asked() {
    let place =
        Place::with(&[("a.md", "![](img/x.png) ![](../out.png) ![](gone.png) ![](link.png)\n")]);
    place.write("img/x.png", [0u8, 1, 2, 255]);
    place.write("secret.txt", "secret");
    std::os::unix::fs::symlink(place.join("secret.txt"), place.join("link.png")).unwrap();
    place.run(&["ingest"]).success();
    let plain = place.run(&["dump"]).success().text();
    let all = place.run(&["dump", "--attachments"]).success().text();
    assert!(
        !plain.contains("\nA ")
            && all.contains("\nA img/x.png name=\"x.png\" content_type=image/png\n")
    );
    assert!(!all.contains("link.png") && !all.contains("out.png"));
    std::fs::write(place.join("a.pack"), all).unwrap();
    let copy = Place::new();
    let path = place.join("a.pack").display().to_string();
    let report = copy.run(&["load", &path]).success().json();
    assert_eq!(report["warnings"][0]["code"], "ATTACHMENTS");
    let message = report["warnings"][0]["message"].as_str().unwrap();
    assert!(message.starts_with("left out: 1 attachment;"), "{message}");
}

#[test]
fn a_file_that_is_embedded_by_its_name_is_in_the_pack() {
    let place = Place::with(&[
        ("notes/a.md", "![[p.png]] ![[q.png]] ![[r.png]]\n"),
        ("notes/q.png", "near"),
        ("q.png", "far"),
        ("img/P.png", "image"),
        ("notes/img/r.png", "near"),
        ("r/r.png", "far"),
    ]);
    place.run(&["ingest"]).success();
    place.run(&["links", "check"]).success();
    let dump = place.run(&["dump", "--attachments"]).success();
    let text = dump.text();
    let attached: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("A ")).collect();
    let paths: Vec<_> = attached.iter().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(paths, ["img/P.png", "notes/img/r.png", "notes/q.png"]);
    assert_eq!(dump.stderr, "");
}

#[test]
fn a_pack_names_what_it_leaves_out_and_takes_no_hidden_or_ignored_file() {
    let place = Place::with(&[
        (
            "a.md",
            "![](x.png) [e](.env) [k](key.pem) [db](.mdsel.db) [p](pipe) [l](link.png) [f](folder)\n",
        ),
        ("folder/b.md", ""),
        (".ignore", "key.pem\n"),
        (".env", "SECRET"),
        ("key.pem", "SECRET"),
        ("x.png", "image"),
    ]);
    std::os::unix::fs::symlink(place.join("x.png"), place.join("link.png")).unwrap();
    let pipe = std::process::Command::new("mkfifo").arg(place.join("pipe")).status().unwrap();
    assert!(pipe.success());
    place.run(&["ingest"]).success();
    let dump = place.run(&["dump", "--attachments"]).success();
    let text = dump.text();
    let attached: Vec<&str> = text.lines().filter(|line| line.starts_with("A ")).collect();
    assert_eq!(attached, ["A x.png name=\"x.png\" content_type=image/png"]);
    assert!(!dump.stderr.contains("folder"), "{}", dump.stderr);
    for name in [".env", "key.pem", ".mdsel.db", "pipe", "link.png"] {
        assert!(dump.stderr.contains(&format!("{name} is not in the pack: ")), "{}", dump.stderr);
    }
    assert_eq!(place.run(&["dump"]).success().stderr, "");
}

/// A pack without documents that has these options, and attachments with these paths.
fn pack_with(options: &str, attachments: &[&str]) -> String {
    let options = serde_json::Value::from(options);
    let mut lines = format!("H pack=1 version=0.1.0 documents=0 options={options}\n");
    for path in attachments {
        lines += &format!(
            "A {path} name=\"x\" content_type=text/plain\nD {path} bytes=1\neA==\nD-END\n"
        );
    }
    format!("{lines}END {}\n", blake3::hash(lines.as_bytes()))
}

#[test]
fn a_hostile_pack_gives_a_store_no_options_that_an_ingest_refuses() {
    let empty = r#"{"extensions":["md"],"hidden":false,"no_ignore":false,"max_file_bytes":1000}"#;
    let with = |name: &str| {
        let inner = empty.trim_start_matches('{');
        format!(
            "{}{name}\":{{\"root\":\"/\",{inner}}}}}",
            empty.replace('}', ",\"collections\":{\"")
        )
    };
    for (options, is_good) in [
        (empty.to_owned(), true),
        (with("notes"), true),
        (with(".."), false),
        (with("a/b"), false),
        (with("a::b"), false),
        (r#"{"extensions":["md"]}"#.to_owned(), true),
        (String::new(), true),
        (r#"{"extensions":["*"]}"#.to_owned(), false),
        (r#"{"extensions":5}"#.to_owned(), false),
    ] {
        let place = Place::new();
        std::fs::write(place.join("a.pack"), pack_with(&options, &[])).unwrap();
        let answer = place.run(&["load", "a.pack"]);
        assert_eq!(answer.status == 0, is_good, "{options}: {}", answer.stderr);
        if !is_good {
            assert_eq!(answer.code(), "USAGE");
            assert!(answer.stderr.contains("options of the pack"), "{}", answer.stderr);
            assert!(!place.join(".mdsel.db").exists());
        }
    }
}

#[test]
fn attachments_that_would_be_hidden_are_not_written() {
    let place = Place::new();
    let empty = r#"{"extensions":["md"],"hidden":false,"no_ignore":false,"max_file_bytes":1000}"#;
    let pack = pack_with(empty, &[".git/hooks/post-commit", ".mdsel.db", "x.txt"]);
    std::fs::write(place.join("a.pack"), pack).unwrap();
    let report = place.run(&["load", "a.pack", "--attachments", "out"]).success().json();
    assert_eq!(report["attachments"], 1, "{report}");
    assert_eq!(report["skipped"][0]["file"], ".git/hooks/post-commit");
    assert_eq!(report["skipped"][1]["file"], ".mdsel.db");
    assert!(!place.join("out/.git").exists() && !place.join("out/.mdsel.db").exists());
    assert_eq!(std::fs::read(place.join("out/x.txt")).unwrap(), b"x");
    let again = ["load", "a.pack", "--attachments", "out", "-f", "jsonl"];
    let rows = place.run(&again).success().text();
    let counts: serde_json::Value = serde_json::from_str(rows.lines().nth(2).unwrap()).unwrap();
    assert_eq!(counts["attachments"], 1, "{rows}");
    assert_eq!((counts.get("skipped"), counts.get("warnings")), (None, None), "{rows}");
}

#[test]
fn attachments_are_written_below_a_folder_and_replace_no_file() {
    let place = Place::with(&[("a.md", "![](img/x.png) ![](y.png)\n")]);
    place.write("img/x.png", [0u8, 1, 2, 255]);
    place.write("y.png", "new");
    place.run(&["ingest"]).success();
    let pack = place.run(&["dump", "--attachments"]).success().stdout;
    let copy = Place::new();
    std::fs::write(copy.join("a.pack"), pack).unwrap();
    copy.write("out/y.png", "old");
    let report = copy.run(&["load", "a.pack", "--attachments", "out"]).success().json();
    assert_eq!(
        (&report["attachments"], &report["skipped"][0]["file"]),
        (&1.into(), &"y.png".into())
    );
    assert_eq!(std::fs::read(copy.join("out/img/x.png")).unwrap(), [0, 1, 2, 255]);
    assert_eq!(std::fs::read(copy.join("out/y.png")).unwrap(), b"old");
    // The same files again are not a conflict; a link out of the folder is never followed.
    std::fs::remove_file(copy.join("out/y.png")).unwrap();
    let again = copy.run(&["load", "a.pack", "--attachments", "out"]).success().json();
    assert_eq!((&again["attachments"], again["skipped"].as_array().unwrap().len()), (&2.into(), 0));
    std::fs::create_dir(copy.join("elsewhere")).unwrap();
    std::fs::create_dir(copy.join("linked")).unwrap();
    std::os::unix::fs::symlink(copy.join("elsewhere"), copy.join("linked/img")).unwrap();
    let linked = copy.run(&["load", "a.pack", "--attachments", "linked"]).success().json();
    assert_eq!(linked["skipped"][0]["file"], "img/x.png");
    assert!(std::fs::read_dir(copy.join("elsewhere")).unwrap().next().is_none());
}

/// Adds the record of an edit of `a.md` that was interrupted.
fn interrupt_edit(place: &Place, old: &str, new: &str) {
    let [old, new] = [old, new].map(|text| blake3::hash(text.as_bytes()).to_hex());
    let sql =
        format!("INSERT INTO edit_intent VALUES (1, 'a.md', '.mdsel-edit-0', x'{old}', x'{new}')");
    tampered(place, &sql);
}

#[test]
fn an_interrupted_edit_is_finished_before_other_versions_are_stored() {
    let (old, new) = ("# A\n\nold\n", "# A\n\nnew\n");
    let commands: [&[&str]; 2] =
        [&["load", "a.pack", "--strategy", "overwrite"], &["copy", "other.db", ".mdsel.db"]];
    for command in commands {
        let place = Place::ingested(&[("a.md", old)]);
        std::fs::write(place.join("a.pack"), place.run(&["dump"]).success().stdout).unwrap();
        place.run(&["copy", ".mdsel.db", "other.db"]).success();
        place.run(&["replace", "a.md", "A", "--content", "new"]).success();
        interrupt_edit(&place, old, new);
        let changed = place.run(command).success().json();
        assert_eq!(changed["warnings"][0]["code"], "EDIT_RECOVERED", "{changed}");
        assert_eq!(changed["changed"], 1, "{changed}");
        place.run(&["ingest", "--check"]).ends(1);
        assert_eq!(std::fs::read_to_string(place.join("a.md")).unwrap(), new, "{command:?}");
    }
}

#[test]
fn a_recovery_leaves_files_whose_documents_changed_otherwise() {
    let (old, new) = ("# A\n\nold\n", "# A\n\nnew\n");
    let place = Place::ingested(&[("a.md", "# A\n\nother\n")]);
    interrupt_edit(&place, old, new);
    place.write("a.md", new);
    place.run(&["status"]).success();
    assert_eq!(std::fs::read_to_string(place.join("a.md")).unwrap(), new);
}

#[test]
fn an_attachment_that_cannot_be_written_whole_leaves_no_file() {
    let place = Place::ingested(&[("docs/a.md", "# A\n\n![i](i.png)\n"), ("docs/i.png", "")]);
    std::fs::write(place.join("docs/i.png"), vec![7; 3 << 20]).unwrap();
    std::fs::write(place.join("a.pack"), place.run(&["dump", "--attachments"]).success().stdout)
        .unwrap();
    let load = ["load", "a.pack", "--attachments", "out", "--db", "new.db"];
    assert_eq!(place.run_limited("-f 4096", &load).ends(2).code(), "IO");
    assert_eq!(place.run(&load).success().json()["attachments"], 1);
    assert_eq!(std::fs::read(place.join("out/docs/i.png")).unwrap().len(), 3 << 20);
}

/// A store in an empty folder with the documents of a pack.
fn loaded(documents: &[(&str, &str)]) -> Place {
    let pack = Place::ingested(documents).run(&["dump"]).success().stdout;
    let place = Place::new();
    std::fs::write(place.join("a.pack"), pack).unwrap();
    place.run(&["load", "a.pack"]).success();
    place
}

#[test]
fn what_a_pack_restores_stays() {
    let pack = Place::ingested(&[("a.md", "# A\n"), ("b.md", "# B\n")]).run(&["dump"]);
    let pack = pack.success().stdout;
    for strategy in ["skip", "overwrite"] {
        let place = Place::ingested(&[("a.md", "# Old\n"), ("b.md", "# B\n")]);
        std::fs::write(place.join("a.pack"), &pack).unwrap();
        place.remove("a.md");
        place.remove("b.md");
        let loaded = place.run(&["load", "a.pack", "--strategy", strategy]).success().json();
        let skipped: Vec<_> =
            loaded["skipped"].as_array().unwrap().iter().map(|one| &one["file"]).collect();
        assert_eq!(skipped, if strategy == "skip" { vec!["a.md"] } else { vec![] }, "{loaded}");
        assert_eq!(loaded["unchanged"], 1, "{loaded}");
        let report = place.run(&["ingest"]).success().json();
        // What was skipped is not of the pack, and its file is gone.
        let removed = usize::from(strategy == "skip");
        assert_eq!(
            (&report["removed"], &report["unchanged"]),
            (&removed.into(), &(2 - removed).into())
        );
    }
}

#[test]
fn a_file_that_cannot_be_stored_does_not_replace_a_loaded_document() {
    let place = loaded(&[("a.md", "# A\n"), ("b.md", "# B\n")]);
    place.write("a.md", "binary \0");
    place.write("b.md", "# Other\n");
    place.write(".gitignore", "b.md\n");
    let report = place.run(&["ingest"]).success().json();
    assert_eq!((&report["removed"], &report["unchanged"]), (&0.into(), &2.into()), "{report}");
    for (address, title) in [("a.md::*", "# A"), ("b.md::*", "# B")] {
        let read = place.run(&["read", address, "--refresh", "-f", "text"]).success().text();
        assert!(read.contains(title), "{read}");
    }
}

#[test]
fn a_loaded_document_is_not_called_deleted() {
    let place = loaded(&[("a.md", "# A\n")]);
    let text = place.run(&["select", "a.md::*", "-f", "text"]).success().text();
    assert!(text.contains("a.md has no file here"), "{text}");
    let json = place.run(&["select", "a.md::*"]).success().json();
    assert_eq!(json["results"][0]["missing"], true);
}

#[test]
fn loaded_documents_stay_until_they_have_files() {
    let place = loaded(&[("a.md", "# A\n"), ("docs/b.md", "# B\n"), ("docs/c.md", "# C\n")]);
    place.write("docs/own.md", "# Own\n");
    let report = place.run(&["ingest"]).success().json();
    let count = |report: &Value, name: &str| report[name].as_u64().unwrap();
    assert_eq!((count(&report, "added"), count(&report, "removed")), (1, 0), "{report}");
    assert_eq!(count(&report, "unchanged"), 3, "{report}");
    assert_eq!(report["warnings"][0]["code"], "NO_FILE", "{report}");
    for command in
        ["select a.md --refresh", "search own --refresh", "ingest docs", "ingest --check"]
    {
        place.run(&command.split(' ').collect::<Vec<_>>()).success();
    }
    assert_eq!(place.run(&["status"]).success().json()["documents"], 4);
    // From its first file on, a document follows the file.
    place.write("a.md", "# A\n");
    assert_eq!(count(&place.run(&["ingest"]).success().json(), "unchanged"), 4);
    place.remove("a.md");
    let report = place.run(&["ingest"]).success().json();
    assert_eq!((count(&report, "removed"), count(&report, "unchanged")), (1, 3), "{report}");
    // A path that is named, and where nothing is, is forgotten.
    let report = place.run(&["ingest", "docs/b.md"]).success().json();
    assert_eq!(count(&report, "removed"), 1, "{report}");
    place.remove("docs/own.md");
    std::fs::remove_dir(place.join("docs")).unwrap();
    let report = place.run(&["ingest", "docs"]).success().json();
    assert_eq!(count(&report, "removed"), 2, "{report}");
    place.run(&["ingest", "docs"]).ends(2);
}

#[test]
fn a_document_that_a_pack_replaces_still_follows_its_file() {
    let place = loaded(&[("a.md", "# A\n")]);
    place.write("a.md", "# Own\n");
    place.run(&["ingest"]).success();
    let load = place.run(&["load", "a.pack", "--strategy", "overwrite"]).success().json();
    assert_eq!(load["changed"], 1);
    place.remove("a.md");
    assert_eq!(place.run(&["ingest"]).success().json()["removed"], 1);
}

#[test]
fn documents_that_are_copied_to_a_store_of_another_folder_stay() {
    let place = Place::with(&[("one/a.md", "# A\n"), ("two/b.md", "# B\n")]);
    for root in ["one", "two"] {
        place.run_in(root, &["ingest"], "").success();
    }
    let copy = || place.run(&["copy", "one/.mdsel.db", "two/.mdsel.db"]).success().json();
    assert_eq!(copy()["added"], 1);
    assert_eq!(copy()["unchanged"], 1, "a copy of what is there already writes nothing");
    let report = place.run_in("two", &["ingest"], "").success().json();
    assert_eq!((&report["added"], &report["unchanged"]), (&1.into(), &1.into()), "{report}");
    assert_eq!(report["warnings"][0]["code"], "NO_FILE", "{report}");
}

#[test]
fn documents_stay_if_another_folder_without_files_is_in_the_place_of_theirs() {
    let place =
        Place::with(&[("one/a.md", "# A\n"), ("one/b.md", "# B\n"), ("notes/c.md", "# C\n")]);
    place.run_in("one", &["ingest"], "").success();
    std::fs::create_dir(place.join("two")).unwrap();
    std::fs::copy(place.join("one/.mdsel.db"), place.join("two/.mdsel.db")).unwrap();
    let count = |report: &Value, name: &str| report[name].as_u64().unwrap();
    for arguments in [&["ingest", "--dry-run"][..], &["ingest"], &["ingest"], &["ingest", "."]] {
        let report = place.run_in("two", arguments, "").success().json();
        assert_eq!((count(&report, "removed"), count(&report, "unchanged")), (0, 2), "{report}");
        let warnings = report["warnings"].as_array().unwrap();
        let kept = warnings.iter().find(|warning| warning["code"] == "NO_FILE").unwrap();
        let message = kept["message"].as_str().unwrap();
        assert!(message.contains("two has no files to ingest"), "{message}");
        assert!(message.contains("2 documents stay"), "{message}");
    }
    place.run_in("two", &["search", "A", "--refresh"], "").success();
    // What is named is removed, and files replace what was there.
    assert_eq!(count(&place.run_in("two", &["ingest", "a.md"], "").success().json(), "removed"), 1);
    place.write("two/d.md", "# D\n");
    let report = place.run_in("two", &["ingest"], "").success().json();
    assert_eq!((count(&report, "added"), count(&report, "removed")), (1, 1), "{report}");
    // In the folder itself, documents leave the store with the last of their files.
    place.run_in("one", &["ingest", "--collection", "notes", "../notes"], "").success();
    place.remove("one/a.md");
    place.remove("one/b.md");
    assert_eq!(count(&place.run_in("one", &["ingest"], "").success().json(), "removed"), 2);
    place.remove("notes/c.md");
    assert_eq!(count(&place.run_in("one", &["ingest"], "").success().json(), "removed"), 1);
    for folder in ["one", "two"] {
        place.run_in(folder, &["verify"], "").success();
    }
}

#[test]
fn loaded_documents_are_parsed_again_by_another_parser_version() {
    let place = loaded(&[("a.md", "# A\n")]);
    tampered(
        &place,
        "UPDATE meta SET value = 0 WHERE key = 'parser_version'; UPDATE outline SET stored = x'00'",
    );
    assert_eq!(place.run(&["select", "a.md"]).ends(2).code(), "STORE_CORRUPT");
    place.run(&["ingest"]).success();
    place.run(&["select", "a.md"]).success();
    let generation = || place.run(&["ingest"]).success().json()["generation"].clone();
    assert_eq!(generation(), generation(), "once is enough");
}

#[test]
fn loaded_documents_stay_after_a_repair() {
    let place = loaded(&[("a.md", "# A\n"), ("b.md", "# B\n")]);
    tampered(&place, "UPDATE outline SET stored = x'00' WHERE document_id = 1");
    place.run(&["verify", "--repair"]).success();
    assert_eq!(place.run(&["ingest"]).success().json()["unchanged"], 2);
}

#[test]
fn links_between_the_root_and_a_collection_are_in_a_loaded_store() {
    let place = Place::with(&[
        ("docs/guide/a.md", "# A\n\n[h](../../wiki/h.md)\n"),
        ("wiki/h.md", "# H\n\n[a](../docs/guide/a.md)\n"),
    ]);
    place.run(&["ingest", "--root", "docs"]).success();
    place.run(&["ingest", "--collection", "w", "wiki"]).success();
    let pack = place.run(&["dump"]).success().text();
    assert_eq!(pack.lines().filter(|line| line.starts_with("L ")).count(), 2, "{pack}");
    let copy = Place::new();
    copy.write("x/x.pack", &pack);
    copy.run_in("x", &["load", "x.pack"], "").success();
    assert_eq!(copy.run_in("x", &["dump"], "").success().text(), pack);
    copy.run_in("x", &["links", "check"], "").success();
}

#[test]
fn files_of_a_pack_that_are_not_here_are_not_called_missing() {
    let links = "[dir](sub/) [licence](LICENSE) [page](/intro) ![[pic.png]]\n";
    let place = Place::with(&[
        ("a.md", &format!("# A\n\n{links}[no](gone.md)\n")),
        ("sub/c.md", "# C\n"),
        ("01-intro.md", "# Intro\n"),
        ("LICENSE", "text\n"),
        ("pic.png", "x"),
    ]);
    place.run(&["ingest", "--site-root", "."]).success();
    let codes = |place: &Place| {
        let json = place.run(&["links", "check"]).ends(1).json();
        let findings = json["findings"].as_array().unwrap().iter();
        findings
            .map(|one| (one["code"].as_str().unwrap().to_owned(), one["message"].to_string()))
            .collect::<Vec<_>>()
    };
    assert_eq!(codes(&place).len(), 1);
    let pack = place.run(&["dump"]).success().stdout;
    let copy = Place::new();
    copy.write("x.pack", pack);
    copy.run(&["load", "x.pack"]).success();
    let found = codes(&copy);
    let found: Vec<_> = found.iter().map(|(code, _)| code.as_str()).collect();
    assert_eq!(found, ["BROKEN_FILE", "UNCHECKED", "UNCHECKED"], "{:?}", codes(&copy));
    assert!(
        codes(&copy)[1].1.contains("LICENSE was not checked: the documents have no files here")
    );
}
