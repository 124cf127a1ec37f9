//! `read`: one place in full.

use super::page::{NoPlaceShape, RemarksShape};
use crate::schema::schema_as;
use schemars::JsonSchema;
use serde::Serialize;
use serde::ser::SerializeMap as _;

use super::node::{Extent, NodeAnswer, answer};
use super::resolve::{Resolver, resolve_one};
use super::{Library, List, Outcome, Page, documents};
use crate::address::{Fault, Part, namespace, parse_places};
use crate::error::Result;

/// What to read.
#[derive(Clone, Debug)]
pub struct Request {
    /// The document, where the place is told apart from it.
    pub document: Option<String>,
    /// The place, an address where there is no document.
    pub place: String,
    /// Whether to leave child sections out.
    pub no_children: bool,
    /// Whether to number the lines.
    pub line_numbers: bool,
}

/// What was read.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// The place.
    #[serde(flatten)]
    pub node: Option<NodeAnswer>,
    /// What is beside it; that the place is cut is said there, once.
    #[serde(flatten, serialize_with = "beside_place")]
    pub page: Page,
}

/// The place says itself whether it is cut.
fn beside_place<S: serde::Serializer>(
    page: &Page,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    page.remarks(&mut map)?;
    map.end()
}

/// A place, or why there is none.
#[expect(dead_code, reason = "only its schema is used")]
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Shape {
    Place {
        #[schemars(flatten)]
        node: Box<NodeAnswer>,
        #[schemars(flatten)]
        remarks: RemarksShape,
    },
    NoPlace(NoPlaceShape),
}

schema_as!(Answer => Shape);

impl Answer {
    fn fault(fault: Fault) -> Self {
        let page = Page { unresolved_selectors: vec![fault], ..Page::default() };
        Self { node: None, page }
    }

    /// How the command ended.
    pub fn outcome(&self) -> Outcome {
        Outcome::of(self.node.is_some(), !self.page.unresolved_selectors.is_empty())
    }
}

impl List for Answer {
    fn page_mut(&mut self) -> Option<&mut Page> {
        Some(&mut self.page)
    }

    fn count(&self) -> usize {
        usize::from(self.node.is_some())
    }

    fn first(&self, _: usize) -> Self {
        self.clone()
    }

    fn sizes_of_first(&self) -> usize {
        self.node.as_ref().map_or(0, NodeAnswer::words_shown)
    }

    fn cut_first(&mut self, size: usize) -> bool {
        self.node.as_mut().is_some_and(|node| node.cut(size))
    }
}

/// The address that a document's name and a place in it make; the inner fault says that the name is
/// not one document's.
fn address_in(
    library: &Library<'_>,
    document: &str,
    place: &str,
) -> Result<std::result::Result<String, Fault>> {
    Ok(match documents::one(library, document)? {
        Ok(stored) => Ok(format!("{}::{place}", namespace::encode(&stored.path))),
        Err(mut fault) => {
            // Each candidate is the place in one of the documents.
            let paths: Vec<String> =
                fault.candidates.iter().map(|candidate| candidate.file.clone()).collect();
            let places = parse_places(place, 0).unwrap_or_default();
            fault.candidates = Resolver { library }.candidates(&paths, &places)?.into();
            Err(fault)
        }
    })
}

/// Reads a place.
pub fn read(library: &Library<'_>, request: &Request) -> Result<Answer> {
    let address = match &request.document {
        None => request.place.clone(),
        Some(document) => match address_in(library, document, &request.place)? {
            Ok(address) => address,
            Err(fault) => return Ok(Answer::fault(fault)),
        },
    };
    let (mut place, warnings) = match resolve_one(library, &address)? {
        Ok(resolved) => resolved,
        Err(fault) => return Ok(Answer::fault(fault)),
    };
    if request.no_children {
        place.params.part = Some(Part::Own);
    }
    Ok(match answer(library, &place, Extent::Words(0))? {
        Ok(mut node) => {
            if request.line_numbers {
                node.number_lines();
            }
            Answer { node: Some(node), page: Page { warnings, ..Page::default() } }
        }
        Err(fault) => Answer::fault(fault.of(&address)),
    })
}
