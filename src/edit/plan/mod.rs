//! Plans an edit: computes which bytes of a file to replace, or why the edit is refused. Pure: no store, no
//! file.
//!
//! [`plan()`] computes a [`Plan`] from a [`Version`] of a file and a [`ContentChange`]: the splice, and the version
//! that it produces. `text` finds lines and line ends, `fragment` parses the new content, `insertion_point`
//! decides the blank lines around it, `effect` compares the versions before and after, and `definitions`
//! finds the definitions that must stay. [`move_section`] joins an insertion and a deletion, and `carried` is the
//! text that goes into another file. `detail` plans edits of a part of a block, and `exact` those of a phrase or of
//! lines.
//!
//! Invariant (see `mdsel help edits`): bytes outside the splice do not change, and are parsed as before. An
//! edit that would break this is refused unless its flag is given. The version
//! that a plan returns is not parsed again: the caller stores or edits it.
//!
//! How content is normalized. A byte order mark at its beginning is dropped, and its line ends are converted
//! to the one that most lines of the file have. Blank lines (only spaces and tabs) at its beginning and end,
//! and its final line end, are dropped: the file decides what separates the content from its neighbors.
//! Content for a whole document keeps them, and gets a final line end if the file has one. Content inside a list or
//! block quote keeps its blank lines, unless it is inserted in a list whose items are separated by blank lines. In a list
//! it is indented like the place, if its first line is not indented.
//!
//! How blank lines are kept, so that repeated edits do not accumulate them:
//!
//! - Blank lines between the place and its neighbors stay. Content that is inserted into a run of blank lines
//!   goes to the end of the run and is followed by one blank line. At the end of the file it goes to the
//!   beginning of the run and is preceded by one blank line.
//! - If there is no blank line, one is added. None is added between two lines that were adjacent before, nor
//!   next to an LDMD marker, unless the text would be parsed differently without it.
//! - A deletion also removes one adjacent run of blank lines: the run after the place, or the run before it
//!   if the place is last in the file or no run follows. So deleting what was inserted restores the old file,
//!   provided that a blank line (or the end of the file) was at that place.
//! - A file without a final line end stays without one.
//!
//! ```
//! use mdsel::edit::plan::{Allow, EditScope, EditTarget, ContentChange, Version, plan};
//!
//! let file = Version::read(b"# A\n\nold\n\n# B\n".to_vec());
//! let target = EditTarget::Node(file.outline().sections[0].node);
//! let (content, scope) = (b"new".to_vec(), EditScope::Subtree);
//! let change = ContentChange::Replace { content, scope, keep_heading: true };
//! let plan = plan(&file, target, &change, Allow::default()).unwrap();
//! assert_eq!(plan.version.bytes(), b"# A\n\nnew\n\n# B\n");
//! ```

mod carried;
mod definitions;
mod detail;
mod draft;
mod effect;
mod exact;
mod footnotes;
mod fragment;
mod insertion_point;
mod labels;
mod planner;
mod refusal;
mod section_move;
mod text;
mod version;

use std::ops::Range;

use similar::{Algorithm, DiffTag};

pub(in crate::edit) use detail::escaped;
pub use detail::{Detail, RowPlace, plan_detail};
pub use effect::{Shift, renumbered};
pub use exact::{ExactEdit, plan_exact};
pub(in crate::edit) use footnotes::{has_footnote, references_in_text};
pub(in crate::edit) use labels::bracketed;
pub use planner::plan;
pub use refusal::{FrontMatterProblem, OutsideChange, Refusal};
pub use section_move::{
    MoveRefusal, MovedFile, MovedPlace, MovedSection, SectionMove, move_section,
};
pub(in crate::edit) use text::is_line_start;
pub use version::Version;

use crate::position::{ByteSpan, next_line_start, trim_line_end};

/// The place to edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditTarget {
    /// The whole document.
    Document,
    /// Its front matter, delimiters included.
    FrontMatter,
    /// A node of the outline, as its index: the root, a section, a block or an item.
    Node(usize),
    /// An LDMD section, as its index. A replacement, and an insertion of a child, apply to the text between its
    /// markers; a deletion, and an insertion before or after it, apply to the section with its markers.
    Ldmd(usize),
}

/// Where content is inserted, relative to the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Position {
    /// Directly before the target.
    Before,
    /// After the target and everything below it.
    After,
    /// After the target's own text, before its first child section.
    FirstChild,
    /// After the target's last child section.
    LastChild,
}

/// A side of lines or of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Above them.
    Before,
    /// Below them.
    After,
}

impl Position {
    /// Returns the position at a whole document. Nothing is after that, so the usual position means its end.
    pub(in crate::edit) fn in_document(self) -> Self {
        if self == Self::After { Self::LastChild } else { self }
    }

    /// Returns the name of the position in arguments.
    pub(in crate::edit) fn name(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::After => "after",
            Self::FirstChild => "first_child",
            Self::LastChild => "last_child",
        }
    }

    /// Returns the side of the target; `None` if the position is inside it.
    pub fn side(self) -> Option<Side> {
        match self {
            Self::Before => Some(Side::Before),
            Self::After => Some(Side::After),
            Self::FirstChild | Self::LastChild => None,
        }
    }
}

/// How much of a section an edit covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EditScope {
    /// The section with its subsections.
    #[default]
    Subtree,
    /// The heading, and the text before the first child section; of a list item, the text before its nested lists.
    Own,
    /// Only the lines of the heading.
    Heading,
}

