//! English words by their stems, and those that say nothing of a subject.
//!
//! The index holds words as they are written, not stems: a query looks up every word of the index that
//! has the stem of its own. That costs no byte of the index. Invariant: only words of ASCII letters have
//! a stem; all words of a class begin with its prefix.

use std::collections::HashSet;
use std::sync::LazyLock;

use frostem::{Algorithm, Stemmer};

/// How many letters a word may have beyond the prefix of its class.
const MOST_ENDING: usize = 9;

/// The class of words that have one stem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StemClass {
    stem: String,
    /// The stem of the word as a singular in `-as`: `alias` for `aliases`, where `stem` is `alia`.
    singular: Option<String>,
    prefix: String,
}

impl StemClass {
    /// The class of `word`, which is folded; `None` where it is no word of ASCII letters.
    pub(super) fn of(word: &str) -> Option<Self> {
        if word.len() < 3 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return None;
        }
        let stem = stem(word);
        let common = word.bytes().zip(stem.bytes()).take_while(|(one, other)| one == other).count();
        let mut prefix = word.get(..common).unwrap_or_default();
        // What endings replace: `share` and `sharing`, `study` and `studies`.
        if prefix.len() > 2 && prefix.ends_with(['e', 'i', 'y']) {
            prefix = prefix.get(..prefix.len() - 1).unwrap_or_default();
        }
        let prefix = prefix.to_owned();
        (prefix.len() > 1).then_some(Self { stem, singular: singular(word), prefix })
    }

    /// What all of its words begin with.
    pub(super) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Whether `word`, which is folded, is one of them.
    pub(crate) fn has(&self, word: &str) -> bool {
        word.len() <= self.prefix.len() + MOST_ENDING
            && word.starts_with(&self.prefix)
            && word.bytes().all(|byte| byte.is_ascii_lowercase())
            && self.has_stem(word)
    }

    fn has_stem(&self, word: &str) -> bool {
        let stem = stem(word);
        stem == self.stem
            || self.singular.as_ref() == Some(&stem)
            || singular(word).is_some_and(|singular| singular == self.stem)
    }
}

/// The stem of a word in `-as` that is a singular. The stemmer takes it for a plural: `schemas`.
fn singular(word: &str) -> Option<String> {
    word.ends_with("as").then(|| stem(&format!("{word}es")))
}

fn stem(word: &str) -> String {
    Stemmer::new(Algorithm::English).stem(word).into_owned()
}

/// Whether `word`, which is folded, is one that stands in any English text (the list of NLTK).
pub(super) fn is_stop_word(word: &str) -> bool {
    static WORDS: LazyLock<HashSet<&str>> =
        LazyLock::new(|| stop_words::lookup("en").unwrap_or_default().iter().copied().collect());
    WORDS.contains(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_in_the_class_of_its_other_forms() {
        for (word, others) in [
            ("share", &["shared", "sharing", "shares"][..]),
            ("sharing", &["share", "shared"]),
            ("running", &["run", "runs"]),
            ("queries", &["query", "querying"]),
            ("happy", &["happiness"]),
            ("class", &["classes"]),
            ("properties", &["property"]),
            ("alias", &["aliases"]),
            ("canvases", &["canvas"]),
            ("schemas", &["schema"]),
            ("schema", &["schemas"]),
        ] {
            let class = StemClass::of(word).unwrap();
            for other in others.iter().chain([&word]) {
                assert!(class.has(other), "{word} {other}");
            }
        }
        assert!(!StemClass::of("share").unwrap().has("sharp"));
    }

    #[test]
    fn what_is_no_english_word_has_no_class() {
        for word in ["c99s", "über", "a", "搜索", "get_slice"] {
            assert_eq!(StemClass::of(word), None, "{word}");
        }
    }

    #[test]
    fn question_words_are_stop_words() {
        for word in "what which how do does i my can when where why who should from".split(' ') {
            assert!(is_stop_word(word), "{word}");
        }
        assert!(!is_stop_word("index"));
    }
}
