//! `verify`: what it finds, what it repairs, and that no damage that changes an answer escapes it.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mdsel::error::{ErrorKind, Result};
use mdsel::query::finding::Finding;
use mdsel::query::search::{PatternOptions, Query};
use mdsel::query::{Session, dump, search};
use mdsel::verify;
use serde_json::{Value, json};

use crate::harness::{Answer, PROGRAM, Place, copy, reader, repeats, search_request, tampered};
use mdsel::store::Lookup;

#[test]
fn a_document_of_an_earlier_version_is_compared_with_its_hash() {
    let text = |word: &str| format!("# A\n\n{word}\n\n## B\n\nsame text\n");
    let place = Place::ingested(&[("a.md", &text("red"))]);
    let earlier_form = |word: &str| {
        let frame = zstd::bulk::compress(text(word).as_bytes(), 3).unwrap();
        let digits: String = frame.iter().map(|byte| format!("{byte:02x}")).collect();
        tampered(&place, &format!("UPDATE content SET packed = x'{digits}'"));
    };
    let questions =
        [&["read", "a.md", "B", "-f", "raw"][..], &["search", "-F", "same", "-f", "text"]];
    earlier_form("red");
    for question in questions {
        assert!(place.run(question).success().text().contains("same text"), "{question:?}");
    }
    earlier_form("ten");
    for question in questions {
        let answer = place.run(question).ends(2);
        assert!(answer.stderr.contains("STORE_CORRUPT"), "{question:?}: {}", answer.stderr);
    }
}

/// The codes of the problems, each once.
pub(crate) fn codes(answer: &Answer) -> Vec<String> {
    let json = answer.json();
    let Some(findings) = json["findings"].as_array() else { return vec![answer.code()] };
    let codes = findings.iter().map(|finding| finding["code"].as_str().unwrap().to_owned());
    let mut codes: Vec<String> = codes.collect();
    codes.sort();
    codes.dedup();
    codes
}

pub(crate) fn dumped(place: &Place) -> Vec<u8> {
    place.run(&["dump"]).success().stdout
}

/// The names of the files beside the store that begin with its name and `suffix`.
fn beside(place: &Place, suffix: &str) -> Vec<String> {
    let names = std::fs::read_dir(place.path()).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> =
        names.filter(|name| name.starts_with(&format!(".mdsel.db{suffix}"))).collect();
    names.sort();
    names
}

#[test]
fn an_intact_store_has_no_problems_and_is_not_changed() {
    let place = Place::with_fixtures();
    place.write("guide.md", "# Guide\n\nother\n");
    place.remove("links.md");
    place.run(&["ingest", "guide.md"]).success();
    let before = std::fs::read(place.join(".mdsel.db")).unwrap();
    for arguments in [&["verify"][..], &["verify", "--full", "--reparse"], &["verify", "--repair"]]
    {
        // A file that differs from the stored document is not damage.
        let answer = place.run(arguments).success().json();
        assert_eq!(answer, json!({ "findings": [], "truncated": false }), "{arguments:?}");
    }
    assert_eq!(std::fs::read(place.join(".mdsel.db")).unwrap(), before);
    assert!(beside(&place, ".damaged").is_empty());
}

