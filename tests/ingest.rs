//! `ingest`: which files it takes, what it reports, and that the store follows the files.

use std::time::Duration;

use mdsel::ingest::{IngestRequest, NoProgress, Paths, preview};
use mdsel::store::Shard;
use serde_json::{Value, json};

use crate::harness::{Place, age, in_memory, tampered};
use crate::stores::as_nobody;

/// Makes the store one of another parser version, which writes no checksum of the settings.
const OTHER_PARSER: &str =
    "UPDATE meta SET value = 99 WHERE key = 'parser_version'; DELETE FROM meta WHERE key = 'seal'";

/// Every row of the store except ids, file times and the inode of the folder, by path.
fn contents(place: &Place) -> Vec<String> {
    let store = rusqlite::Connection::open(place.join(".mdsel.db")).unwrap();
    let mut rows = Vec::new();
    for query in [
        "SELECT path, name_key, hex(hash), size, lines, words, sections, blocks, lossy FROM document",
        "SELECT path, value FROM front_matter JOIN document ON id = document_id",
        "SELECT path, place & 4095, hex(packed) FROM content JOIN document ON id = place >> 12",
        "SELECT path, hex(stored) FROM outline JOIN document ON id = document_id",
        "SELECT path, keys FROM title JOIN document ON id = document_id",
        "SELECT path, ordinal, code, line, message FROM diagnostic JOIN document ON id = document_id",
        // The seal is that of the options, with the inode of the folder.
        "SELECT key, iif(key = 'options', json_remove(value, '$.inode'), value) FROM meta \
         WHERE key NOT IN ('generation', 'identity', 'lineage', 'seal')",
        "SELECT path, tag FROM tag JOIN document ON id = document_id",
    ] {
        let mut statement = store.prepare(query).unwrap();
        let columns = statement.column_count();
        let mut found = statement.query([]).unwrap();
        while let Some(row) = found.next().unwrap() {
            let cells = (0..columns).map(|column| format!("{:?}", row.get_ref(column).unwrap()));
            rows.push(cells.collect::<Vec<_>>().join(" "));
        }
    }
    rows.sort();
    rows
}

fn counts(report: &Value) -> [u64; 4] {
    ["added", "changed", "removed", "unchanged"].map(|name| report[name].as_u64().unwrap())
}

#[test]
fn the_store_follows_the_files_and_equals_a_fresh_ingest() {
    let place = Place::with(&[
        ("a.md", "# A\n"),
        ("b.md", "# B\n"),
        ("c/d.md", "# D\n"),
        ("c/e.md", "# E\n"),
        ("f.md", "# F\n"),
        ("g.md", "# G\n"),
    ]);
    let first = place.run(&["ingest"]).success();
    let root = place.path().canonicalize().unwrap();
    let expected = format!("store: .mdsel.db (new)\nroot: {}\n", root.display());
    assert_eq!(first.stderr, expected);
    assert_eq!(counts(&first.json()), [6, 0, 0, 0]);
    let again = place.run(&["ingest"]).success();
    assert_eq!(counts(&again.json()), [0, 0, 0, 6]);
    assert_eq!(again.json()["generation"], first.json()["generation"]);

    place.write("a.md", "# A changed\n");
    place.write("new.md", "---\nbad: [\n---\n# New\n");
    std::fs::rename(place.join("b.md"), place.join("renamed.md")).unwrap();
    std::fs::remove_dir_all(place.join("c")).unwrap();
    place.write("f.md", "");
    place.write("g.md", b"# binary \0\n");
    let changed = place.run(&["ingest"]).success().json();
    // a and f changed; new and renamed added; b, c/d, c/e and g removed.
    assert_eq!(counts(&changed), [2, 2, 4, 0]);
    assert_eq!(
        changed["skipped"],
        json!([{"file": "g.md", "reason": "binary (contains NUL bytes)"}])
    );
    assert_eq!(changed["warnings"][0]["code"], "FRONT_MATTER_UNREADABLE");
    assert_eq!(changed["generation"].as_u64(), first.json()["generation"].as_u64().map(|g| g + 1));

    let incremental = contents(&place);
    for name in [".mdsel.db", ".mdsel.db-lock"] {
        place.remove(name);
    }
    place.run(&["ingest"]).success();
    assert_eq!(contents(&place), incremental);
}

#[test]
fn a_touched_file_is_read_and_reported_as_unchanged() {
    let place = Place::ingested(&[("a.md", "# A\n")]);
    age(&place.join("a.md"), 100);
    assert_eq!(counts(&place.run(&["ingest"]).success().json()), [0, 0, 0, 1]);
    place.run(&["ingest", "--check"]).success();
}

#[test]
fn a_change_of_the_same_size_with_a_restored_time_is_detected() {
    let place = Place::new();
    std::fs::write(place.join("a.md"), "# A\n").unwrap();
    place.run(&["ingest"]).success();
    std::fs::write(place.join("a.md"), "# B\n").unwrap();
    assert_eq!(counts(&place.run(&["ingest"]).success().json()), [0, 1, 0, 0]);

    let time = std::time::SystemTime::now() - std::time::Duration::from_secs(5000);
    for text in ["# C\n", "# D\n"] {
        std::fs::write(place.join("a.md"), text).unwrap();
        let file = std::fs::File::options().write(true).open(place.join("a.md")).unwrap();
        file.set_modified(time).unwrap();
        assert_eq!(counts(&place.run(&["ingest"]).success().json()), [0, 1, 0, 0]);
    }
}

