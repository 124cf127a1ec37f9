//! Reading the index: ranked sections, and documents by trigrams.
//!
//! Invariant: a reader sees one commit, and tells of it only where the index itself can be read; whether
//! the documents still exist is the caller's to ask of SQLite.

use std::collections::HashSet;
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

use tantivy::collector::{Collector, FilterCollector, SegmentCollector, TopDocs};
use tantivy::columnar::Column;
use tantivy::query::{
    AllQuery, BooleanQuery, BooleanWeight, BoostQuery, EnableScoring, InvertedIndexRangeQuery,
    PhrasePrefixQuery, PhraseQuery, Query, ScoreCombiner, Scorer, TermQuery, Weight,
};
use tantivy::query_grammar::Occur;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, Index, ReloadPolicy, Score, Searcher, SegmentOrdinal, SegmentReader, Term};

use super::check::check_small_files;
use super::document::DocumentText;
use super::flight::Flight;
use super::query::{Clause, WordQuery};
use super::schema::{Fields, PLACE, Place, builder, open, schema};
use super::term::{QueryTerm, TextField};
use super::trigrams::TrigramQuery;
use super::{Stamp, Usable, guarded, stamp_of, trigram_component};
use crate::failpoint::failpoint;
use crate::limits;

/// A section and how well it matches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranked {
    /// Which section.
    pub place: Place,
    /// Its BM25 score.
    pub score: f32,
}

/// Which sections are wanted at all.
pub type PlaceFilter = Arc<dyn Fn(Place) -> bool + Send + Sync>;

/// One commit of an index.
pub(crate) struct Reader {
    searcher: Searcher,
    fields: Fields,
    stamp: Stamp,
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Reader").field("stamp", &self.stamp).finish_non_exhaustive()
    }
}

/// The stamp of the index in `folder`, without opening more of it.
pub(crate) fn stamp(folder: &Path) -> Usable<Stamp> {
    guarded(|| stamp_of(&open(folder)?))
}

impl Reader {
    /// Opens the last commit of the index in `folder`.
    pub(crate) fn open(folder: &Path) -> Usable<Self> {
        guarded(|| {
            let index = open(folder)?;
            let mut stamp = stamp_of(&index)?;
            loop {
                failpoint!(INDEX_STAMP_READ);
                check_small_files(&index, folder)?;
                let reader = Self::of(&index, stamp)?;
                // A writer may have committed between the two: the stamp must be that of what is read.
                stamp = stamp_of(&index)?;
                if stamp == reader.stamp {
                    return Ok(reader);
                }
            }
        })
    }

    /// An index of `documents` in memory.
    pub(crate) fn of_documents(
        documents: impl Iterator<Item = crate::error::Result<(i64, DocumentText)>>,
    ) -> crate::error::Result<Usable<Self>> {
        let mut texts = Vec::new();
        for document in documents {
            texts.push(document?);
        }
        Ok(guarded(|| {
            let fields = schema().1;
            let index = builder().create_in_ram()?;
            let mut writer = index.writer_with_num_threads(1, limits::INDEX_MEMORY_BYTES)?;
            for (id, text) in texts {
                let permit = Flight::default().permit(0);
                for entry in text.entries(id, fields, permit) {
                    writer.add_document(entry)?;
                }
            }
            writer.commit()?;
            Self::of(&index, Stamp::new("", 0, 0))
        }))
    }

    fn of(index: &Index, stamp: Stamp) -> Usable<Self> {
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        Ok(Self { searcher: reader.searcher(), fields: schema().1, stamp })
    }

    /// The stamp of the commit.
    pub(crate) fn stamp(&self) -> &Stamp {
        &self.stamp
    }

    /// The best `count` sections of those that `filter` wants, best first.
    pub(crate) fn ranked(
        &self,
        query: &WordQuery,
        filter: Option<&PlaceFilter>,
        count: usize,
    ) -> Usable<Vec<Ranked>> {
        let Some(clause) = &query.clause else { return Ok(Vec::new()) };
        guarded(|| {
            let query = self.word_query(query, clause);
            let top = TopDocs::with_limit(count.max(1)).order_by_score();
            let found = match filter.cloned() {
                None => self.searcher.search(&query, &top)?,
                Some(filter) => {
                    let wants = move |number: u64| filter(Place::from_number(number));
                    let top = FilterCollector::new(PLACE.to_owned(), wants, top);
                    self.searcher.search(&query, &top)?
                }
            };
            let mut columns: Vec<Option<Column>> = Vec::new();
            columns.resize_with(self.searcher.segment_readers().len(), || None);
            let mut ranked = Vec::with_capacity(found.len());
            for (score, address) in found {
                let Some(column) = columns.get_mut(address.segment_ord as usize) else { continue };
                if column.is_none() {
                    let reader = self.searcher.segment_reader(address.segment_ord);
                    *column = Some(reader.fast_fields().u64(PLACE)?);
                }
                let number = column.as_ref().and_then(|column| column.first(address.doc_id));
                if let Some(number) = number {
                    ranked.push(Ranked { place: Place::from_number(number), score });
                }
            }
            Ok(ranked)
        })
    }

