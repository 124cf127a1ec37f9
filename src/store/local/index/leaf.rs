//! One term of a query in an index: its inverse document frequency and the sections that contain
//! it, by field.
//!
//! A word with a stem is looked up together with all words in the index that have the same stem.
//! Invariant: the sections that a leaf matches contain the term in their own text, or in the field
//! that the term names.

use std::ops::Bound;

use rustc_hash::FxHashMap;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::{SegmentPostings, TermInfo};
use tantivy::query::{
    BooleanQuery, ConstScoreQuery, EnableScoring, InvertedIndexRangeQuery, PhrasePrefixQuery,
    PhraseQuery, Query, Scorer, TermQuery, Weight,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{Score, Searcher, SegmentReader, Term};

use super::Usable;
use super::population::{Population, Statistics};
use super::schema::Fields;
use crate::terms::score::{
    self, CODE_WEIGHT, LENGTH, META_WEIGHT, PARTS_WEIGHT, PATH_WEIGHT, Rarity, TITLE_LENGTH,
    TITLE_WEIGHT, number,
};
use crate::terms::{FRONT_MATTER, QueryTerm, StemClass, TextField};

/// The maximum number of terms with a prefix that are counted. An exact count is not needed for the
/// document frequency.
const MOST_COUNTED: usize = 1000;

/// The weight of a word in a text of each length. The index is the length as tantivy encodes it.
type WeightsByLength = Box<[Score; 256]>;

/// Returns the weights of a word in texts of each length, if texts have `average` tokens.
fn weights_by_length(weight: Score, influence: Score, average: Score) -> WeightsByLength {
    let mut weights = Box::new([0.0; 256]);
    for (id, value) in (0_u8..=255).zip(weights.iter_mut()) {
        let tokens = number(u64::from(FieldNormReader::id_to_fieldnorm(id)));
        *value = score::by_length(weight, influence, tokens, average);
    }
    weights
}

/// A field and the weight of a word in it.
struct WeighedField {
    field: Field,
    weight: Score,
    /// The weights by length; `None` if the index does not store lengths of the field.
    by_length: Option<WeightsByLength>,
}

/// The fields in which words are looked up: title, body, code, parts of identifiers, path.
pub(super) struct FieldTable {
    fields: Fields,
    weighed: [WeighedField; 5],
    /// The mean number of tokens in the code of a section.
    code_average: Score,
    /// The sections among which words are counted.
    pub(super) population: Population,
}

impl FieldTable {
    /// Creates the table for what `searcher` sees. Words are counted among the sections in `folders`, if there are any.
    pub(super) fn of(searcher: &Searcher, fields: Fields, folders: &[String]) -> Usable<Self> {
        let sections = searcher.num_docs();
        let average = |field| -> Usable<Score> {
            let mut tokens = 0;
            for segment in searcher.segment_readers() {
                tokens += segment.inverted_index(field)?.total_num_tokens();
            }
            Ok((number(tokens) / number(sections.max(1))).max(1.0))
        };
        let text = |field, weight, influence, average| WeighedField {
            field,
            weight,
            by_length: Some(weights_by_length(weight, influence, average)),
        };
        let plain = |field, weight| WeighedField { field, weight, by_length: None };
        let code_average = average(fields.code)?;
        let weighed = [
            text(fields.title, TITLE_WEIGHT, TITLE_LENGTH, average(fields.title)?),
            text(fields.body, 1.0, LENGTH, average(fields.body)?),
            text(fields.code, CODE_WEIGHT, LENGTH, code_average),
            plain(fields.parts, PARTS_WEIGHT),
            plain(fields.path, PATH_WEIGHT),
        ];
        let population = Population::of(searcher, fields, folders)?;
        Ok(Self { fields, weighed, code_average, population })
    }

    /// Returns the inverse document frequency of a term that is in this many sections.
    fn rarity(&self, sections: u64) -> Score {
        score::rarity(self.population.sections, sections)
    }

    /// Returns the inverse document frequencies of a word whose posting lists are `found`, by segment, and its weights in
    /// code.
    fn rarity_of_word(
        &self,
        searcher: &Searcher,
        found: &[Vec<MatchedWord>],
    ) -> Usable<(Rarity, WeightsByLength)> {
        let (mut exact, mut stemmed) = ([0; 3], [0; 3]);
        for (ordinal, (segment, found)) in searcher.segment_readers().iter().zip(found).enumerate()
        {
            for word in found {
                let (Some(weighed), Some(stemmed), Some(exact)) = (
                    self.weighed.get(word.field),
                    stemmed.get_mut(word.field),
                    exact.get_mut(word.field),
                ) else {
                    continue;
                };
                let having = self.population.having(ordinal, segment, weighed.field, &word.info)?;
                *stemmed += having;
                *exact += if word.is_exact { having } else { 0 };
            }
        }
        let rarity = Rarity {
            exact: self.rarity(Self::most(&exact)),
            stemmed: self.rarity(Self::most(&stemmed)),
        };
        let average = score::code_average(self.code_average, stemmed);
        Ok((rarity, weights_by_length(CODE_WEIGHT, LENGTH, average)))
    }

    /// Remembers how many sections contain a word, for the phrases that contain it. `found` are its posting lists, by
    /// segment.
    pub(super) fn remember(&mut self, word: &str, found: &[Vec<MatchedWord>]) {
        // In folders it would have to be counted.
        if self.population.within.is_some() {
            return;
        }
        for (index, weighed) in self.weighed.iter().enumerate() {
            if weighed.by_length.is_some() {
                let lists = found.iter().flatten();
                let lists = lists.filter(|word| word.is_exact && word.field == index);
                let count = lists.map(|word| u64::from(word.info.doc_freq)).sum();
                self.population.remember(Term::from_field_text(weighed.field, word), count);
            }
        }
    }

    /// Estimates the number of sections that contain a term from the numbers for title, body and code: the largest.
    fn most(counts: &[u64; 3]) -> u64 {
        counts.iter().copied().max().unwrap_or(0)
    }
}

/// The posting list of a word that matches a term.
pub(super) struct MatchedWord {
    /// Index of the field in [`FieldTable::weighed`].
    field: usize,
    /// Whether this is the word in the query, and not another word with the same stem.
    is_exact: bool,
    /// Whether the list only increases the score and does not make a match.
    is_context: bool,
    info: TermInfo,
}

/// A term of a query.
pub(super) struct QueryTermState {
    /// The posting lists of the words, by segment.
    found: Vec<Vec<MatchedWord>>,
    /// Phrases and prefixes, which tantivy matches, with their weights.
    queries: Vec<(Box<dyn Weight>, Score)>,
    /// Its inverse document frequencies.
    pub(super) rarity: Rarity,
    /// The weights of a word in code, if it is one.
    in_code: Option<WeightsByLength>,
}

/// Returns the posting lists of each of `terms` in `segments`, by segment; none of a term that is no single word.
/// If there are several terms, all are passed by the first, as [`is_passed_by`] says, so they are single words of one field.
pub(super) fn look_up(
    segments: &[SegmentReader],
    table: &FieldTable,
    terms: &[&QueryTerm],
) -> Usable<Vec<Vec<Vec<MatchedWord>>>> {
    let mut words: Vec<WordLookup<'_>> =
        terms.iter().filter_map(|term| WordLookup::of(term)).collect();
    let (Some(first), false) = (terms.first(), words.is_empty()) else {
        return Ok(terms.iter().map(|_| Vec::new()).collect());
    };
    for segment in segments {
        for word in &mut words {
            word.found.push(Vec::new());
        }
        for (index, weighed) in table.weighed.iter().enumerate() {
            let is_context = weighed.field == table.fields.path && first.field.is_none();
            let mut wanting: Vec<_> =
                words.iter_mut().filter(|word| word.is_wanted_in(weighed, table)).collect();
            if !wanting.is_empty() {
                each_word(segment, weighed.field, first, terms.len() > 1, |key, info| {
                    for word in &mut wanting {
                        word.take(key, index, is_context, info);
                    }
                })?;
            }
        }
    }
    Ok(words.into_iter().map(|word| word.found).collect())
}

/// A word that is being looked up.
struct WordLookup<'a> {
    term: &'a QueryTerm,
    word: &'a str,
    found: Vec<Vec<MatchedWord>>,
    /// Whether the class of the term has a word. Fields and segments have the same words, and stemming takes longer than
    /// to look at a table.
    is_in_class: FxHashMap<Box<[u8]>, bool>,
}

