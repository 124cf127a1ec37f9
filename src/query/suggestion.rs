//! What may have been meant by an address that leads nowhere.
//!
//! Invariant: every suggestion is an address that resolves in the same store, and making them costs a
//! bounded amount of work however large store and document are.

use crate::address::suggest::most_similar;
use crate::address::{
    DeadEnd, Fault, FaultCode, Ordinal, Scope, Selector, StepKind, Tree, namespace,
};
use crate::error::Result;
use crate::limits;
use crate::markdown::outline::BlockType;

use super::library::{Library, OpenDocument};

/// Says where a selector ended and what stands there instead.
pub(super) fn of_dead_end(
    document: &OpenDocument,
    selector: &Selector,
    dead_end: DeadEnd,
) -> Fault {
    let DeadEnd { step, scope, available } = dead_end;
    let tree = &document.tree;
    let prefix = match scope {
        Scope::Document => document.address(""),
        Scope::Node(node) => format!("{}/", document.address_of(node)),
    };
    let place = match scope {
        Scope::Document => document.stored.path.clone(),
        Scope::Node(node) => document.address_of(node),
    };
    let Some(step) = selector.steps.get(step) else {
        return Fault::new(FaultCode::SelectorNotFound, "nothing is there");
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
        // Also what resembles it in nothing: the blocks that are there, and where the path ended.
        let blocks =
            steps.iter().filter(|step| step.starts_with("block:") || step.starts_with("item"));
        suggestions.extend(blocks.map(|step| format!("{prefix}{step}")));
        if let Scope::Node(node) = scope {
            suggestions.push(document.address_of(node));
        }
    }
    Fault::new(code, message).at(step.position).suggest(unique(suggestions))
}

/// The first of each, at most [`limits::MAX_SUGGESTIONS`].
fn unique(suggestions: Vec<String>) -> Vec<String> {
    let mut result: Vec<String> = Vec::new();
    for suggestion in suggestions {
        if result.len() < limits::MAX_SUGGESTIONS && !result.contains(&suggestion) {
            result.push(suggestion);
        }
    }
    result
}

/// Steps that lead somewhere from `scope`: for each kind the index asked for where there is one, or
/// the last.
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

/// The sections of a document whose title, path or anchor resembles `text`, as addresses.
pub(super) fn similar_sections(document: &OpenDocument, text: &str) -> Vec<String> {
    let tree = &document.tree;
    let text = text.rsplit('/').next().unwrap_or(text);
    let sections = || tree.outline().sections.iter().take(limits::MAX_SECTIONS_COMPARED);
    let titles: Vec<&str> = sections().map(|section| section.title.as_str()).collect();
    let similar = most_similar(text, titles);
    let addresses = similar
        .into_iter()
        .flat_map(|title| sections().filter(move |section| section.title == title))
        .map(|section| document.address_of(section.node));
    unique(addresses.take(limits::MAX_SUGGESTIONS * 4).collect())
}

/// The LDMD sections of a document whose id resembles `id`, as addresses.
pub(super) fn similar_ldmd_sections(document: &OpenDocument, id: &str) -> Vec<String> {
    let sections = document.markup.sections.iter().take(limits::MAX_SECTIONS_COMPARED);
    let ids: Vec<&str> = sections.map(|section| section.id.as_str()).collect();
    let similar = most_similar(id, ids);
    let sections = similar.into_iter().filter_map(|id| document.markup.named(id).ok());
    unique(sections.map(|section| document.address_of_ldmd(section)).collect())
}

/// The whole documents whose name resembles `name`, as addresses.
pub(super) fn similar_documents(library: &Library<'_>, name: &str) -> Result<Vec<String>> {
    let components = name.split('/').count();
    let has_extension = name.rsplit('/').next().is_some_and(|file| file.contains('.'));
    let shortened: Vec<(String, String)> = library
        .snapshot
        .similar_paths(name)?
        .into_iter()
        .map(|path| {
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
