//! The layout of YAML front matter, from the spans of the parser's events.
//!
//! Invariant: the lines of two entries of a mapping in block style do not overlap, and a comment
//! after the value of an entry is not among its lines.

use saphyr_parser::{Event, ScalarStyle};

use super::layout::{KeyInsertionPoint, KeyLayout, Kind, Layout, ValueLayout};
use crate::markdown::front_matter::{key_of, plain_scalar};
use crate::markdown::yaml_source::YamlSource;
use crate::position::{ByteSpan, next_line_start};

/// Returns the layout of `text`.
pub(super) fn layout(text: &str) -> Result<Layout, String> {
    let source = YamlSource::new(text);
    let mut reader = YamlReader { text, events: source.events()?, position: 0 };
    let end = reader.text.len();
    match reader.node(ByteSpan::new(0, end)).map(|node| (node.obstacle, node.kind)) {
        Some((None, Kind::Mapping(layout))) => Ok(layout),
        Some((Some(reason), _)) => Err(format!("the front matter cannot be changed: {reason}")),
        Some((None, _)) | None => Ok(Layout {
            entries: Vec::new(),
            insertion_point: KeyInsertionPoint::Line(end, String::new()),
        }),
    }
}

struct YamlReader<'a> {
    text: &'a str,
    events: Vec<(Event<'a>, ByteSpan)>,
    /// The index of the next event.
    position: usize,
}

