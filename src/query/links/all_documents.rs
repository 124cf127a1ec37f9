//! All documents of a snapshot, by what links name them.
//!
//! A command that follows the links of all documents asks the store once, and not for each link. Invariant: the documents
//! are those that the store returns for the same question, in the same order.

use std::collections::HashMap;

use crate::error::Result;
use crate::links::split_extension;
use crate::prepare::{name_bounds, name_key};
use crate::store::{Lookup, Reader, StoredDocument};

/// The number of documents whose names are read together.
const TOGETHER: usize = 256;

/// All documents, by path, by id, by the ends of their paths and by the keys of their names.
#[derive(Debug)]
pub(in crate::query) struct AllDocuments {
    /// In the order of their paths.
    documents: Vec<StoredDocument>,
    by_id: HashMap<i64, usize>,
    by_name: Vec<(String, usize)>,
    by_key: Vec<(i64, usize)>,
}

impl AllDocuments {
    /// Reads all documents and their names.
    pub(super) fn read(reader: &dyn Reader) -> Result<Self> {
        let documents = reader.all(&Lookup::All)?;
        let mut by_key = Vec::new();
        for (number, batch) in documents.chunks(TOGETHER).enumerate() {
            for (offset, outgoing) in reader.all_links(batch)?.into_iter().enumerate() {
                let index = number * TOGETHER + offset;
                by_key.extend(outgoing.name_keys().into_iter().map(|key| (key, index)));
            }
        }
        Ok(Self::new(documents, by_key))
    }

    /// `documents` are in the order of their paths. `by_key` has the key of each of their names with the index of the
    /// document.
    pub(in crate::query) fn new(
        documents: Vec<StoredDocument>,
        mut by_key: Vec<(i64, usize)>,
    ) -> Self {
        let numbered = documents.iter().enumerate();
        let by_id = numbered.clone().map(|(index, document)| (document.id, index)).collect();
        let name = |path: &str| name_key(split_extension(path).0);
        let mut by_name: Vec<(String, usize)> =
            numbered.map(|(index, document)| (name(&document.path), index)).collect();
        by_name.sort_unstable();
        by_key.sort_unstable();
        Self { documents, by_id, by_name, by_key }
    }

    /// Returns all documents, in the order of their paths.
    pub(in crate::query) fn documents(&self) -> &[StoredDocument] {
        &self.documents
    }

    /// Returns the document whose path is exactly `path`.
    pub(super) fn at(&self, path: &str) -> Option<&StoredDocument> {
        let index = self.documents.binary_search_by(|document| document.path.as_str().cmp(path));
        self.documents.get(index.ok()?)
    }

    /// Returns the document with this id.
    pub(super) fn with_id(&self, id: i64) -> Option<&StoredDocument> {
        self.documents.get(*self.by_id.get(&id)?)
    }

    /// Returns the documents whose path without extension ends in `name`.
    pub(super) fn named(&self, name: &str) -> Vec<StoredDocument> {
        let (start, end) = name_bounds(name);
        let first = self.by_name.partition_point(|(key, _)| *key < start);
        let named = self.by_name.iter().skip(first).take_while(|(key, _)| *key < end);
        self.in_order(named.map(|(_, index)| *index).collect())
    }

    /// Returns the documents that have a name with this key.
    pub(super) fn with_name_key(&self, key: i64) -> Vec<StoredDocument> {
        let first = self.by_key.partition_point(|(other, _)| *other < key);
        let having = self.by_key.iter().skip(first).take_while(|(other, _)| *other == key);
        self.in_order(having.map(|(_, index)| *index).collect())
    }

    fn in_order(&self, mut indices: Vec<usize>) -> Vec<StoredDocument> {
        indices.sort_unstable();
        indices.dedup();
        indices.into_iter().filter_map(|index| self.documents.get(index)).cloned().collect()
    }
}
