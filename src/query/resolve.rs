//! The resolver: an address in, the places that it names out. Every command that takes a place asks
//! here and nowhere else.
//!
//! Asks the store for the [`readings`] of an address, one after another; the first that names anything
//! is the one that is meant. Invariant: fail closed. Several places for one that must be unique are an
//! ambiguity whose candidates resolve; nothing is ever chosen because it came first.

use std::rc::Rc;

use super::documents;
use super::library::{Library, OpenDocument};
use super::locate::{self, Located, locate, locate_first};
use super::place::{Place, Target};
use super::section_path::SectionPath;
use super::suggestion::of_corrections;
use crate::address::{
    Candidate, Fault, FaultCode, Locator, ParsedPlace, Reading, namespace, readings,
};
use crate::error::{Result, Warning};
use crate::limits;
use crate::store::NameMatch;

/// How many places to pass over, and how many to give.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Places of this call that were given before.
    pub skip: usize,
    /// Places to give at most.
    pub take: usize,
}

/// What an address names.
#[derive(Debug, Default)]
pub struct Resolution {
    /// The places within the window.
    pub places: Vec<Place>,
    /// How many places were passed over.
    pub skipped: usize,
    /// Whether there are places after the window.
    pub has_more: bool,
    /// Why there is none.
    pub fault: Option<Fault>,
    /// What the longest prefix of the address that does resolve names.
    pub partial: Vec<Place>,
    /// Warnings.
    pub warnings: Vec<Warning>,
}

impl Resolution {
    /// What was located, seen through a window.
    fn of(located: Located, window: Window) -> Self {
        let count = located.places.len();
        let skipped = window.skip.min(count);
        let places: Vec<Place> =
            located.places.into_iter().skip(skipped).take(window.take).collect();
        Self {
            has_more: skipped + places.len() < count,
            skipped,
            places,
            fault: located.fault,
            partial: located.partial,
            warnings: located.warnings,
        }
    }
}

/// The fault of an address that is too long, which is not read at all.
pub(super) fn too_long(address: &str) -> Option<Fault> {
    (address.len() > limits::MAX_ADDRESS_BYTES).then(|| {
        let message = "longer than the limit address-bytes allows";
        Fault::new(FaultCode::InvalidSyntax, message).of(address)
    })
}

/// Resolves `address`.
pub fn resolve(library: &Library<'_>, address: &str, window: Window) -> Result<Resolution> {
    if let Some(fault) = too_long(address) {
        return Ok(Resolution::of(Located::fault(fault), window));
    }
    let resolver = Resolver { library };
    let readings = readings(address);
    if let Some(Reading::Selector(place)) = readings.last()
        && let Locator::Selector(_, text) = &place.locator
    {
        return match resolver.first_of(&readings)? {
            Some(located) => Ok(Resolution::of(located.in_address(address), window)),
            None => resolver.selector_over_store(address, place, text, window),
        };
    }
    let located = match resolver.first_of(&readings)? {
        Some(located) => located,
        None => Located::fault(resolver.missing(&readings)?),
    };
    Ok(Resolution::of(located.in_address(address), window))
}

/// Resolves an address that must name one place; several are an ambiguity.
pub fn resolve_one(
    library: &Library<'_>,
    address: &str,
) -> Result<std::result::Result<(Place, Vec<Warning>), Fault>> {
    let window = Window { skip: 0, take: limits::MAX_EXPANSION };
    let resolution = resolve(library, address, window)?;
    if let Some(fault) = resolution.fault {
        return Ok(Err(fault));
    }
    Ok(match resolution.places.as_slice() {
        [place] => Ok((place.clone(), resolution.warnings)),
        places => {
            let least = if resolution.has_more { "at least " } else { "" };
            Err(several_places(address, places, least))
        }
    })
}

/// The ambiguity of an address that must name one place and names these.
pub(super) fn several_places(address: &str, places: &[Place], least: &str) -> Fault {
    let message = format!("{least}{} places are named {address:?}", places.len());
    let fault = Fault::new(FaultCode::Ambiguous, message).of(address);
    fault.among(places.iter().map(Place::candidate), places.len())
}

