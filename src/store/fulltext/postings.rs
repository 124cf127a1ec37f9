//! The documents of each trigram: a component of every segment of the index, written, merged and
//! removed with it.
//!
//! Half of all terms of an index would be trigrams, each once a document and without position, and
//! tantivy's own postings spend on such a term what they spend on any other. Here they are gathered and
//! written in order at once. A file holds, for each trigram, the ordinals of the documents that have it
//! (ordinals count the roots of the segment), as gaps or as bits, whichever is shorter:
//!
//! ```text
//! buckets     for each first two bytes that occur, in order: entries of
//!             third byte, varint (count << 1 | is bits), for gaps a varint of their length, postings
//! directory   for each bucket: u16 first two bytes, u32 offset of its end
//! roots       for each ordinal: u32 tantivy's document id
//! footer      u32 number of buckets, u32 number of roots
//! ```
//!
//! Numbers are little-endian; varints are LEB128. tantivy puts a checksum behind every file. Invariant:
//! what is read of any bytes ends and stays within them; a fault of a file is an error.

use std::any::Any;
use std::io::{self, Write};

use tantivy::directory::{OwnedBytes, TerminatingWrite as _};
use tantivy::index::SegmentComponent;
use tantivy::indexer::doc_id_mapping::DocIdMapping;
use tantivy::plugin::{PluginMergeContext, PluginWriter, PluginWriterContext, SegmentPlugin};
use tantivy::schema::Schema;
use tantivy::schema::document::ErasedDocument;
use tantivy::{DocId, Segment, SegmentReader, TantivyError};

use super::document::SectionEntry;
use super::trigrams::{Trigram, TrigramQuery};

/// The extension of the files.
const EXTENSION: &str = "trigrams";

/// Ordinals share four bytes with the third byte of a trigram.
const MOST_ROOTS: usize = 1 << 24;

/// Candidates so few are looked at without asking further.
const FEW: usize = 8;

fn component() -> SegmentComponent {
    SegmentComponent::Custom(EXTENSION.to_owned())
}

fn broken() -> TantivyError {
    TantivyError::InternalError("the trigrams of a segment make no sense".to_owned())
}

/// The component.
pub(super) struct TrigramPlugin;

impl SegmentPlugin for TrigramPlugin {
    fn extensions(&self) -> &[&str] {
        &[EXTENSION]
    }

    fn create_writer(&self, _: &PluginWriterContext<'_>) -> tantivy::Result<Box<dyn PluginWriter>> {
        Ok(Box::new(Gatherer::default()))
    }

    fn merge(&self, context: PluginMergeContext<'_>) -> tantivy::Result<()> {
        let mut roots = Vec::new();
        let mut sources = Vec::with_capacity(context.readers.len());
        // Segments are stacked, what was removed left out.
        let mut next = 0;
        for reader in context.readers {
            let postings = TrigramPostings::open(reader)?;
            let alive = reader.alive_bitset();
            let mut ids = vec![None; reader.max_doc() as usize];
            for (old, new) in (0..).zip(&mut ids) {
                if alive.is_none_or(|alive| alive.is_alive(old)) {
                    *new = Some(next);
                    next += 1;
                }
            }
            let mut ordinals = Vec::with_capacity(postings.roots);
            for ordinal in 0..postings.roots {
                let id = ids.get(postings.root(ordinal)? as usize).copied().flatten();
                ordinals.push(id.map(|_| ordinal_of(roots.len())).transpose()?);
                roots.extend(id);
            }
            sources.push((postings, ordinals));
        }
        let mut out = context.target_segment.open_write(component())?;
        let mut file = File::new(&mut out, roots.len());
        let mut bucket = Vec::new();
        for prefix in 0..=u16::MAX {
            bucket.clear();
            for (postings, ordinals) in &sources {
                for entry in postings.bucket(prefix)? {
                    let entry = entry?;
                    for ordinal in postings.ordinals(&entry)? {
                        if let Some(new) = ordinals.get(ordinal as usize).copied().flatten() {
                            bucket.push(u32::from(entry.third) << 24 | new);
                        }
                    }
                }
            }
            bucket.sort_unstable();
            file.bucket(prefix, &bucket)?;
        }
        file.finish(&roots)?;
        out.terminate()?;
        Ok(())
    }
}