impl<'a> WordLookup<'a> {
    /// Returns `None` if `term` is not a single word.
    fn of(term: &'a QueryTerm) -> Option<Self> {
        Some(Self {
            term,
            word: term.single_word()?,
            found: Vec::new(),
            is_in_class: FxHashMap::default(),
        })
    }

    /// Returns whether the word is looked up in a field.
    fn is_wanted_in(&self, weighed: &WeighedField, table: &FieldTable) -> bool {
        match self.term.field {
            // A compound has no parts.
            None => self.term.compound.is_none() || weighed.by_length.is_some(),
            Some(field) => table.field(field) == Some(weighed.field),
        }
    }

    /// Takes a word of a field, by its index in [`FieldTable::weighed`], if it matches the term.
    fn take(&mut self, key: &[u8], index: usize, is_context: bool, info: &TermInfo) {
        let is_exact = key == self.word.as_bytes();
        if is_exact || self.has_in_class(key) {
            self.add(index, is_exact, is_context, info);
        }
    }

    fn has_in_class(&mut self, key: &[u8]) -> bool {
        let Some(class) = self.term.stems.as_ref().filter(|class| class.may_have(key)) else {
            return false;
        };
        if let Some(known) = self.is_in_class.get(key) {
            return *known;
        }
        let has = std::str::from_utf8(key).is_ok_and(|key| class.has(key));
        self.is_in_class.insert(key.into(), has);
        has
    }

