//! The sections that the index ranks for one or several queries, before their passages are considered.
//!
//! Invariant: the order of the sections depends on the store and the queries, and not on the number of
//! sections requested. The rankings of several queries are combined by reciprocal rank fusion (Cormack
//! et al., 2009), and count the same: the words of the answer may be in any of them.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::rc::Rc;

use super::Search;
use crate::error::Result;
use crate::limits;
use crate::store::{Ranked, RankedSection, Ranking, SectionFilter, StoredDocument};
use crate::terms::WordQuery;

/// Maximum number of sections to request from the index.
pub(super) const MOST_RANKED: usize = limits::MAX_SEARCH_HITS;
/// Number of ranks of each query to fuse.
const FUSED: usize = 200;
/// Reciprocal rank fusion: a section at `rank` (0-based) scores `1 / (FUSION_RANK + rank)`.
const FUSION_RANK: f32 = 10.0;

/// Share of the score of the best edition that a preferred one must have to be shown instead.
const EDITION: f32 = 0.97;

/// A section that the index ranked.
pub(super) struct RankedCandidate {
    pub(super) found: Ranked,
    pub(super) document: Rc<StoredDocument>,
    pub(super) score: f32,
    /// The indices of the queries that found it.
    pub(super) queries: Vec<usize>,
}

impl RankedCandidate {
    /// Compares by score, descending, then by file and offset.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        other
            .score
            .total_cmp(&self.score)
            .then_with(|| self.document.path.cmp(&other.document.path))
            .then_with(|| self.found.place.cmp(&other.found.place))
    }

    /// Returns whether the score is about that of `other`, an edition with nearly the same text. The ranks in a fusion
    /// set such editions apart, so two that the same query found are compared by their scores in the index.
    pub(super) fn is_about_as_good(&self, other: &Self) -> bool {
        let (own, others) = if self.queries.first() == other.queries.first() {
            (self.found.score, other.found.score)
        } else {
            (self.score, other.score)
        };
        own >= EDITION * others
    }
}

/// The terms of a query in the index.
pub(super) struct Wording {
    /// The inverse document frequency of each term.
    pub(super) rarities: Vec<f32>,
    /// Whether the query asks for a number.
    pub(super) asks_for_number: bool,
}

/// Sections in the order of the index or of the fusion.
pub(super) struct RankedSections {
    pub(super) candidates: Vec<RankedCandidate>,
    /// The terms of each query and its weight.
    pub(super) wordings: Vec<Wording>,
    /// Whether there are no further sections.
    pub(super) is_complete: bool,
}

impl Search<'_> {
    /// Returns at least `needed` sections, or all.
    pub(super) fn sections(
        &mut self,
        queries: &[WordQuery],
        filter: &SectionFilter<'_>,
        needed: usize,
    ) -> Result<RankedSections> {
        let [query] = queries else { return self.fused(queries, filter, needed) };
        self.sections_of(query, 0, filter, needed)
    }

    /// Returns the sections by fused rank, then the other sections of each query in turn.
    fn fused(
        &mut self,
        queries: &[WordQuery],
        filter: &SectionFilter<'_>,
        needed: usize,
    ) -> Result<RankedSections> {
        let mut fused: Vec<RankedCandidate> = Vec::new();
        let mut known = HashMap::new();
        let mut wordings = Vec::new();
        let mut is_complete = true;
        for (index, query) in queries.iter().enumerate() {
            let sections = self.sections_of(query, index, filter, FUSED)?;
            wordings.extend(sections.wordings);
            let mut found = sections.candidates;
            is_complete &= sections.is_complete && found.len() <= FUSED;
            found.truncate(FUSED);
            let mut rank = FUSION_RANK;
            for candidate in found {
                let score = 1.0 / rank;
                rank += 1.0;
                let at = *known.entry(candidate.found.place).or_insert(fused.len());
                match fused.get_mut(at) {
                    Some(known) => {
                        known.score += score;
                        known.queries.push(index);
                    }
                    None => fused.push(RankedCandidate { score, ..candidate }),
                }
            }
        }
        fused.sort_by(RankedCandidate::order);
        if !is_complete && fused.len() < needed {
            for (index, query) in queries.iter().enumerate() {
                let sections = self.sections_of(query, index, filter, needed)?;
                is_complete = sections.is_complete;
                let rest = sections
                    .candidates
                    .into_iter()
                    .filter(|one| !known.contains_key(&one.found.place));
                let rest: Vec<RankedCandidate> = rest.collect();
                for candidate in rest {
                    known.insert(candidate.found.place, fused.len());
                    fused.push(RankedCandidate { score: 0.0, ..candidate });
                }
                if !is_complete {
                    break;
                }
            }
        }
        Ok(RankedSections { candidates: fused, wordings, is_complete })
    }

    /// Returns at least `needed` sections for one query, best first, or all. Later sections may have the
    /// same score as the last one, but not a higher one.
    pub(super) fn sections_of(
        &mut self,
        query: &WordQuery,
        index: usize,
        filter: &SectionFilter<'_>,
        needed: usize,
    ) -> Result<RankedSections> {
        let mut count = needed.saturating_add(needed / 2).clamp(64, MOST_RANKED);
        loop {
            let Ranking { sections, weights, is_complete } =
                self.session.reader.ranked(query, filter, count)?;
            // The index chooses arbitrarily among the sections with the lowest score, so they are
            // dropped.
            let last = sections.last().map(|last| last.ranked.score).filter(|_| !is_complete);
            let is_dropped = |score: f32| last == Some(score) && count < MOST_RANKED;
            let mut candidates: Vec<RankedCandidate> = sections
                .into_iter()
                .filter(|section| !is_dropped(section.ranked.score))
                .map(|RankedSection { ranked, document }| RankedCandidate {
                    score: ranked.score,
                    found: ranked,
                    document,
                    queries: vec![index],
                })
                .collect();
            if is_complete || candidates.len() >= needed || count == MOST_RANKED {
                candidates.sort_by(RankedCandidate::order);
                let asks_for_number = query.asks_for_number;
                let wordings = vec![Wording { rarities: weights, asks_for_number }];
                return Ok(RankedSections { candidates, wordings, is_complete });
            }
            count = count.saturating_mul(4).min(MOST_RANKED);
        }
    }
}
