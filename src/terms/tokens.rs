//! Splitting a text into the words that are looked up: folded, with their positions and spans.
//!
//! A sequence of letters, digits and marks is a word. Words joined by `_`, `.` or `::` are separate
//! words and also one compound. A version is the same compound with a `v` before it and without.
//! `++` and `#` after a word make a compound of it (C++, C#). A backslash before `_` or `#` escapes it in Markdown and
//! is not part of a compound. Nor is a mark that stresses letters within a word: `[v]erbose` and `**S**ave` are the
//! compounds `verbose` and `save`, besides their parts. Text in scripts without spaces between
//! words is split into overlapping pairs of scalars. The last scalar of such a run is a token of its
//! own, so every scalar begins a token. A pictograph is a word. Folding is NFKC, lower case, and
//! removal of the diacritics U+0300 to U+036F, of strokes and of the vowel marks of Hebrew and Arabic. Invariant:
//! the same text gives the same tokens in a document and in a query.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use crate::limits;
use crate::position::ByteSpan;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A word, or a word of a compound.
    Word,
    /// Several joined words, or a word with the signs that belong to it.
    Compound,
    /// Two adjacent scalars of a run without spaces.
    Pair,
    /// The last scalar of such a run.
    Last,
}

/// Buffers that can be reused for the next text.
#[derive(Clone, Debug, Default)]
pub(crate) struct TokenBuffers {
    words: Vec<ByteSpan>,
    run: Vec<char>,
    token: String,
}

/// An iterator over the tokens of a text.
#[derive(Debug)]
pub(crate) struct Tokens<'a> {
    text: &'a str,
    /// The offset at which the search for the next token starts.
    offset: usize,
    /// The spans of the words of the current compound, and the number of words returned so far.
    words: Vec<ByteSpan>,
    emitted: usize,
    /// The folded scalars of the current run, and the number of scalars returned so far.
    run: Vec<char>,
    run_emitted: usize,
    run_span: ByteSpan,
    /// The offset in the text of the next scalar of the run; `None` if folding changed the scalars.
    run_offset: Option<usize>,
    next_position: usize,
    /// The folded text of the token.
    pub(crate) token: String,
    /// The kind of the token.
    pub(crate) kind: TokenKind,
    /// The number of words before the token.
    pub(crate) position: usize,
    /// The span of the token in the text.
    pub(crate) span: ByteSpan,
}

/// The class of a scalar for the tokenizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Word,
    Run,
    Pictograph,
    Other,
}

fn class_of(scalar: char) -> Class {
    match scalar {
        // Frequent scalars are classified without a table lookup: ASCII, the letters of Latin and Cyrillic, and Han.
        'a'..='z'
        | 'A'..='Z'
        | '0'..='9'
        | '\u{C0}'..='\u{D6}'
        | '\u{D8}'..='\u{F6}'
        | '\u{F8}'..='\u{24F}'
        | '\u{400}'..='\u{481}' => Class::Word,
        '\u{4E00}'..='\u{9FFF}' => Class::Run,
        // General punctuation, CJK punctuation and full-width punctuation.
        '\0'..='\x7f'
        | '\u{2000}'..='\u{206F}'
        | '\u{3000}'..='\u{3004}'
        | '\u{3008}'..='\u{3020}'
        | '\u{FF01}'..='\u{FF0F}'
        | '\u{FF1A}'..='\u{FF20}' => Class::Other,
        _ if is_written_without_blanks(scalar) => Class::Run,
        // Arrows, technical signs, dingbats, and the pictographs of the supplementary plane.
        '\u{2190}'..='\u{21FF}'
        | '\u{2300}'..='\u{23FF}'
        | '\u{2600}'..='\u{27BF}'
        | '\u{2B00}'..='\u{2BFF}'
        | '\u{1F000}'..='\u{1FAFF}' => Class::Pictograph,
        _ if scalar.is_alphanumeric() => Class::Word,
        _ => Class::Other,
    }
}

/// Returns whether a compound is numbers with dots between them, with a `v` before them.
fn is_version_with_v(compound: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    compound.strip_prefix('v').is_some_and(|numbers| numbers.split('.').all(is_number))
}

