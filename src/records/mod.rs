//! Records: answers as lines, for the context of a model.
//!
//! The form is the one of qipu's paper (records output). Each record is one line behind a letter:
//! `H` header, `N` node, `S` summary, `E` edge, `B` body, `D` detail, `W` warning, `C` command, `M` map
//! of content. Only a body goes on behind its line, for as many bytes as that line says; a newline
//! and `B-END` follow. Invariant: text of documents stays within its field, whatever it holds, so
//! that no text makes a record; [`Reader`] takes what [`Writer`] wrote and nothing else.

mod lines;
mod reader;
mod shape;
mod value;
mod writer;

pub use lines::Fault;
pub(crate) use lines::Lines;
pub use reader::{Reader, Record};
pub(crate) use shape::{Shape, count, read_tags};
pub use value::{id, quoted, value};
pub(crate) use writer::NODE;
pub use writer::{Node, Writer};

#[cfg(test)]
mod tests;
