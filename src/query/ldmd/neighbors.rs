//! `ldmd neighbors`: the sections around one, by id.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Answer, Items, in_document, section};
use crate::error::Result;
use crate::query::cursor::ListPart;
use crate::query::library::Freshness;
use crate::query::{Cursor, Library};

/// The sections around one.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Neighbors {
    /// The section.
    pub section_id: String,
    /// The sibling before it.
    pub prev: Option<String>,
    /// The sibling behind it.
    pub next: Option<String>,
    /// The section that holds it.
    pub parent: Option<String>,
    /// The sections directly in it.
    pub children: Vec<String>,
    /// The section whose BEGIN comes before its own.
    pub prev_in_order: Option<String>,
    /// The section whose BEGIN comes behind its own.
    pub next_in_order: Option<String>,
    /// The document.
    pub file: String,
    /// Its address.
    pub selector: String,
    /// Whether the file is still the same.
    #[serde(flatten)]
    pub freshness: Freshness,
}

/// The section itself, then its children.
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

/// Tells what stands around the section with that id; its children from `after` on.
pub fn neighbors(
    library: &Library<'_>,
    document: &str,
    id: &str,
    after: Option<Cursor>,
) -> Result<Answer<Neighbors>> {
    let (part, warnings) = ListPart::beginning(after, library.snapshot.generation());
    let mut answer = in_document(library, document, (part, warnings), |document| {
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
                freshness: library.freshness(&document.stored),
            }
        }))
    })?;
    answer.page.is_of_children = true;
    Ok(answer)
}
