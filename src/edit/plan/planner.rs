//! Computes a splice for a request and checks that it is safe.
//!
//! Invariant: the new file is parsed and compared before its splice is returned, except for a splice that
//! changes nothing and one that replaces the whole document.

use std::collections::HashMap;

use super::definitions::{Kept, to_keep};
use super::draft::{Draft, Drafter, FrontMatterEdit};
use super::effect::{Effect, Expected, compare};
use super::fragment::{Fragment, converted, limit_of};
use super::insertion_point::InsertionPoint;
use super::refusal::FrontMatterProblem;
use super::text::{dominant_line_end, trimmed, with_line_ends};
use super::version::Version;
use super::{
    Allow, ContentChange, EditScope, EditTarget, Plan, Refusal, Reparented, Splice, SpliceEffects,
    apply,
};
use crate::markdown;
use crate::markdown::front_matter::detect;
use crate::markdown::outline::{BlockType, Node, NodeKind};
use crate::position::{ByteSpan, trim_line_end};

/// Computes the splice for `change` at `target` in the version `old` of a file, and the version that it
/// produces.
///
/// Parses the new file once; once more for each way to keep definitions and to add blank lines that must be tried, of
/// which there are at most three. Takes time linear in the size of file and content, unless many LDMD sections
/// are removed.
pub fn plan(
    old: &Version,
    target: EditTarget,
    change: &ContentChange,
    allow: Allow,
) -> Result<Plan, Refusal> {
    plan_keeping(old, target, change, allow, &[])
}

/// Like [`plan()`], and keeps the definitions and footnotes with the labels `keeps`, too.
pub(super) fn plan_keeping(
    old: &Version,
    target: EditTarget,
    change: &ContentChange,
    allow: Allow,
    keeps: &[String],
) -> Result<Plan, Refusal> {
    let given = match change {
        ContentChange::Replace { content, .. } | ContentChange::Insert { content, .. } => {
            content.as_slice()
        }
        ContentChange::Delete { .. } => b"",
    };
    let line_end = dominant_line_end(old.bytes()).or_else(|| dominant_line_end(given));
    let line_end = line_end.unwrap_or(b"\n");
    if let ContentChange::Delete { scope: EditScope::Own } = change
        && let EditTarget::Ldmd(index) = target
        && !allow.drop
    {
        // The markers of a section belong to it and to those inside of it.
        let nested = old.markup().nested(index);
        let sections: Vec<_> = nested.map(|(_, nested)| format!("ldmd:{}", nested.id)).collect();
        if !sections.is_empty() {
            return Err(Refusal::WouldDrop { sections, is_itself: false });
        }
    }
    // A deletion names what it removes, and one with the scope `Own` names the section whose children move.
    let allow = Allow {
        drop: allow.drop || matches!(change, ContentChange::Delete { .. }),
        escape: allow.escape || matches!(change, ContentChange::Delete { scope: EditScope::Own }),
        duplicate: allow.duplicate || !matches!(change, ContentChange::Insert { .. }),
        ..allow
    };
    let drafter = Drafter { old, line_end };
    let planner = Planner { old, line_end, allow, target, keeps };
    let draft = match change {
        ContentChange::Replace { content, .. } if target == EditTarget::Document => {
            return planner.replace_document(converted(content, line_end));
        }
        ContentChange::Replace { content, scope, keep_heading } => {
            let draft = drafter.replace(target, content, *scope, *keep_heading)?;
            if !planner.is_same(draft.core, &draft.fragment.bytes) {
                planner.refuse_bare_code(content)?;
                planner.refuse_bare_rows(content, true)?;
            }
            draft
        }
        ContentChange::Insert { content, position, relevel } => {
            planner.refuse_bare_rows(content, false)?;
            drafter.insert(target, content, *position, *relevel)?
        }
        ContentChange::Delete { scope } => drafter.delete(target, *scope)?,
    };
    planner.finish(&draft)
}

pub(super) struct Planner<'a> {
    pub(super) old: &'a Version,
    pub(super) line_end: &'static [u8],
    pub(super) allow: Allow,
    pub(super) target: EditTarget,
    /// Labels of definitions and footnotes that stay even if no text outside needs them.
    pub(super) keeps: &'a [String],
}

