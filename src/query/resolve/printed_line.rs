//! Finds what a line that an answer printed names, if the line is pasted as an address.
//!
//! Invariant: the place that a line begins with, and then an address in it with the whole path of a document, come before
//! its titles and its text, which may look like addresses, too. If such an address leads nowhere, that is a fault, and
//! nothing else in the line is tried.

use super::edit_place::unique;
use super::located::Located;
use super::{Resolver, is_missing, several_places};
use crate::address::{
    Interpretation, Locator, ParsedPlace, PlaceBeforeText, in_printed_line, interpretations,
    namespace, place_before_text, titles_in_printed_line,
};
use crate::error::Result;
use crate::query::document_name::{self, NameMatch};
use crate::query::resolved_node::ResolvedNode;
use crate::store::StoredDocument;

/// Returns whether an interpretation names a section of its document by a title.
fn is_title_in(interpretation: &Interpretation) -> bool {
    let is_title = |place: &ParsedPlace| {
        matches!(place.locator, Locator::SectionPath(_) | Locator::TitlePart(_))
    };
    matches!(interpretation, Interpretation::Namespaced { places: Ok(places), .. } if places.iter().all(is_title))
}

impl Resolver<'_> {
    /// Returns what a line of an answer names: the place at the address in it, or the innermost of the sections whose
    /// titles it has. `None` if it has neither.
    pub(super) fn in_printed_line(&self, line: &str) -> Result<Option<Located>> {
        let line = line.trim();
        let before_text = place_before_text(line);
        // The text after the number of a line may look like an address, too.
        if let Some(start) = &before_text
            && self.is_printed_path(start)?
        {
            return self.before_text(start);
        }
        if let Some(located) = self.with_address_in_full(line)? {
            return Ok(Some(located));
        }
        let found = |located: Option<Located>| located.filter(|located| !is_missing(located));
        if let Some(start) = &before_text
            && let Some(located) = found(self.before_text(start)?)
        {
            return Ok(Some(located));
        }
        if let Some(located) = self.with_short_address(line)? {
            return Ok(Some(located));
        }
        let Some(path) = titles_in_printed_line(line) else { return Ok(None) };
        Ok(found(self.first_of(&interpretations(&path))?))
    }

    /// Returns whether a line begins with the path of a document, whole or, before the text of a line, as a program in a
    /// folder of the store prints it. A title may begin with another name of a document.
    fn is_printed_path(&self, start: &PlaceBeforeText<'_>) -> Result<bool> {
        let name = namespace::decode(start.document);
        let name = name.strip_prefix("./").unwrap_or(&name);
        let is_printed = |stored: &StoredDocument| {
            stored.path == name || start.is_before_text && stored.path.ends_with(name)
        };
        Ok(match document_name::by_name(self.session, start.document)? {
            NameMatch::None => false,
            NameMatch::One(stored) => is_printed(&stored),
            NameMatch::Many(many) => many.iter().any(is_printed),
        })
    }

    /// Returns the place that a line begins with, or the fault that there is none.
    fn before_text(&self, start: &PlaceBeforeText<'_>) -> Result<Option<Located>> {
        for address in &start.addresses {
            let mut readings = interpretations(address);
            readings.retain(|reading| match reading {
                Interpretation::Namespaced { name, .. } => {
                    name == start.document && !is_title_in(reading)
                }
                Interpretation::PathLine { name, .. } => name == start.document,
                _ => false,
            });
            if !readings.is_empty() {
                return self.first_or_fault(address, &readings).map(Some);
            }
        }
        Ok(None)
    }

    /// Returns what the first of `readings` of a part of a line names, or the fault that it names nothing.
    fn first_or_fault(&self, address: &str, readings: &[Interpretation]) -> Result<Located> {
        let mut located = match self.first_of(readings)? {
            Some(located) => located,
            None => Located::fault(self.missing_address(address, readings)?),
        };
        if let Some(fault) = &mut located.fault {
            // A position in the part is none in the line.
            fault.position = None;
        }
        Ok(located)
    }

    /// Returns the place at the address in a line that has the whole path of a document.
    fn with_address_in_full(&self, line: &str) -> Result<Option<Located>> {
        let mut found: Vec<Located> = Vec::new();
        for printed in in_printed_line(line) {
            let is_last = line.ends_with(&printed);
            let mut in_full = Vec::new();
            for interpretation in interpretations(&printed) {
                if self.is_printed(&interpretation, is_last)? {
                    in_full.push(interpretation);
                }
            }
            if !in_full.is_empty() {
                found.push(self.first_or_fault(&printed, &in_full)?);
            }
        }
        if let Some(fault) = found.iter_mut().find_map(|located| located.fault.take()) {
            return Ok(Some(Located::fault(fault)));
        }
        if found.len() < 2 {
            return Ok(found.pop());
        }
        // A title may look like an address, too.
        let mut places = found.into_iter().flat_map(|located| located.places).collect();
        unique(&mut places);
        Ok(Some(match places.as_slice() {
            [_] => Located { places, ..Located::default() },
            places => Located::fault(several_places(line, places, "")),
        }))
    }

    /// Returns whether an interpretation may be that of an address in a line of an answer: it has the whole path of a
    /// document. Before titles, an answer has no address by a title.
    fn is_printed(&self, interpretation: &Interpretation, is_last: bool) -> Result<bool> {
        match interpretation {
            Interpretation::Namespaced { places: Ok(_), .. }
                if !is_last && is_title_in(interpretation) =>
            {
                Ok(false)
            }
            Interpretation::Namespaced { name, .. }
            | Interpretation::PathLine { name, .. }
            | Interpretation::PathAnchor { name, .. } => self.is_whole_path(name),
            _ => Ok(false),
        }
    }

    /// Returns the place at an address in a line that names its document in any way. An address by a title must be
    /// followed by that title, because another text may begin like it.
    fn with_short_address(&self, line: &str) -> Result<Option<Located>> {
        for (at, printed) in in_printed_line(line).into_iter().enumerate() {
            let is_first = at == 0 && line.starts_with(&printed);
            for reading in interpretations(&printed) {
                let is_tried = match reading {
                    Interpretation::Namespaced { .. } => true,
                    Interpretation::ExactPath { .. }
                    | Interpretation::PathAnchor { .. }
                    | Interpretation::DocumentName { .. } => is_first,
                    _ => false,
                };
                if !is_tried {
                    continue;
                }
                let Some(located) = self.first_of(std::slice::from_ref(&reading))? else {
                    continue;
                };
                let is_meant = |place: &ResolvedNode| match &reading {
                    // A title is often the name of a document without its folder and ending.
                    Interpretation::DocumentName { name, .. } => {
                        place.document.stored.path.ends_with(name)
                    }
                    _ if is_title_in(&reading) && !line.ends_with(&printed) => {
                        place.candidate().title.is_some_and(|title| line.ends_with(&title))
                    }
                    _ => true,
                };
                if !is_missing(&located) && located.places.first().is_none_or(is_meant) {
                    return Ok(Some(located));
                }
            }
        }
        Ok(None)
    }
}
