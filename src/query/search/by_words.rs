//! Searching by words: the index ranks sections, and their bytes give the passages.
//!
//! Invariant: the order of hits depends on the store and the queries, not on how many hits are asked for, so
//! that pages join without loss or repetition. Sections that match equally well are ordered by file and
//! offset. A query that finds nothing as it was written is asked again word by word, with a warning.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use super::answer::{Collector, Explanation, Found};
use super::highlight::Highlighter;
use super::hit::{Hit, HitMaker, ScoreParts};
use super::language::Language;
use super::passage::{Pieces, Question};
use super::pattern::PatternOptions;
use super::{Form, Search};
use crate::error::Result;
use crate::limits;
use crate::markdown::outline::{BlockType, NodeKind};
use crate::position::ByteSpan;
use crate::query::library::OpenDocument;
use crate::store::{QueryTerm, Ranked, SectionFilter, StoredDocument, WordQuery};

/// Sections that the index is asked for at most.
const MOST_RANKED: usize = limits::MAX_SEARCH_HITS;
/// The best sections are ordered again by what their passages cover of the question.
const REORDERED: usize = 32;
/// What a passage that covers the whole question counts, beside 1 for the best score of the index.
const COVERAGE: f32 = 3.0;
/// Ranks of each query that are fused.
const FUSED: usize = 200;
/// Reciprocal rank fusion: a section at `rank` (0-based) counts `1 / (FUSION_RANK + rank)`.
const FUSION_RANK: f32 = 10.0;
/// What another phrasing counts, beside 1 for the query itself.
const PHRASING: f32 = 0.7;
/// What a section in another language than the question counts.
const FOREIGN: f32 = 0.8;
/// Bytes of documents that are kept between ordering and showing.
const KEPT_BYTES: usize = 16 << 20;

/// A section that the index ranked.
struct Candidate {
    found: Ranked,
    document: Rc<StoredDocument>,
    score: f32,
    /// Indices of the queries that found it.
    queries: Vec<usize>,
}

impl Candidate {
    /// Best first, then by file and offset.
    fn order(&self, other: &Self) -> Ordering {
        other
            .score
            .total_cmp(&self.score)
            .then_with(|| self.document.path.cmp(&other.document.path))
            .then_with(|| self.found.place.cmp(&other.found.place))
    }
}

/// Sections in their order before passages are looked at.
struct Sections {
    candidates: Vec<Candidate>,
    /// What each term of the queries counts.
    weights: Vec<f32>,
    /// Whether there are no more sections.
    is_complete: bool,
}

/// The text of a section.
struct SectionText {
    document: Rc<OpenDocument>,
    /// Its own text, heading included.
    own: ByteSpan,
    /// Offset after its heading.
    body: usize,
    /// Offset after its subsections.
    end: usize,
    titles: String,
    is_front_matter: bool,
}

/// Candidates with nearly the same text, the best first.
type Group<'a> = Vec<&'a Candidate>;

/// A candidate that may be shown.
struct Shown<'a> {
    candidate: &'a Candidate,
    section: SectionText,
    /// The first word of the query on its best line.
    span: ByteSpan,
    pieces: Pieces,
    parts: ScoreParts,
    /// Addresses of sections with nearly the same text.
    duplicates: Vec<String>,
}

