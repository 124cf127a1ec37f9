//! The command line as clap reads it: names, defaults and help, and nothing else.

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

/// Options that stand before or after the command's name.
#[derive(Clone, Debug, Args)]
pub(super) struct Global {
    /// The store file [default: $MDSEL_DB, or the nearest .mdsel.db upwards]
    #[arg(long, global = true, value_name = "PATH")]
    pub(super) db: Option<PathBuf>,
    /// How to print the answer
    #[arg(
        short,
        long,
        global = true,
        value_enum,
        help = "How to print the answer [default: $MDSEL_FORMAT, or text on a terminal, else json]"
    )]
    pub(super) format: Option<FormatName>,
    /// Print at most this many characters, a valid answer still
    #[arg(long, global = true, value_name = "N")]
    pub(super) max_chars: Option<usize>,
    /// Indent JSON
    #[arg(long, global = true)]
    pub(super) pretty: bool,
    /// Bring what is asked for up to date first
    #[arg(long, global = true)]
    pub(super) refresh: bool,
    /// Colour text
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub(super) color: Color,
}

/// A format by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum FormatName {
    /// One JSON value
    Json,
    /// One JSON value a line and item
    Jsonl,
    /// The bytes of the content alone
    Raw,
    /// For people
    Text,
    /// A Markdown document of sections to be read one by one
    Ldmd,
    /// A line a record, for the context of a model: links, context, prime, search, toc
    Records,
    /// Blocks of Markdown, for the context of a model: context
    Markdown,
    /// A drawing of links
    Mermaid,
    /// A drawing of links
    Dot,
}

/// When to colour.
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
    /// Tell what the store holds
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
    /// Search words, ranked, or with -e patterns, exactly
    Search(SearchArgs),
    /// Tell what stands around a place
    Neighbors(NeighborsArgs),
    /// Read documents whose sections are marked, part by part
    #[command(subcommand)]
    Ldmd(LdmdCommand),
    /// Follow links between documents and sections
    #[command(subcommand)]
    Links(LinksCommand),
    /// Bundle places, and text from outside, for the context of a model
    Context(ContextArgs),
    /// Tell what an agent should know of the store first
    Prime(PrimeArgs),
    /// Replace a section of a file, and nothing else
    Replace(ReplaceArgs),
    /// Insert content beside or below a section
    Insert(InsertArgs),
    /// Delete a section
    Delete(DeleteArgs),
    /// Make several edits of one file, all or none
    Edit(EditArgs),
    /// Print the whole store as a pack
    Dump(DumpArgs),
    /// Bring the documents of a pack into the store
    Load(LoadArgs),
    /// Serve agents: the Model Context Protocol on standard input and output
    Mcp(McpArgs),
    /// Print what makes a shell complete commands, options, documents and addresses
    Completions(CompletionsArgs),
    /// Print a page of the reference, or list the pages
    Help(HelpArgs),
    /// Print a manual page
    Man(ManArgs),
    /// Print the JSON Schema of an answer, or list the commands that have one
    Schema(SchemaArgs),
    /// Check the store itself (status 1 where something is wrong), and mend it with --repair
    Verify(VerifyArgs),
}

impl Command {
    /// Whether its answer has that form.
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
                        | Self::Ldmd(LdmdCommand::Get(_) | LdmdCommand::Emit(_))
                ) || self.is_trial()
            }
            FormatName::Records => {
                is_walk
                    || matches!(
                        self,
                        Self::Search(_) | Self::Toc(_) | Self::Context(_) | Self::Prime(_)
                    )
            }
            FormatName::Markdown => matches!(self, Self::Context(_)),
            FormatName::Mermaid | FormatName::Dot => is_walk,
        }
    }

    /// Whether it is an edit that is only tried, whose answer is a diff.
    fn is_trial(&self) -> bool {
        match self {
            Self::Replace(arguments) => arguments.options.dry_run,
            Self::Insert(arguments) => arguments.options.dry_run,
            Self::Delete(arguments) => arguments.options.dry_run,
            Self::Edit(arguments) => arguments.options.dry_run,
            _ => false,
        }
    }
}

