//! Classes of English words with the same stem.
//!
//! The index contains words as they are written and no stems. A query looks up all words in the
//! index that have the same stem as its own word, so stemming takes no space in the index.
//! Invariants: only words of ASCII letters have a stem. All words of a class begin with its prefix.

use frostem::{Algorithm, Stemmer};

/// The maximum number of letters of a word after the prefix of its class.
const MOST_ENDING: usize = 9;

/// The class of words with the same stem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StemClass {
    stem: String,
    /// The stem of the word as a singular that ends with `as`: `alias` for `aliases`, whose `stem`
    /// is `alia`.
    singular: Option<String>,
    prefix: String,
}

impl StemClass {
    /// Returns the class of `word`, which must be folded; `None` if it has other characters than
    /// ASCII letters or is too short.
    pub(crate) fn of(word: &str) -> Option<Self> {
        if word.len() < 3 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return None;
        }
        let stem = stem(word);
        let common = word.bytes().zip(stem.bytes()).take_while(|(one, other)| one == other).count();
        let mut prefix = word.get(..common).unwrap_or_default();
        // Endings replace these letters: `share` and `sharing`, `study` and `studies`.
        if prefix.len() > 2 && prefix.ends_with(['e', 'i', 'y']) {
            prefix = prefix.get(..prefix.len() - 1).unwrap_or_default();
        }
        let prefix = prefix.to_owned();
        (prefix.len() > 1).then_some(Self { stem, singular: singular(word), prefix })
    }

    /// Returns the prefix of all words of the class.
    pub(crate) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Returns whether `word`, which must be folded, is in the class.
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

/// Returns the stem of a word as a singular if it ends with `as`. The stemmer treats such a word as
/// a plural, like `schemas`.
fn singular(word: &str) -> Option<String> {
    word.ends_with("as").then(|| stem(&format!("{word}es")))
}

fn stem(word: &str) -> String {
    Stemmer::new(Algorithm::English).stem(word).into_owned()
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
    fn words_with_other_characters_have_no_class() {
        for word in ["c99s", "über", "a", "搜索", "get_slice"] {
            assert_eq!(StemClass::of(word), None, "{word}");
        }
    }
}
