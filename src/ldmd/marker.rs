//! One marker line: `<!--LDMD:KIND attributes-->`, with only blanks around it.
//!
//! Defines the grammar of a line (LDMD paper, section "Marker Grammar", with attributes in any
//! order; see `mdsel help ldmd`). Invariant: a line for which [`is_marker_line`] returns true is
//! read as a marker or as a malformed marker, and never as text. The writer relies on this.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem;

use crate::limits::MAX_LDMD_ATTRIBUTES;
use crate::markdown::links::named_entity;

/// The beginning of every HTML comment.
pub(super) const COMMENT: &[u8] = b"<!--";

/// The beginning of every marker.
const PREFIX: &[u8] = b"<!--LDMD:";

/// The kinds of markers.
const KEYWORDS: [&str; 4] = ["BEGIN", "END", "REF", "VERSION"];

/// Returns whether `line`, given without its line end, is an LDMD marker of any kind, malformed
/// ones included.
pub fn is_marker_line(line: &[u8]) -> bool {
    is_begun(line.trim_ascii())
}

/// Returns whether `line` is a REF marker, which is valid beside and inside of any section.
pub fn is_reference_line(line: &[u8]) -> bool {
    matches!(Marker::read(line), Some(Marker::Reference(..) | Marker::Stub))
}

/// Returns whether `text` begins like a marker: with `<!--LDMD:`, or with the same and a keyword in
/// another case or with blanks between.
pub(super) fn is_begun(text: &[u8]) -> bool {
    if text.starts_with(PREFIX) {
        return true;
    }
    let after_word = || {
        let name = text.strip_prefix(COMMENT)?.trim_ascii_start();
        let (word, rest) = name.split_at_checked(4)?;
        let rest = rest.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
        word.eq_ignore_ascii_case(b"LDMD").then_some(rest)
    };
    after_word().is_some_and(|rest| {
        let end = rest.iter().position(|byte| !byte.is_ascii_alphabetic()).unwrap_or(rest.len());
        let word = rest.get(..end).unwrap_or_default();
        KEYWORDS.iter().any(|keyword| word.eq_ignore_ascii_case(keyword.as_bytes()))
    })
}

const NOT_ALONE: &str = "the marker is not alone on its line";
const NOT_CLOSED: &str = "the marker is not closed with --> on its line";

/// A parsed marker line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Marker {
    /// BEGIN: the id, and all other attributes.
    Begin(String, Attributes),
    /// END: the id.
    End(String),
    /// REF: the document, and the section if any.
    Reference(String, Option<String>),
    /// REF in place of a section that is left out.
    Stub,
    /// VERSION: the version.
    Version(String),
    /// A malformed marker: an error message.
    Malformed(String),
}

impl Marker {
    /// Parses `line`, given without its line end. Returns `None` for ordinary text.
    pub(super) fn read(line: &[u8]) -> Option<Self> {
        let line = line.trim_ascii();
        if !is_begun(line) {
            return None;
        }
        let malformed = |message: &str| Some(Self::Malformed(message.to_owned()));
        let Some(body) = line.strip_prefix(PREFIX) else {
            return malformed("a marker must begin with <!--LDMD: in capitals and without blanks");
        };
        let Some(body) = body.strip_suffix(b"-->") else {
            let is_closed = memmem::find(body, b"-->").is_some();
            return malformed(if is_closed { NOT_ALONE } else { NOT_CLOSED });
        };
        let body = String::from_utf8_lossy(body);
        let end = body.find(|scalar: char| !scalar.is_ascii_uppercase()).unwrap_or(body.len());
        let (keyword, rest) = body.split_at(end);
        Some(match Self::of(keyword, rest) {
            Ok(marker) => marker,
            Err(_) if rest.contains("-->") => Self::Malformed(NOT_ALONE.to_owned()),
            Err(message) => Self::Malformed(message),
        })
    }

