//! `ldmd`: the arguments of its commands and their requests.

use clap::{Args, ValueEnum};
use clap_complete::engine::ArgValueCompleter;
use schemars::JsonSchema;

use super::args::AfterArgs;
use super::command::{AnyCommand, commands};
use super::completers::documents;
use super::described::{Described, described};
use super::exit::Status;
use super::global::Global;
use super::lazy::Lazy;
use super::read_command::{QueryArguments, named_documents};
use super::store::open_fresh;
use crate::error::Result;
use crate::ldmd::{Mode, SliceRequest};
use crate::output::{Answer, Format};
use crate::query::finding::Findings;
use crate::query::ldmd::{LdmdAnswer, check, emit, get, index, neighbors, search};
use crate::query::{Cursor, List, Session};
use crate::store::Purpose;

commands! {
    /// The commands of `ldmd`.
    LdmdCommand {
        /// List the sections of a document in the order of their opening markers
        Index(Lazy<OfDocument<LdmdIndexArgs>>),
        /// Print a section: all of it, a preview, or its summary
        Get(Lazy<OfDocument<LdmdGetArgs>>),
        /// Find the lines of a document's sections that contain a text
        Search(Lazy<OfDocument<LdmdSearchArgs>>),
        /// List the sections around a section
        Neighbors(Lazy<OfDocument<LdmdNeighborsArgs>>),
        /// List problems of markers (status 1 if there are any)
        Check(Lazy<LdmdCheckArgs>),
        /// Print a document with one LDMD section for each of its headings
        Emit(Lazy<LdmdEmitArgs>),
    }
}

/// Arguments of a command about one document.
#[derive(Debug, Args)]
pub(super) struct OfDocument<T: Args> {
    /// The document
    #[arg(value_name = "DOC", add = ArgValueCompleter::new(documents))]
    document: String,
    #[command(flatten)]
    arguments: T,
}

/// A question about one document, as the arguments of a command.
pub(super) trait DocumentQuery: Args {
    /// See [`QueryArguments::Answer`].
    type Answer: Answer + List + JsonSchema + 'static;

    /// Returns the answer.
    fn answer(&self, document: &str, session: &Session<'_>) -> Result<Self::Answer>;
}

/// Arguments of `ldmd index`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel ldmd index answer.ldmd.md -f text")]
pub(super) struct LdmdIndexArgs {
    /// List at most N sections; 0 for all
    #[arg(long, value_name = "N", default_value_t = 0)]
    limit: usize,
    #[command(flatten)]
    after: AfterArgs,
}

/// Arguments of `ldmd get`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: mdsel ldmd get answer.ldmd.md --id key_findings --mode tldr -f raw"
)]
pub(super) struct LdmdGetArgs {
    /// The id of the section; ID@LINE if two sections have the same id
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    id: String,
    /// How much of the section to print
    #[arg(long, value_enum, default_value_t = ModeName::Full)]
    mode: ModeName,
    /// Show nested sections down to depth N; 0 for none [default: all; 1 in a preview]
    #[arg(long, value_name = "N")]
    depth: Option<usize>,
    /// Print at most N bytes; 0 means all, or 4096 in a preview
    #[arg(long, value_name = "N", default_value_t = 0)]
    limit_bytes: usize,
    /// Omit the markers of sections
    #[arg(long)]
    strip_markers: bool,
    /// Print one REF marker with its id and its bytes in place of each nested section below the depth
    #[arg(long)]
    stubs: bool,
    #[command(flatten)]
    after: AfterArgs,
}

/// How much of a section to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ModeName {
    /// The whole section
    Full,
    /// The section and its direct children, at most 4096 bytes
    Preview,
    /// The section whose id ends in _tldr, or a preview if there is none
    Tldr,
}

/// Arguments of `ldmd search`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel ldmd search answer.ldmd.md --query process_batch")]
pub(super) struct LdmdSearchArgs {
    /// The text to search for, ignoring case
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    query: String,
    /// List at most N lines; 0 for all
    #[arg(long, value_name = "N", default_value_t = 0)]
    limit: usize,
    #[command(flatten)]
    after: AfterArgs,
}

/// Arguments of `ldmd neighbors`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel ldmd neighbors answer.ldmd.md --id summary")]
pub(super) struct LdmdNeighborsArgs {
    /// The id of the section; ID@LINE if two sections have the same id
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    id: String,
    /// Continue the children where an answer ended: its `next_children`
    #[arg(long, value_name = "CURSOR")]
    after: Option<String>,
}

/// Arguments of `ldmd check`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel ldmd check")]
pub(super) struct LdmdCheckArgs {
    /// Documents: a path, a unique suffix of one, a folder or a glob [default: all]
    #[arg(value_name = "DOC", add = ArgValueCompleter::new(documents))]
    documents: Vec<String>,
    /// Also list markers that a strict reader reads differently: those with blanks beside them, with other
    /// attributes or another order than id, title, level, parent, tags, and those in code
    #[arg(long)]
    strict_markers: bool,
    /// List at most N problems; 0 for all
    #[arg(long, value_name = "N", default_value_t = 0)]
    limit: usize,
    #[command(flatten)]
    after: AfterArgs,
}

