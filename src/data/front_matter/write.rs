//! Writes keys and values in the language of the front matter.
//!
//! Invariant: a string is written so that parsers of any version of the language read it as a
//! string. Dates are written without quotes.

use serde_json::Value;

use crate::data::scalar::type_name;
use crate::markdown::front_matter::{Format, parse};

#[derive(Clone, Copy)]
pub(super) struct Writer {
    pub(super) format: Format,
}

impl Writer {
    /// Returns `key` and `value`. `is_inline` is whether they are in braces.
    pub(super) fn entry(self, key: &str, value: &Value, is_inline: bool) -> String {
        let value = self.value(value, None, is_inline);
        match self.format {
            Format::Toml => format!("{} = {value}", toml_key(key)),
            Format::Json => format!("{}: {value}", Value::from(key)),
            Format::Yaml => format!("{}: {value}", yaml_text(key, None, is_inline)),
        }
    }

    /// Returns `value`. A string gets the quotes of the old value, `quote`, where they can hold it.
    pub(super) fn value(self, value: &Value, quote: Option<char>, is_inline: bool) -> String {
        match (self.format, value) {
            (Format::Json, value) => value.to_string(),
            (Format::Yaml, Value::String(text)) => yaml_text(text, quote, is_inline),
            (Format::Toml, Value::String(text)) => toml_text(text, quote),
            // There is no null in TOML; the result is refused.
            (_, Value::Null | Value::Bool(_) | Value::Number(_)) => value.to_string(),
            (_, Value::Array(values)) => {
                let values: Vec<_> =
                    values.iter().map(|value| self.value(value, None, true)).collect();
                format!("[{}]", values.join(", "))
            }
            (format, Value::Object(map)) => {
                let entries: Vec<_> =
                    map.iter().map(|(key, value)| self.entry(key, value, true)).collect();
                match format {
                    Format::Toml => format!("{{ {} }}", entries.join(", ")),
                    _ => format!("{{{}}}", entries.join(", ")),
                }
            }
        }
    }
}

fn toml_key(key: &str) -> String {
    let is_bare = !key.is_empty()
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if is_bare { key.to_owned() } else { toml_text(key, Some('"')) }
}

fn toml_text(text: &str, quote: Option<char>) -> String {
    if quote.is_none()
        && type_name(text) == "date"
        && has_seconds(text)
        && is_read_as(text, &format!("v = {text}\n"), Format::Toml)
    {
        return text.to_owned();
    }
    if quote == Some('\'') && !text.contains('\'') && !text.chars().any(char::is_control) {
        return format!("'{text}'");
    }
    double_quoted(text)
}

/// Returns whether a date without a time, or with one, is complete. TOML 1.0 does not read a time without seconds.
fn has_seconds(date: &str) -> bool {
    date.len() <= "2026-01-31".len() || date.as_bytes().get("2026-01-31T10:00".len()) == Some(&b':')
}

/// Returns whether `lines` have the text under the key `v`.
fn is_read_as(text: &str, lines: &str, format: Format) -> bool {
    let map = parse(lines.as_bytes(), format).ok().flatten();
    map.is_some_and(|map| map.len() == 1 && map.get("v") == Some(&Value::from(text)))
}

/// What ends a plain scalar between brackets or braces. The colon and the question mark do so only
/// in older versions of YAML.
const ENDS_IN_FLOW: [char; 7] = [',', '[', ']', '{', '}', ':', '?'];

fn yaml_text(text: &str, quote: Option<char>, is_inline: bool) -> String {
    let has_control = text.chars().any(|scalar| scalar.is_control() || is_unprintable(scalar));
    match quote {
        _ if has_control => return double_quoted(text),
        Some('\'') => return format!("'{}'", text.replace('\'', "''")),
        Some(_) => return double_quoted(text),
        None => {}
    }
    let ends_early = is_inline && text.contains(ENDS_IN_FLOW);
    let is_plain = type_name(text) == "date" || !(is_special(text) || ends_early);
    // A key and a value are plain under the same conditions.
    if is_plain
        && is_read_as(text, &format!("v: {text}\n"), Format::Yaml)
        && !text.contains(": ")
        && !text.ends_with(':')
    {
        return text.to_owned();
    }
    double_quoted(text)
}

/// Whether some parser reads the text as another type than a string.
fn is_special(text: &str) -> bool {
    const WORDS: [&str; 10] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "~"];
    let word = text.to_lowercase();
    // Numbers in every form of YAML begin like this: octal, hexadecimal, with underscores or colons.
    let is_number = text
        .trim_start_matches(['+', '-', '.'])
        .starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|scalar| scalar.is_ascii_hexdigit() || "+-._:xXoO".contains(scalar));
    text.is_empty()
        || is_number
        || WORDS.contains(&word.as_str())
        || matches!(word.trim_start_matches(['+', '-']), ".inf" | ".nan" | "=" | "<<")
        || text.starts_with(|first: char| {
            "-?:,[]{}#&*!|>'\"%@`=".contains(first) || first.is_whitespace()
        })
        || text.ends_with(char::is_whitespace)
}

/// Whether YAML requires an escape for the scalar.
fn is_unprintable(scalar: char) -> bool {
    matches!(scalar, '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}')
}

/// Returns the text in double quotes, with the escapes that YAML, TOML and JSON share.
fn double_quoted(text: &str) -> String {
    let mut result = String::from("\"");
    for scalar in text.chars() {
        match scalar {
            '"' => result.push_str("\\\""),
            '\\' => result.push_str("\\\\"),
            '\n' => result.push_str("\\n"),
            '\r' => result.push_str("\\r"),
            '\t' => result.push_str("\\t"),
            _ if scalar.is_control() || is_unprintable(scalar) => {
                result.push_str(&format!("\\u{:04X}", u32::from(scalar)));
            }
            _ => result.push(scalar),
        }
    }
    result.push('"');
    result
}
