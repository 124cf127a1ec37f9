//! Reading one unchanging generation of a store.
//!
//! Each method is a question that a server can answer in one round trip: it takes a batch and gives a
//! batch, and which documents are meant is data. Invariants: all answers of a reader come from one
//! generation. Documents are in path order, each once. The answers about several documents are in
//! the order of those documents.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, Value};

use super::{DocumentFilter, Ranking, SectionFilter, StoredDocument};
use crate::corpus::{IngestOptions, Roots};
use crate::data::expression::value_at;
use crate::data::{CodeItem, Expression, TaskEntry};
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::ldmd::Markup;
use crate::links::Outgoing;
use crate::markdown::contents::Table;
use crate::markdown::outline::Outline;
use crate::position::ByteSpan;
use crate::prepare::rows::DerivedRows;
use crate::terms::{TrigramQuery, WordQuery};

/// What is known about a store without asking it anything.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The path of the store file; `None` if the store is not a file.
    pub path: Option<PathBuf>,
    /// The files and folders that belong to the store and are never documents.
    pub own_files: Vec<PathBuf>,
    /// The folder that document paths are relative to. It may not exist.
    pub root: PathBuf,
    /// The options of the last ingest; the defaults if they are damaged.
    pub options: IngestOptions,
    /// Whether the stored options are damaged, so that nothing is known about collections and about which files are
    /// ingested.
    pub has_lost_options: bool,
    /// The number of commits that changed a document.
    pub generation: u64,
    /// Whether the documents were parsed with the parser version of this program.
    pub has_current_parser: bool,
    /// Whether an edit was started and not finished.
    pub is_interrupted: bool,
    /// The documents of edits that were started in other folders and not finished, each with that folder.
    pub edited_elsewhere: Vec<(String, String)>,
}

/// The totals of a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, schemars::JsonSchema, serde::Serialize)]
pub struct Totals {
    /// Number of documents.
    pub documents: usize,
    /// Number of sections.
    pub sections: usize,
    /// Number of blocks of all types, including those in lists and block quotes.
    pub blocks: usize,
    /// Number of links in text and front matter, without links to external addresses.
    pub links: usize,
    /// Bytes of all documents.
    pub bytes: usize,
    /// Words of all documents.
    pub words: usize,
    /// Lines of all documents.
    pub lines: usize,
    /// Number of diagnostics of the parser.
    pub diagnostics: usize,
}

/// Which documents are meant.
#[derive(Clone, Copy, Debug)]
pub enum Lookup<'a> {
    /// All documents.
    All,
    /// The documents that a filter admits, among those with these ids, which ascend.
    Among(&'a DocumentFilter, &'a [i64]),
    /// The documents that a filter admits and that have a key of each set. The keys are hashes of
    /// [`crate::data::Key`]. Possibly others, which have another key with the same hash.
    Data(&'a DocumentFilter, &'a [Vec<i64>]),
    /// The documents with these ids.
    Ids(&'a [i64]),
    /// The documents at these paths.
    Paths(&'a [&'a str]),
    /// The documents in this folder and its subfolders.
    Folder(&'a str),
    /// The documents whose folded path without extension is one of these names without regard to
    /// case, or ends with `/` and one of them.
    Names(&'a [&'a str]),
    /// The documents whose file names begin with the first character of the last component of this
    /// name, or with any digit if that is one, at most [`crate::limits::MAX_NAMESPACES_COMPARED`].
    LikeName(&'a str),
    /// The documents whose file names begin with a digit.
    Numbered,
    /// The documents that have a section whose title, path part or anchor is one of these texts.
    Titles(&'a [&'a str]),
    /// The documents that may have a section whose title or path part contains one of these texts.
    /// None that has one is missing.
    TitleParts(&'a [&'a str]),
    /// The documents that have an LDMD section with one of these ids.
    LdmdSections(&'a [&'a str]),
    /// The documents that have a link with one of these keys, and possibly others.
    LinkKeys(&'a [i64]),
    /// The documents that have a name with this key, and possibly others.
    NameKey(i64),
}

