//! From a request to a splice that is known to be safe.
//!
//! Invariant: no splice leaves here that was not read again and compared, but for one that changes
//! nothing and one that replaces all.

use std::collections::HashMap;

use super::check::{Expected, check};
use super::draft::{Draft, Drafter};
use super::fragment::converted;
use super::slot::Slot;
use super::text::{dominant_line_end, slice, with_line_ends};
use super::version::Version;
use super::{Allow, Refusal, Reparented, Request, Scope, Splice, Target, apply};
use crate::ldmd::{self, Markup};
use crate::markdown::outline::Outline;
use crate::markdown::{self, BYTE_ORDER_MARK, Document};
use crate::position::ByteSpan;

/// Computes the splice that does what `request` asks with `target` in `file`, whose outline is
/// `outline` and whose LDMD markers are `markup`.
///
/// Reads the new file once, or twice where blank lines have to be added; linear in file and content.
pub fn plan(
    file: &[u8],
    outline: &Outline,
    markup: &Markup,
    target: Target,
    request: Request<'_>,
    allow: Allow,
) -> Result<Splice, Refusal> {
    let floor = if file.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    let given = match request {
        Request::Replace { content, .. } | Request::Insert { content, .. } => content,
        Request::Delete { .. } => b"",
    };
    let line_end = dominant_line_end(file).or_else(|| dominant_line_end(given)).unwrap_or(b"\n");
    // Deleting is asked for by name, and so are sections without the one above them.
    let allow = Allow {
        drop: allow.drop || matches!(request, Request::Delete { .. }),
        escape: allow.escape || matches!(request, Request::Delete { scope: Scope::Own }),
        duplicate: allow.duplicate || !matches!(request, Request::Insert { .. }),
    };
    let old = Version { file, outline, markup, floor };
    let drafter = Drafter { old, line_end };
    let planner = Planner { old, line_end, allow, target };
    let draft = match request {
        Request::Replace { content, .. } if target == Target::Document => {
            return planner.replace_document(converted(content, line_end));
        }
        Request::Replace { content, scope, keep_heading } => {
            drafter.replace(target, content, scope, keep_heading)?
        }
        Request::Insert { content, position, relevel } => {
            drafter.insert(target, content, position, relevel)?
        }
        Request::Delete { scope } => drafter.delete(target, scope)?,
    };
    planner.finish(&draft)
}

struct Planner<'a> {
    old: Version<'a>,
    line_end: &'static [u8],
    allow: Allow,
    target: Target,
}

