//! `replace`: its arguments and its request.

use clap::Args;

use super::content::ContentArgs;
use super::edit::{EditArguments, EditOptions, EditPlaceArgs, one};
use super::exit::Status;
use super::global::Global;
use crate::edit::Operation;
use crate::edit::plan::{Allow, ContentChange, EditScope};
use crate::error::Result;
use crate::output::forms::edit_json::{Replaced, Single};

/// Arguments of `replace`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: mdsel replace guide Options --content 'There are none.'",
    mut_arg("section", |section| section.help(
        "The place in the document: a slug path, an exact title, @LINE, a selector, @frontmatter or ldmd:ID"
    )),
    mut_arg("content", |content| content.help("Use TEXT as the new content; '' empties the place"))
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command")]
pub(super) struct ReplaceArgs {
    #[command(flatten)]
    place: EditPlaceArgs,
    /// Replace only this text, which must occur in the place exactly once
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    old: Option<String>,
    #[command(flatten)]
    content: ContentArgs,
    /// Keep child sections, or the nested lists of a list item, as they are
    #[arg(long)]
    no_children: bool,
    /// Replace the heading, too
    #[arg(long, conflicts_with = "old")]
    no_keep_heading: bool,
    /// Allow sections that the content lacks to disappear
    #[arg(long)]
    allow_drop: bool,
    /// Allow headings of the content to leave the section
    #[arg(long)]
    allow_escape: bool,
    /// Allow titles, links or blocks outside the place to change
    #[arg(long)]
    allow_change: bool,
}

impl EditArguments for ReplaceArgs {
    type Json = Single<'static, Replaced<'static>>;

    fn addresses(&mut self) -> Vec<&mut String> {
        vec![&mut self.place.section.first]
    }

    fn run(&self, global: &Global, options: &EditOptions) -> Result<Status> {
        let scope = EditScope::without_children(self.no_children);
        let operation = match &self.old {
            Some(old) => Operation::replace_text(old.clone(), self.content.replacing(old)?, scope)?,
            None => Operation::Content(ContentChange::Replace {
                content: self.content.bytes(true)?,
                scope,
                keep_heading: !self.no_keep_heading,
            }),
        };
        let allow = Allow {
            drop: self.allow_drop,
            escape: self.allow_escape,
            change: self.allow_change,
            duplicate: false,
        };
        one(global, &self.place, operation, allow, options)
    }
}
