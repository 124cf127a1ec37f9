//! `rename` and `move`: gives a section another title or another place, or a document another path, and rewrites
//! the links to it.
//!
//! Invariant: all files change, or none. Besides what is renamed or moved, only targets of links change.

use std::rc::Rc;
use std::time::Duration;

use super::change::{Operation, target_of};
use super::files::{self, FileChange, OldFile};
use super::hint::Asked;
use super::plan::{
    Allow, EditScope, MovedFile, MovedPlace, Position, Renumbered, SectionMove, Version,
    move_section, renumbered,
};
use super::relink::{MovedLines, MovedPlaces, NewVersion, RewrittenLink, relink};
use crate::address::AddressError;
use crate::error::{Error, ErrorKind, Result, Warning, shell_word};
use crate::ingest::{self, Paths};
use crate::markdown::Dialect;
use crate::markdown::outline::{Outline, Section};
use crate::position::{ByteSpan, LineIndex};
use crate::query::library::OpenDocument;
use crate::query::node::short_hash;
use crate::query::place::{ResolvedNode, Target};
use crate::query::{DocumentCache, NamedNode, documents, named};
use crate::store::{Purpose, Reader, Store, StoredDocument};

/// What to give another name.
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
        /// The path, relative to the root.
        path: String,
    },
    /// Gives a section another place.
    MoveSection {
        /// The address of the section.
        section: String,
        /// The address of the place next to which it goes.
        to: String,
        /// Where it goes, relative to that place.
        position: Position,
        /// Whether the levels of its headings are shifted to fit the place.
        relevel: bool,
        /// The consequences that the user has allowed.
        allow: Allow,
        /// Whether a unique part of a title may name a section.
        is_fuzzy: bool,
    },
}

