//! Computes the trigrams that every match of a pattern must contain. Pure.
//!
//! The method is that of Russ Cox, "Regular Expression Matching with a Trigram Index" (2012). For each
//! part of a pattern it computes the texts that the part can match, if they are few, or else their
//! possible prefixes and suffixes, and the trigrams that all of them contain. Invariant: the plan admits
//! every text that the pattern matches. It may also admit others.

use regex_syntax::hir::{Class, Hir, HirKind, Repetition};

use crate::terms::TrigramQuery;

/// Maximum number of exact texts of a part; above it only prefixes and suffixes are kept.
const MOST_TEXTS: usize = 16;
/// Maximum number of prefixes, and of suffixes.
const MOST_ENDS: usize = 20;
/// Maximum number of trigrams required together; further ones would exclude few documents.
const MOST_REQUIRED: usize = 24;
/// Maximum number of trigrams of a plan; a larger plan costs more than it saves.
const MOST_TRIGRAMS: usize = 600;
/// Maximum number of copies of a repeated part to expand.
const MOST_COPIES: u32 = 8;

/// Returns a query that every document with a match satisfies.
pub(super) fn plan(pattern: &Hir) -> TrigramQuery {
    let mut part = part_of(pattern);
    part.simplify(true);
    let query = bounded(part.query);
    if query.len() > MOST_TRIGRAMS { TrigramQuery::All } else { query }
}

/// Limits the number of required trigrams of the query.
fn bounded(query: TrigramQuery) -> TrigramQuery {
    match query {
        TrigramQuery::And(queries) => {
            // Take them at intervals, because adjacent trigrams share two bytes.
            let step = queries.len().div_ceil(MOST_REQUIRED);
            TrigramQuery::And(queries.into_iter().step_by(step).map(bounded).collect())
        }
        TrigramQuery::Or(queries) => TrigramQuery::Or(queries.into_iter().map(bounded).collect()),
        other => other,
    }
}

/// A set of texts, sorted.
type Texts = Vec<Vec<u8>>;

/// What is known of a part of a pattern. ASCII letters in texts are lower case.
struct Part {
    /// Whether the part matches the empty text.
    can_be_empty: bool,
    /// All texts that the part matches, if they are few.
    exact: Option<Texts>,
    /// The possible prefixes and suffixes of its texts, if `exact` is `None`.
    prefix: Texts,
    suffix: Texts,
    /// Further required trigrams.
    query: TrigramQuery,
}

impl Part {
    fn exactly(texts: Texts) -> Self {
        Self {
            can_be_empty: texts.iter().any(Vec::is_empty),
            exact: Some(texts),
            prefix: Vec::new(),
            suffix: Vec::new(),
            query: TrigramQuery::All,
        }
    }

    /// Returns a part that matches any text.
    fn anything(can_be_empty: bool) -> Self {
        Self {
            can_be_empty,
            exact: None,
            prefix: vec![Vec::new()],
            suffix: vec![Vec::new()],
            query: TrigramQuery::All,
        }
    }

    fn nothing() -> Self {
        Self { query: TrigramQuery::None, ..Self::exactly(Vec::new()) }
    }

    /// Returns the possible prefixes.
    fn prefixes(&self) -> &Texts {
        self.exact.as_ref().unwrap_or(&self.prefix)
    }

    /// Returns the possible suffixes.
    fn suffixes(&self) -> &Texts {
        self.exact.as_ref().unwrap_or(&self.suffix)
    }

    /// Returns the concatenation of this part and `next`.
    fn then(self, next: &Self) -> Self {
        let can_be_empty = self.can_be_empty && next.can_be_empty;
        let mut query = self.query.clone().and(next.query.clone());
        let exact = match (&self.exact, &next.exact) {
            (Some(one), Some(other)) if one.len() * other.len() <= MOST_TEXTS * 4 => {
                Some(cross(one, other))
            }
            _ => None,
        };
        let (mut prefix, mut suffix) = (Vec::new(), Vec::new());
        if exact.is_none() {
            prefix = match &self.exact {
                Some(texts) if texts.len() * next.prefixes().len() <= MOST_ENDS * 4 => {
                    cross(texts, next.prefixes())
                }
                _ if self.can_be_empty => union(self.prefixes(), next.prefixes()),
                _ => self.prefixes().clone(),
            };
            suffix = match &next.exact {
                Some(texts) if self.suffixes().len() * texts.len() <= MOST_ENDS * 4 => {
                    cross(self.suffixes(), texts)
                }
                _ if next.can_be_empty => union(next.suffixes(), self.suffixes()),
                _ => next.suffixes().clone(),
            };
            // Trigrams across the boundary of the two parts.
            if self.suffixes().len() * next.prefixes().len() <= MOST_ENDS * 4 {
                query = query.and(any_of(&cross(self.suffixes(), next.prefixes())));
            }
        }
        let mut result = Self { can_be_empty, exact, prefix, suffix, query };
        result.simplify(false);
        result
    }

