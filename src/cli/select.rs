//! `select`: its arguments and its request.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use super::args::AfterArgs;
use super::completers::addresses as complete_address;
use super::global::Global;
use super::read_command::{QueryArguments, addresses, documents_of};
use crate::error::Result;
use crate::limits;
use crate::query::{Session, select};

/// Arguments of `select`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel select 'guide::heading:h2[0]/block:code[0]'")]
pub(super) struct SelectArgs {
    /// Addresses, answered in this order; - reads them from standard input, one per line
    #[arg(value_name = "ADDRESS", required = true, add = ArgValueCompleter::new(complete_address))]
    addresses: Vec<String>,
    /// Limit a page to N words; 0 for no pages
    #[arg(long, value_name = "N", default_value_t = limits::MAX_WORDS)]
    max_words: usize,
    /// Print at most N results; 0 for all [default: 50, or the number of addresses]
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Print a place once, where it is named first, even if several addresses name it
    #[arg(long)]
    unique: bool,
    #[command(flatten)]
    after: AfterArgs,
}

impl QueryArguments for SelectArgs {
    type Answer = select::SelectAnswer;

    fn addresses(&mut self) -> Result<Vec<&mut String>> {
        self.addresses = addresses(&self.addresses)?;
        Ok(self.addresses.iter_mut().collect())
    }

    fn documents(&self, session: &Session<'_>) -> Result<Option<Vec<String>>> {
        documents_of(session, &self.addresses)
    }

    fn answer(&self, global: &Global, session: &Session<'_>) -> Result<select::SelectAnswer> {
        let after = self.after.cursor()?;
        let selected = |limit| {
            let request = select::SelectRequest {
                addresses: self.addresses.clone(),
                max_words: self.max_words,
                limit,
                unique: self.unique,
                after,
                room: global.most_chars(),
            };
            select::select(session, &request)
        };
        match self.limit {
            Some(limit) => global.filled(limit, |limit| selected(Some(limit))),
            None => selected(None),
        }
    }
}
