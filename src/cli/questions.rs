//! The commands that answer from the store: turns their arguments into requests.

use std::io::Read as _;

use super::Status;
use super::args::{
    FindArgs, FormatName, Global, IndexArgs, NeighborsArgs, ReadArgs, SelectArgs, TocArgs,
};
use super::store::open_fresh as open;
use crate::address::is_for_every_document;
use crate::error::{Error, Result};
use crate::query::page::fitting;
use crate::query::resolve::{Window, resolve};
use crate::query::{Cursor, Library, documents, find, index, neighbors, read, select, toc};

pub(super) fn cursor(after: Option<&String>) -> Result<Option<Cursor>> {
    after.map(|after| after.parse()).transpose()
}

/// Returns the documents that contain the places of `addresses`. Returns `None` if an address
/// applies to the whole store, or names something that is not in the store yet.
fn documents_of(library: &Library<'_>, addresses: &[String]) -> Result<Option<Vec<String>>> {
    let mut paths = Vec::new();
    for address in addresses {
        let is_global = is_for_every_document(address);
        let all = Window { skip: 0, take: usize::MAX };
        let resolution = if is_global { None } else { Some(resolve(library, address, all)?) };
        match resolution {
            Some(resolution) if resolution.fault.is_none() => {
                paths.extend(
                    resolution.places.iter().map(|place| place.document.stored.path.clone()),
                );
            }
            _ => return Ok(None),
        }
    }
    paths.sort();
    paths.dedup();
    Ok(Some(paths))
}

/// Returns the paths of the named documents, or `None` for all documents.
pub(super) fn named_documents(
    library: &Library<'_>,
    names: &[String],
) -> Result<Option<Vec<String>>> {
    if names.is_empty() {
        return Ok(None);
    }
    let found = documents::named(library, names)?;
    if !found.faults.is_empty() {
        return Ok(None);
    }
    Ok(Some(found.documents.into_iter().map(|document| document.path).collect()))
}

/// Returns the addresses given. Replaces `-` by the lines of standard input.
pub(super) fn addresses(given: &[String]) -> Result<Vec<String>> {
    let mut addresses = Vec::new();
    for address in given {
        if address != "-" {
            addresses.push(address.clone());
            continue;
        }
        let mut text = String::new();
        std::io::stdin()
            .lock()
            .read_to_string(&mut text)
            .map_err(|error| Error::io(std::path::Path::new("standard input"), error))?;
        addresses.extend(text.lines().filter(|line| !line.is_empty()).map(str::to_owned));
    }
    Ok(addresses)
}

/// Keeps a value until the process exits. Dropping a large answer piece by piece takes as long as
/// printing it, and unmapping files takes as long as a lookup.
pub(super) fn kept<T>(value: T) -> &'static mut T {
    Box::leak(Box::new(value))
}

pub(super) fn index(global: &Global, arguments: &IndexArgs) -> Result<Status> {
    let request = index::Request {
        documents: arguments.documents.clone(),
        filter: arguments.filter.request(),
        blocks: arguments.blocks,
        limit: fitting(arguments.list.limit, global.max_chars),
        after: cursor(arguments.list.after.as_ref())?,
    };
    let reader = open(global, |library| named_documents(library, &request.documents))?;
    let answer = index::index(&Library::new(&*reader), &request)?;
    global.print_list(&answer)?;
    Ok(answer.outcome().into())
}

pub(super) fn select(global: &Global, arguments: &SelectArgs) -> Result<Status> {
    let request = select::Request {
        addresses: arguments.addresses.clone(),
        max_words: arguments.max_words,
        // An empty place has no characters in `raw`, so the budget allows one result more than
        // characters.
        limit: match global.max_chars {
            Some(most) if arguments.limit == Some(0) => Some(most + 1),
            _ => arguments.limit,
        },
        after: cursor(arguments.after.as_ref())?,
        room: global.max_chars,
    };
    let reader = open(global, |library| documents_of(library, &request.addresses))?;
    let answer = select::select(&Library::new(&*reader), &request)?;
    global.print_list(&answer)?;
    Ok(answer.outcome().into())
}

pub(super) fn toc(global: &Global, arguments: &TocArgs) -> Result<Status> {
    let request = toc::Request {
        documents: arguments.documents.clone(),
        filter: arguments.filter.request(),
        depth: arguments.depth,
        max_level: arguments.max_level,
        lines_only: global.format() == FormatName::Text,
        limit: fitting(arguments.list.limit, global.max_chars),
        after: cursor(arguments.list.after.as_ref())?,
    };
    let reader = open(global, |library| named_documents(library, &request.documents))?;
    let answer = kept(toc::toc(&Library::new(&*reader), &request)?);
    global.print_list(answer)?;
    Ok(answer.outcome().into())
}

pub(super) fn read(global: &Global, arguments: &ReadArgs) -> Result<Status> {
    let (document, place) = match &arguments.section {
        Some(section) => (Some(arguments.first.clone()), section.clone()),
        None => (None, arguments.first.clone()),
    };
    let request = read::Request {
        document,
        place,
        no_children: arguments.no_children,
        line_numbers: arguments.line_numbers,
    };
    let reader = open(global, |library| match &request.document {
        Some(document) => named_documents(library, std::slice::from_ref(document)),
        None => documents_of(library, std::slice::from_ref(&request.place)),
    })?;
    let answer = read::read(&Library::new(&*reader), &request)?;
    global.print_list(&answer)?;
    Ok(answer.outcome().into())
}

pub(super) fn find(global: &Global, arguments: &FindArgs) -> Result<Status> {
    let request = find::Request {
        pattern: arguments.pattern.clone(),
        content: arguments.content.clone(),
        filter: arguments.filter.request(),
        limit: fitting(arguments.list.limit, global.max_chars),
        after: cursor(arguments.list.after.as_ref())?,
    };
    let reader = open(global, |_| Ok(None))?;
    let answer = find::find(&Library::new(&*reader), &request)?;
    global.print_list(&answer)?;
    Ok(answer.outcome().into())
}

pub(super) fn neighbors(global: &Global, arguments: &NeighborsArgs) -> Result<Status> {
    let address = &arguments.address;
    let after = cursor(arguments.after.as_ref())?;
    let reader = open(global, |library| documents_of(library, std::slice::from_ref(address)))?;
    let answer = neighbors::neighbors(&Library::new(&*reader), address, after)?;
    global.print_list(&answer)?;
    Ok(answer.outcome().into())
}
