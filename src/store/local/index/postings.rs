//! The file format of the trigram index of a segment.
//!
//! For each trigram the file contains the ordinals of the documents that have it. An ordinal counts
//! the roots of a segment. A list of ordinals is stored as gaps or as a bitmap, whichever is
//! shorter:
//!
//! ```text
//! buckets     for each first two bytes that occur, in order: entries of
//!             third byte, varint (count << 1 | is bitmap), for gaps a varint of their length,
//!             postings
//! directory   for each bucket: u16 first two bytes, u32 offset of its end, u32 CRC-32 of the bucket
//! roots       for each ordinal: u32 tantivy's document id
//! footer      u32 number of buckets, u32 number of roots, u32 CRC-32 of the directory, u32 CRC-32 of the roots
//! ```
//!
//! Numbers are little-endian; varints are LEB128. tantivy appends a checksum of the whole file, which a query does not
//! read. Invariants: reading any bytes terminates, stays within them and never panics. Damage of what a query reads is
//! returned as an error.

use std::io::{self, Write};
use std::ops::Range;

use tantivy::directory::OwnedBytes;
use tantivy::{DocId, TantivyError};

use crate::terms::{ByPrefix, Trigram, TrigramQuery};
use crate::varint;

/// The version of the file format. It is incremented whenever the format changes, so that every index is
/// rebuilt: a reader of another version could not detect the difference.
pub(super) const FILE_VERSION: u32 = 2;

/// Sizes in bytes of a bucket in the directory, of a root, and of the footer.
const LISTED_BYTES: usize = 10;
const ROOT_BYTES: usize = 4;
const FOOTER_BYTES: usize = 16;

/// With this many candidates or fewer, no further trigrams are looked up.
const FEW: usize = 8;

fn broken() -> TantivyError {
    TantivyError::InternalError("the trigram file of a segment is damaged".to_owned())
}

/// Returns the number at an offset.
fn number_at(bytes: &[u8], from: usize) -> tantivy::Result<u32> {
    let number = bytes.get(from..from + 4).and_then(|bytes| bytes.try_into().ok());
    number.map(u32::from_le_bytes).ok_or_else(broken)
}

/// Writes a file.
pub(super) struct PostingsWriter<W> {
    out: W,
    offset: u32,
    directory: Vec<u8>,
    /// Size of a bitmap in bytes.
    bits_length: usize,
    bytes: Vec<u8>,
    gaps: Vec<u8>,
}

impl<W: Write> PostingsWriter<W> {
    /// Creates a writer for the postings of `roots` documents.
    pub(super) fn new(out: W, roots: usize) -> Self {
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

    /// Writes the bucket of trigrams whose first two bytes are `prefix`. Each of `postings` is the
    /// third byte in the upper 8 bits and the ordinal in the lower 24. Postings must be ascending,
    /// and so must the buckets.
    pub(super) fn bucket(&mut self, prefix: u16, postings: &[u32]) -> io::Result<()> {
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
                varint::put(&mut self.gaps, u64::from(ordinal - expected));
                expected = ordinal + 1;
            }
            let is_bits = self.bits_length < self.gaps.len();
            varint::put(&mut self.bytes, (entry.len() as u64) << 1 | u64::from(is_bits));
            if is_bits {
                let start = self.bytes.len();
                self.bytes.resize(start + self.bits_length, 0);
                for ordinal in ordinals {
                    if let Some(byte) = self.bytes.get_mut(start + (ordinal >> 3) as usize) {
                        *byte |= 1 << (ordinal & 7);
                    }
                }
            } else {
                varint::put(&mut self.bytes, self.gaps.len() as u64);
                self.bytes.extend_from_slice(&self.gaps);
            }
        }
        self.out.write_all(&self.bytes)?;
        let length = u32::try_from(self.bytes.len()).ok();
        let offset = length.and_then(|length| self.offset.checked_add(length));
        self.offset = offset
            .ok_or_else(|| io::Error::other("the trigram file of a segment exceeds 4 GiB"))?;
        self.directory.extend(prefix.to_le_bytes());
        self.directory.extend(self.offset.to_le_bytes());
        self.directory.extend(crc32fast::hash(&self.bytes).to_le_bytes());
        Ok(())
    }

    /// Writes the directory, the document ids of the roots and the footer.
    pub(super) fn finish(mut self, roots: &[DocId]) -> io::Result<()> {
        let buckets = self.directory.len() / LISTED_BYTES;
        let roots: Vec<u8> = roots.iter().flat_map(|root| root.to_le_bytes()).collect();
        let count = |count: usize| u32::try_from(count).map_err(io::Error::other);
        let footer = [
            count(buckets)?,
            count(roots.len() / ROOT_BYTES)?,
            crc32fast::hash(&self.directory),
            crc32fast::hash(&roots),
        ];
        self.out.write_all(&self.directory)?;
        self.out.write_all(&roots)?;
        footer.iter().try_for_each(|number| self.out.write_all(&number.to_le_bytes()))
    }
}

