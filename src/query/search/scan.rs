//! Searches stored documents for a pattern, on all cores.
//!
//! Invariant: results are reported in the order of the documents, and of the bytes in each. The search
//! ends soon after enough results are found. The bytes of a document are dropped after it is searched.

use std::time::Instant;

use super::hit::{ContextLines, Hit, HitDetail, HitMaker};
use super::pattern::Pattern;
use crate::cancellation::Cancellation;
use crate::error::Result;
use crate::ldmd::Markup;
use crate::limits;
use crate::markdown::outline::Outline;
use crate::parallel::{self, ordered};
use crate::position::ByteSpan;
use crate::query::filter::Filter;
use crate::query::library::OpenDocument;
use crate::store::{Reader, StoredDocument};

/// The results to report for each document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScanMode {
    /// Every hit.
    Hits(ContextLines, HitDetail),
    /// The number of hits.
    Counts,
    /// Whether there is a hit.
    Any,
}

/// The results in a document.
#[derive(Debug)]
pub(super) struct DocumentMatches {
    /// The index among the searched documents.
    pub(super) document: usize,
    /// The number of hits; at most 1 for [`ScanMode::Any`].
    pub(super) count: usize,
    /// The hits, if requested.
    pub(super) hits: Vec<Hit>,
}

/// A search for a pattern.
pub(super) struct PatternScan<'a> {
    pub(super) reader: &'a dyn Reader,
    pub(super) pattern: &'a Pattern,
    pub(super) filter: &'a Filter,
    pub(super) mode: ScanMode,
    /// Maximum number of hits in one document.
    pub(super) most: usize,
    pub(super) deadline: Instant,
    pub(super) cancellation: Cancellation,
}

/// The documents that a thread searches at a time.
struct Batch<'a> {
    /// The index of the first document.
    first: usize,
    documents: &'a [StoredDocument],
}

/// Maximum number of documents in each of the first batches, and in each of the last. In between it doubles after
/// [`BEFORE_GROWTH`] batches: a search that ends early reads few documents, and one that does not spends little time
/// on passing them on.
const FIRST_DOCUMENTS: usize = 16;
const MOST_DOCUMENTS: usize = 256;
const BEFORE_GROWTH: usize = 8;
/// Maximum size in bytes of the documents of a batch. A larger document is a batch of its own.
const BATCH_BYTES: u64 = 1 << 20;

/// Splits documents into batches.
fn batches(documents: &[StoredDocument]) -> Vec<Batch<'_>> {
    let mut batches = Vec::new();
    let (mut first, mut most) = (0, FIRST_DOCUMENTS);
    while let Some(rest) = documents.get(first..)
        && let Some(documents) =
            parallel::batches(rest, most, BATCH_BYTES, |document| document.state.size).next()
    {
        batches.push(Batch { first, documents });
        first += documents.len();
        if batches.len().is_multiple_of(BEFORE_GROWTH) {
            most = MOST_DOCUMENTS.min(most * 2);
        }
    }
    batches
}

impl PatternScan<'_> {
    /// Searches `documents` and calls `take` with the results of each document that has any, until it
    /// returns false.
    pub(super) fn run(
        &self,
        documents: &[StoredDocument],
        mut take: impl FnMut(DocumentMatches) -> bool,
    ) -> Result<()> {
        let ended = ordered(
            &batches(documents),
            || self.pattern.for_thread(),
            |pattern, batch| self.search_batch(pattern, batch),
            |_, found| {
                let continues = found.map_err(Some)?.into_iter().all(&mut take);
                if continues { Ok(()) } else { Err(None) }
            },
        );
        match ended {
            Err(Some(error)) => Err(error),
            Ok(()) | Err(None) => Ok(()),
        }
    }

    /// Fails after the deadline, and if nobody wants the answer any more.
    fn check_time(&self) -> Result<()> {
        self.cancellation.check()?;
        if Instant::now() < self.deadline {
            return Ok(());
        }
        Err(limits::exceeded("search-seconds"))
    }

    /// Searches the documents of a batch, whose bytes are read from the store together.
    fn search_batch(&self, pattern: &Pattern, batch: &Batch<'_>) -> Result<Vec<DocumentMatches>> {
        let mut found = Vec::new();
        let whole = |document| (document, ByteSpan::new(0, usize::MAX));
        let parts: Vec<_> = batch.documents.iter().map(whole).collect();
        let contents = self.reader.contents(&parts)?;
        for ((index, document), bytes) in (batch.first..).zip(batch.documents).zip(contents) {
            found.extend(self.search(pattern, index, document, &bytes)?);
        }
        Ok(found)
    }

    fn search(
        &self,
        pattern: &Pattern,
        index: usize,
        document: &StoredDocument,
        bytes: &[u8],
    ) -> Result<Option<DocumentMatches>> {
        self.check_time()?;
        let most = if self.mode == ScanMode::Any { 1 } else { self.most };
        let mut outline = None;
        let mut spans = Vec::new();
        let mut count = 0;
        if pattern.is_multi_line || self.filter.looks_inside() {
            let outline = outline.insert(OpenDocument::new(
                document.clone(),
                self.reader.outline(document)?,
                self.reader.markup(document)?,
            ));
            let parts = if pattern.is_multi_line {
                own_texts(outline.tree.outline())
            } else {
                vec![ByteSpan::new(0, bytes.len())]
            };
            for part in parts {
                let text = bytes.get(part.start..part.end).unwrap_or_default();
                pattern.matches(text, |span| {
                    let span = ByteSpan::new(part.start + span.start, part.start + span.end);
                    if self.filter.takes(outline, span) {
                        count += 1;
                        spans.push(span);
                    }
                    count < most && self.check_time().is_ok()
                });
                if count >= most {
                    break;
                }
            }
        } else {
            let keeps = matches!(self.mode, ScanMode::Hits(..));
            pattern.matches(bytes, |span| {
                count += 1;
                if keeps {
                    spans.push(span);
                }
                count < most && self.check_time().is_ok()
            });
        }
        self.check_time()?;
        if count == 0 {
            return Ok(None);
        }
        let ScanMode::Hits(surroundings, detail) = self.mode else {
            return Ok(Some(DocumentMatches { document: index, count, hits: Vec::new() }));
        };
        if outline.is_none() && detail != HitDetail::Lines {
            let markup = match detail {
                HitDetail::Addresses => self.reader.markup(document)?,
                HitDetail::Titles | HitDetail::Lines => Markup::default(),
            };
            outline =
                Some(OpenDocument::new(document.clone(), self.reader.outline(document)?, markup));
        }
        let open = outline.as_ref().filter(|_| detail != HitDetail::Lines);
        let reach = spans.last().map_or(0, |span| span.end);
        let mut maker = HitMaker::new(&document.path, open, bytes, reach, surroundings, detail);
        let hits = spans.into_iter().map(|span| maker.hit(span)).collect();
        Ok(Some(DocumentMatches { document: index, count, hits }))
    }
}

/// Returns the spans that a match must not leave: front matter, the root, and the own text of each
/// section, in order.
fn own_texts(outline: &Outline) -> Vec<ByteSpan> {
    let root = outline.nodes.first().map(|root| root.bytes);
    let sections = outline.sections.iter().map(|section| outline.own_text(section));
    outline.front_matter.into_iter().chain(root).chain(sections).collect()
}