/// Returns whether `scalar` belongs to a script without spaces between words.
fn is_written_without_blanks(scalar: char) -> bool {
    if scalar <= '\u{E00}' {
        return false;
    }
    matches!(
        scalar,
        // Thai, Lao; Myanmar; Hangul jamo; Khmer.
        '\u{E01}'..='\u{EFF}' | '\u{1000}'..='\u{109F}' | '\u{1100}'..='\u{11FF}'
        | '\u{1780}'..='\u{17FF}'
        // Radicals; iteration marks and numerals; Hiragana, Katakana, their marks.
        | '\u{2E80}'..='\u{2FDF}' | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}'
        | '\u{3031}'..='\u{3035}' | '\u{3041}'..='\u{309F}' | '\u{30A1}'..='\u{30FA}'
        | '\u{30FC}'..='\u{30FF}'
        // Bopomofo, Hangul letters, Han, Hangul syllables, compatibility and half-width forms.
        | '\u{3100}'..='\u{318E}' | '\u{31A0}'..='\u{31BF}' | '\u{31F0}'..='\u{31FF}'
        | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{A960}'..='\u{A97F}'
        | '\u{AC00}'..='\u{D7FF}' | '\u{F900}'..='\u{FAFF}' | '\u{FF66}'..='\u{FF9F}'
        | '\u{1B000}'..='\u{1B16F}' | '\u{20000}'..='\u{3FFFF}'
    )
}

/// Returns whether NFKC leaves `scalar` as it is if every scalar beside it is such a one, too: a Han letter, or one of
/// Hiragana or Katakana without its mark.
fn is_normal(scalar: char) -> bool {
    matches!(scalar, '\u{4E00}'..='\u{9FFF}' | '\u{3041}'..='\u{3096}' | '\u{30A1}'..='\u{30FA}')
}

impl<'a> Tokens<'a> {
    /// Creates an iterator over the tokens of `text`.
    pub(crate) fn new(text: &'a str) -> Self {
        Self::with(text, TokenBuffers::default())
    }

    /// Creates an iterator over the tokens of `text` that uses `buffers`.
    pub(crate) fn with(text: &'a str, buffers: TokenBuffers) -> Self {
        let TokenBuffers { mut words, mut run, token } = buffers;
        words.clear();
        run.clear();
        Self {
            text,
            offset: 0,
            words,
            emitted: 0,
            run,
            run_emitted: 0,
            run_span: ByteSpan::default(),
            run_offset: None,
            next_position: 0,
            token,
            kind: TokenKind::Word,
            position: 0,
            span: ByteSpan::default(),
        }
    }

    /// Returns the buffers. The iterator then has no more tokens.
    pub(crate) fn take_buffers(&mut self) -> TokenBuffers {
        self.offset = self.text.len();
        TokenBuffers {
            words: std::mem::take(&mut self.words),
            run: std::mem::take(&mut self.run),
            token: std::mem::take(&mut self.token),
        }
    }

    /// Advances to the next token. Returns false after the last one.
    pub(crate) fn advance(&mut self) -> bool {
        if self.emitted < self.words.len() {
            self.emit_word();
            return true;
        }
        if self.run_emitted < self.run.len() {
            self.emit_pair();
            return true;
        }
        self.seek()
    }

