//! Word queries and trigram queries over the segments of the index.
//!
//! Invariants: sections that the filter does not admit are never returned. The documents of a reader's
//! generation are found, and no others.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use tokio_postgres::types::Type;

use super::lookup::WITH_DERIVED;
use super::packed_ids::unpack;
use super::posting_rows;
use super::query::{IndexTotals, Lists, StoredList, TermRange, is_meant, named, order, range};
use super::question::Question;
use super::rows::{DOCUMENT_COLUMNS, column, damaged, document};
use super::state::State;
use super::trigrams::{self, Segment};
use crate::error::Result;
use crate::store::{
    DocumentFilter, Lookup, Ranked, RankedSection, Ranking, SectionFilter, SectionId,
    StoredDocument, Under,
};
use crate::terms::score::{self, Rarity};
use crate::terms::{Clause, QueryLeaf, QueryTerm, TermMatch, TrigramQuery, WordQuery};

/// The condition that a segment `s` belongs to the generation `$1`.
pub(super) const IS_IN_USE: &str = "s.gen_from <= $1 AND (s.gen_to IS NULL OR s.gen_to > $1)";

/// A term of a query, its effect, and the sections that contain it.
struct Leaf<'a> {
    term: QueryLeaf<'a>,
    rarity: Rarity,
    found: Vec<(SectionId, TermMatch)>,
}

impl<'a> Leaf<'a> {
    fn new(leaf: QueryLeaf<'a>, lists: &Lists) -> Self {
        let rarity = lists.rarity(leaf.term);
        Self { term: leaf, rarity, found: lists.matches(leaf.term) }
    }
}

impl State {
    /// Returns the numbers of the index, and the documents in it that are gone.
    fn index(&self) -> Result<(IndexTotals, HashSet<i64>)> {
        let names = ["sections", "title_tokens", "body_tokens", "code_tokens", "tags"];
        let sums = names.map(|name| format!("coalesce(sum(s.{name}), 0)::bigint")).join(", ");
        let gone = "SELECT e.document AS id FROM dead e UNION ALL SELECT d.id FROM document d \
             WHERE d.gen_to IS NOT NULL AND d.gen_to <= $1";
        let mut question = Question::new(format!(
            "SELECT {sums}, (SELECT array_agg(g.id) FROM ({gone}) g) \
             FROM segment s WHERE {IS_IN_USE}"
        ));
        question.bind(self.generation, Type::INT8);
        let rows = question.run(&mut self.connection())?;
        let row = rows.first().ok_or_else(|| damaged("its index has no numbers"))?;
        let number = |index| -> Result<u64> { Ok(column::<i64>(row, index)?.unsigned_abs()) };
        let totals = IndexTotals {
            sections: number(0)?,
            counted: number(0)?,
            tokens: [number(1)?, number(2)?, number(3)?],
            tags: number(4)?,
        };
        let gone: Option<Vec<i64>> = column(row, 5)?;
        Ok((totals, gone.unwrap_or_default().into_iter().collect()))
    }

    /// Returns the keys of the rows in which the lists of the terms of a query may be, except for groups in a
    /// range.
    fn keys(&self, terms: &[&QueryTerm], ranges: &[TermRange]) -> Result<Vec<Vec<u8>>> {
        let mut stored: Vec<Vec<u8>> = terms.iter().flat_map(|term| named(term)).collect();
        if !ranges.is_empty() {
            let mut question = Question::new("SELECT DISTINCT p.term FROM posting p WHERE false");
            for (from, to) in ranges {
                let (from, to) = (from.clone(), to.clone());
                question.with(" OR p.term >= ", from, Type::BYTEA, "");
                question.with(" AND p.term < ", to, Type::BYTEA, "");
            }
            for row in &question.run(&mut self.connection())? {
                let found: &[u8] = column(row, 0)?;
                if terms.iter().any(|term| is_meant(term, found)) {
                    stored.push(found.to_vec());
                }
            }
        }
        stored.extend(ranges.iter().map(|(from, _)| from.clone()));
        let mut keys: Vec<Vec<u8>> =
            stored.iter().flat_map(|term| posting_rows::keys(term)).collect();
        keys.sort_unstable();
        keys.dedup();
        Ok(keys)
    }

    /// Returns the ids of the documents in the folders that `filter` names, and the number of their sections; `None` if
    /// it names none.
    fn counted(&self, filter: &DocumentFilter) -> Result<Option<(HashSet<i64>, u64)>> {
        let folders: Vec<String> = filter.folders().into_iter().map(str::to_owned).collect();
        if folders.is_empty() {
            return Ok(None);
        }
        let under = Some(Under { folders, ..Under::default() });
        let within = DocumentFilter { under, ..DocumentFilter::default() };
        // A root without text, which has no fingerprint, is in no folder.
        let columns = "d.id, octet_length(v.fingerprints) / 8 \
             - (substring(v.fingerprints FROM 1 FOR 8) = '\\x0000000000000000')::int";
        let question = self.question(&Lookup::Data(&within, &[]), None, columns, WITH_DERIVED);
        let (mut ids, mut sections) = (HashSet::new(), 0);
        for row in &question.run(&mut self.connection())? {
            ids.insert(column(row, 0)?);
            sections += u64::from(column::<i32>(row, 1)?.unsigned_abs());
        }
        Ok(Some((ids, sections)))
    }

