//! Text search in the sections of a document.
//!
//! Invariant: a line belongs to its innermost section and matches once. Marker lines and lines
//! outside of every section never match.

use super::{LdmdSection, Markup};
use crate::markdown::slug::comparable;
use crate::position::next_line_start;

/// A line that contains the search text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineMatch {
    /// The innermost section around the line, as an index into [`Markup::sections`].
    pub section: usize,
    /// The line in the section's content, 0-based.
    pub line: usize,
    /// The line in the document, 1-based.
    pub document_line: usize,
    /// The line without blanks around it. Invalid UTF-8 is replaced by U+FFFD.
    pub text: String,
    /// Whether the line has invalid UTF-8.
    pub is_lossy: bool,
}

/// Returns the lines of `markup`'s sections in `bytes`, the document, that contain `query`,
/// case-folded and in NFC. An empty query matches every line.
pub fn search(markup: &Markup, bytes: &[u8], query: &str) -> Vec<LineMatch> {
    let query = comparable(query);
    let mut matches = Vec::new();
    let mut sections = markup.sections.iter().enumerate().peekable();
    let mut strays = markup.strays.iter().peekable();
    let mut open: Vec<(usize, &LdmdSection)> = Vec::new();
    let first = markup.sections.first();
    let mut start = first.map_or(bytes.len(), |section| section.span.start);
    let mut document_line = first.map_or(0, |section| section.lines.start);
    while start < bytes.len() {
        let end = next_line_start(bytes, start);
        while open.pop_if(|(_, section)| section.span.end <= start).is_some() {}
        while strays.next_if(|stray| stray.end <= start).is_some() {}
        let is_stray = strays.peek().is_some_and(|stray| stray.start == start);
        if let Some(opened) = sections.next_if(|(_, section)| section.span.start == start) {
            open.push(opened);
        } else if let Some((index, section)) = open.last()
            && section.content.end != start
            && !is_stray
        {
            let text = String::from_utf8_lossy(bytes.get(start..end).unwrap_or_default());
            if comparable(&text).contains(&query) {
                matches.push(LineMatch {
                    section: *index,
                    line: document_line - section.lines.start - 1,
                    document_line,
                    text: text.trim().to_owned(),
                    is_lossy: matches!(text, std::borrow::Cow::Owned(_)),
                });
            }
        }
        start = end;
        document_line += 1;
    }
    matches
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::super::tests::{DEEP, FLAT, fences, flat, nested};
    use super::*;
    use crate::processor_time::within;

    const DOCUMENT: &str = "needle outside
<!--LDMD:BEGIN id=\"a\" title=\"needle\"-->
own needle, and a needle again
<!--LDMD:BEGIN id=\"needle\"-->
first
   A NEEDLE inside\t
<!--LDMD:REF doc=\"needle\"-->
```
<!--LDMD:END id=\"needle\"-->
```
<!--LDMD:END id=\"needle\"-->
NEEDLE, Stra\u{df}e \u{3a3}\u{391}\u{3a3}
<!--LDMD:END id=\"a\"-->
needle after
";

    fn found(query: &str) -> Vec<(usize, usize, usize, String)> {
        let markup = parse(DOCUMENT.as_bytes(), &fences(DOCUMENT.as_bytes()));
        let row = |found: LineMatch| (found.section, found.line, found.document_line, found.text);
        search(&markup, DOCUMENT.as_bytes(), query).into_iter().map(row).collect()
    }

    #[test]
    fn a_line_matches_only_in_its_innermost_section() {
        assert_eq!(
            found("Needle"),
            [
                (0, 0, 3, "own needle, and a needle again".to_owned()),
                (1, 1, 6, "A NEEDLE inside".to_owned()),
                (1, 4, 9, "<!--LDMD:END id=\"needle\"-->".to_owned()),
                (0, 9, 12, "NEEDLE, Stra\u{df}e \u{3a3}\u{391}\u{3a3}".to_owned()),
            ]
        );
    }

    #[test]
    fn case_is_folded_in_full() {
        for query in
            ["STRA\u{df}E", "strasse", "\u{3c3}\u{3b1}", "\u{3b1}\u{3c3}", "\u{391}\u{3a3}"]
        {
            assert_eq!(found(query).len(), 1, "{query}");
        }
        assert_eq!(found("LDMD:BEGIN"), []);
        assert_eq!(found("after"), []);
    }

    #[test]
    fn many_and_deep_sections_take_linear_time() {
        for text in [nested(DEEP), flat(FLAT)] {
            let markup = parse(text.as_bytes(), &[]);
            let matches = within(5, "a search", || search(&markup, text.as_bytes(), "TEXT"));
            assert_eq!(matches.len(), markup.sections.len());
            assert!(
                matches
                    .iter()
                    .enumerate()
                    .all(|(at, found)| (found.section, found.line) == (at, 0))
            );
        }
    }

    #[test]
    fn text_around_invalid_utf8_is_searched() {
        let text = b"<!--LDMD:BEGIN id=\"a\"-->\n\xff needle \xe4\n<!--LDMD:END id=\"a\"-->";
        let matches = search(&parse(text, &[]), text, "needle");
        assert_eq!(matches[0].text, "\u{fffd} needle \u{fffd}");
    }
}
