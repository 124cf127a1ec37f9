//! Documents named without a path: which one is meant, and what happens if something else has the
//! name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use mdsel::address::FaultCode;
use mdsel::query::Session;
use mdsel::query::resolve::{NodeRange, resolve};
use mdsel::query::resolved_node::Target;
use mdsel::query::{NameMatch, document_named};
use mdsel::store::{Lookup, Purpose, Reader};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::{Place, copy, fixtures, ingest, repeats, selectors, store};

/// Documents whose names are also titles, parts of titles, and parts of each other.
fn proposals() -> Place {
    Place::ingested(&[
        ("eips/eip-1.md", "# EIP Purpose and Guidelines\n\ntext\n"),
        ("eips/eip-15.md", "# EIP-15\n\nSee eip-1559.\n"),
        ("eips/eip-1559.md", "# Fee market change\n\ntext\n"),
        ("index.md", "# Index\n\n## eip-1559\n\n## About EIP-1\n\n## setup-guide\n"),
        ("setup.md", "# Install\n\n```\ncode\n```\n"),
        ("other/folder.md", "# Other\n"),
        ("folder/inner.md", "# Inner\n"),
        ("section.md", "# Called as a selector\n"),
    ])
}

fn first(place: &Place, address: &str) -> String {
    let json = place.run(&["select", address]).success().json();
    json["results"][0]["selector"].as_str().unwrap().to_owned()
}

#[test]
fn a_bare_name_is_the_document_and_never_a_section_of_that_name() {
    let place = proposals();
    for (name, document) in [
        ("eip-1", "eips/eip-1.md::*"),
        ("eip-15", "eips/eip-15.md::*"),
        ("eip-1559", "eips/eip-1559.md::*"),
        ("EIP-1559", "eips/eip-1559.md::*"),
        ("eips/eip-1559", "eips/eip-1559.md::*"),
        ("eip-1559.md", "eips/eip-1559.md::*"),
        ("setup", "setup.md::*"),
        ("folder", "other/folder.md::*"),
        ("inner", "folder/inner.md::*"),
        ("section.md", "section.md::*"),
        // Titles of sections that are not names of documents.
        ("Fee market change", "eips/eip-1559.md::heading:h1[0]"),
        ("/eip-1559", "index.md::heading:h2[0]"),
        ("setup-guide", "index.md::heading:h2[2]"),
    ] {
        assert_eq!(first(&place, name), document, "{name}");
    }
    let both = place.run(&["select", "eip-1559"]).success().json();
    assert_eq!(both["warnings"][0]["code"], "SHADOWED_TITLE");
    assert!(both["warnings"][0]["message"].as_str().unwrap().contains("`/eip-1559`"));
    let alone = place.run(&["select", "eip-1"]).success().json();
    assert_eq!(alone["warnings"], json!([]), "a part of a title is not a name");
}

#[test]
fn a_document_whose_name_looks_like_a_selector_is_named() {
    let place = proposals();
    let json = place.run(&["select", "section"]).success().json();
    assert_eq!(selectors(&json["results"]).len(), 8, "every top-level section");
    assert_eq!(json["warnings"][0]["code"], "SHADOWED_NAME");
    assert!(json["warnings"][0]["message"].as_str().unwrap().contains("section.md::*"));
}

#[test]
fn names_with_unusual_characters_are_accepted() {
    let names = [
        "two words",
        "$HOME",
        "-dash",
        "100%",
        "%20",
        "a_b",
        "🎉",
        "ne\u{301}e",
        "[x]",
        "{y}",
        "v1.2",
        "what?",
        "C#",
        "a, b",
        "quote's",
        "@48",
        "#7",
        "x[0]",
        "日本語",
    ];
    let files: Vec<(String, &str)> =
        names.iter().map(|name| (format!("deep/folder/{name}.md"), "# A title\n")).collect();
    let files: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    let place = Place::ingested(&files);
    for (name, (path, _)) in names.iter().zip(&files) {
        let whole = first(&place, &format!("./{path}"));
        assert!(whole.starts_with("deep/folder/") && whole.ends_with(".md::*"), "{whole}");
        let forms =
            [whole.clone(), (*path).to_owned(), format!("{name}.md"), format!("folder/{name}")];
        for form in forms.iter().chain([&(*name).to_owned()]) {
            let json = place.run(&["select", "--", form]).success().json();
            assert_eq!(json["results"][0]["selector"], whole, "{form}");
        }
        let read = place.run(&["read", &format!("{name}.md"), "A title"]);
        if !name.starts_with('-') {
            assert_eq!(read.success().json()["file"], *path);
        }
    }
    assert_eq!(first(&place, "n\u{e9}e"), first(&place, "ne\u{301}e"), "composed or not");
}

#[test]
fn names_that_differ_only_in_case_are_distinguished() {
    let place = Place::ingested(&[("a/Notes.md", "# One\n"), ("b/notes.md", "# Two\n")]);
    assert_eq!(first(&place, "Notes"), "a/Notes.md::*");
    assert_eq!(first(&place, "notes"), "b/notes.md::*");
    assert_eq!(place.run(&["select", "NOTES"]).ends(1).code(), "AMBIGUOUS");
}

#[test]
fn every_reading_command_takes_a_bare_name() {
    let place = proposals();
    for (arguments, pointer) in [
        (&["read", "eip-1559"][..], "/file"),
        (&["toc", "eip-1559"], "/file"),
        (&["links", "list", "eip-1559"], "/nodes/0/file"),
        (&["context", "eip-1559"], "/items/0/file"),
    ] {
        let json = place.run(arguments).success().json();
        let file = json.pointer(pointer).and_then(Value::as_str);
        assert_eq!(file, Some("eips/eip-1559.md"), "{arguments:?}: {json}");
    }
    let around = place.run(&["neighbors", "eip-1559"]).success().json();
    assert_eq!(around["selector"], "eips/eip-1559.md::*");
    let hits = place.run(&["search", "text", "--under", "eip-1559"]).success().json();
    assert!(selectors(&hits["hits"]).iter().all(|hit| hit.starts_with("eips/eip-1559.md")));
}

