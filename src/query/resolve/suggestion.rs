//! Suggests addresses that may have been meant instead of one that names nothing.
//!
//! Invariant: each suggestion is an address that resolves in the same store. The work is limited whatever the size of
//! the store, and at most linear in the nodes of a document.

use std::collections::{HashMap, HashSet};

use crate::address::suggest::most_similar;
use crate::address::{
    AddressError, DeadEnd, FaultCode, Ordinal, Step, StepKind, StepScope, Suggestion, Tree, joined,
    lines_address, lines_in_other_notation, namespace,
};
use crate::count::counted;
use crate::error::Result;
use crate::limits;
use crate::links::{file_name, without_order};
use crate::markdown::outline::{BlockType, NodeKind, Section};
use crate::markdown::slug::comparable;
use crate::store::{Lookup, StoredDocument};

use crate::query::open_document::OpenDocument;
use crate::query::resolved_node::ResolvedNode;
use crate::query::session::Session;

/// Returns the fault for the step of `steps` that named nothing, with similar steps that exist.
pub(super) fn of_dead_end(base: &ResolvedNode, steps: &[Step], dead_end: DeadEnd) -> AddressError {
    let DeadEnd { step, scope, available } = dead_end;
    let document = &base.document;
    let tree = &document.tree;
    let place = match scope {
        StepScope::Document => document.stored.path.clone(),
        StepScope::Node(node) => document.address_of(node),
        StepScope::Nodes(..) => base.address(),
    };
    let prefix = match scope {
        StepScope::Document => document.address(""),
        _ => format!("{place}/"),
    };
    let Some(step) = steps.get(step) else {
        return AddressError::new(FaultCode::SelectorNotFound, "no such place");
    };
    let kind = step.kind;
    let steps = steps_in(tree, scope, step.ordinal);
    let requested = step.to_string();
    let mut suggestions = Vec::new();
    let suggestion = |step: &str, node: usize| {
        let title = tree.section(node).map(|section| section.title.clone());
        Suggestion {
            address: format!("{prefix}{step}"),
            title: title.filter(|title| !title.is_empty()),
        }
    };
    let nested = nested_blocks(tree, scope, kind);
    let inside = match nested.len() {
        0 => String::new(),
        count => {
            let and = match (available, count) {
                (0, 1) => "; there is",
                (0, _) => "; there are",
                _ => ", and",
            };
            format!("{and} {count} in lists or block quotes")
        }
    };
    let (code, message) = if available > 0 {
        let last = tree.matches(scope, kind).last().copied().unwrap_or_default();
        suggestions.push(suggestion(&format!("{kind}[{}]", available - 1), last));
        let available = match kind {
            StepKind::Section | StepKind::Item => counted(available, &kind.to_string()),
            _ => format!("{available} {kind}"),
        };
        let message = format!("{place} has {available}{inside}; indexes begin at 0");
        (FaultCode::IndexOutOfRange, message)
    } else {
        (FaultCode::SelectorNotFound, format!("{place} has no {kind}{inside}"))
    };
    let nested = nested.into_iter().take(limits::MAX_SUGGESTIONS / 2);
    suggestions.extend(nested.map(|node| document.address_of(node).into()));
    let similar = most_similar(&requested, steps.iter().map(|(step, _)| step.as_str()));
    let similar = similar.iter().filter_map(|step| steps.iter().find(|(other, _)| other == step));
    suggestions.extend(similar.map(|(step, node)| suggestion(step, *node)));
    if available == 0 {
        // Also suggest the blocks that exist, even if their names differ, and the node itself.
        let blocks =
            steps.iter().filter(|(step, _)| step.starts_with("block:") || step.starts_with("item"));
        suggestions.extend(blocks.map(|(step, node)| suggestion(step, *node)));
        if scope != StepScope::Document {
            suggestions.push(place.into());
        }
    }
    AddressError::new(code, message).at(step.position).suggest(unique(suggestions))
}