    /// Returns whether the token is a compound that is one word apart from the marks that stress letters of it.
    pub(crate) fn is_stressed_word(&self) -> bool {
        self.kind == TokenKind::Compound && self.token.chars().all(char::is_alphanumeric)
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.offset..).unwrap_or_default()
    }

    /// Finds the next word, run or pictograph and sets the first token of it.
    fn seek(&mut self) -> bool {
        while let Some(byte) = self.text.as_bytes().get(self.offset) {
            if byte.is_ascii() && !byte.is_ascii_alphanumeric() {
                if matches!(byte, b'[' | b'*') && stressed(self.rest()).is_some() {
                    self.take_compound();
                    return true;
                }
                self.offset += 1;
                continue;
            }
            let Some(scalar) = self.rest().chars().next() else { break };
            match class_of(scalar) {
                Class::Other => self.offset += scalar.len_utf8(),
                Class::Word => {
                    if !self.take_lone_word() {
                        self.take_compound();
                    }
                    return true;
                }
                Class::Run => {
                    self.take_run();
                    self.emit_pair();
                    return true;
                }
                Class::Pictograph => {
                    let end = self.offset + scalar.len_utf8();
                    self.span = ByteSpan::new(self.offset, end);
                    self.token.clear();
                    self.token.push(scalar);
                    self.kind = TokenKind::Word;
                    self.step();
                    self.offset = end;
                    return true;
                }
            }
        }
        false
    }

    /// Assigns the next position to the token.
    fn step(&mut self) {
        self.position = self.next_position;
        self.next_position += 1;
    }

    /// Reads the ASCII word at the offset and sets it as the token, as [`Self::take_compound`] does in more time. Returns
    /// false if something may join it with another word, stress a part of it, or belong to it.
    fn take_lone_word(&mut self) -> bool {
        let rest = self.rest();
        let bytes = rest.as_bytes();
        let length = bytes.iter().position(|byte| !byte.is_ascii_alphanumeric());
        let length = length.unwrap_or(bytes.len());
        let is_alone = match bytes.get(length..).unwrap_or_default() {
            [] => true,
            [b'.' | b':', next, ..] => {
                next.is_ascii() && !next.is_ascii_alphanumeric() && *next != b':'
            }
            [next, ..] => {
                next.is_ascii() && !matches!(next, b'_' | b'\\' | b'+' | b'#' | b'[' | b'*')
            }
        };
        if !is_alone || !(1..=limits::MAX_WORD_BYTES).contains(&length) {
            return false;
        }
        self.span = ByteSpan::new(self.offset, self.offset + length);
        self.offset += length;
        self.token.clear();
        self.token.push_str(rest.get(..length).unwrap_or_default());
        self.token.make_ascii_lowercase();
        self.kind = TokenKind::Word;
        self.step();
        true
    }

    /// Reads the joined words at the offset and sets the compound as the token, or the word if
    /// there is only one.
    fn take_compound(&mut self) {
        self.words.clear();
        self.emitted = 0;
        let start = self.offset;
        loop {
            if let Some((mark, letters)) = stressed(self.rest()) {
                self.offset += mark;
                self.words.push(ByteSpan::new(self.offset, self.offset + letters));
                self.offset += letters + mark;
            }
            let end = word_end(self.text, self.offset);
            self.words.push(ByteSpan::new(self.offset, end));
            self.offset = end;
            match joint(self.rest()) {
                Some(length) => self.offset += length,
                None if stressed(self.rest()).is_none() => break,
                None => {}
            }
        }
        let end = self.offset + sign_length(self.rest());
        let is_compound = self.words.len() > 1 || end > self.offset;
        if !is_compound || end - start > limits::MAX_WORD_BYTES {
            self.emit_word();
            return;
        }
        self.offset = end;
        self.span = ByteSpan::new(start, end);
        self.kind = TokenKind::Compound;
        self.position = self.next_position;
        self.fold_span();
        self.token.retain(|scalar| !matches!(scalar, '\\' | '[' | ']' | '*'));
        if is_version_with_v(&self.token) {
            self.token.remove(0);
        }
    }

    fn emit_word(&mut self) {
        self.span = self.words.get(self.emitted).copied().unwrap_or_default();
        self.emitted += 1;
        self.kind = TokenKind::Word;
        self.step();
        self.fold_span();
    }

    /// Sets the token to the folded text of its span, cut to [`limits::MAX_WORD_BYTES`].
    fn fold_span(&mut self) {
        let mut text = self.text.get(self.span.start..self.span.end).unwrap_or_default();
        if text.len() > limits::MAX_WORD_BYTES {
            text = text.get(..text.floor_char_boundary(limits::MAX_WORD_BYTES)).unwrap_or(text);
        }
        self.token.clear();
        fold_into(text, &mut self.token);
    }

    /// Reads the run of scalars at the offset.
    fn take_run(&mut self) {
        let start = self.offset;
        let rest = self.rest();
        let length = rest
            .char_indices()
            .find(|&(_, scalar)| {
                class_of(scalar) != Class::Run && !matches!(scalar, '\u{3099}' | '\u{309A}')
            })
            .map_or(rest.len(), |(index, _)| index);
        self.offset += length;
        self.run_span = ByteSpan::new(start, self.offset);
        let run = rest.get(..length).unwrap_or_default();
        self.run.clear();
        let is_normal = run.chars().all(is_normal);
        if is_normal {
            self.run.extend(run.chars());
        } else {
            self.run.extend(run.nfkc());
        }
        self.run_emitted = 0;
        let is_unchanged = is_normal || self.run.iter().copied().eq(run.chars());
        self.run_offset = is_unchanged.then_some(start);
    }

    fn emit_pair(&mut self) {
        let index = self.run_emitted;
        self.run_emitted += 1;
        self.step();
        self.token.clear();
        for scalar in self.run.iter().skip(index).take(2) {
            self.token.push(*scalar);
        }
        let is_last = self.run_emitted == self.run.len();
        self.kind = if is_last { TokenKind::Last } else { TokenKind::Pair };
        // If folding changed the scalars, the span is that of the whole run.
        self.span = self.run_span;
        if let Some(start) = self.run_offset {
            let length = |index: usize| self.run.get(index).map_or(0, |scalar| scalar.len_utf8());
            self.span = ByteSpan::new(start, start + length(index) + length(index + 1));
            self.run_offset = Some(start + length(index));
        }
    }
}

