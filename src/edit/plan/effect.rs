//! The effect of a splice on everything outside it: compares the versions before and after.
//!
//! Owns the definition of "unchanged outside the splice". Every heading, block and item outside the splice
//! keeps its type, its start, its end and its depth in containers. Every item keeps its list, every section its
//! title, every link its target, and every reference its footnote. Front matter and LDMD markers stay. What
//! remains of a block that the splice cuts is a block of the same type. Invariant: each difference is reported as
//! the refusal whose flag allows it, and nothing is compared twice.

use std::collections::{HashMap, HashSet};

use super::draft::FrontMatterEdit;
use super::footnotes::{footnote_references, footnotes};
use super::labels::label_at;
use super::refusal::{FrontMatterProblem, OutsideChange, Refusal};
use super::text::{first_line, lines};
use super::version::{Landmark, List, Version, is_in};
use super::{Renumbered, Splice};
use crate::ldmd::{MarkerProblem, is_marker_line};
use crate::markdown::links::LinkKind;
use crate::markdown::outline::{NodeKind, Section};
use crate::position::{ByteSpan, LineIndex, trim_line_end};

/// What the new version must contain if the splice does what was asked.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a property of the edit")]
pub(super) struct Expected {
    /// Level and byte offset in the new file of each heading of the content.
    pub(super) headings: Vec<(u8, usize)>,
    /// Whether the splice may begin and end within blocks, and the content may have any headings.
    pub(super) is_exact: bool,
    /// The least number of containers that must contain each part of the content.
    pub(super) depth: usize,
    /// Whether the content may become part of the list, item or block quote around the place.
    pub(super) is_contained: bool,
    /// The span of the place, if it is a list or gets the content as its first or last part. The content may extend
    /// the lists that begin there.
    pub(super) lists: Option<ByteSpan>,
    /// What happens to the front matter.
    pub(super) front_matter: FrontMatterEdit,
    /// Whether the content is front matter.
    pub(super) is_front_matter: bool,
    /// Whether LDMD markers may belong to other sections than before.
    pub(super) may_move_markers: bool,
}

/// Maps offsets outside a splice from the old file to the new file.
#[derive(Clone, Copy, Debug)]
pub struct Shift {
    /// The removed bytes, in the old file.
    at: ByteSpan,
    /// The inserted bytes, in the new file.
    after: ByteSpan,
}

impl Shift {
    /// Returns the shift by `splice`.
    pub fn of(splice: &Splice) -> Self {
        let at = splice.at;
        Self { at, after: ByteSpan::new(at.start, at.start + splice.bytes.len()) }
    }

    /// The new offset of a byte after the splice; `None` for an offset before the end of the removed bytes.
    fn shifted(self, offset: usize) -> Option<usize> {
        offset.checked_sub(self.at.end).map(|rest| self.after.end + rest)
    }

    /// The new offset of something that began at `offset`; `None` if it was removed.
    pub fn start(self, offset: usize) -> Option<usize> {
        if offset < self.at.start { Some(offset) } else { self.shifted(offset) }
    }

    /// The new end of something that ended at `offset`; `None` if it was removed.
    pub fn end(self, offset: usize) -> Option<usize> {
        if offset <= self.at.start { Some(offset) } else { self.shifted(offset) }
    }
}

/// A link outside the splice whose target changes: its offset and its target in the old file.
#[derive(Debug)]
pub(super) struct LostLink {
    pub(super) offset: usize,
    pub(super) target: String,
}

/// The effect of a splice outside it.
#[derive(Debug, Default)]
pub(super) struct Effect {
    /// The differences; differences of the structure come first.
    pub(super) refusals: Vec<Refusal>,
    /// The nodes, before and after, of the sections that have another parent than before.
    pub(super) reparented: Vec<(usize, usize)>,
    /// The sections whose number changes.
    pub(super) renumbered: Vec<Renumbered>,
    /// The links that lose their target.
    pub(super) lost_links: Vec<LostLink>,
    /// Whether blocks are parsed differently, which a blank line may prevent.
    pub(super) is_read_differently: bool,
    /// The start, in the old file, of the list that the content extends and whose items become paragraphs because of
    /// a blank line.
    pub(super) loosened: Option<usize>,
}

/// Compares the versions before and after `splice`.
pub(super) fn compare(
    old: &Version,
    new: &Version,
    splice: &Splice,
    expected: &Expected,
) -> Effect {
    let shift = Shift::of(splice);
    let mut comparison = EffectComparison { old, new, shift, expected, effect: Effect::default() };
    comparison.front_matter(splice);
    if comparison.structure() {
        comparison.markers();
    } else {
        comparison.effect.is_read_differently = true;
    }
    comparison.links();
    comparison.effect
}

