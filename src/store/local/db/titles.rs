//! Finding documents by the keys of their titles: those that the full-text index names, or all.
//!
//! To compare keys here takes less time than SQLite's `instr`. Invariant: the index affects only the time that an
//! answer takes.

use std::sync::Arc;

use memchr::memmem::Finder;
use rusqlite::{Connection, params_from_iter};

use super::remembered_titles::TitleMatches;
use super::snapshot::Snapshot;
use crate::error::Result;
use crate::prepare::title_keys;

impl Snapshot {
    /// Returns the documents of each text in the form of [`title_keys::needle`]. `candidates` returns the ids of the
    /// documents that may have one of them in their keys; `None` if all may.
    pub(super) fn title_matches(
        &self,
        needles: &[String],
        candidates: impl FnOnce(&[String]) -> Result<Option<Vec<i64>>>,
    ) -> Result<Vec<Arc<TitleMatches>>> {
        if let Some(known) = self.titles.of_all(needles) {
            return Ok(known);
        }
        let candidates = candidates(needles)?;
        let found = self.wrap(read_titles(&self.statement(), needles, candidates.as_deref()))?;
        let found: Vec<_> = found.into_iter().map(Arc::new).collect();
        self.titles.remember(needles, &found);
        Ok(found)
    }
}

/// Reads the keys of the documents with the ids `among`, or of all documents.
fn read_titles(
    connection: &Connection,
    needles: &[String],
    among: Option<&[i64]>,
) -> rusqlite::Result<Vec<TitleMatches>> {
    let finders: Vec<Finder<'_>> = needles.iter().map(Finder::new).collect();
    let mut matches: Vec<TitleMatches> = needles.iter().map(|_| TitleMatches::default()).collect();
    let condition = match among {
        Some(_) => "WHERE document_id IN (SELECT value FROM json_each(?1))",
        None => "",
    };
    let ids = among.map(|ids| serde_json::to_string(ids).unwrap_or_default());
    let mut titles =
        connection.prepare_cached(&format!("SELECT document_id, keys FROM title {condition}"))?;
    let mut rows = titles.query(params_from_iter(ids))?;
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
