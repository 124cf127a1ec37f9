//! Reads a pack item by item.
//!
//! Invariant: only one item is in memory at a time, and an error follows the last item unless the whole pack
//! is as it was written. No count or size that the pack states is trusted before that.

use std::io::BufRead;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::order::{PackOrder, PackPart};
use super::{
    ATTACHED, ATTACHMENT, Attachment, CONTENT, HEADER, Header, LINK, LineError, PackDocument,
    PackItem, PackLink, ROW_BYTES, SOURCE, end_of,
};
use crate::address::namespace;
use crate::limits::{MAX_DOCUMENT_BYTES, MAX_RECORD_BYTES};
use crate::records::{LineShape, NODE, RecordLines, count, id, read_tags};

/// An iterator over the items of a pack, which ends after the first error.
#[derive(Debug)]
pub struct PackReader<R: BufRead> {
    lines: RecordLines<R>,
    /// The hash of everything before the current line.
    hasher: blake3::Hasher,
    header: Header,
    order: PackOrder,
    is_over: bool,
}

impl<R: BufRead> PackReader<R> {
    /// Reads the header of a pack.
    pub fn new(input: R) -> Result<Self, LineError> {
        let mut lines = RecordLines::new(input);
        lines.advance()?;
        let header = header(lines.text())
            .ok_or_else(|| lines.fault("this is not the header of a pack of version 1"))?;
        let order = PackOrder::new(header.documents);
        Ok(Self { lines, hasher: blake3::Hasher::new(), header, order, is_over: false })
    }

    /// The header of the pack.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Returns the header and drops the reader.
    pub fn into_header(self) -> Header {
        self.header
    }

    fn item(&mut self) -> Result<Option<PackItem>, LineError> {
        self.advance()?;
        let line = self.lines.text();
        if let Some(document) = document(line) {
            self.document(document).map(|document| Some(PackItem::Document(document)))
        } else if let Some(link) = link(line) {
            self.enter(PackPart::Links, None)?;
            Ok(Some(PackItem::Link(link)))
        } else if let Some([path, name, content_type]) = ATTACHMENT.read(line) {
            self.enter(PackPart::Attachments, Some(&path))?;
            self.advance()?;
            let bytes = self.bytes(ATTACHED, &id(&path))?;
            Ok(Some(PackItem::Attachment(Attachment { path, name, content_type, bytes })))
        } else if line.starts_with("END ") {
            self.end().map(|()| None)
        } else {
            Err(self.lines.fault("this record is not expected here"))
        }
    }

    /// Reads the rest of a document.
    fn document(&mut self, mut document: PackDocument) -> Result<PackDocument, LineError> {
        self.enter(PackPart::Documents, Some(&document.path))?;
        let address = namespace::whole(&document.path);
        self.advance()?;
        let mut left = MAX_RECORD_BYTES;
        while let Some([_, url]) = SOURCE.read(self.lines.text()).filter(|[id, _]| *id == address) {
            left = left
                .checked_sub(self.lines.line().len())
                .ok_or_else(|| self.lines.fault("too many sources"))?;
            document.sources.push(url);
            self.advance()?;
        }
        document.bytes = self.bytes(CONTENT, &address)?;
        Ok(document)
    }

    /// Reads the bytes that the line announces. Memory grows with the bytes that are read, not with the
    /// announced count.
    fn bytes(&mut self, shape: LineShape, id: &str) -> Result<Vec<u8>, LineError> {
        let head = shape.read(self.lines.text()).filter(|[word, _]| word == id);
        let count = head.and_then(|[_, bytes]| count(&bytes));
        let count = count.filter(|&count| count <= MAX_DOCUMENT_BYTES);
        let count = count
            .ok_or_else(|| self.lines.fault("the line that announces the bytes is not valid"))?;
        let mut bytes = Vec::new();
        while bytes.len() < count {
            self.advance()?;
            let end = count.min(bytes.len() + ROW_BYTES);
            let decoded = STANDARD.decode_vec(self.lines.text(), &mut bytes);
            if decoded.is_err() || bytes.len() != end {
                return Err(self
                    .lines
                    .fault("the base64 is not valid, or not as long as announced"));
            }
        }
        self.advance()?;
        if self.lines.text() != end_of(shape) {
            return Err(self.lines.fault("the end of the bytes is expected here"));
        }
        Ok(bytes)
    }

    fn end(&mut self) -> Result<(), LineError> {
        if self.lines.text() != format!("END {}", self.hasher.finalize()) {
            return Err(self.lines.fault("the hash does not match: the pack was altered"));
        }
        self.order.finish().map_err(|message| self.lines.fault(message))?;
        if self.lines.advance()? {
            return Err(self.lines.fault("the pack continues after its end"));
        }
        Ok(())
    }

    fn advance(&mut self) -> Result<(), LineError> {
        self.hasher.update(self.lines.line().as_bytes());
        if self.lines.advance()? { Ok(()) } else { Err(self.lines.fault("the pack is truncated")) }
    }

    fn enter(&mut self, part: PackPart, path: Option<&str>) -> Result<(), LineError> {
        self.order.enter(part, path).map_err(|message| self.lines.fault(message))
    }
}

impl<R: BufRead> Iterator for PackReader<R> {
    type Item = Result<PackItem, LineError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let item = self.item().transpose();
        self.is_over = !matches!(item, Some(Ok(_)));
        item
    }
}

fn header(line: &str) -> Option<Header> {
    let [version, documents, options] = HEADER.read(line)?;
    Some(Header { version, documents: count(&documents)?, options })
}

/// Parses the line of a document, which has neither sources nor bytes.
fn document(line: &str) -> Option<PackDocument> {
    let [id, kind, title, tags, path] = NODE.read(line)?;
    let tags = read_tags(&tags).filter(|_| id == namespace::whole(&path))?;
    Some(PackDocument { path, title, kind, tags, ..PackDocument::default() })
}

fn link(line: &str) -> Option<PackLink> {
    let [from, to, kind, inline] = LINK.read(line)?;
    Some(PackLink { from, to, kind, is_inline: inline.parse().ok()? })
}
