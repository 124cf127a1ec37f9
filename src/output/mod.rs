//! Writes answers in a format, within a limit of characters, with unsafe characters escaped. Never reads
//! the store.
//!
//! Every answer implements [`Answer`]. Only [`write()`] and [`write_list`] turn an answer into bytes.
//! Invariant: the output is a valid document of its format whatever the limit, and it says whether
//! anything was left out.

mod budget;
mod csv;
mod footer;
mod forms;
mod graph;
pub mod json;
mod ldmd;
mod records;
pub mod sanitize;
mod text_writer;

pub use footer::Footer;
pub use graph::Graph;
pub use ldmd::LdmdRenderer;
pub use records::Records;
pub use text_writer::TextWriter;

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
    /// Comma-separated values (RFC 4180), with a header.
    Csv,
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
pub enum FormatSupport {
    /// The answer supports the format, and was written.
    Written,
    /// The answer does not support the format.
    Unsupported,
}

/// An answer that can be printed in any [`Format`].
pub trait Answer: Serialize {
    /// Returns the part of the answer that is not an item: warnings, unresolved selectors, the cursor.
    fn rest(&self) -> Footer<'_>;

    /// Returns one JSON value per item, for `jsonl`.
    fn rows(&self) -> Vec<serde_json::Value>;

    /// Returns the bytes that `raw` prints, or `None` if the answer does not quote documents.
    fn raw(&self) -> Option<Vec<u8>> {
        None
    }

    /// Returns the header and the rows that `csv` prints, or `None` if the answer is no table.
    fn csv(&self) -> Option<Vec<Vec<String>>> {
        None
    }

    /// Writes the items for `text`.
    fn text(&self, writer: &mut TextWriter);

    /// Returns the name of the command.
    fn name(&self) -> &'static str;

    /// Writes the items for `ldmd`.
    fn ldmd(&self, renderer: &mut LdmdRenderer<'_>) -> io::Result<()>;

    /// Writes the answer for `records`.
    fn records(&self, records: &mut Records<'_>) -> io::Result<FormatSupport> {
        let _ = records;
        Ok(FormatSupport::Unsupported)
    }

    /// Writes the answer for `markdown`.
    fn markdown(&self, out: &mut dyn Write) -> io::Result<FormatSupport> {
        let _ = out;
        Ok(FormatSupport::Unsupported)
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
    messages: Vec<String>,
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
    Ok(rendered.messages)
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
    let footer = Footer { caller: options.caller, ..answer.rest() };
    let messages = match options.format {
        Format::Raw | Format::Csv | Format::Mermaid | Format::Dot => footer.lines(),
        Format::Markdown => footer.message_lines(),
        _ => Vec::new(),
    };
    match options.format {
        Format::Json => json::write(out, answer, options.is_pretty).map_err(unwritten)?,
        Format::Jsonl => {
            for row in answer.rows().into_iter().chain(footer.rows()) {
                json::write(&mut *out, &row, false).map_err(unwritten)?;
            }
        }
        Format::Raw => {
            let bytes = answer.raw().ok_or_else(|| no_form("raw"))?;
            out.write_all(&bytes).map_err(unwritten)?;
        }
        Format::Csv => {
            let rows = answer.csv().ok_or_else(|| no_form("csv"))?;
            out.write_all(csv::written(&rows).as_bytes()).map_err(unwritten)?;
        }
        Format::Text => {
            let mut writer = TextWriter::new(options.has_color);
            answer.text(&mut writer);
            footer.write_text(&mut writer);
            out.write_all(writer.finish().as_bytes()).map_err(unwritten)?;
        }
        Format::Ldmd => {
            let mut renderer =
                LdmdRenderer::begin(out, answer.name(), &footer).map_err(unwritten)?;
            answer.ldmd(&mut renderer).and_then(|()| renderer.finish()).map_err(unwritten)?;
        }
        Format::Records => {
            let mut records = Records::new(out, options.store, &footer);
            if answer.records(&mut records).map_err(unwritten)? == FormatSupport::Unsupported {
                return Err(no_form("records"));
            }
        }
        Format::Markdown => {
            if answer.markdown(out).map_err(unwritten)? == FormatSupport::Unsupported {
                return Err(no_form("markdown"));
            }
            if let Some(end) = footer.end() {
                writeln!(out, "{end}").map_err(unwritten)?;
            }
        }
        Format::Mermaid | Format::Dot => {
            let graph = answer.graph().ok_or_else(|| no_form("a graph"))?;
            let is_dot = options.format == Format::Dot;
            if is_dot { graph.dot(out) } else { graph.mermaid(out) }.map_err(unwritten)?;
        }
    }
    Ok(messages)
}

/// Returns the names of the formats that the answer supports, for a hint.
fn forms_of(answer: &impl Answer) -> String {
    let footer = answer.rest();
    let sink = &mut io::sink();
    let has_records = answer
        .records(&mut Records::new(sink, "", &footer))
        .is_ok_and(|form| form == FormatSupport::Written);
    let has_markdown =
        answer.markdown(&mut io::sink()).is_ok_and(|form| form == FormatSupport::Written);
    let others = [
        ("raw", answer.raw().is_some()),
        ("csv", answer.csv().is_some()),
        ("records", has_records),
        ("markdown", has_markdown),
        ("mermaid, dot", answer.graph().is_some()),
    ];
    let others = others.into_iter().filter_map(|(name, has)| has.then_some(name));
    ["json", "jsonl", "text", "ldmd"].into_iter().chain(others).collect::<Vec<_>>().join(", ")
}
