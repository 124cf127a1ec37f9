//! Explains addresses that name nothing, and suggests similar ones.
//!
//! Invariant: the fault is about the interpretation that matched most, and each suggestion resolves.

use super::locate::{self, locate};
use super::located::Located;
use super::suggestion::{lines_in, similar_documents};
use super::{Resolver, has_place};
use crate::address::{
    AddressError, Candidate, FaultCode, Interpretation, ParsedPlace, Suggestion, corrections,
    in_link, interpretations, lines_in_other_notation, namespace, other_notations, wrong_params,
};
use crate::error::Result;
use crate::limits;
use crate::message::{Message, message};
use crate::query::document_name::{self, NameMatch};
use crate::query::documents;
use crate::query::missing_document;
use crate::store::{Lookup, StoredDocument};
use crate::visible::quoted;

impl Resolver<'_> {
    /// Returns those of the `corrected` locators that resolve in some document. The number of documents
    /// tried is limited.
    pub(super) fn corrected<'a>(
        &self,
        corrected: impl Iterator<Item = &'a str>,
    ) -> Result<Vec<Suggestion>> {
        let mut suggestions = Vec::new();
        let mut corrected = corrected.peekable();
        if corrected.peek().is_none() {
            return Ok(suggestions);
        }
        let mut in_range = None;
        let documents =
            self.session.reader.documents(&Lookup::All, None, limits::MAX_DOCUMENTS_TRIED)?;
        for text in corrected {
            let interpretations = interpretations(text);
            let Some(Interpretation::Selector(place)) = interpretations.last() else {
                if self.first_of(&interpretations)?.is_some_and(|located| located.fault.is_none()) {
                    suggestions.push(text.to_owned().into());
                }
                continue;
            };
            for stored in &documents {
                match locate(&self.session.open(stored)?, place) {
                    Some(Located { fault: None, .. }) => {
                        suggestions.push(text.to_owned().into());
                        break;
                    }
                    Some(Located { fault: Some(fault), .. })
                        if fault.code == FaultCode::IndexOutOfRange =>
                    {
                        in_range = in_range.or_else(|| fault.suggestions.into_iter().next());
                    }
                    _ => {}
                }
            }
        }
        suggestions.extend(in_range.filter(|_| suggestions.is_empty()));
        Ok(suggestions)
    }

    /// Returns the fault for an address of which no interpretation names anything. It suggests what the address names in
    /// another notation.
    pub(super) fn missing_address(
        &self,
        address: &str,
        interpretations: &[Interpretation],
    ) -> Result<AddressError> {
        if let Some(place) = address.trim_start().strip_prefix("::") {
            // A line of `index` has a title after it.
            let place = place.split("  ").next().unwrap_or(place);
            let example = match lines_in_other_notation(place).filter(|_| place.starts_with('@')) {
                Some((start, Some(end))) if start != end => format!("DOC:{start}-{end}"),
                _ => format!("DOC::{place}"),
            };
            let message = format!("write the document before the place, as in `{example}`");
            return Ok(AddressError::new(FaultCode::NamespaceRequired, message));
        }
        let found = self.in_other_notation(address)?;
        if found.is_empty() {
            let Some(target) = in_link(address) else { return self.missing(interpretations) };
            let target = super::interpretations(target);
            let fault = match self.first_of(&target)?.and_then(|located| located.fault) {
                Some(fault) => fault,
                None => self.missing(&target)?,
            };
            // A position in the target is none in the link.
            return Ok(AddressError { position: None, ..fault });
        }
        let message =
            format!("no document and no section is named {address}", address = quoted(&address));
        Ok(AddressError::new(FaultCode::SelectorNotFound, message).suggest(found))
    }

    /// Returns what an address names in another notation.
    fn in_other_notation(&self, address: &str) -> Result<Vec<Suggestion>> {
        let mut found = Vec::new();
        if let Some((name, lines)) = address.rsplit_once(':')
            && lines_in_other_notation(lines).is_some()
            && let NameMatch::One(stored) = document_name::by_name(self.session, name)?
        {
            found.extend(lines_in(&*self.session.open(&stored)?, lines));
        }
        for text in other_notations(address) {
            let located = self.first_of(&interpretations(&text))?;
            let Some(Located { fault: None, places, .. }) = located else { continue };
            found.push(match places.as_slice() {
                [place] if place.resolved.is_none() => {
                    Suggestion { address: place.address(), title: place.title() }
                }
                _ => text.into(),
            });
        }
        found.truncate(limits::MAX_SUGGESTIONS);
        Ok(found)
    }

    /// Returns the fault for an address of which no interpretation names anything.
    fn missing(&self, interpretations: &[Interpretation]) -> Result<AddressError> {
        let mut text = "";
        let mut names: Vec<&str> = Vec::new();
        let mut anchors: Vec<(StoredDocument, ParsedPlace)> = Vec::new();
        let mut unknown: Vec<(&str, ParsedPlace)> = Vec::new();
        for interpretation in interpretations {
            match interpretation {
                Interpretation::Namespaced { name, places } => {
                    return self.no_document(name, places.as_deref().unwrap_or_default());
                }
                Interpretation::PathAnchor { name, place } => {
                    match document_name::by_name(self.session, name)? {
                        NameMatch::One(stored) => anchors.push((stored, place.clone())),
                        _ => unknown.push((name, place.clone())),
                    }
                    names.push(name);
                }
                Interpretation::LdmdSection(place) | Interpretation::Anchor(place) => {
                    let next = match interpretation {
                        Interpretation::Anchor(_) => "`mdsel find WORD` looks in titles",
                        _ => "`mdsel ldmd index DOC` lists the sections of a document",
                    };
                    let message = message!(
                        "no document has {}; {}",
                        place.locator.to_string(),
                        Message::from(next)
                    );
                    return Ok(AddressError::new(FaultCode::SelectorNotFound, message));
                }
                Interpretation::PathLine { name, place } => {
                    unknown.push((name, place.clone()));
                    names.push(name);
                }
                Interpretation::DocumentName { name, .. } => {
                    text = if text.is_empty() { name } else { text };
                    names.push(name);
                }
                _ => {}
            }
        }
        // An existing document with a missing node gives a more precise error than a missing document.
        if let Some((stored, _)) = anchors.last() {
            let document = self.session.open(stored)?;
            let of_it = anchors.iter().filter(|(other, _)| other.id == stored.id);
            let places: Vec<ParsedPlace> = of_it.map(|(_, place)| place.clone()).collect();
            return Ok(locate::missing(&document, &places));
        }
        for name in &names {
            if let Some(fault) = missing_document::not_ingested(self.session, name)? {
                return Ok(fault);
            }
        }
        if text.starts_with("./") {
            return missing_document::not_found(self.session, text);
        }
        if let Some(fault) = wrong_params(text) {
            return Ok(fault);
        }
        let suggestions = self.corrected(corrections(text).iter().map(String::as_str))?;
        let message = format!("no document and no section is named {text}", text = quoted(&text));
        let fault = AddressError::new(FaultCode::SelectorNotFound, message);
        // Only the name before the place is similar to that of a document.
        let name = unknown.last().map_or(text, |(name, _)| name);
        let places = unknown.iter().filter(|(other, _)| *other == name);
        let places: Vec<ParsedPlace> = places.map(|(_, place)| place.clone()).collect();
        let similar = fault.suggest(similar_documents(self.session, name)?);
        let fault = self.suggest_places(similar, &places)?.suggest_first(suggestions);
        let next = missing_document::next_command(self.session, text)?;
        Ok(fault.or_else(|| next))
    }

    /// Returns the fault that no document is called `name`. It suggests similar documents, with the
    /// first of `places` in each.
    fn no_document(&self, name: &str, places: &[ParsedPlace]) -> Result<AddressError> {
        let is_glob = document_name::globs_of(name).is_some();
        if is_glob && documents::meant(self.session, name, &[])?.is_ok_and(|it| !it.is_empty()) {
            let message = message!(
                "no document is named {}, and a glob cannot name the document of an address; `mdsel toc {} --depth 0` \
                 lists the documents that match it",
                quoted(&name).to_string(),
                name
            );
            return Ok(AddressError::new(FaultCode::NamespaceNotFound, message).at(0));
        }
        let fault = missing_document::not_found(self.session, name)?.at(0);
        self.suggest_places(fault, places)
    }

    /// Makes `fault` suggest the first of `places` in each suggested document that has one. These come first.
    pub(in crate::query) fn suggest_places(
        &self,
        mut fault: AddressError,
        places: &[ParsedPlace],
    ) -> Result<AddressError> {
        let paths: Vec<String> = fault
            .suggested()
            .filter_map(|address| Some(namespace::decode(address.strip_suffix("::*")?)))
            .collect();
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let mut documents = self.session.reader.all(&Lookup::Paths(&paths))?;
        documents.sort_by_key(|stored| paths.iter().position(|path| *path == stored.path));
        let candidates = self.candidates(&documents, places)?;
        let found: Vec<Candidate> = candidates.into_iter().filter(has_place).collect();
        let wholes: Vec<String> =
            found.iter().map(|candidate| namespace::whole(&candidate.file)).collect();
        fault.suggestions.retain(|suggestion| !wholes.contains(&suggestion.address));
        let found = found
            .into_iter()
            .map(|Candidate { selector, title, .. }| Suggestion { address: selector, title });
        Ok(fault.suggest_first(found.collect()))
    }
}
