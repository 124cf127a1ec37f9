//! What an address names within one document: nodes, or a fault.
//!
//! Invariant: each node that is returned has the part of it that was asked for.

use crate::address::{AddressError, FaultCode, SectionPart};
use crate::error::Warning;
use crate::message::{Message, message};
use crate::query::resolved_node::{ResolvedNode, Target};

/// The code of the warning that a range names more nodes than exist.
pub(super) const RANGE_PAST_END: &str = "RANGE_PAST_END";

/// The result of a locator: nodes, or a fault.
#[derive(Debug, Default)]
pub(in crate::query) struct Located {
    pub(in crate::query) places: Vec<ResolvedNode>,
    pub(in crate::query) fault: Option<AddressError>,
    /// The nodes that the longest resolving prefix names.
    pub(in crate::query) partial: Vec<ResolvedNode>,
    pub(in crate::query) warnings: Vec<Warning>,
    /// How a title without a document names the only place, which is a section.
    pub(in crate::query) by_title: Option<ByTitle>,
}

/// How a text names a section by its title.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByTitle {
    /// It is the title, or the path of the section.
    Whole,
    /// It is a part of the title.
    Part,
}

impl Located {
    pub(in crate::query) fn place(place: ResolvedNode) -> Self {
        Self { places: vec![place], ..Self::default() }
    }

    pub(super) fn fault(fault: AddressError) -> Self {
        Self { fault: Some(fault), ..Self::default() }
    }

    /// Sets the address that the fault is about to the whole `address`.
    pub(super) fn in_address(mut self, address: &str) -> Self {
        self.fault = self.fault.map(|fault| fault.of(address));
        self
    }

    /// Adds warnings, if any.
    pub(super) fn warn(mut self, warnings: impl IntoIterator<Item = Warning>) -> Self {
        self.warnings.extend(warnings);
        self
    }
}

pub(super) fn fault(code: FaultCode, message: impl Into<Message>) -> Located {
    Located::fault(AddressError::new(code, message))
}

/// Returns the nodes, or a fault if one of them does not have the requested part.
pub(in crate::query) fn with_its_part(located: Located) -> Located {
    let is_split = |place: &&ResolvedNode| {
        let has_children = |section| place.document.markup.children(section).next().is_some();
        place.params.part == Some(SectionPart::Own)
            && matches!(place.target, Target::Ldmd(section) if has_children(section))
    };
    if let Some(place) = located.places.iter().find(is_split) {
        let document = &place.document;
        let id = match place.target {
            Target::Ldmd(section) => document.markup.name(section),
            _ => String::new(),
        };
        let message = message!(
            "{} contains other sections; `mdsel ldmd get {path} --id {} --depth 0` leaves them out",
            place.address(),
            document.namespace,
            id
        );
        return fault(FaultCode::MalformedQuery, message);
    }
    let is_mixed = |place: &&ResolvedNode| {
        place.params.part == Some(SectionPart::Own)
            && matches!(place.target, Target::Node(node)
                if place.document.tree.outline().text_before_lists(node).is_none())
    };
    if let Some(place) = located.places.iter().find(is_mixed) {
        let address = place.address();
        let message = message!(
            "{} has text after a nested list, or a nested list within a line; `mdsel read {path}` prints all of it",
            address,
            address
        );
        return fault(FaultCode::MalformedQuery, message);
    }
    let lacks_heading = |place: &&ResolvedNode| {
        let is_section = match place.target {
            Target::Node(node) => place.document.tree.section(node).is_some(),
            _ => false,
        };
        place.params.part == Some(SectionPart::Heading) && !is_section
    };
    match located.places.iter().find(lacks_heading) {
        Some(place) => {
            fault(FaultCode::SelectorNotFound, format!("{} has no heading", place.address()))
        }
        None => located,
    }
}

/// Removes the places that are there twice.
pub(super) fn dedup_places(places: &mut Vec<ResolvedNode>) {
    let mut known = Vec::new();
    places.retain(|place| {
        let key = (place.document.stored.id, place.target);
        let is_new = !known.contains(&key);
        known.push(key);
        is_new
    });
}
