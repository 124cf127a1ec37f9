//! From the bytes of a file to a document that is ready to be stored.
//!
//! This is slow and needs no store, so an ingest does it on all cores. Every engine of the store takes
//! the same [`PreparedDocument`]. Invariant: the result depends only on the path, the bytes and
//! `PARSER_VERSION`.

pub(crate) mod checksums;
pub(crate) mod rows;
pub(crate) mod title_keys;
pub(crate) mod values;

use std::path::Path;

use serde_json::{Map, Value};

use self::checksums::Checksums;
use self::rows::DerivedRows;
use self::values::ValueRow;
use crate::codec::{self, content::ContentCompressor};
use crate::corpus::{FileState, bounds_below};
use crate::data::Contents;
use crate::error::{Error, ErrorKind, Result};
use crate::ldmd::{self, Markup};
use crate::limits;
use crate::links::{Outgoing, split_extension};
use crate::markdown::outline::Outline;
use crate::markdown::slug::fold;
use crate::markdown::{self, Diagnostic, Dialect, Document, front_matter};
use crate::terms::{DocumentText, TextExtractor};

/// The version of the parser and of what is derived from its result. It is incremented whenever the
/// same bytes give different rows, so that the next ingest parses all documents again.
pub(crate) const PARSER_VERSION: i64 = 25;

/// The version of documents that not one version of the parser parsed. The next ingest parses them all.
pub(crate) const MIXED_PARSERS: i64 = 0;

/// A parsed document.
#[derive(Debug)]
pub(crate) struct ParsedDocument {
    /// The path relative to the root, with `/` as separator.
    pub(crate) path: String,
    /// The bytes of the file.
    pub(crate) bytes: Vec<u8>,
    /// blake3 of the bytes.
    pub(crate) hash: [u8; 32],
    /// The metadata of the file when it was read.
    pub(crate) state: FileState,
    /// The structure of the document.
    pub(crate) document: Document,
    /// The code blocks, tables and tasks of the document.
    pub(crate) contents: Contents,
    /// The LDMD sections of the document.
    pub(crate) markup: Markup,
    /// The links of the document and the names by which other documents can link to it.
    pub(crate) links: Outgoing,
}

/// A document in the form in which it is written to a store.
#[derive(Debug)]
pub struct PreparedDocument {
    /// The metadata of the file when it was read.
    pub(crate) state: FileState,
    /// The bytes, compressed.
    pub(crate) chunks: Vec<Vec<u8>>,
    /// All rows except the bytes and the keys of links and names.
    pub(crate) rows: DerivedRows,
    /// The checksums of the rows.
    pub(crate) checksums: Checksums,
    /// The keys by which it is found.
    pub(crate) keys: LookupKeys,
    /// The values of its front matter.
    pub(crate) values: Vec<ValueRow>,
    /// The text to index.
    pub(crate) text: DocumentText,
    /// The problems that the parser reported.
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// Hashes of what a document is found by, each once.
#[derive(Debug)]
pub struct LookupKeys {
    /// Those of the targets of its links.
    pub(crate) links: Vec<i64>,
    /// Those of the names by which other documents can link to it.
    pub(crate) names: Vec<i64>,
    /// Those of its code blocks, tables and tasks.
    pub(crate) data: Vec<i64>,
}

impl LookupKeys {
    /// Returns the keys of the document at `path`.
    pub(crate) fn of(path: &str, links: &Outgoing, contents: &Contents) -> Self {
        Self { links: links.link_keys(path), names: links.name_keys(), data: contents.keys() }
    }
}

impl PreparedDocument {
    /// Returns the blake3 hash of the bytes.
    pub(crate) fn hash(&self) -> [u8; 32] {
        self.rows.hash
    }
}

/// Prepares documents. Each thread uses its own, because creating a compressor costs more than
/// compressing a small document.
pub(crate) struct Preparation {
    compressor: ContentCompressor,
    texts: TextExtractor,
}

impl Preparation {
    /// Creates a preparation. Fails if there is not enough memory for the compressor.
    pub(crate) fn new() -> Result<Self> {
        let compressor =
            ContentCompressor::new().map_err(|error| Error::io(Path::new("zstd"), error))?;
        Ok(Self { compressor, texts: TextExtractor::new() })
    }