/// Returns the blocks of a type in `scope` that are inside its lists and block quotes, so that no step counts them there.
fn nested_blocks(tree: &Tree, scope: StepScope, kind: StepKind) -> Vec<usize> {
    let StepKind::Block(block) = kind else { return Vec::new() };
    // The list around an item may have the same bytes, and it precedes the item.
    let (span, first) = match scope {
        StepScope::Document => (None, 0),
        StepScope::Node(node) => (tree.node(node).map(|node| node.bytes), node),
        StepScope::Nodes(..) => return Vec::new(),
    };
    let counted: HashSet<usize> = tree.matches(scope, kind).into_iter().collect();
    let nodes = tree.outline().nodes.iter().enumerate();
    let inside = nodes.filter(|(index, node)| {
        node.kind == NodeKind::Block(block)
            && span.is_none_or(|span| span.contains(node.bytes))
            && !counted.contains(index)
            && *index > first
    });
    inside.map(|(index, _)| index).collect()
}

/// Returns the distinct suggestions, at most [`limits::MAX_SUGGESTIONS`].
pub(super) fn unique<T: PartialEq>(suggestions: Vec<T>) -> Vec<T> {
    let mut result: Vec<T> = Vec::new();
    for suggestion in suggestions {
        if result.len() < limits::MAX_SUGGESTIONS && !result.contains(&suggestion) {
            result.push(suggestion);
        }
    }
    result
}

/// Returns one step of each kind that exists in `scope`, and its node: with the requested index, or with
/// the last index if that is smaller.
fn steps_in(tree: &Tree, scope: StepScope, ordinal: Ordinal) -> Vec<(String, usize)> {
    let wanted = match ordinal {
        Ordinal::All => 0,
        Ordinal::One(index) | Ordinal::Range(index, _) => index,
    };
    (1..=6)
        .map(StepKind::Heading)
        .chain([StepKind::Section, StepKind::Item])
        .chain(BlockType::ALL.into_iter().map(StepKind::Block))
        .filter_map(|kind| {
            let nodes = tree.matches(scope, kind);
            let index = wanted.min(nodes.len().checked_sub(1)?);
            nodes.get(index).map(|node| (format!("{kind}[{index}]"), *node))
        })
        .collect()
}

/// Returns the address of the lines that `text` means in the notation of another tool, if the document has them.
pub(super) fn lines_in(document: &OpenDocument, text: &str) -> Option<Suggestion> {
    let (start, end) = lines_in_other_notation(text)?;
    let last = document.tree.outline().lines;
    let end = end.unwrap_or(last).min(last);
    if start == 0 || start > end {
        return None;
    }
    let address = lines_address(&document.stored.path, start, end);
    let line = address.strip_suffix(&format!("-{end}")).filter(|_| start == end);
    Some(line.map_or_else(|| address.clone(), str::to_owned).into())
}

/// Returns the title of a section, and for a function the part of it before the parameters.
fn names_of(section: &Section) -> [Option<&str>; 2] {
    let name = section.title.split_once('(').map(|(name, _)| name.trim_end());
    [Some(&section.title), name]
}

