//! `copy`: makes a store equal to another one without parsing.
//!
//! Invariant: what is copied was compared with its checksums. A copy that was killed leaves complete
//! documents, and the next one continues.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::report::{ChangeKind, IngestReport};
use super::sink::{Batches, Sink as _};
use super::{Progress, closed};
use crate::corpus::{FileState, IngestOptions, Roots, collection_root, root_from_store};
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::limits;
use crate::parallel::{self, Budget, cores, ordered_within};
use crate::position::ByteSpan;
use crate::prepare::{Preparation, PreparedDocument};
use crate::store::{
    IfAbsent, Lookup, Purpose, Reader, Store, StoredDocument, Writer, check_options,
    options_unknown,
};
use crate::trust::Wish;

/// The largest number of documents that are read at once.
const BATCH: usize = 256;

/// Copies the documents of `from` to `to`, and removes its others. Waits up to `wait` for another writer.
pub fn copy(
    from: &Store,
    to: &Store,
    wait: Duration,
    progress: &dyn Progress,
) -> Result<IngestReport> {
    let source = from.reader(Purpose::Read)?;
    let (mut writer, recovered) = to.recovered_writer(IfAbsent::Create, wait)?;
    if source.facts().has_lost_options {
        return Err(options_unknown());
    }
    check_options(writer.as_ref())?;
    let mut report = IngestReport::default();
    report.warnings.extend(from.take_warnings().into_iter().chain(recovered));
    let (roots, untrusted) = set_up(from, &*source, to, writer.as_mut())?;
    report.warnings.extend(untrusted);
    let is_current = source.facts().has_current_parser;
    // Before the documents, so that a copy that is killed does not claim that this version parsed them.
    if !is_current && writer.has_current_parser()? {
        writer.set_current_parser(false)?;
    }
    let wanted = compared(&*source, &roots, writer.as_mut(), &mut report)?;
    put(&*source, &wanted, writer.as_mut(), progress, &mut report)?;
    writer.commit_last()?;
    if is_current && !writer.has_current_parser()? {
        writer.set_current_parser(true)?;
    }
    report.generation = writer.generation()?;
    report.warnings.extend(closed(writer)?);
    report.finish();
    Ok(report)
}

/// Gives `to` the root and the options of the source if it has none, and otherwise the collections. Returns the roots
/// of `to`, and a warning if its trust could not be recorded.
fn set_up(
    from: &Store,
    source: &dyn Reader,
    to: &Store,
    writer: &mut dyn Writer,
) -> Result<(Roots, Option<Warning>)> {
    let own = writer.root()?.zip(writer.options()?);
    let root = own.as_ref().map_or(source.root(), |(root, _)| root);
    let given = source.options().clone().portable();
    let mut options = own.as_ref().map_or_else(|| given.clone(), |(_, own)| own.clone());
    options.only_collections = given.only_collections;
    options.collections = given.collections;
    for of_source in source.roots().collections() {
        if let Some(collection) = options.collections.get_mut(&of_source.name) {
            collection.root = collection_root(&of_source.folder, to.path(), root)?;
        }
    }
    let roots = Roots::of_store(to.path(), root, &options);
    if own.as_ref().is_some_and(|(_, own)| *own == options) {
        return Ok((roots, None));
    }
    writer.set_up(&root_from_store(root, to.path())?, &options)?;
    // A copy is trusted only if its source is, and if it is new or was trusted before: the user may have accepted the
    // source and not what an existing target asks for.
    let was_trusted = |(root, own): &(PathBuf, IngestOptions)| {
        to.is_trusted(&Roots::of_store(to.path(), root, own))
    };
    let is_trusted = from.is_trusted(&source.roots()) && own.as_ref().is_none_or(was_trusted);
    let record = |path: &Path| to.trust().record(path, &Wish::of(path, &roots));
    let warning = to.path().filter(|_| is_trusted).and_then(record);
    Ok((roots, warning))
}

/// A document to copy, and whether the target has another version of it.
type Wanted = (StoredDocument, bool);

