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
        let plain = in_plain_words(&error);
        match object.as_object().and_then(|object| object.keys().find(is_at)) {
            Some(name) => format!("{name}: {plain}"),
            None => plain,
        }
    })
}

/// Returns an error of serde without the names of Rust.
fn in_plain_words(error: &str) -> String {
    let choices = error.strip_prefix("unknown variant ").map(|rest| {
        rest.replacen(", expected one of ", " is not one of ", 1).replacen(
            ", expected ",
            " is not ",
            1,
        )
    });
    let count = || {
        let start = ["usize", "u64", "u32"]
            .iter()
            .find_map(|name| error.strip_suffix(name)?.strip_suffix("expected "));
        start.map(|start| format!("{start}expected a whole number, 0 or more"))
    };
    choices.or_else(count).unwrap_or_else(|| error.to_owned())
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::from_object;

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Kind {
        One,
        Two,
        Three,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only errors are tested")]
    struct Object {
        kind: Option<Kind>,
        count: Option<usize>,
    }

    #[test]
    fn errors_have_no_words_of_rust() {
        let error = |object| from_object::<Object>(&object).unwrap_err();
        assert_eq!(error(json!({"kind": "x"})), "kind: `x` is not one of `one`, `two`, `three`");
        let number = "expected a whole number, 0 or more";
        assert_eq!(
            error(json!({"count": -1})),
            format!("count: invalid value: integer `-1`, {number}")
        );
        assert!(error(json!({"count": "x"})).ends_with(number));
        assert!(error(json!({"other": 1})).contains("unknown field `other`"));
    }
}
