//! The content of an edit, parsed as Markdown by itself.
//!
//! Invariant: shifting heading levels changes no title and no line other than heading lines.

use super::Refusal;
use super::text::{lines, trimmed, with_line_ends};
use crate::limits::{Limit, row};
use crate::markdown::{self, Diagnostic, Dialect, TOO_MANY_LINES, TOO_MANY_NODES};
use crate::position::{ByteSpan, trim_line_end};

/// A heading of the content that begins a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FragmentHeading {
    /// The span of its lines in the content, including the last line end.
    pub(super) span: ByteSpan,
    pub(super) level: u8,
    pub(super) title: String,
}

/// Content without blank lines at both ends and without the final line end.
#[derive(Clone, Debug, Default)]
pub(super) struct Fragment {
    pub(super) bytes: Vec<u8>,
    pub(super) headings: Vec<FragmentHeading>,
    /// The line, 1-based, of a block that is not closed and would include the text after the content.
    pub(super) open_line: Option<usize>,
    /// The limit that ends the parsing before the end of the content, if any.
    pub(super) limit: Option<Limit>,
    pub(super) dialect: Dialect,
}

/// Returns content without a byte order mark, with all line ends converted to `line_end`.
pub(super) fn converted(content: &[u8], line_end: &[u8]) -> Vec<u8> {
    let content = content.strip_prefix(markdown::BYTE_ORDER_MARK).unwrap_or(content);
    with_line_ends(content, line_end)
}

impl Fragment {
    /// Converts, trims and parses `content`, which is written in `dialect`.
    pub(super) fn new(content: &[u8], line_end: &[u8], dialect: Dialect) -> Self {
        let content = converted(content, line_end);
        let span = trimmed(&content, ByteSpan::new(0, content.len()));
        Self::read(span.of(&content).to_vec(), dialect)
    }

    pub(super) fn read(bytes: Vec<u8>, dialect: Dialect) -> Self {
        // A blank line before the content prevents front matter. A heading after the content is parsed as a
        // heading unless the content has an open block.
        let probe = 1 + bytes.len() + 2;
        let probed = [b"\n", &bytes[..], b"\n\n#\n"].concat();
        let document = markdown::parse_as(&probed, dialect);
        let limit = document.diagnostics.iter().find_map(limit_of);
        let outline = document.outline;
        let mut headings: Vec<FragmentHeading> = outline
            .sections
            .into_iter()
            .filter_map(|section| {
                let start = outline.nodes.get(section.node)?.bytes.start;
                let span = ByteSpan::new(start.checked_sub(1)?, section.heading_end - 1);
                Some(FragmentHeading { span, level: section.level, title: section.title })
            })
            .collect();
        let is_open = headings.pop_if(|last| last.span.start + 1 == probe).is_none();
        let last = outline.nodes.last().map_or(1, |node| node.lines.start - 1);
        let limit = limit.filter(|_| is_open);
        let open_line = (is_open && limit.is_none()).then_some(last);
        Self { bytes, headings, open_line, limit, dialect }
    }

    /// The heading with which the content begins, if any.
    pub(super) fn leading_heading(&self) -> Option<&FragmentHeading> {
        self.headings.first().filter(|heading| heading.span.start == 0)
    }

    /// Shifts all headings by the same number of levels, so that the first one gets `level`. Refuses if a
    /// heading would get a level outside 1 to 6, or if its title would change.
    pub(super) fn with_level(self, level: u8) -> Result<Self, Refusal> {
        let Some(first) = self.headings.first().map(|heading| heading.level) else {
            return Ok(self);
        };
        if first == level {
            return Ok(self);
        }
        let mut bytes = Vec::with_capacity(self.bytes.len() + 6 * self.headings.len());
        let mut position = 0;
        for heading in &self.headings {
            let moved = i16::from(heading.level) + i16::from(level) - i16::from(first);
            let refusal = || Refusal::NoSuchLevel { title: heading.title.clone(), level: moved };
            let hashes = usize::try_from(moved)
                .ok()
                .and_then(|level| b"######".get(..level))
                .filter(|hashes| !hashes.is_empty())
                .ok_or_else(refusal)?;
            bytes.extend_from_slice(ByteSpan::new(position, heading.span.start).of(&self.bytes));
            let end = heading.span.end.min(self.bytes.len());
            bytes.extend(at_level(ByteSpan::new(heading.span.start, end).of(&self.bytes), hashes));
            position = end;
        }
        bytes.extend_from_slice(self.bytes.get(position..).unwrap_or_default());
        let moved = Self::read(bytes, self.dialect);
        // A setext title of several lines, or one that ends in `#`, may change when it becomes an ATX heading.
        let changed = self.headings.iter().zip(&moved.headings).find(|(a, b)| a.title != b.title);
        match changed.map(|(heading, _)| heading).or(self.headings.get(moved.headings.len())) {
            Some(heading) => {
                let level = i16::from(heading.level) + i16::from(level) - i16::from(first);
                Err(Refusal::NoSuchLevel { title: heading.title.clone(), level })
            }
            None => Ok(moved),
        }
    }
}

