//! `rename` and `move`: gives a section another title or another place, or a document another path, and rewrites
//! the links to it.
//!
//! `rename`, `document` and `section` plan the new versions of the documents that are named. `relink` adds those whose
//! links are rewritten, `link_comparison` compares where links lead, `occurrence` finds where targets are written, and
//! `unchanged_targets` finds the targets in HTML, front matter and other text that are not rewritten.
//! Invariant: all files change, or none. Besides what is renamed or moved, only targets of links change.

mod answer;
mod document;
mod heading;
mod link_comparison;
mod new_version;
mod occurrence;
mod relink;
mod rename;
mod section;
mod unchanged_targets;

pub use answer::RelocateAnswer;
pub use new_version::RewrittenLink;

use std::rc::Rc;
use std::time::Duration;

use super::files::{EditTransaction, FileChange, OldFile};
use super::hint::{check_hash, instead_of_title, of_whole_document};
use super::plan::{Allow, Position, Renumbered};
use crate::address::{AddressError, AddressResult};
use crate::count::counted;
use crate::edit::answer::{diff, hunks, quoted};
use crate::edit::linked_first;
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::ingest::{self, Paths};
use crate::limits;
use crate::markdown::outline::Section;
use crate::message::message;
use crate::position::ByteSpan;
use crate::query::open_document::OpenDocument;
use crate::query::resolved_node::{ResolvedNode, Target};
use crate::query::{Session, documents, named, names_document};
use crate::store::{Lookup, Reader, Store};
use document::{moved, unresolved_links};
use link_comparison::MovedPlaces;
use new_version::NewVersion;
use relink::relink;
use rename::{OldTitle, renamed};
use section::moved_section;

/// What to rename or move.
#[derive(Clone, Debug)]
pub enum Relocation {
    /// Gives a section another title.
    Rename {
        /// The document; `None` if `section` is an address with its document.
        document: Option<String>,
        /// The section.
        section: String,
        /// The title, as it is written in Markdown.
        title: String,
        /// Whether a unique part of a title may name the section.
        is_fuzzy: bool,
    },
    /// Gives a document another path.
    Move {
        /// The name of the document.
        document: String,
        /// The path, relative to the root. It may be percent-encoded, as answers print paths.
        path: String,
    },
    /// Gives a section another place.
    MoveSection(SectionRelocation),
}

/// A section and its new place.
#[derive(Clone, Debug)]
pub struct SectionRelocation {
    /// The document of the section, if it is given separately.
    pub document: Option<String>,
    /// The section in the document, or its address if no document is given.
    pub section: String,
    /// The address of the place next to which it goes.
    pub to: String,
    /// Where it goes, relative to that place.
    pub position: Position,
    /// Whether the levels of its headings are shifted to fit the place.
    pub relevel: bool,
    /// The consequences that the user has allowed.
    pub allow: Allow,
    /// Whether a unique part of a title may name a section.
    pub is_fuzzy: bool,
}

impl Relocation {
    /// Returns the name of the command.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Rename { .. } => "rename",
            Self::Move { .. } | Self::MoveSection(_) => "move",
        }
    }
}

/// A request to rename or move.
pub struct RelocateRequest<'a> {
    /// The store.
    pub store: &'a Store,
    /// What to rename or move.
    pub relocation: Relocation,
    /// Whether links are left as they are.
    pub keeps_links: bool,
    /// The hash that the file must have, in the short form of `mdsel read -f json` or in full.
    pub expect: Option<String>,
    /// Whether only to report what would change.
    pub is_dry_run: bool,
    /// Whether to ingest all documents first.
    pub is_refresh: bool,
    /// The longest time to wait for another writer.
    pub wait: Duration,
    /// See [`EditRequest::confirm`](super::EditRequest::confirm).
    pub confirm: &'a dyn Fn(&RelocateReport) -> Result<()>,
}

/// A file that is changed.
#[derive(Clone, Debug)]
pub struct ChangedFile {
    /// The path after the edit.
    pub file: String,
    /// The path before the edit.
    pub from: String,
    /// The bytes before the edit.
    pub before: Vec<u8>,
    /// The bytes after the edit.
    pub after: Vec<u8>,
    /// The links that were rewritten, by line.
    pub links: Vec<RewrittenLink>,
}

/// What was renamed or moved.
#[derive(Clone, Debug)]
pub struct RelocateReport {
    /// The name of the command: `rename` or `move`.
    pub operation: &'static str,
    /// The address of the section or document before.
    pub from: String,
    /// Its address now.
    pub to: String,
    /// The title of the section now; `None` for a document.
    pub title: Option<String>,
    /// The files that change: first the one that is renamed or moved, then the others by path.
    pub files: Vec<ChangedFile>,
    /// What else the edit changes.
    pub effects: RelocateEffects,
    /// Warnings about the edit and the store.
    pub warnings: Vec<Warning>,
}

/// A label that has another name.
#[derive(Clone, Debug, schemars::JsonSchema, serde::Serialize)]
pub struct NewLabel {
    /// The old name.
    pub from: String,
    /// The new name.
    pub to: String,
}

