//! New targets for a link whose target was moved or renamed, in the style of the old one.
//!
//! Invariant: the candidates are only proposals. The caller takes the first one that [`super::resolve()`]
//! resolves to the target, so a wrong proposal is never written.

use super::path::{file_name, folder_of, is_markdown, normalized, split_extension, without_order};
use super::reference::INDEX_NAMES;
use super::site::SiteRoot;
use super::{Kind, StoredLink};
use crate::markdown::slug::{comparable, fold, slug};
use crate::percent::percent_decode;
use crate::percent::percent_encode;

/// The target of a link after an edit.
#[derive(Clone, Debug, Default)]
pub struct NewTarget<'a> {
    /// The path of the document, relative to the root.
    pub path: &'a str,
    /// Its path before the edit.
    pub old_path: &'a str,
    /// The folder of the link and the path of the document, both on disk, if a relative path from one to the other
    /// differs from that between the paths of documents, and the link is to be written with it.
    pub on_disk: Option<(&'a str, &'a str)>,
    /// The title of the document, if it has one.
    pub title: Option<&'a str>,
    /// Whether the old target names the document by its title.
    pub is_titled: bool,
    /// Whether the old target is all a name, because the name of the document contains a `#`.
    pub is_whole: bool,
    /// Whether the target has come into the document of the link, so that the link need not name the document.
    pub is_here: bool,
    /// The section, if the link names one.
    pub section: Option<NewSection<'a>>,
}

/// The section to which a link leads after an edit.
#[derive(Clone, Debug)]
pub struct NewSection<'a> {
    /// The titles of the sections around it, the outermost first, and its own.
    pub titles: Vec<&'a str>,
    /// Its anchor; `None` if it has none.
    pub anchor: Option<String>,
}

/// Returns the possible targets of `link` in a document of `folder`, the ones that differ least from the old
/// target first. `sites` are the folders in which links that begin with `/` are resolved.
pub fn candidates(
    link: &StoredLink,
    folder: &str,
    to: &NewTarget<'_>,
    sites: &[SiteRoot],
) -> Vec<String> {
    let (name, fragment) = match link.target.split_once('#').filter(|_| !to.is_whole) {
        Some((name, fragment)) => (name, Some(fragment)),
        None => (link.target.as_str(), None),
    };
    let is_reference = is_reference(&link.kind);
    let (name, query) = match name.find('?').filter(|_| is_reference) {
        Some(at) => name.split_at(at),
        None => (name, ""),
    };
    let is_unnamed = name.trim().is_empty() || to.is_here && fragment.is_some();
    let mut names = if is_unnamed { vec![String::new()] } else { Vec::new() };
    if is_reference {
        if let Some((folder, path)) = to.on_disk.filter(|_| !name.starts_with('/')) {
            names.extend(references(name, folder, path, to.old_path, &[]));
        }
        names.extend(references(name, folder, to.path, to.old_path, sites));
    } else {
        // If the section has another name, an alias that still names the document stays.
        names.extend((fragment.is_some() && to.section.is_some()).then(|| name.to_owned()));
        names.extend(notes(name.trim(), folder, to));
    }
    let fragments = fragments(fragment, &link.kind, to);
    let mut all = Vec::new();
    for fragment in &fragments {
        for name in &names {
            let target = match fragment {
                Some(fragment) => format!("{name}{query}#{fragment}"),
                None => format!("{name}{query}"),
            };
            if !all.contains(&target) {
                all.push(target);
            }
        }
    }
    all
}

/// Returns the target of a link whose file stays where it is while the document with the link moves from the
/// folder `from` to the folder `to`. Returns `None` if the target does not depend on the folder.
pub fn rebased(link: &StoredLink, from: &str, to: &str) -> Option<String> {
    let (path, rest) = relative_path(link)?;
    let whole = normalized(from, &percent_decode(path));
    let end = if path.ends_with('/') && !whole.is_empty() { "/" } else { "" };
    let written = if is_reference(&link.kind) { encoded(&whole, path) } else { whole.clone() };
    let path = respelled(path, to, &whole, &format!("{written}{end}"));
    Some(format!("{path}{rest}"))
}

