//! Packs: the whole store as one stream of lines, and back.
//!
//! The form is the one of qipu's paper (dump and pack), with counted bytes and a hash. It is, in this
//! order: `H pack=1 version=.. documents=<n> options=..`; for each document `N` as in records,
//! `S <id> url=..` for each of its sources, and its bytes; `L <from> <to> type=.. inline=<bool>` for
//! each link; for each attachment `A <path> name=".." content_type=..` and its bytes; at last `END` and
//! the blake3 hash of all before it, in hexadecimal. Bytes are `C <id> bytes=<n>`, base64 (RFC 4648,
//! section 4) in lines of 76 letters, and `C-END`; those of attachments have `D` for `C` and a path,
//! written like an id, for the id.
//!
//! Invariant: the same items give the same pack, a pack that is read gives the same items, and what
//! is read is whole, unaltered, and names no file outside of the folder that it is brought into.

mod order;
mod reader;
mod writer;

use std::io::BufRead;

pub use order::is_safe_path;
pub use reader::Reader;
pub use writer::Writer;

pub use crate::records::Fault;

use crate::address::namespace;
use crate::records::Shape;

const HEADER: Shape = Shape("H pack=1 version=$v documents=$v options=$v");
const SOURCE: Shape = Shape("S $i url=$v");
const CONTENT: Shape = Shape("C $i bytes=$v");
const LINK: Shape = Shape("L $i $i type=$v inline=$v");
const ATTACHMENT: Shape = Shape("A $v name=$q content_type=$v");
const ATTACHED: Shape = Shape("D $i bytes=$v");

/// Bytes in a line of base64: 76 letters (RFC 2045, section 6.8).
const ROW_BYTES: usize = 57;

/// What a pack says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The version of the program that wrote the pack.
    pub version: String,
    /// How many documents it holds.
    pub documents: usize,
    /// The options of the ingest that made the store, as JSON.
    pub options: String,
}

/// A document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// Its path, relative to the root, with `/`.
    pub path: String,
    /// Its title.
    pub title: String,
    /// The type that its front matter tells, else `Document`.
    pub kind: String,
    /// Its tags.
    pub tags: Vec<String>,
    /// The URLs of the sources that its front matter tells.
    pub sources: Vec<String>,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// A link between two nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// The address of the node that it stands in.
    pub from: String,
    /// The address of the node that it leads to.
    pub to: String,
    /// Its type.
    pub kind: String,
    /// Whether it stands in the text, not in front matter.
    pub is_inline: bool,
}

/// A file that is no document, but linked from one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attachment {
    /// Its path, relative to the root, with `/`.
    pub path: String,
    /// Its name, for people; not to be used as a path.
    pub name: String,
    /// Its media type.
    pub content_type: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// One thing in a pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// A document. Documents come first, in ascending order of the bytes of their paths.
    Document(Document),
    /// A link. Links come behind the documents.
    Link(Link),
    /// An attachment. Attachments come last, in ascending order of the bytes of their paths.
    Attachment(Attachment),
}

/// The address of the document at `path`.
fn document_id(path: &str) -> String {
    format!("{}::*", namespace::encode(path))
}

/// The line behind bytes that a line of `shape` announces.
fn end_of(shape: Shape) -> String {
    shape.0.chars().take(1).chain("-END".chars()).collect()
}

/// Reads a whole pack, and tells its header only if nothing is wrong with it. To be done before
/// anything of a pack is used.
pub fn verify<R: BufRead>(input: R) -> Result<Header, Fault> {
    let mut reader = Reader::new(input)?;
    reader.try_for_each(|item| item.map(drop))?;
    Ok(reader.into_header())
}

#[cfg(test)]
mod tests;
