//! Places that are to be edited: which document an edit names, and which place in it.
//!
//! Stricter than reading. Invariant: no kind of name wins over another. What could be a document or a
//! section, a selector or a title, is an ambiguity whose candidates, given back, resolve; a whole
//! document is named only as `ns::*`; a part of a title names nothing unless that is asked for.

use std::rc::Rc;

use super::documents;
use super::library::{Library, OpenDocument};
use super::locate::{Reading, at_section_path, in_tiers, locate};
use super::place::{Place, Target};
use super::resolve::{Resolver, resolve_one};
use super::section_path::{SectionPath, Tier};
use crate::address::selector::is_selector;
use crate::address::{
    Fault, FaultCode, Locator, Ordinal, Params, ParsedPlace, Selector, StepKind, parse_place,
    split_known_params, whole_number,
};
use crate::error::{Error, ErrorKind, Result};
use crate::limits;
use crate::store::{NameMatch, StoredDocument};

/// A place as an edit names it, before its document is read.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    /// The document.
    pub(crate) stored: StoredDocument,
    /// The place in it.
    pub(crate) locator: String,
    /// Whether it was given as an address with its document.
    pub(crate) is_address: bool,
}

/// Why `text` names nothing that can be edited.
fn fault(code: FaultCode, text: &str, message: impl Into<String>) -> Fault {
    Fault::new(code, message).of(text, 0)
}

/// The document and the place in it that `text` names: a place in `document`, or an address where no
/// document is given.
pub(crate) fn named(
    library: &Library<'_>,
    document: Option<&str>,
    text: &str,
    is_fuzzy: bool,
) -> Result<std::result::Result<Named, Fault>> {
    if text.len() > limits::MAX_ADDRESS_BYTES {
        let message = "longer than the limit address-bytes allows";
        return Ok(Err(fault(FaultCode::InvalidSyntax, text, message)));
    }
    match document {
        None => over_store(library, text, is_fuzzy),
        Some(document) => Ok(match documents::one(library, document)? {
            Ok(stored) => in_document(library, stored, text)?,
            Err(fault) => Err(fault),
        }),
    }
}

/// The names of documents that may begin `text`, each with the locator that follows.
fn splits(text: &str) -> Vec<(&str, String)> {
    if let Some((name, locator)) = text.split_once("::") {
        return vec![(name, locator.to_owned())];
    }
    let (place, params) = match split_known_params(text) {
        Some((place, params)) => (place, format!("?{params}")),
        None => (text, String::new()),
    };
    let mut splits = Vec::new();
    if let Some((left, last)) = place.rsplit_once(':')
        && let Some(number) = whole_number(last)
    {
        // `path:LINE:COL` before `path:LINE`.
        if let Some((name, line)) = left.rsplit_once(':')
            && let Some(line) = whole_number(line)
        {
            splits.push((name, format!("@{line}{params}")));
        }
        splits.push((left, format!("@{number}{params}")));
    }
    if let Some((name, anchor)) = place.rsplit_once('#') {
        splits.push((name, format!("#a:{anchor}{params}")));
    }
    splits.retain(|(name, _)| !name.is_empty());
    splits
}

/// A place in a document that is known, which may be repeated before the place.
fn in_document(
    library: &Library<'_>,
    stored: StoredDocument,
    text: &str,
) -> Result<std::result::Result<Named, Fault>> {
    let mut elsewhere = None;
    for (name, locator) in splits(text) {
        match documents::by_name(library, name)? {
            NameMatch::One(other) if other.id == stored.id => {
                return Ok(Ok(Named { stored, locator, is_address: true }));
            }
            NameMatch::Many(paths, _) if paths.contains(&stored.path) => {
                return Ok(Ok(Named { stored, locator, is_address: true }));
            }
            NameMatch::One(other) if text.contains("::") => elsewhere = Some(other),
            _ => {}
        }
    }
    let document = library.open(&stored)?;
    if let Some(other) = elsewhere
        && exact_sections(&document, text).is_empty()
    {
        let message = format!("{text} is a place in {}, not in {}", other.path, stored.path);
        let suggestion = vec![text.to_owned()];
        let fault = fault(FaultCode::SelectorNotFound, text, message).suggest(suggestion);
        return Ok(Err(fault));
    }
    Ok(Ok(Named { stored, locator: text.to_owned(), is_address: false }))
}