    /// The documents whose trigrams `query` asks for, those maybe among them that were removed.
    pub(crate) fn candidates(&self, query: &TrigramQuery) -> Usable<Vec<i64>> {
        guarded(|| {
            let mut documents = Vec::new();
            for segment in self.searcher.segment_readers() {
                let found = trigram_component::open(segment)?.documents(query)?;
                if found.is_empty() {
                    continue;
                }
                let places = segment.fast_fields().u64(PLACE)?;
                let numbers = found.into_iter().filter_map(|id| places.first(id));
                documents.extend(numbers.map(|number| Place::from_number(number).document));
            }
            Ok(documents)
        })
    }

    /// What must match, and what makes a match better: words in the path and the titles above.
    fn word_query(&self, query: &WordQuery, clause: &Clause) -> BooleanQuery {
        let mut clauses = vec![(Occur::Must, self.clause_query(clause))];
        for term in query.terms().into_iter().filter(|term| term.field.is_none()) {
            for (_, word) in &term.words {
                let path = term_in(self.fields.path, word, IndexRecordOption::Basic);
                clauses.push((Occur::Should, boosted(path, PATH_BOOST)));
                // The words of a phrase count in a title one by one, too.
                if term.words.len() > 1 {
                    let title = term_in(self.fields.title, word, IndexRecordOption::WithFreqs);
                    clauses.push((Occur::Should, title));
                }
            }
        }
        BooleanQuery::new(clauses)
    }

    fn clause_query(&self, clause: &Clause) -> Box<dyn Query> {
        match clause {
            Clause::Term(term) => self.term_query(term),
            Clause::Boost(clause, boost) => boosted(self.clause_query(clause), *boost),
            Clause::Group(clauses) => {
                let is_choice = clauses.iter().all(|(occur, _)| *occur == Occur::Should);
                let clauses = clauses
                    .iter()
                    .map(|(occur, clause)| (*occur, self.clause_query(clause)))
                    .collect();
                if is_choice {
                    Box::new(CoverageQuery(clauses))
                } else {
                    Box::new(BooleanQuery::new(clauses))
                }
            }
        }
    }

    fn term_query(&self, term: &QueryTerm) -> Box<dyn Query> {
        let Fields { title, body, code, parts, path, tags, .. } = self.fields;
        let fields: &[(Field, f32)] = match term.field {
            None => &[(title, TITLE_BOOST), (body, 1.0), (code, CODE_BOOST)],
            Some(TextField::Title) => &[(title, 1.0)],
            Some(TextField::Body) => &[(body, 1.0)],
            Some(TextField::Code) => &[(code, 1.0)],
            // It has no positions.
            Some(TextField::Path) => {
                let words = term.words.iter();
                let words = words.map(|(_, word)| term_in(path, word, IndexRecordOption::Basic));
                return Box::new(BooleanQuery::intersection(words.collect()));
            }
            Some(TextField::Tags) => {
                let tag = term.text.trim_start_matches('#');
                return term_in(tags, tag, IndexRecordOption::Basic);
            }
        };
        let mut queries: Vec<(Occur, Box<dyn Query>)> = Vec::new();
        for &(field, boost) in fields {
            for query in field_queries(field, term) {
                queries.push((Occur::Should, boosted(query, boost)));
            }
        }
        if let (None, [(_, word)], None) = (term.field, term.words.as_slice(), &term.compound) {
            let part = term_in(parts, word, IndexRecordOption::Basic);
            queries.push((Occur::Should, boosted(part, PARTS_BOOST)));
        }
        Box::new(BooleanQuery::new(queries))
    }
}

/// How much more a match in the title counts than one in the body.
const TITLE_BOOST: Score = 2.5;
/// Likewise one in a code block,
const CODE_BOOST: Score = 0.8;
/// one in the part of an identifier,
const PARTS_BOOST: Score = 0.3;
/// and one in the path or a title above, which by itself is no match.
const PATH_BOOST: Score = 0.6;

/// How much less the other number of a word counts.
const VARIANT_BOOST: Score = 0.7;

fn term_in(field: Field, word: &str, record: IndexRecordOption) -> Box<dyn Query> {
    Box::new(TermQuery::new(Term::from_field_text(field, word), record))
}

fn boosted(query: Box<dyn Query>, boost: Score) -> Box<dyn Query> {
    if (boost - 1.0).abs() < f32::EPSILON {
        return query;
    }
    Box::new(BoostQuery::new(query, boost))
}

