//! Writing and deleting the rows of documents.
//!
//! Invariants: a document that was written and deleted leaves no row. Rows that are found by the hash of
//! a name are written at the end of a transaction, sorted.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::data::DATA_TABLES;
use super::totals::TotalsChange;
use super::{content, sql};
use crate::codec::{data, row};
use crate::data::Contents;
use crate::links::Outgoing;
use crate::prepare::PreparedDocument;
use crate::prepare::rows::DerivedRows;
use crate::prepare::values::{self, ValueRow};

/// What a transaction writes at its end: the keys of documents and the values of their front matter, each with
/// the id of its document, and the totals. Ids ascend.
///
/// Keys are hashes, so writing them in any other order than the one in which they are stored would
/// read a page from disk for almost every one.
#[derive(Debug, Default)]
pub(super) struct PendingRows {
    links: Vec<(i64, i64)>,
    names: Vec<(i64, i64)>,
    data: Vec<(i64, i64)>,
    values: Vec<(ValueRow, i64)>,
    totals: TotalsChange,
}

impl PendingRows {
    /// Adds the document with this id.
    fn add(&mut self, document: &PreparedDocument, id: i64) {
        self.totals.add(document);
        self.links.extend(document.keys.links.iter().map(|key| (*key, id)));
        self.names.extend(document.keys.names.iter().map(|key| (*key, id)));
        self.data.extend(document.keys.data.iter().map(|key| (*key, id)));
        self.values.extend(document.values.iter().map(|value| (value.clone(), id)));
    }

    /// Whether the document with this id may have keys or values here. Ids increase, so it has none if
    /// its id is below the first one.
    fn may_have(&self, id: i64) -> bool {
        let from = |keys: &[(i64, i64)]| keys.first().is_some_and(|(_, first)| id >= *first);
        let has_value = self.values.first().is_some_and(|(_, first)| id >= *first);
        from(&self.links) || from(&self.names) || from(&self.data) || has_value
    }

    /// Writes all of them.
    pub(super) fn write(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        self.totals.write(connection)?;
        self.write_keys(connection)
    }

    /// Writes all keys and values in the order in which they are stored.
    fn write_keys(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let pending = [
            ("link_key", &mut self.links),
            ("name_key", &mut self.names),
            ("data_key", &mut self.data),
        ];
        for (table, keys) in pending {
            keys.sort_unstable();
            let mut insert = connection.prepare_cached(&format!(
                "INSERT OR IGNORE INTO {table} (key, document_id) VALUES (?1, ?2)"
            ))?;
            for (key, id) in keys.drain(..) {
                insert.execute([key, id])?;
            }
        }
        self.values.sort_unstable();
        let mut insert = connection.prepare_cached(
            "INSERT OR IGNORE INTO front_matter_value (key, document_id, name, type, value) \
             VALUES (?1, ?2, ?3, ?4, ?5)",
        )?;
        for (ValueRow { key, name, type_name, value }, id) in self.values.drain(..) {
            insert.execute(params![key, id, name, type_name, value])?;
        }
        Ok(())
    }
}

/// Writes a document and replaces the one with the same path, if any. Returns its id, and the id of
/// the replaced document.
pub(super) fn put(
    connection: &Connection,
    pending: &mut PendingRows,
    document: &PreparedDocument,
) -> rusqlite::Result<(i64, Option<i64>)> {
    let before = connection
        .prepare_cached("SELECT id FROM document WHERE path = ?1")?
        .query_row([&document.rows.path], |row| row.get(0))
        .optional()?;
    if let Some(before) = before {
        remove(connection, pending, before)?;
    }
    let id = insert(connection, document)?;
    content::write(connection, id, &document.chunks)?;
    insert_derived(connection, id, &document.rows)?;
    pending.add(document, id);
    Ok((id, before))
}

/// Inserts the row of a document itself. Returns its id.
fn insert(connection: &Connection, document: &PreparedDocument) -> rusqlite::Result<i64> {
    let PreparedDocument { state, rows: derived, .. } = document;
    let generation: i64 = connection
        .prepare_cached("SELECT value FROM meta WHERE key = 'generation'")?
        .query_row([], |row| row.get(0))?;
    let [lines, words, sections, blocks, link_count] = derived.counts;
    connection
        .prepare_cached(
            "INSERT INTO document (path, name_key, hash, size, mtime_ns, ctime_ns, lines, words, \
             sections, blocks, links, lossy, ldmd, generation, seal) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
        )?
        .execute(params![
            derived.path,
            derived.name_key,
            derived.hash,
            i64::try_from(state.size).unwrap_or(i64::MAX),
            state.mtime_ns,
            state.ctime_ns,
            lines,
            words,
            sections,
            blocks,
            link_count,
            derived.is_lossy,
            derived.has_markup,
            generation + 1,
            document.checksums.bytes(),
        ])?;
    Ok(connection.last_insert_rowid())
}

