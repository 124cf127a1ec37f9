//! The totals of the store, in a row of their own, so that they need not be counted.
//!
//! Invariant: in every committed state they are those of the documents.

use rusqlite::{Connection, OptionalExtension as _, Row, params_from_iter};

use super::{count, sql};
use crate::prepare::PreparedDocument;
use crate::store::Totals;

/// Returns the stored totals; `None` if their row is missing.
pub(super) fn stored(connection: &Connection) -> rusqlite::Result<Option<Totals>> {
    let statement = "SELECT documents, sections, blocks, links, bytes, words, lines, diagnostics \
        FROM totals WHERE id = 1";
    connection.prepare_cached(statement)?.query_row([], totals).optional()
}

/// Counts all documents.
pub(super) fn counted(connection: &Connection) -> rusqlite::Result<Totals> {
    let statement = "SELECT count(*), coalesce(sum(sections), 0), coalesce(sum(blocks), 0), \
        coalesce(sum(links), 0), coalesce(sum(size), 0), coalesce(sum(words), 0), coalesce(sum(lines), 0), \
        (SELECT count(*) FROM diagnostic) FROM document";
    connection.prepare_cached(statement)?.query_row([], totals)
}

/// Reads the totals in a row.
fn totals(row: &Row<'_>) -> rusqlite::Result<Totals> {
    let number = |column| row.get::<_, i64>(column).map(count);
    Ok(Totals {
        documents: number(0)?,
        sections: number(1)?,
        blocks: number(2)?,
        links: number(3)?,
        bytes: number(4)?,
        words: number(5)?,
        lines: number(6)?,
        diagnostics: number(7)?,
    })
}

/// The difference that the documents make that a transaction has added and removed: for each column of the row.
#[derive(Debug, Default)]
pub(super) struct TotalsChange([i64; 8]);

impl TotalsChange {
    /// Adds a document that is written.
    pub(super) fn add(&mut self, document: &PreparedDocument) {
        let [lines, words, sections, blocks, link_count] = document.rows.counts;
        let bytes = i64::try_from(document.state.size).unwrap_or(i64::MAX);
        let diagnostics = sql(document.rows.diagnostics.len());
        let added = [1, sections, blocks, link_count, bytes, words, lines, diagnostics];
        for (change, added) in self.0.iter_mut().zip(added) {
            *change = change.saturating_add(added);
        }
    }

    /// Subtracts the document with this id, which is about to be deleted.
    pub(super) fn remove(&mut self, connection: &Connection, id: i64) -> rusqlite::Result<()> {
        let statement = "SELECT 1, sections, blocks, links, size, words, lines, \
            (SELECT count(*) FROM diagnostic WHERE document_id = document.id) FROM document WHERE id = ?1";
        let mut statement = connection.prepare_cached(statement)?;
        let mut rows = statement.query([id])?;
        while let Some(row) = rows.next()? {
            for (column, change) in self.0.iter_mut().enumerate() {
                *change = change.saturating_sub(row.get(column)?);
            }
        }
        Ok(())
    }

    /// Adds the difference to the stored totals, once.
    pub(super) fn write(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let change = std::mem::take(&mut self.0);
        if change == [0; 8] {
            return Ok(());
        }
        let statement = "UPDATE totals SET documents = documents + ?1, sections = sections + ?2, \
            blocks = blocks + ?3, links = links + ?4, bytes = bytes + ?5, words = words + ?6, \
            lines = lines + ?7, diagnostics = diagnostics + ?8 WHERE id = 1";
        connection.prepare_cached(statement)?.execute(params_from_iter(change)).map(|_| ())
    }
}
