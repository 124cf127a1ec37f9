//! The rows of a document as they are stored, and what they contain.
//!
//! Invariant: a reader never gets a part that differs from what was written.

use tokio_postgres::Row;

use crate::corpus::FileState;
use crate::error::{Error, ErrorKind, Result};
use crate::hash::first_bytes;
use crate::prepare::checksums::{self, Checksums, DocumentPart};
use crate::prepare::integer;
use crate::store::StoredDocument;

/// The columns of a [`StoredDocument`], in the order in which [`document`] reads them.
pub(super) const DOCUMENT_COLUMNS: &str =
    "d.id, d.path, d.hash, d.size, d.mtime_ns, d.ctime_ns, d.lossy, d.ldmd, d.seal";

/// The condition that a row `d` belongs to the generation `$1`.
pub(super) const IS_VISIBLE: &str = "d.gen_from <= $1 AND (d.gen_to IS NULL OR d.gen_to > $1)";

/// What a row is found by; see the table `key`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyKind {
    Link = 0,
    Name,
    Title,
    Tag,
    Markup,
    Data,
}

/// Returns the hash by which a text is found.
pub(super) fn text_key(text: &str) -> i64 {
    first_bytes(blake3::hash(text.as_bytes()).as_bytes())
}

/// Returns the partition, of `partitions`, of all rows of the document at `path`.
pub(super) fn partition_of(path: &str, partitions: i64) -> i16 {
    let partition = text_key(path).unsigned_abs() % partitions.unsigned_abs().max(1);
    i16::try_from(partition).unwrap_or(0)
}

/// The number of a chunk in a [`chunk_place`] is below this.
const CHUNKS: i64 = 4096;

/// Returns the place of a chunk of the bytes of a document.
pub(super) fn chunk_place(document: i64, chunk: usize) -> i64 {
    document.saturating_mul(CHUNKS).saturating_add(integer(chunk))
}

/// Returns the error about a store that is damaged.
pub(super) fn damaged(what: &str) -> Error {
    Error::new(ErrorKind::StoreCorrupt, format!("the store is damaged: {what}"))
        .with_hint("run `mdsel ingest --force`, which parses all files again")
}

/// What to do about a damaged document.
const DOCUMENT_HINT: &str = "run `mdsel ingest --force`, which reads its file again; if it has no file, remove it \
    with `mdsel ingest PATH`, then load or copy it again";

/// Returns the error about a part of a document that differs from what was written.
pub(super) fn damaged_part(document: &StoredDocument, part: &str) -> Error {
    let path = &document.path;
    let message =
        format!("the store is damaged: the {part} of {path} differ from what was written");
    Error::new(ErrorKind::StoreCorrupt, message).with_hint(DOCUMENT_HINT)
}

/// Reads a column. Fails if its type is another one.
pub(super) fn column<'a, T: tokio_postgres::types::FromSql<'a>>(
    row: &'a Row,
    index: usize,
) -> Result<T> {
    row.try_get(index).map_err(|error| damaged(&error.to_string()))
}

/// Reads a row of [`DOCUMENT_COLUMNS`] without comparing its checksum.
pub(super) fn unchecked_document(row: &Row) -> Result<StoredDocument> {
    let hash: &[u8] = column(row, 2)?;
    let checksums: &[u8] = column(row, 8)?;
    Ok(StoredDocument {
        id: column(row, 0)?,
        path: column(row, 1)?,
        hash: hash.try_into().map_err(|_| damaged("the hash of a document"))?,
        state: FileState {
            size: column::<i64>(row, 3)?.unsigned_abs(),
            mtime_ns: column(row, 4)?,
            ctime_ns: column(row, 5)?,
        },
        is_lossy: column(row, 6)?,
        has_ldmd: column(row, 7)?,
        checksums: Checksums::stored(Some(checksums)),
    })
}

/// Reads a row of [`DOCUMENT_COLUMNS`].
pub(super) fn document(row: &Row) -> Result<StoredDocument> {
    let stored = unchecked_document(row)?;
    let StoredDocument { path, hash, state, is_lossy, has_ldmd, .. } = &stored;
    let checksum = || checksums::row(path, hash, state.size, *is_lossy, *has_ldmd);
    if stored.checksums.is(DocumentPart::Row, checksum) {
        return Ok(stored);
    }
    Err(damaged_part(&stored, "row"))
}

/// Returns the length of a document in bytes. Fails if no document can have it.
pub(super) fn length(document: &StoredDocument) -> Result<usize> {
    let is_possible = document.state.size <= crate::limits::LARGEST_MAX_FILE_BYTES as u64;
    let length = usize::try_from(document.state.size).ok().filter(|_| is_possible);
    length.ok_or_else(|| damaged(&format!("the size of {} is not possible", document.path)))
}

/// Packs texts. No text contains a byte that is not UTF-8, so it separates them.
pub(super) fn packed_texts(texts: &[String]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for text in texts {
        bytes.extend_from_slice(text.as_bytes());
        bytes.push(0xff);
    }
    bytes
}

/// Converts the result of [`packed_texts`] back; `None` if it is damaged.
pub(super) fn unpacked_texts(bytes: &[u8]) -> Option<Vec<String>> {
    let texts = bytes.split_inclusive(|byte| *byte == 0xff);
    texts
        .map(|text| Some(std::str::from_utf8(text.strip_suffix(&[0xff])?).ok()?.to_owned()))
        .collect()
}

/// Converts a size to the type of the server.
pub(super) fn number(value: u64) -> i64 {
    integer(usize::try_from(value).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_round_trip_and_damage_is_noticed() {
        for texts in [&[][..], &[""], &["a", "", "b\0\u{e9}"]] {
            let texts: Vec<String> = texts.iter().map(ToString::to_string).collect();
            assert_eq!(unpacked_texts(&packed_texts(&texts)).unwrap(), texts);
        }
        assert_eq!(unpacked_texts(b"a"), None);
        assert_eq!(unpacked_texts(b"\xfe\xff"), None);
    }
}
