//! Questions that ask for a number, and texts that have one.
//!
//! Few answers have the words "how many", but they have a number. Invariant: a question asks for a number only if it says so
//! with the words of this module; nothing else is guessed.

/// Words after "how" in a question for a number.
const AFTER_HOW: &str = "big deep early far fast few frequently heavy high large late long low many much often old slow \
                         small soon tall wide";

/// Words after "which" or "what" in a question for a number.
const AFTER_WHICH: &str =
    "date day edition month number percentage port release size time version year";

/// Words beside one of [`AFTER_WHICH`] in a query without a verb that asks for a number: "required version".
const BESIDE: &str = "default earliest latest limit minimal needed required supported";

/// Words and pairs of words that ask for a number by themselves. Those of other languages mean "how many", "how much",
/// "how long", "how often" and "which version".
const ALONE: &str = "combien cuánta cuántas cuánto cuántos max maximum min minimum quantas quante quanti quanto \
                     quantos сколько скільки";
const PAIRS: &str = "exit code, exit status, since when, since which, wie viel, wie viele, wie lange, wie oft, wie groß, \
                     welche version, quelle version, qué versión, quale versione, qual versão";

/// The same in languages that are written without spaces, or that add endings to words.
const PARTS: &str = "多少 几个 几年 几次 几天 几种 几位 多久 多大 多长 多远 多高 哪一年 哪年 何时 什么时候 いくつ いくら \
                     何年 何回 얼마";

/// Nouns that ask for a number at the end of a query: "file upload limit".
const AT_END: &str = "limit limits timeout";

/// Number words of English. Larger numbers are mostly written with digits.
const NUMBER_WORDS: &str = "billion dozen eight eleven five four hundred million nine once one seven six ten thousand \
                            three twice two";

/// Returns whether `question` asks for a number.
pub(super) fn asks_for_number(question: &str) -> bool {
    let question = question.to_lowercase();
    let words: Vec<&str> = question
        .split(|scalar: char| !scalar.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let is_in = |list: &str, word: &str| list.split(' ').any(|one| one == word);
    let is_beside = |one: &str, other: &str| is_in(BESIDE, one) && is_in(AFTER_WHICH, other);
    let asks = |pair: &[&str]| match pair {
        ["how", word] => is_in(AFTER_HOW, word),
        ["which" | "what", word] => is_in(AFTER_WHICH, word),
        [one, other] if is_beside(one, other) || is_beside(other, one) => true,
        pair => PAIRS.split(", ").any(|one| one.split(' ').eq(pair.iter().copied())),
    };
    words.windows(2).any(asks)
        || words.iter().any(|word| is_in(ALONE, word))
        || words.last().is_some_and(|word| is_in(AT_END, word))
        || PARTS.split(' ').any(|part| question.contains(part))
}

/// Returns whether `text` has a number: a word that begins with a digit, such a word after a `v`, or an English number
/// word. The number of a list item and those in paths and addresses do not count. In text without spaces, every digit counts.
pub(crate) fn has_number(text: &[u8]) -> bool {
    text.split(|byte| *byte == b'\n').any(|line| {
        let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let is_item = |word: &[u8]| word.len() <= 3 && matches!(word.last(), Some(b'.' | b')'));
        words.next().is_some_and(|first| !is_item(first) && is_number(first))
            || words.any(is_number)
    })
}

/// Returns whether a word with the marks around it is a number.
fn is_number(word: &[u8]) -> bool {
    if word.contains(&b'/') {
        return false;
    }
    if !word.is_ascii() {
        return word.iter().any(u8::is_ascii_digit);
    }
    let start = word.iter().position(u8::is_ascii_alphanumeric);
    let end = word.iter().rposition(u8::is_ascii_alphanumeric);
    let (Some(start), Some(end)) = (start, end) else { return false };
    let word = word.get(start..=end).unwrap_or_default();
    if let [b'v' | b'V', digit, ..] = word
        && digit.is_ascii_digit()
    {
        return true;
    }
    word.first().is_some_and(u8::is_ascii_digit)
        || NUMBER_WORDS.split(' ').any(|name| word.eq_ignore_ascii_case(name.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_asks_for_a_number_by_its_words() {
        for question in [
            "How many threads does it start?",
            "since when are traits in the prelude",
            "Which version made this stable?",
            "maximum size of a note",
            "process exit code 9",
            "compiler version required",
            "default port of the server",
            "file upload limit",
            "Wie viele Dateien sind erlaubt?",
            "Combien de fichiers ?",
            "谷歌花了多少钱",
        ] {
            assert!(asks_for_number(question), "{question}");
        }
        for question in [
            "how do I install it",
            "which command lists versions",
            "required files of a version",
            "show many items",
            "limit what it shows",
            "几乎没有",
            "what happens when",
            "",
        ] {
            assert!(!asks_for_number(question), "{question}");
        }
    }

    #[test]
    fn a_number_is_a_word_that_begins_with_a_digit_or_names_one() {
        for text in [
            "It starts 4 threads.",
            "The default is 5.",
            "**10MB**",
            "costs $5",
            "after `0x10`",
            "Two weeks",
            "花了5亿美元",
            "(30)",
            "| `v16.4.0` | Added |",
        ] {
            assert!(has_number(text.as_bytes()), "{text}");
        }
        for text in [
            "1. Open it.",
            "  2) Open it.",
            "see docs/2024/a.md",
            "utf8 text",
            "vim",
            "no one's",
            "-- . --",
            "",
            "someone",
        ] {
            assert!(!has_number(text.as_bytes()), "{text}");
        }
    }
}