/// The trigrams of a segment, read from a file.
pub(super) struct TrigramPostings {
    bytes: OwnedBytes,
    /// The offset of the directory, and the number of buckets in it.
    directory: usize,
    buckets: usize,
    /// The number of documents.
    pub(super) roots: usize,
    roots_checksum: u32,
}

/// The postings of a trigram in their stored form.
pub(super) struct StoredPostings<'a> {
    pub(super) third: u8,
    count: usize,
    is_bits: bool,
    postings: &'a [u8],
}

impl TrigramPostings {
    /// Reads the footer and the directory of a file.
    pub(super) fn open(bytes: OwnedBytes) -> tantivy::Result<Self> {
        let footer = bytes.len().checked_sub(FOOTER_BYTES).ok_or_else(broken)?;
        let [buckets, roots] =
            [number_at(&bytes, footer)? as usize, number_at(&bytes, footer + 4)? as usize];
        let lists = buckets * LISTED_BYTES + roots * ROOT_BYTES;
        let directory = footer.checked_sub(lists).ok_or_else(broken)?;
        let [checksum, roots_checksum] =
            [number_at(&bytes, footer + 8)?, number_at(&bytes, footer + 12)?];
        let postings = Self { bytes, directory, buckets, roots, roots_checksum };
        postings.checked(directory..postings.roots_start(), checksum)?;
        Ok(postings)
    }

    /// Returns the offset of the roots.
    fn roots_start(&self) -> usize {
        self.directory + self.buckets * LISTED_BYTES
    }

    /// Returns a part of the file that has this checksum.
    fn checked(&self, part: Range<usize>, checksum: u32) -> tantivy::Result<&[u8]> {
        let bytes = self.bytes.get(part).filter(|bytes| crc32fast::hash(bytes) == checksum);
        bytes.ok_or_else(broken)
    }

    /// Returns the tantivy document ids of the roots, by ordinal, in little-endian bytes.
    pub(super) fn root_ids(&self) -> tantivy::Result<&[[u8; ROOT_BYTES]]> {
        let start = self.roots_start();
        let roots = self.checked(start..start + self.roots * ROOT_BYTES, self.roots_checksum)?;
        Ok(roots.as_chunks().0)
    }

    /// Returns the first two bytes, the end and the checksum of a bucket.
    fn listed(&self, bucket: usize) -> Option<(u16, usize, u32)> {
        let from = self.directory + bucket * LISTED_BYTES;
        let prefix = self.bytes.get(from..from + 2)?.try_into().ok()?;
        let end = number_at(&self.bytes, from + 2).ok()?;
        let checksum = number_at(&self.bytes, from + 6).ok()?;
        Some((u16::from_le_bytes(prefix), end as usize, checksum))
    }

