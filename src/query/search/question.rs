//! A question, and the pieces of a section with the terms of the question that each has.
//!
//! Invariant: pieces are in document order, and the terms of each are sorted and distinct.

use super::highlight::{Highlighter, Occurrence};
use super::piece::{Needs, Piece, chars, defined_term, key_pieces, needs, pieces, trimmed};
use crate::markdown::outline::Outline;
use crate::position::{ByteSpan, next_line_start};
use crate::terms::has_number;

/// The beginning of the subsections, in bytes, by which two sections without own text are compared, and that a passage
/// may show.
pub(super) const BELOW_BYTES: usize = 4 << 10;
/// Bonus for a section whose titles have all words of the question, on its coverage.
const NAMED: f32 = 0.3;
/// Bonus for a section with a list item or a row that defines all words of the question, on its coverage.
const DEFINING: f32 = 0.6;
/// Factor on the weight of the terms of the neighbors of the best piece, for the coverage of a question.
const BESIDE_BEST: f32 = 0.5;
/// Factor on the gain of a piece that is aside.
const ASIDE: f32 = 0.3;
/// Length in bytes of the longest header row that is shown with the rows of its table.
const LONGEST_HEADER: usize = 600;
/// Length in Unicode scalars below which the text of a section introduces its subsections, which belong to the passage.
const SHORT_CHARS: usize = 60;

/// A filter for what a passage may show; `None` admits everything.
pub(super) type IsWanted<'a> = Option<&'a dyn Fn(ByteSpan) -> bool>;

/// The words of a query and their weights.
pub(super) struct WeightedTerms<'a> {
    pub(super) highlighter: &'a Highlighter,
    /// The weight of each word.
    pub(super) weights: Vec<f32>,
    /// For each wording of the question, the weight of each word in it.
    pub(super) wordings: Vec<Vec<f32>>,
    /// The term after those of the words, which every text with a number has, if the question asks for one. It weighs
    /// as much as a mean word.
    pub(super) number: Option<usize>,
}

/// The text of a section from which its pieces are made.
#[derive(Clone, Copy)]
pub(super) struct SectionText<'a> {
    /// The file.
    pub(super) bytes: &'a [u8],
    /// The outline of the file.
    pub(super) outline: &'a Outline,
    /// The span of its own text without the heading.
    pub(super) own: ByteSpan,
    /// The byte offset after its subsections.
    pub(super) end: usize,
    /// The titles and the path that are printed above the passage.
    pub(super) titles: &'a str,
    /// The occurrences in the heading and in `own`.
    pub(super) occurrences: &'a [Occurrence],
}

/// The pieces of a section, and the terms that each contains.
#[derive(Debug)]
pub(super) struct Pieces {
    pub(super) list: Vec<Piece>,
    /// The distinct terms of each piece, sorted.
    pub(super) terms: Vec<Vec<usize>>,
    /// For each piece, the pieces that it needs.
    pub(super) needs: Vec<Needs>,
    /// For each piece, the terms of the question that it defines; see [`defined_term`].
    pub(super) defined: Vec<Vec<usize>>,
    /// The terms of the title, of the titles above and of the path of the file.
    pub(super) title_terms: Vec<usize>,
    /// Whether pieces belong to subsections, because the section has no text of its own or little.
    pub(super) is_below: bool,
}

