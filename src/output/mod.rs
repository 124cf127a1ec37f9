//! Writes answers in a format, within a limit of characters and bytes, with unsafe characters escaped. Never reads
//! the store.
//!
//! Every answer implements [`Answer`]. Only [`write()`], [`write_list`] and `write_worded` turn an answer into bytes.
//! Invariant: the output is a valid document of its format whatever the limit, and it says whether
//! anything was left out.

mod budget;
mod compact;
mod csv;
mod footer;
pub(crate) mod forms;
mod graph;
pub mod json;
mod ldmd;
mod own_lines;
mod records;
pub mod sanitize;
mod text_writer;

pub(crate) use budget::{OutputLength, too_small};
pub use footer::Footer;
pub use forms::NamedValues;
pub use graph::Graph;
pub use ldmd::LdmdRenderer;
pub use records::Records;
pub use text_writer::TextWriter;

use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use crate::error::{Error, ErrorKind, Result};
use crate::message::Message;
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

impl Format {
    /// Every format.
    pub const ALL: [Self; 10] = [
        Self::Json,
        Self::Jsonl,
        Self::Raw,
        Self::Text,
        Self::Ldmd,
        Self::Records,
        Self::Markdown,
        Self::Mermaid,
        Self::Dot,
        Self::Csv,
    ];

    /// The formats that every answer has.
    pub const COMMON: [Self; 4] = [Self::Json, Self::Jsonl, Self::Text, Self::Ldmd];

    /// Returns the name, as `-f` takes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Jsonl => "jsonl",
            Self::Raw => "raw",
            Self::Text => "text",
            Self::Ldmd => "ldmd",
            Self::Records => "records",
            Self::Markdown => "markdown",
            Self::Mermaid => "mermaid",
            Self::Dot => "dot",
            Self::Csv => "csv",
        }
    }
}

/// The format of an answer, and where it is printed.
#[derive(Clone, Copy, Debug)]
pub struct OutputOptions<'a> {
    /// The output format.
    pub format: Format,
    /// Whether JSON is indented.
    pub is_pretty: bool,
    /// Whether JSON and records leave out what follows from the rest.
    pub is_compact: bool,
    /// Whether text has colors.
    pub has_color: bool,
    /// The maximum length of the output in Unicode scalars, if limited.
    pub max_chars: Option<usize>,
    /// The maximum length of the output in bytes, if limited.
    pub max_bytes: Option<usize>,
    /// The maximum length of the output in tokens of three bytes, if limited.
    pub max_tokens: Option<usize>,
    /// The form of records.
    pub record_form: RecordForm,
    /// The path of the store, as printed in records.
    pub store: &'a str,
    /// The interface that the request came from.
    pub caller: Caller<'a>,
}

/// What a request may change about records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordForm {
    /// Whether a bar begins each line of a body.
    pub prefixes_bodies: bool,
    /// Whether the line that precedes content of documents is left out.
    pub omits_banner: bool,
}

impl OutputOptions<'_> {
    /// Returns the maximum length of the output, if limited.
    pub(crate) fn limit(&self) -> Option<OutputLength> {
        self.max_chars.or(self.max_bytes).or(self.max_tokens)?;
        let or_all = |most: Option<usize>| most.unwrap_or(usize::MAX);
        Some(OutputLength {
            chars: or_all(self.max_chars),
            bytes: or_all(self.max_bytes),
            tokens: or_all(self.max_tokens),
        })
    }
}

/// The interface that a request came from. It determines how an answer names the option that continues
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller<'a> {
    /// The command line, which takes flags.
    CommandLine,
    /// The Model Context Protocol, which takes arguments.
    Mcp {
        /// The option that names the store in a command, with a blank before it; empty if the command finds it without.
        store_option: &'a str,
    },
}

/// The rows of `jsonl`.
pub type Rows<'a> = Box<dyn Iterator<Item = serde_json::Value> + 'a>;

