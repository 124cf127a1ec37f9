//! Files that are not stores, newer, damaged and locked stores; and how a store is found.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::harness::{Place, reader, tampered, words};

#[test]
fn the_nearest_store_upwards_is_used_unless_one_is_named() {
    let place = Place::with(&[("a.md", "# A\n"), ("sub/b.md", "# B\n")]);
    assert_eq!(place.run(&["select", "a.md"]).ends(2).code(), "STORE_NOT_FOUND");
    place.run(&["ingest"]).success();
    place.run_in("sub", &["select", "sub/b.md"], "").success();
    let named = place.run_in("sub", &["select", "a.md", "--db", "none.db"], "").ends(2);
    assert_eq!(named.code(), "STORE_NOT_FOUND");
    assert!(!place.join("sub/none.db").exists());
    let by_environment = std::process::Command::new(crate::harness::PROGRAM)
        .args(["select", "a.md"])
        .current_dir("/")
        .env_clear()
        .env("MDSEL_DB", place.join(".mdsel.db"))
        .stdout(std::process::Stdio::null())
        .status();
    assert_eq!(by_environment.unwrap().code(), Some(0));
}

#[test]
fn a_store_above_a_repository_that_it_does_not_have_is_not_edited() {
    let place = Place::with(&[("a.md", "# A\n"), (".git/HEAD", ""), (".gitignore", "trees/\n")]);
    place.write("trees/x/.git", "gitdir: ../../.git/worktrees/x\n");
    place.write("trees/x/a.md", "# A\n\nof the branch\n");
    place.write("trees/x/sub/b.md", "# B\n");
    place.write("nested/.git/HEAD", "");
    place.write("nested/a.md", "# A\n");
    place.run(&["ingest"]).success();
    let edit = ["replace", "a.md", "A", "--content", "changed"];
    for folder in ["trees/x", "trees/x/sub"] {
        let found = place.run_in(folder, &["select", "a.md"], "").success().json();
        assert_eq!(found["warnings"][0]["code"], "OTHER_REPOSITORY", "{found}");
        assert_eq!(place.run_in(folder, &edit, "").ends(2).code(), "USAGE");
        let moved = ["move", "a.md", "b.md"];
        assert_eq!(place.run_in(folder, &moved, "").ends(2).code(), "USAGE");
    }
    assert_eq!(std::fs::read_to_string(place.join("a.md")).unwrap(), "# A\n");
    // A repository with documents in the store is part of it, and so is a store that is named.
    let found = place.run_in("nested", &["select", "a.md"], "").success().json();
    assert_eq!(found["warnings"], serde_json::json!([]));
    let named = [&edit[..], &["--db", "../../.mdsel.db"]].concat();
    place.run_in("trees/x", &named, "").success();
    assert_eq!(std::fs::read_to_string(place.join("a.md")).unwrap(), "# A\n\nchanged\n");
}

#[test]
fn an_answer_says_that_an_interrupted_edit_was_finished() {
    let place = Place::with_fixtures();
    let intent =
        "INSERT INTO edit_intent VALUES (1, 'guide.md', '.mdsel-edit-0', zeroblob(32), x'')";
    for command in [&["read", "guide.md"][..], &["search", "install"], &["toc"], &["prime"]] {
        tampered(&place, intent);
        let answer = place.run(command).success();
        assert_eq!(answer.json()["warnings"][0]["code"], "EDIT_RECOVERED", "{command:?}");
        assert_eq!(answer.stderr, "", "{command:?}");
        assert!(!place.run(command).success().text().contains("EDIT_RECOVERED"));
    }
    for command in [&["dump"][..], &["status"]] {
        tampered(&place, intent);
        let said = place.run(command).success().stderr;
        assert!(said.starts_with("warning: EDIT_RECOVERED: guide.md: "), "{command:?}: {said}");
    }
}

