//! Resolves an address to the nodes that it names. All commands that take an address use this module.
//!
//! It looks up the [`interpretations`] of an address in order; the first one that names anything applies.
//! Invariant: if one node is required and several match, the result is an ambiguity error whose
//! candidates resolve. The resolver never picks one because it is first.

mod called;
mod cells;
mod edit_node;
mod edit_place;
mod locate;
mod locate_lines;
mod located;
mod missing;
mod over_store;
mod printed_line;
mod section_path;
mod steps;
mod suggestion;

pub(crate) use cells::narrow;
pub(crate) use edit_node::{locate_for_edit, locate_section_for_edit, locate_text_for_edit};
pub(crate) use edit_place::{NamedNode, named, names_document};
pub(super) use locate::{ldmd_section, missing_ldmd_section};
pub use located::ByTitle;
pub(super) use located::{Located, with_its_part};
pub(super) use steps::expansion_cut;
pub(super) use suggestion::similar_documents;

use std::collections::HashSet;
use std::rc::Rc;

use self::locate::of_corrections;
use self::locate::{first_located, has_anchor, locate, missing};
use self::section_path::SectionPath;
use crate::address::{
    self, AddressError, AddressResult, Candidate, CellSteps, FaultCode, Interpretation, Locator,
    ParsedPlace, interpretations, lines_address, misplaced_step, namespace,
};
use crate::error::{Result, Warning};
use crate::limits;
use crate::markdown::contents::Table;
use crate::message::message;
use crate::query::document_name::{self, NameMatch};
use crate::query::open_document::OpenDocument;
use crate::query::resolved_node::{ResolvedAs, ResolvedNode, Target};
use crate::query::session::{MAX_OPEN, Session};
use crate::store::{Lookup, StoredDocument};
use crate::visible::quoted;

/// The part of the nodes of an address to return.
#[derive(Clone, Copy, Debug)]
pub struct NodeRange {
    /// Number of leading nodes to skip.
    pub skip: usize,
    /// Maximum number of nodes to return.
    pub take: usize,
}

/// The nodes that an address names.
#[derive(Debug, Default)]
pub struct Resolution {
    /// The nodes within the range.
    pub places: Vec<ResolvedNode>,
    /// The number of nodes that were skipped.
    pub skipped: usize,
    /// Whether there are nodes after the range.
    pub has_more: bool,
    /// Why the address names nothing.
    pub fault: Option<AddressError>,
    /// The nodes that the longest resolving prefix of the address names.
    pub partial: Vec<ResolvedNode>,
    /// Warnings about how the address was read.
    pub warnings: Vec<Warning>,
    /// How a title without a document names the only place, which is a section.
    pub by_title: Option<ByTitle>,
    /// Where the nodes after the range begin, if they are not known yet.
    pub(super) rest: Option<Rest>,
}

/// Where to continue with an address that names nodes of many documents.
#[derive(Clone, Debug)]
pub(super) struct Rest {
    /// The path of the last document all of whose nodes are resolved.
    after: Option<String>,
    /// The number of nodes of the next document that are resolved.
    skip: usize,
    /// The warnings so far.
    warnings: Vec<Warning>,
}

impl Resolution {
    /// Returns the part of `located` that is within the range.
    fn of(located: Located, range: NodeRange) -> Self {
        let count = located.places.len();
        let skipped = range.skip.min(count);
        let places: Vec<ResolvedNode> =
            located.places.into_iter().skip(skipped).take(range.take).collect();
        Self {
            has_more: skipped + places.len() < count,
            skipped,
            places,
            fault: located.fault,
            partial: located.partial,
            warnings: located.warnings,
            by_title: located.by_title,
            rest: None,
        }
    }
}

/// Returns the fault for an address that is too long; such an address is not parsed.
pub(in crate::query) fn too_long(address: &str) -> Option<AddressError> {
    (address.len() > limits::MAX_ADDRESS_BYTES).then(|| {
        let message = format!("the address is longer than {}", limits::row::MAX_ADDRESS_BYTES);
        AddressError::new(FaultCode::Limit, message).of(address)
    })
}

/// Resolves `address`, and returns the nodes within `range`. If a document that it names has no such place, the fault
/// says so if the file of the document has changed, because the place may be new.
pub fn resolve(session: &Session<'_>, address: &str, range: NodeRange) -> Result<Resolution> {
    resolve_rest(session, address, range, None)
}

