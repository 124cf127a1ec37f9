//! Where the values of front matter are written.
//!
//! Invariant: the values are those of the parser that reads the data, in the same order.

use std::ops::Range;

use saphyr_parser::Event;
use toml_edit::{Item, TableLike, Value};

use super::front_matter::{Format, FrontMatter};
use super::yaml_source::YamlSource;
use crate::position::ByteSpan;

/// A value of front matter, with offsets into the lines between the delimiters.
#[derive(Debug)]
pub(super) struct WrittenValue {
    /// A scalar with its quotes; of another value, only the start is exact.
    pub(super) span: ByteSpan,
    kind: Kind,
}

/// Returns where the scalars of the front matter of `file` are written, keys excepted; `None` if the parser does not
/// say it.
pub(crate) fn scalars_of(file: &[u8], front_matter: &FrontMatter) -> Option<Vec<ByteSpan>> {
    let FrontMatter { text, format, .. } = *front_matter;
    let mut spans = Vec::new();
    WrittenValue::read(std::str::from_utf8(text.of(file)).ok()?, format)?.add_scalars(&mut spans);
    let moved = |span: ByteSpan| ByteSpan::new(text.start + span.start, text.start + span.end);
    Some(spans.into_iter().map(moved).collect())
}

type EventWithSpan<'e> = (Event<'e>, ByteSpan);

#[derive(Debug)]
enum Kind {
    Scalar,
    List(Vec<WrittenValue>),
    Mapping(Vec<(String, WrittenValue)>),
}

impl WrittenValue {
    /// Returns where the values of `text` are written; `None` if the parser does not say it.
    pub(super) fn read(text: &str, format: Format) -> Option<Self> {
        if format == Format::Toml {
            // The parser does not accept a lone CR as a line end. The offsets stay the same.
            let text = text.replace("\r\n", " \n").replace('\r', "\n");
            let document = toml_edit::Document::parse(text.as_str()).ok()?;
            return Some(Self::of_table(document.as_table(), None));
        }
        // JSON is read as YAML in braces.
        let source = YamlSource::new(text);
        let events = source.events().ok()?;
        Self::of_events(&mut events.iter())
    }

    /// Returns the value of `key` of a mapping.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        let Kind::Mapping(entries) = &self.kind else { return None };
        entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Returns the value at `index` of a list; a value that is not a list is its only item.
    pub(super) fn item(&self, index: usize) -> Option<&Self> {
        match &self.kind {
            Kind::List(items) => items.get(index),
            _ => (index == 0).then_some(self),
        }
    }

    fn add_scalars(&self, spans: &mut Vec<ByteSpan>) {
        match &self.kind {
            Kind::Scalar => spans.push(self.span),
            Kind::List(items) => items.iter().for_each(|item| item.add_scalars(spans)),
            Kind::Mapping(entries) => {
                for (_, value) in entries {
                    value.add_scalars(spans);
                }
            }
        }
    }

    /// Reads the next value; `None` at the end of a collection.
    fn of_events<'e>(events: &mut impl Iterator<Item = &'e EventWithSpan<'e>>) -> Option<Self> {
        let event = events.next()?;
        Self::of_event(event, events)
    }

    fn of_event<'e>(
        (event, span): &'e EventWithSpan<'e>,
        events: &mut impl Iterator<Item = &'e EventWithSpan<'e>>,
    ) -> Option<Self> {
        let kind = match event {
            Event::SequenceEnd | Event::MappingEnd => return None,
            Event::SequenceStart(..) => {
                Kind::List(std::iter::from_fn(|| Self::of_events(events)).collect())
            }
            Event::MappingStart(..) => {
                let mut entries = Vec::new();
                while let Some(key @ (event, _)) = events.next() {
                    let name = match event {
                        Event::Scalar(name, ..) => name.to_string(),
                        _ => String::new(),
                    };
                    if Self::of_event(key, events).is_none() {
                        break;
                    }
                    entries.push((name, Self::of_events(events)?));
                }
                Kind::Mapping(entries)
            }
            _ => Kind::Scalar,
        };
        Some(Self { span: *span, kind })
    }

    fn of_table(table: &dyn TableLike, span: Option<Range<usize>>) -> Self {
        let entries = table.iter().map(|(key, item)| (key.to_owned(), Self::of_item(item)));
        Self::new(span, Kind::Mapping(entries.collect()))
    }

    fn of_item(item: &Item) -> Self {
        let kind = match item {
            Item::Value(value) => return Self::of_value(value),
            Item::Table(table) => return Self::of_table(table, table.span()),
            Item::ArrayOfTables(tables) => {
                Kind::List(tables.iter().map(|table| Self::of_table(table, table.span())).collect())
            }
            Item::None => Kind::Scalar,
        };
        Self::new(item.span(), kind)
    }

    fn of_value(value: &Value) -> Self {
        let kind = match value {
            Value::Array(values) => Kind::List(values.iter().map(Self::of_value).collect()),
            Value::InlineTable(table) => return Self::of_table(table, table.span()),
            _ => Kind::Scalar,
        };
        Self::new(value.span(), kind)
    }

    fn new(span: Option<Range<usize>>, kind: Kind) -> Self {
        let Range { start, end } = span.unwrap_or_default();
        Self { span: ByteSpan::new(start, end.max(start)), kind }
    }
}