#[test]
fn every_damage_of_rows_is_reported_and_repaired() {
    for (sql, code) in [
        ("UPDATE outline SET stored = x'00' WHERE document_id = 3", "ROWS_DAMAGED"),
        ("DELETE FROM outline", "ROWS_DAMAGED"),
        ("UPDATE title SET keys = keys || 'x'", "ROWS_DAMAGED"),
        ("UPDATE document SET words = words + 1 WHERE id = 4", "ROWS_DAMAGED"),
        ("UPDATE document SET lossy = 1 WHERE id = 2", "ROWS_DAMAGED"),
        ("UPDATE diagnostic SET line = 7", "ROWS_DAMAGED"),
        ("UPDATE front_matter SET value = '{}'", "ROWS_DAMAGED"),
        ("DELETE FROM tag", "ROWS_DAMAGED"),
        ("UPDATE ldmd_section SET id = id || 'x'", "ROWS_DAMAGED"),
        ("UPDATE link SET stored = zeroblob(9)", "ROWS_DAMAGED"),
        ("DELETE FROM link_key WHERE key % 2", "ROWS_DAMAGED"),
        ("UPDATE name_key SET key = key + 1", "ROWS_DAMAGED"),
        ("UPDATE document SET seal = zeroblob(32) WHERE id = 1", "ROWS_DAMAGED"),
        ("INSERT INTO link_key VALUES (1, 9999)", "ROW_ORPHANED"),
        ("INSERT INTO tag VALUES ('x', 9999)", "ROW_ORPHANED"),
        ("INSERT INTO content VALUES (9999 * 4096, x'00')", "ROW_ORPHANED"),
        ("UPDATE content SET packed = x'28b52ffd' WHERE place < 5 * 4096", "BYTES_DAMAGED"),
        ("DELETE FROM content", "BYTES_DAMAGED"),
        ("INSERT INTO content VALUES (1 * 4096 + 7, x'00')", "BYTES_DAMAGED"),
        ("UPDATE document SET hash = zeroblob(32) WHERE id = 1", "BYTES_DAMAGED"),
        ("UPDATE document SET size = size + 1 WHERE id = 2", "BYTES_DAMAGED"),
        ("UPDATE document SET size = 1 << 40 WHERE id = 2", "DATABASE_DAMAGED"),
        ("UPDATE document SET hash = 'x' WHERE id = 2", "DATABASE_DAMAGED"),
        ("UPDATE document SET seal = NULL WHERE id = 5", "META_DAMAGED"),
        (
            "UPDATE meta SET value = '{\"extensions\":[\"md\"],\"hidden\":true,\
          \"no_ignore\":false,\"max_file_bytes\":33554432}' WHERE key = 'options'",
            "META_DAMAGED",
        ),
        ("DELETE FROM meta WHERE key = 'seal'", "META_DAMAGED"),
        ("INSERT INTO meta VALUES ('more', 1)", "META_DAMAGED"),
        ("UPDATE sqlite_sequence SET seq = 1", "META_DAMAGED"),
        ("UPDATE document SET generation = 99 WHERE id = 1", "META_DAMAGED"),
    ] {
        let place = Place::with_fixtures();
        let before = dumped(&place);
        tampered(&place, sql);
        let found = place.run(&["verify"]);
        assert!(codes(&found).iter().any(|found| found == code), "{sql}: {}", found.text());
        let repaired = place.run(&["verify", "--repair"]).success().json();
        assert_eq!(repaired["warnings"][0]["code"], "STORE_REPAIRED", "{sql}");
        let clean = place.run(&["verify", "--full", "--reparse"]).success().json();
        assert_eq!(clean, json!({ "findings": [], "truncated": false }), "{sql}");
        let after = dumped(&place);
        // A store with damaged settings loses its options, so only the documents are compared.
        let body = |pack: &[u8]| String::from_utf8_lossy(pack).split_once('\n').unwrap().1.len();
        assert!(
            after == before || code == "META_DAMAGED" && body(&after) == body(&before),
            "{sql}"
        );
        assert_eq!(beside(&place, ".damaged"), [".mdsel.db.damaged"], "{sql}");
        // Forged options are not trusted, so they are given on the command line.
        let options = ["--ext", "md", "--hidden"];
        let given = if sql.contains("hidden") { &options[..] } else { &[] };
        place.run(&[&["ingest", "--check"], given].concat()).success();
    }
}

#[test]
fn damage_that_only_parsing_detects_is_reported_by_reparse() {
    let place = Place::with_fixtures();
    // A forger can remove the checksums.
    tampered(&place, "DELETE FROM diagnostic; UPDATE document SET seal = NULL");
    assert_eq!(codes(&place.run(&["verify"]).ends(1)), ["META_DAMAGED"]);
    let found = place.run(&["verify", "--reparse"]).ends(1);
    assert_eq!(codes(&found), ["META_DAMAGED", "PARSE_DIFFERS"]);
    place.run(&["verify", "--repair"]).success();
    place.run(&["verify", "--reparse"]).success();
}

/// A function that damages the index of a store.
type Damage = fn(&Place);

/// The largest file of the index with this extension.
fn segment_file(place: &Place, extension: &str) -> std::path::PathBuf {
    let entries = std::fs::read_dir(place.join(".mdsel.db-fts")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|other| other == extension)).collect();
    paths.sort_by_key(|path| std::fs::metadata(path).unwrap().len());
    paths.pop().unwrap()
}

fn change_meta(place: &Place, change: fn(&mut Value)) {
    let path = place.join(".mdsel.db-fts/meta.json");
    let mut meta: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    change(&mut meta);
    std::fs::write(path, serde_json::to_vec(&meta).unwrap()).unwrap();
}

fn change_stamp(meta: &mut Value, change: fn(&mut Value)) {
    let mut stamp: Value = serde_json::from_str(meta["payload"].as_str().unwrap()).unwrap();
    change(&mut stamp);
    meta["payload"] = json!(stamp.to_string());
}