/// `ingest`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel ingest docs")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command")]
pub(super) struct IngestArgs {
    /// Files and folders to bring up to date [default: the root]
    #[arg(value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,
    /// The folder that document paths are relative to, fixed by the first ingest
    #[arg(long, value_name = "FOLDER")]
    pub(super) root: Option<PathBuf>,
    /// Extensions to take, remembered [default: md,markdown,mdx]
    #[arg(long, value_name = "EXT", value_delimiter = ',', value_parser = extension)]
    pub(super) ext: Option<Vec<String>>,
    /// Take hidden files, remembered
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub(super) hidden: Option<bool>,
    /// Do not read .gitignore, .ignore and .mdselignore, remembered
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub(super) no_ignore: Option<bool>,
    /// Skip larger files, remembered [default: 32M]
    #[arg(long, value_name = "BYTES", value_parser = byte_size)]
    pub(super) max_file_size: Option<u64>,
    /// Where links that begin with / lead: the folder that a web site, or a path of it, is made of
    /// (repeatable, remembered; '' for none)
    #[arg(long = "site-root", value_name = "FOLDER[=/PREFIX]")]
    pub(super) site_roots: Option<Vec<String>>,
    /// Change nothing; tell whether the store is out of date (status 1 where it is)
    #[arg(long, conflicts_with_all = ["dry_run", "force"])]
    pub(super) check: bool,
    /// Change nothing; list what would change
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Parse what has not changed, too
    #[arg(long)]
    pub(super) force: bool,
    /// Go on until interrupted, ingesting what changes; an answer for each time that something did
    #[arg(long, conflicts_with_all = ["check", "dry_run"])]
    pub(super) watch: bool,
    /// Seconds to wait for another writer
    #[arg(long, value_name = "SECONDS", default_value_t = limits::LOCK_WAIT_SECONDS as u64,
        value_parser = clap::value_parser!(u64).range(..=limits::MAX_LOCK_WAIT_SECONDS as u64))]
    pub(super) wait: u64,
}

/// `status`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel status -f text")]
pub(super) struct StatusArgs {
    /// List the files that differ from what is stored
    #[arg(long)]
    pub(super) stale: bool,
    /// List every limit of the program
    #[arg(long)]
    pub(super) limits: bool,
}

/// A list that can be long.
#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// Items to list at most; 0 for all
    #[arg(long, value_name = "N", default_value_t = limits::LIST_LIMIT)]
    pub(super) limit: usize,
    /// Go on where an answer ended: its `next`
    #[arg(long, value_name = "CURSOR")]
    pub(super) after: Option<String>,
}

/// Which documents are meant.
#[derive(Debug, Args)]
pub(super) struct DocumentFilterArgs {
    /// Only documents whose path matches this glob, or with ! those that do not; repeatable
    #[arg(short, long = "glob", value_name = "GLOB", allow_hyphen_values = true)]
    pub(super) globs: Vec<String>,
    /// Only documents with this tag; repeatable, then all of them
    #[arg(long = "tag", value_name = "TAG")]
    pub(super) tags: Vec<String>,
    /// Only below this folder, document or place; repeatable
    #[arg(long, value_name = "ADDRESS", add = ArgValueCompleter::new(addresses))]
    pub(super) under: Vec<String>,
}

impl DocumentFilterArgs {
    /// The filter that they ask for.
    pub(super) fn request(&self) -> FilterRequest {
        FilterRequest {
            globs: self.globs.clone(),
            tags: self.tags.clone(),
            under: self.under.clone(),
            ..FilterRequest::default()
        }
    }
}

/// Which documents, sections and blocks are meant: the same on every command that goes over many documents.
#[derive(Debug, Args)]
pub(super) struct FilterArgs {
    #[command(flatten)]
    pub(super) documents: DocumentFilterArgs,
    /// Only blocks of this type, or what has one; repeatable
    #[arg(long = "type", value_name = "TYPE", value_parser = BLOCK_TYPES)]
    pub(super) types: Vec<String>,
    /// Only sections of this level, 1 to 6
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=6))]
    pub(super) level: Option<u8>,
    /// Order documents by path, title or a key of front matter; -KEY for descending
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    pub(super) sort: Option<String>,
}

impl FilterArgs {
    /// The filter that they ask for.
    pub(super) fn request(&self) -> FilterRequest {
        FilterRequest {
            types: self.types.clone(),
            level: self.level,
            sort: self.sort.clone(),
            ..self.documents.request()
        }
    }
}

