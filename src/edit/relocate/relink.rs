//! Rewrites links so that a moved or renamed target keeps them.
//!
//! The links are resolved before the edit and after it. Where the results differ, the target is rewritten in
//! its own style. Invariant: in the versions that are returned, every link leads where it led before, and only
//! targets of links differ.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use super::occurrence::{Occurrence, occurrences};
use crate::edit::plan::Version;
use crate::error::{Error, ErrorKind, Result};
use crate::limits;
use crate::links::rewrite::{NewTarget, candidates, rebased};
use crate::links::{
    Kind, Outgoing, Reason, StoredLink, folder_of, is_named, link_keys, split_extension,
};
use crate::markdown::Dialect;
use crate::markdown::slug::fold;
use crate::position::LineSpan;
use crate::query::DocumentCache;
use crate::query::library::OpenDocument;
use crate::query::links::EdgeFilter;
use crate::query::links::broken::{Changed, names};
use crate::query::links::graph::{Destination, Graph, block_id};
use crate::query::place::{ResolvedNode, Target};
use crate::store::{Lookup, StoredDocument};

/// A link whose target is rewritten.
#[derive(Clone, Debug, PartialEq, Eq, schemars::JsonSchema, serde::Serialize)]
pub struct RewrittenLink {
    /// The line of the link, 1-based.
    pub line: usize,
    /// The target as it was written.
    pub from: String,
    /// The target as it is written now.
    pub to: String,
}

/// A place: the id of its document, and its part of the document.
pub(super) type PlaceKey = (i64, Target);

/// Where the places are that the edit moves; `None` for a place that it removes. Others stay where they are.
pub(super) type MovedPlaces = HashMap<PlaceKey, Option<PlaceKey>>;

/// Lines that come from another document.
#[derive(Clone)]
pub(super) struct MovedLines {
    /// The lines, 1-based.
    pub(super) lines: LineSpan,
    /// The document from which they come.
    pub(super) document: Rc<OpenDocument>,
}

/// A document before and after the edit.
pub(super) struct NewVersion {
    pub(super) old: Rc<OpenDocument>,
    /// The document after the edit, with the id of the old one.
    new: Rc<OpenDocument>,
    pub(super) version: Version,
    links: Outgoing,
    /// Whether the path or a name of the document or of a place in it is another.
    is_renamed: bool,
    pub(super) rewritten: Vec<RewrittenLink>,
    /// The links and their occurrences before any target was rewritten.
    written: Rc<Written>,
    /// The lines that the edit moves here from another document.
    moved: Option<MovedLines>,
}

/// The links of a version and their occurrences, with the targets that they had before the edit.
struct Written {
    links: Vec<StoredLink>,
    occurrences: Vec<StoredLink>,
}

impl NewVersion {
    /// Returns the document `old`, whose bytes are `bytes`, as it is at `path` in `version`.
    pub(super) fn new(
        library: &DocumentCache<'_>,
        old: &Rc<OpenDocument>,
        path: &str,
        version: Version,
    ) -> Result<Self> {
        let stored = StoredDocument { path: path.to_owned(), ..old.stored.clone() };
        let (outline, markup) = (version.outline().clone(), version.markup().clone());
        let new = Rc::new(OpenDocument::new(stored, outline, markup));
        let links = Outgoing::of(version.document(), version.markup());
        let bytes = library.content(old, old.span())?;
        let before = names(old, &library.reader.links(&old.stored)?, &bytes);
        let is_renamed = path != old.stored.path || before != names(&new, &links, version.bytes());
        let (old, rewritten) = (Rc::clone(old), Vec::new());
        let occurrences = occurrences(&version).into_iter().map(|occurrence| occurrence.link);
        let occurrences = occurrences.collect();
        let written = Rc::new(Written { links: links.links.clone(), occurrences });
        Ok(Self { old, new, version, links, is_renamed, rewritten, written, moved: None })
    }

    /// Returns the version with lines that come from another document or leave for it.
    pub(super) fn with_moved(self, moved: Option<MovedLines>) -> Self {
        Self { is_renamed: true, moved, ..self }
    }