#[test]
fn every_damage_of_the_index_is_reported_and_repaired() {
    let damages: [(&str, Damage); 14] = [
        ("INDEX_MISSING", |place| {
            std::fs::remove_dir_all(place.join(".mdsel.db-fts")).unwrap();
        }),
        ("INDEX_MISSING", |place| place.remove(".mdsel.db-fts/meta.json")),
        ("INDEX_DAMAGED", |place| std::fs::remove_file(segment_file(place, "store")).unwrap()),
        ("INDEX_DAMAGED", |place| std::fs::remove_file(segment_file(place, "trigrams")).unwrap()),
        ("INDEX_DAMAGED", |place| {
            let path = segment_file(place, "pos");
            let mut bytes = std::fs::read(&path).unwrap();
            bytes[10] ^= 1;
            std::fs::write(path, bytes).unwrap();
        }),
        ("INDEX_DAMAGED", |place| {
            change_meta(place, |meta| {
                meta["persisted_custom_extensions"] = json!([]);
            });
        }),
        ("INDEX_DAMAGED", |place| {
            change_meta(place, |meta| {
                change_stamp(meta, |stamp| stamp["through"] = json!(1));
            });
        }),
        ("INDEX_DIFFERS", |place| {
            change_meta(place, |meta| {
                meta["segments"].as_array_mut().unwrap().pop().unwrap();
            });
        }),
        ("INDEX_FOREIGN", |place| {
            change_meta(place, |meta| {
                change_stamp(meta, |stamp| stamp["store"] = json!("another"));
            });
        }),
        ("INDEX_FOREIGN", |place| {
            change_meta(place, |meta| {
                change_stamp(meta, |stamp| stamp["generation"] = json!(99));
            });
        }),
        ("INDEX_OUT_OF_DATE", |place| {
            copy(&place.join(".mdsel.db-fts"), &place.join("old"));
            place.write("new.md", "# New\n");
            place.run(&["ingest"]).success();
            std::fs::remove_dir_all(place.join(".mdsel.db-fts")).unwrap();
            std::fs::rename(place.join("old"), place.join(".mdsel.db-fts")).unwrap();
        }),
        ("INDEX_LEFTOVERS", |place| place.write(".mdsel.db-fts/.tmpAbCdEf", "x")),
        ("REPAIR_LEFTOVERS", |place| place.write(".mdsel.db-repaired-from", "x")),
        ("EDIT_LEFTOVER", |place| place.write("same-name/.mdsel-edit-0123456789abcdef", "x")),
    ];
    for (number, (code, damage)) in damages.into_iter().enumerate() {
        let place = Place::with_fixtures();
        damage(&place);
        let before = dumped(&place);
        let found = place.run(&["verify"]).ends(1);
        assert_eq!(codes(&found), [code], "{number}: {}", found.text());
        place.run(&["verify", "--repair"]).success();
        let clean = place.run(&["verify"]).success().json();
        assert_eq!(clean, json!({ "findings": [], "truncated": false }), "{number}: {code}");
        assert_eq!(dumped(&place), before);
        assert!(beside(&place, ".damaged").is_empty(), "the store file was intact");
    }
}

#[test]
fn a_replaced_document_leaves_no_rows_if_its_own_were_damaged() {
    for damage in [
        "UPDATE link SET stored = zeroblob(9)",
        "UPDATE link SET stored = CAST('x' AS TEXT)",
        "UPDATE code SET stored = x'ff'",
        "UPDATE task SET stored = x'05'",
        "UPDATE front_matter SET value = '{\"other\":1}'",
    ] {
        let place = Place::with_fixtures();
        tampered(&place, damage);
        assert_eq!(place.run(&["verify"]).status, 1, "{damage}");
        place.run(&["ingest", "--force"]).success();
        let clean = place.run(&["verify"]);
        assert_eq!(clean.status, 0, "{damage}: {}", clean.text());
    }
}

#[test]
fn an_unfinished_edit_is_reported_and_finished() {
    let place = Place::with_fixtures();
    tampered(
        &place,
        "INSERT INTO edit_intent VALUES (1, 'guide.md', '.mdsel-edit-0', zeroblob(32), x'')",
    );
    let found = place.run(&["verify"]).ends(1).json();
    assert_eq!(found["findings"][0]["code"], "EDIT_OPEN");
    assert_eq!(found["findings"][0]["file"], "guide.md");
    let repaired = place.run(&["verify", "--repair"]).success().json();
    assert_eq!(repaired["warnings"][0]["code"], "EDIT_RECOVERED");
    place.run(&["verify"]).success();
}

#[test]
fn an_unfinished_edit_in_a_folder_that_is_gone_can_be_dropped() {
    let place = Place::with(&[("docs/a.md", "# A\n")]);
    place.run(&["ingest", "--root", "docs"]).success();
    tampered(
        &place,
        "INSERT INTO edit_intent VALUES (1, 'a.md', '.mdsel-edit-0', zeroblob(32), x'')",
    );
    std::fs::remove_dir_all(place.join("docs")).unwrap();
    place.run(&["verify", "--repair"]).ends(1);
    let dropped = place.run(&["verify", "--drop-edits"]).success().json();
    assert_eq!(dropped["warnings"][0]["code"], "EDIT_DROPPED", "{dropped}");
    place.run(&["verify"]).success();
}

