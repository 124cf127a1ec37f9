//! Slugs and anchors, computed as github-slugger (npm, version 2) computes them.
//!
//! Defines which characters a slug keeps, and how equal slugs are numbered. Invariant: for any
//! sequence of titles the numbered slugs equal those of `new GithubSlugger().slug(title)`. A test
//! compares them with the recorded pairs in `fixtures/slugs.json`.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::OnceLock;

use regex::Regex;
use unicode_normalization::UnicodeNormalization as _;

/// The characters that github-slugger keeps besides space and hyphen, in the Unicode version of its
/// table: alphabetic characters, marks, decimal and letter numbers, and connector punctuation.
const KEPT: &str = r"[[\p{Alphabetic}\p{M}\p{Nd}\p{Nl}\p{Pc}]&&\p{Age:13.0}]";

fn kept() -> Option<&'static Regex> {
    static REGEX: OnceLock<Option<Regex>> = OnceLock::new();
    REGEX.get_or_init(|| Regex::new(KEPT).ok()).as_ref()
}

/// Returns the slug of a rendered title, without a number.
pub fn slug(title: &str) -> String {
    let lower = title.to_lowercase();
    let mut result = String::with_capacity(lower.len());
    for scalar in lower.chars() {
        match scalar {
            ' ' | '-' => result.push('-'),
            'a'..='z' | '0'..='9' | '_' => result.push(scalar),
            '\0'..='\x7f' => {}
            _ => {
                let mut buffer = [0; 4];
                let text = &*scalar.encode_utf8(&mut buffer);
                if kept().is_some_and(|regex| regex.is_match(text)) {
                    result.push(scalar);
                }
            }
        }
    }
    result
}

/// Returns the form in which slugs and titles are compared: NFC, case-folded, without U+FE0F.
pub fn comparable(text: &str) -> String {
    fold(text).replace('\u{FE0F}', "")
}

/// Returns the text in NFC and case-folded: `ß` becomes `ss`, each sigma `σ`, and a dotless `ı` is
/// kept.
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    // Conversion to upper case and back, scalar by scalar, equals full case folding (Unicode,
    // section 5.18), except for the few scalars whose upper case is that of another letter.
    let mut result = String::with_capacity(text.len());
    for scalar in text.nfc() {
        if scalar == 'ı' {
            result.push(scalar);
        } else {
            result.extend(scalar.to_uppercase().flat_map(char::to_lowercase));
        }
    }
    result
}

/// Numbers equal slugs: `foo`, `foo-1`, `foo-2`. No name is returned twice.
#[derive(Debug, Default)]
pub struct Slugger {
    occurrences: HashMap<String, usize>,
}

impl Slugger {
    /// Returns the number that makes `slug` unique, or 0 if it is unique already, and reserves the
    /// name.
    pub fn number(&mut self, slug: &str) -> usize {
        let Some(&last) = self.occurrences.get(slug) else {
            self.occurrences.insert(slug.to_owned(), 0);
            return 0;
        };
        let mut number = last;
        let name = loop {
            number += 1;
            let name = numbered(slug, number);
            if !self.occurrences.contains_key(&name) {
                break name;
            }
        };
        self.occurrences.insert(slug.to_owned(), number);
        self.occurrences.insert(name, 0);
        number
    }
}

/// Returns `slug` with its number, or without one if the number is 0.
pub fn numbered<'a>(slug: impl Into<Cow<'a, str>>, number: usize) -> String {
    let slug = slug.into();
    if number == 0 { slug.into_owned() } else { format!("{slug}-{number}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    struct Recorded {
        documents: Vec<Vec<(String, String)>>,
    }

    #[test]
    fn slugs_equal_those_recorded_from_github_slugger() {
        let recorded: Recorded =
            serde_json::from_str(include_str!("../../fixtures/slugs.json")).unwrap();
        let mut count = 0;
        for document in recorded.documents {
            let mut slugger = Slugger::default();
            for (title, expected) in document {
                let slug = slug(&title);
                let number = slugger.number(&slug);
                assert_eq!(numbered(&slug, number), expected, "{title:?}");
                count += 1;
            }
        }
        assert!(count >= 100);
    }

    #[test]
    fn texts_that_differ_in_case_are_comparable() {
        for (one, other) in [
            ("STRASSE", "Straße"),
            ("ΟΔΟΣ", "οδος"),
            ("e\u{301}", "É"),
            ("⚙\u{FE0F}", "⚙"),
            ("ſ", "S"),
        ] {
            assert_eq!(comparable(one), comparable(other));
        }
        assert_ne!(comparable("ı"), comparable("i"));
    }

    #[test]
    fn a_numbered_slug_is_never_returned_twice() {
        let mut slugger = Slugger::default();
        let mut give = |title: &str| {
            let slug = slug(title);
            let number = slugger.number(&slug);
            numbered(&slug, number)
        };
        assert_eq!(give("Foo"), "foo");
        assert_eq!(give("Foo"), "foo-1");
        assert_eq!(give("Foo-1"), "foo-1-1");
        assert_eq!(give("Foo"), "foo-2");
    }
}