    /// Returns the version with other targets, of which `rewritten` are all.
    fn with_targets(
        &self,
        library: &DocumentCache<'_>,
        version: Version,
        rewritten: Vec<RewrittenLink>,
    ) -> Result<Self> {
        let next = Self::new(library, &self.old, &self.new.stored.path, version)?;
        let (written, moved) = (Rc::clone(&self.written), self.moved.clone());
        let is_renamed = next.is_renamed || moved.is_some() || self.is_renamed;
        Ok(Self { is_renamed, rewritten, written, moved, ..next })
    }

    /// Returns the document in which a link at `line` was before the edit.
    fn origin(&self, line: usize) -> &Rc<OpenDocument> {
        let moved = self.moved.as_ref();
        let moved = moved.filter(|moved| (moved.lines.start..=moved.lines.end).contains(&line));
        moved.map_or(&self.old, |moved| &moved.document)
    }

    /// The path after the edit.
    pub(super) fn path(&self) -> &str {
        &self.new.stored.path
    }

    /// The document after the edit.
    pub(super) fn document(&self) -> &Rc<OpenDocument> {
        &self.new
    }

    /// Returns the number of links of the document after the edit.
    pub(super) fn count_of_links(&self) -> usize {
        self.links.links.len()
    }

    fn is_moved(&self) -> bool {
        self.path() != self.old.stored.path
    }

    fn changed(&self) -> Changed<'_> {
        Changed {
            document: Rc::clone(&self.new),
            links: &self.links,
            bytes: self.version.bytes(),
            left: self.is_moved().then(|| self.old.stored.path.clone()),
        }
    }
}

/// Rewriting a link may rename a section, if the link is in its heading. Then the links to it follow in the next
/// round.
const ROUNDS: usize = 5;

/// Returns the documents of an edit with all documents whose links are rewritten. `versions` are those that
/// the edit itself changes, and `moved` the places that are elsewhere then.
pub(super) fn relink(
    library: &DocumentCache<'_>,
    versions: Vec<NewVersion>,
    moved: &MovedPlaces,
) -> Result<Vec<NewVersion>> {
    let before = Graph::new(library, EdgeFilter::default());
    let mut versions: BTreeMap<i64, NewVersion> =
        versions.into_iter().map(|version| (version.old.stored.id, version)).collect();
    for _ in 0..ROUNDS {
        // The others are found as before.
        let renamed = versions.values().filter(|version| version.is_renamed);
        let changed = renamed.map(NewVersion::changed).collect();
        let after = Graph::new(library, EdgeFilter::default()).with(changed);
        let mut round = Round {
            library,
            before: &before,
            after: &after,
            versions: &versions,
            moved,
            failed: Vec::new(),
        };
        let keys = round.keys()?;
        let mut rewritten = Vec::new();
        for source in round.sources(&keys)? {
            rewritten.extend(round.rewritten(&source, &keys)?);
        }
        let failed = std::mem::take(&mut round.failed);
        drop(after);
        if !failed.is_empty() {
            return Err(refused(&failed));
        }
        if rewritten.is_empty() {
            return Ok(versions.into_values().collect());
        }
        for version in rewritten {
            versions.insert(version.old.stored.id, version);
        }
        if versions.len() > limits::MAX_EDITED_FILES {
            return Err(limits::exceeded("edited-files"));
        }
    }
    Err(refused(&["the links in headings".to_owned()]))
}

fn refused(failed: &[String]) -> Error {
    let shown: Vec<&str> = failed.iter().take(3).map(String::as_str).collect();
    let more = failed.len() - shown.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let message = format!("no new target keeps these links: {}{more}", shown.join(", "));
    Error::new(ErrorKind::EditRefused, message)
        .with_reason("LINKS")
        .with_hint("change these links first, or pass --no-links to leave all links as they are")
}

/// The document of a link before and after the edit.
struct LinkDocument<'a> {
    old: &'a Rc<OpenDocument>,
    new: &'a Rc<OpenDocument>,
}

/// One round: the links as the versions so far resolve them.
struct Round<'a> {
    library: &'a DocumentCache<'a>,
    before: &'a Graph<'a>,
    after: &'a Graph<'a>,
    versions: &'a BTreeMap<i64, NewVersion>,
    moved: &'a MovedPlaces,
    /// The links that no new target keeps.
    failed: Vec<String>,
}

