//! Reading the intact parts of a store that may be damaged anywhere.
//!
//! The rows of each table are recognized by their column types and found on any page. Neither the
//! schema of the file nor its interior pages are used. Invariants: the bytes of a document are
//! returned only if their hash matches a stored one, with a path on which two places in the file
//! agree. Such a document is always found.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::pages::{BTreeKind, BTreeRecord, ColumnValue, Pages, RecordPlace};
use super::{content, meta};
use crate::codec::content::chunk as decompressed;
use crate::corpus::{IngestOptions, root_folder};
use crate::error::Result;
use crate::limits;
use crate::links::split_extension;
use crate::prepare::checksums::{self, Checksums, DocumentPart};
use crate::prepare::name_key;

/// The SQL statements by which a file with a damaged header is recognized as a store. At least half
/// of them must be on the first pages.
const STATEMENTS: [&[u8]; 6] = [
    b"CREATE TABLE meta (",
    b"CREATE TABLE content (",
    b"CREATE TABLE link_key (",
    b"CREATE TABLE ldmd_section (",
    b"CREATE TABLE edit_intent (",
    b"CREATE INDEX document_name_key ON document",
];

/// The number of pages at the beginning of the file on which the schema is searched.
const SCHEMA_PAGES: usize = 64;

/// Maximum number of documents whose hash is searched for on every page.
const MOST_SEARCHED: usize = 256;

/// Returns whether the file at `path` is a store, however damaged.
pub(super) fn is_store(path: &Path) -> bool {
    let Ok(pages) = Pages::open(path) else { return false };
    let mut known = [false; STATEMENTS.len()];
    for page in pages.numbers().take(SCHEMA_PAGES).filter_map(|number| pages.page(number)) {
        for (statement, is_known) in STATEMENTS.iter().zip(&mut known) {
            *is_known |= memchr::memmem::find(&page, statement).is_some();
        }
    }
    known.into_iter().filter(|is_known| *is_known).count() * 2 >= STATEMENTS.len()
}

/// A store of which the intact parts are read.
pub(in crate::store) struct DamagedStore {
    pages: Pages,
    path: PathBuf,
    free: HashSet<u32>,
    /// The numbers of inconsistent pages, ascending.
    damaged: Vec<u32>,
    documents: Vec<DocumentRow>,
    chunks: Chunks,
    /// Documents that have bytes but no row, by the hash of these bytes. `claimed` are the hashes
    /// of bytes that turned out to belong to another row.
    strays: HashMap<[u8; 32], i64>,
    claimed: HashSet<[u8; 32]>,
    /// The number of documents whose hash was searched for on every page.
    searched: Cell<usize>,
    meta: RecoveredMetadata,
}

/// What is known about a document.
#[derive(Debug, Default)]
struct DocumentRow {
    /// The row id; several candidates if its page is damaged.
    ids: Vec<i64>,
    /// The path, if two places in the file agree on it.
    path: Option<String>,
    /// The path or the name key as it was read, possibly damaged; for reporting the document.
    reported: Option<String>,
    hash: Option<[u8; 32]>,
    /// Size of the document in bytes.
    size: u64,
    /// Whether the document contains bytes that are not UTF-8, and whether it contains LDMD
    /// markers.
    marks: [bool; 2],
    checksums: Option<Checksums>,
    /// All bytes of the row as it was read, if its path is not certain. They may contain the hash and
    /// the path at other offsets than the damaged header of the row says.
    payload: Option<Vec<u8>>,
}

/// The possible places of each chunk, by its row id.
type Chunks = HashMap<i64, Vec<RecordPlace>>;

/// The metadata of the store that could be read.
#[derive(Default)]
struct RecoveredMetadata {
    values: BTreeMap<String, MetaValue>,
    has_valid_checksum: bool,
}

#[derive(Clone)]
enum MetaValue {
    Integer(i64),
    Bytes(Vec<u8>),
}

/// A document of a damaged store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::store) enum RecoveredDocument {
    /// The document is intact.
    Whole {
        /// The path.
        path: String,
        /// blake3 of the bytes.
        hash: [u8; 32],
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// The document is damaged. The path and the hash are given if known.
    Damaged(Option<String>, Option<[u8; 32]>),
}

