//! Front matter: detects it, and parses its data.
//!
//! YAML between `---` and `---` or `...`, TOML between `+++` and `+++`, or JSON between `;;;` and
//! `;;;`. It must begin on the first line of a file, or directly after its byte order mark. Invariants: data that cannot be
//! parsed adds a diagnostic and does not fail the document; the expanded data is bounded, nested
//! aliases included.

use saphyr_parser::{Event, Parser, ScalarStyle, StrInput};
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};
use std::fmt;

use super::flow_lines::{indented, unindented_lines};
use super::slug::fold;
use super::yaml_tabs::with_spaces;
use crate::limits;
use crate::position::{ByteSpan, next_line_start, trim_line_end};

/// The front matter of a file: its position and its data.
#[derive(Clone, Debug, PartialEq)]
pub struct FrontMatter {
    /// From the opening delimiter to the end of the closing delimiter's line.
    pub span: ByteSpan,
    /// The lines between the delimiters.
    pub text: ByteSpan,
    /// The language of the data.
    pub format: Format,
    /// Keys and values; `None` if the data could not be parsed.
    pub value: Option<Map<String, Value>>,
    /// The reason why the data could not be parsed.
    pub fault: Option<String>,
}

/// The language of front matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// YAML, between `---` and `---` or `...`.
    Yaml,
    /// TOML, between `+++` and `+++`.
    Toml,
    /// JSON, between `;;;` and `;;;`.
    Json,
}

impl Format {
    const ALL: [Self; 3] = [Self::Yaml, Self::Toml, Self::Json];

    /// Returns the line before the data, and after it, without its line end.
    pub(crate) fn delimiter(self) -> &'static str {
        match self {
            Self::Yaml => "---",
            Self::Toml => "+++",
            Self::Json => ";;;",
        }
    }

    fn is_closing(self, line: &[u8]) -> bool {
        line == self.delimiter().as_bytes() || self == Self::Yaml && line == b"..."
    }
}

/// Returns the format whose delimiter is the line at the start of `content`.
fn opened(content: &[u8]) -> Option<Format> {
    let line = delimiter(content.get(..next_line_start(content, 0))?);
    Format::ALL.into_iter().find(|format| format.delimiter().as_bytes() == line)
}

/// Whether the first line of `content` is a delimiter of front matter.
pub(crate) fn is_delimited(content: &[u8]) -> bool {
    opened(content).is_some()
}

/// Detects front matter that begins at `start`, the offset of the first byte after a byte order
/// mark.
///
/// Text between two thematic breaks is not front matter. Data that is not a mapping belongs to the
/// body: prose, for example, is a YAML scalar.
pub fn detect(file: &[u8], start: usize) -> Option<FrontMatter> {
    let opening_end = next_line_start(file, start);
    let format = opened(file.get(start..)?)?;
    let mut position = opening_end;
    while position < file.len() {
        let end = next_line_start(file, position);
        if format.is_closing(delimiter(file.get(position..end)?)) {
            let text = file.get(opening_end..position)?;
            let is_after_blank = text.first().is_some_and(|byte| matches!(byte, b'\n' | b'\r'));
            let is_comment = format == Format::Yaml && text.trim_ascii_start().starts_with(b"#");
            let (value, fault) = match parse(text, format) {
                Ok(None) => return None,
                // A blank line after the opening delimiter means that the delimiter is a thematic
                // break. What looks like a comment is then a heading.
                Ok(Some(value)) if is_after_blank && value.is_empty() && is_comment => return None,
                Ok(Some(value)) => (Some(value), None),
                Err(_) if is_after_blank => return None,
                Err(fault) => {
                    // The position in the reason is that in the file.
                    let mut in_file = file.get(..position)?.to_vec();
                    let before = in_file.iter_mut().take(opening_end);
                    before.filter(|byte| !b"\r\n".contains(byte)).for_each(|byte| *byte = b' ');
                    (None, parse(&in_file, format).err().or(Some(fault)))
                }
            };
            let (span, text) = (ByteSpan::new(start, end), ByteSpan::new(opening_end, position));
            return Some(FrontMatter { span, text, format, value, fault });
        }
        position = end;
    }
    None
}

/// Returns a line without its line end and trailing blanks.
fn delimiter(line: &[u8]) -> &[u8] {
    let line = trim_line_end(line);
    let blanks = line.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    line.get(..line.len() - blanks).unwrap_or_default()
}

