//! Leaves out of JSON what follows from the rest (`--compact`).
//!
//! Invariant: a field that is left out is empty, or the fields that remain say the same: an equal field, the
//! `selector` for the file, the level and the other addresses, the first child for the end before it, or the passage for
//! a line in it. Values from documents are unchanged.

use serde_json::{Map, Value};

/// Fields whose values come from documents.
const FROM_DOCUMENTS: [&str; 6] = ["attributes", "fields", "meta", "row", "source", "value"];
/// Fields with an address.
const ADDRESSES: [&str; 2] = ["selector", "section"];
/// Other addresses of the section that `selector` names.
const OTHER_ADDRESSES: [&str; 3] = ["slug", "path", "anchor"];
/// What the names of the fields about a section without its subsections begin with.
const OWN: &str = "own_";

/// Leaves out what follows from the rest.
pub(super) fn compact(mut value: Value) -> Value {
    shorten(&mut value, None);
    value
}

/// Shortens `value`, which is within an object of the document `file`.
fn shorten(value: &mut Value, file: Option<&str>) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| shorten(item, file)),
        Value::Object(fields) => shorten_fields(fields, file),
        _ => {}
    }
}

fn shorten_fields(fields: &mut Map<String, Value>, outer: Option<&str>) {
    let text = |name: &str| fields.get(name).and_then(Value::as_str).map(str::to_owned);
    let selector = text("selector");
    let has_selector = selector.is_some();
    let of_selector = selector.as_deref().and_then(|selector| Some(selector.split_once("::")?.0));
    let own = text("file").or_else(|| text("namespace"));
    let own = own.or_else(|| of_selector.map(str::to_owned));
    let file = own.as_deref().or(outer);
    let is_in = |address: &str, file: &str| {
        address.strip_prefix(file).is_some_and(|rest| rest.starts_with("::"))
    };
    let says_level = selector.as_deref().zip(fields.get("level")).is_some_and(says_level);
    let says_own_end = ends_before_first_child(fields);
    let says_text = passage_has_text(fields);
    let says_file =
        selector.is_some_and(|selector| file.is_some_and(|file| is_in(&selector, file)));
    let equal: Vec<String> = fields
        .iter()
        .filter(|(name, value)| {
            name.strip_prefix(OWN).and_then(|name| fields.get(name)) == Some(value)
        })
        .map(|(name, _)| name.clone())
        .collect();
    for (name, value) in fields.iter_mut() {
        if FROM_DOCUMENTS.contains(&name.as_str()) {
            continue;
        }
        shorten(value, file);
        // An object on its own keeps its selector whole, so that it can be copied into a command.
        let around = if name == "selector" { outer } else { file };
        if let (true, Value::String(address), Some(file)) =
            (ADDRESSES.contains(&name.as_str()), value, around)
            && is_in(address, file)
        {
            address.drain(..file.len());
        }
    }
    fields.retain(|name, value| {
        let is_said = name == "file" && says_file
            || name == "level" && says_level
            || name == "own_line_end" && says_own_end
            || name == "text" && says_text
            || has_selector && OTHER_ADDRESSES.contains(&name.as_str())
            || equal.contains(name);
        FROM_DOCUMENTS.contains(&name.as_str()) || !is_said && !is_empty(value)
    });
}

/// Returns whether the address of a heading contains its level.
fn says_level((selector, level): (&str, &Value)) -> bool {
    let heading = selector.rsplit_once("::heading:h").map(|(_, heading)| heading);
    heading
        .and_then(|heading| heading.split_once('['))
        .is_some_and(|(said, _)| level.as_u64() == said.parse().ok())
}

/// Returns whether the own text of a section ends on the line before its first child.
fn ends_before_first_child(section: &Map<String, Value>) -> bool {
    let first = section.get("children").and_then(|children| children.get(0));
    let start = first.and_then(|child| child.get("line_start")).and_then(Value::as_u64);
    let end = section.get("own_line_end").and_then(Value::as_u64);
    start.is_some() && start == end.map(|end| end + 1)
}

