//! [`Writer`] over a connection that holds the lock of the store.
//!
//! Rows are copied to the server in a transaction, with the number of the next generation. The last statement
//! of the transaction makes that generation the newest. Invariants: nobody reads a row before that. What a
//! change replaced is deleted by the change after it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio_postgres::types::Type;

use super::address::Address;
use super::connection::Connection;
use super::lock::{STORE, lock};
use super::owner::{is_here, is_owned, owner_of};
use super::removal::sweep;
use super::rows::{column, damaged};
use super::sharded_ingest::{INCOMPLETE, forget_collections};
use super::store_row::{SET_ROOT, StoreRow, set_parser};
use super::unfinished::finish_or_undo;
use super::writer_base::WriterBase;
use super::{merge, schema};
use crate::corpus::{FileState, IngestOptions};
use crate::error::{Result, Warning};
use crate::prepare::{MIXED_PARSERS, PARSER_VERSION, PreparedDocument};
use crate::store::{EditIntent, IfAbsent, StoredDocument, Writer, WriterMetadata};

/// The number of new documents after which the server counts its rows again, so that its plans fit.
const MANY: usize = 500;

/// The right to change a store.
#[derive(Debug)]
pub(super) struct PostgresWriter {
    base: WriterBase,
    /// The number of new documents.
    added: usize,
    /// The generation whose index the last commit replaces, if it does.
    replaced: Option<i64>,
}

impl PostgresWriter {
    /// Connects, waits up to `wait` for another writer, and creates the store if it does not exist and `if_absent` says
    /// so.
    pub(super) fn open(
        address: &Arc<Address>,
        own_root: Option<PathBuf>,
        if_absent: IfAbsent,
        wait: Duration,
    ) -> Result<Self> {
        let mut connection = Connection::open(address, Duration::ZERO)?;
        lock(&mut connection, STORE, wait)?;
        schema::ensure(&mut connection, if_absent)?;
        let store = StoreRow::read(&mut connection)?;
        schema::upgrade(&mut connection, store.format)?;
        let (store, _) = finish_or_undo(&mut connection, store)?;
        Ok(Self { base: WriterBase::new(connection, store, own_root), added: 0, replaced: None })
    }

    fn next_generation(&self) -> i64 {
        self.base.store.generation.saturating_add(1)
    }

    /// Sends what was collected.
    fn send(&mut self) -> Result<()> {
        let next = self.next_generation();
        self.base.send(next, true)
    }

    /// See [`Writer::commit`] and [`Writer::commit_last`].
    fn commit_change(&mut self, is_last: bool) -> Result<()> {
        if !self.base.change.is_sent() {
            self.send()?;
        }
        if self.base.is_dirty {
            let (now, next) = (self.base.store.generation, self.next_generation());
            let segments = std::mem::take(&mut self.base.change.segments);
            if self.added > 0 && self.base.store.parser != PARSER_VERSION {
                self.base.store.parser = MIXED_PARSERS;
                set_parser(self.base.begin()?, MIXED_PARSERS)?;
            }
            let connection = self.base.begin()?;
            sweep(connection, now)?;
            merge::add(connection, segments, next)?;
            match self.replaced {
                // The old segments may be damaged, and the documents that follow are still in them.
                Some(_) if !is_last => {}
                Some(before) => {
                    merge::end_replaced(connection, before, next)?;
                    merge::tidy(connection, next)?;
                }
                None => merge::tidy(connection, next)?,
            }
            let statement = "UPDATE store SET generation = $1";
            connection.execute(statement, &[(&next, Type::INT8)])?;
        }
        self.base.commit()?;
        if std::mem::take(&mut self.base.is_dirty) {
            self.base.store.generation = self.next_generation();
        }
        Ok(())
    }
}

/// Lets the server count the rows of its own partitions. Other servers count theirs themselves.
fn analyze(connection: &mut Connection) -> Result<()> {
    if !connection.has_foreign_partitions()? {
        // The statistics of all partitions together, too.
        let tables = "document, derived, title, key, content, segment, posting, trigram";
        return connection.batch(&format!("ANALYZE {tables}"));
    }
    let statement = "SELECT c.oid::regclass FROM pg_class c JOIN pg_inherits i ON i.inhrelid = c.oid \
         WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'";
    let tables = connection.texts(statement)?;
    let tables: Vec<String> = tables.into_iter().flatten().flatten().collect();
    connection.batch(&format!("ANALYZE {}", tables.join(", ")))
}

impl Writer for PostgresWriter {
    fn metadata(&self) -> Result<WriterMetadata> {
        Ok(self.base.metadata())
    }

    fn documents(&self) -> Result<Vec<StoredDocument>> {
        self.base.documents()
    }

