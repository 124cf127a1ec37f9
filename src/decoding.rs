//! Bytes as text of the same length, so that offsets stay valid.

use std::borrow::Cow;

/// Returns `bytes` as text. Each byte that is not UTF-8 is replaced by `placeholder`, which is one byte long.
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
    use super::same_length_text;

    #[test]
    fn each_invalid_byte_becomes_one_placeholder() {
        assert_eq!(same_length_text(b"a\xff\xfeb\xe2\x82c", ' '), "a  b  c");
        assert_eq!(same_length_text("\u{e4}".as_bytes(), ' '), "\u{e4}");
    }
}
