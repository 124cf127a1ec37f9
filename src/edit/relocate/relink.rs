//! Rewrites links so that a moved or renamed target keeps them.
//!
//! The links are resolved before the edit and after it. Where the results differ, the target is rewritten in
//! its own style. Invariant: in the versions that are returned, every link leads where it led before, and only
//! targets of links differ.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;

use super::link_comparison::{LinkComparison, MovedPlaces};
use super::new_version::{NewVersion, RewrittenLink};
use super::occurrence::{Form, Occurrence, occurrences};
use super::unchanged_targets::unchanged_targets;
use crate::edit::plan::Version;
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::limits;
use crate::links::{Outgoing, StoredLink, link_keys};
use crate::markdown::Dialect;
use crate::markdown::typed_links::differ_in_targets_only;
use crate::position::ByteSpan;
use crate::query::Session;
use crate::query::links::EdgeFilter;
use crate::query::links::graph::Graph;
use crate::query::open_document::OpenDocument;
use crate::store::{Lookup, StoredDocument};

/// The number of documents whose links are read together.
const CHUNK: usize = 64;

/// Returns the documents of an edit with all documents whose links are rewritten, and a warning about HTML, which is
/// not. `versions` are those that the edit itself changes, and `moved` the places that are elsewhere then.
pub(super) fn relink(
    session: &Session<'_>,
    versions: Vec<NewVersion>,
    moved: &MovedPlaces,
) -> Result<(Vec<NewVersion>, Vec<Warning>)> {
    let before = Graph::new(session, EdgeFilter::default());
    let mut versions: BTreeMap<i64, NewVersion> =
        versions.into_iter().map(|version| (version.old.stored.id, version)).collect();
    let mut last = Vec::new();
    // Rewriting a link may rename a section, if the link is in its heading. Then the links to it follow in the next
    // round.
    for _ in 0..limits::MAX_LINK_ROUNDS {
        // The others are found as before.
        let renamed = versions.values().filter(|version| version.is_renamed);
        let changed = renamed.map(NewVersion::changed).collect();
        let after = Graph::new(session, EdgeFilter::default()).with(changed);
        let targets = LinkComparison {
            session,
            before: &before,
            after: &after,
            versions: &versions,
            moved,
            titles: RefCell::default(),
        };
        let mut round = Round { targets, edited: Vec::new(), failed: Vec::new() };
        let keys = round.keys()?;
        let mut rewritten = Vec::new();
        for sources in round.sources(&keys)?.chunks(CHUNK) {
            for (source, links) in sources.iter().zip(session.reader.all_links(sources)?) {
                rewritten.extend(round.rewritten(source, &links, &keys)?);
            }
        }
        let Round { targets, edited, failed } = round;
        if !failed.is_empty() {
            return Err(refused(failed));
        }
        if rewritten.is_empty() {
            let warnings = unchanged_targets(&targets)?;
            drop(after);
            return Ok((versions.into_values().collect(), warnings));
        }
        drop(after);
        for version in rewritten {
            versions.insert(version.old.stored.id, version);
        }
        if versions.len() > limits::MAX_EDITED_FILES {
            return Err(limits::exceeded(limits::row::MAX_EDITED_FILES));
        }
        last = edited;
    }
    Err(refused(last))
}

fn refused(mut failed: Vec<String>) -> Error {
    let mut known = HashSet::new();
    failed.retain(|link| known.insert(link.clone()));
    let shown: Vec<&str> = failed.iter().take(3).map(String::as_str).collect();
    let more = failed.len() - shown.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let message = format!("no new target keeps these links: {}{more}", shown.join(", "));
    Error::new(ErrorKind::EditRefused, message)
        .with_reason("LINKS")
        .with_hint("change these links first, or pass --no-links to leave all links as they are")
}

/// One round: the links as the versions so far resolve them, and what failed.
struct Round<'a> {
    targets: LinkComparison<'a>,
    /// The links that are rewritten.
    edited: Vec<String>,
    /// The links that no new target keeps.
    failed: Vec<String>,
}