/// `index`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel index guide -f text")]
pub(super) struct IndexArgs {
    /// Documents: a path, a unique suffix of one, a folder or a glob [default: all]
    #[arg(value_name = "DOC", add = ArgValueCompleter::new(documents))]
    pub(super) documents: Vec<String>,
    /// List blocks with a preview, too
    #[arg(long)]
    pub(super) blocks: bool,
    #[command(flatten)]
    pub(super) filter: FilterArgs,
    #[command(flatten)]
    pub(super) list: ListArgs,
}

/// `select`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel select 'guide::heading:h2[1]/block:code[0]'")]
pub(super) struct SelectArgs {
    /// Addresses, answered in this order; - reads them from standard input, one a line
    #[arg(value_name = "ADDRESS", required = true, add = ArgValueCompleter::new(addresses))]
    pub(super) addresses: Vec<String>,
    /// Words a page; 0 for all at once
    #[arg(long, value_name = "N", default_value_t = limits::MAX_WORDS)]
    pub(super) max_words: usize,
    /// Results to give at most; 0 for all [default: 50, or as many as there are addresses]
    #[arg(long, value_name = "N")]
    pub(super) limit: Option<usize>,
    /// Go on where an answer ended: its `next`
    #[arg(long, value_name = "CURSOR")]
    pub(super) after: Option<String>,
}

/// `toc`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel toc guide -f text --max-level 2")]
pub(super) struct TocArgs {
    /// Documents: a path, a unique suffix of one, a folder or a glob [default: all]
    #[arg(value_name = "DOC", add = ArgValueCompleter::new(documents))]
    pub(super) documents: Vec<String>,
    /// Levels of the tree to show, 1 for top-level sections only
    #[arg(long, value_name = "N")]
    pub(super) depth: Option<usize>,
    /// The deepest heading level to show, 1 to 6
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=6))]
    pub(super) max_level: Option<u8>,
    #[command(flatten)]
    pub(super) filter: FilterArgs,
    #[command(flatten)]
    pub(super) list: ListArgs,
}

/// `read`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel read guide 'Install/From source'")]
pub(super) struct ReadArgs {
    /// A document, or the whole address where no SECTION follows
    #[arg(value_name = "DOC|ADDRESS", add = ArgValueCompleter::new(addresses))]
    pub(super) first: String,
    /// A place in it: a slug path, a title, @LINE, #INDEX, a selector
    #[arg(value_name = "SECTION", add = ArgValueCompleter::new(sections))]
    pub(super) section: Option<String>,
    /// Leave child sections out
    #[arg(long)]
    pub(super) no_children: bool,
    /// Number the lines
    #[arg(short = 'n', long)]
    pub(super) line_numbers: bool,
}

/// `find`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel find '*install*' --level 2")]
pub(super) struct FindArgs {
    /// A glob that the title matches as a whole; without * ? [ { a part of it
    #[arg(value_name = "PATTERN")]
    pub(super) pattern: String,
    /// A text that stands in the section's own text, case-insensitive
    #[arg(long, value_name = "TEXT")]
    pub(super) content: Option<String>,
    #[command(flatten)]
    pub(super) filter: FilterArgs,
    #[command(flatten)]
    pub(super) list: ListArgs,
}

