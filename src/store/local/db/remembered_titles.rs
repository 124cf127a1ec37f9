//! The documents of the texts that were last looked for among the titles.
//!
//! Invariant: they are those of the state that the snapshot pins.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The ids of the documents whose keys match a text.
#[derive(Debug, Default)]
pub(in crate::store) struct TitleMatches {
    /// A key contains the text.
    pub(in crate::store) containing: Vec<i64>,
    /// A key is the text.
    pub(in crate::store) equal: Vec<i64>,
}

/// The matches of the last texts. An address is looked for as a whole title first and then as a part of one.
#[derive(Debug, Default)]
pub(super) struct RememberedTitles(Mutex<HashMap<String, Arc<TitleMatches>>>);

/// Number of texts that are remembered, and of documents of each of them.
const TEXTS_REMEMBERED: usize = 16;
const DOCUMENTS_REMEMBERED: usize = 10_000;

impl RememberedTitles {
    /// Returns the matches of each text, if all are remembered.
    pub(super) fn of_all(&self, needles: &[String]) -> Option<Vec<Arc<TitleMatches>>> {
        let known = self.known();
        needles.iter().map(|needle| known.get(needle).cloned()).collect()
    }

    /// Remembers the matches of each text, unless they are too many.
    pub(super) fn remember(&self, needles: &[String], found: &[Arc<TitleMatches>]) {
        let mut known = self.known();
        for (needle, matches) in needles.iter().zip(found) {
            if known.len() >= TEXTS_REMEMBERED {
                known.clear();
            }
            if matches.containing.len() <= DOCUMENTS_REMEMBERED {
                known.insert(needle.clone(), Arc::clone(matches));
            }
        }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, Arc<TitleMatches>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