#[test]
fn a_modification_time_in_the_future_or_before_1970_hides_no_change() {
    let ten_years = Duration::from_hours(10 * 365 * 24);
    for time in [std::time::SystemTime::now() + ten_years, std::time::UNIX_EPOCH - ten_years] {
        let place = Place::new();
        let write = |text: &str| {
            std::fs::write(place.join("a.md"), text).unwrap();
            let file = std::fs::File::options().write(true).open(place.join("a.md")).unwrap();
            file.set_modified(time).unwrap();
        };
        write("# A\n\none\n");
        place.run(&["ingest"]).success();
        assert_eq!(counts(&place.run(&["ingest"]).success().json()), [0, 0, 0, 1]);
        let read = place.run(&["select", "a.md"]).success().json();
        assert_eq!(read["results"][0].get("stale"), None, "{read}");
        write("# A\n\ntwo\n");
        place.run(&["ingest", "--check"]).ends(1);
        let edit = ["replace", "a.md", "A", "--content", "new"];
        assert_eq!(place.run(&edit).ends(2).code(), "CONFLICT");
        assert_eq!(counts(&place.run(&["ingest"]).success().json()), [0, 1, 0, 0]);
        place.run(&edit).success();
        assert_eq!(std::fs::read_to_string(place.join("a.md")).unwrap(), "# A\n\nnew\n");
        assert_eq!(counts(&place.run(&["ingest"]).success().json()), [0, 0, 0, 1]);
    }
}

