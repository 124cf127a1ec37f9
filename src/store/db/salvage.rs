//! Reading what can be read of a store that may be damaged anywhere.
//!
//! Every document is looked up by itself, by every id that any table tells, so that a page that cannot be
//! read costs the documents on it and no others. Invariant: bytes are given only where they have the hash
//! that was stored with them, under a path that every place of the file where it stands
//! agrees on.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::types::FromSql;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Row, params};

use super::schema::{MIGRATIONS, check, create};
use super::snapshot::{connect_for_reading, root_folder};
use super::{
    beside, connect, content, corrupt, count, has_log, meta_seal, name_key, store_error,
    without_extension,
};
use crate::error::{Error, Result};
use crate::failpoint::failpoint;
use crate::limits;
use crate::position::ByteSpan;
use crate::store::IngestOptions;

/// A store that is read as far as it can be.
pub(in crate::store) struct Wreck {
    connection: Connection,
    path: PathBuf,
    /// The paths of documents by id, as the index of paths tells them.
    paths: BTreeMap<i64, String>,
    /// All ids that any table tells of.
    ids: BTreeSet<i64>,
    /// Whether one of these tables could be read to its end.
    is_listed: bool,
}

/// A document of such a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::store) enum Found {
    /// It is whole.
    Whole {
        /// Its path.
        path: String,
        /// blake3 of its bytes.
        hash: [u8; 32],
        /// Its bytes.
        bytes: Vec<u8>,
    },
    /// It is not: its path and its hash, as far as they can be told.
    Damaged(Option<String>, Option<[u8; 32]>),
}

impl Wreck {
    /// Opens the store at `path`; nothing of it is trusted. Where its schema is not one of mdsel's, a copy
    /// of it at `copy` is given that schema, and read.
    pub(in crate::store) fn open(path: &Path, copy: &Path) -> Result<Self> {
        let connection = match connect_for_reading(path) {
            Ok((connection, _)) if check(path, &connection, MIGRATIONS).is_ok() => connection,
            _ => {
                give_schema(path, copy)?;
                failpoint!(SCHEMA_GIVEN);
                connect_for_reading(copy)?.0
            }
        };
        let mut wreck = Self {
            connection,
            path: path.to_owned(),
            paths: BTreeMap::new(),
            ids: BTreeSet::new(),
            is_listed: false,
        };
        // The index of paths has all that is asked for; the table is not touched.
        let statement = "SELECT id, path FROM document ORDER BY path";
        let (paths, is_indexed) =
            scan(&wreck.connection, statement, |row| Ok((row.get(0)?, row.get(1)?)));
        wreck.paths = paths.into_iter().collect();
        let id = |row: &Row<'_>| row.get::<_, i64>(0);
        let (ids, is_whole) =
            scan(&wreck.connection, "SELECT id FROM document NOT INDEXED ORDER BY id", id);
        wreck.ids = wreck.paths.keys().copied().chain(ids).collect();
        wreck.is_listed = is_indexed || is_whole;
        if !wreck.is_listed {
            let outlines = "SELECT document_id FROM outline ORDER BY document_id";
            wreck.ids.extend(scan(&wreck.connection, outlines, id).0);
        }
        Ok(wreck)
    }

    /// The ids of all documents that any table tells of.
    pub(in crate::store) fn ids(&self) -> Vec<i64> {
        self.ids.iter().copied().collect()
    }

    /// Whether these are all that there were, as far as can be told.
    pub(in crate::store) fn is_listed(&self) -> bool {
        self.is_listed
    }

    fn value<T: FromSql>(&self, statement: &str, id: i64) -> Option<T> {
        let mut statement = self.connection.prepare_cached(statement).ok()?;
        statement.query_row([id], |row| row.get(0)).optional().ok().flatten()
    }