#[test]
fn a_pattern_where_one_document_is_needed_says_how_many_match() {
    let place = Place::ingested(&[("en/a.md", "# A\n"), ("en/b.md", "# B\n")]);
    for name in ["en/*", "en"] {
        let json = place.run(&["toc", name, "--depth", "0"]).success().json();
        assert_eq!(json["files"].as_array().unwrap().len(), 2);
        let json = place.run(&["meta", "set", name, "x=1"]).json();
        let message = json["unresolved_selectors"][0]["message"].as_str().unwrap();
        let several = if name == "en" {
            "\"en\" was read as the folder en, which has 2 documents, and one is needed here; \
             `mdsel toc en --depth 0` lists them"
        } else {
            "2 documents match \"en/*\", and one is needed here"
        };
        let batch = "`mdsel edit --batch FILE` makes several edits, each in a line";
        assert_eq!(message, format!("{several}; {batch}"));
    }
}

#[test]
fn a_folder_in_place_of_a_document_is_named() {
    let place = Place::ingested(&[
        ("lib/serde-1.0.1/a.md", "# A\n"),
        ("lib/serde-1.0.1/b.md", "# B\n"),
        ("one/c.md", "# C\n"),
    ]);
    for command in [
        &["meta", "set", "serde", "x=1"][..],
        &["read", "serde", "A"],
        &["ldmd", "index", "serde"],
        &["move", "serde", "new.md"],
    ] {
        let fault = place.run(command).ends(1).json()["unresolved_selectors"][0].clone();
        let message = fault["message"].as_str().unwrap();
        let read = "\"serde\" was read as the folder lib/serde-1.0.1, which has 2 documents";
        assert!(message.starts_with(read), "{command:?} {fault}");
        assert_eq!(fault["candidates"].as_array().unwrap().len(), 2, "{fault}");
    }
    let one = place.run(&["meta", "set", "one", "x=1", "-f", "text"]).ends(1).text();
    assert!(one.contains("\"one\" was read as the folder one; an edit takes a document"), "{one}");
}

#[test]
fn a_name_of_several_documents_and_a_folder_names_the_folder_first() {
    let place = Place::ingested(&[
        ("tldr/ar/tldr.md", "# A\n"),
        ("tldr/de/tldr.md", "# D\n"),
        ("tldr/de/other.md", "# O\n"),
    ]);
    let text = place.run(&["toc", "tldr", "-f", "text"]).ends(1).text();
    assert!(text.contains("tldr/ is a folder, and 2 documents are named \"tldr\""), "{text}");
    let json = place.run(&["toc", "tldr", "-f", "json"]).ends(1).json();
    assert_eq!(json["unresolved_selectors"][0]["suggestions"][0], "tldr/", "{json}");
    place.run(&["toc", "tldr/"]).success();
    // An edit and an address take no folder.
    let json = place.run(&["select", "tldr"]).ends(1).json();
    assert_eq!(json["unresolved_selectors"][0]["suggestions"], serde_json::json!([]), "{json}");
}

#[test]
fn a_budget_keeps_the_first_suggestions() {
    let files: Vec<String> =
        (0..5).map(|name| format!("some/long/folder/generate-{name}.md")).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|path| (path.as_str(), "# A\n")).collect();
    let place = Place::ingested(&files);
    let whole = place.run(&["toc", "generate", "-f", "text"]).ends(1).text();
    assert_eq!(whole.matches("::*").count(), 5, "{whole}");
    let cut = place.run(&["toc", "generate", "-f", "text", "--max-chars", "170"]).ends(1).text();
    assert!(cut.chars().count() <= 170 && cut.matches("::*").count() == 2, "{cut}");
    assert!(cut.ends_with("truncated\n"), "{cut}");
}

#[test]
fn a_name_without_the_number_that_orders_files_is_suggested() {
    let place = Place::ingested(&[
        ("docs/01-generate-text.mdx", "# A\n"),
        ("docs/03-agents/04-loop-control.mdx", "# B\n"),
        ("docs/gettext.md", "# C\n"),
    ]);
    for (name, expected) in [
        ("generate-text", "docs/01-generate-text.mdx::*"),
        ("loop-control", "docs/03-agents/04-loop-control.mdx::*"),
        ("agents/loop-control.mdx", "docs/03-agents/04-loop-control.mdx::*"),
        ("genrate-text", "docs/01-generate-text.mdx::*"),
    ] {
        for command in ["toc", "select"] {
            let json = place.run(&[command, name]).json();
            let fault = &json["unresolved_selectors"][0];
            assert_eq!(fault["suggestions"][0], expected, "{command} {name}: {json}");
        }
    }
}

#[test]
fn a_name_of_several_documents_is_ambiguous_and_an_exact_title_wins_over_a_part() {
    let place = Place::ingested(&[
        ("a/guide.md", "# First\n"),
        ("b/guide.md", "# Second\n"),
        ("c.md", "# guide\n\n## Beta\n\n## Beta two\n"),
    ]);
    let json = place.run(&["select", "guide"]).ends(1).json();
    let fault = &json["unresolved_selectors"][0];
    assert_eq!((&fault["code"], &fault["total"]), (&json!("AMBIGUOUS"), &json!(2)));
    assert_eq!(
        fault["candidates"][0],
        json!({ "selector": "a/guide.md::*", "file": "a/guide.md", "path": null,
            "title": "First", "line": 1 })
    );
    assert_eq!(first(&place, "Beta"), "c.md::heading:h2[0]");
}