#[test]
fn only_lost_documents_are_removed_and_each_is_named() {
    let place = Place::with_fixtures();
    let ids = "(SELECT id FROM document WHERE path IN ('guide.md', 'links.md', 'tables.md'))";
    tampered(&place, &format!("UPDATE content SET packed = x'00' WHERE place / 4096 IN {ids}"));
    place.remove("guide.md");
    place.write("links.md", "# Other links\n");
    let repaired = place.run(&["verify", "--repair"]).ends(1).json();
    let findings = repaired["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1);
    assert_eq!((&findings[0]["code"], &findings[0]["file"]), (&json!("LOST"), &json!("guide.md")));
    let warnings = repaired["warnings"].as_array().unwrap().iter();
    let warnings: Vec<&str> = warnings.map(|warning| warning["code"].as_str().unwrap()).collect();
    assert_eq!(warnings, ["STORE_REPAIRED", "NEW_VERSION", "TAKEN_FROM_FILE"]);
    place.run(&["verify", "--reparse"]).success();
    // What remains is equal to a fresh ingest.
    let fresh = Place::new();
    copy(place.path(), fresh.path());
    for name in beside(&fresh, "") {
        let path = fresh.join(&name);
        if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }
            .unwrap();
    }
    fresh.run(&["ingest"]).success();
    assert!(dumped(&place) == dumped(&fresh));
    // A second repair does not overwrite what the first one kept.
    let kept = std::fs::read(place.join(".mdsel.db.damaged")).unwrap();
    tampered(&place, "DELETE FROM title");
    place.run(&["verify", "--repair"]).success();
    assert_eq!(beside(&place, ".damaged"), [".mdsel.db.damaged", ".mdsel.db.damaged-1"]);
    assert_eq!(std::fs::read(place.join(".mdsel.db.damaged")).unwrap(), kept);
}

#[test]
fn a_corrupt_store_is_recovered_into_a_new_file() {
    let files: Vec<(String, String)> = (0..400)
        .map(|number| {
            (format!("{number}.md"), format!("# Title {number}\n\n{}\n", "word ".repeat(number)))
        })
        .collect();
    let files: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    for with_files in [true, false] {
        let place = Place::ingested(&files);
        let before = dumped(&place);
        let path = place.join(".mdsel.db");
        let mut bytes = std::fs::read(&path).unwrap();
        let pages = bytes.len() / 4096;
        for page in [pages / 2, pages / 2 + 1, pages / 3] {
            bytes[page * 4096..(page + 1) * 4096].fill(0xff);
        }
        std::fs::write(&path, &bytes).unwrap();
        assert_ne!(place.run(&["verify"]).status, 0);
        if !with_files {
            for (path, _) in &files {
                place.remove(path);
            }
        }
        let repaired = place.run(&["verify", "--repair"]).ends(i32::from(!with_files)).json();
        place.run(&["verify", "--full", "--reparse"]).success();
        assert_eq!(std::fs::read(place.join(".mdsel.db.damaged")).unwrap(), bytes);
        if with_files {
            assert!(dumped(&place) == before);
            continue;
        }
        // Every document is unchanged, or reported as lost.
        let findings = repaired["findings"].as_array().unwrap();
        assert!(findings.iter().all(|finding| finding["code"] == "LOST"));
        let lost: Vec<&str> =
            findings.iter().filter_map(|finding| finding["file"].as_str()).collect();
        let mut recovered = 0;
        for (path, text) in &files {
            let answer = place.run_in("", &["select", &format!("{path}::*"), "-f", "raw"], "");
            if answer.status == 0 {
                assert_eq!(answer.text(), *text);
                recovered += 1;
            } else {
                assert!(lost.contains(path), "{path} is neither stored nor reported as lost");
            }
        }
        assert!(recovered > 200, "{recovered} of 400");
    }
}

#[test]
fn a_repair_of_a_truncated_store_takes_all_files_and_says_so() {
    let texts: Vec<(String, String)> = (0..60)
        .map(|number| (format!("{number}.md"), format!("# Doc {number}\n\n{}\n", "0".repeat(500))))
        .collect();
    let files: Vec<(&str, &str)> =
        texts.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    for length in [14_862, 3 * 4096, 10 * 4096] {
        let place = Place::ingested(&files);
        let before = dumped(&place);
        let store = std::fs::File::options().write(true).open(place.join(".mdsel.db")).unwrap();
        store.set_len(length).unwrap();
        let repaired = place.run(&["verify", "--repair"]).ends(1).json();
        assert_eq!(repaired["findings"][0]["code"], "LOST");
        let warnings = repaired["warnings"].to_string();
        assert!(!warnings.contains("NEW_VERSION"), "{length}: {warnings}");
        assert!(dumped(&place) == before, "{length}");
        place.run(&["verify"]).success();
    }
}

