//! Markdown links as relative references (RFC 3986), resolved as renderers of documents do.
//!
//! A target is relative to the folder of the source and may be percent-encoded. It may leave out
//! the extension of a document, or the index file of a folder. Invariant: a match with the same
//! case is preferred.

use super::fragment::place;
use super::note::{NoteResult, only};
use super::path::{MARKDOWN_EXTENSIONS, folder_of, is_markdown, join, split_extension};
use super::{DocumentId, LinkSource, LinkTarget, LinkTargets, OnDisk, Reason};
use crate::markdown::links::is_external;
use crate::markdown::slug::fold;
use crate::percent::percent_decode;

/// File names without extension that stand for their folder, preferred ones first.
pub(super) const INDEX_NAMES: [&str; 3] = ["index", "README", "_index"];

/// Splits the target of a reference into its path and its fragment. The query between them means nothing here.
pub(super) fn split_reference(target: &str) -> (&str, &str) {
    let (address, fragment) = target.split_once('#').unwrap_or((target, ""));
    (address.split_once('?').map_or(address, |(path, _)| path), fragment)
}

/// Resolves the target of a Markdown link, an image or a REF marker in `source`.
pub(super) fn resolve_reference(
    targets: &impl LinkTargets,
    source: LinkSource,
    target: &str,
) -> LinkTarget {
    if is_external(target) {
        return LinkTarget::External;
    }
    let (path, fragment) = split_reference(target);
    if path.is_empty() {
        return place(targets, source.id, fragment);
    }
    let decoded = percent_decode(path);
    let folder = folder_of(source.path);
    let here = targets.collection_of(source.path);
    // A site without a prefix is that of its collection.
    let sites = targets
        .site_roots()
        .iter()
        .filter(|site| !site.prefix.is_empty() || targets.collection_of(&site.folder) == here);
    let sites: Vec<String> = sites.filter_map(|site| site.file_of(&decoded)).collect();
    let mut readings = sites.clone();
    let is_of_root = decoded.starts_with('/');
    if is_of_root && !here.is_empty() {
        readings.extend(join(here, decoded.trim_start_matches('/')));
    }
    let across = targets.across(source.path, &decoded);
    readings.extend(across.clone());
    let joined = join(folder, &decoded);
    readings.extend(joined.filter(|joined| {
        let is_far = is_of_root && !here.is_empty() && targets.collection_of(joined).is_empty();
        !is_far && !sites.contains(joined)
    }));
    if readings.is_empty() {
        return LinkTarget::broken(Reason::Outside);
    }
    for joined in &readings {
        match referred(targets, joined, decoded.ends_with('/')) {
            Some(Ok(id)) => return place(targets, id, fragment),
            Some(Err(reason)) => return LinkTarget::broken(reason),
            None => {}
        }
    }
    // Backslashes as separators, as on Windows.
    if path.contains('\\') {
        return resolve_reference(targets, source, &target.replace('\\', "/"));
    }
    // File names with characters that should have been escaped: `C#.md`, `100%20.md`.
    let literal = join(folder, target).and_then(|path| targets.document(&path));
    if let Some(id) = literal.or_else(|| targets.document(&join(folder, path)?)) {
        return LinkTarget::Document { id, node: None };
    }
    let mut with_id = targets.documents_with_id(&decoded);
    targets.retain_near(source, &mut with_id);
    if let Some(Ok(id)) = only(&with_id) {
        return place(targets, id, fragment);
    }
    // The path as it is written may also be the path of a file.
    readings.extend([path, target].into_iter().filter_map(|text| join(folder, text)));
    readings.dedup();
    // A path that leads out of a collection to the root says nothing of a file that is not there.
    readings.retain(|joined| {
        let there = targets.collection_of(joined);
        let is_file = || matches!(targets.on_disk(joined), OnDisk::File | OnDisk::Folder);
        there == here || !there.is_empty() || across.as_ref() == Some(joined) || is_file()
    });
    if readings.is_empty() {
        return LinkTarget::broken(Reason::Outside);
    }
    let found = readings.iter().find_map(|joined| on_disk(targets, joined));
    let (unchecked, found): (Option<_>, Option<_>) = match found {
        Some(LinkTarget::Attachment { is_checked: false, .. }) => (found, None),
        found => (None, found),
    };
    if let Some(found) = found {
        return found;
    }
    // Generators of web sites leave out the numbers that order files and folders.
    let mut ordered: Vec<DocumentId> = Vec::new();
    for name in sites.iter().flat_map(|joined| names(joined)) {
        ordered.extend(targets.documents_unordered(&fold(&name)));
    }
    if let [only] = ordered.as_slice() {
        return place(targets, *only, fragment);
    }
    let is_of_site = sites.is_empty() && decoded.starts_with('/');
    let broken = LinkTarget::broken(if is_of_site { Reason::Site } else { Reason::File });
    unchecked.unwrap_or(broken)
}