/// The number of documents by the key of front matter and the name of the type of its value.
pub type KeyTypes = BTreeMap<(String, String), usize>;

/// The front matter of a document; `None` if it has none or it could not be parsed.
pub type FrontMatterData = Option<Map<String, Value>>;

/// What a reader is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// For everything except searches.
    Read,
    /// Like [`Self::Read`], but fails with `LOCKED` if another program locks the whole store for this long.
    ReadWithin(Duration),
    /// Also for searches.
    Search,
}

/// One unchanging generation of a store.
pub trait Reader: Debug + Send + Sync {
    /// Returns what is known about the store.
    fn facts(&self) -> &Facts;

    /// Returns the warnings about this reader since the last call.
    fn take_warnings(&self) -> Vec<Warning>;

    /// Returns the generation that the index for searches was built from; `None` if there is no usable
    /// index.
    fn index_generation(&self) -> Option<u64>;

    /// Returns the totals of the store.
    fn totals(&self) -> Result<Totals>;

    /// Returns the folders that have documents directly in them, with the number of these, in the order of their paths.
    /// A path ends with `/` here, and that of the root is empty.
    fn folders(&self) -> Result<Vec<(String, usize)>>;

    /// Returns the number of documents in `folder` and its subfolders, and the sum of their bytes.
    fn size_of_folder(&self, folder: &str) -> Result<(usize, u64)>;

    /// Returns the first `most` of the documents that `which` means whose paths are greater than
    /// `after`.
    fn documents(
        &self,
        which: &Lookup<'_>,
        after: Option<&str>,
        most: usize,
    ) -> Result<Vec<StoredDocument>>;

    /// Returns the ids of the documents of [`Lookup::TitleParts`], ascending.
    fn with_title_parts(&self, texts: &[&str]) -> Result<Vec<i64>> {
        let documents = self.all(&Lookup::TitleParts(texts))?;
        let mut ids: Vec<i64> = documents.iter().map(|document| document.id).collect();
        ids.sort_unstable();
        Ok(ids)
    }

    /// Returns the structures of documents.
    fn outlines(&self, documents: &[StoredDocument]) -> Result<Vec<Outline>>;

    /// Returns the LDMD sections of documents and the problems with their markers.
    fn markups(&self, documents: &[StoredDocument]) -> Result<Vec<Markup>>;

    /// Returns the links and the names of documents.
    fn all_links(&self, documents: &[StoredDocument]) -> Result<Vec<Outgoing>>;

    /// Returns the keys of the tags of documents, sorted.
    fn all_tags(&self, documents: &[StoredDocument]) -> Result<Vec<Vec<String>>>;

    /// Returns the keys and values of the front matter of documents.
    fn front_matters(&self, documents: &[StoredDocument]) -> Result<Vec<FrontMatterData>>;

    /// Returns the code blocks of documents, in document order.
    fn all_code(&self, documents: &[StoredDocument]) -> Result<Vec<Vec<CodeItem>>>;

    /// Returns the tables of documents, in document order.
    fn all_tables(&self, documents: &[StoredDocument]) -> Result<Vec<Vec<Table>>>;

    /// Returns the tasks of documents, in document order.
    fn all_tasks(&self, documents: &[StoredDocument]) -> Result<Vec<Vec<TaskEntry>>>;

    /// Keeps the documents that `filter` admits.
    fn retain(&self, filter: &DocumentFilter, documents: &mut Vec<StoredDocument>) -> Result<()> {
        retain_by_rows(self, filter, documents)
    }

    /// Returns the value of a key of front matter for each document, if it has the key; see
    /// [`value_at`].
    fn values_of(&self, key: &str, documents: &[StoredDocument]) -> Result<Vec<Option<Value>>> {
        values_in_rows(self, key, documents)
    }