#[test]
fn candidates_can_be_chosen_in_every_format() {
    let many: String = (0..12).map(|number| format!("## Topic {number}\n\n")).collect();
    let place = Place::ingested(&[("many.md", &format!("# Top\n\n{many}"))]);
    let json = place.run(&["select", "many.md::topic"]).ends(1).json();
    let fault = &json["unresolved_selectors"][0];
    assert_eq!(fault["candidates"].as_array().unwrap().len(), 10);
    assert_eq!(fault["total"], 12);
    let message = fault["message"].as_str().unwrap();
    assert_eq!(message, "12 sections have \"topic\" in their title or slug, none as a whole");
    for (command, format) in [
        ("select", "text"),
        ("select", "raw"),
        ("select", "ldmd"),
        ("context", "text"),
        ("context", "records"),
        ("context", "ldmd"),
        ("context", "markdown"),
    ] {
        let answer = place.run(&[command, "many.md::topic", "-f", format]).ends(1);
        let all = answer.text() + &answer.stderr;
        let line = "top/topic-3 (@9)  Topic 3  many.md::heading:h2[3]";
        assert!(all.contains(line), "{command} {format}: {all}");
        assert!(all.contains("12 sections"), "{command} {format}");
    }
    let text = place.run(&["select", "many.md::topic", "-f", "text"]).ends(1);
    assert!((text.text() + &text.stderr).contains("the first 10 of 12"));
}

#[test]
fn equal_sections_of_a_change_log_have_different_suggestions() {
    let log =
        "# Log\n\n## [1.1.0] - 2020\n\n### Added\n\n- x\n\n## [1.0.0] - 2019\n\n### Added\n\n- y\n";
    let place = Place::ingested(&[("log.md", log)]);
    let read = |path: &str| place.run(&["read", "log.md", path, "-f", "raw"]);
    assert_eq!(read("1.0.0/Added").success().text(), "### Added\n\n- y\n");
    let insert = ["insert", "log.md", "1.0.0/Added", "--content", "- z"];
    let fault = place.run(&insert).ends(1).json();
    let suggestions = &fault["unresolved_selectors"][0]["suggestions"];
    assert_eq!(*suggestions, serde_json::json!(["log.md::heading:h3[1]"]));
    let fault = place.run(&["insert", "log.md", "1.0.0/Addd", "--content", "- z", "-f", "text"]);
    let lines = fault.ends(1);
    let lines = lines.text() + &lines.stderr;
    let [first, second] = [
        "log.md::heading:h3[1]  Log / [1.0.0] - 2019 / Added (line 11)",
        "log.md::heading:h3[0]  Log / [1.1.0] - 2020 / Added (line 5)",
    ];
    assert!(lines.find(first).unwrap() < lines.find(second).unwrap(), "{lines}");
}

#[test]
fn edits_accept_a_whole_document_only_by_its_explicit_address() {
    let place = proposals();
    let only = place.run(&["replace", "eip-1", "--content", "x"]).ends(2).json();
    assert_eq!(only["error"]["reason"], "WHOLE_DOCUMENT");
    assert!(only["error"]["hint"].as_str().unwrap().contains("eips/eip-1.md::*"));
    let both = place.run(&["delete", "eip-1559"]).ends(1).json();
    let fault = &both["unresolved_selectors"][0];
    assert_eq!(fault["code"], "AMBIGUOUS");
    let both = selectors(&fault["candidates"]);
    assert_eq!(both, ["eips/eip-1559.md::*", "index.md::heading:h2[0]"]);
    place.run(&["delete", both[1], "--dry-run"]).success();
    place.run(&["replace", both[0], "--content", "# New\n", "--dry-run", "--allow-drop"]).success();
}

/// The store of a folder, in another folder.
fn ingested(root: &Path) -> (TempDir, Box<dyn Reader>) {
    let place = TempDir::new().unwrap();
    let store = store(&place.path().join("store.db"));
    ingest(&store, root);
    let reader = store.reader(Purpose::Read).unwrap();
    (place, reader)
}

/// The documents that each name means, computed from the rule in the reference and not by the code
/// under test.
struct Names {
    tiers: [BTreeMap<String, BTreeSet<String>>; 8],
}

impl Names {
    fn of(paths: &[String]) -> Self {
        let mut tiers: [BTreeMap<String, BTreeSet<String>>; 8] = Default::default();
        for path in paths {
            let stem = without_extension(path);
            for (tier, whole) in [(0, path.as_str()), (1, stem)] {
                for end in suffixes(whole) {
                    let is_whole = end == whole;
                    let mut add = |tier: usize, name: String| {
                        tiers[tier].entry(name).or_default().insert(path.clone());
                    };
                    add(if is_whole { tier } else { 2 + tier }, end.to_owned());
                    add(2 + tier, end.to_owned());
                    if is_whole {
                        add(4 + tier, fold(end));
                    }
                    add(6 + tier, fold(end));
                }
            }
        }
        Self { tiers }
    }

    /// The documents of the first tier that contains the name.
    fn meant(&self, name: &str) -> BTreeSet<String> {
        let keys = [name.to_owned(), fold(name)];
        let tiers = self.tiers.iter().enumerate();
        let mut hits = tiers.filter_map(|(tier, names)| names.get(&keys[usize::from(tier >= 4)]));
        hits.next().cloned().unwrap_or_default()
    }
}

fn fold(text: &str) -> String {
    mdsel::markdown::slug::fold(text)
}

