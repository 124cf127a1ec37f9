//! A fingerprint of a text for finding near-duplicates.
//!
//! A text is treated as the set of its pairs of adjacent words. The upper bits of the hash of a
//! pair select one of 13 buckets, and each bucket keeps the smallest hash. The fingerprint contains
//! four bits per bucket. The proportion of equal buckets therefore estimates the proportion of
//! common pairs (one permutation hashing: Li, Owen, Zhang 2012). The other 12 bits are a hash of the
//! words with digits, because two texts that differ in a number only state different facts. The
//! fingerprint of a short text is a hash of all of its words instead. Invariant: 0 is the fingerprint
//! of a text without words, which is not near any text.

/// Texts with fewer pairs are near only if they have the same words.
const FEW: usize = 24;

const BUCKETS: usize = 13;
/// The number of bits of a fingerprint that are taken by buckets, and the mask of these bits.
const BUCKET_BITS: u32 = 52;
const OF_BUCKETS: u64 = (1 << BUCKET_BITS) - 1;
/// Texts are near if at most one in this number of used buckets differs.
const DIFFERENT: u32 = 8;

/// The words of a text that have been added so far.
#[derive(Clone, Debug)]
pub(crate) struct Fingerprint {
    least: [u64; BUCKETS],
    pairs: usize,
    /// The sum of the hashes of the words with digits.
    numbers: u64,
    /// A hash of all words, and the hash of the previous word.
    whole: u64,
    before: u64,
}

impl Fingerprint {
    /// Creates the fingerprint of an empty text.
    pub(crate) fn new() -> Self {
        Self { least: [u64::MAX; BUCKETS], pairs: 0, numbers: 0, whole: 0, before: 0 }
    }

    /// Adds the words of `text`. Every byte that is not ASCII counts as a letter.
    pub(crate) fn add(&mut self, text: &str) {
        let (mut word, mut has_digit) = (0_u64, false);
        for byte in text.bytes().chain([b' ']) {
            let letter = LETTERS.get(usize::from(byte)).copied().unwrap_or_default();
            if letter != 0 {
                word = (word ^ u64::from(letter)).wrapping_mul(PRIME);
                has_digit |= byte.is_ascii_digit();
            } else if word != 0 {
                self.add_word(word);
                if has_digit {
                    self.numbers = self.numbers.wrapping_add(mixed(word));
                }
                (word, has_digit) = (0, false);
            }
        }
    }

    fn add_word(&mut self, word: u64) {
        let pair = mixed(self.before.rotate_left(17) ^ word);
        self.before = word;
        self.pairs += 1;
        self.whole = (self.whole ^ word).wrapping_mul(PRIME).rotate_left(23);
        if let Some(least) = self.least.get_mut((((pair >> 32) * BUCKETS as u64) >> 32) as usize) {
            *least = (*least).min(pair);
        }
    }

    /// Returns the fingerprint.
    pub(crate) fn finish(&self) -> u64 {
        if self.pairs == 0 {
            return 0;
        }
        if self.pairs < FEW {
            return mixed(self.whole).max(1);
        }
        // An empty bucket is 0, and a used one is 1 to 15.
        self.least.iter().fold(mixed(self.numbers), |number, least| {
            let bits = if *least == u64::MAX { 0 } else { 1 + mixed(*least) % 15 };
            number << 4 | bits
        })
    }
}

/// The lower case of each byte that is an ASCII letter or digit, and each byte that is not ASCII; 0 for every other one.
const LETTERS: [u8; 256] = {
    let mut letters = [0; 256];
    let mut byte = 0;
    while byte < letters.len() {
        #[expect(clippy::cast_possible_truncation, reason = "there are 256 bytes")]
        let letter = byte as u8;
        if letter.is_ascii_alphanumeric() || !letter.is_ascii() {
            letters[byte] = letter.to_ascii_lowercase();
        }
        byte += 1;
    }
    letters
};

/// An odd number with evenly distributed bits.
const PRIME: u64 = 0x9E37_79B9_7F4A_7C15;

/// Mixes all bits of `value`: the finalizer of `MurmurHash3`.
fn mixed(mut value: u64) -> u64 {
    value = (value ^ value >> 33).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    value = (value ^ value >> 33).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    value ^ value >> 33
}

/// Returns whether the texts of two fingerprints are nearly the same.
pub(crate) fn is_near(one: u64, other: u64) -> bool {
    let (same, all) = shared(one, other);
    all > 0 && (all - same) * DIFFERENT <= all
}

