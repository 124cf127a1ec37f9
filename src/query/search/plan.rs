//! Computes the trigrams that every match of a pattern must contain. Pure.
//!
//! The method is that of Russ Cox, "Regular Expression Matching with a Trigram Index" (2012). For each
//! part of a pattern it computes the texts that the part can match, if they are few, or else their
//! possible prefixes and suffixes, and the trigrams that all of them contain. Invariant: the plan admits
//! every text that the pattern matches. It may also admit others.

use std::collections::BTreeSet;

use regex_syntax::hir::{Class, Hir, HirKind, Repetition};
use regex_syntax::utf8::Utf8Sequences;

use crate::terms::{Trigram, TrigramQuery, trigram};

/// Maximum number of exact texts of a part; above it only prefixes and suffixes are kept.
const MOST_TEXTS: usize = 16;
/// Maximum number of prefixes, and of suffixes. Ten digits and another ten are 100.
const MOST_ENDS: usize = 128;
/// Maximum number of texts of two parts together. The last bytes of all digits of Unicode, a hyphen, and their
/// first bytes are 1,332.
const MOST_PAIRS: usize = 1500;
/// Maximum number of trigrams required together; further ones would exclude few documents.
const MOST_REQUIRED: usize = 24;
/// Maximum number of alternative trigrams that are looked up in any case. A document usually has one of a larger
/// set, so a larger set is looked up only if it is at most four times as large as the smallest set of the plan.
const FEW_ALTERNATIVES: usize = 64;
/// Maximum number of trigrams of a plan; a larger plan costs more than it saves.
const MOST_TRIGRAMS: usize = 1500;
/// Maximum number of trigrams while a plan is computed, from which those of the plan are chosen.
const MOST_CONSIDERED: usize = 2 * MOST_TRIGRAMS;
/// Maximum number of copies of a repeated part to expand.
const MOST_COPIES: u32 = 8;

/// Returns a query that every document with a match satisfies.
pub(super) fn plan(pattern: &Hir) -> TrigramQuery {
    let mut part = part_of(pattern);
    part.simplify(true);
    let query = bounded(part.query);
    if query.len() > MOST_TRIGRAMS { TrigramQuery::All } else { query }
}

/// Whether the query of a part has more than a plan can need.
fn is_enough(query: &TrigramQuery) -> bool {
    let has_many_parts =
        matches!(query, TrigramQuery::And(parts) if parts.len() > 4 * MOST_REQUIRED);
    has_many_parts || query.len() > MOST_CONSIDERED
}

/// Limits the number of required trigrams of the query.
fn bounded(query: TrigramQuery) -> TrigramQuery {
    match query {
        TrigramQuery::And(queries) => {
            let mut queries: Vec<_> = queries.into_iter().map(bounded).collect();
            let fewest = queries.iter().map(TrigramQuery::len).min().unwrap_or(0);
            queries.retain(|query| query.len() <= FEW_ALTERNATIVES.max(4 * fewest));
            // Take them at intervals, because adjacent trigrams share two bytes.
            let step = queries.len().div_ceil(MOST_REQUIRED);
            let mut queries: Vec<_> = queries.into_iter().step_by(step).collect();
            queries.sort_by_key(TrigramQuery::len);
            let mut count = 0;
            queries.retain(|query| {
                count += query.len();
                count <= MOST_TRIGRAMS || count == query.len()
            });
            TrigramQuery::all_of(queries)
        }
        TrigramQuery::Or(queries) => TrigramQuery::Or(queries.into_iter().map(bounded).collect()),
        other => other,
    }
}

/// A set of texts, sorted.
type Texts = Vec<Vec<u8>>;

/// What is known of a part of a pattern. ASCII letters in texts are lower case.
#[derive(Clone)]
struct PartFacts {
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

impl PartFacts {
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

