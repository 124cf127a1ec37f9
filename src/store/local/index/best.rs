//! The best of many matches, in memory for about twice as many as are requested, and those with equal scores.

use tantivy::{DocId, Score};

/// A match: its score, and the number of its segment and its document id in tantivy.
#[derive(Clone, Copy)]
pub(super) struct ScoredDocument {
    pub(super) score: Score,
    pub(super) segment: usize,
    pub(super) section: DocId,
}

/// The best matches.
pub(super) struct Best {
    count: usize,
    matches: Vec<ScoredDocument>,
    /// Matches with a lower score are not among the best.
    pub(super) least: Score,
    /// The number of matches at which those that are not among the best are removed.
    most: usize,
}

impl Best {
    /// Returns an empty collection for the best `count` matches, or the best one if `count` is 0.
    pub(super) fn new(count: usize) -> Self {
        let count = count.max(1);
        Self { count, matches: Vec::new(), least: 0.0, most: count.saturating_mul(2).max(1024) }
    }

    /// Adds a match.
    pub(super) fn take(&mut self, found: ScoredDocument) {
        self.matches.push(found);
        if self.matches.len() >= self.most {
            self.cut();
            self.most = self.most.max(self.matches.len().saturating_mul(2));
        }
    }

    /// Adds the best matches of `other`.
    pub(super) fn join(&mut self, other: Self) {
        self.matches.extend(other.matches);
    }

    fn cut(&mut self) {
        if self.matches.len() > self.count {
            let (_, last, _) = self.matches.select_nth_unstable_by(self.count - 1, |one, other| {
                other.score.total_cmp(&one.score)
            });
            self.least = last.score;
            self.matches.retain(|found| found.score >= self.least);
        }
    }

    /// Returns the best matches in no particular order. There are more than were asked for if several have the
    /// score of the last one.
    pub(super) fn finish(mut self) -> Vec<ScoredDocument> {
        self.cut();
        self.matches
    }
}
