//! Translates a target, a position and options into bytes and heading levels.
//!
//! Invariant: a draft says what is removed and what is inserted; the planner decides whether that is safe.

use super::fragment::{Fragment, converted};
use super::text::{first_line, is_line_start, last_line, lines, trimmed, with_line_ends};
use super::version::Version;
use super::{EditScope, EditTarget, Position, Refusal};
use crate::ldmd;
use crate::markdown::front_matter::{Format, is_delimited};
use crate::markdown::outline::{BlockType, Node, NodeKind, Section};
use crate::position::{ByteSpan, next_line_start, trim_line_end};

/// The deepest level of a heading.
pub(super) const DEEPEST: u8 = 6;

const NESTED_LISTS: Refusal = Refusal::NotApart { place: "list item", nested: "lists" };

/// An edit that has not been checked yet.
#[derive(Debug, Default)]
pub(super) struct Draft {
    /// The lines to remove, without blank lines at both ends and without the final line end.
    pub(super) core: ByteSpan,
    /// The content that replaces them. In a container or in front matter it has no `headings`, which make no
    /// sections.
    pub(super) fragment: Fragment,
    /// The span that `mdsel read` prints for the removed part.
    pub(super) removed: ByteSpan,
    /// Headings of this level or a lower number would leave the place; 0 if no heading can.
    pub(super) limit: u8,
    /// The level that a heading at the start of the content must have.
    pub(super) sibling_level: Option<u8>,
    /// The level of the heading that is kept. Content that begins with another heading of this level would
    /// change the title.
    pub(super) kept_level: Option<u8>,
    /// The level of the heading that is removed. Content that begins with a heading of this level renames the
    /// section.
    pub(super) renamed_level: Option<u8>,
    /// What happens to the front matter.
    pub(super) front_matter: FrontMatterEdit,
    /// The number of lists, items and block quotes that contain the place.
    pub(super) depth: usize,
    /// The place, if the content becomes the first or the last part of it.
    pub(super) parent: Option<ByteSpan>,
    /// Whether no blank lines are added around the content.
    pub(super) is_close: bool,
    pub(super) stripped_heading: bool,
}

/// What an edit does to the front matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum FrontMatterEdit {
    /// It is present if and only if it was present before.
    #[default]
    Kept,
    /// The content becomes the front matter of a file that had none.
    Made,
    /// It is removed.
    Deleted,
}

/// The bytes of a target.
struct TargetBytes<'a> {
    /// The span that `mdsel read` prints for it.
    span: ByteSpan,
    node: Option<&'a Node>,
    section: Option<&'a Section>,
    /// The number of lists, items and block quotes that contain it.
    depth: usize,
}

/// Returns content with `blanks` before each line that is not blank, if the first of these lines begins without blanks.
fn indented(content: &[u8], blanks: &[u8]) -> Vec<u8> {
    let content = content.strip_prefix("\u{feff}".as_bytes()).unwrap_or(content);
    let is_blank = |line: &[u8]| line.iter().all(u8::is_ascii_whitespace);
    let first = lines(content).find(|line| !is_blank(line)).and_then(<[u8]>::first);
    if first.is_none_or(u8::is_ascii_whitespace) {
        return content.to_vec();
    }
    let line = |line| [if is_blank(line) { b"" } else { blanks }, line].concat();
    lines(content).flat_map(line).collect()
}

/// Makes drafts of edits of one file.
pub(super) struct Drafter<'a> {
    pub(super) old: &'a Version,
    pub(super) line_end: &'static [u8],
}

impl<'a> Drafter<'a> {
    /// The draft of a deletion.
    pub(super) fn delete(&self, target: EditTarget, scope: EditScope) -> Result<Draft, Refusal> {
        if target == EditTarget::Document {
            return Err(Refusal::NoSuchPosition);
        }
        if scope == EditScope::Heading {
            return Err(Refusal::NoSuchPart);
        }
        let place = self.place(target, scope)?;
        if place.node.is_some_and(|node| node.kind == NodeKind::Item && node.bytes != place.span) {
            return Err(NESTED_LISTS);
        }
        let is_front_matter = target == EditTarget::FrontMatter;
        Ok(Draft {
            front_matter: if is_front_matter {
                FrontMatterEdit::Deleted
            } else {
                FrontMatterEdit::Kept
            },
            depth: place.depth,
            ..self.draft(place.span, Fragment::default())
        })
    }