fn ordinal_of(count: usize) -> tantivy::Result<u32> {
    match u32::try_from(count) {
        Ok(ordinal) if count < MOST_ROOTS => Ok(ordinal),
        _ => Err(TantivyError::InternalError("too many documents in one segment".to_owned())),
    }
}

/// Gathers the trigrams of a segment.
#[derive(Default)]
struct Gatherer {
    roots: Vec<DocId>,
    /// The trigrams of all roots, and where those of each end.
    trigrams: Vec<u32>,
    ends: Vec<usize>,
}

impl PluginWriter for Gatherer {
    fn add_document(
        &mut self,
        id: DocId,
        document: &dyn ErasedDocument,
        _: &Schema,
    ) -> tantivy::Result<()> {
        let trigrams =
            document.as_any().downcast_ref::<SectionEntry>().and_then(SectionEntry::trigrams);
        if let Some(trigrams) = trigrams {
            ordinal_of(self.roots.len())?;
            self.roots.push(id);
            self.trigrams.extend_from_slice(trigrams);
            self.ends.push(self.trigrams.len());
        }
        Ok(())
    }

    fn serialize(
        self: Box<Self>,
        segment: &Segment,
        _: Option<&DocIdMapping>,
    ) -> tantivy::Result<()> {
        // Where the postings of each first two bytes begin, found by counting.
        let mut starts = vec![0_usize; (1 << 16) + 1];
        for trigram in &self.trigrams {
            if let Some(start) = starts.get_mut((trigram >> 8) as usize + 1) {
                *start += 1;
            }
        }
        for index in 1..starts.len() {
            let before = starts.get(index - 1).copied().unwrap_or(0);
            if let Some(start) = starts.get_mut(index) {
                *start += before;
            }
        }
        let mut places = starts.clone();
        let mut postings = vec![0_u32; self.trigrams.len()];
        let mut begin = 0;
        for (ordinal, end) in (0_u32..).zip(&self.ends) {
            for trigram in self.trigrams.get(begin..*end).unwrap_or_default() {
                let place = places.get_mut((trigram >> 8) as usize);
                if let Some(place) = place
                    && let Some(posting) = postings.get_mut(*place)
                {
                    *posting = trigram << 24 | ordinal;
                    *place += 1;
                }
            }
            begin = *end;
        }
        let mut out = segment.clone().open_write(component())?;
        let mut file = File::new(&mut out, self.roots.len());
        for (prefix, bounds) in (0..=u16::MAX).zip(starts.windows(2)) {
            if let [start, end] = bounds
                && let Some(bucket) = postings.get_mut(*start..*end)
            {
                bucket.sort_unstable();
                file.bucket(prefix, bucket)?;
            }
        }
        file.finish(&self.roots)?;
        out.terminate()?;
        Ok(())
    }

    fn mem_usage(&self) -> usize {
        // The postings are written into as much memory again.
        (self.trigrams.len() * 2 + self.roots.len()) * 4 + self.ends.len() * 8
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

/// A file while it is written.
struct File<W> {
    out: W,
    offset: u32,
    directory: Vec<(u16, u32)>,
    /// Bytes of a posting list as bits.
    bits_length: usize,
    bytes: Vec<u8>,
    gaps: Vec<u8>,
}

impl<W: Write> File<W> {
    fn new(out: W, roots: usize) -> Self {
        let bits_length = roots.div_ceil(8);
        Self {
            out,
            offset: 0,
            directory: Vec::new(),
            bits_length,
            bytes: Vec::new(),
            gaps: Vec::new(),
        }
    }

    /// Writes the postings of a bucket: third byte and ordinal, ascending.
    fn bucket(&mut self, prefix: u16, postings: &[u32]) -> io::Result<()> {
        if postings.is_empty() {
            return Ok(());
        }
        self.bytes.clear();
        for entry in postings.chunk_by(|one, other| one >> 24 == other >> 24) {
            let third = entry.first().map_or(0, |first| first >> 24);
            self.bytes.extend(third.to_le_bytes().first());
            let ordinals = entry.iter().map(|posting| posting & 0xFF_FFFF);
            self.gaps.clear();
            let mut expected = 0;
            for ordinal in ordinals.clone() {
                put_varint(&mut self.gaps, u64::from(ordinal - expected));
                expected = ordinal + 1;
            }
            let is_bits = self.bits_length < self.gaps.len();
            put_varint(&mut self.bytes, (entry.len() as u64) << 1 | u64::from(is_bits));
            if is_bits {
                let start = self.bytes.len();
                self.bytes.resize(start + self.bits_length, 0);
                for ordinal in ordinals {
                    if let Some(byte) = self.bytes.get_mut(start + (ordinal >> 3) as usize) {
                        *byte |= 1 << (ordinal & 7);
                    }
                }
            } else {
                put_varint(&mut self.bytes, self.gaps.len() as u64);
                self.bytes.extend_from_slice(&self.gaps);
            }
        }
        self.out.write_all(&self.bytes)?;
        let length = u32::try_from(self.bytes.len()).ok();
        let offset = length.and_then(|length| self.offset.checked_add(length));
        self.offset =
            offset.ok_or_else(|| io::Error::other("the trigrams of a segment are too long"))?;
        self.directory.push((prefix, self.offset));
        Ok(())
    }

    fn finish(mut self, roots: &[DocId]) -> io::Result<()> {
        for (prefix, end) in &self.directory {
            self.out.write_all(&prefix.to_le_bytes())?;
            self.out.write_all(&end.to_le_bytes())?;
        }
        for root in roots {
            self.out.write_all(&root.to_le_bytes())?;
        }
        let counts = [self.directory.len(), roots.len()];
        for count in counts {
            let count = u32::try_from(count).map_err(io::Error::other)?;
            self.out.write_all(&count.to_le_bytes())?;
        }
        Ok(())
    }
}

fn put_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.extend((value | 0x80).to_le_bytes().first());
        value >>= 7;
    }
    bytes.extend(value.to_le_bytes().first());
}