    /// Parses the bytes of a document and prepares the result. The inner error is the reason why the
    /// bytes are not accepted as a document.
    pub(crate) fn of_bytes(
        &mut self,
        path: String,
        bytes: Vec<u8>,
        hash: [u8; 32],
        state: FileState,
    ) -> Result<std::result::Result<PreparedDocument, &'static str>> {
        if let Some(reason) = markdown::refusal(&bytes) {
            return Ok(Err(reason));
        }
        let document = markdown::parse_as(&bytes, Dialect::of(&path));
        let markup = ldmd::parse(&bytes, &document.opaque);
        self.of_parsed(path, bytes, hash, state, document, markup)
    }

    /// Prepares a parsed document. The inner error is the reason why the document is not accepted.
    pub(crate) fn of_parsed(
        &mut self,
        path: String,
        bytes: Vec<u8>,
        hash: [u8; 32],
        state: FileState,
        mut document: Document,
        markup: Markup,
    ) -> Result<std::result::Result<PreparedDocument, &'static str>> {
        let faults = markup.faults.iter();
        document.diagnostics.extend(faults.map(|fault| Diagnostic {
            code: fault.kind.code(),
            line: Some(fault.line),
            message: fault.message.clone(),
        }));
        let links = Outgoing::of(&document, &markup);
        let contents = Contents::of(std::mem::take(&mut document.contents));
        let parsed = ParsedDocument { path, bytes, hash, state, document, contents, markup, links };
        match self.finish(parsed) {
            // An index of a server takes no longer keys.
            Ok(document) if document.rows.name_key.len() > limits::MAX_PATH_BYTES => {
                Ok(Err("its case-folded path is longer than the limit path-bytes"))
            }
            Ok(document) => Ok(Ok(document)),
            Err(error) if error.kind() == ErrorKind::Limit => {
                Ok(Err("its outline is larger than the limit outline-bytes"))
            }
            Err(error) => Err(error),
        }
    }

    /// Prepares a stored document for another store without parsing it; `None` if its rows are damaged.
    pub(crate) fn of_rows(
        &mut self,
        rows: DerivedRows,
        bytes: &[u8],
        state: FileState,
    ) -> Result<Option<PreparedDocument>> {
        let Some((outline, links, contents)) = decoded(&rows, bytes.len()) else { return Ok(None) };
        let front_matter = rows.front_matter.as_deref();
        let Ok(values) = front_matter.map(serde_json::from_str).transpose() else {
            return Ok(None);
        };
        let values: Option<Map<String, Value>> = values;
        let title = values.as_ref().and_then(front_matter::title);
        let derived = Derived { rows, state, links: &links, contents: &contents };
        self.prepared(derived, bytes, title.as_deref(), &outline)
    }

    /// Derives all rows. Fails with [`ErrorKind::Limit`] if the outline is too large.
    fn finish(&mut self, parsed: ParsedDocument) -> Result<PreparedDocument> {
        let values = parsed.document.front_matter.as_ref();
        let tags = values.map(front_matter::tags).unwrap_or_default();
        let rows = DerivedRows::of(&parsed, &tags)?;
        let ParsedDocument { bytes, document, contents, links, state, .. } = parsed;
        let title = document.front_matter.as_ref().and_then(front_matter::title);
        let derived = Derived { rows, state, links: &links, contents: &contents };
        let path = derived.rows.path.clone();
        let prepared = self
            .prepared(derived, &bytes, title.as_deref(), &document.outline)?
            .ok_or_else(|| rows::unpackable(&path, "its front matter cannot be read again"))?;
        Ok(PreparedDocument { diagnostics: document.diagnostics, ..prepared })
    }

    /// Compresses the bytes of a document and derives what is stored besides its rows; `None` if these are damaged.
    fn prepared(
        &mut self,
        derived: Derived<'_>,
        bytes: &[u8],
        title: Option<&str>,
        outline: &Outline,
    ) -> Result<Option<PreparedDocument>> {
        let Derived { rows, state, links, contents } = derived;
        let Some(values) = values::of(rows.front_matter.as_deref()) else { return Ok(None) };
        let chunks = self
            .compressor
            .compress(bytes, &rows.hash)
            .map_err(|error| Error::io(Path::new(&rows.path), error))?;
        Ok(Some(PreparedDocument {
            state,
            chunks,
            checksums: rows.checksums(state.size),
            keys: LookupKeys::of(&rows.path, links, contents),
            values,
            text: self.texts.extract(rows.names(title), bytes, outline),
            diagnostics: Vec::new(),
            rows,
        }))
    }
}

