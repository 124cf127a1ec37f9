//! The trigrams as a component of every index segment. tantivy writes, merges and deletes it with
//! the segment.
//!
//! As ordinary terms, trigrams would be half of all terms in an index. Each occurs once per
//! document and has no positions, but the postings of tantivy cost as much for it as for any other
//! term. This component therefore collects the trigrams and writes them sorted. Invariant: the
//! component of a segment contains the trigrams of all documents of that segment that were not
//! deleted, also after a merge.

use std::any::Any;
use std::io::{self, Write};
use std::iter::Peekable;

use tantivy::directory::TerminatingWrite as _;
use tantivy::index::SegmentComponent;
use tantivy::indexer::doc_id_mapping::DocIdMapping;
use tantivy::plugin::{PluginMergeContext, PluginWriter, PluginWriterContext, SegmentPlugin};
use tantivy::schema::Schema;
use tantivy::schema::document::ErasedDocument;
use tantivy::{DocId, Segment, SegmentReader, TantivyError};

use super::entry::SectionEntry;
use super::postings::{PostingsWriter, TrigramPostings};
use crate::terms::Members;

/// The file extension of the component.
pub(super) const EXTENSION: &str = "trigrams";

/// An ordinal and the third byte of a trigram share 32 bits.
const MOST_ROOTS: usize = 1 << 24;

/// The number of postings of a new segment that are sorted at once, unless one bucket has more. To sort all
/// at once would need several times the memory of their gaps.
const MOST_SORTED: usize = 2 << 20;

/// A segment with fewer bytes of gaps is small. To sort its postings by comparing them takes less time than to
/// count those of every two bytes.
const FEW_GAP_BYTES: usize = 64 << 10;

/// A bucket with fewer postings is sorted by comparing them, which takes less time than counting them.
const FEW: usize = 64;

fn component() -> SegmentComponent {
    SegmentComponent::Custom(EXTENSION.to_owned())
}

/// Opens the trigram postings of a segment.
pub(super) fn open(reader: &SegmentReader) -> tantivy::Result<TrigramPostings> {
    TrigramPostings::open(reader.open_read(component())?.read_bytes()?)
}

/// The tantivy plugin that writes and merges the component.
pub(super) struct TrigramComponent;

impl SegmentPlugin for TrigramComponent {
    fn extensions(&self) -> &[&str] {
        &[EXTENSION]
    }

    fn create_writer(&self, _: &PluginWriterContext<'_>) -> tantivy::Result<Box<dyn PluginWriter>> {
        Ok(Box::new(Gatherer::default()))
    }

    fn merge(&self, context: PluginMergeContext<'_>) -> tantivy::Result<()> {
        let mut roots = Vec::new();
        let mut sources = Vec::with_capacity(context.readers.len());
        // A merge appends the segments to each other and leaves out deleted documents.
        let mut next = 0;
        for reader in context.readers {
            let postings = open(reader)?;
            let alive = reader.alive_bitset();
            let mut ids = vec![None; reader.max_doc() as usize];
            for (old, new) in (0..).zip(&mut ids) {
                if alive.is_none_or(|alive| alive.is_alive(old)) {
                    *new = Some(next);
                    next += 1;
                }
            }
            let mut ordinals = Vec::with_capacity(postings.roots);
            for root in postings.root_ids()? {
                let id = ids.get(DocId::from_le_bytes(*root) as usize).copied().flatten();
                ordinals.push(id.map(|_| ordinal_of(roots.len())).transpose()?);
                roots.extend(id);
            }
            sources.push((postings, ordinals));
        }
        let mut out = context.target_segment.open_write(component())?;
        let mut file = PostingsWriter::new(&mut out, roots.len());
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

/// Collects the trigrams of a new segment.
#[derive(Default)]
struct Gatherer {
    roots: Vec<DocId>,
    /// The gaps of the trigrams of all roots, and the end of those of each root.
    gaps: Vec<u8>,
    ends: Vec<usize>,
}

impl Gatherer {
    /// Returns an iterator over the trigrams of each root.
    fn members(&self) -> Vec<Peekable<Members<'_>>> {
        let starts = std::iter::once(&0).chain(&self.ends);
        let gaps = starts.zip(&self.ends).map(|(start, end)| self.gaps.get(*start..*end));
        gaps.map(|gaps| Members::of(gaps.unwrap_or_default()).peekable()).collect()
    }

    /// Writes the buckets. Sorts all postings by comparing them.
    fn write_sorted<W: Write>(&self, file: &mut PostingsWriter<W>) -> io::Result<()> {
        let mut postings = Vec::new();
        for (ordinal, members) in (0_u32..).zip(self.members()) {
            postings.extend(members.map(|trigram| {
                let prefix = u16::try_from(trigram >> 8).unwrap_or(u16::MAX);
                (prefix, trigram << 24 | ordinal)
            }));
        }
        postings.sort_unstable();
        for bucket in postings.chunk_by(|(one, _), (other, _)| one == other) {
            let Some((prefix, _)) = bucket.first() else { continue };
            let bucket: Vec<u32> = bucket.iter().map(|(_, posting)| *posting).collect();
            file.bucket(*prefix, &bucket)?;
        }
        Ok(())
    }

    /// Writes the buckets. Sorts the postings by counting them.
    fn write_counted<W: Write>(&self, file: &mut PostingsWriter<W>) -> io::Result<()> {
        let (mut postings, mut bucket) = (Vec::new(), Vec::new());
        let mut members = self.members();
        let mut counts = self.counts().into_iter().enumerate().peekable();
        while let Some((first, count)) = counts.next() {
            let mut counts_of_part = vec![count];
            let mut sum = count;
            while let Some((_, count)) = counts.next_if(|(_, count)| sum + count <= MOST_SORTED) {
                counts_of_part.push(count);
                sum += count;
            }
            let end = (first + counts_of_part.len()) << 8;
            let mut sort = CountingSort::new(&counts_of_part, &mut postings);
            for (ordinal, members) in (0_u32..).zip(&mut members) {
                while let Some(trigram) = members.next_if(|trigram| (*trigram as usize) < end) {
                    sort.put((trigram >> 8) as usize - first, trigram << 24 | ordinal);
                }
            }
            let mut rest = postings.as_slice();
            for (prefix, count) in (first..).zip(&counts_of_part) {
                if *count == 0 {
                    continue;
                }
                let Some((unsorted, others)) = rest.split_at_checked(*count) else { break };
                sort_by_third(unsorted, &mut bucket);
                file.bucket(u16::try_from(prefix).unwrap_or(u16::MAX), &bucket)?;
                rest = others;
            }
        }
        Ok(())
    }

    /// Returns the number of trigrams that begin with each two bytes.
    fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; 1 << 16];
        for trigram in self.members().into_iter().flatten() {
            if let Some(count) = counts.get_mut((trigram >> 8) as usize) {
                *count += 1;
            }
        }
        counts
    }
}

