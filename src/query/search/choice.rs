//! The choice of the pieces of a passage.
//!
//! The piece that gains the most is chosen next, until the passage has the wanted length. Its gain is the weight of the
//! terms that it adds to one wording of the question, with bonuses for what belongs to the pieces that are chosen already:
//! a piece with some terms of each wording says less than one with those of one. Invariant: what is chosen
//! fits, unless it is the first piece, and a part of an entry or of a row is chosen with what begins that.

use super::question::{Pieces, WeightedTerms};
use crate::position::ByteSpan;

/// Factor on the weight of a term for each piece that already has it.
const REPEATED: f32 = 0.3;
/// Bonus for a piece after a chosen one, as a share of the mean weight of a term.
const FOLLOWING: f32 = 0.3;
/// The same if the last line of the chosen one has the beginning of it, which would be shown without its end.
const BEGUN: f32 = 0.6;
/// The same for a piece before or after a chosen one if a sentence would be shown without its beginning or its end.
const SENTENCE: f32 = 1.0;
/// Bonus for a piece before a chosen one, as a share of the mean weight of a term.
const PRECEDING: f32 = 0.15;
/// The same if the chosen one begins with a word such as "this", which refers to what precedes it.
const REFERRED_TO: f32 = 1.5;
/// The same for a list item or a row, because what comes before it explains no less than what follows.
const PRECEDING_ENTRY: f32 = 0.3;
/// The same for a list, a table or a code block after a chosen piece that ends with a colon.
const LED_IN: f32 = 1.0;
/// Bonus for the rest of a list item that defines a term of the question, after what precedes it, as a share of the mean
/// weight of a term.
const DEFINITION: f32 = 6.0;
/// Bonus for a row, or the beginning of a list item, that defines terms of the question, as a share of their weights.
const DEFINED: f32 = 1.0;
/// Factor on the weight of the terms of its neighbors, for the first chosen piece.
const NEIGHBORS: f32 = 0.3;
/// Bonus for the first piece of a section, as a share of the mean weight of a term.
const LEADING: f32 = 0.3;
/// The same if the titles have all words of the question, so that any part of the section may answer it. The beginning
/// says what the section is about.
const LEADING_NAMED: f32 = 4.0;
/// Penalty for the length of a piece, for a piece as long as the passage.
const LENGTH: f32 = 0.3;
/// A passage may exceed the requested length by three tenths.
const EXCESS: (usize, usize) = (13, 10);

/// A choice among the pieces of a section.
pub(super) struct Choice<'a, H> {
    pieces: &'a Pieces,
    question: &'a WeightedTerms<'a>,
    /// The length of each piece in Unicode scalars.
    lengths: &'a [usize],
    /// Returns the length of a header row in Unicode scalars.
    header_length: H,
    /// The wanted length of the passage in Unicode scalars.
    wanted: usize,
    /// The mean weight of a term.
    mean: f32,
    /// The number of chosen pieces that have each term.
    seen: Vec<i32>,
    /// The place of each chosen piece in the order of choice.
    ranks: Vec<Option<usize>>,
    /// The piece that begins the first code block of which a piece was chosen.
    code: Option<usize>,
    /// The header rows that are shown with the chosen pieces.
    headers: Vec<ByteSpan>,
    /// The length of the chosen pieces and header rows in Unicode scalars.
    length: usize,
}

impl<'a, H: Fn(ByteSpan) -> usize> Choice<'a, H> {
    /// Begins the choice for a passage of about `wanted` Unicode scalars.
    #[expect(clippy::cast_precision_loss, reason = "a question has few terms")]
    pub(super) fn new(
        pieces: &'a Pieces,
        question: &'a WeightedTerms<'a>,
        lengths: &'a [usize],
        header_length: H,
        wanted: usize,
    ) -> Self {
        let weights = &question.weights;
        let mut seen = vec![0; weights.len()];
        // For a section without text of its own, prefer the start: the terms of the title count as seen.
        for term in pieces.title_terms.iter().filter(|_| pieces.is_below) {
            if let Some(times) = seen.get_mut(*term) {
                *times = 1;
            }
        }
        Self {
            pieces,
            question,
            lengths,
            header_length,
            wanted,
            mean: weights.iter().sum::<f32>() / weights.len().max(1) as f32,
            seen,
            ranks: vec![None; lengths.len()],
            code: None,
            headers: Vec::new(),
            length: 0,
        }
    }

