//! Writes answers in a format, within a limit of characters, with unsafe characters escaped. Never reads
//! the store.
//!
//! Every answer implements [`Answer`]. Only [`write()`] and [`write_list`] turn an answer into bytes.
//! Invariant: the output is a valid document of its format whatever the limit, and it says whether
//! anything was left out.

mod budget;
mod forms;
mod graph;
pub mod json;
mod ldmd;
mod painter;
mod records;
mod rest;
pub mod sanitize;

pub use graph::Graph;
pub use ldmd::Report;
pub use painter::Painter;
pub use records::Records;
pub use rest::Rest;

use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use crate::error::{Error, ErrorKind, Result};
use crate::query::List;

/// An output format (`mdsel help formats`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One JSON value for the whole answer.
    Json,
    /// One JSON value per line: one for each item.
    Jsonl,
    /// The bytes of the content, and nothing else.
    Raw,
    /// Text for people to read.
    Text,
    /// A Markdown document whose sections can be read one by one.
    Ldmd,
    /// One record per line, for the context of a model.
    Records,
    /// Fenced Markdown blocks, for the context of a model.
    Markdown,
    /// A graph as a Mermaid flowchart.
    Mermaid,
    /// A graph in the DOT language of Graphviz.
    Dot,
}

/// The format of an answer, and where it is printed.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// The output format.
    pub format: Format,
    /// Whether JSON is indented.
    pub is_pretty: bool,
    /// Whether text has colors.
    pub has_color: bool,
    /// The maximum length of the output in Unicode scalars, if limited.
    pub max_chars: Option<usize>,
    /// The path of the store, as printed in records.
    pub store: &'a str,
    /// The interface that the request came from.
    pub caller: Caller,
}

/// The interface that a request came from. It determines how an answer names the option that continues
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// The command line, which takes flags.
    CommandLine,
    /// The Model Context Protocol, which takes arguments.
    Mcp {
        /// Number of Unicode scalars that the reply adds to the answer.
        frame: usize,
    },
}

/// Whether an answer supports a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The answer supports the format, and was written.
    Written,
    /// The answer does not support the format.
    None,
}

/// An answer that can be printed in any [`Format`].
pub trait Answer: Serialize {
    /// Returns the part of the answer that is not an item: warnings, unresolved selectors, the cursor.
    fn rest(&self) -> Rest<'_>;

    /// Returns one JSON value per item, for `jsonl`.
    fn rows(&self) -> Vec<serde_json::Value>;

    /// Returns the bytes that `raw` prints, or `None` if the answer does not quote documents.
    fn raw(&self) -> Option<Vec<u8>> {
        None
    }

    /// Writes the items for `text`.
    fn text(&self, painter: &mut Painter);

    /// Returns the name of the command.
    fn name(&self) -> &'static str;

    /// Writes the items for `ldmd`.
    fn report(&self, report: &mut Report<'_>) -> io::Result<()>;

    /// Writes the answer for `records`.
    fn records(&self, records: &mut Records<'_>) -> io::Result<Form> {
        let _ = records;
        Ok(Form::None)
    }

    /// Writes the answer for `markdown`.
    fn markdown(&self, out: &mut dyn Write) -> io::Result<Form> {
        let _ = out;
        Ok(Form::None)
    }

    /// Returns the graph for `mermaid` and `dot`, if the answer has one.
    fn graph(&self) -> Option<Graph<'_>> {
        None
    }
}

/// The output of an answer.
#[derive(Debug)]
struct Rendered {
    bytes: Vec<u8>,
    /// The length of `bytes` in Unicode scalars.
    chars: usize,
    /// Lines for standard error: what the format cannot express.
    remarks: Vec<String>,
}

/// Writes an answer that cannot be shortened. Returns the lines that the format cannot express.
pub fn write(
    answer: &impl Answer,
    options: Options<'_>,
    out: &mut dyn Write,
) -> Result<Vec<String>> {
    let Some(most) = options.max_chars else { return written(answer, options, out) };
    let render = |most| budget::within(most, |out| written(answer, options, out));
    match render(most)? {
        Some(rendered) => put(rendered, out),
        None => {
            let enough = render(usize::MAX)?.map_or(usize::MAX, |rendered| rendered.chars);
            Err(budget::too_small(most, enough, options.caller))
        }
    }
}