impl Relocation {
    /// Returns the name of the command.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Rename { .. } => "rename",
            Self::Move { .. } | Self::MoveSection { .. } => "move",
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
    /// Called before anything is written; an error cancels the edit. A dry run does not call it.
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
    /// Sections whose number changes because a section with an equal title was added or removed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub renumbered: Vec<Renumbered>,
    /// Labels of definitions in the moved section that also stay where they were, because other text uses them.
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
struct Plan {
    /// The edited document comes first.
    versions: Vec<NewVersion>,
    moved: MovedPlaces,
    /// The section that is renamed or moved, with and without its subsections.
    section: Option<[ByteSpan; 2]>,
    from: String,
    to: String,
    effects: RelocateEffects,
}

/// Renames a section or moves a document. The inner error says why it was not found.
pub fn relocate(
    request: &RelocateRequest<'_>,
) -> Result<std::result::Result<RelocateReport, AddressError>> {
    let mut refreshed = Vec::new();
    if request.is_refresh {
        refreshed = ingest::refresh(request.store, Paths::All)?.warnings;
    }
    // The writer holds the lock from before the files are read until the store is written.
    let (mut writer, mut warnings) = request.store.trusted_writer(request.wait)?;
    warnings.append(&mut refreshed);
    let reader = request.store.reader(Purpose::Read)?;
    let library = DocumentCache::new(&*reader);
    let planned = match &request.relocation {
        Relocation::Rename { document, section, title, is_fuzzy } => {
            match named(&library, document.as_deref(), section, *is_fuzzy)? {
                Ok(place) => renamed(&library, &place, title, *is_fuzzy)?,
                Err(fault) => Err(fault),
            }
        }
        Relocation::Move { document, path } => match documents::one(&library, document)? {
            Ok(stored) => moved(request.store, &library, &stored, path).map(Ok)?,
            Err(fault) => Err(fault),
        },
        Relocation::MoveSection { .. } => moved_section(&library, &request.relocation)?,
    };
    let Plan { mut versions, moved, section, from, to, effects } = match planned {
        Ok(plan) => plan,
        Err(fault) => return Ok(Err(fault)),
    };
    let first = versions.first().map_or(0, |version| version.old.stored.id);
    if !request.keeps_links {
        versions = relink(&library, versions, &moved)?;
    }
    // The edited document comes first, and the sort keeps the order of the others.
    versions.sort_by_key(|version| (version.old.stored.id != first, version.path().to_owned()));
    let (mut files, mut changes) = (Vec::new(), Vec::new());
    for version in versions {
        let (file, of_file) = change(&*reader, version)?;
        files.push(file);
        changes.extend(of_file);
    }
    if let Some(expected) = &request.expect {
        check_hash(&files, section.as_ref().map_or(&[], |spans| spans), expected)?;
    }
    files.retain(|file| file.from != file.file || file.before != file.after);
    let is_written = !request.is_dry_run && !files.is_empty();
    let operation = request.relocation.name();
    let mut report = RelocateReport { operation, from, to, files, effects, warnings: Vec::new() };
    if is_written {
        (request.confirm)(&report)?;
    }
    let roots = reader.roots();
    drop(library);
    drop(reader);
    if is_written {
        warnings.extend(files::write(request.store, writer.as_mut(), &roots, changes)?);
    }
    match writer.close() {
        Ok(closed) => warnings.extend(closed),
        Err(error) if is_written => warnings.push(files::unfinished(&error)),
        Err(error) => return Err(error),
    }
    report.warnings = warnings;
    Ok(Ok(report))
}

/// Gives the section at `place` another title.
fn renamed(
    library: &DocumentCache<'_>,
    place: &NamedNode,
    title: &str,
    is_fuzzy: bool,
) -> Result<std::result::Result<Plan, AddressError>> {
    let title = title.trim();
    if title.is_empty() || title.contains(['\n', '\r']) {
        return Err(Error::new(ErrorKind::Usage, "a title is one line of text")
            .with_hint("give it with --title"));
    }
    let old = library.open(&place.stored)?;
    let bytes = library.content(&old, old.span())?;
    let found = match crate::query::locate_for_edit(&old, place, is_fuzzy) {
        Ok(found) => found,
        Err(fault) => return Ok(Err(fault)),
    };
    let Some((node, section)) = section_at(&found) else {
        return Err(not_a_section(&found));
    };
    let section = section.clone();
    let whole = found.span();
    let start = whole.start;
    let heading = bytes.get(start..section.heading_end).unwrap_or_default();
    let text = text_of_heading(heading);
    let before = bytes.get(..start + text.start).unwrap_or_default();
    // A heading without text may lack the blank after its marks.
    let blank: &[u8] = if text.is_empty() && before.ends_with(b"#") { b" " } else { b"" };
    let parts =
        [before, blank, title.as_bytes(), bytes.get(start + text.end..).unwrap_or_default()];
    let version = Version::read_as(parts.concat(), Dialect::of(&old.stored.path));
    let address = found.address();
    if !is_same_structure(old.tree.outline(), version.outline(), node) {
        let message = format!("{address}: {title:?} would not be the title of that section alone");
        return Err(Error::new(ErrorKind::EditRefused, message)
            .with_reason("CHANGES_OUTSIDE")
            .with_hint("escape what begins a block or an anchor, or choose another title"));
    }
    let before_edit = Version::read_as(bytes.clone(), Dialect::of(&old.stored.path));
    let others = old.tree.outline().sections.iter().filter(|section| section.node != node);
    let others =
        others.flat_map(|other| renumbered(&before_edit, other.node, &version, other.node));
    let renumbered = others.collect();
    let version = NewVersion::new(library, &old, &old.stored.path, version)?;
    let lines = LineIndex::new(&bytes).lines(ByteSpan::new(start, section.heading_end));
    let stored = library.reader.links(&old.stored)?.links;
    let kept = stored.iter().filter(|link| !(lines.start..=lines.end).contains(&link.line)).count();
    if version.count_of_links() != kept {
        let message = format!("{address}: {title:?} has a link");
        return Err(Error::new(ErrorKind::EditRefused, message).with_reason("LINKS").with_hint(
            format!("replace the heading instead: `mdsel replace '{address}?part=heading'`"),
        ));
    }
    let to = version.document().address_of(node);
    let section = Some([whole, ByteSpan::new(start, section.own_end)]);
    let effects = RelocateEffects { renumbered, ..RelocateEffects::default() };
    let (versions, moved) = (vec![version], MovedPlaces::new());
    Ok(Ok(Plan { versions, moved, section, from: address, to, effects }))
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
    let message = format!("{} is not a section", place.address());
    Error::new(ErrorKind::EditRefused, message)
        .with_reason("NO_SUCH_POSITION")
        .with_hint("name a section; a document is moved with `mdsel move DOC PATH`")
}

/// Returns the span of the text of a heading, ATX or setext, without marks and blanks around it.
fn text_of_heading(heading: &[u8]) -> ByteSpan {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    let count = |bytes: &mut dyn Iterator<Item = &u8>, is: &dyn Fn(&u8) -> bool| {
        bytes.take_while(|byte| is(byte)).count()
    };
    let mut start = count(&mut heading.iter(), &is_blank);
    let mut end = heading.len() - count(&mut heading.iter().rev(), &is_blank);
    let rest = |start: usize, end: usize| heading.get(start..end).unwrap_or_default();
    if rest(start, end).starts_with(b"#") {
        start += count(&mut rest(start, end).iter(), &|byte| *byte == b'#');
        start += count(&mut rest(start, end).iter(), &is_blank);
        // A closing sequence is not part of the text if a blank precedes it.
        let marks = count(&mut rest(start, end).iter().rev(), &|byte| *byte == b'#');
        let blanks = count(&mut rest(start, end - marks).iter().rev(), &is_blank);
        if blanks > 0 || start + marks == end {
            end -= marks + blanks;
        }
    } else {
        end -= count(&mut rest(start, end).iter().rev(), &|byte| matches!(byte, b'=' | b'-'));
        end -= count(&mut rest(start, end).iter().rev(), &is_blank);
    }
    ByteSpan::new(start, end.max(start))
}

/// Returns whether two outlines differ only in the title of the section at `node`.
fn is_same_structure(old: &Outline, new: &Outline, node: usize) -> bool {
    let kinds = |outline: &Outline| -> Vec<_> {
        outline.nodes.iter().map(|node| (node.kind, node.parent)).collect()
    };
    kinds(old) == kinds(new)
        && old.sections.len() == new.sections.len()
        && old.sections.iter().zip(&new.sections).all(|(old, new)| {
            let is_kept =
                if old.node == node { !new.title.is_empty() } else { old.title == new.title };
            old.level == new.level && is_kept
        })
}

/// Moves a section next to another place.
fn moved_section(
    library: &DocumentCache<'_>,
    relocation: &Relocation,
) -> Result<std::result::Result<Plan, AddressError>> {
    let Relocation::MoveSection { section, to, position, relevel, allow, is_fuzzy } = relocation
    else {
        return Err(Error::new(ErrorKind::Usage, "this moves no section"));
    };
    let mut places = Vec::with_capacity(2);
    for address in [section, to] {
        let place = match named(library, None, address, *is_fuzzy)? {
            Ok(place) => place,
            Err(fault) => return Ok(Err(fault)),
        };
        let document = library.open(&place.stored)?;
        match crate::query::locate_for_edit(&document, &place, *is_fuzzy) {
            Ok(found) => places.push(found),
            Err(fault) => return Ok(Err(fault)),
        }
    }
    let [place, target] = places.as_slice() else { return Err(not_a_place(section)) };
    let Some((node, section)) = section_at(place) else {
        return Err(not_a_section(place));
    };
    let read = |document: &OpenDocument| {
        let bytes = library.content(document, document.span())?;
        Ok::<_, Error>(Version::read_as(bytes, Dialect::of(&document.stored.path)))
    };
    let (left_document, entered_document) = (&place.document, &target.document);
    let from = read(left_document)?;
    let is_within = left_document.stored.id == entered_document.stored.id;
    let entered = if is_within { None } else { Some(read(entered_document)?) };
    let Some(edit_target) = target_of(target).filter(|_| target.params.part.is_none()) else {
        return Err(not_a_place(to));
    };
    let (position, relevel, allow) = (*position, *relevel, *allow);
    let request = SectionMove {
        section: node,
        to: entered.as_ref(),
        target: edit_target,
        position,
        relevel,
        allow,
    };
    let moved = move_section(&from, request).map_err(|refused| {
        let scope = EditScope::Subtree;
        let (place, operation) = if refused.is_deletion {
            (place, Operation::Delete { scope })
        } else {
            (target, Operation::Insert { content: Vec::new(), position, relevel })
        };
        let asked = Asked { place, operation: &operation, scope, content: b"" };
        let message = format!("{}: {}", place.address(), refused.refusal);
        Error::new(ErrorKind::EditRefused, message)
            .with_reason(refused.refusal.code())
            .with_hint(asked.hint(&refused.refusal))
    })?;
    let mut all = MovedPlaces::new();
    let id = |file| match file {
        MovedFile::Left => left_document.stored.id,
        MovedFile::Entered => entered_document.stored.id,
    };
    let key = |(file, place)| match place {
        MovedPlace::Node(node) => (id(file), Target::Node(node)),
        MovedPlace::Ldmd(section) => (id(file), Target::Ldmd(section)),
    };
    all.extend(moved.places.into_iter().map(|(old, new)| (key(old), Some(key(new)))));
    let version =
        |old: &Rc<OpenDocument>, version| NewVersion::new(library, old, &old.stored.path, version);
    let mut versions = vec![version(left_document, moved.left)?.with_moved(None)];
    if let Some(entered) = moved.entered {
        let lines = MovedLines { lines: moved.lines, document: Rc::clone(left_document) };
        versions.push(version(entered_document, entered)?.with_moved(Some(lines)));
    }
    let to = versions.last().map(|version| version.document().address_of(moved.node));
    let labels = moved.new_labels.into_iter();
    let effects = RelocateEffects {
        renumbered: moved.renumbered,
        kept_definitions: moved.kept_definitions,
        copied_definitions: moved.copied_definitions,
        new_labels: labels.map(|(from, to)| NewLabel { from, to }).collect(),
    };
    let whole = place.span();
    let section = Some([whole, ByteSpan::new(whole.start, section.own_end)]);
    let (from, to) = (place.address(), to.unwrap_or_default());
    Ok(Ok(Plan { versions, moved: all, section, from, to, effects }))
}

fn not_a_place(address: &str) -> Error {
    let message = format!("{address} is no place for a section");
    Error::new(ErrorKind::EditRefused, message).with_reason("NO_SUCH_POSITION").with_hint(
        "name a section, or a document as DOC::*, with --position first_child or last_child",
    )
}

/// Gives the document `stored` the path `path`.
fn moved(
    store: &Store,
    library: &DocumentCache<'_>,
    stored: &StoredDocument,
    path: &str,
) -> Result<Plan> {
    let reader = library.reader;
    let refused = |kind, message: String, hint: &str| Error::new(kind, message).with_hint(hint);
    if path.is_empty() || path.split('/').any(|part| matches!(part, "" | "." | "..")) {
        let message = format!("{path:?} is not the path of a file below the root");
        return Err(refused(ErrorKind::OutsideRoot, message, "name a file below the root"));
    }
    let roots = reader.roots();
    if let Some(reason) = roots.excluded(&store.own_files(), path) {
        let message = format!("{path} would not be ingested: {reason}");
        return Err(refused(ErrorKind::EditRefused, message, "choose another path")
            .with_reason("NOT_INGESTED"));
    }
    let is_taken = path != stored.path
        && (roots.file(path).symlink_metadata().is_ok() || reader.document_at(path)?.is_some());
    if is_taken {
        let message = format!("{path} exists");
        let hint = "choose another path; nothing is ever replaced by a move";
        return Err(refused(ErrorKind::EditRefused, message, hint).with_reason("EXISTS"));
    }
    let old = library.open(stored)?;
    let bytes = library.content(&old, old.span())?;
    let version = Version::read_as(bytes, Dialect::of(path));
    let version = NewVersion::new(library, &old, path, version)?;
    let (from, to) = (old.address("*"), version.document().address("*"));
    let (versions, moved) = (vec![version], MovedPlaces::new());
    Ok(Plan { versions, moved, section: None, from, to, effects: RelocateEffects::default() })
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

/// Returns `CONFLICT` if neither the first file nor one of the `spans` of it has the hash `expected`.
fn check_hash(files: &[ChangedFile], spans: &[ByteSpan], expected: &str) -> Result<()> {
    let Some(file) = files.first() else { return Ok(()) };
    let part = |span: &ByteSpan| file.before.get(span.start..span.end).unwrap_or_default();
    let is_of = |bytes: &[u8]| {
        short_hash(bytes) == expected || blake3::hash(bytes).to_hex().as_str() == expected
    };
    if is_of(&file.before) || spans.iter().any(|span| is_of(part(span))) {
        return Ok(());
    }
    let hash = short_hash(spans.first().map_or(file.before.as_slice(), part));
    let message = format!("{}: the hash is {hash}, not {expected}", file.from);
    let path = shell_word(&file.from);
    Err(Error::new(ErrorKind::Conflict, message)
        .with_hint(format!("read it again with `mdsel read {path} --refresh`")))
}

impl RelocateReport {
    /// Returns the change as a unified diff of all files.
    pub fn diff(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for file in &self.files {
            if file.from != file.file {
                let names = format!("rename from {}\nrename to {}\n", file.from, file.file);
                bytes.extend_from_slice(names.as_bytes());
            }
            bytes.extend(super::answer::diff(&file.from, &file.file, &file.before, &file.after));
        }
        bytes
    }

    /// Returns the number of links that were rewritten.
    pub fn links(&self) -> usize {
        self.files.iter().map(|file| file.links.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_heading_is_without_its_marks() {
        for (heading, text) in [
            ("# a b\n", "a b"),
            ("  ##\ta #\r\n", "a"),
            ("## a#\n", "a#"),
            ("# #\n", ""),
            ("#\n", ""),
            ("### `a` ###", "`a`"),
            ("a\nb\n---\n", "a\nb"),
            ("a =\n===", "a ="),
        ] {
            let span = text_of_heading(heading.as_bytes());
            assert_eq!(&heading[span.start..span.end], text, "{heading:?}");
        }
    }
}
