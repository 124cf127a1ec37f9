//! Reading all rows of a document to check them.
//!
//! Invariants: rows of any content are read with bounded memory. Damaged content is reported as a
//! problem and never causes a panic.

use rusqlite::{OptionalExtension as _, Row};

use super::document_row::{SELECT_DOCUMENTS, unchecked_document};
use super::snapshot::Snapshot;
use super::{content, sql};
use crate::codec::content::{PackedSpan, chunk_count};
use crate::codec::{data, markup, outline as codec, row};
use crate::data::Contents;
use crate::error::Result;
use crate::limits;
use crate::links::{Outgoing, split_extension};
use crate::markdown::outline::Outline;
use crate::markdown::{front_matter, tiling};
use crate::position::ByteSpan;
use crate::prepare::rows::{DerivedRows, StoredDiagnostic, counts, tag_keys};
use crate::prepare::values::{self, ValueRow};
use crate::prepare::{name_key, title_keys};
use crate::store::StoredDocument;

/// A document with all of its rows.
pub(in crate::store) struct StoredRows {
    /// The row of the table `document`.
    pub(in crate::store) document: StoredDocument,
    /// The rows that were derived from its bytes.
    pub(in crate::store) derived: DerivedRows,
    checksums: Option<Vec<u8>>,
    packed: PackedSpan,
    has_all_chunks: bool,
}

/// The decoded rows of a document that match its bytes.
pub(in crate::store) struct Decoded {
    pub(in crate::store) outline: Outline,
    pub(in crate::store) links: Outgoing,
    pub(in crate::store) contents: Contents,
    pub(in crate::store) values: Vec<ValueRow>,
}

impl Snapshot {
    /// Returns the ids of all documents, ascending.
    pub(in crate::store) fn ids(&self) -> Result<Vec<i64>> {
        self.wrap(
            self.long_statement()
                .prepare("SELECT id FROM document ORDER BY id")
                .and_then(|mut ids| ids.query_map([], |row| row.get(0))?.collect()),
        )
    }

    /// Returns the document with this id without comparing its checksum.
    pub(in crate::store) fn unchecked(&self, id: i64) -> Result<Option<StoredDocument>> {
        let statement = format!("{SELECT_DOCUMENTS} WHERE id = ?1");
        self.wrap(
            self.statement()
                .prepare_cached(&statement)
                .and_then(|mut statement| statement.query_row([id], unchecked_document).optional()),
        )
    }

    /// Returns the paths of all documents, in order, without comparing checksums.
    pub(crate) fn stored_paths(&self) -> Result<Vec<String>> {
        self.wrap(
            self.long_statement()
                .prepare("SELECT path FROM document ORDER BY path")
                .and_then(|mut paths| paths.query_map([], |row| row.get(0))?.collect()),
        )
    }

    /// Reads all rows of a document. A row that is larger than any valid one is treated as missing.
    pub(in crate::store) fn rows(&self, id: i64) -> Result<Option<StoredRows>> {
        let statement = "SELECT d.id, d.path, d.hash, d.size, d.mtime_ns, d.ctime_ns, d.lossy, \
             d.ldmd, d.seal, d.name_key, d.lines, d.words, d.sections, d.blocks, d.links, \
             iif(octet_length(o.stored) <= ?2, o.stored, NULL), \
             iif(octet_length(t.keys) <= ?2, t.keys, NULL), \
             iif(octet_length(m.stored) <= ?2, m.stored, NULL), \
             iif(octet_length(l.stored) <= ?2, l.stored, NULL), \
             iif(octet_length(f.value) <= ?2, f.value, NULL), \
             iif(octet_length(c.stored) <= ?2, c.stored, NULL), \
             iif(octet_length(g.stored) <= ?2, g.stored, NULL), \
             iif(octet_length(k.stored) <= ?2, k.stored, NULL) \
             FROM document d LEFT JOIN outline o ON o.document_id = d.id \
             LEFT JOIN title t ON t.document_id = d.id LEFT JOIN ldmd m ON m.document_id = d.id \
             LEFT JOIN link l ON l.document_id = d.id \
             LEFT JOIN front_matter f ON f.document_id = d.id \
             LEFT JOIN code c ON c.document_id = d.id LEFT JOIN grid g ON g.document_id = d.id \
             LEFT JOIN task k ON k.document_id = d.id WHERE d.id = ?1";
        let connection = self.statement();
        let most = sql(limits::MAX_ROW_BYTES);
        let read = connection.prepare_cached(statement).and_then(|mut rows| {
            rows.query_row([id, most], |row| {
                Ok((unchecked_document(row)?, row.get(8)?, part(row)?))
            })
            .optional()
        });
        let Some((document, checksums, mut derived)) = self.wrap(read)? else { return Ok(None) };
        let texts = |statement: &str| {
            connection
                .prepare_cached(statement)?
                .query_map([id], |row| row.get(0))?
                .collect::<rusqlite::Result<Vec<String>>>()
        };
        let tags = "SELECT tag FROM tag WHERE document_id = ?1 ORDER BY tag";
        derived.tags = self.wrap(texts(tags))?;
        let ids = "SELECT id FROM ldmd_section WHERE document_id = ?1 ORDER BY id";
        derived.markup_ids = self.wrap(texts(ids))?;
        derived.diagnostics = self.wrap(
            connection
                .prepare_cached(
                    "SELECT code, line, message FROM diagnostic WHERE document_id = ?1 \
                     ORDER BY ordinal",
                )
                .and_then(|mut rows| rows.query_map([id], diagnostic)?.collect()),
        )?;
        let length = self.length(&document)?;
        let span = ByteSpan::new(0, length);
        let packed = self.wrap(content::read(&connection, id, length, span))?;
        let chunks = self.wrap(content::stored_chunk_count(&connection, id))?;
        let has_all_chunks = chunks == sql(chunk_count(length));
        Ok(Some(StoredRows { document, derived, checksums, packed, has_all_chunks }))
    }
}

