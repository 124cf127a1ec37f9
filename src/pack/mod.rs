//! Packs: the whole store as one stream of lines (see `mdsel help store`).
//!
//! A pack has these lines, in this order:
//!
//! - `H pack=1 version=.. documents=<n> options=..`
//! - for each document, a line `N` as in records, a line `S <id> url=..` for each of its sources, and its
//!   bytes
//! - `L <from> <to> type=.. inline=<bool>` for each link
//! - for each attachment, a line `A <path> name=".." content_type=..`, and its bytes
//! - `END` and the BLAKE3 hash of everything before this line, in hexadecimal
//!
//! The bytes of a document are a line `C <id> bytes=<n>`, base64 (RFC 4648, section 4) in lines of 76
//! characters, and a line `C-END`. Those of an attachment have `D` for `C`, and its path, encoded like an
//! id, for the id.
//!
//! Invariant: the same items produce the same pack, and reading a pack returns the same items. A pack that is
//! read without an error is complete, unaltered, and names no file outside the folder that it is loaded into.

mod order;
mod reader;
mod writer;

use std::io::BufRead;

pub use order::is_safe_path;
pub use reader::PackReader;
pub use writer::PackWriter;

pub use crate::records::LineError;

use crate::records::LineShape;

const HEADER: LineShape = LineShape("H pack=1 version=$v documents=$v options=$v");
const SOURCE: LineShape = LineShape("S $i url=$v");
const CONTENT: LineShape = LineShape("C $i bytes=$v");
const LINK: LineShape = LineShape("L $i $i type=$v inline=$v");
const ATTACHMENT: LineShape = LineShape("A $v name=$q content_type=$v");
const ATTACHED: LineShape = LineShape("D $i bytes=$v");

/// Bytes in a line of base64, which has 76 characters (RFC 2045, section 6.8).
const ROW_BYTES: usize = 57;

/// The key of the options for the folder of the documents that are in no collection, relative to the folder of the
/// store. Without it, they are the same.
pub(crate) const PACKED_ROOT: &str = "root";

/// The header of a pack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The version of the program that wrote the pack.
    pub version: String,
    /// The number of documents in the pack.
    pub documents: usize,
    /// The ingest options of the store, as JSON.
    pub options: String,
}

/// A document of a pack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackDocument {
    /// Its path, relative to the root, with `/`.
    pub path: String,
    /// Its title.
    pub title: String,
    /// The type that its front matter gives, else `Document`.
    pub kind: String,
    /// Its tags.
    pub tags: Vec<String>,
    /// The URLs of the sources that its front matter lists.
    pub sources: Vec<String>,
    /// The bytes of the document.
    pub bytes: Vec<u8>,
}

/// A link between two nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackLink {
    /// The address of the node that contains the link.
    pub from: String,
    /// The address of the target.
    pub to: String,
    /// The type of the link; empty if it has none.
    pub kind: String,
    /// Whether the link is in the text, not in front matter.
    pub is_inline: bool,
}

/// A file that is not a document, and that a document links to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attachment {
    /// Its path, relative to the root, with `/`.
    pub path: String,
    /// Its name, for display only; never use it as a path.
    pub name: String,
    /// Its media type, such as `image/png`.
    pub content_type: String,
    /// The bytes of the file.
    pub bytes: Vec<u8>,
}

/// One item of a pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PackItem {
    /// A document. Documents come first, in ascending order of the bytes of their paths.
    Document(PackDocument),
    /// A link. Links come after the documents.
    Link(PackLink),
    /// An attachment. Attachments come last, in ascending order of the bytes of their paths.
    Attachment(Attachment),
}

/// The line after the bytes that a line of `shape` announces.
fn end_of(shape: LineShape) -> String {
    shape.0.chars().take(1).chain("-END".chars()).collect()
}

/// Reads a whole pack, and returns its header if the pack is valid. Callers must verify a pack before they
/// use any item of it.
pub fn verify<R: BufRead>(input: R) -> Result<Header, LineError> {
    let mut reader = PackReader::new(input)?;
    reader.try_for_each(|item| item.map(drop))?;
    Ok(reader.into_header())
}

#[cfg(test)]
mod tests;