fn without_extension(path: &str) -> &str {
    let start = path.rfind('/').map_or(0, |slash| slash + 1);
    match path[start..].rfind('.') {
        Some(dot) if dot > 0 => &path[..start + dot],
        _ => path,
    }
}

fn suffixes(path: &str) -> impl Iterator<Item = &str> {
    std::iter::once(path).chain(path.match_indices('/').map(|(slash, _)| &path[slash + 1..]))
}

/// Whether a name looks like an address form that is tried before document names.
fn has_syntax(name: &str) -> bool {
    let word = name.split(['/', '[', '.']).next().unwrap();
    let is_step = ["root", "section", "item", "page"].contains(&word)
        || ["h1", "h2", "h3", "h4", "h5", "h6"].contains(&word);
    is_step || name.contains("::") || name.contains([':', '#', '?', '%', '['])
}

/// Asserts that every name of every document means this document, or is ambiguous among all
/// documents with that name, and never means one without it. The store looks up every name, and
/// about `most` of them are resolved as addresses.
fn every_name(root: &Path, most: usize) {
    let (_place, reader) = ingested(root);
    let documents = reader.all(&Lookup::All).unwrap();
    let paths: Vec<String> = documents.into_iter().map(|document| document.path).collect();
    let model = Names::of(&paths);
    let mut names = BTreeSet::new();
    for path in &paths {
        for whole in [path.as_str(), without_extension(path)] {
            names.insert(whole);
            names.insert(whole.rsplit('/').next().unwrap());
        }
    }
    let all = names.len();
    let step = all.div_ceil(most).max(1);
    let (mut unique, mut ambiguous, mut skipped, mut resolved) = (0, 0, 0, 0);
    let session = Session::new(&*reader);
    for (number, name) in names.into_iter().enumerate() {
        let is_exact = paths.binary_search_by(|path| path.as_str().cmp(name)).is_ok();
        if has_syntax(name) && !is_exact {
            skipped += 1;
            continue;
        }
        let meant = if is_exact { BTreeSet::from([name.to_owned()]) } else { model.meant(name) };
        *(if meant.len() == 1 { &mut unique } else { &mut ambiguous }) += 1;
        match document_named(&*reader, name).unwrap() {
            NameMatch::One(stored) => assert_eq!(meant, BTreeSet::from([stored.path]), "{name}"),
            NameMatch::Many(many) => assert_eq!(meant.len(), many.len(), "{name}"),
            NameMatch::None => panic!("{name} names nothing"),
        }
        if number % step != 0 {
            continue;
        }
        let found = resolve(&session, name, NodeRange { skip: 0, take: 10 }).unwrap();
        resolved += 1;
        if let [meant] = meant.iter().collect::<Vec<_>>().as_slice() {
            let [place] = found.places.as_slice() else { panic!("{name}: {:?}", found.fault) };
            assert_eq!(place.target, Target::Document, "{name}");
            assert_eq!(&&place.document.stored.path, meant, "{name}");
            continue;
        }
        let fault = found.fault.unwrap_or_else(|| panic!("{name}: {}", found.places[0].address()));
        assert_eq!((fault.code, fault.total), (FaultCode::Ambiguous, meant.len()), "{name}");
        let candidates: Vec<&String> =
            fault.candidates.iter().map(|candidate| &candidate.file).collect();
        assert_eq!(candidates, meant.iter().take(10).collect::<Vec<_>>(), "{name}");
    }
    assert!(unique > 0 && ambiguous > 0);
    eprintln!(
        "{}: {all} names of {} documents: {unique} of one, {ambiguous} of several, {skipped} with \
         syntax; {resolved} resolved as addresses",
        root.display(),
        paths.len()
    );
}

#[test]
fn every_name_of_every_document_means_that_document_or_is_ambiguous() {
    let place = Place::new();
    copy(&fixtures(), place.path());
    // Names that are titles, parts of titles, and parts of other names.
    for (number, title) in
        ["guide", "Setup", "README", "notes/setup", "more/Setup"].into_iter().enumerate()
    {
        place.write(&format!("extra/{number}/{title}.md"), format!("# {title}\n\n## Notes\n"));
    }
    every_name(place.path(), usize::MAX);
    if let Some(folder) = std::env::var_os("MDSEL_CORPORA") {
        let most = usize::try_from(repeats(500)).unwrap();
        every_name(Path::new(&folder), most);
    }
}

#[test]
fn a_path_with_a_number_sign_is_not_an_anchor_of_another_document() {
    let place = Place::ingested(&[("d/a.md", "# A\n\n## b.md\n"), ("d/a#b.md", "# Sharp\n\nx\n")]);
    let read = place.run_in("d", &["select", "./a#b.md"], "").success().json();
    assert_eq!(read["results"][0]["selector"], "d/a#b.md::*");
    let edit = ["replace", "./a#b.md", "Sharp", "--content", "new"];
    place.run_in("d", &edit, "").success();
    assert!(std::fs::read_to_string(place.join("d/a#b.md")).unwrap().contains("new"));
}

#[test]
fn an_error_repeats_the_path_that_was_given() {
    let place = Place::ingested(&[("a.md", "# A\n"), ("docs/sub/b.md", "# B\n")]);
    for command in
        [&["select", "../nope.md"][..], &["toc", "../nope.md"], &["delete", "../nope.md", "X"]]
    {
        let answer = place.run_in("docs/sub", command, "").ends(1).json();
        let fault = &answer["unresolved_selectors"][0];
        assert_eq!(fault["selector"], "../nope.md", "{fault}");
        assert!(fault["message"].as_str().unwrap().contains("\"../nope.md\""), "{fault}");
    }
}