/// `search`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples: mdsel search 'install windows'    mdsel search -e 'TODO|FIXME' -C 1"
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command")]
pub(super) struct SearchArgs {
    /// A question or words, best passages first: "a phrase", +must, NOT word, prefix*, title:word
    #[arg(value_name = "QUERY", required_unless_present = "patterns", conflicts_with = "patterns")]
    pub(super) query: Vec<String>,
    /// The same question in other words, such as the terms its answer may use; repeatable. Two of these
    /// find most answers that the question alone misses
    #[arg(long, value_name = "QUERY", allow_hyphen_values = true,
        conflicts_with_all = ["patterns", "fixed_strings"])]
    pub(super) also: Vec<String>,
    /// Show about N characters of each section that has the words; 0 for one line
    #[arg(long, value_name = "N")]
    pub(super) passage: Option<usize>,
    /// Show each section of nearly the same text
    #[arg(long)]
    pub(super) keep_duplicates: bool,
    /// Leave out the lines with the titles of sections; with -e or -F
    #[arg(long)]
    pub(super) no_heading: bool,
    /// A regular expression to look for, line by line; repeatable
    #[arg(short = 'e', long = "regexp", value_name = "PATTERN", allow_hyphen_values = true)]
    pub(super) patterns: Vec<String>,
    /// Look for the QUERY, or the patterns, as they stand
    #[arg(short = 'F', long)]
    pub(super) fixed_strings: bool,
    /// Do not regard case (words never do)
    #[arg(short, long)]
    pub(super) ignore_case: bool,
    /// Only whole words match; with -e or -F
    #[arg(short, long)]
    pub(super) word_regexp: bool,
    /// A match may span lines of a section's own text; with -e or -F
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
    /// Tell how many hits each document has
    #[arg(short, long, conflicts_with_all = ["files", "quiet"])]
    pub(super) count: bool,
    /// Tell only which documents have a hit
    #[arg(short = 'l', long, conflicts_with = "quiet")]
    pub(super) files: bool,
    /// Show the match instead of its line
    #[arg(short, long)]
    pub(super) only_matching: bool,
    /// Print nothing; status 0 where there is a hit
    #[arg(short, long)]
    pub(super) quiet: bool,
    #[command(flatten)]
    pub(super) filter: FilterArgs,
    /// Explain how the hits were found
    #[arg(long)]
    pub(super) explain: bool,
    /// Hits to give at most; 0 for all
    #[arg(long, value_name = "N", default_value_t = limits::SEARCH_LIMIT)]
    pub(super) limit: usize,
    /// Go on where an answer ended: its `next`
    #[arg(long, value_name = "CURSOR")]
    pub(super) after: Option<String>,
}

/// Refuses `--type` for links.
fn not_a_link_type(name: &str) -> Result<String, String> {
    Err(format!("--type is the type of a block; the type of a link is --link-type {name}"))
}

/// Reads a number of lines around a hit.
fn context_lines(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(lines) if lines <= limits::MAX_CONTEXT_LINES => Ok(lines),
        Ok(_) => Err(format!("more than the limit context-lines ({})", limits::MAX_CONTEXT_LINES)),
        Err(_) => Err("not a number of lines".to_owned()),
    }
}

/// `neighbors`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel neighbors guide#install")]
pub(super) struct NeighborsArgs {
    /// The address of one place
    #[arg(value_name = "ADDRESS", add = ArgValueCompleter::new(addresses))]
    pub(super) address: String,
    /// Go on with the children where an answer ended: its `next_children`
    #[arg(long, value_name = "CURSOR")]
    pub(super) after: Option<String>,
}

/// `links`.
#[derive(Debug, Subcommand)]
pub(super) enum LinksCommand {
    /// List the links of a place
    List(LinksListArgs),
    /// Tell what links lead to from a place, hop by hop
    Tree(LinksTreeArgs),
    /// Find the shortest way of links between two places
    Path(LinksPathArgs),
    /// List the links that lead nowhere (status 1 where there are any)
    Check(LinksCheckArgs),
}

/// Which links are meant.
#[derive(Debug, Args)]
pub(super) struct LinkFilterArgs {
    /// Links that lead out of the place, into it, or both
    #[arg(long, value_enum, default_value_t = DirectionName::Both)]
    pub(super) direction: DirectionName,
    /// Only links of this type: related, embeds, references, or one of front matter; repeatable
    #[arg(long = "link-type", value_name = "TYPE")]
    pub(super) link_types: Vec<String>,
    /// Refused with a hint: elsewhere it is the type of a block
    #[arg(long = "type", value_name = "TYPE", hide = true, value_parser = not_a_link_type)]
    _types: Vec<String>,
    /// Only links of front matter
    #[arg(long, conflicts_with = "inline_only")]
    pub(super) typed_only: bool,
    /// Only links of the text
    #[arg(long)]
    pub(super) inline_only: bool,
    /// Places to give at most; 0 for all
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) max_nodes: usize,
}

/// A direction by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum DirectionName {
    /// Links that lead out of the place
    Out,
    /// Links that lead into it
    In,
    /// Both
    Both,
}

/// `links list`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel links list guide.md --direction in")]
pub(super) struct LinksListArgs {
    /// The address of one place
    #[arg(value_name = "ADDRESS", add = ArgValueCompleter::new(addresses))]
    pub(super) address: String,
    // Of the documents at the other ends of the links.
    #[command(flatten)]
    pub(super) documents: DocumentFilterArgs,
    #[command(flatten)]
    pub(super) filter: LinkFilterArgs,
    #[command(flatten)]
    pub(super) list: ListArgs,
}