    /// Returns a part that is not empty and of whose texts only the first and the last bytes are known.
    fn between((prefix, suffix): (Texts, Texts)) -> Self {
        let known = |ends: Texts| if ends.len() > MOST_ENDS { vec![Vec::new()] } else { ends };
        Self { prefix: known(prefix), suffix: known(suffix), ..Self::anything(false) }
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
    fn then(mut self, next: &Self) -> Self {
        let can_be_empty = self.can_be_empty && next.can_be_empty;
        let mut query =
            std::mem::replace(&mut self.query, TrigramQuery::All).and(next.query.clone());
        let exact = match (&self.exact, &next.exact) {
            (Some(one), Some(other)) if one.len() * other.len() <= MOST_TEXTS * 4 => {
                Some(cross(one, other))
            }
            _ => None,
        };
        let (mut prefix, mut suffix) = (Vec::new(), Vec::new());
        if exact.is_none() {
            prefix = match &self.exact {
                Some(texts) if texts.len() * next.prefixes().len() <= MOST_PAIRS => {
                    cross(texts, next.prefixes())
                }
                _ if self.can_be_empty => union(self.prefixes(), next.prefixes()),
                _ => self.prefixes().clone(),
            };
            suffix = match &next.exact {
                Some(texts) if self.suffixes().len() * texts.len() <= MOST_PAIRS => {
                    cross(self.suffixes(), texts)
                }
                _ if next.can_be_empty => union(next.suffixes(), self.suffixes()),
                _ => next.suffixes().clone(),
            };
            // Trigrams across the boundary of the two parts.
            if self.suffixes().len() * next.prefixes().len() <= MOST_PAIRS && !is_enough(&query) {
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
            if !is_enough(&self.query) {
                let query = std::mem::replace(&mut self.query, TrigramQuery::All);
                let ends = [query, any_of(&self.prefix), any_of(&self.suffix)];
                self.query = TrigramQuery::all_of(ends.into());
            }
            shorten(&mut self.prefix, Vec::truncate);
            without_longer(&mut self.prefix, |text, length| text.get(..length));
            shorten(&mut self.suffix, |text, length| {
                text.drain(..text.len().saturating_sub(length));
            });
            without_longer(&mut self.suffix, |text, length| text.get(text.len() - length..));
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

/// Removes the texts that begin, or end, with another text of the sorted set, which already implies less. `part`
/// returns the first, or the last, bytes of a text: as many as the number.
fn without_longer(texts: &mut Texts, part: fn(&[u8], usize) -> Option<&[u8]>) {
    let all = texts.clone();
    let is_known = |part: &[u8]| all.binary_search_by(|text| text.as_slice().cmp(part)).is_ok();
    texts.retain(|text| !(0..text.len()).any(|length| part(text, length).is_some_and(is_known)));
}

/// Returns the query for texts that contain one of `texts`: the trigrams that all of them have, and one of the
/// sets of the others.
fn any_of(texts: &Texts) -> TrigramQuery {
    let sets: Vec<BTreeSet<Trigram>> = texts.iter().map(|text| trigrams_of(text)).collect();
    let mut common = sets.first().cloned().unwrap_or_default();
    common.retain(|trigram| sets.iter().all(|set| set.contains(trigram)));
    let all_of = |set: BTreeSet<Trigram>| {
        TrigramQuery::all_of(set.into_iter().map(TrigramQuery::Has).collect())
    };
    let others = sets.iter().map(|set| all_of(set.difference(&common).copied().collect()));
    TrigramQuery::any_of(others.collect()).and(all_of(common))
}

fn trigrams_of(text: &[u8]) -> BTreeSet<Trigram> {
    text.windows(3).filter_map(trigram).collect()
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

fn part_of(pattern: &Hir) -> PartFacts {
    match pattern.kind() {
        HirKind::Empty | HirKind::Look(_) => PartFacts::exactly(vec![Vec::new()]),
        HirKind::Literal(literal) => {
            let mut part = PartFacts::exactly(vec![literal.0.to_ascii_lowercase()]);
            part.simplify(false);
            part
        }
        HirKind::Class(class) => match texts_of(class) {
            Some(texts) if texts.is_empty() => PartFacts::nothing(),
            Some(texts) => PartFacts::exactly(texts),
            None => PartFacts::between(ends_of(class)),
        },
        HirKind::Repetition(repetition) => repeated(repetition),
        HirKind::Capture(capture) => part_of(&capture.sub),
        HirKind::Concat(parts) => parts
            .iter()
            .map(part_of)
            .reduce(|before, next| before.then(&next))
            .unwrap_or_else(|| PartFacts::exactly(vec![Vec::new()])),
        HirKind::Alternation(parts) => {
            parts.iter().map(part_of).reduce(PartFacts::or).unwrap_or_else(PartFacts::nothing)
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

/// Returns the first and the last bytes of the texts of a character class.
fn ends_of(class: &Class) -> (Texts, Texts) {
    let (mut first, mut last) = (Vec::new(), Vec::new());
    let add = |ends: &mut Texts, start: u8, end: u8| {
        ends.extend((start..=end).map(|byte| vec![byte.to_ascii_lowercase()]));
    };
    match class {
        Class::Unicode(class) => {
            let ranges = class.ranges().iter();
            for bytes in ranges.flat_map(|range| Utf8Sequences::new(range.start(), range.end())) {
                if let [head, .., tail] | [head @ tail] = bytes.as_slice() {
                    add(&mut first, head.start, head.end);
                    add(&mut last, tail.start, tail.end);
                }
            }
        }
        Class::Bytes(class) => {
            for range in class.ranges() {
                add(&mut first, range.start(), range.end());
                add(&mut last, range.start(), range.end());
            }
        }
    }
    (sorted(first), sorted(last))
}

fn repeated(repetition: &Repetition) -> PartFacts {
    let Repetition { min, max, .. } = *repetition;
    if max == Some(0) {
        return PartFacts::exactly(vec![Vec::new()]);
    }
    if min == 0 && max != Some(1) {
        return PartFacts::anything(true);
    }
    // Computed once: each level of nested repetitions would multiply the time otherwise.
    let part = part_of(&repetition.sub);
    if min == 0 {
        return part.or(PartFacts::exactly(vec![Vec::new()]));
    }
    let copies = min.min(MOST_COPIES);
    let mut result = part.clone();
    for _ in 1..copies {
        result = result.then(&part);
    }
    if max == Some(copies) {
        return result;
    }
    // Further copies may follow. The prefix is that of the copies, the suffix that of the last copy.
    let can_be_empty = result.can_be_empty;
    result.forget_exact();
    result.suffix.clone_from(part.suffixes());
    result.can_be_empty = can_be_empty;
    result.simplify(false);
    result
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

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
            ("(foo)?bar", "bar"),
            ("foo(bar)?", "foo"),
            ("(foo|bar)baz", "(baz ((arb bar rba)|(foo oba oob)))"),
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
            (r"\w+ing", "ing"),
            ("[ab]-[0-2]", "(a-0|a-1|a-2|b-0|b-1|b-2)"),
            (r"\d-\d: disk", "( di : d dis isk)"),
            ("", "all"),
            ("[^a]", "all"),
            ("(ab|cd)(ef|gh)", "((abe bef)|(abg bgh)|(cde def)|(cdg dgh))"),
        ] {
            assert_eq!(plan_text(pattern), expected, "{pattern}");
        }
    }

    fn meets(text: &str, plan: &TrigramQuery) -> bool {
        let trigrams = trigrams_of(text.as_bytes());
        plan.is_met_by(&|trigram| trigrams.contains(&trigram))
    }

    #[test]
    fn a_class_of_few_bytes_is_part_of_trigrams() {
        for (pattern, has, lacks) in [
            ("[0-9]{4}-[0-9][0-9]", "on 2026-11-26", "a - b 2026 11-b"),
            (r"\d{4}-\d{2}", "on 2026-11-26", "a - b 2026 11-b"),
            (r"\d-\d", "von \u{665}-\u{966} bis", "\u{665} - \u{966}"),
            ("[0-9a-f]{8}-[0-9a-f]{4}", "52b38267-6023-4bdc", "x-y z-f h-0"),
            ("(?i)[A-F]#[a-f]", "C#d", "c# x#d"),
        ] {
            let plan = plan(&regex_syntax::parse(pattern).unwrap());
            assert!(meets(has, &plan) && !meets(lacks, &plan), "{pattern}: {}", plan.len());
        }
    }

    #[test]
    fn letters_with_three_cases_have_all_variants() {
        assert_eq!(plan_text("(?i)kit"), "(kit|(\u{fffd}\u{fffd}i \u{fffd}it \u{212a}))");
    }

    fn text() -> impl Strategy<Value = String> {
        let piece = select(vec![
            "a", "b", "xyz", "Kit", "\u{212A}", "ſ", "é", "中", "\u{665}", "-", "--", ".", " ",
            "_", "0", "42", "9f",
        ]);
        proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    fn pattern() -> impl Strategy<Value = String> {
        let leaf = select(vec![
            "a",
            "b",
            "xyz",
            "it",
            "k",
            "é",
            "-",
            r"\.",
            "_",
            "0",
            ".",
            r"\d",
            r"\w",
            r"\W",
            r"\s",
            "[0-9]",
            "[a-z]",
            "[0-9a-f]",
            "[^a]",
            "[xy-]",
            r"[^\x00-\x7F]",
            "[é中]",
            "(?i:k)",
            "(?i:s)",
            "(?i:[a-c])",
            "^",
            r"\b",
        ]);
        leaf.prop_map(str::to_owned).prop_recursive(3, 16, 5, |inner| {
            prop_oneof![
                3 => proptest::collection::vec(inner.clone(), 1..6).prop_map(|parts| parts.concat()),
                1 => proptest::collection::vec(inner.clone(), 2..4)
                    .prop_map(|parts| format!("(?:{})", parts.join("|"))),
                1 => (inner, select(vec!["?", "*", "+", "{2}", "{1,3}", "{2,}", "{4}"]))
                    .prop_map(|(part, times)| format!("(?:{part}){times}")),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn every_text_that_matches_meets_the_plan(
            pattern in pattern(), texts in proptest::collection::vec(text(), 8),
        ) {
            let plan = plan(&regex_syntax::parse(&pattern).unwrap());
            let regex = regex::Regex::new(&pattern).unwrap();
            for text in texts.iter().filter(|text| regex.is_match(text)) {
                prop_assert!(meets(text, &plan), "{text:?}");
            }
        }
    }

    #[test]
    fn plans_of_hostile_patterns_are_small() {
        for pattern in [
            "(a|b|c|d|e|f){1,8}(g|h|i|j|k){1,8}".to_owned(),
            "abcdefghij".repeat(400),
            "(?i)".to_owned() + &"sk".repeat(500),
            "(((a{1,30}){1,30}){1,30})".to_owned(),
            "[0-8][1-9]".repeat(400),
            r"(\d-\w+\d[a-f]){1,9}".repeat(20),
            r"(\d\.|[a-z]_|\w:){1,8}".repeat(30),
            r"\d-".repeat(1300),
            "(".repeat(90) + "[0-9]-" + &")+".repeat(90),
            "(".repeat(6) + "[0-9]-" + &"){8,}".repeat(6),
        ] {
            let plan = plan(&regex_syntax::parse(&pattern).unwrap());
            assert!(plan.len() <= MOST_TRIGRAMS, "{}", plan.len());
        }
    }
}
