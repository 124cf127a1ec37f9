//! The JSON of edits.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;

use crate::address::AddressError;
use crate::edit::plan::{Renumbered, Reparented};
use crate::edit::{Done, EditAnswer, EditCommand, EditReport, EditedFile};
use crate::error::Warning;
use crate::query::links::broken::AffectedLink;
use crate::query::node::short_hash;
use crate::schema::serialize_as;

serialize_as!(EditAnswer => EditJson<'_>);

/// The answer of any command that edits.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum EditJson<'a> {
    Single(Box<Single<'a, EffectJson<'a>>>),
    Batch(Box<Batch<'a>>),
}

impl<'a> From<&'a EditAnswer> for EditJson<'a> {
    fn from(answer: &'a EditAnswer) -> Self {
        let Some(report) = &answer.report else {
            let no_place = NoPlace { success: false, unresolved_selectors: &answer.faults };
            return if answer.is_batch {
                Self::Batch(Box::new(Batch::NoPlace(no_place)))
            } else {
                Self::Single(Box::new(Single::NoPlace(no_place)))
            };
        };
        let rest = Rest::of(answer, report);
        if let ([done], [file], false) = (&*report.done, &*report.files, answer.is_batch) {
            let effect = EffectJson::of(answer, done);
            let (success, selector, changes) = (true, &*done.selector, Changes::of(answer, done));
            let file = file.into();
            let single = Single::Done { success, selector, effect, changes, file, rest };
            return Self::Single(Box::new(single));
        }
        let is_one_file = report.files.len() == 1;
        let edit = |done: &'a Done| {
            let file = (!is_one_file).then_some(&*done.file);
            BatchEdit::of(answer, done, file)
        };
        let (success, edits) = (true, answer.edits(report).iter().map(edit).collect());
        Self::Batch(Box::new(match &*report.files {
            [file] => Batch::Done { success, edits, file: file.into(), rest },
            files => {
                let files = files.get(..files.len() - rest.files_omitted).unwrap_or(files);
                let files = files.iter().map(FileJson::from).collect();
                Batch::Several { success, edits, files, rest }
            }
        }))
    }
}

/// The answer of a command that makes one edit, or why it made none.
#[expect(clippy::large_enum_variant, reason = "one value exists at a time")]
#[derive(JsonSchema, Serialize)]
#[serde(untagged)]
pub(crate) enum Single<'a, Effect> {
    Done {
        /// Always `true`.
        success: bool,
        /// The address of the place.
        selector: &'a str,
        #[serde(flatten)]
        effect: Effect,
        #[serde(flatten)]
        changes: Changes<'a>,
        #[serde(flatten)]
        file: FileJson<'a>,
        #[serde(flatten)]
        rest: Rest<'a>,
    },
    NoPlace(NoPlace<'a>),
}

/// The answer of a batch of edits, or why none was made.
#[derive(JsonSchema, Serialize)]
#[serde(untagged)]
pub(crate) enum Batch<'a> {
    Done {
        /// Always `true`.
        success: bool,
        /// The edits, in the order of the batch.
        edits: Vec<BatchEdit<'a>>,
        #[serde(flatten)]
        file: FileJson<'a>,
        #[serde(flatten)]
        rest: Rest<'a>,
    },
    Several {
        /// Always `true`.
        success: bool,
        /// The edits, in the order of the batch.
        edits: Vec<BatchEdit<'a>>,
        /// The files, in the order of their first edits.
        files: Vec<FileJson<'a>>,
        #[serde(flatten)]
        rest: Rest<'a>,
    },
    NoPlace(NoPlace<'a>),
}

/// One edit of a batch.
#[derive(JsonSchema, Serialize)]
#[serde(untagged)]
pub(crate) enum BatchEdit<'a> {
    Replace(OneEdit<'a, Replaced<'a>>),
    Insert(OneEdit<'a, Inserted<'a>>),
    Delete(OneEdit<'a, Deleted<'a>>),
}

/// One edit of a batch.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "{Effect}")]
pub(crate) struct OneEdit<'a, Effect> {
    /// The operation: `replace`, `insert`, `delete`, or a change of a task or of front matter.
    operation: &'a str,
    /// The path of the document, if the batch is of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    /// The address of the place.
    selector: &'a str,
    /// The key of front matter that it changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'a str>,
    #[serde(flatten)]
    effect: Effect,
    #[serde(flatten)]
    changes: Changes<'a>,
}