impl Planner<'_> {
    /// Fills the slot, with more blank lines where the text is read differently without.
    fn finish(&self, draft: &Draft) -> Result<Splice, Refusal> {
        if self.is_same(draft.core, &draft.fragment.bytes) {
            return Ok(Splice {
                removed: draft.removed,
                stripped_heading: draft.stripped_heading,
                ..self.noop(draft.core)
            });
        }
        self.refuse_content(draft)?;
        let mut slot = Slot::new(self.old.file, self.old.floor, draft.core, self.line_end);
        if draft.is_close {
            slot = slot.close();
        }
        if !self.allow.duplicate {
            self.refuse_duplicate(draft, &slot)?;
        }
        let sparse = slot.fill(&draft.fragment.bytes, false);
        let spaced = slot.fill(&draft.fragment.bytes, true);
        let is_other = sparse != spaced;
        let checked = self.checked(draft, sparse);
        match checked {
            Err(Refusal::ChangesOutside { .. }) if is_other => self.checked(draft, spaced),
            _ => checked,
        }
    }

    /// Whether `content` is what stands at `span`, line ends apart.
    fn is_same(&self, span: ByteSpan, content: &[u8]) -> bool {
        with_line_ends(slice(self.old.file, span), self.line_end) == content
    }

    fn noop(&self, span: ByteSpan) -> Splice {
        Splice {
            at: span,
            bytes: slice(self.old.file, span).to_vec(),
            removed: span,
            inserted: span,
            is_noop: true,
            ..Splice::default()
        }
    }

    /// Refuses content that cannot stand at the place whatever is around it.
    fn refuse_content(&self, draft: &Draft) -> Result<(), Refusal> {
        if draft.fragment.is_open {
            return Err(Refusal::OpenBlock);
        }
        if self.allow.escape {
            return Ok(());
        }
        for heading in &draft.fragment.headings {
            let (level, is_leading) = (heading.level, heading.span.start == 0);
            match draft.sibling_level.filter(|_| is_leading) {
                Some(wanted) if level == wanted => {}
                Some(wanted) if level > wanted => {
                    return Err(Refusal::WrongLevel { level, wanted });
                }
                _ if level > draft.limit => {}
                _ => return Err(Refusal::WouldEscape { title: heading.title.clone(), level }),
            }
        }
        Ok(())
    }

    /// Refuses a section where an equal one ends right before the place or begins right behind it.
    fn refuse_duplicate(&self, draft: &Draft, slot: &Slot<'_>) -> Result<(), Refusal> {
        let outline = self.old.outline;
        let length = draft.fragment.bytes.len();
        let (left, right) = slot.neighbours();
        let sections =
            || outline.sections.iter().filter_map(|section| outline.nodes.get(section.node));
        for start in [left.checked_sub(length), Some(right)].into_iter().flatten() {
            let end = start + length;
            if self.old.file.get(start..end) == Some(&draft.fragment.bytes[..])
                && let Some(first) = sections().find(|node| node.bytes.start == start)
                && sections().any(|node| self.old.text_end(node.bytes) == end)
            {
                return Err(Refusal::Duplicate { line: first.lines.start });
            }
        }
        Ok(())
    }

    /// The splice, if the file that it makes is read as it should be.
    fn checked(&self, draft: &Draft, splice: Splice) -> Result<Splice, Refusal> {
        let file = apply(self.old.file, &splice);
        if let Some(reason) = markdown::refusal(&file) {
            return Err(Refusal::NotMarkdown(reason));
        }
        let Document { outline, opaque, .. } = markdown::parse(&file);
        let markup = ldmd::parse(&file, &opaque);
        let new = Version { file: &file, outline: &outline, markup: &markup, ..self.old };
        let headings = draft.fragment.headings.iter();
        let expected = Expected {
            headings: headings
                .map(|heading| (heading.level, splice.inserted.start + heading.span.start))
                .collect(),
            depth: draft.depth,
            front_matter: !draft.drops_front_matter,
            may_reparent: self.allow.escape,
            // Which heading they stand below is an accident to those who edit by them.
            may_move_markers: matches!(self.target, Target::Ldmd(_)),
        };
        let moved = check(self.old, new, &splice, &expected)?;
        let removed_sections = self.removed_sections(new, &splice)?;
        let reparented = moved
            .into_iter()
            .map(|(from, to)| Reparented { from: self.old.path(from), to: new.path(to) })
            .collect();
        Ok(Splice {
            removed: draft.removed,
            stripped_heading: draft.stripped_heading,
            removed_sections,
            reparented,
            ..splice
        })
    }

    /// The sections that the splice takes out and whose titles it does not bring back.
    fn removed_sections(&self, new: Version<'_>, splice: &Splice) -> Result<Vec<String>, Refusal> {
        let after = ByteSpan::new(splice.at.start, splice.at.start + splice.bytes.len());
        let mut balance = 0;
        let mut titles: HashMap<&str, usize> = HashMap::new();
        for section in new.sections_in(after) {
            *titles.entry(&section.title).or_default() += 1;
            balance += 1;
        }
        let mut removed = Vec::new();
        for section in self.old.sections_in(splice.at) {
            balance -= 1;
            match titles.get_mut(section.title.as_str()).filter(|count| **count > 0) {
                Some(count) => *count -= 1,
                None => removed.push(self.old.path(section.node)),
            }
        }
        if balance < 0 && !self.allow.drop {
            return Err(Refusal::WouldDropSections { sections: removed });
        }
        Ok(removed)
    }

    /// All of the file but a byte order mark; its content is taken as it stands.
    fn replace_document(&self, content: Vec<u8>) -> Result<Splice, Refusal> {
        let at = ByteSpan::new(self.old.floor, self.old.file.len());
        if self.is_same(at, &content) {
            return Ok(self.noop(at));
        }
        let inserted = ByteSpan::new(at.start, at.start + content.len());
        let mut splice = Splice { at, bytes: content, removed: at, inserted, ..Splice::default() };
        let file = apply(self.old.file, &splice);
        if let Some(reason) = markdown::refusal(&file) {
            return Err(Refusal::NotMarkdown(reason));
        }
        let outline = markdown::parse(&file).outline;
        let new = Version { file: &file, outline: &outline, ..self.old };
        splice.removed_sections = self.removed_sections(new, &splice)?;
        Ok(splice)
    }
}
