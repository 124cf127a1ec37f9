//! Reading what can be read of a store that may be damaged anywhere.
//!
//! Every document is looked up by itself, by every id that any table tells, so that a page that cannot be
//! read costs the documents on it and no others. Invariant: bytes are given only where they have the hash
//! that was stored with them, under a path that every place of the file where it stands
//! agrees on.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use rusqlite::types::FromSql;
use rusqlite::{Connection, OptionalExtension as _};

use super::snapshot::{connect_for_reading, root_folder};
use super::{content, meta_seal, name_key, without_extension};
use crate::error::Result;
use crate::limits;
use crate::position::ByteSpan;
use crate::store::IngestOptions;

/// A store that is read as far as it can be.
pub(in crate::store) struct Wreck {
    connection: Connection,
    path: PathBuf,
    /// The paths of documents by id, as the index of paths tells them.
    paths: BTreeMap<i64, String>,
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
    /// Opens the store at `path`; nothing of it is trusted.
    pub(in crate::store) fn open(path: &Path) -> Result<Self> {
        let (connection, _lock) = connect_for_reading(path)?;
        let mut wreck = Self { connection, path: path.to_owned(), paths: BTreeMap::new() };
        // The index of paths has all that is asked for; the table is not touched.
        let paths = wreck.scan("SELECT id, path FROM document ORDER BY path", |row| {
            Ok((row.get(0)?, row.get(1)?))
        });
        wreck.paths = paths.into_iter().collect();
        Ok(wreck)
    }

    /// The rows of a statement from both ends, each up to what cannot be read.
    fn scan<T>(
        &self,
        statement: &str,
        map: impl Fn(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> Vec<T> {
        let mut found = Vec::new();
        for direction in ["ASC", "DESC"] {
            let Ok(mut prepared) = self.connection.prepare(&format!("{statement} {direction}"))
            else {
                continue;
            };
            let Ok(mut rows) = prepared.query([]) else { continue };
            loop {
                match rows.next() {
                    Ok(Some(row)) => found.extend(map(row).ok()),
                    Ok(None) => return found,
                    Err(_) => break,
                }
            }
        }
        found
    }

    /// The ids of all documents that any table tells of.
    pub(in crate::store) fn ids(&self) -> Vec<i64> {
        let mut ids: BTreeSet<i64> = self.paths.keys().copied().collect();
        for statement in [
            "SELECT id FROM document NOT INDEXED ORDER BY id",
            "SELECT document_id FROM outline ORDER BY document_id",
        ] {
            ids.extend(self.scan(statement, |row| row.get::<_, i64>(0)));
        }
        ids.into_iter().collect()
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

    /// The root as the store knows it, relative to its own folder: sealed, or a folder that is there.
    pub(in crate::store) fn root(&self) -> Option<String> {
        let seal: Option<Vec<u8>> = self.meta("seal");
        let is_sealed =
            meta_seal(&self.connection).is_ok_and(|sealed| seal == Some(sealed.to_vec()));
        let root: Option<String> = self.meta("root");
        root.filter(|root| is_sealed || root_folder(&self.path, root).is_dir())
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