/// Writes an answer, without its last items if it would exceed the limit. Returns the lines that the
/// format cannot express.
pub fn write_list<Listed: Answer + List>(
    answer: &Listed,
    options: Options<'_>,
    out: &mut dyn Write,
) -> Result<Vec<String>> {
    let Some(most) = options.max_chars else { return written(answer, options, out) };
    let render =
        |answer: &Listed, most: usize| budget::within(most, |out| written(answer, options, out));
    let fitting = budget::Fitting { answer, most, render: &render, caller: options.caller };
    put(fitting.run()?, out)
}

fn put(rendered: Rendered, out: &mut dyn Write) -> Result<Vec<String>> {
    out.write_all(&rendered.bytes).map_err(unwritten)?;
    Ok(rendered.remarks)
}

fn unwritten(error: io::Error) -> Error {
    Error::io(Path::new("standard output"), error)
}

fn written(answer: &impl Answer, options: Options<'_>, out: &mut dyn Write) -> Result<Vec<String>> {
    let no_form = |name: &str| {
        Error::new(ErrorKind::Usage, format!("this answer cannot be printed as {name}"))
            .with_hint(format!("use one of {}", forms_of(answer)))
    };
    // Lines that the format cannot express are returned, and printed to standard error.
    let rest = Rest { caller: options.caller, ..answer.rest() };
    let remarks = match options.format {
        Format::Raw | Format::Mermaid | Format::Dot => rest.lines(),
        Format::Markdown => rest.remark_lines(),
        _ => Vec::new(),
    };
    match options.format {
        Format::Json => json::write(out, answer, options.is_pretty).map_err(unwritten)?,
        Format::Jsonl => {
            for row in answer.rows().into_iter().chain(rest.rows()) {
                json::write(&mut *out, &row, false).map_err(unwritten)?;
            }
        }
        Format::Raw => {
            let bytes = answer.raw().ok_or_else(|| no_form("raw"))?;
            out.write_all(&bytes).map_err(unwritten)?;
        }
        Format::Text => {
            let mut painter = Painter::new(options.has_color);
            answer.text(&mut painter);
            rest.paint(&mut painter);
            out.write_all(painter.finish().as_bytes()).map_err(unwritten)?;
        }
        Format::Ldmd => {
            let mut report = Report::begin(out, answer.name(), &rest).map_err(unwritten)?;
            answer.report(&mut report).and_then(|()| report.finish()).map_err(unwritten)?;
        }
        Format::Records => {
            let mut records = Records::new(out, options.store, &rest);
            if answer.records(&mut records).map_err(unwritten)? == Form::None {
                return Err(no_form("records"));
            }
        }
        Format::Markdown => {
            if answer.markdown(out).map_err(unwritten)? == Form::None {
                return Err(no_form("markdown"));
            }
            if let Some(end) = rest.end() {
                writeln!(out, "{end}").map_err(unwritten)?;
            }
        }
        Format::Mermaid | Format::Dot => {
            let graph = answer.graph().ok_or_else(|| no_form("a graph"))?;
            let is_dot = options.format == Format::Dot;
            if is_dot { graph.dot(out) } else { graph.mermaid(out) }.map_err(unwritten)?;
        }
    }
    Ok(remarks)
}

/// Returns the names of the formats that the answer supports, for a hint.
fn forms_of(answer: &impl Answer) -> String {
    let rest = answer.rest();
    let sink = &mut io::sink();
    let has_records =
        answer.records(&mut Records::new(sink, "", &rest)).is_ok_and(|form| form == Form::Written);
    let has_markdown = answer.markdown(&mut io::sink()).is_ok_and(|form| form == Form::Written);
    let others = [
        ("raw", answer.raw().is_some()),
        ("records", has_records),
        ("markdown", has_markdown),
        ("mermaid, dot", answer.graph().is_some()),
    ];
    let others = others.into_iter().filter_map(|(name, has)| has.then_some(name));
    ["json", "jsonl", "text", "ldmd"].into_iter().chain(others).collect::<Vec<_>>().join(", ")
}