/// `links tree`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel links tree guide.md --max-hops 2 -f text")]
pub(super) struct LinksTreeArgs {
    /// The address of the place to begin at
    #[arg(value_name = "ADDRESS", add = ArgValueCompleter::new(addresses))]
    pub(super) address: String,
    /// Links to follow at most
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(super) max_hops: usize,
    #[command(flatten)]
    pub(super) filter: LinkFilterArgs,
    /// Go on where an answer ended: its `next`
    #[arg(long, value_name = "CURSOR")]
    pub(super) after: Option<String>,
}

/// `links path`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel links path guide.md faq.md -f records")]
pub(super) struct LinksPathArgs {
    /// The address of the place to begin at
    #[arg(value_name = "FROM", add = ArgValueCompleter::new(addresses))]
    pub(super) from: String,
    /// The address of the place to come to
    #[arg(value_name = "TO", add = ArgValueCompleter::new(addresses))]
    pub(super) to: String,
    /// Links to follow at most
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(super) max_hops: usize,
    #[command(flatten)]
    pub(super) filter: LinkFilterArgs,
    /// Go on where an answer ended: its `next`
    #[arg(long, value_name = "CURSOR")]
    pub(super) after: Option<String>,
}

/// `links check`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel links check docs -f text")]
pub(super) struct LinksCheckArgs {
    /// Documents: a path, a unique suffix of one, a folder or a glob [default: all]
    #[arg(value_name = "DOC", add = ArgValueCompleter::new(documents))]
    pub(super) documents: Vec<String>,
    #[command(flatten)]
    pub(super) filter: FilterArgs,
    /// Findings to list at most; 0 for all
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) limit: usize,
    /// Go on where an answer ended: its `next`
    #[arg(long, value_name = "CURSOR")]
    pub(super) after: Option<String>,
}

/// `context`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples: mdsel context --query 'install windows' --links 1 -f records\n          \
                  mdsel context guide.md#install --with-body --item error=@build.log -f markdown"
)]
pub(super) struct ContextArgs {
    /// Addresses of places to take; - reads them from standard input, one a line
    #[arg(value_name = "ADDRESS", add = ArgValueCompleter::new(addresses),
        required_unless_present_any = ["query", "tags", "under", "globs", "types", "level", "items"])]
    pub(super) addresses: Vec<String>,
    /// Take the passages that match this question or these words best
    #[arg(long, value_name = "QUERY", allow_hyphen_values = true)]
    pub(super) query: Option<String>,
    /// The same question in other words, such as the terms its answer may use; repeatable
    #[arg(long, value_name = "QUERY", allow_hyphen_values = true, requires = "query")]
    pub(super) also: Vec<String>,
    /// Show about N characters of each section that has the words of the query
    #[arg(long, value_name = "N", requires = "query")]
    pub(super) passage: Option<usize>,
    #[command(flatten)]
    pub(super) filter: FilterArgs,
    /// Take also what is up to N links away
    #[arg(long = "links", value_name = "N", default_value_t = 0)]
    pub(super) hops: usize,
    /// Give the content, not only what sums it up
    #[arg(long)]
    pub(super) with_body: bool,
    /// Take text from outside: code, error, text, repl-history or file; repeatable
    #[arg(long = "item", value_name = "TYPE[:FILE[:START-END]]=TEXT|@FILE|-")]
    pub(super) items: Vec<String>,
    /// Tag the fences of all blocks with this language; with -f markdown
    #[arg(long, value_name = "LANGUAGE")]
    pub(super) lang: Option<String>,
    #[command(flatten)]
    pub(super) list: ListArgs,
}

/// How an edit is made.
#[derive(Debug, Args)]
pub(super) struct EditOptions {
    /// Only tell what would change, as a unified diff
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Edit only where the place, or the file, has this hash, as `read` gives it for the same words
    #[arg(long, value_name = "HASH")]
    pub(super) expect: Option<String>,
    /// Let a unique part of a title name the section
    #[arg(long)]
    pub(super) fuzzy: bool,
    /// Seconds to wait for another writer
    #[arg(long, value_name = "SECONDS", default_value_t = limits::LOCK_WAIT_SECONDS as u64,
        value_parser = clap::value_parser!(u64).range(..=limits::MAX_LOCK_WAIT_SECONDS as u64))]
    pub(super) wait: u64,
}