    fn set_up(&mut self, root: &str, options: &IngestOptions) -> Result<()> {
        let json = serde_json::to_string(options).unwrap_or_default();
        let statement = format!("UPDATE store SET {SET_ROOT}, options = $2");
        let before = self.base.store.clone();
        let connection = self.base.begin()?;
        connection.execute(&statement, &[(&root, Type::TEXT), (&json, Type::TEXT)])?;
        forget_collections(connection, &before, Some(options), INCOMPLETE..i64::MAX)?;
        let store = &mut self.base.store;
        store.set_root(root);
        store.options = Some(options.clone());
        store.has_lost_options = false;
        self.commit()
    }

    fn set_current_parser(&mut self, is_current: bool) -> Result<()> {
        let version = if is_current { PARSER_VERSION } else { MIXED_PARSERS };
        self.base.store.parser = version;
        set_parser(self.base.connection(), version)?;
        self.commit()
    }

    fn put(&mut self, documents: Vec<PreparedDocument>) -> Result<()> {
        for document in documents {
            if self.base.change.has_path(&document.rows.path) {
                self.send()?;
            }
            self.base.put(document)?;
            self.added += 1;
            if self.base.change.is_large() {
                self.send()?;
            }
        }
        Ok(())
    }

    fn remove(&mut self, ids: &[i64]) -> Result<()> {
        self.base.change.removed.extend_from_slice(ids);
        self.base.is_dirty = true;
        Ok(())
    }

    fn set_states(&mut self, states: &[(i64, FileState)]) -> Result<()> {
        self.base.change.states.extend_from_slice(states);
        Ok(())
    }

    fn note_intents(&mut self, intents: &[EditIntent]) -> Result<Vec<i64>> {
        let statement = "INSERT INTO edit_intent (path, temporary, old_hash, new_hash, owner) \
             VALUES ($1, $2, $3, $4, $5) RETURNING id";
        let owner = self.root()?.and_then(|root| owner_of(&root));
        let connection = self.base.begin()?;
        let mut ids = Vec::with_capacity(intents.len());
        for EditIntent { path, temporary, old_hash, new_hash } in intents {
            let old_hash = old_hash.as_ref().map_or(&[][..], |hash| hash.as_slice());
            let new_hash = new_hash.as_ref().map_or(&[][..], |hash| hash.as_slice());
            let rows = connection.query(
                statement,
                &[
                    (path, Type::TEXT),
                    (temporary, Type::TEXT),
                    (&old_hash, Type::BYTEA),
                    (&new_hash, Type::BYTEA),
                    (&owner, Type::TEXT),
                ],
            )?;
            let id = rows.first().map(|row| column(row, 0)).transpose()?;
            ids.push(id.ok_or_else(|| damaged("it stores no edits"))?);
        }
        self.commit()?;
        Ok(ids)
    }

    fn forget_intent(&mut self, id: i64) -> Result<()> {
        let statement = "DELETE FROM edit_intent WHERE id = $1";
        self.base.begin()?.execute(statement, &[(&id, Type::INT8)])?;
        Ok(())
    }

    fn intents(&self) -> Result<Vec<(i64, EditIntent)>> {
        let statement =
            "SELECT id, path, temporary, old_hash, new_hash, owner FROM edit_intent ORDER BY id";
        let rows = self.base.ask(statement)?;
        let root = self.root()?.unwrap_or_default();
        let intent = |row: &tokio_postgres::Row| -> Result<(i64, EditIntent)> {
            let hash = |index| -> Result<Option<[u8; 32]>> {
                let hash: &[u8] = column(row, index)?;
                if hash.is_empty() {
                    Ok(None)
                } else {
                    hash.try_into().map(Some).map_err(|_| damaged("an edit"))
                }
            };
            let (path, temporary) = (column(row, 1)?, column(row, 2)?);
            let intent = EditIntent { path, temporary, old_hash: hash(3)?, new_hash: hash(4)? };
            Ok((column(row, 0)?, intent))
        };
        let mut intents = Vec::new();
        for row in &rows {
            let owner: Option<&str> = column(row, 5)?;
            if is_owned(owner, &root) {
                intents.push(intent(row)?);
            }
        }
        Ok(intents)
    }

    fn drop_intents(&mut self) -> Result<Vec<String>> {
        let statement = "SELECT id, path, owner FROM edit_intent ORDER BY id";
        let rows = self.base.ask(statement)?;
        let mut paths = Vec::new();
        for row in &rows {
            let owner: Option<&str> = column(row, 2)?;
            if !owner.is_some_and(is_here) {
                self.forget_intent(column(row, 0)?)?;
                paths.push(column(row, 1)?);
            }
        }
        self.commit()?;
        Ok(paths)
    }

    fn replace_index(&mut self) {
        self.replaced = Some(self.base.store.generation);
    }

    fn commit(&mut self) -> Result<()> {
        self.commit_change(false)
    }

    fn commit_last(&mut self) -> Result<()> {
        // Earlier commits may have stored all documents.
        self.base.is_dirty |= self.replaced.is_some() && self.added > 0;
        self.commit_change(true)
    }

    fn close(mut self: Box<Self>) -> Result<Vec<Warning>> {
        self.base.roll_back()?;
        if self.added >= MANY {
            analyze(self.base.connection())?;
        }
        Ok(Vec::new())
    }
}
