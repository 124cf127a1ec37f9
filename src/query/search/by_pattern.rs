//! Searches for patterns: the index selects the documents that may contain a match, and their bytes
//! decide.
//!
//! Invariant: every document that contains a match is scanned, in path order, until enough hits are
//! found. The rows of documents are read in batches, so a page of hits reads few of those after it.

use std::time::{Duration, Instant};

use super::answer::{Collector, Explanation, FoundItems, Method};
use super::pattern::{Pattern, PatternOptions};
use super::scan::PatternScan;
use super::{OutputMode, Search};
use crate::cancellation::Cancellation;
use crate::error::Result;
use crate::limits;
use crate::query::batches::{Candidates, DocumentBatches};
use crate::terms::TrigramQuery;

impl Search<'_> {
    pub(super) fn patterns(
        &mut self,
        patterns: &[String],
        options: PatternOptions,
    ) -> Result<(FoundItems, Explanation)> {
        let pattern = Pattern::new(patterns, options)?;
        if pattern.names_line_end {
            self.warn(
                "LINE_END",
                "a line end never matches within a line{; use -U to search across lines|}",
            );
        }
        let mut batches = self.candidates(&pattern.plan)?;
        let mut explanation = Explanation {
            method: if pattern.plan == TrigramQuery::All { Method::Scan } else { Method::Trigrams },
            trigrams: pattern.plan.len(),
            documents: self.documents_in_store()?,
            candidates: 0,
        };
        let needs_all = matches!(self.request.form, OutputMode::Counts | OutputMode::Files)
            || self.request.limit == Some(0) && self.request.max_chars.is_none();
        if needs_all || self.request.explain {
            let documents = batches.all()?;
            explanation.candidates = documents.len();
            batches = DocumentBatches::of(self.session, documents);
        }
        let mut collector = Collector::new(self.request, self.part);
        let scan = PatternScan {
            reader: self.session.reader,
            pattern: &pattern,
            filter: self.filter,
            hits: (self.request.form == OutputMode::Hits)
                .then_some((self.request.surroundings, self.request.detail)),
            most: collector.most_of_one(),
            cancellation: Cancellation::current(),
            deadline: Instant::now() + Duration::from_secs(limits::SEARCH_SECONDS as u64),
        };
        let mut counted = Vec::new();
        loop {
            let documents = batches.next_batch()?;
            let mut is_enough = documents.is_empty();
            scan.run(&documents, |found| {
                let Some(document) = documents.get(found.document) else { return true };
                let goes_on = if self.request.form == OutputMode::Hits {
                    let freshness = self.session.freshness(document);
                    found.hits.into_iter().all(|mut hit| {
                        hit.freshness = freshness;
                        collector.take_hit(hit)
                    })
                } else {
                    counted.push(document.clone());
                    collector.take_count(&document.path, found.count)
                };
                is_enough = !goes_on;
                goes_on
            })?;
            if is_enough {
                break;
            }
        }
        self.warn_of_changes(&counted);
        self.warn_if_capped(&collector);
        Ok((collector.finish(), explanation))
    }

    /// Returns the documents that may match `plan` and that the filter admits, in the requested order.
    fn candidates(&self, plan: &TrigramQuery) -> Result<DocumentBatches<'_>> {
        let ids = self.session.reader.candidates(plan)?;
        let candidates = ids.map_or(Candidates::All, Candidates::Ids);
        let order = self.request.filter.order();
        DocumentBatches::new(self.session, self.filter.documents.clone(), order, candidates)
    }

    /// Adds a warning if the list was cut at the limit of the program.
    pub(super) fn warn_if_capped(&mut self, collector: &Collector) {
        if collector.has_more && collector.hits.len() == limits::MAX_SEARCH_HITS {
            let error = limits::exceeded(limits::row::MAX_SEARCH_HITS);
            self.warn("LIMIT", error);
        }
    }
}
