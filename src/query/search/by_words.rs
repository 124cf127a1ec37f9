//! Searches for words: the index ranks sections, and their bytes give the passages.
//!
//! Invariant: the order of hits depends on the store and the queries, and not on the number of hits
//! requested, so pages neither overlap nor leave gaps. Sections with equal scores are sorted by file and
//! offset. A query that finds nothing is repeated without its operators, with a warning.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::answer::{Collector, Explanation, FoundItems, Method};
use super::candidates::{MOST_RANKED, RankedCandidate, RankedSections, Wording};
use super::highlight::Highlighter;
use super::hit::Hit;
use super::hit_maker::{HitMaker, Lines};
use super::language::Language;
use super::pattern::PatternOptions;
use super::question::WeightedTerms;
use super::scored::{DocumentText, DocumentTexts, REORDERED, ScoredSection, ScoredText, rounded};
use super::{OutputMode, PassageChars, Search};
use crate::error::Result;
use crate::limits;
use crate::position::ByteSpan;
use crate::query::page::shorten;
use crate::store::StoredDocument;
use crate::terms::{QueryTerm, WordQuery, halves};
use crate::visible::quoted;

/// Length in Unicode scalars that a passage is expected to have. Most are longer, so that few searches must be
/// repeated for more.
const EXPECTED_CHARS: usize = 300;
/// The most names of a query that are looked for before it is searched. Each of them takes a search.
const MOST_LOOKED_FOR: usize = 8;
/// A first hit is far ahead if its score is more than this many times that of the second.
const LEAD: f64 = 1.3;

