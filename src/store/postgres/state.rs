//! One generation of a store on a server.
//!
//! Invariant: everything that is read of it is of that generation.

use std::collections::{HashMap, HashSet};
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::connection::{Connection, HAS_FOREIGN};
use super::owner::{folder_of, is_owned};
use super::question::Question;
use super::rows::{column, damaged, damaged_part, length, partition_of};
use super::schema;
use super::store_row::StoreRow;
use crate::codec::data::{self, Packable};
use crate::error::{ErrorKind, Result};
use crate::prepare::PARSER_VERSION;
use crate::prepare::checksums::{self, DocumentPart};
use crate::store::{Facts, StoredDocument};

/// Begins a transaction.
const BEGIN: &str = "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// Selects the edits in progress as a JSON list, each with its path and its owner. An older version of the tables has no
/// column for owners.
const EDITS: &str =
    "(SELECT json_agg(json_build_array(e.path, to_jsonb(e) ->> 'owner')) FROM edit_intent e)";

/// Begins a transaction on each server that holds a partition.
const BEGIN_EVERYWHERE: &str = "SELECT count(*) FROM segment s WHERE s.id < 0";

/// One generation, and the connection that reads it.
#[derive(Debug)]
pub(super) struct State {
    connection: Mutex<Connection>,
    pub(super) facts: Facts,
    pub(super) generation: i64,
    /// The number of partitions.
    pub(super) partitions: i64,
    /// The paths and owners of the edits in progress; `None` for one that an older version of mdsel noted.
    editing: Vec<(String, Option<String>)>,
}

/// The connection while a statement runs.
pub(super) struct Held<'a>(MutexGuard<'a, Connection>);

impl Deref for Held<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.0
    }
}

impl DerefMut for Held<'_> {
    fn deref_mut(&mut self) -> &mut Connection {
        &mut self.0
    }
}

impl State {
    /// Pins the newest generation.
    pub(super) fn open(mut connection: Connection) -> Result<Self> {
        let columns = StoreRow::COLUMNS;
        let statements = format!("{BEGIN}; SELECT {columns}, {EDITS}, {HAS_FOREIGN} FROM store");
        let rows = match connection.texts(&statements) {
            Ok(rows) => rows,
            Err(error) if error.kind() == ErrorKind::StoreCorrupt => {
                return Err(schema::obstacle(&mut connection).unwrap_or(error));
            }
            Err(error) => return Err(error),
        };
        let row = rows.into_iter().next().unwrap_or_default();
        let (store, others) = StoreRow::parse(&row, connection.address())?;
        let [editing, has_foreign] = others else { return Err(damaged("its metadata is missing")) };
        connection.set_has_foreign_partitions(has_foreign.as_deref() == Some("t"));
        let Some(root) = store.root else { return Err(schema::absent(connection.address())) };
        let editing = editing.as_ref().map(|edits| serde_json::from_str(edits)).transpose();
        let facts = Facts {
            path: None,
            own_files: Vec::new(),
            root: PathBuf::from(root),
            options: store.options.unwrap_or_default(),
            has_lost_options: store.has_lost_options,
            generation: store.generation.unsigned_abs(),
            has_current_parser: store.parser == PARSER_VERSION,
            is_interrupted: false,
            edited_elsewhere: Vec::new(),
        };
        Ok(Self {
            editing: editing.map_err(|_| damaged("its list of edits"))?.unwrap_or_default(),
            generation: store.generation,
            partitions: store.partitions,
            connection: Mutex::new(connection),
            facts,
        })
    }

    /// Sets the folder of the files on this machine, if it is not the one that the store names. Ignores edits in
    /// progress in other folders.
    pub(super) fn set_root(&mut self, root: Option<&Path>) {
        if let Some(root) = root {
            root.clone_into(&mut self.facts.root);
        }
        let facts = &mut self.facts;
        for (path, owner) in &self.editing {
            match owner.as_deref().filter(|owner| !is_owned(Some(owner), &facts.root)) {
                Some(owner) => {
                    facts.edited_elsewhere.push((path.clone(), folder_of(owner).to_owned()));
                }
                None => facts.is_interrupted = true,
            }
        }
    }

