//! Finding documents: each [`Lookup`] is a statement that an index serves.
//!
//! Invariants: the documents of a [`Lookup`] are in path order, each once. A lookup by a key returns
//! every document that has it.

use rusqlite::{Params, params};

use super::document_row::{SELECT_DOCUMENTS, stored_document};
use super::remembered_titles::TitleMatches;
use super::snapshot::Snapshot;
use super::{corrupt, sql};
use crate::corpus::bounds_below;
use crate::error::Result;
use crate::limits;
use crate::prepare::{like_name_bounds, name_bounds, title_keys};
use crate::store::{Lookup, StoredDocument};

impl Snapshot {
    /// Returns the first `most` of the documents that `which` means whose paths are greater than
    /// `after`. The caller applies the filters of [`Lookup::Among`] and [`Lookup::Data`]. `title_candidates` is that
    /// of [`Snapshot::title_matches`].
    pub(in crate::store) fn documents(
        &self,
        which: &Lookup<'_>,
        after: Option<&str>,
        most: usize,
        title_candidates: impl FnOnce(&[String]) -> Result<Option<Vec<i64>>>,
    ) -> Result<Vec<StoredDocument>> {
        let mut documents = match *which {
            Lookup::All | Lookup::Data(..) => return self.all_documents(after, most),
            Lookup::Folder(folder) => return self.documents_below(folder, after, most),
            Lookup::Titles(texts) => {
                let ids = self.ids_with_titles(texts, |titles| &titles.equal, title_candidates)?;
                self.first_with_ids(&ids, after, most)?
            }
            Lookup::TitleParts(texts) => {
                let ids =
                    self.ids_with_titles(texts, |titles| &titles.containing, title_candidates)?;
                self.first_with_ids(&ids, after, most)?
            }
            Lookup::Ids([id]) => self.document(*id)?.into_iter().collect(),
            Lookup::Ids(ids) | Lookup::Among(_, ids) => self.first_with_ids(ids, after, most)?,
            Lookup::Paths(paths) => {
                let mut documents = Vec::with_capacity(paths.len());
                for path in paths {
                    documents.extend(self.document_at(path)?);
                }
                documents
            }
            Lookup::Names(names) => Self::of_each(names, |name| {
                self.stored_documents("name_key >= ?1 AND name_key < ?2", name_bounds(name))
            })?,
            Lookup::LikeName(name) => {
                let (start, end) = like_name_bounds(name);
                let most = sql(limits::MAX_NAMESPACES_COMPARED);
                let condition = "name_key >= ?1 AND name_key < ?2 ORDER BY name_key LIMIT ?3";
                self.stored_documents(condition, params![start, end, most])?
            }
            Lookup::Numbered => {
                self.stored_documents("name_key >= ?1 AND name_key < ?2", like_name_bounds("0"))?
            }
            Lookup::LdmdSections(ids) => Self::of_each(ids, |id| {
                let condition =
                    "id IN (SELECT document_id FROM ldmd_section WHERE ldmd_section.id = ?1)";
                self.stored_documents(condition, [id])
            })?,
            Lookup::LinkKeys(keys) => Self::of_each(keys, |key| {
                self.stored_documents(
                    "id IN (SELECT document_id FROM link_key WHERE key = ?1)",
                    [key],
                )
            })?,
            Lookup::NameKey(key) => self.stored_documents(
                "id IN (SELECT document_id FROM name_key WHERE key = ?1)",
                [key],
            )?,
        };
        documents.sort_by(|one, other| one.path.cmp(&other.path));
        documents.dedup_by(|one, other| one.id == other.id);
        if let Some(after) = after {
            documents.retain(|document| document.path.as_str() > after);
        }
        documents.truncate(most);
        Ok(documents)
    }

    /// Calls `find` with each of `keys` and joins the results.
    fn of_each<K>(
        keys: &[K],
        find: impl Fn(&K) -> Result<Vec<StoredDocument>>,
    ) -> Result<Vec<StoredDocument>> {
        let mut documents = Vec::new();
        for key in keys {
            documents.extend(find(key)?);
        }
        Ok(documents)
    }

    /// Returns the documents that meet `condition`.
    fn stored_documents(
        &self,
        condition: &str,
        bounds: impl Params,
    ) -> Result<Vec<StoredDocument>> {
        let statement = format!("{SELECT_DOCUMENTS} WHERE {condition}");
        self.query_rows(&statement, bounds, stored_document)
    }

