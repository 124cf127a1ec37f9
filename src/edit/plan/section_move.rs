//! Moves a section to another place in its file, or into another file.
//!
//! The section is inserted at its new place, and then deleted at its old one, each with the checks of that edit.
//! Invariant: the moved text is the same bytes, except for shifted heading levels and for labels that mean
//! something else in the other file. All other text stays, and each place of the old versions is found again.

use std::collections::HashMap;

use super::carried::{Carried, carried};
use super::effect::renumbered;
use super::planner::plan_keeping;
use super::version::{Version, is_in};
use super::{
    Allow, ContentChange, EditScope, EditTarget, Plan, Position, Refusal, Renumbered, Splice, plan,
};
use crate::markdown::links::LinkKind;
use crate::position::{ByteSpan, LineIndex, LineSpan};

/// Where to move a section.
#[derive(Clone, Copy, Debug)]
pub struct SectionMove<'a> {
    /// The node of the section.
    pub section: usize,
    /// The other file; `None` if the section stays in its file.
    pub to: Option<&'a Version>,
    /// The place, in the other file if there is one.
    pub target: EditTarget,
    /// Where the section goes, relative to the place.
    pub position: Position,
    /// Whether the levels of its headings are shifted, so that the first heading fits the place.
    pub relevel: bool,
    /// Whether the files are in the same folder, so that equal relative targets mean the same.
    pub is_same_folder: bool,
    /// The consequences that the user has allowed.
    pub allow: Allow,
}

/// A file that the move changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MovedFile {
    /// The file in which the section was.
    Left,
    /// The other file.
    Entered,
}

/// Something by which a link can name a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MovedPlace {
    /// A node of the outline, by index.
    Node(usize),
    /// An LDMD section, by index.
    Ldmd(usize),
}

/// The files after a section was moved.
#[derive(Clone, Debug)]
pub struct MovedSection {
    /// The file in which the section was.
    pub left: Version,
    /// The other file, if there is one.
    pub entered: Option<Version>,
    /// The node of the section, in the file in which it is now.
    pub node: usize,
    /// The lines of the section and of what was copied with it, 1-based, in the file in which it is now.
    pub lines: LineSpan,
    /// Where the places are now. Places that do not exist any more are missing.
    pub places: HashMap<(MovedFile, MovedPlace), (MovedFile, MovedPlace)>,
    /// Labels of the definitions inside the section that stay because other text uses them, or because they would mean
    /// something else.
    pub kept_definitions: Vec<String>,
    /// Labels of the definitions and footnotes outside the section that were copied with it.
    pub copied_definitions: Vec<String>,
    /// Labels in the section that got another name, with that name.
    pub new_labels: Vec<(String, String)>,
    /// Sections outside the moved one whose number changes.
    pub renumbered: Vec<Renumbered>,
}

/// Why a section is not moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveRefusal {
    /// Whether the deletion at the old place is refused, and not the insertion at the new one.
    pub is_deletion: bool,
    /// The reason.
    pub refusal: Refusal,
}

impl SectionMove<'_> {
    /// Whether the place is another one within the section.
    fn is_into_itself(&self, file: &Version) -> bool {
        let span = |node: usize| file.outline().nodes.get(node).map(|node| node.bytes);
        match (self.target, span(self.section)) {
            (EditTarget::Node(node), Some(section)) if node != self.section => {
                span(node).is_some_and(|place| is_in(section, place.start))
            }
            _ => false,
        }
    }
}

impl From<Refusal> for MoveRefusal {
    fn from(refusal: Refusal) -> Self {
        Self { is_deletion: false, refusal }
    }
}

