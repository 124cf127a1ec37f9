//! `ldmd get`: returns a section in full, as a preview, or as its summary.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Items, LdmdAnswer, in_document, section};
use crate::error::{Error, ErrorKind, Result};
use crate::ldmd::{Mode, Piece, Slice, SliceRequest, whole_scalars};
use crate::markdown::words::{measure, page};
use crate::position::ByteSpan;
use crate::query::freshness::Freshness;
use crate::query::node::Content;
use crate::query::open_document::OpenDocument;
use crate::query::{Cursor, Session};

/// A request for a section.
#[derive(Clone, Debug)]
pub struct LdmdGetRequest {
    /// The name of the document.
    pub document: String,
    /// The id of the section.
    pub id: String,
    /// The part of the section to return.
    pub slice: SliceRequest,
    /// Whether a line stands for each nested section that is left out. Sets the stubs of the part.
    pub stubs: bool,
    /// The cursor of the previous answer, if any; it counts bytes of the requested part.
    pub after: Option<Cursor>,
}

/// A section, or the requested part of it.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct SectionContent {
    /// The id that was requested.
    pub section_id: String,
    /// The mode: `full`, `preview` or `tldr`. It is `preview` if the section has no summary.
    pub mode: &'static str,
    /// The depth to which nested sections are included; `null` for all.
    pub depth: Option<usize>,
    /// The maximum number of bytes; 0 for all.
    pub limit_bytes: usize,
    /// The bytes of the section.
    pub content: Content,
    /// Number of nested sections that are deeper than `depth`.
    #[serde(skip_serializing_if = "crate::schema::is_zero")]
    pub omitted_sections: usize,
    /// The path of the document.
    pub file: String,
    /// The address of the section that is returned, which may be its summary section.
    pub selector: String,
    /// Whether the content contains bytes that are not valid UTF-8.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lossy: bool,
    /// Whether the file differs from the stored document.
    #[serde(flatten)]
    pub freshness: Freshness,
}

impl SectionContent {
    /// Keeps the first `bytes` bytes of the content.
    fn cut(&mut self, bytes: usize) {
        self.content.bytes.truncate(bytes);
        self.lossy = std::str::from_utf8(&self.content.bytes).is_err();
    }
}

impl Items for SectionContent {
    fn count(&self) -> usize {
        1
    }

    fn first(&self, _: usize) -> Self {
        self.clone()
    }

    fn sizes_of_first(&self) -> usize {
        measure(&self.content.bytes).words
    }

    fn cut_first(&mut self, size: usize) -> Option<usize> {
        let (shown, has_more) = page(&self.content.bytes, size, 0)?;
        has_more.then(|| {
            self.cut(shown.end);
            shown.end
        })
    }
}

/// Returns a section of a document.
pub fn get(session: &Session<'_>, request: &LdmdGetRequest) -> Result<LdmdAnswer<SectionContent>> {
    let mut limited = None;
    let mut answer = in_document(session, &request.document, request.after, |document, part| {
        let index = match section(document, &request.id) {
            Ok(index) => index,
            Err(fault) => return Ok(Err(fault)),
        };
        let stub_end = if request.stubs { Some(line_end(session, document, index)?) } else { None };
        let request = SliceRequest { stub_end, ..request.slice };
        let slice = document.markup.slice(index, &request);
        let (bytes, is_cut) = read(session, document, &slice, part.start())?;
        if is_cut && bytes.is_empty() {
            let limit = slice.limit_bytes;
            let message = format!("the next character does not fit in {limit} bytes");
            return Err(Error::new(ErrorKind::BudgetTooSmall, message)
                .with_hint("use --limit-bytes 4 or more"));
        }
        let mut result = SectionContent {
            section_id: document.markup.name(index),
            mode: mode_name(slice.mode),
            depth: slice.depth,
            limit_bytes: slice.limit_bytes,
            content: Content::new(bytes),
            omitted_sections: slice.omitted,
            file: document.stored.path.clone(),
            selector: document.address_of_ldmd(slice.section),
            lossy: false,
            freshness: session.freshness(&document.stored),
        };
        limited = is_cut.then_some(result.content.bytes.len());
        result.lossy = std::str::from_utf8(&result.content.bytes).is_err();
        Ok(Ok(result))
    })?;
    if let Some(bytes) = limited {
        answer.page.end(bytes);
    }
    Ok(answer)
}

/// Returns the line end of the BEGIN marker of a section.
fn line_end(
    session: &Session<'_>,
    document: &OpenDocument,
    section: usize,
) -> Result<&'static str> {
    let begin = document.markup.sections.get(section).map_or(0, |section| section.content.start);
    let last = session.content(document, ByteSpan::new(begin.saturating_sub(2), begin))?;
    Ok(match &*last {
        b"\r\n" => "\r\n",
        [_, b'\r'] => "\r",
        _ => "\n",
    })
}

fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Full => "full",
        Mode::Preview => "preview",
        Mode::Tldr => "tldr",
    }
}

/// Reads the bytes of a slice from offset `from` up to its limit. Returns them, and whether the limit
/// cut them.
fn read(
    session: &Session<'_>,
    document: &OpenDocument,
    slice: &Slice,
    from: usize,
) -> Result<(Vec<u8>, bool)> {
    let (pieces, is_cut) = slice.limited(from);
    let mut bytes = Vec::new();
    for piece in pieces {
        match piece {
            Piece::File(span) => bytes.extend(session.content(document, span)?),
            Piece::Stub(line) => bytes.extend(line),
        }
    }
    if is_cut {
        bytes.truncate(whole_scalars(&bytes).len());
    }
    Ok((bytes, is_cut))
}
