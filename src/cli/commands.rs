//! The list of the commands.

use super::batch::BatchArgs;
use super::command::{AnyCommand as _, commands};
use super::completions::CompletionsArgs;
use super::context::{ContextArgs, PrimeArgs};
use super::data::{CodeArgs, TablesArgs, TasksArgs};
use super::delete::DeleteArgs;
use super::described::Described;
use super::edit::EditArgs;
use super::find::FindArgs;
use super::help::HelpArgs;
use super::index::IndexArgs;
use super::ingest::IngestArgs;
use super::insert::InsertArgs;
use super::lazy::Lazy;
use super::ldmd::LdmdCommand;
use super::links::LinksCommand;
use super::man::ManArgs;
use super::mcp::McpArgs;
use super::meta::MetaArgs;
use super::neighbors::NeighborsArgs;
use super::pack::{CopyArgs, DumpArgs, LoadArgs};
use super::read::ReadArgs;
use super::relocate::{MoveArgs, RenameArgs};
use super::replace::ReplaceArgs;
use super::schema::SchemaArgs;
use super::search::SearchArgs;
use super::select::SelectArgs;
use super::status::StatusArgs;
use super::task::TaskArgs;
use super::toc::TocArgs;
use super::verify::VerifyArgs;

commands! {
    /// Every command.
    Command {
        /// Build or refresh the store
        Ingest(Lazy<IngestArgs>),
        /// Print what the store contains
        Status(Lazy<StatusArgs>),
        /// List documents, their headings and counts of their blocks
        Index(Lazy<IndexArgs>),
        /// Print content by address
        Select(Lazy<SelectArgs>),
        /// Print the section tree of documents
        Toc(Lazy<TocArgs>),
        /// Print one section in full
        Read(Lazy<ReadArgs>),
        /// Find sections by title
        Find(Lazy<FindArgs>),
        /// Search for words, ranked, or for patterns with -e
        Search(Lazy<SearchArgs>),
        /// List the sections around a section
        Neighbors(Lazy<NeighborsArgs>),
        /// List code blocks, or write them to files
        Code(Lazy<CodeArgs>),
        /// List the rows of tables
        Tables(Lazy<TablesArgs>),
        /// List the tasks of lists
        Tasks(Lazy<TasksArgs>),
        /// Read a document with marked sections part by part
        #[command(subcommand)]
        Ldmd(LdmdCommand),
        /// Follow links between documents and sections
        #[command(subcommand)]
        Links(LinksCommand),
        /// Print several places, and text from outside, for the context of a model
        Context(Lazy<ContextArgs>),
        /// Print what an agent should know about the store first
        Prime(Lazy<PrimeArgs>),
        /// Replace a section of a file
        Replace(Lazy<EditArgs<ReplaceArgs>>),
        /// Insert content next to or below a section
        Insert(Lazy<EditArgs<InsertArgs>>),
        /// Delete a section
        Delete(Lazy<EditArgs<DeleteArgs>>),
        /// Mark a task as done or open
        Task(Lazy<EditArgs<TaskArgs>>),
        /// Give a section another title, and rewrite the links to it
        Rename(Lazy<EditArgs<RenameArgs>>),
        /// Move a document, or with `--to` a section, and rewrite the links to it and in it
        Move(Lazy<EditArgs<MoveArgs>>),
        /// List the front matter of documents, or change one key of it
        Meta(Lazy<MetaArgs>),
        /// Make several edits, all or none
        Edit(Lazy<EditArgs<BatchArgs>>),
        /// Print the whole store as a pack
        Dump(Lazy<DumpArgs>),
        /// Load the documents of a pack into the store
        Load(Lazy<LoadArgs>),
        /// Make a store equal to another one, without parsing
        Copy(Lazy<CopyArgs>),
        /// Run a server for agents: the Model Context Protocol on standard input and output
        Mcp(Lazy<McpArgs>),
        /// Print a script that completes commands, options, documents and addresses in a shell
        Completions(Lazy<CompletionsArgs>),
        /// Print a page of the reference, or list the pages
        Help(Lazy<HelpArgs>),
        /// Print a manual page
        Man(Lazy<ManArgs>),
        /// Print the JSON Schema of an answer, or list the commands that have one
        Schema(Lazy<SchemaArgs>),
        /// Check the store (status 1 if there are problems), and repair it with --repair
        Verify(Lazy<VerifyArgs>),
    }
}

/// Returns every command.
pub(super) fn all() -> Vec<Described> {
    let mut all = Vec::new();
    Command::describe("", &mut all);
    all
}
