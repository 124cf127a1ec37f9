//! The command line as clap parses it: names, defaults and help texts, and nothing else.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::engine::ArgValueCompleter;

use super::completions::{addresses, documents, sections};
use crate::limits;
use crate::query::{BLOCK_TYPES, FilterRequest};

/// A persistent, indexed Markdown store for LLM agents.
#[derive(Debug, Parser)]
#[command(name = "mdsel", version, about, disable_help_subcommand = true)]
pub(super) struct Cli {
    #[command(flatten)]
    pub(super) global: Global,
    #[command(subcommand)]
    pub(super) command: Command,
}

/// Options that are accepted before and after the name of the command.
#[derive(Clone, Debug, Args)]
pub(super) struct Global {
    /// Use this store file [default: $MDSEL_DB, or the nearest .mdsel.db in this folder or above]
    #[arg(long, global = true, value_name = "PATH")]
    pub(super) db: Option<PathBuf>,
    /// Print the answer in this format
    #[arg(
        short,
        long,
        global = true,
        value_enum,
        help = "Print the answer in this format [default: $MDSEL_FORMAT, or text on a terminal, else \
                json]"
    )]
    pub(super) format: Option<FormatName>,
    /// Limit the answer to N characters; it stays valid in its format
    #[arg(long, global = true, value_name = "N")]
    pub(super) max_chars: Option<usize>,
    /// Indent JSON
    #[arg(long, global = true)]
    pub(super) pretty: bool,
    /// First ingest the changed files that the answer comes from
    #[arg(long, global = true)]
    pub(super) refresh: bool,
    /// Color text
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub(super) color: Color,
}

/// The name of an output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum FormatName {
    /// One JSON value
    Json,
    /// One JSON value per line: each result, hit or row
    Jsonl,
    /// The bytes of the content, and nothing else
    Raw,
    /// Text for people
    Text,
    /// A Markdown document of sections that can be read one by one
    Ldmd,
    /// One record per line, for the context of a model: links, context, prime, search, toc
    Records,
    /// Markdown blocks, for the context of a model: context
    Markdown,
    /// A diagram of links, for Mermaid: links
    Mermaid,
    /// A diagram of links, for Graphviz: links
    Dot,
    /// Comma-separated values, with a header: tables
    Csv,
}

/// When to color text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Build or refresh the store
    Ingest(IngestArgs),
    /// Print what the store contains
    Status(StatusArgs),
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
    /// List the front matter of documents, or change one key of it
    Meta(MetaArgs),
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
    /// Replace a section of a file
    Replace(ReplaceArgs),
    /// Insert content next to or below a section
    Insert(InsertArgs),
    /// Delete a section
    Delete(DeleteArgs),
    /// Mark a task as done or open
    Task(TaskArgs),
    /// Make several edits to one file, all or none
    Edit(EditArgs),
    /// Print the whole store as a pack
    Dump(DumpArgs),
    /// Load the documents of a pack into the store
    Load(LoadArgs),
    /// Run a server for agents: the Model Context Protocol on standard input and output
    Mcp(McpArgs),
    /// Print a script that completes commands, options, documents and addresses in a shell
    Completions(CompletionsArgs),
    /// Print a page of the reference, or list the pages
    Help(HelpArgs),
    /// Print a manual page
    Man(ManArgs),
    /// Print the JSON Schema of an answer, or list the commands that have one
    Schema(SchemaArgs),
    /// Check the store (status 1 if there are problems), and repair it with --repair
    Verify(VerifyArgs),
}

impl Command {
    /// Returns whether the answer of this command can be printed in `format`.
    pub(super) fn has(&self, format: FormatName) -> bool {
        let is_walk = matches!(
            self,
            Self::Links(LinksCommand::List(_) | LinksCommand::Tree(_) | LinksCommand::Path(_))
        );
        match format {
            FormatName::Json | FormatName::Jsonl | FormatName::Text | FormatName::Ldmd => true,
            FormatName::Raw => {
                matches!(
                    self,
                    Self::Select(_)
                        | Self::Read(_)
                        | Self::Code(_)
                        | Self::Ldmd(LdmdCommand::Get(_) | LdmdCommand::Emit(_))
                ) || self.is_trial()
            }
            FormatName::Records => {
                is_walk
                    || matches!(
                        self,
                        Self::Search(_)
                            | Self::Toc(_)
                            | Self::Context(_)
                            | Self::Prime(_)
                            | Self::Code(_)
                            | Self::Tables(_)
                            | Self::Tasks(_)
                    )
                    || matches!(self, Self::Meta(_))
            }
            FormatName::Markdown => matches!(self, Self::Context(_)),
            FormatName::Csv => matches!(self, Self::Tables(_)),
            FormatName::Mermaid | FormatName::Dot => is_walk,
        }
    }

    /// Returns whether this is an edit with `--dry-run`, whose answer is a diff.
    fn is_trial(&self) -> bool {
        match self {
            Self::Replace(arguments) => arguments.options.dry_run,
            Self::Insert(arguments) => arguments.options.dry_run,
            Self::Delete(arguments) => arguments.options.dry_run,
            Self::Edit(arguments) => arguments.options.dry_run,
            Self::Task(arguments) => arguments.options.dry_run,
            Self::Meta(MetaArgs { change: Some(change), .. }) => change.options().dry_run,
            _ => false,
        }
    }
}