    /// A document by its id.
    pub(in crate::store) fn document(&self, id: i64) -> Found {
        let hash = self.value("SELECT hash FROM document WHERE id = ?1", id);
        let path: Option<String> = self.value("SELECT path FROM document WHERE id = ?1", id);
        let key: Option<String> = self.value("SELECT name_key FROM document WHERE id = ?1", id);
        let listed = self.paths.get(&id);
        let has_key = |path: &&String| {
            key.as_ref().is_some_and(|key| *key == name_key(without_extension(path)))
        };
        let agreed = path.as_ref().filter(|path| listed.is_none_or(|listed| listed == *path));
        let agreed = agreed.filter(has_key);
        let told = || path.iter().chain(listed).find(has_key).or(path.as_ref()).or(listed).cloned();
        let (Some(path), Some(hash)) = (agreed, hash) else {
            return Found::Damaged(told(), hash);
        };
        match self.bytes(id).filter(|bytes| *blake3::hash(bytes).as_bytes() == hash) {
            Some(bytes) => Found::Whole { path: path.clone(), hash, bytes },
            None => Found::Damaged(told(), Some(hash)),
        }
    }

    fn bytes(&self, id: i64) -> Option<Vec<u8>> {
        let size: i64 = self.value("SELECT size FROM document WHERE id = ?1", id)?;
        let size = usize::try_from(size).ok();
        let size = size.filter(|size| *size <= limits::LARGEST_MAX_FILE_BYTES)?;
        let span = ByteSpan::new(0, size);
        content::read(&self.connection, id, size, span).ok()?.unpack()
    }

    fn meta<T: FromSql>(&self, key: &str) -> Option<T> {
        let mut statement =
            self.connection.prepare("SELECT value FROM meta WHERE key = ?1").ok()?;
        statement.query_row([key], |row| row.get(0)).optional().ok().flatten()
    }

    /// The root as the store knows it, relative to its own folder: a folder that is there, unless a seal
    /// says that it is what was written, or there is none.
    pub(in crate::store) fn root(&self) -> Option<String> {
        let seal: Option<Vec<u8>> = self.meta("seal");
        let is_sealed =
            meta_seal(&self.connection).is_ok_and(|sealed| seal.as_deref() == Some(&sealed));
        let root: Option<String> = self.meta("root");
        root.filter(|root| is_sealed || seal.is_none() || root_folder(&self.path, root).is_dir())
    }

    /// What the last ingest took.
    pub(in crate::store) fn options(&self) -> Option<IngestOptions> {
        serde_json::from_str(&self.meta::<String>("options")?).ok()
    }

    /// How many times the store has been changed.
    pub(in crate::store) fn generation(&self) -> i64 {
        self.meta::<i64>("generation").unwrap_or(0).clamp(0, i64::MAX / 2)
    }
}

/// The rows of a statement from both ends, each up to what cannot be read; and whether there was
/// nothing of that.
fn scan<T>(
    connection: &Connection,
    statement: &str,
    map: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
) -> (Vec<T>, bool) {
    let mut found = Vec::new();
    for direction in ["ASC", "DESC"] {
        let Ok(mut prepared) = connection.prepare(&format!("{statement} {direction}")) else {
            continue;
        };
        let Ok(mut rows) = prepared.query([]) else { continue };
        loop {
            match rows.next() {
                Ok(Some(row)) => found.extend(map(row).ok()),
                Ok(None) => return (found, true),
                Err(_) => break,
            }
        }
    }
    (found, false)
}

/// Copies the store at `path`, with its log, to `copy`, and has SQLite write the log back there: one file that
/// tells what both did.
pub(in crate::store) fn write_log_back(path: &Path, copy: &Path) -> Result<()> {
    copy_with_log(path, copy)?;
    let wrap = |error| store_error(path, error);
    let connection = connect(path, copy, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    // SQLite opens the log with its first look at the file, and writes it back when the last connection
    // closes; neither needs a schema, which may be damaged.
    connection
        .pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0))
        .and_then(|_| connection.close().map_err(|(_, error)| error))
        .map_err(wrap)?;
    if has_log(copy) {
        return Err(corrupt(path, "what its log tells cannot be written back"));
    }
    let synced = std::fs::File::open(copy).and_then(|file| file.sync_all());
    synced.map_err(|error| Error::io(copy, error))
}