/// Moves a section of `from`.
pub fn move_section(from: &Version, request: SectionMove<'_>) -> Result<MovedSection, MoveRefusal> {
    let node = from.outline().nodes.get(request.section).ok_or(Refusal::NoSuchPlace)?;
    let section = node.bytes;
    let target = request.to.unwrap_or(from);
    if request.to.is_none() && request.is_into_itself(from) {
        return Err(Refusal::IntoItself.into());
    }
    if let Some(line) = from.cut_marker(section).filter(|_| !request.allow.change) {
        return Err(MoveRefusal { is_deletion: true, refusal: Refusal::BreaksMarkup { line } });
    }
    let carried = match request.to {
        Some(to) => carried(from, section, to, request.is_same_folder),
        None => Some(Carried { bytes: section.of(from.bytes()).to_vec(), ..Carried::default() }),
    };
    let Carried { bytes, copied_definitions, copied, left, left_labels, new_labels } =
        carried.ok_or(Refusal::ChangesSection)?;
    // In the same file, the section is there twice for a moment.
    let duplicate = request.allow.duplicate || request.to.is_none();
    let allow = Allow { duplicate, ..request.allow };
    let (position, relevel) = (request.position, request.relevel);
    let insertion = ContentChange::Insert { content: bytes, position, relevel };
    let inserted = plan(target, request.target, &insertion, allow)?;
    let base = if request.to.is_some() { from } else { &inserted.version };
    let start = match request.to {
        Some(_) => section.start,
        None => shifted(&inserted.splice, section.start),
    };
    let nodes = &base.outline().nodes;
    let sections = || base.outline().sections.iter().map(|section| section.node);
    let is_it = |node: usize| nodes.get(node).is_some_and(|node| node.bytes.start == start);
    let old = sections().find(|node| is_it(*node)).ok_or(Refusal::NoSuchPlace)?;
    let old_span = nodes.get(old).map_or(section, |node| node.bytes);
    if request.to.is_none() && is_in(old_span, inserted.splice.inserted.start) {
        return Err(Refusal::IntoItself.into());
    }
    let deletion = ContentChange::Delete { scope: EditScope::Subtree };
    let deleted = plan_keeping(base, EditTarget::Node(old), &deletion, request.allow, &left_labels)
        .map_err(|refusal| MoveRefusal { is_deletion: true, refusal })?;
    let (inserted, deleted) = (&inserted, &deleted);
    let (copied, left, labels) = (&copied, &left, &new_labels);
    let joining = Joining { from, target, section, copied, left, labels, base, inserted, deleted };
    let joined = joining.join(request.to.is_some())?;
    let kept_definitions = deleted.splice.effects.kept_definitions.clone();
    Ok(MovedSection { kept_definitions, copied_definitions, new_labels, ..joined })
}

/// The offset after `splice` of a byte that is not removed.
fn shifted(splice: &Splice, offset: usize) -> usize {
    if offset < splice.at.start {
        return offset;
    }
    offset - splice.at.len() + splice.bytes.len()
}

/// Joins an insertion and a deletion.
struct Joining<'a> {
    from: &'a Version,
    target: &'a Version,
    section: ByteSpan,
    /// The definitions that were copied after it.
    copied: &'a [ByteSpan],
    /// The definitions in it that stay.
    left: &'a [ByteSpan],
    /// The labels in it that have other names in the new place, old and new.
    labels: &'a [(String, String)],
    /// The file from which the section is deleted.
    base: &'a Version,
    inserted: &'a Plan,
    deleted: &'a Plan,
}

type Pairs = HashMap<MovedPlace, MovedPlace>;

