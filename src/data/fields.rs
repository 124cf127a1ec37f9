//! The fields that the text of a task holds.
//!
//! `key:: value`, `[key:: value]` and `(key:: value)` (Dataview), `key:value` (todo.txt), the date
//! and priority marks of Obsidian Tasks, and tags. Invariants: text in backticks and wikilinks
//! hold no field; fields are in the order of the text.

use crate::limits;
use crate::markdown::code_spans::{code_span, run_length};

/// A field of a task: its key and its value, as they are written.
pub type Field = (String, String);

/// Marks with a value after them, and the keys that they stand for.
const MARKS: [(char, &str); 9] = [
    ('📅', "due"),
    ('📆', "due"),
    ('🗓', "due"),
    ('✅', "completion"),
    ('⏳', "scheduled"),
    ('⌛', "scheduled"),
    ('🛫', "start"),
    ('➕', "created"),
    ('❌', "cancelled"),
];

/// Marks that take the text up to the next mark.
const TEXT_MARKS: [(char, &str); 3] = [('🔁', "repeat"), ('🆔', "id"), ('⛔', "depends_on")];

/// Marks that are values of `priority`.
const PRIORITIES: [(char, &str); 5] =
    [('🔺', "highest"), ('⏫', "high"), ('🔼', "medium"), ('🔽', "low"), ('⏬', "lowest")];

/// Returns the fields of the text of a task, whose lines end with a line feed.
pub fn of(text: &str) -> Vec<Field> {
    let mut fields: Vec<Field> = Vec::new();
    let end = text.floor_char_boundary(limits::MAX_FIELD_BYTES);
    let mut rest = text.get(..end).unwrap_or_default();
    // Whether a word begins here.
    let mut is_start = true;
    while let Some(first) = rest.chars().next() {
        let mut length = first.len_utf8();
        if let Some(end) = opaque(rest).filter(|_| first == '`' || rest.starts_with("[[")) {
            length = end;
        } else if let Some((key, value, end)) = field_at(rest, first, is_start) {
            fields.push((key, value));
            length = end;
        }
        let last = rest.get(..length).and_then(|taken| taken.chars().next_back());
        is_start = last.is_some_and(|last| last.is_whitespace() || "([`".contains(last));
        rest = rest.get(length..).unwrap_or_default();
    }
    fields
}

/// Returns the key, the value and the length of the field at the start of `text`, if there is one.
fn field_at(text: &str, first: char, is_start: bool) -> Option<(String, String, usize)> {
    let named = |marks: &[(char, &str)]| {
        marks.iter().find(|(mark, _)| *mark == first).map(|(_, name)| (*name).to_owned())
    };
    if let Some(value) = named(&PRIORITIES) {
        return Some(("priority".to_owned(), value, first.len_utf8()));
    }
    if let Some(key) = named(&MARKS) {
        // A variation selector may follow the mark.
        let after = text.get(first.len_utf8()..)?.trim_start_matches('\u{FE0F}').trim_start();
        let value = after.split_whitespace().next().unwrap_or_default();
        let value = value.trim_end_matches(|scalar: char| !scalar.is_alphanumeric());
        let is_date = value.starts_with(|first: char| first.is_ascii_digit());
        return is_date.then(|| (key, value.to_owned(), text.len() - after.len() + value.len()));
    }
    if let Some(key) = named(&TEXT_MARKS) {
        let after = text.get(first.len_utf8()..)?.trim_start_matches('\u{FE0F}').trim_start();
        let end = end_of_value(after);
        let value = after.get(..end)?.trim_end();
        return Some((key, value.to_owned(), text.len() - after.len() + end));
    }
    if let Some(close) = match first {
        '[' => Some(']'),
        '(' => Some(')'),
        _ => None,
    } {
        return bracketed(text, first, close);
    }
    if !is_start {
        return None;
    }
    if first == '#' {
        let tag = text.get(1..)?;
        let end = tag.find(|scalar: char| !(scalar.is_alphanumeric() || "_-/".contains(scalar)));
        let tag = tag.get(..end.unwrap_or(tag.len()))?;
        let is_tag = tag.contains(|scalar: char| !scalar.is_ascii_digit());
        return is_tag.then(|| ("tags".to_owned(), tag.to_owned(), tag.len() + 1));
    }
    let (key, after) = key_at(text)?;
    if let Some(value) = after.strip_prefix("::") {
        let value = value.strip_prefix([' ', '\t'])?.trim_start_matches([' ', '\t']);
        let end = end_of_value(value);
        let trimmed = value.get(..end)?.trim_end();
        return Some((key.to_owned(), trimmed.to_owned(), text.len() - value.len() + end));
    }
    plain_at(text)
}

/// Returns the field `key:value` at the start of `text`, a word.
fn plain_at(text: &str) -> Option<(String, String, usize)> {
    let (key, after) = key_at(text)?;
    let value = after.strip_prefix(':')?.split_whitespace().next()?;
    let is_value = !after.starts_with(": ")
        && !value.starts_with([':', '/', '\\'])
        && !value.contains(['(', ')', '[', ']', '<', '>', '`']);
    let value = value.trim_end_matches([',', ';', '.']);
    (is_value && !value.is_empty() && after.get(1..)?.starts_with(value))
        .then(|| (key.to_owned(), value.to_owned(), key.len() + 1 + value.len()))
}

/// Returns the key at the start of `text` and the text after it. A key is letters, digits, hyphens
/// and underscores, and begins with a letter.
fn key_at(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|scalar: char| !(scalar.is_alphanumeric() || "_-".contains(scalar)))?;
    let (key, after) = text.split_at(end);
    (key.starts_with(char::is_alphabetic) && after.starts_with(':')).then_some((key, after))
}

