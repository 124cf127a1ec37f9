//! The values of front matter, one row for each key, and their types.
//!
//! Invariant: the rows depend only on the JSON in which front matter is stored.

use serde_json::{Map, Value};

use crate::data::scalar;
use crate::hash::first_bytes;
use crate::markdown::slug::fold;

/// The value of one key of the front matter of a document.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ValueRow {
    /// The key, case-folded.
    pub(crate) key: String,
    /// The key as it is written.
    pub(crate) name: String,
    /// The name of the type of the value.
    pub(crate) type_name: &'static str,
    /// The value as JSON.
    pub(crate) value: String,
}

impl ValueRow {
    /// Returns a hash of the row as it is stored, for comparing tables.
    pub(crate) fn hash(key: &str, name: &str, type_name: &str, value: &str) -> u64 {
        let mut fields = super::checksums::ChecksumInput::default();
        for text in [key, name, type_name, value] {
            fields.text(text);
        }
        first_bytes(&fields.hash()).cast_unsigned()
    }

    /// Returns the hash of this row.
    pub(crate) fn own_hash(&self) -> u64 {
        Self::hash(&self.key, &self.name, self.type_name, &self.value)
    }
}

/// Returns the rows of front matter, stored as JSON; `None` if it is damaged.
pub(crate) fn of(front_matter: Option<&str>) -> Option<Vec<ValueRow>> {
    let map: Option<Map<String, Value>> =
        front_matter.map(serde_json::from_str).transpose().ok()?;
    let rows = map.unwrap_or_default().into_iter().map(|(name, value)| ValueRow {
        key: fold(&name),
        type_name: type_name(&value),
        value: value.to_string(),
        name,
    });
    Some(rows.collect())
}

/// Returns the name of the type of a value. A string that is a date is a date.
fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(text) if scalar::type_name(text) == "date" => "date",
        Value::String(_) => "string",
        Value::Array(_) => "list",
        Value::Object(_) => "map",
    }
}