    /// Returns the entries of the trigrams that begin with the two bytes of `prefix`.
    pub(super) fn bucket(
        &self,
        prefix: u16,
    ) -> tantivy::Result<impl Iterator<Item = tantivy::Result<StoredPostings<'_>>> + '_> {
        let (mut low, mut high) = (0, self.buckets);
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.listed(middle).ok_or_else(broken)?.0 < prefix {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let found = self.listed(low).filter(|(found, ..)| low < self.buckets && *found == prefix);
        let mut rest: &[u8] = &[];
        if let Some((_, end, checksum)) = found {
            let start = match low.checked_sub(1) {
                Some(before) => self.listed(before).ok_or_else(broken)?.1,
                None => 0,
            };
            rest = self.checked(start..end.min(self.directory), checksum)?;
        }
        let bits_length = self.roots.div_ceil(8);
        Ok(std::iter::from_fn(move || {
            let (&third, remaining) = rest.split_first()?;
            rest = remaining;
            Some(take_entry(&mut rest, third, bits_length).ok_or_else(broken))
        }))
    }

    /// Returns the ordinals of an entry, ascending.
    pub(super) fn ordinals(&self, entry: &StoredPostings<'_>) -> tantivy::Result<Vec<u32>> {
        let mut ordinals = Vec::with_capacity(entry.count.min(self.roots));
        if entry.is_bits {
            ordinals.extend(ones(entry.postings));
        } else {
            each_ordinal(entry.postings, |ordinal| ordinals.push(ordinal))?;
        }
        Ok(ordinals)
    }

    /// Returns the ordinals of the documents that match one of `queries`, ascending, and possibly others; `None`
    /// if all match.
    fn admitted_by_any(&self, queries: &[TrigramQuery]) -> tantivy::Result<Option<Vec<u32>>> {
        let mut bits = vec![0_u8; self.roots.div_ceil(8)];
        let set = |bits: &mut [u8], ordinal: u32| {
            if let Some(byte) = bits.get_mut((ordinal >> 3) as usize) {
                *byte |= 1 << (ordinal & 7);
            }
        };
        let (prefixes, others) = TrigramQuery::by_prefix(queries);
        self.each_entry(&prefixes, |entry| {
            if entry.is_bits {
                bits.iter_mut().zip(entry.postings).for_each(|(byte, other)| *byte |= other);
                return Ok(());
            }
            each_ordinal(entry.postings, |ordinal| set(&mut bits, ordinal))
        })?;
        for query in others {
            let Some(admitted) = self.admitted(query)? else { return Ok(None) };
            for ordinal in admitted {
                set(&mut bits, ordinal);
            }
        }
        Ok(Some(ones(&bits).collect()))
    }

    /// Calls `act` with the entries of those of the trigrams that occur.
    fn each_entry(
        &self,
        trigrams: &ByPrefix,
        mut act: impl FnMut(StoredPostings<'_>) -> tantivy::Result<()>,
    ) -> tantivy::Result<()> {
        for (prefix, thirds) in trigrams {
            for entry in self.bucket(u16::from_be_bytes(*prefix))? {
                let entry = entry?;
                if thirds.contains(&entry.third) {
                    act(entry)?;
                }
            }
        }
        Ok(())
    }

    fn entry(&self, [one, two, third]: Trigram) -> tantivy::Result<Option<StoredPostings<'_>>> {
        for entry in self.bucket(u16::from_be_bytes([one, two]))? {
            let entry = entry?;
            if entry.third == third {
                return Ok(Some(entry));
            }
        }
        Ok(None)
    }

    /// Returns the tantivy ids of the documents that match `query`, and possibly others.
    pub(super) fn documents(&self, query: &TrigramQuery) -> tantivy::Result<Vec<DocId>> {
        let ordinals = self.admitted(query)?;
        if ordinals.as_ref().is_some_and(Vec::is_empty) {
            return Ok(Vec::new());
        }
        let roots = self.root_ids()?;
        let id = |root: &[u8; ROOT_BYTES]| DocId::from_le_bytes(*root);
        let Some(ordinals) = ordinals else { return Ok(roots.iter().map(id).collect()) };
        let root = |ordinal: u32| roots.get(ordinal as usize).map(id).ok_or_else(broken);
        ordinals.into_iter().map(root).collect()
    }

    /// Returns the ordinals of the documents that match `query`, ascending, and possibly others;
    /// `None` if all match.
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
                    let entry = match query {
                        TrigramQuery::Has(trigram) => self.entry(*trigram)?,
                        _ => None,
                    };
                    let estimate = match &entry {
                        Some(entry) => entry.count,
                        None => self.estimate(query)?,
                    };
                    order.push((estimate, query, entry));
                }
                order.sort_by_key(|(estimate, ..)| *estimate);
                let mut admitted: Option<Vec<u32>> = None;
                for (_, query, entry) in order {
                    let further = match (&mut admitted, entry) {
                        (Some(admitted), Some(entry)) if entry.is_bits => {
                            admitted.retain(|ordinal| is_one(entry.postings, *ordinal));
                            None
                        }
                        (_, Some(entry)) => Some(self.ordinals(&entry)?),
                        (_, None) => self.admitted(query)?,
                    };
                    admitted = match (admitted, further) {
                        (Some(admitted), Some(further)) => Some(common(&admitted, &further)),
                        (admitted, further) => admitted.or(further),
                    };
                    if admitted.as_ref().is_some_and(|admitted| admitted.len() <= FEW) {
                        break;
                    }
                }
                admitted
            }
            TrigramQuery::Or(queries) => self.admitted_by_any(queries)?,
        })
    }

    /// Returns an upper bound of the number of documents that match `query`.
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
                let (prefixes, others) = TrigramQuery::by_prefix(queries);
                self.each_entry(&prefixes, |entry| {
                    sum += entry.count;
                    Ok(())
                })?;
                for query in others {
                    sum += self.estimate(query)?;
                }
                sum.min(self.roots)
            }
        })
    }
}

