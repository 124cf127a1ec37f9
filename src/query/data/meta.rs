//! `meta`: lists the front matter of documents, and the keys of all front matter with their types.
//!
//! Invariant: front matter that could not be parsed counts as absent, and a warning says so.

use std::collections::{BTreeMap, HashSet};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{ItemRequest, Source, is_unexplained, list, list_of_items, no_items};
use crate::address::FRONT_MATTER_PLACE;
use crate::data::Expression;
use crate::data::expression::value_at;
use crate::error::{Result, Warning};
use crate::query::cursor::most;
use crate::query::filter::Filter;
use crate::query::freshness::Freshness;
use crate::query::open_document::OpenDocument;
use crate::query::page::{cut, longest};
use crate::query::warning::{UNREADABLE, parsed_before, unreadable_within};
use crate::query::{FilterRequest, Page, Session};
use crate::store::{DocumentFilter, Lookup, StoredDocument};

/// What the values of this module are in.
const FRONT_MATTER: &str = "front matter";

/// A request for front matter.
#[derive(Clone, Debug)]
pub struct MetaRequest {
    /// The keys to show; empty for all.
    pub keys: Vec<String>,
    /// The documents and the part of the list.
    pub items: ItemRequest,
}

/// The front matter of a document.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Document {
    /// The address of the front matter, or of the document if it has none.
    pub selector: String,
    /// The path of the document.
    pub file: String,
    /// The keys and values.
    pub meta: Map<String, Value>,
    /// Whether the file differs from the stored document.
    #[serde(flatten)]
    pub freshness: Freshness,
}

/// The documents that were found, in the order of their paths.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct MetaAnswer {
    /// The documents of this part of the list.
    pub documents: Vec<Document>,
    /// Warnings, unresolved addresses and the cursor.
    #[serde(flatten)]
    pub page: Page,
}

list_of_items!(
    MetaAnswer,
    documents,
    "this item is cut; `mdsel select {path}` prints all of it",
    selector,
    "?full=true",
    [file],
    |item: &Document| item.meta.values().map(longest_within).max().unwrap_or(0),
    |item: &mut Document, size| {
        for value in item.meta.values_mut() {
            cut_value(value, size);
        }
    }
);

/// Returns the length of the longest text, list or mapping within `value`.
fn longest_within(value: &Value) -> usize {
    match value {
        Value::String(text) => text.chars().count(),
        Value::Array(values) => {
            values.iter().map(longest_within).max().unwrap_or(0).max(values.len())
        }
        Value::Object(map) => map.values().map(longest_within).max().unwrap_or(0).max(map.len()),
        _ => 0,
    }
}

/// Cuts each text and each list or mapping within `value` to this length.
fn cut_value(value: &mut Value, most: usize) {
    match value {
        Value::String(text) => cut(text, most),
        Value::Array(values) => {
            values.truncate(most);
            for value in values {
                cut_value(value, most);
            }
        }
        Value::Object(map) => {
            *map = std::mem::take(map).into_iter().take(most).collect();
            for value in map.values_mut() {
                cut_value(value, most);
            }
        }
        _ => {}
    }
}

struct FrontMatterSource<'a> {
    session: &'a Session<'a>,
    keys: &'a [String],
    filter: &'a FilterRequest,
    /// The ids of the documents whose front matter could not be parsed, once they are needed.
    faulty: Option<HashSet<i64>>,
}

impl FrontMatterSource<'_> {
    /// Returns whether the front matter of a document could not be parsed.
    fn is_faulty(&mut self, stored: &StoredDocument) -> Result<bool> {
        let faulty = match self.faulty.take() {
            Some(faulty) => faulty,
            None => self.session.reader.with_diagnostic(UNREADABLE)?,
        };
        Ok(self.faulty.insert(faulty).contains(&stored.id))
    }
}

