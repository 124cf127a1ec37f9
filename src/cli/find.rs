//! `find`: its arguments and its request.

use clap::Args;

use super::args::{FilterArgs, ListArgs};
use super::global::Global;
use super::read_command::{QueryArguments, purpose};
use crate::error::Result;
use crate::query::{Session, find};
use crate::store::Purpose;

/// Arguments of `find`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel find '*install*' --level 2")]
pub(super) struct FindArgs {
    /// A part of the title; with * ? [ or { a glob that must match the whole title
    #[arg(value_name = "PATTERN")]
    pattern: String,
    /// Take only sections whose own text contains TEXT, ignoring case; text before the first heading is in none
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    content: Option<String>,
    /// Let --content also find TEXT in subsections, so that the sections around them are listed, too
    #[arg(long, requires = "content")]
    subtree: bool,
    #[command(flatten)]
    filter: FilterArgs,
    #[command(flatten)]
    list: ListArgs,
}

impl QueryArguments for FindArgs {
    type Answer = find::FindAnswer;

    fn addresses(&mut self) -> Result<Vec<&mut String>> {
        Ok(self.filter.places.documents.under.iter_mut().collect())
    }

    fn purpose(&self) -> Purpose {
        purpose(self.content.as_ref())
    }

    fn answer(&self, global: &Global, session: &Session<'_>) -> Result<find::FindAnswer> {
        let after = self.list.after.cursor()?;
        global.filled(self.list.limit, |limit| {
            let request = find::FindRequest {
                pattern: self.pattern.clone(),
                content: self.content.clone(),
                subtree: self.subtree,
                filter: self.filter.request(),
                limit,
                after,
            };
            find::find(session, &request)
        })
    }
}