/// A place that is named without its document, or by an address.
fn over_store(
    library: &Library<'_>,
    text: &str,
    is_fuzzy: bool,
) -> Result<std::result::Result<Named, Fault>> {
    let resolver = Resolver { library };
    let is_path = library.snapshot.document_at(text)?.is_some();
    for (name, locator) in splits(text).into_iter().filter(|_| !is_path) {
        match documents::by_name(library, name)? {
            NameMatch::One(stored) => {
                return Ok(Ok(Named { stored, locator, is_address: true }));
            }
            NameMatch::Many(paths, total) => {
                let fault = resolver.ambiguous_document(name, &locator, &paths, total)?;
                return Ok(Err(fault.of(text, 0)));
            }
            NameMatch::None => {}
        }
    }
    let (bare, params) = match split_known_params(text) {
        Some((bare, params)) if !is_path => (bare, format!("?{params}")),
        _ => (text, String::new()),
    };
    if let Some((_, lines)) = bare.rsplit_once(':')
        && lines
            .split_once('-')
            .is_some_and(|(from, to)| whole_number(from).is_some() && whole_number(to).is_some())
        && let Ok((place, _)) = resolve_one(library, text)?
    {
        let message = format!("lines are no place to edit; they are in {}", place.address());
        let fault = fault(FaultCode::SelectorNotFound, text, message);
        return Ok(Err(fault.suggest(vec![place.address()])));
    }
    let sections = resolver.exact_sections(bare)?;
    let names = documents::by_name(library, bare)?;
    let wholes: Vec<String> = match &names {
        NameMatch::One(stored) => vec![stored.path.clone()],
        NameMatch::Many(paths, _) => paths.clone(),
        NameMatch::None => Vec::new(),
    };
    let is_section_path =
        matches!(parse_place(text), Ok(ParsedPlace { locator: Locator::SectionPath(_), .. }));
    if !is_section_path && sections.is_empty() && wholes.is_empty() {
        return elsewhere(library, text);
    }
    let mut candidates = resolver.addresses_of(&wholes, "*")?;
    candidates.extend(sections.iter().map(|(document, node)| document.address_of(*node)));
    if !is_section_path && let Ok(Ok(named)) = elsewhere(library, text) {
        candidates.push(format!(
            "{}::{}",
            crate::address::namespace::encode(&named.stored.path),
            named.locator
        ));
        candidates.dedup();
    }
    match (wholes.as_slice(), sections.as_slice()) {
        ([_], []) => {
            let whole = candidates.first().cloned().unwrap_or_default();
            let message = format!("{text} is a whole document");
            return Err(Error::new(ErrorKind::EditRefused, message)
                .with_reason("WHOLE_DOCUMENT")
                .with_hint(format!("name a section of it, or all of it as {whole}")));
        }
        ([], [(document, node)]) if candidates.len() == 1 => {
            let locator = format!("{}{params}", document.tree.selector(*node));
            let stored = document.stored.clone();
            return Ok(Ok(Named { stored, locator, is_address: true }));
        }
        ([], []) => {}
        _ => {
            let message = format!("{} places are named {bare:?}", candidates.len());
            candidates.truncate(limits::MAX_CANDIDATES_SHOWN);
            let mut fault = fault(FaultCode::Ambiguous, text, message);
            fault.candidates = candidates;
            return Ok(Err(fault));
        }
    }
    Ok(match resolve_one(library, text)? {
        Ok((place, _)) if is_fuzzy => Ok(of_place(&place, &params)),
        Ok((place, _)) => Err(not_exact(text, &place)),
        Err(fault) => Err(fault),
    })
}

/// A place that is no section path: in the only document that has it.
fn elsewhere(library: &Library<'_>, text: &str) -> Result<std::result::Result<Named, Fault>> {
    if let [stored] = library.snapshot.documents(None, 2)?.as_slice() {
        let stored = stored.clone();
        return Ok(Ok(Named { stored, locator: text.to_owned(), is_address: false }));
    }
    Ok(match resolve_one(library, text)? {
        Ok((place, _)) => {
            let params =
                split_known_params(text).map_or_else(String::new, |(_, p)| format!("?{p}"));
            Ok(of_place(&place, &params))
        }
        Err(fault) => Err(fault),
    })
}

fn of_place(place: &Place, params: &str) -> Named {
    let address = place.address();
    let locator = address.split_once("::").map_or("*", |(_, locator)| locator);
    Named {
        stored: place.document.stored.clone(),
        locator: format!("{locator}{params}"),
        is_address: true,
    }
}

fn not_exact(text: &str, place: &Place) -> Fault {
    let message =
        format!("{text:?} is only a part of a title; --fuzzy takes {} for it", place.address());
    fault(FaultCode::SelectorNotFound, text, message).suggest(vec![place.address()])
}

