//! Which characters are shown as they are, and which only as escapes.
//!
//! Invariant: no text without unsafe characters can drive a terminal, change the order in which it is
//! read, or hide anything.

/// Whether `scalar` is shown as an escape only.
///
/// Controls (C0, DEL, C1), the bidirectional controls of Unicode TR 9, zero-width characters other
/// than the joiners that scripts and emoji need, line and paragraph separators, and tags.
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
