//! Finding the sections of an index that match a word query, and scoring them.
//!
//! Each segment is processed in windows of consecutive sections. Each term of the query marks the
//! sections of the window that contain it and adds to their scores. The tree of the query is then
//! evaluated on the marks. The score is that of [`crate::terms::score`]. Invariant: sections that the
//! filter does not admit are never returned.

use std::collections::HashSet;

use tantivy::columnar::Column;
use tantivy::postings::{Postings as _, SegmentPostings};
use tantivy::query_grammar::Occur;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet as _, Score, Searcher, SegmentReader, TERMINATED, Term};

use super::best::{Best, ScoredDocument};
use super::leaf::{FieldTable, MatchedWord, QueryTermState, SegmentLeaf, is_passed_by, look_up};
use super::marks::{
    Marks, SectionSet, WINDOW, WINDOW_LENGTH, combined, each_marked, is_marked, mark,
};
use super::schema::{FINGERPRINT, Fields, PLACE};
use super::{Unusable, Usable, guarded};
use crate::parallel;
use crate::store::{Ranked, SectionId};
use crate::terms::{Clause, QueryTerm, score};

/// Conditions on the sections of a result, in the terms of the index.
#[derive(Clone, Debug, Default)]
pub(crate) struct IndexFilter {
    /// The section must be in one of these folders, if there are any. Words are counted among the sections in them.
    pub(crate) folders: Vec<String>,
    /// The section must have a value of each of these lists in the field [`Fields::scope`].
    pub(crate) scopes: Vec<Vec<String>>,
    /// The id of the document must be in each of these sets.
    pub(crate) documents: Vec<HashSet<i64>>,
    /// The level of the section must be this one.
    pub(crate) level: Option<u8>,
    /// `Some(true)` admits only front matter, `Some(false)` no front matter.
    pub(crate) front_matter: Option<bool>,
}

impl IndexFilter {
    /// Returns whether there are conditions other than folders and scopes.
    fn looks_at_places(&self) -> bool {
        !self.documents.is_empty() || self.level.is_some() || self.front_matter.is_some()
    }

    /// Returns whether the section at `place` meets all conditions except folders and scopes.
    fn admits(&self, place: SectionId) -> bool {
        self.level.is_none_or(|level| level == place.level)
            && self.front_matter.is_none_or(|wanted| wanted == place.is_front_matter())
            && self.documents.iter().all(|documents| documents.contains(&place.document))
    }
}

/// The tree of a query. Its terms are numbered.
enum QueryNode {
    Leaf(usize),
    Group(Vec<(Occur, QueryNode)>),
}

impl QueryNode {
    /// Returns the marks of the sections that match, given those of each term.
    fn matches(&self, marks: &[Marks]) -> Marks {
        let clauses = match self {
            Self::Leaf(index) => return marks.get(*index).copied().unwrap_or([0; WINDOW / 64]),
            Self::Group(clauses) => clauses,
        };
        let (mut must, mut should, mut not): (Option<Marks>, Marks, Marks) =
            (None, [0; WINDOW / 64], [0; WINDOW / 64]);
        for (occur, node) in clauses {
            let found = node.matches(marks);
            match occur {
                Occur::Must => {
                    must = Some(must.map_or(found, |must| combined(&must, &found, |a, b| a & b)));
                }
                Occur::Should => should = combined(&should, &found, |a, b| a | b),
                Occur::MustNot => not = combined(&not, &found, |a, b| a | b),
            }
        }
        combined(&must.unwrap_or(should), &not, |a, b| a & !b)
    }
}

/// The effect of a term on the score of a match.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Effect {
    /// Adds its score times this factor, and counts for the coverage of the query.
    Counts(Score),
    /// Adds its score times [`score::BONUS_WEIGHT`].
    Bonus,
    /// Adds nothing.
    Excludes,
}

impl Effect {
    /// Returns how much a term counts for the coverage of the query; `None` if it does not.
    fn counted(self, term: &QueryTermState) -> Option<Score> {
        match self {
            Self::Counts(times) => Some(score::counted(term.rarity, times)),
            Self::Bonus | Self::Excludes => None,
        }
    }
}

/// A query whose terms have been looked up.
struct RankingPlan {
    leaves: Vec<(QueryTermState, Effect)>,
    root: QueryNode,
    /// The sum of the inverse document frequencies of all terms that count.
    rarity: Score,
}