/// Works like [`resolve`]. With `rest`, the range begins where the former one ended; its nodes before are not resolved
/// again.
pub(super) fn resolve_rest(
    session: &Session<'_>,
    address: &str,
    range: NodeRange,
    rest: Option<Rest>,
) -> Result<Resolution> {
    let resolution = resolve_text(session, address, range, rest)?;
    if too_long(address).is_some() || !resolution.fault.as_ref().is_some_and(is_missing) {
        return Ok(resolution);
    }
    // A line of an answer is an address, too.
    let printed = printed_line::resolve_printed(session, address, range)?;
    Ok(printed.unwrap_or(resolution))
}

/// Resolves `address` as it is.
fn resolve_text(
    session: &Session<'_>,
    address: &str,
    range: NodeRange,
    rest: Option<Rest>,
) -> Result<Resolution> {
    let mut resolution = resolve_stored(session, address, range, rest)?;
    if let Some(fault) = &mut resolution.fault
        && is_missing(fault)
        && too_long(address).is_none()
        && let Some(change) = change_of_document(session, address)?
    {
        fault.message = message!("{}; {}", fault.message, change.message);
    }
    Ok(resolution)
}

/// Returns the warning that the file of the document that `address` names has changed.
fn change_of_document(session: &Session<'_>, address: &str) -> Result<Option<Warning>> {
    for interpretation in interpretations(address) {
        let (Interpretation::Namespaced { name, .. }
        | Interpretation::PathLine { name, .. }
        | Interpretation::PathAnchor { name, .. }) = interpretation
        else {
            continue;
        };
        if let NameMatch::One(stored) = document_name::by_name(session, &name)? {
            return Ok(session.warning_of_changes([&stored], Session::INGEST_UPDATES));
        }
    }
    Ok(None)
}

/// Resolves `address` in the stored documents.
fn resolve_stored(
    session: &Session<'_>,
    address: &str,
    range: NodeRange,
    rest: Option<Rest>,
) -> Result<Resolution> {
    let Some((table, steps)) = address::cells::split(address) else {
        return resolve_node(session, address, range, rest);
    };
    let all = NodeRange { skip: 0, take: limits::MAX_EXPANSION };
    let found = resolve_node(session, &table, all, None)?;
    if let Some(fault) = found.fault {
        // The whole may be the path of a section.
        let whole = resolve_node(session, address, range, rest)?;
        let fault = Some(fault.of(address));
        return Ok(if whole.fault.is_none() { whole } else { Resolution { fault, ..whole } });
    }
    let (mut places, mut partial) = (Vec::new(), Vec::new());
    let (mut first_fault, mut warnings) = (None, found.warnings);
    if found.has_more {
        warnings.push(expansion_cut(&table));
    }
    // The tables of the document of the last place.
    let mut known: Option<(i64, Vec<Table>)> = None;
    for place in &found.places {
        let stored = &place.document.stored;
        let (_, tables) = match known.take_if(|(id, _)| *id == stored.id) {
            Some(same) => known.insert(same),
            None => known.insert((stored.id, session.reader.tables(stored)?)),
        };
        // If the bytes cannot be read, reading the place fails too.
        let bytes = |span| session.content(&place.document, span).unwrap_or_default();
        match narrow(place, &steps, tables, &bytes, &mut warnings) {
            Ok(found) => places.extend(found),
            Err(fault) => {
                first_fault = first_fault.or(Some(fault.of(address)));
                // If the cells do not exist, the rows may.
                let rows = CellSteps { cell: None, ..steps.clone() };
                let rows = narrow(place, &rows, tables, &bytes, &mut Vec::new());
                partial.extend(rows.unwrap_or_else(|_| vec![place.clone()]));
                partial.truncate(limits::MAX_SUGGESTIONS);
            }
        }
    }
    let fault = first_fault.filter(|_| places.is_empty());
    let partial = if fault.is_some() { partial } else { Vec::new() };
    let located = Located { places, fault, partial, warnings, by_title: None };
    Ok(Resolution::of(located, range))
}