/// Returns the limit after which no heading is parsed, if `diagnostic` says that a document exceeds it.
pub(super) fn limit_of(diagnostic: &Diagnostic) -> Option<Limit> {
    match diagnostic.code {
        TOO_MANY_NODES => Some(row::MAX_NODES),
        TOO_MANY_LINES => Some(row::MAX_PARSED_LINES),
        _ => None,
    }
}

/// Returns a heading with the level of `hashes`. A setext heading becomes an ATX heading on one line.
fn at_level(heading: &[u8], hashes: &[u8]) -> Vec<u8> {
    let text: Vec<&[u8]> = lines(heading).collect();
    let Some((last, above)) = text.split_last() else { return Vec::new() };
    let line_end = last.get(trim_line_end(last).len()..).unwrap_or_default();
    if above.is_empty() {
        let indentation = last.iter().take_while(|&&byte| byte == b' ').count();
        let (before, rest) = last.split_at(indentation);
        let run = rest.iter().take_while(|&&byte| byte == b'#').count();
        return [before, hashes, rest.get(run..).unwrap_or_default()].concat();
    }
    let words: Vec<&[u8]> = above.iter().map(|line| line.trim_ascii()).collect();
    [hashes, b" ", &words.join(&b' '), line_end].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unclosed_blocks_are_detected() {
        for (content, is_open) in [
            ("text\n- list", false),
            ("```\ncode", true),
            ("~~~~\n~~~\n", true),
            ("````\n```\n````\n", false),
            ("<!-- a", true),
            ("<!-- a -->", false),
            ("<pre>\n\nx", true),
            ("<script>\n</script>", false),
            ("<div>", false),
            ("<?php", true),
            ("- ```\n  code", false),
            ("> <!-- a", false),
            ("    code", false),
        ] {
            let open_line = Fragment::new(content.as_bytes(), b"\n", Dialect::Markdown).open_line;
            assert_eq!(open_line, is_open.then_some(1), "{content:?}");
        }
    }

    #[test]
    fn content_is_never_parsed_as_front_matter() {
        let fragment =
            Fragment::new(b"\xEF\xBB\xBF---\r\ntitle: x\r\n---\r\n", b"\n", Dialect::Markdown);
        assert_eq!(fragment.bytes, b"---\ntitle: x\n---");
        assert_eq!(fragment.headings.len(), 1, "a break and a setext heading");
    }

    #[test]
    fn heading_levels_are_shifted_together() {
        let moved = |content: &str, level| {
            let fragment =
                Fragment::new(content.as_bytes(), b"\n", Dialect::Markdown).with_level(level);
            fragment.map(|fragment| String::from_utf8(fragment.bytes).unwrap())
        };
        let text = "  # A #\n\n# not\n```\n# code\n```\n### B\nC\nd\n---\ne\n";
        assert_eq!(
            moved(text, 3).unwrap(),
            "  ### A #\n\n### not\n```\n# code\n```\n##### B\n#### C d\ne"
        );
        assert_eq!(moved("A\n===\n\nB\n-", 3).unwrap(), "### A\n\n#### B");
        assert_eq!(moved("text\n\n#\n\n##\tB", 2).unwrap(), "text\n\n##\n\n###\tB");
        assert_eq!(moved("no heading", 7).unwrap(), "no heading");
        let refusal = |title: &str, level| Err(Refusal::NoSuchLevel { title: title.into(), level });
        assert_eq!(moved("# A\n\n###### B", 2), refusal("B", 7));
        assert_eq!(moved("### A\n\n# B", 2), refusal("B", 0));
        assert_eq!(moved("C #\n===", 2), refusal("C #", 2), "the # would close the heading");
        assert_eq!(moved("a\\\nb\n===", 2), refusal("a b", 2), "the \\ would stay");
    }
}
