//! `code`: lists code blocks.
//!
//! Invariant: the bytes of a block are those of the stored document. A document that cannot contain the text that was
//! asked for is not read.

use schemars::JsonSchema;
use serde::Serialize;

use super::{ItemRequest, Source, heading_path, list, list_of_items};
use crate::data::{CodeItem, Key, language};
use crate::decoding;
use crate::error::Result;
use crate::position::ByteSpan;
use crate::query::contained_text::ContainedText;
use crate::query::freshness::Freshness;
use crate::query::open_document::OpenDocument;
use crate::query::page::{cut, longest, shorten_titles};
use crate::query::{Page, Session};
use crate::store::StoredDocument;

/// A request for code blocks.
#[derive(Clone, Debug)]
pub struct CodeRequest {
    /// Names or aliases of languages; a block in any of them matches. Empty for all.
    pub languages: Vec<String>,
    /// A text that the code must contain, in any case.
    pub containing: Option<String>,
    /// The documents and the part of the list.
    pub items: ItemRequest,
}

/// A code block.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Code {
    /// The address of the block.
    pub selector: String,
    /// The path of the document.
    pub file: String,
    /// The line of the block, 1-based: that of the opening fence.
    pub line: usize,
    /// The titles of the sections that contain it, outermost first.
    pub heading_path: Vec<String>,
    /// The language; empty if there is none.
    pub language: String,
    /// The info string after the language.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub info: String,
    /// The code, without fences. Left out if it was written to a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The bytes of the code.
    #[serde(skip)]
    pub bytes: Vec<u8>,
    /// Whether the code has bytes that are not UTF-8, which are shown as U+FFFD.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lossy: bool,
    /// The file that the code was written to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<String>,
    /// Whether the file differs from the stored document.
    #[serde(flatten)]
    pub freshness: Freshness,
}

impl Code {
    /// Returns a name for a file with the code: the path of the document with hyphens, the line, and
    /// the extension of the language. Blocks with the same name differ by a `number` above 1.
    pub fn file_name(&self, number: usize) -> String {
        let stem = self.file.replace('/', "-");
        let number = if number > 1 { format!("-{number}") } else { String::new() };
        format!("{stem}-{}{number}.{}", self.line, language::extension(&self.language))
    }
}

/// The code blocks that were found, in the order of documents and then of lines.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct CodeAnswer {
    /// The blocks of this part of the list.
    pub code: Vec<Code>,
    /// Warnings, unresolved addresses and the cursor.
    #[serde(flatten)]
    pub page: Page,
}

list_of_items!(
    CodeAnswer,
    code,
    "this item is cut; `mdsel select {path}` prints all of it",
    selector,
    "?full=true",
    [file],
    |item: &Code| longest(item.code.iter().chain(&item.heading_path).map(String::as_str)),
    |item: &mut Code, size| {
        shorten_titles(&mut item.heading_path, size);
        if let Some(code) = &mut item.code {
            cut(code, size);
            item.bytes = code.clone().into_bytes();
        }
    }
);

struct CodeSource<'a> {
    session: &'a Session<'a>,
    languages: Vec<String>,
    containing: Option<ContainedText>,
    /// The last document and its bytes. A document may have many blocks, so it is read once for all.
    last: Option<(i64, Vec<u8>)>,
}

impl CodeSource<'_> {
    fn text_of(&mut self, stored: &StoredDocument, item: &CodeItem) -> Result<Vec<u8>> {
        let bytes = match self.last.take() {
            Some((id, bytes)) if id == stored.id => bytes,
            _ => self.session.reader.content(stored, ByteSpan::new(0, usize::MAX))?,
        };
        let ByteSpan { start, end } = item.block.code;
        let text = item.block.text(bytes.get(start..end).unwrap_or_default());
        self.last = Some((stored.id, bytes));
        Ok(text)
    }
}

impl Source for CodeSource<'_> {
    type Found = CodeItem;
    type Item = Code;

    fn find(&mut self, stored: &StoredDocument) -> Result<Vec<CodeItem>> {
        if self.containing.as_ref().is_some_and(|text| !text.may_be_in(stored.id)) {
            return Ok(Vec::new());
        }
        let mut blocks = self.session.reader.code(stored)?;
        blocks.retain(|item| self.languages.is_empty() || self.languages.contains(&item.language));
        if self.containing.is_none() {
            return Ok(blocks);
        }
        let mut found = Vec::new();
        for item in blocks {
            let text = self.text_of(stored, &item)?;
            if self.containing.as_ref().is_none_or(|containing| containing.is_in(&text)) {
                found.push(item);
            }
        }
        Ok(found)
    }

    fn node(found: &CodeItem) -> Option<usize> {
        Some(found.block.node)
    }

    const ITEM: &'static str = "a code block";

    const HAS: &'static str = "code block has the language";

    fn names(&self) -> Vec<(&str, Key<'_>)> {
        self.languages.iter().map(|name| (name.as_str(), Key::Language(name))).collect()
    }

    const KEYS: &'static [Key<'static>] = &[Key::Code];

    fn all_names(&self, stored: &StoredDocument) -> Result<Vec<String>> {
        let languages = self.session.reader.code(stored)?.into_iter().map(|item| item.language);
        Ok(languages.filter(|language| !language.is_empty()).collect())
    }

    fn has(found: &CodeItem, name: &str) -> bool {
        found.language == name
    }

    fn show(&mut self, document: &OpenDocument, found: CodeItem) -> Result<Code> {
        let bytes = self.text_of(&document.stored, &found)?;
        let node = found.block.node;
        let code = decoding::text(&bytes);
        Ok(Code {
            selector: document.address_of(node),
            file: document.stored.path.clone(),
            line: document.tree.node(node).map_or(1, |node| node.lines.start),
            heading_path: heading_path(document, node),
            info: language::of(found.block.info.as_deref().unwrap_or_default()).1.to_owned(),
            language: found.language,
            lossy: matches!(code, std::borrow::Cow::Owned(_)),
            code: Some(code.into_owned()),
            bytes,
            written: None,
            freshness: self.session.freshness(&document.stored),
        })
    }
}

/// Lists code blocks.
pub fn code(session: &Session<'_>, request: &CodeRequest) -> Result<CodeAnswer> {
    let languages: Vec<String> =
        request.languages.iter().map(|name| language::folded(name)).collect();
    let keys = match languages.as_slice() {
        [] => vec![Key::Code.hash()],
        languages => languages.iter().map(|name| Key::Language(name).hash()).collect(),
    };
    let containing = request.containing.as_ref();
    let containing = containing.map(|text| ContainedText::in_code(session, text)).transpose()?;
    let mut blocks = CodeSource { session, languages, containing, last: None };
    let (code, page) = list(session, &request.items, &[keys], &mut blocks)?;
    Ok(CodeAnswer { code, page })
}
