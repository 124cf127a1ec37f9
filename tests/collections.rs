//! Collections: folders with roots and options of their own in one store.

use serde_json::{Value, json};

use crate::harness::{Answer, Place, copy};

/// A project with a store, and two folders beside it.
fn project() -> Place {
    let place = Place::with(&[
        ("project/docs/a.md", "# Doc\n\n[w](../wiki/Home.md) [[wiki/Home]] [[Home]]\n"),
        ("wiki/Home.md", "# Home\n\n[x](/sub/x.md) [[X]] [[Doc]] [c](../docs/a.md)\n"),
        (
            "wiki/sub/x.md",
            "---\ntags: [t]\nstate: open\n---\n# X\n\n- [ ] task of x\n\n| a |\n| - |\n| 1 |\n",
        ),
        ("wiki/.gitignore", "ignored.md\n"),
        ("wiki/ignored.md", "# Ignored\n"),
        ("notes/n.txt", "# Note\n\n[[Home]]\n"),
        ("notes/n.markdown", "# Not taken\n"),
    ]);
    run(&place, &["ingest"]);
    run(&place, &["ingest", "--collection", "wiki", "../wiki"]);
    run(&place, &["ingest", "--collection", "notes", "../notes", "--ext", "txt,md"]);
    place
}

fn in_project(place: &Place, arguments: &[&str]) -> Answer {
    place.run_in("project", arguments, "")
}

fn run(place: &Place, arguments: &[&str]) -> Value {
    in_project(place, arguments).success().json()
}

fn text(place: &Place, path: &str) -> String {
    std::fs::read_to_string(place.join(path)).unwrap()
}

