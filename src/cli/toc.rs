//! `toc`: its arguments and its request.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use super::args::{FilterArgs, ListArgs};
use super::completers::documents as complete_document;
use super::global::Global;
use super::read_command::{QueryArguments, named_documents};
use crate::error::Result;
use crate::query::page::fitting;
use crate::query::{Session, toc};

/// Arguments of `toc`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel toc guide -f text --max-level 2")]
pub(super) struct TocArgs {
    /// Documents: a path, a unique suffix of one, a folder or a glob; or sections [default: all]
    #[arg(value_name = "DOC", add = ArgValueCompleter::new(complete_document))]
    documents: Vec<String>,
    /// Show N levels of the tree; 1 for top-level sections only
    #[arg(long, value_name = "N")]
    depth: Option<usize>,
    /// Show headings down to this level, 1 to 6
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=6))]
    max_level: Option<u8>,
    #[command(flatten)]
    filter: FilterArgs,
    #[command(flatten)]
    list: ListArgs,
}

impl QueryArguments for TocArgs {
    type Answer = toc::TocAnswer;

    fn addresses(&mut self) -> Result<Vec<&mut String>> {
        Ok(self.documents.iter_mut().chain(&mut self.filter.places.documents.under).collect())
    }

    fn documents(&self, session: &Session<'_>) -> Result<Option<Vec<String>>> {
        named_documents(session, &self.documents)
    }

    fn answer(&self, global: &Global, session: &Session<'_>) -> Result<toc::TocAnswer> {
        let request = toc::TocRequest {
            documents: self.documents.clone(),
            filter: self.filter.request(),
            depth: self.depth,
            max_level: self.max_level,
            with_addresses: toc::TocAnswer::has_addresses(global.format()),
            limit: fitting(self.list.limit, global.most_chars()),
            after: self.list.after.cursor()?,
        };
        toc::toc(session, &request)
    }
}