/// Arguments of `ingest`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel ingest docs")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command")]
pub(super) struct IngestArgs {
    /// Ingest only these files and folders [default: the root]
    #[arg(value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,
    /// Make document paths relative to this folder; the first ingest fixes it
    #[arg(long, value_name = "FOLDER")]
    pub(super) root: Option<PathBuf>,
    /// Take files with these extensions (remembered) [default: md,markdown,mdx]
    #[arg(long, value_name = "EXT", value_delimiter = ',', value_parser = extension)]
    pub(super) ext: Option<Vec<String>>,
    /// Take hidden files (remembered)
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub(super) hidden: Option<bool>,
    /// Do not respect .gitignore, .ignore and .mdselignore files (remembered)
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub(super) no_ignore: Option<bool>,
    /// Skip larger files (remembered) [default: 32M]
    #[arg(long, value_name = "BYTES", value_parser = byte_size)]
    pub(super) max_file_size: Option<u64>,
    /// Resolve links that begin with / in this folder, the source of a web site or of its path
    /// PREFIX (repeatable, remembered; '' for none)
    #[arg(long = "site-root", value_name = "FOLDER[=/PREFIX]")]
    pub(super) site_roots: Option<Vec<String>>,
    /// Change nothing; exit with status 1 if the store is out of date
    #[arg(long, conflicts_with_all = ["dry_run", "force"])]
    pub(super) check: bool,
    /// Change nothing; list what would change
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Parse unchanged files again
    #[arg(long)]
    pub(super) force: bool,
    /// Keep running and ingest each change; print an answer for each
    #[arg(long, conflicts_with_all = ["check", "dry_run"])]
    pub(super) watch: bool,
    /// Wait up to this many seconds for another writer
    #[arg(long, value_name = "SECONDS", default_value_t = limits::LOCK_WAIT_SECONDS as u64,
        value_parser = clap::value_parser!(u64).range(..=limits::MAX_LOCK_WAIT_SECONDS as u64))]
    pub(super) wait: u64,
}

/// Arguments of `status`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel status -f text")]
pub(super) struct StatusArgs {
    /// List the files that have changed since the ingest
    #[arg(long)]
    pub(super) stale: bool,
    /// List every limit of the program
    #[arg(long)]
    pub(super) limits: bool,
}

/// Limits of a list.
#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// List at most N items; 0 for all
    #[arg(long, value_name = "N", default_value_t = limits::LIST_LIMIT)]
    pub(super) limit: usize,
    /// Continue where an answer ended: its `next`
    #[arg(long, value_name = "CURSOR")]
    pub(super) after: Option<String>,
}

/// Filters by document, the same for every command that reads many documents.
#[derive(Debug, Args)]
pub(super) struct DocumentFilterArgs {
    /// Take only documents whose path matches this glob; a leading ! excludes them; repeatable
    #[arg(short, long = "glob", value_name = "GLOB", allow_hyphen_values = true)]
    pub(super) globs: Vec<String>,
    /// Take only documents with this tag; if repeated, with all of them
    #[arg(long = "tag", value_name = "TAG")]
    pub(super) tags: Vec<String>,
    /// Take only what is below this folder, document or section; repeatable
    #[arg(long, value_name = "ADDRESS", add = ArgValueCompleter::new(addresses))]
    pub(super) under: Vec<String>,
}

impl DocumentFilterArgs {
    /// Returns the filter for these arguments.
    pub(super) fn request(&self) -> FilterRequest {
        FilterRequest {
            globs: self.globs.clone(),
            tags: self.tags.clone(),
            under: self.under.clone(),
            ..FilterRequest::default()
        }
    }
}

/// Filters by document, section and block, the same for every command that reads many documents.
#[derive(Debug, Args)]
pub(super) struct FilterArgs {
    #[command(flatten)]
    pub(super) documents: DocumentFilterArgs,
    /// Take only blocks of this type, or places that contain one; repeatable
    #[arg(long = "type", value_name = "TYPE", value_parser = BLOCK_TYPES)]
    pub(super) types: Vec<String>,
    /// Take only sections of this level, 1 to 6
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=6))]
    pub(super) level: Option<u8>,
    /// Sort documents by path, title or a key of front matter; -KEY for descending
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    pub(super) sort: Option<String>,
    /// Take only documents whose front matter matches, as in 'status = Final and due < 2026-06-01'
    #[arg(long = "where", value_name = "EXPR", id = "where")]
    pub(super) condition: Option<String>,
}

impl FilterArgs {
    /// Returns the filter as a request of the library.
    pub(super) fn request(&self) -> FilterRequest {
        FilterRequest {
            types: self.types.clone(),
            level: self.level,
            sort: self.sort.clone(),
            condition: self.condition.clone(),
            ..self.documents.request()
        }
    }
}

/// Filters of `tables` and `tasks`, whose items have values of their own.
#[derive(Debug, Args)]
pub(super) struct ItemFilterArgs {
    #[command(flatten)]
    pub(super) documents: DocumentFilterArgs,
    /// Take only items in blocks of this type; repeatable
    #[arg(long = "type", value_name = "TYPE", value_parser = BLOCK_TYPES)]
    pub(super) types: Vec<String>,
    /// Take only items in sections of this level, 1 to 6
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=6))]
    pub(super) level: Option<u8>,
    /// Sort documents by path, title or a key of front matter; -KEY for descending
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    pub(super) sort: Option<String>,
    /// Take only rows or tasks that match, as in 'Default = 5' or 'due < 2026-06-01'
    #[arg(long = "where", value_name = "EXPR", id = "where")]
    pub(super) condition: Option<String>,
    /// Take only documents whose front matter matches
    #[arg(long, value_name = "EXPR")]
    pub(super) where_meta: Option<String>,
}