#[test]
fn foreign_files_and_newer_stores_are_not_repaired() {
    let place = Place::with(&[("a.md", "# A\n")]);
    assert_eq!(place.run(&["verify", "--repair"]).ends(2).code(), "STORE_NOT_FOUND");
    place.run(&["ingest"]).success();
    for sql in ["PRAGMA user_version = 99", "CREATE TABLE later (x)"] {
        tampered(&place, sql);
        let before = std::fs::read(place.join(".mdsel.db")).unwrap();
        assert_eq!(place.run(&["verify", "--repair"]).ends(2).code(), "STORE_TOO_NEW");
        assert_eq!(std::fs::read(place.join(".mdsel.db")).unwrap(), before);
    }
    std::fs::write(place.join(".mdsel.db"), "x".repeat(200)).unwrap();
    assert_eq!(place.run(&["verify", "--repair"]).ends(2).code(), "STORE_FOREIGN");
    let locked = Place::ingested(&[("a.md", "# A\n")]);
    let lock = std::fs::File::open(locked.join(".mdsel.db-lock")).unwrap();
    lock.lock().unwrap();
    assert_eq!(locked.run(&["verify", "--wait", "0"]).ends(2).code(), "LOCKED");
}

#[test]
fn hostile_stores_are_reported_within_limits_of_time_and_memory() {
    for sql in [
        // A row that is larger than the limit for rows.
        "UPDATE outline SET stored = zeroblob(270 << 20) WHERE document_id = 1",
        "UPDATE content SET packed = zeroblob(140 << 20) WHERE place = 1 * 4096",
        // An outline of another document, with spans past the end of this document.
        "UPDATE outline SET stored = (SELECT stored FROM outline o JOIN document ON id = document_id \
         ORDER BY size DESC LIMIT 1) WHERE document_id = (SELECT id FROM document ORDER BY size LIMIT 1); \
         UPDATE document SET seal = NULL",
        "UPDATE ldmd SET stored = zeroblob(40); UPDATE document SET seal = NULL",
        "UPDATE document SET id = -id, seal = NULL; UPDATE content SET place = -place",
        "UPDATE document SET size = 1 << 30, seal = NULL",
    ] {
        let place = Place::with_fixtures();
        tampered(&place, sql);
        // Far more memory and time than the check needs.
        let limited = format!("ulimit -v 2000000; ulimit -t 20; exec {PROGRAM} verify --reparse");
        let output = std::process::Command::new("sh")
            .args(["-c", &limited])
            .current_dir(place.path())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(1), "{sql}: {text} {output:?}");
        assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"), "{sql}");
    }
    // A schema that is not one of mdsel is not read further.
    for sql in [
        "CREATE TRIGGER t AFTER INSERT ON document BEGIN DELETE FROM document; END",
        "DROP TABLE title; CREATE VIEW title AS WITH RECURSIVE r(document_id) AS \
         (SELECT 1 UNION ALL SELECT document_id + 1 FROM r) SELECT document_id, 'x' AS keys FROM r",
    ] {
        let place = Place::with_fixtures();
        let before = dumped(&place);
        tampered(&place, sql);
        assert_eq!(place.run(&["verify"]).ends(2).code(), "STORE_CORRUPT");
        place.run(&["verify", "--repair"]).success();
        assert!(dumped(&place) == before);
    }
}

/// Pseudorandom numbers that differ from round to round and are the same in every run
/// (`SplitMix64`).
pub(crate) fn random(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    move |below| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % below as u64).unwrap()
    }
}

/// Calls `round` with each number below `count`, on two threads.
pub(crate) fn rounds(count: u64, round: impl Fn(u64) + Sync) {
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        break;
                    }
                    round(number);
                }
            });
        }
    });
}

pub(crate) fn verified(store: &Path, is_repair: bool) -> Result<Vec<Finding>> {
    let request = verify::VerifyRequest {
        store: &crate::harness::store(store),
        is_full: false,
        is_reparsed: false,
        action: if is_repair { verify::Action::Repair } else { verify::Action::List },
        // Another test may fork while the lock is held; its child keeps the lock until it calls
        // exec.
        wait: Duration::from_secs(10),
        after: None,
    };
    Ok(verify::verify(&request)?.findings)
}