    /// Returns the alternation of this part and `other`.
    fn or(mut self, mut other: Self) -> Self {
        if let (Some(one), Some(two)) = (&self.exact, &other.exact) {
            let mut result = Self {
                can_be_empty: self.can_be_empty || other.can_be_empty,
                exact: Some(union(one, two)),
                prefix: Vec::new(),
                suffix: Vec::new(),
                query: self.query.or(other.query),
            };
            result.simplify(false);
            return result;
        }
        self.forget_exact();
        other.forget_exact();
        let mut result = Self {
            can_be_empty: self.can_be_empty || other.can_be_empty,
            exact: None,
            prefix: union(&self.prefix, &other.prefix),
            suffix: union(&self.suffix, &other.suffix),
            query: self.query.or(other.query),
        };
        result.simplify(false);
        result
    }

    /// Requires the trigrams of the exact texts, and keeps only their prefixes and suffixes.
    fn forget_exact(&mut self) {
        if let Some(texts) = self.exact.take() {
            let query = std::mem::replace(&mut self.query, TrigramQuery::All);
            self.query = query.and(any_of(&texts));
            self.prefix.clone_from(&texts);
            self.suffix = texts;
        }
    }

    /// Limits the sizes of the sets. `is_end` means that the pattern is complete.
    fn simplify(&mut self, is_end: bool) {
        if let Some(texts) = &self.exact {
            let shortest = texts.iter().map(Vec::len).min().unwrap_or(0);
            if is_end || texts.len() > MOST_TEXTS || shortest >= 4 {
                self.forget_exact();
            }
        }
        if self.exact.is_none() {
            let query = std::mem::replace(&mut self.query, TrigramQuery::All);
            self.query = query.and(any_of(&self.prefix)).and(any_of(&self.suffix));
            shorten(&mut self.prefix, Vec::truncate);
            without_longer(&mut self.prefix, <[u8]>::starts_with);
            shorten(&mut self.suffix, |text, length| {
                text.drain(..text.len().saturating_sub(length));
            });
            without_longer(&mut self.suffix, <[u8]>::ends_with);
        }
    }
}

/// Cuts texts to two bytes, which suffices for trigrams across a boundary, or to fewer if there are too
/// many texts.
fn shorten(texts: &mut Texts, cut: impl Fn(&mut Vec<u8>, usize)) {
    for length in [2, 1, 0] {
        for text in texts.iter_mut() {
            cut(text, length);
        }
        texts.sort_unstable();
        texts.dedup();
        if texts.len() <= MOST_ENDS {
            return;
        }
    }
}

/// Removes the texts that begin, or end, with another text of the set, which already implies less.
fn without_longer(texts: &mut Texts, goes_on: fn(&[u8], &[u8]) -> bool) {
    let all = texts.clone();
    texts.retain(|text| !all.iter().any(|other| other != text && goes_on(text, other)));
}

/// Returns the query for texts that contain one of `texts`.
fn any_of(texts: &Texts) -> TrigramQuery {
    texts
        .iter()
        .map(|text| TrigramQuery::of_literal(text))
        .fold(TrigramQuery::None, TrigramQuery::or)
}

fn cross(one: &Texts, other: &Texts) -> Texts {
    let pairs = one.iter().flat_map(|head| other.iter().map(move |tail| [&**head, tail].concat()));
    sorted(pairs.collect())
}

fn union(one: &Texts, other: &Texts) -> Texts {
    sorted(one.iter().chain(other).cloned().collect())
}

fn sorted(mut texts: Texts) -> Texts {
    texts.sort_unstable();
    texts.dedup();
    texts
}

fn part_of(pattern: &Hir) -> Part {
    match pattern.kind() {
        HirKind::Empty | HirKind::Look(_) => Part::exactly(vec![Vec::new()]),
        HirKind::Literal(literal) => {
            let mut part = Part::exactly(vec![literal.0.to_ascii_lowercase()]);
            part.simplify(false);
            part
        }
        HirKind::Class(class) => match texts_of(class) {
            Some(texts) if texts.is_empty() => Part::nothing(),
            Some(texts) => Part::exactly(texts),
            None => Part::anything(false),
        },
        HirKind::Repetition(repetition) => repeated(repetition),
        HirKind::Capture(capture) => part_of(&capture.sub),
        HirKind::Concat(parts) => parts
            .iter()
            .map(part_of)
            .reduce(|before, next| before.then(&next))
            .unwrap_or_else(|| Part::exactly(vec![Vec::new()])),
        HirKind::Alternation(parts) => {
            parts.iter().map(part_of).reduce(Part::or).unwrap_or_else(Part::nothing)
        }
    }
}

