//! `verify`: its arguments and its request.

use clap::Args;

use super::args::{AfterArgs, WaitArgs};
use super::command::AnyCommand;
use super::described::{Described, RefusedOptions, described};
use super::exit::Status;
use super::global::Global;
use super::store;
use crate::error::Result;
use crate::query::finding::Findings;
use crate::verify::{Action, VerifyRequest, verify};

/// Arguments of `verify`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel verify --reparse -f text")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command")]
pub(super) struct VerifyArgs {
    /// Let SQLite check that all of its indexes agree with its tables, too
    #[arg(long)]
    full: bool,
    /// Parse every document again, and compare
    #[arg(long)]
    reparse: bool,
    /// Repair the problems found; a damaged store file is kept under another name
    #[arg(long, conflicts_with = "after")]
    repair: bool,
    /// Drop interrupted edits in folders that are gone for good; the store keeps its versions
    #[arg(long, conflicts_with_all = ["repair", "after"])]
    drop_edits: bool,
    /// List at most N problems; 0 for all
    #[arg(long, value_name = "N", default_value_t = 0)]
    limit: usize,
    #[command(flatten)]
    after: AfterArgs,
    #[command(flatten)]
    wait: WaitArgs,
}

impl AnyCommand for VerifyArgs {
    fn run(&self, global: &Global) -> Result<Status> {
        if self.repair || self.drop_edits {
            global.has_room_for_report()?;
        }
        let request = VerifyRequest {
            store: &store::store(global)?,
            is_full: self.full,
            is_reparsed: self.reparse,
            action: match (self.repair, self.drop_edits) {
                (true, _) => Action::Repair,
                (_, true) => Action::DropEdits,
                _ => Action::List,
            },
            wait: self.wait.duration(),
            after: self.after.cursor()?,
        };
        let findings = verify(&request)?.at_most(self.limit);
        global.print_findings(findings)
    }

    fn describe(name: &str, all: &mut Vec<Described>) {
        let refused_options = &[RefusedOptions {
            options: &["refresh"],
            reason: "it checks the store, not the files",
            hint: "run `mdsel ingest` first",
        }];
        all.push(Described { refused_options, ..described::<Findings>(name) });
    }
}