/// An answer that can be printed in several formats. JSON follows from [`Serialize`].
pub trait Answer: Serialize {
    /// The name of the command.
    const NAME: &'static str;

    /// The formats of the answer besides [`Format::COMMON`], which every answer has. For each of them the
    /// answer implements the method that writes it.
    const FORMATS: &'static [Format] = &[];

    /// Returns whether this answer can be printed in `format`.
    fn has(&self, format: Format) -> bool {
        Format::COMMON.contains(&format) || Self::FORMATS.contains(&format)
    }

    /// Returns the part of the answer that is not an item: warnings, unresolved selectors, the cursor.
    fn footer(&self) -> Footer<'_>;

    /// Returns one JSON value per item, for `jsonl`. Each is made when it is written: the values of all items take
    /// several times the memory of the items.
    fn rows(&self) -> Rows<'_>;

    /// Returns the bytes that `raw` prints.
    fn raw(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Calls `write` with the header and with each row that `csv` prints.
    fn csv(&self, _: &mut dyn FnMut(&[&str]) -> io::Result<()>) -> io::Result<()> {
        Ok(())
    }

    /// Writes the items for `text`.
    fn text(&self, writer: &mut TextWriter);

    /// Returns the name of the command. It differs from [`Self::NAME`] if one answer is that of several commands.
    fn name(&self) -> &'static str {
        Self::NAME
    }

