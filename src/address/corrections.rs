//! Corrections: well-formed steps that are similar to a misspelled step.
//!
//! Invariant: every correction is a well-formed locator. A document need not contain the place.

use super::selector::{StepKind, parse_step, shorthand, split_word};
use super::suggest::most_similar;
use crate::markdown::outline::BlockType;

/// Returns the words of steps as people may write them, and the step that each stands for.
fn words() -> impl Iterator<Item = (String, StepKind)> {
    let plain = [StepKind::Root, StepKind::Section, StepKind::Item, StepKind::Page];
    let headings = (1..=6).map(StepKind::Heading);
    let blocks = BlockType::ALL.into_iter().map(StepKind::Block);
    let long = plain.into_iter().chain(headings).chain(blocks);
    let long = long.map(|kind| (kind.to_string(), kind));
    let short = ["h1", "h2", "h3", "h4", "h5", "h6", "para", "quote"]
        .into_iter()
        .chain(BlockType::ALL.map(BlockType::name));
    long.chain(short.filter_map(|word| Some((word.to_owned(), shorthand(word)?))))
}

/// The places whose names have no index.
const PLAIN_WORDS: [&str; 3] = ["root", "section", "@frontmatter"];

/// The lowest similarity at which a plain text is taken for a misspelled word, because it may also be a title.
const LEAST_RATIO_OF_WORDS: f64 = 0.7;

/// Returns the [`PLAIN_WORDS`] that are very similar to `text`.
fn near_words(text: &str) -> Vec<String> {
    let text = text.to_lowercase();
    let is_near = |word: &&str| {
        text.len() < 2 * word.len()
            && strsim::normalized_damerau_levenshtein(&text, word) >= LEAST_RATIO_OF_WORDS
    };
    PLAIN_WORDS.iter().copied().filter(is_near).map(str::to_owned).collect()
}

/// Returns `text`, a locator, with its first misspelled step replaced by similar steps, most
/// similar first. Returns nothing if no part of it looks like a misspelled step.
pub fn corrections(text: &str) -> Vec<String> {
    let parts: Vec<&str> = text.split('/').collect();
    let looks_like_step = |part: &str| !split_word(part).1.is_empty() || part.contains(':');
    let is_wrong = |part: &&str| looks_like_step(part) && parse_step(part, 0).is_err();
    let Some(wrong) = parts.iter().position(is_wrong) else {
        return if parts.iter().any(|part| looks_like_step(part)) {
            Vec::new()
        } else {
            near_words(text)
        };
    };
    let Some((word, rest)) = parts.get(wrong).map(|part| split_word(part)) else {
        return Vec::new();
    };
    let rest = rest.strip_prefix('.').map_or_else(|| rest.to_owned(), |rest| format!("[{rest}]"));
    let words: Vec<(String, StepKind)> = words().collect();
    let similar = most_similar(word, words.iter().map(|(word, _)| word.as_str()));
    let mut corrections: Vec<String> = Vec::new();
    for similar in similar {
        let Some((_, kind)) = words.iter().find(|(word, _)| word == similar) else { continue };
        let mut parts: Vec<String> = parts.iter().map(|&part| part.to_owned()).collect();
        if let Some(part) = parts.get_mut(wrong) {
            *part = format!("{kind}{rest}");
        }
        let corrected = parts.join("/");
        if !parts.iter().any(|part| is_wrong(&part.as_str())) && !corrections.contains(&corrected) {
            corrections.push(corrected);
        }
    }
    corrections
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelled_steps_have_corrections() {
        for (text, first) in [
            ("secton[5]", "section[5]"),
            ("heading[1]", "heading:h1[1]"),
            ("blok:code[0]", "block:code[0]"),
            ("H2[1]", "heading:h2[1]"),
            ("Block:Code[0]", "block:code[0]"),
            ("paragrph.2", "block:paragraph[2]"),
            ("section[0]/secton[1]", "section[0]/section[1]"),
            ("Beta/blok:code[0]", "Beta/block:code[0]"),
            ("block:tabel[0]", "block:table[0]"),
            ("sectoin", "section"),
            ("Rooot", "root"),
            ("@frontmater", "@frontmatter"),
        ] {
            assert_eq!(corrections(text).first().map(String::as_str), Some(first), "{text}");
        }
        for text in ["Setup", "section[0]", "secton[x]", "a/b", "zzzz[1]", "qqqq:wwww"] {
            assert!(corrections(text).is_empty(), "{text}: {:?}", corrections(text));
        }
    }
}
