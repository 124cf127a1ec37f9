//! Writing whole documents to SQLite and to the full-text index.
//!
//! The order is: acquire the lock; write the rows and the next generation in a SQLite transaction;
//! commit it, which acknowledges the change; write the same change to the index; commit the index
//! with the generation that it now matches. If a writer dies in between, the index is out of date,
//! and the next writer first brings it up to date.
//!
//! Invariants: the index never contains anything that was not committed to SQLite. An error in the
//! index never makes a change or an ingest fail.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::db::{Migrated, RowWriter};
use super::index::{self, IndexMetadata, IndexWriter, Unusable, Usable};
use super::{FaultKind, Snapshot, is_index_of};
use crate::corpus::{FileState, IngestOptions};
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::failpoint::{batch_bytes, failpoint};
use crate::limits;
use crate::markdown::front_matter;
use crate::parallel;
use crate::position::ByteSpan;
use crate::prepare::{PreparedDocument, title_keys};
use crate::store::{EditIntent, IfAbsent, StoredDocument, Writer, WriterMetadata};
use crate::terms::{DocumentNames, DocumentText, TextExtractor};

/// The code of the warning that an index was rebuilt.
pub const INDEX_REBUILT: &str = "INDEX_REBUILT";

/// The state of the index during a write.
#[derive(Debug)]
enum IndexHandle {
    /// The index has not been opened.
    Closed,
    /// The index is open and receives every change.
    Open(Box<IndexWriter>),
    /// The index is out of date after an error; the next writer brings it up to date.
    Failed,
}

/// The right to change a store: holds its lock.
#[derive(Debug)]
pub(in crate::store) struct LocalWriter {
    /// Whether a transaction is open.
    has_begun: bool,
    rows: RowWriter,
    index: IndexHandle,
    path: PathBuf,
    /// Bytes of documents that were added to the index since its last commit.
    index_bytes: usize,
    /// The reason to rebuild the index even if it seems to be up to date.
    rebuild_reason: Option<Unusable>,
    warnings: Vec<Warning>,
}

impl LocalWriter {
    /// Opens the store at `path` for writing. Waits up to `wait` for another writer.
    pub(in crate::store) fn open(path: &Path, if_absent: IfAbsent, wait: Duration) -> Result<Self> {
        let rows = RowWriter::open(path, if_absent, wait)?;
        let path = path.canonicalize().map_err(|error| Error::io(path, error))?;
        let warnings = rows.migrated.iter().map(migrated).collect();
        let index = IndexHandle::Closed;
        Ok(Self {
            has_begun: false,
            rows,
            index,
            path,
            index_bytes: 0,
            rebuild_reason: None,
            warnings,
        })
    }

    /// Makes [`Self::close`] rebuild the index even if it seems to be up to date.
    pub(in crate::store) fn require_rebuild(&mut self) {
        self.rebuild_reason = Some(Unusable::Damaged("reported by a check".to_owned()));
    }

    /// Begins a transaction if none is open.
    fn begin(&mut self) -> Result<()> {
        if !self.has_begun {
            self.rows.begin()?;
            self.has_begun = true;
        }
        Ok(())
    }

    fn put_one(&mut self, document: PreparedDocument) -> Result<()> {
        self.open_index()?;
        let (id, before) = self.rows.put(&document)?;
        failpoint!(ROWS_PUT);
        self.index_bytes += document.text.size();
        self.with_index(|index| {
            if let Some(before) = before {
                index.remove(before);
            }
            index.put(id, document.text)
        });
        Ok(())
    }

    fn remove_one(&mut self, id: i64) -> Result<()> {
        self.open_index()?;
        self.rows.remove(id)?;
        failpoint!(ROWS_REMOVED);
        self.with_index(|index| {
            index.remove(id);
            Ok(())
        });
        Ok(())
    }

    fn commit_index(&mut self) -> Result<()> {
        self.index_bytes = 0;
        if let Some(metadata) = self.uncommitted()? {
            self.with_index(|index| index.commit(metadata));
        }
        Ok(())
    }

