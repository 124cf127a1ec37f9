//! `links`: the arguments of its commands and their requests.

use clap::{Args, ValueEnum};
use clap_complete::engine::ArgValueCompleter;

use super::args::{AfterArgs, DocumentFilterArgs, FilterArgs, ListArgs};
use super::command::commands;
use super::completers::{addresses, documents};
use super::exit::Status;
use super::global::Global;
use super::lazy::Lazy;
use super::read_command::QueryArguments;
use crate::error::Result;
use crate::query::finding::Findings;
use crate::query::links::{Direction, EdgeFilter, check, list, walk};
use crate::query::page::fitting;
use crate::query::{FilterRequest, Session};

commands! {
    /// The commands of `links`.
    LinksCommand {
        /// List the links of a place
        List(Lazy<LinksListArgs>),
        /// List the places that links lead to and come from, by distance
        Tree(Lazy<LinksTreeArgs>),
        /// Find the shortest path of links between two places
        Path(Lazy<LinksPathArgs>),
        /// List broken links (status 1 if there are any)
        Check(Lazy<LinksCheckArgs>),
    }
}

/// Filters by link.
#[derive(Debug, Args)]
pub(super) struct LinkFilterArgs {
    /// Follow links out of the place, into it, or both
    #[arg(long, value_enum, default_value_t = DirectionName::Both)]
    direction: DirectionName,
    /// Follow only links of this type: related, embeds, references, or a type of front matter;
    /// repeatable
    #[arg(long = "link-type", alias = "type", value_name = "TYPE")]
    link_types: Vec<String>,
    /// Follow only links of front matter
    #[arg(long, conflicts_with = "inline_only")]
    typed_only: bool,
    /// Follow only links of the text
    #[arg(long)]
    inline_only: bool,
    /// Print at most N places; 0 for all
    #[arg(long, value_name = "N", default_value_t = 0)]
    max_nodes: usize,
}

/// Filters by the documents and sections at the other ends of links.
#[derive(Debug, Args)]
pub(super) struct EndFilterArgs {
    #[command(flatten)]
    documents: DocumentFilterArgs,
    /// Take only documents whose front matter matches, as in 'status = Final'
    #[arg(long = "where", value_name = "EXPR", id = "where")]
    condition: Option<String>,
    /// Take only sections of this heading level, 1 to 6
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=6))]
    level: Option<u8>,
}

impl EndFilterArgs {
    fn request(&self) -> FilterRequest {
        FilterRequest {
            condition: self.condition.clone(),
            level: self.level,
            ..self.documents.request()
        }
    }
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
    address: String,
    #[command(flatten)]
    ends: EndFilterArgs,
    /// Order by the documents at the other ends: path, title or a key of their front matter; -KEY reverses
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    sort: Option<String>,
    #[command(flatten)]
    filter: LinkFilterArgs,
    #[command(flatten)]
    list: ListArgs,
}

/// Arguments of `links tree`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel links tree guide.md --max-hops 2 -f text", mut_arg("max_nodes", |nodes| nodes.visible_alias("limit")))]
pub(super) struct LinksTreeArgs {
    /// The address of the place to start at
    #[arg(value_name = "ADDRESS", add = ArgValueCompleter::new(addresses))]
    address: String,
    /// Follow at most N links in a row
    #[arg(long, value_name = "N", default_value_t = 3)]
    max_hops: usize,
    #[command(flatten)]
    ends: EndFilterArgs,
    #[command(flatten)]
    filter: LinkFilterArgs,
    #[command(flatten)]
    after: AfterArgs,
}

/// Arguments of `links path`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel links path links.md guide.md -f records", mut_arg("max_nodes", |nodes| nodes.visible_alias("limit")))]
pub(super) struct LinksPathArgs {
    /// The address of the place to start at
    #[arg(value_name = "FROM", add = ArgValueCompleter::new(addresses))]
    from: String,
    /// The address of the place to reach
    #[arg(value_name = "TO", add = ArgValueCompleter::new(addresses))]
    to: String,
    /// Follow at most N links in a row
    #[arg(long, value_name = "N", default_value_t = 10)]
    max_hops: usize,
    #[command(flatten)]
    ends: EndFilterArgs,
    #[command(flatten)]
    filter: LinkFilterArgs,
    #[command(flatten)]
    after: AfterArgs,
}

