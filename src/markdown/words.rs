//! Counts words and characters, and splits a text into pages of words.
//!
//! A word is one Han, Hiragana, Katakana or Hangul-syllable scalar, or a maximal run of other
//! non-whitespace (Unicode `White_Space`). U+FEFF, the byte order mark, is part of a word beside it and
//! none by itself. A character is a Unicode scalar value. Invalid UTF-8 counts as the replacement
//! characters that are shown for it. Invariants: counts are additive over whole lines; the pages of a
//! text are consecutive byte ranges whose concatenation is the text.

use unicode_script::{Script, UnicodeScript as _};

use crate::position::ByteSpan;

/// The number of words and characters of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measure {
    /// Words.
    pub words: usize,
    /// Unicode scalar values.
    pub chars: usize,
}

impl std::ops::AddAssign for Measure {
    fn add_assign(&mut self, other: Self) {
        self.words += other.words;
        self.chars += other.chars;
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Space,
    Run,
    Single,
    /// Neither begins nor ends a word.
    Mark,
}

impl Class {
    /// Whether a scalar of this class begins a word. `in_run` is whether the scalar before it is of a run, and then
    /// whether this one is.
    fn begins_word(self, in_run: &mut bool) -> bool {
        let was_in_run = *in_run;
        *in_run = self == Self::Run || self == Self::Mark && was_in_run;
        self == Self::Single || self == Self::Run && !was_in_run
    }
}

fn class_of(scalar: char) -> Class {
    if scalar.is_whitespace() {
        Class::Space
    } else if is_single_word(scalar) {
        Class::Single
    } else if scalar == '\u{FEFF}' {
        Class::Mark
    } else {
        Class::Run
    }
}

/// Returns whether `scalar` is a word by itself because its script is written without spaces.
fn is_single_word(scalar: char) -> bool {
    // The first scalar of any of the four scripts is U+2E80, the first CJK radical.
    if scalar < '\u{2E80}' {
        return false;
    }
    // Most scalars of the four scripts are found without their tables.
    matches!(scalar, '\u{4E00}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}')
        || matches!(scalar.script(), Script::Han | Script::Hiragana | Script::Katakana)
}

/// Calls `visit(offset, length in bytes, class)` for every scalar. An invalid sequence counts as
/// one scalar. Stops when `visit` returns false.
fn scan(bytes: &[u8], mut visit: impl FnMut(usize, usize, Class) -> bool) {
    let mut offset = 0;
    for chunk in bytes.utf8_chunks() {
        for scalar in chunk.valid().chars() {
            if !visit(offset, scalar.len_utf8(), class_of(scalar)) {
                return;
            }
            offset += scalar.len_utf8();
        }
        if !chunk.invalid().is_empty() {
            if !visit(offset, chunk.invalid().len(), Class::Run) {
                return;
            }
            offset += chunk.invalid().len();
        }
    }
}

/// Returns whether an ASCII character is of a run.
fn is_of_run(byte: u8) -> bool {
    byte != b' ' && !(b'\t'..=b'\r').contains(&byte)
}

/// Returns the number of words that begin in `ascii`. `in_run` is whether the scalar before it is of a run.
fn word_starts(ascii: &[u8], in_run: bool) -> usize {
    let Some((first, following)) = ascii.split_first() else { return 0 };
    let begins = |(before, byte): (&u8, &u8)| u8::from(is_of_run(*byte) & !is_of_run(*before));
    // Sums of one byte are added for many bytes at a time.
    let parts = ascii.chunks(MOST_IN_SUM).zip(following.chunks(MOST_IN_SUM));
    let starts =
        parts.map(|(before, bytes)| usize::from(before.iter().zip(bytes).map(begins).sum::<u8>()));
    usize::from(is_of_run(*first) && !in_run) + starts.sum::<usize>()
}

/// The number of bytes whose number of words fits into a byte.
const MOST_IN_SUM: usize = u8::MAX as usize;

/// Counts the words and characters of `bytes`.
pub fn measure(bytes: &[u8]) -> Measure {
    let mut result = Measure::default();
    let mut in_run = false;
    let count = |result: &mut Measure, in_run: &mut bool, class: Class| {
        result.chars += 1;
        result.words += usize::from(class.begins_word(in_run));
    };
    for chunk in bytes.utf8_chunks() {
        let mut text = chunk.valid();
        let is_ascii = text.is_ascii();
        // ASCII, which is most of any corpus, needs no decoding.
        while !text.is_empty() {
            let beyond =
                if is_ascii { None } else { text.bytes().position(|byte| !byte.is_ascii()) };
            let (head, tail) = text.split_at(beyond.unwrap_or(text.len()));
            result.chars += head.len();
            result.words += word_starts(head.as_bytes(), in_run);
            in_run = head.bytes().next_back().map_or(in_run, is_of_run);
            let mut rest = tail.chars();
            if let Some(scalar) = rest.next() {
                count(&mut result, &mut in_run, class_of(scalar));
            }
            text = rest.as_str();
        }
        if !chunk.invalid().is_empty() {
            count(&mut result, &mut in_run, Class::Run);
        }
    }
    result
}

/// Returns page `number` (0-based) of `bytes` with `words` words per page, and whether another page
/// follows. Returns `None` after the last page. A text without words is one page.
///
/// Each page ends after its last word and the whitespace that follows it. Whitespace before the
/// first word belongs to page 0. If `words` is 0, the whole text is page 0.
pub fn page(bytes: &[u8], words: usize, number: usize) -> Option<(ByteSpan, bool)> {
    if words == 0 {
        return (number == 0).then(|| (ByteSpan::new(0, bytes.len()), false));
    }
    let first = number.checked_mul(words)?;
    let after = first.checked_add(words)?;
    let mut seen = 0;
    let mut in_run = false;
    let mut start = (number == 0).then_some(0);
    let mut end = None;
    scan(bytes, |offset, _, class| {
        if class.begins_word(&mut in_run) {
            if seen == first && number > 0 {
                start = Some(offset);
            }
            if seen == after {
                end = Some(offset);
                return false;
            }
            seen += 1;
        }
        true
    });
    Some((ByteSpan::new(start?, end.unwrap_or(bytes.len())), end.is_some()))
}

/// Returns all pages of `bytes` with `words` words per page, as [`page`] does for 0, 1 and so on.
pub fn pages(bytes: &[u8], words: usize) -> Vec<ByteSpan> {
    let mut pages = Vec::new();
    let mut start = 0;
    let mut seen = 0;
    let mut in_run = false;
    scan(bytes, |offset, _, class| {
        if class.begins_word(&mut in_run) {
            if words > 0 && seen == words {
                pages.push(ByteSpan::new(start, offset));
                start = offset;
                seen = 0;
            }
            seen += 1;
        }
        true
    });
    pages.push(ByteSpan::new(start, bytes.len()));
    pages
}

/// Returns the number of pages of a text of `total` words, with `words` words per page.
pub fn page_count(total: usize, words: usize) -> usize {
    if words == 0 { 1 } else { total.div_ceil(words).max(1) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> usize {
        measure(text.as_bytes()).words
    }

    #[test]
    fn a_word_is_a_run_of_non_whitespace_or_one_cjk_scalar() {
        assert_eq!(words(""), 0);
        assert_eq!(words(" \t\r\n\u{a0}\u{3000}"), 0);
        assert_eq!(words("one two\nthree"), 3);
        assert_eq!(words("科技爱好者"), 5);
        assert_eq!(words("ひらがな カタカナ"), 8);
        assert_eq!(words("한국어 문서"), 5);
        assert_eq!(words("mdsel是store"), 3);
        assert_eq!(words("\u{feff}"), 0);
        assert_eq!(words("\u{feff}\n# A"), 2);
        assert_eq!(words("\u{feff}# A\u{feff}b \u{feff} c"), 3);
        assert_eq!(words("说，好"), 3, "a full-width comma is a run of its own between two words");
    }

    #[test]
    fn every_ascii_byte_has_the_class_of_its_scalar() {
        for byte in 0..=0x7f_u8 {
            let expected = usize::from(!char::from(byte).is_whitespace());
            assert_eq!(measure(&[byte]).words, expected, "{byte}");
        }
    }

    proptest! {
        #[test]
        fn many_bytes_are_measured_as_one_scalar_after_the_other(
            text in "[ab \t\n]{0,600}[é中]{0,2}[ab ]{0,600}"
        ) {
            let (mut expected, mut in_run) = (Measure::default(), false);
            scan(text.as_bytes(), |_, _, class| {
                expected.chars += 1;
                expected.words += usize::from(class.begins_word(&mut in_run));
                true
            });
            prop_assert_eq!(measure(text.as_bytes()), expected);
        }
    }

    #[test]
    fn invalid_bytes_count_as_replacement_characters() {
        assert_eq!(measure("aé😀".as_bytes()).chars, 3);
        let bad = b"a\xff\xfeb";
        assert_eq!(measure(bad).chars, String::from_utf8_lossy(bad).chars().count());
        assert_eq!(measure(bad).words, 1);
    }

    #[test]
    fn pages_end_after_the_whitespace_that_follows_their_last_word() {
        let text = b"  a b\n\n c ";
        assert_eq!(page(text, 2, 0), Some((ByteSpan::new(0, 8), true)));
        assert_eq!(page(text, 2, 1), Some((ByteSpan::new(8, 10), false)));
        assert_eq!(page(text, 2, 2), None);
        assert_eq!(page(b"", 5, 0), Some((ByteSpan::new(0, 0), false)));
        assert_eq!(page(b"", 5, 1), None);
        assert_eq!(page(b"a b", 0, 0), Some((ByteSpan::new(0, 3), false)));
    }

    proptest! {
        #[test]
        fn pages_tile_any_bytes(bytes in proptest::collection::vec(prop_oneof![
            Just(b' '), Just(b'\n'), Just(b'a'), any::<u8>()], 0..200), size in 1usize..9) {
            let total = measure(&bytes).words;
            let mut position = 0;
            for number in 0..page_count(total, size) {
                let (span, more) = page(&bytes, size, number).unwrap();
                prop_assert_eq!(span.start, position);
                prop_assert_eq!(more, number + 1 < page_count(total, size));
                position = span.end;
            }
            prop_assert_eq!(position, bytes.len());
            let all: Vec<_> = (0..page_count(total, size))
                .filter_map(|number| page(&bytes, size, number).map(|(span, _)| span))
                .collect();
            prop_assert_eq!(pages(&bytes, size), all);
            prop_assert_eq!(page(&bytes, size, page_count(total, size)), None);
        }
    }
}