impl ItemFilterArgs {
    /// Returns the filter of documents as a request of the library.
    pub(super) fn request(&self) -> FilterRequest {
        FilterRequest {
            types: self.types.clone(),
            level: self.level,
            sort: self.sort.clone(),
            condition: self.where_meta.clone(),
            ..self.documents.request()
        }
    }
}

/// Arguments of `code`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel code --lang bash --tag install")]
pub(super) struct CodeArgs {
    /// Take only code in this language, by any of its names; repeatable
    #[arg(long = "lang", value_name = "LANGUAGE")]
    pub(super) languages: Vec<String>,
    /// Take only code that contains TEXT, ignoring case
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(super) containing: Option<String>,
    /// Write each block to a new file in this folder
    #[arg(long, value_name = "FOLDER")]
    pub(super) out: Option<PathBuf>,
    #[command(flatten)]
    pub(super) filter: FilterArgs,
    #[command(flatten)]
    pub(super) list: ListArgs,
}

/// Arguments of `tables`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel tables --header Parameter --where 'Parameter = MaxDepth'")]
pub(super) struct TablesArgs {
    /// Take only tables with this column; if repeated, with all of them
    #[arg(long = "header", value_name = "NAME")]
    pub(super) headers: Vec<String>,
    /// Show only these columns
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(super) columns: Vec<String>,
    #[command(flatten)]
    pub(super) filter: ItemFilterArgs,
    #[command(flatten)]
    pub(super) list: ListArgs,
}

/// Arguments of `tasks`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel tasks --open --where 'due < 2026-06-01'")]
pub(super) struct TasksArgs {
    /// Take only open tasks
    #[arg(long, conflicts_with = "done")]
    pub(super) open: bool,
    /// Take only tasks that are done
    #[arg(long)]
    pub(super) done: bool,
    #[command(flatten)]
    pub(super) filter: ItemFilterArgs,
    #[command(flatten)]
    pub(super) list: ListArgs,
}

/// Arguments of `meta`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples: mdsel meta --where 'requires contains 7594' --get title    mdsel meta --types",
    args_conflicts_with_subcommands = true
)]
pub(super) struct MetaArgs {
    #[command(subcommand)]
    pub(super) change: Option<MetaCommand>,
    /// Show only this key; repeatable. Documents with none of the keys are left out
    #[arg(long = "get", value_name = "KEY")]
    pub(super) keys: Vec<String>,
    /// List the keys of all front matter with the types of their values
    #[arg(long = "types", conflicts_with = "keys")]
    pub(super) key_types: bool,
    #[command(flatten)]
    pub(super) filter: FilterArgs,
    #[command(flatten)]
    pub(super) list: ListArgs,
}

/// The changes of `meta`.
#[derive(Debug, Subcommand)]
pub(super) enum MetaCommand {
    /// Set the values of keys; nothing else in the file changes
    Set(MetaSetArgs),
    /// Remove keys; nothing else in the file changes
    Unset(MetaUnsetArgs),
    /// Add a value to the list of a key; nothing else in the file changes
    Add(MetaAddArgs),
}

impl MetaCommand {
    /// Returns the options of the change.
    pub(super) fn options(&self) -> &EditOptions {
        match self {
            Self::Set(arguments) => &arguments.options,
            Self::Unset(arguments) => &arguments.options,
            Self::Add(arguments) => &arguments.options,
        }
    }

    /// Returns the document.
    pub(super) fn document(&mut self) -> &mut String {
        match self {
            Self::Set(arguments) => &mut arguments.document,
            Self::Unset(arguments) => &mut arguments.document,
            Self::Add(arguments) => &mut arguments.document,
        }
    }
}

/// Arguments of `meta set`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel meta set guide status=done 'tags=[a, b]'")]
pub(super) struct MetaSetArgs {
    /// The document
    #[arg(value_name = "DOC", add = ArgValueCompleter::new(documents))]
    pub(super) document: String,
    /// A key, with dots for nested ones, and its value: a number, true, false, null, [a, b], {a: 1}, a
    /// text, or a text in double quotes
    #[arg(value_name = "KEY=VALUE", required = true)]
    pub(super) values: Vec<String>,
    #[command(flatten)]
    pub(super) options: EditOptions,
}

/// Arguments of `meta unset`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel meta unset guide draft")]
pub(super) struct MetaUnsetArgs {
    /// The document
    #[arg(value_name = "DOC", add = ArgValueCompleter::new(documents))]
    pub(super) document: String,
    /// A key, with dots for nested ones
    #[arg(value_name = "KEY", required = true)]
    pub(super) keys: Vec<String>,
    #[command(flatten)]
    pub(super) options: EditOptions,
}

/// Arguments of `meta add`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel meta add guide tags install")]
pub(super) struct MetaAddArgs {
    /// The document
    #[arg(value_name = "DOC", add = ArgValueCompleter::new(documents))]
    pub(super) document: String,
    /// The key of the list, which is made if it is missing
    #[arg(value_name = "KEY")]
    pub(super) key: String,
    /// The values to add, unless the list has them
    #[arg(value_name = "VALUE", required = true)]
    pub(super) values: Vec<String>,
    #[command(flatten)]
    pub(super) options: EditOptions,
}