/// Returns the texts of a character class, if they are few.
fn texts_of(class: &Class) -> Option<Texts> {
    let mut texts = Vec::new();
    match class {
        Class::Unicode(class) => {
            for range in class.ranges() {
                for scalar in range.start()..=range.end() {
                    if texts.len() > MOST_TEXTS * 2 {
                        return None;
                    }
                    let mut buffer = [0; 4];
                    texts.push(scalar.encode_utf8(&mut buffer).as_bytes().to_ascii_lowercase());
                }
            }
        }
        Class::Bytes(class) => {
            for range in class.ranges() {
                for byte in range.start()..=range.end() {
                    if texts.len() > MOST_TEXTS * 2 {
                        return None;
                    }
                    texts.push(vec![byte.to_ascii_lowercase()]);
                }
            }
        }
    }
    let texts = sorted(texts);
    (texts.len() <= MOST_TEXTS).then_some(texts)
}

fn repeated(repetition: &Repetition) -> Part {
    let part = || part_of(&repetition.sub);
    let Repetition { min, max, .. } = *repetition;
    if max == Some(0) {
        return Part::exactly(vec![Vec::new()]);
    }
    if min == 0 {
        let sub = part();
        if max == Some(1) {
            return sub.or(Part::exactly(vec![Vec::new()]));
        }
        return Part::anything(true);
    }
    let copies = min.min(MOST_COPIES);
    let mut result = part();
    for _ in 1..copies {
        result = result.then(&part());
    }
    if max == Some(copies) {
        return result;
    }
    // Further copies may follow. The prefix is that of the copies, the suffix that of the last copy.
    let can_be_empty = result.can_be_empty;
    let ending = part();
    result.forget_exact();
    result.suffix.clone_from(ending.suffixes());
    result.can_be_empty = can_be_empty;
    result.simplify(false);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan_text(pattern: &str) -> String {
        fn text_of(query: &TrigramQuery) -> String {
            match query {
                TrigramQuery::All => "all".to_owned(),
                TrigramQuery::None => "none".to_owned(),
                TrigramQuery::Has(trigram) => String::from_utf8_lossy(trigram).into_owned(),
                TrigramQuery::And(queries) => {
                    let queries: Vec<_> = queries.iter().map(text_of).collect();
                    format!("({})", queries.join(" "))
                }
                TrigramQuery::Or(queries) => {
                    let queries: Vec<_> = queries.iter().map(text_of).collect();
                    format!("({})", queries.join("|"))
                }
            }
        }
        text_of(&plan(&regex_syntax::parse(pattern).unwrap()))
    }

    #[test]
    fn plans_require_the_trigrams_of_every_match() {
        for (pattern, expected) in [
            ("abc", "abc"),
            ("ABC", "abc"),
            ("ab", "all"),
            ("abcd", "(abc bcd)"),
            ("abc|xyz", "(abc|xyz)"),
            ("abc|xy", "all"),
            ("(foo)?bar", "(bar|(bar foo oba oob))"),
            ("foo(bar)?", "(foo|(bar foo oba oob))"),
            ("a[bc]d", "(abd|acd)"),
            ("(?i)abc", "abc"),
            ("foo.*bar", "(bar foo)"),
            ("foo.bar", "(bar foo)"),
            ("^foo$", "foo"),
            (r"\bfoo\b", "foo"),
            ("(abc)+", "abc"),
            ("(abc){2}", "(abc bca cab)"),
            ("(abc)*", "all"),
            (".*", "all"),
            ("a{3}", "aaa"),
            ("xa{2,}y", "xaa"),
            (r"ab\ncd", "all"),
            (r"\w\w\w", "all"),
            ("", "all"),
            ("[^a]", "all"),
            ("(ab|cd)(ef|gh)", "((abe bef)|(abg bgh)|(cde def)|(cdg dgh))"),
        ] {
            assert_eq!(plan_text(pattern), expected, "{pattern}");
        }
    }

    #[test]
    fn letters_with_three_cases_have_all_variants() {
        assert_eq!(plan_text("(?i)kit"), "(kit|(\u{fffd}\u{fffd}i \u{fffd}it \u{212a}))");
    }

    #[test]
    fn plans_of_hostile_patterns_are_small() {
        for pattern in [
            "(a|b|c|d|e|f){1,8}(g|h|i|j|k){1,8}".to_owned(),
            "abcdefghij".repeat(400),
            "(?i)".to_owned() + &"sk".repeat(500),
            "(((a{1,30}){1,30}){1,30})".to_owned(),
        ] {
            let plan = plan(&regex_syntax::parse(&pattern).unwrap());
            assert!(plan.len() <= MOST_TRIGRAMS, "{}", plan.len());
        }
    }
}
