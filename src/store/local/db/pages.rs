//! Reads the pages of a database file without SQLite.
//!
//! SQLite reaches a row through its schema and the interior pages of the tree. If one of these is
//! damaged, SQLite cannot read the intact rows below it. This module reads each page separately, as
//! described in the file format (sqlite.org/fileformat.html, sections 1.5 to 2.1). Invariants:
//! reading any bytes neither panics nor uses unbounded memory. Nothing that is read is trusted; the
//! caller must verify it.

use std::collections::HashSet;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use super::header;
use crate::error::{Error, Result};
use crate::limits;

/// The maximum number of columns of a record. No table has as many.
const MAX_COLUMNS: usize = 64;

/// A database file.
#[derive(Debug)]
pub(super) struct Pages {
    file: File,
    /// Size of a page in bytes.
    bytes: usize,
    /// The number of pages. The first page has number 1.
    count: u32,
    /// Whether the file ends within a page.
    is_last_partial: bool,
}

/// The kind of a B-tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BTreeKind {
    /// A table B-tree: rows by row id.
    Table,
    /// An index B-tree: rows by their values.
    Index,
}

/// The place and the column types of a record.
#[derive(Clone, Debug)]
pub(super) struct BTreeRecord {
    pub(super) tree: BTreeKind,
    /// The row id, for a table. On a damaged page several row ids are possible.
    pub(super) ids: Vec<i64>,
    /// The serial type of each column (file format, section 2.1).
    pub(super) types: Vec<u64>,
    /// The place of the record.
    pub(super) place: RecordPlace,
}

/// The place and the length of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RecordPlace {
    page: u32,
    offset: u16,
    /// Size in bytes of the record header, which precedes the values.
    header: u16,
    /// Size of the record in bytes.
    length: u32,
    is_index: bool,
}

