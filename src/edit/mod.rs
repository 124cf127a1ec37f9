//! Edits: replace, insert and delete sections of files, and change nothing else.
//!
//! [`plan`] computes which bytes of a file to replace, or why an edit is refused; it is pure. `change` turns
//! an edit by address into a plan, and `hint` says what to do about a refusal. `content` checks the given
//! content. `files` changes files and their documents together. [`edit()`] does all of it.
//! Invariant (see `mdsel help edits`): a file has either its old or its new bytes, and the store has one of
//! these versions; after an edit is acknowledged, both have the new version.

mod answer;
mod batch;
mod change;
mod content;
mod files;
mod hint;
mod line;
mod operation;
pub mod plan;
mod relocate;

pub use answer::EditAnswer;
pub use batch::{BatchEdits, EditProblems};
pub use content::checked_content;
pub(crate) use line::key_of;
pub use line::{BatchLine, operations};
pub use operation::{Done, Edit, EditCommand, Operation};
pub use relocate::{
    ChangedFile, NewLabel, RelocateAnswer, RelocateEffects, RelocateReport, RelocateRequest,
    Relocation, RewrittenLink, SectionRelocation, relocate,
};

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use crate::address::namespace::encode;
use crate::address::{AddressError, AddressResult, FaultCode};
use crate::corpus::IngestOptions;
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::ingest::{self, Paths};
use crate::limits;
use crate::links::Outgoing;
use crate::markdown::slug::comparable;
use crate::message::message;
use crate::percent::percent_decode;
use crate::query::links::Changed;
use crate::query::links::broken::{AffectedLink, AffectedLinks, EditedVersions, affected_by};
use crate::query::missing_document::INGEST_ADDS;
use crate::query::open_document::OpenDocument;
use crate::query::{NamedNode, Session, locate_for_edit, named, names_document};
use crate::store::{Purpose, Store};
use crate::visible::quoted;
use change::Current;
use files::{EditTransaction, FileChange, OldFile};
use hint::{check_hash, instead_of_whole, of_whole_document};
use plan::ContentChange::Insert;
use plan::Renumbered;

/// A request to edit documents.
pub struct EditRequest<'a> {
    /// The store.
    pub store: &'a Store,
    /// The name of the document; `None` if the edits name their documents.
    pub document: Option<String>,
    /// The hash that the file must have, in the short form of `mdsel read -f json` or in full, if all edits are of
    /// one document.
    pub expect: Option<String>,
    /// The edits, applied in this order; either all of them are made, or none.
    pub edits: Vec<Edit>,
    /// Whether only to report what would change.
    pub is_dry_run: bool,
    /// Whether to ingest the documents first.
    pub is_refresh: bool,
    /// The longest time to wait for another writer.
    pub wait: Duration,
    /// Called once before anything is written; an error cancels the edits. The caller checks that the answer
    /// can be printed. A dry run does not call it, nor do edits that change nothing.
    pub confirm: &'a dyn Fn(&EditReport) -> Result<()>,
}

/// A file before and after all edits.
#[derive(Clone, Debug)]
pub struct EditedFile {
    /// Its path, relative to the root.
    pub file: String,
    /// Its bytes before.
    pub before: Vec<u8>,
    /// Its bytes afterwards.
    pub after: Vec<u8>,
}

/// What the edits changed, or would change.
#[derive(Clone, Debug)]
pub struct EditReport {
    /// The files of the edits, in the order of their first edits.
    pub files: Vec<EditedFile>,
    /// The edits, in order.
    pub done: Vec<Done>,
    /// Links into the documents that the edits break.
    pub broken_links: Vec<AffectedLink>,
    /// Links into the documents that lead to another section, because their section has another anchor.
    pub redirected_links: Vec<AffectedLink>,
    /// Warnings about the edits and the store.
    pub warnings: Vec<Warning>,
}

