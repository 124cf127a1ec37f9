//! Classes of English words with the same stem, and of versions with the same beginning.
//!
//! The index contains words as they are written and no stems. A query looks up all words in the
//! index that have the same stem as its own word, so stemming takes no space in the index.
//! Invariants: only words of ASCII letters have a stem. All words of a class begin with its prefix.

use std::borrow::Cow;

use frostem::{Algorithm, Stemmer};

/// The maximum number of letters of a word after the prefix of its class.
const MOST_ENDING: usize = 9;
/// The endings after `is` or `iz` in a verb with two spellings, such as `galvanise`, and after `ys` or `yz`.
const AFTER_IZ: [&str; 9] = ["e", "ed", "es", "er", "ers", "ing", "ation", "ations", "able"];
/// The endings after `our` or `or` in a word with two spellings, such as `flavour`.
const AFTER_OR: [&str; 13] =
    ["", "s", "ed", "ing", "ful", "less", "able", "ite", "ites", "al", "hood", "er", "ers"];
/// The minimum number of letters before these: `rise` and `four` have one spelling.
const BEFORE_SPELLINGS: usize = 3;

/// The class of words with the same stem, or of versions that begin with the same numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StemClass {
    prefix: String,
    /// `None` for versions.
    stem: Option<Stem>,
}

/// What the words of a class have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stem {
    text: String,
    /// The stem of the word in American spelling.
    american: String,
    /// The stem of the word as a singular that ends with `as`: `alias` for `aliases`, whose `text`
    /// is `alia`.
    singular: Option<String>,
}

impl StemClass {
    /// Returns the class of `word`, which must be folded; `None` if it has other characters than
    /// ASCII letters or is too short.
    pub(crate) fn of(word: &str) -> Option<Self> {
        if word.len() < 3 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return None;
        }
        let (spelled, shared) = american(word);
        let stem = Stem { text: stem(word), american: stem(&spelled), singular: singular(word) };
        let common = |stem: &str| {
            word.bytes().zip(stem.bytes()).take_while(|(one, other)| one == other).count()
        };
        let common = common(&stem.text).min(common(&stem.american)).min(shared);
        let mut prefix = word.get(..common).unwrap_or_default();
        // Endings replace these letters: `share` and `sharing`, `study` and `studies`, `stable` and
        // `stability`.
        if prefix.len() > 2 && (prefix.ends_with(['e', 'i', 'y']) || prefix.ends_with("abl")) {
            prefix = prefix.get(..prefix.len() - 1).unwrap_or_default();
        }
        let prefix = prefix.to_owned();
        (prefix.len() > 1).then_some(Self { stem: Some(stem), prefix })
    }

    /// Returns the class of the versions that begin with `version`, numbers with dots between them. The last of them may
    /// be `x`, for any number. Returns `None` if it is something else.
    pub(crate) fn of_version(version: &str) -> Option<Self> {
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        let numbers = version.strip_suffix(".x").unwrap_or(version);
        let is_version = version.contains('.') && numbers.split('.').all(is_number);
        is_version.then(|| Self { prefix: version.trim_end_matches('x').to_owned(), stem: None })
    }

    /// Returns the prefix of all words of the class.
    pub(crate) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Returns whether `word`, which must be folded, is in the class.
    pub(crate) fn has(&self, word: &str) -> bool {
        let Some(ending) = word.strip_prefix(&self.prefix) else { return false };
        let Some(class) = &self.stem else {
            return ending.is_empty() || ending.starts_with('.') || self.prefix.ends_with('.');
        };
        let is_word =
            ending.len() <= MOST_ENDING && word.bytes().all(|byte| byte.is_ascii_lowercase());
        is_word && class.has(word)
    }
}

