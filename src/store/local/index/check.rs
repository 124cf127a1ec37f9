//! Checks of an index without the store: its files and the sections that it contains.
//!
//! tantivy's checksums cover the segment files but not `meta.json`, which lists the segments and
//! their row counts. These values are therefore compared with the segments. Invariant: an index
//! that passes the check contains the rows that were committed with its metadata.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use tantivy::index::SegmentComponent;
use tantivy::{Index, IndexMeta, SegmentMeta};

use super::directory::Access;
use super::open::open;
use super::places::places;
use super::schema::schema;
use super::trigram_component::{self, EXTENSION};
use super::{IndexMetadata, Unusable, Usable, guarded, metadata_of};
use crate::limits;
use crate::markdown::outline::Outline;
use crate::store::SectionId;
use crate::store::local::fault::Tally;

/// A tally of [`SectionId::to_number`] of the sections of each document, by document id.
pub(in crate::store) type PlaceTallies = HashMap<i64, Tally>;

/// The result of reading an index.
#[derive(Debug)]
pub(in crate::store) struct Inspection {
    /// The metadata of its last commit.
    pub(in crate::store) metadata: IndexMetadata,
    /// The sections in the index.
    pub(in crate::store) places: PlaceTallies,
}

/// Reads and checks the whole index in `folder`.
pub(in crate::store) fn inspect(folder: &Path) -> Usable<Inspection> {
    guarded(|| {
        let index = open(folder, Access::Read)?;
        let metas = index.load_metas()?;
        let metadata = metadata_of(&metas)?;
        if index.schema() != schema().0 {
            return Err(Unusable::Foreign);
        }
        let last_delete = metas.segments.iter().filter_map(SegmentMeta::delete_opstamp).max();
        if last_delete.is_some_and(|last| last > metas.opstamp) {
            return Err(damaged("meta.json"));
        }
        let named = metas.list_segment_files();
        for segment in &metas.segments {
            let trigrams = SegmentComponent::Custom(EXTENSION.to_owned());
            if !named.contains(&segment.relative_path(trigrams)) {
                return Err(damaged("meta.json"));
            }
        }
        for path in named {
            let name = path.display().to_string();
            // These files are listed but exist only if rows were deleted, or while a segment is
            // written.
            let is_optional = [".del", ".temp"].iter().any(|end| name.ends_with(end));
            let is_there = folder.join(&path).exists();
            if is_there || !is_optional {
                let is_whole = index.directory().validate_checksum(&path);
                is_whole.ok().filter(|is_whole| *is_whole).ok_or_else(|| damaged(&name))?;
            }
        }
        let mut tallies = PlaceTallies::new();
        for place in places_of(&index)? {
            tallies.entry(place.document).or_default().add(place.to_number());
        }
        Ok(Inspection { metadata, places: tallies })
    })
}

/// Compares the files of an index of at most [`limits::INDEX_CHECK_BYTES`] with their checksums. In a larger
/// index, compares only files of at most an eighth of this, such as lists of deleted rows.
pub(super) fn check_small_files(index: &Index, metas: &IndexMeta, folder: &Path) -> Usable<()> {
    if index.schema() != schema().0 {
        return Err(Unusable::Foreign);
    }
    let named = metas.list_segment_files().into_iter();
    let mut files: Vec<(u64, PathBuf)> =
        named.filter_map(|path| Some((folder.join(&path).metadata().ok()?.len(), path))).collect();
    files.sort_unstable();
    let most = limits::INDEX_CHECK_BYTES as u64;
    let is_small = files.iter().map(|(size, _)| size).sum::<u64>() <= most;
    let mut bytes = 0;
    for (size, path) in files {
        bytes += size;
        if bytes > most || (!is_small && size > most / 8) {
            break;
        }
        let is_whole = index.directory().validate_checksum(&path);
        if !is_whole.is_ok_and(|is_whole| is_whole) {
            return Err(damaged(&path.display().to_string()));
        }
    }
    Ok(())
}

/// Returns the places of all rows. Fails if their number differs from `meta.json`.
fn places_of(index: &Index) -> Usable<Vec<SectionId>> {
    let (searcher, places) = places(index)?;
    for segment in searcher.segment_readers() {
        trigram_component::open(segment)?;
    }
    if places.len() as u64 != searcher.num_docs() {
        return Err(damaged("meta.json"));
    }
    Ok(places)
}

fn damaged(name: &str) -> Unusable {
    Unusable::Damaged(format!("{name} differs from what was written"))
}

/// Returns the tally of the entries that the index must contain for a document: its root, its
/// sections and its front matter.
pub(in crate::store) fn expected(document: i64, outline: &Outline) -> Tally {
    let levels = [0].into_iter().chain(outline.sections.iter().map(|section| section.level));
    let sections =
        levels.enumerate().map(|(section, level)| SectionId { document, section, level });
    let front_matter = outline.front_matter.map(|_| SectionId::front_matter(document));
    Tally::of(sections.chain(front_matter).map(SectionId::to_number))
}

/// Returns whether temporary files of an interrupted commit are in `folder`.
pub(in crate::store) fn has_leftovers(folder: &Path) -> bool {
    super::writer::leftovers(folder).next().is_some()
}
