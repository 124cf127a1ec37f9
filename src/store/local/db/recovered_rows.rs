//! The rows of a damaged store: how a record is recognized, and what can be read of it.
//!
//! Invariant: a row is recognized by the types of its columns alone, so neither the schema nor the page that
//! the row should be on is needed.

use std::collections::{BTreeMap, BTreeSet};

use super::meta;
use super::pages::{BTreeKind, BTreeRecord, ColumnValue};
use crate::codec::content::is_chunk;
use crate::links::split_extension;
use crate::prepare::checksums::{self, Checksums, DocumentPart};
use crate::prepare::name_key;

/// The number of columns of the table `document` before its checksums.
const COLUMNS: usize = 15;

/// What is known about a document.
#[derive(Debug, Default)]
pub(super) struct DocumentRow {
    /// The row id; several candidates if its page is damaged.
    pub(super) ids: Vec<i64>,
    /// The path, if two places in the file agree on it.
    pub(super) path: Option<String>,
    /// The path or the name key as it was read, possibly damaged; for reporting the document.
    pub(super) reported: Option<String>,
    pub(super) hash: Option<[u8; 32]>,
    /// Size of the document in bytes.
    pub(super) size: u64,
    /// Whether the document contains bytes that are not UTF-8, and whether it contains LDMD
    /// markers.
    marks: [bool; 2],
    checksums: Option<Checksums>,
    /// All bytes of the row as it was read, if its path is not certain. They may contain the hash and
    /// the path at other offsets than the damaged header of the row says.
    payload: Option<Vec<u8>>,
}

impl DocumentRow {
    /// Returns whether a record is a row of the table `document`; see `migrations/0001_documents.sql`. At most one
    /// column may be damaged.
    pub(super) fn recognizes(record: &BTreeRecord) -> bool {
        let Some(types) = record.types.get(..COLUMNS) else { return false };
        let is_text = |kind: u64| kind >= 13 && kind % 2 == 1;
        let are_texts = types[1..3].iter().filter(|kind| is_text(**kind)).count();
        let are_numbers = types[4..].iter().filter(|kind| (1..=9).contains(*kind)).count();
        let has_hash = types[3] == 12 + 2 * 32;
        let wrong = 3 - are_texts - usize::from(has_hash) + (COLUMNS - 4 - are_numbers);
        record.tree == BTreeKind::Table && wrong <= 1
    }

    /// Parses a row with the bytes `payload`.
    pub(super) fn of(record: &BTreeRecord, payload: &[u8]) -> Self {
        let text = |column| match record.field(payload, column) {
            // Bytes that are not UTF-8 are removed. The checksum shows whether the text without
            // them is correct.
            Some(ColumnValue::Text(bytes)) => {
                Some(String::from_utf8_lossy(bytes).replace(char::REPLACEMENT_CHARACTER, ""))
            }
            _ => None,
        };
        let is_set = |column| matches!(record.field(payload, column), Some(ColumnValue::Integer(n)) if n != 0);
        let hash = match record.field(payload, 3) {
            Some(ColumnValue::Blob(bytes)) => bytes.try_into().ok(),
            _ => None,
        };
        let checksums = match record.field(payload, COLUMNS) {
            Some(ColumnValue::Blob(bytes)) => Checksums::known(bytes),
            _ => None,
        };
        let size = match record.field(payload, 4) {
            Some(ColumnValue::Integer(size)) => size.unsigned_abs(),
            _ => 0,
        };
        let (path, key) = (text(1), text(2));
        let mut row = Self {
            ids: record.ids.clone(),
            path: None,
            reported: path.or(key),
            hash,
            size,
            marks: [is_set(12), is_set(13)],
            checksums,
            payload: None,
        };
        row.path = row.reported.clone().filter(|path| row.has_checksum_of(path));
        row.payload = row.path.is_none().then(|| payload.to_vec());
        row
    }

    /// Returns a document that has no row, with the path among the `texts` under which indices contain it.
    pub(super) fn only_in_indices(id: i64, texts: &BTreeSet<String>) -> Option<Self> {
        let path = path_in(texts, &Self::default())?;
        Some(Self { ids: vec![id], path: Some(path), ..Self::default() })
    }

    /// Returns the id, if both the id and the path are certain.
    pub(super) fn certain_id(&self) -> Option<i64> {
        self.path.as_ref()?;
        match self.ids.as_slice() {
            [id] => Some(*id),
            _ => None,
        }
    }

    /// Returns whether the checksum of the row is correct with this path.
    fn has_checksum_of(&self, path: &str) -> bool {
        self.hash.is_some_and(|hash| self.has_checksum_with(path, &hash, self.size))
    }

    fn has_checksum_with(&self, path: &str, hash: &[u8; 32], size: u64) -> bool {
        let [is_lossy, has_ldmd] = self.marks;
        let checksum = || checksums::row(path, hash, size, is_lossy, has_ldmd);
        self.checksums.is_some_and(|checksums| checksums.is(DocumentPart::Row, checksum))
    }