/// Sorts postings by a small number, the key of each. Postings with the same key stay in their order.
struct CountingSort<'a> {
    sorted: &'a mut Vec<u32>,
    /// The place of the next posting with each key.
    places: Vec<usize>,
}

impl<'a> CountingSort<'a> {
    /// Creates a sort into `sorted` of as many postings with each key as `counts` says.
    fn new(counts: &[usize], sorted: &'a mut Vec<u32>) -> Self {
        let mut sum = 0;
        let place = |count: &usize| {
            let place = sum;
            sum += count;
            place
        };
        let places = counts.iter().map(place).collect();
        sorted.clear();
        sorted.resize(sum, 0);
        Self { sorted, places }
    }

    fn put(&mut self, key: usize, posting: u32) {
        if let Some(place) = self.places.get_mut(key)
            && let Some(slot) = self.sorted.get_mut(*place)
        {
            *slot = posting;
            *place += 1;
        }
    }
}

/// Sorts the postings of a bucket, whose ordinals are ascending, by their third byte.
fn sort_by_third(bucket: &[u32], sorted: &mut Vec<u32>) {
    if bucket.len() < FEW {
        sorted.clear();
        sorted.extend_from_slice(bucket);
        return sorted.sort_unstable();
    }
    let third = |posting: u32| (posting >> 24) as usize;
    let mut counts = [0; 1 << 8];
    for posting in bucket {
        if let Some(count) = counts.get_mut(third(*posting)) {
            *count += 1;
        }
    }
    let mut sort = CountingSort::new(&counts, sorted);
    for posting in bucket {
        sort.put(third(*posting), *posting);
    }
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
            self.gaps.extend_from_slice(trigrams.gaps());
            self.ends.push(self.gaps.len());
        }
        Ok(())
    }

    fn serialize(
        self: Box<Self>,
        segment: &Segment,
        _: Option<&DocIdMapping>,
    ) -> tantivy::Result<()> {
        let mut out = segment.clone().open_write(component())?;
        let mut file = PostingsWriter::new(&mut out, self.roots.len());
        if self.gaps.len() < FEW_GAP_BYTES {
            self.write_sorted(&mut file)?;
        } else {
            self.write_counted(&mut file)?;
        }
        file.finish(&self.roots)?;
        out.terminate()?;
        Ok(())
    }

    fn mem_usage(&self) -> usize {
        size_of_val(&*self.gaps)
            + size_of_val(&*self.roots)
            + size_of_val(&*self.ends)
            + 2 * MOST_SORTED * size_of::<u32>()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::varint;

    proptest! {
        #[test]
        fn postings_are_written_alike_however_they_are_sorted(
            documents in proptest::collection::vec(
                proptest::collection::btree_set(
                    prop_oneof![0x20_2020_u32..0x20_2080, 0x61_6161_u32..0x61_6262, 0x20_2020_u32..0xFF_FFFF],
                    0..300,
                ),
                0..70,
            ),
        ) {
            let mut gatherer = Gatherer::default();
            for (id, trigrams) in (0..).zip(documents) {
                let mut last = 0;
                for trigram in trigrams {
                    varint::put(&mut gatherer.gaps, u64::from(trigram - last));
                    last = trigram;
                }
                gatherer.roots.push(id);
                gatherer.ends.push(gatherer.gaps.len());
            }
            let (mut sorted, mut counted) = (Vec::new(), Vec::new());
            let mut file = PostingsWriter::new(&mut sorted, gatherer.roots.len());
            gatherer.write_sorted(&mut file).unwrap();
            file.finish(&gatherer.roots).unwrap();
            let mut file = PostingsWriter::new(&mut counted, gatherer.roots.len());
            gatherer.write_counted(&mut file).unwrap();
            file.finish(&gatherer.roots).unwrap();
            prop_assert_eq!(sorted, counted);
        }
    }
}