impl DamagedStore {
    /// Reads the file at `read`, which is the store at `path` or a copy of it. Nothing in it is
    /// trusted.
    pub(in crate::store) fn open(path: &Path, read: &Path) -> Result<Self> {
        let pages = Pages::open(read)?;
        let mut old = Self {
            free: pages.free(),
            pages,
            path: path.to_owned(),
            damaged: Vec::new(),
            documents: Vec::new(),
            chunks: Chunks::new(),
            strays: HashMap::new(),
            claimed: HashSet::new(),
            searched: Cell::new(0),
            meta: RecoveredMetadata::default(),
        };
        old.find_damaged_pages();
        old.read_rows();
        old.read_paths();
        old.correct_ids();
        old.forget_older();
        old.find_strays();
        Ok(old)
    }

    /// Finds the inconsistent pages. Overflow pages are not B-tree pages, so they are excluded.
    fn find_damaged_pages(&mut self) {
        let (mut odd, mut overflow) = (Vec::new(), HashSet::new());
        for number in self.pages.numbers().filter(|number| !self.free.contains(number)) {
            let Some(page) = self.pages.page(number) else { continue };
            match self.pages.records(number, &page) {
                Some(records) => {
                    let places = records.iter().map(|record| record.place);
                    overflow.extend(places.flat_map(|place| self.pages.overflow(place, &page)));
                }
                None => odd.push(number),
            }
        }
        odd.retain(|number| !overflow.contains(number));
        self.damaged = odd;
    }

    /// Calls `act` with every record on the used pages.
    fn each_record(&self, mut act: impl FnMut(&BTreeRecord, &[u8])) {
        for number in self.pages.numbers().filter(|number| !self.free.contains(number)) {
            let Some(page) = self.pages.page(number) else { continue };
            let records = match self.pages.records(number, &page) {
                Some(records) => records,
                None if self.damaged.binary_search(&number).is_ok() => {
                    Pages::records_anywhere(number, &page)
                }
                None => continue,
            };
            for record in records {
                if let Some(beginning) = self.pages.beginning(record.place, &page) {
                    act(&record, beginning);
                }
            }
        }
    }

    fn read_rows(&mut self) {
        let mut documents = Vec::new();
        let mut chunks = Chunks::new();
        let mut metas: BTreeMap<u32, BTreeMap<String, MetaValue>> = BTreeMap::new();
        self.each_record(|record, beginning| {
            if let Some((key, value)) = self.meta_row(record, beginning) {
                metas.entry(record.place.page()).or_default().insert(key, value);
            } else if let Some(row) = self.document_row(record, beginning) {
                documents.push(row);
            } else if is_chunk(record, beginning) {
                for id in &record.ids {
                    chunks.entry(*id).or_default().push(record.place);
                }
            }
        });
        self.documents = documents;
        self.chunks = chunks;
        self.meta = RecoveredMetadata::of(metas.into_values().collect());
    }