    fn add(&mut self, index: usize, is_exact: bool, is_context: bool, info: &TermInfo) {
        if let Some(found) = self.found.last_mut() {
            found.push(MatchedWord { field: index, is_exact, is_context, info: info.clone() });
        }
    }
}

impl QueryTermState {
    /// Returns the state of a term whose posting lists are `found`, by segment; empty if it is no single word.
    pub(super) fn of(
        searcher: &Searcher,
        table: &FieldTable,
        term: &QueryTerm,
        found: Vec<Vec<MatchedWord>>,
    ) -> Usable<Self> {
        if term.single_word().is_none() {
            return Self::of_query(searcher, table, term);
        }
        let (rarity, in_code) = table.rarity_of_word(searcher, &found)?;
        // The words of a compound are also searched next to each other, where it is not written as one.
        let sections = table.population.sections;
        let part = || score::having_part(sections, rarity.exact, term.words.len());
        let having = (!term.is_prefix).then(part);
        let queries = table.weights(searcher, term, having)?;
        Ok(Self { queries, rarity, found, in_code: Some(in_code) })
    }

    /// Returns the state of a term that tantivy matches.
    fn of_query(searcher: &Searcher, table: &FieldTable, term: &QueryTerm) -> Usable<Self> {
        let queries = table.weights(searcher, term, None)?;
        let of_query = table.rarity_of_query(searcher, term)?;
        let rarity = Rarity { exact: of_query, stemmed: of_query };
        Ok(Self { found: Vec::new(), queries, rarity, in_code: None })
    }

    /// Opens the postings of the term in a segment.
    pub(super) fn in_segment<'a>(
        &'a self,
        table: &'a FieldTable,
        ordinal: usize,
        segment: &SegmentReader,
    ) -> Usable<SegmentLeaf<'a>> {
        let found = self.found.get(ordinal).map_or(&[][..], Vec::as_slice);
        // The postings of a word hold a decoded block, so the vector should not grow.
        let mut words = Vec::with_capacity(found.len());
        for found in found {
            let Some(weighed) = table.weighed.get(found.field) else { continue };
            let index = segment.inverted_index(weighed.field)?;
            let option = IndexRecordOption::WithFreqs;
            let by_length = match &self.in_code {
                Some(in_code) if weighed.field == table.fields.code => Some(in_code),
                _ => weighed.by_length.as_ref(),
            };
            let lengths = match by_length {
                Some(weights) => Some((segment.get_fieldnorms_reader(weighed.field)?, &**weights)),
                None => None,
            };
            words.push(WordPostings {
                postings: index.read_postings_from_terminfo(&found.info, option)?,
                lengths,
                weight: weighed.weight,
                is_exact: found.is_exact,
                is_context: found.is_context,
            });
        }
        let mut sets = Vec::new();
        for (query, weight) in &self.queries {
            sets.push((query.scorer(segment, 1.0)?, *weight));
        }
        Ok(SegmentLeaf { words, sets })
    }
}

/// A term in a segment.
pub(super) struct SegmentLeaf<'a> {
    pub(super) words: Vec<WordPostings<'a>>,
    /// Phrases and prefixes, which tantivy matches, with their weights.
    pub(super) sets: Vec<(Box<dyn Scorer>, Score)>,
}

