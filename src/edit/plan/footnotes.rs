//! Footnotes, and the references to them in text.
//!
//! Invariant: code, HTML and escaped brackets have no references.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::bytes::Regex;

use super::labels::{all_labels, bracketed, key};
use super::text::trimmed;
use super::version::Version;
use crate::limits;
use crate::markdown::outline::{BlockType, NodeKind};
use crate::position::{ByteSpan, lines};

/// The text of each footnote by its label, in the form in which labels are compared. Of several with the same label,
/// the first one counts.
pub(super) fn footnotes(version: &Version) -> HashMap<String, ByteSpan> {
    let mut found = HashMap::new();
    for (span, label) in all_labels(version) {
        if label.starts_with('^') {
            found.entry(label).or_insert_with(|| trimmed(version.bytes(), span));
        }
    }
    found
}

/// Whether a footnote has the label, which begins with `^`.
pub(in crate::edit) fn has_footnote(version: &Version, label: &str) -> bool {
    let label = key(label);
    all_labels(version).iter().any(|(_, other)| *other == label)
}

/// The labels, with their `^`, of the footnote references at `span`, and of the footnotes that begin there.
pub(super) fn footnote_references(version: &Version, span: ByteSpan) -> Vec<ByteSpan> {
    references(version, span, 0)
}

fn references(version: &Version, span: ByteSpan, depth: usize) -> Vec<ByteSpan> {
    let nodes = &version.outline().nodes;
    let first = nodes.partition_point(|node| node.bytes.start < span.start);
    let mut found = Vec::new();
    for (index, node) in nodes.iter().enumerate().skip(first) {
        if node.bytes.start >= span.end {
            break;
        }
        let is_parent = nodes.get(index + 1).is_some_and(|next| next.parent == Some(index));
        // Text is in headings and in blocks without blocks. A code span does not leave its block.
        let text = match node.kind {
            NodeKind::Section(section) => {
                let end = version.outline().sections.get(section).map(|one| one.heading_end);
                ByteSpan::new(node.bytes.start, end.unwrap_or(node.bytes.start))
            }
            NodeKind::Block(BlockType::Code | BlockType::Html | BlockType::Definition)
            | NodeKind::Root => continue,
            NodeKind::Block(BlockType::Footnote) if depth < limits::MAX_FOOTNOTE_NESTING => {
                found.extend(references_in_footnote(version, node.bytes, depth + 1));
                continue;
            }
            NodeKind::Block(BlockType::Footnote) => node.bytes,
            NodeKind::Block(_) | NodeKind::Item if is_parent => continue,
            NodeKind::Block(_) | NodeKind::Item => node.bytes,
        };
        found.extend(references_in_text(version.bytes(), text));
    }
    found.sort_by_key(|label: &ByteSpan| label.start);
    found.dedup();
    found
}

/// The label of the footnote at `span`, and the references in its blocks, which the outline of its file does not have.
fn references_in_footnote(version: &Version, span: ByteSpan, depth: usize) -> Vec<ByteSpan> {
    let file = version.bytes();
    let Some((label, _)) = bracketed(span.of(file).trim_ascii_start()) else { return Vec::new() };
    let start = span.end - span.of(file).trim_ascii_start().len() + 1;
    let label = ByteSpan::new(start, start + label.len());
    // The text without the label and the indent of the footnote, and where each line of it is in the file.
    let mut text = Vec::with_capacity(span.len());
    let mut starts = Vec::new();
    let mut at = label.end + "]:".len();
    for line in lines(file.get(at..span.end).unwrap_or_default()) {
        let is_first = starts.is_empty();
        let indent =
            if is_first { line.len() - line.trim_ascii_start().len() } else { indent(line) };
        starts.push((text.len(), at + indent));
        text.extend_from_slice(line.get(indent..).unwrap_or_default());
        at += line.len();
    }
    let whole = ByteSpan::new(0, text.len());
    let blocks = Version::read_as(text, version.document().dialect);
    let in_file = |offset: usize| {
        let line = starts.partition_point(|(start, _)| *start <= offset).checked_sub(1);
        let (start, of_file) = line.and_then(|line| starts.get(line)).copied().unwrap_or_default();
        of_file + offset - start
    };
    let inside = references(&blocks, whole, depth).into_iter();
    let inside =
        inside.map(|one| ByteSpan::new(in_file(one.start), in_file(one.start) + one.len()));
    std::iter::once(label).chain(inside).collect()
}

/// The length of the indent of a line in a footnote: blanks up to four columns.
fn indent(line: &[u8]) -> usize {
    let mut columns = 0;
    let is_indent = |byte: &&u8| {
        let is_open = columns < 4;
        columns += if **byte == b'\t' { 4 } else { 1 };
        is_open && matches!(byte, b' ' | b'\t')
    };
    line.iter().take_while(is_indent).count()
}

/// The labels, with their `^`, of the footnote references at `span`, which is within the text of one block.
pub(in crate::edit) fn references_in_text(text: &[u8], span: ByteSpan) -> Vec<ByteSpan> {
    let mut found = Vec::new();
    let mut at = span.start;
    // Once a comment has no end, the rest is not searched for another end.
    let mut ends_html = true;
    while let Some(byte) = text.get(at).filter(|_| at < span.end) {
        if *byte == b'<' && ends_html {
            let after = after_html(text.get(at..span.end).unwrap_or_default());
            ends_html = after.is_some();
            at += after.unwrap_or(1);
        } else if *byte == b'\\' {
            at += 2;
        } else if *byte == b'`' {
            at = after_code_span(text, at, span.end);
        } else if text.get(at..).is_some_and(|rest| rest.starts_with(b"[^")) {
            let rest = text.get(at + 2..span.end).unwrap_or_default();
            let end = rest.iter().position(|byte| b"[] \t\r\n".contains(byte)).unwrap_or(0);
            if end > 0 && rest.get(end) == Some(&b']') {
                found.push(ByteSpan::new(at + 1, at + 2 + end));
            }
            at += 2 + end;
        } else {
            at += 1;
        }
    }
    found
}