/// Inserts the rows that were derived from the bytes of the document with this id.
fn insert_derived(connection: &Connection, id: i64, derived: &DerivedRows) -> rusqlite::Result<()> {
    let prepare = |statement: &str| connection.prepare_cached(statement);
    let packed =
        [("outline", &derived.outline), ("ldmd", &derived.markup), ("link", &derived.links)];
    for (table, packed) in packed.into_iter().chain(DATA_TABLES.into_iter().zip(&derived.data)) {
        if let Some(packed) = packed {
            prepare(&format!("INSERT INTO {table} (document_id, stored) VALUES (?1, ?2)"))?
                .execute(params![id, row::stored(packed)])?;
        }
    }
    for section in &derived.markup_ids {
        prepare("INSERT INTO ldmd_section (id, document_id) VALUES (?1, ?2)")?
            .execute(params![section, id])?;
    }
    if let Some(front_matter) = &derived.front_matter {
        prepare("INSERT INTO front_matter (document_id, value) VALUES (?1, ?2)")?
            .execute(params![id, front_matter])?;
    }
    for tag in &derived.tags {
        prepare("INSERT INTO tag (tag, document_id) VALUES (?1, ?2)")?.execute(params![tag, id])?;
    }
    if let Some(title_keys) = &derived.title_keys {
        prepare("INSERT INTO title (document_id, keys) VALUES (?1, ?2)")?
            .execute(params![id, title_keys])?;
    }
    for (ordinal, diagnostic) in derived.diagnostics.iter().enumerate() {
        prepare(
            "INSERT INTO diagnostic (document_id, ordinal, code, line, message) \
             VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![
            id,
            sql(ordinal),
            diagnostic.code,
            diagnostic.line,
            diagnostic.message
        ])?;
    }
    Ok(())
}

/// Deletes a document.
pub(super) fn remove(
    connection: &Connection,
    pending: &mut PendingRows,
    id: i64,
) -> rusqlite::Result<()> {
    if pending.may_have(id) {
        pending.write_keys(connection)?;
    }
    pending.totals.remove(connection, id)?;
    content::remove(connection, id)?;
    remove_keys(connection, id)?;
    remove_data_keys(connection, id)?;
    connection.prepare_cached("DELETE FROM document WHERE id = ?1")?.execute([id]).map(|_| ())
}

/// Deletes the keys of the links and names of a document.
fn remove_keys(connection: &Connection, id: i64) -> rusqlite::Result<()> {
    let prepare = |statement| connection.prepare_cached(statement);
    let row: Option<(String, Vec<u8>)> =
        prepare("SELECT path, stored FROM link JOIN document ON id = document_id WHERE id = ?1")?
            .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
    let Some((path, stored)) = row else { return Ok(()) };
    let outgoing: Outgoing = postcard::from_bytes(&row::packed(stored)).unwrap_or_default();
    for key in outgoing.link_keys(&path) {
        prepare("DELETE FROM link_key WHERE key = ?1 AND document_id = ?2")?.execute([key, id])?;
    }
    for key in outgoing.name_keys() {
        prepare("DELETE FROM name_key WHERE key = ?1 AND document_id = ?2")?.execute([key, id])?;
    }
    Ok(())
}

/// Deletes the keys of the data of a document and the values of its front matter.
fn remove_data_keys(connection: &Connection, id: i64) -> rusqlite::Result<()> {
    let prepare = |statement: &str| connection.prepare_cached(statement);
    let mut packed: [Option<Vec<u8>>; 3] = Default::default();
    for (table, packed) in DATA_TABLES.into_iter().zip(&mut packed) {
        *packed = prepare(&format!("SELECT stored FROM {table} WHERE document_id = ?1"))?
            .query_row([id], |row| row.get(0))
            .optional()?
            .map(row::packed);
    }
    let [code, tables, tasks] = packed;
    let contents = Contents {
        code: data::decode(code.as_deref(), usize::MAX).unwrap_or_default(),
        tables: data::decode(tables.as_deref(), usize::MAX).unwrap_or_default(),
        tasks: data::decode(tasks.as_deref(), usize::MAX).unwrap_or_default(),
    };
    for key in contents.keys() {
        prepare("DELETE FROM data_key WHERE key = ?1 AND document_id = ?2")?.execute([key, id])?;
    }
    let front_matter: Option<String> =
        prepare("SELECT value FROM front_matter WHERE document_id = ?1")?
            .query_row([id], |row| row.get(0))
            .optional()?;
    for value in values::of(front_matter.as_deref()) {
        prepare("DELETE FROM front_matter_value WHERE key = ?1 AND document_id = ?2")?
            .execute(params![value.key, id])?;
    }
    Ok(())
}