/// What an edit did to the place.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum EffectJson<'a> {
    Replaced(Replaced<'a>),
    Inserted(Inserted<'a>),
    Deleted(Deleted<'a>),
}

/// What `replace` did.
#[derive(JsonSchema, Serialize)]
pub(crate) struct Replaced<'a> {
    /// The content before the edit; `null` if it was left out.
    old_content: Option<Cow<'a, str>>,
    /// The first line of the place after the edit, 1-based.
    new_line_start: usize,
    /// Its last line.
    new_line_end: usize,
}

/// What `insert` did.
#[derive(JsonSchema, Serialize)]
#[expect(clippy::struct_field_names, reason = "they are the names in the JSON")]
pub(crate) struct Inserted<'a> {
    /// The first line of the new content, 1-based; `null` if a later edit removed it.
    inserted_at: Option<usize>,
    /// The address of the section, block or item that is the new content, or of its lines if it is not one of these;
    /// `null` if a later edit removed it.
    new_selector: Option<&'a str>,
    /// The slug path of the first new section, or of the section that contains the new content; `null` if there is none.
    new_section_path: Option<&'a String>,
}

/// What `delete` did.
#[derive(JsonSchema, Serialize)]
pub(crate) struct Deleted<'a> {
    /// The deleted content; `null` if it was left out.
    deleted_content: Option<Cow<'a, str>>,
    /// The first and the last line that were deleted, 1-based.
    deleted_lines: [usize; 2],
}

/// What an edit did beyond the place.
#[derive(JsonSchema, Serialize)]
pub(crate) struct Changes<'a> {
    /// The slug paths of the sections that are gone; at most 20.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    removed_sections: &'a [String],
    /// The number of these sections, if not all are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    removed_sections_total: Option<usize>,
    /// The sections that have another parent now.
    #[serde(skip_serializing_if = "<[Reparented]>::is_empty")]
    reparented: &'a [Reparented],
    /// The link definitions that were kept because other text uses them.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    kept_definitions: &'a [String],
    /// The sections whose anchor or path has another number now, those first to which links lead; at most 20.
    #[serde(skip_serializing_if = "<[Renumbered]>::is_empty")]
    renumbered: &'a [Renumbered],
    /// The number of these sections, if not all are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    renumbered_total: Option<usize>,
    /// The old content contains bytes that are not UTF-8.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    lossy: bool,
    /// The content began with the heading of the section, which was not doubled.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stripped_heading: bool,
    /// The bytes of the file did not change.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unchanged: bool,
}

impl<'a> BatchEdit<'a> {
    fn of(answer: &EditAnswer, done: &'a Done, file: Option<&'a str>) -> Self {
        let effect = EffectJson::of(answer, done);
        let (operation, selector, key) =
            (done.command.name(), &*done.selector, done.key.as_deref());
        let changes = Changes::of(answer, done);
        match effect {
            EffectJson::Replaced(effect) => {
                Self::Replace(OneEdit { operation, file, selector, key, effect, changes })
            }
            EffectJson::Inserted(effect) => {
                Self::Insert(OneEdit { operation, file, selector, key, effect, changes })
            }
            EffectJson::Deleted(effect) => {
                Self::Delete(OneEdit { operation, file, selector, key, effect, changes })
            }
        }
    }
}

impl<'a> EffectJson<'a> {
    fn of(answer: &EditAnswer, done: &'a Done) -> Self {
        let old = answer.old_content(done);
        match done.command {
            EditCommand::Insert => Self::Inserted(Inserted {
                inserted_at: done.new_selector.as_ref().map(|_| done.new_lines.start),
                new_selector: done.new_selector.as_deref(),
                new_section_path: done.new_section_path.as_ref(),
            }),
            EditCommand::Delete => Self::Deleted(Deleted {
                deleted_content: old,
                deleted_lines: [done.old_lines.start, done.old_lines.end],
            }),
            EditCommand::Replace | EditCommand::Task | EditCommand::Meta => {
                Self::Replaced(Replaced {
                    old_content: old,
                    new_line_start: done.new_lines.start,
                    new_line_end: done.new_lines.end,
                })
            }
        }
    }
}