/// Takes a varint from the front of `bytes`.
fn take_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

/// The trigrams of a segment.
pub(super) struct TrigramPostings {
    bytes: OwnedBytes,
    /// Where the directory begins, and how many buckets it lists.
    directory: usize,
    buckets: usize,
    /// How many documents there are.
    roots: usize,
}

/// The postings of a trigram, as they are written.
struct Entry<'a> {
    third: u8,
    count: usize,
    is_bits: bool,
    postings: &'a [u8],
}

impl TrigramPostings {
    pub(super) fn open(reader: &SegmentReader) -> tantivy::Result<Self> {
        let bytes = reader.open_read(component())?.read_bytes()?;
        let number = |from: usize| -> Option<usize> {
            let bytes = bytes.get(from..from + 4)?;
            Some(u32::from_le_bytes(bytes.try_into().ok()?) as usize)
        };
        let footer = bytes.len().checked_sub(8).ok_or_else(broken)?;
        let buckets = number(footer).ok_or_else(broken)?;
        let roots = number(footer + 4).ok_or_else(broken)?;
        let directory = footer.checked_sub(buckets * 6 + roots * 4).ok_or_else(broken)?;
        Ok(Self { directory, buckets, roots, bytes })
    }

    /// The tantivy id of the document at `ordinal`.
    fn root(&self, ordinal: usize) -> tantivy::Result<DocId> {
        let from = self.directory + self.buckets * 6 + ordinal * 4;
        let bytes = self.bytes.get(from..from + 4).and_then(|bytes| bytes.try_into().ok());
        bytes.map(u32::from_le_bytes).ok_or_else(broken)
    }

    /// The first two bytes and the end of a bucket.
    fn listed(&self, bucket: usize) -> Option<(u16, usize)> {
        let from = self.directory + bucket * 6;
        let prefix = self.bytes.get(from..from + 2)?.try_into().ok()?;
        let end = self.bytes.get(from + 2..from + 6)?.try_into().ok()?;
        Some((u16::from_le_bytes(prefix), u32::from_le_bytes(end) as usize))
    }

