//! Values of records: text put on one line, and taken from it again.
//!
//! Invariant: a written value holds no line end and nothing that is shown as an escape only; an id is
//! one word. What takes values takes all that is ever written and more, see [`Shape`](super::Shape).

use std::borrow::Cow;
use std::str::Chars;

use crate::limits::MAX_TAGS;
use crate::visible::is_unsafe;

/// An address as one word: blanks, controls and what cannot be shown percent-encoded. All else
/// stays, escapes included, so that doing it again changes nothing.
pub fn id(address: &str) -> Cow<'_, str> {
    if !address.contains(breaks_word) {
        return Cow::Borrowed(address);
    }
    let encoded = |scalar: char| match scalar.to_string() {
        text if breaks_word(scalar) => text.bytes().map(|byte| format!("%{byte:02X}")).collect(),
        text => text,
    };
    Cow::Owned(address.chars().map(encoded).collect())
}

/// `text` between double quotes. Escaped are `\` and `"`, line feed as `\n`, carriage return as
/// `\r`, tab as `\t`, and as `\u{..}`, in hexadecimal, what else cannot be shown.
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

/// `text` as it is where it is one word without quotes, else quoted.
pub fn value(text: &str) -> Cow<'_, str> {
    if text.is_empty() || text.contains(|scalar| scalar == '"' || breaks_word(scalar)) {
        Cow::Owned(quoted(text))
    } else {
        Cow::Borrowed(text)
    }
}

/// Values with commas between them, `-` for none.
pub(super) fn tags(tags: &[String]) -> String {
    if tags.is_empty() {
        return "-".to_owned();
    }
    tags.iter().map(|tag| written_tag(tag)).collect::<Vec<_>>().join(",")
}

/// A value that neither ends where it must not nor is taken for none.
fn written_tag(tag: &str) -> Cow<'_, str> {
    if tag == "-" || tag.contains(',') { Cow::Owned(quoted(tag)) } else { value(tag) }
}

/// `text` to the end of a line: what would end the line or cannot be shown is escaped, as in
/// quotes; backslashes stay single, so this is for reading only.
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

/// Takes what [`tags`] wrote, at most [`MAX_TAGS`] of them, from the left of `text`.
pub(super) fn take_tags(text: &str) -> Option<(Vec<String>, &str)> {
    if text == "-" || text.starts_with("- ") {
        return Some((Vec::new(), text.strip_prefix('-')?));
    }
    let mut tags = Vec::new();
    let mut rest = text;
    while tags.len() < MAX_TAGS {
        let (tag, behind) = take_value(rest, &[',', ' '])?;
        tags.push(tag);
        match behind.strip_prefix(',') {
            Some(next) => rest = next,
            None => return Some((tags, behind)),
        }
    }
    None
}

/// Takes what [`value`] wrote, one of `ends` or nothing behind it, from the left of `text`.
pub(super) fn take_value<'a>(text: &'a str, ends: &[char]) -> Option<(String, &'a str)> {
    if text.starts_with('"') {
        return take_quoted(text);
    }
    let (taken, rest) = text.split_at(text.find(ends).unwrap_or(text.len()));
    (!taken.is_empty()).then(|| (taken.to_owned(), rest))
}

/// Takes what [`quoted`] wrote from the left of `text`.
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

/// The scalar that an escape stands for; `scalars` are those behind the backslash.
fn unescaped(scalars: &mut Chars<'_>) -> Option<char> {
    match scalars.next()? {
        'n' => Some('\n'),
        'r' => Some('\r'),
        't' => Some('\t'),
        'u' => {
            let (digits, rest) = scalars.as_str().strip_prefix('{')?.split_once('}')?;
            *scalars = rest.chars();
            char::from_u32(u32::from_str_radix(digits, 16).ok()?)
        }
        scalar => matches!(scalar, '\\' | '"').then_some(scalar),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn values_are_quoted_only_where_they_must_be() {
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
    fn what_is_no_escape_is_refused() {
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
        ] {
            assert_eq!(take_quoted(line), None, "{line}");
        }
    }

    fn text() -> impl Strategy<Value = String> {
        "[\\PC\\pC]{0,6}|[-, \"\\\\u{}\n\r\t]{0,6}"
    }

    proptest! {
        #[test]
        fn what_is_written_is_taken(texts in prop::collection::vec(text(), 0..5)) {
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