impl WeightedTerms<'_> {
    /// Returns the mean over the wordings of what `of` returns for the weights of the words of each.
    #[expect(clippy::cast_precision_loss, reason = "a question has few wordings")]
    fn mean(&self, of: impl Fn(&[f32]) -> f32) -> f32 {
        let sum: f32 = self.wordings.iter().map(|words| of(words)).sum();
        sum / self.wordings.len().max(1) as f32
    }

    /// Returns the share of the wordings all of whose words are among the sorted `terms`: 0 to 1.
    pub(super) fn within(&self, terms: &[usize]) -> f32 {
        let is_in =
            |(term, weight): (usize, &f32)| *weight == 0.0 || terms.binary_search(&term).is_ok();
        self.mean(|words| {
            let has_words = words.iter().any(|weight| *weight > 0.0);
            if has_words && words.iter().enumerate().all(is_in) { 1.0 } else { 0.0 }
        })
    }

    /// Returns the distinct terms in `text`, sorted.
    fn terms(&self, text: &[u8]) -> Vec<usize> {
        let occurrences = self.highlighter.occurrences(text, ByteSpan::new(0, text.len()));
        distinct(occurrences.iter().map(|found| found.word))
    }

    /// Returns the pieces of the text of a section, or of the text after its heading if it has none or little of
    /// its own. If `is_wanted` is set, only lines that it accepts are in pieces, and only occurrences that it accepts
    /// count as terms.
    pub(super) fn pieces(&self, section: &SectionText<'_>, is_wanted: IsWanted<'_>) -> Pieces {
        let SectionText { bytes, outline, own, end, titles, occurrences } = *section;
        let is_short = chars(own.of(bytes).trim_ascii()) < SHORT_CHARS;
        let is_below = is_short && end > own.end;
        let span = if is_below {
            let most = (own.start + BELOW_BYTES).min(end).max(own.start);
            ByteSpan::new(
                own.start,
                next_line_start(bytes, most.saturating_sub(1)).min(end.max(most)),
            )
        } else {
            own
        };
        let list = wanted(bytes, pieces(bytes, &outline.nodes, span), is_wanted);
        let needs = needs(bytes, &outline.nodes, &list);
        let below = is_below.then(|| self.highlighter.occurrences(bytes, span));
        let occurrences = below.as_deref().unwrap_or(occurrences);
        let pieces = self.of_pieces(bytes, list, occurrences, titles, is_wanted);
        let mut ordered: Vec<&Occurrence> = occurrences.iter().collect();
        ordered.sort_by_key(|found| found.span.start);
        let defined = pieces.list.iter().zip(&needs).map(|(piece, needs)| {
            let begins = needs.is_item || piece.header.is_some() && needs.parent.is_none();
            let term = begins.then(|| defined_term(bytes, piece)).flatten();
            term.map_or(Vec::new(), |term| terms_of(term, &ordered))
        });
        let mut defined: Vec<Vec<usize>> = defined.collect();
        clear_repeated(&pieces.list, &mut defined);
        Pieces { needs, defined, is_below, ..pieces }
    }

    /// Returns the keys of front matter, and the first paragraph of the document, as pieces.
    pub(super) fn front_matter(
        &self,
        bytes: &[u8],
        front_matter: ByteSpan,
        first_paragraph: Option<ByteSpan>,
        titles: &str,
        is_wanted: IsWanted<'_>,
    ) -> Pieces {
        let mut keys: Vec<ByteSpan> = Vec::new();
        let mut at = next_line_start(bytes, front_matter.start);
        while at < front_matter.end {
            let end = next_line_start(bytes, at).min(front_matter.end);
            let line = bytes.get(at..end).unwrap_or_default();
            let is_key = line.first().is_some_and(u8::is_ascii_alphanumeric);
            match keys.last_mut() {
                Some(last) if !is_key => last.end = end,
                _ => keys.push(ByteSpan::new(at, end)),
            }
            at = end;
        }
        // The closing delimiter does not belong to the last value.
        if let Some(last) = keys.last_mut() {
            let value = last.of(bytes);
            let end = trimmed(value).len();
            let line = value.get(..end).unwrap_or_default().iter().rposition(|byte| *byte == b'\n');
            last.end = last.start + line.map_or(end, |line| line + 1);
        }
        keys.retain(|key| !key.is_empty());
        let mut list: Vec<Piece> = keys.iter().flat_map(|key| key_pieces(bytes, *key)).collect();
        list.extend(first_paragraph.map(Piece::of));
        let list = wanted(bytes, list, is_wanted);
        // A part of a long value is shown with its key.
        let parent = |piece: &Piece| {
            let key =
                keys.iter().find(|key| key.start < piece.span.start && key.contains(piece.span))?;
            list.binary_search_by_key(&key.start, |piece| piece.span.start).ok()
        };
        let needs = list.iter().map(|piece| Needs { parent: parent(piece), ..Needs::default() });
        let needs = needs.collect();
        let end = list.last().map_or(front_matter.end, |last| last.span.end);
        let span = ByteSpan::new(front_matter.start, end);
        let occurrences = self.highlighter.occurrences(bytes, span);
        Pieces { needs, ..self.of_pieces(bytes, list, &occurrences, titles, is_wanted) }
    }

    fn of_pieces(
        &self,
        bytes: &[u8],
        pieces: Vec<Piece>,
        occurrences: &[Occurrence],
        titles: &str,
        is_wanted: IsWanted<'_>,
    ) -> Pieces {
        let mut terms = vec![Vec::new(); pieces.len()];
        for found in occurrences {
            let after = pieces.partition_point(|piece| piece.span.start <= found.span.start);
            let containing = after.checked_sub(1);
            if let Some(terms) = containing.and_then(|index| terms.get_mut(index))
                && is_wanted.is_none_or(|is_wanted| is_wanted(found.span))
            {
                terms.push(found.word);
            }
        }
        let mut header: Option<(ByteSpan, Vec<usize>)> = None;
        for (piece, terms) in pieces.iter().zip(&mut terms) {
            if let Some(span) = piece.header {
                if header.as_ref().is_none_or(|(known, _)| *known != span) {
                    let text = span.of(bytes);
                    header = Some((span, self.terms(text)));
                }
                terms.extend(header.iter().flat_map(|(_, terms)| terms));
            }
            let text = piece.span.of(bytes);
            terms.extend(self.number.filter(|_| has_number(text)));
            terms.sort_unstable();
            terms.dedup();
        }
        let title_terms = self.terms(titles.as_bytes());
        Pieces {
            list: pieces,
            terms,
            needs: Vec::new(),
            defined: Vec::new(),
            title_terms,
            is_below: false,
        }
    }
}