    /// Returns the lists of the terms of a query, without the documents that are gone. If `filter` names folders, only
    /// the documents in them are listed and counted.
    fn lists(&self, terms: &[&QueryTerm], filter: &DocumentFilter) -> Result<Lists> {
        let ranges = ranges(terms);
        let keys = self.keys(terms, &ranges)?;
        let (mut totals, gone) = self.index()?;
        let counted = self.counted(filter)?;
        totals.counted = counted.as_ref().map_or(totals.sections, |(_, sections)| *sections);
        let mut question = Question::new(format!(
            "SELECT p.term, p.entries FROM posting p \
             JOIN segment s ON s.part = p.part AND s.id = p.segment WHERE {IS_IN_USE}"
        ));
        question.bind(self.generation, Type::INT8);
        question.with(" AND (p.term = ANY(", keys, Type::BYTEA_ARRAY, ")");
        for range in &ranges {
            let (from, to) = posting_rows::group_range(range);
            question.with(" OR p.term >= ", from, Type::BYTEA, "");
            question.with(" AND p.term < ", to, Type::BYTEA, "");
        }
        question.text.push(')');
        let rows = question.run(&mut self.connection())?;
        let names: HashSet<Vec<u8>> = terms.iter().flat_map(|term| named(term)).collect();
        let mut lists: BTreeMap<Vec<u8>, StoredList> = BTreeMap::new();
        for row in &rows {
            let found = posting_rows::each(column(row, 0)?, column(row, 1)?, |stored, list| {
                if names.contains(stored) || terms.iter().any(|term| is_meant(term, stored)) {
                    lists.entry(stored.to_vec()).or_default().add(list.to_vec())?;
                }
                Some(())
            });
            found.ok_or_else(|| damaged("a list of its index"))?;
        }
        if counted.is_some() || !gone.is_empty() {
            let is_counted = |document: &i64| {
                counted.as_ref().is_none_or(|(documents, _)| documents.contains(document))
            };
            for list in lists.values_mut() {
                list.retain(|document| is_counted(&document) && !gone.contains(&document));
            }
        }
        Ok(Lists { lists, totals })
    }

    /// Returns the best `count` sections for `query` that `filter` admits, best first.
    pub(super) fn ranked(
        &self,
        query: &WordQuery,
        filter: &SectionFilter<'_>,
        count: usize,
    ) -> Result<Ranking> {
        let Some(clause) = &query.clause else { return Ok(Ranking::default()) };
        let leaves = clause.leaves();
        let terms: Vec<&QueryTerm> = leaves.iter().map(|leaf| leaf.term).collect();
        let lists = self.lists(&terms, filter.documents)?;
        let leaves: Vec<Leaf<'_>> =
            leaves.into_iter().map(|leaf| Leaf::new(leaf, &lists)).collect();
        let admitted: Option<HashSet<i64>> =
            self.admitted(filter.documents)?.map(|ids| ids.into_iter().collect());
        let takes = |place: SectionId| {
            filter.level.is_none_or(|level| level == place.level)
                && filter.front_matter.is_none_or(|wanted| wanted == place.is_front_matter())
                && admitted.as_ref().is_none_or(|admitted| admitted.contains(&place.document))
        };
        let counting = || leaves.iter().filter(|leaf| leaf.term.counts);
        let weights: Vec<f32> = counting().map(|leaf| leaf.term.counted(leaf.rarity)).collect();
        let mut best = scored(clause, &leaves, weights.iter().sum(), takes);
        let is_complete = best.len() < count;
        let by_score = |one: &(f32, SectionId), other: &(f32, SectionId)| -> Ordering {
            other.0.total_cmp(&one.0).then(one.1.cmp(&other.1))
        };
        if best.len() > count && count > 0 {
            best.select_nth_unstable_by(count - 1, by_score);
        }
        best.truncate(count);
        best.sort_by(by_score);
        Ok(Ranking { sections: self.named_sections(&best)?, weights, is_complete })
    }