/// Returns what exists on disk at the path `joined`, or a Markdown file of that name that is not in
/// the store. Returns `None` if nothing exists.
fn on_disk(targets: &impl LinkTargets, joined: &str) -> Option<LinkTarget> {
    let is_document = is_markdown(split_extension(joined).1);
    let attachment = |is_checked| LinkTarget::Attachment { path: joined.to_owned(), is_checked };
    match targets.on_disk(joined) {
        OnDisk::File if is_document => Some(LinkTarget::NotInStore(joined.to_owned())),
        OnDisk::File | OnDisk::Folder => Some(attachment(true)),
        // Without the root, a Markdown file that the store does not have counts as missing.
        OnDisk::Unknown => {
            let has_root = || targets.on_disk(targets.collection_of(joined)) == OnDisk::Folder;
            (!is_document || has_root()).then(|| attachment(false))
        }
        // A folder that is missing has no index.
        OnDisk::Missing => {
            let mut paths = sources_of_page(joined).chain([joined]).flat_map(|name| {
                MARKDOWN_EXTENSIONS.iter().map(move |extension| format!("{name}.{extension}"))
            });
            let there = paths.find(|path| targets.on_disk(path) == OnDisk::File);
            there.map(LinkTarget::NotInStore)
        }
    }
}

/// Returns the paths without extension that `joined` may stand for: itself, the index of a folder,
/// and the source of an HTML page.
fn names(joined: &str) -> Vec<String> {
    let index = |name: &&str| {
        if joined.is_empty() { (*name).to_owned() } else { format!("{joined}/{name}") }
    };
    let mut names: Vec<String> = INDEX_NAMES.iter().map(index).collect();
    names.extend(sources_of_page(joined).map(str::to_owned));
    if !joined.is_empty() {
        names.push(joined.to_owned());
    }
    names
}

/// Returns the paths without extension from which the HTML page at `joined` may be built; none if it is not one.
pub(super) fn sources_of_page(joined: &str) -> impl Iterator<Item = &str> {
    let (stem, extension) = split_extension(joined);
    let is_page = ["html", "htm"].iter().any(|page| extension.eq_ignore_ascii_case(page));
    // A page may be the index of a folder that is made for it.
    [Some(stem), stem.strip_suffix("/index")].into_iter().flatten().filter(move |_| is_page)
}

/// Returns the document that the path `joined` refers to: itself, with an extension added, as a
/// folder, or as the HTML page built from it. A match with the same case is preferred.
fn referred(targets: &impl LinkTargets, joined: &str, is_folder: bool) -> Option<NoteResult> {
    if let Some(id) = targets.document(joined) {
        return Some(Ok(id));
    }
    let (stem, extension) = split_extension(joined);
    let mut names = names(joined);
    if !is_folder && let Some(itself) = names.pop_if(|name| name == joined) {
        names.insert(0, itself);
    }
    let mut hits: Vec<(Rank, DocumentId)> = Vec::new();
    for (order, name) in names.iter().enumerate() {
        let found = targets.documents_named(&fold(name));
        hits.extend(found.into_iter().filter_map(|(id, path)| {
            let (stem, extension) = split_extension(&path);
            let is_it = fold(stem) == fold(name);
            is_it.then(|| (Rank::new(stem != name, order, extension), id))
        }));
    }
    if is_markdown(extension) {
        let found = targets.documents_named(&fold(stem));
        let found = found.into_iter().filter(|(_, path)| fold(path) == fold(joined));
        hits.extend(found.map(|(id, _)| (Rank::new(true, 0, extension), id)));
    }
    let best = hits.iter().map(|(rank, _)| *rank).min()?;
    let best: Vec<_> = hits.iter().filter(|(rank, _)| *rank == best).map(|(_, id)| *id).collect();
    only(&best)
}

/// The rank of a match. The lowest is the best.
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

#[cfg(test)]
mod tests {
    use super::super::fixture::{Fixture, GUIDE};
    use crate::links::Kind::{Ldmd, Markdown};

