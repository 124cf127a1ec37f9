//! Stores on a server, as users and other programs meet them. They are skipped where there is no server; see
//! `server`.

use std::collections::BTreeSet;
use std::time::Duration;

use mdsel::error::ErrorKind;
use mdsel::glob::Globs;
use mdsel::output::Answer as _;
use mdsel::query::Session;
use mdsel::query::search::{self, PatternOptions, Query};
use mdsel::store::{
    DocumentFilter, IfAbsent, Lookup, Purpose, RankedSection, SectionFilter, Shard, Store, Under,
};
use mdsel::terms::WordQuery;
use serde_json::Value;

use crate::edit_effects::Random;
use crate::harness::{Place, copy, fixtures, ingest, repeats, search_request, store};
use crate::recovery::keeps_documents_without_settings;
use crate::server::Schema;

const FILES: [(&str, &str); 2] =
    [("a.md", "# A\n\none\n\n## B\n\ntwo\n"), ("b/c.md", "# C\n\n[a](../a.md)\n")];

#[test]
fn a_server_that_does_not_answer_is_named_without_the_password() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let place = Place::with(&FILES);
    let url = format!("postgres://me:secret@127.0.0.1:{port}/notes");
    for command in [&["status"][..], &["ingest"], &["search", "one"], &["read", "a.md", "A"]] {
        let answer = place.run(&[command, &["--db", &url]].concat()).ends(2);
        let error = &answer.json()["error"];
        assert_eq!(error["code"], "STORE_UNREACHABLE", "{error}");
        assert!(error["message"].as_str().unwrap().contains(&format!("127.0.0.1:{port}")));
        assert!(!format!("{error} {}", answer.stderr).contains("secret"), "{}", answer.stderr);
    }
}

#[test]
fn a_server_that_takes_a_connection_and_says_nothing_does_not_answer() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let place = Place::with(&FILES);
    for mode in ["disable", "prefer", "require"] {
        let url = format!("postgres://me@127.0.0.1:{port}/notes?connect_timeout=1&sslmode={mode}");
        let answer = place.run(&["search", "one", "--db", &url]).ends(2);
        let error = &answer.json()["error"];
        assert_eq!(error["code"], "STORE_UNREACHABLE", "{mode} {error}");
        assert!(error["message"].as_str().unwrap().contains(&format!("127.0.0.1:{port}")));
    }
}

#[test]
fn a_url_that_is_not_quite_one_of_postgresql_shows_no_password() {
    let place = Place::with(&FILES);
    for (url, code) in [
        ("Postgres://u:secret@127.0.0.1:1/d", "STORE_UNREACHABLE"),
        (" postgres://u:secret@127.0.0.1:1/d", "STORE_UNREACHABLE"),
        ("postgres://u:s@secret@127.0.0.1:1/d", "STORE_UNREACHABLE"),
        ("postgres://u:s?secret@127.0.0.1:1/d", "STORE_UNREACHABLE"),
        ("postgres:/u:secret@127.0.0.1:1/d", "USAGE"),
        ("mysql://u:secret@127.0.0.1:1/d", "USAGE"),
    ] {
        for command in [&["search", "x"][..], &["ingest", "."], &["ingest", "-f", "text"]] {
            let answer = place.run(&[command, &["--db", url]].concat()).ends(2);
            let (stdout, stderr) = (answer.text(), &answer.stderr);
            assert!(format!("{stdout} {stderr}").contains(code), "{url} {stdout} {stderr}");
            assert!(!format!("{stdout} {stderr}").contains("secret"), "{url} {stdout} {stderr}");
        }
    }
}

#[test]
fn the_command_line_prints_the_same() {
    let Some(schema) = Schema::new() else { return };
    prints_the_same(&schema);
}

#[test]
fn partitions_on_other_servers_print_the_same() {
    let Some(schema) = Schema::on_several() else { return };
    prints_the_same(&schema);
}

fn prints_the_same(schema: &Schema) {
    let url = schema.url();
    let place = Place::new();
    copy(&fixtures(), place.path());
    let files = place.run(&["ingest"]).success();
    // The store file is not a document, and the server has its own store.
    let server = place.run(&["ingest", "--db", &url, "--root", "."]).success();
    assert_eq!(files.json(), server.json());
    for command in [
        &["toc"][..],
        &["index", "--blocks"],
        &["find", "install"],
        &["search", "install the document", "--limit", "0"],
        &["search", "-F", "the", "-c"],
        &["search", "-e", "[A-Z]{4}", "--limit", "0"],
        &["read", "guide.md", "Use"],
        &["select", "guide.md::section", "links.md#broken"],
        &["links", "list", "links.md", "--direction", "both"],
        &["links", "check"],
        &["context", "--query", "install"],
        &["prime"],
        &["ldmd", "index", "answer.ldmd.md"],
        &["code"],
        &["tables"],
        &["tasks"],
        &["meta"],
        &["meta", "--types"],
        &["meta", "--where", "exists title"],
        &["status", "--stale"],
        &["dump"],
    ] {
        let file = place.run(command);
        let server = place.run(&[command, &["--db", &url]].concat());
        assert_eq!(file.status, server.status, "{command:?}: {}", server.stderr);
        if command[0] == "status" {
            // The root is shown from the folder of a store file.
            let counts = |answer: &Value| (answer["documents"].clone(), answer["blocks"].clone());
            assert_eq!(server.json()["trust"], "server");
            assert_eq!(counts(&file.json()), counts(&server.json()));
            continue;
        }
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let hints_without_store = text(&server.stdout).replace(&format!(" --db '{url}'"), "");
        assert_eq!(text(&file.stdout), hints_without_store, "{command:?}");
    }
}

#[test]
fn hints_name_the_server_without_the_password() {
    let Some(schema) = Schema::new() else { return };
    let place = Place::with(&FILES);
    let url = schema.url();
    place.run(&["ingest", "--db", &url, "--root", "."]).success();
    let with_password = url.replacen('@', ":secret@", 1);
    assert!(with_password.contains("secret"), "{url}");
    let shown = format!("--db '{url}'");
    for command in [&["select", "Beta"][..], &["toc", "none.md"], &["search", "beta", "-f", "text"]]
    {
        let answer = place.run(&[command, &["--db", &with_password]].concat()).ends(1).text();
        assert!(answer.contains(&shown), "{command:?}: {answer}");
        assert!(!answer.contains("secret"), "{command:?}: {answer}");
    }
}

#[test]
fn the_hint_for_a_store_that_does_not_exist_creates_it() {
    let Some(schema) = Schema::new() else { return };
    let place = Place::with(&FILES);
    let url = schema.url();
    let answer = place.run(&["search", "one", "--db", &url]).ends(2).json();
    assert_eq!(answer["error"]["code"], "STORE_NOT_FOUND");
    let hint = format!("`mdsel ingest --db '{url}' FOLDER`");
    assert!(answer["error"].to_string().contains(&hint), "{answer}");
}

#[test]
fn a_pack_can_be_loaded() {
    let Some(schema) = Schema::new() else { return };
    let place = Place::with_fixtures();
    let pack = place.run(&["dump"]).success();
    std::fs::write(place.join("pack"), &pack.stdout).unwrap();
    let url = schema.url();
    place.run(&["load", "pack", "--db", &url]).success();
    let loaded = place.run(&["dump", "--db", &url]).success();
    assert!(pack.stdout == loaded.stdout);
}