impl Stem {
    fn has(&self, word: &str) -> bool {
        let plain = stem(word);
        let has_spelling = || match american(word).0 {
            Cow::Borrowed(_) => plain == self.american,
            Cow::Owned(spelled) => stem(&spelled) == self.american,
        };
        plain == self.text
            || has_spelling()
            || self.singular.as_ref() == Some(&plain)
            || singular(word).is_some_and(|singular| singular == self.text)
    }
}

/// Returns the stem of a word as a singular if it ends with `as`. The stemmer treats such a word as
/// a plural, like `schemas`.
fn singular(word: &str) -> Option<String> {
    word.ends_with("as").then(|| stem(&format!("{word}es")))
}

fn stem(word: &str) -> String {
    let mut stem = Stemmer::new(Algorithm::English).stem(word).into_owned();
    // The stemmer makes `stabl` of `stable`, and `stabil` of `stability`.
    if stem.ends_with("abil") {
        stem.truncate(stem.len() - "il".len());
        stem.push('l');
    }
    stem
}

/// Returns a word in American spelling, and the number of its first letters that British spelling
/// shares.
fn american(word: &str) -> (Cow<'_, str>, usize) {
    let spelled = |spellings: &[&str], endings: &[&str]| {
        spellings.iter().find_map(|spelling| {
            let at = word.rfind(spelling).filter(|at| *at >= BEFORE_SPELLINGS)?;
            let (before, after) = (word.get(..at)?, word.get(at + spelling.len()..)?);
            endings.contains(&after).then_some((before, after))
        })
    };
    if let Some((before, after)) = spelled(&["is", "iz"], &AFTER_IZ) {
        (format!("{before}iz{after}").into(), before.len() + 1)
    } else if let Some((before, after)) = spelled(&["ys", "yz"], &AFTER_IZ) {
        (format!("{before}yz{after}").into(), before.len() + 1)
    } else if let Some((before, after)) = spelled(&["our", "or"], &AFTER_OR) {
        (format!("{before}or{after}").into(), before.len() + 1)
    } else {
        (word.into(), word.len())
    }
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
            ("galvanise", &["galvanized", "galvanizes"]),
            ("galvanization", &["galvanisation", "galvanise"]),
            ("analyze", &["analyse", "analysed"]),
            ("flavor", &["flavours", "flavoured"]),
            ("flavour", &["flavourings", "flavours"]),
            ("precise", &["precision", "precisely"]),
            ("revise", &["revision", "revised"]),
            ("advertise", &["advertisement"]),
            ("harbours", &["harbor"]),
            ("stable", &["stability", "stabilize", "stabilised"]),
        ] {
            let class = StemClass::of(word).unwrap();
            for other in others.iter().chain([&word]) {
                assert!(class.has(other), "{word} {other}");
                assert!(StemClass::of(other).unwrap().has(word), "{other} {word}");
            }
        }
        for (word, other) in [("share", "sharp"), ("four", "for"), ("raise", "raze")] {
            assert!(!StemClass::of(word).unwrap().has(other), "{word} {other}");
        }
    }

    #[test]
    fn words_with_other_characters_have_no_class() {
        for word in ["c99s", "über", "a", "搜索", "get_slice"] {
            assert_eq!(StemClass::of(word), None, "{word}");
        }
    }

    #[test]
    fn a_version_has_those_that_it_begins() {
        let class = StemClass::of_version("2.14").unwrap();
        for version in ["2.14", "2.14.0", "2.14.3.rc1"] {
            assert!(class.has(version), "{version}");
        }
        for version in ["2.1", "2.140", "2.15", "12.14"] {
            assert!(!class.has(version), "{version}");
        }
        let class = StemClass::of_version("2.x").unwrap();
        assert!(["2.x", "2.0", "2.14.3"].into_iter().all(|version| class.has(version)));
        assert!(!["2", "20.1", "3.0"].into_iter().any(|version| class.has(version)));
        for text in ["2", "v2.1", "2.", "a.b", ".x", "a.x"] {
            assert_eq!(StemClass::of_version(text), None, "{text}");
        }
    }
}
