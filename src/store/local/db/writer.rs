//! Writing to SQLite: transactions that change whole documents.
//!
//! Invariants: a change is acknowledged only after a commit with `synchronous = FULL`. Every commit that
//! changes a document increments the generation and gives it a token of its own. After a writer has
//! written and no reader uses an older state, the store is one file without a log.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, params};

use super::CACHE_PAGES;
use super::document_row::{SELECT_DOCUMENTS, unchecked_document};
use super::documents::{self, PendingRows};
use super::migrate::{Migrated, migrate};
use super::{
    Header, connect, intents, lock, meta, not_found, peek, schema, store_error, unwritable,
    with_suffix,
};
use crate::corpus::{FileState, IngestOptions, root_folder};
use crate::error::{Error, Result};
use crate::failpoint::failpoint;
use crate::limits;
use crate::prepare::{MIXED_PARSERS, PARSER_VERSION, PreparedDocument};
use crate::store::{EditIntent, IfAbsent, StoredDocument};

/// The page cache while writing. SQLite takes a negative number as KiB and a positive one as pages.
/// A batch changes more than the default of 2 MB.
const CACHE_KIBIBYTES: i32 = -(16 << 10);

/// The right to change a store file: holds its lock.
#[derive(Debug)]
pub(in crate::store) struct RowWriter {
    connection: Connection,
    path: PathBuf,
    /// What is not written yet in this transaction.
    pending: PendingRows,
    is_dirty: bool,
    has_written: bool,
    /// Whether the options of the last ingest are damaged.
    pub(in crate::store) has_lost_options: bool,
    /// The migration that opening the store ran, if any.
    pub(in crate::store) migrated: Option<Migrated>,
    // The last field, so that it is released after the connection is closed.
    _lock: File,
}