/// Parses `text`, the lines between the delimiters, as a mapping. Returns `None` if it is another
/// kind of value.
pub fn parse(text: &[u8], format: Format) -> Result<Option<Map<String, Value>>, String> {
    if text.len() > limits::MAX_FRONT_MATTER_BYTES {
        return Err(format!(
            "longer than the limit front-matter-bytes ({})",
            limits::MAX_FRONT_MATTER_BYTES
        ));
    }
    let text = std::str::from_utf8(text).map_err(|_| "not UTF-8".to_owned())?;
    match format {
        Format::Toml => {
            // TOML does not accept a lone CR as a line end, but Markdown does.
            let text = text.replace("\r\n", "\n").replace('\r', "\n");
            let document = toml_edit::Document::parse(text.as_str())
                .map_err(|error| one_line(error.message()))?
                // A value then knows how it is written.
                .into_mut();
            within_limit(Value::Object(map_of(document.as_table())))
        }
        Format::Json => {
            let exact = serde_json::from_str(&with_quoted_numbers(text));
            // The position in the reason is that in the file.
            match exact.or_else(|_| serde_json::from_str(text)) {
                Ok(UniqueKeys(value)) => within_limit(value),
                Err(error) => Err(one_line(&error.to_string())),
            }
        }
        Format::Yaml => match read_yaml(text, |_| true)? {
            Value::Object(map) => Ok(Some(map)),
            Value::Null => Ok(Some(Map::new())),
            _ => Ok(None),
        },
    }
}

/// A JSON value in which no key of a mapping occurs twice.
struct UniqueKeys(Value);

impl<'de> Deserialize<'de> for UniqueKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueKeysVisitor).map(Self)
    }
}

struct UniqueKeysVisitor;