    /// Returns whether the front matter of a document has the key; see [`value_at`].
    fn has_front_matter_key(&self, key: &str) -> Result<bool> {
        is_key_of_a_document(self, key)
    }

    /// Returns the keys of the front matter of the documents that `filter` admits, as they are
    /// written, with the names of the types of their values: for each pair the number of documents.
    fn front_matter_keys(&self, filter: &DocumentFilter) -> Result<KeyTypes>;

    /// Returns the ids of the documents that the parser reported with this code.
    fn with_diagnostic(&self, code: &str) -> Result<HashSet<i64>>;

    /// Returns the number of documents that the index for searches has and the store lacks, and the number of those that
    /// the store has and the index lacks, if the store is not a file. A file is checked as a whole.
    fn index_difference(&self) -> Result<(usize, usize)>;

    /// Returns all that is stored of documents except their bytes and what they are found by.
    fn derived(&self, documents: &[StoredDocument]) -> Result<Vec<DerivedRows>>;

    /// Returns the ids of the documents that are found by other keys than `rows` give, if the store is not a file. A file
    /// is checked as a whole.
    fn with_other_keys(&self, rows: &[(&StoredDocument, &DerivedRows)]) -> Result<HashSet<i64>>;

    /// Returns the bytes of documents within spans, each clipped to its document.
    fn contents(&self, parts: &[(&StoredDocument, ByteSpan)]) -> Result<Vec<Vec<u8>>>;

    /// Returns the `count` link keys that occur in the most documents, with the number of these
    /// documents.
    fn frequent_link_keys(&self, count: usize) -> Result<Vec<(i64, usize)>>;

    /// Returns the best `count` sections for `query` that `filter` admits, best first. A ranking that is not
    /// complete may have fewer; a greater `count` gives more.
    fn ranked(
        &self,
        query: &WordQuery,
        filter: &SectionFilter<'_>,
        count: usize,
    ) -> Result<Ranking>;

    /// Returns the ids of the documents that may match `query`, which ascend. None that matches is missing. Returns
    /// `None` if each document may match.
    fn candidates(&self, query: &TrigramQuery) -> Result<Option<Vec<i64>>>;

    /// Returns the path of the store file; `None` if the store is not a file.
    fn path(&self) -> Option<&Path> {
        self.facts().path.as_deref()
    }

    /// Returns the folder that document paths are relative to. It may not exist.
    fn root(&self) -> &Path {
        &self.facts().root
    }

    /// Returns the folders of the documents.
    fn roots(&self) -> Roots {
        Roots::of_store(self.path(), self.root(), self.options())
    }

    /// Returns the options of the last ingest.
    fn options(&self) -> &IngestOptions {
        &self.facts().options
    }

    /// Returns the generation: the number of commits that changed a document.
    fn generation(&self) -> u64 {
        self.facts().generation
    }

    /// Returns all documents that `which` means.
    fn all(&self, which: &Lookup<'_>) -> Result<Vec<StoredDocument>> {
        self.documents(which, None, usize::MAX)
    }

    /// Returns the document whose path is exactly `path`, if any.
    fn document_at(&self, path: &str) -> Result<Option<StoredDocument>> {
        Ok(self.documents(&Lookup::Paths(&[path]), None, 1)?.pop())
    }

    /// Returns the document with this id, if any.
    fn document(&self, id: i64) -> Result<Option<StoredDocument>> {
        Ok(self.documents(&Lookup::Ids(&[id]), None, 1)?.pop())
    }

    /// Returns whether there is a document below `folder`.
    fn is_folder(&self, folder: &str) -> Result<bool> {
        Ok(!self.documents(&Lookup::Folder(folder), None, 1)?.is_empty())
    }

    /// Returns the structure of a document.
    fn outline(&self, document: &StoredDocument) -> Result<Outline> {
        only(self.outlines(std::slice::from_ref(document))?)
    }

    /// Returns the LDMD sections of a document and the problems with its markers.
    fn markup(&self, document: &StoredDocument) -> Result<Markup> {
        only(self.markups(std::slice::from_ref(document))?)
    }

