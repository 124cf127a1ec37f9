//! Edits: replace, insert and delete sections of files, and change nothing else.
//!
//! [`plan`] computes which bytes of a file to replace, or why an edit is refused; it is pure. `change` turns
//! an edit by address into a plan, and `hint` says what to do about a refusal. `content` checks the given
//! content. `files` changes files and their documents together. [`edit()`] does all of it.
//! Invariant (see `mdsel help edits`): a file has either its old or its new bytes, and the store has one of
//! these versions; after an edit is acknowledged, both have the new version.

mod answer;
mod change;
mod content;
mod files;
mod hint;
mod line;
mod occurrence;
pub mod plan;
mod relink;
mod relocate;
mod relocate_answer;

pub use answer::EditAnswer;
pub use change::{Done, Edit, Operation};
pub use content::checked_content;
pub use line::BatchLine;
pub use relink::RewrittenLink;
pub use relocate::{
    ChangedFile, NewLabel, RelocateEffects, RelocateReport, RelocateRequest, Relocation, relocate,
};
pub use relocate_answer::RelocateAnswer;

use std::path::Path;
use std::time::Duration;

use crate::address::AddressError;
use crate::corpus::FileHandle;
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::ingest::{self, Paths};
use crate::links::Outgoing;
use crate::query::links::broken::{BrokenLink, Changed, broken_by};
use crate::query::{DocumentCache, NamedNode, named};
use crate::store::{Purpose, Store};
use change::Current;
use files::{FileChange, OldFile};

/// A request to edit one document.
pub struct EditRequest<'a> {
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
    pub confirm: &'a dyn Fn(&EditReport) -> Result<()>,
}

/// What the edits changed, or would change.
#[derive(Clone, Debug)]
pub struct EditReport {
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
pub fn edit(request: &EditRequest<'_>) -> Result<std::result::Result<EditReport, AddressError>> {
    let mut warnings = if request.is_refresh { refresh(request)? } else { Vec::new() };
    // The writer holds the lock from before the file is read until the store is written, so concurrent edits
    // run one after the other.
    let (mut writer, recovered) = request.store.trusted_writer(request.wait)?;
    warnings.extend(recovered);
    let reader = request.store.reader(Purpose::Read)?;
    let library = DocumentCache::new(&*reader);
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
    let OldFile { bytes: before, seen } = OldFile::read(&*reader, &stored)?;
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
        left: None,
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
    let mut report = EditReport { file: path.clone(), done, before, after, broken_links, warnings };
    (request.confirm)(&report)?;
    let is_written = !request.is_dry_run && report.after != report.before;
    if is_written {
        let root = writer.root()?.unwrap_or_default();
        let before = Some(OldFile { bytes: report.before.clone(), seen });
        let change = FileChange { path, before, after: Some(version), model: None };
        let warnings = files::write(request.store, writer.as_mut(), &root, vec![change])?;
        report.warnings.extend(warnings);
    }
    match writer.close() {
        Ok(warnings) => report.warnings.extend(warnings),
        Err(error) if is_written => report.warnings.push(files::unfinished(&error)),
        Err(error) => return Err(error),
    }
    Ok(Ok(report))
}

/// Finds the document and the locator of each edit. All edits must name the same document.
fn places(
    library: &DocumentCache<'_>,
    request: &EditRequest<'_>,
) -> Result<std::result::Result<Vec<NamedNode>, AddressError>> {
    let mut places: Vec<NamedNode> = Vec::with_capacity(request.edits.len());
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
fn of_edit(mut fault: AddressError, edit: &Edit) -> AddressError {
    if let Some(origin) = &edit.origin {
        fault.message = format!("{origin}: {}", fault.message);
    }
    fault
}

/// Ingests the document of the edits; all documents if a place is not found yet.
fn refresh(request: &EditRequest<'_>) -> Result<Vec<Warning>> {
    let paths = {
        let reader = request.store.reader(Purpose::Read)?;
        let places = places(&DocumentCache::new(&*reader), request)?;
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

/// Removes the temporary file of an edit at `path`, relative to `root`, if it exists.
pub(crate) fn remove_temporary(root: &Path, path: &str) {
    if let Ok(place) = FileHandle::open(root, path) {
        place.remove_temporary(path.rsplit('/').next().unwrap_or(path));
    }
}
