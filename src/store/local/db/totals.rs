//! The totals of the store, which the metadata contains so that they need not be counted.
//!
//! Invariant: totals that were written for another generation are not used; they are counted again.

use rusqlite::{Connection, Row};
use serde::{Deserialize, Serialize};

use super::{count, meta};
use crate::prepare::PreparedDocument;
use crate::store::Totals;

/// The key of the row of the metadata.
pub(super) const KEY: &str = "totals";

/// The value of the row, in JSON.
#[derive(Serialize, Deserialize)]
struct Stored {
    /// The generation of the documents that were counted.
    generation: u64,
    #[serde(flatten)]
    totals: Totals,
}

/// Returns the value to store for `totals` of a generation.
pub(super) fn value(generation: u64, totals: Totals) -> String {
    serde_json::to_string(&Stored { generation, totals }).unwrap_or_default()
}

/// Returns the stored totals, if they are those of `generation`.
pub(super) fn stored(connection: &Connection, generation: u64) -> rusqlite::Result<Option<Totals>> {
    let stored = meta::text(connection, KEY)?;
    let stored = stored.and_then(|stored| serde_json::from_slice::<Stored>(&stored).ok());
    Ok(stored.filter(|stored| stored.generation == generation).map(|stored| stored.totals))
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

/// The documents that a transaction has added and removed so far.
#[derive(Debug, Default)]
pub(super) struct TotalsChange {
    added: Totals,
    removed: Totals,
}

impl TotalsChange {
    /// Adds a document that is written.
    pub(super) fn add(&mut self, document: &PreparedDocument) {
        let [lines, words, sections, blocks, link_count] = document.rows.counts.map(count);
        self.added = sum(
            self.added,
            Totals {
                documents: 1,
                sections,
                blocks,
                links: link_count,
                bytes: usize::try_from(document.state.size).unwrap_or(usize::MAX),
                words,
                lines,
                diagnostics: document.rows.diagnostics.len(),
            },
        );
    }

    /// Subtracts the document with this id, which is about to be deleted.
    pub(super) fn remove(&mut self, connection: &Connection, id: i64) -> rusqlite::Result<()> {
        let statement = "SELECT 1, sections, blocks, links, size, words, lines, \
            (SELECT count(*) FROM diagnostic WHERE document_id = document.id) FROM document WHERE id = ?1";
        let mut statement = connection.prepare_cached(statement)?;
        let mut rows = statement.query([id])?;
        while let Some(row) = rows.next()? {
            self.removed = sum(self.removed, totals(row)?);
        }
        Ok(())
    }

    /// Returns the totals after this change.
    pub(super) fn apply(&self, before: Totals) -> Totals {
        combined(sum(before, self.added), self.removed, usize::saturating_sub)
    }
}

fn sum(one: Totals, other: Totals) -> Totals {
    combined(one, other, usize::saturating_add)
}

/// Returns the result of `combine` for each number.
fn combined(one: Totals, other: Totals, combine: fn(usize, usize) -> usize) -> Totals {
    Totals {
        documents: combine(one.documents, other.documents),
        sections: combine(one.sections, other.sections),
        blocks: combine(one.blocks, other.blocks),
        links: combine(one.links, other.links),
        bytes: combine(one.bytes, other.bytes),
        words: combine(one.words, other.words),
        lines: combine(one.lines, other.lines),
        diagnostics: combine(one.diagnostics, other.diagnostics),
    }
}