    /// Returns all bytes of a record. `beginning` is used if it is complete.
    fn whole<'a>(&self, record: &BTreeRecord, beginning: &'a [u8]) -> Option<Cow<'a, [u8]>> {
        if beginning.len() >= record.place.length() {
            return Some(Cow::Borrowed(beginning));
        }
        self.pages.payload(record.place, false).map(Cow::Owned)
    }

    /// Parses a row of the table `document`; see `migrations/0001_documents.sql`.
    fn document_row(&self, record: &BTreeRecord, beginning: &[u8]) -> Option<DocumentRow> {
        const COLUMNS: usize = 15;
        let types = record.types.get(..COLUMNS)?;
        let is_text = |kind: u64| kind >= 13 && kind % 2 == 1;
        let are_texts = types[1..3].iter().filter(|kind| is_text(**kind)).count();
        let are_numbers = types[4..].iter().filter(|kind| (1..=9).contains(*kind)).count();
        // At most one column may be damaged.
        let has_hash = types[3] == 12 + 2 * 32;
        let wrong = 3 - are_texts - usize::from(has_hash) + (COLUMNS - 4 - are_numbers);
        if record.tree != BTreeKind::Table || wrong > 1 {
            return None;
        }
        let beginning = &self.whole(record, beginning)?;
        let text = |column| match record.field(beginning, column) {
            // Bytes that are not UTF-8 are removed. The checksum shows whether the text without
            // them is correct.
            Some(ColumnValue::Text(bytes)) => {
                Some(String::from_utf8_lossy(bytes).replace(char::REPLACEMENT_CHARACTER, ""))
            }
            _ => None,
        };
        let is_set = |column| matches!(record.field(beginning, column), Some(ColumnValue::Integer(n)) if n != 0);
        let hash = match record.field(beginning, 3) {
            Some(ColumnValue::Blob(bytes)) => bytes.try_into().ok(),
            _ => None,
        };
        let checksums = match record.field(beginning, COLUMNS) {
            Some(ColumnValue::Blob(bytes)) => Checksums::known(bytes),
            _ => None,
        };
        let size = match record.field(beginning, 4) {
            Some(ColumnValue::Integer(size)) => size.unsigned_abs(),
            _ => 0,
        };
        let (path, key) = (text(1), text(2));
        let mut row = DocumentRow {
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
        row.payload = row.path.is_none().then(|| beginning.to_vec());
        Some(row)
    }

    /// Parses a row of the table `meta`.
    fn meta_row(&self, record: &BTreeRecord, beginning: &[u8]) -> Option<(String, MetaValue)> {
        if record.tree != BTreeKind::Index || record.types.len() != 2 {
            return None;
        }
        let Some(ColumnValue::Text(key)) = record.field(beginning, 0) else { return None };
        let key = std::str::from_utf8(key).ok().filter(|key| meta::KEYS.contains(key))?;
        let payload = self.whole(record, beginning)?;
        let value = match record.field(&payload, 1)? {
            ColumnValue::Integer(number) => MetaValue::Integer(number),
            ColumnValue::Text(bytes) | ColumnValue::Blob(bytes) => MetaValue::Bytes(bytes.to_vec()),
            ColumnValue::Null | ColumnValue::Real => return None,
        };
        Some((key.to_owned(), value))
    }

    /// Finds the paths that could not be read from the rows, in the index B-trees.
    fn read_paths(&mut self) {
        let certain: HashSet<i64> =
            self.documents.iter().filter_map(DocumentRow::certain_id).collect();
        // The texts under which indices contain each of the other documents: its path, its name
        // key, its tags and so on.
        let mut texts: BTreeMap<i64, BTreeSet<String>> = BTreeMap::new();
        self.each_record(|record, beginning| {
            if record.tree != BTreeKind::Index || record.types.len() != 2 {
                return;
            }
            if let Some(payload) = self.whole(record, beginning)
                && let Some(ColumnValue::Text(text)) = record.field(&payload, 0)
                && let Some(ColumnValue::Integer(id)) = record.field(&payload, 1)
                && !certain.contains(&id)
                && let Ok(text) = std::str::from_utf8(text)
            {
                texts.entry(id).or_default().insert(text.to_owned());
            }
        });
        let mut with_row: HashSet<i64> = certain;
        for row in &mut self.documents {
            with_row.extend(&row.ids);
            if row.path.is_none() {
                let mut texts = row.ids.iter().filter_map(|id| texts.get(id));
                row.path = texts.find_map(|texts| path_in(texts, row));
            }
        }
        let rowless = texts.iter().filter(|(id, _)| !with_row.contains(id));
        self.documents.extend(rowless.filter_map(|(id, texts)| {
            let path = Some(path_in(texts, &DocumentRow::default())?);
            Some(DocumentRow { ids: vec![*id], path, ..DocumentRow::default() })
        }));
    }

    /// Corrects the ids of rows whose id is damaged: an index has the path of such a row under another
    /// id, and the bytes under that id have the hash of the row.
    fn correct_ids(&mut self) {
        let rowless: HashMap<&str, i64> = self
            .documents
            .iter()
            .filter_map(|row| match (&row.path, row.hash, row.ids.as_slice()) {
                (Some(path), None, [id]) => Some((path.as_str(), *id)),
                _ => None,
            })
            .collect();
        let mut corrections = HashMap::new();
        for (number, row) in self.documents.iter().enumerate() {
            let (Some(path), Some(hash)) = (&row.path, row.hash) else { continue };
            let Some(id) = rowless.get(path.as_str()).copied() else { continue };
            if self.bytes(id, |bytes| *blake3::hash(bytes).as_bytes() == hash).is_some() {
                corrections.insert(number, id);
            }
        }
        for (number, id) in &corrections {
            if let Some(row) = self.documents.get_mut(*number) {
                row.ids = vec![*id];
            }
        }
        let corrected: HashSet<i64> = corrections.into_values().collect();
        self.documents
            .retain(|row| row.hash.is_some() || !row.ids.iter().any(|id| corrected.contains(id)));
    }

    /// If several documents have the same path, keeps the one with the highest id, which replaced
    /// the others.
    fn forget_older(&mut self) {
        let mut last: HashMap<String, i64> = HashMap::new();
        for row in &self.documents {
            if let Some(path) = &row.path {
                let id = last.entry(path.clone()).or_default();
                *id = row.last_id().max(*id);
            }
        }
        self.documents.retain(|row| {
            row.path.as_ref().is_none_or(|path| last.get(path) == Some(&row.last_id()))
        });
    }

    fn find_strays(&mut self) {
        let known: HashSet<i64> =
            self.documents.iter().flat_map(|row| row.ids.iter().copied()).collect();
        let ids: BTreeSet<i64> =
            self.chunks.keys().map(|place| content::document_of(*place)).collect();
        let mut strays = HashMap::new();
        for id in ids.into_iter().filter(|id| !known.contains(id)) {
            self.bytes(id, |bytes| {
                // A document ends with a shorter chunk. Bytes that do not are a part of one, whose row
                // may have been found.
                if bytes.len() % limits::CONTENT_CHUNK_BYTES != 0 {
                    strays.insert(*blake3::hash(bytes).as_bytes(), id);
                }
                false
            });
        }
        self.strays = strays;
    }

    /// Returns the number of documents.
    pub(in crate::store) fn count(&self) -> usize {
        self.documents.len()
    }

    /// Returns the hashes of stored bytes that belong to no known document.
    pub(in crate::store) fn unclaimed(&self) -> impl Iterator<Item = [u8; 32]> + '_ {
        self.strays.keys().filter(|hash| !self.claimed.contains(*hash)).copied()
    }

    /// Returns the document with this number, counted from 0.
    pub(in crate::store) fn document(&mut self, number: usize) -> RecoveredDocument {
        let Some(row) = self.documents.get(number) else {
            return RecoveredDocument::Damaged(None, None);
        };
        let DocumentRow { path, reported, hash, .. } = row;
        let bytes = path.as_ref().and_then(|path| {
            let own = row
                .ids
                .iter()
                .find_map(|id| self.bytes(*id, |bytes| self.proves(row, path, bytes)));
            own.or_else(|| self.bytes(*self.strays.get(hash.as_ref()?)?, |_| true))
        });
        match (path, bytes) {
            (Some(path), Some(bytes)) => {
                let (path, hash) = (path.clone(), *blake3::hash(&bytes).as_bytes());
                self.claimed.insert(hash);
                RecoveredDocument::Whole { path, hash, bytes }
            }
            _ => {
                let reported =
                    path.as_ref().or(reported.as_ref()).filter(|reported| !reported.ends_with('/'));
                RecoveredDocument::Damaged(reported.cloned(), *hash)
            }
        }
    }

    /// Returns whether `bytes` belong to a document. They do if they have the hash in its row, or
    /// the checksum of its row is correct with their hash. They also do if their hash is anywhere in
    /// the row, or on a damaged page, because the row was probably there. For a document without a
    /// readable row, all pages are searched.
    fn proves(&self, row: &DocumentRow, path: &str, bytes: &[u8]) -> bool {
        let hash = *blake3::hash(bytes).as_bytes();
        let [is_lossy, has_ldmd] = row.marks;
        let length = bytes.len() as u64;
        let checksum = || checksums::row(path, &hash, length, is_lossy, has_ldmd);
        row.hash == Some(hash)
            || row.checksums.is_some_and(|checksums| checksums.is(DocumentPart::Row, checksum))
            || row.contains(&hash)
            || self.is_on_a_page(&hash, self.damaged.iter().copied())
            || row.payload.is_none() && row.hash.is_none() && self.is_anywhere(&hash)
    }

    /// Returns whether one of the pages with these numbers contains `hash`.
    fn is_on_a_page(&self, hash: &[u8], mut numbers: impl Iterator<Item = u32>) -> bool {
        numbers.any(|number| {
            let page = self.pages.page(number);
            page.is_some_and(|page| memchr::memmem::find(&page, hash).is_some())
        })
    }

    /// Returns whether any page contains `hash`. Returns `false` after [`MOST_SEARCHED`] calls, so that
    /// the time is linear in the size of the file.
    fn is_anywhere(&self, hash: &[u8]) -> bool {
        self.searched.set(self.searched.get() + 1);
        self.searched.get() <= MOST_SEARCHED && self.is_on_a_page(hash, self.pages.numbers())
    }

    /// Returns the bytes of a document from its chunks, if `is_it` accepts them.
    fn bytes(&self, id: i64, mut is_it: impl FnMut(&[u8]) -> bool) -> Option<Vec<u8>> {
        let places = |place| self.chunks.get(&place).map_or(&[][..], Vec::as_slice);
        // Several rows have the same row id only if a page is damaged.
        let choices = places(content::places(id).start).len().max(1);
        let ways = (0..choices).flat_map(|choice| [(choice, false), (choice, true)]);
        ways.into_iter().find_map(|(choice, is_in_sequence)| {
            let mut bytes = Vec::new();
            for place in content::places(id) {
                let rows = places(place);
                let Some(row) = rows.get(choice).or(rows.last()) else { break };
                let Some(payload) = self.pages.payload(*row, is_in_sequence) else { break };
                let Some(chunk) = decompressed(payload.get(row.header()..)?) else { break };
                bytes.extend_from_slice(&chunk);
                if chunk.len() < limits::CONTENT_CHUNK_BYTES
                    || bytes.len() >= limits::LARGEST_MAX_FILE_BYTES
                {
                    break;
                }
            }
            Some(bytes).filter(|bytes| is_it(bytes))
        })
    }

    /// Returns the root, relative to the folder of the store. The value is accepted if its checksum
    /// is correct, the store has no checksum of it, or the folder exists.
    pub(in crate::store) fn root(&self) -> Option<String> {
        let root = String::from_utf8(self.meta.bytes("root")?.to_vec()).ok()?;
        let is_known = self.meta.has_valid_checksum || self.meta.bytes("seal").is_none();
        (is_known || root_folder(Some(&self.path), &root).is_dir()).then_some(root)
    }

    /// Returns the options of the last ingest, if they can be read.
    pub(in crate::store) fn options(&self) -> Option<IngestOptions> {
        serde_json::from_slice(self.meta.bytes("options")?).ok()
    }

    /// Returns whether `other`, which was read with a log, is another store. Damage may change a
    /// few bits of the identity.
    pub(in crate::store) fn is_another_store(&self, other: &Self) -> bool {
        const DAMAGED_BITS: u32 = 8;
        match (self.meta.bytes("identity"), other.meta.bytes("identity")) {
            (Some(own), Some(others)) if own.len() == others.len() => {
                let bits = own.iter().zip(others).map(|(one, other)| (one ^ other).count_ones());
                bits.sum::<u32>() > DAMAGED_BITS
            }
            // The log of the first ingest of another store contains all pages of that store.
            (own, _) => own.is_some(),
        }
    }

    /// Returns the generation; 0 if it cannot be read.
    pub(in crate::store) fn generation(&self) -> i64 {
        match self.meta.values.get("generation") {
            Some(MetaValue::Integer(generation)) => (*generation).clamp(0, i64::MAX / 2),
            _ => 0,
        }
    }
}