impl<'de> Visitor<'de> for UniqueKeysVisitor {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Value, E> {
        Ok(Value::Bool(truth))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::from(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(Value::from(number))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Value::from(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::from(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(UniqueKeys(value)) = list.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some((key, UniqueKeys(value))) = entries.next_entry::<String, UniqueKeys>()? {
            if map.contains_key(&key) {
                return Err(A::Error::custom(format!("the key {key} occurs twice")));
            }
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

/// Converts a TOML table to JSON.
fn map_of(table: &dyn toml_edit::TableLike) -> Map<String, Value> {
    table.iter().map(|(key, item)| (key.to_owned(), json_of_item(item))).collect()
}

fn json_of_item(item: &toml_edit::Item) -> Value {
    match item {
        toml_edit::Item::None => Value::Null,
        toml_edit::Item::Value(value) => json_of(value),
        toml_edit::Item::Table(table) => Value::Object(map_of(table)),
        toml_edit::Item::ArrayOfTables(tables) => {
            tables.iter().map(|table| Value::Object(map_of(table))).collect()
        }
    }
}

/// Converts a TOML value to JSON. Dates, times, `inf`, `nan` and floats with more digits than a number keeps become
/// texts.
fn json_of(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => Value::String(text.value().clone()),
        toml_edit::Value::Integer(number) => Value::from(*number.value()),
        toml_edit::Value::Float(number) => {
            let written = number.display_repr().replace('_', "");
            let value = Value::from(*number.value());
            // JSON has no infinity.
            let is_kept = !value.is_null() && digits(&value.to_string()) == digits(&written);
            if is_kept { value } else { Value::String(written) }
        }
        toml_edit::Value::Boolean(truth) => Value::Bool(*truth.value()),
        toml_edit::Value::Datetime(time) => Value::String(time.value().to_string()),
        toml_edit::Value::Array(values) => values.iter().map(json_of).collect(),
        toml_edit::Value::InlineTable(table) => Value::Object(map_of(table)),
    }
}

/// Returns the digits of a number without its exponent and without zeros at both ends. A float that is read from it is
/// the same number if it has the same digits.
fn digits(number: &str) -> String {
    let mantissa = number.split(['e', 'E']).next().unwrap_or_default();
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    digits.trim_matches('0').to_owned()
}

/// Returns the JSON `text` with quotes around each number that has more digits than a float keeps.
fn with_quoted_numbers(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => end_of_string(rest),
            '-' | '0'..='9' => rest
                .find(|scalar: char| !(scalar.is_ascii_digit() || "+-.eE".contains(scalar)))
                .unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        let is_cut = first != '"'
            && serde_json::from_str::<serde_json::Number>(token)
                .is_ok_and(|number| digits(&number.to_string()) != digits(token));
        let quote = if is_cut { "\"" } else { "" };
        result.extend([quote, token, quote]);
        rest = after;
    }
    result
}

/// Returns the length of the JSON string at the start of `text`.
fn end_of_string(text: &str) -> usize {
    let mut is_escaped = true;
    let end = text.find(|scalar| {
        let is_end = scalar == '"' && !is_escaped;
        is_escaped = scalar == '\\' && !is_escaped;
        is_end
    });
    end.map_or(text.len(), |end| end + 1)
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A collection that is still open: its values so far, the key that waits for its value, and the
/// anchor.
enum OpenCollection {
    Sequence(Vec<Value>, usize),
    Mapping(Map<String, Value>, Option<String>, usize),
}

/// Parses a YAML value whose keys are all scalars.
pub fn parse_value(text: &str) -> Result<Value, String> {
    read_yaml(text, |key| !matches!(key, Value::Array(_) | Value::Object(_)))
}

/// Parses the YAML document of `text`, in which a list in brackets may go on at the start of a line. Fails if `is_key`
/// is false for a key, or if something follows a mapping.
fn read_yaml(text: &str, is_key: fn(&Value) -> bool) -> Result<Value, String> {
    let text = &*with_spaces(text);
    read_indented_yaml(text, is_key).or_else(|fault| match &*unindented_lines(text) {
        [] => Err(fault),
        // The position in the reason is that in the file.
        lines => read_indented_yaml(&indented(text, lines), is_key).map_err(|_| fault),
    })
}

fn read_indented_yaml(text: &str, is_key: fn(&Value) -> bool) -> Result<Value, String> {
    let mut parser = Parser::new_from_str(text);
    let value = read_first_document(&mut parser, is_key)?;
    // Prose is a scalar, whatever follows it.
    if value.is_object() {
        for event in parser {
            let (event, span) = event.map_err(|error| one_line(&error.to_string()))?;
            if !matches!(event, Event::DocumentEnd | Event::StreamEnd) {
                return Err(format!("something follows the mapping at line {}", span.start.line()));
            }
        }
    }
    Ok(value)
}

fn read_first_document(
    parser: &mut Parser<'_, StrInput<'_>>,
    is_key: fn(&Value) -> bool,
) -> Result<Value, String> {
    let mut anchors: HashMap<usize, (Value, Extent)> = HashMap::new();
    let mut stack: Vec<OpenCollection> = Vec::new();
    let mut extent = Extent::default();
    for event in parser {
        let (event, _) = event.map_err(|error| one_line(&error.to_string()))?;
        let values_before = extent.values;
        extent.depth = stack.len();
        let (value, anchor) = match event {
            Event::Alias(id) => {
                let (value, of_value) = anchors.get(&id).ok_or("an alias without its anchor")?;
                extent.values += of_value.values;
                extent.bytes += of_value.bytes;
                extent.depth += of_value.depth;
                // A value that is too large is not copied.
                extent.check()?;
                (value.clone(), 0)
            }
            Event::Scalar(text, style, anchor, tag) => {
                extent.values += 1;
                extent.bytes += text.len();
                let is_plain = style == ScalarStyle::Plain && tag.is_none();
                (if is_plain { plain_scalar(&text) } else { Value::String(text.into()) }, anchor)
            }
            Event::SequenceStart(anchor, _) => {
                stack.push(OpenCollection::Sequence(Vec::new(), anchor));
                Extent { depth: stack.len(), ..extent }.check()?;
                continue;
            }
            Event::MappingStart(anchor, _) => {
                stack.push(OpenCollection::Mapping(Map::new(), None, anchor));
                Extent { depth: stack.len(), ..extent }.check()?;
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                extent.values += 1;
                match stack.pop() {
                    Some(OpenCollection::Sequence(values, anchor)) => {
                        (Value::Array(values), anchor)
                    }
                    Some(OpenCollection::Mapping(map, _, anchor)) => (Value::Object(map), anchor),
                    None => continue,
                }
            }
            Event::DocumentEnd | Event::StreamEnd => break,
            _ => continue,
        };
        extent.check()?;
        if anchor > 0 {
            let of_value = Extent::of(&value);
            anchors.insert(anchor, (value.clone(), of_value));
        }
        match stack.last_mut() {
            None => return Ok(value),
            Some(OpenCollection::Sequence(values, _)) => values.push(value),
            Some(OpenCollection::Mapping(map, key, _)) => match key.take() {
                None if is_key(&value) => {
                    // A key is no value.
                    extent.values = values_before;
                    let name = key.insert(key_of(value));
                    // The text of a list or a mapping is longer than its own texts.
                    extent.bytes += name.len();
                    extent.check()?;
                }
                None => return Err("a key is a list or a mapping".to_owned()),
                Some(name) => {
                    if map.insert(name.clone(), value).is_some() {
                        return Err(format!("the key {name} occurs twice"));
                    }
                }
            },
        }
    }
    Ok(Value::Null)
}

/// Returns `value` if it is a mapping, and an error if it is too large.
fn within_limit(value: Value) -> Result<Option<Map<String, Value>>, String> {
    Extent::of(&value).check()?;
    Ok(match value {
        Value::Object(map) => Some(map),
        _ => None,
    })
}

/// How large a value is.
#[derive(Clone, Copy, Debug, Default)]
struct Extent {
    /// The number of values in it, itself included.
    values: usize,
    /// The bytes of the keys and texts in it.
    bytes: usize,
    /// The levels of nested collections.
    depth: usize,
}

impl Extent {
    fn of(value: &Value) -> Self {
        match value {
            Value::Array(values) => Self::around(values, 0),
            Value::Object(map) => Self::around(map.values(), map.keys().map(String::len).sum()),
            Value::String(text) => Self { values: 1, bytes: text.len(), depth: 0 },
            _ => Self { values: 1, bytes: 0, depth: 0 },
        }
    }

    /// The extent of a collection of `values` whose keys have `bytes` bytes.
    fn around<'a>(values: impl IntoIterator<Item = &'a Value>, bytes: usize) -> Self {
        let empty = Self { values: 1, bytes, depth: 1 };
        values.into_iter().map(Self::of).fold(empty, |whole, inner| Self {
            values: whole.values + inner.values,
            bytes: whole.bytes + inner.bytes,
            depth: whole.depth.max(inner.depth + 1),
        })
    }

    /// Fails with the name of the first limit that is exceeded.
    fn check(self) -> Result<(), String> {
        let reason = if self.values > limits::MAX_FRONT_MATTER_VALUES {
            "more values than the limit front-matter-values"
        } else if self.bytes > limits::MAX_FRONT_MATTER_TEXT_BYTES {
            "more bytes of expanded texts than the limit front-matter-text-bytes"
        } else if self.depth > limits::MAX_FRONT_MATTER_DEPTH {
            "nested deeper than the limit front-matter-depth"
        } else {
            return Ok(());
        };
        Err(reason.to_owned())
    }
}

/// Returns the key of a mapping that is written as `value`.
pub(crate) fn key_of(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

/// Converts a plain scalar: null, a truth value, a number if it has the form that JSON would print,
/// or else a text. So `1.10` and `007` are kept as they are written.
pub fn plain_scalar(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        _ => {}
    }
    match serde_json::from_str::<serde_json::Number>(text) {
        Ok(number) if number.to_string() == text => Value::Number(number),
        _ => Value::String(text.to_owned()),
    }
}

/// Returns the title in front matter, if any. It may be a number, such as a year.
pub fn title(value: &Map<String, Value>) -> Option<String> {
    text(value.get("title")?)
}

/// Returns the tags in front matter, from `tags` or `tag`: a list, or a text separated by commas or
/// blanks, with or without `#`. They are case-folded, without duplicates, in order, and at most
/// [`limits::MAX_TAGS`].
pub fn tags(value: &Map<String, Value>) -> Vec<String> {
    first_tags(value, limits::MAX_TAGS)
}

/// Returns whether front matter has more tags than [`tags`] returns.
pub(super) fn has_more_tags(value: &Map<String, Value>) -> bool {
    first_tags(value, limits::MAX_TAGS + 1).len() > limits::MAX_TAGS
}

fn first_tags(value: &Map<String, Value>, most: usize) -> Vec<String> {
    let mut tags = Vec::new();
    let mut known = HashSet::new();
    let mut add = |text: &str| {
        let tag = fold(text.trim().trim_start_matches('#').trim_matches('/'));
        if tags.len() < most && !tag.is_empty() && known.insert(tag.clone()) {
            tags.push(tag);
        }
    };
    for key in ["tags", "tag"] {
        match value.get(key) {
            Some(Value::Array(list)) => {
                for tag in list {
                    match tag {
                        Value::String(text) => add(text),
                        Value::Number(number) => add(&number.to_string()),
                        _ => {}
                    }
                }
            }
            Some(Value::String(text)) if text.contains(',') => text.split(',').for_each(&mut add),
            Some(Value::String(text)) => text.split_whitespace().for_each(&mut add),
            Some(Value::Number(number)) => add(&number.to_string()),
            _ => {}
        }
    }
    tags
}

/// Returns a text or a number as trimmed text, or `None` if it is empty.
pub(crate) fn text(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}

/// Returns the values of `aliases` and `alias`, each a list or one text; at most [`limits::MAX_ALIASES`].
pub(crate) fn aliases(value: &Map<String, Value>) -> Vec<String> {
    all_aliases(value).take(limits::MAX_ALIASES).collect()
}

/// Returns whether front matter has more aliases than [`aliases`] returns.
pub(super) fn has_more_aliases(value: &Map<String, Value>) -> bool {
    all_aliases(value).nth(limits::MAX_ALIASES).is_some()
}

fn all_aliases(value: &Map<String, Value>) -> impl Iterator<Item = String> {
    let values = ["aliases", "alias"].into_iter().filter_map(|key| value.get(key));
    let lists = values.flat_map(|value| match value {
        Value::Array(list) => list.as_slice(),
        value => std::slice::from_ref(value),
    });
    lists.filter_map(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn value(text: &str) -> Option<Value> {
        detect(text.as_bytes(), 0).and_then(|found| found.value).map(Value::Object)
    }

    #[test]
    fn yaml_toml_and_json_are_parsed() {
        assert_eq!(value(";;;\n{\"a\": [1]}\n;;;\nx"), Some(json!({"a": [1]})));
        assert_eq!(
            value("---\ntitle: A\nn: 3\nv: 1.10\nd: 2024-01-02\nok: yes\nt: [a, b]\n---\nx"),
            Some(
                json!({"title": "A", "n": 3, "v": "1.10", "d": "2024-01-02", "ok": "yes", "t": ["a", "b"]})
            )
        );
        assert_eq!(
            value("+++\na = 1\nd = 2024-01-02\n+++\n"),
            Some(json!({"a": 1, "d": "2024-01-02"}))
        );
        assert_eq!(
            value("---\na: [\"b\",\n\"c\",\nd]\ne: {f: 1,\ng: 2}\n---\n"),
            Some(json!({"a": ["b", "c", "d"], "e": {"f": 1, "g": 2}}))
        );
        assert_eq!(value("---\na: |\n  x\n  ---\n  y\n...\n"), Some(json!({"a": "x\n---\ny\n"})));
    }

    #[test]
    fn a_number_that_a_float_does_not_keep_is_a_text() {
        let toml = "+++\na = inf\nb = -nan\nc = 1.50\nd = 1_0.5e1\ne = 0.12345678901234567890\nf = [-0.0, +inf]\n+++\n";
        assert_eq!(
            value(toml),
            Some(
                json!({"a": "inf", "b": "-nan", "c": 1.5, "d": 105.0, "e": "0.12345678901234567890", "f": [-0.0, "+inf"]})
            )
        );
        let json = r#"{"a": 18446744073709551616, "b": [1.50, -0.12345678901234567890], "c\\": "\\\" 18446744073709551616", "d": 1E3}"#;
        assert_eq!(
            value(&format!(";;;\n{json}\n;;;\n")),
            Some(json!({
                "a": "18446744073709551616", "b": [1.5, "-0.12345678901234567890"],
                "c\\": "\\\" 18446744073709551616", "d": 1000.0,
            }))
        );
        let fault =
            detect(b";;;\n{\"a\": 18446744073709551616,}\n;;;\n", 0).unwrap().fault.unwrap();
        assert!(fault.contains("line 2 column 28"), "{fault}");
    }

    #[test]
    fn delimiters_may_have_trailing_blanks_and_any_line_end() {
        assert_eq!(value("--- \t\r\na: 1\r\n---  \r\nx"), Some(json!({"a": 1})));
        assert_eq!(value("---\ra: 1\r---\rx"), Some(json!({"a": 1})));
        assert_eq!(value("---\n---\n"), Some(json!({})));
        assert_eq!(value("---\n# only a comment\n---"), Some(json!({})));
    }

    #[test]
    fn text_that_is_not_front_matter_belongs_to_the_body() {
        assert_eq!(detect(b"----\na: 1\n----\n", 0), None);
        assert_eq!(detect(b"---\na: 1\n", 0), None, "no closing delimiter");
        assert_eq!(detect(b"---\n\nprose between two rules\n\n---\n", 0), None);
        assert_eq!(detect(b"---\n\n# Title\n\nNote: this is: prose\n\n---\n", 0), None);
        assert_eq!(detect(b" ---\na: 1\n---\n", 0), None);
        assert_eq!(detect(b"\n---\na: 1\n---\n", 0), None);
        assert_eq!(detect(b";;;\n[1]\n;;;\n", 0), None);
    }

    #[test]
    fn invalid_data_keeps_the_span_and_the_reason() {
        for text in [
            "---\na: [1\n---\n",
            "---\na: [1,\n2\nb: 1\n---\n",
            "---\n\t- a: b\n c: 1\n---\n",
            "---\na: 1\na: 2\n---\n",
            ";;;\n{\"a\": 1, \"b\": [{\"c\": 1, \"c\": 1}]}\n;;;\n",
            "+++\na\n+++\n",
            ";;;\n{\n;;;\n",
        ] {
            let found = detect(text.as_bytes(), 0).unwrap();
            assert_eq!(found.span, ByteSpan::new(0, text.len()));
            assert_eq!(found.value, None, "{text}");
            assert!(found.fault.is_some());
        }
    }

    #[test]
    fn values_are_bounded_with_aliases_of_aliases() {
        let mut text = String::from("---\na0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
        for level in 1..12 {
            let alias = format!("*a{}", level - 1);
            text += &format!("a{level}: &a{level} [{}]\n", [alias.as_str(); 10].join(","));
        }
        text += "---\n";
        let found = detect(text.as_bytes(), 0).unwrap();
        assert!(found.fault.unwrap().contains("front-matter-values"));
        let many = "0,".repeat(limits::MAX_FRONT_MATTER_VALUES);
        for text in [
            format!("---\na: [{many}]\n---\n"),
            format!("+++\na = [{many}]\n+++\n"),
            format!(";;;\n{{\"a\": [{many}0]}}\n;;;\n"),
        ] {
            let fault = detect(text.as_bytes(), 0).unwrap().fault.unwrap();
            assert!(fault.contains("front-matter-values"), "{fault}");
        }
        let deep = format!("---\na: {}{}\n---\n", "[".repeat(5000), "]".repeat(5000));
        assert!(detect(deep.as_bytes(), 0).unwrap().fault.is_some());
    }

    #[test]
    fn values_are_counted_alike_in_every_format() {
        let most = limits::MAX_FRONT_MATTER_VALUES;
        // The mapping, the list, and two values for each item.
        for (items, is_sound) in [((most - 2) / 2, true), (most / 2, false)] {
            let yaml = "- b: 1\n".repeat(items);
            let json = vec!["{\"b\": 1}"; items].join(",");
            let toml = vec!["{b = 1}"; items].join(",");
            for text in [
                format!("---\na:\n{yaml}---\n"),
                format!("+++\na = [{toml}]\n+++\n"),
                format!(";;;\n{{\"a\": [{json}]}}\n;;;\n"),
            ] {
                let found = detect(text.as_bytes(), 0).unwrap();
                assert_eq!(found.value.is_some(), is_sound, "{text:.12} {:?}", found.fault);
            }
        }
    }

    #[test]
    fn the_texts_that_aliases_copy_are_bounded() {
        let yaml = |text: &str| detect(format!("---\n{text}\n---\n").as_bytes(), 0).unwrap().fault;
        let long = "x".repeat(150_000);
        let few = format!("a: &a {long}\nb: [*a, *a]");
        assert_eq!(yaml(&few), None);
        let key = format!("a: &a {{ {long}: 1 }}\nb: [*a, *a, *a, *a, *a, *a, *a]");
        // The text of a key that is a mapping has a backslash for each quote and backslash in it.
        let keys = format!("{} x", "? ".repeat(40)).trim_end().to_owned();
        for text in [format!("a: &a {long}\nb:\n{}", "- *a\n".repeat(2500)), key, keys] {
            let fault = yaml(&text).unwrap();
            assert!(fault.contains("front-matter-text-bytes"), "{fault}");
        }
    }

    #[test]
    fn the_levels_of_collections_are_bounded_in_every_format() {
        let (open, close) = ("[".repeat(30), "]".repeat(30));
        let nested = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
        let yaml = |last: &str| {
            format!("---\na: &a {open}1{close}\nb: &b {open}*a{close}\nc: {last}\n---\n")
        };
        for (text, is_sound) in [
            (yaml("[[[*b]]]"), true),
            (yaml("[[[[*b]]]]"), false),
            (format!(";;;\n{{\"a\": {}}}\n;;;\n", nested(63)), true),
            (format!(";;;\n{{\"a\": {}}}\n;;;\n", nested(64)), false),
            (format!("+++\na = {}\n+++\n", nested(63)), true),
            (format!("+++\na = {}\n+++\n", nested(64)), false),
        ] {
            let found = detect(text.as_bytes(), 0).unwrap();
            let fault = found.fault.unwrap_or_default();
            assert_eq!(fault.contains("front-matter-depth"), !is_sound, "{text} {fault}");
            assert_eq!(found.value.is_some(), is_sound, "{text}");
        }
    }

    #[test]
    fn nothing_follows_the_mapping() {
        for text in [
            "  title: T\ndraft: true\n",
            "a: 1\n%x: 1\nb: 2\n",
            "a: 1\n--- x\nb: 2\n",
            "{a: 1}\nb: 2\n",
        ] {
            let found = detect(format!("---\n{text}---\n").as_bytes(), 0).unwrap();
            assert!(found.value.is_none() && found.fault.is_some(), "{text}");
        }
        for text in ["a: 1\n# b\n", "{a: 1} # b\n", "a: |\n  b\n\n"] {
            assert!(value(&format!("---\n{text}---\n")).is_some(), "{text}");
        }
        assert_eq!(detect(b"---\nprose\n%x: y\n---\n", 0), None);
    }

    #[test]
    fn comments_after_a_blank_line_are_headings() {
        assert_eq!(detect(b"---\n\n# hr\n\n## sub\n\n---\n\ntext\n", 0), None);
        for text in ["---\n# a\n---\n", "---\n\n---\n", "---\n\n# a\nb: 1\n---\n"] {
            assert!(detect(text.as_bytes(), 0).is_some(), "{text}");
        }
    }

    #[test]
    fn aliases_are_bounded() {
        let of = |count: usize| {
            let list: Vec<String> = (0..count).map(|number| number.to_string()).collect();
            value(&format!("---\nalias: x\naliases: [{}]\n---\n", list.join(","))).unwrap()
        };
        for (count, has_more) in [(limits::MAX_ALIASES - 1, false), (limits::MAX_ALIASES, true)] {
            let Value::Object(map) = of(count) else { panic!("no mapping") };
            assert_eq!((aliases(&map).len(), has_more_aliases(&map)), (1000, has_more));
        }
    }

    #[test]
    fn a_title_is_a_text_or_a_number() {
        for (text, expected) in [
            ("title: ' A '", Some("A")),
            ("title: 1984", Some("1984")),
            ("title: 2.50", Some("2.50")),
            ("title: [A]", None),
            ("title: ' '", None),
            ("name: A", None),
        ] {
            let found = detect(format!("---\n{text}\n---\n").as_bytes(), 0).unwrap();
            assert_eq!(title(&found.value.unwrap()).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn tags_may_be_lists_or_texts() {
        for (text, expected) in [
            ("tags: [One, two/Three, '#four', 5]", vec!["one", "two/three", "four", "5"]),
            ("tags: one two", vec!["one", "two"]),
            ("tags: one thing, two", vec!["one thing", "two"]),
            ("tag: Ünï\ntags: [ünï]", vec!["ünï"]),
            ("tags: {a: b}", vec![]),
            ("tags:", vec![]),
        ] {
            let file = format!("---\n{text}\n---\n");
            let found = detect(file.as_bytes(), 0).unwrap();
            assert_eq!(tags(&found.value.unwrap()), expected, "{text}");
        }
    }
}