#[test]
fn a_dump_and_a_check_do_not_ask_for_each_link() {
    let Some(schema) = Schema::new() else { return };
    let (url, name) = (schema.url(), schema.name());
    let place = Place::new();
    for number in 0..50 {
        let links = (0..20).map(|other| format!("[x]({other}.md) [[{other}]] [[Title {other}]]\n"));
        let links: String = links.collect();
        place.write(&format!("{number}.md"), format!("# Title {number}\n\n{links}"));
    }
    place.run(&["ingest", "--db", &url, "--root", "."]).success();
    let scans = || -> i64 {
        let statement = "SELECT coalesce(sum(seq_scan + idx_scan), 0)::bigint FROM pg_stat_user_tables \
             WHERE schemaname = $1 AND relname LIKE 'document_%'";
        schema.client().query_one(statement, &[&name]).unwrap().get(0)
    };
    let before = scans();
    let pack = place.run(&["dump", "--db", &url]).success();
    assert_eq!(String::from_utf8_lossy(&pack.stdout).matches("\nL").count(), 50 * 20 * 3);
    let after = scans();
    assert!(after - before < 50, "{before} {after}");
    place.run(&["links", "check", "--db", &url]).success();
    assert!(scans() - after < 50, "{after} {}", scans());
}

#[test]
fn a_loaded_store_gets_its_root_from_the_first_ingest_that_names_one() {
    let Some(schema) = Schema::new() else { return };
    let url = schema.url();
    let (place, elsewhere) = (Place::with(&FILES), Place::with(&[("a.md", "# Another\n")]));
    place.run(&["ingest"]).success();
    let pack = place.run(&["dump"]).success();
    std::fs::write(place.join("pack"), &pack.stdout).unwrap();
    place.run(&["load", "pack", "--db", &url]).success();
    // The current folder is not the root.
    for command in [&["ingest"][..], &["ingest", "a.md"], &["status", "--stale"]] {
        let error = elsewhere.run(&[command, &["--db", &url]].concat()).ends(2).json();
        let hint = error["error"]["hint"].as_str().unwrap();
        assert!(error["error"]["code"] == "USAGE" && hint.contains("--root"), "{error}");
    }
    let text = elsewhere.run(&["select", "a.md", "--db", &url]).success().json();
    assert!(text.to_string().contains("# A\\n"), "{text}");
    place.run(&["copy", &url, "copy.db"]).success();
    place.run(&["ingest", "--db", "copy.db"]).success();
    place.run(&["load", "pack", "--db", &url]).success();
    place.write("a.md", "# A\n\nmore\n");
    let report = place.run(&["ingest", "--db", &url, "--root", "."]).success().json();
    assert_eq!(report["changed"], 1, "{report}");
    place.write("a.md", "# A\n\nstill more\n");
    let report = elsewhere.run(&["ingest", "--db", &url]).success().json();
    assert_eq!((&report["changed"], &report["removed"]), (&1.into(), &0.into()), "{report}");
}

#[test]
fn edits_of_two_machines_are_one_change_and_one_conflict() {
    let Some(schema) = Schema::new() else { return };
    let url = schema.url();
    let places = [Place::with(&FILES), Place::with(&FILES)];
    let edit = |place: &Place, content: &str| {
        let root = place.path().to_str().unwrap();
        place.run(&["replace", "a.md", "B", "--content", content, "--db", &url, "--root", root])
    };
    places[0].run(&["ingest", "--db", &url, "--root", "."]).success();
    edit(&places[0], "three\n").success();
    let refused = edit(&places[1], "four\n").ends(2);
    assert_eq!(refused.json()["error"]["code"], "CONFLICT");
    let text = |place: &Place| std::fs::read_to_string(place.join("a.md")).unwrap();
    assert_eq!(text(&places[0]), "# A\n\none\n\n## B\n\nthree\n");
    assert_eq!(text(&places[1]), FILES[0].1);
    let read = places[1].run(&["read", "a.md", "B", "-f", "raw", "--db", &url]).success().text();
    assert_eq!(read, "## B\n\nthree\n");
}

#[test]
fn a_writer_waits_for_another_one() {
    let Some(schema) = Schema::new() else { return };
    let place = Place::with(&FILES);
    let store = schema.store();
    ingest(&store, place.path());
    let writer = store.writer(IfAbsent::Create, Duration::ZERO).unwrap();
    let locked = place.run(&["ingest", "--wait", "0", "--db", &schema.url()]).ends(2);
    assert_eq!(locked.json()["error"]["code"], "LOCKED");
    drop(writer);
    // The server may need a moment to see that the connection is closed.
    place.run(&["ingest", "--wait", "20", "--db", &schema.url()]).success();
}

#[test]
fn after_a_lost_connection_the_next_reader_connects_again() {
    let Some(schema) = Schema::new() else { return };
    let place = Place::with(&FILES);
    let store = schema.store();
    ingest(&store, place.path());
    let count = |store: &Store| -> mdsel::error::Result<usize> {
        Ok(store.reader(Purpose::Read)?.all(&Lookup::All)?.len())
    };
    assert_eq!(count(&store).unwrap(), 2);
    let end_all = || {
        let name = schema.name();
        let statement = "SELECT pg_terminate_backend(a.pid) FROM pg_stat_activity a \
             JOIN pg_locks l ON l.pid = a.pid JOIN pg_class c ON c.oid = l.relation \
             JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1";
        schema.client().query(statement, &[&name]).unwrap()
    };
    let reader = store.reader(Purpose::Read).unwrap();
    assert!(!end_all().is_empty());
    let error = reader.all(&Lookup::All).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StoreUnreachable, "{error}");
    drop(reader);
    assert_eq!(count(&store).unwrap(), 2);
}

pub(crate) fn dump(place: &Place, db: &str) -> String {
    place.run(&["dump", "--db", db]).success().text()
}

#[test]
fn a_copy_is_equal_in_every_direction() {
    let (Some(one), Some(other)) = (Schema::new(), Schema::new()) else { return };
    let place = Place::with_fixtures();
    let file = place.join(".mdsel.db").to_str().unwrap().to_owned();
    let copied = place.join("copy.db").to_str().unwrap().to_owned();
    let stores = [file, one.url(), other.url(), copied];
    for pair in stores.windows(2) {
        let report = place.run(&["copy", &pair[0], &pair[1]]).success().json();
        assert!(report["added"].as_u64().unwrap() > 20, "{report}");
        assert_eq!(dump(&place, &pair[0]), dump(&place, &pair[1]));
        let again = place.run(&["copy", &pair[0], &pair[1]]).success().json();
        assert_eq!((&again["added"], &again["changed"]), (&0.into(), &0.into()), "{again}");
    }
    for store in &stores {
        let findings = place.run(&["verify", "--reparse", "--db", store]).success().json();
        assert_eq!(findings["findings"], Value::Array(Vec::new()), "{store}");
    }
    let search =
        |db: &str| place.run(&["search", "install the document", "--db", db]).success().text();
    assert_eq!(search(&stores[0]), search(&stores[1]));
    assert_eq!(search(&stores[0]), search(&stores[3]));
    place.write("guide.md", "# Changed\n");
    place.remove("links.md");
    place.run(&["ingest"]).success();
    let report = place.run(&["copy", &stores[0], &stores[1]]).success().json();
    assert_eq!((&report["changed"], &report["removed"]), (&1.into(), &1.into()), "{report}");
    assert_eq!(dump(&place, &stores[0]), dump(&place, &stores[1]));
}

#[test]
fn a_document_with_a_long_path_is_stored_or_skipped_alone() {
    let Some(schema) = Schema::new() else { return };
    let url = schema.url();
    let place = Place::with(&FILES);
    let mut random = Random(11);
    let mut path = |folders: usize, length: usize| {
        let mut letter = || char::from(b"abcdefghijklmnopqrstuvwxyz0123456789"[random.below(36)]);
        let folder = |_| (0..length).map(|_| letter()).chain(['/']).collect::<String>();
        (0..folders).map(folder).collect::<String>() + "a.md"
    };
    let taken = path(10, 250);
    let folded = "\u{130}".repeat(100) + "/";
    let skipped = [path(11, 250), folded.repeat(9) + "a.md"];
    for path in skipped.iter().chain([&taken]) {
        place.write(path, "# Long\n");
    }
    for store in [".mdsel.db", &url] {
        let report = place.run(&["ingest", "--db", store, "--root", "."]).success().json();
        let left_out = report["skipped"].as_array().unwrap().iter();
        let left_out: BTreeSet<&str> = left_out.map(|one| one["file"].as_str().unwrap()).collect();
        assert_eq!(left_out, skipped.iter().map(String::as_str).collect(), "{report}");
        assert_eq!(report["added"], 3, "{report}");
        place.run(&["toc", &taken, "--db", store]).success();
    }
}