/// New content; standard input where neither is given. Nothing at all is refused.
#[derive(Debug, Args)]
pub(super) struct ContentArgs {
    /// The new content; '' empties the place
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, conflicts_with = "content_file")]
    pub(super) content: Option<String>,
    /// The file that holds the new content; - for standard input
    #[arg(long, value_name = "FILE")]
    pub(super) content_file: Option<PathBuf>,
}

/// `replace`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel replace guide Install --content 'Run the installer.'")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command")]
pub(super) struct ReplaceArgs {
    /// The document; or an address, where nothing follows
    #[arg(value_name = "DOC|ADDRESS", add = ArgValueCompleter::new(documents))]
    pub(super) first: String,
    /// The place in it: a slug path, an exact title, @LINE, a selector, @frontmatter, ldmd:ID
    #[arg(value_name = "SECTION", add = ArgValueCompleter::new(sections))]
    pub(super) section: Option<String>,
    #[command(flatten)]
    pub(super) content: ContentArgs,
    /// Leave child sections as they are
    #[arg(long)]
    pub(super) no_children: bool,
    /// Replace the heading, too
    #[arg(long)]
    pub(super) no_keep_heading: bool,
    /// Let sections go that the new content does not have
    #[arg(long)]
    pub(super) allow_drop: bool,
    /// Let headings of the content leave the section
    #[arg(long)]
    pub(super) allow_escape: bool,
    /// Let titles, links or blocks outside the place change
    #[arg(long)]
    pub(super) allow_change: bool,
    #[command(flatten)]
    pub(super) options: EditOptions,
}

/// `insert`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: mdsel insert guide Install --position last_child --content-file new.md"
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command")]
pub(super) struct InsertArgs {
    /// The document; or an address, where nothing follows
    #[arg(value_name = "DOC|ADDRESS", add = ArgValueCompleter::new(documents))]
    pub(super) first: String,
    /// The place beside or below which the content goes
    #[arg(value_name = "SECTION", add = ArgValueCompleter::new(sections))]
    pub(super) section: Option<String>,
    #[command(flatten)]
    pub(super) content: ContentArgs,
    /// Where it goes
    #[arg(long, value_enum, default_value_t = PositionName::After)]
    pub(super) position: PositionName,
    /// Give its headings the levels that the place asks for
    #[arg(long)]
    pub(super) relevel: bool,
    /// Let it take over what follows
    #[arg(long)]
    pub(super) allow_escape: bool,
    /// Insert it beside an equal section
    #[arg(long)]
    pub(super) allow_duplicate: bool,
    /// Let titles, links or blocks outside the place change
    #[arg(long)]
    pub(super) allow_change: bool,
    #[command(flatten)]
    pub(super) options: EditOptions,
}

/// A place beside or below another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(super) enum PositionName {
    /// Right before it
    Before,
    /// Behind it and all below it
    After,
    /// Behind its own text, before its first child section
    FirstChild,
    /// Behind its last child section
    LastChild,
}

/// `delete`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel delete guide 'Install/From source' --dry-run")]
pub(super) struct DeleteArgs {
    /// The document; or an address, where nothing follows
    #[arg(value_name = "DOC|ADDRESS", add = ArgValueCompleter::new(documents))]
    pub(super) first: String,
    /// The place that goes, with all below it
    #[arg(value_name = "SECTION", add = ArgValueCompleter::new(sections))]
    pub(super) section: Option<String>,
    /// Keep child sections, which are then below another section
    #[arg(long)]
    pub(super) no_children: bool,
    /// Let what follows come under another section
    #[arg(long)]
    pub(super) allow_escape: bool,
    /// Let titles, links or blocks outside the place change
    #[arg(long)]
    pub(super) allow_change: bool,
    #[command(flatten)]
    pub(super) options: EditOptions,
}

/// `edit`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel edit guide --batch edits.jsonl")]
pub(super) struct EditArgs {
    /// The document
    #[arg(value_name = "DOC", add = ArgValueCompleter::new(documents))]
    pub(super) document: String,
    /// A JSON object a line: operation, section, content, position, and the flags of its command
    #[arg(long, value_name = "FILE")]
    pub(super) batch: PathBuf,
    #[command(flatten)]
    pub(super) options: EditOptions,
}

/// `dump`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel dump > docs.pack")]
pub(super) struct DumpArgs {
    /// Take also the files below the root that documents link to
    #[arg(long)]
    pub(super) attachments: bool,
}

