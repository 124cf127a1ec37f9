//! The rows that are derived from the bytes of a document.
//!
//! The writer stores them, and the checks read them back. Invariant: the checks compare every field
//! that the writer stores.

use std::collections::BTreeSet;

use crate::error::{Error, ErrorKind, Result};
use crate::limits;
use crate::links::split_extension;
use crate::markdown::front_matter;
use crate::markdown::outline::{Node, NodeKind, Outline};

use super::checksums::{self, ChecksumInput, Checksums};
use super::{ParsedDocument, integer, name_key, title_keys};
use crate::codec::{data, markup, outline};
use crate::terms::{DocumentNames, folded};

/// A diagnostic of the parser in its stored form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredDiagnostic {
    pub(crate) code: String,
    pub(crate) line: Option<i64>,
    pub(crate) message: String,
}

/// All rows of a document except its bytes and its keys in the link graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DerivedRows {
    /// The path relative to the root.
    pub(crate) path: String,
    /// The form of the path in which suffixes are looked up: [`super::name_key`].
    pub(crate) name_key: String,
    /// blake3 of the bytes.
    pub(crate) hash: [u8; 32],
    /// The numbers of lines, words, sections, blocks and links.
    pub(crate) counts: [i64; 5],
    /// Whether the document contains bytes that are not UTF-8.
    pub(crate) is_lossy: bool,
    /// Whether the document contains LDMD markers.
    pub(crate) has_markup: bool,
    pub(crate) outline: Option<Vec<u8>>,
    pub(crate) title_keys: Option<String>,
    pub(crate) markup: Option<Vec<u8>>,
    /// The distinct ids of the LDMD sections, ascending.
    pub(crate) markup_ids: Vec<String>,
    pub(crate) links: Option<Vec<u8>>,
    /// The packed code blocks, tables and tasks.
    pub(crate) data: [Option<Vec<u8>>; 3],
    /// The front matter as JSON.
    pub(crate) front_matter: Option<String>,
    /// The keys of its tags; see [`tag_keys`].
    pub(crate) tags: Vec<String>,
    pub(crate) diagnostics: Vec<StoredDiagnostic>,
}

/// Returns the distinct forms in which tags are compared, ascending. They are folded as the words of a query are, so
/// that `--tag` and `tags:` find the same.
pub(crate) fn tag_keys(tags: &[String]) -> Vec<String> {
    distinct(tags.iter().map(|tag| folded(tag)))
}

/// Returns the distinct texts, ascending.
fn distinct(texts: impl IntoIterator<Item = String>) -> Vec<String> {
    texts.into_iter().collect::<BTreeSet<_>>().into_iter().collect()
}

/// Returns the counts of a document that has `links` links.
pub(crate) fn counts(outline: &Outline, links: usize) -> [i64; 5] {
    let is_block = |node: &&Node| matches!(node.kind, NodeKind::Block(_));
    let blocks = outline.nodes.iter().filter(is_block).count();
    [outline.lines, outline.document.words, outline.sections.len(), blocks, links].map(integer)
}

/// Returns the error that rows of the document at `path` cannot be written in the form in which they are stored.
pub(crate) fn unpackable(path: &str, reason: &str) -> Error {
    Error::new(ErrorKind::Io, format!("{path}: {reason}"))
}

impl DerivedRows {
    /// Derives the rows of a document. Fails with `outline-bytes` if the outline, the titles, the
    /// LDMD markup or the data is too large.
    pub(crate) fn of(new: &ParsedDocument, tags: &[String]) -> Result<Self> {
        let packing = |error: postcard::Error| unpackable(&new.path, &error.to_string());
        let tree = &new.document.outline;
        let packed = outline::encode(tree).map_err(packing)?;
        let front_matter = new.document.front_matter.as_ref();
        let title = front_matter.and_then(front_matter::title);
        let title_keys = title_keys::of(tree, title.as_deref());
        let has_markup = !new.markup.is_empty();
        let packed_markup =
            has_markup.then(|| markup::encode(&new.markup)).transpose().map_err(packing)?;
        let contents = &new.contents;
        let data = [
            data::encode(&contents.code).map_err(packing)?,
            data::encode(&contents.tables).map_err(packing)?,
            data::encode(&contents.tasks).map_err(packing)?,
        ];
        let others = data.iter().chain([&packed_markup]).flatten().map(Vec::len);
        if others.fold(packed.len().max(title_keys.len()), usize::max) > limits::MAX_OUTLINE_BYTES {
            return Err(limits::exceeded(limits::row::MAX_OUTLINE_BYTES));
        }
        let links = (!new.links.is_empty()).then(|| postcard::to_stdvec(&new.links));
        Ok(Self {
            path: new.path.clone(),
            name_key: name_key(split_extension(&new.path).0),
            hash: new.hash,
            counts: counts(tree, new.links.links.len()),
            is_lossy: new.document.is_lossy,
            has_markup,
            outline: Some(packed),
            title_keys: Some(title_keys).filter(|keys| !keys.is_empty()),
            markup: packed_markup,
            markup_ids: distinct(new.markup.sections.iter().map(|section| section.id.clone())),
            links: links.transpose().map_err(packing)?,
            data,
            front_matter: front_matter
                .map(serde_json::to_string)
                .transpose()
                .map_err(|error| unpackable(&new.path, &error.to_string()))?,
            tags: tag_keys(tags),
            diagnostics: new
                .document
                .diagnostics
                .iter()
                .map(|diagnostic| StoredDiagnostic {
                    code: diagnostic.code.to_owned(),
                    line: diagnostic.line.map(integer),
                    message: diagnostic.message.clone(),
                })
                .collect(),
        })
    }

