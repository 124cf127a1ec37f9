//! The commands that read, and those of them that ask one question: their arguments and their requests.

use std::io::Read as _;

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use super::Status;
use super::args::{FilterArgs, Global, ListArgs};
use super::completions::{addresses as complete_address, documents as complete_document, sections};
use super::context::{ContextArgs, PrimeArgs};
use super::data::{CodeArgs, TablesArgs, TasksArgs};
use super::ldmd::LdmdCommand;
use super::links::LinksCommand;
use super::read_command::{Question, read_commands};
use super::search::SearchArgs;
use crate::address::is_for_every_document;
use crate::error::{Error, Result};
use crate::limits;
use crate::output;
use crate::query::page::fitting;
use crate::query::resolve::{Window, resolve};
use crate::query::{Cursor, Library, documents, find, index, neighbors, read, select, toc};

read_commands! {
    /// Every command that answers from the store.
    ReadCommands {
        /// List documents, their headings and counts of their blocks
        Index(IndexArgs),
        /// Print content by address
        Select(SelectArgs),
        /// Print the section tree of documents
        Toc(TocArgs),
        /// Print one section in full
        Read(ReadArgs),
        /// Find sections by title
        Find(FindArgs),
        /// Search for words, ranked, or for patterns with -e
        Search(SearchArgs),
        /// List the sections around a section
        Neighbors(NeighborsArgs),
        /// List code blocks, or write them to files
        Code(CodeArgs),
        /// List the rows of tables
        Tables(TablesArgs),
        /// List the tasks of lists
        Tasks(TasksArgs),
        /// Read a document with marked sections part by part
        #[command(subcommand)]
        Ldmd(LdmdCommand),
        /// Follow links between documents and sections
        #[command(subcommand)]
        Links(LinksCommand),
        /// Print several places, and text from outside, for the context of a model
        Context(ContextArgs),
        /// Print what an agent should know about the store first
        Prime(PrimeArgs),
    }
}

pub(super) fn cursor(after: Option<&String>) -> Result<Option<Cursor>> {
    after.map(|after| after.parse()).transpose()
}

/// Returns the documents that contain the places of `addresses`. Returns `None` if an address
/// applies to the whole store, or names something that is not in the store yet.
fn documents_of(library: &Library<'_>, addresses: &[String]) -> Result<Option<Vec<String>>> {
    let mut paths = Vec::new();
    for address in addresses {
        let is_global = is_for_every_document(address);
        let all = Window { skip: 0, take: usize::MAX };
        let resolution = if is_global { None } else { Some(resolve(library, address, all)?) };
        match resolution {
            Some(resolution) if resolution.fault.is_none() => {
                paths.extend(
                    resolution.places.iter().map(|place| place.document.stored.path.clone()),
                );
            }
            _ => return Ok(None),
        }
    }
    paths.sort();
    paths.dedup();
    Ok(Some(paths))
}

/// Returns the paths of the named documents, or `None` for all documents.
pub(super) fn named_documents(
    library: &Library<'_>,
    names: &[String],
) -> Result<Option<Vec<String>>> {
    if names.is_empty() {
        return Ok(None);
    }
    let found = documents::named(library, names)?;
    if !found.faults.is_empty() {
        return Ok(None);
    }
    Ok(Some(found.documents.into_iter().map(|document| document.path).collect()))
}

/// Returns the addresses given. Replaces `-` by the lines of standard input.
pub(super) fn addresses(given: &[String]) -> Result<Vec<String>> {
    let mut addresses = Vec::new();
    for address in given {
        if address != "-" {
            addresses.push(address.clone());
            continue;
        }
        let mut text = String::new();
        std::io::stdin()
            .lock()
            .read_to_string(&mut text)
            .map_err(|error| Error::io(std::path::Path::new("standard input"), error))?;
        addresses.extend(text.lines().filter(|line| !line.is_empty()).map(str::to_owned));
    }
    Ok(addresses)
}

/// Arguments of `index`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel index guide -f text")]
pub(super) struct IndexArgs {
    /// Documents: a path, a unique suffix of one, a folder or a glob [default: all]
    #[arg(value_name = "DOC", add = ArgValueCompleter::new(complete_document))]
    pub(super) documents: Vec<String>,
    /// List blocks, too, with a preview
    #[arg(long)]
    pub(super) blocks: bool,
    #[command(flatten)]
    pub(super) filter: FilterArgs,
    #[command(flatten)]
    pub(super) list: ListArgs,
}

