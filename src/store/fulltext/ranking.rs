//! Which sections of an index match a query in words, and how well.
//!
//! A segment is looked at in windows of successive sections. Each term of the query marks the sections of
//! the window that hold it and adds to their scores; the tree of the query is evaluated on the marks. A
//! score is BM25 over all fields as one text (BM25F), the word as it is written beside those of its stem,
//! times the share of the query, by rarity, that the section and its titles hold. Invariant: what the
//! filter does not admit is never among the best.

use std::collections::HashSet;

use tantivy::columnar::Column;
use tantivy::postings::{Postings as _, SegmentPostings};
use tantivy::query_grammar::Occur;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet as _, Score, Searcher, SegmentReader, TERMINATED, Term};

use super::Usable;
use super::best::{Best, Match};
use super::fingerprint::{is_near, is_similar};
use super::leaf::{FieldTable, Leaf, SegmentLeaf};
use super::marks::{Marks, WINDOW, WINDOW_LENGTH, combined, each_marked, mark};
use super::query::Clause;
use super::schema::{FINGERPRINT, Fields, PLACE, Place};
use super::term::QueryTerm;

/// How soon more of the same word counts no more.
const SATURATION: Score = 1.6;
/// What the words of a stem count, of 1, beside the word as it is written.
const STEM_SHARE: Score = 0.7;
/// What a phrase counts that is sought by its words, too.
const BONUS_WEIGHT: Score = 0.3;
/// How much the share of the query counts that a section covers, as a power of it.
const COVERAGE: Score = 0.7;

/// A section and how well it matches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranked {
    /// Which section.
    pub place: Place,
    /// How well it matches.
    pub score: f32,
    fingerprint: u64,
}

impl Ranked {
    /// Whether the texts of both are nearly the same, as those of two editions are.
    pub fn is_near_duplicate(&self, other: &Self) -> bool {
        is_near(self.fingerprint, other.fingerprint)
    }

    /// Whether the texts of both have about half of their words in common, or more, or none has words.
    pub fn is_similar(&self, other: &Self) -> bool {
        is_similar(self.fingerprint, other.fingerprint)
    }
}

/// Which sections are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SectionFilter {
    /// Folders, of which the document is in one; where there are none, it may be anywhere.
    pub folders: Vec<String>,
    /// Sets of ids of documents, in each of which the document is.
    pub documents: Vec<HashSet<i64>>,
    /// The level of the section.
    pub level: Option<u8>,
    /// Whether front matter is wanted alone, or not at all.
    pub front_matter: Option<bool>,
}

impl SectionFilter {
    /// Whether it looks at more than the folder.
    fn looks_at_places(&self) -> bool {
        !self.documents.is_empty() || self.level.is_some() || self.front_matter.is_some()
    }

    /// Whether it wants the section at `place`, if that is in one of its folders.
    fn admits(&self, place: Place) -> bool {
        self.level.is_none_or(|level| level == place.level)
            && self.front_matter.is_none_or(|wanted| wanted == place.is_front_matter())
            && self.documents.iter().all(|documents| documents.contains(&place.document))
    }
}

/// The tree of a query, its terms by their number.
enum Node {
    Leaf(usize),
    Group(Vec<(Occur, Node)>),
}

impl Node {
    /// What matches, where the terms match what is marked of each.
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

/// What a term does to a match.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Effect {
    /// It adds this many times its score, and covers its share of the query.
    Counts(Score),
    /// It adds a part of its score.
    Bonus,
    /// It does nothing.
    Excludes,
}

/// A query, its terms looked up.
struct Plan {
    leaves: Vec<(Leaf, Effect)>,
    root: Node,
    /// How rare all terms are together.
    rarity: Score,
}

impl Plan {
    fn of(searcher: &Searcher, table: &FieldTable, clause: &Clause) -> Usable<Self> {
        let mut terms = Vec::new();
        let root = node(clause, Effect::Counts(1.0), &mut terms);
        let mut leaves = Vec::with_capacity(terms.len());
        let mut rarity = 0.0;
        for (term, effect) in terms {
            let leaf = Leaf::look_up(searcher, table, term)?;
            if matches!(effect, Effect::Counts(_)) {
                rarity += leaf.rarity;
            }
            leaves.push((leaf, effect));
        }
        Ok(Self { leaves, root, rarity })
    }
}

/// The tree of `clause`, whose terms are added to `terms`.
fn node<'a>(clause: &'a Clause, effect: Effect, terms: &mut Vec<(&'a QueryTerm, Effect)>) -> Node {
    match clause {
        Clause::Term(term) => {
            terms.push((term, effect));
            Node::Leaf(terms.len() - 1)
        }
        Clause::Bonus(term) => {
            terms.push((term, Effect::Bonus));
            Node::Group(Vec::new())
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
            Node::Group(clauses.collect())
        }
    }
}