/// Returns the halves of the buckets of a fingerprint that have a used one. Near fingerprints have at least one half in
/// common, because at most one bucket differs, and none if less than eight are used.
pub(crate) fn halves(fingerprint: u64) -> impl Iterator<Item = u64> {
    const LOW: u64 = (1 << 24) - 1;
    let halves = [fingerprint & LOW, fingerprint & OF_BUCKETS & !LOW];
    halves.into_iter().filter(|half| *half != 0)
}

/// Returns whether the texts of two fingerprints have the same words with digits, apart from their order.
pub(crate) fn has_same_numbers(one: u64, other: u64) -> bool {
    (one ^ other) & !OF_BUCKETS == 0
}

/// Returns whether the texts of two fingerprints have about half of their pairs in common, or more.
/// Two texts without words are similar.
pub(crate) fn is_similar(one: u64, other: u64) -> bool {
    let (same, all) = shared(one, other);
    same * 2 >= all
}

/// Returns the number of equal buckets and the number of used buckets.
fn shared(one: u64, other: u64) -> (u32, u32) {
    let (mut same, mut all) = (0, 0);
    for shift in (0..BUCKET_BITS).step_by(4) {
        let (one, other) = (one >> shift & 15, other >> shift & 15);
        all += u32::from(one | other != 0);
        same += u32::from(one == other && one != 0);
    }
    (same, all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fingerprint(text: &str) -> u64 {
        let mut fingerprint = Fingerprint::new();
        fingerprint.add(text);
        fingerprint.finish()
    }

    fn words(from: usize, to: usize) -> String {
        (from..to).map(|number| format!("word{number} ")).collect()
    }

    #[test]
    fn texts_that_are_nearly_the_same_are_near() {
        let text = words(0, 300);
        let near = |other: &str| is_near(fingerprint(&text), fingerprint(other));
        assert!(near(&text));
        assert!(near(&text.to_uppercase()), "case is ignored");
        assert!(near(&text.replace(' ', "\n")), "white space is ignored");
        assert!(near(&text.replace("word150", "edited")));
        assert!(!near(&words(0, 150)), "half of the text");
        assert!(!near(&words(300, 600)), "another text");
        assert!(!near(&words(100, 400)), "two thirds in common");
    }

    #[test]
    fn near_texts_have_a_half_in_common() {
        let text = words(0, 300);
        let own = fingerprint(&text);
        let mut near = 0;
        for word in 0..300 {
            let other = fingerprint(&text.replace(&format!("word{word} "), "edited "));
            let has_half = halves(own).any(|one| halves(other).any(|other| one == other));
            assert!(has_half || !is_near(own, other), "{own:x} {other:x}");
            near += usize::from(is_near(own, other) && own != other);
        }
        assert!(near > 0);
        assert_eq!(halves(own).sum::<u64>(), own & OF_BUCKETS);
        assert_eq!(halves(fingerprint("")).count(), 0);
    }

    #[test]
    fn near_texts_may_have_other_numbers() {
        let text = words(0, 300);
        let (one, other) = (format!("{text} since 1.60"), format!("{text} since 1.61"));
        let (one, other) = (fingerprint(&one), fingerprint(&other));
        assert!(is_near(one, other));
        assert!(!has_same_numbers(one, other));
        assert!(has_same_numbers(
            fingerprint(&text),
            fingerprint(&text.replace("word1 ", "edited word1 "))
        ));
    }

    #[test]
    fn texts_that_share_most_of_their_pairs_are_similar() {
        let similar = |other: &str| is_similar(fingerprint(&words(0, 300)), fingerprint(other));
        assert!(similar(&words(0, 300)));
        assert!(similar(&words(40, 300)));
        assert!(!similar(&words(200, 500)));
        assert!(!similar(&words(300, 600)));
    }

    #[test]
    fn short_texts_are_near_only_if_they_are_the_same() {
        assert!(is_near(fingerprint("one two three"), fingerprint("One, two; three.")));
        assert!(!is_near(fingerprint("one two three"), fingerprint("one two four")));
        assert!(!is_near(fingerprint("version 1.2 of it"), fingerprint("version 1.3 of it")));
        assert!(
            !is_near(fingerprint(""), fingerprint(" -- ")),
            "a text without words is not near any text"
        );
    }

    #[test]
    fn texts_without_common_words_are_not_near() {
        let prints: Vec<u64> =
            (0..300).map(|index| fingerprint(&words(index * 100, index * 100 + 60))).collect();
        for (index, one) in prints.iter().enumerate() {
            assert!(!prints.iter().skip(index + 1).any(|other| is_near(*one, *other)));
        }
    }
}
