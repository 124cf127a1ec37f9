//! The stop words of many languages (lists of NLTK).
//!
//! The build script makes the table of them. Invariant: a lookup allocates nothing.

use std::sync::LazyLock;

use fst::Map;

/// The maximum number of languages.
pub(crate) const LANGUAGES: usize = 64;

/// The number of distinct stop words of another language, besides as many as of English, that an English question may
/// have: names in programs, such as `var` and `min` in Swedish, and words such as `one`.
const MOST_SHARED: usize = 2;

/// The languages of each stop word.
static STOP_WORDS: LazyLock<Option<Map<&[u8]>>> = LazyLock::new(|| {
    let table = include_bytes!(concat!(env!("OUT_DIR"), "/stop_words.fst"));
    Map::new(&table[..]).ok()
});

/// A set of languages, each of which is a number less than [`LANGUAGES`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LanguageSet(u64);

impl LanguageSet {
    /// English, whose number is 0.
    pub(crate) const ENGLISH: Self = Self(1);

    /// Returns the languages of which `word`, in lowercase, is a stop word.
    pub(crate) fn of_stop_word(word: &str) -> Self {
        Self(STOP_WORDS.as_ref().and_then(|words| words.get(word)).unwrap_or_default())
    }

    /// Returns the numbers of the languages, ascending.
    pub(crate) fn numbers(self) -> impl Iterator<Item = usize> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let lowest = left.trailing_zeros();
            left &= left.checked_sub(1)?;
            usize::try_from(lowest).ok()
        })
    }

    /// Returns the languages that are in either set.
    pub(crate) fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the languages that are in both sets.
    pub(crate) fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// The languages that a question may be in, as its stop words tell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QuestionLanguages {
    /// The languages whose stop words say nothing in the question: English, and those with the most of its words if these
    /// are clearly more than of English.
    pub(crate) of_stop_words: LanguageSet,
    /// Whether its words in ASCII may be of another language than English. Two stop words tell it, or one and a letter
    /// such as `ü`, because more forms of words do less harm than words that are left out.
    pub(crate) may_be_other_than_english: bool,
}

impl QuestionLanguages {
    /// Returns the languages of `question`.
    pub(crate) fn of(question: &str) -> Self {
        let mut words: Vec<String> =
            question.split(|scalar: char| !scalar.is_alphabetic()).map(str::to_lowercase).collect();
        words.sort_unstable();
        words.dedup();
        // The number of distinct stop words of each language.
        let mut counts = [0; LANGUAGES];
        for language in words.iter().flat_map(|word| LanguageSet::of_stop_word(word).numbers()) {
            counts[language] += 1;
        }
        let most = counts.iter().copied().max().unwrap_or_default();
        let numbers = (0..LANGUAGES).filter(|number| {
            *number == 0 || most > counts[0] + MOST_SHARED && counts[*number] == most
        });
        let of_stop_words =
            numbers.fold(LanguageSet::default(), |set, number| LanguageSet(set.0 | 1 << number));
        let is_latin = |scalar: char| matches!(scalar, 'À'..='ɏ' | 'Ḁ'..='ỿ');
        let may_be_other_than_english =
            most > counts[0] && (most > 1 || question.contains(is_latin));
        Self { of_stop_words, may_be_other_than_english }
    }
}

/// Returns whether `word`, which must be folded, is a stop word of English.
pub(crate) fn is_stop_word(word: &str) -> bool {
    !LanguageSet::of_stop_word(word).intersection(LanguageSet::ENGLISH).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn question_words_are_stop_words() {
        for word in "what which how do does i my can when where why who should from".split(' ') {
            assert!(is_stop_word(word), "{word}");
        }
        assert!(!is_stop_word("index"));
    }

    #[test]
    fn the_stop_words_of_a_question_are_those_of_its_language() {
        let drops = |question: &str, word: &str| {
            let languages = QuestionLanguages::of(question).of_stop_words;
            !LanguageSet::of_stop_word(word).intersection(languages).is_empty()
        };
        assert!(drops("Wie habe ich hier die Sicherung gemacht?", "ich"));
        assert!(drops("\u{bf}C\u{f3}mo puedo usar la copia con mi cuenta?", "mi"));
        assert!(drops("How do I die cast this?", "how"));
        assert!(!drops("How do I die cast this?", "die"));
        // Names in programs that are stop words of Swedish, and a word that is one of Slovene.
        assert!(!drops("var min max", "min"));
        assert!(!drops("option to stay on one mount", "one"));
    }

    #[test]
    fn few_words_tell_that_a_question_may_be_in_another_language() {
        for question in
            ["Was ist eine Notiz", "Miksi en enää saa ikkunoita", "les pages françaises"]
        {
            assert!(QuestionLanguages::of(question).may_be_other_than_english, "{question}");
        }
        for question in [
            "what is the default timeout",
            "var timeout",
            "搜索 timeout",
            "Günther timeout",
            "the résumé of a person",
            "café? is it in the list",
        ] {
            assert!(!QuestionLanguages::of(question).may_be_other_than_english, "{question}");
        }
    }

    #[test]
    fn a_word_is_a_stop_word_of_every_language_that_has_it() {
        let of = |word| LanguageSet::of_stop_word(word).numbers().collect::<Vec<_>>();
        let (english, german) = (of("the"), of("dies"));
        assert_eq!((english.len(), german.len()), (1, 1));
        assert!([&english, &german].into_iter().all(|language| of("in").contains(&language[0])));
        assert!(of("index").is_empty());
    }
}
