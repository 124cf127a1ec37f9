//! Names of notes: how `[[...]]` and front matter name a document.
//!
//! Invariant: of several notes with a name, the one at exactly this path from the root is chosen;
//! otherwise one below the folder of the source; otherwise the one that shares the most folders
//! with the source. Ties are decided by the shortest path, then by the first path in order. This is
//! the order of Obsidian (observed on version 1.13 in pvliesdonk/markdown-vault-mcp, pull request
//! 1380) except for the shared folders, which Obsidian ignores. They keep vaults separate that are
//! in the same store.

use std::cmp::Reverse;

use super::path::{folder_of, is_markdown, join, split_extension};
use super::{DocumentId, LinkSource, LinkTargets, Reason};
use crate::markdown::slug::fold;

/// The document found, or the reason why none was found.
pub(super) type NoteResult = Result<DocumentId, Reason>;

/// Returns the document that `name` names: by its path or the end of it, its title, its front
/// matter id, or an alias.
pub(super) fn named(targets: &impl LinkTargets, source: LinkSource, name: &str) -> NoteResult {
    if let Some(found) = by_path(targets, source, name)? {
        return Ok(found.id);
    }
    let folded = fold(name);
    let lookups: [&dyn Fn() -> Vec<DocumentId>; 3] =
        [&|| targets.documents_titled(&folded), &|| targets.documents_with_id(name), &|| {
            targets.documents_with_alias(&folded)
        }];
    let found = lookups.into_iter().find_map(|documents| {
        let mut documents = documents();
        targets.retain_near(source, &mut documents);
        only(&documents)
    });
    found.unwrap_or(Err(Reason::File))
}

/// Returns whether `name` cannot mean another document than the one that it leads to: it is the whole path of that
/// document, or no other document has this name.
pub(super) fn is_unique(targets: &impl LinkTargets, source: LinkSource, name: &str) -> bool {
    by_path(targets, source, name).is_ok_and(|found| found.is_none_or(|found| found.is_only))
}

/// Returns the only document of a list, or `Ambiguous` for several. Returns `None` for an empty
/// list.
pub(super) fn only(documents: &[DocumentId]) -> Option<NoteResult> {
    match documents {
        [] => None,
        [id] => Some(Ok(*id)),
        _ => Some(Err(Reason::Ambiguous)),
    }
}

/// The document that a name means by its path.
struct FoundByPath {
    id: DocumentId,
    /// Whether the name is its whole path, or no other document has the name.
    is_only: bool,
}

fn by_path(
    targets: &impl LinkTargets,
    source: LinkSource,
    name: &str,
) -> Result<Option<FoundByPath>, Reason> {
    let folder = folder_of(source.path);
    let is_relative = name.starts_with("./") || name.starts_with("../");
    let across = is_relative.then(|| targets.across(source.path, name)).flatten();
    let is_across = across.is_some();
    let path = across.or_else(|| join(if is_relative { folder } else { "" }, name));
    let path = path.ok_or(Reason::Outside)?;
    let wanted = fold(&path);
    let (stem, extension) = split_extension(&wanted);
    let mut hits = targets.documents_named(&wanted);
    if is_markdown(extension) {
        let with_extension = targets.documents_named(stem).into_iter();
        hits.extend(with_extension.filter(|(_, hit)| split_extension(&fold(hit)).1 == extension));
    }
    let is_whole = |hit: &str| {
        let hit = fold(hit);
        hit == wanted || split_extension(&hit).0 == wanted
    };
    let here = targets.collection_of(source.path);
    let is_near = |hit: &str| targets.collection_of(hit) == here;
    if is_relative || name.starts_with('/') {
        // In a collection, the path after `/` is relative to its folder.
        let below = format!("{here}/{wanted}");
        let is_below = |hit: &str| {
            let hit = fold(hit);
            !is_relative && !here.is_empty() && (hit == below || split_extension(&hit).0 == below)
        };
        hits.retain(|(_, hit)| is_below(hit) || is_whole(hit));
    }
    // Only a whole path leads into another collection.
    hits.retain(|(_, hit)| is_near(hit) || is_whole(hit) && (is_across || wanted.contains('/')));
    let best = hits.iter().min_by_key(|(_, hit)| {
        let shared = shared_folders(hit, source.path);
        let is_below = shared == folder.split_terminator('/').count();
        (!is_near(hit), !is_whole(hit), !is_below, Reverse(shared), hit.chars().count(), hit)
    });
    Ok(best.map(|(id, hit)| FoundByPath { id: *id, is_only: hits.len() == 1 || is_whole(hit) }))
}

/// Returns the number of leading folders that `one` and `other` have in common.
pub(super) fn shared_folders(one: &str, other: &str) -> usize {
    let folders = |path| folder_of(path).split_terminator('/');
    folders(one).zip(folders(other)).take_while(|(one, other)| one == other).count()
}
