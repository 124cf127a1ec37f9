//! Bytes as text.

use std::borrow::Cow;

/// Returns `bytes` as text, with replacement characters for what is not UTF-8. The standard library looks for such bytes
/// in small steps, and most texts have none.
pub(crate) fn text(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// Returns `bytes` as text of the same length, so that offsets stay valid. Each byte that is not UTF-8 is replaced by
/// `placeholder`, which is one byte long.
pub(crate) fn same_length_text(bytes: &[u8], placeholder: char) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| placeholder));
    }
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use super::{same_length_text, text};

    #[test]
    fn bytes_that_are_not_utf8_are_replaced() {
        assert_eq!(same_length_text(b"a\xff\xfeb\xe2\x82c", ' '), "a  b  c");
        assert_eq!(same_length_text("\u{e4}".as_bytes(), ' '), "\u{e4}");
        assert_eq!(text(b"a\xff\xe2\x82c"), "a\u{fffd}\u{fffd}c");
    }
}
