//! Edits: which bytes of a file go and what takes their place, or why not. Pure: no store, no file.
//!
//! [`plan()`] computes a [`Splice`] from the bytes of a file, their outline and a [`Request`];
//! [`apply()`] carries it out. `text` knows lines and line ends, `fragment` reads the content that is to
//! be put in, `slot` owns the blank lines at its seams, `check` compares the outlines before and
//! after. Invariant (contract, section 11): bytes outside the splice stay as they are and, read again,
//! mean what they meant; an edit of which that is not true is refused.
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
//! use mdsel::edit::plan::{Allow, Request, Scope, Target, apply, plan};
//! use mdsel::{ldmd, markdown};
//!
//! let file = b"# A\n\nold\n\n# B\n";
//! let document = markdown::parse(file);
//! let markup = ldmd::parse(file, &document.opaque);
//! let target = Target::Node(document.outline.sections[0].node);
//! let request = Request::Replace { content: b"new", scope: Scope::Subtree, keep_heading: true };
//! let splice = plan(file, &document.outline, &markup, target, request, Allow::default()).unwrap();
//! assert_eq!(apply(file, &splice), b"# A\n\nnew\n\n# B\n");
//! ```

mod check;
mod draft;
mod fragment;
mod planner;
mod refusal;
mod slot;
mod text;
mod version;

pub use planner::plan;
pub use refusal::Refusal;

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
pub struct Allow {
    /// Replacing sections by fewer ones.
    pub drop: bool,
    /// Headings that leave the section, and take along what follows.
    pub escape: bool,
    /// Inserting a section beside an equal one.
    pub duplicate: bool,
}

/// A section that stands below another one than before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reparented {
    /// Its slug path before; `@LINE` where it has none.
    pub from: String,
    /// Its slug path afterwards; `@LINE` where it has none.
    pub to: String,
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