    #[test]
    fn markdown_links_are_relative_references() {
        let fixture = Fixture::new(&[
            ("docs/a.md", "# A\n\n## L10\n"),
            ("docs/guide.md", GUIDE),
            ("docs/My note.md", ""),
            ("docs/api/index.md", ""),
            ("docs/cli/README.md", ""),
            ("docs/hugo/_index.md", ""),
            ("docs/Web.mdx", ""),
            ("docs/C#.md", ""),
            ("docs/100%20.md", ""),
            ("docs/naïve.md", ""),
            ("docs/TWO.md", ""),
            ("docs/Two.md", ""),
            ("README.md", ""),
            ("v1.2.md", "---\nid: qp-1\n---\n"),
        ]);
        for (target, expected) in [
            ("guide.md", "docs/guide.md"),
            ("./guide.md?view=1#set-up", "docs/guide.md#Set up"),
            ("guide.md#set-up-1", "docs/guide.md#Set up"),
            ("guide.md#old", "docs/guide.md#Set up"),
            ("guide.md#%C3%BCber--uns", "docs/guide.md#Über ⚙\u{FE0F} uns"),
            ("guide.md#U%CC%88BER-\u{FE0F}-uns", "docs/guide.md#Über ⚙\u{FE0F} uns"),
            ("guide.md#Set%20up", "docs/guide.md#Set up"),
            ("guide.md#Guide#Set%20up", "docs/guide.md#Set up"),
            ("guide.md#L10", "docs/guide.md"),
            ("guide.md#L1C2-L3", "docs/guide.md"),
            ("guide.md#:~:text=x", "docs/guide.md"),
            ("guide.md#^block", "docs/guide.md"),
            ("guide.md#", "docs/guide.md"),
            ("guide.md#top", "docs/guide.md"),
            ("guide.md#tab/linux", "docs/guide.md"),
            ("guide.md#no", "Anchor"),
            ("guide.md#Lines", "Anchor"),
            ("#l10", "docs/a.md#L10"),
            ("#no", "Anchor"),
            ("", "docs/a.md"),
            ("a.md", "docs/a.md"),
            ("guide", "docs/guide.md"),
            ("guide#set-up", "docs/guide.md#Set up"),
            ("guide/", "docs/guide.md"),
            ("guide.html#set-up", "docs/guide.md#Set up"),
            ("guide/index.html#set-up", "docs/guide.md#Set up"),
            ("..\\docs\\guide\\index.htm", "docs/guide.md"),
            ("GUIDE.MD", "docs/guide.md"),
            ("Api/", "docs/api/index.md"),
            ("api", "docs/api/index.md"),
            ("api/index.html", "docs/api/index.md"),
            ("cli", "docs/cli/README.md"),
            ("./hugo/#x", "Anchor"),
            ("web", "docs/Web.mdx"),
            ("two.md", "Ambiguous"),
            ("Two", "docs/Two.md"),
            ("My%20note.md", "docs/My note.md"),
            ("na%C3%AFve.md", "docs/naïve.md"),
            ("nai\u{308}ve.md", "docs/naïve.md"),
            ("C%23.md", "docs/C#.md"),
            ("C#.md", "docs/C#.md"),
            ("100%2520.md", "docs/100%20.md"),
            ("100%20.md", "docs/100%20.md"),
            ("..", "README.md"),
            ("../", "README.md"),
            ("/v1.2", "v1.2.md"),
            ("/docs/guide.md", "docs/guide.md"),
            ("..\\docs\\guide.md", "docs/guide.md"),
            ("%5Cguide.md", "File"),
            ("../../x.md", "Outside"),
            ("/../x.md", "Outside"),
            ("qp-1", "v1.2.md"),
            ("no.md", "File"),
            ("no", "File"),
            ("no/", "File"),
            ("img/a%20b.png", "file docs/img/a b.png"),
            ("img/a%20c.png", "File"),
            ("../unknown/a.tar.gz#y", "unchecked unknown/a.tar.gz"),
            ("../unknown/a", "unchecked unknown/a"),
            ("../unknown/a.md", "File"),
            ("ms713008(v=vs.85)", "File"),
            ("/known/LICENSE", "file known/LICENSE"),
            ("../known/LICENSE/", "file known/LICENSE"),
            ("../known/src", "file known/src"),
            ("../known/src/", "file known/src"),
            ("../known/none/", "File"),
            ("../known/100%.txt", "file known/100%.txt"),
            ("../known/ignored.md#x", "left out known/ignored.md"),
            ("../known/ignored", "left out known/ignored.md"),
            ("../known/ignored.html", "left out known/ignored.md"),
            ("../known/a.rs", "File"),
            ("/known/a.png", "Site"),
            ("/no", "Site"),
            ("/no.md", "Site"),
            ("http://x.y/guide.md", "external"),
            ("mailto:a@b.c", "external"),
            ("//x.y/z", "external"),
        ] {
            assert_eq!(fixture.find("docs/a.md", &Markdown, target), expected, "{target}");
        }
        assert_eq!(fixture.find("README.md", &Ldmd(None), "v1.2.md?view=1"), "v1.2.md");
        assert_eq!(fixture.find("README.md", &Markdown, "docs/guide.md"), "docs/guide.md");
        assert_eq!(fixture.find("README.md", &Markdown, ".."), "Outside");
    }

