//! Damaged and old stores, the command that repairs or upgrades each of them, and what must be true
//! after that command even if it was interrupted.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::harness::{Place, copy, fixtures};
use crate::library::{self, Versions, assert_no_leftovers, assert_whole};

const STORE: &str = ".mdsel.db";

/// Commands whose answers together show what a store contains.
const QUESTIONS: [&[&str]; 4] = [
    &["dump"],
    &["toc", "-f", "text"],
    &["search", "the line", "-f", "text", "--limit", "0"],
    &["search", "-F", "in", "-f", "text", "--limit", "0"],
];

/// The part of the old store that must stay on the disk.
enum Kept {
    /// The bytes of its file and of its log, which belong together.
    Files(Vec<u8>, Option<Vec<u8>>),
    /// The documents with their bytes, in any file.
    Rows(Vec<Row>),
}

/// A row as text.
type Row = String;

/// A store that is damaged or has an old format.
pub(crate) struct RepairCase {
    pub(crate) name: &'static str,
    pub(crate) place: Place,
    /// The command that repairs or upgrades it.
    pub(crate) command: &'static [&'static str],
    /// How long that command takes.
    pub(crate) length: Duration,
    kept: Kept,
    /// Whether all documents can also be read before that command.
    is_readable: bool,
    /// Whether every command upgrades it.
    is_upgraded_by_any: bool,
    /// Its answers after that command.
    answers: Vec<Vec<String>>,
}

/// The answers of the store, sorted so that they do not depend on an index.
fn answers(place: &Place) -> Vec<Vec<String>> {
    let lines = |question: &&[&str]| {
        let answer = place.run(question).success().stdout;
        let text = String::from_utf8_lossy(&answer).into_owned();
        // Leaves out what depends on the history of the store.
        let is_passing = |line: &&str| line.starts_with("warning: ") || line.starts_with("more: ");
        let lines = text.lines().filter(|line| !is_passing(line));
        let mut lines: Vec<String> = lines.map(str::to_owned).collect();
        lines.sort();
        lines
    };
    QUESTIONS.iter().map(lines).collect()
}

