//! `context` and `prime`: their arguments and their requests.

use std::path::Path;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use clap_complete::engine::ArgValueCompleter;

use super::args::{AfterArgs, FilterArgs, ListArgs, RecordArgs};
use super::command::AnyCommand;
use super::completers::addresses;
use super::described::{Described, described, has};
use super::exit::Status;
use super::global::Global;
use super::input::{read, standard_input};
use super::store;
use crate::decoding;
use crate::error::{Error, ErrorKind, Result};
use crate::output::Format;
use crate::query::context::{ContextAnswer, ContextRequest, ContextSource, Outside, context};
use crate::query::page::fitting;
use crate::query::prime as primer;
use crate::query::search::PassageChars;
use crate::query::{List as _, Session};
use crate::store::Purpose;
use crate::visible::quoted;

/// The types of text from outside that `--item` accepts.
const KINDS: [&str; 5] = ["code", "error", "text", "repl-history", "file"];

/// Arguments of `context`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples: mdsel context --query 'install windows' --links 1 -f records\n          \
                  mdsel context guide.md#install --with-body --item error=@build.log -f markdown"
)]
pub(super) struct ContextArgs {
    /// Take the passages that best match this question or these words
    #[arg(long, value_name = "QUERY", allow_hyphen_values = true)]
    query: Option<String>,
    /// Add another wording of the question, such as the terms its answer may use; repeatable
    #[arg(long, value_name = "QUERY", allow_hyphen_values = true, requires = "query")]
    also: Vec<String>,
    /// Show about N characters of each section that matches the query
    #[arg(long, value_name = "N", requires = "query")]
    passage: Option<usize>,
    #[command(flatten)]
    filter: FilterArgs,
    /// Also include places up to N links away
    #[arg(long = "links", value_name = "N", default_value_t = 0)]
    hops: usize,
    /// Print the content, not only a summary
    #[arg(long)]
    with_body: bool,
    #[command(flatten)]
    sources: SourceList,
    /// Mark the fences of all blocks with this language; with -f markdown
    #[arg(long, value_name = "LANGUAGE")]
    lang: Option<String>,
    /// End the content of every block with a line end, even if it has one; with -f markdown
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    records: RecordArgs,
    #[command(flatten)]
    list: ListArgs,
}

/// Arguments that name what to take.
#[derive(Debug, Args)]
struct SourceArgs {
    /// Addresses to take; - reads them from standard input, one per line
    #[arg(value_name = "ADDRESS", add = ArgValueCompleter::new(addresses),
        required_unless_present_any = ["query", "tags", "under", "globs", "types", "level", "items",
            "collections", "where"])]
    addresses: Vec<String>,
    /// Add text from outside: code, error, text, repl-history or file; repeatable
    #[arg(long = "item", value_name = "TYPE[:FILE[:START[-END]]]=TEXT|@FILE|-")]
    items: Vec<String>,
}

/// An argument that names what to take.
#[derive(Debug)]
enum Source {
    Address(String),
    Item(String),
}

/// The values of [`SourceArgs`], in the order of the command line.
#[derive(Debug)]
struct SourceList {
    sources: Vec<Source>,
    /// Whether the number of items is limited by an argument.
    is_limited: bool,
}

impl Args for SourceList {
    fn augment_args(command: Command) -> Command {
        SourceArgs::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        SourceArgs::augment_args_for_update(command)
    }
}

impl FromArgMatches for SourceList {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        let SourceArgs { addresses, items } = SourceArgs::from_arg_matches(matches)?;
        let indices = |name: &str| matches.indices_of(name).into_iter().flatten();
        let addresses = indices("addresses").zip(addresses.into_iter().map(Source::Address));
        let items = indices("items").zip(items.into_iter().map(Source::Item));
        let mut sources: Vec<(usize, Source)> = addresses.chain(items).collect();
        sources.sort_by_key(|(index, _)| *index);
        let is_limited = matches.value_source("limit") == Some(ValueSource::CommandLine);
        Ok(Self { sources: sources.into_iter().map(|(_, source)| source).collect(), is_limited })
    }

    fn update_from_arg_matches(
        &mut self,
        matches: &ArgMatches,
    ) -> std::result::Result<(), clap::Error> {
        Self::from_arg_matches(matches).map(|updated| *self = updated)
    }
}

impl SourceList {
    /// Returns `limit`, or the number of sources if that is larger and no limit was given.
    fn limit(&self, limit: usize) -> usize {
        if self.is_limited { limit } else { limit.max(self.sources.len()) }
    }
}

/// Arguments of `prime`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel prime -f records")]
pub(super) struct PrimeArgs {
    /// Print a skill file instead, which explains the program to an agent
    #[arg(long)]
    skill: bool,
    #[command(flatten)]
    after: AfterArgs,
}

impl AnyCommand for ContextArgs {
    fn addresses(&mut self) -> Result<Vec<&mut String>> {
        let mut sources = Vec::new();
        for source in std::mem::take(&mut self.sources.sources) {
            match source {
                Source::Address(address) => {
                    let given = super::read_command::addresses(&[address])?;
                    sources.extend(given.into_iter().map(Source::Address));
                }
                item @ Source::Item(_) => sources.push(item),
            }
        }
        self.sources.sources = sources;
        let addresses = self.sources.sources.iter_mut().filter_map(|source| match source {
            Source::Address(address) => Some(address),
            Source::Item(_) => None,
        });
        Ok(addresses.chain(&mut self.filter.places.documents.under).collect())
    }