/// Sections of any document.
pub(super) type Sections = Vec<(Rc<OpenDocument>, usize)>;

pub(super) struct Resolver<'a> {
    pub(super) library: &'a Library<'a>,
}

impl Resolver<'_> {
    /// What the first of `readings` that names anything names; selectors over the store are left out.
    pub(super) fn first_of(&self, readings: &[Reading]) -> Result<Option<Located>> {
        for (index, reading) in readings.iter().enumerate() {
            if let Some(located) = self.located(reading)? {
                let others = readings.get(index + 1..).unwrap_or_default();
                return Ok(Some(located.warn(self.hidden_steps(reading, others)?)));
            }
        }
        Ok(None)
    }

    /// What a reading names; `None` if nothing in the store has that name.
    fn located(&self, reading: &Reading) -> Result<Option<Located>> {
        match reading {
            Reading::ExactPath { path, place } => match self.library.snapshot.document_at(path)? {
                Some(stored) => Ok(locate(&self.library.open(&stored)?, place)),
                None => Ok(None),
            },
            Reading::Namespaced { name, places } => self.in_named(name, places),
            Reading::PathLine { name, place } | Reading::PathAnchor { name, place } => {
                self.in_document(name, place)
            }
            Reading::DocumentName { name, place } => {
                let located = self.in_document(name, place)?;
                let is_whole = place.steps.is_empty();
                Ok(match located {
                    Some(located) if is_whole && located.fault.is_none() => {
                        let hidden = self.hidden_sections(name, &located)?;
                        Some(located.warn(hidden))
                    }
                    located => located,
                })
            }
            Reading::SectionPath(place) => self.section_path(place),
            Reading::TitlePart(place) => self.title_part(place),
            Reading::Anchor(place) => self.anchor(place),
            Reading::LdmdSection(place) => self.ldmd_section(place),
            Reading::OnlyDocument(place) => self.in_only_document(place).map(Some),
            Reading::Malformed(fault) => {
                let mut fault = fault.clone();
                fault.suggestions = self.corrected(&fault.suggestions)?;
                let hidden = self.shadowed(&fault.selector)?;
                Ok(Some(Located::fault(fault).warn(hidden)))
            }
            Reading::Selector(_) => Ok(None),
        }
    }

    /// The first of `places` in the document called `name`.
    fn in_named(
        &self,
        name: &str,
        places: &std::result::Result<Vec<ParsedPlace>, Fault>,
    ) -> Result<Option<Located>> {
        let document = match documents::by_name(self.library, name)? {
            NameMatch::None => return Ok(None),
            NameMatch::One(stored) => self.library.open(&stored)?,
            NameMatch::Many(paths, total) => {
                let places = places.as_deref().unwrap_or_default();
                let fault = self.ambiguous_document(name, places, &paths, total)?;
                return Ok(Some(Located::fault(fault)));
            }
        };
        Ok(Some(match places {
            Ok(places) => locate_first(&document, places),
            Err(fault) => {
                let suggestions = of_corrections(&document, &fault.suggestions);
                let hidden = locate::shadowed(&document, &fault.selector);
                Located::fault(fault.clone().suggest(suggestions)).warn(hidden)
            }
        }))
    }

    /// `place` in the document called `name`; `None` if that has no such place either.
    fn in_document(&self, name: &str, place: &ParsedPlace) -> Result<Option<Located>> {
        match documents::by_name(self.library, name)? {
            NameMatch::None => Ok(None),
            NameMatch::One(stored) => Ok(locate(&self.library.open(&stored)?, place)),
            NameMatch::Many(paths, total) => {
                let places = std::slice::from_ref(place);
                let fault = self.ambiguous_document(name, places, &paths, total)?;
                Ok(Some(Located::fault(fault)))
            }
        }
    }

    /// A place that every document has, in the only one of the store.
    fn in_only_document(&self, place: &ParsedPlace) -> Result<Located> {
        match self.library.snapshot.documents(None, 2)?.as_slice() {
            [stored] => Ok(locate_first(&self.library.open(stored)?, std::slice::from_ref(place))),
            _ => {
                let message = "write the document before the place, as in `guide.md::*`";
                Ok(Located::fault(Fault::new(FaultCode::NamespaceRequired, message)))
            }
        }
    }

    /// The warning that a document wins over sections of that name.
    fn hidden_sections(&self, name: &str, document: &Located) -> Result<Option<Warning>> {
        let Some(place) = document.places.first() else { return Ok(None) };
        // Two documents are enough if every document with the title has such a section: a document
        // whose own title is its name hides nothing.
        let most = if SectionPath::new(name).is_one_part() { 2 } else { usize::MAX };
        let stored = &place.document.stored;
        let hits = self.exact_sections(name, most)?;
        if hits.iter().all(|(other, _)| other.stored.id == stored.id) {
            return Ok(None);
        }
        let path = &stored.path;
        let message = format!(
            "{name} is read as the document {path}; a section has that name too: `/{name}`"
        );
        Ok(Some(Warning::new("SHADOWED_TITLE", message)))
    }

    /// The warning that a section path wins over a place that steps continue.
    fn hidden_steps(&self, reading: &Reading, others: &[Reading]) -> Result<Option<Warning>> {
        let Reading::SectionPath(place) = reading else { return Ok(None) };
        if !place.steps.is_empty() {
            return Ok(None);
        }
        for other in others {
            let has_steps = match other {
                Reading::ExactPath { place, .. }
                | Reading::PathLine { place, .. }
                | Reading::PathAnchor { place, .. }
                | Reading::DocumentName { place, .. }
                | Reading::SectionPath(place) => !place.steps.is_empty(),
                _ => false,
            };
            if has_steps
                && let Some(Located { fault: None, places, .. }) = self.located(other)?
                && let Some(hidden) = places.first()
            {
                return Ok(Some(locate::hides_steps(&place.locator, hidden)));
            }
        }
        Ok(None)
    }

    /// The warning that a selector hides the title of a section of any document, or a document's name.
    pub(super) fn shadowed(&self, text: &str) -> Result<Option<Warning>> {
        // Nobody writes a title such as `heading:h2[1]`, so none is looked for.
        if text.is_empty() || text.contains(':') {
            return Ok(None);
        }
        let snapshot = self.library.snapshot;
        if !snapshot.documents_with_title(&[text], 1)?.is_empty() {
            return Ok(Some(locate::shadows(text)));
        }
        Ok(match documents::by_name(self.library, text)? {
            NameMatch::One(stored) => {
                let whole = format!("{}::*", namespace::encode(&stored.path));
                let message =
                    format!("{text} is read as a selector; the document of that name is {whole}");
                Some(Warning::new("SHADOWED_NAME", message))
            }
            _ => None,
        })
    }

    /// A document's name that several documents have.
    pub(super) fn ambiguous_document(
        &self,
        name: &str,
        places: &[ParsedPlace],
        paths: &[String],
        total: usize,
    ) -> Result<Fault> {
        let message = format!("{total} documents are named {name:?}");
        let fault = Fault::new(FaultCode::Ambiguous, message).at(0);
        Ok(fault.among(self.candidates(paths, places)?, total))
    }

    /// The first of `places` in each of the documents at `paths`, or the whole document if it has none.
    pub(super) fn candidates(
        &self,
        paths: &[String],
        places: &[ParsedPlace],
    ) -> Result<Vec<Candidate>> {
        let mut candidates = Vec::new();
        for path in paths {
            let Some(stored) = self.library.snapshot.document_at(path)? else { continue };
            let document = self.library.open(&stored)?;
            let located = places.iter().find_map(|place| locate(&document, place));
            let place = located.and_then(|located| located.places.into_iter().next());
            let place = place.unwrap_or_else(|| Place::whole(document));
            candidates.push(self.candidate(&place)?);
        }
        Ok(candidates)
    }

    /// A place as a candidate; a document with the title that the store has of it.
    fn candidate(&self, place: &Place) -> Result<Candidate> {
        let mut candidate = place.candidate();
        if place.target == Target::Document {
            let title = self.library.snapshot.links(&place.document.stored)?.title;
            candidate.title = title.or(candidate.title);
        }
        Ok(candidate)
    }
}
