//! Edits: sections of files replaced, inserted and deleted, and nothing else changed.
//!
//! [`plan`] computes which bytes of a file take the place of which, or why not, and is pure; `change`
//! turns requests by address into such plans, and `hint` says what to do instead of one that was
//! refused; `content` takes what is to be put in; `file` replaces a file within the root; [`edit()`] does
//! all of it and brings the store along. Invariant (contract, section 11): a file is the old one or the
//! new one, never anything else, and the store is of one of them; an edit that was acknowledged is in
//! both.

mod answer;
mod change;
mod content;
mod file;
mod hint;
mod line;
pub mod plan;

pub use answer::Answer;
pub use change::{Done, Edit, Operation};
pub use content::checked_content;
pub(crate) use file::is_temporary;
pub use line::Line;

use std::path::Path;
use std::time::Duration;

use crate::address::Fault;
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::failpoint::failpoint;
use crate::ingest::{self, Paths, resolved};
use crate::links::Outgoing;
use crate::markdown::{self, Dialect};
use crate::query::links::broken::{BrokenLink, Changed, broken_by};
use crate::query::{Library, Named, named};
use crate::store::{
    EditIntent, FileState, PackedDocument, Packer, Snapshot, Writer, packed_version,
};
use crate::trust::{Trust, Wish};
use change::Current;
use file::{Place, Seen};

/// What to edit.
pub struct Request<'a> {
    /// The store file, absolute.
    pub store: &'a Path,
    /// The document by name; `None` where each edit names its place by an address.
    pub document: Option<String>,
    /// The edits, each made after those before it; all of them, or none.
    pub edits: Vec<Edit>,
    /// Whether only to tell what would be done.
    pub is_dry_run: bool,
    /// Whether to bring the document up to date first.
    pub is_refresh: bool,
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
    /// The bytes after them.
    pub after: Vec<u8>,
    /// Links that lead into the document and lead nowhere after the edits.
    pub broken_links: Vec<BrokenLink>,
    /// Remarks.
    pub warnings: Vec<Warning>,
}

/// Makes edits of one document; the inner fault says that a place is not there.
pub fn edit(request: &Request<'_>) -> Result<std::result::Result<Report, Fault>> {
    let store = resolved(request.store)?;
    let refreshed = if request.is_refresh { refresh(&store, request)? } else { Vec::new() };
    // Held from before the file is read until the store is written: two edits at once come one
    // after the other.
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
    let place = Place::open(snapshot.root(), &path)?;
    let (before, seen) = place.read(snapshot.options().max_file_bytes)?;
    if *blake3::hash(&before).as_bytes() != stored.hash {
        let message = format!("{}: the file is not the one that is stored", stored.path);
        return Err(file::conflict(message));
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

/// The place of each edit, all in one document.
fn places(
    library: &Library<'_>,
    request: &Request<'_>,
) -> Result<std::result::Result<Vec<Named>, Fault>> {
    let mut places: Vec<Named> = Vec::with_capacity(request.edits.len());
    for edit in &request.edits {
        // Where no document is given, the first address names the one of all edits.
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

/// A fault of the place of `edit`, which says which one of several it is.
fn of_edit(mut fault: Fault, edit: &Edit) -> Fault {
    if let Some(origin) = &edit.origin {
        fault.message = format!("{origin}: {}", fault.message);
    }
    fault
}

/// Brings the documents of the edits up to date; all of them where one is not known yet.
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

/// Writes file and store. What may lack room comes first, and the rename, which needs none, last: after
/// a fault before it both are as they were, or the note of the edit lets the next command end it. After
/// the rename the edit is made, and faults are warnings: who repeats an edit that was made makes it
/// twice.
fn write(
    writer: &mut Writer,
    place: &Place<'_>,
    seen: &Seen,
    version: plan::Version,
    report: &mut Report,
) -> Result<()> {
    // Whatever may be refused is refused before anything is touched.
    let document = pack(&report.file, version)?;
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
    // The note stays where something fails from here on: the next command compares file and store.
    if let Err(error) = place.sync_folder().and_then(|()| forget(writer, note)) {
        report.warnings.push(unfinished(&error));
    }
    Ok(())
}

/// The remark that the file was changed although something failed after that.
fn unfinished(error: &Error) -> Warning {
    let message = format!(
        "the file was changed, so do not repeat the edit; after that this failed: {error}; the next \
         command brings the store in line"
    );
    Warning::new("EDIT_UNFINISHED", message)
}

/// Makes of a new version of a file what the store wants.
fn pack(path: &str, version: plan::Version) -> Result<PackedDocument> {
    let (bytes, document, markup) = version.into_parts();
    let hash = *blake3::hash(&bytes).as_bytes();
    // A file written just now may change once more within the same tick: it is looked at again.
    let state = FileState { size: bytes.len() as u64, mtime_ns: 0, ctime_ns: 0 };
    let path_of = path.to_owned();
    packed_version(path_of, bytes, hash, state, document, markup, &mut Packer::new()?)?
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
        if is_behind && markdown::refusal(&bytes).is_none() {
            put(
                writer,
                pack(&intent.path, plan::Version::read_as(bytes, Dialect::of(&intent.path)))?,
            )?;
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