/// The effects of a relocation outside the place, and on labels.
#[derive(Clone, Debug, Default, schemars::JsonSchema, serde::Serialize)]
pub struct RelocateEffects {
    /// Sections whose number changes because a section with an equal title was added or removed, those first to which
    /// links lead. An answer lists at most 20.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub renumbered: Vec<Renumbered>,
    /// The number of these sections, if not all are listed.
    #[serde(skip_serializing_if = "crate::schema::is_zero")]
    pub renumbered_total: usize,
    /// Labels of definitions in the moved section that stay where they were, because other text uses them, or because
    /// no text uses them and their targets are relative to the folder.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kept_definitions: Vec<String>,
    /// Labels of definitions and footnotes elsewhere in the file that were copied with the moved section.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub copied_definitions: Vec<String>,
    /// Labels in the moved section that have another name now, because the other file uses them for something
    /// else.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub new_labels: Vec<NewLabel>,
}

/// The versions that an edit itself makes, and how it describes them.
#[derive(Default)]
struct RelocationPlan {
    /// The edited document comes first.
    versions: Vec<NewVersion>,
    moved: MovedPlaces,
    /// The section that is renamed or moved, with and without its subsections.
    section: Option<[ByteSpan; 2]>,
    from: String,
    to: String,
    /// The title of the section afterwards.
    title: Option<String>,
    /// The title that it had, if a rename gives it another.
    old_title: Option<OldTitle>,
    effects: RelocateEffects,
    warnings: Vec<Warning>,
}

/// Returns on which lines something is, for a warning: their number, and the first of `places`.
fn on_lines_at(places: &[String]) -> String {
    let shown = places.get(..limits::MAX_SUGGESTIONS).unwrap_or(places).join(", ");
    let more = if places.len() > limits::MAX_SUGGESTIONS { ", ..." } else { "" };
    format!("on {}: {shown}{more}", counted(places.len(), "line"))
}

/// Renames a section or moves a document. The inner error says why it was not found.
pub fn relocate(request: &RelocateRequest<'_>) -> Result<AddressResult<RelocateReport>> {
    let mut warnings = if request.is_refresh {
        ingest::refresh(request.store, Paths::All)?.into_warnings()
    } else {
        Vec::new()
    };
    let (transaction, recovered) = EditTransaction::begin(request.store, request.wait)?;
    warnings.extend(recovered);
    let session = Session::new(&*transaction.reader);
    let plan = match planned(request, &session)? {
        Ok(plan) => plan,
        Err(fault) => return Ok(Err(fault)),
    };
    warnings.extend(plan.warnings);
    let RelocationPlan {
        mut versions,
        moved,
        section,
        from,
        to,
        title,
        old_title,
        mut effects,
        ..
    } = plan;
    let first = versions.first().map_or(0, |version| version.old.stored.id);
    if !request.keeps_links {
        if let (Relocation::Move { .. }, Some(version)) = (&request.relocation, versions.first()) {
            warnings.extend(unresolved_links(&session, &version.old.stored)?);
        }
        let of_others;
        (versions, of_others) = relink(&session, versions, &moved)?;
        warnings.extend(of_others);
        if !request.is_refresh {
            let documents = session.reader.all(&Lookup::All)?;
            let consequence = "pass --refresh to find links that were added";
            warnings.extend(session.warning_of_changes(&documents, consequence));
            let known: Vec<&str> =
                documents.iter().map(|document| document.path.as_str()).collect();
            let added = session.roots.added_beside(&request.store.own_files(), &known);
            warnings.extend(added.map(|path| {
                let message = message!(
                    "{} is not in the store, so no link in it is rewritten; ingest it first with `mdsel ingest {path}`, \
                     or all files with --refresh",
                    path,
                    session.roots.file(&path).display().to_string()
                );
                Warning::new("STALE_DOCUMENTS", message)
            }));
        }
    }
    // The edited document comes first, and the sort keeps the order of the others.
    versions.sort_by_key(|version| (version.old.stored.id != first, version.path().to_owned()));
    let (mut files, mut changes) = (Vec::new(), Vec::new());
    for version in versions {
        let (file, of_file) = change(session.reader, version)?;
        files.push(file);
        changes.extend(of_file);
    }
    if let (Some(expected), Some(file)) = (&request.expect, files.first()) {
        let spans = section.as_ref().map_or(&[][..], |spans| spans);
        check_hash(&file.from, &file.before, spans, expected)?;
    }
    files.retain(|file| file.from != file.file || file.before != file.after);
    warnings.extend(old_title.and_then(|old| old.warning(&files)));
    let rewritten = files.iter().flat_map(|file| &file.links).map(|link| link.from.as_str());
    linked_first(&mut effects.renumbered, rewritten);
    let operation = request.relocation.name();
    let mut report = RelocateReport { operation, from, to, title, files, effects, warnings };
    drop(session);
    let confirm =
        || (request.confirm)(&report).map_err(|error| error.in_part("nothing was changed"));
    report.warnings.extend(transaction.finish(changes, request.is_dry_run, confirm)?);
    Ok(Ok(report))
}

