//! Finds the words of a query in a text.
//!
//! Invariant: a section that the index returns for its own text has an occurrence of a term. The best
//! line is the first of those with the most different words.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use crate::decoding::same_length_text;
use crate::position::{ByteSpan, LineIndex};
use crate::terms::{QueryTerm, StemClass, TokenBuffers, TokenKind, Tokens};

/// For a term of joined words, such as `15.9`: the share of its weight for the joined form. The single
/// words get the remainder.
const COMPOUND: f32 = 0.5;

/// A word of the text that matches a term of the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Occurrence {
    /// The span of the word.
    pub(crate) span: ByteSpan,
    /// The index of the word among all words of the query: see [`Highlighter::word_weights`].
    pub(crate) word: usize,
}

/// The words of a query, in the forms in which they are recognized in a text.
pub(crate) struct Highlighter {
    words: Vec<Word>,
    beginnings: Beginnings,
}

/// A word of a term, and how it matches.
struct Word {
    /// The index of the term in [`WordQuery::terms`](crate::terms::WordQuery::terms).
    term: usize,
    /// The share of the weight of its term.
    share: f32,
    text: String,
    stems: Option<StemClass>,
    /// Whether a token is in the class, for tokens that begin like it. Most of them occur often.
    known: Mutex<HashMap<String, bool>>,
    is_prefix: bool,
    is_compound: bool,
}

impl Word {
    /// Returns the texts with which tokens that match begin. A token in camel case may have one of them within it.
    fn beginnings(&self) -> impl Iterator<Item = &str> {
        let of_class = self.stems.as_ref().map(StemClass::prefix);
        of_class.into_iter().chain([self.text.as_str()])
    }

    /// Returns whether the token is the word, has the same stem, or is an identifier with the word as a
    /// part.
    fn is_at(&self, text: &str, tokens: &Tokens<'_>) -> bool {
        let is_compound = tokens.kind == TokenKind::Compound;
        (self.is_compound == is_compound || tokens.is_stressed_word())
            && (tokens.token == self.text
                || self.is_prefix && tokens.token.starts_with(&self.text)
                || self.has_stem(&tokens.token)
                || tokens.kind == TokenKind::Word && has_camel_part(text, tokens, self))
    }

    fn has_stem(&self, token: &str) -> bool {
        let Some(class) = self.stems.as_ref().filter(|class| token.starts_with(class.prefix()))
        else {
            return false;
        };
        let lock = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(token) {
            return *known;
        }
        let has = class.has(token);
        lock().insert(token.to_owned(), has);
        has
    }
}

impl Highlighter {
    /// Returns a highlighter for the words of `terms`.
    pub(crate) fn new(terms: &[&QueryTerm]) -> Self {
        let mut words = Vec::new();
        for (index, term) in terms.iter().enumerate() {
            let is_joined = term.compound.is_some() && term.words.len() > 1;
            #[expect(clippy::cast_precision_loss, reason = "a query has few words")]
            let word = |text: &str| Word {
                term: index,
                share: if is_joined { 1.0 - COMPOUND } else { 1.0 } / term.words.len() as f32,
                text: text.to_owned(),
                stems: term.stems.clone(),
                known: Mutex::default(),
                is_prefix: false,
                is_compound: false,
            };
            if let Some(compound) = &term.compound {
                let share = if is_joined { COMPOUND } else { 1.0 };
                words.push(Word { is_compound: true, share, ..word(compound) });
                if term.words.len() < 2 {
                    continue;
                }
            }
            let last = term.words.len() - 1;
            words.extend(term.words.iter().enumerate().map(|(position, (_, text))| Word {
                is_prefix: term.is_prefix && position == last,
                ..word(text)
            }));
        }
        let beginnings = Beginnings::of(&words);
        Self { words, beginnings }
    }

    /// Returns the weight of each word; `terms` are the weights of the terms.
    pub(super) fn word_weights(&self, terms: &[f32]) -> Vec<f32> {
        let weight = |word: &Word| terms.get(word.term).copied().unwrap_or_default() * word.share;
        self.words.iter().map(weight).collect()
    }

    /// Returns all words of a file within `within` that match a term, in order. A word may match several
    /// terms. `bytes` is the file.
    pub(crate) fn occurrences(&self, bytes: &[u8], within: ByteSpan) -> Vec<Occurrence> {
        let text = same_length_text(within.of(bytes), ' ');
        let mut occurrences = Vec::new();
        let mut buffers = TokenBuffers::default();
        for part in self.beginnings.parts(&text) {
            let start = within.start + part.start;
            let part = text.get(part.start..part.end).unwrap_or_default();
            let mut tokens = Tokens::with(part, buffers);
            while tokens.advance() {
                for (index, word) in self.words.iter().enumerate() {
                    if word.is_at(part, &tokens) {
                        let span =
                            ByteSpan::new(start + tokens.span.start, start + tokens.span.end);
                        occurrences.push(Occurrence { span, word: index });
                    }
                }
            }
            buffers = tokens.take_buffers();
        }
        occurrences
    }