#[test]
fn a_warning_about_a_title_names_an_address_that_works() {
    let place = Place::ingested(&[("C#.md", "# Language\n"), ("b.md", "# B\n\n## C#\n\ntext\n")]);
    let read = place.run(&["select", "C#"]).success().json();
    assert_eq!(read["warnings"][0]["code"], "SHADOWED_TITLE", "{read}");
    assert!(read["warnings"][0]["message"].as_str().unwrap().contains("`/C#`"), "{read}");
    assert_eq!(first(&place, "/C#"), "b.md::heading:h2[0]");
}

#[test]
fn a_selector_that_is_a_title_and_a_name_says_both() {
    let place = Place::ingested(&[("section.md", "# One\n"), ("b.md", "# B\n\n## section\n")]);
    let read = place.run(&["select", "section"]).success().json();
    let codes: Vec<&Value> =
        read["warnings"].as_array().unwrap().iter().map(|warning| &warning["code"]).collect();
    for code in ["SHADOWED_TITLE", "SHADOWED_NAME"] {
        assert!(codes.contains(&&json!(code)), "{read}");
    }
}

#[test]
fn a_folder_may_be_named_like_a_step() {
    let text = "# Head\n\nsome words\n\n- [ ] task\n";
    for folder in ["page", "root", "section", "item", "h2.1", "h2[1]"] {
        let path = format!("{folder}/a.md");
        let place = Place::ingested(&[(path.as_str(), text), ("b.md", "# B\n")]);
        let hit =
            place.run(&["search", "-e", "words", "-f", "text", "--no-heading"]).success().text();
        assert_eq!(hit, format!("{path}:3:6:some words\n"));
        for address in [hit.trim_end(), &format!("{path}:3"), &format!("{path}:3-3")] {
            let read = place.run(&["select", address]).success().json();
            assert_eq!(read["results"][0]["file"], path, "{read}");
        }
        assert_eq!(first(&place, &format!("{path}#head")), format!("{path}::heading:h1[0]"));
        assert_eq!(first(&place, &format!("{folder}/a")), format!("{path}::*"));
        let item = format!("{path}#head/block:list[0]/item[0]");
        assert_eq!(first(&place, &item), format!("{path}::heading:h1[0]/block:list[0]/item[0]"));
        let task = format!("{path}:5");
        place.run(&["task", &task, "--done"]).success();
        assert!(std::fs::read_to_string(place.join(&path)).unwrap().ends_with("- [x] task\n"));
        let fault = place.run(&["select", &format!("{folder}/c.md:3")]).ends(1).json();
        assert_eq!(fault["unresolved_selectors"][0]["code"], "INVALID_SYNTAX", "{fault}");
    }
}

#[test]
fn a_glob_does_not_name_the_document_of_an_address() {
    let place = Place::ingested(&[("a.md", "# X\n"), ("d/b.md", "# X\n")]);
    for address in ["*.md::X", "d/*::X"] {
        let fault = place.run(&["select", address]).ends(1).json();
        let fault = &fault["unresolved_selectors"][0];
        let (glob, _) = address.split_once("::").unwrap();
        let message = fault["message"].as_str().unwrap();
        assert_eq!(fault["code"], "NAMESPACE_NOT_FOUND");
        assert!(message.contains(&format!("`mdsel toc '{glob}' --depth 0`")), "{message}");
        assert_ne!(place.run(&["toc", glob, "--depth", "0"]).success().json()["files"], json!([]));
    }
    let fault = place.run(&["select", "zz*::X"]).ends(1).text();
    assert!(fault.contains("no document matches") && !fault.contains("zz*' --depth"), "{fault}");
}

#[test]
fn all_commands_take_a_name_for_the_same_document() {
    let place = Place::ingested(&[
        ("A%41.md", "# Escaped\n"),
        ("AA.md", "# Plain\n"),
        ("x.md", "# X\n"),
        ("x::y.md", "# Colons\n"),
    ]);
    for (name, address) in [("A%41.md", "A%2541.md::*"), ("x::y.md", "x:%3Ay.md::*")] {
        assert_eq!(first(&place, name), address);
        assert_eq!(place.run(&["toc", name]).success().json()["file"], name);
        let index = place.run(&["index", name]).success().json();
        assert_eq!(index["documents"][0]["root"]["selector"], address.replace('*', "root"));
    }
}

#[test]
fn a_changed_document_is_called_by_its_path() {
    let place = Place::ingested(&[("a.md", "# A\n\ntext\n"), ("b.md", "# B\n")]);
    place.write("a.md", "# A\n\nother text\n");
    place.remove("b.md");
    std::fs::create_dir(place.join("b.md")).unwrap();
    for (document, expected) in [
        ("a.md", "a.md has changed since it was ingested; add --refresh to ingest it first"),
        // A folder is at its path.
        (
            "b.md",
            "b.md has been deleted since it was ingested; add --refresh to remove it from the store first",
        ),
    ] {
        let text = place.run(&["neighbors", document, "-f", "text"]).success().text();
        assert!(text.lines().any(|line| line.ends_with(expected)), "{text}");
    }
    let text = place.run(&["read", "a.md", "-f", "text"]).success().text();
    assert!(!text.contains("stale") && text.matches("ingest it first").count() == 1, "{text}");
    let text = place.run(&["read", "a.md", "-f", "text", "--refresh"]).success().text();
    assert!(!text.contains("warning"), "{text}");
}

