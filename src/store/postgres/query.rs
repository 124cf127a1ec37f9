//! The lists that a word query needs, and the sections in which each of its terms occurs.
//!
//! Invariant: the sections that contain a term are those that the full-text index of a store file finds, and
//! its scores there are the same.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::postings::{Entry, decode};
use super::segment::{tag_term, word_term};
use crate::store::SectionId;
use crate::terms::score::{self, Rarity};
use crate::terms::{QueryTerm, TEXT_WEIGHTS, TEXTS, TermMatch, TextField};

/// The numbers that scores need, of the whole index but for [`Self::counted`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct IndexTotals {
    /// The number of sections.
    pub(super) sections: u64,
    /// The number of sections among which words are counted.
    pub(super) counted: u64,
    /// The numbers of words in all titles, bodies and code blocks.
    pub(super) tokens: [u64; TEXTS],
    /// The number of tags of all sections.
    pub(super) tags: u64,
}

impl IndexTotals {
    /// Returns the mean number of words of the text with this index.
    fn average(&self, index: usize) -> f32 {
        let tokens = self.tokens.get(index).copied().unwrap_or(0);
        (score::number(tokens) / score::number(self.sections.max(1))).max(1.0)
    }

    fn rarity(&self, having: u64) -> f32 {
        score::rarity(self.counted, having)
    }
}

/// The position of a section in every list.
pub(super) fn order(place: SectionId) -> (i64, usize) {
    (place.document, if place.is_front_matter() { usize::MAX } else { place.section })
}

/// A range of stored terms: from the first, to before the second.
pub(super) type TermRange = (Vec<u8>, Vec<u8>);

/// The range of the texts with this beginning.
pub(super) fn beginning(text: &str) -> TermRange {
    // No UTF-8 text contains this byte.
    (text.as_bytes().to_vec(), [text.as_bytes(), &[0xff]].concat())
}

/// Returns the stored terms that a term of a query names.
pub(super) fn named(term: &QueryTerm) -> Vec<Vec<u8>> {
    if term.field == Some(TextField::Tags) {
        return vec![tag_term(term.text.trim_start_matches('#'))];
    }
    let words = term.words.iter().map(|(_, word)| word.as_str());
    term.single_word().into_iter().chain(words).map(word_term).collect()
}

/// Returns the range of further stored terms in which a term of a query may occur, if any.
pub(super) fn range(term: &QueryTerm) -> Option<TermRange> {
    match (&term.stems, term.words.last()) {
        _ if term.field == Some(TextField::Tags) => None,
        (Some(class), _) if term.single_word().is_some() => Some(beginning(class.prefix())),
        (_, Some((_, word))) if term.is_prefix => Some(beginning(word)),
        _ => None,
    }
}

/// Returns whether a stored term in the range of a term of a query is one that it means.
pub(super) fn is_meant(term: &QueryTerm, stored: &[u8]) -> bool {
    let Ok(stored) = std::str::from_utf8(stored) else { return false };
    match (&term.stems, term.words.last()) {
        (Some(class), _) if term.single_word().is_some() => class.has(stored),
        (_, Some((_, word))) => term.is_prefix && stored.starts_with(word.as_str()),
        _ => false,
    }
}

/// The list of a stored term.
#[derive(Debug, Default)]
pub(super) struct StoredList {
    /// The entries without positions.
    entries: Vec<Entry>,
    /// The lists of all segments as they are stored, with the documents that are gone.
    encoded: Vec<Vec<u8>>,
}

impl StoredList {
    /// Adds the list of a segment; `None` if it is damaged.
    pub(super) fn add(&mut self, encoded: Vec<u8>) -> Option<()> {
        decode(&encoded, |_| false, &mut self.entries)?;
        self.encoded.push(encoded);
        Some(())
    }

    /// Keeps the entries of the documents that `takes` accepts.
    pub(super) fn retain(&mut self, takes: impl Fn(i64) -> bool) {
        self.entries.retain(|entry| takes(entry.place.document));
    }
}

/// The lists of the stored terms of a query.
pub(super) struct Lists {
    pub(super) lists: BTreeMap<Vec<u8>, StoredList>,
    pub(super) totals: IndexTotals,
}

/// Whether an entry has the word in the text with this index.
fn is_in(entry: &Entry, index: usize) -> bool {
    entry.texts.get(index).is_some_and(|text| text.count > 0)
}

