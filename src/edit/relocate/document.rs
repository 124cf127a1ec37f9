//! Gives a document another path, or puts it into another folder.
//!
//! Invariant: the new path is one that an ingest takes, and nothing is there. The document has the same blocks, sections
//! and links there.

use std::collections::HashMap;

use super::RelocationPlan;
use super::link_comparison::MovedPlaces;
use super::new_version::NewVersion;
use crate::address::namespace;
use crate::edit::plan::{Refusal, Version};
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::links::{Outgoing, Reason, StoredLink, file_name, file_stem, split_extension};
use crate::markdown::Dialect;
use crate::markdown::outline::{BlockType, Node, NodeKind};
use crate::message::{Message, message};
use crate::position::LineIndex;
use crate::query::Session;
use crate::query::links::EdgeFilter;
use crate::query::links::graph::{Destination, Graph};
use crate::query::open_document::OpenDocument;
use crate::query::resolved_node::Target;
use crate::store::{Lookup, Store, StoredDocument};
use crate::visible::quoted;

/// Returns where the nodes of a document are after the same bytes were parsed as another dialect. A node begins where
/// it began, or is gone.
fn same_places(old: &OpenDocument, new: &OpenDocument) -> MovedPlaces {
    let mut moved = MovedPlaces::new();
    if Dialect::of(&old.stored.path) == Dialect::of(&new.stored.path) {
        return moved;
    }
    let nodes = &new.tree.outline().nodes;
    let mut starts: HashMap<usize, Vec<usize>> = HashMap::new();
    for (index, node) in nodes.iter().enumerate().skip(1) {
        starts.entry(node.bytes.start).or_default().push(index);
    }
    let place = |index| (old.stored.id, Target::Node(index));
    for (index, node) in old.tree.outline().nodes.iter().enumerate().skip(1) {
        let there = starts.get(&node.bytes.start).into_iter().flatten();
        let is_same = |now: &&usize| nodes.get(**now).is_some_and(|now| now.kind == node.kind);
        moved.insert(place(index), there.copied().find(|now| is_same(&now)).map(place));
    }
    moved
}

/// Returns the first offset at which the same bytes have other blocks, sections, links or LDMD markers in two versions.
fn first_difference(one: &Version, other: &Version) -> Option<usize> {
    let [one, other] = [one, other].map(|version| {
        let (nodes, markup) = (&version.outline().nodes, version.markup());
        // Tags are text in one dialect and HTML in the other, and are shown alike.
        let is_shown_as = |node: &&Node| {
            matches!(
                node.kind,
                NodeKind::Block(BlockType::Code | BlockType::List | BlockType::Table)
            )
        };
        let blocks = nodes.iter().filter(is_shown_as);
        let blocks = blocks.map(|node| (node.bytes.start, format!("{:?}", node.kind)));
        let sections = version.outline().sections.iter().filter_map(|section| {
            Some((
                nodes.get(section.node)?.bytes.start,
                format!("{} {}", section.level, section.title),
            ))
        });
        let links = version.all_links();
        let links = links.map(|(offset, kind, target)| (offset, format!("{kind:?} {target}")));
        let marked = markup.sections.iter().map(|marked| (marked.span.start, marked.id.clone()));
        let references = markup.references.iter();
        let references = references.map(|found| (found.span.start, found.document.clone()));
        let mut all: Vec<_> =
            blocks.chain(sections).chain(links).chain(marked).chain(references).collect();
        all.sort();
        all
    });
    let same = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
    let next = [one.get(same), other.get(same)];
    next.into_iter().flatten().map(|(offset, _)| *offset).min()
}

