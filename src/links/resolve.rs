//! Resolves targets by the kind of the link.
//!
//! A wikilink or a typed link names a note. A Markdown link is a [relative
//! reference](super::reference). Invariant: notes are preferred to files of the same name.

use std::cmp::Reverse;

use super::fragment::place_in_note;
use super::note::{is_unique, named, shared_folders};
use super::path::{MARKDOWN_EXTENSIONS, folder_of, is_markdown, join, split_extension};
use super::reference::resolve_reference;
use super::{Kind, LinkSource, LinkTarget, LinkTargets, OnDisk, Reason};
use crate::markdown::slug::fold;
use crate::percent::percent_decode;

/// The extensions of files that Obsidian embeds besides notes ("Accepted file formats" in its
/// help).
const ATTACHMENTS: &[&str] = &[
    "3gp", "avif", "base", "bmp", "canvas", "flac", "gif", "jpeg", "jpg", "m4a", "mkv", "mov",
    "mp3", "mp4", "ogg", "ogv", "pdf", "png", "svg", "wav", "webm", "webp",
];

/// Resolves the `target` of a link of `kind` in `source`.
pub fn resolve(
    targets: &impl LinkTargets,
    source: LinkSource,
    kind: &Kind,
    target: &str,
) -> LinkTarget {
    resolve_else(targets, source, kind, target, |name| file_named(targets, source, name))
}

/// Works like [`resolve`], but a name that means no document is broken, even if a file has that name. That takes
/// less time, because the file can be in any folder.
pub fn resolve_to_document(
    targets: &impl LinkTargets,
    source: LinkSource,
    kind: &Kind,
    target: &str,
) -> LinkTarget {
    resolve_else(targets, source, kind, target, |_| LinkTarget::broken(Reason::File))
}

/// Returns whether a link that names a note cannot mean another note: its name is the whole path of the note, or no
/// other note has it. True for links of other kinds.
pub fn is_unique_name(
    targets: &impl LinkTargets,
    source: LinkSource,
    kind: &Kind,
    target: &str,
) -> bool {
    let is_name = matches!(kind, Kind::Wikilink | Kind::Embed | Kind::Typed(_));
    let name = target.split('#').next().unwrap_or_default().trim();
    !is_name || name.is_empty() || is_unique(targets, source, name)
}

/// Resolves a link. Calls `file_named` with a name that means no document.
fn resolve_else(
    targets: &impl LinkTargets,
    source: LinkSource,
    kind: &Kind,
    target: &str,
    file_named: impl FnOnce(&str) -> LinkTarget,
) -> LinkTarget {
    match kind {
        Kind::Markdown | Kind::Image | Kind::Ldmd(_) => resolve_reference(targets, source, target),
        Kind::Wikilink | Kind::Embed | Kind::Typed(_) => {
            resolve_name(targets, source, target, file_named)
        }
    }
}

fn resolve_name(
    targets: &impl LinkTargets,
    source: LinkSource,
    target: &str,
    file_named: impl FnOnce(&str) -> LinkTarget,
) -> LinkTarget {
    if target.contains("://") {
        return LinkTarget::External;
    }
    let (name, fragment) = target.split_once('#').unwrap_or((target, ""));
    let name = name.trim();
    if name.is_empty() {
        return place_in_note(targets, source.id, fragment);
    }
    let decoded = percent_decode(name);
    let mut readings = vec![(name, fragment)];
    if decoded != name {
        readings.push((&decoded, fragment));
    }
    if name != target {
        // A title may contain a `#`.
        readings.push((target, ""));
    }
    let mut reason = Reason::File;
    for (name, fragment) in readings {
        match named(targets, source, name) {
            Ok(id) => return place_in_note(targets, id, fragment),
            Err(Reason::File) => {}
            Err(other) => reason = other,
        }
    }
    if reason == Reason::File { file_named(name) } else { LinkTarget::broken(reason) }
}

/// Returns the rank of a file among those with its name, the one that is meant first: the one that shares the most
/// folders with the source, as for notes.
fn rank(file: &str, source: &str) -> (Reverse<usize>, usize, String) {
    (Reverse(shared_folders(file, source)), file.chars().count(), file.to_owned())
}

/// Returns the file that `name` names: an attachment, or a Markdown file that is not in the store.
fn file_named(targets: &impl LinkTargets, source: LinkSource, name: &str) -> LinkTarget {
    let extension = fold(split_extension(name).1);
    let path = name.trim_start_matches('/');
    let here = targets.collection_of(source.path);
    let files_ending_in = |path: &str| {
        let mut files = targets.files_ending_in(path)?;
        files.retain(|file| targets.collection_of(file) == here);
        Some(files)
    };
    if !is_markdown(&extension) && !extension.is_empty() {
        let near = targets.across(source.path, name);
        let near = near.or_else(|| join(folder_of(source.path), name));
        let is_there =
            |path: &String| matches!(targets.on_disk(path), OnDisk::File | OnDisk::Folder);
        if let Some(path) = near.filter(is_there) {
            return LinkTarget::Attachment { path, is_checked: true };
        }
        match files_ending_in(path) {
            Some(files) => {
                let best = files.into_iter().min_by_key(|file| rank(file, source.path));
                if let Some(path) = best {
                    return LinkTarget::Attachment { path, is_checked: true };
                }
            }
            None if ATTACHMENTS.contains(&extension.as_str()) => {
                return LinkTarget::Attachment { path: path.to_owned(), is_checked: false };
            }
            None => {}
        }
    }
    let whole = is_markdown(&extension).then(|| path.to_owned());
    let completed = MARKDOWN_EXTENSIONS.iter().map(|extension| format!("{path}.{extension}"));
    let left_out = whole
        .into_iter()
        .chain(completed)
        .find_map(|path| files_ending_in(&path)?.into_iter().next());
    left_out.map_or(LinkTarget::broken(Reason::File), LinkTarget::NotInStore)
}

