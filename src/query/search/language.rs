//! In which language a text is, as far as its stop words show.
//!
//! Invariant: a text is in another language than the question only where that language has more of its
//! stop words, or the text is long and has none of the question's language.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Bytes of a text that are looked at.
const MOST_BYTES: usize = 1024;
/// Bytes up to which a text without stop words may be in any language.
const SHORT_BYTES: usize = 80;
/// A list that also has the stop words of English.
const MIXED: &str = "hinglish";

/// By stop word, the languages that have it: bits by their index in the list of languages.
static STOP_WORDS: LazyLock<HashMap<&str, u64>> = LazyLock::new(|| {
    let mut languages: HashMap<&str, u64> = HashMap::with_capacity(1 << 13);
    for (index, code) in stop_words::available_languages().iter().enumerate().take(64) {
        for word in stop_words::lookup(code).filter(|_| *code != MIXED).unwrap_or_default() {
            *languages.entry(word).or_default() |= 1 << index;
        }
    }
    languages
});

/// A language, by its index in the list of languages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Language(usize);

impl Language {
    /// The language of a question, if it has stop words of one more than of the others.
    pub(super) fn of(question: &str) -> Option<Self> {
        let counts = counts(question.as_bytes());
        let most = counts.iter().max().filter(|most| **most > 0)?;
        let mut best = counts.iter().enumerate().filter(|(_, count)| *count == most);
        let (index, _) = best.next()?;
        best.next().is_none().then_some(Self(index))
    }

    /// Whether `text` is in another language.
    pub(super) fn is_foreign(self, text: &[u8]) -> bool {
        let counts = counts(text);
        let own = counts.get(self.0).copied().unwrap_or_default();
        own < counts.iter().copied().max().unwrap_or_default()
            || own == 0 && text.len() > SHORT_BYTES
    }
}

/// How many stop words of each language the beginning of `text` has.
fn counts(text: &[u8]) -> [usize; 64] {
    let mut counts = [0; 64];
    let text = String::from_utf8_lossy(text.get(..MOST_BYTES).unwrap_or(text));
    for word in text.split(|scalar: char| !scalar.is_alphabetic()).filter(|word| !word.is_empty()) {
        let mut languages =
            STOP_WORDS.get(word.to_lowercase().as_str()).copied().unwrap_or_default();
        while languages != 0 {
            if let Some(count) = counts.get_mut(languages.trailing_zeros() as usize) {
                *count += 1;
            }
            languages &= languages - 1;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_in_another_language_is_foreign_to_the_question() {
        let english = Language::of("Which version of the program does this need?").unwrap();
        let of = |text: &str| english.is_foreign(text.as_bytes());
        assert!(!of("The program requires version 22 or later. Install it from the site."));
        assert!(of("Het programma vereist versie 22 of later. Installeer het vanaf de site."));
        assert!(of("Le programme requiert la version 22 ou plus. Installez-le depuis le site."));
        assert!(of("Программа требует версию 22 или новее. Установите её с сайта, и запустите."));
        assert!(of(&"Wymaga wersji 22 albo nowszej. ".repeat(4)), "a language without a list");
        assert!(!of("npm install -g program"), "a short text has no language");
        let french = Language::of("Quelle version est-ce que le programme requiert ?").unwrap();
        assert!(french.is_foreign(b"The program requires version 22 or later."));
    }

    #[test]
    fn words_alone_are_in_no_language() {
        for question in ["", "version program", "\u{7248}\u{672c}\u{8981}\u{6c42}"] {
            assert_eq!(Language::of(question), None, "{question}");
        }
    }
}