impl Search<'_> {
    /// Searches for the words of `texts`: a question, and other wordings of it.
    pub(super) fn words(&mut self, texts: &[String]) -> Result<(FoundItems, Explanation)> {
        let mut queries = Vec::with_capacity(texts.len());
        let mut excluded: Vec<String> = Vec::new();
        self.language = texts.first().and_then(|text| Language::of(text));
        for (index, text) in texts.iter().enumerate() {
            let query = WordQuery::parse(text);
            if !query.has_words() {
                if texts.len() == 1 {
                    return self.no_words(text);
                }
                self.warn(
                    "NO_WORDS",
                    format!("{text} has no word; it is not searched", text = quoted(&text)),
                );
                continue;
            }
            if let Some(notice) = &query.notice {
                let mut shown = text.clone();
                shorten(&mut shown, limits::MAX_HINT_CHARS);
                self.warn("QUERY_AS_WORDS", format!("{shown}: {notice}", shown = quoted(&shown)));
            }
            for word in &query.excluded {
                if !excluded.contains(word) {
                    excluded.push(word.clone());
                }
            }
            // The other phrasings are the same question, so one warning is enough.
            if let Some(word) = query.hyphenated.first().filter(|_| index == 0) {
                let message = format!("-{word} is searched as a word; NOT {word} excludes it");
                self.warn("NOT_EXCLUDED", message);
            }
            self.searched.push(index);
            queries.push(query);
        }
        if texts.len() == 1 {
            self.searched.clear();
        }
        if !excluded.is_empty() {
            WordQuery::share_exclusions(&mut queries);
            let terms: Vec<&QueryTerm> =
                queries.iter().flat_map(WordQuery::excluded_terms).collect();
            self.excluded = Some(Highlighter::new(&terms));
            let excluded = excluded.join(", ");
            self.warn("EXCLUDES", format!("sections with {excluded} are left out"));
        }
        self.divide_absent(&mut queries)?;
        if let Some(name) = self.filter.only_folder_name() {
            let mut shorter = queries.clone();
            for query in &mut shorter {
                query.drop_words_of(name);
            }
            if shorter != queries {
                let found = self.ranked(&shorter)?;
                if found.0.has_hit {
                    return Ok(found);
                }
            }
        }
        let found = self.ranked(&queries)?;
        if found.0.has_hit {
            return Ok(found);
        }
        let mut is_looser = false;
        for query in &mut queries {
            if let Some(loose) = query.loosened() {
                *query = loose;
                is_looser = true;
            }
        }
        if !is_looser {
            return Ok(found);
        }
        let found = self.ranked(&queries)?;
        if found.0.has_hit {
            let message = "no section matches the query as written; each word was searched \
                           alone and in its other forms";
            self.warn("LOOSENED", message);
        }
        Ok(found)
    }

    /// Divides each name that no section has, such as `std::vector::push`, so that the other words of the query do not
    /// hide that it was not found. The names in a qualified one may be absent, too.
    fn divide_absent(&mut self, queries: &mut [WordQuery]) -> Result<()> {
        let filter = self.filter.sections();
        let mut known: Vec<QueryTerm> = Vec::new();
        let mut first: Option<String> = None;
        for _ in 0..2 {
            let mut absent = Vec::new();
            for name in queries.iter().flat_map(WordQuery::divisible) {
                if known.contains(&name) || known.len() == MOST_LOOKED_FOR {
                    continue;
                }
                let alone = WordQuery::of_term(name.clone());
                if self.session.reader.ranked(&alone, &filter, 1)?.sections.is_empty() {
                    absent.push(name.clone());
                }
                known.push(name);
            }
            if absent.is_empty() {
                break;
            }
            for query in &mut *queries {
                query.divide(&absent);
            }
            let names = absent.iter().filter_map(|name| name.written.as_deref());
            first.get_or_insert_with(|| names.collect::<Vec<_>>().join(", "));
        }
        if let Some(names) = first {
            self.warn("LOOSENED", format!("no section has {names}; the parts are searched"));
        }
        Ok(())
    }

    /// Searches for `text` literally, because it contains no word.
    fn no_words(&mut self, text: &str) -> Result<(FoundItems, Explanation)> {
        let literal = text.trim();
        if literal.is_empty() || literal.len() > limits::MAX_PATTERN_BYTES {
            let (code, message) = if literal.is_empty() {
                ("EMPTY_QUERY", "the query is empty")
            } else {
                ("NO_WORDS", "the query has no word, and is too long to be searched literally")
            };
            self.warn(code, message);
            let collector = Collector::new(self.request, self.part);
            return Ok((collector.finish(), self.explanation(0)?));
        }
        self.warn("NO_WORDS", "the query has no word; it is searched literally");
        let options = PatternOptions { is_literal: true, ..PatternOptions::default() };
        self.patterns(&[literal.to_owned()], options)
    }

    fn ranked(&mut self, queries: &[WordQuery]) -> Result<(FoundItems, Explanation)> {
        if self.request.form == OutputMode::Hits {
            self.hits(queries)
        } else {
            self.counts(queries)
        }
    }

    fn explanation(&self, candidates: usize) -> Result<Explanation> {
        let documents = self.documents_in_store()?;
        Ok(Explanation { method: Method::Words, trigrams: 0, candidates, documents })
    }

    /// Returns sections, best first.
    fn hits(&mut self, queries: &[WordQuery]) -> Result<(FoundItems, Explanation)> {
        let terms = terms(queries);
        let highlighter = Highlighter::new(&terms);
        let filter = self.filter.sections();
        let collector = Collector::new(self.request, self.part);
        let fitting = self.request.max_chars.map_or(usize::MAX, |most| most / EXPECTED_CHARS + 1);
        let wanted = collector.skip.saturating_add(collector.most.min(fitting)).saturating_add(1);
        let mut needed = wanted.saturating_mul(2).clamp(2 * REORDERED, MOST_RANKED);
        loop {
            let mut collector = Collector::new(self.request, self.part);
            let sections = self.sections(queries, &filter, needed)?;
            let question = question(&highlighter, &terms, &sections.wordings);
            let is_full = self.take(&sections, &question, &mut collector)?;
            let is_complete = sections.is_complete;
            if is_full || is_complete || needed >= MOST_RANKED {
                if !is_full && !is_complete {
                    collector.has_more = true;
                    self.warn("LIMIT", limits::exceeded(limits::row::MAX_SEARCH_HITS));
                }
                self.warn_if_capped(&collector);
                return Ok((collector.finish(), self.explanation(sections.candidates.len())?));
            }
            needed = needed.saturating_mul(4).min(MOST_RANKED);
        }
    }

    /// Counts the sections of each document that match one of `queries`. The documents with the best sections for the
    /// first query come first.
    fn counts(&mut self, queries: &[WordQuery]) -> Result<(FoundItems, Explanation)> {
        let highlighter = Highlighter::new(&terms(queries));
        let mut collector = Collector::new(self.request, self.part);
        let filter = self.filter.sections();
        let is_existence = self.request.form == OutputMode::Existence;
        // One section is enough, unless a filter looks inside documents.
        let is_one_enough = is_existence && !self.filter.looks_inside();
        let needed = if is_one_enough { 1 } else { MOST_RANKED };
        let mut known = HashSet::new();
        let mut counts: Vec<(Rc<StoredDocument>, usize)> = Vec::new();
        // The index of each document in `counts`.
        let mut indices: HashMap<i64, usize> = HashMap::new();
        for query in queries {
            if is_existence && !counts.is_empty() {
                break;
            }
            let RankedSections { candidates, is_complete, .. } =
                self.sections_of(query, 0, &filter, needed)?;
            if !is_complete && needed == MOST_RANKED {
                collector.has_more = true;
                self.warn("LIMIT", limits::exceeded(limits::row::MAX_SEARCH_HITS));
            }
            let mut texts = DocumentTexts::new(self);
            for candidate in candidates {
                if !known.insert(candidate.found.place) {
                    continue;
                }
                let is_hit = !self.filter.looks_inside()
                    || match self.section(&candidate)? {
                        Some(section) => {
                            let bytes = texts.of(&section.document)?;
                            let occurrences = highlighter.occurrences(&bytes, section.own);
                            let is_taken = |span| self.filter.takes(&section.document, span);
                            highlighter.best(&bytes, section.own, &occurrences, is_taken).is_some()
                        }
                        None => false,
                    };
                if is_hit {
                    let document = &candidate.document;
                    let index = *indices.entry(document.id).or_insert(counts.len());
                    match counts.get_mut(index) {
                        Some((_, count)) => *count += 1,
                        None => counts.push((Rc::clone(document), 1)),
                    }
                    if is_existence {
                        break;
                    }
                }
            }
        }
        for (document, count) in &counts {
            collector.take_count(&document.path, *count);
        }
        self.warn_of_changes(counts.iter().map(|(document, _)| &**document));
        Ok((collector.finish(), self.explanation(known.len())?))
    }

    /// Adds hits, best first. Returns false if more candidates are needed.
    fn take(
        &self,
        sections: &RankedSections,
        question: &WeightedTerms<'_>,
        collector: &mut Collector,
    ) -> Result<bool> {
        let mut texts = DocumentTexts::new(self);
        let (first, rest) = self.distinct(&sections.candidates)?;
        let best = first.first().and_then(|group| group.first()).map_or(1.0, |best| best.score);
        // The order of hits must not depend on the number of hits requested.
        if first.len() < REORDERED && !sections.is_complete {
            return Ok(false);
        }
        let first = self.reordered(&first, best, question, &mut texts)?;
        let taking = Taking { first: &first, rest, best, question };
        let is_full = self.take_with(&taking, self.request.passage, &mut texts, collector)?;
        // Further sections would have to be scored again.
        let is_complete = sections.is_complete && rest.is_empty() && !is_full;
        if self.request.passage.grows && is_complete && self.part.start() == 0 {
            let mut longer = Collector::new(self.request, self.part);
            let full = PassageChars::new(None, None);
            if !self.take_with(&taking, full, &mut texts, &mut longer)? {
                collector.longer = Some(longer.hits);
            }
        }
        Ok(is_full)
    }

    /// Adds hits with passages of these lengths, best first. Returns whether no more hits are needed.
    fn take_with(
        &self,
        taking: &Taking<'_>,
        passage: PassageChars,
        texts: &mut DocumentTexts<'_>,
        collector: &mut Collector,
    ) -> Result<bool> {
        let Taking { first, rest, best, question } = *taking;
        let least = first.last().map_or(f64::MAX, |last| last.parts.sum());
        let sum = |index: usize| first.get(index).map_or(0.0, |scored| scored.parts.sum());
        let skipped = collector.skip;
        let mut taker = HitTaker {
            search: self,
            question,
            passage,
            is_ahead: sum(0) > LEAD * sum(1),
            shown: HashMap::new(),
            taken: Vec::new(),
            by_half: HashMap::new(),
            is_full: false,
            collector,
        };
        for scored in first {
            let text = texts.of(&scored.section.document)?;
            taker.take(scored, &text);
            if taker.is_full {
                break;
            }
        }
        // A lower section with nearly the same text is a duplicate of a taken hit, even if no more hits are taken.
        let mut twins: Vec<(usize, &RankedCandidate)> = Vec::new();
        for candidate in rest {
            if let Some(twin) = taker.twin_of(candidate)? {
                twins.extend(twin.checked_sub(skipped).map(|index| (index, candidate)));
                continue;
            }
            if taker.is_full {
                continue;
            }
            let Some(mut scored) = self.scored(candidate, question, texts)? else { continue };
            scored.parts.ranking = rounded(candidate.score / best).min(least);
            let text = texts.of(&scored.section.document)?;
            taker.take(&scored, &text);
        }
        let HitTaker { is_full, collector, .. } = taker;
        twins.retain(|(index, _)| *index < collector.hits.len());
        self.session.open_together(twins.iter().map(|(_, twin)| &*twin.document))?;
        for (index, twin) in twins {
            if let Some(hit) = collector.hits.get_mut(index) {
                hit.duplicates.extend(self.section(twin)?.map(|section| section.address()));
            }
        }
        Ok(is_full)
    }

    fn section_hit(
        &self,
        scored: &ScoredSection<'_>,
        question: &WeightedTerms<'_>,
        text: &DocumentText,
        most: usize,
        shown: &[ByteSpan],
    ) -> Hit {
        let ScoredSection { candidate, section, span, pieces, .. } = scored;
        let surroundings = self.request.surroundings;
        let path = &candidate.document.path;
        let document = Some(&*section.document);
        let detail = self.request.detail;
        let lines = Lines::Indexed(text.lines());
        let mut maker = HitMaker::new(path, document, text, lines, surroundings, detail);
        let passage = match most {
            0 => Vec::new(),
            most => pieces.windows(question, text, text.lines(), most, shown),
        };
        let freshness = self.session.freshness(&candidate.document);
        let score = Some(rounded(candidate.score));
        let mut hit = Hit { score, passage, freshness, ..maker.hit(*span) };
        hit.lossy = candidate.document.is_lossy_in(hit.texts());
        hit
    }
}