/// The documents and their stored bytes.
fn rows(store: &Path) -> rusqlite::Result<Vec<Row>> {
    let connection = Connection::open_with_flags(store, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut rows = Vec::new();
    // The column has another name in earlier versions.
    let packed: String = connection.query_row(
        "SELECT name FROM pragma_table_info('content') WHERE cid = 1",
        [],
        |row| row.get(0),
    )?;
    for statement in [
        "SELECT id || path || hex(hash) FROM document ORDER BY id".to_owned(),
        format!("SELECT place || hex({packed}) FROM content ORDER BY place"),
    ] {
        let mut statement = connection.prepare(&statement)?;
        rows.extend(statement.query_map([], |row| row.get(0))?.collect::<Result<Vec<_>, _>>()?);
    }
    Ok(rows)
}

impl RepairCase {
    fn new(name: &'static str, place: Place, command: &'static [&'static str]) -> Self {
        let twin = Place::in_memory();
        copy(place.path(), twin.path());
        let began = Instant::now();
        twin.run(command).success();
        let length = began.elapsed();
        let store = place.join(STORE);
        let kept = Kept::Files(
            std::fs::read(&store).unwrap(),
            std::fs::read(place.join(".mdsel.db-wal")).ok().filter(|log| !log.is_empty()),
        );
        let answers = answers(&twin);
        assert_whole(&twin);
        let (is_readable, is_upgraded_by_any) = (false, false);
        Self { name, place, command, length, kept, is_readable, is_upgraded_by_any, answers }
    }

    /// The same, with documents that can be read before the repair.
    fn readable(self) -> Self {
        Self { is_readable: true, ..self }
    }

    /// The same, with a file that may be written to if its documents stay.
    fn old(mut self, is_upgraded_by_any: bool) -> Self {
        self.kept = Kept::Rows(rows(&self.place.join(STORE)).unwrap());
        Self { is_upgraded_by_any, ..self }
    }

    /// A copy that a test may change.
    pub(crate) fn copy(&self) -> Place {
        let place = Place::in_memory();
        copy(self.place.path(), place.path());
        place
    }

    /// Asserts that no part of the old store was lost.
    pub(crate) fn assert_kept(&self, place: &Place, what: &str) {
        let names = std::fs::read_dir(place.path()).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut stores = names.filter(|name| {
            let rest = name.strip_prefix(STORE);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        });
        let is_kept = |name: String| match &self.kept {
            Kept::Files(file, log) => {
                let kept_log = std::fs::read(place.join(&format!("{name}-wal")));
                let kept_log = kept_log.ok().filter(|log| !log.is_empty());
                *file == std::fs::read(place.join(&name)).unwrap() && *log == kept_log
            }
            Kept::Rows(old) => rows(&place.join(&name)).is_ok_and(|rows| rows == *old),
        };
        assert!(stores.any(is_kept), "the old store was lost: {what}");
        if self.is_readable {
            let dump = place.run(QUESTIONS[0]).success().text();
            let mut lines: Vec<&str> = dump.lines().collect();
            lines.sort_unstable();
            assert!(lines == self.answers[0], "documents were lost: {what}");
        }
    }

    /// Asserts that the next command brings the store into the state that an uninterrupted one
    /// leaves.
    pub(crate) fn assert_repaired(&self, place: &Place, number: usize, what: &str) {
        if self.is_upgraded_by_any {
            let next = QUESTIONS[number % QUESTIONS.len()];
            place.run(next).success();
        }
        if self.command != QUESTIONS[0] {
            place.run(self.command).success();
        }
        self.assert_kept(place, what);
        for (answer, expected) in answers(place).iter().zip(&self.answers) {
            assert_eq!(answer, expected, "{what}");
        }
        assert_whole(place);
        assert_no_leftovers(place);
    }
}

/// A store whose file contains version 1 of all documents, and whose log contains version 2 and
/// `damage`. The files have version 3.
fn damaged(damage: &str) -> Place {
    let versions = |version| -> Versions { vec![Some(version); 6] };
    let place = Place::in_memory();
    library::write(&place, &versions(1));
    place.run(&["ingest"]).success();
    let store = place.join(STORE);
    // A connection that reads the older state prevents that the log is written back.
    let reader = Connection::open_with_flags(&store, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM meta").unwrap();
    library::write(&place, &versions(2));
    place.run(&["ingest"]).success();
    drop(reader);
    let connection = Connection::open(&store).unwrap();
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).unwrap();
    connection.execute_batch(damage).unwrap();
    drop(connection);
    assert!(std::fs::metadata(place.join(".mdsel.db-wal")).unwrap().len() > 0);
    library::write(&place, &versions(3));
    place
}

/// A store with the first schema.
fn old(damage: &str) -> Place {
    let place = Place::in_memory();
    copy(&fixtures(), place.path());
    let store = place.join(STORE);
    std::fs::copy(fixtures().with_file_name("compat").join("1.db"), &store).unwrap();
    Connection::open(store).unwrap().execute_batch(damage).unwrap();
    place
}

/// One case of each kind.
pub(crate) fn repair_cases() -> Vec<RepairCase> {
    let repair = &["verify", "--repair"];
    // The bytes of one document are lost in the store and in its file.
    let lost = damaged(
        "UPDATE content SET packed = x'00' WHERE place / 4096 = \
         (SELECT id FROM document WHERE path = 'folder-1/3.md')",
    );
    lost.write(&library::path(3), library::document(3, 2));
    let index = damaged("");
    index.run(&["search", "line"]).success();
    std::fs::write(index.join(".mdsel.db-fts/meta.json"), "{}").unwrap();
    index.write(".mdsel.db-fts/.tmpAbCdEf", "x");
    index.write(".mdsel.db-repaired-from", "x");
    vec![
        RepairCase::new("damaged rows", damaged("UPDATE title SET keys = keys || 'x'"), repair)
            .readable(),
        RepairCase::new("lost bytes", lost, repair),
        RepairCase::new(
            "another schema",
            damaged("DROP TABLE title; CREATE VIEW v AS SELECT 1"),
            repair,
        ),
        RepairCase::new("a damaged index", index, repair).old(false).readable(),
        RepairCase::new("an old store, asked", old(""), &["dump"]).old(true),
        RepairCase::new("an old store, ingested", old(""), &["ingest"]).old(false),
        RepairCase::new(
            "an old store, damaged",
            old("UPDATE outline SET packed = x'00' WHERE document_id = 3"),
            repair,
        )
        .old(false),
    ]
}