struct EffectComparison<'a> {
    old: &'a Version,
    new: &'a Version,
    shift: Shift,
    expected: &'a Expected,
    effect: Effect,
}

impl EffectComparison<'_> {
    fn front_matter(&mut self, splice: &Splice) {
        let before = self.old.front_matter_end();
        let now = self.new.front_matter_end();
        let wanted = match self.expected.front_matter {
            FrontMatterEdit::Kept => before.and_then(|end| self.shift.end(end)),
            FrontMatterEdit::Made => Some(splice.inserted.end),
            FrontMatterEdit::Deleted => None,
        };
        let is_unreadable = self.expected.is_front_matter
            && now.is_some()
            && self.new.document().front_matter.is_none();
        if now == wanted && !is_unreadable {
            return;
        }
        let problem = match (self.expected.is_front_matter, now) {
            (true, Some(_)) if is_unreadable => FrontMatterProblem::NotKeys,
            (true, None) => unread(self.new.bytes().get(self.new.floor()..).unwrap_or_default()),
            (true, Some(_)) => FrontMatterProblem::ClosedEarly,
            (false, Some(_)) => FrontMatterProblem::Appears,
            (false, None) => FrontMatterProblem::Lost,
        };
        self.effect.refusals.push(Refusal::FrontMatter(problem));
    }

    /// The line of the old file at which the splice begins.
    fn line(&self) -> usize {
        let lines = LineIndex::new(self.old.bytes());
        lines.line_of(self.shift.at.start).min(lines.count())
    }

    fn changes(&mut self, line: usize, change: OutsideChange) {
        self.effect.refusals.push(Refusal::ChangesOutside { line, change });
    }

    /// Compares headings, blocks and items. Returns whether they are parsed as expected.
    fn structure(&mut self) -> bool {
        let after = self.shift.after;
        let is_added = |landmark: &Landmark| {
            is_in(after, landmark.start) || self.begins_after_deletion(landmark)
        };
        let (added, kept): (Vec<_>, Vec<_>) = self.new.landmarks().into_iter().partition(is_added);
        let headings = added.iter().filter(|landmark| landmark.is_section());
        let headings = headings.map(|landmark| (landmark.what.1, landmark.start));
        let is_as_read =
            self.expected.is_exact || headings.eq(self.expected.headings.iter().copied());
        let is_inside = added.iter().all(|landmark| landmark.depth >= self.expected.depth);
        if !is_as_read || !is_inside {
            self.changes(self.line(), OutsideChange::Content);
            return false;
        }
        if added.iter().any(|landmark| self.is_absorbed(landmark)) {
            self.changes(self.line(), OutsideChange::Content);
        }
        // The list that the content begins, and the new start of each list outside the splice by its old one.
        let begun = added.iter().find_map(|landmark| landmark.list).map(|list| list.span.start);
        let mut lists = HashMap::new();
        let titles = self.new.sections_in(after).map(|section| section.title.as_str());
        let titles: HashSet<&str> =
            if self.expected.is_exact { titles.collect() } else { HashSet::new() };
        let mut kept = kept.into_iter().peekable();
        let (mut may_report_parent, mut may_report_list) = (true, true);
        for before in self.old.landmarks() {
            if is_in(self.shift.at, before.start) {
                let is_cut = before.end.is_some_and(|end| self.shift.at.end < end);
                if self.expected.is_exact && is_cut && !self.continues(&before, &added) {
                    self.changes(self.old.line(before.node), OutsideChange::Block);
                    return false;
                }
                continue;
            }
            // The rest of a block may have another end than its removed end.
            let (at, end) = (self.shift.at, before.end);
            let is_end_removed =
                self.expected.is_exact && end.is_some_and(|end| at.start < end && end <= at.end);
            let before = Landmark { end: end.filter(|_| !is_end_removed), ..before };
            let now =
                kept.next_if(|now| stays(&before, now, self.shift) || self.grows(&before, now));
            let Some(now) = now else {
                // Lines before the first line of a block begin it.
                let is_after = before.start >= self.shift.at.end;
                let is_extended = self.is_insertion() && is_after && !before.is_section();
                if is_extended && self.continues(&before, &added) {
                    continue;
                }
                self.changes(self.old.line(before.node), OutsideChange::Block);
                return false;
            };
            let stays = self.stays_in_list(&before, &now, begun, &mut lists);
            if !stays && std::mem::take(&mut may_report_list) {
                self.changes(self.old.line(before.node), OutsideChange::Block);
            }
            self.section(&before, &now);
            let is_below = stays_below(&before, &now, self.shift)
                && (!self.expected.is_exact || self.has_same_owner(&before, &now, &titles));
            if is_below || self.is_movable_marker(&before) {
                continue;
            }
            if std::mem::take(&mut may_report_parent) {
                let line = self.old.line(before.node);
                self.effect.refusals.push(Refusal::WouldReparent { line });
            }
            if before.is_section() {
                self.effect.reparented.push((before.node, now.node));
            }
        }
        if kept.next().is_some() {
            self.changes(self.line(), OutsideChange::Content);
            return false;
        }
        true
    }

    /// Whether the landmark is the rest of a block whose beginning is deleted.
    fn begins_after_deletion(&self, landmark: &Landmark) -> bool {
        let (at, after) = (self.shift.at, self.shift.after);
        self.expected.is_exact
            && after.is_empty()
            && landmark.start == after.start
            && !self.old.outline().nodes.iter().any(|node| node.bytes.start == at.end)
    }

    /// Whether the splice inserts lines next to named ones.
    fn is_insertion(&self) -> bool {
        self.expected.is_exact && self.shift.at.is_empty()
    }

    /// Whether the end of a block is now the end of one of the same type that begins in the content.
    fn continues(&self, before: &Landmark, added: &[Landmark]) -> bool {
        let end = before.end.and_then(|end| self.shift.end(end));
        // An item begins at its marker, so it never begins in other lines.
        let is_block = before.is_section() || before.what.0.is_some();
        is_block
            && added.iter().any(|now| {
                let is_same_type =
                    now.what == before.what || (now.is_section() && before.is_section());
                is_same_type && now.depth == before.depth && now.end == end
            })
    }

    /// Whether lines that are inserted after a block become its last lines.
    fn grows(&self, before: &Landmark, now: &Landmark) -> bool {
        let (at, after) = (self.shift.at, self.shift.after);
        let ends_before = before.end.is_some_and(|end| end <= at.start);
        let ends_inside = now.end.is_some_and(|end| after.start < end && end <= after.end);
        self.is_insertion()
            && !before.is_section()
            && ends_before
            && ends_inside
            && stays(&Landmark { end: None, ..*before }, now, self.shift)
    }

    /// Whether the section that contains a landmark, if its heading is in the splice, is the one that replaced it: that
    /// with the same title, if the content, whose sections have the `titles`, has one.
    fn has_same_owner(&self, before: &Landmark, now: &Landmark, titles: &HashSet<&str>) -> bool {
        let Some(owner) = before.owner.filter(|owner| is_in(self.shift.at, *owner)) else {
            return true;
        };
        let title = title_at(self.old, owner);
        now.owner.is_some_and(|owner| {
            let is_new = is_in(self.shift.after, owner);
            let is_named = title == title_at(self.new, owner);
            is_new && (is_named || title.is_none_or(|title| !titles.contains(title)))
        })
    }

    /// Whether content that is not for a container becomes part of a list, item or block quote around it.
    fn is_absorbed(&self, added: &Landmark) -> bool {
        let is_outside = |start: usize| !is_in(self.shift.after, start);
        let joins = |list: List| {
            let lists = self
                .expected
                .lists
                .and_then(|lists| Some(self.shift.start(lists.start)?..self.shift.end(lists.end)?));
            let is_named = lists.is_some_and(|lists| lists.contains(&list.span.start));
            is_outside(list.span.start) && !is_named
        };
        !self.expected.is_contained
            && (added.container.is_some_and(is_outside) || added.list.is_some_and(joins))
    }

    /// Whether an item outside the splice has the same list as before, and the other items of that list have it, too.
    /// The list around the place may begin elsewhere. If its first item is replaced, it is the list that the content
    /// begins at `begun`. If its first item is deleted, it may get the number of the next one. Otherwise a list keeps its
    /// number. The items of another list are not made paragraphs.
    fn stays_in_list(
        &mut self,
        before: &Landmark,
        now: &Landmark,
        begun: Option<usize>,
        lists: &mut HashMap<usize, usize>,
    ) -> bool {
        let Some((list, now)) = before.list.zip(now.list) else { return true };
        let (span, new_start) = (list.span, now.span.start);
        if *lists.entry(span.start).or_insert(new_start) != new_start {
            return false;
        }
        let at = self.shift.at.start;
        let is_around = self.expected.is_contained && span.start <= at && at <= span.end;
        if !is_around && list.is_loose != now.is_loose {
            self.effect.loosened.get_or_insert(span.start);
            return false;
        }
        match self.shift.start(span.start) {
            Some(_) if is_around => list.number == now.number,
            Some(moved) => (moved == new_start || self.is_named(span)) && list.number == now.number,
            None => !is_around || begun.is_none_or(|begun| begun == new_start),
        }
    }

    /// Whether the content may extend the list.
    fn is_named(&self, list: ByteSpan) -> bool {
        self.expected.lists.is_some_and(|lists| is_in(lists, list.start))
    }

    /// Whether the landmark is an LDMD marker that may get another parent. An edit by marker does not depend on
    /// the heading above the marker.
    fn is_movable_marker(&self, landmark: &Landmark) -> bool {
        let text = self.old.bytes().get(landmark.start..).unwrap_or_default();
        self.expected.may_move_markers && is_marker_line(first_line(text))
    }

    /// Compares the title, the anchor and the path number of a section outside the splice.
    fn section(&mut self, before: &Landmark, now: &Landmark) {
        let pair = section_of(self.old, before.node).zip(section_of(self.new, now.node));
        let Some((old, new)) = pair else {
            self.contained_anchor(before, now);
            return;
        };
        if old.title != new.title {
            let change = OutsideChange::Title { from: old.title.clone(), to: new.title.clone() };
            self.effect
                .refusals
                .push(Refusal::ChangesOutside { line: self.old.line(before.node), change });
            return;
        }
        self.effect.renumbered.extend(renumbered(self.old, before.node, self.new, now.node));
    }

    fn contained_anchor(&mut self, before: &Landmark, now: &Landmark) {
        let anchor = |version: &Version, node: usize| {
            let anchors = &version.outline().contained_anchors;
            let at = anchors.binary_search_by_key(&node, |anchor| anchor.node).ok()?;
            anchors.get(at).map(|anchor| anchor.anchor.clone())
        };
        let pair = anchor(self.old, before.node).zip(anchor(self.new, now.node));
        if let Some((from, to)) = pair.filter(|(from, to)| from != to) {
            let (from, to) = (format!("#{from}"), format!("#{to}"));
            self.effect.renumbered.push(Renumbered { title: String::new(), from, to });
        }
    }

    fn markers(&mut self) {
        let shift = self.shift;
        let before = self.old.markers().filter(|&marker| !is_in(shift.at, marker));
        let now = self.new.markers().filter(|&marker| !is_in(shift.after, marker)).map(Some);
        let is_moved = !before.map(|marker| shift.start(marker)).eq(now);
        let [old, new] = [&self.old, &self.new].map(|version| &version.markup().faults);
        if is_moved || new.len() > old.len() {
            let is_new = |fault: &&MarkerProblem| {
                !old.iter().any(|one| (one.kind, &one.message) == (fault.kind, &fault.message))
            };
            let fault =
                new.iter().find(is_new).filter(|fault| !is_moved && !fault.kind.is_unmatched());
            let refusal = match fault {
                Some(fault) => Refusal::FaultyMarker(fault.clone()),
                None => Refusal::BreaksMarkup { line: self.line() },
            };
            self.effect.refusals.push(refusal);
        }
    }

    /// Compares the links and the references to footnotes outside the splice. Those in which it begins are part of the
    /// place.
    fn links(&mut self) {
        let shift = self.shift;
        let across = [&self.old, &self.new].map(|version| version.links_across(shift.at.start));
        let is_part = |span: ByteSpan, offset: usize| {
            is_in(span, offset) || across.iter().any(|across| across.contains(&offset))
        };
        let mut changes = self.footnotes();
        let mut now: HashMap<(usize, LinkKind), &str> = self
            .new
            .all_links()
            .filter(|(offset, ..)| !is_part(shift.after, *offset))
            .map(|(offset, kind, target)| ((offset, kind), target))
            .collect();
        for (offset, kind, target) in self.old.all_links() {
            let Some(moved) = shift.start(offset).filter(|_| !is_part(shift.at, offset)) else {
                continue;
            };
            let found = now.remove(&(moved, kind));
            if found == Some(target) {
                continue;
            }
            let to = found.map(str::to_owned);
            changes.push((offset, OutsideChange::Link { from: target.to_owned(), to }));
            self.effect.lost_links.push(LostLink { offset, target: target.to_owned() });
        }
        // A new link is reported at the line that its text had in the old file.
        changes.extend(now.into_iter().map(|((offset, _), target)| {
            let before = offset.checked_sub(shift.after.end).map(|rest| shift.at.end + rest);
            (before.unwrap_or(offset), OutsideChange::NewLink { to: target.to_owned() })
        }));
        if changes.is_empty() {
            return;
        }
        changes.sort_by_key(|(offset, _)| *offset);
        let index = LineIndex::new(self.old.bytes());
        for (offset, change) in changes {
            self.changes(index.line_of(offset), change);
        }
    }

    /// The references to footnotes outside the splice whose footnote changes, with their offsets in the old file. A
    /// footnote in the place may get another text there.
    fn footnotes(&self) -> Vec<(usize, OutsideChange)> {
        let shift = self.shift;
        let (before, now) = (footnotes(self.old), footnotes(self.new));
        if before.is_empty() && now.is_empty() {
            return Vec::new();
        }
        let is_same = |before: ByteSpan, now: ByteSpan| {
            let is_replaced = is_in(shift.at, before.start) && is_in(shift.after, now.start);
            is_replaced
                || shift.start(before.start) == Some(now.start)
                || before.of(self.old.bytes()) == now.of(self.new.bytes())
        };
        let references = footnote_references(self.old, ByteSpan::new(0, self.old.bytes().len()));
        let is_part = |span: &ByteSpan| {
            let at = shift.at.start;
            is_in(shift.at, span.start) || span.start < at && at < span.end
        };
        let outside = references.into_iter().filter(|span| !is_part(span));
        let change = |span: ByteSpan| {
            let label = label_at(self.old.bytes(), span);
            let is_new = match (before.get(&label), now.get(&label)) {
                (None, None) => return None,
                (Some(before), Some(now)) if is_same(*before, *now) => return None,
                (before, _) => before.is_none(),
            };
            let label = String::from_utf8_lossy(span.of(self.old.bytes())).into_owned();
            Some((span.start, OutsideChange::Footnote { label, is_new }))
        };
        outside.filter_map(change).collect()
    }
}

