//! Typed links: the key `links` of front matter.
//!
//! The value is a list of targets, or of mappings with `type` and `id` or `target`. Invariant: an
//! invalid entry adds a diagnostic and does not affect the other entries.

use serde_json::{Map, Value};

use super::Diagnostic;
use super::front_matter::FrontMatter;
use super::written_value::WrittenValue;
use crate::position::{ByteSpan, LineIndex};

/// The type of a link that names none.
const DEFAULT_KIND: &str = "related";

/// A link in front matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypedLink {
    /// The type of the link, as it is written.
    pub kind_name: String,
    /// A path, title, front matter id or alias, as it is written; for a wikilink, the text before
    /// the `|`.
    pub target: String,
    /// Line on which the target is written, 1-based. If it cannot be determined, an earlier line.
    pub line: usize,
    /// The bytes of the target, as a scalar with its quotes or as an alias; `None` if they are not known.
    pub span: Option<ByteSpan>,
}

/// Returns the typed links of a document, and a diagnostic for each invalid entry.
pub(super) fn read(
    front_matter: Option<&FrontMatter>,
    file: &[u8],
    lines: &LineIndex,
) -> (Vec<TypedLink>, Vec<Diagnostic>) {
    let (mut found, mut faults) = (Vec::new(), Vec::new());
    let Some(FrontMatter { text, format, value: Some(value), .. }) = front_matter else {
        return (found, faults);
    };
    let entries = match value.get("links") {
        None | Some(Value::Null) => return (found, faults),
        Some(Value::Array(entries)) => entries.as_slice(),
        Some(entry) => std::slice::from_ref(entry),
    };
    let data = std::str::from_utf8(text.of(file)).unwrap_or_default();
    let written = WrittenValue::read(data, *format);
    let written = written.as_ref().and_then(|written| written.get("links"));
    let moved = |span: ByteSpan| ByteSpan::new(text.start + span.start, text.start + span.end);
    let mut position = written.map_or(text.start, |written| moved(written.span).start);
    for (index, entry) in entries.iter().enumerate() {
        let written = written.and_then(|written| written.item(index));
        position = written.map_or(position, |written| moved(written.span).start);
        let Some((kind_name, target)) = link(entry) else {
            faults.push(Diagnostic {
                code: "MALFORMED_LINK",
                line: Some(lines.line_of(position)),
                message: format!("entry {index} of links is not a target and has no id or target"),
            });
            continue;
        };
        let of_target = |written: &WrittenValue| match entry {
            Value::Object(map) => written.get(key_of_target(map)?).map(|written| written.span),
            _ => Some(written.span),
        };
        let span = written.and_then(of_target).map(moved);
        position = span.map_or(position, |span| span.start);
        found.push(TypedLink { kind_name, target, line: lines.line_of(position), span });
    }
    (found, faults)
}

/// Returns the key of an entry that has its target.
fn key_of_target(entry: &Map<String, Value>) -> Option<&'static str> {
    ["id", "target"].into_iter().find(|key| entry.contains_key(*key))
}

/// Returns whether two versions of front matter are the same but for the targets of their typed links.
pub(crate) fn differ_in_targets_only(
    one: Option<&Map<String, Value>>,
    other: Option<&Map<String, Value>>,
) -> bool {
    one.map(without_targets) == other.map(without_targets)
}

fn without_targets(value: &Map<String, Value>) -> Map<String, Value> {
    let mut value = value.clone();
    let entries = match value.get_mut("links") {
        Some(Value::Array(entries)) => entries.as_mut_slice(),
        Some(entry) => std::slice::from_mut(entry),
        None => &mut [],
    };
    for entry in entries.iter_mut().filter(|entry| link(entry).is_some()) {
        match entry {
            Value::Object(map) => drop(key_of_target(map).and_then(|key| map.remove(key))),
            entry => *entry = Value::Null,
        }
    }
    value
}

/// Returns `text` as it is written between these quotes.
pub(crate) fn escaped(text: &str, quote: char) -> String {
    if quote == '"' {
        text.replace('\\', "\\\\").replace('"', "\\\"")
    } else {
        text.replace('\'', "''")
    }
}