#[test]
fn every_empty_answer_says_what_to_do_if_files_have_changed() {
    let place =
        Place::ingested(&[("a.md", "---\nk: 1\n---\n# A\n\n- [ ] one\n"), ("b.md", "# B\n")]);
    place.write("a.md", "---\nk: 3\n---\n# A\n\n- [ ] call Bob\n");
    for command in [
        &["meta", "--where", "k = 3"][..],
        &["tasks", "--where", "text contains Bob"],
        &["code"],
        &["find", "Bob"],
        &["search", "Bob"],
    ] {
        let text = place.run(&[command, &["-f", "text"]].concat()).ends(1).text();
        assert_eq!(text.matches("If files have changed, add --refresh.").count(), 1, "{text}");
    }
    let refreshed = ["meta", "--where", "k = 4", "-f", "text", "--refresh"];
    let text = place.run(&refreshed).ends(1).text();
    assert!(text.contains("Try fewer filters.\n"), "{text}");
}

#[test]
fn an_empty_address_is_shown_in_quotes() {
    let place = Place::ingested(&[("a.md", "# A\n")]);
    let text = place.run(&["delete", "a.md", "", "-f", "text"]).ends(1).text();
    assert!(text.starts_with("\"\": EMPTY_SELECTOR"), "{text}");
}

#[test]
fn a_file_without_an_extension_gets_advice_that_helps() {
    let place = Place::ingested(&[("a.md", "# A\n"), ("NOTES", "x\n")]);
    let fault = place.run(&["select", "./NOTES"]).ends(1).json();
    let fault = &fault["unresolved_selectors"][0];
    assert_eq!(fault["code"], "NOT_IN_STORE");
    assert!(fault["message"].as_str().unwrap().contains("it has no extension"), "{fault}");
}

#[test]
fn a_document_is_read_by_what_it_calls_itself() {
    let place = Place::ingested(&[
        (
            "notes/a.md",
            "---\nid: qp-3e7a\naliases: [Old Name]\ntitle: Paper\n---\n# A\n\n## Summary\n\ns\n",
        ),
        ("notes/b.md", "---\naliases: [Twice, Summary]\n---\n# B\n\nNot old name at all.\n"),
        ("notes/c.md", "---\nid: Twice\n---\n# C\n\n## See old name here\n"),
        ("notes/d.md", "---\naliases: Twice\n---\n# D\n"),
    ]);
    for name in ["qp-3e7a", "Old Name", "old name", "Paper"] {
        let json = place.run(&["select", name]).success().json();
        assert_eq!(json["results"][0]["selector"], "notes/a.md::*", "{name}");
        let warning = &json["warnings"][0];
        assert_eq!(warning["code"], "NAME_IN_DOCUMENT");
        assert!(warning["message"].as_str().unwrap().starts_with(name), "{warning}");
    }
    for address in ["qp-3e7a::Summary", "qp-3e7a#summary", "Old Name:8", "Old%20Name::Summary"] {
        let json = place.run(&["read", address]).success().json();
        assert_eq!(json["selector"], "notes/a.md::heading:h2[0]", "{address} {json}");
    }
    place.run(&["links", "tree", "qp-3e7a"]).success();
    let section = place.run(&["read", "Summary"]).success().json();
    assert_eq!(
        section["selector"], "notes/a.md::heading:h2[0]",
        "a title of a section comes first"
    );
    assert_eq!(
        place.run(&["select", "Twice"]).success().json()["results"][0]["file"],
        "notes/c.md"
    );
    place.write("notes/c.md", "# C\n");
    place.run(&["ingest"]).success();
    let several = place.run(&["select", "Twice"]).ends(1).json();
    let fault = &several["unresolved_selectors"][0];
    assert_eq!(
        (&fault["code"], fault["candidates"].as_array().unwrap().len()),
        (&json!("AMBIGUOUS"), 2)
    );
    assert_eq!(place.run(&["select", "QP-3E7A"]).ends(1).json()["results"], json!([]));
    let refused = place.run(&["replace", "qp-3e7a", "--content", "x"]).ends(2);
    assert_eq!(refused.code(), "EDIT_REFUSED");
    assert!(refused.stderr.contains("notes/a.md::*"), "{}", refused.stderr);
}

#[test]
fn the_last_part_of_a_section_path_may_be_a_part_of_a_title() {
    let place = Place::ingested(&[(
        "a.md",
        "# Requirements\n\n## Functional\n\n### Authentication\n\n### Authorization\n\n# Other\n\n### Author\n",
    )]);
    let several = place.run(&["read", "a.md", "Requirements/Functional/Auth"]).ends(1).json();
    let fault = &several["unresolved_selectors"][0];
    assert_eq!(
        (&fault["code"], fault["candidates"].as_array().unwrap().len()),
        (&json!("AMBIGUOUS"), 2)
    );
    let one = place.run(&["read", "a.md", "requirements/functional/authen"]).success().json();
    assert_eq!(one["title"], "Authentication");
}

#[test]
fn a_misspelled_function_is_suggested_in_spite_of_its_parameters() {
    let title = "## `fs.readFile(path[, options], callback)` with a long explanation after it\n";
    let place = Place::ingested(&[("fs.md", &format!("# File system\n\n{title}"))]);
    for address in ["fs::fs.redFile", "fs.md::fs/callback-api/fsreadfil"] {
        let json = place.run(&["select", address]).ends(1).json();
        let suggestions = &json["unresolved_selectors"][0]["suggestions"];
        assert_eq!(suggestions[0], "fs.md::heading:h2[0]", "{json}");
    }
}

#[test]
fn a_page_that_does_not_exist_leaves_the_node_as_partial_result() {
    let place = Place::ingested(&[("doc.md", "text\n\n# A\n")]);
    let json = place.run(&["select", "doc::root/page[9]"]).ends(1).json();
    assert_eq!(json["unresolved_selectors"][0]["code"], "INDEX_OUT_OF_RANGE");
    assert_eq!(json["partial_results"][0]["selector"], "doc.md::root");
}

