//! Stores from other people: what they may decide, and how a user accepts more.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use serde_json::json;

use crate::features::has;
use crate::harness::{Place, copy, words};

const SECRET: &str = "# Secret\n\nTOKEN=hunter2\n";

/// A home folder with a secret file and a clone. The store of the clone has the home folder as its
/// root, and takes hidden and ignored files of another extension.
fn cloned() -> Place {
    let attacker = Place::with(&[
        ("work/clone/README.md", "# Read me\n\ntext\n"),
        ("notes.md", "# Notes\n\nold\n"),
        (".secret/cred.env", "A=1\n"),
    ]);
    let arguments =
        ["ingest", "--root", "../..", "--ext", "md,env", "--hidden", "--no-ignore", "../.."];
    attacker.run_in("work/clone", &arguments, "").success();
    let victim = Place::with(&[
        ("work/clone/README.md", "# Read me\n\ntext\n"),
        ("notes.md", "# Notes\n\nold\n"),
        (".secret/cred.env", SECRET),
    ]);
    copy(&attacker.join("work/clone"), &victim.join("work/clone"));
    victim
}

fn contains_secret(place: &Place) -> bool {
    let found = place.run_in("work/clone", &["search", "-F", "-c", "hunter2"], "");
    found.status == 0
}

#[test]
fn a_foreign_store_ingests_nothing_from_outside_its_folder() {
    let place = cloned();
    for arguments in [
        &["ingest"][..],
        &["ingest", "--force"],
        &["ingest", "--watch"],
        &["ingest", "--dry-run"],
        &["ingest", "--check"],
        &["ingest", "README.md"],
        &["ingest", "--hidden"],
        &["ingest", "--ext", "md", "--hidden=false", "--no-ignore=false"],
        &["ingest", "--root", "../.."],
        &["status", "--stale"],
        &["toc", "--refresh"],
    ] {
        if arguments.contains(&"--watch") && !has("watch") {
            continue;
        }
        let answer = place.run_in("work/clone", arguments, "").ends(2);
        assert_eq!(answer.code(), "UNTRUSTED_STORE", "{arguments:?}");
        assert!(answer.stderr.contains("mdsel ingest --db"), "{}", answer.stderr);
    }
    // Its standard output is a pack, or empty.
    let dump = place.run_in("work/clone", &["dump", "--attachments"], "").ends(2);
    assert!(dump.text().is_empty() && dump.stderr.contains("UNTRUSTED_STORE"), "{}", dump.stderr);
    assert!(!contains_secret(&place));
    let status = place.run_in("work/clone", &["status"], "").success().json();
    assert_eq!((&status["root"], &status["trust"]), (&json!("../.."), &json!("untrusted")));
    let read = place.run_in("work/clone", &["read", "notes.md", "Notes", "-f", "raw"], "");
    assert_eq!(read.success().text(), "# Notes\n\nold\n", "reading needs no trust");
}

#[test]
fn a_foreign_store_edits_nothing() {
    let place = cloned();
    for arguments in [
        &["replace", "notes.md", "Notes", "--content", "new\n"][..],
        &["replace", "notes.md", "Notes", "--content", "new\n", "--dry-run"],
        &["insert", "notes.md", "Notes", "--content", "# New\n"],
        &["delete", "notes.md", "Notes"],
    ] {
        let answer = place.run_in("work/clone", arguments, "").ends(2);
        assert_eq!(answer.code(), "UNTRUSTED_STORE", "{arguments:?}");
    }
    assert_eq!(std::fs::read_to_string(place.join("notes.md")).unwrap(), "# Notes\n\nold\n");
    if !has("mcp") {
        return;
    }
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "edit",
        "arguments": { "document": "notes.md", "edits": [
            { "operation": "replace", "section": "Notes", "content": "new\n" }
        ] },
    }});
    let reply = served(&place, &call.to_string());
    assert!(reply.contains("UNTRUSTED_STORE"), "{reply}");
    assert_eq!(std::fs::read_to_string(place.join("notes.md")).unwrap(), "# Notes\n\nold\n");
}

/// The reply of `mcp --allow-write` to a call.
fn served(place: &Place, call: &str) -> String {
    let mut command = place.command("work/clone", &["mcp", "--allow-write"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let begin = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    }});
    writeln!(input, "{begin}").unwrap();
    lines.next().unwrap().unwrap();
    writeln!(input, r#"{{"jsonrpc":"2.0","method":"notifications/initialized"}}"#).unwrap();
    writeln!(input, "{call}").unwrap();
    let reply = lines.next().unwrap().unwrap();
    drop(input);
    child.wait().unwrap();
    reply
}

