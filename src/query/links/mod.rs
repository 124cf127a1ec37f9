//! `links`: the graph between documents and their sections, found out link by link as it is asked.
//!
//! [`graph`] says which edges a place has; each other module answers one command. Invariant: an edge
//! out of one place is an edge into another, and an edge stands for a link that a reader of the
//! document can follow.

mod breadth_first;
pub mod broken;
pub mod check;
pub mod graph;
pub mod list;
mod targets;
pub mod walk;

pub use breadth_first::reachable;
pub use graph::{Direction, Edge, EdgeFilter, source_word};

use serde::Serialize;

use super::library::{Freshness, Library};
use super::page::shorten;
use super::place::{Place, Target};
use crate::error::Result;
use crate::links::split_extension;

/// A place that links lead from or to.
#[derive(Clone, Debug, Serialize)]
pub struct Node {
    /// Its address.
    pub selector: String,
    /// The `type` of its document's front matter, else its own.
    #[serde(rename = "type")]
    pub node_type: String,
    /// Its title, of a document without one the name of its file.
    pub title: String,
    /// The tags of its document.
    pub tags: Vec<String>,
    /// Its document.
    pub file: String,
    /// How many links lie between the root of a walk and it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hop: Option<usize>,
    /// What sums it up, on one line.
    pub summary: Option<String>,
    /// Whether the file is still the same.
    #[serde(flatten)]
    pub freshness: Freshness,
}

impl Node {
    /// Describes a place.
    pub(super) fn of(library: &Library<'_>, place: &Place) -> Result<Self> {
        let stored = &place.document.stored;
        let front_matter = library.snapshot.front_matter(stored)?;
        let field = |name: &str| {
            let value = front_matter.as_ref().and_then(|values| values.get(name));
            value.and_then(serde_json::Value::as_str).map(str::to_owned)
        };
        let title = match place.title() {
            Some(title) => Some(title),
            None => library.snapshot.links(stored)?.title,
        };
        Ok(Self {
            selector: place.address(),
            node_type: field("type").unwrap_or_else(|| place.word().to_owned()),
            title: title.unwrap_or_else(|| file_stem(&stored.path).to_owned()),
            tags: library.snapshot.tags(stored)?,
            file: stored.path.clone(),
            hop: None,
            summary: library.summary(place, front_matter.as_ref())?,
            freshness: library.freshness(stored),
        })
    }
}

impl Node {
    /// Its texts that can be long.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        [self.title.as_str()].into_iter().chain(self.summary.as_deref())
    }

    /// Cuts its texts to at most `chars` Unicode scalars each; its address leads to the rest.
    pub(super) fn shorten(&mut self, chars: usize) {
        shorten(&mut self.title, chars);
        if let Some(summary) = &mut self.summary {
            shorten(summary, chars);
        }
    }
}

/// The name of a file without its folders and its extension.
fn file_stem(path: &str) -> &str {
    split_extension(path.rsplit('/').next().unwrap_or(path)).0
}

/// Whether `inner` lies in `outer`: a document holds all of its places, a section those within it.
fn holds(outer: &Place, inner: &Place) -> bool {
    outer.document.stored.id == inner.document.stored.id
        && match (outer.target, inner.target) {
            (Target::Document, _) => true,
            (_, Target::Document) => false,
            _ => outer.span().contains(inner.span()),
        }
}