    fn run(&self, global: &Global) -> Result<Status> {
        bundle(global, self)
    }

    fn describe(name: &str, all: &mut Vec<Described>) {
        all.push(described::<ContextAnswer>(name));
    }
}

fn bundle(global: &Global, arguments: &ContextArgs) -> Result<Status> {
    let global = &global.with_records(arguments.records.form())?;
    if arguments.strict && global.format() != Format::Markdown {
        let message = "--strict applies to blocks of Markdown only";
        return Err(Error::new(ErrorKind::Usage, message).with_hint("add -f markdown"));
    }
    let source = |source: &Source| match source {
        Source::Address(address) => Ok(ContextSource::Address(address.clone())),
        Source::Item(item) => outside(item).map(ContextSource::Outside),
    };
    let request = ContextRequest {
        sources: arguments.sources.sources.iter().map(source).collect::<Result<_>>()?,
        queries: arguments.query.iter().chain(&arguments.also).cloned().collect(),
        passage: PassageChars::new(arguments.passage, global.most_chars()),
        filter: arguments.filter.request(),
        hops: arguments.hops,
        with_body: arguments.with_body,
        shows_content: global.format() == Format::Markdown,
        limit: fitting(arguments.sources.limit(arguments.list.limit), global.most_chars()),
        max_chars: global.most_chars(),
        after: arguments.list.after.cursor()?,
    };
    let mut answer = if arguments.query.is_some() {
        let reader = store::open_for_search(global)?;
        context(&Session::new(&*reader), &request)?
    } else {
        let reader = store::open_fresh(global, Purpose::Read, |_| Ok(None))?;
        context(&Session::new(&*reader), &request)?
    };
    answer.language.clone_from(&arguments.lang);
    answer.is_strict = arguments.strict;
    global.print_list(&mut answer)?;
    Ok(answer.outcome().into())
}

/// The skill file, which explains the program to an agent.
const SKILL: &str = include_str!("skill.md");

impl AnyCommand for PrimeArgs {
    fn has(&self, format: Format) -> bool {
        !self.skill && has::<primer::PrimeAnswer>(format)
    }

    fn run(&self, global: &Global) -> Result<Status> {
        if self.skill {
            return global.print_whole(SKILL.as_bytes());
        }
        let reader = store::open_fresh(global, Purpose::Read, |_| Ok(None))?;
        let after = self.after.cursor()?;
        global.print_list(&mut primer::prime(&Session::new(&*reader), after)?)?;
        Ok(Status::Success)
    }

    fn describe(name: &str, all: &mut Vec<Described>) {
        all.push(described::<primer::PrimeAnswer>(name));
    }
}

/// Parses `TYPE[:FILE[:START[-END]]]=TEXT`. `@FILE` as the text is the content of that file, and `-`
/// is standard input.
fn outside(item: &str) -> Result<Outside> {
    let usage = |message: String| {
        Error::new(ErrorKind::Usage, message)
            .with_hint("write it as TYPE[:FILE[:START[-END]]]=TEXT, or =@FILE, or =-")
    };
    let (what, text) = item.split_once('=').ok_or_else(|| {
        usage(format!("{item} is not an item because it has no =", item = quoted(&item)))
    })?;
    let (kind, origin) = what.split_once(':').unwrap_or((what, ""));
    if !KINDS.contains(&kind) {
        let known = KINDS.join(", ");
        return Err(usage(format!(
            "{kind} is not a type of item; the types are {known}",
            kind = quoted(&kind)
        )));
    }
    let lines = origin.rsplit_once(':').and_then(|(file, lines)| {
        let one_line = (!lines.is_empty()).then_some((lines, lines));
        let (start, end) = lines.split_once('-').or(one_line)?;
        // A number that is too large is none.
        let is_number = |text: &str| text.is_empty() || text.parse::<usize>().is_ok();
        (is_number(start) && is_number(end)).then(|| (file, start.parse().ok(), end.parse().ok()))
    });
    let (mut file, line_start, line_end) = lines.unwrap_or((origin, None, None));
    if file.is_empty() && kind == "file" {
        file = text.strip_prefix('@').unwrap_or_default();
    }
    if let (Some(start), Some(end)) = (line_start, line_end)
        && start > end
    {
        return Err(usage(format!("{start}-{end} is not a range of lines")));
    }
    let (content, lossy) = text_of(text)?;
    Ok(Outside {
        kind: kind.to_owned(),
        file: (!file.is_empty()).then(|| file.to_owned()),
        line_start,
        line_end,
        content,
        lossy,
        truncated: false,
        number: 0,
    })
}

/// Returns the text of an item, and whether it has bytes that are not UTF-8.
fn text_of(text: &str) -> Result<(String, bool)> {
    let bytes = match text.strip_prefix('@') {
        Some(path) => read(Path::new(path))?,
        None if text == "-" => standard_input()?,
        None => return Ok((text.to_owned(), false)),
    };
    let text = String::from_utf8(bytes);
    let is_lossy = text.is_err();
    Ok((text.unwrap_or_else(|error| decoding::text(error.as_bytes()).into_owned()), is_lossy))
}