    /// Chooses from the open pieces: all of them if they fit. Returns the place of each chosen piece in the order of
    /// choice.
    pub(super) fn run(mut self, mut is_open: Vec<bool>) -> Vec<Option<usize>> {
        let room = self.wanted.saturating_mul(EXCESS.0) / EXCESS.1;
        let takes_all = self.lengths.iter().sum::<usize>() <= room;
        let mut rank = 0;
        while takes_all || self.length < self.wanted {
            let fits = |index: usize| {
                takes_all || self.length == 0 || self.length + self.with_parents(index) <= room
            };
            let open = is_open.iter().enumerate().filter(|(_, is_open)| **is_open);
            let open = open.map(|(index, _)| index).filter(|index| fits(*index));
            let best = open
                .map(|index| (self.gain(index), index))
                .reduce(|best, other| if other.0 > best.0 { other } else { best });
            let Some((gain, index)) = best else { break };
            // What neither has a term nor belongs to a chosen piece would only fill the room.
            if gain <= 0.0 && self.mean > 0.0 && self.length > 0 && !takes_all {
                break;
            }
            let mut group = vec![index];
            // The first piece is shown even if what it needs is too long.
            if self.with_parents(index) <= room {
                group.extend(self.parents(index));
                group.extend(self.beginnings(index, room));
            }
            group.extend(self.announced(index, &is_open, room));
            for index in group {
                if let Some(open) = is_open.get_mut(index) {
                    *open = false;
                }
                self.choose(index, rank);
            }
            rank += 1;
        }
        // What a chosen line announces may still fit.
        for (before, needs) in self.pieces.needs.iter().enumerate() {
            let index = before + 1;
            let is_open = needs.leads_in && self.is_chosen(before) && !self.is_chosen(index);
            if is_open && self.length + self.needed(index) <= room {
                self.choose(index, rank);
                rank += 1;
            }
        }
        self.ranks
    }

    /// Returns the piece that the one at `index` announces, if both fit.
    fn announced(&self, index: usize, is_open: &[bool], room: usize) -> Option<usize> {
        let next = index + 1;
        let leads_in = self.pieces.needs.get(index).is_some_and(|needs| needs.leads_in);
        let length = || self.length + self.with_parents(index) + self.needed(next);
        let is_open = is_open.get(next).copied().unwrap_or_default();
        (leads_in && is_open && length() <= room).then_some(next)
    }

    fn is_chosen(&self, index: usize) -> bool {
        self.ranks.get(index).is_some_and(Option::is_some)
    }

    fn choose(&mut self, index: usize, rank: usize) {
        self.length += self.needed(index).max(1);
        self.headers.extend(self.new_header(index));
        self.code = self.code.or(self.pieces.needs.get(index).and_then(|needs| needs.code));
        if let Some(chosen) = self.ranks.get_mut(index) {
            *chosen = Some(rank);
        }
        for term in self.pieces.terms.get(index).into_iter().flatten() {
            if let Some(times) = self.seen.get_mut(*term) {
                *times += 1;
            }
        }
    }

    /// Returns the header row of the piece at `index`, if it is not shown yet.
    fn new_header(&self, index: usize) -> Option<ByteSpan> {
        self.pieces.header(index).filter(|header| !self.headers.contains(header))
    }

    /// Returns the length of the piece at `index`, with its header row if that is not shown yet.
    fn needed(&self, index: usize) -> usize {
        let header = self.new_header(index).map_or(0, &self.header_length);
        self.lengths.get(index).copied().unwrap_or_default() + header
    }

    /// Returns the length that [`Self::needed`] returns, and that of the pieces that must come with the piece.
    fn with_parents(&self, index: usize) -> usize {
        let lengths = self.parents(index).filter_map(|parent| self.lengths.get(parent));
        self.needed(index) + lengths.sum::<usize>()
    }

    /// Returns the pieces that begin the list items or the row that the piece at `index` is in, and are not chosen yet.
    fn parents(&self, index: usize) -> impl Iterator<Item = usize> {
        let parent = |index: usize| self.pieces.needs.get(index).and_then(|needs| needs.parent);
        let parents = std::iter::successors(parent(index), move |index| parent(*index));
        parents.filter(|parent| !self.is_chosen(*parent))
    }