    /// Returns the first `count` documents in path order whose paths are greater than `after`.
    fn all_documents(&self, after: Option<&str>, count: usize) -> Result<Vec<StoredDocument>> {
        let reads_table = after.is_none() && count == usize::MAX;
        let documents = if reads_table {
            // To read the table and sort its rows takes less time than to look up each row in the order of
            // an index. An ingest adds documents in path order, so most rows are in order already.
            let mut documents = self.stored_documents("true", [])?;
            documents.sort_by(|one, other| one.path.cmp(&other.path));
            documents
        } else {
            let bounds = params![after.unwrap_or_default(), sql(count)];
            self.stored_documents("path > ?1 ORDER BY path LIMIT ?2", bounds)?
        };
        // Only damage can make the table and an index of it differ. SQLite counts the entries of an index if
        // it may, because an index has fewer pages.
        if after.is_none() && documents.len() < count {
            let other = if reads_table { "" } else { "NOT INDEXED" };
            let statement = format!("SELECT count(*) FROM document {other}");
            let in_other: i64 = self.query_row(&statement, [], |row| row.get(0))?;
            if in_other != sql(documents.len()) {
                return Err(corrupt(self.path(), "the list of documents is incomplete"));
            }
        }
        Ok(documents)
    }

    /// Returns the first `count` documents below `folder` whose paths are greater than `after`.
    fn documents_below(
        &self,
        folder: &str,
        after: Option<&str>,
        count: usize,
    ) -> Result<Vec<StoredDocument>> {
        let (start, end) = bounds_below(folder);
        let start = start.as_str().max(after.unwrap_or_default());
        let condition = "path > ?1 AND path < ?2 ORDER BY path LIMIT ?3";
        self.stored_documents(condition, params![start, end, sql(count)])
    }

    /// Returns the document with this id, if any.
    pub(in crate::store) fn document(&self, id: i64) -> Result<Option<StoredDocument>> {
        Ok(self.stored_documents("id = ?1", [id])?.pop())
    }

    /// Returns the document whose path is exactly `path`, if any.
    fn document_at(&self, path: &str) -> Result<Option<StoredDocument>> {
        Ok(self.stored_documents("path = ?1", [path])?.pop())
    }

    /// Returns the ids that `of` selects of the matches of `texts`, ascending. `candidates` is that of
    /// [`Snapshot::title_matches`].
    pub(in crate::store) fn ids_with_titles(
        &self,
        texts: &[&str],
        of: fn(&TitleMatches) -> &[i64],
        candidates: impl FnOnce(&[String]) -> Result<Option<Vec<i64>>>,
    ) -> Result<Vec<i64>> {
        let needles: Vec<String> = texts.iter().map(|text| title_keys::needle(text)).collect();
        let matches = self.title_matches(&needles, candidates)?;
        let mut ids: Vec<i64> = matches.iter().flat_map(|matches| of(matches)).copied().collect();
        ids.sort_unstable();
        ids.dedup();
        Ok(ids)
    }

    /// Returns the documents with these ids: all of them, in no particular order, if there are at most `count`, or
    /// else the first `count` in path order after `after`.
    fn first_with_ids(
        &self,
        ids: &[i64],
        after: Option<&str>,
        count: usize,
    ) -> Result<Vec<StoredDocument>> {
        if ids.len() <= count {
            return self.documents_with_ids(ids);
        }
        // The plus signs keep SQLite from reading all paths in order.
        let condition =
            "id IN (SELECT value FROM json_each(?1)) AND +path > ?2 ORDER BY +path LIMIT ?3";
        let ids = serde_json::to_string(ids).unwrap_or_default();
        self.stored_documents(condition, params![ids, after.unwrap_or_default(), sql(count)])
    }

    /// Returns the highest id of a document; 0 if there are no documents.
    pub(in crate::store) fn highest_id(&self) -> Result<i64> {
        self.query_row("SELECT coalesce(max(id), 0) FROM document", [], |row| row.get(0))
    }

    /// Returns the documents with ids above `id`, in the order of their ids.
    pub(in crate::store) fn documents_above(&self, id: i64) -> Result<Vec<StoredDocument>> {
        self.stored_documents("id > ?1 ORDER BY id", [id])
    }

    /// Returns the documents with these ids, in no particular order. Unknown ids are ignored.
    pub(in crate::store) fn documents_with_ids(&self, ids: &[i64]) -> Result<Vec<StoredDocument>> {
        let ids = serde_json::to_string(ids).unwrap_or_default();
        self.stored_documents("id IN (SELECT value FROM json_each(?1))", [ids])
    }

    /// Returns the ids of the documents with the case-folded `tag` or a tag below it.
    pub(in crate::store) fn documents_with_tag(&self, tag: &str) -> Result<Vec<i64>> {
        let (start, end) = bounds_below(tag);
        self.query_rows(
            "SELECT document_id FROM tag WHERE tag = ?1 OR tag > ?2 AND tag < ?3",
            [tag, &start, &end],
            |row| row.get(0),
        )
    }
}
