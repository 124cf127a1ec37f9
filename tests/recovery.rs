//! Stores with damage of every kind: what the commands report, and that `verify --repair` repairs
//! it.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use mdsel::error::Result;
use mdsel::query::search::{PatternOptions, Query};
use mdsel::query::{Session, search};
use serde_json::json;

use crate::harness::{Answer, Place, copy, reader, repeats, search_request, tampered};
use crate::verify::{codes, dumped, random, rounds, verified};
use mdsel::store::Lookup;

/// Commands that only read.
const READERS: [&[&str]; 6] = [
    &["dump"],
    &["toc"],
    &["select", "guide.md"],
    &["search", "install"],
    &["links", "check"],
    &["status"],
];

/// The body of a pack, without its header, which contains the options, and without its hash.
fn body(pack: &[u8]) -> Vec<u8> {
    let start = pack.iter().position(|byte| *byte == b'\n').unwrap();
    let end = pack.windows(5).rposition(|window| window == b"\nEND ").unwrap();
    pack[start..end].to_vec()
}

/// Asserts that a command answered, or reported that the store is damaged and how to repair it.
fn assert_answers_or_says(answer: &Answer, what: &str) {
    assert!(!answer.stderr.contains("panicked"), "{what}: {}", answer.stderr);
    if answer.status == 2 {
        // A stream that has started cannot contain an error, so the error is on standard error
        // alone.
        let said = format!("{}{}", answer.text(), answer.stderr);
        assert!(said.contains("mdsel verify --repair"), "{what}: {said}");
    }
}

/// Asserts that `verify` finds damage, and that `--repair` repairs it without the files.
fn assert_repaired(place: &Place, before: &[u8], what: &str) {
    let found = place.run(&["verify"]);
    // Every command discards a note of an edit that names no file, so `verify` need not find it.
    assert!(found.status != 0 || what.contains("edit_intent"), "{what} is not found");
    assert_answers_or_says(&found, what);
    let repaired = place.run(&["verify", "--repair"]);
    assert_eq!(repaired.status, 0, "{what}: {}", repaired.text());
    let clean = place.run(&["verify", "--full"]).success().json();
    assert_eq!(clean, json!({ "findings": [], "truncated": false }), "{what}");
    assert!(body(&dumped(place)) == body(before), "{what}: documents differ");
}

/// A copy of a store with its index and without its files.
fn without_files(place: &Place) -> Place {
    let other = Place::new();
    std::fs::copy(place.join(".mdsel.db"), other.join(".mdsel.db")).unwrap();
    copy(&place.join(".mdsel.db-fts"), &other.join(".mdsel.db-fts"));
    other
}

#[test]
fn text_that_is_not_utf8_is_reported_as_damage_in_every_column() {
    let place = Place::with_fixtures();
    place.write("tag.md", "---\ntags: [a]\ntitle: x\n---\n\n# T\n");
    place.run(&["ingest"]).success();
    let before = dumped(&place);
    let intent =
        "INSERT INTO edit_intent VALUES (1, 'guide.md', '.mdsel-edit-0', zeroblob(32), x'');";
    let store = rusqlite::Connection::open(place.join(".mdsel.db")).unwrap();
    let columns = "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c \
         WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%' AND c.type IN ('TEXT', '')";
    let mut columns = store.prepare(columns).unwrap();
    let columns = columns.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let columns: Vec<(String, String)> = columns.map(|column| column.unwrap()).collect();
    let mut damages = Vec::new();
    for (table, column) in columns {
        let intent = if table == "edit_intent" { intent } else { "" };
        let which = if table == "meta" && column == "value" {
            vec!["key = 'root'", "key = 'options'", "key = 'identity'"]
                .into_iter()
                .map(str::to_owned)
                .collect()
        } else {
            vec![format!("{column} = (SELECT min({column}) FROM {table})")]
        };
        for which in which {
            let text = format!("CAST(x'ff' || CAST({column} AS BLOB) AS TEXT)");
            damages.push(format!("{intent} UPDATE {table} SET {column} = {text} WHERE {which}"));
        }
    }
    assert!(damages.len() >= 14, "{damages:?}");
    for sql in damages {
        let broken = Place::new();
        copy(place.path(), broken.path());
        tampered(&broken, &sql);
        for reader in READERS {
            assert_answers_or_says(&broken.run(reader), &sql);
        }
        // An ingest may replace what it can read, so it gets its own copy of the store.
        let ingested = Place::new();
        copy(broken.path(), ingested.path());
        let answer = ingested.run(&["ingest"]);
        assert_answers_or_says(&answer, &sql);
        if sql.contains("'options'") {
            let warnings = answer.success().json()["warnings"].to_string();
            assert!(warnings.contains("OPTIONS_LOST"), "{warnings}");
            assert_eq!(codes(&ingested.run(&["verify"]).ends(1)), ["META_DAMAGED"]);
            ingested.run(&["ingest", "--ext", "md"]).success();
            ingested.run(&["verify"]).success();
        }
        assert_repaired(&broken, &before, &sql);
    }
}

