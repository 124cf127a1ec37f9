//! Labels: the type and the tags of a document, which every record of its nodes repeats.
//!
//! Invariant: labels come from the front matter. A document without labels has none in the answer.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::{List, Session};
use crate::error::Result;
use crate::markdown::front_matter;
use crate::store::{FrontMatterData, Lookup};

/// Number of documents whose labels are read together.
const LABELS_AT_ONCE: usize = 1_000;

/// The type and the tags of a document.
#[derive(Clone, Debug, Default)]
pub struct Labels {
    /// The value of the key `type`, if it is text.
    pub document_type: Option<String>,
    /// The tags, case-folded and sorted. Filters and queries also take them without their accents.
    pub tags: Vec<String>,
}

impl Labels {
    pub(super) fn new(values: &FrontMatterData) -> Self {
        let Some(values) = values else { return Self::default() };
        let kind = values.get("type").and_then(Value::as_str);
        Self { document_type: kind.map(str::to_owned), tags: sorted_tags(values) }
    }
}

/// Returns the tags in front matter, case-folded and sorted.
pub(super) fn sorted_tags(values: &Map<String, Value>) -> Vec<String> {
    let mut tags = front_matter::tags(values);
    tags.sort_unstable();
    tags
}

/// The labels of documents, by path.
#[derive(Clone, Debug, Default)]
pub struct DocumentLabels(Arc<HashMap<String, Labels>>);

impl DocumentLabels {
    /// Reads the labels of the documents at `paths`.
    fn read(session: &Session<'_>, mut paths: Vec<&str>) -> Result<Self> {
        paths.sort_unstable();
        paths.dedup();
        let mut all = HashMap::with_capacity(paths.len());
        for part in paths.chunks(LABELS_AT_ONCE) {
            let documents = session.reader.all(&Lookup::Paths(part))?;
            let values = session.reader.front_matters(&documents)?;
            for (document, values) in documents.into_iter().zip(values) {
                all.insert(document.path, Labels::new(&values));
            }
        }
        Ok(Self(Arc::new(all)))
    }

    /// Returns the type of a node of the document at `path`, which is the type of the document, or else `word`; and
    /// the tags of the document.
    pub fn of<'a>(&'a self, path: &str, word: &'a str) -> (&'a str, &'a [String]) {
        let labels = self.0.get(path);
        let kind = labels.and_then(|labels| labels.document_type.as_deref()).unwrap_or(word);
        (kind, labels.map_or(&[], |labels| &labels.tags))
    }
}

/// Reads the labels that the records of an answer print.
pub fn read_labels(session: &Session<'_>, answer: &mut impl List) -> Result<()> {
    let labels = DocumentLabels::read(session, answer.labeled_files())?;
    if let Some(page) = answer.page_mut() {
        page.labels = labels;
    }
    Ok(())
}
