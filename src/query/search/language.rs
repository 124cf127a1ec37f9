//! Guesses the language of a text from its stop words.
//!
//! Invariant: a text is foreign to a question only if another language has more stop words in it, or if
//! it is long and has no stop word of the question's language.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use crate::decoding;
use crate::terms::{LANGUAGES, LanguageSet};

/// Number of bytes of a text to examine.
const MOST_BYTES: usize = 1024;
/// Up to this length in bytes, a text without stop words may be in any language.
const SHORT_BYTES: usize = 80;

/// A language.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Language {
    /// Its number in [`LanguageSet`].
    number: usize,
    /// The words that were looked up. Most words of a text occur in other texts, too.
    known: RefCell<KnownWords>,
}

type KnownWords = FxHashMap<String, LanguageSet>;

impl Language {
    /// Returns the language of a question, if it has more stop words of that language than of every
    /// other.
    pub(super) fn of(question: &str) -> Option<Self> {
        let mut known = KnownWords::default();
        let counts = counts(question.as_bytes(), &mut known);
        let most = counts.iter().max().filter(|most| **most > 0)?;
        let mut best = counts.iter().enumerate().filter(|(_, count)| *count == most);
        let (index, _) = best.next()?;
        best.next().is_none().then(|| Self { number: index, known: known.into() })
    }

    /// Returns whether `text` is in another language.
    pub(super) fn is_foreign(&self, text: &[u8]) -> bool {
        let counts = counts(text, &mut self.known.borrow_mut());
        let own = counts.get(self.number).copied().unwrap_or_default();
        own < counts.iter().copied().max().unwrap_or_default()
            || own == 0 && text.len() > SHORT_BYTES
    }
}

/// Counts the stop words of each language at the start of `text`.
fn counts(text: &[u8], known: &mut KnownWords) -> [usize; LANGUAGES] {
    let mut counts = [0; LANGUAGES];
    let text = decoding::text(text.get(..MOST_BYTES).unwrap_or(text));
    let mut lowercase = String::new();
    for word in text.split(|scalar: char| !scalar.is_alphabetic()).filter(|word| !word.is_empty()) {
        lowercase.clear();
        if word.is_ascii() {
            lowercase.push_str(word);
            lowercase.make_ascii_lowercase();
        } else {
            lowercase += &word.to_lowercase();
        }
        let languages = known.get(&lowercase).copied().unwrap_or_else(|| {
            let languages = LanguageSet::of_stop_word(&lowercase);
            known.insert(lowercase.clone(), languages);
            languages
        });
        for language in languages.numbers() {
            counts[language] += 1;
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
    fn text_without_stop_words_has_no_language() {
        for question in ["", "version program", "\u{7248}\u{672c}\u{8981}\u{6c42}"] {
            assert_eq!(Language::of(question), None, "{question}");
        }
    }
}
