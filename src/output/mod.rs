//! Answers as bytes: formats, the budget, and what is safe to show. Never touches the store.
//!
//! Every answer that can be printed implements [`Answer`]; [`render`] and [`render_list`] are the only
//! ways from one to bytes. Invariant: what is printed in a format is a valid document of that format, however small
//! the budget, and says so where anything was left out.

mod budget;
mod forms;
pub mod json;
mod painter;
pub mod sanitize;

pub use painter::Painter;

use serde::Serialize;

use crate::error::{Error, ErrorKind, Result};
use crate::query::List;

/// How an answer is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One JSON value.
    Json,
    /// One JSON value a line and item.
    Jsonl,
    /// The bytes of the content alone.
    Raw,
    /// For people.
    Text,
}

/// How to print.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The format.
    pub format: Format,
    /// Whether JSON is indented.
    pub is_pretty: bool,
    /// Whether text is coloured.
    pub has_color: bool,
    /// The most Unicode scalars that may be printed.
    pub max_chars: Option<usize>,
}

/// Something that can be printed.
pub trait Answer: Serialize {
    /// What `jsonl` prints, a line each: the items, then what could not be answered, then how to go
    /// on.
    fn rows(&self) -> Vec<serde_json::Value>;

    /// What `raw` prints; `None` where there are no bytes of documents in the answer.
    fn raw(&self) -> Option<Vec<u8>> {
        None
    }

    /// What `text` prints.
    fn text(&self, painter: &mut Painter);

    /// What a format that holds nothing but bytes of documents cannot say: a line for each address
    /// without answer, each warning, and how to go on.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }
}

/// An answer as it is printed.
#[derive(Debug)]
pub struct Rendered {
    /// The answer itself.
    pub bytes: Vec<u8>,
    /// Lines that the answer's format cannot hold.
    pub remarks: Vec<String>,
}

/// Prints an answer that has no items to leave out.
pub fn render(answer: &impl Answer, options: Options) -> Result<Rendered> {
    let rendered = rendered(answer, options)?;
    match options.max_chars {
        Some(most) if budget::chars(&rendered.bytes) > most => Err(budget::too_small(most)),
        _ => Ok(rendered),
    }
}

/// Prints an answer, leaving items out from the end as the budget asks.
pub fn render_list<Listed: Answer + List>(answer: &Listed, options: Options) -> Result<Rendered> {
    budget::fit(answer, options.max_chars, |answer| rendered(answer, options))
}

fn rendered(answer: &impl Answer, options: Options) -> Result<Rendered> {
    let is_bytes = options.format == Format::Raw;
    Ok(Rendered {
        bytes: bytes_of(answer, options)?,
        remarks: if is_bytes { answer.remarks() } else { Vec::new() },
    })
}

fn bytes_of(answer: &impl Answer, options: Options) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match options.format {
        Format::Json => json::write(&mut bytes, answer, options.is_pretty),
        Format::Jsonl => {
            for row in answer.rows() {
                json::write(&mut bytes, &row, false);
            }
        }
        Format::Raw => {
            bytes = answer.raw().ok_or_else(|| {
                Error::new(ErrorKind::Usage, "this answer has no raw form")
                    .with_hint("ask for json, jsonl or text")
            })?;
        }
        Format::Text => {
            let mut painter = Painter::new(options.has_color);
            answer.text(&mut painter);
            bytes = painter.finish().into_bytes();
        }
    }
    Ok(bytes)
}