/// Returns the addresses of sections whose titles are similar to `text`, followed by `steps` if these
/// resolve there.
pub(super) fn similar_places(
    document: &OpenDocument,
    text: &str,
    steps: &[Step],
) -> Vec<Suggestion> {
    let tree = &document.tree;
    let (above, text) = text.rsplit_once('/').unwrap_or(("", text));
    let sections = || tree.outline().sections.iter().take(limits::MAX_SECTIONS_COMPARED);
    let similar = most_similar(text, sections().flat_map(names_of).flatten());
    let of_name = |name| sections().filter(move |section| names_of(section).contains(&Some(name)));
    let mut similar: Vec<&Section> = similar.into_iter().flat_map(of_name).collect();
    let mut seen = HashSet::new();
    similar.retain(|section| seen.insert(section.node));
    // Those below a section with the name before the last slash come first.
    let parent = comparable(above.rsplit('/').next().unwrap_or_default().trim());
    let is_below = |section: &Section| {
        let above = tree.sections_above(section.node);
        let titles = above.iter().rev().skip(1).flat_map(|section| section.titles());
        !parent.is_empty() && titles.into_iter().any(|title| comparable(title).contains(&parent))
    };
    similar.sort_by_key(|section| !is_below(section));
    let counts = similar.iter().fold(HashMap::new(), |mut counts, section| {
        *counts.entry(section.title.as_str()).or_insert(0) += 1;
        counts
    });
    // Equal titles differ by the titles above them.
    let shown = |section: &Section| {
        if counts.get(section.title.as_str()).is_none_or(|count| *count < 2) {
            return section.title.clone();
        }
        let above = tree.sections_above(section.node);
        let path: Vec<&str> = above.iter().map(|section| section.title.as_str()).collect();
        let line = tree.node(section.node).map_or(1, |node| node.lines.start);
        format!("{} (line {line})", path.join(" / "))
    };
    let addresses = similar.into_iter().map(|section| {
        let (scope, address) = (StepScope::Node(section.node), document.address_of(section.node));
        let address = match tree.follow_from(scope, steps, 1) {
            Ok(_) if !steps.is_empty() => format!("{address}/{}", joined(steps)),
            _ => address,
        };
        let title = Some(shown(section)).filter(|title| !title.is_empty());
        Suggestion { address, title }
    });
    unique(addresses.take(limits::MAX_SUGGESTIONS * 4).collect())
}

/// Returns the addresses of the LDMD sections whose ids are similar to `id`.
pub(super) fn similar_ldmd_sections(document: &OpenDocument, id: &str) -> Vec<String> {
    let sections = document.markup.sections.iter().take(limits::MAX_SECTIONS_COMPARED);
    let ids: Vec<&str> = sections.map(|section| section.id.as_str()).collect();
    let similar = most_similar(id, ids);
    let sections = similar.into_iter().filter_map(|id| document.markup.named(id).ok());
    unique(sections.map(|section| document.address_of_ldmd(section)).collect())
}

/// Returns the addresses of the documents whose names are similar to `name`, with or without the numbers that order
/// them.
pub(in crate::query) fn similar_documents(
    session: &Session<'_>,
    name: &str,
) -> Result<Vec<String>> {
    let components = name.split('/').count();
    let file = file_name(name);
    let has_extension = file.contains('.');
    let mut documents = session.reader.all(&Lookup::LikeName(name))?;
    if !file.starts_with(|first: char| first.is_ascii_digit()) {
        documents.extend(session.reader.all(&Lookup::LikeName("0"))?);
    }
    let mut shortened: Vec<(String, String)> = Vec::with_capacity(documents.len());
    for StoredDocument { path, .. } in documents {
        let parts: Vec<&str> = path.split('/').collect();
        let tail = parts.get(parts.len().saturating_sub(components)..).unwrap_or_default();
        let named = |tail: String| match tail.rsplit_once('.') {
            Some((stem, _)) if !has_extension => stem.to_owned(),
            _ => tail,
        };
        let tails = [
            tail.join("/"),
            tail.iter().map(|part| without_order(part)).collect::<Vec<_>>().join("/"),
        ];
        let [tail, unordered] = tails.map(named);
        if unordered != tail {
            shortened.push((unordered, path.clone()));
        }
        shortened.push((tail, path));
    }
    let similar = most_similar(name, shortened.iter().map(|(tail, _)| tail.as_str()));
    let paths = similar
        .into_iter()
        .flat_map(|tail| shortened.iter().filter(move |(other, _)| other == tail))
        .map(|(_, path)| namespace::whole(path));
    Ok(unique(paths.collect()))
}
