//! Namespaces: the path of a document as it is written in an address.
//!
//! Invariants: decoding an encoded path gives the path; an encoded path contains no `::`, no
//! whitespace and no character that some format would escape, so it is the same in every format.

use crate::percent::{percent_decode, percent_encode};
use crate::visible::is_unsafe;

/// Returns the namespace of the document at `path`. Percent-encodes `%`, whitespace, unprintable
/// characters, and the second colon of `::`.
pub fn encode(path: &str) -> String {
    // Most paths stay as they are.
    let is_plain = |byte: &u8| byte.is_ascii_graphic() && !b"%:".contains(byte);
    if path.as_bytes().iter().all(is_plain) {
        return path.to_owned();
    }
    let mut previous_was_colon = false;
    let mut result = percent_encode(path, |scalar| {
        let is_second_colon = scalar == ':' && previous_was_colon;
        previous_was_colon = scalar == ':' && !is_second_colon;
        !(scalar == '%' || scalar.is_whitespace() || is_unsafe(scalar) || is_second_colon)
    });
    // A colon at the end would merge with the `::` that follows.
    if result.ends_with(':') {
        result.pop();
        result.push_str("%3A");
    }
    result
}

/// Returns the address of the whole document at `path`.
pub fn whole(path: &str) -> String {
    format!("{}::*", encode(path))
}

/// Returns the path of the document with that namespace.
pub fn decode(namespace: &str) -> String {
    percent_decode(namespace)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn blanks_percent_controls_and_double_colons_are_encoded() {
        assert_eq!(encode("docs/My notes (v1.2).md"), "docs/My%20notes%20(v1.2).md");
        assert_eq!(encode("100%.md"), "100%25.md");
        assert_eq!(encode("std::vector.md"), "std:%3Avector.md");
        assert_eq!(encode("C#.md"), "C#.md");
        assert_eq!(encode("日本語.md"), "日本語.md");
        assert_eq!(decode("100%"), "100%");
        assert_eq!(decode("%zz%4"), "%zz%4");
        assert_eq!(decode("%+4%-4%4+"), "%+4%-4%4+");
    }

    proptest! {
        #[test]
        fn decoding_undoes_encoding(path in "[a:% \u{1}é/]{0,12}") {
            let encoded = encode(&path);
            let address = [&encoded, "::x"].concat();
            prop_assert_eq!(address.find("::"), Some(encoded.len()), "it ends the namespace");
            prop_assert_eq!(decode(&encoded), path);
        }
    }
}
