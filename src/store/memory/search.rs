//! Ranking the sections of a store in memory: every section is compared with the query.
//!
//! Invariant: the sections that match are those that the full-text index of a store file finds, and their
//! scores are the same.

use std::collections::HashSet;
use std::sync::Arc;

use super::MemoryDocument;
use crate::store::{DocumentFilter, Ranked, SectionFilter, SectionId};
use crate::terms::score::{self, Rarity};
use crate::terms::{
    IndexedField, QueryLeaf, QueryTerm, TEXT_WEIGHTS, TEXTS, TermMatch, TextField, WordQuery,
    WrittenTokens,
};

/// The words of one section.
struct SectionWords<'a> {
    place: SectionId,
    fingerprint: u64,
    entry: &'a Arc<MemoryDocument>,
    /// The words of title, body and code, with their positions.
    texts: [Vec<(String, usize)>; TEXTS],
    parts: Vec<String>,
    path: Vec<String>,
    tags: Vec<String>,
    is_front_matter: bool,
    /// Whether document frequencies count its words.
    is_counted: bool,
}

/// All sections of a store.
pub(super) struct AllSections<'a> {
    sections: Vec<SectionWords<'a>>,
    /// The mean number of words of title, body and code.
    averages: [f32; TEXTS],
}

fn words_of(text: &str) -> impl Iterator<Item = String> {
    WrittenTokens::new(text).map(|(_, word)| word.to_owned())
}

/// Adds the words of `text` after a gap.
fn add_words(words: &mut Vec<(String, usize)>, text: &str) {
    let first = words.last().map_or(0, |(_, position)| position + 2);
    let tokens = WrittenTokens::new(text);
    words.extend(tokens.map(|(position, word)| (word.to_owned(), first + position)));
}

impl<'a> SectionWords<'a> {
    fn new(entry: &'a Arc<MemoryDocument>, part: Option<usize>, folders: &[&str]) -> Self {
        let text = &entry.prepared.text;
        let document = entry.stored.id;
        let place = match part {
            None => SectionId::front_matter(document),
            Some(section) => SectionId { document, section, level: text.level(section) },
        };
        let mut section = SectionWords {
            place,
            fingerprint: text.fingerprint(part),
            entry,
            texts: Default::default(),
            parts: Vec::new(),
            path: Vec::new(),
            tags: Vec::new(),
            is_front_matter: part.is_none(),
            is_counted: folders.is_empty(),
        };
        let [title, body, code] = &mut section.texts;
        text.each_field(part, |field, text| match field {
            IndexedField::Title => add_words(title, text),
            IndexedField::Body => add_words(body, text),
            IndexedField::Code => add_words(code, text),
            IndexedField::Parts => section.parts.extend(words_of(text)),
            IndexedField::Path => section.path.extend(words_of(text)),
            IndexedField::Tag => section.tags.push(text.to_owned()),
            IndexedField::Scope => section.is_counted |= folders.contains(&text),
        });
        section
    }
}

/// A term of a query and its inverse document frequencies.
struct ScoredTerm<'a> {
    leaf: QueryLeaf<'a>,
    rarity: Rarity,
    /// With what the lengths of the texts are compared.
    averages: [f32; TEXTS],
}

/// Whether `found` is `word`, or has the stem of the term. The first is whether it is `word`.
fn is_like(term: &QueryTerm, word: &str, found: &str) -> (bool, bool) {
    let is_exact = found == word;
    (is_exact, is_exact || term.stems.as_ref().is_some_and(|class| class.has(found)))
}

/// Returns the number of places in `text` at which the first `count` words of `term` begin. The last word of a prefix is
/// one.
fn occurrences(term: &QueryTerm, count: usize, text: &[(String, usize)]) -> usize {
    let positions = |(index, (_, word)): (usize, &(usize, String))| -> HashSet<usize> {
        let is_prefix = term.is_prefix && index + 1 == term.words.len();
        let is_it = |found: &str| found == word || is_prefix && found.starts_with(word.as_str());
        text.iter().filter(|(found, _)| is_it(found)).map(|(_, at)| *at).collect()
    };
    term.occurrences(&term.words.iter().enumerate().take(count).map(positions).collect::<Vec<_>>())
}