/// Returns the path in the target of `link`, if it is relative to the folder of the link, and what follows it.
pub fn relative_path(link: &StoredLink) -> Option<(&str, &str)> {
    let end = link.target.find(['?', '#']).unwrap_or(link.target.len());
    let (path, rest) = link.target.split_at(end);
    let is_relative = if is_reference(&link.kind) {
        !path.is_empty() && !path.starts_with('/')
    } else {
        path.starts_with("./") || path.starts_with("../")
    };
    is_relative.then_some((path, rest))
}

/// Returns the path in the target of a reference, if it has one.
pub fn reference_path(link: &StoredLink) -> Option<&str> {
    let path = link.target.split(['?', '#']).next()?;
    (is_reference(&link.kind) && !path.is_empty()).then_some(path)
}

/// Returns the path from `folder` to `path` in the style of `old`, which is `old` itself if it leads there.
/// `written` is `path` as it is written in a target.
fn respelled(old: &str, folder: &str, path: &str, written: &str) -> String {
    if normalized(folder, &percent_decode(old)) == path.trim_end_matches('/') {
        return old.to_owned();
    }
    relative(folder, written, old.starts_with("./"))
}

fn is_reference(kind: &Kind) -> bool {
    matches!(kind, Kind::Markdown | Kind::Image | Kind::Ldmd(_))
}

/// Returns the fragments that may name the section; `None` for no fragment.
fn fragments(old: Option<&str>, kind: &Kind, to: &NewTarget<'_>) -> Vec<Option<String>> {
    let is_reference = is_reference(kind);
    let Some(old) = old else { return vec![None] };
    let mut all = vec![Some(old.to_owned())];
    let Some(NewSection { titles, anchor }) = &to.section else { return all };
    // A block of a section is named after the section.
    let (headings, block) = match old.find("#^") {
        Some(at) => old.split_at(at),
        None => (old, ""),
    };
    let above = headings.rfind('#').map_or("", |at| headings.get(..=at).unwrap_or_default());
    let anchor = anchor.as_ref().map(|anchor| format!("{anchor}{block}"));
    // These characters have a meaning in the target of a wikilink.
    let is_mark = |scalar: char| "#|^[]\\".contains(scalar);
    let text_of = |title: &&str| {
        let words = title.split(|scalar: char| is_mark(scalar) || scalar.is_whitespace());
        words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    };
    let texts: Vec<String> = titles.iter().map(text_of).collect();
    // Of equal headings, only the first is found by its own text; the headings above it name another one.
    let heading = |count: usize| {
        let texts = texts.get(texts.len() - count..).unwrap_or_default();
        format!("{}{block}", texts.join("#"))
    };
    let headings_above = (2..=texts.len()).map(heading);
    let own = (!texts.is_empty()).then(|| heading(1));
    // A reader of wikilinks finds headings by their text, not by an anchor.
    let is_anchor = if is_reference {
        let decoded = percent_decode(headings);
        let slug = slug(&decoded);
        // A word with capitals is the text of a heading.
        slug == decoded || decoded.contains('-') && comparable(&slug) == comparable(&decoded)
    } else {
        !headings.contains(' ')
            && (headings.contains('-')
                || matches!(kind, Kind::Typed(_)) && slug(headings) == headings)
    };
    let names: Vec<String> = if is_reference && is_anchor {
        anchor.into_iter().chain(own).collect()
    } else if is_reference {
        own.into_iter().chain(headings_above).chain(anchor).collect()
    } else if is_anchor {
        anchor.into_iter().chain(own).chain(headings_above).collect()
    } else {
        own.into_iter().chain(headings_above).collect()
    };
    // As many headings as there were come before fewer.
    let count = headings.split('#').filter(|part| !part.trim().is_empty()).count();
    let mut chain = (2..=texts.len()).contains(&count).then(|| heading(count));
    for name in names {
        let parts =
            |name: &str| name.split('#').map(|it| encoded(it, headings)).collect::<Vec<_>>();
        let styled = |name: String| if is_reference { parts(&name).join("#") } else { name };
        let name = styled(name);
        all.push(Some(format!("{above}{name}")));
        all.extend(chain.take().map(styled).map(Some));
        all.push(Some(name));
    }
    all
}