/// Returns whether a window of the passage of a hit has the text of the hit.
fn passage_has_text(hit: &Map<String, Value>) -> bool {
    let Some(text) = hit.get("text").and_then(Value::as_str) else { return false };
    let mut windows = hit.get("passage").and_then(Value::as_array).into_iter().flatten();
    windows.any(|window| {
        window.get("text").and_then(Value::as_str).is_some_and(|all| all.contains(text))
    })
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(true) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_follows_from_the_rest_is_left_out() {
        let section = json!({
            "title": "Set up", "level": 2, "slug": "set-up", "path": "guide/set-up", "anchor": "set-up",
            "line_end": 9, "own_line_end": 9, "char_count": 40, "own_char_count": 30,
            "selector": "a.md::heading:h2[0]", "children": [],
        });
        let trees = json!({
            "files": [{ "file": "a.md", "sections": [section], "frontmatter": null }],
            "unresolved_selectors": [],
            "truncated": false,
        });
        let expected = json!({
            "files": [{
                "file": "a.md",
                "sections": [{
                    "title": "Set up", "line_end": 9, "char_count": 40, "own_char_count": 30,
                    "selector": "::heading:h2[0]",
                }],
            }],
        });
        assert_eq!(compact(trees), expected);
    }

    #[test]
    fn the_tree_says_levels_and_ends() {
        let child = |line: usize| json!({ "line_start": line, "selector": "a.md::heading:h3[0]" });
        let section = |line: usize| {
            json!({
                "level": 2, "own_line_end": 4, "selector": "a.md::heading:h2[0]",
                "children": [child(line)],
            })
        };
        assert_eq!(compact(section(5)).as_object().unwrap().keys().count(), 2);
        assert_eq!(compact(section(6))["own_line_end"], 4);
        let other = json!({ "level": 3, "selector": "a.md::heading:h2[0]" });
        assert_eq!(compact(other.clone()), other);
    }

    #[test]
    fn an_item_of_a_list_keeps_its_whole_selector() {
        let hit = json!({
            "selector": "a.md::heading:h2[0]?part=heading",
            "section": "a.md::heading:h2[0]",
            "file": "a.md",
            "byte_start": 0,
        });
        let expected = json!({
            "selector": "a.md::heading:h2[0]?part=heading",
            "section": "::heading:h2[0]",
            "byte_start": 0,
        });
        assert_eq!(compact(json!([hit])), json!([expected]));
        let around = json!({
            "selector": "a.md::heading:h2[0]",
            "next": { "selector": "a.md::heading:h2[1]", "title": "" },
            "previous": { "selector": "a.md.md::heading:h2[1]", "title": "x" },
        });
        let expected = json!({
            "selector": "a.md::heading:h2[0]",
            "next": { "selector": "::heading:h2[1]" },
            "previous": { "selector": "a.md.md::heading:h2[1]", "title": "x" },
        });
        assert_eq!(compact(around), expected);
    }

    #[test]
    fn a_passage_says_the_line_of_its_hit() {
        let hit =
            |text: &str| json!({ "line": 3, "text": text, "passage": [{ "text": "one\ntwo" }] });
        assert_eq!(compact(hit("two")), json!({ "line": 3, "passage": [{ "text": "one\ntwo" }] }));
        assert_eq!(compact(hit("three")), hit("three"));
    }

    #[test]
    fn values_from_documents_are_unchanged() {
        let meta =
            json!({ "draft": false, "title": "", "path": "x", "file": null, "own_a": 1, "a": 1 });
        let document = json!({ "selector": "a.md::@frontmatter", "file": "a.md", "meta": meta });
        let expected = json!({ "selector": "a.md::@frontmatter", "meta": meta });
        assert_eq!(compact(document), expected);
        assert_eq!(compact(json!({ "row": { "a": "" } })), json!({ "row": { "a": "" } }));
    }
}