    /// The entries of the trigrams that begin with these two bytes.
    fn bucket(
        &self,
        prefix: u16,
    ) -> tantivy::Result<impl Iterator<Item = tantivy::Result<Entry<'_>>> + '_> {
        let (mut low, mut high) = (0, self.buckets);
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.listed(middle).ok_or_else(broken)?.0 < prefix {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let found = self.listed(low).filter(|(found, _)| low < self.buckets && *found == prefix);
        let start = match low.checked_sub(1) {
            Some(before) => self.listed(before).ok_or_else(broken)?.1,
            None => 0,
        };
        let end = found.map_or(start, |(_, end)| end).min(self.directory);
        let mut rest = self.bytes.get(start..end).ok_or_else(broken)?;
        let bits_length = self.roots.div_ceil(8);
        Ok(std::iter::from_fn(move || {
            let (&third, behind) = rest.split_first()?;
            rest = behind;
            Some(take_entry(&mut rest, third, bits_length).ok_or_else(broken))
        }))
    }

    /// The ordinals of an entry, ascending.
    fn ordinals(&self, entry: &Entry<'_>) -> tantivy::Result<Vec<u32>> {
        let mut ordinals = Vec::with_capacity(entry.count.min(self.roots));
        if entry.is_bits {
            for (index, &byte) in (0_u32..).zip(entry.postings) {
                let mut bits = byte;
                while bits != 0 {
                    ordinals.push(index * 8 + bits.trailing_zeros());
                    bits &= bits - 1;
                }
            }
            return Ok(ordinals);
        }
        let mut gaps = entry.postings;
        let mut expected = 0_u32;
        while !gaps.is_empty() {
            let gap = take_varint(&mut gaps).and_then(|gap| u32::try_from(gap).ok());
            let ordinal = gap.and_then(|gap| expected.checked_add(gap)).ok_or_else(broken)?;
            ordinals.push(ordinal);
            expected = ordinal.checked_add(1).ok_or_else(broken)?;
        }
        Ok(ordinals)
    }

    fn entry(&self, [one, two, third]: Trigram) -> tantivy::Result<Option<Entry<'_>>> {
        for entry in self.bucket(u16::from_be_bytes([one, two]))? {
            let entry = entry?;
            if entry.third == third {
                return Ok(Some(entry));
            }
        }
        Ok(None)
    }

    /// The tantivy ids of the documents that `query` admits, and maybe a few others.
    pub(super) fn documents(&self, query: &TrigramQuery) -> tantivy::Result<Vec<DocId>> {
        match self.admitted(query)? {
            Some(ordinals) => {
                ordinals.into_iter().map(|ordinal| self.root(ordinal as usize)).collect()
            }
            None => (0..self.roots).map(|ordinal| self.root(ordinal)).collect(),
        }
    }

    /// The ordinals of what `query` admits, ascending; `None` for all.
    fn admitted(&self, query: &TrigramQuery) -> tantivy::Result<Option<Vec<u32>>> {
        Ok(match query {
            TrigramQuery::All => None,
            TrigramQuery::None => Some(Vec::new()),
            TrigramQuery::Has(trigram) => match self.entry(*trigram)? {
                Some(entry) => Some(self.ordinals(&entry)?),
                None => Some(Vec::new()),
            },
            TrigramQuery::And(queries) => {
                let mut order = Vec::with_capacity(queries.len());
                for query in queries {
                    order.push((self.estimate(query)?, query));
                }
                order.sort_by_key(|(estimate, _)| *estimate);
                let mut admitted: Option<Vec<u32>> = None;
                for (_, query) in order {
                    let Some(further) = self.admitted(query)? else { continue };
                    admitted = Some(match admitted {
                        Some(admitted) => common(&admitted, &further),
                        None => further,
                    });
                    if admitted.as_ref().is_some_and(|admitted| admitted.len() <= FEW) {
                        break;
                    }
                }
                admitted
            }
            TrigramQuery::Or(queries) => {
                let mut admitted = Vec::new();
                for query in queries {
                    match self.admitted(query)? {
                        Some(further) => admitted.extend(further),
                        None => return Ok(None),
                    }
                }
                admitted.sort_unstable();
                admitted.dedup();
                Some(admitted)
            }
        })
    }

    /// How many documents `query` admits at most.
    fn estimate(&self, query: &TrigramQuery) -> tantivy::Result<usize> {
        Ok(match query {
            TrigramQuery::All => self.roots,
            TrigramQuery::None => 0,
            TrigramQuery::Has(trigram) => self.entry(*trigram)?.map_or(0, |entry| entry.count),
            TrigramQuery::And(queries) => {
                let mut least = self.roots;
                for query in queries {
                    least = least.min(self.estimate(query)?);
                }
                least
            }
            TrigramQuery::Or(queries) => {
                let mut sum = 0;
                for query in queries {
                    sum += self.estimate(query)?;
                }
                sum.min(self.roots)
            }
        })
    }
}

