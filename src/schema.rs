//! JSON Schemas of answers whose JSON is written by hand.
//!
//! Invariant: the schema of a type describes what its `Serialize` writes; a test validates every answer of the
//! test suite.

/// Gives `$type` the schema of `$shape`, a type that is only declared for it.
macro_rules! schema_as {
    ([$generic:ident] $type:ty => $shape:ty) => {
        schema_as!(@ (<$generic: schemars::JsonSchema>) $type => $shape);
    };
    (@ ($($generics:tt)*) $type:ty => $shape:ty) => {
        impl $($generics)* schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                <$shape as schemars::JsonSchema>::schema_name()
            }

            fn schema_id() -> std::borrow::Cow<'static, str> {
                <$shape as schemars::JsonSchema>::schema_id()
            }

            fn inline_schema() -> bool {
                <$shape as schemars::JsonSchema>::inline_schema()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                <$shape as schemars::JsonSchema>::json_schema(generator)
            }
        }
    };
    ($type:ty => $shape:ty) => {
        schema_as!(@ () $type => $shape);
    };
}

pub(crate) use schema_as;
