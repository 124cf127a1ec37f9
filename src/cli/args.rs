//! The command line as clap parses it: names, defaults and help texts, and nothing else.

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};
use clap_complete::engine::ArgValueCompleter;

use super::commands::ReadCommands;
use super::completions::{addresses, documents, sections};
use super::data::MetaArgs;
use super::lazy::Lazy;
use super::read_command::{ReadCommand as _, has};
use super::relocate::{MoveArgs, RenameArgs};
use crate::error::{Error, Warning};
use crate::limits;
use crate::output::{Format, edit_has};
use crate::query::data::meta;
use crate::query::{BLOCK_TYPES, Cursor, FilterRequest};

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
    /// Use this store: a file, or the URL of a server, postgres://... [default: $MDSEL_DB, or the nearest
    /// .mdsel.db in this folder or above]
    #[arg(long, global = true, value_name = "PATH")]
    pub(super) db: Option<PathBuf>,
    /// Make document paths relative to this folder; the first ingest sets it, and it cannot be changed. For a
    /// store on a server, the folder of its files on this machine
    #[arg(long, global = true, value_name = "FOLDER")]
    pub(super) root: Option<PathBuf>,
    /// Print the answer in this format
    #[arg(
        short,
        long,
        global = true,
        value_enum,
        help = "Print the answer in this format [default: $MDSEL_FORMAT, or text on a terminal, else \
                json]"
    )]
    pub(super) format: Option<Format>,
    /// Limit the answer to N characters; it stays valid in its format
    #[arg(long, global = true, value_name = "N")]
    pub(super) max_chars: Option<usize>,
    /// Indent JSON
    #[arg(long, global = true)]
    pub(super) pretty: bool,
    /// Omit the fields of JSON and records that other fields imply
    #[arg(long, global = true)]
    pub(super) compact: bool,
    /// First ingest the changed files that the answer comes from
    #[arg(long, global = true)]
    pub(super) refresh: bool,
    /// Print text in color
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub(super) color: Color,
    /// The warnings of the store, for the answer.
    #[arg(skip)]
    pub(super) recovered: Rc<RefCell<Vec<Warning>>>,
    /// The paths in addresses as they are looked up, and as they were given.
    #[arg(skip)]
    pub(super) given: Rc<RefCell<Vec<(String, String)>>>,
}

/// How long to wait for the lock of the store.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct WaitArgs {
    /// Wait up to this many seconds for another writer
    #[arg(long, value_name = "SECONDS", default_value_t = limits::LOCK_WAIT_SECONDS as u64,
        value_parser = clap::value_parser!(u64).range(..=limits::MAX_LOCK_WAIT_SECONDS as u64))]
    wait: u64,
}

impl WaitArgs {
    pub(super) fn duration(self) -> Duration {
        Duration::from_secs(self.wait)
    }
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
    Ingest(Lazy<IngestArgs>),
    /// Print what the store contains
    Status(Lazy<StatusArgs>),
    #[command(flatten)]
    Read(ReadCommands),
    /// Replace a section of a file
    Replace(Lazy<ReplaceArgs>),
    /// Insert content next to or below a section
    Insert(Lazy<InsertArgs>),
    /// Delete a section
    Delete(Lazy<DeleteArgs>),
    /// Mark a task as done or open
    Task(Lazy<TaskArgs>),
    /// Give a section another title, and rewrite the links to it
    Rename(Lazy<RenameArgs>),
    /// Move a document, and rewrite the links to it and in it
    Move(Lazy<MoveArgs>),
    /// List the front matter of documents, or change one key of it
    Meta(Lazy<MetaArgs>),
    /// Make several edits, all or none
    Edit(Lazy<EditArgs>),
    /// Print the whole store as a pack
    Dump(Lazy<DumpArgs>),
    /// Load the documents of a pack into the store
    Load(Lazy<LoadArgs>),
    /// Make a store equal to another one, without parsing
    Copy(Lazy<CopyArgs>),
    /// Run a server for agents: the Model Context Protocol on standard input and output
    // Its `--refresh` replaces the shared option only if it is there before clap copies that to the command.
    Mcp(McpArgs),
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

impl Command {
    /// Returns whether the answer of this command can be printed in `format`.
    pub(super) fn has(&self, format: Format) -> bool {
        match self {
            Self::Read(command) => command.has(format),
            Self::Meta(arguments) if arguments.change.is_none() => has::<meta::MetaAnswer>(format),
            _ => edit_has(format, self.is_trial()),
        }
    }