    fn of(keyword: &str, rest: &str) -> Result<Self, String> {
        if !KEYWORDS.contains(&keyword) {
            return Err(
                "the kind of the marker is not BEGIN, END, REF or VERSION in capitals".to_owned()
            );
        }
        if keyword == "VERSION" {
            let version = rest.trim();
            let is_word = !version.is_empty() && !version.contains([' ', '\t', '"', '\'']);
            let is_apart = rest.starts_with([' ', '\t']);
            return (is_word && is_apart)
                .then(|| Self::Version(version.to_owned()))
                .ok_or_else(|| "VERSION has no version".to_owned());
        }
        let mut attributes = Attributes::read(rest)?;
        if keyword == "REF" && attributes.is_of_stub() {
            return Ok(Self::Stub);
        }
        let mut required = |name: &str| {
            let value = attributes.take(name).filter(|value| !value.trim().is_empty());
            value.ok_or_else(|| format!("{keyword} has no {name}"))
        };
        match keyword {
            "BEGIN" => Ok(Self::Begin(required("id")?, attributes)),
            "END" => Ok(Self::End(required("id")?)),
            _ => Ok(Self::Reference(required("doc")?, attributes.take("section"))),
        }
    }
}

/// The attributes of a marker, decoded, in their order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Attributes {
    /// Names and values that have not been taken out yet.
    pub(super) pairs: Vec<(String, String)>,
    /// Names that occur more than once. The first value counts.
    pub(super) repeated: Vec<String>,
}

impl Attributes {
    /// Takes out the value of `name`.
    pub(super) fn take(&mut self, name: &str) -> Option<String> {
        let at = self.pairs.iter().position(|(known, _)| known == name)?;
        Some(self.pairs.remove(at).1)
    }

    /// Returns whether they are those of a REF in place of a section that is left out.
    fn is_of_stub(&self) -> bool {
        let [(id, name), (bytes, number)] = self.pairs.as_slice() else { return false };
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        (id.as_str(), bytes.as_str()) == ("id", "bytes") && !name.trim().is_empty() && is_number
    }

    fn read(text: &str) -> Result<Self, String> {
        let mut attributes = Self::default();
        let mut rest = text;
        loop {
            let trimmed = rest.trim_ascii_start();
            if trimmed.is_empty() {
                return Ok(attributes);
            }
            if trimmed.len() == rest.len() {
                return Err("a blank is missing before an attribute".to_owned());
            }
            let (name, value, after) = attribute(trimmed)?;
            rest = after;
            if attributes.pairs.iter().any(|(known, _)| known == name) {
                attributes.repeated.push(name.to_owned());
            } else {
                attributes.pairs.push((name.to_owned(), decoded(value).into_owned()));
            }
            if attributes.pairs.len() + attributes.repeated.len() > MAX_LDMD_ATTRIBUTES {
                return Err(format!("the marker has more than {MAX_LDMD_ATTRIBUTES} attributes"));
            }
        }
    }
}

/// Returns the span of the value of the attribute `name` in a marker line, as it is written between its quotes.
pub(crate) fn value_span(line: &str, name: &str) -> Option<Range<usize>> {
    let blank = line.find(|scalar: char| scalar.is_ascii_whitespace())?;
    let mut rest = line.get(blank..)?.trim_ascii_start();
    loop {
        let (known, value, after) = attribute(rest).ok()?;
        if known == name {
            let start = line.len() - rest.len() + known.len() + 2;
            return Some(start..start + value.len());
        }
        rest = after.trim_ascii_start();
    }
}

/// Returns the name and the raw value of the attribute at the start of `text`, and the text after
/// it.
fn attribute(text: &str) -> Result<(&str, &str, &str), &'static str> {
    let (name, value) = text.split_once('=').ok_or("an attribute has no value")?;
    let is_name_part = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte);
    if name.is_empty() || !name.bytes().all(is_name_part) {
        return Err("an attribute has no valid name");
    }
    ['"', '\'']
        .into_iter()
        .find_map(|quote| Some((quote, value.strip_prefix(quote)?)))
        .ok_or("an attribute's value is not in quotes")
        .and_then(|(quote, value)| value.split_once(quote).ok_or("a quote is not closed"))
        .map(|(value, after)| (name, value, after))
}