impl EditReport {
    /// Returns whether the bytes of a file change.
    pub fn is_change(&self) -> bool {
        self.files.iter().any(|file| file.before != file.after)
    }
}

/// A document while its edits are applied.
struct EditedDocument {
    current: Current,
    original: Rc<OpenDocument>,
    before: OldFile,
}

/// Edits documents. The inner error says why places were not found.
pub fn edit(
    request: &EditRequest<'_>,
) -> Result<std::result::Result<EditReport, Vec<AddressError>>> {
    let mut warnings = if request.is_refresh { refresh(request)? } else { Vec::new() };
    let (transaction, recovered) = EditTransaction::begin(request.store, request.wait)?;
    warnings.extend(recovered);
    if request.edits.is_empty() {
        return Err(
            Error::new(ErrorKind::Usage, "there is no edit").with_hint("give at least one edit")
        );
    }
    let session = Session::new(&*transaction.reader);
    let mut problems = EditProblems::default();
    let (documents, mut done) = applied(&session, request, &mut problems)?;
    if !problems.is_empty() {
        return problems.into_answer().map(Err);
    }
    if let Some(expected) = &request.expect {
        let [document] = documents.as_slice() else {
            let message = "--expect is the hash of one document, and the edits change several";
            return Err(Error::new(ErrorKind::Usage, message)
                .with_hint("give each edit of the batch its own `expect`"));
        };
        check_hash(&document.original.stored.path, &document.before.bytes, &[], expected)?;
    }
    let affected = affected_links(&session, &documents, &done)?;
    for one in &mut done {
        let links = affected.broken.iter().chain(&affected.redirected);
        linked_first(&mut one.effects.renumbered, links.map(|link| link.target.as_str()));
    }
    warnings.extend(done.iter().flat_map(|done| done.warnings.iter().cloned()));
    let file = |document: &EditedDocument| EditedFile {
        file: document.original.stored.path.clone(),
        before: document.before.bytes.clone(),
        after: document.current.version().bytes().to_vec(),
    };
    let files = documents.iter().map(file).collect();
    let mut report = EditReport {
        files,
        done,
        broken_links: affected.broken,
        redirected_links: affected.redirected,
        warnings,
    };
    drop(session);
    let changes = documents.into_iter().filter_map(EditedDocument::into_change).collect();
    let confirm =
        || (request.confirm)(&report).map_err(|error| error.in_part("nothing was changed"));
    report.warnings.extend(transaction.finish(changes, request.is_dry_run, confirm)?);
    Ok(Ok(report))
}

/// Returns the error of a batch of which some parts are no edits, for the reasons `problems`. It names the problems of
/// its edits, too, unless they are of documents that are to be ingested first. Returns `None` without `problems`.
pub fn refused_batch(request: &EditRequest<'_>, mut problems: EditProblems) -> Option<Error> {
    if problems.is_empty() {
        return None;
    }
    if !request.is_refresh
        && let Ok(reader) = request.store.reader(Purpose::Read)
    {
        // Another error is not one of the batch.
        drop(applied(&Session::new(&*reader), request, &mut problems));
    }
    problems.into_error()
}

/// Fails if the edits at `places` parse more bytes again than the limit `reparsed-bytes` allows.
fn refuse_too_many_bytes<'a>(places: impl Iterator<Item = &'a NamedNode>) -> Result<()> {
    let mut documents = HashSet::new();
    let again = places.filter(|named| !documents.insert(named.stored.id));
    let bytes: u64 = again.map(|named| named.stored.state.size).sum();
    if bytes > limits::MAX_REPARSED_BYTES as u64 {
        return Err(limits::exceeded(limits::row::MAX_REPARSED_BYTES)
            .with_hint("divide the batch: each edit of a large document parses all of it"));
    }
    Ok(())
}

