//! `delete`: its arguments and its request.

use clap::Args;

use super::edit::{EditArguments, EditOptions, EditPlaceArgs, one};
use super::exit::Status;
use super::global::Global;
use crate::edit::Operation;
use crate::edit::plan::{Allow, ContentChange, EditScope};
use crate::error::Result;
use crate::output::forms::edit_json::{Deleted, Single};

/// Arguments of `delete`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: mdsel delete guide 'Install/From source' --dry-run",
    mut_arg("section", |section| section.help("The place to delete, with everything below it"))
)]
pub(super) struct DeleteArgs {
    #[command(flatten)]
    place: EditPlaceArgs,
    /// Keep child sections; they belong to another section afterwards
    #[arg(long)]
    no_children: bool,
    /// Allow the sections that follow to belong to another section
    #[arg(long)]
    allow_escape: bool,
    /// Allow titles, links or blocks outside the place to change
    #[arg(long)]
    allow_change: bool,
}

impl EditArguments for DeleteArgs {
    type Json = Single<'static, Deleted<'static>>;

    fn addresses(&mut self) -> Vec<&mut String> {
        vec![&mut self.place.section.first]
    }

    fn run(&self, global: &Global, options: &EditOptions) -> Result<Status> {
        let operation = Operation::Content(ContentChange::Delete {
            scope: EditScope::without_children(self.no_children),
        });
        let allow =
            Allow { escape: self.allow_escape, change: self.allow_change, ..Allow::default() };
        one(global, &self.place, operation, allow, options)
    }
}
