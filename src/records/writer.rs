//! Writes records one by one.

use std::borrow::Cow;
use std::fmt;
use std::io::{Result, Write};

use super::LineShape;
use super::value::{id, tags, value};
use crate::position::next_line_start;

pub(super) const HEADER: &str = "H mdsel=1 records=1";
/// The field of the header of compact records.
pub(super) const IS_COMPACT: (&str, &str) = ("compact", "true");
/// The field of the header of records whose bodies have a bar at the start of each line.
pub(super) const HAS_BARS: (&str, &str) = ("prefix_body", "true");
/// What begins each line of such a body.
const BAR: &[u8] = b"| ";
pub(crate) const NODE: LineShape = LineShape("N $i $v $q tags=$t path=$v");
pub(super) const COMPACT_NODE: LineShape = LineShape("N $i $q");
pub(super) const SUMMARY: LineShape = LineShape("S $i $l");
pub(super) const EDGE: LineShape = LineShape("E $i $v $i $v");
pub(super) const BODY: LineShape = LineShape("B $i bytes=$v");
pub(super) const DETAIL: LineShape = LineShape("D $l");
pub(super) const WARNING: LineShape = LineShape("W $l");
pub(super) const COMMAND: LineShape = LineShape("C $v $q");
pub(super) const MAP_OF_CONTENT: LineShape = LineShape("M $i $q tags=$t");

/// A document, a section or a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordNode<'a> {
    /// Its address.
    pub id: &'a str,
    /// The type that its front matter gives, else the name of its kind.
    pub kind: &'a str,
    /// Its title; empty if it has none.
    pub title: &'a str,
    /// Its tags.
    pub tags: &'a [String],
    /// The path of its document, relative to the root.
    pub path: &'a str,
}

/// What compact records do not repeat of the last node that was written whole.
#[derive(Debug, Default)]
pub(super) struct LastNode {
    pub(super) kind: String,
    pub(super) tags: Vec<String>,
    /// The path of its document; empty before the first node.
    pub(super) path: String,
}

/// Formats the record without a line end.
impl fmt::Display for RecordNode<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = [self.id, self.kind, self.title, &tags(self.tags), self.path];
        formatter.write_str(&NODE.write(&fields))
    }
}

/// Formats the header record without a line end.
pub(super) fn write_header<T: AsRef<str>>(fields: &[(T, T)]) -> String {
    let field = |(name, text): &(T, T)| format!(" {}={}", name.as_ref(), value(text.as_ref()));
    std::iter::once(HEADER.to_owned()).chain(fields.iter().map(field)).collect()
}

/// Returns `bytes` with a bar at the start of each line.
fn with_bars(bytes: &[u8]) -> Vec<u8> {
    let mut barred = Vec::with_capacity(bytes.len());
    let mut start = 0;
    while start < bytes.len() {
        let end = next_line_start(bytes, start);
        barred.extend_from_slice(BAR);
        barred.extend_from_slice(bytes.get(start..end).unwrap_or_default());
        start = end;
    }
    barred
}

/// Returns the bytes from which [`with_bars`] makes `barred`, if there are any.
pub(super) fn without_bars(barred: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(barred.len());
    let mut start = 0;
    while start < barred.len() {
        let end = next_line_start(barred, start);
        bytes.extend_from_slice(barred.get(start..end)?.strip_prefix(BAR)?);
        start = end;
    }
    // A bar between CR and LF would join them.
    (with_bars(&bytes) == barred).then_some(bytes)
}

/// Writes records. Ids are addresses, which [`id`] encodes, and must not be empty.
#[derive(Debug)]
pub struct RecordWriter<W: Write> {
    output: W,
    /// The last node that was written whole, if the records are compact.
    last: Option<LastNode>,
    has_bars: bool,
}

impl<W: Write> RecordWriter<W> {
    /// Creates a writer. The caller must write the header first.
    pub fn new(output: W) -> Self {
        Self { output, last: None, has_bars: false }
    }