/// Removes the documents that the source does not have, and returns those that differ from the target's.
fn compared(
    source: &dyn Reader,
    roots: &Roots,
    writer: &mut dyn Writer,
    report: &mut IngestReport,
) -> Result<Vec<Wanted>> {
    let stored = writer.documents()?;
    let mut known: HashMap<&str, &StoredDocument> =
        stored.iter().map(|document| (document.path.as_str(), document)).collect();
    let source_roots = source.roots();
    let mut wanted = Vec::new();
    for mut document in source.all(&Lookup::All)? {
        // The file that was ingested is not the one that an ingest of this store would look for.
        let has_other_file = source_roots.on_disk(&document.path) != roots.on_disk(&document.path);
        if has_other_file {
            let size = usize::try_from(document.state.size).unwrap_or(usize::MAX);
            document.state = FileState::without_file(size);
        }
        match known.remove(document.path.as_str()) {
            Some(own)
                if own.checksums == document.checksums
                    && (has_other_file || own.state == document.state) =>
            {
                report.unchanged += 1;
                if has_other_file && own.state.is_of_file() && !roots.has_entry(&own.path) {
                    writer.set_states(&[(own.id, document.state)])?;
                }
            }
            own => wanted.push((document, own.is_some())),
        }
    }
    let gone: Vec<i64> = known.values().map(|document| document.id).collect();
    for document in known.values() {
        report.count(&document.path, ChangeKind::Removed);
    }
    if !gone.is_empty() {
        writer.remove(&gone)?;
    }
    Ok(wanted)
}

/// Writes the documents `wanted`.
fn put(
    source: &dyn Reader,
    wanted: &[Wanted],
    writer: &mut dyn Writer,
    progress: &dyn Progress,
    report: &mut IngestReport,
) -> Result<()> {
    progress.start(wanted.len());
    let mut batches = Batches { writer, bytes: 0 };
    let size = |(document, _): &Wanted| document.state.size;
    let most = limits::LARGE_DOCUMENT_BYTES as u64;
    let requests: Vec<_> = parallel::batches(wanted, BATCH, most / 4, size).collect();
    let cost = |batch: &&[Wanted]| batch.iter().map(size).sum::<u64>() + 1;
    let budget = Budget { most: most * cores() as u64, cost };
    ordered_within(
        budget,
        &requests,
        Preparation::new,
        |preparation, batch| {
            let documents: Vec<_> = batch.iter().map(|(document, _)| document.clone()).collect();
            match preparation {
                Ok(preparation) => prepared(source, &documents, preparation),
                Err(error) => Err(Error::new(error.kind(), error.to_string())),
            }
        },
        |batch, documents| -> Result<()> {
            for ((document, is_known), prepared) in batch.iter().zip(documents?) {
                batches.put(prepared, document.state.size)?;
                progress.advance();
                let kind = if *is_known { ChangeKind::Changed } else { ChangeKind::Added };
                report.count(&document.path, kind);
            }
            Ok(())
        },
    )
}

/// Reads documents, and prepares them for another store.
fn prepared(
    source: &dyn Reader,
    documents: &[StoredDocument],
    preparation: &mut Preparation,
) -> Result<Vec<PreparedDocument>> {
    let parts: Vec<_> =
        documents.iter().map(|document| (document, ByteSpan::new(0, usize::MAX))).collect();
    let bytes = source.contents(&parts)?;
    let mut result = Vec::with_capacity(documents.len());
    for ((document, rows), bytes) in documents.iter().zip(source.derived(documents)?).zip(bytes) {
        let damaged = || {
            let message = format!("{}: its rows differ from what was written", document.path);
            Error::new(ErrorKind::StoreCorrupt, message)
                .with_hint("run `mdsel verify` on the store, then `mdsel ingest --force`")
        };
        let prepared = preparation.of_rows(rows, &bytes, document.state)?.ok_or_else(damaged)?;
        if !document.checksums.are_those_of(&prepared.checksums) {
            return Err(damaged());
        }
        result.push(prepared);
    }
    Ok(result)
}
