//! `neighbors`: its arguments and its request.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use super::completers::addresses as complete_address;
use super::global::Global;
use super::read_command::{QueryArguments, documents_of};
use crate::error::Result;
use crate::query::{Cursor, Session, neighbors};

/// Arguments of `neighbors`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel neighbors guide#install")]
pub(super) struct NeighborsArgs {
    /// The address of one place
    #[arg(value_name = "ADDRESS", add = ArgValueCompleter::new(complete_address))]
    address: String,
    /// Continue the children where an answer ended: its `next_children`
    #[arg(long, value_name = "CURSOR")]
    after: Option<String>,
}

impl QueryArguments for NeighborsArgs {
    type Answer = neighbors::NeighborsAnswer;

    fn addresses(&mut self) -> Result<Vec<&mut String>> {
        Ok(vec![&mut self.address])
    }

    fn documents(&self, session: &Session<'_>) -> Result<Option<Vec<String>>> {
        documents_of(session, std::slice::from_ref(&self.address))
    }

    fn answer(&self, _: &Global, session: &Session<'_>) -> Result<neighbors::NeighborsAnswer> {
        neighbors::neighbors(session, &self.address, Cursor::given(self.after.as_ref())?)
    }
}