    #[test]
    fn a_fragment_is_decoded_once_and_found_as_it_is_written_first() {
        let text = "<a id=\"%E4%B8%AD\"></a>\n\n# P\n\n<a id=\"50%\"></a>x\n\n# Q\n\n<a id=\"7%25\"></a>x\n";
        let fixture = Fixture::new(&[("a.md", text), ("docs/b.md", "")]);
        for (fragment, expected) in [
            ("%E4%B8%AD", "a.md#P"),
            ("%e4%b8%ad", "a.md#P"),
            ("50%25", "a.md#P"),
            ("50%2525", "Anchor"),
            ("7%25", "a.md#Q"),
            ("7%2525", "a.md#Q"),
        ] {
            let target = format!("../a.md#{fragment}");
            assert_eq!(fixture.find("docs/b.md", &Markdown, &target), expected, "{target}");
        }
    }

    #[test]
    fn a_missing_target_costs_few_lookups_on_disk() {
        let fixture = Fixture::new(&[("docs/a.md", "")]);
        for (target, most) in [("gone.md", 4), ("gone", 4), ("gone/b.html", 10), ("../gone/", 4)] {
            assert_eq!(fixture.find("docs/a.md", &Markdown, target), "File", "{target}");
            let lookups = fixture.lookups.take();
            assert!((1..=most).contains(&lookups), "{target}: {lookups}");
        }
    }

    #[test]
    fn links_of_a_site_are_resolved_in_its_folders() {
        let documents = [
            ("pages/en/index.md", ""),
            ("pages/en/about.md", ""),
            ("pages/en/about/eol.md", "# E\n\n## Two\n"),
            ("pages/en/learn/index.mdx", ""),
            ("pages/en/02-more/01-index.md", ""),
            ("pages/en/02-more/03-tips.md", ""),
            ("api/index.md", ""),
            ("api/fs.md", ""),
            ("README.md", ""),
        ];
        let fixture =
            Fixture::new(&documents).with_sites(&[("api", "/docs/api"), ("pages/en", "")]);
        for (target, expected) in [
            ("/", "pages/en/index.md"),
            ("/about/eol", "pages/en/about/eol.md"),
            ("/about/eol/", "pages/en/about/eol.md"),
            ("/about/eol.html#two", "pages/en/about/eol.md#Two"),
            ("/about/eol/index.html", "pages/en/about/eol.md"),
            ("/about", "pages/en/about.md"),
            ("/learn", "pages/en/learn/index.mdx"),
            ("/learn/", "pages/en/learn/index.mdx"),
            ("/more", "pages/en/02-more/01-index.md"),
            ("/more/tips/index.html", "pages/en/02-more/03-tips.md"),
            ("/docs/api", "api/index.md"),
            ("/docs/api/index.html", "api/index.md"),
            ("/docs/api/fs.html", "api/fs.md"),
            ("/README.md", "README.md"),
            ("/known/LICENSE", "file known/LICENSE"),
            ("/about/gone", "File"),
            ("/docs/api/gone", "File"),
        ] {
            for source in ["pages/en/about/eol.md", "README.md"] {
                assert_eq!(fixture.find(source, &Markdown, target), expected, "{target}");
            }
        }
        let part = Fixture::new(&documents).with_sites(&[("api", "/docs/api")]);
        assert_eq!(part.find("README.md", &Markdown, "/docs/api/gone"), "File");
        assert_eq!(part.find("README.md", &Markdown, "/about/eol"), "Site");
    }
}