#[test]
fn an_answer_says_that_an_interrupted_edit_cannot_be_finished() {
    let intent = "INSERT INTO edit_intent VALUES (1, 'a.md', '.mdsel-edit-0', zeroblob(32), x'')";
    let place = Place::ingested(&[("a.md", "# A\n")]);
    tampered(&place, intent);
    for name in [".mdsel.db-wal", ".mdsel.db-shm", ".mdsel.db-lock"] {
        drop(std::fs::remove_file(place.join(name)));
    }
    if let Some(answer) = as_nobody(&place, &["select", "a.md", "-f", "json"]) {
        let answer: Value = serde_json::from_slice(&answer.stdout).unwrap();
        assert_eq!(answer["results"][0]["content"], "# A\n");
        assert_eq!(answer["warnings"][0]["code"], "EDIT_OPEN", "{answer}");
    }
    let place = Place::with(&[("docs/a.md", "# A\n")]);
    place.run(&["ingest", "--root", "docs"]).success();
    tampered(&place, intent);
    std::fs::remove_dir_all(place.join("docs")).unwrap();
    let answer = place.run(&["select", "a.md"]).success().json();
    assert_eq!(answer["warnings"][0]["code"], "EDIT_OPEN", "{answer}");
    let message = answer["warnings"][0]["message"].as_str().unwrap();
    assert!(message.contains("verify --drop-edits"), "{message}");
}

#[test]
fn an_answer_says_that_its_file_cannot_be_compared() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::ingested(&[("d/e/a.md", "# A\n"), ("b.md", "# B\n")]);
    for name in [".mdsel.db-wal", ".mdsel.db-shm", ".mdsel.db-lock"] {
        drop(std::fs::remove_file(place.join(name)));
    }
    std::fs::set_permissions(place.join("d"), std::fs::Permissions::from_mode(0o700)).unwrap();
    let Some(answer) = as_nobody(&place, &["select", "d/e/a.md", "b.md", "-f", "json"]) else {
        return;
    };
    let answer: Value = serde_json::from_slice(&answer.stdout).unwrap();
    let results = &answer["results"];
    assert_eq!((&results[0]["unchecked"], &results[0]["missing"]), (&true.into(), &Value::Null));
    assert_eq!(results[1]["unchecked"], Value::Null);
    let text = as_nobody(&place, &["toc", "d/e/a.md", "-f", "text"]).unwrap();
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("d/e/a.md cannot be read, so it may have changed"), "{text}");
    let listed = as_nobody(&place, &["search", "-e", "A", "-l", "-f", "json"]).unwrap();
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let message = listed["warnings"][0]["message"].as_str().unwrap();
    assert!(message.starts_with("d/e/a.md has changed or is gone or unreadable"), "{message}");
}

#[test]
fn an_edit_that_a_reader_keeps_in_the_log_says_so() {
    let place = Place::with_fixtures();
    let log = place.join(".mdsel.db-wal");
    let length = || log.metadata().map_or(0, |log| log.len());
    let edit = ["replace", "guide.md", "Install", "--no-children", "--content", "Run it.\n"];
    let reading = reader(&place.join(".mdsel.db")).unwrap();
    let kept = place.run(&edit).success().json();
    assert_eq!(kept["warnings"][0]["code"], "LOG_KEPT", "{kept}");
    assert_ne!(length(), 0);
    drop(reading);
    place.run(&["ingest"]).success();
    assert_eq!(length(), 0);
    let merged = place
        .run(&["replace", "guide.md", "Use", "--no-children", "--content", "x\n"])
        .success()
        .json();
    assert!(merged.get("warnings").is_none(), "{merged}");
}

#[test]
fn a_store_names_no_file_that_is_not_a_document_as_one_of_an_edit() {
    let place = Place::with_fixtures();
    for path in [".git/HEAD", "LICENSE", "notes/.hidden.md"] {
        place.write(path, "text\n");
        let hash = blake3::hash(b"text\n").to_hex();
        tampered(
            &place,
            &format!(
                "INSERT INTO edit_intent VALUES (1, '{path}', '.mdsel-edit-0', x'', x'{hash}')"
            ),
        );
        let said = place.run(&["search", "install"]).success().text();
        assert!(said.contains("not finished"), "{said}");
        place.run(&["ingest"]).success();
        assert_eq!(std::fs::read_to_string(place.join(path)).unwrap(), "text\n", "{path}");
    }
}

