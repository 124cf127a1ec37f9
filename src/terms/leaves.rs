//! The terms of a query in order, and whether a section that contains some of them matches.
//!
//! Invariant: an engine that scores with these terms, weights and rules ranks like the others.

use std::collections::HashSet;

use tantivy_query_grammar::Occur;

use super::clause::Clause;
use super::score::{self, Rarity};
use super::term::{QueryTerm, TextField};

/// The number of texts of a section whose words have positions: title, body and code.
pub(crate) const TEXTS: usize = 3;

/// The weights of the words of these texts, and the influences of their lengths.
pub(crate) const TEXT_WEIGHTS: [(f32, f32); TEXTS] = [
    (score::TITLE_WEIGHT, score::TITLE_LENGTH),
    (1.0, score::LENGTH),
    (score::CODE_WEIGHT, score::LENGTH),
];

/// A term of a query and its effect on the score.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueryLeaf<'a> {
    pub(crate) term: &'a QueryTerm,
    /// The factor of the score; `None` if the term only excludes.
    pub(crate) times: Option<f32>,
    /// Whether the term counts for the coverage of the query.
    pub(crate) counts: bool,
}

impl QueryLeaf<'_> {
    /// Returns how much the term counts for the coverage of the query.
    pub(crate) fn counted(&self, rarity: Rarity) -> f32 {
        let times = self.times.filter(|_| self.counts);
        times.map_or(0.0, |times| score::counted(rarity, times))
    }
}

/// How a term matches a section.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TermMatch {
    pub(crate) is_match: bool,
    /// Whether the term is at least in the path.
    pub(crate) is_covered: bool,
    /// The weighted frequencies of the word as it is written and of all words with its stem.
    pub(crate) exact: f32,
    pub(crate) all: f32,
    /// The score of a phrase, a prefix or a tag.
    pub(crate) score: f32,
}

impl Clause {
    /// Returns the terms in order.
    pub(crate) fn leaves(&self) -> Vec<QueryLeaf<'_>> {
        let mut leaves = Vec::new();
        self.push_leaves(Some(1.0), true, &mut leaves);
        leaves
    }

    fn push_leaves<'a>(
        &'a self,
        times: Option<f32>,
        counts: bool,
        leaves: &mut Vec<QueryLeaf<'a>>,
    ) {
        match self {
            Self::Term(term) => leaves.push(QueryLeaf { term, times, counts }),
            Self::Bonus(term) => {
                let times = times.map(|_| score::BONUS_WEIGHT);
                leaves.push(QueryLeaf { term, times, counts: false });
            }
            Self::Boost(clause, boost) => {
                clause.push_leaves(times.map(|times| times * boost), counts, leaves);
            }
            Self::Group(clauses) => {
                for (occur, clause) in clauses {
                    let is_excluded = *occur == Occur::MustNot;
                    let times = times.filter(|_| !is_excluded);
                    clause.push_leaves(times, counts && !is_excluded, leaves);
                }
            }
        }
    }

    /// Whether a section meets the clause. `matches` says for each of its terms, in order, whether it
    /// matches.
    pub(crate) fn is_met(&self, matches: &mut impl Iterator<Item = bool>) -> bool {
        match self {
            Self::Term(_) => matches.next().unwrap_or(false),
            Self::Bonus(_) => {
                matches.next();
                false
            }
            Self::Boost(clause, _) => clause.is_met(matches),
            Self::Group(clauses) => {
                let (mut must, mut should, mut not) = (None, false, false);
                for (occur, clause) in clauses {
                    let is_met = clause.is_met(matches);
                    match occur {
                        Occur::Must => must = Some(must.unwrap_or(true) && is_met),
                        Occur::Should => should |= is_met,
                        Occur::MustNot => not |= is_met,
                    }
                }
                must.unwrap_or(should) && !not
            }
        }
    }
}

impl QueryTerm {
    /// Returns the number of places in a text at which its first words occur, with at most [`Self::slop`] extra positions
    /// between them. `positions` has the positions of each of these words.
    pub(crate) fn occurrences(&self, positions: &[HashSet<usize>]) -> usize {
        let Some((first, rest)) = positions.split_first() else { return 0 };
        let offset = |word: usize| self.words.get(word).map_or(0, |(position, _)| *position);
        let slop = if self.is_prefix { 0 } else { self.slop as usize };
        let begins = first.iter().filter(|at| {
            // The extra positions so far move all later words.
            let (mut moved, mut left) = (0_isize, slop);
            rest.iter().zip(1..).all(|(positions, word)| {
                let expected = **at + offset(word) - offset(0);
                let is_at = |extra: &isize| {
                    expected
                        .checked_add_signed(moved + extra)
                        .is_some_and(|at| positions.contains(&at))
                };
                let nearest =
                    (0..=left.cast_signed()).flat_map(|extra| [extra, -extra]).find(is_at);
                moved += nearest.unwrap_or(0);
                left = slop.saturating_sub(moved.unsigned_abs());
                nearest.is_some()
            })
        });
        begins.count()
    }

    /// Returns the word to look up; `None` for a phrase, a prefix, a tag and a term in front matter.
    pub(crate) fn single_word(&self) -> Option<&str> {
        match (self.field, self.words.as_slice()) {
            (Some(TextField::Tags | TextField::Meta), _) | (Some(TextField::Path), [_, _, ..]) => {
                None
            }
            _ if self.compound.is_some() => self.compound.as_deref(),
            (_, [(_, word)]) if !self.is_prefix => Some(word),
            _ => None,
        }
    }

    /// Returns whether the term is looked up in the text with this index.
    pub(crate) fn takes_text(&self, index: usize) -> bool {
        let fields = [TextField::Title, TextField::Body, TextField::Code];
        self.field.is_none_or(|field| fields.get(index) == Some(&field))
    }

    /// Returns whether the term is looked up in the parts of identifiers.
    pub(crate) fn takes_parts(&self) -> bool {
        self.field.is_none() && self.compound.is_none()
    }

    /// Returns whether the term is looked up in the path.
    pub(crate) fn takes_path(&self) -> bool {
        self.field == Some(TextField::Path) || self.takes_parts()
    }
}
