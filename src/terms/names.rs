//! Names of several words in programs, and what is searched instead of a name that no text has.
//!
//! A qualified name, such as `std::vector::push_back` or `Cache.get`, consists of names. Another one consists of words, in
//! one of two spellings: `max_retries` or `maxRetries`. Invariant: what is searched instead of a name has its words and no
//! others.

use super::term::{Look, QueryTerm, term};
use super::tokens::camel_parts;

/// Only a name with a part of at least this many Unicode scalars is divided: `e.g.` is none.
const LONG_PART: usize = 3;
/// The fewest words of a name with a capital at its beginning. One of two words may be that of a product: `JavaScript`.
const CAPITALIZED_WORDS: usize = 3;

/// The most parts of a name that are searched. Each of them takes time.
const MOST_PARTS: usize = 16;

/// Returns whether a compound of these words is a name that can be divided.
pub(super) fn is_divisible(words: &[(usize, String)]) -> bool {
    words.len() > 1 && words.iter().any(|(_, word)| word.chars().nth(LONG_PART - 1).is_some())
}

/// Returns whether a word that looks like this is a name that can be divided.
pub(super) fn is_divisible_word(word: &str, look: Look) -> bool {
    let least = match look {
        Look::Word => return false,
        Look::Identifier => 2,
        Look::Capitalized => CAPITALIZED_WORDS,
    };
    camel_words(word).len() >= least
}

/// Returns what is searched instead of a name: the names in a qualified one, or else its words and all of them in the
/// other spelling.
pub(super) fn parts(name: &str) -> Vec<QueryTerm> {
    let of_name = |text: &str| term(None, text, false, false);
    let names = name.split(['.', ':']).filter_map(of_name).take(MOST_PARTS);
    let names: Vec<QueryTerm> = names.collect();
    if names.len() > 1 {
        return names;
    }
    let (words, respelled) = if name.contains('_') {
        let words: Vec<String> = name.split('_').map(str::to_owned).collect();
        let joined = words.concat();
        (words, joined)
    } else {
        let words = camel_words(name);
        let joined = words.join("_");
        (words, joined)
    };
    // A letter alone is no word here, so another spelling would lack it.
    let is_whole = |respelled: &&String| {
        let letters = |text: &str| text.chars().filter(|scalar| scalar.is_alphanumeric()).count();
        letters(respelled) == letters(name)
    };
    let respelled = Some(&respelled).filter(is_whole);
    let parts = respelled.into_iter().chain(&words).filter_map(|word| of_name(word));
    parts.take(MOST_PARTS).collect()
}

/// Returns the folded words of `maxRetries`.
fn camel_words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    camel_parts(name, |word| words.push(word.to_owned()));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_names_or_words_and_another_spelling() {
        for (name, expected) in [
            ("std::vector::push_back", &["std", "vector", "push_back"][..]),
            ("Cache.getItem", &["cache", "getitem"]),
            ("max_retries", &["maxretries", "max", "retries"]),
            ("maxRetries", &["max_retries", "max", "retries"]),
            ("getXCoordinate", &["get", "coordinate"]),
            ("HTTPServer", &["http_server", "http", "server"]),
        ] {
            let parts: Vec<String> = parts(name).into_iter().map(|part| part.text).collect();
            assert_eq!(parts, expected, "{name}");
        }
    }

    #[test]
    fn words_products_and_abbreviations_are_not_divided() {
        let is_divided = |text: &str| term(None, text, false, false).unwrap().written.is_some();
        for name in ["max_retries", "maxRetries", "GetDocString", "a::get", "config.toml"] {
            assert!(is_divided(name), "{name}");
        }
        for text in
            ["retries", "JavaScript", "HTTP", "e.g.", "U.S.", "2.14", "v1.2.3", "c++", "iOS"]
        {
            assert!(!is_divided(text), "{text}");
        }
    }
}
