//! LDMD: sections of a long document, marked by HTML comments that are alone on their lines.
//!
//! Defines the grammar of the markers, reads the section table, selects what is printed of a
//! section, and writes LDMD documents. The format is defined in the LDMD paper ("LDMD Format and
//! Progressive Disclosure"); see `mdsel help ldmd`.
//!
//! Invariant: the sections of a [`Markup`] are closed and properly nested, in opening order, for
//! any document. A marker that breaks the nesting is a [`MarkerProblem`] and never removes another section.
//! Only markers count: headings and the Markdown structure do not.

mod fault;
pub(crate) mod marker;
mod navigation;
mod parse;
mod search;
mod slice;
mod strict;
mod tree;
mod writer;

use serde::{Deserialize, Serialize};

pub use fault::{FaultKind, MarkerProblem};
pub use marker::{is_marker_line, is_reference_line};
pub use navigation::SectionNeighbors;
pub use parse::parse;
pub use search::{LineMatch, search};
pub use slice::{Mode, Piece, Slice, SliceRequest, whole_scalars};
pub use strict::{StrictProblem, strict_problems};
pub(crate) use writer::attribute;
pub use writer::{MarkerWriter, Opening, closing, opening, stub};

use crate::position::{ByteSpan, LineSpan};

/// The LDMD content of one document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Markup {
    /// The sections in opening order: a section precedes the sections inside of it.
    pub sections: Vec<LdmdSection>,
    /// The problems of the markers, by line.
    pub faults: Vec<MarkerProblem>,
    /// The version in the first VERSION marker, if any.
    pub version: Option<String>,
    /// The REF markers, in document order.
    pub references: Vec<Reference>,
    /// The whole lines of all markers that do not belong to a section, in document order: VERSION,
    /// REF, stubs, and markers with problems.
    pub strays: Vec<ByteSpan>,
}

/// A section, from its BEGIN marker to its END marker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LdmdSection {
    /// The `id` attribute, never empty.
    pub id: String,
    /// Whether a section before this one has the same id.
    pub is_duplicate: bool,
    /// The `title` attribute, or an empty text.
    pub title: String,
    /// The `level` attribute, or 0.
    pub level: u32,
    /// The `parent` attribute, unless it is empty.
    pub declared_parent: Option<String>,
    /// The `tags` attribute, split at its commas, without empty tags.
    pub tags: Vec<String>,
    /// The `meta` attribute, which is the text of a JSON object.
    pub meta: Option<String>,
    /// The `collapsed` attribute.
    pub declared_collapsed: Option<bool>,
    /// All other attributes, in their order.
    pub attributes: Vec<(String, String)>,
    /// From the first byte of the BEGIN marker's line to the end of the END marker's line.
    pub span: ByteSpan,
    /// The span between the two marker lines.
    pub content: ByteSpan,
    /// The lines of `span`.
    pub lines: LineSpan,
    /// The number of sections around this one.
    pub depth: usize,
    /// The index in [`Markup::sections`] of the section around this one.
    pub parent: Option<usize>,
}

/// A REF marker: a reference to another document, or to a section of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    /// The `doc` attribute, never empty.
    pub document: String,
    /// The `section` attribute.
    pub section: Option<String>,
    /// The whole line of the marker.
    pub span: ByteSpan,
    /// The line of the marker, 1-based.
    pub line: usize,
}

impl Markup {
    /// Returns whether the document contains no LDMD markers.
    pub fn is_empty(&self) -> bool {
        self.sections.is_empty()
            && self.faults.is_empty()
            && self.references.is_empty()
            && self.version.is_none()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::parse;
    use crate::position::{ByteSpan, next_line_start};

    /// The depth of nested sections in tests. Work on each pair of so many takes longer than a test allows.
    pub(super) const DEEP: usize = 40_000;
    /// The number of sibling sections in tests.
    pub(super) const FLAT: usize = 40_000;

    /// Returns nested sections `s0`, `s1` and so on, with a line of text each.
    pub(super) fn nested(depth: usize) -> String {
        let begin = |at: usize| format!("<!--LDMD:BEGIN id=\"s{at}\"-->\ntext {at}\n");
        let end = |at: usize| format!("<!--LDMD:END id=\"s{at}\"-->\n");
        (0..depth).map(begin).chain((0..depth).rev().map(end)).collect()
    }

    /// Returns sibling sections `s0`, `s1` and so on, with a line of text each.
    pub(super) fn flat(count: usize) -> String {
        let section = |at: usize| {
            format!("<!--LDMD:BEGIN id=\"s{at}\"-->\ntext {at}\n<!--LDMD:END id=\"s{at}\"-->\n")
        };
        (0..count).map(section).collect()
    }

    /// Returns the fenced code blocks of `bytes` that are not in a container.
    pub(super) fn fences(bytes: &[u8]) -> Vec<ByteSpan> {
        let mut fences = Vec::new();
        let mut open: Option<(usize, u8, usize)> = None;
        let mut start = 0;
        while start < bytes.len() {
            let end = next_line_start(bytes, start);
            let line = bytes[start..end].trim_ascii();
            let run = |mark: u8| line.iter().take_while(|&&byte| byte == mark).count();
            match open {
                Some((from, mark, length)) if run(mark) >= length && run(mark) == line.len() => {
                    fences.push(ByteSpan::new(from, end));
                    open = None;
                }
                None if run(b'`') >= 3 => open = Some((start, b'`', run(b'`'))),
                None if run(b'~') >= 3 => open = Some((start, b'~', run(b'~'))),
                _ => {}
            }
            start = end;
        }
        fences.extend(open.map(|(from, ..)| ByteSpan::new(from, bytes.len())));
        fences
    }

    const PARTS: [&[u8]; 14] = [
        b"<!--LDMD:BEGIN id=\"a\"-->",
        b"<!--LDMD:END id=\"a\"-->",
        b"<!--LDMD:BEGIN id=\"b\" parent=\"a\" level=\"1\"-->",
        b"<!--LDMD:END id=\"b\"-->",
        b"<!--LDMD:X-->",
        b"\n",
        b"\n",
        b"\n",
        b"\n",
        b"\r",
        b"text",
        b"\xff",
        b"\xef\xbb\xbf",
        b" ",
    ];

    proptest! {
        #[test]
        fn sections_are_nested_for_any_bytes(
            parts in proptest::collection::vec(proptest::sample::select(&PARTS[..]), 0..60)
        ) {
            let bytes = parts.concat();
            let markup = parse(&bytes, &[]);
            let mut ends = vec![bytes.len()];
            let mut bounds = Vec::new();
            for section in &markup.sections {
                while ends.len() > 1 && ends.last().is_some_and(|&end| end <= section.span.start) {
                    ends.pop();
                }
                prop_assert_eq!(section.depth, ends.len() - 1);
                prop_assert!(ends.last().is_some_and(|&end| section.span.end <= end));
                prop_assert!(section.span.contains(section.content));
                ends.push(section.span.end);
                bounds.extend([section.span.start, section.content.end]);
            }
            bounds.extend(markup.strays.iter().map(|stray| stray.start));
            let markers = bounds.len();
            bounds.sort_unstable();
            bounds.dedup();
            prop_assert_eq!(bounds.len(), markers, "a marker line bounds one section or is a stray");
        }
    }
}
