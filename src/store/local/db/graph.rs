//! Reading what connects documents: links and their lookup keys, names, and LDMD sections.
//!
//! Invariant: looking up a key returns every document that it can refer to, and possibly others.
//! The caller verifies the result.

use rusqlite::Row;

use super::snapshot::{DOCUMENT_COLUMNS, Snapshot, stored_document};
use super::{corrupt, sql};
use crate::codec::markup;
use crate::error::Result;
use crate::ldmd::Markup;
use crate::links::Outgoing;
use crate::prepare::checksums::Part;
use crate::prepare::name_key;
use crate::store::StoredDocument;

impl Snapshot {
    /// Returns the links and the names of a document.
    pub fn links(&self, document: &StoredDocument) -> Result<Outgoing> {
        let statement = "SELECT packed FROM link WHERE document_id = ?1";
        let packed = self.packed_row(statement, document, Part::Links)?;
        let Some(packed) = packed else { return Ok(Outgoing::default()) };
        postcard::from_bytes(&packed).map_err(|_| {
            corrupt(self.path(), &format!("the links of {} cannot be read", document.path))
                .with_hint("or run `mdsel ingest --force`, which parses the file again")
        })
    }

    /// Returns the documents that have a link with one of `keys`, in path order.
    pub fn documents_linking(&self, keys: &[i64]) -> Result<Vec<StoredDocument>> {
        let statement = format!(
            "SELECT {DOCUMENT_COLUMNS} FROM link_key JOIN document ON id = document_id \
             WHERE key = ?1"
        );
        let mut documents: Vec<StoredDocument> = Vec::new();
        for key in keys {
            let found: Vec<StoredDocument> =
                self.wrap(self.statement().prepare_cached(&statement).and_then(
                    |mut statement| statement.query_map([key], stored_document)?.collect(),
                ))?;
            documents.extend(found);
        }
        documents.sort_by(|one, other| one.path.cmp(&other.path));
        documents.dedup();
        Ok(documents)
    }

    /// Returns the `count` link keys that occur in the most documents, with the number of these
    /// documents.
    pub fn frequent_link_keys(&self, count: usize) -> Result<Vec<(i64, usize)>> {
        let statement = "SELECT key, count(*) AS documents FROM link_key GROUP BY key \
             ORDER BY documents DESC, key LIMIT ?1";
        self.wrap(self.statement().prepare_cached(statement).and_then(|mut statement| {
            let row = |row: &Row<'_>| Ok((row.get(0)?, super::count(row.get(1)?)));
            statement.query_map([sql(count)], row)?.collect()
        }))
    }

    /// Returns the ids of the documents that have a name with this key.
    pub fn documents_with_name(&self, key: i64) -> Result<Vec<i64>> {
        self.wrap(
            self.statement()
                .prepare_cached("SELECT document_id FROM name_key WHERE key = ?1")
                .and_then(|mut names| names.query_map([key], |row| row.get(0))?.collect()),
        )
    }

    /// Returns the ids and paths of the documents whose folded path without extension is `name` or
    /// ends with `/` and `name`.
    pub fn documents_with_stem(&self, name: &str) -> Result<Vec<(i64, String)>> {
        let key = name_key(name);
        let end = format!("{}0", key.strip_suffix('/').unwrap_or(&key));
        self.wrap(
            self.statement()
                .prepare_cached(
                    "SELECT id, path FROM document WHERE name_key >= ?1 AND name_key < ?2",
                )
                .and_then(|mut statement| {
                    statement
                        .query_map([&key, &end], |row| Ok((row.get(0)?, row.get(1)?)))?
                        .collect()
                }),
        )
    }

    /// Returns the LDMD sections of a document and the problems with its markers.
    pub fn markup(&self, document: &StoredDocument) -> Result<Markup> {
        if !document.has_ldmd {
            return Ok(Markup::default());
        }
        let statement = "SELECT packed FROM ldmd WHERE document_id = ?1";
        let packed = self.packed_row(statement, document, Part::Markup)?;
        let length = self.length(document)?;
        packed.and_then(|packed| markup::decode(&packed, length)).ok_or_else(|| {
            corrupt(self.path(), &format!("the LDMD sections of {} cannot be read", document.path))
                .with_hint("or run `mdsel ingest --force`, which parses the file again")
        })
    }

    /// Returns the documents that contain an LDMD section with this id, in path order.
    pub fn documents_with_ldmd_section(&self, id: &str) -> Result<Vec<StoredDocument>> {
        let statement = format!(
            "SELECT {DOCUMENT_COLUMNS} FROM document WHERE id IN \
             (SELECT document_id FROM ldmd_section WHERE ldmd_section.id = ?1) ORDER BY path"
        );
        self.wrap(
            self.statement()
                .prepare_cached(&statement)
                .and_then(|mut statement| statement.query_map([id], stored_document)?.collect()),
        )
    }
}