/// The codes of the warnings of an answer.
fn warnings(answer: &Answer) -> Vec<String> {
    let warnings = answer.json()["warnings"].as_array().cloned().unwrap_or_default();
    warnings.iter().map(|warning| warning["code"].as_str().unwrap().to_owned()).collect()
}

/// Asserts that a store whose settings `damage` damages says so, and that none of its documents is removed. `db` are
/// the options that name the store, which does not exist yet.
pub(crate) fn keeps_documents_without_settings(db: &[&str], damage: impl Fn()) {
    let place = Place::with(&[("r/a.md", "# A\n"), ("r/t.txt", "t\n"), ("extra/b.md", "# B\n")]);
    let run = |arguments: &[&str]| place.run(&[arguments, db].concat());
    let ingest = |arguments: &[&str]| run(&[&["ingest"], arguments].concat());
    let documents = || {
        let answer = run(&["toc", "--depth", "0", "--limit", "0", "-f", "text"]).success().text();
        answer.lines().filter(|line| !line.starts_with("warning")).collect::<Vec<_>>().join(" ")
    };
    ingest(&["--root", "r", "--ext", "md,txt"]).success();
    ingest(&["--collection", "ex", "extra"]).success();
    damage();
    place.write("r/a.md", "# A\n\nmore\n");
    place.write("r/new.md", "# New\n");
    place.remove("extra/b.md");
    for command in [&["toc"][..], &["index"], &["search", "B"], &["select", "ex/b.md"], &["status"]]
    {
        let answer = run(command).success();
        assert_eq!(warnings(&answer), ["OPTIONS_LOST"], "{command:?}: {}", answer.text());
    }
    let read = run(&["read", "ex/b.md", "B", "--refresh"]).success();
    assert_eq!(warnings(&read), ["OPTIONS_LOST"], "{}", read.text());
    // Nobody knows where its file should be.
    assert_eq!(read.json()["missing"], json!(null), "{}", read.text());
    let edit = run(&["replace", "ex/b.md", "B", "--content", "x"]).ends(2);
    assert_eq!(edit.json()["error"]["code"], "STORE_CORRUPT", "{}", edit.text());
    assert!(edit.text().contains("mdsel ingest"), "{}", edit.text());
    ingest(&["--forget", "ex"]).ends(2);
    let check = ingest(&["--check"]).ends(1);
    assert_eq!(
        (codes(&check), warnings(&check)),
        (vec!["CHANGED".into()], vec!["OPTIONS_LOST".into()])
    );
    for arguments in [&[][..], &["--force"], &["r"]] {
        let report = ingest(arguments).success();
        assert_eq!(warnings(&report), ["OPTIONS_LOST"], "{}", report.text());
        assert_eq!(documents(), "a.md ex/b.md t.txt");
    }
    assert!(run(&["read", "a.md", "A"]).success().text().contains("more"));
    assert_eq!(codes(&run(&["verify"]).ends(1)), ["META_DAMAGED"]);
    // The settings are given again one after the other.
    let report = ingest(&["--ext", "md"]).success();
    assert_eq!(warnings(&report), ["OPTIONS_LOST", "NO_FILE"], "{}", report.text());
    assert_eq!(documents(), "a.md ex/b.md new.md t.txt");
    assert_eq!(warnings(&run(&["toc"]).success()), [""; 0]);
    run(&["verify"]).success();
    place.write("extra/b.md", "# B\n");
    ingest(&["--collection", "ex", "extra"]).success();
    let report = ingest(&[]).success();
    assert!(report.text().contains("t.txt has no file"), "{}", report.text());
    place.remove("extra/b.md");
    ingest(&[]).success();
    assert_eq!(documents(), "a.md new.md t.txt");
}

#[test]
fn a_store_with_damaged_settings_says_so_and_keeps_its_documents() {
    let cut = "UPDATE meta SET value = substr(value, 1, 20) WHERE key = 'options'";
    let changed =
        "UPDATE meta SET value = replace(value, '\"txt\"', '\"tyt\"') WHERE key = 'options'";
    for sql in [cut, changed, "DELETE FROM meta WHERE key IN ('options', 'seal')"] {
        let store = Place::new();
        let path = store.join(".mdsel.db");
        keeps_documents_without_settings(&["--db", path.to_str().unwrap()], || {
            tampered(&store, sql);
        });
    }
}

