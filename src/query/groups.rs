//! Lists of documents and their items. A limit counts the items, and a document without items as one.
//!
//! Invariant: a list that continues inside a document repeats the document, so items never appear without their
//! document.

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

/// Returns the number of items of `groups` that a limit counts.
pub(super) fn count(groups: &[impl Group]) -> usize {
    groups.iter().map(|group| group.items().max(1)).sum()
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
        group.keep(0, left);
        left -= group.items().max(1);
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
            if skip >= items.max(1) {
                skip -= items.max(1);
                continue;
            }
        }
        let mut group = make(stored)?;
        let items = group.items();
        if items == 0 && drops_empty {
            continue;
        }
        if given == limit {
            page.end(given);
            return Ok(groups);
        }
        let (from, to) = (skip, items.min(skip.saturating_add(limit - given)));
        group.keep(from, to);
        given += (to - from).max(1);
        skip = 0;
        groups.push(group);
        if to < items {
            page.end(given);
            return Ok(groups);
        }
    }
    Ok(groups)
}