/// Arguments of `task`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel task 'todo::heading:h2[0]/block:list[0]/item[3]' --done")]
pub(super) struct TaskArgs {
    /// The document; or the whole address of the list item, without SECTION
    #[arg(value_name = "DOC|ADDRESS", add = ArgValueCompleter::new(documents))]
    pub(super) first: String,
    /// The list item in the document
    #[arg(value_name = "SECTION", add = ArgValueCompleter::new(sections))]
    pub(super) section: Option<String>,
    /// Mark the task as done
    #[arg(long, conflicts_with = "open", required_unless_present = "open")]
    pub(super) done: bool,
    /// Mark the task as open
    #[arg(long)]
    pub(super) open: bool,
    #[command(flatten)]
    pub(super) options: EditOptions,
}

/// Arguments of `index`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel index guide -f text")]
pub(super) struct IndexArgs {
    /// Documents: a path, a unique suffix of one, a folder or a glob [default: all]
    #[arg(value_name = "DOC", add = ArgValueCompleter::new(documents))]
    pub(super) documents: Vec<String>,
    /// List blocks, too, with a preview
    #[arg(long)]
    pub(super) blocks: bool,
    #[command(flatten)]
    pub(super) filter: FilterArgs,
    #[command(flatten)]
    pub(super) list: ListArgs,
}

/// Arguments of `select`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel select 'guide::heading:h2[1]/block:code[0]'")]
pub(super) struct SelectArgs {
    /// Addresses, answered in this order; - reads them from standard input, one per line
    #[arg(value_name = "ADDRESS", required = true, add = ArgValueCompleter::new(addresses))]
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

/// Arguments of `toc`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel toc guide -f text --max-level 2")]
pub(super) struct TocArgs {
    /// Documents: a path, a unique suffix of one, a folder or a glob [default: all]
    #[arg(value_name = "DOC", add = ArgValueCompleter::new(documents))]
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

/// Arguments of `read`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel read guide 'Install/From source'")]
pub(super) struct ReadArgs {
    /// A document; or the whole address, without SECTION
    #[arg(value_name = "DOC|ADDRESS", add = ArgValueCompleter::new(addresses))]
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

/// Arguments of `search`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples: mdsel search 'install windows'    mdsel search -e 'TODO|FIXME' -C 1"
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command")]
pub(super) struct SearchArgs {
    /// A question or words, best passages first: "a phrase", +must, NOT word, prefix*, title:word
    #[arg(value_name = "QUERY", required_unless_present = "patterns", conflicts_with = "patterns")]
    pub(super) query: Vec<String>,
    /// Add another wording of the question, such as the terms its answer may use; repeatable. Two of
    /// these find most answers that the question alone misses
    #[arg(long, value_name = "QUERY", allow_hyphen_values = true,
        conflicts_with_all = ["patterns", "fixed_strings"])]
    pub(super) also: Vec<String>,
    /// Show about N characters of each section that matches; 0 for one line
    #[arg(long, value_name = "N")]
    pub(super) passage: Option<usize>,
    /// Show every section, even if its text is nearly the same as another's
    #[arg(long)]
    pub(super) keep_duplicates: bool,
    /// Omit the lines with the titles of sections; with -e or -F
    #[arg(long)]
    pub(super) no_heading: bool,
    /// Search each line for a regular expression; repeatable
    #[arg(short = 'e', long = "regexp", value_name = "PATTERN", allow_hyphen_values = true)]
    pub(super) patterns: Vec<String>,
    /// Search for the QUERY, or the patterns, as literal text
    #[arg(short = 'F', long)]
    pub(super) fixed_strings: bool,
    /// Ignore case in patterns (words always ignore case)
    #[arg(short, long)]
    pub(super) ignore_case: bool,
    /// Match whole words only; with -e or -F
    #[arg(short, long)]
    pub(super) word_regexp: bool,
    /// Let a match span lines of a section's own text; with -e or -F
    #[arg(short = 'U', long)]
    pub(super) multiline: bool,
    /// Show N lines after each match
    #[arg(short = 'A', long, value_name = "N", value_parser = context_lines)]
    pub(super) after_context: Option<usize>,
    /// Show N lines before each match
    #[arg(short = 'B', long, value_name = "N", value_parser = context_lines)]
    pub(super) before_context: Option<usize>,
    /// Show N lines before and after each match
    #[arg(short = 'C', long, value_name = "N", value_parser = context_lines)]
    pub(super) context: Option<usize>,
    /// Print only the number of hits in each document
    #[arg(short, long, conflicts_with_all = ["files", "quiet"])]
    pub(super) count: bool,
    /// Print only the documents that have a hit
    #[arg(short = 'l', long, conflicts_with = "quiet")]
    pub(super) files: bool,
    /// Show the match instead of its line
    #[arg(short, long)]
    pub(super) only_matching: bool,
    /// Print nothing; exit with status 0 if there is a hit
    #[arg(short, long)]
    pub(super) quiet: bool,
    #[command(flatten)]
    pub(super) filter: FilterArgs,
    /// Explain how the hits were found
    #[arg(long)]
    pub(super) explain: bool,
    /// Print at most N hits; 0 for all
    #[arg(long, value_name = "N", default_value_t = limits::SEARCH_LIMIT)]
    pub(super) limit: usize,
    /// Continue where an answer ended: its `next`
    #[arg(long, value_name = "CURSOR")]
    pub(super) after: Option<String>,
}

/// Rejects `--type` for links, and names `--link-type`.
fn not_a_link_type(name: &str) -> Result<String, String> {
    Err(format!("--type is the type of a block; for a type of link use --link-type {name}"))
}

/// Parses a number of lines around a match.
fn context_lines(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(lines) if lines <= limits::MAX_CONTEXT_LINES => Ok(lines),
        Ok(_) => Err(format!("exceeds the limit context-lines ({})", limits::MAX_CONTEXT_LINES)),
        Err(_) => Err("not a number of lines".to_owned()),
    }
}