/// Changes bytes of a store file.
fn overwrite(place: &Place, at: usize, bytes: &[u8]) {
    let path = place.join(".mdsel.db");
    let mut store = std::fs::read(&path).unwrap();
    store[at..at + bytes.len()].copy_from_slice(bytes);
    std::fs::write(path, store).unwrap();
}

/// Puts the log of another program's database beside the store.
fn add_foreign_log(place: &Place) {
    let other = rusqlite::Connection::open(place.join("other.db")).unwrap();
    other.pragma_update(None, "journal_mode", "WAL").unwrap();
    other.execute_batch("CREATE TABLE t (x); INSERT INTO t VALUES (zeroblob(40000))").unwrap();
    std::fs::copy(place.join("other.db-wal"), place.join(".mdsel.db-wal")).unwrap();
}

/// A function that damages a store.
type Damage = fn(&Place);

#[test]
fn a_damaged_header_or_a_foreign_file_beside_the_store_is_repaired() {
    let original = Place::with_fixtures();
    let before = dumped(&original);
    let damages: [(&str, Damage); 15] = [
        ("a file for the folder of the index", |place| {
            std::fs::remove_dir_all(place.join(".mdsel.db-fts")).unwrap();
            place.write(".mdsel.db-fts", "mine");
        }),
        ("a folder for the lock", |place| {
            place.write(".mdsel.db-lock/mine", "x");
        }),
        ("a foreign log", add_foreign_log),
        ("an empty table meta", |place| tampered(place, "DELETE FROM meta")),
        ("another application id", |place| overwrite(place, 68, &[0, 0, 0, 7])),
        ("no application id", |place| overwrite(place, 68, &[0; 4])),
        ("another format of the schema", |place| overwrite(place, 47, &[5])),
        ("another magic", |place| overwrite(place, 3, b"X")),
        ("another encoding", |place| overwrite(place, 59, &[3])),
        ("no size of pages", |place| overwrite(place, 16, &[0])),
        ("another version for reading", |place| overwrite(place, 19, &[7])),
        ("an older version of the store", |place| overwrite(place, 63, &[6])),
        ("another list of free pages", |place| overwrite(place, 35, &[5])),
        ("another first page of every table", |place| {
            let path = place.join(".mdsel.db");
            let store = rusqlite::Connection::open(path).unwrap();
            let config = rusqlite::config::DbConfig::SQLITE_DBCONFIG_WRITABLE_SCHEMA;
            store.set_db_config(config, true).unwrap();
            store.execute_batch("UPDATE sqlite_schema SET rootpage = 2").unwrap();
        }),
        ("no schema", |place| overwrite(place, 100, &[0; 12])),
    ];
    for (what, damage) in damages {
        let place = without_files(&original);
        damage(&place);
        for reader in READERS {
            assert_answers_or_says(&place.run(reader), what);
        }
        assert_repaired(&place, &before, what);
        let aside = ["-fts.aside", "-lock.aside"].map(|suffix| format!(".mdsel.db{suffix}"));
        let is_kept = aside.iter().any(|name| place.join(name).exists());
        assert_eq!(is_kept, what.starts_with("a file") || what.starts_with("a folder"), "{what}");
    }
    // A file that is not a store is refused with another hint.
    let place = Place::with(&[(".mdsel.db", &"CREATE TABLE meta (\n".repeat(20))]);
    let refused = place.run(&["verify", "--repair"]).ends(2);
    assert_eq!(refused.code(), "STORE_FOREIGN");
    assert!(!refused.text().contains("--repair"), "{}", refused.text());
}

#[test]
fn no_flipped_bit_of_the_first_pages_loses_a_document() {
    let original = Place::with_fixtures();
    let bytes = std::fs::read(original.join(".mdsel.db")).unwrap();
    let before = body(&dumped(&original));
    rounds(repeats(48), |round| {
        let mut random = random(round);
        let at = random(2 * 4096);
        let place = Place::new();
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << random(8);
        std::fs::write(place.join(".mdsel.db"), damaged).unwrap();
        let lost = verified(&place.join(".mdsel.db"), true);
        let lost = lost.unwrap_or_else(|error| panic!("byte {at}: {error}"));
        assert!(lost.is_empty(), "byte {at}: {lost:?}");
        assert!(body(&dumped(&place)) == before, "byte {at}");
    });
}

