//! Searching by words: the index ranks sections, and their bytes tell the line.
//!
//! Invariant: hits come best first, those that match equally well by file and offset; a query that finds
//! nothing as it was written is asked again word by word, and that is told.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

use super::answer::{Collector, Explanation, Found};
use super::highlight::Highlighter;
use super::hit::{Hit, HitMaker};
use super::pattern::PatternOptions;
use super::{Form, Search};
use crate::error::Result;
use crate::limits;
use crate::position::ByteSpan;
use crate::store::{Ranked, StoredDocument, WordQuery};

/// Sections that the index is asked for at most.
const MOST_RANKED: usize = limits::MAX_SEARCH_HITS;

impl Search<'_> {
    pub(super) fn words(&mut self, text: &str) -> Result<(Found, Explanation)> {
        let query = WordQuery::parse(text);
        if !query.has_words() {
            let literal = text.trim();
            if literal.is_empty() {
                self.warn("EMPTY_QUERY", "the query is empty");
                let collector = Collector::new(self.request, self.part);
                return Ok((collector.finish(), Explanation::default()));
            }
            if literal.len() > limits::MAX_PATTERN_BYTES {
                self.warn("NO_WORDS", "the query holds no word, and is too long to be looked for");
                let collector = Collector::new(self.request, self.part);
                return Ok((collector.finish(), Explanation::default()));
            }
            self.warn("NO_WORDS", "the query holds no word; it is looked for as it stands");
            let options = PatternOptions { is_literal: true, ..PatternOptions::default() };
            return self.patterns(&[literal.to_owned()], options);
        }
        if let Some(remark) = &query.remark {
            self.warn("QUERY_AS_WORDS", format!("{text:?}: {remark}"));
        }
        if !query.excluded.is_empty() {
            let excluded = query.excluded.join(", ");
            let message = "sections that hold it are left out; in quotes it is looked for";
            self.warn("EXCLUDES", format!("{excluded}: {message}"));
        }
        if let Some(word) = query.hyphenated.first() {
            let message = format!("the word is searched; `NOT {word}` leaves out what has it");
            self.warn("NOT_EXCLUDED", format!("-{word}: {message}"));
        }
        let found = self.ranked(&query)?;
        if found.0.has_hit {
            return Ok(found);
        }
        let Some(loose) = query.loosened() else { return Ok(found) };
        let found = self.ranked(&loose)?;
        if found.0.has_hit {
            self.warn(
                "LOOSENED",
                "nothing holds the words as they were joined; each was sought alone",
            );
        }
        Ok(found)
    }

    /// The hits of a query in words: sections, best first, those that match equally well by file and
    /// offset.
    fn ranked(&mut self, query: &WordQuery) -> Result<(Found, Explanation)> {
        let snapshot = self.library.snapshot;
        let all = self.documents_in_store()?;
        let sections = self.filter.sections(snapshot)?;
        let highlighter = Highlighter::new(&query.terms());
        let wants_all = self.request.form != Form::Hits || self.request.limit == 0;
        let mut collector = Collector::new(self.request, self.part);
        let mut count = match self.request.form {
            Form::Existence => 16,
            _ if wants_all => limits::MAX_SEARCH_HITS,
            // A few more than asked for, so that equal scores at the end can be put in order.
            _ => collector
                .skip
                .saturating_add(collector.most)
                .saturating_mul(2)
                .clamp(32, MOST_RANKED),
        };
        loop {
            let ranking = self.full_text.ranked(snapshot, query, &sections, count)?;
            let ranked = ranking.sections;
            let is_complete = ranked.len() < count;
            let explanation = Explanation {
                method: "words",
                trigrams: 0,
                candidates: ranked.len(),
                documents: all,
            };
            let is_enough = self.take_ranked(&ranked, is_complete, &highlighter, &mut collector)?;
            if is_enough || is_complete || count >= MOST_RANKED {
                if !is_complete && !is_enough {
                    collector.has_more = true;
                    self.warn("LIMIT", limits::exceeded("search-hits"));
                }
                self.tell_cap(&collector);
                return Ok((collector.finish(), explanation));
            }
            collector = Collector::new(self.request, self.part);
            count = count.saturating_mul(8).min(MOST_RANKED);
        }
    }

    /// Takes the sections that the index ranked; false where more of them are needed.
    fn take_ranked(
        &mut self,
        ranked: &[Ranked],
        is_complete: bool,
        highlighter: &Highlighter,
        collector: &mut Collector,
    ) -> Result<bool> {
        let mut documents: HashMap<i64, Option<StoredDocument>> = HashMap::new();
        let mut places = Vec::with_capacity(ranked.len());
        for found in ranked {
            let id = found.place.document;
            let document = match documents.entry(id) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => {
                    let document = self.library.snapshot.document(id)?;
                    entry.insert(document.filter(|document| self.filter.takes_document(document)))
                }
            };
            if let Some(document) = document {
                places.push((found, document.path.clone()));
            }
        }
        places.sort_by(|(one, path), (other, other_path)| {
            other
                .score
                .total_cmp(&one.score)
                .then_with(|| path.cmp(other_path))
                .then_with(|| one.place.section.cmp(&other.place.section))
        });
        // Those that match as well as the last may go on behind it.
        let last_score = ranked.last().map(|last| last.score).filter(|_| !is_complete);
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for (found, path) in places {
            if last_score == Some(found.score) && self.request.form == Form::Hits {
                return Ok(false);
            }
            let Some(Some(stored)) = documents.get(&found.place.document) else { continue };
            if self.request.form == Form::Hits {
                let hit = self.section_hit(stored, found, highlighter)?;
                if hit.is_some_and(|hit| !collector.take_hit(hit)) {
                    return Ok(true);
                }
                continue;
            }
            let is_hit = !self.filter.looks_inside()
                || self.section_hit(stored, found, highlighter)?.is_some();
            if is_hit {
                *counts.entry(path).or_default() += 1;
                if self.request.form == Form::Existence {
                    break;
                }
            }
        }
        let mut goes_on = true;
        for (path, count) in counts {
            goes_on &= collector.take_count(&path, count);
        }
        Ok(!goes_on)
    }

    /// The hit of a section; `None` where the filter wants nothing of it.
    fn section_hit(
        &self,
        stored: &StoredDocument,
        found: &Ranked,
        highlighter: &Highlighter,
    ) -> Result<Option<Hit>> {
        let document = self.library.open(stored)?;
        let outline = document.tree.outline();
        let own = match found.place.section.checked_sub(1) {
            None if found.place.is_front_matter() => outline.front_matter,
            None => outline.nodes.first().map(|root| root.bytes),
            Some(index) => outline.sections.get(index).map(|section| outline.own_text(section)),
        };
        let Some(own) = own else { return Ok(None) };
        let bytes = self.library.content(&document, document.span())?;
        let text = bytes.get(own.start..own.end).unwrap_or_default();
        let in_file = |span: ByteSpan| ByteSpan::new(own.start + span.start, own.start + span.end);
        let is_wanted = |span: ByteSpan| self.filter.takes(&document, in_file(span));
        let span = match highlighter.best(text, is_wanted) {
            Some(span) => in_file(span),
            // The title as it is shown may hold what its Markdown does not; a tag is in no text.
            None if self.filter.looks_inside() => return Ok(None),
            None => ByteSpan::new(own.start, own.start),
        };
        let surroundings = self.request.surroundings;
        let mut maker =
            HitMaker::new(&stored.path, Some(&*document), &bytes, span.end, surroundings);
        Ok(Some(Hit {
            score: Some((f64::from(found.score) * 1000.0).round() / 1000.0),
            freshness: self.library.freshness(stored),
            ..maker.hit(span)
        }))
    }
}
