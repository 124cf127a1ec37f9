//! Lists of documents and their items. A document counts as one item, and so does each item in it.
//!
//! Invariant: a list that continues inside a document repeats the document without counting it, so items
//! never appear without their document.

use super::Page;
use crate::error::Result;
use crate::store::StoredDocument;

/// A document with its items.
pub(super) trait Group {
    /// Returns the number of items, without the document itself.
    fn items(&self) -> usize;

    /// Keeps the items from `from` to `to`, exclusive.
    fn keep(&mut self, from: usize, to: usize);
}

/// Returns the number of items of `groups`, including the documents.
pub(super) fn count(groups: &[impl Group]) -> usize {
    groups.iter().map(|group| 1 + group.items()).sum()
}

/// Returns the first `count` items of `groups`.
pub(super) fn first<G: Group + Clone>(groups: &[G], count: usize) -> Vec<G> {
    let mut left = count;
    let mut result = Vec::new();
    for group in groups {
        if left == 0 {
            break;
        }
        let mut group = group.clone();
        group.keep(0, left - 1);
        left -= (1 + group.items()).min(left);
        result.push(group);
    }
    result
}

/// Returns the groups of `documents` on `page`, with at most `limit` items. Ends the page if further items follow.
///
/// `size` computes the number of items of a document without building its group, for documents that are
/// skipped. `drops_empty` omits documents without items.
pub(super) fn within<G: Group>(
    documents: impl IntoIterator<Item = Result<StoredDocument>>,
    page: &mut Page,
    limit: usize,
    drops_empty: bool,
    size: impl Fn(&StoredDocument) -> Result<usize>,
    make: impl Fn(&StoredDocument) -> Result<G>,
) -> Result<Vec<G>> {
    let mut skip = page.part.start();
    let mut given = 0;
    let mut groups = Vec::new();
    for stored in documents {
        let stored = &stored?;
        if skip > 0 {
            let items = size(stored)?;
            if items == 0 && drops_empty {
                continue;
            }
            if skip > items {
                skip -= items + 1;
                continue;
            }
        }
        let mut group = make(stored)?;
        let items = group.items();
        if items == 0 && drops_empty {
            continue;
        }
        if given == limit {
            page.end(given + page.part.repeated);
            return Ok(groups);
        }
        let from = skip.saturating_sub(1);
        if skip > 0 {
            page.part.repeated = 1;
        } else {
            given += 1;
        }
        skip = 0;
        let to = items.min(from.saturating_add(limit - given));
        group.keep(from, to);
        given += to - from;
        groups.push(group);
        if to < items {
            page.end(given + page.part.repeated);
            return Ok(groups);
        }
    }
    Ok(groups)
}
