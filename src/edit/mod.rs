//! Edits: sections of files replaced, inserted and deleted, and nothing else changed.
//!
//! [`plan`] computes which bytes of a file take the place of which, or why not, and is pure; `change`
//! turns requests by address into such plans; `file` replaces a file within the root; [`edit()`] does all
//! of it and brings the store along. Invariant (contract, section 11): a file is the old one or the new
//! one, never anything else, and the store is of one of them; an edit that was acknowledged is in both.

mod answer;
mod change;
mod file;
mod line;
pub mod plan;

pub use answer::Answer;
pub use change::{Done, Edit, Operation};
pub(crate) use file::is_temporary;
pub use line::Line;

use std::path::Path;
use std::time::Duration;

use crate::address::Fault;
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::failpoint::failpoint;
use crate::ingest::resolved;
use crate::query::{Library, documents};
use crate::store::{EditIntent, FileState, PackedDocument, Packer, Snapshot, Writer, packed};
use crate::trust::{Trust, Wish};
use change::Version;
use file::{Place, Seen};

/// What to edit.
pub struct Request<'a> {
    /// The store file, absolute.
    pub store: &'a Path,
    /// The document by name.
    pub document: String,
    /// The edits, each made behind those before it; all of them, or none.
    pub edits: Vec<Edit>,
    /// Whether only to tell what would be done.
    pub is_dry_run: bool,
    /// How long to wait for another writer.
    pub wait: Duration,
    /// Who says what the store may decide.
    pub trust: &'a Trust,
    /// Asked last before anything is written: whether what is about to be done can be told.
    pub confirm: &'a dyn Fn(&Report) -> Result<()>,
}

/// What was done, or would be done.
#[derive(Clone, Debug)]
pub struct Report {
    /// The document.
    pub file: String,
    /// Each edit.
    pub done: Vec<Done>,
    /// The bytes before all edits.
    pub before: Vec<u8>,
    /// The bytes behind them.
    pub after: Vec<u8>,
    /// Remarks.
    pub warnings: Vec<Warning>,
}

/// Makes edits of one document; the inner fault says that a place is not there.
pub fn edit(request: &Request<'_>) -> Result<std::result::Result<Report, Fault>> {
    let store = resolved(request.store)?;
    // Held from before the file is read until the store is written: two edits at once come one
    // behind the other.
    let mut writer = Writer::open(&store, request.wait)?;
    check_trust(request.trust, &store, &writer)?;
    let warnings = recover(&mut writer)?;
    let snapshot = Snapshot::open(&store)?;
    let library = Library::new(&snapshot);
    let stored = match documents::one(&library, &request.document)? {
        Ok(stored) => stored,
        Err(fault) => return Ok(Err(fault)),
    };
    let path = stored.path.clone();
    let place = Place::open(snapshot.root(), &path)?;
    let (before, seen) = place.read(snapshot.options().max_file_bytes)?;
    if *blake3::hash(&before).as_bytes() != stored.hash {
        let message = format!("{}: the file is not the one that is stored", stored.path);
        return Err(Error::new(ErrorKind::Conflict, message)
            .with_hint("bring it up to date with `mdsel ingest`, and look at it again"));
    }
    let mut version = Version::new(stored.clone(), before.clone());
    let mut done = Vec::new();
    for edit in &request.edits {
        match version.make(edit)? {
            Ok(one) => done.push(one),
            Err(fault) => return Ok(Err(fault)),
        }
    }
    let after = version.into_bytes();
    drop(library);
    drop(snapshot);
    if after.len() as u64 > writer.options()?.unwrap_or_default().max_file_bytes {
        return Err(crate::limits::exceeded("max-file-size"));
    }
    let mut report = Report { file: stored.path, done, before, after, warnings };
    (request.confirm)(&report)?;
    if !request.is_dry_run && report.after != report.before {
        write(&mut writer, &place, &seen, &mut report)?;
    }
    report.warnings.extend(writer.close()?);
    Ok(Ok(report))
}

/// Writes file and store. What may want for room comes first, and the rename, which wants for none, last:
/// behind a fault both are as they were, or the note of it lets the next command end it.
fn write(writer: &mut Writer, place: &Place<'_>, seen: &Seen, report: &mut Report) -> Result<()> {
    // Whatever may be refused is refused before anything is touched.
    let document = pack(&report.file, report.after.clone())?;
    let (path, temporary) = (report.file.clone(), file::temporary_name());
    let intent = EditIntent { path, temporary, new_hash: document.hash };
    let note = writer.note_intent(&intent)?;
    if let Err(error) = place.stage(&intent.temporary, &report.after) {
        place.remove_temporary(&intent.temporary);
        forget(writer, note)?;
        return Err(error);
    }
    let stored = put(writer, document);
    if let Err(error) = stored {
        // The transaction ends with the writer, and the note with the next command.
        place.remove_temporary(&intent.temporary);
        return Err(error);
    }
    if let Err(error) = place.put_in_place(&intent.temporary, seen) {
        place.remove_temporary(&intent.temporary);
        put(writer, pack(&report.file, report.before.clone())?)?;
        forget(writer, note)?;
        return Err(error);
    }
    // The edit is made: a folder that is not synced may forget it, and the note tells the next command
    // to look.
    place.sync_folder()?;
    if let Err(error) = forget(writer, note) {
        report.warnings.push(Warning::new("EDIT_NOTED", format!("the edit is made; {error}")));
    }
    Ok(())
}