/// Arguments of `ldmd emit`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel ldmd emit guide > guide.ldmd.md")]
pub(super) struct LdmdEmitArgs {
    /// The document
    #[arg(value_name = "DOC", add = ArgValueCompleter::new(documents))]
    document: String,
    #[command(flatten)]
    after: AfterArgs,
}

impl<T: DocumentQuery> QueryArguments for OfDocument<T> {
    type Answer = T::Answer;

    fn addresses(&mut self) -> Result<Vec<&mut String>> {
        Ok(vec![&mut self.document])
    }

    fn documents(&self, session: &Session<'_>) -> Result<Option<Vec<String>>> {
        named_documents(session, std::slice::from_ref(&self.document))
    }

    fn answer(&self, _: &Global, session: &Session<'_>) -> Result<Self::Answer> {
        self.arguments.answer(&self.document, session)
    }
}

impl DocumentQuery for LdmdIndexArgs {
    type Answer = LdmdAnswer<index::Index>;

    fn answer(&self, document: &str, session: &Session<'_>) -> Result<Self::Answer> {
        let request = index::LdmdIndexRequest {
            document: document.to_owned(),
            limit: self.limit,
            after: self.after.cursor()?,
        };
        index::index(session, &request)
    }
}

impl DocumentQuery for LdmdGetArgs {
    type Answer = LdmdAnswer<get::SectionContent>;

    fn answer(&self, document: &str, session: &Session<'_>) -> Result<Self::Answer> {
        let request = get::LdmdGetRequest {
            document: document.to_owned(),
            id: self.id.clone(),
            slice: SliceRequest {
                mode: match self.mode {
                    ModeName::Full => Mode::Full,
                    ModeName::Preview => Mode::Preview,
                    ModeName::Tldr => Mode::Tldr,
                },
                depth: self.depth,
                limit_bytes: self.limit_bytes,
                strip_markers: self.strip_markers,
                stub_end: None,
            },
            stubs: self.stubs,
            after: self.after.cursor()?,
        };
        get::get(session, &request)
    }
}

impl DocumentQuery for LdmdSearchArgs {
    type Answer = LdmdAnswer<search::Matches>;

    fn answer(&self, document: &str, session: &Session<'_>) -> Result<Self::Answer> {
        let request = search::LdmdSearchRequest {
            document: document.to_owned(),
            query: self.query.clone(),
            limit: self.limit,
            after: self.after.cursor()?,
        };
        search::search(session, &request)
    }
}

impl DocumentQuery for LdmdNeighborsArgs {
    type Answer = LdmdAnswer<neighbors::Neighbors>;

    fn answer(&self, document: &str, session: &Session<'_>) -> Result<Self::Answer> {
        neighbors::neighbors(session, document, &self.id, Cursor::given(self.after.as_ref())?)
    }
}

impl QueryArguments for LdmdCheckArgs {
    type Answer = Findings;

    fn purpose(&self) -> Purpose {
        if self.strict_markers { Purpose::Search } else { Purpose::Read }
    }

    fn addresses(&mut self) -> Result<Vec<&mut String>> {
        Ok(self.documents.iter_mut().collect())
    }

    fn documents(&self, session: &Session<'_>) -> Result<Option<Vec<String>>> {
        named_documents(session, &self.documents)
    }

    fn answer(&self, _: &Global, session: &Session<'_>) -> Result<Findings> {
        let after = self.after.cursor()?;
        let findings = check::check(session, &self.documents, self.strict_markers, after)?;
        Ok(findings.at_most(self.limit))
    }

    fn status(findings: &Findings) -> Status {
        Status::of_check(findings)
    }
}

impl AnyCommand for LdmdEmitArgs {
    fn addresses(&mut self) -> Result<Vec<&mut String>> {
        Ok(vec![&mut self.document])
    }

    fn run(&self, global: &Global) -> Result<Status> {
        let document = std::slice::from_ref(&self.document);
        let reader =
            open_fresh(global, Purpose::Read, |session| named_documents(session, document))?;
        let after = self.after.cursor()?;
        let mut answer = emit::emit(&Session::new(&*reader), &self.document, after)?;
        // The answer is itself an LDMD document.
        let is_document = matches!(global.format, None | Some(Format::Ldmd));
        let format = if is_document { Some(Format::Raw) } else { global.format };
        global.in_format(format).print_list(&mut answer)?;
        Ok(answer.outcome().into())
    }

    fn describe(name: &str, all: &mut Vec<Described>) {
        all.push(described::<LdmdAnswer<emit::Emission>>(name));
    }
}
