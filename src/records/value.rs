//! Values of records: encodes text on one line, and decodes it.
//!
//! Invariant: an encoded value contains no line end and no unsafe character, and an id is one word. The
//! decoders accept everything that the encoders write, and more; [`LineShape`](super::LineShape) rejects the rest.

use std::borrow::Cow;
use std::str::Chars;

use crate::limits::MAX_TAGS;
use crate::percent::{hex_number, percent_encode};
use crate::visible::is_unsafe;

/// Encodes an address as one word: whitespace and unsafe characters are percent-encoded. All other
/// characters stay, including `%`, so that encoding twice changes nothing more.
pub fn id(address: &str) -> Cow<'_, str> {
    if !address.contains(breaks_word) {
        return Cow::Borrowed(address);
    }
    Cow::Owned(percent_encode(address, |scalar| !breaks_word(scalar)))
}

/// Quotes `text` with double quotes. Escapes `\` and `"` with a backslash, line feed as `\n`, carriage return
/// as `\r`, tab as `\t`, and other unsafe characters as `\u{..}` in hexadecimal.
pub fn quoted(text: &str) -> String {
    let mut result = String::with_capacity(text.len() + 2);
    result.push('"');
    for scalar in text.chars() {
        if matches!(scalar, '\\' | '"') {
            result.push('\\');
        }
        push_escaped(&mut result, scalar);
    }
    result.push('"');
    result
}

/// Returns `text` unchanged if it is one word without quotes, else quoted.
pub fn value(text: &str) -> Cow<'_, str> {
    if text.is_empty() || text.contains(|scalar| scalar == '"' || breaks_word(scalar)) {
        Cow::Owned(quoted(text))
    } else {
        Cow::Borrowed(text)
    }
}

/// Encodes tags as values with commas between them; `-` if there are none.
pub(super) fn tags(tags: &[String]) -> String {
    if tags.is_empty() {
        return "-".to_owned();
    }
    tags.iter().map(|tag| written_tag(tag)).collect::<Vec<_>>().join(",")
}

/// Encodes a tag as a value that contains no comma outside quotes and is not `-`.
fn written_tag(tag: &str) -> Cow<'_, str> {
    if tag == "-" || tag.contains(',') { Cow::Owned(quoted(tag)) } else { value(tag) }
}

/// Encodes `text` as the rest of a line. Escapes the same characters as [`quoted`], except `\` and `"`, so
/// the encoding cannot be reversed.
pub(super) fn line(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    text.chars().for_each(|scalar| push_escaped(&mut result, scalar));
    result
}

fn breaks_word(scalar: char) -> bool {
    scalar.is_whitespace() || is_unsafe(scalar)
}

fn push_escaped(result: &mut String, scalar: char) {
    match scalar {
        '\n' => result.push_str("\\n"),
        '\r' => result.push_str("\\r"),
        '\t' => result.push_str("\\t"),
        _ if is_unsafe(scalar) => result.extend(scalar.escape_unicode()),
        _ => result.push(scalar),
    }
}

/// Decodes at most [`MAX_TAGS`] tags at the start of `text`, and returns them and the rest.
pub(super) fn take_tags(text: &str) -> Option<(Vec<String>, &str)> {
    if text == "-" || text.starts_with("- ") {
        return Some((Vec::new(), text.strip_prefix('-')?));
    }
    let mut tags = Vec::new();
    let mut rest = text;
    while tags.len() < MAX_TAGS {
        let (tag, following) = take_value(rest, &[',', ' '])?;
        tags.push(tag);
        match following.strip_prefix(',') {
            Some(next) => rest = next,
            None => return Some((tags, following)),
        }
    }
    None
}

/// Decodes a value at the start of `text`, and returns it and the rest. An unquoted value ends before the
/// first of `ends`, or with `text`.
pub(super) fn take_value<'a>(text: &'a str, ends: &[char]) -> Option<(String, &'a str)> {
    if text.starts_with('"') {
        return take_quoted(text);
    }
    let (taken, rest) = text.split_at(text.find(ends).unwrap_or(text.len()));
    (!taken.is_empty()).then(|| (taken.to_owned(), rest))
}

