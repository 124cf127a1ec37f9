//! Writing: whole documents, into both stores.
//!
//! The order is: the lock; a transaction of SQLite with the rows and the next generation; its commit,
//! behind which the change is acknowledged; then the same change in the index and its commit, stamped
//! with what it follows. A writer that dies in between leaves an index that is behind, and whoever
//! writes next brings it up to date before anything else. Invariant: nothing that is in the index was
//! never committed to SQLite, and no fault of the index costs a change or an ingest.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::db::{DerivedRows, Migrated, PackedRows, RowPacker, RowWriter};
use super::fulltext::{self, DocumentText, IndexWriter, Stamp, TextExtractor, Unusable, Usable};
use super::{EditIntent, FileState, IngestOptions, NewDocument, Snapshot, StoredDocument};
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::failpoint::failpoint;
use crate::ldmd::{self, Markup};
use crate::limits;
use crate::links::Outgoing;
use crate::markdown::{self, Diagnostic, Dialect, Document, front_matter};
use crate::position::ByteSpan;

/// A document with everything made that is kept of it.
#[derive(Debug)]
pub struct PackedDocument {
    rows: PackedRows,
    text: DocumentText,
    /// blake3 of its bytes.
    pub hash: [u8; 32],
    /// What could not be taken as it stands.
    pub diagnostics: Vec<Diagnostic>,
}

impl PackedDocument {
    /// What is written of it.
    pub(in crate::store) fn rows(&self) -> &PackedRows {
        &self.rows
    }

    /// Bytes that it holds, about.
    pub(in crate::store) fn size(&self) -> usize {
        self.text.size()
    }

    /// What is stored of it beside its bytes.
    pub(in crate::store) fn derived(&self) -> &DerivedRows {
        self.rows.derived()
    }
}

/// Makes of documents what is kept of them, which takes time but no lock; one a thread.
pub struct Packer {
    rows: RowPacker,
    texts: TextExtractor,
}

impl Packer {
    /// A packer.
    pub fn new() -> Result<Self> {
        Ok(Self { rows: RowPacker::new()?, texts: TextExtractor::new() })
    }

    /// Packs a document.
    pub fn pack(&mut self, new: NewDocument) -> Result<PackedDocument> {
        let values = new.document.front_matter.as_ref();
        let tags = values.map(front_matter::tags).unwrap_or_default();
        let title = values.and_then(front_matter::title).map(str::to_owned);
        let rows = self.rows.pack(&new, tags.clone())?;
        let text = self.texts.extract(&new.path, new.bytes, &new.document.outline, tags, title);
        Ok(PackedDocument { rows, text, hash: new.hash, diagnostics: new.document.diagnostics })
    }
}

/// Parses the bytes of a document and makes of them what the store wants; the inner error says why they
/// are no document.
pub(crate) fn packed(
    path: String,
    bytes: Vec<u8>,
    hash: [u8; 32],
    state: FileState,
    packer: &mut Packer,
) -> Result<std::result::Result<PackedDocument, &'static str>> {
    if let Some(reason) = markdown::refusal(&bytes) {
        return Ok(Err(reason));
    }
    let document = markdown::parse_as(&bytes, Dialect::of(&path));
    let markup = ldmd::parse(&bytes, &document.opaque);
    packed_version(path, bytes, hash, state, document, markup, packer)
}

/// Makes of a document that is parsed what the store wants; the inner error says why it is too large.
pub(crate) fn packed_version(
    path: String,
    bytes: Vec<u8>,
    hash: [u8; 32],
    state: FileState,
    mut document: Document,
    markup: Markup,
    packer: &mut Packer,
) -> Result<std::result::Result<PackedDocument, &'static str>> {
    let faults = markup.faults.iter();
    document.diagnostics.extend(faults.map(|fault| Diagnostic {
        code: fault.kind.code(),
        line: Some(fault.line),
        message: fault.message.clone(),
    }));
    let links = Outgoing::of(&document, &markup);
    match packer.pack(NewDocument { path, bytes, hash, state, document, markup, links }) {
        Ok(document) => Ok(Ok(document)),
        Err(error) if error.kind() == ErrorKind::Limit => {
            Ok(Err("its outline is larger than the limit outline-bytes"))
        }
        Err(error) => Err(error),
    }
}

/// What a writer knows of the index.
#[derive(Debug)]
enum IndexState {
    /// Not looked at.
    Closed,
    /// Given whatever SQLite was given.
    Open(Box<IndexWriter>),
    /// Left behind, for whoever writes next.
    Failed,
}

/// The right to change a store.
#[derive(Debug)]
pub struct Writer {
    rows: RowWriter,
    index: IndexState,
    path: PathBuf,
    /// Bytes of documents that the index was given since its last commit.
    index_bytes: usize,
    /// Why the index must be made anew, whatever it says of itself.
    distrust: Option<Unusable>,
    warnings: Vec<Warning>,
}

