//! Slices of a section: how deep, how many bytes, with or without markers.
//!
//! Invariant: a slice consists of whole lines of the file and of stubs, and sections are left out completely,
//! with their markers. So a slice without a byte limit parses without new problems.

use super::{LdmdSection, Markup, stub};
use crate::limits;
use crate::position::ByteSpan;

/// How much of a section to print.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// The whole section.
    #[default]
    Full,
    /// The section and its direct subsections, at most 4096 bytes.
    Preview,
    /// The summary: the section whose id is this id followed by `_tldr`.
    Tldr,
}

/// A request for a part of a section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SliceRequest {
    /// How much of the section to print.
    pub mode: Mode,
    /// Levels of subsections to show, 0 for none; `None` for the default of the mode.
    pub depth: Option<usize>,
    /// Size limit in bytes, 0 for the default of the mode.
    pub limit_bytes: usize,
    /// Whether to leave out the marker lines of the sections.
    pub strip_markers: bool,
    /// The line end of the stubs that stand for sections left out; `None` for no stubs.
    pub stub_end: Option<&'static str>,
}

/// A part of a slice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Bytes of the file.
    File(ByteSpan),
    /// Bytes of a stub: the line that stands for a section left out.
    Stub(Vec<u8>),
}

impl Piece {
    /// Returns its length in bytes.
    fn length(&self) -> usize {
        match self {
            Self::File(span) => span.len(),
            Self::Stub(line) => line.len(),
        }
    }

    /// Returns its bytes from `start` to `end`, which must be in it.
    fn part(&self, start: usize, end: usize) -> Self {
        match self {
            Self::File(span) => Self::File(ByteSpan::new(span.start + start, span.start + end)),
            Self::Stub(line) => Self::Stub(line.get(start..end).unwrap_or_default().to_vec()),
        }
    }
}

/// The part of a section that is printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slice {
    /// The section printed, as an index into [`Markup::sections`]; in tldr mode the summary.
    pub section: usize,
    /// The mode applied: a preview if there is no summary.
    pub mode: Mode,
    /// Levels of subsections shown, `None` for all.
    pub depth: Option<usize>,
    /// Size limit in bytes, 0 for no limit.
    pub limit_bytes: usize,
    /// What makes up the answer before the limit, in order.
    pub pieces: Vec<Piece>,
    /// The number of sections left out because of their depth.
    pub omitted: usize,
}

impl Markup {
    /// Returns the part of `section` that `request` asks for. It is empty if no section has this
    /// index.
    pub fn slice(&self, section: usize, request: &SliceRequest) -> Slice {
        let summary = self.summary(section).filter(|_| request.mode == Mode::Tldr);
        let (section, mode) = match (request.mode, summary) {
            (Mode::Full, _) => (section, Mode::Full),
            (_, Some(summary)) => (summary, Mode::Tldr),
            (_, None) => (section, Mode::Preview),
        };
        let mut slice = Slice {
            section,
            mode,
            depth: request.depth,
            limit_bytes: request.limit_bytes,
            ..Slice::default()
        };
        if mode == Mode::Preview {
            slice.depth = Some(request.depth.map_or(1, |depth| depth.min(1)));
            if slice.limit_bytes == 0 {
                slice.limit_bytes = limits::LDMD_PREVIEW_BYTES;
            }
        }
        if let Some(root) = self.sections.get(section) {
            let cuts = self.cuts(section, root, &mut slice, request);
            slice.pieces = without(root.span, cuts);
        }
        slice
    }

    /// Returns the summary of `section`: the first section inside of it with the id of a summary, or else one elsewhere
    /// that declares `section` as its parent, or else one that declares no parent.
    fn summary(&self, section: usize) -> Option<usize> {
        let id = &self.sections.get(section)?.id;
        let is_summary = |other: &LdmdSection| other.id.strip_suffix("_tldr") == Some(id);
        let inside = self.nested(section).find(|(_, nested)| is_summary(nested));
        let found = inside.or_else(|| {
            let declares = |other: &LdmdSection, parent| other.declared_parent.as_ref() == parent;
            let all = || self.sections.iter().enumerate().filter(|(_, other)| is_summary(other));
            let undeclared = || all().find(|(_, other)| declares(other, None));
            all().find(|(_, other)| declares(other, Some(id))).or_else(undeclared)
        });
        found.map(|(index, _)| index)
    }

