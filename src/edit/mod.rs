//! Edits: replace, insert and delete sections of files, and change nothing else.
//!
//! [`plan`] computes which bytes of a file to replace, or why an edit is refused; it is pure. `change` turns
//! an edit by address into a plan, and `hint` says what to do about a refusal. `content` checks the given
//! content. `file` replaces a file below the root. [`edit()`] does all of it and updates the store.
//! Invariant (see `mdsel help edits`): a file has either its old or its new bytes, and the store has one of
//! these versions; after an edit is acknowledged, both have the new version.

mod answer;
mod change;
mod content;
mod hint;
mod line;
pub mod plan;
pub(crate) mod schema;

pub use answer::Answer;
pub use change::{Done, Edit, Operation};
pub use content::checked_content;
pub use line::Line;

use std::path::Path;
use std::time::Duration;

use crate::address::Fault;
use crate::corpus::{FileHandle, FileState, Seen, conflict, resolved, temporary_name};
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::failpoint::failpoint;
use crate::ingest::{self, Paths};
use crate::links::Outgoing;
use crate::markdown::{self, Dialect};
use crate::prepare::{Preparation, PreparedDocument};
use crate::query::links::broken::{BrokenLink, Changed, broken_by};
use crate::query::{Library, Named, named};
use crate::store::{EditIntent, Snapshot, Writer};
use crate::trust::{Trust, Wish};
use change::Current;

/// A request to edit one document.
pub struct Request<'a> {
    /// The store file, absolute.
    pub store: &'a Path,
    /// The name of the document; `None` if each edit names its place by an address.
    pub document: Option<String>,
    /// The edits, applied in this order; either all of them are made, or none.
    pub edits: Vec<Edit>,
    /// Whether only to report what would change.
    pub is_dry_run: bool,
    /// Whether to ingest the document first.
    pub is_refresh: bool,
    /// The longest time to wait for another writer.
    pub wait: Duration,
    /// Which stores are trusted.
    pub trust: &'a Trust,
    /// Called once before anything is written; an error cancels the edits. The caller checks that the answer
    /// can be printed.
    pub confirm: &'a dyn Fn(&Report) -> Result<()>,
}

/// What the edits changed, or would change.
#[derive(Clone, Debug)]
pub struct Report {
    /// The path of the document, relative to the root.
    pub file: String,
    /// The edits, in order.
    pub done: Vec<Done>,
    /// The bytes of the file before all edits.
    pub before: Vec<u8>,
    /// The bytes of the file after all edits.
    pub after: Vec<u8>,
    /// Links into the document that the edits break.
    pub broken_links: Vec<BrokenLink>,
    /// Warnings about the edits and the store.
    pub warnings: Vec<Warning>,
}

/// Edits one document. The inner error says why a place was not found.
pub fn edit(request: &Request<'_>) -> Result<std::result::Result<Report, Fault>> {
    let store = resolved(request.store)?;
    let refreshed = if request.is_refresh { refresh(&store, request)? } else { Vec::new() };
    // The writer holds the lock from before the file is read until the store is written, so concurrent edits
    // run one after the other.
    let mut writer = Writer::open(&store, request.wait)?;
    check_trust(request.trust, &store, &writer)?;
    let mut warnings = refreshed;
    warnings.extend(recover(&mut writer)?);
    let snapshot = Snapshot::open(&store)?;
    let library = Library::new(&snapshot);
    let places = match places(&library, request)? {
        Ok(places) => places,
        Err(fault) => return Ok(Err(fault)),
    };
    let Some(stored) = places.first().map(|named| named.stored.clone()) else {
        return Err(
            Error::new(ErrorKind::Usage, "there is no edit").with_hint("give at least one edit")
        );
    };
    let path = stored.path.clone();
    let place = FileHandle::open(snapshot.root(), &path)?;
    let (before, seen) = place.read(snapshot.options().max_file_bytes)?;
    if *blake3::hash(&before).as_bytes() != stored.hash {
        let message = format!("{}: the file differs from the version in the store", stored.path);
        return Err(conflict(message));
    }
    let mut current = Current::new(stored.clone(), before.clone());
    let original = current.document().clone();
    let mut done = Vec::new();
    for (edit, named) in request.edits.iter().zip(&places) {
        match current.make(edit, named) {
            Ok(Ok(one)) => done.push(one),
            Ok(Err(fault)) => return Ok(Err(of_edit(fault, edit))),
            Err(error) => {
                return Err(match &edit.origin {
                    Some(origin) => error.in_part(origin),
                    None => error,
                });
            }
        }
    }
    let links = Outgoing::of(current.version().document(), current.version().markup());
    let changed = Changed {
        document: current.document().clone(),
        links: &links,
        bytes: current.version().bytes(),
    };
    let broken_links = broken_by(&library, &original, &before, &changed)?;
    let version = current.into_version();
    drop((library, original));
    drop(snapshot);
    let after = version.bytes().to_vec();
    if after.len() as u64 > writer.options()?.unwrap_or_default().max_file_bytes {
        return Err(crate::limits::exceeded("max-file-size"));
    }
    warnings.extend(done.iter().flat_map(|done| done.warnings.iter().cloned()));
    let mut report = Report { file: path.clone(), done, before, after, broken_links, warnings };
    (request.confirm)(&report)?;
    let is_written = !request.is_dry_run && report.after != report.before;
    if is_written {
        write(&mut writer, &place, &seen, version, &mut report)?;
    }
    match writer.close() {
        Ok(warnings) => report.warnings.extend(warnings),
        Err(error) if is_written => report.warnings.push(unfinished(&error)),
        Err(error) => return Err(error),
    }
    Ok(Ok(report))
}

