//! Which characters are shown unescaped, and which are shown as escapes.
//!
//! Invariant: a text without unsafe characters cannot control a terminal, reorder the visible text, or hide
//! part of it.

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