impl Question for IndexArgs {
    type Answer = index::Answer;

    fn addresses(&mut self) -> Result<Vec<&mut String>> {
        Ok(self.documents.iter_mut().chain(&mut self.filter.documents.under).collect())
    }

    fn documents(&self, library: &Library<'_>) -> Result<Option<Vec<String>>> {
        named_documents(library, &self.documents)
    }

    fn answer(&self, global: &Global, library: &Library<'_>) -> Result<index::Answer> {
        let request = index::Request {
            documents: self.documents.clone(),
            filter: self.filter.request(),
            blocks: self.blocks,
            limit: fitting(self.list.limit, global.max_chars),
            after: cursor(self.list.after.as_ref())?,
        };
        index::index(library, &request)
    }

    fn status(answer: &index::Answer) -> Status {
        answer.outcome().into()
    }
}

/// Arguments of `select`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel select 'guide::heading:h2[1]/block:code[0]'")]
pub(super) struct SelectArgs {
    /// Addresses, answered in this order; - reads them from standard input, one per line
    #[arg(value_name = "ADDRESS", required = true, add = ArgValueCompleter::new(complete_address))]
    pub(super) addresses: Vec<String>,
    /// Limit a page to N words; 0 for no pages
    #[arg(long, value_name = "N", default_value_t = limits::MAX_WORDS)]
    pub(super) max_words: usize,
    /// Print at most N results; 0 for all [default: 50, or the number of addresses]
    #[arg(long, value_name = "N")]
    pub(super) limit: Option<usize>,
    /// Continue where an answer ended: its `next`
    #[arg(long, value_name = "CURSOR")]
    pub(super) after: Option<String>,
}

impl Question for SelectArgs {
    type Answer = select::Answer;

    fn addresses(&mut self) -> Result<Vec<&mut String>> {
        self.addresses = addresses(&self.addresses)?;
        Ok(self.addresses.iter_mut().collect())
    }

    fn documents(&self, library: &Library<'_>) -> Result<Option<Vec<String>>> {
        documents_of(library, &self.addresses)
    }

    fn answer(&self, global: &Global, library: &Library<'_>) -> Result<select::Answer> {
        let request = select::Request {
            addresses: self.addresses.clone(),
            max_words: self.max_words,
            // An empty place has no characters in `raw`, so the budget allows one result more than
            // characters.
            limit: match global.max_chars {
                Some(most) if self.limit == Some(0) => Some(most + 1),
                _ => self.limit,
            },
            after: cursor(self.after.as_ref())?,
            room: global.max_chars,
        };
        select::select(library, &request)
    }

    fn status(answer: &select::Answer) -> Status {
        answer.outcome().into()
    }
}

/// Arguments of `toc`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel toc guide -f text --max-level 2")]
pub(super) struct TocArgs {
    /// Documents: a path, a unique suffix of one, a folder or a glob [default: all]
    #[arg(value_name = "DOC", add = ArgValueCompleter::new(complete_document))]
    pub(super) documents: Vec<String>,
    /// Show N levels of the tree; 1 for top-level sections only
    #[arg(long, value_name = "N")]
    pub(super) depth: Option<usize>,
    /// Show headings down to this level, 1 to 6
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=6))]
    pub(super) max_level: Option<u8>,
    #[command(flatten)]
    pub(super) filter: FilterArgs,
    #[command(flatten)]
    pub(super) list: ListArgs,
}

impl Question for TocArgs {
    type Answer = toc::Answer;

    fn addresses(&mut self) -> Result<Vec<&mut String>> {
        Ok(self.documents.iter_mut().chain(&mut self.filter.documents.under).collect())
    }

    fn documents(&self, library: &Library<'_>) -> Result<Option<Vec<String>>> {
        named_documents(library, &self.documents)
    }

    fn answer(&self, global: &Global, library: &Library<'_>) -> Result<toc::Answer> {
        let request = toc::Request {
            documents: self.documents.clone(),
            filter: self.filter.request(),
            depth: self.depth,
            max_level: self.max_level,
            with_addresses: output::has_addresses::<toc::Answer>(global.format()),
            limit: fitting(self.list.limit, global.max_chars),
            after: cursor(self.list.after.as_ref())?,
        };
        toc::toc(library, &request)
    }