impl Round<'_> {
    /// Returns the keys of the links that may lead to a document with other names, before or after the edit.
    fn keys(&self) -> Result<Vec<i64>> {
        let reader = self.library.reader;
        let sites = &self.library.link_roots;
        let mut keys = Vec::new();
        for version in self.versions.values().filter(|version| version.is_renamed) {
            let old = &version.old.stored;
            keys.extend(reader.links(old)?.target_keys(&old.path, sites));
            keys.extend(version.links.target_keys(version.path(), sites));
        }
        keys.sort_unstable();
        keys.dedup();
        Ok(keys)
    }

    /// Returns the documents with such links, and those that are renamed themselves.
    fn sources(&self, keys: &[i64]) -> Result<Vec<StoredDocument>> {
        let mut sources = self.library.reader.all(&Lookup::LinkKeys(keys))?;
        let renamed = self.versions.values().filter(|version| version.is_renamed);
        sources.extend(renamed.map(|version| version.old.stored.clone()));
        sources.sort_by(|one, other| one.path.cmp(&other.path));
        sources.dedup_by_key(|source| source.id);
        Ok(sources)
    }

    /// Returns a document with its links rewritten; `None` if all lead where they led.
    fn rewritten(&mut self, source: &StoredDocument, keys: &[i64]) -> Result<Option<NewVersion>> {
        let unchanged;
        let known = match self.versions.get(&source.id) {
            Some(version) => version,
            None => {
                let links = self.library.reader.links(source)?.links;
                if !links.iter().any(|link| may_lead_to(source, link, keys)) {
                    return Ok(None);
                }
                let old = self.library.open(source)?;
                if !self.differs(&old, &links, keys)? {
                    return Ok(None);
                }
                let bytes = self.library.content(&old, old.span())?;
                let version = Version::read_as(bytes, Dialect::of(&source.path));
                unchanged = NewVersion::new(self.library, &old, &source.path, version)?;
                &unchanged
            }
        };
        let new = &known.new;
        let mut differing = Vec::new();
        for (before, after) in known.written.links.iter().zip(&known.links.links) {
            let old = known.origin(after.line);
            let may_differ = known.is_renamed || may_lead_to(source, before, keys);
            if may_differ && !self.is_same(old, before, new, after)? {
                differing.push((Rc::clone(old), before));
            }
        }
        if differing.is_empty() {
            return Ok(None);
        }
        let mut edits: Vec<(Occurrence, String)> = Vec::new();
        for (before, after) in known.written.occurrences.iter().zip(occurrences(&known.version)) {
            let old = known.origin(after.link.line);
            if self.is_same(old, before, new, &after.link)? {
                continue;
            }
            match self.target(old, before, new, &after.link)? {
                Some(target) if after.span.is_some() => edits.push((after, target)),
                _ if self.was_broken(old, before)? => {}
                _ => self.fail(source, before),
            }
        }
        if edits.is_empty() {
            let mut lost = differing.into_iter();
            if let Some((_, link)) = lost
                .find(|(old, link)| self.was_broken(old, link).is_ok_and(|was_broken| !was_broken))
            {
                self.fail(source, link);
            }
            return Ok(None);
        }
        let mut rewritten = known.rewritten.clone();
        let dialect = Dialect::of(&new.stored.path);
        let next = applied(&known.version, edits, &mut rewritten, dialect);
        let next = known.with_targets(self.library, next, rewritten)?;
        if next.links.links.len() != known.links.links.len() {
            self.failed.push(format!("those in {}", source.path));
            return Ok(None);
        }
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
                && !self.is_same(document, link, document, link)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn fail(&mut self, source: &StoredDocument, link: &StoredLink) {
        self.failed.push(format!("{}:{} to {}", source.path, link.line, link.target));
    }

    fn was_broken(&self, old: &Rc<OpenDocument>, link: &StoredLink) -> Result<bool> {
        let before = self.before.follow(old, link)?;
        let is_anchor = matches!(before, Some(Destination::Broken(Reason::Anchor)));
        Ok(!is_anchor && matches!(before, Some(Destination::Broken(_)) | None))
    }

    /// Returns whether a link leads to the same target as before the edit.
    fn is_same(
        &self,
        old: &Rc<OpenDocument>,
        before: &StoredLink,
        new: &Rc<OpenDocument>,
        after: &StoredLink,
    ) -> Result<bool> {
        let (one, other) = (self.before.follow(old, before)?, self.after.follow(new, after)?);
        if !self.is_target(one.as_ref(), other.as_ref(), &before.target)? {
            return Ok(false);
        }
        let is_missing =
            matches!(one, Some(Destination::Broken(reason)) if reason != Reason::Anchor);
        if is_missing && after.target == before.target {
            // What is missing stays missing at the same path.
            let target = rebased(before, folder_of(&old.stored.path), folder_of(&new.stored.path));
            return Ok(target.is_none_or(|target| target == before.target));
        }
        // A link to a section that does not exist leads to its document all the same.
        match one {
            Some(Destination::Broken(Reason::Anchor)) => {
                let one = self.before.follow(old, &whole(before))?;
                let other = self.after.follow(new, &whole(after))?;
                self.is_target(one.as_ref(), other.as_ref(), "")
            }
            _ => Ok(true),
        }
    }

    /// Returns a new target for the link `after` of `new` that leads to where `before` led; `None` if none does.
    fn target(
        &self,
        old: &Rc<OpenDocument>,
        before: &StoredLink,
        new: &Rc<OpenDocument>,
        after: &StoredLink,
    ) -> Result<Option<String>> {
        let mut wanted = self.before.follow(old, before)?;
        let lacks_section = matches!(wanted, Some(Destination::Broken(Reason::Anchor)));
        if lacks_section {
            wanted = self.before.follow(old, &whole(before))?;
        }
        let (from, folder) = (folder_of(&old.stored.path), folder_of(&new.stored.path));
        let proposals = match &wanted {
            Some(Destination::Place(place)) => {
                self.proposals(place, &LinkDocument { old, new }, after, &before.target)?
            }
            _ => rebased(before, from, folder).into_iter().collect(),
        };
        for target in proposals {
            let link = StoredLink { target, ..after.clone() };
            let found = if lacks_section { whole(&link) } else { link.clone() };
            let found = self.after.follow(new, &found)?;
            let is_kept = match (&wanted, &found) {
                // What is on disk has the same path, and what is missing is missing there.
                (Some(Destination::Attachment { .. }), Some(Destination::Attachment { .. }))
                | (Some(Destination::Broken(_)), _) => true,
                _ => {
                    let target = if lacks_section { "" } else { before.target.as_str() };
                    self.is_target(wanted.as_ref(), found.as_ref(), target)?
                }
            };
            if is_kept && link.target != after.target {
                return Ok(Some(link.target));
            }
        }
        Ok(None)
    }

    /// Returns whether `other`, the target of a link after the edit, is `one`, its target before it, which was
    /// written as `target`. All links without a target are the same, except that one to a missing section is not
    /// one to a missing file.
    fn is_target(
        &self,
        one: Option<&Destination>,
        other: Option<&Destination>,
        target: &str,
    ) -> Result<bool> {
        Ok(match (one, other) {
            (Some(Destination::Place(one)), Some(Destination::Place(other))) => {
                self.now(one, target)? == Some((other.document.stored.id, other.target))
                    && self.is_same_block(one, other, target)?
            }
            (
                Some(Destination::Attachment { path: one, .. }),
                Some(Destination::Attachment { path: other, .. }),
            )
            | (Some(Destination::NotInStore(one)), Some(Destination::NotInStore(other))) => {
                one == other
            }
            (Some(Destination::Broken(one)), Some(Destination::Broken(other))) => {
                (*one == Reason::Anchor) == (*other == Reason::Anchor)
            }
            (None, None) => true,
            _ => false,
        })
    }

    /// Returns where a place is after the edit. A link that is written as `target` led to it.
    fn now(&self, place: &ResolvedNode, target: &str) -> Result<Option<PlaceKey>> {
        let id = place.document.stored.id;
        let named = match block_id(target) {
            // The target of a link to a block is the whole document, and the block is in a section of it.
            Some(block) if place.target == Target::Document => {
                let section = self.before.section_of_block(&place.document, block)?;
                section.map(|section| (id, Target::Node(section)))
            }
            _ => None,
        };
        let moved = named.and_then(|named| self.moved.get(&named)).copied().flatten();
        if let Some((other, _)) = moved.filter(|(other, _)| *other != id) {
            return Ok(Some((other, Target::Document)));
        }
        let key = (id, place.target);
        Ok(self.moved.get(&key).copied().unwrap_or(Some(key)))
    }

    /// Returns whether the block that a link written as `target` names is in the section in which it was. True for
    /// other links.
    fn is_same_block(
        &self,
        one: &ResolvedNode,
        other: &ResolvedNode,
        target: &str,
    ) -> Result<bool> {
        let Some(block) = block_id(target) else { return Ok(true) };
        let before = self.before.section_of_block(&one.document, block)?;
        let now = self.after.section_of_block(&other.document, block)?;
        let id = one.document.stored.id;
        let key = before.map(|section| (id, Target::Node(section)));
        let expected = key.map(|key| self.moved.get(&key).copied().unwrap_or(Some(key)));
        let found = now.map(|section| Some((other.document.stored.id, Target::Node(section))));
        Ok(expected == found)
    }

    fn proposals(
        &self,
        place: &ResolvedNode,
        source: &LinkDocument<'_>,
        link: &StoredLink,
        written: &str,
    ) -> Result<Vec<String>> {
        let reader = self.library.reader;
        let Some((id, target)) = self.now(place, written)? else { return Ok(Vec::new()) };
        let version = self.versions.get(&id);
        let document = version.map_or(&place.document, |version| &version.new);
        let outgoing = match version {
            Some(version) => version.links.clone(),
            None => reader.links(&document.stored)?,
        };
        let old = &place.document;
        let stored = &old.stored;
        let name = link.target.split('#').next().unwrap_or_default().trim();
        let is_path = is_named(&stored.path, split_extension(&fold(name)).0);
        let old_title = reader.links(&old.stored)?.title;
        let is_titled = !is_path && old_title.is_some_and(|title| fold(&title) == fold(name));
        let section = match target {
            Target::Node(node) => document.tree.section(node),
            _ => None,
        };
        let to = NewTarget {
            path: &document.stored.path,
            title: outgoing.title.as_deref(),
            is_titled,
            is_here: id == source.new.stored.id && stored.id != source.old.stored.id,
            section: section.map(|section| (section.title.as_str(), section.anchor())),
        };
        let folder = folder_of(&source.new.stored.path);
        Ok(candidates(link, folder, &to, &self.library.link_roots))
    }
}