    /// Returns the metadata of the next commit of the index, if it is open and has not committed the state of
    /// SQLite.
    fn uncommitted(&self) -> Result<Option<IndexMetadata>> {
        let IndexHandle::Open(index) = &self.index else { return Ok(None) };
        let Some(identity) = self.rows.identity()? else { return Ok(None) };
        let rows = &self.rows;
        let (highest, generation) = (rows.highest_id()?, rows.generation()?);
        let metadata = IndexMetadata::new(&identity, highest, generation, &rows.token()?);
        Ok((*index.metadata() != metadata).then_some(metadata))
    }

    /// Calls `of_index` with the index, if it is open, while `of_rows` writes to SQLite, which mostly waits for
    /// the disk. Returns the result of `of_rows`. After an error of `of_index` the index is no longer updated.
    fn while_writing<T>(
        &mut self,
        of_rows: impl FnOnce(&mut RowWriter) -> Result<T>,
        mut of_index: impl FnMut(&mut IndexWriter) -> Usable<()> + Send,
    ) -> Result<T> {
        let Self { rows, index, .. } = self;
        let IndexHandle::Open(index) = index else { return of_rows(rows) };
        let (written, indexed) = parallel::join(|| of_rows(rows), || of_index(index));
        match indexed {
            Ok(indexed) => self.with_index(|_| indexed),
            Err(_) => self.fail(&Unusable::Damaged("a thread failed".to_owned())),
        }
        written
    }

    /// Opens the index and brings it up to the committed state of SQLite. Rebuilds it if it is not
    /// usable.
    fn open_index(&mut self) -> Result<()> {
        if !matches!(self.index, IndexHandle::Closed) {
            return Ok(());
        }
        let Some(identity) = self.rows.identity()? else { return Ok(()) };
        let snapshot = Snapshot::open(&self.path)?;
        let folder = index::folder(&self.path);
        let opened = match self.rebuild_reason.take() {
            Some(reason) => Err(reason),
            None => IndexWriter::open(&folder, &identity).and_then(|index| {
                let is_own = is_index_of(index.metadata(), &snapshot);
                if is_own { Ok(index) } else { Err(Unusable::Foreign) }
            }),
        };
        let result = match opened {
            Ok(index) => catch_up(index, &snapshot),
            // A rebuild would begin with the removal of an index that may be intact.
            Err(error @ Unusable::Unwritable(_)) => Ok(Err(error)),
            Err(reason) => match IndexWriter::create(&folder, &identity, token(&snapshot)) {
                Ok(index) => {
                    if snapshot.generation() > 0 {
                        let message = format!("{reason}; it was rebuilt");
                        self.warnings.push(Warning::new(INDEX_REBUILT, message));
                    }
                    catch_up(index, &snapshot)
                }
                Err(error) => Ok(Err(error)),
            },
        };
        match result? {
            Ok(index) => self.index = IndexHandle::Open(Box::new(index)),
            Err(error) => self.fail(&error),
        }
        Ok(())
    }

    /// Applies `act` to the index if it is open. After an error the index is no longer updated.
    fn with_index(&mut self, act: impl FnOnce(&mut IndexWriter) -> Usable<()>) {
        let IndexHandle::Open(index) = &mut self.index else { return };
        if let Err(error) = act(index) {
            self.fail(&error);
        }
    }

    fn fail(&mut self, error: &Unusable) {
        self.index = IndexHandle::Failed;
        let message = format!("{error}; the documents are stored and are searched without it");
        self.warnings.push(Warning::new(FaultKind::IndexOutOfDate.code(), message));
    }
}

impl Writer for LocalWriter {
    fn metadata(&self) -> Result<WriterMetadata> {
        Ok(WriterMetadata {
            root: self.rows.root()?,
            lacks_root: false,
            options: self.rows.options()?,
            has_lost_options: self.rows.has_lost_options,
            has_current_parser: self.rows.has_current_parser()?,
            generation: self.rows.generation()?,
        })
    }