#[test]
fn an_edit_or_a_refresh_creates_no_store() {
    let place = Place::with(&[("a.md", "# A\n\ntext\n"), ("b.md", "# B\n")]);
    let commands: [&[&str]; 6] = [
        &["replace", "a.md", "A", "--content", "x"],
        &["insert", "a.md", "A", "--content", "x"],
        &["move", "a.md", "c.md"],
        &["meta", "set", "a.md", "key=1"],
        &["search", "text", "--refresh"],
        &["replace", "a.md", "A", "--content", "x", "--refresh"],
    ];
    for command in commands {
        let refused = place.run(&[command, &["--db", "none.db"]].concat()).ends(2);
        assert_eq!(refused.code(), "STORE_NOT_FOUND", "{command:?}");
        for name in ["none.db", "none.db-lock", "none.db-fts"] {
            assert!(!place.join(name).exists(), "{command:?}: {name}");
        }
    }
}

#[test]
fn a_file_that_is_not_a_store_is_refused_and_left_alone() {
    let place = Place::with(&[
        ("a.md", "# A\n"),
        (
            "text.db",
            "not a database, but as long as its header is ........................................................",
        ),
    ]);
    let foreign = rusqlite::Connection::open(place.join("foreign.db")).unwrap();
    foreign
        .execute_batch("PRAGMA application_id = 7; CREATE TABLE t (x); INSERT INTO t VALUES (1)")
        .unwrap();
    drop(foreign);
    let unmarked = rusqlite::Connection::open(place.join("unmarked.db")).unwrap();
    unmarked.execute_batch("CREATE TABLE t (x)").unwrap();
    drop(unmarked);
    for name in ["text.db", "foreign.db", "unmarked.db"] {
        let before = std::fs::read(place.join(name)).unwrap();
        for command in [&["ingest"][..], &["select", "a.md"], &["status"]] {
            let answer = place.run(&[command, &["--db", name]].concat()).ends(2);
            assert_eq!(answer.code(), "STORE_FOREIGN", "{name}");
        }
        assert_eq!(std::fs::read(place.join(name)).unwrap(), before);
    }
    std::fs::create_dir(place.join("folder.db")).unwrap();
    assert_eq!(place.run(&["status", "--db", "folder.db"]).ends(2).code(), "STORE_FOREIGN");
    let named = place.run(&["status", "--db", "a.md"]).ends(2);
    assert_eq!(named.code(), "STORE_FOREIGN");
    assert!(named.stderr.contains("--db and MDSEL_DB name a store file"), "{}", named.stderr);
    assert!(!named.stderr.contains("move"), "{}", named.stderr);
}

#[test]
fn newer_and_tampered_stores_are_refused_untouched() {
    for (sql, code) in [
        ("CREATE TABLE later (x); PRAGMA user_version = 99", "STORE_TOO_NEW"),
        // The schema is that of this version.
        ("PRAGMA user_version = 99", "STORE_TOO_NEW"),
        ("PRAGMA user_version = 1", "STORE_CORRUPT"),
        ("CREATE VIEW v AS SELECT 1", "STORE_CORRUPT"),
        (
            "CREATE TRIGGER t AFTER INSERT ON document BEGIN DELETE FROM document; END",
            "STORE_CORRUPT",
        ),
        ("DROP TABLE title", "STORE_CORRUPT"),
    ] {
        let place = Place::ingested(&[("a.md", "# A\n")]);
        tampered(&place, sql);
        let before = std::fs::read(place.join(".mdsel.db")).unwrap();
        for command in [&["select", "a.md"][..], &["ingest"]] {
            assert_eq!(place.run(command).ends(2).code(), code, "{sql}");
        }
        assert_eq!(std::fs::read(place.join(".mdsel.db")).unwrap(), before, "{sql}");
    }
}

#[test]
fn damaged_rows_are_reported_without_a_panic() {
    for sql in [
        "UPDATE outline SET stored = x'00'",
        "UPDATE outline SET stored = zeroblob(1000)",
        "UPDATE content SET packed = x'28b52ffd'",
        "DELETE FROM content",
        "UPDATE document SET size = 1 << 40",
    ] {
        let place = Place::ingested(&[("a.md", "# A\n\ntext\n")]);
        tampered(&place, sql);
        assert_eq!(place.run(&["select", "a.md"]).ends(2).code(), "STORE_CORRUPT", "{sql}");
    }
}

