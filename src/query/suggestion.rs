//! Suggests addresses that may have been meant instead of one that names nothing.
//!
//! Invariant: each suggestion is an address that resolves in the same store. The work is limited,
//! whatever the size of the store and the document.

use std::rc::Rc;

use crate::address::suggest::most_similar;
use crate::address::{
    DeadEnd, Fault, FaultCode, Ordinal, Scope, Step, StepKind, Tree, namespace, parse_places,
};
use crate::error::Result;
use crate::limits;
use crate::markdown::outline::BlockType;
use crate::store::{Lookup, StoredDocument};

use super::library::{Library, OpenDocument};
use super::locate::locate;
use super::place::Place;
use super::steps::joined;

/// Returns the fault for the step of `steps` that named nothing, with similar steps that exist.
pub(super) fn of_dead_end(base: &Place, steps: &[Step], dead_end: DeadEnd) -> Fault {
    let DeadEnd { step, scope, available } = dead_end;
    let document = &base.document;
    let tree = &document.tree;
    let place = match scope {
        Scope::Document => document.stored.path.clone(),
        Scope::Node(node) => document.address_of(node),
        Scope::Nodes(..) => base.address(),
    };
    let prefix = match scope {
        Scope::Document => document.address(""),
        _ => format!("{place}/"),
    };
    let Some(step) = steps.get(step) else {
        return Fault::new(FaultCode::SelectorNotFound, "no such place");
    };
    let kind = step.kind;
    let steps = steps_in(tree, scope, step.ordinal);
    let requested = step.to_string();
    let mut suggestions = Vec::new();
    let (code, message) = if available > 0 {
        suggestions.push(format!("{prefix}{kind}[{}]", available - 1));
        let message = format!("{place} has {available} of {kind}, counted from 0");
        (FaultCode::IndexOutOfRange, message)
    } else {
        (FaultCode::SelectorNotFound, format!("{place} has no {kind}"))
    };
    let similar = most_similar(&requested, steps.iter().map(String::as_str));
    suggestions.extend(similar.iter().map(|step| format!("{prefix}{step}")));
    if available == 0 {
        // Also suggest the blocks that exist, even if their names differ, and the node itself.
        let blocks =
            steps.iter().filter(|step| step.starts_with("block:") || step.starts_with("item"));
        suggestions.extend(blocks.map(|step| format!("{prefix}{step}")));
        if scope != Scope::Document {
            suggestions.push(place);
        }
    }
    Fault::new(code, message).at(step.position).suggest(unique(suggestions))
}

/// Returns the distinct suggestions, at most [`limits::MAX_SUGGESTIONS`].
fn unique(suggestions: Vec<String>) -> Vec<String> {
    let mut result: Vec<String> = Vec::new();
    for suggestion in suggestions {
        if result.len() < limits::MAX_SUGGESTIONS && !result.contains(&suggestion) {
            result.push(suggestion);
        }
    }
    result
}

/// Returns one step of each kind that exists in `scope`: with the requested index, or with the last
/// index if that is smaller.
fn steps_in(tree: &Tree, scope: Scope, ordinal: Ordinal) -> Vec<String> {
    let wanted = match ordinal {
        Ordinal::All => 0,
        Ordinal::One(index) | Ordinal::Range(index, _) => index,
    };
    (1..=6)
        .map(StepKind::Heading)
        .chain([StepKind::Section, StepKind::Item])
        .chain(BlockType::ALL.into_iter().map(StepKind::Block))
        .filter_map(|kind| {
            let count = tree.matches(scope, kind).len();
            count.checked_sub(1).map(|last| format!("{kind}[{}]", wanted.min(last)))
        })
        .collect()
}

/// Returns the addresses of sections whose titles are similar to `text`, followed by `steps` if these
/// resolve there.
pub(super) fn similar_places(document: &OpenDocument, text: &str, steps: &[Step]) -> Vec<String> {
    let tree = &document.tree;
    let text = text.rsplit('/').next().unwrap_or(text);
    let sections = || tree.outline().sections.iter().take(limits::MAX_SECTIONS_COMPARED);
    let titles: Vec<&str> = sections().map(|section| section.title.as_str()).collect();
    let similar = most_similar(text, titles);
    let addresses = similar
        .into_iter()
        .flat_map(|title| sections().filter(move |section| section.title == title))
        .map(|section| {
            let (scope, address) = (Scope::Node(section.node), document.address_of(section.node));
            match tree.follow_from(scope, steps, 1) {
                Ok(_) if !steps.is_empty() => format!("{address}/{}", joined(steps)),
                _ => address,
            }
        });
    unique(addresses.take(limits::MAX_SUGGESTIONS * 4).collect())
}

/// Returns the `corrected` locators that resolve in a document, as addresses. An index that is out of
/// range is replaced by the last valid one.
pub(super) fn of_corrections(document: &Rc<OpenDocument>, corrected: &[String]) -> Vec<String> {
    let address = |text: &String| {
        let places = parse_places(text, 0).ok()?;
        let located = places.iter().find_map(|place| locate(document, place))?;
        match located.fault {
            None => Some(document.address(text)),
            Some(fault) if fault.code == FaultCode::IndexOutOfRange => {
                fault.suggestions.into_iter().next()
            }
            Some(_) => None,
        }
    };
    unique(corrected.iter().filter_map(address).collect())
}

/// Returns the addresses of the LDMD sections whose ids are similar to `id`.
pub(super) fn similar_ldmd_sections(document: &OpenDocument, id: &str) -> Vec<String> {
    let sections = document.markup.sections.iter().take(limits::MAX_SECTIONS_COMPARED);
    let ids: Vec<&str> = sections.map(|section| section.id.as_str()).collect();
    let similar = most_similar(id, ids);
    let sections = similar.into_iter().filter_map(|id| document.markup.named(id).ok());
    unique(sections.map(|section| document.address_of_ldmd(section)).collect())
}

/// Returns the addresses of the documents whose names are similar to `name`.
pub(super) fn similar_documents(library: &Library<'_>, name: &str) -> Result<Vec<String>> {
    let components = name.split('/').count();
    let has_extension = name.rsplit('/').next().is_some_and(|file| file.contains('.'));
    let shortened: Vec<(String, String)> = library
        .reader
        .all(&Lookup::LikeName(name))?
        .into_iter()
        .map(|StoredDocument { path, .. }| {
            let parts: Vec<&str> = path.split('/').collect();
            let tail = parts.get(parts.len().saturating_sub(components)..).unwrap_or_default();
            let mut tail = tail.join("/");
            if !has_extension {
                tail = tail.rsplit_once('.').map(|(stem, _)| stem.to_owned()).unwrap_or(tail);
            }
            (tail, path)
        })
        .collect();
    let similar = most_similar(name, shortened.iter().map(|(tail, _)| tail.as_str()));
    let paths = similar
        .into_iter()
        .flat_map(|tail| shortened.iter().filter(move |(other, _)| other == tail))
        .map(|(_, path)| format!("{}::*", namespace::encode(path)));
    Ok(unique(paths.collect()))
}
