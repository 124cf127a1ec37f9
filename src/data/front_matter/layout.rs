//! Where the keys and values of front matter are, and where a change of them is written.
//!
//! Invariant: a splice lies within the lines of the changed key, or is empty and between two keys.

use serde_json::Value;

use super::write::Writer;
use super::{KeyChange, KeyFault, TextSplice};
use crate::markdown::front_matter::Format;
use crate::position::{ByteSpan, dominant_line_end, lines, next_line_start};

/// A mapping.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    pub(super) entries: Vec<KeyLayout>,
    /// How a new entry is written.
    pub(super) insertion_point: KeyInsertionPoint,
}

/// Where and how a new entry or item is written.
#[derive(Clone, Debug, Default)]
pub(super) enum KeyInsertionPoint {
    /// Nothing can be added.
    #[default]
    None,
    /// On a line of its own at an offset, which is the start of a line, with a text before it.
    Line(usize, String),
    /// After the last entry in braces or brackets: the offset after the opening mark, and the offset
    /// of the end of the last entry, if there is one.
    Inline(usize, Option<usize>),
}

/// A key and its value.
#[derive(Clone, Debug)]
pub(super) struct KeyLayout {
    pub(super) key: String,
    /// The key as it is written.
    pub(super) key_span: ByteSpan,
    /// Offset after the mark between the key and the value.
    pub(super) after_mark: usize,
    /// The lines of the entry; `None` if it shares lines with others.
    pub(super) lines: Option<ByteSpan>,
    pub(super) value: ValueLayout,
}

/// A value.
#[derive(Clone, Debug)]
pub(super) struct ValueLayout {
    /// From its first to its last byte; empty if nothing is written.
    pub(super) span: ByteSpan,
    pub(super) kind: Kind,
    /// The reason why it cannot be changed, if there is one.
    pub(super) obstacle: Option<&'static str>,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// A scalar with the quote that it is in.
    Scalar(Option<char>),
    /// A scalar on the lines after an indicator.
    Block,
    /// A list, with the insertion point for another item, and its items: their lines if they are on lines of their own.
    List(KeyInsertionPoint, Vec<ByteSpan>),
    Mapping(Layout),
}

/// A text and its layout.
pub(super) struct KeyPosition<'a> {
    text: &'a str,
    layout: &'a Layout,
    writer: Writer,
}

impl<'a> KeyPosition<'a> {
    pub(super) fn new(text: &'a str, format: Format, layout: &'a Layout) -> Self {
        Self { text, layout, writer: Writer { format } }
    }

    /// Returns the splice of a change that changes something. `old` is the value of the key.
    pub(super) fn splice(
        &self,
        change: &KeyChange,
        old: Option<&Value>,
    ) -> Result<TextSplice, KeyFault> {
        let old = old.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let (layout, entry, rest) = find(self.layout, change.key())?;
        let splice = match (change, entry) {
            (KeyChange::Set(_, value), Some(index)) => self.set(&layout.entries[index], value, old),
            (KeyChange::Set(_, value), None) => self.insert(layout, &rest, value),
            (KeyChange::Unset(_), Some(index)) => self.unset(layout, index),
            (KeyChange::Unset(key) | KeyChange::Remove(key, _), None) => {
                return Err(KeyFault::no_key(key));
            }
            (KeyChange::Add(_, value), None) => {
                self.insert(layout, &rest, &Value::Array(vec![value.clone()]))
            }
            (KeyChange::Add(_, value), Some(index)) => self.add(&layout.entries[index], value),
            (KeyChange::Remove(_, value), Some(index)) => {
                self.remove(&layout.entries[index], value, old)
            }
        };
        Ok(splice?)
    }

