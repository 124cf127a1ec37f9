//! Reading one unchanging state of the store.
//!
//! Invariants: all answers of one [`Snapshot`] come from the same committed generation, whatever a
//! writer does meanwhile. A reader never waits for a writer.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::types::{Type, Value};
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Row, params};
use serde_json::{Map, Value as Json};

use super::schema::Age;
use super::writer::RowWriter;
use super::{
    Header, connect, content, corrupt, count, file_name, has_log, has_no_room, lock_path, meta,
    not_found, peek, schema, sql, store_error, with_suffix,
};
use crate::corpus::{FileState, IngestOptions};
use crate::error::{Error, ErrorKind, Result};
use crate::limits;
use crate::links::split_extension;
use crate::markdown::outline::Outline;
use crate::markdown::slug::fold;
use crate::position::ByteSpan;
use crate::prepare::checksums::{self, Checksums, Part};
use crate::prepare::{PARSER_VERSION, name_key, title_keys};
use crate::store::StoredDocument;

/// The columns of a [`StoredDocument`], in the order in which [`stored_document`] reads them.
pub(super) const DOCUMENT_COLUMNS: &str =
    "id, path, hash, size, mtime_ns, ctime_ns, lossy, ldmd, seal";

/// Reads a row of [`DOCUMENT_COLUMNS`]. Fails if its checksum is wrong.
pub(super) fn stored_document(row: &Row<'_>) -> rusqlite::Result<StoredDocument> {
    let stored = unchecked_document(row)?;
    let StoredDocument { path, hash, state, is_lossy, has_ldmd, .. } = &stored;
    let checksum = || checksums::row(path, hash, state.size, *is_lossy, *has_ldmd);
    if stored.checksums.is(Part::Row, checksum) {
        return Ok(stored);
    }
    let damage = Box::new(RowDamaged(stored.path));
    Err(rusqlite::Error::FromSqlConversionFailure(1, Type::Text, damage))
}

/// Reads a row of [`DOCUMENT_COLUMNS`] without comparing its checksum.
pub(super) fn unchecked_document(row: &Row<'_>) -> rusqlite::Result<StoredDocument> {
    Ok(StoredDocument {
        id: row.get(0)?,
        path: row.get(1)?,
        hash: row.get(2)?,
        state: FileState {
            size: row.get::<_, i64>(3)?.unsigned_abs(),
            mtime_ns: row.get(4)?,
            ctime_ns: row.get(5)?,
        },
        is_lossy: row.get(6)?,
        has_ldmd: row.get(7)?,
        checksums: Checksums::stored(row.get_ref(8)?.as_blob_or_null()?),
    })
}

/// The row of the document at this path differs from what was written.
#[derive(Debug, thiserror::Error)]
#[error("the row of {0} differs from what was written")]
pub(super) struct RowDamaged(String);

/// The result of looking up a document by name.
#[derive(Debug)]
pub enum NameMatch {
    /// No document has this name.
    None,
    /// Exactly one document has this name.
    One(StoredDocument),
    /// Several documents have this name: the first paths in path order, and the number of
    /// documents.
    Many(Vec<String>, usize),
}

/// Paths, and the condition that one tier of names puts on them.
type NameTier<'a> = (&'a [String], Box<dyn Fn(&str) -> bool + 'a>);

/// The totals of the store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, schemars::JsonSchema, serde::Serialize)]
pub struct Totals {
    /// Number of documents.
    pub documents: usize,
    /// Number of sections.
    pub sections: usize,
    /// Number of blocks of all types, including those in lists and block quotes.
    pub blocks: usize,
    /// Number of links in text and front matter, without links to external addresses.
    pub links: usize,
    /// Bytes of all documents.
    pub bytes: usize,
    /// Words of all documents.
    pub words: usize,
    /// Lines of all documents.
    pub lines: usize,
    /// Number of diagnostics of the parser.
    pub diagnostics: usize,
}

/// The device and the inode of a file. Only Unix reports them here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileIdentity(u64, u64);