/// The value of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColumnValue<'a> {
    Null,
    Integer(i64),
    Text(&'a [u8]),
    Blob(&'a [u8]),
    Real,
}

impl Pages {
    /// Opens the database file at `path`.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let wrap = |error| Error::io(path, error);
        let mut file = File::open(path).map_err(wrap)?;
        let mut start = Vec::with_capacity(header::LENGTH);
        (&mut file).take(header::LENGTH as u64).read_to_end(&mut start).map_err(wrap)?;
        let bytes = header::page_bytes(&start).unwrap_or(header::PAGE_BYTES);
        let length = file.metadata().map_err(wrap)?.len();
        let count = u32::try_from(length.div_ceil(bytes as u64)).unwrap_or(u32::MAX - 1);
        Ok(Self { file, bytes, count, is_last_partial: length % bytes as u64 != 0 })
    }

    /// Returns the numbers of all pages.
    pub(super) fn numbers(&self) -> std::ops::RangeInclusive<u32> {
        1..=self.count
    }

    /// Reads a page. Bytes after the end of the file are zero. `None` if there is no such page or
    /// it cannot be read.
    pub(super) fn page(&self, number: u32) -> Option<Vec<u8>> {
        if !self.numbers().contains(&number) {
            return None;
        }
        let mut page = Vec::with_capacity(self.bytes);
        let start = u64::from(number - 1) * self.bytes as u64;
        (&self.file).seek(SeekFrom::Start(start)).ok()?;
        (&self.file).take(self.bytes as u64).read_to_end(&mut page).ok()?;
        page.resize(self.bytes, 0);
        Some(page)
    }

    /// Returns whether the end of the file is missing. A greater number of pages in the header does not
    /// prove that, because it may be damaged: another page must refer to one of them.
    pub(super) fn is_cut_off(&self) -> bool {
        let stated = self.page(1).and_then(|first| number(&first, header::PAGE_COUNT)).unwrap_or(0);
        let is_missing = |page: &u32| (self.count + 1..=stated).contains(page);
        let refers =
            |at| self.page(at).is_some_and(|page| self.children(at, &page).iter().any(is_missing));
        self.is_last_partial || stated > self.count && self.numbers().any(refers)
    }

    /// Returns the pages below an interior page of a B-tree, and the first pages of the B-trees that a page of
    /// the schema lists.
    fn children(&self, at: u32, page: &[u8]) -> Vec<u32> {
        let start = if at == 1 { header::LENGTH } else { 0 };
        let is_interior = matches!(page.get(start), Some(2 | 5));
        let cells = if is_interior { short(page, start + 3).unwrap_or(0) } else { 0 };
        let cells = (0..cells).filter_map(|cell| short(page, start + 12 + 2 * cell));
        let right = is_interior.then_some(start + 8);
        let below = cells.chain(right).filter_map(|pointer| number(page, pointer));
        let roots = self.records(at, page).into_iter().flatten().filter_map(|record| {
            let row = self.beginning(record.place, page).filter(|_| record.types.len() == 5)?;
            match (record.field(row, 0)?, record.field(row, 3)?) {
                (ColumnValue::Text(b"table" | b"index"), ColumnValue::Integer(root)) => {
                    u32::try_from(root).ok()
                }
                _ => None,
            }
        });
        below.chain(roots).collect()
    }

    /// Returns the unused pages; none if the freelist is inconsistent.
    pub(super) fn free(&self) -> HashSet<u32> {
        let first = self.page(1).unwrap_or_default();
        let (mut trunk, stated) =
            (number(&first, 32).unwrap_or(0), number(&first, 36).unwrap_or(0));
        let mut free = HashSet::new();
        while trunk != 0 {
            let Some(page) = self.page(trunk).filter(|_| free.insert(trunk)) else { break };
            let count = number(&page, 4).unwrap_or(0) as usize;
            let leaves =
                (0..count.min(self.bytes / 4)).filter_map(|leaf| number(&page, 8 + 4 * leaf));
            free.extend(leaves);
            trunk = number(&page, 0).unwrap_or(0);
        }
        if free.len() != stated as usize || !free.iter().all(|page| self.numbers().contains(page)) {
            free.clear();
        }
        free
    }

    /// Returns the overflow pages of a record.
    pub(super) fn overflow(&self, place: RecordPlace, page: &[u8]) -> Vec<u32> {
        let length = usize::try_from(place.length).unwrap_or(0);
        let local = self.local(length, place.is_index);
        let count = (length - local).div_ceil(self.bytes - 4);
        let mut pages = Vec::new();
        let mut next = number(page, usize::from(place.offset) + local).filter(|_| count > 0);
        while let Some(page) = next.filter(|_| pages.len() < count) {
            pages.push(page);
            next = self.page(page).and_then(|page| number(&page, 0));
        }
        pages
    }

    /// Returns the records that a page lists. An interior page of a table has none. `None` if the
    /// page is not a consistent B-tree page.
    pub(super) fn records(&self, number: u32, page: &[u8]) -> Option<Vec<BTreeRecord>> {
        let start = if number == 1 { header::LENGTH } else { 0 };
        let (tree, is_leaf) = match page.get(start)? {
            13 => (BTreeKind::Table, true),
            10 => (BTreeKind::Index, true),
            2 => (BTreeKind::Index, false),
            5 if self.is_interior(page, start) => return Some(Vec::new()),
            _ => return None,
        };
        let first = start + if is_leaf { 8 } else { 12 };
        self.listed(number, &Cells { page, start, first, tree, is_leaf })
    }

    /// Returns whether the right-most pointer of an interior page refers to an existing page.
    fn is_interior(&self, page: &[u8], start: usize) -> bool {
        number(page, start + 8).is_some_and(|right| self.numbers().contains(&right))
    }

    /// Returns the records that a page lists. `None` unless the records and the free space fill the
    /// page exactly.
    fn listed(&self, number: u32, cells: &Cells<'_>) -> Option<Vec<BTreeRecord>> {
        let &Cells { page, start, first, .. } = cells;
        let count = short(page, start + 3)?;
        let content = match short(page, start + 5)? {
            0 => 1 << 16,
            content => content,
        };
        let mut used = content.checked_sub(first + 2 * count)?;
        let mut records = Vec::with_capacity(count);
        for cell in 0..count {
            let at = short(page, first + 2 * cell).filter(|at| *at >= content)?;
            let (record, size) = self.cell(number, cells, at)?;
            used += size;
            records.push(record);
        }
        // Free blocks are linked in ascending order. Fragments are too small to contain a link.
        let mut block = short(page, start + 1)?;
        while block != 0 {
            used += short(page, block + 2)?;
            block = short(page, block).filter(|next| *next == 0 || *next > block)?;
        }
        used += usize::from(*page.get(start + 7)?);
        (first + 2 * count + used == page.len()).then_some(records)
    }

    /// Returns the record of the cell at `at`, and the size of the cell on this page in bytes.
    fn cell(&self, number: u32, cells: &Cells<'_>, at: usize) -> Option<(BTreeRecord, usize)> {
        let page = cells.page;
        let mut offset = at + if cells.is_leaf { 0 } else { 4 };
        let (length, size) = varint(page, offset)?;
        offset += size;
        let mut ids = Vec::new();
        if cells.tree == BTreeKind::Table {
            let (id, size) = varint(page, offset)?;
            offset += size;
            ids.push(id.cast_signed());
        }
        let (types, header, stated) = record_header(page, offset)?;
        let is_index = cells.tree == BTreeKind::Index;
        let local = self.local(usize::try_from(length).ok()?, is_index);
        let overflow = if local as u64 == length { 0 } else { 4 };
        let place = RecordPlace {
            page: number,
            offset: u16::try_from(offset).ok()?,
            header: u16::try_from(header).ok()?,
            length: u32::try_from(length).ok().filter(|_| stated == length)?,
            is_index,
        };
        // A cell takes at least as many bytes as a free block.
        let size = (offset + local + overflow - at).max(4);
        (at + size <= page.len())
            .then_some((BTreeRecord { tree: cells.tree, ids, types, place }, size))
    }

    /// Returns everything on an inconsistent page that may be a record.
    pub(super) fn records_anywhere(number: u32, page: &[u8]) -> Vec<BTreeRecord> {
        let mut records = Vec::new();
        for offset in 0..page.len() {
            let Some((types, header, length)) = record_header(page, offset) else { continue };
            let (Ok(start), Ok(header), Ok(length)) =
                (u16::try_from(offset), u16::try_from(header), u32::try_from(length))
            else {
                continue;
            };
            // The row id ends where the record begins.
            let begins = (1..=9).filter_map(|size| offset.checked_sub(size));
            let ids = begins.filter_map(|begin| {
                let (id, size) = varint(page, begin)?;
                (begin + size == offset).then_some(id.cast_signed())
            });
            let ids: Vec<i64> = ids.collect();
            for tree in [BTreeKind::Table, BTreeKind::Index] {
                let is_index = tree == BTreeKind::Index;
                let place = RecordPlace { page: number, offset: start, header, length, is_index };
                let ids = if is_index { Vec::new() } else { ids.clone() };
                records.push(BTreeRecord { tree, ids, types: types.clone(), place });
            }
        }
        records
    }

    /// Returns how many bytes of a record of `length` bytes are on its own page.
    fn local(&self, length: usize, is_index: bool) -> usize {
        let most = if is_index { (self.bytes - 12) * 64 / 255 - 23 } else { self.bytes - 35 };
        if length <= most {
            return length;
        }
        let least = (self.bytes - 12) * 32 / 255 - 23;
        let local = least + (length - least) % (self.bytes - 4);
        if local <= most { local } else { least }
    }

    /// Reads the bytes of a record. If `is_in_sequence` is set, the overflow pages are assumed to
    /// have consecutive numbers, and their links are not used.
    pub(super) fn payload(&self, place: RecordPlace, is_in_sequence: bool) -> Option<Vec<u8>> {
        let length =
            usize::try_from(place.length).ok().filter(|it| *it <= limits::MAX_ROW_BYTES)?;
        let page = self.page(place.page)?;
        let start = usize::from(place.offset);
        let local = self.local(length, place.is_index);
        let mut payload = page.get(start..start + local)?.to_vec();
        let mut next = if local < length { number(&page, start + local)? } else { 0 };
        while payload.len() < length {
            let page = self.page(next)?;
            let rest = (length - payload.len()).min(self.bytes - 4);
            payload.extend_from_slice(page.get(4..4 + rest)?);
            next = if is_in_sequence { next + 1 } else { number(&page, 0)? };
        }
        Some(payload)
    }

    /// Returns the bytes of a record that are on its own page, given that page: its header and some
    /// of its values.
    pub(super) fn beginning<'p>(&self, place: RecordPlace, page: &'p [u8]) -> Option<&'p [u8]> {
        let local = self.local(usize::try_from(place.length).ok()?, place.is_index);
        let start = usize::from(place.offset);
        page.get(start..(start + local).min(page.len()))
    }
}

