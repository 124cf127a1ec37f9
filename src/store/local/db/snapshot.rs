//! Reading one unchanging state of the store.
//!
//! Invariants: all answers of one [`Snapshot`] come from the same committed generation, whatever a
//! writer does meanwhile.

use std::collections::HashSet;
use std::fs::File;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use rusqlite::ffi::ErrorCode;
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, Params, Row};

use super::lineage::Lineage;
use super::remembered_titles::RememberedTitles;
use super::schema::Age;
use super::statement_timer::StatementTimer;
use super::{
    CACHE_PAGES, connect, corrupt, file_name, folders, has_log, has_no_room, in_the_way, lock_path,
    meta, not_found, schema, store_error, totals, with_suffix,
};
use crate::corpus::{IngestOptions, Roots, bounds_below, root_folder};
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{self, Limit};
use crate::prepare::PARSER_VERSION;
use crate::store::local::own_files;
use crate::store::{Facts, StoredDocument, Totals};

/// What distinguishes a file from another one at its path, and from the same file after a program other than SQLite
/// wrote it. SQLite does not notice that its cached pages are old then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileIdentity {
    device: u64,
    inode: u64,
    size: u64,
    /// The time of the last change, in seconds and nanoseconds.
    changed: (i64, i64),
}

impl FileIdentity {
    fn of(path: &Path) -> Option<Self> {
        std::fs::metadata(path).ok().map(|metadata| Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        })
    }
}

/// One unchanging state of the store.
#[derive(Debug)]
pub(in crate::store) struct Snapshot {
    /// Locked while a statement runs. Slow work with the rows is done afterwards, except that all titles are compared
    /// row by row.
    connection: Mutex<Connection>,
    path: PathBuf,
    /// Read before the file is opened, so a file that replaces it is never mistaken for it.
    file: Option<FileIdentity>,
    root: PathBuf,
    options: IngestOptions,
    has_lost_options: bool,
    generation: u64,
    identity: String,
    lineage: Lineage,
    has_current_parser: bool,
    /// The checksum of the root and the options, read when the generation is released.
    checksum: OnceLock<Option<Value>>,
    /// The ids of the documents without checksums whose bytes were compared with their hash.
    pub(super) checked: Mutex<HashSet<i64>>,
    /// The documents of the texts that were last looked for among the titles.
    pub(super) titles: RememberedTitles,
    timer: StatementTimer,
    /// A shared or exclusive lock that excludes writers if SQLite cannot use its log.
    lock: Option<File>,
}

