//! SQLite's check of its own file, and checks of rows that do not belong to a single document.
//!
//! Invariants: every row of the store is checked either here or with its document. No check loads a
//! whole table into memory.

use std::collections::HashMap;

use super::snapshot::Snapshot;
use super::{content, folders, meta, totals};
use crate::error::{ErrorKind, Result};
use crate::limits;
use crate::prepare::values::ValueRow;
use crate::store::local::fault::{FaultKind, StoreProblem, Tally};

/// Tables with a secondary index. SQLite's quick check does not compare an index with its table.
const INDEXED_TABLES: [&str; 3] = ["document", "tag", "ldmd_section"];

/// Tallies of the keys in one table of the link graph, by document id.
pub(in crate::store) type KeyTallies = HashMap<i64, Tally>;

impl Snapshot {
    /// Returns the problems that SQLite reports for its file. If `is_full` is set, SQLite compares
    /// every index with its table; otherwise only those of [`INDEXED_TABLES`].
    pub(in crate::store) fn database_faults(&self, is_full: bool) -> Result<Vec<StoreProblem>> {
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

    fn pragma_faults(
        &self,
        pragma: &str,
        argument: &str,
        faults: &mut Vec<StoreProblem>,
    ) -> Result<()> {
        let statement = format!("PRAGMA {pragma}({argument})");
        let connection = self.long_statement();
        let reported = connection.prepare(&statement).and_then(|mut statement| {
            statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()
        });
        let reported = self.wrap(reported);
        drop(connection);
        match reported {
            Ok(reported) => {
                let lines = reported.iter().flat_map(|text| text.lines());
                let lines = lines.filter(|line| *line != "ok" && !line.starts_with("*** in"));
                faults.extend(lines.map(|line| StoreProblem::new(FaultKind::Database, line)));
            }
            Err(error) if error.kind() == ErrorKind::StoreCorrupt => {
                faults.push(StoreProblem::new(FaultKind::Database, error.to_string()));
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Returns the problems with the metadata of the store.
    pub(in crate::store) fn meta_faults(&self) -> Result<Vec<StoreProblem>> {
        let mut faults = Vec::new();
        let mut fault = |message: &str| faults.push(StoreProblem::new(FaultKind::Meta, message));
        let connection = self.long_statement();
        let keys: Vec<String> = self.wrap(
            connection
                .prepare("SELECT key FROM meta ORDER BY key")
                .and_then(|mut keys| keys.query_map([], |row| row.get(0))?.collect()),
        )?;
        if keys.iter().any(|key| !meta::KEYS.contains(&key.as_str())) {
            fault("the metadata has a key that mdsel does not write");
        }
        // Versions of mdsel without checksums do not write this row.
        if keys.iter().any(|key| key == "seal") {
            let checksum: Vec<u8> = self.wrap(connection.query_row(
                "SELECT value FROM meta WHERE key = 'seal'",
                [],
                |row| row.get(0),
            ))?;
            if self.wrap(meta::stored_checksum(&connection))? != *checksum {
                fault("its root or its options differ from what was written");
            }
        } else if self.has_current_parser() {
            fault("the checksum of its root and its options is missing");
        }
        let counted = self.wrap(totals::counted(&connection))?;
        if self.wrap(totals::stored(&connection))? != Some(counted) {
            fault("its totals differ from those of its documents");
        }
        if !self.wrap(folders::are_complete(&connection))? {
            fault("its folders differ from those of its documents");
        }
        let (is_counted, is_numbered): (bool, bool) = self.wrap(connection.query_row(
            "SELECT coalesce(max(generation), 0) <= ?1, coalesce(max(id), 0) <= \
             coalesce((SELECT max(seq) FROM sqlite_sequence WHERE name = 'document'), 0) \
             FROM document",
            [i64::try_from(self.generation()).unwrap_or(i64::MAX)],
            |row| Ok((row.get(0)?, row.get(1)?)),
        ))?;
        if !is_counted {
            fault("a document has a later generation than the store");
        }
        if !is_numbered {
            fault("a document has an id that is not assigned yet");
        }
        Ok(faults)
    }

    /// Returns a problem for each table with rows whose document does not exist.
    pub(in crate::store) fn orphan_faults(&self) -> Result<Vec<StoreProblem>> {
        let connection = self.long_statement();
        let tables: Vec<String> =
            self.wrap(connection.prepare("PRAGMA foreign_key_check").and_then(|mut rows| {
                rows.query_map([], |row| row.get(0))?.take(limits::MAX_FAULTS).collect()
            }))?;
        let mut faults: Vec<StoreProblem> = tables
            .iter()
            .map(|table| {
                StoreProblem::new(FaultKind::Orphan, format!("a row of {table} has no document"))
            })
            .collect();
        faults.dedup();
        if self.wrap(content::orphan(&connection))?.is_some() {
            faults.push(StoreProblem::new(FaultKind::Orphan, "a row of content has no document"));
        }
        Ok(faults)
    }

    /// Returns tallies of the keys in the tables `link_key`, `name_key` and `data_key`, and of the
    /// rows of `front_matter_value`, by document.
    pub(in crate::store) fn key_tallies(&self) -> Result<[KeyTallies; 4]> {
        let keys = |table: &str| {
            self.tallies(&format!("SELECT document_id, key FROM {table}"), |row| {
                row.get(1).map(i64::cast_unsigned)
            })
        };
        let statement = "SELECT document_id, key, name, type, value FROM front_matter_value";
        let values = self.tallies(statement, |row| {
            let text = |column| row.get_ref(column).and_then(|text| Ok(text.as_str()?));
            Ok(ValueRow::hash(text(1)?, text(2)?, text(3)?, text(4)?))
        })?;
        Ok([keys("link_key")?, keys("name_key")?, keys("data_key")?, values])
    }

    /// Returns tallies of the rows of `statement`, by the document id in the first column.
    fn tallies(
        &self,
        statement: &str,
        number: impl Fn(&rusqlite::Row<'_>) -> rusqlite::Result<u64>,
    ) -> Result<KeyTallies> {
        let mut tallies = KeyTallies::new();
        let connection = self.long_statement();
        let read = connection.prepare(statement).and_then(|mut statement| {
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                tallies.entry(row.get(0)?).or_default().add(number(row)?);
            }
            Ok(())
        });
        self.wrap(read).map(|()| tallies)
    }

    /// Returns the paths of the edits that were started and not finished.
    pub(in crate::store) fn intent_paths(&self) -> Result<Vec<String>> {
        self.wrap(
            self.statement()
                .prepare("SELECT path FROM edit_intent ORDER BY id")
                .and_then(|mut paths| paths.query_map([], |row| row.get(0))?.collect()),
        )
    }
}