impl RankingPlan {
    fn of(searcher: &Searcher, table: &mut FieldTable, clause: &Clause) -> Usable<Self> {
        let mut terms = Vec::new();
        let root = node(clause, Effect::Counts(1.0), &mut terms);
        // The indices of terms that are looked up together: joined words begin like their first word.
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for (index, (term, _)) in terms.iter().enumerate() {
            let is_new = |index: &usize| !groups.iter().flatten().any(|known| known == index);
            if !is_new(&index) {
                continue;
            }
            let others = terms.iter().enumerate().skip(index + 1);
            let others = others.filter(|(_, (other, _))| is_passed_by(other, term));
            let others = others.map(|(other, _)| other).filter(is_new);
            let group = std::iter::once(index).chain(others).collect();
            groups.push(group);
        }
        let look_up_groups = |segments: &[SegmentReader], _| {
            let of_group = |group: &Vec<usize>| {
                let terms = group.iter().filter_map(|index| terms.get(*index));
                look_up(segments, &*table, &terms.map(|(term, _)| *term).collect::<Vec<_>>())
            };
            groups.iter().map(of_group).collect::<Usable<Vec<_>>>()
        };
        let mut found: Vec<Vec<Vec<MatchedWord>>> = terms.iter().map(|_| Vec::new()).collect();
        for part in in_parts(searcher.segment_readers(), look_up_groups)? {
            for (index, lists) in groups.iter().flatten().zip(part.into_iter().flatten()) {
                if let Some(found) = found.get_mut(*index) {
                    found.extend(lists);
                }
            }
        }
        let looked_up = terms.iter().zip(&found).filter(|((term, _), _)| term.field.is_none());
        for ((term, _), found) in looked_up {
            if let Some(word) = term.single_word() {
                table.remember(word, found);
            }
        }
        let table = &*table;
        let mut leaves = Vec::with_capacity(terms.len());
        for ((term, effect), found) in terms.iter().zip(found) {
            leaves.push((QueryTermState::of(searcher, table, term, found)?, *effect));
        }
        let rarity = leaves.iter().filter_map(|(leaf, effect)| effect.counted(leaf)).sum();
        Ok(Self { leaves, root, rarity })
    }
}

/// Converts `clause` to a tree and appends its terms to `terms`.
fn node<'a>(
    clause: &'a Clause,
    effect: Effect,
    terms: &mut Vec<(&'a QueryTerm, Effect)>,
) -> QueryNode {
    match clause {
        Clause::Term(term) => {
            terms.push((term, effect));
            QueryNode::Leaf(terms.len() - 1)
        }
        Clause::Bonus(term) => {
            terms.push((term, Effect::Bonus));
            QueryNode::Group(Vec::new())
        }
        Clause::Boost(clause, boost) => {
            let effect = match effect {
                Effect::Counts(times) => Effect::Counts(times * boost),
                other => other,
            };
            node(clause, effect, terms)
        }
        Clause::Group(clauses) => {
            let clauses = clauses.iter().map(|(occur, clause)| {
                let effect = if *occur == Occur::MustNot { Effect::Excludes } else { effect };
                (*occur, node(clause, effect, terms))
            });
            QueryNode::Group(clauses.collect())
        }
    }
}

/// Returns the `count` best sections for `clause` that `filter` admits, best first, and the inverse
/// document frequency of each term of the query.
pub(super) fn ranked(
    searcher: &Searcher,
    fields: Fields,
    clause: &Clause,
    filter: &IndexFilter,
    count: usize,
) -> Usable<(Vec<Ranked>, Vec<f32>)> {
    let mut table = FieldTable::of(searcher, fields, &filter.folders)?;
    let plan = RankingPlan::of(searcher, &mut table, clause)?;
    let scan = |segments: &[SegmentReader], from: usize| {
        let mut best = Best::new(count);
        for (ordinal, segment) in (from..).zip(segments) {
            let mut leaves = Vec::with_capacity(plan.leaves.len());
            for (leaf, _) in &plan.leaves {
                leaves.push(leaf.in_segment(&table, ordinal, segment)?);
            }
            let place = if filter.looks_at_places() { Some(column(segment, PLACE)?) } else { None };
            let within = table.population.within.as_ref();
            let scan = SegmentScan {
                plan: &plan,
                filter,
                segment,
                ordinal,
                leaves,
                folders: within.and_then(|within| within.get(ordinal)),
                scopes: scopes(segment, fields, filter)?,
                place,
            };
            scan.run(&mut best);
        }
        Ok(best)
    };
    let segments = searcher.segment_readers();
    let mut parts = in_parts(segments, scan)?.into_iter();
    let mut best = parts.next().unwrap_or_else(|| Best::new(count));
    parts.for_each(|part| best.join(part));
    let mut places = vec![None; segments.len()];
    let mut ranked = Vec::new();
    for found in best.finish() {
        let segment = searcher.segment_reader(u32::try_from(found.segment).unwrap_or(0));
        let Some(columns) = places.get_mut(found.segment) else { continue };
        if columns.is_none() {
            *columns = Some((column(segment, PLACE)?, column(segment, FINGERPRINT)?));
        }
        let Some((place, fingerprint)) = columns else { continue };
        if let Some(number) = place.first(found.section) {
            ranked.push(Ranked {
                place: SectionId::from_number(number),
                score: found.score,
                fingerprint: fingerprint.first(found.section).unwrap_or(0),
            });
        }
    }
    ranked
        .sort_by(|one, other| other.score.total_cmp(&one.score).then(one.place.cmp(&other.place)));
    ranked.truncate(count);
    let weights = plan.leaves.iter().filter_map(|(leaf, effect)| effect.counted(leaf));
    Ok((ranked, weights.collect()))
}