    /// Returns the pieces that begin the code block of the piece at `index` and the first chosen one if that is another
    /// block, because lines of two blocks would read like one; none if they do not fit.
    fn beginnings(&self, index: usize, room: usize) -> impl Iterator<Item = usize> {
        let code = |index: usize| self.pieces.needs.get(index).and_then(|needs| needs.code);
        let own = code(index);
        let first = self.code.filter(|first| own.is_some_and(|own| own != *first));
        let own = own.filter(|own| first.is_some() && *own != index);
        let missing = [first, own].map(|piece| piece.filter(|piece| !self.is_chosen(*piece)));
        let missing = missing.into_iter().flatten();
        let lengths = missing.clone().map(|piece| self.needed(piece));
        let length = self.length + self.with_parents(index) + lengths.sum::<usize>();
        missing.filter(move |_| length <= room)
    }

    /// Returns what the choice of the piece at `index` would gain.
    #[expect(clippy::cast_precision_loss, reason = "lengths are small and need no precision")]
    fn gain(&self, index: usize) -> f32 {
        let Self { pieces, question, .. } = self;
        let before = index.checked_sub(1);
        let of_wordings =
            question.wordings.iter().map(|weights| self.gain_of_terms(index, weights));
        let mut gain = of_wordings.fold(0.0, f32::max);
        if before.is_some_and(|before| self.is_chosen(before)) {
            gain += self.following(index) * self.mean;
        }
        if self.is_chosen(index + 1) {
            gain += self.preceding(index) * self.mean;
        }
        if self.length == 0 && index == 0 {
            let named = question.within(&pieces.title_terms);
            gain += (LEADING + LEADING_NAMED * named) * self.mean;
        }
        gain *= pieces.aside_factor(index, question.number);
        let length = self.lengths.get(index).copied().unwrap_or_default() as f32;
        gain / (1.0 + LENGTH * length / self.wanted.max(1) as f32)
    }

    /// Returns what the terms of the piece at `index` would gain, by their weights in one wording.
    fn gain_of_terms(&self, index: usize, weights: &[f32]) -> f32 {
        let Pieces { terms, defined, .. } = self.pieces;
        let terms_at = |of: &'a [Vec<usize>], index: usize| of.get(index).into_iter().flatten();
        let weight = |term: &usize| weights.get(*term).copied().unwrap_or_default();
        let times = |term: usize| self.seen.get(term).copied().unwrap_or_default();
        let added = terms_at(terms, index).map(|term| weight(term) * REPEATED.powi(times(*term)));
        let mut gain: f32 = added.sum();
        gain += DEFINED * terms_at(defined, index).map(weight).sum::<f32>();
        if self.length == 0 {
            let own = terms.get(index);
            for neighbor in index.checked_sub(1).into_iter().chain([index + 1]) {
                let others = terms_at(terms, neighbor)
                    .filter(|term| own.is_none_or(|own| own.binary_search(term).is_err()));
                gain += NEIGHBORS * others.map(weight).sum::<f32>();
            }
        }
        gain
    }

    /// Returns the bonus for the piece at `index` after a chosen one, as a share of the mean weight of a term.
    fn following(&self, index: usize) -> f32 {
        let Pieces { needs, defined, .. } = self.pieces;
        let before = index.checked_sub(1).and_then(|before| needs.get(before));
        let defines = |item: usize| defined.get(item).is_some_and(|terms| !terms.is_empty());
        match needs.get(index) {
            _ if before.is_some_and(|before| before.leads_in) => LED_IN,
            Some(needs) if needs.item.is_some_and(|item| item < index && defines(item)) => {
                DEFINITION
            }
            Some(needs) if needs.is_begun => BEGUN,
            Some(needs) if needs.is_within_sentence => SENTENCE,
            _ => FOLLOWING,
        }
    }

    /// Returns the bonus for the piece at `index` before a chosen one, as a share of the mean weight of a term.
    fn preceding(&self, index: usize) -> f32 {
        let Pieces { needs, list, .. } = self.pieces;
        let next = needs.get(index + 1);
        let header = |index: usize| list.get(index).and_then(|piece| piece.header);
        let is_entry = needs.get(index).is_some_and(|needs| needs.is_item)
            && next.is_some_and(|next| next.item.is_some())
            || header(index).is_some() && header(index) == header(index + 1);
        match next {
            _ if is_entry => PRECEDING_ENTRY,
            Some(needs) if needs.refers_back => REFERRED_TO,
            Some(needs) if needs.is_within_sentence || needs.is_begun => SENTENCE,
            _ => PRECEDING,
        }
    }
}