/// The `count` best sections for `clause` that `filter` wants, best first, and how rare each of the terms
/// of the query is.
pub(super) fn ranked(
    searcher: &Searcher,
    fields: Fields,
    clause: &Clause,
    filter: &SectionFilter,
    count: usize,
) -> Usable<(Vec<Ranked>, Vec<f32>)> {
    let table = FieldTable::of(searcher, fields)?;
    let plan = Plan::of(searcher, &table, clause)?;
    let mut best = Best { count: count.max(1), matches: Vec::new(), least: 0.0 };
    let mut places = Vec::new();
    for (ordinal, segment) in searcher.segment_readers().iter().enumerate() {
        let mut leaves = Vec::with_capacity(plan.leaves.len());
        for (leaf, _) in &plan.leaves {
            leaves.push(leaf.in_segment(&table, ordinal, segment)?);
        }
        let place = if filter.looks_at_places() { Some(column(segment, PLACE)?) } else { None };
        let folders = folders(segment, fields, filter)?;
        let scan = Scan { plan: &plan, filter, segment, ordinal, leaves, folders, place };
        scan.run(&mut best);
        places.push(None);
    }
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
                place: Place::from_number(number),
                score: found.score,
                fingerprint: fingerprint.first(found.section).unwrap_or(0),
            });
        }
    }
    let counts = |effect: &Effect| matches!(effect, Effect::Counts(_));
    let weights = plan.leaves.iter().filter(|(_, effect)| counts(effect));
    Ok((ranked, weights.map(|(leaf, _)| leaf.rarity).collect()))
}

fn column(segment: &SegmentReader, name: &str) -> Usable<Column> {
    Ok(segment.fast_fields().u64(name)?)
}

/// The sections of each of the folders of `filter`; `None` where it names none.
fn folders(
    segment: &SegmentReader,
    fields: Fields,
    filter: &SectionFilter,
) -> Usable<Option<Vec<SegmentPostings>>> {
    if filter.folders.is_empty() {
        return Ok(None);
    }
    let index = segment.inverted_index(fields.scope)?;
    let mut postings = Vec::new();
    for folder in &filter.folders {
        let term = Term::from_field_text(fields.scope, folder);
        let found = index.read_postings(&term, IndexRecordOption::Basic);
        postings.extend(found?);
    }
    Ok(Some(postings))
}

/// The search of one segment.
struct Scan<'a> {
    plan: &'a Plan,
    filter: &'a SectionFilter,
    segment: &'a SegmentReader,
    ordinal: usize,
    leaves: Vec<SegmentLeaf<'a>>,
    folders: Option<Vec<SegmentPostings>>,
    place: Option<Column>,
}

/// What is known of the sections of a window.
struct Window {
    start: DocId,
    /// Their scores, and the rarity of what they cover of the query.
    scores: Box<[Score; WINDOW]>,
    covered: Box<[Score; WINDOW]>,
    /// For the term under way, how often its words are in them: the one of the query, and all.
    exact: Box<[Score; WINDOW]>,
    all: Box<[Score; WINDOW]>,
}

impl Scan<'_> {
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
            if let Some(folders) = &mut self.folders {
                let mut within = [0; WINDOW / 64];
                for folder in folders {
                    each_section(folder, start, |_, slot| mark(&mut within, slot));
                }
                matches = combined(&matches, &within, |a, b| a & b);
            }
            each_marked(&matches, |slot| self.collect(&window, slot, best));
            window.start += WINDOW_LENGTH;
        }
    }

    /// Where the next window begins that may have a match; `None` behind the last.
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
        if let Some(folders) = &mut self.folders {
            let target = next;
            let within = folders.iter_mut().map(|folder| seek(folder, target)).min();
            next = within.unwrap_or(TERMINATED);
        }
        (next < TERMINATED).then_some(next / WINDOW_LENGTH * WINDOW_LENGTH)
    }

    /// Takes a section that matches.
    fn collect(&self, window: &Window, slot: usize, best: &mut Best) {
        let (Some(score), Some(covered)) = (window.scores.get(slot), window.covered.get(slot))
        else {
            return;
        };
        let share = if self.plan.rarity > 0.0 { covered / self.plan.rarity } else { 1.0 };
        let score = score * share.powf(COVERAGE);
        if score <= best.least && best.least > 0.0 {
            return;
        }
        let section = window.start + DocId::try_from(slot).unwrap_or(0);
        if self.segment.alive_bitset().is_some_and(|alive| !alive.is_alive(section)) {
            return;
        }
        if let Some(column) = &self.place {
            let place = column.first(section).map(Place::from_number);
            if !place.is_some_and(|place| self.filter.admits(place)) {
                return;
            }
        }
        best.take(Match { score, segment: self.ordinal, section });
    }
}

/// Goes on to `target`; what is there or behind it.
fn seek(postings: &mut SegmentPostings, target: DocId) -> DocId {
    if postings.doc() < target { postings.seek(target) } else { postings.doc() }
}

/// Calls `visit` with each section of the window at `start`, as its number and its place in the window.
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
    /// Adds what the sections of the window get for a term; marks those that it matches.
    fn take(&mut self, leaf: &mut SegmentLeaf<'_>, known: &Leaf, effect: Effect) -> Marks {
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
                        #[expect(clippy::cast_precision_loss, reason = "a score needs none")]
                        let count = postings.term_freq() as Score;
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
            Effect::Bonus => BONUS_WEIGHT,
            Effect::Excludes => 0.0,
        };
        for (set, weight) in &mut leaf.sets {
            let mut section = if set.doc() < start { set.seek(start) } else { set.doc() };
            while section < start + WINDOW_LENGTH {
                let slot = (section - start) as usize;
                mark(&mut marks, slot);
                if let Some(score) = self.scores.get_mut(slot) {
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
            let stemmed = STEM_SHARE * known.rarity * saturated(*all);
            let as_written = (1.0 - STEM_SHARE) * known.exact_rarity * saturated(*exact);
            *score += times * (stemmed + as_written);
            if matches!(effect, Effect::Counts(_)) {
                *covered += known.rarity;
            }
            (*exact, *all) = (0.0, 0.0);
        });
        marks
    }
}

/// What a word counts that is so often in a text.
fn saturated(count: Score) -> Score {
    count * (SATURATION + 1.0) / (count + SATURATION)
}
