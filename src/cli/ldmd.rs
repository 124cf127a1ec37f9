//! `ldmd`: turns the arguments of its commands into requests.

use super::Status;
use super::args::{FormatName, Global, LdmdCommand, LdmdGetArgs, ModeName};
use super::questions::{cursor, named_documents};
use super::store::open_fresh;
use crate::error::Result;
use crate::ldmd::{Mode, Request as SliceRequest};
use crate::query::Library;
use crate::query::ldmd::{check, emit, get, index, neighbors, search};
use crate::store::Reader;

pub(super) fn run(global: &Global, command: &LdmdCommand) -> Result<Status> {
    match command {
        LdmdCommand::Index(arguments) => {
            let request = index::Request {
                document: arguments.document.clone(),
                limit: arguments.limit,
                after: cursor(arguments.after.as_ref())?,
            };
            let reader = open(global, &request.document)?;
            let answer = index::index(&Library::new(&*reader), &request)?;
            global.print_list(&answer)?;
            Ok(answer.outcome().into())
        }
        LdmdCommand::Get(arguments) => get(global, arguments),
        LdmdCommand::Search(arguments) => {
            let request = search::Request {
                document: arguments.document.clone(),
                query: arguments.query.clone(),
                limit: arguments.limit,
                after: cursor(arguments.after.as_ref())?,
            };
            let reader = open(global, &request.document)?;
            let answer = search::search(&Library::new(&*reader), &request)?;
            global.print_list(&answer)?;
            Ok(answer.search_outcome().into())
        }
        LdmdCommand::Neighbors(arguments) => {
            let reader = open(global, &arguments.document)?;
            let library = Library::new(&*reader);
            let answer = neighbors::neighbors(
                &library,
                &arguments.document,
                &arguments.id,
                cursor(arguments.after.as_ref())?,
            )?;
            global.print_list(&answer)?;
            Ok(answer.outcome().into())
        }
        LdmdCommand::Check(arguments) => {
            let wanted = &arguments.documents;
            let reader = open_fresh(global, |library| named_documents(library, wanted))?;
            let findings =
                check::check(&Library::new(&*reader), wanted, cursor(arguments.after.as_ref())?)?;
            let findings = findings.at_most(arguments.limit);
            global.print_list(&findings)?;
            Ok(Status::of_check(&findings))
        }
        LdmdCommand::Emit(arguments) => {
            let reader = open(global, &arguments.document)?;
            let after = cursor(arguments.after.as_ref())?;
            let answer = emit::emit(&Library::new(&*reader), &arguments.document, after)?;
            // The answer is itself an LDMD document.
            let is_document = matches!(global.format, None | Some(FormatName::Ldmd));
            let format = if is_document { Some(FormatName::Raw) } else { global.format };
            Global { format, ..global.clone() }.print_list(&answer)?;
            Ok(answer.outcome().into())
        }
    }
}

fn get(global: &Global, arguments: &LdmdGetArgs) -> Result<Status> {
    let request = get::Request {
        document: arguments.document.clone(),
        id: arguments.id.clone(),
        slice: SliceRequest {
            mode: match arguments.mode {
                ModeName::Full => Mode::Full,
                ModeName::Preview => Mode::Preview,
                ModeName::Tldr => Mode::Tldr,
            },
            depth: arguments.depth,
            limit_bytes: arguments.limit_bytes,
            strip_markers: arguments.strip_markers,
        },
        after: cursor(arguments.after.as_ref())?,
    };
    let reader = open(global, &request.document)?;
    let answer = get::get(&Library::new(&*reader), &request)?;
    global.print_list(&answer)?;
    Ok(answer.outcome().into())
}

/// Opens the store. With `--refresh`, ingests this document first.
fn open(global: &Global, document: &String) -> Result<Box<dyn Reader>> {
    open_fresh(global, |library| named_documents(library, std::slice::from_ref(document)))
}