#[test]
fn a_document_that_is_named_by_its_whole_path_hides_a_section_with_a_warning() {
    let place =
        Place::ingested(&[("e.md", "# E\n"), ("w.md", "# W\n\n## e.md\n"), ("x.md", "# x.md\n")]);
    let read = place.run(&["select", "e.md"]).success().json();
    assert_eq!(read["results"][0]["selector"], "e.md::*");
    assert_eq!(read["warnings"][0]["code"], "SHADOWED_TITLE");
    let own = place.run(&["select", "x.md"]).success().json();
    assert_eq!(own["warnings"], json!([]), "its own title is not hidden");
}

#[test]
fn the_sort_order_does_not_change_the_form_of_the_answer() {
    let dated = "---\ndate: 2026-01-01\n---\n# A\n";
    let place = Place::ingested(&[
        ("one/a.md", dated),
        ("two/a.md", dated),
        ("two/b.md", "# B\n"),
        ("c.md", "# C\n"),
    ]);
    for folder in ["one", "two"] {
        let plain = place.run(&["toc", folder]).success().json();
        let sorted = place.run(&["toc", folder, "--sort", "date"]).success().json();
        assert_eq!(plain, sorted, "{folder}");
    }
}

#[test]
fn an_edit_takes_the_address_of_a_whole_document() {
    let place = Place::ingested(&[("a.md", "# A\n"), ("b.md", "# B\n")]);
    place.run(&["meta", "set", "a.md::*", "k=v"]).success();
    assert!(std::fs::read_to_string(place.join("a.md")).unwrap().contains("k: v"));
    let refused = place.run(&["meta", "set", "a*", "k=w"]).ends(1).json();
    assert!(refused.to_string().contains("is not the name of a document"), "{refused}");
}

#[test]
fn a_glob_is_followed_by_the_mark_of_a_whole_document() {
    let place = Place::ingested(&[("d/a.md", "# A\n"), ("d/b.md", "# B\n"), ("c.md", "# C\n")]);
    let files = |name: &str| place.run(&["toc", name]).success().json();
    assert_eq!(files("d/*")["files"].as_array().unwrap().len(), 2);
    assert_eq!(files("d/*::*"), files("d/*"));
    assert_eq!(files("./d/*"), files("d/*"));
}

#[test]
fn a_glob_that_cannot_be_read_says_so() {
    let place = Place::ingested(&[("a.md", "# A\n")]);
    let filtered = place.run(&["toc", "-g", "[a"]).ends(2).json();
    let named = place.run(&["toc", "[a"]).json();
    let fault = &named["unresolved_selectors"][0];
    assert_eq!(fault["code"], "INVALID_SYNTAX");
    assert_eq!(fault["message"], filtered["error"]["message"]);
}

#[test]
fn a_title_written_as_a_heading_means_its_level() {
    let place = Place::ingested(&[
        ("e.md", "# E\n\n## guide\n\n## only\n\nfirst\n"),
        ("only.md", "# Only\n"),
        ("d.md", "# A\n\n## A\n\n### A\n\n### b\n\n## b\n\n## b\n"),
    ]);
    assert_eq!(first(&place, "## only"), "e.md::heading:h2[1]");
    assert_eq!(first(&place, "# only"), "only.md::heading:h1[0]");
    assert_eq!(first(&place, "d::## A"), "d.md::heading:h2[0]");
    assert_eq!(first(&place, "d::### b"), "d.md::heading:h3[1]");
    assert_eq!(first(&place, "e.md::# only"), "e.md::heading:h2[1]", "no other has this title");
    let edit = place.run(&["replace", "## only", "--content", "x", "--dry-run", "-f", "text"]);
    assert!(edit.success().text().contains("e.md"));
    for (address, named) in [("d::## b", "## b"), ("d::#### A", "#### A")] {
        let fault = place.run(&["select", address]).ends(1).json();
        let fault = &fault["unresolved_selectors"][0];
        assert_eq!(fault["code"], "AMBIGUOUS", "{fault}");
        assert!(fault["message"].as_str().unwrap().contains(&format!("{named:?}")), "{fault}");
    }
}

#[test]
fn a_document_hides_a_section_with_the_slug_of_its_own_title() {
    let place = Place::ingested(&[
        ("guide.md", "# Guide\n"),
        ("other.md", "# Other\n\n## guide\n"),
        ("x.md", "# X\n\n## x\n"),
    ]);
    for name in ["guide", "Guide", "guide.md"] {
        let read = place.run(&["select", name]).success().json();
        assert_eq!(read["results"][0]["selector"], "guide.md::*");
        let codes = if name == "guide.md" { json!([]) } else { json!(["SHADOWED_TITLE"]) };
        let found: Vec<&Value> =
            read["warnings"].as_array().unwrap().iter().map(|warning| &warning["code"]).collect();
        assert_eq!(json!(found), codes, "{name}");
    }
    let own = place.run(&["select", "x"]).success().json();
    assert_eq!(own["warnings"], json!([]), "sections of the document itself are not hidden");
    let place = Place::ingested(&[
        ("guide.md", "# Guide\n"),
        ("m.md", "---\ntitle: guide\n---\n\n# M\n"),
        ("n.md", "---\ntitle: guide\n---\n\n# N\n"),
        ("z.md", "# Z\n\n## guide\n"),
    ]);
    let read = place.run(&["select", "guide"]).success().json();
    assert_eq!(read["warnings"][0]["code"], "SHADOWED_TITLE", "titles without sections: {read}");
}

