//! Searches stored documents for a pattern, on all cores.
//!
//! Invariant: results are reported in the order of the documents, and of the bytes in each. The search
//! ends soon after enough results are found. The bytes of a document are dropped after it is searched.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::hit::{ContextLines, Hit, HitDetail};
use super::hit_maker::{HitMaker, Lines};
use super::pattern::Pattern;
use crate::cancellation::Cancellation;
use crate::error::Result;
use crate::limits;
use crate::markdown::outline::Outline;
use crate::markdown::text_start;
use crate::parallel::{self, ordered};
use crate::position::{ByteSpan, LineFinder, LineIndex, next_line_start};
use crate::query::filter::Filter;
use crate::query::open_document::OpenDocument;
use crate::store::{Reader, StoredDocument};

/// The results in a document.
#[derive(Debug)]
pub(super) struct DocumentMatches {
    /// The index among the searched documents.
    pub(super) document: usize,
    /// The number of hits.
    pub(super) count: usize,
    /// The hits, if requested.
    pub(super) hits: Vec<Hit>,
}

/// A search for a pattern.
pub(super) struct PatternScan<'a> {
    pub(super) reader: &'a dyn Reader,
    pub(super) pattern: &'a Pattern,
    pub(super) filter: &'a Filter,
    /// What to report of each hit; `None` to report only the number of hits.
    pub(super) hits: Option<(ContextLines, HitDetail)>,
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
const FIRST_DOCUMENTS: usize = 4;
const MOST_DOCUMENTS: usize = 256;
const BEFORE_GROWTH: usize = 4;
/// Maximum number of documents whose outlines are open at a time.
const OPEN_DOCUMENTS: usize = 16;
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
        let is_enough = AtomicBool::new(false);
        let ended = ordered(
            &batches(documents),
            || self.pattern.for_thread(),
            |pattern, batch| self.search_batch(pattern, batch, &is_enough),
            |_, found| {
                let continues = found.map_err(Some)?.into_iter().all(&mut take);
                is_enough.store(!continues, Ordering::Relaxed);
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
        Err(limits::exceeded(limits::row::SEARCH_SECONDS))
    }

    /// Searches the documents of a batch, whose bytes are read from the store together. Leaves out the rest of the
    /// batch if `is_enough` becomes true, because nobody takes it.
    fn search_batch(
        &self,
        pattern: &Pattern,
        batch: &Batch<'_>,
        is_enough: &AtomicBool,
    ) -> Result<Vec<DocumentMatches>> {
        let whole = |document| (document, ByteSpan::new(0, usize::MAX));
        let parts: Vec<_> = batch.documents.iter().map(whole).collect();
        let contents = self.reader.contents(&parts)?;
        let mut found = Vec::new();
        let groups = batch.documents.chunks(OPEN_DOCUMENTS).zip(contents.chunks(OPEN_DOCUMENTS));
        for (first, (documents, contents)) in (batch.first..).step_by(OPEN_DOCUMENTS).zip(groups) {
            if is_enough.load(Ordering::Relaxed) {
                break;
            }
            found.extend(self.search_group(pattern, &Batch { first, documents }, contents)?);
        }
        Ok(found)
    }

    /// Searches some documents of a batch, with these bytes. The outlines of those that have hits are read together.
    fn search_group(
        &self,
        pattern: &Pattern,
        group: &Batch<'_>,
        contents: &[Vec<u8>],
    ) -> Result<Vec<DocumentMatches>> {
        let decides = pattern.is_multi_line || self.filter.looks_inside();
        let mut open = if decides {
            OpenDocument::read(self.reader, group.documents, true)?
        } else {
            Vec::new()
        };
        let mut found = Vec::new();
        for (index, bytes) in contents.iter().enumerate() {
            let (count, spans) = self.matches(pattern, open.get(index), bytes)?;
            if count > 0 {
                found.push((index, count, spans));
            }
        }
        if let Some((_, detail)) = self.hits
            && detail != HitDetail::Lines
            && !decides
            && !found.is_empty()
        {
            let documents = found.iter().filter_map(|(index, ..)| group.documents.get(*index));
            let documents: Vec<StoredDocument> = documents.cloned().collect();
            open = OpenDocument::read(self.reader, &documents, detail == HitDetail::Addresses)?;
        }
        let mut matches = Vec::with_capacity(found.len());
        for (number, (index, count, spans)) in found.into_iter().enumerate() {
            let (Some(document), Some(bytes)) = (group.documents.get(index), contents.get(index))
            else {
                continue;
            };
            let open = open.get(if decides { index } else { number });
            let hits = self.hits(&document.path, open, bytes, spans);
            matches.push(DocumentMatches { document: group.first + index, count, hits });
        }
        Ok(matches)
    }

    /// Returns the hits at `spans` of the document at `path`, if hits are wanted.
    fn hits(
        &self,
        path: &str,
        open: Option<&OpenDocument>,
        bytes: &[u8],
        spans: Vec<ByteSpan>,
    ) -> Vec<Hit> {
        let Some((surroundings, detail)) = self.hits else { return Vec::new() };
        let open = open.filter(|_| detail != HitDetail::Lines);
        let ContextLines { before, after, .. } = surroundings;
        let index = (before > 0 || after > 0).then(|| {
            // Lines after the context of the last hit are not needed.
            let last = spans.last().map_or(0, |span| span.end.saturating_sub(1));
            let end = next_line_start(bytes, last);
            let end = (0..=after).fold(end, |end, _| next_line_start(bytes, end));
            LineIndex::new(bytes.get(..end).unwrap_or(bytes))
        });
        let lines = match &index {
            Some(index) => Lines::Indexed(index),
            None => Lines::Found(LineFinder::new(bytes)),
        };
        let mut maker = HitMaker::new(path, open, bytes, lines, surroundings, detail);
        spans.into_iter().map(|span| maker.hit(span)).collect()
    }

    /// Returns the number of hits in a document, and where they are if the hits are wanted. The document is `open` if
    /// its outline decides what a hit is.
    fn matches(
        &self,
        pattern: &Pattern,
        open: Option<&OpenDocument>,
        bytes: &[u8],
    ) -> Result<(usize, Vec<ByteSpan>)> {
        self.check_time()?;
        let parts = match open {
            Some(open) if pattern.is_multi_line => own_texts(open.tree.outline()),
            _ => vec![ByteSpan::new(text_start(bytes), bytes.len())],
        };
        let mut spans = Vec::new();
        let mut count = 0;
        for part in parts {
            let text = part.of(bytes);
            pattern.matches(text, |span| {
                let span = ByteSpan::new(part.start + span.start, part.start + span.end);
                if open.is_none_or(|open| self.filter.takes(open, span)) {
                    count += 1;
                    if self.hits.is_some() {
                        spans.push(span);
                    }
                }
                count < self.most && self.check_time().is_ok()
            });
            if count >= self.most {
                break;
            }
        }
        self.check_time()?;
        Ok((count, spans))
    }
}

/// Returns the spans that a match must not leave: front matter, the root, and the own text of each
/// section, in order.
fn own_texts(outline: &Outline) -> Vec<ByteSpan> {
    let root = outline.nodes.first().map(|root| root.bytes);
    let sections = outline.sections.iter().map(|section| outline.own_text(section));
    outline.front_matter.into_iter().chain(root).chain(sections).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_grow_and_contain_every_document_once() {
        let documents = vec![StoredDocument::at("a.md"); 2000];
        let mut next = 0;
        let mut counts = Vec::new();
        for batch in batches(&documents) {
            assert_eq!(batch.first, next);
            next += batch.documents.len();
            counts.push(batch.documents.len());
        }
        assert_eq!(next, documents.len());
        assert!(counts.iter().take(BEFORE_GROWTH).all(|count| *count == FIRST_DOCUMENTS));
        assert_eq!(counts.iter().max(), Some(&MOST_DOCUMENTS), "{counts:?}");
    }
}
