//! The documents that may have what a request asks for, in the order of the answer.
//!
//! Invariant: no document that has it is missing. Documents are read one by one, so a page does not read
//! those after it.

use std::collections::HashSet;

use super::super::FilterRequest;
use super::super::filter::{Filter, Order};
use super::super::library::Library;
use crate::error::Result;
use crate::store::{Snapshot, StoredDocument};

/// Number of documents whose paths are looked up one by one. The paths of more are read all together.
const MOST_LOOKED_UP: usize = 20_000;

/// The documents to read.
pub(super) struct Candidates<'a> {
    snapshot: &'a Snapshot,
    ids: std::vec::IntoIter<i64>,
}

impl<'a> Candidates<'a> {
    /// Finds the documents that `filter` takes and that have a key of each set of `keys`.
    pub(super) fn new(
        library: &'a Library<'_>,
        filter: &Filter,
        request: &FilterRequest,
        keys: &[Vec<i64>],
    ) -> Result<Self> {
        let snapshot = library.snapshot;
        let mut ids: Option<Vec<i64>> = None;
        for set in keys {
            let mut union = Vec::new();
            for key in set {
                union.extend(snapshot.documents_with_data(*key)?);
            }
            if set.len() > 1 {
                union.sort_unstable();
                union.dedup();
            }
            ids = Some(match ids {
                None => union,
                Some(mut ids) => {
                    let union: HashSet<i64> = union.into_iter().collect();
                    ids.retain(|id| union.contains(id));
                    ids
                }
            });
        }
        let ids = match ids {
            Some(mut ids) => {
                ids.retain(|id| filter.takes_id(*id));
                Some(ids)
            }
            None => filter.ids(),
        };
        let mut named = match ids {
            Some(ids) if ids.len() <= MOST_LOOKED_UP => snapshot.paths_of(&ids)?,
            ids => {
                let ids: Option<HashSet<i64>> = ids.map(|ids| ids.into_iter().collect());
                let mut all = snapshot.paths()?;
                all.retain(|(id, _)| ids.as_ref().is_none_or(|ids| ids.contains(id)));
                all.sort_unstable_by(|one, other| one.1.cmp(&other.1));
                all
            }
        };
        named.retain(|(id, path)| filter.takes_named(*id, path));
        let mut ids: Vec<i64> = named.into_iter().map(|(id, _)| id).collect();
        if let Some(order) = Order::of(request) {
            let mut documents = snapshot.documents_with_ids(&ids)?;
            order.sort(library, &mut documents)?;
            ids = documents.into_iter().map(|document| document.id).collect();
        }
        Ok(Self { snapshot, ids: ids.into_iter() })
    }
}

impl Iterator for Candidates<'_> {
    type Item = Result<Option<StoredDocument>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.ids.next().map(|id| self.snapshot.document(id))
    }
}
