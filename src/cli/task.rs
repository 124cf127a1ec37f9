//! `task`: its arguments and its request.

use clap::{ArgGroup, Args};

use super::edit::{EditArguments, EditOptions, EditPlaceArgs, one};
use super::exit::Status;
use super::global::Global;
use crate::edit::Operation;
use crate::edit::plan::Allow;
use crate::error::Result;
use crate::output::forms::edit_json::{Replaced, Single};

/// Arguments of `task`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: mdsel task containers.md:31 --done",
    group(ArgGroup::new("state").args(["done", "open"]).required(true)),
    mut_arg("section", |section| section.help("The task in the document: its text, its line or its address")),
    mut_arg("is_fuzzy", |fuzzy| fuzzy.help("Accept a unique part of the text as the name of the task"))
)]
pub(super) struct TaskArgs {
    #[command(flatten)]
    place: EditPlaceArgs,
    /// Mark the task as done
    #[arg(long)]
    done: bool,
    /// Mark the task as open
    #[arg(long)]
    open: bool,
}

impl EditArguments for TaskArgs {
    type Json = Single<'static, Replaced<'static>>;

    fn addresses(&mut self) -> Vec<&mut String> {
        vec![&mut self.place.section.first]
    }

    fn run(&self, global: &Global, options: &EditOptions) -> Result<Status> {
        let operation = Operation::Mark { is_done: self.done };
        one(global, &self.place, operation, Allow::default(), options)
    }
}