/// Returns the results of `work` for the segments, in order: of all, or of two parts at the same time. `work` gets the
/// segments and the number of those before them.
fn in_parts<T: Send>(
    segments: &[SegmentReader],
    work: impl Fn(&[SegmentReader], usize) -> Usable<T> + Sync,
) -> Usable<Vec<T>> {
    let (one, other) = parallel::halves(segments, |segment| segment.max_doc() as usize);
    if sections(other) < MANY_SECTIONS {
        return Ok(vec![work(segments, 0)?]);
    }
    let (one, other) = parallel::join(|| work(one, 0), || guarded(|| work(other, one.len())));
    let other = other.map_err(|error| Unusable::Damaged(error.to_string()))?;
    Ok(vec![one?, other?])
}

/// Fewer sections are searched by one thread.
const MANY_SECTIONS: usize = if cfg!(test) { 1 } else { 50_000 };

/// Returns the number of sections in `segments`.
fn sections(segments: &[SegmentReader]) -> usize {
    segments.iter().map(|segment| segment.max_doc() as usize).sum()
}

fn column(segment: &SegmentReader, name: &str) -> Usable<Column> {
    Ok(segment.fast_fields().u64(name)?)
}

/// Returns the postings of the values in each list of the scopes of `filter`.
fn scopes(
    segment: &SegmentReader,
    fields: Fields,
    filter: &IndexFilter,
) -> Usable<Vec<Vec<SegmentPostings>>> {
    let postings = |values: &Vec<String>| {
        let index = segment.inverted_index(fields.scope)?;
        let mut postings = Vec::with_capacity(values.len());
        for value in values {
            let term = Term::from_field_text(fields.scope, value);
            postings.extend(index.read_postings(&term, IndexRecordOption::Basic)?);
        }
        Ok(postings)
    };
    filter.scopes.iter().map(postings).collect()
}

/// The search of one segment.
struct SegmentScan<'a> {
    plan: &'a RankingPlan,
    filter: &'a IndexFilter,
    segment: &'a SegmentReader,
    ordinal: usize,
    leaves: Vec<SegmentLeaf<'a>>,
    /// The sections in the folders of the filter; `None` if it names none.
    folders: Option<&'a SectionSet>,
    /// For each condition on the scope, the sections that have one of its values.
    scopes: Vec<Vec<SegmentPostings>>,
    place: Option<Column>,
}

/// The state of the sections in a window.
struct Window {
    start: DocId,
    /// The scores, and the sums of the inverse document frequencies of the terms that a section
    /// contains.
    scores: Box<[Score; WINDOW]>,
    covered: Box<[Score; WINDOW]>,
    /// For the current term, the weighted frequencies of the word as it is written, and of all
    /// words with its stem.
    exact: Box<[Score; WINDOW]>,
    all: Box<[Score; WINDOW]>,
}

