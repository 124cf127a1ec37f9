//! The trigrams as a component of every index segment. tantivy writes, merges and deletes it with
//! the segment.
//!
//! As ordinary terms, trigrams would be half of all terms in an index. Each occurs once per
//! document and has no positions, but the postings of tantivy cost as much for it as for any other
//! term. This component therefore collects the trigrams and writes them sorted. Invariant: the
//! component of a segment contains the trigrams of all documents of that segment that were not
//! deleted, also after a merge.

use std::any::Any;

use tantivy::directory::TerminatingWrite as _;
use tantivy::index::SegmentComponent;
use tantivy::indexer::doc_id_mapping::DocIdMapping;
use tantivy::plugin::{PluginMergeContext, PluginWriter, PluginWriterContext, SegmentPlugin};
use tantivy::schema::Schema;
use tantivy::schema::document::ErasedDocument;
use tantivy::{DocId, Segment, SegmentReader, TantivyError};

use super::entry::SectionEntry;
use super::postings::{PostingsWriter, TrigramPostings};

/// The file extension of the component.
pub(super) const EXTENSION: &str = "trigrams";

/// An ordinal and the third byte of a trigram share 32 bits.
const MOST_ROOTS: usize = 1 << 24;

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
        // A counting sort by the first two bytes: the start of each bucket.
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
        let mut file = PostingsWriter::new(&mut out, self.roots.len());
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
        // Sorting needs as much memory again.
        (self.trigrams.len() * 2 + self.roots.len()) * 4 + self.ends.len() * 8
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}