/// Arguments of `neighbors`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel neighbors guide#install")]
pub(super) struct NeighborsArgs {
    /// The address of one place
    #[arg(value_name = "ADDRESS", add = ArgValueCompleter::new(addresses))]
    pub(super) address: String,
    /// Continue the children where an answer ended: its `next_children`
    #[arg(long, value_name = "CURSOR")]
    pub(super) after: Option<String>,
}

/// The commands of `links`.
#[derive(Debug, Subcommand)]
pub(super) enum LinksCommand {
    /// List the links of a place
    List(LinksListArgs),
    /// List what links lead to from a place, hop by hop
    Tree(LinksTreeArgs),
    /// Find the shortest path of links between two places
    Path(LinksPathArgs),
    /// List broken links (status 1 if there are any)
    Check(LinksCheckArgs),
}

/// Filters by link.
#[derive(Debug, Args)]
pub(super) struct LinkFilterArgs {
    /// Follow links out of the place, into it, or both
    #[arg(long, value_enum, default_value_t = DirectionName::Both)]
    pub(super) direction: DirectionName,
    /// Follow only links of this type: related, embeds, references, or a type of front matter;
    /// repeatable
    #[arg(long = "link-type", value_name = "TYPE")]
    pub(super) link_types: Vec<String>,
    /// Rejected with a hint: in other commands this is the type of a block
    #[arg(long = "type", value_name = "TYPE", hide = true, value_parser = not_a_link_type)]
    _types: Vec<String>,
    /// Follow only links of front matter
    #[arg(long, conflicts_with = "inline_only")]
    pub(super) typed_only: bool,
    /// Follow only links of the text
    #[arg(long)]
    pub(super) inline_only: bool,
    /// Print at most N places; 0 for all
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) max_nodes: usize,
}

/// The direction of a link, seen from a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum DirectionName {
    /// Links that lead out of the place
    Out,
    /// Links that lead into it
    In,
    /// Both
    Both,
}

/// Arguments of `links list`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel links list guide.md --direction in")]
pub(super) struct LinksListArgs {
    /// The address of one place
    #[arg(value_name = "ADDRESS", add = ArgValueCompleter::new(addresses))]
    pub(super) address: String,
    // Of the documents at the other ends of the links.
    #[command(flatten)]
    pub(super) documents: DocumentFilterArgs,
    /// Take only documents whose front matter matches, as in 'status = Final'
    #[arg(long = "where", value_name = "EXPR", id = "where")]
    pub(super) condition: Option<String>,
    #[command(flatten)]
    pub(super) filter: LinkFilterArgs,
    #[command(flatten)]
    pub(super) list: ListArgs,
}

/// Arguments of `links tree`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel links tree guide.md --max-hops 2 -f text")]
pub(super) struct LinksTreeArgs {
    /// The address of the place to start at
    #[arg(value_name = "ADDRESS", add = ArgValueCompleter::new(addresses))]
    pub(super) address: String,
    /// Follow at most N links in a row
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(super) max_hops: usize,
    #[command(flatten)]
    pub(super) filter: LinkFilterArgs,
    /// Continue where an answer ended: its `next`
    #[arg(long, value_name = "CURSOR")]
    pub(super) after: Option<String>,
}

/// Arguments of `links path`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel links path guide.md faq.md -f records")]
pub(super) struct LinksPathArgs {
    /// The address of the place to start at
    #[arg(value_name = "FROM", add = ArgValueCompleter::new(addresses))]
    pub(super) from: String,
    /// The address of the place to reach
    #[arg(value_name = "TO", add = ArgValueCompleter::new(addresses))]
    pub(super) to: String,
    /// Follow at most N links in a row
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(super) max_hops: usize,
    #[command(flatten)]
    pub(super) filter: LinkFilterArgs,
    /// Continue where an answer ended: its `next`
    #[arg(long, value_name = "CURSOR")]
    pub(super) after: Option<String>,
}

/// Arguments of `links check`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel links check docs -f text")]
pub(super) struct LinksCheckArgs {
    /// Documents: a path, a unique suffix of one, a folder or a glob [default: all]
    #[arg(value_name = "DOC", add = ArgValueCompleter::new(documents))]
    pub(super) documents: Vec<String>,
    #[command(flatten)]
    pub(super) filter: FilterArgs,
    /// List at most N problems; 0 for all
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) limit: usize,
    /// Continue where an answer ended: its `next`
    #[arg(long, value_name = "CURSOR")]
    pub(super) after: Option<String>,
}

