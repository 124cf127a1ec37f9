//! The sections that the index ranks for one or several queries, before their passages are considered.
//!
//! Invariant: the order of the sections depends on the store and the queries, and not on the number of
//! sections requested. The rankings of several queries are combined by reciprocal rank fusion (Cormack
//! et al., 2009).

use std::cmp::Ordering;
use std::collections::HashMap;
use std::rc::Rc;

use super::Search;
use crate::error::Result;
use crate::limits;
use crate::store::{Ranked, SectionFilter, StoredDocument};
use crate::terms::WordQuery;

/// Maximum number of sections to request from the index.
pub(super) const MOST_RANKED: usize = limits::MAX_SEARCH_HITS;
/// Number of ranks of each query to fuse.
const FUSED: usize = 200;
/// Reciprocal rank fusion: a section at `rank` (0-based) scores `1 / (FUSION_RANK + rank)`.
const FUSION_RANK: f32 = 10.0;
/// Weight of another wording; the question itself has weight 1.
const PHRASING: f32 = 0.7;

/// A section that the index ranked.
pub(super) struct Candidate {
    pub(super) found: Ranked,
    pub(super) document: Rc<StoredDocument>,
    pub(super) score: f32,
    /// The indices of the queries that found it.
    pub(super) queries: Vec<usize>,
}

impl Candidate {
    /// Compares by score, descending, then by file and offset.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        other
            .score
            .total_cmp(&self.score)
            .then_with(|| self.document.path.cmp(&other.document.path))
            .then_with(|| self.found.place.cmp(&other.found.place))
    }
}

/// Sections in the order of the index or of the fusion.
pub(super) struct Sections {
    pub(super) candidates: Vec<Candidate>,
    /// The weight of each term of the queries.
    pub(super) weights: Vec<f32>,
    /// Whether there are no further sections.
    pub(super) is_complete: bool,
}

impl Search<'_> {
    /// Returns at least `needed` sections, or all.
    pub(super) fn sections(
        &mut self,
        queries: &[WordQuery],
        filter: &SectionFilter,
        needed: usize,
    ) -> Result<Sections> {
        let [query] = queries else { return self.fused(queries, filter, needed) };
        self.sections_of(query, 0, filter, needed)
    }

    /// Returns the sections by fused rank, then the other sections of each query in turn.
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
            let weight_of_query = if index == 0 { 1.0 } else { PHRASING };
            let sections = self.sections_of(query, index, filter, FUSED)?;
            weights.extend(sections.weights.into_iter().map(|weight| weight * weight_of_query));
            let mut found = sections.candidates;
            is_complete &= sections.is_complete && found.len() <= FUSED;
            found.truncate(FUSED);
            let mut rank = FUSION_RANK;
            for candidate in found {
                let score = weight_of_query / rank;
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
                let sections = self.sections_of(query, index, filter, needed)?;
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

    /// Returns at least `needed` sections for one query, best first, or all. Later sections may have the
    /// same score as the last one, but not a higher one.
    pub(super) fn sections_of(
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
            // The index chooses arbitrarily among the sections with the lowest score, so they are
            // dropped.
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
