//! `insert`: its arguments and its request.

use clap::{Args, ValueEnum};

use super::content::ContentArgs;
use super::edit::{EditArguments, EditOptions, EditPlaceArgs, one};
use super::exit::Status;
use super::global::Global;
use crate::edit::Operation;
use crate::edit::plan::{Allow, ContentChange, Position};
use crate::error::Result;
use crate::output::forms::edit_json::{Inserted, Single};

/// Arguments of `insert`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: mdsel insert guide Install --position last_child --content-file new.md",
    mut_arg("section", |section| section.help("The place next to or below which to insert"))
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command")]
pub(super) struct InsertArgs {
    #[command(flatten)]
    place: EditPlaceArgs,
    #[command(flatten)]
    content: ContentArgs,
    /// Insert the content at this position
    #[arg(long, value_enum, default_value_t = PositionName::After)]
    position: PositionName,
    /// Shift the levels of its headings to fit the place
    #[arg(long)]
    relevel: bool,
    /// Allow its headings to take over the sections that follow
    #[arg(long)]
    allow_escape: bool,
    /// Allow inserting next to an identical section
    #[arg(long)]
    allow_duplicate: bool,
    /// Allow titles, links or blocks outside the place to change
    #[arg(long)]
    allow_change: bool,
}

/// A position relative to a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(super) enum PositionName {
    /// Before the section
    Before,
    /// After the section and its subsections
    After,
    /// After its own text, before its first subsection
    FirstChild,
    /// After its last subsection
    LastChild,
}

impl From<PositionName> for Position {
    fn from(name: PositionName) -> Self {
        match name {
            PositionName::Before => Self::Before,
            PositionName::After => Self::After,
            PositionName::FirstChild => Self::FirstChild,
            PositionName::LastChild => Self::LastChild,
        }
    }
}

impl EditArguments for InsertArgs {
    type Json = Single<'static, Inserted<'static>>;

    fn addresses(&mut self) -> Vec<&mut String> {
        vec![&mut self.place.section.first]
    }

    fn run(&self, global: &Global, options: &EditOptions) -> Result<Status> {
        let operation = Operation::Content(ContentChange::Insert {
            content: self.content.bytes(false)?,
            position: self.position.into(),
            relevel: self.relevel,
        });
        let allow = Allow {
            drop: false,
            escape: self.allow_escape,
            change: self.allow_change,
            duplicate: self.allow_duplicate,
        };
        one(global, &self.place, operation, allow, options)
    }
}