/// Arguments of `context`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples: mdsel context --query 'install windows' --links 1 -f records\n          \
                  mdsel context guide.md#install --with-body --item error=@build.log -f markdown"
)]
pub(super) struct ContextArgs {
    /// Addresses to take; - reads them from standard input, one per line
    #[arg(value_name = "ADDRESS", add = ArgValueCompleter::new(addresses),
        required_unless_present_any = ["query", "tags", "under", "globs", "types", "level", "items"])]
    pub(super) addresses: Vec<String>,
    /// Take the passages that best match this question or these words
    #[arg(long, value_name = "QUERY", allow_hyphen_values = true)]
    pub(super) query: Option<String>,
    /// Add another wording of the question, such as the terms its answer may use; repeatable
    #[arg(long, value_name = "QUERY", allow_hyphen_values = true, requires = "query")]
    pub(super) also: Vec<String>,
    /// Show about N characters of each section that matches the query
    #[arg(long, value_name = "N", requires = "query")]
    pub(super) passage: Option<usize>,
    #[command(flatten)]
    pub(super) filter: FilterArgs,
    /// Take also what is up to N links away
    #[arg(long = "links", value_name = "N", default_value_t = 0)]
    pub(super) hops: usize,
    /// Print the content, not only a summary
    #[arg(long)]
    pub(super) with_body: bool,
    /// Add text from outside: code, error, text, repl-history or file; repeatable
    #[arg(long = "item", value_name = "TYPE[:FILE[:START-END]]=TEXT|@FILE|-")]
    pub(super) items: Vec<String>,
    /// Mark the fences of all blocks with this language; with -f markdown
    #[arg(long, value_name = "LANGUAGE")]
    pub(super) lang: Option<String>,
    #[command(flatten)]
    pub(super) list: ListArgs,
}

/// Options that all edits have.
#[derive(Debug, Args)]
pub(super) struct EditOptions {
    /// Print the change as a unified diff, and write nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Edit only if the place, or the whole file, has this hash, which `read` prints
    #[arg(long, value_name = "HASH")]
    pub(super) expect: Option<String>,
    /// Accept a unique part of a title as the name of the section
    #[arg(long)]
    pub(super) fuzzy: bool,
    /// Wait up to this many seconds for another writer
    #[arg(long, value_name = "SECONDS", default_value_t = limits::LOCK_WAIT_SECONDS as u64,
        value_parser = clap::value_parser!(u64).range(..=limits::MAX_LOCK_WAIT_SECONDS as u64))]
    pub(super) wait: u64,
}

/// New content. It comes from standard input if neither option is given. No content at all is an
/// error.
#[derive(Debug, Args)]
pub(super) struct ContentArgs {
    /// Use TEXT as the new content; '' empties the place
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, conflicts_with = "content_file")]
    pub(super) content: Option<String>,
    /// Read the new content from FILE; - for standard input
    #[arg(long, value_name = "FILE")]
    pub(super) content_file: Option<PathBuf>,
}

/// Arguments of `replace`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel replace guide Install --content 'Run the installer.'")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command")]
pub(super) struct ReplaceArgs {
    /// The document; or the whole address, without SECTION
    #[arg(value_name = "DOC|ADDRESS", add = ArgValueCompleter::new(documents))]
    pub(super) first: String,
    /// The place in the document: a slug path, an exact title, @LINE, a selector, @frontmatter or
    /// ldmd:ID
    #[arg(value_name = "SECTION", add = ArgValueCompleter::new(sections))]
    pub(super) section: Option<String>,
    #[command(flatten)]
    pub(super) content: ContentArgs,
    /// Keep child sections as they are
    #[arg(long)]
    pub(super) no_children: bool,
    /// Replace the heading, too
    #[arg(long)]
    pub(super) no_keep_heading: bool,
    /// Allow sections that the content lacks to disappear
    #[arg(long)]
    pub(super) allow_drop: bool,
    /// Allow headings of the content to leave the section
    #[arg(long)]
    pub(super) allow_escape: bool,
    /// Allow titles, links or blocks outside the place to change
    #[arg(long)]
    pub(super) allow_change: bool,
    #[command(flatten)]
    pub(super) options: EditOptions,
}

/// Arguments of `insert`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: mdsel insert guide Install --position last_child --content-file new.md"
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command")]
pub(super) struct InsertArgs {
    /// The document; or the whole address, without SECTION
    #[arg(value_name = "DOC|ADDRESS", add = ArgValueCompleter::new(documents))]
    pub(super) first: String,
    /// The place next to or below which to insert
    #[arg(value_name = "SECTION", add = ArgValueCompleter::new(sections))]
    pub(super) section: Option<String>,
    #[command(flatten)]
    pub(super) content: ContentArgs,
    /// Insert the content at this position
    #[arg(long, value_enum, default_value_t = PositionName::After)]
    pub(super) position: PositionName,
    /// Shift the levels of its headings to fit the place
    #[arg(long)]
    pub(super) relevel: bool,
    /// Allow its headings to take over the sections that follow
    #[arg(long)]
    pub(super) allow_escape: bool,
    /// Allow inserting next to an identical section
    #[arg(long)]
    pub(super) allow_duplicate: bool,
    /// Allow titles, links or blocks outside the place to change
    #[arg(long)]
    pub(super) allow_change: bool,
    #[command(flatten)]
    pub(super) options: EditOptions,
}

/// A position relative to a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(super) enum PositionName {
    /// Before the section
    Before,
    /// After the section and its subsections
    After,
    /// After its own text, before its first subsection
    FirstChild,
    /// After its last subsection
    LastChild,
}

/// Arguments of `delete`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel delete guide 'Install/From source' --dry-run")]
pub(super) struct DeleteArgs {
    /// The document; or the whole address, without SECTION
    #[arg(value_name = "DOC|ADDRESS", add = ArgValueCompleter::new(documents))]
    pub(super) first: String,
    /// The place to delete, with everything below it
    #[arg(value_name = "SECTION", add = ArgValueCompleter::new(sections))]
    pub(super) section: Option<String>,
    /// Keep child sections; they belong to another section afterwards
    #[arg(long)]
    pub(super) no_children: bool,
    /// Allow the sections that follow to belong to another section
    #[arg(long)]
    pub(super) allow_escape: bool,
    /// Allow titles, links or blocks outside the place to change
    #[arg(long)]
    pub(super) allow_change: bool,
    #[command(flatten)]
    pub(super) options: EditOptions,
}

