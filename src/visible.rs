//! Which characters are shown unescaped, and which are shown as escapes.
//!
//! Invariant: a text without unsafe characters cannot control a terminal, reorder the visible text, or hide
//! part of it.

use std::fmt::{self, Display, Formatter, Write as _};

/// Whether `scalar` must be shown as an escape.
///
/// Unsafe are the control characters (C0 except tab and line feed, DEL, C1), the bidirectional controls of
/// Unicode Standard Annex 9, zero-width characters other than the joiners that scripts and emoji need, line
/// and paragraph separators, and tag characters.
pub fn is_unsafe(scalar: char) -> bool {
    matches!(
        scalar,
        '\0'..='\u{8}'
            | '\u{B}'..='\u{1F}'
            | '\u{7F}'..='\u{9F}'
            | '\u{61C}'
            | '\u{200B}'
            | '\u{200E}'
            | '\u{200F}'
            | '\u{2028}'..='\u{202E}'
            | '\u{2060}'
            | '\u{2066}'..='\u{2069}'
            | '\u{FEFF}'
            | '\u{E0000}'..='\u{E007F}'
    )
}

/// A text of a document or of the caller in a message: in double quotes, on one line.
#[derive(Clone, Copy, Debug)]
pub struct Quoted<'a>(&'a str);

/// Quotes `text` for a message. Only what would end the quotes or is unsafe is escaped, so that the text can be read and
/// pasted in every script; `{:?}` escapes combining marks, too.
pub fn quoted(text: &(impl AsRef<str> + ?Sized)) -> Quoted<'_> {
    Quoted(text.as_ref())
}

impl Display for Quoted<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_char('"')?;
        for scalar in self.0.chars() {
            match scalar {
                '"' | '\\' | '\n' | '\t' => write!(formatter, "{}", scalar.escape_default())?,
                _ if is_unsafe(scalar) => write!(formatter, "{}", scalar.escape_default())?,
                _ => formatter.write_char(scalar)?,
            }
        }
        formatter.write_char('"')
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn only_unsafe_characters_of_names_are_escaped() {
        for text in ["ข้าง น้ำ", "हिन्दी", "cafe\u{301}", "ক্ষ", "ខ្មែរ", "👨\u{200D}👩", "it's #1"]
        {
            assert_eq!(quoted(text).to_string(), format!("\"{text}\""));
        }
        let unsafe_text = "a\"b\\c\nd\te\rf\u{1b}[31m\u{202e}\u{feff}";
        let expected = r#""a\"b\\c\nd\te\rf\u{1b}[31m\u{202e}\u{feff}""#;
        assert_eq!(quoted(unsafe_text).to_string(), expected);
    }
}