impl Pieces {
    /// Returns the mean over the wordings of the question of the square of the covered share, 0 to 1, and bonuses if the
    /// titles have all words of a wording, and if an item or a row defines nearly all of them.
    ///
    /// Squares, because a piece with most of a question probably answers it, but a piece with some words
    /// of a long question says little. Each wording counts by itself, because no answer has the words of
    /// all.
    pub(super) fn coverage(&self, question: &WeightedTerms<'_>) -> f32 {
        let squares = question.mean(|words| self.covered(words, question.number).powi(2));
        let defined = question.mean(|words| self.defined(words).powi(4));
        squares + NAMED * question.within(&self.title_terms) + DEFINING * defined
    }

    /// Returns the share of a query, by the weight of each word, that the titles and the best piece
    /// contain, and in part its neighbors: 0 to 1.
    fn covered(&self, weights: &[f32], number: Option<usize>) -> f32 {
        let total: f32 = weights.iter().sum();
        let weight = |term: &usize| weights.get(*term).copied().unwrap_or_default();
        let titles: f32 = self.title_terms.iter().map(weight).sum();
        let is_new = |term: &&usize| self.title_terms.binary_search(term).is_err();
        let terms_at = |index: Option<usize>| {
            index.and_then(|index| self.terms.get(index)).map_or(&[][..], Vec::as_slice)
        };
        let sums = (0..self.list.len()).map(|index| {
            let own = terms_at(Some(index));
            let [before, after] = [index.checked_sub(1), Some(index + 1)].map(terms_at);
            let is_in = |terms: &[usize], term: &usize| terms.binary_search(term).is_ok();
            let after = after.iter().filter(|term| !is_in(before, term));
            let beside = before.iter().chain(after).filter(|term| !is_in(own, term));
            let beside: f32 = beside.filter(is_new).map(weight).sum();
            let sum = own.iter().filter(is_new).map(weight).sum::<f32>() + BESIDE_BEST * beside;
            sum * self.aside_factor(index, number)
        });
        let best = sums.fold(0.0, f32::max);
        if total > 0.0 { (titles + best) / total } else { 0.0 }
    }

