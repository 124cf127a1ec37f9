//! Typed links: the key `links` of front matter.
//!
//! The value is a list of targets, or of mappings with `type` and `id` or `target`. Invariant: an
//! invalid entry adds a diagnostic and does not affect the other entries.

use memchr::memmem;
use serde_json::Value;

use super::Diagnostic;
use super::front_matter::FrontMatter;
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
}

/// Returns the typed links of a document, and a diagnostic for each invalid entry.
pub(super) fn read(
    front_matter: Option<&FrontMatter>,
    file: &[u8],
    lines: &LineIndex,
) -> (Vec<TypedLink>, Vec<Diagnostic>) {
    let (mut found, mut faults) = (Vec::new(), Vec::new());
    let Some((span, value)) = front_matter.and_then(|f| Some((f.span, f.value.as_ref()?))) else {
        return (found, faults);
    };
    let entries = match value.get("links") {
        None | Some(Value::Null) => return (found, faults),
        Some(Value::Array(entries)) => entries.as_slice(),
        Some(entry) => std::slice::from_ref(entry),
    };
    let text = file.get(..span.end).unwrap_or_default();
    let mut position = find(text, span.start, "links").map_or(span.start, |span| span.start);
    let mut is_in_step = true;
    for (index, entry) in entries.iter().enumerate() {
        let Some((kind_name, target)) = link(entry) else {
            faults.push(Diagnostic {
                code: "MALFORMED_LINK",
                line: Some(lines.line_of(position)),
                message: format!("entry {index} of links is not a target and has no id or target"),
            });
            continue;
        };
        // A target that is written with other escapes is not found. Then the lines of the targets after
        // it are not searched.
        match is_in_step.then(|| find(text, position, &target)).flatten() {
            Some(span) => position = span.start,
            None => is_in_step = false,
        }
        found.push(TypedLink { kind_name, target, line: lines.line_of(position) });
        position += usize::from(is_in_step);
    }
    (found, faults)
}

/// Returns the first bytes of `text`, from `start` on, that are `word` as a whole word, or that are it within quotes,
/// with its quotes and backslashes escaped.
pub(crate) fn find(text: &[u8], start: usize, word: &str) -> Option<ByteSpan> {
    let is_edge = |byte: Option<&u8>| byte.is_none_or(|byte| !byte.is_ascii_alphanumeric());
    let mut spellings = vec![word.to_owned(), escaped(word, '\''), escaped(word, '"')];
    spellings.dedup();
    let spans = spellings.iter().filter_map(|spelling| {
        let found = memmem::find_iter(text.get(start..)?, spelling);
        found.map(|at| ByteSpan::new(start + at, start + at + spelling.len())).find(|span| {
            is_edge(span.start.checked_sub(1).and_then(|before| text.get(before)))
                && is_edge(text.get(span.end))
        })
    });
    spans.min_by_key(|span| span.start)
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
    Some((kind.to_owned(), target(map.get("id").or_else(|| map.get("target"))?)?))
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
            ("links:\n- \"\\u0061\"\n- b\n", vec![("related", "a", 2), ("related", "b", 2)]),
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
        let (links, _) = read("+++\n[[links]]\ntype = \"t\"\nid = \"x\"\n+++\n");
        assert_eq!(links, [("t".to_owned(), "x".to_owned(), 4)]);
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
