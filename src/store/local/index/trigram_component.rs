//! The trigrams as a component of every index segment. tantivy writes, merges and deletes it with
//! the segment.
//!
//! As ordinary terms, trigrams would be half of all terms in an index. Each occurs once per
//! document and has no positions, but the postings of tantivy cost as much for it as for any other
//! term. This component therefore collects the trigrams and writes them sorted. Invariant: the
//! component of a segment contains the trigrams of all documents of that segment that were not
//! deleted, also after a merge.

use std::any::Any;
use std::io::Write;
use std::ops::RangeInclusive;

use tantivy::directory::TerminatingWrite as _;
use tantivy::index::SegmentComponent;
use tantivy::indexer::doc_id_mapping::DocIdMapping;
use tantivy::plugin::{PluginMergeContext, PluginWriter, PluginWriterContext, SegmentPlugin};
use tantivy::schema::Schema;
use tantivy::schema::document::ErasedDocument;
use tantivy::{DocId, Segment, SegmentReader, TantivyError};

use super::entry::SectionEntry;
use super::postings::{PostingsWriter, TrigramPostings};
use crate::terms::Trigram;

/// The file extension of the component.
pub(super) const EXTENSION: &str = "trigrams";

/// An ordinal and the third byte of a trigram share 32 bits.
const MOST_ROOTS: usize = 1 << 24;

/// The number of postings of a new segment that are sorted at once, unless one bucket has more. To sort all
/// at once would need more memory than their trigrams.
const MOST_SORTED: usize = 2 << 20;

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
            for ordinal in 0..postings.roots {
                let id = ids.get(postings.root(ordinal)? as usize).copied().flatten();
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
    /// The trigrams of all roots, and the end of those of each root.
    trigrams: Vec<Trigram>,
    ends: Vec<usize>,
}

impl Gatherer {
    /// Returns the number of trigrams that begin with each two bytes.
    fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; 1 << 16];
        for trigram in &self.trigrams {
            if let Some(count) = counts.get_mut(usize::from(prefix(*trigram))) {
                *count += 1;
            }
        }
        counts
    }

    /// Writes the buckets of `prefixes` to `file`. `counts` has the number of trigrams of each.
    fn write_buckets<W: Write>(
        &self,
        prefixes: RangeInclusive<u16>,
        counts: &[usize],
        file: &mut PostingsWriter<W>,
    ) -> tantivy::Result<()> {
        // A counting sort by the first two bytes.
        let first = *prefixes.start();
        let mut places = Vec::with_capacity(counts.len());
        let mut sum = 0;
        for count in counts {
            places.push(sum);
            sum += count;
        }
        let mut postings = vec![0_u32; sum];
        let mut begin = 0;
        for (ordinal, end) in (0_u32..).zip(&self.ends) {
            for trigram in self.trigrams.get(begin..*end).unwrap_or_default() {
                let bucket = prefix(*trigram).wrapping_sub(first);
                if let Some(place) = places.get_mut(usize::from(bucket))
                    && let Some(posting) = postings.get_mut(*place)
                {
                    *posting = u32::from(trigram[2]) << 24 | ordinal;
                    *place += 1;
                }
            }
            begin = *end;
        }
        let mut rest = postings.as_mut_slice();
        for (prefix, count) in prefixes.zip(counts) {
            let Some((bucket, others)) = rest.split_at_mut_checked(*count) else { break };
            bucket.sort_unstable();
            file.bucket(prefix, bucket)?;
            rest = others;
        }
        Ok(())
    }
}

fn prefix([first, second, _]: Trigram) -> u16 {
    u16::from_be_bytes([first, second])
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
            let bytes = trigrams.iter().map(|trigram| trigram.to_be_bytes());
            self.trigrams.extend(bytes.map(|[_, first, second, third]| [first, second, third]));
            self.ends.push(self.trigrams.len());
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
        let all = self.counts();
        let mut first = 0;
        while let Some(counts) = all.get(usize::from(first)..).filter(|counts| !counts.is_empty()) {
            let mut sum = 0;
            let fits = counts.iter().take_while(|count| {
                sum += **count;
                sum <= MOST_SORTED
            });
            let counts = counts.get(..fits.count().max(1)).unwrap_or_default();
            let after = usize::from(first) + counts.len();
            let last = u16::try_from(after - 1).unwrap_or(u16::MAX);
            self.write_buckets(first..=last, counts, &mut file)?;
            let Ok(next) = u16::try_from(after) else { break };
            first = next;
        }
        file.finish(&self.roots)?;
        out.terminate()?;
        Ok(())
    }

    fn mem_usage(&self) -> usize {
        size_of_val(&*self.trigrams)
            + size_of_val(&*self.roots)
            + size_of_val(&*self.ends)
            + MOST_SORTED * size_of::<u32>()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}