/// Reads the derived rows from the joined tables.
fn part(row: &Row<'_>) -> rusqlite::Result<DerivedRows> {
    let packed = |column: usize| -> rusqlite::Result<Option<Vec<u8>>> {
        Ok(row.get::<_, Option<Vec<u8>>>(column)?.map(row::packed))
    };
    Ok(DerivedRows {
        path: row.get(1)?,
        hash: row.get(2)?,
        is_lossy: row.get(6)?,
        has_markup: row.get(7)?,
        name_key: row.get(9)?,
        counts: [row.get(10)?, row.get(11)?, row.get(12)?, row.get(13)?, row.get(14)?],
        outline: packed(15)?,
        title_keys: row.get(16)?,
        markup: packed(17)?,
        markup_ids: Vec::new(),
        links: packed(18)?,
        front_matter: row.get(19)?,
        data: [packed(20)?, packed(21)?, packed(22)?],
        tags: Vec::new(),
        diagnostics: Vec::new(),
    })
}

fn diagnostic(row: &Row<'_>) -> rusqlite::Result<StoredDiagnostic> {
    Ok(StoredDiagnostic { code: row.get(0)?, line: row.get(1)?, message: row.get(2)? })
}

impl StoredRows {
    /// Returns the bytes of the document, or the reason why they are damaged.
    pub(in crate::store) fn bytes(&self) -> std::result::Result<Vec<u8>, &'static str> {
        let unpacked = self.packed.unpack(&self.document.hash).filter(|_| self.has_all_chunks);
        let bytes = unpacked.ok_or("its bytes cannot be read")?.bytes;
        if *blake3::hash(&bytes).as_bytes() == self.document.hash {
            Ok(bytes)
        } else {
            Err("its bytes do not match its hash")
        }
    }

    /// Returns whether the document was written with checksums.
    pub(in crate::store) fn has_checksums(&self) -> bool {
        self.checksums.is_some()
    }

    /// Returns whether `stored` are the checksums of these rows, in the form of this version or an
    /// older one.
    fn are_checksums(&self, stored: &[u8]) -> bool {
        let rows = &self.derived;
        let checksums = rows.checksums(self.document.state.size);
        stored == checksums.bytes() || checksums.begin_with(stored) || stored == rows.whole_hash()
    }

    /// Decodes the rows and compares them with the bytes of the document. Returns a description of
    /// the first problem.
    pub(in crate::store) fn decode(&self, bytes: &[u8]) -> std::result::Result<Decoded, String> {
        let rows = &self.derived;
        if self.checksums.as_ref().is_some_and(|stored| !self.are_checksums(stored)) {
            return Err("its rows differ from what was written".to_owned());
        }
        let is_kept = |is_so: bool, what: &str| {
            if is_so { Ok(()) } else { Err(format!("its {what} do not match its bytes")) }
        };
        let outline = rows.outline.as_ref().and_then(|packed| codec::decode(packed));
        let outline = outline.ok_or("its outline cannot be read")?;
        if let Some(fault) = tiling::fault(&outline, bytes) {
            return Err(format!("its outline does not match its bytes: {fault}"));
        }
        is_kept(rows.name_key == name_key(split_extension(&rows.path).0), "names")?;
        is_kept(rows.is_lossy == std::str::from_utf8(bytes).is_err(), "flags")?;
        is_kept(rows.has_markup == rows.markup.is_some(), "flags")?;
        let markup = match &rows.markup {
            None => crate::ldmd::Markup::default(),
            Some(packed) => {
                markup::decode(packed, bytes.len()).ok_or("its LDMD sections cannot be read")?
            }
        };
        let mut ids: Vec<&str> =
            markup.sections.iter().map(|section| section.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        is_kept(ids == rows.markup_ids, "LDMD sections")?;
        let links = match &rows.links {
            None => Outgoing::default(),
            Some(packed) => {
                postcard::from_bytes::<Outgoing>(packed).map_err(|_| "its links cannot be read")?
            }
        };
        is_kept(rows.counts == counts(&outline, links.links.len()), "counts")?;
        let front_matter_values = match &rows.front_matter {
            None => None,
            Some(text) => {
                Some(serde_json::from_str(text).map_err(|_| "its front matter cannot be read")?)
            }
        };
        let title = front_matter_values.as_ref().and_then(front_matter::title);
        let keys = rows.title_keys.as_deref().unwrap_or_default();
        // Older versions stored no key for the title in front matter, or for one that is a number.
        let is_of = |title: Option<&str>| keys == title_keys::of(&outline, title);
        is_kept(is_of(title.as_deref()) || is_of(None), "titles")?;
        let mut tags = front_matter_values.as_ref().map(front_matter::tags).unwrap_or_default();
        tags.sort_unstable();
        // Older versions did not fold accents.
        is_kept(tag_keys(&tags) == rows.tags || tags == rows.tags, "tags")?;
        let [code, tables, tasks] = rows.data.each_ref().map(|packed| packed.as_deref());
        let contents = Contents {
            code: data::decode(code, bytes.len()).ok_or("its code blocks cannot be read")?,
            tables: data::decode(tables, bytes.len()).ok_or("its tables cannot be read")?,
            tasks: data::decode(tasks, bytes.len()).ok_or("its tasks cannot be read")?,
        };
        let values = values::of(rows.front_matter.as_deref());
        let values = values.ok_or("its front matter cannot be read")?;
        Ok(Decoded { outline, links, contents, values })
    }
}
