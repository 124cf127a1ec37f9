//! Changes of one key of front matter, in place.
//!
//! A change is one splice in the lines of its key. Invariant: after the splice the key has the new
//! value, all other keys have their old values, and every byte outside the splice is the same. What
//! cannot be changed so is refused.

mod layout;
mod toml;
mod write;
mod yaml;

use std::fmt;

use serde_json::{Map, Value};

use crate::data::scalar;
use crate::links::is_markdown;
use crate::markdown::front_matter::{Format, parse, parse_value, plain_scalar};
use crate::markdown::slug::fold;
use crate::position::ByteSpan;
use crate::visible::quoted;
use layout::KeyPosition;
use write::Writer;

/// Why a key cannot be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyFault {
    /// The kind of the reason.
    pub kind: KeyFaultKind,
    /// The reason in words.
    pub reason: String,
}

/// The kinds of reasons why a key cannot be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyFaultKind {
    /// The key is not there.
    NoKey,
    /// The key would be made, and is the name of a document.
    Document,
    /// Another reason.
    Other,
}

impl KeyFault {
    /// Returns the reason that `key` is not there.
    pub(crate) fn no_key(key: &str) -> Self {
        Self { kind: KeyFaultKind::NoKey, reason: format!("there is no key {key}") }
    }
}

impl From<String> for KeyFault {
    fn from(reason: String) -> Self {
        Self { kind: KeyFaultKind::Other, reason }
    }
}

impl fmt::Display for KeyFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.reason)
    }
}

/// A change of one key. A key with dots is a key of a nested mapping, unless there is a key with
/// these dots.
#[derive(Clone, Debug, PartialEq)]
pub enum KeyChange {
    /// Sets the value of a key, which is added if it is missing.
    Set(String, Value),
    /// Removes a key and its value.
    Unset(String),
    /// Adds a value to the list of a key, unless it is in it. A missing key becomes a list.
    Add(String, Value),
    /// Removes a value from the list of a key, if it is in it.
    Remove(String, Value),
}

impl KeyChange {
    /// Whether the key must be there.
    pub fn needs_key(&self) -> bool {
        matches!(self, Self::Unset(_) | Self::Remove(..))
    }

    /// Returns the key.
    pub fn key(&self) -> &str {
        match self {
            Self::Set(key, _) | Self::Unset(key) | Self::Add(key, _) | Self::Remove(key, _) => key,
        }
    }
}

/// The replacement of a span of the text by another text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextSplice {
    /// The replaced bytes, as offsets into the lines between the delimiters.
    pub span: ByteSpan,
    /// The new text.
    pub text: String,
}

impl TextSplice {
    /// Returns `text` with the splice.
    pub fn apply(&self, text: &str) -> String {
        let before = text.get(..self.span.start).unwrap_or_default();
        let after = text.get(self.span.end..).unwrap_or_default();
        format!("{before}{}{after}", self.text)
    }
}

/// Reads a value as it is written on a command line: JSON, a list or mapping in brackets, or a scalar
/// as it is read in YAML, except that an empty text and a tilde are texts.
pub fn value_of(text: &str) -> Value {
    let trimmed = text.trim();
    if trimmed.starts_with(['[', '{', '"']) {
        if let Ok(value) = serde_json::from_str(trimmed) {
            return value;
        }
        let wrapped = format!("v: {trimmed}\n");
        // `{{ a }}` is a template and not a mapping, and `[[a]]` is a wikilink.
        let wikilink = trimmed.strip_prefix("[[").and_then(|rest| rest.strip_suffix("]]"));
        if wikilink.is_none_or(|target| target.contains(['[', ']']))
            && let Ok(Value::Object(mut map)) = parse_value(&wrapped)
            && map.len() == 1
            && let Some(value @ (Value::Array(_) | Value::Object(_))) = map.remove("v")
        {
            return value;
        }
    }
    // Only `null` is null: a tilde is also a path.
    if matches!(text, "" | "~") { Value::String(text.to_owned()) } else { plain_scalar(text) }
}

/// Returns `text` as a scalar that every parser reads as a text, in the quotes of the old scalar if it has any.
/// The scalar may be between brackets or braces.
pub fn text_scalar(text: &str, format: Format, quote: Option<char>) -> String {
    let is_date = scalar::type_name(text) == "date";
    let quote = quote.or(is_date.then_some('"'));
    Writer { format }.value(&Value::from(text), quote, true)
}

/// Returns the splice that makes `change` in `text`, the lines between the delimiters. Returns
/// `None` if nothing changes. An error is the reason why the change cannot be made.
pub fn splice(
    text: &str,
    format: Format,
    change: &KeyChange,
) -> Result<Option<TextSplice>, KeyFault> {
    let read = |text: &str| match parse(text.as_bytes(), format)? {
        Some(map) => Ok(map),
        None => Err("it is not a mapping".to_owned()),
    };
    let old = read(text)?;
    if format == Format::Toml
        && let KeyChange::Set(_, value) | KeyChange::Add(_, value) = change
        && has_null(value)
    {
        return Err(format!(
            "the key {} cannot have a null, which TOML does not know",
            change.key()
        )
        .into());
    }
    let Some(expected) = expected(&old, change)? else { return Ok(None) };
    let layout = match format {
        // JSON is read as YAML in braces.
        Format::Yaml | Format::Json => yaml::layout(text)?,
        Format::Toml => toml::layout(text)?,
    };
    let position = KeyPosition::new(text, format, &layout);
    let checked = |old: Option<&Value>| {
        let splice = position.splice(change, old)?;
        let new = read(&splice.apply(text)).map_err(|fault| {
            format!("the key {} cannot be changed in place: {fault}", change.key())
        })?;
        if new != expected && !(format == Format::Toml && is_pruned(&new, expected.clone(), change))
        {
            return Err(format!(
                "the key {} cannot be changed in place without a change to another value",
                change.key()
            )
            .into());
        }
        Ok(splice)
    };
    // If the items of a list cannot keep their lines, all are written again.
    let splice = match checked(exact_value_at(&old, change.key())) {
        Err(_) if matches!(change, KeyChange::Set(..)) => checked(None),
        splice => splice,
    };
    splice.map(Some)
}

