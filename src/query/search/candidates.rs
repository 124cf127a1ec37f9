//! Which sections the index ranks for the words of one query or several, before their passages are looked at.
//!
//! Invariant: the order of the sections depends on the store and the queries, not on how many are asked for.
//! The ranks of several queries are fused by reciprocal rank fusion.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::rc::Rc;

use super::Search;
use crate::error::Result;
use crate::limits;
use crate::store::{Ranked, SectionFilter, StoredDocument, WordQuery};

/// Sections that the index is asked for at most.
pub(super) const MOST_RANKED: usize = limits::MAX_SEARCH_HITS;
/// Ranks of each query that are fused.
const FUSED: usize = 200;
/// Reciprocal rank fusion: a section at `rank` (0-based) counts `1 / (FUSION_RANK + rank)`.
const FUSION_RANK: f32 = 10.0;
/// What another phrasing counts, beside 1 for the query itself.
const PHRASING: f32 = 0.7;

/// A section that the index ranked.
pub(super) struct Candidate {
    pub(super) found: Ranked,
    pub(super) document: Rc<StoredDocument>,
    pub(super) score: f32,
    /// Indices of the queries that found it.
    pub(super) queries: Vec<usize>,
}

impl Candidate {
    /// Best first, then by file and offset.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        other
            .score
            .total_cmp(&self.score)
            .then_with(|| self.document.path.cmp(&other.document.path))
            .then_with(|| self.found.place.cmp(&other.found.place))
    }
}

/// Sections in their order before passages are looked at.
pub(super) struct Sections {
    pub(super) candidates: Vec<Candidate>,
    /// What each term of the queries counts.
    pub(super) weights: Vec<f32>,
    /// Whether there are no more sections.
    pub(super) is_complete: bool,
}

impl Search<'_> {
    /// At least `needed` sections in their order before passages are looked at, and whether these are all.
    pub(super) fn sections(
        &mut self,
        queries: &[WordQuery],
        filter: &SectionFilter,
        needed: usize,
    ) -> Result<Sections> {
        let [query] = queries else { return self.fused(queries, filter, needed) };
        self.settled(query, 0, filter, needed)
    }

    /// The fused ranks of all `queries`, and then the rest of the first.
    fn fused(
        &mut self,
        queries: &[WordQuery],
        filter: &SectionFilter,
        needed: usize,
    ) -> Result<Sections> {
        let mut fused: Vec<Candidate> = Vec::new();
        let mut known = HashMap::new();
        let mut weights = Vec::new();
        let mut is_complete = true;
        for (index, query) in queries.iter().enumerate() {
            let share = if index == 0 { 1.0 } else { PHRASING };
            let sections = self.settled(query, index, filter, FUSED)?;
            weights.extend(sections.weights.into_iter().map(|weight| weight * share));
            let mut found = sections.candidates;
            is_complete &= sections.is_complete && found.len() <= FUSED;
            found.truncate(FUSED);
            let mut rank = FUSION_RANK;
            for candidate in found {
                let score = share / rank;
                rank += 1.0;
                let at = *known.entry(candidate.found.place).or_insert(fused.len());
                match fused.get_mut(at) {
                    Some(known) => {
                        known.score += score;
                        known.queries.push(index);
                    }
                    None => fused.push(Candidate { score, ..candidate }),
                }
            }
        }
        fused.sort_by(Candidate::order);
        if !is_complete && fused.len() < needed {
            for (index, query) in queries.iter().enumerate() {
                let sections = self.settled(query, index, filter, needed)?;
                is_complete = sections.is_complete;
                let rest = sections
                    .candidates
                    .into_iter()
                    .filter(|one| !known.contains_key(&one.found.place));
                let rest: Vec<Candidate> = rest.collect();
                for candidate in rest {
                    known.insert(candidate.found.place, fused.len());
                    fused.push(Candidate { score: 0.0, ..candidate });
                }
                if !is_complete {
                    break;
                }
            }
        }
        Ok(Sections { candidates: fused, weights, is_complete })
    }

    /// At least `needed` sections for one query, best first, or all. Sections after them may match as well as
    /// the last, but not better.
    pub(super) fn settled(
        &mut self,
        query: &WordQuery,
        index: usize,
        filter: &SectionFilter,
        needed: usize,
    ) -> Result<Sections> {
        let snapshot = self.library.snapshot;
        let mut count = needed.saturating_add(needed / 2).clamp(64, MOST_RANKED);
        let mut documents: HashMap<i64, Option<Rc<StoredDocument>>> = HashMap::new();
        loop {
            let ranking = self.full_text.ranked(snapshot, query, filter, count)?;
            let ranked = ranking.sections;
            let is_complete = ranked.len() < count;
            // Which of those that match as well as the last are in the list is the index's choice.
            let last = ranked.last().map(|last| last.score).filter(|_| !is_complete);
            let mut candidates = Vec::with_capacity(ranked.len());
            for found in ranked {
                if last == Some(found.score) && count < MOST_RANKED {
                    continue;
                }
                let id = found.place.document;
                let document = match documents.get(&id) {
                    Some(document) => document.clone(),
                    None => {
                        let stored = snapshot.document(id)?;
                        if stored.is_none() {
                            self.full_text.check_lacking(snapshot)?;
                        }
                        let stored = stored.filter(|stored| self.filter.takes_document(stored));
                        documents.entry(id).or_insert(stored.map(Rc::new)).clone()
                    }
                };
                let queries = vec![index];
                let score = found.score;
                candidates.extend(document.map(|document| Candidate {
                    found,
                    document,
                    score,
                    queries,
                }));
            }
            if is_complete || candidates.len() >= needed || count == MOST_RANKED {
                candidates.sort_by(Candidate::order);
                return Ok(Sections { candidates, weights: ranking.weights, is_complete });
            }
            count = count.saturating_mul(4).min(MOST_RANKED);
        }
    }
}