impl YamlReader<'_> {
    fn get(&self, start: usize, end: usize) -> &str {
        self.text.get(start..end).unwrap_or_default()
    }

    fn line_start(&self, offset: usize) -> usize {
        self.get(0, offset).rfind(['\n', '\r']).map_or(0, |at| at + 1)
    }

    /// Reads the next node, which is in `region`: the lines up to those of the next entry.
    fn node(&mut self, region: ByteSpan) -> Option<ValueLayout> {
        let (event, span) = self.events.get(self.position)?.clone();
        self.position += 1;
        Some(match event {
            Event::Alias(_) => ValueLayout {
                span,
                kind: Kind::Scalar(None),
                obstacle: Some("its value is an alias"),
            },
            Event::Scalar(_, style, anchor, tag) => {
                let kind = match style {
                    ScalarStyle::Plain => Kind::Scalar(None),
                    ScalarStyle::SingleQuoted => Kind::Scalar(Some('\'')),
                    ScalarStyle::DoubleQuoted => Kind::Scalar(Some('"')),
                    ScalarStyle::Literal | ScalarStyle::Folded => Kind::Block,
                };
                let span = if matches!(kind, Kind::Block) {
                    let start = self.indicator(span.start);
                    ByteSpan::new(start, self.end_of_block(start).min(region.end).max(start))
                } else {
                    span
                };
                ValueLayout { span, kind, obstacle: obstacle(anchor, tag.is_some()) }
            }
            Event::SequenceStart(anchor, tag) => {
                self.list(span, obstacle(anchor, tag.is_some()), region)
            }
            Event::MappingStart(anchor, tag) => {
                self.mapping(span, obstacle(anchor, tag.is_some()), region)
            }
            _ => return None,
        })
    }

    fn is_next_end(&self) -> bool {
        matches!(
            self.events.get(self.position),
            None | Some((Event::SequenceEnd | Event::MappingEnd, _))
        )
    }

    /// Takes the end of a collection and returns the offset after its closing mark.
    fn end(&mut self) -> usize {
        let start = self.events.get(self.position).map_or(self.text.len(), |(_, span)| span.start);
        self.position += 1;
        // The span of the event goes on to the next token.
        start + usize::from(self.get(start, self.text.len()).starts_with([']', '}']))
    }

    /// Returns whether the collection that begins at `start`, and whose start was read, is written between `mark` and
    /// its counterpart. One in block style may begin with such a collection, which then begins at the same offset.
    fn is_inline(&self, start: ByteSpan, mark: char) -> bool {
        let first = self.events.get(self.position);
        self.get(start.start, self.text.len()).starts_with(mark)
            && first.is_none_or(|(_, first)| first.start > start.start)
    }

    fn list(
        &mut self,
        start: ByteSpan,
        mut obstacle: Option<&'static str>,
        region: ByteSpan,
    ) -> ValueLayout {
        let is_inline = self.is_inline(start, '[');
        let mut items: Vec<ByteSpan> = Vec::new();
        let mut ends: Vec<usize> = Vec::new();
        while !self.is_next_end() {
            let Some(item) = self.node(region) else { break };
            obstacle = obstacle.or(item.obstacle);
            let end = self.content_end(&item);
            ends.push(end);
            // A pair without braces ends with its value.
            let end = if is_inline { end.max(item.span.start) } else { item.span.end };
            items.push(ByteSpan::new(item.span.start, end));
        }
        let end = self.end();
        if is_inline {
            let last = items.last().map(|last| last.end);
            let insertion_point = KeyInsertionPoint::Inline(start.start + 1, last);
            let span = ByteSpan::new(start.start, end.max(start.end));
            return ValueLayout { span, kind: Kind::List(insertion_point, items), obstacle };
        }
        let last = items.last().map_or(0, |last| self.end_of_last_line(last.end));
        let lines_end = self.end_of_lines(region).max(last);
        // The first item shows how items are written: everything before it on its line.
        let first = items.first().map_or(start.start, |first| first.start);
        let line = self.line_start(first);
        let mut prefix = self.get(line, first).to_owned();
        // The first item is empty.
        if prefix.ends_with('-') {
            prefix.push(' ');
        }
        let is_dash =
            prefix.trim() == "-" && line >= region.start && line > self.line_start(region.start);
        let (insertion_point, lines) = if is_dash {
            let mut lines = self.lines_of_items(ByteSpan::new(line, lines_end));
            for (lines, end) in lines.iter_mut().zip(ends) {
                lines.end = lines.end.max(self.end_of_last_line(end));
            }
            (KeyInsertionPoint::Line(lines_end, prefix), lines)
        } else {
            (KeyInsertionPoint::None, Vec::new())
        };
        // A line with the mark of an item may be within an item.
        let items = if lines.len() == items.len() { lines } else { Vec::new() };
        let span = ByteSpan::new(start.start, lines_end.max(start.start));
        ValueLayout { span, kind: Kind::List(insertion_point, items), obstacle }
    }

    /// Returns the end of the last scalar or the last mark of a value. A line before it is no comment, whatever it
    /// begins with.
    fn content_end(&self, value: &ValueLayout) -> usize {
        let is_inline = self.get(value.span.start, value.span.end).starts_with(['[', '{']);
        match &value.kind {
            _ if is_inline => value.span.end,
            Kind::Mapping(layout) => {
                let last = layout.entries.last().map(|last| self.content_end(&last.value));
                last.unwrap_or(value.span.start)
            }
            Kind::List(_, items) => items.last().map_or(value.span.start, |last| last.end),
            Kind::Scalar(_) | Kind::Block => value.span.end,
        }
    }

    /// Returns the lines of each item of a list in block style, without comments before and after it. All lines with the
    /// mark of an item have the indentation of the first one.
    fn lines_of_items(&self, list: ByteSpan) -> Vec<ByteSpan> {
        let indent_of = |line: &str| line.len() - line.trim_start_matches(' ').len();
        let first = self.get(list.start, list.end);
        let indent = indent_of(first);
        let mut starts = Vec::new();
        let mut position = list.start;
        while position < list.end {
            let next = next_line_start(self.text.as_bytes(), position);
            let line = self.get(position, next);
            let mut after = line.get(indent..).unwrap_or_default().chars();
            if indent_of(line) == indent
                && after.next() == Some('-')
                && after.next().is_none_or(char::is_whitespace)
            {
                starts.push(position);
            }
            position = next;
        }
        let ends = starts.iter().skip(1).copied().chain([list.end]);
        let items = starts.iter().zip(ends).map(|(start, end)| ByteSpan::new(*start, end));
        items.map(|item| ByteSpan::new(item.start, self.end_of_lines(item))).collect()
    }

    fn mapping(
        &mut self,
        start: ByteSpan,
        obstacle: Option<&'static str>,
        region: ByteSpan,
    ) -> ValueLayout {
        let is_inline = self.is_inline(start, '{');
        let keys = self.key_spans();
        let mut entries: Vec<KeyLayout> = Vec::new();
        let mut index = 0;
        while !self.is_next_end() {
            let key = match self.events.get(self.position) {
                // `Null` is the key `null`.
                Some((Event::Scalar(key, ScalarStyle::Plain, _, None), _)) => {
                    Some(key_of(plain_scalar(key)))
                }
                Some((Event::Scalar(key, ..), _)) => Some(key.to_string()),
                _ => None,
            };
            let is_simple_key = key.is_some();
            let Some(key_node) = self.node(region) else { break };
            let next = keys.get(index + 1).map_or(region.end, |next| self.line_start(*next));
            index += 1;
            let own = ByteSpan::new(key_node.span.start.min(next), next);
            let Some(mut value) = self.node(own) else { break };
            if !is_simple_key || key_node.obstacle.is_some() {
                value.obstacle = Some("its key has an anchor or a tag, or is not a scalar");
            }
            entries.push(self.entry(key.unwrap_or_default(), key_node.span, value, own, is_inline));
        }
        let end = self.end();
        if is_inline {
            let last = entries.last().map(|last| last.value.span.end.max(last.after_mark));
            let insertion_point = KeyInsertionPoint::Inline(start.start + 1, last);
            let span = ByteSpan::new(start.start, end.max(start.end));
            return ValueLayout {
                span,
                kind: Kind::Mapping(Layout { entries, insertion_point }),
                obstacle,
            };
        }
        let first = entries.first().map_or(start.start, |first| first.key_span.start);
        let indent = self.get(self.line_start(first), first).to_owned();
        let last = entries.last().map_or(0, |last| self.end_of_last_line(last.value.span.end));
        let lines_end = self.end_of_lines(region).max(last);
        let insertion_point =
            if indent.trim().is_empty() && entries.iter().all(|e| e.lines.is_some()) {
                KeyInsertionPoint::Line(lines_end, indent)
            } else {
                KeyInsertionPoint::None
            };
        let span = ByteSpan::new(start.start.min(first), lines_end.max(first));
        ValueLayout { span, kind: Kind::Mapping(Layout { entries, insertion_point }), obstacle }
    }

    fn entry(
        &self,
        key: String,
        key_span: ByteSpan,
        mut value: ValueLayout,
        region: ByteSpan,
        is_inline: bool,
    ) -> KeyLayout {
        let after_key = self.get(key_span.end, self.text.len());
        let blanks = after_key.len() - after_key.trim_start().len();
        let after_mark = if after_key.trim_start().starts_with(':') {
            key_span.end + blanks + 1
        } else {
            value.obstacle = value.obstacle.or(Some("there is no colon after its key"));
            key_span.end
        };
        if value.span.is_empty() || value.span.start < after_mark {
            value.span = ByteSpan::new(after_mark, after_mark.max(value.span.end));
        }
        let line = self.line_start(key_span.start);
        let is_own_line = self.get(line, key_span.start).trim().is_empty();
        let lines = (!is_inline && is_own_line).then(|| {
            let end = self.end_of_lines(ByteSpan::new(line, region.end));
            ByteSpan::new(line, end.max(self.end_of_last_line(value.span.end)))
        });
        if !is_inline && !is_own_line {
            value.obstacle = value.obstacle.or(Some("its key does not begin a line"));
        }
        KeyLayout { key, key_span, after_mark, lines, value }
    }

    /// Returns the offsets of the keys of the mapping whose first key is the next event.
    fn key_spans(&self) -> Vec<usize> {
        let mut keys = Vec::new();
        let (mut depth, mut is_key) = (0_usize, true);
        for (event, span) in self.events.iter().skip(self.position) {
            let is_child = depth == 0;
            match event {
                Event::SequenceStart(..) | Event::MappingStart(..) => depth += 1,
                Event::SequenceEnd | Event::MappingEnd => {
                    let Some(outer) = depth.checked_sub(1) else { break };
                    depth = outer;
                    continue;
                }
                _ => {}
            }
            if is_child {
                if is_key {
                    keys.push(span.start);
                }
                is_key = !is_key;
            }
        }
        keys
    }

    /// Returns the offset of the indicator of the block scalar whose text is reported at `offset`.
    fn indicator(&self, offset: usize) -> usize {
        let is_header = |rest: &str| {
            let rest = rest.trim_start_matches(|scalar: char| {
                "+-".contains(scalar) || scalar.is_ascii_digit()
            });
            rest.trim().is_empty() || rest.starts_with([' ', '\t']) && rest.trim().starts_with('#')
        };
        let mut end = next_line_start(self.text.as_bytes(), offset);
        while let Some(at) = self.get(0, end).rfind(['|', '>']) {
            let rest = self.get(at + 1, next_line_start(self.text.as_bytes(), at));
            if is_header(rest) {
                return at;
            }
            end = at;
        }
        offset
    }

    /// Returns the end of the last line of the block scalar whose indicator is at `start`: of the
    /// lines that are indented further than the line of the indicator.
    fn end_of_block(&self, start: usize) -> usize {
        let line = self.line_start(start);
        let indent_of = |line: &str| line.len() - line.trim_start_matches(' ').len();
        let outer = indent_of(self.get(line, start));
        let mut position = next_line_start(self.text.as_bytes(), start);
        let mut end = position;
        while position < self.text.len() {
            let next = next_line_start(self.text.as_bytes(), position);
            let line = self.get(position, next);
            if !line.trim().is_empty() {
                if indent_of(line) <= outer {
                    break;
                }
                end = next;
            }
            position = next;
        }
        end
    }

    /// Returns the end of the last line of a value that ends at `end`.
    fn end_of_last_line(&self, end: usize) -> usize {
        next_line_start(self.text.as_bytes(), end.saturating_sub(1))
    }

    /// Returns the end of the last line of `region` that is neither blank nor a comment.
    fn end_of_lines(&self, region: ByteSpan) -> usize {
        let mut end = region.start;
        let mut position = region.start;
        while position < region.end {
            let next = next_line_start(self.text.as_bytes(), position).min(region.end);
            let line = self.get(position, next).trim();
            if !line.is_empty() && !line.starts_with('#') {
                end = next;
            }
            position = next;
        }
        end
    }
}

fn obstacle(anchor: usize, has_tag: bool) -> Option<&'static str> {
    if anchor > 0 {
        return Some("its value has an anchor");
    }
    has_tag.then_some("its value has a tag")
}
