//! What SQLite can tell of its own file, and of rows that no single document tells.
//!
//! Invariant: every row of the store is looked at here or with its document, and none by loading a table
//! into memory.

use std::collections::HashMap;

use super::snapshot::Snapshot;
use super::{content, meta};
use crate::error::{ErrorKind, Result};
use crate::limits;
use crate::store::fault::{Fault, FaultKind, Tally};

/// Tables with an index beside their own order, whose agreement SQLite's quick check leaves out.
const INDEXED_TABLES: [&str; 3] = ["document", "tag", "ldmd_section"];

/// The keys of documents in one table of the graph.
pub(in crate::store) type KeyTallies = HashMap<i64, Tally>;

impl Snapshot {
    /// What SQLite finds wrong with its file: with its trees and, where `is_full`, once more with the
    /// agreement of every index with its table.
    pub(in crate::store) fn database_faults(&self, is_full: bool) -> Result<Vec<Fault>> {
        let mut faults = Vec::new();
        if is_full {
            self.pragma_faults("integrity_check", &limits::MAX_FAULTS.to_string(), &mut faults)?;
        } else {
            self.pragma_faults("quick_check", &limits::MAX_FAULTS.to_string(), &mut faults)?;
            for table in INDEXED_TABLES {
                self.pragma_faults("integrity_check", table, &mut faults)?;
            }
        }
        faults.dedup();
        Ok(faults)
    }

    fn pragma_faults(&self, pragma: &str, argument: &str, faults: &mut Vec<Fault>) -> Result<()> {
        let statement = format!("PRAGMA {pragma}({argument})");
        let connection = self.long_statement();
        let told = connection.prepare(&statement).and_then(|mut statement| {
            statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()
        });
        drop(connection);
        match self.wrap(told) {
            Ok(told) => {
                let lines = told.iter().flat_map(|text| text.lines());
                let lines = lines.filter(|line| *line != "ok" && !line.starts_with("*** in"));
                faults.extend(lines.map(|line| Fault::new(FaultKind::Database, line)));
            }
            Err(error) if error.kind() == ErrorKind::StoreCorrupt => {
                faults.push(Fault::new(FaultKind::Database, error.to_string()));
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// What the store says of itself and cannot be so.
    pub(in crate::store) fn meta_faults(&self) -> Result<Vec<Fault>> {
        let mut faults = Vec::new();
        let mut fault = |message: &str| faults.push(Fault::new(FaultKind::Meta, message));
        let connection = self.long_statement();
        let keys: Vec<String> = self.wrap(
            connection
                .prepare("SELECT key FROM meta ORDER BY key")
                .and_then(|mut keys| keys.query_map([], |row| row.get(0))?.collect()),
        )?;
        if keys.iter().any(|key| !meta::KEYS.contains(&key.as_str())) {
            fault("it says of itself what mdsel does not write");
        }
        // A program that knew no checksums left none.
        if keys.iter().any(|key| key == "seal") {
            let seal: Vec<u8> = self.wrap(connection.query_row(
                "SELECT value FROM meta WHERE key = 'seal'",
                [],
                |row| row.get(0),
            ))?;
            if self.wrap(meta::stored_checksum(&connection))? != *seal {
                fault("its root or its options are not those that were written");
            }
        } else if self.has_current_parser() {
            fault("the checksum of its root and its options is gone");
        }
        let (is_counted, is_numbered): (bool, bool) = self.wrap(connection.query_row(
            "SELECT coalesce(max(generation), 0) <= ?1, coalesce(max(id), 0) <= \
             coalesce((SELECT max(seq) FROM sqlite_sequence WHERE name = 'document'), 0) \
             FROM document",
            [i64::try_from(self.generation()).unwrap_or(i64::MAX)],
            |row| Ok((row.get(0)?, row.get(1)?)),
        ))?;
        if !is_counted {
            fault("a document is of a later generation than the store");
        }
        if !is_numbered {
            fault("a document has an id that was not given yet");
        }
        Ok(faults)
    }

    /// Rows of which no document is told.
    pub(in crate::store) fn orphan_faults(&self) -> Result<Vec<Fault>> {
        let connection = self.long_statement();
        let tables: Vec<String> =
            self.wrap(connection.prepare("PRAGMA foreign_key_check").and_then(|mut rows| {
                rows.query_map([], |row| row.get(0))?.take(limits::MAX_FAULTS).collect()
            }))?;
        let mut faults: Vec<Fault> = tables
            .iter()
            .map(|table| Fault::new(FaultKind::Orphan, format!("a row of {table} has no document")))
            .collect();
        faults.dedup();
        if self.wrap(content::orphan(&connection))?.is_some() {
            faults.push(Fault::new(FaultKind::Orphan, "a row of content has no document"));
        }
        Ok(faults)
    }

    /// The keys of all links, and of all names, by document.
    pub(in crate::store) fn key_tallies(&self) -> Result<[KeyTallies; 2]> {
        let tallies = |table: &str| {
            let statement = format!("SELECT document_id, key FROM {table}");
            let mut tallies = KeyTallies::new();
            let connection = self.long_statement();
            let read = connection.prepare(&statement).and_then(|mut statement| {
                let mut rows = statement.query([])?;
                while let Some(row) = rows.next()? {
                    let key: i64 = row.get(1)?;
                    tallies.entry(row.get(0)?).or_default().add(key.cast_unsigned());
                }
                Ok(())
            });
            self.wrap(read).map(|()| tallies)
        };
        Ok([tallies("link_key")?, tallies("name_key")?])
    }

    /// The documents that edits were begun of and not ended.
    pub(in crate::store) fn intent_paths(&self) -> Result<Vec<String>> {
        self.wrap(
            self.statement()
                .prepare("SELECT path FROM edit_intent ORDER BY id")
                .and_then(|mut paths| paths.query_map([], |row| row.get(0))?.collect()),
        )
    }
}