/// The sections of a document that `text` names exactly, in the first tier in which it names any.
fn exact_sections(document: &OpenDocument, text: &str) -> Vec<usize> {
    let path = SectionPath::new(text);
    let tiers = path.tiers().into_iter().filter(|tier| *tier != Tier::Substring);
    tiers
        .map(|tier| path.hits(&document.tree, tier))
        .find(|hits| !hits.is_empty())
        .unwrap_or_default()
}

/// The place that `text` names in `document`. `is_address` where it was given with its document, as
/// every command emits addresses: a selector with all its indices is then nothing else.
pub(crate) fn locate_for_edit(
    document: &Rc<OpenDocument>,
    text: &str,
    is_address: bool,
    is_fuzzy: bool,
) -> std::result::Result<Place, Fault> {
    let parsed = parse_place(text).ok();
    if let Some(fault) = ambiguous_word(document, text, parsed.as_ref(), is_address) {
        return Err(fault);
    }
    let reading = match parsed {
        Some(ParsedPlace { locator: Locator::FrontMatter, params }) => {
            // It can be made where there is none.
            Reading::place(Place::new(Rc::clone(document), Target::FrontMatter, params))
        }
        Some(ParsedPlace { locator: Locator::SectionPath(path), params }) if !is_fuzzy => {
            let tiers: Vec<Tier> = SectionPath::new(&path).tiers().into();
            let exact = tiers.into_iter().filter(|tier| *tier != Tier::Substring);
            let reading = in_tiers(document, &path, exact, params);
            let reading = super::locate::with_its_part(reading);
            if reading.is_not_found()
                && let [place] = at_section_path(document, &path, params).places.as_slice()
            {
                return Err(not_exact(text, place));
            }
            reading
        }
        _ => locate(document, text),
    };
    let reading = reading.in_address(text, 0);
    if let Some(fault) = reading.fault {
        return Err(fault);
    }
    match reading.places.as_slice() {
        [place] => checked(place, text),
        places => {
            let message = format!("{} places are named {text:?}", places.len());
            let mut fault = fault(FaultCode::Ambiguous, text, message);
            let shown = places.iter().take(limits::MAX_CANDIDATES_SHOWN);
            fault.candidates = shown.map(Place::address).collect();
            Err(fault)
        }
    }
}

/// The place, which must be quite what was named, and all of it but for its `part`.
fn checked(place: &Place, text: &str) -> std::result::Result<Place, Fault> {
    let Params { page, head, tail, part, .. } = place.params;
    if place.resolved.is_some() {
        let message = format!("no heading is there; it is in {}", place.address());
        let fault = fault(FaultCode::SelectorNotFound, text, message);
        return Err(fault.suggest(vec![place.address()]));
    }
    if page.is_some() || head.is_some() || tail.is_some() {
        let message = format!("an edit takes all of a place: {}", place.address());
        let fault = fault(FaultCode::MalformedQuery, text, message);
        return Err(fault.suggest(vec![place.address()]));
    }
    Ok(Place { params: Params { part, ..Params::default() }, ..place.clone() })
}

/// The fault that `text` is both the title of a section and a place of another kind.
fn ambiguous_word(
    document: &Rc<OpenDocument>,
    text: &str,
    parsed: Option<&ParsedPlace>,
    is_address: bool,
) -> Option<Fault> {
    let is_other_kind = match parsed.map(|parsed| &parsed.locator) {
        Some(Locator::SectionPath(_) | Locator::Document) => false,
        Some(Locator::Selector(selector)) => !(is_address && is_primary(selector, text)),
        Some(_) => !is_address,
        None => is_selector(text),
    };
    if !is_other_kind {
        return None;
    }
    let title = text.split('?').next().unwrap_or(text);
    let sections = exact_sections(document, title);
    if sections.is_empty() {
        return None;
    }
    let mut candidates: Vec<String> =
        locate(document, text).places.iter().map(Place::address).collect();
    let titled: Vec<String> = sections.into_iter().map(|node| document.address_of(node)).collect();
    if candidates == titled {
        return None;
    }
    for address in titled {
        if !candidates.contains(&address) {
            candidates.push(address);
        }
    }
    candidates.truncate(limits::MAX_CANDIDATES_SHOWN);
    let message = format!("{title:?} is a word of selectors and the title of a section");
    let mut fault = fault(FaultCode::Ambiguous, text, message);
    fault.candidates = candidates;
    Some(fault)
}

/// Whether a selector, written as `text`, is as addresses are emitted: without shorthand, and with one
/// index at each step but `root`.
fn is_primary(selector: &Selector, text: &str) -> bool {
    let has_index = |ordinal| matches!(ordinal, Ordinal::One(_));
    text.split('?').next() == Some(selector.to_string().as_str())
        && selector.steps.iter().all(|step| step.kind == StepKind::Root || has_index(step.ordinal))
}
