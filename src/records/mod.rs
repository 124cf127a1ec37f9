//! Records: answers as lines, for the context of a model (see `mdsel help records`).
//!
//! Each record is one line that begins with a letter: `H` header, `N` node, `S` summary, `E` edge, `B` body,
//! `D` detail, `W` warning, `C` command, `M` map of content. Only a body continues after its line, with as
//! many bytes as the line says, a newline, and `B-END`. If the header says `prefix_body=true`, a bar begins each line
//! of a body. Invariant: the text of a document stays within its
//! field, whatever it contains, so that no text can form a record. [`RecordReader`] accepts exactly what [`RecordWriter`]
//! writes.

mod lines;
mod reader;
mod shape;
mod value;
mod writer;

pub use lines::LineError;
pub(crate) use lines::RecordLines;
pub use reader::{Record, RecordReader};
pub(crate) use shape::{LineShape, count, read_tags};
pub use value::{id, quoted, value};
pub(crate) use writer::NODE;
pub use writer::{RecordNode, RecordWriter};

#[cfg(test)]
mod tests;
