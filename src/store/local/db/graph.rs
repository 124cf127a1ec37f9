//! Reading what connects documents: links and their lookup keys, names, and LDMD sections.
//!
//! Invariant: looking up a key returns every document that it can refer to, and possibly others.
//! The caller verifies the result.

use rusqlite::Row;

use super::bytes_column::BytesColumn;
use super::snapshot::Snapshot;
use super::{corrupt, sql};
use crate::codec::markup;
use crate::error::Result;
use crate::ldmd::Markup;
use crate::limits;
use crate::links::Outgoing;
use crate::prepare::checksums::DocumentPart;
use crate::store::StoredDocument;

const LINKS: BytesColumn = BytesColumn {
    table: "link",
    key: "document_id",
    bytes: "stored",
    step: 1,
    most: limits::MAX_ROW_BYTES,
};

impl Snapshot {
    /// Returns the links and the names of `documents`, in the same order.
    pub(in crate::store) fn all_links(
        &self,
        documents: &[StoredDocument],
    ) -> Result<Vec<Outgoing>> {
        if let [document] = documents {
            let statement = "SELECT stored FROM link WHERE document_id = ?1";
            let packed = self.packed_row(statement, document, DocumentPart::Links)?;
            return Ok(vec![self.links(document, packed)?]);
        }
        let packed = self.packed_rows(&LINKS, documents, DocumentPart::Links)?;
        let packed = documents.iter().zip(packed);
        packed.map(|(document, packed)| self.links(document, packed)).collect()
    }

    /// Unpacks the links and the names of a document.
    fn links(&self, document: &StoredDocument, packed: Option<Vec<u8>>) -> Result<Outgoing> {
        let Some(packed) = packed else { return Ok(Outgoing::default()) };
        postcard::from_bytes(&packed).map_err(|_| {
            corrupt(self.path(), &format!("the links of {} cannot be read", document.path))
                .with_hint("or run `mdsel ingest --force`, which parses the file again")
        })
    }

    /// Returns the `count` link keys that occur in the most documents, with the number of these
    /// documents.
    pub(in crate::store) fn frequent_link_keys(&self, count: usize) -> Result<Vec<(i64, usize)>> {
        let statement = "SELECT key, count(*) AS documents FROM link_key GROUP BY key \
             ORDER BY documents DESC, key LIMIT ?1";
        self.wrap(self.statement().prepare_cached(statement).and_then(|mut statement| {
            let row = |row: &Row<'_>| Ok((row.get(0)?, super::count(row.get(1)?)));
            statement.query_map([sql(count)], row)?.collect()
        }))
    }

    /// Returns the LDMD sections of a document and the problems with its markers.
    pub(in crate::store) fn markup(&self, document: &StoredDocument) -> Result<Markup> {
        if !document.has_ldmd {
            return Ok(Markup::default());
        }
        let statement = "SELECT stored FROM ldmd WHERE document_id = ?1";
        let packed = self.packed_row(statement, document, DocumentPart::Markup)?;
        let length = self.length(document)?;
        packed.and_then(|packed| markup::decode(&packed, length)).ok_or_else(|| {
            corrupt(self.path(), &format!("the LDMD sections of {} cannot be read", document.path))
                .with_hint("or run `mdsel ingest --force`, which parses the file again")
        })
    }
}
