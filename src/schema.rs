//! Types whose JSON is that of another type, and fields that JSON leaves out.
//!
//! Invariant: the schema of a type describes what its `Serialize` writes, because both come from the same type; a
//! test validates every answer of the test suite.

/// Returns whether `count` is left out of JSON.
pub(crate) fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Gives `$type` the JSON of `$json`, which is made from a reference to it, and the schema of that JSON.
macro_rules! json_as {
    ($type:ty => $json:ty) => {
        $crate::schema::serialize_as!($type => $json);
        $crate::schema::schema_as!($type => $json);
    };
}

/// Gives `$type` the JSON of `$json`, which is made from a reference to it.
macro_rules! serialize_as {
    ($type:ty => $json:ty) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serde::Serialize::serialize(&<$json>::from(self), serializer)
            }
        }
    };
}

/// Gives `$type` the schema of `$json`.
macro_rules! schema_as {
    ($type:ty => $json:ty) => {
        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                <$json as schemars::JsonSchema>::schema_name()
            }

            fn schema_id() -> std::borrow::Cow<'static, str> {
                <$json as schemars::JsonSchema>::schema_id()
            }

            fn inline_schema() -> bool {
                <$json as schemars::JsonSchema>::inline_schema()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                <$json as schemars::JsonSchema>::json_schema(generator)
            }
        }
    };
}

pub(crate) use {json_as, schema_as, serialize_as};