/// Returns the positions of the ones in a bitmap, ascending.
fn ones(bits: &[u8]) -> impl Iterator<Item = u32> {
    (0_u32..).zip(bits.chunks(8)).flat_map(|(index, chunk)| {
        let mut bytes = [0; 8];
        bytes.iter_mut().zip(chunk).for_each(|(byte, bits)| *byte = *bits);
        let mut rest = u64::from_le_bytes(bytes);
        std::iter::from_fn(move || {
            let position = (rest != 0).then(|| index * 64 + rest.trailing_zeros())?;
            rest &= rest - 1;
            Some(position)
        })
    })
}

/// Returns whether a bitmap has a one at this position.
fn is_one(bits: &[u8], position: u32) -> bool {
    bits.get((position >> 3) as usize).is_some_and(|byte| byte >> (position & 7) & 1 == 1)
}

/// Calls `take` with each ordinal that `gaps` contain, ascending.
fn each_ordinal(mut gaps: &[u8], mut take: impl FnMut(u32)) -> tantivy::Result<()> {
    let mut expected = 0_u32;
    while !gaps.is_empty() {
        let gap = varint::take(&mut gaps).and_then(|gap| u32::try_from(gap).ok());
        let ordinal = gap.and_then(|gap| expected.checked_add(gap)).ok_or_else(broken)?;
        take(ordinal);
        expected = ordinal.checked_add(1).ok_or_else(broken)?;
    }
    Ok(())
}

/// Removes the rest of an entry from the front of `bytes`.
fn take_entry<'a>(
    bytes: &mut &'a [u8],
    third: u8,
    bits_length: usize,
) -> Option<StoredPostings<'a>> {
    let header = varint::take(bytes)?;
    let is_bits = header & 1 == 1;
    let length = if is_bits { bits_length } else { usize::try_from(varint::take(bytes)?).ok()? };
    let (postings, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(StoredPostings { third, count: usize::try_from(header >> 1).ok()?, is_bits, postings })
}

/// Returns the values that are in both ascending lists.
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

    /// Writes a file of documents with these trigrams and reads it back.
    fn postings(documents: &[Vec<u32>]) -> TrigramPostings {
        let mut bytes = Vec::new();
        let roots: Vec<u32> = (0..).step_by(3).take(documents.len()).collect();
        let mut file = PostingsWriter::new(&mut bytes, roots.len());
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
        TrigramPostings::open(OwnedBytes::new(bytes)).unwrap()
    }

    fn number([one, two, three]: Trigram) -> u32 {
        u32::from_be_bytes([0, one, two, three])
    }

    #[test]
    fn documents_are_found_by_their_trigrams() {
        // "abc" is in every third document, "abd" in all except one, "xyz" in one.
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
        assert_eq!(
            postings.documents(&has(b"xyz")).unwrap(),
            [1800],
            "the tantivy id of ordinal 600"
        );
        assert_eq!(count(&has(b"nil")), 0);
        assert_eq!(count(&has(b"abc").and(has(b"abd"))), 334);
        assert_eq!(count(&has(b"abc").and(has(b"xyz"))), 1);
        assert_eq!(count(&has(b"xyz").or(has(b"abc"))), 334);
        assert_eq!(count(&TrigramQuery::All), 1000);
        assert_eq!(count(&TrigramQuery::None), 0);
    }

    #[test]
    fn a_damaged_file_is_an_error_or_does_not_change_an_answer() {
        let sound = postings(&[vec![number(*b"abc"), number(*b"abd")], vec![number(*b"abd")]]);
        let has = |text: &[u8; 3]| TrigramQuery::Has(*text);
        let queries = [has(b"abc").and(has(b"bcd")), has(b"abd"), TrigramQuery::All];
        let mut errors = 0;
        for index in 0..sound.bytes.len() {
            for bit in 0..8 {
                let mut bytes = sound.bytes.to_vec();
                bytes[index] ^= 1 << bit;
                let Ok(flipped) = TrigramPostings::open(OwnedBytes::new(bytes)) else {
                    errors += 1;
                    continue;
                };
                for query in &queries {
                    let found = flipped.documents(query).ok();
                    errors += usize::from(found.is_none());
                    let is_same =
                        found.is_none_or(|found| found == sound.documents(query).unwrap());
                    assert!(is_same, "{index} {query:?}");
                }
            }
        }
        assert!(errors > sound.bytes.len() * 8, "{errors}");
    }
}