impl<'a> AllSections<'a> {
    /// Divides `entries` into their sections, to search those that `filter` admits.
    pub(super) fn of(
        entries: impl Iterator<Item = &'a Arc<MemoryDocument>>,
        filter: &DocumentFilter,
    ) -> Self {
        let folders = &filter.folders();
        let sections: Vec<SectionWords<'_>> = entries
            .flat_map(|entry| {
                let parts = entry.prepared.text.sections();
                parts.map(move |part| SectionWords::new(entry, part, folders))
            })
            .collect();
        let mut averages = [1.0; TEXTS];
        for (index, average) in averages.iter_mut().enumerate() {
            let tokens: usize =
                sections.iter().filter_map(|section| section.texts.get(index)).map(Vec::len).sum();
            let count = sections.len().max(1) as u64;
            *average = (score::number(tokens as u64) / score::number(count)).max(1.0);
        }
        Self { sections, averages }
    }

    /// The sections whose words are counted.
    fn counted(&self) -> impl Iterator<Item = &SectionWords<'a>> {
        self.sections.iter().filter(|section| section.is_counted)
    }

    /// Returns the inverse document frequency of a word that is in the sections that `has` accepts.
    fn rarity_of(&self, has: impl Fn(&SectionWords<'_>) -> bool) -> f32 {
        let having = self.counted().filter(|section| has(section)).count();
        score::rarity(self.counted().count() as u64, having as u64)
    }

    /// Returns the sections that match `query` and that `filter` admits, best first, with their entries, and
    /// the inverse document frequency of each term of the query.
    pub(super) fn ranked<'q>(
        &self,
        query: &'q WordQuery,
        filter: &SectionFilter<'_>,
        takes: impl Fn(&MemoryDocument) -> bool,
    ) -> (Vec<(Ranked, Arc<MemoryDocument>)>, Vec<f32>) {
        let Some(clause) = &query.clause else { return (Vec::new(), Vec::new()) };
        let leaves = clause.leaves().into_iter().map(|leaf| self.scored(leaf));
        let leaves: Vec<ScoredTerm<'q>> = leaves.collect();
        let counting = || leaves.iter().filter(|leaf| leaf.leaf.counts);
        let weights: Vec<f32> = counting().map(|leaf| leaf.leaf.counted(leaf.rarity)).collect();
        let all: f32 = weights.iter().sum();
        let mut ranked = Vec::new();
        for section in &self.sections {
            let is_admitted = filter.level.is_none_or(|level| level == section.place.level)
                && filter.front_matter.is_none_or(|wanted| wanted == section.is_front_matter)
                && takes(section.entry);
            if !is_admitted {
                continue;
            }
            let matches: Vec<TermMatch> =
                leaves.iter().map(|leaf| self.compare(leaf, section)).collect();
            if !clause.is_met(&mut matches.iter().map(|found| found.is_match)) {
                continue;
            }
            let (mut sum, mut covered) = (0.0, 0.0);
            for (leaf, found) in leaves.iter().zip(&matches).filter(|(_, found)| found.is_covered) {
                let times = leaf.leaf.times.unwrap_or(0.0);
                sum += times * (score::of_term(leaf.rarity, found.exact, found.all) + found.score);
                covered += leaf.leaf.counted(leaf.rarity);
            }
            let score = score::of_section(sum, covered, all);
            let (place, fingerprint) = (section.place, section.fingerprint);
            ranked.push((Ranked { place, score, fingerprint }, Arc::clone(section.entry)));
        }
        ranked.sort_by(|(one, _), (other, _)| {
            other.score.total_cmp(&one.score).then(one.place.cmp(&other.place))
        });
        (ranked, weights)
    }

    /// Returns the numbers of pairs of a section and a word in it that `is_it` accepts, in title, body and code; 0 for a
    /// text that `takes` does not accept.
    fn having(&self, takes: impl Fn(usize) -> bool, is_it: impl Fn(&str) -> bool) -> [u64; TEXTS] {
        let count = |index: usize| {
            let words = |section: &SectionWords<'_>| {
                let text = section.texts.get(index).into_iter().flatten();
                let mut words: Vec<&str> =
                    text.map(|(word, _)| word.as_str()).filter(|word| is_it(word)).collect();
                words.sort_unstable();
                words.dedup();
                words.len() as u64
            };
            self.counted().map(words).sum::<u64>()
        };
        std::array::from_fn(|index| if takes(index) { count(index) } else { 0 })
    }

    /// Looks up a term.
    fn scored<'q>(&self, leaf: QueryLeaf<'q>) -> ScoredTerm<'q> {
        let term = leaf.term;
        let all = self.counted().count() as u64;
        let of_most =
            |having: [u64; TEXTS]| score::rarity(all, having.into_iter().max().unwrap_or(0));
        if let Some(word) = term.single_word() {
            let having = |is_stemmed: bool| {
                self.having(
                    |index| term.takes_text(index),
                    |found| {
                        let (is_exact, is_like) = is_like(term, word, found);
                        if is_stemmed { is_like } else { is_exact }
                    },
                )
            };
            let (exact, stemmed) = (having(false), having(true));
            let rarity = Rarity { exact: of_most(exact), stemmed: of_most(stemmed) };
            let [title, body, code] = self.averages;
            let averages = [title, body, score::code_average(code, stemmed)];
            return ScoredTerm { leaf, rarity, averages };
        }
        let sum = if term.field == Some(TextField::Tags) {
            let tag = term.text.trim_start_matches('#');
            self.rarity_of(|section| section.tags.iter().any(|it| it == tag))
        } else {
            let last = term.words.len().saturating_sub(1);
            let words = term.words.iter().enumerate().map(|(index, (_, word))| {
                let is_prefix = term.is_prefix && index == last;
                of_most(self.having(
                    |_| true,
                    |found| found == word || (is_prefix && found.starts_with(word.as_str())),
                ))
            });
            words.sum()
        };
        let rarity = Rarity { exact: sum, stemmed: sum };
        ScoredTerm { leaf, rarity, averages: self.averages }
    }

    fn compare(&self, leaf: &ScoredTerm<'_>, section: &SectionWords<'_>) -> TermMatch {
        let mut found = TermMatch::default();
        match leaf.leaf.term.single_word() {
            Some(word) => {
                let term = leaf.leaf.term;
                Self::compare_word(leaf, word, section, &mut found);
                // The words of a compound are also searched next to each other, where it is not written as one.
                if !found.is_match && (term.words.len() > 1 || term.is_prefix) {
                    self.compare_sequence(leaf, section, &mut found);
                }
            }
            None => self.compare_sequence(leaf, section, &mut found),
        }
        found.is_covered |= found.is_match;
        found
    }

    fn compare_word(
        leaf: &ScoredTerm<'_>,
        word: &str,
        section: &SectionWords<'_>,
        found: &mut TermMatch,
    ) {
        let term = leaf.leaf.term;
        let mut add = |text: &str, weight: f32| {
            let (is_exact, is_like) = is_like(term, word, text);
            found.exact += if is_exact { weight } else { 0.0 };
            found.all += if is_like { weight } else { 0.0 };
            is_like
        };
        let mut is_match = false;
        for (index, text) in section.texts.iter().enumerate() {
            if !term.takes_text(index) {
                continue;
            }
            let (weight, influence) = TEXT_WEIGHTS.get(index).copied().unwrap_or_default();
            let average = leaf.averages.get(index).copied().unwrap_or(1.0);
            let tokens = score::number(score::kept_length(text.len()));
            let weight = score::by_length(weight, influence, tokens, average);
            for (word, _) in text {
                is_match |= add(word, weight);
            }
        }
        if term.takes_parts() {
            let mut parts: Vec<&String> = section.parts.iter().collect();
            parts.sort_unstable();
            parts.dedup();
            for part in parts {
                is_match |= add(part, score::PARTS_WEIGHT);
            }
        }
        let names_path = term.field == Some(TextField::Path);
        let mut is_context = false;
        if term.takes_path() {
            let mut path: Vec<&String> = section.path.iter().collect();
            path.sort_unstable();
            path.dedup();
            for word in path {
                is_context |= add(word, score::PATH_WEIGHT);
            }
        }
        found.is_match = is_match || (names_path && is_context);
        found.is_covered = is_context;
    }

    /// Returns the score of a tag with this inverse document frequency in a section that has it.
    fn of_tag(&self, rarity: f32) -> f32 {
        let total: usize = self.sections.iter().map(|section| section.tags.len()).sum();
        let all = self.sections.len().max(1);
        let average = score::number(total as u64) / score::number(all as u64);
        score::of_phrase(rarity, 1.0, 1.0, average)
    }

    /// Returns the score of several words in a path, or of the beginning of a word.
    fn of_path(&self, term: &QueryTerm) -> f32 {
        if term.words.len() == 1 {
            return 1.0;
        }
        let words = term.words.iter();
        words.map(|(_, word)| self.rarity_of(|section| section.path.contains(word))).sum()
    }

    /// Returns the score of a phrase or a prefix in the text with this index; `None` if it does not occur.
    fn of_text(
        &self,
        leaf: &ScoredTerm<'_>,
        section: &SectionWords<'_>,
        index: usize,
    ) -> Option<f32> {
        let term = leaf.leaf.term;
        let text = section.texts.get(index)?;
        let mut count = occurrences(term, term.words.len(), text);
        if count == 0 {
            return None;
        }
        if term.is_prefix {
            let (_, before) = term.words.split_last()?;
            if before.is_empty() {
                return Some(1.0);
            }
            // The score is that of the words before the prefix.
            count = occurrences(term, before.len(), text);
        }
        let last = term.words.len() - usize::from(term.is_prefix);
        let is_compound = term.single_word().is_some() && !term.is_prefix;
        let rarities = term.words.iter().take(last).map(|(_, word)| {
            self.rarity_of(|section| {
                section.texts.get(index).is_some_and(|text| text.iter().any(|(it, _)| it == word))
            })
        });
        let average = self.averages.get(index).copied().unwrap_or(1.0);
        let tokens = score::number(score::kept_length(text.len()));
        let rarity = if is_compound {
            let all = self.counted().count() as u64;
            score::of_compound(all, leaf.rarity.exact, term.words.len())
        } else {
            rarities.sum()
        };
        Some(score::of_phrase(rarity, score::number(count as u64), tokens, average))
    }

    fn compare_sequence(
        &self,
        leaf: &ScoredTerm<'_>,
        section: &SectionWords<'_>,
        found: &mut TermMatch,
    ) {
        let term = leaf.leaf.term;
        match term.field {
            Some(TextField::Tags) => {
                let tag = term.text.trim_start_matches('#');
                found.is_match = section.tags.iter().any(|it| it == tag);
                found.score = self.of_tag(leaf.rarity.exact);
            }
            Some(TextField::Path) => {
                let has = |word: &str| {
                    section.path.iter().any(|found| {
                        found == word
                            || term.is_prefix && term.words.len() == 1 && found.starts_with(word)
                    })
                };
                found.is_match = term.words.iter().all(|(_, word)| has(word));
                found.score = self.of_path(term);
            }
            Some(TextField::Meta) => {
                let score = self.of_text(leaf, section, 1).filter(|_| section.is_front_matter);
                found.is_match = score.is_some();
                found.score = score::META_WEIGHT * score.unwrap_or(0.0);
            }
            _ => {
                let texts = (0..TEXTS).filter(|index| term.takes_text(*index));
                for index in texts {
                    if let Some(score) = self.of_text(leaf, section, index) {
                        let (weight, _) = TEXT_WEIGHTS.get(index).copied().unwrap_or_default();
                        found.score += weight * score;
                        found.is_match = true;
                    }
                }
            }
        }
        if !found.is_match {
            found.score = 0.0;
        }
    }
}
