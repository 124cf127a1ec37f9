//! Reading what is inside documents as data: code blocks, tables, tasks and values of front matter.
//!
//! Invariant: looking up a key returns every document that has what the key describes, and possibly
//! others.

use std::collections::HashSet;

use super::corrupt;
use super::snapshot::Snapshot;
use crate::codec::data::{Packable, decode};
use crate::data::{CodeItem, TaskEntry};
use crate::error::Result;
use crate::markdown::contents::Table;
use crate::prepare::checksums::DocumentPart;
use crate::store::StoredDocument;

/// The tables of packed data, in the order of [`crate::prepare::rows::DerivedRows::data`].
pub(super) const DATA_TABLES: [&str; 3] = ["code", "grid", "task"];

impl Snapshot {
    /// Returns the code blocks of a document, in document order.
    pub(in crate::store) fn code(&self, document: &StoredDocument) -> Result<Vec<CodeItem>> {
        self.data("SELECT stored FROM code WHERE document_id = ?1", document, DocumentPart::Code)
    }

    /// Returns the tables of a document, in document order.
    pub(in crate::store) fn tables(&self, document: &StoredDocument) -> Result<Vec<Table>> {
        self.data("SELECT stored FROM grid WHERE document_id = ?1", document, DocumentPart::Tables)
    }

    /// Returns the tasks of a document, in document order.
    pub(in crate::store) fn tasks(&self, document: &StoredDocument) -> Result<Vec<TaskEntry>> {
        self.data("SELECT stored FROM task WHERE document_id = ?1", document, DocumentPart::Tasks)
    }

    fn data<T: Packable>(
        &self,
        statement: &str,
        document: &StoredDocument,
        part: DocumentPart,
    ) -> Result<Vec<T>> {
        let packed = self.packed_row(statement, document, part)?;
        let length = self.length(document)?;
        decode(packed.as_deref(), length).ok_or_else(|| {
            corrupt(self.path(), &format!("the data of {} cannot be read", document.path))
                .with_hint("or run `mdsel ingest --force`, which parses the file again")
        })
    }

    /// Returns the ids of the documents that have the key with this hash, ascending; see
    /// [`crate::data::Key`].
    pub(in crate::store) fn documents_with_data(&self, key: i64) -> Result<Vec<i64>> {
        self.query_rows("SELECT document_id FROM data_key WHERE key = ?1", [key], |row| row.get(0))
    }

    /// Returns the ids of the documents that the parser reported with this code.
    pub(in crate::store) fn with_diagnostic(&self, code: &str) -> Result<HashSet<i64>> {
        self.query_rows("SELECT document_id FROM diagnostic WHERE code = ?1", [code], |row| {
            row.get(0)
        })
    }

    /// Returns whether a document has the key at the top of its front matter. `key` is case-folded.
    pub(in crate::store) fn has_front_matter_key(&self, key: &str) -> Result<bool> {
        let statement = "SELECT EXISTS (SELECT 1 FROM front_matter_value WHERE key = ?1)";
        self.wrap(
            self.statement()
                .prepare_cached(statement)
                .and_then(|mut found| found.query_row([key], |row| row.get(0))),
        )
    }

    /// Calls `visit` with the document, the key as it is written, and the value as JSON, for each value
    /// of a key of front matter, by ascending document. `key` is case-folded.
    pub(in crate::store) fn visit_front_matter(
        &self,
        key: &str,
        mut visit: impl FnMut(i64, &str, &str),
    ) -> Result<()> {
        let statement = "SELECT document_id, name, value FROM front_matter_value \
             WHERE key = ?1 ORDER BY document_id";
        self.wrap(self.statement().prepare_cached(statement).and_then(|mut values| {
            let mut rows = values.query([key])?;
            while let Some(row) = rows.next()? {
                visit(row.get(0)?, row.get_ref(1)?.as_str()?, row.get_ref(2)?.as_str()?);
            }
            Ok(())
        }))
    }

    /// Calls `visit` with the key, the name of the type and the document of each value of front
    /// matter.
    pub(in crate::store) fn visit_front_matter_types(
        &self,
        mut visit: impl FnMut(&str, &str, i64),
    ) -> Result<()> {
        let statement = "SELECT name, type, document_id FROM front_matter_value";
        self.wrap(self.statement().prepare_cached(statement).and_then(|mut values| {
            let mut rows = values.query([])?;
            while let Some(row) = rows.next()? {
                visit(row.get_ref(0)?.as_str()?, row.get_ref(1)?.as_str()?, row.get(2)?);
            }
            Ok(())
        }))
    }

    /// Returns the ids of the first `most` documents in path order after `after` and within `bounds` for which
    /// `takes` is true. This reads only an index. The bounds are those of [`DocumentFilter::path_bounds`].
    ///
    /// [`DocumentFilter::path_bounds`]: crate::store::DocumentFilter::path_bounds
    pub(in crate::store) fn first_paths(
        &self,
        after: Option<&str>,
        bounds: Option<(String, String)>,
        most: usize,
        takes: impl Fn(i64, &str) -> bool,
    ) -> Result<Vec<i64>> {
        let (start, end) = bounds.unzip();
        // No path is the first bound, which ends with a slash.
        let start = after.max(start.as_deref()).unwrap_or_default();
        let statement = "SELECT id, path FROM document WHERE path > ?1 ORDER BY path";
        self.wrap(self.statement().prepare_cached(statement).and_then(|mut paths| {
            let mut found = Vec::new();
            let mut rows = paths.query([start])?;
            while found.len() < most
                && let Some(row) = rows.next()?
            {
                let path = row.get_ref(1)?.as_str()?;
                if end.as_deref().is_some_and(|end| path >= end) {
                    break;
                }
                let id = row.get(0)?;
                if takes(id, path) {
                    found.push(id);
                }
            }
            Ok(found)
        }))
    }

    /// Returns the ids and paths of the documents with these ids, in path order.
    pub(in crate::store) fn paths_of(&self, ids: &[i64]) -> Result<Vec<(i64, String)>> {
        let ids = serde_json::to_string(ids).unwrap_or_default();
        let mut found: Vec<(i64, String)> = self.query_rows(
            "SELECT id, path FROM document WHERE id IN (SELECT value FROM json_each(?1))",
            [ids],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        found.sort_unstable_by(|one, other| one.1.cmp(&other.1));
        Ok(found)
    }
}
