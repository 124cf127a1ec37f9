//! Where links lead before an edit and after it.
//!
//! Invariant: two links lead to the same target if the second leads to where the edit put the target of the
//! first.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use super::new_version::NewVersion;
use crate::error::Result;
use crate::links::rewrite::{
    NewSection, NewTarget, candidates, is_path_of, rebased, reference_path, relative_path,
};
use crate::links::{
    Kind, Reason, StoredLink, folder_of, is_name_of, is_named, join, normalized, split_extension,
};
use crate::markdown::outline::Section;
use crate::markdown::slug::fold;
use crate::percent::percent_decode;
use crate::query::Session;
use crate::query::links::graph::{Destination, Graph, block_id};
use crate::query::open_document::OpenDocument;
use crate::query::resolved_node::{ResolvedNode, Target};
use crate::store::StoredDocument;

/// A place: the id of its document, and its part of the document.
pub(super) type TargetKey = (i64, Target);

/// Where the places are that the edit moves; `None` for a place that it removes. Others stay where they are.
pub(super) type MovedPlaces = HashMap<TargetKey, Option<TargetKey>>;

/// The document of a link before and after the edit.
struct LinkDocument<'a> {
    old: &'a Rc<OpenDocument>,
    new: &'a Rc<OpenDocument>,
}

/// The links as the versions so far resolve them.
pub(super) struct LinkComparison<'a> {
    pub(super) session: &'a Session<'a>,
    pub(super) before: &'a Graph<'a>,
    pub(super) after: &'a Graph<'a>,
    pub(super) versions: &'a BTreeMap<i64, NewVersion>,
    pub(super) moved: &'a MovedPlaces,
    /// The titles of documents before the edit, which several links lead to.
    pub(super) titles: RefCell<HashMap<i64, Option<String>>>,
}