/// Arguments of `edit`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel edit guide --batch edits.jsonl")]
pub(super) struct EditArgs {
    /// The document
    #[arg(value_name = "DOC", add = ArgValueCompleter::new(documents))]
    pub(super) document: String,
    /// Read the edits from FILE, one JSON object per line: operation, section, content, position
    /// and the options of the command
    #[arg(long, value_name = "FILE")]
    pub(super) batch: PathBuf,
    #[command(flatten)]
    pub(super) options: EditOptions,
}

/// Arguments of `dump`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel dump > docs.pack")]
pub(super) struct DumpArgs {
    /// Add the files below the root that documents link to
    #[arg(long)]
    pub(super) attachments: bool,
}

/// Arguments of `load`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel --db copy.db load docs.pack")]
pub(super) struct LoadArgs {
    /// The pack; - for standard input
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
    /// What to do with documents that are already in the store
    #[arg(long, value_enum, default_value_t = StrategyName::Skip)]
    pub(super) strategy: StrategyName,
    /// Write the attachments of the pack below this folder, never over another file
    #[arg(long, value_name = "FOLDER")]
    pub(super) attachments: Option<PathBuf>,
    /// Wait up to this many seconds for another writer
    #[arg(long, value_name = "SECONDS", default_value_t = limits::LOCK_WAIT_SECONDS as u64,
        value_parser = clap::value_parser!(u64).range(..=limits::MAX_LOCK_WAIT_SECONDS as u64))]
    pub(super) wait: u64,
}

/// Arguments of `mcp`.
#[derive(Debug, Args)]
#[command(after_help = "Example: claude mcp add docs -- mdsel --db docs/.mdsel.db mcp\n\n\
                  -f and --max-chars (here 24000) apply to replies unless a call sets its own.")]
pub(super) struct McpArgs {
    /// Offer the edit tool, too
    #[arg(long)]
    pub(super) allow_write: bool,
}

/// Arguments of `completions`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples: source <(mdsel completions bash)    mdsel completions fish | source\n          \
                  mdsel completions powershell | Out-String | Invoke-Expression"
)]
pub(super) struct CompletionsArgs {
    /// The shell that runs the script
    #[arg(value_enum, value_name = "SHELL")]
    pub(super) shell: ShellName,
}

/// A shell that can complete words of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ShellName {
    /// bash 4.4 or newer
    Bash,
    /// zsh
    Zsh,
    /// fish
    Fish,
    /// PowerShell, 5 or newer
    #[value(name = "powershell")]
    PowerShell,
}

/// Arguments of `help`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel help addresses")]
pub(super) struct HelpArgs {
    /// A page of the reference, or a command [default: the list of pages]
    #[arg(value_name = "TOPIC")]
    pub(super) topic: Vec<String>,
}

/// Arguments of `man`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel man search | man -l -")]
pub(super) struct ManArgs {
    /// The command to describe, such as `links tree` [default: the whole program]
    #[arg(value_name = "COMMAND")]
    pub(super) command: Vec<String>,
}

/// Arguments of `schema`.
#[derive(Debug, Args)]
#[command(after_help = "Examples: mdsel schema search --pretty\n          mdsel schema links tree")]
pub(super) struct SchemaArgs {
    /// The command whose answer it describes, as `links tree`, or `error` [default: the list of commands]
    #[arg(value_name = "COMMAND")]
    pub(super) command: Vec<String>,
}

/// Arguments of `prime`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel prime -f records")]
pub(super) struct PrimeArgs {
    /// Print a skill file instead, which explains the program to an agent
    #[arg(long)]
    pub(super) skill: bool,
    /// Continue where an answer ended: its `next`
    #[arg(long, value_name = "CURSOR")]
    pub(super) after: Option<String>,
}

/// Arguments of `verify`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel verify --reparse -f text")]
pub(super) struct VerifyArgs {
    /// Let SQLite check that all of its indexes agree with its tables, too
    #[arg(long)]
    pub(super) full: bool,
    /// Parse every document again, and compare
    #[arg(long)]
    pub(super) reparse: bool,
    /// Repair the problems found; a damaged store file is kept under another name
    #[arg(long, conflicts_with = "after")]
    pub(super) repair: bool,
    /// List at most N problems; 0 for all
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) limit: usize,
    /// Continue where an answer ended: its `next`
    #[arg(long, value_name = "CURSOR")]
    pub(super) after: Option<String>,
    /// Wait up to this many seconds for another writer
    #[arg(long, value_name = "SECONDS", default_value_t = limits::LOCK_WAIT_SECONDS as u64,
        value_parser = clap::value_parser!(u64).range(..=limits::MAX_LOCK_WAIT_SECONDS as u64))]
    pub(super) wait: u64,
}

/// What to do with a document that is already in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum StrategyName {
    /// Keep the document of the store
    Skip,
    /// Replace it with the document of the pack
    Overwrite,
}