impl EditScope {
    /// Returns the scope of an edit that may leave the children as they are.
    pub(crate) fn without_children(is_without: bool) -> Self {
        if is_without { Self::Own } else { Self::Subtree }
    }
}

/// A change of the content at the target.
#[derive(Clone, Debug)]
pub enum ContentChange {
    /// Replaces the target.
    Replace {
        /// The new content. Empty content leaves only the heading, or nothing if the heading is not kept.
        content: Vec<u8>,
        /// How much of a section is replaced.
        scope: EditScope,
        /// Whether a section keeps its heading, unless the content begins with that very heading.
        keep_heading: bool,
    },
    /// Inserts content next to the target or below it.
    Insert {
        /// The new content.
        content: Vec<u8>,
        /// Where the content goes, relative to the target.
        position: Position,
        /// Whether the levels of its headings are shifted, so that the first heading fits the place.
        relevel: bool,
    },
    /// Deletes the target.
    Delete {
        /// How much of a section is deleted.
        scope: EditScope,
    },
}

/// The consequences that the user has allowed. The default allows none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of an edit")]
pub struct Allow {
    /// Removing a section whose title the content does not have.
    pub drop: bool,
    /// Headings that leave the section, so that the text after them belongs to another section.
    pub escape: bool,
    /// Inserting a section next to an identical one.
    pub duplicate: bool,
    /// Any other change outside the place.
    pub change: bool,
}

/// A section that has another parent than before.
#[derive(Clone, Debug, PartialEq, Eq, schemars::JsonSchema, serde::Serialize)]
pub struct Reparented {
    /// Its slug path before; `@LINE` if it has none.
    pub from: String,
    /// Its slug path afterwards; `@LINE` if it has none.
    pub to: String,
}

/// A section outside the place whose number changes because a section with an equal title was added or
/// removed.
#[derive(Clone, Debug, PartialEq, Eq, schemars::JsonSchema, serde::Serialize)]
pub struct Renumbered {
    /// The title of the section; empty for a heading inside a container.
    pub title: String,
    /// Its anchor (with `#`) or its slug path, before.
    pub from: String,
    /// Its anchor or slug path, afterwards.
    pub to: String,
}

/// A splice, and the version of the file that it produces.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The edit in bytes.
    pub splice: Splice,
    /// The file afterwards.
    pub version: Version,
}

/// An edit in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Splice {
    /// The bytes of the old file that are removed.
    pub at: ByteSpan,
    /// The bytes that replace them.
    pub bytes: Vec<u8>,
    /// The span in the old file that `mdsel read` prints for the old content, including blank lines at its end.
    pub removed: ByteSpan,
    /// The span of the new content in the new file, without the blank lines that were added.
    pub inserted: ByteSpan,
    /// What it does besides.
    pub effects: SpliceEffects,
    /// The changes outside the place, which the request allows.
    pub changes: Vec<Refusal>,
}

impl Splice {
    /// The lines of the version `old` that this splice of a deletion removes. Without kept definitions they are one
    /// span.
    pub(in crate::edit) fn deleted(&self, old: &Version) -> Vec<ByteSpan> {
        let file = old.bytes();
        // A deletion at the end of a file without a final line end also removes the line end before it.
        let is_whole = is_line_start(file, old.floor(), self.at.start);
        let start = if is_whole { self.at.start } else { next_line_start(file, self.at.start) };
        if self.effects.kept_definitions.is_empty() {
            return vec![ByteSpan::new(start.min(self.at.end), self.at.end)];
        }
        let removed = ByteSpan::new(start, next_line_start(file, self.at.end));
        let removed: Vec<&[u8]> = text::lines(removed.of(file)).collect();
        let words: Vec<&[u8]> = removed.iter().map(|line| trim_line_end(line)).collect();
        let kept: Vec<&[u8]> = text::lines(&self.bytes).map(trim_line_end).collect();
        let changes = similar::capture_diff_slices(Algorithm::Myers, &words, &kept);
        let length = |lines: &[&[u8]]| lines.iter().map(|line| line.len()).sum::<usize>();
        let span = |lines: Range<usize>| {
            let from = start + length(removed.get(..lines.start).unwrap_or_default());
            ByteSpan::new(from, from + length(removed.get(lines).unwrap_or_default()))
        };
        let spans = changes.iter().map(|change| (change.tag(), change.old_range()));
        let deleted = spans.filter(|(tag, lines)| *tag != DiffTag::Equal && !lines.is_empty());
        deleted.map(|(_, lines)| span(lines)).collect()
    }
}

/// What an edit does besides replacing bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpliceEffects {
    /// Whether the new file equals the old one.
    pub is_noop: bool,
    /// Whether the content began with the section's heading, which was not inserted twice.
    pub stripped_heading: bool,
    /// Slug paths, in the old file, of the removed sections; `@LINE` for a section without one.
    pub removed_sections: Vec<String>,
    /// The sections that have another parent than before.
    pub reparented: Vec<Reparented>,
    /// Labels of the link definitions inside the place that stay because text outside uses them.
    pub kept_definitions: Vec<String>,
    /// The sections outside the place whose number changes.
    pub renumbered: Vec<Renumbered>,
}

/// Returns `file` with `splice` applied.
pub fn apply(file: &[u8], splice: &Splice) -> Vec<u8> {
    let head = file.get(..splice.at.start).unwrap_or_default();
    let tail = file.get(splice.at.end..).unwrap_or_default();
    [head, &splice.bytes, tail].concat()
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