#[test]
fn a_check_finds_what_was_changed_on_the_server() {
    let Some(schema) = Schema::new() else { return };
    let url = schema.url();
    let name = schema.name();
    let place = Place::with(&FILES);
    place.run(&["ingest", "--db", &url]).success();
    let statement = format!(
        "UPDATE {name}.derived v SET tags = '\\x61ff' FROM {name}.document d \
         WHERE d.id = v.document AND d.path = 'a.md'"
    );
    schema.client().batch_execute(&statement).unwrap();
    let findings = place.run(&["verify", "--db", &url]).ends(1).json();
    assert_eq!(findings["findings"][0]["code"], "ROWS_DAMAGED", "{findings}");
    assert_eq!(findings["findings"][0]["file"], "a.md", "{findings}");
    place.run(&["ingest", "--force", "--db", &url]).success();
    place.run(&["verify", "--db", &url]).success();
}

#[test]
fn a_check_finds_that_keys_or_the_index_are_gone_from_the_server() {
    let Some(schema) = Schema::new() else { return };
    let (url, name) = (schema.url(), schema.name());
    let place = Place::with(&FILES);
    place.write("tagged.md", "---\ntags: [one/two]\n---\n# T\n\n- [ ] task\n");
    place.run(&["ingest", "--db", &url, "--root", "."]).success();
    place.run(&["verify", "--db", &url]).success();
    for (table, code, count) in [("key", "ROWS_DAMAGED", 3), ("segment", "INDEX_DIFFERS", 1)] {
        schema.client().batch_execute(&format!("DELETE FROM {name}.{table}")).unwrap();
        let findings = place.run(&["verify", "--db", &url]).ends(1).json()["findings"].clone();
        let codes = findings.as_array().unwrap().iter().map(|one| one["code"].as_str().unwrap());
        assert_eq!(codes.collect::<Vec<_>>(), vec![code; count], "{findings}");
        place.run(&["ingest", "--force", "--db", &url]).success();
        place.run(&["verify", "--db", &url]).success();
    }
    let found = place.run(&["find", "*", "--tag", "one", "--db", &url]).success().json();
    assert_eq!(found["matches"].as_array().map(Vec::len), Some(1), "{found}");
    place.run(&["search", "two", "--db", &url]).success();
}

#[test]
fn an_ingest_of_all_documents_again_replaces_a_damaged_index() {
    for schema in [Schema::new(), Schema::on_several()].into_iter().flatten() {
        let (url, name) = (schema.url(), schema.name());
        let place = Place::with(&FILES);
        for number in 0..20 {
            place.write(&format!("{number}.md"), format!("# N{number}\n\nfiller\n"));
        }
        place.run(&["ingest", "--db", &url, "--root", "."]).success();
        let searches = [&["search", "two"][..], &["search", "filler"], &["search", "-F", "two"]];
        for damage in [
            "posting SET entries = '\\xffff'",
            "trigram SET entries = '\\xffff'",
            "segment SET documents = '\\xffff'",
        ] {
            schema.client().batch_execute(&format!("UPDATE {name}.{damage}")).unwrap();
            let code = |search: &&[&str]| {
                let answer = place.run(&[*search, &["--db", &url]].concat());
                answer.json()["error"]["code"].as_str().map(str::to_owned)
            };
            let codes: Vec<_> = searches.iter().filter_map(code).collect();
            assert!(codes.contains(&"STORE_CORRUPT".to_owned()), "{damage}");
            place.run(&["ingest", "--force", "--db", &url]).success();
            for search in searches {
                place.run(&[search, &["--db", &url]].concat()).success();
            }
            place.write("a.md", "# A\n\none\n\n## B\n\ntwo more\n");
            place.run(&["ingest", "--db", &url]).success();
            place.run(&["verify", "--db", &url]).success();
        }
    }
}

#[test]
fn a_check_finds_that_a_document_is_gone_from_the_server() {
    let Some(schema) = Schema::new() else { return };
    let (url, name) = (schema.url(), schema.name());
    let place = Place::with(&FILES);
    place.run(&["ingest", "--db", &url, "--root", "."]).success();
    // Documents that a change replaced or removed are not missing.
    for round in 0..10 {
        place.write("a.md", format!("# A {round}\n"));
        place.run(&["ingest", "--db", &url]).success();
        place.run(&["verify", "--db", &url]).success();
    }
    let statement = format!("DELETE FROM {name}.document WHERE path = 'b/c.md'");
    schema.client().batch_execute(&statement).unwrap();
    let findings = place.run(&["verify", "--db", &url]).ends(1).json()["findings"].clone();
    assert_eq!(findings[0]["code"], "INDEX_DIFFERS", "{findings}");
    assert!(findings[0]["message"].as_str().unwrap().contains("1 document"), "{findings}");
    place.run(&["ingest", "--db", &url]).success();
    let Some(new) = Schema::new() else { return };
    place.run(&["copy", &url, &new.url()]).success();
    place.run(&["verify", "--db", &new.url()]).success();
    assert_eq!(dump(&place, &url), dump(&place, &new.url()));
}

#[test]
fn an_ingest_of_a_folder_without_files_keeps_the_documents() {
    let Some(schema) = Schema::new() else { return };
    let url = schema.url();
    let (place, empty) = (Place::with(&FILES), Place::new());
    place.run(&["ingest", "--db", &url, "--root", "."]).success();
    let before = dump(&place, &url);
    let shards = ["1/2", "2/2"].map(|shard| vec!["--shard", shard, "--ingest-id", "x"]);
    for more in [Vec::new()].into_iter().chain(shards) {
        let command = [&["ingest", "--db", &url, "--root", "."][..], &more].concat();
        let report = empty.run(&command).success().json();
        let warnings = report["warnings"].as_array().unwrap();
        assert!(warnings.iter().any(|warning| warning["code"] == "NO_FILE"), "{more:?} {report}");
        assert_eq!(report["removed"], 0, "{report}");
    }
    assert!(dump(&place, &url) == before);
    // A part of an ingest may have no files.
    place.remove("a.md");
    for shard in 1..=5 {
        let shard = format!("{shard}/5");
        let command =
            ["ingest", "--db", &url, "--root", ".", "--shard", &shard, "--ingest-id", "y"];
        place.run(&command).success();
    }
    let status = place.run(&["status", "--db", &url]).success().json();
    assert_eq!(status["documents"], 1, "{status}");
}

#[test]
fn a_damaged_document_without_a_file_can_be_loaded_again() {
    let Some(schema) = Schema::new() else { return };
    let (url, name) = (schema.url(), schema.name());
    let (place, machine) = (Place::with(&FILES), Place::new());
    place.run(&["ingest"]).success();
    let pack = place.run(&["dump"]).success();
    std::fs::write(machine.join("pack"), &pack.stdout).unwrap();
    machine.run(&["load", "pack", "--db", &url]).success();
    let statement = format!(
        "UPDATE {name}.content c SET bytes = '\\x61ff' FROM {name}.document d \
         WHERE c.place / 4096 = d.id AND d.path = 'a.md'"
    );
    schema.client().batch_execute(&statement).unwrap();
    machine.run(&["ingest", "--force", "--db", &url, "--root", "."]).success();
    let finding = machine.run(&["verify", "--db", &url]).ends(1).json()["findings"][0].clone();
    assert_eq!(finding["code"], "BYTES_DAMAGED", "{finding}");
    assert!(finding["hint"].as_str().unwrap().contains("if it has no file"), "{finding}");
    machine.run(&["ingest", "--db", &url, "--root", ".", "a.md"]).success();
    machine.run(&["load", "pack", "--db", &url]).success();
    machine.run(&["verify", "--db", &url]).success();
    assert!(dump(&machine, &url).as_bytes() == pack.stdout);
}

