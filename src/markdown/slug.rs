//! Slugs and anchors as github-slugger (npm, version 2) makes them.
//!
//! Owns which characters a slug keeps and how equal slugs are numbered. Invariant: for any sequence
//! of titles the numbered slugs equal those of `new GithubSlugger().slug(title)`; the table of
//! recorded pairs in `fixtures/slugs.json` is the proof.

use std::collections::HashMap;
use std::sync::OnceLock;

use regex::Regex;
use unicode_normalization::UnicodeNormalization as _;

/// What github-slugger keeps besides space and hyphen, in the Unicode version of its own table: the
/// alphabetic, marks, decimal and letter numbers, connector punctuation.
const KEPT: &str = r"[[\p{Alphabetic}\p{M}\p{Nd}\p{Nl}\p{Pc}]&&\p{Age:13.0}]";

fn kept() -> Option<&'static Regex> {
    static REGEX: OnceLock<Option<Regex>> = OnceLock::new();
    REGEX.get_or_init(|| Regex::new(KEPT).ok()).as_ref()
}

/// The slug of a rendered title, not yet numbered.
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

/// The form in which slugs and titles are compared: NFC, case-folded, without U+FE0F.
pub fn comparable(text: &str) -> String {
    fold(text).replace('\u{FE0F}', "")
}

/// The text in NFC and case-folded: `ß` as `ss`, each sigma as `σ`, a dotless `ı` as itself.
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    // Upper case and back, scalar by scalar: what full case folding (Unicode, section 5.18) does but
    // for the few scalars whose upper case is another letter's.
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

/// Numbers equal slugs: `foo`, `foo-1`, `foo-2`, never giving one out twice.
#[derive(Debug, Default)]
pub struct Slugger {
    occurrences: HashMap<String, usize>,
}

impl Slugger {
    /// The number that makes `slug` unique (0 where it already is), and takes that name.
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

/// `slug` with its number, which 0 leaves out.
pub fn numbered(slug: &str, number: usize) -> String {
    if number == 0 { slug.to_owned() } else { format!("{slug}-{number}") }
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
    fn folding_knows_no_case() {
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
    fn numbers_reserve_what_was_given_out() {
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
