//! Explains addresses that name nothing, and suggests similar ones.
//!
//! Invariant: the fault is about the interpretation that matched most, and each suggestion resolves.

use super::Resolver;
use super::locate::{self, locate};
use super::located::Located;
use super::suggestion::similar_documents;
use crate::address::{
    AddressError, FaultCode, Interpretation, ParsedPlace, Suggestion, corrections, interpretations,
    namespace, wrong_params,
};
use crate::error::Result;
use crate::limits;
use crate::query::NameMatch;
use crate::query::documents;
use crate::store::{Lookup, StoredDocument};

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
            self.library.reader.documents(&Lookup::All, None, limits::MAX_DOCUMENTS_TRIED)?;
        for text in corrected {
            let interpretations = interpretations(text);
            let Some(Interpretation::Selector(place)) = interpretations.last() else {
                if self.first_of(&interpretations)?.is_some_and(|located| located.fault.is_none()) {
                    suggestions.push(text.to_owned().into());
                }
                continue;
            };
            for stored in &documents {
                match locate(&self.library.open(stored)?, place) {
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

    /// Returns the fault for an address of which no interpretation names anything.
    pub(super) fn missing(&self, interpretations: &[Interpretation]) -> Result<AddressError> {
        let mut text = "";
        let mut names: Vec<&str> = Vec::new();
        let mut anchors: Vec<(StoredDocument, ParsedPlace)> = Vec::new();
        for interpretation in interpretations {
            match interpretation {
                Interpretation::Namespaced { name, places } => {
                    return self.no_document(name, places.as_deref().unwrap_or_default());
                }
                Interpretation::PathAnchor { name, place } => {
                    if let NameMatch::One(stored) = documents::by_name(self.library, name)? {
                        anchors.push((stored, place.clone()));
                    }
                    names.push(name);
                }
                Interpretation::LdmdSection(place) | Interpretation::Anchor(place) => {
                    let next = match interpretation {
                        Interpretation::Anchor(_) => "`mdsel find WORD` looks in titles",
                        _ => "`mdsel ldmd index DOC` lists the sections of a document",
                    };
                    let message = format!("no document has {}; {next}", place.locator);
                    return Ok(AddressError::new(FaultCode::SelectorNotFound, message));
                }
                Interpretation::PathLine { name, .. } => names.push(name),
                Interpretation::DocumentName { name, .. } => {
                    text = if text.is_empty() { name } else { text };
                    names.push(name);
                }
                _ => {}
            }
        }
        // An existing document with a missing node gives a more precise error than a missing document.
        if let Some((stored, _)) = anchors.last() {
            let document = self.library.open(stored)?;
            let of_it = anchors.iter().filter(|(other, _)| other.id == stored.id);
            let places: Vec<ParsedPlace> = of_it.map(|(_, place)| place.clone()).collect();
            return Ok(locate::missing(&document, &places));
        }
        for name in &names {
            if let Some(fault) = documents::not_ingested(self.library, name)? {
                return Ok(fault);
            }
        }
        if text.starts_with("./") {
            return documents::not_found(self.library, text);
        }
        if let Some(fault) = wrong_params(text) {
            return Ok(fault);
        }
        let mut suggestions = self.corrected(corrections(text).iter().map(String::as_str))?;
        suggestions.extend(similar_documents(self.library, text)?.into_iter().map(Into::into));
        suggestions.truncate(limits::MAX_SUGGESTIONS);
        let message = format!("no document and no section is named {text:?}");
        let fault = AddressError::new(FaultCode::SelectorNotFound, message).suggest(suggestions);
        let next = documents::next_command(self.library, text)?;
        Ok(fault.or_else(|| next))
    }

    /// Returns the fault that no document is called `name`. It suggests similar documents, with the
    /// first of `places` in each.
    fn no_document(&self, name: &str, places: &[ParsedPlace]) -> Result<AddressError> {
        let mut fault = documents::not_found(self.library, name)?.at(0);
        let paths: Vec<String> = fault
            .suggested()
            .map(|address| namespace::decode(address.trim_end_matches("::*")))
            .collect();
        let candidates = self.candidates(&paths, places)?;
        fault.suggestions =
            candidates.into_iter().map(|candidate| candidate.selector.into()).collect();
        Ok(fault)
    }
}