    /// The draft of a replacement of anything but the whole document.
    pub(super) fn replace(
        &self,
        target: EditTarget,
        content: &[u8],
        scope: EditScope,
        keep_heading: bool,
    ) -> Result<Draft, Refusal> {
        if target == EditTarget::FrontMatter && self.old.outline().front_matter.is_none() {
            return self.make_front_matter(content);
        }
        let place = self.located(target, scope)?;
        if target == EditTarget::FrontMatter {
            return Ok(self.replace_front_matter(place.span, content));
        }
        if let EditTarget::Ldmd(index) = target {
            if scope == EditScope::Own && self.old.markup().nested(index).next().is_some() {
                return Err(Refusal::NotApart { place: "LDMD section", nested: "sections" });
            }
            return Ok(self.replace_ldmd(index, place.span, content));
        }
        if place.depth > 0 {
            let content = self.indented(&place, content);
            let draft = self.contained(place.span, place.depth, &content);
            // The block as it was read changes nothing, wherever it begins.
            let old = with_line_ends(draft.core.of(self.old.bytes()), self.line_end);
            let is_same = old == draft.fragment.bytes;
            return if is_same { Ok(draft) } else { self.whole(&place).map(|()| draft) };
        }
        self.whole(&place)?;
        if let Some(section) = place.section {
            return Ok(self.replace_section(section, place.span, content, scope, keep_heading));
        }
        let limit = match place.node {
            Some(node) if node.kind == NodeKind::Root => DEEPEST,
            Some(node) => self.level_above(node),
            None => 0,
        };
        Ok(Draft { limit, ..self.draft(place.span, self.fragment(content)) })
    }

    /// The draft of an insertion.
    pub(super) fn insert(
        &self,
        target: EditTarget,
        content: &[u8],
        position: Position,
        relevel: bool,
    ) -> Result<Draft, Refusal> {
        let place = self.place(target, EditScope::Subtree)?;
        let is_child = matches!(position, Position::FirstChild | Position::LastChild);
        let is_start = matches!(position, Position::Before | Position::FirstChild);
        let mut at = if is_start { place.span.start } else { place.span.end };
        let mut sibling_level = None;
        // The level at which a heading would leave the place, and the level to which --relevel shifts.
        let (limit, level) = match (target, place.node, place.section) {
            (_, Some(node), Some(section)) if is_child => {
                at = if is_start { section.own_end } else { at };
                (section.level, self.level_of_child(section, node, is_start))
            }
            (_, Some(node), Some(section)) => {
                sibling_level = Some(section.level);
                (self.level_above(node), section.level)
            }
            (_, Some(node), None) if node.kind == NodeKind::Root => {
                if is_child {
                    (DEEPEST, DEEPEST + 1)
                } else {
                    (0, 1)
                }
            }
            (_, Some(node), None) if !is_child => {
                let above = self.level_above(node);
                (above, above + 1)
            }
            (EditTarget::Document, ..) if is_child => {
                let root = self.old.outline().nodes.first().filter(|_| is_start);
                at = root.map_or(at, |root| root.bytes.start);
                (0, 1)
            }
            (EditTarget::FrontMatter, ..) if position == Position::After => (0, 1),
            (EditTarget::Ldmd(index), ..) => {
                let content = self.old.markup().sections.get(index).map(|section| section.content);
                at = match content.filter(|_| is_child) {
                    Some(content) if is_start => content.start,
                    Some(content) => content.end,
                    None => at,
                };
                (0, self.level_at(at) + 1)
            }
            _ => return Err(Refusal::NoSuchPosition),
        };
        let mut fragment = self.fragment(content);
        if fragment.bytes.is_empty() {
            return Err(Refusal::EmptyContent);
        }
        let at = ByteSpan::new(at, at);
        if place.depth > 0 {
            let content = self.indented(&place, content);
            let draft = self.contained(at, place.depth, &content);
            if !place.node.is_some_and(|node| self.old.is_in_loose_list(node)) {
                return Ok(draft);
            }
            let text = trimmed(&draft.fragment.bytes, ByteSpan::new(0, draft.fragment.bytes.len()));
            let bytes = text.of(&draft.fragment.bytes).to_vec();
            let fragment = Fragment { bytes, ..Fragment::default() };
            return Ok(Draft { fragment, is_close: false, ..draft });
        }
        if relevel {
            fragment = fragment.with_level(level)?;
        }
        let parent = is_child.then_some(place.span);
        Ok(Draft { limit, sibling_level, parent, ..self.draft(at, fragment) })
    }

    fn fragment(&self, content: &[u8]) -> Fragment {
        Fragment::new(content, self.line_end, self.old.document().dialect)
    }

    /// The draft in which `fragment` replaces `span`, and headings of every level are allowed.
    fn draft(&self, span: ByteSpan, fragment: Fragment) -> Draft {
        Draft { core: trimmed(self.old.bytes(), span), removed: span, fragment, ..Draft::default() }
    }

