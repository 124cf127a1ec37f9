//! The resolver: an address in, the places that it names out. Every command that takes a place asks
//! here and nowhere else.
//!
//! Owns the order in which a text is read (contract, section 2) and how readings fail. Invariant:
//! fail closed. Several places for one that must be unique are an ambiguity whose candidates resolve;
//! nothing is ever chosen because it came first.

use std::rc::Rc;

use super::documents;
use super::library::{Library, OpenDocument};
use super::locate::{self, Reading};
use super::place::{Place, Target};
use super::section_path::{SectionPath, Tier};
use super::suggestion::similar_documents;
use crate::address::{
    Fault, FaultCode, Locator, Params, ParsedPlace, Selector, namespace, parse_params, parse_place,
    selector::is_selector, split_known_params, whole_number,
};
use crate::error::{Result, Warning};
use crate::limits;
use crate::position::LineSpan;
use crate::store::{NameMatch, StoredDocument};

/// How many places to pass over, and how many to give.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Places of this call that were given before.
    pub skip: usize,
    /// Places to give at most.
    pub take: usize,
}

/// What an address came to.
#[derive(Debug, Default)]
pub struct Resolution {
    /// The places within the window.
    pub places: Vec<Place>,
    /// How many places were passed over.
    pub skipped: usize,
    /// Whether there are places behind the window.
    pub has_more: bool,
    /// Why there is none.
    pub fault: Option<Fault>,
    /// What the longest prefix of the address that does resolve names.
    pub partial: Vec<Place>,
    /// Remarks.
    pub warnings: Vec<Warning>,
}

impl Resolution {
    /// A reading seen through a window.
    fn of(reading: Reading, window: Window) -> Self {
        let count = reading.places.len();
        let skipped = window.skip.min(count);
        let places: Vec<Place> =
            reading.places.into_iter().skip(skipped).take(window.take).collect();
        Self {
            has_more: skipped + places.len() < count,
            skipped,
            places,
            fault: reading.fault,
            partial: reading.partial,
            warnings: reading.warnings,
        }
    }
}

/// Resolves `address`.
pub fn resolve(library: &Library<'_>, address: &str, window: Window) -> Result<Resolution> {
    if address.len() > limits::MAX_ADDRESS_BYTES {
        let message = "longer than the limit address-bytes allows";
        let fault = Fault::new(FaultCode::InvalidSyntax, message).of(address, 0);
        return Ok(Resolution::of(Reading::fault(fault), window));
    }
    let resolver = Resolver { library };
    let reading = match address.split_once("::") {
        Some((name, rest)) => resolver.with_namespace(address, name, rest)?,
        None if address.starts_with("./") => {
            resolver.path_from_root(address)?.in_address(address, 0)
        }
        None => match resolver.exact_path(address)? {
            Some(reading) => reading.in_address(address, 0),
            None if is_selector(address) => match parse_place(address) {
                Ok(place) => {
                    let Locator::Selector(selector) = &place.locator else {
                        return Ok(Resolution::default());
                    };
                    return resolver.selector_over_store(address, selector, place.params, window);
                }
                Err(fault) => Reading::fault(fault).in_address(address, 0),
            },
            None if address.starts_with("ldmd:") => match parse_place(address) {
                Ok(ParsedPlace { locator: Locator::Ldmd(id), params }) => {
                    resolver.ldmd_over_store(&id, params)?.in_address(address, 0)
                }
                Ok(_) => return Ok(Resolution::default()),
                Err(fault) => Reading::fault(fault).in_address(address, 0),
            },
            None => resolver.without_namespace(address)?.in_address(address, 0),
        },
    };
    Ok(Resolution::of(reading, window))
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
            let message = format!("{least}{} places are named {address:?}", places.len());
            let mut fault = Fault::new(FaultCode::Ambiguous, message).of(address, 0);
            let shown = places.iter().take(limits::MAX_CANDIDATES_SHOWN);
            fault.candidates = shown.map(Place::address).collect();
            Err(fault)
        }
    })
}

pub(super) struct Resolver<'a> {
    pub(super) library: &'a Library<'a>,
}