/// Gives the document `stored` the path `path`.
pub(super) fn moved(
    store: &Store,
    session: &Session<'_>,
    stored: &StoredDocument,
    path: &str,
) -> Result<RelocationPlan> {
    let path = namespace::decode(path.strip_prefix("./").unwrap_or(path));
    let path = path.as_str();
    // No file system takes a NUL, and output and lists of paths have one path per line.
    if path.contains(['\0', '\n', '\r']) {
        let message = format!("{path} is no path on one line without NUL", path = quoted(&path));
        return Err(Error::new(ErrorKind::Usage, message).with_hint("choose another path"));
    }
    let name = file_name(&stored.path);
    // A path that ends with a slash is a folder, as for `mv`.
    let in_folder = path.strip_suffix('/').map(|folder| match folder {
        "" => name.to_owned(),
        folder => format!("{folder}/{name}"),
    });
    let path = in_folder.as_deref().unwrap_or(path);
    let reader = session.reader;
    if path.is_empty() || path.split('/').any(|part| matches!(part, "" | "." | "..")) {
        let message =
            format!("{path} is not the path of a file below the root", path = quoted(&path));
        return Err(
            Error::new(ErrorKind::OutsideRoot, message).with_hint("name a file below the root")
        );
    }
    let roots = reader.roots();
    if roots.file(path).is_dir() {
        return Err(refused("EXISTS", format!("{path} is a folder")).with_hint(message!(
            "move it into the folder with `mdsel move {path} {path}`",
            namespace::encode(&stored.path),
            format!("{}/", namespace::encode(path))
        )));
    }
    if let Some(reason) = roots.excluded(&store.own_files(), path) {
        let message = message!("{} would not be ingested: {}", path, reason);
        return Err(refused("NOT_INGESTED", message).with_hint("choose another path"));
    }
    let is_taken = path != stored.path
        && (roots.file(path).symlink_metadata().is_ok() || reader.document_at(path)?.is_some());
    if is_taken {
        return Err(refused("EXISTS", format!("{path} exists"))
            .with_hint("choose another path; nothing is ever replaced by a move"));
    }
    let old = session.open(stored)?;
    let bytes = session.content(&old, old.span())?;
    let version = Version::read_as(bytes, Dialect::of(path));
    let dialect = Dialect::of(&stored.path);
    if dialect != Dialect::of(path) {
        let before = Version::read_as(version.bytes().to_vec(), dialect);
        if let Some(offset) = first_difference(&before, &version) {
            let line = LineIndex::new(version.bytes()).line_of(offset);
            let message =
                format!("line {line} of {} would be parsed differently in {path}", stored.path);
            let extension = split_extension(&stored.path).1;
            let hint = format!("change this line first, or keep the extension .{extension}");
            return Err(refused(Refusal::ChangesSection.code(), message).with_hint(hint));
        }
    }
    let version = NewVersion::new(session, &old, path, version)?;
    let (from, to) = (old.address("*"), version.document().address("*"));
    let moved = same_places(&old, version.document());
    let versions = vec![version];
    Ok(RelocationPlan { versions, moved, from, to, ..RelocationPlan::default() })
}

fn refused(reason: &'static str, message: impl Into<Message>) -> Error {
    Error::new(ErrorKind::EditRefused, message).with_reason(reason)
}

/// Returns a warning about links that lead nowhere and end in the name of the document `stored`, if no other document
/// has that name. They may be meant to lead to it, and a move leaves them as they are.
pub(super) fn unresolved_links(
    session: &Session<'_>,
    stored: &StoredDocument,
) -> Result<Option<Warning>> {
    let name = file_stem(&stored.path);
    if session.reader.all(&Lookup::Names(&[name]))?.len() > 1 {
        return Ok(None);
    }
    let keys = Outgoing::default().target_keys(&stored.path, &[]);
    let graph = Graph::new(session, EdgeFilter::default());
    let mut unresolved = Vec::new();
    graph.visit_links(&keys, None, |source, link| {
        let to = graph.follow(source, &link)?;
        if matches!(to, Some(Destination::Broken(Reason::File | Reason::Site))) {
            unresolved.push((source.stored.path.clone(), link));
        }
        Ok(())
    })?;
    let Some((file, link)) = unresolved.first() else { return Ok(None) };
    let links = match unresolved.len() {
        1 => "1 unresolved link ends".to_owned(),
        count => format!("{count} unresolved links end"),
    };
    let is_of_site = unresolved.iter().any(|(_, link)| link.target.starts_with('/'));
    let next = if is_of_site {
        "`mdsel ingest --site-root FOLDER` says where links that begin with / lead"
    } else {
        "`mdsel links check` lists them"
    };
    let StoredLink { line, target, .. } = link;
    let message = message!(
        "{}, and no link that leads nowhere is rewritten; {}",
        format!(
            "{links} in the name {name}, such as {file}:{line} to {target}",
            name = quoted(&name)
        ),
        Message::from(next)
    );
    Ok(Some(Warning::new("UNRESOLVED_LINKS", message)))
}