impl SegmentScan<'_> {
    fn run(mut self, best: &mut Best) {
        let zero = || Box::new([0.0; WINDOW]);
        let (scores, covered, exact, all) = (zero(), zero(), zero(), zero());
        let mut window = Window { start: 0, scores, covered, exact, all };
        let mut marks = vec![[0; WINDOW / 64]; self.leaves.len()];
        while let Some(start) = self.next_window(window.start) {
            window.start = start;
            window.scores.fill(0.0);
            window.covered.fill(0.0);
            for (leaf, ((known, effect), marks)) in
                self.leaves.iter_mut().zip(self.plan.leaves.iter().zip(&mut marks))
            {
                *marks = window.take(leaf, known, *effect);
            }
            let mut matches = self.plan.root.matches(&marks);
            if let Some(folders) = self.folders {
                matches = combined(&matches, &folders.window(start), |a, b| a & b);
            }
            for postings in &mut self.scopes {
                let mut within = [0; WINDOW / 64];
                for postings in postings {
                    each_section(postings, start, |_, slot| mark(&mut within, slot));
                }
                matches = combined(&matches, &within, |a, b| a & b);
            }
            each_marked(&matches, |slot| self.collect(&window, slot, best));
            window.start += WINDOW_LENGTH;
        }
    }

    /// Returns the start of the next window that may contain a match, or `None` if there is none.
    fn next_window(&mut self, from: DocId) -> Option<DocId> {
        let mut next = TERMINATED;
        for (leaf, (_, effect)) in self.leaves.iter_mut().zip(&self.plan.leaves) {
            if !matches!(effect, Effect::Counts(_)) {
                continue;
            }
            for words in leaf.words.iter_mut().filter(|words| !words.is_context) {
                next = next.min(seek(&mut words.postings, from));
            }
            for (set, _) in &mut leaf.sets {
                next = next.min(if set.doc() < from { set.seek(from) } else { set.doc() });
            }
        }
        if let Some(folders) = self.folders {
            next = folders.first_from(next);
        }
        for postings in &mut self.scopes {
            let target = next;
            let within = postings.iter_mut().map(|postings| seek(postings, target)).min();
            next = within.unwrap_or(TERMINATED);
        }
        (next < TERMINATED).then_some(next / WINDOW_LENGTH * WINDOW_LENGTH)
    }

    /// Adds a matching section to `best`.
    fn collect(&self, window: &Window, slot: usize, best: &mut Best) {
        let (Some(score), Some(covered)) = (window.scores.get(slot), window.covered.get(slot))
        else {
            return;
        };
        let score = score::of_section(*score, *covered, self.plan.rarity);
        if score < best.least {
            return;
        }
        let section = window.start + DocId::try_from(slot).unwrap_or(0);
        if self.segment.alive_bitset().is_some_and(|alive| !alive.is_alive(section)) {
            return;
        }
        if let Some(column) = &self.place {
            let place = column.first(section).map(SectionId::from_number);
            if !place.is_some_and(|place| self.filter.admits(place)) {
                return;
            }
        }
        best.take(ScoredDocument { score, segment: self.ordinal, section });
    }
}

/// Advances to `target`. Returns the first section at or after it.
fn seek(postings: &mut SegmentPostings, target: DocId) -> DocId {
    if postings.doc() < target { postings.seek(target) } else { postings.doc() }
}

/// Calls `visit` with each section of the window at `start`, and its index in the window.
fn each_section(
    postings: &mut SegmentPostings,
    start: DocId,
    mut visit: impl FnMut(&SegmentPostings, usize),
) {
    let mut section = seek(postings, start);
    while section < start + WINDOW_LENGTH {
        visit(postings, (section - start) as usize);
        section = postings.advance();
    }
}

impl Window {
    /// Adds the scores of a term to the sections of the window. Returns the marks of the sections
    /// that it matches.
    fn take(
        &mut self,
        leaf: &mut SegmentLeaf<'_>,
        known: &QueryTermState,
        effect: Effect,
    ) -> Marks {
        let (mut marks, mut context) = ([0; WINDOW / 64], [0; WINDOW / 64]);
        let start = self.start;
        for words in &mut leaf.words {
            let marks = if words.is_context { &mut context } else { &mut marks };
            let (lengths, weight) = (&words.lengths, words.weight);
            let (exact, all, is_exact) = (&mut self.exact, &mut self.all, words.is_exact);
            each_section(&mut words.postings, start, |postings, slot| {
                mark(marks, slot);
                let weight = match lengths {
                    None => weight,
                    Some((reader, by_length)) => {
                        let length = reader.fieldnorm_id(postings.doc());
                        let count = score::number(u64::from(postings.term_freq()));
                        count * by_length.get(usize::from(length)).copied().unwrap_or(0.0)
                    }
                };
                if let Some(all) = all.get_mut(slot) {
                    *all += weight;
                }
                if let Some(exact) = exact.get_mut(slot).filter(|_| is_exact) {
                    *exact += weight;
                }
            });
        }
        let times = match effect {
            Effect::Counts(times) => times,
            Effect::Bonus => score::BONUS_WEIGHT,
            Effect::Excludes => 0.0,
        };
        let share = effect.counted(known).unwrap_or_default();
        // A compound that is written as one word does not count as a phrase, too.
        let counted = marks;
        for (set, weight) in &mut leaf.sets {
            let mut section = if set.doc() < start { set.seek(start) } else { set.doc() };
            while section < start + WINDOW_LENGTH {
                let slot = (section - start) as usize;
                mark(&mut marks, slot);
                if let Some(score) =
                    self.scores.get_mut(slot).filter(|_| !is_marked(&counted, slot))
                {
                    *score += set.score() * *weight * times;
                }
                section = set.advance();
            }
        }
        each_marked(&combined(&marks, &context, |a, b| a | b), |slot| {
            let (Some(score), Some(covered), Some(exact), Some(all)) = (
                self.scores.get_mut(slot),
                self.covered.get_mut(slot),
                self.exact.get_mut(slot),
                self.all.get_mut(slot),
            ) else {
                return;
            };
            *score += times * score::of_term(known.rarity, *exact, *all);
            *covered += share;
            (*exact, *all) = (0.0, 0.0);
        });
        marks
    }
}
