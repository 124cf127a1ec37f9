//! Writing and deleting the rows of documents.
//!
//! Invariants: a document that was written and deleted leaves no row. Rows that are found by the hash of
//! a name are written at the end of a transaction, sorted.

use rusqlite::{Connection, OptionalExtension as _, ToSql, params};

use super::data::DATA_TABLES;
use super::document_row::{SELECT_DOCUMENTS, stored_document};
use super::folders::FolderChange;
use super::totals::TotalsChange;
use super::{content, sql};
use crate::codec::data::{self, Packable};
use crate::codec::row;
use crate::data::Contents;
use crate::links::Outgoing;
use crate::prepare::PreparedDocument;
use crate::prepare::checksums::{self, Checksums, DocumentPart};
use crate::prepare::rows::DerivedRows;
use crate::prepare::values::{self, ValueRow};

/// What a transaction writes at its end: the keys of documents and the values of their front matter, each with
/// the id of its document, the totals and the folders. Ids ascend.
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
    folders: FolderChange,
}

impl PendingRows {
    /// Adds the document with this id.
    fn add(&mut self, document: &PreparedDocument, id: i64) {
        self.totals.add(document);
        self.folders.add(&document.rows.path);
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
        self.folders.write(connection)?;
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
    let stored = StoredParts::of(connection, id)?;
    pending.folders.remove(stored.path.as_deref());
    remove_keys(connection, id, &stored)?;
    remove_data_keys(connection, id, &stored)?;
    connection.prepare_cached("DELETE FROM document WHERE id = ?1")?.execute([id]).map(|_| ())
}

/// The stored parts of a document from which its keys are derived.
struct StoredParts<'a> {
    connection: &'a Connection,
    id: i64,
    /// The path; `None` if the row is damaged, whose path may be another one than that under which it was written.
    path: Option<String>,
    checksums: Checksums,
}

impl<'a> StoredParts<'a> {
    fn of(connection: &'a Connection, id: i64) -> rusqlite::Result<Self> {
        let row = connection
            .prepare_cached(&format!("{SELECT_DOCUMENTS} WHERE id = ?1"))?
            .query_row([id], |row| {
                let seal = row.get_ref("seal")?.as_blob_or_null().unwrap_or_default();
                let path = stored_document(row).ok().map(|stored| stored.path);
                Ok((path, Checksums::stored(seal)))
            })
            .optional()?;
        let (path, checksums) = row.unwrap_or((None, Checksums::stored(None)));
        Ok(Self { connection, id, path, checksums })
    }

    /// Decodes a part in a `column` of a table; `None` if it is damaged.
    fn decoded<T: Default>(
        &self,
        table: &str,
        column: &str,
        part: DocumentPart,
        decode: impl FnOnce(&[u8]) -> Option<T>,
    ) -> rusqlite::Result<Option<T>> {
        let bytes: Option<Vec<u8>> = self
            .connection
            .prepare_cached(&format!("SELECT {column} FROM {table} WHERE document_id = ?1"))?
            .query_row([self.id], |row| Ok(row.get_ref(0)?.as_bytes().unwrap_or_default().to_vec()))
            .optional()?
            .map(row::packed);
        let is_whole = self.checksums.is(part, || checksums::optional(bytes.as_deref()));
        Ok(bytes.map_or(Some(T::default()), |bytes| decode(&bytes)).filter(|_| is_whole))
    }
}

/// Deletes rows of a document: those with `keys`, or all of them if the keys are not known. The table has no index by
/// document, so all of its rows are read then.
fn delete_keys<K: ToSql>(
    connection: &Connection,
    table: &str,
    keys: Option<impl IntoIterator<Item = K>>,
    id: i64,
) -> rusqlite::Result<()> {
    let delete = format!("DELETE FROM {table} WHERE document_id = ?1");
    let Some(keys) = keys else {
        return connection.execute(&delete, [id]).map(|_| ());
    };
    let mut statement = connection.prepare_cached(&format!("{delete} AND key = ?2"))?;
    keys.into_iter().try_for_each(|key| statement.execute(params![id, key]).map(|_| ()))
}

/// Deletes the keys of the links and names of a document.
fn remove_keys(connection: &Connection, id: i64, stored: &StoredParts<'_>) -> rusqlite::Result<()> {
    let decode = |bytes: &[u8]| postcard::from_bytes::<Outgoing>(bytes).ok();
    let outgoing = stored.decoded("link", "stored", DocumentPart::Links, decode)?;
    let of_links = outgoing.as_ref().zip(stored.path.as_ref());
    let of_links = of_links.map(|(outgoing, path)| outgoing.link_keys(path));
    delete_keys(connection, "link_key", of_links, id)?;
    delete_keys(connection, "name_key", outgoing.as_ref().map(Outgoing::name_keys), id)
}

/// Deletes the keys of the data of a document and the values of its front matter.
fn remove_data_keys(
    connection: &Connection,
    id: i64,
    stored: &StoredParts<'_>,
) -> rusqlite::Result<()> {
    let [in_code, in_tables, in_tasks] = DATA_TABLES;
    let code = stored.decoded(in_code, "stored", DocumentPart::Code, unpacked)?;
    let tables = stored.decoded(in_tables, "stored", DocumentPart::Tables, unpacked)?;
    let tasks = stored.decoded(in_tasks, "stored", DocumentPart::Tasks, unpacked)?;
    let contents = match (code, tables, tasks) {
        (Some(code), Some(tables), Some(tasks)) => Some(Contents { code, tables, tasks }),
        _ => None,
    };
    delete_keys(connection, "data_key", contents.map(|contents| contents.keys()), id)?;
    let values = |bytes: &[u8]| values::of(Some(std::str::from_utf8(bytes).ok()?));
    let values = stored.decoded("front_matter", "value", DocumentPart::FrontMatter, values)?;
    let keys = values.map(|values| values.into_iter().map(|value| value.key));
    delete_keys(connection, "front_matter_value", keys, id)
}

/// Unpacks code, tables or tasks.
fn unpacked<T: Packable>(packed: &[u8]) -> Option<Vec<T>> {
    data::decode(Some(packed), usize::MAX)
}
