//! Lists of documents and their items. A limit counts the items, and a document without items as one.
//!
//! Invariant: a list that continues inside a document repeats the document, so items never appear without their
//! document.

use super::Page;
use crate::error::Result;
use crate::store::StoredDocument;

/// A document with its items.
pub(super) trait DocumentItems {
    /// Returns the number of items, without the document itself.
    fn items(&self) -> usize;

    /// Keeps the items from `from` to `to`, exclusive.
    fn keep(&mut self, from: usize, to: usize);
}

/// Returns the number of items of `documents` that a limit counts.
pub(super) fn count(documents: &[impl DocumentItems]) -> usize {
    documents.iter().map(|document| document.items().max(1)).sum()
}

/// Returns the first `count` items of `documents`.
pub(super) fn first<D: DocumentItems + Clone>(documents: &[D], count: usize) -> Vec<D> {
    let mut left = count;
    let mut result = Vec::new();
    for document in documents {
        if left == 0 {
            break;
        }
        let mut document = document.clone();
        document.keep(0, left);
        left -= document.items().max(1);
        result.push(document);
    }
    result
}

/// Returns those of `documents` on `page`, with at most `limit` items. Ends the page if further items follow.
///
/// `size` computes the number of items of a document without making the list of them, for documents that
/// are skipped. `drops_empty` omits documents without items.
pub(super) fn within<D: DocumentItems>(
    documents: impl IntoIterator<Item = Result<StoredDocument>>,
    page: &mut Page,
    limit: usize,
    drops_empty: bool,
    size: impl Fn(&StoredDocument) -> Result<usize>,
    make: impl Fn(&StoredDocument) -> Result<D>,
) -> Result<Vec<D>> {
    let mut skip = page.part.start();
    let mut given = 0;
    let mut listed = Vec::new();
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
        let mut document = make(stored)?;
        let items = document.items();
        if items == 0 && drops_empty {
            continue;
        }
        if given == limit {
            page.end(given);
            return Ok(listed);
        }
        let (from, to) = (skip, items.min(skip.saturating_add(limit - given)));
        document.keep(from, to);
        given += (to - from).max(1);
        skip = 0;
        listed.push(document);
        if to < items {
            page.end(given);
            return Ok(listed);
        }
    }
    Ok(listed)
}