/// Resolves the address of nodes, without rows and cells.
fn resolve_node(
    session: &Session<'_>,
    address: &str,
    range: NodeRange,
    rest: Option<Rest>,
) -> Result<Resolution> {
    if let Some(fault) = too_long(address) {
        return Ok(Resolution::of(Located::fault(fault), range));
    }
    let resolver = Resolver { session };
    let interpretations = interpretations(address);
    if let Some(Interpretation::Selector(place)) = interpretations.last()
        && let Locator::Selector(_, text) = &place.locator
    {
        return match resolver.first_of(&interpretations)? {
            Some(located) => Ok(Resolution::of(located.in_address(address), range)),
            None => resolver.selector_over_store(address, place, text, range, rest),
        };
    }
    // What a document calls itself comes before parts of titles, which are last.
    let is_exact = |one: &Interpretation| !matches!(one, Interpretation::TitlePart(_));
    let (exact, parts) = interpretations.split_at(interpretations.partition_point(is_exact));
    let mut located = resolver.first_of(exact)?;
    if located.is_none() {
        located = resolver.called(exact)?;
    }
    if located.is_none() {
        located = resolver.first_of(parts)?;
    }
    let located = match located {
        Some(located) => located,
        None => Located::fault(resolver.missing_address(address, &interpretations)?),
    };
    Ok(Resolution::of(explained(located, address).in_address(address), range))
}

/// Returns whether nothing was found, and not several places.
fn is_missing(fault: &AddressError) -> bool {
    fault.code != FaultCode::Ambiguous
}

/// Returns `located` with a more precise fault if nothing was found because a step cannot be where it is in `address`.
fn explained(mut located: Located, address: &str) -> Located {
    if let Some(fault) = &mut located.fault
        && fault.code == FaultCode::SelectorNotFound
        && let Some(misplaced) = misplaced_step(address)
    {
        let suggestions = std::mem::take(&mut fault.suggestions);
        *fault = misplaced.suggest(suggestions);
    }
    located
}

/// Resolves an address that must name exactly one node.
pub fn resolve_one(
    session: &Session<'_>,
    address: &str,
) -> Result<AddressResult<(ResolvedNode, Vec<Warning>)>> {
    let range = NodeRange { skip: 0, take: limits::MAX_EXPANSION };
    let resolution = resolve(session, address, range)?;
    if let Some(fault) = resolution.fault {
        return Ok(Err(fault));
    }
    Ok(match resolution.places.as_slice() {
        [place] => Ok((place.clone(), resolution.warnings)),
        places => {
            let least = if resolution.has_more { "at least " } else { "" };
            let mut fault = several_places(address, places, least);
            fault.message =
                message!("{}; `mdsel select {path}` prints all of them", fault.message, address);
            Err(fault)
        }
    })
}

/// Returns the ambiguity error for an address that must name one node and names several.
pub(super) fn several_places(address: &str, places: &[ResolvedNode], least: &str) -> AddressError {
    let message =
        format!("{address} matches {least}{} places", places.len(), address = quoted(&address));
    let fault = AddressError::new(FaultCode::Ambiguous, message).of(address);
    fault.among(places.iter().map(ResolvedNode::candidate), places.len())
}

/// The sections of any document that have a name.
#[derive(Debug, Default)]
pub(super) struct ResolvedSections {
    pub(super) count: usize,
    /// The first of them: the document, and the index of the node. All of them keep their documents in memory.
    pub(super) first: Vec<(Rc<OpenDocument>, usize)>,
}

impl ResolvedSections {
    /// Returns sections of one document.
    pub(super) fn within(document: &Rc<OpenDocument>, nodes: Vec<usize>) -> Self {
        let first = nodes.into_iter().map(|node| (Rc::clone(document), node));
        let first: Vec<_> = first.collect();
        Self { count: first.len(), first }
    }

    /// Adds sections of a document, and keeps at most `kept` in all.
    fn add(&mut self, document: &Rc<OpenDocument>, nodes: Vec<usize>, kept: usize) {
        self.count += nodes.len();
        let room = kept.saturating_sub(self.first.len());
        self.first.extend(nodes.into_iter().take(room).map(|node| (Rc::clone(document), node)));
    }
}

/// Returns whether a candidate is a place in its document, and not the document.
fn has_place(candidate: &Candidate) -> bool {
    candidate.selector != namespace::whole(&candidate.file)
}