/// Finds the document and the locator of each edit. All edits must name the same document.
fn places(
    library: &Library<'_>,
    request: &Request<'_>,
) -> Result<std::result::Result<Vec<Named>, Fault>> {
    let mut places: Vec<Named> = Vec::with_capacity(request.edits.len());
    for edit in &request.edits {
        // Without a document, the first address names the document of all edits.
        let document = match (&request.document, places.first()) {
            (Some(document), _) => Some(document.clone()),
            (None, Some(first)) => Some(crate::address::namespace::encode(&first.stored.path)),
            (None, None) => None,
        };
        match named(library, document.as_deref(), &edit.section, edit.is_fuzzy)? {
            Ok(named) => places.push(named),
            Err(fault) => return Ok(Err(of_edit(fault, edit))),
        }
    }
    Ok(Ok(places))
}

/// Puts the origin of `edit` before the message, so that it says which one of several edits failed.
fn of_edit(mut fault: Fault, edit: &Edit) -> Fault {
    if let Some(origin) = &edit.origin {
        fault.message = format!("{origin}: {}", fault.message);
    }
    fault
}

/// Ingests the document of the edits; all documents if a place is not found yet.
fn refresh(store: &Path, request: &Request<'_>) -> Result<Vec<Warning>> {
    let paths = {
        let snapshot = Snapshot::open(store)?;
        let places = places(&Library::new(&snapshot), request)?;
        places
            .ok()
            .map(|places| places.into_iter().map(|named| named.stored.path).take(1).collect())
    };
    let paths: Option<Vec<String>> = paths;
    let paths = paths.as_ref().map_or(Paths::All, |paths| Paths::Stored(paths));
    let report = ingest::refresh(store, paths, request.trust)?;
    let skipped = report
        .skipped
        .iter()
        .map(|skipped| Warning::new("SKIPPED", format!("{}: {}", skipped.file, skipped.reason)));
    Ok(skipped.chain(report.warnings.iter().cloned()).collect())
}

/// Writes the file and the store.
///
/// The steps that need disk space come first, and the rename, which needs none, is last. If a step before
/// the rename fails, file and store are unchanged, or the stored intent lets the next command recover the
/// edit. After the rename the edit is made and later errors are only warnings, because a user who repeats
/// the edit after an error would apply it twice.
fn write(
    writer: &mut Writer,
    place: &FileHandle<'_>,
    seen: &Seen,
    version: plan::Version,
    report: &mut Report,
) -> Result<()> {
    // Everything that can be refused is checked before anything is written.
    let document = pack(&report.file, version)?;
    let (path, temporary) = (report.file.clone(), temporary_name());
    let intent = EditIntent { path, temporary, new_hash: document.hash() };
    let note = writer.note_intent(&intent)?;
    if let Err(error) = place.stage(&intent.temporary, &report.after) {
        place.remove_temporary(&intent.temporary);
        forget(writer, note)?;
        return Err(error);
    }
    let stored = put(writer, document);
    if let Err(error) = stored {
        // The writer rolls the transaction back, and the next command removes the intent.
        place.remove_temporary(&intent.temporary);
        return Err(error);
    }
    if let Err(error) = place.put_in_place(&intent.temporary, seen) {
        place.remove_temporary(&intent.temporary);
        put(
            writer,
            pack(
                &report.file,
                plan::Version::read_as(report.before.clone(), Dialect::of(&report.file)),
            )?,
        )?;
        forget(writer, note)?;
        return Err(error);
    }
    // If something fails from here on, the intent stays, and the next command compares file and store.
    if let Err(error) = place.sync_folder().and_then(|()| forget(writer, note)) {
        report.warnings.push(unfinished(&error));
    }
    Ok(())
}