/// Returns the offset of the end of the word that begins at `start`.
fn word_end(text: &str, start: usize) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    let ascii = rest.bytes().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(rest.len());
    if rest.as_bytes().get(ascii).is_none_or(u8::is_ascii) {
        return start + ascii;
    }
    let is_of_word = |scalar: char| {
        class_of(scalar) == Class::Word
            || (!scalar.is_ascii()
                && (is_combining_mark(scalar) || matches!(scalar, '\u{200C}' | '\u{200D}'))
                && class_of(scalar) == Class::Other)
    };
    start + rest.find(|scalar: char| !is_of_word(scalar)).unwrap_or(rest.len())
}

/// The maximum number of letters that a mark stresses within a word.
const MOST_STRESSED: usize = 3;

/// Returns the length in bytes of the mark around stressed letters at the beginning of `rest`, `[x]` or `**x**`, and that
/// of the letters; `None` if there are none, or if no letter follows: `a[i]` has an index.
fn stressed(rest: &str) -> Option<(usize, usize)> {
    let (open, close) = match rest.as_bytes() {
        [b'[', ..] => ("[", "]"),
        [b'*', b'*', ..] => ("**", "**"),
        _ => return None,
    };
    let is_letter = |scalar: char| class_of(scalar) == Class::Word && scalar.is_alphabetic();
    let inner = rest.get(open.len()..)?;
    let letters = inner.chars().take(MOST_STRESSED).take_while(|scalar| is_letter(*scalar));
    let length: usize = letters.map(char::len_utf8).sum();
    let after = inner.get(length..)?.strip_prefix(close)?;
    (length > 0 && after.starts_with(is_letter)).then_some((open.len(), length))
}

/// Returns the length in bytes of the joint between the previous word and the next one; `None` if
/// they are not joined.
fn joint(rest: &str) -> Option<usize> {
    let length = match rest.as_bytes() {
        [b'_', ..] | [b'\\', b'_', ..] => {
            let is_joint = |&byte: &u8| matches!(byte, b'_' | b'\\');
            rest.bytes().take_while(is_joint).count()
        }
        [b':', b':', ..] => 2,
        [b'.', ..] => 1,
        _ => return None,
    };
    let next = rest.get(length..)?.chars().next()?;
    (class_of(next) == Class::Word).then_some(length)
}

/// Returns the length in bytes of the signs that belong to the previous word: `++` or `#` without a
/// word after them.
fn sign_length(rest: &str) -> usize {
    let length = match rest.as_bytes() {
        [b'+', b'+', ..] | [b'\\', b'#', ..] => 2,
        [b'#', ..] => 1,
        _ => return 0,
    };
    let next = rest.get(length..).and_then(|rest| rest.chars().next());
    let is_end = next.is_none_or(|next| {
        !matches!(class_of(next), Class::Word) && !matches!(next, '+' | '#' | '_')
    });
    if is_end { length } else { 0 }
}