    /// Returns the share of a query, by the weight of each word, that one item or row defines: 0 to 1.
    fn defined(&self, weights: &[f32]) -> f32 {
        let total: f32 = weights.iter().sum();
        let weight = |term: &usize| weights.get(*term).copied().unwrap_or_default();
        let sums = self.defined.iter().map(|terms| terms.iter().map(weight).sum::<f32>());
        let best = sums.fold(0.0, f32::max);
        if total > 0.0 { best / total } else { 0.0 }
    }

    /// Returns the factor on the gain of the piece at `index`: less than 1 if it is aside. A comment with a number answers
    /// a question for one, such as since when something exists; `number` is the term of numbers.
    pub(super) fn aside_factor(&self, index: usize, number: Option<usize>) -> f32 {
        let is_aside = self.list.get(index).is_some_and(|piece| piece.is_aside);
        let terms = self.terms.get(index).map_or(&[][..], Vec::as_slice);
        let answers = number.is_some_and(|number| terms.binary_search(&number).is_ok());
        if is_aside && !answers { ASIDE } else { 1.0 }
    }

    /// Returns the header row that is shown with the piece at `index`.
    pub(super) fn header(&self, index: usize) -> Option<ByteSpan> {
        let header = self.list.get(index).and_then(|piece| piece.header);
        header.filter(|row| row.end - row.start <= LONGEST_HEADER)
    }
}

/// Returns the pieces with only the lines that `is_wanted` accepts, by their last byte that is not blank: the marks
/// before a block within another one belong to the outer one.
fn wanted(bytes: &[u8], pieces: Vec<Piece>, is_wanted: IsWanted<'_>) -> Vec<Piece> {
    let Some(is_wanted) = is_wanted else { return pieces };
    let mut parts: Vec<Piece> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let mut at = piece.span.start;
        let mut is_open = false;
        while at < piece.span.end {
            let line = ByteSpan::new(at, next_line_start(bytes, at).min(piece.span.end));
            let last = at + line.of(bytes).trim_ascii_end().len().saturating_sub(1);
            let is_next = std::mem::replace(&mut is_open, is_wanted(ByteSpan::new(last, last + 1)));
            match parts.last_mut().filter(|_| is_next) {
                Some(part) if is_open => part.span.end = line.end,
                _ if is_open => parts.push(Piece { span: line, ..piece }),
                _ => {}
            }
            at = line.end;
        }
    }
    parts
}

/// Clears the terms of rows of a table that follow each other and begin alike: a value that rows repeat is not what
/// they define.
fn clear_repeated(pieces: &[Piece], defined: &mut [Vec<usize>]) {
    let pairs = pieces.iter().zip(pieces.iter().skip(1)).enumerate();
    let mut repeated: Vec<usize> = Vec::new();
    for (index, (one, other)) in pairs {
        let is_row = one.header.is_some() && one.header == other.header
            || one.term.is_some() && other.term.is_some();
        if is_row && defined.get(index) == defined.get(index + 1) {
            repeated.extend([index, index + 1]);
        }
    }
    for index in repeated {
        if let Some(terms) = defined.get_mut(index) {
            terms.clear();
        }
    }
}

/// Returns the terms in the text at `span` if it begins and ends with one. `occurrences` are ordered by their starts.
fn terms_of(span: ByteSpan, occurrences: &[&Occurrence]) -> Vec<usize> {
    let from = occurrences.partition_point(|found| found.span.start < span.start);
    let inside = || {
        let after = occurrences.get(from..).unwrap_or_default().iter();
        let inside = after.take_while(|found| found.span.start < span.end);
        inside.filter(|found| found.span.end <= span.end)
    };
    let start = inside().next().map(|found| found.span.start);
    let end = inside().map(|found| found.span.end).max();
    if (start, end) != (Some(span.start), Some(span.end)) {
        return Vec::new();
    }
    distinct(inside().map(|found| found.word))
}

/// Returns the distinct terms, sorted.
fn distinct(terms: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut terms: Vec<usize> = terms.collect();
    terms.sort_unstable();
    terms.dedup();
    terms
}