    /// Returns what the document is found by besides its own text. `title` is the title in the front matter.
    pub(crate) fn names<'a>(&'a self, title: Option<&'a str>) -> DocumentNames<'a> {
        let title_keys = self.title_keys.as_deref().unwrap_or_default();
        DocumentNames { path: &self.path, tags: self.tags.clone(), title, title_keys }
    }

    /// Returns the checksums of these rows of a document of `size` bytes.
    pub(crate) fn checksums(&self, size: u64) -> Checksums {
        let mut rest = ChecksumInput::default();
        rest.text(&self.name_key);
        self.counts.iter().for_each(|count| rest.field(&count.to_le_bytes()));
        rest.optional(self.title_keys.as_ref().map(String::as_bytes));
        rest.list(&self.markup_ids);
        for diagnostic in &self.diagnostics {
            rest.text(&diagnostic.code);
            rest.field(&diagnostic.line.unwrap_or(-1).to_le_bytes());
            rest.text(&diagnostic.message);
        }
        let row = checksums::row(&self.path, &self.hash, size, self.is_lossy, self.has_markup);
        let front_matter = self.front_matter.as_ref().map(String::as_bytes);
        let outline = self.outline.as_deref();
        let parts = [outline, self.markup.as_deref(), self.links.as_deref(), front_matter];
        let data = self.data.each_ref().map(|data| data.as_deref());
        Checksums::new(row, parts, &self.tags, &rest, data)
    }

    /// Returns one hash of all rows. Older versions of mdsel stored it instead of [`Checksums`].
    pub(crate) fn whole_hash(&self) -> [u8; 32] {
        let mut fields = ChecksumInput::default();
        fields.text(&self.path);
        fields.text(&self.name_key);
        fields.field(&self.hash);
        self.counts.iter().for_each(|count| fields.field(&count.to_le_bytes()));
        fields.field(&[u8::from(self.is_lossy), u8::from(self.has_markup)]);
        fields.optional(self.outline.as_deref());
        fields.optional(self.title_keys.as_ref().map(String::as_bytes));
        fields.optional(self.markup.as_deref());
        fields.list(&self.markup_ids);
        fields.optional(self.links.as_deref());
        fields.optional(self.front_matter.as_ref().map(String::as_bytes));
        fields.list(&self.tags);
        for diagnostic in &self.diagnostics {
            fields.text(&diagnostic.code);
            fields.field(&diagnostic.line.unwrap_or(-1).to_le_bytes());
            fields.text(&diagnostic.message);
        }
        fields.hash()
    }

    /// Returns the name of the first part that differs from `other`.
    pub(crate) fn difference(&self, other: &Self) -> Option<&'static str> {
        [
            ("path", self.path == other.path && self.name_key == other.name_key),
            ("hash", self.hash == other.hash),
            ("outline", self.outline == other.outline),
            ("titles", self.title_keys == other.title_keys),
            ("LDMD sections", self.markup == other.markup && self.markup_ids == other.markup_ids),
            ("links", self.links == other.links),
            ("code blocks, tables and tasks", self.data == other.data),
            ("front matter", self.front_matter == other.front_matter),
            ("tags", self.tags == other.tags),
            ("diagnostics", self.diagnostics == other.diagnostics),
            ("counts", self == other),
        ]
        .into_iter()
        .find_map(|(part, is_equal)| (!is_equal).then_some(part))
    }
}