/// Returns whether a scalar is a point of Hebrew, or a mark or the stretching of Arabic, which most texts leave out.
fn is_vowel_mark(scalar: char) -> bool {
    matches!(
        scalar,
        '\u{591}'
            ..='\u{5BD}' | '\u{5BF}' | '\u{5C1}' | '\u{5C2}' | '\u{5C4}' | '\u{5C5}' | '\u{5C7}'
    ) || matches!(scalar, '\u{610}'..='\u{61A}' | '\u{640}' | '\u{64B}'..='\u{65F}' | '\u{670}')
        || matches!(scalar, '\u{6D6}'..='\u{6DC}' | '\u{6DF}'..='\u{6E8}' | '\u{6EA}'..='\u{6ED}')
}

/// Returns the form of `text` in which words are compared.
pub(crate) fn folded(text: &str) -> String {
    let mut folded = String::new();
    fold_into(text, &mut folded);
    folded
}

/// Appends the folded form of `text`, in which words are compared.
pub(crate) fn fold_into(text: &str, folded: &mut String) {
    if text.is_ascii() {
        folded.push_str(text);
        folded.make_ascii_lowercase();
        return;
    }
    let plain = text.nfkd().filter(|scalar| {
        !matches!(scalar, '\u{300}'..='\u{36F}' | '\u{200C}' | '\u{200D}' | '\u{FE0F}')
            && !is_vowel_mark(*scalar)
    });
    let folded_case = plain.flat_map(|scalar| match scalar {
        'ς' => 'σ'.to_lowercase(),
        'ı' => 'i'.to_lowercase(),
        _ => scalar.to_lowercase(),
    });
    for scalar in folded_case.nfc() {
        match scalar {
            'ß' => folded.push_str("ss"),
            // Letters with a stroke and ligatures have no decomposition. They are written so where a keyboard lacks them.
            'æ' => folded.push_str("ae"),
            'œ' => folded.push_str("oe"),
            'þ' => folded.push_str("th"),
            'đ' | 'ð' => folded.push('d'),
            'ħ' => folded.push('h'),
            'ł' => folded.push('l'),
            'ø' => folded.push('o'),
            'ŧ' => folded.push('t'),
            _ => folded.push(scalar),
        }
    }
}