/// Matches a tag, a comment without text or a link in angle brackets (`CommonMark` 0.31.2, sections 6.5 and 6.6).
const HTML: &str = concat!(
    r"(?-u)^<(?:[A-Za-z][A-Za-z0-9-]*",
    r#"(?:\s+[A-Za-z_:][A-Za-z0-9_.:-]*(?:\s*=\s*(?:[^\s"'=<>`]+|'[^']*'|"[^"]*"))?)*\s*/?"#,
    r"|/[A-Za-z][A-Za-z0-9-]*\s*|!--|!---|[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*)>",
);

/// The length of the HTML or of the link in angle brackets at the start of `text`, which begins with `<`; 1 if it begins
/// neither. `None` if a comment has no end.
fn after_html(text: &[u8]) -> Option<usize> {
    static REGEX: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(HTML).ok());
    match REGEX.as_ref().and_then(|regex| regex.find(text)) {
        Some(found) => Some(found.end()),
        None if text.starts_with(b"<!--") => {
            memchr::memmem::find(text.get(4..)?, b"-->").map(|end| 4 + end + 3)
        }
        None => Some(1),
    }
}

/// The offset after the code span that the backticks at `at` open, or after the backticks (`CommonMark` 0.31.2,
/// section 6.1).
fn after_code_span(text: &[u8], at: usize, end: usize) -> usize {
    let run = |at: usize| {
        let rest = text.get(at..end).unwrap_or_default();
        rest.iter().take_while(|byte| **byte == b'`').count()
    };
    let opening = run(at);
    let mut close = at + opening;
    let mut is_blank = false;
    while let Some(byte) = text.get(close).filter(|_| close < end) {
        // The line end of CRLF is its LF.
        let ends_line = *byte == b'\n' || *byte == b'\r' && text.get(close + 1) != Some(&b'\n');
        match byte {
            b'`' => {
                let closing = run(close);
                close += closing;
                is_blank = false;
                if closing == opening {
                    return close;
                }
                continue;
            }
            _ if ends_line && is_blank => break,
            _ if ends_line => is_blank = true,
            b' ' | b'\t' | b'\r' => {}
            _ => is_blank = false,
        }
        close += 1;
    }
    at + opening
}

#[cfg(test)]
mod tests {
    use super::*;

    fn referred(file: &str) -> Vec<String> {
        let version = Version::read(file.as_bytes().to_vec());
        let found = footnote_references(&version, ByteSpan::new(0, file.len()));
        found.iter().map(|label| file[label.start..label.end].to_owned()).collect()
    }

    #[test]
    fn text_refers_to_footnotes_and_code_and_html_do_not() {
        for text in [
            "one[^2]",
            "a < b[^2] > c",
            "a <b and [^2] c> d",
            "if x <y, it's slow[^2] and that's why z> 0",
            "See <https://e.com/o'neil> now[^2]; it isn't a > b",
            "a <!--> b[^2] --> c",
            "| x <y, it's | z[^2] isn't > 3 |",
            "<b>one</b>[^2]",
            "it's <a title='x'>[^2]</a>",
        ] {
            assert_eq!(referred(&format!("{text}\n")), ["^2"], "{text}");
        }
        for text in ["`[^2]`", "<!-- [^2] -->x", "x <a title=\"[^2]\">y</a>", "\\[^2]"] {
            assert_eq!(referred(&format!("{text}\n")), [""; 0], "{text}");
        }
    }

    #[test]
    fn code_in_a_footnote_has_no_references() {
        let text =
            "[^1]: note [^3]\n\n    ```\n    code\n\n    see [^2]\n    ```\n\n    after [^4]\n";
        assert_eq!(referred(text), ["^1", "^3", "^4"]);
        let indented = "[^1]: note\n\n        see [^2]\n\n        and [^2]\n\n    after [^4]\n";
        assert_eq!(referred(indented), ["^1", "^4"]);
    }

    #[test]
    fn lists_in_a_footnote_have_references() {
        for (blocks, expected) in [
            ("    - item\n\n        continued [^2]\n", &["^1", "^2"][..]),
            ("\t- item\n\n\t\tcontinued [^2]\n", &["^1", "^2"]),
            ("    - ```\n      see [^3]\n      ```\n    - after [^2]\n", &["^1", "^2"]),
            ("    > quoted [^2]\n", &["^1", "^2"]),
            ("    [^4]: inner [^2]\n", &["^1", "^4", "^2"]),
        ] {
            assert_eq!(referred(&format!("[^1]: note\n\n{blocks}")), expected, "{blocks}");
        }
        // Nothing is searched without a bound.
        assert!(!referred(&"[^1]: ".repeat(10_000)).is_empty());
    }

    #[test]
    fn a_blank_line_ends_code_that_is_not_closed_whatever_ends_lines() {
        for line_end in ["\n", "\r\n", "\r"] {
            let text = "[^1]: note `here\n\n    see [^2] `there\n".replace('\n', line_end);
            assert_eq!(referred(&text), ["^1", "^2"], "{line_end:?}");
        }
    }
}
