//! The events of a YAML text, with the bytes at which they are written.
//!
//! Invariant: the span of a plain scalar or of one in quotes is exactly the scalar, with its quotes.

use saphyr_parser::{Event, Parser, ScalarStyle, Span};

use super::flow_lines::{indented, unindented_lines};
use super::yaml_tabs::with_spaces;
use crate::position::ByteSpan;

/// A YAML text as it is parsed.
pub(crate) struct YamlSource<'a> {
    text: &'a str,
    parsed: String,
    /// The byte offset of each Unicode scalar of `parsed` in `text`, and the length of `text`.
    offsets: Vec<usize>,
}

impl<'a> YamlSource<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let spaced = with_spaces(text);
        let lines = if Parser::new_from_str(&spaced).all(|event| event.is_ok()) {
            Vec::new()
        } else {
            unindented_lines(&spaced)
        };
        let mut offsets = Vec::with_capacity(text.len() + lines.len() + 1);
        let mut added = lines.iter().peekable();
        for (at, _) in text.char_indices() {
            offsets.extend(added.next_if_eq(&&at));
            offsets.push(at);
        }
        offsets.push(text.len());
        Self { text, parsed: indented(&spaced, &lines), offsets }
    }

    /// Returns the events of the first document, without its start and end.
    pub(crate) fn events(&self) -> Result<Vec<(Event<'_>, ByteSpan)>, String> {
        let mut events = Vec::new();
        for event in Parser::new_from_str(&self.parsed) {
            let (event, span) = event.map_err(|error| error.to_string())?;
            match event {
                Event::Nothing | Event::StreamStart | Event::DocumentStart(_) => {}
                Event::DocumentEnd | Event::StreamEnd => break,
                event => {
                    let span = self.span_of(&event, span);
                    events.push((event, span));
                }
            }
        }
        Ok(events)
    }

    fn span_of(&self, event: &Event<'_>, span: Span) -> ByteSpan {
        let at = |index: usize| self.offsets.get(index).copied().unwrap_or(self.text.len());
        let start = at(span.start.index());
        let end = at(span.end.index()).max(start);
        let start =
            if matches!(event, Event::Scalar(..)) { self.after_tags(start, end) } else { start };
        let end = match event {
            Event::Scalar(_, ScalarStyle::SingleQuoted, ..) => self.end_of_quoted(start, '\''),
            Event::Scalar(_, ScalarStyle::DoubleQuoted, ..) => self.end_of_quoted(start, '"'),
            // The parser counts the blanks before the next token.
            Event::Scalar(_, ScalarStyle::Plain, ..) => {
                start + self.text.get(start..end).unwrap_or_default().trim_end().len()
            }
            _ => end,
        };
        ByteSpan::new(start, end)
    }

    /// Returns the offset after the anchors and tags at `start`, which the parser counts as part of a scalar.
    fn after_tags(&self, start: usize, end: usize) -> usize {
        let text = self.text.get(start..end).unwrap_or_default();
        let mut rest = text;
        while rest.starts_with(['&', '!']) {
            let word = rest.find(char::is_whitespace).unwrap_or(rest.len());
            rest = rest.get(word..).unwrap_or_default().trim_start();
        }
        start + text.len() - rest.len()
    }

    /// Returns the end of the quoted scalar at `start`.
    fn end_of_quoted(&self, start: usize, quote: char) -> usize {
        let text = self.text.get(start..).unwrap_or_default();
        let mut scalars = text.char_indices().skip(1).peekable();
        while let Some((at, scalar)) = scalars.next() {
            let next = scalars.peek().map(|&(_, next)| next);
            if scalar == '\\' && quote == '"'
                || scalar == quote && quote == '\'' && next == Some(quote)
            {
                scalars.next();
            } else if scalar == quote {
                return start + at + 1;
            }
        }
        self.text.len()
    }
}