#[test]
fn the_command_in_the_refusal_accepts_the_store() {
    let place = cloned();
    let refused = place.run_in("work/clone", &["ingest"], "").ends(2).json();
    let hint = refused["error"]["hint"].as_str().unwrap();
    let (_, command) = hint.split_once("`mdsel ").unwrap();
    let (command, _) = command.split_once('`').unwrap();
    let arguments: Vec<&str> = command.split(' ').collect();
    place.run_in("work/clone", &arguments, "").success();
    assert!(contains_secret(&place));
    // From now on no option is needed, for edits neither.
    let answer = place.run_in("work/clone", &["ingest"], "").success();
    assert!(answer.stderr.contains("root: "), "{}", answer.stderr);
    let edit = ["replace", "notes.md", "Notes", "--content", "new\n"];
    place.run_in("work/clone", &edit, "").success();
    let status = place.run_in("work/clone", &["status"], "").success().json();
    assert_eq!(status["trust"], json!("recorded"));
    // Another user has accepted nothing.
    let mut other = place.command("work/clone", &["ingest"]);
    let output = other.env("HOME", "/nonexistent").output().unwrap();
    assert!(String::from_utf8(output.stderr).unwrap().contains("UNTRUSTED_STORE"));
    // A list of accepted stores that cannot be read accepts nothing.
    std::fs::write(place.join(".config/mdsel/trusted"), "not JSON\n").unwrap();
    assert_eq!(place.run_in("work/clone", &["ingest"], "").ends(2).code(), "UNTRUSTED_STORE");
}

#[test]
fn a_store_over_its_own_folder_needs_no_trust() {
    let maker = Place::ingested(&[("docs/a.md", "# A\n")]);
    let user = Place::with(&[("docs/a.md", "# A\n"), ("docs/b.md", "# B\n")]);
    std::fs::copy(maker.join(".mdsel.db"), user.join(".mdsel.db")).unwrap();
    assert_eq!(user.run(&["ingest"]).success().json()["added"], 1);
    let status = user.run(&["status"]).success().json();
    assert_eq!((&status["root"], &status["trust"]), (&json!("."), &json!("own_folder")));
    assert!(!user.join(".config").exists(), "nothing to record");
}

#[test]
fn options_on_the_command_line_accept_a_store_over_its_own_folder() {
    let options = ["ingest", "--ext", "md,txt", "--hidden"];
    let maker = Place::with(&[("a.txt", "A\n")]);
    maker.run(&options).success();
    // Its creator recorded the trust, in the home folder of the test.
    maker.run(&["ingest"]).success();
    let user = Place::with(&[("a.txt", "A\n"), ("b.txt", "B\n")]);
    std::fs::copy(maker.join(".mdsel.db"), user.join(".mdsel.db")).unwrap();
    assert_eq!(user.run(&["ingest"]).ends(2).code(), "UNTRUSTED_STORE");
    // A home folder that cannot be written causes a warning.
    let mut command = user.command("", &options);
    let output = command.env("HOME", "/proc/nonexistent").output().unwrap();
    assert!(output.status.success());
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["added"], 1, "{report}");
    let warned = report["warnings"].to_string();
    assert!(warned.contains("TRUST_NOT_RECORDED"), "{report}");
    // A store that asks for nothing needs no record.
    let plain = Place::with(&[("a.md", "A\n")]);
    for home in [None, Some("/proc/nonexistent")] {
        let mut command = plain.command("", &["ingest"]);
        command.env_remove("HOME").envs(home.map(|home| ("HOME", home)));
        let output = command.output().unwrap();
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["warnings"], serde_json::json!([]), "{home:?}");
    }
}

#[test]
fn the_creator_of_a_store_is_not_asked_until_it_is_moved() {
    let place = Place::with(&[("docs/a.md", "# A\n"), ("stores/x", "")]);
    place.run(&["ingest", "--db", "stores/s.db", "docs"]).success();
    place.write("docs/b.md", "# B\n");
    assert_eq!(place.run(&["ingest", "--db", "stores/s.db"]).success().json()["added"], 1);
    std::fs::create_dir(place.join("other")).unwrap();
    std::fs::rename(place.join("stores/s.db"), place.join("other/s.db")).unwrap();
    let moved = ["ingest", "--db", "other/s.db"];
    assert_eq!(place.run(&moved).ends(2).code(), "UNTRUSTED_STORE");
    place.run(&["toc", "--db", "other/s.db"]).success();
    place.run(&[&moved[..], &["--root", "docs"]].concat()).success();
    place.run(&moved).success();
}