/// Takes the rest of an entry from the front of `bytes`.
fn take_entry<'a>(bytes: &mut &'a [u8], third: u8, bits_length: usize) -> Option<Entry<'a>> {
    let header = take_varint(bytes)?;
    let is_bits = header & 1 == 1;
    let length = if is_bits { bits_length } else { usize::try_from(take_varint(bytes)?).ok()? };
    let (postings, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(Entry { third, count: usize::try_from(header >> 1).ok()?, is_bits, postings })
}

/// What two ascending lists have in common.
fn common(one: &[u32], other: &[u32]) -> Vec<u32> {
    let mut result = Vec::with_capacity(one.len().min(other.len()));
    let mut rest = other;
    for value in one {
        let skip = rest.iter().position(|candidate| candidate >= value).unwrap_or(rest.len());
        rest = rest.get(skip..).unwrap_or_default();
        if rest.first() == Some(value) {
            result.push(*value);
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file over documents with these trigrams, read back.
    fn postings(documents: &[Vec<u32>]) -> TrigramPostings {
        let mut bytes = Vec::new();
        let roots: Vec<u32> = (0..).step_by(3).take(documents.len()).collect();
        let mut file = File::new(&mut bytes, roots.len());
        for prefix in 0..=u16::MAX {
            let mut bucket: Vec<u32> = (0..)
                .zip(documents)
                .flat_map(|(ordinal, trigrams)| {
                    let of_bucket = trigrams.iter().filter(|t| **t >> 8 == u32::from(prefix));
                    of_bucket.map(move |trigram| trigram << 24 | ordinal)
                })
                .collect();
            bucket.sort_unstable();
            file.bucket(prefix, &bucket).unwrap();
        }
        file.finish(&roots).unwrap();
        let buckets =
            u32::from_le_bytes(bytes[bytes.len() - 8..bytes.len() - 4].try_into().unwrap());
        let directory = bytes.len() - 8 - buckets as usize * 6 - roots.len() * 4;
        TrigramPostings {
            directory,
            buckets: buckets as usize,
            roots: roots.len(),
            bytes: OwnedBytes::new(bytes),
        }
    }

    fn number([one, two, three]: Trigram) -> u32 {
        u32::from_be_bytes([0, one, two, three])
    }

    #[test]
    fn documents_are_found_by_their_trigrams() {
        // "abc" in every third, "abd" in all but one, "xyz" in one.
        let documents: Vec<Vec<u32>> = (0..1000)
            .map(|index| {
                let mut trigrams = Vec::new();
                if index % 3 == 0 {
                    trigrams.push(number(*b"abc"));
                }
                if index != 7 {
                    trigrams.push(number(*b"abd"));
                }
                if index == 600 {
                    trigrams.push(number(*b"xyz"));
                }
                trigrams
            })
            .collect();
        let postings = postings(&documents);
        let count = |query: &TrigramQuery| postings.documents(query).unwrap().len();
        let has = |text: &[u8; 3]| TrigramQuery::Has(*text);
        assert_eq!(count(&has(b"abc")), 334);
        assert_eq!(count(&has(b"abd")), 999);
        assert_eq!(postings.documents(&has(b"xyz")).unwrap(), [1800], "as tantivy numbers it");
        assert_eq!(count(&has(b"nil")), 0);
        assert_eq!(count(&has(b"abc").and(has(b"abd"))), 334);
        assert_eq!(count(&has(b"abc").and(has(b"xyz"))), 1);
        assert_eq!(count(&has(b"xyz").or(has(b"abc"))), 334);
        assert_eq!(count(&TrigramQuery::All), 1000);
        assert_eq!(count(&TrigramQuery::None), 0);
    }

    #[test]
    fn any_bytes_are_read_without_harm() {
        let sound = postings(&[vec![number(*b"abc"), number(*b"abd")], vec![number(*b"abd")]]);
        for index in 0..sound.bytes.len() {
            for bit in 0..8 {
                let mut bytes = sound.bytes.to_vec();
                bytes[index] ^= 1 << bit;
                let broken = TrigramPostings { bytes: OwnedBytes::new(bytes), ..sound };
                drop(broken.documents(&TrigramQuery::of_literal(b"abcd")));
                drop(broken.documents(&TrigramQuery::Has(*b"abd")));
            }
        }
    }

    #[test]
    fn numbers_survive() {
        for value in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX] {
            let mut bytes = Vec::new();
            put_varint(&mut bytes, value);
            assert_eq!(take_varint(&mut &bytes[..]), Some(value));
        }
        assert_eq!(take_varint(&mut &[0x80; 20][..]), None);
    }
}