/// Returns the link without the part that names a section.
fn whole(link: &StoredLink) -> StoredLink {
    let target = link.target.split('#').next().unwrap_or_default().to_owned();
    let kind = match &link.kind {
        Kind::Ldmd(_) => Kind::Ldmd(None),
        kind => kind.clone(),
    };
    StoredLink { kind, target, line: link.line }
}

/// Returns whether a link of `source` has one of the `keys`.
fn may_lead_to(source: &StoredDocument, link: &StoredLink, keys: &[i64]) -> bool {
    link_keys(&source.path, link).iter().any(|key| keys.binary_search(key).is_ok())
}

/// Returns `version` with these targets, and adds what was rewritten to `rewritten`.
fn applied(
    version: &Version,
    mut edits: Vec<(Occurrence, String)>,
    rewritten: &mut Vec<RewrittenLink>,
    dialect: Dialect,
) -> Version {
    edits.sort_by_key(|(occurrence, _)| occurrence.span.map_or(0, |span| span.start));
    let file = version.bytes();
    let mut bytes = Vec::with_capacity(file.len() + 64);
    let mut end = 0;
    for (occurrence, target) in edits {
        let Some(span) = occurrence.span.filter(|span| span.start >= end) else { continue };
        let written = occurrence.written(&target);
        let old = file.get(span.start..span.end).unwrap_or_default();
        bytes.extend_from_slice(file.get(end..span.start).unwrap_or_default());
        bytes.extend_from_slice(written.as_bytes());
        end = span.end;
        rewritten.push(RewrittenLink {
            line: occurrence.link.line,
            from: String::from_utf8_lossy(old).into_owned(),
            to: written,
        });
    }
    bytes.extend_from_slice(file.get(end..).unwrap_or_default());
    Version::read_as(bytes, dialect)
}
