//! Text of documents, made safe for a terminal.
//!
//! Invariant: what comes out holds no control character but line feed and tab, and nothing that
//! [`crate::visible`] calls unsafe.

use std::borrow::Cow;

use crate::visible::is_unsafe;

/// Escapes what is unsafe in `text`, line ends and tabs aside; the carriage return of a CRLF is one.
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

/// Likewise for a text that must stay on one line: a path, a title, a message.
pub fn line(text: &str) -> Cow<'_, str> {
    // Most lines are ASCII, which is told by its bytes.
    let is_plain = text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    if is_plain || !text.chars().any(|scalar| is_unsafe(scalar) || "\n\t".contains(scalar)) {
        return Cow::Borrowed(text);
    }
    let escape = |scalar: char| match scalar {
        '\n' => "\\n".to_owned(),
        '\t' => "\\t".to_owned(),
        scalar if is_unsafe(scalar) => scalar.escape_unicode().to_string(),
        scalar => scalar.to_string(),
    };
    Cow::Owned(text.chars().map(escape).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attacks_on_a_terminal_come_out_as_escapes() {
        for (attack, shown) in [
            ("\x1b]52;c;aGk=\x07", "\\u{1b}]52;c;aGk=\\u{7}"),
            ("\x1b]8;;http://x\x1b\\t", "\\u{1b}]8;;http://x\\u{1b}\\t"),
            ("a\rb", "a\\u{d}b"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("\u{202e}gpj.exe", "\\u{202e}gpj.exe"),
            ("a\u{200b}b", "a\\u{200b}b"),
            ("\u{e0041}", "\\u{e0041}"),
        ] {
            assert_eq!(text(attack), shown);
            assert!(!line(attack).chars().any(is_unsafe));
        }
    }

    #[test]
    fn ordinary_text_is_untouched() {
        let ordinary = "a\tb\r\nc\n日本語 👨\u{200d}👩 é";
        assert!(matches!(text("plain\n"), Cow::Borrowed(_)));
        assert_eq!(text(ordinary), ordinary);
        assert_eq!(line("a\nb"), "a\\nb");
    }
}