impl Planner<'_> {
    /// Tries splices in turn: the content alone; with more blank lines if the text is parsed differently
    /// without them; without blank lines if they change the list that the content extends; with the definitions that
    /// must stay.
    fn finish(&self, draft: &Draft) -> Result<Plan, Refusal> {
        if self.is_same(draft.core, &draft.fragment.bytes) {
            let mut splice = Splice { removed: draft.removed, ..self.noop(draft.core) };
            splice.effects.stripped_heading = draft.stripped_heading;
            return Ok(Plan { splice, version: self.old.clone() });
        }
        self.refuse_content(draft)?;
        let mut point = self.insertion_point(draft);
        self.refuse_duplicate(draft, &point)?;
        let mut kept = Kept::default();
        let (mut is_spaced, mut is_joined) = (false, false);
        loop {
            let splice = self.fill(&point, draft, &kept, is_spaced);
            let file = apply(self.old.bytes(), &splice);
            if let Some(reason) = markdown::refusal(&file) {
                return Err(Refusal::NotMarkdown(reason));
            }
            let new = Version::read_as(file, self.old.document().dialect);
            let effect = compare(self.old, &new, &splice, &self.expected(draft, &splice));
            if effect.is_read_differently && !is_spaced {
                is_spaced = self.fill(&point, draft, &kept, true) != splice;
                if is_spaced {
                    continue;
                }
            }
            if let Some(list) = effect.loosened.filter(|_| draft.core.is_empty() && !is_joined) {
                is_joined = true;
                point = point.joined(list < splice.at.start);
                continue;
            }
            if kept.labels.is_empty() {
                kept = self.definitions(draft, &splice, &new, &effect);
                if !kept.labels.is_empty() {
                    continue;
                }
            }
            return self.judge(draft, splice, new, effect, kept.labels);
        }
    }

    fn insertion_point(&self, draft: &Draft) -> InsertionPoint<'_> {
        let (file, floor) = (self.old.bytes(), self.old.floor());
        let point = InsertionPoint::new(file, floor, draft.core, self.line_end);
        if draft.is_close {
            point.close()
        } else if draft.front_matter == FrontMatterEdit::Made {
            point.first()
        } else {
            point
        }
    }

    /// The splice that inserts the content, followed by the kept definitions.
    fn fill(
        &self,
        point: &InsertionPoint<'_>,
        draft: &Draft,
        kept: &Kept,
        is_spaced: bool,
    ) -> Splice {
        let content = &draft.fragment.bytes;
        if kept.bytes.is_empty() {
            return point.fill(content, is_spaced);
        }
        let seam = if content.is_empty() { Vec::new() } else { self.line_end.repeat(2) };
        let mut splice = point.fill(&[content, &seam[..], &kept.bytes].concat(), is_spaced);
        splice.inserted.end = splice.inserted.start + content.len();
        splice
    }

    /// The definitions inside the place that text outside it needs. None are kept if the target is itself a
    /// definition, front matter, or inside a container.
    fn definitions(&self, draft: &Draft, splice: &Splice, new: &Version, effect: &Effect) -> Kept {
        let is_definition = matches!(self.target, EditTarget::Node(node)
        if self.node(node).is_some_and(|node| {
            matches!(node.kind, NodeKind::Block(BlockType::Definition | BlockType::Footnote))
        }));
        let is_bare = draft.depth > 0 || self.target == EditTarget::FrontMatter || is_definition;
        if draft.core.is_empty() || is_bare {
            return Kept::default();
        }
        let lost = &effect.lost_links;
        to_keep(self.old, draft.core, lost, self.keeps, new, splice.inserted, self.line_end)
    }

    fn node(&self, node: usize) -> Option<&Node> {
        self.old.outline().nodes.get(node)
    }

    /// The span of the target, if it is a list.
    fn list(&self) -> Option<ByteSpan> {
        let EditTarget::Node(node) = self.target else { return None };
        let list = self.node(node).filter(|node| node.kind == NodeKind::Block(BlockType::List))?;
        Some(list.bytes)
    }

    /// Whether the bytes at `span` equal `content`, except for line ends.
    fn is_same(&self, span: ByteSpan, content: &[u8]) -> bool {
        with_line_ends(span.of(self.old.bytes()), self.line_end) == content
    }

    fn noop(&self, span: ByteSpan) -> Splice {
        Splice {
            at: span,
            bytes: span.of(self.old.bytes()).to_vec(),
            removed: span,
            inserted: span,
            effects: SpliceEffects { is_noop: true, ..SpliceEffects::default() },
            ..Splice::default()
        }
    }

    /// Refuses a version of which a part is not parsed, or read otherwise by others, if that is not so for the old one.
    fn refuse_unread(&self, new: &Version) -> Result<(), Refusal> {
        let limit = |version: &Version| version.document().diagnostics.iter().find_map(limit_of);
        if let (None, Some(limit)) = (limit(self.old), limit(new)) {
            return Err(Refusal::TooLong(limit));
        }
        // A block of MDX that is not closed ends at a blank line, but not for other readers. What closes it may not be
        // understood, such as a bracket in a regular expression that does not open one.
        match (self.old.document().unclosed_line, new.document().unclosed_line) {
            (None, Some(line)) if !self.allow.change => Err(Refusal::LeavesOpen { line }),
            _ => Ok(()),
        }
    }

    /// Refuses content that is wrong for the place regardless of the text around it.
    fn refuse_content(&self, draft: &Draft) -> Result<(), Refusal> {
        if let Some(limit) = draft.fragment.limit {
            return Err(Refusal::TooLong(limit));
        }
        if let Some(line) = draft.fragment.open_line {
            return Err(Refusal::OpenFence { line });
        }
        let before = trimmed(self.old.bytes(), ByteSpan::new(self.old.floor(), draft.core.start));
        if self.target != EditTarget::FrontMatter
            && before.is_empty()
            && detect(&draft.fragment.bytes, 0).is_some()
        {
            return Err(Refusal::FrontMatter(FrontMatterProblem::Appears));
        }
        for heading in &draft.fragment.headings {
            let (level, is_leading) = (heading.level, heading.span.start == 0);
            let refusal = match draft.sibling_level.filter(|_| is_leading) {
                Some(wanted) if level == wanted => continue,
                Some(wanted) if level > wanted => Refusal::WrongLevel { level, wanted },
                _ if level > draft.limit => continue,
                sibling => Refusal::WouldEscape {
                    title: heading.title.clone(),
                    level,
                    least: sibling.unwrap_or(draft.limit + 1),
                    is_title: is_leading && draft.kept_level == Some(level),
                },
            };
            self.unless_allowed(refusal)?;
        }
        Ok(())
    }

    /// Refuses text in place of a code block: the lines of code without fences would be parsed as text.
    fn refuse_bare_code(&self, content: &[u8]) -> Result<(), Refusal> {
        if content.trim_ascii().is_empty() || !self.lacks(BlockType::Code, content) {
            return Ok(());
        }
        self.unless_allowed(Refusal::NotCode)
    }

    /// Refuses rows in place of a table or beside it: without a delimiter row they would be parsed as text.
    fn refuse_bare_rows(&self, content: &[u8], is_replaced: bool) -> Result<(), Refusal> {
        if !content.trim_ascii().starts_with(b"|") || !self.lacks(BlockType::Table, content) {
            return Ok(());
        }
        self.unless_allowed(Refusal::NotATable { is_replaced })
    }

    /// Whether the target is a block of the type `kind`, and the content has none.
    fn lacks(&self, kind: BlockType, content: &[u8]) -> bool {
        let is_one = |node: &Node| node.kind == NodeKind::Block(kind);
        let is_target = matches!(self.target, EditTarget::Node(node)
            if self.node(node).is_some_and(is_one));
        is_target && {
            let content = markdown::parse_as(content, self.old.document().dialect);
            !content.outline.nodes.iter().any(is_one)
        }
    }

    fn unless_allowed(&self, refusal: Refusal) -> Result<(), Refusal> {
        if refusal.is_allowed(self.allow) { Ok(()) } else { Err(refusal) }
    }

    /// Refuses a section if an identical one ends directly before the place or begins directly after it.
    fn refuse_duplicate(&self, draft: &Draft, point: &InsertionPoint<'_>) -> Result<(), Refusal> {
        if self.allow.duplicate {
            return Ok(());
        }
        let outline = self.old.outline();
        let length = draft.fragment.bytes.len();
        let (left, right) = point.neighbors();
        let sections =
            || outline.sections.iter().filter_map(|section| outline.nodes.get(section.node));
        for start in [left.checked_sub(length), Some(right)].into_iter().flatten() {
            let end = start + length;
            if self.old.bytes().get(start..end) == Some(&draft.fragment.bytes[..])
                && let Some(first) = sections().find(|node| node.bytes.start == start)
                && sections().any(|node| self.old.text_end(node.bytes) == end)
            {
                return Err(Refusal::Duplicate { line: first.lines.start });
            }
        }
        Ok(())
    }

    fn expected(&self, draft: &Draft, splice: &Splice) -> Expected {
        let headings = draft.fragment.headings.iter();
        Expected {
            headings: headings
                .map(|heading| (heading.level, splice.inserted.start + heading.span.start))
                .collect(),
            is_exact: false,
            depth: draft.depth,
            is_contained: draft.depth > 0,
            lists: draft.parent.or_else(|| self.list()),
            front_matter: draft.front_matter,
            is_front_matter: self.target == EditTarget::FrontMatter,
            may_move_markers: matches!(self.target, EditTarget::Ldmd(_)),
        }
    }

    /// Returns the plan, or the first refusal that is not allowed.
    pub(super) fn judge(
        &self,
        draft: &Draft,
        splice: Splice,
        new: Version,
        effect: Effect,
        kept_definitions: Vec<String>,
    ) -> Result<Plan, Refusal> {
        self.refuse_unread(&new)?;
        let renamed_level = draft.renamed_level.filter(|level| {
            draft.fragment.leading_heading().is_some_and(|heading| heading.level == *level)
        });
        let mut removed_sections = Vec::new();
        if !effect.is_read_differently {
            removed_sections = self.removed_sections(&new, &splice, renamed_level.is_some())?;
        }
        let mut changes = Vec::new();
        for refusal in effect.refusals {
            let is_reparented = matches!(refusal, Refusal::WouldReparent { .. });
            self.unless_allowed(refusal.clone())?;
            if !is_reparented {
                changes.push(refusal);
            }
        }
        let reparented = effect.reparented.into_iter();
        let splice = Splice {
            removed: draft.removed,
            effects: SpliceEffects {
                is_noop: new.bytes() == self.old.bytes(),
                stripped_heading: draft.stripped_heading,
                removed_sections,
                reparented: reparented
                    .map(|(from, to)| Reparented { from: self.old.path(from), to: new.path(to) })
                    .collect(),
                kept_definitions,
                renumbered: effect.renumbered,
            },
            changes,
            ..splice
        };
        Ok(Plan { splice, version: new })
    }

    /// The sections that the splice removes and whose titles, or ids, it does not insert again. If `is_renamed`, the
    /// target still exists under its new title.
    fn removed_sections(
        &self,
        new: &Version,
        splice: &Splice,
        is_renamed: bool,
    ) -> Result<Vec<String>, Refusal> {
        let after = ByteSpan::new(splice.at.start, splice.at.start + splice.bytes.len());
        let mut titles: HashMap<&str, usize> = HashMap::new();
        for section in new.sections_in(after).skip(usize::from(is_renamed)) {
            *titles.entry(&section.title).or_default() += 1;
        }
        let mut removed = Vec::new();
        let mut is_itself = false;
        for section in self.old.sections_in(splice.at) {
            let is_target = self.target == EditTarget::Node(section.node);
            if is_target && is_renamed {
                continue;
            }
            match titles.get_mut(section.title.as_str()).filter(|count| **count > 0) {
                Some(count) => *count -= 1,
                None => {
                    is_itself |= is_target;
                    removed.push(self.old.path(section.node));
                }
            }
        }
        for (index, section) in self.old.markup().sections.iter().enumerate() {
            // The splice leaves the last line end of the place.
            if splice.at.contains(trimmed(self.old.bytes(), section.span))
                && !new.markup().sections.iter().any(|kept| kept.id == section.id)
            {
                is_itself |= self.target == EditTarget::Ldmd(index);
                removed.push(format!("ldmd:{}", section.id));
            }
        }
        if !removed.is_empty() {
            self.unless_allowed(Refusal::WouldDrop { sections: removed.clone(), is_itself })?;
        }
        Ok(removed)
    }

    /// Replaces all of the file except a byte order mark. The content keeps its blank lines and its final line
    /// end, and gets one if the file has one.
    fn replace_document(&self, mut content: Vec<u8>) -> Result<Plan, Refusal> {
        let at = ByteSpan::new(self.old.floor(), self.old.bytes().len());
        let is_ended = |text: &[u8]| trim_line_end(text).len() < text.len();
        if is_ended(at.of(self.old.bytes())) && !content.is_empty() && !is_ended(&content) {
            content.extend_from_slice(self.line_end);
        }
        // A reader may not see that the last line does not end.
        let is_open = !is_ended(at.of(self.old.bytes()));
        if self.is_same(at, &content) || is_open && self.is_same(at, trim_line_end(&content)) {
            return Ok(Plan { splice: self.noop(at), version: self.old.clone() });
        }
        let inserted = ByteSpan::new(at.start, at.start + content.len());
        let mut splice = Splice { at, bytes: content, removed: at, inserted, ..Splice::default() };
        let file = apply(self.old.bytes(), &splice);
        if let Some(reason) = markdown::refusal(&file) {
            return Err(Refusal::NotMarkdown(reason));
        }
        let new = Version::read_as(file, self.old.document().dialect);
        if let Some(last) = new.outline().nodes.last()
            && matches!(last.kind, NodeKind::Block(BlockType::Code | BlockType::Html))
            && let Some(line) =
                Fragment::new(last.bytes.of(new.bytes()), b"\n", new.document().dialect).open_line
        {
            return Err(Refusal::OpenFence { line: last.lines.start + line - 1 });
        }
        self.refuse_unread(&new)?;
        splice.effects.removed_sections = self.removed_sections(&new, &splice, false)?;
        Ok(Plan { splice, version: new })
    }
}