/// Sections that answer a question, best first.
#[derive(Clone, Copy)]
struct Taking<'a> {
    /// Those that are scored.
    first: &'a [ScoredSection<'a>],
    rest: &'a [RankedCandidate],
    /// The best score of the index.
    best: f32,
    question: &'a WeightedTerms<'a>,
}

/// Adds the sections that answer a question to a collector, best first.
struct HitTaker<'a> {
    search: &'a Search<'a>,
    question: &'a WeightedTerms<'a>,
    passage: PassageChars,
    /// Whether the next section is the first one and far ahead of the second.
    is_ahead: bool,
    /// The spans of each document that were shown.
    shown: HashMap<i64, Vec<ByteSpan>>,
    /// The hits, with those that were skipped.
    taken: Vec<&'a RankedCandidate>,
    /// The indices of the hits with each half of a fingerprint, in order.
    by_half: HashMap<u64, Vec<usize>>,
    /// Whether no more hits are needed.
    is_full: bool,
    collector: &'a mut Collector,
}

impl<'a> HitTaker<'a> {
    /// Adds a section of a document with this text, unless a hit before shows it.
    fn take(&mut self, scored: &ScoredSection<'a>, text: &DocumentText) {
        let request = self.search.request;
        let folds = !request.keeps_duplicates;
        let PassageChars { leading, other, .. } = self.passage;
        let most = if std::mem::take(&mut self.is_ahead) { leading } else { other };
        let of_document = self.shown.entry(scored.candidate.document.id).or_default();
        // The titles of a hit name the sections above it, and its passage has the headings below it.
        if folds && scored.pieces.are_in(of_document) {
            return;
        }
        let mut hit = self.search.section_hit(scored, self.question, text, most, of_document);
        if folds {
            of_document.extend(hit.passage.iter().map(|window| {
                let after = text.get(window.byte_end..).unwrap_or_default();
                let blanks = after.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
                ByteSpan::new(window.byte_start, window.byte_end + blanks)
            }));
            let ScoredText { own, body, .. } = scored.section;
            of_document.push(ByteSpan::new(own.start, body));
        }
        hit.score_parts = request.explain.then_some(scored.parts);
        hit.duplicates.clone_from(&scored.duplicates);
        let searched = |index: &usize| self.search.searched.get(*index).copied();
        hit.queries = scored.candidate.queries.iter().filter_map(searched).collect();
        if self.collector.take_hit(hit) {
            for half in halves(scored.candidate.found.fingerprint) {
                self.by_half.entry(half).or_default().push(self.taken.len());
            }
            self.taken.push(scored.candidate);
        } else {
            self.is_full = true;
        }
    }

