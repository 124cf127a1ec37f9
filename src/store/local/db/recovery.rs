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

use super::content;
use super::pages::{BTreeKind, BTreeRecord, ColumnValue, Pages, RecordPlace};
use super::recovered_rows::{
    DocumentRow, MetaValue, RecoveredMetadata, is_content, meta_key, path_in,
};
use crate::codec::content::chunk as decompressed;
use crate::corpus::{IngestOptions, root_folder};
use crate::error::Result;
use crate::limits;

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

/// The possible places of each chunk, by its row id.
type Chunks = HashMap<i64, Vec<RecordPlace>>;

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
            if let Some(key) = meta_key(record, beginning) {
                let payload = self.whole(record, beginning);
                if let Some(value) = payload.and_then(|payload| MetaValue::of(record, &payload)) {
                    metas.entry(record.place.page()).or_default().insert(key.to_owned(), value);
                }
            } else if DocumentRow::recognizes(record) {
                let payload = self.whole(record, beginning);
                documents.extend(payload.map(|payload| DocumentRow::of(record, &payload)));
            } else if is_content(record, beginning) {
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
        self.documents
            .extend(rowless.filter_map(|(id, texts)| DocumentRow::only_in_indices(*id, texts)));
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

    /// Returns whether the end of the file is missing, so that nothing may tell which documents were there.
    pub(in crate::store) fn is_cut_off(&self) -> bool {
        self.pages.is_cut_off()
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

    /// Returns whether `bytes` belong to a document. They do if its row says so. They also do if their
    /// hash is on a damaged page, because the row was probably there. For a document without a readable
    /// row, all pages are searched.
    fn proves(&self, row: &DocumentRow, path: &str, bytes: &[u8]) -> bool {
        let hash = *blake3::hash(bytes).as_bytes();
        row.names(path, &hash, bytes.len() as u64)
            || self.is_on_a_page(&hash, self.damaged.iter().copied())
            || !row.is_readable() && self.is_anywhere(&hash)
    }

    /// Returns whether one of the pages with these numbers contains `hash`.
    fn is_on_a_page(&self, hash: &[u8], mut numbers: impl Iterator<Item = u32>) -> bool {
        numbers.any(|number| {
            let page = self.pages.page(number);
            page.is_some_and(|page| memchr::memmem::find(&page, hash).is_some())
        })
    }

    /// Returns whether any page contains `hash`. Returns `false` after [`limits::MAX_HASHES_SEARCHED`] calls, so that
    /// the time is linear in the size of the file.
    fn is_anywhere(&self, hash: &[u8]) -> bool {
        self.searched.set(self.searched.get() + 1);
        self.searched.get() <= limits::MAX_HASHES_SEARCHED
            && self.is_on_a_page(hash, self.pages.numbers())
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
        (is_known || root_folder(&self.path, &root).is_dir()).then_some(root)
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
