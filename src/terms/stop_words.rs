//! The stop words of many languages (lists of NLTK).
//!
//! The build script makes the table of them. Invariant: a lookup allocates nothing.

use std::sync::LazyLock;

use fst::Map;

/// The maximum number of languages.
pub(crate) const LANGUAGES: usize = 64;

/// The bit of English in a [`LanguageSet`].
const ENGLISH: u64 = 1;

/// The languages of each stop word.
static STOP_WORDS: LazyLock<Option<Map<&[u8]>>> = LazyLock::new(|| {
    let table = include_bytes!(concat!(env!("OUT_DIR"), "/stop_words.fst"));
    Map::new(&table[..]).ok()
});

/// A set of languages, each of which is a number less than [`LANGUAGES`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LanguageSet(u64);

impl LanguageSet {
    /// Returns the languages of which `word`, in lowercase, is a stop word.
    pub(crate) fn of_stop_word(word: &str) -> Self {
        Self(STOP_WORDS.as_ref().and_then(|words| words.get(word)).unwrap_or_default())
    }
}

impl Iterator for LanguageSet {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let lowest = self.0.trailing_zeros();
        self.0 &= self.0.checked_sub(1)?;
        usize::try_from(lowest).ok()
    }
}

/// Returns whether `word`, which must be folded, is a stop word of English.
pub(crate) fn is_stop_word(word: &str) -> bool {
    LanguageSet::of_stop_word(word).0 & ENGLISH != 0
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
    fn a_word_is_a_stop_word_of_every_language_that_has_it() {
        let of = |word| LanguageSet::of_stop_word(word).collect::<Vec<_>>();
        let (english, german) = (of("the"), of("dies"));
        assert_eq!((english.len(), german.len()), (1, 1));
        assert!([&english, &german].into_iter().all(|language| of("in").contains(&language[0])));
        assert!(of("index").is_empty());
    }
}
