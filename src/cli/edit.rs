//! What all commands have in common that change documents.
//!
//! Invariant: such a command has the options of [`EditOptions`] besides its own, and prints in the formats of an edit.

use clap::Args;
use schemars::JsonSchema;

use super::args::{SectionArgs, WaitArgs};
use super::command::AnyCommand;
use super::described::{Described, schema_of};
use super::exit::Status;
use super::global::Global;
use super::store;
use crate::edit::plan::Allow;
use crate::edit::{self, BatchEdits, Edit, EditAnswer, EditReport, EditRequest, Operation};
use crate::error::Result;
use crate::output::{Answer, Format, edit_has};
use crate::query::{List, Outcome};

/// A change of documents, as the arguments of a command.
pub(super) trait EditArguments: Args {
    /// The answer as JSON. It determines the schema of the command.
    type Json: JsonSchema;

    /// See [`AnyCommand::addresses`].
    fn addresses(&mut self) -> Vec<&mut String>;

    /// Makes the change.
    fn run(&self, global: &Global, options: &EditOptions) -> Result<Status>;
}

/// Arguments of a command that changes documents.
#[derive(Debug, Args)]
pub(super) struct EditArgs<T: Args> {
    #[command(flatten)]
    arguments: T,
    #[command(flatten)]
    options: EditOptions,
}

/// Options that all edits have.
#[derive(Debug, Args)]
pub(super) struct EditOptions {
    /// Print the change as a diff, and write nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Edit only if the place, or the whole file, has this hash, which `read -f json` prints
    #[arg(long, value_name = "HASH")]
    pub(super) expect: Option<String>,
    #[command(flatten)]
    pub(super) wait: WaitArgs,
}

/// The place of an edit.
#[derive(Debug, Args)]
pub(super) struct EditPlaceArgs {
    #[command(flatten)]
    pub(super) section: SectionArgs,
    #[command(flatten)]
    pub(super) fuzzy: FuzzyArgs,
}

/// How exactly an edit names its place.
#[derive(Debug, Args)]
pub(super) struct FuzzyArgs {
    /// Accept a unique part of a title as the name of the section
    #[arg(long = "fuzzy", display_order = 100)]
    pub(super) is_fuzzy: bool,
}

impl<T: EditArguments> AnyCommand for EditArgs<T> {
    fn has(&self, format: Format) -> bool {
        edit_has(format, self.options.dry_run)
    }

    fn addresses(&mut self) -> Result<Vec<&mut String>> {
        Ok(self.arguments.addresses())
    }

    fn run(&self, global: &Global) -> Result<Status> {
        self.arguments.run(global, &self.options)
    }

    fn describe(name: &str, all: &mut Vec<Described>) {
        let schema = Some(schema_of::<T::Json> as fn() -> _);
        all.push(Described { schema, ..Described::new(name, |format| edit_has(format, true)) });
    }
}

/// Makes one edit.
pub(super) fn one(
    global: &Global,
    place: &EditPlaceArgs,
    operation: Operation,
    allow: Allow,
    options: &EditOptions,
) -> Result<Status> {
    let edit = Edit {
        document: None,
        section: place.section.place().clone(),
        operation,
        allow,
        expect: options.expect.clone(),
        is_fuzzy: place.fuzzy.is_fuzzy,
        origin: None,
    };
    run(global, place.section.document().map(String::as_str), vec![edit].into(), options, false)
}

/// Makes edits. `document` is the document of those that name none.
pub(super) fn run(
    global: &Global,
    document: Option<&str>,
    edits: BatchEdits,
    options: &EditOptions,
    is_batch: bool,
) -> Result<Status> {
    let BatchEdits { edits, problems, .. } = edits;
    let is_dry_run = options.dry_run;
    let answer =
        |report: Option<EditReport>, faults| EditAnswer::new(report, faults, is_batch, is_dry_run);
    let store = match store::store_to_edit(global) {
        // A batch that cannot be read is wrong for any store.
        Err(error) => return Err(problems.into_error().unwrap_or(error)),
        store => store?,
    };
    let request = EditRequest {
        store: &store,
        document: document.map(str::to_owned),
        expect: options.expect.clone().filter(|_| is_batch),
        edits,
        is_dry_run,
        is_refresh: global.refresh,
        wait: options.wait.duration(),
        confirm: &|report| global.check_fits(&answer(Some(report.clone()), Vec::new())),
    };
    let edited = match edit::refused_batch(&request, problems) {
        Some(refused) => Err(refused),
        None => edit::edit(&request),
    };
    let edited = edited.map_err(|error| {
        if is_batch { error.map_hints(|hint| global.in_batch(hint)) } else { error }
    });
    let answer = match edited? {
        Ok(report) => answer(Some(report), Vec::new()),
        Err(mut faults) => {
            for fault in &mut faults {
                global.restore_path(fault);
            }
            answer(None, faults)
        }
    };
    let is_changed = answer.report.as_ref().is_some_and(EditReport::is_change);
    let outcome = answer.outcome();
    let diff = is_dry_run.then_some(Format::Raw);
    print_edit(global, answer, outcome, diff, is_changed)
}

/// Prints the answer of an edit. `dry_run` is the default format of one that writes nothing.
pub(super) fn print_edit<A: Answer + List>(
    global: &Global,
    mut answer: A,
    outcome: Outcome,
    dry_run: Option<Format>,
    is_changed: bool,
) -> Result<Status> {
    let format = global.format.or(dry_run.filter(|_| outcome == Outcome::All));
    let printed = global.in_format(format).print_list(&mut answer);
    if is_changed && dry_run.is_none() {
        printed.map_err(|error| error.in_part("the files were changed; do not repeat the edit"))?;
    } else {
        printed?;
    }
    Ok(outcome.into())
}