    fn documents(&self) -> Result<Vec<StoredDocument>> {
        self.rows.documents()
    }

    fn set_up(&mut self, root: &str, options: &IngestOptions) -> Result<()> {
        self.rows.set_up(root, options)
    }

    fn set_current_parser(&mut self, is_current: bool) -> Result<()> {
        self.rows.set_current_parser(is_current)
    }

    fn put(&mut self, documents: Vec<PreparedDocument>) -> Result<()> {
        self.begin()?;
        documents.into_iter().try_for_each(|document| self.put_one(document))
    }

    fn remove(&mut self, ids: &[i64]) -> Result<()> {
        self.begin()?;
        ids.iter().try_for_each(|id| self.remove_one(*id))
    }

    fn set_states(&mut self, states: &[(i64, FileState)]) -> Result<()> {
        self.begin()?;
        states.iter().try_for_each(|(id, state)| self.rows.set_state(*id, *state))
    }

    fn note_intents(&mut self, intents: &[EditIntent]) -> Result<Vec<i64>> {
        self.begin()?;
        let ids = self.rows.note_intents(intents)?;
        self.commit()?;
        Ok(ids)
    }

    fn forget_intent(&mut self, id: i64) -> Result<()> {
        self.begin()?;
        self.rows.forget_intent(id)
    }

    fn intents(&self) -> Result<Vec<(i64, EditIntent)>> {
        self.rows.intents()
    }

    /// The index is committed only after several large transactions, because its commit waits until
    /// all added documents are indexed.
    fn commit(&mut self) -> Result<()> {
        if std::mem::take(&mut self.has_begun) {
            self.rows.commit()?;
        }
        if self.index_bytes >= batch_bytes(limits::INDEX_BATCH_BYTES) {
            self.commit_index()?;
        }
        Ok(())
    }

    /// While SQLite writes to the disk, the index writes its segments. Nobody sees them until
    /// [`Self::close`] commits the index.
    fn commit_last(&mut self) -> Result<()> {
        if !std::mem::take(&mut self.has_begun) {
            return Ok(());
        }
        self.while_writing(RowWriter::commit, IndexWriter::write_segments)
    }

    /// Brings the index up to date if necessary, and writes the log back so that the store is one file.
    fn close(mut self: Box<Self>) -> Result<Vec<Warning>> {
        // A transaction that is still open has failed.
        self.rows.roll_back()?;
        if let Some(identity) = self.rows.identity()? {
            let is_current = matches!(self.index, IndexHandle::Closed)
                && self.rebuild_reason.is_none()
                && index::index_metadata(&index::folder(&self.path)).is_ok_and(|metadata| {
                    metadata.store == identity
                        && self.rows.generation().is_ok_and(|newest| metadata.generation == newest)
                        && self.rows.token().is_ok_and(|newest| metadata.token == newest)
                });
            if is_current {
                // A writer may have died after its last commit. This writer does not open the
                // index, so the temporary files are removed here.
                index::sweep(&index::folder(&self.path));
            } else {
                self.open_index()?;
            }
        }
        let checkpointed = match self.uncommitted()? {
            Some(metadata) => {
                self.while_writing(|rows| rows.checkpoint(), |index| index.commit(metadata.clone()))
            }
            None => self.rows.checkpoint(),
        };
        if let IndexHandle::Open(index) = std::mem::replace(&mut self.index, IndexHandle::Closed)
            && let Err(error) = index.close()
        {
            self.fail(&error);
        }
        failpoint!(INDEX_CLOSED);
        if !checkpointed? {
            let message = "all is stored, but a reader keeps some of it in the log beside the store; a copy of the \
                           store needs both files";
            self.warnings.push(Warning::new("LOG_KEPT", message));
        }
        Ok(self.warnings)
    }
}

