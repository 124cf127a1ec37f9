//! Edits: which bytes of a file go and what takes their place, or why not. Pure: no store, no file.
//!
//! [`plan()`] computes a [`Plan`] from a [`Version`] of a file and a [`Request`]: the splice, and the
//! version that it makes. `text` knows lines and line ends, `fragment` reads the content that is to be
//! put in, `slot` owns the blank lines at its seams, `effect` compares the versions before and after,
//! `definitions` finds the link definitions that have to stay.
//!
//! Invariant (contract, section 11): bytes outside the splice stay as they are and, read again, mean
//! what they meant; an edit of which that is not true is refused unless its flag is given. Each version
//! of a file is parsed once: the one that a plan makes is given to whoever stores it or edits it next.
//!
//! How content is taken. A byte order mark at its beginning is dropped and its line ends become those
//! that most lines of the file have; nothing else is converted. Blank lines (spaces and tabs alone)
//! at its beginning and end, and its final line end, do not count: what separates it from its
//! neighbours is decided by the file. Only content for a whole document, and content inside a list or
//! block quote, keeps them.
//!
//! How blank lines are kept, so that equal edits never add up:
//!
//! - Blank lines that stand between the place and its neighbours stay. Content that is put into a run
//!   of them goes to the end of the run, one blank line behind it; at the end of the file, to the
//!   beginning of the run, one blank line before it.
//! - Where no blank line stands, one is added; but not between two lines that stood beside each
//!   other before, nor beside a line that is an LDMD marker, unless the text would read differently
//!   without it.
//! - What is deleted takes one of the runs beside it along: the one behind it, or the one before it
//!   where it stands last in the file or none stands behind it. So deleting what was inserted gives the
//!   old file, provided that a blank line (or the end of the file) stood at that place.
//! - A file without a final line end stays without one.
//!
//! ```
//! use mdsel::edit::plan::{Allow, Request, Scope, Target, Version, plan};
//!
//! let file = Version::read(b"# A\n\nold\n\n# B\n".to_vec());
//! let target = Target::Node(file.outline().sections[0].node);
//! let request = Request::Replace { content: b"new", scope: Scope::Subtree, keep_heading: true };
//! let plan = plan(&file, target, request, Allow::default()).unwrap();
//! assert_eq!(plan.version.bytes(), b"# A\n\nnew\n\n# B\n");
//! ```

mod definitions;
mod draft;
mod effect;
mod fragment;
mod planner;
mod refusal;
mod slot;
mod text;
mod version;

pub use planner::plan;
pub use refusal::{Change, FrontMatterProblem, Refusal};
pub use version::Version;

use crate::position::ByteSpan;

/// The place that is edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The whole document.
    Document,
    /// Its front matter, delimiters included.
    FrontMatter,
    /// A node of the outline, as its index: the root, a section, a block or an item.
    Node(usize),
    /// An LDMD section, as its index: what stands between its markers where that is replaced or added
    /// to, and the markers too where it goes or something goes beside it.
    Ldmd(usize),
}

/// Where content is inserted, seen from the anchor (the seed paper on document tools).
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Position {
    /// Right before it.
    Before,
    /// Behind it and all below it.
    After,
    /// Behind its own text, before its first child section.
    FirstChild,
    /// Behind its last child section.
    LastChild,
}

/// How much of a section is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// The section with all below it.
    #[default]
    Subtree,
    /// Its heading and the text up to its first child section.
    Own,
    /// Its heading lines.
    Heading,
}

/// What is to be done with the target.
#[derive(Clone, Copy, Debug)]
pub enum Request<'a> {
    /// Other content takes its place.
    Replace {
        /// The new content; empty content leaves the heading alone, or nothing.
        content: &'a [u8],
        /// How much of a section is replaced.
        scope: Scope,
        /// Whether a section keeps its heading, unless the content begins with that very heading.
        keep_heading: bool,
    },
    /// Content is added beside or below it.
    Insert {
        /// The new content.
        content: &'a [u8],
        /// Where it goes.
        position: Position,
        /// Whether its headings are moved by as many levels as make the first one right.
        relevel: bool,
    },
    /// It goes.
    Delete {
        /// How much of a section goes.
        scope: Scope,
    },
}

/// What is done although it may be a mistake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of an edit")]
pub struct Allow {
    /// Replacing sections by content that lacks one of their titles.
    pub drop: bool,
    /// Headings that leave the section, and take along what follows.
    pub escape: bool,
    /// Inserting a section beside an equal one.
    pub duplicate: bool,
    /// Any other change of what is outside the place.
    pub change: bool,
}

/// A section that stands below another one than before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reparented {
    /// Its slug path before; `@LINE` where it has none.
    pub from: String,
    /// Its slug path afterwards; `@LINE` where it has none.
    pub to: String,
}

/// A section outside the place whose number changes because an equal title came or went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renumbered {
    /// Its title.
    pub title: String,
    /// Its anchor (with `#`) or its slug path before.
    pub from: String,
    /// The same afterwards.
    pub to: String,
}

/// A splice with the version of the file that it makes.
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
    /// The bytes of the old file that go.
    pub at: ByteSpan,
    /// What takes their place.
    pub bytes: Vec<u8>,
    /// What `read` gives of the old content, blank lines at its end included, in the old file.
    pub removed: ByteSpan,
    /// Where the new content, without blank lines that were added, lies in the new file.
    pub inserted: ByteSpan,
    /// Whether the new file is the old one.
    pub is_noop: bool,
    /// Whether the content began with the section's heading, which was not doubled.
    pub stripped_heading: bool,
    /// The sections that are gone: slug paths in the old file, `@LINE` where there is none.
    pub removed_sections: Vec<String>,
    /// The sections that stand below another one than before.
    pub reparented: Vec<Reparented>,
    /// Labels of the link definitions inside the place that stay because text elsewhere uses them.
    pub kept_definitions: Vec<String>,
    /// The sections outside the place whose number changes.
    pub renumbered: Vec<Renumbered>,
    /// What changes outside the place, because that was allowed.
    pub changes: Vec<Refusal>,
}

/// The file that `splice` makes of `file`.
pub fn apply(file: &[u8], splice: &Splice) -> Vec<u8> {
    let head = file.get(..splice.at.start).unwrap_or_default();
    let tail = file.get(splice.at.end..).unwrap_or_default();
    [head, &splice.bytes, tail].concat()
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
