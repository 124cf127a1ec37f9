//! `rename` and `move`: gives a section another title or a document another path, and rewrites the links to it.
//!
//! Invariant: all files change, or none. Besides the title or the path, only targets of links change.

use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use super::files::{self, FileChange, OldFile};
use super::plan::{Renumbered, Version};
use super::relink::{NewVersion, RewrittenLink, relink};
use crate::address::AddressError;
use crate::corpus::{FileHandle, conflict, excluded};
use crate::error::{Error, ErrorKind, Result, Warning, shell_word};
use crate::ingest::{self, Paths};
use crate::markdown::Dialect;
use crate::markdown::outline::Outline;
use crate::position::{ByteSpan, LineIndex};
use crate::query::node::short_hash;
use crate::query::place::Target;
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
}

impl Relocation {
    /// Returns the name of the command.
    fn name(&self) -> &'static str {
        match self {
            Self::Rename { .. } => "rename",
            Self::Move { .. } => "move",
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
    /// Called once before anything is written; an error cancels the edit.
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
    /// Sections whose number changes because a section with an equal title was added or removed.
    pub renumbered: Vec<Renumbered>,
    /// Warnings about the edit and the store.
    pub warnings: Vec<Warning>,
}

/// The versions that an edit itself makes, and how it describes them.
struct Plan {
    version: NewVersion,
    /// The section that is renamed, with and without its subsections.
    section: Option<[ByteSpan; 2]>,
    from: String,
    to: String,
    renumbered: Vec<Renumbered>,
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
    };
    let Plan { version, section, from, to, renumbered } = match planned {
        Ok(plan) => plan,
        Err(fault) => return Ok(Err(fault)),
    };
    let first = version.old.stored.id;
    let mut versions =
        if request.keeps_links { vec![version] } else { relink(&library, vec![version])? };
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
    let mut report =
        RelocateReport { operation, from, to, files, renumbered, warnings: Vec::new() };
    (request.confirm)(&report)?;
    let root = reader.root().to_owned();
    drop(library);
    drop(reader);
    if is_written {
        warnings.extend(files::write(request.store, writer.as_mut(), &root, changes)?);
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
    let section = match found.target {
        Target::Node(node) => old.tree.section(node).cloned().map(|section| (node, section)),
        _ => None,
    };
    let Some((node, section)) = section else {
        let message = format!("{} is not a section", found.address());
        return Err(Error::new(ErrorKind::EditRefused, message)
            .with_reason("NO_SUCH_POSITION")
            .with_hint("name a section; a document is renamed with `mdsel move DOC PATH`"));
    };
    let whole = old.tree.node(node).map(|node| node.bytes).unwrap_or_default();
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
    let others = renumbered(old.tree.outline(), version.outline(), node);
    let mut version = NewVersion::new(library, &old, &old.stored.path, version)?;
    let lines = LineIndex::new(&bytes).lines(ByteSpan::new(start, section.heading_end));
    let dropped = lines.start..lines.end + 1;
    let stored = library.reader.links(&old.stored)?.links;
    let kept = stored.iter().filter(|link| !dropped.contains(&link.line)).count();
    if version.count_of_links() != kept {
        let message = format!("{address}: {title:?} has a link");
        return Err(Error::new(ErrorKind::EditRefused, message).with_reason("LINKS").with_hint(
            format!("replace the heading instead: `mdsel replace '{address}?part=heading'`"),
        ));
    }
    version.dropped = dropped;
    let to = version.document().address_of(node);
    let section = Some([whole, ByteSpan::new(start, section.own_end)]);
    Ok(Ok(Plan { version, section, from: address, to, renumbered: others }))
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

/// Returns the other sections whose anchor changes because an equal title came or went.
fn renumbered(old: &Outline, new: &Outline, node: usize) -> Vec<Renumbered> {
    let pairs = old.sections.iter().zip(&new.sections).filter(|(old, _)| old.node != node);
    let changes = pairs.filter_map(|(old, new)| {
        let (from, to) = (old.anchor()?, new.anchor()?);
        (from != to).then(|| Renumbered { title: new.title.clone(), from, to })
    });
    changes.collect()
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
    if let Some(reason) = excluded(reader.root(), &store.own_files(), reader.options(), path) {
        let message = format!("{path} would not be ingested: {reason}");
        return Err(refused(ErrorKind::EditRefused, message, "choose another path")
            .with_reason("NOT_INGESTED"));
    }
    let is_taken = path != stored.path
        && (reader.root().join(path).symlink_metadata().is_ok()
            || reader.document_at(path)?.is_some());
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
    Ok(Plan { version, section: None, from, to, renumbered: Vec::new() })
}

/// Reads the file of a version and returns its changes.
///
/// # Errors
///
/// `CONFLICT` if the file is not the one in the store.
fn change(reader: &dyn Reader, version: NewVersion) -> Result<(ChangedFile, Vec<FileChange>)> {
    let old = Rc::clone(&version.old);
    let from = old.stored.path.clone();
    let (bytes, seen) =
        FileHandle::open(reader.root(), &from)?.read(reader.options().max_file_bytes)?;
    if *blake3::hash(&bytes).as_bytes() != old.stored.hash {
        return Err(conflict(format!("{from}: the file differs from the version in the store")));
    }
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

/// Returns the path of a file that a user named, relative to the root: as it is seen from `folder`, the current
/// folder, if it begins with `./`, `../` or `/`.
pub fn new_path(root: &Path, folder: &Path, path: &str) -> Result<String> {
    let is_seen = ["./", "../", "/"].iter().any(|start| path.starts_with(start));
    if !is_seen {
        return Ok(path.to_owned());
    }
    let full = crate::corpus::canonical(&folder.join(path))?;
    crate::corpus::relative(root, &full)
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