#[test]
fn a_server_with_damaged_settings_says_so_and_keeps_its_documents() {
    let Some(schema) = Schema::new() else { return };
    let cut = format!("UPDATE {}.store SET options = left(options, 20)", schema.name());
    keeps_documents_without_settings(&["--db", &schema.url()], || {
        schema.client().batch_execute(&cut).unwrap();
    });
}

#[test]
fn parts_of_an_ingest_that_give_damaged_settings_again_keep_all_documents() {
    let Some(schema) = Schema::new() else { return };
    let url = schema.url();
    let place = Place::with(&FILES);
    for number in 0..20 {
        place.write(&format!("{number}.txt"), "t\n");
    }
    place.run(&["ingest", "--db", &url, "--root", ".", "--ext", "md,txt"]).success();
    let cut = format!("UPDATE {}.store SET options = left(options, 20)", schema.name());
    schema.client().batch_execute(&cut).unwrap();
    for shard in ["1/2", "2/2"] {
        let part = ["--ext", "md", "--shard", shard, "--ingest-id", "x"];
        let report = place.run(&[&["ingest", "--db", &url], &part[..]].concat()).success().json();
        assert_eq!(report["removed"], 0, "{report}");
    }
    let report = place.run(&["ingest", "--db", &url]).success().json();
    assert_eq!((&report["removed"], &report["unchanged"]), (&0.into(), &22.into()), "{report}");
}

/// The number of rows of generations that are not complete.
fn incomplete(schema: &Schema) -> i64 {
    let name = schema.name();
    let statement =
        format!("SELECT count(*) FROM {name}.document WHERE gen_from >= 1::bigint << 62");
    schema.client().query_one(&statement, &[]).unwrap().get(0)
}

#[test]
fn parts_of_an_ingest_are_seen_when_all_are_in() {
    let Some(schema) = Schema::new() else { return };
    let url = schema.url();
    let place = Place::with_fixtures();
    let part = |part: &str, name: &str| {
        place.run(&["ingest", "--shard", part, "--ingest-id", name, "--db", &url, "--root", "."])
    };
    let count = || place.run(&["status", "--db", &url]).success().json()["documents"].clone();
    for (name, removed) in [("first", "links.md"), ("second", "headings.md")] {
        let before = if name == "first" { Value::from(0) } else { count() };
        for index in ["2/3", "1/3"] {
            let report = part(index, name).success().json();
            assert_eq!(report["warnings"][0]["code"], "INGEST_INCOMPLETE", "{report}");
            assert_eq!(count(), before);
        }
        assert_eq!(part("2/4", name).ends(2).json()["error"]["code"], "USAGE");
        // A part can be done again.
        part("1/3", name).success();
        part("3/3", name).success();
        assert_eq!(incomplete(&schema), 0);
        drop(place.run(&["ingest", "--db", "fresh.db", "--root", "."]).success());
        assert_eq!(dump(&place, &url), dump(&place, "fresh.db"));
        place.write("guide.md", "# Changed\n\ninstall\n");
        place.write("added.md", "# Added\n");
        place.remove(removed);
    }
    place.run(&["ingest", "--db", &url]).success();
    place.run(&["verify", "--reparse", "--db", &url]).success();
}

#[test]
fn what_a_dead_worker_wrote_is_deleted_by_the_next_ingest_in_parts() {
    let Some(schema) = Schema::new() else { return };
    let url = schema.url();
    let place = Place::with_fixtures();
    let part = |name: &str, part: &str| {
        let part = ["ingest", "--shard", part, "--ingest-id", name, "--db", &url, "--root", "."];
        place.run(&part).success().json()
    };
    part("dead", "1/2");
    assert!(incomplete(&schema) > 0);
    let dropped = &part("next", "1/2")["warnings"][0];
    assert_eq!(dropped["code"], "INGEST_DROPPED", "{dropped}");
    let message = dropped["message"].as_str().unwrap();
    assert!(message.starts_with("the ingest \"dead\" was not complete"), "{message}");
    assert!(message.contains("1 of 2 parts"), "{message}");
    let report = part("next", "2/2");
    assert_eq!(report["generation"], 1, "{report}");
    assert_eq!(incomplete(&schema), 0);
    assert_eq!(dump(&place, &url), dump(&place, ".mdsel.db"));
}

#[test]
fn a_part_keeps_the_options_that_others_store_meanwhile() {
    let Some(schema) = Schema::new() else { return };
    let url = schema.url();
    let place = Place::with(&[("docs/a.md", "# A\n"), ("wiki/w.md", "# W\n")]);
    place.run(&["ingest", "docs", "--db", &url, "--root", "docs"]).success();
    let shard = Shard { index: 0, count: 1, ingest: "one".to_owned() };
    let mut part = schema.store().shard_writer(&shard, Duration::ZERO).unwrap();
    let collection = ["ingest", "--collection", "wiki", "wiki", "--db", &url];
    place.run(&collection).success();
    let mut options = part.options().unwrap().unwrap();
    options.hidden = true;
    part.set_up("ignored", &options).unwrap();
    part.complete().unwrap();
    let status = place.run(&["status", "--db", &url]).success().json();
    assert_eq!(status["options"]["hidden"], true, "{status}");
    assert!(status["options"]["collections"]["wiki"].is_object(), "{status}");
}

#[test]
fn options_of_an_ingest_in_parts_are_those_of_the_store_when_all_parts_are_in() {
    let Some(schema) = Schema::new() else { return };
    let url = schema.url();
    let place = Place::with(&[("docs/a.md", "# A\n"), ("docs/.b.md", "# B\n")]);
    let run = |arguments: &[&str]| {
        place.run(&[arguments, &["--db", &url, "--root", "docs"]].concat()).success().json()
    };
    run(&["ingest"]);
    // A store of an older version has no place for them.
    let name = schema.name();
    let statement = format!(
        "ALTER TABLE {name}.ingest DROP COLUMN options, DROP COLUMN options_before; \
         UPDATE {name}.store SET format = 3"
    );
    schema.client().batch_execute(&statement).unwrap();
    let option = |name: &str| run(&["status"])["options"][name].clone();
    run(&["ingest", "--shard", "1/2", "--ingest-id", "given up", "--no-ignore"]);
    assert_eq!(option("no_ignore"), false);
    run(&["ingest", "--shard", "1/2", "--ingest-id", "a", "--hidden"]);
    assert_eq!(option("hidden"), false);
    // The other parts have the options that one of them was given.
    run(&["ingest", "--shard", "2/2", "--ingest-id", "a"]);
    assert_eq!((option("hidden"), option("no_ignore")), (true.into(), false.into()));
    assert_eq!(run(&["status"])["documents"], 2);
}