impl FileIdentity {
    #[cfg(unix)]
    fn of(path: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt as _;
        std::fs::metadata(path).ok().map(|metadata| Self(metadata.dev(), metadata.ino()))
    }

    #[cfg(not(unix))]
    fn of(_: &Path) -> Option<Self> {
        None
    }
}

/// One unchanging state of the store.
#[derive(Debug)]
pub struct Snapshot {
    /// Locked only while a statement runs. Slow work with the rows is done afterwards.
    connection: Mutex<Connection>,
    path: PathBuf,
    /// Read before the file is opened, so a file that replaces it is never mistaken for it.
    file: Option<FileIdentity>,
    root: PathBuf,
    options: IngestOptions,
    generation: u64,
    identity: String,
    has_current_parser: bool,
    /// The ids of the documents whose bytes have been compared with their hash.
    checked: Mutex<HashSet<i64>>,
    /// The time at which the current statement started.
    statement_began: Arc<Mutex<Instant>>,
    /// A shared or exclusive lock that excludes writers if SQLite cannot use its log.
    lock: Option<File>,
}

impl Snapshot {
    /// Opens the store at `path` and pins its newest generation. A store with an older schema is
    /// migrated first.
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_locked(path, None)
    }

    /// Opens the store like [`Self::open`]. `lock` is the writer's lock if the caller holds it.
    pub(in crate::store) fn open_locked(path: &Path, lock: Option<&File>) -> Result<Self> {
        if peek(path)? == Header::Absent {
            return Err(not_found(path));
        }
        let path = path.canonicalize().map_err(|error| Error::io(path, error))?;
        match Self::open_current(&path, lock)? {
            Some(snapshot) => Ok(snapshot),
            None => {
                let wait = Duration::from_secs(limits::LOCK_WAIT_SECONDS as u64);
                let migrated = RowWriter::open(&path, wait).and_then(RowWriter::close);
                migrated.map_err(|error| {
                    error.with_hint("make the store writable, so that it can be upgraded")
                })?;
                Self::open_current(&path, lock)?
                    .ok_or_else(|| corrupt(&path, "it could not be upgraded"))
            }
        }
    }

    /// Opens a store with the newest schema; `None` if it must be migrated first.
    fn open_current(path: &Path, held: Option<&File>) -> Result<Option<Self>> {
        let path = path.to_owned();
        let file = FileIdentity::of(&path);
        let (mut connection, lock) = connect_for_reading(&path, held)?;
        let statement_began = Arc::new(Mutex::new(Instant::now()));
        let began = Arc::clone(&statement_began);
        let most = Duration::from_secs(limits::QUERY_SECONDS as u64);
        let is_too_long =
            move || began.lock().unwrap_or_else(PoisonError::into_inner).elapsed() > most;
        connection
            .progress_handler(100_000, Some(is_too_long))
            .and_then(|()| connection.execute_batch("BEGIN"))
            .map_err(|error| store_error(&path, error))?;
        if schema::check(&path, &connection, schema::MIGRATIONS)? != Age::Current {
            return Ok(None);
        }
        let mut snapshot = Self {
            connection: Mutex::new(connection),
            file,
            root: PathBuf::new(),
            options: IngestOptions::default(),
            generation: 0,
            identity: String::new(),
            has_current_parser: false,
            checked: Mutex::default(),
            statement_began,
            path,
            lock,
        };
        let known = meta::read(&snapshot.path, &snapshot.statement())?;
        // The first ingest was killed before it wrote any metadata.
        let Some(known) = known else { return Err(not_found(&snapshot.path)) };
        snapshot.identity = known.identity;
        snapshot.has_current_parser = known.parser_version == Some(PARSER_VERSION);
        snapshot.generation = known.generation;
        snapshot.root = root_folder(&snapshot.path, &known.root);
        // A writer warns about unreadable options. Reading does not depend on them.
        snapshot.options = known.options.unwrap_or_default();
        Ok(Some(snapshot))
    }

    /// Releases the generation, so that a writer can write the log back. Call [`Self::renew`]
    /// before the next query.
    pub fn release(&self) -> Result<()> {
        self.wrap(self.statement().execute_batch("ROLLBACK"))
    }

    /// Returns whether no writer can write as long as this snapshot exists.
    pub fn holds_writers_off(&self) -> bool {
        self.lock.is_some()
    }

    /// Pins the newest generation after [`Self::release`]. Returns whether it is the same
    /// generation of the same file. If not, the store must be opened again.
    pub fn renew(&self) -> Result<bool> {
        if self.file.is_none() || self.file != FileIdentity::of(&self.path) {
            return Ok(false);
        }
        self.wrap(self.statement().execute_batch("BEGIN"))?;
        let generation: Option<Value> = self.wrap(meta::value(&self.statement(), "generation"))?;
        Ok(
            matches!(generation, Some(Value::Integer(number)) if number.unsigned_abs() == self.generation),
        )
    }

    pub(super) fn wrap<T>(&self, result: rusqlite::Result<T>) -> Result<T> {
        result.map_err(|error| store_error(&self.path, error))
    }

    /// Returns the path of the store file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the folder that document paths are relative to. It may not exist.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the options of the last ingest.
    pub fn options(&self) -> &IngestOptions {
        &self.options
    }

    /// Returns whether the documents were parsed with the parser version of this program.
    pub fn has_current_parser(&self) -> bool {
        self.has_current_parser
    }

    /// Returns the connection for a statement that may run for [`limits::QUERY_SECONDS`].
    pub(super) fn statement(&self) -> MutexGuard<'_, Connection> {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        *self.statement_began.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        connection
    }

    /// Returns the connection for a statement that may run for [`limits::CHECK_SECONDS`].
    pub(super) fn long_statement(&self) -> MutexGuard<'_, Connection> {
        let connection = self.statement();
        let more = Duration::from_secs((limits::CHECK_SECONDS - limits::QUERY_SECONDS) as u64);
        *self.statement_began.lock().unwrap_or_else(PoisonError::into_inner) += more;
        connection
    }

    /// Returns the generation: the number of commits that changed a document.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Returns the random name that distinguishes this store from all others.
    pub(in crate::store) fn identity(&self) -> &str {
        &self.identity
    }

    /// Returns the highest id of a document; 0 if there are no documents.
    pub(in crate::store) fn highest_id(&self) -> Result<i64> {
        self.wrap(
            self.statement()
                .prepare_cached("SELECT coalesce(max(id), 0) FROM document")
                .and_then(|mut highest| highest.query_row([], |row| row.get(0))),
        )
    }

    /// Returns the documents with ids above `id`, in the order of their ids.
    pub fn documents_above(&self, id: i64) -> Result<Vec<StoredDocument>> {
        let statement =
            format!("SELECT {DOCUMENT_COLUMNS} FROM document WHERE id > ?1 ORDER BY id");
        self.wrap(
            self.statement()
                .prepare_cached(&statement)
                .and_then(|mut statement| statement.query_map([id], stored_document)?.collect()),
        )
    }

    /// Returns the documents with these ids, in no particular order. Unknown ids are ignored.
    pub fn documents_with_ids(&self, ids: &[i64]) -> Result<Vec<StoredDocument>> {
        let statement = format!(
            "SELECT {DOCUMENT_COLUMNS} FROM document WHERE id IN (SELECT value FROM json_each(?1))"
        );
        let ids = serde_json::to_string(ids).unwrap_or_default();
        self.wrap(
            self.statement()
                .prepare_cached(&statement)
                .and_then(|mut statement| statement.query_map([ids], stored_document)?.collect()),
        )
    }

    /// Returns the document with this id, if any.
    pub fn document(&self, id: i64) -> Result<Option<StoredDocument>> {
        let statement = format!("SELECT {DOCUMENT_COLUMNS} FROM document WHERE id = ?1");
        self.wrap(
            self.statement()
                .prepare_cached(&statement)
                .and_then(|mut statement| statement.query_row([id], stored_document).optional()),
        )
    }

    /// Returns the tags of a document, case-folded and sorted.
    pub fn tags(&self, document: &StoredDocument) -> Result<Vec<String>> {
        let tags: Vec<String> = self.wrap(
            self.statement()
                .prepare_cached("SELECT tag FROM tag WHERE document_id = ?1 ORDER BY tag")
                .and_then(|mut tags| tags.query_map([document.id], |row| row.get(0))?.collect()),
        )?;
        let is_whole = document.checksums.is(Part::Tags, || checksums::list(&tags));
        if is_whole { Ok(tags) } else { Err(self.damaged(document, "tags")) }
    }

    /// Returns the error that a document of the index is not in the table of documents.
    pub(in crate::store) fn lacking(&self) -> Error {
        corrupt(&self.path, "a document that the full-text index names is missing")
    }

    /// Returns the error about a part of a document that differs from what was written.
    pub(super) fn damaged(&self, document: &StoredDocument, part: &str) -> Error {
        corrupt(
            &self.path,
            &format!("the {part} of {} differ from what was written", document.path),
        )
    }

    /// Returns the keys and values of the front matter of a document; `None` if it has none or it
    /// could not be parsed.
    pub fn front_matter(&self, document: &StoredDocument) -> Result<Option<Map<String, Json>>> {
        let value: Option<String> = self.wrap(
            self.statement()
                .prepare_cached("SELECT value FROM front_matter WHERE document_id = ?1")
                .and_then(|mut values| {
                    values.query_row([document.id], |row| row.get(0)).optional()
                }),
        )?;
        let checksum = || checksums::optional(value.as_ref().map(String::as_bytes));
        if !document.checksums.is(Part::FrontMatter, checksum) {
            return Err(self.damaged(document, "values of the front matter"));
        }
        Ok(value.and_then(|value| serde_json::from_str(&value).ok()))
    }

    /// Returns the ids of the documents with the case-folded `tag` or a tag below it.
    pub fn documents_with_tag(&self, tag: &str) -> Result<Vec<i64>> {
        // `0` is the character after `/`.
        let bounds = [tag.to_owned(), format!("{tag}/"), format!("{tag}0")];
        self.wrap(
            self.statement()
                .prepare_cached(
                    "SELECT document_id FROM tag WHERE tag = ?1 OR tag > ?2 AND tag < ?3",
                )
                .and_then(|mut tags| tags.query_map(bounds, |row| row.get(0))?.collect()),
        )
    }

    /// Returns the document whose path is exactly `path`, if any.
    pub fn document_at(&self, path: &str) -> Result<Option<StoredDocument>> {
        let statement = format!("SELECT {DOCUMENT_COLUMNS} FROM document WHERE path = ?1");
        self.wrap(
            self.statement()
                .prepare_cached(&statement)
                .and_then(|mut statement| statement.query_row([path], stored_document).optional()),
        )
    }

    /// Returns the first `count` documents in path order whose paths are greater than `after`.
    pub fn documents(&self, after: Option<&str>, count: usize) -> Result<Vec<StoredDocument>> {
        let statement = format!(
            "SELECT {DOCUMENT_COLUMNS} FROM document WHERE path > ?1 ORDER BY path LIMIT ?2"
        );
        let connection = self.statement();
        let documents: Vec<StoredDocument> =
            self.wrap(connection.prepare_cached(&statement).and_then(|mut statement| {
                statement
                    .query_map(params![after.unwrap_or_default(), sql(count)], stored_document)?
                    .collect()
            }))?;
        // Only damage can make the index on paths and the table differ.
        if after.is_none() && documents.len() < count {
            let statement = "SELECT count(*) FROM document NOT INDEXED";
            let in_table: i64 = self.wrap(
                connection
                    .prepare_cached(statement)
                    .and_then(|mut statement| statement.query_row([], |row| row.get(0))),
            )?;
            if in_table != sql(documents.len()) {
                return Err(corrupt(&self.path, "the list of documents is incomplete"));
            }
        }
        Ok(documents)
    }

    /// Returns the documents below `folder`, in path order.
    pub fn documents_below(&self, folder: &str) -> Result<Vec<StoredDocument>> {
        let statement = format!(
            "SELECT {DOCUMENT_COLUMNS} FROM document WHERE path > ?1 AND path < ?2 ORDER BY path"
        );
        // `0` is the character after `/`.
        let bounds = [format!("{folder}/"), format!("{folder}0")];
        self.wrap(
            self.statement()
                .prepare_cached(&statement)
                .and_then(|mut statement| statement.query_map(bounds, stored_document)?.collect()),
        )
    }

    /// Returns whether there is a document below `folder`.
    pub fn is_folder(&self, folder: &str) -> Result<bool> {
        let bounds = [format!("{folder}/"), format!("{folder}0")];
        self.wrap(
            self.statement()
                .prepare_cached(
                    "SELECT EXISTS (SELECT 1 FROM document WHERE path > ?1 AND path < ?2)",
                )
                .and_then(|mut statement| statement.query_row(bounds, |row| row.get(0))),
        )
    }

    /// Returns the ids and paths of all documents, in path order. This reads only an index.
    pub fn paths(&self) -> Result<Vec<(i64, String)>> {
        self.wrap(
            self.statement()
                .prepare_cached("SELECT id, path FROM document ORDER BY path")
                .and_then(|mut statement| {
                    statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
                }),
        )
    }

    /// Looks up a document by name; see `mdsel help addresses`. The tiers are: the exact path; the
    /// path without its extension; a suffix of whole components with or without the extension; and
    /// the same with case folded. The first tier with a match decides. If `name` begins with `./`,
    /// only the first two tiers are used.
    pub fn named(&self, name: &str) -> Result<NameMatch> {
        let (name, most) = name.strip_prefix("./").map_or((name, 7), |path| (path, 1));
        if let Some(document) = self.document_at(name)? {
            return Ok(NameMatch::One(document));
        }
        let with_extension = self.paths_below(&name_key(split_extension(name).0))?;
        let without = self.paths_below(&name_key(name))?;
        let folded = fold(name);
        let is_suffix = |path: &str, name: &str| {
            path.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        };
        let tiers: [NameTier<'_>; 7] = [
            (&without, Box::new(|path| split_extension(path).0 == name)),
            (&with_extension, Box::new(|path| is_suffix(path, name))),
            (&without, Box::new(|path| is_suffix(split_extension(path).0, name))),
            (&with_extension, Box::new(|path| fold(path) == folded)),
            (&without, Box::new(|path| fold(split_extension(path).0) == folded)),
            (&with_extension, Box::new(|path| is_suffix(&fold(path), &folded))),
            (&without, Box::new(|path| is_suffix(&fold(split_extension(path).0), &folded))),
        ];
        for (paths, is_hit) in tiers.into_iter().take(most) {
            let hits: Vec<_> = paths.iter().filter(|path| is_hit(path)).collect();
            match hits.as_slice() {
                [] => {}
                [path] => {
                    return Ok(self.document_at(path)?.map_or(NameMatch::None, NameMatch::One));
                }
                many => {
                    let shown = many
                        .iter()
                        .take(limits::MAX_CANDIDATES_SHOWN)
                        .map(|&p| p.clone())
                        .collect();
                    return Ok(NameMatch::Many(shown, many.len()));
                }
            }
        }
        Ok(NameMatch::None)
    }

    /// Returns the paths whose name key begins with `key`, in path order. `key` must end with `/`.
    fn paths_below(&self, key: &str) -> Result<Vec<String>> {
        let end = format!("{}0", key.strip_suffix('/').unwrap_or(key));
        self.wrap(
            self.statement()
                .prepare_cached(
                    "SELECT path FROM document WHERE name_key >= ?1 AND name_key < ?2 ORDER BY path",
                )
                .and_then(|mut statement| {
                    statement.query_map([key, &end], |row| row.get(0))?.collect()
                }),
        )
    }

    /// Returns paths to compare with `name` for suggestions: those whose file name begins with the
    /// same character, at most [`limits::MAX_NAMESPACES_COMPARED`].
    pub fn similar_paths(&self, name: &str) -> Result<Vec<String>> {
        let key = name_key(split_extension(name).0);
        let first: String = key.chars().take(1).collect();
        let end = format!("{first}\u{10FFFF}");
        self.wrap(
            self.statement()
                .prepare_cached(
                    "SELECT path FROM document WHERE name_key >= ?1 AND name_key < ?2 \
                     ORDER BY name_key LIMIT ?3",
                )
                .and_then(|mut statement| {
                    statement
                        .query_map(
                            params![first, end, sql(limits::MAX_NAMESPACES_COMPARED)],
                            |row| row.get(0),
                        )?
                        .collect()
                }),
        )
    }

    /// Reads the packed row of a document with `statement`. Fails if the checksum of `part` is
    /// wrong.
    pub(super) fn packed_row(
        &self,
        statement: &str,
        document: &StoredDocument,
        part: Part,
    ) -> Result<Option<Vec<u8>>> {
        let packed: Option<Vec<u8>> =
            self.wrap(self.statement().prepare_cached(statement).and_then(|mut statement| {
                statement.query_row([document.id], |row| row.get(0)).optional()
            }))?;
        let is_whole = document.checksums.is(part, || checksums::optional(packed.as_deref()));
        if is_whole { Ok(packed) } else { Err(self.damaged(document, "packed rows")) }
    }

    /// Returns the structure of a document.
    pub fn outline(&self, document: &StoredDocument) -> Result<Outline> {
        let statement = "SELECT packed FROM outline WHERE document_id = ?1";
        self.unpacked(document, self.packed_row(statement, document, Part::Outline)?)
    }

    /// Returns the structures of `documents`, in the same order.
    pub fn outlines(&self, documents: &[StoredDocument]) -> Result<Vec<Outline>> {
        let ids: Vec<i64> = documents.iter().map(|document| document.id).collect();
        let ids = serde_json::to_string(&ids).unwrap_or_default();
        let statement = "SELECT document_id, packed FROM outline \
             WHERE document_id IN (SELECT value FROM json_each(?1))";
        let mut packed: HashMap<i64, Vec<u8>> =
            self.wrap(self.statement().prepare_cached(statement).and_then(|mut statement| {
                statement.query_map([ids], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
            }))?;
        let outline = |document: &StoredDocument| {
            let packed = packed.remove(&document.id);
            let checksum = || checksums::optional(packed.as_deref());
            if !document.checksums.is(Part::Outline, checksum) {
                return Err(self.damaged(document, "packed rows"));
            }
            self.unpacked(document, packed)
        };
        documents.iter().map(outline).collect()
    }

    /// Unpacks the outline of a document.
    fn unpacked(&self, document: &StoredDocument, packed: Option<Vec<u8>>) -> Result<Outline> {
        let outline = packed.and_then(|packed| crate::codec::outline::decode(&packed));
        let is_of_it = |outline: &Outline| outline.bytes as u64 == document.state.size;
        outline.filter(is_of_it).ok_or_else(|| {
            corrupt(&self.path, &format!("the outline of {} cannot be read", document.path))
                .with_hint("or run `mdsel ingest --force`, which parses the file again")
        })
    }

    /// Returns the `most` folders at the top of the root that contain the most documents, with the
    /// number of documents below each. The empty name is the root itself.
    pub fn folders(&self, most: usize) -> Result<Vec<(String, usize)>> {
        let statement = "SELECT substr(path, 1, max(instr(path, '/') - 1, 0)) AS folder, \
             count(*) AS documents FROM document GROUP BY folder \
             ORDER BY documents DESC, folder LIMIT ?1";
        self.wrap(self.statement().prepare_cached(statement).and_then(|mut statement| {
            let row = |row: &Row<'_>| Ok((row.get(0)?, super::count(row.get(1)?)));
            statement.query_map([sql(most)], row)?.collect()
        }))
    }

    /// Returns the first `count` documents, in path order, that may have a section whose title or
    /// path part contains one of `texts`. No document that has one is missing.
    pub fn documents_with_title_part(
        &self,
        texts: &[&str],
        count: usize,
    ) -> Result<Vec<StoredDocument>> {
        self.documents_with_keys(texts, |_, _| true, count)
    }

    /// Returns the first `count` documents, in path order, that have a section whose title or path
    /// part is one of `texts`.
    pub fn documents_with_title(
        &self,
        texts: &[&str],
        count: usize,
    ) -> Result<Vec<StoredDocument>> {
        self.documents_with_keys(texts, title_keys::holds, count)
    }

    /// The first `count` documents with keys that contain one of `texts` and pass `is_hit`. All titles
    /// are read once, whatever the number of texts.
    fn documents_with_keys(
        &self,
        texts: &[&str],
        is_hit: impl Fn(&str, &str) -> bool,
        count: usize,
    ) -> Result<Vec<StoredDocument>> {
        let mut needles: Vec<String> = texts.iter().map(|text| title_keys::needle(text)).collect();
        needles.sort_unstable();
        needles.dedup();
        let conditions = vec!["instr(keys, ?) > 0"; needles.len()];
        let statement = format!(
            "SELECT {DOCUMENT_COLUMNS}, keys FROM title JOIN document ON id = document_id \
             WHERE {} ORDER BY path",
            conditions.join(" OR ")
        );
        let mut documents = Vec::new();
        self.wrap(self.statement().prepare_cached(&statement).and_then(|mut statement| {
            let mut rows = statement.query(rusqlite::params_from_iter(&needles))?;
            while documents.len() < count
                && let Some(row) = rows.next()?
            {
                let keys = row.get_ref("keys")?.as_str()?;
                if needles.iter().any(|needle| keys.contains(needle) && is_hit(keys, needle)) {
                    documents.push(stored_document(row)?);
                }
            }
            Ok(())
        }))?;
        Ok(documents)
    }

    /// Returns the bytes of a document within `span`, clipped to the document. The first read of a
    /// document compares all of its bytes with its hash.
    pub fn content(&self, document: &StoredDocument, span: ByteSpan) -> Result<Vec<u8>> {
        let span = span.clipped(self.length(document)?);
        if self.checked_documents().contains(&document.id) {
            return self.unchecked_content(document, span);
        }
        let mut hasher = blake3::Hasher::new();
        let mut content = Vec::with_capacity(span.len());
        let length = self.length(document)?;
        for start in (0..length).step_by(limits::CHECK_BYTES) {
            let piece = ByteSpan::new(start, length.min(start + limits::CHECK_BYTES));
            let bytes = self.unchecked_content(document, piece)?;
            hasher.update(&bytes);
            let from = span.start.clamp(piece.start, piece.end) - start;
            let to = span.end.clamp(piece.start, piece.end) - start;
            content.extend_from_slice(bytes.get(from..to).unwrap_or_default());
        }
        if *hasher.finalize().as_bytes() != document.hash {
            return Err(self.damaged(document, "bytes"));
        }
        self.checked_documents().insert(document.id);
        Ok(content)
    }

    fn checked_documents(&self) -> MutexGuard<'_, HashSet<i64>> {
        self.checked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unchecked_content(&self, document: &StoredDocument, span: ByteSpan) -> Result<Vec<u8>> {
        let length = self.length(document)?;
        let packed = self.wrap(content::read(&self.statement(), document.id, length, span))?;
        packed.unpack().ok_or_else(|| self.damaged(document, "bytes"))
    }

    /// Returns the length of a document in bytes. Fails if it exceeds the largest possible length,
    /// because the length determines how much memory is used.
    pub(super) fn length(&self, document: &StoredDocument) -> Result<usize> {
        let is_possible = document.state.size <= limits::LARGEST_MAX_FILE_BYTES as u64;
        let length = usize::try_from(document.state.size).ok().filter(|_| is_possible);
        length.ok_or_else(|| {
            corrupt(&self.path, &format!("the size of {} is not possible", document.path))
        })
    }

    /// Returns the bytes of each of `documents`. They are decompressed and compared with their
    /// hashes when the iterator reaches them.
    pub fn contents<'a>(
        &'a self,
        documents: &'a [StoredDocument],
    ) -> Result<impl Iterator<Item = Result<Vec<u8>>> + 'a> {
        let connection = self.statement();
        let mut packed = Vec::with_capacity(documents.len());
        for document in documents {
            let length = self.length(document)?;
            let span = ByteSpan::new(0, length);
            packed.push(self.wrap(content::read(&connection, document.id, length, span))?);
        }
        Ok(packed.into_iter().zip(documents).map(|(packed, document)| {
            let bytes = packed.unpack();
            let bytes = bytes.filter(|bytes| *blake3::hash(bytes).as_bytes() == document.hash);
            bytes.ok_or_else(|| self.damaged(document, "bytes"))
        }))
    }

    /// Returns whether an edit was started and not finished.
    pub fn has_edit_intents(&self) -> Result<bool> {
        self.wrap(
            self.statement()
                .prepare_cached("SELECT EXISTS (SELECT 1 FROM edit_intent)")
                .and_then(|mut statement| statement.query_row([], |row| row.get(0))),
        )
    }

    /// Returns the totals of the store.
    pub fn totals(&self) -> Result<Totals> {
        self.wrap(self.statement().query_row(
            "SELECT count(*), coalesce(sum(sections), 0), coalesce(sum(blocks), 0), \
                coalesce(sum(size), 0), coalesce(sum(words), 0), coalesce(sum(lines), 0), \
                (SELECT count(*) FROM diagnostic), coalesce(sum(links), 0) FROM document",
            [],
            |row| {
                let number = |column| row.get::<_, i64>(column).map(count);
                Ok(Totals {
                    documents: number(0)?,
                    sections: number(1)?,
                    blocks: number(2)?,
                    links: number(7)?,
                    bytes: number(3)?,
                    words: number(4)?,
                    lines: number(5)?,
                    diagnostics: number(6)?,
                })
            },
        ))
    }
}