    /// Returns the index of the hit, counted with those that were skipped, that has nearly the same text.
    fn twin_of(&self, candidate: &RankedCandidate) -> Result<Option<usize>> {
        if self.search.request.keeps_duplicates {
            return Ok(None);
        }
        let halves = halves(candidate.found.fingerprint);
        let mut alike: Vec<usize> =
            halves.filter_map(|half| self.by_half.get(&half)).flatten().copied().collect();
        alike.sort_unstable();
        alike.dedup();
        let hits = alike.iter().filter_map(|index| self.taken.get(*index).copied());
        let twin = self.search.twin_among(hits, candidate)?;
        Ok(twin.and_then(|twin| alike.get(twin).copied()))
    }
}

/// Returns the terms of all `queries`, in order.
fn terms(queries: &[WordQuery]) -> Vec<&QueryTerm> {
    queries.iter().flat_map(WordQuery::terms).collect()
}

/// Returns the question with the words of `terms`, which are the terms of all `wordings`.
fn question<'a>(
    highlighter: &'a Highlighter,
    terms: &[&QueryTerm],
    wordings: &[Wording],
) -> WeightedTerms<'a> {
    let of_words = |is_counted: &dyn Fn(usize) -> bool| {
        let counted = wordings.iter().enumerate().flat_map(|(index, one)| {
            let weight = if is_counted(index) { 1.0 } else { 0.0 };
            one.rarities.iter().map(move |rarity| rarity * weight)
        });
        let mut weights: Vec<f32> = counted.collect();
        count_once(terms, &mut weights);
        highlighter.word_weights(&weights)
    };
    let of_each = wordings.iter().enumerate().map(|(index, one)| {
        let mut weights = of_words(&|other| other == index);
        weights.push(if one.asks_for_number { mean(&weights) } else { 0.0 });
        weights
    });
    let of_each = of_each.collect();
    let mut weights = of_words(&|_| true);
    let asks_for_number = wordings.iter().any(|one| one.asks_for_number);
    let number = asks_for_number.then_some(weights.len());
    weights.extend(number.map(|_| mean(&weights)));
    WeightedTerms { highlighter, weights, wordings: of_each, number }
}

/// Returns the mean of the weights that are not 0; 0 if all are.
#[expect(clippy::cast_precision_loss, reason = "a query has few words")]
fn mean(weights: &[f32]) -> f32 {
    let count = weights.iter().filter(|weight| **weight > 0.0).count().max(1);
    weights.iter().sum::<f32>() / count as f32
}

/// Sets the weight of repeated terms to 0, so each term counts once.
fn count_once(terms: &[&QueryTerm], weights: &mut [f32]) {
    let mut known = HashSet::new();
    for (term, weight) in terms.iter().zip(weights) {
        if *weight > 0.0 && !known.insert((&term.words, &term.compound)) {
            *weight = 0.0;
        }
    }
}