/// Calls `visit` with the folded parts of camel-case identifiers (`getSlice`, `HTTPServer`). Only
/// ASCII identifiers are split. Parts of one letter are left out.
pub(crate) fn camel_parts(text: &str, mut visit: impl FnMut(&str)) {
    let mut folded = String::new();
    for bytes in text.as_bytes().split(|byte| !byte.is_ascii_alphanumeric()) {
        // Most words have no capitals after the first letter.
        if bytes.iter().skip(1).all(|byte| !byte.is_ascii_uppercase()) {
            continue;
        }
        let Ok(word) = std::str::from_utf8(bytes) else { continue };
        let is_boundary = |index: usize| {
            let at = |index: usize| bytes.get(index).copied().unwrap_or_default();
            let (before, this) = (at(index - 1), at(index));
            this.is_ascii_uppercase()
                && (!before.is_ascii_uppercase() || at(index + 1).is_ascii_lowercase())
        };
        if word.len() < 4 || !(1..word.len()).any(is_boundary) {
            continue;
        }
        let mut start = 0;
        for end in (1..word.len()).filter(|&index| is_boundary(index)).chain([word.len()]) {
            if end - start > 1 {
                folded.clear();
                fold_into(word.get(start..end).unwrap_or_default(), &mut folded);
                visit(&folded);
            }
            start = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_lone_word_is_the_only_word_of_its_compound(text in r"[aB1é中_.:+#\[\]*\\ -]{1,12}") {
            for (offset, _) in text.char_indices() {
                let [mut lone, mut compound] = [(); 2].map(|()| Tokens { offset, ..Tokens::new(&text) });
                if lone.take_lone_word() {
                    compound.take_compound();
                    prop_assert_eq!(&lone.token, &compound.token);
                    prop_assert_eq!((lone.span, lone.kind), (compound.span, compound.kind));
                    prop_assert_eq!((lone.offset, lone.position), (compound.offset, compound.position));
                    prop_assert_eq!(compound.emitted, compound.words.len());
                }
            }
        }
    }

    #[test]
    fn a_word_between_blanks_or_before_a_sign_is_a_lone_word() {
        let longest = "a".repeat(limits::MAX_WORD_BYTES);
        for (text, is_lone) in [
            ("ab", true),
            ("ab c", true),
            ("ab. C", true),
            ("ab: c", true),
            ("ab, c", true),
            (&longest, true),
            (&format!("{longest}a"), false),
            ("ab.c", false),
            ("abé", false),
            (" ab", false),
        ] {
            assert_eq!(Tokens::new(text).take_lone_word(), is_lone, "{text}");
        }
    }

    #[test]
    fn a_run_of_normal_scalars_is_as_it_is_in_nfkc() {
        let run: String = ('\u{2E80}'..='\u{FFFF}').filter(|scalar| is_normal(*scalar)).collect();
        assert!(run.contains('が') && run.contains('ヲ') && run.contains('文'));
        assert!(run.nfkc().eq(run.chars()));
        let reversed: String = run.chars().rev().collect();
        assert!(reversed.nfkc().eq(reversed.chars()));
    }

    fn tokens(text: &str) -> Vec<String> {
        let mut tokens = Tokens::new(text);
        let mut result = Vec::new();
        while tokens.advance() {
            let span = text.get(tokens.span.start..tokens.span.end).unwrap();
            assert!(!span.is_empty(), "{text:?}");
            result.push(format!("{}@{}", tokens.token, tokens.position));
        }
        result
    }

    #[test]
    fn words_are_runs_of_letters_digits_and_marks() {
        assert_eq!(tokens("Hello, wide world!"), ["hello@0", "wide@1", "world@2"]);
        assert_eq!(tokens("a-b 3rd"), ["a@0", "b@1", "3rd@2"]);
        assert_eq!(tokens("  \u{0}\u{7}--:\"'"), [""; 0]);
        assert_eq!(tokens("हिन्दी"), ["हिन्दी@0"], "vowel signs and viramas belong to the word");
    }

    #[test]
    fn identifiers_are_a_compound_and_its_words() {
        assert_eq!(tokens("get_slice()"), ["get_slice@0", "get@0", "slice@1"]);
        assert_eq!(tokens("foo.bar."), ["foo.bar@0", "foo@0", "bar@1"]);
        assert_eq!(
            tokens("std::vector<bool> x"),
            ["std::vector@0", "std@0", "vector@1", "bool@2", "x@3"]
        );
        assert_eq!(tokens("__init__"), ["init@0"]);
        assert_eq!(
            tokens(r"get\_slice C\#"),
            tokens("get_slice C#"),
            "Markdown may escape the signs"
        );
        assert_eq!(tokens(r"a\b C\"), ["a@0", "b@1", "c@2"]);
    }

    #[test]
    fn signs_after_a_word_make_a_compound() {
        assert_eq!(tokens("C++ and C#."), ["c++@0", "c@0", "and@1", "c#@2", "c@2"]);
        assert_eq!(tokens("a+b i++j c#m"), ["a@0", "b@1", "i@2", "j@3", "c@4", "m@5"]);
    }

    #[test]
    fn a_mark_that_stresses_letters_makes_a_compound() {
        let extract = ["extract@0", "e@0", "x@1", "tract@2"];
        assert_eq!(tokens("E[x]tract"), extract);
        assert_eq!(tokens("[f]ile_name"), ["file_name@0", "f@0", "ile@1", "name@2"]);
        assert_eq!(tokens("**S**ave it"), ["save@0", "s@0", "ave@1", "it@2"]);
        assert_eq!(tokens("f**ü**r**s**a"), ["fursa@0", "f@0", "u@1", "r@2", "s@3", "a@4"]);
        assert_eq!(tokens("a[i] [x] **b** [at]: [word]s"), tokens("a i x b at word s"));
        assert_eq!(tokens("[^a]b [1]st **2**n [a](b) [a][b]"), tokens("a b 1 st 2 n a b a b"));
        for (text, words) in [
            ("map[int]string", "map int string"),
            ("[b]Important:[/b]", "b important b"),
            ("- [x]done task", "x done task"),
            ("a**bee**cee", "a bee cee"),
            ("report[abc]final.txt", "report abc final txt"),
        ] {
            let all = tokens(text);
            let has = |word: &str| all.iter().any(|token| token.split('@').next() == Some(word));
            assert!(words.split(' ').all(has), "every part of {text} is found: {all:?}");
        }
        let text = "an [o]utput";
        let mut one = Tokens::new(text);
        assert!(one.advance() && one.advance());
        assert_eq!(&text[one.span.start..one.span.end], "[o]utput");
    }

    #[test]
    fn scripts_without_spaces_are_split_into_pairs() {
        assert_eq!(tokens("全文搜索 x"), ["全文@0", "文搜@1", "搜索@2", "索@3", "x@4"]);
        assert_eq!(tokens("中"), ["中@0"]);
        assert_eq!(tokens("か\u{3099}く"), tokens("がく"), "NFD equals NFC");
        assert_eq!(tokens("ｶﾞ"), tokens("ガ"), "half-width equals full-width");
        assert_eq!(tokens("\u{1112}\u{1161}\u{11AB}"), tokens("한"));
    }

    #[test]
    fn classification_without_tables_agrees_with_the_tables() {
        for scalar in '\0'..=char::MAX {
            match class_of(scalar) {
                Class::Word => assert!(scalar.is_alphanumeric(), "{scalar:?}"),
                Class::Other => {
                    let belongs = scalar.is_alphanumeric() || is_written_without_blanks(scalar);
                    assert!(!belongs, "{scalar:?}");
                }
                Class::Run => assert!(is_written_without_blanks(scalar), "{scalar:?}"),
                Class::Pictograph => {}
            }
        }
    }

    #[test]
    fn vowel_marks_of_hebrew_and_arabic_fold() {
        for (written, plain) in
            [("שָׁלוֹם", "שלום"), ("شغّل", "شغل"), ("أحمد", "احمد"), ("كتـاب", "كتاب")]
        {
            let folded = |text: &str| {
                let mut folded = String::new();
                fold_into(text, &mut folded);
                folded
            };
            assert_eq!(folded(written), folded(plain), "{written}");
        }
    }

    #[test]
    fn case_diacritics_and_compatibility_fold() {
        for (one, other) in [
            ("Über", "uber"),
            ("CAFÉ", "cafe\u{301}"),
            ("STRASSE", "Straße"),
            ("ΟΔΟΣ", "οδος"),
            ("ſ", "S"),
            ("\u{212A}elvin", "kelvin"),
            ("İstanbul", "istanbul"),
            ("ﬁle", "FILE"),
            ("Ｆｕｌｌ", "full"),
            ("йод", "ЙОД"),
            ("Łódź", "lodz"),
            ("MÅLØY Ǿ", "maloy o"),
            ("Đà", "da"),
            ("Ħal ŧ", "hal t"),
            ("Œuvre Ærø Ǽ", "oeuvre aero ae"),
            ("Þórður", "thordur"),
        ] {
            assert_eq!(tokens(one), tokens(other), "{one} {other}");
        }
    }

    #[test]
    fn pictographs_are_words() {
        assert_eq!(tokens("ok🎉→x"), ["ok@0", "🎉@1", "→@2", "x@3"]);
    }

    #[test]
    fn long_words_are_cut_to_the_limit() {
        let long = "x".repeat(5000);
        assert_eq!(tokens(&long).len(), 1);
        assert!(tokens(&long)[0].len() <= limits::MAX_WORD_BYTES + 2);
        let umlauts = "ü".repeat(5000);
        assert_eq!(tokens(&umlauts).len(), 1);
    }

    #[test]
    fn spans_cover_the_token_in_the_text() {
        let text = "x 全文搜";
        let mut tokens = Tokens::new(text);
        let mut spans = Vec::new();
        while tokens.advance() {
            spans.push(&text[tokens.span.start..tokens.span.end]);
        }
        assert_eq!(spans, ["x", "全文", "文搜", "搜"]);
    }

    #[test]
    fn camel_case_is_split_into_parts() {
        let parts = |text: &str| {
            let mut parts = Vec::new();
            camel_parts(text, |part| parts.push(part.to_owned()));
            parts
        };
        assert_eq!(parts("getSlice of HTTPServer"), ["get", "slice", "http", "server"]);
        assert_eq!(parts("plain UPPER Title a1B"), [""; 0]);
        assert_eq!(parts("iPhone"), ["phone"]);
    }
}