/// Returns the field in brackets at the start of `text`. Its key may have blanks.
fn bracketed(text: &str, open: char, close: char) -> Option<(String, String, usize)> {
    let mut depth = 0_usize;
    let end = text.char_indices().find_map(|(at, scalar)| {
        if scalar == open {
            depth += 1;
        } else if scalar == close {
            depth = depth.saturating_sub(1);
        }
        (depth == 0).then_some(at)
    })?;
    let (key, value) = text.get(1..end)?.split_once("::")?;
    let key = key.trim();
    let is_key = !key.is_empty()
        && key.chars().all(|scalar| scalar.is_alphanumeric() || "_- ".contains(scalar));
    is_key.then(|| (key.to_owned(), value.trim().replace('\n', " "), end + 1))
}

/// Returns the length of a value that ends before the next field or at the end of its line.
fn end_of_value(text: &str) -> usize {
    let mut is_start = true;
    let mut at = 0;
    while let Some(scalar) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let rest = text.get(at..).unwrap_or_default();
        let begins_field = match scalar {
            '[' | '(' => field_at(rest, scalar, is_start).is_some(),
            '#' => is_start && field_at(rest, scalar, true).is_some(),
            '\n' => return at,
            _ if is_mark(scalar) => true,
            _ => {
                is_start
                    && (key_at(rest).is_some_and(|(_, after)| after.starts_with(":: "))
                        || plain_at(rest).is_some())
            }
        };
        if at > 0 && begins_field {
            return at;
        }
        let line = rest.split('\n').next().unwrap_or_default();
        at += opaque(line).unwrap_or(scalar.len_utf8());
        is_start = scalar.is_whitespace();
    }
    text.len()
}

/// Returns the length of the code span, wikilink or link at the start of `text`, which holds no field.
fn opaque(text: &str) -> Option<usize> {
    if text.starts_with('`') {
        return Some(code_span(text).unwrap_or_else(|| run_length(text)));
    }
    if text.starts_with("[[") {
        return Some(text.find("]]").map_or(2, |close| close + 2));
    }
    let (label, target) = text.strip_prefix('[')?.split_once("](")?;
    let end = target.find(')').filter(|_| !label.contains(['\n', '[', ']']))?;
    Some(1 + label.len() + 2 + end + 1)
}

fn is_mark(scalar: char) -> bool {
    let all = MARKS.iter().chain(&TEXT_MARKS).chain(&PRIORITIES);
    all.into_iter().any(|(mark, _)| *mark == scalar)
}

#[cfg(test)]
mod tests {
    use super::of;
    use crate::processor_time::within;

    #[test]
    fn fields_are_found_in_the_forms_of_three_programs() {
        for (text, expected) in [
            ("pay rent due:2026-01-31", vec![("due", "2026-01-31")]),
            ("due:: 2026-01-31 owner:: Ann Lee", vec![("due", "2026-01-31"), ("owner", "Ann Lee")]),
            ("owner:: Ann Lee due:2026-01-31", vec![("owner", "Ann Lee"), ("due", "2026-01-31")]),
            ("cmd:: `run a:b now`", vec![("cmd", "`run a:b now`")]),
            ("`a `` b:c` d:e", vec![("d", "e")]),
            ("cmd:: `run\nit:b` c:d", vec![("cmd", "`run"), ("c", "d")]),
            ("see:: [[Some x:1 thing]] more", vec![("see", "[[Some x:1 thing]] more")]),
            ("see:: [text a:b](u) a:c", vec![("see", "[text a:b](u)"), ("a", "c")]),
            ("title:: C: drive D:\\foo", vec![("title", "C: drive D:\\foo")]),
            ("see:: https://a.org/b at 10:30", vec![("see", "https://a.org/b at 10:30")]),
            (
                "due:: 2026-01-31\nsee notes [with:: Bob\nLee]",
                vec![("due", "2026-01-31"), ("with", "Bob Lee")],
            ),
            (
                "call [due:: 2026-01-31] (with:: Bob (the builder))",
                vec![("due", "2026-01-31"), ("with", "Bob (the builder)")],
            ),
            ("[time spent:: 3 h]", vec![("time spent", "3 h")]),
            (
                "x 📅 2026-01-31 ⏫ 🔁 every week ✅2026-02-01",
                vec![
                    ("due", "2026-01-31"),
                    ("priority", "high"),
                    ("repeat", "every week"),
                    ("completion", "2026-02-01"),
                ],
            ),
            (
                "x 🗓️ 2026-01-31 #home/kitchen #1 (#work)",
                vec![("due", "2026-01-31"), ("tags", "home/kitchen"), ("tags", "work")],
            ),
            ("see https://a.b/c and `due:2026-01-31` at 10:30, note: later", vec![]),
            ("[link](http://x.y) a::b Foo::Bar [[note:: x]]", vec![]),
            ("due:2026-01-31, p:1.", vec![("due", "2026-01-31"), ("p", "1")]),
            (
                "(x 📅 2026-01-31), y ✅ 2026-02-01.",
                vec![("due", "2026-01-31"), ("completion", "2026-02-01")],
            ),
            ("фокус:: да", vec![("фокус", "да")]),
        ] {
            let found = of(text);
            let found: Vec<_> = found.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn time_is_linear() {
        for text in ["[", "(a", "a:: ", "`", "📅 ", "#a ", "a:: b [c:: "] {
            within(5, text, || of(&text.repeat(5_000)));
        }
    }
}