/// A page with cells.
struct Cells<'a> {
    page: &'a [u8],
    /// The offset of the page header, and of the cell pointer array.
    start: usize,
    first: usize,
    tree: BTreeKind,
    is_leaf: bool,
}

impl RecordPlace {
    /// Returns the number of the page.
    pub(super) fn page(self) -> u32 {
        self.page
    }

    /// Returns the size of the record header in bytes.
    pub(super) fn header(self) -> usize {
        usize::from(self.header)
    }

    /// Returns the size of the record in bytes.
    pub(super) fn length(self) -> usize {
        usize::try_from(self.length).unwrap_or(usize::MAX)
    }
}

impl BTreeRecord {
    /// Returns the value of a column. `payload` must contain the record up to that column. `None`
    /// if it does not, or there is no such column.
    pub(super) fn field<'a>(&self, payload: &'a [u8], column: usize) -> Option<ColumnValue<'a>> {
        let mut start = usize::from(self.place.header);
        for before in self.types.get(..column)? {
            start += size_of_type(*before)?;
        }
        let kind = *self.types.get(column)?;
        let bytes = payload.get(start..start + size_of_type(kind)?)?;
        Some(match kind {
            0 => ColumnValue::Null,
            7 => ColumnValue::Real,
            8 => ColumnValue::Integer(0),
            9 => ColumnValue::Integer(1),
            1..=6 => {
                let sign = if bytes.first().is_some_and(|byte| *byte >= 0x80) { -1 } else { 0 };
                ColumnValue::Integer(
                    bytes.iter().fold(sign, |value, byte| value << 8 | i64::from(*byte)),
                )
            }
            kind if kind % 2 == 0 => ColumnValue::Blob(bytes),
            _ => ColumnValue::Text(bytes),
        })
    }
}

