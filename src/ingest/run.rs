//! Sends the changes of an ingest to a sink, and counts them.
//!
//! Invariant: each candidate is reported exactly once. A document whose file cannot be read now stays as it is.

use super::Progress;
use super::candidates::ChangedFile;
use super::comparison::FileComparison;
use super::pipeline::{self, PreparedFile};
use super::plan::IngestPlan;
use super::report::{ChangeKind, IngestReport};
use super::request::{IngestRequest, Paths};
use super::sink::{Batches, Sink};
use crate::corpus::{Root, Skipped};
use crate::error::{ErrorKind, Result};
use crate::position::ByteSpan;
use crate::prepare::Preparation;
use crate::store::{Purpose, Store, StoredDocument, Writer};

/// The number of files that are unpacked and processed together.
const FILES_AT_ONCE: usize = 8192;

/// A running ingest: what was done so far.
pub(super) struct Run<'a> {
    pub(super) is_forced: bool,
    pub(super) progress: &'a dyn Progress,
    pub(super) report: IngestReport,
}

impl Run<'_> {
    /// Writes every change that was found in the scopes of `plan`. An ingest that is forced also parses the documents
    /// again that have no file, and `others`, the documents outside of the scopes. Returns whether all of these were
    /// parsed.
    pub(super) fn write(
        &mut self,
        request: &IngestRequest<'_>,
        plan: &IngestPlan,
        comparisons: Vec<FileComparison<'_>>,
        others: &[&StoredDocument],
        writer: &mut dyn Writer,
    ) -> Result<bool> {
        // What a part writes replaces what others store until all parts are in; a file is read again then, and the
        // bytes of a document without one would be lost.
        let parses_stored = self.is_forced && request.shard.is_none();
        // A store whose documents are of several parsers would be parsed by every ingest. A refresh does not wait for
        // that.
        let parses_others = parses_stored && !matches!(request.paths, Paths::Stored(_));
        let has_work = |comparison: &FileComparison<'_>| {
            !comparison.is_empty() || parses_stored && !comparison.without_file.is_empty()
        };
        if comparisons.iter().any(has_work) || parses_others && !others.is_empty() {
            self.progress.start(comparisons.iter().map(|one| one.candidates.len()).sum());
            let mut batches = Batches { writer: &mut *writer, bytes: 0 };
            for (scopes, mut comparison) in plan.scopes.iter().zip(comparisons) {
                let without_file = std::mem::take(&mut comparison.without_file);
                self.apply(&scopes.root, comparison, &mut batches)?;
                if parses_stored {
                    self.parse_stored(request.store, &without_file, &mut batches)?;
                }
            }
            if parses_others {
                self.parse_stored(request.store, others, &mut batches)?;
            }
            writer.commit_last()?;
        }
        Ok(others.is_empty() || parses_others)
    }

    /// Reads the candidates in `root` and sends every change to `sink`.
    pub(super) fn apply(
        &mut self,
        root: &Root,
        comparison: FileComparison<'_>,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        for document in &comparison.removed {
            sink.remove(document)?;
            self.report.count(&document.path, ChangeKind::Removed);
        }
        let mut candidates = comparison.candidates.into_iter();
        loop {
            let part: Vec<_> = candidates.by_ref().take(FILES_AT_ONCE).collect();
            if part.is_empty() {
                return Ok(());
            }
            pipeline::run(root, &part, self.is_forced, |candidate, outcome| {
                self.progress.advance();
                self.take(candidate, outcome, sink)
            })?;
        }
    }

    /// Parses documents again from the bytes in the store.
    fn parse_stored(
        &mut self,
        store: &Store,
        documents: &[&StoredDocument],
        sink: &mut dyn Sink,
    ) -> Result<()> {
        let reader = if documents.is_empty() { None } else { store.peek(Purpose::Read)? };
        let Some(reader) = reader else { return Ok(()) };
        let mut preparation = Preparation::new()?;
        for document in documents {
            let StoredDocument { path, hash, state, .. } = document;
            let whole = ByteSpan::new(0, usize::try_from(state.size).unwrap_or(usize::MAX));
            let bytes = match reader.content(document, whole) {
                // A read of the document reports the damage.
                Err(error) if error.kind() == ErrorKind::StoreCorrupt => {
                    self.report.has_kept = true;
                    continue;
                }
                read => read?,
            };
            match preparation.of_bytes(path.clone(), bytes, *hash, *state)? {
                Ok(document) => sink.put(document, state.size)?,
                Err(reason) => {
                    let reason = format!("its stored bytes are not accepted: {reason}");
                    self.report.skipped.push(Skipped { file: path.clone(), reason });
                    self.report.has_kept = true;
                }
            }
        }
        Ok(())
    }

    /// Reports the outcome of a candidate, and sends its change, if any, to `sink`.
    fn take(
        &mut self,
        candidate: &ChangedFile<'_>,
        outcome: PreparedFile,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        let ChangedFile { path, stored, .. } = candidate;
        let (reason, is_kept) = match outcome {
            PreparedFile::Put(document) => {
                self.report.warn(path, &document.diagnostics);
                let hash = document.hash();
                sink.put(*document, candidate.state.size)?;
                match stored {
                    // The document was parsed again, and its bytes did not change.
                    Some(stored) if stored.hash == hash => self.report.unchanged += 1,
                    Some(_) => self.report.count(path, ChangeKind::Changed),
                    None => self.report.count(path, ChangeKind::Added),
                }
                return Ok(());
            }
            PreparedFile::Same(state) => {
                self.report.unchanged += 1;
                return match stored.filter(|stored| stored.state != state) {
                    Some(stored) => sink.note_state(stored, state),
                    None => Ok(()),
                };
            }
            PreparedFile::Gone => (None, false),
            PreparedFile::Refused(reason) => (Some(reason.to_owned()), false),
            // A document whose file cannot be read now stays in the store.
            PreparedFile::Unreadable(reason) => (Some(reason), true),
        };
        if let Some(reason) = reason {
            let skipped = Skipped { file: path.clone(), reason };
            self.report.unreadable.extend(is_kept.then(|| skipped.clone()));
            self.report.skipped.push(skipped);
        }
        match stored {
            // A document that never had a file does not depend on one that cannot be stored.
            Some(stored) if is_kept || !stored.state.is_of_file() => {
                self.report.unchanged += 1;
                self.report.has_kept = true;
            }
            Some(stored) => {
                sink.remove(stored)?;
                self.report.count(path, ChangeKind::Removed);
            }
            None => {}
        }
        Ok(())
    }
}