    fn line_end(&self) -> &'static str {
        match dominant_line_end(self.text.as_bytes()) {
            Some(b"\r\n") => "\r\n",
            Some(b"\r") => "\r",
            _ => "\n",
        }
    }

    fn get(&self, start: usize, end: usize) -> &'a str {
        self.text.get(start..end).unwrap_or_default()
    }

    fn set(&self, entry: &KeyLayout, value: &Value, old: &[Value]) -> Result<TextSplice, String> {
        refuse(entry)?;
        let node = &entry.value;
        if let (
            Kind::List(KeyInsertionPoint::Line(end, prefix), items),
            Value::Array(values),
            Some(lines),
        ) = (&node.kind, value, entry.lines)
            && !values.is_empty()
        {
            // The items keep their style. The line of the key stays.
            let start = next_line_start(self.text.as_bytes(), lines.start);
            let span = ByteSpan::new(start.min(*end), *end);
            let text = self.lines_of_items((items, old), values, span.start, prefix);
            return Ok(TextSplice { span, text });
        }
        let quote = match node.kind {
            Kind::Scalar(quote) => quote,
            _ => None,
        };
        let text = self.writer.value(value, quote, entry.lines.is_none());
        let key_line_end = entry
            .lines
            .map_or(usize::MAX, |lines| next_line_start(self.text.as_bytes(), lines.start));
        let is_below = node.span.start >= key_line_end;
        let Some(lines) = entry.lines else {
            return Ok(replace_value(entry, text));
        };
        if node.span.is_empty() || is_below {
            // A comment after the mark, on the line of the key, stays.
            let on_line = self.get(entry.after_mark, key_line_end);
            let own = match &node.kind {
                Kind::List(_, items) if !items.is_empty() => items.as_slice(),
                _ => std::slice::from_ref(&node.span),
            };
            let below = ByteSpan::new(key_line_end, lines.end.max(key_line_end));
            // All lines of a block scalar are text.
            let comments = match &node.kind {
                Kind::Block => String::new(),
                _ => self.comments_outside(own, below),
            };
            return Ok(TextSplice {
                span: ByteSpan::new(entry.after_mark, below.end),
                text: format!(" {text}{on_line}{comments}"),
            });
        }
        if matches!(node.kind, Kind::Block) {
            return Ok(TextSplice {
                span: ByteSpan::new(node.span.start, lines.end),
                text: format!("{text}{}", self.line_end()),
            });
        }
        Ok(replace_value(entry, text))
    }

    /// Returns the lines of comments in `region`, without those in one of the `values`. They may be about what stays.
    fn comments_outside(&self, values: &[ByteSpan], region: ByteSpan) -> String {
        let text = self.get(region.start, region.end);
        let mut start = region.start;
        let comments = lines(text.as_bytes()).filter_map(|line| {
            let (at, end) = (start, start + line.len());
            start = end;
            let line = self.get(at, end);
            let is_in = |value: &ByteSpan| value.start <= at && at < value.end;
            (line.trim_start().starts_with('#') && !values.iter().any(is_in)).then_some(line)
        });
        comments.collect()
    }

    /// Returns the lines of a list with `values`, in place of those from `start` on. An item that stays keeps its lines
    /// and the comments before them. The comments before an item that goes stay, too.
    fn lines_of_items(
        &self,
        (items, old): (&[ByteSpan], &[Value]),
        values: &[Value],
        start: usize,
        prefix: &str,
    ) -> String {
        let mut is_kept = vec![false; items.len()];
        let mut keep = |value: &Value| {
            let at = (0..items.len()).find(|at| !is_kept[*at] && old.get(*at) == Some(value))?;
            is_kept[at] = true;
            Some(at)
        };
        let kept: Vec<Option<usize>> = values.iter().map(&mut keep).collect();
        let (mut texts, mut comments) = (Vec::with_capacity(items.len()), String::new());
        let mut end = start;
        for (item, is_kept) in items.iter().zip(&is_kept) {
            comments.push_str(self.get(end, item.start));
            let own = self.get(item.start, item.end);
            let before = if *is_kept { std::mem::take(&mut comments) } else { String::new() };
            texts.push(before + own);
            end = item.end;
        }
        let mut text = String::new();
        for (value, at) in values.iter().zip(&kept) {
            match at {
                Some(at) => text.push_str(&texts[*at]),
                None => text.extend([prefix, &self.writer.value(value, None, false)]),
            }
            if !text.ends_with(['\n', '\r']) {
                text.push_str(self.line_end());
            }
        }
        if kept.iter().any(Option::is_some) {
            return text + &comments;
        }
        self.comments_outside(items, ByteSpan::new(start, end)) + &text
    }

    fn add(&self, entry: &KeyLayout, value: &Value) -> Result<TextSplice, String> {
        refuse(entry)?;
        match &entry.value.kind {
            Kind::List(insertion_point, _) => {
                let text = self.writer.value(
                    value,
                    None,
                    !matches!(insertion_point, KeyInsertionPoint::Line(..)),
                );
                self.insert_at(insertion_point, &text).ok_or_else(|| {
                    refusal(entry, "its list has items that share lines, or ends with a comment")
                })
            }
            _ => self.set(entry, &Value::Array(vec![value.clone()]), &[]),
        }
    }

    /// Inserts `text` at `insertion_point`.
    fn insert_at(&self, insertion_point: &KeyInsertionPoint, text: &str) -> Option<TextSplice> {
        match insertion_point {
            KeyInsertionPoint::None => None,
            KeyInsertionPoint::Line(at, prefix) => {
                let is_at_line_start = *at == 0 || self.get(at - 1, *at).ends_with(['\n', '\r']);
                let before = if is_at_line_start { "" } else { self.line_end() };
                let text = format!("{before}{prefix}{text}{}", self.line_end());
                Some(TextSplice { span: ByteSpan::new(*at, *at), text })
            }
            KeyInsertionPoint::Inline(start, None) => {
                Some(TextSplice { span: ByteSpan::new(*start, *start), text: text.to_owned() })
            }
            KeyInsertionPoint::Inline(start, Some(end)) => {
                // If the entries are on lines of their own, so is the new one.
                let line = self.text.get(..*end)?.rfind(['\n', '\r']).map_or(0, |at| at + 1);
                let before = self.get(line, *end);
                let indent = &before[..before.len() - before.trim_start().len()];
                let is_own_line = line > *start;
                if self.has_comment_after(*end) {
                    // The comment stays on its line. Without a comma before it, that takes two splices.
                    let line_end = next_line_start(self.text.as_bytes(), *end);
                    let rest = self.get(*end, line_end);
                    let at = *end + rest.trim_end_matches(['\n', '\r']).len();
                    let is_separated = is_own_line && rest.trim_start().starts_with(',');
                    let text = format!("{}{indent}{text},", self.line_end());
                    return is_separated
                        .then_some(TextSplice { span: ByteSpan::new(at, at), text });
                }
                let separator = if is_own_line {
                    format!(",{}{indent}", self.line_end())
                } else {
                    ", ".to_owned()
                };
                let text = format!("{separator}{text}");
                Some(TextSplice { span: ByteSpan::new(*end, *end), text })
            }
        }
    }

    /// Returns whether a comment follows the entry that ends at `end`, on its line.
    fn has_comment_after(&self, end: usize) -> bool {
        let line = self.get(end, next_line_start(self.text.as_bytes(), end));
        line.trim_start_matches([' ', '\t', ',']).starts_with('#')
    }

    fn unset(&self, layout: &Layout, index: usize) -> Result<TextSplice, String> {
        let entry = &layout.entries[index];
        if let Some(lines) = entry.lines {
            return Ok(TextSplice { span: lines, text: String::new() });
        }
        refuse(entry)?;
        let end_of = |entry: &KeyLayout| entry.value.span.end.max(entry.after_mark);
        let span = |entry: &KeyLayout| ByteSpan::new(entry.key_span.start, end_of(entry));
        self.without(&layout.entries.iter().map(span).collect::<Vec<_>>(), index).ok_or_else(|| {
            refusal(entry, "a comment beside it would be lost or follow another key")
        })
    }

    fn remove(
        &self,
        entry: &KeyLayout,
        value: &Value,
        old: &[Value],
    ) -> Result<TextSplice, String> {
        refuse(entry)?;
        let is_it = |one: &Value| one == value;
        match &entry.value.kind {
            Kind::List(_, items) if items.len() != old.len() => {
                Err(refusal(entry, "its list has items that share lines"))
            }
            Kind::List(KeyInsertionPoint::Inline(..), items) => {
                let index = old.iter().position(is_it).unwrap_or_default();
                if old.iter().rposition(is_it) != Some(index) {
                    return Err(refusal(entry, "its list has the value twice"));
                }
                self.without(items, index).ok_or_else(|| {
                    refusal(entry, "a comment beside the value would be lost or follow another one")
                })
            }
            _ => {
                let rest = old.iter().filter(|one| !is_it(one)).cloned().collect();
                self.set(entry, &Value::Array(rest), old)
            }
        }
    }

    /// Returns the splice that removes one of the entries in braces or brackets that are at `spans`. Returns `None` if a
    /// comment that may belong to another one would be lost.
    fn without(&self, spans: &[ByteSpan], index: usize) -> Option<TextSplice> {
        let ByteSpan { start, end } = *spans.get(index)?;
        let line = self.text.get(..start)?.rfind(['\n', '\r']).map_or(0, |at| at + 1);
        let line_end = next_line_start(self.text.as_bytes(), end);
        let after = self.get(end, line_end);
        let comma = after.find(',').filter(|at| after[..*at].trim().is_empty());
        let rest = comma.map_or(after, |at| &after[at + 1..]).trim();
        // An entry on lines of its own goes with them, and with a comment there.
        let is_alone =
            self.get(line, start).trim().is_empty() && (rest.is_empty() || rest.starts_with('#'));
        let lines = ByteSpan::new(line, line_end);
        // The second span is what separates the entry from another one.
        let (span, gap) = match (spans.get(index + 1), index.checked_sub(1)) {
            _ if is_alone && comma.is_some() => (lines, ByteSpan::default()),
            (Some(next), _) => (ByteSpan::new(start, next.start), ByteSpan::new(end, next.start)),
            (None, Some(before)) => {
                let before = spans[before].end;
                (ByteSpan::new(before, end), ByteSpan::new(before, start))
            }
            (None, None) => {
                let end = comma.map_or(end, |at| end + at + 1);
                (ByteSpan::new(start, end), ByteSpan::new(start, start))
            }
        };
        let is_lost = span != lines
            && (self.get(gap.start, gap.end).contains('#') || self.has_comment_after(end));
        let span = if is_lost { is_alone.then_some(lines)? } else { span };
        Some(TextSplice { span, text: String::new() })
    }

    /// Adds a key to a mapping. `path` has the keys of mappings that are missing, and the new key.
    fn insert(&self, layout: &Layout, path: &[&str], value: &Value) -> Result<TextSplice, String> {
        let (first, rest) = path.split_first().ok_or("no key")?;
        let mut value = value.clone();
        for key in rest.iter().rev() {
            value = Value::Object([((*key).to_owned(), value)].into_iter().collect());
        }
        let is_inline = !matches!(layout.insertion_point, KeyInsertionPoint::Line(..));
        let text = self.writer.entry(first, &value, is_inline);
        self.insert_at(&layout.insertion_point, &text)
            .ok_or_else(|| format!("the key {} cannot be added to this mapping", path.join(".")))
    }
}