#[test]
fn the_time_of_a_repair_is_proportional_to_the_number_of_forged_rows() {
    // The short form has a tenth of the rows, and is too small to show a quadratic time.
    let count = if repeats(1) > 1 { 200_000 } else { 20_000 };
    let place = Place::with_fixtures();
    tampered(
        &place,
        &format!(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count}) \
             INSERT INTO document (path, name_key, hash, size, mtime_ns, ctime_ns, lines, words, \
             sections, blocks, links, lossy, ldmd, generation) SELECT 'f/' || i || '.md', \
             i || '/f/', zeroblob(32), 5, 0, 0, 1, 1, 0, 1, 0, 0, 0, 1 FROM n"
        ),
    );
    let answer = place.run_limited("-t 60", &["verify", "--repair"]).ends(1).json();
    assert_eq!(answer["findings"].as_array().unwrap().len(), count);
    place.run(&["verify"]).success();
}

/// The hits of a search, and whether there was a warning.
fn hits(store: &Path, query: Query) -> Result<(String, bool)> {
    let reader = reader(store)?;
    let session = Session::new(&*reader);
    let request = search_request(query, 0);
    let answer = search::search(&session, &request)?;
    let rows = mdsel::output::Answer::rows(&answer);
    let mut hits: Vec<String> =
        rows.map(|row| format!("{} {}", row["selector"], row["text"])).collect();
    hits.sort();
    let warnings = &answer.page.warnings;
    let has_warned = warnings.iter().any(|warning| warning.code.starts_with("INDEX"));
    Ok((hits.join("\n"), has_warned))
}

/// The answers of commands that print content: each document by its path, the list of all
/// documents, and searches. `None` if a command failed or warned.
fn contents(store: &Path, paths: &[String]) -> Vec<Option<String>> {
    let mut answers = Vec::new();
    let reader = reader(store);
    for path in paths {
        let answer = reader.as_ref().ok().and_then(|reader| {
            let document = reader.document_at(path).ok()??;
            let outline = reader.outline(&document).ok()?;
            let span = mdsel::position::ByteSpan::new(0, outline.bytes);
            let content = reader.content(&document, span).ok()?;
            let links = reader.links(&document).ok()?;
            let values = (reader.front_matter(&document).ok()?, reader.tags(&document).ok()?);
            Some(format!("{} {outline:?} {content:?} {links:?} {values:?}", document.path))
        });
        answers.push(answer);
    }
    let list = reader.ok().and_then(|reader| reader.all(&Lookup::All).ok());
    answers.push(list.map(|list| list.iter().map(|it| format!("{}\n", it.path)).collect()));
    let options = PatternOptions {
        is_literal: true,
        ignores_case: false,
        is_word: false,
        is_multi_line: false,
    };
    for query in [
        Query::Patterns(vec!["word 7".to_owned()], options),
        Query::Words(vec!["title".to_owned()]),
    ] {
        let answer = hits(store, query).ok().filter(|(_, has_warning)| !has_warning);
        answers.push(answer.map(|(hits, _)| hits));
    }
    answers
}

/// The places in a store file of the bytes of each document, in pieces that are each within one
/// page.
///
/// A page that was rewritten may keep an older copy of a piece, so every place of a piece counts.
fn places_of_bytes(store: &Path, file: &[u8]) -> Vec<(String, Vec<usize>)> {
    const PIECE: usize = 64;
    let store = rusqlite::Connection::open(store).unwrap();
    let mut rows = store
        .prepare("SELECT path, packed FROM content JOIN document ON id = place / 4096")
        .unwrap();
    let rows = rows.query_map([], |row| Ok((row.get(0)?, row.get::<_, Vec<u8>>(1)?))).unwrap();
    let place = |row: rusqlite::Result<(String, Vec<u8>)>| {
        let (path, bytes) = row.unwrap();
        let pieces = bytes
            .chunks(PIECE)
            .flat_map(|piece| memchr::memmem::find_iter(file, piece).collect::<Vec<_>>());
        (path, pieces.collect())
    };
    rows.map(place).collect()
}

/// The offset of the byte that a round changes: any, one of a row before its path, or one of the header of
/// a page.
fn flipped_byte(
    round: u64,
    bytes: &[u8],
    paths: &[String],
    random: &mut impl FnMut(usize) -> usize,
) -> usize {
    let at = random(bytes.len());
    match round % 4 {
        1 => {
            // The header and the id of a row are before its path.
            let path = &paths[random(paths.len())];
            let found: Vec<usize> = memchr::memmem::find_iter(bytes, path.as_bytes()).collect();
            found[random(found.len())] - random(32)
        }
        3 => at / 4096 * 4096 + random(64),
        _ => at,
    }
}