/// How the anchor and the path of the section `before` of `old` differ from those of the section `now` of `new`.
pub fn renumbered(old: &Version, before: usize, new: &Version, now: usize) -> Vec<Renumbered> {
    let Some((one, other)) = section_of(old, before).zip(section_of(new, now)) else {
        return Vec::new();
    };
    let title = &one.title;
    let anchors = one.anchor().zip(other.anchor()).filter(|(from, to)| from != to);
    let anchors = anchors.map(|(from, to)| (format!("#{from}"), format!("#{to}")));
    let paths = (one.path_number != other.path_number).then(|| (old.path(before), new.path(now)));
    let changes = anchors.into_iter().chain(paths);
    changes.map(|(from, to)| Renumbered { title: title.clone(), from, to }).collect()
}

fn section_of(version: &Version, node: usize) -> Option<&Section> {
    match version.outline().nodes.get(node)?.kind {
        NodeKind::Section(section) => version.outline().sections.get(section),
        _ => None,
    }
}

/// The title of the section that begins at `start`.
fn title_at(version: &Version, start: usize) -> Option<&str> {
    let outline = version.outline();
    let begins = |section: &Section| outline.nodes.get(section.node).map(|node| node.bytes.start);
    let at = outline.sections.binary_search_by_key(&Some(start), begins).ok()?;
    outline.sections.get(at).map(|section| section.title.as_str())
}

