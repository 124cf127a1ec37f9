//! Markdown links as relative references (RFC 3986), read as a renderer of documents reads them.
//!
//! From the source's folder, percent-encoded, the ending of a document or the index of a folder left
//! out. Invariant: case counts before it does not.

use super::note::{Found, only};
use super::path::{MARKDOWN_EXTENSIONS, folder_of, is_markdown, join, split_extension};
use super::resolve::place;
use super::{DocumentId, Library, Reason, Resolution, Source};
use crate::address::namespace::decode;
use crate::markdown::links::is_external;
use crate::markdown::slug::fold;

/// What stands for a folder, in the order of preference.
pub(super) const INDEX_NAMES: [&str; 3] = ["index", "README", "_index"];

/// What is longer is rather a part of a name.
const MAX_EXTENSION_BYTES: usize = 10;

/// What the target of a Markdown link or an image in `source` leads to.
pub(super) fn resolve_reference(
    library: &impl Library,
    source: Source,
    target: &str,
) -> Resolution {
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
    // Separators of Windows.
    if path.contains('\\') {
        return resolve_reference(library, source, &target.replace('\\', "/"));
    }
    // Names that hold what should have been escaped: `C#.md`, `100%20.md`.
    let literal = join(folder, target).and_then(|path| library.document(&path));
    if let Some(id) = literal.or_else(|| library.document(&join(folder, path)?)) {
        return Resolution::Document { id, node: None };
    }
    if let Some(Ok(id)) = only(&library.documents_with_id(&decoded)) {
        return place(library, id, &decode(fragment));
    }
    let may_be_file = is_of_file(split_extension(&joined).1) && !decoded.ends_with('/');
    match library.file_exists(&joined) {
        Some(true) => Resolution::Attachment(joined),
        None if may_be_file => Resolution::Attachment(joined),
        _ => Resolution::broken(Reason::File),
    }
}

/// Whether `extension` is one that files other than documents have.
fn is_of_file(extension: &str) -> bool {
    !is_markdown(extension)
        && extension.len() <= MAX_EXTENSION_BYTES
        && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && extension.bytes().any(|byte| byte.is_ascii_alphabetic())
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

#[cfg(test)]
mod tests {
    use super::super::shelf::{GUIDE, Shelf};
    use crate::links::Kind::Markdown;

    #[test]
    fn markdown_links_are_relative_references() {
        let shelf = Shelf::new(&[
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
            ("/x/a.tar.gz#y", "file x/a.tar.gz"),
            ("ms713008(v=vs.85)", "File"),
            ("/known/LICENSE", "file known/LICENSE"),
            ("/known/a.png", "File"),
            ("http://x.y/guide.md", "external"),
            ("mailto:a@b.c", "external"),
            ("//x.y/z", "external"),
        ] {
            assert_eq!(shelf.find("docs/a.md", &Markdown, target), expected, "{target}");
        }
        assert_eq!(shelf.find("README.md", &Markdown, "docs/guide.md"), "docs/guide.md");
        assert_eq!(shelf.find("README.md", &Markdown, ".."), "Outside");
    }
}
