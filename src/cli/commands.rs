//! The list of the commands that answer from the store.

use super::context::{ContextArgs, PrimeArgs};
use super::data::{CodeArgs, TablesArgs, TasksArgs};
use super::find::FindArgs;
use super::index::IndexArgs;
use super::lazy::Lazy;
use super::ldmd::LdmdCommand;
use super::links::LinksCommand;
use super::neighbors::NeighborsArgs;
use super::read::ReadArgs;
use super::read_command::read_commands;
use super::search::SearchArgs;
use super::select::SelectArgs;
use super::toc::TocArgs;

read_commands! {
    /// Every command that answers from the store.
    ReadCommands {
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
    }
}
