//! Resolution of targets, by the kind of the link.
//!
//! A Markdown link is a relative reference (RFC 3986) as a renderer of documents reads it: from the
//! source's folder, percent-encoded, the ending of a document or the index of a folder left out. A
//! wikilink or a typed link names a note. Invariant: case counts before it does not.

use super::note::{Found, named, only};
use super::path::{MARKDOWN_EXTENSIONS, folder_of, is_markdown, join, split_extension};
use super::sections::heading_key;
use super::{DocumentId, Kind, Library, Reason, Resolution, Source};
use crate::address::namespace::decode;
use crate::markdown::links::is_external;
use crate::markdown::slug::{comparable, fold};

/// What stands for a folder, in the order of preference.
pub(super) const INDEX_NAMES: [&str; 3] = ["index", "README", "_index"];

/// What Obsidian embeds besides notes ("Accepted file formats" of its help).
const ATTACHMENTS: &[&str] = &[
    "3gp", "avif", "base", "bmp", "canvas", "flac", "gif", "jpeg", "jpg", "m4a", "mkv", "mov",
    "mp3", "mp4", "ogg", "ogv", "pdf", "png", "svg", "wav", "webm", "webp",
];

/// What the `target` of a link of `kind` in `source` leads to.
pub fn resolve(library: &impl Library, source: Source, kind: &Kind, target: &str) -> Resolution {
    match kind {
        Kind::Markdown | Kind::Image | Kind::Ldmd(_) => resolve_reference(library, source, target),
        Kind::Wikilink | Kind::Embed | Kind::Typed(_) => resolve_name(library, source, target),
    }
}

fn resolve_reference(library: &impl Library, source: Source, target: &str) -> Resolution {
    if is_external(target) {
        return Resolution::External;
    }
    let (address, fragment) = target.split_once('#').unwrap_or((target, ""));
    let path = address.split_once('?').map_or(address, |(path, _)| path);
    if path.is_empty() {
        return place(library, source.id, &decode(fragment));
    }
    let decoded = decode(path);
    let folder = folder_of(source.path);
    let Some(joined) = join(folder, &decoded) else {
        return Resolution::broken(Reason::Outside);
    };
    match referred(library, &joined, decoded.ends_with('/')) {
        Some(Ok(id)) => return place(library, id, &decode(fragment)),
        Some(Err(reason)) => return Resolution::broken(reason),
        None => {}
    }
    // Names that hold what should have been escaped: `C#.md`, `100%20.md`.
    let literal = join(folder, target).and_then(|path| library.document(&path));
    if let Some(id) = literal.or_else(|| library.document(&join(folder, path)?)) {
        return Resolution::Document { id, section: None };
    }
    if let Some(Ok(id)) = only(&library.documents_with_id(&decoded)) {
        return place(library, id, &decode(fragment));
    }
    let extension = split_extension(&joined).1;
    let may_be_file = !extension.is_empty() && !is_markdown(extension) && !decoded.ends_with('/');
    match library.file_exists(&joined) {
        Some(true) => Resolution::Attachment(joined),
        None if may_be_file => Resolution::Attachment(joined),
        _ => Resolution::broken(Reason::File),
    }
}