#[test]
fn a_collection_that_is_forgotten_between_two_parts_stays_forgotten() {
    let Some(schema) = Schema::new() else { return };
    let url = schema.url();
    let place = Place::with(&[("docs/a.md", "# A\n")]);
    for number in 0..8 {
        place.write(&format!("wiki/{number}.md"), format!("# W{number}\n"));
    }
    let run = |arguments: &[&str]| {
        place.run(&[arguments, &["--db", &url, "--root", "docs"]].concat()).success().json()
    };
    run(&["ingest"]);
    run(&["ingest", "--collection", "wiki", "wiki"]);
    run(&["ingest", "--shard", "1/2", "--ingest-id", "a", "--force"]);
    assert_eq!(run(&["ingest", "--forget", "wiki"])["removed"], 8);
    run(&["ingest", "--shard", "2/2", "--ingest-id", "a", "--force"]);
    assert_eq!(run(&["status"])["documents"], 1);
    assert_eq!(run(&["ingest"])["unchanged"], 1);
    run(&["verify", "--reparse"]);
}

#[test]
fn collections_are_beside_the_root_of_each_machine() {
    let Some(schema) = Schema::new() else { return };
    let url = schema.url();
    let place = Place::with(&[
        ("one/docs/a.md", "# A\n"),
        ("one/wiki/w.md", "# W\n"),
        ("two/docs/a.md", "# A\n"),
        ("two/wiki/w.md", "# W\n"),
    ]);
    let run = |machine: &str, arguments: &[&str]| {
        let arguments = [arguments, &["--db", &url, "--root", "docs"]].concat();
        place.run_in(machine, &arguments, "").success()
    };
    run("one", &["ingest"]);
    run("one", &["ingest", "--collection", "wiki", "wiki"]);
    let collections = run("two", &["status", "--collections"]).json();
    assert_eq!(collections["wiki"]["root"], "../wiki", "{collections}");
    place.write("two/wiki/w.md", "# Changed\n");
    assert_eq!(run("two", &["ingest"]).json()["changed"], 1);
    run("two", &["replace", "wiki/w.md", "Changed", "--content", "text"]);
    let text = |machine: &str| {
        std::fs::read_to_string(place.join(&format!("{machine}/wiki/w.md"))).unwrap()
    };
    assert_eq!((text("one"), text("two")), ("# W\n".into(), "# Changed\n\ntext\n".into()));
    assert!(!dump(&place, &url).contains(place.path().to_str().unwrap()));
    // An older version stored the folder of the first machine.
    let name = schema.name();
    let absolute = place.join("one/wiki").canonicalize().unwrap();
    let statement = format!(
        "UPDATE {name}.store SET options = replace(options, '../wiki', '{}')",
        absolute.display()
    );
    schema.client().batch_execute(&statement).unwrap();
    assert_eq!(run("one", &["ingest"]).json()["changed"], 1);
}

#[test]
fn an_edit_by_another_parser_version_is_noted() {
    let Some(schema) = Schema::new() else { return };
    let url = schema.url();
    let name = schema.name();
    let place = Place::with(&FILES);
    let version = || -> i64 {
        let statement = format!("SELECT parser FROM {name}.store");
        schema.client().query_one(&statement, &[]).unwrap().get(0)
    };
    let run = |arguments: &[&str]| {
        place.run(&[arguments, &["--db", &url, "--root", "."]].concat()).success().json()
    };
    run(&["ingest"]);
    let current = version();
    let set = format!("UPDATE {name}.store SET parser = 99");
    schema.client().batch_execute(&set).unwrap();
    run(&["replace", "a.md", "B", "--content", "text"]);
    assert_eq!(version(), 0);
    run(&["ingest"]);
    assert_eq!(version(), current);
    schema.client().batch_execute(&set).unwrap();
    run(&["ingest", "--shard", "1/1", "--ingest-id", "a"]);
    assert_eq!(version(), 0);
}

#[test]
fn a_refresh_without_the_root_keeps_the_documents() {
    let Some(schema) = Schema::new() else { return };
    let url = schema.url();
    let place = Place::with(&[("docs/a.md", "# A\n")]);
    place.run(&["ingest", "--db", &url, "--root", "docs"]).success();
    std::fs::rename(place.join("docs"), place.join("away")).unwrap();
    for root in [&[][..], &["--root", "nowhere"]] {
        let refused = place.run(&[&["select", "a.md", "--refresh", "--db", &url], root].concat());
        assert_eq!(refused.ends(2).code(), "IO");
    }
    place.run(&["select", "a.md", "--db", &url]).success();
}

#[test]
fn loaded_documents_stay_on_a_server_until_they_have_files() {
    let Some(schema) = Schema::new() else { return };
    let url = schema.url();
    let (pack, place) = (Place::ingested(&FILES), Place::with(&[("docs/own.md", "# Own\n")]));
    std::fs::write(place.join("a.pack"), pack.run(&["dump"]).success().stdout).unwrap();
    let run = |arguments: &[&str]| {
        place.run(&[arguments, &["--db", &url, "--root", "docs"]].concat()).success().json()
    };
    run(&["load", "a.pack"]);
    let report = run(&["ingest"]);
    assert_eq!(report["warnings"][0]["code"], "NO_FILE", "{report}");
    assert_eq!((&report["added"], &report["unchanged"]), (&1.into(), &2.into()), "{report}");
    run(&["ingest", "--shard", "1/1", "--ingest-id", "a"]);
    run(&["search", "own", "--refresh"]);
    assert_eq!(run(&["status"])["documents"], 3);
    place.write("docs/a.md", "# Other\n");
    assert_eq!(run(&["ingest"])["changed"], 1);
    place.remove("docs/a.md");
    assert_eq!(run(&["ingest"])["removed"], 1);
}

#[test]
fn a_part_does_not_take_back_what_was_loaded_meanwhile() {
    let Some(schema) = Schema::new() else { return };
    let url = schema.url();
    let place = Place::with(&[("docs/own.md", "# Own\n")]);
    for (name, title) in [("1.pack", "First"), ("2.pack", "Second")] {
        let files = ["a.md", "b.md", "c.md", "d.md"].map(|file| (file, format!("# {title}\n")));
        let files: Vec<_> = files.iter().map(|(file, text)| (*file, text.as_str())).collect();
        let pack = Place::ingested(&files).run(&["dump"]).success().stdout;
        std::fs::write(place.join(name), pack).unwrap();
    }
    let run = |arguments: &[&str]| {
        place.run(&[arguments, &["--db", &url, "--root", "docs"]].concat()).success().json()
    };
    run(&["load", "1.pack"]);
    run(&["ingest", "--force", "--ingest-id", "a", "--shard", "1/2"]);
    run(&["load", "2.pack", "--strategy", "overwrite"]);
    run(&["ingest", "--force", "--ingest-id", "a", "--shard", "2/2"]);
    let found = run(&["search", "-F", "# Second", "-l"]);
    assert_eq!(found["files"].as_array().unwrap().len(), 4, "{found}");
}

/// The code and the message of the error of a command.
fn error_of(place: &Place, command: &[&str], url: &str) -> (String, String) {
    let error = place.run(&[command, &["--db", url]].concat()).ends(2).json()["error"].clone();
    (error["code"].as_str().unwrap().to_owned(), error["message"].as_str().unwrap().to_owned())
}

#[test]
fn a_schema_that_holds_a_partition_is_not_a_store() {
    let Some(schema) = Schema::on_several() else { return };
    let place = Place::new();
    copy(&fixtures(), place.path());
    place.run(&["ingest", "--db", &schema.url(), "--root", "."]).success();
    let before = dump(&place, &schema.url());
    let other = Place::with(&FILES);
    for command in [&["ingest", "--root", "."][..], &["status"], &["search", "one"]] {
        let (code, message) = error_of(&other, command, &schema.url_of_node(0));
        assert_eq!(code, "STORE_FOREIGN", "{command:?} {message}");
        assert!(message.contains("partitions of a store on another server"), "{message}");
    }
    assert!(dump(&place, &schema.url()) == before);
}

