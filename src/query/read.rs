//! `read`: returns one node in full.

use super::node::{Extent, NodeAnswer, answer};
use super::resolve::{Located, resolve_one, with_its_part};
use super::{List, Outcome, Page, Session, documents};
use crate::address::{
    AddressError, AddressResult, FaultCode, SectionPart, namespace, parse_places,
};
use crate::error::Result;
use crate::message::message;

/// A request for a node.
#[derive(Clone, Debug)]
pub struct ReadRequest {
    /// The document, if it is given separately.
    pub document: Option<String>,
    /// The location in the document, or an address if no document is given.
    pub place: String,
    /// Whether to leave out subsections, or the nested lists of a list item.
    pub no_children: bool,
    /// Whether to number the lines.
    pub line_numbers: bool,
}

/// The node, or why it was not found.
#[derive(Clone, Debug)]
pub struct ReadAnswer {
    /// The node.
    pub node: Option<NodeAnswer>,
    /// Warnings and faults. The node itself has the field `truncated`.
    pub page: Page,
}

impl ReadAnswer {
    fn fault(fault: AddressError) -> Self {
        let page = Page { unresolved_selectors: vec![fault], ..Page::default() };
        Self { node: None, page }
    }
}

impl List for ReadAnswer {
    fn page_mut(&mut self) -> Option<&mut Page> {
        Some(&mut self.page)
    }

    fn outcome(&self) -> Outcome {
        self.page.outcome(self.node.is_some())
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

/// Returns the address of a place in the document with that name. The inner error says why the name is
/// not one document.
fn address_in(session: &Session<'_>, document: &str, place: &str) -> Result<AddressResult<String>> {
    // Answers leave out the document before `::` where they have named it.
    let place = place.trim_start();
    let in_document = place.strip_prefix("::").unwrap_or(place);
    let places = parse_places(in_document, 0).unwrap_or_default();
    Ok(match documents::one(session, document, &places)? {
        Ok(stored) => Ok(format!("{}::{in_document}", namespace::encode(&stored.path))),
        Err(mut fault) => {
            if fault.code == FaultCode::NamespaceNotFound
                && resolve_one(session, document)?.is_ok()
                && resolve_one(session, place)?.is_ok()
            {
                let message = message!(
                    "{} is an address with its document; `mdsel select {path} {path}` reads both places",
                    document,
                    document,
                    place
                );
                fault = AddressError::new(fault.code, message).of(document);
            }
            Err(fault)
        }
    })
}

/// Reads a node.
pub fn read(session: &Session<'_>, request: &ReadRequest) -> Result<ReadAnswer> {
    let address = match &request.document {
        None => request.place.clone(),
        Some(document) => match address_in(session, document, &request.place)? {
            Ok(address) => address,
            Err(fault) => return Ok(ReadAnswer::fault(fault)),
        },
    };
    let (mut place, warnings) = match resolve_one(session, &address)? {
        Ok(resolved) => resolved,
        Err(fault) => return Ok(ReadAnswer::fault(fault)),
    };
    if request.no_children {
        if place.params.part.is_some_and(|part| part != SectionPart::Own) {
            let message = "the address has a part, and --no-children asks for another one; leave out one of them";
            let fault = AddressError::new(FaultCode::MalformedQuery, message);
            return Ok(ReadAnswer::fault(fault.of(&address)));
        }
        place.params.part = Some(SectionPart::Own);
        if let Some(fault) = with_its_part(Located::place(place.clone())).fault {
            return Ok(ReadAnswer::fault(fault.of(&address)));
        }
    }
    Ok(match answer(session, &place, Extent::Words(0))? {
        Ok(mut node) => {
            if request.line_numbers {
                node.number_lines();
            }
            ReadAnswer { node: Some(node), page: Page { warnings, ..Page::default() } }
        }
        Err(fault) => ReadAnswer::fault(fault.of(&address)),
    })
}
