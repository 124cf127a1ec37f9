//! `read`: its arguments and its request.

use clap::Args;

use super::args::SectionArgs;
use super::global::Global;
use super::read_command::{QueryArguments, documents_of, named_documents};
use crate::error::Result;
use crate::query::{Session, read};

/// Arguments of `read`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: mdsel read guide 'Install/From source'",
    mut_arg("section", |section| section.help(
        "A place in the document: a slug path, a title, @LINE, #INDEX or a selector"
    ))
)]
pub(super) struct ReadArgs {
    #[command(flatten)]
    place: SectionArgs,
    /// Omit child sections, or the nested lists of a list item
    #[arg(long)]
    no_children: bool,
    /// Number the lines
    #[arg(short = 'n', long)]
    line_numbers: bool,
}

impl ReadArgs {
    fn request(&self) -> read::ReadRequest {
        let (document, place) = (self.place.document().cloned(), self.place.place().clone());
        let (no_children, line_numbers) = (self.no_children, self.line_numbers);
        read::ReadRequest { document, place, no_children, line_numbers }
    }
}

impl QueryArguments for ReadArgs {
    type Answer = read::ReadAnswer;

    fn addresses(&mut self) -> Result<Vec<&mut String>> {
        Ok(vec![&mut self.place.first])
    }

    fn documents(&self, session: &Session<'_>) -> Result<Option<Vec<String>>> {
        let first = std::slice::from_ref(&self.place.first);
        match self.place.document() {
            Some(_) => named_documents(session, first),
            None => documents_of(session, first),
        }
    }

    fn answer(&self, _: &Global, session: &Session<'_>) -> Result<read::ReadAnswer> {
        read::read(session, &self.request())
    }
}