/// Why `text`, at the beginning of a file, is not parsed as front matter.
fn unread(text: &[u8]) -> FrontMatterProblem {
    let opening = lines(text).next().map(trim_line_end).unwrap_or_default();
    let is_closing = |line: &[u8]| {
        let line = line.trim_ascii_end();
        line == opening.trim_ascii_end() || (opening.starts_with(b"---") && line == b"...")
    };
    if lines(text).skip(1).any(is_closing) {
        FrontMatterProblem::NotKeys
    } else {
        FrontMatterProblem::NotClosed
    }
}

/// Whether a landmark has the same type, depth, start and end as before.
fn stays(before: &Landmark, now: &Landmark, shift: Shift) -> bool {
    now.what == before.what
        && now.depth == before.depth
        && Some(now.start) == shift.start(before.start)
        && before.end.and_then(|end| shift.end(end)).is_none_or(|end| now.end == Some(end))
}

/// Whether a landmark belongs to the same section as before, or to one that replaced it.
fn stays_below(before: &Landmark, now: &Landmark, shift: Shift) -> bool {
    match before.owner {
        // Blocks may belong to any section after theirs was removed; a section needs a replaced parent.
        Some(owner) if is_in(shift.at, owner) => {
            !before.is_section() || now.owner.is_some_and(|owner| is_in(shift.after, owner))
        }
        owner => now.owner == owner.and_then(|owner| shift.start(owner)),
    }
}