#[test]
fn check_and_dry_run_change_nothing() {
    let place = Place::with(&[("a.md", "# A\n"), ("b.md", "# B\n")]);
    place.run(&["ingest", "--dry-run"]).success();
    assert!(!place.join(".mdsel.db").exists());
    place.run(&["ingest"]).success();
    place.run(&["ingest", "--check"]).success();
    let before = std::fs::read(place.join(".mdsel.db")).unwrap();
    place.write("a.md", "# Changed\n");
    place.write("c.md", "# C\n");
    place.remove("b.md");
    let check = place.run(&["ingest", "--check"]).ends(1).json();
    let findings: Vec<_> = check["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| (finding["code"].as_str().unwrap(), finding["file"].as_str().unwrap()))
        .collect();
    assert_eq!(findings, [("CHANGED", "a.md"), ("REMOVED", "b.md"), ("ADDED", "c.md")]);
    let dry = place.run(&["ingest", "--dry-run", "-f", "text"]).success();
    assert_eq!(
        dry.text(),
        "~ a.md\n- b.md\n+ c.md\n1 added, 1 changed, 1 removed, 0 unchanged, 0 skipped; generation 1\n"
    );
    assert_eq!(std::fs::read(place.join(".mdsel.db")).unwrap(), before);
}

#[test]
fn rules_of_git_end_where_another_repository_begins() {
    let place = Place::with(&[
        ("a.md", "# A\n"),
        (".git/info/exclude", "draft.md\n"),
        (".gitignore", "build/\nignored.md\n"),
        (".ignore", "secret.md\n"),
        ("sub/.git/info/exclude", "own.md\n"),
        ("sub/.gitignore", "log.md\n"),
    ]);
    let names = ["build/x.md", "ignored.md", "draft.md", "own.md", "log.md", "secret.md"];
    for folder in ["", "sub/", "sub/deep/"] {
        for name in names {
            place.write(&format!("{folder}{name}"), "text\n");
        }
    }
    let documents = || {
        let index = place.run(&["index"]).success().json();
        let documents = index["documents"].as_array().unwrap().iter();
        let names = documents.map(|one| one["namespace"].as_str().unwrap().to_owned());
        names.collect::<Vec<_>>()
    };
    place.run(&["ingest"]).success();
    let mut expected = vec!["a.md", "log.md", "own.md"];
    for folder in ["sub/deep", "sub"] {
        expected.extend(
            ["build/x.md", "draft.md", "ignored.md"]
                .map(|name| &*format!("{folder}/{name}").leak()),
        );
    }
    expected.sort_unstable();
    assert_eq!(documents(), expected);
    // The rules of a folder are the same if only that folder is ingested.
    place.run(&["ingest", "sub/deep", "--force"]).success();
    assert_eq!(documents(), expected);
}

#[test]
fn a_worktree_has_the_rules_of_its_repository() {
    let place = Place::with(&[
        ("main/.git/info/exclude", "drafts/\n"),
        ("main/.git/worktrees/w/commondir", "../..\n"),
        ("main/.git/modules/s/info/exclude", "notes.md\n"),
    ]);
    place.write("w/.git", format!("gitdir: {}\n", place.join("main/.git/worktrees/w").display()));
    place.write("w/drafts/d.md", "text\n");
    place.write("w/a.md", "text\n");
    let report = place.run_in("w", &["ingest"], "").success().json();
    assert_eq!(report["added"], 1, "{report}");
    // A submodule has a folder of its own in the repository.
    place.write("main/s/.git", "gitdir: ../.git/modules/s\n");
    place.write("main/s/notes.md", "text\n");
    place.write("main/s/b.md", "text\n");
    let report = place.run_in("main/s", &["ingest"], "").success().json();
    assert_eq!(report["added"], 1, "{report}");
    // What leads nowhere is no rule.
    for damaged in ["", "gitdir:", "gitdir: ../none", "text\n", "gitdir: .git\n"] {
        place.write("main/s/.git", damaged);
        place.run_in("main/s", &["ingest"], "").success();
    }
}

#[test]
fn a_check_of_named_files_reports_those_that_are_left_out() {
    let place = Place::with(&[(".ignore", "i.md\n"), ("a.md", "# A\n"), ("i.md", "# I\n")]);
    place.write("n.md", "a\0");
    place.run(&["ingest", "a.md"]).success();
    let check = place.run(&["ingest", "--check", "a.md", "i.md", "./n.md"]).ends(1).json();
    let found: Vec<_> = check["findings"].as_array().unwrap().iter().collect();
    let codes: Vec<_> = found.iter().map(|one| (&one["code"], &one["file"])).collect();
    let left_out = |file: &'static str| (json!("LEFT_OUT"), json!(file));
    let expected = [left_out("i.md"), left_out("n.md")];
    assert_eq!(codes, expected.each_ref().map(|(code, file)| (code, file)), "{check}");
    assert!(found[0]["message"].as_str().unwrap().contains("ignore file"), "{check}");
    // Nobody asked for them.
    place.run(&["ingest", "--check"]).success();
}

#[test]
fn rules_of_ignore_files_have_the_syntax_of_git() {
    let rules = "notes-{draft.md\n[[:digit:]]*.md\n{a,b}.md\n[![:alnum:]{]x.md\nq\\{.md\n[z-a].md\n\
        []{]c.md\nd[a\\-{].md\ne[\\]].md\n*.md\t\nf[[:graph:]].md\n[!]{]d.md\ng[+--].md\nh[\\!].md\nhx[.md\n# [\n";
    let names = [
        "notes-{draft.md",
        "1plan.md",
        "{a,b}.md",
        "-x.md",
        "q{.md",
        "a.md",
        "b.md",
        "1x.md",
        "{x.md",
        "]c.md",
        "{c.md",
        "d-.md",
        "db.md",
        "e].md",
        "e\\.md",
        "f!.md",
        "f .md",
        "\\d.md",
        "]d.md",
        "g,.md",
        "g-.md",
        "g!.md",
        "h!.md",
        "hx.md",
    ];
    let place = Place::with(&[(".gitignore", rules)]);
    for name in names {
        place.write(name, "text\n");
    }
    let report = place.run(&["ingest"]).success().json();
    let index = place.run(&["index"]).success().json();
    let documents = index["documents"].as_array().unwrap().iter();
    let found: Vec<&str> = documents.map(|one| one["namespace"].as_str().unwrap()).collect();
    let expected =
        ["]d.md", "a.md", "b.md", "db.md", "e\\.md", "f%20.md", "g!.md", "hx.md", "{x.md"];
    assert_eq!(found, expected);
    let skipped = &report["skipped"][0];
    assert_eq!(skipped["file"], ".gitignore", "{report}");
    assert!(skipped["reason"].as_str().unwrap().contains("line 6"), "{report}");
}

#[test]
fn an_extension_is_one_word() {
    let place = Place::with(&[("a.md", "text\n")]);
    for wrong in ["*", "md txt", "md\ntxt", "m?", "tar.gz", "m/d", ""] {
        assert_eq!(place.run(&["ingest", "--ext", wrong]).ends(2).code(), "USAGE", "{wrong:?}");
    }
    place.run(&["ingest", "--ext", ".md"]).success();
}

#[test]
fn ignore_files_hidden_files_and_extensions_are_respected() {
    let place = Place::with(&[
        (".gitignore", "ignored.md\nbuild/\n*.tmp.md\n!kept.tmp.md\n"),
        (".mdselignore", "!ignored-but-wanted.md\n"),
        (".ignore", "ignored-but-wanted.md\n"),
        ("ignored.md", "x"),
        ("ignored-but-wanted.md", "x"),
        ("build/out.md", "x"),
        ("a.tmp.md", "x"),
        ("kept.tmp.md", "x"),
        ("docs/.gitignore", "local.md\n"),
        ("docs/local.md", "x"),
        ("docs/sub/local.md", "x"),
        ("docs/page.MD", "x"),
        ("local.md", "x"),
        (".hidden/h.md", "x"),
        (".h.md", "x"),
        ("page.mdx", "x"),
        ("page.markdown", "x"),
        ("page.txt", "x"),
    ]);
    let namespaces = |place: &Place| {
        let index = place.run(&["index", "--limit", "0"]).success().json();
        let documents = index["documents"].as_array().unwrap().clone();
        documents.iter().map(|d| d["namespace"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    place.run(&["ingest"]).success();
    assert_eq!(
        namespaces(&place),
        [
            "docs/page.MD",
            "ignored-but-wanted.md",
            "kept.tmp.md",
            "local.md",
            "page.markdown",
            "page.mdx"
        ]
    );
    place.run(&["ingest", "--no-ignore", "--hidden", "--ext", "md"]).success();
    let all = namespaces(&place);
    assert_eq!(all.len(), 11, "{all:?}");
    // Options are remembered until they are given again.
    place.run(&["ingest"]).success();
    assert_eq!(namespaces(&place), all);
    place.run(&["ingest", "--hidden=false"]).success();
    assert_eq!(namespaces(&place).len(), 9);
}

#[test]
fn paths_limit_what_is_added_changed_and_removed() {
    let place = Place::ingested(&[("a.md", "# A\n"), ("d/b.md", "# B\n"), ("d/c.md", "# C\n")]);
    place.write("a.md", "# A changed\n");
    place.remove("d/b.md");
    assert_eq!(counts(&place.run(&["ingest", "d"]).success().json()), [0, 0, 1, 1]);
    place.remove("d/c.md");
    assert_eq!(counts(&place.run(&["ingest", "d/c.md"]).success().json()), [0, 0, 1, 0]);
    place.run(&["ingest", "d/never.md"]).ends(2);
    assert_eq!(
        counts(&place.run_in("d", &["ingest", "../a.md"], "").success().json()),
        [0, 1, 0, 0]
    );
}

#[test]
fn the_root_is_fixed_by_the_first_ingest() {
    let place =
        Place::with(&[("docs/a.md", "# A\n"), ("other/b.md", "# B\n"), ("store/x.txt", "")]);
    let ingest = |arguments: &[&str]| {
        place.run_in("store", &[&["ingest", "--db", "s.db"], arguments].concat(), "")
    };
    ingest(&["../docs"]).success();
    let answer = place.run(&["select", "a.md", "--db", "store/s.db"]).success().json();
    assert_eq!(answer["results"][0]["file"], "a.md");
    let outside = ingest(&["../other"]).ends(2);
    assert_eq!(outside.code(), "OUTSIDE_ROOT");
    assert_eq!(outside.json()["error"]["message"], "../other is outside the root of the store");
    // A path of an answer is named as it is in the root.
    let path = place.join("docs/a.md");
    let hint = ingest(&["a.md"]).ends(2).json()["error"]["hint"].as_str().unwrap().to_owned();
    assert!(hint.starts_with(&format!("in the root of the store, the path is {}", path.display())));
    ingest(&[path.to_str().unwrap()]).success();
    let here = ingest(&["."]).ends(2).json();
    assert_eq!(here["error"]["message"], ". is outside the root of the store");
    let moved = ingest(&["--root", "../other"]).ends(2);
    assert_eq!(moved.code(), "USAGE");
    ingest(&["--root", "../docs"]).success();
    // The store and its documents may be moved together.
    let elsewhere = Place::new();
    std::fs::rename(place.join("docs"), elsewhere.join("docs")).unwrap();
    std::fs::rename(place.join("store"), elsewhere.join("store")).unwrap();
    let check = ["ingest", "--check", "--db", "s.db"];
    assert_eq!(elsewhere.run_in("store", &check, "").ends(2).code(), "UNTRUSTED_STORE");
    elsewhere.run_in("store", &[&check[..], &["--root", "../docs"]].concat(), "").success();
}

#[test]
fn links_pipes_devices_and_the_store_itself_are_not_ingested() {
    use std::os::unix::fs::symlink;
    let place = Place::with(&[("a.md", "# A\n"), ("sub/b.md", "# B\n")]);
    symlink("a.md", place.join("link.md")).unwrap();
    symlink("nowhere", place.join("dangling.md")).unwrap();
    symlink("..", place.join("sub/loop")).unwrap();
    symlink("/etc", place.join("out")).unwrap();
    // Each name of a file is a document.
    std::fs::hard_link(place.join("a.md"), place.join("same.md")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(place.join("pipe.md")).status();
    let has_pipe = made.is_ok_and(|status| status.success());
    // The numbers of /dev/zero on Linux, which has no end. Not every user may make a device.
    let zero = place.join("device.md");
    let made = std::process::Command::new("mknod").arg(&zero).args(["c", "1", "5"]).output();
    let has_device = made.is_ok_and(|output| output.status.success());
    let report = place.run(&["ingest", "--db", "store.md"]).success().json();
    assert_eq!(report["added"], 3);
    let skipped: Vec<_> = report["skipped"]
        .as_array()
        .unwrap()
        .iter()
        .map(|skipped| skipped["file"].as_str().unwrap())
        .collect();
    // Links to folders are named, too: documents may be below them.
    let mut expected = vec!["dangling.md", "device.md", "link.md", "out", "pipe.md", "sub/loop"];
    expected.retain(|file| has_pipe || *file != "pipe.md");
    expected.retain(|file| has_device || *file != "device.md");
    assert_eq!(skipped, expected);
    assert_eq!(counts(&place.run(&["ingest", "--db", "store.md"]).success().json()), [0, 0, 0, 3]);
}

#[test]
fn a_file_and_a_folder_of_the_same_name_replace_each_other() {
    let place = Place::ingested(&[("a.md", "# A\n"), ("b.md", "# Old\n\nalpha\n")]);
    let found = |word: &str| {
        let hits = place.run(&["search", word]).json()["hits"].clone();
        hits.as_array().unwrap().iter().map(|hit| hit["file"].clone()).collect::<Vec<_>>()
    };
    place.remove("b.md");
    place.write("b.md/in.md", "# In\n\nbeta\n");
    let old = place.run(&["select", "b.md"]).success().json();
    assert_eq!(old["results"][0]["missing"], true, "{old}");
    let check = place.run(&["ingest", "--check", "-f", "text"]).ends(1).text();
    assert!(check.contains("b.md is in the store, but the file is gone"), "{check}");
    assert!(check.contains("b.md/in.md is not in the store"), "{check}");
    assert_eq!(counts(&place.run(&["ingest"]).success().json()), [1, 0, 1, 1]);
    assert_eq!((found("alpha"), found("beta")), (vec![], vec![json!("b.md/in.md")]));

    std::fs::remove_dir_all(place.join("b.md")).unwrap();
    place.write("b.md", "# New\n\ngamma\n");
    let edit = place.run(&["replace", "b.md/in.md", "In", "--content", "x"]).ends(2);
    assert_eq!(edit.code(), "CONFLICT", "{}", edit.text());
    assert!(edit.text().contains("`mdsel ingest b.md/in.md`"), "{}", edit.text());
    let forgotten = place.run(&["ingest", "b.md/in.md"]).success().json();
    assert_eq!(counts(&forgotten), [0, 0, 1, 0], "the command that the error names");
    assert_eq!(counts(&place.run(&["ingest"]).success().json()), [1, 0, 0, 1]);
    assert_eq!((found("beta"), found("gamma")), (vec![], vec![json!("b.md")]));
    place.assert_in_step();
}

#[test]
fn a_link_to_itself_is_skipped_like_any_other() {
    let place = Place::with(&[("a.md", "# A\n")]);
    std::os::unix::fs::symlink("loop.md", place.join("loop.md")).unwrap();
    let report = place.run(&["ingest", "a.md", "loop.md"]).success().json();
    assert_eq!((&report["added"], &report["skipped"][0]["file"]), (&1.into(), &"loop.md".into()));
    let said = place.run(&["read", "./loop.md"]).ends(1);
    assert_eq!(said.code(), "NOT_IN_STORE", "{}", said.text());
}

#[cfg(all(feature = "failpoints", target_os = "linux"))]
#[test]
fn files_that_are_removed_after_they_were_found_are_not_in_the_store() {
    let threads = std::thread::available_parallelism().unwrap().get();
    let place = Place::new();
    let files: Vec<String> = (0..4 * threads).map(|number| format!("{number:04}.md")).collect();
    for file in &files {
        place.write(file, "# A\n");
    }
    place.run(&["ingest"]).success();
    for file in &files {
        place.write(file, "# Changed\n");
    }
    place.write("new.md", "# New\n");
    // Each file is open for a while, so the last ones are opened after they were removed.
    let mut ingest = place.command("", &["ingest"]);
    let ingest = ingest.env("FAILPOINTS", "file-read=sleep(300)").spawn().unwrap();
    let opened = std::path::PathBuf::from(format!("/proc/{}/fd", ingest.id()));
    let is_open = |file: &str| {
        let mut links = std::fs::read_dir(&opened).unwrap().flatten();
        links.any(|link| std::fs::read_link(link.path()).is_ok_and(|path| path.ends_with(file)))
    };
    while !is_open(&files[0]) {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    place.remove("new.md");
    place.remove(files.last().unwrap());
    let output = ingest.wait_with_output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(counts(&report), [0, files.len() as u64 - 1, 1, 0], "{report}");
    assert_eq!(report["skipped"], json!([]));
    place.assert_in_step();
}

#[test]
fn ingests_of_equal_folders_answer_alike() {
    let answers = [(); 2].map(|()| {
        let place = Place::with_fixtures();
        let index = place.run(&["index", "--blocks", "--limit", "0"]).success().stdout;
        let select = place.run(&["select", "block:code", "--limit", "0"]).success().stdout;
        (index, select, contents(&place))
    });
    assert_eq!(answers[0], answers[1]);
}

#[test]
fn refresh_updates_only_the_requested_documents() {
    let place = Place::ingested(&[("a.md", "# A\n"), ("b.md", "# B\n")]);
    place.write("a.md", "# A changed\n");
    place.write("b.md", "# B changed\n");
    let stale = place.run(&["select", "a.md"]).success().json();
    assert_eq!(stale["results"][0]["stale"], true);
    assert_eq!(stale["results"][0]["content"], "# A\n", "the stored bytes, never the file's");
    let fresh = place.run(&["select", "a.md", "--refresh"]).success().json();
    assert_eq!(fresh["results"][0]["content"], "# A changed\n");
    assert_eq!(fresh["results"][0].get("stale"), None);
    let other = place.run(&["select", "b.md"]).success().json();
    assert_eq!(other["results"][0]["stale"], true, "only what was asked for");
    place.write("c.md", "# C\n");
    let new = place.run(&["select", "c::*", "--refresh"]).success().json();
    assert_eq!(new["results"][0]["content"], "# C\n");
    place.write("c.md", "---\nbad: [\n---\n# C\n");
    let warned = place.run(&["select", "c::*", "--refresh"]).success().stderr;
    assert!(warned.starts_with("warning: FRONT_MATTER_UNREADABLE: c.md"), "{warned}");
    place.remove("a.md");
    let missing = place.run(&["select", "a.md"]).success().json();
    assert_eq!(missing["results"][0]["missing"], true);
    assert_eq!(
        place.run(&["status", "--stale"]).success().json()["stale"],
        json!([{"file": "a.md", "change": "removed"}])
    );
}

#[test]
fn a_store_without_its_root_answers_and_reports_nothing_as_missing() {
    let place = Place::with(&[("docs/a.md", "# A\n"), ("store/x", "")]);
    place.run_in("store", &["ingest", "../docs"], "").success();
    std::fs::remove_dir_all(place.join("docs")).unwrap();
    let answer = place.run_in("store", &["select", "a.md"], "").success().json();
    assert_eq!(answer["results"][0].get("missing"), None);
    let refused = place.run_in("store", &["ingest"], "").ends(2);
    assert_eq!(refused.code(), "IO");
    place.run_in("store", &["select", "a.md"], "").success();
}

#[test]
fn a_refresh_without_the_root_keeps_the_documents() {
    let place = Place::with(&[("docs/a.md", "# A\n"), ("docs/b.md", "# B\n"), ("store/x", "")]);
    place.run_in("store", &["ingest", "../docs"], "").success();
    std::fs::rename(place.join("docs"), place.join("away")).unwrap();
    for command in [
        &["select", "a.md", "--refresh"][..],
        &["toc", "a.md", "--refresh"],
        &["read", "a.md", "A", "--refresh"],
        &["replace", "a.md", "A", "--content", "x", "--refresh"],
        &["ingest", "../docs/a.md"],
        &["ingest", "--dry-run", "../docs/a.md"],
        &["ingest", "../away"],
        &["ingest", "--root", "../away"],
    ] {
        let refused = place.run_in("store", command, "").ends(2);
        assert_eq!(refused.code(), "IO", "{command:?}");
        assert!(refused.text().contains("the root of this store does not exist"), "{command:?}");
    }
    assert_eq!(place.run_in("store", &["status"], "").success().json()["documents"], 2);
}

#[test]
fn a_refused_ingest_stores_nothing() {
    let place = Place::new();
    place.run(&["ingest", "nowhere.md"]).ends(2);
    assert!(!place.join(".mdsel.db").exists());
    place.write("a.md", "# A\n");
    place.run(&["ingest"]).success();
    for arguments in [&["ingest", "--ext", "txt", "nowhere.md"][..], &["ingest", "--ext", ""]] {
        place.run(arguments).ends(2);
    }
    assert_eq!(counts(&place.run(&["ingest"]).success().json()), [0, 0, 0, 1]);
    // Each path that is named must exist, even below another.
    place.run(&["ingest", ".", "nowhere.md"]).ends(2);
}

#[test]
fn a_refresh_leaves_no_log() {
    let place = Place::ingested(&[("a.md", "# A\n")]);
    place.write("a.md", "# A changed\n");
    place.run(&["select", "a.md", "--refresh"]).success();
    let log = std::fs::metadata(place.join(".mdsel.db-wal"));
    assert!(log.map_or(0, |log| log.len()) == 0);
}

#[test]
fn files_whose_names_begin_like_the_store_are_ingested() {
    let place = Place::with(&[("kb-notes/n.md", "# N\n"), ("kb-2024.md", "# M\n")]);
    assert_eq!(place.run(&["ingest", "--db", "kb"]).success().json()["added"], 2);
}

#[test]
fn a_link_to_a_store_opens_that_store() {
    use std::os::unix::fs::symlink;
    let place = Place::with(&[("A/a.md", "# A\n"), ("B/x", "")]);
    place.run(&["ingest", "--db", "A/s.db", "A"]).success();
    symlink("../A/s.db", place.join("B/link.db")).unwrap();
    place.run(&["select", "a.md", "--db", "B/link.db"]).success();
    assert_eq!(
        counts(&place.run(&["ingest", "--db", "B/link.db", "A"]).success().json()),
        [0, 0, 0, 1]
    );
    let lock = std::fs::File::open(place.join("A/s.db-lock")).unwrap();
    lock.lock().unwrap();
    assert_eq!(place.run(&["ingest", "--db", "B/link.db", "--wait", "0"]).ends(2).code(), "LOCKED");
}

#[test]
fn no_store_is_made_where_a_link_leads() {
    use std::os::unix::fs::symlink;
    let place = Place::with(&[("A/sub/a.md", "# A\n"), ("B/x", "")]);
    symlink("../B/s.db", place.join("A/.mdsel.db")).unwrap();
    for (folder, arguments) in [
        ("A", &["ingest"][..]),
        ("A/sub", &["ingest"]),
        ("A/sub", &["toc"]),
        ("", &["ingest", "--db", "A/.mdsel.db", "A"]),
    ] {
        let answer = place.run_in(folder, arguments, "").ends(2);
        assert_eq!(answer.code(), "STORE_NOT_FOUND", "{arguments:?}");
        assert!(answer.stderr.contains(".mdsel.db: it is a symbolic link to ../B/s.db"));
    }
    assert_eq!(std::fs::read_dir(place.join("B")).unwrap().count(), 1);
    place.run(&["ingest", "--db", "B/s.db", "A"]).success();
    place.run_in("A/sub", &["toc"], "").success();
}

#[test]
fn no_command_waits_longer_than_asked_for_a_program_that_locks_the_store() {
    let place = Place::ingested(&[("a.md", "# A\n")]);
    let other = rusqlite::Connection::open(place.join(".mdsel.db")).unwrap();
    other.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE").unwrap();
    for command in [&["ingest"][..], &["ingest", "--check"], &["ingest", "--dry-run"], &["verify"]]
    {
        let started = std::time::Instant::now();
        let refused = place.run(&[command, &["--wait", "1"]].concat()).ends(2);
        assert_eq!(refused.code(), "LOCKED");
        assert!(refused.stderr.contains("wait longer with --wait"), "{}", refused.stderr);
        let waited = started.elapsed().as_millis();
        assert!((900..4500).contains(&waited), "{command:?}: {waited} ms");
    }
    let hint = place.run(&["toc"]).ends(2).stderr;
    assert!(hint.contains("finished, then repeat the command"), "{hint}");
}

#[test]
fn a_document_that_became_a_link_is_removed_by_a_refresh() {
    let place = Place::ingested(&[("a.md", "# A\n"), ("b.md", "# B\n")]);
    place.remove("a.md");
    std::os::unix::fs::symlink("b.md", place.join("a.md")).unwrap();
    let gone = place.run(&["select", "a.md::root", "--refresh"]).ends(1);
    assert_eq!(gone.code(), "NOT_IN_STORE", "a link is not ingested");
    assert!(gone.stderr.contains("skipped a.md: it is a symbolic link"), "{}", gone.stderr);
    assert_eq!(place.run(&["status"]).success().json()["documents"], 1);
}

#[test]
fn a_folder_that_became_a_link_out_of_the_root_is_not_followed() {
    let place = Place::with(&[("root/d/a.md", "# A\n"), ("out/a.md", "# Secret\n")]);
    place.run_in("root", &["ingest"], "").success();
    std::fs::remove_dir_all(place.join("root/d")).unwrap();
    std::os::unix::fs::symlink("../out", place.join("root/d")).unwrap();
    let answer = place.run_in("root", &["select", "d/a.md"], "").success().json();
    assert_eq!(answer["results"][0]["missing"], true);
    let refreshed = place.run_in("root", &["select", "d/a.md", "--refresh"], "").ends(1);
    assert!(!refreshed.text().contains("Secret"), "{}", refreshed.text());
    assert_eq!(place.run_in("root", &["status"], "").success().json()["documents"], 0);
}

#[test]
fn documents_of_another_parser_version_are_parsed_again() {
    let place = Place::ingested(&[("a.md", "# A\n"), ("b.md", "# B\n")]);
    let store = rusqlite::Connection::open(place.join(".mdsel.db")).unwrap();
    store
        .execute_batch(
            "UPDATE meta SET value = 0 WHERE key = 'parser_version'; DELETE FROM meta WHERE key = 'seal'; \
             UPDATE outline SET stored = x'00'",
        )
        .unwrap();
    drop(store);
    assert_eq!(place.run(&["select", "a.md"]).ends(2).code(), "STORE_CORRUPT");
    assert_eq!(counts(&place.run(&["ingest"]).success().json()), [0, 0, 0, 2]);
    place.run(&["select", "a.md"]).success();
}

#[test]
fn an_ingest_of_one_folder_parses_all_documents_of_another_parser_version_once() {
    let place = Place::ingested(&[("a/a.md", "# A\n"), ("b.md", "# B\n"), ("gone.md", "# C\n")]);
    place.remove("gone.md");
    tampered(&place, OTHER_PARSER);
    let generation = || place.run(&["status"]).success().json()["generation"].clone();
    // A refresh does not wait for documents that it was not asked for.
    place.run(&["select", "b.md", "--refresh"]).success();
    assert!(place.run(&["verify"]).success().text().contains("PARSED_BEFORE"));
    assert_eq!(counts(&place.run(&["ingest", "a"]).success().json()), [0, 0, 0, 1]);
    let parsed = generation();
    assert!(!place.run(&["verify"]).success().text().contains("PARSED_BEFORE"));
    // Documents whose files are elsewhere, or gone, were parsed from their bytes in the store.
    place.run(&["select", "b.md::*", "gone.md::*"]).success();
    place.run(&["ingest", "a"]).success();
    assert_eq!(generation(), parsed, "nothing is parsed twice");
}

#[test]
fn documents_of_several_parser_versions_are_parsed_again() {
    let place = Place::ingested(&[("a.md", "# A\n"), ("b.md", "# B\n")]);
    let version = |name: &str| -> i64 {
        let store = rusqlite::Connection::open(place.join(name)).unwrap();
        let statement = "SELECT value FROM meta WHERE key = 'parser_version'";
        store.query_row(statement, [], |row| row.get(0)).unwrap()
    };
    let current = version(".mdsel.db");
    tampered(&place, OTHER_PARSER);
    place.run(&["replace", "a.md", "A", "--content", "text"]).success();
    assert_eq!(version(".mdsel.db"), 0);
    place.run(&["verify"]).success();
    // A copy does not know more than its source.
    place.run(&["copy", ".mdsel.db", "copy.db"]).success();
    assert_eq!(version("copy.db"), 0);
    place.run(&["ingest"]).success();
    assert_eq!(version(".mdsel.db"), current);
    place.run(&["copy", ".mdsel.db", "copy.db"]).success();
    assert_eq!(version("copy.db"), current);
    // Documents that are not named are parsed from their bytes in the store.
    tampered(&place, OTHER_PARSER);
    place.remove("b.md");
    place.run(&["ingest", "b.md"]).success();
    assert_eq!(version(".mdsel.db"), current);
}

#[test]
fn an_empty_file_becomes_a_store() {
    let place = Place::with(&[
        ("corpus/a.md", "# A\n"),
        ("elsewhere/b.md", "# B\n"),
        ("elsewhere/s.db", ""),
    ]);
    let report =
        place.run_in("corpus", &["ingest", "--db", "../elsewhere/s.db"], "").success().json();
    assert_eq!(report["added"], 1);
    let answer = place.run(&["select", "a.md", "--db", "elsewhere/s.db"]).success().json();
    assert_eq!(answer["results"][0]["file"], "a.md");
}

#[test]
fn arguments_out_of_range_are_refused_before_any_change() {
    let place = Place::with(&[("a.md", "# A\n")]);
    for arguments in [
        &["ingest", "--wait", "18446744073709551615"][..],
        &["ingest", "--ext", "."],
        &["ingest", "-f", "raw"],
        &["ingest", "--max-file-size", "2G"],
    ] {
        place.run(arguments).ends(2);
        assert!(!place.join(".mdsel.db").exists(), "{arguments:?}");
    }
}

#[test]
fn a_document_whose_folder_became_a_file_is_missing() {
    let place = Place::ingested(&[("d/b.md", "# B\n")]);
    std::fs::remove_dir_all(place.join("d")).unwrap();
    place.write("d", "");
    assert_eq!(place.run(&["select", "d/b.md"]).success().json()["results"][0]["missing"], true);
}

#[cfg(target_os = "linux")]
#[test]
fn file_names_that_are_not_utf8_are_each_reported() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let place = Place::with(&[("a.md", "# A\n")]);
    for name in [b"x\xfe.md", b"x\xff.md"] {
        std::fs::write(place.path().join(OsStr::from_bytes(name)), "# X\n").unwrap();
    }
    let report = place.run(&["ingest"]).success().json();
    assert_eq!(report["added"], 1);
    assert_eq!(report["skipped"].as_array().unwrap().len(), 2);
    // Only names below the root must be UTF-8.
    let above = Place::new();
    let folder = above.path().join(OsStr::from_bytes(b"r\xfe"));
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("n.md"), "# N\n").unwrap();
    let output = std::process::Command::new(crate::harness::PROGRAM)
        .arg("ingest")
        .current_dir(&folder)
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["added"], 1);
}

#[test]
fn a_report_fits_its_budget_and_says_that_it_was_cut() {
    let place = Place::with(&[("a.md", "# A\n")]);
    for number in 0..30 {
        place.write(&format!("{number}.md"), b"\0");
    }
    let report = place.run(&["ingest", "--max-chars", "400"]).success();
    assert!(report.text().chars().count() <= 400);
    assert_eq!(
        (report.json()["added"].as_u64(), report.json()["truncated"].as_bool()),
        (Some(1), Some(true))
    );
    place.write("b.md", "# B\n");
    let check = place.run(&["ingest", "--check", "--max-chars", "200"]).ends(1);
    assert!(check.text().chars().count() <= 200);
}

#[test]
fn merged_segments_leave_no_files() {
    let place = Place::new();
    let files = |extension: &str| {
        let entries = std::fs::read_dir(place.join(".mdsel.db-fts")).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        paths.filter(|path| path.extension().is_some_and(|found| found == extension)).count()
    };
    let mut most = 0;
    for number in 0..12 {
        place.write(&format!("{number}.md"), "# Title\n\nwords\n");
        place.run(&["ingest"]).success();
        let meta = std::fs::read(place.join(".mdsel.db-fts/meta.json")).unwrap();
        let meta: serde_json::Value = serde_json::from_slice(&meta).unwrap();
        let segments = meta["segments"].as_array().unwrap().len();
        assert_eq!((files("idx"), files("trigrams")), (segments, segments));
        most = most.max(segments);
    }
    assert!(files("idx") < most, "segments were merged");
}

#[test]
fn a_check_fails_if_a_folder_cannot_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::ingested(&[("a.md", "# A\n"), ("d/b.md", "# B\n")]);
    for name in [".mdsel.db-wal", ".mdsel.db-shm", ".mdsel.db-lock"] {
        drop(std::fs::remove_file(place.join(name)));
    }
    let permit = |mode| {
        std::fs::set_permissions(place.join("d"), PermissionsExt::from_mode(mode)).unwrap();
    };
    permit(0o700);
    let check = ["ingest", "--check"];
    let Some(output) = as_nobody(&place, &check) else { return };
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let answer = String::from_utf8_lossy(&output.stdout);
    assert!(answer.contains("UNREADABLE") && answer.contains("d could not"), "{answer}");
    assert!(answer.contains(r#""file":"d""#), "{answer}");
    let status = as_nobody(&place, &["status", "--stale"]).unwrap();
    let status: Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!((&status["stale"], &status["unreadable"][0]["file"]), (&json!([]), &json!("d")));
    permit(0o755);
    assert_eq!(as_nobody(&place, &check).unwrap().status.code(), Some(0));
}

#[test]
fn nothing_is_said_about_files_in_a_folder_that_cannot_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::ingested(&[("a.md", "![[x.png]] ![[y.png]]\n"), ("d/b.md", "# B\n")]);
    place.write("x.png", "");
    place.write("d/y.png", "");
    for name in [".mdsel.db-wal", ".mdsel.db-shm", ".mdsel.db-lock"] {
        drop(std::fs::remove_file(place.join(name)));
    }
    let permissions = PermissionsExt::from_mode(0o700);
    std::fs::set_permissions(place.join("d"), permissions).unwrap();
    let Some(links) = as_nobody(&place, &["links", "check"]) else { return };
    let links: Value = serde_json::from_slice(&links.stdout).unwrap();
    let findings = links["findings"].as_array().unwrap();
    let codes: Vec<_> = findings.iter().map(|finding| &finding["code"]).collect();
    assert_eq!(codes, ["UNCHECKED"], "{links}");
    let verified = as_nobody(&place, &["verify"]).unwrap();
    let verified: Value = serde_json::from_slice(&verified.stdout).unwrap();
    assert_eq!(verified["warnings"][0]["code"], "FOLDER_UNREADABLE", "{verified}");
    assert!(verified["warnings"][0]["message"].as_str().unwrap().starts_with("d: "), "{verified}");
}

#[test]
fn a_preview_of_a_part_is_about_the_files_of_that_part() {
    let names: Vec<String> = (0..20).map(|number| format!("{number}.md")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "# A\n")).collect();
    let place = Place::with(&files);
    let store = in_memory();
    let changes = |index| {
        let shard = Shard { index, count: 2, ingest: "x".to_owned() };
        let request = IngestRequest {
            root: Some(place.path()),
            ..IngestRequest::of_stored(&store, Paths::All, Duration::ZERO)
        };
        let report =
            preview(&IngestRequest { shard: Some(&shard), ..request }, &NoProgress).unwrap();
        report.changes.unwrap().len()
    };
    let parts = [changes(0), changes(1)];
    assert!(parts.iter().sum::<usize>() == 20 && parts[0] < 20 && parts[1] < 20, "{parts:?}");
}

#[test]
fn a_check_distinguishes_ignored_files_from_removed_ones() {
    let place = Place::ingested(&[("ign/i.md", "# I\n"), ("a.md", "# A\n")]);
    place.write(".gitignore", "ign/\n");
    place.remove("a.md");
    let check = place.run(&["ingest", "--check"]).ends(1).json();
    let messages = [
        "a.md is in the store, but the file is gone",
        "ign/i.md is in the store, but the file is left out now",
    ];
    let findings = check["findings"].as_array().unwrap();
    assert_eq!(findings.len(), messages.len());
    for (finding, message) in findings.iter().zip(messages) {
        assert_eq!((&finding["code"], &finding["message"]), (&json!("REMOVED"), &json!(message)));
    }
}

#[test]
fn a_path_that_is_named_but_ignored_or_hidden_is_skipped_with_the_reason() {
    let place = Place::with(&[
        (".gitignore", "d.md\nign/\n"),
        ("d.md", "# D\n"),
        ("ign/i.md", "# I\n"),
        (".hidden.md", "# H\n"),
        ("a.md", "# A\n"),
    ]);
    let report = place.run(&["ingest", "d.md", "ign", ".hidden.md", "a.md"]).success().json();
    assert_eq!(report["added"], 1, "{report}");
    for (skipped, (file, way)) in report["skipped"].as_array().unwrap().iter().zip([
        (".hidden.md", "--hidden"),
        ("d.md", "--no-ignore"),
        ("ign", "--no-ignore"),
    ]) {
        assert_eq!(skipped["file"], file);
        assert!(skipped["reason"].as_str().unwrap().contains(way), "{skipped}");
    }
    place.run(&["ingest", "--check"]).success();
    assert_eq!(place.run(&["ingest", "--no-ignore", "d.md"]).success().json()["added"], 1);
}

#[test]
fn an_ignore_file_applies_after_bad_bytes_and_says_what_it_lacks() {
    let place = Place::with(&[("secret.md", "# S\n"), ("a.md", "# A\n"), ("sub/b.md", "# B\n")]);
    place.write(".gitignore", b"caf\xe9/\nsecret.md\n");
    place.write("sub/.ignore", format!("b.md\n{}", "x\n".repeat(2 << 20)));
    let report = place.run(&["ingest"]).success().json();
    assert_eq!(
        (&report["added"], &report["skipped"][0]["file"]),
        (&json!(1), &json!("sub/.ignore"))
    );
    assert!(report["skipped"].to_string().contains("ignore-file-bytes"), "{report}");
    // A socket or a FIFO has no rules, and is not waited for.
    place.remove("sub/.ignore");
    drop(std::os::unix::net::UnixListener::bind(place.join("sub/.ignore")).unwrap());
    let report = place.run(&["ingest"]).success().json();
    assert_eq!(
        (&report["added"], &report["skipped"][0]["file"]),
        (&json!(1), &json!("sub/.ignore"))
    );
}

#[test]
fn a_root_that_is_a_file_is_refused_before_a_store_is_created() {
    let place = Place::with(&[("guide.md", "# A\n")]);
    for collection in [&[][..], &["--collection", "c", "."]] {
        let arguments = [&["ingest", "--root", "guide.md"], collection].concat();
        assert_eq!(place.run(&arguments).ends(2).code(), "USAGE");
        assert!(!place.join(".mdsel.db").exists());
    }
    assert_eq!(place.run(&["ingest"]).success().json()["added"], 1);
}

#[test]
fn a_first_ingest_that_fails_names_no_store() {
    let place = Place::with(&[("docs/a.md", "# A\n"), ("b.md", "# B\n")]);
    for arguments in [&["ingest", "nope.md"][..], &["ingest", "--root", "docs", "b.md"]] {
        for preview in [false, true] {
            let arguments = [arguments, if preview { &["--dry-run"] } else { &[] }].concat();
            let failed = place.run(&arguments).ends(2);
            let text = failed.text();
            assert!(!failed.stderr.contains("store: "), "{}", failed.stderr);
            assert!(!text.contains("status") && !text.contains("in the store"), "{text}");
        }
    }
    assert!(!place.join(".mdsel.db").exists());
    let first = place.run(&["ingest"]).success();
    assert!(first.stderr.starts_with("store: .mdsel.db (new)\nroot: "), "{}", first.stderr);
}

#[test]
fn unreadable_front_matter_is_reported_with_its_line_in_the_file() {
    for (file, line) in [
        ("---\na: b: c\n---\n# A\n", 2),
        ("---\nx: 1\ny: 2\na: b: c\n---\n# A\n", 4),
        (";;;\n{\n\"a\": }\n;;;\n# A\n", 3),
    ] {
        let place = Place::with(&[("a.md", file)]);
        let report = place.run(&["ingest"]).success().json();
        let message = report["warnings"][0]["message"].as_str().unwrap();
        assert!(message.contains(&format!("line {line}")), "{message}");
    }
}