    /// Returns whether the row belongs to bytes of this hash and size, with this path: it has the hash, its
    /// checksum is correct with it, or the hash is anywhere in its bytes.
    pub(super) fn names(&self, path: &str, hash: &[u8; 32], size: u64) -> bool {
        self.hash.as_ref() == Some(hash)
            || self.has_checksum_with(path, hash, size)
            || self.contains(hash)
    }

    /// Returns whether the row itself was read, and not only an entry of an index.
    pub(super) fn is_readable(&self) -> bool {
        self.payload.is_some() || self.hash.is_some()
    }

    /// Returns whether the bytes of a row without a certain path contain `part`.
    fn contains(&self, part: &[u8]) -> bool {
        let payload = self.payload.as_deref();
        payload.is_some_and(|payload| memchr::memmem::find(payload, part).is_some())
    }

    /// Returns the highest of the possible ids.
    pub(super) fn last_id(&self) -> i64 {
        self.ids.iter().copied().max().unwrap_or(0)
    }
}

/// Returns the path among the `texts` under which indices contain a document, unless its row
/// contradicts it.
pub(super) fn path_in(texts: &BTreeSet<String>, row: &DocumentRow) -> Option<String> {
    if let Some(proven) = texts.iter().find(|path| row.has_checksum_of(path)) {
        return Some(proven.clone());
    }
    // A name key ends with `/`, and a path does not.
    let is_path = |text: &&String| !text.ends_with('/');
    let reported = row.reported.as_ref().filter(is_path);
    let key_of = |path: &str| name_key(split_extension(path).0);
    let agrees = |path: &&String| {
        let key = key_of(path);
        let is_contradicted = reported.is_some_and(|reported| key_of(reported) == key);
        let has_same_key = texts.contains(&key) || row.reported.as_ref() == Some(&key);
        has_same_key && (!is_contradicted || row.contains(path.as_bytes()))
    };
    // A tag can be the path without its extension.
    let longest =
        texts.iter().filter(|text| is_path(text) && agrees(text)).max_by_key(|path| path.len());
    longest.or(reported.filter(|reported| texts.contains(*reported))).cloned()
}

/// The metadata of the store that could be read.
#[derive(Default)]
pub(super) struct RecoveredMetadata {
    pub(super) values: BTreeMap<String, MetaValue>,
    pub(super) has_valid_checksum: bool,
}

/// A value of the metadata.
#[derive(Clone)]
pub(super) enum MetaValue {
    Integer(i64),
    Bytes(Vec<u8>),
}

impl RecoveredMetadata {
    /// Chooses between the rows of several pages: those with a correct checksum, or else the most
    /// rows.
    pub(super) fn of(mut pages: Vec<BTreeMap<String, MetaValue>>) -> Self {
        pages.sort_by_key(BTreeMap::len);
        let has_valid_checksum = |values: &BTreeMap<String, MetaValue>| {
            let fields = values.iter().map(|(key, value)| match value {
                MetaValue::Integer(number) => (key.as_str(), number.to_le_bytes().to_vec()),
                MetaValue::Bytes(bytes) => (key.as_str(), bytes.clone()),
            });
            let checksum = meta::checksum(fields);
            matches!(values.get("seal"), Some(MetaValue::Bytes(stored)) if **stored == checksum)
        };
        if let Some(values) = pages.iter().rev().find(|values| has_valid_checksum(values)) {
            return Self { values: values.clone(), has_valid_checksum: true };
        }
        Self { values: pages.pop().unwrap_or_default(), has_valid_checksum: false }
    }

    /// Returns the value of a key, if it is a text or a blob.
    pub(super) fn bytes(&self, key: &str) -> Option<&[u8]> {
        match self.values.get(key) {
            Some(MetaValue::Bytes(bytes)) => Some(bytes),
            _ => None,
        }
    }
}

/// Returns the key of a record if it is a row of the table `meta`.
pub(super) fn meta_key<'a>(record: &BTreeRecord, beginning: &'a [u8]) -> Option<&'a str> {
    if record.tree != BTreeKind::Index || record.types.len() != 2 {
        return None;
    }
    let Some(ColumnValue::Text(key)) = record.field(beginning, 0) else { return None };
    std::str::from_utf8(key).ok().filter(|key| meta::KEYS.contains(key))
}

impl MetaValue {
    /// Parses the value of a row of the table `meta` with the bytes `payload`.
    pub(super) fn of(record: &BTreeRecord, payload: &[u8]) -> Option<Self> {
        match record.field(payload, 1)? {
            ColumnValue::Integer(number) => Some(Self::Integer(number)),
            ColumnValue::Text(bytes) | ColumnValue::Blob(bytes) => {
                Some(Self::Bytes(bytes.to_vec()))
            }
            ColumnValue::Null | ColumnValue::Real => None,
        }
    }
}

/// Returns whether a record is a row of the table `content`. Only that table has blobs
/// that begin like a chunk.
pub(super) fn is_content(record: &BTreeRecord, beginning: &[u8]) -> bool {
    let is_blob = matches!(record.types.as_slice(), [0, kind] if *kind >= 12 && kind % 2 == 0);
    let header = beginning.len().min(record.place.header());
    record.tree == BTreeKind::Table && is_blob && is_chunk(&beginning[header..])
}
