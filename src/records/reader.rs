//! Reads records one by one.

use std::io::BufRead;

use super::value::take_value;
use super::writer::{
    BODY, COMMAND, COMPACT_NODE, DETAIL, EDGE, HAS_BARS, HEADER, IS_COMPACT, LastNode,
    MAP_OF_CONTENT, NODE, SUMMARY, WARNING, without_bars, write_header,
};
use super::{LineError, RecordLines, count, id, read_tags};

/// A record. Ids and lines of text are as written; values are unquoted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are the arguments of the functions of `Writer`")]
pub enum Record {
    /// See [`RecordWriter::header`](super::RecordWriter::header).
    Header(Vec<(String, String)>),
    /// See [`RecordWriter::node`](super::RecordWriter::node).
    Node { id: String, kind: String, title: String, tags: Vec<String>, path: String },
    /// See [`RecordWriter::summary`](super::RecordWriter::summary).
    Summary { id: String, text: String },
    /// See [`RecordWriter::edge`](super::RecordWriter::edge).
    Edge { from: String, kind: String, to: String, is_typed: bool },
    /// See [`RecordWriter::body`](super::RecordWriter::body).
    Body { id: String, bytes: Vec<u8> },
    /// See [`RecordWriter::detail`](super::RecordWriter::detail).
    Detail(String),
    /// See [`RecordWriter::warning`](super::RecordWriter::warning).
    Warning(String),
    /// See [`RecordWriter::command`](super::RecordWriter::command).
    Command { command: String, what: String },
    /// See [`RecordWriter::map_of_content`](super::RecordWriter::map_of_content).
    MapOfContent { id: String, title: String, tags: Vec<String> },
}

impl Record {
    /// Parses a record that is neither a header nor a body. `last` is the last node of compact records.
    fn parse(line: &str, last: Option<&LastNode>) -> Option<Self> {
        Some(match line.split(' ').next()? {
            "N" => {
                if let Some([id, title]) = COMPACT_NODE.read(line) {
                    let last = last.filter(|last| !last.path.is_empty() && id.starts_with("::"))?;
                    let (kind, path) = (last.kind.clone(), last.path.clone());
                    return Some(Self::Node { id, kind, title, tags: last.tags.clone(), path });
                }
                let [id, kind, title, tags, path] = NODE.read(line)?;
                Self::Node { id, kind, title, tags: read_tags(&tags)?, path }
            }
            "S" => SUMMARY.read(line).map(|[id, text]| Self::Summary { id, text })?,
            "E" => {
                let [from, kind, to, source] = EDGE.read(line)?;
                let is_typed = source == "typed";
                (is_typed || source == "inline").then_some(Self::Edge {
                    from,
                    kind,
                    to,
                    is_typed,
                })?
            }
            "D" => DETAIL.read(line).map(|[text]| Self::Detail(text))?,
            "W" => WARNING.read(line).map(|[text]| Self::Warning(text))?,
            "C" => COMMAND.read(line).map(|[command, what]| Self::Command { command, what })?,
            "M" => {
                let [id, title, tags] = MAP_OF_CONTENT.read(line)?;
                Self::MapOfContent { id, title, tags: read_tags(&tags)? }
            }
            _ => return None,
        })
    }

    /// Completes the ids of a compact record with the path of `last`, the last node. A node becomes the last node.
    fn complete(&mut self, last: &mut LastNode) {
        let ids = match self {
            Self::Node { id, .. }
            | Self::Summary { id, .. }
            | Self::Body { id, .. }
            | Self::MapOfContent { id, .. } => vec![id],
            Self::Edge { from, to, .. } => vec![from, to],
            _ => Vec::new(),
        };
        for short in ids.into_iter().filter(|id| id.starts_with("::")) {
            short.insert_str(0, &id(&last.path));
        }
        if let Self::Node { kind, tags, path, .. } = self {
            kind.clone_into(&mut last.kind);
            tags.clone_into(&mut last.tags);
            path.clone_into(&mut last.path);
        }
    }
}

/// Parses the names and values of a header.
fn header(line: &str) -> Option<Vec<(String, String)>> {
    let mut rest = line.strip_prefix(HEADER)?;
    let mut fields = Vec::new();
    while !rest.is_empty() {
        let (name, after_name) = rest.strip_prefix(' ')?.split_once('=')?;
        let (text, after_value) = take_value(after_name, &[' '])?;
        fields.push((name.to_owned(), text));
        rest = after_value;
    }
    (!fields.iter().any(|(name, _)| name.contains(' ')) && write_header(&fields) == line)
        .then_some(fields)
}

/// An iterator over records, the header first, which ends after the first problem. A line or a body that
/// exceeds [`crate::limits`] is a problem.
#[derive(Debug)]
pub struct RecordReader<R: BufRead> {
    lines: RecordLines<R>,
    /// The last node, if the records are compact.
    last: Option<LastNode>,
    /// Whether each line of a body begins with a bar.
    has_bars: bool,
    is_over: bool,
}

impl<R: BufRead> RecordReader<R> {
    /// Reads records from `input`, which must begin with the header.
    pub fn new(input: R) -> Self {
        Self { lines: RecordLines::new(input), last: None, has_bars: false, is_over: false }
    }

    fn record(&mut self) -> Result<Option<Record>, LineError> {
        if !self.lines.advance()? {
            return Ok(None);
        }
        let line = self.lines.text();
        let mut record = if self.lines.number() == 1 {
            let fields = header(line);
            let has = |field: (&str, &str)| {
                let is_field =
                    |(name, text): &(String, String)| (name.as_str(), text.as_str()) == field;
                fields.iter().flatten().any(is_field)
            };
            self.last = has(IS_COMPACT).then(LastNode::default);
            self.has_bars = has(HAS_BARS);
            fields.map(Record::Header)
        } else if let Some([id, bytes]) = BODY.read(line) {
            let count = count(&bytes)
                .ok_or_else(|| self.lines.fault("the count of bytes is not a number"))?;
            Some(Record::Body { id, bytes: self.body(count)? })
        } else {
            Record::parse(line, self.last.as_ref())
        };
        if let (Some(record), Some(last)) = (&mut record, &mut self.last) {
            record.complete(last);
        }
        record.map(Some).ok_or_else(|| self.lines.fault("this record is not expected here"))
    }

    /// Reads the bytes of a body and its end.
    fn body(&mut self, count: usize) -> Result<Vec<u8>, LineError> {
        let bytes = self.lines.bytes(count)?;
        for end in ["\n", "B-END\n"] {
            if !self.lines.advance()? || self.lines.line() != end {
                return Err(self.lines.fault("the end of the body is expected here"));
            }
        }
        if !self.has_bars {
            return Ok(bytes);
        }
        let bare = without_bars(&bytes);
        bare.ok_or_else(|| self.lines.fault("a line of the body does not begin with a bar"))
    }
}

impl<R: BufRead> Iterator for RecordReader<R> {
    type Item = Result<Record, LineError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let record = self.record().transpose();
        self.is_over = !matches!(record, Some(Ok(_)));
        record
    }
}
