//! Footnotes, and the references to them in text.
//!
//! Invariant: code, HTML and escaped brackets have no references.

use std::collections::HashMap;

use super::labels::{all_labels, key};
use super::text::trimmed;
use super::version::Version;
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
            NodeKind::Block(BlockType::Footnote) => {
                for text in texts_of_footnote(version.bytes(), node.bytes) {
                    found.extend(references_in_text(version.bytes(), text));
                }
                continue;
            }
            NodeKind::Block(_) | NodeKind::Item if is_parent => continue,
            NodeKind::Block(_) | NodeKind::Item => node.bytes,
        };
        found.extend(references_in_text(version.bytes(), text));
    }
    found.sort_by_key(|label: &ByteSpan| label.start);
    found.dedup();
    found
}

/// The labels, with their `^`, of the footnote references at `span`, which is within the text of one block.
pub(in crate::edit) fn references_in_text(text: &[u8], span: ByteSpan) -> Vec<ByteSpan> {
    let mut found = Vec::new();
    let mut at = span.start;
    // Once a tag or a comment has no end, the rest is not searched for another end.
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

/// The spans of the text of the footnote at `span` without its code blocks. Its lines are indented by four columns.
fn texts_of_footnote(file: &[u8], span: ByteSpan) -> Vec<ByteSpan> {
    let mut texts: Vec<ByteSpan> = Vec::new();
    let mut fence: Option<(u8, usize)> = None;
    let (mut at, mut is_after_blank) = (span.start, false);
    for line in lines(span.of(file)) {
        let here = ByteSpan::new(at, at + line.len());
        let is_first = at == span.start;
        at = here.end;
        let label =
            if is_first { memchr::memmem::find(line, b"]:").map_or(0, |at| at + 2) } else { 0 };
        let content = line.get(label..).unwrap_or_default();
        let text = content.trim_ascii();
        let marks = |mark: u8| text.iter().take_while(|byte| **byte == mark).count();
        let is_code = match fence {
            Some((mark, count)) => {
                if marks(mark) >= count && marks(mark) == text.len() {
                    fence = None;
                }
                true
            }
            None => {
                let opened = [b'`', b'~'].map(|mark| (mark, marks(mark)));
                fence = opened.into_iter().find(|(mark, count)| {
                    let info = text.get(*count..).unwrap_or_default();
                    *count >= 3 && (*mark == b'~' || !info.contains(mark))
                });
                let columns = content.iter().map_while(|byte| match byte {
                    b' ' => Some(1),
                    b'\t' => Some(4),
                    _ => None,
                });
                fence.is_some() || is_after_blank && columns.sum::<usize>() >= 8
            }
        };
        // Indented code goes on after blank lines.
        is_after_blank = text.is_empty() || is_after_blank && is_code;
        match texts.last_mut().filter(|last| last.end == here.start) {
            _ if is_code => {}
            Some(last) => last.end = here.end,
            None => texts.push(here),
        }
    }
    texts
}

/// The length of the comment or the tag at the start of `text`, which begins with `<`; 1 if it begins neither (`CommonMark`
/// 0.31.2, section 6.6). `None` if it has no end.
fn after_html(text: &[u8]) -> Option<usize> {
    if text.starts_with(b"<!--") {
        return memchr::memmem::find(text.get(4..)?, b"-->").map(|end| 4 + end + 3);
    }
    if !text.get(1).is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'/') {
        return Some(1);
    }
    let mut quote = None;
    for (at, byte) in text.iter().enumerate().skip(1) {
        match (quote, byte) {
            (Some(open), byte) if open == *byte => quote = None,
            (None, b'"' | b'\'') => quote = Some(*byte),
            (None, b'>') => return Some(at + 1),
            // No tag has these outside of a value.
            (None, b'[' | b'<' | b'`') => return Some(1),
            _ => {}
        }
    }
    None
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

    fn references(file: &str) -> Vec<String> {
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
            "<b>one</b>[^2]",
            "it's <a title='x'>[^2]</a>",
        ] {
            assert_eq!(references(&format!("{text}\n")), ["^2"], "{text}");
        }
        for text in ["`[^2]`", "<!-- [^2] -->x", "x <a title=\"[^2]\">y</a>", "\\[^2]"] {
            assert_eq!(references(&format!("{text}\n")), [""; 0], "{text}");
        }
    }

    #[test]
    fn code_in_a_footnote_has_no_references() {
        let text =
            "[^1]: note [^3]\n\n    ```\n    code\n\n    see [^2]\n    ```\n\n    after [^4]\n";
        assert_eq!(references(text), ["^1", "^3", "^4"]);
        let indented = "[^1]: note\n\n        see [^2]\n\n        and [^2]\n\n    after [^4]\n";
        assert_eq!(references(indented), ["^1", "^4"]);
    }

    #[test]
    fn a_blank_line_ends_code_that_is_not_closed_whatever_ends_lines() {
        for line_end in ["\n", "\r\n", "\r"] {
            let text = "[^1]: note `here\n\n    see [^2] `there\n".replace('\n', line_end);
            assert_eq!(references(&text), ["^1", "^2"], "{line_end:?}");
        }
    }
}