/// Plans what is asked for. The inner error says why a place was not found.
fn planned(
    request: &RelocateRequest<'_>,
    session: &Session<'_>,
) -> Result<AddressResult<RelocationPlan>> {
    Ok(match &request.relocation {
        Relocation::Rename { document, section, title, is_fuzzy } => {
            match named(session, document.as_deref(), section, *is_fuzzy) {
                Ok(Ok(place)) => renamed(session, &place, title, *is_fuzzy)?,
                Ok(Err(fault)) => Err(fault),
                Err(error) => {
                    let hint = |document: &OpenDocument| Some(instead_of_title(document, title));
                    return Err(of_whole_document(session, error, section, hint)?);
                }
            }
        }
        Relocation::Move { document, path } => {
            match documents::one_to_edit(session, document, &[])? {
                Ok(stored) => moved(request.store, session, &stored, path).map(Ok)?,
                Err(fault) if names_document(session, document)? => {
                    let is_place = names_document(session, path)?;
                    let to = if is_place { path } else { "ADDRESS" };
                    let message = message!(
                        "a section has no path; `mdsel move {path} --to {path}` moves it next to a place",
                        document,
                        to
                    );
                    Err(AddressError::new(fault.code, message).of(document))
                }
                Err(fault) => Err(fault),
            }
        }
        Relocation::MoveSection(section) => moved_section(session, section)?,
    })
}

/// Returns the section that a place is, with its node.
fn section_at(place: &ResolvedNode) -> Option<(usize, &Section)> {
    match place.target {
        Target::Node(node) if place.params.part.is_none() => {
            Some((node, place.document.tree.section(node)?))
        }
        _ => None,
    }
}

fn not_a_section(place: &ResolvedNode) -> Error {
    if place.params.part.is_some() {
        let message = format!("{} is named with a part of it", place.address());
        return Error::new(ErrorKind::EditRefused, message)
            .with_reason("NO_SUCH_PART")
            .with_hint("leave out ?part to name the whole section");
    }
    let message = format!("{} is not a section", place.address());
    Error::new(ErrorKind::EditRefused, message)
        .with_reason("NO_SUCH_POSITION")
        .with_hint(
            "name a section of the outline; other text is moved with `mdsel insert` and `mdsel delete`, a document with \
             `mdsel move DOC PATH`",
        )
}

/// Reads the file of a version and returns its changes.
///
/// # Errors
///
/// `CONFLICT` if the file is not the one in the store.
fn change(reader: &dyn Reader, version: NewVersion) -> Result<(ChangedFile, Vec<FileChange>)> {
    let old = Rc::clone(&version.old);
    let from = old.stored.path.clone();
    let OldFile { bytes, seen } = OldFile::read(reader, &old.stored)?;
    let file = ChangedFile {
        file: version.path().to_owned(),
        from: from.clone(),
        before: bytes.clone(),
        after: version.version.bytes().to_vec(),
        links: version.rewritten,
    };
    let before = Some(OldFile { bytes, seen });
    let path = file.file.clone();
    let changes = if path != from {
        let model = Some(from.clone());
        let made = FileChange { path, before: None, after: Some(version.version), model };
        vec![made, FileChange { path: from, before, after: None, model: None }]
    } else if file.before == file.after {
        Vec::new()
    } else {
        vec![FileChange { path, before, after: Some(version.version), model: None }]
    };
    Ok((file, changes))
}

impl RelocateEffects {
    /// Returns the effects with at most `most` renumbered sections.
    fn listing(&self, most: usize) -> Self {
        let mut effects = self.clone();
        if effects.renumbered.len() > most {
            effects.renumbered_total = effects.renumbered_total.max(effects.renumbered.len());
            effects.renumbered.truncate(most);
        }
        effects
    }
}

impl RelocateReport {
    /// Returns the change as a unified diff of all files, which `git apply` accepts.
    pub fn diff(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for file in &self.files {
            let [from, to] = [format!("a/{}", file.from), format!("b/{}", file.file)];
            let mut names = format!("diff --git {} {}\n", quoted(&from), quoted(&to));
            if file.from != file.file {
                let [from, to] = [&file.from, &file.file].map(|path| quoted(path));
                names.push_str(&format!("rename from {from}\nrename to {to}\n"));
            }
            bytes.extend_from_slice(names.as_bytes());
            bytes.extend(diff(&file.from, &file.file, &file.before, &file.after));
        }
        bytes
    }

    /// Returns the changed lines of each file, after its name and the number of its links that are rewritten.
    pub fn changed_lines(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for file in &self.files {
            let mut line = quoted(&file.file).into_owned();
            if file.from != file.file {
                line = format!("{} => {line}", quoted(&file.from));
            }
            if !file.links.is_empty() {
                line.push_str(&format!(": {}", counted(file.links.len(), "link")));
            }
            bytes.extend_from_slice(line.as_bytes());
            bytes.push(b'\n');
            bytes.extend(hunks(&file.before, &file.after, 0));
        }
        bytes
    }

    /// Returns the number of links that were rewritten.
    pub fn links(&self) -> usize {
        self.files.iter().map(|file| file.links.len()).sum()
    }
}
