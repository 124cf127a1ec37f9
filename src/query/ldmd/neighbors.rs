//! `ldmd neighbors`: returns the ids of the sections around a section.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Items, LdmdAnswer, in_document, section};
use crate::error::Result;
use crate::query::freshness::Freshness;
use crate::query::{Cursor, Session};

/// The sections around a section.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Neighbors {
    /// The id of the section.
    pub section_id: String,
    /// The sibling before it.
    pub prev: Option<String>,
    /// The sibling after it.
    pub next: Option<String>,
    /// The section that contains it.
    pub parent: Option<String>,
    /// The sections directly inside it.
    pub children: Vec<String>,
    /// The section with the previous BEGIN marker.
    pub prev_in_order: Option<String>,
    /// The section with the next BEGIN marker.
    pub next_in_order: Option<String>,
    /// The path of the document.
    pub file: String,
    /// The address of the section.
    pub selector: String,
    /// Whether the file differs from the stored document.
    #[serde(flatten)]
    pub freshness: Freshness,
}

/// The items are the section itself, then its children.
impl Items for Neighbors {
    fn count(&self) -> usize {
        1 + self.children.len()
    }

    fn first(&self, count: usize) -> Self {
        let mut result = self.clone();
        result.children.truncate(self.position(count));
        result
    }

    fn least(&self) -> usize {
        self.count().min(2)
    }

    fn position(&self, count: usize) -> usize {
        count.saturating_sub(1)
    }
}

/// Returns the sections around the section `id`, with its children from `after` on.
pub fn neighbors(
    session: &Session<'_>,
    document: &str,
    id: &str,
    after: Option<Cursor>,
) -> Result<LdmdAnswer<Neighbors>> {
    in_document(session, document, after, |document, part| {
        let markup = &document.markup;
        Ok(section(document, id).map(|index| {
            let around = markup.neighbors(index);
            let name = |index| markup.name(index);
            Neighbors {
                section_id: name(index),
                prev: around.previous.map(name),
                next: around.next.map(name),
                parent: around.parent.map(name),
                children: around.children.into_iter().skip(part.start()).map(name).collect(),
                prev_in_order: around.previous_in_order.map(name),
                next_in_order: around.next_in_order.map(name),
                file: document.stored.path.clone(),
                selector: document.address_of_ldmd(index),
                freshness: session.freshness(&document.stored),
            }
        }))
    })
}