/// Returns whether `new` is `expected` without mappings that the removed key left empty. In TOML a dotted key makes the
/// mappings that contain it.
fn is_pruned(
    new: &Map<String, Value>,
    mut expected: Map<String, Value>,
    change: &KeyChange,
) -> bool {
    let KeyChange::Unset(key) = change else { return false };
    let mut path = path_of(&expected, key);
    while path.len() > 1 {
        path.pop();
        let Some((last, outer)) = path.split_last() else { break };
        let map =
            outer.iter().try_fold(&mut expected, |map, part| map.get_mut(part)?.as_object_mut());
        let Some(map) = map else { break };
        if map.get(last).and_then(Value::as_object).is_none_or(|inner| !inner.is_empty()) {
            break;
        }
        map.remove(last);
        if *new == expected {
            return true;
        }
    }
    false
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(values) => values.iter().any(has_null),
        Value::Object(map) => map.values().any(has_null),
        _ => false,
    }
}

/// Returns the keys from the outermost mapping to the changed key. A key that
/// contains the dots itself takes precedence.
fn path_of(map: &Map<String, Value>, key: &str) -> Vec<String> {
    if map.contains_key(key) {
        return vec![key.to_owned()];
    }
    for (dot, _) in key.match_indices('.') {
        let (first, rest) = (&key[..dot], &key[dot + 1..]);
        if let Some(Value::Object(inner)) = map.get(first) {
            let mut path = vec![first.to_owned()];
            path.extend(path_of(inner, rest));
            return path;
        }
    }
    key.split('.').map(str::to_owned).collect()
}

/// Returns the value of a key, whose case matters, as for all changes.
fn exact_value_at<'a>(map: &'a Map<String, Value>, key: &str) -> Option<&'a Value> {
    let path = path_of(map, key);
    let (last, outer) = path.split_last()?;
    outer.iter().try_fold(map, |map, part| map.get(part)?.as_object())?.get(last)
}

/// Returns the data after the change, or `None` if nothing changes.
fn expected(
    old: &Map<String, Value>,
    change: &KeyChange,
) -> Result<Option<Map<String, Value>>, KeyFault> {
    let key = change.key();
    if key.is_empty() || key.split('.').any(str::is_empty) && !old.contains_key(key) {
        return Err(format!("{key} is not a key", key = quoted(&key)).into());
    }
    if key.starts_with(['"', '\'', '`']) && !old.contains_key(key) {
        return Err(format!("the key {key} is in quotes; write it without them").into());
    }
    let path = path_of(old, key);
    let mut new = old.clone();
    let Some((last, outer)) = path.split_last() else { return Ok(None) };
    // One document was meant too many.
    let is_document =
        |name: &&str| name.rsplit_once('.').is_some_and(|(_, extension)| is_markdown(extension));
    if !change.needs_key()
        && let Some(name) = key.split("::").next().filter(is_document)
        && let Some(first) = path.first().filter(|first| !old.contains_key(*first))
    {
        let reason = format!("{name} is the name of a document, and there is no key {first}");
        return Err(KeyFault { kind: KeyFaultKind::Document, reason });
    }
    let mut map = &mut new;
    for part in outer {
        if change.needs_key() && !map.contains_key(part) {
            return Err(KeyFault::no_key(key));
        }
        let inner = map.entry(part.clone()).or_insert_with(|| Value::Object(Map::new()));
        map = inner.as_object_mut().ok_or_else(|| format!("the value of {part} is no mapping"))?;
    }
    // Conditions ignore the case of keys, so a key beside one that differs in case only is a mistake.
    if !map.contains_key(last)
        && let Some(other) = map.keys().find(|other| fold(other) == fold(last))
    {
        return Err(KeyFault::no_key(&format!("{last}, but {other}")));
    }
    match change {
        KeyChange::Set(_, value) => {
            map.insert(last.clone(), value.clone());
        }
        KeyChange::Unset(_) => {
            if map.remove(last).is_none() {
                return Err(KeyFault::no_key(key));
            }
        }
        KeyChange::Add(_, value) => match map.entry(last.clone()).or_insert(Value::Null) {
            Value::Array(values) => {
                if !values.contains(value) {
                    values.push(value.clone());
                }
            }
            empty @ Value::Null => *empty = Value::Array(vec![value.clone()]),
            _ => return Err(format!("the value of {key} is no list").into()),
        },
        KeyChange::Remove(_, value) => match map.get_mut(last) {
            Some(Value::Array(values)) => values.retain(|one| one != value),
            Some(Value::Null) => {}
            Some(_) => return Err(format!("the value of {key} is no list").into()),
            None => return Err(KeyFault::no_key(key)),
        },
    }
    Ok((new != *old).then_some(new))
}

#[cfg(test)]
mod tests;
