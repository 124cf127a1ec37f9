//! `rename` and `move`: their arguments and their requests.

use std::time::Duration;

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use super::args::{EditOptions, Global};
use super::completions::{documents, sections};
use super::{Status, store};
use crate::edit::{RelocateAnswer, RelocateRequest, Relocation, new_path, relocate};
use crate::error::Result;
use crate::output::Format;
use crate::query::Outcome;

/// Arguments of `rename`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel rename guide Install --title Installation --dry-run")]
pub(super) struct RenameArgs {
    /// The document; or the whole address of the section, without SECTION
    #[arg(value_name = "DOC|ADDRESS", add = ArgValueCompleter::new(documents))]
    pub(super) first: String,
    /// The section in the document
    #[arg(value_name = "SECTION", add = ArgValueCompleter::new(sections))]
    pub(super) section: Option<String>,
    /// The new title
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(super) title: String,
    /// Leave all links as they are
    #[arg(long)]
    pub(super) no_links: bool,
    #[command(flatten)]
    pub(super) options: EditOptions,
}

/// Arguments of `move`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel move guide.md docs/guide.md --dry-run")]
pub(super) struct MoveArgs {
    /// The document
    #[arg(value_name = "DOC", add = ArgValueCompleter::new(documents))]
    pub(super) document: String,
    /// The new path, which must not exist: below the root; as seen from here if it begins with ./ or ../
    #[arg(value_name = "PATH")]
    pub(super) path: String,
    /// Leave all links as they are
    #[arg(long)]
    pub(super) no_links: bool,
    #[command(flatten)]
    pub(super) options: EditOptions,
}

pub(super) fn rename(global: &Global, arguments: &RenameArgs) -> Result<Status> {
    let relocation = Relocation::Rename {
        document: arguments.section.is_some().then(|| arguments.first.clone()),
        section: arguments.section.as_ref().unwrap_or(&arguments.first).clone(),
        title: arguments.title.clone(),
        is_fuzzy: arguments.options.fuzzy,
    };
    run(global, relocation, arguments.no_links, &arguments.options)
}

pub(super) fn move_document(global: &Global, arguments: &MoveArgs) -> Result<Status> {
    let root = store::store(global)?.reader(crate::store::Purpose::Read)?.root().to_owned();
    let path = new_path(&root, &store::current_folder()?, &arguments.path)?;
    let relocation = Relocation::Move { document: arguments.document.clone(), path };
    run(global, relocation, arguments.no_links, &arguments.options)
}

fn run(
    global: &Global,
    relocation: Relocation,
    keeps_links: bool,
    options: &EditOptions,
) -> Result<Status> {
    let is_dry_run = options.dry_run;
    let request = RelocateRequest {
        store: &store::store(global)?,
        relocation,
        keeps_links,
        expect: options.expect.clone(),
        is_dry_run,
        is_refresh: global.refresh,
        wait: Duration::from_secs(options.wait),
        confirm: &|report| global.check_fits(&RelocateAnswer::of(report, is_dry_run)),
    };
    let (answer, is_changed) = match relocate(&request)? {
        Ok(report) => (RelocateAnswer::of(&report, is_dry_run), !report.files.is_empty()),
        Err(fault) => (RelocateAnswer::fault(fault), false),
    };
    // The answer of `--dry-run` is a diff by default.
    let is_diff = is_dry_run && global.format.is_none() && answer.outcome() == Outcome::All;
    let format = if is_diff { Some(Format::Raw) } else { global.format };
    let printed = Global { format, ..global.clone() }.print_list(&answer);
    if is_changed && !is_dry_run {
        printed.map_err(|error| error.in_part("the files were changed; do not repeat the edit"))?;
    } else {
        printed?;
    }
    Ok(answer.outcome().into())
}
