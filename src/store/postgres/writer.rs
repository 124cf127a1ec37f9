//! [`Writer`] over a connection that holds the lock of the store.
//!
//! Rows are copied to the server in a transaction, with the number of the next generation. The last statement
//! of the transaction makes that generation the newest. Invariants: nobody reads a row before that. What a
//! change replaced is deleted by the change after it.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use postgres::types::Type;

use super::address::Address;
use super::change::Change;
use super::connection::Connection;
use super::lock::{STORE, lock};
use super::owner::{is_here, is_owned, owner_of};
use super::removal::sweep;
use super::rows::{DOCUMENT_COLUMNS, column, damaged, unchecked_document};
use super::sharded_ingest::{INCOMPLETE, forget_collections};
use super::store_row::{StoreRow, set_parser};
use super::unfinished::finish_or_undo;
use super::{merge, question::Question, schema};
use crate::corpus::{FileState, IngestOptions};
use crate::error::{Result, Warning};
use crate::prepare::{MIXED_PARSERS, PARSER_VERSION, PreparedDocument};
use crate::store::{EditIntent, StoredDocument, Writer, WriterMetadata};

/// The number of ids that each number of the sequence stands for.
const IDS: i64 = 100;

/// The number of new documents after which the server counts its rows again, so that its plans fit.
const MANY: usize = 500;

/// The ids that this writer took.
#[derive(Debug, Default)]
pub(super) struct Ids(VecDeque<i64>, i64);

impl Ids {
    /// Returns the next id.
    pub(super) fn next(&mut self, connection: &mut Connection) -> Result<i64> {
        if self.0.is_empty() {
            // The first document is often the only one.
            let blocks = if self.1 == 0 { 1 } else { 50 };
            self.1 += blocks;
            let statement = "SELECT nextval('document_id') FROM generate_series(1, $1)";
            for row in &connection.query(statement, &[(&blocks, Type::INT8)])? {
                let first: i64 = column(row, 0)?;
                self.0.extend(first..first + IDS);
            }
        }
        self.0.pop_front().ok_or_else(|| damaged("it gives no ids"))
    }
}

/// The right to change a store.
#[derive(Debug)]
pub(super) struct PostgresWriter {
    connection: RefCell<Connection>,
    known: StoreRow,
    /// The folder of the files on this machine, if it is not the one that the store names.
    own_root: Option<PathBuf>,
    ids: Ids,
    change: Change,
    /// Whether a transaction is open.
    has_begun: bool,
    /// Whether a document changed since the last commit.
    is_dirty: bool,
    /// The number of new documents.
    added: usize,
}

impl PostgresWriter {
    /// Connects, waits up to `wait` for another writer, and creates the store if it does not exist.
    pub(super) fn open(
        address: &Arc<Address>,
        own_root: Option<PathBuf>,
        wait: Duration,
    ) -> Result<Self> {
        let mut connection = Connection::open(address, Duration::ZERO)?;
        lock(&mut connection, STORE, wait)?;
        schema::create(&mut connection)?;
        let known = StoreRow::read(&mut connection)?;
        schema::upgrade(&mut connection, known.format)?;
        let (known, _) = finish_or_undo(&mut connection, known)?;
        Ok(Self {
            connection: RefCell::new(connection),
            known,
            own_root,
            ids: Ids::default(),
            change: Change::default(),
            has_begun: false,
            is_dirty: false,
            added: 0,
        })
    }

    fn begin(&mut self) -> Result<()> {
        if !self.has_begun {
            self.connection.get_mut().batch("BEGIN")?;
            self.has_begun = true;
        }
        Ok(())
    }

    fn next_generation(&self) -> i64 {
        self.known.generation.saturating_add(1)
    }

    /// Sends what was collected.
    fn send(&mut self) -> Result<()> {
        self.begin()?;
        let next = self.next_generation();
        self.change.send(self.connection.get_mut(), next, true)
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
        let root = self.known.root.as_ref();
        Ok(WriterMetadata {
            root: root.map(|root| self.own_root.clone().unwrap_or_else(|| PathBuf::from(root))),
            options: self.known.options.clone(),
            has_lost_options: self.known.has_lost_options,
            has_current_parser: self.known.parser == PARSER_VERSION,
            generation: self.known.generation.unsigned_abs(),
        })
    }

    fn documents(&self) -> Result<Vec<StoredDocument>> {
        let question =
            Question::of_documents(DOCUMENT_COLUMNS, "document d", self.known.generation);
        let rows = question.run(&mut self.connection.borrow_mut())?;
        rows.iter().map(unchecked_document).collect()
    }

