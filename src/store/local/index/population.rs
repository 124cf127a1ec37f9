//! The sections among which the words of a query are counted.
//!
//! How rare a word is depends on the texts that are searched: in a folder about one subject, the name of the subject
//! distinguishes nothing. Invariant: if the filter of a query names folders, each document frequency is that of the
//! sections in them, whatever else the index contains.

use rustc_hash::FxHashMap;
use tantivy::postings::TermInfo;
use tantivy::query::Bm25StatisticsProvider;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocSet as _, Searcher, SegmentReader, TERMINATED, Term};

use super::marks::SectionSet;
use super::schema::Fields;

/// The sections of an index, or those in some folders.
pub(super) struct Population {
    /// The number of sections.
    pub(super) sections: u64,
    /// The sections in the folders, by segment; `None` for all sections.
    pub(super) within: Option<Vec<SectionSet>>,
    /// The number of sections that contain a term, for terms that were looked up.
    known: FxHashMap<Term, u64>,
}

impl Population {
    /// Returns the sections in `folders`; all if there are none.
    pub(super) fn of(
        searcher: &Searcher,
        fields: Fields,
        folders: &[String],
    ) -> tantivy::Result<Self> {
        if folders.is_empty() {
            let sections = searcher.num_docs();
            return Ok(Self { sections, within: None, known: FxHashMap::default() });
        }
        let mut within = Vec::new();
        for segment in searcher.segment_readers() {
            let index = segment.inverted_index(fields.scope)?;
            let mut sections = SectionSet::default();
            for folder in folders {
                let folder = Term::from_field_text(fields.scope, folder);
                let Some(mut postings) = index.read_postings(&folder, IndexRecordOption::Basic)?
                else {
                    continue;
                };
                while postings.doc() != TERMINATED {
                    if !segment.is_deleted(postings.doc()) {
                        sections.insert(postings.doc());
                    }
                    postings.advance();
                }
            }
            within.push(sections);
        }
        let sections = within.iter().map(|sections| sections.count).sum();
        Ok(Self { sections, within: Some(within), known: FxHashMap::default() })
    }

    /// Returns the number of sections that contain a term of a segment in `field`.
    pub(super) fn having(
        &self,
        ordinal: usize,
        segment: &SegmentReader,
        field: Field,
        info: &TermInfo,
    ) -> tantivy::Result<u64> {
        let Some(within) = &self.within else { return Ok(u64::from(info.doc_freq)) };
        let Some(within) = within.get(ordinal).filter(|within| within.count > 0) else {
            return Ok(0);
        };
        let index = segment.inverted_index(field)?;
        let mut postings = index.read_postings_from_terminfo(info, IndexRecordOption::Basic)?;
        let first = within.first_from(0);
        if postings.doc() < first {
            postings.seek(first);
        }
        let mut count = 0;
        while postings.doc() < within.end() {
            count += u64::from(within.contains(postings.doc()));
            postings.advance();
        }
        Ok(count)
    }

    /// Remembers the number of sections that contain `term`, so that it need not be looked up again.
    pub(super) fn remember(&mut self, term: Term, count: u64) {
        self.known.insert(term, count);
    }

    /// Returns the number of sections that contain `term`.
    pub(super) fn having_term(&self, searcher: &Searcher, term: &Term) -> tantivy::Result<u64> {
        if let Some(known) = self.known.get(term) {
            return Ok(*known);
        }
        let mut count = 0;
        for (ordinal, segment) in searcher.segment_readers().iter().enumerate() {
            let field = term.field();
            if let Some(info) = segment.inverted_index(field)?.get_term_info(term)? {
                count += self.having(ordinal, segment, field, &info)?;
            }
        }
        Ok(count)
    }
}

/// What tantivy needs to know about the sections to score a phrase, a tag or a path.
pub(super) struct Statistics<'a> {
    pub(super) searcher: &'a Searcher,
    pub(super) population: &'a Population,
    /// The number of sections that count as having each word, instead of those that have it.
    pub(super) having: Option<u64>,
}

impl Bm25StatisticsProvider for Statistics<'_> {
    /// Texts are as long, on average, as in the whole index, except for rounding. A mean of 0 would make every score 0.
    fn total_num_tokens(&self, field: Field) -> tantivy::Result<u64> {
        let tokens = self.searcher.total_num_tokens(field)?;
        if self.population.within.is_none() {
            return Ok(tokens);
        }
        let (some, all) = (self.population.sections, self.searcher.num_docs().max(1));
        let part = (u128::from(tokens) * u128::from(some) + u128::from(all / 2)) / u128::from(all);
        Ok(u64::try_from(part).unwrap_or(u64::MAX).max(tokens.min(1)))
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        match (&self.population.within, self.having) {
            // The document frequencies of an index count deleted sections, too.
            (None, None) => self.searcher.total_num_docs(),
            _ => Ok(self.population.sections),
        }
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        match self.having {
            Some(having) => Ok(having),
            None => self.population.having_term(self.searcher, term),
        }
    }
}
