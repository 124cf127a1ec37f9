//! LDMD: sections of a long document, marked by HTML comments that stand alone on their lines.
//!
//! Owns the markers' grammar, the section table read from them, what is shown of a section, and
//! the writer. The format is that of the LDMD paper ("LDMD Format and Progressive Disclosure").
//!
//! Invariant: the sections of a [`Markup`] are properly closed and properly nested, in opening
//! order, whatever the document holds; what breaks the stack discipline is a [`Fault`] and never
//! takes another section away. Only markers decide: headings and the Markdown tree do not.

mod fault;
mod marker;
mod navigation;
mod parse;
mod search;
mod slice;
mod tree;
mod writer;

use serde::{Deserialize, Serialize};

pub use fault::{Fault, FaultKind};
pub use marker::is_marker_line;
pub use navigation::Neighbors;
pub use parse::parse;
pub use search::{Match, search};
pub use slice::{Mode, Request, Slice, whole_scalars};
pub use writer::{Opening, Writer, closing, opening};

use crate::position::{ByteSpan, LineSpan};

/// What the markers of one document say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Markup {
    /// The sections, in the order in which they open: an enclosing one stands before its own.
    pub sections: Vec<Section>,
    /// What is wrong with the markers, by line.
    pub faults: Vec<Fault>,
    /// What the first VERSION marker says.
    pub version: Option<String>,
    /// The REF markers, in document order.
    pub references: Vec<Reference>,
    /// Whole lines of the markers that bound no section: VERSION, REF and the faulty ones, in
    /// document order.
    pub strays: Vec<ByteSpan>,
}

/// One section: what stands from a BEGIN marker to its END.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    /// The `id` attribute, never empty.
    pub id: String,
    /// Whether a section before this one has the same id.
    pub is_duplicate: bool,
    /// The `title` attribute, or nothing.
    pub title: String,
    /// The `level` attribute, 0 where there is none.
    pub level: u32,
    /// The `parent` attribute, where it is not empty.
    pub declared_parent: Option<String>,
    /// The `tags` attribute, split at its commas; empty ones are left out.
    pub tags: Vec<String>,
    /// The `meta` attribute: the text of a JSON object that has been checked to be one.
    pub meta: Option<String>,
    /// The `collapsed` attribute.
    pub declared_collapsed: Option<bool>,
    /// The attributes that LDMD does not know, in their order.
    pub attributes: Vec<(String, String)>,
    /// From the first byte of the BEGIN marker's line to behind the line end of the END marker's.
    pub span: ByteSpan,
    /// What stands between the two marker lines.
    pub content: ByteSpan,
    /// The lines of `span`.
    pub lines: LineSpan,
    /// How many sections enclose this one.
    pub depth: usize,
    /// The section that encloses this one, an index into [`Markup::sections`].
    pub parent: Option<usize>,
}

/// A REF marker: a pointer to another document, or to a section of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    /// The `doc` attribute, never empty.
    pub document: String,
    /// The `section` attribute.
    pub section: Option<String>,
    /// The marker's whole line.
    pub span: ByteSpan,
    /// The marker's line, 1-based.
    pub line: usize,
}

impl Markup {
    /// Whether the document holds nothing of LDMD.
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

    /// Sections inside of each other that the tests go down to.
    pub(super) const DEEP: usize = 10_000;
    /// Sections side by side that the tests have.
    pub(super) const FLAT: usize = 10_000;

    /// Sections `s0`, `s1` ... each inside of the one before, with a line of text each.
    pub(super) fn nested(depth: usize) -> String {
        let begin = |at: usize| format!("<!--LDMD:BEGIN id=\"s{at}\"-->\ntext {at}\n");
        let end = |at: usize| format!("<!--LDMD:END id=\"s{at}\"-->\n");
        (0..depth).map(begin).chain((0..depth).rev().map(end)).collect()
    }

    /// Sections `s0`, `s1` ... side by side, with a line of text each.
    pub(super) fn flat(count: usize) -> String {
        let section = |at: usize| {
            format!("<!--LDMD:BEGIN id=\"s{at}\"-->\ntext {at}\n<!--LDMD:END id=\"s{at}\"-->\n")
        };
        (0..count).map(section).collect()
    }

    /// The fenced code blocks of `bytes` that stand in no container.
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
        fn sections_nest_whatever_the_bytes(
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