impl Resolver<'_> {
    /// `name::rest`; where the name is no document's, the whole may be a title.
    fn with_namespace(&self, address: &str, name: &str, rest: &str) -> Result<Reading> {
        let offset = name.len() + 2;
        match documents::by_name(self.library, name)? {
            NameMatch::One(stored) => {
                let document = self.library.open(&stored)?;
                Ok(locate::locate(&document, rest).in_address(address, offset))
            }
            NameMatch::Many(paths, total) => {
                let fault = self.ambiguous_document(name, rest, &paths, total)?;
                Ok(Reading::fault(fault).in_address(address, 0))
            }
            NameMatch::None if name.starts_with("./") => {
                let fault = self.no_document(name, rest)?;
                Ok(Reading::fault(fault).in_address(address, 0))
            }
            NameMatch::None => {
                let (title, params) = match split_known_params(address) {
                    Some((title, query)) => (title, parse_params(query, 0).unwrap_or_default()),
                    None => (address, Params::default()),
                };
                let as_title = self.section_over_store(title, params)?;
                if !as_title.is_not_found() {
                    return Ok(as_title.in_address(address, 0));
                }
                let fault = self.no_document(name, rest)?;
                Ok(Reading::fault(fault).in_address(address, 0))
            }
        }
    }

    /// `./path`, `./path#anchor`, `./path:LINE`: a path from the root, and never a name or a title.
    fn path_from_root(&self, address: &str) -> Result<Reading> {
        let (text, params) = match split_known_params(address) {
            Some((text, query)) => match parse_params(query, text.chars().count() + 1) {
                Ok(params) => (text, params),
                Err(fault) => return Ok(Reading::fault(fault)),
            },
            None => (address, Params::default()),
        };
        for (name, params) in [(address, Params::default()), (text, params)] {
            if let NameMatch::One(stored) = documents::by_name(self.library, name)? {
                let place = Place::new(self.library.open(&stored)?, Target::Document, params);
                return Ok(Reading { places: vec![place], ..Reading::default() });
            }
        }
        let readings = [self.line_of_path(text, params)?, self.anchor_of_path(text, params)?];
        if let Some(reading) = readings.into_iter().flatten().next() {
            return Ok(reading);
        }
        let without_lines = text.trim_end_matches(|scalar: char| {
            scalar.is_ascii_digit() || matches!(scalar, ':' | '-')
        });
        let without_anchor = text.rsplit_once('#').map_or(text, |(name, _)| name);
        for name in [text, without_lines, without_anchor] {
            if let Some(fault) = documents::not_ingested(self.library, name)? {
                return Ok(Reading::fault(fault));
            }
        }
        Ok(Reading::fault(documents::not_found(self.library, text)?))
    }

    /// The whole document whose path is the text, or the text before its parameters.
    fn exact_path(&self, address: &str) -> Result<Option<Reading>> {
        let whole = |stored: &StoredDocument, params| {
            let place = Place::new(self.library.open(stored)?, Target::Document, params);
            Ok(Some(Reading { places: vec![place], ..Reading::default() }))
        };
        if let Some(stored) = self.library.snapshot.document_at(address)? {
            return whole(&stored, Params::default());
        }
        if let Some((path, query)) = split_known_params(address)
            && let Some(stored) = self.library.snapshot.document_at(path)?
        {
            return match parse_params(query, path.chars().count() + 1) {
                Ok(params) => whole(&stored, params),
                Err(fault) => Ok(Some(Reading::fault(fault))),
            };
        }
        Ok(None)
    }

    /// Reads an address that has no `::` and is neither a path nor a selector.
    fn without_namespace(&self, address: &str) -> Result<Reading> {
        let (text, params) = match split_known_params(address) {
            Some((text, query)) => match parse_params(query, text.chars().count() + 1) {
                Ok(params) => (text, params),
                Err(fault) => return Ok(Reading::fault(fault)),
            },
            None => (address, Params::default()),
        };
        if let Some(reading) = self.line_of_path(text, params)? {
            return Ok(reading);
        }
        let by_anchor = self.anchor_of_path(text, params)?;
        match by_anchor {
            Some(reading) if !reading.is_not_found() => return Ok(reading),
            _ => {}
        }
        let locator = match parse_place(address) {
            Ok(place) => place.locator,
            Err(fault) => return Ok(Reading::fault(fault)),
        };
        let reading = match &locator {
            Locator::SectionPath(text) => self.section_over_store(text, params)?,
            Locator::Anchor(anchor) => self.anchor_over_store(anchor, params)?,
            _ => match self.library.snapshot.documents(None, 2)?.as_slice() {
                [stored] => locate::locate(&self.library.open(stored)?, address),
                _ => {
                    let message = format!(
                        "{address} is a place in a document: name it, as in `doc::{address}`"
                    );
                    Reading::fault(Fault::new(FaultCode::NamespaceRequired, message))
                }
            },
        };
        // What names a document, if not a place in it, says more than what names nothing.
        Ok(match by_anchor {
            Some(by_anchor) if reading.is_not_found() => by_anchor,
            _ => reading,
        })
    }

    /// `path:LINE`, `path:LINE:COL`, `path:START-END`, where the left part names a document.
    fn line_of_path(&self, text: &str, params: Params) -> Result<Option<Reading>> {
        let Some((left, last)) = text.rsplit_once(':') else { return Ok(None) };
        let (from, to) = last.split_once('-').unwrap_or((last, last));
        let (Some(start), Some(end)) = (whole_number(from), whole_number(to)) else {
            return Ok(None);
        };
        let range = last.contains('-').then_some(LineSpan { start, end });
        let with_column = left
            .rsplit_once(':')
            .and_then(|(name, line)| whole_number(line).map(|line| (name, line)))
            .filter(|_| range.is_none());
        for (name, line) in with_column.into_iter().chain([(left, start)]) {
            let document = match documents::by_name(self.library, name)? {
                NameMatch::One(stored) => self.library.open(&stored)?,
                NameMatch::Many(paths, total) => {
                    let rest = format!("@{line}");
                    let fault = self.ambiguous_document(name, &rest, &paths, total)?;
                    return Ok(Some(Reading::fault(fault)));
                }
                NameMatch::None => continue,
            };
            return Ok(Some(match range {
                Some(range) => locate::at_lines(&document, range, params),
                None => locate::at_line(&document, line, params),
            }));
        }
        Ok(None)
    }

    /// `path#anchor`, where the left part names a document.
    fn anchor_of_path(&self, text: &str, params: Params) -> Result<Option<Reading>> {
        let Some((name, anchor)) = text.rsplit_once('#') else { return Ok(None) };
        match documents::by_name(self.library, name)? {
            NameMatch::One(stored) => {
                let document = self.library.open(&stored)?;
                Ok(Some(locate::at_anchor(&document, anchor, params)))
            }
            NameMatch::Many(paths, total) => {
                let rest = format!("#a:{anchor}");
                let fault = self.ambiguous_document(name, &rest, &paths, total)?;
                Ok(Some(Reading::fault(fault)))
            }
            NameMatch::None => Ok(None),
        }
    }

    /// A section path over the whole store, where it must be unique.
    fn section_over_store(&self, text: &str, params: Params) -> Result<Reading> {
        let exact = self.exact_sections(text)?;
        if !exact.is_empty() {
            return Ok(locate::only(exact, text, params, false));
        }
        let path = SectionPath::new(text);
        let snapshot = self.library.snapshot;
        let most = limits::MAX_TITLE_DOCUMENTS;
        let mut part = Vec::new();
        for text in path.titles().into_iter().chain(path.slug()) {
            part.extend(snapshot.documents_with_title_part(text, most)?);
        }
        sort_by_path(&mut part);
        let is_cut = part.len() >= most;
        let hits = self.sections_of(&part, &path, Tier::Substring)?;
        if hits.is_empty() {
            // What names no section at all may name a document.
            match documents::by_name(self.library, text)? {
                NameMatch::One(stored) => {
                    let place = Place::new(self.library.open(&stored)?, Target::Document, params);
                    return Ok(Reading { places: vec![place], ..Reading::default() });
                }
                NameMatch::Many(paths, total) => {
                    return Ok(Reading::fault(self.ambiguous_document(text, "*", &paths, total)?));
                }
                NameMatch::None => {}
            }
            let name = text.rsplit_once(['#', ':']).map_or(text, |(name, _)| name);
            for name in [text, name] {
                if let Some(fault) = documents::not_ingested(self.library, name)? {
                    return Ok(Reading::fault(fault));
                }
            }
            let message = format!("no document and no section is named {text:?}");
            let suggestions = similar_documents(self.library, text)?;
            let fault = Fault::new(FaultCode::SelectorNotFound, message).suggest(suggestions);
            return Ok(Reading::fault(fault));
        }
        Ok(locate::only(hits, text, params, is_cut))
    }

    /// The sections over the whole store that a section path names in the first tier in which it names
    /// any, parts of titles left aside.
    pub(super) fn exact_sections(&self, text: &str) -> Result<Vec<(Rc<OpenDocument>, usize)>> {
        let path = SectionPath::new(text);
        let snapshot = self.library.snapshot;
        let mut documents = snapshot.documents_with_title(path.last_part())?;
        for title in path.titles() {
            documents.extend(snapshot.documents_with_title(title)?);
        }
        sort_by_path(&mut documents);
        for tier in path.tiers().into_iter().filter(|tier| *tier != Tier::Substring) {
            let hits = self.sections_of(&documents, &path, tier)?;
            if !hits.is_empty() {
                return Ok(hits);
            }
        }
        Ok(Vec::new())
    }

    fn sections_of(
        &self,
        documents: &[StoredDocument],
        path: &SectionPath,
        tier: Tier,
    ) -> Result<Vec<(Rc<OpenDocument>, usize)>> {
        let mut hits = Vec::new();
        for stored in documents {
            let document = self.library.open(stored)?;
            let nodes = path.hits(&document.tree, tier);
            hits.extend(nodes.into_iter().map(|node| (Rc::clone(&document), node)));
        }
        Ok(hits)
    }

    /// A GitHub anchor over the whole store, where it must be unique.
    fn anchor_over_store(&self, anchor: &str, params: Params) -> Result<Reading> {
        let decoded = namespace::decode(anchor);
        // Anchors are numbered by document, path parts among siblings: the number may be one's alone.
        let unnumbered = decoded
            .rsplit_once('-')
            .filter(|(_, number)| number.bytes().all(|byte| byte.is_ascii_digit()))
            .map(|(slug, _)| slug);
        let mut candidates = Vec::new();
        for key in [anchor, &decoded].into_iter().chain(unnumbered) {
            candidates.extend(self.library.snapshot.documents_with_title(key)?);
        }
        sort_by_path(&mut candidates);
        let mut readings = Vec::new();
        for stored in &candidates {
            let reading = locate::at_anchor(&self.library.open(stored)?, anchor, params);
            if !reading.is_not_found() {
                readings.push(reading);
            }
        }
        Ok(only_reading(readings, &format!("the anchor #{anchor}")))
    }

    /// An LDMD section over the whole store, where its id must be unique.
    fn ldmd_over_store(&self, id: &str, params: Params) -> Result<Reading> {
        let decoded = namespace::decode(id);
        // `id@LINE` names the section of that id which begins at the line.
        let unnumbered = decoded.rsplit_once('@').map(|(id, _)| id);
        let mut candidates = Vec::new();
        for id in [id, &decoded].into_iter().chain(unnumbered) {
            candidates.extend(self.library.snapshot.documents_with_ldmd_section(id)?);
        }
        sort_by_path(&mut candidates);
        let mut readings = Vec::new();
        for stored in &candidates {
            let reading = locate::at_ldmd_section(&self.library.open(stored)?, id, params);
            if !reading.is_not_found() {
                readings.push(reading);
            }
        }
        Ok(only_reading(readings, &format!("the LDMD section {id:?}")))
    }

    /// A selector without namespace: in every document, in path order.
    fn selector_over_store(
        &self,
        address: &str,
        selector: &Selector,
        params: Params,
        window: Window,
    ) -> Result<Resolution> {
        const DOCUMENTS_AT_ONCE: usize = 256;
        let mut resolution = Resolution::default();
        let mut after: Option<String> = None;
        let mut first_fault: Option<Reading> = None;
        let is_short = !address.contains(':');
        if is_short && !self.library.snapshot.documents_with_title(address)?.is_empty() {
            resolution.warnings.push(locate::shadows(address));
        }
        loop {
            let documents = self.library.snapshot.documents(after.as_deref(), DOCUMENTS_AT_ONCE)?;
            for stored in &documents {
                let reading = locate::follow(&self.library.open(stored)?, selector, params);
                if reading.fault.is_some() {
                    first_fault.get_or_insert(reading);
                    continue;
                }
                for warning in reading.warnings {
                    if !resolution.warnings.contains(&warning) {
                        resolution.warnings.push(warning);
                    }
                }
                for place in reading.places {
                    if resolution.skipped < window.skip {
                        resolution.skipped += 1;
                    } else if resolution.places.len() < window.take {
                        resolution.places.push(place);
                    } else {
                        resolution.has_more = true;
                        return Ok(resolution);
                    }
                }
            }
            match documents.last() {
                Some(last) if documents.len() == DOCUMENTS_AT_ONCE => {
                    after = Some(last.path.clone());
                }
                _ => break,
            }
        }
        if resolution.skipped + resolution.places.len() == 0 {
            let reading = first_fault.unwrap_or_else(|| {
                let message = "the store holds no document";
                Reading::fault(Fault::new(FaultCode::SelectorNotFound, message))
            });
            let reading = reading.in_address(address, 0);
            resolution.fault = reading.fault;
            resolution.partial = reading.partial;
        }
        Ok(resolution)
    }

    /// A document's name that several documents have.
    pub(super) fn ambiguous_document(
        &self,
        name: &str,
        rest: &str,
        paths: &[String],
        total: usize,
    ) -> Result<Fault> {
        let message = format!("{total} documents are named {name:?}");
        let mut fault = Fault::new(FaultCode::Ambiguous, message).at(0);
        fault.candidates = self.addresses_of(paths, rest)?;
        Ok(fault)
    }

    /// No document has that name.
    fn no_document(&self, name: &str, rest: &str) -> Result<Fault> {
        let mut fault = documents::not_found(self.library, name)?.at(0);
        let paths: Vec<String> = fault
            .suggestions
            .iter()
            .map(|suggestion| namespace::decode(suggestion.trim_end_matches("::*")))
            .collect();
        fault.suggestions = self.addresses_of(&paths, rest)?;
        Ok(fault)
    }

    /// The addresses of `rest` in the documents at `paths`; of the whole document where there is no
    /// such place in it.
    pub(super) fn addresses_of(&self, paths: &[String], rest: &str) -> Result<Vec<String>> {
        let mut addresses = Vec::new();
        for path in paths {
            let Some(stored) = self.library.snapshot.document_at(path)? else { continue };
            let document = self.library.open(&stored)?;
            let is_there = locate::locate(&document, rest).fault.is_none();
            addresses.push(document.address(if is_there { rest } else { "*" }));
        }
        Ok(addresses)
    }
}

/// The only one of the readings of `name` in several documents, or why there is none.
fn only_reading(mut readings: Vec<Reading>, name: &str) -> Reading {
    if readings.len() > 1 {
        let message = format!("{} documents have {name}", readings.len());
        let mut fault = Fault::new(FaultCode::Ambiguous, message);
        let places = readings.iter().flat_map(|reading| &reading.places);
        fault.candidates = places.take(limits::MAX_CANDIDATES_SHOWN).map(Place::address).collect();
        return Reading::fault(fault);
    }
    readings.pop().unwrap_or_else(|| {
        let message = format!("no document has {name}");
        Reading::fault(Fault::new(FaultCode::SelectorNotFound, message))
    })
}

fn sort_by_path(documents: &mut Vec<StoredDocument>) {
    documents.sort_by(|one, other| one.path.cmp(&other.path));
    documents.dedup();
}
