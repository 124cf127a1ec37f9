//! Finding documents: each [`Lookup`] is one statement.
//!
//! Invariants: the documents are in path order, each once. Conditions that the server cannot evaluate are
//! evaluated here, on pages of the documents that meet the others.

use serde_json::{Map, Value};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::question::Question;
use super::rows::{DOCUMENT_COLUMNS, KeyKind, column, damaged, document, partition_of, text_key};
use super::state::State;
use crate::corpus::bounds_below;
use crate::error::Result;
use crate::limits;
use crate::prepare::{integer, like_name_bounds, name_bounds, title_keys};
use crate::store::{DocumentFilter, Lookup, StoredDocument};

/// The smallest number of documents that are read at once to evaluate a condition on them.
const PAGE: usize = 2000;

/// The tables of a document and of what is derived from it.
pub(super) const WITH_DERIVED: &str =
    "document d JOIN derived v ON v.part = d.part AND v.document = d.id";

impl State {
    /// Returns the first `most` of the documents that `which` means whose paths are greater than `after`.
    pub(super) fn find(
        &self,
        which: &Lookup<'_>,
        after: Option<&str>,
        most: usize,
    ) -> Result<Vec<StoredDocument>> {
        match which {
            Lookup::Among(filter, _) | Lookup::Data(filter, _) if needs_reading(filter) => {
                self.find_reading(which, filter, after, most)
            }
            Lookup::LikeName(_) => {
                let most = most.min(limits::MAX_NAMESPACES_COMPARED);
                let mut question = self.question(which, after, DOCUMENT_COLUMNS, "document d");
                question.with(" ORDER BY d.name_key LIMIT ", integer(most), Type::INT8, "");
                let rows = question.run(&mut self.connection())?;
                let mut documents = rows.iter().map(document).collect::<Result<Vec<_>>>()?;
                documents.sort_by(|one, other| one.path.cmp(&other.path));
                Ok(documents)
            }
            _ => {
                let mut question = self.question(which, after, DOCUMENT_COLUMNS, "document d");
                question.with(" ORDER BY d.path LIMIT ", integer(most), Type::INT8, "");
                let rows = question.run(&mut self.connection())?;
                rows.iter().map(document).collect()
            }
        }
    }

    /// Does the same for a filter with a condition on names or front matter.
    fn find_reading(
        &self,
        which: &Lookup<'_>,
        filter: &DocumentFilter,
        after: Option<&str>,
        most: usize,
    ) -> Result<Vec<StoredDocument>> {
        let mut found = Vec::new();
        let mut after = after.map(str::to_owned);
        let (columns, from) = match filter.condition {
            Some(_) => (format!("{DOCUMENT_COLUMNS}, v.front_matter"), WITH_DERIVED),
            None => (DOCUMENT_COLUMNS.to_owned(), "document d"),
        };
        let page = most.saturating_mul(4).max(PAGE);
        loop {
            let mut question = self.question(which, after.as_deref(), &columns, from);
            question.with(" ORDER BY d.path LIMIT ", integer(page), Type::INT8, "");
            let rows = question.run(&mut self.connection())?;
            for row in &rows {
                let stored = document(row)?;
                if filter.takes_name(stored.id, &stored.path) && meets(filter, row, 9)? {
                    found.push(stored);
                }
            }
            after = match rows.last() {
                Some(last) if rows.len() == page && found.len() < most => Some(column(last, 1)?),
                _ => break,
            };
        }
        found.truncate(most);
        Ok(found)
    }

    /// Returns the statement that reads `columns` of the documents that `which` means, without the conditions
    /// that the server cannot evaluate.
    pub(super) fn question(
        &self,
        which: &Lookup<'_>,
        after: Option<&str>,
        columns: &str,
        from: &str,
    ) -> Question {
        let mut question = Question::of_documents(columns, from, self.generation);
        if let Some(after) = after {
            question.with(" AND d.path > ", after.to_owned(), Type::TEXT, "");
        }
        let texts = |texts: &[&str]| texts.iter().map(|text| text_key(text)).collect::<Vec<_>>();
        match *which {
            Lookup::All => {}
            Lookup::Among(filter, ids) => {
                admit(&mut question, filter);
                question.with(" AND d.id = ANY(", ids.to_vec(), Type::INT8_ARRAY, ")");
            }
            Lookup::Data(filter, keys) => {
                admit(&mut question, filter);
                for set in keys {
                    having(&mut question, KeyKind::Data, set.clone());
                }
            }
            Lookup::Ids(ids) => {
                question.with(" AND d.id = ANY(", ids.to_vec(), Type::INT8_ARRAY, ")");
            }
            Lookup::Paths(paths) => {
                let mut partitions: Vec<i16> =
                    paths.iter().map(|path| partition_of(path, self.partitions)).collect();
                partitions.sort_unstable();
                partitions.dedup();
                question.with(" AND d.part = ANY(", partitions, Type::INT2_ARRAY, ")");
                let paths: Vec<String> = paths.iter().map(ToString::to_string).collect();
                question.with(" AND d.path = ANY(", paths, Type::TEXT_ARRAY, ")");
            }
            Lookup::Folder(folder) => {
                question.text.push_str(" AND ");
                within(&mut question, folder);
            }
            Lookup::Names(names) => {
                any_of(&mut question, names, |question, name| {
                    let (start, end) = name_bounds(name);
                    question.with("d.name_key >= ", start, Type::TEXT, "");
                    question.with(" AND d.name_key < ", end, Type::TEXT, "");
                });
            }
            Lookup::LikeName(_) | Lookup::Numbered => {
                let name = if let Lookup::LikeName(name) = *which { name } else { "0" };
                let (start, end) = like_name_bounds(name);
                question.with(" AND d.name_key >= ", start, Type::TEXT, "");
                question.with(" AND d.name_key < ", end, Type::TEXT, "");
            }
            Lookup::Titles(titles) => {
                let needles = titles.iter().map(|text| text_key(&title_keys::needle(text)));
                having(&mut question, KeyKind::Title, needles.collect());
            }
            Lookup::TitleParts(titles) => {
                question.text.push_str(" AND d.id IN (SELECT t.document FROM title t WHERE true");
                any_of(&mut question, titles, |question, text| {
                    let needle = title_keys::needle(text).into_bytes();
                    question.with("position(", needle, Type::BYTEA, " IN t.keys) > 0");
                });
                question.text.push(')');
            }
            Lookup::LdmdSections(ids) => having(&mut question, KeyKind::Markup, texts(ids)),
            Lookup::LinkKeys(keys) => having(&mut question, KeyKind::Link, keys.to_vec()),
            Lookup::NameKey(key) => having(&mut question, KeyKind::Name, vec![key]),
        }
        question
    }