    /// Returns the spans to leave out of `root`, in document order, each with its stub if it has one. Counts the
    /// sections left out.
    fn cuts(
        &self,
        section: usize,
        root: &LdmdSection,
        slice: &mut Slice,
        request: &SliceRequest,
    ) -> Vec<(ByteSpan, Option<Vec<u8>>)> {
        let deepest = slice.depth.map_or(usize::MAX, |depth| root.depth.saturating_add(depth));
        let mut cuts = Vec::new();
        for (index, shown) in std::iter::once((section, root)).chain(self.nested(section)) {
            let LdmdSection { span, content, .. } = shown;
            if shown.depth > deepest {
                slice.omitted += 1;
                // Deeper sections are inside of a span that is already left out.
                if shown.depth - 1 == deepest {
                    let line = |end| (stub(&self.name(index), span.len()) + end).into_bytes();
                    cuts.push((*span, request.stub_end.map(line)));
                }
            } else if request.strip_markers {
                cuts.push((ByteSpan::new(span.start, content.start), None));
                cuts.push((ByteSpan::new(content.end, span.end), None));
            }
        }
        cuts.sort_unstable_by_key(|(cut, _)| cut.start);
        cuts
    }
}

/// Returns the parts of `whole` that are not in `cuts`, which are sorted and disjoint, and the stubs of these.
fn without(whole: ByteSpan, cuts: Vec<(ByteSpan, Option<Vec<u8>>)>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut start = whole.start;
    for (cut, stub) in cuts {
        if start < cut.start {
            pieces.push(Piece::File(ByteSpan::new(start, cut.start)));
        }
        pieces.extend(stub.map(Piece::Stub));
        start = cut.end;
    }
    if start < whole.end {
        pieces.push(Piece::File(ByteSpan::new(start, whole.end)));
    }
    pieces
}

impl Slice {
    /// Returns the length in bytes before the limit.
    pub fn bytes(&self) -> usize {
        self.pieces.iter().map(Piece::length).sum()
    }

    /// Returns the pieces after the first `from` bytes, up to the limit, and whether the limit cut
    /// something. A cut may split a scalar; [`whole_scalars`] removes the incomplete one.
    pub fn limited(&self, from: usize) -> (Vec<Piece>, bool) {
        let limit = if self.limit_bytes == 0 { usize::MAX } else { self.limit_bytes };
        let (mut passed, mut room) = (from, limit);
        let limited = self.pieces.iter().map(|piece| {
            let start = passed.min(piece.length());
            passed -= start;
            let length = (piece.length() - start).min(room);
            room -= length;
            piece.part(start, start + length)
        });
        let pieces = limited.filter(|piece| piece.length() > 0).collect();
        (pieces, self.bytes().saturating_sub(from) > limit)
    }
}

