//! Reading the index: ranked sections, and candidate documents by trigrams.
//!
//! Invariant: a reader sees exactly one commit. It does not check whether the documents still
//! exist; the caller looks them up in SQLite.

use std::path::Path;

use tantivy::index::SegmentId;
use tantivy::{Directory as _, Index, ReloadPolicy, Searcher, SegmentReader};

use super::byte_budget::ByteBudget;
use super::check::check_small_files;
use super::directory::Access;
use super::entry::entries;
use super::open::{builder, open};
use super::schema::{Fields, PLACE, schema};
use super::{IndexFilter, IndexMetadata, Usable, guarded, metadata_of, ranking, trigram_component};
use crate::failpoint::failpoint;
use crate::limits;
use crate::store::{Ranked, SectionId};
use crate::terms::{DocumentText, TrigramQuery, WordQuery};

/// One commit of an index.
pub(crate) struct IndexReader {
    searcher: Searcher,
    fields: Fields,
    metadata: IndexMetadata,
}

impl std::fmt::Debug for IndexReader {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Reader").field("metadata", &self.metadata).finish_non_exhaustive()
    }
}

/// Returns the metadata of the index in `folder` without reading its segments.
pub(crate) fn index_metadata(folder: &Path) -> Usable<IndexMetadata> {
    guarded(|| metadata_of(&open(folder, Access::Read)?.load_metas()?))
}

impl IndexReader {
    /// Opens the last commit of the index in `folder`.
    pub(crate) fn open(folder: &Path) -> Usable<Self> {
        guarded(|| {
            let index = open(folder, Access::Read)?;
            let stored_metas = || {
                let stored = index.directory().atomic_read(Path::new("meta.json"));
                stored.map_err(tantivy::TantivyError::from)
            };
            let mut stored = stored_metas()?;
            loop {
                let metas = index.load_metas()?;
                failpoint!(INDEX_STAMP_READ);
                let reader = check_small_files(&index, &metas, folder)
                    .and_then(|()| Self::of(&index, metadata_of(&metas)?));
                // A writer may have committed since then, so that the files differ from the metadata.
                // They must be read again until they match.
                let newest = stored_metas()?;
                if newest == stored {
                    return reader;
                }
                stored = newest;
            }
        })
    }

    /// Creates an index of `documents` in memory. The outer error is that of the first document
    /// that cannot be read.
    pub(crate) fn of_documents(
        documents: impl Iterator<Item = crate::error::Result<(i64, DocumentText)>>,
    ) -> crate::error::Result<Usable<Self>> {
        let mut texts = Vec::new();
        for document in documents {
            texts.push(document?);
        }
        Ok(guarded(|| {
            let fields = schema().1;
            let index = builder().create_in_ram()?;
            let mut writer = index.writer_with_num_threads(1, limits::INDEX_MEMORY_BYTES)?;
            for (id, text) in texts {
                let permit = ByteBudget::default().acquire(0);
                for entry in entries(text, id, fields, permit) {
                    writer.add_document(entry)?;
                }
            }
            writer.commit()?;
            Self::of(&index, IndexMetadata::new("", 0, 0, ""))
        }))
    }

    fn of(index: &Index, metadata: IndexMetadata) -> Usable<Self> {
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        Ok(Self { searcher: reader.searcher(), fields: schema().1, metadata })
    }

    /// Returns the metadata of the commit.
    pub(crate) fn metadata(&self) -> &IndexMetadata {
        &self.metadata
    }

    /// Returns whether both are the same commit of an index, with the same segments.
    pub(crate) fn has_commit_of(&self, other: &Self) -> bool {
        let segments = |reader: &Self| -> Vec<SegmentId> {
            reader.searcher.segment_readers().iter().map(SegmentReader::segment_id).collect()
        };
        self.metadata == other.metadata && segments(self) == segments(other)
    }

    /// Returns the best `count` sections that `filter` admits, best first, and the inverse document
    /// frequency of each term of the query.
    pub(crate) fn ranked(
        &self,
        query: &WordQuery,
        filter: &IndexFilter,
        count: usize,
    ) -> Usable<(Vec<Ranked>, Vec<f32>)> {
        let Some(clause) = &query.clause else { return Ok((Vec::new(), Vec::new())) };
        guarded(|| ranking::ranked(&self.searcher, self.fields, clause, filter, count))
    }

    /// Returns the documents whose trigrams match `query`, and possibly others.
    pub(crate) fn candidates(&self, query: &TrigramQuery) -> Usable<Vec<i64>> {
        guarded(|| {
            let mut documents = Vec::new();
            for segment in self.searcher.segment_readers() {
                let mut found = trigram_component::open(segment)?.documents(query)?;
                if let Some(alive) = segment.alive_bitset() {
                    found.retain(|id| alive.is_alive(*id));
                }
                if found.is_empty() {
                    continue;
                }
                let places = segment.fast_fields().u64(PLACE)?;
                let numbers = found.into_iter().filter_map(|id| places.first(id));
                documents.extend(numbers.map(|number| SectionId::from_number(number).document));
            }
            Ok(documents)
        })
    }
}

#[cfg(test)]
mod tests {
    use tantivy::merge_policy::NoMergePolicy;

    use super::*;
    use crate::markdown::parse;
    use crate::terms::{DocumentNames, TextExtractor};

    /// Returns a reader of an index whose segments have `count` of the documents each.
    fn reader(documents: &[String], count: i64) -> IndexReader {
        let fields = schema().1;
        let index = builder().create_in_ram().unwrap();
        let mut writer = index.writer_with_num_threads(1, limits::INDEX_MEMORY_BYTES).unwrap();
        writer.set_merge_policy(Box::new(NoMergePolicy));
        let mut extractor = TextExtractor::new();
        for (id, text) in (0..).zip(documents) {
            let outline = parse(text.as_bytes()).outline;
            let text = extractor.extract(DocumentNames::default(), text.as_bytes(), &outline);
            for entry in entries(text, id, fields, ByteBudget::default().acquire(0)) {
                writer.add_document(entry).unwrap();
            }
            if (id + 1) % count == 0 {
                writer.commit().unwrap();
            }
        }
        writer.commit().unwrap();
        IndexReader::of(&index, IndexMetadata::new("", 0, 0, "")).unwrap()
    }

    #[test]
    fn segments_are_ranked_like_one() {
        let words = ["lantern", "harbor", "lanterns", "window", "bridge"];
        let document = |number: usize| {
            let words: Vec<&str> =
                (0..7).map(|place| words[(number * 31 + place * number) % 5]).collect();
            format!("# {}\n\n{}\n", words[0], words.join(" "))
        };
        let documents: Vec<String> = (0..60).map(document).collect();
        let one = reader(&documents, 60);
        for count in [7, 20, 59] {
            let several = reader(&documents, count);
            for query in ["lantern", "harbor bridge", "window -bridge", "\"harbor window\""] {
                for most in [1, 5, 100] {
                    let query = WordQuery::parse(query);
                    let ranked = |reader: &IndexReader| {
                        reader.ranked(&query, &IndexFilter::default(), most).unwrap()
                    };
                    assert_eq!(ranked(&several), ranked(&one), "{count} of {query:?}");
                }
            }
        }
    }
}
