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

pub use answer::Answer;
pub use change::{Done, Edit, Operation};
pub use content::checked_content;
pub use line::Line;

use std::path::Path;
use std::time::Duration;

use crate::address::Fault;
use crate::corpus::{FileHandle, FileState, Seen, conflict, temporary_name};
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::ingest::{self, Paths};
use crate::links::Outgoing;
use crate::markdown::Dialect;
use crate::prepare::{Preparation, PreparedDocument};
use crate::query::links::broken::{BrokenLink, Changed, broken_by};
use crate::query::{Library, Named, named};
use crate::store::{EditIntent, Purpose, Store, Writer, forget};
use change::Current;

/// A request to edit one document.
pub struct Request<'a> {
    /// The store.
    pub store: &'a Store,
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
    let mut warnings = if request.is_refresh { refresh(request)? } else { Vec::new() };
    // The writer holds the lock from before the file is read until the store is written, so concurrent edits
    // run one after the other.
    let (mut writer, recovered) = request.store.trusted_writer(request.wait)?;
    warnings.extend(recovered);
    let reader = request.store.reader(Purpose::Read)?;
    let library = Library::new(&*reader);
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
    let place = FileHandle::open(reader.root(), &path)?;
    let (before, seen) = place.read(reader.options().max_file_bytes)?;
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
    drop(reader);
    let after = version.bytes().to_vec();
    if after.len() as u64 > writer.options()?.unwrap_or_default().max_file_bytes {
        return Err(crate::limits::exceeded("max-file-size"));
    }
    warnings.extend(done.iter().flat_map(|done| done.warnings.iter().cloned()));
    let mut report = Report { file: path.clone(), done, before, after, broken_links, warnings };
    (request.confirm)(&report)?;
    let is_written = !request.is_dry_run && report.after != report.before;
    if is_written {
        write(writer.as_mut(), &place, &seen, version, &mut report)?;
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
fn refresh(request: &Request<'_>) -> Result<Vec<Warning>> {
    let paths = {
        let reader = request.store.reader(Purpose::Read)?;
        let places = places(&Library::new(&*reader), request)?;
        places
            .ok()
            .map(|places| places.into_iter().map(|named| named.stored.path).take(1).collect())
    };
    let paths: Option<Vec<String>> = paths;
    let paths = paths.as_ref().map_or(Paths::All, |paths| Paths::Stored(paths));
    let report = ingest::refresh(request.store, paths)?;
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
    writer: &mut dyn Writer,
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
    let state = FileState::unknown(bytes.len());
    let path_of = path.to_owned();
    Preparation::new()?
        .of_parsed(path_of, bytes, hash, state, document, markup)?
        .map_err(|reason| Error::new(ErrorKind::EditRefused, format!("{path}: {reason}")))
}

/// Stores a document in a transaction of its own.
fn put(writer: &mut dyn Writer, document: PreparedDocument) -> Result<()> {
    writer.put(vec![document])?;
    writer.commit()
}

/// Removes the temporary file of an edit at `path`, relative to `root`, if it exists.
pub(crate) fn remove_temporary(root: &Path, path: &str) {
    if let Ok(place) = FileHandle::open(root, path) {
        place.remove_temporary(path.rsplit('/').next().unwrap_or(path));
    }
}
