//! The versions of a file before and after a splice, compared.
//!
//! Owns what "everything outside stays as it was" means: every heading, block and item outside the
//! splice is read again as the same thing, at the same place, as deep inside containers, ending
//! where it ended; so are the front matter and the markers of LDMD. Which section a thing belongs to
//! may change only where that is allowed.

use super::text::first_line;
use super::version::{Landmark, Version, is_in};
use super::{Refusal, Splice};
use crate::ldmd::is_marker_line;
use crate::position::{ByteSpan, LineIndex};

/// What the splice is expected to do.
#[derive(Debug)]
pub(super) struct Expected {
    /// Level and place, as an offset in the new file, of each heading of the content.
    pub(super) headings: Vec<(u8, usize)>,
    /// How deep inside containers everything in the content has to be.
    pub(super) depth: usize,
    /// Whether there is front matter afterwards.
    pub(super) front_matter: bool,
    /// Whether what is outside may come to belong to other sections.
    pub(super) may_reparent: bool,
    /// Whether the markers of LDMD may.
    pub(super) may_move_markers: bool,
}

/// Where a splice moves what is outside it.
#[derive(Clone, Copy)]
struct Shift {
    /// What goes, in the old file.
    at: ByteSpan,
    /// What comes, in the new file.
    after: ByteSpan,
}

impl Shift {
    fn behind(self, offset: usize) -> Option<usize> {
        offset.checked_sub(self.at.end).map(|rest| self.after.end + rest)
    }

    /// Where what began at `offset` begins now; `None` for what went.
    fn start(self, offset: usize) -> Option<usize> {
        if offset < self.at.start { Some(offset) } else { self.behind(offset) }
    }

    /// Where what ended at `offset` ends now; `None` for what went.
    fn end(self, offset: usize) -> Option<usize> {
        if offset <= self.at.start { Some(offset) } else { self.behind(offset) }
    }
}

/// Compares the versions before and after `splice`, and gives the nodes, before and after, of the
/// sections that stand below another one than before.
pub(super) fn check(
    old: Version<'_>,
    new: Version<'_>,
    splice: &Splice,
    expected: &Expected,
) -> Result<Vec<(usize, usize)>, Refusal> {
    let after = ByteSpan::new(splice.at.start, splice.at.start + splice.bytes.len());
    let shift = Shift { at: splice.at, after };
    let front_matter = old.front_matter_end().filter(|_| expected.front_matter);
    if new.front_matter_end() != front_matter.and_then(|end| shift.end(end)) {
        return Err(Refusal::FrontMatter);
    }
    let lines = LineIndex::new(old.file);
    let line = lines.line_of(splice.at.start).min(lines.count());
    let (added, kept): (Vec<_>, Vec<_>) =
        new.landmarks().into_iter().partition(|landmark| is_in(after, landmark.start));
    let headings = added.iter().filter(|landmark| landmark.is_section());
    let is_as_read = headings
        .map(|landmark| (landmark.what.1, landmark.start))
        .eq(expected.headings.iter().copied());
    let is_inside = added.iter().all(|landmark| landmark.depth >= expected.depth);
    if !is_as_read || !is_inside {
        return Err(Refusal::ChangesOutside { line });
    }
    let mut kept = kept.into_iter();
    let mut reparented = Vec::new();
    for before in old.landmarks() {
        if is_in(splice.at, before.start) {
            continue;
        }
        let now = kept.next().filter(|now| stays(&before, now, shift));
        let Some(now) = now else {
            return Err(Refusal::ChangesOutside { line: old.line(before.node) });
        };
        if stays_below(&before, &now, shift) {
            continue;
        }
        let text = old.file.get(before.start..).unwrap_or_default();
        let is_marker = expected.may_move_markers && is_marker_line(first_line(text));
        if !expected.may_reparent && !is_marker {
            return Err(Refusal::WouldReparent { line: old.line(before.node) });
        }
        if before.is_section() {
            reparented.push((before.node, now.node));
        }
    }
    if kept.next().is_some() {
        return Err(Refusal::ChangesOutside { line });
    }
    let markers_before = old.markers().filter(|&marker| !is_in(splice.at, marker));
    let markers_now = new.markers().filter(|&marker| !is_in(after, marker)).map(Some);
    if !markers_before.map(|marker| shift.start(marker)).eq(markers_now)
        || new.markup.faults.len() > old.markup.faults.len()
    {
        return Err(Refusal::BreaksMarkup { line });
    }
    Ok(reparented)
}

/// Whether a landmark is what it was, where it was.
fn stays(before: &Landmark, now: &Landmark, shift: Shift) -> bool {
    now.what == before.what
        && now.depth == before.depth
        && Some(now.start) == shift.start(before.start)
        && before.end.and_then(|end| shift.end(end)).is_none_or(|end| now.end == Some(end))
}

/// Whether a landmark belongs to the section it belonged to, or to one that took that one's place.
fn stays_below(before: &Landmark, now: &Landmark, shift: Shift) -> bool {
    match before.owner {
        // Text stays the text of something.
        Some(owner) if is_in(shift.at, owner) => {
            !before.is_section() || now.owner.is_some_and(|owner| is_in(shift.after, owner))
        }
        owner => now.owner == owner.and_then(|owner| shift.start(owner)),
    }
}
