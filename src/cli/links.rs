//! `links`: turns the arguments of its commands into requests.

use super::Status;
use super::args::{DirectionName, Global, LinkFilterArgs, LinksCommand};
use super::questions::cursor;
use super::store::open_fresh;
use crate::error::Result;
use crate::query::links::{Direction, EdgeFilter, check, list, walk};
use crate::query::page::fitting;
use crate::query::{FilterRequest, Library};

pub(super) fn run(global: &Global, command: &LinksCommand) -> Result<Status> {
    match command {
        LinksCommand::List(arguments) => {
            let request = list::Request {
                address: arguments.address.clone(),
                direction: direction(&arguments.filter),
                filter: filter(&arguments.filter),
                documents: FilterRequest {
                    condition: arguments.condition.clone(),
                    ..arguments.documents.request()
                },
                max_nodes: arguments.filter.max_nodes,
                limit: fitting(arguments.list.limit, global.max_chars),
                after: cursor(arguments.list.after.as_ref())?,
            };
            let snapshot = open_fresh(global, |_| Ok(None))?;
            let answer = list::list(&Library::new(&snapshot), &request)?;
            global.print_list(&answer)?;
            Ok(answer.outcome().into())
        }
        LinksCommand::Tree(arguments) => {
            let (hops, after) = (arguments.max_hops, arguments.after.as_ref());
            run_walk(global, &arguments.filter, hops, after, &arguments.address, None)
        }
        LinksCommand::Path(arguments) => {
            let to = Some(arguments.to.clone());
            let (hops, after) = (arguments.max_hops, arguments.after.as_ref());
            run_walk(global, &arguments.filter, hops, after, &arguments.from, to)
        }
        LinksCommand::Check(arguments) => {
            let snapshot = open_fresh(global, |_| Ok(None))?;
            let findings = check::check(
                &Library::new(&snapshot),
                &arguments.documents,
                &arguments.filter.request(),
                cursor(arguments.after.as_ref())?,
            )?;
            let findings = findings.at_most(arguments.limit);
            global.print_list(&findings)?;
            Ok(Status::of_check(&findings))
        }
    }
}

fn run_walk(
    global: &Global,
    arguments: &LinkFilterArgs,
    max_hops: usize,
    after: Option<&String>,
    from: &str,
    to: Option<String>,
) -> Result<Status> {
    let request = walk::Request {
        from: from.to_owned(),
        to,
        direction: direction(arguments),
        filter: filter(arguments),
        max_hops,
        max_nodes: fitting(arguments.max_nodes, global.max_chars),
        after: cursor(after)?,
    };
    let snapshot = open_fresh(global, |_| Ok(None))?;
    let answer = walk::walk(&Library::new(&snapshot), &request)?;
    global.print_list(&answer)?;
    Ok(answer.outcome().into())
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