/// Decodes a quoted value at the start of `text`, and returns it and the rest.
pub(super) fn take_quoted(text: &str) -> Option<(String, &str)> {
    let mut scalars = text.strip_prefix('"')?.chars();
    let mut taken = String::new();
    loop {
        match scalars.next()? {
            '"' => return Some((taken, scalars.as_str())),
            '\\' => taken.push(unescaped(&mut scalars)?),
            scalar => taken.push(scalar),
        }
    }
}

/// Decodes an escape; `scalars` are the characters after the backslash.
fn unescaped(scalars: &mut Chars<'_>) -> Option<char> {
    match scalars.next()? {
        'n' => Some('\n'),
        'r' => Some('\r'),
        't' => Some('\t'),
        'u' => {
            let (digits, rest) = scalars.as_str().strip_prefix('{')?.split_once('}')?;
            *scalars = rest.chars();
            char::from_u32(hex_number(digits)?)
        }
        scalar => matches!(scalar, '\\' | '"').then_some(scalar),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn values_are_quoted_only_if_necessary() {
        for (text, written) in [
            ("plain", "plain"),
            ("C:\\a=b,c", "C:\\a=b,c"),
            ("日本語", "日本語"),
            ("", r#""""#),
            ("two words", r#""two words""#),
            ("a\u{a0}b", "\"a\u{a0}b\""),
            ("say \"x\\y\"", r#""say \"x\\y\"""#),
            ("a\r\n\tb", r#""a\r\n\tb""#),
            ("\u{1b}[31m\u{202e}", r#""\u{1b}[31m\u{202e}""#),
            ("\u{2028}", r#""\u{2028}""#),
        ] {
            assert_eq!(value(text), written);
        }
        let list = |list: &[&str]| tags(&list.iter().map(|&tag| tag.into()).collect::<Vec<_>>());
        assert_eq!(list(&[]), "-");
        assert_eq!(list(&["-"]), r#""-""#);
        assert_eq!(list(&["a", "b,c", "d e", ""]), r#"a,"b,c","d e","""#);
    }

    #[test]
    fn an_id_is_one_word() {
        assert!(matches!(id("a%20b.md::heading:h2[1]?page=2"), Cow::Borrowed(_)));
        assert_eq!(id("a.md::x y\n\u{202e}\u{3000}"), "a.md::x%20y%0A%E2%80%AE%E3%80%80");
    }

    #[test]
    fn invalid_quotes_and_escapes_are_refused() {
        for line in [
            "",
            "a",
            "\"",
            "\"a",
            r#""\"#,
            r#""\x""#,
            r#""\u""#,
            r#""\u{}""#,
            r#""\u{d800}""#,
            r#""\u{110000}""#,
            r#""\u{1""#,
            r#""\u{+41}""#,
        ] {
            assert_eq!(take_quoted(line), None, "{line}");
        }
    }

    fn text() -> impl Strategy<Value = String> {
        "[\\PC\\pC]{0,6}|[-, \"\\\\u{}\n\r\t]{0,6}"
    }

    proptest! {
        #[test]
        fn encoded_values_are_decoded_unchanged(texts in prop::collection::vec(text(), 0..5)) {
            let all = tags(&texts);
            prop_assert!(!all.contains(|scalar| is_unsafe(scalar) || "\n\t".contains(scalar)));
            let followed = format!("{all} x");
            prop_assert_eq!(take_tags(&followed), Some((texts.clone(), " x")));
            for text in texts {
                let (bare, between) = (value(&text), quoted(&text));
                prop_assert_eq!(take_value(&bare, &[' ']), Some((text.clone(), "")));
                prop_assert_eq!(take_quoted(&between), Some((text.clone(), "")));
                let word = id(&text);
                prop_assert!(!word.contains(breaks_word));
                prop_assert_eq!(id(&word), word.clone());
                prop_assert_eq!(line(&line(&text)), line(&text));
            }
        }
    }
}