impl Snapshot {
    /// Opens a store with the newest schema; `None` if it must be migrated first.
    pub(super) fn open_current(
        path: &Path,
        held: Option<&File>,
        wait: Duration,
    ) -> Result<Option<Self>> {
        let path = path.to_owned();
        let file = FileIdentity::of(&path);
        let (mut connection, lock) = connect_for_reading(&path, held, wait)?;
        let timer = StatementTimer::new();
        let of_statement = timer.clone();
        connection
            .progress_handler(100_000, Some(move || of_statement.is_over()))
            .and_then(|()| connection.pragma_update(None, "cache_size", CACHE_PAGES))
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
            has_lost_options: false,
            generation: 0,
            identity: String::new(),
            lineage: Lineage::default(),
            has_current_parser: false,
            checksum: OnceLock::new(),
            checked: Mutex::default(),
            titles: RememberedTitles::default(),
            timer,
            path,
            lock,
        };
        let known = meta::read(&snapshot.path, &snapshot.statement())?;
        // The first ingest was killed before it wrote any metadata.
        let Some(known) = known else { return Err(not_found(&snapshot.path)) };
        snapshot.identity = known.identity;
        snapshot.lineage = known.lineage;
        snapshot.has_current_parser = known.parser_version == Some(PARSER_VERSION);
        snapshot.generation = known.generation;
        snapshot.root = root_folder(&snapshot.path, &known.root);
        snapshot.has_lost_options = known.options.is_none();
        snapshot.options = known.options.unwrap_or_default();
        Ok(Some(snapshot))
    }

    /// Returns what is known about the store.
    pub(in crate::store) fn facts(&self) -> Result<Facts> {
        Ok(Facts {
            path: Some(self.path.clone()),
            own_files: own_files(&self.path),
            root: self.root.clone(),
            options: self.options.clone(),
            has_lost_options: self.has_lost_options,
            generation: self.generation,
            has_current_parser: self.has_current_parser,
            is_interrupted: self.has_edit_intents()?,
            edited_elsewhere: Vec::new(),
        })
    }

    /// Releases the generation, so that a writer can write the log back. Call [`Self::renew`]
    /// before the next query.
    pub(in crate::store) fn release(&self) -> Result<()> {
        if self.checksum.get().is_none() {
            let checksum = self.wrap(meta::value(&self.statement(), "seal"))?;
            self.checksum.get_or_init(|| checksum);
        }
        self.wrap(self.statement().execute_batch("ROLLBACK"))
    }

    /// Returns whether no writer can write as long as this snapshot exists.
    pub(in crate::store) fn holds_writers_off(&self) -> bool {
        self.lock.is_some()
    }

    /// Pins the newest generation after [`Self::release`]. Returns whether it is the same
    /// generation of the same file, with the same root and options. If not, the store must be opened again.
    pub(in crate::store) fn renew(&self) -> Result<bool> {
        // A repair of the options may write the same checksum.
        if self.has_lost_options || self.file.is_none() || self.file != FileIdentity::of(&self.path)
        {
            return Ok(false);
        }
        self.wrap(self.statement().execute_batch("BEGIN"))?;
        let generation: Option<Value> = self.wrap(meta::value(&self.statement(), "generation"))?;
        let checksum: Option<Value> = self.wrap(meta::value(&self.statement(), "seal"))?;
        let is_same_generation = matches!(generation, Some(Value::Integer(number)) if number.unsigned_abs() == self.generation);
        Ok(is_same_generation && self.checksum.get() == Some(&checksum))
    }

    /// Returns the rows that `statement` selects.
    pub(super) fn query_rows<T, C: FromIterator<T>>(
        &self,
        statement: &str,
        bounds: impl Params,
        row: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<C> {
        self.wrap(
            self.statement()
                .prepare_cached(statement)
                .and_then(|mut statement| statement.query_map(bounds, row)?.collect()),
        )
    }

    /// Returns the only row that `statement` selects.
    pub(super) fn query_row<T>(
        &self,
        statement: &str,
        bounds: impl Params,
        row: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<T> {
        self.wrap(
            self.statement()
                .prepare_cached(statement)
                .and_then(|mut statement| statement.query_row(bounds, row)),
        )
    }

    pub(super) fn wrap<T>(&self, result: rusqlite::Result<T>) -> Result<T> {
        result.map_err(|error| match error.sqlite_error_code() {
            Some(ErrorCode::OperationInterrupted) => self.timer.exceeded().with_source(error),
            _ => store_error(&self.path, error),
        })
    }

    /// Returns the path of the store file.
    pub(in crate::store) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the folders of the documents.
    pub(in crate::store) fn roots(&self) -> Roots {
        Roots::of_store(Some(&self.path), &self.root, &self.options)
    }

    /// Returns whether the documents were parsed with the parser version of this program.
    pub(in crate::store) fn has_current_parser(&self) -> bool {
        self.has_current_parser
    }

    /// Returns the connection for a statement that may run for [`limits::QUERY_SECONDS`].
    pub(super) fn statement(&self) -> MutexGuard<'_, Connection> {
        self.limited_statement(limits::row::QUERY_SECONDS)
    }

    /// Returns the connection for a statement that may run for [`limits::CHECK_SECONDS`].
    pub(super) fn long_statement(&self) -> MutexGuard<'_, Connection> {
        self.limited_statement(limits::row::CHECK_SECONDS)
    }

    fn limited_statement(&self, limit: Limit) -> MutexGuard<'_, Connection> {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        self.timer.start(limit);
        connection
    }

    /// Returns the generation: the number of commits that changed a document.
    pub(in crate::store) fn generation(&self) -> u64 {
        self.generation
    }

    /// Returns the random name that distinguishes this store from all others.
    pub(in crate::store) fn identity(&self) -> &str {
        &self.identity
    }

    /// Returns the tokens of the last generations.
    pub(in crate::store) fn lineage(&self) -> &Lineage {
        &self.lineage
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

    /// Returns the folders of the documents; see [`crate::store::Reader::folders`].
    pub(in crate::store) fn folders(&self) -> Result<Vec<(String, usize)>> {
        let connection = self.statement();
        self.wrap(folders::stored(&connection))
    }

    /// Returns the number of documents below `folder`, and the sum of their bytes.
    pub(in crate::store) fn size_of_folder(&self, folder: &str) -> Result<(usize, u64)> {
        let (start, end) = bounds_below(folder);
        let sums =
            "SELECT count(*), coalesce(sum(size), 0) FROM document WHERE path > ?1 AND path < ?2";
        self.query_row(sums, [start, end], |row| {
            Ok((super::count(row.get(0)?), u64::try_from(row.get::<_, i64>(1)?).unwrap_or(0)))
        })
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

    /// Returns whether an edit was started and not finished.
    pub(in crate::store) fn has_edit_intents(&self) -> Result<bool> {
        self.query_row("SELECT EXISTS (SELECT 1 FROM edit_intent)", [], |row| row.get(0))
    }

    /// Returns the totals of the store.
    pub(in crate::store) fn totals(&self) -> Result<Totals> {
        let connection = self.statement();
        let stored = self.wrap(totals::stored(&connection))?;
        stored.map_or_else(|| self.wrap(totals::counted(&connection)), Ok)
    }
}

/// The number of files that SQLite opens beside the store to read its log.
const LOG_FILES: usize = 2;

/// Connects for reading. On a read-only file system or a full disk, SQLite cannot create the shared
/// memory of its log. The file is then opened as immutable, which is correct only if there is no
/// log. A full disk may get room again at any time, so a lock excludes writers in that case:
/// `held`, or a shared lock acquired here.
fn connect_for_reading(
    path: &Path,
    held: Option<&File>,
    wait: Duration,
) -> Result<(Connection, Option<File>)> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = connect(path, path, flags)?;
    connection.busy_timeout(wait).map_err(|error| store_error(path, error))?;
    let probe = connection.pragma_query_value(None, "schema_version", |row| row.get::<_, i64>(0));
    let Err(error) = probe else { return Ok((connection, None)) };
    // SQLite reports a limit of open files as it does a log that it cannot open.
    (0..LOG_FILES).map(|_| File::open(path)).collect::<std::io::Result<Vec<_>>>().map_err(
        |exhausted| {
            Error::io(path, exhausted).with_hint("raise the limit of open files: `ulimit -n`")
        },
    )?;
    let is_unwritable = matches!(
        error.sqlite_error_code(),
        Some(rusqlite::ffi::ErrorCode::CannotOpen | rusqlite::ffi::ErrorCode::ReadOnly)
    );
    let lock = match held {
        Some(held) => held.try_clone(),
        // Without a file there is nothing to lock. An empty one takes no room.
        None if has_no_room(&error) => {
            File::options().create(true).truncate(false).write(true).open(lock_path(path))
        }
        None => File::open(lock_path(path)),
    };
    let lock = match lock {
        Ok(lock) if has_no_room(&error) && (held.is_some() || lock.try_lock_shared().is_ok()) => {
            Some(lock)
        }
        _ if is_unwritable => None,
        _ => return Err(store_error(path, error)),
    };
    if !in_the_way(path).is_empty() {
        return Err(store_error(path, error));
    }
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::RowWriter;
    use super::*;
    use crate::store::IfAbsent;

    #[test]
    fn an_error_names_the_limit_that_a_statement_exceeded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let mut writer = RowWriter::open(&path, IfAbsent::Create, Duration::ZERO).unwrap();
        writer.set_up("", &IngestOptions::default()).unwrap();
        drop(writer);
        let snapshot = Snapshot::open(&path).unwrap();
        let run = |limit, statement| {
            let connection = snapshot.limited_statement(limit);
            snapshot.wrap(connection.query_row(statement, [], |row| row.get::<_, i64>(0)))
        };
        let long = "WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number LIMIT 1000000) \
                    SELECT count(*) FROM number";
        for row in [limits::row::QUERY_SECONDS, limits::row::CHECK_SECONDS] {
            let error = run(Limit { value: 0, ..row }, long).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Limit);
            assert!(error.to_string().contains(row.name), "{error}");
            assert_eq!(run(row, "SELECT 1").unwrap(), 1);
        }
        let error = run(limits::row::QUERY_SECONDS, "SELECT zeroblob(1 << 30)").unwrap_err();
        assert!(error.to_string().contains("sqlite-row-bytes allows (268435456)"), "{error}");
    }
}