    /// Returns the connection for one statement.
    pub(super) fn connection(&self) -> Held<'_> {
        Held(self.connection.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns whether partitions are on other servers.
    pub(super) fn has_foreign_partitions(&self) -> Result<bool> {
        self.connection().has_foreign_partitions()
    }

    /// Begins a transaction on every server that holds a partition.
    pub(super) fn begin_everywhere(&self) -> Result<()> {
        self.connection().batch(BEGIN_EVERYWHERE)
    }

    /// Ends the transaction. Returns the connection if it can be used again.
    pub(super) fn close(self) -> Option<Connection> {
        let mut connection = self.connection.into_inner().unwrap_or_else(PoisonError::into_inner);
        let is_usable = connection.is_usable() && connection.batch("ROLLBACK").is_ok();
        is_usable.then_some(connection)
    }

    /// Returns the distinct partitions of documents.
    pub(super) fn partitions_of<'a>(
        &self,
        documents: impl Iterator<Item = &'a StoredDocument>,
    ) -> Vec<i16> {
        let partitions: HashSet<i16> =
            documents.map(|document| partition_of(&document.path, self.partitions)).collect();
        partitions.into_iter().collect()
    }

    /// Calls `part` with each document and its row of `columns` of the table `derived`.
    pub(super) fn each<T>(
        &self,
        documents: &[StoredDocument],
        columns: &str,
        part: impl Fn(&StoredDocument, &Row) -> Result<T>,
    ) -> Result<Vec<T>> {
        if documents.is_empty() {
            return Ok(Vec::new());
        }
        let text = format!("SELECT v.document, {columns} FROM derived v WHERE ");
        let mut question = Question::new(text);
        question.with("v.part = ANY(", self.partitions_of(documents.iter()), Type::INT2_ARRAY, ")");
        let ids: Vec<i64> = documents.iter().map(|document| document.id).collect();
        question.with(" AND v.document = ANY(", ids, Type::INT8_ARRAY, ")");
        self.each_row(documents, &question, part)
    }

    /// Calls `part` with each document and the row of it that `question` asks for. The id of the document is the first
    /// column.
    pub(super) fn each_row<T>(
        &self,
        documents: &[StoredDocument],
        question: &Question,
        part: impl Fn(&StoredDocument, &Row) -> Result<T>,
    ) -> Result<Vec<T>> {
        let rows = question.run(&mut self.connection())?;
        let mut by_id: HashMap<i64, &Row> = HashMap::with_capacity(rows.len());
        for row in &rows {
            by_id.insert(column(row, 0)?, row);
        }
        let of = |document: &StoredDocument| {
            let row = by_id.get(&document.id);
            part(document, row.ok_or_else(|| damaged_part(document, "rows"))?)
        };
        documents.iter().map(of).collect()
    }

    /// Returns a packed column of documents, decoded.
    pub(super) fn unpacked<T>(
        &self,
        documents: &[StoredDocument],
        name: &str,
        part: DocumentPart,
        decode: impl Fn(&StoredDocument, Option<&[u8]>) -> Option<T>,
    ) -> Result<Vec<T>> {
        self.each(documents, name, |document, row| {
            let packed: Option<&[u8]> = column(row, 1)?;
            let is_whole = document.checksums.is(part, || checksums::optional(packed));
            let decoded = is_whole.then(|| decode(document, packed)).flatten();
            decoded.ok_or_else(|| damaged_part(document, "rows"))
        })
    }

    /// Returns data of one kind of documents.
    pub(super) fn data<T: Packable>(
        &self,
        documents: &[StoredDocument],
        name: &str,
        part: DocumentPart,
    ) -> Result<Vec<Vec<T>>> {
        self.unpacked(documents, name, part, |document, packed| {
            data::decode(packed, length(document).ok()?)
        })
    }

    /// Returns the chunks at `places`, of documents in `partitions`.
    pub(super) fn chunks(
        &self,
        partitions: Vec<i16>,
        places: Vec<i64>,
    ) -> Result<HashMap<i64, Vec<u8>>> {
        if places.is_empty() {
            return Ok(HashMap::new());
        }
        let mut question = Question::new("SELECT c.place, c.bytes FROM content c WHERE ");
        question.with("c.part = ANY(", partitions, Type::INT2_ARRAY, ")");
        question.with(" AND c.place = ANY(", places, Type::INT8_ARRAY, ")");
        let rows = question.run(&mut self.connection())?;
        rows.iter().map(|row| Ok((column(row, 0)?, column(row, 1)?))).collect()
    }
}