    /// The draft for a place in a list or block quote, where the content keeps its blank lines: they are
    /// significant there.
    fn contained(&self, span: ByteSpan, depth: usize, content: &[u8]) -> Draft {
        let text = trim_line_end(span.of(self.old.bytes()));
        let core = ByteSpan::new(span.start, span.start + text.len());
        let bytes = trim_line_end(&converted(content, self.line_end)).to_vec();
        let fragment = Fragment { bytes, ..Fragment::default() };
        Draft { core, removed: span, fragment, depth, is_close: true, ..Draft::default() }
    }

    /// Returns content for a place in a list, indented like it if it has no heading: one in a list is no section.
    fn indented(&self, place: &TargetBytes<'a>, content: &[u8]) -> Vec<u8> {
        let has_headings = !self.fragment(content).headings.is_empty();
        indented(content, if has_headings { b"" } else { self.indentation(place) })
    }

    /// The blanks before the first line of a place in a list. Indented code has four of its own.
    fn indentation(&self, place: &TargetBytes<'a>) -> &'a [u8] {
        let Some(node) = place.node else { return b"" };
        let file = self.old.bytes();
        let line = first_line(node.bytes.of(file));
        let text = line.trim_ascii_start();
        let is_fenced = text.starts_with(b"```") || text.starts_with(b"~~~");
        let is_indented_code = node.kind == NodeKind::Block(BlockType::Code) && !is_fenced;
        if is_indented_code || !is_line_start(file, self.old.floor(), node.bytes.start) {
            return b"";
        }
        line.get(..line.len() - text.len()).unwrap_or_default()
    }

    /// Content with delimiters replaces the front matter with its delimiters; content without goes between them.
    fn replace_front_matter(&self, span: ByteSpan, content: &[u8]) -> Draft {
        let bytes = self.fragment(content).bytes;
        let mut core = trimmed(self.old.bytes(), span);
        if !is_delimited(&bytes) {
            let end = core.end - last_line(core.of(self.old.bytes())).len();
            let inside = trimmed(
                self.old.bytes(),
                ByteSpan::new(next_line_start(self.old.bytes(), span.start), end),
            );
            core = if inside.is_empty() { ByteSpan::new(end, end) } else { inside };
        }
        let fragment = Fragment { bytes, ..Fragment::default() };
        Draft { core, removed: span, fragment, is_close: true, ..Draft::default() }
    }

    /// Content with delimiters becomes the front matter; content without is put between `---` lines.
    fn make_front_matter(&self, content: &[u8]) -> Result<Draft, Refusal> {
        let given = self.fragment(content).bytes;
        if given.is_empty() {
            return Err(Refusal::EmptyContent);
        }
        let bytes = if is_delimited(&given) {
            given
        } else {
            let delimiter = Format::Yaml.delimiter().as_bytes();
            [delimiter, self.line_end, &given, self.line_end, delimiter].concat()
        };
        let floor = self.old.floor();
        let core = ByteSpan::new(floor, floor);
        let fragment = Fragment { bytes, ..Fragment::default() };
        let front_matter = FrontMatterEdit::Made;
        Ok(Draft { core, removed: core, fragment, front_matter, ..Draft::default() })
    }

    /// Content with the markers of the section replaces the section with its markers; content without goes
    /// between them.
    fn replace_ldmd(&self, index: usize, span: ByteSpan, content: &[u8]) -> Draft {
        let fragment = self.fragment(content);
        let section = self.old.markup().sections.get(index);
        let given = ldmd::parse(&fragment.bytes, &[]);
        let has_markers = given.sections.first().is_some_and(|given| {
            given.span.len() == fragment.bytes.len() && section.is_some_and(|s| s.id == given.id)
        });
        let inside = section.filter(|_| !has_markers).map(|section| section.content);
        self.draft(inside.unwrap_or(span), fragment)
    }

    fn replace_section(
        &self,
        section: &Section,
        span: ByteSpan,
        content: &[u8],
        scope: EditScope,
        keep_heading: bool,
    ) -> Draft {
        let keep_heading = keep_heading && scope != EditScope::Heading;
        let fragment = self.fragment(content);
        let heading = ByteSpan::new(span.start, section.heading_end);
        let heading = with_line_ends(heading.of(self.old.bytes()), self.line_end);
        // The heading as it was read is recognized by its text, too: alone it may have another title or be no heading,
        // if the lines above it define its links or are part of its paragraph.
        let has_heading_text = fragment
            .bytes
            .strip_prefix(trim_line_end(&heading))
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(self.line_end));
        let begins_with_heading = has_heading_text
            || fragment.leading_heading().is_some_and(|leading| {
                leading.level == section.level && leading.title == section.title
            });
        let stripped_heading = keep_heading && begins_with_heading;
        let keeps_lines = keep_heading && !stripped_heading;
        let start = if keeps_lines { section.heading_end } else { span.start };
        Draft {
            stripped_heading,
            sibling_level: (!keeps_lines).then_some(section.level),
            kept_level: keeps_lines.then_some(section.level),
            renamed_level: (!keeps_lines).then_some(section.level),
            // A heading in the section's own text would become the parent of the subsections after it.
            limit: if scope == EditScope::Subtree { section.level } else { DEEPEST },
            ..self.draft(ByteSpan::new(start, span.end), fragment)
        }
    }