/// Removes an incomplete UTF-8 sequence from the end of `bytes`, which have been cut. Other invalid
/// bytes are kept.
pub fn whole_scalars(bytes: &[u8]) -> &[u8] {
    let is_incomplete = |tail: &[u8]| {
        std::str::from_utf8(tail)
            .is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
    };
    // A sequence has at most four bytes, so an incomplete one has at most three.
    (1..=3)
        .filter_map(|length| bytes.split_at_checked(bytes.len().checked_sub(length)?))
        .find(|(_, tail)| is_incomplete(tail))
        .map_or(bytes, |(whole, _)| whole)
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::super::tests::{DEEP, FLAT, flat, nested};
    use super::*;
    use crate::processor_time::within;

    const DOCUMENT: &str = "\u{feff}<!--LDMD:BEGIN id=\"outer\"-->
Outer \u{e9} content
<!--LDMD:BEGIN id=\"inner\" parent=\"outer\"-->
Inner \u{4e2d}\u{6587} content
<!--LDMD:BEGIN id=\"deep\"-->
Deep \u{1f600} content
<!--LDMD:BEGIN id=\"outer_tldr\" parent=\"outer\"-->
First summary
<!--LDMD:END id=\"outer_tldr\"-->
<!--LDMD:END id=\"deep\"-->
<!--LDMD:END id=\"inner\"-->
<!--LDMD:REF doc=\"x.md\"-->
More outer content
<!--LDMD:END id=\"outer\"-->
<!--LDMD:BEGIN id=\"inner_tldr\" parent=\"inner\"-->
<!--LDMD:BEGIN id=\"part\"-->
Apart
<!--LDMD:END id=\"part\"-->
<!--LDMD:END id=\"inner_tldr\"-->
<!--LDMD:BEGIN id=\"deep_tldr\" parent=\"outer\"-->
<!--LDMD:END id=\"deep_tldr\"-->
";
    const MODES: [Mode; 3] = [Mode::Full, Mode::Preview, Mode::Tldr];

    fn bytes(pieces: &[Piece]) -> Vec<u8> {
        let bytes = |piece: &Piece| match piece {
            Piece::File(span) => span.of(DOCUMENT.as_bytes()).to_vec(),
            Piece::Stub(line) => line.clone(),
        };
        pieces.iter().flat_map(bytes).collect()
    }

    fn requests() -> impl Iterator<Item = SliceRequest> {
        let depths = [None, Some(0), Some(1), Some(2), Some(3)];
        MODES.into_iter().flat_map(move |mode| {
            depths.into_iter().flat_map(move |depth| {
                [(false, None), (true, None), (false, Some("\n")), (true, Some("\r\n"))].map(
                    |(strip_markers, stub_end)| SliceRequest {
                        mode,
                        depth,
                        limit_bytes: 0,
                        strip_markers,
                        stub_end,
                    },
                )
            })
        })
    }

    #[test]
    fn sections_below_the_depth_are_left_out_completely() {
        let markup = parse(DOCUMENT.as_bytes(), &[]);
        let shown = |depth, strip_markers| {
            let request = SliceRequest { depth, strip_markers, ..SliceRequest::default() };
            let slice = markup.slice(0, &request);
            (String::from_utf8(bytes(&slice.pieces)).unwrap(), slice.omitted)
        };
        let end = DOCUMENT.find("<!--LDMD:BEGIN id=\"inner_tldr").unwrap();
        assert_eq!(shown(None, false), (DOCUMENT[..end].to_owned(), 0));
        assert_eq!(shown(Some(3), false), shown(None, false));
        assert_eq!(
            shown(Some(0), false),
            (
                "\u{feff}<!--LDMD:BEGIN id=\"outer\"-->\nOuter \u{e9} content\n<!--LDMD:REF doc=\"x.md\"-->\n\
                 More outer content\n<!--LDMD:END id=\"outer\"-->\n"
                    .to_owned(),
                3
            )
        );
        assert_eq!(
            shown(Some(1), true),
            (
                "Outer \u{e9} content\nInner \u{4e2d}\u{6587} content\n<!--LDMD:REF doc=\"x.md\"-->\nMore outer content\n"
                    .to_owned(),
                2
            )
        );
    }

    #[test]
    fn a_stub_stands_for_a_section_below_the_depth() {
        let markup = parse(DOCUMENT.as_bytes(), &[]);
        let shown = |depth| {
            let (depth, stub_end) = (Some(depth), Some("\n"));
            let request = SliceRequest { depth, stub_end, ..SliceRequest::default() };
            String::from_utf8(bytes(&markup.slice(0, &request).pieces)).unwrap()
        };
        let length = |id| markup.sections[markup.named(id).unwrap()].span.len();
        let stub = |id| format!("<!--LDMD:REF id=\"{id}\" bytes=\"{}\"-->\n", length(id));
        assert_eq!(
            shown(0),
            format!(
                "\u{feff}<!--LDMD:BEGIN id=\"outer\"-->\nOuter \u{e9} content\n{}\
                 <!--LDMD:REF doc=\"x.md\"-->\nMore outer content\n<!--LDMD:END id=\"outer\"-->\n",
                stub("inner")
            )
        );
        assert!(shown(1).contains(&stub("deep")) && !shown(1).contains(&stub("outer_tldr")));
        assert!(shown(2).contains(&stub("outer_tldr")));
        assert!(!shown(3).contains("bytes="));
    }

    #[test]
    fn the_depth_filter_of_the_ldmd_paper() {
        let text = "<!--LDMD:BEGIN id=\"outer\"-->\nOuter content\n<!--LDMD:BEGIN id=\"inner\"-->\n\
                    Inner content\n<!--LDMD:END id=\"inner\"-->\nMore outer content\n<!--LDMD:END id=\"outer\"-->\n";
        let markup = parse(text.as_bytes(), &[]);
        let shown = |depth| {
            let request =
                SliceRequest { depth: Some(depth), strip_markers: true, ..SliceRequest::default() };
            let pieces = markup.slice(0, &request).pieces;
            let part = |piece: &Piece| match piece {
                Piece::File(span) => &text[span.start..span.end],
                Piece::Stub(_) => panic!("{piece:?}"),
            };
            pieces.iter().map(part).collect::<String>()
        };
        assert_eq!(shown(0), "Outer content\nMore outer content\n");
        assert_eq!(shown(1), "Outer content\nInner content\nMore outer content\n");
    }

    #[test]
    fn summaries_inside_the_section_come_before_declared_ones() {
        let markup = parse(DOCUMENT.as_bytes(), &[]);
        let tldr = |id| {
            let request = SliceRequest { mode: Mode::Tldr, ..SliceRequest::default() };
            let slice = markup.slice(markup.named(id).unwrap(), &request);
            (markup.name(slice.section), slice.mode, slice.depth, slice.limit_bytes, slice.omitted)
        };
        assert_eq!(tldr("outer"), ("outer_tldr".to_owned(), Mode::Tldr, None, 0, 0));
        assert_eq!(tldr("inner"), ("inner_tldr".to_owned(), Mode::Tldr, None, 0, 0));
        assert_eq!(tldr("deep"), ("deep".to_owned(), Mode::Preview, Some(1), 4096, 0));
        assert_eq!(tldr("part").1, Mode::Preview);
        let beside = "<!--LDMD:BEGIN id=\"a\"-->\n<!--LDMD:END id=\"a\"-->\n\
                      <!--LDMD:BEGIN id=\"a_tldr\"-->\n<!--LDMD:END id=\"a_tldr\"-->\n";
        let request = SliceRequest { mode: Mode::Tldr, ..SliceRequest::default() };
        assert_eq!(parse(beside.as_bytes(), &[]).slice(0, &request).section, 1);
        let twice = "<!--LDMD:BEGIN id=\"a\"-->\n<!--LDMD:BEGIN id=\"a_tldr\"-->\n<!--LDMD:END id=\"a_tldr\"-->\n\
                     <!--LDMD:BEGIN id=\"a_tldr\"-->\n<!--LDMD:END id=\"a_tldr\"-->\n<!--LDMD:END id=\"a\"-->\n";
        let request = SliceRequest { mode: Mode::Tldr, ..SliceRequest::default() };
        assert_eq!(parse(twice.as_bytes(), &[]).slice(0, &request).section, 1);
    }

    #[test]
    fn a_preview_is_shallow_and_short() {
        let markup = parse(DOCUMENT.as_bytes(), &[]);
        for (depth, limit_bytes, expected) in [
            (None, 0, (Some(1), 4096)),
            (Some(0), 0, (Some(0), 4096)),
            (Some(3), 9000, (Some(1), 9000)),
        ] {
            let request =
                SliceRequest { mode: Mode::Preview, depth, limit_bytes, ..SliceRequest::default() };
            let slice = markup.slice(0, &request);
            assert_eq!((slice.depth, slice.limit_bytes), expected);
        }
        assert_eq!(markup.slice(99, &SliceRequest::default()).pieces, []);
    }

    #[test]
    fn every_limit_is_used_and_cuts_between_scalars() {
        let markup = parse(DOCUMENT.as_bytes(), &[]);
        for request in requests() {
            for section in 0..markup.sections.len() {
                let whole = markup.slice(section, &request);
                for limit_bytes in 1..=whole.bytes() + 1 {
                    let slice = markup.slice(section, &SliceRequest { limit_bytes, ..request });
                    let (pieces, is_cut) = slice.limited(0);
                    let cut = bytes(&pieces);
                    let shown = if is_cut { whole_scalars(&cut) } else { &cut };
                    assert!(std::str::from_utf8(shown).is_ok(), "{request:?} {limit_bytes}");
                    assert!(shown.len() <= limit_bytes && cut.len() < shown.len() + 4);
                    assert_eq!(cut.len(), limit_bytes.min(whole.bytes()));
                    assert_eq!(is_cut, limit_bytes < whole.bytes());
                }
            }
        }
    }

    #[test]
    fn unlimited_slices_parse_without_problems() {
        let markup = parse(DOCUMENT.as_bytes(), &[]);
        assert_eq!(markup.faults.len(), 1, "a summary that declares another parent");
        for request in requests() {
            for section in 0..markup.sections.len() {
                let slice = markup.slice(section, &request);
                let again = parse(&bytes(&slice.pieces), &[]);
                assert_eq!(again.faults, [], "{request:?} of {section}");
                let shown = markup.nested(slice.section).count() + 1 - slice.omitted;
                assert_eq!(again.sections.len(), if request.strip_markers { 0 } else { shown });
            }
        }
    }

    #[test]
    fn only_an_incomplete_sequence_is_removed() {
        for (text, length) in [
            (&b""[..], 0),
            (b"a", 1),
            (b"a\xc3", 1),
            (b"a\xc3\xa9", 3),
            (b"a\xe4\xb8", 1),
            (b"\xf0\x9f\x98", 0),
            (b"\xf0\x9f\x98\x80", 4),
            (b"a\xff", 2),
            (b"a\xff\x80\x80", 4),
            (b"\xffa\xc3", 2),
        ] {
            assert_eq!(whole_scalars(text).len(), length, "{text:?}");
        }
    }

    #[test]
    fn many_and_deep_sections_take_linear_time() {
        for text in [
            nested(DEEP),
            format!("<!--LDMD:BEGIN id=\"a\"-->\n{}<!--LDMD:END id=\"a\"-->\n", flat(FLAT)),
        ] {
            let markup = parse(text.as_bytes(), &[]);
            let stubs =
                SliceRequest { depth: Some(0), stub_end: Some("\n"), ..SliceRequest::default() };
            for request in requests().filter(|it| it.stub_end.is_none()).chain([stubs]) {
                let slice = within(5, "a slice", || markup.slice(0, &request));
                assert!(slice.pieces.len() <= 2 * FLAT + 1);
            }
        }
    }
}