    fn status(answer: &toc::Answer) -> Status {
        answer.outcome().into()
    }
}

/// Arguments of `read`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel read guide 'Install/From source'")]
pub(super) struct ReadArgs {
    /// A document; or the whole address, without SECTION
    #[arg(value_name = "DOC|ADDRESS", add = ArgValueCompleter::new(complete_address))]
    pub(super) first: String,
    /// A place in the document: a slug path, a title, @LINE, #INDEX or a selector
    #[arg(value_name = "SECTION", add = ArgValueCompleter::new(sections))]
    pub(super) section: Option<String>,
    /// Omit child sections
    #[arg(long)]
    pub(super) no_children: bool,
    /// Number the lines
    #[arg(short = 'n', long)]
    pub(super) line_numbers: bool,
}

impl ReadArgs {
    fn request(&self) -> read::Request {
        let (document, place) = match &self.section {
            Some(section) => (Some(self.first.clone()), section.clone()),
            None => (None, self.first.clone()),
        };
        let (no_children, line_numbers) = (self.no_children, self.line_numbers);
        read::Request { document, place, no_children, line_numbers }
    }
}

impl Question for ReadArgs {
    type Answer = read::Answer;

    fn addresses(&mut self) -> Result<Vec<&mut String>> {
        Ok(vec![&mut self.first])
    }

    fn documents(&self, library: &Library<'_>) -> Result<Option<Vec<String>>> {
        let first = std::slice::from_ref(&self.first);
        match &self.section {
            Some(_) => named_documents(library, first),
            None => documents_of(library, first),
        }
    }

    fn answer(&self, _: &Global, library: &Library<'_>) -> Result<read::Answer> {
        read::read(library, &self.request())
    }

    fn status(answer: &read::Answer) -> Status {
        answer.outcome().into()
    }
}

/// Arguments of `find`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel find '*install*' --level 2")]
pub(super) struct FindArgs {
    /// A glob that matches the whole title; without * ? [ { it matches a part of the title
    #[arg(value_name = "PATTERN")]
    pub(super) pattern: String,
    /// Take only sections whose own text contains TEXT, ignoring case
    #[arg(long, value_name = "TEXT")]
    pub(super) content: Option<String>,
    #[command(flatten)]
    pub(super) filter: FilterArgs,
    #[command(flatten)]
    pub(super) list: ListArgs,
}

impl Question for FindArgs {
    type Answer = find::Answer;

    fn addresses(&mut self) -> Result<Vec<&mut String>> {
        Ok(self.filter.documents.under.iter_mut().collect())
    }

    fn answer(&self, global: &Global, library: &Library<'_>) -> Result<find::Answer> {
        let request = find::Request {
            pattern: self.pattern.clone(),
            content: self.content.clone(),
            filter: self.filter.request(),
            limit: fitting(self.list.limit, global.max_chars),
            after: cursor(self.list.after.as_ref())?,
        };
        find::find(library, &request)
    }

    fn status(answer: &find::Answer) -> Status {
        answer.outcome().into()
    }
}

/// Arguments of `neighbors`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel neighbors guide#install")]
pub(super) struct NeighborsArgs {
    /// The address of one place
    #[arg(value_name = "ADDRESS", add = ArgValueCompleter::new(complete_address))]
    pub(super) address: String,
    /// Continue the children where an answer ended: its `next_children`
    #[arg(long, value_name = "CURSOR")]
    pub(super) after: Option<String>,
}

impl Question for NeighborsArgs {
    type Answer = neighbors::Answer;

    fn addresses(&mut self) -> Result<Vec<&mut String>> {
        Ok(vec![&mut self.address])
    }

    fn documents(&self, library: &Library<'_>) -> Result<Option<Vec<String>>> {
        documents_of(library, std::slice::from_ref(&self.address))
    }

    fn answer(&self, _: &Global, library: &Library<'_>) -> Result<neighbors::Answer> {
        neighbors::neighbors(library, &self.address, cursor(self.after.as_ref())?)
    }

    fn status(answer: &neighbors::Answer) -> Status {
        answer.outcome().into()
    }
}