fn copy_with_log(path: &Path, copy: &Path) -> Result<()> {
    for suffix in ["", "-wal"] {
        match std::fs::copy(beside(path, suffix), beside(copy, suffix)) {
            Err(error) if suffix.is_empty() || error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::io(copy, error));
            }
            _ => {}
        }
    }
    // Where the header tells no number of pages SQLite takes as many as the file has (file format, 1.3.8).
    let forget_count = |mut file: std::fs::File| {
        file.seek(SeekFrom::Start(28))?;
        file.write_all(&[0; 4])
    };
    std::fs::File::options()
        .write(true)
        .open(copy)
        .and_then(forget_count)
        .map_err(|error| Error::io(copy, error))
}

/// Copies the store at `path` to `copy`, which is given the schema of its version: where its tables begin is
/// taken from its own schema, as far as that names them, else from a new store.
fn give_schema(path: &Path, copy: &Path) -> Result<()> {
    write_log_back(path, copy)?;
    let wrap = |error| store_error(path, error);
    let connect = || -> Result<Connection> {
        let connection = connect(path, copy, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        // SQLite lets a schema that it cannot read be written only so.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false).map_err(wrap)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_WRITABLE_SCHEMA, true).map_err(wrap)?;
        Ok(connection)
    };
    let connection = connect()?;
    let version: usize = connection
        .pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0))
        .map_or(0, count);
    let known: BTreeMap<String, i64> =
        schema_rows(&connection).into_iter().map(|(_, name, _, page, _)| (name, page)).collect();
    connection.close().map_err(|(_, error)| wrap(error))?;
    forget_schema(copy).map_err(|error| Error::io(copy, error))?;
    let mut new = Connection::open_in_memory().map_err(wrap)?;
    let is_known = (1..=MIGRATIONS.len()).contains(&version);
    create(&mut new, if is_known { version } else { MIGRATIONS.len() }).map_err(wrap)?;
    let mut connection = connect()?;
    let transaction = connection.transaction().map_err(wrap)?;
    for (kind, name, table, page, sql) in schema_rows(&new) {
        let page = known.get(&name).copied().unwrap_or(page);
        transaction
            .execute(
                "INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql) \
                 VALUES (?1, ?2, ?3, ?4, ?5)",
                params![kind, name, table, page, sql],
            )
            .map_err(wrap)?;
    }
    transaction.commit().map_err(wrap)?;
    connection.close().map_err(|(_, error)| wrap(error))
}

/// Leaves the database file at `path`, which has no log, without schema and without free pages, byte by byte:
/// SQLite would look into what it removes, which may be damaged (SQLite's file format, sections 1.3 and 1.6).
fn forget_schema(path: &Path) -> std::io::Result<()> {
    let mut file = std::fs::File::options().read(true).write(true).open(path)?;
    let mut header = [0; 100];
    file.read_exact(&mut header)?;
    let [high, low, reserved] = [header[16], header[17], header[20]];
    let page_size = match u16::from_be_bytes([high, low]) {
        1 => 1 << 16,
        size => u32::from(size),
    };
    // A leaf of a table without cells, whose content begins at the end of the page; 0 stands for 65,536.
    let [_, _, high, low] = page_size.saturating_sub(u32::from(reserved)).to_be_bytes();
    file.seek(SeekFrom::Start(100))?;
    file.write_all(&[13, 0, 0, 0, 0, high, low, 0])?;
    // No page is free.
    file.seek(SeekFrom::Start(32))?;
    file.write_all(&[0; 8])
}

fn schema_rows(connection: &Connection) -> Vec<SchemaRow> {
    let statement = "SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema ORDER BY rowid";
    scan(connection, statement, schema_row).0
}

/// Type, name, table, first page and statement of a table or an index.
type SchemaRow = (String, String, String, i64, Option<String>);

fn schema_row(row: &Row<'_>) -> rusqlite::Result<SchemaRow> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
}