/// The commands of `ldmd`.
#[derive(Debug, Subcommand)]
pub(super) enum LdmdCommand {
    /// List the sections of a document in the order of their opening markers
    Index(LdmdIndexArgs),
    /// Print a section: all of it, a preview, or its summary
    Get(LdmdGetArgs),
    /// Find the lines of a document's sections that contain a text
    Search(LdmdSearchArgs),
    /// List the sections around a section
    Neighbors(LdmdNeighborsArgs),
    /// List problems of markers (status 1 if there are any)
    Check(LdmdCheckArgs),
    /// Print a document with one LDMD section for each of its headings
    Emit(LdmdEmitArgs),
}

/// Arguments of `ldmd index`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel ldmd index answer.md -f text")]
pub(super) struct LdmdIndexArgs {
    /// The document
    #[arg(value_name = "DOC", add = ArgValueCompleter::new(documents))]
    pub(super) document: String,
    /// List at most N sections; 0 for all
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) limit: usize,
    /// Continue where an answer ended: its `next`
    #[arg(long, value_name = "CURSOR")]
    pub(super) after: Option<String>,
}

/// Arguments of `ldmd get`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel ldmd get answer.md --id key_findings --mode tldr -f raw")]
pub(super) struct LdmdGetArgs {
    /// The document
    #[arg(value_name = "DOC", add = ArgValueCompleter::new(documents))]
    pub(super) document: String,
    /// The id of the section; ID@LINE if two sections have the same id
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    pub(super) id: String,
    /// How much of the section to print
    #[arg(long, value_enum, default_value_t = ModeName::Full)]
    pub(super) mode: ModeName,
    /// Show nested sections down to depth N; 0 for none [default: all; 1 in a preview]
    #[arg(long, value_name = "N")]
    pub(super) depth: Option<usize>,
    /// Print at most N bytes; 0 means all, or 4096 in a preview
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) limit_bytes: usize,
    /// Omit the markers of sections
    #[arg(long)]
    pub(super) strip_markers: bool,
    /// Continue where an answer ended: its `next`
    #[arg(long, value_name = "CURSOR")]
    pub(super) after: Option<String>,
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
#[command(after_help = "Example: mdsel ldmd search answer.md --query timeout")]
pub(super) struct LdmdSearchArgs {
    /// The document
    #[arg(value_name = "DOC", add = ArgValueCompleter::new(documents))]
    pub(super) document: String,
    /// The text to search for, ignoring case
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(super) query: String,
    /// List at most N lines; 0 for all
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) limit: usize,
    /// Continue where an answer ended: its `next`
    #[arg(long, value_name = "CURSOR")]
    pub(super) after: Option<String>,
}

/// Arguments of `ldmd neighbors`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel ldmd neighbors answer.md --id summary")]
pub(super) struct LdmdNeighborsArgs {
    /// The document
    #[arg(value_name = "DOC", add = ArgValueCompleter::new(documents))]
    pub(super) document: String,
    /// The id of the section; ID@LINE if two sections have the same id
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    pub(super) id: String,
    /// Continue the children where an answer ended: its `next_children`
    #[arg(long, value_name = "CURSOR")]
    pub(super) after: Option<String>,
}

/// Arguments of `ldmd check`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel ldmd check")]
pub(super) struct LdmdCheckArgs {
    /// Documents: a path, a unique suffix of one, a folder or a glob [default: all]
    #[arg(value_name = "DOC", add = ArgValueCompleter::new(documents))]
    pub(super) documents: Vec<String>,
    /// List at most N problems; 0 for all
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) limit: usize,
    /// Continue where an answer ended: its `next`
    #[arg(long, value_name = "CURSOR")]
    pub(super) after: Option<String>,
}

/// Arguments of `ldmd emit`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel ldmd emit guide > guide.ldmd.md")]
pub(super) struct LdmdEmitArgs {
    /// The document
    #[arg(value_name = "DOC", add = ArgValueCompleter::new(documents))]
    pub(super) document: String,
    /// Continue where an answer ended: its `next`
    #[arg(long, value_name = "CURSOR")]
    pub(super) after: Option<String>,
}

/// Parses a file extension, with or without its dot.
fn extension(text: &str) -> Result<String, String> {
    let extension = text.strip_prefix('.').unwrap_or(text);
    let is_one = !extension.is_empty() && !extension.contains(['.', '/']);
    is_one.then(|| extension.to_owned()).ok_or_else(|| "not a file extension such as md".to_owned())
}

/// Parses a number of bytes, with an optional suffix K, M or G for powers of 1024.
fn byte_size(text: &str) -> Result<u64, String> {
    let upper = text.to_ascii_uppercase();
    let number = upper.strip_suffix('B').unwrap_or(&upper);
    let units = [('K', 1 << 10), ('M', 1 << 20), ('G', 1 << 30)];
    let (digits, unit) = units
        .into_iter()
        .find_map(|(name, unit)| number.strip_suffix(name).map(|digits| (digits, unit)))
        .unwrap_or((number, 1));
    let bytes = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    match bytes {
        Some(bytes) if bytes <= limits::LARGEST_MAX_FILE_BYTES as u64 => Ok(bytes),
        Some(_) => Err("exceeds the limit largest-max-file-size (1G)".to_owned()),
        None => Err("not a number of bytes such as 500K or 32M".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn clap_accepts_the_definition() {
        Cli::command().debug_assert();
    }

    #[test]
    fn byte_sizes_accept_units() {
        assert_eq!(byte_size("500"), Ok(500));
        assert_eq!(byte_size("2k"), Ok(2048));
        assert_eq!(byte_size("32MB"), Ok(32 << 20));
        assert!(byte_size("2G").is_err());
        assert!(byte_size("x").is_err());
        assert!(byte_size("5KK").is_err());
    }
}