    /// Returns the ids of the documents of [`Lookup::TitleParts`], ascending.
    pub(super) fn with_title_parts(&self, texts: &[&str]) -> Result<Vec<i64>> {
        let question = self.question(&Lookup::TitleParts(texts), None, "d.id", "document d");
        let rows = question.run(&mut self.connection())?;
        let mut ids: Vec<i64> = rows.iter().map(|row| column(row, 0)).collect::<Result<_>>()?;
        ids.sort_unstable();
        Ok(ids)
    }

    /// Returns the ids of the documents that `filter` admits; `None` if it admits all.
    pub(super) fn admitted(&self, filter: &DocumentFilter) -> Result<Option<Vec<i64>>> {
        if filter.is_empty() {
            return Ok(None);
        }
        let (columns, from) = match filter.condition {
            Some(_) => ("d.id, d.path, v.front_matter", WITH_DERIVED),
            None => ("d.id, d.path", "document d"),
        };
        let question = self.question(&Lookup::Data(filter, &[]), None, columns, from);
        let rows = question.run(&mut self.connection())?;
        let mut ids = Vec::with_capacity(rows.len());
        for row in &rows {
            let id = column(row, 0)?;
            if filter.takes_name(id, column(row, 1)?) && meets(filter, row, 2)? {
                ids.push(id);
            }
        }
        Ok(Some(ids))
    }
}

/// Whether the server cannot evaluate all conditions of `filter`.
fn needs_reading(filter: &DocumentFilter) -> bool {
    !filter.globs.is_empty() || filter.condition.is_some()
}

/// Whether the front matter in the column `index` of a row meets the condition of `filter`.
fn meets(filter: &DocumentFilter, row: &Row, index: usize) -> Result<bool> {
    if filter.condition.is_none() {
        return Ok(true);
    }
    let stored: Option<&[u8]> = column(row, index)?;
    let values: Option<Map<String, Value>> = stored
        .map(serde_json::from_slice)
        .transpose()
        .map_err(|error| damaged(&error.to_string()))?;
    Ok(filter.takes_values(&values.unwrap_or_default()))
}

/// Adds the conditions of `filter` on tags and places.
fn admit(question: &mut Question, filter: &DocumentFilter) {
    for tag in &filter.tags {
        having(question, KeyKind::Tag, vec![text_key(tag)]);
    }
    let Some(under) = &filter.under else { return };
    let ids: Vec<i64> = under.documents.iter().copied().collect();
    question.with(" AND (d.id = ANY(", ids, Type::INT8_ARRAY, ")");
    for folder in &under.folders {
        question.text.push_str(" OR ");
        within(question, folder);
    }
    question.text.push(')');
}

/// Adds the condition that a document has one of `keys`.
fn having(question: &mut Question, kind: KeyKind, keys: Vec<i64>) {
    let start = format!(
        " AND d.id IN (SELECT k.document FROM key k WHERE k.kind = {} AND k.key = ANY(",
        kind as i16
    );
    question.with(&start, keys, Type::INT8_ARRAY, "))");
}

/// Adds the condition that a document is below `folder`, without `AND`.
pub(super) fn within(question: &mut Question, folder: &str) {
    let (start, end) = bounds_below(folder);
    question.with("(d.path > ", start, Type::TEXT, "");
    question.with(" AND d.path < ", end, Type::TEXT, ")");
}

/// Adds the condition that one of the conditions that `add` adds for `texts` is met.
fn any_of(question: &mut Question, texts: &[&str], add: impl Fn(&mut Question, &str)) {
    question.text.push_str(" AND (false");
    for text in texts {
        question.text.push_str(" OR ");
        add(question, text);
    }
    question.text.push(')');
}
