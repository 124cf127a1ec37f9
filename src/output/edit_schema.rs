//! The JSON Schemas of the answers of edits, whose JSON `forms/edit.rs` writes.

#![expect(dead_code, reason = "only the schemas of the types are used")]
#![expect(clippy::large_enum_variant, reason = "no value of the types exists")]

use schemars::JsonSchema;
use serde::Serialize;

use crate::address::AddressError;
use crate::edit::plan::Renumbered;
use crate::error::Warning;
use crate::query::links::broken::AffectedLink;

/// The answer of a command that makes one edit, or why it made none.
#[derive(JsonSchema)]
#[schemars(untagged)]
pub(crate) enum Single<Effect> {
    Done {
        /// The address of the place.
        selector: String,
        #[schemars(flatten)]
        effect: Effect,
        #[schemars(flatten)]
        changes: Changes,
        #[schemars(flatten)]
        file: File,
    },
    NoPlace(NoPlace),
}

/// The answer of a batch of edits, or why none was made.
#[derive(JsonSchema)]
#[schemars(untagged)]
pub(crate) enum Batch {
    Done {
        /// The edits, in the order of the batch.
        edits: Vec<OneOrManyEdits>,
        #[schemars(flatten)]
        file: File,
    },
    Several {
        /// The edits, in the order of the batch.
        edits: Vec<OneOrManyEdits>,
        /// The files, in the order of their first edits.
        files: Vec<EditedHashes>,
        #[schemars(flatten)]
        rest: Rest,
    },
    NoPlace(NoPlace),
}

/// One edit of a batch.
#[derive(JsonSchema)]
#[schemars(untagged)]
pub(crate) enum OneOrManyEdits {
    Replace(OneOf<Replaced>),
    Insert(OneOf<Inserted>),
    Delete(OneOf<Deleted>),
}

/// One edit of a batch.
#[derive(JsonSchema)]
#[schemars(rename = "{Effect}")]
pub(crate) struct OneOf<Effect> {
    /// The operation: `replace`, `insert`, `delete`, or a change of a task or of front matter.
    operation: String,
    /// The path of the document, if the batch is of several.
    #[schemars(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// The address of the place.
    selector: String,
    #[schemars(flatten)]
    effect: Effect,
    #[schemars(flatten)]
    changes: Changes,
}

/// What `replace` did.
#[derive(JsonSchema)]
pub(crate) struct Replaced {
    /// The content before the edit; `null` if it was left out.
    old_content: Option<String>,
    /// The first line of the place after the edit, 1-based.
    new_line_start: usize,
    /// Its last line.
    new_line_end: usize,
}

/// What `insert` did.
#[derive(JsonSchema)]
pub(crate) struct Inserted {
    /// The first line of the new content, 1-based.
    inserted_at: usize,
    /// The slug path of the first new section; `null` if the content has none.
    new_section_path: Option<String>,
}

/// What `delete` did.
#[derive(JsonSchema)]
pub(crate) struct Deleted {
    /// The deleted content; `null` if it was left out.
    deleted_content: Option<String>,
    /// The first and the last line that were deleted, 1-based.
    deleted_lines: [usize; 2],
}

/// What an edit did beyond the place.
#[derive(JsonSchema)]
pub(crate) struct Changes {
    /// The slug paths of the sections that are gone.
    #[schemars(skip_serializing_if = "Option::is_none")]
    removed_sections: Option<Vec<String>>,
    /// The sections that have another parent now.
    #[schemars(skip_serializing_if = "Option::is_none")]
    reparented: Option<Vec<Reparented>>,
    /// The link definitions that were kept because other text uses them.
    #[schemars(skip_serializing_if = "Option::is_none")]
    kept_definitions: Option<Vec<String>>,
    /// The sections whose anchor has another number now.
    #[schemars(skip_serializing_if = "Option::is_none")]
    renumbered: Option<Vec<Renumbered>>,
    /// The old content contains bytes that are not UTF-8.
    #[schemars(skip_serializing_if = "Option::is_none")]
    lossy: Option<bool>,
    /// The content began with the heading of the section, which was not doubled.
    #[schemars(skip_serializing_if = "Option::is_none")]
    stripped_heading: Option<bool>,
    /// The bytes of the file did not change.
    #[schemars(skip_serializing_if = "Option::is_none")]
    unchanged: Option<bool>,
}

/// A section that has another parent.
#[derive(JsonSchema)]
pub(crate) struct Reparented {
    /// Its slug path before the edit.
    from: String,
    /// Its slug path after the edit.
    to: String,
}

// What an answer says of the file.
#[derive(JsonSchema)]
pub(crate) struct File {
    #[schemars(flatten)]
    hashes: EditedHashes,
    #[schemars(flatten)]
    rest: Rest,
}

/// A file that was edited.
#[derive(JsonSchema, Serialize)]
pub(crate) struct EditedHashes {
    /// The path of the document.
    pub(crate) file: String,
    /// The hash of the file before the edit.
    pub(crate) hash_before: String,
    /// The hash of the file after the edit.
    pub(crate) hash_after: String,
}

// What an answer says of all files.
#[derive(JsonSchema)]
pub(crate) struct Rest {
    /// Whether the edit was made.
    success: bool,
    /// The links of other documents that lead nowhere now.
    #[schemars(skip_serializing_if = "Option::is_none")]
    broken_links: Option<Vec<AffectedLink>>,
    /// The links that lead to another section now, because their section has another anchor.
    #[schemars(skip_serializing_if = "Option::is_none")]
    redirected_links: Option<Vec<AffectedLink>>,
    /// The old content was left out to keep to a budget.
    #[schemars(skip_serializing_if = "Option::is_none")]
    content_omitted: Option<bool>,
    /// Nothing was written.
    #[schemars(skip_serializing_if = "Option::is_none")]
    dry_run: Option<bool>,
    /// What a dry run would change, as a unified diff.
    #[schemars(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
    /// Warnings.
    #[schemars(skip_serializing_if = "Option::is_none")]
    warnings: Option<Vec<Warning>>,
}

/// Why no edit was made.
#[derive(JsonSchema)]
pub(crate) struct NoPlace {
    /// Always `false`.
    success: bool,
    /// The places that were not found.
    unresolved_selectors: Vec<AddressError>,
}