impl Search<'_> {
    /// Searches for the words of `texts`: a question, and other phrasings of it.
    pub(super) fn words(&mut self, texts: &[String]) -> Result<(Found, Explanation)> {
        let mut queries = Vec::with_capacity(texts.len());
        self.language = texts.first().and_then(|text| Language::of(text));
        for text in texts {
            let query = WordQuery::parse(text);
            if !query.has_words() {
                if texts.len() == 1 {
                    return self.no_words(text);
                }
                self.warn("NO_WORDS", format!("{text:?} has no word; it is not searched"));
                continue;
            }
            if let Some(remark) = &query.remark {
                self.warn("QUERY_AS_WORDS", format!("{text:?}: {remark}"));
            }
            if !query.excluded.is_empty() {
                let excluded = query.excluded.join(", ");
                self.warn("EXCLUDES", format!("sections with {excluded} are left out"));
            }
            if let Some(word) = query.hyphenated.first() {
                let message = format!("-{word} is searched as a word; NOT {word} excludes it");
                self.warn("NOT_EXCLUDED", message);
            }
            queries.push(query);
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
            let message =
                "no section has the words as they were joined; each word was searched alone";
            self.warn("LOOSENED", message);
        }
        Ok(found)
    }

    /// Searches for `text` as it is written, because it has no word.
    fn no_words(&mut self, text: &str) -> Result<(Found, Explanation)> {
        let literal = text.trim();
        if literal.is_empty() || literal.len() > limits::MAX_PATTERN_BYTES {
            let (code, message) = if literal.is_empty() {
                ("EMPTY_QUERY", "the query is empty")
            } else {
                ("NO_WORDS", "the query has no word, and is too long to be searched literally")
            };
            self.warn(code, message);
            let collector = Collector::new(self.request, self.part);
            return Ok((collector.finish(), Explanation::default()));
        }
        self.warn("NO_WORDS", "the query has no word; it is searched literally");
        let options = PatternOptions { is_literal: true, ..PatternOptions::default() };
        self.patterns(&[literal.to_owned()], options)
    }

    fn ranked(&mut self, queries: &[WordQuery]) -> Result<(Found, Explanation)> {
        if self.request.form == Form::Hits { self.hits(queries) } else { self.counts(queries) }
    }

    fn explanation(&self, candidates: usize) -> Result<Explanation> {
        let documents = self.documents_in_store()?;
        Ok(Explanation { method: "words", trigrams: 0, candidates, documents })
    }

    /// Sections, best first.
    fn hits(&mut self, queries: &[WordQuery]) -> Result<(Found, Explanation)> {
        let terms = terms(queries);
        let highlighter = Highlighter::new(&terms);
        let filter = self.filter.sections(self.library.snapshot)?;
        let collector = Collector::new(self.request, self.part);
        let wanted = collector.skip.saturating_add(collector.most).saturating_add(1);
        let mut needed = wanted.saturating_mul(2).clamp(4 * REORDERED, MOST_RANKED);
        loop {
            let mut collector = Collector::new(self.request, self.part);
            let mut sections = self.sections(queries, &filter, needed)?;
            count_once(&terms, &mut sections.weights);
            let weights = highlighter.word_weights(&sections.weights);
            let question = Question { highlighter: &highlighter, weights: &weights };
            let is_full = self.take(&sections, &question, queries.len(), &mut collector)?;
            let is_complete = sections.is_complete;
            if is_full || is_complete || needed >= MOST_RANKED {
                if !is_full && !is_complete {
                    collector.has_more = true;
                    self.warn("LIMIT", limits::exceeded("search-hits"));
                }
                self.tell_cap(&collector);
                return Ok((collector.finish(), self.explanation(sections.candidates.len())?));
            }
            needed = needed.saturating_mul(4).min(MOST_RANKED);
        }
    }

    /// How many sections of each document match one of `queries`, in path order.
    fn counts(&mut self, queries: &[WordQuery]) -> Result<(Found, Explanation)> {
        let highlighter = Highlighter::new(&terms(queries));
        let mut collector = Collector::new(self.request, self.part);
        let filter = self.filter.sections(self.library.snapshot)?;
        let is_existence = self.request.form == Form::Existence;
        // One section is enough, unless what is inside decides.
        let is_one_enough = is_existence && !self.filter.looks_inside();
        let needed = if is_one_enough { 1 } else { MOST_RANKED };
        let mut known = HashSet::new();
        let mut counts: BTreeMap<Rc<str>, usize> = BTreeMap::new();
        for query in queries {
            if is_existence && !counts.is_empty() {
                break;
            }
            let Sections { candidates, is_complete, .. } =
                self.settled(query, 0, &filter, needed)?;
            if !is_complete && needed == MOST_RANKED {
                collector.has_more = true;
                self.warn("LIMIT", limits::exceeded("search-hits"));
            }
            for candidate in candidates {
                if !known.insert(candidate.found.place) {
                    continue;
                }
                let is_hit = !self.filter.looks_inside()
                    || match self.section(&candidate)? {
                        Some(section) => {
                            let bytes =
                                self.library.content(&section.document, section.document.span())?;
                            self.best(&section, &bytes, &highlighter).is_some()
                        }
                        None => false,
                    };
                if is_hit {
                    *counts.entry(Rc::from(candidate.document.path.as_str())).or_default() += 1;
                    if is_existence {
                        break;
                    }
                }
            }
        }
        for (path, count) in counts {
            collector.take_count(&path, count);
        }
        Ok((collector.finish(), self.explanation(known.len())?))
    }

    /// At least `needed` sections in their order before passages are looked at, and whether these are all.
    fn sections(
        &mut self,
        queries: &[WordQuery],
        filter: &SectionFilter,
        needed: usize,
    ) -> Result<Sections> {
        let [query] = queries else { return self.fused(queries, filter, needed) };
        self.settled(query, 0, filter, needed)
    }

    /// The fused ranks of all `queries`, and then the rest of the first.
    fn fused(
        &mut self,
        queries: &[WordQuery],
        filter: &SectionFilter,
        needed: usize,
    ) -> Result<Sections> {
        let mut fused: Vec<Candidate> = Vec::new();
        let mut known = HashMap::new();
        let mut weights = Vec::new();
        let mut is_complete = true;
        for (index, query) in queries.iter().enumerate() {
            let share = if index == 0 { 1.0 } else { PHRASING };
            let sections = self.settled(query, index, filter, FUSED)?;
            weights.extend(sections.weights.into_iter().map(|weight| weight * share));
            let mut found = sections.candidates;
            is_complete &= sections.is_complete && found.len() <= FUSED;
            found.truncate(FUSED);
            let mut rank = FUSION_RANK;
            for candidate in found {
                let score = share / rank;
                rank += 1.0;
                let at = *known.entry(candidate.found.place).or_insert(fused.len());
                match fused.get_mut(at) {
                    Some(known) => {
                        known.score += score;
                        known.queries.push(index);
                    }
                    None => fused.push(Candidate { score, ..candidate }),
                }
            }
        }
        fused.sort_by(Candidate::order);
        if !is_complete && fused.len() < needed {
            for (index, query) in queries.iter().enumerate() {
                let sections = self.settled(query, index, filter, needed)?;
                is_complete = sections.is_complete;
                let rest = sections
                    .candidates
                    .into_iter()
                    .filter(|one| !known.contains_key(&one.found.place));
                let rest: Vec<Candidate> = rest.collect();
                for candidate in rest {
                    known.insert(candidate.found.place, fused.len());
                    fused.push(Candidate { score: 0.0, ..candidate });
                }
                if !is_complete {
                    break;
                }
            }
        }
        Ok(Sections { candidates: fused, weights, is_complete })
    }

    /// At least `needed` sections for one query, best first, or all. Sections after them may match as well as
    /// the last, but not better.
    fn settled(
        &mut self,
        query: &WordQuery,
        index: usize,
        filter: &SectionFilter,
        needed: usize,
    ) -> Result<Sections> {
        let snapshot = self.library.snapshot;
        let mut count = needed.saturating_add(needed / 2).clamp(64, MOST_RANKED);
        let mut documents: HashMap<i64, Option<Rc<StoredDocument>>> = HashMap::new();
        loop {
            let ranking = self.full_text.ranked(snapshot, query, filter, count)?;
            let ranked = ranking.sections;
            let is_complete = ranked.len() < count;
            // Which of those that match as well as the last are in the list is the index's choice.
            let last = ranked.last().map(|last| last.score).filter(|_| !is_complete);
            let mut candidates = Vec::with_capacity(ranked.len());
            for found in ranked {
                if last == Some(found.score) && count < MOST_RANKED {
                    continue;
                }
                let id = found.place.document;
                let document = match documents.get(&id) {
                    Some(document) => document.clone(),
                    None => {
                        let stored = snapshot.document(id)?;
                        let stored = stored.filter(|stored| self.filter.takes_document(stored));
                        documents.entry(id).or_insert(stored.map(Rc::new)).clone()
                    }
                };
                let queries = vec![index];
                let score = found.score;
                candidates.extend(document.map(|document| Candidate {
                    found,
                    document,
                    score,
                    queries,
                }));
            }
            if is_complete || candidates.len() >= needed || count == MOST_RANKED {
                candidates.sort_by(Candidate::order);
                return Ok(Sections { candidates, weights: ranking.weights, is_complete });
            }
            count = count.saturating_mul(4).min(MOST_RANKED);
        }
    }

    /// Takes hits, the best first; false if more candidates are needed.
    fn take(
        &self,
        sections: &Sections,
        question: &Question<'_>,
        queries: usize,
        collector: &mut Collector,
    ) -> Result<bool> {
        let mut texts = Texts { search: self, kept: HashMap::new(), size: 0 };
        let best = sections.candidates.first().map_or(1.0, |best| best.score);
        let (first, rest) = self.distinct(&sections.candidates);
        // The order of hits must not depend on how many are asked for.
        if first.len() < REORDERED && !sections.is_complete {
            return Ok(false);
        }
        let first = self.reordered(&first, best, question, &mut texts)?;
        let least = first.last().map_or(f64::MAX, |last| last.parts.sum());
        let mut taken: Vec<&Ranked> = first.iter().map(|shown| &shown.candidate.found).collect();
        let mut take = |shown: Shown<'_>, bytes: &[u8]| {
            let mut hit = self.section_hit(&shown, question, bytes);
            hit.score_parts = self.request.explain.then_some(shown.parts);
            hit.duplicates = shown.duplicates;
            if queries > 1 {
                hit.queries.clone_from(&shown.candidate.queries);
            }
            collector.take_hit(hit)
        };
        for shown in first {
            let bytes = texts.of(&shown.section.document)?;
            if !take(shown, &bytes) {
                return Ok(true);
            }
        }
        for candidate in rest {
            let is_twin = |found: &&Ranked| found.is_near_duplicate(&candidate.found);
            if !self.request.keeps_duplicates && taken.iter().any(is_twin) {
                continue;
            }
            let Some(mut shown) = self.shown(candidate, question, &mut texts)? else { continue };
            shown.parts.ranking = rounded(candidate.score / best).min(least);
            let bytes = texts.of(&shown.section.document)?;
            if !take(shown, &bytes) {
                return Ok(true);
            }
            taken.push(&candidate.found);
        }
        Ok(false)
    }

    /// The best candidates that differ, each with those of nearly the same text after it, and the rest.
    fn distinct<'a>(&self, candidates: &'a [Candidate]) -> (Vec<Group<'a>>, &'a [Candidate]) {
        // Of equal sections, a filter may want another than the best.
        let folds = !self.request.keeps_duplicates && !self.filter.looks_inside();
        let mut groups: Vec<Group<'a>> = Vec::with_capacity(REORDERED);
        for (index, candidate) in candidates.iter().enumerate() {
            let is_twin = |group: &Group<'_>| {
                group.first().is_some_and(|first| first.found.is_near_duplicate(&candidate.found))
            };
            let twin = groups.iter().position(is_twin).filter(|_| folds);
            if let Some(group) = twin.and_then(|twin| groups.get_mut(twin)) {
                group.push(candidate);
            } else if groups.len() < REORDERED {
                groups.push(vec![candidate]);
            } else {
                return (groups, candidates.get(index..).unwrap_or_default());
            }
        }
        (groups, &[])
    }

    /// The best candidates, ordered by what their passages cover too, sections of nearly the same text as one.
    fn reordered<'a>(
        &self,
        groups: &[Group<'a>],
        best: f32,
        question: &Question<'_>,
        texts: &mut Texts<'_>,
    ) -> Result<Vec<Shown<'a>>> {
        let mut all = Vec::with_capacity(groups.len());
        // By document, what its sections cover.
        let mut covered: HashMap<i64, f64> = HashMap::new();
        for group in groups {
            let Some((candidate, twins)) = group.split_first() else { continue };
            let Some(mut shown) = self.shown(candidate, question, texts)? else { continue };
            for twin in twins {
                let section = self.section(twin)?;
                shown.duplicates.extend(section.map(|section| section.address()));
            }
            let share = if self.is_foreign(&shown.section, texts)? { FOREIGN } else { 1.0 };
            let coverage = shown.pieces.coverage(question);
            shown.parts.ranking = rounded(share * candidate.score / best);
            shown.parts.coverage = rounded(share * COVERAGE * coverage);
            let place = candidate.found.place;
            if !place.is_front_matter() {
                let covered = covered.entry(place.document).or_default();
                *covered = covered.max(shown.parts.coverage);
            }
            all.push(shown);
        }
        all.sort_by(|one, other| {
            let by_parts = other.parts.sum().total_cmp(&one.parts.sum());
            by_parts.then_with(|| one.candidate.order(other.candidate))
        });
        let mut result: Vec<Shown<'a>> = Vec::with_capacity(all.len());
        for shown in all {
            let found = &shown.candidate.found;
            // Front matter that shows no more than a section of its document is no hit beside that section.
            let of_document = covered.get(&found.place.document);
            let is_covered = of_document.is_some_and(|covered| *covered >= shown.parts.coverage);
            if found.place.is_front_matter() && is_covered && !self.filter.looks_inside() {
                continue;
            }
            let is_twin = |other: &&mut Shown<'_>| shown.is_twin(other);
            let twin = result.iter_mut().find(is_twin);
            match twin.filter(|_| !self.request.keeps_duplicates) {
                Some(twin) => twin.duplicates.push(shown.section.address()),
                None => result.push(shown),
            }
        }
        Ok(result)
    }

    /// A candidate with its text; `None` if it has no section, or the filter wants nothing of it.
    fn shown<'a>(
        &self,
        candidate: &'a Candidate,
        question: &Question<'_>,
        texts: &mut Texts<'_>,
    ) -> Result<Option<Shown<'a>>> {
        let Some(section) = self.section(candidate)? else { return Ok(None) };
        let bytes = texts.of(&section.document)?;
        let Some(span) = self.best(&section, &bytes, question.highlighter) else { return Ok(None) };
        let pieces = texts.pieces(&section, question)?;
        let parts = ScoreParts::default();
        Ok(Some(Shown { candidate, section, span, pieces, parts, duplicates: Vec::new() }))
    }

    /// Whether the section is in another language than the question.
    fn is_foreign(&self, section: &SectionText, texts: &mut Texts<'_>) -> Result<bool> {
        let Some(language) = self.language else { return Ok(false) };
        let bytes = texts.of(&section.document)?;
        Ok(language.is_foreign(bytes.get(section.body..section.own.end).unwrap_or_default()))
    }

    /// The section of a candidate; `None` if the document has no such section.
    fn section(&self, candidate: &Candidate) -> Result<Option<SectionText>> {
        let document = self.library.open(&candidate.document)?;
        let outline = document.tree.outline();
        let place = candidate.found.place;
        if place.is_front_matter() {
            let own = outline.front_matter;
            return Ok(own.map(|own| SectionText {
                own,
                body: own.start,
                end: own.end,
                titles: document.stored.path.clone(),
                is_front_matter: true,
                document,
            }));
        }
        let Some(index) = place.section.checked_sub(1) else {
            let root = outline.nodes.first().map(|root| root.bytes).unwrap_or_default();
            return Ok(Some(SectionText {
                own: root,
                body: root.start,
                end: root.end,
                titles: document.stored.path.clone(),
                is_front_matter: false,
                document,
            }));
        };
        let Some(section) = outline.sections.get(index) else { return Ok(None) };
        let own = outline.own_text(section);
        let end = outline.nodes.get(section.node).map_or(own.end, |node| node.bytes.end);
        let body = section.heading_end.clamp(own.start, own.end);
        let mut titles = document.stored.path.clone();
        for above in document.tree.sections_above(section.node) {
            titles.push('\n');
            titles.push_str(&above.title);
        }
        Ok(Some(SectionText { own, body, end, titles, is_front_matter: false, document }))
    }

    /// The first word of the query on the line of `section` that has the most; the section's beginning if
    /// its words are only in its title or path; `None` if the filter wants nothing of it.
    fn best(
        &self,
        section: &SectionText,
        bytes: &[u8],
        highlighter: &Highlighter,
    ) -> Option<ByteSpan> {
        let SectionText { document, own, .. } = section;
        let text = bytes.get(own.start..own.end).unwrap_or_default();
        let in_file = |span: ByteSpan| ByteSpan::new(own.start + span.start, own.start + span.end);
        let is_wanted = |span: ByteSpan| self.filter.takes(document, in_file(span));
        match highlighter.best(text, is_wanted) {
            Some(span) => Some(in_file(span)),
            None if self.filter.looks_inside() => None,
            None => Some(ByteSpan::new(own.start, own.start)),
        }
    }

    fn section_hit(&self, shown: &Shown<'_>, question: &Question<'_>, bytes: &[u8]) -> Hit {
        let Shown { candidate, section, span, pieces, .. } = shown;
        let reach = span.end.max(pieces.end());
        let surroundings = self.request.surroundings;
        let path = &candidate.document.path;
        let mut maker = HitMaker::new(path, Some(&*section.document), bytes, reach, surroundings);
        let passage = match self.request.passage {
            0 => Vec::new(),
            most => pieces.windows(question, bytes, maker.lines(), most),
        };
        let freshness = self.library.freshness(&candidate.document);
        let score = Some(rounded(candidate.score));
        Hit { score, passage, freshness, ..maker.hit(*span) }
    }
}