#[test]
fn a_pooler_that_leaves_out_the_schema_is_an_error() {
    let Some(schema) = Schema::new() else { return };
    let place = Place::with(&FILES);
    let url = schema.url_of_pooler();
    for _ in 0..2 {
        for command in [&["status"][..], &["search", "one"], &["ingest", "--root", "."]] {
            let (code, message) = error_of(&place, command, &url);
            assert_eq!(code, "STORE_UNREACHABLE", "{command:?} {message}");
            assert!(message.contains("search_path"), "{message}");
        }
        place.run(&["ingest", "--db", &schema.url(), "--root", "."]).success();
    }
}

#[test]
fn a_user_without_rights_on_the_schema_gets_an_error_of_rights() {
    let Some(schema) = Schema::new() else { return };
    let place = Place::with(&FILES);
    let user = schema.name();
    schema.client().batch_execute(&format!("CREATE ROLE {user} LOGIN")).unwrap();
    place.run(&["ingest", "--db", &schema.url(), "--root", "."]).success();
    let url = schema.url_as(user);
    for command in [&["status"][..], &["ingest"]] {
        let (code, message) = error_of(&place, command, &url);
        assert_eq!(code, "READ_ONLY", "{command:?} {message}");
        assert!(message.contains("permission denied for schema"), "{message}");
    }
    let grant = format!(
        "GRANT USAGE ON SCHEMA {user} TO {user}; GRANT SELECT ON ALL TABLES IN SCHEMA {user} TO {user}"
    );
    schema.client().batch_execute(&grant).unwrap();
    place.run(&["search", "one", "--db", &url]).success();
    schema.client().batch_execute(&format!("DROP OWNED BY {user}; DROP ROLE {user}")).unwrap();
}

#[test]
fn a_schema_with_other_tables_is_not_a_store() {
    let place = Place::with(&FILES);
    for (table, reading) in [
        ("store (x text)", "STORE_FOREIGN"),
        ("store (identity text)", "STORE_FOREIGN"),
        ("document (x text)", "STORE_NOT_FOUND"),
    ] {
        let Some(schema) = Schema::new() else { return };
        let name = schema.name();
        let statements = format!("CREATE SCHEMA {name}; CREATE TABLE {name}.{table}");
        schema.client().batch_execute(&statements).unwrap();
        for (command, expected) in [
            (&["status"][..], reading),
            (&["ingest", "--root", "."], "STORE_FOREIGN"),
            (&["verify"], reading),
        ] {
            let (code, message) = error_of(&place, command, &schema.url());
            assert_eq!(code, expected, "{table} {command:?} {message}");
        }
    }
}

#[test]
fn a_schema_can_have_the_name_of_a_keyword_or_a_number() {
    let Some(schema) = Schema::new() else { return };
    let place = Place::with(&FILES);
    for name in ["user", "order", "default", "1abc"] {
        let url = schema.url().replace(schema.name(), name);
        place.run(&["ingest", "--db", &url, "--root", "."]).success();
        place.run(&["search", "one", "--db", &url]).success();
        let drop_schema = format!("DROP SCHEMA \"{name}\" CASCADE");
        schema.client().batch_execute(&drop_schema).unwrap();
    }
}

#[test]
fn a_user_whose_idle_transactions_end_can_read_and_write() {
    let Some(schema) = Schema::new() else { return };
    let place = Place::with(&FILES);
    let user = schema.name();
    let role = format!(
        "CREATE ROLE {user} SUPERUSER LOGIN; \
         ALTER ROLE {user} SET idle_in_transaction_session_timeout = '1ms'"
    );
    schema.client().batch_execute(&role).unwrap();
    let url = schema.url_as(user);
    place.run(&["ingest", "--db", &url, "--root", "."]).success();
    place.run(&["search", "one", "--db", &url]).success();
    schema.client().batch_execute(&format!("DROP OWNED BY {user}; DROP ROLE {user}")).unwrap();
}

#[test]
fn a_connection_that_only_reads_says_how_to_write() {
    let Some(schema) = Schema::new() else { return };
    let place = Place::with(&FILES);
    let url = schema.url();
    let mut command = place.command("", &["ingest", "--db", &url, "--root", "."]);
    command.env("PGOPTIONS", "-c default_transaction_read_only=on");
    let answer: Value = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
    let error = &answer["error"];
    assert_eq!(error["code"], "READ_ONLY", "{error}");
    assert!(error["hint"].as_str().unwrap().contains("default_transaction_read_only"), "{error}");
}

