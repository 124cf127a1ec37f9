//! Lines, line ends and blank lines of content and files.
//!
//! Invariant: text is divided and joined only at line ends.

use crate::position::{ByteSpan, trim_line_end};
pub(super) use crate::position::{dominant_line_end, lines};

/// Returns `span` without blank lines at both ends and without the final line end; an empty span at its
/// start if all lines are blank.
pub(super) fn trimmed(bytes: &[u8], span: ByteSpan) -> ByteSpan {
    let text = span.of(bytes);
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
    let Some(first) = text.iter().position(|byte| !is_blank(byte)) else {
        return ByteSpan::new(span.start, span.start);
    };
    let last = text.iter().rposition(|byte| !is_blank(byte)).unwrap_or(first);
    let before = text.get(..first).unwrap_or_default();
    let start = before.iter().rposition(|&byte| is_line_end(byte)).map_or(0, |at| at + 1);
    let end = last + first_line_length(text.get(last..).unwrap_or_default());
    ByteSpan::new(span.start + start, span.start + end)
}

/// The length in bytes of the first line of `text` without its line end.
fn first_line_length(text: &[u8]) -> usize {
    text.iter().position(|&byte| is_line_end(byte)).unwrap_or(text.len())
}

fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// Whether a line begins at `offset`. The text begins at `floor`, after a byte order mark.
pub(in crate::edit) fn is_line_start(bytes: &[u8], floor: usize, offset: usize) -> bool {
    offset <= floor
        || offset.checked_sub(1).and_then(|at| bytes.get(at)).is_some_and(|&byte| is_line_end(byte))
}

/// The first line of `text`, without its line end.
pub(super) fn first_line(text: &[u8]) -> &[u8] {
    text.get(..first_line_length(text)).unwrap_or_default()
}

/// The text after the last line end of `text`.
pub(super) fn last_line(text: &[u8]) -> &[u8] {
    let start = text.iter().rposition(|&byte| is_line_end(byte)).map_or(0, |at| at + 1);
    text.get(start..).unwrap_or_default()
}

/// Returns `text` with every line end converted to `line_end`.
pub(super) fn with_line_ends(text: &[u8], line_end: &[u8]) -> Vec<u8> {
    let mut result = Vec::with_capacity(text.len() + text.len() / 16);
    for line in lines(text) {
        let without = trim_line_end(line);
        result.extend_from_slice(without);
        if without.len() < line.len() {
            result.extend_from_slice(line_end);
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trimming_removes_blank_lines_and_the_final_line_end_but_not_indentation() {
        for (text, expected) in [
            ("", ""),
            (" \t\n\r\n", ""),
            ("a", "a"),
            ("\n \n    code \n \n", "    code "),
            ("\r\ra\r\nb\r", "a\r\nb"),
            ("a\n\n b\t\n", "a\n\n b\t"),
        ] {
            let bytes = text.as_bytes();
            let span = trimmed(bytes, ByteSpan::new(0, bytes.len()));
            assert_eq!(span.of(bytes), expected.as_bytes(), "{text:?}");
        }
    }

    #[test]
    fn the_dominant_line_end_is_the_most_frequent_one() {
        for (text, expected) in [
            ("", None),
            ("a", None),
            ("a\nb\r\n", Some("\n")),
            ("a\r\nb\r\nc\n", Some("\r\n")),
            ("a\rb\rc\n", Some("\r")),
        ] {
            let expected = expected.map(str::as_bytes);
            assert_eq!(dominant_line_end(text.as_bytes()), expected, "{text:?}");
        }
        assert_eq!(with_line_ends(b"a\nb\r\n\rc", b"\r\n"), b"a\r\nb\r\n\r\nc");
    }
}
