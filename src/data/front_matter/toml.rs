//! The layout of TOML front matter, from the spans of the parser.

use toml_edit::{Item, TableLike, Value};

use super::layout::{KeyInsertionPoint, KeyLayout, Kind, Layout, ValueLayout};
use crate::position::{ByteSpan, next_line_start};

/// Returns the layout of `text`.
pub(super) fn layout(text: &str) -> Result<Layout, String> {
    if text.replace("\r\n", "\n").contains('\r') {
        return Err("its lines end with CR, which TOML does not allow".to_owned());
    }
    let document = toml_edit::Document::parse(text).map_err(|error| error.message().to_owned())?;
    let reader = TomlReader { text };
    let mut layout = reader.table(document.as_table(), Some(0));
    // Keys of the outermost table precede the first header of a table.
    if let KeyInsertionPoint::Line(at, _) = &mut layout.insertion_point {
        *at = layout
            .entries
            .iter()
            .filter_map(|entry| entry.lines)
            .fold(0, |at, lines| at.max(lines.end));
        let nested = layout.entries.iter().filter_map(|entry| match &entry.value.kind {
            Kind::Mapping(inner) if entry.value.span.is_empty() => Some(inner),
            _ => None,
        });
        // The lines of dotted keys belong to the outermost table, too.
        for inner in nested {
            if matches!(inner.insertion_point, KeyInsertionPoint::None) {
                let ends = inner.entries.iter().filter_map(|entry| entry.lines);
                *at = ends.fold(*at, |at, lines| at.max(lines.end));
            }
        }
    }
    Ok(layout)
}

struct TomlReader<'a> {
    text: &'a str,
}

impl TomlReader<'_> {
    fn line_start(&self, offset: usize) -> usize {
        self.text.get(..offset).unwrap_or_default().rfind('\n').map_or(0, |at| at + 1)
    }

    /// Returns the layout of a table. `at` is the offset after its header; `None` if nothing can be
    /// added.
    fn table(&self, table: &dyn TableLike, at: Option<usize>) -> Layout {
        let mut layout = Layout::default();
        let mut end = at;
        for (name, item) in table.iter() {
            let key_span = table.key(name).and_then(toml_edit::Key::span).unwrap_or_default();
            let key_span = ByteSpan { start: key_span.start, end: key_span.end };
            let entry = self.entry(name, key_span, item);
            if let Some(lines) = entry.lines {
                end = end.map(|end| end.max(lines.end));
            }
            layout.entries.push(entry);
        }
        if let Some(end) = end {
            layout.insertion_point = KeyInsertionPoint::Line(end, String::new());
        }
        layout
    }

    fn entry(&self, name: &str, key_span: ByteSpan, item: &Item) -> KeyLayout {
        let after = self.text.get(key_span.end..).unwrap_or_default();
        let mark = after.find('=').map_or(key_span.end, |at| key_span.end + at + 1);
        let mut lines = None;
        let value = match item {
            Item::Value(value) => {
                let node = self.value(value);
                let start = self.line_start(key_span.start);
                let end = next_line_start(self.text.as_bytes(), node.span.end);
                lines = Some(ByteSpan::new(start, end.max(start)));
                node
            }
            Item::Table(table) => {
                let header = table.span().filter(|_| !table.is_dotted() && !table.is_implicit());
                let at =
                    header.map(|span| next_line_start(self.text.as_bytes(), span.end.max(1) - 1));
                // The span of a table with a header is that of the header's line.
                let kind = Kind::Mapping(self.table(table, at));
                ValueLayout {
                    span: ByteSpan::default(),
                    kind,
                    obstacle: Some("it is a table with lines of its own"),
                }
            }
            Item::ArrayOfTables(_) | Item::None => ValueLayout {
                span: ByteSpan::default(),
                kind: Kind::Scalar(None),
                obstacle: Some("it is a list of tables"),
            },
        };
        KeyLayout { key: name.to_owned(), key_span, after_mark: mark, lines, value }
    }

    fn value(&self, value: &Value) -> ValueLayout {
        let span = value.span().unwrap_or_default();
        let span = ByteSpan { start: span.start, end: span.end.max(span.start) };
        let kind = match value {
            Value::String(_) => {
                let quote = self.text.get(span.start..).and_then(|text| text.chars().next());
                Kind::Scalar(quote)
            }
            Value::Array(values) => {
                let items = values.iter().filter_map(Value::span);
                let items: Vec<_> = items.map(|it| ByteSpan::new(it.start, it.end)).collect();
                let last = items.last().map(|last| last.end);
                Kind::List(KeyInsertionPoint::Inline(span.start + 1, last), items)
            }
            Value::InlineTable(table) => Kind::Mapping(self.inline(table, span)),
            _ => Kind::Scalar(None),
        };
        ValueLayout { span, kind, obstacle: None }
    }

    fn inline(&self, table: &toml_edit::InlineTable, span: ByteSpan) -> Layout {
        let mut layout = self.table(table, None);
        for entry in &mut layout.entries {
            entry.lines = None;
        }
        let last = layout.entries.last().map(|last| last.value.span.end);
        layout.insertion_point = KeyInsertionPoint::Inline(span.start + 1, last);
        layout
    }
}