impl LinkComparison<'_> {
    /// Returns whether a link led nowhere before the edit. One to a missing section leads to its document.
    pub(super) fn was_broken(&self, old: &Rc<OpenDocument>, link: &StoredLink) -> Result<bool> {
        let before = self.before.follow(old, link)?;
        let is_anchor = matches!(before, Some(Destination::Broken(Reason::Anchor)));
        Ok(!is_anchor && matches!(before, Some(Destination::Broken(_)) | None))
    }

    /// Returns whether a link leads to the same target as before the edit.
    pub(super) fn is_same(
        &self,
        old: &Rc<OpenDocument>,
        before: &StoredLink,
        new: &Rc<OpenDocument>,
        after: &StoredLink,
    ) -> Result<bool> {
        let (one, other) = (self.before.follow(old, before)?, self.after.follow(new, after)?);
        // The folders of collections are elsewhere on disk.
        let is_missing =
            |to| matches!(to, Some(&Destination::Broken(reason)) if reason != Reason::Anchor);
        if self.is_by_name(&new.stored.path, after, is_missing(other.as_ref()))
            && !self.is_by_name(&old.stored.path, before, is_missing(one.as_ref()))
        {
            return Ok(false);
        }
        // The section that a link lacked may be there now. Its document is compared below.
        let lacked = matches!(one, Some(Destination::Broken(Reason::Anchor)));
        let is_found = lacked && matches!(other, Some(Destination::Place(_)));
        if !is_found && !self.is_target(one.as_ref(), other.as_ref(), &before.target)? {
            return Ok(false);
        }
        if let (Some(Destination::Place(one)), Some(Destination::Place(other))) = (&one, &other)
            && differs_in_case(new, after, &other.document)
            && !differs_in_case(old, before, &one.document)
        {
            return Ok(false);
        }
        if let (Some(Destination::Place(one)), Some(Destination::Place(other))) = (&one, &other)
            && is_file_name(before, &one.document)
            && !is_file_name(after, &other.document)
            && !note_name(after).is_empty()
            && !self.is_id(before, &one.document)?
        {
            return Ok(false);
        }
        if is_missing(one.as_ref()) && after.target == before.target {
            // What is missing stays missing at the same path.
            let (from, to) = self.folders(&LinkDocument { old, new }, before, one.as_ref());
            let target = rebased(before, &from, &to);
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

    /// Returns whether a link of front matter names `document` by its id, which stays whatever its file is called.
    fn is_id(&self, link: &StoredLink, document: &OpenDocument) -> Result<bool> {
        Ok(link.kind.is_typed()
            && self.session.reader.links(&document.stored)?.id.as_deref() == Some(note_name(link)))
    }

    /// Returns whether the path of a link in the document at `source` leads into another collection by its name, and
    /// elsewhere on disk. A link to what is missing does not lead out of a collection by name.
    fn is_by_name(&self, source: &str, link: &StoredLink, is_missing: bool) -> bool {
        let roots = &self.session.roots;
        let Some(path) = relative_path(link).map(|(path, _)| percent_decode(path)) else {
            return false;
        };
        let joined = join(folder_of(source), &path);
        let there = joined.as_ref().map(|joined| roots.of(joined).0.name.as_str());
        there.is_some_and(|there| there != roots.of(source).0.name)
            && !(is_missing && there == Some(""))
            && roots.on_disk(source).is_some()
            && roots.across(source, &path).is_none()
    }

    /// Returns the folders of a link before and after the edit that are used to rebase its path to a file that is not
    /// a document, with [`rebased`]: on disk if the edit moves the link into another collection.
    fn folders(
        &self,
        source: &LinkDocument<'_>,
        link: &StoredLink,
        to: Option<&Destination>,
    ) -> (String, String) {
        let roots = &self.session.roots;
        let (from, folder) = (&source.old.stored.path, &source.new.stored.path);
        let is_missing = matches!(to, Some(Destination::Broken(_)));
        let is_by_name = self.is_by_name(from, link, is_missing);
        let on_disk = roots.apart_on_disk(from, folder).filter(|_| !is_by_name);
        let (from, folder) = on_disk.unwrap_or_else(|| (from.clone(), folder.clone()));
        (folder_of(&from).to_owned(), folder_of(&folder).to_owned())
    }

    /// Returns the link `after` of `new` with a new target that leads to where `before` led; `None` if none does.
    pub(super) fn target(
        &self,
        old: &Rc<OpenDocument>,
        before: &StoredLink,
        new: &Rc<OpenDocument>,
        after: &StoredLink,
    ) -> Result<Option<StoredLink>> {
        let mut wanted = self.before.follow(old, before)?;
        let lacks_section = matches!(wanted, Some(Destination::Broken(Reason::Anchor)));
        if lacks_section {
            wanted = self.before.follow(old, &whole(before))?;
        }
        let source = LinkDocument { old, new };
        let proposals = match &wanted {
            Some(Destination::Place(place)) => self.proposals(place, &source, before, after)?,
            _ => {
                let (from, folder) = self.folders(&source, before, wanted.as_ref());
                rebased(before, &from, &folder).into_iter().collect()
            }
        };
        let links = proposals.into_iter().map(|target| StoredLink { target, ..after.clone() });
        let mut links: Vec<StoredLink> = links.collect();
        if let (Kind::Ldmd(Some(_)), Some(Destination::Place(place))) = (&after.kind, &wanted)
            && let Some(anchor) = self.anchor_now(place, before)?
        {
            let kind = Kind::Ldmd(Some(anchor));
            let named = links.iter().map(|link| StoredLink { kind: kind.clone(), ..link.clone() });
            links.extend(named.collect::<Vec<_>>());
        }
        let mut first = None;
        for link in links {
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
            if !is_kept || link == *after {
                continue;
            }
            // A name that no other note had stays such a name.
            let is_unique = self.after.is_unique_name(new, &link)?;
            if is_unique || first.is_none() && !self.before.is_unique_name(old, before)? {
                return Ok(Some(link));
            }
            first.get_or_insert(link);
        }
        Ok(first)
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
    fn now(&self, place: &ResolvedNode, target: &str) -> Result<Option<TargetKey>> {
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

    /// Returns the anchor of a section after the edit. The link `before` led to it.
    fn anchor_now(&self, place: &ResolvedNode, before: &StoredLink) -> Result<Option<String>> {
        let Some((id, Target::Node(node))) = self.now(place, &before.target)? else {
            return Ok(None);
        };
        let version = self.versions.get(&id);
        let document = version.map_or(&place.document, |version| version.document());
        Ok(document.tree.section(node).and_then(Section::link_anchor))
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

    /// Returns the title that a document had before the edit.
    fn title_before(&self, stored: &StoredDocument) -> Result<Option<String>> {
        if let Some(title) = self.titles.borrow().get(&stored.id) {
            return Ok(title.clone());
        }
        let title = self.session.reader.links(stored)?.title;
        self.titles.borrow_mut().insert(stored.id, title.clone());
        Ok(title)
    }

    /// Returns the texts that a link to `place` could have, the nearest to how it was `written` first.
    fn proposals(
        &self,
        place: &ResolvedNode,
        source: &LinkDocument<'_>,
        before: &StoredLink,
        link: &StoredLink,
    ) -> Result<Vec<String>> {
        let Some((id, target)) = self.now(place, &before.target)? else { return Ok(Vec::new()) };
        let version = self.versions.get(&id);
        let document = version.map_or(&place.document, |version| version.document());
        let old = &place.document;
        let stored = &old.stored;
        let old_title = self.title_before(&old.stored)?;
        let is_of_path = |name: &str| is_named(&stored.path, split_extension(&fold(name)).0);
        let is_of_title =
            |name: &str| old_title.as_ref().is_some_and(|title| fold(title) == fold(name));
        let whole = link.target.trim();
        let is_name = matches!(link.kind, Kind::Wikilink | Kind::Embed | Kind::Typed(_));
        // A `.` in a fragment does not begin an extension.
        let folded = fold(whole);
        let extension = format!(".{}", fold(split_extension(&stored.path).1));
        let stem = folded.strip_suffix(&extension).unwrap_or(&folded);
        let is_whole =
            is_name && whole.contains('#') && (is_named(&stored.path, stem) || is_of_title(whole));
        let name =
            if is_whole { whole } else { whole.split('#').next().unwrap_or_default().trim() };
        let title = match version {
            Some(version) => version.links().title.clone(),
            None => old_title.clone(),
        };
        let is_titled = !is_of_path(name) && is_of_title(name);
        let section = match target {
            Target::Node(node) => document.tree.section(node),
            _ => None,
        };
        let (from, path) = (&source.new.stored.path, &document.stored.path);
        let is_by_name = self.is_by_name(&source.old.stored.path, before, false);
        let on_disk = self.session.roots.apart_on_disk(from, path).filter(|_| !is_by_name);
        let to = NewTarget {
            path,
            old_path: &stored.path,
            on_disk: on_disk.as_ref().map(|(from, path)| (folder_of(from), path.as_str())),
            title: title.as_deref(),
            is_titled,
            is_whole,
            is_here: id == source.new.stored.id && stored.id != source.old.stored.id,
            section: section.map(|section| NewSection {
                titles: {
                    let above = document.tree.sections_above(section.node);
                    above.into_iter().map(Section::title_shown).collect()
                },
                anchor: section.link_anchor(),
            }),
        };
        Ok(candidates(link, folder_of(from), &to, &self.session.link_roots))
    }
}

/// Returns whether a link of `source` that leads to the document `to` has a path that is that of the document in another
/// case. The link leads there in the store, but may not on disk.
fn differs_in_case(source: &OpenDocument, link: &StoredLink, to: &OpenDocument) -> bool {
    let Some(path) = reference_path(link).map(percent_decode) else { return false };
    let folder = if path.starts_with('/') { "" } else { folder_of(&source.stored.path) };
    let found = normalized(folder, &path);
    let is_page = fold(split_extension(&found).1).starts_with("htm");
    let found = if is_page { split_extension(&found).0 } else { &found };
    let path = &to.stored.path;
    !is_path_of(path, found) && is_path_of(&fold(path), &fold(found))
}

/// Returns the name of the note in the target of a link.
fn note_name(link: &StoredLink) -> &str {
    link.target.split('#').next().unwrap_or_default().trim()
}

/// Returns whether a wikilink or a link of front matter names `document` by its file name, which other readers of
/// wikilinks follow. It stays a file name, even if the title or an alias of the document is the same text.
fn is_file_name(link: &StoredLink, document: &OpenDocument) -> bool {
    let path = &document.stored.path;
    matches!(link.kind, Kind::Wikilink | Kind::Embed | Kind::Typed(_))
        && [note_name(link), link.target.trim()].into_iter().any(|name| is_name_of(path, name))
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