impl Lists {
    fn list(&self, term: &[u8]) -> &[Entry] {
        self.lists.get(term).map(|list| list.entries.as_slice()).unwrap_or_default()
    }

    /// Returns the lists of all words that a single word or a prefix means; the first says whether the list is
    /// that of the word as it is written.
    fn meant<'a>(&'a self, term: &QueryTerm, word: &str) -> Vec<(bool, &'a StoredList)> {
        let written = word_term(word);
        let mut meant: Vec<(bool, &StoredList)> =
            self.lists.get(&written).map(|list| (true, list)).into_iter().collect();
        let has_others = term.stems.is_some() || term.single_word().is_none_or(|own| own != word);
        if let Some((from, to)) = range(term).filter(|_| has_others) {
            let range = self.lists.range(from..to);
            let others = range.filter(|(stored, _)| **stored != written && is_meant(term, stored));
            meant.extend(others.map(|(_, list)| (false, list)));
        }
        meant
    }

    /// Returns the lists of the word with this index of a phrase.
    fn of_word<'a>(&'a self, term: &QueryTerm, index: usize) -> Vec<&'a StoredList> {
        let Some((_, word)) = term.words.get(index) else { return Vec::new() };
        if term.is_prefix && index + 1 == term.words.len() {
            return self.meant(term, word).into_iter().map(|(_, list)| list).collect();
        }
        self.lists.get(&word_term(word)).into_iter().collect()
    }

    /// Returns the numbers of entries in `lists`, by text; 0 for a text that `takes` does not accept.
    fn having(lists: &[&StoredList], takes: impl Fn(usize) -> bool) -> [u64; TEXTS] {
        std::array::from_fn(|index| {
            let entries = lists.iter().flat_map(|list| &list.entries);
            entries.filter(|entry| takes(index) && is_in(entry, index)).count() as u64
        })
    }

    /// Returns the inverse document frequency of what is in the largest of these numbers of sections.
    fn rarity_of_most(&self, having: [u64; TEXTS]) -> f32 {
        self.totals.rarity(having.into_iter().max().unwrap_or(0))
    }

    /// Returns the inverse document frequencies of `term`: those of a word in the texts in which it is looked up, or the
    /// sum for the words of a phrase in any text.
    pub(super) fn rarity(&self, term: &QueryTerm) -> Rarity {
        if let Some(word) = term.single_word() {
            let meant = self.meant(term, word);
            let exact = meant.iter().filter(|(is_exact, _)| *is_exact).map(|(_, list)| *list);
            let exact: Vec<&StoredList> = exact.collect();
            let stemmed: Vec<&StoredList> = meant.iter().map(|(_, list)| *list).collect();
            let takes = |index| term.takes_text(index);
            return Rarity {
                exact: self.rarity_of_most(Self::having(&exact, takes)),
                stemmed: self.rarity_of_most(Self::having(&stemmed, takes)),
            };
        }
        let sum = if term.field == Some(TextField::Tags) {
            let list = named(term).first().map_or(0, |tag| self.list(tag).len());
            self.totals.rarity(list as u64)
        } else {
            let words = (0..term.words.len()).map(|index| {
                let lists = self.of_word(term, index);
                self.rarity_of_most(Self::having(&lists, |_| true))
            });
            words.sum()
        };
        Rarity { exact: sum, stemmed: sum }
    }

    /// Returns the sections that contain `term`, in order.
    pub(super) fn matches(&self, term: &QueryTerm) -> Vec<(SectionId, TermMatch)> {
        match term.single_word() {
            // The words of a compound are also searched next to each other, where it is not written as one.
            Some(word) if term.words.len() > 1 || term.is_prefix => {
                let single = self.of_single(term, word);
                let written = single.iter().filter(|(_, found)| found.is_match);
                let written: HashSet<SectionId> = written.map(|(place, _)| *place).collect();
                let mut sequence = self.of_sequence(term);
                sequence.retain(|(place, _)| !written.contains(place));
                joined([single, sequence].concat())
            }
            Some(word) => self.of_single(term, word),
            None => self.of_sequence(term),
        }
    }

    fn of_single(&self, term: &QueryTerm, word: &str) -> Vec<(SectionId, TermMatch)> {
        let meant = self.meant(term, word);
        let lists: Vec<&StoredList> = meant.iter().map(|(_, list)| *list).collect();
        let having = Self::having(&lists, |index| term.takes_text(index));
        let [title, body, code] = [0, 1, 2].map(|index| self.totals.average(index));
        let averages = [title, body, score::code_average(code, having)];
        let names_path = term.field == Some(TextField::Path);
        let mut found: Vec<(SectionId, TermMatch)> = Vec::new();
        for (is_exact, list) in meant {
            for entry in &list.entries {
                let mut weight = 0.0;
                let mut is_match = false;
                for (index, text) in entry.texts.iter().enumerate() {
                    if text.count == 0 || !term.takes_text(index) {
                        continue;
                    }
                    let (of_text, influence) = TEXT_WEIGHTS.get(index).copied().unwrap_or_default();
                    let average = averages.get(index).copied().unwrap_or(1.0);
                    let kept = usize::try_from(text.tokens).unwrap_or(usize::MAX);
                    let tokens = score::number(score::kept_length(kept));
                    let count = score::number(u64::from(text.count));
                    weight += count * score::by_length(of_text, influence, tokens, average);
                    is_match = true;
                }
                if entry.is_part && term.takes_parts() {
                    weight += score::PARTS_WEIGHT;
                    is_match = true;
                }
                let is_context = entry.is_path && term.takes_path();
                if is_context {
                    weight += score::PATH_WEIGHT;
                    is_match |= names_path;
                }
                if is_match || is_context {
                    let exact = if is_exact { weight } else { 0.0 };
                    let found_here =
                        TermMatch { is_match, is_covered: true, exact, all: weight, score: 0.0 };
                    found.push((entry.place, found_here));
                }
            }
        }
        joined(found)
    }

    fn of_sequence(&self, term: &QueryTerm) -> Vec<(SectionId, TermMatch)> {
        let found = |score: f32| TermMatch {
            is_match: true,
            is_covered: true,
            score,
            ..TermMatch::default()
        };
        match term.field {
            Some(TextField::Tags) => {
                let score = self.of_tag(term);
                let list = named(term).first().map(|tag| self.list(tag)).unwrap_or_default();
                joined(list.iter().map(|entry| (entry.place, found(score))).collect())
            }
            Some(TextField::Path) => {
                let score = self.of_path(term);
                let places = self.places(term, |entry| entry.is_path);
                places.into_iter().map(|(place, _)| (place, found(score))).collect()
            }
            Some(TextField::Meta) => {
                let rarities = self.rarities(term);
                let places = self.places(term, |entry| is_in(entry, 1));
                let within = places.into_iter().filter(|(place, _)| place.is_front_matter());
                let scored = within.filter_map(|(place, entries)| {
                    let score = self.of_text(term, &entries, 1, rarities)?;
                    Some((place, found(score::META_WEIGHT * score)))
                });
                scored.collect()
            }
            _ => {
                let rarities = self.rarities(term);
                let takes = |entry: &Entry| {
                    (0..TEXTS).any(|index| term.takes_text(index) && is_in(entry, index))
                };
                let scored = self.places(term, takes).into_iter().filter_map(|(place, entries)| {
                    let scores = (0..TEXTS).filter(|index| term.takes_text(*index));
                    let scores: Vec<f32> = scores
                        .filter_map(|index| {
                            let (weight, _) = TEXT_WEIGHTS.get(index)?;
                            Some(weight * self.of_text(term, &entries, index, rarities)?)
                        })
                        .collect();
                    (!scores.is_empty()).then(|| (place, found(scores.iter().sum())))
                });
                scored.collect()
            }
        }
    }

    /// Returns the score of a tag in a section that has it.
    fn of_tag(&self, term: &QueryTerm) -> f32 {
        let average = score::number(self.totals.tags) / score::number(self.totals.sections.max(1));
        score::of_phrase(self.rarity(term).exact, 1.0, 1.0, average)
    }

    /// Returns the score of several words in a path, or of the beginning of a word.
    fn of_path(&self, term: &QueryTerm) -> f32 {
        if term.words.len() == 1 {
            return 1.0;
        }
        let words = (0..term.words.len()).map(|index| {
            let entries = self.of_word(term, index).into_iter().flat_map(|list| &list.entries);
            self.totals.rarity(entries.filter(|entry| entry.is_path).count() as u64)
        });
        words.sum()
    }

    /// Returns, for each text, the sum of the inverse document frequencies of the words of a phrase before its
    /// prefix.
    fn rarities(&self, term: &QueryTerm) -> [f32; TEXTS] {
        if term.single_word().is_some() && !term.is_prefix {
            let rarity = self.rarity(term).exact;
            return [score::of_compound(self.totals.counted, rarity, term.words.len()); TEXTS];
        }
        let whole = term.words.len() - usize::from(term.is_prefix).min(term.words.len());
        [0, 1, 2].map(|text| {
            let words = (0..whole).map(|index| {
                let list = self.of_word(term, index).into_iter().flat_map(|list| &list.entries);
                self.totals.rarity(list.filter(|entry| is_in(entry, text)).count() as u64)
            });
            words.sum()
        })
    }

    /// Returns the sections that have all words of `term` in entries that `takes` accepts, in order, each with
    /// the entries of each word.
    fn places(
        &self,
        term: &QueryTerm,
        takes: impl Fn(&Entry) -> bool,
    ) -> Vec<(SectionId, Vec<Vec<Entry>>)> {
        let mut having: Option<HashSet<SectionId>> = None;
        for index in 0..term.words.len() {
            let entries = self.of_word(term, index).into_iter().flat_map(|list| &list.entries);
            let places = entries.filter(|entry| takes(entry)).map(|entry| entry.place);
            having = Some(match having {
                Some(having) => places.filter(|place| having.contains(place)).collect(),
                None => places.collect(),
            });
        }
        let having = having.unwrap_or_default();
        let empty = || vec![Vec::new(); term.words.len()];
        let mut found: HashMap<SectionId, Vec<Vec<Entry>>> = HashMap::new();
        for index in 0..term.words.len() {
            for encoded in self.of_word(term, index).iter().flat_map(|list| &list.encoded) {
                // The lists were decoded before, so they are whole.
                let mut entries = Vec::new();
                decode(encoded, |place| having.contains(&place), &mut entries);
                for entry in entries.into_iter().filter(|entry| having.contains(&entry.place)) {
                    let words = found.entry(entry.place).or_insert_with(empty);
                    if let Some(word) = words.get_mut(index).filter(|_| takes(&entry)) {
                        word.push(entry);
                    }
                }
            }
        }
        let mut places: Vec<_> = found.into_iter().collect();
        places.sort_by_key(|(place, _)| order(*place));
        places
    }

    /// Returns the score of a phrase or a prefix in the text with this index; `None` if it does not occur.
    fn of_text(
        &self,
        term: &QueryTerm,
        words: &[Vec<Entry>],
        index: usize,
        rarities: [f32; TEXTS],
    ) -> Option<f32> {
        let text = |entry: &Entry| entry.texts.get(index).map(|text| text.tokens);
        let tokens = words.first()?.iter().filter_map(text).max()?;
        let mut count = occurrences(term, words, index);
        if count == 0 {
            return None;
        }
        if term.is_prefix {
            let (_, before) = words.split_last()?;
            if before.is_empty() {
                return Some(1.0);
            }
            // The score is that of the words before the prefix.
            count = occurrences(term, before, index);
        }
        let kept = usize::try_from(tokens).unwrap_or(usize::MAX);
        let tokens = score::number(score::kept_length(kept));
        let rarity = rarities.get(index).copied().unwrap_or(0.0);
        let average = self.totals.average(index);
        Some(score::of_phrase(rarity, score::number(count as u64), tokens, average))
    }
}

/// Adds up what is found in the same section. The result is in order.
fn joined(mut found: Vec<(SectionId, TermMatch)>) -> Vec<(SectionId, TermMatch)> {
    let is_ordered = found.is_sorted_by(|one, other| order(one.0) < order(other.0));
    if is_ordered {
        return found;
    }
    found.sort_by_key(|(place, _)| order(*place));
    found.dedup_by(|(place, next), (kept, sum)| {
        let is_same = place == kept;
        if is_same {
            sum.is_match |= next.is_match;
            sum.exact += next.exact;
            sum.all += next.all;
            sum.score += next.score;
        }
        is_same
    });
    found
}

/// Returns the number of places in the text with this index at which the words of `term` begin. `words` are the entries
/// of each.
fn occurrences(term: &QueryTerm, words: &[Vec<Entry>], index: usize) -> usize {
    let positions = |word: &Vec<Entry>| -> HashSet<usize> {
        word.iter().flat_map(|entry| entry.positions(index)).map(|at| *at as usize).collect()
    };
    term.occurrences(&words.iter().map(positions).collect::<Vec<_>>())
}