/// The document that the path `joined` refers to: itself; with an ending added; as a folder; as the
/// page that is made of it; each in the case given before any other.
fn referred(library: &impl Library, joined: &str, is_folder: bool) -> Option<Found> {
    if let Some(id) = library.document(joined) {
        return Some(Ok(id));
    }
    let (stem, extension) = split_extension(joined);
    let mut names: Vec<String> = INDEX_NAMES
        .iter()
        .map(|name| if joined.is_empty() { (*name).to_owned() } else { format!("{joined}/{name}") })
        .collect();
    names.insert(if is_folder { names.len() } else { 0 }, joined.to_owned());
    if extension.eq_ignore_ascii_case("html") || extension.eq_ignore_ascii_case("htm") {
        names.push(stem.to_owned());
    }
    let mut hits: Vec<(Rank, DocumentId)> = Vec::new();
    for (order, name) in names.iter().enumerate() {
        let found = library.documents_named(&fold(name));
        hits.extend(found.into_iter().filter_map(|(id, path)| {
            let (stem, extension) = split_extension(&path);
            let is_it = fold(stem) == fold(name);
            is_it.then(|| (Rank::new(stem != name, order, extension), id))
        }));
    }
    if is_markdown(extension) {
        let found = library.documents_named(&fold(stem));
        let found = found.into_iter().filter(|(_, path)| fold(path) == fold(joined));
        hits.extend(found.map(|(id, _)| (Rank::new(true, 0, extension), id)));
    }
    let best = hits.iter().map(|(rank, _)| *rank).min()?;
    let best: Vec<_> = hits.iter().filter(|(rank, _)| *rank == best).map(|(_, id)| *id).collect();
    only(&best)
}

/// How good a hit is; the least is the best.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    is_other_case: bool,
    order: usize,
    extension: usize,
}

impl Rank {
    fn new(is_other_case: bool, order: usize, extension: &str) -> Self {
        let known = MARKDOWN_EXTENSIONS.iter().position(|known| *known == fold(extension));
        Self { is_other_case, order, extension: known.unwrap_or(MARKDOWN_EXTENSIONS.len()) }
    }
}

fn resolve_name(library: &impl Library, source: Source, target: &str) -> Resolution {
    if target.contains("://") {
        return Resolution::External;
    }
    let (name, fragment) = target.split_once('#').unwrap_or((target, ""));
    let name = name.trim();
    if name.is_empty() {
        return place(library, source.id, fragment);
    }
    let decoded = decode(name);
    let mut readings = vec![(name, fragment)];
    if decoded != name {
        readings.push((&decoded, fragment));
    }
    if name != target {
        // A title may well hold a `#`.
        readings.push((target, ""));
    }
    let mut reason = Reason::File;
    for (name, fragment) in readings {
        match named(library, source, name) {
            Ok(id) => return place(library, id, fragment),
            Err(Reason::File) => {}
            Err(other) => reason = other,
        }
    }
    let extension = fold(split_extension(name).1);
    if reason == Reason::File && ATTACHMENTS.contains(&extension.as_str()) {
        return Resolution::Attachment(name.trim_start_matches('/').to_owned());
    }
    Resolution::broken(reason)
}

/// The place in a document that `fragment` names: an anchor, or headings with `#` between. Blocks
/// (`^id`), lines (`L10`) and highlighted text (`:~:text=`) are places in the document at large.
fn place(library: &impl Library, id: DocumentId, fragment: &str) -> Resolution {
    let fragment = fragment.split(":~:").next().unwrap_or_default().trim();
    let is_block = |part: &&str| part.trim_start().starts_with('^');
    let parts = fragment.split('#').filter(|part| !is_block(part));
    let headings: Vec<String> = parts.map(heading_key).filter(|key| !key.is_empty()).collect();
    let section = Some(comparable(&decode(fragment)))
        .filter(|_| !is_block(&fragment))
        .and_then(|anchor| library.section_by_anchor(id, &anchor))
        .or_else(|| library.section_by_headings(id, &headings));
    let is_large = fragment.is_empty()
        || fragment.eq_ignore_ascii_case("top")
        || fragment.split('#').any(|part| is_block(&part))
        || is_lines(fragment);
    if section.is_none() && !is_large {
        return Resolution::Broken { reason: Reason::Anchor, document: Some(id) };
    }
    Resolution::Document { id, section }
}

/// Whether `fragment` names lines as forges do: `L10`, `L10-L20`, `L10C5-L20C8`.
fn is_lines(fragment: &str) -> bool {
    fragment.split('-').all(|line| {
        line.strip_prefix('L').is_some_and(|rest| {
            rest.starts_with(|first: char| first.is_ascii_digit())
                && rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'C')
        })
    })
}
