//! Reads a pack item by item.
//!
//! Invariant: only one item is in memory at a time, and an error follows the last item unless the whole pack
//! is as it was written. No count or size that the pack states is trusted before that.

use std::io::BufRead;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::order::{Order, Part};
use super::{
    ATTACHED, ATTACHMENT, Attachment, CONTENT, Document, Fault, HEADER, Header, Item, LINK, Link,
    ROW_BYTES, SOURCE, document_id, end_of,
};
use crate::limits::{MAX_DOCUMENT_BYTES, MAX_RECORD_BYTES};
use crate::records::{Lines, NODE, Shape, count, id, read_tags};

/// An iterator over the items of a pack, which ends after the first error.
#[derive(Debug)]
pub struct Reader<R: BufRead> {
    lines: Lines<R>,
    /// The hash of everything before the current line.
    hasher: blake3::Hasher,
    header: Header,
    order: Order,
    is_over: bool,
}

impl<R: BufRead> Reader<R> {
    /// Reads the header of a pack.
    pub fn new(input: R) -> Result<Self, Fault> {
        let mut lines = Lines::new(input);
        lines.advance()?;
        let header = header(lines.text())
            .ok_or_else(|| lines.fault("this is not the header of a pack of version 1"))?;
        let order = Order::new(header.documents);
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

    fn item(&mut self) -> Result<Option<Item>, Fault> {
        self.advance()?;
        let line = self.lines.text();
        if let Some(document) = document(line) {
            self.document(document).map(|document| Some(Item::Document(document)))
        } else if let Some(link) = link(line) {
            self.enter(Part::Links, None)?;
            Ok(Some(Item::Link(link)))
        } else if let Some([path, name, content_type]) = ATTACHMENT.read(line) {
            self.enter(Part::Attachments, Some(&path))?;
            self.advance()?;
            let bytes = self.bytes(ATTACHED, &id(&path))?;
            Ok(Some(Item::Attachment(Attachment { path, name, content_type, bytes })))
        } else if line.starts_with("END ") {
            self.end().map(|()| None)
        } else {
            Err(self.lines.fault("this record is not expected here"))
        }
    }

    /// Reads the rest of a document.
    fn document(&mut self, mut document: Document) -> Result<Document, Fault> {
        self.enter(Part::Documents, Some(&document.path))?;
        let address = document_id(&document.path);
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
    fn bytes(&mut self, shape: Shape, id: &str) -> Result<Vec<u8>, Fault> {
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

    fn end(&mut self) -> Result<(), Fault> {
        if self.lines.text() != format!("END {}", self.hasher.finalize()) {
            return Err(self.lines.fault("the hash does not match: the pack was altered"));
        }
        self.order.finish().map_err(|message| self.lines.fault(message))?;
        if self.lines.advance()? {
            return Err(self.lines.fault("the pack continues after its end"));
        }
        Ok(())
    }

    fn advance(&mut self) -> Result<(), Fault> {
        self.hasher.update(self.lines.line().as_bytes());
        if self.lines.advance()? { Ok(()) } else { Err(self.lines.fault("the pack is truncated")) }
    }

    fn enter(&mut self, part: Part, path: Option<&str>) -> Result<(), Fault> {
        self.order.enter(part, path).map_err(|message| self.lines.fault(message))
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Item, Fault>;

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
fn document(line: &str) -> Option<Document> {
    let [id, kind, title, tags, path] = NODE.read(line)?;
    let tags = read_tags(&tags).filter(|_| id == document_id(&path))?;
    Some(Document { path, title, kind, tags, ..Document::default() })
}

fn link(line: &str) -> Option<Link> {
    let [from, to, kind, inline] = LINK.read(line)?;
    Some(Link { from, to, kind, is_inline: inline.parse().ok()? })
}