fn documents(place: &Place) -> Vec<String> {
    let toc = run(place, &["toc", "--limit", "0"]);
    let files = toc["files"].as_array().unwrap().iter();
    files.map(|file| file["file"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn each_collection_has_a_root_and_options_of_its_own() {
    let place = project();
    assert_eq!(documents(&place), ["docs/a.md", "notes/n.txt", "wiki/Home.md", "wiki/sub/x.md"]);
    let status = run(&place, &["status", "--collections"]);
    assert_eq!(status["wiki"]["root"], "../wiki");
    assert_eq!(status["wiki"]["documents"], 2);
    assert_eq!(status["notes"]["options"]["extensions"], json!(["txt", "md"]));
    let primer = in_project(&place, &["prime", "-f", "text"]).success().text();
    assert!(primer.contains("wiki/  2 documents (collection)"), "{primer}");
    // Without a path, all folders are ingested; with one, only what is below it.
    place.write("wiki/new.md", "# New\n");
    place.write("project/docs/b.md", "# B\n");
    place.write("notes/m.txt", "# M\n");
    assert_eq!(run(&place, &["ingest", "../wiki/new.md"])["added"], 1);
    assert_eq!(run(&place, &["ingest", "--collection", "notes"])["added"], 1);
    assert_eq!(run(&place, &["ingest", "--dry-run"])["added"], 1);
    std::fs::remove_file(place.join("wiki/sub/x.md")).unwrap();
    let report = run(&place, &["ingest"]);
    assert_eq!((&report["added"], &report["removed"]), (&json!(1), &json!(1)));
    assert_eq!(in_project(&place, &["verify", "--full"]).success().json()["findings"], json!([]));
}

#[test]
fn a_collection_that_cannot_be_distinguished_is_refused() {
    let place = project();
    std::fs::create_dir_all(place.join("other/deep")).unwrap();
    for (name, folder) in [
        ("docs", "../other"),
        ("a/b", "../other"),
        ("a::b", "../other"),
        (".x", "../other"),
        ("", "../other"),
        ("sub", "../wiki/sub"),
        ("inner", "docs"),
        ("outer", ".."),
        ("wiki", "../other"),
        ("file", "../wiki/Home.md"),
        ("none", "../none"),
    ] {
        let answer = in_project(&place, &["ingest", "--collection", name, folder]).ends(2);
        assert_eq!(answer.code(), "USAGE", "{name} {folder}");
    }
    in_project(&place, &["ingest", "--collection", "other"]).ends(2);
    in_project(&place, &["ingest", "--collection", "two", "../other", "../wiki"]).ends(2);
    in_project(&place, &["find", "*", "--collection", "other"]).ends(2);
    in_project(&place, &["ingest", "--forget", "other"]).ends(2);
    assert_eq!(run(&place, &["status", "--collections"]).as_object().unwrap().len(), 2);
}

#[test]
fn a_store_of_collections_says_how_to_add_another_file() {
    let place = Place::with(&[("wiki/w.md", "# W\n"), ("project/p.md", "# P\n")]);
    run(&place, &["ingest", "--collection", "wiki", "../wiki"]);
    let answer = in_project(&place, &["select", "./p.md"]).ends(1);
    // The command works in every folder.
    let file = place.join("project/p.md");
    let command = format!("`mdsel ingest {}`", file.display());
    assert!(answer.text().contains(&command), "{}", answer.text());
    run(&place, &["ingest", "p.md"]);
    run(&place, &["select", "./p.md"]);
}

#[test]
fn the_ingest_of_a_collection_refuses_another_root() {
    let place = project();
    let ingest = ["ingest", "--collection", "wiki", "../wiki", "--root"];
    let answer = in_project(&place, &[&ingest[..], &["../notes"]].concat()).ends(2);
    assert_eq!(answer.code(), "USAGE");
    in_project(&place, &[&ingest[..], &["."]].concat()).success();
}

#[test]
fn a_forgotten_collection_leaves_the_store_and_its_files_stay() {
    let place = project();
    let forgotten = in_project(&place, &["ingest", "--forget", "wiki"]).success();
    assert_eq!(forgotten.json()["removed"], 2);
    assert!(forgotten.stderr.starts_with("store: "), "{}", forgotten.stderr);
    assert_eq!(documents(&place), ["docs/a.md", "notes/n.txt"]);
    assert_eq!(run(&place, &["ingest"])["unchanged"], 2);
    assert!(text(&place, "wiki/Home.md").starts_with("# Home"));
    run(&place, &["ingest", "--collection", "other-name", "../wiki"]);
    assert_eq!(documents(&place).len(), 4);
}

#[test]
fn an_ignore_file_above_a_collection_is_not_named_as_one_of_its_files() {
    let place = project();
    std::fs::create_dir(place.join(".git")).unwrap();
    drop(std::os::unix::net::UnixListener::bind(place.join(".gitignore")).unwrap());
    let report = run(&place, &["ingest", "--collection", "wiki"]);
    assert_eq!(report["skipped"][0]["file"], "../.gitignore");
}

#[test]
fn a_collection_without_its_folder_stays_and_is_reported() {
    let place = project();
    std::fs::rename(place.join("wiki"), place.join("away")).unwrap();
    let report = run(&place, &["ingest"]);
    assert_eq!(report["skipped"][0]["file"], "wiki");
    assert_eq!((&report["removed"], &report["unchanged"]), (&json!(0), &json!(4)));
    in_project(&place, &["ingest", "--collection", "wiki"]).ends(2);
    let check = in_project(&place, &["ingest", "--check"]).ends(1).json();
    assert_eq!(check["findings"][0]["code"], "MISSING_FOLDER");
    let read = run(&place, &["read", "wiki/sub/x.md", "X", "-f", "json"]);
    assert!(read["stale"].is_null() && read["missing"].is_null(), "{read}");
    std::fs::rename(place.join("away"), place.join("wiki")).unwrap();
    place.write("wiki/sub/x.md", "# X\n\nchanged\n");
    assert_eq!(run(&place, &["read", "wiki/sub/x.md", "X", "-f", "json"])["stale"], true);
    std::fs::remove_file(place.join("wiki/sub/x.md")).unwrap();
    assert_eq!(run(&place, &["read", "wiki/sub/x.md", "X", "-f", "json"])["missing"], true);
}

#[test]
fn a_refresh_without_the_folder_of_a_collection_keeps_its_documents() {
    let place = project();
    std::fs::rename(place.join("wiki"), place.join("away")).unwrap();
    let read = in_project(&place, &["read", "wiki/sub/x.md", "X", "--refresh"]).success();
    assert!(read.stderr.contains("skipped wiki: the folder of the collection"), "{}", read.stderr);
    let report = run(&place, &["ingest", "../wiki/Home.md"]);
    assert_eq!((&report["skipped"][0]["file"], &report["removed"]), (&json!("wiki"), &json!(0)));
    let edit = ["replace", "wiki/Home.md", "Home", "--content", "x", "--refresh"];
    in_project(&place, &edit).ends(2);
    assert_eq!(documents(&place).len(), 4);
}

#[test]
fn links_lead_into_other_collections_by_path_only() {
    let place = project();
    let targets = |document: &str| -> Vec<String> {
        let links = ["links", "list", document, "--direction", "out", "-f", "json"];
        let answer = run(&place, &links);
        let edges = answer["edges"].as_array().unwrap().iter();
        edges.map(|edge| edge["to"].as_str().unwrap_or("broken").to_owned()).collect()
    };
    assert_eq!(targets("docs/a.md"), ["broken", "wiki/Home.md::*", "wiki/Home.md::*"]);
    assert_eq!(
        targets("wiki/Home.md"),
        ["broken", "docs/a.md::*", "wiki/sub/x.md::*", "wiki/sub/x.md::*"]
    );
    assert_eq!(targets("notes/n.txt"), ["broken"]);
    // A collection at a path of a web site.
    run(&place, &["ingest", "--collection", "wiki", "--site-root", "../wiki=/guide"]);
    place.write("project/docs/a.md", "# Doc\n\n[x](/guide/sub/x.md)\n");
    run(&place, &["ingest"]);
    assert_eq!(targets("docs/a.md"), ["wiki/sub/x.md::*"]);
}

#[test]
fn edits_change_files_in_the_folder_of_their_collection() {
    let place = project();
    run(&place, &["replace", "wiki/sub/x.md", "X", "--content", "- [ ] new"]);
    assert!(text(&place, "wiki/sub/x.md").ends_with("# X\n\n- [ ] new\n"));
    run(&place, &["task", "wiki/sub/x.md::heading:h1[0]/block:list[0]/item[0]", "--done"]);
    run(&place, &["meta", "set", "wiki/sub/x.md", "state=done"]);
    let answer = run(&place, &["rename", "wiki/Home.md", "Home", "--title", "Start"]);
    assert_eq!(answer["new_selector"], "wiki/Home.md::heading:h1[0]");
    // Into another collection, and back by a path that is seen from the folder.
    let answer = run(&place, &["move", "wiki/Home.md", "notes/home.md"]);
    assert_eq!(answer["files"][0]["file"], "notes/home.md");
    assert!(!place.join("wiki/Home.md").exists());
    assert!(
        text(&place, "notes/home.md").contains("(/wiki/sub/x.md) [[wiki/sub/x]]"),
        "{}",
        text(&place, "notes/home.md")
    );
    assert!(text(&place, "project/docs/a.md").contains("[w](../notes/home.md)"));
    run(&place, &["move", "../notes/home.md", "../wiki/Home.md"]);
    assert!(text(&place, "wiki/Home.md").starts_with("# Start\n"));
    let refused = in_project(&place, &["move", "docs/a.md", "wiki/.gitignore"]).ends(2).json();
    assert_eq!(refused["error"]["reason"], "NOT_INGESTED");
    let refused = in_project(&place, &["move", "docs/a.md", "wiki/ignored.md"]).ends(2).json();
    assert_eq!(refused["error"]["reason"], "NOT_INGESTED");
    let check = run(&place, &["ingest", "--check"]);
    assert_eq!(check["findings"], json!([]));
}

#[test]
fn a_path_from_the_current_folder_names_a_document_of_a_collection() {
    let place = project();
    let store = place.join("project/.mdsel.db");
    let read = ["--db", store.to_str().unwrap(), "read", "./x.md", "X", "-f", "json"];
    let answer = place.run_in("wiki/sub", &read, "").success().json();
    assert_eq!(answer["file"], "wiki/sub/x.md");
    let outside = ["--db", store.to_str().unwrap(), "read", "../x.md", "X"];
    assert_eq!(place.run_in("wiki", &outside, "").ends(2).code(), "OUTSIDE_ROOT");
    let left_out = in_project(&place, &["read", "wiki/ignored.md", "Ignored"]).ends(1);
    assert!(left_out.text().contains("ignore file"), "{}", left_out.text());
}

#[test]
fn a_folder_below_the_root_with_the_name_of_a_collection_is_not_the_collection() {
    let place = project();
    place.write("project/wiki/Home.md", "# Home\n\n## Top\n\nlocal\n");
    let before = text(&place, "wiki/Home.md");
    let delete = ["delete", "./wiki/Home.md", "Home"];
    assert_eq!(in_project(&place, &delete).ends(2).code(), "OUTSIDE_ROOT");
    let to = ["move", "docs/a.md", "./wiki/new.md"];
    assert_eq!(in_project(&place, &to).ends(2).code(), "OUTSIDE_ROOT");
    assert_eq!(text(&place, "wiki/Home.md"), before);
    assert_eq!(run(&place, &["ingest"])["skipped"][0]["file"], "wiki/Home.md");
}

#[test]
fn files_of_another_collection_are_looked_up() {
    let place = project();
    place.write("wiki/i.png", "");
    place.write("project/p.png", "");
    place.write(
        "project/docs/a.md",
        "# Doc\n\n## Z\n\n![p](../p.png) [i](../wiki/i.png) [n](../wiki/none.md)\n",
    );
    run(&place, &["ingest"]);
    let check = in_project(&place, &["links", "check", "-g", "docs/*"]).ends(1).json();
    assert_eq!(check["findings"].as_array().unwrap().len(), 1, "{check}");
    assert_eq!(check["findings"][0]["code"], "BROKEN_FILE");
    run(&place, &["move", "docs/a.md::Z", "--to", "wiki/Home.md::*", "--position", "last_child"]);
    assert!(
        text(&place, "wiki/Home.md")
            .ends_with("![p](../project/p.png) [i](../wiki/i.png) [n](../wiki/none.md)\n"),
        "{}",
        text(&place, "wiki/Home.md")
    );
}

#[test]
fn links_lead_to_the_same_files_on_disk_after_a_move_into_another_collection() {
    let a = "# A\n\n[b](b.md#b) ![i](../i.png) [n](none.md) [x](../../far/off/x.md) \
             [[../i.png]] [[./b]]\n";
    let files = [
        ("project/docs/a.md", a),
        ("project/docs/b.md", "# B\n\n[a](a.md) [x](../w/x.md)\n"),
        ("project/i.png", ""),
        ("far/off/x.md", "# X\n\n[a](../../project/docs/a.md#a)\n"),
    ];
    let place = Place::with(&files);
    run(&place, &["ingest"]);
    run(&place, &["ingest", "--collection", "w", "../far/off"]);
    let broken = || {
        let check = in_project(&place, &["links", "check"]).ends(1).json();
        let findings = check["findings"].as_array().unwrap().iter();
        findings.map(|finding| finding["code"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let backlinks =
        || run(&place, &["links", "list", "docs/b.md", "--direction", "in"])["edges"].clone();
    assert_eq!(broken(), ["BROKEN_FILE"]);
    run(&place, &["move", "docs/a.md", "w/sub/a.md"]);
    let moved = "# A\n\n[b](../../../project/docs/b.md#b) ![i](../../../project/i.png) \
         [n](../../../project/docs/none.md) [x](../x.md) [[../../../project/i.png]] \
         [[../../../project/docs/b]]\n";
    assert_eq!(text(&place, "far/off/sub/a.md"), moved);
    let b = "# B\n\n[a](../../far/off/sub/a.md) [x](../w/x.md)\n";
    assert_eq!(text(&place, "project/docs/b.md"), b);
    assert_eq!(text(&place, "far/off/x.md"), "# X\n\n[a](sub/a.md#a)\n");
    assert_eq!(broken(), ["BROKEN_FILE"]);
    assert_eq!(backlinks().as_array().unwrap().len(), 2);
    // Back again.
    run(&place, &["move", "w/sub/a.md", "docs/a.md"]);
    for (path, before) in files {
        assert_eq!(text(&place, path), before.replace("[[./b]]", "[[b]]"));
    }
}

#[test]
fn links_lead_as_the_files_lie_if_there_are_only_collections() {
    let place = Place::with(&[
        ("one/z.md", "# Z\n\n[n](../two/n.md) [p](../p.md) ![i](../two/i.png)\n"),
        ("two/n.md", "# N\n"),
        ("two/i.png", ""),
        ("p.md", "# P\n"),
    ]);
    let run = |arguments: &[&str]| place.run(arguments);
    run(&["ingest", "--collection", "a", "one"]).success();
    run(&["ingest", "--collection", "b", "two"]).success();
    let check = run(&["links", "check"]).ends(1).json();
    let findings = check["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1, "{check}");
    // The file is in no collection.
    assert_eq!((&findings[0]["code"], &findings[0]["line"]), (&json!("UNCHECKED"), &json!(3)));
    let into = run(&["links", "list", "b/n.md", "--direction", "in"]).success().json();
    assert_eq!(into["edges"].as_array().unwrap().len(), 1, "{into}");
    run(&["move", "a/z.md", "b/z.md"]).success();
    // A path may lead out of the folder and back.
    let moved = "# Z\n\n[n](../two/n.md) [p](../p.md) ![i](../two/i.png)\n";
    assert_eq!(std::fs::read_to_string(place.join("two/z.md")).unwrap(), moved);
}

#[test]
fn each_root_of_a_store_from_somebody_else_must_be_accepted() {
    let place = project();
    let stranger = Place::new();
    copy(place.path(), stranger.path());
    std::fs::remove_dir_all(stranger.join(".config")).unwrap();
    run(&stranger, &["toc", "wiki/Home.md"]);
    let answer = in_project(&stranger, &["ingest"]).ends(2);
    assert_eq!(answer.code(), "UNTRUSTED_STORE");
    assert!(answer.text().contains("--collection notes"), "{}", answer.text());
    let edit = ["replace", "wiki/Home.md", "Home", "--content", "x"];
    assert_eq!(in_project(&stranger, &edit).ends(2).code(), "UNTRUSTED_STORE");
    // One after the other is accepted.
    run(&stranger, &["ingest", "--collection", "notes", "../notes", "--ext", "txt,md"]);
    let answer = in_project(&stranger, &["ingest"]).ends(2);
    assert!(
        answer.text().contains("--collection wiki ../wiki")
            || answer.text().contains("--collection wiki")
    );
    run(&stranger, &["ingest", "--collection", "wiki", "../wiki"]);
    assert_eq!(run(&stranger, &["ingest"])["unchanged"], 4);
    run(&stranger, &edit);
}

/// Replaces the names of files of a collection by those of a store of its own.
fn without_collection(value: &Value, name: &str) -> Value {
    let prefix = format!("{name}/");
    match value {
        Value::String(text) => Value::String(text.replace(&prefix, "")),
        Value::Array(values) => {
            values.iter().map(|value| without_collection(value, name)).collect()
        }
        Value::Object(fields) => fields
            .iter()
            // Scores depend on all documents, cursors on the generation, and hints name collections.
            .filter(|(key, _)| !matches!(key.as_str(), "score" | "next" | "generation" | "hint"))
            .map(|(key, value)| (key.clone(), without_collection(value, name)))
            .collect(),
        other => other.clone(),
    }
}

fn fixture(name: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

/// Every command that takes filters answers for one collection as a store of its own does.
#[test]
fn a_collection_answers_like_a_store_of_its_own() {
    let place = Place::in_memory();
    let mut folders = vec![("one", fixture("documents")), ("two", fixture("answers"))];
    if let Some(corpora) = std::env::var_os("MDSEL_CORPORA") {
        let corpora = std::path::PathBuf::from(corpora);
        folders.push(("spec", corpora.join("commonmark")));
        folders.push(("help", corpora.join("obsidian-help/en")));
    }
    folders.retain(|(_, folder)| folder.is_dir());
    std::fs::create_dir(place.join("project")).unwrap();
    for (name, folder) in &folders {
        copy(folder, &place.join(&format!("own/{name}")));
        run(&place, &["ingest", "--collection", name, &format!("../own/{name}")]);
        place.run_in(&format!("own/{name}"), &["ingest"], "").success();
    }
    let mut compared = 0;
    for (name, _) in &folders {
        for arguments in [
            &["index"][..],
            &["toc", "--limit", "0"],
            &["find", "*", "--limit", "0"],
            &["search", "-F", "the", "--limit", "0"],
            &["search", "-E", "[A-Z]{3}", "--limit", "0"],
            &["links", "check", "--limit", "0"],
            &["code", "--limit", "0"],
            &["tables", "--limit", "0"],
            &["tasks", "--limit", "0"],
            &["meta", "--limit", "0"],
            &["find", "*", "--level", "2", "--limit", "0"],
            &["toc", "-g", "**/*a*", "--limit", "0"],
        ] {
            let filter = ["--collection", name, "-f", "json"];
            let answer = in_project(&place, &[arguments, &filter].concat());
            let own =
                place.run_in(&format!("own/{name}"), &[arguments, &["-f", "json"]].concat(), "");
            assert_eq!(answer.status, own.status, "{name} {arguments:?}");
            let (mut answer, mut own) = (answer.json(), own.json());
            for answer in [&mut answer, &mut own] {
                // The message counts the documents of the store.
                for warning in answer["warnings"].as_array_mut().into_iter().flatten() {
                    if warning["code"] == "NO_DOCUMENT" {
                        warning["message"].take();
                    }
                }
            }
            assert_eq!(
                without_collection(&answer, name),
                without_collection(&own, name),
                "{name} {arguments:?}"
            );
            compared += 1;
        }
    }
    eprintln!("{compared} answers compared");
    assert!(compared >= 24);
}

#[test]
fn prime_counts_the_documents_of_each_folder_at_the_top() {
    let paths =
        ["a/x.md", "a/y/z.md", "a.md", "a0.md", "a-b/x.md", "a0/x.md", "ä/x.md", "ä/y.md", "z.md"];
    let documents: Vec<_> = paths.iter().map(|path| (*path, "# T\n")).collect();
    let primer = Place::ingested(&documents).run(&["prime"]).success().json();
    let folders = primer["folders"].as_array().unwrap().iter();
    let counts: Vec<_> = folders
        .map(|folder| (folder["folder"].as_str().unwrap(), folder["documents"].as_u64().unwrap()))
        .collect();
    assert_eq!(counts, [("", 3), ("a", 2), ("ä", 2), ("a-b", 1), ("a0", 1)]);
}

#[test]
fn a_store_of_collections_says_how_to_add_another_folder() {
    let place =
        Place::with(&[("one/a.md", "# A\n"), ("two words/b.md", "# B\n"), ("work/w.md", "# W\n")]);
    let run = |arguments: &[&str]| place.run(&[&["--db", "work/s.db"], arguments].concat());
    run(&["ingest", "--collection", "one", "one"]).success();
    for (arguments, hint) in [
        (&["ingest", "--root", "two words"][..], "leave out --root, and give --collection NAME"),
        (&["ingest", "two words"], "`mdsel ingest --db work/s.db --collection NAME 'two words'`"),
    ] {
        let refused = run(arguments).ends(2).json();
        assert!(refused["error"]["hint"].as_str().unwrap().contains(hint), "{refused}");
    }
    let refused = run(&["ingest", "two words/b.md"]).ends(2);
    assert!(refused.text().contains("--collection NAME FOLDER"), "{}", refused.text());
    run(&["ingest", "--collection", "two", "two words"]).success();
}