/// Applies the edits to the documents, in order, without those that have a problem.
fn applied(
    session: &Session<'_>,
    request: &EditRequest<'_>,
    problems: &mut EditProblems,
) -> Result<(Vec<EditedDocument>, Vec<Done>)> {
    let places = places(session, request, problems)?;
    if let Err(error) = refuse_too_many_bytes(places.iter().map(|(_, named)| named)) {
        problems.add_error(error, None)?;
        return Ok((Vec::new(), Vec::new()));
    }
    let mut documents: Vec<EditedDocument> = Vec::new();
    let mut indices = HashMap::new();
    let mut done: Vec<Done> = Vec::new();
    for (edit, named) in &places {
        if problems.leave_out_next() {
            break;
        }
        let at = *indices.entry(named.stored.id).or_insert(documents.len());
        if at == documents.len() {
            let before = match OldFile::read(session.reader, &named.stored) {
                Ok(before) => before,
                Err(error) => {
                    problems.add_error(error, None)?;
                    // Its other edits have the same problem.
                    indices.insert(named.stored.id, usize::MAX);
                    continue;
                }
            };
            let current = Current::new(named.stored.clone(), before.bytes.clone());
            documents.push(EditedDocument {
                original: current.document().clone(),
                current,
                before,
            });
        }
        if documents.len() > limits::MAX_EDITED_FILES {
            problems.add_error(limits::exceeded(limits::row::MAX_EDITED_FILES), None)?;
            break;
        }
        let Some(document) = documents.get_mut(at) else { continue };
        match document.current.make(edit, named, &document.before.bytes) {
            Ok(Ok(one)) => done.push(one),
            Ok(Err(fault)) => problems.add_place(fault, edit),
            Err(error) => problems.add_error(error, edit.origin.as_deref())?,
        }
    }
    if !problems.is_empty() {
        return Ok((documents, done));
    }
    let mut new_places: Vec<_> =
        documents.iter().map(|document| document.current.places()).collect();
    for (one, (_, named)) in done.iter_mut().zip(&places) {
        let of_document = indices.get(&named.stored.id).and_then(|at| new_places.get_mut(*at));
        if let Some(place) = of_document.and_then(Iterator::next) {
            one.new_lines = place.lines;
            one.new_section_path = place.section_path;
            one.new_selector = place.selector;
        }
    }
    drop(new_places);
    Ok((documents, done))
}

impl EditedDocument {
    /// Returns the change of the file; `None` if its bytes are the same.
    fn into_change(self) -> Option<FileChange> {
        let path = self.original.stored.path.clone();
        let after = self.current.into_version();
        (after.bytes() != self.before.bytes).then(|| FileChange {
            path,
            before: Some(self.before),
            after: Some(after),
            model: None,
        })
    }
}

/// Returns the links into the documents that the edits break or lead to another section.
fn affected_links(
    session: &Session<'_>,
    documents: &[EditedDocument],
    done: &[Done],
) -> Result<AffectedLinks> {
    let links: Vec<Outgoing> = documents
        .iter()
        .map(|document| document.current.version())
        .map(|version| Outgoing::of(version.document(), version.markup()))
        .collect();
    let mut of_files: HashMap<&str, Vec<&Done>> = HashMap::new();
    for one in done {
        of_files.entry(&one.file).or_default().push(one);
    }
    let versions = documents.iter().zip(&links).map(|(document, links)| {
        let old = &document.original;
        let edits = of_files.get(old.stored.path.as_str()).into_iter().flatten();
        EditedVersions {
            old,
            bytes: &document.before.bytes,
            changed: Changed {
                document: document.current.document().clone(),
                links,
                bytes: document.current.version().bytes(),
                left: None,
            },
            anchors: new_anchors(edits.map(|done| done.effects.renumbered.as_slice())),
        }
    });
    affected_by(session, &versions.collect::<Vec<_>>())
}

