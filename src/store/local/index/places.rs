//! The places of all rows of an index, read from its columns.
//!
//! Invariant: each row that is not deleted has one place.

use std::collections::HashSet;

use tantivy::collector::{Collector, SegmentCollector};
use tantivy::columnar::Column;
use tantivy::query::AllQuery;
use tantivy::{DocId, Index, ReloadPolicy, Score, Searcher, SegmentOrdinal, SegmentReader};

use super::Usable;
use super::schema::PLACE;
use crate::store::SectionId;

/// Returns the ids of all documents in an index.
pub(super) fn documents(index: &Index) -> Usable<HashSet<i64>> {
    Ok(places(index)?.1.into_iter().map(|place| place.document).collect())
}

/// Returns the places of all sections in an index, in no particular order, and the searcher that
/// read them.
pub(super) fn places(index: &Index) -> Usable<(Searcher, Vec<SectionId>)> {
    let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
    let searcher = reader.searcher();
    let places = searcher.search(&AllQuery, &Places)?;
    Ok((searcher, places))
}

/// Collects the places of all matches.
struct Places;

struct SegmentPlaces {
    column: Column,
    places: Vec<SectionId>,
}

impl Collector for Places {
    type Fruit = Vec<SectionId>;
    type Child = SegmentPlaces;

    fn for_segment(
        &self,
        _: SegmentOrdinal,
        segment: &SegmentReader,
    ) -> tantivy::Result<SegmentPlaces> {
        Ok(SegmentPlaces { column: segment.fast_fields().u64(PLACE)?, places: Vec::new() })
    }

    fn requires_scoring(&self) -> bool {
        false
    }

    fn merge_fruits(&self, fruits: Vec<Vec<SectionId>>) -> tantivy::Result<Vec<SectionId>> {
        Ok(fruits.concat())
    }
}

impl SegmentCollector for SegmentPlaces {
    type Fruit = Vec<SectionId>;

    fn collect(&mut self, document: DocId, _: Score) {
        self.places.extend(self.column.first(document).map(SectionId::from_number));
    }

    fn harvest(self) -> Vec<SectionId> {
        self.places
    }
}
