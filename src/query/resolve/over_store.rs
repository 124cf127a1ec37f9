//! Resolves names without a document. Sections, anchors and LDMD sections must be unique in the store; a
//! selector applies to every document.
//!
//! Invariant: a name that several documents have is an ambiguity that covers all of them.

use std::rc::Rc;

use super::locate::{self, locate};
use super::located::{ByTitle, Located, RANGE_PAST_END};
use super::section_path::{SectionPath, Tier};
use super::steps;
use super::{NodeRange, Resolution, ResolvedSections, Resolver, Rest};
use crate::address::{AddressError, Candidate, FaultCode, Locator, Params, ParsedPlace};
use crate::error::{Result, Warning};
use crate::limits;
use crate::message::message;
use crate::percent::percent_decode;
use crate::query::open_document::OpenDocument;
use crate::query::resolved_node::{ResolvedNode, Target};
use crate::query::session::MAX_OPEN;
use crate::store::{Lookup, StoredDocument};

impl Resolver<'_> {
    /// Finds a section of any document by its exact slug path or title.
    pub(super) fn section_path(&self, place: &ParsedPlace) -> Result<Option<Located>> {
        let Locator::SectionPath(text) = &place.locator else { return Ok(None) };
        let hits = self.exact_sections(text, usize::MAX, limits::MAX_CANDIDATES_SHOWN)?;
        Ok((hits.count > 0).then(|| continued(hits, text, place, false, false)))
    }

    /// Returns all nodes that the section path of `place` names, after following its steps.
    pub(super) fn section_places(&self, place: &ParsedPlace) -> Result<Vec<ResolvedNode>> {
        let Locator::SectionPath(text) = &place.locator else { return Ok(Vec::new()) };
        let mut places = Vec::new();
        for (document, node) in self.exact_sections(text, usize::MAX, usize::MAX)?.first {
            let base = ResolvedNode::new(document, Target::Node(node), place.params);
            if place.steps.is_empty() {
                places.push(base);
            } else {
                places.extend(steps::continued(&base, &place.steps, place.params).places);
            }
        }
        Ok(places)
    }

    /// Finds a section of any document by a part of its title or slug.
    pub(super) fn title_part(&self, place: &ParsedPlace) -> Result<Option<Located>> {
        let Locator::TitlePart(text) = &place.locator else { return Ok(None) };
        let most = limits::MAX_TITLE_DOCUMENTS;
        let documents = self.documents_with(&place.locator, most)?;
        let (path, kept) = (SectionPath::new(text), limits::MAX_CANDIDATES_SHOWN);
        let hits = self.sections_of(&documents, &path, &[Tier::Substring], kept)?;
        let is_cut = documents.len() >= most;
        Ok((hits.count > 0).then(|| continued(hits, text, place, true, is_cut)))
    }

    /// Returns the first `most` documents that have a place with the name in `locator`, and possibly others. Returns none
    /// for a locator that no index has, such as a line.
    pub(super) fn documents_with(
        &self,
        locator: &Locator,
        most: usize,
    ) -> Result<Vec<StoredDocument>> {
        let keys: Vec<String> = match locator {
            Locator::SectionPath(text) => SectionPath::new(text).exact_keys(),
            Locator::TitlePart(text) => SectionPath::new(text).parts_of_titles(),
            Locator::Anchor(name) | Locator::Ldmd(name) => {
                let decoded = percent_decode(name);
                // Anchors are numbered per document, path parts among siblings, so a number may be in only one
                // of them. `id@LINE` names the LDMD section with that id that begins at the line.
                let mark = if matches!(locator, Locator::Anchor(_)) { '-' } else { '@' };
                let unnumbered = decoded
                    .rsplit_once(mark)
                    .filter(|(_, number)| number.bytes().all(|byte| byte.is_ascii_digit()))
                    .map(|(name, _)| name.to_owned());
                [name.clone(), decoded].into_iter().chain(unnumbered).collect()
            }
            _ => return Ok(Vec::new()),
        };
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        if keys.iter().all(|key| key.is_empty()) {
            return Ok(Vec::new());
        }
        let which = match locator {
            Locator::TitlePart(_) => Lookup::TitleParts(&keys),
            Locator::Ldmd(_) => Lookup::LdmdSections(&keys),
            _ => Lookup::Titles(&keys),
        };
        self.session.reader.documents(&which, None, most)
    }

    /// Returns the sections that a section path names, in the first exact tier with a match, and keeps the first `kept`.
    /// Considers the first `most` documents that may contain one.
    pub(super) fn exact_sections(
        &self,
        text: &str,
        most: usize,
        kept: usize,
    ) -> Result<ResolvedSections> {
        let path = SectionPath::new(text);
        let documents = self.documents_with(&Locator::SectionPath(text.to_owned()), most)?;
        self.sections_of(&documents, &path, path.exact_tiers(), kept)
    }

    /// Returns the sections that `path` names in the first of `tiers` with a match, and keeps the first `kept`. Opens each
    /// of the documents once.
    fn sections_of(
        &self,
        documents: &[StoredDocument],
        path: &SectionPath,
        tiers: &[Tier],
        kept: usize,
    ) -> Result<ResolvedSections> {
        let (mut best, mut found) = (tiers.len(), ResolvedSections::default());
        self.each(documents, |document| {
            // Tiers after the best one so far cannot decide any more.
            let mut tried = tiers.iter().take(best + 1).enumerate();
            let hits = tried.find_map(|(tier, which)| {
                let nodes = path.hits(&document.tree, *which);
                (!nodes.is_empty()).then_some((tier, nodes))
            });
            if let Some((tier, nodes)) = hits {
                if tier < best {
                    (best, found) = (tier, ResolvedSections::default());
                }
                found.add(document, nodes, kept);
            }
        })?;
        Ok(found)
    }

    /// Calls `act` with each of `documents`, which are opened in batches.
    fn each(
        &self,
        documents: &[StoredDocument],
        mut act: impl FnMut(&Rc<OpenDocument>),
    ) -> Result<()> {
        for batch in documents.chunks(MAX_OPEN) {
            self.session.open_together(batch.iter())?.iter().for_each(&mut act);
        }
        Ok(())
    }

    /// Finds a section of any document by its GitHub anchor or its LDMD id, which must be unique.
    pub(super) fn named(&self, place: &ParsedPlace) -> Result<Option<Located>> {
        let documents = self.documents_with(&place.locator, usize::MAX)?;
        let (mut count, mut first) = (0, None);
        let mut candidates: Vec<Candidate> = Vec::new();
        self.each(&documents, |document| {
            let Some(located) = locate(document, place) else { return };
            count += 1;
            let room = limits::MAX_CANDIDATES_SHOWN.saturating_sub(candidates.len());
            candidates.extend(located.places.iter().take(room).map(ResolvedNode::candidate));
            first = first.take().or(Some(located));
        })?;
        if count < 2 {
            return Ok(first);
        }
        let message = format!("{count} documents have {}", place.locator);
        let fault = AddressError::new(FaultCode::Ambiguous, message);
        Ok(Some(Located::fault(fault.among(candidates, count))))
    }

    /// Resolves a selector without a document: in every document, in path order, or in those that are the `rest`.
    pub(super) fn selector_over_store(
        &self,
        address: &str,
        place: &ParsedPlace,
        text: &str,
        range: NodeRange,
        rest: Option<Rest>,
    ) -> Result<Resolution> {
        const DOCUMENTS_AT_ONCE: usize = 256;
        let is_rest = rest.is_some();
        let (mut after, mut resolved, warnings) = match rest {
            Some(Rest { after, skip, warnings }) => (after, skip, warnings),
            None => (None, 0, self.shadowed(text)?),
        };
        let mut resolution = Resolution { warnings, ..Resolution::default() };
        // The first fault; that of a document with too few of the places says more than that of one without any.
        let mut example: Option<Located> = None;
        let mut without = 0;
        loop {
            let documents =
                self.session.reader.documents(&Lookup::All, after.as_deref(), DOCUMENTS_AT_ONCE)?;
            for stored in &documents {
                let before = after.replace(stored.path.clone());
                let skip = std::mem::take(&mut resolved);
                let Some(located) = locate(&self.session.open(stored)?, place) else { continue };
                if let Some(fault) = &located.fault {
                    without += 1;
                    let is_near = fault.code == FaultCode::IndexOutOfRange;
                    let known = example.as_ref().and_then(|example| example.fault.as_ref());
                    if known.is_none_or(|known| is_near && known.code != fault.code) {
                        example = Some(located);
                    }
                    continue;
                }
                for warning in located.warnings {
                    // One warning of this kind is enough for all documents.
                    let is_known = |known: &Warning| {
                        *known == warning
                            || (known.code == RANGE_PAST_END && warning.code == RANGE_PAST_END)
                    };
                    if !resolution.warnings.iter().any(is_known) {
                        resolution.warnings.push(warning);
                    }
                }
                for (index, place) in located.places.into_iter().enumerate().skip(skip) {
                    if resolution.skipped < range.skip {
                        resolution.skipped += 1;
                    } else if resolution.places.len() < range.take {
                        resolution.places.push(place);
                    } else {
                        resolution.has_more = true;
                        let warnings = resolution.warnings.clone();
                        resolution.rest = Some(Rest { after: before, skip: index, warnings });
                        return Ok(resolution);
                    }
                }
            }
            if documents.len() < DOCUMENTS_AT_ONCE {
                break;
            }
        }
        if resolution.skipped + resolution.places.len() == 0 && !is_rest {
            let mut located = example.unwrap_or_else(|| {
                let message = "the store contains no documents";
                Located::fault(AddressError::new(FaultCode::SelectorNotFound, message))
            });
            if let Some(fault) = located.fault.as_mut().filter(|_| without > 1) {
                fault.message =
                    message!("no document has such a place; for example, {}", fault.message);
            }
            let located = located.in_address(address);
            resolution.fault = located.fault;
            resolution.partial = located.partial;
        }
        Ok(resolution)
    }
}

/// Returns the only section that `text` names, after following the steps of `place`, or an ambiguity
/// error.
fn continued(
    hits: ResolvedSections,
    text: &str,
    place: &ParsedPlace,
    is_part: bool,
    is_cut: bool,
) -> Located {
    if place.steps.is_empty() {
        let only = locate::only(hits, locate::several(text, is_part), place.params, is_cut);
        let by_title = Some(if is_part { ByTitle::Part } else { ByTitle::Whole });
        return Located { by_title, ..only };
    }
    let base = locate::only(hits, locate::several(text, is_part), Params::default(), is_cut);
    match base.places.as_slice() {
        [only] => steps::continued(only, &place.steps, place.params),
        _ => base,
    }
}