impl Writer {
    /// Opens the store at `path` for writing, making it where there is none; waits up to `wait` for
    /// another writer.
    pub fn open(path: &Path, wait: Duration) -> Result<Self> {
        let rows = RowWriter::open(path, wait)?;
        let path = path.canonicalize().map_err(|error| Error::io(path, error))?;
        let mut warnings: Vec<Warning> = rows.migrated.iter().map(migrated).collect();
        if rows.has_lost_options {
            let message = "the options of the last ingest cannot be read; the defaults are used";
            warnings.push(Warning::new("OPTIONS_LOST", message));
        }
        let index = IndexState::Closed;
        Ok(Self { rows, index, path, index_bytes: 0, distrust: None, warnings })
    }

    /// Has the index made anew when the writer ends, whatever it says of itself.
    pub(in crate::store) fn distrust_index(&mut self) {
        self.distrust = Some(Unusable::Damaged("a check found it so".to_owned()));
    }

    /// The folder that document paths are relative to, once one is set.
    pub fn root(&self) -> Result<Option<PathBuf>> {
        self.rows.root()
    }

    /// Notes the root, relative to the folder of the store, and what an ingest takes.
    pub fn set_up(&mut self, root: &str, options: &IngestOptions) -> Result<()> {
        self.rows.set_up(root, options)
    }

    /// What the last ingest took, once there was one.
    pub fn options(&self) -> Result<Option<IngestOptions>> {
        self.rows.options()
    }

    /// Whether the documents were parsed as this program parses.
    pub fn has_current_parser(&self) -> Result<bool> {
        self.rows.has_current_parser()
    }

    /// Notes that every document is parsed as this program parses.
    pub fn set_current_parser(&mut self) -> Result<()> {
        self.rows.set_current_parser()
    }

    /// How many times the store has been changed.
    pub fn generation(&self) -> Result<u64> {
        self.rows.generation()
    }

    /// All documents.
    pub fn documents(&self) -> Result<Vec<StoredDocument>> {
        self.rows.documents()
    }

    /// Begins a transaction.
    pub fn begin(&self) -> Result<()> {
        self.rows.begin()
    }