#[test]
fn a_path_with_colons_comes_before_a_place_that_another_document_lacks() {
    let place = Place::ingested(&[
        ("a.md", "# A\n"),
        ("a::b::c.md", "# Colons\n\n## sub\n"),
        ("co.md", "# Co\n"),
        ("co::lon.md", "# Lon\n\n## sub\n"),
    ]);
    for (address, expected) in [
        ("a::b::c.md", "a:%3Ab:%3Ac.md::*"),
        ("a::b::c.md::sub", "a:%3Ab:%3Ac.md::heading:h2[0]"),
        ("co::lon.md::sub", "co:%3Alon.md::heading:h2[0]"),
        ("co::lon.md", "co:%3Alon.md::*"),
    ] {
        let read = place.run(&["select", address]).success().json();
        assert_eq!(read["results"][0]["selector"], expected, "{address}");
    }
}

#[test]
fn a_file_of_the_store_is_not_ingested_and_the_reason_is_true() {
    let place = Place::with(&[("a.md", "# A\n"), (".git/x.md", "# X\n")]);
    place.run(&["--db", "x.md", "ingest", "--hidden"]).success();
    for (path, reason) in [("./x.md", "it belongs to the store"), ("./.git/x.md", "it is in .git")]
    {
        let fault = place.run(&["--db", "x.md", "select", path]).ends(1);
        assert_eq!(fault.code(), "NOT_IN_STORE");
        assert!(fault.text().contains(reason), "{}", fault.text());
    }
    let place = Place::ingested(&[("a.md", "# A\n"), (".git/x.md", "# X\n")]);
    for (path, reason) in
        [("./.mdsel.db", "it belongs to the store"), ("./.git/x.md", "it is in .git")]
    {
        let fault = place.run(&["select", path]).ends(1);
        assert!(fault.text().contains(reason), "{}", fault.text());
    }
}

#[test]
fn the_name_of_a_document_is_not_said_to_be_its_title() {
    let place = Place::ingested(&[("z/dup.md", "# dup\n\n## A\n"), ("b.md", "# B\n")]);
    let fault = place.run(&["select", "dup#a-2"]).ends(1).json();
    assert_eq!(fault["warnings"], json!([]), "{fault}");
    assert_eq!(
        fault["unresolved_selectors"][0]["message"],
        "z/dup.md has no anchor #a-2; `mdsel toc z/dup.md` lists its sections"
    );
}

#[test]
fn the_folder_of_the_root_has_a_hint_that_works() {
    let place = Place::with(&[("d/a.md", "# A\n")]);
    place.run(&["--db", "d/.mdsel.db", "ingest", "--root", "d"]).success();
    let fault = place.run(&["--db", "d/.mdsel.db", "select", "./d"]).ends(1);
    assert!(!fault.text().contains("**"), "{}", fault.text());
}

#[test]
fn names_in_messages_are_readable_in_every_script() {
    let names = ["ข้าง น้ำ", "हिन्दी", "ক্ষণ", "cafe\u{301}"];
    let links: String = names.iter().map(|name| format!("[[{name}]]\n\n")).collect();
    let place = Place::ingested(&[("a.md", &format!("# A\n\n{links}"))]);
    let check = place.run(&["links", "check", "-f", "text"]).ends(1);
    for name in names {
        let quoted = format!("\"{name}\"");
        assert!(check.text().contains(&quoted), "{}", check.text());
        for command in [&["select", name][..], &["find", name], &["meta", "--where", name]] {
            let command = [command, &["-f", "text"]].concat();
            let answer = place.run(&command);
            assert!(answer.status > 0);
            let all = answer.text() + &answer.stderr;
            assert!(all.contains(name) && !all.contains("\\u{"), "{command:?}: {all}");
        }
    }
}

#[test]
fn of_a_frequent_title_the_first_documents_come_first() {
    let most = mdsel::limits::MAX_TITLED;
    let place = Place::new();
    place.write("a.md", "# A title\n");
    for number in 0..=most {
        place.write(&format!("d{number:04}.md"), "# Title\n");
    }
    place.run(&["ingest"]).success();
    let answer = place.run(&["find", "title", "--limit", "0"]).success().json();
    let found = answer["matches"].as_array().unwrap().iter();
    let found: Vec<&str> = found.map(|one| one["file"].as_str().unwrap()).collect();
    let last = format!("d{most:04}.md");
    assert_eq!(found[most..], ["a.md", last.as_str()]);
    let limits = place.run(&["status", "--limits", "-f", "text"]).success().text();
    assert!(limits.contains("titled-documents"), "{limits}");
}

#[test]
fn find_lists_documents_by_the_title_in_their_front_matter() {
    let place = Place::ingested(&[
        ("a.md", "# Glossary\n\n## Solo\n"),
        ("b.md", "---\ntitle: Solo\n---\nx\n"),
        ("c.md", "---\ntitle: solo\n---\n# Other\n"),
        // The heading stands for the document.
        ("d.md", "---\ntitle: Solo\n---\n# Solo\n"),
        ("e.md", "---\ntitle: Solo flight\n---\ny\n"),
    ]);
    let found = |arguments: &[&str]| {
        let answer = place.run(&[&["find"], arguments].concat()).json();
        let matches = answer["matches"].as_array().unwrap().clone();
        matches.iter().map(|it| it["selector"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let all = ["a.md::heading:h2[0]", "b.md::*", "c.md::*", "d.md::heading:h1[0]"];
    assert_eq!(found(&["Solo"]), all);
    assert_eq!(found(&["Solo", "--sort", "-path"]), all.into_iter().rev().collect::<Vec<_>>());
    assert_eq!(found(&["Solo", "--limit", "1", "--under", "c.md"]), ["c.md::*"]);
    assert_eq!(found(&["Solo", "--level", "1"]), ["d.md::heading:h1[0]"]);
    let text = place.run(&["find", "Solo", "--under", "b.md", "-f", "text"]).success().text();
    assert_eq!(text.lines().next().unwrap(), "b.md:1-4: Solo  ::*");
}