impl Joining<'_> {
    fn join(self, is_other_file: bool) -> Result<MovedSection, Refusal> {
        let (splice, left) = (&self.inserted.splice, &self.deleted.version);
        // The section in the version after the insertion.
        let into = outside(self.target, splice, &self.inserted.version);
        let stays = |start| self.left.iter().any(|span| is_in(*span, start));
        let within = |start| is_in(self.section, start) && !stays(start);
        let carried =
            pairs(self.from, within, &self.inserted.version, |start| is_in(splice.inserted, start));
        if !self.has_same_sections(&carried) {
            return Err(Refusal::ChangesSection);
        }
        let deletion = &self.deleted.splice;
        let rest = outside(self.base, deletion, left);
        let mut places = HashMap::new();
        let (lines, now, entered) = if is_other_file {
            use MovedFile::{Entered, Left};
            places.extend(into.iter().map(|(old, new)| ((Entered, *old), (Entered, *new))));
            places.extend(carried.iter().map(|(old, new)| ((Left, *old), (Entered, *new))));
            places.extend(rest.iter().map(|(old, new)| ((Left, *old), (Left, *new))));
            let version = &self.inserted.version;
            (version.lines_of(splice.inserted), version, Some(version.clone()))
        } else {
            use MovedFile::Left;
            for (old, between) in into.iter().filter(|(old, _)| !self.is_moved(**old)) {
                places.extend(rest.get(between).map(|new| ((Left, *old), (Left, *new))));
            }
            for (old, between) in &carried {
                places.extend(rest.get(between).map(|new| ((Left, *old), (Left, *new))));
            }
            let start = shifted(deletion, splice.inserted.start);
            let inserted = ByteSpan::new(start, start + splice.inserted.len());
            (left.lines_of(inserted), left, None)
        };
        let file = if is_other_file { MovedFile::Entered } else { MovedFile::Left };
        let node = self.from.sections_in(self.section).next().and_then(|section| {
            match places.get(&(MovedFile::Left, MovedPlace::Node(section.node))) {
                Some((found, MovedPlace::Node(node))) if *found == file => Some(*node),
                _ => None,
            }
        });
        let node = node.ok_or(Refusal::ChangesSection)?;
        let carried = [&self.moved_text()[..], self.copied].concat();
        if !is_same_text(self.from, &carried, now, lines) {
            return Err(Refusal::ChangesSection);
        }
        let renumbered = self.renumbered(&places, left, entered.as_ref());
        Ok(MovedSection {
            left: left.clone(),
            entered,
            node,
            lines,
            places,
            kept_definitions: Vec::new(),
            copied_definitions: Vec::new(),
            new_labels: Vec::new(),
            renumbered,
        })
    }

    /// Whether the section has the same sections in its new place. A file of another dialect may have others: a
    /// comment of MDX is Markdown elsewhere.
    fn has_same_sections(&self, carried: &Pairs) -> bool {
        let new = &self.inserted.version;
        let mut after = new.sections_in(self.inserted.splice.inserted);
        let mut before = self.from.sections_in(self.section);
        before.all(|old| {
            let place = carried.get(&MovedPlace::Node(old.node)).copied();
            after.next().is_some_and(|new| {
                place == Some(MovedPlace::Node(new.node))
                    && (new.title == old.title || new.title == self.renamed(&old.title))
            })
        }) && after.next().is_none()
    }

    /// The parts of the section that are moved.
    fn moved_text(&self) -> Vec<ByteSpan> {
        let ends = self.left.iter().map(|span| span.start).chain([self.section.end]);
        let starts = std::iter::once(self.section.start).chain(self.left.iter().map(|s| s.end));
        starts.zip(ends).map(|(start, end)| ByteSpan::new(start, end)).collect()
    }

    /// The title with the new names of its footnotes.
    fn renamed(&self, title: &str) -> String {
        let renamed = title.split_inclusive(']').map(|part| {
            let label = part.rsplit_once('[').and_then(|(before, label)| {
                let label = label.strip_suffix(']').filter(|label| label.starts_with('^'))?;
                let (_, new) = self.labels.iter().find(|(old, _)| old == label)?;
                Some(format!("{before}[{new}]"))
            });
            label.unwrap_or_else(|| part.to_owned())
        });
        renamed.collect()
    }

    /// Whether a place of the old file is in the section.
    fn is_moved(&self, place: MovedPlace) -> bool {
        self.from.start_of(place).is_some_and(|start| is_in(self.section, start))
    }

    fn renumbered(
        &self,
        places: &HashMap<(MovedFile, MovedPlace), (MovedFile, MovedPlace)>,
        left: &Version,
        entered: Option<&Version>,
    ) -> Vec<Renumbered> {
        let mut all = Vec::new();
        for (file, old, new) in [
            (MovedFile::Left, self.from, left),
            (MovedFile::Entered, self.target, entered.unwrap_or(left)),
        ] {
            for section in &old.outline().sections {
                let place = MovedPlace::Node(section.node);
                let is_left = file == MovedFile::Left;
                if !(is_left && self.is_moved(place))
                    && let Some((_, MovedPlace::Node(node))) = places.get(&(file, place))
                {
                    all.extend(renumbered(old, section.node, new, *node));
                }
            }
        }
        all
    }
}