#[test]
fn no_flipped_bit_changes_content_or_loses_a_document() {
    let texts: Vec<(String, String)> = (0..300)
        .map(|number| {
            let mut random = random(number);
            let words: String =
                (0..random(200) * (1 + 20 * usize::from(number % 40 == 0)))
                    .map(|_| format!("word {} ", random(5000)))
                    .collect();
            let next = (number + 1) % 300;
            let text = format!(
                "---\ntags: [t{}]\n---\n\n# Title {number}\n\n[x]({next}.md)\n\n{words}\n\n## End\n",
                number % 7
            );
            (format!("f{}/{number}.md", number % 9), text)
        })
        .collect();
    let files: Vec<(&str, &str)> =
        texts.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let original = Place::ingested(&files);
    let paths: Vec<String> = texts.iter().map(|(path, _)| path.clone()).collect();
    let store = original.join(".mdsel.db");
    let bytes = std::fs::read(&store).unwrap();
    let places = places_of_bytes(&store, &bytes);
    let before = contents(&store, &paths);
    assert!(before.iter().all(|answer| answer.as_ref().is_some_and(|it| !it.is_empty())));
    let pack = body(&dumped(&original));
    let index = original.join(".mdsel.db-fts");
    let names: Vec<String> = std::fs::read_dir(&index)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.contains("lock"))
        .collect();
    let [changed, failed, found, lost_documents] = [const { AtomicU64::new(0) }; 4];
    let wrong = Mutex::new(Vec::new());
    let count = repeats(40);
    rounds(count, |round| {
        let mut random = random(round + 1000);
        let place = Place::in_memory();
        let has_files = round % 2 == 0;
        let mut damaged = bytes.clone();
        let at = flipped_byte(round, &bytes, &paths, &mut random);
        let mut what = format!("byte {at}");
        if has_files {
            copy(original.path(), place.path());
        } else {
            copy(&index, &place.join(".mdsel.db-fts"));
        }
        if round % 5 == 4 {
            let name = &names[random(names.len())];
            let file = place.join(&format!(".mdsel.db-fts/{name}"));
            let mut bytes = std::fs::read(&file).unwrap();
            let at = random(bytes.len().max(1));
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << random(8);
            }
            std::fs::write(file, bytes).unwrap();
            what = format!("byte {at} of {name}");
        } else {
            damaged[at] ^= 1 << random(8);
        }
        let store = place.join(".mdsel.db");
        std::fs::write(&store, &damaged).unwrap();
        // Must run before a search, which may repair the index.
        let findings = verified(&store, false);
        let after = contents(&store, &paths);
        let is_wrong =
            |(one, other): (&Option<String>, &Option<String>)| one.is_some() && one != other;
        if after.iter().zip(&before).any(is_wrong) {
            wrong.lock().unwrap().push(what.clone());
        }
        let is_changed = after != before;
        changed.fetch_add(u64::from(is_changed), Ordering::Relaxed);
        failed.fetch_add(u64::from(findings.is_err()), Ordering::Relaxed);
        if findings.as_ref().is_ok_and(Vec::is_empty) {
            assert!(!is_changed, "{what} changed an answer, and `verify` does not find it");
            return;
        }
        found.fetch_add(1, Ordering::Relaxed);
        let lost = verified(&store, true).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(lost.iter().all(|finding| finding.code == "LOST"), "{what}: {lost:?}");
        if has_files || lost.is_empty() {
            assert!(lost.is_empty(), "{what}: {lost:?}");
            assert!(body(&dumped(&place)) == pack, "{what}: documents differ");
            return;
        }
        lost_documents.fetch_add(lost.len() as u64, Ordering::Relaxed);
        for finding in lost {
            let file = finding.file.unwrap_or_default();
            // A piece that continues in another page is not found, but it is near one that is.
            let is_hit = places
                .iter()
                .filter(|(path, _)| *path == file)
                .any(|(_, pieces)| pieces.iter().any(|piece| piece.abs_diff(at) < 128));
            assert!(is_hit, "{what}: {file} is lost, and its bytes are whole");
        }
    });
    let wrong = wrong.into_inner().unwrap();
    eprintln!(
        "{count} flips: {changed:?} changed an answer, {failed:?} could not be checked, {found:?} \
         were found, {lost_documents:?} documents were lost, {} gave a wrong answer: {wrong:?}",
        wrong.len()
    );
    assert!(wrong.is_empty(), "{wrong:?}");
}
