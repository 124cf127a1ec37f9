//! Finding documents by the keys of their titles, which is one pass over the table of all keys.
//!
//! SQLite's `instr` would take longer, and so would looking up the keys of each document in path order.
//! Invariant: documents that are remembered for a text are those of the state that the snapshot pins.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use memchr::memmem::Finder;
use rusqlite::Connection;

use super::snapshot::Snapshot;
use crate::error::Result;
use crate::prepare::title_keys;

/// The ids of the documents whose keys match a text.
#[derive(Debug, Default)]
pub(super) struct TitleMatches {
    /// A key contains the text.
    pub(super) containing: Vec<i64>,
    /// A key is the text.
    pub(super) equal: Vec<i64>,
}

/// The matches of the last texts. An address is looked for as a whole title first and then as a part of one.
#[derive(Debug, Default)]
pub(super) struct RememberedTitles(Mutex<HashMap<String, Arc<TitleMatches>>>);

/// Number of texts that are remembered, and of documents of each of them.
const TEXTS_REMEMBERED: usize = 16;
const DOCUMENTS_REMEMBERED: usize = 10_000;

impl Snapshot {
    /// Returns the documents of each text in the form of [`title_keys::needle`].
    pub(super) fn title_matches(&self, needles: &[String]) -> Result<Vec<Arc<TitleMatches>>> {
        let known = |needle: &String| {
            let known = self.titles.0.lock().unwrap_or_else(PoisonError::into_inner);
            known.get(needle).cloned()
        };
        if let Some(known) = needles.iter().map(known).collect() {
            return Ok(known);
        }
        let found = self.wrap(read_titles(&self.statement(), needles))?;
        let found: Vec<_> = found.into_iter().map(Arc::new).collect();
        let mut known = self.titles.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (needle, matches) in needles.iter().zip(&found) {
            if known.len() >= TEXTS_REMEMBERED {
                known.clear();
            }
            if matches.containing.len() <= DOCUMENTS_REMEMBERED {
                known.insert(needle.clone(), Arc::clone(matches));
            }
        }
        Ok(found)
    }
}

/// Reads the keys of all documents.
fn read_titles(connection: &Connection, needles: &[String]) -> rusqlite::Result<Vec<TitleMatches>> {
    let finders: Vec<Finder<'_>> = needles.iter().map(Finder::new).collect();
    let mut matches: Vec<TitleMatches> = needles.iter().map(|_| TitleMatches::default()).collect();
    let mut titles = connection.prepare_cached("SELECT document_id, keys FROM title")?;
    let mut rows = titles.query([])?;
    while let Some(row) = rows.next()? {
        let keys = row.get_ref(1)?.as_bytes()?;
        for ((finder, needle), matches) in finders.iter().zip(needles).zip(&mut matches) {
            if finder.find(keys).is_none() {
                continue;
            }
            let id = row.get(0)?;
            matches.containing.push(id);
            if str::from_utf8(keys).is_ok_and(|keys| title_keys::holds(keys, needle)) {
                matches.equal.push(id);
            }
        }
    }
    Ok(matches)
}
