//! The list of the commands that answer from the store.

use super::context::{ContextArgs, PrimeArgs};
use super::data::{CodeArgs, TablesArgs, TasksArgs};
use super::find::FindArgs;
use super::index::IndexArgs;
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
