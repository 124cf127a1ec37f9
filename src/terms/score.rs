//! How well a section matches a word query.
//!
//! The score is BM25 over all fields as one text (BM25F: Robertson, Zaragoza, Taylor 2004). It combines
//! the word as it is written with the words of the same stem, and increases with the proportion of the
//! query, weighted by inverse document frequency, that the section and its parent titles contain.
//! Invariant: every engine of the store uses these numbers, so that all rank alike.

/// The saturation of the term frequency: `k1` of BM25.
const SATURATION: f32 = 2.0;
/// The weight of all words with the same stem, out of 1. The rest is the weight of the word as it
/// is written.
const STEM_SHARE: f32 = 0.7;
/// The weight of a phrase whose words are also searched separately.
pub(crate) const BONUS_WEIGHT: f32 = 0.3;

/// The weight of a word in the title. A word in the body has weight 1.
pub(crate) const TITLE_WEIGHT: f32 = 3.0;
/// The weight of a word in a code block.
pub(crate) const CODE_WEIGHT: f32 = 0.8;
/// The weight of a part of an identifier.
pub(crate) const PARTS_WEIGHT: f32 = 0.3;
/// The weight of a word in the path or in the title of a parent section. Such a word alone is not a
/// match.
pub(crate) const PATH_WEIGHT: f32 = 1.0;

/// The weight of a word in front matter if the query asks for it there.
pub(crate) const META_WEIGHT: f32 = 3.0;

/// The influence of the length of a text, from 0 to 1: `b` of BM25.
pub(crate) const LENGTH: f32 = 0.75;
/// The influence of the length of a title.
pub(crate) const TITLE_LENGTH: f32 = 0.5;
/// The number of words in the code of a section of usual length, if it has code.
const CODE_WORDS: f32 = 100.0;

/// Converts a count to the type of scores.
#[expect(clippy::cast_precision_loss, reason = "a score needs no precision")]
pub(crate) fn number(count: u64) -> f32 {
    count as f32
}

/// Returns the inverse document frequency of a term that is in `having` of `all` sections.
pub(crate) fn rarity(all: u64, having: u64) -> f32 {
    let all = number(all.max(having));
    (1.0 + (all - number(having) + 0.5) / (number(having) + 0.5)).ln()
}

/// Returns the number of sections, out of `all`, that have each word of a compound if the inverse document frequencies of
/// the `words` words add up to `rarity`, which is that of the compound. As a phrase, a compound counts no more than that:
/// its words are rare in titles, and the sum of them would outweigh the rest of a query.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a score needs no precision"
)]
pub(crate) fn having_part(all: u64, rarity: f32, words: usize) -> u64 {
    let odds = (rarity / words.max(1) as f32).exp() - 1.0;
    let having = (number(all) + 0.5 - 0.5 * odds) / (1.0 + odds);
    (having.round() as u64).min(all)
}

/// Returns the inverse document frequency of a compound of `words` words, as a phrase; see [`having_part`].
#[expect(clippy::cast_precision_loss, reason = "a compound has few words")]
pub(crate) fn of_compound(all: u64, compound: f32, words: usize) -> f32 {
    rarity(all, having_part(all, compound, words)) * words as f32
}

/// Returns the weight of one occurrence of a word in a text of `tokens` tokens, of which texts have
/// `average`.
pub(crate) fn by_length(weight: f32, influence: f32, tokens: f32, average: f32) -> f32 {
    weight / (1.0 - influence + influence * tokens / average)
}

/// Returns the average with which the length of code is compared for a word. `having` are the numbers of sections that
/// have it, or another word of its stem, in the title, the body and code. `average` is the mean over all sections.
///
/// Few sections have code, so any code is long compared with the mean of all of them. This is right for a word that
/// texts explain and code only uses. A word that stands almost only in code, such as the name of a function, would count
/// for nothing where it stands, so it is compared with what sections with code have.
pub(crate) fn code_average(average: f32, having: [u64; 3]) -> f32 {
    let [title, body, code] = having;
    let in_code = number(code) / number((code + title.max(body)).max(1));
    average + (CODE_WORDS - average).max(0.0) * in_code.powi(4)
}

/// Returns the length that an index keeps for a text of `tokens` tokens: those above 40 keep four
/// significant binary digits, as in Lucene.
pub(crate) fn kept_length(tokens: usize) -> u64 {
    const EXACT: u64 = 24;
    let tokens = tokens as u64;
    let Some(rest) = tokens.checked_sub(EXACT) else { return tokens };
    let dropped = (u64::BITS - rest.leading_zeros()).saturating_sub(4);
    EXACT + (rest >> dropped << dropped)
}

/// Returns the plain BM25 score of a phrase, a tag or a path that occurs `frequency` times in a text of
/// `tokens` tokens, of which texts have `average`.
pub(crate) fn of_phrase(rarity: f32, frequency: f32, tokens: f32, average: f32) -> f32 {
    const SATURATION: f32 = 1.2;
    let length = 1.0 - LENGTH + LENGTH * tokens / average;
    rarity * (1.0 + SATURATION) * frequency / (frequency + SATURATION * length)
}

/// The inverse document frequencies of a term.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rarity {
    /// Of the word as it is written.
    pub(crate) exact: f32,
    /// Of all words with its stem.
    pub(crate) stemmed: f32,
}

/// Returns the score of a term, from the weighted frequencies of the word as it is written and of all
/// words with its stem.
pub(crate) fn of_term(rarity: Rarity, exact: f32, all: f32) -> f32 {
    let saturated = |frequency: f32| frequency * (SATURATION + 1.0) / (frequency + SATURATION);
    STEM_SHARE * rarity.stemmed * saturated(all)
        + (1.0 - STEM_SHARE) * rarity.exact * saturated(exact)
}

/// Returns how much a term counts for the coverage of a query if its score is multiplied by `times`: a term that adds less
/// to the score counts less there, too.
pub(crate) fn counted(rarity: Rarity, times: f32) -> f32 {
    rarity.stemmed * times.min(1.0)
}

/// Returns the score of a section whose terms score `sum`. `covered` and `all` are the sums of what the
/// terms that it contains, and all terms, count; see [`counted`].
pub(crate) fn of_section(sum: f32, covered: f32, all: f32) -> f32 {
    let share = if all > 0.0 { covered / all } else { 1.0 };
    sum * (1.0 + share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_long_for_a_word_of_prose_and_of_usual_length_for_a_word_of_code() {
        for (having, expected) in
            [([0, 0, 7], CODE_WORDS), ([0, 0, 0], 3.0), ([9, 900, 0], 3.0), ([1, 9, 9], 9.0625)]
        {
            let average = code_average(3.0, having);
            assert!((average - expected).abs() < 0.001, "{having:?}: {average}");
        }
        assert!((code_average(250.0, [0, 0, 7]) - 250.0).abs() < 0.001, "code may be longer");
    }

    #[test]
    fn lengths_above_forty_are_rounded_down() {
        for (tokens, kept) in [(0, 0), (24, 24), (40, 40), (41, 40), (42, 42), (57, 56), (100, 96)]
        {
            assert_eq!(kept_length(tokens), kept, "{tokens}");
        }
    }
}