    /// Returns whether a file has all words of a term within `within`. A phrase need not be together.
    pub(super) fn has_term(&self, bytes: &[u8], within: ByteSpan) -> bool {
        let occurrences = self.occurrences(bytes, within);
        let is_missing = |(index, word): (usize, &Word)| {
            // The joined form of several words is another way to write them.
            let is_counted = !word.is_compound || word.share >= 1.0;
            is_counted && !occurrences.iter().any(|found| found.word == index)
        };
        let words = self.words.iter().enumerate();
        let missing: HashSet<usize> =
            words.filter(|word| is_missing(*word)).map(|(_, word)| word.term).collect();
        occurrences
            .iter()
            .filter_map(|found| self.words.get(found.word))
            .any(|word| !missing.contains(&word.term))
    }

    /// Returns the first matching word on the line with the most different words. Returns `None` if
    /// `is_wanted` accepts no match. `occurrences` are all words of the file `bytes` within `within` that
    /// match.
    pub(super) fn best(
        &self,
        bytes: &[u8],
        within: ByteSpan,
        occurrences: &[Occurrence],
        is_wanted: impl Fn(ByteSpan) -> bool,
    ) -> Option<ByteSpan> {
        let lines = LineIndex::new(within.of(bytes));
        let occurrences = occurrences.iter().filter(|occurrence| is_wanted(occurrence.span));
        let occurrences: Vec<Occurrence> = occurrences.copied().collect();
        let line_of = |occurrence: &Occurrence| lines.line_of(occurrence.span.start - within.start);
        let mut best: Option<(usize, ByteSpan)> = None;
        let mut seen = vec![false; self.words.len()];
        for line in occurrences.chunk_by(|one, other| line_of(one) == line_of(other)) {
            seen.fill(false);
            for occurrence in line {
                if let Some(seen) = seen.get_mut(occurrence.word) {
                    *seen = true;
                }
            }
            let count = seen.iter().filter(|seen| **seen).count();
            let Some(first) = line.first() else { continue };
            if best.is_none_or(|(most, _)| count > most) {
                best = Some((count, first.span));
            }
        }
        best.map(|(_, span)| span)
    }
}

/// How the words of a query begin, to pass over most of a text without splitting it into words.
struct Beginnings {
    /// Those in ASCII, in lower case. Text of ASCII has none of the others.
    list: Vec<Box<[u8]>>,
    /// What each byte may mean.
    meanings: Box<[Meaning; 256]>,
}

/// What a byte in a text may mean.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meaning {
    Nothing,
    /// It ends a part of the text. No token contains it.
    Blank,
    /// A word of the query may begin with it. That may be within a token: in camel case, or after the `v` of a version.
    First,
    /// A word of the query may be written with it, and otherwise than it is in the query: a token has its folded form, or
    /// leaves it out.
    Rewritten,
}

impl Beginnings {
    fn of(words: &[Word]) -> Self {
        let mut list: Vec<Box<[u8]>> = Vec::new();
        let texts = words.iter().flat_map(Word::beginnings);
        // A word of marks that folding removes is empty.
        for text in texts.filter(|text| text.is_ascii() && !text.is_empty()).map(str::as_bytes) {
            if !list.iter().any(|known| text.starts_with(known)) {
                list.push(text.into());
            }
        }
        let takes_all = words.iter().any(|word| word.is_prefix && word.text.is_empty());
        let mut meanings = Box::new([Meaning::Nothing; 256]);
        for (byte, meaning) in (0..=u8::MAX).zip(meanings.iter_mut()) {
            let is_first =
                |text: &[u8]| text.first().is_some_and(|first| byte.eq_ignore_ascii_case(first));
            *meaning = match byte {
                _ if byte.is_ascii_whitespace() => Meaning::Blank,
                b'\\' | b'[' | b'*' | 0x80.. => Meaning::Rewritten,
                _ if takes_all => Meaning::Rewritten,
                _ if list.iter().any(|text| is_first(text)) => Meaning::First,
                _ => Meaning::Nothing,
            };
        }
        Self { list, meanings }
    }

    /// Returns the parts of `text` between blanks that may have a word of the query. No token is in two parts.
    fn parts<'a>(&'a self, text: &'a str) -> impl Iterator<Item = ByteSpan> + 'a {
        let bytes = text.as_bytes();
        let mut from = 0;
        std::iter::from_fn(move || {
            loop {
                let rest = bytes.get(from..)?;
                let mut start = from;
                let mut is_found = false;
                let mut end = bytes.len();
                for (at, byte) in (from..).zip(rest) {
                    match self.meanings.get(usize::from(*byte)) {
                        Some(Meaning::Blank) if is_found => {
                            end = at;
                            break;
                        }
                        Some(Meaning::Blank) => start = at + 1,
                        Some(Meaning::First) => is_found = is_found || self.is_at(bytes, at),
                        Some(Meaning::Rewritten) => is_found = true,
                        Some(Meaning::Nothing) | None => {}
                    }
                }
                from = end;
                if is_found {
                    return Some(ByteSpan::new(start, end));
                }
                if end == bytes.len() {
                    return None;
                }
            }
        })
    }