/// Arguments of `links check`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel links check guide.md -f text")]
pub(super) struct LinksCheckArgs {
    /// Documents: a path, a unique suffix of one, a folder or a glob; or sections [default: all]
    #[arg(value_name = "DOC", add = ArgValueCompleter::new(documents))]
    documents: Vec<String>,
    #[command(flatten)]
    filter: FilterArgs,
    #[command(flatten)]
    list: ListArgs,
}

impl QueryArguments for LinksListArgs {
    type Answer = list::LinkListAnswer;

    fn addresses(&mut self) -> Result<Vec<&mut String>> {
        Ok(std::iter::once(&mut self.address).chain(&mut self.ends.documents.under).collect())
    }

    fn answer(&self, global: &Global, session: &Session<'_>) -> Result<list::LinkListAnswer> {
        let request = list::LinkListRequest {
            address: self.address.clone(),
            direction: direction(&self.filter),
            filter: filter(&self.filter),
            documents: FilterRequest { sort: self.sort.clone(), ..self.ends.request() },
            max_nodes: self.filter.max_nodes,
            limit: fitting(self.list.limit, global.most_chars()),
            after: self.list.after.cursor()?,
        };
        list::list(session, &request)
    }
}

/// Returns the request for a walk.
fn walk_request(
    global: &Global,
    arguments: &LinkFilterArgs,
    ends: &EndFilterArgs,
    max_hops: usize,
    after: &AfterArgs,
    from: &str,
    to: Option<&String>,
) -> Result<walk::LinkWalkRequest> {
    Ok(walk::LinkWalkRequest {
        from: from.to_owned(),
        to: to.cloned(),
        direction: direction(arguments),
        filter: filter(arguments),
        documents: ends.request(),
        max_hops,
        max_nodes: fitting(arguments.max_nodes, global.most_chars()),
        after: after.cursor()?,
    })
}

impl QueryArguments for LinksTreeArgs {
    type Answer = walk::LinkWalkAnswer;

    fn addresses(&mut self) -> Result<Vec<&mut String>> {
        Ok(std::iter::once(&mut self.address).chain(&mut self.ends.documents.under).collect())
    }

    fn answer(&self, global: &Global, session: &Session<'_>) -> Result<walk::LinkWalkAnswer> {
        let (hops, after) = (self.max_hops, &self.after);
        let ends = &self.ends;
        let request = walk_request(global, &self.filter, ends, hops, after, &self.address, None)?;
        walk::walk(session, &request)
    }
}

impl QueryArguments for LinksPathArgs {
    type Answer = walk::LinkWalkAnswer;

    fn addresses(&mut self) -> Result<Vec<&mut String>> {
        let places = [&mut self.from, &mut self.to].into_iter();
        Ok(places.chain(&mut self.ends.documents.under).collect())
    }

    fn answer(&self, global: &Global, session: &Session<'_>) -> Result<walk::LinkWalkAnswer> {
        let (hops, after) = (self.max_hops, &self.after);
        let (ends, to) = (&self.ends, Some(&self.to));
        let request = walk_request(global, &self.filter, ends, hops, after, &self.from, to)?;
        walk::walk(session, &request)
    }
}

impl QueryArguments for LinksCheckArgs {
    type Answer = Findings;

    fn addresses(&mut self) -> Result<Vec<&mut String>> {
        Ok(self.documents.iter_mut().chain(&mut self.filter.places.documents.under).collect())
    }

    fn answer(&self, global: &Global, session: &Session<'_>) -> Result<Findings> {
        let after = self.list.after.cursor()?;
        let is_continued = after.is_some();
        let findings = check::check(session, &self.documents, &self.filter.request(), after)?;
        Ok(if is_continued {
            findings.at_most(self.list.limit)
        } else {
            findings.summarized(self.list.limit, global.most_chars())
        })
    }

    fn status(findings: &Findings) -> Status {
        Status::of_check(findings)
    }
}

fn direction(arguments: &LinkFilterArgs) -> Direction {
    match arguments.direction {
        DirectionName::Out => Direction::Out,
        DirectionName::In => Direction::In,
        DirectionName::Both => Direction::Both,
    }
}

fn filter(arguments: &LinkFilterArgs) -> EdgeFilter {
    EdgeFilter {
        types: arguments.link_types.clone(),
        typed_only: arguments.typed_only,
        inline_only: arguments.inline_only,
    }
}