/// Parses the record header at `offset`. Returns the serial types, the size of the header, and the
/// size of the record in bytes.
fn record_header(page: &[u8], offset: usize) -> Option<(Vec<u64>, usize, u64)> {
    let (header, mut at) = varint(page, offset)?;
    let most = page.len() - offset;
    let header = usize::try_from(header).ok().filter(|header| (2..=most).contains(header))?;
    let (mut types, mut length) = (Vec::new(), header as u64);
    while at < header {
        let (kind, size) = varint(page, offset + at)?;
        at += size;
        length = length.checked_add(size_of_type(kind)? as u64)?;
        types.push(kind);
        if types.len() > MAX_COLUMNS {
            return None;
        }
    }
    (at == header).then_some((types, header, length))
}

/// Returns the size in bytes of a value of a serial type; `None` if the type is not valid or the
/// value is too large.
fn size_of_type(kind: u64) -> Option<usize> {
    match kind {
        0 | 8 | 9 => Some(0),
        1..=4 => usize::try_from(kind).ok(),
        5 => Some(6),
        6 | 7 => Some(8),
        10 | 11 => None,
        kind => usize::try_from((kind - 12) / 2).ok().filter(|size| *size <= limits::MAX_ROW_BYTES),
    }
}

/// Reads a variable-length integer. Returns its value and its size of one to nine bytes.
fn varint(bytes: &[u8], offset: usize) -> Option<(u64, usize)> {
    let mut value = 0_u64;
    for size in 0..8 {
        let byte = *bytes.get(offset + size)?;
        value = value << 7 | u64::from(byte & 0x7f);
        if byte < 0x80 {
            return Some((value, size + 1));
        }
    }
    Some((value << 8 | u64::from(*bytes.get(offset + 8)?), 9))
}

/// Reads a big-endian integer of two bytes.
fn short(bytes: &[u8], offset: usize) -> Option<usize> {
    let bytes = bytes.get(offset..offset.checked_add(2)?)?;
    Some(usize::from(u16::from_be_bytes(bytes.try_into().ok()?)))
}

/// Reads a big-endian integer of four bytes.
fn number(bytes: &[u8], offset: usize) -> Option<u32> {
    let bytes = bytes.get(offset..offset.checked_add(4)?)?;
    Some(u32::from_be_bytes(bytes.try_into().ok()?))
}