#[test]
fn whoever_may_read_the_store_may_read_its_index() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::ingested(&[("a.md", "# A\n\ntext\n")]);
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let of_store = mode(&place.join(".mdsel.db"));
    for entry in std::fs::read_dir(place.join(".mdsel.db-fts")).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), of_store, "{}", path.display());
    }
}

#[test]
fn a_damaged_lineage_hides_no_document() {
    let place = Place::ingested(&[("a.md", "# Zebra\n")]);
    tampered(&place, "UPDATE meta SET value = CAST(x'ff' AS TEXT) WHERE key = 'lineage'");
    let total = || place.run(&["search", "zebra", "-c"]).success().json()["total"].clone();
    assert_eq!(total(), 1);
    tampered(&place, "UPDATE meta SET value = CAST(x'ff' AS TEXT) WHERE key = 'lineage'");
    place.write("b.md", "# Zebra\n");
    place.run(&["ingest"]).success();
    assert_eq!(total(), 2);
    place.run(&["verify"]).success();
}

#[test]
fn totals_that_differ_from_the_documents_are_repaired_and_lost_ones_are_counted() {
    let place = Place::ingested(&[("a.md", "# Zebra\n"), ("b.md", "# Yak\n")]);
    let documents = || place.run(&["status"]).success().json()["documents"].clone();
    for (damage, shown) in [("DELETE FROM totals", 2), ("UPDATE totals SET documents = 7", 7)] {
        tampered(&place, damage);
        assert_eq!(documents(), shown);
        let findings = place.run(&["verify"]).ends(1).json()["findings"].clone();
        assert_eq!(findings[0]["code"], "META_DAMAGED", "{findings}");
        place.run(&["verify", "--repair"]).success();
        assert_eq!(documents(), 2);
        std::fs::remove_file(place.join(".mdsel.db.damaged")).unwrap();
    }
}

#[test]
fn folders_that_differ_from_those_of_the_documents_are_repaired() {
    let place = Place::ingested(&[("a/b/one.md", "# One\n"), ("two.md", "# Two\n")]);
    let found = || place.run(&["toc", "b", "-f", "text"]);
    for damage in [
        "DELETE FROM folder",
        "UPDATE folder SET documents = 7",
        "UPDATE folder SET path = 'x/' WHERE path = 'a/b/'",
        "INSERT INTO folder VALUES ('y/b/', 1)",
    ] {
        assert!(found().success().text().contains("# One"), "{damage}");
        tampered(&place, damage);
        let findings = place.run(&["verify"]).ends(1).json()["findings"].clone();
        assert_eq!(findings[0]["code"], "META_DAMAGED", "{findings}");
        place.run(&["verify", "--repair"]).success();
        std::fs::remove_file(place.join(".mdsel.db.damaged")).unwrap();
    }
    assert!(found().success().text().contains("# One"));
}

#[test]
fn a_truncated_store_is_reported() {
    let place = Place::with_fixtures();
    let bytes = std::fs::read(place.join(".mdsel.db")).unwrap();
    std::fs::write(place.join(".mdsel.db"), &bytes[..bytes.len() / 2]).unwrap();
    let code = place.run(&["select", "guide.md"]).ends(2).code();
    assert_eq!(code, "STORE_CORRUPT");
}

#[test]
fn one_writer_at_a_time_and_readers_never_wait() {
    let place = Place::ingested(&[("a.md", "# A\n")]);
    let lock = std::fs::File::open(place.join(".mdsel.db-lock")).unwrap();
    lock.lock().unwrap();
    assert_eq!(place.run(&["ingest", "--wait", "0"]).ends(2).code(), "LOCKED");
    place.run(&["select", "a.md"]).success();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| place.run(&["ingest", "--wait", "20"]));
        // Without waiting, an ingest of one document ends within a second.
        std::thread::sleep(Duration::from_secs(1));
        assert!(!waiting.is_finished());
        lock.unlock().unwrap();
        waiting.join().unwrap().success();
    });
}

