//! Finds the markers that a strict reader reads differently.
//!
//! A strict reader is that of the LDMD paper (section "Marker Grammar"). Its regular expressions must match a whole
//! line, and it does not know code and front matter. Invariant: only BEGIN and END are reported, because a strict
//! reader takes all other markers for text.

use std::collections::HashSet;
use std::sync::OnceLock;

use memchr::memmem;
use regex::bytes::Regex;

use super::Markup;
use super::marker::{COMMENT, Marker, is_begun};
use crate::position::{ByteSpan, LineIndex, trim_line_end};

/// The lines that a strict reader takes for markers.
const MARKER: &str = concat!(
    r#"(?-u)^<!--LDMD:(?:BEGIN\s+id="[^"]+"(?:\s+title="[^"]*")?(?:\s+level="[0-9]+")?"#,
    r#"(?:\s+parent="[^"]*")?(?:\s+tags="[^"]*")?|END\s+id="[^"]+")\s*-->$"#,
);

/// A marker that a strict reader reads differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StrictProblem {
    /// A stable code in capitals.
    pub code: &'static str,
    /// The line of the marker, 1-based.
    pub line: usize,
    /// A description of the problem.
    pub message: &'static str,
}

/// Returns the problems of the document `bytes`, whose markers are `markup`, by line.
pub fn strict_problems(bytes: &[u8], markup: &Markup) -> Vec<StrictProblem> {
    static REGEX: OnceLock<Option<Regex>> = OnceLock::new();
    let Some(regex) = REGEX.get_or_init(|| Regex::new(MARKER).ok()) else { return Vec::new() };
    let bounds = markup.sections.iter().flat_map(|it| [it.span.start, it.content.end]);
    let markers: HashSet<usize> =
        bounds.chain(markup.strays.iter().map(|stray| stray.start)).collect();
    let index = LineIndex::new(bytes);
    let begun = |at: &usize| bytes.get(*at..).is_some_and(is_begun);
    let mut lines: Vec<usize> =
        memmem::find_iter(bytes, COMMENT).filter(begun).map(|at| index.line_of(at)).collect();
    lines.dedup();
    let mut problems = Vec::new();
    for line in lines {
        let mut add = |code, message| problems.push(StrictProblem { code, line, message });
        let span = ByteSpan::new(index.start_of(line), index.end_of(line));
        let text = trim_line_end(span.of(bytes));
        let is_strict = regex.is_match(text);
        if !markers.contains(&span.start) {
            if is_strict {
                add(
                    "MARKER_IN_CODE",
                    "a strict reader reads this marker, which is in code or in front matter",
                );
            }
            continue;
        }
        let bare = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text).trim_ascii();
        if is_strict || !matches!(Marker::read(bare), Some(Marker::Begin(..) | Marker::End(_))) {
            continue;
        }
        if bare.len() < text.len() {
            add(
                "BLANKS_AROUND_MARKER",
                "a strict reader reads no marker with blanks or a byte order mark beside it",
            );
        }
        if !regex.is_match(bare) {
            add(
                "ATTRIBUTE_ORDER",
                "a strict reader takes only id, title, level, parent and tags, in this order and in double quotes",
            );
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::super::tests::fences;
    use super::*;

    #[test]
    fn a_strict_reader_knows_the_order_of_attributes_and_no_code() {
        for (line, expected) in [
            (
                "<!--LDMD:BEGIN id=\"a\" title=\"\" level=\"1\" parent=\"b\" tags=\"x,y\" -->",
                &[][..],
            ),
            ("<!--LDMD:BEGIN  id=\"a\"\ttags=\"\"-->", &[]),
            ("  <!--LDMD:BEGIN id=\"a\"-->", &["BLANKS_AROUND_MARKER"]),
            ("<!--LDMD:BEGIN id=\"a\"-->\t", &["BLANKS_AROUND_MARKER"]),
            ("\u{feff}<!--LDMD:BEGIN id=\"a\"-->", &["BLANKS_AROUND_MARKER"]),
            ("<!--LDMD:BEGIN title=\"t\" id=\"a\"-->", &["ATTRIBUTE_ORDER"]),
            ("<!--LDMD:BEGIN id=\"a\" level=\"1\" title=\"t\"-->", &["ATTRIBUTE_ORDER"]),
            ("<!--LDMD:BEGIN id=\"a\" meta='{}'-->", &["ATTRIBUTE_ORDER"]),
            ("<!--LDMD:BEGIN id='a'-->", &["ATTRIBUTE_ORDER"]),
            (" <!--LDMD:BEGIN id='a'-->", &["BLANKS_AROUND_MARKER", "ATTRIBUTE_ORDER"]),
            (" <!--LDMD:VERSION 1.0-->", &[]),
            (" <!--LDMD:REF doc='x.md'-->", &[]),
            ("<!--LDMD:BEGIN-->", &[]),
            ("```\n<!--LDMD:END id=\"a\"-->\n```", &["MARKER_IN_CODE"]),
            ("```\n <!--LDMD:END id=\"a\"-->\n```", &[]),
            ("```\n<!--LDMD:BEGIN id='a'-->\n```", &[]),
            ("text <!--LDMD:END id=\"a\"-->", &[]),
        ] {
            for end in ["", "\n", "\r\n", "\r"] {
                let text = format!("{line}{end}");
                let markup = parse(text.as_bytes(), &fences(text.as_bytes()));
                let problems = strict_problems(text.as_bytes(), &markup);
                let codes: Vec<&str> = problems.iter().map(|problem| problem.code).collect();
                assert_eq!(codes, expected, "{text:?}");
            }
        }
    }
}