    /// Reads the documents of sections, and the fingerprints of their words.
    fn named_sections(&self, best: &[(f32, SectionId)]) -> Result<Vec<RankedSection>> {
        let mut ids: Vec<i64> = best.iter().map(|(_, place)| place.document).collect();
        ids.sort_unstable();
        ids.dedup();
        let columns = format!("{DOCUMENT_COLUMNS}, v.fingerprints");
        let mut question = Question::of_documents(&columns, WITH_DERIVED, self.generation);
        // The server of a partition is asked for each table by itself.
        question.with(" AND d.id = ANY(", ids.clone(), Type::INT8_ARRAY, ")");
        question.with(" AND v.document = ANY(", ids, Type::INT8_ARRAY, ")");
        let rows = question.run(&mut self.connection())?;
        let mut documents: HashMap<i64, (Rc<StoredDocument>, &[u8])> = HashMap::new();
        for row in &rows {
            let stored = document(row)?;
            documents.insert(stored.id, (Rc::new(stored), column(row, 9)?));
        }
        let named = best.iter().filter_map(|(score, place)| {
            let (document, fingerprints) = documents.get(&place.document)?;
            let (fingerprints, _) = fingerprints.as_chunks::<8>();
            let own = if place.is_front_matter() {
                fingerprints.last()
            } else {
                fingerprints.get(place.section)
            };
            let fingerprint = own.map_or(0, |bytes| u64::from_le_bytes(*bytes));
            let ranked = Ranked { place: *place, score: *score, fingerprint };
            Some(RankedSection { ranked, document: Rc::clone(document) })
        });
        Ok(named.collect())
    }

    /// Returns the ids of the documents that may match `query`, which ascend; `None` if each may match.
    pub(super) fn candidates(&self, query: &TrigramQuery) -> Result<Option<Vec<i64>>> {
        if *query == TrigramQuery::All {
            return Ok(None);
        }
        let mut question =
            Question::new(format!("SELECT s.id, s.documents FROM segment s WHERE {IS_IN_USE}"));
        question.bind(self.generation, Type::INT8);
        let segments = question.run(&mut self.connection())?;
        let mut question = Question::new(format!(
            "SELECT t.segment, t.prefix, t.entries FROM trigram t \
             JOIN segment s ON s.part = t.part AND s.id = t.segment WHERE {IS_IN_USE}"
        ));
        question.bind(self.generation, Type::INT8);
        let prefixes: Vec<i32> = trigrams::prefixes(query).into_iter().collect();
        question.with(" AND t.prefix = ANY(", prefixes, Type::INT4_ARRAY, ")");
        let found = question.run(&mut self.connection())?;
        let mut lists: HashMap<i64, HashMap<i32, &[u8]>> = HashMap::new();
        for row in &found {
            lists.entry(column(row, 0)?).or_default().insert(column(row, 1)?, column(row, 2)?);
        }
        let mut ids = Vec::new();
        for row in &segments {
            let documents = unpack(column(row, 1)?);
            let documents = documents.ok_or_else(|| damaged("a segment of its index"))?;
            let rows = lists.remove(&column(row, 0)?).unwrap_or_default();
            let segment = Segment { documents: documents.len(), rows };
            let meets = segment.meeting(query).ok_or_else(|| damaged("a list of its index"))?;
            ids.extend(documents.into_iter().zip(meets).filter(|(_, it)| *it).map(|(id, _)| id));
        }
        ids.sort_unstable();
        Ok(Some(ids))
    }
}

/// Returns the distinct ranges of further terms that the terms of a query mean.
fn ranges(terms: &[&QueryTerm]) -> Vec<TermRange> {
    let mut ranges: Vec<_> = terms.iter().filter_map(|term| range(term)).collect();
    ranges.sort_unstable();
    ranges.dedup();
    ranges
}

/// Returns the sections that meet `clause` and that `takes` accepts, with their scores. `all` is the sum of
/// the inverse document frequencies of the terms that count.
fn scored(
    clause: &Clause,
    leaves: &[Leaf<'_>],
    all: f32,
    takes: impl Fn(SectionId) -> bool,
) -> Vec<(f32, SectionId)> {
    let mut rests: Vec<&[(SectionId, TermMatch)]> =
        leaves.iter().map(|leaf| leaf.found.as_slice()).collect();
    let mut matches = vec![TermMatch::default(); leaves.len()];
    let mut result = Vec::new();
    loop {
        let firsts = rests.iter().filter_map(|rest| rest.first());
        let Some(place) = firsts.map(|(place, _)| *place).min_by_key(|place| order(*place)) else {
            return result;
        };
        for (rest, found) in rests.iter_mut().zip(&mut matches) {
            *found = match rest.split_first() {
                Some(((first, here), others)) if *first == place => {
                    *rest = others;
                    *here
                }
                _ => TermMatch::default(),
            };
        }
        if !takes(place) || !clause.is_met(&mut matches.iter().map(|found| found.is_match)) {
            continue;
        }
        let (mut sum, mut covered) = (0.0, 0.0);
        for (leaf, found) in leaves.iter().zip(&matches).filter(|(_, found)| found.is_covered) {
            let times = leaf.term.times.unwrap_or(0.0);
            sum += times * (score::of_term(leaf.rarity, found.exact, found.all) + found.score);
            covered += leaf.term.counted(leaf.rarity);
        }
        result.push((score::of_section(sum, covered, all), place));
    }
}
