//! What an edit names: a document, and the possible locations of a node in it.
//!
//! Stricter than reads. Invariant: no interpretation takes precedence over another. A text that could
//! name a document or a section, or is both a selector and a title, is ambiguous, and each of its
//! candidates resolves. Only `ns::*` names a whole document. A part of a title matches only on request
//! (`--fuzzy`).

use super::locate::{has_anchor, locate, locate_first};
use super::located::dedup_places;
use super::section_path::SectionPath;
use super::{NodeRange, Resolver, resolve, resolve_one, too_long};
use crate::address::{
    AddressError, AddressResult, Candidate, CellSteps, FaultCode, Interpretation, Locator, Params,
    ParsedPlace, cells, interpretations, parse_params, parse_places, split_known_params,
};
use crate::error::{Error, ErrorKind, Result};
use crate::limits;
use crate::message::{Message, message};
use crate::query::document_name::{self, NameMatch};
use crate::query::documents;
use crate::query::resolved_node::{ResolvedNode, Target};
use crate::query::session::Session;
use crate::store::{Lookup, StoredDocument};
use crate::visible::quoted;

/// A node as an edit names it, before its document is read.
#[derive(Clone, Debug)]
pub(crate) struct NamedNode {
    /// The document.
    pub(crate) stored: StoredDocument,
    /// The text of the request.
    pub(super) text: String,
    /// The possible locations in the document, or why the text is invalid.
    pub(super) places: AddressResult<Vec<ParsedPlace>>,
    /// Whether the text was an address that includes the document.
    pub(super) is_address: bool,
    /// The steps to a row or cell of the table that was named.
    cells: Option<CellSteps>,
}

impl NamedNode {
    /// Returns whether an anchor may have been named.
    pub(crate) fn has_anchor(&self) -> bool {
        self.places.as_deref().is_ok_and(has_anchor)
    }

    /// Returns the line that was named, if it was named by its number alone.
    pub(crate) fn line(&self) -> Option<usize> {
        match self.places.as_deref() {
            Ok([ParsedPlace { locator: Locator::Line(line), steps, .. }]) if steps.is_empty() => {
                Some(*line)
            }
            _ => None,
        }
    }

    /// Returns the text in the document that was named as a section may be named: by its title or path.
    pub(crate) fn title(&self) -> Option<&str> {
        let place = self.places.as_deref().ok()?.first()?;
        match &place.locator {
            Locator::SectionPath(text) if place.steps.is_empty() => Some(text),
            _ => None,
        }
    }

    /// Returns the texts that a place without a name of its own may have, as a task has: the title that was named, and
    /// all that was given, if that does not name the document.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        let given = (!self.is_address).then_some(self.text.as_str());
        let texts = self.title().into_iter().chain(given);
        texts.filter(|_| self.cells.is_none())
    }

    /// Returns the steps to a row or cell of the table that was named, if any.
    pub(crate) fn cells(&self) -> Option<&CellSteps> {
        self.cells.as_ref()
    }
}

/// The node that was named, or why there is none.
type Answer = AddressResult<NamedNode>;

/// Returns the fault for a text that names no editable node.
pub(super) fn edit_fault(code: FaultCode, text: &str, message: impl Into<Message>) -> AddressError {
    AddressError::new(code, message).of(text)
}

/// Resolves `text` to a document and a location in it. `text` is a location in `document`, or a whole
/// address if `document` is `None`.
pub(crate) fn named(
    session: &Session<'_>,
    document: Option<&str>,
    text: &str,
    is_fuzzy: bool,
) -> Result<Answer> {
    if let Some(fault) = too_long(text) {
        return Ok(Err(fault));
    }
    // Answers leave out the document before `::` where they have named it.
    let own = document.and_then(|_| text.strip_prefix("::"));
    let text = own.unwrap_or(text);
    let split = cells::split(text);
    let text = split.as_ref().map_or(text, |(table, _)| table);
    let answer = match document {
        None => over_store(session, text, is_fuzzy)?,
        Some(document) => {
            let places = parse_places(text, 0).unwrap_or_default();
            match documents::one_to_edit(session, document, &places)? {
                Ok(stored) => in_document(session, stored, text)?,
                Err(fault)
                    if fault.code == FaultCode::NamespaceNotFound
                        && names_document(session, document)? =>
                {
                    let message = message!(
                        "{} is an address with its document, so no place follows it; leave out {}",
                        document,
                        text
                    );
                    Err(AddressError::new(fault.code, message).of(document))
                }
                // It names a folder, or is a glob.
                Err(fault)
                    if fault.code == FaultCode::Ambiguous
                        && matches!(
                            document_name::by_whole_name(session, document)?,
                            NameMatch::None
                        ) =>
                {
                    let message = message!(
                        "{}; {`mdsel edit --batch FILE` makes several edits, each in a line|make an edit in each of them}",
                        fault.message
                    );
                    Err(AddressError { message, ..fault })
                }
                Err(fault) => Err(fault),
            }
        }
    };
    Ok(answer.map(|named| NamedNode { cells: split.map(|(_, steps)| steps), ..named }))
}

