//! `prime`: a short introduction to a store, for an agent that has not used it yet.

use std::cmp::Reverse;

use schemars::JsonSchema;
use serde::Serialize;

use super::links::graph::Graph;
use super::links::{EdgeFilter, LinkNode};
use super::page::longest;
use super::resolved_node::ResolvedNode;
use super::{Cursor, List, Page, Session};
use crate::error::Result;
use crate::limits;
use crate::links::link_keys;
use crate::store::{Lookup, Totals};

/// A folder directly below the root, or a collection.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Folder {
    /// The name of the folder; empty for the root itself.
    pub folder: String,
    /// The number of documents in it and its subfolders.
    pub documents: usize,
    /// Whether it is a collection, which has a root of its own.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_collection: bool,
}

/// A document with many links to it.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Linked {
    /// The document.
    #[serde(flatten)]
    pub node: LinkNode,
    /// The number of documents with a link to it. A document that links to it by several names counts once for each.
    pub linked_from: usize,
}

/// A command to use next.
#[derive(Clone, Copy, Debug, JsonSchema, Serialize)]
pub struct Advice {
    /// The command line.
    pub command: &'static str,
    /// A description of what the command does.
    pub what: &'static str,
}

/// The introduction to a store.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct PrimeAnswer {
    /// The totals of the store.
    pub totals: Totals,
    /// The largest folders directly below the root.
    pub folders: Vec<Folder>,
    /// The documents with the most links to them.
    pub most_linked: Vec<Linked>,
    /// The most useful commands.
    pub commands: Vec<Advice>,
    /// Warnings and the cursor.
    #[serde(flatten)]
    pub page: Page,
}

const COMMANDS: [Advice; 8] = [
    Advice { command: "mdsel search WORDS", what: "ranked sections for words" },
    Advice { command: "mdsel find TITLE", what: "sections by title" },
    Advice { command: "mdsel toc DOC", what: "the section tree of a document" },
    Advice { command: "mdsel select ADDRESS", what: "content by address, in pages" },
    Advice { command: "mdsel read DOC SECTION", what: "one section in full" },
    Advice { command: "mdsel neighbors ADDRESS", what: "the sections around a section" },
    Advice { command: "mdsel links list ADDRESS", what: "links from and to a section" },
    Advice { command: "mdsel context --query WORDS", what: "a bundle of sections for a question" },
];

/// The items are the commands, then the documents, then the folders.
impl List for PrimeAnswer {
    fn page_mut(&mut self) -> Option<&mut Page> {
        Some(&mut self.page)
    }

    fn count(&self) -> usize {
        self.commands.len() + self.most_linked.len() + self.folders.len()
    }

    fn first(&self, count: usize) -> Self {
        let mut result = self.clone();
        if count < self.count() {
            result.keep(0, count);
            result.page.end(count);
        }
        result
    }

    fn sizes_of_first(&self) -> usize {
        longest(self.most_linked.iter().flat_map(|linked| linked.node.texts()))
    }

    fn cut_first(&mut self, size: usize) -> bool {
        self.most_linked.iter_mut().for_each(|linked| linked.node.shorten(size));
        true
    }
}

impl PrimeAnswer {
    /// Keeps the items from `from` to `to`, exclusive.
    fn keep(&mut self, from: usize, to: usize) {
        fn keep<T>(items: &mut Vec<T>, (from, to): (usize, usize)) -> (usize, usize) {
            let count = items.len();
            items.truncate(to);
            items.drain(..from.min(items.len()));
            (from.saturating_sub(count), to.saturating_sub(count))
        }
        let left = keep(&mut self.commands, (from, to));
        let left = keep(&mut self.most_linked, left);
        keep(&mut self.folders, left);
    }
}

/// Describes the store and the commands to use next, from `after` on.
pub fn prime(session: &Session<'_>, after: Option<Cursor>) -> Result<PrimeAnswer> {
    let folders = folders(session)?;
    let page = Page::beginning(after, session.reader.generation());
    let start = page.part.start();
    let mut answer = PrimeAnswer {
        totals: session.reader.totals()?,
        folders,
        most_linked: most_linked(session)?,
        commands: COMMANDS.to_vec(),
        page,
    };
    answer.keep(start, usize::MAX);
    Ok(answer)
}

/// Returns the largest folders, and all collections.
fn folders(session: &Session<'_>) -> Result<Vec<Folder>> {
    let mut found = session.reader.folders(limits::PRIME_ITEMS)?;
    for name in &session.collections {
        if !found.iter().any(|(folder, _)| folder == name) {
            found.push((name.clone(), session.reader.all(&Lookup::Folder(name))?.len()));
        }
    }
    let folder = |(folder, documents): (String, usize)| Folder {
        is_collection: session.collections.contains(&folder),
        folder,
        documents,
    };
    Ok(found.into_iter().map(folder).collect())
}

/// A document that links lead to.
struct LinkedDocument {
    place: ResolvedNode,
    linked_from: usize,
    /// The keys of the links that are counted.
    keys: Vec<i64>,
}

/// Adds up the numbers of documents with each of the names that lead to the same document. Stops at the first
/// document that is not listed, so the cost does not grow with the number of names.
fn most_linked(session: &Session<'_>) -> Result<Vec<Linked>> {
    let graph = Graph::new(session, EdgeFilter::default());
    let mut found: Vec<LinkedDocument> = Vec::new();
    for (key, linked_from) in session.reader.frequent_link_keys(limits::PRIME_LINK_TARGETS)? {
        // A link has a key for each way to read its name, so it may be counted already.
        if found.iter().any(|known| known.keys.contains(&key)) {
            continue;
        }
        let Some((place, keys)) = target_of(session, &graph, key)? else { continue };
        let id = place.document.stored.id;
        let is_full = found.len() == limits::PRIME_ITEMS;
        match found.iter_mut().find(|known| known.place.document.stored.id == id) {
            Some(known) if keys.iter().any(|key| known.keys.contains(key)) => {}
            Some(known) => {
                known.linked_from += linked_from;
                known.keys.extend(keys);
            }
            None if is_full => break,
            None => found.push(LinkedDocument {
                place: ResolvedNode::whole(place.document),
                linked_from,
                keys,
            }),
        }
    }
    found.sort_by_key(|linked| Reverse(linked.linked_from));
    let linked = |LinkedDocument { place, linked_from, .. }: &LinkedDocument| {
        Ok(Linked { node: LinkNode::of(session, place)?, linked_from: *linked_from })
    };
    found.iter().map(linked).collect()
}

/// Returns the target of the first link with that key that has a target, and the keys of the link.
fn target_of(
    session: &Session<'_>,
    graph: &Graph<'_>,
    key: i64,
) -> Result<Option<(ResolvedNode, Vec<i64>)>> {
    let most = limits::PRIME_ITEMS;
    for source in session.reader.documents(&Lookup::LinkKeys(&[key]), None, most)? {
        let links = session.reader.links(&source)?.links;
        let mut keyed = links.iter().map(|link| (link, link_keys(&source.path, link)));
        let Some((link, keys)) = keyed.find(|(_, keys)| keys.contains(&key)) else { continue };
        let document = session.open(&source)?;
        if let Some(place) = graph.follow_to_document(&document, link)? {
            return Ok(Some((place, keys)));
        }
    }
    Ok(None)
}
