//! What both writers of a store on a server have: a connection, and the change that it has not committed.
//!
//! Invariant: rows are sent in a transaction, which begins with the first of them.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::path::PathBuf;

use tokio_postgres::types::Type;

use super::connection::Connection;
use super::pending_change::PendingChange;
use super::question::Question;
use super::rows::{DOCUMENT_COLUMNS, column, damaged, unchecked_document};
use super::store_row::StoreRow;
use crate::error::Result;
use crate::prepare::{PARSER_VERSION, PreparedDocument};
use crate::store::{StoredDocument, WriterMetadata};

/// The number of ids that each number of the sequence stands for.
const IDS: i64 = 100;

/// The ids that this writer took.
#[derive(Debug, Default)]
struct Ids(VecDeque<i64>, i64);

impl Ids {
    /// Returns the next id.
    fn next(&mut self, connection: &mut Connection) -> Result<i64> {
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

/// A connection, and the change that it has not committed.
#[derive(Debug)]
pub(super) struct WriterBase {
    connection: RefCell<Connection>,
    pub(super) store: StoreRow,
    /// The folder of the files on this machine, if it is not the one that the store names.
    own_root: Option<PathBuf>,
    ids: Ids,
    pub(super) change: PendingChange,
    /// Whether a transaction is open.
    has_begun: bool,
    /// Whether a document changed since the last commit.
    pub(super) is_dirty: bool,
}

impl WriterBase {
    pub(super) fn new(connection: Connection, store: StoreRow, own_root: Option<PathBuf>) -> Self {
        Self {
            connection: RefCell::new(connection),
            store,
            own_root,
            ids: Ids::default(),
            change: PendingChange::default(),
            has_begun: false,
            is_dirty: false,
        }
    }

    pub(super) fn connection(&mut self) -> &mut Connection {
        self.connection.get_mut()
    }

    /// Runs a statement that only reads.
    pub(super) fn ask(&self, statement: &str) -> Result<Vec<tokio_postgres::Row>> {
        self.connection.borrow_mut().query(statement, &[])
    }

    pub(super) fn metadata(&self) -> WriterMetadata {
        let StoreRow { root, options, has_lost_options, parser, generation, .. } = &self.store;
        let root = root.as_ref();
        WriterMetadata {
            root: root.map(|root| self.own_root.clone().unwrap_or_else(|| PathBuf::from(root))),
            lacks_root: self.store.lacks_root(),
            options: options.clone(),
            has_lost_options: *has_lost_options,
            has_current_parser: *parser == PARSER_VERSION,
            generation: generation.unsigned_abs(),
        }
    }

    pub(super) fn documents(&self) -> Result<Vec<StoredDocument>> {
        let question =
            Question::of_documents(DOCUMENT_COLUMNS, "document d", self.store.generation);
        let rows = question.run(&mut self.connection.borrow_mut())?;
        rows.iter().map(unchecked_document).collect()
    }

    /// Begins a transaction if none is open, and returns its connection.
    pub(super) fn begin(&mut self) -> Result<&mut Connection> {
        let connection = self.connection.get_mut();
        if !self.has_begun {
            connection.batch("BEGIN")?;
            self.has_begun = true;
        }
        Ok(connection)
    }

    /// Sends what was collected except for the index; see [`PendingChange::send`].
    pub(super) fn send(&mut self, from: i64, ends: bool) -> Result<()> {
        self.begin()?;
        self.change.send(self.connection.get_mut(), from, ends)
    }

    /// Adds a document to the change.
    pub(super) fn put(&mut self, document: PreparedDocument) -> Result<()> {
        let id = self.ids.next(self.connection.get_mut())?;
        self.change.put(id, document, self.store.partitions);
        self.is_dirty = true;
        Ok(())
    }

    /// Commits the transaction if one is open.
    pub(super) fn commit(&mut self) -> Result<()> {
        if std::mem::take(&mut self.has_begun) { self.connection().batch("COMMIT") } else { Ok(()) }
    }

    /// Takes back the transaction if one is open.
    pub(super) fn roll_back(&mut self) -> Result<()> {
        if std::mem::take(&mut self.has_begun) {
            self.connection().batch("ROLLBACK")
        } else {
            Ok(())
        }
    }
}