#[cfg(test)]
mod tests {
    use Kind::{Embed, Wikilink};

    use super::super::fixture::{Fixture, GUIDE};
    use super::*;

    #[test]
    fn wikilinks_name_notes() {
        let fixture = Fixture::new(&[
            ("a/source.md", "# S\n\n## Own: part\n"),
            ("Root.md", ""),
            ("a/Root.md", ""),
            ("a/deep/er/Near.md", ""),
            ("b/Near.md", ""),
            ("b/c/Far.md", ""),
            ("zz/Far.md", ""),
            ("b/Tie.md", ""),
            ("c/Tie.md", ""),
            ("b/Guide.md", GUIDE),
            ("b/v1.2.md", "---\ntitle: Titled C#\nid: '42'\nalias: Other Name\n---\n"),
            ("b/x.md", "---\ntitle: Twice\nalias: Thrice\n---\n"),
            ("b/y.md", "---\ntitle: Twice\nalias: Root\n---\n"),
            ("b/mdx.mdx", ""),
        ]);
        for (target, expected) in [
            ("Root", "Root.md"),
            ("root.md", "Root.md"),
            ("a/Root", "a/Root.md"),
            ("./Root", "a/Root.md"),
            ("../Root", "Root.md"),
            ("/Root", "Root.md"),
            ("/Guide", "File"),
            ("./Guide", "File"),
            ("../../x", "Outside"),
            ("Near", "a/deep/er/Near.md"),
            ("b/near", "b/Near.md"),
            ("er/Near", "a/deep/er/Near.md"),
            ("r/Near", "File"),
            ("Far", "zz/Far.md"),
            ("Tie", "b/Tie.md"),
            ("guide#SET UP", "b/Guide.md#Set up"),
            ("Guide # Guide # Über ⚙ uns", "b/Guide.md#Über ⚙\u{FE0F} uns"),
            ("Guide#set-up-1", "b/Guide.md#Set up"),
            ("Guide#no", "Anchor"),
            ("Guide#^block", "b/Guide.md"),
            ("Guide#Set up#^block", "b/Guide.md#Set up"),
            ("#Own part", "a/source.md#Own: part"),
            ("#^block", "a/source.md"),
            ("v1.2", "b/v1.2.md"),
            ("mdx.mdx", "b/mdx.mdx"),
            ("Titled C#", "b/v1.2.md"),
            ("42", "b/v1.2.md"),
            ("other name", "b/v1.2.md"),
            ("Twice", "Ambiguous"),
            ("Thrice", "b/x.md"),
            ("Tie%2Emd", "b/Tie.md"),
            ("Node.js", "File"),
            ("pic.PNG", "file vault/files/Pic.png"),
            ("files/pic.png", "file vault/files/Pic.png"),
            ("none.png", "File"),
            ("ignored", "left out known/ignored.md"),
            ("known/ignored.md", "left out known/ignored.md"),
            ("http://x", "external"),
        ] {
            for kind in &[Wikilink, Embed] {
                assert_eq!(fixture.find("a/source.md", kind, target), expected, "{target}");
            }
        }
        let typed = Kind::Typed("supports".to_owned());
        assert_eq!(fixture.find("a/source.md", &typed, "titled c#"), "b/v1.2.md");
    }

    #[test]
    fn a_link_can_be_resolved_to_documents_alone() {
        let fixture = Fixture::new(&[("a/source.md", ""), ("Root.md", "")]);
        let (id, _) = fixture.documents_named("source").pop().unwrap();
        let source = LinkSource { id, path: "a/source.md" };
        let note = resolve_to_document(&fixture, source, &Wikilink, "root");
        assert!(matches!(note, LinkTarget::Document { .. }), "{note:?}");
        for name in ["pic.PNG", "ignored"] {
            let file = resolve_to_document(&fixture, source, &Wikilink, name);
            let is_broken = matches!(file, LinkTarget::Broken { reason: Reason::File, .. });
            assert!(is_broken, "{name}: {file:?}");
        }
    }

    #[test]
    fn a_link_prefers_notes_of_its_own_vault() {
        let fixture = Fixture::new(&[
            ("english/help/Source.md", ""),
            ("english/plugins/Sync.md", ""),
            ("de/Sync.md", ""),
        ]);
        let found = fixture.find("english/help/Source.md", &Wikilink, "Sync");
        assert_eq!(found, "english/plugins/Sync.md");
    }
}