fn replace_value(entry: &KeyLayout, text: String) -> TextSplice {
    let span = entry.value.span;
    // A mark needs a blank before the value.
    let needs_blank = span.start == entry.after_mark;
    TextSplice { span, text: if needs_blank { format!(" {text}") } else { text } }
}

fn refuse(entry: &KeyLayout) -> Result<(), String> {
    entry.value.obstacle.map_or(Ok(()), |reason| Err(refusal(entry, reason)))
}

fn refusal(entry: &KeyLayout, reason: &str) -> String {
    format!("the key {} cannot be changed in place: {reason}", entry.key)
}

/// A mapping, the index of an entry in it, and the keys that are missing in it.
type Found<'a, 'k> = (&'a Layout, Option<usize>, Vec<&'k str>);

/// Finds `key` as the reader of the data does.
fn find<'a, 'k>(layout: &'a Layout, key: &'k str) -> Result<Found<'a, 'k>, String> {
    let index_of = |key: &str| layout.entries.iter().position(|entry| entry.key == key);
    if let Some(index) = index_of(key) {
        return Ok((layout, Some(index), Vec::new()));
    }
    for (dot, _) in key.match_indices('.') {
        let Some(entry) = index_of(&key[..dot]).map(|index| &layout.entries[index]) else {
            continue;
        };
        if let Kind::Mapping(inner) = &entry.value.kind {
            return find(inner, &key[dot + 1..]);
        }
    }
    Ok((layout, None, key.split('.').collect()))
}