    /// Creates a writer of compact records. After a node, an id in its document begins with `::`, and a node in it
    /// of the same kind and with the same tags has only an id and a title.
    pub fn compact(output: W) -> Self {
        Self { last: Some(LastNode::default()), ..Self::new(output) }
    }

    /// Makes the writer begin each line of a body with a bar, so that a model cannot take it for a record.
    #[must_use]
    pub fn prefixing_bodies(self) -> Self {
        Self { has_bars: true, ..self }
    }

    /// Writes the header, which must be the first record: the version, then `fields` as names and values.
    pub fn header(&mut self, fields: &[(&str, &str)]) -> Result<()> {
        let mut fields = fields.to_vec();
        if self.last.is_some() {
            fields.push(IS_COMPACT);
        }
        if self.has_bars {
            fields.push(HAS_BARS);
        }
        writeln!(self.output, "{}", write_header(&fields))
    }

    /// Writes the record of a node.
    pub fn node(&mut self, node: &RecordNode<'_>) -> Result<()> {
        let short = self.short(node.id);
        if let Some(last) = &self.last
            && short != node.id
            && node.kind == last.kind
            && node.tags == last.tags
        {
            return writeln!(self.output, "{}", COMPACT_NODE.write(&[short, node.title]));
        }
        if let Some(last) = &mut self.last {
            node.kind.clone_into(&mut last.kind);
            node.tags.clone_into(&mut last.tags);
            id(node.path).as_ref().clone_into(&mut last.path);
        }
        writeln!(self.output, "{node}")
    }

    /// Returns `id` without the path of the last node.
    fn short<'a>(&self, id: &'a str) -> &'a str {
        let last = self.last.as_ref().filter(|last| !last.path.is_empty());
        let short = last.and_then(|last| id.strip_prefix(last.path.as_str()));
        short.filter(|short| short.starts_with("::")).unwrap_or(id)
    }

    /// Writes the summary of the node `id`, with each run of whitespace as one space. Writes nothing if the
    /// summary is blank.
    pub fn summary(&mut self, id: &str, text: &str) -> Result<()> {
        let words: Vec<_> = text.split_whitespace().collect();
        if words.is_empty() {
            Ok(())
        } else {
            self.line(SUMMARY, &[self.short(id), &words.join(" ")])
        }
    }

    /// Writes a link of type `kind`. `is_typed` marks a link in front matter; other links are inline.
    pub fn edge(&mut self, from: &str, kind: &str, to: &str, is_typed: bool) -> Result<()> {
        self.line(
            EDGE,
            &[self.short(from), kind, self.short(to), if is_typed { "typed" } else { "inline" }],
        )
    }

    /// Writes the bytes of the node `id`. Only a bar at the start of each line is added, if the writer adds them.
    pub fn body(&mut self, id: &str, bytes: &[u8]) -> Result<()> {
        let bytes = if self.has_bars { Cow::Owned(with_bars(bytes)) } else { Cow::Borrowed(bytes) };
        self.line(BODY, &[self.short(id), &bytes.len().to_string()])?;
        self.output.write_all(&bytes)?;
        self.output.write_all(b"\nB-END\n")
    }

    /// Writes a detail: one line of text, such as a broken link.
    pub fn detail(&mut self, text: &str) -> Result<()> {
        self.line(DETAIL, &[text])
    }

    /// Writes the text of a warning.
    pub fn warning(&mut self, text: &str) -> Result<()> {
        self.line(WARNING, &[text])
    }

    /// Writes a command and what it does.
    pub fn command(&mut self, command: &str, what: &str) -> Result<()> {
        self.line(COMMAND, &[command, what])
    }

    /// Writes a document that many links lead to.
    pub fn map_of_content(&mut self, id: &str, title: &str, tagged: &[String]) -> Result<()> {
        self.line(MAP_OF_CONTENT, &[self.short(id), title, &tags(tagged)])
    }

    fn line(&mut self, shape: LineShape, fields: &[&str]) -> Result<()> {
        writeln!(self.output, "{}", shape.write(fields))
    }
}
