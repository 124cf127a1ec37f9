//! Classes of words that are forms of each other, and of versions with the same beginning.
//!
//! English words of a class have the same stem. In other languages they begin alike: folded words have lost the accents
//! that stemmers need, and the first letters tell forms apart from other words as well as stemmers of these languages do.
//! The index contains words as they are written and no stems. A query looks up all words in the index that are in the
//! class of its own word, so classes take no space in the index.
//! Invariants: only words of ASCII letters have a stem. All words of a class begin with its prefix.

use std::borrow::Cow;

use frostem::{Algorithm, Stemmer};

/// The maximum number of letters of an English word after the prefix of its class.
const MOST_ENDING: usize = 9;
/// The minimum number of letters of a word of another language that has other forms, and of their prefix.
const LEAST_LETTERS: usize = 4;
/// The maximum number of letters of a form in another language after this prefix, which has more.
const MOST_OTHER_ENDING: usize = 4;
/// The minimum number of letters of a word that also stands for all compounds that begin with it, as in German.
const COMPOUND_LETTERS: usize = 5;
/// The endings after `is` or `iz` in a verb with two spellings, such as `galvanise`, and after `ys` or `yz`.
const AFTER_IZ: [&str; 9] = ["e", "ed", "es", "er", "ers", "ing", "ation", "ations", "able"];
/// The endings after `our` or `or` in a word with two spellings, such as `flavour`.
const AFTER_OR: [&str; 13] =
    ["", "s", "ed", "ing", "ful", "less", "able", "ite", "ites", "al", "hood", "er", "ers"];
/// The minimum number of letters before these: `rise` and `four` have one spelling.
const BEFORE_SPELLINGS: usize = 3;

/// The class of the forms of a word, or of versions that begin with the same numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StemClass {
    prefix: String,
    members: Members,
}

/// Which words with the prefix of a class are in it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Members {
    Versions,
    /// English words with this stem.
    English(Stem),
    /// Words of other languages that are not much longer than the prefix, or that begin with this word.
    Other(String),
    /// The words of either class.
    Either(Box<[StemClass; 2]>),
}

/// What English words of a class have in common.
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
    /// Returns the class of `word`, which must be folded: that of an English word if it has only ASCII letters. Returns
    /// `None` if it has other characters than letters or is too short.
    pub(crate) fn of(word: &str) -> Option<Self> {
        if !word.is_ascii() {
            return Self::of_other_language(word);
        }
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
        (prefix.len() > 1).then_some(Self { members: Members::English(stem), prefix })
    }

    /// Returns the class of `word`, which must be folded, in English and in other languages: a text in another language has
    /// English words, too. Returns `None` if it has other characters than letters or is too short.
    pub(crate) fn in_any_language(word: &str) -> Option<Self> {
        match (Self::of(word), Self::of_other_language(word)) {
            (Some(english), Some(other)) if english != other => {
                let shared = english.prefix.len().min(other.prefix.len());
                let prefix = word.get(..shared)?.to_owned();
                Some(Self { prefix, members: Members::Either(Box::new([english, other])) })
            }
            (class, other) => class.or(other),
        }
    }

    fn of_other_language(word: &str) -> Option<Self> {
        let letters = word.chars().count();
        if letters < LEAST_LETTERS || !word.chars().all(char::is_alphabetic) {
            return None;
        }
        let shared = (letters * 2).div_ceil(3).max(LEAST_LETTERS);
        let prefix = word.chars().take(shared).collect();
        Some(Self { prefix, members: Members::Other(word.to_owned()) })
    }

    /// Returns the class of the versions that begin with `version`, numbers with dots between them. The last of them may
    /// be `x`, for any number. Returns `None` if it is something else.
    pub(crate) fn of_version(version: &str) -> Option<Self> {
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        let numbers = version.strip_suffix(".x").unwrap_or(version);
        let is_version = version.contains('.') && numbers.split('.').all(is_number);
        let prefix = version.trim_end_matches('x').to_owned();
        is_version.then_some(Self { prefix, members: Members::Versions })
    }

    /// Returns the prefix of all words of the class.
    pub(crate) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Returns whether the folded word in `bytes` may be in the class, judged by its ending alone. Only those that may need
    /// a stem.
    pub(crate) fn may_have(&self, bytes: &[u8]) -> bool {
        let ending = bytes.get(self.prefix.len()..).unwrap_or_default();
        match &self.members {
            Members::English(_) => {
                ending.len() <= MOST_ENDING && ending.iter().all(u8::is_ascii_lowercase)
            }
            Members::Versions | Members::Other(_) => true,
            Members::Either(classes) => classes.iter().any(|class| class.may_have(bytes)),
        }
    }

    /// Returns whether `word`, which must be folded, is in the class.
    pub(crate) fn has(&self, word: &str) -> bool {
        let Some(ending) = word.strip_prefix(&self.prefix) else { return false };
        match &self.members {
            Members::Versions => {
                ending.is_empty() || ending.starts_with('.') || self.prefix.ends_with('.')
            }
            Members::English(stem) => {
                let is_word = word.bytes().all(|byte| byte.is_ascii_lowercase());
                is_word && ending.len() <= MOST_ENDING && stem.has(word)
            }
            Members::Other(own) => {
                let most = MOST_OTHER_ENDING.min(self.prefix.chars().count() - 1);
                let is_compound =
                    || own.chars().count() >= COMPOUND_LETTERS && word.starts_with(own);
                ending.chars().all(char::is_alphabetic)
                    && (ending.chars().count() <= most || is_compound())
            }
            Members::Either(classes) => classes.iter().any(|class| class.has(word)),
        }
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
    // Each spelling that is looked for below has one of these pairs, and most words have none.
    let may_differ = |pair: &[u8]| matches!(pair, [b'i' | b'y', b's' | b'z'] | [b'o' | b'u', b'r']);
    if !word.as_bytes().windows(2).any(may_differ) {
        return (word.into(), word.len());
    }
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
        for word in ["c99s", "a", "搜索", "get_slice", "дом", "год_2024"] {
            assert_eq!(StemClass::of(word), None, "{word}");
        }
    }

    #[test]
    fn a_word_of_another_language_is_in_the_class_of_its_other_forms() {
        for (word, others) in [
            ("заметка", &["заметки", "заметками", "заметок"][..]),
            ("hauser", &["hausern"]),
            ("einwilligung", &["einwilligungen", "einwilligungsbanner"]),
            ("configuracion", &["configuraciones", "configurar"]),
            ("tiedosto", &["tiedostoja", "tiedostossa"]),
        ] {
            let class = StemClass::in_any_language(word).unwrap();
            for other in others.iter().chain([&word]) {
                assert!(class.has(other), "{word} {other}");
            }
        }
        let has = |word: &str, other: &str| StemClass::in_any_language(word).unwrap().has(other);
        assert!(!has("заметка", "замечательный"));
        assert!(!has("notiz", "notional"));
        assert!(!has("nota", "notablemente"), "a short word begins too many others");
        assert!(!has("datei", "datei2"));
        assert!(has("indexing", "indexes"), "an English word in a text of another language");
        assert_eq!(StemClass::of("заметка"), StemClass::in_any_language("заметка"));
        assert_eq!(StemClass::in_any_language("mit"), StemClass::of("mit"));
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