/// Returns whether `text` is an address that includes a document: `DOC::PLACE`, or `DOC#ANCHOR` or `DOC:LINE` of a
/// document in the store.
pub(crate) fn names_document(session: &Session<'_>, text: &str) -> Result<bool> {
    for interpretation in interpretations(text) {
        let is_named = match &interpretation {
            Interpretation::Namespaced { .. } => true,
            // A whole document may look like a place in another one, as `./a#b.md` does.
            Interpretation::ExactPath { path, place }
                if place.steps.is_empty() && session.reader.document_at(path)?.is_some() =>
            {
                return Ok(false);
            }
            Interpretation::PathAnchor { name, .. } | Interpretation::PathLine { name, .. } => {
                !matches!(document_name::by_name(session, name)?, NameMatch::None)
            }
            _ => false,
        };
        if is_named {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the name of the document and the locations in it for an interpretation that has both. For an anchor
/// these are all its interpretations: with everything after the `#` as the anchor, and with steps after it.
fn split<'a>(
    interpretation: &'a Interpretation,
    interpretations: &[Interpretation],
) -> Option<(&'a str, AddressResult<Vec<ParsedPlace>>)> {
    match interpretation {
        Interpretation::Namespaced { name, places } => Some((name, places.clone())),
        Interpretation::PathAnchor { name, .. } => {
            let anchors = interpretations.iter().filter_map(|other| match other {
                Interpretation::PathAnchor { name: other, place } if other == name => {
                    Some(place.clone())
                }
                _ => None,
            });
            Some((name, Ok(anchors.collect())))
        }
        Interpretation::PathLine { name, place } => Some((name, Ok(vec![place.clone()]))),
        Interpretation::ExactPath { path: name, place }
        | Interpretation::DocumentName { name, place }
            if !place.steps.is_empty() =>
        {
            Some((name, Ok(vec![place.clone()])))
        }
        _ => None,
    }
}

/// Resolves a location in a known document; the location may repeat the document.
fn in_document(session: &Session<'_>, stored: StoredDocument, text: &str) -> Result<Answer> {
    let named = |stored, places, is_address| {
        Ok(Ok(NamedNode { stored, text: text.to_owned(), places, is_address, cells: None }))
    };
    let mut elsewhere = None;
    let interpretations = interpretations(text);
    for interpretation in &interpretations {
        let Some((name, places)) = split(interpretation, &interpretations) else { continue };
        match document_name::by_name(session, name)? {
            NameMatch::One(other) if other.id == stored.id => {
                return named(stored, places, true);
            }
            NameMatch::Many(many) if many.iter().any(|other| other.id == stored.id) => {
                return named(stored, places, true);
            }
            NameMatch::One(other)
                if matches!(interpretation, Interpretation::Namespaced { .. }) =>
            {
                elsewhere = Some(other);
            }
            _ => {}
        }
    }
    let document = session.open(&stored)?;
    if let Some(other) = elsewhere
        && SectionPath::new(text).exact_hits(&document.tree).is_empty()
    {
        let message = format!("{text} is a place in {}, not in {}", other.path, stored.path);
        let suggestion = vec![text.to_owned()];
        let fault = edit_fault(FaultCode::SelectorNotFound, text, message).suggest(suggestion);
        return Ok(Err(fault));
    }
    named(stored, parse_places(text, 0), false)
}

/// Resolves a location without a document, or an address.
fn over_store(session: &Session<'_>, text: &str, is_fuzzy: bool) -> Result<Answer> {
    let interpretations = interpretations(text);
    if let Some(answer) = in_named_document(session, text, &interpretations)? {
        return Ok(answer);
    }
    let mut meanings = Meanings::default();
    for interpretation in &interpretations {
        meanings.add(session, text, interpretation)?;
    }
    if !interpretations
        .iter()
        .any(|interpretation| matches!(interpretation, Interpretation::SectionPath(_)))
    {
        // A text of another kind may also be the title of a section.
        let (bare, params) = without_params(text);
        let titled = ParsedPlace::new(Locator::SectionPath(bare.to_owned()), params);
        meanings.places.extend(Resolver { session }.section_places(&titled)?);
    }
    meanings.decide(session, text, is_fuzzy)
}

/// Resolves a text that names a document and a location in it. Returns `None` for the path of a
/// document.
fn in_named_document(
    session: &Session<'_>,
    text: &str,
    interpretations: &[Interpretation],
) -> Result<Option<Answer>> {
    for interpretation in interpretations {
        match interpretation {
            Interpretation::ExactPath { path, place }
                if place.steps.is_empty() && session.reader.document_at(path)?.is_some() =>
            {
                return Ok(None);
            }
            Interpretation::Namespaced { .. }
            | Interpretation::PathLine { .. }
            | Interpretation::PathAnchor { .. } => {
                let Some((name, places)) = split(interpretation, interpretations) else { continue };
                match document_name::by_name(session, name)? {
                    NameMatch::One(stored) => {
                        let text = text.to_owned();
                        return Ok(Some(Ok(NamedNode {
                            stored,
                            text,
                            places,
                            is_address: true,
                            cells: None,
                        })));
                    }
                    NameMatch::Many(many) => {
                        let (resolver, places) = (Resolver { session }, places.unwrap_or_default());
                        let fault = resolver.ambiguous_document(name, &places, &many)?;
                        return Ok(Some(Err(fault.of(text))));
                    }
                    NameMatch::None => {}
                }
            }
            _ => {}
        }
    }
    Ok(None)
}

/// All meanings of a text that is given without a document.
#[derive(Default)]
struct Meanings {
    /// The documents with that name, up to the number of candidates shown.
    wholes: Vec<Candidate>,
    /// The total number of documents with that name.
    whole_count: usize,
    /// The sections with that title or path, and the nodes that steps lead to.
    places: Vec<ResolvedNode>,
    /// A node that is named in another way.
    other: Option<Answer>,
    /// Whether the text is also a selector, which names several places or has no meaning without more of it.
    is_selector: bool,
}

impl Meanings {
    /// Adds what an interpretation names.
    fn add(
        &mut self,
        session: &Session<'_>,
        text: &str,
        interpretation: &Interpretation,
    ) -> Result<()> {
        let resolver = Resolver { session };
        match interpretation {
            Interpretation::ExactPath { path: name, place }
            | Interpretation::DocumentName { name, place } => {
                let found = match interpretation {
                    Interpretation::ExactPath { .. } => {
                        let stored = session.reader.document_at(name)?;
                        stored.map_or(NameMatch::None, NameMatch::One)
                    }
                    _ => document_name::by_name(session, name)?,
                };
                let documents = match found {
                    NameMatch::One(stored) if !place.steps.is_empty() => {
                        let located = locate(&session.open(&stored)?, place);
                        self.places.extend(located.into_iter().flat_map(|located| located.places));
                        return Ok(());
                    }
                    NameMatch::One(stored) => vec![stored],
                    NameMatch::Many(many) => many,
                    NameMatch::None => return Ok(()),
                };
                if self.wholes.is_empty() {
                    let places = std::slice::from_ref(place);
                    self.wholes = resolver.candidates_among(&documents, places)?;
                    self.whole_count = documents.len();
                }
            }
            Interpretation::SectionPath(place) => {
                self.places.extend(resolver.section_places(place)?);
            }
            Interpretation::Selector(place)
            | Interpretation::LdmdSection(place)
            | Interpretation::Anchor(place)
            | Interpretation::OnlyDocument(place)
                if self.other.is_none() =>
            {
                self.other = Some(elsewhere(session, text, place)?);
            }
            Interpretation::Malformed(fault) if fault.code == FaultCode::MalformedQuery => {
                self.other = Some(Err(fault.clone()));
            }
            Interpretation::Malformed(_) => self.is_selector = true,
            _ => {}
        }
        Ok(())
    }

    /// Returns the only meaning, or an ambiguity error.
    fn decide(mut self, session: &Session<'_>, text: &str, is_fuzzy: bool) -> Result<Answer> {
        if self.wholes.is_empty() && self.places.is_empty() {
            if let Some(other) = self.other {
                return Ok(other);
            }
            return Ok(match resolve_one(session, text)? {
                Ok((place, _)) if place.target == Target::Document => {
                    return Err(whole_document(text, &place.address()));
                }
                Ok((place, _)) if is_fuzzy => Ok(of_place(&place, text)),
                Ok((place, _)) => Err(not_exact(text, &place)),
                Err(fault) => Err(fault),
            });
        }
        match self.other {
            Some(Ok(other)) => {
                let document = session.open(&other.stored)?;
                let located = locate_first(&document, other.places.as_deref().unwrap_or_default());
                self.places.extend(located.places);
            }
            Some(Err(fault)) => match fault.code {
                FaultCode::NamespaceRequired | FaultCode::MalformedQuery => {
                    let titled = self.places.iter().map(ResolvedNode::address);
                    return Ok(Err(fault.suggest_first(titled.collect::<Vec<_>>())));
                }
                _ => {
                    self.is_selector = true;
                    let most = NodeRange { skip: 0, take: limits::MAX_EXPANSION };
                    self.places.extend(resolve(session, text, most)?.places);
                }
            },
            None => {}
        }
        dedup_places(&mut self.places);
        match (self.wholes.as_slice(), self.places.as_slice()) {
            ([whole], []) if self.whole_count == 1 => Err(whole_document(text, &whole.selector)),
            ([], [place]) if !self.is_selector => Ok(Ok(of_place(place, text))),
            _ => {
                let total = self.whole_count + self.places.len();
                let what = if self.is_selector {
                    "is both a selector and the title of a section".to_owned()
                } else {
                    format!("matches {total} places")
                };
                let message = format!("{text} {what}", text = quoted(&text));
                let places = self.places.iter().map(ResolvedNode::candidate);
                let candidates = self.wholes.into_iter().chain(places);
                Ok(Err(edit_fault(FaultCode::Ambiguous, text, message).among(candidates, total)))
            }
        }
    }
}

/// Returns the error that `text` names the whole document at `address`.
fn whole_document(text: &str, address: &str) -> Error {
    Error::new(ErrorKind::EditRefused, format!("{text} names a whole document"))
        .with_reason("WHOLE_DOCUMENT")
        .with_hint(format!("name a section of the document, or use {address} for all of it"))
}

/// Resolves a node that is named neither as a section nor as a document, if only one document has it.
fn elsewhere(session: &Session<'_>, text: &str, place: &ParsedPlace) -> Result<Answer> {
    if let [stored] = session.reader.documents(&Lookup::All, None, 2)?.as_slice() {
        let (stored, places) = (stored.clone(), Ok(vec![place.clone()]));
        let text = text.to_owned();
        return Ok(Ok(NamedNode { stored, text, places, is_address: false, cells: None }));
    }
    Ok(match resolve_one(session, text)? {
        Ok((place, _)) => Ok(of_place(&place, text)),
        Err(fault) => Err(fault),
    })
}

/// Returns the text without its parameters, and the parameters if they are valid.
pub(super) fn without_params(text: &str) -> (&str, Params) {
    match split_known_params(text) {
        Some((bare, query)) => (bare, parse_params(query, 0).unwrap_or_default()),
        None => (text, Params::default()),
    }
}

/// Returns a known node by its primary address.
fn of_place(place: &ResolvedNode, text: &str) -> NamedNode {
    let address = place.address();
    let locator = address.split_once("::").map_or("*", |(_, locator)| locator);
    let places = parse_places(locator, 0).map(|places| {
        let with_params = |parsed| ParsedPlace { params: place.params, ..parsed };
        places.into_iter().map(with_params).collect()
    });
    let stored = place.document.stored.clone();
    NamedNode { stored, text: text.to_owned(), places, is_address: true, cells: None }
}

/// Returns the fault for a text that is only a part of the title of `place`.
pub(super) fn not_exact(text: &str, place: &ResolvedNode) -> AddressError {
    let message = message!(
        "{} is not the whole title of a section; use --fuzzy to edit {}",
        quoted(&text).to_string(),
        place.address()
    );
    edit_fault(FaultCode::SelectorNotFound, text, message).suggest(vec![place.address()])
}