#[test]
fn a_program_that_locks_the_store_holds_up_writers_and_no_reader() {
    let place = Place::ingested(&[("a.md", "# A\n\nold\n")]);
    let other = rusqlite::Connection::open(place.join(".mdsel.db")).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    for reader in [&["search", "old"][..], &["read", "a.md"], &["dump"], &["verify", "--wait", "0"]]
    {
        place.run(reader).success();
    }
    let edit = ["replace", "a.md", "A", "--content", "new", "--wait"];
    let refused = place.run(&[&edit[..], &["0"]].concat()).ends(2);
    assert_eq!(refused.code(), "LOCKED");
    assert_eq!(std::fs::read_to_string(place.join("a.md")).unwrap(), "# A\n\nold\n");
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| place.run(&[&edit[..], &["20"]].concat()));
        std::thread::sleep(Duration::from_secs(1));
        assert!(!waiting.is_finished());
        other.execute_batch("COMMIT").unwrap();
        waiting.join().unwrap().success();
    });
    assert_eq!(std::fs::read_to_string(place.join("a.md")).unwrap(), "# A\n\nnew\n");
    drop(other);
    place.assert_in_step();
}

#[test]
fn first_ingests_at_once_make_one_store() {
    let place = Place::new();
    for number in 0..200 {
        place.write(&format!("{number}.md"), format!("# Title {number}\n\ntext\n"));
    }
    let answers: Vec<_> = std::thread::scope(|scope| {
        let ingests: Vec<_> =
            (0..4).map(|_| scope.spawn(|| place.run(&["ingest", "--wait", "60"]))).collect();
        ingests.into_iter().map(|ingest| ingest.join().unwrap().success().json()).collect()
    });
    let added: Vec<_> = answers.iter().map(|answer| answer["added"].as_u64().unwrap()).collect();
    assert_eq!(added.iter().sum::<u64>(), 200, "{added:?}");
    assert!(added.contains(&200), "{added:?}");
    place.run(&["verify", "--full"]).success();
    place.assert_in_step();
}

#[test]
fn a_reader_keeps_its_generation_while_a_writer_commits() {
    let place = Place::ingested(&[("a.md", "# A\n")]);
    let reader = reader(&place.join(".mdsel.db")).unwrap();
    place.write("a.md", "# A changed\n");
    place.run(&["ingest"]).success();
    let document = reader.document_at("a.md").unwrap().unwrap();
    let bytes = reader.content(&document, mdsel::position::ByteSpan::new(0, 100)).unwrap();
    assert_eq!(bytes, b"# A\n");
}

#[test]
fn after_a_writer_has_ended_the_file_alone_is_the_store() {
    let place = Place::with_fixtures();
    let log = place.join(".mdsel.db-wal");
    assert!(std::fs::metadata(log).map_or(0, |metadata| metadata.len()) == 0);
    let elsewhere = Place::new();
    std::fs::copy(place.join(".mdsel.db"), elsewhere.join(".mdsel.db")).unwrap();
    elsewhere.run(&["select", "guide.md::heading:h1[0]"]).success();
}

#[test]
fn a_killed_first_ingest_is_continued_by_the_next() {
    let place = Place::new();
    for number in 0..3000 {
        place.write(&format!("{number}.md"), format!("# Title {number}\n\ntext\n"));
    }
    for wait_ms in [5, 20, 40, 80] {
        let mut child = std::process::Command::new(crate::harness::PROGRAM)
            .arg("ingest")
            .current_dir(place.path())
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(wait_ms));
        drop(child.kill());
        child.wait().unwrap();
    }
    let report = place.run(&["ingest"]).success().json();
    let total = report["added"].as_u64().unwrap() + report["unchanged"].as_u64().unwrap();
    assert_eq!(total, 3000);
    place.run(&["ingest", "--check"]).success();
}

/// Runs the program as a user who may read and not write. `None` if this user cannot do that.
pub(crate) fn as_nobody(place: &Place, arguments: &[&str]) -> Option<std::process::Output> {
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::process::CommandExt as _;
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(place.path(), open).unwrap();
    let output = std::process::Command::new(crate::harness::PROGRAM)
        .args(arguments)
        .current_dir(place.path())
        .uid(65534)
        .gid(65534)
        .output();
    match output {
        Ok(output) => Some(output),
        Err(error) => {
            eprintln!("skipped: another user cannot run the program: {error}");
            None
        }
    }
}