    fn set_up(&mut self, root: &str, options: &IngestOptions) -> Result<()> {
        let json = serde_json::to_string(options).unwrap_or_default();
        let statement = "UPDATE store SET root = coalesce(root, $1), options = $2";
        let values: [(&(dyn postgres::types::ToSql + Sync), Type); 2] =
            [(&root, Type::TEXT), (&json, Type::TEXT)];
        self.begin()?;
        let connection = self.connection.get_mut();
        connection.execute(statement, &values)?;
        forget_collections(connection, &self.known, Some(options), INCOMPLETE..i64::MAX)?;
        self.known.root.get_or_insert_with(|| root.to_owned());
        self.known.options = Some(options.clone());
        self.known.has_lost_options = false;
        self.commit()
    }

    fn set_current_parser(&mut self, is_current: bool) -> Result<()> {
        self.known.parser = if is_current { PARSER_VERSION } else { MIXED_PARSERS };
        set_parser(self.connection.get_mut(), self.known.parser)?;
        self.commit()
    }

    fn put(&mut self, documents: Vec<PreparedDocument>) -> Result<()> {
        for document in documents {
            if self.change.has_path(&document.rows.path) {
                self.send()?;
            }
            let id = self.ids.next(self.connection.get_mut())?;
            self.change.put(id, document, self.known.partitions);
            self.is_dirty = true;
            self.added += 1;
            if self.change.is_large() {
                self.send()?;
            }
        }
        Ok(())
    }

    fn remove(&mut self, ids: &[i64]) -> Result<()> {
        self.change.removed.extend_from_slice(ids);
        self.is_dirty = true;
        Ok(())
    }

    fn set_states(&mut self, states: &[(i64, FileState)]) -> Result<()> {
        self.change.states.extend_from_slice(states);
        Ok(())
    }

    fn note_intents(&mut self, intents: &[EditIntent]) -> Result<Vec<i64>> {
        let statement = "INSERT INTO edit_intent (path, temporary, old_hash, new_hash, owner) \
             VALUES ($1, $2, $3, $4, $5) RETURNING id";
        let owner = self.root()?.and_then(|root| owner_of(&root));
        self.begin()?;
        let mut ids = Vec::with_capacity(intents.len());
        for EditIntent { path, temporary, old_hash, new_hash } in intents {
            let old_hash = old_hash.as_ref().map_or(&[][..], |hash| hash.as_slice());
            let new_hash = new_hash.as_ref().map_or(&[][..], |hash| hash.as_slice());
            let rows = self.connection.get_mut().query(
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
        self.begin()?;
        let statement = "DELETE FROM edit_intent WHERE id = $1";
        self.connection.get_mut().execute(statement, &[(&id, Type::INT8)])?;
        Ok(())
    }

    fn intents(&self) -> Result<Vec<(i64, EditIntent)>> {
        let statement =
            "SELECT id, path, temporary, old_hash, new_hash, owner FROM edit_intent ORDER BY id";
        let rows = self.connection.borrow_mut().query(statement, &[])?;
        let root = self.root()?.unwrap_or_default();
        let intent = |row: &postgres::Row| -> Result<(i64, EditIntent)> {
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
        let rows = self.connection.get_mut().query(statement, &[])?;
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

    fn commit(&mut self) -> Result<()> {
        if !self.change.is_sent() {
            self.send()?;
        }
        if self.is_dirty {
            self.begin()?;
            if self.added > 0 && self.known.parser != PARSER_VERSION {
                self.known.parser = MIXED_PARSERS;
                set_parser(self.connection.get_mut(), MIXED_PARSERS)?;
            }
            let (next, connection) = (self.next_generation(), self.connection.get_mut());
            sweep(connection, self.known.generation)?;
            merge::add(connection, std::mem::take(&mut self.change.segments), next)?;
            merge::tidy(connection, next)?;
            let statement = "UPDATE store SET generation = $1";
            connection.execute(statement, &[(&next, Type::INT8)])?;
        }
        if std::mem::take(&mut self.has_begun) {
            self.connection.get_mut().batch("COMMIT")?;
        }
        if std::mem::take(&mut self.is_dirty) {
            self.known.generation = self.next_generation();
        }
        Ok(())
    }

    fn close(mut self: Box<Self>) -> Result<Vec<Warning>> {
        let connection = self.connection.get_mut();
        if self.has_begun {
            connection.batch("ROLLBACK")?;
        }
        if self.added >= MANY {
            analyze(connection)?;
        }
        Ok(Vec::new())
    }
}