impl DocumentRow {
    /// Returns the id, if both the id and the path are certain.
    fn certain_id(&self) -> Option<i64> {
        self.path.as_ref()?;
        match self.ids.as_slice() {
            [id] => Some(*id),
            _ => None,
        }
    }

    /// Returns whether the checksum of the row is correct with this path.
    fn has_checksum_of(&self, path: &str) -> bool {
        let (Some(hash), [is_lossy, has_ldmd]) = (&self.hash, self.marks) else { return false };
        let checksum = || checksums::row(path, hash, self.size, is_lossy, has_ldmd);
        self.checksums.is_some_and(|checksums| checksums.is(DocumentPart::Row, checksum))
    }

    /// Returns whether the bytes of a row without a certain path contain `part`.
    fn contains(&self, part: &[u8]) -> bool {
        let payload = self.payload.as_deref();
        payload.is_some_and(|payload| memchr::memmem::find(payload, part).is_some())
    }

    /// Returns the highest of the possible ids.
    fn last_id(&self) -> i64 {
        self.ids.iter().copied().max().unwrap_or(0)
    }
}

/// Returns the path among the `texts` under which indices contain a document, unless its row
/// contradicts it.
fn path_in(texts: &BTreeSet<String>, row: &DocumentRow) -> Option<String> {
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

impl RecoveredMetadata {
    /// Chooses between the rows of several pages: those with a correct checksum, or else the most
    /// rows.
    fn of(mut pages: Vec<BTreeMap<String, MetaValue>>) -> Self {
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

    fn bytes(&self, key: &str) -> Option<&[u8]> {
        match self.values.get(key) {
            Some(MetaValue::Bytes(bytes)) => Some(bytes),
            _ => None,
        }
    }
}

/// Returns whether a record is a row of the table `content`. Only that table has blobs compressed
/// with zstd.
fn is_chunk(record: &BTreeRecord, beginning: &[u8]) -> bool {
    const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
    let is_blob = matches!(record.types.as_slice(), [0, kind] if *kind >= 12 && kind % 2 == 0);
    let header = beginning.len().min(record.place.header());
    record.tree == BTreeKind::Table && is_blob && beginning[header..].starts_with(&MAGIC)
}
