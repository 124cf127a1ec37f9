//! The documents whose front matter matches a condition.
//!
//! Only the values of the keys in the condition are read. Invariant: a document without any of the keys
//! matches if and only if the condition is true for empty front matter.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::Snapshot;
use crate::data::expression::value_at;
use crate::data::{Datum, Expression};
use crate::error::Result;
use crate::markdown::slug::fold;

/// The documents that match a condition.
#[derive(Debug)]
pub(super) struct Matching {
    /// The documents that have a key of the condition and match, or, if others match, that do not
    /// match.
    ids: HashSet<i64>,
    /// Whether documents without any of the keys match.
    others_match: bool,
}

impl Matching {
    /// Evaluates `condition` for all documents.
    pub(super) fn new(snapshot: &Snapshot, condition: &Expression) -> Result<Self> {
        let mut keys: Vec<String> = condition.keys().into_iter().flat_map(columns).collect();
        keys.sort_unstable();
        keys.dedup();
        let mut documents: HashMap<i64, Map<String, Value>> = HashMap::new();
        for key in &keys {
            snapshot.visit_front_matter(key, |document, name, value| {
                documents.entry(document).or_default().insert(name, value);
            })?;
        }
        let matches = |map: &Map<String, Value>| {
            condition.matches(&|key| value_at(map, key).map(Datum::Json))
        };
        let others_match = matches(&Map::new());
        let ids = documents.into_iter().filter(|(_, map)| matches(map) != others_match);
        Ok(Self { ids: ids.map(|(id, _)| id).collect(), others_match })
    }

    /// Returns the ids of the documents that match, unless documents without any of the keys match.
    pub(super) fn ids(&self) -> Option<&HashSet<i64>> {
        (!self.others_match).then_some(&self.ids)
    }

    /// Returns whether a document matches.
    pub(super) fn takes(&self, id: i64) -> bool {
        self.ids.contains(&id) != self.others_match
    }

    /// Returns the ids of the documents that match.
    pub(super) fn documents(&self, snapshot: &Snapshot) -> Result<HashSet<i64>> {
        if !self.others_match {
            return Ok(self.ids.clone());
        }
        let ids = snapshot.paths()?.into_iter().map(|(id, _)| id);
        Ok(ids.filter(|id| self.takes(*id)).collect())
    }
}

/// Returns the case-folded keys of front matter that `key` may mean: the whole key, and each part of it
/// before a dot.
fn columns(key: &str) -> Vec<String> {
    let dots = key.match_indices('.').map(|(dot, _)| dot);
    dots.chain([key.len()]).filter_map(|end| key.get(..end)).map(fold).collect()
}
