//! Escapes text of documents for a terminal.
//!
//! Invariant: the result contains no control character except line feed and tab, no carriage return
//! except in CRLF, and no character that [`crate::visible`] calls unsafe.

use std::borrow::Cow;

use crate::visible::is_unsafe;

/// Escapes unsafe characters in `text`, except line feeds, tabs, and the carriage return of a CRLF.
pub fn text(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut result = String::with_capacity(text.len() + 16);
    let mut scalars = text.chars().peekable();
    while let Some(scalar) = scalars.next() {
        let is_crlf = scalar == '\r' && scalars.peek() == Some(&'\n');
        if is_unsafe(scalar) && !is_crlf {
            result.extend(scalar.escape_unicode());
        } else {
            result.push(scalar);
        }
    }
    Cow::Owned(result)
}

/// Escapes a text that must stay on one line, such as a path, a title or a message.
pub fn line(text: &str) -> Cow<'_, str> {
    if is_printable_ascii(text)
        || !text.chars().any(|scalar| is_unsafe(scalar) || "\n\t".contains(scalar))
    {
        return Cow::Borrowed(text);
    }
    let mut result = String::with_capacity(text.len() + 16);
    for scalar in text.chars() {
        match scalar {
            '\n' => result.push_str("\\n"),
            '\t' => result.push_str("\\t"),
            _ if is_unsafe(scalar) => result.extend(scalar.escape_unicode()),
            _ => result.push(scalar),
        }
    }
    Cow::Owned(result)
}

/// Most lines are printable ASCII. The bytes of a chunk are compared at once.
fn is_printable_ascii(text: &str) -> bool {
    let is_printable =
        |chunk: &[u8]| chunk.iter().fold(true, |all, byte| all & (b' '..=b'~').contains(byte));
    text.as_bytes().chunks(32).all(is_printable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_escape_sequences_are_escaped() {
        for (attack, expected) in [
            ("\x1b]52;c;aGk=\x07", "\\u{1b}]52;c;aGk=\\u{7}"),
            ("\x1b]8;;http://x\x1b\\t", "\\u{1b}]8;;http://x\\u{1b}\\t"),
            ("a\rb", "a\\u{d}b"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("\u{202e}gpj.exe", "\\u{202e}gpj.exe"),
            ("a\u{200b}b", "a\\u{200b}b"),
            ("\u{e0041}", "\\u{e0041}"),
        ] {
            assert_eq!(text(attack), expected);
            assert!(!line(attack).chars().any(is_unsafe));
        }
    }

    #[test]
    fn ordinary_text_is_unchanged() {
        let ordinary = "a\tb\r\nc\n日本語 👨\u{200d}👩 é";
        assert!(matches!(text("plain\n"), Cow::Borrowed(_)));
        assert_eq!(text(ordinary), ordinary);
        assert_eq!(line("a\nb"), "a\\nb");
    }
}