#[test]
fn a_relative_configuration_folder_is_ignored() {
    let place = cloned();
    let store = place.join("work/clone/.mdsel.db").canonicalize().unwrap();
    let line = json!({
        "store": store, "root": place.path().canonicalize().unwrap(),
        "extensions": ["md", "env"], "hidden": true, "no_ignore": true,
    });
    place.write("work/clone/config/mdsel/trusted", format!("{line}\n"));
    let run = |folder: &std::path::Path| {
        let mut command = place.command("work/clone", &["ingest"]);
        command.env("XDG_CONFIG_HOME", folder).output().unwrap().status.code()
    };
    assert_eq!(run("config".as_ref()), Some(2));
    assert_eq!(run(&place.join("work/clone/config")), Some(0), "the same file, named in full");
}

#[test]
fn a_copy_of_an_untrusted_store_is_not_trusted() {
    let maker = Place::with(&[("victim/v.md", "# V\n"), ("evil/x", ""), ("me/x", "")]);
    maker.run_in("evil", &["ingest", "--root", "../victim", "--hidden"], "").success();
    let copy = ["copy", ".mdsel.db", "../me/.mdsel.db"];
    let trust = |place: &Place| {
        place.run_in("evil", &copy, "").success();
        place.run_in("me", &["status"], "").success().json()["trust"].clone()
    };
    std::fs::rename(maker.join(".config"), maker.join("config")).unwrap();
    assert_eq!(trust(&maker), "untrusted");
    assert_eq!(maker.run_in("me", &["ingest"], "").ends(2).code(), "UNTRUSTED_STORE");
    std::fs::remove_file(maker.join("me/.mdsel.db")).unwrap();
    std::fs::rename(maker.join("config"), maker.join(".config")).unwrap();
    assert_eq!(trust(&maker), "recorded");
    // The target itself asks for a root that the user has not accepted.
    let me = maker.join("me");
    std::fs::remove_file(me.join(".mdsel.db")).unwrap();
    maker.run_in("me", &["ingest", "--root", "../victim", "--hidden"], "").success();
    std::fs::remove_dir_all(maker.join(".config")).unwrap();
    maker.run_in("evil", &["ingest", "--root", "../victim", "--hidden"], "").success();
    maker.run_in("evil", &["ingest", "--collection", "me", "../me"], "").success();
    assert_eq!(trust(&maker), "untrusted");
}

#[test]
fn the_hint_accepts_all_that_a_store_with_collections_asks_for() {
    let place = Place::with(&[
        ("docs/p.md", "# P\n"),
        ("one/a.md", "# A\n"),
        ("two/b.md", "# B\n"),
        ("store/x", ""),
    ]);
    let run = |arguments: &[&str]| place.run_in("store", arguments, "");
    run(&["ingest", "--root", "../docs"]).success();
    run(&["ingest", "--collection", "one", "../one"]).success();
    run(&["ingest", "--collection", "two", "../two", "--hidden"]).success();
    std::fs::remove_dir_all(place.join(".config")).unwrap();
    let error = run(&["ingest"]).ends(2).json();
    let hint = error["error"]["hint"].as_str().unwrap();
    let commands = hint.split('`').nth(1).unwrap();
    for command in commands.split(" && ") {
        let arguments = words(command.strip_prefix("mdsel ").unwrap());
        run(&arguments.iter().map(String::as_str).collect::<Vec<_>>()).success();
    }
    run(&["ingest"]).success();
    assert_eq!(run(&["status"]).success().json()["trust"], "recorded");
}

#[test]
fn an_open_edit_of_a_store_that_is_not_trusted_says_what_it_waits_for() {
    let place = cloned();
    let store = rusqlite::Connection::open(place.join("work/clone/.mdsel.db")).unwrap();
    let intent =
        "INSERT INTO edit_intent VALUES (1, 'notes.md', '.mdsel-edit-0', zeroblob(32), x'')";
    store.execute_batch(intent).unwrap();
    drop(store);
    for command in [&["verify"][..], &["verify", "--repair"]] {
        let found = place.run_in("work/clone", command, "").ends(1).json();
        let finding = &found["findings"][0];
        assert_eq!(finding["code"], "EDIT_OPEN", "{found}");
        assert!(finding["hint"].as_str().unwrap().contains("mdsel ingest --db"), "{found}");
    }
}