/// Everything that answers are made of: the pack, and the structure, links and names of each
/// document.
fn shown(store: &Path) -> Result<String> {
    let reader = reader(store)?;
    let session = Session::new(&*reader);
    let mut pack = Vec::new();
    dump::dump(&session, false, &mut pack)?;
    let mut shown = String::from_utf8_lossy(&pack).into_owned();
    let documents = reader.all(&Lookup::All)?;
    for document in &documents {
        shown.push_str(&format!(
            "{} {:?} {:?} {:?} {:?} {:?} {:?} {:?}\n",
            document.path,
            document.hash,
            reader.outline(document)?,
            reader.markup(document)?,
            reader.links(document)?,
            reader.front_matter(document)?,
            reader.tags(document)?,
            // Looks the document up in every way.
            (
                reader.document_at(&document.path)?.map(|found| found.id == document.id),
                reader.document(document.id)?.map(|found| found.id == document.id),
            ),
        ));
    }
    let ids: Vec<i64> = documents.iter().map(|document| document.id).collect();
    let by_id = reader.all(&Lookup::Ids(&ids))?.len();
    shown.push_str(&format!("{by_id} {:?} {:?}", reader.totals()?, reader.options()));
    Ok(shown)
}

#[test]
fn no_flipped_bit_of_the_store_changes_an_answer_unnoticed() {
    let original = Place::with_fixtures();
    let bytes = std::fs::read(original.join(".mdsel.db")).unwrap();
    let used: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at] != 0).collect();
    let before = shown(&original.join(".mdsel.db")).unwrap();
    let [changed, refused, found, repaired] = [const { AtomicU64::new(0) }; 4];
    rounds(repeats(150), |round| {
        let mut random = random(round);
        // Most of a small store is unused space.
        let at = match round % 4 {
            0 => random(bytes.len()),
            // The header and the schema, which everything else depends on.
            1 => random(4096),
            _ => used[random(used.len())],
        };
        let place = Place::new();
        copy(&original.join(".mdsel.db-fts"), &place.join(".mdsel.db-fts"));
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << random(8);
        let store = place.join(".mdsel.db");
        std::fs::write(&store, damaged).unwrap();
        let is_changed = shown(&store).map_or(true, |shown| shown != before);
        changed.fetch_add(u64::from(is_changed), Ordering::Relaxed);
        match verified(&store, false) {
            Ok(findings) => {
                assert!(!is_changed || !findings.is_empty(), "byte {at} changed an answer");
                found.fetch_add(u64::from(!findings.is_empty()), Ordering::Relaxed);
                if findings.is_empty() {
                    return;
                }
            }
            Err(error) => {
                let kind = error.kind();
                refused.fetch_add(1, Ordering::Relaxed);
                let is_foreign = matches!(
                    kind,
                    ErrorKind::StoreForeign | ErrorKind::StoreTooNew | ErrorKind::Io
                );
                assert!(is_foreign || kind == ErrorKind::StoreCorrupt, "byte {at}: {error}");
                if is_foreign {
                    return;
                }
            }
        }
        // There are no files to repair from. Whatever is not lost must be unchanged.
        let lost = verified(&store, true).unwrap_or_else(|error| panic!("byte {at}: {error}"));
        assert!(lost.iter().all(|finding| finding.code == "LOST"), "byte {at}: {lost:?}");
        let after = verified(&store, false).unwrap();
        assert!(after.is_empty(), "byte {at}: {after:?}");
        if lost.is_empty() {
            repaired.fetch_add(1, Ordering::Relaxed);
            let pack = |shown: &str| shown.split("\nEND ").next().unwrap().to_owned();
            let after = shown(&store).unwrap();
            let options = |pack: &str| pack.lines().skip(1).collect::<Vec<_>>().join("\n");
            assert!(options(&pack(&after)) == options(&pack(&before)), "byte {at}");
        }
    });
    eprintln!(
        "{} flips: {changed:?} changed an answer, {found:?} were found, {refused:?} refused, \
         {repaired:?} repaired without loss",
        repeats(150)
    );
}

/// The hits of a few searches without scores, which depend on the history of the index.
fn searched(store: &Path) -> Vec<Vec<String>> {
    let patterns = |pattern: &str| {
        let options = PatternOptions {
            is_literal: false,
            ignores_case: false,
            is_word: false,
            is_multi_line: false,
        };
        Query::Patterns(vec![pattern.to_owned()], options)
    };
    let queries = [
        Query::Words(vec!["install".to_owned()]),
        Query::Words(vec!["title:guide +the".to_owned()]),
        Query::Words(vec!["\"cargo install\" table*".to_owned()]),
        patterns("[a-z]{3}tall"),
        patterns("list|table"),
    ];
    let reader = reader(store).unwrap();
    let session = Session::new(&*reader);
    let hits = queries.into_iter().map(|query| {
        let request = search_request(query, 0);
        let answer = search::search(&session, &request).unwrap();
        let rows = mdsel::output::Answer::rows(&answer);
        let mut hits: Vec<String> = rows.map(|row| row["selector"].to_string()).collect();
        hits.sort();
        hits
    });
    hits.collect()
}