/// Connects for reading. On a read-only file system or a full disk, SQLite cannot create the shared
/// memory of its log. The file is then opened as immutable, which is correct only if there is no
/// log. A full disk may get room again at any time, so a lock excludes writers in that case:
/// `held`, or a shared lock acquired here.
fn connect_for_reading(path: &Path, held: Option<&File>) -> Result<(Connection, Option<File>)> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = connect(path, path, flags)?;
    let probe = connection.pragma_query_value(None, "schema_version", |row| row.get::<_, i64>(0));
    let Err(error) = probe else { return Ok((connection, None)) };
    let is_unwritable = matches!(
        error.sqlite_error_code(),
        Some(rusqlite::ffi::ErrorCode::CannotOpen | rusqlite::ffi::ErrorCode::ReadOnly)
    );
    let lock = match held {
        Some(held) => held.try_clone(),
        None => File::open(lock_path(path)),
    };
    let lock = match lock {
        Ok(lock) if has_no_room(&error) && (held.is_some() || lock.try_lock_shared().is_ok()) => {
            Some(lock)
        }
        _ if is_unwritable => None,
        _ => return Err(store_error(path, error)),
    };
    let log = with_suffix(path, "-wal");
    if has_log(path) {
        if lock.is_some() {
            return Err(store_error(path, error));
        }
        return Err(Error::new(
            ErrorKind::StoreNeedsCheckpoint,
            format!(
                "{}: contains changes that cannot be read without write access",
                file_name(&log)
            ),
        )
        .with_hint("run `mdsel ingest` once with write access to the folder"));
    }
    let target = format!("file:{}?immutable=1", uri_path(path));
    let connection = connect(path, Path::new(&target), flags | OpenFlags::SQLITE_OPEN_URI)?;
    Ok((connection, lock))
}

/// Returns the root folder. `root` is relative to the folder of the store.
pub(super) fn root_folder(store: &Path, root: &str) -> PathBuf {
    let folder = store.parent().unwrap_or_else(|| Path::new(""));
    let joined = if root == "." { folder.to_owned() } else { folder.join(root) };
    joined.canonicalize().unwrap_or(joined)
}

/// Encodes a path for a `file:` URI (RFC 3986, section 2.1).
fn uri_path(path: &Path) -> String {
    let mut result = String::new();
    for &byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            result.push(char::from(byte));
        } else {
            result.push_str(&format!("%{byte:02X}"));
        }
    }
    result
}