/// Returns paths to `to` in the style of the reference `old`, which led to the document at `old_path`.
fn references(
    old: &str,
    folder: &str,
    to: &str,
    old_path: &str,
    sites: &[SiteRoot],
) -> Vec<String> {
    let decoded = percent_decode(old);
    let (stem, extension) = split_extension(to);
    let (_, old_extension) = split_extension(decoded.trim_end_matches('/'));
    let name = file_name(stem);
    let is_index = INDEX_NAMES.iter().any(|index| fold(index) == fold(name));
    let mut paths = Vec::new();
    if decoded.is_empty() {
        // A link within a document has no style for paths.
    } else if decoded.ends_with('/') {
        paths.push(match (is_index, folder_of(to)) {
            (false, _) => format!("{stem}/"),
            (true, "") => String::new(),
            (true, folder) => format!("{folder}/"),
        });
    } else if ["html", "htm"].iter().any(|html| old_extension.eq_ignore_ascii_case(html)) {
        paths.push(format!("{stem}.{old_extension}"));
    } else if !is_markdown(old_extension) && is_markdown(extension) {
        if is_index && fold(file_name(&decoded)) != fold(name) {
            paths.push(folder_of(to).to_owned());
        }
        paths.push(stem.to_owned());
    }
    paths.push(to.to_owned());
    let root = SiteRoot { folder: String::new(), prefix: String::new() };
    let mut roots: Vec<&SiteRoot> = sites.iter().chain([&root]).collect();
    // A link that was written from the root, and not as on a site, stays so.
    let is_style =
        |site: &SiteRoot| site.file_of(&decoded).is_some_and(|file| is_path_of(old_path, &file));
    roots.sort_by_key(|site| !is_style(site));
    let mut all = Vec::new();
    for path in &paths {
        if decoded.starts_with('/') {
            for site in &roots {
                let below = match site.folder.as_str() {
                    "" => Some(path.as_str()),
                    folder => path.strip_prefix(folder).and_then(|path| path.strip_prefix('/')),
                };
                let Some(below) = below else { continue };
                // The numbers that order files and folders are left out where they were.
                let parts =
                    |path: &str| path.split('/').map(without_order).collect::<Vec<_>>().join("/");
                if *site != &root && parts(&decoded) == decoded && parts(below) != below {
                    all.push(format!("{}/{}", site.prefix, encoded(&parts(below), old)));
                }
                all.push(format!("{}/{}", site.prefix, encoded(below, old)));
            }
        } else {
            all.push(respelled(old, folder, path, &encoded(path, old)));
        }
    }
    all.extend(paths.iter().map(|path| relative(folder, &encoded(path, old), false)));
    all
}

/// Returns whether `file` is the document at `path`, without its extension or the name of an index if they were left out.
pub fn is_path_of(path: &str, file: &str) -> bool {
    let rest = path.strip_prefix(file.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '/']))
}

/// Returns names of the note `to.path` in the style of the name `old`.
fn notes(old: &str, folder: &str, to: &NewTarget<'_>) -> Vec<String> {
    let (_, old_extension) = split_extension(old);
    let (_, extension) = split_extension(to.path);
    let has_extension = is_markdown(old_extension) || !is_markdown(extension);
    let shortened = |path| if has_extension { path } else { split_extension(path).0 };
    let path = shortened(to.path);
    let mut all = Vec::new();
    if old.starts_with("./") || old.starts_with("../") {
        for (folder, path) in to.on_disk.into_iter().chain([(folder, to.path)]) {
            all.push(respelled(old, folder, shortened(path), shortened(path)));
        }
    }
    if old.starts_with('/') {
        all.push(format!("/{path}"));
    }
    let parts: Vec<&str> = path.split('/').collect();
    let count = old.trim_start_matches(['.', '/']).split('/').count();
    for count in count..=parts.len() {
        all.push(parts.get(parts.len() - count..).unwrap_or_default().join("/"));
    }
    all.push(path.to_owned());
    all.push(format!("/{path}"));
    let at = if to.is_titled { 0 } else { all.len() };
    let title = to.title.filter(|title| !title.contains(['#', '|', '[', ']', '^', '\n']));
    // The same title in another case stays as it is written.
    let written = title.filter(|title| to.is_titled && fold(title) == fold(old)).map(|_| old);
    all.splice(at..at, written.into_iter().chain(title).map(str::to_owned));
    all
}