/// Makes of the new bytes of a file what the store wants.
fn pack(path: &str, bytes: Vec<u8>) -> Result<PackedDocument> {
    let hash = *blake3::hash(&bytes).as_bytes();
    // A file written just now may change once more within the same tick: it is looked at again.
    let state = FileState { size: bytes.len() as u64, mtime_ns: 0, ctime_ns: 0 };
    packed(path.to_owned(), bytes, hash, state, &mut Packer::new()?)?
        .map_err(|reason| Error::new(ErrorKind::EditRefused, format!("{path}: {reason}")))
}

/// Brings a document into the store.
fn put(writer: &mut Writer, document: PackedDocument) -> Result<()> {
    writer.begin()?;
    writer.put(document)?;
    writer.commit()
}

/// Forgets the note of an edit.
fn forget(writer: &mut Writer, note: i64) -> Result<()> {
    writer.begin()?;
    writer.forget_intent(note)?;
    writer.commit()
}

/// Ends the edits whose process was killed: the store gets the bytes that the file has, the new ones or the
/// old ones, and temporary files go.
fn recover(writer: &mut Writer) -> Result<Vec<Warning>> {
    let mut warnings = Vec::new();
    let intents = writer.intents()?;
    let Some(root) = writer.root()?.filter(|_| !intents.is_empty()) else { return Ok(warnings) };
    let most = writer.options()?.unwrap_or_default().max_file_bytes;
    for (note, intent) in intents {
        let Ok(place) = Place::open(&root, &intent.path) else {
            forget(writer, note)?;
            continue;
        };
        place.remove_temporary(&intent.temporary);
        failpoint!(RECOVERY_SWEPT);
        let bytes = place.read(most).map(|(bytes, _)| bytes).unwrap_or_default();
        let hash = *blake3::hash(&bytes).as_bytes();
        let stored = writer.documents()?.into_iter().find(|stored| stored.path == intent.path);
        // One of both is ahead of the other: the file is what counts.
        let is_behind = stored.is_some_and(|stored| {
            stored.hash != hash && [stored.hash, hash].contains(&intent.new_hash)
        });
        if is_behind && let Ok(document) = pack(&intent.path, bytes) {
            put(writer, document)?;
            failpoint!(RECOVERY_STORED);
        }
        forget(writer, note)?;
        let what = if hash == intent.new_hash { "was made" } else { "was not made" };
        let message = format!("{}: an edit that was interrupted {what}", intent.path);
        warnings.push(Warning::new("EDIT_RECOVERED", message));
    }
    Ok(warnings)
}

/// Removes the temporary file of an edit at `path`, relative to `root`.
pub(crate) fn remove_temporary(root: &Path, path: &str) {
    if let Ok(place) = Place::open(root, path) {
        place.remove_temporary(path.rsplit('/').next().unwrap_or(path));
    }
}

/// Refuses a store whose files may not be touched.
fn check_trust(trust: &Trust, store: &Path, writer: &Writer) -> Result<()> {
    let Some(root) = writer.root()? else { return Ok(()) };
    let wish = Wish::of(store, &root, &writer.options()?.unwrap_or_default());
    trust.check(store, &wish, &Wish::default())
}

/// Ends edits that were interrupted, where nobody else is writing and the store is trusted: its notes of
/// edits name files.
pub fn settle(store: &Path, trust: &Trust) -> Result<Vec<Warning>> {
    let store = resolved(store)?;
    let mut writer = match Writer::open(&store, Duration::ZERO) {
        Ok(writer) => writer,
        Err(error) if matches!(error.kind(), ErrorKind::Locked | ErrorKind::ReadOnly) => {
            return Ok(Vec::new());
        }
        Err(error) => return Err(error),
    };
    let mut warnings = match check_trust(trust, &store, &writer) {
        Ok(()) => recover(&mut writer)?,
        Err(error) if error.kind() == ErrorKind::UntrustedStore => Vec::new(),
        Err(error) => return Err(error),
    };
    warnings.extend(writer.close()?);
    Ok(warnings)
}