/// `load`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel --db copy.db load docs.pack")]
pub(super) struct LoadArgs {
    /// The pack; - for standard input
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
    /// What becomes of documents that are there already
    #[arg(long, value_enum, default_value_t = StrategyName::Skip)]
    pub(super) strategy: StrategyName,
    /// Write the attachments of the pack below this folder, never over another file
    #[arg(long, value_name = "FOLDER")]
    pub(super) attachments: Option<PathBuf>,
    /// Seconds to wait for another writer
    #[arg(long, value_name = "SECONDS", default_value_t = limits::LOCK_WAIT_SECONDS as u64,
        value_parser = clap::value_parser!(u64).range(..=limits::MAX_LOCK_WAIT_SECONDS as u64))]
    pub(super) wait: u64,
}

/// `mcp`.
#[derive(Debug, Args)]
#[command(after_help = "Example: claude mcp add docs -- mdsel --db docs/.mdsel.db mcp\n\n\
                  -f and --max-chars (here 24000) are those of replies where a call does not say.")]
pub(super) struct McpArgs {
    /// Offer edits, too
    #[arg(long)]
    pub(super) allow_write: bool,
}

/// `completions`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples: source <(mdsel completions bash)    mdsel completions fish | source\n          \
                  mdsel completions powershell | Out-String | Invoke-Expression"
)]
pub(super) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub(super) shell: ShellName,
}

/// A shell that completions are made for.
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

/// `help`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel help addresses")]
pub(super) struct HelpArgs {
    /// A page of the reference, or a command [default: the list of pages]
    #[arg(value_name = "TOPIC")]
    pub(super) topic: Vec<String>,
}

/// `man`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel man search | man -l -")]
pub(super) struct ManArgs {
    /// The command that it is about, as `links tree` [default: all of the program]
    #[arg(value_name = "COMMAND")]
    pub(super) command: Vec<String>,
}

/// `schema`.
#[derive(Debug, Args)]
#[command(after_help = "Examples: mdsel schema search --pretty\n          mdsel schema links tree")]
pub(super) struct SchemaArgs {
    /// The command whose answer it describes, as `links tree`, or `error` [default: the list of commands]
    #[arg(value_name = "COMMAND")]
    pub(super) command: Vec<String>,
}

/// `prime`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel prime -f records")]
pub(super) struct PrimeArgs {
    /// Print how an agent uses the program, a skill file, instead
    #[arg(long)]
    pub(super) skill: bool,
    /// Go on where an answer ended: its `next`
    #[arg(long, value_name = "CURSOR")]
    pub(super) after: Option<String>,
}

/// `verify`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel verify --reparse -f text")]
pub(super) struct VerifyArgs {
    /// Let SQLite check the agreement of all of its indices, too
    #[arg(long)]
    pub(super) full: bool,
    /// Parse every document anew, and compare
    #[arg(long)]
    pub(super) reparse: bool,
    /// Mend what is found; a damaged store file is kept aside
    #[arg(long, conflicts_with = "after")]
    pub(super) repair: bool,
    /// Findings to list at most; 0 for all
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) limit: usize,
    /// Go on where an answer ended: its `next`
    #[arg(long, value_name = "CURSOR")]
    pub(super) after: Option<String>,
    /// Seconds to wait for another writer
    #[arg(long, value_name = "SECONDS", default_value_t = limits::LOCK_WAIT_SECONDS as u64,
        value_parser = clap::value_parser!(u64).range(..=limits::MAX_LOCK_WAIT_SECONDS as u64))]
    pub(super) wait: u64,
}

/// What becomes of a document that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum StrategyName {
    /// It stays
    Skip,
    /// The one of the pack takes its place
    Overwrite,
}

/// `ldmd`.
#[derive(Debug, Subcommand)]
pub(super) enum LdmdCommand {
    /// List the sections of a document in opening order
    Index(LdmdIndexArgs),
    /// Print a section, in full, as a preview, or its summary
    Get(LdmdGetArgs),
    /// Find the lines of the sections of a document that hold a text
    Search(LdmdSearchArgs),
    /// Tell what stands around a section
    Neighbors(LdmdNeighborsArgs),
    /// List the faults of markers (status 1 where there are any)
    Check(LdmdCheckArgs),
    /// Print any document with a section for each of its headings
    Emit(LdmdEmitArgs),
}

