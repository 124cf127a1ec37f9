//! Reading all that is stored of documents, to check and to copy them.
//!
//! Invariant: nothing is compared with checksums here, so that a check can do it.

use std::collections::{HashMap, HashSet};

use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::lookup::WITH_DERIVED;
use super::pending_change::keys;
use super::question::Question;
use super::rows::{column, damaged, damaged_part, length, unpacked_texts};
use super::state::State;
use crate::error::Result;
use crate::prepare::keys_of_rows;
use crate::prepare::rows::{DerivedRows, StoredDiagnostic};
use crate::store::StoredDocument;

const COLUMNS: &str = "d.id, d.name_key, d.lines, d.words, d.sections, d.blocks, d.links, v.outline, \
    t.keys, v.markup, v.markup_ids, v.links, v.code, v.grid, v.task, v.front_matter, v.tags, v.diagnostics";

impl State {
    /// Returns all that is stored of documents except their bytes and keys.
    pub(super) fn derived(&self, documents: &[StoredDocument]) -> Result<Vec<DerivedRows>> {
        let from =
            format!("{WITH_DERIVED} LEFT JOIN title t ON t.part = d.part AND t.document = d.id");
        let mut question = Question::of_documents(COLUMNS, &from, self.generation);
        let ids: Vec<i64> = documents.iter().map(|document| document.id).collect();
        question.with(" AND d.id = ANY(", ids.clone(), Type::INT8_ARRAY, ")");
        question.with(" AND v.document = ANY(", ids, Type::INT8_ARRAY, ")");
        self.each_row(documents, &question, of_row)
    }

    /// Returns the ids of the documents that are found by other keys than `rows` give.
    pub(super) fn with_other_keys(
        &self,
        rows: &[(&StoredDocument, &DerivedRows)],
    ) -> Result<HashSet<i64>> {
        let documents = rows.iter().map(|(document, _)| *document);
        let mut question = Question::new("SELECT k.document, k.kind, k.key FROM key k WHERE ");
        let partitions = self.partitions_of(documents.clone());
        question.with("k.part = ANY(", partitions, Type::INT2_ARRAY, ")");
        let ids: Vec<i64> = documents.map(|document| document.id).collect();
        question.with(" AND k.document = ANY(", ids, Type::INT8_ARRAY, ")");
        let mut stored: HashMap<i64, Vec<(i16, i64)>> = HashMap::new();
        for row in &question.run(&mut self.connection())? {
            stored.entry(column(row, 0)?).or_default().push((column(row, 1)?, column(row, 2)?));
        }
        let mut others = HashSet::new();
        for (document, rows) in rows {
            let mut stored = stored.remove(&document.id).unwrap_or_default();
            stored.sort_unstable();
            let expected = keys_of_rows(rows, length(document)?).map(|own| keys(rows, &own));
            if expected.is_none_or(|expected| expected != stored) {
                others.insert(document.id);
            }
        }
        Ok(others)
    }

    /// Returns the ids of the documents that the parser reported with this code.
    pub(super) fn with_diagnostic(&self, code: &str) -> Result<HashSet<i64>> {
        let columns = "d.id, v.diagnostics";
        let mut question = Question::of_documents(columns, WITH_DERIVED, self.generation);
        question.text.push_str(" AND d.diagnostics > 0");
        let mut found = HashSet::new();
        for row in &question.run(&mut self.connection())? {
            let diagnostics: Vec<(&str, Option<i64>, &str)> = postcard::from_bytes(column(row, 1)?)
                .map_err(|error| damaged(&error.to_string()))?;
            if diagnostics.iter().any(|(other, ..)| *other == code) {
                found.insert(column(row, 0)?);
            }
        }
        Ok(found)
    }
}

fn of_row(document: &StoredDocument, row: &Row) -> Result<DerivedRows> {
    let text = |index: usize| -> Result<Option<String>> {
        let bytes: Option<&[u8]> = column(row, index)?;
        let text = bytes.map(|bytes| String::from_utf8(bytes.to_vec()));
        text.transpose().map_err(|_| damaged_part(document, "rows"))
    };
    let texts = |index: usize| {
        unpacked_texts(column(row, index)?).ok_or_else(|| damaged_part(document, "rows"))
    };
    let diagnostics: Vec<(String, Option<i64>, String)> =
        postcard::from_bytes(column(row, 17)?).map_err(|_| damaged_part(document, "rows"))?;
    let diagnostics = diagnostics.into_iter();
    Ok(DerivedRows {
        path: document.path.clone(),
        name_key: column(row, 1)?,
        hash: document.hash,
        counts: [
            column(row, 2)?,
            column(row, 3)?,
            column(row, 4)?,
            column(row, 5)?,
            column(row, 6)?,
        ],
        is_lossy: document.is_lossy,
        has_markup: document.has_ldmd,
        outline: column(row, 7)?,
        title_keys: text(8)?,
        markup: column(row, 9)?,
        markup_ids: texts(10)?,
        links: column(row, 11)?,
        data: [column(row, 12)?, column(row, 13)?, column(row, 14)?],
        front_matter: text(15)?,
        tags: texts(16)?,
        diagnostics: diagnostics
            .map(|(code, line, message)| StoredDiagnostic { code, line, message })
            .collect(),
    })
}