impl Shown<'_> {
    /// Whether the text of both is nearly the same, or both are the same section of two editions of a file.
    fn is_twin(&self, other: &Self) -> bool {
        let (one, other_found) = (&self.candidate.found, &other.candidate.found);
        one.is_near_duplicate(other_found)
            || one.is_similar(other_found) && self.section.edition() == other.section.edition()
    }
}

impl SectionText {
    /// What another edition of the same file has too: the name of the file, and the titles.
    fn edition(&self) -> &str {
        let path = self.titles.find('\n').unwrap_or(self.titles.len());
        let name = self.titles.get(..path).and_then(|path| path.rfind('/')).map_or(0, |at| at + 1);
        self.titles.get(name..).unwrap_or_default()
    }

    /// Its primary address.
    fn address(&self) -> String {
        let document = &self.document;
        if self.is_front_matter {
            return document.address("@frontmatter");
        }
        let node = document.tree.section_at(self.own.start);
        node.map_or_else(|| document.address("root"), |node| document.address_of(node))
    }
}

/// Bytes of documents, some of which are kept.
struct Texts<'a> {
    search: &'a Search<'a>,
    kept: HashMap<i64, Rc<Vec<u8>>>,
    size: usize,
}

impl Texts<'_> {
    fn of(&mut self, document: &OpenDocument) -> Result<Rc<Vec<u8>>> {
        if let Some(bytes) = self.kept.get(&document.stored.id) {
            return Ok(Rc::clone(bytes));
        }
        let bytes = Rc::new(self.search.library.content(document, document.span())?);
        if self.size + bytes.len() > KEPT_BYTES {
            self.kept.clear();
            self.size = 0;
        }
        self.size += bytes.len();
        self.kept.insert(document.stored.id, Rc::clone(&bytes));
        Ok(bytes)
    }

    fn pieces(&mut self, section: &SectionText, question: &Question<'_>) -> Result<Pieces> {
        let SectionText { document, own, body, end, titles, is_front_matter } = section;
        let bytes = self.of(document)?;
        let outline = document.tree.outline();
        let is_wanted = |span| self.search.filter.takes(document, span);
        if *is_front_matter {
            let paragraph = outline
                .nodes
                .iter()
                .find(|node| node.kind == NodeKind::Block(BlockType::Paragraph));
            let paragraph = paragraph.map(|node| node.bytes);
            return Ok(question.front_matter(&bytes, *own, paragraph, is_wanted));
        }
        let text = ByteSpan::new(*body, own.end.max(*body));
        let front_matter = outline.front_matter.and_then(|span| bytes.get(span.start..span.end));
        let titles = match front_matter.and_then(title_line) {
            Some(title) => format!("{titles}\n{title}"),
            None => titles.clone(),
        };
        Ok(question.pieces(&bytes, outline, text, *end, &titles, is_wanted))
    }
}

/// The line of front matter that gives the title, which entitles all sections.
fn title_line(front_matter: &[u8]) -> Option<String> {
    let mut lines = front_matter.split(|byte| matches!(byte, b'\n' | b'\r'));
    let line = lines.find(|line| {
        let key = line.strip_prefix(b"\"").unwrap_or(line);
        key.strip_prefix(b"title")
            .is_some_and(|rest| matches!(rest.first(), Some(b':' | b' ' | b'"')))
    })?;
    Some(String::from_utf8_lossy(line.get("title".len()..).unwrap_or_default()).into_owned())
}

/// The terms of all `queries`, in their order.
fn terms(queries: &[WordQuery]) -> Vec<&QueryTerm> {
    queries.iter().flat_map(WordQuery::terms).collect()
}

/// Has a term of several queries count once.
fn count_once(terms: &[&QueryTerm], weights: &mut [f32]) {
    let mut known = HashSet::new();
    for (term, weight) in terms.iter().zip(weights) {
        if !known.insert((&term.words, &term.compound)) {
            *weight = 0.0;
        }
    }
}

/// A score with three decimals.
fn rounded(score: f32) -> f64 {
    (f64::from(score) * 1000.0).round() / 1000.0
}