/// The places outside `splice`, before and after it.
fn outside(old: &Version, splice: &Splice, new: &Version) -> Pairs {
    let after = ByteSpan::new(splice.at.start, splice.at.start + splice.bytes.len());
    let mut pairs = pairs(old, |start| !is_in(splice.at, start), new, |start| !is_in(after, start));
    pairs.insert(MovedPlace::Node(0), MovedPlace::Node(0));
    pairs
}

/// Pairs the places of two versions that begin where the functions say, in document order. They were compared
/// before, and lists, which an edit may join, are left out.
fn pairs(
    old: &Version,
    is_old: impl Fn(usize) -> bool,
    new: &Version,
    is_new: impl Fn(usize) -> bool,
) -> Pairs {
    let landmarks = |version: &Version, is: &dyn Fn(usize) -> bool| -> Vec<MovedPlace> {
        let landmarks = version.landmarks().into_iter();
        let inside = landmarks.filter(|landmark| is(landmark.start));
        inside.map(|landmark| MovedPlace::Node(landmark.node)).collect()
    };
    let sections = |version: &Version, is: &dyn Fn(usize) -> bool| -> Vec<MovedPlace> {
        let places = (0..version.markup().sections.len()).map(MovedPlace::Ldmd);
        places.filter(|place| version.start_of(*place).is_some_and(is)).collect()
    };
    let nodes = landmarks(old, &is_old).into_iter().zip(landmarks(new, &is_new));
    let marked = sections(old, &is_old).into_iter().zip(sections(new, &is_new));
    nodes.chain(marked).collect()
}

/// Whether the links in `spans`, one after the other, are those at `lines` of `new`.
fn is_same_text(old: &Version, spans: &[ByteSpan], new: &Version, lines: LineSpan) -> bool {
    let index = LineIndex::new(new.bytes());
    let is_there = |offset: usize| (lines.start..=lines.end).contains(&index.line_of(offset));
    let before: Vec<_> =
        spans.iter().flat_map(|span| in_document_order(old.links_in(*span))).collect();
    before == in_document_order(new.all_links().filter(|(offset, ..)| is_there(*offset)))
}

/// The kinds and targets of links, in document order.
fn in_document_order<'a>(
    links: impl Iterator<Item = (usize, LinkKind, &'a str)>,
) -> Vec<(LinkKind, &'a str)> {
    let mut all: Vec<(usize, LinkKind, &str)> = links.collect();
    all.sort_by_key(|(offset, ..)| *offset);
    all.into_iter().map(|(_, kind, target)| (kind, target)).collect()
}

impl Version {
    fn lines_of(&self, span: ByteSpan) -> LineSpan {
        LineIndex::new(self.bytes()).lines(span)
    }

    /// The line of the first LDMD marker in `span` whose other marker is outside.
    fn cut_marker(&self, span: ByteSpan) -> Option<usize> {
        let sections = self.markup().sections.iter();
        let lines = sections.filter_map(|marked| {
            let [begins, ends] =
                [marked.span.start, marked.content.end].map(|marker| is_in(span, marker));
            match (begins, ends) {
                (true, false) => Some(marked.lines.start),
                (false, true) => Some(marked.lines.end),
                _ => None,
            }
        });
        lines.min()
    }

    /// The offset at which a place begins.
    fn start_of(&self, place: MovedPlace) -> Option<usize> {
        match place {
            MovedPlace::Node(node) => self.outline().nodes.get(node).map(|node| node.bytes.start),
            MovedPlace::Ldmd(section) => {
                self.markup().sections.get(section).map(|section| section.span.start)
            }
        }
    }
}