impl RowWriter {
    /// Opens the store at `path` for writing. Waits up to `wait` for another writer.
    pub(in crate::store) fn open(path: &Path, if_absent: IfAbsent, wait: Duration) -> Result<Self> {
        let is_refused = |header: &Header| *header == Header::Absent && if_absent == IfAbsent::Fail;
        // Checked first, because the lock makes a file.
        if is_refused(&peek(path)?) {
            return Err(not_found(path));
        }
        let lock = lock(path, wait)?;
        failpoint!(LOCKED);
        // Checked again, because the store may have been created or removed while this writer waited.
        let header = peek(path)?;
        if is_refused(&header) {
            return Err(not_found(path));
        }
        if header == Header::Absent {
            Self::create(path)?;
        }
        let mut connection = connect(path, path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        let wrap = |error| store_error(path, error);
        if connection.is_readonly(c"main").map_err(wrap)? {
            return Err(unwritable(path));
        }
        connection.busy_timeout(wait).map_err(wrap)?;
        connection.pragma_update(None, "synchronous", "FULL").map_err(wrap)?;
        // While an ingest compares files, each page is read once, so few are kept.
        connection.pragma_update(None, "cache_size", CACHE_PAGES).map_err(wrap)?;
        let migrated = migrate(path, &mut connection, schema::MIGRATIONS)?;
        // Fails if the metadata is damaged, so that it is not overwritten.
        let meta = meta::read(path, &connection)?;
        let mut writer = Self {
            has_lost_options: meta.as_ref().is_some_and(|meta| meta.options.is_none()),
            connection,
            path: path.to_owned(),
            pending: PendingRows::default(),
            is_dirty: false,
            has_written: migrated.is_some(),
            migrated,
            _lock: lock,
        };
        // A version of mdsel without tokens wrote the last generation.
        if let Some(meta) = meta.filter(|meta| meta.lineage.token(meta.generation).is_none()) {
            writer.begin()?;
            writer.set_generation(i64::try_from(meta.generation).unwrap_or(i64::MAX))?;
            writer.commit()?;
        }
        Ok(writer)
    }

    /// Creates an empty store next to `path` and renames it, so that no other process sees an
    /// incomplete store.
    fn create(path: &Path) -> Result<()> {
        let new = with_suffix(path, "-new");
        for suffix in ["", "-wal", "-shm", "-journal"] {
            super::super::remove(&with_suffix(&new, suffix))?;
        }
        let wrap = |error| store_error(path, error);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let mut connection = connect(path, &new, flags)?;
        schema::create(&mut connection, schema::MIGRATIONS.len()).map_err(wrap)?;
        connection.pragma_update(None, "journal_mode", "WAL").map_err(wrap)?;
        connection.close().map_err(|(_, error)| wrap(error))?;
        failpoint!(STORE_MADE_BESIDE);
        std::fs::rename(&new, path).map_err(|error| Error::io(path, error))?;
        failpoint!(STORE_MADE);
        Ok(())
    }

    fn wrap<T>(&self, result: rusqlite::Result<T>) -> Result<T> {
        result.map_err(|error| store_error(&self.path, error))
    }

    fn meta<T: rusqlite::types::FromSql>(&self, key: &str) -> Result<Option<T>> {
        self.wrap(meta::value(&self.connection, key))
    }

    fn set_meta(&self, key: &str, value: impl rusqlite::ToSql) -> Result<()> {
        self.wrap(self.connection.execute(
            "INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)",
            params![key, value],
        ))?;
        Ok(())
    }

    /// Sets the generation to a later one than `generation`, so that no reader takes this store for
    /// an older state.
    pub(in crate::store) fn set_generation_after(&mut self, generation: i64) -> Result<()> {
        self.begin()?;
        let current = i64::try_from(self.generation()?).unwrap_or(0);
        self.set_generation(current.max(generation.saturating_add(1)))?;
        self.commit()
    }

    /// Sets the generation and adds a token for it.
    fn set_generation(&self, generation: i64) -> Result<()> {
        self.set_meta("generation", generation)?;
        let lineage = self.wrap(meta::lineage(&self.connection))?;
        self.set_meta("lineage", lineage.continued(generation))
    }

    /// Writes the checksum of the metadata. That of damaged options stays wrong.
    fn write_meta_checksum(&self) -> Result<()> {
        if self.has_lost_options {
            return Ok(());
        }
        let checksum = self.wrap(meta::stored_checksum(&self.connection))?;
        self.set_meta("seal", checksum)
    }

    /// Returns the folder that document paths are relative to; `None` before the first ingest.
    pub(in crate::store) fn root(&self) -> Result<Option<PathBuf>> {
        Ok(self.meta::<String>("root")?.map(|root| root_folder(&self.path, &root)))
    }

    /// Stores the root, relative to the folder of the store, and the options of an ingest.
    pub(in crate::store) fn set_up(&mut self, root: &str, options: &IngestOptions) -> Result<()> {
        self.begin()?;
        if self.meta::<i64>("generation")?.is_none() {
            self.set_meta("identity", crate::store::new_identity())?;
            self.set_generation(0)?;
            self.set_meta("parser_version", PARSER_VERSION)?;
        }
        self.set_meta("root", root)?;
        self.set_meta("options", serde_json::to_string(options).unwrap_or_default())?;
        self.has_lost_options = false;
        self.write_meta_checksum()?;
        self.commit()
    }

    /// Returns the options of the last ingest; `None` before the first one, and if they are damaged.
    pub(in crate::store) fn options(&self) -> Result<Option<IngestOptions>> {
        if self.has_lost_options {
            return Ok(None);
        }
        self.wrap(meta::options(&self.connection))
    }

    /// Returns whether the documents were parsed with the parser version of this program.
    pub(in crate::store) fn has_current_parser(&self) -> Result<bool> {
        Ok(self.meta::<i64>("parser_version")? == Some(PARSER_VERSION))
    }

    /// Returns the current generation: the number of commits that changed a document.
    pub(in crate::store) fn generation(&self) -> Result<u64> {
        Ok(self.meta::<i64>("generation")?.map_or(0, i64::unsigned_abs))
    }

    /// Returns the token of the current generation; empty before the first ingest.
    pub(in crate::store) fn token(&self) -> Result<String> {
        let lineage = self.wrap(meta::lineage(&self.connection))?;
        Ok(lineage.token(self.generation()?).unwrap_or_default().to_owned())
    }

    /// Returns all documents without comparing checksums, because an ingest replaces every document
    /// that differs from its file.
    pub(in crate::store) fn documents(&self) -> Result<Vec<StoredDocument>> {
        self.wrap(
            self.connection
                .prepare(SELECT_DOCUMENTS)
                .and_then(|mut statement| statement.query_map([], unchecked_document)?.collect()),
        )
    }

    /// Begins a transaction.
    pub(in crate::store) fn begin(&self) -> Result<()> {
        self.wrap(self.connection.pragma_update(None, "cache_size", CACHE_KIBIBYTES))?;
        self.wrap(self.connection.execute_batch("BEGIN IMMEDIATE"))?;
        failpoint!(BEGUN);
        Ok(())
    }

    /// Commits the transaction and increments the generation if a document changed.
    pub(in crate::store) fn commit(&mut self) -> Result<()> {
        if self.is_dirty {
            self.set_generation(i64::try_from(self.generation()?).unwrap_or(0) + 1)?;
        }
        let written = self.pending.write(&self.connection);
        self.wrap(written)?;
        failpoint!(BEFORE_COMMIT);
        self.wrap(self.connection.execute_batch("COMMIT"))?;
        self.is_dirty = false;
        self.has_written = true;
        failpoint!(AFTER_COMMIT);
        Ok(())
    }

    /// Rolls back the transaction, if one is open.
    pub(in crate::store) fn roll_back(&mut self) -> Result<()> {
        if !self.connection.is_autocommit() {
            self.wrap(self.connection.execute_batch("ROLLBACK"))?;
            self.is_dirty = false;
        }
        self.pending = PendingRows::default();
        Ok(())
    }

    /// Records whether all documents were parsed with the parser version of this program.
    pub(in crate::store) fn set_current_parser(&mut self, is_current: bool) -> Result<()> {
        self.begin()?;
        self.set_parser(if is_current { PARSER_VERSION } else { MIXED_PARSERS })?;
        self.commit()
    }

    fn set_parser(&self, version: i64) -> Result<()> {
        self.set_meta("parser_version", version)?;
        self.write_meta_checksum()
    }

    /// Returns the random name of this store; `None` before the first ingest.
    pub(in crate::store) fn identity(&self) -> Result<Option<String>> {
        self.meta("identity")
    }

    /// Returns the highest id of a document; 0 if there are no documents.
    pub(in crate::store) fn highest_id(&self) -> Result<i64> {
        let highest =
            self.connection.query_row("SELECT max(id) FROM document", [], |row| row.get(0));
        Ok(self.wrap::<Option<i64>>(highest)?.unwrap_or(0))
    }

    /// Writes a document and replaces the one with the same path, if any. Returns its id, and the
    /// id of the replaced document.
    pub(in crate::store) fn put(
        &mut self,
        document: &PreparedDocument,
    ) -> Result<(i64, Option<i64>)> {
        self.is_dirty = true;
        let parser: Option<i64> = self.meta("parser_version")?;
        if parser.is_some_and(|version| ![PARSER_VERSION, MIXED_PARSERS].contains(&version)) {
            self.set_parser(MIXED_PARSERS)?;
        }
        let result = documents::put(&self.connection, &mut self.pending, document);
        self.wrap(result)
    }

    /// Removes a document.
    pub(in crate::store) fn remove(&mut self, id: i64) -> Result<()> {
        self.is_dirty = true;
        let result = documents::remove(&self.connection, &mut self.pending, id);
        self.wrap(result)
    }

    /// Records the files that an edit is about to change. Returns the ids of the records.
    pub(in crate::store) fn note_intents(&self, intents: &[EditIntent]) -> Result<Vec<i64>> {
        self.wrap(intents::note(&self.connection, intents))
    }

    /// Deletes the record of an edit that is finished.
    pub(in crate::store) fn forget_intent(&self, id: i64) -> Result<()> {
        self.wrap(intents::forget(&self.connection, id))
    }

    /// Returns the edits that were started and not finished, with the ids of their records.
    pub(in crate::store) fn intents(&self) -> Result<Vec<(i64, EditIntent)>> {
        self.wrap(intents::all(&self.connection))
    }

    /// Updates the stored times of a file whose bytes are unchanged.
    pub(in crate::store) fn set_state(&self, id: i64, state: FileState) -> Result<()> {
        self.wrap(
            self.connection
                .prepare_cached(
                    "INSERT OR REPLACE INTO file_times (document_id, mtime_ns, ctime_ns) VALUES (?1, ?2, ?3)",
                )
                .and_then(|mut statement| {
                    statement.execute(params![id, state.mtime_ns, state.ctime_ns])
                }),
        )?;
        Ok(())
    }

    /// Writes the log back into the store file, and returns whether that is done. A reader of an older state
    /// prevents it; the writer waits for it at most [`limits::CLOSE_WAIT_MILLISECONDS`].
    pub(in crate::store) fn checkpoint(&self) -> Result<bool> {
        if !self.has_written {
            return Ok(true);
        }
        let most = Duration::from_millis(limits::CLOSE_WAIT_MILLISECONDS as u64);
        self.wrap(self.connection.busy_timeout(most))?;
        failpoint!(BEFORE_CHECKPOINT);
        let statement = "PRAGMA wal_checkpoint(TRUNCATE)";
        let is_blocked: bool =
            self.wrap(self.connection.query_row(statement, [], |row| row.get(0)))?;
        failpoint!(AFTER_CHECKPOINT);
        Ok(!is_blocked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prepare::Preparation;
    use crate::store::local::db::{folders, totals};

    fn rows(preparation: &mut Preparation, path: &str, text: &str) -> PreparedDocument {
        let bytes = text.as_bytes().to_vec();
        let hash = *blake3::hash(&bytes).as_bytes();
        let state = FileState { size: bytes.len() as u64, mtime_ns: 0, ctime_ns: 0 };
        preparation.of_bytes(path.to_owned(), bytes, hash, state).unwrap().unwrap()
    }

    #[test]
    fn only_keys_of_the_remaining_documents_are_stored() {
        let folder = tempfile::tempdir().unwrap();
        let mut preparation = Preparation::new().unwrap();
        let mut writer =
            RowWriter::open(&folder.path().join("a.db"), IfAbsent::Create, Duration::ZERO).unwrap();
        writer.set_up("", &IngestOptions::default()).unwrap();
        let one = rows(&mut preparation, "one.md", "# One\n\n[x](two.md) [y](three.md)\n");
        let other = rows(&mut preparation, "one.md", "# Other\n\n[z](four.md)\n");
        let two = rows(&mut preparation, "two.md", "# Two\n\n[x](one.md)\n");
        let keys = |writer: &RowWriter, table: &str| -> Vec<(i64, i64)> {
            let statement = format!("SELECT document_id, key FROM {table} ORDER BY 1, 2");
            let mut statement = writer.connection.prepare(&statement).unwrap();
            let keys = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
            keys.map(|key| key.unwrap()).collect()
        };
        let of = |id: i64, keys: &[i64]| -> Vec<(i64, i64)> {
            let mut keys: Vec<_> = keys.iter().map(|key| (id, *key)).collect();
            keys.sort_unstable();
            keys
        };
        writer.begin().unwrap();
        writer.put(&one).unwrap();
        writer.put(&two).unwrap();
        // Replaces a document whose keys are pending.
        let (id, before) = writer.put(&other).unwrap();
        assert!(before.is_some());
        writer.commit().unwrap();
        let left = [of(id - 1, &two.keys.links), of(id, &other.keys.links)].concat();
        assert_eq!(keys(&writer, "link_key"), left);
        writer.begin().unwrap();
        writer.put(&one).unwrap();
        writer.roll_back().unwrap();
        writer.begin().unwrap();
        writer.remove(id - 1).unwrap();
        writer.commit().unwrap();
        assert_eq!(keys(&writer, "link_key"), of(id, &other.keys.links));
        assert_eq!(keys(&writer, "name_key"), of(id, &other.keys.names));
    }

    #[test]
    fn the_stored_totals_are_those_of_the_documents() {
        let folder = tempfile::tempdir().unwrap();
        let mut preparation = Preparation::new().unwrap();
        let mut writer =
            RowWriter::open(&folder.path().join("a.db"), IfAbsent::Create, Duration::ZERO).unwrap();
        writer.set_up("", &IngestOptions::default()).unwrap();
        let one = rows(&mut preparation, "one.md", "---\na: [\n---\n# One\n\n[x](two.md) text\n");
        let other = rows(&mut preparation, "one.md", "# Other\n\n## Below\n");
        let two = rows(&mut preparation, "two.md", "# Two\n\n- a\n- b\n");
        let totals = |writer: &RowWriter| {
            let stored = totals::stored(&writer.connection).unwrap();
            assert_eq!(stored, Some(totals::counted(&writer.connection).unwrap()));
            stored.unwrap()
        };
        assert_eq!(totals(&writer).documents, 0);
        writer.begin().unwrap();
        writer.put(&one).unwrap();
        let (id, _) = writer.put(&two).unwrap();
        writer.commit().unwrap();
        let both = totals(&writer);
        assert_eq!((both.documents, both.links, both.diagnostics), (2, 1, 1));
        writer.begin().unwrap();
        writer.put(&other).unwrap();
        writer.roll_back().unwrap();
        assert_eq!(totals(&writer), both);
        writer.begin().unwrap();
        writer.put(&other).unwrap();
        writer.remove(id).unwrap();
        writer.commit().unwrap();
        let left = totals(&writer);
        assert_eq!((left.documents, left.sections, left.diagnostics), (1, 2, 0));
    }

    #[test]
    fn the_stored_folders_are_those_of_the_documents() {
        let folder = tempfile::tempdir().unwrap();
        let mut preparation = Preparation::new().unwrap();
        let mut writer =
            RowWriter::open(&folder.path().join("a.db"), IfAbsent::Create, Duration::ZERO).unwrap();
        writer.set_up("", &IngestOptions::default()).unwrap();
        let mut put = |writer: &mut RowWriter, path: &str, text: &str| {
            writer.put(&rows(&mut preparation, path, text)).unwrap().0
        };
        let folders = |writer: &RowWriter| {
            assert!(folders::are_complete(&writer.connection).unwrap());
            let stored = folders::stored(&writer.connection).unwrap();
            stored.into_iter().map(|(path, count)| format!("{path} {count}")).collect::<Vec<_>>()
        };
        writer.begin().unwrap();
        let paths = ["root.md", "a/b/one.md", "a/b/two.md", "a//double.md", "/c.md", "ä/x.md"];
        let ids = paths.map(|path| put(&mut writer, path, "# One\n"));
        writer.commit().unwrap();
        let all = [" 1", "/ 1", "a// 1", "a/b/ 2", "ä/ 1"];
        assert_eq!(folders(&writer), all);
        writer.begin().unwrap();
        put(&mut writer, "a/b/one.md", "# Other\n");
        put(&mut writer, "d/e.md", "# Other\n");
        writer.roll_back().unwrap();
        assert_eq!(folders(&writer), all);
        writer.begin().unwrap();
        put(&mut writer, "a/b/one.md", "# Other\n");
        writer.remove(ids[0]).unwrap();
        writer.remove(ids[2]).unwrap();
        writer.remove(ids[5]).unwrap();
        let id = put(&mut writer, "short/lived.md", "# Other\n");
        writer.remove(id).unwrap();
        writer.commit().unwrap();
        assert_eq!(folders(&writer), ["/ 1", "a// 1", "a/b/ 1"]);
        // Nobody knows in which folder a document with a damaged path was counted.
        writer
            .connection
            .execute("UPDATE document SET path = 'a/moved.md' WHERE path = 'a/b/one.md'", [])
            .unwrap();
        writer.begin().unwrap();
        put(&mut writer, "a/moved.md", "# Moved\n");
        put(&mut writer, "a/b/one.md", "# Other\n");
        writer.commit().unwrap();
        assert_eq!(folders(&writer), ["/ 1", "a/ 1", "a// 1", "a/b/ 1"]);
    }
}