    /// Returns the bytes of a target that consists of whole lines.
    fn place(&self, target: EditTarget, scope: EditScope) -> Result<TargetBytes<'a>, Refusal> {
        let place = self.located(target, scope)?;
        self.whole(&place)?;
        Ok(place)
    }

    /// Refuses a place that does not begin a line.
    fn whole(&self, place: &TargetBytes<'_>) -> Result<(), Refusal> {
        // The root of a file of front matter only may begin at the end of its last line.
        let is_part = |node: &&Node| {
            node.kind != NodeKind::Root
                && !is_line_start(self.old.bytes(), self.old.floor(), node.bytes.start)
        };
        match place.node.filter(is_part) {
            Some(node) => Err(Refusal::NotWholeLines { line: node.lines.start }),
            None => Ok(()),
        }
    }

    fn located(&self, target: EditTarget, scope: EditScope) -> Result<TargetBytes<'a>, Refusal> {
        let whole = |span| TargetBytes { span, node: None, section: None, depth: 0 };
        let index = match target {
            EditTarget::Document => {
                return Ok(whole(ByteSpan::new(self.old.floor(), self.old.bytes().len())));
            }
            EditTarget::FrontMatter => {
                return self.old.outline().front_matter.map(whole).ok_or(Refusal::NoSuchPlace);
            }
            EditTarget::Ldmd(index) => {
                let section = self.old.markup().sections.get(index).ok_or(Refusal::NoSuchPlace)?;
                let start = section.span.start.max(self.old.floor());
                return Ok(whole(ByteSpan::new(start, section.span.end)));
            }
            EditTarget::Node(index) => index,
        };
        let node = self.old.outline().nodes.get(index).ok_or(Refusal::NoSuchPlace)?;
        let section = match node.kind {
            NodeKind::Section(section) => self.old.outline().sections.get(section),
            _ => None,
        };
        let mut span = node.bytes;
        if scope == EditScope::Own {
            span = self.old.outline().text_before_lists(index).ok_or(NESTED_LISTS)?;
        }
        if let Some(section) = section {
            span.end = match scope {
                EditScope::Subtree => span.end,
                EditScope::Own => section.own_end,
                EditScope::Heading => section.heading_end,
            };
        }
        let is_container =
            |above: &&Node| matches!(above.kind, NodeKind::Block(_) | NodeKind::Item);
        let depth = self.above(node).filter(is_container).count();
        Ok(TargetBytes { span, node: Some(node), section, depth })
    }

    /// The ancestors of `node`, innermost first.
    fn above(&self, node: &Node) -> impl Iterator<Item = &'a Node> + use<'a> {
        let nodes = &self.old.outline().nodes;
        let parent = |node: &Node| node.parent.and_then(|parent| nodes.get(parent));
        std::iter::successors(parent(node), move |node| parent(node))
    }

    /// The level of the innermost section that contains `node`; 0 if there is none.
    fn level_above(&self, node: &Node) -> u8 {
        let level = |node: &Node| match node.kind {
            NodeKind::Section(section) => self.old.outline().sections.get(section).map(|s| s.level),
            _ => None,
        };
        self.above(node).find_map(level).unwrap_or(0)
    }

    /// The level of the first or last child of a section; its own level plus 1 if it has no child.
    fn level_of_child(&self, section: &Section, node: &Node, is_first: bool) -> u8 {
        let from = self.old.outline().sections.partition_point(|other| other.node <= section.node);
        let below = self.old.outline().sections.get(from..).unwrap_or_default().iter();
        let nodes =
            below.filter_map(|other| Some((other, self.old.outline().nodes.get(other.node)?)));
        let mut children = nodes
            .take_while(|(_, other)| other.bytes.start < node.bytes.end)
            .filter(|(_, other)| other.parent == Some(section.node))
            .map(|(child, _)| child.level);
        let level = if is_first { children.next() } else { children.last() };
        level.unwrap_or(section.level + 1)
    }

    /// The level of the section that contains the byte before `at`; 0 if there is none.
    fn level_at(&self, at: usize) -> u8 {
        let begins_before = |section: &Section| {
            self.old.outline().nodes.get(section.node).is_some_and(|node| node.bytes.start < at)
        };
        let count = self.old.outline().sections.partition_point(begins_before);
        let section = count.checked_sub(1).and_then(|index| self.old.outline().sections.get(index));
        section.map_or(0, |section| section.level)
    }
}