/// Decodes the entities in `text`. An unknown entity is kept as it is.
fn decoded(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut parts = text.split('&');
    plain.extend(parts.next());
    for part in parts {
        let entity = part.split_once(';').and_then(|(name, rest)| Some((entity(name)?, rest)));
        match entity {
            Some((text, rest)) => {
                plain.push_str(&text);
                plain.push_str(rest);
            }
            None => {
                plain.push('&');
                plain.push_str(part);
            }
        }
    }
    Cow::Owned(plain)
}

/// Returns the text of the entity `&name;`. A number that is zero or not a Unicode scalar gives
/// U+FFFD (`CommonMark` section 2.5).
fn entity(name: &str) -> Option<Cow<'static, str>> {
    let Some(number) = name.strip_prefix('#') else {
        return named_entity(name).map(Cow::Borrowed);
    };
    let (digits, radix) = number.strip_prefix(['x', 'X']).map_or((number, 10), |hex| (hex, 16));
    if digits.starts_with('+') {
        return None;
    }
    let code = u32::from_str_radix(digits, radix).ok()?;
    let scalar = char::from_u32(code).filter(|&scalar| scalar != '\0').unwrap_or('\u{fffd}');
    Some(Cow::Owned(scalar.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_of_an_attribute_is_found_by_its_name() {
        for line in [
            "<!--LDMD:REF doc=\"b.md\" section=\"t\"-->",
            "<!--LDMD:REF\tdoc='b.md'-->",
            "<!--LDMD:REF note='x doc=\"a.md\"' doc=\"b.md\"-->",
        ] {
            assert_eq!(value_span(line, "doc").map(|span| &line[span]), Some("b.md"), "{line}");
        }
        assert_eq!(value_span("<!--LDMD:REF section=\"t\"-->", "doc"), None);
    }

    fn begin(line: &str) -> (String, Vec<(String, String)>, Vec<String>) {
        match Marker::read(line.as_bytes()) {
            Some(Marker::Begin(id, attributes)) => (id, attributes.pairs, attributes.repeated),
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn attributes_are_decoded_in_any_order() {
        let (id, pairs, repeated) = begin(
            "\t <!--LDMD:BEGIN title=\"&quot;a&quot; &amp;amp; &#45;&#x2D;&gt; > &nope; &\" \
             x-y='it\"s' id='b' title=\"c\"  --> ",
        );
        assert_eq!(id, "b");
        assert_eq!(
            pairs,
            [
                ("title".to_owned(), "\"a\" &amp; --> > &nope; &".to_owned()),
                ("x-y".to_owned(), "it\"s".to_owned())
            ]
        );
        assert_eq!(repeated, ["title"]);
    }

    #[test]
    fn numeric_entities_outside_of_unicode_become_the_replacement_character() {
        for (text, plain) in [
            ("&#0;", "\u{fffd}"),
            ("&#xD800;", "\u{fffd}"),
            ("&#1114112;", "\u{fffd}"),
            ("&#99999999999;", "&#99999999999;"),
            ("&#+5;", "&#+5;"),
            ("&#;", "&#;"),
            ("&apos;&nbsp;&#10;", "'\u{a0}\n"),
            ("&amp;lt;", "&lt;"),
            ("Caf&eacute; &nbsp;", "Caf\u{e9} \u{a0}"),
        ] {
            assert_eq!(decoded(text), plain, "{text}");
        }
    }

    #[test]
    fn every_kind_of_marker_is_parsed() {
        let read = |line: &str| Marker::read(line.as_bytes());
        assert_eq!(read("<!--LDMD:VERSION 1.0-->"), Some(Marker::Version("1.0".to_owned())));
        assert_eq!(read("<!--LDMD:END id=\"a\" -->"), Some(Marker::End("a".to_owned())));
        assert_eq!(
            read("<!--LDMD:REF doc=\"other.ldmd.md\" section=\"summary\"-->"),
            Some(Marker::Reference("other.ldmd.md".to_owned(), Some("summary".to_owned())))
        );
        assert_eq!(read(&super::super::stub("a--\"b@7", 12)), Some(Marker::Stub));
    }

    #[test]
    fn text_is_distinguished_from_malformed_markers() {
        for text in [
            "",
            "<!-- LDMD: how it is written -->",
            "<!-- LDMD BEGIN id=\"a\"-->",
            "<!--LDMDX:BEGIN id=\"a\"-->",
            "<!-- BEGIN -->",
            "text <!--LDMD:BEGIN id=\"a\"-->",
            "> <!--LDMD:BEGIN id=\"a\"-->",
            "`<!--LDMD:BEGIN id=\"a\"-->`",
        ] {
            assert_eq!(Marker::read(text.as_bytes()), None, "{text}");
            assert!(!is_marker_line(text.as_bytes()));
        }
        let many: String = (0..65).map(|at| format!(" a{at}=\"\"")).collect();
        for text in [
            "<!-- LDMD:BEGIN id=\"a\"-->",
            "<!--\tLDMD : BEGIN id=\"a\"-->",
            "<!--LDMD: BEGIN id=\"a\"-->",
            "<!--LDMD:begin id=\"a\"-->",
            "<!--ldmd:BEGIN id=\"a\"-->",
            "<!--Ldmd:End id=\"a\"-->",
            "<!--LDMD:-->",
            "<!--LDMD:BEGIN id=\"a\"",
            "<!--LDMD:BEGIN",
            "<!--LDMD:BEGIN id=\"a\"->",
            "<!--LDMD:BEGIN id=\"a\"--> text",
            "<!--LDMD:BEGIN-->",
            "<!--LDMD:BEGIN id=\"\"-->",
            "<!--LDMD:BEGIN id=\" \"-->",
            "<!--LDMD:BEGIN title=\"a\"-->",
            "<!--LDMD:BEGIN id=\"a\"title=\"b\"-->",
            "<!--LDMD:BEGIN id = \"a\"-->",
            "<!--LDMD:BEGIN id=a-->",
            "<!--LDMD:BEGIN id=\"a-->",
            "<!--LDMD:BEGIN id=\"a\" title-->",
            "<!--LDMD:BEGIN2 id=\"a\"-->",
            "<!--LDMD:BEGINid=\"a\"-->",
            "<!--LDMD:OPEN id=\"a\"-->",
            "<!--LDMD:END-->",
            "<!--LDMD:VERSION-->",
            "<!--LDMD:VERSION1.0-->",
            "<!--LDMD:VERSION 1 0-->",
            "<!--LDMD:REF section=\"a\"-->",
            "<!--LDMD:REF id=\"a\"-->",
            "<!--LDMD:REF id=\"a\" bytes=\"x\"-->",
            "<!--LDMD:BEGIN id=\"a\"--><!--LDMD:END id=\"a\"-->",
            "<!--LDMD:END id=\"a\"-->  <!-- ERROR: Expected 'b', got 'a' -->",
            &format!("<!--LDMD:BEGIN id=\"a\"{many}-->"),
        ] {
            let marker = Marker::read(text.as_bytes());
            assert!(matches!(marker, Some(Marker::Malformed(_))), "{text}: {marker:?}");
            assert!(is_marker_line(text.as_bytes()));
        }
    }

    #[test]
    fn invalid_utf8_does_not_hide_a_marker() {
        let marker = Marker::read(b"<!--LDMD:END id=\"a\xff\"-->");
        assert_eq!(marker, Some(Marker::End("a\u{fffd}".to_owned())));
    }
}