pub(super) struct Resolver<'a> {
    pub(super) session: &'a Session<'a>,
}

impl Resolver<'_> {
    /// Returns the result of the first of `interpretations` that names anything. Selectors without a document
    /// are not considered.
    pub(super) fn first_of(&self, interpretations: &[Interpretation]) -> Result<Option<Located>> {
        for (index, interpretation) in interpretations.iter().enumerate() {
            if let Some(located) = self.located(interpretation)? {
                let others = interpretations.get(index + 1..).unwrap_or_default();
                if located.fault.is_some()
                    && matches!(interpretation, Interpretation::Namespaced { .. })
                    && let Some(document) = self.with_whole_path(others)?
                {
                    return Ok(Some(document));
                }
                return Ok(Some(located.warn(self.hidden_steps(interpretation, others)?)));
            }
        }
        Ok(None)
    }

    /// Returns what the first of `interpretations` names that has the whole path of a document. It comes before a place
    /// that a document with a shorter name lacks.
    fn with_whole_path(&self, interpretations: &[Interpretation]) -> Result<Option<Located>> {
        for interpretation in interpretations {
            let found = match interpretation {
                Interpretation::ExactPath { .. } => self.located(interpretation)?,
                Interpretation::Namespaced { name, .. } if self.is_whole_path(name)? => {
                    self.located(interpretation)?.filter(|located| located.fault.is_none())
                }
                _ => None,
            };
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    fn is_whole_path(&self, name: &str) -> Result<bool> {
        Ok(self.session.reader.document_at(&namespace::decode(name))?.is_some())
    }

    /// Returns what an interpretation names, or `None` if nothing in the store has that name.
    fn located(&self, interpretation: &Interpretation) -> Result<Option<Located>> {
        match interpretation {
            Interpretation::ExactPath { path, place } => {
                let Some(stored) = self.session.reader.document_at(path)? else { return Ok(None) };
                self.with_hidden(path, place, locate(&self.session.open(&stored)?, place))
            }
            Interpretation::Namespaced { name, places } => self.in_named(name, places),
            Interpretation::PathLine { name, place }
            | Interpretation::PathAnchor { name, place } => self.in_document(name, place),
            Interpretation::DocumentName { name, place } => {
                self.with_hidden(name, place, self.in_document(name, place)?)
            }
            Interpretation::SectionPath(place) => self.section_path(place),
            Interpretation::TitlePart(place) => self.title_part(place),
            Interpretation::Anchor(place) | Interpretation::LdmdSection(place) => self.named(place),
            Interpretation::OnlyDocument(place) => self.in_only_document(place).map(Some),
            Interpretation::Malformed(fault) => {
                let mut fault = fault.clone();
                fault.suggestions = self.corrected(fault.suggested())?;
                let hidden = self.shadowed(&fault.selector)?;
                Ok(Some(Located::fault(fault).warn(hidden)))
            }
            Interpretation::Selector(_) => Ok(None),
        }
    }

    /// Adds the warning that a document takes precedence over sections with the name `name`, if `place` is the document.
    fn with_hidden(
        &self,
        name: &str,
        place: &ParsedPlace,
        located: Option<Located>,
    ) -> Result<Option<Located>> {
        let is_whole = place.locator == Locator::Document && place.steps.is_empty();
        Ok(match located {
            Some(located) if is_whole && located.fault.is_none() => {
                let own = located.places.first().map(|place| Rc::clone(&place.document));
                let hidden = own.map(|own| self.hidden_sections(name, &own.stored)).transpose()?;
                Some(located.warn(hidden.flatten()))
            }
            located => located,
        })
    }

    /// Returns the first of `places` in the document called `name`.
    fn in_named(
        &self,
        name: &str,
        places: &AddressResult<Vec<ParsedPlace>>,
    ) -> Result<Option<Located>> {
        let document = match document_name::by_name(self.session, name)? {
            NameMatch::None => return Ok(None),
            NameMatch::One(stored) => self.session.open(&stored)?,
            NameMatch::Many(many) => {
                let places = places.as_deref().unwrap_or_default();
                let fault = self.ambiguous_document(name, places, &many)?;
                return Ok(Some(Located::fault(fault)));
            }
        };
        Ok(Some(match places {
            Ok(places) => self.one_in(&document, places)?,
            Err(fault) => {
                let suggestions = of_corrections(&document, fault.suggested());
                let hidden = locate::shadowed(&document, &fault.selector);
                Located::fault(fault.clone().suggest(suggestions)).warn(hidden)
            }
        }))
    }

    /// Returns the first of `places` in `document`; `None` if nothing in it has such a name. Its anchors in HTML and its
    /// block ids are read only if an anchor names no heading.
    fn first_in(
        &self,
        document: &Rc<OpenDocument>,
        places: &[ParsedPlace],
    ) -> Result<Option<Located>> {
        let located = first_located(document, places);
        if located.is_some() || !has_anchor(places) {
            return Ok(located);
        }
        self.session.read_anchors(document)?;
        Ok(first_located(document, places))
    }

    /// Returns the first of `places` in `document`, or the fault that there is none.
    fn one_in(&self, document: &Rc<OpenDocument>, places: &[ParsedPlace]) -> Result<Located> {
        let located = self.first_in(document, places)?;
        Ok(located.unwrap_or_else(|| Located::fault(missing(document, places))))
    }

    /// Returns `place` in the document called `name`, or `None` if there is no such document or place.
    fn in_document(&self, name: &str, place: &ParsedPlace) -> Result<Option<Located>> {
        match document_name::by_name(self.session, name)? {
            NameMatch::None => Ok(None),
            NameMatch::One(stored) => {
                self.first_in(&self.session.open(&stored)?, std::slice::from_ref(place))
            }
            NameMatch::Many(many) => {
                let places = std::slice::from_ref(place);
                let fault = self.ambiguous_document(name, places, &many)?;
                Ok(Some(Located::fault(fault)))
            }
        }
    }

    /// Returns a place that every document has, if the store has only one document.
    fn in_only_document(&self, place: &ParsedPlace) -> Result<Located> {
        match self.session.reader.documents(&Lookup::All, None, 2)?.as_slice() {
            [stored] => self.one_in(&self.session.open(stored)?, std::slice::from_ref(place)),
            _ => {
                let message = "write the document before the place, as in `guide.md::*`; `mdsel toc --depth 0` lists \
                               the documents";
                Ok(Located::fault(AddressError::new(FaultCode::NamespaceRequired, message)))
            }
        }
    }

    /// Returns the warning that the document `own` takes precedence over sections with the name `name`.
    pub(in crate::query) fn hidden_sections(
        &self,
        name: &str,
        own: &StoredDocument,
    ) -> Result<Option<Warning>> {
        // A document may have the name as its title in the front matter, and no such section.
        let most = if SectionPath::new(name).is_one_part() { MAX_OPEN } else { usize::MAX };
        let others = self.documents_with(&Locator::SectionPath(name.to_owned()), most)?;
        for other in others.iter().filter(|other| other.id != own.id) {
            let other = self.session.open(other)?;
            let Some(node) = SectionPath::new(name).exact_hits(&other.tree).first().copied() else {
                continue;
            };
            // With a section of the document that has the name, too, a path alone does not mean the other one.
            let in_own = SectionPath::new(name).exact_hits(&self.session.open(own)?.tree);
            let address =
                if in_own.is_empty() { format!("/{name}") } else { other.address_of(node) };
            let path = &own.path;
            let message = format!(
                "{name} is read as the document {path}; a section also has that name: `{address}`"
            );
            return Ok(Some(Warning::new("SHADOWED_TITLE", message)));
        }
        Ok(None)
    }

    /// Returns the warning that a section path takes precedence over a node named by steps.
    fn hidden_steps(
        &self,
        interpretation: &Interpretation,
        others: &[Interpretation],
    ) -> Result<Option<Warning>> {
        let Interpretation::SectionPath(place) = interpretation else { return Ok(None) };
        if !place.steps.is_empty() {
            return Ok(None);
        }
        for other in others {
            let has_steps = match other {
                Interpretation::ExactPath { place, .. }
                | Interpretation::PathLine { place, .. }
                | Interpretation::PathAnchor { place, .. }
                | Interpretation::DocumentName { place, .. }
                | Interpretation::SectionPath(place) => !place.steps.is_empty(),
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

    /// Returns the warning that a selector hides a section of any document by its title or slug path, or the name of a
    /// document.
    pub(super) fn shadowed(&self, text: &str) -> Result<Vec<Warning>> {
        // No title looks like `heading:h2[1]`, so the lookup is skipped.
        if text.is_empty() || text.contains(':') {
            return Ok(Vec::new());
        }
        let reader = self.session.reader;
        let mut warnings = Vec::new();
        let most = limits::MAX_TITLE_DOCUMENTS;
        if !reader.documents(&Lookup::Titles(&[text]), None, 1)?.is_empty()
            || text.contains('/') && self.exact_sections(text, most, 1)?.count > 0
        {
            warnings.push(locate::shadows(text));
        }
        if let NameMatch::One(stored) = document_name::by_name(self.session, text)? {
            let whole = namespace::whole(&stored.path);
            let message =
                format!("{text} is read as a selector; the document with that name is {whole}");
            warnings.push(Warning::new("SHADOWED_NAME", message));
        }
        Ok(warnings)
    }

    /// Returns the fault for a name that several documents have.
    pub(super) fn ambiguous_document(
        &self,
        name: &str,
        places: &[ParsedPlace],
        documents: &[StoredDocument],
    ) -> Result<AddressError> {
        let message =
            format!("{} documents are named {name}", documents.len(), name = quoted(&name));
        let fault = AddressError::new(FaultCode::Ambiguous, message).at(0);
        Ok(fault.among(self.candidates_among(documents, places)?, documents.len()))
    }

    /// Returns candidates: first the places of the documents that have one of `places`, then other documents. How many
    /// documents are opened does not depend on the store.
    pub(super) fn candidates_among(
        &self,
        documents: &[StoredDocument],
        places: &[ParsedPlace],
    ) -> Result<Vec<Candidate>> {
        let most = limits::MAX_CANDIDATES_SHOWN;
        let mut likely: Vec<StoredDocument> = Vec::new();
        for place in places.iter().filter(|_| documents.len() > most) {
            let with_place = self.documents_with(&place.locator, usize::MAX)?;
            let ids: HashSet<i64> = with_place.iter().map(|stored| stored.id).collect();
            likely.extend(documents.iter().filter(|stored| ids.contains(&stored.id)).cloned());
        }
        let mut seen = HashSet::new();
        likely.retain(|stored| seen.insert(stored.id));
        let rest = documents.iter().filter(|stored| !seen.contains(&stored.id)).take(most);
        let rest: Vec<StoredDocument> = rest.cloned().collect();
        likely.truncate(MAX_OPEN);
        let (mut found, mut others) = (Vec::new(), Vec::new());
        for chunk in likely.chunks(most).chain([&*rest]) {
            if found.len() < most {
                let candidates = self.candidates(chunk, places)?;
                let (places, wholes) = candidates.into_iter().partition::<Vec<_>, _>(has_place);
                found.extend(places);
                others.extend(wholes);
            }
        }
        found.extend(others);
        found.truncate(most);
        Ok(found)
    }

    /// Returns the first of `places` in each of the documents, or the whole document if it has none.
    fn candidates(
        &self,
        documents: &[StoredDocument],
        places: &[ParsedPlace],
    ) -> Result<Vec<Candidate>> {
        let session = self.session;
        let titles = session.reader.all_links(documents)?.into_iter().map(|links| links.title);
        let opened = session.open_together(documents.iter())?;
        let candidates = opened.into_iter().zip(titles).map(|(document, title)| {
            let located = places.iter().find_map(|place| locate(&document, place));
            let place = located.and_then(|located| located.places.into_iter().next());
            let place = place.unwrap_or_else(|| ResolvedNode::whole(Rc::clone(&document)));
            let mut candidate = place.candidate();
            // A document gets the title that the store has for it.
            if place.target == Target::Document {
                candidate.title = title.or(candidate.title);
            }
            let lines = places.iter().find_map(|place| match place.locator {
                Locator::Lines(lines) => Some(lines),
                _ => None,
            });
            if let Some(lines) = lines.filter(|_| place.resolved == Some(ResolvedAs::Lines)) {
                candidate.selector = lines_address(&document.stored.path, lines.start, lines.end);
            }
            candidate
        });
        Ok(candidates.collect())
    }
}