    /// Writes the items for `ldmd`.
    fn ldmd(&self, renderer: &mut LdmdRenderer<'_>) -> io::Result<()>;

    /// Writes the answer for `records`.
    fn records(&self, _: &mut Records<'_>) -> io::Result<()> {
        Ok(())
    }

    /// Writes the answer for `markdown`.
    fn markdown(&self, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    /// Returns the graph for `mermaid` and `dot`.
    fn graph(&self) -> Graph<'_> {
        Graph::default()
    }
}

/// Returns whether the answer of an edit can be printed in `format`. Only a dry run has a diff for `raw`.
pub(crate) fn edit_has(format: Format, is_dry_run: bool) -> bool {
    Format::COMMON.contains(&format) || format == Format::Raw && is_dry_run
}

/// The output of an answer.
#[derive(Debug)]
struct Rendered {
    bytes: Vec<u8>,
    /// The length of `bytes`.
    length: OutputLength,
    /// Lines for standard error: what the format cannot express.
    messages: Vec<String>,
}

/// Writes an answer that cannot be shortened. Returns the lines that the format cannot express.
pub fn write(
    answer: &impl Answer,
    options: OutputOptions<'_>,
    out: &mut dyn Write,
) -> Result<Vec<String>> {
    let Some(most) = options.limit() else { return written(answer, options, out) };
    let render = |most| budget::within(most, |out| written(answer, options, out));
    match render(most)? {
        Some(rendered) => put(rendered, out),
        None => {
            let whole = render(OutputLength::UNLIMITED)?;
            let enough = whole.map_or(OutputLength::UNLIMITED, |whole| whole.length);
            Err(budget::too_small(most, enough, options.caller))
        }
    }
}

/// Writes an answer, without its last items if it would exceed the limit. Returns the lines that the
/// format cannot express.
pub fn write_list<Listed: Answer + List>(
    answer: &Listed,
    options: OutputOptions<'_>,
    out: &mut dyn Write,
) -> Result<Vec<String>> {
    write_worded(&mut answer.clone(), &Message::clone, options, out)
}

/// Writes an answer like [`write_list`]. `word` puts the messages of the answer into the words of the caller, also
/// those that are added when an item is cut.
pub(crate) fn write_worded<Listed: Answer + List>(
    answer: &mut Listed,
    word: &dyn Fn(&Message) -> Message,
    options: OutputOptions<'_>,
    out: &mut dyn Write,
) -> Result<Vec<String>> {
    let reword = |answer: &mut Listed| {
        answer.messages_mut().into_iter().for_each(|message| *message = word(message));
    };
    let begins_after_end = answer.begins_after_end();
    if let Some(page) = answer.page_mut() {
        page.say_once();
        page.mark_expansion_cut();
        if begins_after_end {
            page.warn_of_end();
        }
    }
    reword(answer);
    let Some(most) = options.limit() else { return written(answer, options, out) };
    let render = |answer: &Listed, most| budget::within(most, |out| written(answer, options, out));
    let caller = options.caller;
    put(budget::Fitting { answer, most, render: &render, reword: &reword, caller }.run()?, out)
}

/// Returns whether the whole answer fits into the limit.
pub fn fits(answer: &impl Answer, options: OutputOptions<'_>) -> Result<bool> {
    let Some(most) = options.limit() else { return Ok(true) };
    let rendered = budget::within(most, |out| written(answer, options, out))?;
    Ok(rendered.is_some())
}

fn put(rendered: Rendered, out: &mut dyn Write) -> Result<Vec<String>> {
    out.write_all(&rendered.bytes).map_err(unwritten)?;
    Ok(rendered.messages)
}

fn unwritten(error: io::Error) -> Error {
    Error::io(Path::new("standard output"), error)
}

/// Returns the error for an answer that does not have `format`. `has` returns whether a format can be asked for instead.
pub fn unprintable(format: Format, has: impl Fn(Format) -> bool) -> Error {
    let message = format!("this answer cannot be printed as {}", format.name());
    Error::new(ErrorKind::Usage, message).with_hint(format!("use one of {}", names(has)))
}

fn written(
    answer: &impl Answer,
    options: OutputOptions<'_>,
    out: &mut dyn Write,
) -> Result<Vec<String>> {
    if !answer.has(options.format) {
        return Err(unprintable(options.format, |format| answer.has(format)));
    }
    // Lines that the format cannot express are returned, and printed to standard error.
    let footer = Footer { caller: options.caller, ..answer.footer() };
    let messages = match options.format {
        Format::Raw | Format::Csv | Format::Mermaid | Format::Dot => footer.lines(),
        Format::Markdown => footer.message_lines(),
        Format::Json | Format::Jsonl | Format::Text | Format::Ldmd | Format::Records => Vec::new(),
    };
    match options.format {
        Format::Json if options.is_compact => {
            let value = serde_json::to_value(answer).map_err(|error| unwritten(error.into()))?;
            json::write(out, &compact::compact(value), options.is_pretty).map_err(unwritten)?;
        }
        Format::Json => json::write(out, answer, options.is_pretty).map_err(unwritten)?,
        Format::Jsonl => {
            for row in answer.rows().chain(footer.rows()) {
                let row = if options.is_compact { compact::compact(row) } else { row };
                json::write(&mut *out, &row, false).map_err(unwritten)?;
            }
        }
        Format::Raw => {
            out.write_all(&answer.raw()).map_err(unwritten)?;
        }
        Format::Csv => {
            answer.csv(&mut |fields| csv::write_record(&mut *out, fields)).map_err(unwritten)?;
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
            let mut records = Records::new(out, options, &footer);
            answer.records(&mut records).map_err(unwritten)?;
        }
        Format::Markdown => {
            answer.markdown(out).map_err(unwritten)?;
            if let Some(end) = footer.end() {
                writeln!(out, "{end}").map_err(unwritten)?;
            }
        }
        Format::Mermaid | Format::Dot => {
            let graph = answer.graph();
            let is_dot = options.format == Format::Dot;
            if is_dot { graph.dot(out) } else { graph.mermaid(out) }.map_err(unwritten)?;
        }
    }
    Ok(messages)
}

/// Returns the names of the formats for which `has` is true, for a hint.
pub fn names(has: impl Fn(Format) -> bool) -> String {
    let named = Format::ALL.into_iter().filter(|format| has(*format)).map(Format::name);
    named.collect::<Vec<_>>().join(", ")
}