#[test]
fn an_old_store_that_cannot_be_upgraded_can_be_copied() {
    let place = Place::new();
    let old = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/compat/3.db");
    std::fs::copy(old, place.join(".mdsel.db")).unwrap();
    let Some(refused) = as_nobody(&place, &["search", "install"]) else { return };
    let refused = String::from_utf8_lossy(&refused.stdout).into_owned();
    assert!(refused.contains("an earlier version wrote the store"), "{refused}");
    assert!(refused.contains("name the copy with --db"), "{refused}");
}

#[test]
fn a_store_that_cannot_be_written_answers_and_refuses_changes() {
    let place = Place::ingested(&[("a.md", "# A\n")]);
    for name in [".mdsel.db-wal", ".mdsel.db-shm", ".mdsel.db-lock"] {
        drop(std::fs::remove_file(place.join(name)));
    }
    let Some(answer) = as_nobody(&place, &["select", "a.md"]) else { return };
    assert_eq!(answer.status.code(), Some(0), "{answer:?}");
    place.write("a.md", "# A changed\n");
    let Some(refused) = as_nobody(&place, &["ingest"]) else { return };
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stdout).contains("READ_ONLY"), "{refused:?}");
    assert!(
        String::from_utf8_lossy(&refused.stdout).contains("let this user write"),
        "{refused:?}"
    );
    // What is still in the log cannot be read with these permissions.
    std::fs::write(place.join(".mdsel.db-wal"), "x").unwrap();
    let Some(refused) = as_nobody(&place, &["select", "a.md"]) else { return };
    assert!(
        String::from_utf8_lossy(&refused.stdout).contains("STORE_NEEDS_CHECKPOINT"),
        "{refused:?}"
    );
}

#[test]
fn an_index_of_another_branch_of_the_store_is_rebuilt() {
    let place = Place::ingested(&[("base.md", "# Base\n"), ("two.md", "# Two\n")]);
    let (store, base) = (place.join(".mdsel.db"), place.join("base.db"));
    std::fs::copy(&store, &base).unwrap();
    place.write("base.md", "# Zebra apple\n");
    place.run(&["ingest"]).success();
    let branch = place.join("branch.db");
    std::fs::copy(&store, &branch).unwrap();
    // The index is then of the same generation, or of an older one.
    for texts in [&["# Lion pear\n"][..], &["# Mouse\n", "# Lion pear\n"]] {
        std::fs::copy(&base, &store).unwrap();
        for text in texts {
            place.write("base.md", text);
            place.run(&["ingest"]).success();
        }
        let other = place.join("other.db");
        std::fs::copy(&store, &other).unwrap();
        std::fs::copy(&branch, &store).unwrap();
        let found = place.run(&["verify", "-f", "json"]).ends(1).json();
        assert_eq!(found["findings"][0]["code"], "INDEX_FOREIGN");
        let total = |word| place.run(&["search", word, "-c"]).json()["total"].clone();
        assert_eq!((total("zebra"), total("lion")), (1.into(), 0.into()));
        std::fs::copy(&other, &store).unwrap();
        place.run(&["ingest"]).success();
        assert_eq!((total("zebra"), total("lion")), (0.into(), 1.into()));
        place.run(&["verify"]).success();
    }
}