    /// Returns the links and the names of a document.
    fn links(&self, document: &StoredDocument) -> Result<Outgoing> {
        only(self.all_links(std::slice::from_ref(document))?)
    }

    /// Returns the keys of the tags of a document, in which tags are compared, sorted.
    fn tags(&self, document: &StoredDocument) -> Result<Vec<String>> {
        only(self.all_tags(std::slice::from_ref(document))?)
    }

    /// Returns the keys and values of the front matter of a document.
    fn front_matter(&self, document: &StoredDocument) -> Result<FrontMatterData> {
        only(self.front_matters(std::slice::from_ref(document))?)
    }

    /// Returns the code blocks of a document, in document order.
    fn code(&self, document: &StoredDocument) -> Result<Vec<CodeItem>> {
        only(self.all_code(std::slice::from_ref(document))?)
    }

    /// Returns the tables of a document, in document order.
    fn tables(&self, document: &StoredDocument) -> Result<Vec<Table>> {
        only(self.all_tables(std::slice::from_ref(document))?)
    }

    /// Returns the tasks of a document, in document order.
    fn tasks(&self, document: &StoredDocument) -> Result<Vec<TaskEntry>> {
        only(self.all_tasks(std::slice::from_ref(document))?)
    }

    /// Returns the bytes of a document within `span`, clipped to the document.
    fn content(&self, document: &StoredDocument, span: ByteSpan) -> Result<Vec<u8>> {
        only(self.contents(&[(document, span)])?)
    }
}

/// Returns the answer about one document.
///
/// # Errors
///
/// `STORE_CORRUPT` if the engine has no answer about the document.
fn only<T>(mut answers: Vec<T>) -> Result<T> {
    answers.pop().ok_or_else(|| {
        Error::new(ErrorKind::StoreCorrupt, "the store has no answer about one of its documents")
            .with_hint("run `mdsel verify`, which finds damaged documents")
    })
}

/// Implements [`Reader::retain`] by reading the tags and the front matter of each document.
pub(super) fn retain_by_rows(
    reader: &(impl Reader + ?Sized),
    filter: &DocumentFilter,
    documents: &mut Vec<StoredDocument>,
) -> Result<()> {
    documents.retain(|document| filter.takes_name(document.id, &document.path));
    if !filter.tags.is_empty() {
        let mut tags = reader.all_tags(documents)?.into_iter();
        documents.retain(|_| tags.next().is_some_and(|tags| filter.takes_tags(&tags)));
    }
    if filter.condition.is_some() {
        let mut values = reader.front_matters(documents)?.into_iter();
        documents.retain(|_| filter.takes_values(&values.next().flatten().unwrap_or_default()));
    }
    Ok(())
}

/// Implements [`Reader::values_of`] by reading the front matter of each document.
pub(super) fn values_in_rows(
    reader: &(impl Reader + ?Sized),
    key: &str,
    documents: &[StoredDocument],
) -> Result<Vec<Option<Value>>> {
    let values = reader.front_matters(documents)?.into_iter();
    Ok(values.map(|values| value_at(values.as_ref()?, key).map(Cow::into_owned)).collect())
}

/// Implements [`Reader::has_front_matter_key`] by looking for a document.
pub(super) fn is_key_of_a_document(reader: &(impl Reader + ?Sized), key: &str) -> Result<bool> {
    let condition = Some(Expression::Exists(key.to_owned()));
    let filter = DocumentFilter { condition, ..DocumentFilter::default() };
    Ok(!reader.documents(&Lookup::Data(&filter, &[]), None, 1)?.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_without_an_answer_is_an_error_and_not_an_empty_document() {
        let outlines: Vec<Outline> = Vec::new();
        assert_eq!(only(outlines).unwrap_err().kind(), ErrorKind::StoreCorrupt);
        assert_eq!(only(vec![1]).unwrap(), 1);
    }
}
