//! Deserializes JSON objects that people and models write.
//!
//! Invariant: an error about a field names it.

use serde::de::DeserializeOwned;
use serde_json::Value;

/// Deserializes `object`. The error is a message.
pub(crate) fn from_object<T: DeserializeOwned>(object: &Value) -> Result<T, String> {
    let parsed = |object: &Value| T::deserialize(object).map_err(|error| error.to_string());
    parsed(object).map_err(|error| {
        if error.starts_with("missing field") {
            return error;
        }
        // serde does not say at which field it failed: it is the one without which it fails otherwise.
        let is_at = |name: &&String| {
            let mut others = object.clone();
            others.as_object_mut().and_then(|others| others.shift_remove(*name));
            parsed(&others).err().as_ref() != Some(&error)
        };
        match object.as_object().and_then(|object| object.keys().find(is_at)) {
            Some(name) => format!("{name}: {error}"),
            None => error,
        }
    })
}