#[test]
fn a_store_without_tokens_gets_a_new_index_with_the_next_ingest() {
    let place = Place::ingested(&[("a.md", "# Zebra\n")]);
    tampered(&place, "DELETE FROM meta WHERE key = 'lineage'");
    let path = place.join(".mdsel.db-fts/meta.json");
    let metas = std::fs::read_to_string(&path).unwrap();
    let (before, token) = metas.split_once(r#",\"token\":\""#).unwrap();
    let (_, after) = token.split_once(r#"\""#).unwrap();
    std::fs::write(&path, format!("{before}{after}")).unwrap();
    let warning = |command: &[&str]| {
        place.run(command).success().json()["warnings"][0]["code"].as_str().map(str::to_owned)
    };
    assert_eq!(warning(&["search", "zebra"]), None);
    place.run(&["verify"]).success();
    assert_eq!(warning(&["ingest"]).as_deref(), Some("INDEX_REBUILT"));
    assert_eq!(warning(&["ingest"]), None);
    assert_eq!(warning(&["search", "zebra"]), None);
    place.run(&["verify"]).success();
}

#[test]
fn hints_name_the_store_and_the_options_that_were_given() {
    let place = Place::with(&[("docs/a.md", "# A\n"), ("docs/.b.md", "# B\n")]);
    let run =
        |arguments: &[&str]| place.run_in("docs", &[arguments, &["--db", "../x.db"]].concat(), "");
    run(&["ingest"]).success();
    let check = run(&["ingest", "--check", "--hidden"]).ends(1).json();
    let hint = check["findings"][0]["hint"].as_str().unwrap();
    assert_eq!(hint, "mdsel ingest --db ../x.db --hidden");
    place
        .run_in("docs", &words(hint)[1..].iter().map(String::as_str).collect::<Vec<_>>(), "")
        .success();
    run(&["ingest", "--check"]).success();
    std::fs::remove_dir_all(place.join("x.db-fts")).unwrap();
    let found = run(&["verify"]).ends(1).json();
    let hint = found["findings"][0]["hint"].as_str().unwrap();
    assert!(hint.contains("mdsel verify --db ../x.db --repair"), "{hint}");
    let error = run(&["ingest", "--forget", "none"]).ends(2).json();
    assert_eq!(error["error"]["hint"], "`mdsel status --db ../x.db --collections` lists them");
    let check = run(&["ingest", "--check", "--hidden=false", "--root", ".."]).ends(1).json();
    assert_eq!(check["findings"][0]["hint"], "mdsel ingest --db ../x.db --root .. --hidden=false");
    let fault = &run(&["select", "a.md::none"]).ends(1).json()["unresolved_selectors"][0];
    assert!(
        fault["message"].as_str().unwrap().contains("`mdsel toc --db ../x.db docs/a.md`"),
        "{fault}"
    );
    let advice = run(&["find", "none", "-f", "text"]).ends(1).text();
    assert!(advice.contains("`mdsel search --db ../x.db WORDS`"), "{advice}");
    let error = run(&["delete", "docs/a.md", "A", "--expect", "00"]).ends(2).json();
    let hint = error["error"]["hint"].as_str().unwrap();
    assert!(hint.contains("`mdsel read --db ../x.db 'docs/a.md::"), "{hint}");
    // A name that looks like a command stays as it is.
    let fault = &run(&["select", "`mdsel toc b`"]).ends(1).json()["unresolved_selectors"][0];
    let message = fault["message"].as_str().unwrap();
    assert!(message.contains("is named \"`mdsel toc b`\""), "{message}");
    assert!(message.contains("`mdsel find --db ../x.db '*`mdsel toc b`*'`"), "{message}");
}

#[test]
fn a_folder_of_the_index_that_cannot_be_written_is_not_called_damaged() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::with(&[("docs/a.md", "# A\n")]);
    let ingest = ["ingest", "--db", "docs/s.db", "docs"];
    place.run(&ingest).success();
    place.write("docs/a.md", "# Changed\n");
    let permit = |path: &str, mode| {
        std::fs::set_permissions(place.join(path), PermissionsExt::from_mode(mode)).unwrap();
    };
    permit("docs", 0o777);
    for path in ["docs/s.db", "docs/s.db-lock"] {
        permit(path, 0o666);
    }
    let Some(report) = as_nobody(&place, &ingest) else { return };
    assert!(report.status.success(), "{report:?}");
    let report = String::from_utf8_lossy(&report.stdout);
    assert!(report.contains("the full-text index cannot be written"), "{report}");
    // Whoever may remove its files and not write them leaves it as it is.
    permit("docs/s.db-fts", 0o777);
    let metas = || std::fs::read_to_string(place.join("docs/s.db-fts/meta.json")).unwrap();
    let before = metas();
    let Some(report) = as_nobody(&place, &ingest) else { return };
    let report = String::from_utf8_lossy(&report.stdout);
    assert!(report.contains("the full-text index cannot be written"), "{report}");
    assert_eq!(metas(), before);
}

#[test]
fn text_of_the_status_prints_a_warning_once() {
    let place = Place::with_fixtures();
    let intent =
        "INSERT INTO edit_intent VALUES (1, 'guide.md', '.mdsel-edit-0', zeroblob(32), x'')";
    tampered(&place, intent);
    let answer = place.run(&["status", "-f", "text"]).success();
    let said = answer.text() + &answer.stderr;
    assert_eq!(said.matches("EDIT_RECOVERED").count(), 1, "{said}");
}