    /// Puts a document, in place of the one with the same path.
    pub fn put(&mut self, document: PackedDocument) -> Result<()> {
        self.open_index()?;
        let (id, before) = self.rows.put(&document.rows)?;
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

    /// Forgets a document.
    pub fn remove(&mut self, id: i64) -> Result<()> {
        self.open_index()?;
        self.rows.remove(id)?;
        failpoint!(ROWS_REMOVED);
        self.with_index(|index| {
            index.remove(id);
            Ok(())
        });
        Ok(())
    }

    /// Notes that a file is about to be replaced, in a transaction of its own; tells the note's id.
    pub fn note_intent(&mut self, intent: &EditIntent) -> Result<i64> {
        self.rows.note_intent(intent)
    }

    /// Forgets such a note.
    pub fn forget_intent(&self, id: i64) -> Result<()> {
        self.rows.forget_intent(id)
    }

    /// The edits that were begun and not ended.
    pub fn intents(&self) -> Result<Vec<(i64, EditIntent)>> {
        self.rows.intents()
    }

    /// Notes the state of a file whose bytes are the stored ones.
    pub fn set_state(&self, id: i64, state: FileState) -> Result<()> {
        self.rows.set_state(id, state)
    }

    /// Commits the transaction; where it changed a document, as a new generation. The index follows,
    /// after several large transactions once: its commit waits for all that it was given.
    pub fn commit(&mut self) -> Result<()> {
        self.rows.commit()?;
        if self.index_bytes >= limits::INDEX_BATCH_BYTES {
            self.commit_index()?;
        }
        Ok(())
    }

    fn commit_index(&mut self) -> Result<()> {
        self.index_bytes = 0;
        if !matches!(self.index, IndexState::Open(_)) {
            return Ok(());
        }
        let Some(identity) = self.rows.identity()? else { return Ok(()) };
        let stamp = Stamp::new(&identity, self.rows.highest_id()?, self.rows.generation()?);
        self.with_index(|index| if *index.stamp() == stamp { Ok(()) } else { index.commit(stamp) });
        Ok(())
    }

    /// Brings the index up to date where it is not, leaves the file alone as the store, and ends with
    /// what there is to say of the index.
    pub fn close(mut self) -> Result<Vec<Warning>> {
        // What is still open has failed, and is not to be followed.
        self.rows.roll_back()?;
        if let Some(identity) = self.rows.identity()? {
            let is_current = matches!(self.index, IndexState::Closed)
                && self.distrust.is_none()
                && fulltext::stamp(&fulltext::folder(&self.path)).is_ok_and(|stamp| {
                    stamp.store == identity
                        && self.rows.generation().is_ok_and(|current| stamp.generation == current)
                });
            if is_current {
                // A writer may die behind its last commit, and nobody opens the index to write to it.
                fulltext::check::sweep(&fulltext::folder(&self.path));
            } else {
                self.open_index()?;
            }
        }
        self.commit_index()?;
        if let IndexState::Open(index) = std::mem::replace(&mut self.index, IndexState::Closed)
            && let Err(error) = index.close()
        {
            self.fail(&error);
        }
        failpoint!(INDEX_CLOSED);
        self.rows.close()?;
        Ok(self.warnings)
    }

    /// Opens the index, made anew where it cannot be used, and brings it up to what SQLite has
    /// committed.
    fn open_index(&mut self) -> Result<()> {
        if !matches!(self.index, IndexState::Closed) {
            return Ok(());
        }
        let Some(identity) = self.rows.identity()? else { return Ok(()) };
        let snapshot = Snapshot::open(&self.path)?;
        let folder = fulltext::folder(&self.path);
        let opened = match self.distrust.take() {
            Some(reason) => Err(reason),
            None => IndexWriter::open(&folder, &identity).and_then(|index| {
                let is_ahead = index.stamp().generation > snapshot.generation();
                if is_ahead { Err(Unusable::Foreign) } else { Ok(index) }
            }),
        };
        let result = match opened {
            Ok(index) => catch_up(index, &snapshot),
            Err(reason) => match IndexWriter::create(&folder, &identity) {
                Ok(index) => {
                    if snapshot.generation() > 0 {
                        let message = format!("{reason}; it has been made anew");
                        self.warnings.push(Warning::new("INDEX_REBUILT", message));
                    }
                    catch_up(index, &snapshot)
                }
                Err(error) => Ok(Err(error)),
            },
        };
        match result? {
            Ok(index) => self.index = IndexState::Open(Box::new(index)),
            Err(error) => self.fail(&error),
        }
        Ok(())
    }

    /// Does something with the index where it is open; a fault leaves it behind.
    fn with_index(&mut self, act: impl FnOnce(&mut IndexWriter) -> Usable<()>) {
        let IndexState::Open(index) = &mut self.index else { return };
        if let Err(error) = act(index) {
            self.fail(&error);
        }
    }

    fn fail(&mut self, error: &Unusable) {
        self.index = IndexState::Failed;
        let message = format!("{error}; the documents are stored, and searched without it");
        self.warnings.push(Warning::new("INDEX_BEHIND", message));
    }
}

/// What is told of a migration.
fn migrated(migrated: &Migrated) -> Warning {
    let Migrated { from, to, copy } = migrated;
    let name = copy.as_ref().and_then(|copy| copy.file_name());
    let kept = match name {
        Some(name) => format!("as it was it is kept as {}", name.display()),
        None => "no copy of it was made, for want of room".to_owned(),
    };
    Warning::new("MIGRATED", format!("the store was brought from version {from} to {to}; {kept}"))
}

/// Brings `index` to the state of `snapshot`: forgets what is gone, adds what it lacks in the order of
/// ids, committing behind as many bytes as a transaction of an ingest takes.
fn catch_up(mut index: IndexWriter, snapshot: &Snapshot) -> Result<Usable<IndexWriter>> {
    if index.stamp().generation == snapshot.generation() {
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
    let generation_before = index.stamp().generation;
    let mut bytes = 0;
    for document in stored.iter().filter(|document| !known.contains(&document.id)) {
        let text = text_of(snapshot, document, &mut extractor)?;
        bytes += document.state.size;
        let mut result = index.put(document.id, text);
        if result.is_ok() && bytes >= limits::BATCH_BYTES as u64 {
            bytes = 0;
            let stamp = Stamp::new(snapshot.identity(), document.id, generation_before);
            result = index.commit(stamp);
            failpoint!(CATCH_UP_COMMITTED);
        }
        if let Err(error) = result {
            return Ok(Err(error));
        }
    }
    let highest = stored.last().map_or(0, |document| document.id);
    let stamp = Stamp::new(snapshot.identity(), highest, snapshot.generation());
    Ok(index.commit(stamp).map(|()| index))
}

/// What the index holds of a stored document.
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
    let title = title.as_ref().and_then(front_matter::title).map(str::to_owned);
    Ok(extractor.extract(&document.path, bytes, &outline, snapshot.tags(document)?, title))
}

/// Brings the index of the store at `path` up to date where no other writer holds the store, making it
/// anew where there is a reason to; tells what was done, or `None` where it cannot be done now.
pub(super) fn mend_index(path: &Path, distrust: Option<Unusable>) -> Result<Option<Vec<Warning>>> {
    match Writer::open(path, Duration::ZERO) {
        Ok(mut writer) => {
            writer.distrust = distrust;
            writer.close().map(Some)
        }
        Err(error) => match error.kind() {
            ErrorKind::Locked | ErrorKind::ReadOnly | ErrorKind::Io => Ok(None),
            _ => Err(error),
        },
    }
}