/// The postings of a word in a segment.
pub(super) struct WordPostings<'a> {
    pub(super) postings: SegmentPostings,
    /// The length of each text, and the weight of a word by length.
    pub(super) lengths: Option<(FieldNormReader, &'a [Score; 256])>,
    /// The weight of a word if lengths are not stored.
    pub(super) weight: Score,
    /// Whether this is the word in the query, and not another word with the same stem.
    pub(super) is_exact: bool,
    /// Whether the list only increases the score and does not make a match.
    pub(super) is_context: bool,
}

/// A word without other forms is looked up with others that begin with it if it has at least this many bytes. Fewer words
/// begin with a long word, and all of them are read.
const FEW_BEGIN_BYTES: usize = 6;

/// Returns the prefix of all words that are read for `term`, a single word.
fn prefix<'a>(term: &'a QueryTerm, word: &'a str) -> &'a str {
    term.stems.as_ref().map_or(word, StemClass::prefix)
}

/// Returns whether the words of `other` are in the range that [`each_word`] reads for `term` if it is looked up with others.
pub(super) fn is_passed_by(other: &QueryTerm, term: &QueryTerm) -> bool {
    let (Some(word), Some(other_word)) = (term.single_word(), other.single_word()) else {
        return false;
    };
    let first = prefix(term, word);
    let is_selective = term.stems.is_some() || first.len() >= FEW_BEGIN_BYTES;
    term.field == other.field && is_selective && prefix(other, other_word).starts_with(first)
}

/// Calls `visit` with the word of `term` in a field of `segment`. If the term has a stem or is looked up with others, calls
/// it with all words that begin like the term.
fn each_word(
    segment: &SegmentReader,
    field: Field,
    term: &QueryTerm,
    has_others: bool,
    mut visit: impl FnMut(&[u8], &TermInfo),
) -> Usable<()> {
    let index = segment.inverted_index(field)?;
    let Some(word) = term.single_word() else { return Ok(()) };
    if term.stems.is_none() && !has_others {
        if let Some(info) = index.terms().get(word)? {
            visit(word.as_bytes(), &info);
        }
        return Ok(());
    }
    let from = prefix(term, word);
    let stream = index.terms().range().ge(from).lt(format!("{from}{}", char::MAX)).into_stream();
    let mut stream = stream?;
    while stream.advance() {
        visit(stream.key(), stream.value());
    }
    Ok(())
}

fn term_in(field: Field, word: &str) -> Box<dyn Query> {
    let term = Term::from_field_text(field, word);
    Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs))
}

impl FieldTable {
    /// Returns the field of the index that `field` names; `None` for tags and front matter, which
    /// have their own queries.
    fn field(&self, field: TextField) -> Option<Field> {
        Some(match field {
            TextField::Title => self.fields.title,
            TextField::Body => self.fields.body,
            TextField::Code => self.fields.code,
            TextField::Path => self.fields.path,
            TextField::Tags | TextField::Meta => return None,
        })
    }

    /// Returns the queries with which tantivy matches `term`, and the weights of their scores.
    /// `path_weight` is the score of several words in a path.
    fn queries(&self, term: &QueryTerm, path_weight: Score) -> Vec<(Box<dyn Query>, Score)> {
        let Fields { body, path, tags, scope, .. } = self.fields;
        let words = |field| {
            let words = term.words.iter().map(|(_, word)| term_in(field, word));
            Box::new(BooleanQuery::intersection(words.collect())) as Box<dyn Query>
        };
        match term.field {
            Some(TextField::Tags) => {
                vec![(term_in(tags, term.text.trim_start_matches('#')), 1.0)]
            }
            Some(TextField::Meta) => {
                let text = sequence(body, term).unwrap_or_else(|| words(body));
                // Only the text scores.
                let scope = ConstScoreQuery::new(term_in(scope, FRONT_MATTER), 0.0);
                let within = vec![Box::new(scope) as Box<dyn Query>, text];
                vec![(Box::new(BooleanQuery::intersection(within)), META_WEIGHT)]
            }
            // The path is indexed without positions.
            Some(TextField::Path) if term.words.len() > 1 => {
                vec![(Box::new(ConstScoreQuery::new(words(path), 1.0)), path_weight)]
            }
            Some(TextField::Path) => {
                sequence(path, term).map(|query| (query, 1.0)).into_iter().collect()
            }
            named => {
                let named = named.and_then(|field| self.field(field));
                let texts = self.weighed.iter().filter(|weighed| weighed.by_length.is_some());
                texts
                    .filter(|weighed| named.is_none_or(|named| named == weighed.field))
                    .filter_map(|weighed| Some((sequence(weighed.field, term)?, weighed.weight)))
                    .collect()
            }
        }
    }

