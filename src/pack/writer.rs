//! Writes a pack item by item.
//!
//! Invariant: [`PackReader`](super::PackReader) accepts every pack that the writer finishes.

use std::io::{Error, ErrorKind, Result, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::order::{PackOrder, PackPart};
use super::{
    ATTACHED, ATTACHMENT, Attachment, CONTENT, HEADER, Header, LINK, PackDocument, PackLink,
    ROW_BYTES, SOURCE, end_of,
};
use crate::address::namespace;
use crate::limits::{MAX_DOCUMENT_BYTES, MAX_RECORD_BYTES, MAX_TAGS};
use crate::records::{LineShape, RecordNode};

/// The number of lines of base64 that are written and hashed at a time.
const ROWS: usize = 1024;

/// Writes a pack. A call fails with [`ErrorKind::InvalidInput`] if its item must not come here. Without
/// [`finish`](Self::finish) the output is not a valid pack.
#[derive(Debug)]
pub struct PackWriter<W: Write> {
    output: W,
    hasher: blake3::Hasher,
    order: PackOrder,
}

impl<W: Write> PackWriter<W> {
    /// Begins a pack and writes its header.
    pub fn new(output: W, header: &Header) -> Result<Self> {
        let Header { version, documents, options } = header;
        let order = PackOrder::new(*documents);
        let mut writer = Self { output, hasher: blake3::Hasher::new(), order };
        writer.line(HEADER.write(&[version, &documents.to_string(), options]))?;
        Ok(writer)
    }

    /// Writes a document.
    pub fn document(&mut self, document: &PackDocument) -> Result<()> {
        let PackDocument { path, title, kind, tags, sources, bytes } = document;
        self.order.enter(PackPart::Documents, Some(path)).map_err(invalid)?;
        if tags.len() > MAX_TAGS {
            return Err(invalid("too many tags for one document of a pack"));
        }
        let id = namespace::whole(path);
        self.line(RecordNode { id: &id, kind, title, tags, path }.to_string())?;
        let lines = sources.iter().map(|url| SOURCE.write(&[&id, url]) + "\n");
        self.lines(&lines.collect::<String>())?;
        self.bytes(CONTENT, &id, bytes)
    }

    /// Writes a link.
    pub fn link(&mut self, link: &PackLink) -> Result<()> {
        let PackLink { from, to, kind, is_inline } = link;
        self.order.enter(PackPart::Links, None).map_err(invalid)?;
        if from.is_empty() || to.is_empty() {
            return Err(invalid("one end of the link has no address"));
        }
        self.line(LINK.write(&[from, to, kind, &is_inline.to_string()]))
    }

    /// Writes an attachment.
    pub fn attachment(&mut self, attachment: &Attachment) -> Result<()> {
        let Attachment { path, name, content_type, bytes } = attachment;
        self.order.enter(PackPart::Attachments, Some(path)).map_err(invalid)?;
        self.line(ATTACHMENT.write(&[path, name, content_type]))?;
        self.bytes(ATTACHED, path, bytes)
    }

    /// Ends the pack, flushes the output and returns it.
    pub fn finish(mut self) -> Result<W> {
        self.order.finish().map_err(invalid)?;
        self.line(format!("END {}", self.hasher.finalize()))?;
        self.output.flush()?;
        Ok(self.output)
    }

    fn bytes(&mut self, shape: LineShape, id: &str, bytes: &[u8]) -> Result<()> {
        if bytes.len() > MAX_DOCUMENT_BYTES {
            return Err(invalid("too many bytes for one item of a pack"));
        }
        self.line(shape.write(&[id, &bytes.len().to_string()]))?;
        let mut text = String::new();
        for rows in bytes.chunks(ROWS * ROW_BYTES) {
            text.clear();
            for row in rows.chunks(ROW_BYTES) {
                STANDARD.encode_string(row, &mut text);
                text.push('\n');
            }
            self.write(&text)?;
        }
        self.line(end_of(shape))
    }

    fn line(&mut self, line: String) -> Result<()> {
        self.lines(&(line + "\n"))
    }

    /// Writes lines that the reader keeps in memory together.
    fn lines(&mut self, lines: &str) -> Result<()> {
        if lines.len() > MAX_RECORD_BYTES {
            return Err(invalid("the line is too long for a pack"));
        }
        self.write(lines)
    }

    fn write(&mut self, text: &str) -> Result<()> {
        self.hasher.update(text.as_bytes());
        self.output.write_all(text.as_bytes())
    }
}

fn invalid(message: &str) -> Error {
    Error::new(ErrorKind::InvalidInput, message)
}