/// The warning about a migration.
fn migrated(migrated: &Migrated) -> Warning {
    let Migrated { from, to, copy } = migrated;
    let name = copy.as_ref().and_then(|copy| copy.file_name());
    let kept = match name {
        Some(name) => format!("the old store is kept as {}", name.display()),
        None => "the disk has no room for a copy of the old store".to_owned(),
    };
    Warning::new("MIGRATED", format!("the store was upgraded from version {from} to {to}; {kept}"))
}

/// Brings `index` to the state of `snapshot`: removes the documents that no longer exist and adds
/// the missing ones in the order of their ids. Commits after every [`limits::BATCH_BYTES`] of
/// documents.
fn catch_up(mut index: IndexWriter, snapshot: &Snapshot) -> Result<Usable<IndexWriter>> {
    if index.metadata().generation == snapshot.generation() {
        return Ok(Ok(index));
    }
    let known = match index.documents() {
        Ok(known) => known,
        Err(error) => return Ok(Err(error)),
    };
    let stored = snapshot.documents_above(0)?;
    let living: HashSet<i64> = stored.iter().map(|document| document.id).collect();
    for gone in known.difference(&living) {
        index.remove(*gone);
    }
    failpoint!(CATCH_UP_BEGUN);
    let mut extractor = TextExtractor::new();
    let generation_before = index.metadata().generation;
    // Even an incomplete index contains documents of this state, so it gets the token of this state.
    let metadata = |last, generation| {
        IndexMetadata::new(snapshot.identity(), last, generation, token(snapshot))
    };
    let mut bytes = 0;
    for document in stored.iter().filter(|document| !known.contains(&document.id)) {
        let text = text_of(snapshot, document, &mut extractor)?;
        bytes += document.state.size;
        let mut result = index.put(document.id, text);
        if result.is_ok() && bytes >= batch_bytes(limits::BATCH_BYTES) as u64 {
            bytes = 0;
            result = index.commit(metadata(document.id, generation_before));
            failpoint!(CATCH_UP_COMMITTED);
        }
        if let Err(error) = result {
            return Ok(Err(error));
        }
    }
    let highest = stored.last().map_or(0, |document| document.id);
    Ok(index.commit(metadata(highest, snapshot.generation())).map(|()| index))
}

/// Returns the token of the state that `snapshot` reads.
fn token(snapshot: &Snapshot) -> &str {
    snapshot.lineage().token(snapshot.generation()).unwrap_or_default()
}

/// Returns the text of a stored document that goes into the index.
pub(super) fn text_of(
    snapshot: &Snapshot,
    document: &StoredDocument,
    extractor: &mut TextExtractor,
) -> Result<DocumentText> {
    let outline = snapshot.outline(document)?;
    let bytes = snapshot.content(document, ByteSpan::new(0, outline.bytes))?;
    let title = match outline.front_matter {
        Some(_) => snapshot.front_matter(document)?,
        None => None,
    };
    let title = title.as_ref().and_then(front_matter::title);
    let tags = snapshot.tags(document)?;
    let title = title.as_deref();
    let title_keys = &title_keys::of(&outline, title);
    let names = DocumentNames { path: &document.path, tags, title, title_keys };
    Ok(extractor.extract(names, &bytes, &outline))
}

/// Brings the index of the store at `path` up to date, and rebuilds it if `rebuild_reason` returns a reason, which is
/// asked while no other process writes. Returns the warnings, or `None` if another writer holds the lock or the store
/// cannot be written.
pub(super) fn update_index(
    path: &Path,
    rebuild_reason: impl FnOnce() -> Result<Option<Unusable>>,
) -> Result<Option<Vec<Warning>>> {
    match LocalWriter::open(path, IfAbsent::Fail, Duration::ZERO) {
        Ok(mut writer) => {
            writer.rebuild_reason = rebuild_reason()?;
            Box::new(writer).close().map(Some)
        }
        Err(error) => match error.kind() {
            ErrorKind::Locked | ErrorKind::ReadOnly | ErrorKind::Io => Ok(None),
            _ => Err(error),
        },
    }
}