/// Returns the path from `folder` to `path`. It begins with `./` if `is_explicit` and it does not begin with `../`,
/// or if it would look like a scheme or be empty, which is another target.
fn relative(folder: &str, path: &str, is_explicit: bool) -> String {
    let from: Vec<&str> = folder.split_terminator('/').collect();
    let to: Vec<&str> = path.split('/').collect();
    // Encoded and plain folders are the same.
    let is_same = |(one, other): &(&&str, &&str)| **one == percent_decode(other);
    let names = to.len().saturating_sub(1);
    let shared = from.iter().zip(to.iter().take(names)).take_while(is_same).count();
    let above = "../".repeat(from.len() - shared);
    let below = to.get(shared..).unwrap_or_default().join("/");
    let is_scheme =
        above.is_empty() && below.split('/').next().is_some_and(|first| first.contains(':'));
    let is_short = is_explicit || is_scheme || below.is_empty();
    let start = if above.is_empty() && is_short { "./" } else { "" };
    format!("{start}{above}{below}")
}

/// Percent-encodes what has a meaning in a reference. Other characters are encoded if `style`, the old target,
/// encodes characters of that kind.
fn encoded(text: &str, style: &str) -> String {
    let has_raw_space = style.contains(' ');
    let encodes_unicode = style.is_ascii() && !percent_decode(style).is_ascii();
    let is_balanced = {
        let mut depth = 0_i32;
        let mut is_balanced = true;
        for byte in text.bytes() {
            depth += i32::from(byte == b'(') - i32::from(byte == b')');
            is_balanced &= depth >= 0;
        }
        is_balanced && depth == 0
    };
    percent_encode(text, |scalar| match scalar {
        ' ' => has_raw_space,
        // It may begin an entity.
        '&' => style.contains('&') && !text.contains(';'),
        '%' | '#' | '?' | '<' | '>' | '"' | '\\' | '|' | '`' | '*' | '[' | ']' => false,
        '(' | ')' => is_balanced,
        _ if scalar.is_ascii() => !scalar.is_ascii_control(),
        _ => !encodes_unicode,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(kind: Kind, target: &str) -> StoredLink {
        StoredLink { kind, target: target.to_owned(), line: 1 }
    }

    fn first(kind: Kind, target: &str, folder: &str, to: &str) -> String {
        let to = NewTarget {
            path: to,
            old_path: "",
            on_disk: None,
            title: None,
            is_titled: false,
            is_whole: false,
            is_here: false,
            section: None,
        };
        candidates(&link(kind, target), folder, &to, &[]).swap_remove(0)
    }

    #[test]
    fn references_keep_their_style() {
        for (old, folder, to, expected) in [
            ("b.md", "", "c/d.md", "c/d.md"),
            ("b.md", "a", "c/d.md", "../c/d.md"),
            ("../a/./b.md#x", "a", "a/b.md", "../a/./b.md#x"),
            ("../a/b/", "a", "a/b.md", "../a/b/"),
            ("../b.md", "a/b", "a/d.md", "../d.md"),
            ("./b.md", "a", "a/d.md", "./d.md"),
            ("b", "", "c/d.md", "c/d"),
            ("b/", "", "c/index.md", "c/"),
            ("b.html", "", "c/d.md", "c/d.html"),
            ("/x/b.md", "a", "c/d.md", "/c/d.md"),
            ("b%20c.md", "", "d e.md", "d%20e.md"),
            ("b c.md", "", "d e.md", "d e.md"),
            ("b.md", "", "d (e).md", "d%20(e).md"),
            ("b.md", "", "d(.md", "d%28.md"),
            ("\u{e4}.md", "", "\u{f6}.md", "\u{f6}.md"),
            ("%C3%A4.md", "", "\u{f6}.md", "%C3%B6.md"),
            ("b.md?x=1#y", "", "c.md", "c.md?x=1#y"),
            ("b.md", "", "a:b.md", "./a:b.md"),
            ("C%23.md", "", "F#.md", "F%23.md"),
            ("a&b.md", "", "x/a&b.md", "x/a&b.md"),
            ("a&b.md", "", "a&amp;.md", "a%26amp;.md"),
            ("a%26b.md", "", "c&d.md", "c%26d.md"),
        ] {
            assert_eq!(first(Kind::Markdown, old, folder, to), expected, "{old}");
        }
    }

    #[test]
    fn names_of_notes_stay_as_long_as_they_were() {
        for (old, folder, to, expected) in [
            ("B", "", "c/D.md", "D"),
            ("B.md", "", "c/D.md", "D.md"),
            ("x/B", "", "c/d/E.md", "d/E"),
            ("./B", "a", "a/D.md", "./D"),
            ("../B", "a/b", "a/D.md", "../D"),
            ("../b/B", "a/b", "a/b/B.md", "../b/B"),
            ("/B", "", "c/D.md", "/c/D"),
            ("B#h", "", "c/D.md", "D#h"),
        ] {
            assert_eq!(first(Kind::Wikilink, old, folder, to), expected, "{old}");
        }
        let to = NewTarget {
            path: "c/D.md",
            old_path: "",
            on_disk: None,
            title: None,
            is_titled: false,
            is_whole: false,
            is_here: false,
            section: None,
        };
        let all = candidates(&link(Kind::Wikilink, "B"), "", &to, &[]);
        assert_eq!(all, ["D", "c/D", "/c/D"]);
    }

    #[test]
    fn fragments_keep_their_style() {
        let anchor = Some("new-title".to_owned());
        let to = NewTarget {
            path: "b.md",
            old_path: "",
            on_disk: None,
            title: None,
            is_titled: false,
            is_whole: false,
            is_here: false,
            section: Some(NewSection { titles: vec!["Above", "New title"], anchor }),
        };
        for (kind, old, expected) in [
            (Kind::Markdown, "#old", "#new-title"),
            (Kind::Markdown, "b.md#old", "b.md#new-title"),
            (Kind::Markdown, "b.md#Old", "b.md#new-title"),
            (Kind::Markdown, "b.md#Old%20title", "b.md#New%20title"),
            (Kind::Markdown, "b.md#A#Old%20title", "b.md#A#New%20title"),
            (Kind::Markdown, "b.md#A#Old%20title", "b.md#Above#New%20title"),
            (Kind::Wikilink, "#Old", "#New title"),
            (Kind::Wikilink, "b#A#Old", "b#A#New title"),
            (Kind::Wikilink, "#Old", "#Above#New title"),
            (Kind::Wikilink, "#old-1", "#new-title"),
            (Kind::Wikilink, "b#Old#^block", "b#New title#^block"),
        ] {
            let is_heading = kind == Kind::Wikilink && !old.contains('-');
            let all = candidates(&link(kind, old), "", &to, &[]);
            let of = |target: &str| all.iter().position(|other| other == target);
            let anchor = all.iter().position(|target| target.ends_with("new-title"));
            assert!(of(expected).is_some(), "{old}: {all:?}");
            assert!(anchor.is_none_or(|anchor| of(expected) <= Some(anchor)), "{old}: {all:?}");
            assert!(!is_heading || anchor.is_none(), "{all:?}");
        }
    }

    #[test]
    fn a_target_that_stays_is_relative_to_the_new_folder() {
        for (kind, old, from, to, expected) in [
            (Kind::Image, "i.png", "a", "b/c", Some("../../a/i.png")),
            (Kind::Image, "../i.png", "a", "", Some("i.png")),
            (Kind::Image, "../a/./i%2Epng", "a", "b", Some("../a/./i%2Epng")),
            (Kind::Wikilink, "../a/x", "a", "a", Some("../a/x")),
            (Kind::Markdown, "./x/?q#f", "a", "a/b", Some("../x/?q#f")),
            (Kind::Markdown, "/i.png", "a", "b", None),
            (Kind::Markdown, "../../x", "a", "b/c", Some("../../../x")),
            (Kind::Wikilink, "i.png", "a", "b", None),
            (Kind::Wikilink, "./i", "a", "b", Some("../a/i")),
        ] {
            assert_eq!(rebased(&link(kind, old), from, to).as_deref(), expected, "{old}");
        }
    }
}