/// The queries of which one must match for `term` to be in `field`.
fn field_queries(field: Field, term: &QueryTerm) -> Vec<Box<dyn Query>> {
    let term_of = |word: &str| Term::from_field_text(field, word);
    let mut queries: Vec<Box<dyn Query>> = Vec::new();
    if let Some(compound) = &term.compound {
        queries.push(term_in(field, compound, IndexRecordOption::WithFreqs));
    }
    match term.words.as_slice() {
        [(_, word)] if term.is_prefix => {
            let behind = format!("{word}\u{10FFFF}");
            let from = Bound::Included(term_of(word));
            queries.push(Box::new(InvertedIndexRangeQuery::new(
                from,
                Bound::Included(term_of(&behind)),
            )));
        }
        // A word with its signs is not the word.
        [_] if term.compound.is_some() => {}
        [(_, word)] => {
            queries.push(term_in(field, word, IndexRecordOption::WithFreqs));
            if let Some(variant) = &term.variant {
                let variant = term_in(field, variant, IndexRecordOption::WithFreqs);
                queries.push(boosted(variant, VARIANT_BOOST));
            }
        }
        words => {
            let first = words.first().map_or(0, |(position, _)| *position);
            let terms: Vec<(usize, Term)> =
                words.iter().map(|(position, word)| (position - first, term_of(word))).collect();
            if term.is_prefix {
                queries.push(Box::new(PhrasePrefixQuery::new_with_offset(terms)));
            } else {
                queries.push(Box::new(PhraseQuery::new_with_offset_and_slop(terms, term.slop)));
            }
        }
    }
    queries
}

/// Any of several queries: the sum of their scores, times how many match, so that a section that holds
/// all of the words comes before one that holds the rarest in its title.
#[derive(Debug)]
struct CoverageQuery(Vec<(Occur, Box<dyn Query>)>);

impl Clone for CoverageQuery {
    fn clone(&self) -> Self {
        Self(self.0.iter().map(|(occur, query)| (*occur, query.box_clone())).collect())
    }
}

impl Query for CoverageQuery {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        let mut weights = Vec::with_capacity(self.0.len());
        for (occur, query) in &self.0 {
            weights.push((*occur, query.weight(scoring)?));
        }
        Ok(Box::new(BooleanWeight::with_minimum_number_should_match(
            weights,
            1,
            scoring.is_scoring_enabled(),
            Box::new(CoverageCombiner::default),
        )))
    }

    fn query_terms<'a>(&'a self, visitor: &mut dyn FnMut(&'a Term, bool)) {
        for (_, query) in &self.0 {
            query.query_terms(visitor);
        }
    }
}

/// The sum of scores, times their number.
#[derive(Clone, Copy, Default)]
struct CoverageCombiner {
    sum: Score,
    count: Score,
}

impl ScoreCombiner for CoverageCombiner {
    fn update<TScorer: Scorer>(&mut self, scorer: &mut TScorer) {
        self.sum += scorer.score();
        self.count += 1.0;
    }

    fn clear(&mut self) {
        *self = Self::default();
    }

    fn score(&self) -> Score {
        self.sum * self.count
    }
}

/// The ids of all documents of an index.
pub(super) fn documents(index: &Index) -> Usable<HashSet<i64>> {
    Ok(places(index)?.1.into_iter().map(|place| place.document).collect())
}

/// The places of all sections of an index, in no order, and what they were read with.
pub(super) fn places(index: &Index) -> Usable<(Searcher, Vec<Place>)> {
    let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
    let searcher = reader.searcher();
    let places = searcher.search(&AllQuery, &Places)?;
    Ok((searcher, places))
}

/// Collects the places of what matches, in no order.
struct Places;

struct SegmentPlaces {
    column: Column,
    places: Vec<Place>,
}

impl Collector for Places {
    type Fruit = Vec<Place>;
    type Child = SegmentPlaces;

    fn for_segment(
        &self,
        _: SegmentOrdinal,
        segment: &SegmentReader,
    ) -> tantivy::Result<SegmentPlaces> {
        Ok(SegmentPlaces { column: segment.fast_fields().u64(PLACE)?, places: Vec::new() })
    }

    fn requires_scoring(&self) -> bool {
        false
    }

    fn merge_fruits(&self, fruits: Vec<Vec<Place>>) -> tantivy::Result<Vec<Place>> {
        Ok(fruits.concat())
    }
}

impl SegmentCollector for SegmentPlaces {
    type Fruit = Vec<Place>;

    fn collect(&mut self, document: DocId, _: Score) {
        self.places.extend(self.column.first(document).map(Place::from_number));
    }

    fn harvest(self) -> Vec<Place> {
        self.places
    }
}
