//! The parts of documents other than their bytes: tags, front matter and outlines.
//!
//! Invariant: a part is compared with its checksum before it is returned.

use std::collections::HashSet;

use rusqlite::OptionalExtension as _;
use serde_json::{Map, Value};

use super::bytes_column::BytesColumn;
use super::corrupt;
use super::snapshot::Snapshot;
use crate::codec::row;
use crate::error::Result;
use crate::limits;
use crate::markdown::outline::Outline;
use crate::prepare::checksums::{self, DocumentPart};
use crate::store::StoredDocument;

const OUTLINES: BytesColumn = BytesColumn {
    table: "outline",
    key: "document_id",
    bytes: "stored",
    step: 1,
    most: limits::MAX_ROW_BYTES,
};

impl Snapshot {
    /// Returns the keys of the tags of a document, sorted.
    pub(in crate::store) fn tags(&self, document: &StoredDocument) -> Result<Vec<String>> {
        let tags: Vec<String> = self.query_rows(
            "SELECT tag FROM tag WHERE document_id = ?1 ORDER BY tag",
            [document.id],
            |row| row.get(0),
        )?;
        let is_whole = document.checksums.is(DocumentPart::Tags, || checksums::list(&tags));
        if is_whole { Ok(tags) } else { Err(self.damaged(document, "tags")) }
    }

    /// Returns the keys and values of the front matter of a document; `None` if it has none or it
    /// could not be parsed.
    pub(in crate::store) fn front_matter(
        &self,
        document: &StoredDocument,
    ) -> Result<Option<Map<String, Value>>> {
        let value: Option<String> = self.wrap(
            self.statement()
                .prepare_cached("SELECT value FROM front_matter WHERE document_id = ?1")
                .and_then(|mut values| {
                    values.query_row([document.id], |row| row.get(0)).optional()
                }),
        )?;
        let checksum = || checksums::optional(value.as_ref().map(String::as_bytes));
        if !document.checksums.is(DocumentPart::FrontMatter, checksum) {
            return Err(self.damaged(document, "values of the front matter"));
        }
        let values = value.map(|value| serde_json::from_str(&value)).transpose();
        values.map_err(|_| self.damaged(document, "values of the front matter"))
    }

    /// Reads the packed row of a document with `statement`. Fails if the checksum of `part` is
    /// wrong.
    pub(super) fn packed_row(
        &self,
        statement: &str,
        document: &StoredDocument,
        part: DocumentPart,
    ) -> Result<Option<Vec<u8>>> {
        let stored: Option<Vec<u8>> =
            self.wrap(self.statement().prepare_cached(statement).and_then(|mut statement| {
                statement.query_row([document.id], |row| row.get(0)).optional()
            }))?;
        let packed = stored.map(row::packed);
        let is_whole = document.checksums.is(part, || checksums::optional(packed.as_deref()));
        if is_whole { Ok(packed) } else { Err(self.damaged(document, "packed rows")) }
    }

    /// Returns the structure of a document.
    pub(in crate::store) fn outline(&self, document: &StoredDocument) -> Result<Outline> {
        let statement = "SELECT stored FROM outline WHERE document_id = ?1";
        self.unpacked(document, self.packed_row(statement, document, DocumentPart::Outline)?)
    }

    /// Returns the structures of `documents`, in the same order.
    pub(in crate::store) fn outlines(&self, documents: &[StoredDocument]) -> Result<Vec<Outline>> {
        let packed = self.packed_rows(&OUTLINES, documents, DocumentPart::Outline)?;
        let packed = documents.iter().zip(packed);
        packed.map(|(document, packed)| self.unpacked(document, packed)).collect()
    }

    /// Reads the packed rows of `documents` in a column, in the same order. Fails if the checksum of `part` of one
    /// of them is wrong.
    pub(super) fn packed_rows(
        &self,
        column: &BytesColumn,
        documents: &[StoredDocument],
        part: DocumentPart,
    ) -> Result<Vec<Option<Vec<u8>>>> {
        let ids: HashSet<i64> = documents.iter().map(|document| document.id).collect();
        let mut rows = self.wrap(column.read(&self.statement(), &ids))?;
        let row = |document: &StoredDocument| {
            let packed = rows.remove(&document.id).map(row::packed);
            let is_whole = document.checksums.is(part, || checksums::optional(packed.as_deref()));
            if is_whole { Ok(packed) } else { Err(self.damaged(document, "packed rows")) }
        };
        documents.iter().map(row).collect()
    }

    /// Unpacks the outline of a document.
    fn unpacked(&self, document: &StoredDocument, packed: Option<Vec<u8>>) -> Result<Outline> {
        let outline = packed.and_then(|packed| crate::codec::outline::decode(&packed));
        let is_of_it = |outline: &Outline| outline.bytes as u64 == document.state.size;
        outline.filter(is_of_it).ok_or_else(|| {
            corrupt(self.path(), &format!("the outline of {} cannot be read", document.path))
                .with_hint("or run `mdsel ingest --force`, which parses the file again")
        })
    }
}