    /// Returns whether a word of the query may begin at `at`.
    fn is_at(&self, bytes: &[u8], at: usize) -> bool {
        let begins = |text: &[u8]| {
            bytes.get(at..at + text.len()).is_some_and(|here| here.eq_ignore_ascii_case(text))
        };
        self.list.iter().any(|text| begins(text))
    }
}

/// Returns whether the token is an identifier in camel case with `word` as one of its parts.
fn has_camel_part(text: &str, tokens: &Tokens<'_>, word: &Word) -> bool {
    let source = text.get(tokens.span.start..tokens.span.end).unwrap_or_default();
    let mut has = false;
    let least = word.stems.as_ref().map_or(&*word.text, StemClass::prefix).len();
    if source.len() > least && source.bytes().any(|byte| byte.is_ascii_uppercase()) {
        crate::terms::camel_parts(source, |part| has |= part == word.text || word.has_stem(part));
    }
    has
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;
    use crate::terms::WordQuery;

    proptest! {
        #[test]
        fn a_text_that_is_passed_over_has_no_word_of_the_query(
            parts in prop::collection::vec((select(WORDS), select(JOINTS)), 1..20),
            queried in prop::collection::vec((select(WORDS), select(&["", "", "*"][..])), 1..4),
        ) {
            let text: String = parts.iter().flat_map(|(word, joint)| [*word, *joint]).collect();
            let queried: Vec<String> =
                queried.iter().map(|(word, mark)| format!("{word}{mark}")).collect();
            let query = WordQuery::parse(&queried.join(" "));
            let highlighter = Highlighter::new(&query.terms());
            let mut expected = Vec::new();
            let mut tokens = Tokens::new(&text);
            while tokens.advance() {
                for (word, known) in highlighter.words.iter().enumerate() {
                    if known.is_at(&text, &tokens) {
                        expected.push(Occurrence { span: tokens.span, word });
                    }
                }
            }
            let all = ByteSpan::new(0, text.len());
            prop_assert_eq!(highlighter.occurrences(text.as_bytes(), all), expected, "{}", text);
        }
    }

    /// Words that folding changes in each way or to nothing, and words that begin like others.
    const WORDS: &[&str] = &[
        "thread",
        "Threads",
        "threadlocal",
        "get_slice",
        "getSlice",
        "HTTPServer",
        "server",
        "C++",
        "c#",
        "v1.2",
        "1.2.3",
        "1.2",
        "tract",
        "E[x]tract",
        "**v**erbose",
        "verbose",
        "Über",
        "ubers",
        "全文搜索",
        "索",
        "ﬁle",
        "files",
        "K",
        "kelvin",
        "straße",
        "strasse",
        "a",
        "x",
        "\u{640}",
        "\u{5b9}",
    ];
    const JOINTS: &[&str] = &[
        " ", "\n", "\t", ".", "::", "-", "", "_", "\\_", "*", "**", "\u{a0}", "。", "[", "]",
        "\x0b",
    ];

    fn best(query: &str, text: &str) -> Option<String> {
        let query = WordQuery::parse(query);
        let highlighter = Highlighter::new(&query.terms());
        let (bytes, within) = (text.as_bytes(), ByteSpan::new(0, text.len()));
        let occurrences = highlighter.occurrences(bytes, within);
        let span = highlighter.best(bytes, within, &occurrences, |_| true)?;
        let line = LineIndex::new(text.as_bytes()).line_of(span.start);
        Some(format!("{line}:{}", &text[span.start..span.end]))
    }

    #[test]
    fn the_line_with_the_most_words_is_returned() {
        let text = "One two.\nthree One\ntwo three one\n";
        assert_eq!(best("one three", text).unwrap(), "2:three");
        assert_eq!(best("two one three", text).unwrap(), "3:two");
        assert_eq!(best("TWO", text).unwrap(), "1:two");
        assert_eq!(best("four", text), None);
        assert_eq!(best("thr*", text).unwrap(), "2:three");
    }

    #[test]
    fn a_word_with_stressed_letters_is_recognized() {
        let text = "tract of it\nE[x]tract it **v**erbosely\n";
        assert_eq!(best("extract", text).unwrap(), "2:E[x]tract");
        assert_eq!(best("extracts it", text).unwrap(), "2:E[x]tract");
        assert_eq!(best("verbosely", text).unwrap(), "2:**v**erbosely");
        assert_eq!(best("E[x]tract", text).unwrap(), "2:E[x]tract");
    }

    #[test]
    fn identifiers_are_recognized_whole_and_in_parts() {
        let text = "slice get\nuse get_slice here\ncall getSlice\nC and C++\n搜索文本";
        assert_eq!(best("get_slice", text).unwrap(), "2:get_slice");
        assert_eq!(best("c++", text).unwrap(), "4:C++");
        assert_eq!(best("文本", text).unwrap(), "5:文本");
        assert_eq!(best("索", text).unwrap(), "5:索文");
    }
}