#[test]
fn a_database_of_another_encoding_gets_no_store() {
    let Some(schema) = Schema::new() else { return };
    let place = Place::with(&FILES);
    let name = schema.name();
    let mut client = schema.client();
    let create = format!("CREATE DATABASE {name} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
    client.batch_execute(&create).unwrap();
    let url = schema.url().replacen("/mdsel?", &format!("/{name}?"), 1);
    let (code, message) = error_of(&place, &["ingest", "--root", "."], &url);
    client.batch_execute(&format!("DROP DATABASE {name}")).unwrap();
    assert_eq!(code, "USAGE", "{message}");
    assert!(message.contains("LATIN1"), "{message}");
}

#[test]
fn an_interrupted_edit_in_another_folder_is_reported() {
    let Some(schema) = Schema::new() else { return };
    let url = schema.url();
    let name = schema.name();
    let place = Place::with(&FILES);
    place.run(&["ingest", "--db", &url]).success();
    let statement = format!(
        "INSERT INTO {name}.edit_intent (path, temporary, old_hash, new_hash, owner) \
         VALUES ('a.md', '.mdsel-edit-0', '', '', '7 /moved/docs')"
    );
    schema.client().batch_execute(&statement).unwrap();
    let findings = place.run(&["verify", "--db", &url]).ends(1).json();
    let finding = &findings["findings"][0];
    assert_eq!((&finding["code"], &finding["file"]), (&"EDIT_OPEN".into(), &"a.md".into()));
    assert!(finding["message"].as_str().unwrap().contains("/moved/docs"), "{finding}");
    let command = format!("mdsel verify --db '{url}' --drop-edits");
    assert!(finding["hint"].as_str().unwrap().contains(&command), "{finding}");
    // A folder on this machine is not gone, so the edit can be finished there.
    std::fs::create_dir(place.join("other")).unwrap();
    let folder = place.join("other").canonicalize().unwrap();
    let inode = std::os::unix::fs::MetadataExt::ino(&folder.metadata().unwrap());
    let owner = |owner: &str| {
        let statement = format!("UPDATE {name}.edit_intent SET owner = '{owner}'");
        schema.client().batch_execute(&statement).unwrap();
    };
    owner(&format!("{inode} {}", folder.display()));
    let kept = place.run(&["verify", "--drop-edits", "--db", &url]).ends(1).json();
    assert_eq!(kept["findings"][0]["code"], "EDIT_OPEN", "{kept}");
    owner("7 /moved/docs");
    let dropped = place.run(&["verify", "--drop-edits", "--db", &url]).success().json();
    assert_eq!(dropped["warnings"][0]["code"], "EDIT_DROPPED", "{dropped}");
    place.run(&["verify", "--db", &url]).success();
}

#[test]
fn a_server_of_a_partition_that_does_not_commit_is_named() {
    for node in [0, 1] {
        let Some(schema) = Schema::on_several() else { return };
        let (url, place) = (schema.url(), Place::with_fixtures());
        schema.fail_at_commit(node, Some("INSERT"));
        let nodes = std::env::var("MDSEL_POSTGRES_NODES").unwrap();
        let named = nodes.split_whitespace().nth(node).unwrap();
        let named = named.split_once('@').unwrap().1.split_once('/').unwrap().0;
        // While many tables are created by others, the first server may drop all its connections, and then each
        // server that has a partition is named.
        let is_named_alone = (0..10).any(|_| {
            let error = place.run(&["ingest", "--db", &url, "--root", "."]).ends(2).json();
            let message = error["error"]["message"].as_str().unwrap().to_owned();
            let (hosts, _) = message.split_once(" (a partition): ").expect(&message);
            assert!(hosts.split(", ").any(|host| host == named), "{message}");
            hosts == named
        });
        assert!(is_named_alone, "{named}");
    }
}

#[test]
fn a_change_that_one_of_several_servers_does_not_commit_is_visible_on_all_or_on_none() {
    // What follows the failed change: the same part again, another change, or an ingest in one part.
    for (follower, node) in [("part", 0), ("part", 1), ("edit", 1), ("whole", 0), ("whole", 1)] {
        let Some(schema) = Schema::on_several() else { return };
        let (url, place) = (schema.url(), Place::new());
        let write = |word: &str| {
            for number in 0..40 {
                place.write(&format!("d{number}.md"), format!("# D{number}\n\n{word}\n"));
            }
        };
        let run =
            |arguments: &[&str]| place.run(&[arguments, &["--db", &url, "--root", "."]].concat());
        let part = |part: &str| run(&["ingest", "--shard", part, "--ingest-id", "again"]);
        let count = |word: &str| {
            let found = place.run(&["search", "-l", word, "--db", &url]);
            found.json()["files"].as_array().unwrap().len()
        };
        write("first");
        run(&["ingest"]).success();
        write("second");
        place.remove("d7.md");
        if follower == "whole" {
            schema.fail_at_commit(node, Some("INSERT OR UPDATE"));
            run(&["ingest"]).ends(2);
        } else {
            part("1/2").success();
            schema.fail_at_commit(node, Some("UPDATE"));
            part("2/2").ends(2);
        }
        assert_eq!((count("first"), count("second")), (40, 0), "{follower} {node}");
        schema.fail_at_commit(node, None);
        match follower {
            "part" => drop(part("2/2").success()),
            "edit" => {
                let edit = ["replace", "d1.md", "D1", "--content", "second\n\nthird\n"];
                assert_eq!(run(&edit).success().json()["file"], "d1.md");
            }
            _ => {
                write("third");
                drop(part("1/1").success());
                assert_eq!(count("second"), 0, "{node}");
            }
        }
        assert_eq!(count("first"), 0, "{follower} {node}");
        assert_eq!(incomplete(&schema), 0);
        place.run(&["verify", "--db", &url]).success();
        drop(place.run(&["ingest", "--db", "fresh.db", "--root", "."]).success());
        assert_eq!(dump(&place, &url), dump(&place, "fresh.db"), "{follower} {node}");
    }
}

#[test]
fn a_part_that_could_not_be_deleted_on_all_servers_is_not_in() {
    for node in [0, 1] {
        let Some(schema) = Schema::on_several() else { return };
        let (url, place) = (schema.url(), Place::new());
        let write = |word: &str| {
            for number in 0..40 {
                place.write(&format!("d{number}.md"), format!("# D{number}\n\n{word}\n"));
            }
        };
        let part = |part: &str| {
            let part = ["ingest", "--shard", part, "--ingest-id", "a", "--db", &url, "--root", "."];
            place.run(&part)
        };
        write("first");
        place.run(&["ingest", "--db", &url, "--root", "."]).success();
        write("second");
        part("1/2").success();
        schema.fail_at_commit(node, Some("DELETE"));
        part("1/2").ends(2);
        schema.fail_at_commit(node, None);
        let report = part("2/2").success().json();
        assert_eq!(report["warnings"][0]["code"], "INGEST_INCOMPLETE", "{report}");
        part("1/2").success();
        drop(place.run(&["ingest", "--db", "fresh.db", "--root", "."]).success());
        assert_eq!(dump(&place, &url), dump(&place, "fresh.db"), "{node}");
        assert_eq!(incomplete(&schema), 0);
    }
}

#[cfg(feature = "failpoints")]
#[test]
fn a_worker_that_waited_for_the_same_part_begins_another_ingest() {
    let Some(schema) = Schema::new() else { return };
    let (url, place) = (schema.url(), Place::with_fixtures());
    let to = |part| {
        ["ingest", "--shard", part, "--ingest-id", "a", "--wait", "30", "--db", &url, "--root", "."]
    };
    place.run(&to("2/2")).success();
    let mut slow = place.command("", &to("1/2"));
    let mut slow = slow.env("FAILPOINTS", "file-read=1*sleep(1500)").spawn().unwrap();
    std::thread::sleep(Duration::from_millis(600));
    let waited = place.run(&to("1/2")).success().json();
    assert!(slow.wait().unwrap().success());
    assert_eq!(waited["warnings"][0]["code"], "INGEST_INCOMPLETE", "{waited}");
    assert_eq!(incomplete(&schema), 0, "nothing has changed");
    place.run(&to("2/2")).success();
    assert_eq!(dump(&place, &url), dump(&place, ".mdsel.db"));
}

#[cfg(feature = "failpoints")]
#[test]
fn an_interrupted_edit_is_finished_in_the_folder_in_which_it_began() {
    let Some(schema) = Schema::new() else { return };
    let url = schema.url();
    let files = [("a.md", "# A\n\n[t](b.md#beta)\n"), ("b.md", "# B\n\n## Beta\n\ntwo\n")];
    let places = [Place::with(&files), Place::with(&files)];
    let texts =
        |place: &Place| files.map(|(file, _)| std::fs::read_to_string(place.join(file)).unwrap());
    let search = |place: &Place, root: &str| {
        place.run(&["search", "two", "--db", &url, "--root", root]).success().json()
    };
    places[0].run(&["ingest", "--db", &url, "--root", "."]).success();
    let rename = ["rename", "b.md#beta", "--title", "Gamma", "--db", &url, "--root", "."];
    let mut rename = places[0].command("", &rename);
    rename.env("FAILPOINTS", "edit-before-rename=1*off->return(abort)");
    assert!(!rename.output().unwrap().status.success());
    let torn = texts(&places[0]);
    assert!(torn[0].contains("#beta") == torn[1].contains("Gamma"), "{torn:?}");
    // A machine with its own copies, and one without.
    assert!(search(&places[1], ".")["warnings"].is_null());
    assert_eq!(texts(&places[1]), files.map(|(_, text)| text.to_owned()));
    assert!(search(&places[1], "missing")["warnings"].is_null());
    assert_eq!(texts(&places[0]), torn);
    let recovered = search(&places[0], ".");
    assert_eq!(recovered["warnings"][0]["code"], "EDIT_RECOVERED", "{recovered}");
    let after = texts(&places[0]);
    assert_eq!(after[0].contains("#gamma"), after[1].contains("Gamma"), "{after:?}");
    assert!(search(&places[0], ".")["warnings"].is_null());
}

#[test]
fn a_killed_worker_is_invisible_and_its_part_can_be_done_again() {
    let Some(schema) = Schema::on_several().or_else(Schema::new) else { return };
    let url = schema.url();
    let place = Place::new();
    let mut random = Random(13);
    let generation = || {
        let status = place.run(&["status", "--db", &url]);
        if status.status == 0 { status.json()["generation"].as_u64().unwrap() } else { 0 }
    };
    for round in 0..repeats(6) {
        write_round(&place, &mut random, round, 150);
        let name = format!("round {round}");
        let to = ["--ingest-id", &name, "--db", &url, "--root", ".", "--wait", "20"];
        let one = [&["ingest", "--shard", "1/2"], &to[..]].concat();
        let other = [&["ingest", "--shard", "2/2"], &to[..]].concat();
        let before = generation();
        let second = place.command("", &other).spawn().unwrap();
        let moment = Duration::from_millis(random.below(900) as u64);
        let (_, is_done) = place.kill(&one, moment);
        let second = second.wait_with_output().unwrap();
        assert!(second.status.success(), "{}", String::from_utf8_lossy(&second.stdout));
        let after = generation();
        assert!(after == before + 1 || after == before && !is_done, "{before} {after}");
        if after > 0 {
            place.run(&["verify", "--db", &url]).success();
            let toc = place.run(&["toc", "-f", "text", "--limit", "0", "--db", &url]).success();
            let of_round = toc.text().matches(&format!("Round {round}")).count();
            assert_eq!(of_round, if after > before { 150 } else { 0 });
        }
        place.run(&one).success();
        if incomplete(&schema) > 0 {
            // Both parts were in, so this was the first one of another ingest.
            place.run(&other).success();
        }
        assert_eq!(incomplete(&schema), 0);
        place.run(&["verify", "--db", &url]).success();
        drop(place.run(&["ingest", "--db", "kept.db", "--root", "."]).success());
        assert_eq!(dump(&place, &url), dump(&place, "kept.db"));
    }
}

#[test]
fn a_killed_ingest_leaves_whole_documents_and_the_next_one_goes_on() {
    let Some(schema) = Schema::new() else { return };
    let url = schema.url();
    let place = Place::new();
    let mut random = Random(7);
    for round in 0..repeats(6) {
        write_round(&place, &mut random, round, 150);
        let moment = Duration::from_millis(random.below(1200) as u64);
        let arguments = ["ingest", "--db", &url, "--root", "."];
        let (_, is_done) = place.kill(&arguments, moment);
        if let Ok(reader) = schema.store().reader(Purpose::Read) {
            let documents = reader.all(&Lookup::All).unwrap();
            // All documents are in one commit.
            assert!([0, 150].contains(&documents.len()), "{}", documents.len());
            assert!(!is_done || documents.len() == 150);
            place.run(&["verify", "--db", &url]).success();
        }
        place.run(&["ingest", "--wait", "20", "--db", &url, "--root", "."]).success();
        place.run(&["verify", "--db", &url]).success();
        drop(place.run(&["ingest", "--db", "kept.db", "--root", "."]).success());
        assert_eq!(dump(&place, &url), dump(&place, "kept.db"));
    }
}

/// The words of random documents. Some have the same stem.
const WORDS: [&str; 21] = [
    "install",
    "installing",
    "installed",
    "query",
    "queries",
    "index",
    "the",
    "of",
    "alpha",
    "beta",
    "AlphaBeta",
    "getSlice",
    "get_slice",
    "c++",
    "README",
    "naïve",
    "中文",
    "文档",
    "read-only",
    "v1.2",
    "x",
];

fn text(random: &mut Random, words: usize) -> String {
    let words: Vec<&str> =
        (0..=random.below(words)).map(|_| WORDS[random.below(WORDS.len())]).collect();
    words.join(" ")
}

/// Writes `count` documents that name their round.
pub(crate) fn write_round(place: &Place, random: &mut Random, round: u64, count: usize) {
    for index in 0..count {
        place.write(&format!("{index}.md"), format!("# Round {round}\n\n{}", document(random)));
    }
}

fn document(random: &mut Random) -> String {
    let mut document = String::new();
    if random.is(3) {
        document = format!(
            "---\ntitle: {}\ntags: [{}]\n---\n",
            text(random, 2),
            ["a", "a/b", "b"][random.below(3)]
        );
    }
    for _ in 0..random.below(6) {
        document += &format!("{} {}\n\n", "#".repeat(1 + random.below(3)), text(random, 3));
        for _ in 0..random.below(3) {
            document += &format!("{}\n\n", text(random, 30));
        }
        if random.is(4) {
            document += &format!("```\n{}\n```\n\n", text(random, 10));
        }
    }
    document + &text(random, 5) + "\n"
}

fn query(random: &mut Random) -> Query {
    let word = |random: &mut Random| WORDS[random.below(WORDS.len())];
    let words = match random.below(8) {
        0 => word(random).to_owned(),
        1 => format!("\"{} {}\"", word(random), word(random)),
        2 => format!("+{} {}", word(random), word(random)),
        3 => format!("{} NOT {}", word(random), word(random)),
        4 => format!("{}*", word(random).chars().take(2).collect::<String>()),
        5 => format!(
            "{}:{}",
            ["title", "code", "path", "tags", "meta"][random.below(5)],
            word(random)
        ),
        6 => text(random, 6),
        _ => {
            let options = PatternOptions { is_literal: random.is(2), ..PatternOptions::default() };
            let pattern = text(random, 1).replace('+', "\\+");
            return Query::Patterns(vec![pattern], options);
        }
    };
    Query::Words(vec![words])
}

/// The sections that a query finds, with their scores, or the lines that a pattern finds; best first.
fn hits(
    store: &Store,
    query: &Query,
    filter: &DocumentFilter,
    level: Option<u8>,
) -> Vec<(String, f32)> {
    let reader = store.reader(Purpose::Search).unwrap();
    if let Query::Words(words) = query {
        let filter = SectionFilter { documents: filter, level, front_matter: None, types: &[] };
        let ranking = reader.ranked(&WordQuery::parse(&words[0]), &filter, usize::MAX).unwrap();
        let hit = |section: &RankedSection| {
            let place = section.ranked.place;
            let place = format!("{} {} {}", section.document.path, place.section, place.level);
            (place, section.ranked.score)
        };
        return ranking.sections.iter().map(hit).collect();
    }
    let answer =
        search::search(&Session::new(&*reader), &search_request(query.clone(), 0)).unwrap();
    let hit = |row: &Value| (format!("{} {}", row["selector"], row["line"]), 0.0);
    answer.rows().map(|row| hit(&row)).collect()
}

#[test]
fn random_corpora_and_changes_are_searched_like_a_store_file() {
    let Some(schema) = Schema::new() else { return };
    is_searched_like_a_store_file(&schema);
}

#[test]
fn random_corpora_on_several_servers_are_searched_like_a_store_file() {
    let Some(schema) = Schema::on_several() else { return };
    is_searched_like_a_store_file(&schema);
}

fn is_searched_like_a_store_file(schema: &Schema) {
    let mut random = Random(0x5eed);
    let place = Place::new();
    let (server, file) = (schema.store(), store(&place.join(".mdsel.db")));
    let mut found = 0;
    // More changes than segments that are kept unmerged.
    for change in 0..12 {
        for _ in 0..12 {
            let path = format!("{}/{}.md", ["one", "two"][random.below(2)], random.below(40));
            if random.is(5) && place.join(&path).exists() {
                place.remove(&path);
            } else {
                place.write(&path, document(&mut random));
            }
        }
        for store in [&server, &file] {
            ingest(store, place.path());
        }
        let is_first = change == 0;
        for _ in 0..repeats(45) {
            let level = random.is(4).then_some(2);
            let mut filter = DocumentFilter::default();
            match random.below(4) {
                0 => {
                    let folders = vec!["one".to_owned()];
                    filter.under = Some(Under { folders, ..Under::default() });
                }
                1 => filter.tags = vec!["a".to_owned()],
                2 => filter.globs = Globs::new(&["**/1*.md".to_owned()]).unwrap(),
                _ => {}
            }
            let query = query(&mut random);
            let (server, file) =
                (hits(&server, &query, &filter, level), hits(&file, &query, &filter, level));
            let places = |hits: &[(String, f32)]| -> BTreeSet<String> {
                hits.iter().map(|(place, _)| place.clone()).collect()
            };
            let (on_server, in_file) = (places(&server), places(&file));
            let differing: Vec<_> = on_server.symmetric_difference(&in_file).collect();
            assert!(differing.is_empty(), "{query:?} {filter:?}: {differing:?}");
            found += server.len();
            // Later the index counts removed documents, too.
            for ((_, one), (_, other)) in server.iter().zip(&file).filter(|_| is_first) {
                assert!((one - other).abs() < 0.001 * (1.0 + other), "{query:?}: {one} {other}");
            }
        }
    }
    assert!(found > 1000, "{found}");
}
