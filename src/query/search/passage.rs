//! Passages: the parts of a section that cover most of a question.
//!
//! A passage consists of windows of one section, of which [`Choice`] chooses the pieces. Invariant: windows are
//! verbatim, in document order, and do not overlap.

use std::collections::HashSet;

use super::choice::Choice;
use super::piece::{Piece, chars, whole_lines};
use super::question::{Pieces, WeightedTerms};
use super::window::{PassageWindow, PieceStart};
use crate::position::{ByteSpan, LineIndex};

impl Pieces {
    /// Returns whether there are pieces, and those with terms of the question are in one of the spans `shown`; all
    /// pieces if none has a term, or if the titles have one, because the answer may then be in any of them.
    pub(super) fn are_in(&self, shown: &[ByteSpan]) -> bool {
        let has_terms =
            self.title_terms.is_empty() && self.terms.iter().any(|terms| !terms.is_empty());
        let mut pieces = self.list.iter().zip(&self.terms);
        let is_shown = |(piece, terms): (&Piece, &Vec<usize>)| {
            has_terms && terms.is_empty() || is_in(piece.span, shown)
        };
        !self.list.is_empty() && pieces.all(is_shown)
    }

    /// Returns the windows that cover most of the question in about `most` Unicode scalars, outside of the spans
    /// `shown`.
    pub(super) fn windows(
        &self,
        question: &WeightedTerms<'_>,
        bytes: &[u8],
        lines: &LineIndex,
        most: usize,
        shown: &[ByteSpan],
    ) -> Vec<PassageWindow> {
        // What a reader of the rendered document does not see is shown only for a word of the question that no text has, or
        // for a number.
        let has_text = self.list.iter().any(|piece| !piece.is_aside);
        let of_text = self.list.iter().zip(&self.terms).filter(|(piece, _)| !piece.is_aside);
        let of_text = of_text.flat_map(|(_, terms)| terms).chain(&self.title_terms);
        let said: HashSet<usize> = of_text.copied().collect();
        let adds = |term: &usize| !said.contains(term) || question.number == Some(*term);
        let is_open = self.list.iter().zip(&self.terms).map(|(piece, terms)| {
            let is_left_out = has_text && piece.is_aside && !terms.iter().any(adds);
            !(is_left_out || is_in(piece.span, shown))
        });
        let is_open: Vec<bool> = is_open.collect();
        let size_of = |(piece, is_open): (&Piece, &bool)| {
            if *is_open { chars(piece.span.of(bytes)) } else { 0 }
        };
        let sizes: Vec<usize> = self.list.iter().zip(&is_open).map(size_of).collect();
        let header_length = |header: ByteSpan| chars(header.of(bytes));
        let ranks = Choice::new(self, question, &sizes, header_length, most).run(is_open);
        let mut windows: Vec<PassageWindow> = Vec::new();
        let mut header = None;
        let mut last: Option<usize> = None;
        let mut starts: Vec<PieceStart> = Vec::new();
        for (index, piece) in self.list.iter().enumerate() {
            let Some(rank) = ranks.get(index).copied().flatten() else { continue };
            let own_header = self.header(index);
            let span = whole_lines(bytes, piece.span);
            match starts.last_mut().filter(|known| known.at >= span.start) {
                Some(known) => known.rank = rank.min(known.rank),
                None => {
                    let is_entry = piece.term.is_some();
                    starts.push(PieceStart { at: span.start, rank, is_entry });
                }
            }
            let end = windows.last().map_or(0, |window| window.byte_end);
            let is_next = last.is_some_and(|last| last + 1 == index) && header == own_header;
            let is_next = is_next
                && bytes.get(end..span.start).is_some_and(|gap| gap.trim_ascii().is_empty());
            match windows.last_mut().filter(|_| is_next || span.start < end) {
                Some(window) => window.byte_end = span.end,
                None => {
                    if let Some(row) = own_header.filter(|_| header != own_header) {
                        windows.push(PassageWindow { is_header: true, ..PassageWindow::of(row) });
                    }
                    windows.push(PassageWindow::of(span));
                }
            }
            header = own_header;
            last = Some(index);
        }
        for window in &mut windows {
            if window.is_header {
                // A header row is shown with the first of its rows that is chosen.
                let header = Some(ByteSpan::new(window.byte_start, window.byte_end));
                let rows = self.list.iter().zip(&ranks).filter(|(piece, _)| piece.header == header);
                let first = rows.filter_map(|(_, rank)| *rank).min().unwrap_or_default();
                let start = PieceStart { at: window.byte_start, rank: first, is_entry: false };
                window.close(bytes, lines, &[start]);
            } else {
                let from = starts.partition_point(|start| start.at < window.byte_start);
                window.close(bytes, lines, starts.get(from..).unwrap_or_default());
            }
        }
        windows
    }
}

/// Returns whether `span` is within one of `spans`.
fn is_in(span: ByteSpan, spans: &[ByteSpan]) -> bool {
    spans.iter().any(|outer| outer.start <= span.start && span.end <= outer.end)
}
