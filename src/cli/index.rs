//! `index`: its arguments and its request.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use super::args::{FilterArgs, ListArgs};
use super::completers::documents as complete_document;
use super::global::Global;
use super::read_command::{QueryArguments, named_documents};
use crate::error::Result;
use crate::query::{Session, index};

/// Arguments of `index`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel index guide -f text")]
pub(super) struct IndexArgs {
    /// Documents: a path, a unique suffix of one, a folder or a glob; or sections [default: all]
    #[arg(value_name = "DOC", add = ArgValueCompleter::new(complete_document))]
    documents: Vec<String>,
    /// List blocks, too, with a preview
    #[arg(long)]
    blocks: bool,
    #[command(flatten)]
    filter: FilterArgs,
    #[command(flatten)]
    list: ListArgs,
}

impl QueryArguments for IndexArgs {
    type Answer = index::IndexAnswer;

    fn addresses(&mut self) -> Result<Vec<&mut String>> {
        Ok(self.documents.iter_mut().chain(&mut self.filter.places.documents.under).collect())
    }

    fn documents(&self, session: &Session<'_>) -> Result<Option<Vec<String>>> {
        named_documents(session, &self.documents)
    }

    fn answer(&self, global: &Global, session: &Session<'_>) -> Result<index::IndexAnswer> {
        let after = self.list.after.cursor()?;
        global.filled(self.list.limit, |limit| {
            let request = index::IndexRequest {
                documents: self.documents.clone(),
                filter: self.filter.request(),
                blocks: self.blocks,
                limit,
                after,
            };
            index::index(session, &request)
        })
    }
}
