//! Answers as bytes: formats, the budget, and what is safe to show. Never touches the store.
//!
//! Every answer that can be printed implements [`Answer`]; [`write()`] and [`write_list`] are the only
//! ways from one to bytes. Invariant: what is printed in a format is a valid document of that format, however small
//! the budget, and says so where anything was left out.

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
    /// A Markdown document of sections that can be read one by one.
    Ldmd,
    /// A line a record, for the context of a model.
    Records,
    /// Blocks of Markdown, for the context of a model.
    Markdown,
    /// A graph as Mermaid draws it.
    Mermaid,
    /// A graph as Graphviz draws it.
    Dot,
}

/// How to print.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// The format.
    pub format: Format,
    /// Whether JSON is indented.
    pub is_pretty: bool,
    /// Whether text is coloured.
    pub has_color: bool,
    /// The most Unicode scalars that may be printed.
    pub max_chars: Option<usize>,
    /// The store, as it is named in the answer.
    pub store: &'a str,
    /// Who asks.
    pub caller: Caller,
}

/// Who asks, which decides how an answer says how to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// Somebody at a command line, who gives flags.
    CommandLine,
    /// A client of the Model Context Protocol, who gives arguments.
    Mcp {
        /// Unicode scalars of the reply around the answer.
        frame: usize,
    },
}

/// Whether an answer has a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// It has, and it was written.
    Written,
    /// It has none.
    None,
}

/// Something that can be printed.
pub trait Answer: Serialize {
    /// What stands beside the items.
    fn rest(&self) -> Rest<'_>;

    /// What `jsonl` prints of the items, a line each.
    fn rows(&self) -> Vec<serde_json::Value>;

    /// What `raw` prints; `None` where there are no bytes of documents in the answer.
    fn raw(&self) -> Option<Vec<u8>> {
        None
    }

    /// What `text` prints of the items.
    fn text(&self, painter: &mut Painter);

    /// The command that it answers.
    fn name(&self) -> &'static str;

    /// What `ldmd` prints of the items.
    fn report(&self, report: &mut Report<'_>) -> io::Result<()>;

    /// What `records` prints.
    fn records(&self, records: &mut Records<'_>) -> io::Result<Form> {
        let _ = records;
        Ok(Form::None)
    }

    /// What `markdown` prints.
    fn markdown(&self, out: &mut dyn Write) -> io::Result<Form> {
        let _ = out;
        Ok(Form::None)
    }

    /// The graph that `mermaid` and `dot` draw.
    fn graph(&self) -> Option<Graph<'_>> {
        None
    }
}

/// An answer as it is printed.
#[derive(Debug)]
struct Rendered {
    bytes: Vec<u8>,
    /// Unicode scalars of these.
    chars: usize,
    /// Lines that the answer's format cannot hold.
    remarks: Vec<String>,
}

/// Writes an answer that has no items to leave out; returns what its format cannot hold.
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

/// Writes an answer, leaving items out from the end as the budget asks; returns what its format cannot
/// hold.
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
        Error::new(ErrorKind::Usage, format!("this answer has no {name} form"))
            .with_hint(format!("ask for {}", forms_of(answer)))
    };
    // What a format cannot hold is said beside it.
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
            let graph = answer.graph().ok_or_else(|| no_form("drawn"))?;
            let is_dot = options.format == Format::Dot;
            if is_dot { graph.dot(out) } else { graph.mermaid(out) }.map_err(unwritten)?;
        }
    }
    Ok(remarks)
}

/// The formats in which an answer has a form, as a list for people.
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