/// Returns the keys of a document of `length` bytes; `None` if its rows are damaged.
#[cfg(feature = "postgres")]
pub(crate) fn keys_of_rows(rows: &DerivedRows, length: usize) -> Option<LookupKeys> {
    let (_, links, contents) = decoded(rows, length)?;
    Some(LookupKeys::of(&rows.path, &links, &contents))
}

/// The rows of a document, and what they were derived from.
struct Derived<'a> {
    rows: DerivedRows,
    state: FileState,
    links: &'a Outgoing,
    contents: &'a Contents,
}

/// Decodes the rows of a document of `length` bytes; `None` if they are damaged.
fn decoded(rows: &DerivedRows, length: usize) -> Option<(Outline, Outgoing, Contents)> {
    let outline = codec::outline::decode(rows.outline.as_deref()?)?;
    let links = match &rows.links {
        Some(packed) => postcard::from_bytes(packed).ok()?,
        None => Outgoing::default(),
    };
    let [code, tables, tasks] = rows.data.each_ref().map(|packed| packed.as_deref());
    let contents = Contents {
        code: codec::data::decode(code, length)?,
        tables: codec::data::decode(tables, length)?,
        tasks: codec::data::decode(tasks, length)?,
    };
    Some((outline, links, contents))
}

/// Returns the key by which suffixes of a path without extension are found: the folded components
/// in reverse order, each with `/` after it.
pub(crate) fn name_key(stem: &str) -> String {
    let mut key = String::with_capacity(stem.len() + 1);
    for component in fold(stem).rsplit('/') {
        key.push_str(component);
        key.push('/');
    }
    key
}

/// Returns the bounds of the keys of documents called `name`: at least the first, and less than the second.
pub(crate) fn name_bounds(name: &str) -> (String, String) {
    let key = name_key(name);
    let (_, end) = bounds_below(key.strip_suffix('/').unwrap_or(&key));
    (key, end)
}

/// Returns the bounds of the keys that begin with the first character of that of `path`, or with a digit if that is a
/// digit: at least the first, and less than the second.
pub(crate) fn like_name_bounds(path: &str) -> (String, String) {
    let first: String = name_key(split_extension(path).0).chars().take(1).collect();
    if first.starts_with(|first: char| first.is_ascii_digit()) {
        return ("0".to_owned(), ":".to_owned());
    }
    let end = format!("{first}\u{10FFFF}");
    (first, end)
}

/// Converts a count to the integer type of databases. Saturates.
pub(crate) fn integer(value: usize) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_keys_turn_suffixes_into_prefixes() {
        let stem = |path| split_extension(path).0;
        assert_eq!(name_key(stem("docs/API/Guide.md")), "guide/api/docs/");
        assert_eq!(stem("a/v1.2.md"), "a/v1.2");
        assert_eq!(stem("a.b/c"), "a.b/c");
        assert_eq!(stem(".hidden"), ".hidden");
        assert_eq!(name_key("e\u{301}"), name_key("\u{c9}"));
    }
}