impl Source for FrontMatterSource<'_> {
    type Found = Map<String, Value>;
    type Item = Document;

    fn find(&mut self, stored: &StoredDocument) -> Result<Vec<Map<String, Value>>> {
        let values = self.session.reader.front_matter(stored)?;
        // Without values, either there is no front matter or it could not be parsed.
        if values.is_none() && self.is_faulty(stored)? {
            return Ok(Vec::new());
        }
        if self.keys.is_empty() {
            let missing = self.filter.condition.is_some().then(Map::new);
            return Ok(values.or(missing).into_iter().collect());
        }
        let values = values.unwrap_or_default();
        let shown: Map<String, Value> = self
            .keys
            .iter()
            .filter_map(|key| Some((key.clone(), value_at(&values, key)?.into_owned())))
            .collect();
        Ok(if shown.is_empty() { Vec::new() } else { vec![shown] })
    }

    fn node(_: &Map<String, Value>) -> Option<usize> {
        None
    }

    const ITEM: &'static str = FRONT_MATTER;

    fn has_items(&self, session: &Session<'_>, filter: &DocumentFilter) -> Result<bool> {
        Ok(!session.reader.front_matter_keys(filter)?.is_empty())
    }

    fn warning(&self, filter: &Filter) -> Result<Option<Warning>> {
        // A filter with a condition has this warning.
        if self.filter.has_condition() {
            return Ok(None);
        }
        unreadable_within(self.session, &filter.documents)
    }

    fn show(&mut self, document: &OpenDocument, meta: Map<String, Value>) -> Result<Document> {
        let has_front_matter = document.tree.outline().front_matter.is_some();
        Ok(Document {
            selector: document.address(if has_front_matter { FRONT_MATTER_PLACE } else { "*" }),
            file: document.stored.path.clone(),
            meta,
            freshness: self.session.freshness(&document.stored),
        })
    }
}

/// Lists the front matter of documents.
pub fn meta(session: &Session<'_>, request: &MetaRequest) -> Result<MetaAnswer> {
    let mut items = request.items.clone();
    if !request.keys.is_empty() {
        items.filter.condition = Some(with_keys(items.filter.condition, &request.keys)?);
    }
    let mut values =
        FrontMatterSource { session, keys: &request.keys, filter: &items.filter, faulty: None };
    let (documents, page) = list(session, &items, &[], &mut values)?;
    Ok(MetaAnswer { documents, page })
}

/// Returns a condition that `condition` is true and that one of `keys` exists.
fn with_keys(condition: Option<String>, keys: &[String]) -> Result<String> {
    let exists = |key: &String| Expression::Exists(key.clone()).to_string();
    let keys = keys.iter().map(exists).collect::<Vec<_>>().join(" or ");
    Ok(match condition {
        // Parsed on its own first, so that an error is about the text that was given.
        Some(condition) => format!("({}) and ({keys})", Expression::parse(&condition)?),
        None => keys,
    })
}

/// A key of front matter.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Key {
    /// The key as it is written.
    pub key: String,
    /// The number of documents that have it.
    pub documents: usize,
    /// The number of documents by the type of the value: string, number, date, boolean, list, map,
    /// null.
    pub types: BTreeMap<String, usize>,
}

/// The keys of front matter, those of the most documents first.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Types {
    /// The keys of this part of the list.
    pub keys: Vec<Key>,
    /// Warnings, unresolved addresses and the cursor.
    #[serde(flatten)]
    pub page: Page,
}

list_of_items!(
    Types,
    keys,
    "this item is cut; `mdsel meta --get {}` prints all of it",
    key,
    "",
    [],
    |item: &Key| longest([item.key.as_str()]),
    |item: &mut Key, size| cut(&mut item.key, size)
);

/// Lists the keys of front matter with the types of their values.
pub fn types(session: &Session<'_>, request: &ItemRequest) -> Result<Types> {
    let filter = &request.filter;
    let mut page = Page::beginning(request.after, session.reader.generation());
    let filter_of_documents = Filter::new(session, filter)?;
    page.unresolved_selectors.clone_from(&filter_of_documents.faults);
    page.warnings.extend(filter_of_documents.warnings.iter().cloned());
    if filter.condition.is_none() {
        page.warnings.extend(parsed_before(session));
    }
    if !filter.has_condition() {
        page.warnings.extend(unreadable_within(session, &filter_of_documents.documents)?);
    }
    let documents = &filter_of_documents.documents;
    if session.can_compare_files() {
        let counted = session.reader.all(&Lookup::Data(documents, &[]))?;
        page.warnings.extend(session.warning_of_changes(&counted, Session::INGEST_UPDATES));
    }
    let mut keys: Vec<Key> = Vec::new();
    for ((key, type_name), count) in session.reader.front_matter_keys(documents)? {
        match keys.last_mut().filter(|last| last.key == key) {
            Some(last) => {
                last.documents += count;
                last.types.insert(type_name, count);
            }
            None => {
                let types = BTreeMap::from([(type_name, count)]);
                keys.push(Key { key, documents: count, types });
            }
        }
    }
    keys.sort_by(|one, other| other.documents.cmp(&one.documents).then(one.key.cmp(&other.key)));
    let start = page.part.start().min(keys.len());
    keys.drain(..start);
    if keys.is_empty() {
        page.warnings.extend(filter_of_documents.empty(session)?);
        if start == 0 && is_unexplained(&page) {
            page.warnings.push(no_items(FRONT_MATTER));
        }
    }
    let limit = most(request.limit);
    if keys.len() > limit {
        keys.truncate(limit);
        page.end(limit);
    }
    Ok(Types { keys, page })
}