    /// Returns what this command prints if that has no other format.
    pub(super) fn only_output(&self) -> Option<&'static str> {
        match self {
            Self::Dump(_) => Some("a dump is a pack"),
            Self::Completions(_) => Some("completions are a script"),
            Self::Help(_) => Some("help is Markdown"),
            Self::Man(_) => Some("a manual page is roff"),
            _ => None,
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
            Self::Rename(arguments) => arguments.options.dry_run,
            Self::Move(arguments) => arguments.options.dry_run,
            Self::Meta(arguments) => {
                arguments.change.as_ref().is_some_and(|change| change.options().dry_run)
            }
            _ => false,
        }
    }
}

/// Arguments of `ingest`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel ingest docs")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command")]
pub(super) struct IngestArgs {
    /// Ingest only these files and folders [default: the root and all collections]
    #[arg(value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,
    /// Ingest only this collection: the folder PATH, with options of its own, whose documents are NAME/...
    #[arg(long, value_name = "NAME")]
    pub(super) collection: Option<String>,
    /// Drop this collection from the store; its files stay
    #[arg(long, value_name = "NAME", conflicts_with_all = ["paths", "collection", "check",
        "dry_run", "force", "shard", "watch", "ext", "hidden", "no_ignore", "max_file_size", "site_roots"])]
    pub(super) forget: Option<String>,
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
    /// Take the files of part I of N, whose other parts other machines ingest into the same store on a
    /// server
    #[arg(long, value_name = "I/N", value_parser = shard, requires = "ingest_id",
        conflicts_with_all = ["check", "dry_run"])]
    pub(super) shard: Option<(u32, u32)>,
    /// The name of the ingest, the same for all of its parts
    #[arg(long, value_name = "NAME", requires = "shard")]
    pub(super) ingest_id: Option<String>,
    /// Keep running and ingest each change; print an answer for each
    #[arg(long, conflicts_with_all = ["check", "dry_run", "shard"])]
    pub(super) watch: bool,
    #[command(flatten)]
    pub(super) wait: WaitArgs,
}

/// Parses the value of `--shard`: the number of a part from 1, and the number of parts.
fn shard(text: &str) -> Result<(u32, u32), String> {
    let parsed = text
        .split_once('/')
        .and_then(|(index, count)| Some((index.parse::<u32>().ok()?, count.parse::<u32>().ok()?)));
    match parsed {
        Some((index, count)) if index >= 1 && index <= count => Ok((index, count)),
        _ => Err("write I/N, such as 2/8 for the second of eight parts".to_owned()),
    }
}

/// Arguments of `status`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel status -f text")]
pub(super) struct StatusArgs {
    /// List the files that have changed since the ingest
    #[arg(long)]
    pub(super) stale: bool,
    /// List the collections
    #[arg(long)]
    pub(super) collections: bool,
    /// List every limit of the program
    #[arg(long)]
    pub(super) limits: bool,
}

/// Where a list continues.
#[derive(Debug, Args)]
pub(super) struct AfterArgs {
    /// Continue after the cursor that an answer gave as `next`
    #[arg(long, value_name = "CURSOR")]
    after: Option<String>,
}

impl AfterArgs {
    /// Returns the cursor, if one is given.
    pub(super) fn cursor(&self) -> Result<Option<Cursor>, Error> {
        Cursor::given(self.after.as_ref())
    }
}

/// Limits of a list.
#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// List at most N items; 0 for all
    #[arg(long, value_name = "N", default_value_t = limits::LIST_LIMIT)]
    pub(super) limit: usize,
    #[command(flatten)]
    pub(super) after: AfterArgs,
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
    /// Take only documents of this collection; repeatable
    #[arg(long = "collection", value_name = "NAME")]
    pub(super) collections: Vec<String>,
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
            collections: self.collections.clone(),
            under: self.under.clone(),
            ..FilterRequest::default()
        }
    }
}

/// Filters by document, section and block.
#[derive(Debug, Args)]
pub(super) struct PlaceFilterArgs {
    #[command(flatten)]
    pub(super) documents: DocumentFilterArgs,
    /// Take only blocks of this type, or places that contain one; repeatable
    #[arg(long = "type", value_name = "TYPE", value_parser = BLOCK_TYPES)]
    types: Vec<String>,
    /// Take only sections of this level, 1 to 6
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=6))]
    level: Option<u8>,
    /// Sort documents by path, title or a key of front matter; -KEY for descending
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    sort: Option<String>,
}

impl PlaceFilterArgs {
    /// Returns the filter as a request of the library. `condition` is that of the front matter.
    pub(super) fn request(&self, condition: Option<&String>) -> FilterRequest {
        FilterRequest {
            types: self.types.clone(),
            level: self.level,
            sort: self.sort.clone(),
            condition: condition.cloned(),
            ..self.documents.request()
        }
    }
}

