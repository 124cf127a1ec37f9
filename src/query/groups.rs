//! Lists of documents with items in them: a document is an item, and so is each item in it.
//!
//! Invariant: going on inside a document names it once more, uncounted, so that its items are never
//! without it.

use super::cursor::ListPart;
use crate::error::Result;
use crate::store::StoredDocument;

/// A document with its items.
pub(super) trait Group {
    /// How many items it has, itself not counted.
    fn items(&self) -> usize;

    /// Keeps the items from `from` up to, not including, `to`.
    fn keep(&mut self, from: usize, to: usize);
}

/// How many items `groups` are, documents included.
pub(super) fn count(groups: &[impl Group]) -> usize {
    groups.iter().map(|group| 1 + group.items()).sum()
}

/// The first `count` items of `groups`.
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

/// The groups of `documents` within `part`, at most `limit` items, and the cursor of what follows.
///
/// `size` computes how many items a document has, itself not counted, without making its group. Documents
/// without items are left out if `drops_empty`.
pub(super) fn within<G: Group>(
    documents: &[StoredDocument],
    part: &mut ListPart,
    limit: usize,
    drops_empty: bool,
    size: impl Fn(&StoredDocument) -> Result<usize>,
    make: impl Fn(&StoredDocument) -> Result<G>,
) -> Result<(Vec<G>, Option<String>)> {
    let mut skip = part.start();
    let mut given = 0;
    let mut groups = Vec::new();
    for stored in documents {
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
            return Ok((groups, Some(part.next(given + part.repeated))));
        }
        let from = skip.saturating_sub(1);
        if skip > 0 {
            part.repeated = 1;
        } else {
            given += 1;
        }
        skip = 0;
        let to = items.min(from.saturating_add(limit - given));
        group.keep(from, to);
        given += to - from;
        groups.push(group);
        if to < items {
            return Ok((groups, Some(part.next(given + part.repeated))));
        }
    }
    Ok((groups, None))
}