/// Moves the sections to the front whose old anchors the targets of these links name.
fn linked_first<'a>(renumbered: &mut [Renumbered], targets: impl Iterator<Item = &'a str>) {
    let fragment = |target: &'a str| Some(comparable(&percent_decode(target.split_once('#')?.1)));
    let named: HashSet<String> = targets.filter_map(fragment).collect();
    renumbered.sort_by_key(|one| {
        let anchor = one.from.strip_prefix('#');
        !anchor.is_some_and(|anchor| named.contains(&comparable(anchor)))
    });
}

/// Returns the anchors of sections before several edits of a document, with those after all of them.
fn new_anchors<'a>(edits: impl Iterator<Item = &'a [Renumbered]>) -> HashMap<String, String> {
    let mut all: HashMap<String, String> = HashMap::new();
    for renumbered in edits {
        let anchor = |text: &str| text.strip_prefix('#').map(str::to_owned);
        let changes = renumbered.iter().filter_map(|one| anchor(&one.from).zip(anchor(&one.to)));
        let mut changes: HashMap<String, String> = changes.collect();
        for now in all.values_mut() {
            if let Some(next) = changes.remove(now) {
                *now = next;
            }
        }
        all.extend(changes);
    }
    all
}

/// Finds the document and the locator of each edit, without those that have a problem. An edit without a document uses
/// that of the request, or else that of the previous edit. It is not checked if that is not known.
fn places<'a>(
    session: &Session<'_>,
    request: &'a EditRequest<'_>,
    problems: &mut EditProblems,
) -> Result<Vec<(&'a Edit, NamedNode)>> {
    let mut places: Vec<(&Edit, NamedNode)> = Vec::with_capacity(request.edits.len());
    let mut is_known = true;
    for edit in &request.edits {
        if problems.leave_out_next() {
            break;
        }
        let before = places.last().map(|(_, last)| encode(&last.stored.path));
        let given = edit.document.as_ref().or(request.document.as_ref());
        let is_address = given.is_none() && names_document(session, &edit.section)?;
        if !is_known && given.is_none() && !is_address {
            continue;
        }
        let document = given.cloned().or(before.clone()).filter(|_| !is_address);
        let mut found = match named(session, document.as_deref(), &edit.section, edit.is_fuzzy) {
            Ok(found) => found,
            Err(error) => {
                let hint = |document: &OpenDocument| instead_of_whole(document, &edit.operation);
                let error = of_whole_document(session, error, &edit.section, hint)?;
                problems.add_error(error, edit.origin.as_deref())?;
                is_known = false;
                continue;
            }
        };
        // The text before `::`, `#` or `:` may be a part of a title.
        if is_address
            && before.is_some()
            && let Ok(within) = named(session, before.as_deref(), &edit.section, edit.is_fuzzy)?
        {
            match &found {
                Ok(place) => {
                    if let Some(fault) = also_within(session, &within, place, edit)? {
                        found = Err(fault);
                    }
                }
                Err(_) if is_in_document(session, &within, edit)? => found = Ok(within),
                Err(_) => {}
            }
        }
        let found = match found {
            Ok(place) => is_in_request(session, &place, request, edit)?.map(|()| place),
            error => error,
        };
        match found {
            Ok(named) => places.push((edit, named)),
            Err(fault) => problems.add_place(of_operation(fault, edit), edit),
        }
        is_known = places.last().is_some_and(|(last, _)| std::ptr::eq(*last, edit));
    }
    Ok(places)
}

/// Adds to a fault what it means for the operation. An edit of a key does not name the front matter, so the fault that
/// its document is missing names the key.
fn of_operation(fault: AddressError, edit: &Edit) -> AddressError {
    match &edit.operation {
        Operation::Key(change) if fault.code == FaultCode::NamespaceRequired => {
            let message = "a key belongs to a document; give that as \"document\"";
            AddressError::new(fault.code, message).of(change.key())
        }
        Operation::Content(Insert { .. }) => makes_no_document(with_refresh(fault), &edit.section),
        // A task is no title, which is what is looked for without a document.
        Operation::Mark { .. } if fault.code == FaultCode::SelectorNotFound => {
            with_refresh(fault).or_else(|| "`mdsel tasks` lists the tasks with their addresses")
        }
        _ => with_refresh(fault),
    }
}