/// Filters by place and front matter, the same for every command that reads many documents.
#[derive(Debug, Args)]
pub(super) struct FilterArgs {
    #[command(flatten)]
    pub(super) places: PlaceFilterArgs,
    /// Take only documents whose front matter matches, as in 'status = Final and due < 2026-06-01'
    #[arg(long = "where", value_name = "EXPR", id = "where")]
    condition: Option<String>,
}

impl FilterArgs {
    /// Returns the filter as a request of the library.
    pub(super) fn request(&self) -> FilterRequest {
        self.places.request(self.condition.as_ref())
    }
}

/// Arguments of `task`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: mdsel task 'todo::heading:h2[0]/block:list[0]/item[3]' --done",
    group(ArgGroup::new("state").args(["done", "open"]).required(true))
)]
pub(super) struct TaskArgs {
    /// The document; or the whole address of the list item, without SECTION
    #[arg(value_name = "DOC|ADDRESS", add = ArgValueCompleter::new(documents))]
    pub(super) first: String,
    /// The list item in the document
    #[arg(value_name = "SECTION", add = ArgValueCompleter::new(sections))]
    pub(super) section: Option<String>,
    /// Mark the task as done
    #[arg(long)]
    pub(super) done: bool,
    /// Mark the task as open
    #[arg(long)]
    pub(super) open: bool,
    #[command(flatten)]
    pub(super) options: EditOptions,
}

/// Options that all edits have.
#[derive(Debug, Args)]
pub(super) struct EditOptions {
    /// Print the change as a unified diff, and write nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Edit only if the place, or the whole file, has this hash, which `read -f json` prints
    #[arg(long, value_name = "HASH")]
    pub(super) expect: Option<String>,
    /// Accept a unique part of a title as the name of the section
    #[arg(long)]
    pub(super) fuzzy: bool,
    #[command(flatten)]
    pub(super) wait: WaitArgs,
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
    /// Replace only this text, which must occur in the place exactly once
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(super) old: Option<String>,
    #[command(flatten)]
    pub(super) content: ContentArgs,
    /// Keep child sections, or the nested lists of a list item, as they are
    #[arg(long)]
    pub(super) no_children: bool,
    /// Replace the heading, too
    #[arg(long, conflicts_with = "old")]
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
    /// The document; without it, the edits name theirs, and may be of several
    #[arg(value_name = "DOC", add = ArgValueCompleter::new(documents))]
    pub(super) document: Option<String>,
    /// Read the edits from FILE, one JSON object per line or a JSON array: operation (replace, insert, delete, done, open, set,
    /// unset, add), document, section (or key), content (or value), position and the options of the command
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
    #[command(flatten)]
    pub(super) wait: WaitArgs,
}

/// Arguments of `copy`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel copy .mdsel.db postgres://ann@db.example.org/notes")]
pub(super) struct CopyArgs {
    /// The store to read: a file, or the URL of a server
    #[arg(value_name = "FROM")]
    pub(super) from: PathBuf,
    /// The store to write, which need not exist
    #[arg(value_name = "TO")]
    pub(super) to: PathBuf,
    #[command(flatten)]
    pub(super) wait: WaitArgs,
}

/// Arguments of `mcp`.
#[derive(Debug, Args)]
#[command(after_help = "Example: claude mcp add docs -- mdsel --db docs/.mdsel.db mcp\n\n\
                  -f and --max-chars (here 24000) apply to replies unless a call sets its own.")]
pub(super) struct McpArgs {
    /// Offer the edit tool, too
    #[arg(long)]
    pub(super) allow_write: bool,
    /// The option of all commands, which the server refuses and help does not list.
    #[arg(long, hide = true)]
    pub(super) refresh: bool,
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

/// Arguments of `verify`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel verify --reparse -f text")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command")]
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
    /// Drop interrupted edits in folders that are gone for good; the store keeps its versions
    #[arg(long, conflicts_with_all = ["repair", "after"])]
    pub(super) drop_edits: bool,
    /// List at most N problems; 0 for all
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) limit: usize,
    #[command(flatten)]
    pub(super) after: AfterArgs,
    #[command(flatten)]
    pub(super) wait: WaitArgs,
}

/// What to do with a document that is already in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum StrategyName {
    /// Keep the document of the store
    Skip,
    /// Replace it with the document of the pack
    Overwrite,
}

/// Parses a file extension, with or without its dot.
fn extension(text: &str) -> Result<String, String> {
    let extension = crate::corpus::extension(text).map(str::to_owned);
    extension.ok_or_else(|| "not a file extension such as md".to_owned())
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