/// Returns the type and the target of an entry.
fn link(entry: &Value) -> Option<(String, String)> {
    let Value::Object(map) = entry else {
        return Some((DEFAULT_KIND.to_owned(), target(entry)?));
    };
    let kind = match map.get("type") {
        None | Some(Value::Null) => DEFAULT_KIND,
        Some(kind) => kind.as_str().map(str::trim).filter(|kind| !kind.is_empty())?,
    };
    Some((kind.to_owned(), target(map.get(key_of_target(map)?)?)?))
}

/// Returns the target in `value`, without the brackets of a wikilink.
fn target(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    let text = text.trim();
    let inside = text.strip_prefix("[[").and_then(|text| text.strip_suffix("]]"));
    let text = inside.map_or(text, |inside| inside.split('|').next().unwrap_or_default()).trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    /// Returns type, target and line of each link, and the lines of the diagnostics.
    fn read(text: &str) -> (Vec<(String, String, usize)>, Vec<usize>) {
        let document = crate::markdown::parse(text.as_bytes());
        let links = document.typed_links.into_iter();
        (
            links.map(|link| (link.kind_name, link.target, link.line)).collect(),
            document.diagnostics.iter().filter_map(|diagnostic| diagnostic.line).collect(),
        )
    }

    #[test]
    fn entries_may_be_mappings_or_texts() {
        for (text, expected) in [
            (
                "links:\n- {type: supports, id: sup}\n- type: x\n  target: a/b.md\n",
                vec![("supports", "sup", 3), ("x", "a/b.md", 5)],
            ),
            (
                "title: links to x\nlinks: [one, '[[Two words|2]]', 3]\n",
                vec![("related", "one", 3), ("related", "Two words", 3), ("related", "3", 3)],
            ),
            ("links: one\n", vec![("related", "one", 2)]),
            ("links: {id: one}\n", vec![("related", "one", 2)]),
            ("links:\n- id: x/b\n- id: b\n", vec![("related", "x/b", 3), ("related", "b", 4)]),
            (
                "links:\n- {type: b, id: b}\n- type: c\n  # id: b\n  id: b\n",
                vec![("b", "b", 3), ("c", "b", 6)],
            ),
            (
                "a: &a b\nlinks:\n- id: *a\n- [b]: c\n  id: d\n",
                vec![("related", "b", 4), ("related", "d", 6)],
            ),
            ("links:\n- \"\\u0061\"\n- b\n", vec![("related", "a", 3), ("related", "b", 4)]),
            (
                "links:\n- 'it''s'\n- id: \"a\\\\b \\\"c\\\"\"\n- x\n",
                vec![("related", "it's", 3), ("related", "a\\b \"c\"", 4), ("related", "x", 5)],
            ),
            ("links: []\n", vec![]),
            ("links:\n", vec![]),
            ("link: x\n", vec![]),
        ] {
            let (links, faults) = read(&format!("---\n{text}---\n"));
            let links: Vec<_> =
                links.iter().map(|(k, t, l)| (k.as_str(), t.as_str(), *l)).collect();
            assert_eq!((links, faults), (expected, vec![]), "{text}");
        }
        for (text, line) in [
            ("+++\n[[links]]\ntype = \"x\"\nid = \"x\"\n+++\n", 4),
            ("+++\r\nlinks = [\r\n  { type = 'x', id = 'x' }]\r\n+++\r\n", 3),
            ("+++\rlinks = [\r  { type = 'x', id = 'x' }]\r+++\r", 3),
            (";;;\n{\"links\": [\n\t{\"type\": \"x\",\n\t\"id\": \"x\"}]}\n;;;\n", 4),
        ] {
            let (links, _) = read(text);
            assert_eq!(links, [("x".to_owned(), "x".to_owned(), line)], "{text}");
        }
    }

    #[test]
    fn malformed_entries_are_reported_and_the_others_kept() {
        for entry in ["{type: x}", "{type: 3, id: a}", "[a]", "''", "true", "{id: [a]}", "'[[]]'"] {
            let (links, faults) = read(&format!("---\nlinks:\n- one\n- {entry}\n- two\n---\n"));
            assert_eq!(links.len(), 2, "{entry}");
            assert_eq!(links[1].2, 5, "{entry}");
            assert_eq!(faults.len(), 1, "{entry}");
        }
    }
}
