//! The order in which documents are answered, if the request asks for one other than that of their paths.
//!
//! Invariant: documents without the key come last, in both directions.

use std::cmp::Ordering;

use serde_json::Value;

use super::session::Session;
use crate::data::scalar::SortKey;
use crate::error::Result;
use crate::markdown::slug::comparable;
use crate::store::StoredDocument;

/// Number of documents whose titles are read together, with all their links.
const TITLES_AT_ONCE: usize = 1_000;

/// The sort order of documents.
#[derive(Debug)]
pub(super) struct DocumentOrder<'a> {
    key: &'a str,
    is_descending: bool,
}

impl<'a> DocumentOrder<'a> {
    /// Returns the order that [`super::FilterRequest::sort`] requests.
    pub(super) fn of(asked: &'a str) -> Self {
        let descending = asked.strip_prefix('-');
        Self { key: descending.unwrap_or(asked), is_descending: descending.is_some() }
    }

    /// Returns the key of front matter to sort by, unless it is the path or the title.
    pub(super) fn front_matter_key(&self) -> Option<&'a str> {
        (!["path", "title"].contains(&self.key)).then_some(self.key)
    }

    /// Sorts documents. Documents without the key, or whose value is a list, a map or `null`, come last; those with
    /// equal keys are sorted by path. Returns the number of documents with the key.
    pub(super) fn sort(
        &self,
        session: &Session<'_>,
        documents: &mut Vec<StoredDocument>,
    ) -> Result<usize> {
        let keys: Vec<Option<SortKey>> = match self.key {
            "path" => {
                documents.iter().map(|one| Some(SortKey::of_text(one.path.clone()))).collect()
            }
            "title" => {
                let mut titles = Vec::with_capacity(documents.len());
                for part in documents.chunks(TITLES_AT_ONCE) {
                    let links = session.reader.all_links(part)?.into_iter();
                    titles.extend(
                        links.map(|links| Some(SortKey::of_text(comparable(&links.title?)))),
                    );
                }
                titles
            }
            key => {
                let values = session.reader.values_of(key, documents)?.into_iter();
                values.map(|value| key_of(&value?)).collect()
            }
        };
        let mut keyed: Vec<_> = keys.into_iter().zip(documents.drain(..)).collect();
        keyed.sort_by(|(one, a), (other, b)| {
            let order = match (one, other) {
                (None, None) => Ordering::Equal,
                (None, Some(_)) => Ordering::Greater,
                (Some(_), None) => Ordering::Less,
                (Some(one), Some(other)) if self.is_descending => other.cmp(one),
                (Some(one), Some(other)) => one.cmp(other),
            };
            order.then_with(|| a.path.cmp(&b.path))
        });
        let with_key = keyed.iter().take_while(|(key, _)| key.is_some()).count();
        documents.extend(keyed.into_iter().map(|(_, document)| document));
        Ok(with_key)
    }
}

/// Returns the key of a value; `None` for a list, a map or `null`.
fn key_of(value: &Value) -> Option<SortKey> {
    match value {
        Value::Number(number) => Some(SortKey::of(&number.to_string())),
        Value::String(text) => Some(SortKey::of(text)),
        Value::Bool(is_so) => Some(SortKey::of_text(is_so.to_string())),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
