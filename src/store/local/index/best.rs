//! The best of many matches, in memory for about twice as many as are requested.

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
    pub(super) count: usize,
    pub(super) matches: Vec<ScoredDocument>,
    /// Matches with a lower or equal score are not among the best.
    pub(super) least: Score,
}

impl Best {
    /// Adds a match.
    pub(super) fn take(&mut self, found: ScoredDocument) {
        self.matches.push(found);
        if self.matches.len() >= self.count.saturating_mul(2).max(1024) {
            self.cut();
        }
    }

    fn cut(&mut self) {
        let order =
            |one: &ScoredDocument, other: &ScoredDocument| other.score.total_cmp(&one.score);
        if self.matches.len() > self.count && self.count > 0 {
            self.matches.select_nth_unstable_by(self.count - 1, order);
            self.matches.truncate(self.count);
            self.least = self.matches.last().map_or(self.least, |last| last.score);
        }
    }

    /// Returns the best matches, best first.
    pub(super) fn finish(mut self) -> Vec<ScoredDocument> {
        self.cut();
        self.matches.sort_by(|one, other| {
            let by_score = other.score.total_cmp(&one.score);
            by_score.then((one.segment, one.section).cmp(&(other.segment, other.section)))
        });
        self.matches
    }
}