/// `ldmd index`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel ldmd index answer.md -f text")]
pub(super) struct LdmdIndexArgs {
    /// The document
    #[arg(value_name = "DOC", add = ArgValueCompleter::new(documents))]
    pub(super) document: String,
    /// Sections to list at most; 0 for all
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) limit: usize,
    /// Go on where an answer ended: its `next`
    #[arg(long, value_name = "CURSOR")]
    pub(super) after: Option<String>,
}

/// `ldmd get`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel ldmd get answer.md --id key_findings --mode tldr -f raw")]
pub(super) struct LdmdGetArgs {
    /// The document
    #[arg(value_name = "DOC", add = ArgValueCompleter::new(documents))]
    pub(super) document: String,
    /// The id of the section; ID@LINE for one whose id stands twice
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    pub(super) id: String,
    /// How much of it
    #[arg(long, value_enum, default_value_t = ModeName::Full)]
    pub(super) mode: ModeName,
    /// How deep sections within are shown, 0 for none [default: all; 1 in a preview]
    #[arg(long, value_name = "N")]
    pub(super) depth: Option<usize>,
    /// Bytes at most, 0 for all [default in a preview: 4096]
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) limit_bytes: usize,
    /// Leave the markers of sections out
    #[arg(long)]
    pub(super) strip_markers: bool,
    /// Go on where an answer ended: its `next`
    #[arg(long, value_name = "CURSOR")]
    pub(super) after: Option<String>,
}

/// How much of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ModeName {
    /// All of it
    Full,
    /// The section and those right in it, cut behind 4096 bytes
    Preview,
    /// The section whose id ends in _tldr, else a preview
    Tldr,
}

/// `ldmd search`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel ldmd search answer.md --query timeout")]
pub(super) struct LdmdSearchArgs {
    /// The document
    #[arg(value_name = "DOC", add = ArgValueCompleter::new(documents))]
    pub(super) document: String,
    /// The text to look for, whose case is not regarded
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(super) query: String,
    /// Lines to list at most; 0 for all
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) limit: usize,
    /// Go on where an answer ended: its `next`
    #[arg(long, value_name = "CURSOR")]
    pub(super) after: Option<String>,
}

/// `ldmd neighbors`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel ldmd neighbors answer.md --id summary")]
pub(super) struct LdmdNeighborsArgs {
    /// The document
    #[arg(value_name = "DOC", add = ArgValueCompleter::new(documents))]
    pub(super) document: String,
    /// The id of the section; ID@LINE for one whose id stands twice
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    pub(super) id: String,
    /// Go on with the children where an answer ended: its `next_children`
    #[arg(long, value_name = "CURSOR")]
    pub(super) after: Option<String>,
}

/// `ldmd check`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel ldmd check")]
pub(super) struct LdmdCheckArgs {
    /// Documents: a path, a unique suffix of one, a folder or a glob [default: all]
    #[arg(value_name = "DOC", add = ArgValueCompleter::new(documents))]
    pub(super) documents: Vec<String>,
    /// Findings to list at most; 0 for all
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) limit: usize,
    /// Go on where an answer ended: its `next`
    #[arg(long, value_name = "CURSOR")]
    pub(super) after: Option<String>,
}

/// `ldmd emit`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel ldmd emit guide > guide.ldmd.md")]
pub(super) struct LdmdEmitArgs {
    /// The document
    #[arg(value_name = "DOC", add = ArgValueCompleter::new(documents))]
    pub(super) document: String,
    /// Go on where an answer ended: its `next`
    #[arg(long, value_name = "CURSOR")]
    pub(super) after: Option<String>,
}

/// An extension, its dot left out.
fn extension(text: &str) -> Result<String, String> {
    let extension = text.strip_prefix('.').unwrap_or(text);
    let is_one = !extension.is_empty() && !extension.contains(['.', '/']);
    is_one.then(|| extension.to_owned()).ok_or_else(|| "not an extension, as md".to_owned())
}

/// Bytes, with K, M or G for powers of 1024.
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
        Some(_) => Err("more than the limit largest-max-file-size (1G)".to_owned()),
        None => Err("not a number of bytes, as 500K or 32M".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!(byte_size("500"), Ok(500));
        assert_eq!(byte_size("2k"), Ok(2048));
        assert_eq!(byte_size("32MB"), Ok(32 << 20));
        assert!(byte_size("2G").is_err());
        assert!(byte_size("x").is_err());
        assert!(byte_size("5KK").is_err());
    }
}