impl<'a> Changes<'a> {
    fn of(answer: &EditAnswer, done: &'a Done) -> Self {
        let has_old = done.command != EditCommand::Insert && answer.most_chars != Some(0);
        let removed = &done.effects.removed_sections;
        Self {
            removed_sections: answer.listed(removed),
            removed_sections_total: Some(removed.len())
                .filter(|total| *total > answer.listed(removed).len()),
            reparented: &done.effects.reparented,
            kept_definitions: &done.effects.kept_definitions,
            renumbered: answer.renumbered(done),
            renumbered_total: Some(done.effects.renumbered.len())
                .filter(|total| *total > answer.renumbered(done).len()),
            lossy: has_old && std::str::from_utf8(&done.old_content).is_err(),
            stripped_heading: done.effects.stripped_heading,
            unchanged: done.effects.is_noop,
        }
    }
}

/// A file that was edited.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "EditedFile")]
pub(crate) struct FileJson<'a> {
    /// The path of the document.
    file: &'a str,
    /// The hash of the file before the edit.
    hash_before: String,
    /// The hash of the file after the edit.
    hash_after: String,
}

impl<'a> From<&'a EditedFile> for FileJson<'a> {
    fn from(file: &'a EditedFile) -> Self {
        let EditedFile { file, before, after } = file;
        Self { file, hash_before: short_hash(before), hash_after: short_hash(after) }
    }
}

/// What an answer says of all files.
#[derive(JsonSchema, Serialize)]
pub(crate) struct Rest<'a> {
    /// The number of edits that were left out of the list to keep to a budget. They were made, too.
    #[serde(skip_serializing_if = "crate::schema::is_zero")]
    edits_omitted: usize,
    /// The number of files that were left out with their edits.
    #[serde(skip_serializing_if = "crate::schema::is_zero")]
    files_omitted: usize,
    /// The links of other documents that lead nowhere now.
    #[serde(skip_serializing_if = "<[AffectedLink]>::is_empty")]
    broken_links: &'a [AffectedLink],
    /// The number of these links, if not all are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    broken_links_total: Option<usize>,
    /// The links that lead to another section now, because their section has another anchor.
    #[serde(skip_serializing_if = "<[AffectedLink]>::is_empty")]
    redirected_links: &'a [AffectedLink],
    /// The number of these links, if not all are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    redirected_links_total: Option<usize>,
    /// The old content was left out to keep to a budget.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    content_omitted: bool,
    /// The old content or the diff was shortened to keep to a budget.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    /// Nothing was written.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    dry_run: bool,
    /// What a dry run would change, as a unified diff.
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
    /// Warnings.
    #[serde(skip_serializing_if = "<[Warning]>::is_empty")]
    warnings: &'a [Warning],
}

impl<'a> Rest<'a> {
    fn of(answer: &'a EditAnswer, report: &'a EditReport) -> Self {
        let diff = || String::from_utf8_lossy(answer.diff()).into_owned();
        let total = |all: &[AffectedLink]| {
            Some(all.len()).filter(|total| *total > answer.listed(all).len())
        };
        let edits = answer.edits(report);
        let edits_omitted = report.done.len() - edits.len();
        let is_listed = |file: &EditedFile| edits.iter().any(|done| done.file == file.file);
        let omitted = report.files.iter().rev().take_while(|file| !is_listed(file)).count();
        Self {
            edits_omitted,
            files_omitted: if edits_omitted > 0 { omitted } else { 0 },
            broken_links: answer.listed(&report.broken_links),
            broken_links_total: total(&report.broken_links),
            redirected_links: answer.listed(&report.redirected_links),
            redirected_links_total: total(&report.redirected_links),
            content_omitted: answer.most_chars == Some(0),
            truncated: answer.is_cut(),
            dry_run: answer.is_dry_run,
            diff: answer.is_dry_run.then(diff),
            warnings: &report.warnings,
        }
    }
}

/// Why no edit was made.
#[derive(JsonSchema, Serialize)]
pub(crate) struct NoPlace<'a> {
    /// Always `false`.
    success: bool,
    /// The places that were not found.
    unresolved_selectors: &'a [AddressError],
}