impl Round<'_> {
    /// Returns the keys of the links that may lead to a document with other names, before or after the edit.
    fn keys(&self) -> Result<Vec<i64>> {
        let reader = self.targets.session.reader;
        let sites = &self.targets.session.link_roots;
        let mut keys = Vec::new();
        for version in self.targets.versions.values().filter(|version| version.is_renamed) {
            let old = &version.old.stored;
            keys.extend(reader.links(old)?.target_keys(&old.path, sites));
            keys.extend(version.links().target_keys(version.path(), sites));
        }
        keys.sort_unstable();
        keys.dedup();
        Ok(keys)
    }

    /// Returns the documents with such links, and those that are renamed themselves.
    fn sources(&self, keys: &[i64]) -> Result<Vec<StoredDocument>> {
        let mut sources = self.targets.session.reader.all(&Lookup::LinkKeys(keys))?;
        let renamed = self.targets.versions.values().filter(|version| version.is_renamed);
        sources.extend(renamed.map(|version| version.old.stored.clone()));
        sources.sort_by(|one, other| one.path.cmp(&other.path));
        sources.dedup_by_key(|source| source.id);
        Ok(sources)
    }

    /// Returns a document with its links rewritten; `None` if all lead where they led. `links` are those before the edit.
    fn rewritten(
        &mut self,
        source: &StoredDocument,
        links: &Outgoing,
        keys: &[i64],
    ) -> Result<Option<NewVersion>> {
        let unchanged;
        let known = match self.targets.versions.get(&source.id) {
            Some(version) => version,
            None => {
                if !links.links.iter().any(|link| may_lead_to(source, link, keys)) {
                    return Ok(None);
                }
                let old = self.targets.session.open(source)?;
                if !self.differs(&old, &links.links, keys)? {
                    return Ok(None);
                }
                let bytes = self.targets.session.content(&old, old.span())?;
                let version = Version::read_as(bytes, Dialect::of(&source.path));
                unchanged = NewVersion::unchanged(&old, links, version);
                &unchanged
            }
        };
        let new = known.document();
        let mut differing = Vec::new();
        for (before, after) in known.written.links.iter().zip(&known.links().links) {
            let old = known.origin(after.line);
            let may_differ = known.is_renamed || may_lead_to(source, before, keys);
            if may_differ && !self.targets.is_same(old, before, new, after)? {
                differing.push((Rc::clone(old), before));
            }
        }
        if differing.is_empty() {
            return Ok(None);
        }
        let mut edits: Vec<Retarget> = Vec::new();
        let mut edited = Vec::new();
        for (before, after) in known.written.occurrences.iter().zip(occurrences(&known.version)) {
            let old = known.origin(after.link.line);
            if self.targets.is_same(old, before, new, &after.link)? {
                continue;
            }
            let target = self.targets.target(old, before, new, &after.link)?;
            match target.and_then(|target| Some((after.splices(&target)?, target))) {
                Some((splices, to)) => {
                    edited.push(named(source, before));
                    edits.push(Retarget { occurrence: after, to, splices });
                }
                _ if self.targets.was_broken(old, before)? => {}
                _ => self.fail(source, before),
            }
        }
        if edits.is_empty() {
            let mut lost = differing.into_iter();
            if let Some((_, link)) = lost.find(|(old, link)| {
                self.targets.was_broken(old, link).is_ok_and(|was_broken| !was_broken)
            }) {
                self.fail(source, link);
            }
            return Ok(None);
        }
        let mut rewritten = known.rewritten.clone();
        let dialect = Dialect::of(&new.stored.path);
        let next = applied(&known.version, edits, &mut rewritten, dialect);
        let next = known.with_targets(next, rewritten);
        let [before, after] =
            [known, &next].map(|version| version.version.document().front_matter.as_ref());
        if next.links().links.len() != known.links().links.len()
            || !differ_in_targets_only(before, after)
        {
            self.failed.extend(edited);
            return Ok(None);
        }
        self.edited.extend(edited);
        Ok(Some(next))
    }

    /// Returns whether a link of a document that the edit itself does not change leads elsewhere now.
    fn differs(
        &self,
        document: &Rc<OpenDocument>,
        links: &[StoredLink],
        keys: &[i64],
    ) -> Result<bool> {
        for link in links {
            if may_lead_to(&document.stored, link, keys)
                && !self.targets.is_same(document, link, document, link)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn fail(&mut self, source: &StoredDocument, link: &StoredLink) {
        self.failed.push(named(source, link));
    }
}

/// Returns the link as errors name it.
fn named(source: &StoredDocument, link: &StoredLink) -> String {
    format!("{}:{} to {}", source.path, link.line, link.target)
}

/// Returns whether a link of `source` has one of the `keys`.
fn may_lead_to(source: &StoredDocument, link: &StoredLink, keys: &[i64]) -> bool {
    link_keys(&source.path, link).iter().any(|key| keys.binary_search(key).is_ok())
}

/// A link with its new target, and what is written for it.
struct Retarget {
    occurrence: Occurrence,
    to: StoredLink,
    splices: Vec<(ByteSpan, String)>,
}

impl Retarget {
    /// Returns the change of the link in the file as users see it.
    fn rewritten(&self, file: &[u8]) -> RewrittenLink {
        let Self { occurrence, to, splices } = self;
        let old = &occurrence.link;
        let (from, to) = match (occurrence.form, splices.as_slice()) {
            (Form::Scalar(..), _) => (old.target.clone(), to.target.clone()),
            (_, [(span, written)]) => {
                (String::from_utf8_lossy(span.of(file)).into_owned(), written.clone())
            }
            _ => (old.shown_target().into_owned(), to.shown_target().into_owned()),
        };
        RewrittenLink { line: old.line, from, to }
    }
}

/// Returns `version` with these targets, and adds what was rewritten to `rewritten`.
fn applied(
    version: &Version,
    mut edits: Vec<Retarget>,
    rewritten: &mut Vec<RewrittenLink>,
    dialect: Dialect,
) -> Version {
    let start = |edit: &Retarget| edit.splices.first().map_or(0, |(span, _)| span.start);
    edits.sort_by_key(start);
    let file = version.bytes();
    rewritten.extend(edits.iter().map(|edit| edit.rewritten(file)));
    let mut splices: Vec<_> = edits.into_iter().flat_map(|edit| edit.splices).collect();
    splices.sort_by_key(|(span, _)| span.start);
    let mut bytes = Vec::with_capacity(file.len() + 64);
    let mut end = 0;
    for (span, written) in splices {
        if span.start < end {
            continue;
        }
        bytes.extend_from_slice(file.get(end..span.start).unwrap_or_default());
        bytes.extend_from_slice(written.as_bytes());
        end = span.end;
    }
    bytes.extend_from_slice(file.get(end..).unwrap_or_default());
    Version::read_as(bytes, dialect)
}
