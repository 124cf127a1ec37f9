//! `rename` and `move`: their arguments and their requests.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use super::completers::{addresses, documents};
use super::edit::{EditArguments, EditOptions, EditPlaceArgs, FuzzyArgs, print_edit};
use super::exit::Status;
use super::global::Global;
use super::insert::PositionName;
use super::paths::new_path;
use super::store;
use crate::edit::plan::Allow;
use crate::edit::{RelocateAnswer, RelocateRequest, Relocation, SectionRelocation, relocate};
use crate::error::Result;
use crate::output::Format;
use crate::query::List as _;

/// Arguments of `rename`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel rename guide Install --title Installation --dry-run")]
pub(super) struct RenameArgs {
    #[command(flatten)]
    place: EditPlaceArgs,
    /// The new title
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    title: String,
    /// Leave all links as they are
    #[arg(long)]
    no_links: bool,
}

/// Arguments of `move`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples: mdsel move guide.md docs/guide.md --dry-run\n          \
                  mdsel move guide::heading:h2[0] --to links::* --position last_child --dry-run",
    mut_arg("is_fuzzy", |fuzzy| fuzzy.requires("to"))
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command")]
pub(super) struct MoveArgs {
    /// The document; with --to the document or the address of a section
    #[arg(value_name = "DOC|ADDRESS", add = ArgValueCompleter::new(documents))]
    first: String,
    /// The new path, relative to the root, or to the current folder if it begins with ./ or ../; it must not exist.
    /// With --to the section in the document
    #[arg(value_name = "PATH|SECTION", required_unless_present = "to")]
    second: Option<String>,
    /// Move the section next to this place, in its document or in another one
    #[arg(long, value_name = "ADDRESS", add = ArgValueCompleter::new(addresses))]
    to: Option<String>,
    /// Where the section goes, relative to that place
    #[arg(long, value_enum, value_name = "POSITION", default_value = "after", requires = "to")]
    position: PositionName,
    /// Shift the levels of the headings to fit the place
    #[arg(long, requires = "to")]
    relevel: bool,
    /// Allow the same section to be there twice
    #[arg(long, requires = "to")]
    allow_duplicate: bool,
    /// Allow sections to belong to another section afterwards
    #[arg(long, requires = "to")]
    allow_escape: bool,
    /// Allow titles, links or blocks outside the section to change
    #[arg(long, requires = "to")]
    allow_change: bool,
    /// Leave all links as they are
    #[arg(long)]
    no_links: bool,
    #[command(flatten)]
    fuzzy: FuzzyArgs,
}

impl EditArguments for RenameArgs {
    type Json = RelocateAnswer;

    fn addresses(&mut self) -> Vec<&mut String> {
        vec![&mut self.place.section.first]
    }

    fn run(&self, global: &Global, options: &EditOptions) -> Result<Status> {
        let relocation = Relocation::Rename {
            document: self.place.section.document().cloned(),
            section: self.place.section.place().clone(),
            title: self.title.clone(),
            is_fuzzy: self.place.fuzzy.is_fuzzy,
        };
        run(global, relocation, self.no_links, options)
    }
}

impl EditArguments for MoveArgs {
    type Json = RelocateAnswer;

    fn addresses(&mut self) -> Vec<&mut String> {
        std::iter::once(&mut self.first).chain(&mut self.to).collect()
    }

    fn run(&self, global: &Global, options: &EditOptions) -> Result<Status> {
        let first = self.first.clone();
        let relocation = match (&self.second, &self.to) {
            (second, Some(to)) => Relocation::MoveSection(SectionRelocation {
                document: second.as_ref().map(|_| first.clone()),
                section: second.clone().unwrap_or(first),
                to: to.clone(),
                position: self.position.into(),
                relevel: self.relevel,
                allow: Allow {
                    drop: false,
                    escape: self.allow_escape,
                    duplicate: self.allow_duplicate,
                    change: self.allow_change,
                },
                is_fuzzy: self.fuzzy.is_fuzzy,
            }),
            (path, None) => Relocation::Move {
                document: first,
                path: new_path(global, path.as_deref().unwrap_or_default())?,
            },
        };
        run(global, relocation, self.no_links, options)
    }
}

fn run(
    global: &Global,
    relocation: Relocation,
    keeps_links: bool,
    options: &EditOptions,
) -> Result<Status> {
    let is_dry_run = options.dry_run;
    let operation = relocation.name();
    let request = RelocateRequest {
        store: &store::store_to_edit(global)?,
        relocation,
        keeps_links,
        expect: options.expect.clone(),
        is_dry_run,
        is_refresh: global.refresh,
        wait: options.wait.duration(),
        confirm: &|report| global.check_fits(&RelocateAnswer::of(report, is_dry_run)),
    };
    let (answer, is_changed) = match relocate(&request)? {
        Ok(report) => (RelocateAnswer::of(&report, is_dry_run), !report.files.is_empty()),
        Err(mut fault) => {
            global.restore_path(&mut fault);
            (RelocateAnswer::fault(operation, fault, is_dry_run), false)
        }
    };
    let outcome = answer.outcome();
    let changed_lines = is_dry_run.then_some(Format::Text);
    print_edit(global, answer, outcome, changed_lines, is_changed)
}