#[test]
fn no_damage_of_index_files_changes_an_answer_unnoticed() {
    let original = Place::with_fixtures();
    // A segment of few rows, and one with removed rows.
    original.write("guide.md", "# Guide\n\ninstall the table\n");
    original.run(&["ingest"]).success();
    let store = original.join(".mdsel.db");
    let before = searched(&store);
    assert!(before.iter().all(|hits| !hits.is_empty()), "{before:?}");
    let names: Vec<String> = std::fs::read_dir(original.join(".mdsel.db-fts"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.contains("lock"))
        .collect();
    let [found, healed] = [const { AtomicU64::new(0) }; 2];
    rounds(repeats(100), |round| {
        let mut random = random(round);
        let place = Place::new();
        copy(&original.join(".mdsel.db-fts"), &place.join(".mdsel.db-fts"));
        let store = place.join(".mdsel.db");
        std::fs::copy(original.join(".mdsel.db"), &store).unwrap();
        let name = &names[random(names.len())];
        let file = place.join(&format!(".mdsel.db-fts/{name}"));
        let mut bytes = std::fs::read(&file).unwrap();
        let at = random(bytes.len().max(1));
        match random(10) {
            0 => std::fs::remove_file(&file).unwrap(),
            1 => std::fs::write(&file, &bytes[..at]).unwrap(),
            _ if bytes.is_empty() => {}
            _ => {
                bytes[at] ^= 1 << random(8);
                std::fs::write(&file, bytes).unwrap();
            }
        }
        let findings = verified(&store, false).unwrap();
        assert!(findings.iter().all(|finding| finding.code.starts_with("INDEX_")), "{findings:?}");
        if findings.is_empty() {
            assert_eq!(searched(&store), before, "{name} at {at}");
        } else {
            found.fetch_add(1, Ordering::Relaxed);
            // No search crashes. Some hits may differ, as the index is damaged.
            healed.fetch_add(u64::from(searched(&store) == before), Ordering::Relaxed);
            assert_eq!(verified(&store, true).unwrap(), [], "{name} at {at}");
            assert_eq!(searched(&store), before, "{name} at {at}");
            assert!(!place.join(".mdsel.db.damaged").exists());
        }
    });
    eprintln!(
        "{} damages: {found:?} were found, of which {healed:?} changed no answer",
        repeats(100)
    );
}

/// The released stores of every schema, as the program of that version wrote them. They must never
/// be changed.
///
/// When the schema changes, a store of the new version is added, with its answers.
#[test]
fn stores_of_every_schema_still_give_the_same_answers() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/compat");
    let migrations = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/migrations")).unwrap();
    let versions = migrations.filter(|entry| entry.as_ref().unwrap().path().is_file()).count();
    for version in 1..=versions {
        let place = Place::new();
        let file = folder.join(format!("{version}.db"));
        std::fs::copy(&file, place.join(".mdsel.db")).unwrap();
        let answers: Value =
            serde_json::from_slice(&std::fs::read(folder.join("answers.json")).unwrap()).unwrap();
        let ask = |state: &str| {
            for (command, expected) in answers.as_object().unwrap() {
                let arguments: Vec<&str> = command.split(' ').collect();
                let answer = place.run(&arguments).success().text();
                let expected: Vec<&str> = expected
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|line| line.as_str().unwrap())
                    .collect();
                // Neither the files nor the index were copied with the store.
                let lines = answer.lines().filter(|line| !line.starts_with("warning: "));
                let lines: Vec<&str> = lines.collect();
                assert_eq!(lines, expected, "{state} version {version}: {command}");
            }
        };
        ask("opened");
        let copies = beside(&place, &format!(".v{version}.bak"));
        let is_old = version < versions;
        assert_eq!(copies.len(), usize::from(is_old));
        if is_old {
            assert_eq!(std::fs::read(place.join(&copies[0])).unwrap().len() % 4096, 0);
        }
        place.run(&["verify", "--full", "--reparse"]).success();
        // Version 4 added only what edits record, and version 5 only checksums.
        if version < 3 {
            let answer = place.run(&["code", "-f", "json"]);
            assert!(answer.text().contains("PARSED_BEFORE"), "{}", answer.text());
        }
        place.run(&["verify", "--repair"]).success();
        ask("repaired");
    }
}

