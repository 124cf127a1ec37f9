//! `prime`: a short introduction to a store, for an agent that has not used it yet.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use schemars::JsonSchema;
use serde::Serialize;

use super::links::graph::Graph;
use super::links::{EdgeFilter, LinkNode};
use super::page::longest;
use super::resolved_node::ResolvedNode;
use super::{Cursor, List, Page, Session};
use crate::error::Result;
use crate::limits;
use crate::links::{StoredLink, link_keys};
use crate::store::{Lookup, StoredDocument, Totals};

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
    /// The number of documents with a link to it. If many documents have a link of that name, only some of them are read,
    /// and the number is an estimate.
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

const COMMANDS: [Advice; 9] = [
    Advice {
        command: "mdsel search 'QUESTION' --also 'OTHER WORDING' -f text --max-chars 2000",
        what: "the passages that answer; --under FOLDER narrows",
    },
    Advice { command: "mdsel find TITLE", what: "sections by title" },
    Advice { command: "mdsel toc DOC", what: "the section tree of a document" },
    Advice { command: "mdsel select ADDRESS", what: "content by address, in pages" },
    Advice { command: "mdsel read DOC SECTION", what: "one section in full" },
    Advice { command: "mdsel neighbors ADDRESS", what: "the sections around a section" },
    Advice { command: "mdsel links list ADDRESS", what: "links from and to a section" },
    Advice { command: "mdsel context --query WORDS", what: "a bundle of sections for a question" },
    Advice { command: "mdsel prime --skill", what: "how an agent works with mdsel" },
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
    let mut documents: BTreeMap<String, usize> = BTreeMap::new();
    for (folder, count) in session.reader.folders()? {
        let top = folder.split('/').next().unwrap_or_default();
        let documents = documents.entry(top.to_owned()).or_default();
        *documents = documents.saturating_add(count);
    }
    let mut found: Vec<(String, usize)> = documents.into_iter().collect();
    found.sort_by_key(|(_, count)| Reverse(*count));
    found.truncate(limits::PRIME_FOLDERS);
    for name in &session.collections {
        if !found.iter().any(|(folder, _)| folder == name) {
            found.push((name.clone(), session.reader.size_of_folder(name)?.0));
        }
    }
    let folder = |(folder, documents): (String, usize)| Folder {
        is_collection: session.collections.contains(&folder),
        folder,
        documents,
    };
    Ok(found.into_iter().map(folder).collect())
}

/// The documents that links lead to, by their ids.
struct LinkedDocuments<'a> {
    session: &'a Session<'a>,
    graph: Graph<'a>,
    found: HashMap<i64, LinkedDocument>,
    /// What the links of a folder lead to, by their targets as they are written.
    followed: HashMap<(String, String), Option<i64>>,
    /// The number of links that may still be followed.
    left: usize,
}

#[derive(Default)]
struct LinkedDocument {
    /// The documents with a link to it that was followed.
    sources: HashSet<i64>,
    /// The number of other documents that have such a link, judging by those that were read.
    others: usize,
}

impl LinkedDocument {
    fn linked_from(&self) -> usize {
        self.sources.len() + self.others
    }
}

/// Returns the documents to which the most documents link, with their descriptions.
fn most_linked(session: &Session<'_>) -> Result<Vec<Linked>> {
    let linked = |(stored, linked_from): (StoredDocument, usize)| {
        let place = ResolvedNode::whole(session.open(&stored)?);
        Ok(Linked { node: LinkNode::of(session, &place)?, linked_from })
    };
    most_linked_documents(session)?.into_iter().map(linked).collect()
}

/// Returns the documents to which the most documents link, each with the number of these, as [`prime`] lists them.
/// Follows the links with the most frequent names, until no other name is as frequent as the links to the documents
/// found, or the limit is reached.
pub(crate) fn most_linked_documents(session: &Session<'_>) -> Result<Vec<(StoredDocument, usize)>> {
    let mut all = LinkedDocuments {
        session,
        graph: Graph::new(session, EdgeFilter::default()),
        found: HashMap::new(),
        followed: HashMap::new(),
        left: limits::PRIME_LINKS,
    };
    for (key, documents) in session.reader.frequent_link_keys(limits::PRIME_LINK_TARGETS)? {
        let more = all.found.values().filter(|one| one.linked_from() >= documents).count();
        if all.left == 0 || more >= limits::PRIME_DOCUMENTS {
            break;
        }
        all.follow(key, documents)?;
    }
    let mut most: Vec<(i64, LinkedDocument)> = all.found.into_iter().collect();
    most.sort_by_key(|(id, one)| (Reverse(one.linked_from()), *id));
    most.truncate(limits::PRIME_DOCUMENTS);
    let ids: Vec<i64> = most.iter().map(|(id, _)| *id).collect();
    let stored = session.reader.all(&Lookup::Ids(&ids))?;
    let with_number = most.iter().filter_map(|(id, one)| {
        let stored = stored.iter().find(|stored| stored.id == *id)?;
        Some((stored.clone(), one.linked_from()))
    });
    Ok(with_number.collect())
}

impl LinkedDocuments<'_> {
    /// Follows links with this key, which `documents` documents have.
    fn follow(&mut self, key: i64, documents: usize) -> Result<()> {
        let reader = self.session.reader;
        let most = limits::PRIME_SOURCES.min(self.left);
        let sources = spread(reader.all(&Lookup::LinkKeys(&[key]))?, most);
        let mut reached: HashMap<i64, usize> = HashMap::new();
        for (source, links) in sources.iter().zip(reader.all_links(&sources)?) {
            let keyed = links.links.iter().filter(|it| link_keys(&source.path, it).contains(&key));
            let mut targets = HashSet::new();
            for link in keyed {
                targets.extend(self.target(source, link)?);
            }
            for target in targets {
                // A link has a key for each way to read its name, so it may be counted already.
                if self.found.entry(target).or_default().sources.insert(source.id) {
                    *reached.entry(target).or_default() += 1;
                }
            }
        }
        let unread = documents.saturating_sub(sources.len());
        for (target, count) in reached {
            if let Some(one) = self.found.get_mut(&target) {
                one.others += count * unread / sources.len().max(1);
            }
        }
        Ok(())
    }

    fn target(&mut self, source: &StoredDocument, link: &StoredLink) -> Result<Option<i64>> {
        // A path from the root leads to the same place from every folder.
        let folder = match source.path.rsplit_once('/') {
            Some((folder, _)) if !link.target.starts_with('/') => folder,
            _ => "",
        };
        let key = (folder.to_owned(), format!("{:?} {}", link.kind, link.target));
        if let Some(known) = self.followed.get(&key) {
            return Ok(*known);
        }
        self.left = self.left.saturating_sub(1);
        let target = self.graph.linked_document(source, link)?;
        self.followed.insert(key, target);
        Ok(target)
    }
}

/// Returns `most` of the documents at equal distances, or all if there are no more. Documents of one folder are next
/// to each other and often have the same links, so the first ones do not speak for the others.
fn spread(documents: Vec<StoredDocument>, most: usize) -> Vec<StoredDocument> {
    let count = documents.len();
    let is_taken = |index: usize| index * most / count != (index + 1) * most / count;
    let indexed = documents.into_iter().enumerate();
    indexed.filter(|(index, _)| count <= most || is_taken(*index)).map(|(_, one)| one).collect()
}