/// Says in the fault that a file is not ingested how the same command ingests it.
fn with_refresh(mut fault: AddressError) -> AddressError {
    if fault.code == FaultCode::NotInStore && fault.message.to_string().ends_with(INGEST_ADDS) {
        fault.message = message!("{}, and so does --refresh", fault.message);
    }
    fault
}

/// Says in the fault that a document does not exist how text gets into a new one.
fn makes_no_document(mut fault: AddressError, text: &str) -> AddressError {
    let is_missing = match fault.code {
        FaultCode::NamespaceNotFound => true,
        // A bare path is first taken for a title.
        FaultCode::SelectorNotFound => IngestOptions::default().takes(Path::new(text)),
        _ => false,
    };
    if is_missing {
        fault.message = message!(
            "{}; no edit makes a document: make the file, then repeat with --refresh",
            fault.message
        );
    }
    fault
}

/// Returns a fault if the edit names another document than the request.
fn is_in_request(
    session: &Session<'_>,
    place: &NamedNode,
    request: &EditRequest<'_>,
    edit: &Edit,
) -> Result<AddressResult<()>> {
    let (Some(own), Some(document)) = (&edit.document, &request.document) else {
        return Ok(Ok(()));
    };
    if own == document {
        return Ok(Ok(()));
    }
    let root = named(session, Some(document), "*", false)?;
    Ok(root.and_then(|root| {
        if root.stored.id == place.stored.id {
            return Ok(());
        }
        let message = format!(
            "the edit is of {own}, but all edits of this call are of {document}; leave that \
                       out, and each edit names its document"
        );
        Err(AddressError::new(FaultCode::SelectorNotFound, message).of(own))
    }))
}

/// Returns whether the text of an edit is the title of a section of the document that `named` has, or of several.
fn is_in_document(session: &Session<'_>, named: &NamedNode, edit: &Edit) -> Result<bool> {
    let found = locate_for_edit(&session.open(&named.stored)?, named, edit.is_fuzzy);
    Ok(!found.is_err_and(|fault| fault.code == FaultCode::SelectorNotFound))
}

/// Returns the fault for a text that names `place` with its document, and also a section `within` another one, whose
/// title it is.
fn also_within(
    session: &Session<'_>,
    within: &NamedNode,
    place: &NamedNode,
    edit: &Edit,
) -> Result<Option<AddressError>> {
    if within.stored.id == place.stored.id {
        return Ok(None);
    }
    let text = edit.section.as_str();
    let mut addresses = Vec::new();
    for named in [within, place] {
        match locate_for_edit(&session.open(&named.stored)?, named, edit.is_fuzzy) {
            Ok(found) => addresses.push(found.address()),
            Err(_) => return Ok(None),
        }
    }
    let (own, other) = (&within.stored.path, &place.stored.path);
    let message =
        format!("{text} names a place in {other}, and a section of {own}", text = quoted(&text));
    Ok(Some(AddressError::new(FaultCode::Ambiguous, message).of(text).suggest(addresses)))
}

/// Ingests the documents of the edits; all documents if a place is not found yet.
fn refresh(request: &EditRequest<'_>) -> Result<Vec<Warning>> {
    let paths = {
        let reader = request.store.reader(Purpose::Read)?;
        let mut problems = EditProblems::default();
        let places = places(&Session::new(&*reader), request, &mut problems)?;
        problems
            .is_empty()
            .then(|| places.into_iter().map(|(_, named)| named.stored.path).collect())
    };
    let paths: Option<Vec<String>> = paths;
    let paths = paths.as_ref().map_or(Paths::All, |paths| Paths::Stored(paths));
    // The reader may have finished an interrupted edit.
    let mut warnings = request.store.take_warnings();
    warnings.extend(ingest::refresh(request.store, paths)?.into_warnings());
    Ok(warnings)
}