#[test]
fn a_folder_in_the_place_of_the_log_is_found_and_moved() {
    for name in [".mdsel.db-wal", ".mdsel.db-shm"] {
        let place = Place::with_fixtures();
        std::fs::create_dir(place.join(name)).unwrap();
        let edit = ["replace", "guide.md", "Install", "--no-children", "--content", "Run it.\n"];
        place.run(&edit).ends(2);
        assert_eq!(codes(&place.run(&["verify"]).ends(1)), ["FILE_IN_THE_WAY"], "{name}");
        place.run(&["verify", "--repair"]).success();
        place.run(&edit).success();
    }
}

#[test]
fn a_file_in_the_way_of_the_log_is_named_and_moved_aside() {
    let foreign = |place: &Place, name: &str, is_pipe: bool| {
        drop(std::fs::remove_file(place.join(name)));
        if is_pipe {
            let made = std::process::Command::new("mkfifo").arg(place.join(name)).status().unwrap();
            assert!(made.success());
        } else {
            place.write("other", "data");
            std::os::unix::fs::symlink("other", place.join(name)).unwrap();
        }
    };
    for (name, is_pipe) in
        [(".mdsel.db-wal", false), (".mdsel.db-shm", true), (".mdsel.db-wal", true)]
    {
        let place = Place::with_fixtures();
        foreign(&place, name, is_pipe);
        for command in [&["search", "install"][..], &["ingest"]] {
            let answer = place.run(command);
            let said = answer.text() + &answer.stderr;
            assert!(answer.status == 0 || said.contains("verify --repair"), "{name}: {said}");
        }
        if place.join(name).symlink_metadata().is_ok_and(|it| !it.is_file()) {
            let found = place.run(&["verify"]).ends(1).json();
            assert_eq!(found["findings"][0]["code"], "FILE_IN_THE_WAY", "{name}: {found}");
        }
        place.run(&["verify", "--repair"]).success();
        place.run(&["verify"]).success();
    }
}

#[test]
fn a_file_in_the_way_of_the_lock_or_the_index_is_named_and_moved_aside() {
    let edit = ["replace", "guide.md", "Install", "--no-children", "--content", "Run it.\n"];
    for (name, kind) in [("-lock", "folder"), ("-lock", "link"), ("-fts", "file")] {
        let place = Place::with_fixtures();
        let name = format!(".mdsel.db{name}");
        let path = place.join(&name);
        if path.is_dir() {
            std::fs::remove_dir_all(&path).unwrap();
        } else {
            std::fs::remove_file(&path).unwrap();
        }
        match kind {
            "folder" => std::fs::create_dir(&path).unwrap(),
            "link" => std::os::unix::fs::symlink("elsewhere", &path).unwrap(),
            _ => std::fs::write(&path, "data").unwrap(),
        }
        place.run(&["search", "install"]).success();
        if name.ends_with("-lock") {
            let refused = place.run(&edit).ends(2);
            assert!(refused.text().contains("mdsel verify --repair"), "{}", refused.text());
        }
        let found = place.run(&["verify"]).ends(1).json();
        let findings = found["findings"].as_array().unwrap();
        let way = findings.iter().find(|finding| finding["code"] == "FILE_IN_THE_WAY").unwrap();
        assert_eq!(way["message"], format!("{name} is not a file of the store"));
        assert!(!place.join("elsewhere").exists(), "a lock was made through a link");
        place.run(&["verify", "--repair"]).success();
        place.run(&["verify"]).success();
        place.run(&edit).success();
        let aside = place.join(&format!("{name}.aside")).symlink_metadata().unwrap();
        let kinds = (aside.is_dir(), aside.is_symlink(), aside.is_file());
        assert_eq!(kinds, (kind == "folder", kind == "link", kind == "file"), "{name}");
        assert!(!place.join("elsewhere").exists());
    }
}

#[test]
fn an_index_that_cannot_be_rebuilt_is_not_called_rebuilt() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::with(&[("s/a.md", "# A\n"), ("s/b.md", "# B\n")]);
    place.run_in("s", &["ingest"], "").success();
    let set = |path: &str, mode: u32| {
        let mode = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(place.join(path), mode).unwrap();
    };
    std::fs::remove_file(place.join("s/.mdsel.db-fts/meta.json")).unwrap();
    for (path, mode) in [("s", 0o777), ("s/.mdsel.db", 0o666), ("s/.mdsel.db-fts", 0o555)] {
        set(path, mode);
    }
    for name in ["s/.mdsel.db-wal", "s/.mdsel.db-shm", "s/.mdsel.db-lock"] {
        drop(std::fs::remove_file(place.join(name)));
    }
    let repair = ["--db", "s/.mdsel.db", "verify", "--repair", "-f", "json"];
    if let Some(answer) = crate::stores::as_nobody(&place, &repair) {
        let said = String::from_utf8_lossy(&answer.stdout);
        assert!(!said.contains("INDEX_REBUILT"), "{said}");
        assert!(said.contains("ermission denied"), "{said}");
    }
}
