//! What the program says about a command without running it.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::output::{Answer, Format};

/// A command without its arguments.
pub(super) struct Described {
    /// The name, after that of its group.
    pub(super) name: String,
    /// Returns whether the command can print in a format, with some arguments.
    pub(super) has: fn(Format) -> bool,
    /// The schema of the answer; `None` if the command prints something else.
    pub(super) schema: Option<fn() -> Schema>,
    /// The options of all commands that have no meaning for it.
    pub(super) refused_options: &'static [RefusedOptions],
}

impl Described {
    /// Returns the description of a command that prints in the formats of `has`.
    pub(super) fn new(name: &str, has: fn(Format) -> bool) -> Self {
        Self { name: name.to_owned(), has, schema: None, refused_options: &[] }
    }
}

/// Returns whether answers of the type `A` can be printed in `format`.
pub(super) fn has<A: Answer>(format: Format) -> bool {
    Format::COMMON.contains(&format) || A::FORMATS.contains(&format)
}

/// Returns the description of the command `name` with answers of the type `A`.
pub(super) fn described<A: Answer + JsonSchema>(name: &str) -> Described {
    Described { schema: Some(schema_of::<A>), ..Described::new(name, has::<A>) }
}

/// Returns the JSON Schema of a type.
pub(super) fn schema_of<T: JsonSchema>() -> Schema {
    let generator: SchemaGenerator =
        SchemaSettings::draft2020_12().for_serialize().into_generator();
    generator.into_root_schema_for::<T>()
}

/// Returns the name of the command `name` of the group `group`, or of no group.
pub(super) fn name_in(group: &str, name: &str) -> String {
    let name = name.to_lowercase();
    if group.is_empty() { name } else { format!("{group} {name}") }
}

/// The options that say how an answer is printed.
pub(super) const OUTPUT: [&str; 7] =
    ["format", "max_chars", "max_bytes", "max_tokens", "pretty", "compact", "color"];
/// The options that say which store is read.
pub(super) const STORE: [&str; 3] = ["db", "root", "refresh"];

/// Options of all commands that have no meaning for a command.
pub(super) struct RefusedOptions {
    /// The names of the options, with underscores.
    pub(super) options: &'static [&'static str],
    /// What the command does instead.
    pub(super) reason: &'static str,
    /// What to do; empty to leave out the option.
    pub(super) hint: &'static str,
}