/// The warning that the file was changed although a later step failed.
fn unfinished(error: &Error) -> Warning {
    let message = format!(
        "the file was changed, so do not repeat the edit; a later step failed: {error}; the next \
         command updates the store"
    );
    Warning::new("EDIT_UNFINISHED", message)
}

/// Packs a new version of a file for the store.
fn pack(path: &str, version: plan::Version) -> Result<PreparedDocument> {
    let (bytes, document, markup) = version.into_parts();
    let hash = *blake3::hash(&bytes).as_bytes();
    // The file may change again within the same clock tick, so the times are left at 0 and the next ingest
    // reads the file again.
    let state = FileState { size: bytes.len() as u64, mtime_ns: 0, ctime_ns: 0 };
    let path_of = path.to_owned();
    Preparation::new()?
        .of_parsed(path_of, bytes, hash, state, document, markup)?
        .map_err(|reason| Error::new(ErrorKind::EditRefused, format!("{path}: {reason}")))
}

/// Stores a document in a transaction of its own.
fn put(writer: &mut Writer, document: PreparedDocument) -> Result<()> {
    writer.begin()?;
    writer.put(document)?;
    writer.commit()
}

/// Removes the stored intent of an edit.
fn forget(writer: &mut Writer, note: i64) -> Result<()> {
    writer.begin()?;
    writer.forget_intent(note)?;
    writer.commit()
}

/// Recovers the edits whose process was killed: stores the version that the file has, old or new, and
/// removes the temporary files.
fn recover(writer: &mut Writer) -> Result<Vec<Warning>> {
    let mut warnings = Vec::new();
    let intents = writer.intents()?;
    let Some(root) = writer.root()?.filter(|_| !intents.is_empty()) else { return Ok(warnings) };
    let most = writer.options()?.unwrap_or_default().max_file_bytes;
    for (note, intent) in intents {
        let Ok(place) = FileHandle::open(&root, &intent.path) else {
            forget(writer, note)?;
            continue;
        };
        place.remove_temporary(&intent.temporary);
        failpoint!(RECOVERY_SWEPT);
        let bytes = place.read(most).map(|(bytes, _)| bytes).unwrap_or_default();
        let hash = *blake3::hash(&bytes).as_bytes();
        let stored = writer.documents()?.into_iter().find(|stored| stored.path == intent.path);
        // If the store has one of the two versions and the file the other, the file decides.
        let is_outdated = stored.is_some_and(|stored| {
            stored.hash != hash && [stored.hash, hash].contains(&intent.new_hash)
        });
        if is_outdated && markdown::refusal(&bytes).is_none() {
            put(
                writer,
                pack(&intent.path, plan::Version::read_as(bytes, Dialect::of(&intent.path)))?,
            )?;
            failpoint!(RECOVERY_STORED);
        }
        forget(writer, note)?;
        let what = if hash == intent.new_hash { "was made" } else { "was not made" };
        let message = format!("{}: an interrupted edit {what}", intent.path);
        warnings.push(Warning::new("EDIT_RECOVERED", message));
    }
    Ok(warnings)
}

/// Removes the temporary file of an edit at `path`, relative to `root`, if it exists.
pub(crate) fn remove_temporary(root: &Path, path: &str) {
    if let Ok(place) = FileHandle::open(root, path) {
        place.remove_temporary(path.rsplit('/').next().unwrap_or(path));
    }
}

/// Returns `UNTRUSTED_STORE` if the user has not accepted what the store asks for.
fn check_trust(trust: &Trust, store: &Path, writer: &Writer) -> Result<()> {
    let Some(root) = writer.root()? else { return Ok(()) };
    let wish = Wish::of(store, &root, &writer.options()?.unwrap_or_default());
    trust.check(store, &wish, &Wish::default())
}

/// Recovers interrupted edits. Does nothing if another process is writing, if the store is read-only, or if
/// the store is not trusted, because stored intents name files.
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
