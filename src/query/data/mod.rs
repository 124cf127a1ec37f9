//! `code`, `tables`, `tasks` and `meta`: what is inside documents, as data.
//!
//! [`candidates`](mod@candidates) finds the documents by the keys that an ingest stored, and each other
//! module answers one command. Invariant: no text is parsed; the texts of code blocks are read from the
//! stored bytes, and everything else from the rows of the document.

mod candidates;
pub mod code;
pub mod meta;
pub mod tables;
pub mod tasks;

use super::cursor::{ListPart, most};
use super::library::OpenDocument;
use super::{Cursor, FilterRequest, Library, Page};
use crate::data::Expression;
use crate::error::Result;
use crate::store::StoredDocument;

use super::filter::Filter;
use candidates::Candidates;

/// What the four requests share.
#[derive(Clone, Debug)]
pub struct Common {
    /// The documents, sections and blocks to consider.
    pub filter: FilterRequest,
    /// The maximum number of items; 0 for all.
    pub limit: usize,
    /// The cursor of the previous answer, if any.
    pub after: Option<Cursor>,
}

/// Implements an answer whose items are in one field.
macro_rules! list_of_items {
    ($answer:ident, $field:ident, $longest:expr, $cut:expr) => {
        impl $answer {
            /// Returns the outcome of the command: `None` if there is no item.
            pub fn outcome(&self) -> crate::query::Outcome {
                let has_fault = !self.page.unresolved_selectors.is_empty();
                match self.$field.is_empty() {
                    true => crate::query::Outcome::None,
                    false => crate::query::Outcome::of(true, has_fault),
                }
            }
        }

        impl crate::query::List for $answer {
            fn page_mut(&mut self) -> Option<&mut crate::query::Page> {
                Some(&mut self.page)
            }

            fn count(&self) -> usize {
                self.$field.len()
            }

            fn first(&self, count: usize) -> Self {
                match self.$field.get(..count) {
                    Some(first) if count < self.$field.len() => Self {
                        $field: first.to_vec(),
                        page: self.page.ended(count),
                        ..self.clone()
                    },
                    _ => self.clone(),
                }
            }

            fn sizes_of_first(&self) -> usize {
                self.$field.first().map_or(0, $longest)
            }

            fn cut_first(&mut self, size: usize) -> bool {
                self.$field.first_mut().map(|item| $cut(item, size)).is_some()
            }
        }
    };
}

use list_of_items;

/// Parses the expression of a request.
fn expression(text: Option<&String>) -> Result<Option<Expression>> {
    text.map(|text| Expression::parse(text)).transpose()
}

/// The items of one document that are found before any of them is shown.
trait Source {
    /// An item as it is stored.
    type Found;
    /// An item as it is shown.
    type Item;

    /// Returns the matching items of a document, in document order.
    fn find(&mut self, stored: &StoredDocument) -> Result<Vec<Self::Found>>;

    /// Returns the node of an item in the outline; `None` for the whole document.
    fn node(found: &Self::Found) -> Option<usize>;

    /// Returns an item to show.
    fn show(&mut self, document: &OpenDocument, found: Self::Found) -> Result<Self::Item>;
}

/// Lists the items of `source` in the documents that have a key of each set of `keys`. A set is the
/// hashes of [`crate::data::Key`]s.
fn list<S: Source>(
    library: &Library<'_>,
    common: &Common,
    keys: &[Vec<i64>],
    source: &mut S,
) -> Result<(Vec<S::Item>, Page)> {
    let part = ListPart::beginning(common.after, library.snapshot.generation());
    let mut page = Page::new(part);
    let filter = Filter::new(library, &common.filter)?;
    page.unresolved_selectors.clone_from(&filter.faults);
    page.warnings.extend(filter.warnings.iter().cloned());
    let limit = most(common.limit);
    let mut skip = page.part.start();
    let mut items = Vec::new();
    for stored in Candidates::new(library, &filter, &common.filter, keys)? {
        let Some(stored) = stored? else { continue };
        let found = source.find(&stored)?;
        if found.is_empty() {
            continue;
        }
        let mut open = None;
        for found in found {
            let is_taken = !filter.looks_inside() || {
                let document = opened(library, &stored, &mut open)?;
                let outline = document.tree.outline();
                let span = match S::node(&found) {
                    Some(node) => outline.nodes.get(node).map(|node| node.bytes),
                    None => outline.front_matter,
                };
                filter.takes(document, span.unwrap_or_default())
            };
            if !is_taken {
                continue;
            }
            if skip > 0 {
                skip -= 1;
                continue;
            }
            if items.len() == limit {
                page.end(limit);
                return Ok((items, page));
            }
            let document = opened(library, &stored, &mut open)?;
            items.push(source.show(document, found)?);
        }
    }
    Ok((items, page))
}

fn opened<'a>(
    library: &Library<'_>,
    stored: &StoredDocument,
    open: &'a mut Option<std::rc::Rc<OpenDocument>>,
) -> Result<&'a OpenDocument> {
    let document = match open.take() {
        Some(document) => document,
        None => library.open(stored)?,
    };
    Ok(&*open.insert(document))
}

/// Returns the titles of the sections that contain a node, outermost first.
fn heading_path(document: &OpenDocument, node: usize) -> Vec<String> {
    let sections = document.tree.sections_above(node);
    sections.into_iter().map(|section| section.title.clone()).collect()
}