    /// Prepares the queries with which tantivy matches `term`. Each of its words counts as one that is in `having` sections,
    /// if given.
    fn weights(
        &self,
        searcher: &Searcher,
        term: &QueryTerm,
        having: Option<u64>,
    ) -> Usable<Vec<(Box<dyn Weight>, Score)>> {
        let statistics = Statistics { searcher, population: &self.population, having };
        let scoring = EnableScoring::enabled_from_statistics_provider(&statistics, searcher);
        let weight =
            |(query, weight): (Box<dyn Query>, Score)| Ok((query.weight(scoring)?, weight));
        let mut path_weight = 0.0;
        if term.words.len() > 1 && term.field == Some(TextField::Path) {
            for (_, word) in &term.words {
                let word = Term::from_field_text(self.fields.path, word);
                path_weight += self.rarity(self.population.having_term(searcher, &word)?);
            }
        }
        self.queries(term, path_weight).into_iter().map(weight).collect()
    }

    /// Returns the sum of the inverse document frequencies of the words of a phrase. For a prefix,
    /// all words that begin with it are counted.
    fn rarity_of_query(&self, searcher: &Searcher, term: &QueryTerm) -> Usable<Score> {
        let Fields { title, body, code, tags, .. } = self.fields;
        if term.field == Some(TextField::Tags) {
            let tag = Term::from_field_text(tags, term.text.trim_start_matches('#'));
            return Ok(self.rarity(self.population.having_term(searcher, &tag)?));
        }
        let mut sum = 0.0;
        for (index, (_, word)) in term.words.iter().enumerate() {
            let mut counts = [0; 3];
            for (count, field) in counts.iter_mut().zip([title, body, code]) {
                *count = if term.is_prefix && index + 1 == term.words.len() {
                    self.count_beginning(searcher, field, word)?
                } else {
                    let term = Term::from_field_text(field, word);
                    self.population.having_term(searcher, &term)?
                };
            }
            sum += self.rarity(Self::most(&counts));
        }
        Ok(sum)
    }

    /// Estimates the number of sections that contain a word that begins with `word`.
    fn count_beginning(&self, searcher: &Searcher, field: Field, word: &str) -> Usable<u64> {
        let mut count = 0;
        for (ordinal, segment) in searcher.segment_readers().iter().enumerate() {
            let index = segment.inverted_index(field)?;
            let stream = index.terms().range().ge(word).le(beyond(word)).into_stream();
            let mut stream = stream?;
            for _ in 0..MOST_COUNTED {
                if !stream.advance() {
                    break;
                }
                count += self.population.having(ordinal, segment, field, stream.value())?;
            }
        }
        Ok(count)
    }
}

/// Returns a text that is not less than any word that begins with `word`.
fn beyond(word: &str) -> String {
    format!("{word}\u{10FFFF}")
}

/// Returns the query for a phrase or a prefix in `field`; `None` if `term` is a single word.
fn sequence(field: Field, term: &QueryTerm) -> Option<Box<dyn Query>> {
    let term_of = |word: &str| Term::from_field_text(field, word);
    match term.words.as_slice() {
        [(_, word)] if term.is_prefix => Some(Box::new(InvertedIndexRangeQuery::new(
            Bound::Included(term_of(word)),
            Bound::Included(term_of(&beyond(word))),
        ))),
        [] | [_] => None,
        [(first, first_word), ..] => {
            let words = term.words.iter();
            let words: Vec<_> = words.map(|(place, word)| (place - first, term_of(word))).collect();
            Some(if term.is_prefix {
                // tantivy takes the score of a phrase that ends in a prefix from all sections, whatever is counted, and
                // computes none if one word is before the prefix.
                let before: Box<dyn Query> = match words.split_last() {
                    Some((_, before)) if before.len() > 1 => {
                        Box::new(PhraseQuery::new_with_offset(before.to_vec()))
                    }
                    _ => term_in(field, first_word),
                };
                let phrase = Box::new(PhrasePrefixQuery::new_with_offset(words));
                let matching: Box<dyn Query> = Box::new(ConstScoreQuery::new(phrase, 0.0));
                Box::new(BooleanQuery::intersection(vec![matching, before]))
            } else {
                Box::new(PhraseQuery::new_with_offset_and_slop(words, term.slop))
            })
        }
    }
}
